"""How a table is drawn: one description of a chart, for matplotlib and for a browser.

`ldpnb.notebook.figures.Chart` draws it, and `publish` writes it next to the numbers, from which the site and
``ldpnb export`` draw the chart again. `ldpnb.notebook.records` says which curves it describes.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

import pandas as pd

Kind = Literal["line", "points", "bars", "band"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked place.

    Parameters
    ----------
    x, y : float, optional
        Data coordinates: both for a point, `x` for a vertical line across the panel, `y` for a horizontal one.
    label : str
        The text there, with its number.
    panel : str
        The panel it belongs to; all if left out.
    printed : bool
        Whether the value is printed in the source, and drawn in grey, rather than computed here.
    side : {"above", "below", "left", "right"}
        Where the label is; for a line, at which end or on which side.
    """

    x: float | None = None
    y: float | None = None
    label: str = ""
    panel: str = ""
    printed: bool = False
    side: Literal["above", "below", "left", "right"] = "above"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One of several columns drawn on top of each other, perhaps with twice its error on either side."""

    name: str
    y: str
    mark: Kind = "line"
    error: str | None = None


@dataclass(frozen=True, slots=True)
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
        Columns between which a series, or the first layer, is shaded, or to which the bars of its points reach.
    xlabel, ylabel, xscale, yscale : str
        Without a `ylabel`, each panel has its own vertical axis, which its title names. The scale of `x` may be a
        ``category``: then it is the vertical axis, which has room for names, of which the first are drawn.
    series : tuple
        Values of `by` that are drawn, if not all.
    mark : Kind
        Kind of a series without errors.
    layers : tuple of Layer
        Columns drawn instead of `y`, which is then only the label of their common axis.
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
    discrete: bool = False
    marks: tuple[Mark, ...] = ()

    @property
    def labels(self) -> list[str]:
        """The labels of the axes, which by default are their columns."""
        stated = ((self.x, self.xlabel), (self.y, self.ylabel))
        return [column if label is None else label for column, label in stated]

    @property
    def share_y(self) -> bool:
        """Whether panels have one vertical axis."""
        return self.ylabel != ""

    @property
    def flip(self) -> bool:
        """Whether `x` is the vertical axis; labels and scales stay those of `x` and `y`."""
        return self.xscale == "category"

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
