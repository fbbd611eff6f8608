"""How a table is drawn: one description of a chart, and the curves it describes, for matplotlib and for a browser.

`ldpnb.notebook.figures.Chart` draws it, and `publish` writes it next to the numbers, from which the site and
``ldpnb export`` draw the chart again.

A record is one curve, band or set of points in one panel, with the columns ``x``, ``y``, ``low`` and ``high`` as lists
of one length. A marked place is a record of one point whose kind is ``at x``, ``at y`` or ``at xy``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

NUMBERS = ("x", "y", "low", "high")
Record = dict[str, Any]
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


def records(table: pd.DataFrame, encoding: Encoding, *, digits: int = 6) -> list[Record]:
    """Return the records of a table, numbers rounded to significant digits and what is not finite as missing.

    >>> table = pd.DataFrame({"users": [1, 10], "error": [0.5, 0.123456], "rule": ["MLE", "MLE"]})
    >>> records(table, Encoding("users", "error", by="rule"), digits=3)
    [{'series': 'MLE', 'panel': '', 'mark': 'line', 'x': [1, 10], 'y': [0.5, 0.123]}]
    """
    rows, made = table[table[encoding.by].isin(encoding.series)] if encoding.series else table, []
    columns = [encoding.panel] if isinstance(encoding.panel, str) else list(encoding.panel or ())
    parts: Any = rows.groupby(columns, sort=False) if columns else [((), rows)]
    for place, part in parts:
        named = [(c, v) for c, v in zip(columns, place, strict=True) if isinstance(v, str) or len(set(rows[c])) > 1]
        panel = ", ".join(v if isinstance(v, str) else f"{c.replace('_', ' ')} {name(v)}" for c, v in named)
        made += [_record(own, encoding, layer, panel, digits) for layer, own in _layers(part, encoding) if len(own)]
        for mark in encoding.marks:
            if mark.panel in ("", panel, *map(str, place)):
                at = {axis: [value(v, digits)] for axis, v in (("x", mark.x), ("y", mark.y)) if v is not None}
                words = {"side": mark.side} | ({"printed": True} if mark.printed else {})
                made.append({"series": mark.label, "panel": panel, "mark": "at " + "".join(at)} | words | at)
    return made


def _layers(rows: pd.DataFrame, encoding: Encoding) -> Iterator[tuple[Layer, pd.DataFrame]]:
    """Yield what is drawn in one panel, with the rows of each."""
    for layer in encoding.layers:
        yield layer, rows
    if encoding.layers:
        return
    series: Any = rows.groupby(encoding.by, sort=False) if encoding.by else [("", rows)]
    for label, own in series:
        dotted = own[encoding.error].notna() if encoding.error else pd.Series(False, index=own.index)
        yield Layer(name=name(label), y=encoding.y, mark=encoding.mark), own[~dotted]
        yield Layer(name=name(label), y=encoding.y, mark="points", error=encoding.error), own[dotted]


def _record(rows: pd.DataFrame, encoding: Encoding, layer: Layer, panel: str, digits: int) -> Record:
    columns = {"x": rows[encoding.x], "y": rows[layer.y]}
    if layer.error and rows[layer.error].notna().any():
        columns |= {end: rows[layer.y] + times * rows[layer.error] for end, times in (("low", -2), ("high", 2))}
        if encoding.yscale == "log":
            columns["low"] = columns["low"].where(columns["low"] > 0, rows[layer.y].min())  # which has no lower end
    elif encoding.band and layer in (encoding.layers[:1] or [layer]) and rows[encoding.band[0]].notna().any():
        columns |= dict(zip(("low", "high"), (rows[end] for end in encoding.band), strict=True))
    kind = "line" if layer.mark == "band" else layer.mark
    numbers = {column: [value(v, digits) for v in values] for column, values in columns.items()}
    return {"series": layer.name, "panel": panel, "mark": kind, **numbers}


def value(number: Any, digits: int) -> Any:
    """Return a number for JSON; a word stays a word.

    >>> value(3.0, 4), value(0.123456, 4), value(float("inf"), 4), value("MLE", 4)
    (3, 0.1235, None, 'MLE')
    """
    if isinstance(number, str):
        return number
    if not np.isfinite(number):
        return None
    rounded = float(f"{number:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def name(value: Any) -> str:
    """Return how a chart names a value: a number in few digits.

    >>> name(0.5), name(3.0), name("MLE")
    ('0.5', '3', 'MLE')
    """
    return f"{value:.10g}" if isinstance(value, int | float | np.number) else str(value)


def panels_in_a_row(panels: int) -> int:
    """Return how many panels stand in a row: three where that fills the rows, and else two."""
    return 3 if panels % 3 == 0 else 2
