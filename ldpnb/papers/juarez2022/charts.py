"""Titles and marks of Juarez and Korolova's figures that need more than `finding`."""

from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook import Mark, crossings, listed, where_less
from ldpnb.papers.juarez2022 import printed
from ldpnb.papers.juarez2022.tables.gaps import BUDGET, LARGEST, RATIO

_NEGLIGIBLE = 1e-12


def claims_not_kept(table: pd.DataFrame, claimed: pd.DataFrame) -> dict[str, Any]:
    """Name the noise parameters whose loss is finite, and mark the delta at claimed budgets."""
    negligible = table[table["exact δ"] <= _NEGLIGIBLE]
    finite = [f"k = {k:.3g}" for k in negligible.groupby("k")["ε (nats)"].min().index]
    which = f"Only {listed(finite)}" if finite else "No k shown"

    left = claimed[claimed["exact δ"] > _NEGLIGIBLE].sort_values("exact δ")
    marks = []
    for x, y in zip(left["claimed"], left["exact δ"], strict=True):
        marks.append(Mark(x, y, f"δ = {y:.2g}"))

    return {
        "title": f"{which} brings δ to 0, as equation (1) claims at every dot",
        "marks": marks,
    }


def crossing_budgets(table: pd.DataFrame) -> tuple[dict[str, Any], str]:
    """Return title and marks, and a list of where M_R is better, by panel.

    The marks are the crossings and those that the source prints.
    """
    marks = [Mark(y=1.0)]
    ranges = []
    for panel, part in table.groupby("panel", sort=False):
        budgets = part[BUDGET].to_numpy()
        ratio = part[RATIO].to_numpy()
        one = np.ones(len(part))
        ranges.append(f"{where_less(budgets, ratio, one)} with {panel}")
        for x in crossings(budgets, ratio, one):
            marks.append(Mark(x, 1.0, f"ε = {x:.3g}", str(panel)))

    for end in ("low", "high"):
        x = printed.value("Figure 1", f"{end}_crossing")
        marks.append(Mark(x, label=f"printed {x:g}", panel="budgets as claimed", printed=True))
    return {"title": f"M_R beats M_L {ranges[-1]}", "marks": marks}, listed(ranges)


def one_sign(table: pd.DataFrame) -> dict[str, Any]:
    """Return title and marks: where the signed bit has the least variance."""
    wide = table.pivot_table(index=BUDGET, columns="mechanism", values=LARGEST)
    sign = wide["signed bit"]
    others = wide.drop(columns="signed bit").min(axis=1)

    places = crossings(wide.index, sign, others)
    heights = np.exp(np.interp(np.log(places), np.log(others.index), np.log(others)))
    where = where_less(wide.index, sign, others)

    marks = []
    for x, y in zip(places, heights.tolist(), strict=True):
        marks.append(Mark(x, y, f"ε = {x:.3g}"))
    return {
        "title": f"The signed bit has the least variance {where}",
        "marks": marks,
    }


def ordinary_draws(table: pd.DataFrame, runs: int) -> tuple[str, str]:
    """Return a title and a sentence: how many printed errors are ordinary draws.

    They are compared with the mechanisms as published, and as in the code.
    """
    is_printed = table["series"] == "printed"
    beside = table[~is_printed].merge(
        table[is_printed], on=["panel", BUDGET], suffixes=("", " printed")
    )
    inside = (beside["high printed"] >= beside["low"]) & (beside["low printed"] <= beside["high"])

    counts = {}
    for way, part in inside.groupby(beside["series"], sort=False):
        counts[way] = f"{part.sum()} of {len(part)}"
    every = listed(f"{count} ({way})" for way, count in counts.items())

    return (
        f"{counts['as published']} printed errors are ordinary means of the mechanisms "
        "as published",
        f"Of the printed errors {every} lie where 95% of means of {runs} runs fall.",
    )
