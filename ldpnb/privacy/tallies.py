"""Bounds on ``delta`` of shuffled reports, rigorous in a stated direction.

What is cut off or rounded is added to the upper bound, and left out of the lower bound.

Of ``n`` users ``A`` and ``B`` report the two values in question, ``L`` are hidden and ``W`` are
left; the four tallies are multinomial. With ``c = e^epsilon0 - 1`` and ``M = n - (1 - share) L``,

    ``delta(epsilon) = E[(c A - c e^epsilon B - (e^epsilon - 1) M)_+] / n``.

Given ``S = A + B``, ``B`` is binomial with probability 1/2 and ``W`` is binomial among ``n - S``,
independently. The positive part is a convex function of ``W`` with a kink for every ``B``. So
``delta`` is a sum over ``S`` of two parts: a closed form, for the kinks above all likely ``W``, and
``E[(kink - W)_+]`` for the few kinks among the likely ``W``. These shortfalls are tabulated at the
whole numbers, and are straight lines between them.

One table serves a block of neighbouring ``S``. Of binomials with one probability, moved to one
mean, the one with most trials has the greatest mean of every convex function. So the most trials of
the block give an upper bound, and the fewest a lower bound.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import special

from ldpnb.arithmetic import Floats, Ints

MARGIN = 30.0
"""Sums end where what is cut off is below ``e^-MARGIN`` of a Chernoff bound on ``delta``."""

STEP = 4.0
"""Margins are rounded up to multiples of this, so that neighbouring budgets share their tables."""

TABLED = 200_000
"""How many shortfalls are tabulated; if each table is short, there are more blocks."""

ROUNDING = 1e-15
"""Relative error of one step of a recurrence, per unit of the sum of all steps."""

LEAST = 1e-300
"""Added to upper bounds for what underflows."""


class _Binomials(NamedTuple):
    """Binomial distributions, a row each: their likely values, and bounds on what is beyond."""

    first: Floats
    """The first value listed, shape ``(rows,)``; the others follow in steps of 1."""
    logs: Floats
    """Logarithms of probabilities that add to 1 over the listed values, ``(rows, values)``."""
    under: Floats
    """Upper bounds on the probability below the first value."""
    over: Floats
    """Upper bounds on the probability above the last value."""
    shortfall: Floats
    """Upper bounds on ``E[(first - X)_+]``."""
    excess: Floats
    """Upper bounds on ``E[(X - last)_+]``."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """The probabilities of the four tallies, and what a hidden user adds to ``M``."""

    users: int
    chance: float
    """Probability that a user reports the first value, and also that a user reports the second."""
    hidden: float
    """Probability that a user is hidden."""
    rest: float
    """Chance that a user is left; ``2 chance + hidden + rest = 1``."""
    share: float
    """How much a hidden user adds to ``M``; every other user adds 1."""
    local: float
    """Budget ``epsilon0`` of a report, in nats."""


def delta(epsilon: float, tallies: Tallies, *, above: bool) -> float:
    """Return an upper bound on ``delta`` at a central budget if `above`, otherwise a lower one."""
    if epsilon >= tallies.local:
        return 0.0
    margin = MARGIN - min(log_chernoff(epsilon, tallies), 0.0)
    if margin > 700 + MARGIN:
        return LEAST if above else 0.0

    cut = STEP * math.ceil(margin / STEP)
    tables = _tables(tallies, cut, above)
    sums = tables.sums
    scale = np.log(np.expm1(tallies.local)) - np.log(tallies.users)
    means = _positive_parts(epsilon, tallies, tables, above)
    inside = float(np.sum(np.exp(sums.logs + scale) * means))
    under = sums.under.item()
    over = sums.over.item()

    left = tables.left
    listed = left.logs.shape[1]
    rounding = 1e-12 + ROUNDING * cut * (listed + tables.both.size)
    if not above:
        return float(max(inside * (1 - rounding) / (1 + under + over), 0.0))

    # Beyond the listed sums, the mean is at most that of c A / n, which is c S / (2 n).
    beyond = tables.both[0] * under + tables.both[-1] * over + sums.excess.item()
    outside = np.exp(scale) * beyond / 2

    # The tails of W add at most this to a shortfall.
    tails = (left.shortfall + left.excess + left.under * listed).max()
    outside += np.expm1(epsilon) * (1 - tallies.share) * tails / tallies.users
    return float(min((inside + outside) * (1 + rounding) + LEAST, 1.0))


def log_chernoff(epsilon: float, tallies: Tallies) -> float:
    """Return the logarithm of a Chernoff bound on ``delta``.

    For every ``t > 0``, ``x_+ <= e^(t x - 1) / t``. The best of many ``t`` is taken.
    """
    slope = np.expm1(epsilon) / np.expm1(tallies.local)
    gains = np.array([1 - slope, -np.exp(epsilon) - slope, -slope, -slope * tallies.share])
    chances = np.array([tallies.chance, tallies.chance, tallies.rest, tallies.hidden])

    tilts = np.geomspace(1e-12, 700.0, 400)
    logs = tallies.users * np.log1p(np.expm1(tilts[:, None] * gains) @ chances)
    least = np.min(logs - np.log(tilts))
    return float(np.log(np.expm1(tallies.local)) - np.log(tallies.users) - 1 + least)


def _binomials(trials: Floats, one: float, other: float, cut: float) -> _Binomials:
    """Return binomials of the probability ``one / (one + other) < 1``.

    At most ``2 e^-cut`` of each is left out, by Bernstein's inequality. Logarithms of ratios of
    neighbouring probabilities are summed, which needs no factorials and keeps all digits. Beyond
    the ends the ratios fall, so the probability there is below that of a geometric distribution.
    """
    mean = trials * one / (one + other)
    variance = trials.max() * one * other / (one + other) ** 2
    half = np.sqrt(2 * cut * variance) + cut if one else 0.0
    first = np.maximum(np.floor(mean - half), 0.0)
    last = np.minimum(np.ceil(mean + half), trials)
    points = first[:, None] + np.arange(int((last - first).max()) + 1)
    last = points[:, -1]

    odds = one / other
    with np.errstate(divide="ignore"):
        others = np.maximum(trials[:, None] - points[:, :-1], 0)
        steps = np.log(others / points[:, 1:] * odds)
    logs = np.concatenate([np.zeros((trials.size, 1)), np.cumsum(steps, axis=1)], axis=1)
    logs -= logs.max(axis=1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))

    rising = np.maximum(trials - last, 0) / (last + 1) * odds
    falling = first / (trials - first + 1) / odds if one else np.zeros(trials.size)
    under = np.exp(logs[:, 0]) * falling / (1 - falling)
    over = np.exp(logs[:, -1]) * rising / (1 - rising)
    return _Binomials(first, logs, under, over, under / (1 - falling), over / (1 - rising))


class _Tables(NamedTuple):
    """What does not depend on the central budget."""

    sums: _Binomials
    """Distribution of ``S``, one row."""
    both: Floats
    """The listed values of ``S``, shape ``(sums,)``."""
    start: Floats
    """For each ``S``, the value of ``S`` whose distribution of ``W`` serves its block."""
    row: Ints
    """For each ``S``, its block."""
    left: _Binomials
    """Distribution of ``W``, a row for each block."""
    shortfalls: Floats
    """``E[(w - W)_+]`` at the listed ``w`` and the next, a row for each block."""


@lru_cache(maxsize=4)
def _tables(tallies: Tallies, cut: float, above: bool) -> _Tables:
    """Return the tables for all budgets with this margin, since a search asks for many."""
    others = tallies.hidden + tallies.rest
    sums = _binomials(np.array([float(tallies.users)]), 2 * tallies.chance, others, cut)
    both = sums.first + np.arange(sums.logs.size)

    variance = tallies.users * tallies.hidden * tallies.rest / others**2
    length = min(2 * (np.sqrt(2 * cut * variance) + cut), tallies.users) + 2
    blocks = min(both.size, max(8, int(TABLED / length)))
    row = np.arange(both.size) * blocks // both.size
    edges = np.searchsorted(row, np.arange(blocks + 1))
    start = both[edges[:-1] if above else edges[1:] - 1]

    left = _binomials(tallies.users - start, tallies.rest, tallies.hidden, cut)
    return _Tables(sums, both, start[row], row, left, _shortfalls(left, above))


def _positive_parts(epsilon: float, tallies: Tallies, tables: _Tables, above: bool) -> Floats:
    """Return bounds on the mean of the positive part over ``c``, for each ``S``.

    Over ``c`` the positive part is ``(straight - unit B - lift W)_+``. Its kinks are rounded in the
    direction of the bound.
    """
    both = tables.both
    others = tallies.users - both
    growth = np.expm1(epsilon)
    slope = growth / np.expm1(tallies.local)
    unit = 2 + growth
    lift = slope * (1 - tallies.share)
    gain = both * (np.expm1(epsilon - tallies.local) / np.expm1(-tallies.local))
    loss = slope * tallies.share * others
    straight = gain - loss

    # The listed values of W, moved to the mean that belongs to this S.
    left_chance = tallies.rest / (tallies.hidden + tallies.rest)
    first = tables.left.first[tables.row] - left_chance * (both - tables.start)
    length = tables.left.logs.shape[1]

    # Up to the first B all kinks are above the likely W, from the second on all are below.
    kinks_above = np.floor((straight - lift * (first + length - 1)) / unit)
    kinks_above = np.minimum(kinks_above, both)
    kinks_below = np.floor((straight - lift * first) / unit) + 1
    kinks_below = np.minimum(kinks_below, both)

    mean = straight - lift * left_chance * others
    weight = both + tallies.share * others + (1 - tallies.share) * left_chance * others
    fall = slope * weight + growth * both / 2
    total = _below_all_kinks(kinks_above, both, mean, fall, above)

    second = np.maximum(kinks_above + 1, 0.0)
    chance = np.exp(_log_half(both, np.minimum(second, both)))
    for _ in range(int(np.max(kinks_below - second)) + 1):
        rounding = 1e-15 * (gain + loss + unit * second)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            level = straight - unit * second + (rounding if above else -rounding)
            place = level / lift - first
        shortfall = _interpolated(tables, np.nan_to_num(place))

        total += np.where(second <= kinks_below, chance * lift * shortfall, 0.0)
        chance = chance * (both - second) / (second + 1)
        second = second + 1
    return total


def _interpolated(tables: _Tables, place: Floats) -> Floats:
    """Return ``E[(w - W)_+]`` for each ``S``, at a place in the list of its ``w``."""
    inside = np.clip(place, 0.0, tables.left.logs.shape[1] - 1.0)
    below = inside.astype(int)
    low = tables.shortfalls[tables.row, below]
    high = tables.shortfalls[tables.row, below + 1]
    return low + (inside - below) * (high - low)


def _shortfalls(binomials: _Binomials, above: bool) -> Floats:
    """Return ``E[(w - W)_+]`` at the listed ``w`` and the next, a row for each binomial."""
    chances = np.exp(binomials.logs)
    if not above:
        chances = chances / (1 + binomials.under + binomials.over)[:, None]
    sums = np.cumsum(np.cumsum(chances, axis=1), axis=1)
    return np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)


def _below_all_kinks(most: Floats, both: Floats, mean: Floats, fall: Floats, above: bool) -> Floats:
    """Return the part of the mean with ``B <= most``, where the positive part is the mean itself.

    With ``Y`` of one trial less, ``E[B 1{B <= k}] = S/2 Pr(Y <= k-1)`` and ``Pr(B <= k) = Pr(Y <=
    k-1) + Pr(Y = k) / 2``.
    """
    inside = np.maximum(most, 0.0)
    at_most = np.exp(_log_half(both, inside))
    half = at_most * (both - inside) / np.maximum(both, 1.0)
    # Pr(Y <= k - 1)
    tail = special.betainc(np.maximum(both - inside, 0.5), np.maximum(inside, 0.5), 0.5)

    gained = half * mean
    lost = tail * np.where(inside > 0, fall, 0.0)
    rounding = (4e-13 + 4e-15 * np.sqrt(both)) * (np.abs(gained) + lost)
    value = np.maximum(gained - lost + (rounding if above else -rounding), 0.0)
    return np.where(most >= 0, value, 0.0)


def _log_half(trials: Floats, chosen: Floats) -> Floats:
    """Return the logarithm of the probability of a value of a binomial of probability 1/2.

    Loader's deviance is used, in which no large terms cancel.
    """
    others = trials - chosen
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = (trials - 2 * chosen) / np.maximum(trials, 1)
        deviance = trials / 2 * (special.xlog1py(1 + skew, skew) + special.xlog1py(1 - skew, -skew))
        width = np.log(2 * np.pi * chosen * others / trials) / 2

    inside = _stirling_error(trials) - _stirling_error(chosen) - _stirling_error(others) - width
    return np.where((chosen > 0) & (others > 0), inside, 0.0) - deviance


def _stirling_error(count: Floats) -> Floats:
    """Return ``ln n! - ln(sqrt(2 pi n) (n/e)^n)``."""
    small = np.maximum(count, 1)
    exact = special.gammaln(small + 1) - (small + 0.5) * np.log(small)
    exact = exact + small - np.log(2 * np.pi) / 2

    large = np.maximum(count, 16)
    inverse = 1 / large**2
    series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / large
    return np.where(count < 16, exact, series)
