"""When a notebook is run with other parameters, no sentence keeps a number of the usual run.

By default one notebook is tried; with LDPNB_THOROUGH=1 all of them are.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ldpnb.notebook.parameters import Parameter
from ldpnb.run import runner
from ldpnb.run.catalogue import catalogue

EVERY = {notebook.id: notebook for notebook in catalogue()}
CHOSEN = ["5_lecture20/01_means"]
if os.environ.get("LDPNB_THOROUGH"):
    CHOSEN = [name for name in EVERY if EVERY[name].parameters]

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.?\d*(?:e[-+]?\d+)?|(?<![\w.])\.\d+(?:e[-+]?\d+)?")
SETTING = re.compile(r"source|default|printed|published|\d{4}\)|arXiv|doi|setting", re.IGNORECASE)
OTHERS: dict[str, dict[str, Any]] = {
    "2_bun2022/05_neyman_sensitivity": {"boundaries": [1, 4, 8, 16, 40, 80, 200, 400, 800]},
}
"""Where the general rule gives parameters that do not belong together."""


def changed(parameter: Parameter) -> Any:
    """Another value for a parameter, or the same one if no other value is allowed.

    Shares that sum to 1 stay as they are.
    """
    default = parameter.default
    value = other(default)
    if isinstance(default, list):
        are_shares = all(isinstance(each, float) for each in default) and sum(default) == 1
        value = default if are_shares else [other(each) for each in default]

    try:
        return parameter.convert(value)
    except ValueError:
        return default


def other(value: Any) -> Any:
    """A number that is about a fifth smaller, or larger by one if it is small; words stay."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value == 0:
        return value
    if isinstance(value, int):
        return value - value // 5 if value > 10 else value + 1
    return value * 0.83


def outputs(cells: list[dict[str, Any]]) -> Iterator[str]:
    """What the cells printed or returned, as text."""
    for cell in cells:
        for output in cell.get("outputs", []):
            yield "".join(output.get("text", []))
            yield "".join(output.get("data", {}).get("text/plain", []))


def sentences(cells: list[dict[str, Any]], figures: Path) -> list[str]:
    """What a run has in words: typed, computed, in captions and in titles; not its claims."""
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]

    for cell in cells:
        if "claims" not in cell["metadata"].get("tags", []):
            for output in cell.get("outputs", []):
                texts.append("".join(output.get("data", {}).get("text/markdown", [])))

    for path in sorted(figures.rglob("*.json")):
        record = json.loads(path.read_text())
        texts += [record.get(key, "") for key in ("caption", "title", "setting")]

    return re.split(r"(?<=[.:;!?])\s|\n\n", "\n\n".join(texts))


def long(texts: Iterable[str]) -> set[str]:
    """The numbers of three digits or more in texts, without years and powers of ten."""
    found = set()
    for number in NUMBER.findall("\n".join(texts)):
        without_stop = number.rstrip(".,")
        digits = re.sub(r"e.*|[.,]", "", without_stop).strip("0")
        if len(digits) >= 3 and not re.fullmatch(r"(19|20)\d\d", digits):
            found.add(without_stop)

    return found


@pytest.mark.parametrize("name", CHOSEN)
def test_no_sentence_has_a_number_of_the_default_when_run_with_other_parameters(
    name: str, tmp_path: Path
) -> None:
    notebook = EVERY[name]
    defaults = {parameter.name: parameter.default for parameter in notebook.parameters}
    given = {parameter.name: changed(parameter) for parameter in notebook.parameters}
    given |= OTHERS.get(name, {})
    assert given != defaults

    (task,) = runner.tasks([notebook], given, tmp_path)
    outcome = runner.execute(task)
    assert not outcome.error, outcome.error

    before = json.loads(notebook.path.read_text())["cells"]
    after = json.loads(task.target.read_text())["cells"]
    gone = long([*outputs(before), *map(str, defaults.values())])
    gone -= long([*outputs(after), *map(str, given.values())])
    assert gone

    stale = []
    for sentence in sentences(after, task.figures):
        if gone & long([sentence]) and not SETTING.search(sentence):
            stale.append(sentence)

    assert stale == []


def test_long_numbers_are_those_of_three_digits() -> None:
    assert long(["At 1,234 users, .125 of them; in 2022 and 50 %."]) == {"1,234", ".125"}
