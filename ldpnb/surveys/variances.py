"""Exact variances of the mean of cluster samples: sampling and randomisation apart.

The variance ``s2`` of a population has the divisor ``N - 1``. Clusters are drawn without replacement; everybody in
them is asked or, in two stages, a simple random sample of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Real

MOST = 10**15
"""Largest population; beyond it floats cannot count people."""


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

    def best_take(self, s2: Real, icc: Real, noise: Real, *, per_cluster: float, per_person: float) -> float:
        """Return how many to ask per cluster for the least variance at a given cost, a real number up to `size`.

        ``sqrt(C1 (S2_w + v) / (C2 (S2_b - S2_w / B)))``: noise favours large takes.
        """
        between, within = self.split(s2, icc)
        excess = between - within / self.size
        if excess <= 0:
            return float(self.size)
        return float(min(np.sqrt(per_cluster * (within + noise) / (per_person * excess)), self.size))


def worst_sampling_variance(sizes: Sequence[int], chosen: int, span: float = 1.0) -> float:
    """Return the largest sampling variance over all values in a range of that length, for whole clusters.

    Estimates are centred at the middle of the range, so that the worst totals are ``+-N_g / 2``, with the signs that
    balance best.
    """
    clusters, squares = len(sizes), float(np.sum(np.square(sizes, dtype=float)))
    spread = (squares - _least_imbalance(sizes) ** 2 / clusters) / (4 * (clusters - 1))
    return (1 - chosen / clusters) * clusters**2 * spread * span**2 / (chosen * sum(sizes) ** 2)


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
