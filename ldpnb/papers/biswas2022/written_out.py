"""Formulas of biswas2022 as they are printed, and everything that a few users can do.

Populations are enumerated, with every outcome's probability; randomiser and estimates are written out as Definition 2.4
and equations (3) and (5) print them.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ldpnb import claims
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Floats, read_only
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates

published = partial(claims.published, "biswas2022")
"""Numbers printed in biswas2022, by key."""

USERS = int(published()["nodes"])
LOW, HIGH, ALL = (published()[f"rate_{name}"] for name in ("low", "high", "all"))
"""The sampling rates of Sections 4 and 6."""


def direct_encoding(epsilon: float, domain_size: int) -> Floats:
    """Return the ``(reports, values)`` matrix of Definition 2.4: weight ``e^epsilon`` for the truth, 1 for all else."""
    weights = np.exp(epsilon * np.eye(domain_size))
    return np.asarray(weights / weights.sum(axis=0))


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
