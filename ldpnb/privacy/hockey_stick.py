"""Exact hockey-stick divergence ``delta(epsilon) = sup_S P(S) - e^epsilon Q(S)`` of discrete and Laplace laws.

A mechanism is (epsilon, delta)-private for two inputs if and only if this is at most delta both ways; at ``epsilon =
0`` it is the total variation distance. Use it where the loss in `ldpnb.privacy.channel` is infinite, and to see that a
finite loss is tight.
"""

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.privacy.channel import as_channel

Law = tuple[float, float]
"""Location and scale of a Laplace density."""

_EXACT = Context(prec=50)
"""Near the largest loss the logarithms of two densities agree to many digits, and their difference is all there is."""

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_NODES = (_POINTS + 1) / 2, _WEIGHTS / 2
"""Exact to the last digit for exponentials that vary by a factor of at most 5."""


def channel_delta(channel: ArrayLike, epsilon: float) -> float:
    """Return the largest delta of any two inputs of a channel ``Q[output, input]``, in either direction.

    >>> [channel_delta([[0.75, 0.25], [0.25, 0.75]], epsilon) for epsilon in (0.0, np.log(3))]
    [0.5, 0.0]
    """
    matrix = as_channel(channel)
    factor = np.exp(checks.non_negative(epsilon, "epsilon"))
    deltas = (np.maximum(law[:, None] - factor * matrix, 0).sum(axis=0).max() for law in matrix.T)
    return min(1.0, float(max(deltas)))


def law_delta(first: ArrayLike, second: ArrayLike, epsilon: float) -> float:
    """Return the delta between two laws of a reported group with a Laplace value, as given by `LaplaceMeans.law`.

    - `first`, `second`, (groups, 3) float: for each reported group its probability, and the value's location, within
      1e150 of 0, and scale, from 1e-150 to 1e150.
    - `epsilon`, float: nats, ``>= 0``.

    >>> round(law_delta([(1.0, 1.0, 1.0)], [(1.0, 0.0, 1.0)], 0.0), 12)  # 1 - e^(-1/2)
    0.393469340287
    """
    here, budget = _law(first=first), checks.non_negative(epsilon, "epsilon")
    there = checks.entries(_law(second=second), "second", len(here))
    return min(
        1.0,
        sum(_group_delta(p, q, budget) for p, q in zip(here.tolist(), there.tolist(), strict=True)),
    )


def laplace_means_delta(mechanism: LaplaceMeans, epsilon: float) -> float:
    """Return the exact delta of ``M_L`` at a given epsilon, over all groups and all values in ``[-1, 1]``.

    The overlap ``int min(p, e^epsilon q)`` of two symmetric unimodal densities shrinks as their locations part (level
    sets are intervals), so the worst inputs are extreme: ``(g, 1)`` against ``(g, -1)``, or ``(g, 1)`` against ``(h,
    1)``, whose signs do not matter.
    """
    budget, kept = Decimal(checks.non_negative(epsilon, "epsilon")), mechanism.kept_scale
    own, other = (1.0, kept), (0.0, mechanism.moved_scale)
    value = _delta(mechanism.keep, own, (-1.0, kept), budget)
    # the ratio of the chances of the two groups is known to every digit
    ratio = Decimal(mechanism.group_epsilon)
    left = _delta(mechanism.keep, own, other, budget - ratio)
    group = left + _delta(mechanism.move, other, own, budget + ratio)
    return min(1.0, max(value, group))


def total_variation(mechanism: LaplaceMeans) -> float:
    """Return the largest total variation distance between the reports of two users of ``M_L``: its delta at 0."""
    return laplace_means_delta(mechanism, 0.0)


def epsilon_at_delta(delta_at: Callable[[float], float], delta: float) -> float:
    """Return the smallest epsilon whose exact delta is at most `delta`, by bisection to relative 1e-12.

    It is infinite beyond 700 nats.

    - `delta_at`, callable: non-increasing function of epsilon, such as ``partial(laplace_means_delta, mechanism)``.
    - `delta`, float: allowed delta, in ``(0, 1)``.
    """
    allowed = checks.open_probability(delta, "delta")
    low, high = 0.0, 700.0
    if delta_at(low) <= allowed:
        return low
    if delta_at(high) > allowed:
        return float("inf")
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at(middle) > allowed else (low, middle)
    return high


def _law(**named: ArrayLike) -> Floats:
    """Return a checked law, ``(groups, 3)``."""
    ((name, given),) = named.items()
    law: Any = np.asarray(given, dtype=float)
    if law.ndim != 2 or law.shape[1] != 3:
        raise ValueError(
            f"{name} must have a probability, location and scale per group, got shape {law.shape}"
        )
    checks.numbers(law[:, 0], f"probability of {name}", low=0, high=1)
    checks.numbers(law[:, 1], f"location of {name}", low=-1e150, high=1e150)
    checks.numbers(law[:, 2], f"scale of {name}", low=1e-150, high=1e150)
    return law


def _group_delta(first: list[float], second: list[float], epsilon: float) -> float:
    """Return ``int (p - e^epsilon q)_+`` for the weighted Laplace densities of one reported group."""
    (weight, place, scale), (other_weight, other_place, other_scale) = first, second
    if other_weight == 0:
        return weight
    if weight == 0 or first == second:
        return 0.0
    with localcontext(_EXACT):
        exponent = Decimal(epsilon) - _log_ratio(weight, other_weight)
    return _delta(weight, (place, scale), (other_place, other_scale), exponent)


def _log_ratio(one: float | Decimal, other: float | Decimal) -> Decimal:
    return (Decimal(one) / Decimal(other)).ln()


def _delta(weight: float, first: Law, second: Law, exponent: Decimal) -> float:
    """Return ``weight int (f - e^exponent g)_+`` of two Laplace densities.

    Between the two locations, and on either side of them, ``ln f - ln g`` is linear, so the integrand changes its sign
    at most once in each of the three pieces. These are integrated in closed form without a difference of masses, so
    that a delta of 1e-25 keeps its digits. A piece adds nothing if ``ln f - ln g`` passes the exponent by no more than
    the rounding of parameters can.
    """
    rounding = 1e-13 * (1 + abs(float(exponent)))
    advantage, total = _advantages(first, second, exponent), 0.0
    for low, high in pairwise([-np.inf, *advantage, np.inf]):
        near, far = (low, high) if low >= first[0] else (high, low)
        way, slope = math.copysign(1.0, far - near), _slope(first, second, near, far)
        start, length = advantage[near], abs(far - near)
        end = advantage.get(far, math.copysign(np.inf, slope) if slope else start)
        if max(start, end) <= rounding:
            continue
        # between the ends lie the zeros of the advantage
        if start < 0:
            length = end / slope if far in advantage else np.inf
            start, near = 0.0, near - way * start / slope
        elif end < 0:
            length = -start / slope
        total += weight * _gain(first, second, start, slope, near, length)
    return min(max(total, 0.0), 1.0)


def _advantages(first: Law, second: Law, exponent: Decimal) -> dict[float, float]:
    """Return ``ln f - ln g - exponent`` at the two locations, in order and to every digit."""
    with localcontext(_EXACT):
        (m, s), (n, r) = (map(Decimal, law) for law in (first, second))
        level = _log_ratio(r, s) - exponent
        at_first, at_second = level + abs(m - n) / r, level - abs(m - n) / s
    return dict(sorted({first[0]: float(at_first), second[0]: float(at_second)}.items()))


def _slope(first: Law, second: Law, near: float, far: float) -> float:
    """Return the slope of the advantage with the distance from `near` towards `far`."""
    ways = (math.copysign(1.0, far - near) * (near - place) for place in (first[0], second[0]))
    own, other = (1.0 if way >= 0 else -1.0 for way in ways)
    s, r = first[1], second[1]
    return own * ((s - r) / s / r) if own == other else other / r - own / s


def _gain(first: Law, second: Law, start: float, slope: float, near: float, length: float) -> float:
    """Return ``int f (1 - e^-advantage)`` over an interval with neither location inside and an advantage >= 0.

    Away from its location ``f`` falls at the rate ``1 / s``, and the advantage is linear: it starts at ``a`` and rises
    by ``d``. The integral is ``f(near) L ((1 - e^-a) E(z) + e^-a (E(z) - E(z + d)))`` with ``E(z) = (1 - e^-z) / z``
    and ``z = L / s`` for an interval of length ``L``.
    """
    (m, s), r = first, second[1]
    density = 0.5 * math.exp(-abs(near - m) / s)  # times s
    if np.isinf(length):
        return density * (-math.expm1(-start) + math.exp(-start) * (s - r) / s)
    lengths, change = length / s, length * slope
    fall = -math.expm1(-start) * _mean_exponential(lengths)
    return density * lengths * (fall + _difference(lengths, change, start))


def _mean_exponential(z: float) -> float:
    """Return ``int_0^1 e^(-z v) dv`` for ``z >= 0``."""
    return float(-np.expm1(-z) / z) if z else 1.0


def _difference(z: float, d: float, a: float) -> float:
    """Return ``e^-a int_0^1 e^(-z v) (1 - e^(-d v)) dv`` for ``z, a, a + d >= 0``."""
    last = z + d
    if abs(d) > 0.5:
        return float(
            np.exp(-a) * _mean_exponential(z)
            - np.exp(max(-last, 0.0) - a) * _mean_exponential(abs(last))
        )
    if z > 1:
        return float(np.exp(-a) * (-d * np.expm1(-z) + z * np.exp(-z) * np.expm1(-d)) / (z * last))
    nodes, weights = _NODES
    return float(-np.exp(-a) * (weights @ (np.exp(-z * nodes) * np.expm1(-d * nodes))))
