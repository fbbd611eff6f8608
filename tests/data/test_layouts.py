"""Headers, separators, sheets and names of columns are found as they stand, or asked for."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from untidy import workbook

from ldpnb.data.files import load_column
from ldpnb.data.reading import Reading


def names(path: Path, column: str, **stated: Any) -> tuple[str, ...]:
    """Return the names that occur in a column."""
    return load_column(path, column, reading=Reading(counts="none", **stated)).labels


# Names of columns


@pytest.mark.parametrize("wanted", ["Größe", " größe ", "GRÖSSE", "gro\u0308ße"])
def test_a_column_is_found_in_any_case_with_blanks_and_composed_letters(
    wanted: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,Größe\n1,a\n2,b\n", encoding="utf-8")
    assert names(path, wanted) == ("a", "b")


def test_a_name_that_two_columns_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y,X\na,b,c\n")
    with pytest.raises(ValueError, match="2 columns are called 'x' among 'x', 'y', 'X'"):
        names(path, "x")


def test_only_a_table_of_one_column_needs_no_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\na\nb\n")
    assert names(path, "") == ("a", "b")
    with pytest.raises(ValueError, match="no column is called 'z' among 'x'"):
        names(path, "z")

    path.write_text("x,y\na,b\nb,c\n")
    with pytest.raises(ValueError, match="no column is called '' among 'x', 'y'"):
        names(path, "")


@pytest.mark.parametrize(("columns", "end"), [(20, "'c20'"), (23, "'c20', and 3 more")])
def test_a_message_lists_twenty_columns_and_counts_the_others(
    columns: int, end: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    header = ",".join(f"c{place + 1}" for place in range(columns))
    path.write_text(f"{header}\n{','.join('a' * columns)}\n")
    with pytest.raises(ValueError, match="no column is called 'z' among 'c1', 'c2'") as refused:
        names(path, "z")
    assert str(refused.value).endswith(f"{end}: set skip if the header is further down")


def test_a_message_shows_sixty_characters_of_a_long_entry(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"x\n1\n{'long' * 100}\n")
    with pytest.raises(ValueError, match=f"row 3: '{'long' * 15}' is not a number"):
        load_column(path, "x", low=0, high=9)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet"])
@pytest.mark.parametrize("width", [1, 8, 9, 30])
def test_a_column_is_the_same_in_a_narrow_and_in_a_wide_table(
    suffix: str, width: int, tmp_path: Path
) -> None:
    path = tmp_path / f"a{suffix}"
    table = pd.DataFrame({f"c{place}": [f"a{place}", f"b{place}"] for place in range(width)})
    if suffix == ".csv":
        table.to_csv(path, index=False)
    elif suffix == ".xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_parquet(path)

    last = width - 1
    assert names(path, f"C{last}") == (f"a{last}", f"b{last}")


# Text


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_that_the_header_has(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"x{mark}y\na{mark}1\nb{mark}2\n")
    assert names(path, "x") == ("a", "b")


def test_a_header_with_two_separators_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("remark\n\nx;y,z\na;1\nb;2\n")
    with pytest.raises(ValueError, match="row 3 has ',' and ';': set separator, or set skip"):
        names(path, "x", skip=2)


@pytest.mark.parametrize("skip", [0, 1, 2])
def test_blank_lines_above_the_header_need_not_be_counted(skip: int, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n\nx,y\na,1\nb,2\n")
    assert names(path, "x", skip=skip) == ("a", "b")


def test_a_file_without_a_header_below_the_skipped_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\na,1\n")
    with pytest.raises(ValueError, match="it has no header below the 2 lines that are skipped"):
        names(path, "x", skip=2)
    with pytest.raises(ValueError, match="it has no rows below its header"):
        names(path, "a", skip=1)


def test_a_name_over_two_lines_is_one_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('"age\n(years)";town\n1;a\n2;b\n')
    assert names(path, "town") == ("a", "b")
    with pytest.raises(ValueError, match="row 3: '1' may be a number"):
        names(path, "age\n(years)")


@pytest.mark.parametrize("encoding", ["utf-8", "UTF_8", "utf8", "utf-8-sig", ""])
def test_a_mark_of_utf_8_before_the_header_is_no_part_of_its_name(
    encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfx,y\na,1\nb,2\n")
    assert names(path, "x", encoding=encoding) == ("a", "b")


# Workbooks


def test_a_workbook_of_several_sheets_needs_the_name_of_one(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook(one=[["x"], ["a"], ["b"]], two=[["x"], ["c"], ["d"]]))
    assert names(path, "x", sheet="one") == ("a", "b")
    assert names(path, "x", sheet="two") == ("c", "d")
    for stated in ({}, {"sheet": "Two"}):
        with pytest.raises(ValueError, match="it has 2 sheets: set sheet to one of 'one', 'two'"):
            names(path, "x", **stated)

    path.write_bytes(workbook(one=[["x"], ["a"], ["b"]]))
    with pytest.raises(ValueError, match="it has 1 sheet: set sheet to one of 'one'"):
        names(path, "x", sheet="two")


@pytest.mark.parametrize(
    ("merged", "is_refused"),
    [("A3:A4", True), ("B3:B4", True), ("A3:B3", False), ("A1:B1", False)],
)
def test_a_cell_that_spans_rows_of_the_data_is_refused(
    merged: str, is_refused: bool, tmp_path: Path
) -> None:
    path = tmp_path / "a.xlsx"
    rows = [["a survey"], ["x", "y"], ["a", "c"], ["b", "d"], ["a", "d"]]
    path.write_bytes(workbook([merged], a=rows))
    if is_refused:
        with pytest.raises(ValueError, match=f"the cell {merged} spans several rows: split it"):
            names(path, "x", skip=1)
    else:
        assert names(path, "x", skip=1) == ("a", "b")


# What is stated


WORDS = [
    (["skip"], "skip must be an integer >= 0"),
    (["skip=-1"], "skip must be an integer >= 0, got skip='-1'"),
    (["footer=two"], "footer must be an integer >= 0, got footer='two'"),
    (["skip=1", "skip=2"], "skip must be set only once, got 'skip=2'"),
    (["decimal=,", "decimal=,"], "decimal must be set only once"),
    (["missings=9"], "reading must set one of sheet, skip, .* got 'missings=9'"),
    (["thousands=ab"], "thousands must be a point, a comma, a space or an apostrophe"),
]


@pytest.mark.parametrize(("words", "rule"), WORDS, ids=[" ".join(words) for words, _ in WORDS])
def test_words_that_state_nothing_are_refused(words: list[str], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        Reading.of(words)


@pytest.mark.parametrize("separator", ['"', "\n", "\r", "\0", ",,"])
def test_a_separator_that_no_text_can_have_is_refused(separator: str) -> None:
    with pytest.raises(ValueError, match="separator must be one character, tab or space"):
        Reading(separator=separator)


@pytest.mark.parametrize("missing", [9, 9.5, "9", ["9"], (9,)], ids=repr)
def test_one_missing_answer_may_be_stated_alone(missing: Any) -> None:
    assert Reading(missing=missing).missing == (str(missing).strip("[](),'"),)


@pytest.mark.parametrize("blank", [" ", "space", "\u00a0", "\u202f", "\u2009"], ids=ascii)
def test_every_blank_between_thousands_is_a_blank(blank: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x;y\n1 234;a\n5\u00a0678;b\n9\u202f000;c\n", encoding="utf-8")
    reading = Reading(thousands=blank)
    assert load_column(path, "x", low=0, high=9999, bins=9, reading=reading).mean == 5304
