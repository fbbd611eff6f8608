r"""Privacy of a mechanism that sees a simple random sample of random, data-independent size (Section 3 of bun2022).

One record of a population of publicly known size ``n`` is replaced. The sample size ``f`` is drawn from a law ``t`` and
then ``f`` records without replacement, which an epsilon-*deletion*-DP mechanism sees. The loss is governed by ``E~``,
the mean sampling rate after reweighting ``t`` by ``e^(epsilon m)``. For small epsilon the upper bound and
`random_size_lower_bound_pm1` are about ``2 epsilon E~``, the source's lower bound ``epsilon E~``. The exact loss lies
between the first two; `random_size_loss` computes it in O(n) per pass for any law. Losses are in nats.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from ldpnb import checks
from ldpnb.arithmetic import Floats, Real, is_exact
from ldpnb.papers.bun2022.formulas.sizes import SizeLaw
from ldpnb.privacy.lemmas import largest_tilted_mean
from ldpnb.privacy.subsampling import weighted_loss

_PASSES = 300
_FAR = 300.0


def tilted_rate(law: SizeLaw, epsilon: Real) -> Real:
    """Return the mean rate ``E~ = E[t~] / n`` under ``t~(m)`` proportional to ``t(m) e^(epsilon m)`` (Theorem 3.1)."""
    log_odds = tilted_log_odds(law, epsilon)
    return 1 / (1 + np.exp(-log_odds)) if is_exact(log_odds) else float(expit(log_odds))


def tilted_log_odds(law: SizeLaw, epsilon: Real) -> Real:
    """Return ``ln(E~ / (1 - E~))``, which keeps its accuracy where ``E~`` approaches 1."""
    sizes = np.arange(law.population + 1)
    if is_exact(epsilon):
        rate = (
            largest_tilted_mean(np.exp(law.log_probabilities), sizes.tolist(), epsilon)
            / law.population
        )
        return np.log(rate / (1 - rate))
    budget, logs = checks.positive(epsilon, "epsilon"), law.log_probabilities
    likeliest = int((logs + budget * sizes).argmax())
    logs = (logs - logs[likeliest]) + budget * (sizes - likeliest)
    with np.errstate(divide="ignore"):
        return float(
            logsumexp(logs + np.log(sizes)) - logsumexp(logs + np.log(law.population - sizes))
        )


def random_size_upper_bound(law: SizeLaw, epsilon: Real) -> Real:
    """Return ``ln(1 + (e^(2 epsilon) - 1) E~)``, which no mechanism exceeds (Theorem 3.1)."""
    return weighted_loss(2 * epsilon, tilted_log_odds(law, epsilon))


def random_size_lower_bound(law: SizeLaw, epsilon: Real) -> Real:
    """Return ``-ln(1 - (1 - e^-epsilon) E~)``, which a noisy count of ones loses if one turns zero (Theorem 3.1)."""
    return weighted_loss(epsilon, tilted_log_odds(law, epsilon) - epsilon)


def random_size_lower_bound_pm1(law: SizeLaw, epsilon: Real) -> Real:
    """Return ``-ln(1 - (1 - e^(-2 epsilon)) E~)``, the improved lower bound: a record +1 turns -1.

    It is the exact loss if the probabilities ``t(m)`` are spread out enough (see `random_size_loss`).
    """
    return weighted_loss(2 * epsilon, tilted_log_odds(law, epsilon) - 2 * epsilon)


def random_size_loss(law: SizeLaw, epsilon: float) -> float:
    """Return the exact loss: the largest over all epsilon-deletion-DP mechanisms and replacement neighbours.

    It is the loss ``ln(1 + (e^(2 epsilon) - 1) w)`` of simple random sampling at the `effective_rate` ``w``.

    It equals the upper bound for a fixed size, and `random_size_lower_bound_pm1` when ``t(m+1)(m+1) / (t(m)(n-m))``
    does not decrease in ``m``. It is not monotone in the spread of the size: a little randomness lowers it, more raises
    it.

    >>> from ldpnb.papers.bun2022.formulas.sizes import fixed_size
    >>> round(random_size_loss(fixed_size(5, 20), 0.5), 10)
    0.3573740195
    """
    budget = checks.numbers(
        checks.positive(epsilon, "epsilon"), "epsilon", low=0, high=1e100
    ).item()
    return weighted_loss(2 * budget, effective_log_odds(law, budget))


def effective_rate(law: SizeLaw, epsilon: float) -> float:
    """Return the fixed sampling rate that would lose as much as this random size."""
    return float(expit(effective_log_odds(law, epsilon)))


def effective_log_odds(law: SizeLaw, epsilon: float) -> float:
    r"""Return ``ln(w / (1 - w))`` of the `effective_rate` ``w``.

    Let ``g`` be an event's chance given the sample. By symmetry it depends on the sample's size and on whether the
    changed record is in it, and the best choice given ``a_m``, the chance for ``m`` unchanged records, is ``e^epsilon
    a_m`` with the record added and ``e^-epsilon a_m`` with its replacement. So the loss grows with the ratio of ``sum
    v_m a_m`` to ``sum u_m a_m``, where ``u_m = t(m)(1 - m/n)`` and ``v_m = t(m+1)(m+1)/n``, over sequences that change
    by at most ``e^epsilon`` from one term to the next. Such a ratio exceeds ``r`` if and only if the scale-free
    recursion ``W_m = v_m - r u_m + max(e^epsilon W_(m-1), e^-epsilon W_(m-1))`` ends positive; its signs then tell a
    sequence with a larger ratio, the next ``r`` (Dinkelbach's method). Short steps prove nothing: what is returned is a
    ratio that a sequence attains, just above which the recursion does not end positive, where need be by bisection.
    Smooth laws take a few passes, none more than a hundred, each O(n).
    """
    budget = checks.positive(epsilon, "epsilon")
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
    largest = max(float(np.abs(x[np.isfinite(x)]).max()) for x in (left, joined))
    rounding = 4e-16 * (largest + math.sqrt(n) + 16)
    every = np.ones(n - 1, dtype=bool)
    low = max(_log_ratio(left, joined, rising, budget) for rising in (every, ~every))
    high = max(low, tilted_log_odds(law, budget) + budget) + rounding
    for turn in range(_PASSES):
        if high - low <= 2 * rounding:
            return low - budget
        # mostly just above the best so far; every third time in the middle
        trial = (low + high) / 2 if turn % 3 == 2 else low + rounding
        rising, exceeded = _best_steps(left, joined, trial, budget)
        if exceeded:
            reached = _log_ratio(left, joined, rising, budget)
            # where the sequence found is no better, the trial was within the recursion's error
            low, rounding = (reached, rounding) if reached > low else (low, 2 * rounding)
        else:
            high = trial
    raise RuntimeError(f"the optimal reweighting did not settle in {_PASSES} passes")


def _log_ratio(left: Floats, joined: Floats, rising: NDArray[np.bool_], epsilon: float) -> float:
    """Return ``ln(sum v a / sum u a)`` for the sequence that rises by epsilon where told and falls elsewhere."""
    steps = np.concatenate([[0], np.cumsum(np.where(rising, 1, -1))])
    weights = epsilon * (steps - steps[np.argmax(np.maximum(left, joined) + epsilon * steps)])
    return float(logsumexp(joined + weights) - logsumexp(left + weights))


def _best_steps(
    left: Floats, joined: Floats, log_ratio: float, epsilon: float
) -> tuple[NDArray[np.bool_], bool]:
    """Return where the sequence with the largest ``sum (v - r u) a`` rises, and whether that sum is positive.

    The sequence rises to a term if the recursion's sum before it is not positive. The sum is kept as a number times
    ``e^(base + steps epsilon)`` with a whole number of steps, so that no error grows with the steps.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = joined - (left + log_ratio)
        terms = np.maximum(joined, left + log_ratio) + np.log(-np.expm1(-np.abs(apart)))
    terms[np.isnan(terms)] = -np.inf
    rises, total, base, steps = [], 0.0, 0.0, 0
    for sign, term in zip(np.where(apart > 0, 1.0, -1.0).tolist(), terms.tolist(), strict=True):
        rises.append(total <= 0)
        steps += 1 if total > 0 else -1
        if term == -math.inf:
            continue
        height = term - (base + steps * epsilon)
        if total == 0 or height > _FAR:
            total, base, steps = (total * math.exp(-height) if total else 0.0) + sign, term, 0
        else:
            total += sign * math.exp(height)
    return np.array(rises[1:], dtype=bool), total > 0
