"""Mechanisms for the mean of bounded numbers: one bit, and Laplace noise by users or by a curator.

Use `OneBit` if reports must be small or the budget is below 2.3 nats, `LocalLaplace` if the server
needs a real number from each user, and `CentralLaplace` to compare with a trusted curator. All
three simulate the **sum of the reports**. It is drawn from its exact distribution, in a time that
depends on the number of distinct values and not on the number of users. `estimate` turns the sum
into the unbiased mean.

For simulation only: a statistical generator and noise in floating point protect nobody (see
`ldpnb.mechanisms`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real, is_exact, real


@dataclass(frozen=True, slots=True)
class OneBit:
    """Report one bit, which is set with a probability that is linear in the value.

    The probability is ``q`` at the value 0 and ``p = 1 - q`` at the value `upper`. If all values
    are at these two ends, it is Warner's randomised response.

    Parameters
    ----------
    epsilon : float
        Privacy budget in nats, ``> 0``. It is also the exact privacy loss of a report, when one
        user's value is replaced; the ends 0 and `upper` attain it.
    upper : float, default 1
        Values lie in ``[0, upper]``; it is ``> 0``.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    References
    ----------
    Ding, Kulkarni and Yekhanin (2017), who call it 1-bit mean. Lecture 20, "1-bit communication"
    and "Randomized response".

    Examples
    --------
    At epsilon = ln 3 the probability of a one rises from 1/4 to 3/4. If 60 of 100 users send a one,
    the mean is (0.6 - 0.25) / 0.5 of the largest value.

    >>> bit = OneBit(epsilon=np.log(3), upper=10.0)
    >>> bit.one_rate([0, 5, 10]).round(12).tolist()
    [0.25, 0.5, 0.75]
    >>> bit.estimate(sums=60, users=100).round(9).tolist()
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
        """Probability ``e^epsilon / (e^epsilon + 1)`` of a one at the value `upper`."""
        return 1 / (1 + np.exp(-self.epsilon))

    @property
    def q(self) -> Real:
        """Probability ``1 / (e^epsilon + 1)`` of a one at the value 0."""
        return np.exp(-self.epsilon) / (1 + np.exp(-self.epsilon))

    @property
    def slope(self) -> Real:
        """Difference ``p - q = tanh(epsilon / 2)``, to all digits for every epsilon."""
        return np.tanh(self.epsilon / 2)

    def one_rate(self, values: Real) -> Real:
        """Return the probability ``q + (p - q) x / upper`` of a one, at values ``x``.

        Parameters
        ----------
        values : array_like
            Values in ``[0, upper]``.

        Returns
        -------
        ndarray
            Probabilities, in the shape of `values`.
        """
        # As a mixture, in which the probability of a rare report is not lost to rounding.
        share = checks.numbers(values, "values", low=0, high=self.upper) / self.upper
        return share * self.p + (1 - share) * self.q

    def channel(self, values: ArrayLike | None = None) -> Floats:
        """Return the matrix of ``Pr(bit y | value x)``.

        Parameters
        ----------
        values : array_like, shape (v,), optional
            Values in ``[0, upper]``; by default the ends 0 and `upper`.

        Returns
        -------
        ndarray, shape (2, v)
            Its rows are the bits 0 and 1.
        """
        inputs = [0.0, self.upper] if values is None else values
        numbers = checks.numbers(inputs, "values", low=0, high=self.upper)
        return np.vstack([self.one_rate(self.upper - numbers), self.one_rate(numbers)])

    def sample_sums(
        self,
        values: ArrayLike,
        counts: ArrayLike,
        *,
        rng: np.random.Generator,
        repetitions: int = 1,
    ) -> Floats:
        """Draw the number of ones from its exact distribution, a binomial for each distinct value.

        Parameters
        ----------
        values : array_like, shape (v,)
            The distinct values, in ``[0, upper]``.
        counts : array_like of int, shape (v,)
            Number of users who hold each value.
        rng : numpy.random.Generator
            Source of the draws.
        repetitions : int, default 1
            Number of independent draws, at least 1.

        Returns
        -------
        ndarray, shape (repetitions,)
            Number of users who send a one.
        """
        numbers, users = _population(values, counts, self.upper)
        shape = (_times(repetitions), numbers.size)
        ones: Ints = rng.binomial(users, self.one_rate(numbers), size=shape)
        return np.sum(ones, axis=1, dtype=float)

    def estimate(self, sums: Real, users: Real) -> Real:
        """Return the unbiased mean ``upper (sum / users - q) / (p - q)``.

        Parameters
        ----------
        sums : array_like
            Number of users who sent a one.
        users : int or array_like of int
            Number of users, at least 1; it broadcasts against `sums`.

        Returns
        -------
        ndarray
            Estimated means, in the unit of the values. Each is unbiased, so it may lie outside the
            range of the values.
        """
        return self.upper * (_mean(sums, users) - self.q) / self.slope


@dataclass(frozen=True, slots=True)
class LocalLaplace:
    """Report the value with Laplace noise of scale ``upper / epsilon``.

    Parameters
    ----------
    epsilon : float
        Privacy budget in nats, ``> 0``. It is also the exact privacy loss of a report, when one
        user's value is replaced; the ends 0 and `upper` attain it.
    upper : float, default 1
        Values lie in ``[0, upper]``; it is ``> 0``.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    References
    ----------
    Lecture 20, "Mean estimation", local model.

    Examples
    --------
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
        """Return the logarithm of the density of reports, given the users' values.

        Parameters
        ----------
        reports : array_like
            Reports, any numbers.
        values : array_like
            Values in ``[0, upper]``, which broadcast against `reports`.

        Returns
        -------
        ndarray
        """
        exact = checks.numbers(values, "values", low=0, high=self.upper)
        return _log_laplace(real(reports) - exact, self.scale)

    def sample_sums(
        self,
        values: ArrayLike,
        counts: ArrayLike,
        *,
        rng: np.random.Generator,
        repetitions: int = 1,
    ) -> Floats:
        """Draw the sum of all reports from its exact distribution.

        A sum of Laplace variables is the difference of two Gamma variables.

        Parameters
        ----------
        values : array_like, shape (v,)
            The distinct values, in ``[0, upper]``.
        counts : array_like of int, shape (v,)
            Number of users who hold each value.
        rng : numpy.random.Generator
            Source of the draws.
        repetitions : int, default 1
            Number of independent draws, at least 1.

        Returns
        -------
        ndarray, shape (repetitions,)
            Sums of reports.
        """
        numbers, users = _population(values, counts, self.upper)
        pairs = rng.gamma(users.sum(), size=(_times(repetitions), 2))
        return numbers @ users + self.scale * (pairs[:, 0] - pairs[:, 1])

    def estimate(self, sums: Real, users: Real) -> Real:
        """Return the mean of the reports, which is unbiased.

        Parameters
        ----------
        sums : array_like
            Sums of reports.
        users : int or array_like of int
            Number of users, at least 1; it broadcasts against `sums`.

        Returns
        -------
        ndarray
            Estimated means, in the unit of the values. Each is unbiased, so it may lie outside the
            range of the values.
        """
        return _mean(sums, users)


@dataclass(frozen=True, slots=True)
class CentralLaplace:
    """A trusted curator adds Laplace noise to a sum, or to each count of a histogram.

    The noise has the scale ``sensitivity / epsilon``.

    Parameters
    ----------
    epsilon : float
        Privacy budget in nats, ``> 0``. It is the privacy loss of what is released, when the data
        of one user change.
    sensitivity : float, default 1
        Largest change in the sum of absolute differences when the data of one user change; it is
        ``> 0``. For a sum of values in ``[0, upper]`` it is ``upper``, if one user's value is
        replaced and the number of users is public. For counts see `histogram_sensitivity`.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    References
    ----------
    Lecture 20, "Mean estimation" and "Frequency estimation", central model.

    Examples
    --------
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
        """Largest value of a user if a sum is released, by which the user's value can move it."""
        return self.sensitivity

    def log_density(self, released: Real, exact: Real) -> Real:
        """Return the logarithm of the density of a release, given the exact entries.

        Parameters
        ----------
        released : array_like, shape (..., entries)
            Noisy sums or counts, any numbers.
        exact : array_like, shape (..., entries)
            Sums or counts without noise.

        Returns
        -------
        ndarray, shape (...)
            Logarithms, summed over the entries.
        """
        entries = _log_laplace(real(released) - real(exact), self.scale)
        return entries if is_exact(entries) else np.sum(entries, axis=-1)

    def release(
        self, exact: ArrayLike, *, rng: np.random.Generator, repetitions: int = 1
    ) -> Floats:
        """Draw noisy copies of an exact sum or histogram.

        Parameters
        ----------
        exact : array_like
            Sum or counts without noise.
        rng : numpy.random.Generator
            Source of the draws.
        repetitions : int, default 1
            Number of independent draws, at least 1.

        Returns
        -------
        ndarray, shape (repetitions, ...)
            Noisy copies, each in the shape of `exact`.
        """
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
        """Draw the released sum of the users' values.

        Parameters
        ----------
        values : array_like, shape (v,)
            The distinct values, in ``[0, sensitivity]``.
        counts : array_like of int, shape (v,)
            Number of users who hold each value.
        rng : numpy.random.Generator
            Source of the draws.
        repetitions : int, default 1
            Number of independent draws, at least 1.

        Returns
        -------
        ndarray, shape (repetitions,)
            Sums with noise.
        """
        numbers, users = _population(values, counts, self.upper)
        return self.release(numbers @ users, rng=rng, repetitions=repetitions)

    def estimate(self, sums: Real, users: Real) -> Real:
        """Return the released mean, which is unbiased.

        Parameters
        ----------
        sums : array_like
            Sums with noise.
        users : int or array_like of int
            Number of users, at least 1; it broadcasts against `sums`.

        Returns
        -------
        ndarray
            Estimated means, in the unit of the values. Each is unbiased, so it may lie outside the
            range of the values.
        """
        return _mean(sums, users)


MeanMechanism = OneBit | LocalLaplace | CentralLaplace
"""A mechanism for means: `sample_sums` draws the sum of its reports, `estimate` gives the mean."""


def histogram_sensitivity(neighbours: str) -> float:
    """Return how far one user can move a histogram, as the sum of absolute differences.

    Parameters
    ----------
    neighbours : {"replacement", "deletion"}
        To replace a user's value lowers one count and raises another, to delete the user lowers
        one.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `neighbours` is another word.

    References
    ----------
    Lecture 20, "Frequency estimation", central model, which has the 2 in ``Lap(2 / epsilon)``.

    Examples
    --------
    >>> histogram_sensitivity("replacement"), histogram_sensitivity("deletion")
    (2.0, 1.0)
    """
    checks.choice(neighbours, "neighbours", among=("replacement", "deletion"))
    return 2.0 if neighbours == "replacement" else 1.0


def _log_laplace(noise: Real, scale: Real) -> Real:
    return -np.abs(noise) / scale - np.log(2 * scale)


def _mean(sums: Real, users: Real) -> Real:
    return real(sums) / checks.numbers(users, "users", low=1)


def _population(values: ArrayLike, counts: ArrayLike, upper: float) -> tuple[Floats, Ints]:
    """Return checked values, and how many users hold each."""
    users = checks.counts(counts, "counts")
    numbers = checks.numbers(values, "values", low=0, high=upper)
    return checks.entries(numbers, "values", users.size), users


def _times(repetitions: Any) -> int:
    return checks.whole(repetitions, "repetitions", at_least=1)
