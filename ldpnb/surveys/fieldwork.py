"""Whom to ask, and what came back, checked against the plan: reports that the device can produce, from those asked.

A sample is drawn from a list of the population, so that anybody can draw the same one again. Everybody in a part of the
population, in ascending order of their ids, gets a number of the random stream that belongs to the seed and the part.
Those with the smallest numbers are drawn.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.rng import stream
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.samples import Floats, Sample

Words = NDArray[np.str_]
Columns = dict[str, NDArray[Any]]


def column(table: Any, name: str, *, gaps: bool = False) -> Words:
    """Return a column as words, ``(n,)``, which must be there; a missing entry is '' where there may be `gaps`."""
    if name not in table:
        raise ValueError(f"column {name} must be among the columns, got {', '.join(map(str, table))}")
    words = pd.Series(np.asarray(table[name])).astype("string").fillna("").str.strip().to_numpy(dtype=str)
    if not gaps:
        refuse(words == "", words, f"{name} must be given in every row")
    return words


def refuse(wrong: NDArray[np.bool_], words: Words, rule: str) -> None:
    """Refuse a column of which some rows are wrong, naming the first."""
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{rule}, got {checks.shortened(str(words[row]))} in row {row + 1}")


def once(words: Words, name: str) -> None:
    """Refuse words that are there more than once; gaps are none."""
    refuse(pd.Series(words).duplicated().to_numpy() & (words != ""), words, f"{name} must be there once each")


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


def read(plan: FieldPlan, table: Any, classes: Mapping[str, int] | None = None) -> tuple[Floats, Sample]:
    """Return what each report says of every label, ``(n, k)``, and the sample that the reports are from.

    With nonresponse `classes` that is the sample of those who answered among those invited in each.
    """
    words = column(table, "report", gaps=True)
    most = np.inf if plan.open_size else plan.asked
    _enough("the survey", words.size, plan.population or most, most)
    if "id" in table:
        once(column(table, "id", gaps=True), "id")
    answers, unit = _answers(plan, words), plan.unit if classes is None else "class"
    if not unit:
        return answers, Sample.simple(words.size, plan.population or words.size)
    names = column(table, unit)
    if classes is not None:
        sizes = asked = _checked(plan, classes)
    else:
        sizes = (
            {name: size for name, (size, _) in plan.strata.items()} if plan.strata else _drawn_sizes(plan, table, names)
        )
        asked = plan.invited(sizes)
    refuse(~np.isin(names, [*sizes]), names, f"{unit} must be one of {', '.join(sizes)}")
    part = pd.Categorical(names, [*sizes]).codes.astype(np.int64)
    for name, number in zip(sizes, np.bincount(part, minlength=len(sizes)), strict=True):
        _enough(f"{unit} {name}", number, sizes[name], asked[name])
    population = sum(sizes.values()) if plan.strata else plan.population
    return answers, Sample(np.array([*sizes.values()], dtype=float), part, population, plan.clusters)


def _enough(what: str, number: int, people: float, asked: float) -> None:
    """Refuse more reports than people were asked, and fewer than a variance can be estimated from."""
    if not min(2, people) <= number <= asked:
        rule = f"{min(2, people)} to {asked:,} reports, as many as were invited at most"
        raise ValueError(f"{what} must have {rule}, got {number:,}")


def _answers(plan: FieldPlan, words: Words) -> Floats:
    """Return what each report says; refuse reports that the device cannot produce."""
    k = len(plan.labels)
    if plan.kind == "Laplace":
        numbers = pd.to_numeric(pd.Series(words), errors="coerce").to_numpy(dtype=float)
        refuse(~np.isfinite(numbers), words, "report must be a finite number")
        return ((numbers - plan.low) / plan.span)[:, None]
    if plan.kind == "labels":
        refuse(~np.isin(words, plan.labels), words, f"report must be one of {', '.join(plan.labels)}")
        return (words[:, None] == np.array(plan.labels)).astype(float)
    if plan.kind == "bits":
        wrong = np.array([len(word) != k or not set(word) <= {"0", "1"} for word in words])
        refuse(wrong, words, f"report must be a word of {k} bits, one per label")
        return np.array([[*word] for word in words]).astype(float)
    refuse(~np.isin(words, ("0", "1", "0.0", "1.0")), words, "report must be 0 or 1")
    return words.astype(float)[:, None]


def _checked(plan: FieldPlan, classes: Mapping[str, int]) -> Mapping[str, int]:
    """Return nonresponse classes; refuse those that are not the plan's, or have no variance estimate."""
    if plan.kind == "number":
        raise ValueError("nonresponse classes have no variance estimate for one-bit numbers: use another mechanism")
    if plan.design != "simple":
        raise ValueError(f"nonresponse classes need design simple, got {plan.design}")
    number = sum(checks.whole(invited=invited, at_least=2) for invited in classes.values())
    if number != plan.asked:
        raise ValueError(f"invited must add up to the {plan.asked:,} of the plan, got {number:,}")
    return classes


def _drawn_sizes(plan: FieldPlan, table: Any, clusters: Words) -> dict[str, int]:
    """Return how many people there are in each cluster drawn; refuse more than the plan draws or has."""
    sizes = dict.fromkeys(np.unique(clusters).tolist(), plan.cluster_size)
    if not plan.cluster_size:
        words = column(table, "cluster_size")
        people = pd.to_numeric(pd.Series(words), errors="coerce").to_numpy(dtype=float)
        refuse(~((people >= 1) & (people % 1 == 0)), words, "cluster_size must be an integer >= 1")
        sizes |= zip(clusters.tolist(), people.astype(int).tolist(), strict=True)
        other = people != [sizes[name] for name in clusters.tolist()]
        refuse(other, words, "cluster_size must be one number in a cluster")
    if not 2 <= len(sizes) <= plan.chosen:
        raise ValueError(f"clusters must be 2 to {plan.chosen:,}, as many as were drawn, got {len(sizes):,}")
    if sum(sizes.values()) > plan.population:
        raise ValueError(f"cluster_size must sum to {plan.population:,} at most, got {sum(sizes.values()):,}")
    return sizes
