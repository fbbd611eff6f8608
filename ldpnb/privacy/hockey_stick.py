"""Exact hockey-stick divergence ``delta(epsilon) = sup_S P(S) - e^epsilon Q(S)`` of discrete and Laplace laws.

A mechanism is (epsilon, delta)-private for two inputs if and only if this is at most delta both ways; at ``epsilon =
0`` it is the total variation distance. Use it where `ldpnb.privacy.channel` finds the loss infinite, and to see that a
finite loss is tight.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.privacy.channel import as_channel


def discrete_delta(first: ArrayLike, second: ArrayLike, epsilon: float) -> float:
    """Return ``sum (p - e^epsilon q)_+`` for two probability vectors.

    They are the laws of a report under two inputs; epsilon, in nats, may be 0.

    >>> discrete_delta([0.75, 0.25], [0.25, 0.75], 0.0), discrete_delta([0.75, 0.25], [0.25, 0.75], np.log(3))
    (0.5, 0.0)
    """
    p, q = checks.distribution(first=first), checks.distribution(second=second)
    factor = np.exp(checks.non_negative(epsilon=epsilon))
    return min(1.0, float(np.maximum(p - factor * q, 0).sum()))


def channel_delta(channel: ArrayLike, epsilon: float) -> float:
    """Return the largest `discrete_delta` over all ordered pairs of inputs of a channel ``Q[output, input]``."""
    matrix = as_channel(channel)
    factor = np.exp(checks.non_negative(epsilon=epsilon))
    return min(1.0, float(np.maximum(matrix[:, :, None] - factor * matrix[:, None, :], 0).sum(axis=0).max()))


def laplace_delta(
    first: tuple[float, float, float], second: tuple[float, float, float], epsilon: float
) -> tuple[float, NDArray[np.float64]]:
    """Return ``int (p - e^epsilon q)_+`` for two weighted Laplace densities, and where the integrand is positive.

    Between the two locations, and on either side of them, ``ln p - ln q`` is linear, so the integrand changes its sign
    at most once in each of the three pieces. The pieces are integrated in closed form from their nearer tail, so that a
    delta of 1e-25 keeps its digits.

    Parameters
    ----------
    first, second : (weight, location, scale)
        Of ``p`` and ``q``, with weights in ``[0, 1]`` and scales ``> 0``.
    epsilon : float
        Nats, ``>= 0``.

    Returns
    -------
    delta : float
    region : (r, 2) float
        Disjoint intervals whose union is the optimal test.

    Examples
    --------
    >>> delta, region = laplace_delta((1.0, 1.0, 1.0), (1.0, 0.0, 1.0), 0.0)
    >>> round(delta, 12), region.tolist()  # 1 - e^(-1/2)
    (0.393469340287, [[0.5, 1.0], [1.0, inf]])
    """
    if first[0] == 0:
        return 0.0, np.empty((0, 2))
    factor = np.exp(checks.non_negative(epsilon=epsilon))
    rounding = 1e-13 * (1 + epsilon)  # densities that only touch must not add what rounding lifts
    ends = np.array([-np.inf, *sorted({first[1], second[1]}), np.inf])
    cuts = [ends[0]]
    for low, high in pairwise(ends):
        cuts += [*_sign_change(first, second, epsilon, low, high), high]
    total, region = 0.0, []
    for low, high in pairwise(cuts):
        if low < high and _advantage(first, second, epsilon, _inside(low, high)) > rounding:
            total += first[0] * _mass(first, low, high) - factor * second[0] * _mass(second, low, high)
            region.append((low, high))
    return min(max(float(total), 0.0), 1.0), np.array(region).reshape(-1, 2)


def law_delta(first: ArrayLike, second: ArrayLike, epsilon: float) -> float:
    """Return the delta between two laws of a reported group with a Laplace value, as given by `LaplaceMeans.law`.

    A law has a row for each reported group: its probability, and location and scale of the value.
    """
    pairs = zip(np.asarray(first, dtype=float), np.asarray(second, dtype=float), strict=True)
    return min(1.0, float(sum(laplace_delta(tuple(p), tuple(q), epsilon)[0] for p, q in pairs if (p != q).any())))


def laplace_means_delta(mechanism: LaplaceMeans, epsilon: float) -> float:
    """Return the exact delta of ``M_L`` at a given epsilon, over all groups and all values in ``[-1, 1]``.

    The overlap ``int min(p, e^epsilon q)`` of two symmetric unimodal densities shrinks as their locations part (level
    sets are intervals), so the worst inputs are extreme: ``(g, 1)`` against ``(g, -1)``, or ``(g, 1)`` against ``(h,
    1)``, whose signs do not matter.

    >>> laplace_means_delta(LaplaceMeans.calibrated(1.0), 1.0)
    0.0
    """
    law = mechanism.law(0, 1.0)
    return max(law_delta(law, mechanism.law(0, -1.0), epsilon), law_delta(law, mechanism.law(1, 1.0), epsilon))


def total_variation(mechanism: LaplaceMeans) -> float:
    """Return the largest total variation distance between the reports of two users of ``M_L``: its delta at 0."""
    return laplace_means_delta(mechanism, 0.0)


def epsilon_at_delta(delta_at: Callable[[float], float], delta: float, *, largest: float = 700.0) -> float:
    """Return the smallest epsilon whose exact delta is at most `delta`, by bisection to relative 1e-12.

    Parameters
    ----------
    delta_at : callable
        Non-increasing function of epsilon, such as ``partial(laplace_means_delta, mechanism)``.
    delta : float
        Allowed delta, in ``(0, 1)``.
    largest : float
        Nats; infinity is returned when even that is not enough.
    """
    allowed = checks.open_probability(delta=delta)
    if delta_at(0.0) <= allowed:
        return 0.0
    if delta_at(largest) > allowed:
        return float("inf")
    low, high = 0.0, largest
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at(middle) > allowed else (low, middle)
    return high


def _advantage(
    first: tuple[float, float, float], second: tuple[float, float, float], epsilon: float, point: float
) -> float:
    """Return ``ln p - ln q - epsilon`` at a point; infinite where ``q = 0``."""
    if second[0] == 0:
        return np.inf
    (w, m, s), (v, n, r) = first, second
    return float(np.log(w * r / (v * s)) - abs(point - m) / s + abs(point - n) / r - epsilon)


def _sign_change(
    first: tuple[float, float, float], second: tuple[float, float, float], epsilon: float, low: float, high: float
) -> list[float]:
    """Return the zero of the advantage inside an interval on which it is linear, if there is one."""
    one = _inside(low, high)
    other = one + (min(high, one + 1) - one) / 2
    at_one, at_other = (_advantage(first, second, epsilon, point) for point in (one, other))
    if not np.isfinite(at_one) or at_one == at_other:
        return []
    root = one - at_one * (other - one) / (at_other - at_one)
    return [float(root)] if low < root < high else []


def _inside(low: float, high: float) -> float:
    if np.isinf(low):
        return float(high - 1)
    return float(low + 1 if np.isinf(high) else (low + high) / 2)


def _mass(law: tuple[float, float, float], low: float, high: float) -> float:
    """Return the Laplace probability of an interval that does not contain the location inside."""
    _, location, scale = law
    near, far = (low, high) if low >= location else (high, low)
    near, far = abs(near - location) / scale, abs(far - location) / scale
    return float(-0.5 * np.exp(-near) * np.expm1(near - far))
