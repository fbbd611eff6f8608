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
from ldpnb.surveys.samples import Point, Sample

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
    if plan.collection == "curator":
        if by or classes:
            raise ValueError("a curator's release tells nothing of groups or classes: it is one number")
        return Estimates(plan, alpha, (_released(plan, fieldwork.release(plan, columns), alpha),), plan.asked)
    device = plan.reports
    table_of_bits, sample = fieldwork.read(plan, columns)
    bits = dict(zip(plan.labels or (plan.quantity,), table_of_bits.T, strict=True))
    each = alpha / len(bits)
    if classes is None:
        rows = [_whole(device, sample, own, each, label) for label, own in bits.items()]
    else:
        fieldwork.check_invited(plan, classes)
        names, rows = column(columns, "class"), []
        for label, own in bits.items():
            point = samples.class_weighted(sample.population, names, classes, device.value(own), device)
            rows.append(_row(device, point, own.size, intervals.student(point, each), label))
    if plan.labels and sample.even and classes is None:
        rows = _distributions(device, table_of_bits, rows)
    for name in (by,) if isinstance(by, str) and by else by:
        if name in ("report", "id"):
            raise ValueError(f"by must be a public column, got {name}")
        groups = column(columns, name)
        for group in np.unique(groups):
            try:
                estimates = [(label, *_group(plan, sample, own, each, groups == group)) for label, own in bits.items()]
            except ValueError as error:
                raise ValueError(f"{name} {group} cannot be estimated: {error}") from None
            number = int((groups == group).sum())
            rows += [_row(device, point, number, ends, label, f"{name} {group}") for label, point, ends in estimates]
    asked = sum(part.size for part in sample.parts) if plan.open_size else plan.asked
    return Estimates(plan, alpha, tuple(rows), asked, classes is not None)


def _whole(device: Reports, sample: Sample, bits: NDArray[Any], alpha: float, label: str) -> Estimate:
    """Return the estimate for the population, or for all respondents."""
    point = samples.expansion(sample, device.value(bits), device)
    row = _row(device, point, bits.size, intervals.of_sample(device, sample, point, bits, alpha), label)
    if device.kind in ("number", "Laplace") or sample.is_simple:
        return row
    sampling, total = _design_effects(sample, device, point)
    return replace(row, design_effect=sampling, design_effect_total=total)


def _group(
    plan: FieldPlan, sample: Sample, bits: NDArray[Any], alpha: float, members: NDArray[np.bool_]
) -> tuple[Point, Interval]:
    """Return the estimate for a public group.

    Its members in a simple sample are one of the group, whose size is estimated. In other designs it is a ratio.
    """
    device, number = plan.reports, int(members.sum())
    if sample.is_simple:
        own = Sample.simple(number, max(number, round(number * sample.population / sample.reports)))
        point, known = samples.expansion(own, device.value(bits[members]), device), plan.design == "everyone"
        return point, intervals.of_sample(device, own, point, bits[members], alpha, known=known)
    inside = sum(bool(members[part.rows].any()) for part in sample.parts)
    if sample.clusters is not None and inside < 2:
        raise ValueError(f"reports must be of 2 clusters or more, got {inside}")
    if number < 2:
        raise ValueError(f"reports must be 2 or more, got {number}")
    point = samples.ratio(sample, device.value(bits), members.astype(int), device)
    return point, intervals.student(replace(point, freedom=min(point.freedom, number - 1)), alpha)


def _row(device: Reports, point: Point, number: int, ends: Interval, label: str, group: str = "") -> Estimate:
    """Return the row of an estimate, its interval clipped to the range."""
    variance, noise = max(float(point.variance), 0.0), max(float(point.randomisation), 0.0)
    sampling = variance - noise if variance - noise > _ROUNDING * variance else 0.0
    return Estimate(
        of=label,
        group=group,
        reports=number,
        estimate=float(point.estimate),
        standard_error=math.sqrt(variance),
        low=float(np.clip(ends.low, device.low, device.high)),
        high=float(np.clip(ends.high, device.low, device.high)),
        interval=ends.how,
        sampling_error=math.sqrt(sampling),
        randomisation_error=math.sqrt(min(noise, variance)),
        remark=ends.remark,
    )


def _design_effects(sample: Sample, device: Reports, point: Point) -> tuple[float, float]:
    """Return the sampling variance, and all of it, over those of a simple random sample with the same values."""
    number, people = sample.reports, sample.population
    between = (point.estimate - device.low) * (device.high - point.estimate) + point.variance
    simple = (1 - number / people) * people / (people - 1) * between / number
    if simple <= 0:
        return math.nan, math.nan
    sampling = max(0.0, float(point.variance - point.randomisation))
    return sampling / simple, float(point.variance) / (simple + device.noise(point.estimate) / number)


def _distributions(device: Reports, bits: NDArray[Any], rows: list[Estimate]) -> list[Estimate]:
    """Add the nearest distribution and the most likely one to the shares of labels."""
    nearest = project_simplex([row.estimate for row in rows])
    if device.kind == "labels":
        likeliest = krr_mle(bits.sum(axis=0).tolist(), epsilon=device.epsilon)
    else:
        words, times = np.unique(bits, axis=0, return_counts=True)
        unary = UnaryEncoding(float(device.p), float(device.q), len(device.labels))
        likeliest = support_mle(words.astype(np.uint8), times, unary).estimate
    pairs = zip(rows, nearest, likeliest, strict=True)
    return [replace(row, norm_sub=float(near), mle=float(likely)) for row, near, likely in pairs]


def _released(plan: FieldPlan, release: float, alpha: float) -> Estimate:
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
        variance = (1 - plan.answers / people) * people / (4 * (people - 1)) / plan.answers + 2 * scale**2
        half = intervals.released_half_width(variance, scale, alpha)
        low, high, how = share - half, share + half, "normal and Laplace law, worst variance"
    point = Point(release, span**2 * variance, 2 * plan.scale**2, math.inf)
    ends = Interval(plan.low + span * low, plan.low + span * high, how)
    return _row(device, point, plan.answers, ends, plan.quantity)
