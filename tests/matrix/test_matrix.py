"""The comparison of machines sees a difference, and the committed one found none."""

import csv
import json
from pathlib import Path

import matrix
import pytest

ABOUT = {
    "python": "3",
    "numpy": "2",
    "scipy": "1",
    "pandas": "3",
    "blas": "x1",
    "decimal_point": ".",
    "as recorded": True,
}
LEDGER = "claim,evidence,false_alarm,power\na/b,it is 0.5,,0.25\n"


def results(folder: Path, *, number: str = "0.123456789", ledger: str = LEDGER) -> Path:
    folder.mkdir()
    (folder / "figure.csv").write_text(f"x,y\na,{number}\nb,2\n")
    (folder / "verdicts.csv").write_text(ledger)
    (folder / "about.json").write_text(json.dumps(ABOUT))
    return folder


@pytest.mark.parametrize(
    ("change", "result", "first"),
    [
        ({}, "same", ""),
        ({"number": "0.1234567891"}, "same", ""),
        ({"number": "0.12345"}, "different", "./figure.csv: y in row 0: 0.123456789 became 0.12345 (1 rows differ)"),
        ({"ledger": LEDGER.replace("0.5", "0.6")}, "different", "a/b: it is 0.6"),
        (
            {"ledger": LEDGER.replace("0.25", "0.26")},
            "different",
            "./verdicts.csv: power in row 0: 0.25 became 0.26 (1 rows differ)",
        ),
    ],
)
def test_a_difference_beyond_the_tolerance_is_named(tmp_path: Path, change: dict, result: str, first: str) -> None:
    compared = matrix.compare(results(tmp_path / "here", **change), results(tmp_path / "there"))
    assert (compared["result"], compared["first difference"]) == (result, first)


def test_a_missing_table_is_a_difference(tmp_path: Path) -> None:
    here, there = results(tmp_path / "here"), results(tmp_path / "there")
    (here / "figure.csv").unlink()
    assert matrix.compare(here, there)["first difference"] == "figure.csv: only on one side"


def test_the_committed_comparison_found_no_difference() -> None:
    rows = list(csv.DictReader((matrix.HERE / "results.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["result"] for row in rows} <= {"same", "not available"}
    compared = {row["environment"] for row in rows if row["result"] == "same"}
    assert {f"Python {version}, locked" for version in ("3.11", "3.12", "3.13")} <= compared


def test_an_environment_that_cannot_be_made_is_listed_as_such(tmp_path: Path) -> None:
    def missing() -> Path:
        raise matrix.UnavailableError("no such interpreter")

    made = matrix.row(matrix.Environment("nowhere", python=missing), tmp_path)
    assert made == {"environment": "nowhere", "result": "not available", "first difference": "no such interpreter"}


@pytest.mark.parametrize(
    ("ends", "result", "why"),
    [
        ("kill -ILL $$", "not available", "this processor lacks that code path"),
        ("kill -SEGV $$", "failed", "ended with -11"),
        ("echo no memory >&2; exit 1", "failed", "no memory"),
    ],
)
def test_a_probe_that_ends_early_has_a_row_that_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str, result: str, why: str
) -> None:
    monkeypatch.setattr(matrix, "BUILD", tmp_path)
    (python := tmp_path / "python").write_text(f"#!/bin/sh\n{ends}\n")
    python.chmod(0o755)
    made = matrix.row(matrix.Environment("elsewhere", python=lambda: python, checkout=lambda: tmp_path), tmp_path)
    assert made == {"environment": "elsewhere", "result": result, "first difference": why}
