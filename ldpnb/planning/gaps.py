"""How often an estimate of the gap between two groups is off, with private values and groups, at the worst data.

A report's share in the gap is scaled so that users of the smaller group of the pair count 1. Laws are those of sums of
reports: exact for signs and for noise that the data do not enter, else Chernoff's bound by the cumulants of single
reports. When everybody reports, each user's worst value enters by itself; in a sample drawn without replacement the
*average* moment generating function of all users bounds that of the sum (Maclaurin's inequality between elementary
symmetric means), so the worst values are those of the whole population.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special

from ldpnb.accuracy import gaps, means
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace, contrast_weights
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.planning.laws import Tail, least_exponential
from ldpnb.planning.samples import Parts
from ldpnb.surveys import binomials

Cumulant = Callable[[float, bool], float]
"""From a tilt ``l > 0`` and whether everybody reports to the largest centred ``ln E exp(l Z)`` per report."""
Sizes = tuple[int, ...]

_RATES = np.linspace(0, 1, 257)


@dataclass(frozen=True, slots=True)
class Signs:
    """A sum of signs with means in ``[-gain, gain]``; the gap is their mean over `unit`, for values in ``[-1, 1]``."""

    gain: float
    unit: float

    def failure(self, sample: Parts, error: float, tail: Tail) -> tuple[float, str]:
        """Return the chance at the worst data, by the law of independent signs of the worst mean (Hoeffding 1956)."""
        (number,), deviation = sample.answers, error * self.unit
        if tail == "normal":
            return _beyond(2 * deviation * math.sqrt(number)), "normal"
        rates = 1 / 2 + self.gain * (_RATES - 1 / 2)
        return float(binomials.one_rate_exact(number, rates, deviation).max()), "exact"


@dataclass(frozen=True, slots=True)
class Sums:
    """A sum of reports with known cumulants and a law that a change of sign leaves alone.

    Parameters
    ----------
    unit : float
        The mean report of a gap of 1, for values in ``[-1, 1]``.
    cumulant : callable
    steepest : float
        Tilt at which `cumulant` ceases to exist.
    variance : callable
        From ``(1 - n/N) N/(N - 1)`` to the variance of the mean report times the number of reports, at worst.
    exact : callable, optional
        From the number of reports and a mean to the chance that noise alone exceeds it.
    """

    unit: float
    cumulant: Cumulant
    steepest: float
    variance: Callable[[float], float]
    exact: Callable[[int, float], float] | None = None

    def failure(self, sample: Parts, error: float, tail: Tail) -> tuple[float, str]:
        """Return the chance at the worst data, or a bound on it."""
        (people,), (number,), deviation = sample.sizes, sample.answers, 2 * error * self.unit
        if tail == "normal":
            left = (1 - number / people) * people / max(people - 1, 1)
            return _beyond(deviation / math.sqrt(self.variance(left) / number)), "normal"
        complete = number == people
        if self.exact is not None and complete:
            return self.exact(number, deviation), "exact"

        def lacking(tilts: binomials.Floats) -> binomials.Floats:
            cumulants = [self.cumulant(tilt, complete) for tilt in tilts.tolist()]
            return number * (np.array(cumulants) - tilts * deviation)

        return least_exponential(lacking, self.steepest * (1 - 1e-9)), "Chernoff"


Gap = Signs | Sums
"""The law of an estimated gap."""


def _beyond(deviations: float) -> float:
    """Return the chance that a normal variable is so many standard deviations off, or more."""
    return float(2 * special.ndtr(-deviations))


def _smaller(sizes: Sizes) -> float:
    """Return the share of the smaller group of the pair among all users."""
    return min(sizes[:2]) / sum(sizes)


def signed_bit(mechanism: SignedBit, sizes: Sizes) -> Gap:
    """Return the law of the gap from signed bits."""
    return Signs(mechanism.gain, mechanism.gain * _smaller(sizes))


def discretised(mechanism: DiscretisedMeans, sizes: Sizes) -> Gap:
    """Return the law of the gap from ``M_R``; with two groups of one size its reports are signs."""
    if len(sizes) == 2 and sizes[0] == sizes[1]:
        return Signs(mechanism.gain, mechanism.gain / 2)
    scores = np.outer([1, -1] + [0] * (len(sizes) - 2), [-1, 1]).astype(float)
    scores[:2] *= np.array(_pair(sizes)[1])[:, None]
    cumulant = _of_channel(mechanism.channel(), scores.ravel(), mechanism.gain, sizes)
    return _sums(mechanism, sizes, cumulant, 60.0, noisy=False)


def laplace_means(mechanism: LaplaceMeans, sizes: Sizes) -> Gap:
    """Return the law of the gap from ``M_L``."""
    return _sums(mechanism, sizes, _of_laplace(mechanism, sizes), 1 / mechanism.kept_scale)


def signed_laplace(mechanism: SignedLaplace, sizes: Sizes) -> Gap:
    """Return the law of the gap from signed values with Laplace noise."""

    def exact(users: int, mean: float) -> float:
        return means.laplace_sum_tail(users, users * mean / mechanism.scale)

    return _sums(mechanism, sizes, _of_laplace(mechanism, sizes), 1 / mechanism.scale, exact=exact)


def best_channel(mechanism: BestGapChannel, sizes: Sizes) -> Gap:
    """Return the law of the gap from the scores of the best channel."""
    smaller = _smaller(sizes)
    steepest = 500 / (smaller * float(np.abs(mechanism.scores).max()))
    cumulant = _of_channel(mechanism.channel(), smaller * mechanism.scores, 1.0, sizes)
    return Sums(smaller, cumulant, steepest, lambda left: smaller**2 * mechanism.variance)


def _sums(
    mechanism: DiscretisedMeans | LaplaceMeans | SignedLaplace,
    sizes: Sizes,
    cumulant: Cumulant,
    steepest: float,
    *,
    noisy: bool = True,
    exact: Callable[[int, float], float] | None = None,
) -> Sums:
    users, unit = sum(sizes), mechanism.gain * _smaller(sizes)

    def variance(left: float) -> float:
        sampling = left * (1 / sizes[0] + 1 / sizes[1]) if noisy else 0.0
        return users * unit**2 * (gaps.GroupGap(mechanism, sizes).worst_variance() + sampling)

    return Sums(unit, cumulant, steepest, variance, exact)


def _of_channel(channel: binomials.Floats, scores: binomials.Floats, mean: float, sizes: Sizes) -> Cumulant:
    """Return the cumulant of the score of a report of a channel with two inputs, the signs, for each group.

    The moment generating function is ``level + rise v`` with value ``v``, and the mean score ``mean u v`` in a group of
    weight ``u``.
    """
    shares, weights = _pair(sizes)

    def cumulant(tilt: float, complete: bool) -> float:
        growth = np.exp(tilt * scores) @ channel
        level = [float(growth[[2 * g, 2 * g + 1]].mean()) for g in (0, 1)]
        rise = [abs(float(growth[2 * g] - growth[2 * g + 1])) / 2 for g in (0, 1)]
        other = float(growth[4:].mean()) if len(growth) > 4 else 1.0
        return _linear(shares, level, rise, [mean * tilt * u for u in weights], other, complete)

    return cumulant


def _of_laplace(mechanism: LaplaceMeans | SignedLaplace, sizes: Sizes) -> Cumulant:
    """Return the cumulant of a report with Laplace noise, which is log-convex in the value and so worst at an end.

    Of ``M_L`` at ``k = 2``: a noisy value in the user's group, or noise in another one,
    ``a e^(l u v) / (1 - (l u s)^2) + a' / (1 - (l u' s)^2) + a' (d - 2)``. A signed value always has its noise.
    """
    shares, weights = _pair(sizes)
    rest = 1 - sum(shares)
    if isinstance(mechanism, SignedLaplace):
        keep, moved, scales = 1.0, 0.0, [mechanism.scale] * 2
    else:
        keep, moved, scales = mechanism.keep, mechanism.move, [u * mechanism.kept_scale for u in weights]

    def cumulant(tilt: float, complete: bool) -> float:
        noise = [1 / (1 - (tilt * scale) ** 2) for scale in scales]
        level = [moved * noise[1 - g] + moved * (len(sizes) - 2) for g in (0, 1)]
        other = moved * sum(noise) + 1 - 2 * moved if moved else noise[0]
        slope = [keep * u * tilt for u in weights]
        ends = [(v, [keep * math.exp(tilt * weights[g] * v) * noise[g] + level[g] for g in (0, 1)]) for v in (-1, 1)]
        if complete:
            own = sum(shares[g] * max(math.log(user[g]) - slope[g] * v for v, user in ends) for g in (0, 1))
            return own + (rest * math.log(other) if rest > 1e-12 else 0.0)
        return max(
            math.log(shares[0] * one[0] + shares[1] * two[1] + rest * other)
            - shares[0] * slope[0] * v
            - shares[1] * slope[1] * w
            for (v, one), (w, two) in product(ends, repeat=2)
        )

    return cumulant


def _pair(sizes: Sizes) -> tuple[list[float], list[float]]:
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
