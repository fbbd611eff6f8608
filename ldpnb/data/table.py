"""A table that was read: the names of all columns, and the entries of those that were wanted, as they stand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from ldpnb.data.reading import AmbiguousError, Reading

Wanted = Callable[[Sequence[str]], list[int]]
"""Chooses the places of the columns that are wanted among the names of all."""


@dataclass(frozen=True, eq=False)
class Table:
    """Names of all columns, and the entries of those that were wanted, by their places.

    Parameters
    ----------
    names : tuple of str
    columns : DataFrame
        Its columns are places in `names`.
    reading : Reading
        As stated and found.
    skipped : int
        Rows left out, or filled up, for their number of fields.
    unsure : AmbiguousError, optional
        Raised for a column that is not plain ASCII.
    """

    names: tuple[str, ...]
    columns: pd.DataFrame
    reading: Reading
    skipped: int = 0
    unsure: AmbiguousError | None = None

    def entries(self, name: str) -> "pd.Series":
        """Return the entries of a column; case and blanks around a name do not matter, the only one needs none.

        Raises
        ------
        AmbiguousError
            If they read otherwise in another encoding, or several columns have that name.
        ValueError
            If there is no such column.
        """
        wanted, names = name.strip().lower(), self.names
        places = [place for place, other in enumerate(names) if other == name]
        places = places or [place for place, other in enumerate(names) if other.lower() == wanted]
        if not places and not wanted and len(names) == 1:
            places = [0]
        if len(places) > 1:
            above = (self.reading.skip or 0) + (self.reading.header or 0)
            ways = {"columns 1, 2, ...": {"skip": above, "header": 0}}
            raise AmbiguousError(f"{len(places)} columns are called {name!r}; rename them in the file", ways)
        if not places:
            more = f" and {len(names) - 20:,} more" if len(names) > 20 else ""
            wrong = f"no column {name[:60]!r}" if wanted else "its column must be named"
            raise ValueError(f"{wrong}, its columns are {', '.join(n[:60] for n in names[:20])}{more}")
        series = self.columns[places[0]]
        if self.unsure and not (name.isascii() and all(str(entry).isascii() for entry in series.unique())):
            raise self.unsure
        return series
