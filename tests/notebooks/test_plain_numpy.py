"""What a notebook computes in plain numpy equals the library's number, at other parameters too."""

import json
from typing import Any

import pytest
from test_sentences import OTHERS, changed

from ldpnb.notebook.environment import HEADLESS
from ldpnb.run.catalogue import Notebook, catalogue

PLAIN = "plain-numpy"
LEFT_OUT = {"claims", "hide-input", "hide-cell"}
"""Tags of cells that show verdicts or draw, on which a computation does not rest."""


def cells(notebook: Notebook) -> list[tuple[str, set[str]]]:
    """The code cells of a notebook, each with its tags."""
    content = json.loads(notebook.path.read_text(encoding="utf-8"))
    code_cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    return [("".join(cell["source"]), tags_of(cell)) for cell in code_cells]


def tags_of(cell: dict[str, Any]) -> set[str]:
    return set(cell["metadata"].get("tags", []))


def has_plain_numpy(notebook: Notebook) -> bool:
    return any(PLAIN in tags for _, tags in cells(notebook))


TAGGED = [notebook for notebook in catalogue() if has_plain_numpy(notebook)]


@pytest.mark.parametrize("notebook", TAGGED, ids=lambda notebook: notebook.id)
def test_plain_numpy_agrees_with_the_library_at_other_parameters(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notebook.path.parent)
    monkeypatch.setenv(HEADLESS, "1")

    names: dict[str, Any] = {"__name__": notebook.id}
    every = cells(notebook)
    last = max(place for place, (_, tags) in enumerate(every) if PLAIN in tags)

    for code, tags in every[: last + 1]:
        if not tags & LEFT_OUT:
            exec(compile(code, notebook.id, "exec"), names)
        if "parameters" in tags:
            names |= {parameter.name: changed(parameter) for parameter in notebook.parameters}
            names |= OTHERS.get(notebook.id, {})
        if PLAIN in tags:
            assert "assert " in code, "it compares its number with the library's"
