"""The privacy budget that a target accuracy of a gap costs.

`smallest_epsilon` searches any family of mechanisms (``DiscretisedMeans.published`` claims its budget,
``DiscretisedMeans.calibrated`` keeps it) with any tail of `ldpnb.accuracy.gaps.TAILS`; the closed forms in terms of the
*gain* that a mechanism needs are its second route. For the accuracy that a budget buys see
`ldpnb.accuracy.gaps.GroupGap`.
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
    """Return the smallest budget at which the gap is off by less than `alpha` except with probability `failure`.

    - `family`, callable: from a budget in nats to a mechanism for two groups.
    - `users`, int: all users ``K``, half of them in either group.
    - `alpha`, `tail`: as in `gaps.GroupGap.failure`, whose bound must fall as the budget grows.
    - `failure`, float: allowed failure probability, in ``(0, 1)``.
    - Returns float: nats, found by bisection to relative 1e-13; infinite if 10,000 are not enough.

    >>> from ldpnb.mechanisms.groups import DiscretisedMeans
    >>> round(smallest_epsilon(DiscretisedMeans.published, 10**5, 0.1), 8)
    1.86095839
    >>> smallest_epsilon(DiscretisedMeans.published, 10**5, 0.01)
    inf
    """
    allowed = checks.open_probability(failure, "failure")

    def fails(epsilon: float) -> bool:
        return gaps.GroupGap.of_halves(family(epsilon), users).failure(alpha, tail) > allowed

    low, high = 1e-9, 1e4
    if fails(high):
        return float("inf")
    while high / low - 1 > 1e-13:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if fails(middle) else (low, middle)
    return float(high)


def required_gain(
    users: int, alpha: float, *, failure: float = 0.01, tail: str = "chebyshev"
) -> float:
    """Return the gain that a mechanism sending signs needs; no budget suffices when it is 1 or more.

    *chebyshev* ``2 / sqrt(failure K) / alpha``; *hoeffding* ``sqrt(8 ln(2 / failure) / K) / alpha``; *normal*
    ``2 z / sqrt(K) / alpha``.
    """
    root = float(np.sqrt(checks.whole(users, "users", at_least=2)))
    allowed = checks.open_probability(failure, "failure")
    spread = {
        "chebyshev": 2 / float(np.sqrt(allowed)),
        "hoeffding": float(np.sqrt(8 * np.log(2 / allowed))),
        "normal": -2 * float(ndtri(allowed / 2)),
    }
    return (
        spread[checks.choice(tail, "tail", among=tuple(spread))]
        / root
        / checks.positive(alpha, "alpha")
    )


def published_epsilon_for_gain(gain: Real) -> Real:
    """Return the budget at which ``M_R`` with ``eps1 = eps2 = epsilon`` has a given gain, at two groups.

    The gain ``e^eps (e^eps - 1) / (1 + e^eps)^2`` is a quadratic in ``x = e^epsilon``:
    ``x = (1 + 2c + sqrt(1 + 8c)) / (2 (1 - c))``.
    """
    if checks.non_negative(gain, "gain") >= 1:
        return float("inf")
    return np.log1p((4 * gain + 8 * gain / (np.sqrt(1 + 8 * gain) + 1)) / (2 * (1 - gain)))


def calibrated_epsilon_for_gain(gain: Real) -> Real:
    """Return the loss at which ``M_R``, allocated best, has a given gain: ``ln((1 + 3c) / (1 - c))`` at two groups."""
    return (
        np.log1p(4 * gain / (1 - gain)) if checks.non_negative(gain, "gain") < 1 else float("inf")
    )


def best_laplace(epsilon: float, sizes: tuple[int, int]) -> LaplaceMeans:
    """Return the ``M_L`` of exact loss `epsilon` with the least worst-case variance of the gap between two groups.

    All budgets with ``k = 2``, ``eps2 <= epsilon`` and ``eps1 = epsilon - eps2 / 2`` are searched. The answer is ``eps2
    = epsilon`` unless one group has less than 4.42% of the users: then it pays, within a range of budgets, to protect
    the group less.
    """
    from scipy.optimize import minimize_scalar

    budget = checks.positive(epsilon, "epsilon")

    def variance(value_epsilon: float) -> float:
        mechanism = LaplaceMeans(budget - value_epsilon / 2, value_epsilon)
        return float(gaps.GroupGap(mechanism, sizes).worst_variance())

    searched = (1e-3 * budget, budget)
    inner = minimize_scalar(
        variance, bounds=searched, method="bounded", options={"xatol": 1e-9 * budget}
    )
    chosen = float(inner.x) if inner.fun < variance(budget) else budget
    return LaplaceMeans(budget - chosen / 2, chosen)
