"""Exact variances of a mean of bounded numbers under local and central privacy, and what a report costs in bits.

The mechanisms are those of `ldpnb.mechanisms.means`: values lie in ``[0, upper]``, a budget `epsilon` is in nats and
protects against replacing one user's value, the number of users is public. Variances have the unit of the values
squared. For error quantiles and the number of users that a target needs, see `ldpnb.accuracy.mean_tails`.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.mechanisms.means import OneBit


def warner_variance(epsilon: float, clients: int) -> float:
    """Return the variance ``1 / (4 n sinh^2(epsilon/2))`` of the mean of bits under Warner's randomised response,
    whatever the bits.

    Parameters
    ----------
    epsilon : float
        Budget, ``> 0``.
    clients : int
        Number ``n >= 1`` of users.

    Returns
    -------
    float

    References
    ----------
    lecture20, "Randomized response": ``e^epsilon / ((e^epsilon - 1)^2 n)``, from which its error ``O(1 / (epsilon sqrt
    n))`` follows.

    Examples
    --------
    >>> round(warner_variance(np.log(3), 100), 12)
    0.0075
    """
    users = checks.whole(clients=clients, at_least=1)
    return float(1 / (4 * users * np.sinh(checks.positive(epsilon=epsilon) / 2) ** 2))


def one_bit_variance(values: ArrayLike, counts: ArrayLike, *, epsilon: float, upper: float) -> float:
    """Return the exact variance ``(upper/n)^2 coth^2(epsilon/2) sum P(1-P)`` of the 1-bit mean, ``P`` a user's chance
    of a one.

    Parameters
    ----------
    values : (v,) float
        Distinct values in ``[0, upper]``.
    counts : (v,) int
        How many users hold each.
    epsilon, upper : float
        Of the mechanism.

    Returns
    -------
    float

    References
    ----------
    lecture20, "1-bit communication".

    Examples
    --------
    >>> round(one_bit_variance([0.0, 1.0], [60, 40], epsilon=np.log(3), upper=1.0), 12)
    0.0075
    >>> round(one_bit_variance([0.5], [100], epsilon=np.log(3), upper=1.0), 12)
    0.01
    """
    mechanism, users = OneBit(epsilon, upper), checks.counts(counts=counts)
    zero, one = mechanism.channel(values)
    return float((upper / users.sum() / mechanism.slope) ** 2 * np.sum(users * zero * one))


def one_bit_worst_variance(epsilon: float, upper: float, clients: int) -> float:
    """Return the largest variance ``upper^2 coth^2(epsilon/2) / (4n)`` of the 1-bit mean: all values at ``upper / 2``.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    clients : int
        Number ``n >= 1`` of users.

    Returns
    -------
    float

    References
    ----------
    lecture20, "1-bit communication".

    Examples
    --------
    >>> round(one_bit_worst_variance(np.log(3), 1.0, 100), 12)
    0.01
    """
    deviation = one_bit_floor(upper, clients) / np.tanh(checks.positive(epsilon=epsilon) / 2)
    return float(deviation**2)


def one_bit_floor(upper: float, clients: int) -> float:
    """Return ``upper / (2 sqrt n)``, the worst standard deviation of the 1-bit mean that remains as the budget grows
    without bound.

    Parameters
    ----------
    upper : float
        Largest value.
    clients : int
        Number ``n >= 1`` of users.

    Returns
    -------
    float

    References
    ----------
    Limit of the error that lecture20 writes as ``O(upper / (epsilon sqrt n))``.

    Examples
    --------
    >>> one_bit_floor(1.0, 100)
    0.05
    """
    return float(checks.positive(upper=upper) / (2 * np.sqrt(checks.whole(clients=clients, at_least=1))))


def local_laplace_variance(epsilon: float, upper: float, clients: int) -> float:
    """Return the variance ``2 upper^2 / (n epsilon^2)`` of the mean of locally noised values.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    clients : int
        Number ``n >= 1`` of users.

    Returns
    -------
    float

    References
    ----------
    lecture20, "Mean estimation", local model.

    Examples
    --------
    >>> local_laplace_variance(0.5, 2.0, 8)
    4.0
    """
    scale = checks.positive(upper=upper) / checks.positive(epsilon=epsilon)
    return 2 * scale**2 / checks.whole(clients=clients, at_least=1)


def central_laplace_variance(epsilon: float, upper: float, clients: int) -> float:
    """Return the variance ``2 upper^2 / (n epsilon)^2`` of the central Laplace mean.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    clients : int
        Number ``n >= 1`` of users.

    Returns
    -------
    float

    References
    ----------
    lecture20, "Mean estimation", central model.

    Examples
    --------
    >>> central_laplace_variance(0.5, 2.0, 8)
    0.5
    """
    return local_laplace_variance(epsilon, upper, clients) / clients


def one_bit_crossing() -> float:
    """Return the budget up to which one bit beats local Laplace noise for every data set: ``epsilon coth(epsilon/2) = 2
    sqrt 2``.

    Below it the worst variance ``coth^2(epsilon/2) / 4`` of a bit is less than the ``2 / epsilon^2`` of the noise. The
    root is the fixed point of ``2 sqrt 2 tanh(epsilon/2)``, a contraction there.

    Returns
    -------
    float
        Nats.

    Examples
    --------
    >>> round(one_bit_crossing(), 4)
    2.3242
    """
    epsilon = 2.0
    for _ in range(80):
        epsilon = float(2 * np.sqrt(2) * np.tanh(epsilon / 2))
    return epsilon


def approximate_bit_variance(epsilon: float, delta: float, clients: int) -> float:
    """Return the least worst-case variance of an unbiased mean of bits from ``(epsilon, delta)``-LDP reports, one
    round, linear estimate.

    Every such randomiser is a post-processing of one that reveals the bit with probability `delta` and is Warner's
    otherwise (Kairouz, Oh and Viswanath, 2015). Weighing its four reports best gives ``(1 / (delta + (1-delta)
    tanh^2(epsilon/2)) - 1) / (4n)``.

    Parameters
    ----------
    epsilon : float
        Budget, ``> 0``.
    delta : float
        In ``[0, 1]``; at 0 this is `warner_variance`.
    clients : int
        Number ``n >= 1`` of users.

    Returns
    -------
    float

    References
    ----------
    What can be decided of the question "(epsilon, 0)-LDP v.s. (epsilon, delta)-LDP ?" of lecture20.

    Examples
    --------
    >>> round(approximate_bit_variance(np.log(3), 0.0, 100), 12)
    0.0075
    >>> round(approximate_bit_variance(np.log(3), 1.0, 100), 12)
    0.0
    """
    share = checks.probability(delta=delta)
    return warner_variance(epsilon, clients) * (1 - share) / (1 + share / float(np.sinh(epsilon / 2)) ** 2)


def laplace_report_bits(epsilon: float, upper: float, resolution: float) -> float:
    """Return ``log2(2 e upper / (epsilon resolution))``, the entropy of a local Laplace report rounded to a fine
    resolution.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    resolution : float
        Spacing of the reports, well below ``upper / epsilon``.

    Returns
    -------
    float
        Bits.

    References
    ----------
    lecture20, "Communication issues": ``O(log upper)`` bits per user, at resolution 1.

    Examples
    --------
    >>> round(laplace_report_bits(1.0, 1024.0, 1.0), 4)
    12.4427
    """
    scale = checks.positive(upper=upper) / checks.positive(epsilon=epsilon)
    return float(np.log2(2 * np.e * scale / checks.positive(resolution=resolution)))
