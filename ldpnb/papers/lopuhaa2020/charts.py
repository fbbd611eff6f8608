"""Drawings for lopuhaa2020: an estimated column."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook import look
from ldpnb.notebook.annotations import head
from ldpnb.notebook.encoding import Encoding, Layer, keep
from ldpnb.notebook.labels import unset
from ldpnb.papers.lopuhaa2020.tables.frequencies import EPSILON

_NAMES = 20


def estimated_column(table: pd.DataFrame, *, xlabel: str, title: str = "", setting: str = "") -> Figure:
    """Draw, per budget (row) and estimator (column), true frequencies and an estimate, as `frequencies.one_run` has."""
    budgets, names = list(dict.fromkeys(table[EPSILON])), list(dict.fromkeys(table["estimator"]))
    named = not pd.api.types.is_numeric_dtype(table["value"])
    truth: dict[str, Any] = {"linestyle": "none", "marker": "_", "markersize": 12} if named else {"linewidth": 1.2}
    if named and table["value"].nunique() > _NAMES:
        setting += f"; the {_NAMES} commonest values"
    size = (7.0, 0.9 + 1.8 * len(budgets))
    figure, axes = plt.subplots(len(budgets), len(names), figsize=size, sharex=True, sharey=True, squeeze=False)
    for row, epsilon in zip(axes, budgets, strict=True):
        for axis, name in zip(row, names, strict=True):
            part, style = table[(table[EPSILON] == epsilon) & (table["estimator"] == name)], look(name)
            part = part.head(_NAMES) if named else part
            axis.plot(part["value"], part["estimate"], ".", markersize=3.5, color=style.colour)
            axis.plot(part["value"], part["truth"], color=look("truth").colour, **truth)
            axis.set_title(f"{name}, ε = {epsilon:g}", color=style.colour)
        row[0].set_ylabel("frequency")
    for axis in axes[-1]:
        axis.set_xlabel(unset(xlabel))
        axis.tick_params(axis="x", rotation=45 if named else 0)
    head(figure, title, setting)
    layers = (Layer(name="estimate", y="estimate", mark="points"), Layer(name="truth", y="truth"))
    axes_told: dict[str, Any] = {"x": "value", "xlabel": xlabel, "y": "frequency", "columns": len(names)}
    axes_told |= {"xscale": "category"} if named else {}
    return keep(figure, table, Encoding(**axes_told, panel=(EPSILON, "estimator"), layers=layers))
