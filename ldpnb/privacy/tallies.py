"""Directed bounds on ``delta`` of shuffled reports: what is cut off or rounded is added above and left out below.

Of ``n`` users ``A`` and ``B`` report the two values in question, ``L`` are hidden and ``W`` are left; the four tallies
are multinomial. With ``c = e^epsilon0 - 1`` and ``M = n - (1 - share) L``,
``delta(epsilon) = E[(c A - c e^epsilon B - (e^epsilon - 1) M)_+] / n``.

Given ``S = A + B``, ``B`` is binomial with chance 1/2 and ``W`` binomial among ``n - S``, independently; the positive
part is a convex function of ``W`` with a kink for every ``B``. So ``delta`` is a sum over ``S``, in full, of a closed
form (the kinks above all likely ``W``) and of ``E[(kink - W)_+]`` for the few kinks among the likely ``W``. These
shortfalls are tabulated at the whole numbers, between which they are straight. One table serves a block of neighbouring
``S``: of binomials with one chance, moved to one mean, that of most trials has the greatest mean of every convex
function, so the most trials of the block give an upper bound and the fewest a lower one.
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
"""Margins are rounded up to multiples of this, so that the laws listed for one budget serve those near it."""

TABLED = 200_000
"""How many excesses are tabulated, more blocks being taken where each table is short."""

ROUNDING = 1e-15
"""Relative error of one step of a recurrence, for each unit that the sum of all steps comes to."""

LEAST = 1e-300
"""Added to upper bounds for what underflows."""


class _Law(NamedTuple):
    """Binomial laws, a row each: their likely values, and bounds on what is beyond."""

    first: Floats
    """The first value listed, shape ``(rows,)``; the others follow in steps of 1."""
    logs: Floats
    """Logarithms of chances that add to 1 over the listed values, shape ``(rows, values)``."""
    under: Floats
    """Upper bounds on the mass below the first value."""
    over: Floats
    """Upper bounds on the mass above the last value."""
    shortfall: Floats
    """Upper bounds on ``E[(first - X)_+]``."""
    excess: Floats
    """Upper bounds on ``E[(X - last)_+]``."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """The law of the tallies of users who hold neither value in question, and what they count in ``M``.

    - `chance`, float: that a user reports the first value, and also that a user reports the second.
    - `hidden`, `rest`, float: chances of the two other classes; ``2 chance + hidden + rest = 1``.
    - `share`, float: how much a hidden user adds to ``M``; every other user adds 1.
    - `local`, float: budget ``epsilon0`` of a report.
    """

    users: int
    chance: float
    hidden: float
    rest: float
    share: float
    local: float


def delta(epsilon: float, tallies: Tallies, *, above: bool) -> float:
    """Return an upper (`above`) or a lower bound on ``delta`` at a central budget, in ``[0, 1]``."""
    if epsilon >= tallies.local:
        return 0.0
    margin = MARGIN - min(_log_chernoff(epsilon, tallies), 0.0)
    if margin > 700 + MARGIN:
        return LEAST if above else 0.0
    cut = STEP * math.ceil(margin / STEP)
    listed = _listed(tallies, cut, above)
    law, left, both = listed.sums, listed.left, listed.both
    scale = np.log(np.expm1(tallies.local)) - np.log(tallies.users)
    means = _advantages(epsilon, tallies, listed, above)
    rounding = 1e-12 + ROUNDING * cut * (left.logs.shape[1] + both.size)
    inside, under, over = (
        float(np.sum(np.exp(law.logs + scale) * means)),
        law.under.item(),
        law.over.item(),
    )
    if not above:
        return float(max(inside * (1 - rounding) / (1 + under + over), 0.0))
    # Beyond the listed sums the mean is at most that of c A / n, which is c S / (2 n).
    beyond = both[0] * under + both[-1] * over + law.excess.item()
    slack = (
        left.shortfall + left.excess + left.under * left.logs.shape[1]
    ).max()  # what tails of W add to a shortfall
    outside = (
        np.exp(scale) * beyond / 2 + np.expm1(epsilon) * (1 - tallies.share) * slack / tallies.users
    )
    return float(min((inside + outside) * (1 + rounding) + LEAST, 1.0))


def _log_chernoff(epsilon: float, tallies: Tallies) -> float:
    """Return the logarithm of a bound on ``delta``: ``x_+ <= e^(t x - 1) / t`` for every ``t > 0``, taken at many."""
    slope = np.expm1(epsilon) / np.expm1(tallies.local)
    gains = np.array([1 - slope, -np.exp(epsilon) - slope, -slope, -slope * tallies.share])
    chances = np.array([tallies.chance, tallies.chance, tallies.rest, tallies.hidden])
    tilts = np.geomspace(1e-12, 700.0, 400)
    means = tallies.users * np.log1p(np.expm1(tilts[:, None] * gains) @ chances)
    return float(
        np.log(np.expm1(tallies.local)) - np.log(tallies.users) - 1 + np.min(means - np.log(tilts))
    )


def _law(trials: Floats, one: float, other: float, cut: float) -> _Law:
    """Return binomials of chance ``one / (one + other) < 1``; at most ``2 e^-cut`` of each is left out (Bernstein).

    Logarithms of ratios of neighbouring chances are summed, which needs no factorials and keeps all digits; beyond the
    ends the ratios fall, and the mass is below that of a geometric law.
    """
    mean, variance = trials * one / (one + other), trials.max() * one * other / (one + other) ** 2
    half = np.sqrt(2 * cut * variance) + cut if one else 0.0
    first = np.maximum(np.floor(mean - half), 0.0)
    last = np.minimum(np.ceil(mean + half), trials)
    points = first[:, None] + np.arange(int((last - first).max()) + 1)
    last, size = points[:, -1], trials[:, None]
    odds = one / other
    with np.errstate(divide="ignore"):
        steps = np.log(np.maximum(size - points[:, :-1], 0) / points[:, 1:] * odds)
    logs = np.concatenate([np.zeros((trials.size, 1)), np.cumsum(steps, axis=1)], axis=1)
    logs -= logs.max(axis=1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    rising = np.maximum(trials - last, 0) / (last + 1) * odds
    falling = first / (trials - first + 1) / odds if one else np.zeros(trials.size)
    under, over = (
        np.exp(logs[:, 0]) * falling / (1 - falling),
        np.exp(logs[:, -1]) * rising / (1 - rising),
    )
    return _Law(first, logs, under, over, under / (1 - falling), over / (1 - rising))


class _Listed(NamedTuple):
    """What of the laws does not depend on the central budget."""

    sums: _Law
    """Of ``S``, one row."""
    both: Floats
    """The listed sums, shape ``(sums,)``."""
    start: Floats
    """For each sum, that of its block, whose law serves it."""
    row: Ints
    """For each sum, its block."""
    left: _Law
    """Of ``W``, a row for each block."""
    shortfalls: Floats
    """``E[(w - W)_+]`` at the listed ``w`` and the next, a row for each block."""


@lru_cache(maxsize=4)
def _listed(tallies: Tallies, cut: float, above: bool) -> _Listed:
    """Return the laws, for all budgets with that margin: whoever looks for a budget asks for many."""
    classes = tallies.hidden + tallies.rest
    sums = _law(np.array([float(tallies.users)]), 2 * tallies.chance, classes, cut)
    both = sums.first + np.arange(sums.logs.size)
    variance = tallies.users * tallies.hidden * tallies.rest / classes**2
    length = min(2 * (np.sqrt(2 * cut * variance) + cut), tallies.users) + 2
    blocks = min(both.size, max(8, int(TABLED / length)))
    row = np.arange(both.size) * blocks // both.size
    edges = np.searchsorted(row, np.arange(blocks + 1))
    start = both[edges[:-1] if above else edges[1:] - 1]  # the sum whose law serves a block
    left = _law(tallies.users - start, tallies.rest, tallies.hidden, cut)
    return _Listed(sums, both, start[row], row, left, _shortfalls(left, above))


def _advantages(epsilon: float, tallies: Tallies, listed: _Listed, above: bool) -> Floats:
    """Return bounds on the positive part over ``c`` given ``A + B``.

    Over ``c``, the positive part is ``(straight - unit B - lift W)_+``, its kinks rounded in the same direction.
    """
    both, row, law, table = listed.both, listed.row, listed.left, listed.shortfalls
    growth, others = np.expm1(epsilon), tallies.users - both
    slope, unit = growth / np.expm1(tallies.local), 2 + growth
    gain = both * (np.expm1(epsilon - tallies.local) / np.expm1(-tallies.local))
    loss = slope * tallies.share * others
    straight, lift = gain - loss, slope * (1 - tallies.share)
    left = tallies.rest / (tallies.hidden + tallies.rest)
    first = law.first[row] - left * (both - listed.start)
    length = law.logs.shape[1]
    sure = np.minimum(np.floor((straight - lift * (first + length - 1)) / unit), both)
    likely = np.minimum(np.floor((straight - lift * first) / unit) + 1, both)
    mean = slope * (both + tallies.share * others + (1 - tallies.share) * left * others)
    total = _below_all_kinks(
        sure, both, straight - lift * left * others, mean + growth * both / 2, above
    )
    second = np.maximum(sure + 1, 0.0)
    chance = np.exp(_log_half(both, np.minimum(second, both)))
    for _ in range(int(np.max(likely - second)) + 1):
        rounding = 1e-15 * (gain + loss + unit * second)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            place = (straight - unit * second + (rounding if above else -rounding)) / lift - first
        place = np.clip(np.nan_to_num(place), 0.0, length - 1.0)
        at = place.astype(int)
        value = table[row, at] + (place - at) * (table[row, at + 1] - table[row, at])
        total += np.where(second <= likely, chance * lift * value, 0.0)
        chance, second = chance * (both - second) / (second + 1), second + 1
    return total


def _shortfalls(law: _Law, above: bool) -> Floats:
    """Return ``E[(w - W)_+]`` at the listed ``w`` and the next, a row for each law."""
    mass = np.exp(law.logs) if above else np.exp(law.logs) / (1 + law.under + law.over)[:, None]
    sums = np.cumsum(np.cumsum(mass, axis=1), axis=1)
    return np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)


def _below_all_kinks(most: Floats, both: Floats, mean: Floats, fall: Floats, above: bool) -> Floats:
    """Return the part of the mean where ``B <= most``: there the positive part is the mean itself.

    With ``Y`` of one trial less, ``E[B 1{B <= k}] = S/2 Pr(Y <= k-1)`` and ``Pr(B <= k) = Pr(Y <= k-1) + Pr(Y = k)
    / 2``.
    """
    inside = np.maximum(most, 0.0)
    at = np.exp(_log_half(both, inside))
    half = at * (both - inside) / np.maximum(both, 1.0)
    tail = special.betainc(
        np.maximum(both - inside, 0.5), np.maximum(inside, 0.5), 0.5
    )  # Pr(Y <= k - 1)
    one, other = half * mean, tail * np.where(inside > 0, fall, 0.0)
    rounding = (4e-13 + 4e-15 * np.sqrt(both)) * (np.abs(one) + other)
    value = np.maximum(one - other + (rounding if above else -rounding), 0.0)
    return np.where(most >= 0, value, 0.0)


def _log_half(trials: Floats, chosen: Floats) -> Floats:
    """Return the logarithm of the chance of a binomial of chance 1/2, by Loader's deviance: no large terms cancel."""
    others = trials - chosen
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = (trials - 2 * chosen) / np.maximum(trials, 1)
        deviance = trials / 2 * (special.xlog1py(1 + skew, skew) + special.xlog1py(1 - skew, -skew))
        width = np.log(2 * np.pi * chosen * others / trials) / 2
    inside = _stirling_error(trials) - _stirling_error(chosen) - _stirling_error(others) - width
    return np.where((chosen > 0) & (others > 0), inside, 0.0) - deviance


def _stirling_error(count: Floats) -> Floats:
    """Return ``ln n! - ln(sqrt(2 pi n) (n/e)^n)``."""
    small, large = np.maximum(count, 1), np.maximum(count, 16)
    exact = (
        special.gammaln(small + 1) - (small + 0.5) * np.log(small) + small - np.log(2 * np.pi) / 2
    )
    inverse = 1 / large**2
    series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / large
    return np.where(count < 16, exact, series)
