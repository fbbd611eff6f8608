"""Drawings for lopuhaa2020: estimators at each privacy budget, errors beside bounds, an estimated column."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ldpnb.notebook import look

_BUDGET = "privacy budget ε, nats"
_EPSILON = "epsilon (nats)"


def errors_by_budget(
    table: pd.DataFrame,
    *,
    panel: str,
    y: str = "mean squared error",
    error: str = "standard error",
    ylabel: str = "",
    log: bool = True,
) -> Figure:
    """Draw errors against the privacy budget, the estimators slightly apart so that equal ones can be told.

    The table is that of `tables.frequencies.compare`, with a column that tells the panels apart, in order of first
    appearance. Rows without `error` are drawn as a line, the others as points with bars of two standard errors.
    """
    panels, names = list(dict.fromkeys(table[panel])), list(dict.fromkeys(table["estimator"]))
    simulated = list(dict.fromkeys(table.loc[table[error].notna(), "estimator"]))
    middle = (len(simulated) - 1) / 2
    shifts = {name: 0.6 * (i - middle) / len(simulated) for i, name in enumerate(simulated)}
    budgets = {epsilon: i for i, epsilon in enumerate(sorted(set(table[_EPSILON])))}
    wide = 3 if len(panels) == 3 else 2
    tall = -(-len(panels) // wide)
    figure, axes = plt.subplots(tall, wide, figsize=(7.2, 0.6 + 2.7 * tall), sharex=True, sharey=True, squeeze=False)
    for axis, value in zip(axes.flat, panels, strict=False):
        part = table[table[panel] == value]
        for name in names:
            rows = part[part["estimator"] == name]
            place = np.array([budgets[epsilon] for epsilon in rows[_EPSILON]]) + shifts.get(name, 0.0)
            _points_or_line(axis, place, rows[y], rows[error], name, markersize=4.5)
        axis.set(title=str(value), yscale="log" if log else "linear")
        axis.set_xticks(range(len(budgets)), [f"{epsilon:g}" for epsilon in budgets])
        axis.xaxis.grid(visible=False)
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_axis_off()
    for axis in axes[-1]:
        axis.set_xlabel(_BUDGET)
    for axis in axes[:, 0]:
        axis.set_ylabel(ylabel or y)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _points_or_line(axis: Axes, x: Any, y: pd.Series, error: pd.Series, name: str, **more: Any) -> None:
    """Draw an estimator as a line, or, with standard errors, as points with bars of two."""
    style = look(name)
    if error.isna().all():
        axis.plot(x, y, color=style.colour, linestyle=style.dash, label=name)
    else:
        axis.errorbar(x, y, 2 * error, color=style.colour, marker=style.marker, linestyle="none", label=name, **more)


def estimated_column(table: pd.DataFrame, *, xlabel: str) -> Figure:
    """Draw, per budget (row) and estimator (column), true frequencies and an estimate, as `frequencies.one_run` has."""
    budgets, names = list(dict.fromkeys(table[_EPSILON])), list(dict.fromkeys(table["estimator"]))
    size = (7.4, 0.9 + 1.8 * len(budgets))
    figure, axes = plt.subplots(len(budgets), len(names), figsize=size, sharex=True, sharey="row", squeeze=False)
    for row, epsilon in zip(axes, budgets, strict=True):
        for axis, name in zip(row, names, strict=True):
            part, style = table[(table[_EPSILON] == epsilon) & (table["estimator"] == name)], look(name)
            axis.plot(part["value"], part["estimate"], ".", markersize=3.5, color=style.colour, label=name)
            axis.plot(part["value"], part["truth"], color=look("truth").colour, linewidth=1.2, label="truth")
            axis.set_title(f"{name}, ε = {epsilon:g}")
        row[0].set_ylabel("frequency")
    for axis in axes[-1]:
        axis.set_xlabel(xlabel)
    return _with_legend(figure, axes[0], 4)


def _with_legend(figure: Figure, axes: Any, columns: int) -> Figure:
    """Add one entry per name below the figure."""
    handles = {name: handle for axis in axes for handle, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=columns)
    return figure


_BOUNDS = {
    "(59)": ("#000000", (0, (6, 1, 1, 1, 1, 1))),
    "any channel": ("#000000", (0, (5, 1.5))),
    "(51), raised": ("#777777", (0, (4, 1, 1, 1))),
    "limit of this channel": ("#777777", "-"),
    "entropy, any n": ("#8C6D31", "-"),
    "any channel, any n": ("#8C6D31", (0, (5, 1.5))),
}


def errors_beside_bounds(table: pd.DataFrame, *, x: str, panel: str, xlabel: str, xscale: str = "linear") -> Figure:
    """Draw estimators in their colours and bounds as black, grey and brown lines, faint where they are not valid.

    The table has the columns of `tables.optimality.errors_and_bounds`; without standard errors all errors are lines.
    """
    y, panels = "n times the mean squared error", list(dict.fromkeys(table[panel]))
    names = list(dict.fromkeys(table["quantity"]))
    figure, axes = plt.subplots(1, len(panels), figsize=(7.4, 4.1), squeeze=False)
    for axis, value in zip(axes[0], panels, strict=True):
        rows = table[table[panel] == value].sort_values(x)
        for name in names:
            _error_or_bound(axis, rows[rows["quantity"] == name], x, y, name)
        errors = rows.loc[~rows["quantity"].isin(_BOUNDS), y]
        axis.set(title=str(value), xlabel=xlabel, xscale=xscale, yscale="log")
        axis.set_ylim(errors.min() / 20, 2 * errors.max())
    axes[0, 0].set_ylabel(y)
    return _with_legend(figure, axes[0], 4)


def _error_or_bound(axis: Axes, part: pd.DataFrame, x: str, y: str, name: str) -> None:
    if name not in _BOUNDS:
        error = part["standard error"] if "standard error" in part else pd.Series(np.nan, index=part.index)
        _points_or_line(axis, part[x], part[y], error, name)
        return
    colour, dash = _BOUNDS[name]
    axis.plot(part[x], part[y], color=colour, linestyle=dash, linewidth=1.2, alpha=0.28)
    axis.plot(part[x], part[y].where(part["valid"]), color=colour, linestyle=dash, linewidth=1.6, label=name)
