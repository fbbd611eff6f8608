"""What the figures of lopuhaa2020 find: titles and marks, computed from their tables whatever the parameters."""

from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook import Mark, crossings, listed, short, where_less
from ldpnb.papers.lopuhaa2020.tables.frequencies import EPSILON
from ldpnb.papers.lopuhaa2020.tables.optimality import DISTANCE, LEAST, LIMITING, RELATIVE, SCALED, TO_LIMIT

Said = dict[str, Any]
ERROR = "mean squared error"


def gain_and_guess(table: pd.DataFrame) -> Said:
    """Tell what Norm-Sub and MLE gain at most, and mark where a guess is as good as the best of all three estimates."""
    wide = table.pivot_table(index=["setting", EPSILON], columns="estimator", values=ERROR)
    gain = min((wide["unbiased"] / wide[name]).max() for name in ("Norm-Sub", "MLE"))
    best, marks = wide[["unbiased", "Norm-Sub", "MLE"]].min(axis=1), []
    for panel in dict.fromkeys(table["setting"]):
        guess = wide.loc[panel, "uniform guess"]
        places = crossings(guess.index, guess, best.loc[panel])
        marks += [Mark(x, label=f"a guess is as good\nat ε = {x:.2g}", panel=panel) for x in places]
    return {"title": f"Norm-Sub and MLE cut the error by a factor of up to {short(gain)}", "marks": marks}


def largest_gain(table: pd.DataFrame, panel: str) -> Said:
    """Tell by what factor the MLE beats the unbiased estimate at best, and in which panel."""
    wide = table.pivot_table(index=[panel, EPSILON], columns="estimator", values=ERROR)
    gain = wide["unbiased"] / wide["MLE"]
    where, epsilon = gain.index[int(gain.argmax())]
    factor = f"{short(gain.max())} ({where}, ε = {epsilon:g})"
    return {"title": f"The MLE cuts the error of the unbiased estimate by a factor of up to {factor}"}


def mle_over_norm_sub(table: pd.DataFrame, by: str) -> Said:
    """Tell by how much the MLE beats Norm-Sub at best, and for which value of a column."""
    least = table.groupby(by, sort=False)["ratio"].min()
    gain = f"{max(0.0, 100 * (1 - least.min())):.2g}% ({least.idxmin()})"
    return {"title": f"The MLE errs less than Norm-Sub by up to {gain}", "marks": [Mark(y=1.0)]}


def bounds_for_two_values(table: pd.DataFrame) -> Said:
    """Tell from how many users on (59) is a bound, for each budget."""
    said, marks = [], []
    for budget, part in table.groupby("budget", sort=False):
        wide = part.pivot_table(index="users", columns="quantity", values=TO_LIMIT)
        where = where_less(wide.index, wide["Bayes"], wide[LIMITING], "n")
        said.append(f"{where} if {budget}")
        places = crossings(wide.index, wide["Bayes"], wide[LIMITING])
        marks += [Mark(x, wide[LIMITING].iloc[0], f"n = {np.ceil(x):.0f}", str(budget), side="below") for x in places]
    return {"title": f"The posterior mean errs less than the bound (59) {listed(said)}", "marks": marks}


def bounds_for_many_values(table: pd.DataFrame) -> Said:
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


def guessing(table: pd.DataFrame) -> Said:
    """Tell up to how many users a guess is better than the MLE, for each prior."""
    said = []
    for prior, part in table.groupby("prior", sort=False):
        wide = part.pivot_table(index="users n", columns="estimator", values=LEAST)
        said.append(f"{where_less(wide.index, wide['uniform guess'], wide['MLE'], 'n')} ({prior})")
    return {"title": f"A uniform guess errs less than the MLE {listed(said)}"}


def rates(table: pd.DataFrame) -> Said:
    """Tell by which power of the users the distance falls at the end, for each prior."""
    raised, powers = str.maketrans("-.0123456789", "⁻·⁰¹²³⁴⁵⁶⁷⁸⁹"), []
    for prior, part in table.groupby("prior", sort=False):
        steps = [np.diff(np.log(part[column].to_numpy()))[-1:] for column in (DISTANCE, "users n")]
        powers += [f"n{f'{power:.2f}'.translate(raised)} ({prior})" for power in steps[0] / steps[1]]
    if not powers:
        return {}
    title = "The MLE nears the posterior mean slowly: squared distance over least error falls like"
    return {"title": f"{title} {listed(powers)}"}


def wrong_priors(table: pd.DataFrame) -> Said:
    """Tell between what the error of the posterior mean lies, over that of Norm-Sub."""
    ratio = table.loc[table["estimator"] == "Bayes", "ratio"]
    factor = f"{short(ratio.min(), 2)} to {short(ratio.max(), 2)} times as much as Norm-Sub"
    return {"title": f"The posterior mean errs {factor}: it depends on how its prior fits", "marks": [Mark(y=1.0)]}


def noise_in_a_column(table: pd.DataFrame) -> Said:
    """Tell how large the MLE's typical error is beside the largest share, at each budget."""
    said = []
    for epsilon, part in table[table["estimator"] == "MLE"].groupby(EPSILON, sort=False):
        typical = np.sqrt(((part["estimate"] - part["truth"]) ** 2).mean()) / part["truth"].max()
        said.append(f"{100 * typical:.0f}% at ε = {epsilon:g}")
    return {"title": f"A typical error of the MLE, in per cent of the largest share: {listed(said)}"}


def best_channels(table: pd.DataFrame) -> Said:
    """Tell how near subset selection comes to the best channel."""
    worst = 100 * (table.loc[table["channel"] == "subset selection", RELATIVE].max() - 1)
    return {"title": f"Subset selection comes within {max(worst, 0.01):.1g}% of the least error of any channel"}


def shuffled(table: pd.DataFrame, x: str, y: str) -> Said:
    """Tell which mechanisms err least, to one per cent, for what the shuffled reports lose."""
    curves = {name: np.log(part[[x, y]].sort_values(x).to_numpy()) for name, part in table.groupby("mechanism")}
    low, high = max(c[0, 0] for c in curves.values()), min(c[-1, 0] for c in curves.values())
    places = np.linspace(low, max(low, high), 20)
    errors = pd.DataFrame({name: np.interp(places, c[:, 0], c[:, 1]) for name, c in curves.items()})
    least = errors.le(errors.min(axis=1) + 0.01, axis=0)
    always = [name for name in least if least[name].all()]
    sometimes = [name for name in least if least[name].any()]
    said = f"{listed(always)} at every loss drawn" if always else f"{listed(sometimes)} in turn"
    return {"title": f"Least error for what the shuffled reports lose: {said}"}
