"""From a plan and the reports that came back to estimates: with standard errors, intervals, and the reasons for none.

`estimate` computes what the plan's promise is for, and nothing that the reports cannot tell. A standard error has two
parts, sampling and randomisation.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.estimators.frequency import project_simplex
from ldpnb.estimators.likelihood import krr_mle, support_mle
from ldpnb.mechanisms.frequency import UnaryEncoding
from ldpnb.surveys import fieldwork, intervals, samples
from ldpnb.surveys.columns import column
from ldpnb.surveys.estimates import Estimate, Estimates
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.intervals import Interval
from ldpnb.surveys.reports import Reports
from ldpnb.surveys.samples import Floats, Point, Sample

_ROUNDING = 1e-12


def estimate(
    plan: FieldPlan,
    table: Any,
    *,
    by: str | Sequence[str] = (),
    classes: Mapping[str, int] | None = None,
    alpha: float = 0.05,
) -> Estimates:
    """Return the estimates that a plan's reports allow.

    Parameters
    ----------
    plan : FieldPlan
    table : DataFrame or mapping of columns
        ``report``, and as the design asks ``stratum``, ``cluster`` and ``cluster_size``; ``id`` if reports have
        receipts, ``class`` for nonresponse classes, and public columns for groups.
    by : str or sequence of str
        Public columns: estimates for each of their values, which must not be private.
    classes : mapping, optional
        How many were invited in each nonresponse class, of simple random samples.
    alpha : float
        Chance that an interval misses, of all labels together.

    Raises
    ------
    ValueError
        For reports that the device cannot produce or the plan did not ask for, and for what cannot be estimated.

    Examples
    --------
    >>> plan = FieldPlan(design="simple", kind="binary", p="3/4", q="1/4", population=40, asked=4)
    >>> round(estimate(plan, {"report": [1, 1, 0, 1]}).rows[0].estimate, 9)
    1.0
    """
    checks.open_probability(alpha=alpha)
    columns = {str(name): np.asarray(table[name]) for name in table}
    answers, sample = fieldwork.read(plan, columns)
    quantity = "mean" if plan.kind in ("number", "Laplace") else "share"
    pairs = list(zip(plan.labels or (quantity,), answers.T, strict=True))
    device, each = plan.reports, alpha / len(pairs)
    if plan.collection == "curator":
        if by or classes:
            raise ValueError("a curator's release tells nothing of groups or classes: it is one number")
        rows = [_released(plan, float(answers[0, 0]), alpha, quantity)]
    elif classes is None:
        rows = [_estimate(device, sample, own, each, label) for label, own in pairs]
        if plan.labels and sample.even:
            rows = _distributions(device, answers, rows)
    else:
        fieldwork.check_invited(plan, classes)
        names, rows = column(columns, "class"), []
        for label, own in pairs:
            point = samples.class_weighted(sample.population, names, classes, device.value(own), device)
            rows.append(_row(device, point, own.size, intervals.student(point, each), label))
    for name in (by,) if isinstance(by, str) and by else by:
        if name in ("report", "id"):
            raise ValueError(f"by must be a public column, got {name}")
        groups = column(columns, name)
        for group in np.unique(groups):
            members, words = groups == group, f"{name} {group}"
            try:
                rows += [_group(plan, sample, own, each, label, words, members) for label, own in pairs]
            except ValueError as error:
                raise ValueError(f"{words} cannot be estimated: {error}") from None
    asked = int(sample.sizes.sum()) if plan.open_size else plan.asked
    return Estimates(plan, alpha, tuple(rows), asked, classes is not None)


def _estimate(
    device: Reports, sample: Sample, bits: Floats, alpha: float, label: str, group: str = "", *, known: bool = True
) -> Estimate:
    """Return the estimate for the population, or for all respondents; of a complex sample with its design effects."""
    point, number, people = samples.estimated_mean(sample, device.value(bits), device), bits.size, sample.population
    ends = intervals.of_sample(device, sample, point, bits, alpha, known=known)
    row = _row(device, point, number, ends, label, group)
    spread = (point.estimate - device.low) * (device.high - point.estimate) + point.variance
    if device.kind in ("number", "Laplace") or sample.is_simple or number == people or spread <= 0:
        return row
    sampling = (people - number) / (people - 1) * spread / number
    total = point.variance / (sampling + device.noise(point.estimate) / number)
    return replace(row, design_effect=row.sampling_error**2 / sampling, design_effect_total=total)


def _group(
    plan: FieldPlan, sample: Sample, bits: Floats, alpha: float, label: str, group: str, members: NDArray[np.bool_]
) -> Estimate:
    """Return the estimate for a public group.

    Its members in a simple sample are one of the group, whose size is estimated. In other designs it is a ratio.
    """
    device, number, inside = plan.reports, int(members.sum()), np.unique(sample.part[members]).size
    if sample.is_simple:
        own = Sample.simple(number, max(number, round(number * sample.population / bits.size)))
        return _estimate(device, own, bits[members], alpha, label, group, known=plan.design == "everyone")
    if sample.clusters is not None and inside < 2:
        raise ValueError(f"reports must be of 2 clusters or more, got {inside}")
    if number < 2:
        raise ValueError(f"reports must be 2 or more, got {number}")
    point = samples.estimated_mean(sample, device.value(bits), device, members.astype(float))
    ends = intervals.student(replace(point, freedom=min(point.freedom, number - 1)), alpha)
    return _row(device, point, number, ends, label, group)


def _row(device: Reports, point: Point, number: int, ends: Interval, label: str, group: str = "") -> Estimate:
    """Return the row of an estimate, its interval clipped to the range."""
    variance, noise = max(point.variance, 0.0), max(point.randomisation, 0.0)
    sampling = variance - noise if variance - noise > _ROUNDING * variance else 0.0
    low, high = np.clip([ends.low, ends.high], device.low, device.high).tolist()
    error, parts = math.sqrt(variance), (math.sqrt(sampling), math.sqrt(min(noise, variance)))
    return Estimate(label, group, number, point.estimate, error, low, high, ends.how, *parts, remark=ends.remark)


def _distributions(device: Reports, answers: Floats, rows: list[Estimate]) -> list[Estimate]:
    """Add the nearest distribution and the most likely one to the shares of labels."""
    nearest = project_simplex([row.estimate for row in rows])
    if device.kind == "labels":
        likeliest = krr_mle(answers.sum(axis=0).tolist(), epsilon=device.epsilon)
    else:
        words, times = np.unique(answers, axis=0, return_counts=True)
        unary = UnaryEncoding(float(device.p), float(device.q), len(device.labels))
        likeliest = support_mle(words.astype(np.uint8), times, unary).estimate
    pairs = zip(rows, nearest, likeliest, strict=True)
    return [replace(row, norm_sub=float(near), mle=float(likely)) for row, near, likely in pairs]


def _released(plan: FieldPlan, release: float, alpha: float, quantity: str) -> Estimate:
    """Return the estimate that a curator's one release is.

    Of the values' variance the release of a mean tells nothing: the largest that there is is assumed.
    """
    device, people, span = plan.reports, plan.population, plan.high - plan.low
    share, scale = (release - plan.low) / span, plan.scale / span
    if plan.kind == "binary":
        variance = intervals.released_variance(share, people, plan.answers, scale)
        low, high = (h / people for h in intervals.released_share(share, people, plan.answers, scale, alpha))
        how = "exact"
    else:
        variance = (people - plan.answers) / (people - 1) / 4 / plan.answers + 2 * scale**2
        half = intervals.released_half_width(variance, scale, alpha)
        low, high, how = share - half, share + half, "normal and Laplace law, worst variance"
    point = Point(release, span**2 * variance, 2 * plan.scale**2, math.inf)
    ends = Interval(plan.low + span * low, plan.low + span * high, how)
    return _row(device, point, plan.answers, ends, quantity)
