"""Designs whose number of units is still to be found: variance, loss and noise as functions of that number.

A unit is a person, or a cluster where clusters are drawn. If the population's variance is not known, the worst one is
used: with one bit, values in the middle of the range make reports vary most, values at its ends the sample.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ldpnb import checks
from ldpnb.privacy.clusters import ClusterSample
from ldpnb.surveys import releases
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.response import invitations
from ldpnb.surveys.variances import MOST, EqualClusters, Variance


class Design(Protocol):
    """What a plan needs from a design."""

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
        """Return the largest variance consistent with what is known; without reports, that of sampling alone."""

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return ``s`` such that ``2 exp(-2 h^2 / s)`` bounds an error of ``h`` with one-bit reports, or None."""

    def reach(self, count: int, reports: NumberReports) -> float | None:
        """Return the largest deviation of one of independent terms, for Bernstein's inequality, or None."""

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked, per stratum, for enough answers except with a probability."""

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the joint loss of the reports of a secret sample, under replacement."""

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise."""

    def loss_without(self, count: int, loss: float, reach: float) -> float:
        """Return the loss if a whole record may be absent, numbers drawn and weights staying as they are.

        From the loss if its value is replaced, and from `reach`, half the range over the scale of a curator's noise;
        infinite without a secret sample of a curator.
        """

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""

    def notes(self, count: int, reports: NumberReports | None, span: float) -> list[str]:
        """Return remarks for the answer."""


class Divided:
    """People in parts: a stratum or a class each."""

    __slots__ = ()
    unit: ClassVar[str] = "people"
    sizes: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def population(self) -> int:
        """People there are."""
        return sum(self.sizes)

    @property
    def most(self) -> int:
        """Units there are."""
        return self.population

    @property
    def labels(self) -> tuple[str, ...]:
        """The parts' names, or numbers where they have none."""
        return self.names or tuple(str(i + 1) for i in range(len(self.sizes)))

    def _require_parts(self, part: str, *names: str) -> None:
        """Refuse sizes below 1, and what is not one for every part."""
        if checks.counts(sizes=self.sizes).min() < 1:
            raise ValueError(f"sizes must be >= 1, got sizes={self.sizes!r}")
        for name in names:
            held = getattr(self, name)
            if held is not None and len(held) not in (0, len(self.sizes)):
                raise ValueError(f"{name} must be one per {part}, {len(self.sizes)}, got {len(held)}")


def squared(sd: float | None) -> float | None:
    """Return the variance of values of that standard deviation, if it is known."""
    return None if sd is None else float(checks.positive(sd=sd) * sd)


def largest_spread(people: int, span: float) -> float:
    """Return the largest variance (divisor ``N - 1``) of so many values in a range of that length."""
    half = people // 2
    return span * span * half * (people - half) / (people * (people - 1)) if people > 1 else 0.0


def largest_noise(reports: NumberReports | None, s2: float, people: int) -> float:
    """Return the largest mean variance of reports in a population of that variance."""
    if reports is None:
        return 0.0
    ends = float(reports.range * reports.range * reports.floor)
    if reports.binary or reports.mechanism == "Laplace":
        return ends
    return ends + float(reports.range) ** 2 / 4 - (people - 1) / people * s2


def worst_variance(parts: Callable[[float], Variance], known: float | None, limit: float) -> Variance:
    """Return the variance at the known spread, or else at the worse end of its range, in which it is linear."""
    if known is not None:
        if known > limit * (1 + 1e-9):
            raise ValueError(f"sd must be at most {limit**0.5:g} in that range, got sd={known**0.5:g}")
        return parts(known)
    return max(parts(0.0), parts(limit), key=lambda v: float(v.total))


def invitations_of(answers: int, people: int, response: float, failure: float, whom: str) -> int:
    """Return how many people must be invited for so many answers."""
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
        """Return the largest variance consistent with what is known.

        Weights that are unrelated to the values, of Kish's design effect ``k``, make it ``s2 (k/n - 1/N) + k v/n``.
        """
        own, everybody = weights / count, 1 / self.population

        def parts(s2: float) -> Variance:
            return Variance(s2 * (own - everybody), own * largest_noise(reports, s2, self.population))

        return worst_variance(parts, self.s2, largest_spread(self.population, span))

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return Hoeffding's proxy; samples without replacement are no worse than independent ones."""
        return float((reports.range / np.tanh(reports.epsilon / 2)) ** 2 / count)

    def reach(self, count: int, reports: NumberReports) -> float | None:
        """Return None: terms are dependent."""
        return None

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked."""
        return (invitations_of(count, self.population, response, failure, "people"),)

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the exact joint loss of the reports of a secret sample, as if all who are invited answered."""
        return releases.strata_loss(epsilon, [self.population], invited)

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise."""
        return releases.srs_scale(epsilon, population=self.population, sample=count, span=span, secret=secret)

    def loss_without(self, count: int, loss: float, reach: float) -> float:
        """Return the loss if a record may be absent: somebody else is drawn in its place."""
        return loss if count < self.population else math.inf

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        return f"ask {count:,} of {self.population:,} people"

    def notes(self, count: int, reports: NumberReports | None, span: float) -> list[str]:
        """Return no remarks."""
        return []


@dataclass(frozen=True, slots=True)
class ClusterDesign:
    """Clusters of one size, some of which are drawn; in those everybody is asked, or a few.

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
        """Return the largest variance consistent with what is known."""
        sample = self.drawn(count)

        def at(icc: float, limit: float) -> Variance:
            known = self.s2 if self.s2 is None or icc < 1 else min(self.s2, limit)
            return worst_variance(
                lambda s2: sample.variance(s2, icc, largest_noise(reports, s2, self.population)), known, limit
            )

        if self.icc is not None:
            return at(self.icc, largest_spread(self.population, span))
        # linear in the correlation, so at an end: all members of a cluster alike, or all clusters alike
        alike = largest_spread(self.clusters, span) * (self.clusters - 1) * self.size / (self.population - 1)
        least = -1 / (self.size - 1) if self.size > 1 else 1.0
        most = largest_spread(self.population, span)
        ends = at(1.0, min(alike, most)), at(least, most)
        return max(ends, key=lambda v: float(v.total))

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return the sum of Hoeffding's proxies for cluster means and for noise."""
        coth = 1 / np.tanh(float(reports.epsilon) / 2)
        return float(reports.range**2 * (1 + coth * coth / self.drawn(1).asked) / count)

    def reach(self, count: int, reports: NumberReports) -> float | None:
        """Return None: terms are dependent."""
        return None

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked, as many in every cluster that is drawn."""
        take = self.drawn(count).asked
        return (count * invitations_of(take, self.size, response, failure / count, "people in a cluster"),)

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the joint loss of the reports of a secret sample: exactly for whole clusters, else a bound.

        With nonresponse no gain is claimed, since the number of answers differs between clusters.
        """
        if sum(invited) > self.people(count):
            return epsilon
        about = {"size": self.size, "chosen": count, "clusters": self.clusters}
        if self.take is None or self.take == self.size:
            return releases.clusters_loss(epsilon, **about)
        return releases.two_stage_bound(epsilon, take=self.take, **about)

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise; for two stages, as if the sample were known."""
        if secret and self.drawn(1).asked == self.size:
            size, clusters = self.size, self.clusters
            return releases.clusters_scale(epsilon, size=size, chosen=count, clusters=clusters, span=span)
        return span / (self.people(count) * epsilon)

    def loss_without(self, count: int, loss: float, reach: float) -> float:
        """Return the exact loss if a record may be absent, of a curator's sum over a public size; of whole clusters."""
        if math.isinf(reach) or self.drawn(1).asked < self.size:
            return math.inf
        return ClusterSample([self.size] * self.clusters, count).loss(reach / (count * self.size))

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        asked = "everybody" if self.drawn(1).asked == self.size else f"{self.take:,}"
        return f"draw {count:,} of {self.clusters:,} clusters and ask {asked} in each, {self.people(count):,} people"

    def notes(self, count: int, reports: NumberReports | None, span: float) -> list[str]:
        """Return no remarks."""
        return []
