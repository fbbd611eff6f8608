"""Formulas of Biswas, Cormode and Maple as printed, and everything that a few users can do.

Populations are enumerated, with the probability of every outcome. The randomiser and the estimates
are written out as in Definition 2.4 and equations (3) and (5).
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
"""Numbers printed in the paper, by key."""

USERS = int(published()["nodes"])

# The sampling rates of Sections 4 and 6.
LOW = published()["rate_low"]
HIGH = published()["rate_high"]
ALL = published()["rate_all"]


def direct_encoding(epsilon: float, domain_size: int) -> Floats:
    """Return the ``(reports, values)`` matrix of Definition 2.4.

    The truth has the weight ``e^epsilon``, and everything else the weight 1.
    """
    weights = np.exp(epsilon * np.eye(domain_size))
    return np.asarray(weights / weights.sum(axis=0))


@dataclass(frozen=True)
class Case:
    """A few users, with the value and the sampling rate of each, and all that they may do.

    If `iid`, the value of every user is drawn from the empirical distribution of `values` instead.
    """

    mechanism: KaryRandomisedResponse
    values: tuple[int, ...]
    rates: tuple[float, ...]
    iid: bool = False

    @property
    def users(self) -> int:
        """The number of users."""
        return len(self.values)

    @property
    def encoding(self) -> Floats:
        """The mechanism as Definition 2.4 prints it."""
        return direct_encoding(self.mechanism.epsilon, self.mechanism.domain_size)

    @property
    def one_hot(self) -> Floats:
        """The value of each user as a vector of zeros and a one, of shape ``(users, k)``."""
        return np.eye(self.mechanism.domain_size)[list(self.values)]

    @property
    def holders(self) -> Floats:
        """The number of users who hold each value, in expectation for iid data."""
        return np.asarray(self.one_hot.sum(axis=0))

    @property
    def survey(self) -> SampledCounts:
        """The closed forms, if all users have the rate of the first one."""
        data = "iid" if self.iid else "fixed"
        return SampledCounts(self.users, self.rates[0], self.mechanism, data)

    @property
    def personal(self) -> PersonalRates:
        """The closed forms at any rates, with each user as a group."""
        return PersonalRates(np.ones(self.users), self.rates, self.mechanism)

    @cached_property
    def outcomes(self) -> tuple[Floats, Floats]:
        """The tallies of all ``(k+1)^n`` outcomes, and their probabilities.

        Every user is silent or reports one of ``k`` values.
        """
        values = self.one_hot
        if self.iid:
            values = np.broadcast_to(values.mean(axis=0), values.shape)

        reports = np.array(self.rates)[:, None] * (values @ self.encoding.T)
        silence = 1 - reports.sum(axis=1)
        law = np.column_stack([silence, reports])

        users, options = law.shape
        choices = np.indices((options,) * users).reshape(users, -1).T
        chances = law[np.arange(users), choices].prod(axis=1)
        tallies = np.eye(options)[choices].sum(axis=1)[:, 1:]
        return read_only(tallies), read_only(chances)

    @property
    def tallies(self) -> Floats:
        """The reports of each value in every outcome, of shape ``(outcomes, k)``."""
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
        """The estimate T in every outcome, from the h that the proof of Theorem 5.1 prints.

        If all rates are equal, it is g_DE of equation (5).
        """
        keep, switch = self.encoding[0, :2]
        users = self.users
        expected = sum(self.rates)
        shift = users * switch * (users - expected) / (expected * (keep - switch))
        return users * self.unadjusted / expected + shift

    def _less(self, users: Floats | float) -> Floats:
        keep, switch = self.encoding[0, :2]
        return np.asarray((self.tallies - users * switch) / (keep - switch))

    def mean(self, estimates: Floats) -> Floats:
        """Return the exact mean of an estimate that is given for every outcome."""
        return np.asarray(self.outcomes[1] @ estimates)

    def variance(self, estimates: Floats) -> Floats:
        """Return the exact variance of an estimate that is given for every outcome."""
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
"""Cases with personal rates, in which nobody holds the last value."""
