"""Mechanisms for the mean of bounded numbers: one bit, local Laplace noise, and a curator's to compare with.

Use `OneBit` where reports must be small or the budget is below 2.3 nats, `LocalLaplace` where the server needs a real
number, and `CentralLaplace` for the accuracy of a trusted curator. All three simulate the **sum of the reports**, drawn
from its exact law in time proportional to the number of distinct values, whatever the number of users; `estimate` turns
that sum into the unbiased mean.

For simulation only: a statistical generator and noise in floating point protect nobody (see `ldpnb.mechanisms`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real, is_exact, real


@dataclass(frozen=True, slots=True)
class OneBit:
    """One bit per user whose expectation is linear in the value: the 1-bit mean of Ding, Kulkarni and Yekhanin (2017).

    lecture20, "1-bit communication" and "Randomized response": at values 0 and 1 with ``upper = 1`` it is Warner's.

    - `epsilon`, float: privacy budget in nats, ``> 0``; also the exact privacy loss, attained between the values 0 and
      `upper`.
    - `upper`, float: values lie in ``[0, upper]``, ``upper > 0``.

    >>> bit = OneBit(epsilon=np.log(3), upper=10.0)
    >>> bit.one_rate([0, 5, 10]).round(12).tolist()
    [0.25, 0.5, 0.75]
    >>> bit.estimate(60, 100).round(9).tolist()
    7.0
    """

    epsilon: Real
    upper: Real = 1.0

    def __post_init__(self) -> None:
        checks.plain(self)
        checks.positive(self.epsilon, "epsilon")
        checks.positive(self.upper, "upper")

    @property
    def p(self) -> Real:
        """Probability of a one at the value `upper`, ``e^epsilon / (e^epsilon + 1)``."""
        return 1 / (1 + np.exp(-self.epsilon))

    @property
    def q(self) -> Real:
        """Probability of a one at the value 0, ``1 / (e^epsilon + 1)``."""
        return np.exp(-self.epsilon) / (1 + np.exp(-self.epsilon))

    @property
    def slope(self) -> Real:
        """``p - q = tanh(epsilon / 2)``, accurate for every epsilon."""
        return np.tanh(self.epsilon / 2)

    def one_rate(self, values: Real) -> Real:
        """Return the probability of a one, ``q + (p - q) x / upper``, at values ``x``."""
        # as a mixture, in which the probability of a rare report is not lost to rounding
        share = checks.numbers(values, "values", low=0, high=self.upper) / self.upper
        return share * self.p + (1 - share) * self.q

    def channel(self, values: ArrayLike | None = None) -> Floats:
        """Return the ``(2, v)`` matrix of ``Pr(bit y | value x)``, by default for the two ends 0 and `upper`."""
        numbers = checks.numbers(
            [0.0, self.upper] if values is None else values, "values", low=0, high=self.upper
        )
        return np.vstack([self.one_rate(self.upper - numbers), self.one_rate(numbers)])

    def sample_sums(
        self,
        values: ArrayLike,
        counts: ArrayLike,
        *,
        rng: np.random.Generator,
        repetitions: int = 1,
    ) -> Floats:
        """Draw the number of ones, ``(repetitions,)``, from its exact law: one binomial per distinct value.

        - `values`, (v,) float: the distinct values, in ``[0, upper]``.
        - `counts`, (v,) int: how many users hold each.
        - `repetitions`, int: independent repetitions.
        """
        numbers, users = _population(values, counts, self.upper)
        ones: Ints = rng.binomial(
            users, self.one_rate(numbers), size=(_times(repetitions), numbers.size)
        )
        return np.sum(ones, axis=1, dtype=float)

    def estimate(self, sums: Real, users: Real) -> Real:
        """Return the unbiased mean ``upper (sum / users - q) / (p - q)`` from the number of ones."""
        return self.upper * (_mean(sums, users) - self.q) / self.slope


@dataclass(frozen=True, slots=True)
class LocalLaplace:
    """Each user adds Laplace noise of scale ``upper / epsilon`` to their value.

    lecture20, "Mean estimation", local model.

    - `epsilon`, float: privacy budget in nats, ``> 0``; also the exact privacy loss, attained between the values 0 and
      `upper`.
    - `upper`, float: values lie in ``[0, upper]``, ``upper > 0``.

    >>> LocalLaplace(epsilon=0.5, upper=3.0).scale
    6.0
    """

    epsilon: Real
    upper: Real = 1.0

    def __post_init__(self) -> None:
        checks.plain(self)
        checks.positive(self.epsilon, "epsilon")
        checks.positive(self.upper, "upper")

    @property
    def scale(self) -> Real:
        """Scale of the noise, in the unit of the values."""
        return self.upper / self.epsilon

    def log_density(self, reports: Real, values: Real) -> Real:
        """Return the log-density of `reports` given `values`, which broadcast."""
        return _log_laplace(
            real(reports) - checks.numbers(values, "values", low=0, high=self.upper), self.scale
        )

    def sample_sums(
        self,
        values: ArrayLike,
        counts: ArrayLike,
        *,
        rng: np.random.Generator,
        repetitions: int = 1,
    ) -> Floats:
        """Draw the sum of all noisy values: a sum of Laplace variables is the difference of two gamma variables."""
        numbers, users = _population(values, counts, self.upper)
        pairs = rng.gamma(users.sum(), size=(_times(repetitions), 2))
        return numbers @ users + self.scale * (pairs[:, 0] - pairs[:, 1])

    def estimate(self, sums: Real, users: Real) -> Real:
        """Return the mean of the reports, which is unbiased."""
        return _mean(sums, users)


@dataclass(frozen=True, slots=True)
class CentralLaplace:
    """A trusted curator adds Laplace noise of scale ``sensitivity / epsilon`` to each entry of a sum or histogram.

    lecture20, "Mean estimation" and "Frequency estimation", central model.

    - `epsilon`, float: privacy budget in nats, ``> 0``.
    - `sensitivity`, float: largest change in the sum of absolute differences when one user's data change: `upper` for a
      sum of values in ``[0, upper]`` (replacement, with a public number of users), `histogram_sensitivity` for counts.

    >>> CentralLaplace(epsilon=0.5, sensitivity=2.0).scale
    4.0
    """

    epsilon: Real
    sensitivity: Real = 1.0

    def __post_init__(self) -> None:
        checks.plain(self)
        checks.positive(self.epsilon, "epsilon")
        checks.positive(self.sensitivity, "sensitivity")

    @property
    def scale(self) -> Real:
        """Scale of the noise on each entry."""
        return self.sensitivity / self.epsilon

    @property
    def upper(self) -> Real:
        """Largest value, if a sum is released: one user's value moves it by at most this much."""
        return self.sensitivity

    def log_density(self, released: Real, exact: Real) -> Real:
        """Return the log-density of `released` given the `exact` entries, summed over the last axis of both."""
        entries = _log_laplace(real(released) - real(exact), self.scale)
        return entries if is_exact(entries) else np.sum(entries, axis=-1)

    def release(
        self, exact: ArrayLike, *, rng: np.random.Generator, repetitions: int = 1
    ) -> Floats:
        """Return noisy copies, ``(repetitions, *shape)``, of an exact sum or histogram."""
        entries = real(exact)
        return entries + rng.laplace(scale=self.scale, size=(_times(repetitions), *entries.shape))

    def sample_sums(
        self,
        values: ArrayLike,
        counts: ArrayLike,
        *,
        rng: np.random.Generator,
        repetitions: int = 1,
    ) -> Floats:
        """Draw the released sum of the users' values in ``[0, sensitivity]``, ``(repetitions,)``."""
        numbers, users = _population(values, counts, self.upper)
        return self.release(numbers @ users, rng=rng, repetitions=repetitions)

    def estimate(self, sums: Real, users: Real) -> Real:
        """Return the released mean, which is unbiased."""
        return _mean(sums, users)


MeanMechanism = OneBit | LocalLaplace | CentralLaplace
"""A mechanism for means: `sample_sums` draws the sum of its reports, and `estimate` gives the unbiased mean."""


def histogram_sensitivity(neighbours: str) -> float:
    """Return how far one user can move a histogram, as the sum of absolute differences.

    lecture20, "Frequency estimation", central model: the 2 in ``Lap(2 / epsilon)``.

    - `neighbours`, {"replacement", "deletion"}: replacing a user's value lowers one count and raises another; deleting
      the user lowers one.

    >>> histogram_sensitivity("replacement"), histogram_sensitivity("deletion")
    (2.0, 1.0)
    """
    return (
        2.0
        if checks.choice(neighbours, "neighbours", among=("replacement", "deletion"))
        == "replacement"
        else 1.0
    )


def _log_laplace(noise: Real, scale: Real) -> Real:
    return -np.abs(noise) / scale - np.log(2 * scale)


def _mean(sums: Real, users: Real) -> Real:
    return real(sums) / checks.numbers(users, "users", low=1)


def _population(values: ArrayLike, counts: ArrayLike, upper: float) -> tuple[Floats, Ints]:
    users = checks.counts(counts, "counts")
    return checks.entries(
        checks.numbers(values, "values", low=0, high=upper), "values", users.size
    ), users


def _times(repetitions: Any) -> int:
    return checks.whole(repetitions, "repetitions", at_least=1)
