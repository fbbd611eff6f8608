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

    The notebook is executed twice, in a temporary place: as it is, and with other random numbers.
    What is stored or committed plays no part, since it may be wrong.
    """
    as_it_is = _made(path, "")
    with_other_draws = _made(path, _OTHER_DRAWS)
    if as_it_is is None or with_other_draws is None:
        return Parts()

    pairs = zip(as_it_is.outputs, with_other_draws.outputs, strict=True)
    cells = {place for place, (one, other) in enumerate(pairs) if not same(one, other)}

    tables = set()
    for name, table in with_other_draws.tables.items():
        if name not in as_it_is.tables or not same(as_it_is.tables[name], table):
            tables.add(name)
    return Parts(frozenset(cells), frozenset(tables))


@dataclass(frozen=True, slots=True)
class _Made:
    """What a run of a notebook makes.

    Attributes
    ----------
    outputs : list of bytes
        What each code cell shows.
    tables : dict of str to bytes
        The tables of its figures, by name.
    """

    outputs: list[bytes]
    tables: dict[str, bytes]


def _made(path: Path, before: str) -> _Made | None:
    """Return what a notebook makes after a cell with that code, or None if it fails."""
    stored = json.loads(path.read_bytes())
    book = stored | {"cells": [v4.new_code_cell(before), *stored["cells"]]}

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        figures = Path(folder, "figures")
        with mock.patch.dict(os.environ, kernel_environment(Path(folder), figures)):
            content = json.dumps(book).encode()
            result, error = executed(content, {}, path.parent, Path(folder))
        if error:
            return None
        tables = {table.name: table.read_bytes() for table in figures.glob("*.csv")}

    return _Made(_outputs(result)[1:], tables)


def _outputs(notebook: dict[str, Any]) -> list[bytes]:
    """Return what each code cell shows, without how often a cell was executed before it."""
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            outputs = [output | {"execution_count": None} for output in cell["outputs"]]
            shown.append(json.dumps(outputs, sort_keys=True).encode())
    return shown
