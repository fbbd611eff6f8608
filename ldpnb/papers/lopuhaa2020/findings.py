"""What the figures of lopuhaa2020 find: titles and marks, computed from their tables whatever the parameters."""

from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook import Mark, crossings, listed, short, where_less
from ldpnb.papers.lopuhaa2020.tables.frequencies import EPSILON
from ldpnb.papers.lopuhaa2020.tables.optimality import LEAST, LIMITING, SCALED, TO_LIMIT

Heading = dict[str, Any]
"""Title and marks, for `ldpnb.notebook.curves`."""

ERROR = "mean squared error"


def gain_and_guess(table: pd.DataFrame) -> Heading:
    """Tell what Norm-Sub and MLE gain at most, and mark where a guess is as good as the best of all three estimates."""
    wide = table.pivot_table(index=["setting", EPSILON], columns="estimator", values=ERROR)
    gain = min((wide["unbiased"] / wide[name]).max() for name in ("Norm-Sub", "MLE"))
    best, marks = wide[["unbiased", "Norm-Sub", "MLE"]].min(axis=1), []
    for panel in dict.fromkeys(table["setting"]):
        guess = wide.loc[panel, "uniform guess"]
        places = crossings(guess.index, guess, best.loc[panel])
        marks += [Mark(x, label=f"a guess is as good\nat ε = {x:.2g}", panel=panel) for x in places]
    return {"title": f"Norm-Sub and MLE cut the error by a factor of up to {short(gain)}", "marks": marks}


def bounds_for_two_values(table: pd.DataFrame) -> Heading:
    """Tell from how many users on (59) is a bound at the first budget, and mark it for each."""
    titles, marks = [], []
    for budget, part in table.groupby("budget", sort=False):
        wide = part.pivot_table(index="users", columns="quantity", values=TO_LIMIT)
        where = where_less(wide.index, wide["Bayes"], wide[LIMITING], "n")
        titles.append(f"At {budget} the posterior mean errs less than the bound (59) {where}")
        places = crossings(wide.index, wide["Bayes"], wide[LIMITING])
        marks += [Mark(x, wide[LIMITING].iloc[0], f"n = {np.ceil(x):.0f}", str(budget), side="below") for x in places]
    return {"title": titles[0], "marks": marks}


def bounds_for_many_values(table: pd.DataFrame) -> Heading:
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


def guessing(table: pd.DataFrame) -> Heading:
    """Tell up to how many users a guess is better than the MLE, for each prior."""
    sentences = []
    for prior, part in table.groupby("prior", sort=False):
        wide = part.pivot_table(index="users n", columns="estimator", values=LEAST)
        sentences.append(f"{where_less(wide.index, wide['uniform guess'], wide['MLE'], 'n')} ({prior})")
    return {"title": f"A uniform guess errs less than the MLE {listed(sentences)}"}


def noise_in_a_column(table: pd.DataFrame) -> Heading:
    """Tell how large the MLE's typical error is beside the largest share, at the first budget."""
    epsilon = table[EPSILON].iloc[0]
    drawn = table[(table["estimator"] == "MLE") & (table[EPSILON] == epsilon)]
    typical = np.sqrt(((drawn["estimate"] - drawn["truth"]) ** 2).mean()) / drawn["truth"].max()
    return {"title": f"At ε = {epsilon:g} the MLE's typical error is {100 * typical:.0f}% of the largest share"}
