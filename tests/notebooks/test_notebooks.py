"""The committed notebooks keep to the companion's form: papermill can run them, and nbval has
something to compare.
"""

import ast
import json
import symtable

import pytest

from ldpnb.run.catalogue import Notebook, catalogue, home

EVERY = pytest.mark.parametrize("notebook", catalogue(), ids=lambda n: n.id)
RESULTS = pytest.mark.parametrize(
    "notebook", [n for n in catalogue() if n.source], ids=lambda n: n.id
)


def code_cells(notebook: Notebook) -> list[dict]:
    cells = json.loads(notebook.path.read_text(encoding="utf-8"))["cells"]
    return [c | {"text": "".join(c["source"])} for c in cells if c["cell_type"] == "code"]


@EVERY
def test_every_cell_was_executed_without_error(notebook: Notebook) -> None:
    cells = code_cells(notebook)
    assert all(c["execution_count"] for c in cells), "run `make figures`"
    assert any(c["outputs"] for c in cells)
    assert not [
        o
        for c in cells
        for o in c["outputs"]
        if o["output_type"] == "error" or o.get("name") == "stderr"
    ]


@EVERY
def test_a_live_section_reads_nothing_that_a_later_cell_makes_anew(notebook: Notebook) -> None:
    tables = [
        symtable.symtable(cell["text"], cell["text"], "exec") for cell in code_cells(notebook)
    ]
    live = [place for place, cell in enumerate(code_cells(notebook)) if "live(" in cell["text"]]

    for place in live:
        functions = [
            child for child in tables[place].get_children() if isinstance(child, symtable.Function)
        ]
        read = {name for function in functions for name in function.get_globals()}
        later = {
            symbol.get_name()
            for table in tables[place + 1 :]
            for symbol in table.get_symbols()
            if symbol.is_assigned()
        }

        assert not read & later


@EVERY
def test_every_parameter_is_declared(notebook: Notebook) -> None:
    cells = [
        c["text"] for c in code_cells(notebook) if "parameters" in c["metadata"].get("tags", [])
    ]
    assigned = [
        node.target.id
        for cell in cells
        for node in ast.parse(cell).body
        if isinstance(node, ast.AnnAssign)
    ]

    assert [parameter.name for parameter in notebook.parameters] == assigned


@RESULTS
def test_a_result_declares_its_parameters_first_and_a_seed_if_it_draws(notebook: Notebook) -> None:
    first, *others = code_cells(notebook)
    assert "parameters" in first["metadata"].get("tags", [])
    draws = any("seed" in cell["text"] or "rng" in cell["text"] for cell in others)
    assert ({p.name: p.type for p in notebook.parameters}.get("seed") == "int") == draws


@RESULTS
def test_a_result_decides_claims_publishes_figures_and_ends_in_a_live_section(
    notebook: Notebook,
) -> None:
    assert notebook.claims
    assert "live(" in "".join(c["text"] for c in code_cells(notebook)[-2:])
    assert list((home() / "figures" / notebook.id).glob("*.csv"))
