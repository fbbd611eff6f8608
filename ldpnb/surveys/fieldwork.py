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
from ldpnb.arithmetic import Floats
from ldpnb.rng import stream
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.samples import Sample

Words = NDArray[np.str_]


def column(table: Any, name: str, *, gaps: bool = False) -> Words:
    """Return a column as words, ``(n,)``, which must be there; a missing entry is '' where there may be `gaps`."""
    if name not in table:
        raise ValueError(
            f"column {name} must be among the columns, got {', '.join(map(str, table))}"
        )
    entries = np.asarray(table[name])
    if entries.dtype.kind not in "iU":  # pandas knows which are missing
        entries = pd.Series(entries).astype("string").fillna("").to_numpy(dtype=str)
    words: Words = np.strings.strip(entries.astype(str))
    if not gaps:
        _refuse(words == "", words, f"{name} must be given in every row")
    return words


def _refuse(wrong: NDArray[np.bool_], words: Words, rule: str) -> None:
    """Refuse a column of which some rows are wrong, naming the first."""
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{rule}, got {checks.shortened(str(words[row]))} in row {row + 1}")


def _ids(table: Any, *, gaps: bool = False) -> Words:
    """Return the ids, each of which must be there once."""
    ids = column(table, "id", gaps=gaps)
    _refuse(pd.Series(ids).duplicated().to_numpy() & (ids != ""), ids, "id must be there once each")
    return ids


def draw(plan: FieldPlan, frame: Mapping[str, Any], *, seed: int) -> pd.DataFrame:
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
    ids, unit = _ids(frame), plan.unit
    names = column(frame, unit) if unit else np.full(ids.size, "all")
    people = {name: ids[names == name] for name in np.unique(names).tolist()}
    parts = plan.parts({name: plan.cluster_size or own.size for name, own in people.items()})
    if plan.clusters:
        _as_planned("frame", ids.size, plan.population, "people")
        _as_planned("frame", len(people), plan.clusters, "clusters")
    else:
        _as_planned("frame", len(people.keys() | parts), len(parts), "strata")
    for name, (size, _) in parts.items():
        _as_planned(
            f"{unit} {name}" if unit else "frame", len(people.get(name, ())), size, "people"
        )
    chosen = _drawn(np.array([*parts]), plan.chosen, "clusters", seed) if plan.clusters else parts
    drawn = []
    for name in chosen:
        size, asked = parts[name]
        ids = _drawn(people[name], asked, f"{unit} {name}" if unit else "people", seed)
        columns: dict[str, Any] = {"id": ids} | ({unit: name} if unit else {})
        drawn.append(pd.DataFrame(columns | ({"cluster_size": str(size)} if plan.clusters else {})))
    return pd.concat(drawn, ignore_index=True)


def _drawn(names: NDArray[Any], number: int, part: str, seed: int) -> NDArray[Any]:
    """Return the names with the smallest numbers of the part's stream, in ascending order."""
    names = np.sort(names)
    return names[np.sort(np.argsort(stream("draw", part, seed=seed).random(names.size))[:number])]


def _as_planned(what: str, number: int, planned: int, unit: str) -> None:
    if number != planned:
        raise ValueError(f"{what} must have the {planned:,} {unit} of the plan, got {number:,}")


def read(
    plan: FieldPlan, table: Any, classes: Mapping[str, int] | None = None
) -> tuple[Floats, Sample]:
    """Return what each report says of every label, ``(n, k)``, and the sample that the reports are from.

    With nonresponse `classes` that is the sample of those who answered among those invited in each. A part of the
    sample with more reports than people who were asked is refused, or with fewer than a variance needs.
    """
    words, unit = column(table, "report", gaps=True), plan.unit if classes is None else "class"
    if "id" in table:
        _ids(table, gaps=True)
    answers, names = (
        _answers(plan, words),
        column(table, unit) if unit else np.full(words.size, "all"),
    )
    if plan.device == "curator":
        if words.size != 1 or classes is not None:
            raise ValueError(
                f"a curator must release one number, of no classes, got {words.size:,} reports"
            )
        return answers, Sample.simple(plan.answers, plan.population)
    if classes is not None:
        parts = _invited(plan, classes)
    else:
        parts = plan.parts(_drawn_sizes(plan, table, names) if plan.clusters else {})
    part = pd.Index([*parts]).get_indexer(names)  # type: ignore[arg-type]
    _refuse(part < 0, names, f"{unit} must be one of {', '.join(parts)}")
    for (name, (people, asked)), number in zip(
        parts.items(), np.bincount(part, minlength=len(parts)), strict=True
    ):
        least = 1 if people == 1 else 2
        if not least <= number <= asked:
            what, rule = (
                f"{unit} {name}" if unit else "the survey",
                "as many as were invited at most",
            )
            raise ValueError(
                f"{what} must have {least} to {asked:,} reports, {rule}, got {number:,}"
            )
    if plan.design == "everyone":
        return answers, Sample.simple(words.size, words.size)
    sizes = np.array([people for people, _ in parts.values()], dtype=float)
    return answers, Sample(sizes, part, plan.population or int(sizes.sum()), plan.clusters)


def _answers(plan: FieldPlan, words: Words) -> Floats:
    """Return what each report says; refuse reports that the device cannot produce."""
    if plan.noisy:
        numbers = pd.to_numeric(pd.Series(words), errors="coerce").to_numpy(dtype=float)
        _refuse(~np.isfinite(numbers), words, "report must be a finite number")
        return ((numbers - plan.low) / plan.span)[:, None]
    if plan.kind == "labels":
        _refuse(
            ~np.isin(words, plan.labels), words, f"report must be one of {', '.join(plan.labels)}"
        )
        return (words[:, None] == np.array(plan.labels)).astype(float)
    k = len(plan.labels)
    fits, rule = np.isin(words, ("0", "1", "0.0", "1.0")), "0 or 1"
    if k:
        fits = pd.Series(words).str.fullmatch(f"[01]{{{k}}}").to_numpy(dtype=bool)
        rule = f"a word of {k} bits, one per label"
    _refuse(~fits, words, f"report must be {rule}")
    return words.astype(f"U{k or 1}").view("U1").reshape(-1, k or 1).astype(float)


def _invited(plan: FieldPlan, classes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return the parts of a sample by nonresponse classes; refuse other classes than the plan's."""
    if plan.kind == "number":
        raise ValueError(
            "nonresponse classes have no variance estimate for one-bit numbers: use another mechanism"
        )
    if plan.design != "simple":
        raise ValueError(f"nonresponse classes need design simple, got {plan.design}")
    number = sum(checks.whole(invited, "invited", at_least=2) for invited in classes.values())
    if number != plan.asked:
        raise ValueError(f"invited must add up to the {plan.asked:,} of the plan, got {number:,}")
    return {name: (invited, invited) for name, invited in classes.items()}


def _drawn_sizes(plan: FieldPlan, table: Any, clusters: Words) -> dict[str, int]:
    """Return how many people there are in each cluster drawn; refuse more than the plan draws or has."""
    sizes = dict.fromkeys(np.unique(clusters).tolist(), plan.cluster_size)
    if not plan.cluster_size:
        words = column(table, "cluster_size")
        people = pd.to_numeric(pd.Series(words), errors="coerce").to_numpy(dtype=float)
        _refuse(~((people >= 1) & (people % 1 == 0)), words, "cluster_size must be an integer >= 1")
        sizes |= zip(clusters.tolist(), people.astype(int).tolist(), strict=True)
        other = people != [sizes[name] for name in clusters.tolist()]
        _refuse(other, words, "cluster_size must be one number in a cluster")
    if not 2 <= len(sizes) <= plan.chosen:
        raise ValueError(
            f"clusters must be 2 to {plan.chosen:,}, as many as were drawn, got {len(sizes):,}"
        )
    if sum(sizes.values()) > plan.population:
        raise ValueError(
            f"cluster_size must sum to {plan.population:,} at most, got {sum(sizes.values()):,}"
        )
    return sizes
