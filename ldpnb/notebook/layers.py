"""A grid of panels in which columns of a table lie on top of each other: a band, points and the truth."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ldpnb.notebook.annotations import head
from ldpnb.notebook.encoding import Encoding, Layer, keep
from ldpnb.notebook.figures import legend, size
from ldpnb.notebook.labels import unset
from ldpnb.notebook.looks import Look, look

NAMES = 20
"""Values without an order that are drawn at most."""


def layered(table: pd.DataFrame, drawn_as: Encoding, *, row: str, title: str = "", setting: str = "") -> Figure:
    """Draw the layers of an encoding, a panel per pair of values of its two columns of panels.

    Parameters
    ----------
    table : DataFrame
        Tidy: a row per value and panel.
    drawn_as : Encoding
        Its first column of panels goes down, the second across, where each value has its own colour.
    row : str
        The symbol of the numbers that go down.
    title, setting : str
        The finding, with its numbers, and what was held fixed.
    """
    assert isinstance(drawn_as.panel, tuple)
    down, across = drawn_as.panel
    rows, names = (list(dict.fromkeys(table[column])) for column in drawn_as.panel)
    named = drawn_as.xscale == "category"
    if named and table[drawn_as.x].nunique() > NAMES:
        setting += f"; the {NAMES} commonest values"
    shape: dict[str, Any] = {"figsize": size(1.4 + 1.8 * len(rows)), "sharex": True, "sharey": True, "squeeze": False}
    figure, axes = plt.subplots(len(rows), len(names), **shape)
    for line, value in zip(axes, rows, strict=True):
        line[0].set_ylabel(unset(value if isinstance(value, str) else f"{row} = {value:g}"))
        for axis, name in zip(line, names, strict=True):
            part = table[(table[down] == value) & (table[across] == name)]
            for layer in drawn_as.layers:
                _draw(axis, part.head(NAMES) if named else part, drawn_as.x, layer, look(name), named)
    for axis, name in zip(axes[0], names, strict=True):
        axis.set_title(unset(name))
    for axis in axes[-1]:
        axis.set_xlabel(unset(drawn_as.xlabel or drawn_as.x))
        axis.tick_params(axis="x", rotation=45 if named else 0)
    figure.supylabel(drawn_as.y, size="medium")
    head(figure, title, setting)
    legend(figure, axes[0, :1])
    lines = {layer.name for layer in drawn_as.layers if layer.mark == "line"}
    for entry, text in zip(figure.legends[0].legend_handles, figure.legends[0].texts, strict=True):
        if text.get_text() not in lines and entry is not None:
            entry.set(color="#777777")  # for the colours of all names
    return keep(figure, table, drawn_as)


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
