"""Central privacy of shuffled reports of any finite local randomizer, by its privacy blanket.

Every user's report is, with chance ``gamma = sum_y min_x R(y|x)``, drawn from one law whatever the value: the
*blanket*. Two users' data sets that differ in one value, ``x`` or ``x'``, lose at most ``delta(epsilon) = E[(Z_1 + ...
+ Z_n)_+]/n``, where ``Z = (R(y|x) - e^epsilon R(y|x'))/w(y)`` with chance ``w(y) = min_x R(y|x)`` and 0 otherwise
(Balle, Bell, Gascon and Nissim 2019, Lemma 5.3). Silence is one more output. `ldpnb.privacy.shuffling` has bounds from
both sides for k-ary randomised response.

Rigorous up to the constants of the error analysis of the fast Fourier transform: values of ``Z`` are split between
their neighbours on a grid, which raises the mean of a convex function; the law of the sum is tilted to where that mean
is decided, and what is cut off or rounded is added. (Takagi and Liew, arXiv:2601.19154, have such an algorithm too.)
"""

from dataclasses import dataclass
from itertools import permutations
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar

from ldpnb import checks
from ldpnb.arithmetic import Floats
from ldpnb.mechanisms.frequency import UnaryEncoding
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.mechanisms.registry import FrequencyMechanism
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.privacy.channel import as_channel

ROUNDING = 1e-14
"""Bound on the relative error of a Fourier coefficient of one user's law, and of the transform of all."""

FINE, MOST_DOUBLINGS = 2e-3, 18
"""By how much the grid may increase the variance of a sum, and the most doublings of its fineness to that end."""

CUT = 36.0
"""The probability outside the grid is below ``2 e^-CUT`` under the tilted law."""

MOST_USERS = 10**9


@dataclass(frozen=True, eq=False)
class Blanket:
    """A randomizer as its blanket bounds need it: the probabilities of classes of equivalent outputs.

    - `chances`, (m,) float: ``w(y) = min_x R(y|x) > 0``, added up over a class of outputs.
    - `first`, `second`, (pairs, m) float: ``R(y|x) / w(y)`` and ``R(y|x') / w(y)`` for the pairs ``x, x'`` to consider.
    - `epsilon`, float: local budget.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> blanket = Blanket.of(KaryRandomisedResponse(3.0, 20))
    >>> round(blanket.epsilon_upper(1e-6, users=5000), 4)
    0.2344
    """

    chances: Floats
    first: Floats
    second: Floats
    epsilon: float

    @classmethod
    def of_channel(cls, channel: ArrayLike) -> Self:
        """Return the blanket of any channel, ``(outputs, values)``; refused if an output rules a value out."""
        matrix = as_channel(channel)
        matrix = matrix[matrix.max(axis=1) > 0]
        least = matrix.min(axis=1)
        if least.min() <= 0:
            raise ValueError(
                "channel must be private: an output that some value never sends has no blanket"
            )
        rows = np.array(list(permutations(matrix.T, 2))).transpose(1, 0, 2) / least
        return cls(least, rows[0], rows[1], float(np.log((matrix.max(axis=1) / least).max())))

    @classmethod
    def of(cls, mechanism: FrequencyMechanism) -> Self:
        """Return the blanket of a mechanism for any number of values; all pairs are alike.

        An output supports both of the two values, the first, the second or neither; vectors of bits that support all
        are a class of their own.
        """
        growth, size = float(np.exp(mechanism.epsilon)), int(mechanism.domain_size)
        if isinstance(mechanism, UnaryEncoding | LocalHashing | SignRandomiser):
            p, q = float(mechanism.p), float(mechanism.q)
            # a bit that is not set lowers the chance of its value, any set bit raises it
            low = float(mechanism.miss_rate) / (1 - q)
            both, one, neither, full = q * q * low, q * (1 - q) * low, (1 - q) ** 2 * low, q**size
            chances = np.array([max(both - full * low, 0.0), one, one, neither, full * p / q])
        else:
            chosen = mechanism.subset_size if isinstance(mechanism, SubsetSelection) else 1
            both, one = (
                chosen * others / (size * (size - 1)) for others in (chosen - 1, size - chosen)
            )
            share = size / (
                chosen * growth + size - chosen
            )  # of the blanket, uniform over the sets
            chances = share * np.array([both, one, one, 1 - both - 2 * one, 0.0])
        kept = chances > 0
        first, second = np.array([[growth, growth, 1, 1, 1], [growth, 1, growth, 1, 1]])
        return cls(chances[kept], first[None, kept], second[None, kept], float(mechanism.epsilon))

    def sampled(self, rate: float) -> Self:
        """Return the blanket if every user reports with this probability only, and silence is visible."""
        share, ones = checks.rate(rate, "rate"), np.ones((len(self.first), 1))
        if share == 1:
            return self
        first, second = (np.hstack([ratios, ones]) for ratios in (self.first, self.second))
        return type(self)(np.append(share * self.chances, 1 - share), first, second, self.epsilon)

    def delta_upper(self, epsilon: float, *, users: int) -> float:
        """Return an upper bound on ``delta`` at a central budget, under replacement of one user's value."""
        count = checks.whole(users, "users", at_least=2, at_most=MOST_USERS)
        budget = checks.non_negative(epsilon, "epsilon")
        if budget >= self.epsilon:
            return 0.0
        return max(self._delta(budget, count, pair) for pair in range(len(self.first)))

    def epsilon_upper(self, delta: float, *, users: int) -> float:
        """Return an upper bound on the central budget at a given ``delta``, at most the local budget."""
        target = checks.open_probability(delta, "delta")
        tried = {self.epsilon: -1.0}  # the local budget meets every delta

        def excess(budget: float) -> float:
            if budget not in tried:
                tried[budget] = float(
                    np.log(max(self.delta_upper(budget, users=users), 1e-300) / target)
                )
            return tried[budget]

        if excess(0.0) <= 0:
            return 0.0
        low = self.epsilon / 2
        while excess(low) <= 0:
            low /= 2
        brentq(excess, low, 2 * low, xtol=1e-300, rtol=1e-6)
        return min(
            budget for budget, over in tried.items() if over <= 0
        )  # the end of its interval that meets delta

    def _delta(self, epsilon: float, users: int, pair: int) -> float:
        growth = float(np.exp(epsilon))
        gained, lost = self.first[pair], growth * self.second[pair]
        values = np.append(
            gained - lost + 1e-15 * (gained + lost), 0.0
        )  # rounded up, where they nearly cancel too
        chances = np.append(self.chances, max(1 - float(self.chances.sum()), 0.0))
        one = float(chances @ np.maximum(values, 0.0)) * (
            1 + 1e-14
        )  # where positive values are too small for the grid
        return min(_mean_excess(values, chances, users) / users, one) if one > 0 else 0.0


def _mean_excess(values: Floats, chances: Floats, count: int) -> float:
    """Return an upper bound on ``E[(Z_1 + ... + Z_n)_+]`` for independent ``Z`` with these values and chances.

    With ``K(t) = ln E e^(t Z)`` the mean is ``e^(n K(t)) E_t[S_+ e^(-t S)]`` under the law tilted by ``e^(t Z)``; ``t``
    minimises ``e^(n K(t))/t``, which centres the sum near 0.
    """
    z = values / (scale := float(np.abs(values).max()))

    def logarithm(log_tilt: float) -> float:
        terms = np.exp(log_tilt) * z
        return (
            count * (terms.max() + float(np.log(chances @ np.exp(terms - terms.max())))) - log_tilt
        )

    tilt = float(np.exp(minimize_scalar(logarithm, bounds=(-25.0, 12.0), method="bounded").x))
    weights = chances * np.exp(tilt * (z - z.max()))
    step, cells = _grid(z, weights / weights.sum(), count)
    below = np.floor(z / step + 1e-9)
    part = np.maximum(z / step - below, 0.0)
    points, law = (
        np.concatenate([below, below + 1]),
        np.concatenate([chances * (1 - part), chances * part]),
    )
    points, law = points[law > 0], law[law > 0]
    logs = tilt * step * points + np.log(law)
    total = float(np.logaddexp.reduce(logs))
    leading = count * total - np.log(tilt)
    bound = sum(_tilted_mean(points, np.exp(logs - total), count, tilt * step, cells))
    return float(scale * np.exp(leading) * bound) if leading < 700 else np.inf


def _grid(z: Floats, weights: Floats, count: int) -> tuple[float, int]:
    """Return the step of a lattice and on how many of its points the law of the sum is computed.

    Splitting values between neighbours adds at most a share `FINE` to the variance. The lattice contains one of the
    values, chosen so that the others are split least.
    """
    variance = float(weights @ (z - weights @ z) ** 2)
    half = np.sqrt(2 * CUT * count * variance) + CUT * float(np.abs(z).max())
    sizes = np.abs(z[z != 0])
    for doublings in range(10, MOST_DOUBLINGS + 1):
        widest = 2 * half / 2**doublings
        steps = sizes[sizes > widest] / np.ceil(sizes[sizes > widest] / widest)
        steps = steps[steps > widest / 2] if steps.size else np.array([widest])
        part = z / steps[:, None] - np.floor(z / steps[:, None] + 1e-9)
        added = (part * (1 - part)) @ weights * steps**2
        if added.min() <= FINE * variance:
            break
    return float(steps[added.argmin()]), 2 ** (doublings + 1)


def _tilted_mean(
    points: Floats, law: Floats, count: int, slope: float, cells: int
) -> tuple[float, float]:
    """Return ``E[t S_+ e^(-t S)]`` under the tilted law, computed modulo the grid's length, with an error bound.

    ``t s e^(-t s) <= 1/e`` bounds what is outside the grid, and rounding is followed through ``one^n`` and the
    transform.
    """
    centre = round(count * float(law @ points))
    one = sum((chance * _wave(point, cells) for point, chance in zip(points, law, strict=True)))
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(one))
    seen = np.flatnonzero(count * logs > -CUT)
    turns = count * np.angle(one[seen]) - 2 * np.pi / cells * (seen * (centre % cells) % cells)
    sums = np.zeros(one.size, dtype=complex)
    sums[seen] = np.exp(count * logs[seen] + 1j * np.mod(turns, 2 * np.pi))
    places = np.maximum(centre + np.arange(-cells // 2, cells // 2), 0)
    chances = np.roll(np.fft.irfft(sums.conj(), cells), cells // 2)
    weight = slope * places * np.exp(-slope * places)
    one_rounding = np.minimum(np.exp(logs) + ROUNDING, 1.0)
    power_rounding = count * np.exp((count - 1) * np.log(one_rounding)) + np.abs(sums)
    turn_rounding = ROUNDING * power_rounding + 2e-16 * (np.abs(sums) == 0)
    entry_rounding = (
        2 * turn_rounding.sum() + ROUNDING * np.sqrt(2 * (np.abs(sums) ** 2).sum())
    ) / cells
    return float(weight @ np.maximum(chances, 0.0)), float(
        entry_rounding * weight.sum() + 2 * np.exp(-CUT) / np.e
    )


def _wave(point: float, cells: int, block: int = 512) -> NDArray[np.complex128]:
    """Return ``e^(2 pi i point j / cells)`` for ``j = 0 .. cells/2``, as products of fewer exponentials."""
    turn = 2j * np.pi / cells
    coarse = np.exp(turn * (block * point * np.arange(cells // 2 // block + 1) % cells))
    fine = np.exp(turn * (point * np.arange(block) % cells))
    return np.outer(coarse, fine).ravel()[: cells // 2 + 1]
