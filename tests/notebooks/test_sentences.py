"""Run with other parameters no sentence of a notebook still has a number of the default's run."""

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
SAMPLE = ["5_lecture20/01_means"]
CHOSEN = (
    [name for name in EVERY if EVERY[name].parameters]
    if os.environ.get("LDPNB_THOROUGH")
    else SAMPLE
)
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.?\d*(?:e[-+]?\d+)?|(?<![\w.])\.\d+(?:e[-+]?\d+)?")
SETTING = re.compile(r"source|default|printed|published|\d{4}\)|arXiv|doi|setting", re.IGNORECASE)
OTHERS: dict[str, dict[str, Any]] = {
    "2_bun2022/05_neyman_sensitivity": {"boundaries": [1, 4, 8, 16, 40, 80, 200, 400, 800]},
}
"""Where the general rule gives parameters that do not belong together."""


def changed(parameter: Parameter) -> Any:
    """Another value: numbers about a fifth smaller, or one more where they are small."""

    def other(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float) or value == 0:
            return value
        if isinstance(value, int):
            return value - value // 5 if value > 10 else value + 1
        return value * 0.83

    own = parameter.default
    shares = isinstance(own, list) and all(isinstance(v, float) for v in own) and sum(own) == 1
    value = own if shares else [other(v) for v in own] if isinstance(own, list) else other(own)
    try:
        return parameter.convert(value)
    except ValueError:
        return own


def outputs(cells: list[dict[str, Any]]) -> Iterator[str]:
    for output in (output for cell in cells for output in cell.get("outputs", [])):
        yield "".join(output.get("text", []))
        yield "".join(output.get("data", {}).get("text/plain", []))


def sentences(cells: list[dict[str, Any]], figures: Path) -> list[str]:
    """What a run has in words: typed, computed, in captions and in titles; not its claims."""
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    for cell in cells:
        shown = [
            output.get("data", {}).get("text/markdown", []) for output in cell.get("outputs", [])
        ]
        texts += [
            "".join(text) for text in shown if "claims" not in cell["metadata"].get("tags", [])
        ]

    records = [json.loads(path.read_text()) for path in sorted(figures.rglob("*.json"))]
    texts += [record.get(key, "") for record in records for key in ("caption", "title", "setting")]
    return re.split(r"(?<=[.:;!?])\s|\n\n", "\n\n".join(texts))


def long(texts: Iterable[str]) -> set[str]:
    """Numbers of three digits or more, other than years and powers of ten; ends of sentences are
    none of theirs.
    """
    numbers = {number.rstrip(".,") for text in texts for number in NUMBER.findall(text)}
    digits = {number: re.sub(r"e.*|[.,]", "", number).strip("0") for number in numbers}

    return {
        n for n in numbers if len(digits[n]) >= 3 and not re.fullmatch(r"(19|20)\d\d", digits[n])
    }


@pytest.mark.parametrize("name", CHOSEN)
def test_no_sentence_has_a_number_of_the_default_when_run_with_other_parameters(
    name: str, tmp_path: Path
) -> None:
    notebook = EVERY[name]
    given = {p.name: changed(p) for p in notebook.parameters} | OTHERS.get(name, {})
    assert given != {p.name: p.default for p in notebook.parameters}

    (task,) = runner.tasks([notebook], given, tmp_path)
    outcome = runner.execute(task)
    assert not outcome.error, outcome.error

    before, after = (json.loads(path.read_text())["cells"] for path in (notebook.path, task.target))
    gone = long([*outputs(before), *(str(p.default) for p in notebook.parameters)])
    gone -= long([*outputs(after), *map(str, given.values())])

    assert gone
    assert [
        s for s in sentences(after, task.figures) if gone & long([s]) and not SETTING.search(s)
    ] == []


def test_long_numbers_are_those_of_three_digits() -> None:
    assert long(["At 1,234 users, .125 of them; in 2022 and 50 %."]) == {"1,234", ".125"}
