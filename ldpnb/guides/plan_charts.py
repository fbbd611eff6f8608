"""Pictures of plans: what mechanisms need, how the error falls with people and budget, and what it is made of."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ldpnb.notebook import Rows, curves, table
from ldpnb.notebook.charts import Chart
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Mean, Question

_BUDGET = "epsilon (nats)"


@table
def people(question: Question, epsilons: Sequence[float], *, curator: bool = True) -> Rows:
    """Yield the people that each mechanism needs at each budget, best first; without `curator`, of people's own."""
    for epsilon in epsilons:
        for a in plan(question.with_value("epsilon", epsilon), curator=curator).answers:
            if a.feasible:
                yield {
                    _BUDGET: epsilon,
                    "mechanism": a.mechanism,
                    "people needed": a.value,
                    "bound": a.bound,
                }


def fewest(table: pd.DataFrame) -> str:
    """Return which mechanism without a curator needs the fewest of `people` at small budgets, and up to which one."""
    local = table[table["mechanism"] != "central Laplace"]
    if local.empty:
        return "No mechanism without a curator can"
    best = local.loc[local.groupby(_BUDGET)["people needed"].idxmin()]
    first = best["mechanism"].iloc[0]
    others = best.loc[best["mechanism"] != first, _BUDGET].min()
    reach = (
        "at every ε drawn"
        if others != others
        else f"up to ε = {best.loc[best[_BUDGET] < others, _BUDGET].max():g}"
    )
    return (
        f"Fewest people{' without a curator' if len(local) < len(table) else ''} {reach}: {first}"
    )


def needs(table: pd.DataFrame, value: str, *, xlabel: str) -> Chart:
    """Draw one dot per mechanism on a logarithmic axis, in the order of the table, each with its number."""
    axes: dict[str, Any] = {
        "by": "mechanism",
        "mark": "points",
        "xscale": "category",
        "yscale": "log",
    }
    return curves(table, "mechanism", value, xlabel="", ylabel=xlabel, **axes)


@table
def errors(question: Mean, counts: Sequence[int], epsilons: Sequence[float]) -> Rows:
    """Yield the error that the best mechanism promises, by the number of units that answer and the budget."""
    for epsilon in epsilons:
        for count in counts:
            asked = (
                question.with_value("epsilon", epsilon)
                .with_value("error", None)
                .with_value("count", count)
            )
            if best := plan(asked, curator=False).best:
                named = {"mechanism": best.mechanism, "error": best.value}
                yield {question.design.unit: count, "budget": f"ε = {epsilon:g}"} | named


def falling(table: pd.DataFrame, unit: str, *, setting: str = "") -> Chart:
    """Draw `errors`."""
    gain = table.groupby(unit)["error"].agg(lambda errors: errors.iloc[0] / errors.iloc[-1]).max()
    title = f"The largest budget divides the error of the smallest by up to {gain:.2g}"
    axes: dict[str, Any] = {
        "x": unit,
        "y": "error",
        "by": "budget",
        "xscale": "log",
        "yscale": "log",
    }
    return curves(table, **axes, ylabel="error promised", title=title, setting=setting)


@table
def parts(question: Mean, epsilons: Sequence[float]) -> Rows:
    """Yield the shares of sampling and of randomisation in the best mechanism's variance at each budget, stacked."""
    for epsilon in epsilons:
        best = plan(
            question.with_value("error", None).with_value("epsilon", epsilon), curator=False
        ).best
        if best is not None and (variance := best.variance):
            share, row = (
                variance.sampling / variance.total,
                {_BUDGET: epsilon, "variance": variance.total},
            )
            yield row | {"part": "sampling", "from": 0.0, "to": share}
            yield row | {"part": "randomisation", "from": share, "to": 1.0}


def stacked(table: pd.DataFrame, *, setting: str = "") -> Chart:
    """Draw `parts`, one on the other."""
    sampling = table[table["part"] == "sampling"]
    larger = sampling[sampling["to"] > 0.5][_BUDGET]
    title = "Randomisation is the larger part of the variance at every budget drawn"
    if len(larger):
        title = f"From ε = {larger.min():g} on sampling is the larger part of the variance"
    axes: dict[str, Any] = {"x": _BUDGET, "y": "to", "by": "part", "xscale": "log"}
    return curves(
        table,
        **axes,
        band=("from", "to"),
        ylabel="share of the variance",
        title=title,
        setting=setting,
    )
