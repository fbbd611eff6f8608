"""How a table is drawn: what makes the same chart of it in matplotlib and in a browser.

Whoever draws a figure from a table keeps both with it (`keep`); `publish` writes the encoding beside the numbers, from
which the site draws the figure anew, and a live section's grid takes the tables along.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self

import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook.annotations import Mark

_KEPT = "ldpnb_drawn"

Kind = Literal["line", "points", "bars", "steps", "band"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One of several columns that are drawn over each other: its name, its kind, and what spreads around it.

    A band is what lies within two of its errors.
    """

    name: str
    y: str
    mark: Kind = "line"
    error: str | None = None
    band: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Which columns of a tidy table lie where, named as by `ldpnb.notebook.curves`.

    Parameters
    ----------
    x, y : str
        Columns on the axes.
    by, panel : str, optional
        Columns that tell series and panels apart, in order of first appearance; of panels there may be several.
    error : str, optional
        Column of standard errors; rows that have one are points with bars of two, the others a line.
    band : (str, str), optional
        Columns between which a series is shaded.
    xlabel, ylabel, xscale, yscale : str
        A scale may be a ``category`` too.
    columns : int
        Panels per row.
    share_y : bool
    points : tuple of str
        Series that are points whether or not they have an error.
    series : tuple
        What is drawn of `by`, if not all of it.
    mark : Kind
        What a series without errors is.
    layers : tuple of Layer
        Columns that are drawn instead of `y` alone, which is then the name of what they measure.
    flip : bool
        Whether `x` stands upright, for bars with long names; labels and scales stay those of `x` and `y`.
    discrete : bool
        Whether lines are for the eye only.
    aside : str, optional
        Column in whose order the points of one series stand side by side in their category.
    marks : tuple of Mark
        Places to point out.
    """

    x: str
    y: str
    by: str | None = None
    panel: str | tuple[str, ...] | None = None
    error: str | None = None
    band: tuple[str, str] | None = None
    xlabel: str | None = None
    ylabel: str | None = None
    xscale: str = "linear"
    yscale: str = "linear"
    columns: int = 2
    share_y: bool = True
    points: tuple[str, ...] = ()
    series: tuple[Any, ...] = ()
    mark: Kind = "line"
    layers: tuple[Layer, ...] = ()
    flip: bool = False
    discrete: bool = False
    aside: str | None = None
    marks: tuple[Mark, ...] = ()

    def told(self) -> dict[str, Any]:
        """Return what differs from the defaults, for JSON."""
        return {field.name: v for field in fields(self) if (v := asdict(self)[field.name]) != field.default}

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """Return the encoding that `told` describes.

        >>> axes = Encoding(x="users", y="error", band=("low", "high"))
        >>> Encoding.read({"x": "users", "y": "error", "band": ["low", "high"]}) == axes, axes.told()
        (True, {'x': 'users', 'y': 'error', 'band': ('low', 'high')})
        """
        parts: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in told.items()}
        nested = {"layers": Layer, "marks": Mark}
        return cls(**parts | {name: tuple(kind(**v) for v in parts.get(name, ())) for name, kind in nested.items()})

    @property
    def used(self) -> list[str]:
        """Return the columns that are drawn."""
        of = [self.y] if not self.layers else [layer.y for layer in self.layers]
        return list(dict.fromkeys([self.x, *of]))

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table that are drawn."""
        return table[table[self.by].isin(self.series)] if self.by and self.series else table


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table and how it was drawn."""

    table: pd.DataFrame
    encoding: Encoding

    def of(self, table: pd.DataFrame, name: str) -> Encoding:
        """Return how these rows are drawn of a table that may hold further series.

        Raises
        ------
        ValueError
            If it does not hold these rows.
        """
        by, told = self.encoding.by, self.encoding
        if by in table and len(table) > len(self.table):
            told = replace(told, series=tuple(dict.fromkeys(self.table[by])))
        if not {*told.used} <= {*table} or not told.rows(table)[told.used].equals(self.table[told.used]):
            raise ValueError(f"{name}: needs the table that its figure was drawn from")
        return told


def keep(figure: Figure, table: pd.DataFrame, encoding: Encoding) -> Figure:
    """Keep with a figure the table it was drawn from, and how; return the figure."""
    setattr(figure, _KEPT, Drawn(table, encoding))
    return figure


def drawn(figure: Figure) -> Drawn | None:
    """Return what was kept with a figure, None where it was drawn in a way that has no encoding."""
    return getattr(figure, _KEPT, None)
