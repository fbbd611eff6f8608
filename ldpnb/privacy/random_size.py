r"""Privacy of a mechanism that sees a simple random sample of random, data-independent size (Section 3 of bun2022).

A population of ``n`` records, known to all, has one record replaced; the size ``f`` is drawn from a law ``t`` and then
``f`` records without replacement; an epsilon-*deletion*-DP mechanism sees them. What decides is ``E~``, the mean
sampling rate after reweighting ``t`` by ``e^(epsilon m)``. Small epsilon: the upper bound and
`random_size_lower_bound_pm1` are about ``2 epsilon E~``, the source's lower bound ``epsilon E~``. The exact loss is
between the two former; `random_size_loss` computes it in O(n) per step for any law. Losses are in nats.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from ldpnb import checks
from ldpnb.designs.sizes import SizeLaw
from ldpnb.privacy.subsampling import weighted_loss

_STEPS = 200


def tilted_rate(law: SizeLaw, epsilon: float) -> float:
    """Return ``E~ = E[t~] / n``, the mean rate under ``t~(m)`` proportional to ``t(m) e^(epsilon m)`` (Theorem 3.1).

    Sizes 0 and 1 of one record, equally likely, at ``epsilon = ln 3``: ``3 / (1 + 3)``.

    >>> from ldpnb.designs.sizes import size_law
    >>> round(tilted_rate(size_law([0.5, 0.5]), math.log(3)), 12)
    0.75
    """
    return float(expit(tilted_log_odds(law, epsilon)))


def tilted_log_odds(law: SizeLaw, epsilon: float) -> float:
    """Return ``ln(E~ / (1 - E~))``, which keeps its accuracy where ``E~`` approaches 1."""
    sizes = np.arange(law.population + 1)
    logs = law.log_probabilities + checks.positive(epsilon=epsilon) * sizes
    with np.errstate(divide="ignore"):
        return float(logsumexp(logs + np.log(sizes)) - logsumexp(logs + np.log(law.population - sizes)))


def random_size_upper_bound(law: SizeLaw, epsilon: float) -> float:
    """Return ``ln(1 + (e^(2 epsilon) - 1) E~)``, which no mechanism exceeds (Theorem 3.1)."""
    return weighted_loss(2 * epsilon, tilted_log_odds(law, epsilon))


def random_size_lower_bound(law: SizeLaw, epsilon: float) -> float:
    """Return ``-ln(1 - (1 - e^-epsilon) E~)``, which a noisy count of ones loses if one turns zero (Theorem 3.1)."""
    return weighted_loss(epsilon, tilted_log_odds(law, epsilon) - epsilon)


def random_size_lower_bound_pm1(law: SizeLaw, epsilon: float) -> float:
    """Return ``-ln(1 - (1 - e^(-2 epsilon)) E~)``, the improved lower bound: a record +1 turns -1.

    It is twice the source's to first order, and the exact loss if the chances ``t(m)`` are spread enough (see
    `random_size_loss`).
    """
    return weighted_loss(2 * epsilon, tilted_log_odds(law, epsilon) - 2 * epsilon)


def random_size_loss(law: SizeLaw, epsilon: float) -> float:
    """Return the exact loss: the largest over all epsilon-deletion-DP mechanisms and replacement neighbours.

    It is the loss ``ln(1 + (e^(2 epsilon) - 1) w)`` of simple random sampling at the `effective_rate` ``w``.

    Exact equals upper bound for a fixed size, and `random_size_lower_bound_pm1` when ``t(m+1)(m+1) / (t(m)(n-m))`` does
    not decrease in ``m``. A little randomness in the size lowers the loss, more raises it: it is not monotone in the
    spread.

    >>> from ldpnb.designs.sizes import fixed_size
    >>> round(random_size_loss(fixed_size(5, 20), 0.5), 10)
    0.3573740195
    """
    return weighted_loss(2 * epsilon, effective_log_odds(law, epsilon))


def effective_rate(law: SizeLaw, epsilon: float) -> float:
    """Return the fixed sampling rate that would lose as much as this random size.

    >>> from ldpnb.designs.sizes import fixed_size
    >>> round(effective_rate(fixed_size(5, 20), 0.5), 12)
    0.25
    """
    return float(expit(effective_log_odds(law, epsilon)))


def effective_log_odds(law: SizeLaw, epsilon: float) -> float:
    r"""Return ``ln(w / (1 - w))`` of the `effective_rate` ``w``.

    Let ``g`` be an event's chance given the sample. By symmetry it depends on the sample's size and on whether the
    changed record is in it, and the best choice given ``a_m``, the chance for ``m`` unchanged records, is ``e^epsilon
    a_m`` with the record added and ``e^-epsilon a_m`` with its replacement. So the loss grows with the ratio of ``sum
    v_m a_m`` to ``sum u_m a_m``, where ``u_m = t(m)(1 - m/n)`` and ``v_m = t(m+1)(m+1)/n``, over sequences that change
    by at most ``e^epsilon`` from one term to the next. Such a ratio exceeds ``r`` if and only if the scale-free
    recursion ``W_m = v_m - r u_m + max(e^epsilon W_(m-1), e^-epsilon W_(m-1))`` ends positive; its signs then tell a
    sequence with a larger ratio, the next ``r`` (Dinkelbach's method). As long as its steps are short, a bisection
    between the best ratio so far and the theorem's upper bound goes along. A dozen passes end it, each O(n).

    Passes that do not end, which would be a defect, are a `RuntimeError`.
    """
    budget = checks.positive(epsilon=epsilon)
    n, logs = law.population, law.log_probabilities
    sizes = np.arange(n)
    with np.errstate(divide="ignore"):
        left = logs[:-1] + np.log1p(-sizes / n)
        joined = logs[1:] + np.log((sizes + 1) / n)
    left, joined = left - logs.max(), joined - logs.max()
    if np.isneginf(left).all():
        return np.inf
    if np.isneginf(joined).all():
        return -np.inf
    rounding = 1e-15 * (budget * n + max(float(np.abs(x[np.isfinite(x)]).max()) for x in (left, joined)) + 1)
    low, high = -np.inf, tilted_log_odds(law, budget) + budget
    for rising in (np.ones(n - 1, dtype=bool), np.zeros(n - 1, dtype=bool)):
        low = max(low, _log_ratio(left, joined, rising, budget))
    for _ in range(_STEPS):
        better = _log_ratio(left, joined, _best_steps(left, joined, low, budget)[0], budget)
        if better <= low + rounding:
            return low - budget
        middle = (better + high) / 2
        rising, exceeded = _best_steps(left, joined, middle, budget)
        low, high = (_log_ratio(left, joined, rising, budget), high) if exceeded else (better, middle)
    raise RuntimeError(f"the optimal reweighting did not settle in {_STEPS} passes")


def _log_ratio(
    left: NDArray[np.float64], joined: NDArray[np.float64], rising: NDArray[np.bool_], epsilon: float
) -> float:
    """Return ``ln(sum v a / sum u a)`` for the sequence that rises by epsilon where told and falls elsewhere."""
    steps = np.concatenate([[0], np.cumsum(np.where(rising, 1, -1))])
    weights = epsilon * (steps - steps[np.argmax(np.maximum(left, joined) + epsilon * steps)])
    return float(logsumexp(joined + weights) - logsumexp(left + weights))


def _best_steps(
    left: NDArray[np.float64], joined: NDArray[np.float64], log_ratio: float, epsilon: float
) -> tuple[NDArray[np.bool_], bool]:
    """Return where the sequence with the largest ``sum (v - r u) a`` rises, and whether that sum is positive.

    The sequence rises to a term if the recursion's sum before it is not positive. The sum is kept as a sign and a
    logarithm.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = joined - (left + log_ratio)
        terms = np.maximum(joined, left + log_ratio) + np.log(-np.expm1(-np.abs(apart)))
    terms[np.isnan(terms)] = -np.inf
    rises, positive, total = [], False, -math.inf
    for gain, term in zip((apart > 0).tolist(), terms.tolist(), strict=True):
        rises.append(not positive)
        total += epsilon if positive else -epsilon
        larger, smaller = (total, term) if total >= term else (term, total)
        same, positive = gain == positive, gain if term > total else positive
        if smaller == -math.inf:
            total = larger
        elif same:
            total = larger + math.log1p(math.exp(smaller - larger))
        else:
            total = larger + math.log(-math.expm1(smaller - larger)) if smaller < larger else -math.inf
    return np.array(rises[1:], dtype=bool), positive
