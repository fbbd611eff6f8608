"""The titles and marks of the figures of Lopuhaä-Zwakenberg et al.

Each function takes the table of a figure and returns title and marks for `curves`. They are
computed from the table, so they are true for other parameters too.
"""

from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook import Mark, crossings, short, where_less
from ldpnb.notebook.charts import Chart, Layer
from ldpnb.papers.lopuhaa2020.tables.frequencies import EPSILON
from ldpnb.papers.lopuhaa2020.tables.optimality import LIMITING, SCALED, TO_LIMIT


def gain_and_guess(table: pd.DataFrame) -> dict[str, Any]:
    """Tell what Norm-Sub and the MLE gain at most, and mark where guessing is as good as both."""
    errors = table.pivot_table(
        index=["setting", EPSILON], columns="estimator", values="mean squared error"
    )
    of_norm_sub = (errors["unbiased"] / errors["Norm-Sub"]).max()
    of_mle = (errors["unbiased"] / errors["MLE"]).max()
    best = errors[["unbiased", "Norm-Sub", "MLE"]].min(axis=1)

    marks = []
    for panel in dict.fromkeys(table["setting"]):
        guess = errors.loc[panel, "uniform guess"]
        for x in crossings(guess.index, guess, best.loc[panel]):
            marks.append(Mark(x, label=f"a guess is as good\nat ε = {x:.2g}", panel=panel))

    return {
        "title": "Norm-Sub and the MLE divide the unbiased estimate's error by up to "
        f"{short(of_norm_sub)} and {short(of_mle)}",
        "marks": marks,
    }


def bounds_for_two_values(table: pd.DataFrame) -> dict[str, Any]:
    """Say how many users it takes until (59) is a bound, and mark it for each budget.

    The title speaks of the first budget.
    """
    titles = []
    marks = []
    for budget, part in table.groupby("budget", sort=False):
        wide = part.pivot_table(index="users", columns="quantity", values=TO_LIMIT)
        where = where_less(wide.index, wide["Bayes"], wide[LIMITING], "n")
        titles.append(f"At {budget} the posterior mean errs less than the bound (59) {where}")

        height = wide[LIMITING].iloc[0]
        for x in crossings(wide.index, wide["Bayes"], wide[LIMITING]):
            marks.append(Mark(x, height, f"n = {np.ceil(x):.0f}", str(budget), side="below"))
    return {"title": titles[0], "marks": marks}


def bounds_for_many_values(table: pd.DataFrame) -> dict[str, Any]:
    """Say where (59) is no bound with the fewest users, and mark where it becomes one.

    The marks are for errors over (59).
    """
    titles = []
    marks = [Mark(y=1.0, label="bound (59)")]
    for users, part in table.groupby("users"):
        wide = part.pivot_table(index=EPSILON, columns="quantity", values=SCALED)
        least = wide[["Bayes", "MLE", "Norm-Sub", "unbiased"]].min(axis=1)
        where = where_less(wide.index, least, wide[LIMITING], digits=2)
        titles.append(f"With {users:,} users an estimate errs less than the bound (59) {where}")

        panel = str(part["setting"].iloc[0])
        for x in crossings(wide.index, least, wide[LIMITING]):
            marks.append(Mark(x, label=f"a bound from\nε = {x:.2g} on", panel=panel))
    return {"title": titles[0], "marks": marks}


def estimated_column(
    table: pd.DataFrame, *, xlabel: str, title: str = "", setting: str = ""
) -> Chart:
    """Draw true frequencies and an estimate, per budget and estimator.

    The table is one that `frequencies.one_run` returns.
    """
    has_names = isinstance(table["value"].iloc[0], str)

    return Chart(
        table,
        "value",
        "frequency",
        xlabel=xlabel,
        xscale="category" if has_names else "linear",
        layers=(
            Layer(name="estimate", y="estimate", mark="points"),
            Layer(name="truth", y="truth"),
        ),
        panel=(EPSILON, "estimator"),
        title=title,
        setting=setting,
    )
