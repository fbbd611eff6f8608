"""What may not be an answer is asked about, and answers are not.

Each question names the options that settle it; with them the column is read.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb.data.column import Column
from ldpnb.data.files import load_column
from ldpnb.data.reading import Reading


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Return a function that reads a column of entries, of numbers if it is given a range."""

    def column(
        entries: Sequence[Any], reading: dict[str, Any] | None = None, **options: Any
    ) -> Column:
        stated = Reading(**reading or {})
        rows = [f'"{entry}",1' for entry in entries]
        path = tmp_path / "a.csv"
        path.write_text("\n".join([*["a remark"] * stated.skip, "x,y", *rows, ""]))
        return load_column(path, "x", reading=stated, **options)

    return column


def question(read: Any, entries: Sequence[Any], **options: Any) -> str:
    """The question that is asked about a column, or an empty text if it is read at once."""
    try:
        read(entries, **options)
    except ValueError as asked:
        return str(asked).partition("column 'x': ")[2]
    return ""


WIDE = {"low": -2_000_000, "high": 2_000_000, "bins": 10}
"""A range in which every code lies, so that only the question about codes finds it."""


# Numbers that may mean that there is no answer

CODES = [
    *(8, 9, 66, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 9998, 9999, 99999),
    *(-1, -2, -3, -4, -5, -6, -7, -8, -9, -66, -77, -88, -97, -98, -99, -999, -9999),
]
RATINGS = [1, 2, 3, 4, 5] * 3


@pytest.mark.parametrize("code", CODES)
def test_a_usual_code_for_no_answer_is_asked_about_even_if_it_occurs_once(
    read: Any, code: int
) -> None:
    asked = question(read, [*RATINGS, code], **WIDE)
    assert asked.startswith(f"row 17: '{code}' occurs once and may mean that there is no answer")
    assert f"set missing={code} if it does, or missing= if every code is an answer" in asked

    as_missing = read([*RATINGS, code], **WIDE, reading={"missing": str(code)})
    assert (as_missing.users, as_missing.missing) == (15, 1)

    as_answer = read([*RATINGS, code], **WIDE, reading={"missing": ""})
    assert (as_answer.users, as_answer.missing) == (16, 0)


AGES = list(range(18, 80)) * 4
TEMPERATURES = list(range(-20, 31)) * 2
CODED = {
    "7 on a scale to 4": ([1, 2, 3, 4] * 3, 7, 1),
    "9 beside yes and no": ([0, 1] * 5, 9, 1),
    "99 beside one number": ([3] * 5, 99, 1),
    "-1 where nothing else is negative": ([0, 1, 2] * 5, -1, 1),
    "-99 far below other negative numbers": (TEMPERATURES, -99, 1),
    "99 far above all others": (TEMPERATURES, 99, 1),
    "a far number that occurs again": (AGES, 199, 2),
    "a far low number that occurs again": (AGES, -70, 2),
    "a code among the numbers that is far too frequent": (AGES, 66, 50),
}


@pytest.mark.parametrize("name", CODED)
def test_a_number_that_stands_apart_is_asked_about(read: Any, name: str) -> None:
    others, code, times = CODED[name]
    asked = question(read, [*others, *[code] * times], **WIDE)
    occurring = times + others.count(code)
    often = "once" if occurring == 1 else f"{occurring} times"
    assert f"'{code}' occurs {often} and may mean that there is no answer" in asked


PEOPLE = np.random.default_rng(5).integers(18, 100, 8000).tolist()
ANSWERS = {
    "7, 8 and 9 on a scale to 10": [*range(11)] * 2,
    "9 on a scale where few chose 7 or 8": [1, 2, 3, 4, 5, 6, 9] * 3,
    "7 and 8 on a scale to 8": [1, 2, 3, 4, 5, 6, 7, 8, 8],
    "nothing but such numbers": [7, 8, 9] * 3,
    "ages as they fall": PEOPLE,
    "an age that is far above all others once": [*AGES, 140],
    "a number that is far below all others once": [*AGES, -70],
    "a popular number among few": [*range(70, 81), *[77] * 50],
    "a popular small number": [*range(4, 104, 4), *[8] * 50],
    "negative numbers among others": [*TEMPERATURES, -9, -9],
    "few numbers that are far apart": [1, 2, 3, 50, 50],
    "shares with many zeros": [0, 0, 0, *(place / 100 for place in range(30, 50))],
}


@pytest.mark.parametrize("name", ANSWERS)
def test_ordinary_answers_are_read_without_a_question(read: Any, name: str) -> None:
    made = read(ANSWERS[name], **WIDE)
    assert made.users == len(ANSWERS[name])
    assert made.mean == pytest.approx(np.mean(ANSWERS[name]))


# Numbers that are written in another way

WRITTEN = {
    "1,5": {"decimal=,": "1.5"},
    "1,234": {"decimal=,": "1.234", "thousands=','": "1234"},
    "1,234.5": {"thousands=','": "1234.5"},
    "1.234,5": {"thousands='.'": "1234.5"},
    "1.234.567": {"thousands='.'": "1234567"},
    "1 234": {"thousands=' '": "1234"},
    "1\u00a0234": {"thousands=' '": "1234"},
    "1'234": {'thousands="\'"': "1234"},
    "-1,5e3": {"decimal=,": "-1500"},
    "0,123": {"decimal=,": "0.123"},
}


@pytest.mark.parametrize("entry", WRITTEN)
def test_a_number_in_other_marks_is_refused_with_each_way_to_read_it(read: Any, entry: str) -> None:
    ways = [f"{option} if it is {number}" for option, number in WRITTEN[entry].items()]
    ways.append(f"missing={entry!r} if it means that there is no answer")
    asked = question(read, ["3", entry, "4"], **WIDE)
    assert asked == f"row 3: {entry!r} is not a number: set {', or '.join(ways)}"

    for option, number in WRITTEN[entry].items():
        name, _, mark = option.partition("=")
        made = read(["3", entry, "4"], **WIDE, reading={name: mark.strip("'\"") or mark[1:-1]})
        assert made.mean * 3 == pytest.approx(3 + float(number) + 4)


@pytest.mark.parametrize("entry", ["5 kg", "12%", "1.2.3", "1e999"])
def test_a_number_that_no_marks_explain_is_to_be_written_alone(read: Any, entry: str) -> None:
    asked = question(read, ["3", entry, "4"], **WIDE)
    assert f"'{entry}' is not a number: write only the numbers, all in one unit, or set" in asked
    assert f"missing='{entry}' if it means that there is no answer" in asked


def test_a_word_among_numbers_may_only_be_missing(read: Any) -> None:
    asked = question(read, ["3", "unknown"], **WIDE)
    assert asked == (
        "row 3: 'unknown' is not a number: "
        "set missing='unknown' if it means that there is no answer"
    )


def test_points_that_may_stand_between_thousands_are_asked_about(read: Any) -> None:
    asked = question(read, ["7", "1.234", "12.345"], **WIDE)
    assert asked == (
        "row 3: '1.234' can be read in two ways: "
        "set decimal=. if it is 1.234, or thousands=. if it is 1234"
    )
    for marks, total in [({"decimal": "."}, 20.579), ({"thousands": "."}, 13_586)]:
        made = read(["7", "1.234", "12.345"], **WIDE, reading=marks)
        assert made.mean * 3 == pytest.approx(total)

    assert question(read, ["2", "1.234", "1.5"], **WIDE) == ""


def test_a_number_that_begins_with_0_has_no_thousands(read: Any) -> None:
    assert read(["0.123", "1.250"], **WIDE).mean * 2 == pytest.approx(1.373)
    asked = question(read, ["1,250", "0,123"], **WIDE, reading={"thousands": ","})
    assert "'0,123' is not a number: set decimal=, if it is 0.123" in asked


# Names

NO_ANSWER = ["na", "N/A", "#N/A", "<NA>", "NaN", "null", "None", "k.A.", "-", ".", "..", "?"]


@pytest.mark.parametrize("word", NO_ANSWER)
def test_a_usual_word_for_no_answer_is_asked_about(read: Any, word: str) -> None:
    entries = ["yes", "no", "yes", "no", word, word]
    asked = question(read, entries)
    assert asked == (
        f"row 6: '{word}' may mean that there is no answer: "
        f"set missing='{word}' if it does, or missing= if every word is an answer"
    )
    assert read(entries, reading={"missing": word}).missing == 2
    assert read(entries, reading={"missing": ""}).missing == 0


KINDS = {
    "may be a number: set low and high, or categories": ["1", "2.5"],
    "may be a date: write months or years instead": ["2024-01-31", "3 May 1999"],
    "may be a number with a unit: write only the numbers": ["5 kg", "7%"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_names_that_are_mostly_numbers_or_dates_are_asked_about(read: Any, kind: str) -> None:
    first, second = KINDS[kind]
    assert f"row 3: '{first}' {kind}" in question(read, ["a", first, second])
    assert question(read, ["a", first, second, "b"]) == ""

    made = read(["a", first, second], categories=["a", first, second])
    assert made.counts.tolist() == [1, 1, 1]


@pytest.mark.parametrize("other", ["YES", "yes\u200b", "y\u00a0es", "\uff59es"])
def test_a_name_in_two_spellings_is_asked_about(read: Any, other: str) -> None:
    asked = question(read, ["yes", "no", other])
    assert f"row 4: {other!r} looks like 'yes': write both in the same way" in asked


ENDS = {
    "first": (["answer", *["yes", "no"] * 10], {}, "row 2: 'answer' does not occur", "skip=1"),
    "first below others": (
        ["answer", *["yes", "no"] * 10],
        {"skip": 2},
        "row 4: 'answer' does not occur",
        "skip=3",
    ),
    "last": ([*["yes", "no"] * 10, "end"], {}, "row 22: 'end' does not occur", "footer=1"),
}


@pytest.mark.parametrize("place", ENDS)
def test_a_name_that_stands_only_at_an_end_may_be_a_heading_or_a_remark(
    read: Any, place: str
) -> None:
    entries, stated, where, option = ENDS[place]
    asked = question(read, entries, reading=stated)
    assert asked.startswith(where)
    assert f"set {option} if it is not an entry, or set categories if it is one" in asked


def test_a_rare_name_is_an_answer_elsewhere_or_where_others_are_rare_too(read: Any) -> None:
    often = ["yes", "no"] * 10
    assert question(read, [*often, "maybe", *often]) == ""
    assert question(read, [*often, "maybe"], reading={"footer": 0}) == ""
    assert question(read, ["maybe", "yes", "no", "yes", "no"]) == ""


# A row for each value


def tallied_rows(folder: Path, header: str, rows: Sequence[str], **stated: Any) -> Column:
    path = folder / "a.csv"
    path.write_text("\n".join([header, *rows, ""]))
    return load_column(path, "x", reading=Reading(**stated))


@pytest.mark.parametrize("name", ["n", "Count", "frequency", "Anzahl", "persons"])
def test_a_column_that_may_say_how_many_users_a_row_stands_for_is_asked_about(
    tmp_path: Path, name: str
) -> None:
    rows = ["a,30,f", "b,20,f", "a,5,m"]
    with pytest.raises(ValueError, match=f"'{name}' may say how many users") as asked:
        tallied_rows(tmp_path, f"x,{name},sex", rows)
    assert f"set counts={name} if it does, or counts=none if each row is one user" in str(
        asked.value
    )

    assert tallied_rows(tmp_path, f"x,{name},sex", rows, counts=name).counts.tolist() == [35, 20]
    assert tallied_rows(tmp_path, f"x,{name},sex", rows, counts="none").counts.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("x,n,sex", ["a,1,f", "b,2,f", "a,3,f"]),
        ("x,nights", ["a,1", "b,2"]),
        ("x,n,p,q,r,s", ["a,1,2,3,4,5", "b,1,2,3,4,5"]),
    ],
    ids=["rows that repeat", "another name", "a table of many columns"],
)
def test_a_table_of_users_is_not_taken_for_one_of_counts(
    tmp_path: Path, header: str, rows: Sequence[str]
) -> None:
    assert tallied_rows(tmp_path, header, rows).users == len(rows)
