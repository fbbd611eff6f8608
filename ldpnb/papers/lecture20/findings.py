"""What the figures of lecture20 find: titles and marks, computed from their tables whatever the parameters."""

from typing import Any

import pandas as pd

from ldpnb.notebook import Mark, crossings, where_less

Heading = dict[str, Any]
"""Title and marks, for `ldpnb.notebook.curves`."""

EPSILON = "epsilon (nats)"


def one_bit(table: pd.DataFrame, y: str) -> Heading:
    """Tell where one bit is better than Laplace noise at its worst data, and mark that for those drawn too."""
    wide = table.pivot_table(index=EPSILON, columns="mechanism", values=y)
    noise, worst = wide["local Laplace"], wide["1-bit, worst data"]
    places = [x for one in (worst, wide["1-bit, these data"]) for x in crossings(wide.index, one, noise)]
    title = f"One bit beats Laplace noise for all data {where_less(wide.index, worst, noise)}"
    return {"title": title, "marks": [Mark(x, label=f"ε = {x:.3g}") for x in places]}


def sign_loss(table: pd.DataFrame) -> Heading:
    """Tell by what factor the exact loss of the signs exceeds the largest parameter that was enumerated."""
    points = table[table["standard error"].notna()]
    places = list(zip(points["printed parameter"], points["privacy loss (nats)"], strict=True))
    last, most = places[-1]
    marks = [Mark(parameter, loss, f"{loss:.2f}", side="left") for parameter, loss in places]
    title = f"The signs lose more than twice their parameter, {most / last:.2f} times it at {last:g}"
    return {"title": title, "marks": marks}
