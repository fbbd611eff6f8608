"""Exact errors of a mean of bounded numbers under local and central privacy, and how many users a target error needs.

The mechanisms of `ldpnb.mechanisms.means` know their budget (nats, for replacing one user's value) and the range of the
values; what is asked of them here is the number of ``users``, which is public, a tolerated ``error`` in the unit of the
values, and ``failure``, the chance that the error is exceeded. The lecture's "with probability 99%" is ``failure =
0.01``. Variances have the unit of the values squared.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ldpnb import checks
from ldpnb.accuracy import tails
from ldpnb.arithmetic import Real
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, MeanMechanism, OneBit

_FEW = 200

MOST_COUNTED = 10**10
"""Beyond so many users the exact law of a sum takes seconds, and a search for it minutes."""

_DOUBLINGS = 12
"""How often the normal limit's number of users is doubled in search of the exact one: it is severalfold at most."""


def variance(mechanism: MeanMechanism, values: ArrayLike, counts: ArrayLike) -> float:
    """Return the exact variance of the mean for given data.

    For one bit ``(upper/n)^2 coth^2(epsilon/2) sum P(1-P)``, ``P`` a user's chance of a one; noise is the same for all
    data.

    Parameters
    ----------
    mechanism : OneBit, LocalLaplace or CentralLaplace
    values : (v,) float
        Distinct values in ``[0, upper]``.
    counts : (v,) int
        How many users hold each.

    References
    ----------
    lecture20, "1-bit communication".

    Examples
    --------
    >>> bit = OneBit(np.log(3))
    >>> round(variance(bit, [0.0, 1.0], [60, 40]), 12), round(variance(bit, [0.5], [100]), 12)
    (0.0075, 0.01)
    """
    held = checks.counts(counts=counts)
    if not isinstance(mechanism, OneBit):
        return float(worst_variance(mechanism, int(held.sum())))
    zero, one = mechanism.channel(values)
    return float((mechanism.upper / held.sum() / mechanism.slope) ** 2 * np.sum(held * zero * one))


def worst_variance(mechanism: MeanMechanism, users: Real) -> Real:
    """Return the largest variance of the mean over all data.

    ``upper^2 coth^2(epsilon/2) / (4n)`` for one bit (all values at ``upper / 2``), ``2 (upper / epsilon)^2 / n`` for
    noise added by users, ``2 (upper / (n epsilon))^2`` for a curator's.

    References
    ----------
    lecture20, "1-bit communication" and "Mean estimation".

    Examples
    --------
    >>> round(float(worst_variance(OneBit(np.log(3)), 100)), 12)
    0.01
    >>> worst_variance(LocalLaplace(0.5, 2.0), 8), worst_variance(CentralLaplace(0.5, 2.0), 8)
    (4.0, 0.5)
    """
    number = checks.whole(users=users, at_least=1)
    if isinstance(mechanism, OneBit):
        return (mechanism.upper / mechanism.slope) * (mechanism.upper / mechanism.slope) / (4 * number)
    noise = 2 * (mechanism.scale * mechanism.scale) / number
    return noise / number if isinstance(mechanism, CentralLaplace) else noise


def warner_variance(epsilon: Real, users: Real) -> Real:
    """Return ``1 / (4 n sinh^2(epsilon/2))``, the variance of a mean of bits under randomised response, for all bits.

    References
    ----------
    lecture20, "Randomized response": ``e^epsilon / ((e^epsilon - 1)^2 n)``, hence an error ``O(1 / (epsilon sqrt n))``.

    Examples
    --------
    >>> round(float(warner_variance(np.log(3), 100)), 12)
    0.0075
    """
    root = np.sinh(checks.positive(epsilon=epsilon) / 2)
    return 1 / (4 * checks.whole(users=users, at_least=1) * (root * root))


def warner_error(epsilon: ArrayLike, users: int, ones: int, failure: float) -> NDArray[np.float64]:
    """Return the exact error of randomised response that is exceeded with at most that chance, shaped like epsilon.

    Lies of holders of a zero less lies of the `ones` have a law on ``users + 1`` points, by a Fourier transform.

    Examples
    --------
    >>> [round(float(warner_error(np.log(3), 1, 1, chance)), 12) for chance in (0.3, 0.2)]
    [0.5, 1.5]
    """
    budgets, number = np.asarray(epsilon, dtype=float)[..., None], checks.whole(users=users, at_least=1)
    lie, lies = 1 / (1 + np.exp(budgets)), np.arange(-ones, number - ones + 1)
    turn = np.exp(-2j * np.pi * np.arange(number + 1) / (number + 1))
    law = np.fft.ifft((1 - lie + lie * turn) ** (number - ones) * (1 - lie + lie / turn) ** ones, axis=-1).real
    errors = np.abs(lies - (number - 2 * ones) * lie) / (number * np.tanh(budgets / 2))
    order = np.argsort(errors, axis=-1, kind="stable")
    met = np.cumsum(np.take_along_axis(law[..., lies], order, axis=-1), axis=-1)
    enough = np.argmax(met >= 1 - checks.open_probability(failure=failure) - 1e-12, axis=-1)[..., None]
    return np.take_along_axis(np.take_along_axis(errors, order, axis=-1), enough, axis=-1)[..., 0]


def largest_warner_constant(users: int, failure: float) -> float:
    """Return the supremum of ``epsilon sqrt(users)`` times `warner_error` over all budgets and bits.

    At fixed bits the error jumps down at isolated budgets and is smooth between them. The best points of a grid up to
    12 nats are followed to their jumps. For at most 200 users; the normal limit is close by then.

    Examples
    --------
    >>> round(largest_warner_constant(1, 0.01), 6), round(99 / 98 * float(np.log(99)), 6)
    (4.642009, 4.642009)
    """
    if checks.whole(users=users, at_least=1) > _FEW:
        raise ValueError(f"users must be at most {_FEW}, got users={users}")
    grid = np.geomspace(0.02, 12, 400)

    def constants(budgets: NDArray[np.float64], ones: int) -> NDArray[np.float64]:
        return budgets * np.sqrt(users) * warner_error(budgets, users, ones, failure)

    tried = np.stack([constants(grid, ones) for ones in range(users // 2 + 1)])
    best = 0.0
    for place in np.argsort(tried, axis=None)[-30:]:
        ones, at = (int(index) for index in np.unravel_index(place, tried.shape))
        low, high = grid[at], grid[min(at + 1, grid.size - 1)]
        for _ in range(7):
            finer = np.linspace(low, high, 33)
            here = constants(finer, ones)
            top = int(here.argmax())
            best, low, high = max(best, float(here[top])), finer[top], finer[min(top + 1, 32)]
    return best


def one_bit_floor(upper: Real, users: Real) -> Real:
    """Return ``upper / (2 sqrt n)``, the worst standard deviation of the 1-bit mean that remains at any budget.

    It is the limit, for large budgets, of the error that lecture20 writes as ``O(upper / (epsilon sqrt n))``.

    Examples
    --------
    >>> float(one_bit_floor(1.0, 100))
    0.05
    """
    return checks.positive(upper=upper) / (2 * np.sqrt(checks.whole(users=users, at_least=1)))


def one_bit_crossing() -> float:
    """Return the budget up to which one bit beats local noise for all data: ``epsilon coth(epsilon/2) = 2 sqrt 2``.

    Below it the worst variance ``coth^2(epsilon/2) / 4`` of a bit is less than the ``2 / epsilon^2`` of the noise. The
    root is the fixed point of ``2 sqrt 2 tanh(epsilon/2)``, a contraction there. In nats.

    Examples
    --------
    >>> round(one_bit_crossing(), 4)
    2.3242
    """
    epsilon = 2.0
    for _ in range(80):
        epsilon = float(2 * np.sqrt(2) * np.tanh(epsilon / 2))
    return epsilon


def approximate_bit_variance(epsilon: Real, delta: Real, users: Real) -> Real:
    """Return the least worst-case variance of an unbiased average of weighted ``(epsilon, delta)``-LDP reports of bits.

    Estimates that are no averages of a weight per report are not compared. Every such randomiser is a post-processing
    of one that reveals the bit with probability `delta` and is Warner's otherwise (Kairouz, Oh and Viswanath, 2015).
    Weighing its four reports best gives ``(1 / (delta + (1-delta) tanh^2(epsilon/2)) - 1) / (4n)``; at ``delta = 0``
    that is `warner_variance`.

    References
    ----------
    What can be decided of the question "(epsilon, 0)-LDP v.s. (epsilon, delta)-LDP ?" of lecture20.

    Examples
    --------
    >>> round(float(approximate_bit_variance(np.log(3), 0.0, 100)), 12)
    0.0075
    >>> round(float(approximate_bit_variance(np.log(3), 1.0, 100)), 12)
    0.0
    """
    share, root = checks.probability(delta=delta), np.sinh(checks.positive(epsilon=epsilon) / 2)
    return warner_variance(epsilon, users) * (1 - share) / (1 + share / (root * root))


def laplace_report_bits(mechanism: LocalLaplace, resolution: Real) -> Real:
    """Return ``log2(2 e upper / (epsilon resolution))``, the entropy of a Laplace report at a fine resolution.

    Reports are rounded to multiples of `resolution`, well below ``upper / epsilon``.

    References
    ----------
    lecture20, "Communication issues": ``O(log upper)`` bits per user, at resolution 1.

    Examples
    --------
    >>> round(float(laplace_report_bits(LocalLaplace(1.0, 1024.0), 1.0)), 4)
    12.4427
    """
    return (1 + np.log(2 * mechanism.scale / checks.positive(resolution=resolution))) / np.log(2)


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

    The estimates here are sums over many users, so this is the limit for large ``n``; `certain_error` holds for every
    ``n``.

    Examples
    --------
    >>> round(normal_error(4.0, 0.01), 4)
    5.1517
    """
    return normal_quantile(failure) * float(np.sqrt(checks.non_negative(variance=variance)))


def certain_error(mechanism: OneBit | CentralLaplace, users: Real, failure: Real) -> Real:
    """Return an error that is exceeded with at most that chance, for every number of users and all data.

    For one bit Hoeffding's ``upper coth(epsilon/2) sqrt(ln(2/failure) / (2n))``, at ``upper = 1`` the bound for
    randomised response; for the curator ``upper ln(1/failure) / (n epsilon)``, exceeded with exactly that chance.

    References
    ----------
    lecture20, "Randomized response": "by Chernoff bound", in Hoeffding's form for bounded summands; "Mean estimation",
    central model, up to the constant.

    Examples
    --------
    >>> round(float(certain_error(OneBit(np.log(3)), 200, 2 / np.exp(4))), 12)
    0.2
    >>> round(float(certain_error(CentralLaplace(1.0), 100, np.exp(-3))), 12)
    0.03
    """
    chance, number = checks.open_probability(failure=failure), checks.whole(users=users, at_least=1)
    if isinstance(mechanism, OneBit):
        return 2 * np.sqrt(np.log(2 / chance) / 2 * worst_variance(mechanism, users))
    return -np.log(chance) * mechanism.scale / number


def users_needed(mechanism: MeanMechanism, error: Real, failure: Real) -> Real:
    """Return the users with which an error is met in the normal limit at the worst data, to be rounded up.

    ``z^2 / error^2`` times the worst variance of one user's report. For the curator the law itself, ``upper
    ln(1/failure) / (error epsilon)``.

    References
    ----------
    lecture20, "Mean estimation" and "1-bit communication": ``upper^2 / (error epsilon)^2``, for a curator ``upper /
    (error epsilon)``; here with their constants.

    Examples
    --------
    >>> [round(float(users_needed(mechanism(1.0), 0.1, 0.01)), 4) for mechanism in (OneBit, LocalLaplace)]
    [776.7298, 1326.9793]
    >>> round(float(users_needed(CentralLaplace(1.0), 0.1, np.exp(-3))), 12)
    30.0
    """
    target = checks.positive(error=error)
    if isinstance(mechanism, CentralLaplace):
        return certain_error(mechanism, 1, failure) / target
    deviations = normal_quantile(failure) / target
    return deviations * deviations * worst_variance(mechanism, 1)


def users_for_certain(mechanism: OneBit | LocalLaplace, error: float, failure: float) -> float:
    """Return the users with which an error is met for certain: by Hoeffding's bound for one bit, exactly for noise.

    The chance of a given error falls with every further user, because means of symmetric log-concave variables
    concentrate monotonically (Proschan, 1965), so that bisection finds the smallest number, if that is at most 1e10.
    Hoeffding's is to be rounded up.

    Examples
    --------
    >>> round(users_for_certain(OneBit(np.log(3)), 0.2, 2 / np.exp(4)), 9)
    200.0
    >>> users_for_certain(LocalLaplace(1.0), 0.1, 0.01)
    1328
    """
    if isinstance(mechanism, OneBit):
        return float((certain_error(mechanism, 1, failure) / checks.positive(error=error)) ** 2)
    near = users_needed(mechanism, error, failure)
    if not near <= MOST_COUNTED:
        raise ValueError(
            f"error must allow an exact count of at most {MOST_COUNTED:.0e} users, got error={error!r}, which needs "
            f"about {near:.3g}"
        )
    near = int(np.ceil(near))
    return _smallest(lambda users: 1 - success(mechanism, users, error) <= failure, near)


def success(mechanism: OneBit | LocalLaplace, users: int, error: float) -> float:
    """Return the exact chance that the mean is off by at most `error`: at the worst data (a bit), for all data (noise).

    At the worst data, all at ``upper / 2``, ones less zeros are a sum of fair signs; an error that equals `error` up to
    rounding counts as met.

    Examples
    --------
    >>> round(success(OneBit(np.log(3)), 2, 0.5), 12), round(success(LocalLaplace(1.0), 1, np.log(4)), 12)
    (0.5, 0.75)
    """
    number, target = checks.whole(users=users, at_least=1), checks.positive(error=error)
    if isinstance(mechanism, OneBit):
        reach = number * (target / mechanism.upper) * mechanism.slope
        return 1 - tails.symmetric_binomial(number, float(2 * reach + 1e-6))
    return 1 - laplace_sum_tail(number, number * target * mechanism.epsilon / mechanism.upper)


def laplace_sum_tail(users: int, threshold: float) -> float:
    """Return the exact ``Pr(|L_1 + ... + L_n| > threshold)`` of independent Laplace variables of scale 1.

    The sum is a difference of two gamma variables. Seen as two clocks of ``n`` exponential ticks each, one finishes
    while the other has ``k`` ticks left with probability ``C(2n-k-1, n-1) 2^(k-2n)``, and what is left is a gamma
    variable of shape ``k``: ``Pr = 2 sum_k C(2n-k-1, n-1) 2^(k-2n) Pr(Gamma(k) > threshold)``, a sum of ``O(sqrt n)``
    relevant terms. Chances below 1e-60 are bounded from below.

    References
    ----------
    The error of the local Laplace mean in lecture20, times ``n epsilon / upper``.

    Examples
    --------
    >>> round(laplace_sum_tail(1, np.log(4)), 12), laplace_sum_tail(5, 0.0)
    (0.25, 1.0)
    """
    number = checks.whole(users=users, at_least=1)
    level = checks.non_negative(threshold=threshold)
    reach, root = 12 * np.sqrt(level) + 100, np.sqrt(number)
    most = min(number, int(max(14 * root, min(level + reach, 25 * root))) + 14)
    left = np.arange(1, most + 1)
    growth = 2.0 * (number - left[:-1]) / (2 * number - left[:-1] - 1)
    chances = np.cumprod(np.concatenate([[1.0], growth]))
    low, high = np.clip([level - reach, level + reach], 0, most).astype(int)
    survival = special.gammaincc(left[low:high], level)  # below these it is less than 1e-28, and beyond them 1
    return float((chances[low:high] @ survival + chances[high:].sum()) / chances.sum())


def _smallest(enough: Callable[[int], bool], near: int) -> int:
    """Return the smallest number that is enough, by bisection between two that are found in doubling steps."""
    least, short = near, near - 1
    while not enough(least):
        if least > near << _DOUBLINGS:
            raise ArithmeticError(f"no number of users up to {least} is enough")
        short, least = least, least + 2 * (least - short)
    step = 1
    while short > 0 and enough(short):
        least, short, step = short, max(short - step, 0), 2 * step
    while least - short > 1:
        middle = (least + short) // 2
        short, least = (short, middle) if enough(middle) else (middle, least)
    return least
