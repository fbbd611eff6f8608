"""Columns of the user's own files: every format gives the same tallies, nothing is taken from the data silently."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from ldpnb.data import entries, files
from ldpnb.data.inspection import inspect
from ldpnb.data.reading import AmbiguousError, Reading

AGES = [17, 30, 30, None, 95, 12, 41]
WORK = ["Private", "State", "Private", "Private", None, "Federal", "State"]
CLIP = Reading(outside="clip")
PAY = [10.0, 20.5, None, 99.5, 250.0, -3.0, 50.0]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same seven people in every format."""
    folder = tmp_path_factory.mktemp("people")
    frame = pd.DataFrame({"Age": pd.array(AGES, dtype="Int64"), "work": WORK, "pay": PAY})
    paths = {
        suffix: folder / f"people{suffix}"
        for suffix in (".csv", ".tsv", ".parquet", ".jsonl", ".xlsx")
    }
    frame.to_csv(paths[".csv"], index=False)
    frame.to_csv(paths[".tsv"], index=False, sep="\t")
    frame.to_parquet(paths[".parquet"], row_group_size=3)
    frame.to_excel(paths[".xlsx"], index=False)
    records = [
        dict(zip(("Age", "work", "pay"), row, strict=True))
        for row in zip(AGES, WORK, PAY, strict=True)
    ]
    paths[".jsonl"].write_text("".join(json.dumps(r) + "\n" for r in records))
    paths[".csv.gz"] = folder / "people.csv.gz"
    paths[".csv.gz"].write_bytes(gzip.compress(paths[".csv"].read_bytes()))
    return paths


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".xlsx", ".csv.gz"])
def test_every_format_gives_the_same_tallies(people: dict[str, Path], suffix: str) -> None:
    ages = files.load_counts(people[suffix], "age", low=17, high=90, reading=CLIP)
    assert (ages.users, ages.missing, ages.outside, ages.counts.size) == (6, 1, 2, 74)
    held = {label: int(n) for label, n in zip(ages.labels, ages.counts, strict=True) if n}
    assert held == {"17": 2, "30": 2, "41": 1, "90": 1}
    assert ages.mean == pytest.approx((17 + 17 + 30 + 30 + 41 + 90) / 6)
    work = files.load_counts(people[suffix], "work")
    assert (work.labels, work.counts.tolist(), work.missing) == (
        ("Federal", "Private", "State"),
        [1, 3, 2],
        1,
    )
    pay = files.load_counts(people[suffix], "pay", low=0, high=100, bins=4, reading=CLIP)
    assert (pay.counts.tolist(), pay.outside, pay.missing) == ([3, 0, 1, 2], 2, 1)
    assert pay.numbers.tolist() == pytest.approx(
        [(10 + 20.5 + 0) / 3, 37.5, 50.0, (99.5 + 100) / 2]
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".xlsx"])
def test_a_number_and_a_group_are_tallied_together(people: dict[str, Path], suffix: str) -> None:
    both = files.load_counts(people[suffix], "age", "work", low=0, high=100)
    assert (both.groups, both.sizes, both.missing) == (
        ("Private", "State", "Federal"),
        (2, 2, 1),
        2,
    )
    assert both.mean.tolist() == [23.5, 35.5, 12.0]
    assert both.unit_values[[0, 50, 100]].tolist() == [-1.0, 0.0, 1.0]


def test_no_file_is_the_sources_own_population() -> None:
    assert files.load_counts("", "") is None
    with pytest.raises(
        ValueError, match="data must name the file that the column 'age' is in, got data=''"
    ):
        files.load_counts("", "age")


def test_what_was_left_out_and_given_away_is_reported(people: dict[str, Path]) -> None:
    ages = files.load_counts(people[".csv"], "age", low=17, high=90, reading=CLIP)
    left = "1 without an entry were left out, 2 lay outside what was stated."
    assert ages.report() == f"age of people.csv: 6 users, 74 values; {left}"
    work = files.load_counts(people[".csv"], "work").report()
    assert work.endswith(
        "What occurs was taken for what may occur, which gives it away; state it to avoid that."
    )
    stated = files.load_counts(
        people[".csv"], "work", categories=("Private", "State", "Federal", "Local")
    )
    assert "gives it away" not in stated.report()
    assert stated.counts.tolist() == [3, 2, 1, 0]
    names = files.load_counts(people[".csv"], "age", reading=Reading(kind="category")).labels
    assert names == ("12", "17", "30", "41", "95")


COLUMNS = [
    ({"column": ""}, "its column must be named, its columns are Age, work, pay"),
    ({"column": "nothing"}, "no column 'nothing', its columns are Age, work, pay"),
    ({"column": "age"}, "low and high must be stated for numbers.*reveal its smallest and largest"),
    ({"column": "age", "low": 5, "high": 1}, "low must be < high"),
    ({"column": "age", "low": 0.5, "high": 10}, "low and high must be whole"),
    (
        {"column": "pay", "low": 0, "high": 100},
        "must hold whole numbers, got 20.5; state bins for real numbers",
    ),
    ({"column": "work", "low": 0, "high": 9}, "column 'work': must hold numbers"),
    (
        {"column": "work", "categories": ("Private", "State")},
        "column 'work': 'Federal' is not among the stated",
    ),
    (
        {"column": "age", "low": 17, "high": 90},
        r"must lie in \[17, 90\], got 2 outside, such as 12, 95; state a wider",
    ),
    (
        {"column": "work", "reading": Reading(kind="date")},
        "'Private', .* is no date in a known form; state dates=",
    ),
    (
        {"column": "age", "low": 0, "high": 1e9},
        "column 'age': must have at most 4,096 values, got 1,000,000,001",
    ),
    ({"column": "work", "group": "age"}, "column 'work': must hold numbers, got 'Private'"),
    ({"column": "age", "group": "work"}, "low and high must be stated for numbers"),
]


@pytest.mark.parametrize(("arguments", "rule"), COLUMNS)
def test_bad_columns_are_refused_by_name_rule_and_value(
    people: dict[str, Path], arguments: dict, rule: str
) -> None:
    for path in people.values():
        with pytest.raises(ValueError, match=rule):
            files.load_counts(path, **arguments)


def test_a_table_without_rows_has_no_entries(tmp_path: Path) -> None:
    pd.DataFrame({"age": pd.array([], dtype="int64")}).to_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match=r"none.parquet: column 'age': has no entries"):
        files.load_counts(tmp_path / "none.parquet", "age")


def test_entries_too_many_to_list_are_tallied_as_few_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, ranged = tmp_path / "many.csv", {"low": 0, "high": 100, "bins": 10}
    path.write_text("x\n" + "".join(f"{i / 40}\n" for i in range(4000)))
    few = files.load_counts(path, "x", **ranged).counts
    monkeypatch.setattr(entries, "_MANY", 100)
    assert few.tolist() == files.load_counts(path, "x", **ranged).counts.tolist() == [400] * 10


@pytest.mark.parametrize(
    ("above", "below", "skip"), [("", "", None), ("Survey 2024\n\n", "", 2), ("", '"8"\n', None)]
)
@pytest.mark.parametrize("row", ['"{},{}"', "{} {}"])
def test_rows_of_one_field_are_asked_about_below_titles_and_beside_odd_ones(
    row: str, above: str, below: str, skip: int | None, tmp_path: Path
) -> None:
    rows = [row.format("id", "age"), *(row.format(i, 20 + i) for i in range(30))]
    (tmp_path / "a.csv").write_text(above + "\n".join(rows) + "\n" + below)
    with pytest.raises(AmbiguousError, match="its rows "):
        files.load_counts(
            tmp_path / "a.csv", "", low=0, high=100, bins=10, reading=Reading(skip=skip)
        )


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        ({"separator": "::"}, "separator must be one character, tab or space, got separator='::'"),
        ({"decimal": "x"}, "decimal must be a point or a comma, got decimal='x'"),
        ({"thousands": "0"}, "thousands must be a point, comma, .* got thousands='0'"),
        ({"decimal": ",", "thousands": ","}, "thousands must not be the decimal mark"),
        ({"skip": -1}, "skip must be a whole number >= 0, got skip='-1'"),
        ({"kind": "integer"}, "kind must be number, category or date"),
        ({"bad_rows": "cut"}, "bad_rows must be skip or fill"),
        ({"outside": "clamp"}, "outside must be error, missing or clip, got outside='clamp'"),
    ],
)
def test_a_reading_that_cannot_be_is_refused(stated: dict, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        Reading(**stated)


def test_words_state_a_reading() -> None:
    words = ["thousands=.", "missing=k.A.", "missing=-9", "skip=2", "fold=True"]
    stated = Reading(thousands=".", missing=("k.A.", -9), skip=2, fold=True)
    assert Reading.of(words) == stated
    with pytest.raises(ValueError, match=r"reading must state sheet, skip, .*, got 'tousands=\.'"):
        Reading.of(["tousands=."])


@pytest.mark.parametrize("suffix", ["sav", "dta"])
def test_a_scale_whose_ends_alone_have_words_stays_numbers(tmp_path: Path, suffix: str) -> None:
    import pyreadstat

    people = pd.DataFrame({"sat": [1.0, 2, 3, 4, 5, 5], "sex": [1.0, 2, 1, 2, 1, 2]})
    words = {"sat": {1: "low", 5: "high"}, "sex": {1: "f", 2: "m"}}
    write = pyreadstat.write_sav if suffix == "sav" else pyreadstat.write_dta
    write(people, str(tmp_path / f"s.{suffix}"), variable_value_labels=words)
    scale = files.load_counts(tmp_path / f"s.{suffix}", "sat", low=1, high=5)
    assert scale.counts.tolist() == [1, 1, 1, 1, 2]
    assert files.load_counts(tmp_path / f"s.{suffix}", "sex").labels == ("f", "m")


def test_groups_and_stated_categories_are_asked_about_as_categories_are(tmp_path: Path) -> None:
    path, ranged = tmp_path / "a.csv", {"low": 0, "high": 5}
    path.write_text("group,code,country,x\n" + "M,1,NA,1\nm,2,DE,2\nF,99,DE,3\n" * 20)
    asked = {
        "group": "differ only in case; state fold=True",
        "code": "99 .* may stand for a missing",
        "country": "holds NA",
    }
    for group, question in asked.items():
        with pytest.raises(AmbiguousError, match=f"column '{group}': .*{question}"):
            files.load_counts(path, "x", group, **ranged)
    folded = files.load_counts(path, "x", "group", **ranged, reading=Reading(fold=True))
    assert (folded.groups, folded.sizes) == (("m", "f"), (40, 20))
    with pytest.raises(AmbiguousError, match="column 'country': holds NA"):
        files.load_counts(path, "country", categories=("NA", "DE"))
    assert (
        files.load_counts(
            path, "country", categories=("NA", "DE"), reading=Reading(present="NA")
        ).users
        == 60
    )


def test_a_file_of_counts_is_asked_about_once_and_its_values_are_collected(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(
        "age,count\n" + "".join(f"{18 + i},{30 + i * i % 7}\n" for i in range(40))
    )
    assert "--counts=count" in inspect(tmp_path / "c.csv")
    assert "own_data" not in inspect(tmp_path / "c.csv")
    answered = inspect(tmp_path / "c.csv", Reading(counts="count"))
    assert "?" not in answered
    assert "-p column=age" in answered
    assert "-p counts=count" in answered


def test_a_form_of_dates_is_for_the_columns_that_hold_dates(tmp_path: Path) -> None:
    rows = "".join(f"0{1 + i % 9}/0{1 + i % 4}/2023,{20 + i % 5}\n" for i in range(60))
    (tmp_path / "d.csv").write_text("day,age\n" + rows)
    report = inspect(tmp_path / "d.csv", Reading(dates=("%d/%m/%Y",)))
    assert "number, 20 to 24" in report
    assert "column=day" in report
