"""The committed notebooks keep to the companion's form.

They declare their parameters, which papermill sets. They were executed, so that nbval has something
to compare. A notebook with results decides claims, publishes figures and ends in a live section.
"""

import ast
import json
import symtable

import pytest

from ldpnb.run.catalogue import Notebook, catalogue, home

RESULTS = [notebook for notebook in catalogue() if notebook.source]
every_notebook = pytest.mark.parametrize("notebook", catalogue(), ids=lambda each: each.id)
every_result = pytest.mark.parametrize("notebook", RESULTS, ids=lambda each: each.id)


def code_cells(notebook: Notebook) -> list[dict]:
    """The code cells of a notebook, each with its source as one text."""
    cells = json.loads(notebook.path.read_text(encoding="utf-8"))["cells"]
    return [cell | {"text": "".join(cell["source"])} for cell in cells if is_code(cell)]


def is_code(cell: dict) -> bool:
    return cell["cell_type"] == "code"


def declares_parameters(cell: dict) -> bool:
    return "parameters" in cell["metadata"].get("tags", [])


@every_notebook
def test_every_cell_was_executed_without_error(notebook: Notebook) -> None:
    cells = code_cells(notebook)
    assert all(cell["execution_count"] for cell in cells), "run `make figures`"
    assert any(cell["outputs"] for cell in cells)

    for cell in cells:
        for output in cell["outputs"]:
            assert output["output_type"] != "error"
            assert output.get("name") != "stderr"


def globals_read_by_functions(code: str) -> set[str]:
    """The names outside of themselves that the functions of a cell read."""
    names = set()
    for child in symtable.symtable(code, "cell", "exec").get_children():
        if isinstance(child, symtable.Function):
            names |= set(child.get_globals())

    return names


def names_assigned(code: str) -> set[str]:
    symbols = symtable.symtable(code, "cell", "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned()}


@every_notebook
def test_a_live_section_reads_nothing_that_a_later_cell_makes_anew(notebook: Notebook) -> None:
    codes = [cell["text"] for cell in code_cells(notebook)]

    for place, code in enumerate(codes):
        if "live(" in code:
            read = globals_read_by_functions(code)
            for later in codes[place + 1 :]:
                assert not read & names_assigned(later)


@every_notebook
def test_every_parameter_is_declared(notebook: Notebook) -> None:
    declared = []
    for cell in filter(declares_parameters, code_cells(notebook)):
        nodes = ast.parse(cell["text"]).body
        declared += [node.target.id for node in nodes if isinstance(node, ast.AnnAssign)]

    assert [parameter.name for parameter in notebook.parameters] == declared


@every_result
def test_a_result_declares_its_parameters_first_and_a_seed_if_it_draws(notebook: Notebook) -> None:
    first, *others = code_cells(notebook)
    assert declares_parameters(first)

    draws = any("seed" in cell["text"] or "rng" in cell["text"] for cell in others)
    types = {parameter.name: parameter.type for parameter in notebook.parameters}
    advice = "declare seed: int" if draws else "no cell uses the seed, so remove it"
    assert (types.get("seed") == "int") == draws, advice


@every_result
def test_a_result_decides_claims_publishes_figures_and_ends_in_a_live_section(
    notebook: Notebook,
) -> None:
    assert notebook.claims

    last_two = code_cells(notebook)[-2:]
    assert any("live(" in cell["text"] for cell in last_two)
    assert list((home() / "figures" / notebook.id).glob("*.csv"))
