"""Better ways to measure a gap: one number per user, and intervals for the size of the gap."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.special import ndtri

from ldpnb.accuracy import gaps
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.registry import GAP
from ldpnb.notebook import Rows, table
from ldpnb.papers.juarez2022.tables.gaps import BUDGET, families
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream

KEPT = ("M_R", "M_L, k = 2", "signed bit", "signed Laplace")
"""Mechanisms that keep their budgets."""


@table
def by_share(epsilon: float, users: int, shares: Sequence[float]) -> Rows:
    """Yield the largest variance of the gap for groups of unequal size, all mechanisms at the same exact loss."""
    for share in shares:
        sizes = (round(users * share), users - round(users * share))
        variances = {name: gaps.GroupGap(GAP[name](epsilon, sizes=sizes), sizes).worst_variance() for name in KEPT}
        yield {"share": share} | variances | {"M_R over bit": variances["M_R"] / variances["signed bit"]}


@table
def bit_losses(epsilons: Sequence[float], sizes: tuple[int, ...]) -> Rows:
    """Yield the exact loss of `SignedBit`, enumerated by its channel over groups and values."""
    for epsilon in epsilons:
        channel = SignedBit(epsilon, sizes).channel([-1.0, -0.5, 0.0, 0.5, 1.0])
        yield {"epsilon": epsilon, "enumerated": privacy_loss(channel).epsilon}


@table
def interval_coverage(true_gaps: Sequence[float], *, level: float) -> Rows:
    """Yield exact coverage and expected length of two intervals for ``|gap|``, estimates normal of deviation 1."""
    points, half = ndtri((np.arange(20_000) + 0.5) / 20_000), -float(ndtri((1 - level) / 2))
    for gap in true_gaps:
        for way, (low, high) in (
            ("likelihood ratio", estimators.absolute_interval(gap + points, 1.0, level=level).T),
            ("clipped", (np.maximum(np.abs(gap + points) - half, 0), np.abs(gap + points) + half)),
        ):
            coverage, length = float(np.mean((low <= gap) & (gap <= high))), float(np.mean(high - low))
            yield {"way": way, "true gap (standard deviations)": gap, "coverage": coverage, "length": length}


@table
def simulated_coverage(
    true_gaps: Sequence[float], *, epsilon: float, users: int, repetitions: int, level: float, seed: int
) -> Rows:
    """Measure gaps with `SignedBit` on two equal groups and count how often the interval holds the gap.

    The first group's mean is half the gap and the second's the opposite. The standard deviation used is the one at
    values 0, the largest. ``bias`` is of the absolute estimate.
    """
    half = users // 2
    mechanism = SignedBit(epsilon, (half, half))
    of_halves = gaps.GroupGap.of_halves(mechanism, users)
    for gap in true_gaps:
        values = [[gap / 2], [-gap / 2]]
        rng = stream("coverage", gap, seed=seed)
        sums = mechanism.sample_sums([[half], [half]], values, repetitions=repetitions, rng=rng)
        shown = estimators.contrast_gap(mechanism, sums)
        low, high = estimators.absolute_interval(shown, float(np.sqrt(of_halves.worst_variance())), level=level).T
        row = {"gap": gap, "coverage": float(np.mean((low <= gap) & (gap <= high)))}
        row |= {"standard_error": float(np.sqrt(level * (1 - level) / repetitions))}
        sd = np.sqrt(of_halves.variance(((gap / 2) ** 2,) * 2))
        yield row | {"bias": float(np.mean(np.abs(shown)) - gap), "bias_exact": float(gaps.absolute_gap_bias(sd, gap))}


@table
def typical_intervals(epsilons: Sequence[float], group_size: int, gap: float, *, level: float) -> Rows:
    """Yield each mechanism's standard deviation on two equal groups, and the interval if the estimate hits the gap."""
    for name, epsilon in product(KEPT, epsilons):
        mechanism = families(2 * group_size)[name](epsilon)
        sd = float(np.sqrt(gaps.GroupGap.of_halves(mechanism, 2 * group_size).worst_variance()))
        low, high = estimators.absolute_interval([gap], sd, level=level)[0].tolist()
        yield {"mechanism": name, BUDGET: epsilon, "standard deviation of the gap": sd, "low": low, "high": high}
