"""Gaps between groups: users who do not answer, and the best channel."""

from functools import partial
from typing import Any

import numpy as np

from ldpnb.accuracy import dropouts, gaps
from ldpnb.claims import Evidence, claim
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms import best_gap, contrasts, moves
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.papers.companion import proofs
from ldpnb.papers.juarez2022 import routes
from ldpnb.privacy import channel

result = partial(claim, kind="proof", reach="all parameters")


@result(
    "Dropouts, with estimated group sizes",
    dropouts.estimated_sizes_variance,
    dropouts.dropout_error,
    gaps.misestimated_gap_bias,
    gaps.variance_discretised_mean,
    estimators.self_sized_means,
    DiscretisedMeans.gain,
    gaps.GroupGap.variance,
    gaps.mean_variance,
    DiscretisedMeans.channel,
    DiscretisedMeans.keep,
    DiscretisedMeans.move,
    moves.sign_probabilities,
    over="eps1, eps2 > 0, two or more groups of any sizes, all means and second moments, users "
    "who drop out whatever their value; the leading term in 1/K",
    argument="users answer independently, so that variances of the linearised gap are sums; a sum over a group puts "
    "its mean for v and its second moment for v^2. Errors of the linearisation are of smaller order in 1/K",
)
def estimated_sizes(e: Evidence) -> str:
    """under dropout M_R's gap is off by d' m' - d m however many users there are; with group sizes estimated from the
    reported groups it is consistent, and for two equal groups of n that answer its variance is 2 (1-a)^2 (m + m')^2 /
    ((2a-1)^2 n) larger than with known sizes; it pays wherever that bias exceeds its standard deviation
    """
    e.proven(proofs.linearised_gap() and proofs.two_equal_groups())
    mechanism, sizes, dropped = DiscretisedMeans(1.0, 1.0), (7_000, 9_000), (0.3, 0.1)
    values, held = np.array([-1.0, 0.6, 1.0]), np.array([[0.04, 0.3, 0.66]] * 2)
    means, moments = tuple(held @ values), tuple(held @ values**2)
    repaired = dropouts.estimated_sizes_variance(mechanism, sizes, means, moments)
    e.same(repaired, _delta_method(mechanism, np.array(sizes)[:, None] * held, values), rel=1e-5)
    error = dropouts.dropout_error(mechanism, sizes, dropped, means, moments)
    known = gaps.GroupGap(mechanism, sizes).variance(moments)
    shares = 1 - np.array(dropped)
    means_known = [gaps.mean_variance(mechanism, n, sum(sizes), m) for n, m in zip(sizes, moments, strict=True)]
    counts = np.rint(np.array(sizes)[:, None] * held).astype(int)
    estimated = np.array([routes.mean_moments(mechanism, counts, values, group) for group in (0, 1)])
    e.same(estimated[:, 1], means_known)
    bias = (shares * estimated[:, 0]) @ (1, -1) - (means[0] - means[1])
    e.same(known, routes.gap_moments(mechanism, counts, values)[1])
    e.same(error, bias**2 + shares**2 @ estimated[:, 1])
    e.needs(known < repaired < error)
    return (
        f"eps1 = eps2 = 1, {sizes[0]} and {sizes[1]} users answer, {dropped[0]:.0%} and {dropped[1]:.0%} do not, both "
        f"means {means[0]:.3f}: root mean squared errors of {np.sqrt(error):.4f} by Definition 5.1, "
        f"{np.sqrt(repaired):.4f} with estimated and {np.sqrt(known):.4f} with known sizes (the channel's covariances "
        "and numerical slopes agree)"
    )


def _delta_method(mechanism: DiscretisedMeans, held: np.ndarray, values: np.ndarray) -> float:
    """Return the variance of the gap from the covariances of the channel's reports and differences of the estimate."""
    law, counts = mechanism.channel(values), held.ravel()
    mean, covariance = law @ counts, np.diag(law @ counts) - (law * counts) @ law.T

    def gap(tallies: np.ndarray) -> float:
        first, second = estimators.self_sized_means(mechanism, tallies.reshape(-1, 2))
        return float(first - second)

    steps = np.eye(mean.size)
    slopes = np.array([(gap(mean + step) - gap(mean - step)) / 2 for step in steps])
    return float(slopes @ covariance @ slopes)


@claim(
    "The best channel for a gap",
    best_gap.BestGapChannel.variance,
    best_gap.BestGapChannel.bound,
    best_gap.BestGapChannel.channel,
    best_gap.rare_group_limit,
    contrasts.SignedBit.gain,
    gaps.GroupGap.worst_variance,
    best_gap.BestGapChannel.target,
    DiscretisedMeans.calibrated,
    channel.privacy_loss,
    kind="certified",
    example=True,
    over="shares .5, .25, .1, .05, .01 and .001, epsilon .1, .5, 1, 2, 3 and 6 (equal groups: every budget); values "
    "drawn as -1 or +1 with equal chance in both groups, as those of 0 are by rounding, and the variance counts the "
    "draw; a channel that takes numbers unrounded, such as M_L, can have less at large budgets",
    argument="splitting an output into patterns of heights 1 and e^epsilon loses nothing (Kairouz, Oh and Viswanath); "
    "any y bounds the variance of every channel from below",
)
def best_channel_for_a_gap(e: Evidence) -> str:
    """a computed channel has the least variance of a gap over all epsilon-LDP channels, to six digits; one randomised
    sign attains it for equal groups, M_R, with budgets that are kept, at epsilon 3 and 6 for shares of a tenth and a
    quarter, and neither attains it for unequal groups at smaller budgets
    """
    e.proven(proofs.one_sign_for_equal_groups())
    shares, budgets = (0.5, 0.25, 0.1, 0.05, 0.01, 0.001), (0.1, 0.5, 1.0, 2.0, 3.0, 6.0)
    found = {(s, b): best_gap.BestGapChannel(b, s) for s in shares for b in budgets}
    gaps_left = [best.variance / best.bound - 1 for best in found.values()]
    e.sure(max(np.abs(gaps_left)) < 1e-6)
    for best in found.values():
        matrix, inputs = best.channel(), np.repeat([best.share, 1 - best.share], 2) / 2
        e.same(matrix.sum(axis=0), np.ones(4))
        e.same(channel.privacy_loss(matrix).epsilon, best.epsilon)
        e.same(best.scores @ matrix / best.target, np.ones(4))
        e.same(best.scores**2 @ matrix @ inputs, best.variance)
    halves = [4 / contrasts.SignedBit(b, (1, 1)).gain ** 2 for b in budgets]
    e.same([found[0.5, b].variance for b in budgets], halves)
    e.same([(0.001**2) * found[0.001, b].variance for b in budgets[:3]], _limits(budgets[:3]), rel=2e-3)
    ratios = {
        key: [
            _other(contrasts.SignedBit(b.epsilon, _sizes(b.share)), b),
            _other(DiscretisedMeans.calibrated(b.epsilon), b),
        ]
        for key, b in found.items()
    }
    e.needs(all(min(ratio) > 1 + 1e-6 for (share, b), ratio in ratios.items() if share < 0.5 and b <= 2))
    e.needs(all(abs(ratios[share, b][1] - 1) < 1e-6 for share in (0.1, 0.25) for b in (3.0, 6.0)))
    some = [(share, b, *ratios[share, b]) for share, b in ((0.25, 1.0), (0.01, 0.5), (0.01, 1.0), (0.01, 3.0))]
    shown = [f"{sign:.3f} and {other:.3f} at share {share:g}, epsilon {b:g}" for share, b, sign, other in some]
    return f"36 dual bounds meet; times the least variance the sign and M_R have {'; '.join(shown)}"


def _limits(budgets: tuple[float, ...]) -> list[float]:
    return [float(best_gap.rare_group_limit(b)) for b in budgets]


def _sizes(share: float) -> tuple[int, int]:
    return round(1000 * share), 1000 - round(1000 * share)


def _other(mechanism: Any, best: best_gap.BestGapChannel) -> float:
    """Return the variance of another mechanism over the least one, values 0 being the worst for both."""
    return float(1000 * gaps.GroupGap(mechanism, _sizes(best.share)).worst_variance() / best.variance)
