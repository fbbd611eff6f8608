"""Exact hockey-stick divergence ``delta(epsilon) = sup_S P(S) - e^epsilon Q(S)``.

Outputs are finite (`channel_delta`), or a group with a Laplace value (`law_delta`). A mechanism is
(epsilon, delta)-private for two inputs if and only if the divergence is at most delta in both
directions. At ``epsilon = 0`` it is the total variation distance. Use it if the loss in
`ldpnb.privacy.channel` is infinite, and to see that a finite loss is tight.
"""

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.privacy.channel import as_channel


class _Laplace(NamedTuple):
    """A Laplace density."""

    location: float
    scale: float


_MANY_DIGITS = Context(prec=50)
"""Near the largest loss the logarithms of two densities agree in many digits."""

_LARGEST_BUDGET = 700.0
"""Largest budget that is searched, in nats; a little above it ``e^epsilon`` overflows."""

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_NODES = (_POINTS + 1) / 2
_NODE_WEIGHTS = _WEIGHTS / 2
"""A quadrature on ``[0, 1]``, exact for exponentials that vary by a factor of at most 5."""


def channel_delta(channel: ArrayLike, epsilon: float) -> float:
    """Return the smallest delta for which a finite channel is (epsilon, delta)-private.

    Parameters
    ----------
    channel : array_like, shape (outputs, inputs)
        ``Q[y, x]``, the probability of output ``y`` given input ``x``. Each column sums to 1.
    epsilon : float
        Privacy budget in nats, ``>= 0``.

    Returns
    -------
    float
        The largest delta of any two inputs, in either direction.

    Raises
    ------
    ValueError
        If a column is not a probability vector, or epsilon is negative.

    Examples
    --------
    A report is true with probability 3/4. At epsilon = ln 2, delta is 3/4 - 2 * 1/4; at ln 3 it is
    0.

    >>> channel = [[0.75, 0.25], [0.25, 0.75]]
    >>> round(channel_delta(channel, np.log(2)), 12), round(channel_delta(channel, np.log(3)), 12)
    (0.25, 0.0)
    """
    matrix = as_channel(channel)
    budget = checks.non_negative(epsilon, "epsilon")

    # What an input rules out stays ruled out, even if the factor is infinite.
    with np.errstate(over="ignore"):
        factor = np.exp(budget)
    allowed = np.multiply(factor, matrix, out=np.zeros_like(matrix), where=matrix > 0)

    largest = 0.0
    for column in matrix.T:
        excess = np.maximum(column[:, None] - allowed, 0).sum(axis=0)
        largest = max(largest, float(excess.max()))
    return min(1.0, largest)


def law_delta(first: ArrayLike, second: ArrayLike, epsilon: float) -> float:
    """Return the delta between two distributions of a group with a Laplace value.

    Parameters
    ----------
    first, second : array_like, shape (groups, 3)
        For each reported group its probability, and the location and scale of the value's Laplace
        density, as `LaplaceMeans.law` gives them. Locations are within 1e150 of 0, scales from
        1e-150 to 1e150.
    epsilon : float
        Privacy budget in nats, ``>= 0``.

    Returns
    -------
    float
        The delta in one direction: ``sup_S P(S) - e^epsilon Q(S)`` for ``P`` the first
        distribution.

    Examples
    --------
    Two Laplace densities of scale 1, at a distance of 1, have the total variation 1 - e^(-1/2).

    >>> round(law_delta([(1.0, 1.0, 1.0)], [(1.0, 0.0, 1.0)], 0.0), 12)
    0.393469340287
    """
    here = _checked(first, "first")
    budget = checks.non_negative(epsilon, "epsilon")
    there = checks.entries(_checked(second, "second"), "second", len(here))

    pairs = zip(here.tolist(), there.tolist(), strict=True)
    return min(1.0, sum(_group_delta(p, q, budget) for p, q in pairs))


def laplace_means_delta(mechanism: LaplaceMeans, epsilon: float) -> float:
    """Return the smallest delta for which ``M_L`` is (epsilon, delta)-private.

    The worst inputs are extreme, ``(g, 1)`` against ``(g, -1)`` or ``(g, 1)`` against ``(h, 1)``,
    whose signs do not matter. For the overlap ``int min(p, e^epsilon q)`` of two symmetric unimodal
    densities shrinks as their locations part, because level sets are intervals.

    Parameters
    ----------
    mechanism : LaplaceMeans
        The mechanism ``M_L``.
    epsilon : float
        Privacy budget in nats, ``>= 0``.

    Returns
    -------
    float
        Exact delta, over all groups and all values in ``[-1, 1]``.
    """
    budget = Decimal(checks.non_negative(epsilon, "epsilon"))
    kept = _Laplace(1.0, mechanism.kept_scale)
    kept_at_the_other_end = _Laplace(-1.0, mechanism.kept_scale)
    moved = _Laplace(0.0, mechanism.moved_scale)
    by_value = _delta(mechanism.keep, kept, kept_at_the_other_end, budget)

    # The logarithm of keep / move is the group's budget, to every digit.
    ratio = Decimal(mechanism.group_epsilon)
    by_group = _delta(mechanism.keep, kept, moved, budget - ratio)
    by_group += _delta(mechanism.move, moved, kept, budget + ratio)
    return min(1.0, max(by_value, by_group))


def total_variation(mechanism: LaplaceMeans) -> float:
    """Return the largest total variation distance between the reports of two users of ``M_L``.

    It is `laplace_means_delta` at epsilon 0. Of two users who differ in group and value, one sends
    a report. Whoever sees it can guess which of them did with a probability of at most
    ``(1 + distance) / 2``.

    Parameters
    ----------
    mechanism : LaplaceMeans
        The mechanism ``M_L``.

    Returns
    -------
    float
        Distance in ``[0, 1]``.

    Examples
    --------
    Almost without a budget for the group, users with the value 1 in two groups report one group
    with the density at 1 and the other with the density at 0, or the reverse. These densities have
    the scale 2, so their total variation is 1 - e^(-1/4).

    >>> mechanism = LaplaceMeans(group_epsilon=1e-12, value_epsilon=1.0)
    >>> round(float(total_variation(mechanism)), 9), round(1 - math.exp(-1 / 4), 9)
    (0.221199217, 0.221199217)
    """
    return laplace_means_delta(mechanism, 0.0)


def epsilon_at_delta(delta_at: Callable[[float], float], delta: float) -> float:
    """Return the smallest epsilon whose exact delta is small enough, to a relative 1e-12.

    Parameters
    ----------
    delta_at : callable
        Gives delta for an epsilon in nats, and does not increase; for example
        ``partial(laplace_means_delta, mechanism)``.
    delta : float
        Largest delta that is allowed, in ``(0, 1)``.

    Returns
    -------
    float
        Epsilon in nats, found by bisection; infinite if it is above 700.

    Raises
    ------
    ValueError
        If `delta` is outside its range.

    Examples
    --------
    A report that is true with probability 3/4 has the delta 3/4 - e^epsilon / 4, which is 1/4 at ln
    2.

    >>> channel = [[0.75, 0.25], [0.25, 0.75]]
    >>> epsilon = epsilon_at_delta(lambda epsilon: channel_delta(channel, epsilon), delta=0.25)
    >>> round(float(np.exp(epsilon)), 9)
    2.0
    """
    allowed = checks.open_probability(delta, "delta")
    low = 0.0
    high = _LARGEST_BUDGET
    if delta_at(low) <= allowed:
        return low
    if delta_at(high) > allowed:
        return float("inf")

    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if delta_at(middle) > allowed:
            low = middle
        else:
            high = middle
    return high


def _checked(given: ArrayLike, name: str) -> Floats:
    """Return a checked distribution of a group with a Laplace value, shape ``(groups, 3)``."""
    array: Any = np.asarray(given, dtype=float)
    if array.ndim != 2 or array.shape[1] != 3:
        rule = "a probability, location and scale per group"
        raise ValueError(f"{name} must have {rule}, got shape {array.shape}")

    checks.numbers(array[:, 0], f"probability of {name}", low=0, high=1)
    checks.numbers(array[:, 1], f"location of {name}", low=-1e150, high=1e150)
    checks.numbers(array[:, 2], f"scale of {name}", low=1e-150, high=1e150)
    return array


def _group_delta(first: list[float], second: list[float], epsilon: float) -> float:
    """Return ``int (p - e^epsilon q)_+`` for the weighted densities of one reported group."""
    weight, *parameters = first
    other_weight, *other_parameters = second
    if other_weight == 0:
        return weight
    if weight == 0 or first == second:
        return 0.0

    with localcontext(_MANY_DIGITS):
        exponent = Decimal(epsilon) - _log_ratio(weight, other_weight)
    return _delta(weight, _Laplace(*parameters), _Laplace(*other_parameters), exponent)


def _log_ratio(one: float | Decimal, other: float | Decimal) -> Decimal:
    return (Decimal(one) / Decimal(other)).ln()


def _delta(weight: float, first: _Laplace, second: _Laplace, exponent: Decimal) -> float:
    """Return ``weight int (f - e^exponent g)_+`` of two Laplace densities.

    The advantage ``ln f - ln g - exponent`` is linear between the two locations, and on either side
    of them. So the integrand changes its sign at most once in each of the three pieces. These are
    integrated in closed form without a difference of masses, so that a delta of 1e-25 keeps its
    digits. A piece adds nothing if its advantage is no larger than the rounding of parameters can
    make it.
    """
    rounding = 1e-13 * (1 + abs(float(exponent)))
    advantage_at = _advantages(first, second, exponent)

    total = 0.0
    for low, high in pairwise([-np.inf, *advantage_at, np.inf]):
        near, far = (low, high) if low >= first.location else (high, low)
        direction = math.copysign(1.0, far - near)
        slope = _slope(first, second, near, far)
        start = advantage_at[near]
        length = abs(far - near)
        end = advantage_at.get(far, math.copysign(np.inf, slope) if slope else start)
        if max(start, end) <= rounding:
            continue

        # If the advantage changes its sign, only the part where it is positive counts.
        if start < 0:
            length = end / slope if far in advantage_at else np.inf
            near = near - direction * start / slope
            start = 0.0
        elif end < 0:
            length = -start / slope
        total += weight * _gain(first, second, start, slope, near, length)
    return min(max(total, 0.0), 1.0)


def _advantages(first: _Laplace, second: _Laplace, exponent: Decimal) -> dict[float, float]:
    """Return ``ln f - ln g - exponent`` at the two locations, in order and to every digit."""
    with localcontext(_MANY_DIGITS):
        scale = Decimal(first.scale)
        other_scale = Decimal(second.scale)
        distance = abs(Decimal(first.location) - Decimal(second.location))

        level = _log_ratio(other_scale, scale) - exponent
        at_first = level + distance / other_scale
        at_second = level - distance / scale

    advantages = {first.location: float(at_first), second.location: float(at_second)}
    return dict(sorted(advantages.items()))


def _slope(first: _Laplace, second: _Laplace, near: float, far: float) -> float:
    """Return the slope of the advantage with the distance from `near` towards `far`."""
    direction = math.copysign(1.0, far - near)
    away_from_first = 1.0 if direction * (near - first.location) >= 0 else -1.0
    away_from_second = 1.0 if direction * (near - second.location) >= 0 else -1.0

    s = first.scale
    r = second.scale
    if away_from_first == away_from_second:
        return away_from_first * ((s - r) / s / r)
    return away_from_second / r - away_from_first / s


def _gain(
    first: _Laplace, second: _Laplace, start: float, slope: float, near: float, length: float
) -> float:
    """Return ``int f (1 - e^-advantage)`` over an interval on one side of both locations.

    The interval begins at `near` and leads away from the location of ``f``, which falls at the rate
    ``1 / s``. The advantage is linear and not negative: it starts at ``a`` and rises by ``d``. For
    an interval of length ``L`` the integral is ``f(near) L ((1 - e^-a) E(z) + e^-a (E(z) - E(z +
    d)))`` with ``z = L / s`` and ``E(z) = (1 - e^-z) / z``.
    """
    s = first.scale
    r = second.scale
    density_times_s = 0.5 * math.exp(-abs(near - first.location) / s)
    if np.isinf(length):
        return density_times_s * (-math.expm1(-start) + math.exp(-start) * (s - r) / s)

    lengths = length / s
    rise = length * slope
    fall = -math.expm1(-start) * _mean_exponential(lengths)
    return density_times_s * lengths * (fall + _difference(lengths, rise, start))


def _mean_exponential(z: float) -> float:
    """Return ``int_0^1 e^(-z v) dv`` for ``z >= 0``."""
    return float(-np.expm1(-z) / z) if z else 1.0


def _difference(z: float, d: float, a: float) -> float:
    """Return ``e^-a int_0^1 e^(-z v) (1 - e^(-d v)) dv`` for ``z, a, a + d >= 0``."""
    last = z + d
    if abs(d) > 0.5:
        shifted = np.exp(max(-last, 0.0) - a) * _mean_exponential(abs(last))
        return float(np.exp(-a) * _mean_exponential(z) - shifted)
    if z > 1:
        return float(np.exp(-a) * (-d * np.expm1(-z) + z * np.exp(-z) * np.expm1(-d)) / (z * last))
    heights = np.exp(-z * _NODES) * np.expm1(-d * _NODES)
    return float(-np.exp(-a) * (_NODE_WEIGHTS @ heights))
