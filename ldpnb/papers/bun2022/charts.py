"""Drawings for bun2022: each says in its title what its table shows."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ldpnb.notebook.annotations import Mark, head
from ldpnb.notebook.encoding import Encoding, Layer, keep
from ldpnb.notebook.figures import curves, legend, looks_of, size
from ldpnb.notebook.prose import crossings, rounded_up, short
from ldpnb.papers.bun2022.tables.allocation import DRAWN, MOVE
from ldpnb.papers.bun2022.tables.clusters import SIZE
from ldpnb.papers.bun2022.tables.sample_sizes import DEVIATION
from ldpnb.papers.bun2022.tables.unequal import GROWN, RANK, SAMPLE

Table = Any
"""A DataFrame, of whose cells the checker of types need know nothing."""

LOSS, BUDGET, EPSILON = "loss (nats)", "epsilon (nats)", "ε (nats)"


def _wide(table: Table, x: str, by: str, y: str) -> Table:
    return table.pivot_table(index=x, columns=by, values=y, sort=False)


def random_sizes(table: Table, x: str, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.gaussian_size_losses`, and where the loss is least."""
    exact = table[table["quantity"] == "exact"].reset_index()
    least = exact.loc[exact.groupby("panel", sort=False)[LOSS].idxmin()]
    first = least.iloc[0]
    title = (
        f"A sample size of the right spread loses least: {short(first[LOSS])} nats at {first['panel'].split(',')[0]}"
    )
    panel = "panel" if len(least) > 1 else None
    marks = [Mark(row[x], row[LOSS], panel=row["panel"] if panel else "") for _, row in least.iterrows()]
    if x != DEVIATION:
        marks.append(Mark(x=1.0, label="transition", printed=True, side="left"))
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": marks}
    named["xlabel"] = None if x == DEVIATION else "deviation of the size (units)"
    return curves(table, x, LOSS, by="quantity", panel=panel, **named)


def rates(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.gaussian_rates`, and where the effective rate passes the mean."""
    wide = _wide(table, DEVIATION, "rate", "sampling rate")
    effective, at = wide["effective"], float(wide["effective"].idxmin())
    met = [place for place in crossings(wide.index, effective, wide["mean"]) if place > at]
    title = f"A sample size of the right spread loses what a fixed sampling rate of {short(effective.min(), 2)} would"
    marks = [Mark(at, effective.min(), short(effective.min(), 2), side="below")]
    if met:
        marks.append(Mark(met[0], float(np.interp(met[0], wide.index, wide["mean"])), short(met[0], 2), side="below"))
    return curves(table, DEVIATION, "sampling rate", by="rate", title=title, setting=setting, marks=marks)


def advantage(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.advantages_by_gap`."""
    x = "difference of the sizes (records)"
    wide = _wide(table, x, "quantity", "advantage")
    gap = wide["upper bound"] - wide["exact"]
    at = int(gap.idxmax())
    bound, exact = wide.loc[at, "upper bound"], wide.loc[at, "exact"]
    title = f"Group privacy allows a test up to {gap.max():.2f} more advantage than it can have"
    marks = [Mark(at, bound, f"{bound:.2f}"), Mark(at, exact, f"{exact:.2f}", side="below")]
    return curves(table, x, "advantage", by="quantity", discrete=True, title=title, setting=setting, marks=marks)


def rounding(table: Table, *, setting: str = "") -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.rounding_losses`, its constants as rules."""
    largest = table.groupby("quantity", sort=False)[LOSS].max()
    supremum, bound = largest["supremum, at random"], largest["Theorem 4.3"]
    title = f"A share rounded at random never loses more than {rounded_up(supremum)} nats"
    setting += f"{'; ' if setting else ''}black: that supremum; grey: Theorem 4.3, {short(bound)}"
    marks = [Mark(y=supremum), Mark(y=bound, printed=True)]
    drawn = table[table["quantity"].isin(["rounded at random", "rounded to nearest"])]
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": marks}
    return curves(drawn, "population (records)", LOSS, by="quantity", discrete=True, **named)


def constants(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.rounding_constants`."""
    y = "loss / (r ε)"
    wide = _wide(table, BUDGET, "quantity", y)
    times = wide["Theorem 4.3"] / wide["exact supremum"]
    title = f"The bound of Theorem 4.3 is at least {short(times.min())} times the exact supremum"
    marks = [Mark(wide.index[0], value, short(value)) for value in wide.iloc[0]]
    axes: dict[str, Any] = {"xlabel": EPSILON, "xscale": "log", "marks": marks}
    return curves(table, BUDGET, y, by="quantity", title=title, setting=setting, **axes)


def cluster_losses(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.clusters.losses_by_cluster_size`."""
    first = table[table["design"] == table["design"].iloc[0]]
    wide = _wide(first, SIZE, "quantity", LOSS)
    at = int(wide.index[len(wide) // 2])
    whole = wide.loc[at, "exact"] / wide.loc[at, "no amplification"]
    title = f"A sample of whole clusters of {at} records loses {whole:.0%} of ε"
    mark = Mark(at, wide.loc[at, "exact"], f"{whole:.0%}", panel=first["design"].iloc[0], side="below")
    panel = "design" if len(set(table["design"])) > 1 else None
    marks = [mark] if panel else [Mark(mark.x, mark.y, mark.label, side="below")]
    return curves(table, SIZE, LOSS, by="quantity", panel=panel, title=title, setting=setting, marks=marks)


def identification(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.clusters.identification_by_cluster_size`."""
    wide = _wide(table[table["quantity"] == "exact"], SIZE, "panel", "value")
    at, panel = int(wide.index[len(wide) // 2]), wide.columns[0]
    advantage = wide.loc[at, panel]
    title = f"At {at} records a test detects a drawn cluster with advantage {short(advantage)}"
    marks = [Mark(at, advantage, short(advantage), panel=panel, side="below")]
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": marks, "ylabel": "", "share_y": False}
    return curves(table, SIZE, "value", by="quantity", panel="panel", **named)


def critical_sizes(table: Table, share: float, *, at: float, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.clusters.critical_sizes`, with the sizes at one budget."""
    wide = _wide(table, BUDGET, "clusters", "critical size (records)")
    sizes = {name: float(np.exp(np.interp(np.log(at), np.log(wide.index), np.log(wide[name])))) for name in wide}
    most = max(sizes, key=sizes.__getitem__)
    marks = [Mark(at, value, short(value) if name == most else "") for name, value in sizes.items()]
    marks = marks if wide.index[0] <= at <= wide.index[-1] else []
    title = f"Even with {most}, clusters of {short(sizes[most])} records lose {share:.0%} of ε = {at:g}"
    if not marks:
        title = f"From {short(wide.max().max())} records on clusters lose {share:.0%} of every ε shown"
    axes: dict[str, Any] = {
        "xlabel": EPSILON,
        "xscale": "log",
        "yscale": "log",
        "title": title,
        "setting": setting,
        "marks": marks,
    }
    return curves(table, BUDGET, "critical size (records)", by="clusters", **axes)


def cluster_draws(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.unequal.cluster_draws`."""
    wide = _wide(table, SIZE, "quantity", LOSS)
    own, by_size = wide["no amplification"].iloc[0], wide["in proportion to size"]
    most, at = by_size.max(), int(by_size.idxmax())
    title = f"A cluster drawn in proportion to size loses up to {short(most / own)} ε"
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": [Mark(at, most, short(most))]}
    return curves(table, SIZE, LOSS, by="quantity", discrete=True, **named)


def growth(table: Table, *, setting: str = "") -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.unequal.poisson_growth`, and where it exceeds the mechanism's own loss."""
    wide = _wide(table, GROWN, "quantity", LOSS)
    last, own = wide.iloc[-1], wide["no amplification"].iloc[0]
    over = crossings(wide.index, wide["exact"], wide["no amplification"])
    title = f"A record that grows {short(wide.index[-1])}-fold costs {short(last['exact'] / own)} times what no "
    title += "sampling would"
    axes: dict[str, Any] = {"xlabel": f"{GROWN} (times the others')", "xscale": "log"}
    axes["marks"] = [Mark(place, own) for place in over]
    if over:
        setting += f"{'; ' if setting else ''}black: {short(over[0])}-fold, where it costs as much"
    return curves(table, GROWN, LOSS, by="quantity", title=title, setting=setting, **axes)


def systematic(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.unequal.systematic_by_size`."""
    last = table[table[SAMPLE] == table[SAMPLE].max()].set_index("order")[LOSS]
    shift, secret = last["known order, ranks shift"], last["secret random order"]
    largest = int(table[SAMPLE].max())
    title = f"If ranks shift, {largest} records in a known order lose {short(shift / last['no amplification'])} times "
    title += "what no sampling would"
    marks = [Mark(largest, secret, short(secret))]
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": marks, "yscale": "log"}
    return curves(table, SAMPLE, LOSS, by="order", discrete=True, **named)


def systematic_moves(table: Table, own: float, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.unequal.systematic_moves`, beside the mechanism's `own` loss."""
    title = f"A record that moves to another rank costs up to {short(table[LOSS].max() / own)} times what no sampling "
    title += "would"
    setting += f"; dotted: no sampling, {short(own)}; black: rank kept"
    kept = table[table[RANK] == table["rank before"]]
    marks = [Mark(y=own, printed=True), *(Mark(row[RANK], row[LOSS]) for _, row in kept.iterrows())]
    return curves(table, RANK, LOSS, by="record", discrete=True, title=title, setting=setting, marks=marks)


def allocation_change(table: Table, *, setting: str, total: int, printed: float | None = None) -> Figure:
    """Draw, per stratum, the allocation before and after (left) and by how much it changes (right).

    Columns are ``stratum, before, after, change``; the setting says what population it is, and that it is simulated.
    `printed` is the change of the last stratum that the source reports.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=size(3.8), sharey=True)
    place = np.arange(len(table))
    drawn, change = "establishments drawn", "change (establishments, real-valued)"
    panels = {"before": drawn, "after": drawn, "change": change}
    before, after, moved = looks_of(list(panels)).values()
    left.barh(place - 0.2, table["before"], height=0.4, color=before.colour, label="before")
    left.barh(place + 0.2, table["after"], height=0.4, color=after.colour, label="after")
    left.set(xlabel=drawn, ylabel="stratum (employees)", yticks=place, yticklabels=table["stratum"])
    left.invert_yaxis()
    legend(figure, [left])
    right.axvline(0, color="#444444", linewidth=0.8)
    right.barh(place, table["change"], height=0.6, color=moved.colour)
    for at, by in zip(place, table["change"], strict=True):
        right.annotate(
            f"{by:+.2f}".replace("-", "\N{MINUS SIGN}"),
            (max(by, 0), at),
            (3, 0),
            textcoords="offset points",
            va="center",
            size=8,
        )
    right.set(xlabel=change)
    right.margins(x=0.3)
    top = table.iloc[-1]
    title = f"One establishment that grows moves the stratum {top['stratum']} by {short(top['change'])} records"
    source = f"; the source moves it by {printed:g}" if printed is not None else ""
    head(figure, title, f"{setting}; {total:,} drawn{source}")
    layers = tuple(Layer(name=name, y=name, mark="bars", panel=panel) for name, panel in panels.items())
    axes: dict[str, Any] = {"x": "stratum", "xlabel": "stratum (employees)", "xscale": "category", "flip": True}
    return keep(figure, table, Encoding(**axes, y=drawn, ylabel="", share_y=False, layers=layers))


def top_stratum_moves(table: Table, printed: float, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.allocation.top_stratum_moves` against the `printed` change."""
    shown = table[~table["strata"].str.startswith("the source")]
    last = shown.loc[shown.groupby("strata", sort=False)[DRAWN].idxmax()]
    reach = last[last[MOVE] >= printed]
    marks = [Mark(y=printed, label=f"printed: {printed:g}", printed=True, side="left")]
    title = f"No division reaches the source's {printed:g}: the largest move is {short(last[MOVE].max())}"
    if len(reach):
        needed = (reach[DRAWN] * printed / reach[MOVE]).min()
        title = f"A move of {printed:g} takes at least {short(needed)} records"
        marks.append(Mark(needed, printed, printed=True))
    ends = [Mark(row[DRAWN], row[MOVE]) for _, row in last[last[MOVE] < printed].iterrows()]
    setting += "; points: the stratum is exhausted"
    axes: dict[str, Any] = {"xscale": "log", "yscale": "log", "title": title, "setting": setting, "direct": False}
    return curves(shown, DRAWN, MOVE, by="strata", **axes, marks=[*marks, *ends])


def leaks(table: Table) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.allocation.leaks` at the middle budget."""
    x = "epsilon of the count (nats)"
    panel = table["panel"].iloc[0]
    wide = _wide(table[table["panel"] == panel], x, "move", "value")
    at = float(wide.index[len(wide) // 2])
    least, most = wide.loc[at].iloc[0], wide.loc[at].iloc[-1]
    marks = [Mark(at, value, f"{value:.2f}", panel=panel) for value in (least, most)]
    named: dict[str, Any] = {
        "title": f"At ε = {at:g} a test detects a move of {wide.columns[-1]} with advantage {most:.2f}",
        "setting": "a count with Laplace noise of scale 1/ε; exact",
        "marks": marks,
    }
    return curves(
        table, x, "value", by="move", panel="panel", xlabel="ε of the count (nats)", ylabel="", share_y=False, **named
    )


def standard_errors(table: Table, total: int, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.allocation.standard_errors`, with the errors next to `total` records."""
    y = "standard error (employees)"
    wide = _wide(table, DRAWN, "design", y)
    at = int(min(wide.index, key=lambda drawn: abs(drawn - total)))
    neyman, proportional, simple = (wide.loc[at, name] for name in ("Neyman", "proportional", "simple random sampling"))
    title = f"At {at:,} records proportional allocation's standard error is {short(proportional / neyman)} times "
    title += "Neyman's"
    marks = [Mark(at, simple, short(simple)), *(Mark(at, v, short(v), side="below") for v in (proportional, neyman))]
    return curves(table, DRAWN, y, by="design", xscale="log", yscale="log", title=title, setting=setting, marks=marks)


def private_variances(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.private_allocation.by_population`."""
    first = table["panel"].iloc[0]
    wide = _wide(table[table["panel"] == first], BUDGET, "rule", "variance")
    over = wide["Neyman"] / wide["best found"]
    met = crossings(wide.index, wide["Neyman"], wide["proportional, rounded at random"])
    title = f"Neyman's rule has up to {short(over.max())} times the least variance found"
    level = [float(np.exp(np.interp(np.log(m), np.log(wide.index), np.log(wide["Neyman"])))) for m in met]
    marks = [
        Mark(m, value, f"equal at ε = {short(m)}", panel=first, side="right")
        for m, value in zip(met, level, strict=True)
    ]
    axes: dict[str, Any] = {"xlabel": EPSILON, "xscale": "log", "yscale": "log", "marks": marks}
    return curves(table, BUDGET, "variance", by="rule", panel="panel", title=title, setting=setting, **axes)


def best_rules(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.private_allocation.best_rules`, and where the best rule saves most."""
    wide = _wide(table, BUDGET, "rule", "over fixed")
    at = float(wide["best rule"].idxmin())
    rule = wide.loc[at, "best rule"]
    title = f"The best rule saves up to {1 - rule:.1%} of the best fixed allocation's variance"
    marks = [Mark(at, rule, short(rule), side="below")]
    axes: dict[str, Any] = {"xlabel": EPSILON, "ylabel": "variance / best fixed", "xscale": "log", "discrete": True}
    return curves(table, BUDGET, "over fixed", by="rule", title=title, setting=setting, marks=marks, **axes)


def poisson_or_fixed(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.poisson_or_fixed`, and where independent draws save most."""
    wide = table.pivot_table(index=["panel", "sampling rate"], columns="sample", values=LOSS, sort=False)
    saved = wide["fixed size"] - wide["independent (Poisson)"]
    panel, rate = saved.idxmax()
    least, most = wide.loc[(panel, rate), "independent (Poisson)"], wide.loc[(panel, rate), "fixed size"]
    title = f"Independent draws lose up to {short(saved.max())} nats less than a sample of fixed size"
    marks = [Mark(rate, least, short(least), panel, side="right"), Mark(rate, most, short(most), panel, side="right")]
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": marks, "columns": 3}
    return curves(table, "sampling rate", LOSS, by="sample", panel="panel", **named)


def releases(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.release_losses`."""
    most = int(table["releases"].max())
    wide = _wide(table[table["releases"] == most], "design", "drawn", LOSS)
    times = wide["one sample"] / wide["fresh samples"]
    title = f"{most} releases from one sample lose up to {short(times.max())} times what fresh samples would"
    named: dict[str, Any] = {"title": title, "setting": setting, "columns": 3, "discrete": True}
    return curves(table, "releases", LOSS, by="drawn", panel="design", **named)


def threshold(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.proportional_losses`, whose series name their thresholds."""
    first, rate = next(name for name in table["epsilon"] if ": to " in name).split(": to ")
    title = f"At {first} rounding at random amplifies up to a sampling rate of {rate}"
    return curves(table, "sampling rate", "loss / ε", by="epsilon", title=title, setting=setting)
