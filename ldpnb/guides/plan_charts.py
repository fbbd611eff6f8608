"""Pictures of plans: what mechanisms need, how the error falls with people and budget, and what it is made of."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook import curves, listed, table
from ldpnb.notebook.encoding import Encoding, keep
from ldpnb.notebook.figures import look
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Mean, Question


@table
def over(question: Question, name: str, values: Sequence[float], *, curator: bool = True) -> Iterator[dict[str, Any]]:
    """Yield a row per value of a quantity and mechanism that can, best first; without `curator`, of people's own."""
    for value in values:
        made = plan(question.with_value(name, value), curator=curator)
        for a in made.answers:
            if a.feasible:
                row = {_heading(name): value, "mechanism": a.mechanism}
                yield row | {_heading(made.unknown): a.value, "bound": a.bound}


def _heading(name: str) -> str:
    return {"epsilon": "epsilon (nats)", "count": "people needed"}.get(name, name)


def needs(table: pd.DataFrame, value: str, *, xlabel: str) -> Figure:
    """Draw one dot per mechanism on a logarithmic axis, in the order of the table, each with its number."""
    figure, axis = plt.subplots(figsize=(6.0, 1.0 + 0.32 * len(table)))
    names, numbers = table["mechanism"].tolist(), table[value].to_numpy(dtype=float)
    for row, (name, number) in enumerate(zip(names, numbers, strict=True)):
        axis.plot(number, row, color=look(name).colour, marker=look(name).marker, markersize=8)
        text = f"{number:,.4g}" if number < 1e4 else f"{number:,.0f}"
        axis.annotate(text, (number, row), (8, 0), textcoords="offset points", va="center")
    axis.set(xscale="log", yticks=range(len(names)), yticklabels=names, xlabel=xlabel)
    axis.set_xlim(numbers.min() / 2, numbers.max() * 4)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axes: dict[str, Any] = {"by": "mechanism", "mark": "points", "xscale": "category", "yscale": "log", "flip": True}
    return keep(figure, table, Encoding(x="mechanism", y=value, xlabel="", ylabel=xlabel, **axes))


def fewest(table: pd.DataFrame, value: str) -> dict[str, str]:
    """Say which mechanism without a curator needs least, and from which budget on."""
    local = table[table["mechanism"] != "central Laplace"]
    if local.empty:
        return {"title": "No mechanism without a curator can"}
    best = local.loc[local.groupby("epsilon (nats)")[value].idxmin()]
    runs = groupby(zip(best["mechanism"], best["epsilon (nats)"], strict=True), key=lambda pair: pair[0])
    starts = [(name, next(iter(run))[1]) for name, run in runs]
    first = f"{starts[0][0]} at {'small' if starts[1:] else 'every'} ε"
    others = [f"{name} from ε = {start:g} on" for name, start in starts[1:]]
    return {"title": f"Fewest people: {listed([first, *others])}"}


@table
def errors_by_people(question: Mean, counts: Sequence[int], epsilons: Sequence[float]) -> Iterator[dict[str, Any]]:
    """Yield the error that the best mechanism promises, by the number of units that answer and the budget."""
    for epsilon in epsilons:
        for count in counts:
            best = plan(replace(question, count=count, epsilon=epsilon, error=None), curator=False).best
            if best is not None:
                named = {"mechanism": best.mechanism, "error": best.value}
                yield {question.design.unit: count, "budget": f"ε = {epsilon:g}"} | named


def falling(table: pd.DataFrame, unit: str, *, setting: str = "") -> Figure:
    """Draw `errors_by_people`."""
    errors = table[table[unit] == table[unit].max()]["error"]
    title = f"The largest budget takes {1 - errors.iloc[-1] / errors.iloc[0]:.0%} off the error of the smallest"
    axes: dict[str, Any] = {"x": unit, "y": "error", "by": "budget", "xscale": "log", "yscale": "log"}
    return curves(table, **axes, ylabel="error promised", title=title, setting=setting)


@table
def parts(question: Mean, epsilons: Sequence[float]) -> Iterator[dict[str, Any]]:
    """Yield the shares of sampling and of randomisation in the best mechanism's variance at each budget, stacked."""
    for epsilon in epsilons:
        best = plan(replace(question, epsilon=epsilon, error=None), curator=False).best
        variance = None if best is None else best.variance
        if variance is not None:
            share, row = variance.sampling / variance.total, {"epsilon (nats)": epsilon, "variance": variance.total}
            yield row | {"part": "sampling", "from": 0.0, "to": share}
            yield row | {"part": "randomisation", "from": share, "to": 1.0}


def stacked(table: pd.DataFrame, *, setting: str = "") -> Figure:
    """Draw `parts`, one on the other."""
    sampling = table[table["part"] == "sampling"]
    larger = sampling[sampling["to"] > 0.5]["epsilon (nats)"]
    title = "Randomisation is the larger part of the variance at every budget drawn"
    if len(larger):
        title = f"From ε = {larger.min():g} on sampling is the larger part of the variance"
    axes: dict[str, Any] = {"x": "epsilon (nats)", "y": "to", "by": "part", "xscale": "log"}
    return curves(table, **axes, band=("from", "to"), ylabel="share of the variance", title=title, setting=setting)
