"""The privacy budget that a target accuracy of a gap costs.

`smallest_epsilon` searches any family of mechanisms, such as ``DiscretisedMeans.published``, which
claims its budget, or ``DiscretisedMeans.calibrated``, which keeps it, with any tail of
`ldpnb.accuracy.gaps.TAILS`. The closed forms in terms of the *gain* that a mechanism needs are its
second route. For the accuracy that a budget buys see `ldpnb.accuracy.gaps.GroupGap`.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from ldpnb import checks
from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Real
from ldpnb.mechanisms.contrasts import Contrast
from ldpnb.mechanisms.groups import GroupMeans, LaplaceMeans


def smallest_epsilon(
    family: Callable[[float], GroupMeans | Contrast],
    users: int,
    alpha: float,
    *,
    failure: float = 0.01,
    tail: str = "chebyshev",
) -> float:
    """Find the smallest budget at which an estimated gap between two groups is accurate enough.

    The estimate may be off by `alpha` or more with a probability of at most `failure`.

    Parameters
    ----------
    family : callable
        Takes a budget in nats and returns a mechanism for two groups.
    users : int
        Number ``K`` of all users, at least 2; half of them are in each group.
    alpha : float
        Smallest error of the gap that counts as a failure, ``> 0``. Users hold values in
        ``[-1, 1]``, so a gap lies in ``[-2, 2]``.
    failure : float, default 0.01
        Largest probability of a failure, in ``(0, 1)``.
    tail : str, default "chebyshev"
        How that probability is bounded or computed; see `ldpnb.accuracy.gaps.GroupGap.failure`. It
        must fall as the budget grows.

    Returns
    -------
    float
        The budget in nats, by bisection to a relative 1e-13. It is infinite if 10,000 nats are not
        enough.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the tail does not fit the mechanism.

    References
    ----------
    It computes Table 1 of Juarez and Korolova (2022).

    Examples
    --------
    Table 1 prints 1.86 for 100,000 users and an error of 0.1, and a dash for an error of 0.01.

    >>> from ldpnb.mechanisms.groups import DiscretisedMeans
    >>> round(smallest_epsilon(DiscretisedMeans.published, 10**5, 0.1), 8)
    1.86095839
    >>> smallest_epsilon(DiscretisedMeans.published, 10**5, 0.01)
    inf
    """
    allowed = checks.open_probability(failure, "failure")

    def fails(epsilon: float) -> bool:
        return gaps.GroupGap.of_halves(family(epsilon), users).failure(alpha, tail) > allowed

    low = 1e-9
    high = 1e4
    if fails(high):
        return float("inf")

    while high / low - 1 > 1e-13:
        middle = float(np.sqrt(low * high))
        if fails(middle):
            low = middle
        else:
            high = middle
    return float(high)


def required_gain(
    users: int, alpha: float, *, failure: float = 0.01, tail: str = "chebyshev"
) -> float:
    """Return the gain that a mechanism must have whose reports are signs.

    It is ``2 / sqrt(failure K) / alpha`` for the tail *chebyshev*,
    ``sqrt(8 ln(2 / failure) / K) / alpha`` for *hoeffding*, and ``2 z / sqrt(K) / alpha`` for
    *normal*. No budget suffices if it is 1 or more.

    Parameters
    ----------
    users : int
        Number ``K`` of users, at least 2.
    alpha : float
        The error that is allowed, ``> 0``. Values lie in ``[-1, 1]``.
    failure : float, default 0.01
        The probability of a larger error, in ``(0, 1)``.
    tail : {"chebyshev", "hoeffding", "normal"}, default "chebyshev"
        How that probability is bounded.
    """
    root = float(np.sqrt(checks.whole(users, "users", at_least=2)))
    allowed = checks.open_probability(failure, "failure")
    factors = {
        "chebyshev": 2 / float(np.sqrt(allowed)),
        "hoeffding": float(np.sqrt(8 * np.log(2 / allowed))),
        "normal": -2 * float(ndtri(allowed / 2)),
    }
    factor = factors[checks.choice(tail, "tail", among=tuple(factors))]
    return factor / root / checks.positive(alpha, "alpha")


def published_epsilon_for_gain(gain: Real) -> Real:
    """Return the budget at which ``M_R`` with ``eps1 = eps2 = epsilon`` has a given gain.

    For two groups the gain is ``e^eps (e^eps - 1) / (1 + e^eps)^2``. This is a quadratic equation
    in ``x = e^epsilon``, solved by ``x = (1 + 2c + sqrt(1 + 8c)) / (2 (1 - c))``.
    """
    if checks.non_negative(gain, "gain") >= 1:
        return float("inf")
    return np.log1p((4 * gain + 8 * gain / (np.sqrt(1 + 8 * gain) + 1)) / (2 * (1 - gain)))


def calibrated_epsilon_for_gain(gain: Real) -> Real:
    """Return the loss at which ``M_R``, allocated best, has a given gain.

    For two groups it is ``ln((1 + 3c) / (1 - c))``.
    """
    if checks.non_negative(gain, "gain") >= 1:
        return float("inf")
    return np.log1p(4 * gain / (1 - gain))


def best_laplace(epsilon: float, sizes: tuple[int, int]) -> LaplaceMeans:
    """Find the ``M_L`` of exact loss `epsilon` that is best for the gap between two groups.

    "Best" means of least worst-case variance. All budgets with ``k = 2``, ``eps2 <= epsilon`` and
    ``eps1 = epsilon - eps2 / 2`` are searched. The answer is ``eps2 = epsilon`` unless one group
    has less than 4.42% of the users. Then, within a range of budgets, it pays to protect the group
    less.

    Parameters
    ----------
    epsilon : float
        Privacy loss in nats, ``> 0``.
    sizes : (int, int)
        Number of users of each group.
    """
    from scipy.optimize import minimize_scalar

    budget = checks.positive(epsilon, "epsilon")

    def variance(value_epsilon: float) -> float:
        mechanism = LaplaceMeans(budget - value_epsilon / 2, value_epsilon)
        return float(gaps.GroupGap(mechanism, sizes).worst_variance())

    best = minimize_scalar(
        variance,
        bounds=(1e-3 * budget, budget),
        method="bounded",
        options={"xatol": 1e-9 * budget},
    )
    value_epsilon = float(best.x) if best.fun < variance(budget) else budget
    return LaplaceMeans(budget - value_epsilon / 2, value_epsilon)
