"""A sample of known size: the variance of its mean, bounds on its tails, how many to invite, and what a release loses.

The mean is that of unbiased reports of values in ``[0, 1]``: of every part of the population, weighted by size, or the
expansion estimate from clusters around the middle of the range.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.optimize import brentq

from ldpnb.arithmetic import log_mixed, read_only
from ldpnb.planning.reports import Reports, Variance, largest, largest_spread
from ldpnb.privacy.subsampling import srs_budget, srs_loss

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Parts:
    """Simple random samples of the parts of a population: of its strata, or of the whole.

    Parameters
    ----------
    sizes, answers : tuple of int
        People in each part, and of those who answer.
    s2 : tuple of float, optional
        Variance of the values in each; the worst if left out.
    respondents : bool
        Whether nobody is meant but those who answer.
    """

    sizes: tuple[int, ...]
    answers: tuple[int, ...]
    s2: tuple[float, ...] | None = None
    respondents: bool = False

    @property
    def population(self) -> int:
        """People there are."""
        return sum(self.sizes)

    @property
    def people(self) -> int:
        """People who answer."""
        return sum(self.answers)

    @property
    def empty(self) -> float:
        """Chance that there is no estimate."""
        return 0.0

    @property
    def _weights(self) -> Floats:
        return np.array(self.sizes) / self.population

    def variance(self, reports: Reports) -> Variance:
        """Return the largest variance of the mean: ``sum of W_h^2 [(1 - n_h/N_h) S2_h + v_h] / n_h``."""
        known = self.s2 or [None] * len(self.sizes)
        rows = zip(self.sizes, self.answers, known, strict=True)
        worst = [largest(reports, 1 / n - 1 / size, 1 / n, size, s2) for size, n, s2 in rows]
        squares = self._weights**2
        sampling, noise = (squares @ [getattr(one, part) for one in worst] for part in ("sampling", "randomisation"))
        return Variance(float(sampling), float(noise))

    def exponent(self, tilts: Floats, reports: Reports) -> Floats:
        """Return a bound on ``ln E exp(tilt (mean - truth))`` over all values, ``(tilts,)``.

        The bits of a sample without replacement have no larger one than independent bits (Hoeffding 1963); that of the
        values themselves is at most ``tilt^2 (1 - (n - 1)/N) / (8 n)`` (Serfling 1974), or what the same bound of those
        who are not asked implies, and Laplace noise adds its own.
        """
        each = np.multiply.outer(tilts, self._weights)
        return np.asarray(_exponent(each, np.array(self.answers), np.array(self.sizes), reports).sum(axis=-1))

    def invited(self, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people to invite in each part so that all have enough answers but for a chance `failure`."""
        each = failure / len(self.sizes)
        numbers = tuple(invitations(n, response, each) for n in self.answers)
        for number, answers, size in zip(numbers, self.answers, self.sizes, strict=True):
            if number > size and not self.respondents:
                raise ValueError(f"{number:,} of {size:,} people would have to be invited for {answers:,} answers")
        return numbers

    def loss(self, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the exact joint loss of the reports if who was asked is secret, as if all who are invited answered."""
        return epsilon if self.respondents else float(srs_loss(epsilon, float(np.max(self._rates(invited)))))

    def budget(self, released: float, invited: tuple[int, ...]) -> float:
        """Return the loss of a report with which all of them lose `released`; inverts `loss`."""
        return released if self.respondents else float(srs_budget(released, float(np.max(self._rates(invited)))))

    def scale(self, epsilon: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise on the mean, which may be less if who was asked is secret."""
        hidden = secret and not self.respondents
        inner = log_mixed(1 / self._rates(self.answers), np.full(len(self.sizes), epsilon)) if hidden else epsilon
        return float(np.max(self._weights / np.array(self.answers) / inner))

    def _rates(self, asked: tuple[int, ...]) -> Floats:
        return np.array(asked) / np.array(self.sizes)


@dataclass(frozen=True, slots=True)
class Clusters:
    """A simple random sample of clusters, and of the people in each.

    Parameters
    ----------
    clusters : int
        There are.
    size : float
        People in each, or their mean number.
    chosen : int
        Clusters drawn.
    take : int, optional
        People asked in each; everybody if left out.
    icc, s2 : float, optional
        Intra-cluster correlation and variance of the values; the worst if left out.
    size_sd : float
        Standard deviation of the sizes.
    response : float
        Chance that somebody who is asked answers.
    """

    clusters: int
    size: float
    chosen: int
    take: int | None = None
    icc: float | None = None
    s2: float | None = None
    size_sd: float = 0.0
    response: float = 1.0

    @property
    def asked(self) -> int:
        """People asked in a cluster, on average."""
        return round(self.size) if self.take is None else self.take

    @property
    def population(self) -> int:
        """People there are."""
        return round(self.clusters * self.size)

    @property
    def people(self) -> int:
        """People who answer, on average."""
        inside = self.size if self.take is None else self.take
        return math.ceil(self.chosen * inside * self.response - 1e-9)

    @property
    def empty(self) -> float:
        """Bound on the chance that somewhere nobody answers, so that there is no estimate."""
        return min(1.0, self.chosen * (1 - self.response) ** self.asked)

    def variance(self, reports: Reports) -> Variance:
        """Return the largest variance of the expansion estimate, over the correlation too if it is not known."""
        if self.icc is not None:
            return self._at(self.icc, reports)
        # linear in the correlation, so at an end: all members of a cluster alike, or all clusters alike
        alike = largest_spread(self.clusters) * (self.clusters - 1) * self.size / (self.population - 1)
        known = None if self.s2 is None else min(self.s2, alike)
        least = -1 / (self.size - 1) if self.size > 1 else 1.0
        ends = [replace(self, s2=known)._at(1.0, reports, self.clusters), self._at(least, reports)]
        return max(ends, key=lambda variance: variance.total)

    def _at(self, icc: float, reports: Reports, parts: int = 0) -> Variance:
        """Return it for a correlation: ``M/(m N^2) [(M - m) S2_t + sum (N_g^2/n_g - N_g) S2_w + sum N_g^2/n_g v_g]``.

        ``S2_t`` is the variance of the clusters' totals, ``S2_w`` that within clusters. Where sizes differ, cluster
        means vary whatever the size, the mean lies as far from the middle as the variance leaves, and reports are at
        their worst.
        """
        number, people, drawn = self.clusters, self.population, self.chosen
        squares = number * self.size**2 + (number - 1) * self.size_sd**2
        spent = (people * self.asked if self.take is None else squares) * self._inverse
        factor = number / (drawn * people**2)
        within = (people - 1) * (1 - icc) / people  # all for values of variance 1
        alike = ((people - 1) - people * within) / people
        totals = max(0.0, alike * squares + within * people) / (number - 1)
        own = factor * ((number - drawn) * totals + max(0.0, spent - people) * within)
        if not self.size_sd:
            return largest(reports, own, factor * spent, people, self.s2, parts)
        away = factor * (number - drawn) * self.size_sd**2
        worst = [self.s2] if self.s2 is not None else [0.0, largest_spread(people)]
        sampling = max(own * s2 + away * max(0.0, 1 / 4 - s2 * (people - 1) / people) for s2 in worst)
        return Variance(sampling, factor * spent * reports.worst)

    @property
    def _inverse(self) -> float:
        """Mean of one over the number of answers in a cluster that has one."""
        numbers, chances = self._answers
        return float(chances @ (1 / numbers))

    @property
    def _answers(self) -> tuple[Floats, Floats]:
        """How many answer in a cluster, at least one, and the chances."""
        return _answering(self.asked, self.response)

    def exponent(self, tilts: Floats, reports: Reports) -> Floats:
        """Return a bound on ``ln E exp(tilt (estimate - truth))`` over all values; infinite where sizes differ.

        Cluster means are a sample without replacement, and within each one the reports are.
        """
        if self.size_sd:
            return np.full(tilts.shape, math.inf)
        numbers, chances = self._answers
        inner = _exponent(tilts[:, None] / self.chosen, numbers, self.size, reports)
        second = special.logsumexp(inner, b=chances, axis=1) if numbers.size > 1 else inner[:, 0]
        return np.asarray(_exponent(tilts, self.chosen, self.clusters, Reports()) + self.chosen * second)

    def invited(self, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people are asked in all clusters together."""
        return (self.chosen * self.asked if self.take else round(self.chosen * self.size),)

    def loss(self, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the joint loss of the reports if who was asked is secret: exactly for whole clusters, else a bound.

        ``ln {[p + (1-p) e^(-B eps)] / [p e^(-eps) + (1-p) e^(-B eps)]}`` of whole clusters drawn at rate ``p``: almost
        `epsilon` from ``ln(1/p)/epsilon`` people on. Where sizes or numbers of answers differ nothing is gained, for
        these tell which clusters were drawn.

        >>> round(Clusters(400, 5, 40).loss(1.0, ()), 6), round(Clusters(400, 25, 40, 5).loss(1.0, ()), 6)
        (0.90629, 0.275937)
        """
        if self.size_sd or self.response < 1:
            return epsilon
        rate, inner = self.chosen / self.clusters, float(srs_loss(epsilon, self.asked / self.size))
        other = (math.log1p(-rate) if rate < 1 else -math.inf) - self.asked * epsilon
        return float(np.logaddexp(math.log(rate), other) - np.logaddexp(math.log(rate) - inner, other))

    def budget(self, released: float, invited: tuple[int, ...]) -> float:
        """Return the loss of a report with which all of them lose `released`; inverts `loss`."""
        if self.loss(released, invited) >= released:
            return released
        most = 2 * released
        while self.loss(most, invited) < released:
            most *= 2
        excess = lambda epsilon: self.loss(epsilon, invited) - released  # noqa: E731
        return float(brentq(excess, released, most, xtol=1e-15, rtol=1e-14))

    def scale(self, epsilon: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise on the estimate; of some people in each cluster as if who is known."""
        if self.size_sd and self.take is not None:
            raise ValueError(
                "take must be left out where sizes differ: a curator's noise depends on the largest cluster"
            )
        # where not everybody answers, one value may be the only one of its cluster
        inside = 1 if self.response < 1 else self.size if self.take is None else self.take
        inner = self.budget(epsilon, ()) if secret and self.take in (None, self.size) else epsilon
        return 1 / (self.chosen * inside * inner)


def _exponent(tilts: Floats, answers: Any, people: Any, reports: Reports) -> Floats:
    """Return the bound of simple random samples of so many answers; see `Parts.exponent`."""
    if reports.bits:
        return np.asarray(tilts * tilts / (8 * answers * reports.truth**2))
    noise = np.minimum((tilts * reports.scale / answers) ** 2, 1.0)
    left = np.minimum(1 - (answers - 1) / people, (1 - answers / people) * (1 + 1 / answers))
    with np.errstate(divide="ignore"):
        return np.asarray(tilts * tilts * left / (8 * answers) - answers * np.log1p(-noise))


@lru_cache(maxsize=256)
def _answering(asked: int, response: float) -> tuple[Floats, Floats]:
    numbers = np.array([float(asked)]) if response == 1 else np.arange(1.0, asked + 1)
    others = asked - numbers
    logs = special.xlogy(numbers, response) + special.xlog1py(others, -response)
    chances = special.softmax(logs - special.gammaln(numbers + 1) - special.gammaln(others + 1))
    return read_only(numbers), read_only(chances)


def invitations(needed: int, response: float, failure: float) -> int:
    """Return the fewest invitations that bring `needed` answers except with probability `failure`.

    Everybody answers independently with probability `response`, whatever their value, report and design.

    >>> invitations(1842, 0.6, 0.05)
    3145
    """
    if response == 1:
        return needed
    low, high = needed, 2 * needed

    def short(invited: int) -> float:
        return float(special.betainc(invited - needed + 1, needed, 1 - response))

    while short(high) > failure:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if short(middle) <= failure else (middle + 1, high)
    return high
