"""Drawings for juarez2022: panels whose series differ, each with its own legend, and per-client rates by group."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook.figures import look

_SERIES = tuple(look(name) for name in ("exact", "upper bound", "lower bound", "published", "simple random sampling"))
"""Looks of a panel's series, by position."""

_TRUTH = look("truth").colour


def _dots(position: int, colour: str) -> dict[str, Any]:
    return {"color": colour, "marker": _SERIES[position].marker, "linestyle": "none"}


def panels(
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    by: str,
    panel: str,
    points: Sequence[str] = (),
    error: str | None = None,
    ylabel: str | None = None,
    xscale: str = "linear",
    yscale: str = "linear",
    share_y: bool = True,
) -> Figure:
    """Draw one panel per value of `panel` in a row, each with its own series and its own legend unless all share one.

    Parameters
    ----------
    table : DataFrame
        Tidy: a row per point.
    x, y, by, panel : str
        Columns on the axes, and those that tell series and panels apart, in order of first appearance.
    points : sequence of str
        Series drawn as points, in the colour of the truth; the others are lines.
    error : str, optional
        Column of standard errors of the points, drawn as bars of two.
    ylabel, xscale, yscale : str
        Label of the ordinate (left out, the column's name), and scales.
    share_y : bool
        Whether the panels share the ordinate.
    """
    names = list(dict.fromkeys(table[panel]))
    figure, axes = plt.subplots(1, len(names), figsize=(7.2, 3.4), sharex=True, sharey=share_y, squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        part = table[table[panel] == name]
        for i, series in enumerate(dict.fromkeys(part[by])):
            rows, style = part[part[by] == series], _SERIES[i % len(_SERIES)]
            if series in points:
                bars, dots = 2 * rows[error] if error else None, _dots(list(points).index(series), _TRUTH)
                axis.errorbar(rows[x], rows[y], bars, **dots, label=str(series), zorder=3)
            else:
                axis.plot(rows[x], rows[y], color=style.colour, linestyle=style.dash, label=str(series))
        axis.set(xscale=xscale, yscale=yscale, title=str(name), xlabel=x)
    legends = [axis.get_legend_handles_labels() for axis in axes[0]]
    if len(legends) > 1 and all(labels == legends[0][1] for _, labels in legends):
        figure.legend(*legends[0], loc="outside lower center", ncols=len(legends[0][1]))
    else:
        for axis in axes[0]:
            axis.legend(loc="best")
    axes[0, 0].set_ylabel(y if ylabel is None else ylabel)
    return figure


def client_rates(table: pd.DataFrame) -> Figure:
    """Draw every client's rate as a dot per group, with the group's mean as a bar, a panel per metric.

    A row of ``metric, group, rate, offset`` per client; `offset` spreads the dots sideways.
    """
    metrics, groups = list(dict.fromkeys(table["metric"])), list(dict.fromkeys(table["group"]))
    figure, axes = plt.subplots(1, len(metrics), figsize=(7.0, 3.2), sharey=True, squeeze=False)
    for axis, metric in zip(axes[0], metrics, strict=True):
        for i, group in enumerate(groups):
            rows = table[(table["metric"] == metric) & (table["group"] == group)]
            axis.plot(i + rows["offset"], rows["rate"], **_dots(i, _SERIES[i].colour), alpha=0.6, markersize=4)
            axis.hlines(rows["rate"].mean(), i - 0.35, i + 0.35, color=_TRUTH, linewidth=2)
        axis.set(title=metric, xticks=range(len(groups)), xlim=(-0.6, len(groups) - 0.4))
        axis.set_xticklabels([f"{group} ({(table['group'] == group).sum() // len(metrics)})" for group in groups])
    axes[0, 0].set_ylabel("rate of one client")
    return figure


def ranges(table: pd.DataFrame, *, ylabel: str) -> Figure:
    """Draw bars from `low` to `high` with a mark in the `middle`, by panel, label and series; printed values are stars.

    Columns are ``panel, label, series, low, middle, high, printed``; labels stand side by side in order of appearance.
    """
    names, labels = list(dict.fromkeys(table["panel"])), list(dict.fromkeys(table["label"]))
    figure, axes = plt.subplots(1, len(names), figsize=(3.6 * len(names), 3.4), sharey=True, squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        part = table[table["panel"] == name]
        kinds = list(dict.fromkeys(part["series"]))
        for i, kind in enumerate(kinds):
            rows = part[part["series"] == kind]
            at = np.array([labels.index(label) for label in rows["label"]]) + 0.22 * (i - (len(kinds) - 1) / 2)
            bars = np.abs(rows[["low", "high"]].to_numpy().T - rows["middle"].to_numpy())
            axis.errorbar(at, rows["middle"], bars, **_dots(i, _SERIES[i].colour), label=kind)
        stars = {"color": _TRUTH, "marker": "*", "markersize": 9, "linestyle": "none", "label": "printed"}
        axis.plot(range(len(labels)), part.drop_duplicates("label")["printed"], **stars)
        axis.set(title=name, xticks=range(len(labels)), xlabel="budget ε (nats)")
        axis.set_ylim(bottom=0)
        axis.set_xticklabels(labels)
        axis.legend(loc="lower left", ncols=2)
    axes[0, 0].set_ylabel(ylabel)
    return figure


def histogram(table: pd.DataFrame, column: str) -> Figure:
    """Draw the distribution of one column in 40 bars, with its mean."""
    figure, axis = plt.subplots(figsize=(6.0, 2.8))
    axis.hist(table[column], bins=40, color=_SERIES[0].colour)
    axis.axvline(table[column].mean(), color=_TRUTH, linestyle="--", label="mean")
    axis.set(xlabel=column, ylabel="simulations")
    axis.legend()
    return figure
