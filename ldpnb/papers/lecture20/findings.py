"""What the figures of lecture20 find: titles and marks, computed from their tables whatever the parameters."""

from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook import Mark, crossings, listed, short, where_less

Heading = dict[str, Any]
"""Title and marks, for `ldpnb.notebook.curves`."""

EPSILON = "epsilon (nats)"


def rates(table: pd.DataFrame, y: str) -> Heading:
    """Tell by which power of the users each exact error falls, and how far apart the last ones are."""
    exact = table[table["standard error"].isna()]
    wide = exact.pivot_table(index="users", columns="mechanism", values=y)[list(dict.fromkeys(exact["mechanism"]))]
    powers = np.log(wide.iloc[-1] / wide.iloc[0]) / np.log(wide.index[-1] / wide.index[0])
    each = listed(f"{power:.2g} ({name})" for name, power in powers.items())
    far = short(wide.iloc[-1].max() / wide.iloc[-1].min())
    return {
        "title": f"Errors fall like n to the power {each}: with {wide.index[-1]:,} users they are {far} times apart"
    }


def one_bit(table: pd.DataFrame, y: str) -> Heading:
    """Tell where one bit is better than Laplace noise at its worst data, and at those drawn."""
    wide = table.pivot_table(index=EPSILON, columns="mechanism", values=y)
    noise, marks, where = wide["local Laplace"], [], {}
    for name in ("1-bit, worst data", "1-bit, these data"):
        where[name] = where_less(wide.index, wide[name], noise)
        for x in crossings(wide.index, wide[name], noise):
            height = float(np.exp(np.interp(np.log(x), np.log(noise.index), np.log(noise))))
            marks.append(Mark(x, height, f"ε = {x:.3g}"))
    worst, these = where.values()
    return {"title": f"One bit beats Laplace noise for all data {worst}, for these data {these}", "marks": marks}


def sign_loss(table: pd.DataFrame) -> Heading:
    """Tell by what factor the exact loss of the signs exceeds the largest parameter that was enumerated."""
    points = table[table["standard error"].notna()]
    places = list(zip(points["printed parameter"], points["privacy loss (nats)"], strict=True))
    last, most = places[-1]
    marks = [Mark(parameter, loss, f"{loss:.2f}", side="left") for parameter, loss in places]
    title = f"The signs lose more than twice their parameter, {most / last:.2f} times it at {last:g}"
    return {"title": title, "marks": marks}


def best_at(table: pd.DataFrame, y: str, epsilon: float) -> Heading:
    """Compare the best local mechanism at the budget drawn that is nearest with a curator."""
    exact = table[table["standard error"].isna()]
    nearest = exact[EPSILON].iloc[(exact[EPSILON] - epsilon).abs().argmin()]
    errors = exact[exact[EPSILON] == nearest].set_index("mechanism")[y]
    local = errors.drop("central Laplace")
    times = short(local.min() / errors["central Laplace"])
    title = f"At ε = {nearest:g} the best local mechanism, {local.idxmin()}, errs {times} times as much as a curator"
    return {"title": title}


def moved(table: pd.DataFrame) -> Heading:
    """Tell how much chance has to be moved to make noise pure."""
    wide = table.pivot_table(index="report", columns="law", values="chance")
    distance = (wide["as it is"] - wide["made pure"]).abs().sum() / 2
    return {"title": f"Moving {100 * distance:.2g}% of the chance, in the tails, makes Gaussian noise pure"}
