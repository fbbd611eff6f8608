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
from typing import Any, ClassVar

import numpy as np
from scipy import special

from ldpnb.accuracy import gaps, means
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace, contrast_weights
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.planning.laws import Sample, Tail, least_exponential
from ldpnb.planning.reports import Reports
from ldpnb.planning.samples import Floats
from ldpnb.surveys import binomials

Sizes = tuple[int, ...]
Ends = tuple[float, float]
"""Moment generating function of a user's report for the values -1 and 1."""
Growth = tuple[list[Ends], list[float], float]
"""At a tilt: the ends for each group of the pair, the tilt times the mean report of the value 1, and of other users."""

_RATES = np.linspace(0, 1, 257)


@dataclass(frozen=True, slots=True)
class Signs:
    """A sum of signs with means in ``[-gain, gain]``; the gap is their mean over `unit`, for values in ``[-1, 1]``."""

    gain: float
    unit: float
    reports: ClassVar[Reports] = Reports()

    def failure(self, sample: Sample, error: float, tail: Tail) -> tuple[float, str]:
        """Return the chance at the worst data, by the law of independent signs of the worst mean (Hoeffding 1956)."""
        number, deviation = sample.people, error * self.unit
        if tail == "normal":
            return _beyond(2 * deviation * math.sqrt(number)), "normal"
        rates = 1 / 2 + self.gain * (_RATES - 1 / 2)
        return float(binomials.one_rate_exact(number, rates, deviation).max()), "exact"


@dataclass(frozen=True, slots=True)
class Sums:
    """A sum of reports with known moments and a law that a change of sign leaves alone.

    Parameters
    ----------
    sizes : tuple of int
        Of the groups, the first two of which are compared.
    unit : float
        The mean report of a gap of 1, for values in ``[-1, 1]``.
    growth : callable
        The moment generating functions by the tilt.
    steepest : float
        Tilt at which they cease to exist.
    variance : float
        Of the mean report times the number of reports, at worst, when everybody reports.
    noisy : bool
        Whether reports are values with noise: log-convex in the value, and with a variance that sampling adds to. Else
        the moment generating function is linear in the value, and its variance is the largest.
    exact : callable, optional
        From the number of reports and a mean to the chance that noise alone exceeds it.
    """

    sizes: Sizes
    unit: float
    growth: Callable[[float], Growth]
    steepest: float
    variance: float
    noisy: bool = False
    exact: Callable[[int, float], float] | None = None
    reports: ClassVar[Reports] = Reports()

    def failure(self, sample: Sample, error: float, tail: Tail) -> tuple[float, str]:
        """Return the chance at the worst data, or a bound on it."""
        people, number, deviation = sample.population, sample.people, 2 * error * self.unit
        if tail == "normal":
            left = (1 - number / people) * people / max(people - 1, 1) if self.noisy else 0.0
            sampling = sum(self.sizes) * self.unit**2 * left * (1 / self.sizes[0] + 1 / self.sizes[1])
            return _beyond(deviation / math.sqrt((self.variance + sampling) / number)), "normal"
        if self.exact is not None and number == people:
            return self.exact(number, deviation), "exact"

        def lacking(tilts: Floats) -> Floats:
            cumulants = [self.cumulant(tilt, number == people) for tilt in tilts.tolist()]
            return number * (np.array(cumulants) - tilts * deviation)

        return least_exponential(lacking, self.steepest * (1 - 1e-9)), "Chernoff"

    def cumulant(self, tilt: float, complete: bool) -> float:
        """Return the largest centred ``ln E exp(tilt Z)`` per report, if everybody reports or in a sample."""
        shares, (ends, falls, other) = [size / sum(self.sizes) for size in self.sizes[:2]], self.growth(tilt)
        rest = 1 - sum(shares)
        if complete:
            own = sum(shares[g] * self._largest(ends[g], falls[g]) for g in (0, 1))
            return own + (rest * math.log(other) if rest > 1e-12 else 0.0)
        # concave in both values, or log-convex: at the worst ones at least one of them is extreme
        worst = -math.inf
        for own, extreme in ((0, 1), (1, 0)):
            for value, moment in zip((-1, 1), ends[extreme], strict=True):
                constant = rest * other + shares[extreme] * moment
                low, high = (constant + shares[own] * end for end in ends[own])
                most = self._largest((low, high), shares[own] * falls[own])
                worst = max(worst, most - shares[extreme] * falls[extreme] * value)
        return worst

    def _largest(self, ends: Ends, fall: float) -> float:
        """Return the maximum of ``ln M(v) - fall v`` over values ``v`` in ``[-1, 1]``."""
        low, high = ends
        level, rise = (high + low) / 2, (high - low) / 2
        if self.noisy or rise <= 0 or fall <= 0:
            return max(math.log(low) + fall, math.log(high) - fall)
        value = min(max(1 / fall - level / rise, -1.0), 1.0)
        return math.log(level + rise * value) - fall * value


Gap = Signs | Sums
"""The law of an estimated gap."""


def _beyond(deviations: float) -> float:
    """Return the chance that a normal variable is so many standard deviations off, or more."""
    return float(2 * special.ndtr(-deviations))


def _smaller(sizes: Sizes) -> float:
    """Return the share of the smaller group of the pair among all users."""
    return min(sizes[:2]) / sum(sizes)


def _weights(sizes: Sizes) -> list[float]:
    """Return how much users of each group of the pair count."""
    return [float(weight) for weight in np.abs(contrast_weights(sizes, (0, 1)))[:2]]


def signed_bit(mechanism: SignedBit, sizes: Sizes) -> Gap:
    """Return the law of the gap from signed bits."""
    return Signs(mechanism.gain, mechanism.gain * _smaller(sizes))


def discretised(mechanism: DiscretisedMeans, sizes: Sizes) -> Gap:
    """Return the law of the gap from ``M_R``; with two groups of one size its reports are signs."""
    if len(sizes) == 2 and sizes[0] == sizes[1]:
        return Signs(mechanism.gain, mechanism.gain / 2)
    scores = np.outer([1, -1] + [0] * (len(sizes) - 2), [-1, 1]).astype(float)
    scores[:2] *= np.array(_weights(sizes))[:, None]
    growth = _of_channel(mechanism.channel(), scores.ravel(), mechanism.gain, sizes)
    return _sums(mechanism, sizes, growth, 60.0)


def laplace_means(mechanism: LaplaceMeans, sizes: Sizes) -> Gap:
    """Return the law of the gap from ``M_L``."""
    return _sums(mechanism, sizes, _of_laplace(mechanism, sizes), 1 / mechanism.kept_scale, noisy=True)


def signed_laplace(mechanism: SignedLaplace, sizes: Sizes) -> Gap:
    """Return the law of the gap from signed values with Laplace noise."""

    def exact(users: int, mean: float) -> float:
        return means.laplace_sum_tail(users, users * mean / mechanism.scale)

    return _sums(mechanism, sizes, _of_laplace(mechanism, sizes), 1 / mechanism.scale, noisy=True, exact=exact)


def best_channel(mechanism: Any, sizes: Sizes) -> Gap:
    """Return the law of the gap from the scores of a `BestGapChannel`, whose module is slow to load."""
    smaller = _smaller(sizes)
    growth = _of_channel(mechanism.channel(), smaller * mechanism.scores, 1.0, sizes)
    steepest = 500 / (smaller * float(np.abs(mechanism.scores).max()))
    return Sums(sizes, smaller, growth, steepest, smaller**2 * mechanism.variance)


def _sums(mechanism: Any, sizes: Sizes, growth: Callable[[float], Growth], steepest: float, **more: Any) -> Sums:
    unit = mechanism.gain * _smaller(sizes)
    variance = sum(sizes) * unit**2 * gaps.GroupGap(mechanism, sizes).worst_variance()
    return Sums(sizes, unit, growth, steepest, variance, **more)


def _of_channel(channel: Floats, scores: Floats, mean: float, sizes: Sizes) -> Callable[[float], Growth]:
    """Return the moments of the score of a report of a channel with two inputs, the signs, for each group.

    The mean score is ``mean u v`` for the value ``v`` in a group of weight ``u``.
    """
    weights = _weights(sizes)

    def growth(tilt: float) -> Growth:
        moments = (np.exp(tilt * scores) @ channel).tolist()
        ends = [(min(pair), max(pair)) for pair in (moments[:2], moments[2:4])]
        others = moments[4:] or [1.0]
        return ends, [mean * tilt * u for u in weights], sum(others) / len(others)

    return growth


def _of_laplace(mechanism: LaplaceMeans | SignedLaplace, sizes: Sizes) -> Callable[[float], Growth]:
    """Return the moments of a report with Laplace noise.

    Of ``M_L`` at ``k = 2``: a noisy value in the user's group, or noise in another one,
    ``a e^(l u v) / (1 - (l u s)^2) + a' / (1 - (l u' s)^2) + a' (d - 2)``. A signed value always has its noise.
    """
    weights = _weights(sizes)
    if isinstance(mechanism, SignedLaplace):
        keep, moved, scales = 1.0, 0.0, [mechanism.scale] * 2
    else:
        keep, moved, scales = mechanism.keep, mechanism.move, [u * mechanism.kept_scale for u in weights]

    def growth(tilt: float) -> Growth:
        noise = [1 / (1 - (tilt * scale) ** 2) for scale in scales]
        ends = []
        for own, other, u in zip(noise, reversed(noise), weights, strict=True):
            low, high = (keep * math.exp(tilt * u * v) * own + moved * (other + len(sizes) - 2) for v in (-1, 1))
            ends.append((low, high))
        others = moved * sum(noise) + 1 - 2 * moved if moved else noise[0]
        return ends, [keep * u * tilt for u in weights], others

    return growth
