"""How often an estimate of the gap between two groups is off, with private values and groups, at the worst data.

A report's share in the gap is scaled so that users of the smaller group of the pair count 1. Bits and noise whose law
does not depend on the group are those of a mean. Other reports have Chernoff's bound by the cumulants of single
reports, each user with the worst value.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpnb.accuracy import tails
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.arithmetic import Floats
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.registry import GAP
from ldpnb.planning.laws import Design, Linear, Tail, least_exponential
from ldpnb.planning.reports import Reports

Moments = Callable[[Floats], Any]
"""Moment generating functions of a report by the tilt: of the values -1 and 1 in the first group of the pair, of the
same in the second, and of other users if there are any."""


@dataclass(frozen=True, slots=True)
class Sums:
    """A sum of everybody's reports with known moments and a law that a change of sign leaves alone.

    - `sizes`, tuple of int: of the groups, the first two of which are compared.
    - `gain`, float: the mean report of the value 1 in the smaller group of the pair.
    - `sd`, float: standard deviation of the gap of values in ``[-1, 1]``, at worst.
    - `moments`, callable
    - `steepest`, float: tilt at which they cease to exist.
    - `linear`, bool: whether they are linear in the value; else log-convex, as those of a value with noise.
    """

    sizes: tuple[int, ...]
    gain: float
    sd: float
    moments: Moments
    steepest: float
    linear: bool = True
    reports: ClassVar[Reports] = Reports()
    noise: ClassVar[float] = 0.0

    def failure(self, sample: Design, error: float, tail: Tail) -> tuple[float, str]:
        """Return the chance at the worst data, or a bound on it."""
        if tail == "normal":
            return tails.normal(self.sd, 2 * error), "normal"
        users = sum(self.sizes)
        deviation = 2 * error * self.gain * min(self.sizes[:2]) / users

        def lacking(tilts: Floats) -> Floats:
            return users * (self.cumulant(tilts) - tilts * deviation)

        return least_exponential(lacking, self.steepest * (1 - 1e-9)), "Chernoff"

    def cumulant(self, tilts: Floats) -> Floats:
        """Return the largest centred ``ln E exp(tilt Z)`` over all values, per report ``Z``."""
        moments, users = self.moments(tilts), sum(self.sizes)
        total = (
            (users - sum(self.sizes[:2])) / users * np.log(moments[4])
            if len(self.sizes) > 2
            else np.zeros(1)
        )
        for group, weight in enumerate(_weights(self.sizes)):
            low, high = np.sort(moments[2 * group : 2 * group + 2], axis=0)
            total = total + self.sizes[group] / users * self._largest(
                low, high, self.gain * weight * tilts
            )
        return np.asarray(total)

    def _largest(self, low: Floats, high: Floats, fall: Floats) -> Floats:
        """Return the maximum of ``ln M(v) - fall v`` over values ``v`` in ``[-1, 1]``."""
        extreme = np.maximum(np.log(low) + fall, np.log(high) - fall)
        if not self.linear:
            return extreme
        level, rise = (high + low) / 2, (high - low) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.clip(1 / fall - level / rise, -1.0, 1.0)
            return np.where(rise > 0, np.log(level + rise * value) - fall * value, extreme)


def _weights(sizes: tuple[int, ...]) -> list[float]:
    """Return how much users of each group of the pair count."""
    return [min(sizes[:2]) / size for size in sizes[:2]]


def law(question: Any) -> Linear | Sums:
    """Return the law of the gap from the reports of a mechanism of `registry.GAP`, made for the question's groups."""
    sizes = question.groups
    mechanism: Any = GAP[question.mechanism](question.epsilon, sizes)
    gain, weights, smaller = mechanism.gain, _weights(sizes), min(sizes[:2]) / sum(sizes)
    if isinstance(mechanism, SignedBit) or (
        isinstance(mechanism, DiscretisedMeans) and sizes == 2 * sizes[:1]
    ):
        miss = max((1 - gain) / 2, 1e-300)
        return Linear(Reports(1 - miss, miss, gain, miss), unit=smaller)
    if isinstance(mechanism, SignedLaplace):
        return Linear(Reports(scale=mechanism.scale / 2), unit=smaller)
    sd = math.sqrt(GroupGap(mechanism, sizes).worst_variance())
    if isinstance(mechanism, LaplaceMeans):
        scales = [weight * mechanism.kept_scale for weight in weights]
        moments = _of_laplace(mechanism, weights, scales, len(sizes))
        return Sums(sizes, gain, sd, moments, 1 / max(scales), linear=False)
    scores = np.outer(
        np.append(np.array([1, -1]) * weights, np.zeros(len(sizes) - 2)), [-1, 1]
    ).ravel()
    return _of_channel(sizes, gain, sd, mechanism.channel(), scores)


def _of_channel(
    sizes: tuple[int, ...], gain: float, sd: float, channel: Floats, scores: Floats
) -> Sums:
    """Return the law from a channel whose inputs are a sign of each group, and the scores of its reports."""

    def moments(tilts: Floats) -> Floats:
        return np.asarray(channel.T @ np.exp(np.multiply.outer(scores, tilts)))

    return Sums(sizes, gain, sd, moments, 500 / float(np.abs(scores).max()))


def _of_laplace(
    mechanism: LaplaceMeans, weights: list[float], scales: list[float], groups: int
) -> Moments:
    """Return the moments of a report of ``M_L`` at ``k = 2``: a noisy value in the user's group, or noise in another.

    ``a e^(l u v) / (1 - (l u s)^2) + a' / (1 - (l u' s)^2) + a' (d - 2)``
    """
    keep, moved = mechanism.keep, mechanism.move

    def moments(tilts: Floats) -> Any:
        noise = [1 / (1 - (tilts * scale) ** 2) for scale in scales]
        own = [
            keep * np.exp(tilts * weights[g] * value) * noise[g]
            + moved * (noise[1 - g] + groups - 2)
            for g in (0, 1)
            for value in (-1, 1)
        ]
        return [*own, moved * sum(noise) + 1 - 2 * moved]

    return moments


def best_channel(question: Any) -> Sums:
    """Return the law of the gap from the best channel for at most 30 nats: what exceeds them is not spent."""
    from ldpnb.mechanisms.best_gap import BestGapChannel

    sizes = question.groups
    users, mechanism = (
        sum(sizes),
        BestGapChannel(min(question.epsilon, 30.0), sizes[0] / sum(sizes)),
    )
    scores = min(sizes) / users * mechanism.scores
    return _of_channel(
        sizes, 1.0, math.sqrt(mechanism.variance / users), mechanism.channel(), scores
    )
