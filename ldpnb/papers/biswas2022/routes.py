"""The independent route behind the claims of biswas2022: everything that a few users can do, with its probability.

Nothing here uses the probabilities, means or variances of the package; the randomiser is written out from Definition
2.4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import claims
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import read_only
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

Array = NDArray[np.float64]


NOISE = (KaryRandomisedResponse.q, KaryRandomisedResponse.truthful_rate)
RANDOMISER = (KaryRandomisedResponse.p, *NOISE)
"""What nearly every claim rests on: the noise, or the whole randomiser."""

published = partial(claims.published, "biswas2022")
"""Numbers printed in biswas2022, by key."""


def direct_encoding(epsilon: float, domain_size: int) -> Array:
    """Return the ``(reports, values)`` matrix of Definition 2.4: weight ``e^epsilon`` for the truth, 1 for all else."""
    weights = np.exp(epsilon * np.eye(domain_size))
    channel: Array = weights / weights.sum(axis=0)
    return channel


def keep_and_switch(epsilon: float, domain_size: int) -> Array:
    """Return the two probabilities of Definition 2.4, of the truth and of a given other value."""
    return direct_encoding(epsilon, domain_size)[0, :2]


@dataclass(frozen=True, slots=True)
class Reports:
    """Every outcome of sampling and randomisation, with its chance.

    Parameters
    ----------
    tallies : (outcomes, users, k) float
        What each user adds to each tally.
    chances : (outcomes,) float
        They sum to 1.
    """

    tallies: Array
    chances: Array

    @property
    def totals(self) -> Array:
        """Tallies over all users, ``(outcomes, k)``."""
        totals: Array = self.tallies.sum(axis=1)
        return totals

    def by_group(self, groups: Sequence[int]) -> Array:
        """Tallies by group of users, ``(outcomes, groups, k)``."""
        return np.stack([self.tallies[:, np.equal(groups, g)].sum(axis=1) for g in sorted(set(groups))], axis=1)

    def mean(self, estimates: ArrayLike) -> Array:
        """Exact mean of an estimate given for every outcome."""
        return np.asarray(self.chances @ np.asarray(estimates))

    def variance(self, estimates: ArrayLike) -> Array:
        """Exact variance of an estimate given for every outcome."""
        values = np.asarray(estimates)
        return np.asarray(self.chances @ (values - self.mean(values)) ** 2)


@cache
def all_reports(
    values: tuple[int, ...], rates: tuple[float, ...], epsilon: float, domain_size: int, iid: bool = False
) -> Reports:
    """Enumerate the ``(k+1)^n`` outcomes of ``n`` users who are silent or report one of ``k`` values.

    Parameters
    ----------
    values : tuple of int
        The users' values; with `iid` every user's value is drawn from their empirical distribution instead.
    rates : tuple of float
        The users' sampling rates.
    epsilon, domain_size
        Of the randomiser.
    iid : bool
    """
    held = np.eye(domain_size)[list(values)]
    held = np.broadcast_to(held.mean(axis=0), held.shape) if iid else held
    return outcomes(np.asarray(rates)[:, None] * (held @ direct_encoding(epsilon, domain_size).T))


def outcomes(report: Array) -> Reports:
    """Enumerate what independent users do, given their chances of each report, ``(users, k)``; the rest is silence."""
    users, size = report.shape
    law = np.column_stack([1 - report.sum(axis=1), report])
    choices = np.indices((size + 1,) * users).reshape(users, -1).T
    chances = law[np.arange(users), choices].prod(axis=1)
    return Reports(read_only(np.eye(size + 1)[choices][:, :, 1:]), read_only(chances))


def normal_delta(epsilon: float, deviation: float) -> float:
    """Integrate the hockey stick of two normal densities at a histogram's distance, ``sqrt(2)``."""
    points, weights = np.polynomial.legendre.leggauss(80)
    size = math.sqrt(2)
    x = epsilon * deviation**2 / size - size / 2 + 6 * deviation * (points + 1)

    def density(centre: float) -> Array:
        return np.asarray(np.exp(-((x - centre) ** 2) / (2 * deviation**2)) / (deviation * math.sqrt(2 * math.pi)))

    return float(6 * deviation * weights @ (density(0.0) - math.exp(epsilon) * density(-size)))


def amplified_as_published(local: float, users: int, delta: float) -> float:
    """Return Theorem 3.1 of Feldman, McMillan and Talwar (2020) as printed."""
    growth = math.exp(local)
    spread = math.sqrt(growth * math.log(4 / delta) / users) + growth / users
    return math.log1p(8 * (growth - 1) / (growth + 1) * spread)


@dataclass(frozen=True, slots=True)
class Case:
    """A small population with one sampling rate."""

    epsilon: float
    domain_size: int
    sampling_rate: float
    values: tuple[int, ...]
    iid: bool = False

    @property
    def mechanism(self) -> KaryRandomisedResponse:
        """The randomiser."""
        return KaryRandomisedResponse(self.epsilon, self.domain_size)

    @property
    def holders(self) -> NDArray[np.int64]:
        """Users who hold each value (in expectation, for iid data)."""
        return np.bincount(self.values, minlength=self.domain_size)

    @property
    def survey(self) -> SampledCounts:
        """The closed forms."""
        return SampledCounts(len(self.values), self.sampling_rate, self.mechanism, "iid" if self.iid else "fixed")

    @property
    def reports(self) -> Reports:
        """The complete enumeration."""
        rates = (self.sampling_rate,) * len(self.values)
        return all_reports(self.values, rates, self.epsilon, self.domain_size, self.iid)

    @property
    def unadjusted(self) -> Array:
        """The estimate c_DE in every outcome."""
        return estimators.unadjusted(self.reports.totals, users=len(self.values), mechanism=self.mechanism)

    @property
    def rescaled(self) -> Array:
        """The estimate g_DE in every outcome."""
        known: dict[str, Any] = {"sampling_rate": self.sampling_rate, "mechanism": self.mechanism}
        return estimators.rescaled(self.reports.totals, users=len(self.values), **known)

    @property
    def realised(self) -> Array:
        """The estimate c-hat in every outcome."""
        totals = self.reports.totals
        return estimators.realised_size(totals, sampling_rate=self.sampling_rate, mechanism=self.mechanism)

    def without_first_value(self) -> "Case":
        """Return the same case with the holders of the value 0 holding 1."""
        return replace(self, values=tuple(max(value, 1) for value in self.values))


_POPULATIONS = (
    (1.0, 4, 0.5, (0, 0, 1, 2)),
    (0.1, 3, 0.1, (0, 0, 0, 1)),
    (4.0, 2, 0.9, (0, 1, 1, 1, 1, 1)),
    (2.0, 3, 1.0, (0, 1, 1, 1)),
)
FIXED = tuple(Case(*population) for population in _POPULATIONS)
CASES = FIXED + tuple(replace(case, iid=True) for case in FIXED)
