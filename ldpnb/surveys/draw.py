"""Who is asked: a sample drawn from a list of the population, so that anybody can draw the same one again.

Everybody in a part of the population, in ascending order of their ids, gets a number of the random stream that belongs
to the seed and the part. Those with the smallest numbers are drawn.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb.rng import stream
from ldpnb.surveys.columns import among, column, distinct
from ldpnb.surveys.field_plan import FieldPlan

Columns = dict[str, NDArray[Any]]


def columns(plan: FieldPlan) -> tuple[str, ...]:
    """Return the columns of a list of the population that a draw needs."""
    return ("id", *filter(None, [plan.unit]))


def draw(plan: FieldPlan, frame: Mapping[str, Any], *, seed: int) -> Columns:
    """Return those who are asked, in the order of their parts and ids.

    `frame` lists everybody in the population: ``id``, ``(N,) str``, and as the design asks ``stratum`` or ``cluster``.
    What is returned has the same columns, and ``cluster_size`` of a sample of clusters.

    Raises
    ------
    ValueError
        If everybody is asked, an entry is missing, an id occurs twice, or the list is not that of the plan.

    >>> plan = FieldPlan(design="simple", kind="binary", p="3/4", q="1/4", population=5, asked=2)
    >>> draw(plan, {"id": list("edcba")}, seed=1)["id"].tolist()
    ['a', 'e']
    """
    if plan.design == "everyone":
        raise ValueError("frame needs a plan of a sample: this one asks everybody")
    table = {name: column(frame, name) for name in columns(plan)}
    ids = table["id"]
    distinct("id", ids)
    if not plan.strata:
        _as_planned("frame", ids.size, plan.population, "people")
    if not plan.unit:
        return {"id": _drawn(ids, plan.asked, "people", seed)}
    people = {name: ids[table[plan.unit] == name] for name in np.unique(table[plan.unit]).tolist()}
    if plan.strata:
        among("stratum", table["stratum"], plan.strata)
        sizes, asked = ({name: pair[i] for name, pair in plan.strata.items()} for i in (0, 1))
    else:
        _as_planned("frame", len(people), plan.clusters, "clusters")
        sizes = {name: plan.cluster_size or own.size for name, own in people.items()}
        chosen = _drawn(np.array([*people]), plan.chosen, "clusters", seed).tolist()
        asked = {name: plan.take or sizes[name] for name in chosen}
    for name, size in sizes.items():
        _as_planned(f"{plan.unit} {name}", people.get(name, ids[:0]).size, size, "people")
    drawn = [_drawn(people[name], number, f"{plan.unit} {name}", seed) for name, number in asked.items()]
    numbers = [own.size for own in drawn]
    made = {"id": np.concatenate(drawn), plan.unit: np.repeat([*asked], numbers)}
    if plan.clusters:
        made["cluster_size"] = np.repeat([str(sizes[name]) for name in asked], numbers)
    return made


def _drawn(names: NDArray[Any], number: int, part: str, seed: int) -> NDArray[Any]:
    """Return the names with the smallest numbers of the part's stream, in ascending order."""
    names = np.sort(names)
    return names[np.sort(np.argsort(stream("draw", part, seed=seed).random(names.size))[:number])]


def _as_planned(what: str, number: int, planned: int, unit: str) -> None:
    if number != planned:
        raise ValueError(f"{what} must have the {planned:,} {unit} of the plan, got {number:,}")
