"""The lecture's frequency randomiser: a sign for each value, biased at the sender's own value.

The lecture writes epsilon for the bias and takes it to be the privacy loss, but the exact loss is
about twice as large. `SignRandomiser` is calibrated to a budget, `SignRandomiser.as_printed`
follows the lecture literally. A report supports the values whose sign is +1, so the estimators for
pure protocols apply unchanged.

For simulation only: a statistical generator and noise in floating point protect nobody (see
`ldpnb.mechanisms`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real
from ldpnb.mechanisms.frequency import UnaryEncoding, one_per_user


@dataclass(frozen=True, slots=True)
class SignRandomiser:
    """Report a sign for each value, which is +1 more often for the user's own value.

    The sign of the user's own value is +1 with probability ``(1 + bias) / 2``. The other signs are
    fair coins.

    Parameters
    ----------
    epsilon : float
        Exact privacy loss of a report in nats, ``> 0``. If a user's value is replaced by another,
        two signs change their probabilities, and each contributes half of the loss.
    domain_size : int
        Number ``k`` of values, at least 2.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    References
    ----------
    Lecture 20, "Frequency estimation", local model.

    Examples
    --------
    At epsilon = ln 3 the sign of the user's value is +1 with probability 3 / (3 + 1), so it has the
    mean 1/2. The lecture takes this 1/2 to be the privacy loss.

    >>> round(float(SignRandomiser(epsilon=np.log(3), domain_size=4).bias), 12)
    0.5
    >>> round(float(np.exp(SignRandomiser.as_printed(0.5, domain_size=4).epsilon)), 12)
    3.0
    """

    epsilon: Real
    domain_size: Real

    def __post_init__(self) -> None:
        checks.plain(self, domain_size=2)
        checks.positive(self.epsilon, "epsilon")

    @classmethod
    def as_printed(cls, parameter: Real, domain_size: Real) -> "SignRandomiser":
        """Return the randomiser that the lecture prints.

        Parameters
        ----------
        parameter : float
            What the lecture calls epsilon, in ``(0, 1)``: the user's sign is +1 with probability
            ``1/2 + parameter/2``.
        domain_size : int
            Number ``k`` of values, at least 2.

        Returns
        -------
        SignRandomiser
            Its `epsilon` is the exact privacy loss, which exceeds `parameter`.
        """
        return cls(exact_epsilon(parameter), domain_size)

    @property
    def bias(self) -> Real:
        """Expectation ``tanh(epsilon / 2)`` of the sign of the sender's value."""
        return calibrated_bias(self.epsilon)

    @property
    def p(self) -> Real:
        """Probability ``e^epsilon / (e^epsilon + 1)`` of +1 at the sender's value."""
        return 1 / (1 + np.exp(-self.epsilon))

    @property
    def q(self) -> float:
        """Probability 1/2 of +1 at a given other value."""
        return 0.5

    @property
    def miss_rate(self) -> Real:
        """Probability ``1 - p = 1 / (e^epsilon + 1)`` of -1 at the sender's value."""
        return np.exp(-self.epsilon) * self.p

    @property
    def truthful_rate(self) -> Real:
        """Difference ``p - q = bias / 2``."""
        return self.bias / 2

    def _holders(self, tallies: Real, reports: Real) -> Real:
        """Return ``(tallies - reports q) / (p - q)``, which is ``(2 tallies - reports) / bias``."""
        return (2 * tallies - reports) * (self.q / self.truthful_rate)

    @property
    def unary(self) -> UnaryEncoding:
        """The unary encoding whose bits tell which signs are +1."""
        return UnaryEncoding(self.p, self.q, self.domain_size, self.miss_rate, self.truthful_rate)

    def outputs(self) -> NDArray[np.int8]:
        """Return all sign vectors, a row each, shape ``(2**k, k)``.

        A domain of more than 12 values is refused.
        """
        return 2 * self.unary.outputs().astype(np.int8) - 1

    def channel(self) -> Floats:
        """Return the ``(2**k, k)`` matrix of ``Pr(signs y | value x)``, ordered as `outputs`."""
        return self.unary.channel()

    def sample_tallies(self, counts: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Draw how many reports have +1 at each value, from the exact joint distribution.

        It takes O(k) time, however many users there are.

        Parameters
        ----------
        counts : array_like of int, shape (k,)
            Number of users who hold each value.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray of int, shape (k,)
            Number of reports with +1 at each value.
        """
        return self.unary.sample_tallies(counts, rng=rng)

    def randomize(self, values: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.int8]:
        """Randomise the values of users one by one.

        Parameters
        ----------
        values : array_like of int, shape (n,)
            Each user's value, from 0 to ``k - 1``.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray of int8, shape (n, k)
            Each user's signs, -1 or +1.
        """
        true_values = one_per_user(values, "values", self.domain_size)
        users = true_values.size
        bits = rng.integers(0, 2, (users, self.domain_size), dtype=np.int8)
        signs: NDArray[np.int8] = 2 * bits - 1

        is_plus = rng.random(users) < self.p
        signs[np.arange(users), true_values] = np.where(is_plus, 1, -1)
        return signs

    def randomize_with_public_signs(
        self, values: ArrayLike, public: ArrayLike, *, rng: np.random.Generator
    ) -> NDArray[np.int8]:
        """Return one bit per user, which everybody can turn into the user's report.

        ``bit * public`` has the distribution of what `randomize` returns.

        Parameters
        ----------
        values : array_like of int, shape (n,)
            Each user's value, from 0 to ``k - 1``.
        public : array_like of int, shape (n, k)
            Fair coins -1 and +1 that everybody knows, drawn independently of the values, for
            example from a shared seed.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray of int8, shape (n,)
            The public sign at the user's value, kept with probability ``p`` and otherwise reversed.
        """
        true_values = one_per_user(values, "values", self.domain_size)
        users = true_values.size
        coins = np.asarray(public)
        if coins.shape != (users, self.domain_size) or not np.isin(coins, (-1, 1)).all():
            rule = f"signs -1 and +1 of shape {(users, self.domain_size)}"
            raise ValueError(f"public must be {rule}, got shape {coins.shape}")

        factor = np.where(rng.random(users) < self.p, 1, -1).astype(np.int8)
        return factor * coins[np.arange(users), true_values].astype(np.int8)


def exact_epsilon(bias: Real) -> Real:
    """Return the exact privacy loss ``ln((1 + bias) / (1 - bias))`` of sign vectors, in nats.

    The bias lies in ``(0, 1)``. In "Frequency estimation", Lecture 20 writes epsilon for the bias
    and takes it to be the loss.
    """
    expected_sign = checks.open_probability(bias, "bias")
    return np.log1p(expected_sign) - np.log1p(-expected_sign)


def calibrated_bias(epsilon: Real) -> Real:
    """Return the bias ``tanh(epsilon / 2)`` with which sign vectors lose exactly `epsilon` nats."""
    return np.tanh(checks.positive(epsilon, "epsilon") / 2)
