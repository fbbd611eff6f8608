"""What the figures of lopuhaa2020 find: titles and marks, computed from their tables whatever the parameters."""

from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook import Mark, crossings, listed, short, where_less
from ldpnb.papers.lopuhaa2020.tables.frequencies import EPSILON
from ldpnb.papers.lopuhaa2020.tables.optimality import DISTANCE, LEAST, LIMITING, RELATIVE, SCALED, TO_LIMIT, VALID

Said = dict[str, Any]
ERROR = "mean squared error"


def gain_and_guess(table: pd.DataFrame) -> Said:
    """Tell what Norm-Sub and MLE gain at most, and where a guess is better than all three estimates."""
    wide = table.pivot_table(index=["setting", EPSILON], columns="estimator", values=ERROR)
    gain = min((wide["unbiased"] / wide[name]).max() for name in ("Norm-Sub", "MLE"))
    best, marks = wide[["unbiased", "Norm-Sub", "MLE"]].min(axis=1), []
    for panel in dict.fromkeys(table["setting"]):
        guess, least = wide.loc[panel, "uniform guess"], best.loc[panel]
        places = crossings(guess.index, guess, least)
        marks += [Mark(x, float(np.interp(x, guess.index, guess)), f"ε = {x:.2g}", panel) for x in places]
    few = table[table["users"] == table["users"].min()]
    panel, users = few["setting"].iloc[0], few["users"].iloc[0]
    where = where_less(best.loc[panel].index, wide.loc[panel, "uniform guess"], best.loc[panel], digits=2)
    title = f"Norm-Sub and MLE cut the error by a factor of up to {short(gain)}; with {users:,} users"
    return {"title": f"{title} a uniform guess beats them {where}", "marks": marks}


def largest_gains(table: pd.DataFrame, by: str) -> Said:
    """Tell by what factor the MLE beats the unbiased estimate at best, for each value of a column."""
    wide = table.pivot_table(index=[by, "mechanism", EPSILON], columns="estimator", values=ERROR)
    gains = (wide["unbiased"] / wide["MLE"]).groupby(level=0)
    said = [
        f"{short(gain.max())} ({name}, ε = {gain.index.get_level_values(2)[int(gain.argmax())]:g})"
        for name, gain in gains
    ]
    return {"title": f"The MLE cuts the error of the unbiased estimate by a factor of up to {listed(said)}"}


def gains_by_column(table: pd.DataFrame) -> Said:
    """Tell between what the largest factors lie by which the MLE beats the unbiased estimate."""
    wide = table.pivot_table(index=["column", EPSILON], columns="estimator", values=ERROR)
    best = (wide["unbiased"] / wide["MLE"]).groupby(level=0).max()
    said = f"{short(best.min())} to {short(best.max())}, depending on the column"
    return {"title": f"The MLE cuts the error of the unbiased estimate by a factor of up to {said}"}


def mle_over_norm_sub(table: pd.DataFrame, by: str) -> Said:
    """Tell by how much the MLE beats Norm-Sub at best, for each value of a column."""
    least = table.groupby(by, sort=False)["ratio"].min()
    said = [f"{max(0.0, 100 * (1 - ratio)):.2g}% ({name})" for name, ratio in least.items()]
    return {"title": f"The MLE errs less than Norm-Sub by up to {listed(said)}", "marks": [Mark(y=1.0)]}


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
    """Tell where (59) is no bound with the fewest users, and how far what is one lies below the best estimate."""
    said, marks = "", []
    for users, part in table.groupby("users"):
        wide = part.pivot_table(index=EPSILON, columns="quantity", values=SCALED)
        least, limiting = wide[["Bayes", "MLE", "Norm-Sub", "unbiased"]].min(axis=1), wide[LIMITING]
        for x in crossings(wide.index, least, limiting):
            height = float(np.exp(np.interp(x, wide.index, np.log(limiting))))
            marks.append(Mark(x, height, f"ε = {x:.2g}", str(part["setting"].iloc[0])))
        gap, where = least / wide[VALID], where_less(wide.index, least, limiting, digits=2)
        title = f"With {users:,} users an estimate errs less than (59) {where}; what bounds every channel is"
        said = said or f"{title} {short(gap.min())} to {short(gap.max())} times lower"
    return {"title": said, "marks": marks}


def guessing(table: pd.DataFrame) -> Said:
    """Tell up to how many users a guess is better than the MLE, for each prior."""
    said = []
    for prior, part in table.groupby("prior", sort=False):
        wide = part.pivot_table(index="users n", columns="estimator", values=LEAST)
        said.append(f"{where_less(wide.index, wide['uniform guess'], wide['MLE'], 'n')} under {prior}")
    return {"title": f"A uniform guess errs less than the MLE {listed(said)}"}


def rates(table: pd.DataFrame) -> Said:
    """Tell by which power of the users the distance falls at the end, for each prior."""
    said = []
    for prior, part in table.groupby("prior", sort=False):
        steps = [np.diff(np.log(part[column].to_numpy()))[-1:] for column in (DISTANCE, "users n")]
        said += [f"{power:.2f} under {prior}" for power in steps[0] / steps[1]]
    if not said:
        return {}
    return {"title": f"The MLE nears the posterior mean slowly: the distance falls like n to the power {listed(said)}"}


def wrong_priors(table: pd.DataFrame) -> Said:
    """Tell between what the error of the posterior mean lies, over that of Norm-Sub, for each truth."""
    ratios = table[table["estimator"] == "Bayes"].groupby("truth", sort=False)["ratio"]
    said = [f"{short(r.min(), 2)} to {short(r.max(), 2)} ({str(truth).removeprefix('truth: ')})" for truth, r in ratios]
    title = f"A prior helps where it fits: the posterior mean errs {listed(said)} times as much as Norm-Sub"
    return {"title": title, "marks": [Mark(y=1.0)]}


def noise_in_a_column(table: pd.DataFrame) -> Said:
    """Tell how large the MLE's typical error is beside the largest share, at each budget."""
    said = []
    for epsilon, part in table[table["estimator"] == "MLE"].groupby(EPSILON, sort=False):
        typical = np.sqrt(((part["estimate"] - part["truth"]) ** 2).mean()) / part["truth"].max()
        said.append(f"{100 * typical:.0f}% at ε = {epsilon:g}")
    return {"title": f"A typical error of the MLE, in per cent of the largest share: {listed(said)}"}


def best_channels(table: pd.DataFrame) -> Said:
    """Tell how near subset selection comes to the best channel, and from where on k-RR is as good."""
    said, worst = [], 100 * (table.loc[table["channel"] == "subset selection", RELATIVE].max() - 1)
    for case, part in table[table["channel"] == "k-RR"].groupby("case", sort=False):
        good = part.loc[part[RELATIVE] > 1 + max(worst, 0.01) / 100, EPSILON].max()
        from_there = part.loc[part[EPSILON] > good, EPSILON] if np.isfinite(good) else part[EPSILON]
        said.append(f"{f'from ε = {from_there.min():g} on' if len(from_there) else 'nowhere'} ({case})")
    title = f"Subset selection comes within {max(worst, 0.01):.1g}% of the best channel; k-RR does {listed(said)}"
    return {"title": title}


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
