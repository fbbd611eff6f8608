"""Designs of which the number of units is still to be found: what they err by, lose and need noise for, by that number.

A unit is a person, or a cluster where clusters are drawn. Where the population's variance is not known, the worst one
counts: with one bit, values in the middle of the range make reports vary most, values at its ends the sample.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np

from ldpnb import checks
from ldpnb.designs import strata as allocations
from ldpnb.surveys import releases
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.response import invitations
from ldpnb.surveys.variances import MOST, EqualClusters, StratifiedSample, Variance

Allocation = Literal["proportional", "neyman"]


class Design(Protocol):
    """What a plan asks of a design."""

    @property
    def unit(self) -> str:
        """What is drawn, in the plural."""

    @property
    def population(self) -> int:
        """People there are."""

    @property
    def most(self) -> int:
        """Units there are."""

    def people(self, count: int) -> int:
        """Return how many people that many units are."""

    def variance(self, count: int, reports: NumberReports | None, span: float) -> Variance:
        """Return the largest variance that what is known allows; without reports, that of sampling alone."""

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return ``s`` such that ``2 exp(-2 h^2 / s)`` bounds an error of ``h`` with one-bit reports, or None."""

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked, per stratum, for enough answers except with a probability."""

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return what reports of a secret sample lose together, under replacement."""

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise."""

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""


def squared(sd: float | None) -> float | None:
    """Return the variance of values of that standard deviation, if it is known."""
    return None if sd is None else float(checks.positive(sd=sd) * sd)


def largest_spread(people: int, span: float) -> float:
    """Return the largest variance (divisor ``N - 1``) of so many values in a range of that length."""
    half = people // 2
    return span * span * half * (people - half) / (people * (people - 1)) if people > 1 else 0.0


def _noise(reports: NumberReports | None, s2: float, people: int) -> float:
    """Return the largest mean variance of reports in a population of that variance."""
    if reports is None:
        return 0.0
    ends = float(reports.range * reports.range * reports.floor)
    if reports.binary or reports.mechanism == "Laplace":
        return ends
    return ends + float(reports.range) ** 2 / 4 - (people - 1) / people * s2


def _worst(parts: Callable[[float], Variance], known: float | None, limit: float) -> Variance:
    """Return the variance at the known spread, or at the worse end of what is possible: it is linear in the spread."""
    if known is not None:
        if known > limit * (1 + 1e-9):
            raise ValueError(f"sd must be at most {limit**0.5:g} in that range, got sd={known**0.5:g}")
        return parts(known)
    return max(parts(0.0), parts(limit), key=lambda v: float(v.total))


def _asked(answers: int, people: int, response: float, failure: float, whom: str) -> int:
    """Return how many of so many people are to be invited."""
    invited = answers if response == 1 else invitations(answers, response, failure)
    if invited > people:
        raise ValueError(f"{invited:,} would have to be invited for {answers:,} answers, got {people:,} {whom}")
    return invited


@dataclass(frozen=True, slots=True)
class SimpleDesign:
    """A simple random sample.

    Parameters
    ----------
    population : int
    s2 : float, optional
        Variance of the values; the worst if left out.
    """

    population: int
    s2: float | None = None
    unit: ClassVar[str] = "people"

    def __post_init__(self) -> None:
        checks.numbers(population=checks.whole(population=self.population, at_least=2), low=2, high=MOST)

    @property
    def most(self) -> int:
        """Units there are."""
        return self.population

    def people(self, count: int) -> int:
        """Return how many people that many units are."""
        return count

    def variance(self, count: int, reports: NumberReports | None, span: float, *, weights: float = 1.0) -> Variance:
        """Return the largest variance that what is known allows.

        Weights that are unrelated to the values, of Kish's design effect ``k``, make it ``s2 (k/n - 1/N) + k v/n``.
        """
        own, everybody = weights / count, 1 / self.population

        def parts(s2: float) -> Variance:
            return Variance(s2 * (own - everybody), own * _noise(reports, s2, self.population))

        return _worst(parts, self.s2, largest_spread(self.population, span))

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return Hoeffding's, who shows that samples without replacement are no worse than independent ones."""
        return float((reports.range / np.tanh(reports.epsilon / 2)) ** 2 / count)

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked."""
        return (_asked(count, self.population, response, failure, "people"),)

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return what reports of a secret sample lose together, exactly: as if all who are invited answered."""
        return releases.strata_loss(epsilon, [self.population], invited)

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise."""
        return releases.srs_scale(epsilon, population=self.population, sample=count, span=span, secret=secret)

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        return f"ask {count:,} of {self.population:,} people"


@dataclass(frozen=True, slots=True)
class ClusterDesign:
    """Some of the clusters of one size; of each that is drawn everybody or a few are asked.

    Parameters
    ----------
    clusters, size : int
        How many there are, and people in each.
    icc : float, optional
        Intra-cluster correlation; the worst, 1, if left out.
    take : int, optional
        People asked in each cluster that is drawn; everybody if left out.
    s2 : float, optional
        Variance of the values; the worst if left out.
    """

    clusters: int
    size: int
    icc: float | None = None
    take: int | None = None
    s2: float | None = None
    unit: ClassVar[str] = "clusters"

    def __post_init__(self) -> None:
        self.drawn(1)
        if self.icc is not None:
            self.drawn(1).split(1.0, self.icc)

    @property
    def population(self) -> int:
        """People there are."""
        return self.clusters * self.size

    @property
    def most(self) -> int:
        """Units there are."""
        return self.clusters

    def drawn(self, count: int) -> EqualClusters:
        """Return the design with that many clusters drawn."""
        return EqualClusters(self.clusters, self.size, count, self.take)

    def people(self, count: int) -> int:
        """Return how many people that many units are."""
        return self.drawn(count).sample

    def variance(self, count: int, reports: NumberReports | None, span: float) -> Variance:
        """Return the largest variance that what is known allows."""
        sample, icc = self.drawn(count), 1.0 if self.icc is None else self.icc
        # all members of a cluster alike: as many values as clusters
        limit = largest_spread(self.population, span)
        if self.icc is None:
            spread = largest_spread(self.clusters, span) * (self.clusters - 1) * self.size / (self.population - 1)
            limit = min(limit, spread)
        return _worst(lambda s2: sample.variance(s2, icc, _noise(reports, s2, self.population)), self.s2, limit)

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return Hoeffding's for cluster means and for noise, added."""
        coth = 1 / np.tanh(float(reports.epsilon) / 2)
        return float(reports.range**2 * (1 + coth * coth / self.drawn(1).asked) / count)

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked, as many in every cluster that is drawn."""
        take = self.drawn(count).asked
        return (count * _asked(take, self.size, response, failure / count, "people in a cluster"),)

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return what reports of a secret sample lose together: exactly for whole clusters, else a bound.

        With nonresponse no gain is claimed: how many answer differs between clusters.
        """
        if sum(invited) > self.people(count):
            return epsilon
        about = {"size": self.size, "chosen": count, "clusters": self.clusters}
        if self.take is None or self.take == self.size:
            return releases.clusters_loss(epsilon, **about)
        return releases.two_stage_bound(epsilon, take=self.take, **about)

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise; of two stages, as if the sample were known."""
        if secret and self.drawn(1).asked == self.size:
            size, clusters = self.size, self.clusters
            return releases.clusters_scale(epsilon, size=size, chosen=count, clusters=clusters, span=span)
        return span / (self.people(count) * epsilon)

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        asked = "everybody" if self.drawn(1).asked == self.size else f"{self.take:,}"
        return f"draw {count:,} of {self.clusters:,} clusters and ask {asked} in each, {self.people(count):,} people"


@dataclass(frozen=True, slots=True)
class StratifiedDesign:
    """A simple random sample from each stratum.

    Parameters
    ----------
    sizes : tuple of int
    s2 : tuple of float, optional
        Variance of the values in each; the worst if left out.
    allocation : {"proportional", "neyman"}
        By size; or with the least variance, the reports' noise included.
    noise : float
        Variance of a report, for Neyman's allocation.
    names : tuple of str
    """

    sizes: tuple[int, ...]
    s2: tuple[float, ...] | None = None
    allocation: Allocation = "proportional"
    noise: float = 0.0
    names: tuple[str, ...] = ()
    unit: ClassVar[str] = "people"

    def __post_init__(self) -> None:
        if checks.counts(sizes=self.sizes).min() < 1:
            raise ValueError(f"sizes must be >= 1, got sizes={self.sizes!r}")
        checks.choice(allocation=self.allocation, among=("proportional", "neyman"))
        if self.s2 is not None and len(self.s2) != len(self.sizes):
            raise ValueError(f"s2 must be one per stratum, {len(self.sizes)}, got {len(self.s2)}")
        if self.allocation == "neyman" and self.s2 is None:
            raise ValueError("allocation neyman needs the standard deviation in each stratum, got none")

    @property
    def population(self) -> int:
        """People there are."""
        return sum(self.sizes)

    @property
    def most(self) -> int:
        """Units there are."""
        return self.population

    def people(self, count: int) -> int:
        """Return how many people that many units are: at least one of each stratum."""
        return max(count, len(self.sizes))

    def drawn(self, count: int) -> tuple[int, ...]:
        """Return how many are drawn from each stratum."""
        total = self.people(count)
        spreads = np.ones(len(self.sizes)) if self.s2 is None else np.array(self.s2)
        if self.allocation == "neyman":
            shares = allocations.best_whole_allocation(self.sizes, spreads + self.noise, total)
        else:
            asked = allocations.proportional_shares(self.sizes, total / self.population)
            shares = np.minimum(np.maximum(allocations.largest_remainder(asked), 1), self.sizes)
        return tuple(int(n) for n in shares)

    def variance(self, count: int, reports: NumberReports | None, span: float) -> Variance:
        """Return the largest variance that what is known allows."""
        drawn, weights = np.array(self.drawn(count)), np.array(self.sizes) / self.population
        worst = []
        for n, size, known in zip(drawn, self.sizes, self.s2 or [None] * len(self.sizes), strict=True):

            def parts(s2: float, n: int = int(n), size: int = size) -> Variance:
                rest = 1 - n / size
                return Variance(rest * s2 / n, _noise(reports, s2, size) / n)

            worst.append(_worst(parts, known, largest_spread(size, span)))
        sampling, noise = (float(np.sum(weights**2 * [getattr(v, part) for v in worst])) for part in _PARTS)
        return Variance(sampling, noise)

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return Hoeffding's for independent strata."""
        reach = np.array(self.sizes) / self.population * float(reports.range / np.tanh(reports.epsilon / 2))
        return float(np.sum(reach**2 / np.array(self.drawn(count))))

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people of every stratum must be asked; all strata get enough but for the probability."""
        parts = zip(self.drawn(count), self.sizes, strict=True)
        return tuple(_asked(n, size, response, failure / len(self.sizes), "people in a stratum") for n, size in parts)

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return what reports of a secret sample lose together, exactly, strata being public."""
        return releases.strata_loss(epsilon, self.sizes, invited)

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise."""
        spans = np.full(len(self.sizes), span)
        return releases.strata_scale(epsilon, self.sizes, self.drawn(count), spans, secret=secret)

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        names = self.names or tuple(str(i + 1) for i in range(len(self.sizes)))
        parts = ", ".join(f"{name} {n:,}" for name, n in zip(names, self.drawn(count), strict=True))
        return f"ask {sum(self.drawn(count)):,} of {self.population:,} people ({parts})"

    def sample(self, count: int) -> StratifiedSample:
        """Return the design with that many people drawn."""
        return StratifiedSample(self.sizes, self.drawn(count))


_PARTS = ("sampling", "randomisation")
