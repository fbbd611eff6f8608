"""Columns of the user's own files: every format gives the same tallies, nothing is taken from the data silently."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ldpnb.data import files, tables

AGES = [17, 30, 30, None, 95, 12, 41]
WORK = ["Private", "State", "Private", "Private", None, "Federal", "State"]
PAY = [10.0, 20.5, None, 99.5, 250.0, -3.0, 50.0]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same seven people in every format."""
    folder = tmp_path_factory.mktemp("people")
    frame = pd.DataFrame({"Age": pd.array(AGES, dtype="Int64"), "work": WORK, "pay": PAY})
    paths = {suffix: folder / f"people{suffix}" for suffix in (".csv", ".tsv", ".parquet", ".jsonl", ".xlsx")}
    frame.to_csv(paths[".csv"], index=False)
    frame.to_csv(paths[".tsv"], index=False, sep="\t")
    frame.to_parquet(paths[".parquet"], row_group_size=3)
    frame.to_excel(paths[".xlsx"], index=False)
    records = [dict(zip(("Age", "work", "pay"), row, strict=True)) for row in zip(AGES, WORK, PAY, strict=True)]
    paths[".jsonl"].write_text("".join(json.dumps(r) + "\n" for r in records))
    paths[".csv.gz"] = folder / "people.csv.gz"
    paths[".csv.gz"].write_bytes(gzip.compress(paths[".csv"].read_bytes()))
    return paths


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".xlsx", ".csv.gz"])
def test_every_format_gives_the_same_tallies(people: dict[str, Path], suffix: str) -> None:
    ages = files.load_counts(people[suffix], "age", low=17, high=90)
    assert (ages.users, ages.missing, ages.clipped, ages.counts.size) == (6, 1, 2, 74)
    held = {label: int(n) for label, n in zip(ages.labels, ages.counts, strict=True) if n}
    assert held == {"17": 2, "30": 2, "41": 1, "90": 1}
    assert ages.mean == pytest.approx((17 + 17 + 30 + 30 + 41 + 90) / 6)
    work = files.load_counts(people[suffix], "work")
    assert (work.labels, work.counts.tolist(), work.missing) == (("Federal", "Private", "State"), [1, 3, 2], 1)
    pay = files.load_counts(people[suffix], "pay", low=0, high=100, bins=4)
    assert (pay.counts.tolist(), pay.clipped, pay.missing) == ([3, 0, 1, 2], 2, 1)
    assert pay.numbers.tolist() == pytest.approx([(10 + 20.5 + 0) / 3, 37.5, 50.0, (99.5 + 100) / 2])


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".xlsx"])
def test_a_number_and_a_group_are_tallied_together(people: dict[str, Path], suffix: str) -> None:
    both = files.load_groups(people[suffix], "age", "work", low=0, high=100)
    assert (both.groups, both.sizes, both.missing) == (("Private", "State", "Federal"), (2, 2, 1), 2)
    assert both.means.tolist() == [23.5, 35.5, 12.0]
    assert both.unit_values[[0, 50, 100]].tolist() == [-1.0, 0.0, 1.0]
    two = files.load_groups(people[suffix], "age,work", low=0, high=100, groups=("State", "other"))
    assert (two.groups, two.sizes, two.occurring) == (("State", "other"), (2, 3), False)


def test_pieces_add_up_whatever_their_size(people: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {s: files.load_counts(p, "pay", low=0, high=100, bins=7) for s, p in people.items()}
    monkeypatch.setattr(tables, "ROWS", 4)
    for suffix, path in people.items():
        pieces = files.load_counts(path, "pay", low=0, high=100, bins=7)
        assert pieces.counts.tolist() == whole[suffix].counts.tolist()
        assert pieces.numbers == pytest.approx(whole[suffix].numbers)
        assert files.load_counts(path, "work").counts.tolist() == [1, 3, 2]


def test_no_file_is_the_sources_own_population() -> None:
    assert files.load_counts("", "") is None
    assert files.load_groups("", "", "") is None


def test_a_column_without_a_file_is_an_oversight() -> None:
    for load in (files.load_counts, files.load_groups):
        with pytest.raises(ValueError, match="data must name the file that column 'age' is in, got data=''"):
            load("", "age")


def test_a_file_without_a_column_and_text_for_a_number_are_named(people: dict[str, Path]) -> None:
    with pytest.raises(ValueError, match="its column must be named, its columns are "):
        files.load_counts(people[".csv"], "")
    with pytest.raises(ValueError, match="column work must hold numbers, got text"):
        files.load_groups(people[".csv"], "work", "sex")


def test_what_was_left_out_and_given_away_is_reported(people: dict[str, Path]) -> None:
    ages = files.load_counts(people[".csv"], "age", low=17, high=90).report()
    assert (
        ages
        == "age of people.csv: 6 users, 74 values; 1 without an entry were left out, 2 lay outside what was stated."
    )
    work = files.load_counts(people[".csv"], "work").report()
    assert work.endswith("What occurs was taken for what may occur, which gives it away; state it to avoid that.")
    stated = files.load_counts(people[".csv"], "work", categories=("Private", "State", "Federal", "Local"))
    assert "gives it away" not in stated.report()
    assert stated.counts.tolist() == [3, 2, 1, 0]


def test_a_range_is_never_taken_from_the_data(people: dict[str, Path]) -> None:
    for suffix in (".csv", ".parquet", ".jsonl", ".xlsx"):
        with pytest.raises(
            ValueError, match=r"low and high must be stated for numbers.*reveal its smallest and largest"
        ):
            files.load_counts(people[suffix], "age")
    with pytest.raises(ValueError, match="low and high must be stated"):
        files.load_groups(people[".csv"], "age", "work")
    assert files.load_counts(people[".csv"], "age", kind="category").labels == ("12", "17", "30", "41", "95")


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"column": "nothing"}, "no column 'nothing', its columns are Age, work, pay"),
        ({"column": "age", "low": 5, "high": 1}, "low must be < high"),
        ({"column": "age", "low": 0.5, "high": 10}, "low and high must be whole"),
        ({"column": "pay", "low": 0, "high": 100}, "must hold whole numbers, got 20.5; state bins for real numbers"),
        ({"column": "pay", "kind": "real", "low": 0, "high": 1}, "bins must be stated for real numbers"),
        ({"column": "age", "kind": "integer", "low": 0, "high": 9, "bins": 3}, "bins are for real numbers"),
        ({"column": "work", "kind": "integer", "low": 0, "high": 9}, "column work must hold numbers"),
        ({"column": "work", "categories": ("Private", "State")}, "'Federal' of column work is not among the stated"),
        ({"column": "age", "kind": "number"}, "kind must be one of auto, category, integer, real"),
        ({"column": "age", "low": 0, "high": 1e9}, "values must be at most 10,000,000"),
    ],
)
def test_bad_columns_are_refused_by_name_rule_and_value(people: dict[str, Path], arguments: dict, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        files.load_counts(people[".csv"], **arguments)


def test_bad_files_are_refused_by_name(tmp_path: Path, people: dict[str, Path]) -> None:
    for name, content, rule in (
        ("empty.csv", b"", "cannot be read as csv"),
        ("none.csv", b"age\n\n", "column age has no entries"),
        ("broken.parquet", b"PAR1 no", "cannot be read as parquet"),
        ("broken.jsonl", b"{", "cannot be read as jsonl"),
        ("table.odt", b"age\n1\n", "its name must end in .csv"),
        ("latin.csv", "age\nja\xe4\n".encode("latin-1"), "cannot be read as csv"),
        ("one.csv", b"age\na\na\n", "must have two values or more"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=f"{name}.*{rule}"):
            files.load_counts(tmp_path / name, "age")
    with pytest.raises(ValueError, match=r"data must be a file, got data='nowhere.csv'"):
        files.load_counts("nowhere.csv", "age")
    with pytest.raises(ValueError, match="column must name a number and a group, such as 'pay,sex', got column='age'"):
        files.load_groups(people[".csv"], "age", low=0, high=99)
    with pytest.raises(ValueError, match="groups must name every group"):
        files.load_groups(people[".csv"], "age", "work", low=0, high=99, groups=("Private", "State"))


MEASURE = """
import resource, sys
import numpy as np, pandas, pyarrow.parquet, tqdm
from ldpnb.data import files
files.load_counts(sys.argv[1], "x", low=0, high=99)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
column = files.load_counts(sys.argv[2], "x", low=0, high=99)
print(column.users, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_ten_million_rows_take_no_more_memory_than_half_a_million(tmp_path: Path, suffix: str) -> None:
    block = "".join(f"{i % 100}\n" for i in range(500_000))
    if suffix == ".csv":
        for name, times in (("few", 1), ("many", 20)):
            with (tmp_path / f"{name}.csv").open("w") as file:
                file.write("x\n")
                file.writelines(block for _ in range(times))
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({"x": pa.array(np.arange(500_000) % 100, pa.int16())})
        for name, times in (("few", 1), ("many", 20)):
            with pq.ParquetWriter(tmp_path / f"{name}.parquet", table.schema) as writer:
                for _ in range(times):
                    writer.write_table(table)
    command = [sys.executable, "-c", MEASURE, *(str(tmp_path / f"{name}{suffix}") for name in ("few", "many"))]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    users, grown = map(int, result.stdout.split())
    assert users == 10**7
    assert grown < 48, f"{grown} MB"
