"""Exact errors of a mean of bounded numbers, and how many users a target error needs.

The mechanisms of `ldpnb.mechanisms.means` hold the budget (in nats, for replacing one user's value)
and the range of the values. Functions take the public number of users, a tolerated ``error`` in the
unit of the values, and ``failure``, the probability that the error is exceeded. The lecture's "with
probability 99%" is ``failure = 0.01``. Variances have the unit of the values, squared.
"""

from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ldpnb import checks
from ldpnb.accuracy import tails
from ldpnb.arithmetic import Floats, Real
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, MeanMechanism, OneBit

MOST_SEARCHED = 200
"""Largest number of users for which `largest_warner_constant` searches all bits."""

MOST_COUNTED = 10**10
"""Largest number of users for which the exact distribution of a sum is searched.

Beyond it one evaluation takes seconds, and a search minutes.
"""


# Variances


def variance(mechanism: MeanMechanism, values: ArrayLike, counts: ArrayLike) -> float:
    """Return the exact variance of the mean for given data.

    For one bit it is ``(upper/n)^2 coth^2(epsilon/2) sum P(1-P)``, where ``P`` is a user's
    probability of a one (the lecture's "1-bit communication"). The variance of added noise does not
    depend on the data.

    Parameters
    ----------
    mechanism : OneBit, LocalLaplace or CentralLaplace
        How the mean is estimated.
    values : array_like, shape (v,)
        Distinct values in ``[0, upper]``.
    counts : array_like of int, shape (v,)
        Number of users who hold each.
    """
    users = checks.counts(counts, "counts")
    if not isinstance(mechanism, OneBit):
        return float(worst_variance(mechanism, int(users.sum())))

    zero, one = mechanism.channel(values)
    scale = mechanism.upper / users.sum() / mechanism.slope
    return float(scale**2 * np.sum(users * zero * one))


def worst_variance(mechanism: MeanMechanism, users: Real) -> Real:
    """Return the largest variance of the mean over all data.

    It is ``upper^2 coth^2(epsilon/2) / (4n)`` for one bit, where all values are ``upper / 2``,
    ``2 (upper / epsilon)^2 / n`` for noise that users add, and ``2 (upper / (n epsilon))^2`` for a
    curator's. They are in the lecture's "1-bit communication" and "Mean estimation".
    """
    number = checks.whole(users, "users", at_least=1)
    if isinstance(mechanism, OneBit):
        scale = mechanism.upper / mechanism.slope
        return scale * scale / (4 * number)

    noise = 2 * (mechanism.scale * mechanism.scale) / number
    return noise / number if isinstance(mechanism, CentralLaplace) else noise


def one_bit_floor(upper: Real, users: Real) -> Real:
    """Return ``upper / (2 sqrt n)``, the worst standard deviation of the 1-bit mean at any budget.

    It remains at large budgets. There the lecture writes the error as
    ``O(upper / (epsilon sqrt n))``.
    """
    return checks.positive(upper, "upper") / (2 * np.sqrt(checks.whole(users, "users", at_least=1)))


def one_bit_crossing() -> float:
    """Return the budget, in nats, up to which one bit beats local noise for all data.

    It solves ``epsilon coth(epsilon/2) = 2 sqrt 2``. Below it the worst variance
    ``coth^2(epsilon/2) / 4`` of a bit is less than the ``2 / epsilon^2`` of the noise. The root is
    the fixed point of ``2 sqrt 2 tanh(epsilon/2)``, which is a contraction there.

    >>> round(one_bit_crossing(), 4)
    2.3242
    """
    epsilon = 2.0
    for _ in range(80):
        epsilon = float(2 * np.sqrt(2) * np.tanh(epsilon / 2))
    return epsilon


def laplace_report_bits(mechanism: LocalLaplace, resolution: Real) -> Real:
    """Return the entropy of a Laplace report, ``log2(2 e upper / (epsilon resolution))``, in bits.

    Reports are rounded to multiples of `resolution`, which is far below ``upper / epsilon``. The
    lecture's "Communication issues" has ``O(log upper)`` bits per user, at resolution 1.
    """
    return (1 + np.log(2 * mechanism.scale / checks.positive(resolution, "resolution"))) / np.log(2)


# Randomised response on bits


def warner_variance(epsilon: Real, users: Real) -> Real:
    """Return the variance of a mean of bits under randomised response.

    It is ``1 / (4 n sinh^2(epsilon/2))`` for all bits. The lecture, in "Randomized response", has
    ``e^epsilon / ((e^epsilon - 1)^2 n)``, and hence an error ``O(1 / (epsilon sqrt n))``.
    """
    root = np.sinh(checks.positive(epsilon, "epsilon") / 2)
    return 1 / (4 * checks.whole(users, "users", at_least=1) * (root * root))


def warner_error(epsilon: ArrayLike, users: int, ones: int, failure: float) -> Floats:
    """Return the exact error of randomised response that is exceeded with probability `failure`.

    The result has the shape of `epsilon`. The number of false ones minus that of false zeros has
    ``users + 1`` possible values, whose probabilities come from a Fourier transform.

    Parameters
    ----------
    epsilon : array_like
        Budgets in nats, ``> 0``.
    users : int
        Number of users, at least 1.
    ones : int
        How many of them hold a one.
    failure : float
        The probability, in ``(0, 1)``.
    """
    budgets = np.asarray(epsilon, dtype=float)[..., None]
    number = checks.whole(users, "users", at_least=1)
    lie = 1 / (1 + np.exp(budgets))

    # The probability of each surplus of false ones over false zeros. A negative surplus counts
    # from the end.
    surplus = np.arange(-ones, number - ones + 1)
    turn = np.exp(-2j * np.pi * np.arange(number + 1) / (number + 1))
    transform = (1 - lie + lie * turn) ** (number - ones) * (1 - lie + lie / turn) ** ones
    chances = np.fft.ifft(transform, axis=-1).real[..., surplus]

    # The smallest error that has at most the rest of the probability beyond it.
    errors = np.abs(surplus - (number - 2 * ones) * lie) / (number * np.tanh(budgets / 2))
    order = np.argsort(errors, axis=-1, kind="stable")
    reached = np.cumsum(np.take_along_axis(chances, order, axis=-1), axis=-1)
    target = 1 - checks.open_probability(failure, "failure") - 1e-12
    first = np.argmax(reached >= target, axis=-1)[..., None]
    sorted_errors = np.take_along_axis(errors, order, axis=-1)
    return np.take_along_axis(sorted_errors, first, axis=-1)[..., 0]


def largest_warner_constant(users: int, failure: float, largest_epsilon: float = 12.0) -> float:
    """Return the supremum of ``epsilon sqrt(users)`` times `warner_error` over budgets and bits.

    At fixed bits the error jumps down at isolated budgets and is smooth between them. The best
    points of a grid are followed to their jumps. For 200 users the normal limit is already close.

    Parameters
    ----------
    users : int
        Number of users, from 1 to 200.
    failure : float
        The probability of a larger error, in ``(0, 1)``.
    largest_epsilon : float, default 12
        Largest budget that is tried, in nats, ``> 0``.
    """
    number = checks.whole(users, "users", at_least=1, at_most=MOST_SEARCHED)
    grid = np.geomspace(0.02, checks.positive(largest_epsilon, "largest_epsilon"), 400)

    def constants(budgets: Floats, ones: int) -> Floats:
        return budgets * np.sqrt(number) * warner_error(budgets, number, ones, failure)

    # Zeros and ones are alike, so at most half of the bits need be ones.
    tried = np.stack([constants(grid, ones) for ones in range(number // 2 + 1)])
    best = 0.0
    for place in np.argsort(tried, axis=None)[-30:]:
        ones = int(place) // grid.size
        start = int(place) % grid.size
        low = grid[start]
        high = grid[min(start + 1, grid.size - 1)]

        # The jump lies behind the largest value; each pass makes the step to it 32 times smaller.
        for _ in range(7):
            finer = np.linspace(low, high, 33)
            of_finer = constants(finer, ones)
            top = int(of_finer.argmax())
            best = max(best, float(of_finer[top]))
            low = finer[top]
            high = finer[min(top + 1, 32)]
    return best


def approximate_bit_variance(epsilon: Real, delta: Real, users: Real) -> Real:
    """Return the least worst-case variance of averages of ``(epsilon, delta)``-LDP reports of bits.

    The averages are weighted and unbiased; other kinds of estimates are not compared. Every such
    randomiser is a post-processing of one that reveals the bit with probability `delta`, and is
    Warner's otherwise (Kairouz, Oh and Viswanath, 2015). The best weights of its four reports give
    ``(1 / (delta + (1-delta) tanh^2(epsilon/2)) - 1) / (4n)``; at ``delta = 0`` that is
    `warner_variance`. It answers the decidable part of the lecture's question "(epsilon, 0)-LDP
    v.s. (epsilon, delta)-LDP ?".
    """
    share = checks.probability(delta, "delta")
    root = np.sinh(checks.positive(epsilon, "epsilon") / 2)
    return warner_variance(epsilon, users) * (1 - share) / (1 + share / (root * root))


# Errors that are exceeded with a given probability


def normal_quantile(failure: float) -> float:
    """Return ``z`` with ``Pr(|N(0,1)| > z) = failure``."""
    return float(-special.ndtri(checks.open_probability(failure, "failure") / 2))


def normal_error(variance: float, failure: float) -> float:
    """Return the error that a normal estimate of that variance exceeds with probability `failure`.

    Estimates here are sums over many users, so this is the limit for large ``n``; `certain_error`
    holds for every ``n``.
    """
    return normal_quantile(failure) * float(np.sqrt(checks.non_negative(variance, "variance")))


def certain_error(mechanism: OneBit | CentralLaplace, users: Real, failure: Real) -> Real:
    """Return an error that is exceeded with a probability of at most `failure`.

    It holds for every number of users and all data. For one bit it is Hoeffding's
    ``upper coth(epsilon/2) sqrt(ln(2/failure) / (2n))`` (the lecture, in "Randomized response": "by
    Chernoff bound"). For the curator it is ``upper ln(1/failure) / (n epsilon)``, exceeded with
    exactly that probability ("Mean estimation", central model, up to the constant).
    """
    chance = checks.open_probability(failure, "failure")
    number = checks.whole(users, "users", at_least=1)
    if isinstance(mechanism, OneBit):
        return 2 * np.sqrt(np.log(2 / chance) / 2 * worst_variance(mechanism, users))
    return -np.log(chance) * mechanism.scale / number


# Users that an error needs


def users_needed(mechanism: MeanMechanism, error: Real, failure: Real) -> Real:
    """Return the number of users at which an estimated mean is as precise as asked.

    For local mechanisms it is ``z^2 / error^2`` times the largest variance of one user's report,
    which holds in the normal limit of many users. A normal number is more than ``z`` standard
    deviations from its mean with the probability `failure`. For the trusted curator it is exactly
    ``upper ln(1/failure) / (error epsilon)``.

    Parameters
    ----------
    mechanism : OneBit, LocalLaplace or CentralLaplace
        How the mean is estimated; see `MEAN` for those of this package.
    error : float
        The error that is allowed, in the unit of the data, ``> 0``.
    failure : float
        Probability of a larger error, in ``(0, 1)``, at the worst data.

    Returns
    -------
    float
        Number of users, to be rounded up.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    The sections "Mean estimation" and "1-bit communication" of the lecture, which has both without
    their constants.

    Examples
    --------
    At a failure of 1%, z^2 is 6.635. Laplace noise of scale 1 has the variance 2, so the error 0.1
    needs 6.635 * 2 / 0.01 users; one bit, whose variance is at most 1.1707, needs fewer.

    >>> round(float(users_needed(LocalLaplace(1.0), error=0.1, failure=0.01)))
    1327
    >>> round(float(users_needed(OneBit(1.0), error=0.1, failure=0.01)))
    777

    A curator needs ln(e^3) / 0.1.

    >>> round(float(users_needed(CentralLaplace(1.0), error=0.1, failure=np.exp(-3))), 12)
    30.0
    """
    target = checks.positive(error, "error")
    if isinstance(mechanism, CentralLaplace):
        return certain_error(mechanism, 1, failure) / target

    deviations = normal_quantile(failure) / target
    return deviations * deviations * worst_variance(mechanism, 1)


def users_for_certain(mechanism: OneBit | LocalLaplace, error: float, failure: float) -> float:
    """Return how many users suffice for an error.

    For one bit it is by Hoeffding's bound, to be rounded up. For noise it is exact. The probability
    of a given error falls with every further user, because means of symmetric log-concave variables
    concentrate monotonically (Proschan, 1965). So bisection finds the smallest number, if that is
    at most 1e10.
    """
    if isinstance(mechanism, OneBit):
        return float((certain_error(mechanism, 1, failure) / checks.positive(error, "error")) ** 2)

    near = users_needed(mechanism, error, failure)
    if not near <= MOST_COUNTED:
        raise ValueError(
            f"error must allow an exact count of at most {MOST_COUNTED:.0e} users, "
            f"got error={error!r}, which needs about {near:.3g}"
        )

    def enough(users: int) -> bool:
        return 1 - success(mechanism, users, error) <= failure

    most = int(np.ceil(near))
    while not enough(most):
        most *= 2
    return bisect_left(range(most), True, lo=1, key=enough)


def success(mechanism: OneBit | LocalLaplace, users: int, error: float) -> float:
    """Return the exact probability that the mean is off by at most `error`.

    For one bit it is that at the worst data. These are all at ``upper / 2``, where ones less zeros
    are a sum of fair signs; an error that equals `error` up to rounding counts as met. For noise
    the data do not matter.
    """
    number = checks.whole(users, "users", at_least=1)
    target = checks.positive(error, "error")
    if isinstance(mechanism, OneBit):
        reach = number * (target / mechanism.upper) * mechanism.slope
        return 1 - tails.symmetric_binomial(number, float(2 * reach + 1e-6))
    return 1 - laplace_sum_tail(number, number * target * mechanism.epsilon / mechanism.upper)


def laplace_sum_tail(users: int, threshold: float) -> float:
    """Return the exact ``Pr(|L_1 + ... + L_n| > threshold)`` of Laplace variables of scale 1.

    The variables are independent; their sum is a difference of two gamma variables. Seen as two
    clocks of ``n`` exponential ticks each, one finishes while the other has ``k`` ticks left with
    probability ``C(2n-k-1, n-1) 2^(k-2n)``, and what is left is a gamma variable of shape ``k``. So
    the tail is ``2 sum_k C(2n-k-1, n-1) 2^(k-2n) Pr(Gamma(k) > threshold)``. This sum has
    ``O(sqrt n)`` relevant terms; below 1e-60 it is a lower bound. In the lecture, the sum of the
    variables is the error of the local Laplace mean times ``n epsilon / upper``.
    """
    number = checks.whole(users, "users", at_least=1)
    level = checks.non_negative(threshold, "threshold")

    # Terms with more ticks left than this do not change the sum.
    reach = 12 * np.sqrt(level) + 100
    root = np.sqrt(number)
    most = min(number, int(max(14 * root, min(level + reach, 25 * root))) + 14)

    left = np.arange(1, most + 1)
    growth = 2.0 * (number - left[:-1]) / (2 * number - left[:-1] - 1)
    chances = np.cumprod(np.concatenate([[1.0], growth]))

    # Below `low` the survival probability is less than 1e-28, and beyond `high` it is 1.
    low, high = np.clip([level - reach, level + reach], 0, most).astype(int)
    survival = special.gammaincc(left[low:high], level)
    return float((chances[low:high] @ survival + chances[high:].sum()) / chances.sum())
