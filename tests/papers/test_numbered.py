"""Every theorem, figure, table and displayed claim that a source numbers has a row, or a reason why it needs none."""

import csv
import re
from pathlib import Path

import pytest

from ldpnb import claims

NUMBERED = list(
    csv.DictReader(
        (Path(__file__).parent / "numbered.csv").read_text(encoding="utf-8").splitlines()
    )
)


def named(number: str, place: str) -> bool:
    return re.search(rf"{re.escape(number)}(?!\.?\d)", place) is not None


@pytest.mark.parametrize("entry", NUMBERED, ids=lambda e: f"{e['source']}-{e['number']}")
def test_what_a_source_numbers_has_a_row(entry: dict[str, str]) -> None:
    rows = claims.claims(entry["source"])
    if entry["why none"]:
        assert not any(named(entry["number"], row.place) for row in rows)
    elif entry["row"]:
        assert entry["row"] in [row.key for row in rows]
    else:
        assert any(named(entry["number"], row.place) for row in rows)


def test_every_source_is_listed() -> None:
    listed = {entry["source"] for entry in NUMBERED}
    assert listed == claims.SOURCES.keys(), (
        "list what a source numbers, or why nothing, in tests/papers/numbered.csv"
    )
