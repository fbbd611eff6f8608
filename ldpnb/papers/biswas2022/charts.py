"""Drawings for biswas2022: each says in its title what its table shows."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ldpnb.notebook.annotations import Mark, head
from ldpnb.notebook.encoding import Encoding, Layer, keep
from ldpnb.notebook.figures import curves, legend, look, size
from ldpnb.notebook.prose import short
from ldpnb.papers.biswas2022.tables.participation import BY_VALUE
from ldpnb.papers.biswas2022.tables.personalised import BUDGET, CHOSEN, RELATIVE
from ldpnb.papers.biswas2022.tables.sampling import DISTANCE, PROJECTED, RATE, RAW, lowest_against_highest
from ldpnb.papers.biswas2022.tables.shuffling import CENTRAL, LAPLACE, LOCAL, RARE

Table = Any
"""A DataFrame, of whose cells the checker of types need know nothing."""

_LAYERS = (
    Layer(name="mean ± 2 sd (exact)", y="expected", mark="band", error="standard_deviation"),
    Layer(name="estimate", y="estimate", mark="points"),
    Layer(name="truth", y="truth"),
)

NAMES = 20
"""Values without an order that are drawn at most."""
BANDS = "bands: exact mean with two standard deviations"


def estimated_histograms(table: Table, *, row: str = "sampling_rate", title: str = "", setting: str = "") -> Figure:
    """Draw the truth, the exact mean with two standard deviations, and one estimate.

    A row of panels per entry of the column `row`, a column per estimator; `table` is of the kind that
    `ldpnb.papers.biswas2022.tables.sampling.estimates` returns.
    """
    settings, names = list(dict.fromkeys(table[row])), list(dict.fromkeys(table["estimator"]))
    named, shape = not pd.api.types.is_numeric_dtype(table["value"]), (len(settings), len(names))
    if named and table["value"].nunique() > NAMES:
        setting += f"; the {NAMES} commonest values"
    shared: dict[str, Any] = {"sharex": True, "sharey": True, "squeeze": False}
    figure, axes = plt.subplots(*shape, figsize=size(1.4 + 1.8 * len(settings)), **shared)
    for line, value in zip(axes, settings, strict=True):
        for axis, name in zip(line, names, strict=True):
            rows = table[(table[row] == value) & (table["estimator"] == name)]
            (_named_panel if named else _panel)(axis, rows, name)
        line[0].set_ylabel(str(value) if isinstance(value, str) else f"π = {value:g}")
    for axis, name in zip(axes[0], names, strict=True):
        axis.set_title(name)
    for axis in axes[-1]:
        axis.set_xlabel("value")
    figure.supylabel("users holding the value", size="medium")
    head(figure, title, setting)
    legend(figure, axes[0, :1])
    shown: dict[str, Any] = {"columns": len(names), "layers": _LAYERS} | ({"xscale": "category"} if named else {})
    return keep(figure, table, Encoding(x="value", y="users holding the value", panel=(row, "estimator"), **shown))


def _named_panel(axis: Axes, rows: Table, name: str) -> None:
    """Draw the commonest names, which no line joins."""
    rows, colour = rows.head(NAMES), look(name).colour
    value, spread = rows["value"], 2 * rows["standard_deviation"]
    points: dict[str, Any] = {"linestyle": "none"}
    band: dict[str, Any] = {"ecolor": colour, "elinewidth": 6, "alpha": 0.25, "label": "mean ± 2 sd (exact)"}
    axis.errorbar(value, rows["expected"], spread, **points, **band)
    axis.plot(value, rows["estimate"], color=colour, marker=".", markersize=5, **points, label="estimate")
    truth: dict[str, Any] = {"color": look("truth").colour, "marker": "_", "markersize": 12}
    axis.plot(value, rows["truth"], **truth, **points, label="truth")
    axis.tick_params(axis="x", rotation=45)


def _panel(axis: Axes, rows: Table, name: str) -> None:
    colour, value = look(name).colour, rows["value"]
    low, high = (rows["expected"] + c * rows["standard_deviation"] for c in (-2, 2))
    axis.fill_between(value, low, high, color=colour, alpha=0.25, linewidth=0, label="mean ± 2 sd (exact)")
    axis.plot(value, rows["estimate"], color=colour, marker=".", markersize=3.5, linestyle="none", label="estimate")
    axis.plot(value, rows["truth"], color=look("truth").colour, linewidth=1.2, label="truth")


def sampled_histograms(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.sampling.estimates`, and say by how much c_DE falls short."""
    lowest = table["sampling_rate"].min()
    biased = table[(table["estimator"] == "c_DE") & (table["sampling_rate"] == lowest)]
    short_by, negative = (biased["truth"] - biased["expected"]).min(), int((biased["expected"] < 0).sum())
    title = f"At π = {lowest:g} c_DE falls short by {short(short_by)} users or more at every value; "
    title += "g_DE and c-hat do not"
    if lowest == 1:
        title = "Where everybody reports all three estimates are unbiased"
    below = f"the mean of c_DE at π = {lowest:g} is negative at {negative} of {len(biased)} values"
    return estimated_histograms(table, title=title, setting=f"{setting}; {BANDS}; {below}")


def bias(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.sampling.bias_curve`."""
    exact = table[table["standard_error"].isna()]
    lowest = exact[exact[RATE] == exact[RATE].min()].set_index("budget")["bias (users)"]
    title = f"At π = {exact[RATE].min():g} and {lowest.index[0]} c_DE is too small by {short(-lowest.iloc[0])} users"
    return curves(table, RATE, "bias (users)", by="budget", error="standard_error", title=title, setting=setting)


def distance_and_cost(table: Table, *, setting: str = "") -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.sampling.distances`, with the expected reports as a second scale."""
    ratio, (low, high) = lowest_against_highest(table)["raw ratio"], (table[RATE].min(), table[RATE].max())
    title = f"Asking {low:.0%} instead of {high:.0%} multiplies the distance by {ratio.min():.2f} to {ratio.max():.2f}"
    names: dict[str, Any] = {"by": "budget", "panel": "estimate", "error": "standard_error", "yscale": "log"}
    limits = [
        Mark(y=1.0, printed=True, panel=RAW),
        Mark(y=1.0, label="no two distributions are farther apart", printed=True, panel=PROJECTED),
    ]
    figure = curves(table, RATE, DISTANCE, **names, title=title, setting=setting, marks=limits)
    per_rate = table["expected_reports"].iloc[0] / table[RATE].iloc[0] / 1000
    for axis in figure.axes:
        scale = axis.secondary_xaxis(
            "top", functions=(lambda rate: rate * per_rate, lambda reports: reports / per_rate)
        )
        scale.set_xlabel("expected reports nπ, thousands")
    return figure


def personal_rates(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.personalised.estimates`, and say how far the means are off."""
    off = (table["expected"] - table["truth"]).abs().groupby([table["design"], table["estimator"]], sort=False).max()
    worst = off.idxmax()
    others = off.drop(worst).max()
    title = f"Where {worst[0]} the mean of {worst[1]} is off by up to {short(off.max())} users; "
    title += f"all others by at most {short(others)}"
    return estimated_histograms(table, row="design", title=title, setting=f"{setting}; {BANDS}")


def vertex(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.personalised.towards_a_vertex`."""
    wide = table.pivot_table(index=CHOSEN, columns="estimator", values=RELATIVE)
    first, last, place = wide.iloc[0], wide.iloc[-1], wide.index[-1]
    gained, paid = 1 - last["T"] / first["T"], short(last["Horvitz-Thompson"] / first["Horvitz-Thompson"])
    title = f"Leaving equal rates T gains {gained:.1%} of its variance at most; "
    title += f"Horvitz-Thompson pays up to {paid} times"
    marks = [
        Mark(place, last["Horvitz-Thompson"], short(last["Horvitz-Thompson"]), side="left"),
        Mark(y=1.0, label="c-hat at equal rates", printed=True, side="below"),
    ]
    names: dict[str, Any] = {"by": "estimator", "yscale": "log", "title": title, "setting": setting}
    figure = curves(table, CHOSEN, RELATIVE, **names, marks=marks)
    figure.axes[0].set_ylim(bottom=0.75)
    return figure


def best_rates(table: Table, *, setting: str = "") -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.personalised.best_rates`, and say from where on a group is asked whole."""
    asked = table[table["optimal sampling rate"] >= 1 - 1e-9].groupby("group", sort=False)[BUDGET].min()
    first, last = asked.idxmin(), asked.idxmax()
    title = f"All of the group {first} are asked from {asked[first]:.0%} of the full cost on, "
    title += f"of the group {last} from {asked[last]:.0%}"
    return curves(table, BUDGET, "optimal sampling rate", by="group", title=title, setting=setting)


def uniform_estimates(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.participation.inverse_frequency`."""
    means = table[table["estimator"] == BY_VALUE]["expected"]
    title = f"T, sampled by value, has the mean {short(means.mean())} at every value, whatever the truth"
    return estimated_histograms(table, row="budget", title=title, setting=f"{setting}; {BANDS}")


def silence(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.participation.losses`."""
    wide = table.pivot_table(index=["budget", "highest rate"], columns="sampling", values="privacy loss (nats)")
    added = wide["by value"] - wide["by report"]
    (budget, rate), loss = added.idxmax(), added.max()
    title = f"Rates that follow the value add up to {loss:.2f} nats ({budget}, highest rate {rate:g}), "
    title += "those that follow the report none"
    names: dict[str, Any] = {"by": "sampling", "panel": "budget", "columns": 3}
    end = wide.loc[(budget, rate), "by value"]
    mark = Mark(rate, end, f"{end:.2f}", panel=budget, side="left")
    return curves(table, "highest rate", "privacy loss (nats)", **names, title=title, setting=setting, marks=[mark])


def central_budget(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.shuffling.budgets`: where both bounds agree, one curve is both."""
    wide = table.pivot_table(index=["sampling", LOCAL], columns="bound", values=CENTRAL, sort=False)
    apart = (wide["upper bound"] / wide["lower bound"]).max() - 1
    agree, marks = f"{100 * apart:.1g}%", []
    title = f"Both bounds on the central budget agree within {agree}"
    setting += f"; the upper bound is drawn, the lower one is within {agree} of it"
    if "published" in wide:
        over = (wide["published"] / wide["upper bound"]).dropna()
        title = (
            f"The published bound on the central budget is up to {short(over.max())} times the one for this mechanism"
        )
        sampling, local = over.idxmax()
        exact, printed = wide.loc[(sampling, local), ["upper bound", "published"]]
        marks = [
            Mark(local, printed, f"{short(printed)}, published", printed=True),
            Mark(local, exact, short(exact)),
        ]
    shown = table[table["bound"] != "lower bound"]
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": marks, "discrete": True}
    return curves(shown, LOCAL, CENTRAL, by="curve", yscale="log", **named)


def variance_ratio(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.shuffling.variance_ratios`."""
    rare = table[table["value"] == "rare value"]["relative variance"]
    title = f"At a rare value the variance is {rare.min():.2f} to {short(rare.max())} times the central Gaussian's"
    axes: dict[str, Any] = {"by": "sampling", "panel": "value", "xscale": "log", "yscale": "log", "discrete": True}
    marks = [
        Mark(y=1.0, label="the Gaussian mechanism", printed=True, panel="rare value", side="below"),
        *(_largest(table[table["value"] == value], value) for value in ("rare value", "common value")),
    ]
    return curves(table, CENTRAL, "relative variance", **axes, title=title, setting=setting, marks=marks)


def _largest(rows: Table, panel: str) -> Mark:
    top = rows.loc[rows["relative variance"].idxmax()]
    return Mark(top[CENTRAL], top["relative variance"], short(top["relative variance"]), panel=panel, side="left")


def deviations(account: Table) -> Figure:
    """Draw the standard deviations of one row of `ldpnb.papers.biswas2022.tables.shuffling.accounting` as bars."""
    names = ["c-hat, rare", "c-hat, common", "Gaussian", "Laplace"]
    figure, axis = plt.subplots(figsize=size(2.6))
    values = account[names].iloc[0]
    bars = axis.barh(names[::-1], values[::-1], color=[look(name.split(",")[0]).colour for name in names[::-1]])
    axis.bar_label(bars, fmt="{:.4g}", padding=3)
    value = "standard deviation of an estimated count (users)"
    axis.set(xlabel=value, xlim=(0, 1.15 * values.max()))
    rows = values.astype(float).rename(value).rename_axis("mechanism").reset_index()
    flipped: dict[str, Any] = {"mark": "bars", "xscale": "category", "flip": True, "xlabel": ""}
    return keep(figure, rows, Encoding(x="mechanism", y=value, by="mechanism", **flipped))


def bias_or_variance(table: Table, *, below: float, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.sampling.rare_errors`, and from where on the unbiased estimate is better.

    That is from `below` users on, `ldpnb.accuracy.shrinkage.unscaled_below`.
    """
    y = "root mean squared error (users)"
    wide = table.pivot_table(index="users", columns="estimate", values=y)
    met = [below] if wide.index[0] < below <= wide.index[-1] else []
    less, more = ("c_DE", "g_DE") if below > wide.index[-1] else ("g_DE", "c_DE")
    title = f"{less} errs less than {more} throughout" if below else "c_DE and g_DE err alike"
    first = f"{short(np.floor(below) + 1)} users"
    if met:
        title = f"From {first} on g_DE errs less than c_DE"
    title += "; the best point of their line errs less than either"
    level = [float(np.exp(np.interp(np.log(m), np.log(wide.index), np.log(wide["g_DE"])))) for m in met]
    marks = [Mark(m, value, first) for m, value in zip(met, level, strict=True)]
    axes: dict[str, Any] = {"xscale": "log", "yscale": "log", "title": title, "setting": setting, "marks": marks}
    return curves(table, "users", y, by="estimate", **axes)


def few_reports(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.sampling.few_reports`."""
    wide = table.pivot_table(index="expected reports", columns="law", values=DISTANCE, sort=False)
    over = wide["normal law"] / wide["exact law"]
    title = f"With few reports the normal law gives {over.min():.2f} to {over.max():.2f} times the exact distance"
    axes: dict[str, Any] = {"xscale": "log", "yscale": "log", "title": title, "setting": setting, "discrete": True}
    return curves(table, "expected reports", DISTANCE, by="law", **axes)


def best_rate(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.biswas2022.tables.shuffling.at_a_central_budget`, the best of the rates, and Laplace noise."""
    least = table.loc[table.groupby(CENTRAL, sort=False)[RARE].idxmin()]
    best = least.loc[least[RARE].idxmin()]
    title = f"At {best[CENTRAL]}, π = {best[RATE]:g} a rare value's variance is {best[RARE]:.2f} times the Gaussian's"
    marks = [Mark(row[RATE], row[RARE], f"{row[RARE]:.2f}", side="below") for _, row in least.iterrows()]
    for _, row in least.iterrows():
        marks.append(Mark(y=row[LAPLACE], label=f"Laplace noise at {row[CENTRAL]}: {row[LAPLACE]:.2f}", printed=True))
    axes: dict[str, Any] = {"xscale": "log", "yscale": "log", "title": title, "setting": setting, "marks": marks}
    return curves(table, RATE, RARE, by=CENTRAL, discrete=True, **axes)
