"""How often an estimate of the gap between two groups is off, with private values and groups, at the worst data.

A report's share in the gap is scaled so that users of the smaller group of the pair count 1. Signs are bits of a mean,
whose law is known. Other reports have Chernoff's bound by the cumulants of single reports: when everybody reports, each
user's worst value enters by itself; in a sample drawn without replacement the *average* moment generating function of
all users bounds that of the sum (Maclaurin's inequality between elementary symmetric means), so the worst values are
those of the whole population.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from ldpnb.accuracy import means
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.registry import GAP
from ldpnb.planning.laws import Linear, Sample, Tail, least_exponential
from ldpnb.planning.mechanisms import ROUNDED, Candidate
from ldpnb.planning.reports import Reports
from ldpnb.planning.samples import Floats

Sizes = tuple[int, ...]
Ends = tuple[Floats, Floats]
"""Moment generating function of a user's report for the values -1 and 1, the smaller first, by the tilt."""
Growth = tuple[list[Ends], list[Floats], Any]
"""By the tilt: the ends of both groups of the pair, the tilt times the mean report of 1, and that of other users."""


@dataclass(frozen=True, slots=True)
class Sums:
    """A sum of reports with known moments and a law that a change of sign leaves alone.

    - `sizes`, tuple of int: of the groups, the first two of which are compared.
    - `unit`, float: the mean report of a gap of 1, for values in ``[-1, 1]``.
    - `growth`, callable: the moment generating functions by the tilt.
    - `steepest`, float: tilt at which they cease to exist.
    - `variance`, float: of the mean report times the number of reports, at worst, when everybody reports.
    - `noisy`, bool: whether reports are values with noise: log-convex in the value, and with a variance that sampling
      adds to. Else the moment generating function is linear in the value, and its variance is the largest.
    - `exact`, bool: whether all errors are Laplace noise of scale ``1 / steepest`` when everybody reports.
    """

    sizes: Sizes
    unit: float
    growth: Callable[[Floats], Growth]
    steepest: float
    variance: float
    noisy: bool = False
    exact: bool = False
    reports: ClassVar[Reports] = Reports()
    noise: ClassVar[float] = 0.0

    def failure(self, sample: Sample, error: float, tail: Tail) -> tuple[float, str]:
        """Return the chance at the worst data, or a bound on it."""
        people, number, deviation = sample.population, sample.people, 2 * error * self.unit
        if tail == "normal":
            left = (1 - number / people) * people / max(people - 1, 1) if self.noisy else 0.0
            sampling = sum(self.sizes) * self.unit**2 * left * (1 / self.sizes[0] + 1 / self.sizes[1])
            return float(2 * special.ndtr(-deviation / math.sqrt((self.variance + sampling) / number))), "normal"
        if self.exact and number == people:
            return means.laplace_sum_tail(number, number * deviation * self.steepest), "exact"

        def lacking(tilts: Floats) -> Floats:
            return number * (self.cumulant(tilts, number == people) - tilts * deviation)

        return least_exponential(lacking, self.steepest * (1 - 1e-9)), "Chernoff"

    def cumulant(self, tilts: Floats, complete: bool) -> Floats:
        """Return the largest centred ``ln E exp(tilt Z)`` per report, if everybody reports or in a sample."""
        shares, (ends, falls, other) = [size / sum(self.sizes) for size in self.sizes[:2]], self.growth(tilts)
        rest = 1 - sum(shares)
        if complete:
            own = sum(shares[g] * self._largest(ends[g], falls[g]) for g in (0, 1))
            return np.asarray(own + (rest * np.log(other) if rest > 1e-12 else 0.0))
        # concave in both values, or log-convex: at the worst ones at least one of them is extreme
        worst = np.full(np.shape(tilts), -np.inf)
        for own, extreme in ((0, 1), (1, 0)):
            for value, moment in zip((-1, 1), ends[extreme], strict=True):
                constant = rest * other + shares[extreme] * moment
                low, high = (constant + shares[own] * end for end in ends[own])
                most = self._largest((low, high), shares[own] * falls[own])
                worst = np.maximum(worst, most - shares[extreme] * falls[extreme] * value)
        return worst

    def _largest(self, ends: Ends, fall: Floats) -> Floats:
        """Return the maximum of ``ln M(v) - fall v`` over values ``v`` in ``[-1, 1]``."""
        low, high = ends
        extreme = np.maximum(np.log(low) + fall, np.log(high) - fall)
        if self.noisy:
            return extreme
        level, rise = (high + low) / 2, (high - low) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.clip(1 / fall - level / rise, -1.0, 1.0)
            return np.where(rise > 0, np.log(level + rise * value) - fall * value, extreme)


def _smaller(sizes: Sizes) -> float:
    """Return the share of the smaller group of the pair among all users."""
    return min(sizes[:2]) / sum(sizes)


def _weights(sizes: Sizes) -> list[float]:
    """Return how much users of each group of the pair count."""
    return [min(sizes[:2]) / size for size in sizes[:2]]


def law(mechanism: Any, sizes: Sizes) -> Linear | Sums:
    """Return the law of the gap from the reports of a mechanism of `GAP`, made for groups of these sizes."""
    smaller, weights = _smaller(sizes), _weights(sizes)
    gain, unit = mechanism.gain, mechanism.gain * smaller
    if isinstance(mechanism, SignedBit) or (isinstance(mechanism, DiscretisedMeans) and sizes == 2 * sizes[:1]):
        miss = max((1 - gain) / 2, 1e-300)
        return Linear(Reports(1 - miss, miss, gain, miss), unit=smaller)
    variance = sum(sizes) * unit**2 * GroupGap(mechanism, sizes).worst_variance()
    if isinstance(mechanism, DiscretisedMeans):
        scores = np.outer(np.append(np.array([1, -1]) * weights, np.zeros(len(sizes) - 2)), [-1, 1]).ravel()
        growth, steepest = _of_channel(mechanism.channel(), scores, [gain * u for u in weights])
        return Sums(sizes, unit, growth, steepest, variance)
    growth, steepest = _of_laplace(mechanism, weights, len(sizes))
    return Sums(sizes, unit, growth, steepest, variance, noisy=True, exact=isinstance(mechanism, SignedLaplace))


def _best_channel(question: Any) -> Sums:
    """Return the law of the gap from the best channel for at most 30 nats: what exceeds them is not spent."""
    from ldpnb.mechanisms.best_gap import BestGapChannel

    sizes, smaller = question.groups, _smaller(question.groups)
    mechanism = BestGapChannel(min(question.epsilon, 30.0), sizes[0] / sum(sizes))
    growth, steepest = _of_channel(mechanism.channel(), smaller * mechanism.scores, _weights(sizes))
    return Sums(sizes, smaller, growth, steepest, smaller**2 * mechanism.variance)


def _best_laplace(question: Any) -> Linear | Sums:
    """Return the law of the gap from ``M_L``, allocated best; calibrated where the smaller group is not very small."""
    mechanism, shares = GAP["M_L, k = 2"](question.epsilon, question.groups), question.shares
    if len(shares) == 2 and min(shares) < 0.045:
        from ldpnb.accuracy.budgets import best_laplace

        first = max(1, round(shares[0] * 10**9))
        mechanism = best_laplace(question.epsilon, (first, 10**9 - first))
    return law(mechanism, question.groups)


def _of_channel(channel: Floats, scores: Floats, means: list[float]) -> tuple[Callable[[Floats], Growth], float]:
    """Return the moments of the score of a report of a channel with two inputs, the signs, for each group.

    The `means` are those of the value 1 in the two groups.
    """

    def growth(tilts: Floats) -> Growth:
        moments = channel.T @ np.exp(np.multiply.outer(scores, tilts))
        ends = [(np.minimum(*pair), np.maximum(*pair)) for pair in (moments[:2], moments[2:4])]
        return ends, [tilts * mean for mean in means], moments[4:].mean(axis=0) if len(moments) > 4 else 1.0

    return growth, 500 / float(np.abs(scores).max())


def _of_laplace(
    mechanism: LaplaceMeans | SignedLaplace, weights: list[float], groups: int
) -> tuple[Callable[[Floats], Growth], float]:
    """Return the moments of a report with Laplace noise.

    Of ``M_L`` at ``k = 2``: a noisy value in the user's group, or noise in another one,
    ``a e^(l u v) / (1 - (l u s)^2) + a' / (1 - (l u' s)^2) + a' (d - 2)``. A signed value always has its noise.
    """
    if isinstance(mechanism, SignedLaplace):
        keep, moved, scales = 1.0, 0.0, [mechanism.scale] * 2
    else:
        keep, moved, scales = mechanism.keep, mechanism.move, [u * mechanism.kept_scale for u in weights]

    def growth(tilts: Floats) -> Growth:
        noise = [1 / (1 - (tilts * scale) ** 2) for scale in scales]
        ends = []
        for own, other, u in zip(noise, reversed(noise), weights, strict=True):
            low, high = (keep * np.exp(tilts * u * v) * own + moved * (other + groups - 2) for v in (-1, 1))
            ends.append((low, high))
        return ends, [keep * u * tilts for u in weights], moved * sum(noise) + 1 - 2 * moved if moved else noise[0]

    return growth, 1 / max(scales)


def _of(name: str, floor: str = "") -> Candidate:
    return Candidate(name, lambda q: law(GAP[name](q.epsilon, q.groups), q.groups), floor=floor)


GAPS = (
    _of("M_R", ROUNDED),
    Candidate("M_L, k = 2", _best_laplace),
    _of("signed bit", ROUNDED),
    _of("signed Laplace"),
)
BEST_CHANNEL = Candidate(
    "best channel",
    _best_channel,
    remark="least variance of all private channels for values at the ends; of two groups of different sizes",
    floor=ROUNDED,
)
