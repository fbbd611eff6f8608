"""Central privacy of shuffled reports of any finite local randomiser, by its privacy blanket.

With the probability ``gamma = sum_y min_x R(y|x)`` a user's report is drawn from one distribution
that does not depend on the value: the *blanket*. If two data sets differ in one user's value, ``x``
or ``x'``, then ``delta(epsilon)`` is at most ``E[(Z_1 + ... + Z_n)_+]/n``. Here ``Z`` is ``(R(y|x)
- e^epsilon R(y|x'))/w(y)`` with probability ``w(y) = min_x R(y|x)``, and 0 otherwise (Balle, Bell,
Gascón and Nissim 2019, Lemma 5.3). Silence is one more output. `ldpnb.privacy.shuffling` has bounds
from both sides for k-ary randomised response.

The bound is rigorous up to the constants of the error analysis of the fast Fourier transform.
Values of ``Z`` are split between their neighbours on a grid, which raises the mean of a convex
function. The distribution of the sum is tilted to where that mean is decided. What is cut off or
rounded is added. (Takagi and Liew, arXiv:2601.19154, also have such an algorithm.)
"""

from dataclasses import dataclass
from itertools import permutations
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar

from ldpnb import checks
from ldpnb.arithmetic import Floats
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.mechanisms.registry import FrequencyMechanism
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.privacy.channel import as_channel

ROUNDING = 1e-14
"""Bound on the relative error of a Fourier coefficient of one user, and of the transform of all."""

FINE = 2e-3
"""By how much the grid may increase the variance of a sum, relative to the variance."""

MOST_DOUBLINGS = 18
"""Most doublings of the grid's fineness to that end."""

CUT = 36.0
"""The probability outside the grid is below ``2 e^-CUT`` under the tilted distribution."""

MOST_USERS = 10**9


class HasChannel(Protocol):
    """A mechanism that knows its exact channel, such as one of your own."""

    def channel(self) -> Floats:
        """Return the probability of each output (row) given each value (column)."""


@dataclass(frozen=True, eq=False)
class Blanket:
    """The privacy blanket of a local randomiser, and the central privacy that follows from it.

    Make it with `of` from a mechanism, or with `of_channel` from a matrix. Outputs with the same
    ratios form a class.

    Parameters
    ----------
    chances : array_like, shape (m,)
        ``w(y) = min_x R(y|x) > 0``, added up over each class of outputs.
    first : array_like, shape (pairs, m)
        ``R(y|x) / w(y)``, for the pairs ``x, x'`` of values to consider.
    second : array_like, shape (pairs, m)
        ``R(y|x') / w(y)``, for the same pairs.
    epsilon : float
        Local budget in nats.

    References
    ----------
    Balle, Bell, Gascón and Nissim (2019).

    Examples
    --------
    At a local budget of 3, the reports of 5,000 users have a central budget of at most 0.2344 at
    delta = 1e-6, if one user's value is replaced.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> blanket = Blanket.of(KaryRandomisedResponse(epsilon=3.0, domain_size=20))
    >>> round(blanket.epsilon_upper(delta=1e-6, users=5000), 4)
    0.2344
    """

    chances: Floats
    first: Floats
    second: Floats
    epsilon: float

    @classmethod
    def of_channel(cls, channel: ArrayLike) -> Self:
        """Return the blanket of any channel.

        Parameters
        ----------
        channel : array_like, shape (outputs, values)
            Probability of each output given each value. Columns sum to 1.

        Returns
        -------
        Blanket

        Raises
        ------
        ValueError
            If some output is possible for some values only, or a column is not a probability
            vector.
        """
        matrix = as_channel(channel)
        matrix = matrix[matrix.max(axis=1) > 0]
        least = matrix.min(axis=1)
        if least.min() <= 0:
            raise ValueError(
                "channel must be private: an output that some value never sends has no blanket"
            )

        pairs = np.array(list(permutations(matrix.T, 2)))
        first, second = pairs.transpose(1, 0, 2) / least
        epsilon = float(np.log((matrix.max(axis=1) / least).max()))
        return cls(least, first, second, epsilon)

    @classmethod
    def of(cls, mechanism: FrequencyMechanism | HasChannel) -> Self:
        """Return the blanket of a mechanism, for any number of values.

        All pairs of values are alike. An output supports both of the two values, the first, the
        second or neither. Vectors of bits that support all values are a class of their own. A
        mechanism of another class, such as one of your own, is taken by its channel.

        Parameters
        ----------
        mechanism : FrequencyMechanism, or an object with a method ``channel()``
            How a user randomises; see `FREQUENCY` for the mechanisms of this package.

        Returns
        -------
        Blanket
        """
        if isinstance(mechanism, UnaryEncoding | LocalHashing | SignRandomiser):
            chances = _classes_of_bits(mechanism)
        elif isinstance(mechanism, KaryRandomisedResponse | SubsetSelection):
            chances = _classes_of_subsets(mechanism)
        else:
            return cls.of_channel(mechanism.channel())

        growth = float(np.exp(mechanism.epsilon))
        first = np.array([growth, growth, 1, 1, 1])
        second = np.array([growth, 1, growth, 1, 1])
        kept = chances > 0
        return cls(chances[kept], first[None, kept], second[None, kept], float(mechanism.epsilon))

    def sampled(self, rate: float) -> Self:
        """Return the blanket if every user reports with some probability, and silence is seen.

        Parameters
        ----------
        rate : float
            Probability in ``(0, 1]`` that a user reports.

        Returns
        -------
        Blanket
        """
        share = checks.rate(rate, "rate")
        if share == 1:
            return self

        silence = np.ones((len(self.first), 1))
        first = np.hstack([self.first, silence])
        second = np.hstack([self.second, silence])
        return type(self)(np.append(share * self.chances, 1 - share), first, second, self.epsilon)

    def delta_upper(self, epsilon: float, *, users: int) -> float:
        """Return an upper bound on ``delta`` at a central budget, if one user's value is replaced.

        Parameters
        ----------
        epsilon : float
            Central budget in nats, ``>= 0``.
        users : int
            Number of users, from 2 to 1e9.

        Returns
        -------
        float
        """
        count = checks.whole(users, "users", at_least=2, at_most=MOST_USERS)
        budget = checks.non_negative(epsilon, "epsilon")
        if budget >= self.epsilon:
            return 0.0
        return max(self._delta(budget, count, pair) for pair in range(len(self.first)))

    def epsilon_upper(self, delta: float, *, users: int) -> float:
        """Return an upper bound on the central budget, if one user's value is replaced.

        Parameters
        ----------
        delta : float
            Central delta, in ``(0, 1)``.
        users : int
            Number of users, from 2 to 1e9.

        Returns
        -------
        float
            Budget in nats, at most the local one.
        """
        target = checks.open_probability(delta, "delta")
        # The local budget meets every delta.
        excess_at = {self.epsilon: -1.0}

        def excess(budget: float) -> float:
            if budget not in excess_at:
                reached = max(self.delta_upper(budget, users=users), 1e-300)
                excess_at[budget] = float(np.log(reached / target))
            return excess_at[budget]

        if excess(0.0) <= 0:
            return 0.0
        low = self.epsilon / 2
        while excess(low) <= 0:
            low /= 2
        brentq(excess, low, 2 * low, xtol=1e-300, rtol=1e-6)

        # Of the last interval's two ends, the one that meets delta.
        return min(budget for budget, over in excess_at.items() if over <= 0)

    def _delta(self, epsilon: float, users: int, pair: int) -> float:
        gained = self.first[pair]
        lost = float(np.exp(epsilon)) * self.second[pair]
        # Rounded up, also where the two nearly cancel.
        values = np.append(gained - lost + 1e-15 * (gained + lost), 0.0)
        chances = np.append(self.chances, max(1 - float(self.chances.sum()), 0.0))

        # The positive part of one user, for positive values that are too small for the grid.
        of_one_user = float(chances @ np.maximum(values, 0.0)) * (1 + 1e-14)
        if of_one_user <= 0:
            return 0.0
        return min(_mean_excess(values, chances, users) / users, of_one_user)


def _classes_of_bits(mechanism: UnaryEncoding | LocalHashing | SignRandomiser) -> Floats:
    """Return the blanket's probability of outputs that support both, one, the other, none, all."""
    p = float(mechanism.p)
    q = float(mechanism.q)

    # A bit that is not set lowers the probability of its value, any set bit raises it.
    low = float(mechanism.miss_rate) / (1 - q)
    both = q * q * low
    one = q * (1 - q) * low
    neither = (1 - q) ** 2 * low
    all_values = q ** int(mechanism.domain_size)
    both_not_all = max(both - all_values * low, 0.0)
    return np.array([both_not_all, one, one, neither, all_values * p / q])


def _classes_of_subsets(mechanism: KaryRandomisedResponse | SubsetSelection) -> Floats:
    """Return the blanket's probability of subsets with both values, one, the other, neither.

    The fifth class is empty. In the blanket, subsets are uniform.
    """
    growth = float(np.exp(mechanism.epsilon))
    size = int(mechanism.domain_size)
    chosen = mechanism.subset_size if isinstance(mechanism, SubsetSelection) else 1

    both = chosen * (chosen - 1) / (size * (size - 1))
    one = chosen * (size - chosen) / (size * (size - 1))
    blanket = size / (chosen * growth + size - chosen)
    return blanket * np.array([both, one, one, 1 - both - 2 * one, 0.0])


def _mean_excess(values: Floats, chances: Floats, count: int) -> float:
    """Return an upper bound on ``E[(Z_1 + ... + Z_n)_+]`` for independent ``Z`` with these values.

    With ``K(t) = ln E e^(t Z)`` the mean is ``e^(n K(t)) E_t[S_+ e^(-t S)]`` under the distribution
    tilted by ``e^(t Z)``. The ``t`` that minimises ``e^(n K(t))/t`` centres the sum near 0.
    """
    scale = float(np.abs(values).max())
    z = values / scale

    def logarithm(log_tilt: float) -> float:
        terms = np.exp(log_tilt) * z
        largest = terms.max()
        return count * (largest + float(np.log(chances @ np.exp(terms - largest)))) - log_tilt

    tilt = float(np.exp(minimize_scalar(logarithm, bounds=(-25.0, 12.0), method="bounded").x))
    weights = chances * np.exp(tilt * (z - z.max()))
    step, cells = _grid(z, weights / weights.sum(), count)

    # Each value is split between its neighbours on the grid.
    below = np.floor(z / step + 1e-9)
    part = np.maximum(z / step - below, 0.0)
    points = np.concatenate([below, below + 1])
    split_chances = np.concatenate([chances * (1 - part), chances * part])
    points = points[split_chances > 0]
    split_chances = split_chances[split_chances > 0]

    logs = tilt * step * points + np.log(split_chances)
    total = float(np.logaddexp.reduce(logs))
    log_factor = count * total - np.log(tilt)
    if log_factor >= 700:
        return np.inf
    mean, error = _tilted_mean(points, np.exp(logs - total), count, tilt * step, cells)
    return float(scale * np.exp(log_factor) * (mean + error))


def _grid(z: Floats, weights: Floats, count: int) -> tuple[float, int]:
    """Return the step of a grid, and the number of its points on which the sum is computed.

    To split values between neighbours adds at most a share `FINE` to the variance. The grid
    contains one of the values, chosen so that the others are split least.
    """
    variance = float(weights @ (z - weights @ z) ** 2)
    half = np.sqrt(2 * CUT * count * variance) + CUT * float(np.abs(z).max())
    sizes = np.abs(z[z != 0])
    for doublings in range(10, MOST_DOUBLINGS + 1):
        widest = 2 * half / 2**doublings
        large = sizes[sizes > widest]
        steps = large / np.ceil(large / widest)
        steps = steps[steps > widest / 2] if steps.size else np.array([widest])

        part = z / steps[:, None] - np.floor(z / steps[:, None] + 1e-9)
        added = (part * (1 - part)) @ weights * steps**2
        if added.min() <= FINE * variance:
            break
    return float(steps[added.argmin()]), 2 ** (doublings + 1)


def _tilted_mean(
    points: Floats, chances: Floats, count: int, slope: float, cells: int
) -> tuple[float, float]:
    """Return ``E[t S_+ e^(-t S)]`` for a tilted sum, and a bound on the error.

    The distribution of the sum is computed modulo the grid's length. What is outside the grid is
    bounded by ``t s e^(-t s) <= 1/e``, and rounding is followed through the power and the
    transform.
    """
    centre = round(count * float(chances @ points))
    one_user = sum(
        chance * _wave(point, cells) for point, chance in zip(points, chances, strict=True)
    )
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(one_user))

    # The transform of the sum, moved to its centre; what is below e^-CUT is left out.
    seen = np.flatnonzero(count * logs > -CUT)
    shift = 2 * np.pi / cells * (seen * (centre % cells) % cells)
    turns = count * np.angle(one_user[seen]) - shift
    transform = np.zeros(one_user.size, dtype=complex)
    transform[seen] = np.exp(count * logs[seen] + 1j * np.mod(turns, 2 * np.pi))

    places = np.maximum(centre + np.arange(-cells // 2, cells // 2), 0)
    sum_chances = np.roll(np.fft.irfft(transform.conj(), cells), cells // 2)
    weight = slope * places * np.exp(-slope * places)
    mean = float(weight @ np.maximum(sum_chances, 0.0))

    one_rounding = np.minimum(np.exp(logs) + ROUNDING, 1.0)
    power_rounding = count * np.exp((count - 1) * np.log(one_rounding)) + np.abs(transform)
    turn_rounding = ROUNDING * power_rounding + 2e-16 * (np.abs(transform) == 0)
    transform_rounding = ROUNDING * np.sqrt(2 * (np.abs(transform) ** 2).sum())
    entry_rounding = (2 * turn_rounding.sum() + transform_rounding) / cells
    return mean, float(entry_rounding * weight.sum() + 2 * np.exp(-CUT) / np.e)


def _wave(point: float, cells: int, block: int = 512) -> NDArray[np.complex128]:
    """Return ``e^(2 pi i point j / cells)`` for ``j = 0 .. cells/2``, from fewer exponentials."""
    turn = 2j * np.pi / cells
    coarse = np.exp(turn * (block * point * np.arange(cells // 2 // block + 1) % cells))
    fine = np.exp(turn * (point * np.arange(block) % cells))
    return np.outer(coarse, fine).ravel()[: cells // 2 + 1]
