"""Cumulants of single reports of the group mechanisms at the worst data, for Chernoff's bound.

A report's share in the gap is scaled so that users of the smaller group of the pair count 1. When everybody reports,
each user's worst value enters by itself; in a sample drawn without replacement the *average* moment generating function
of all users bounds that of the sum (Maclaurin's inequality between elementary symmetric means), so the worst values are
those of the whole population.
"""

from collections.abc import Callable
from itertools import product

import numpy as np

from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.contrasts import SignedLaplace, contrast_weights
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans

Cumulant = Callable[[float, bool], float]
"""From a tilt ``l > 0`` and whether everybody reports to the largest centred ``ln E exp(l Z)`` per report."""


def bits(tilt: float) -> float:
    """Return the largest ``ln(1 - r + r e^l) - l r`` over means ``r``: ``ln((e^l - 1)/l) - 1 + l/(e^l - 1)``.

    It bounds the centred cumulant of a user drawn from any population with values in ``[0, 1]``; at most ``l^2 / 8``.

    Examples
    --------
    >>> round(bits(1.0), 6) == round(float(np.log(np.e - 1) - 1 + 1 / (np.e - 1)), 6)
    True
    """
    if tilt < 1e-2:
        return tilt**2 / 8
    return float(np.log(np.expm1(tilt) / tilt) - 1 + tilt / np.expm1(tilt))


def discretised(mechanism: DiscretisedMeans, sizes: tuple[int, ...]) -> Cumulant:
    """Return the cumulant of a report of ``M_R``: a sign in one of the pair's groups, or nothing.

    With value ``v`` in a group of weight ``u`` the moment generating function is
    ``a (cosh lu + t v sinh lu) + a' cosh lu' + a' (d - 2)``, and the mean ``a t u v``.
    """
    a, moved, t = mechanism.keep, mechanism.move, mechanism.sharpness
    shares, weights = _pair(sizes)

    def cumulant(tilt: float, complete: bool) -> float:
        even = [float(np.cosh(tilt * u)) for u in weights]
        odd = [a * t * float(np.sinh(tilt * u)) for u in weights]
        level = [a * even[g] + moved * even[1 - g] + moved * (len(sizes) - 2) for g in (0, 1)]
        other = moved * sum(even) + 1 - 2 * moved
        slope = [a * t * u * tilt for u in weights]
        return _linear(shares, level, odd, slope, other, complete)

    return cumulant


def best_gap(mechanism: BestGapChannel, sizes: tuple[int, int]) -> Cumulant:
    """Return the cumulant of the score of a report of the best channel, in units of the smaller group's share."""
    shares, weights = _pair(sizes)
    scores, channel = mechanism.scores * min(shares), mechanism.channel()

    def cumulant(tilt: float, complete: bool) -> float:
        growth = np.exp(tilt * scores) @ channel
        level = [float(growth[[2 * g, 2 * g + 1]].mean()) for g in (0, 1)]
        rise = [abs(float(growth[2 * g] - growth[2 * g + 1])) / 2 for g in (0, 1)]
        return _linear(shares, level, rise, [tilt * u for u in weights], 1.0, complete)

    return cumulant


def laplace(mechanism: LaplaceMeans, sizes: tuple[int, ...]) -> Cumulant:
    """Return the cumulant of a report of ``M_L`` at ``k = 2``: a noisy value in the user's group, or noise in another.

    ``a e^(l u v) / (1 - (l u s)^2) + a' / (1 - (l u' s)^2) + a' (d - 2)`` is log-convex in the value, worst at an end.
    """
    a, moved, scale = mechanism.keep, mechanism.move, mechanism.kept_scale
    shares, weights = _pair(sizes)
    rest = 1 - sum(shares)

    def cumulant(tilt: float, complete: bool) -> float:
        noise = [1 / (1 - (tilt * u * scale) ** 2) for u in weights]
        level = [moved * noise[1 - g] + moved * (len(sizes) - 2) for g in (0, 1)]
        other = moved * sum(noise) + 1 - 2 * moved

        def user(group: int, value: int) -> float:
            return a * float(np.exp(tilt * weights[group] * value)) * noise[group] + level[group]

        slope = [a * u * tilt for u in weights]
        if complete:
            own = sum(shares[g] * max(float(np.log(user(g, v))) - slope[g] * v for v in (-1, 1)) for g in (0, 1))
            return own + (rest * float(np.log(other)) if rest > 1e-12 else 0.0)
        return max(
            float(np.log(shares[0] * user(0, v) + shares[1] * user(1, w) + rest * other))
            - shares[0] * slope[0] * v
            - shares[1] * slope[1] * w
            for v, w in product((-1, 1), repeat=2)
        )

    return cumulant


def signed_laplace(mechanism: SignedLaplace) -> Cumulant:
    """Return the cumulant of a report of `SignedLaplace`: of its noise, and of the values too if users are drawn."""
    sizes, scale = mechanism.sizes, mechanism.scale
    shares, weights = _pair(sizes)
    rest = 1 - sum(shares)

    def cumulant(tilt: float, complete: bool) -> float:
        noise = -float(np.log1p(-((tilt * scale) ** 2)))
        if complete:
            return noise
        return noise + max(
            float(np.log(sum(s * np.exp(tilt * u * v) for s, u, v in zip(shares, weights, ends, strict=True)) + rest))
            - tilt * sum(s * u * v for s, u, v in zip(shares, weights, ends, strict=True))
            for ends in product((-1, 1), repeat=2)
        )

    return cumulant


def _pair(sizes: tuple[int, ...]) -> tuple[list[float], list[float]]:
    """Return the shares of the two groups compared and how much their users count."""
    weights = np.abs(contrast_weights(sizes, (0, 1)))[:2]
    return [size / sum(sizes) for size in sizes[:2]], [float(w) for w in weights]


def _linear(
    shares: list[float], level: list[float], rise: list[float], fall: list[float], other: float, complete: bool
) -> float:
    """Return the cumulant of generating functions ``level + rise v`` less ``fall v``, at the worst values of the pair.

    Users of no group of the pair have the generating function `other`.
    """
    rest = 1 - sum(shares)
    if complete:
        own = sum(shares[g] * _best_value(level[g], rise[g], fall[g]) for g in (0, 1))
        return own + (rest * float(np.log(other)) if rest > 1e-12 else 0.0)
    constant = sum(shares[g] * level[g] for g in (0, 1)) + rest * other
    up, down = [shares[g] * rise[g] for g in (0, 1)], [shares[g] * fall[g] for g in (0, 1)]
    # concave in both values: at the best ones at least one of them is extreme
    return max(
        _best_value(constant + end * up[1 - g], up[g], down[g]) - end * down[1 - g] for g in (0, 1) for end in (-1, 1)
    )


def _best_value(level: float, rise: float, fall: float) -> float:
    """Return the maximum of ``ln(level + rise v) - fall v`` over ``v`` in ``[-1, 1]``."""
    value = float(np.clip(1 / fall - level / rise, -1.0, 1.0)) if rise > 0 and fall > 0 else 0.0
    return float(np.log(level + rise * value)) - fall * value
