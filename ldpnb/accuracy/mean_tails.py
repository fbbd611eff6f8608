"""Error quantiles of a mean of bounded numbers, exact, guaranteed or in the normal limit, and how many users a target
error needs.

The mechanisms are those of `ldpnb.mechanisms.means` and the variances those of `ldpnb.accuracy.means`. `failure` is the
probability with which an error may be exceeded; the lecture's "with probability 99%" is ``failure = 0.01``. Errors have
the unit of the values.
"""

import numpy as np
from scipy import special

from ldpnb import checks
from ldpnb.accuracy import means, tails

_DOUBLINGS = 12
"""How often the normal limit's number of users is doubled in search of the exact one, which exceeds it severalfold at
most.
"""


def normal_quantile(failure: float) -> float:
    """Return ``z`` with ``Pr(|N(0,1)| > z) = failure``.

    Examples
    --------
    >>> round(normal_quantile(0.01), 4)
    2.5758
    """
    return float(-special.ndtri(checks.open_probability(failure=failure) / 2))


def normal_error(variance: float, failure: float) -> float:
    """Return the error that a normal estimate of that variance exceeds with probability `failure`.

    The estimates here are sums over many users, so this is the limit for large ``n``; `one_bit_hoeffding_error` holds
    for every ``n``.

    Examples
    --------
    >>> round(normal_error(4.0, 0.01), 4)
    5.1517
    """
    return normal_quantile(failure) * float(np.sqrt(checks.non_negative(variance=variance)))


def one_bit_hoeffding_error(epsilon: float, upper: float, clients: int, failure: float) -> float:
    """Return ``upper coth(epsilon/2) sqrt(ln(2/failure) / (2n))``, an error that the 1-bit mean exceeds with at most
    that probability.

    Valid for every number of users and all values; at ``upper = 1`` it is the bound for Warner's randomised response.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    clients : int
        Number ``n >= 1`` of users.
    failure : float
        In ``(0, 1)``.

    Returns
    -------
    float

    References
    ----------
    lecture20, "Randomized response": "by Chernoff bound", in Hoeffding's form for bounded summands.

    Examples
    --------
    >>> round(one_bit_hoeffding_error(np.log(3), 1.0, 200, 2 / np.exp(4)), 12)
    0.2
    """
    spread = np.log(2 / checks.open_probability(failure=failure)) / 2
    return float(2 * np.sqrt(spread * means.one_bit_worst_variance(epsilon, upper, clients)))


def central_laplace_error(epsilon: float, upper: float, clients: int, failure: float) -> float:
    """Return ``upper ln(1/failure) / (n epsilon)``, the error that the central Laplace mean exceeds with exactly that
    probability.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    clients : int
        Number ``n >= 1`` of users.
    failure : float
        In ``(0, 1)``.

    Returns
    -------
    float

    References
    ----------
    lecture20, "Mean estimation", central model, which states it up to the constant.

    Examples
    --------
    >>> round(central_laplace_error(1.0, 1.0, 100, np.exp(-3)), 12)
    0.03
    """
    scale = checks.positive(upper=upper) / checks.positive(epsilon=epsilon) / checks.whole(clients=clients, at_least=1)
    return float(-np.log(checks.open_probability(failure=failure)) * scale)


def laplace_sum_tail(clients: int, threshold: float) -> float:
    """Return the exact ``Pr(|L_1 + ... + L_n| > threshold)`` of independent Laplace variables of scale 1.

    The sum is a difference of two gamma variables. Seen as two clocks of ``n`` exponential ticks each, one finishes
    while the other has ``k`` ticks left with probability ``C(2n-k-1, n-1) 2^(k-2n)``, and what is left is a gamma
    variable of shape ``k``: ``Pr = 2 sum_k C(2n-k-1, n-1) 2^(k-2n) Pr(Gamma(k) > threshold)``, a sum of ``O(sqrt n)``
    relevant terms.

    Parameters
    ----------
    clients : int
        Number ``n >= 1`` of variables.
    threshold : float
        ``>= 0``.

    Returns
    -------
    float

    References
    ----------
    The error of the local Laplace mean in lecture20, times ``n epsilon / upper``.

    Examples
    --------
    >>> round(laplace_sum_tail(1, np.log(4)), 12)
    0.25
    >>> laplace_sum_tail(5, 0.0)
    1.0
    """
    users = checks.whole(clients=clients, at_least=1)
    left = np.arange(1, min(users, int(14 * np.sqrt(users)) + 14) + 1)
    growth = 2.0 * (users - left[:-1]) / (2 * users - left[:-1] - 1)
    chances = np.cumprod(np.concatenate([[1.0], growth]))
    survival = special.gammaincc(left, checks.non_negative(threshold=threshold))
    return float(chances @ survival / chances.sum())


def local_laplace_success(epsilon: float, upper: float, clients: int, error: float) -> float:
    """Return the exact probability that the local Laplace mean is off by at most `error`, whatever the values.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    clients : int
        Number ``n >= 1`` of users.
    error : float
        ``> 0``.

    Returns
    -------
    float

    Examples
    --------
    >>> round(local_laplace_success(1.0, 1.0, 1, np.log(4)), 12)
    0.75
    """
    ticks = clients * checks.positive(error=error) * checks.positive(epsilon=epsilon) / checks.positive(upper=upper)
    return 1 - laplace_sum_tail(clients, ticks)


def one_bit_worst_success(epsilon: float, upper: float, clients: int, error: float) -> float:
    """Return the exact probability that the 1-bit mean is off by at most `error` when all values are ``upper / 2``.

    Ones less zeros are then a sum of fair signs; an error that equals `error` up to rounding counts as met.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    clients : int
        Number ``n >= 1`` of users.
    error : float
        ``> 0``.

    Returns
    -------
    float

    Examples
    --------
    >>> round(one_bit_worst_success(np.log(3), 1.0, 2, 0.5), 12)
    0.5
    """
    users = checks.whole(clients=clients, at_least=1)
    share = checks.positive(error=error) / checks.positive(upper=upper)
    reach = users * share * np.tanh(checks.positive(epsilon=epsilon) / 2)
    return 1 - tails.symmetric_binomial(users, 2 * reach + 1e-6)


def central_laplace_clients(epsilon: float, upper: float, error: float, failure: float) -> float:
    """Return ``upper ln(1/failure) / (error epsilon)``, the users the central Laplace mean needs for that error and
    failure probability.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    error : float
        Tolerated error, ``> 0``.
    failure : float
        In ``(0, 1)``.

    Returns
    -------
    float
        To be rounded up.

    References
    ----------
    lecture20, "Mean estimation": ``n >= upper / (error epsilon)``, here with its constant.

    Examples
    --------
    >>> round(central_laplace_clients(1.0, 1.0, 0.1, np.exp(-3)), 12)
    30.0
    """
    scale = checks.positive(upper=upper) / (checks.positive(error=error) * checks.positive(epsilon=epsilon))
    return float(-np.log(checks.open_probability(failure=failure)) * scale)


def local_laplace_clients(epsilon: float, upper: float, error: float, failure: float) -> float:
    """Return ``2 z^2 upper^2 / (error epsilon)^2``, the users the local Laplace mean needs, from the normal limit.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    error : float
        Tolerated error, ``> 0``.
    failure : float
        In ``(0, 1)``; ``z`` is its two-sided normal quantile.

    Returns
    -------
    float
        To be rounded up; `local_laplace_clients_exact` needs no normal limit.

    References
    ----------
    lecture20, "Mean estimation": ``n >= upper^2 / (epsilon^2 error^2)``, here with its constant.

    Examples
    --------
    >>> round(local_laplace_clients(1.0, 1.0, 0.1, 0.01), 4)
    1326.9793
    """
    return (normal_quantile(failure) / checks.positive(error=error)) ** 2 * means.local_laplace_variance(
        epsilon, upper, 1
    )


def local_laplace_clients_exact(epsilon: float, upper: float, error: float, failure: float) -> int:
    """Return the smallest number of users with which the local Laplace mean meets an error, from the exact law of the
    noise.

    The probability of a given error falls with every further user, because means of symmetric log-concave variables
    concentrate monotonically (Proschan, 1965), so bisection finds it.

    Parameters
    ----------
    epsilon, upper, error, failure : float
        As for `local_laplace_clients`.

    Returns
    -------
    int

    Examples
    --------
    >>> local_laplace_clients_exact(1.0, 1.0, 0.1, 0.01)
    1328
    """

    def fails(users: int) -> bool:
        return 1 - local_laplace_success(epsilon, upper, users, error) > failure

    start = int(np.ceil(local_laplace_clients(epsilon, upper, error, failure)))
    short, enough = 0, next((start << k for k in range(_DOUBLINGS) if not fails(start << k)), 0)
    if not enough:
        raise ArithmeticError(f"no number of users up to {start << _DOUBLINGS} meets error={error}, failure={failure}")
    while enough - short > 1:
        middle = (enough + short) // 2
        short, enough = (middle, enough) if fails(middle) else (short, middle)
    return enough


def one_bit_clients(epsilon: float, upper: float, error: float, failure: float) -> float:
    """Return ``z^2 (upper coth(epsilon/2) / (2 error))^2``, the users the 1-bit mean needs for any values, from the
    normal limit.

    Parameters
    ----------
    epsilon, upper : float
        Of the mechanism.
    error : float
        Tolerated error, ``> 0``.
    failure : float
        In ``(0, 1)``; ``z`` is its two-sided normal quantile.

    Returns
    -------
    float
        To be rounded up.

    References
    ----------
    lecture20, "1-bit communication": ``n >= upper^2 / (error^2 epsilon^2)``, here with its constant.

    Examples
    --------
    >>> round(one_bit_clients(1.0, 1.0, 0.1, 0.01), 4)
    776.7298
    """
    return (normal_quantile(failure) / checks.positive(error=error)) ** 2 * means.one_bit_worst_variance(
        epsilon, upper, 1
    )


def one_bit_clients_hoeffding(epsilon: float, upper: float, error: float, failure: float) -> float:
    """Return ``(upper coth(epsilon/2) / error)^2 ln(2/failure) / 2``, with which the 1-bit mean meets the error for
    certain.

    Parameters
    ----------
    epsilon, upper, error, failure : float
        As for `one_bit_clients`.

    Returns
    -------
    float
        To be rounded up.

    References
    ----------
    lecture20, "1-bit communication", through the Chernoff-Hoeffding bound.

    Examples
    --------
    >>> round(one_bit_clients_hoeffding(np.log(3), 1.0, 0.2, 2 / np.exp(4)), 9)
    200.0
    """
    return (one_bit_hoeffding_error(epsilon, upper, 1, failure) / checks.positive(error=error)) ** 2
