"""Drawings for juarez2022: which of two is better, rates of clients by group, printed errors beside their laws."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook import curves, look
from ldpnb.notebook.annotations import Mark, head
from ldpnb.notebook.encoding import Encoding, keep
from ldpnb.notebook.figures import legend
from ldpnb.papers.juarez2022.tables.gap_errors import RATIO
from ldpnb.papers.juarez2022.tables.gaps import BUDGET

_SERIES = tuple(look(name) for name in ("exact", "upper bound", "lower bound", "published", "simple random sampling"))
"""Looks of a panel's series, by position."""

_TRUTH = look("truth").colour

_STAR = {"color": _TRUTH, "marker": "*", "markersize": 9, "linestyle": "none"}


def _dots(position: int, colour: str) -> dict[str, Any]:
    return {"color": colour, "marker": _SERIES[position].marker, "linestyle": "none"}


def ratios(table: pd.DataFrame, **said: Any) -> Figure:
    """Draw the ratio of two variances against the budget, a panel per pair, and shade whose variance is smaller."""
    axes: dict[str, Any] = {"xscale": "log", "yscale": "log", "ylabel": "largest variance, M_R / M_L"}
    figure = curves(table, BUDGET, RATIO, panel="panel", **axes, **said)
    for axis, panel in zip(figure.axes, dict.fromkeys(table["panel"]), strict=True):
        part = table[table["panel"] == panel]
        axis.set_ylim(table[RATIO].min() / 1.6, table[RATIO].max() * 1.3)
        for name, sign, height in (("M_R", -1, 0.03), ("M_L", 1, 0.86)):
            better = {"where": sign * (part[RATIO] - 1) > 0, "interpolate": True, "color": look(name).colour}
            axis.fill_between(part[BUDGET], 1, part[RATIO], **better, alpha=0.2, linewidth=0)
            axis.text(0.03, height, f"{name} is better", transform=axis.transAxes, color=look(name).colour, fontsize=8)
    return figure


def client_rates(table: pd.DataFrame, *, title: str = "", setting: str = "") -> Figure:
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
            at = {"textcoords": "offset points", "va": "center", "fontsize": 8, "fontweight": "bold"}
            axis.annotate(f"{rows['rate'].mean():.2f}", (i + 0.35, rows["rate"].mean()), (3, 0), **at)
        axis.set(title=metric, xticks=range(len(groups)), xlim=(-0.6, len(groups) - 0.4))
        axis.set_xticklabels([f"{group} ({(table['group'] == group).sum() // len(metrics)})" for group in groups])
    axes[0, 0].set_ylabel("rate of one client")
    head(figure, title, setting)
    means = {at: float(part["rate"].mean()) for at, part in table.groupby(["metric", "group"], sort=False)}
    marks = tuple(
        Mark(y=mean, label=f"{group}: {mean:.2f}", panel=str(metric)) for (metric, group), mean in means.items()
    )
    told: dict[str, Any] = {"by": "group", "panel": "metric", "mark": "points", "xscale": "category", "xlabel": ""}
    told |= {"ylabel": "rate of one client", "aside": "offset", "marks": marks}
    return keep(figure, table, Encoding(x="group", y="rate", **told))


def ranges(table: pd.DataFrame, *, ylabel: str, title: str = "", setting: str = "") -> Figure:
    """Draw bars from `low` to `high` with a mark in the `middle`, by panel, label and series; printed values are stars.

    Columns are ``panel, label, series, low, middle, high``; labels stand side by side in order of appearance.
    """
    names, labels = list(dict.fromkeys(table["panel"])), list(dict.fromkeys(table["label"]))
    figure, axes = plt.subplots(1, len(names), figsize=(3.5 * len(names), 3.6), sharey=True, squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        part = table[table["panel"] == name]
        kinds = sorted(dict.fromkeys(part["series"]), key="printed".__eq__)
        for i, kind in enumerate(kinds):
            rows = part[part["series"] == kind]
            at = np.array([labels.index(label) for label in rows["label"]]) + 0.22 * (i - (len(kinds) - 1) / 2)
            bars = np.abs(rows[["low", "high"]].to_numpy().T - rows["middle"].to_numpy())
            style = _STAR if kind == "printed" else _dots(i, _SERIES[i].colour)
            axis.errorbar(at, rows["middle"], bars, **style, label=kind)
        axis.set(title=name, xticks=range(len(labels)), xlabel=BUDGET)
        axis.set_ylim(bottom=0)
        axis.set_xticklabels(labels)
    legend(figure, axes[0])
    axes[0, 0].set_ylabel(ylabel)
    head(figure, title, setting)
    told: dict[str, Any] = {"by": "series", "panel": "panel", "mark": "points", "band": ("low", "high")}
    told |= {"xscale": "category", "xlabel": BUDGET, "ylabel": ylabel}
    return keep(figure, table, Encoding(x="label", y="middle", **told))


def histogram(table: pd.DataFrame, column: str) -> Figure:
    """Draw the distribution of one column in 40 bars, with its mean."""
    figure, axis = plt.subplots(figsize=(6.0, 2.8))
    counts, edges, _ = axis.hist(table[column], bins=40, color=_SERIES[0].colour)
    axis.axvline(table[column].mean(), color=_TRUTH, linestyle="--", label="mean")
    axis.set(xlabel=column, ylabel="simulations")
    axis.legend()
    bars = pd.DataFrame({column: edges, "simulations": [*counts, 0]})
    mean = Mark(x=float(table[column].mean()), label="mean")
    return keep(figure, bars, Encoding(x=column, y="simulations", mark="steps", marks=(mean,)))
