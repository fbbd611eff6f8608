"""What the figures of lecture20 find: titles and marks, computed from their tables whatever the parameters."""

from typing import Any

import pandas as pd

from ldpnb.notebook import Mark, crossings, where_less

Heading = dict[str, Any]
"""Title and marks, for `ldpnb.notebook.curves`."""

EPSILON = "epsilon (nats)"


def one_bit(table: pd.DataFrame, y: str) -> Heading:
    """Tell where one bit is better than Laplace noise at its worst data, and at those drawn."""
    wide = table.pivot_table(index=EPSILON, columns="mechanism", values=y)
    noise, marks, where = wide["local Laplace"], [], []
    for name in ("1-bit, worst data", "1-bit, these data"):
        where.append(where_less(wide.index, wide[name], noise))
        marks += [Mark(x, label=f"ε = {x:.3g}") for x in crossings(wide.index, wide[name], noise)]
    worst, these = where
    return {"title": f"One bit beats Laplace noise for all data {worst}, for these data {these}", "marks": marks}


def sign_loss(table: pd.DataFrame) -> Heading:
    """Tell by what factor the exact loss of the signs exceeds the largest parameter that was enumerated."""
    points = table[table["standard error"].notna()]
    places = list(zip(points["printed parameter"], points["privacy loss (nats)"], strict=True))
    last, most = places[-1]
    marks = [Mark(parameter, loss, f"{loss:.2f}", side="left") for parameter, loss in places]
    title = f"The signs lose more than twice their parameter, {most / last:.2f} times it at {last:g}"
    return {"title": title, "marks": marks}
