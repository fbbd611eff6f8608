"""The sample that reports came from: estimated totals, and unbiased estimates of their variance over samples.

Every design is the same: simple random samples of parts, which are all strata of a population, or a simple random
sample of its clusters. A simple random sample has one stratum; a cluster in which everybody is asked is a full sample.

`Sample.variance` takes fixed numbers, one a report. The variance of an estimate from randomised reports follows by one
lemma. Imagine that everybody in the population had drawn a report beforehand: given these, the survey is an ordinary
one of fixed numbers, and a census of them would have the variance ``v / N``, with ``v`` the mean variance of a report.
So the usual estimate, applied to the unbiased values of the reports, *plus* ``v / N`` is right in every design. The
usual estimate alone is too small wherever it has a finite-population correction, and says 0 of a census.

All formulas are generic in their arithmetic: arrays of fractions give fractions.
See Särndal, Swensson and Wretman (1992), chapters 2 to 4; Chaudhuri (2011) for the same variance as a quadratic form.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb.surveys.columns import among
from ldpnb.surveys.reports import Reports

Values = NDArray[Any]


def spread(values: Values, name: str) -> Any:
    """Return the variance with divisor ``n - 1`` of two numbers or more; `name` says whose."""
    if values.size < 2:
        raise ValueError(f"{name} must have at least 2 reports for an estimate of variance, got {values.size}")
    away = values - values.sum() / values.size
    return (away * away).sum() / (values.size - 1)


class Part(NamedTuple):
    """A stratum, or a cluster that was drawn: its people, and the positions of its reports, ``(n_g,) int``."""

    name: str
    size: int
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Who the reports are from; those who answered in a part are a simple random sample of it.

    Parameters
    ----------
    parts : tuple of Part
        Strata, or clusters that were drawn.
    population : int
        People there are.
    clusters : int, optional
        Clusters there are, if the parts are a simple random sample of them; None if the parts are all there are.
    """

    parts: tuple[Part, ...]
    population: int
    clusters: int | None = None

    @classmethod
    def simple(cls, reports: int, population: int) -> "Sample":
        """Return a simple random sample."""
        return cls((Part("the sample", population, np.arange(reports)),), population)

    @classmethod
    def of(cls, unit: str, names: ArrayLike, sizes: Mapping[str, int], asked: Mapping[str, int]) -> "Sample":
        """Return samples of parts called `unit`, from the name of that of each report, ``(n,) str``.

        `sizes` are those of all parts, and `asked` people were invited in each.
        """
        words, parts = np.asarray(names, dtype=str), []
        among(unit, words, sizes)
        for name, size in sizes.items():
            rows = np.flatnonzero(words == name)
            if not 1 <= rows.size <= asked[name]:
                rule = f"1 to {asked[name]:,} reports, as many as invited at most"
                raise ValueError(f"{unit} {name} must have {rule}, got {rows.size:,}")
            parts.append(Part(f"{unit} {name}", size, rows))
        return cls(tuple(parts), sum(sizes.values()))

    @property
    def reports(self) -> int:
        """Number of reports."""
        return sum(rows.size for _, _, rows in self.parts)

    @property
    def is_simple(self) -> bool:
        """Whether it is a simple random sample: a single stratum."""
        return self.clusters is None and len(self.parts) == 1

    @property
    def even(self) -> bool:
        """Whether every report stands for the same number of people, and none is from a cluster."""
        _, first, some = self.parts[0]
        return self.clusters is None and all(rows.size * first == size * some.size for _, size, rows in self.parts)

    def total(self, values: Values) -> Any:
        """Return the unbiased estimate of the population's total: each report stands for as many as its part has."""
        inside = sum(self._totals(values))
        return inside if self.clusters is None else inside * self.clusters / len(self.parts)

    def _totals(self, values: Values) -> list[Any]:
        return [size * values[rows].sum() / rows.size for _, size, rows in self.parts]

    def randomisation(self, noise: Any, members: Values) -> Any:
        """Return the sum of squared weights of `members`, ``(n,)`` of 0 and 1, times the mean variance of a report."""
        inside = sum(noise * members[rows].sum() * size**2 / rows.size**2 for _, size, rows in self.parts)
        return inside if self.clusters is None else inside * self.clusters**2 / len(self.parts) ** 2

    def within(self, values: Values) -> list[Any]:
        """Return unbiased estimates of the variances of the parts' totals over samples of people in them."""
        return [
            size * (size - rows.size) * spread(values[rows], name) / rows.size if rows.size < size else 0 * values[0]
            for name, size, rows in self.parts
        ]

    def variance(self, values: Values) -> Any:
        """Return an unbiased estimate of the variance of `total` over samples."""
        inside = sum(self.within(values))
        if self.clusters is None:
            return inside
        drawn, totals = len(self.parts), np.array(self._totals(values))
        between = self.clusters * (self.clusters - drawn) * spread(totals, "the sample of clusters") / drawn
        return between + self.clusters * inside / drawn

    def freedom(self, values: Values, variance: Any, members: Values) -> float:
        """Return the degrees of freedom of a `variance` of a total: what is known of it, the reports' noise, has none.

        In clusters those that have `members`, less one; in strata by Satterthwaite (1946).
        """
        if self.clusters is not None:
            return max(sum(bool(members[rows].any()) for _, _, rows in self.parts) - 1, 1)
        if self.is_simple:
            return self.reports - 1
        terms = zip(self.within(values), self.parts, strict=True)
        loose = sum(float(term) ** 2 / (rows.size - 1) for term, (_, _, rows) in terms if rows.size > 1)
        return float(variance) ** 2 / loose if loose else float("inf")


@dataclass(frozen=True, slots=True)
class Point:
    """An estimate, its variance with the part of it by randomisation, and its degrees of freedom."""

    estimate: Any
    variance: Any
    randomisation: Any
    freedom: float


def expansion(sample: Sample, values: Values, device: Reports) -> Point:
    """Return the expansion (Horvitz-Thompson) estimate of the population's mean, around the middle of the range.

    ``c + sum of w (z - c) / N`` of the reports' unbiased `values`, ``(n,)``; in simple random samples, strata and
    clusters of one size the centre cancels.
    """
    centre = (device.low + device.high) / 2
    estimate = centre + sample.total(values - centre) / sample.population
    return _point(sample, device, estimate, values - centre, np.ones(values.size, dtype=int), sample.population)


def ratio(sample: Sample, values: Values, members: Values, device: Reports) -> Point:
    """Return the ratio (Hájek) estimate of the mean of a group that is known of everybody who answered.

    ``sum of w x z / sum of w x`` with `members` x, ``(n,)`` of 0 and 1, linearised; the bias is of the order of one
    over the number of reports or clusters.
    """
    counted = sample.total(members)
    estimate = sample.total(values * members) / counted
    return _point(sample, device, estimate, members * (values - estimate), members, counted)


def _point(sample: Sample, device: Reports, estimate: Any, away: Values, members: Values, people: Any) -> Point:
    """Return an estimate with the variance of the total of `away` over so many people, and the reports' noise.

    The variance of one bit of numbers is not estimable: each report is one bit, each person sends one, and no function
    of the bits has the mean of squared rates as its mean. It is too large by ``S^2 / N`` on average, exactly.
    """
    noise = device.noise(estimate)
    variance = sample.variance(away) / people**2 + noise / people
    if device.kind == "number" and people > 1:
        variance = variance * people / (people - 1)
    freedom = sample.freedom(away, variance * people**2, members)
    chosen = sample.clusters is not None or any(rows.size < size for _, size, rows in sample.parts)
    by_chance = sample.randomisation(noise, members) / people**2 if chosen else variance
    return Point(estimate, variance, by_chance, freedom)


def class_weighted(
    people: int, classes: ArrayLike, invited: Mapping[str, int], values: Values, device: Reports
) -> Point:
    """Return the estimate with nonresponse classes: shares of those invited times the mean of a class's reports.

    Within a class answering must not depend on the value nor on the report. Those who answer in a class are a simple
    random sample of the `invited` in it, who are together one of `people` (Oh and Scheuren 1983; Särndal,
    Swensson and Wretman 1992, chapter 9, for the variance, which is consistent).
    """
    answers, everybody = Sample.of("class", classes, invited, invited), np.ones(values.size, dtype=int)
    number = answers.population
    estimate = answers.total(values) / number
    squares = sum(
        size * (spread(values[rows], name) + (values[rows].sum() / rows.size - estimate) ** 2)
        for name, size, rows in answers.parts
    )
    drawn = answers.variance(values) / number**2 + squares / number * (people - number) / (people * number)
    noise = device.noise(estimate)
    by_chance = answers.randomisation(noise, everybody) / number**2
    return Point(estimate, drawn + noise / people, by_chance, values.size - len(invited))
