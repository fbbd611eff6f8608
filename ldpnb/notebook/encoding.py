"""How a table is drawn: one description of a chart, for matplotlib and for a browser.

A function that draws a figure attaches its table and encoding (`keep`); `publish` writes the encoding next to the
numbers, from which the site redraws the figure, and the grid of a live section includes the tables.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, NamedTuple, Self

import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook.annotations import Mark

_KEPT = "ldpnb_drawn"

Kind = Literal["line", "points", "bars", "band"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One of several columns drawn on top of each other; a band extends to twice its error on either side."""

    name: str
    y: str
    mark: Kind = "line"
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Which columns of a tidy table are drawn where.

    Parameters
    ----------
    x, y : str
        Columns on the axes.
    by, panel : str, optional
        Columns that distinguish series and panels, in order of first appearance; several for panels are allowed.
    error : str, optional
        Column of standard errors; rows with one are points with bars of two, the others a line.
    band : (str, str), optional
        Columns between which a series is shaded.
    xlabel, ylabel, xscale, yscale : str
        Without a `ylabel`, each panel has its own vertical axis, which its title names. A scale may be a ``category``.
    series : tuple
        Values of `by` that are drawn, if not all.
    mark : Kind
        Kind of a series without errors.
    layers : tuple of Layer
        Columns drawn instead of `y`, which is then only the label of their common axis.
    flip : bool
        Whether `x` is the vertical axis, for bars with long names; labels and scales stay those of `x` and `y`.
    discrete : bool
        Whether lines only guide the eye.
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
    series: tuple[Any, ...] = ()
    mark: Kind = "line"
    layers: tuple[Layer, ...] = ()
    flip: bool = False
    discrete: bool = False
    marks: tuple[Mark, ...] = ()

    @property
    def share_y(self) -> bool:
        """Whether panels have one vertical axis."""
        return self.ylabel != ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, for JSON; places of marks to a table's 10 digits."""
        stated = asdict(self)
        stated = {field.name: stated[field.name] for field in fields(self) if stated[field.name] != field.default}
        for mark in stated.get("marks", ()):
            mark |= {axis: float(f"{mark[axis]:.10g}") for axis in ("x", "y") if isinstance(mark[axis], float)}
        return stated

    @classmethod
    def read(cls, stated: Mapping[str, Any]) -> Self:
        """Return the encoding that `to_dict` describes.

        >>> axes = Encoding(x="users", y="error", band=("low", "high"))
        >>> Encoding.read({"x": "users", "y": "error", "band": ["low", "high"]}) == axes, axes.to_dict()
        (True, {'x': 'users', 'y': 'error', 'band': ('low', 'high')})
        """
        parts: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in stated.items()}
        nested = {"layers": Layer, "marks": Mark}
        return cls(**parts | {name: tuple(kind(**v) for v in parts.get(name, ())) for name, kind in nested.items()})

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table that are drawn."""
        return table[table[self.by].isin(self.series)] if self.by and self.series else table


def panels_in_a_row(panels: int) -> int:
    """Return how many panels stand in a row: three where that fills the rows, and else two."""
    return 3 if panels % 3 == 0 else 2


class Drawn(NamedTuple):
    """A table and how it was drawn."""

    table: pd.DataFrame
    encoding: Encoding


def keep(figure: Figure, table: pd.DataFrame, encoding: Encoding) -> Figure:
    """Attach to a figure its table and encoding; return the figure."""
    setattr(figure, _KEPT, Drawn(table, encoding))
    return figure


def drawn(figure: Figure) -> Drawn | None:
    """Return what was attached to a figure, or None if it was drawn without an encoding."""
    return getattr(figure, _KEPT, None)


def published(kept: Drawn, table: pd.DataFrame, name: str) -> Encoding:
    """Return the encoding of a drawn table for one that may contain further series, but must have all rows drawn."""
    by, drawn_as = kept.encoding.by, kept.encoding
    if by in table and len(table) > len(kept.table):
        drawn_as = replace(drawn_as, series=tuple(dict.fromkeys(kept.table[by])))
    used = list(dict.fromkeys([drawn_as.x, *([layer.y for layer in drawn_as.layers] or [drawn_as.y])]))
    if not {*used} <= {*table} or not drawn_as.rows(table)[used].equals(kept.table[used]):
        raise ValueError(f"{name}: needs the table that its figure was drawn from")
    return drawn_as
