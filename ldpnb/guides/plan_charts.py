"""Pictures of plans: what every mechanism needs, side by side, and which needs least."""

from itertools import groupby
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook import listed
from ldpnb.notebook.encoding import Encoding, keep
from ldpnb.notebook.figures import look


def needs(table: pd.DataFrame, value: str, *, xlabel: str) -> Figure:
    """Draw one dot per mechanism on a logarithmic axis, in the order of the table, each with its number.

    Parameters
    ----------
    table : DataFrame
        Columns ``mechanism`` and `value`; a row per mechanism.
    value : str
        What is needed.
    xlabel : str
    """
    figure, axis = plt.subplots(figsize=(6.0, 1.0 + 0.32 * len(table)))
    names, numbers = table["mechanism"].tolist(), table[value].to_numpy(dtype=float)
    for row, (name, number) in enumerate(zip(names, numbers, strict=True)):
        axis.plot(number, row, color=look(name).colour, marker=look(name).marker, markersize=8)
        text = f"{number:,.4g}" if number < 1e4 else f"{number:,.0f}"
        axis.annotate(text, (number, row), (8, 0), textcoords="offset points", va="center")
    axis.set(xscale="log", yticks=range(len(names)), yticklabels=names, xlabel=xlabel)
    axis.set_xlim(numbers.min() / 2, numbers.max() * 4)
    axis.set_ylim(len(names) - 0.5, -0.5)
    told: dict[str, Any] = {"by": "mechanism", "mark": "points", "xscale": "category", "yscale": "log", "flip": True}
    return keep(figure, table, Encoding(x="mechanism", y=value, xlabel="", ylabel=xlabel, **told))


def fewest(table: pd.DataFrame, value: str) -> dict[str, str]:
    """Tell which mechanism without a curator needs least, and from which budget on."""
    local = table[table["mechanism"] != "central Laplace"]
    if local.empty:
        return {"title": "No mechanism without a curator can"}
    best = local.loc[local.groupby("epsilon (nats)")[value].idxmin()]
    runs = groupby(zip(best["mechanism"], best["epsilon (nats)"], strict=True), key=lambda pair: pair[0])
    starts = [(name, next(iter(run))[1]) for name, run in runs]
    first = f"{starts[0][0]} at {'small' if starts[1:] else 'every'} ε"
    said = [f"{name} from ε = {start:g} on" for name, start in starts[1:]]
    return {"title": f"Fewest users: {listed([first, *said])}"}
