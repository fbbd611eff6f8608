"""Everything that the README prints can be typed by somebody who has only the clone."""

import re
import shlex
from pathlib import Path

import click
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from ldpnb.cli import cli
from ldpnb.notebook.environment import FIGURES_FOLDER
from ldpnb.run import runner
from ldpnb.run.catalogue import find, home

TEXT = (home() / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    re.sub(r"\s+#\s.*", "", line)
    for line in re.findall(r"^ *(?:- run: )?\.venv/bin/ldpnb (.*)$", TEXT, re.MULTILINE)
]
QUICK = [
    command
    for command in COMMANDS
    if command.startswith(("list", "show", "inspect", "plan", "estimate"))
    and "build/" not in command
]


@pytest.mark.parametrize("command", COMMANDS, ids=COMMANDS)
def test_a_command_has_these_options_and_the_files_that_it_names(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home())
    words = shlex.split(command)

    found: click.Command = cli
    while isinstance(found, click.Group) and words and found.get_command(None, words[0]):
        found = found.get_command(None, words.pop(0))

    assert not isinstance(found, click.Group)
    found.make_context("ldpnb", words)  # which refuses unknown options
    for path in re.findall(r"[\w/]+\.csv", command):
        assert Path(path).is_file()


@pytest.mark.parametrize("command", QUICK, ids=QUICK)
def test_a_quick_command_succeeds(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home())
    result = CliRunner().invoke(cli, shlex.split(command))
    assert result.exit_code == 0, result.output


def test_the_jobs_of_ones_own_ci_are_known_and_their_notebook_takes_the_parameter(
    tmp_path: Path,
) -> None:
    """What the jobs then do is tried in `tests/notebooks`."""
    workflow = yaml.safe_load(TEXT.split("```yaml\n")[1].split("```")[0])
    steps = [step["run"] for step in workflow["jobs"]["notebooks"]["steps"] if "run" in step]
    assert steps.pop(0) == "make .venv/.installed"

    commands = {}
    for step in steps:
        name, *words = shlex.split(step.removeprefix(".venv/bin/ldpnb "))
        commands[name] = words

    assert commands.keys() == {"check", "run", "verdicts"}

    given = cli.commands["run"].make_context("run", commands["run"]).params
    assert given["output"] == Path("build/results")

    (task,) = runner.tasks([find(*given["ids"])], given["parameters"], tmp_path)
    assert task.target.name.startswith("03_cluster")


def test_the_variable_that_it_names_is_the_one_that_figures_read() -> None:
    assert f"`{FIGURES_FOLDER}=folder`" in TEXT


def test_targets_and_links_are_there() -> None:
    makefile = (home() / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`?make (\w+)", TEXT):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target

    for link in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert "://" in link or (home() / link).exists(), link


def test_the_caption_of_its_picture_says_what_the_figure_drew() -> None:
    losses = pd.read_csv(home() / "figures/2_bun2022/03_cluster_lower_bounds/losses.csv")
    drawn = losses.set_index(["drawn", "cluster size (records)"])["privacy loss (% of ε)"]

    village = int(re.search(r"villages of (\d+) people", TEXT)[1])
    by_people = 100 - drawn["single records", village]
    by_villages = 100 - drawn["whole clusters", village]

    printed = re.findall(r"remove[s]? (\d+)%", TEXT)
    assert printed == [f"{by_people:.0f}", f"{by_villages:.0f}"]
