"""The sample that reports came from: estimated means, and estimates of their variance, unbiased over samples.

Every design is the same: simple random samples of parts, which are all strata of a population, or a simple random
sample of its clusters. A simple random sample has one stratum; a cluster in which everybody is asked is a full sample.

`Sample.variance` takes fixed numbers, one a report. The variance of an estimate from randomised reports follows by one
lemma. Imagine that everybody in the population had drawn a report beforehand: given these, the survey is an ordinary
one of fixed numbers, and a census of them would have the variance ``v / N``, with ``v`` the mean variance of a report.
So the usual estimate, applied to the unbiased values of the reports, *plus* ``v / N`` is right in every design. The
usual estimate alone is too small wherever it has a finite-population correction, and says 0 of a census.

See Särndal, Swensson and Wretman (1992), chapters 2 to 4; Chaudhuri (2011) for the same variance as a quadratic form.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldpnb.surveys.columns import Words, among
from ldpnb.surveys.reports import Reports

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Who the reports are from; those who answered in a part are a simple random sample of it.

    Parameters
    ----------
    names : tuple of str
        What errors call the parts: strata, or clusters that were drawn.
    sizes : (g,) float
        People in each part.
    part : (n,) int
        The part of each report; no part is without.
    population : int
        People there are.
    clusters : int, optional
        Clusters there are, if the parts are a simple random sample of them; None if the parts are all there are.
    """

    names: tuple[str, ...]
    sizes: Floats
    part: NDArray[np.int64]
    population: int
    clusters: int | None = None

    @classmethod
    def simple(cls, reports: int, population: int) -> "Sample":
        """Return a simple random sample."""
        return cls(("the sample",), np.array([float(population)]), np.zeros(reports, dtype=np.int64), population)

    @classmethod
    def of(cls, unit: str, words: Words, sizes: Mapping[str, int], asked: Mapping[str, int]) -> "Sample":
        """Return samples of parts called `unit`, from the name of that of each report, ``(n,) str``.

        `sizes` are those of all parts, and `asked` people were invited in each.
        """
        among(unit, words, sizes)
        places = {name: place for place, name in enumerate(sizes)}
        part = np.array([places[word] for word in words.tolist()])
        for name, number in zip(sizes, np.bincount(part, minlength=len(sizes)).tolist(), strict=True):
            if not 1 <= number <= asked[name]:
                rule = f"1 to {asked[name]:,} reports, as many as invited at most"
                raise ValueError(f"{unit} {name} must have {rule}, got {number:,}")
        people = np.array([*sizes.values()], dtype=float)
        return cls(tuple(f"{unit} {name}" for name in sizes), people, part, sum(sizes.values()))

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of reports of each part, ``(g,)``."""
        return np.bincount(self.part)

    @property
    def is_simple(self) -> bool:
        """Whether it is a simple random sample: a single stratum."""
        return self.clusters is None and len(self.sizes) == 1

    @property
    def even(self) -> bool:
        """Whether every report stands for the same number of people, and none is from a cluster."""
        counts = self.counts
        return self.clusters is None and bool((self.sizes * counts[0] == self.sizes[0] * counts).all())

    @property
    def weights(self) -> Floats:
        """How many people each report stands for, ``(n,)``."""
        each: Floats = (self.sizes / self.counts)[self.part]
        return each if self.clusters is None else each * self.clusters / len(self.sizes)

    def spreads(self, values: Floats) -> Floats:
        """Return the variances of the parts' values with divisor ``n_g - 1``; refuse one report of more people."""
        counts = self.counts
        if (alone := (counts < 2) & (self.sizes > 1)).any():
            name = self.names[int(alone.argmax())]
            raise ValueError(f"{name} must have at least 2 reports for an estimate of variance, got 1")
        away = values - (np.bincount(self.part, values) / counts)[self.part]
        return np.bincount(self.part, away**2) / np.maximum(counts - 1, 1)

    def within(self, values: Floats) -> Floats:
        """Return unbiased estimates of the variances of the parts' totals over samples of people in them, ``(g,)``."""
        return self.sizes * (self.sizes - self.counts) * self.spreads(values) / self.counts

    def variance(self, values: Floats) -> float:
        """Return an unbiased estimate of the variance, over samples, of the sum of `values` times `weights`."""
        inside = float(self.within(values).sum())
        if self.clusters is None:
            return inside
        drawn, totals = len(self.sizes), self.sizes / self.counts * np.bincount(self.part, values)
        between = self.clusters * (self.clusters - drawn) * float(totals.var(ddof=1)) / drawn
        return between + self.clusters * inside / drawn

    def freedom(self, values: Floats, variance: float, members: Floats) -> float:
        """Return the degrees of freedom of a `variance` of a total: what is known of it, the reports' noise, has none.

        In clusters those that have `members`, less one; in strata by Satterthwaite (1946).
        """
        if self.clusters is not None:
            return max(np.unique(self.part[members > 0]).size - 1, 1)
        if self.is_simple:
            return self.part.size - 1
        loose = float((self.within(values) ** 2 / np.maximum(self.counts - 1, 1)).sum())
        return variance**2 / loose if loose else np.inf


@dataclass(frozen=True, slots=True)
class Point:
    """An estimate, its variance with the part of it by randomisation, and its degrees of freedom."""

    estimate: float
    variance: float
    randomisation: float
    freedom: float


def estimated_mean(sample: Sample, values: Floats, device: Reports, members: Floats | None = None) -> Point:
    """Return the estimate of the mean of the population, or of a group that is known of everybody who answered.

    Of the population by expansion (Horvitz-Thompson) around the middle of the range, ``c + sum of w (z - c) / N`` with
    the reports' unbiased `values`, ``(n,)``; in simple samples, strata and clusters of one size the centre cancels.
    Of a group by the ratio (Hájek) ``sum of w x z / sum of w x`` with `members` x, ``(n,)`` of 0 and 1, linearised; its
    bias is of the order of one over the number of reports or clusters.

    The variance of one bit of numbers is not estimable: each report is one bit, each person sends one, and no function
    of the bits has the mean of squared rates as its mean. It is too large by ``S^2 / N`` on average, exactly.
    """
    weights, inside = sample.weights, np.ones(values.size) if members is None else members
    if members is None:
        people, centre = float(sample.population), (device.low + device.high) / 2
        estimate = centre + float(weights @ (values - centre)) / people
    else:
        people = float(weights @ members)
        centre = estimate = float(weights @ (values * members)) / people
    away, noise = inside * (values - centre), device.noise(estimate)
    variance = sample.variance(away) / people**2 + noise / people
    if device.kind == "number" and people > 1:
        variance *= people / (people - 1)
    freedom = sample.freedom(away, variance * people**2, inside)
    chosen = sample.clusters is not None or bool((sample.counts < sample.sizes).any())
    by_chance = noise * float(weights**2 @ inside) / people**2 if chosen else variance
    return Point(estimate, variance, by_chance, freedom)


def class_weighted(people: int, classes: Words, invited: Mapping[str, int], values: Floats, device: Reports) -> Point:
    """Return the estimate with nonresponse classes: shares of those invited times the mean of a class's reports.

    Within a class answering must not depend on the value nor on the report. Those who answer in a class are a simple
    random sample of the `invited` in it, who are together one of `people` (Oh and Scheuren 1983; Särndal,
    Swensson and Wretman 1992, chapter 9, for the variance, which is consistent).
    """
    answers = Sample.of("class", classes, invited, invited)
    number, shares = answers.population, answers.sizes / answers.population
    means = np.bincount(answers.part, values) / answers.counts
    estimate = float(shares @ means)
    spread = float(shares @ (answers.spreads(values) + (means - estimate) ** 2))
    noise = device.noise(estimate)
    variance = answers.variance(values) / number**2 + spread * (1 / number - 1 / people) + noise / people
    by_chance = noise * float(answers.weights @ answers.weights) / number**2
    return Point(estimate, variance, by_chance, values.size - len(invited))
