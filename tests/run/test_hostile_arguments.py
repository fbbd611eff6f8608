"""No argument ends a command in a traceback, however long, deep or odd it is.

Each option that takes a value is tried on its own, with a command that is otherwise in order.
"""

import sys
from pathlib import Path

import click
import pytest

from ldpnb import cli

HOSTILE = {
    "400 digits": 400 * "9",
    "5,000 digits": 5000 * "9",
    "a small number": "1e-320",
    "a number that no float holds": "1e-400",
    "a large number": "1e308",
    "infinity": "inf",
    "nan": "nan",
    "a negative number": "-1",
    "nothing": "",
    "a blank": " ",
    "brackets": 50_000 * "[",
    "an open quotation": '"a,b',
    "escapes and a new line": "\x1b[2Ja\nb",
}

PLAN = ["plan", "--error", "0.1", "--failure", "0.1", "--epsilon", "1"]
CLUSTERS = ["--clusters", "60", "--cluster-size", "20"]
COMMANDS = {
    "plan": PLAN,
    "plan with clusters": [*PLAN, *CLUSTERS, "--response", "0.5"],
    "plan for a mean": [*PLAN, "--range", "0", "10"],
    "estimate": ["estimate", "reports.csv", "--epsilon", "1"],
    "estimate by chances": ["estimate", "reports.csv", "--p", "0.75", "--q", "0.25"],
    "audit": ["audit", "client:respond", "--inputs", "0:2"],
    "inspect": ["inspect", "reports.csv"],
    "sweep": ["sweep", "client:experiment", "--output", "taken"],
    "export": ["export", "critical_size", "--output", "taken"],
    "verdicts": ["verdicts", "--source"],
    "report": ["report", "--errata"],
}
CLIENT = """
import random

def respond(answer):
    return answer if random.random() < 0.75 else 1 - answer

def experiment(*, x: float = 1.0, repetitions, rng):
    yield {}, {"x": rng.normal(size=repetitions)}
"""
NOT_TRIED = {
    "--output": "names a folder, which may have any name",
    "--scheduler": "waits for a computer that is not there",
    "--source": "ends the command above already",
    "--errata": "ends the command above already",
}


def cases() -> list[tuple[str, str, int]]:
    """Every option that takes a value: command, option, and how many values it takes."""
    found = []
    for name, words in COMMANDS.items():
        for option in cli.cli.commands[words[0]].params:
            takes_a_value = isinstance(option, click.Option) and not option.is_flag
            if takes_a_value and option.opts[-1] not in NOT_TRIED:
                found.append((name, option.opts[-1], option.nargs))
    return found


@pytest.mark.parametrize(
    ("name", "option", "number"), cases(), ids=lambda part: str(part).replace(" ", "-")
)
def test_an_option_is_obeyed_or_refused_in_a_line(
    name: str,
    option: str,
    number: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("client.py").write_text(CLIENT)
    Path("reports.csv").write_text("report,g\nyes,a\nno,b\nyes,a\nno,b\n")
    Path("taken").mkdir()
    Path("taken/something").touch()

    for text in HOSTILE.values():
        for word in (text, f"x={text}") if option in ("--grid", "-g") else (text,):
            monkeypatch.setattr(sys, "argv", ["ldpnb", *COMMANDS[name], option, *[word] * number])
            sys.modules.pop("client", None)
            with pytest.raises(SystemExit) as ended:
                cli.main()

            out, err = capsys.readouterr()
            assert (ended.value.code or 0) in (0, 1, 2)
            assert err.count("\n") <= 1
            assert "\x1b" not in out + err
