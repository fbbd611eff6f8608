"""How often an estimate is off by an error or more: by the exact or by the normal law.

The exact distribution is known for the bits of a simple random sample or of everybody, and for
everybody's Laplace noise. It is taken for the least favourable population, and so holds for every
population.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from ldpnb.accuracy import means
from ldpnb.arithmetic import Floats
from ldpnb.survey import binomials
from ldpnb.survey.designs import Design, Everyone, SimpleSample
from ldpnb.survey.device import Device

_SHARES = np.array([0, 2**-10, 2**-7, 2**-5, *np.arange(1, 17) / 16])
"""True shares among which the least favourable one is sought, and then around the worst of them."""

_FEW_SHARES = np.array([0, 2**-8, 1 / 16, 1 / 4, 1 / 2, 1])
"""The same for finite populations, where each takes longer."""


def chance(
    design: Design, device: Device, count: int, error: float, events: int
) -> tuple[float, str]:
    """Return the probability of an error, in lengths of the range, and "exact" or "normal".

    If `events` estimates are made, it is the probability that at least one is so far off, or a
    bound on that probability.
    """
    if isinstance(design, Everyone | SimpleSample):
        exact = _exact_chance(design, device, count, error, events)
        if exact is not None:
            return min(exact, 1.0), "exact"
    return normal_chance(design, device, count, error, events), "normal"


def normal_chance(design: Design, device: Device, count: int, error: float, events: int) -> float:
    """Return the probability by the normal approximation, with the largest variance."""
    variance = design.variance(count, device).total
    sd = math.sqrt(max(variance, 1e-300))
    return float(min(1.0, events * 2 * special.ndtr(-error / sd)))


def _exact_chance(
    design: Everyone | SimpleSample, device: Device, count: int, error: float, events: int
) -> float | None:
    """Return the probability by the exact distribution, or None where that is not known."""
    people = design.people(count)
    if device.is_noisy:
        if people != count:
            return None
        return means.laplace_sum_tail(count, count * error / device.scale)

    rates = device.upright()
    deviation = error * rates.gap

    def of_independent_bits(shares: Floats) -> Floats:
        return binomials.one_rate_exact(count, rates.q + shares * rates.gap, deviation)

    def of_population(shares: Floats) -> Floats:
        holders = np.round(shares * people)
        return binomials.two_rates_exact(int(people), holders, count, rates.p, rates.q, deviation)

    if math.isinf(people) or device.is_of_numbers:
        return _worst(of_independent_bits, _SHARES, events, refinements=2)
    if count == people:
        return _worst(of_population, _SHARES, events, refinements=2)

    widest = _widest(rates, count, people)
    near = np.clip([widest - 1 / 32, widest, widest + 1 / 32], 0, 1)
    return _worst(of_population, np.union1d(_FEW_SHARES, near), events, refinements=0)


def _widest(device: Device, count: int, people: float) -> float:
    """Return the share at which the variance of an estimated share is largest."""
    curvature = (1 / count - 1 / people) * people / (people - 1)
    return min(max(1 / 2 + device.slope / (2 * count * curvature), 0.0), 1.0)


def _worst(
    of_bits: Callable[[Floats], Floats], shares: Floats, events: int, *, refinements: int
) -> float:
    """Return the largest probability over true shares; of several events over shares that sum to 1.

    If one estimate fails with probability ``F(f)`` at a share ``f``, the sum over shares that sum
    to 1 is at most ``events F(0) + max of (F(f) - F(0)) / f``.
    """
    if events == 1:
        return _largest(of_bits, shares, refinements)

    rare = float(of_bits(np.zeros(1))[0])

    def slope(some: Floats) -> Floats:
        return (of_bits(some) - rare) / some

    return events * rare + _largest(slope, shares[shares > 0], refinements)


def _largest(function: Callable[[Floats], Floats], points: Floats, refinements: int) -> float:
    """Return the largest value on a grid, which is refined around its best point."""
    found = function(points)
    for _ in range(refinements):
        best = int(found.argmax())
        first = points[max(best - 1, 0)]
        last = points[min(best + 1, points.size - 1)]
        points = np.linspace(first, last, 7)
        found = function(points)
    return float(found.max())
