"""Gaps between groups: users who do not answer, and the best channel."""

from functools import partial

import numpy as np

from ldpnb.accuracy import dropouts, gaps
from ldpnb.claims import Evidence, claim
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.papers.companion import proofs

result = partial(claim, kind="proof", reach="all parameters")


@result(
    "Dropouts, with estimated group sizes",
    dropouts.estimated_sizes_variance,
    dropouts.dropout_error,
    gaps.misestimated_gap_bias,
    gaps.variance_discretised_mean,
    estimators.self_sized_means,
    DiscretisedMeans.gain,
    over="eps1, eps2 > 0, two or more groups of any sizes, all means and second moments; the leading term in 1/K",
    argument="users answer independently, so that variances of the linearised gap are sums; a sum over a group puts "
    "its mean for v and its second moment for v^2. Errors of the linearisation are of smaller order in 1/K",
)
def estimated_sizes(e: Evidence) -> str:
    """under dropout M_R's gap is biased however many users there are; with group sizes estimated from the reported
    groups it is consistent, and for two equal groups of n that answer its variance is only 2 (1-a)^2 (m + m')^2 /
    ((2a-1)^2 n) larger than with known sizes, so that it pays unless the bias d' m' - d m is of the order of the noise
    """
    e.proven(proofs.linearised_gap())
    e.proven(proofs.two_equal_groups())
    mechanism, sizes, dropped = DiscretisedMeans(1.0, 1.0), (7_000, 9_000), (0.3, 0.1)
    values, held = np.array([-1.0, 0.6, 1.0]), np.array([[0.04, 0.3, 0.66]] * 2)
    means, moments = tuple(held @ values), tuple(held @ values**2)
    repaired = dropouts.estimated_sizes_variance(mechanism, sizes, means, moments)
    e.same(repaired, _delta_method(mechanism, np.array(sizes)[:, None] * held, values), rel=1e-5)
    error = dropouts.dropout_error(mechanism, sizes, dropped, means, moments)
    known = gaps.GroupGap(mechanism, sizes).variance(moments)
    shares = 1 - np.array(dropped)
    means_known = [gaps.mean_variance(mechanism, n, sum(sizes), m) for n, m in zip(sizes, moments, strict=True)]
    bias = (shares * means) @ (1, -1) - (means[0] - means[1])
    e.same(error, bias**2 + shares**2 @ means_known)
    e.needs(known < repaired < error)
    return (
        f"eps1 = eps2 = 1, {sizes[0]} and {sizes[1]} users answer, {dropped[0]:.0%} and {dropped[1]:.0%} do not, both "
        f"means {means[0]:.3f}: root mean squared errors of {np.sqrt(error):.4f} by Definition 5.1, "
        f"{np.sqrt(repaired):.4f} with estimated and {np.sqrt(known):.4f} with known sizes (the channel's covariances "
        "and numerical slopes agree)"
    )


def _delta_method(mechanism: DiscretisedMeans, held: np.ndarray, values: np.ndarray) -> float:
    """Return the variance of the gap from the covariances of the channel's reports and differences of the estimate."""
    channel, counts = mechanism.channel(values), held.ravel()
    mean, covariance = channel @ counts, np.diag(channel @ counts) - (channel * counts) @ channel.T

    def gap(tallies: np.ndarray) -> float:
        first, second = estimators.self_sized_means(mechanism, tallies.reshape(-1, 2))
        return float(first - second)

    steps = np.eye(mean.size)
    slopes = np.array([(gap(mean + step) - gap(mean - step)) / 2 for step in steps])
    return float(slopes @ covariance @ slopes)
