"""Exact variances of a design's unbiased estimate: sampling and randomisation apart.

The variance ``s2`` of a population has the divisor ``N - 1``. Clusters are drawn without replacement and asked whole
or, in two stages, in part; strata are sampled simply at random each. Estimates are centred at a public value ``c``: it
is subtracted from every report and added back, which lowers the variance where sizes or rates differ.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Real
from ldpnb.designs.strata import Strata

Floats = NDArray[np.float64]

MOST = 10**15
"""People of a population: beyond, floats no longer count them."""


@dataclass(frozen=True, slots=True)
class Variance:
    """The two parts of an estimate's variance."""

    sampling: Real
    randomisation: Real

    @property
    def total(self) -> Real:
        """Their sum."""
        return self.sampling + self.randomisation


@dataclass(frozen=True, slots=True)
class SimpleRandomSample:
    """A sample of fixed size in which all sets of that size are equally likely.

    Parameters
    ----------
    population, sample : int
    """

    population: int
    sample: int

    def __post_init__(self) -> None:
        checks.whole(population=self.population, at_least=2)
        checks.whole(sample=self.sample, at_least=1)
        _at_most(sample=self.sample, population=self.population)

    @property
    def rate(self) -> float:
        """Share of the population that is drawn."""
        return self.sample / self.population

    def variance(self, s2: Real, noise: Real) -> Variance:
        """Return the variance of the mean of the reports.

        Parameters
        ----------
        s2 : float
            Variance of the values, divisor ``N - 1``.
        noise : float
            Mean variance of a report.
        """
        return Variance((1 - self.rate) * s2 / self.sample, noise / self.sample)


@dataclass(frozen=True, slots=True)
class ClusterDraw:
    """Some of the clusters, drawn simply at random; of each, everybody or a simple random sample is asked.

    Parameters
    ----------
    sizes : tuple of int
        People per cluster.
    chosen : int
        Clusters drawn.
    takes : tuple of int, optional
        People asked in each cluster if it is drawn; everybody if left out.
    """

    sizes: tuple[int, ...]
    chosen: int
    takes: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        sizes = checks.counts(sizes=self.sizes, minimum_size=2)
        if sizes.min() < 1:
            raise ValueError(f"sizes must be >= 1, got sizes={self.sizes!r}")
        checks.whole(chosen=self.chosen, at_least=1)
        _at_most(chosen=self.chosen, clusters=len(self.sizes))
        asked = checks.counts(takes=self.asked, minimum_size=2)
        if asked.size != sizes.size or (asked > sizes).any() or asked.min() < 1:
            raise ValueError(f"takes must lie between 1 and the size of each cluster, got takes={self.takes!r}")

    @property
    def asked(self) -> tuple[int, ...]:
        """People asked in each cluster if it is drawn."""
        return self.sizes if self.takes is None else self.takes

    @property
    def population(self) -> int:
        """Number of people."""
        return sum(self.sizes)

    @property
    def rate(self) -> float:
        """Share of the clusters that is drawn."""
        return self.chosen / len(self.sizes)

    def variance(self, values: Sequence[ArrayLike], noises: Sequence[ArrayLike], *, centre: float = 0.0) -> Variance:
        """Return the variance of ``c + M / (m N) sum over drawn clusters of N_g (mean of the reports - c)``.

        Parameters
        ----------
        values, noises : sequence of arrays
            Per cluster, the value of everybody and the variance of everybody's report.
        centre : float
            The public value ``c``.
        """
        clusters, chosen, people = len(self.sizes), self.chosen, self.population
        held = [np.asarray(v, dtype=float) - centre for v in values]
        totals, s2 = np.array([v.sum() for v in held]), np.array([_spread(v) for v in held])
        noise = np.array([np.asarray(v, dtype=float).mean() for v in noises])
        sizes, asked = np.array(self.sizes), np.array(self.asked)
        between = (1 - self.rate) * clusters**2 * _spread(totals) / (chosen * people**2)
        within = clusters / (chosen * people**2) * float(np.sum(sizes**2 * (1 - asked / sizes) * s2 / asked))
        return Variance(between + within, clusters / (chosen * people**2) * float(np.sum(sizes**2 * noise / asked)))

    def ratio_errors(self, values: Sequence[ArrayLike], noises: Sequence[ArrayLike]) -> tuple[float, float]:
        """Return bias and mean squared error of the sum of reports over the number of people, in whole clusters.

        By all samples; for large populations the leading term of the error is that of the draw with ``values - mean``.

        Raises
        ------
        ValueError
            For more than 100,000 samples, or clusters that are not asked whole.
        """
        if self.asked != self.sizes:
            raise ValueError(f"takes must be whole clusters for their ratio, got takes={self.takes!r}")
        if math.comb(len(self.sizes), self.chosen) > 10**5:
            raise ValueError(
                f"chosen must leave at most 100,000 samples, got chosen={self.chosen} of {len(self.sizes)}"
            )
        samples = np.array(list(combinations(range(len(self.sizes)), self.chosen)))
        totals, noise = (np.array([np.sum(part) for part in parts])[samples].sum(1) for parts in (values, noises))
        people = np.array(self.sizes)[samples].sum(axis=1)
        errors = totals / people - sum(np.sum(v) for v in values) / self.population
        return float(errors.mean()), float(np.mean(errors**2 + noise / people**2))

    def worst_sampling_variance(self, span: float = 1.0, *, centred: bool = True) -> float:
        """Return the largest sampling variance over all values in a range of that length, everybody of a cluster asked.

        Centred at the middle of the range, the worst totals are ``+-N_g / 2`` with the signs that balance best; not
        centred, all of the largest clusters hold the upper end.
        """
        sizes, clusters = np.sort(np.array(self.sizes, dtype=float))[::-1], len(self.sizes)
        squares, sums = np.cumsum(sizes**2), np.cumsum(sizes)
        if centred:
            spread = (squares[-1] - _least_imbalance(self.sizes) ** 2 / clusters) / (4 * (clusters - 1))
        else:
            spread = float(np.max(squares - sums**2 / clusters)) / (clusters - 1)
        return float((1 - self.rate) * clusters**2 * spread * span**2 / (self.chosen * self.population**2))


@dataclass(frozen=True, slots=True)
class EqualClusters:
    """Clusters of one size, some of which are drawn; in those everybody is asked, or a few.

    Parameters
    ----------
    clusters, size, chosen : int
        Clusters, people in each, clusters drawn.
    take : int, optional
        People asked in each cluster that is drawn; everybody if left out.
    """

    clusters: int
    size: int
    chosen: int
    take: int | None = None

    def __post_init__(self) -> None:
        checks.numbers(clusters=checks.whole(clusters=self.clusters, at_least=2), low=2, high=MOST)
        checks.numbers(size=checks.whole(size=self.size, at_least=1), low=1, high=MOST)
        checks.whole(chosen=self.chosen, at_least=1)
        checks.whole(take=self.asked, at_least=1)
        _at_most(chosen=self.chosen, clusters=self.clusters)
        _at_most(take=self.asked, size=self.size)

    @property
    def asked(self) -> int:
        """People asked in a cluster that is drawn."""
        return self.size if self.take is None else self.take

    @property
    def population(self) -> int:
        """Number of people."""
        return self.clusters * self.size

    @property
    def sample(self) -> int:
        """People asked."""
        return self.chosen * self.asked

    @property
    def rate(self) -> float:
        """Share of the clusters that is drawn."""
        return self.chosen / self.clusters

    def split(self, s2: Real, icc: Real) -> tuple[Real, Real]:
        """Return the variance of cluster means and that within clusters, from an intra-cluster correlation.

        Parameters
        ----------
        s2 : float
            Variance of all values, divisor ``N - 1``.
        icc : float
            In ``[-1 / (size - 1), 1]``.
        """
        least = -1 / (self.size - 1) if self.size > 1 else -1.0
        checks.numbers(icc=icc, low=least, high=1)
        people, size = self.population, self.size
        between = (people - 1) * s2 * (1 + (size - 1) * icc) / (size * size * (self.clusters - 1))
        return between, (people - 1) * s2 * (1 - icc) / people

    def variance(self, s2: Real, icc: Real, noise: Real) -> Variance:
        """Return the variance of the mean of the reports; `noise` is the mean variance of a report."""
        between, within = self.split(s2, icc)
        second = (1 - self.asked / self.size) * within / self.sample
        return Variance((1 - self.rate) * between / self.chosen + second, noise / self.sample)

    def sampling_design_effect(self, icc: Real) -> Real:
        """Return the sampling variance over that of a simple random sample of as many, everybody of a cluster asked."""
        return (self.population - 1) / (self.size * (self.clusters - 1)) * (1 + (self.size - 1) * icc)

    def total_design_effect(self, s2: Real, icc: Real, noise: Real) -> Real:
        """Return the whole variance over that of a simple random sample of as many people."""
        simple = SimpleRandomSample(self.population, self.sample).variance(s2, noise)
        return self.variance(s2, icc, noise).total / simple.total

    def worst_one_bit_variance(self, floor: Real, span: Real = 1.0) -> Real:
        """Return the largest variance with one-bit reports over all values, everybody of a cluster asked.

        `floor` is `NumberReports.floor`; the worst populations are all at the middle of the range, or half the clusters
        at each of its ends.
        """
        half = self.clusters // 2
        spread = half * (self.clusters - half) / (self.clusters * (self.clusters - 1))
        middle = (floor + 1 / 4) / self.sample
        apart = (1 - self.rate) * spread / self.chosen + floor / self.sample
        return span * span * max(middle, apart)

    def best_take(self, s2: Real, icc: Real, noise: Real, *, per_cluster: float, per_person: float) -> float:
        """Return how many to ask per cluster for the least variance at a given cost, a real number up to `size`.

        ``sqrt(C1 (S2_w + v) / (C2 (S2_b - S2_w / B)))``: noise favours large takes.
        """
        between, within = self.split(s2, icc)
        excess = between - within / self.size
        if excess <= 0:
            return float(self.size)
        return float(min(np.sqrt(per_cluster * (within + noise) / (per_person * excess)), self.size))


@dataclass(frozen=True, slots=True)
class StratifiedSample:
    """A simple random sample from each stratum.

    Parameters
    ----------
    sizes, drawn : tuple of int
        People per stratum, and how many of them are drawn.
    """

    sizes: tuple[int, ...]
    drawn: tuple[int, ...]

    def __post_init__(self) -> None:
        sizes, drawn = checks.counts(sizes=self.sizes), checks.counts(drawn=self.drawn)
        if sizes.size != drawn.size or drawn.min() < 1 or (drawn > sizes).any():
            raise ValueError(f"drawn must lie between 1 and the size of each stratum, got drawn={self.drawn!r}")

    @property
    def rates(self) -> Floats:
        """Share of each stratum that is drawn."""
        return np.asarray(np.array(self.drawn) / np.array(self.sizes))

    def variance(self, s2: ArrayLike, noises: ArrayLike) -> Variance:
        """Return the variance of the weighted mean, from the variance and the mean noise of each stratum."""
        sizes, drawn = np.array(self.sizes, dtype=float), np.array(self.drawn, dtype=float)
        weights = sizes / sizes.sum()
        sampling = Strata(self.sizes, s2).variance(self.drawn)
        return Variance(sampling, float(np.sum(weights**2 * np.asarray(noises) / drawn)))


def poisson_variance(values: ArrayLike, noises: ArrayLike, rates: ArrayLike, *, centre: float = 0.0) -> Variance:
    """Return the variance of the Horvitz-Thompson mean where all take part independently, at a rate of their own."""
    held, chance = np.asarray(values, dtype=float) - centre, np.asarray(rates, dtype=float)
    square = held.size**2
    sampling = float(np.sum((1 - chance) * held**2 / chance)) / square
    return Variance(sampling, float(np.sum(np.asarray(noises) / chance)) / square)


def fixed_size_variance(values: ArrayLike, noises: ArrayLike, joint: ArrayLike, *, centre: float = 0.0) -> Variance:
    """Return the variance of the Horvitz-Thompson mean of a sample of fixed size, by Yates and Grundy.

    Parameters
    ----------
    values, noises : (n,) float
    joint : (n, n) float
        Chances that two take part both; the diagonal holds everybody's own.
    centre : float
    """
    held, both = np.asarray(values, dtype=float) - centre, np.asarray(joint, dtype=float)
    chance, square = np.diag(both), held.size**2
    apart = (held / chance)[:, None] - held / chance
    sampling = float(np.sum((np.outer(chance, chance) - both) * apart**2)) / (2 * square)
    return Variance(sampling, float(np.sum(np.asarray(noises) / chance)) / square)


def kish_design_effect(weights: ArrayLike) -> float:
    """Return ``n sum w^2 / (sum w)^2``: the factor on randomisation, and roughly on sampling."""
    held = np.asarray(weights, dtype=float)
    return float(held.size * np.sum(held**2) / held.sum() ** 2)


def intracluster_correlation(clusters: Sequence[ArrayLike]) -> float:
    """Return the intra-cluster correlation of clusters of one size.

    >>> round(intracluster_correlation([[0.0, 0.25], [1.0, 0.75], [0.5, 0.5]]), 9)
    0.8
    """
    held = np.array([np.asarray(c, dtype=float) for c in clusters])
    away = held - held.mean()
    size = held.shape[1]
    pairs = float(np.sum(away.sum(axis=1) ** 2 - (away**2).sum(axis=1)))
    return pairs / ((size - 1) * float(np.sum(away**2)))


def _spread(values: Floats) -> float:
    return float(values.var(ddof=1)) if values.size > 1 else 0.0


def _least_imbalance(sizes: Sequence[int]) -> int:
    """Return the least ``|sum +-N_g|``, from all subset sums, held as the bits of one number."""
    reached, half = 1, sum(sizes) // 2
    for size in sizes:
        reached |= reached << size
    return sum(sizes) - 2 * ((reached & ((1 << half + 1) - 1)).bit_length() - 1)


def _at_most(**pair: int) -> None:
    (name, value), (limit, most) = pair.items()
    if value > most:
        raise ValueError(f"{name} must be at most {limit}={most}, got {name}={value}")
