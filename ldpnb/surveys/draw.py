"""Who is asked: a sample drawn from a list of the population, so that anybody can draw the same one again.

Everybody in a part of the population, in ascending order of their ids, gets a number of the random stream that belongs
to the seed and the part. Those with the smallest numbers are drawn.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb.rng import stream
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.fieldwork import column, once

Columns = dict[str, NDArray[Any]]


def draw(plan: FieldPlan, frame: Mapping[str, Any], *, seed: int) -> Columns:
    """Return those who are asked, in the order of their parts and ids.

    `frame` lists everybody in the population: ``id``, ``(N,) str``, and as the design asks ``stratum`` or ``cluster``.
    What is returned has the same columns, and ``cluster_size`` of a sample of clusters. That everybody is asked, an
    entry is missing, an id occurs twice, or the list is not that of the plan is a ValueError.

    >>> plan = FieldPlan(design="simple", kind="binary", p="3/4", q="1/4", population=5, asked=2)
    >>> draw(plan, {"id": list("edcba")}, seed=1)["id"].tolist()
    ['a', 'e']
    """
    if plan.design == "everyone":
        raise ValueError("frame needs a plan of a sample: this one asks everybody")
    ids = column(frame, "id")
    once(ids, "id")
    if not plan.unit:
        _as_planned("frame", ids.size, plan.population, "people")
        return {"id": _drawn(ids, plan.asked, "people", seed)}
    parts = column(frame, plan.unit)
    people = {name: ids[parts == name] for name in np.unique(parts).tolist()}
    planned = {name: size for name, (size, _) in (plan.strata or {}).items()}
    if plan.strata:
        _as_planned("frame", len(people.keys() | planned), len(planned), "strata")
    else:
        _as_planned("frame", ids.size, plan.population, "people")
        _as_planned("frame", len(people), plan.clusters, "clusters")
    sizes = planned or {name: plan.cluster_size or own.size for name, own in people.items()}
    for name, size in sizes.items():
        _as_planned(f"{plan.unit} {name}", people.get(name, ids[:0]).size, size, "people")
    chosen = [*planned] or _drawn(np.array([*people]), plan.chosen, "clusters", seed).tolist()
    asked = plan.invited({name: sizes[name] for name in chosen})
    drawn = [_drawn(people[name], number, f"{plan.unit} {name}", seed) for name, number in asked.items()]
    made = {"id": np.concatenate(drawn), plan.unit: np.repeat(chosen, [*asked.values()])}
    if plan.clusters:
        made["cluster_size"] = np.repeat([str(sizes[name]) for name in chosen], [*asked.values()])
    return made


def _drawn(names: NDArray[Any], number: int, part: str, seed: int) -> NDArray[Any]:
    """Return the names with the smallest numbers of the part's stream, in ascending order."""
    names = np.sort(names)
    return names[np.sort(np.argsort(stream("draw", part, seed=seed).random(names.size))[:number])]


def _as_planned(what: str, number: int, planned: int, unit: str) -> None:
    if number != planned:
        raise ValueError(f"{what} must have the {planned:,} {unit} of the plan, got {number:,}")
