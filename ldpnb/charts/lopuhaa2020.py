"""Drawings for lopuhaa2020: errors of several estimators, side by side at each privacy budget."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ldpnb.figures import look


def errors_by_budget(
    table: pd.DataFrame, *, panel: str, y: str = "mse", error: str = "standard_error", ylabel: str, log: bool = True
) -> Figure:
    """Draw an estimator's error against the privacy budget, the estimators slightly apart so that equal ones can be told.

    Parameters
    ----------
    table : DataFrame
        Columns ``epsilon, estimator`` and those named, as `ldpnb.experiments.frequencies.compare` returns. Rows without `error` are drawn as a
        line, the others as points with bars of two standard errors.
    panel : str
        Column that tells the panels apart, in order of first appearance.
    y, error : str
        Columns of the value and of its standard error.
    ylabel : str
    log : bool
        Logarithmic ordinate.
    """
    panels, names = list(dict.fromkeys(table[panel])), list(dict.fromkeys(table["estimator"]))
    budgets = {epsilon: i for i, epsilon in enumerate(sorted(set(table["epsilon"])))}
    tall = -(-len(panels) // 2)
    figure, axes = plt.subplots(tall, 2, figsize=(7.2, 0.6 + 2.7 * tall), sharex=True, sharey=True, squeeze=False)
    for axis, value in zip(axes.flat, panels, strict=False):
        part = table[table[panel] == value]
        for i, name in enumerate(names):
            shift = 0.6 * (i - (len(names) - 1) / 2) / len(names)
            _one(axis, part[part["estimator"] == name], y, error, name, budgets, shift)
        axis.set(title=str(value), yscale="log" if log else "linear")
        axis.set_xticks(range(len(budgets)), [f"{epsilon:g}" for epsilon in budgets])
        axis.xaxis.grid(visible=False)
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_axis_off()
    for axis in axes[-1]:
        axis.set_xlabel("privacy budget ε, nats")
    for axis in axes[:, 0]:
        axis.set_ylabel(ylabel)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _one(
    axis: Axes, rows: pd.DataFrame, y: str, error: str, name: str, budgets: dict[float, int], shift: float
) -> None:
    style, place = look(name), np.array([budgets[epsilon] for epsilon in rows["epsilon"]])
    if rows[error].isna().all():
        axis.plot(place, rows[y], color=style.colour, linestyle=style.dash, label=name)
        return
    axis.errorbar(
        place + shift,
        rows[y],
        2 * rows[error],
        color=style.colour,
        marker=style.marker,
        markersize=4.5,
        linestyle="none",
        label=name,
    )
