"""Run with other parameters no sentence of a notebook still tells a number of the default's run."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ldpnb.notebook.parameters import Parameter
from ldpnb.run import runner
from ldpnb.run.catalogue import Notebook, catalogue

EVERY = {notebook.id: notebook for notebook in catalogue()}
SAMPLE = ["5_lecture20/01_means"]
CHOSEN = [name for name in EVERY if EVERY[name].parameters] if os.environ.get("LDPNB_THOROUGH") else SAMPLE
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.?\d*(?:e[-+]?\d+)?|(?<![\w.])\.\d+(?:e[-+]?\d+)?")
SETTING = re.compile(r"source|default|printed|published|\d{4}\)|arXiv|doi|setting", re.IGNORECASE)
OTHERS: dict[str, dict[str, Any]] = {
    "2_bun2022/05_neyman_sensitivity": {"boundaries": [1, 4, 8, 16, 40, 80, 200, 400, 800]},
    "plan": {"shares": [0.4, 0.6]},
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


def given(notebook: Notebook) -> dict[str, Any]:
    return {p.name: changed(p) for p in notebook.parameters} | OTHERS.get(notebook.id, {})


def outputs(cells: list[dict[str, Any]]) -> Iterator[str]:
    for output in (output for cell in cells for output in cell.get("outputs", [])):
        yield "".join(output.get("text", []))
        yield "".join(output.get("data", {}).get("text/plain", []))


def told(cells: list[dict[str, Any]], figures: Path) -> list[str]:
    """What a run says in words: typed, computed, in captions and in titles."""
    typed = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    said = [
        "".join(output["data"]["text/markdown"])
        for cell in cells
        if "claims" not in cell["metadata"].get("tags", [])
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    ]
    about = [json.loads(path.read_text()) for path in sorted(figures.rglob("*.json"))]
    return [*typed, *said, *(one.get(key, "") for one in about for key in ("caption", "title", "setting"))]


def long(text: str) -> set[str]:
    """Numbers of three digits or more, other than years and powers of ten; ends of sentences are none of theirs."""
    found = {number.rstrip(".,") for number in NUMBER.findall(text)}
    return {
        number
        for number in found
        if len(digits := re.sub(r"e.*|[.,]", "", number).strip("0")) >= 3 and not re.fullmatch(r"(19|20)\d\d", digits)
    }


def stale(notebook: Notebook, folder: Path) -> list[str]:
    """Return the sentences that tell a number which only the default's run has."""
    before = json.loads(notebook.path.read_text())["cells"]
    (task,) = runner.tasks([notebook], given(notebook), folder)
    outcome = runner.execute(task)
    assert not outcome.error, outcome.error
    after = json.loads(task.target.read_text())["cells"]
    own = [str(p.default) for p in notebook.parameters]
    others = [str(value) for value in given(notebook).values()]
    now, gone = (
        {n for text in texts for n in long(text)} for texts in ([*outputs(after), *others], [*outputs(before), *own])
    )
    return left(gone - now, "\n\n".join(told(after, task.figures)))


def left(gone: set[str], text: str) -> list[str]:
    sentences = re.split(r"(?<=[.:;!?])\s|\n\n", text)
    return [f"{gone & long(s)}: {s.strip()}" for s in sentences if gone & long(s) and not SETTING.search(s)]


@pytest.mark.parametrize("name", CHOSEN)
def test_no_sentence_tells_a_number_of_the_default_when_run_with_other_parameters(name: str, tmp_path: Path) -> None:
    assert stale(EVERY[name], tmp_path) == []


def test_a_number_left_in_a_sentence_is_found() -> None:
    notebook = EVERY[SAMPLE[0]]
    assert given(notebook) != {p.name: p.default for p in notebook.parameters}
    assert long("At 1,234 users, .125 of them; in 2022 and 50 %.") == {"1,234", ".125"}
    assert left({"1,234"}, "All is well. The error is 1,234 users.") == ["{'1,234'}: The error is 1,234 users."]
    assert left({"1,234"}, "The source's error is 1,234 users.") == left({"1,234"}, "The error is 1,235.") == []
