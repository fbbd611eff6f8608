"""What the figures of juarez2022 find: titles and marks, computed from their tables whatever the parameters."""

from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook import Mark, crossings, listed, short, where_less
from ldpnb.papers.juarez2022 import printed
from ldpnb.papers.juarez2022.tables.gap_errors import LARGEST, RATIO
from ldpnb.papers.juarez2022.tables.gaps import BUDGET

Said = dict[str, Any]


def excess(table: pd.DataFrame, x: str, *, at: float = 1.0) -> Said:
    """Tell how much more than its claim M_R loses, at one budget and at most."""
    wide = table.pivot_table(index=x, columns="what", values="value")[list(dict.fromkeys(table["what"]))]
    values = [float(np.interp(np.log(at), np.log(wide.index), wide[what])) for what in wide]
    more, most = (f"{100 * value:.0f}%" for value in (values[0], wide.iloc[:, 0].max()))
    title = f"M_R loses {more} more than it claims at ε = {at:g}, and up to {most}"
    return {"title": title, "marks": [Mark(at, v, f"{v:.2f} at ε = {at:g}", side="right") for v in values]}


def claims_not_kept(table: pd.DataFrame, claimed: pd.DataFrame) -> Said:
    """Tell for which noise parameters the loss is finite, and mark what is left of delta at each claimed budget."""
    zero = table[table["exact δ"] <= 1e-12].groupby("k")["ε (nats)"].min()
    said = [f"k = {k:.3g} (from ε = {short(epsilon)} on)" for k, epsilon in zero.items()]
    left = claimed[claimed["exact δ"] > 1e-12].sort_values("exact δ")
    places = list(zip(left["claimed"], left["exact δ"], strict=True))
    marks = [Mark(x, y, f"δ = {short(y)}", side="above") for x, y in places[-1:]]
    marks += [Mark(x, y, f"δ = {short(y)}", side="below") for x, y in places[:-1][:1]]
    title = f"Only {listed(said)} brings δ to 0" if said else "No k drawn brings δ to 0"
    return {"title": f"{title}; at the dots equation (1) claims δ = 0", "marks": marks}


def crossing_budgets(table: pd.DataFrame) -> Said:
    """Tell where M_R is better than M_L, as claimed and with budgets kept, and mark what the source prints."""
    marks, said = [Mark(y=1.0)], []
    for panel, part in table.groupby("panel", sort=False):
        ratio, one = part[RATIO].to_numpy(), np.ones(len(part))
        marks += [Mark(x, 1.0, f"{x:.3g}", str(panel)) for x in crossings(part[BUDGET], ratio, one)]
        said.append(f"{where_less(part[BUDGET].to_numpy(), ratio, one)} with {panel}")
    ends = [printed.value("Figure 1", f"{end}_crossing") for end in ("low", "high")]
    marks += [Mark(x, label=f"printed {x:g}", panel="budgets as claimed", printed=True) for x in ends]
    return {"title": f"M_R beats M_L {listed(said)}", "marks": marks}


def minorities(table: pd.DataFrame) -> Said:
    """Tell what the smallest share costs."""
    small = table[table["share"] == table["share"].min()]
    low, high = (short(value) for value in (small["factor"].min(), small["factor"].max()))
    return {"title": f"A group of {small['label'].iloc[0]} has {low} to {high} times the variance of equal groups"}


def wrong_sizes(table: pd.DataFrame) -> Said:
    """Tell by what the largest error of the sizes multiplies that of the gap."""
    error = "relative error of the assumed sizes"
    last = table[table[error] == table[error].max()].drop_duplicates("mean")
    factors = last["root mean squared error of the gap"] / last["with known sizes"]
    said = [f"{short(f)} (means of {mean:g})" for f, mean in zip(factors, last["mean"], strict=True)]
    return {"title": f"Sizes wrong by {100 * last[error].iloc[0]:g}% multiply the error of the gap by {listed(said)}"}


def chosen_noise(table: pd.DataFrame, y: str) -> Said:
    """Tell what the source's choice of k costs, and mark it."""
    chosen = table[table["chosen"]]
    said = [f"{max(0.0, 100 * (v - 1)):.2g}% ({e})" for v, e in zip(chosen[y], chosen["budget"], strict=True)]
    places = zip(chosen["noise parameter k"], chosen[y], strict=True)
    marks = [Mark(k, value, f"k = {k:.3g}", printed=True) for k, value in places]
    return {"title": f"The source's k costs {listed(said)} more variance than the best", "marks": marks}


def told_apart(table: pd.DataFrame) -> Said:
    """Tell where the reports of M_L give its clients away more surely than its claimed budget allows."""
    wide = table.pivot_table(index="claimed budget ε (nats)", columns="quantity", values="probability")
    allowed, apart, delta = (
        wide[name] for name in ("most that ε allows", "total variation distance", "δ at the claimed ε")
    )
    title = f"M_L lets clients be told apart more surely than it claims {where_less(wide.index, allowed, apart)}"
    return {"title": f"{title}: its δ there is up to {delta.max():.2g}"}


def printed_budgets(cells: pd.DataFrame, lines: pd.DataFrame, saved: pd.Series) -> Said:
    """Tell how many printed budgets are those claimed, what M_R loses, and what sharper tails save."""
    wide = lines[lines["mechanism"] == "M_R"].pivot_table(index="target K α²", columns="way", values=BUDGET)
    finite = cells[np.isfinite(cells["printed"])]
    said = [f"{finite['agrees'].sum()} of {len(finite)} printed budgets are those claimed"]
    if "lost" in wide:
        said.append(f"M_R loses up to {100 * ((wide['lost'] / wide['claimed']).max() - 1):.0f}% more")
    if len(saved):
        said.append(f"sharper tails need {100 * saved.min():.0f} to {100 * saved.max():.0f}% less")
    return {"title": "; ".join(said)}


def settled(table: pd.DataFrame) -> Said:
    """Tell how near the empirical errors are to the exact ones after all runs."""
    last = table[table["runs"] == table["runs"].max()]
    wide = last.pivot_table(index="quantity", columns="way", values="mean squared error")
    said = [f"{ratio:.3f} ({quantity})" for quantity, ratio in (wide["empirical"] / wide["exact"]).items()]
    return {"title": f"After {last['runs'].iloc[0]:,} runs the empirical error is {listed(said)} times the exact one"}


def ordinary_draws(table: pd.DataFrame, runs: int) -> Said:
    """Tell how many printed errors are ordinary draws of the mechanisms as published, and as in the code."""
    places = ["panel", "label"]
    printed, laws = table["series"] == "printed", table["series"] != "printed"
    beside = table[laws].merge(table[printed], on=places, suffixes=("", " printed"))
    inside = (beside["high printed"] >= beside["low"]) & (beside["low printed"] <= beside["high"])
    said = [f"{part.sum()} of {len(part)} ({way})" for way, part in inside.groupby(beside["series"], sort=False)]
    return {"title": f"Of the printed errors {listed(said)} lie where 95% of means of {runs} runs fall"}


def group_means(table: pd.DataFrame) -> Said:
    """Tell by how much the groups' mean rates differ."""
    said = []
    for metric, part in table.groupby("metric", sort=False):
        means = part.groupby("group", sort=False)["rate"].mean().sort_values()
        said.append(f"{metric} is {means.iloc[-1] - means.iloc[0]:.2f} higher for {means.index[-1]} clients")
    return {"title": f"Under one classifier the {listed(said)}"}


def slack(table: pd.DataFrame) -> Said:
    """Tell how far the bound lies above the expected error."""
    wide = table.pivot_table(index=["mechanism", BUDGET], columns="way", values="error of the gap")
    ratio = wide["bound"] / wide["expected error"]
    return {"title": f"The bound is {short(ratio.min())} to {short(ratio.max())} times the expected error"}


def one_sign(table: pd.DataFrame) -> Said:
    """Tell where one randomised sign has the least variance."""
    wide = table.pivot_table(index=BUDGET, columns="mechanism", values=LARGEST)
    least = wide.drop(columns="signed bit").min(axis=1)
    places = crossings(wide.index, wide["signed bit"], least)
    marks = [
        Mark(x, float(np.exp(np.interp(np.log(x), np.log(least.index), np.log(least)))), f"ε = {x:.3g}") for x in places
    ]
    where = where_less(wide.index, wide["signed bit"], least)
    return {"title": f"One randomised sign per client has the least variance {where}", "marks": marks}


def wasted_length(table: pd.DataFrame) -> Said:
    """Tell how rarely the clipped interval misses, and how much longer it is."""
    missed, length = (table.loc[table["quantity"] == name, "value"] for name in dict.fromkeys(table["quantity"]))
    title = f"The interval cut off at 0 misses as rarely as {missed.min():.2g} times the allowed chance"
    return {"title": f"{title}, and is up to {100 * (length.max() - 1):.1f}% longer", "marks": [Mark(y=1.0)]}


def repaired(table: pd.DataFrame) -> Said:
    """Tell from which dropout on estimated group sizes err less than known ones."""
    share = str(table.columns[0])
    exact = table[table["standard error"].isna()]
    wide = exact.pivot_table(index=share, columns="sizes", values="root mean squared error")
    worse = wide.index[wide["estimated sizes"] >= wide["Definition 5.1"]]
    better = wide.index[wide.index > worse.max()] if len(worse) else wide.index
    where = f"from a dropout of {100 * better.min():g}% on" if len(better) else "at no dropout drawn"
    return {"title": f"Estimated group sizes err less than those of all clients {where}"}


def unbeaten(table: pd.DataFrame, y: str) -> Said:
    """Tell what one sign and M_R cost at most beside the best channel, the better of both and either alone."""
    wide = table.pivot_table(index=["panel", BUDGET], columns="mechanism", values=y)
    either = [f"{name} alone up to {short(column.max())}" for name, column in wide.items()]
    title = (
        f"The better of both has up to {short(wide.min(axis=1).max())} times the least variance of channels of signs"
    )
    return {"title": f"{title}, {listed(either)}", "marks": [Mark(y=1.0)]}
