"""Which parts of a notebook are simulated: those that change with other random numbers."""

import json
import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from nbformat import v4

from ldpnb.run.catalogue import home
from ldpnb.run.runner import executed, kernel_environment
from ldpnb.run.sameness import same

_OTHER_DRAWS = """
import numpy

def _other(seed=None, default_rng=numpy.random.default_rng):
    if seed is None:
        return default_rng()
    if isinstance(seed, numpy.random.SeedSequence):
        return default_rng(numpy.random.SeedSequence([1, seed.entropy], spawn_key=seed.spawn_key))
    return default_rng([1, seed])

numpy.random.default_rng = _other
"""
"""A cell before all others, after which the same seeds give other streams."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The simulated parts of a notebook.

    Attributes
    ----------
    cells : frozenset of int
        The places of its code cells among all its code cells, counted from 0.
    tables : frozenset of str
        The names of the tables of its figures, such as ``losses.csv``.
    """

    cells: frozenset[int] = frozenset()
    tables: frozenset[str] = frozenset()


@cache
def parts(path: Path) -> Parts:
    """Return which parts of a notebook are simulated; none if it fails with other random numbers.

    The notebook is executed once, in a temporary place.
    """
    stored = json.loads(path.read_bytes())
    other = stored | {"cells": [v4.new_code_cell(_OTHER_DRAWS), *stored["cells"]]}

    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder, "figures")
        with mock.patch.dict(os.environ, kernel_environment(Path(folder), figures)):
            content = json.dumps(other).encode()
            result, error = executed(content, {}, path.parent, Path(folder))
        if error:
            return Parts()

        committed = home() / "figures" / path.relative_to(home() / "notebooks").with_suffix("")
        tables = {
            table.name
            for table in figures.glob("*.csv")
            if not same((committed / table.name).read_bytes(), table.read_bytes())
        }

    before = _outputs(stored)
    after = _outputs(result)[1:]  # without the cell that changes the random numbers
    pairs = zip(before, after, strict=True)
    cells = {i for i, (one, another) in enumerate(pairs) if not same(one, another)}
    return Parts(frozenset(cells), frozenset(tables))


def _outputs(notebook: dict[str, Any]) -> list[bytes]:
    """Return what each code cell shows, without how often a cell was executed before it."""
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            outputs = [output | {"execution_count": None} for output in cell["outputs"]]
            shown.append(json.dumps(outputs, sort_keys=True).encode())
    return shown
