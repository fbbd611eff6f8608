"""What the figures of lopuhaa2020 find: title and marks for `curves`, from their tables whatever the parameters."""

from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook import Mark, crossings, short, where_less
from ldpnb.notebook.charts import Chart, Layer
from ldpnb.papers.lopuhaa2020.tables.frequencies import EPSILON
from ldpnb.papers.lopuhaa2020.tables.optimality import LIMITING, SCALED, TO_LIMIT


def gain_and_guess(table: pd.DataFrame) -> dict[str, Any]:
    """Tell what Norm-Sub and MLE gain at most, and mark where a guess is as good as the best of all three estimates."""
    wide = table.pivot_table(
        index=["setting", EPSILON], columns="estimator", values="mean squared error"
    )
    gain = min((wide["unbiased"] / wide[name]).max() for name in ("Norm-Sub", "MLE"))
    best, marks = wide[["unbiased", "Norm-Sub", "MLE"]].min(axis=1), []
    for panel in dict.fromkeys(table["setting"]):
        guess = wide.loc[panel, "uniform guess"]
        places = crossings(guess.index, guess, best.loc[panel])
        marks += [Mark(x, label=f"a guess is as good\nat ε = {x:.2g}", panel=panel) for x in places]
    return {
        "title": f"Norm-Sub and MLE cut the error by a factor of up to {short(gain)}",
        "marks": marks,
    }


def bounds_for_two_values(table: pd.DataFrame) -> dict[str, Any]:
    """Tell from how many users on (59) is a bound at the first budget, and mark it for each."""
    titles, marks = [], []
    for budget, part in table.groupby("budget", sort=False):
        wide = part.pivot_table(index="users", columns="quantity", values=TO_LIMIT)
        where = where_less(wide.index, wide["Bayes"], wide[LIMITING], "n")
        titles.append(f"At {budget} the posterior mean errs less than the bound (59) {where}")
        places = crossings(wide.index, wide["Bayes"], wide[LIMITING])
        marks += [
            Mark(x, wide[LIMITING].iloc[0], f"n = {np.ceil(x):.0f}", str(budget), side="below")
            for x in places
        ]
    return {"title": titles[0], "marks": marks}


def bounds_for_many_values(table: pd.DataFrame) -> dict[str, Any]:
    """Tell where (59) is no bound with the fewest users, and mark from where on it is one."""
    titles, marks = [], []
    for users, part in table.groupby("users"):
        wide = part.pivot_table(index=EPSILON, columns="quantity", values=SCALED)
        least, limiting = wide[["Bayes", "MLE", "Norm-Sub", "unbiased"]].min(axis=1), wide[LIMITING]
        places, panel = crossings(wide.index, least, limiting), str(part["setting"].iloc[0])
        marks += [Mark(x, label=f"least error = (59) at ε = {x:.2g}", panel=panel) for x in places]
        where = where_less(wide.index, least, limiting, digits=2)
        titles.append(f"With {users:,} users an estimate errs less than the bound (59) {where}")
    return {"title": titles[0], "marks": marks}


def estimated_column(
    table: pd.DataFrame, *, xlabel: str, title: str = "", setting: str = ""
) -> Chart:
    """Draw, per budget and estimator, true frequencies and an estimate, as `frequencies.one_run` has."""
    layers = (Layer(name="estimate", y="estimate", mark="points"), Layer(name="truth", y="truth"))
    panel, scale = (
        (EPSILON, "estimator"),
        "category" if isinstance(table["value"].iloc[0], str) else "linear",
    )
    axes: dict[str, Any] = {"xlabel": xlabel, "layers": layers, "panel": panel, "xscale": scale}
    return Chart(table, "value", "frequency", **axes, title=title, setting=setting)
