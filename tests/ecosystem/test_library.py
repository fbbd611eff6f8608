"""The package as a library works in a browser's Python, and names what is not installed."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from ldpnb.data import public, tables
from ldpnb.data.reading import Reading
from ldpnb.run.catalogue import catalogue

NOTEBOOKS = [notebook.id for notebook in catalogue()]
NEEDS_PROCESSES = "4_juarez2022/04_validation"
"""It needs scikit-learn, whose newest version for other machines imports `multiprocessing`."""


@pytest.mark.nightly
@pytest.mark.parametrize("notebook", [name for name in NOTEBOOKS if name != NEEDS_PROCESSES])
def test_every_public_name_and_notebook_work_in_a_browser_s_python(notebook: str) -> None:
    command = [sys.executable, Path(__file__).with_name("browser.py"), f"{notebook}.ipynb"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith(" cells\n")


def read(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    tables.read_table(folder / name, Reading())


MISSING = {
    "openpyxl": lambda folder: read(folder, "a.xlsx", b"PK\x03\x04"),
    "pooch": lambda folder: public.fetch(folder),
}


@pytest.mark.parametrize("library", MISSING)
def test_a_missing_library_is_named(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises((ImportError, ValueError), match=library.replace("_", ".")):
        MISSING[library](tmp_path)


def test_the_command_line_names_a_missing_library_in_one_line(
    said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    line = "ldpnb: No module named 'pooch'; install it with: pip install 'ldpnb[notebooks]'\n"
    assert said("download") == line


def test_a_name_stays_what_it_is_when_its_namesake_is_imported() -> None:
    notebook = importlib.import_module("ldpnb.notebook")
    for name in ("live", "verdicts"):
        importlib.import_module(f"ldpnb.notebook.{name}")
        assert callable(getattr(notebook, name))
