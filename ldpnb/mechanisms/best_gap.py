r"""The channel of least variance for the gap of two group means, among all epsilon-LDP channels, with a certificate.

Values are ``-1`` or ``+1`` (others are rounded to them at random, which the variance counts; at
large budgets noise on numbers as they are can do better), inputs ``(G, +1), (G, -1), (H, +1), (H,
-1)``, and group ``G`` has a known `share` of the users. Some best channel has output probabilities
proportional to 1 and ``e^epsilon`` only (Kairouz, Oh and Viswanath 2016), so that it is a law over
14 such patterns. With ``c`` a pattern's mean and ``theta`` its weight, the variance times the
number of users is the largest of ``2 T y - sum theta (M y)^2/c`` over ``y``, convex in ``theta``;
exchanging the two gives a bound for every channel from any ``y``.

In floats, variance and bound agree to 1e-5 for budgets from 0.01 to 30 nats and shares of at least
1e-5; elsewhere compare the two. Where rounding leaves no estimate, asking for the variance is an
error.

For simulation only: a statistical generator and noise in floating point protect nobody (see
`ldpnb.mechanisms`).
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar, nnls

from ldpnb import checks
from ldpnb.arithmetic import Floats, read_only

_PATTERNS = np.array([s for s in product((0, 1), repeat=4) if 0 < sum(s) < 4], dtype=bool)
_FLIPPED = np.array(
    [int(np.flatnonzero((s[[1, 0, 3, 2]] == _PATTERNS).all(axis=1))[0]) for s in _PATTERNS]
)
"""Position of each pattern with the signs of the values exchanged."""


@dataclass(frozen=True)
class BestGapChannel:
    """The best channel for a gap.

    - `epsilon`, float: privacy budget in nats, ``> 0``; the exact loss in group and value together.
    - `share`, float: share of the first group among the users, in ``(0, 1)``.

    Two equal groups: one randomised sign, of variance ``(2 / tanh(epsilon/2))^2`` per user.

    >>> best = BestGapChannel(np.log(3), 0.5)
    >>> round(best.variance, 9), round(best.bound, 9)
    (16.0, 16.0)
    """

    epsilon: float
    share: float

    def __post_init__(self) -> None:
        checks.plain(self)
        checks.positive(self.epsilon, "epsilon")
        checks.open_probability(self.share, "share")

    def sizes(self, users: int) -> tuple[int, int]:
        """Return the sizes of the two groups among so many users, at least one each.

        >>> BestGapChannel(1.0, 0.1).sizes(3)
        (1, 2)
        """
        people = checks.whole(users, "users", at_least=2, at_most=2**63 - 1)
        first = min(max(round(self.share * people), 1), people - 1)
        return first, people - first

    @property
    def target(self) -> Floats:
        """Weight of each input in the gap: ``1/s, -1/s, -1/(1-s), 1/(1-s)``."""
        first, second = 1 / self.share, 1 / (1 - self.share)
        return np.array([first, -first, -second, second])

    @cached_property
    def _heights(self) -> Floats:
        """The patterns divided by ``e^epsilon``, so that large budgets do not overflow."""
        return read_only(np.where(_PATTERNS, 1.0, np.exp(-self.epsilon)))

    @cached_property
    def _means(self) -> Floats:
        return read_only(self._heights @ np.repeat([self.share, 1 - self.share], 2) / 2)

    def _signal(self, ratio: float) -> Floats:
        return self._heights @ np.array([1, -1, -ratio, ratio])

    def _price(self, ratio: float) -> float:
        """Return the largest ``sum theta (M y)^2 / c`` over channels, a linear program with two equations by symmetry.

        Its vertices are pairs of patterns.
        """
        return float(self._prices(self._signal(ratio) ** 2).max())

    def _prices(self, squares: Floats) -> Floats:
        (one, other), (first, second) = self._vertices
        gains = squares / self._means
        return first * gains[one] + second * gains[other]

    @cached_property
    def _vertices(self) -> tuple[tuple[Any, Any], tuple[Floats, Floats]]:
        """Of that program: two patterns and their weights, whatever the ratio."""
        rows = np.add.reduceat(self._heights, [0, 2], axis=1)
        one, other = np.triu_indices(len(rows), 1)
        turn = rows[one, 0] * rows[other, 1] - rows[one, 1] * rows[other, 0]
        apart = np.abs(turn) > 1e-13
        one, other, turn = one[apart], other[apart], turn[apart]
        first, second = (
            2 * (rows[other, 1] - rows[other, 0]) / turn,
            2 * (rows[one, 0] - rows[one, 1]) / turn,
        )
        inside = (first >= -1e-12) & (second >= -1e-12)
        return (one[inside], other[inside]), (read_only(first[inside]), read_only(second[inside]))

    @cached_property
    def _direction(self) -> float:
        """Ratio of ``y`` in the two groups with the largest bound, which is quasi-concave in it.

        Between two vertices the bound is ``(u + v r)^2 / (A + B r + C r^2)``, and its largest value
        known.
        """
        largest = minimize_scalar(
            lambda log: -self._bound(np.exp(log)), bounds=(-16, 16), options={"xatol": 1e-13}
        )
        ratio, (u, v) = (
            float(np.exp(largest.x)),
            (self.target @ [[1, 0], [-1, 0], [0, -1], [0, 1]]).tolist(),
        )
        fixed, slope = self._signal(0.0), self._signal(1.0) - self._signal(0.0)
        best = int(self._prices(self._signal(ratio) ** 2).argmax())
        a, b, c = (float(self._prices(p)[best]) for p in (fixed**2, 2 * fixed * slope, slope**2))
        turn = 2 * u * c - v * b
        flat = (2 * v * a - u * b) / turn if turn else ratio
        near = abs(flat - ratio) < 1e-6 * ratio and self._bound(flat) >= self._bound(ratio) * (
            1 - 1e-15
        )
        return flat if near else ratio

    def _bound(self, ratio: float) -> float:
        gain = float(self.target @ (1, -1, -ratio, ratio))
        return gain * gain / self._price(ratio)

    @property
    def bound(self) -> float:
        """No epsilon-LDP channel has a smaller variance times users: the certificate, from any direction ``y``."""
        return self._bound(self._direction)

    @cached_property
    def weights(self) -> Floats:
        """Weight ``theta >= 0`` of every pattern: a channel, of slope 0 in ``y``, that reaches the least price of all.

        These are linear equations. Probability lost to rounding goes to the patterns that reveal
        only the group.
        """
        ratio, rows = self._direction, self._heights
        price = self._price(ratio)
        signal = self._signal(ratio) * float(self.target @ (1, -1, -ratio, ratio)) / price
        slopes = (signal / self._means)[:, None] * rows / self.target
        gains = self._signal(ratio) ** 2 / self._means / price
        theta = nnls(np.vstack([rows.T, slopes.T, gains]), np.ones(9))[0]
        theta = (theta + theta[_FLIPPED]) / 2
        used = theta @ rows
        theta /= used.max()
        short = 1 - used / used.max()
        if short.max() > 0:  # the two patterns that reveal only the group take up the rest
            lowest = float(np.exp(-self.epsilon))
            spare = min(1.0, 1.000001 * short.max() * lowest / (1 - lowest) + 1e-15)
            need = short + spare * (1 - short)
            theta *= 1 - spare
            added = np.linalg.solve([[1, lowest], [lowest, 1]], need[[0, 2]])
            theta[(_PATTERNS == [1, 1, 0, 0]).all(axis=1)] += added[0]
            theta[(_PATTERNS == [0, 0, 1, 1]).all(axis=1)] += added[1]
        return read_only(theta)

    @cached_property
    def _estimate(self) -> tuple[Floats, Floats, float]:
        """How patterns separate the signs in either group, the weights of both in the estimate, and what these miss."""
        half = (self._heights[:, [0, 2]] - self._heights[:, [1, 3]]) / (2 * self.target[[0, 2]])
        matrix = (half * (self.weights / self._means)[:, None]).T @ half
        y = np.linalg.lstsq(matrix, np.ones(2), rcond=1e-14)[0]
        return read_only(half), read_only(y), float(np.abs(matrix @ y - 1).max())

    @property
    def variance(self) -> float:
        """Variance of the estimated gap times the number of users, both signs being as frequent in both groups.

        No other values give a larger one, since the second moment of a report does not depend on
        the value.
        """
        _, y, missed = self._estimate
        if not missed < 1e-7:
            got = f"got share={self.share!r}, epsilon={self.epsilon!r}"
            raise ValueError(f"share and epsilon must leave digits for the gap, {got}")
        return float(y.sum())

    def channel(self) -> Floats:
        """Return ``Pr(pattern | input)``, (14, 4)."""
        return np.asarray(self.weights[:, None] * self._heights)

    @cached_property
    def scores(self) -> Floats:
        """Score of each pattern, (14,): the mean score of all reports is the unbiased gap."""
        half, y, _ = self._estimate
        return read_only(half @ y / self._means)
