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

Columns = dict[str, NDArray[Any]]


def columns(plan: FieldPlan) -> tuple[str, ...]:
    """Return the columns of a list of the population that a draw needs."""
    unit = {"strata": ("stratum",), "clusters": ("cluster",), "two stages": ("cluster",)}
    return ("id", *unit.get(plan.design, ()))


def draw(plan: FieldPlan, frame: Mapping[str, Any], *, seed: int) -> Columns:
    """Return those who are asked, in the order of their parts and ids.

    Parameters
    ----------
    plan : FieldPlan
    frame : mapping of columns
        Everybody in the population: ``id``, ``(N,) str``, and as the design asks ``stratum`` or ``cluster``.
    seed : int
        ``>= 0``.

    Returns
    -------
    dict of (n,) str
        The same columns, and ``cluster_size`` of a sample of clusters.

    Raises
    ------
    ValueError
        If everybody is asked, an entry is missing, an id occurs twice, or the list is not that of the plan.

    Examples
    --------
    >>> plan = FieldPlan(design="simple", kind="binary", p="3/4", q="1/4", population=5, asked=2)
    >>> draw(plan, {"id": list("edcba")}, seed=1)["id"].tolist()
    ['a', 'e']
    """
    if plan.design == "everyone":
        raise ValueError("frame needs a plan of a sample: this one asks everybody")
    frame = {name: np.asarray(frame[name]).astype(str) for name in columns(plan)}
    for name, entries in frame.items():
        if (entries == "").any():
            raise ValueError(f"{name} must be given for everybody in the frame, got '' in row {_row(entries == '')}")
    ids, times = np.unique(frame["id"], return_counts=True)
    if (times > 1).any():
        raise ValueError(f"id must be of one person each, got {ids[times > 1][0]} {times.max()} times")
    if plan.design == "strata":
        return _of_strata(plan, frame["id"], frame["stratum"], seed)
    if ids.size != plan.population:
        raise ValueError(f"frame must list the {plan.population:,} people of the plan, got {ids.size:,}")
    if plan.design == "simple":
        return {"id": _drawn(ids, plan.asked, "people", seed)}
    return _of_clusters(plan, frame["id"], frame["cluster"], seed)


def _drawn(names: NDArray[Any], number: int, part: str, seed: int) -> NDArray[Any]:
    """Return the names with the smallest numbers of the part's stream, in ascending order."""
    names = np.sort(names)
    return names[np.sort(np.argsort(stream("draw", part, seed=seed).random(names.size))[:number])]


def _of_strata(plan: FieldPlan, ids: NDArray[Any], strata: NDArray[Any], seed: int) -> Columns:
    planned = plan.strata or {}
    for name in np.unique(strata):
        if name not in planned:
            raise ValueError(f"stratum must be one of {', '.join(planned)}, got {name} in row {_row(strata == name)}")
    asked = {}
    for name, (size, number) in planned.items():
        inside = ids[strata == name]
        if inside.size != size:
            raise ValueError(f"stratum {name} must have the {size:,} people of the plan, got {inside.size:,}")
        asked[name] = _drawn(inside, number, f"stratum {name}", seed)
    return {"id": np.concatenate([*asked.values()]), "stratum": np.repeat([*asked], [x.size for x in asked.values()])}


def _of_clusters(plan: FieldPlan, ids: NDArray[Any], clusters: NDArray[Any], seed: int) -> Columns:
    names, sizes = np.unique(clusters, return_counts=True)
    if names.size != plan.clusters:
        raise ValueError(f"frame must have the {plan.clusters:,} clusters of the plan, got {names.size:,}")
    if plan.cluster_size and (sizes != plan.cluster_size).any():
        name, size = names[sizes != plan.cluster_size][0], sizes[sizes != plan.cluster_size][0]
        raise ValueError(f"cluster {name} must have the {plan.cluster_size:,} people of the plan, got {size:,}")
    chosen = _drawn(names, plan.chosen, "clusters", seed)
    people = [ids[clusters == name] for name in chosen]
    asked = [_drawn(x, plan.take or x.size, f"cluster {name}", seed) for name, x in zip(chosen, people, strict=True)]
    numbers = [x.size for x in asked]
    size = np.repeat([str(x.size) for x in people], numbers)
    return {"id": np.concatenate(asked), "cluster": np.repeat(chosen, numbers), "cluster_size": size}


def _row(wrong: NDArray[np.bool_]) -> int:
    return int(np.argmax(wrong)) + 1
