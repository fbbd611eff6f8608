"""Panels in which columns of a table lie on top of each other: a band, points and the truth."""

from dataclasses import replace
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas.api.types import is_numeric_dtype

from ldpnb.notebook.annotations import head
from ldpnb.notebook.encoding import Encoding, Layer, keep
from ldpnb.notebook.figures import legend, size
from ldpnb.notebook.labels import unset
from ldpnb.notebook.looks import Look, look

NAMES = 20
"""Values without an order that are drawn at most."""
_WIDEST = 5
"""Panels in a row."""


def layered(table: pd.DataFrame, drawn_as: Encoding, *, row: str = "", title: str = "", setting: str = "") -> Figure:
    """Draw the layers of an encoding in panels, each name with its own colour.

    Parameters
    ----------
    table : DataFrame
        Tidy: a row per value and panel.
    drawn_as : Encoding
        Its column of panels has the names; if there are two, the values of the first go down and the names across.
        The values of `x` are a category if they are words.
    row : str
        The symbol of the numbers that go down.
    title, setting : str
        The finding, with its number, and what was held fixed.
    """
    *down, across = [drawn_as.panel] if isinstance(drawn_as.panel, str) else drawn_as.panel or ()
    rows, names = list(dict.fromkeys(table[down[0]])) if down else [""], list(dict.fromkeys(table[across]))
    named = not is_numeric_dtype(table[drawn_as.x])
    if named and table[drawn_as.x].nunique() > NAMES:
        setting += f"; the {NAMES} commonest values"
    tall = len(rows) if down else -(-len(names) // _WIDEST)
    wide = len(names) if down else -(-len(names) // tall)
    shape: dict[str, Any] = {"figsize": size(1.4 + 1.8 * tall), "sharex": True, "sharey": True, "squeeze": False}
    figure, axes = plt.subplots(tall, wide, **shape)
    panels = list(zip(axes.flat, product(rows, names), strict=False))
    for axis, (value, name) in panels:
        part = table[table[across] == name]
        part = part[part[down[0]] == value] if down else part
        for layer in drawn_as.layers:
            _draw(axis, part.head(NAMES) if named else part, drawn_as.x, layer, look(name), named)
        axis.set_title(unset(name) if value == rows[0] else "")
    for axis, _ in panels[-wide:]:
        axis.set_xlabel(unset(drawn_as.xlabel or drawn_as.x))
        axis.tick_params(axis="x", labelbottom=True, rotation=45 if named else 0)
    for axis, value in zip(axes[:, 0], rows, strict=False):
        axis.set_ylabel(unset(value if isinstance(value, str) else f"{row} = {value:g}"))
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    figure.supylabel(drawn_as.y, size="medium")
    head(figure, title, setting)
    legend(figure, axes[0, :1])
    others = [layer for layer in drawn_as.layers if layer.mark != "line"]
    greys = {layer.name: "#CCCCCC" if layer.mark == "band" else "#777777" for layer in others}
    for entry, text in zip(figure.legends[0].legend_handles, figure.legends[0].texts, strict=True):
        if text.get_text() in greys and entry is not None:
            entry.set(color=greys[text.get_text()], alpha=1)  # for the colours of all names
    return keep(figure, table, replace(drawn_as, xscale="category") if named else drawn_as)


def _draw(axis: Axes, rows: pd.DataFrame, x: str, layer: Layer, style: Look, named: bool) -> None:
    """Draw one layer; names have no order, and no line joins them."""
    at, y = rows[x], rows[layer.y]
    if layer.mark == "line":
        truth: dict[str, Any] = {"linestyle": "none", "marker": "_", "markersize": 12} if named else {"linewidth": 1.2}
        axis.plot(at, y, color=look("truth").colour, label=layer.name, **truth)
    elif layer.mark == "points":
        axis.plot(at, y, color=style.colour, marker=".", markersize=4, linestyle="none", label=layer.name)
    elif named:
        bars: dict[str, Any] = {"linestyle": "none", "elinewidth": 6, "capsize": 0, "alpha": 0.25}
        axis.errorbar(at, y, 2 * rows[layer.error], color=style.colour, label=layer.name, **bars)
    else:
        spread = 2 * rows[layer.error]
        axis.fill_between(at, y - spread, y + spread, color=style.colour, alpha=0.25, linewidth=0, label=layer.name)
