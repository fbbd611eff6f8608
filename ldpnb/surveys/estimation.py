"""From a plan and the reports that came back to estimates: with standard errors, intervals, and the reasons for none.

`estimate` computes what the plan's promise is for, and nothing that the reports cannot tell. A standard error has two
parts, sampling and randomisation. Intervals are exact in the finite population where answers to yes/no questions or
labels are from a simple random sample; guaranteed through the device where the sample is simple or of one rate; else
Student's t with the degrees of freedom of the design.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.estimators.frequency import project_simplex
from ldpnb.estimators.likelihood import krr_mle, support_mle
from ldpnb.mechanisms.frequency import UnaryEncoding
from ldpnb.surveys import intervals, samples
from ldpnb.surveys.field_plan import ESTIMATORS, FieldPlan
from ldpnb.surveys.reports import Reports, indicators
from ldpnb.surveys.samples import Point, Sample

Columns = Mapping[str, NDArray[Any]]

_BITS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}
_MISFIT = "the reports do not fit the device: its probabilities, or the answers, were not kept to"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number and how far it may be off.

    Parameters
    ----------
    of : str
        A label, "share" or "mean".
    group : str
        Empty for the population.
    reports : int
    estimate, standard_error, low, high : float
        `low` and `high` are clipped to the range, the unbiased estimate is not.
    interval : str
        How it was made: "exact", "guaranteed", or "t" with its degrees of freedom.
    sampling_error, randomisation_error : float
        Parts of the standard error; their squares add up to its square. Where chance makes the first negative it is 0.
    design_effect, design_effect_total : float
        Sampling variance, and all of it, over that of a simple random sample of as many; nan where nothing can be told.
    norm_sub, mle : float
        The same share of the estimate that is nearest among all distributions, and of the most likely one.
    remark : str
    """

    of: str
    group: str
    reports: int
    estimate: float
    standard_error: float
    low: float
    high: float
    interval: str
    sampling_error: float = math.nan
    randomisation_error: float = math.nan
    design_effect: float = math.nan
    design_effect_total: float = math.nan
    norm_sub: float = math.nan
    mle: float = math.nan
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Estimates:
    """All estimates of a survey; ``print`` shows the sentences for a report."""

    plan: FieldPlan
    alpha: float
    rows: tuple[Estimate, ...]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row per estimate; columns in which nothing is known are left out."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows]).replace("", None).dropna(axis=1, how="all")

    def to_json(self) -> str:
        """Return a JSON object; what is not known is null."""
        rows = [{k: None if v != v else v for k, v in asdict(row).items()} for row in self.rows]
        return json.dumps(
            {"estimator": ESTIMATORS[self.plan.estimator], "level": 1 - self.alpha, "estimates": rows}, indent=1
        )

    def __str__(self) -> str:
        plan = self.plan
        lines = [self._sentence(row) for row in self.rows]
        lines.append(f"Estimator: {ESTIMATORS[plan.estimator]}.")
        whom = "those who answered" if plan.design == "everyone" else f"the population of {_people(plan):,}"
        lines.append(f"Standard errors and intervals are for {whom}.")
        whole = next((row for row in self.rows if not row.group), None)
        if whole and plan.error == plan.error:
            kept = whole.reports >= plan.answers
            reason = "" if kept else f", which is void: {plan.answers:,} answers were planned for"
            lines.append(
                f"The plan promised an error below {plan.error:.4g} except with probability {plan.failure:g}{reason}."
            )
        return "\n".join(lines)

    def _sentence(self, row: Estimate) -> str:
        whose = f" among {row.group}" if row.group else ""
        what = f"share of {row.of}" if self.plan.labels else row.of
        parts = f": sampling {row.sampling_error:.3g}, randomisation {row.randomisation_error:.3g}"
        together = ", simultaneous" if self.plan.labels else ""
        effect = f"; design effect {row.design_effect:.3g} of sampling, {row.design_effect_total:.3g} in all"
        return (
            f"The {what}{whose} is estimated at {row.estimate:.4g} (standard error {row.standard_error:.3g}"
            f"{parts if row.sampling_error == row.sampling_error else ''}; {100 * (1 - self.alpha):g} % interval "
            f"{row.low:.4g} to {row.high:.4g}, {row.interval}{together}; {row.reports:,} reports"
            f"{effect if row.design_effect == row.design_effect else ''})."
            + (f" Beware: {row.remark}." if row.remark else "")
        )


def estimate(
    plan: FieldPlan,
    table: Any,
    *,
    by: str = "",
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
    by : str
        A public column: estimates for each of its values, which must not be private.
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
        return Estimates(plan, alpha, (_released(plan, columns, alpha),))
    entries = _entries(plan, columns)
    sample = _sample(plan, columns, entries.size)
    labels = plan.reports.labels or ("mean" if plan.kind in ("number", "Laplace") else "share",)
    rows = []
    for label in labels:
        bits = indicators(plan.reports, entries, label)
        rows.append(_whole(plan, sample, columns, bits, classes, alpha / len(labels), label))
    if plan.labels and sample.even and classes is None:
        rows = _completed(plan.reports, entries, rows)
    for group in np.unique(_column(columns, by).astype(str)) if by else ():
        members = (columns[by].astype(str) == group).astype(int)
        for label in labels:
            bits = indicators(plan.reports, entries, label)
            rows.append(_group(plan, sample, bits, members, alpha / len(labels), label, f"{by} {group}"))
    return Estimates(plan, alpha, tuple(rows))


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
        _check_invited(plan, classes)
        point = samples.class_weighted(sample, _column(columns, "class"), classes, values, reports.noise)
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
    """Return the estimate for a public group: a ratio, since how many belong to it is not known."""
    reports, size = plan.reports, int(members.sum())
    try:
        point = samples.ratio(sample, reports.value(bits), members, reports.noise, number=reports.kind == "number")
    except ValueError as error:
        raise ValueError(f"{group} cannot be estimated: {error}") from None
    if plan.design in ("everyone", "simple") and size > reports.guaranteed_from:
        ends = _guaranteed(reports, bits[members == 1], alpha)
    else:
        freedom = point.parts[0][1] if sample.clusters is not None else min(point.satterthwaite, size - 1)
        ends = _student(reports, point, freedom, alpha)
    return replace(_row(reports, point, size, ends, label), group=group)


Ends = tuple[float, float, str, str]
"""Low, high, how they were made, and a remark."""


def _interval(plan: FieldPlan, sample: Sample, point: Point, bits: NDArray[Any], alpha: float) -> Ends:
    """Choose the interval by the design and the number of reports alone, never by what they say."""
    reports, number = plan.reports, bits.size
    alone = plan.design in ("everyone", "simple")
    if alone and reports.kind in ("binary", "labels", "bits") and number <= intervals.MOST_EXACT:
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
        math.sqrt(max(variance - noise, 0.0)),
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
    column = _column(columns, "report")
    if column.size != 1:
        raise ValueError(f"report must hold the one number that was released, got {column.size} rows")
    number, people, span = float(_noisy(column, plan)[0]), plan.population, plan.high - plan.low
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


def _column(columns: Columns, name: str) -> NDArray[Any]:
    if name not in columns:
        raise ValueError(f"column {name} must be among the reports' columns, got {', '.join(columns)}")
    if columns[name].size == 0:
        raise ValueError("reports must be at least 1, got none")
    return columns[name]


def _entries(plan: FieldPlan, columns: Columns) -> NDArray[Any]:
    """Return the reports after refusing those that the device cannot produce."""
    for name in plan.columns:
        _column(columns, name)
    column = columns["report"]
    if column.size > plan.asked:
        raise ValueError(f"reports must be at most {plan.asked:,}, as many as were invited, got {column.size:,}")
    if "id" in columns:
        receipts = columns["id"].astype(str)
        kinds, times = np.unique(receipts[receipts != ""], return_counts=True)
        if (times > 1).any():
            raise ValueError(f"id must be of one report each, got {kinds[times > 1][0]} {times.max()} times")
    if plan.kind == "Laplace":
        return _noisy(column, plan)
    words = np.char.strip(column.astype(str))
    if plan.kind == "labels":
        return _allowed(words, np.isin(words, plan.labels), f"one of {', '.join(plan.labels)}")
    if plan.kind == "bits":
        size = len(plan.labels)
        fits = np.array([len(word) == size and set(word) <= {"0", "1"} for word in words])
        return _allowed(words, fits, f"a word of {size} bits, one per label")
    _allowed(words, np.isin(words, list(_BITS)), "0 or 1")
    return np.array([_BITS[word] for word in words])


def _allowed(words: NDArray[Any], fits: NDArray[Any], rule: str) -> NDArray[Any]:
    if not fits.all():
        row = int(np.argmin(fits))
        raise ValueError(f"report must be {rule}, got {str(words[row])!r} in row {row + 1}")
    return words


def _noisy(column: NDArray[Any], plan: FieldPlan) -> NDArray[np.float64]:
    try:
        values = column.astype(float)
    except ValueError as error:
        raise ValueError(f"report must be a number, {checks.shown(str(error))}") from None
    if not np.isfinite(values).all():
        raise ValueError(f"report must be a finite number, got {values[~np.isfinite(values)][0]}")
    return values


def _sample(plan: FieldPlan, columns: Columns, number: int) -> Sample:
    """Return the sample that the plan asked for, after refusing reports from elsewhere."""
    if plan.design in ("everyone", "simple"):
        return Sample.simple(number, plan.population or number)
    if plan.design == "strata":
        strata = plan.strata or {}
        sample = Sample.stratified(columns["stratum"], {name: size for name, (size, _) in strata.items()})
        for (name, (_, asked)), rows in zip(strata.items(), sample.positions, strict=True):
            if rows.size > asked:
                raise ValueError(f"stratum {name} must have at most {asked:,} reports, as invited, got {rows.size:,}")
        return sample
    drawn = columns["cluster"].astype(str)
    names = np.unique(drawn)
    if names.size > plan.chosen:
        raise ValueError(f"clusters must be at most {plan.chosen:,}, as many as were drawn, got {names.size:,}")
    sample = Sample.clustered(drawn, plan.clusters, plan.population, _cluster_sizes(plan, columns, drawn))
    for name, rows in zip(sample.names, sample.positions, strict=True):
        if plan.take and rows.size > plan.take:
            raise ValueError(f"{name} must have at most {plan.take:,} reports, as invited, got {rows.size:,}")
    return sample


def _cluster_sizes(plan: FieldPlan, columns: Columns, drawn: NDArray[Any]) -> dict[str, int] | None:
    """Return how many people are in each cluster drawn; None where all of them have answered."""
    if "cluster_size" not in columns:
        return {str(name): plan.cluster_size for name in np.unique(drawn)} if plan.cluster_size else None
    sizes: dict[str, int] = {}
    for name, size in zip(drawn.tolist(), columns["cluster_size"].tolist(), strict=True):
        try:
            whole = int(checks.whole(cluster_size=float(size), at_least=1))
        except ValueError:
            raise ValueError(f"cluster_size must be an integer >= 1, got {size!r} in cluster {name}") from None
        if sizes.setdefault(name, whole) != whole:
            raise ValueError(f"cluster_size must be one number in cluster {name}, got {sizes[name]} and {whole}")
    return sizes


def _check_invited(plan: FieldPlan, classes: Mapping[str, int]) -> None:
    if plan.design not in ("everyone", "simple"):
        raise ValueError(f"nonresponse classes need design simple, got {plan.design}")
    number = sum(checks.whole(invited=invited, at_least=1) for invited in classes.values())
    if number != plan.asked:
        raise ValueError(f"invited must add up to the {plan.asked:,} of the plan, got {number:,}")


def _people(plan: FieldPlan) -> int:
    return sum(size for size, _ in plan.strata.values()) if plan.strata else plan.population
