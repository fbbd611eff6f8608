"""Clusters of different sizes, and people who take part at individual rates, with the number still to be found.

Estimates are centred at the middle of the range, which is public: it is subtracted from every report and added back.
This keeps the cost of unequal sizes and weights low, unless the mean lies far from the middle.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.arithmetic import read_only
from ldpnb.privacy.subsampling import poisson_loss
from ldpnb.surveys import releases
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.open_designs import Divided, SurveyDesign
from ldpnb.surveys.response import invitations_of
from ldpnb.surveys.variances import (
    EXACT_PEOPLE,
    Variance,
    kish_design_effect,
    largest_spread,
    worst_clusters_variance,
    worst_variance,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class UnequalClusterDesign(SurveyDesign):
    """Clusters of different sizes, some of which are drawn; in those everybody is asked, or a few.

    Parameters
    ----------
    sizes : (clusters,) float
        People in each. If only their mean and spread are known, `of_moments` makes up sizes that have them.
    icc : float, optional
        ``1 - N s2_w / ((N - 1) s2)`` with the variance ``s2_w`` within clusters, the intra-cluster correlation where
        sizes are equal; taken to be unrelated to the sizes. The worst if left out.
    take : int, optional
        People asked in each cluster that is drawn, or all where there are fewer; everybody if left out.
    s2 : float, optional
        Variance of the values; the worst if left out.
    offset : float, optional
        Distance of the mean from the middle of the range; the largest that the variance leaves if left out.
    means, sds : (clusters,) float, optional
        Distance of each cluster's mean from the middle, and standard deviations within, if known from elsewhere.
    ratio : bool
        Whether the estimate is the sum of the reports, weighted within clusters, over the number of people in the
        clusters drawn. Its bias is small if many clusters are drawn, and the value of the mean does not matter.
    summarised : bool
        Whether the sizes were made up from mean and spread.
    """

    sizes: tuple[float, ...]
    icc: float | None = None
    take: int | None = None
    s2: float | None = None
    offset: float | None = None
    means: tuple[float, ...] | None = None
    sds: tuple[float, ...] | None = None
    ratio: bool = False
    summarised: bool = False
    unit: ClassVar[str] = "clusters"

    def __post_init__(self) -> None:
        checks.plain(self)
        if len(self.sizes) < 2 or min(self.sizes) < 1:
            raise ValueError(
                f"sizes must be of two clusters or more and >= 1, got sizes={checks.shortened(self.sizes)}"
            )
        if self.take is not None:
            checks.whole(take=self.take, at_least=1)
        if self.icc is not None:
            spare = self.population - self.most
            checks.numbers(icc=self.icc, low=-self.most / spare if spare else -1.0, high=1)
        elif self.s2 is not None and self.means is None:
            raise ValueError("sizes that differ need icc beside sd; leave out both for the worst, got sd without icc")
        if self.summarised and (self.icc is None or (self.take or 1) > min(self.sizes)):
            raise ValueError(
                "mean and spread of the sizes suffice with icc and a take that all clusters have; else give a file"
            )

    @classmethod
    def of_moments(cls, clusters: int, mean: float, sd: float, **known: Any) -> "UnequalClusterDesign":
        """Return the design for clusters whose sizes are known only by their mean and standard deviation.

        >>> UnequalClusterDesign.of_moments(4, 10, 3, icc=0.1).sizes[::2]
        (7.401923788646684, 12.598076211353316)
        """
        clusters, mean = checks.whole(clusters=clusters, at_least=2), checks.positive(cluster_size=mean)
        # an odd number of clusters leaves one in the middle
        half, away = clusters // 2, checks.positive(size_sd=sd) * ((clusters - 1) / (2 * (clusters // 2))) ** 0.5
        if away > mean - 1:
            raise ValueError(f"size-sd must leave every cluster a person; else give the sizes in a file, got {sd!r}")
        middle = (mean,) * (clusters % 2)
        return cls((mean - away,) * half + middle + (mean + away,) * half, summarised=True, **known)

    @property
    def population(self) -> int:
        """People there are."""
        return round(sum(self.sizes))

    @property
    def most(self) -> int:
        """Units there are."""
        return len(self.sizes)

    @cached_property
    def _people(self) -> Floats:
        return read_only(np.array(self.sizes, dtype=float))

    @cached_property
    def _takes(self) -> Floats:
        return self._people if self.take is None else read_only(np.minimum(self._people, self.take))

    def people(self, count: int) -> int:
        """Return how many people that many clusters are on average."""
        return int(np.ceil(count * self._takes.mean() - 1e-9))

    def variance(self, count: int, reports: NumberReports | None, span: float) -> Variance:
        """Return the largest variance consistent with what is known, sampling and noise each at its worst."""
        people, takes, everybody = self._people, self._takes, self._people.sum()
        noise = 0.0 if reports is None else float(reports.worst * np.sum(people**2 / takes))
        factor = self.most / (count * everybody**2)
        return Variance(self._sampling(count, span), factor * noise)

    def _sampling(self, count: int, span: float) -> float:
        people, takes, number = self._people, self._takes, self.most
        factor = number / (count * people.sum() ** 2)
        rest, left = (number - count) / (number - 1), (people - takes) * people / takes
        if self.means is not None:
            means = np.array(self.means)
            totals = people * (means - (people @ means / people.sum() if self.ratio else 0.0))
            within = np.sum(left * np.square(self.sds)) if self.sds is not None else self._unknown_within(left, span)
            return float(factor * ((number - count) * totals.var(ddof=1) + within))
        if self.icc is not None:
            spread = largest_spread(self.population, span)
            return float(
                worst_variance(lambda s2: Variance(self._modelled(s2, count, span), 0.0), self.s2, spread).total
            )
        if self.take is None and people.sum() <= EXACT_PEOPLE:
            return worst_clusters_variance([int(size) for size in self.sizes], count, span)
        # a cluster's values at both ends of the range in equal parts, or all at one of them
        inside = np.divide(left / people, np.maximum(people - 1, 1))
        return float(factor * span**2 / 4 * np.sum(people**2 * np.maximum(rest, inside)))

    def _unknown_within(self, left: Floats, span: float) -> float:
        """Return the largest sum of the variances within clusters whose means are known."""
        square = span * span / 4 - np.square(np.array(self.means))
        return float(np.sum(left * square * self._people / np.maximum(self._people - 1, 1)))

    def _modelled(self, s2: float, count: int, span: float) -> float:
        """Return the sampling variance if cluster means vary according to the correlation, whatever their size.

        The variance is ``s2_w`` within clusters and the rest between them, where ``s2_w / N_g`` is due to cluster size.
        """
        people, takes, number, correlation = self._people, self._takes, self.most, float(self.icc or 0)
        everybody, squares = people.sum(), float(np.sum(people**2))
        within = (everybody - 1) * s2 * (1 - correlation) / everybody
        between = (everybody - 1) * s2 - (everybody - number) * within
        alike = (between - number * within) / everybody
        away = span * span / 4 - s2 * (everybody - 1) / everybody if self.offset is None else self.offset**2
        away *= not self.ratio
        totals = max(0.0, alike * squares + within * everybody) / (number - 1) + max(0.0, away) * people.var(ddof=1)
        second = float(np.sum(people * (people - takes) / takes)) * within
        return float(number / (count * everybody**2) * ((number - count) * totals + second))

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return the sum of Hoeffding's proxies for cluster totals and for noise; None if sizes are unknown."""
        if self.summarised or self.ratio:
            return None
        people, coth = self._people, 1 / np.tanh(float(reports.epsilon) / 2)
        largest = people.max() ** 2 + coth**2 * np.max(people**2 / self._takes)
        return float((self.most / people.sum() * float(reports.range)) ** 2 * largest / count)

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked, as many in every cluster that is drawn."""
        if response == 1:
            return (self.people(count),)
        least = int(min(self.sizes))
        take = least if self.take is None else self.take
        return (count * invitations_of(take, least, response, failure / count, "people in the smallest cluster"),)

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise, as if the sample were known."""
        if self.summarised and (self.take is not None or self.ratio):
            raise ValueError("a curator's noise depends on the largest cluster; give the sizes in a file")
        weight = float(np.max(self._people / self._takes)) / epsilon * span
        if self.ratio:
            return weight / float(np.sort(self._people)[:count].sum())
        return weight * self.most / (count * float(self._people.sum()))

    def visible(self, *, local: bool) -> str:
        """Return that the number or the weights of the reports reveal which clusters were drawn."""
        return "how many report tells which clusters were drawn"

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        asked = "everybody" if self.take is None else f"{self.take:,}, or all of fewer,"
        sizes = f"{min(self.sizes):,.4g} to {max(self.sizes):,.4g} people"
        if self.summarised:
            sizes = f"{self._people.mean():,.4g} people on average (sd {self._people.std(ddof=1):.3g})"
        about = f"about {self.people(count):,} people"
        return f"draw {count:,} of {self.most:,} clusters of {sizes} and ask {asked} in each, {about}"

    def notes(self, count: int, reports: NumberReports | None, span: float) -> list[str]:
        """Return remarks for the answer."""
        if not self.ratio:
            return []
        return [
            "The estimate is a ratio, divided by the people in the clusters drawn; its bias is of the order 1/count."
        ]


@dataclass(frozen=True, slots=True)
class PoissonDesign(Divided):
    """Everybody takes part by a coin of their own, at one rate or at the rate of their class.

    The estimate is the Horvitz-Thompson mean around the middle of the range, with the inverse rates as weights.

    Parameters
    ----------
    sizes : tuple of int
        People in each class; one class for a single rate.
    rates : tuple of float
        Probabilities of taking part, relative to each other; equal if left out.
    squares : tuple of float, optional
        Mean squared distance of each class's values from the middle of the range; the worst if left out.
    trim : float, optional
        Largest weight allowed, in units of that at equal rates; smaller rates are raised accordingly.
    names : tuple of str
    """

    sizes: tuple[int, ...]
    rates: tuple[float, ...] = ()
    squares: tuple[float, ...] | None = None
    trim: float | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checks.plain(self)
        self._require_parts("class", "rates", "squares")
        for rate in self.rates:
            checks.positive(rates=rate)
        if self.trim is not None and self.trim < 1:
            raise ValueError(f"trim must be >= 1, the weight of equal rates, got trim={self.trim!r}")

    def chances(self, count: int) -> Floats:
        """Return the probability of taking part in each class, at most 1, for so many people on average."""
        sizes, rates = np.array(self.sizes, dtype=float), np.array(self.rates or [1.0] * len(self.sizes))
        least = 0.0 if self.trim is None else count / (self.population * self.trim)

        def at(log: float) -> Floats:
            return np.clip(np.exp(log) * rates, least, 1.0)

        ends = np.log(count / self.population / rates.max()) - 1, -np.log(rates.min())
        if self.trim == 1 or float(sizes @ at(ends[1])) <= count:
            return np.full(len(self.sizes), count / self.population) if self.trim == 1 else at(ends[1])
        return at(float(brentq(lambda log: float(sizes @ at(log)) - count, ends[0] - 60, ends[1], xtol=1e-14)))

    def variance(self, count: int, reports: NumberReports | None, span: float) -> Variance:
        """Return the largest variance consistent with what is known."""
        chances, people, most = self.chances(count), self.population**2, span * span / 4
        sampling = noise = 0.0
        for size, rate, known in zip(self.sizes, chances, self.squares or [None] * len(self.sizes), strict=True):

            def parts(square: float, size: int = size, rate: float = float(rate)) -> Variance:
                own = 0.0 if reports is None else float(reports.worst)
                if reports is not None and reports.mechanism == "one-bit" and not reports.binary:
                    own -= square
                return Variance(size * (1 - rate) * square / rate, size * own / rate)

            fixed = most if known is None and reports is not None and reports.binary else known
            worst = worst_variance(parts, fixed, most)
            sampling, noise = sampling + float(worst.sampling), noise + float(worst.randomisation)
        return Variance(sampling / people, noise / people)

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return Hoeffding's proxy for independent terms, each 0 or a weighted report."""
        reach = float(reports.range) / np.tanh(float(reports.epsilon) / 2) / self.chances(count)
        return float(np.sum(np.array(self.sizes) * reach**2)) / self.population**2

    def reach(self, count: int, reports: NumberReports) -> float | None:
        """Return the largest deviation of one person's term, at the smallest rate."""
        coth = 1 / np.tanh(float(reports.epsilon) / 2)
        return float(reports.range * (coth / self.chances(count).min() + 1) / (2 * self.population))

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people take part on average."""
        return (count,)

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise."""
        chances = self.chances(count)
        return releases.poisson_scale(epsilon, chances, population=self.population, span=span, secret=secret)

    def loss_without(self, count: int, loss: float, reach: float) -> float:
        """Return the exact loss if a record may be absent, of a curator's sum over a public size."""
        if math.isinf(reach):
            return math.inf
        chances = self.chances(count)
        return max(float(poisson_loss(reach / (self.population * p), p, neighbours="deletion")) for p in set(chances))

    def visible(self, *, local: bool) -> str:
        """Return that a report reveals that its sender takes part."""
        return "who reports takes part" if local else ""

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        chances = self.chances(count)
        rates = f"chance {chances[0]:.4g}"
        if len(self.sizes) > 1:
            rates = "the chance of their class: " + ", ".join(
                f"{n} {c:.4g}" for n, c in zip(self.labels, chances, strict=True)
            )
        about = f"{count:,} of {self.population:,} people on average"
        return f"ask {about}, everybody by a coin of their own with {rates}"

    def notes(self, count: int, reports: NumberReports | None, span: float) -> list[str]:
        """Return remarks for the answer."""
        chances, sizes = self.chances(count), np.array(self.sizes)
        if len(set(chances.round(12))) == 1:
            return []
        kish = kish_design_effect(1 / chances, sizes * chances)
        largest = count / (self.population * chances.min())
        return [
            f"Weights differ: design effect {kish:.3g} of the randomisation, the largest {largest:.3g} times equal."
        ]
