"""Drawings for lopuhaa2020: estimators side by side at each privacy budget, errors beside bounds, an estimated column,
channels.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ldpnb.notebook.figures import look


def errors_by_budget(
    table: pd.DataFrame, *, panel: str, y: str = "mse", error: str = "standard_error", ylabel: str, log: bool = True
) -> Figure:
    """Draw an estimator's error against the privacy budget, the estimators slightly apart so that equal ones can be
    told.

    Parameters
    ----------
    table : DataFrame
        Columns ``epsilon, estimator`` and those named, as `tables.frequencies.compare` returns. Rows without `error`
        are drawn as a line, the others as points with bars of two standard errors.
    panel : str
        Column that tells the panels apart, in order of first appearance.
    y, error : str
        Columns of the value and of its standard error.
    ylabel : str
    log : bool
        Logarithmic ordinate.
    """
    panels, names = list(dict.fromkeys(table[panel])), list(dict.fromkeys(table["estimator"]))
    simulated = list(dict.fromkeys(table.loc[table[error].notna(), "estimator"]))
    budgets = {epsilon: i for i, epsilon in enumerate(sorted(set(table["epsilon"])))}
    wide = 3 if len(panels) == 3 else 2
    tall = -(-len(panels) // wide)
    figure, axes = plt.subplots(tall, wide, figsize=(7.2, 0.6 + 2.7 * tall), sharex=True, sharey=True, squeeze=False)
    for axis, value in zip(axes.flat, panels, strict=False):
        part = table[table[panel] == value]
        for name in names:
            shift = (
                0.6 * (simulated.index(name) - (len(simulated) - 1) / 2) / len(simulated) if name in simulated else 0.0
            )
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


def estimated_column(table: pd.DataFrame, *, xlabel: str) -> Figure:
    """Draw, per budget (row) and estimator (column), a column's true frequencies and one estimate of them.

    Parameters
    ----------
    table : DataFrame
        Columns ``epsilon, estimator, value, truth, estimate``, as `ldpnb.papers.lopuhaa2020.tables.frequencies.one_run`
        returns.
    xlabel : str
    """
    budgets, names = list(dict.fromkeys(table["epsilon"])), list(dict.fromkeys(table["estimator"]))
    figure, axes = plt.subplots(
        len(budgets), len(names), figsize=(7.4, 0.9 + 1.8 * len(budgets)), sharex=True, sharey="row", squeeze=False
    )
    for row, epsilon in zip(axes, budgets, strict=True):
        for axis, name in zip(row, names, strict=True):
            part, style = table[(table["epsilon"] == epsilon) & (table["estimator"] == name)], look(name)
            axis.plot(part["value"], part["estimate"], ".", markersize=3.5, color=style.colour, label=name)
            axis.plot(part["value"], part["truth"], color=look("truth").colour, linewidth=1.2, label="truth")
            axis.set_title(f"{name}, ε = {epsilon:g}")
        row[0].set_ylabel("frequency")
    for axis in axes[-1]:
        axis.set_xlabel(xlabel)
    handles = {
        label: handle for axis in axes[0] for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=len(handles))
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
    """Draw estimators in their colours, simulated ones as points, and bounds as black, grey and brown lines, faint
    where they are not valid.

    Parameters
    ----------
    table : DataFrame
        Columns ``quantity, scaled_error, valid``, those named, and ``standard_error`` where there are simulated values.
    x, panel : str
        Columns on the abscissa and that tells panels apart.
    xlabel, xscale : str
    """
    panels, names = list(dict.fromkeys(table[panel])), list(dict.fromkeys(table["quantity"]))
    figure, axes = plt.subplots(1, len(panels), figsize=(7.4, 4.1), squeeze=False)
    for axis, value in zip(axes[0], panels, strict=True):
        rows = table[table[panel] == value].sort_values(x)
        for name in names:
            _error_or_bound(axis, rows[rows["quantity"] == name], x, name)
        errors = rows.loc[~rows["quantity"].isin(_BOUNDS), "scaled_error"]
        axis.set(title=str(value), xlabel=xlabel, xscale=xscale, yscale="log")
        axis.set_ylim(errors.min() / 20, 2 * errors.max())
    axes[0, 0].set_ylabel("n times the mean squared error")
    handles = {
        label: handle for axis in axes[0] for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4)
    return figure


def _error_or_bound(axis: Axes, part: pd.DataFrame, x: str, name: str) -> None:
    if name in _BOUNDS:
        colour, dash = _BOUNDS[name]
        axis.plot(part[x], part["scaled_error"], color=colour, linestyle=dash, linewidth=1.2, alpha=0.28)
        solid = part["scaled_error"].where(part["valid"])
        axis.plot(part[x], solid, color=colour, linestyle=dash, linewidth=1.6, label=name)
        return
    style = look(name)
    if "standard_error" in part and part["standard_error"].notna().all():
        bars = 2 * part["standard_error"]
        axis.errorbar(
            part[x], part["scaled_error"], bars, color=style.colour, marker=style.marker, linestyle="none", label=name
        )
    else:
        axis.plot(part[x], part["scaled_error"], color=style.colour, linestyle=style.dash, label=name)
