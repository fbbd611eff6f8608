"""The best channel of a given privacy for estimating frequencies, if there are few values.

An epsilon-LDP channel can be replaced by one that does at least as well and whose outputs are
*staircases*: rows that are a weight times a pattern of 1 and ``e^epsilon``. The information is
linear in the ``2^a - 2`` weights, the limiting error is the trace of its inverse, and the columns
must sum to 1. This is a convex problem, an A-optimal design. It is solved by an interior point,
with a lower bound from its dual.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, real

ITERATIONS = 200
"""Steps of the search after which a channel that is not certified is an error."""

_TOLERANCE = 1e-9
"""How far apart, relative to the error, error and lower bound may be."""


@dataclass(frozen=True, slots=True, eq=False)
class BestChannel:
    """A channel of least limiting error.

    Attributes
    ----------
    channel : ndarray, shape (2^a - 2, a)
        ``Pr(output y | value x)``. The row of number ``j`` favours the values whose bit is set in
        ``j + 1``.
    error : float
        ``n`` times the mean squared error of the distribution, in the limit of many users, averaged
        over the given distributions.
    lower_bound : float
        No channel of this privacy has a smaller error.
    """

    channel: Floats
    error: float
    lower_bound: float


def best_channel(distributions: ArrayLike, epsilon: float) -> BestChannel:
    """Find the channel with the least error among all that have a given privacy, for few values.

    Parameters
    ----------
    distributions : array_like, shape (a,) or (draws, a)
        One distribution of ``a`` values, from 2 to 8, or several of equal weight, over which the
        error is averaged. Probabilities are positive.
    epsilon : float
        Local privacy budget in nats, ``> 0``.

    Returns
    -------
    BestChannel
        The `channel`, its limiting `error` (``n`` times the mean squared error, for many users
        ``n``), and a `lower_bound` that no channel of this privacy falls below.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    RuntimeError
        If error and lower bound do not meet within a relative 1e-9.

    References
    ----------
    It answers, for few values, a question in Section 6 of Lopuhaä-Zwakenberg et al. (2020).

    Examples
    --------
    For two values it is randomised response, whose error at epsilon = ln 3 is 2.

    >>> round(best_channel([0.5, 0.5], np.log(3)).error, 6)
    2.0
    """
    points = np.atleast_2d(real(distributions))
    size = points.shape[1]
    are_distributions = (
        points.size
        and 2 <= size <= 8
        and points.min() > 0
        and np.abs(points.sum(axis=1) - 1).max() <= 1e-9
    )
    if not are_distributions:
        raise ValueError(
            "distributions must be positive and sum to 1, on 2 to 8 values, "
            f"got shape {points.shape}"
        )
    gap = -np.expm1(-checks.positive(epsilon, "epsilon"))

    bits = ((np.arange(1, 2**size - 1)[:, None] >> np.arange(size)) & 1).astype(float)
    patterns = np.where(bits, 1.0, np.exp(-epsilon))
    weights, value, bound = _best_weights(bits, patterns, gap, points)
    if not value - bound <= _TOLERANCE * value:
        raise RuntimeError(
            f"the best channel is known to {value - bound:.3g} only, tolerance={_TOLERANCE:g}"
        )

    squares = float((points**2).sum(axis=1).mean())
    return BestChannel(
        channel=weights[:, None] * patterns,
        error=value - squares,
        lower_bound=bound - squares,
    )


def _best_weights(
    bits: Floats, patterns: Floats, gap: float, points: Floats
) -> tuple[Floats, float, float]:
    """Minimise the trace of the inverse information by a primal-dual interior point.

    Returns the weights of the patterns, the trace that they attain, and a lower bound on it.
    """
    size = bits.shape[1]

    # All columns sum to 1: one of them does, and the differences, divided by the gap, sum to 0.
    equal = np.column_stack([patterns[:, 0], bits[:, 1:] - bits[:, :1]])
    sums = np.eye(size)[0]

    weights = np.full(len(patterns), 1 / (len(patterns) * patterns.mean(axis=0)[0]))
    multiplier = np.zeros(size)
    value, slope, curvature = _derivatives(bits, gap, points, weights)
    slack = np.full(len(weights), value / weights.sum())
    bound = -np.inf

    for _ in range(ITERATIONS):
        if (slope - equal @ multiplier).min() >= 0:
            bound = max(bound, value + float(multiplier[0] - slope @ weights))
        if value - bound <= _TOLERANCE * value:
            break

        centre = 0.2 * float(slack @ weights) / weights.size
        system = np.block(
            [
                [curvature + np.diag(slack / weights), -equal],
                [equal.T, np.zeros((size, size))],
            ]
        )
        aim = np.concatenate(
            [equal @ multiplier - slope + centre / weights, sums - equal.T @ weights]
        )
        solved = np.linalg.solve(system, aim)
        weight_step = solved[: weights.size]
        multiplier_step = solved[weights.size :]
        slack_step = centre / weights - slack - slack / weights * weight_step

        positive = np.concatenate([weights, slack])
        steps = np.concatenate([weight_step, slack_step])
        reach = 0.9 / max(float((-steps / positive).max()), 0.9)

        weights = weights + reach * weight_step
        slack = slack + reach * slack_step
        multiplier = multiplier + reach * multiplier_step
        value, slope, curvature = _derivatives(bits, gap, points, weights)
    return weights, value, bound


def _derivatives(
    bits: Floats, gap: float, points: Floats, weights: Floats
) -> tuple[float, Floats, Floats]:
    """Return the trace of the inverse information, and its gradient and Hessian in the weights.

    All are means over the points. A pattern is ``t 1 + gap B g``: its mean ``t`` under the point,
    and the coordinates ``g`` of its bits less their mean, in an orthonormal basis ``B`` of what is
    orthogonal to the point. In ``(t, g)`` the information is far from singular for any gap.
    """
    value = 0.0
    slope = np.zeros(weights.size)
    curvature = np.zeros((weights.size, weights.size))

    for point in points:
        share = bits @ point
        mean = 1 - gap + gap * share
        basis = np.linalg.svd(point[None])[2][1:]
        pattern = np.column_stack([mean, (bits - share[:, None]) @ basis.T])
        coordinates = pattern / np.sqrt(mean)[:, None]
        back = np.vstack([point, (basis - basis.sum(axis=1, keepdims=True) * point) / gap])

        inverse = np.linalg.inv((coordinates.T * weights) @ coordinates)
        once = coordinates @ inverse @ coordinates.T
        half = coordinates @ inverse @ back

        value += float(np.trace(back.T @ inverse @ back)) / len(points)
        slope -= (half**2).sum(axis=1) / len(points)
        curvature += 2 * once * (half @ half.T) / len(points)
    return value, slope, curvature
