"""Mechanisms for the gap between two group means alone: one number per user, and no group.

The gap is the sum over users of ``s v / n`` with ``s = +1`` in the first group and ``-1`` in the second, so a user
needs to protect only the single bounded number ``x = s v n_min / n``, through which alone the report depends on the
group. `SignedBit` sends a sign, `SignedLaplace` adds noise; both are exactly epsilon-LDP in group and value together.
Neither is in juarez2022: they are baselines for its two mechanisms. The bit is better than ``M_R`` for groups of
similar size, and for any sizes up to ``ln sqrt 5 = 0.80`` nats.

For simulation only: a statistical generator and noise in floating point protect nobody (see `ldpnb.mechanisms`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Real
from ldpnb.mechanisms import moves


@dataclass(frozen=True, slots=True)
class _Contrast:
    """A mechanism for the gap between the first two groups."""

    epsilon: float
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        checks.plain(self)
        checks.positive(self.epsilon, "epsilon")
        numbers = checks.counts(self.sizes, "sizes", minimum_size=2, least=1)
        object.__setattr__(self, "sizes", tuple(numbers.tolist()))

    @property
    def weights(self) -> Floats:
        """Each group's factor of the value: ``n_min / n`` and ``-n_min / n`` for the first two, 0 for any other.

        >>> SignedBit(1.0, (1000, 2000, 50)).weights
        array([ 1. , -0.5,  0. ])
        """
        weights, two = np.zeros(len(self.sizes)), np.array(self.sizes[:2])
        weights[:2] = two.min() / two * (1, -1)
        return weights


@dataclass(frozen=True, slots=True)
class SignedBit(_Contrast):
    """One sign of mean ``tanh(epsilon / 2) x`` with ``x = +-v n_min / n``: the randomised-response bit for a gap.

    - `epsilon`, float: privacy budget in nats, ``> 0``; also the exact loss, in group and value together.
    - `sizes`, (d,) int: publicly known sizes of the groups, ``>= 1``; users of all but the first two toss a fair coin.

    >>> bit = SignedBit(epsilon=np.log(3), sizes=(1, 1))
    >>> round(float(bit.gain), 12), bit.channel().round(12).tolist()
    (0.5, [[0.75, 0.25, 0.25, 0.75], [0.25, 0.75, 0.75, 0.25]])
    """

    @property
    def gain(self) -> Real:
        """Mean ``tanh(epsilon / 2)`` of the sign per unit of ``x``."""
        return np.tanh(self.epsilon / 2)

    def channel(self, values: ArrayLike = moves.EXTREMES) -> Floats:
        """Return ``Pr(sign | group, value)`` of -1 and +1, ``(2, d m)``; inputs as in `DiscretisedMeans.channel`."""
        x = np.outer(self.weights, moves.unit_values(values)).ravel()
        return moves.sign_probabilities(x, self.epsilon)

    def sample_sums(
        self,
        counts: ArrayLike,
        values: ArrayLike,
        *,
        repetitions: int = 1,
        rng: np.random.Generator,
    ) -> Floats:
        """Draw the sum of all signs, ``(repetitions,)``; arguments as `groups.DiscretisedMeans.sample_tallies`."""
        users, numbers = moves.tallied(counts, values, len(self.sizes))
        plus = moves.sign_probabilities(self.weights[:, None] * numbers, self.epsilon)[1]
        draws = checks.whole(repetitions, "repetitions", at_least=1)
        signs = rng.binomial(users, plus, size=(draws, *users.shape))
        return np.asarray(2 * signs.sum(axis=(1, 2)) - users.sum(), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class SignedLaplace(_Contrast):
    """The number ``x = +-v n_min / n`` with Laplace noise of scale ``2 / epsilon``.

    In the worst case it beats `SignedBit` from 2.33 nats on.

    - `epsilon`, float: privacy budget in nats, ``> 0``; also the exact loss, in group and value together.
    - `sizes`, (d,) int: publicly known sizes of the groups, ``>= 1``; users of all but the first two send noise alone.

    >>> SignedLaplace(epsilon=4.0, sizes=(1, 1)).scale
    0.5
    """

    @property
    def gain(self) -> float:
        """Mean of the report per unit of ``x``."""
        return 1.0

    @property
    def scale(self) -> Real:
        """Laplace scale ``2 / epsilon``: the number lies in ``[-1, 1]``."""
        return 2 / self.epsilon

    def sample_sums(
        self,
        counts: ArrayLike,
        values: ArrayLike,
        *,
        repetitions: int = 1,
        rng: np.random.Generator,
    ) -> Floats:
        """Draw the sum of all reports, ``(repetitions,)``; arguments as `groups.DiscretisedMeans.sample_tallies`."""
        users, numbers = moves.tallied(counts, values, len(self.sizes))
        total = float((self.weights[:, None] * numbers * users).sum())
        draws = checks.whole(repetitions, "repetitions", at_least=1)
        return total + self.scale * moves.sum_of_laplace(np.full(draws, users.sum()), rng=rng)


Contrast = SignedBit | SignedLaplace
"""Either mechanism for a gap alone."""
