"""Charts and titles of juarez2022 that need more than `curves` and `finding`."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook import Mark, crossings, listed, look, short, where_less
from ldpnb.notebook.annotations import head
from ldpnb.notebook.encoding import Encoding, keep
from ldpnb.notebook.figures import legend
from ldpnb.papers.juarez2022 import printed
from ldpnb.papers.juarez2022.tables.gap_errors import LARGEST, RATIO
from ldpnb.papers.juarez2022.tables.gaps import BUDGET

_SERIES = tuple(look(name) for name in ("exact", "upper bound"))
_TRUTH = look("truth").colour
_STAR = {"color": _TRUTH, "marker": "*", "markersize": 9, "linestyle": "none"}


def claims_not_kept(table: pd.DataFrame, claimed: pd.DataFrame) -> dict[str, Any]:
    """Return a title that names the noise parameters of finite loss, and marks of the delta left at claimed budgets."""
    zero = table[table["exact δ"] <= 1e-12].groupby("k")["ε (nats)"].min()
    finite = [f"k = {k:.3g} (from ε = {short(epsilon)} on)" for k, epsilon in zero.items()]
    left = claimed[claimed["exact δ"] > 1e-12].sort_values("exact δ")
    places = list(zip(left["claimed"], left["exact δ"], strict=True))
    marks = [Mark(x, y, f"δ = {short(y)}", side="above") for x, y in places[-1:]]
    marks += [Mark(x, y, f"δ = {short(y)}", side="left") for x, y in places[:-1][:1]]
    title = f"Only {listed(finite)} brings δ to 0" if finite else "No k drawn brings δ to 0"
    return {"title": f"{title}; at the dots equation (1) claims δ = 0", "marks": marks}


def crossing_budgets(table: pd.DataFrame) -> dict[str, Any]:
    """Return a title and marks: where M_R is better than M_L, by panel, and the crossings that the source prints."""
    marks, ranges = [Mark(y=1.0)], []
    for panel, part in table.groupby("panel", sort=False):
        ratio, one = part[RATIO].to_numpy(), np.ones(len(part))
        marks += [Mark(x, 1.0, panel=str(panel)) for x in crossings(part[BUDGET], ratio, one)]
        ranges.append(f"{where_less(part[BUDGET].to_numpy(), ratio, one)} with {panel}")
    ends = [printed.value("Figure 1", f"{end}_crossing") for end in ("low", "high")]
    marks += [Mark(x, label=f"printed {x:g}", panel="budgets as claimed", printed=True) for x in ends]
    return {"title": f"M_R beats M_L {listed(ranges)}", "marks": marks}


def one_sign(table: pd.DataFrame) -> dict[str, Any]:
    """Return a title and marks: where one randomised sign has the least variance."""
    wide = table.pivot_table(index=BUDGET, columns="mechanism", values=LARGEST)
    sign, least = wide["signed bit"], wide.drop(columns="signed bit").min(axis=1)
    places = crossings(wide.index, sign, least)
    heights = np.exp(np.interp(np.log(places), np.log(least.index), np.log(least)))
    marks = [Mark(x, y, f"ε = {x:.3g}", side="below") for x, y in zip(places, heights.tolist(), strict=True)]
    return {
        "title": f"One randomised sign has the least variance {where_less(wide.index, sign, least)}",
        "marks": marks,
    }


def ordinary_draws(table: pd.DataFrame, runs: int) -> str:
    """Return a title: how many printed errors are ordinary draws of the mechanisms as published, and as in the code."""
    drawn, laws = table["series"] == "printed", table["series"] != "printed"
    beside = table[laws].merge(table[drawn], on=["panel", "label"], suffixes=("", " printed"))
    inside = (beside["high printed"] >= beside["low"]) & (beside["low printed"] <= beside["high"])
    counts = [f"{part.sum()} of {len(part)} ({way})" for way, part in inside.groupby(beside["series"], sort=False)]
    return f"Of the printed errors {listed(counts)} lie where 95% of means of {runs} runs fall"


def client_rates(table: pd.DataFrame, *, setting: str) -> Figure:
    """Draw every client's rate as a dot per group, with the group's mean as a bar, a panel per metric.

    A row of ``metric, group, rate, offset`` per client; `offset` spreads the dots sideways.
    """
    metrics, groups = list(dict.fromkeys(table["metric"])), list(dict.fromkeys(table["group"]))
    figure, axes = plt.subplots(1, len(metrics), figsize=(7.0, 3.2), sharey=True, squeeze=False)
    gaps, marks = [], []
    for axis, metric in zip(axes[0], metrics, strict=True):
        means = table[table["metric"] == metric].groupby("group", sort=False)["rate"].mean()
        gaps.append(f"the {metric} is {means.max() - means.min():.2f} higher for {means.idxmax()} clients")
        for i, group in enumerate(groups):
            rows, mean = table[(table["metric"] == metric) & (table["group"] == group)], float(means[group])
            axis.plot(i + rows["offset"], rows["rate"], **_dots(i), alpha=0.6, markersize=4)
            axis.hlines(mean, i - 0.35, i + 0.35, color=_TRUTH, linewidth=2)
            at = {"textcoords": "offset points", "va": "center", "fontsize": 8, "fontweight": "bold"}
            axis.annotate(f"{mean:.2f}", (i + 0.35, mean), (3, 0), **at)
            marks.append(Mark(y=mean, label=f"{group}: {mean:.2f}", panel=metric))
        axis.set(title=metric, xticks=range(len(groups)), xlim=(-0.6, len(groups) - 0.4))
        axis.set_xticklabels([f"{group} ({(table['group'] == group).sum() // len(metrics)})" for group in groups])
    axes[0, 0].set_ylabel("rate of one client")
    head(figure, f"Under one classifier {listed(gaps)}", setting)
    words: dict[str, Any] = {"by": "group", "panel": "metric", "mark": "points", "xscale": "category", "xlabel": ""}
    words |= {"ylabel": "rate of one client", "aside": "offset", "marks": tuple(marks)}
    return keep(figure, table, Encoding(x="group", y="rate", **words))


def _dots(position: int) -> dict[str, Any]:
    return {"color": _SERIES[position].colour, "marker": _SERIES[position].marker, "linestyle": "none"}


def ranges(table: pd.DataFrame, *, ylabel: str, title: str, setting: str) -> Figure:
    """Draw bars from `low` to `high` with a mark in the `middle`, by panel, label and series; printed values are stars.

    Columns are ``panel, label, series, low, middle, high``; labels stand side by side in order of appearance.
    """
    names, labels = list(dict.fromkeys(table["panel"])), list(dict.fromkeys(table["label"]))
    figure, axes = plt.subplots(1, len(names), figsize=(3.5 * len(names), 3.6), sharey=True, squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        part = table[table["panel"] == name]
        kinds = sorted(dict.fromkeys(part["series"]), key="printed".__eq__)
        for i, kind in enumerate(kinds):
            rows = part[part["series"] == kind]
            at = np.array([labels.index(label) for label in rows["label"]]) + 0.22 * (i - (len(kinds) - 1) / 2)
            bars = np.abs(rows[["low", "high"]].to_numpy().T - rows["middle"].to_numpy())
            axis.errorbar(at, rows["middle"], bars, **(_STAR if kind == "printed" else _dots(i)), label=kind)
        axis.set(title=name, xticks=range(len(labels)), xlabel=BUDGET)
        axis.set_ylim(bottom=0)
        axis.set_xticklabels(labels)
    legend(figure, axes[0])
    axes[0, 0].set_ylabel(ylabel)
    head(figure, title, setting)
    words: dict[str, Any] = {"by": "series", "panel": "panel", "mark": "points", "band": ("low", "high")}
    words |= {"xscale": "category", "xlabel": BUDGET, "ylabel": ylabel}
    return keep(figure, table, Encoding(x="label", y="middle", **words))
