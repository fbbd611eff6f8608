"""A sample of clusters in one or two stages: the expansion estimate from them, around the middle of the range.

Its variance, bounds on its tails, how many to invite, and a curator's noise. What is released may tell which clusters
were drawn, so no loss is claimed to be smaller than a report's.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy import special

from ldpnb import checks
from ldpnb.arithmetic import Floats
from ldpnb.planning.reports import MANY, Reports, UnableError, Variance, largest, largest_spread
from ldpnb.planning.samples import answering, exponent


@dataclass(frozen=True, slots=True)
class ClusterDesign:
    """A simple random sample of clusters; in those everybody is asked, or a simple random sample of them.

    - `clusters`, int
    - `size`, float: people in each, or their mean number.
    - `take`, int, optional: people asked in each cluster that is drawn, all of whom answer or not; everybody if left
      out.
    - `icc`, float, optional: intra-cluster correlation, ``1 - N s2_w / ((N - 1) s2)`` with the variance ``s2_w``
      within clusters; the worst if left out.
    - `sd`, float, optional: standard deviation of the values.
    - `size_sd`, float: standard deviation of the clusters' sizes; their means are taken to vary whatever the size.
    - `chosen`, int: clusters drawn, set by `at`; the standard deviation then is that of values in ``[0, 1]``.
    - `response`, float: chance that somebody who is asked answers, set by `at`.
    """

    clusters: int
    size: float
    take: int | None = None
    icc: float | None = None
    sd: float | None = None
    size_sd: float = 0.0
    chosen: int = 0
    response: float = 1.0
    unit: ClassVar[str] = "clusters"
    respondents: ClassVar[bool] = False
    estimator: ClassVar[str] = "expansion"

    def __post_init__(self) -> None:
        checks.plain(self, clusters=2, take=1, **({} if self.size_sd else {"size": 1}))
        checks.numbers(self.size, "size", low=1, high=MANY)
        checks.numbers(self.clusters * self.size, "population", low=2, high=MANY)
        checks.numbers(self.size_sd, "size_sd", low=0)
        checks.numbers(self.sd or 0.0, "sd", low=0)
        if self.size_sd and self.icc is None:
            raise ValueError(
                f"icc must be given where sizes differ: the worst is not known, got size_sd={self.size_sd!r}"
            )
        if (self.take or 1) > self.size:
            raise ValueError(f"take must be 1 to size={self.size:g}, got take={self.take}")
        checks.numbers(
            self.icc or 0.0, "icc", low=-1 / (self.size - 1) if self.size > 1 else -1.0, high=1
        )

    @property
    def limits(self) -> tuple[int, int]:
        """Fewest and most clusters that are drawn."""
        return 2, self.clusters

    def at(self, count: int, reports: Reports, span: float = 1.0, response: float = 1.0) -> Self:
        """Return the sample of so many clusters, of values in a range of length `span`."""
        return replace(self, chosen=count, sd=self.sd and self.sd / span, response=response)

    def __str__(self) -> str:
        spread = (
            f" on average (sd {self.size_sd:g}, unrelated to their means)" if self.size_sd else ""
        )
        asked = "everybody" if self.take is None else f"{self.take:,} people"
        return f"{asked} in clusters drawn of {self.clusters:,}, of {self.size:g} people{spread}"

    @property
    def asked(self) -> int:
        """People asked in a cluster, on average."""
        return self.take or round(self.size)

    @property
    def population(self) -> int:
        """People there are."""
        return round(self.clusters * self.size)

    @property
    def people(self) -> int:
        """People who answer, on average."""
        return math.ceil(self.chosen * (self.take or self.size) * self.response - 1e-9)

    @property
    def empty(self) -> float:
        """Bound on the chance that somewhere nobody answers, so that there is no estimate."""
        return min(1.0, self.chosen * (1 - self.response) ** self.asked)

    def variance(self, reports: Reports) -> Variance:
        """Return the largest variance of the expansion estimate, over the correlation too if it is not known."""
        s2 = None if self.sd is None else self.sd**2
        if self.icc is not None:
            return self._at(self.icc, reports, s2)
        # linear in the correlation, so at an end: all members of a cluster alike, or all clusters alike
        alike = (
            largest_spread(self.clusters) * (self.clusters - 1) * self.size / (self.population - 1)
        )
        known = None if s2 is None else min(s2, alike)
        least = -1 / (self.size - 1) if self.size > 1 else 1.0
        ends = [self._at(1.0, reports, known, self.clusters), self._at(least, reports, s2)]
        return max(ends, key=lambda variance: variance.total)

    def _at(self, icc: float, reports: Reports, s2: float | None, parts: int = 0) -> Variance:
        """Return it for a correlation: ``M/(m N^2) [(M - m) S2_t + sum (N_g^2/n_g - N_g) S2_w + sum N_g^2/n_g v_g]``.

        ``S2_t`` is the variance of the clusters' totals, ``S2_w`` that within clusters. Where sizes differ, cluster
        means vary whatever the size, the mean lies as far from the middle as the variance leaves, and reports are at
        their worst.
        """
        number, people, left = self.clusters, self.population, self.clusters - self.chosen
        squares = number * self.size**2 + (number - 1) * self.size_sd**2
        answers, chances = answering(self.asked, self.response)
        spent = (people * self.asked if self.take is None else squares) * float(
            chances @ (1 / answers)
        )
        factor = number / (self.chosen * people**2)
        within = (people - 1) * (1 - icc) / people  # all for values of variance 1
        alike = ((people - 1) - people * within) / people
        totals = max(0.0, alike * squares + within * people) / (number - 1)
        own = factor * (left * totals + max(0.0, spent - people) * within)
        if not self.size_sd:
            return largest(reports, own, factor * spent, people, s2, parts)
        away = factor * left * self.size_sd**2
        worst = [s2] if s2 is not None else [0.0, largest_spread(people)]
        sampling = max(
            own * one + away * max(0.0, 1 / 4 - one * (people - 1) / people) for one in worst
        )
        return Variance(sampling, factor * spent * reports.worst)

    def exponent(self, tilts: Floats, reports: Reports) -> Floats:
        """Return a bound on ``ln E exp(tilt (estimate - truth))`` over all values; infinite where sizes differ.

        Cluster means are a sample without replacement, and within each one the reports are.
        """
        if self.size_sd:
            return np.full(tilts.shape, math.inf)
        answers, chances = answering(self.asked, self.response)
        inner = exponent(tilts[:, None] / self.chosen, answers, self.size, reports)
        second = special.logsumexp(inner, b=chances, axis=1)
        return np.asarray(
            exponent(tilts, self.chosen, self.clusters, Reports()) + self.chosen * second
        )

    def invited(self, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people are asked in all clusters together."""
        return (round(self.chosen * (self.take or self.size)),)

    def loss(self, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the loss of a report: which clusters were drawn may show."""
        return epsilon

    def scale(self, epsilon: float) -> float:
        """Return the scale of a curator's noise on the estimate; none if some are asked where sizes differ."""
        if self.size_sd and self.take is not None:
            raise UnableError(
                "the noise would depend on the largest cluster: leave out take, or give all one size"
            )
        # where not everybody answers, one value may be the only one of its cluster
        return 1 / (self.chosen * (1 if self.response < 1 else self.take or self.size) * epsilon)
