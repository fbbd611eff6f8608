"""What came back from the field, checked against the plan: reports that the device can produce, from those asked."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.surveys.columns import Words, column, distinct, refuse
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.samples import Sample

Columns = Mapping[str, NDArray[Any]]


def read(plan: FieldPlan, columns: Columns) -> tuple[NDArray[Any], Sample]:
    """Return what each report says of every label, ``(n, k)``, and the sample that the reports are from."""
    words = column(columns, "report", gaps=True)
    if plan.collection == "curator" and words.size != 1:
        raise ValueError(f"reports must be 1, the release, got {words.size:,}")
    most = np.inf if plan.open_size else plan.asked
    if not 1 <= words.size <= most:
        raise ValueError(f"reports must be 1 to {most:,}, as many as were invited, got {words.size:,}")
    if "id" in columns:
        receipts = column(columns, "id", gaps=True)
        distinct("id", receipts[receipts != ""])
    return plan.reports.read(words), _sample(plan, columns, words.size)


def _sample(plan: FieldPlan, columns: Columns, number: int) -> Sample:
    """Return the sample that the plan asked for."""
    if plan.strata:
        sizes, asked = ({name: pair[i] for name, pair in plan.strata.items()} for i in (0, 1))
        return Sample.of("stratum", column(columns, "stratum"), sizes, asked)
    if not plan.clusters:
        return Sample.simple(number, plan.population or number)
    clusters = column(columns, "cluster")
    sizes = _sizes(plan, columns, clusters)
    if not 2 <= len(sizes) <= plan.chosen:
        raise ValueError(f"clusters must be 2 to {plan.chosen:,}, as many as were drawn, got {len(sizes):,}")
    if sum(sizes.values()) > plan.population:
        raise ValueError(f"cluster_size must sum to {plan.population:,} at most, got {sum(sizes.values()):,}")
    asked = {name: min(plan.take or size, size) for name, size in sizes.items()}
    drawn = Sample.of("cluster", clusters, sizes, asked)
    return replace(drawn, population=plan.population, clusters=plan.clusters)


def _sizes(plan: FieldPlan, columns: Columns, clusters: Words) -> dict[str, int]:
    """Return how many people there are in each cluster drawn."""
    if plan.cluster_size:
        return dict.fromkeys(np.unique(clusters).tolist(), plan.cluster_size)
    words = column(columns, "cluster_size")
    wrong = np.array([not re.fullmatch(r"[1-9]\d*(\.0)?", word) for word in words])
    refuse(wrong, words, "cluster_size must be an integer >= 1")
    people = words.astype(float).astype(int)
    sizes = dict(zip(clusters.tolist(), people.tolist(), strict=True))
    refuse(people != [sizes[name] for name in clusters.tolist()], words, "cluster_size must be one number in a cluster")
    return sizes


def check_invited(plan: FieldPlan, classes: Mapping[str, int]) -> None:
    """Refuse nonresponse classes that are not those of the plan, or have no variance estimate."""
    if plan.kind == "number":
        raise ValueError("nonresponse classes have no variance estimate for one-bit numbers: use another mechanism")
    if plan.design != "simple":
        raise ValueError(f"nonresponse classes need design simple, got {plan.design}")
    number = sum(checks.whole(invited=invited, at_least=2) for invited in classes.values())
    if number != plan.asked:
        raise ValueError(f"invited must add up to the {plan.asked:,} of the plan, got {number:,}")
