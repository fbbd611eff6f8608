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
