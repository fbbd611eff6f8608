"""The sample that reports came from: estimated totals, and unbiased estimates of their variance over samples.

`Sample.variance` takes fixed numbers, one a report. The variance of an estimate from randomised reports follows by one
lemma. Imagine that everybody in the population had drawn a report beforehand: given these, the survey is an ordinary
one of fixed numbers, and a census of them would have the variance ``v / N``, with ``v`` the mean variance of a report.
So the usual estimate, applied to the unbiased values of the reports, *plus* ``v / N`` is right in every design. The
usual estimate alone is too small wherever it has a finite-population correction, and says 0 of a census.

All formulas are generic in their arithmetic: arrays of fractions give fractions.

References
----------
Särndal, Swensson and Wretman (1992), chapters 2 to 4; Chaudhuri (2011) for the same variance as a quadratic form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Real

Values = NDArray[Any]


def spread(values: Values, name: str) -> Any:
    """Return the variance with divisor ``n - 1`` of two numbers or more; `name` says whose."""
    if values.size < 2:
        raise ValueError(f"{name} must have at least 2 reports for an estimate of variance, got {values.size}")
    away = values - values.sum() / values.size
    return (away * away).sum() / (values.size - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Who the reports are from: parts of the population, and the positions of the reports of each.

    Parameters
    ----------
    names : tuple of str
        Of the parts, which are strata, or clusters that were drawn, or the whole.
    sizes : tuple of int
        People in each.
    positions : tuple of arrays
        Of the reports of each, ``(n_g,) int``; those who answered in a part are a simple random sample of it.
    population : int
        People there are.
    clusters : int, optional
        Clusters there are, if the parts are a simple random sample of them; None if the parts are all there are.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    positions: tuple[NDArray[np.int64], ...]
    population: int
    clusters: int | None = None

    def __post_init__(self) -> None:
        for name, size, rows in zip(self.names, self.sizes, self.positions, strict=True):
            if not 1 <= rows.size <= size:
                raise ValueError(f"{name} must have 1 to {size:,} reports, as many as people, got {rows.size:,}")
        if self.clusters is not None and not 2 <= len(self.names) <= self.clusters:
            raise ValueError(f"reports must be of 2 to {self.clusters:,} clusters, got {len(self.names):,}")

    @classmethod
    def simple(cls, reports: int, population: int) -> "Sample":
        """Return a simple random sample."""
        return cls(
            ("the sample",), (checks.whole(population=population, at_least=1),), (np.arange(reports),), population
        )

    @classmethod
    def stratified(cls, strata: ArrayLike, sizes: Mapping[str, int]) -> "Sample":
        """Return a simple random sample of every stratum; `strata` names that of each report."""
        positions = _grouped(strata)
        for name in sizes:
            if name not in positions:
                raise ValueError(f"stratum {name} must have a report, got none")
        names = tuple(f"stratum {name}" for name in sizes)
        return cls(names, tuple(sizes.values()), tuple(positions[name] for name in sizes), sum(sizes.values()))

    @classmethod
    def clustered(
        cls, drawn: ArrayLike, clusters: int, population: int, sizes: Mapping[str, int] | None = None
    ) -> "Sample":
        """Return people of clusters that are a simple random sample of all; everybody in them without `sizes`."""
        positions = _grouped(drawn)
        people = tuple(sizes[name] if sizes else rows.size for name, rows in positions.items())
        return cls(
            tuple(f"cluster {name}" for name in positions), people, tuple(positions.values()), population, clusters
        )

    @property
    def reports(self) -> int:
        """Number of reports."""
        return sum(rows.size for rows in self.positions)

    @property
    def freedom(self) -> int:
        """Degrees of freedom: reports less strata, or clusters less one."""
        return self.reports - len(self.names) if self.clusters is None else len(self.names) - 1

    @property
    def even(self) -> bool:
        """Whether every report stands for the same number of people, and none is from a cluster."""
        rates = {rows.size * self.sizes[0] - size * self.positions[0].size for size, rows in self._parts}
        return self.clusters is None and rates == {0}

    @property
    def _parts(self) -> Sequence[tuple[int, NDArray[np.int64]]]:
        return tuple(zip(self.sizes, self.positions, strict=True))

    def total(self, values: Values) -> Any:
        """Return the unbiased estimate of the population's total: each report stands for as many as its part has."""
        inside = sum(size * values[rows].sum() / rows.size for size, rows in self._parts)
        return inside if self.clusters is None else inside * self.clusters / len(self.names)

    def randomisation(self, noise: Any, members: Values | None = None) -> Any:
        """Return the sum of squared weights times the mean variance of a report, of some `members` if given."""
        counted = [rows.size if members is None else members[rows].sum() for rows in self.positions]
        parts = zip(counted, self._parts, strict=True)
        inside = sum(noise * number * size**2 / rows.size**2 for number, (size, rows) in parts)
        return inside if self.clusters is None else inside * self.clusters**2 / len(self.names) ** 2

    def variance(self, values: Values) -> tuple[Any, list[tuple[Any, int]]]:
        """Return an unbiased estimate of the variance of `total` over samples, and its parts with their freedom."""
        parts = zip(self.names, self.sizes, self.positions, strict=True)
        within = [
            size * (size - rows.size) * spread(values[rows], name) / rows.size if rows.size < size else 0 * values[0]
            for name, size, rows in parts
        ]
        if self.clusters is None:
            terms = [(term, rows.size - 1) for term, rows in zip(within, self.positions, strict=True)]
            return sum(within), terms
        drawn = len(self.names)
        totals = np.array([size * values[rows].sum() / rows.size for size, rows in self._parts])
        between = self.clusters * (self.clusters - drawn) * spread(totals, "the sample of clusters") / drawn
        whole = between + self.clusters * sum(within) / drawn
        return whole, [(whole, drawn - 1)]


@dataclass(frozen=True, slots=True)
class Point:
    """An estimate and its variance; `parts` are those whose size is estimated, with their degrees of freedom."""

    estimate: Any
    variance: Any
    randomisation: Any
    parts: tuple[tuple[Any, int], ...]

    @property
    def satterthwaite(self) -> float:
        """Degrees of freedom of the variance: what is known of it, the reports' noise, has none.

        Satterthwaite (1946).
        """
        loose = sum(float(part) ** 2 / freedom for part, freedom in self.parts if freedom)
        return float(self.variance) ** 2 / loose if loose else float("inf")


def _completed(variance: Real, sample: Sample, number: bool, people: Any) -> Any:
    """Return the variance of one bit of numbers, which is not estimable: too large by ``S^2 / N`` on average, exactly.

    Each report is one bit, each person sends one: no function of the bits has the mean of squared rates as its mean.
    """
    return variance * people / (people - 1) if number and people > 1 else variance


def expansion(sample: Sample, values: Values, centre: Any, noise: Any, *, number: bool = False) -> Point:
    """Return the expansion (Horvitz-Thompson) estimate of the population's mean, around a public centre.

    ``c + sum of w (z - c) / N``; in simple random samples, strata and clusters of one size the centre cancels.

    Parameters
    ----------
    sample : Sample
    values : (n,) array
        Unbiased values of the reports.
    centre : number
    noise : callable
        From an estimate to the mean variance of a report, `Reports.noise`.
    number : bool
        Whether reports are one bit of a number.
    """
    people = sample.population
    estimate = centre + sample.total(values - centre) / people
    drawn, terms = sample.variance(values - centre)
    mean_noise = noise(estimate)
    variance = _completed(drawn / people**2 + mean_noise / people, sample, number, people)
    parts = tuple((term / people**2, freedom) for term, freedom in terms)
    return Point(estimate, variance, sample.randomisation(mean_noise) / people**2, parts)


def ratio(
    sample: Sample, values: Values, members: Values, noise: Any, *, number: bool = False, people: int | None = None
) -> Point:
    """Return the ratio (Hájek) estimate of the mean of a group that is known of everybody who answered.

    ``sum of w x z / sum of w x``, linearised; the bias is of the order of one over the number of reports or clusters.

    Parameters
    ----------
    members : (n,) array of 0 and 1
    people : int, optional
        In the group, if known; estimated else.
    """
    if not members.any():
        raise ValueError("a group must have a report, got none")
    counted = sample.total(members)
    estimate = sample.total(values * members) / counted
    size = counted if people is None else people
    drawn, terms = sample.variance(members * (values - estimate))
    if sample.clusters is not None:
        inside = sum(bool(members[rows].any()) for rows in sample.positions)
        terms = [(drawn, max(inside - 1, 1))]
    mean_noise = noise(estimate)
    variance = _completed(drawn / size**2 + mean_noise / size, sample, number, size)
    parts = tuple((term / size**2, freedom) for term, freedom in terms)
    return Point(estimate, variance, sample.randomisation(mean_noise, members) / size**2, parts)


def class_weighted(sample: Sample, classes: ArrayLike, invited: Mapping[str, int], values: Values, noise: Any) -> Point:
    """Return the estimate with nonresponse classes: shares of those invited times the mean of a class's reports.

    Within a class answering must not depend on the value nor on the report. For simple random samples.

    Parameters
    ----------
    classes : (n,) str
        Of those who answered.
    invited : mapping
        From a class to those invited in it.

    References
    ----------
    Oh and Scheuren (1983); Särndal, Swensson and Wretman (1992), chapter 9, for the variance, which is consistent.
    """
    if sample.clusters is not None or len(sample.names) > 1:
        raise ValueError("nonresponse classes need a simple random sample; strata have their own rates already")
    positions, people, number = _grouped(classes), sample.population, sum(invited.values())
    if set(positions) != set(invited):
        lacking = sorted(set(positions) ^ set(invited))
        raise ValueError(f"classes must be the same among invited and answers, got {', '.join(lacking)} in one only")
    if number > people:
        raise ValueError(f"invited must be at most the population, {people:,}, got {number:,}")
    for name, rows in positions.items():
        if rows.size > invited[name]:
            raise ValueError(f"class {name} must have at most {invited[name]:,} reports, as invited, got {rows.size:,}")
    means = {name: values[rows].sum() / rows.size for name, rows in positions.items()}
    squares = {name: spread(values[rows], f"class {name}") for name, rows in positions.items()}
    estimate = sum(invited[name] * means[name] for name in means) / number
    second = (
        sum(invited[name] * (invited[name] - rows.size) * squares[name] / rows.size for name, rows in positions.items())
        / number**2
    )
    among = sum(invited[name] * (squares[name] + (means[name] - estimate) ** 2) for name in means) / number
    drawn = second + among * (people - number) / (people * number)
    mean_noise = noise(estimate)
    weights = sum(invited[name] ** 2 / rows.size for name, rows in positions.items()) / number**2
    parts = ((drawn, sample.reports - len(means)),)
    return Point(estimate, drawn + mean_noise / people, weights * mean_noise, parts)


def _grouped(names: ArrayLike) -> dict[str, NDArray[np.int64]]:
    """Return the positions of each name, in the order of the names."""
    kinds, codes = np.unique(np.asarray(names, dtype=str), return_inverse=True)
    return {str(kind): np.flatnonzero(codes == code) for code, kind in enumerate(kinds)}
