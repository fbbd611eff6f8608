"""From a plan and the reports that came back to estimates: with standard errors, intervals, and the reasons for none.

`estimate` computes what the plan's promise is for, and nothing that the reports cannot tell. A standard error has two
parts, sampling and randomisation.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Floats
from ldpnb.claims import rounded_up
from ldpnb.estimators.frequency import project_simplex
from ldpnb.surveys import fieldwork, intervals
from ldpnb.surveys.field_plan import ESTIMATORS, FieldPlan
from ldpnb.surveys.intervals import Interval
from ldpnb.surveys.samples import Point, Sample, estimated_mean, released_mean

_SHOWN = ["of", "group", "reports", "estimate", "standard_error", "low", "high", "norm_sub"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number and how far it may be off.

    `of` is a label, "share" or "mean"; `group` is empty for the population. The interval is clipped to the range, and
    the unbiased estimate is not; `interval` is "exact", "guaranteed", or "t" with its degrees of freedom. The squares
    of the errors by sampling and by randomisation add up to that of the standard error; where chance makes the first
    negative it is 0. A design effect is the variance by sampling, or all of it, over that of a simple random sample of
    as many; nan where nothing can be told. `norm_sub` is the same share of the nearest distribution.
    """

    of: str
    group: str
    reports: int
    estimate: float
    standard_error: float
    low: float
    high: float
    interval: str
    sampling_error: float
    randomisation_error: float
    design_effect: float = math.nan
    design_effect_total: float = math.nan
    norm_sub: float = math.nan
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Estimates:
    """All estimates of a survey, the population's first; ``print`` shows a table and the sentences for a report.

    `alpha` is the chance that an interval misses, of all labels together; `asked` are the people who were asked, of the
    clusters that have reports where the plan leaves it open; `estimator` is one of the sentences of
    `field_plan.ESTIMATORS`; `lost` are the clusters drawn that have no reports, or the strata with fewer than the
    promise needs.
    """

    plan: FieldPlan
    alpha: float
    rows: tuple[Estimate, ...]
    asked: int
    estimator: str
    lost: int = 0

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return a row per estimate, and what was computed; what is not known is None."""
        rows = [{k: None if v != v else v for k, v in asdict(row).items()} for row in self.rows]
        return {
            "estimates": rows,
            "survey": [{"estimator": self.estimator, "level": round(1 - self.alpha, 12)}],
        }

    def __str__(self) -> str:
        import pandas as pd
        from jinja2 import Environment

        table = (
            pd.DataFrame(self.tables()["estimates"])[_SHOWN]
            .replace("", None)
            .dropna(axis=1, how="all")
        )
        shown = table.to_string(index=False, na_rep="", float_format=lambda number: f"{number:.4g}")
        template = files(__package__).joinpath("result.txt").read_text(encoding="utf-8")
        words = Environment(trim_blocks=True).from_string(template)
        promised = ESTIMATORS[self.plan.estimator]
        return words.render(
            result=self,
            plan=self.plan,
            rows=self.rows,
            table=shown,
            promised=promised,
            up=rounded_up,
        ).rstrip()


def estimate(
    plan: FieldPlan,
    table: Any,
    *,
    by: str | Sequence[str] = (),
    classes: Mapping[str, int] | None = None,
    alpha: float = 0.05,
) -> Estimates:
    """Return the estimates that a plan's reports allow.

    - `plan`, FieldPlan
    - `table`, DataFrame or mapping of columns: ``report``, and as the design asks ``stratum``, ``cluster`` and
      ``cluster_size``; ``id`` if reports have receipts, ``class`` for nonresponse classes, and public columns. Of a
      curator one row, with the release.
    - `by`, str or sequence of str: public columns: estimates for each of their values, which must not be private.
    - `classes`, mapping, optional: how many were invited in each nonresponse class, of simple random samples.
    - `alpha`, float: chance that an interval misses, of all labels together.

    Reports that the device cannot produce or the plan did not ask for, and what cannot be estimated, are a ValueError.

    >>> plan = FieldPlan(design="simple", kind="binary", p="3/4", q="1/4", population=40, asked=4)
    >>> round(estimate(plan, {"report": [1, 1, 0, 1]}).rows[0].estimate, 9)
    1.0
    """
    checks.open_probability(alpha, "alpha")
    answers, sample = fieldwork.read(plan, table, classes)
    rows = _estimates(plan, answers, sample, alpha)
    if plan.labels:
        nearest = project_simplex([row.estimate for row in rows])
        rows = [
            replace(row, norm_sub=float(share)) for row, share in zip(rows, nearest, strict=True)
        ]
    for name in [by] if isinstance(by, str) else by:
        if name in ("report", "id"):
            raise ValueError(f"by must be a public column, got {name}")
        if plan.device == "curator":
            raise ValueError(
                f"by must be left out of a curator's release, which is one number, got {name}"
            )
        groups = fieldwork.column(table, name)
        for group in np.unique(groups):
            try:
                rows += _estimates(plan, answers, sample, alpha, f"{name} {group}", groups == group)
            except ValueError as error:
                raise ValueError(f"{name} {group} cannot be estimated: {error}") from None
    open_size = (
        plan.design == "clusters" and not plan.cluster_size
    )  # everybody in clusters, which differ
    asked = int(sample.sizes.sum()) if open_size else plan.asked
    estimator = ESTIMATORS[plan.estimator if classes is None else "class mean"]
    short = sum(number < needed for number, needed in zip(sample.counts, plan.needed, strict=False))
    lost = plan.chosen - sample.sizes.size if sample.clusters else short
    return Estimates(plan, alpha, tuple(rows), asked, estimator, lost)


def _estimates(
    plan: FieldPlan,
    answers: Floats,
    sample: Sample,
    alpha: float,
    group: str = "",
    members: Any = None,
) -> list[Estimate]:
    """Return the estimates of all labels for the population, or for a public group with `members`, ``(n,) bool``.

    Its members in a simple sample are one of the group, whose size is estimated. In other designs it is a ratio.
    """
    reports, known, inside, number = plan.reports, True, None, sample.part.size
    if members is not None:
        known, inside, number = plan.design == "everyone", members.astype(float), int(members.sum())
        units, least = (
            ("clusters", len(set(sample.part[members]))) if sample.clusters else ("people", number)
        )
        if least < 2:
            raise ValueError(f"reports must be of 2 {units} or more, got {least}")
        if sample.is_simple:
            people = max(number, round(number * sample.population / len(answers)))
            answers, sample, inside = answers[members], Sample.simple(number, people), None
    rows, labels = [], plan.labels or ("share" if reports.ends else "mean",)
    for label, bits in zip(labels, answers.T, strict=True):
        values, each = reports.value(bits), alpha / len(labels)
        if plan.device == "curator":
            point = released_mean(sample, values[0], reports)
            ends = intervals.of_release(reports, sample, point, each)
        elif inside is None:
            point = estimated_mean(sample, values, reports)
            ends = intervals.of_sample(reports, sample, point, int(bits.sum()), each, known=known)
        else:
            point = estimated_mean(sample, values, reports, inside)
            ends = intervals.student(replace(point, freedom=min(point.freedom, number - 1)), each)
        rows.append(_row(plan, sample, point, ends, label, group, number))
    return rows


def _row(
    plan: FieldPlan,
    sample: Sample,
    point: Point,
    ends: Interval,
    label: str,
    group: str,
    number: int,
) -> Estimate:
    """Return an estimate on the plan's range, its interval clipped; of a complex sample with its design effects."""
    noise = max(point.randomisation, 0.0)
    variance = max(
        point.variance, noise if plan.device == "curator" else 0.0
    )  # whose noise is known
    sampling = variance - noise if variance > noise * (1 + 1e-12) else 0.0
    people, spread = sample.population, point.estimate * (1 - point.estimate) + variance
    effects = (math.nan, math.nan)
    if not group and plan.reports.ends and not sample.is_simple and number < people and spread > 0:
        simple = (people - number) / (people - 1) * spread / number
        effects = (
            sampling / simple,
            variance / (simple + plan.reports.variance(point.estimate) / number),
        )
    estimate, low, high = (
        float(plan.low + plan.span * end) for end in (point.estimate, *np.clip(ends[:2], 0, 1))
    )
    error, by_sample, by_chance = (
        plan.span * math.sqrt(part) for part in (variance, sampling, min(noise, variance))
    )
    return Estimate(
        label,
        group,
        number,
        estimate,
        error,
        low,
        high,
        ends.how,
        by_sample,
        by_chance,
        *effects,
        remark=ends.remark,
    )
