"""The privacy budget that a target accuracy of a gap costs, and the accuracy that a budget buys.

`smallest_epsilon` searches any family of mechanisms (``DiscretisedMeans.published`` claims its budget,
``DiscretisedMeans.calibrated`` keeps it) with any tail of `ldpnb.accuracy.tails`; the closed forms in terms of the
*gain* a mechanism needs are its second route.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from ldpnb import checks
from ldpnb.accuracy import gaps, tails
from ldpnb.mechanisms.contrasts import Contrast, SignedBit
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans

TAILS = ("chebyshev", "hoeffding", "bernstein", "exact", "chernoff", "normal")
"""Ways to bound the probability of a large error: see `failure_probability`."""


def failure_probability(mechanism: GroupMeans | Contrast, clients: int, alpha: float, tail: str = "chebyshev") -> float:
    """Bound the probability that the gap between two groups of equal size is off by `alpha` or more, whatever the
    values.

    Parameters
    ----------
    mechanism : DiscretisedMeans, LaplaceMeans, SignedBit or SignedLaplace
        For two groups.
    clients : int
        All clients ``K``, half of them in either group.
    alpha : float
        Largest acceptable error, on the scale of values in ``[-1, 1]``.
    tail : {"chebyshev", "hoeffding", "bernstein", "exact", "chernoff", "normal"}
        *hoeffding*, *bernstein* and *exact* need a mechanism that sends signs, *chernoff* one that sends noisy numbers.
        *exact* is the binomial law when all values are 0, where the variance is largest (near 0 the lattice may add an
        atom). *normal* is an approximation.

    Raises
    ------
    ValueError
        If the tail is unknown or does not fit the mechanism.
    """
    checks.choice(tail=tail, among=TAILS)
    half, error = _half(clients), checks.positive(alpha=alpha)
    if tail in ("chebyshev", "normal"):
        variance = gaps.worst_gap_variance(mechanism, (half, half))
        return (
            tails.chebyshev(variance, error) if tail == "chebyshev" else tails.normal(float(np.sqrt(variance)), error)
        )
    deviation = error * half * mechanism.gain
    if isinstance(mechanism, DiscretisedMeans | SignedBit):
        if tail == "hoeffding":
            return tails.hoeffding(2 * half, deviation)
        if tail == "bernstein":
            return tails.bernstein(2 * half, 1 + mechanism.gain, deviation)
        if tail == "exact":
            return tails.symmetric_binomial(2 * half, deviation)
    elif tail == "chernoff":
        scale, keep = (
            (mechanism.kept_scale, mechanism.keep) if isinstance(mechanism, LaplaceMeans) else (mechanism.scale, 1.0)
        )
        if isinstance(mechanism, LaplaceMeans) and mechanism.moved_scale != scale:
            raise ValueError(f"tail='chernoff' needs equal noise scales, got k={mechanism.k!r}")
        return tails.kept_laplace_chernoff(2 * half, keep, scale, deviation)
    raise ValueError(f"tail must fit the mechanism, got tail={tail!r} for {type(mechanism).__name__}")


def smallest_epsilon(
    family: Callable[[float], GroupMeans | Contrast],
    clients: int,
    alpha: float,
    *,
    failure: float = 0.01,
    tail: str = "chebyshev",
    largest: float = 1e4,
) -> float:
    """Return the smallest budget with which the gap is off by less than `alpha` except with probability `failure`.

    Parameters
    ----------
    family : callable
        From a budget in nats to a mechanism for two groups.
    clients, alpha, tail
        As in `failure_probability`, whose bound must fall as the budget grows.
    failure : float
        Allowed failure probability, in ``(0, 1)``.
    largest : float
        Infinity is returned when this budget is not enough.

    Returns
    -------
    float
        Nats, found by bisection to relative 1e-13.

    Examples
    --------
    >>> round(smallest_epsilon(DiscretisedMeans.published, 10**5, 0.1), 8)
    1.86095839
    >>> smallest_epsilon(DiscretisedMeans.published, 10**5, 0.01)
    inf
    """
    allowed = checks.open_probability(failure=failure)

    def fails(epsilon: float) -> bool:
        return failure_probability(family(epsilon), clients, alpha, tail) > allowed

    low, high = 1e-9, checks.positive(largest=largest)
    if fails(high):
        return float("inf")
    while high / low - 1 > 1e-13:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


def alpha_bound(
    mechanism: GroupMeans | Contrast, clients: int, *, failure: float = 0.01, tail: str = "chebyshev"
) -> float:
    """Return the error of the gap that is exceeded with probability `failure` at most, by *chebyshev* or *normal*;
    equal groups.

    It is on the scale of values in ``[-1, 1]``; halve it for rates.
    """
    sd = float(np.sqrt(gaps.worst_gap_variance(mechanism, (_half(clients), _half(clients)))))
    allowed = checks.open_probability(failure=failure)
    if checks.choice(tail=tail, among=("chebyshev", "normal")) == "chebyshev":
        return sd / float(np.sqrt(allowed))
    return -sd * float(ndtri(allowed / 2))


def required_gain(clients: int, alpha: float, *, failure: float = 0.01, tail: str = "chebyshev") -> float:
    """Return the gain that a mechanism sending signs needs: ``2 / sqrt(failure K) / alpha`` by Chebyshev, and likewise
    by others.

    *hoeffding* ``sqrt(8 ln(2 / failure) / K) / alpha``; *normal* ``2 z / sqrt(K) / alpha``. No budget suffices when it
    is 1 or more.

    Examples
    --------
    >>> round(required_gain(10**6, 0.1), 12)
    0.2
    """
    root = float(np.sqrt(checks.whole(clients=clients, at_least=2)))
    allowed = checks.open_probability(failure=failure)
    spread = {
        "chebyshev": 2 / float(np.sqrt(allowed)),
        "hoeffding": float(np.sqrt(8 * np.log(2 / allowed))),
        "normal": -2 * float(ndtri(allowed / 2)),
    }
    return spread[checks.choice(tail=tail, among=tuple(spread))] / root / checks.positive(alpha=alpha)


def published_epsilon_for_gain(gain: float) -> float:
    """Return the budget at which ``M_R`` with ``eps1 = eps2 = epsilon`` has a given gain, ``e^eps (e^eps - 1) / (1 +
    e^eps)^2``; two groups.

    With ``x = e^epsilon`` a quadratic: ``x = (1 + 2c + sqrt(1 + 8c)) / (2 (1 - c))``.
    """
    if checks.non_negative(gain=gain) >= 1:
        return float("inf")
    root = np.sqrt(1 + 8 * gain)
    return float(np.log1p((4 * gain + 8 * gain / (root + 1)) / (2 * (1 - gain))))


def calibrated_epsilon_for_gain(gain: float) -> float:
    """Return the exact loss at which ``M_R``, allocated best, has a given gain: ``ln((1 + 3c) / (1 - c))``; two groups."""
    return float(np.log1p(4 * gain / (1 - gain))) if checks.non_negative(gain=gain) < 1 else float("inf")


def bit_epsilon_for_gain(gain: float) -> float:
    """Return the budget at which `SignedBit` has a given gain: ``ln((1 + c) / (1 - c)) = 2 artanh(c)``."""
    return float(2 * np.arctanh(gain)) if checks.non_negative(gain=gain) < 1 else float("inf")


def best_laplace(epsilon: float, sizes: tuple[int, int]) -> LaplaceMeans:
    """Return the ``M_L`` of exact loss `epsilon` (``k = 2``) and least worst-case variance of the gap between groups of
    given sizes.

    All budgets with ``eps2 <= epsilon`` and ``eps1 = epsilon - eps2 / 2`` are searched. For equal groups the answer is
    ``eps2 = epsilon``; next to a small minority and at a large budget it pays to protect the group less.
    """
    from scipy.optimize import minimize_scalar

    budget = checks.positive(epsilon=epsilon)

    def variance(value_epsilon: float) -> float:
        return gaps.worst_gap_variance(LaplaceMeans(budget - value_epsilon / 2, value_epsilon), sizes)

    inner = minimize_scalar(
        variance, bounds=(1e-3 * budget, budget), method="bounded", options={"xatol": 1e-9 * budget}
    )
    chosen = float(inner.x) if inner.fun < variance(budget) else budget
    return LaplaceMeans(budget - chosen / 2, chosen)


def _half(clients: int) -> int:
    half, odd = divmod(checks.whole(clients=clients, at_least=2), 2)
    if odd:
        raise ValueError(f"clients must be even for two equal groups, got clients={clients!r}")
    return half
