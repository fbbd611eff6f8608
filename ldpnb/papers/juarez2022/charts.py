"""Charts and titles of juarez2022 that need more than `curves` and `finding`."""

from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook import Mark, crossings, listed, short, where_less
from ldpnb.papers.juarez2022 import printed
from ldpnb.papers.juarez2022.tables.gaps import BUDGET, LARGEST, RATIO


def claims_not_kept(table: pd.DataFrame, claimed: pd.DataFrame) -> dict[str, Any]:
    """Return a title that names the noise parameters of finite loss, and marks of the delta left at claimed budgets."""
    zero = table[table["exact δ"] <= 1e-12].groupby("k")["ε (nats)"].min()
    finite = [f"k = {k:.3g}" for k in zero.index]
    left = claimed[claimed["exact δ"] > 1e-12].sort_values("exact δ")
    labels = [
        f"δ = {short(y)}" if y in (left["exact δ"].min(), left["exact δ"].max()) else ""
        for y in left["exact δ"]
    ]
    places = list(zip(left["claimed"], left["exact δ"], labels, strict=True))
    marks = [Mark(*place, side="left") for place in places[:-1]] + [
        Mark(*place, side="above") for place in places[-1:]
    ]
    title = f"{f'Only {listed(finite)}' if finite else 'No k drawn'} brings δ to 0, as equation (1) claims at every dot"
    return {"title": title, "marks": marks}


def crossing_budgets(table: pd.DataFrame) -> tuple[dict[str, Any], str]:
    """Return a title and marks, the crossings and those that the source prints, and where M_R is better, by panel."""
    marks, ranges = [Mark(y=1.0)], []
    for panel, part in table.groupby("panel", sort=False):
        ratio, one = part[RATIO].to_numpy(), np.ones(len(part))
        marks += [Mark(x, 1.0, panel=str(panel)) for x in crossings(part[BUDGET], ratio, one)]
        ranges.append(f"{where_less(part[BUDGET].to_numpy(), ratio, one)} with {panel}")
    ends = [printed.value("Figure 1", f"{end}_crossing") for end in ("low", "high")]
    marks += [
        Mark(x, label=f"printed {x:g}", panel="budgets as claimed", printed=True) for x in ends
    ]
    return {"title": f"M_R beats M_L {ranges[-1]}", "marks": marks}, listed(ranges)


def one_sign(table: pd.DataFrame) -> dict[str, Any]:
    """Return a title and marks: where one randomised sign has the least variance."""
    wide = table.pivot_table(index=BUDGET, columns="mechanism", values=LARGEST)
    sign, least = wide["signed bit"], wide.drop(columns="signed bit").min(axis=1)
    places = crossings(wide.index, sign, least)
    heights = np.exp(np.interp(np.log(places), np.log(least.index), np.log(least)))
    marks = [Mark(x, y) for x, y in zip(places, heights.tolist(), strict=True)]
    title = f"One randomised sign has the least variance {where_less(wide.index, sign, least)}"
    return {"title": title, "marks": marks}


def ordinary_draws(table: pd.DataFrame, runs: int) -> tuple[str, str]:
    """Return a title and a sentence: how many printed errors are ordinary draws as published, and as in the code."""
    drawn, laws = table["series"] == "printed", table["series"] != "printed"
    beside = table[laws].merge(table[drawn], on=["panel", BUDGET], suffixes=("", " printed"))
    inside = (beside["high printed"] >= beside["low"]) & (beside["low printed"] <= beside["high"])
    counts = {
        way: f"{part.sum()} of {len(part)}"
        for way, part in inside.groupby(beside["series"], sort=False)
    }
    every = listed(f"{count} ({way})" for way, count in counts.items())
    title = (
        f"{counts['as published']} printed errors are ordinary means of the mechanisms as published"
    )
    return title, f"Of the printed errors {every} lie where 95% of means of {runs} runs fall."
