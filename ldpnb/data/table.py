"""A table as it was read, and how large it may be."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pandas as pd

from ldpnb.data.messages import listed, quoted

MOST_BYTES = 200_000_000
"""Of a file, compressed or not."""
MOST_ROWS = 5_000_000
MOST_CELLS = 20_000_000
MOST_LETTERS = 131_072
"""Of an entry, as Python's csv module has it."""

FEW_COLUMNS = 8
"""Columns up to which a table is kept whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The rows of a file below its header.

    Attributes
    ----------
    names : tuple of str
        The names of all columns.
    cells : DataFrame
        Columns, called by their place in `names`: all of them, or those that were asked for.
        Entries are texts or numbers. The index has the number of each row in the file.
    empty_rows : int
        Rows without any entry between others of a table of several columns, which are left out.
    """

    names: tuple[str, ...]
    cells: pd.DataFrame
    empty_rows: int = 0

    def column(self, name: str) -> "pd.Series[Any]":
        """Return the entries of a column, whose name may be in any case."""
        return self.cells[place_of(name, self.names)]


def places_of(columns: Sequence[str] | None, names: tuple[str, ...]) -> list[int]:
    """Return the places of the columns to keep: those that are named, all of a narrow table."""
    every = list(range(len(names)))
    if columns is None:
        return every
    wanted = [place_of(name, names) for name in columns]
    return every if len(names) <= FEW_COLUMNS else sorted(set(wanted))


def place_of(name: str, names: Sequence[str]) -> int:
    """Return the place of a column, whose name may be in any case."""
    wanted = _folded(name)
    found = [place for place, other in enumerate(names) if _folded(other) == wanted]
    if len(found) == 1:
        return found[0]
    if len(names) == 1 and not wanted:
        return 0

    what = "set skip if the header is further down"
    number = "no column is" if not found else f"{len(found)} columns are"
    raise ValueError(f"{number} called {quoted(name)} among {listed(names)}: {what}")


@lru_cache(100_000)
def _folded(name: str) -> str:
    """Return a name without what may differ: case, surrounding spaces, and composed letters."""
    return unicodedata.normalize("NFC", name).strip().casefold()
