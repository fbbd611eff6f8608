"""The records of a chart: what a table and its encoding draw, as lists of numbers, for every way to draw them.

A record is one curve, band or set of points in one panel, with the columns ``x``, ``y``, ``low`` and ``high`` as lists
of one length. A marked place is a record of one point whose kind is ``at x``, ``at y`` or ``at xy``.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook.encoding import Encoding, Layer

NUMBERS = ("x", "y", "low", "high")
Record = dict[str, Any]


def records(table: pd.DataFrame, encoding: Encoding, *, digits: int = 6) -> list[Record]:
    """Return the records of a table, numbers rounded to significant digits and what is not finite as missing.

    >>> table = pd.DataFrame({"users": [1, 10], "error": [0.5, 0.123456], "rule": ["MLE", "MLE"]})
    >>> records(table, Encoding("users", "error", by="rule"), digits=3)
    [{'series': 'MLE', 'panel': '', 'mark': 'line', 'x': [1, 10], 'y': [0.5, 0.123]}]
    """
    rows, made = encoding.rows(table), []
    columns = [encoding.panel] if isinstance(encoding.panel, str) else list(encoding.panel or ())
    parts: Any = rows.groupby(columns, sort=False) if columns else [((), rows)]
    for place, part in parts:
        values = [(c, v) for c, v in zip(columns, place, strict=True) if isinstance(v, str) or len(set(rows[c])) > 1]
        panel = ", ".join(_panel(column, v) for column, v in values)
        made += [_record(own, encoding, layer, panel, digits) for layer, own in _layers(part, encoding) if len(own)]
        for mark in encoding.marks:
            if mark.panel in ("", panel, *map(str, place)):
                at = {axis: [value(v, digits)] for axis, v in (("x", mark.x), ("y", mark.y)) if v is not None}
                words = {"side": mark.side} | ({"printed": True} if mark.printed else {})
                made.append({"series": mark.label, "panel": panel, "mark": "at " + "".join(at)} | words | at)
    return made


def _panel(column: str, value: Any) -> str:
    """Return the title of a panel: a number's names the column."""
    return value if isinstance(value, str) else f"{column.replace('_', ' ')} {name(value)}"


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
