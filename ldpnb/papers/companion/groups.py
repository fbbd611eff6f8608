"""What decides gaps between groups: second routes, and a check for each claim of ``groups.toml``.

``t = e^epsilon``, ``nu`` and ``nu2`` second moments.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from ldpnb.accuracy import dropouts, gaps
from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, UnsoundError
from ldpnb.deciders import budget, identity, symbols
from ldpnb.mechanisms import best_gap, moves
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.papers.juarez2022 import routes
from ldpnb.privacy import channel
from ldpnb.sections import Numbers, Pairs, second_route

t, share = symbols("t share")
eps = budget(t)
MECHANISM, SIZES, DROPPED = DiscretisedMeans(1.0, 1.0), (7_000, 9_000), (0.3, 0.1)
VALUES, HOLDING = np.array([-1.0, 0.6, 1.0]), np.array([[0.04, 0.3, 0.66]] * 2)
MEANS, MOMENTS = tuple(HOLDING @ VALUES), tuple(HOLDING @ VALUES**2)
SHARES, BUDGETS = (0.5, 0.25, 0.1, 0.05, 0.01, 0.001), (0.1, 0.5, 1.0, 2.0, 3.0, 6.0)


@second_route(dropouts.dropout_error, gaps.mean_variance, gaps.GroupGap.variance)
def _known_sizes() -> Pairs:
    counts, shares = np.rint(np.array(SIZES)[:, None] * HOLDING).astype(int), 1 - np.array(DROPPED)
    estimated = np.array([routes.mean_moments(MECHANISM, counts, VALUES, group) for group in (0, 1)])
    known = [gaps.mean_variance(MECHANISM, n, sum(SIZES), m) for n, m in zip(SIZES, MOMENTS, strict=True)]
    yield known, estimated[:, 1]
    yield gaps.GroupGap(MECHANISM, SIZES).variance(MOMENTS), routes.gap_moments(MECHANISM, counts, VALUES)[1]
    bias = (shares * estimated[:, 0]) @ (1, -1) - (MEANS[0] - MEANS[1])
    error = dropouts.dropout_error(MECHANISM, SIZES, DROPPED, MEANS, MOMENTS)
    yield error, bias**2 + shares**2 @ estimated[:, 1]


def best(share: float, epsilon: float) -> best_gap.BestGapChannel:
    return best_gap.BestGapChannel(epsilon, share)


@second_route(
    best_gap.BestGapChannel.channel,
    best_gap.BestGapChannel.variance,
    best_gap.BestGapChannel.target,
)
def _channels() -> Pairs:
    for a_share, epsilon in product(SHARES, BUDGETS):
        least = best(a_share, epsilon)
        matrix, inputs = least.channel(), np.repeat([a_share, 1 - a_share], 2) / 2
        yield matrix.sum(axis=0), np.ones(4)
        yield channel.privacy_loss(matrix).epsilon, epsilon
        sent = matrix[matrix.max(axis=1) > 0]
        yield np.log(sent.max(axis=1) / sent.min(axis=1)).max(), epsilon
        yield least.scores @ matrix / least.target, np.ones(4)
        yield least.scores**2 @ matrix @ inputs, least.variance


size, other, rest, mean, mean2, nu, nu2 = symbols("size other rest mean mean2 nu nu2")
d = symbols("d")[0]


def linearised_gap() -> bool:
    """Decide that the gap's linear part has the shipped variance, user by user, for any number of groups.

    A report of group ``g`` and sign ``s`` counts ``s - c_g``, ``c_g = gain m_g/(a - a')``, every user ``a' c_g``, over
    ``gain n_g``; the constants leave a variance alone.
    """
    signs = DiscretisedMeans(budget(t), budget(1 + share), d)
    centres = [signs.gain * m / (signs.keep - signs.move) for m in (mean, mean2)]
    units = [signs.gain * size, -signs.gain * other]

    def added(chances: list[list[Real]]) -> Real:
        """Return the variance that a user adds who reports (group, minus) and (group, plus) with these chances."""
        weights = [[(s - c) / unit for s in (-1, 1)] for c, unit in zip(centres, units, strict=True)]
        terms = [(p, w) for pair, both in zip(chances, weights, strict=True) for p, w in zip(pair, both, strict=True)]
        first = sum(p * w for p, w in terms)
        return sum(p * w * w for p, w in terms) - first * first

    def kept(value: Real) -> list[Real]:
        return [signs.keep * chance for chance in moves.sign_probabilities(value, signs.value_epsilon)]

    moved = [signs.move / 2, signs.move / 2]
    total = _over_group(lambda v: added([kept(v), moved]), size, mean, nu)
    total += _over_group(lambda v: added([moved, kept(v)]), other, mean2, nu2)
    sizes = (size, other, rest)
    shipped = dropouts.estimated_sizes_variance(signs, sizes, (mean, mean2), (nu, nu2))
    return identity(total + rest * added([moved, moved]), shipped)


def _over_group(one: Callable[[Real], Real], members: Real, average: Real, square: Real) -> Real:
    """Return the sum over a group of what is a square polynomial in the value.

    Raises
    ------
    UnsoundError
        If it is none.
    """
    low, level, high = map(one, (-1, 0, 1))
    line, curve, value = (high - low) / 2, (high + low) / 2 - level, symbols("value")[0]
    if not identity(one(value), level + line * value + curve * value * value):
        raise UnsoundError("what a user adds is no square polynomial in the value")
    return members * (level + line * average + curve * square)


def two_equal_groups() -> bool:
    """Decide the price for two equal groups, ``2 (1-a)^2 (m + m')^2 / ((2a-1)^2 n)``."""
    signs = DiscretisedMeans(budget(t), budget(1 + share), 2)
    a = signs.keep
    both = dropouts.estimated_sizes_variance(signs, (size, size), (mean, mean2), (nu, nu2))
    known = sum(gaps.variance_discretised_mean(signs, size, 2 * size, square) for square in (nu, nu2))
    price = 2 * (1 - a) * (1 - a) * (mean + mean2) * (mean + mean2)
    return identity(both - known, price / ((2 * a - 1) * (2 * a - 1) * size))


def one_sign_for_equal_groups() -> bool | None:
    """Decide that no channel beats the sign's ``4/tanh^2(eps/2)`` for equal groups: the dual bound at ``y = T``.

    With ``high`` and ``low`` the chances of an output summed over inputs that raise and lower the gap, prices of ``4
    ((t-1)/(t+1))^2`` per input cover ``(high - low)^2 / ((high + low)/4)``, since ``high/low`` lies in ``[1/t, t]``.
    """
    high, low = symbols("high low")
    price = 4 * ((t - 1) / (t + 1)) * ((t - 1) / (t + 1))
    slack = (price * (high + low) - 4 * (high - low) * (high - low) / (high + low)) * (high + low) * (t + 1) * (t + 1)
    covered = identity(slack, 16 * (t * low - high) * (t * high - low))
    sign = gaps.GroupGap(SignedBit(eps, (1, 1)), (1, 1)).worst_variance() * 2
    return covered and identity(sign, 64 / (4 * price))


def dropouts_with_estimated_group_sizes(e: Evidence) -> Numbers:
    e.proven(linearised_gap() and two_equal_groups())
    repaired = dropouts.estimated_sizes_variance(MECHANISM, SIZES, MEANS, MOMENTS)
    error = dropouts.dropout_error(MECHANISM, SIZES, DROPPED, MEANS, MOMENTS)
    known = gaps.GroupGap(MECHANISM, SIZES).variance(MOMENTS)
    e.needs(known < repaired < error)
    roots = {"dropped": np.sqrt(error), "estimated": np.sqrt(repaired), "known": np.sqrt(known)}
    return {"first": MEANS[0]} | roots


def ratio(mechanism: Any, a_share: float, epsilon: float) -> float:
    """Return the variance of another mechanism over the least one, values 0 being the worst for both."""
    sizes = (round(1000 * a_share), 1000 - round(1000 * a_share))
    return float(1000 * gaps.GroupGap(mechanism(sizes), sizes).worst_variance() / best(a_share, epsilon).variance)


def the_best_channel_for_a_gap(e: Evidence) -> Numbers:
    e.proven(one_sign_for_equal_groups())
    cells = list(product(SHARES, BUDGETS))
    e.sure(max(abs(best(*cell).variance / best(*cell).bound - 1) for cell in cells) < 1e-6)
    sign = {(s, b): ratio(lambda sizes, b=b: SignedBit(b, sizes), s, b) for s, b in cells}
    moved = {(s, b): ratio(lambda _, b=b: DiscretisedMeans.calibrated(b), s, b) for s, b in cells}
    e.needs(all(min(sign[s, b], moved[s, b]) > 1 + 1e-6 for s, b in cells if s < 0.5 and b <= 2))
    e.needs(all(abs(moved[s, b] - 1) < 1e-6 for s, b in product((0.1, 0.25), (3.0, 6.0))))
    shown = {"sign": sign[0.25, 1.0], "moved": moved[0.25, 1.0]}
    return shown | {"rare_sign": sign[0.01, 1.0], "rare_moved": moved[0.01, 1.0], "channels": len(cells)}
