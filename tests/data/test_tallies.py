"""What a tally counts: ends of ranges, bins, users by row, categories, and how large it may be."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from untidy import workbook

from ldpnb.data.column import Column
from ldpnb.data.files import load_column
from ldpnb.data.reading import Reading

EVERY_CODE_IS_AN_ANSWER = Reading(missing="")


@pytest.fixture
def tally(tmp_path: Path) -> Any:
    """Return a function that tallies the column x of a table with these lines."""

    def column(*lines: str, reading: Reading = EVERY_CODE_IS_AN_ANSWER, **options: Any) -> Column:
        path = tmp_path / "a.csv"
        path.write_text("\n".join([*lines, ""]))
        return load_column(path, "x", reading=reading, **options)

    return column


# Numbers


def test_both_ends_of_a_range_belong_to_it(tally: Any) -> None:
    whole = tally("x", "2", "5", "5", low=2, high=5)
    assert whole.labels == ("2", "3", "4", "5")
    assert whole.counts.tolist() == [1, 0, 0, 2]
    assert (whole.low, whole.high, whole.outside) == (2, 5, 0)

    for beyond in ("1", "6"):
        with pytest.raises(ValueError, match=rf"'{beyond}' lies outside \[2, 5\]"):
            tally("x", beyond, low=2, high=5)


def test_an_edge_between_two_bins_belongs_to_the_upper_one_and_the_last_one_has_its_end(
    tally: Any,
) -> None:
    made = tally("x", "0", "2.4", "2.5", "5", "7.5", "10", low=0, high=10, bins=4)
    assert made.counts.tolist() == [2, 1, 1, 2]
    assert made.labels == ("0 to 2.5", "2.5 to 5", "5 to 7.5", "7.5 to 10")
    assert made.numbers.tolist() == pytest.approx([1.2, 2.5, 5, 8.75])


def test_a_bin_without_entries_stands_for_its_middle(tally: Any) -> None:
    assert tally("x", "1", "9", low=0, high=10, bins=5).numbers.tolist() == [1, 3, 5, 7, 9]


def test_an_entry_outside_the_range_is_refused_with_all_ways_out(tally: Any) -> None:
    with pytest.raises(ValueError, match="outside") as refused:
        tally("x", "3", "12.5", low=0, high=10, bins=2)
    assert str(refused.value).partition("'x': ")[2] == (
        "row 3: '12.5' lies outside [0, 10]: "
        "set missing=12.5 if it means that there is no answer, or a wider range if it is an "
        "answer, or outside=clip to move it to the nearer end"
    )


def test_what_clipping_does_to_the_mean_of_all_users_is_told(tally: Any) -> None:
    lines = ["x,n", "5,3", "50,1", "-6,2", ",7"]
    reading = Reading(missing="", counts="n")
    made = tally(*lines, low=0, high=10, outside="clip", reading=reading)

    assert (made.users, made.outside, made.missing) == (6, 3, 7)
    assert made.mean == pytest.approx(25 / 6)
    assert (
        "Numbers outside [0, 10], which are moved to the nearer end: 3. "
        "This changes the mean from 8.83333 to 4.16667." in made.report()
    )


def test_nothing_is_said_of_clipping_where_nothing_was_clipped(tally: Any) -> None:
    assert "moved" not in tally("x", "5", "0", "10", low=0, high=10, outside="clip").report()


@pytest.mark.parametrize("ends", [(0, 4095), (-2048, 2047)])
def test_a_column_may_have_4096_values_and_no_more(tally: Any, ends: tuple[int, int]) -> None:
    low, high = ends
    assert tally("x", "5", "7", low=low, high=high).counts.size == 4096
    assert tally("x", "5", "7", low=low, high=high + 1, bins=4096).counts.size == 4096

    with pytest.raises(ValueError, match="at most 4,096 values unless bins is set, got 4,097"):
        tally("x", "5", "7", low=low, high=high + 1)
    with pytest.raises(ValueError, match="bins must be an integer from 0 to 4096"):
        tally("x", "5", "7", low=low, high=high, bins=4097)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"low": 0.5, "high": 9}, "low must be a whole number if bins is not set, got low=0.5"),
        ({"low": 0, "high": 9.5}, "high must be a whole number if bins is not set, got high=9.5"),
        ({"low": 3, "high": 3}, "low must be < high, got low=3, high=3"),
        ({"high": 3}, "low and high must be set together, got low=None, high=3"),
        ({"low": 0, "high": 9, "categories": "yes"}, "categories must not be set together"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_range_that_cannot_be_is_refused_before_the_file_is_opened(
    options: dict[str, Any], rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        load_column("no such file", "x", **options)


def test_labels_of_narrow_bins_far_from_zero_tell_them_apart(tally: Any) -> None:
    made = tally("x", "1000000.5", "1000001", low=1_000_000, high=1_000_001, bins=5)
    assert made.labels[:2] == ("1000000 to 1000000.2", "1000000.2 to 1000000.4")
    assert made.labels[-1] == "1000000.8 to 1000001"


# Users by row


@pytest.mark.parametrize("header", ["x,n", "n,x"], ids=["to the right", "to the left"])
def test_a_column_of_counts_may_stand_on_either_side(tally: Any, header: str) -> None:
    rows = ["3,40", "5,0", "4,2"]
    if header == "n,x":
        rows = [",".join(reversed(row.split(","))) for row in rows]

    made = tally(header, *rows, low=3, high=5, reading=Reading(counts="N"))
    assert made.counts.tolist() == [40, 2, 0]


@pytest.mark.parametrize("count", ["-1", "2.5", "9007199254740994", ""])
def test_a_count_that_is_no_number_of_users_is_refused(tally: Any, count: str) -> None:
    rule = r"row 3: '.*' must be a whole number >= 0, because it is in the counts 'n'"
    with pytest.raises(ValueError, match=rule):
        tally("x,n", "1,1", f"2,{count}", low=0, high=9, reading=Reading(counts="n"))


def test_users_of_all_rows_are_at_most_2_to_the_53(tally: Any) -> None:
    reading = Reading(counts="n")
    most = tally("x,n", "1,9007199254740991", "2,1", low=0, high=9, reading=reading)
    assert most.users == 2**53
    with pytest.raises(ValueError, match="counts must have a sum <= "):
        tally("x,n", "1,9007199254740992", "2,2", low=0, high=9, reading=reading)


# Categories


def test_users_whose_answer_is_no_category_count_as_other(tally: Any) -> None:
    made = tally(
        "x,n",
        "a,30",
        "b,20",
        "c,7",
        ",5",
        categories=["a ", "other"],
        reading=Reading(counts="n"),
    )
    assert made.labels == ("a", "other")
    assert made.counts.tolist() == [30, 27]
    assert (made.outside, made.missing) == (27, 5)
    assert made.numbers.tolist() == [0, 1]
    assert made.scale == "category"
    assert "not among the categories count as 'other': 27." in made.report()

    assert "other" not in tally("x", "a", "b", categories=["a", "b", "other"]).report()


@pytest.mark.parametrize(
    ("rows", "categories", "rule"),
    [
        (["a", "b"], ["a", "b", "a "], "categories must be different, got"),
        (["a", "a"], [], "it must have 2 to 4,096 different names, got 1"),
        ([f"a{row}" for row in range(4097)], [], "2 to 4,096 different names, got 4,097"),
        (["", ""], [], "it has no entries"),
        (["a", "c"], ["a", "b"], "row 3: 'c' is not among the categories: add it or 'other'"),
    ],
    ids=["a category twice", "one name", "too many names", "no entries", "a name not stated"],
)
def test_names_that_make_no_categories_are_refused(
    tally: Any, rows: Sequence[str], categories: Sequence[str], rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        tally("x,y", *(f"{row},1" for row in rows), categories=categories)


@pytest.mark.parametrize("number", [2, 4096])
def test_from_2_to_4096_names_are_tallied(tally: Any, number: int) -> None:
    assert len(tally("x", *(f"a{row}" for row in range(number))).labels) == number


# Rows


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet"])
def test_a_message_names_the_row_where_a_reader_of_the_file_finds_it(
    suffix: str, tmp_path: Path
) -> None:
    """In text and in a workbook the header has a row of its own; in Parquet it has none."""
    path = tmp_path / f"a{suffix}"
    if suffix == ".csv":
        path.write_text('remark\nx,y\n1,"a\nb"\n\nmany,c\n')
    elif suffix == ".xlsx":
        path.write_bytes(
            workbook(a=[["remark"], ["x", "y"], ["1", "a"], [], ["2", "b"], ["many", "c"]])
        )
    else:
        rows = ["1", "2", "3", "4", "5", "many"]
        pd.DataFrame({"x": rows, "y": "a"}).to_parquet(path)

    reading = Reading() if suffix == ".parquet" else Reading(skip=1)
    with pytest.raises(ValueError, match="row 6: 'many' is not a number"):
        load_column(path, "x", low=0, high=9, reading=reading)


def test_a_missing_answer_is_stated_in_the_same_way_for_every_format(tmp_path: Path) -> None:
    entries = [1, 2, 99, -1, 2]
    frame = pd.DataFrame({"x": entries, "y": "a"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_parquet(tmp_path / "a.parquet")

    for suffix in ("csv", "xlsx", "parquet"):
        made = load_column(
            tmp_path / f"a.{suffix}", "x", low=0, high=9, reading=Reading(missing=["99", "-1"])
        )
        assert made.missing == 2, suffix
        assert made.counts.tolist() == [0, 1, 2, 0, 0, 0, 0, 0, 0, 0], suffix


def test_a_tally_is_named_after_its_column_and_its_file(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n2\n")
    assert load_column(path, "AGE", low=0, high=9).name == "AGE of people.csv"
    assert load_column(path, "", low=0, high=9).name == "people.csv"


TOTALS = ["Total", "Sum:", "grand total", "Insgesamt", "Source: own survey", "Note: estimated"]


@pytest.mark.parametrize("below", [1, 3, 10])
@pytest.mark.parametrize("total", TOTALS[::4])
def test_a_total_or_a_remark_in_the_last_ten_rows_is_asked_about(
    tally: Any, total: str, below: int
) -> None:
    lines = ["x,y", *["1,a", "2,b"] * 10, f"33,{total}", *["2,c"] * (below - 1)]
    with pytest.raises(ValueError, match="may not be an entry") as asked:
        tally(*lines, low=0, high=99)
    assert str(asked.value).endswith(
        f"row 22: '{total}' may not be an entry: "
        f"set footer={below} if it stands below the data, or footer=0 if not"
    )

    without = Reading(missing="", footer=below)
    assert tally(*lines, low=0, high=99, reading=without).users == 20
    with_it = Reading(missing="", footer=0)
    assert tally(*lines, low=0, high=99, reading=with_it).users == 20 + below


@pytest.mark.parametrize("total", TOTALS)
def test_what_often_stands_below_data_is_asked_about_at_its_end_only(
    tally: Any, total: str
) -> None:
    rows = ["1,a", "2,b"] * 10
    assert tally("x,y", f"3,{total}", *rows, low=0, high=9).users == 21
    with pytest.raises(ValueError, match="set footer=1"):
        tally("x,y", *rows, f"3,{total}", low=0, high=9)


def test_a_separator_that_only_the_rows_have_is_asked_about(tally: Any) -> None:
    rule = "row 3: 'a;1' has a separator that the header does not have: set skip"
    with pytest.raises(ValueError, match=rule):
        tally("x", "title", "a;1", "b;2")
    assert tally("x", "a, or b", "c", "a, or b", "c").labels == ("a, or b", "c")
    assert tally("x", "a;1", "b;2", "a;1", reading=Reading(separator=",")).users == 3
