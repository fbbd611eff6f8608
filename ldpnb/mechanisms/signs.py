"""The lecture's frequency randomiser: a vector of signs, one per value, biased at the sender's value only.

As printed, the bias *is* the privacy budget, and the exact privacy loss is about twice as large. `SignRandomiser` is
calibrated to a budget, `SignRandomiser.as_printed` follows the lecture literally. A report supports a value where its
sign is +1, so the estimators for pure protocols apply unchanged.

For simulation only: a statistical generator and noise in floating point protect nobody (see `ldpnb.mechanisms`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real
from ldpnb.mechanisms.frequency import UnaryEncoding, of_users


@dataclass(frozen=True, slots=True)
class SignRandomiser:
    """Signs in ``{-1, +1}^k``: that of the sender's value is +1 with chance ``(1 + bias) / 2``, others are fair coins.

    lecture20, "Frequency estimation", local model.

    - `epsilon`, float: exact privacy loss in nats, ``> 0``: the laws of two users' vectors differ in two places, each
      of which contributes half of it.
    - `domain_size`, int: number ``k >= 2`` of values.

    >>> round(float(SignRandomiser(epsilon=np.log(3), domain_size=4).bias), 12)
    0.5
    >>> round(float(SignRandomiser.as_printed(0.5, domain_size=4).epsilon), 9)
    1.098612289
    """

    epsilon: Real
    domain_size: Real

    def __post_init__(self) -> None:
        checks.plain(self, domain_size=2)
        checks.positive(self.epsilon, "epsilon")

    @classmethod
    def as_printed(cls, parameter: Real, domain_size: Real) -> "SignRandomiser":
        """Return the randomiser that the lecture prints: the sender's sign is +1 with chance ``1/2 + parameter/2``."""
        return cls(exact_epsilon(parameter), domain_size)

    @property
    def bias(self) -> Real:
        """Expectation ``tanh(epsilon / 2)`` of the sign of the sender's value."""
        return calibrated_bias(self.epsilon)

    @property
    def p(self) -> Real:
        """Probability of +1 at the sender's value, ``(1 + bias) / 2 = e^epsilon / (e^epsilon + 1)``."""
        return 1 / (1 + np.exp(-self.epsilon))

    @property
    def q(self) -> float:
        """Probability that another sign is +1."""
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
        """The unary encoding whose bits say which signs are +1."""
        return UnaryEncoding(self.p, self.q, self.domain_size, self.miss_rate, self.truthful_rate)

    def outputs(self) -> NDArray[np.int8]:
        """Return all ``(2**k, k)`` sign vectors as rows; refused for domains larger than 12."""
        return 2 * self.unary.outputs().astype(np.int8) - 1

    def channel(self) -> Floats:
        """Return the ``(2**k, k)`` matrix of ``Pr(signs y | value x)``, rows in the order of `outputs`."""
        return self.unary.channel()

    def sample_tallies(self, counts: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Draw how many reports have +1 at each value, ``(k,)``, from how many users hold it, in O(k)."""
        return self.unary.sample_tallies(counts, rng=rng)

    def randomize(self, values: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.int8]:
        """Return each user's signs, ``(n, k)``, for values ``(n,)`` in ``0 .. k-1``."""
        own = of_users(self.domain_size, values=values)
        signs: NDArray[np.int8] = (
            2 * rng.integers(0, 2, (own.size, self.domain_size), dtype=np.int8) - 1
        )
        signs[np.arange(own.size), own] = np.where(rng.random(own.size) < self.p, 1, -1)
        return signs

    def randomize_with_public_signs(
        self, values: ArrayLike, public: ArrayLike, *, rng: np.random.Generator
    ) -> NDArray[np.int8]:
        """Return one bit per user that, times the user's public random signs, has the law of `randomize`.

        - `values`, (n,) int: each user's value in ``0 .. k-1``.
        - `public`, (n, k) of -1 and +1: fair coins known to everybody, such as those of a shared seed, drawn
          independently of the values.
        - Returns (n,) int8: the public sign at the user's value, kept with probability ``p``; ``bit * public`` is the
          report.
        """
        own, coins = of_users(self.domain_size, values=values), np.asarray(public)
        if coins.shape != (own.size, self.domain_size) or not np.isin(coins, (-1, 1)).all():
            raise ValueError(
                f"public must be signs -1 and +1 of shape {(own.size, self.domain_size)}, got shape {coins.shape}"
            )
        kept = np.where(rng.random(own.size) < self.p, 1, -1).astype(np.int8)
        return kept * coins[np.arange(own.size), own].astype(np.int8)


def exact_epsilon(bias: Real) -> Real:
    """Return the exact privacy loss ``ln((1 + bias) / (1 - bias))``, nats, of sign vectors with a bias in ``(0, 1)``.

    lecture20, "Frequency estimation", which writes epsilon for the bias and takes it to be the loss.
    """
    share = checks.open_probability(bias, "bias")
    return np.log1p(share) - np.log1p(-share)


def calibrated_bias(epsilon: Real) -> Real:
    """Return the bias ``tanh(epsilon / 2)`` at which sign vectors lose exactly `epsilon` nats."""
    return np.tanh(checks.positive(epsilon, "epsilon") / 2)
