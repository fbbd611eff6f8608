"""Tables about better ways to measure a gap: one number per client, and intervals for the size of the gap."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from ldpnb.accuracy import gaps
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022.tables.gaps import families
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream


def by_share(epsilon: float, clients: int, shares: Sequence[float]) -> pd.DataFrame:
    """Return the largest variance of the gap for groups of unequal size, all mechanisms at the same exact loss.

    Returns
    -------
    DataFrame
        Columns ``share, M_R, M_L, k = 2, signed bit, signed Laplace`` and ``M_R over bit``.
    """
    rows = []
    for share in shares:
        small = round(clients * share)
        sizes = (small, clients - small)
        row = {
            "share": share,
            "M_R": gaps.worst_gap_variance(DiscretisedMeans.calibrated(epsilon), sizes),
            "M_L, k = 2": gaps.worst_gap_variance(LaplaceMeans.calibrated(epsilon), sizes),
            "signed bit": gaps.worst_gap_variance(SignedBit(epsilon, sizes), sizes),
            "signed Laplace": gaps.worst_gap_variance(SignedLaplace(epsilon, sizes), sizes),
        }
        rows.append(row | {"M_R over bit": row["M_R"] / row["signed bit"]})
    return pd.DataFrame(rows)


def bit_losses(epsilons: Sequence[float], sizes: tuple[int, ...]) -> pd.DataFrame:
    """Return the exact loss of `SignedBit` by its channel over groups and values: columns ``epsilon, enumerated``."""
    values = [-1.0, -0.5, 0.0, 0.5, 1.0]
    losses = [privacy_loss(SignedBit(epsilon, sizes).channel(values)).epsilon for epsilon in epsilons]
    return pd.DataFrame({"epsilon": list(epsilons), "enumerated": losses})


def clipped_interval(estimate: NDArray[np.float64], sd: float, *, level: float) -> NDArray[np.float64]:
    """Return ``|estimate| +- z sd``, cut off at 0, ``(n, 2)``: what one would do with an absolute gap without further
    thought.
    """
    half = -sd * float(ndtri((1 - level) / 2))
    size = np.abs(estimate)
    return np.stack([np.maximum(size - half, 0), size + half], axis=1)


def interval_coverage(true_gaps: Sequence[float], *, level: float) -> pd.DataFrame:
    """Return the exact coverage and expected length of two intervals for ``|gap|``, for normal estimates of standard
    deviation 1.

    Returns
    -------
    DataFrame
        Columns ``way, gap, coverage, length, excludes_zero`` (probability that the interval does not contain 0).
    """
    points = ndtri((np.arange(20_000) + 0.5) / 20_000)
    rows = []
    for gap in true_gaps:
        for way, ends in (
            ("likelihood ratio", estimators.absolute_interval(gap + points, 1.0, level=level)),
            ("clipped", clipped_interval(gap + points, 1.0, level=level)),
        ):
            inside = float(np.mean((ends[:, 0] <= gap) & (gap <= ends[:, 1])))
            row = {"way": way, "gap": gap, "coverage": inside, "length": float(np.mean(ends[:, 1] - ends[:, 0]))}
            rows.append(row | {"excludes_zero": float(np.mean(ends[:, 0] > 0))})
    return pd.DataFrame(rows)


def simulated_coverage(
    true_gaps: Sequence[float], *, epsilon: float, clients: int, repetitions: int, level: float, seed: int
) -> pd.DataFrame:
    """Measure gaps with `SignedBit` on two equal groups, from the exact law, and count how often the interval holds the
    gap.

    The first group's mean is half the gap and the second's the opposite. The standard deviation used is the one at
    values 0, the largest.

    Returns
    -------
    DataFrame
        Columns ``gap, coverage, standard_error, bias`` (of the absolute estimate), ``bias_exact``.
    """
    half = clients // 2
    mechanism = SignedBit(epsilon, (half, half))
    sd = float(np.sqrt(gaps.worst_gap_variance(mechanism, (half, half))))
    rows = []
    for gap in true_gaps:
        rng = stream("coverage", gap, seed=seed)
        values = [[gap / 2], [-gap / 2]]
        sums = mechanism.sample_sums([[half], [half]], values, repetitions=repetitions, rng=rng)
        found = estimators.contrast_gap(mechanism, sums)
        ends = estimators.absolute_interval(found, sd, level=level)
        inside = float(np.mean((ends[:, 0] <= gap) & (gap <= ends[:, 1])))
        row = {"gap": gap, "coverage": inside, "standard_error": float(np.sqrt(level * (1 - level) / repetitions))}
        moment = (gap / 2) ** 2
        own = float(np.sqrt(gaps.contrast_variance(mechanism, (moment, moment))))
        bias = float(np.mean(np.abs(found)) - gap)
        rows.append(row | {"bias": bias, "bias_exact": float(gaps.absolute_gap_bias(own, gap))})
    return pd.DataFrame(rows)


def typical_intervals(epsilons: Sequence[float], group_size: int, gap: float, *, level: float) -> pd.DataFrame:
    """Return the standard deviation of each mechanism on two equal groups, and the interval for an estimate that hits
    the gap.

    Returns
    -------
    DataFrame
        Columns ``mechanism, epsilon, sd, low, high``; every mechanism at the same exact loss.
    """
    sizes = (group_size, group_size)
    rows = []
    for name in ("M_R", "M_L, k = 2", "signed bit", "signed Laplace"):
        for epsilon in epsilons:
            sd = float(np.sqrt(gaps.worst_gap_variance(families(2 * group_size)[name](epsilon), sizes)))
            low, high = estimators.absolute_interval([gap], sd, level=level)[0]
            rows.append({"mechanism": name, "epsilon": epsilon, "sd": sd, "low": float(low), "high": float(high)})
    return pd.DataFrame(rows)
