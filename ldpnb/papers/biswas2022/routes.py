"""Second routes to the formulas that sections of biswas2022 share: everything that a few users can do.

Populations are enumerated, with every outcome's probability; randomiser and estimates are written out as Definition 2.4
and equations (3) and (5) print them.
"""

import math
from collections.abc import Callable, Sequence
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
from ldpnb.sections import Pairs, second_route

Array = NDArray[np.float64]


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
    law = np.eye(domain_size)[list(values)]
    law = np.broadcast_to(law.mean(axis=0), law.shape) if iid else law
    return outcomes(np.asarray(rates)[:, None] * (law @ direct_encoding(epsilon, domain_size).T))


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
        """The estimate c_DE in every outcome, as in equation (3)."""
        return self._less(len(self.values))

    @property
    def rescaled(self) -> Array:
        """The estimate g_DE in every outcome, as in equation (5)."""
        keep, switch = keep_and_switch(self.epsilon, self.domain_size)
        shift = len(self.values) * switch * (1 - self.sampling_rate) / (keep - switch)
        return (self.unadjusted + shift) / self.sampling_rate

    @property
    def realised(self) -> Array:
        """The estimate c-hat in every outcome, as before Theorem 3.4."""
        return self._less(self.reports.totals.sum(axis=1, keepdims=True)) / self.sampling_rate

    def _less(self, users: Array | float) -> Array:
        keep, switch = keep_and_switch(self.epsilon, self.domain_size)
        return np.asarray((self.reports.totals - users * switch) / (keep - switch))

    @property
    def absent(self) -> "Case":
        """The same case with the holders of the value 0 holding 1."""
        return replace(self, values=tuple(max(value, 1) for value in self.values))


_POPULATIONS = (
    (1.0, 4, 0.5, (0, 0, 1, 2)),
    (0.1, 3, 0.1, (0, 0, 0, 1)),
    (4.0, 2, 0.9, (0, 1, 1, 1, 1, 1)),
    (2.0, 3, 1.0, (0, 1, 1, 1)),
)
FIXED = tuple(Case(*population) for population in _POPULATIONS)
CASES = FIXED + tuple(replace(case, iid=True) for case in FIXED)


@second_route(KaryRandomisedResponse.p, KaryRandomisedResponse.q, KaryRandomisedResponse.truthful_rate)
def _randomiser() -> Pairs:
    for epsilon, size in ((1e-6, 2), (1.0, 4), (3.0, 101), (50.0, 101)):
        mechanism, (keep, switch) = KaryRandomisedResponse(epsilon, size), keep_and_switch(epsilon, size)
        yield [mechanism.p, mechanism.q], [keep, switch]
        yield mechanism.truthful_rate, np.expm1(epsilon) * switch


@second_route(KaryRandomisedResponse.channel)
def _channel() -> Pairs:
    for epsilon, size in ((1e-6, 2), (1.0, 4), (3.0, 101), (50.0, 101)):
        yield KaryRandomisedResponse(epsilon, size).channel(), direct_encoding(epsilon, size)


@second_route(estimators.unadjusted)
def _unadjusted() -> Pairs:
    for case in CASES:
        users = len(case.values)
        yield estimators.unadjusted(case.reports.totals, users=users, mechanism=case.mechanism), case.unadjusted


@second_route(estimators.rescaled)
def _rescaled() -> Pairs:
    for case in CASES:
        known: dict[str, Any] = {"sampling_rate": case.sampling_rate, "mechanism": case.mechanism}
        estimates = estimators.rescaled(case.reports.totals, users=len(case.values), **known)
        yield estimates, case.rescaled
        yield case.reports.mean(estimates), case.holders


@second_route(estimators.realised_size)
def _realised_size() -> Pairs:
    for case in CASES:
        known: dict[str, Any] = {"sampling_rate": case.sampling_rate, "mechanism": case.mechanism}
        estimates = estimators.realised_size(case.reports.totals, **known)
        yield estimates, case.realised
        yield case.reports.mean(estimates), case.holders


def _enumerated(name: str, of_case: Callable[[Case], Array | float]) -> None:
    """Register what all outcomes give as the second route to a closed form of `SampledCounts`."""

    def pairs() -> Pairs:
        for case in CASES:
            closed = getattr(case.survey, name)
            yield closed(case.holders) if callable(closed) else closed, of_case(case)

    second_route(getattr(SampledCounts, name))(pairs)


def _share_of_mean_0(case: Case) -> float:
    slope, start = np.polyfit(case.holders / len(case.values), case.reports.mean(case.unadjusted), 1)
    return float(-start / slope)


_enumerated("mean_unadjusted", lambda case: case.reports.mean(case.unadjusted))
_enumerated("bias_unadjusted", lambda case: case.reports.mean(case.unadjusted) - case.holders)
_enumerated("variance_unadjusted", lambda case: case.reports.variance(case.unadjusted))
_enumerated("variance_rescaled", lambda case: case.reports.variance(case.rescaled))
_enumerated("variance_realised_size", lambda case: case.reports.variance(case.realised))
_enumerated("variance_gain", lambda case: case.reports.variance(case.rescaled) - case.reports.variance(case.realised))
_enumerated("rare_variance_rescaled", lambda case: case.absent.reports.variance(case.absent.rescaled)[0])
_enumerated("rare_variance_realised_size", lambda case: case.absent.reports.variance(case.absent.realised)[0])
_enumerated("negative_mean_threshold", _share_of_mean_0)
