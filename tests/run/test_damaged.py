"""Damaged files and unusual starts: one line, and the same numbers."""

import subprocess
import sys
from pathlib import Path

import pytest

from ldpnb.run.catalogue import home


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"claim\nbun2022/theorem-5.1\n", b"<<<<<<< HEAD\n"])
def test_a_damaged_ledger_is_named_in_one_line(content: bytes, ldpnb, checkout: Path) -> None:
    (checkout / "figures").mkdir(exist_ok=True)
    (checkout / "figures/verdicts.csv").write_bytes(content)
    result = ldpnb("verdicts", "--source", "lecture20")
    assert result.returncode == 1
    assert "verdicts.csv is damaged (" in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


def test_damaged_provenance_of_a_figure_is_named_in_one_line(ldpnb, checkout: Path) -> None:
    own = checkout / "figures/1_demo/01_line"
    own.mkdir(parents=True)
    for suffix, content in {".csv": "x,y\n0,0\n", ".png": "", ".json": '{"caption": "A li'}.items():
        (own / f"figure_1{suffix}").write_text(content)
    result = ldpnb("export", "figure_1", "-o", "paper")
    assert result.returncode == 1
    assert "figure_1.json is damaged (" in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


def test_claims_are_the_same_where_python_drops_docstrings() -> None:
    code = "from ldpnb import claims; print([c.says for c in claims.claims('lecture20')])"
    runs = [subprocess.run([sys.executable, *o, "-c", code], capture_output=True, text=True) for o in ([], ["-OO"])]
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout) > 500
    shown = [sys.executable, "-OO", "-m", "ldpnb", "sweep", "gaps", "--list"]
    assert "budget" in subprocess.run(shown, capture_output=True, text=True, check=True, cwd=home()).stdout
