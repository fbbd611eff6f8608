"""What came back from the field, checked against the plan: reports that the device can produce, from those asked."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.samples import Sample

Columns = Mapping[str, NDArray[Any]]

_BITS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}


def column(columns: Columns, name: str) -> NDArray[np.str_]:
    """Return a column as words, which must be there and without gaps."""
    words = _words(columns, name)
    if (words == "").any():
        raise ValueError(f"{name} must be given in every row, got '' in row {int(np.argmax(words == '')) + 1}")
    return words


def _words(columns: Columns, name: str) -> NDArray[np.str_]:
    """Return the entries of a column as words, a missing one as ''."""
    if name not in columns:
        raise ValueError(f"column {name} must be among the reports' columns, got {', '.join(columns)}")
    entries = columns[name].tolist()
    if not entries:
        raise ValueError("reports must be at least 1, got none")
    return np.array(["" if entry is None or entry != entry else str(entry).strip() for entry in entries], dtype=str)


def entries(plan: FieldPlan, columns: Columns) -> NDArray[Any]:
    """Return the reports, after refusing those that the device cannot produce or that nobody was asked for."""
    for name in plan.columns:
        _words(columns, name)
    words = _words(columns, "report")
    if words.size > plan.asked and not open_size(plan):
        raise ValueError(f"reports must be at most {plan.asked:,}, as many as were invited, got {words.size:,}")
    if "id" in columns:
        receipts = _words(columns, "id")
        kinds, times = np.unique(receipts[receipts != ""], return_counts=True)
        if (times > 1).any():
            raise ValueError(f"id must be of one report each, got {kinds[times > 1][0]} {times.max()} times")
    if plan.kind == "Laplace":
        return numbers(words)
    if plan.kind == "labels":
        return _allowed(words, np.isin(words, plan.labels), f"one of {', '.join(plan.labels)}")
    if plan.kind == "bits":
        size = len(plan.labels)
        fits = np.array([len(word) == size and set(word) <= {"0", "1"} for word in words])
        return _allowed(words, fits, f"a word of {size} bits, one per label")
    _allowed(words, np.isin(words, list(_BITS)), "0 or 1")
    return np.array([_BITS[word] for word in words])


def open_size(plan: FieldPlan) -> bool:
    """Return whether the plan leaves open how many are asked: everybody in clusters whose sizes differ."""
    return plan.design == "clusters" and not plan.cluster_size


def _allowed(words: NDArray[np.str_], fits: NDArray[np.bool_], rule: str) -> NDArray[np.str_]:
    if not fits.all():
        row = int(np.argmin(fits))
        raise ValueError(f"report must be {rule}, got {str(words[row])!r} in row {row + 1}")
    return words


def numbers(words: NDArray[np.str_]) -> NDArray[np.float64]:
    """Return reports that are noisy numbers."""
    values = []
    for row, word in enumerate(words.tolist()):
        try:
            values.append(float(word))
        except ValueError:
            values.append(math.nan)
        if not math.isfinite(values[-1]):
            raise ValueError(f"report must be a finite number, got {checks.shown(word)!r} in row {row + 1}")
    return np.array(values)


def sample(plan: FieldPlan, columns: Columns, number: int) -> Sample:
    """Return the sample that the plan asked for, after refusing reports from elsewhere."""
    if plan.design in ("everyone", "simple"):
        return Sample.simple(number, plan.population or number)
    if plan.design == "strata":
        strata, names = plan.strata or {}, column(columns, "stratum")
        if (unknown := ~np.isin(names, list(strata))).any():
            row = int(np.argmax(unknown))
            raise ValueError(f"stratum must be one of {', '.join(strata)}, got {names[row]} in row {row + 1}")
        drawn = Sample.stratified(names, {name: size for name, (size, _) in strata.items()})
        for (name, (_, asked)), rows in zip(strata.items(), drawn.positions, strict=True):
            if rows.size > asked:
                raise ValueError(f"stratum {name} must have at most {asked:,} reports, as invited, got {rows.size:,}")
        return drawn
    clusters = column(columns, "cluster")
    number = np.unique(clusters).size
    if number > plan.chosen:
        raise ValueError(f"clusters must be at most {plan.chosen:,}, as many as were drawn, got {number:,}")
    drawn = Sample.clustered(clusters, plan.clusters, plan.population, _sizes(plan, columns, clusters))
    for name, rows in zip(drawn.names, drawn.positions, strict=True):
        if plan.take and rows.size > plan.take:
            raise ValueError(f"{name} must have at most {plan.take:,} reports, as invited, got {rows.size:,}")
    if sum(drawn.sizes) > plan.population:
        raise ValueError(f"cluster_size must sum to {plan.population:,} at most, got {sum(drawn.sizes):,}")
    return drawn


def _sizes(plan: FieldPlan, columns: Columns, clusters: NDArray[np.str_]) -> dict[str, int]:
    """Return how many people there are in each cluster drawn."""
    if plan.cluster_size:
        return {str(name): plan.cluster_size for name in np.unique(clusters)}
    sizes: dict[str, int] = {}
    for name, size in zip(clusters.tolist(), column(columns, "cluster_size").tolist(), strict=True):
        try:
            whole = int(checks.whole(cluster_size=float(size), at_least=1))
        except ValueError:
            raise ValueError(f"cluster_size must be an integer >= 1, got {size!r} in cluster {name}") from None
        if sizes.setdefault(name, whole) != whole:
            raise ValueError(f"cluster_size must be one number in cluster {name}, got {sizes[name]} and {whole}")
    return sizes


def check_invited(plan: FieldPlan, classes: Mapping[str, int]) -> None:
    """Refuse nonresponse classes that are not those of the plan."""
    if plan.design != "simple":
        raise ValueError(f"nonresponse classes need design simple, got {plan.design}")
    number = sum(checks.whole(invited=invited, at_least=1) for invited in classes.values())
    if number != plan.asked:
        raise ValueError(f"invited must add up to the {plan.asked:,} of the plan, got {number:,}")
