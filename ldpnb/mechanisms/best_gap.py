r"""The best of all epsilon-LDP channels for the gap of two group means, with a certificate.

Values are -1 or +1, the inputs are ``(G, +1), (G, -1), (H, +1), (H, -1)``, and group ``G`` has a
known `share` of the users. Other values are rounded to -1 or +1 at random, which the variance
counts; at large budgets noise on the numbers as they are can do better.

Some best channel has output probabilities proportional to 1 and ``e^epsilon`` only (Kairouz, Oh and
Viswanath 2016). So it gives a weight to each of 14 such patterns. With ``c`` a pattern's mean and
``theta`` its weight, the variance times the number of users is the largest of ``2 T y - sum theta
(M y)^2/c`` over ``y``, which is convex in ``theta``. Exchanging the minimum over ``theta`` and the
maximum over ``y`` gives a bound for every channel, from any ``y``.

In floats, variance and bound agree to 1e-5 for budgets from 0.01 to 30 nats and shares of at least
1e-5; elsewhere compare the two. If rounding leaves no estimate, asking for the variance is an
error.

For simulation only: a statistical generator and noise in floating point protect nobody (see
`ldpnb.mechanisms`).
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar, nnls

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, read_only

_PATTERNS = np.array([bits for bits in product((0, 1), repeat=4) if 0 < sum(bits) < 4], dtype=bool)
"""For each pattern, the inputs of the larger probability, shape ``(14, 4)``."""


def _with_signs_exchanged() -> Ints:
    """Return the position of each pattern with the signs of the values exchanged."""
    positions = []
    for pattern in _PATTERNS:
        is_exchanged = (pattern[[1, 0, 3, 2]] == _PATTERNS).all(axis=1)
        positions.append(int(np.flatnonzero(is_exchanged)[0]))
    return np.array(positions)


_EXCHANGED = _with_signs_exchanged()


class _Vertices(NamedTuple):
    """The vertices of the set of channels that are symmetric in the sign: pairs of patterns."""

    one: Any
    """Position of the first pattern of each pair."""
    other: Any
    """Position of the second pattern of each pair."""
    weight_of_one: Floats
    weight_of_other: Floats


class _Estimate(NamedTuple):
    """The linear estimate of the gap from the patterns that are reported."""

    contrasts: Floats
    """How each pattern separates the two signs within either group, shape ``(14, 2)``."""
    group_weights: Floats
    """Weights of these two contrasts in the estimate."""
    residual: float
    """Largest error of the two equations that the weights solve."""


@dataclass(frozen=True)
class BestGapChannel:
    """The channel with the least variance of an estimated gap, among all of a given privacy.

    The gap is the mean of the first group minus that of the second. Values are -1 or +1, others are
    rounded to them at random.

    Parameters
    ----------
    epsilon : float
        Privacy budget in nats, ``> 0``. It is the exact privacy loss of a report, when group and
        value of one user are replaced.
    share : float
        Share of the first group among the users, in ``(0, 1)``.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    Notes
    -----
    `variance` is attained, `bound` is a lower bound for every channel. Both are times the number of
    users. Their difference is the most that any channel could gain.

    References
    ----------
    Kairouz, Oh and Viswanath (2016) show that two output probabilities suffice.

    Examples
    --------
    For two equal groups it is one randomised sign, of the variance ``(2 / tanh(epsilon/2))^2`` per
    user. At epsilon = ln 3 the hyperbolic tangent is 1/2.

    >>> best = BestGapChannel(epsilon=np.log(3), share=0.5)
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
        """Divide users into two groups in the given shares, at least one in each.

        Parameters
        ----------
        users : int
            Number of users, at least 2.

        Returns
        -------
        tuple of two ints
            Sizes of the groups.

        Examples
        --------
        >>> BestGapChannel(epsilon=1.0, share=0.1).sizes(3)
        (1, 2)
        """
        people = checks.whole(users, "users", at_least=2, at_most=2**63 - 1)
        first = min(max(round(self.share * people), 1), people - 1)
        return first, people - first

    @property
    def target(self) -> Floats:
        """Weight of each input in the gap, ``1/s, -1/s, -1/(1-s), 1/(1-s)`` for the share ``s``."""
        first = 1 / self.share
        second = 1 / (1 - self.share)
        return np.array([first, -first, -second, second])

    @cached_property
    def _heights(self) -> Floats:
        """The patterns divided by ``e^epsilon``, so that large budgets do not overflow."""
        return read_only(np.where(_PATTERNS, 1.0, np.exp(-self.epsilon)))

    @cached_property
    def _means(self) -> Floats:
        """Mean of each pattern over the users, both signs being as frequent in either group."""
        return read_only(self._heights @ np.repeat([self.share, 1 - self.share], 2) / 2)

    def _signal(self, ratio: float) -> Floats:
        """Return ``M y`` for ``y`` with the given ratio between the second group and the first."""
        return self._heights @ np.array([1, -1, -ratio, ratio])

    def _price(self, ratio: float) -> float:
        """Return the largest ``sum theta (M y)^2 / c`` over channels.

        This is a linear program, which by symmetry has two equations. So its vertices are pairs of
        patterns.
        """
        return float(self._prices(self._signal(ratio) ** 2).max())

    def _prices(self, squares: Floats) -> Floats:
        """Return the linear program's value at each vertex, for given ``(M y)^2``."""
        vertices = self._vertices
        gains = squares / self._means
        return (
            vertices.weight_of_one * gains[vertices.one]
            + vertices.weight_of_other * gains[vertices.other]
        )

    @cached_property
    def _vertices(self) -> _Vertices:
        rows = np.add.reduceat(self._heights, [0, 2], axis=1)
        one, other = np.triu_indices(len(rows), 1)

        determinant = rows[one, 0] * rows[other, 1] - rows[one, 1] * rows[other, 0]
        is_regular = np.abs(determinant) > 1e-13
        one = one[is_regular]
        other = other[is_regular]
        determinant = determinant[is_regular]

        weight_of_one = 2 * (rows[other, 1] - rows[other, 0]) / determinant
        weight_of_other = 2 * (rows[one, 0] - rows[one, 1]) / determinant
        is_feasible = (weight_of_one >= -1e-12) & (weight_of_other >= -1e-12)
        return _Vertices(
            one[is_feasible],
            other[is_feasible],
            read_only(weight_of_one[is_feasible]),
            read_only(weight_of_other[is_feasible]),
        )

    @cached_property
    def _direction(self) -> float:
        """Ratio of ``y`` in the two groups that gives the largest bound."""
        # The bound is quasi-concave in the ratio.
        largest = minimize_scalar(
            lambda log: -self._bound(np.exp(log)), bounds=(-16, 16), options={"xatol": 1e-13}
        )
        ratio = float(np.exp(largest.x))

        exact = self._stationary_ratio(ratio)
        is_near = abs(exact - ratio) < 1e-6 * ratio
        if is_near and self._bound(exact) >= self._bound(ratio) * (1 - 1e-15):
            return exact
        return ratio

    def _stationary_ratio(self, ratio: float) -> float:
        """Return the ratio with the largest bound at the vertex that decides at a given ratio.

        There the bound is ``(u + v r)^2 / (A + B r + C r^2)``, so the place of its largest value
        has a closed form.
        """
        u, v = (self.target @ [[1, 0], [-1, 0], [0, -1], [0, 1]]).tolist()
        best = int(self._prices(self._signal(ratio) ** 2).argmax())

        fixed = self._signal(0.0)
        slope = self._signal(1.0) - self._signal(0.0)
        a = float(self._prices(fixed**2)[best])
        b = float(self._prices(2 * fixed * slope)[best])
        c = float(self._prices(slope**2)[best])

        denominator = 2 * u * c - v * b
        return (2 * v * a - u * b) / denominator if denominator else ratio

    def _bound(self, ratio: float) -> float:
        gain = float(self.target @ (1, -1, -ratio, ratio))
        return gain * gain / self._price(ratio)

    @property
    def bound(self) -> float:
        """Lower bound on the variance times the number of users, for every epsilon-LDP channel."""
        return self._bound(self._direction)

    @cached_property
    def weights(self) -> Floats:
        """Weight of every pattern in the channel, shape ``(14,)``; each is at least 0."""
        theta = self._optimal_weights()
        rows = self._heights
        used = theta @ rows
        theta /= used.max()

        # Probability that is lost to rounding goes to the two patterns that reveal only the group.
        missing = 1 - used / used.max()
        if missing.max() > 0:
            lowest = float(np.exp(-self.epsilon))
            reserve = min(1.0, 1.000001 * missing.max() * lowest / (1 - lowest) + 1e-15)
            needed = missing + reserve * (1 - missing)
            theta *= 1 - reserve
            added = np.linalg.solve([[1, lowest], [lowest, 1]], needed[[0, 2]])
            theta[(_PATTERNS == [1, 1, 0, 0]).all(axis=1)] += added[0]
            theta[(_PATTERNS == [0, 0, 1, 1]).all(axis=1)] += added[1]
        return read_only(theta)

    def _optimal_weights(self) -> Floats:
        """Solve the equations of the optimum: a channel, of slope 0 in ``y``, of least price."""
        ratio = self._direction
        rows = self._heights
        price = self._price(ratio)

        signal = self._signal(ratio) * float(self.target @ (1, -1, -ratio, ratio)) / price
        slopes = (signal / self._means)[:, None] * rows / self.target
        gains = self._signal(ratio) ** 2 / self._means / price

        theta = nnls(np.vstack([rows.T, slopes.T, gains]), np.ones(9))[0]
        return np.asarray((theta + theta[_EXCHANGED]) / 2)

    @cached_property
    def _estimate(self) -> _Estimate:
        contrasts = self._heights[:, [0, 2]] - self._heights[:, [1, 3]]
        contrasts = contrasts / (2 * self.target[[0, 2]])

        matrix = (contrasts * (self.weights / self._means)[:, None]).T @ contrasts
        group_weights = np.linalg.lstsq(matrix, np.ones(2), rcond=1e-14)[0]
        residual = float(np.abs(matrix @ group_weights - 1).max())
        return _Estimate(read_only(contrasts), read_only(group_weights), residual)

    @property
    def variance(self) -> float:
        """Variance of the estimated gap times the number of users, at its largest.

        It is the largest if both signs are equally frequent in both groups, since the second moment
        of a report's score does not depend on the value.
        """
        if not self._estimate.residual < 1e-7:
            got = f"got share={self.share!r}, epsilon={self.epsilon!r}"
            raise ValueError(f"share and epsilon must leave digits for the gap, {got}")
        return float(self._estimate.group_weights.sum())

    def channel(self) -> Floats:
        """Return the ``(14, 4)`` matrix of ``Pr(pattern | input)``."""
        return np.asarray(self.weights[:, None] * self._heights)

    @cached_property
    def scores(self) -> Floats:
        """Score of each pattern, shape ``(14,)``; the reports' mean score is the unbiased gap."""
        estimate = self._estimate
        return read_only(estimate.contrasts @ estimate.group_weights / self._means)
