"""Sampling designs before the survey: the variance for the least favourable population.

It has two parts. *Sampling* is what the design makes of the spread of the true values; the finite
population correction and the likeness within clusters act on it alone. *Randomisation* is the
device's.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints
from ldpnb.designs.strata import best_allocation
from ldpnb.survey.device import Device

MANY = 10**12
"""The largest number of people that a plan may ask for."""

_LISTED = 10_000
"""The mean of ``1 / K`` is summed for binomials of such a mean, and expanded for larger ones."""


class Variance(NamedTuple):
    """The two parts of the variance of an estimate."""

    sampling: float
    randomisation: float

    @property
    def total(self) -> float:
        return self.sampling + self.randomisation


@dataclass(frozen=True)
class Everyone:
    """Everybody reports, and nobody else is meant."""

    unit = "people"

    @property
    def limits(self) -> tuple[int, int]:
        return 2, MANY

    def people(self, count: int) -> float:
        """Return how many people are behind a number of reports."""
        return float(count)

    def variance(self, count: int, device: Device) -> Variance:
        """Return the largest variance of the estimate from `count` reports."""
        return least_favourable(device, 0.0, 1 / count, float(count))


@dataclass(frozen=True)
class SimpleSample:
    """A simple random sample of a population, which may be infinite.

    `response` is the fraction of those invited who report.
    """

    population: float = math.inf
    response: float = 1.0
    unit = "people"

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest number of reports."""
        if math.isinf(self.population):
            return 2, MANY
        return 2, most_reports(self.population, self.response)

    def people(self, count: int) -> float:
        """Return how many people there are, however many of them report."""
        return self.population

    def variance(self, count: int, device: Device) -> Variance:
        """Return the largest ``(1 - n/N) S^2 / n + v / n``."""
        sampling = 1 / count - 1 / self.population
        return least_favourable(device, sampling, 1 / count, self.population)


@dataclass(frozen=True)
class StratifiedSample:
    """A simple random sample of each stratum.

    Reports are allocated in proportion to the sizes of the strata, or by Neyman's rule with the
    randomisation included. Each stratum that has two people gets two reports.

    Parameters
    ----------
    sizes : dict of str to int
        People in each stratum.
    sds : dict of str to float, optional
        Standard deviations of the true values in the strata, in lengths of the range; the largest
        possible ones if left out.
    neyman : bool
        Whether the allocation is Neyman's.
    response : dict of str to float
        The fraction of those invited who report, in each stratum.
    """

    sizes: Mapping[str, int]
    response: Mapping[str, float]
    sds: Mapping[str, float] | None = None
    neyman: bool = False
    unit = "people"

    @cached_property
    def _sizes(self) -> Ints:
        return np.array(list(self.sizes.values()), dtype=np.int64)

    @cached_property
    def _least(self) -> Ints:
        return np.minimum(self._sizes, 2)

    @cached_property
    def _most(self) -> Ints:
        able = [most_reports(size, self.response[name]) for name, size in self.sizes.items()]
        return np.array(able, dtype=np.int64)

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest number of reports."""
        return int(self._least.sum()), int(self._most.sum())

    def allocated(self, count: int, device: Device) -> dict[str, int]:
        """Return how many reports are wanted from each stratum."""
        weights = self._sizes.astype(float)
        if self.neyman and self.sds is not None:
            spreads = [
                least_favourable(device, 1.0, 1.0, float(size), self.sds[name]).total
                for name, size in self.sizes.items()
            ]
            weights = weights * np.sqrt(spreads)
            wanted = best_allocation(weights, count, least=self._least, most=self._most)
        else:
            wanted = best_allocation(self._sizes, count, least=self._least, most=self._most)
        return dict(zip(self.sizes, wanted.tolist(), strict=True))

    def variance(self, count: int, device: Device) -> Variance:
        """Return the largest ``sum of W^2 [(1 - n/N) S^2 + v] / n``."""
        people = int(self._sizes.sum())
        sampling = 0.0
        randomisation = 0.0
        for name, drawn in self.allocated(count, device).items():
            size = self.sizes[name]
            sd = None if self.sds is None else self.sds[name]
            part = least_favourable(device, 1 / drawn - 1 / size, 1 / drawn, float(size), sd)
            squared_share = (size / people) ** 2
            sampling += squared_share * part.sampling
            randomisation += squared_share * part.randomisation
        return Variance(sampling, randomisation)


@dataclass(frozen=True)
class ClusteredSample:
    """A simple random sample of clusters of one size, and of people within them.

    Parameters
    ----------
    clusters, size, take : int
        Clusters there are, people in each, and people who are asked in each that is drawn.
    icc, sd : float, optional
        Intra-cluster correlation of the true values and their standard deviation, in lengths of
        the range; the least favourable ones if left out.
    response : float
        The fraction of those asked who report.
    """

    clusters: int
    size: int
    take: int
    icc: float | None = None
    sd: float | None = None
    response: float = 1.0
    unit = "clusters"

    def __post_init__(self) -> None:
        checks.whole(self.clusters, "clusters", at_least=2, at_most=MANY)
        checks.whole(self.size, "cluster_size", at_least=1, at_most=MANY)
        checks.whole(self.take, "take", at_least=1, at_most=self.size)
        if self.icc is not None:
            checks.numbers(self.icc, "icc", low=self.opposite, high=1)

    @property
    def opposite(self) -> float:
        """The smallest intra-cluster correlation: all clusters have the same mean."""
        return -1 / (self.size - 1) if self.size > 1 else -1.0

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest number of clusters drawn."""
        return 2, self.clusters

    def variance(self, count: int, device: Device) -> Variance:
        """Return the largest variance; it is linear in the correlation, so at an end of it."""
        if self.icc is not None:
            return self._at(count, device, self.icc)
        alike = self._at(count, device, 1.0, groups=self.clusters)
        opposite = self._at(count, device, self.opposite if self.size > 1 else 1.0)
        return max(alike, opposite, key=lambda variance: variance.total)

    @cached_property
    def _reporting(self) -> tuple[float, float]:
        return mean_inverse(self.take, self.response)

    def _at(self, count: int, device: Device, icc: float, groups: int | None = None) -> Variance:
        """Return ``(1 - m/M) S_b^2 / m + [S_w^2 (E[1/K] - 1/B) + v E[1/K]] / m``.

        Of `B` people in a cluster `K` report. Clusters in which nobody reports are lost.
        """
        people = self.clusters * self.size
        some_report, inverse = self._reporting
        drawn = count * some_report

        # Both for true values with a variance of 1.
        within = (people - 1) * (1 - icc) / people
        between = (people - 1) * (1 + (self.size - 1) * icc) / self.size**2 / (self.clusters - 1)

        first_stage = (1 / drawn - 1 / self.clusters) * between
        second_stage = (inverse - 1 / self.size) * within / drawn
        sampling = first_stage + second_stage
        return least_favourable(device, sampling, inverse / drawn, float(people), self.sd, groups)


Design = Everyone | SimpleSample | StratifiedSample | ClusteredSample


def most_reports(people: float, response: float) -> int:
    """Return the largest expected number of reports from a number of people."""
    return math.floor(people * response + 1e-9)


def mean_inverse(take: int, response: float) -> tuple[float, float]:
    """Return ``Pr(K > 0)`` and ``E[1/K | K > 0]`` of a binomial number of reports.

    >>> chance, inverse = mean_inverse(2, 0.5)
    >>> round(chance, 12), round(inverse, 12)
    (0.75, 0.833333333333)
    """
    if response == 1:
        return 1.0, 1 / take

    mean = take * response
    if take > _LISTED and mean > _LISTED:
        return 1.0, (1 + (1 - response) / mean) / mean

    # More reports than this come in with a probability below e^-70.
    most = min(take, math.ceil(mean + 12 * math.sqrt(mean) + 100))
    reports = np.arange(1, most + 1)
    ways = np.cumsum(np.log((take - reports + 1) / reports))
    logs = ways + reports * math.log(response) + (take - reports) * math.log1p(-response)
    chances: Floats = np.exp(logs)
    some = float(chances.sum())
    return some, float((chances / reports).sum()) / some


def least_favourable(
    device: Device,
    sampling: float,
    randomisation: float,
    people: float,
    sd: float | None = None,
    groups: int | None = None,
) -> Variance:
    """Return the largest ``sampling S^2 + randomisation v`` that a population can have.

    ``S^2`` is the variance of the true values with divisor ``N - 1``, and `v` the mean variance of
    the device. Both are linear in ``S^2`` for a given mean, so that either all true values are the
    same or all are at the ends of their range.

    Parameters
    ----------
    sampling, randomisation : float
        The two factors, ``>= 0``.
    people : float
        People there are, ``N``; may be infinite.
    sd : float, optional
        ``S`` where it is known. Then two means fit it, and the one with the larger `v` is taken.
    groups : int, optional
        The number of groups whose members all have the same true value.
    """
    bessel = people / (people - 1) if 1 < people < math.inf else 1.0
    if sd is not None:
        return _at_known_sd(device, sampling, randomisation, bessel, sd)

    curvature = sampling * bessel
    best = float(device.slope > 0)
    if curvature > 0:
        best = 1 / 2 + randomisation * device.slope / (2 * curvature)
        best = min(max(best, 0.0), 1.0)
    among = groups or people
    shares = [best]
    if math.isfinite(among):
        shares = [math.floor(among * best) / among, math.ceil(among * best) / among]

    found = []
    for share in shares:
        noise = randomisation * (device.base + device.slope * share)
        found.append(Variance(curvature * share * (1 - share), noise))
    if device.mechanism == "1-bit":  # everybody at the number where rounding varies most
        middle = min(max((1 + device.slope) / 2, 0.0), 1.0)
        found.append(Variance(0.0, randomisation * float(device.variance(middle))))
    return max(found, key=lambda variance: variance.total)


def _at_known_sd(
    device: Device, sampling: float, randomisation: float, bessel: float, sd: float
) -> Variance:
    spread = sd * sd / bessel
    if spread > (1 + 1e-9) / 4:
        raise ValueError(f"sd must be at most half the range, got {sd:.4g} of it")

    away = math.sqrt(max(1 / 4 - spread, 0.0))
    ends = (1 / 2 - away, 1 / 2 + away)
    if device.mechanism == "1-bit":
        mean = min(max((1 + device.slope) / 2, ends[0]), ends[1])
        noise = float(device.variance(mean)) - spread
    else:
        noise = device.base + max(device.slope * end for end in ends)
    return Variance(sampling * sd * sd, randomisation * noise)
