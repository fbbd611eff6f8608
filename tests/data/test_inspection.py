"""`ldpnb inspect` describes each column of a file, and ends in a command that works when pasted."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from readable import stated
from untidy import UNTIDY

from ldpnb.cli import cli
from ldpnb.data.files import load_column
from ldpnb.data.inspection import inspect
from ldpnb.data.reading import Reading
from ldpnb.run.catalogue import find

COMMAND = "  ldpnb run own_survey "


def pasted(report: str) -> dict[str, Any] | None:
    """Return the parameters of a report's command as a shell would pass them."""
    *_, last = report.splitlines()
    if not last.startswith(COMMAND):
        return None

    words = shlex.split(last)[3:]
    assert words[::2] == ["-p"] * (len(words) // 2)

    pairs = dict(word.split("=", 1) for word in words[1::2])
    given = find("own_survey").check(pairs)  # as the notebook's own parameters are checked
    given["reading"] = Reading.of(given.get("reading", []))
    return given


@pytest.mark.parametrize("name", [name for name in UNTIDY if UNTIDY[name].stated is not None])
def test_the_command_reads_the_column_that_it_names(name: str, tmp_path: Path) -> None:
    path = tmp_path / UNTIDY[name].file
    path.write_bytes(UNTIDY[name].content)
    reading = Reading(**UNTIDY[name].stated)

    given = pasted(inspect(path, reading))
    if given is not None:
        assert given["reading"] == reading
        assert load_column(**given).users > 0


def test_a_column_has_its_entries_its_missing_ones_and_what_must_be_stated(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("age,sex\n" + "30,f\n40,m\n,f\n50,m\nk.A.,f\n" * 5)

    report = inspect(path)
    assert "25 rows, 2 columns" in report
    assert "20 entries, 5 missing" in report
    assert "row 6: 'k.A.' is not a number: set --missing='k.A.'" in report
    assert pasted(report)["column"] == "sex"

    report = inspect(path, Reading(missing="k.A."))
    assert "15 entries, 10 missing; numbers from 30 to 50" in report
    assert "the largest value that are possible" in report
    assert pasted(report)["column"] == "age"


@pytest.mark.parametrize("name", ["percent", "two units", "flags beside numbers"])
def test_no_advice_takes_a_unit_off_numbers(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(UNTIDY[name].content)
    report = inspect(path)
    assert "all in one unit" in report
    assert pasted(report) is None


def test_numbers_of_a_file_are_printed_exactly(tmp_path: Path) -> None:
    path = tmp_path / "incomes.csv"
    path.write_text("income\n12345678\n23456789.25\n")
    assert "numbers from 12345678 to 23456789.25" in inspect(path)

    labels = load_column(path, "income", low=12_345_000, high=23_456_790, bins=900).labels
    assert len(set(labels)) == 900
    assert labels[0].startswith("12345000 to ")


def test_text_of_a_file_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    evil = "x\nldpnb run own_survey -p data=evil\x1b[2J"

    path.write_text(f'"{evil}",b\n"{evil}",1\n"{evil}",2\ny,1\n', newline="")
    report = inspect(path)
    lines = report.splitlines()
    assert all(line.isprintable() for line in lines)
    assert sum(line.startswith(COMMAND) for line in lines) == 1
    assert pasted(report)["column"] == "b"

    on_one_line = evil.replace("\n", "")
    path.write_text(f"b,{on_one_line}\n1,2\n2,3\n1,2\n")
    assert pasted(inspect(path))["column"] == "b"


@pytest.mark.parametrize(
    ("content", "options", "code", "shown"),
    [
        ("age;x\n1;2\n2;3\n", [], 0, "-p column=age -p low=1 -p high=2"),
        ("title\n\nage,x\n1,2\n2,3\n", [], 2, "set skip if the header is further down"),
        ("title\n\nage,x\n1,2\n2,3\n", ["--skip", "2"], 0, "-p 'reading=[\"skip=2\"]'"),
        ("w;x\n1.234;a\n2.345;b\n", [], 0, "set --decimal=. if it is 1.234, or --thousands=."),
        ("w;x\n1.234;a\n2.345;b\n", ["--thousands", "."], 0, "-p low=1200 -p high=2400"),
        ("w;x\n1;2\n", ["--thousands", "xy"], 2, "thousands must be a point, a comma"),
        ("", [], 2, "it is empty"),
    ],
    ids=stated,
)
def test_the_command_line_passes_what_is_stated(
    tmp_path: Path, content: str, options: list[str], code: int, shown: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content)
    result = CliRunner().invoke(cli, ["inspect", str(path), *options])

    # The command line turns a ValueError into one line and exit code 2.
    is_refused = not isinstance(result.exception, SystemExit | None)
    assert (2 if is_refused else result.exit_code) == code
    assert shown in result.output + str(result.exception)


RANGES = {
    "ages": ([17, 30, 64, 90], "-p low=17 -p high=90"),
    "people by the thousand": ([3120, 3950], "-p low=3100 -p high=4000"),
    "more than a thousand whole numbers": ([3120, 4950], "-p low=3100 -p high=5000 -p bins=20"),
    "a thousand whole numbers": ([0, 1000], "-p low=0 -p high=1000"),
    "numbers around zero": ([-35, 20], "-p low=-35 -p high=20"),
    "fractions": ([0.123, 0.877], "-p low=0.12 -p high=0.88 -p bins=20"),
    "negative fractions": ([-1.25, 0.5], "-p low=-1.3 -p high=0.5 -p bins=20"),
    "small fractions": ([0.00123, 0.0045], "-p low=0.0012 -p high=0.0045 -p bins=20"),
    "yes and no": ([0, 1], "-p low=0 -p high=1"),
}


@pytest.mark.parametrize("name", RANGES)
def test_a_range_is_suggested_of_two_digits_around_the_numbers_with_bins_for_many(
    name: str, tmp_path: Path
) -> None:
    numbers, words = RANGES[name]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x", *map(str, numbers * 3), ""]))
    report = inspect(path, Reading(missing=""))
    assert report.endswith(f"-p column=x {words} -p 'reading=[\"missing=\"]'")


NAMING_ROWS = [f"user-{row}" for row in range(50)]
USELESS = {
    "one name": (["a"] * 50, {}),
    "one number": ([5] * 50, {}),
    "nothing": ([""] * 49 + ["a"], {}),
    "a name for each row": (NAMING_ROWS, {}),
    "a number for each row": ([*range(50)], {}),
    "counts": ([1, 2] * 25, {"counts": "x"}),
}


@pytest.mark.parametrize("name", USELESS)
def test_a_column_that_says_nothing_about_users_gets_no_command(name: str, tmp_path: Path) -> None:
    entries, stated = USELESS[name]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x,y", *(f"{entry},b" for entry in entries), ""]))

    report = inspect(path, Reading(**stated))
    assert pasted(report) is None
    assert report.endswith(
        "No column can be used as it is: each has one value, a name for each row, or counts."
    )


USEFUL = {
    "fractions that all differ": ([row + 0.25 for row in range(50)], {"decimal": "."}),
    "a row for each name with its count": (NAMING_ROWS, {"counts": "y"}),
    "few names that all differ": ([f"user-{row}" for row in range(20)], {}),
    "names that repeat": ([*NAMING_ROWS[:48], "user-0", "user-1"], {}),
}


@pytest.mark.parametrize("name", USEFUL)
def test_a_column_gets_a_command_if_users_may_share_its_values(name: str, tmp_path: Path) -> None:
    entries, stated = USEFUL[name]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x,y", *(f"{entry},7" for entry in entries), ""]))
    assert pasted(inspect(path, Reading(**stated)))["column"] == "x"


def test_a_line_has_the_three_most_common_names_and_how_many_there_are(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("town\n" + "Bonn\n" * 4 + "Ulm\n" * 3 + "Jena\n" * 2 + "Trier\n" * 1)
    described = inspect(path).splitlines()[1]
    assert described.endswith("; 4 different, such as 'Bonn' 4, 'Ulm' 3, 'Jena' 2")


def test_what_holds_for_several_columns_is_said_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1.234,1.234\n2.345,2.345\n" * 3)
    report = inspect(path)
    assert report.count("can be read in two ways") == 1
    assert report.endswith("follow the hints above and inspect the file again.")


@pytest.mark.parametrize(("columns", "more"), [(100, ""), (103, "  and 3 more columns")])
def test_a_hundred_columns_are_described_and_the_others_counted(
    columns: int, more: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    names = [f"c{place}" for place in range(columns)]
    path.write_text("\n".join([",".join(names), *[",".join("a" * columns)] * 2, ""]))

    lines = inspect(path).splitlines()
    assert sum(line.startswith("  c") for line in lines) == 100
    assert ("more columns" in "".join(lines)) == bool(more)
    assert more in lines or not more

    named = inspect(path, columns=["c5", f"C{columns - 1}"])
    assert [line.split()[0] for line in named.splitlines()[1:3]] == ["c5", f"c{columns - 1}"]
    assert "more columns" not in named


@pytest.mark.parametrize(("rows", "columns"), [("1 row", "1 column"), ("2 rows", "2 columns")])
def test_one_row_is_not_called_rows(rows: str, columns: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\na\n" if rows == "1 row" else "x,y\na,b\na,b\n")
    assert inspect(path).splitlines()[0].endswith(f": {rows}, {columns}")
