"""Mechanisms for the gap between two group means alone: users report one number, and no group.

The gap is the sum over users of ``s v / n``, with ``s = +1`` in the first group and ``s = -1`` in
the second. So a user needs to protect only the number ``x = s v n_min / n`` in ``[-1, 1]``: the
report depends on the group through it alone. `SignedBit` sends a sign, `SignedLaplace` adds noise.
Both are exactly epsilon-LDP when group and value of one user are replaced.

Juarez and Korolova (2022) have neither; these are baselines for their two mechanisms. The bit is
better than ``M_R`` for groups of similar size, and for any sizes up to ``ln sqrt 5 = 0.80`` nats.

For simulation only: a statistical generator and noise in floating point protect nobody (see
`ldpnb.mechanisms`).
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
        """Factor by which a user of each group multiplies the value, shape ``(d,)``.

        It is ``n_min / n`` for the first group, ``-n_min / n`` for the second and 0 for any other.

        >>> SignedBit(epsilon=1.0, sizes=(1000, 2000, 50)).weights
        array([ 1. , -0.5,  0. ])
        """
        compared = np.array(self.sizes[:2])
        weights = np.zeros(len(self.sizes))
        weights[:2] = compared.min() / compared * (1, -1)
        return weights


@dataclass(frozen=True, slots=True)
class SignedBit(_Contrast):
    """Report one random sign, for the gap between the means of two groups.

    A user with the value ``v`` has the number ``x = v n_min / n`` in the first group, ``-v n_min /
    n`` in the second, and 0 in any other, where ``n`` is the size of the group and ``n_min`` the
    smaller of the first two sizes. The sign has the mean ``tanh(epsilon / 2) x``.

    Parameters
    ----------
    epsilon : float
        Privacy budget in nats, ``> 0``. It is also the exact privacy loss of a report, when group
        and value of one user are replaced.
    sizes : sequence of int, shape (d,)
        Publicly known sizes of two or more groups, each at least 1. The first two are compared.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    Notes
    -----
    It is the randomised-response bit for a gap. Juarez and Korolova (2022) do not consider it.

    Examples
    --------
    At epsilon = ln 3 a sign is true with probability 3/4. The inputs are the first group with the
    values -1 and 1, then the second group with the same values.

    >>> bit = SignedBit(epsilon=np.log(3), sizes=(1, 1))
    >>> bit.channel().round(12).tolist()
    [[0.75, 0.25, 0.25, 0.75], [0.25, 0.75, 0.75, 0.25]]
    """

    @property
    def gain(self) -> Real:
        """Mean ``tanh(epsilon / 2)`` of the sign per unit of ``x``."""
        return np.tanh(self.epsilon / 2)

    def channel(self, values: ArrayLike = moves.EXTREMES) -> Floats:
        """Return the matrix of ``Pr(sign | group, value)``.

        Parameters
        ----------
        values : array_like, shape (m,), default (-1, 1)
            Values in ``[-1, 1]``. At -1 and 1 the probabilities are extreme.

        Returns
        -------
        ndarray, shape (2, d * m)
            Its rows are the signs -1 and +1; its columns are the inputs ``(0, values[0]), (0,
            values[1]), ...``.
        """
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
        """Draw the sum of all users' signs, from its exact distribution.

        Parameters
        ----------
        counts : array_like of int, shape (d, m)
            Number of users of each group who hold each value.
        values : array_like, shape (m,) or (d, m)
            Those values, in ``[-1, 1]``.
        repetitions : int, default 1
            Number of independent draws, at least 1.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray, shape (repetitions,)
            Sums of signs.
        """
        users, numbers = moves.tallied(counts, values, len(self.sizes))
        x = self.weights[:, None] * numbers
        plus_chance = moves.sign_probabilities(x, self.epsilon)[1]

        draws = checks.whole(repetitions, "repetitions", at_least=1)
        plus = rng.binomial(users, plus_chance, size=(draws, *users.shape))
        return np.asarray(2 * plus.sum(axis=(1, 2)) - users.sum(), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class SignedLaplace(_Contrast):
    """Report one number with Laplace noise, for the gap between the means of two groups.

    A user with the value ``v`` has the number ``x = v n_min / n`` in the first group, ``-v n_min /
    n`` in the second, and 0 in any other, where ``n`` is the size of the group and ``n_min`` the
    smaller of the first two sizes. The report is ``x`` with noise of scale ``2 / epsilon``.

    Parameters
    ----------
    epsilon : float
        Privacy budget in nats, ``> 0``. It is also the exact privacy loss of a report, when group
        and value of one user are replaced.
    sizes : sequence of int, shape (d,)
        Publicly known sizes of two or more groups, each at least 1. The first two are compared.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    Notes
    -----
    In the worst case it is better than `SignedBit` above 2.33 nats. Juarez and Korolova (2022) do
    not consider it.

    Examples
    --------
    >>> SignedLaplace(epsilon=4.0, sizes=(1, 1)).scale
    0.5
    """

    @property
    def gain(self) -> float:
        """Mean 1 of the report per unit of ``x``."""
        return 1.0

    @property
    def scale(self) -> Real:
        """Laplace scale ``2 / epsilon``, since ``x`` lies in ``[-1, 1]``."""
        return 2 / self.epsilon

    def sample_sums(
        self,
        counts: ArrayLike,
        values: ArrayLike,
        *,
        repetitions: int = 1,
        rng: np.random.Generator,
    ) -> Floats:
        """Draw the sum of all users' reports, from its exact distribution.

        Parameters
        ----------
        counts : array_like of int, shape (d, m)
            Number of users of each group who hold each value.
        values : array_like, shape (m,) or (d, m)
            Those values, in ``[-1, 1]``.
        repetitions : int, default 1
            Number of independent draws, at least 1.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray, shape (repetitions,)
            Sums of reports.
        """
        users, numbers = moves.tallied(counts, values, len(self.sizes))
        total = float((self.weights[:, None] * numbers * users).sum())

        draws = checks.whole(repetitions, "repetitions", at_least=1)
        return total + self.scale * moves.sum_of_laplace(np.full(draws, users.sum()), rng=rng)


Contrast = SignedBit | SignedLaplace
"""Either mechanism for a gap alone."""
