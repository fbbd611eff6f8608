"""A column of one's own file is read exactly, in every format, and as the user states it.

Every format gives the same tally; labels and numbers come back as they were; what was left out is
reported; and a column that does not fit is refused with its row and value.
"""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readable import stated as by_what_is_stated

from ldpnb.data.column import Column
from ldpnb.data.files import load_column
from ldpnb.data.reading import Reading

AGES = [17, 30, 30, None, 95, 12, 41]
WORK = ["Private", "State", "Private", "Private", None, "Federal", "State"]
PAY = [10.0, 20.5, None, 99.5, 250.0, -3.0, 50.0]
CODED = Reading(missing="")
FORMATS = (".csv", ".tsv", ".csv.gz", ".xlsx", ".parquet")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same seven people in every format."""
    folder = tmp_path_factory.mktemp("people")
    frame = pd.DataFrame({"Age": pd.array(AGES, dtype="Int64"), "work": WORK, "pay": PAY})
    paths = {suffix: folder / f"people{suffix}" for suffix in FORMATS}

    frame.to_csv(paths[".csv"], index=False)
    frame.to_csv(paths[".tsv"], index=False, sep="\t")
    frame.to_parquet(paths[".parquet"], row_group_size=3)
    frame.to_excel(paths[".xlsx"], index=False)
    paths[".csv.gz"].write_bytes(gzip.compress(paths[".csv"].read_bytes()))
    return paths


def users_by_label(column: Column) -> dict[str, int]:
    """How many users have each label that anybody has."""
    pairs = zip(column.labels, column.counts.tolist(), strict=True)
    return {label: users for label, users in pairs if users > 0}


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_gives_the_same_tallies(people: dict[str, Path], suffix: str) -> None:
    path = people[suffix]

    ages = load_column(path, "age", low=17, high=90, outside="clip")
    assert (ages.users, ages.missing, ages.outside) == (6, 1, 2)
    assert users_by_label(ages) == {"17": 2, "30": 2, "41": 1, "90": 1}
    assert ages.counts.size == 90 - 17 + 1
    assert ages.mean == pytest.approx((17 + 17 + 30 + 30 + 41 + 90) / 6)

    work = load_column(path, "work")
    assert work.labels == ("Federal", "Private", "State")
    assert work.counts.tolist() == [1, 3, 2]
    assert work.missing == 1

    pay = load_column(path, "pay", low=0, high=100, bins=4, outside="clip")
    assert pay.counts.tolist() == [3, 0, 1, 2]
    assert (pay.outside, pay.missing) == (2, 1)
    means = [(10 + 20.5 + 0) / 3, 37.5, 50.0, (99.5 + 100) / 2]
    assert pay.numbers.tolist() == pytest.approx(means)


# Letters, digits, marks and blanks, but nothing that does not show.
words = st.text(
    st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=8
).filter(lambda word: word == word.strip())
odd = st.sampled_from(["NA", "None", "nan", "null", "-", "1", "1.0", "007", 'a"b', "a,b", "#N/A"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property."""
    return tmp_path_factory.mktemp("round_trips")


@settings(deadline=None)
@given(answers=st.lists(words | odd, min_size=2, max_size=30))
def test_labels_come_back_as_they_are(folder: Path, answers: list[str]) -> None:
    path = folder / "labels.csv"
    pd.DataFrame({"x": answers, "y": 1}).to_csv(path, index=False)

    categories = list(dict.fromkeys([*answers, "a", "b"]))
    reading = Reading(separator=",", footer=0)  # a last label may be "mean"
    made = load_column(path, "x", categories=categories, reading=reading)
    assert made.labels == tuple(categories)
    assert users_by_label(made) == Counter(answers)
    assert made.missing == 0


@settings(deadline=None)
@given(number=st.floats(-1e6, 1e6))
def test_a_number_comes_back_to_the_last_bit(folder: Path, number: float) -> None:
    path = folder / "number.csv"
    pd.DataFrame({"x": [number], "y": 1}).to_csv(path, index=False)

    reading = Reading(missing="", decimal=".")
    made = load_column(path, "x", low=-1e6, high=1e6, bins=7, reading=reading)
    assert float(made.mean) == number


def test_what_was_left_out_moved_and_given_away_is_reported(people: dict[str, Path]) -> None:
    path = people[".csv"]

    ages = load_column(path, "age", low=17, high=90, outside="clip").report()
    moved = "This changes the mean from 37.5 to 37.5."
    assert "6 users" in ages
    assert "Users without an entry, who are left out: 1." in ages
    assert moved in ages

    work = load_column(path, "work")
    assert "taken from the data" in work.report()

    stated = load_column(path, "work", categories=("Private", "State", "Federal", "Local"))
    assert "taken from the data" not in stated.report()
    assert stated.counts.tolist() == [3, 2, 1, 0]

    rest = load_column(path, "work", categories=("Private", "other"))
    assert "count as 'other': 3." in rest.report()


def test_empty_rows_between_others_are_left_out_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"

    path.write_text("x,y\n1,a\n,\n\n2,b\n\n\n")
    made = load_column(path, "x", low=0, high=9)
    assert made.users == 2
    assert made.missing == 0
    assert "Empty rows, which are left out: 2." in made.report()

    path.write_text("x\n1\n\n2\n\n\n")
    made = load_column(path, "x", low=0, high=9)
    assert made.missing == 1


def test_text_of_a_file_is_escaped_in_its_report(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('"x\x1b[2J",g\n1,m\n2,f\n')
    made = load_column(path, "x\x1b[2J", low=0, high=3)
    assert made.report().isprintable()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"column": ""}, "no column is called '' among 'Age', 'work', 'pay'"),
    ({"column": "nothing"}, "no column is called 'nothing' among 'Age', 'work', 'pay'"),
    ({"column": "age"}, "may be a number: set low and high, or categories"),
    ({"column": "age", "low": 5}, "low and high must be set together"),
    ({"column": "age", "low": 5, "high": 1}, "low must be < high, got low=5, high=1"),
    ({"column": "age", "low": 0.5, "high": 10}, "low must be a whole number if bins"),
    (
        {"column": "pay", "low": -9, "high": 300, "reading": CODED},
        "'20.5' is not a whole number: set the number of bins",
    ),
    ({"column": "work", "low": 0, "high": 9}, "'Private' is not a number"),
    ({"column": "work", "categories": ("Private", "State")}, "'Federal' is not among the categ"),
    ({"column": "age", "low": 17, "high": 90}, r"'95' lies outside \[17, 90\]: set missing=95"),
    ({"column": "age", "low": 0, "high": 1e9}, "must be at most 4,096 values unless bins is set"),
    ({"column": "work", "bins": 1}, "bins needs a column of numbers: set low and high too"),
    ({"column": "work", "outside": "clip"}, "outside needs a column of numbers"),
    ({"column": "age", "low": 0, "high": 9, "categories": ("1",)}, "categories must not be"),
]


@pytest.mark.parametrize(("arguments", "rule"), REFUSED, ids=[rule for _, rule in REFUSED])
@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet"])
def test_a_column_that_does_not_fit_is_refused_with_row_and_value(
    people: dict[str, Path], suffix: str, arguments: dict[str, Any], rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        load_column(people[suffix], **arguments)


@pytest.mark.parametrize(
    ("suffix", "stated", "rule"),
    [
        (".csv", {"sheet": "a"}, "sheet must not be set"),
        (".xlsx", {"encoding": "cp1252"}, "encoding must not be set"),
        (".parquet", {"skip": 1}, "skip must not be set"),
        (".csv", {"counts": "age"}, "counts must be another column"),
    ],
    ids=by_what_is_stated,
)
def test_an_option_that_cannot_act_is_refused(
    people: dict[str, Path], suffix: str, stated: dict[str, Any], rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        load_column(people[suffix], "age", low=0, high=99, reading=Reading(**stated))


def test_a_column_of_counts_weights_each_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"

    path.write_text("answer,count\nyes,300\nno,200\n")
    with pytest.raises(ValueError, match="'count' may say how many users a row stands for"):
        load_column(path, "answer")

    made = load_column(path, "answer", reading=Reading(counts="count"))
    assert users_by_label(made) == {"yes": 300, "no": 200}

    path.write_text("answer,count\nyes,300\nno,2.5\n")
    with pytest.raises(ValueError, match=r"row 3: '2.5' must be a whole number >= 0"):
        load_column(path, "answer", reading=Reading(counts="count"))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"decimal": ";"}, "decimal must be a point or a comma, got decimal=';'"),
    ({"thousands": "_"}, "thousands must be a point, a comma, a space or an apostrophe"),
    ({"decimal": ",", "thousands": ","}, "thousands must be different from decimal"),
    ({"separator": "::"}, "separator must be one character, tab or space"),
    ({"encoding": "klingon"}, "encoding must be a known encoding"),
    ({"skip": -1}, "skip must be an integer >= 0"),
]


@pytest.mark.parametrize(("stated", "rule"), WRONG, ids=[rule for _, rule in WRONG])
def test_a_wrong_statement_is_refused_by_name_rule_and_value(
    stated: dict[str, Any], rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        Reading(**stated)


@settings(deadline=None)
@given(
    st.builds(
        Reading,
        skip=st.integers(0, 9),
        footer=st.none() | st.integers(0, 9),
        separator=st.sampled_from(["", "tab", ";", "|", "space"]),
        decimal=st.sampled_from(["", ","]),
        thousands=st.sampled_from(["", ".", " ", "'"]),
        missing=st.lists(words, max_size=3),
        sheet=words,
    )
)
def test_words_state_what_a_reading_states(reading: Reading) -> None:
    assert Reading.of(reading.words()) == reading


@pytest.mark.parametrize(
    ("rows", "hints_at_an_index"),
    [(["1,2,f", "3,4,m"], True), (["2", "4"], False), (["1,2,f,x", "3,4,m,y"], False)],
    ids=["one field more", "one field less", "two fields more"],
)
def test_rows_of_another_width_are_taken_for_an_index_if_they_have_one_field_more(
    rows: list[str], hints_at_an_index: bool, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,sex", *rows]))

    with pytest.raises(ValueError, match="correct that row") as refused:
        load_column(path, "sex")
    assert ("name the first column too" in str(refused.value)) == hints_at_an_index


@pytest.mark.parametrize(
    ("suffix", "rows", "may_be_header"),
    [
        (".csv", ["years", "30", "41"], True),
        (".csv", ["30", "years", "41"], False),
        (".parquet", ["years", "30", "41"], False),
    ],
    ids=["the first row", "another row", "the first row of Parquet, which has no header"],
)
def test_only_a_word_right_below_the_header_may_be_part_of_it(
    suffix: str, rows: list[str], may_be_header: bool, tmp_path: Path
) -> None:
    path = tmp_path / f"people{suffix}"
    frame = pd.DataFrame({"age": rows})
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)

    with pytest.raises(ValueError, match="'years' is not a number") as refused:
        load_column(path, "age", low=0, high=100)
    assert ("part of the header" in str(refused.value)) == may_be_header
