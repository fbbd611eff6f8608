"""What came back from the field, checked against the plan: reports that the device can produce, from those asked."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.surveys.columns import column, distinct
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.samples import Sample

Columns = Mapping[str, NDArray[Any]]


def release(plan: FieldPlan, columns: Columns) -> float:
    """Return the one number that a curator released."""
    words = column(columns, "report")
    if words.size != 1:
        raise ValueError(f"report must hold the one number that was released, got {words.size} rows")
    return float(plan.reports.read(words.tolist())[0, 0])


def read(plan: FieldPlan, columns: Columns) -> tuple[NDArray[Any], Sample]:
    """Return what each report says of every label, ``(n, k)``, and the sample that the reports are from."""
    words = column(columns, "report", gaps=True)
    if not words.size:
        raise ValueError("reports must be at least 1, got none")
    if words.size > plan.asked and not plan.open_size:
        raise ValueError(f"reports must be at most {plan.asked:,}, as many as were invited, got {words.size:,}")
    if "id" in columns:
        receipts = column(columns, "id", gaps=True)
        distinct("id", receipts[receipts != ""])
    return plan.reports.read(words.tolist()), _sample(plan, columns, words.size)


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


def _sizes(plan: FieldPlan, columns: Columns, clusters: NDArray[np.str_]) -> dict[str, int]:
    """Return how many people there are in each cluster drawn."""
    if plan.cluster_size:
        return dict.fromkeys(np.unique(clusters).tolist(), plan.cluster_size)
    sizes: dict[str, int] = {}
    pairs = zip(clusters.tolist(), column(columns, "cluster_size").tolist(), strict=True)
    for name, size in sorted(pairs):
        try:
            whole = int(checks.whole(cluster_size=float(size), at_least=1))
        except ValueError:
            raise ValueError(f"cluster_size must be an integer >= 1, got {size!r} in cluster {name}") from None
        if sizes.setdefault(name, whole) != whole:
            raise ValueError(f"cluster_size must be one number in cluster {name}, got {sizes[name]} and {whole}")
    return sizes


def check_invited(plan: FieldPlan, classes: Mapping[str, int]) -> None:
    """Refuse nonresponse classes that are not those of the plan, or have no variance estimate."""
    if plan.kind == "number":
        raise ValueError("nonresponse classes have no variance estimate for one-bit numbers: use another mechanism")
    if plan.design != "simple":
        raise ValueError(f"nonresponse classes need design simple, got {plan.design}")
    number = sum(checks.whole(invited=invited, at_least=1) for invited in classes.values())
    if number != plan.asked:
        raise ValueError(f"invited must add up to the {plan.asked:,} of the plan, got {number:,}")
