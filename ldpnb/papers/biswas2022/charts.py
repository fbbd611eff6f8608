"""Drawings for biswas2022: an estimated histogram beside the truth, in small multiples."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ldpnb.notebook.figures import curves, look
from ldpnb.papers.biswas2022.tables.sampling import DISTANCE, RATE


def estimated_histograms(table: pd.DataFrame, *, row: str = "sampling_rate") -> Figure:
    """Draw the truth, the exact mean with two standard deviations, and one estimate.

    A row of panels per entry of the column `row`, a column per estimator; `table` is of the kind that
    `ldpnb.papers.biswas2022.tables.sampling.estimates` returns.
    """
    settings, names = list(dict.fromkeys(table[row])), list(dict.fromkeys(table["estimator"]))
    figure, axes = plt.subplots(
        len(settings), len(names), figsize=(7.4, 1.0 + 1.9 * len(settings)), sharex=True, sharey=True, squeeze=False
    )
    for line, setting in zip(axes, settings, strict=True):
        for axis, name in zip(line, names, strict=True):
            _panel(axis, table[(table[row] == setting) & (table["estimator"] == name)], name)
        label = setting if isinstance(setting, str) else f"π = {setting:g}"
        line[0].set_ylabel(f"{label}\nusers holding the value")
    for axis, name in zip(axes[0], names, strict=True):
        axis.set_title(name)
    for axis in axes[-1]:
        axis.set_xlabel("value")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, name: str) -> None:
    colour, value = look(name).colour, rows["value"]
    low, high = (rows["expected"] + c * rows["standard_deviation"] for c in (-2, 2))
    axis.fill_between(value, low, high, color=colour, alpha=0.25, linewidth=0, label="mean ± 2 sd (exact)")
    axis.plot(value, rows["estimate"], color=colour, marker=".", markersize=3.5, linestyle="none", label="estimate")
    axis.plot(value, rows["truth"], color=look("truth").colour, linewidth=1.2, label="truth")


def distance_and_cost(table: pd.DataFrame) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.sampling.distances`, with the expected reports as a second scale."""
    figure = curves(table, RATE, DISTANCE, by="budget", panel="estimate", error="standard_error", yscale="log")
    per_rate = table["expected_reports"].iloc[0] / table[RATE].iloc[0] / 1000
    for axis in figure.axes:
        axis.axhline(1, color="#888888", linewidth=0.8, zorder=0)
        scale = axis.secondary_xaxis(
            "top", functions=(lambda rate: rate * per_rate, lambda reports: reports / per_rate)
        )
        scale.set_xlabel("expected reports nπ, thousands")
    return figure


def deviations(account: pd.DataFrame) -> Figure:
    """Draw the standard deviations of one row of `ldpnb.papers.biswas2022.tables.shuffling.accounting` as bars."""
    names = ["c-hat, rare", "c-hat, common", "Gaussian", "Laplace"]
    figure, axis = plt.subplots(figsize=(5.5, 2.6))
    values = account[names].iloc[0]
    bars = axis.barh(names[::-1], values[::-1], color=[look(name.split(",")[0]).colour for name in names[::-1]])
    axis.bar_label(bars, fmt="{:.4g}", padding=3)
    axis.set(xlabel="standard deviation of an estimated count (users)", xlim=(0, 1.15 * values.max()))
    return figure
