"""Drawings for bun2022: each says in its title what its table shows."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ldpnb.notebook.annotations import Mark, head
from ldpnb.notebook.encoding import Encoding, Layer, keep
from ldpnb.notebook.figures import curves, legend, looks_of, size
from ldpnb.notebook.prose import crossings, short
from ldpnb.papers.bun2022.tables.allocation import DRAWN, MOVE
from ldpnb.papers.bun2022.tables.clusters import SIZE
from ldpnb.papers.bun2022.tables.sample_sizes import DEVIATION
from ldpnb.papers.bun2022.tables.unequal import GROWN, RANK, SAMPLE

Table = Any
"""A DataFrame, of whose cells the checker of types need know nothing."""

LOSS, BUDGET = "loss (nats)", "epsilon (nats)"


def _wide(table: Table, x: str, by: str, y: str) -> Table:
    return table.pivot_table(index=x, columns=by, values=y, sort=False)


def random_sizes(table: Table, x: str, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.gaussian_size_losses`, and where the loss is least."""
    exact = table[table["quantity"] == "exact"].reset_index()
    least = exact.loc[exact.groupby("panel", sort=False)[LOSS].idxmin()]
    first, (_, low) = exact.iloc[0], next(iter(least.iterrows()))
    own = exact[exact["panel"] == first["panel"]][LOSS]
    title = f"A spread of {short(low[DEVIATION])} records lowers the loss from {short(first[LOSS])} to "
    title += f"{short(low[LOSS])} nats, a large one raises it to {short(own.iloc[-1])}"
    marks = [Mark(row[x], row[LOSS], short(row[LOSS]), panel=row["panel"], side="below") for _, row in least.iterrows()]
    if x != DEVIATION:
        marks += [Mark(x=1.0, label="transition", printed=True, panel=name, side="left") for name in least["panel"]]
    panel = "panel" if len(least) > 1 else None
    marks = marks if panel else [Mark(mark.x, mark.y, mark.label, side="below") for mark in marks]
    return curves(table, x, LOSS, by="quantity", panel=panel, title=title, setting=setting, marks=marks)


def rates(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.gaussian_rates`, and where the effective rate passes the mean."""
    wide = _wide(table, DEVIATION, "rate", "sampling rate")
    effective, at = wide["effective"], float(wide["effective"].idxmin())
    met = [place for place in crossings(wide.index, effective, wide["mean"]) if place > at]
    title = f"The effective rate falls from {short(effective.iloc[0], 2)} to {short(effective.min(), 2)} "
    title += f"at a deviation of {short(at, 2)}"
    marks = [Mark(at, effective.min(), short(effective.min(), 2), side="below")]
    if met:
        title += f", passes the mean rate at {short(met[0], 2)}"
        marks.append(Mark(met[0], float(np.interp(met[0], wide.index, wide["mean"])), short(met[0], 2), side="below"))
    title += f" and reaches {short(effective.iloc[-1], 2)}"
    return curves(table, DEVIATION, "sampling rate", by="rate", title=title, setting=setting, marks=marks)


def advantage(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.advantages_by_gap`."""
    x = "difference of the sizes (records)"
    wide = _wide(table, x, "quantity", "advantage")
    gap = wide["upper bound"] - wide["exact"]
    at = int(gap.idxmax())
    bound, exact = wide.loc[at, "upper bound"], wide.loc[at, "exact"]
    title = f"Group privacy allows a test {gap.max():.2f} more advantage than it can have: {bound:.2f} for {exact:.2f} "
    title += f"at {at} records"
    marks = [Mark(at, bound, f"{bound:.2f}"), Mark(at, exact, f"{exact:.2f}", side="below")]
    return curves(table, x, "advantage", by="quantity", discrete=True, title=title, setting=setting, marks=marks)


def rounding(table: Table, *, setting: str = "") -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.rounding_losses`, its constants as rules."""
    largest = table.groupby("quantity", sort=False)[LOSS].max()
    nearest, supremum = largest["rounded to nearest"], largest["supremum, at random"]
    title = f"Rounding to the nearest loses up to {short(nearest)} nats, at random never more than {short(supremum)}"
    bound = largest["Theorem 4.3"]
    marks = [
        Mark(y=supremum, label=f"supremum, at random: {short(supremum)}"),
        Mark(y=bound, label=f"Theorem 4.3: {short(bound)}", printed=True),
    ]
    drawn = table[table["quantity"].isin(["rounded at random", "rounded to nearest"])]
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": marks}
    return curves(drawn, "population (records)", LOSS, by="quantity", discrete=True, **named)


def constants(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.rounding_constants`."""
    y = "loss / (r epsilon)"
    wide = _wide(table, BUDGET, "quantity", y)
    times = wide["Theorem 4.3"] / wide["exact supremum"]
    title = f"Theorem 4.3 is {short(times.min())} to {short(times.max())} times the exact supremum"
    marks = [Mark(wide.index[0], value, short(value)) for value in wide.iloc[0]]
    return curves(table, BUDGET, y, by="quantity", xscale="log", title=title, setting=setting, marks=marks)


def cluster_losses(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.clusters.losses_by_cluster_size`."""
    first = table[table["design"] == table["design"].iloc[0]]
    wide = _wide(first, SIZE, "quantity", LOSS)
    at = int(wide.index[len(wide) // 2])
    whole, single = (
        wide.loc[at, name] / wide.loc[at, "no amplification"] for name in ("exact", "simple random sampling")
    )
    title = f"Clusters of {at} records lose {whole:.0%} of ε, a simple random sample at the same rate {single:.0%}"
    mark = Mark(at, wide.loc[at, "exact"], f"{at} records: {whole:.0%}", panel=first["design"].iloc[0], side="below")
    panel = "design" if len(set(table["design"])) > 1 else None
    marks = [mark] if panel else [Mark(mark.x, mark.y, mark.label, side="below")]
    return curves(table, SIZE, LOSS, by="quantity", panel=panel, title=title, setting=setting, marks=marks)


def identification(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.clusters.identification_by_cluster_size`."""
    wide = _wide(table[table["quantity"] == "exact"], SIZE, "panel", "value")
    at = int(wide.index[len(wide) // 2])
    epsilon = table[table["quantity"] == "no amplification"]["value"].iloc[0]
    told, lost = wide.loc[at]
    title = f"At {at} records a test detects a drawn cluster with advantage {short(told)}, "
    title += f"and {lost / epsilon:.0%} of ε is lost"
    marks = [
        Mark(at, value, short(value), panel=panel, side="below")
        for panel, value in zip(wide.columns, (told, lost), strict=True)
    ]
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": marks, "ylabel": "", "share_y": False}
    return curves(table, SIZE, "value", by="quantity", panel="panel", **named)


def critical_sizes(table: Table, share: float, *, at: float, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.clusters.critical_sizes`, with the sizes at one budget."""
    wide = _wide(table, BUDGET, "clusters", "critical size (records)")
    found = {name: float(np.exp(np.interp(np.log(at), np.log(wide.index), np.log(wide[name])))) for name in wide}
    marks = (
        [Mark(at, value, short(value), side="right") for value in found.values()]
        if wide.index[0] <= at <= wide.index[-1]
        else []
    )
    least, most = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
    title = f"At ε = {at:g} clusters of {short(found[least])} records ({least}) to {short(found[most])} ({most}) lose "
    title += f"{share:.0%} of it"
    if not marks:
        title = f"From {short(wide.min().min())} to {short(wide.max().max())} records on "
        title += f"a cluster loses {share:.0%} of ε"
    axes: dict[str, Any] = {"xscale": "log", "yscale": "log", "title": title, "setting": setting, "marks": marks}
    return curves(table, BUDGET, "critical size (records)", by="clusters", **axes)


def cluster_draws(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.unequal.cluster_draws`."""
    wide = _wide(table, SIZE, "quantity", LOSS)
    own, by_size = wide["no amplification"].iloc[0], wide["in proportion to size"]
    most, at = by_size.max(), int(by_size.idxmax())
    title = f"Drawn in proportion to size a cluster loses up to {short(most / own)} ε, at {at} records; at random "
    title += f"{short(wide['at random'].max() / own)} ε"
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": [Mark(at, most, short(most))]}
    return curves(table, SIZE, LOSS, by="quantity", discrete=True, **named)


def growth(table: Table, *, setting: str = "") -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.unequal.poisson_growth`, and where it exceeds the mechanism's own loss."""
    wide = _wide(table, GROWN, "quantity", LOSS)
    last, own = wide.iloc[-1], wide["no amplification"].iloc[0]
    over = crossings(wide.index, wide["exact"], wide["no amplification"])
    title = f"A record that grows {short(wide.index[-1])}-fold costs {short(last['exact'] / own)} times what no "
    title += f"sampling would; the source's lower bound shows {short(last['lower bound'] / own)}"
    marks = [Mark(place, own, f"{short(place)}-fold") for place in over]
    return curves(table, GROWN, LOSS, by="quantity", title=title, setting=setting, marks=marks, xscale="log")


def systematic(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.unequal.systematic_by_size`."""
    last = table[table[SAMPLE] == table[SAMPLE].max()].set_index("order")[LOSS]
    shift, secret, own = (
        last[name] for name in ("known order, ranks shift", "secret random order", "no amplification")
    )
    largest = int(table[SAMPLE].max())
    title = f"If ranks shift, {largest} records in a known order lose {short(shift)} nats, {short(shift / own)} times "
    title += f"what no sampling would; in a secret order {short(secret)}"
    marks = [Mark(largest, shift, short(shift), side="left"), Mark(largest, secret, short(secret))]
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": marks, "yscale": "log"}
    return curves(table, SAMPLE, LOSS, by="order", discrete=True, **named)


def systematic_moves(table: Table, own: float, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.unequal.systematic_moves`, beside the mechanism's `own` loss."""
    kept = table[table[RANK] == table["rank before"]][LOSS].max()
    most = table[LOSS].max()
    title = f"A record that keeps its rank loses {short(kept)} nats, one that moves up to {short(most)}, "
    title += f"{short(most / own)} times what no sampling would"
    setting += f"; dotted: the loss without sampling, {short(own)}"
    marks = [Mark(y=own, printed=True)]
    marks += [
        Mark(row[RANK], row[LOSS], "rank kept") for _, row in table[table[RANK] == table["rank before"]].iterrows()
    ]
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
        right.annotate(f"{by:+.2f}", (max(by, 0), at), (3, 0), textcoords="offset points", va="center", size=8)
    right.set(xlabel=change)
    right.margins(x=0.3)
    top = table.iloc[-1]
    title = f"One establishment that grows moves the stratum {top['stratum']} by {short(top['change'])} "
    title += f"of {total:,} records"
    head(figure, title + (f", not by the source's {printed:g}" if printed is not None else ""), setting)
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
        title = f"A move of {printed:g} takes at least {short(needed)} records; {len(last) - len(reach)} of "
        title += f"{len(last)} divisions never reach it"
        marks.append(Mark(needed, printed, short(needed), side="below"))
    ends = [Mark(row[DRAWN], row[MOVE], short(row[MOVE])) for _, row in last[last[MOVE] < printed].iterrows()]
    axes: dict[str, Any] = {"xscale": "log", "yscale": "log", "title": title, "setting": setting}
    return curves(shown, DRAWN, MOVE, by="strata", **axes, marks=[*marks, *ends])


def leaks(table: Table) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.allocation.leaks` at the middle budget."""
    x = "epsilon of the count (nats)"
    told = table[table["panel"] == table["panel"].iloc[0]]
    wide = _wide(told, x, "move", "value")
    at = float(wide.index[len(wide) // 2])
    least, most = wide.loc[at].iloc[0], wide.loc[at].iloc[-1]
    title = f"At ε = {at:g} a test detects a move of {wide.columns[-1]} with advantage {most:.2f}, of "
    title += f"{wide.columns[0]} with {least:.2f}"
    marks = [Mark(at, value, f"{value:.2f}", panel=told["panel"].iloc[0]) for value in (least, most)]
    named: dict[str, Any] = {
        "title": title,
        "setting": "a count with Laplace noise of scale 1/ε; exact",
        "marks": marks,
    }
    return curves(table, x, "value", by="move", panel="panel", ylabel="", share_y=False, **named)


def standard_errors(table: Table, total: int, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.allocation.standard_errors`, with the errors next to `total` records."""
    y = "standard error (employees)"
    wide = _wide(table, DRAWN, "design", y)
    at = int(min(wide.index, key=lambda drawn: abs(drawn - total)))
    neyman, proportional, simple = (wide.loc[at, name] for name in ("Neyman", "proportional", "simple random sampling"))
    title = f"At {at:,} records Neyman's standard error is {short(neyman)}, {short(proportional / neyman)} times less "
    title += f"than proportional allocation's and {short(simple / neyman)} times less than without strata"
    marks = [Mark(at, simple, short(simple)), *(Mark(at, v, short(v), side="below") for v in (proportional, neyman))]
    return curves(table, DRAWN, y, by="design", xscale="log", yscale="log", title=title, setting=setting, marks=marks)


def private_variances(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.private_allocation.by_population`."""
    first = table["panel"].iloc[0]
    wide = _wide(table[table["panel"] == first], BUDGET, "rule", "variance")
    over = wide["Neyman"] / wide["best found"]
    at = float(over.idxmax())
    met = crossings(wide.index, wide["Neyman"], wide["proportional, rounded at random"])
    title = f"Neyman's rule has up to {short(over.max())} times the least variance found (ε = {short(at)})"
    title += f"; proportional allocation is the worse one from ε = {short(met[-1])} on" if met else ""
    level = [float(np.exp(np.interp(np.log(m), np.log(wide.index), np.log(wide["Neyman"])))) for m in met]
    marks = [Mark(m, value, f"ε = {short(m)}", panel=first) for m, value in zip(met, level, strict=True)]
    axes: dict[str, Any] = {"xscale": "log", "yscale": "log", "title": title, "setting": setting, "marks": marks}
    return curves(table, BUDGET, "variance", by="rule", panel="panel", **axes)


def best_rules(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.private_allocation.best_rules`, and where the best rule saves most."""
    wide = _wide(table, BUDGET, "rule", "over fixed")
    at = float(wide["best rule"].idxmin())
    rule, lottery = wide.loc[at, "best rule"], wide.loc[at, "best lottery"]
    title = f"The best rule saves up to {1 - rule:.1%} of the best fixed allocation's variance, a lottery that ignores "
    title += f"the data {1 - lottery:.1%} (ε = {short(at)})"
    marks = [Mark(at, rule, short(rule), side="below")]
    axes: dict[str, Any] = {"xscale": "log", "title": title, "setting": setting, "marks": marks, "discrete": True}
    return curves(table, BUDGET, "over fixed", by="rule", ylabel="variance / best fixed", **axes)


def poisson_or_fixed(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.poisson_or_fixed`, and where independent draws save most."""
    wide = table.pivot_table(index=["panel", "sampling rate"], columns="sample", values=LOSS, sort=False)
    saved = wide["fixed size"] - wide["independent (Poisson)"]
    panel, rate = saved.idxmax()
    least, most = wide.loc[(panel, rate), "independent (Poisson)"], wide.loc[(panel, rate), "fixed size"]
    title = f"Independent draws lose less than a sample of fixed size: at {panel} and a rate of {short(rate)}, "
    title += f"{short(least)} instead of {short(most)} nats"
    marks = [Mark(rate, least, short(least), panel, side="right"), Mark(rate, most, short(most), panel, side="right")]
    named: dict[str, Any] = {"title": title, "setting": setting, "marks": marks, "columns": 3}
    return curves(table, "sampling rate", LOSS, by="sample", panel="panel", **named)


def releases(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.release_losses`."""
    most = int(table["releases"].max())
    wide = _wide(table[table["releases"] == most], "design", "drawn", LOSS)
    times = wide["one sample"] / wide["fresh samples"]
    title = f"{most} releases from one sample lose {times.min():.2f} ({times.idxmin()}) to {times.max():.2f} times "
    title += f"({times.idxmax()}) what fresh samples would"
    named: dict[str, Any] = {"title": title, "setting": setting, "columns": 3, "discrete": True}
    return curves(table, "releases", LOSS, by="drawn", panel="design", **named)


def threshold(table: Table, *, setting: str) -> Figure:
    """Draw `ldpnb.papers.bun2022.tables.sample_sizes.proportional_losses`, whose series name their thresholds."""
    named = [name.split(": amplifies up to ") for name in dict.fromkeys(table["epsilon"]) if ": amplifies" in name]
    (first, low), (last, high) = named[0], named[-1]
    title = f"Rounding at random amplifies up to a rate of {low} at {first}, of {high} only at {last}"
    return curves(table, "sampling rate", "loss / ε", by="epsilon", title=title, setting=setting)
