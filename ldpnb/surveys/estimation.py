"""From a plan and the reports that came back to estimates: with standard errors, intervals, and the reasons for none.

`estimate` computes what the plan's promise is for, and nothing that the reports cannot tell. A standard error has two
parts, sampling and randomisation. Intervals are exact in the finite population where answers to yes/no questions or
labels are from a simple random sample; guaranteed through the device where the sample is simple or of one rate; else
Student's t with the degrees of freedom of the design.
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
from ldpnb.surveys.estimates import Estimate, Estimates
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.fieldwork import Columns
from ldpnb.surveys.reports import Reports, indicators
from ldpnb.surveys.samples import Point, Sample

_ROUNDING = 1e-12
_MISFIT = "the reports do not fit the device: its probabilities, or the answers, were not kept to"


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
        return Estimates(plan, alpha, (_released(plan, columns, alpha),), plan.asked)
    entries = fieldwork.entries(plan, columns)
    sample = fieldwork.sample(plan, columns, entries.size)
    labels = plan.reports.labels or ("mean" if plan.kind in ("number", "Laplace") else "share",)
    bits = {label: indicators(plan.reports, entries, label) for label in labels}
    each = alpha / len(labels)
    rows = [_whole(plan, sample, columns, bits[label], classes, each, label) for label in labels]
    if plan.labels and sample.even and classes is None:
        rows = _completed(plan.reports, entries, rows)
    for name in (by,) if isinstance(by, str) and by else by:
        if name in ("report", "id"):
            raise ValueError(f"by must be a public column, got {name}")
        groups = fieldwork.column(columns, name)
        for group in np.unique(groups):
            named = f"{name} {group}"
            rows += [_group(plan, sample, bits[label], groups == group, each, label, named) for label in labels]
    asked = sum(sample.sizes) if fieldwork.open_size(plan) else plan.asked
    return Estimates(plan, alpha, tuple(rows), asked, classes is not None)


def _whole(
    plan: FieldPlan,
    sample: Sample,
    columns: Columns,
    bits: NDArray[Any],
    classes: Mapping[str, int] | None,
    alpha: float,
    label: str,
) -> Estimate:
    """Return the estimate for the population, or for all respondents."""
    reports, values = plan.reports, plan.reports.value(bits)
    number = reports.kind == "number"
    if classes is not None:
        if number:
            raise ValueError("nonresponse classes have no variance estimate for one-bit numbers: use another mechanism")
        fieldwork.check_invited(plan, classes)
        point = samples.class_weighted(sample, fieldwork.column(columns, "class"), classes, values, reports.noise)
        return _row(reports, point, bits.size, _student(reports, point, point.parts[0][1], alpha), label)
    centre = (reports.low + reports.high) / 2
    point = samples.expansion(sample, values, centre, reports.noise, number=number)
    ends = _interval(plan, sample, point, bits, alpha)
    found = _row(reports, point, bits.size, ends, label)
    if reports.kind in ("number", "Laplace") or plan.design not in ("strata", "clusters", "two stages"):
        return found
    sampling, total = _design_effects(sample, reports, point)
    return replace(found, design_effect=sampling, design_effect_total=total)


def _group(
    plan: FieldPlan, sample: Sample, bits: NDArray[Any], members: NDArray[Any], alpha: float, label: str, group: str
) -> Estimate:
    """Return the estimate for a public group.

    Its members in a simple sample are one of the group, whose size is estimated. In other designs it is a ratio.
    """
    reports, size, number = plan.reports, int(members.sum()), plan.kind == "number"
    try:
        if plan.design in ("everyone", "simple"):
            own = Sample.simple(size, max(size, round(size * sample.population / sample.reports)))
            centre = (reports.low + reports.high) / 2
            point = samples.expansion(own, reports.value(bits[members]), centre, reports.noise, number=number)
            ends = _interval(plan, own, point, bits[members], alpha, known=plan.design == "everyone")
        else:
            _check_group(sample, members)
            point = samples.ratio(sample, reports.value(bits), members.astype(int), reports.noise, number=number)
            freedom = point.parts[0][1] if sample.clusters is not None else min(point.satterthwaite, size - 1)
            ends = _student(reports, point, freedom, alpha)
    except ValueError as error:
        raise ValueError(f"{group} cannot be estimated: {error}") from None
    return replace(_row(reports, point, size, ends, label), group=group)


def _check_group(sample: Sample, members: NDArray[Any]) -> None:
    """Refuse a group of which the reports tell no variance."""
    clusters = sum(bool(members[rows].any()) for rows in sample.positions)
    if sample.clusters is not None and clusters < 2:
        raise ValueError(f"reports must be of 2 clusters or more, got {clusters}")
    if members.sum() < 2:
        raise ValueError(f"reports must be 2 or more, got {members.sum()}")


Ends = tuple[float, float, str, str]
"""Low, high, how they were made, and a remark."""


def _interval(
    plan: FieldPlan, sample: Sample, point: Point, bits: NDArray[Any], alpha: float, *, known: bool = True
) -> Ends:
    """Choose the interval by the design and the number of reports alone, never by what they say.

    Where the size of the population is not `known`, that of its law is not exact.
    """
    reports, number = plan.reports, bits.size
    alone = plan.design in ("everyone", "simple")
    exact = known and alone and reports.kind in ("binary", "labels", "bits")
    if exact and number <= intervals.MOST_EXACT:
        holders = intervals.finite_share(int(bits.sum()), number, sample.population, reports, alpha)
        low, high = (float(reports.low + reports.span * h / sample.population) for h in holders)
        return low, high, "exact", _misfit(reports, bits, alpha)
    if sample.even and number > reports.guaranteed_from:
        return _guaranteed(reports, bits, alpha)
    freedom = point.satterthwaite if sample.clusters is None and not alone else sample.freedom
    return _student(reports, point, freedom, alpha)


def _guaranteed(reports: Reports, bits: NDArray[Any], alpha: float) -> Ends:
    rates = intervals.clopper_pearson(int(bits.sum()), bits.size, alpha)
    return *intervals.through_channel(reports, rates), "guaranteed", _misfit(reports, bits, alpha)


def _student(reports: Reports, point: Point, freedom: float, alpha: float) -> Ends:
    if not float(point.variance) > 0:
        raise ValueError(
            f"the variance estimate must be > 0, got {float(point.variance):.3g}: too few parts were drawn"
        )
    low, high = intervals.student(float(point.estimate), float(point.variance), freedom, alpha)
    return low, high, "normal" if math.isinf(freedom) else f"t, {freedom:.4g} df", ""


def _misfit(reports: Reports, bits: NDArray[Any], alpha: float) -> str:
    low, high = intervals.clopper_pearson(int(bits.sum()), bits.size, alpha)
    return _MISFIT if high < reports.q or low > reports.p else ""


def _row(reports: Reports, point: Point, number: int, ends: Ends, label: str) -> Estimate:
    variance, noise = float(point.variance), max(0.0, float(point.randomisation))
    sampling = variance - noise if variance - noise > _ROUNDING * variance else 0.0
    low, high = (min(max(end, float(reports.low)), float(reports.high)) for end in ends[:2])
    return Estimate(
        label,
        "",
        number,
        float(point.estimate),
        math.sqrt(max(variance, 0.0)),
        low,
        high,
        ends[2],
        math.sqrt(sampling),
        math.sqrt(min(noise, max(variance, 0.0))),
        remark=ends[3],
    )


def _design_effects(sample: Sample, reports: Reports, point: Point) -> tuple[float, float]:
    """Return the sampling variance, and all of it, over those of a simple random sample with the same values."""
    number, people = sample.reports, sample.population
    between = (point.estimate - reports.low) * (reports.high - point.estimate) + point.variance
    simple = (1 - number / people) * people / (people - 1) * between / number
    noise = reports.noise(point.estimate) / number
    if simple <= 0:
        return math.nan, math.nan
    sampling = max(0.0, float(point.variance - point.randomisation))
    return sampling / simple, float(point.variance) / (simple + noise)


def _completed(reports: Reports, entries: NDArray[Any], rows: list[Estimate]) -> list[Estimate]:
    """Add the nearest distribution and the most likely one to the shares of labels."""
    nearest = project_simplex([row.estimate for row in rows])
    if reports.kind == "labels":
        tallies = [int((entries == label).sum()) for label in reports.labels]
        likeliest = krr_mle(tallies, epsilon=reports.epsilon)
    else:
        words, times = np.unique(entries, return_counts=True)
        bits = np.array([[int(bit) for bit in word] for word in words], dtype=np.uint8)
        unary = UnaryEncoding(float(reports.p), float(reports.q), len(reports.labels))
        likeliest = support_mle(bits, times, unary).estimate
    pairs = zip(rows, nearest, likeliest, strict=True)
    return [replace(row, norm_sub=float(near), mle=float(likely)) for row, near, likely in pairs]


def _released(plan: FieldPlan, columns: Columns, alpha: float) -> Estimate:
    """Return the interval around a curator's one release."""
    words = fieldwork.column(columns, "report")
    if words.size != 1:
        raise ValueError(f"report must hold the one number that was released, got {words.size} rows")
    number, people, span = float(fieldwork.numbers(words)[0]), plan.population, plan.high - plan.low
    share, scale = (number - plan.low) / span, plan.scale / span
    if plan.kind == "binary":
        variance = intervals.released_variance(share, people, plan.answers, scale)
        low, high = (h / people for h in intervals.released_share(share, people, plan.answers, scale, alpha))
        way = "exact"
    else:  # of the values' variance a release tells nothing: the largest there is
        variance = (1 - plan.answers / people) * people / (4 * (people - 1)) / plan.answers + 2 * scale**2
        half = intervals.released_half_width(variance, scale, alpha)
        low, high, way = share - half, share + half, "normal and Laplace law, worst variance"
    noise = 2 * scale**2
    ends = [min(max(plan.low + span * end, plan.low), plan.high) for end in (low, high)]
    of = "share" if plan.kind == "binary" else "mean"
    errors = [span * math.sqrt(max(part, 0.0)) for part in (variance, variance - noise, noise)]
    return Estimate(of, "", plan.answers, number, errors[0], ends[0], ends[1], way, errors[1], errors[2])
