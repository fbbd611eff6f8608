"""Columns as people keep them are read right or refused; none is read wrong in silence."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from untidy import UNTIDY, Untidy

from ldpnb.data.column import Column
from ldpnb.data.files import load_column
from ldpnb.data.reading import Reading

HELP = re.compile(
    r"set |write |save it|correct |delete |unpack |split |it is empty|it has no rows|holds lists"
)


def tally(untidy: Untidy, folder: Path, stated: dict[str, Any], categories: tuple = ()) -> Column:
    """Read a column with the range of its numbers, 0 or less to twice the largest one."""
    path = folder / untidy.file
    path.write_bytes(untidy.content)
    if categories or untidy.numbers is None:
        return load_column(path, untidy.column, categories=categories, reading=Reading(**stated))

    low = min(0.0, 2 * min(untidy.numbers))
    if "-9" in str(untidy.stated):
        low = min(low, -50.0)
    high = 2 * max(untidy.numbers) + 25
    return load_column(path, untidy.column, low=low, high=high, bins=500, reading=Reading(**stated))


def assert_right(untidy: Untidy, made: Column) -> None:
    """Compare a tally with the answers that the file was made from."""
    if untidy.numbers is None:
        assert dict(zip(made.labels, made.counts.tolist(), strict=True)) == Counter(untidy.truth)
        return

    weights = untidy.weights or [1] * len(untidy.numbers)
    total = sum(number * n for number, n in zip(untidy.numbers, weights, strict=True))

    assert made.users == sum(weights)
    assert made.missing == sum(answer is None for answer in untidy.truth)
    assert made.mean == pytest.approx(total / sum(weights), rel=1e-9)


@pytest.mark.parametrize("name", UNTIDY)
def test_with_its_range_alone_a_column_is_right_or_refused(name: str, tmp_path: Path) -> None:
    untidy = UNTIDY[name]
    try:
        made = tally(untidy, tmp_path, {})
    except ValueError as refused:
        message = str(refused)
        assert message.startswith(str(tmp_path / untidy.file))
        assert HELP.search(message), message
        assert message.isprintable()
    else:
        assert untidy.stated == {}
        assert_right(untidy, made)


@pytest.mark.parametrize("name", [name for name in UNTIDY if UNTIDY[name].stated is not None])
def test_with_what_is_true_of_its_file_a_column_is_right(name: str, tmp_path: Path) -> None:
    untidy = UNTIDY[name]
    assert_right(untidy, tally(untidy, tmp_path, untidy.stated, untidy.categories))
