"""Files of every kind: read as they are meant, or asked in one line that says what to state, and then read."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dirty import AGES, COMMA, DOTS, KINDS, REFUSED, text

from ldpnb.cli import cli
from ldpnb.data.files import load_counts
from ldpnb.data.inspection import UNANSWERED, inspect
from ldpnb.data.reading import Reading
from ldpnb.run.catalogue import find


def outcome(path: Path, column: str, truth: Any, reading: Reading) -> Any:
    """What is read of a column, in the form of its truth."""
    ranged = {"low": -100.0, "high": 2e6, "bins": 2000} if isinstance(truth, tuple) else {}
    made = load_counts(path, column, reading=reading, **ranged)
    if made.scale == "number":
        return pytest.approx(made.mean, rel=1e-12), made.missing
    return {
        label: int(count) for label, count in zip(made.labels, made.counts, strict=True) if count
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_read_as_it_is_meant_or_asked(tmp_path: Path, kind: str) -> None:
    dirty = KINDS[kind]
    path = dirty.write(tmp_path)
    if dirty.asked:
        with pytest.raises(ValueError, match=dirty.asked) as refused:
            outcome(path, dirty.column, dirty.truth, Reading())
        assert str(refused.value).startswith(str(path))
        assert "\n" not in str(refused.value)
    if dirty.truth is not REFUSED:
        assert outcome(path, dirty.column, dirty.truth, Reading(**dirty.stated)) == dirty.truth


@pytest.mark.parametrize(
    "kind", [kind for kind, dirty in KINDS.items() if dirty.truth is not REFUSED]
)
def test_the_next_command_repeats_every_option_and_works(tmp_path: Path, kind: str) -> None:
    dirty = KINDS[kind]
    path = dirty.write(tmp_path)
    *_, last = inspect(path, Reading(**dirty.stated)).splitlines()
    if last == UNANSWERED or "no column" in last:
        return
    program, command, notebook, *words = shlex.split(last)
    assert (program, command) == ("ldpnb", "run")
    pairs = dict(word.split("=", 1) for word in words if word != "-p")
    given = find(notebook).check(pairs)
    assert dirty.stated.keys() <= given.keys()
    named = {
        name: given.pop(name) for name in ("data", "column", "low", "high", "bins") if name in given
    }
    assert load_counts(**named, reading=Reading(**given)).users > 0


def test_a_question_is_asked_once_for_all_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text("a;b;c;d", DOTS, DOTS, DOTS, COMMA, sep=";"))
    report = inspect(path)
    assert report.count("it is 1.234") == 1
    assert (
        "? a, b, c: '1.234' has two readings\n    --decimal=.  it is 1.234\n    --thousands=.  it is 1234"
        in report
    )
    assert "-p column=d -p low=1000 -p high=3200 -p bins=20" in report


@pytest.mark.parametrize(
    ("content", "options", "code", "shown"),
    [
        (text("age", AGES), [], 0, "-p column=age -p low=18 -p high=47"),
        (text("age,x", DOTS, DOTS, sep=";"), [], 2, "--separator"),
        (b"title\n\n" + text("age,x", AGES, AGES), [], 2, "  --skip=2  lines above it are titles"),
        (b"title\n\n" + text("age,x", AGES, AGES), ["--skip", "2"], 0, "-p skip=2"),
        (text("w;x", DOTS, DOTS, sep=";"), [], 2, "    --thousands=.  it is 1234"),
        (text("w;x", DOTS, AGES, sep=";"), ["--thousands", "."], 0, "-p thousands=."),
        (
            text("w;x", DOTS, DOTS, sep=";"),
            ["--thousands", "xy"],
            2,
            "thousands must be a point, comma",
        ),
        (b"", [], 2, "it is empty"),
    ],
)
def test_the_command_asks_with_exit_code_2(
    tmp_path: Path, content: bytes, options: list[str], code: int, shown: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    result = CliRunner().invoke(cli, ["inspect", str(path), *options])
    assert shown in result.output + str(result.exception)
    assert (result.exit_code if isinstance(result.exception, SystemExit | None) else 2) == code
