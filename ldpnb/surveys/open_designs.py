"""Designs whose number of units is still to be found: variance, loss and noise as functions of that number.

A unit is a person, or a cluster where clusters are drawn. If the population's variance is not known, the worst one is
used: with one bit, values in the middle of the range make reports vary most, values at its ends the sample.
"""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.privacy.clusters import ClusterSample
from ldpnb.privacy.subsampling import srs_budget, srs_loss
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.response import invitations_of
from ldpnb.surveys.variances import MOST, Variance, largest_noise, largest_spread, worst_variance

_MOST_TALLIES = 10**6


class SurveyDesign:
    """What a plan needs of a design, at a number of units: people, unless clusters are drawn."""

    __slots__ = ()
    unit: ClassVar[str] = "people"

    @property
    def population(self) -> int:
        """People there are."""
        raise NotImplementedError

    @property
    def most(self) -> int:
        """Units there are."""
        return self.population

    def people(self, count: int) -> int:
        """Return how many people that many units are."""
        return count

    def variance(self, count: int, reports: NumberReports | None, span: float) -> Variance:
        """Return the largest variance consistent with what is known; without reports, that of sampling alone."""
        raise NotImplementedError

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return ``s`` such that ``2 exp(-2 h^2 / s)`` bounds an error of ``h`` with one-bit reports, or None."""
        raise NotImplementedError

    def reach(self, count: int, reports: NumberReports) -> float | None:
        """Return the largest deviation of one term for Bernstein's inequality; None if terms are dependent."""
        return None

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked, per stratum, for enough answers except with a probability."""
        raise NotImplementedError

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return what all reports of a secret sample lose under replacement, to readers who cannot know who was asked.

        It is `epsilon` where the sample hides nobody, and always to whoever receives a report.
        """
        return epsilon

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise."""
        raise NotImplementedError

    def loss_without(self, count: int, loss: float, reach: float) -> float:
        """Return the loss if a whole record may be absent, numbers drawn and weights staying as they are.

        From the loss if its value is replaced, and from `reach`, half the range over the scale of a curator's noise;
        infinite where nothing is promised, and without a secret sample of a curator.
        """
        return math.inf

    def visible(self, *, local: bool) -> str:
        """Return why a secret sample gains nothing, empty if it may: `local` if people randomise their answers."""
        return ""

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        raise NotImplementedError

    def answering(self, invited: tuple[int, ...], response: float) -> str:
        """Return which share of those who are invited answers, in words."""
        return f", of whom {response:.0%} answer"

    def notes(self, count: int, reports: NumberReports | None, span: float) -> list[str]:
        """Return remarks for the answer."""
        return []


class Divided(SurveyDesign):
    """People in parts: a stratum or a class each."""

    __slots__ = ()
    sizes: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def population(self) -> int:
        """People there are."""
        return sum(self.sizes)

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


@dataclass(frozen=True, slots=True)
class SimpleDesign(SurveyDesign):
    """A simple random sample.

    Parameters
    ----------
    population : int
    s2 : float, optional
        Variance of the values; the worst if left out.
    """

    population: int = field()  # without it the property of `SurveyDesign` would be the default
    s2: float | None = None

    def __post_init__(self) -> None:
        checks.plain(self, population=2)
        checks.numbers(population=self.population, low=2, high=MOST)

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

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked."""
        return (invitations_of(count, self.population, response, failure, "people"),)

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the exact joint loss of the reports of a secret sample, as if all who are invited answered."""
        return float(srs_loss(epsilon, invited[0] / self.population))

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise."""
        inner = srs_budget(epsilon, count / self.population) if secret else epsilon
        return float(span / (count * inner))

    def loss_without(self, count: int, loss: float, reach: float) -> float:
        """Return the loss if a record may be absent: somebody else is drawn in its place."""
        return loss if count < self.population else math.inf

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        return f"ask {count:,} of {self.population:,} people"


@dataclass(frozen=True, slots=True)
class ClusterDesign(SurveyDesign):
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
        checks.plain(self, clusters=2, size=1)
        checks.numbers(clusters=self.clusters, low=2, high=MOST)
        checks.numbers(size=self.size, low=1, high=MOST)
        if checks.whole(take=self.asked, at_least=1) > self.size:
            raise ValueError(f"take must be at most size={self.size}, got take={self.take}")
        if self.icc is not None:
            self.split(1.0, self.icc)

    @property
    def asked(self) -> int:
        """People asked in a cluster that is drawn."""
        return self.size if self.take is None else self.take

    @property
    def population(self) -> int:
        """People there are."""
        return self.clusters * self.size

    @property
    def most(self) -> int:
        """Units there are."""
        return self.clusters

    def people(self, count: int) -> int:
        """Return how many people that many units are."""
        return count * self.asked

    def split(self, s2: float, icc: float) -> tuple[float, float]:
        """Return the variance of cluster means, divisor ``M - 1``, and that within clusters."""
        least = -1 / (self.size - 1) if self.size > 1 else -1.0
        checks.numbers(icc=icc, low=least, high=1)
        people, size = self.population, self.size
        between = (people - 1) * s2 * (1 + (size - 1) * icc) / (size * size * (self.clusters - 1))
        return between, (people - 1) * s2 * (1 - icc) / people

    def variance(self, count: int, reports: NumberReports | None, span: float) -> Variance:
        """Return the largest variance consistent with what is known."""
        most = largest_spread(self.population, span)
        if self.icc is not None:
            return self._variance_at(self.icc, most, count, reports)
        # linear in the correlation, so at an end: all members of a cluster alike, or all clusters alike
        alike = largest_spread(self.clusters, span) * (self.clusters - 1) * self.size / (self.population - 1)
        if self.s2 is None and self.asked == self.size:  # exact: all at the middle, or whole clusters at either end
            told = None if reports is None else replace(reports, binary=True)
            middle, apart = (replace(self, icc=1.0, s2=s2) for s2 in (0.0, min(alike, most)))
            both = middle.variance(count, reports, span), apart.variance(count, told, span)
            return max(both, key=lambda v: float(v.total))
        least = -1 / (self.size - 1) if self.size > 1 else 1.0
        ends = [self._variance_at(icc, s2, count, reports) for icc, s2 in ((1.0, min(alike, most)), (least, most))]
        return max(ends, key=lambda v: float(v.total))

    def _variance_at(self, icc: float, limit: float, count: int, reports: NumberReports | None) -> Variance:
        asked = self.people(count)

        def parts(s2: float) -> Variance:
            between, within = self.split(s2, icc)
            second = (1 - self.asked / self.size) * within / asked
            noise = largest_noise(reports, s2, self.population)
            return Variance((1 - count / self.clusters) * between / count + second, noise / asked)

        known = self.s2 if self.s2 is None or icc < 1 else min(self.s2, limit)
        return worst_variance(parts, known, limit)

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return the sum of Hoeffding's proxies for cluster means and for noise."""
        coth = 1 / np.tanh(float(reports.epsilon) / 2)
        return float(reports.range**2 * (1 + coth * coth / self.asked) / count)

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked, as many in every cluster that is drawn."""
        return (count * invitations_of(self.asked, self.size, response, failure / count, "people in a cluster"),)

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the joint loss of the reports of a secret sample: exactly for whole clusters, else a bound.

        ``ln {[p + (1-p) e^(-B eps)] / [p e^(-eps) + (1-p) e^(-B eps)]}`` of whole clusters, drawn at rate ``p``: almost
        `epsilon` from ``ln(1/p)/epsilon`` people on, attained by one-bit randomised response. With nonresponse no gain
        is claimed, since the number of answers differs between clusters.

        >>> round(ClusterDesign(400, 5).loss(40, 1.0, (200,)), 6)
        0.90629
        >>> round(ClusterDesign(400, 25, take=5).loss(40, 1.0, (200,)), 6)
        0.275937
        """
        return epsilon if sum(invited) > self.people(count) else self._joint_loss(count, epsilon)

    def _joint_loss(self, count: int, epsilon: float) -> float:
        rate, inner = count / self.clusters, float(srs_loss(epsilon, self.asked / self.size))
        other = (math.log1p(-rate) if rate < 1 else -math.inf) - self.asked * epsilon
        return float(np.logaddexp(math.log(rate), other) - np.logaddexp(math.log(rate) - inner, other))

    def two_stage_loss(self, chosen: int, epsilon: float) -> float:
        """Return a lower bound on the joint loss of a secret sample in two stages, under replacement.

        What randomised response on bits loses at the worst number of ones in the rest of a cluster: equal to
        its enumerated loss in all cases tried, and never above `loss`, which holds for all reports.

        For `chosen` clusters and a loss `epsilon` of a report, in nats; `size` times `take` is a million at most.

        >>> round(ClusterDesign(400, 25, take=5).two_stage_loss(40, 1.0), 6)
        0.138533
        """
        drawn = float(checks.numbers(chosen=checks.whole(chosen=chosen, at_least=1), low=1, high=self.clusters))
        epsilon = checks.positive(epsilon=epsilon)
        if self.size * self.asked > _MOST_TALLIES:
            raise ValueError(f"size times take must be at most {_MOST_TALLIES:,}, got {self.size:,} and {self.asked:,}")
        # logarithms of the mean of e^(epsilon (ones asked - people asked)), asking one of the cluster or only others
        one, others = (self._growth(asked, epsilon) for asked in (self.asked - 1, self.asked))
        with np.errstate(divide="ignore"):
            own, away = np.log(np.array([self.asked, self.size - self.asked]) / self.size) + math.log(drawn)
            rest = np.log(self.clusters - drawn) - epsilon * self.asked
        other = np.logaddexp(np.logaddexp(own + one - epsilon, away + others), rest)
        return min(epsilon, float(np.max(np.logaddexp(0, own + one + math.log(-math.expm1(-epsilon)) - other))))

    def _growth(self, asked: int, epsilon: float) -> NDArray[np.float64]:
        """Return the logarithm of that mean by how many of the others hold one, if so many of them are asked."""
        if asked in (0, self.size):  # nobody; or more than there are, a sample of chance 0
            return np.zeros(self.size)
        ones, drawn = np.arange(self.size)[:, None], np.arange(asked + 1)
        chance = stats.hypergeom.logpmf(drawn, self.size - 1, ones, asked)
        return np.asarray(special.logsumexp(chance + epsilon * (drawn - asked), axis=1))

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise; for two stages, as if the sample were known."""
        inner = epsilon
        if secret and self.asked == self.size and count < self.clusters:
            most = float(srs_budget(epsilon, count / self.clusters))
            inner = brentq(
                lambda budget: self._joint_loss(count, budget) - epsilon, epsilon, most, xtol=1e-15, rtol=1e-14
            )
        return span / (self.people(count) * float(inner))

    def loss_without(self, count: int, loss: float, reach: float) -> float:
        """Return the exact loss if a record may be absent, of a curator's sum over a public size; of whole clusters."""
        if math.isinf(reach) or self.asked < self.size:
            return math.inf
        return ClusterSample([self.size] * self.clusters, count).loss(reach / (count * self.size))

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        asked = "everybody" if self.asked == self.size else f"{self.asked:,}"
        return f"draw {count:,} of {self.clusters:,} clusters and ask {asked} in each, {self.people(count):,} people"
