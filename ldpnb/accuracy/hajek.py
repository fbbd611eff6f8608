"""Exact mean and variance of the Hájek (ratio) estimate, for any rates and any number of nodes.

Write the estimate's ratio as ``A / B``: ``A = sum_j (1{j reports i} - r) S_j / pi_j`` and ``B = sum_j S_j / pi_j``,
with ``S_j`` whether node ``j`` is sampled and ``r`` the mean chance of reporting ``i``. Since ``1/B = int e^{-tB} dt``
and ``1/B^2 = int t e^{-tB} dt``, both moments are integrals over ``t`` of products over nodes, in which groups of equal
nodes are powers. Without a single report there is no estimate: moments are those given that somebody reports. Arguments
are those of `ldpnb.accuracy.personalised`.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb.accuracy.personalised import groups_of_nodes, inverse_rate_variance
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

Values = NDArray[np.float64]

_STEP, _FIRST, _LAST = 0.03125, -4.75, 7.0
"""Nodes of the double-exponential rule ``t = e^{x - e^{-x}}``; halving the step changes nothing beyond the twelfth
digit.
"""


def mean_hajek(holders: ArrayLike, *, sizes: ArrayLike, rates: ArrayLike, mechanism: KaryRandomisedResponse) -> float:
    """Return the exact mean of the Hájek estimate; with rates that follow the values it differs from the count by
    ``O(1)`` nodes.

    Parameters
    ----------
    holders, sizes : (g,) int
        Nodes of each group with the value, and in all.
    rates : (g,) float
        Sampling rates in ``(0, 1]``.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    float

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(mean_hajek([50, 10], sizes=[100, 100], rates=[0.5, 0.5], mechanism=mechanism), 9)
    60.0
    """
    held, size, _ = groups_of_nodes(holders, sizes, rates)
    return float(held.sum() + size.sum() * _ratio(holders, sizes, rates, mechanism)[0] / mechanism.truthful_rate)


def variance_hajek(
    holders: ArrayLike, *, sizes: ArrayLike, rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> float:
    """Return the exact variance of the Hájek estimate.

    Parameters
    ----------
    holders, sizes, rates, mechanism
        As in `mean_hajek`.

    Returns
    -------
    float

    Examples
    --------
    Of two nodes, one holder, the second is always sampled and nobody lies: 4/3 or 0 holders are estimated, as the first
    is sampled or not.

    >>> mechanism = KaryRandomisedResponse(60.0, 2)
    >>> round(variance_hajek([1, 0], sizes=[1, 1], rates=[0.5, 1.0], mechanism=mechanism) - (4 / 3) ** 2 / 4, 9)
    0.0
    """
    mean, square = _ratio(holders, sizes, rates, mechanism)
    nodes = float(groups_of_nodes(holders, sizes, rates)[1].sum())
    return float((square - mean**2) * (nodes / mechanism.truthful_rate) ** 2)


def leading_variance_hajek(
    holders: ArrayLike, *, sizes: ArrayLike, rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> float:
    """Return the leading term of `variance_hajek`: ``variance_horvitz_thompson`` with ``s_j - r`` for ``s_j - q``.

    Parameters
    ----------
    holders, sizes, rates, mechanism
        As in `mean_hajek`.

    Returns
    -------
    float
        Exact as the number of reports grows.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(leading_variance_hajek([50], sizes=[100], rates=[0.5], mechanism=mechanism), 9)
    175.0
    """
    held, size, rate = groups_of_nodes(holders, sizes, rates)
    mean_report = mechanism.q + held.sum() / size.sum() * mechanism.truthful_rate
    return inverse_rate_variance(held, size, rate, mechanism, mean_report)


def _ratio(
    holders: ArrayLike, sizes: ArrayLike, rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> tuple[float, float]:
    """Return the first two moments of ``A / B`` given that somebody reports."""
    held, size, rate = groups_of_nodes(holders, sizes, rates)
    truth, chances = np.stack([held, size - held]), np.array([[mechanism.p], [mechanism.q]])
    mean_report = mechanism.q + held.sum() / size.sum() * mechanism.truthful_rate
    x = np.arange(_FIRST, _LAST, _STEP)[:, None]
    t = np.exp(x - np.exp(-x)) / size.sum()
    # of a node's weight S/pi: the logarithm of its transform, and what is left of the transform when the node is known to be sampled
    silence = np.where(rate < 1, rate * np.expm1(-t / rate), 0)
    log_transform = np.where(rate < 1, np.log1p(silence), -t)
    sampled = np.exp(-t / rate - log_transform)
    weights = (_STEP * t * (1 + np.exp(-x)))[:, 0] * np.exp(log_transform @ size)
    first, second = ((truth * (chances - mean_report) ** power).sum(axis=0) for power in (1, 2))
    alone = (truth * (chances * (1 - mean_report) ** 2 + (1 - chances) * mean_report**2)).sum(axis=0) / rate
    mean = weights @ (sampled @ first)
    square = (weights * t[:, 0]) @ ((sampled @ first) ** 2 + sampled @ alone - sampled**2 @ second)
    somebody = -np.expm1(float(size @ np.log1p(-rate))) if (rate < 1).all() else 1.0
    return float(mean / somebody), float(square / somebody)
