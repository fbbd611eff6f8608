"""No command writes over or among what is committed, whatever it is told."""

import subprocess
from pathlib import Path

import pytest

from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.run import catalogue

COMMANDS = {
    "download": ["download", "adult", "--cache"],
    "export": ["export", "bun2022/theorem-5.1", "-o"],
    "get": ["get"],
    "run": ["run", "01_line", "-p", "users=3", "-o"],
    "sweep": ["sweep", "gaps", "-g", "epsilon=1,2", "-r", "2", "-j", "1", "-o"],
    "plot": ["plot", "swept", "--x", "epsilon", "--y", "mse", "-o"],
    "report": ["report", "-o"],
    "site": ["site", "-o"],
}
FOLDERS = [
    "notebooks",
    "figures",
    "notebooks/new/folder",
    ".",
    "..//CHECKOUT/figures",
    "link",
    "link/below",
    "ldpnb",
    ".git",
]
FILES = [
    "README.md",
    "figures/verdicts.csv",
    "figures/new.png",
    "notebooks/x.md",
    "link/x.csv",
    "Makefile",
    "pyproject.toml",
]


def test_what_is_committed_is_all_that_git_holds() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=catalogue.home(), capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout of git")
    assert {line.split("/")[0] for line in listed.stdout.splitlines()} | {".git"} == set(catalogue._COMMITTED)


def test_every_command_with_an_output_is_tried() -> None:
    places = {"output", "cache", "folder"}
    writing = {name for name, command in cli.commands.items() if places & {option.name for option in command.params}}
    assert writing == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_output_may_lie_among_what_is_committed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(checkout)
    (checkout / "figures").mkdir()
    (checkout / "swept").mkdir()
    (checkout / "link").symlink_to("figures")
    for name in ("README.md", "figures/verdicts.csv", "Makefile", "pyproject.toml"):
        (checkout / name).write_text("committed")
    before = {p: p.read_bytes() for p in checkout.rglob("*") if p.is_file()}
    for place in FILES if command in ("plot", "report") else FOLDERS:
        words = [*COMMANDS[command], place.replace("CHECKOUT", checkout.name)]
        with pytest.raises(UsageError, match="output must lie outside what is committed"):
            cli.main(words, standalone_mode=False)
    assert {p: p.read_bytes() for p in checkout.rglob("*") if p.is_file()} == before
