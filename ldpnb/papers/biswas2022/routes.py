"""Second routes to the formulas that sections of biswas2022 share: everything that a few users can do.

Populations are enumerated, with every outcome's probability; randomiser and estimates are written out as Definition 2.4
and equations (3) and (5) print them.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import stats

from ldpnb import claims
from ldpnb.accuracy import histograms
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Floats, read_only
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates
from ldpnb.privacy import shuffling
from ldpnb.sections import Pairs, second_route

published = partial(claims.published, "biswas2022")
"""Numbers printed in biswas2022, by key."""

USERS = int(published()["nodes"])
LOW, HIGH, ALL = (published()[f"rate_{name}"] for name in ("low", "high", "all"))
"""The sampling rates of Sections 4 and 6."""


def direct_encoding(epsilon: float, domain_size: int) -> Floats:
    """Return the ``(reports, values)`` matrix of Definition 2.4: weight ``e^epsilon`` for the truth, 1 for all else."""
    weights = np.exp(epsilon * np.eye(domain_size))
    return np.asarray(weights / weights.sum(axis=0))


def normal_delta(epsilon: float, deviation: float) -> float:
    """Integrate the hockey stick of two normal densities at a histogram's distance, ``sqrt(2)``."""
    points, weights = np.polynomial.legendre.leggauss(80)
    size = math.sqrt(2)
    x = epsilon * deviation**2 / size - size / 2 + 6 * deviation * (points + 1)
    first, second = (stats.norm.pdf(x, loc=centre, scale=deviation) for centre in (0, -size))
    return float(6 * deviation * weights @ (first - math.exp(epsilon) * second))


@second_route(shuffling.gaussian_delta, shuffling.gaussian_deviation)
def gaussian_noise() -> Pairs:
    """Yield pairs for a curator's Gaussian noise."""
    for central, deviation in ((0.3, 1.7), (1.0, 0.6)):
        yield (
            shuffling.gaussian_delta(central, deviation=deviation),
            normal_delta(central, deviation),
        )
    for central, delta in ((0.1, 1e-6), (0.1, 0.01), (2.0, 1e-6)):
        deviation = shuffling.gaussian_deviation(central, delta)
        yield normal_delta(central, deviation) / delta, 1.0, 1e-7


@second_route(histograms.central_laplace_count_variance)
def laplace_noise() -> Pairs:
    """Yield pairs for a curator's Laplace noise: a value that is replaced moves two counts by 1."""
    for central in (0.1, 1.0, 4.0):
        yield (
            histograms.central_laplace_count_variance(central),
            stats.laplace(scale=2 / central).var(),
        )


@second_route(shuffling.closed_form)
def published_bound() -> Pairs:
    """Yield pairs for the bound on shuffled reports of any randomiser: Theorem 3.1 of Feldman, McMillan, Talwar."""
    for local, users, delta in ((5.0, 50_000, 1e-6), (1.0, 10_000, 0.01), (2.0, 100_000, 1e-6)):
        growth = math.exp(local)
        spread = math.sqrt(growth * math.log(4 / delta) / users) + growth / users
        written = math.log1p(8 * (growth - 1) / (growth + 1) * spread)
        yield shuffling.closed_form(delta, users=users, epsilon=local), written


@dataclass(frozen=True)
class Case:
    """A few users, with the value and the sampling rate of each, and all that they may do.

    With `iid` every user's value is drawn from the empirical distribution of `values` instead.
    """

    mechanism: KaryRandomisedResponse
    values: tuple[int, ...]
    rates: tuple[float, ...]
    iid: bool = False

    @property
    def users(self) -> int:
        """How many there are."""
        return len(self.values)

    @property
    def encoding(self) -> Floats:
        """The mechanism as Definition 2.4 prints it."""
        return direct_encoding(self.mechanism.epsilon, self.mechanism.domain_size)

    @property
    def one_hot(self) -> Floats:
        """Users who hold each value, one by one, ``(users, k)``."""
        return np.eye(self.mechanism.domain_size)[list(self.values)]

    @property
    def holders(self) -> Floats:
        """Users who hold each value (in expectation, for iid data)."""
        return np.asarray(self.one_hot.sum(axis=0))

    @property
    def survey(self) -> SampledCounts:
        """The closed forms where all rates are the first user's."""
        return SampledCounts(
            self.users, self.rates[0], self.mechanism, "iid" if self.iid else "fixed"
        )

    @property
    def personal(self) -> PersonalRates:
        """The closed forms at any rates, each user a group."""
        return PersonalRates(np.ones(self.users), self.rates, self.mechanism)

    @cached_property
    def outcomes(self) -> tuple[Floats, Floats]:
        """What users who are silent or report one of ``k`` values may do: ``(k+1)^n`` tallies, and their chances."""
        law = (
            np.broadcast_to(self.one_hot.mean(axis=0), self.one_hot.shape)
            if self.iid
            else self.one_hot
        )
        report = np.array(self.rates)[:, None] * (law @ self.encoding.T)
        law = np.column_stack([1 - report.sum(axis=1), report])  # silence first
        choices = np.indices((law.shape[1],) * self.users).reshape(self.users, -1).T
        chances = law[np.arange(self.users), choices].prod(axis=1)
        return read_only(np.eye(law.shape[1])[choices].sum(axis=1)[:, 1:]), read_only(chances)

    @property
    def tallies(self) -> Floats:
        """Reports of each value in every outcome, ``(outcomes, k)``."""
        return self.outcomes[0]

    @property
    def unadjusted(self) -> Floats:
        """The estimate c_DE in every outcome, as in equation (3)."""
        return self._less(self.users)

    @property
    def realised(self) -> Floats:
        """The estimate c-hat in every outcome, as before Theorem 3.4."""
        return self._less(self.tallies.sum(axis=1, keepdims=True)) / self.rates[0]

    @property
    def pooled(self) -> Floats:
        """The estimate T in every outcome, from the h that the proof of Theorem 5.1 prints; at one rate (5), g_DE."""
        keep, switch = self.encoding[0, :2]
        users, expected = self.users, sum(self.rates)
        shift = users * switch * (users - expected) / (expected * (keep - switch))
        return users * self.unadjusted / expected + shift

    def _less(self, users: Floats | float) -> Floats:
        keep, switch = self.encoding[0, :2]
        return np.asarray((self.tallies - users * switch) / (keep - switch))

    def mean(self, estimates: Floats) -> Floats:
        """Exact mean of an estimate given for every outcome."""
        return np.asarray(self.outcomes[1] @ estimates)

    def variance(self, estimates: Floats) -> Floats:
        """Exact variance of an estimate given for every outcome."""
        return self.mean((estimates - self.mean(estimates)) ** 2)


FIXED = (
    Case(KaryRandomisedResponse(1.0, 4), (0, 0, 1, 2), (0.5,) * 4),
    Case(KaryRandomisedResponse(0.1, 3), (0, 0, 0, 1), (0.1,) * 4),
    Case(KaryRandomisedResponse(4.0, 2), (0, 1, 1, 1, 1, 1), (0.9,) * 6),
    Case(KaryRandomisedResponse(2.0, 3), (0, 1, 1, 1), (1.0,) * 4),
)
CASES = FIXED + tuple(replace(case, iid=True) for case in FIXED)
PERSONAL = (
    Case(KaryRandomisedResponse(1.0, 4), (0, 0, 1, 2, 1), (0.8, 0.8, 0.2, 0.2, 0.5)),
    Case(KaryRandomisedResponse(0.3, 3), (0, 0, 0, 1, 1, 1), (0.1, 0.1, 0.9, 0.9, 0.9, 0.1)),
    Case(KaryRandomisedResponse(3.0, 4), (1, 1, 2, 2), (0.3, 1.0, 0.3, 1.0)),
)
"""With personal rates; nobody holds the last value."""


@second_route(
    KaryRandomisedResponse.p, KaryRandomisedResponse.q, KaryRandomisedResponse.truthful_rate
)
def _randomiser() -> Pairs:
    for epsilon, size in ((1e-6, 2), (1.0, 4), (3.0, 101), (50.0, 101)):
        mechanism, (keep, switch) = (
            KaryRandomisedResponse(epsilon, size),
            direct_encoding(epsilon, size)[0, :2],
        )
        yield [mechanism.p, mechanism.q], [keep, switch]
        yield mechanism.truthful_rate, np.expm1(epsilon) * switch


def _enumerated(
    formula: Any, both: Callable[[Case], tuple[Any, Any]], cases: Iterable[Case] = CASES
) -> None:
    """Register what all outcomes give beside a formula."""
    second_route(formula)(lambda: (both(case) for case in cases))


_enumerated(
    estimators.unadjusted,
    lambda c: (
        estimators.unadjusted(c.tallies, users=c.users, mechanism=c.mechanism),
        c.unadjusted,
    ),
)
_enumerated(
    estimators.rescaled,
    lambda c: (
        estimators.rescaled(
            c.tallies, users=c.users, sampling_rate=c.rates[0], mechanism=c.mechanism
        ),
        c.pooled,
    ),
)
_enumerated(
    estimators.realised_size,
    lambda c: (
        estimators.realised_size(c.tallies, sampling_rate=c.rates[0], mechanism=c.mechanism),
        c.realised,
    ),
)
_enumerated(
    SampledCounts.mean_unadjusted,
    lambda c: (c.survey.mean_unadjusted(c.holders), c.mean(c.unadjusted)),
)
_enumerated(
    SampledCounts.variance_realised_size,
    lambda c: (c.survey.variance_realised_size(c.holders), c.variance(c.realised)),
)
_enumerated(
    SampledCounts.rare_variance_realised_size,
    lambda c: (c.survey.rare_variance_realised_size, c.variance(c.realised)[-1]),
    [case for case in CASES if case.holders[-1] == 0],
)
_enumerated(PersonalRates.mean, lambda c: (c.personal.mean(c.one_hot), c.mean(c.pooled)), PERSONAL)
