r"""Privacy of a mechanism that sees a simple random sample of random size.

This is Section 3 of Bun et al. (2022). The size does not depend on the data. One record of a
population of publicly known size ``n`` is replaced. The sample size ``f`` is drawn from a
distribution ``t``, and then ``f`` records are drawn without replacement. An epsilon-*deletion*-DP
mechanism sees them.

The loss is governed by ``E~``, the mean sampling rate after reweighting ``t`` by ``e^(epsilon m)``.
For small epsilon, the upper bound and `random_size_lower_bound_pm1` are about ``2 epsilon E~``, and
the source's lower bound is about ``epsilon E~``. The exact loss lies between the first two;
`random_size_loss` computes it in O(n) per pass for any distribution. Losses are in nats.
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


# The reweighted rate, and bounds


def tilted_rate(law: SizeLaw, epsilon: Real) -> Real:
    """Return the mean sampling rate ``E~ = E[t~] / n`` after reweighting (Theorem 3.1).

    The reweighted size has probabilities ``t~(m)`` proportional to ``t(m) e^(epsilon m)``.
    """
    log_odds = tilted_log_odds(law, epsilon)
    if is_exact(log_odds):
        return 1 / (1 + np.exp(-log_odds))
    return float(expit(log_odds))


def tilted_log_odds(law: SizeLaw, epsilon: Real) -> Real:
    """Return ``ln(E~ / (1 - E~))``, which keeps its accuracy where ``E~`` approaches 1."""
    sizes = np.arange(law.population + 1)
    if is_exact(epsilon):
        weights = np.exp(law.log_probabilities)
        rate = largest_tilted_mean(weights, sizes.tolist(), epsilon) / law.population
        return np.log(rate / (1 - rate))

    budget = checks.positive(epsilon, "epsilon")
    logs = law.log_probabilities
    likeliest = int((logs + budget * sizes).argmax())
    logs = (logs - logs[likeliest]) + budget * (sizes - likeliest)
    with np.errstate(divide="ignore"):
        inside = logsumexp(logs + np.log(sizes))
        outside = logsumexp(logs + np.log(law.population - sizes))
    return float(inside - outside)


def random_size_upper_bound(law: SizeLaw, epsilon: Real) -> Real:
    """Return ``ln(1 + (e^(2 epsilon) - 1) E~)``, which no mechanism exceeds (Theorem 3.1)."""
    return weighted_loss(2 * epsilon, tilted_log_odds(law, epsilon))


def random_size_lower_bound(law: SizeLaw, epsilon: Real) -> Real:
    """Return ``-ln(1 - (1 - e^-epsilon) E~)``.

    A noisy count of ones loses that much if a one turns zero.
    """
    return weighted_loss(epsilon, tilted_log_odds(law, epsilon) - epsilon)


def random_size_lower_bound_pm1(law: SizeLaw, epsilon: Real) -> Real:
    """Return ``-ln(1 - (1 - e^(-2 epsilon)) E~)``, the lower bound of Theorem 3.1 as rebuilt.

    A noisy sum loses that much if a record +1 turns -1. It is the exact loss if the probabilities
    ``t(m)`` are spread out enough (see `random_size_loss`).
    """
    return weighted_loss(2 * epsilon, tilted_log_odds(law, epsilon) - 2 * epsilon)


# The exact loss


def random_size_loss(law: SizeLaw, epsilon: float) -> float:
    """Return the exact privacy loss of a simple random sample of random size.

    It is the largest loss over all epsilon-deletion-DP mechanisms, if one record is replaced. It
    equals the loss ``ln(1 + (e^(2 epsilon) - 1) w)`` of a fixed size at the `effective_rate` ``w``.

    Parameters
    ----------
    law : SizeLaw
        The distribution of the size, which does not depend on the data: see `size_law`.
    epsilon : float
        Budget of the mechanism under the deletion of a record, in nats, from above 0 to 1e100.

    Returns
    -------
    float
        Loss of the whole release under the replacement of a record, in nats.

    Raises
    ------
    ValueError
        If `epsilon` is outside its range.
    RuntimeError
        If the search for the worst mechanism does not settle.

    See Also
    --------
    size_law, fixed_size : Distributions of the size.

    Notes
    -----
    It equals the upper bound of Theorem 3.1 for a fixed size, and `random_size_lower_bound_pm1` if
    ``t(m+1)(m+1) / (t(m)(n-m))`` does not decrease in ``m``. It is not monotone in how much the
    size varies: a little randomness lowers it, more raises it.

    References
    ----------
    Section 3 of Bun et al. (2022) brackets this loss.

    Examples
    --------
    A quarter of 20 records, at epsilon 1/2: the loss is ln(1 + (e - 1)/4).

    >>> from ldpnb.papers.bun2022.formulas.sizes import fixed_size
    >>> round(random_size_loss(fixed_size(5, 20), 0.5), 10)
    0.3573740195
    """
    positive = checks.positive(epsilon, "epsilon")
    budget = checks.numbers(positive, "epsilon", low=0, high=1e100).item()
    return weighted_loss(2 * budget, effective_log_odds(law, budget))


def effective_rate(law: SizeLaw, epsilon: float) -> float:
    """Return the fixed sampling rate that would lose as much as this random size."""
    return float(expit(effective_log_odds(law, epsilon)))


def effective_log_odds(law: SizeLaw, epsilon: float) -> float:
    r"""Return ``ln(w / (1 - w))`` of the `effective_rate` ``w``.

    Consider an event's probability given the sample. By symmetry it depends on the sample's size
    and on whether the changed record is in it. Given ``a_m``, the probability for ``m`` unchanged
    records, the best choice is ``e^epsilon a_m`` with the record added and ``e^-epsilon a_m`` with
    its replacement. So the loss grows with the ratio of ``sum v_m a_m`` to ``sum u_m a_m``, where
    ``u_m = t(m)(1 - m/n)`` and ``v_m = t(m+1)(m+1)/n``. It is to be maximised over sequences that
    change by at most ``e^epsilon`` from one term to the next.

    Such a ratio exceeds ``r`` if and only if the scale-free recursion
    ``W_m = v_m - r u_m + max(e^epsilon W_(m-1), e^-epsilon W_(m-1))`` ends positive. Its signs then
    tell a sequence with a larger ratio, the next ``r`` (Dinkelbach's method). Short steps prove
    nothing. What is returned is a ratio that a sequence attains, and just above which the recursion
    does not end positive; where necessary, it is found by bisection. Smooth distributions take a
    few passes, none takes more than a hundred, each O(n).
    """
    budget = checks.positive(epsilon, "epsilon")
    n = law.population
    logs = law.log_probabilities
    sizes = np.arange(n)

    # Logarithms of u and v.
    with np.errstate(divide="ignore"):
        left = logs[:-1] + np.log1p(-sizes / n)
        joined = logs[1:] + np.log((sizes + 1) / n)
    left = left - logs.max()
    joined = joined - logs.max()
    if np.isneginf(left).all():
        return np.inf
    if np.isneginf(joined).all():
        return -np.inf

    largest = max(_largest_finite(left), _largest_finite(joined))
    rounding = 4e-16 * (largest + math.sqrt(n) + 16)

    always = np.ones(n - 1, dtype=bool)
    low = max(
        _log_ratio(left, joined, always, budget),
        _log_ratio(left, joined, ~always, budget),
    )
    high = max(low, tilted_log_odds(law, budget) + budget) + rounding

    for turn in range(_PASSES):
        if high - low <= 2 * rounding:
            return low - budget

        # Mostly just above the best so far, and every third time in the middle.
        trial = (low + high) / 2 if turn % 3 == 2 else low + rounding
        rising, is_exceeded = _best_steps(left, joined, trial, budget)
        if not is_exceeded:
            high = trial
            continue

        reached = _log_ratio(left, joined, rising, budget)
        if reached > low:
            low = reached
        else:  # the trial was within the recursion's error
            rounding = 2 * rounding
    raise RuntimeError(f"the optimal reweighting did not settle in {_PASSES} passes")


def _largest_finite(logs: Floats) -> float:
    return float(np.abs(logs[np.isfinite(logs)]).max())


def _log_ratio(left: Floats, joined: Floats, rising: NDArray[np.bool_], epsilon: float) -> float:
    """Return ``ln(sum v a / sum u a)`` for the sequence that rises or falls by epsilon as told."""
    steps = np.concatenate([[0], np.cumsum(np.where(rising, 1, -1))])
    highest = np.argmax(np.maximum(left, joined) + epsilon * steps)
    weights = epsilon * (steps - steps[highest])
    return float(logsumexp(joined + weights) - logsumexp(left + weights))


def _best_steps(
    left: Floats, joined: Floats, log_ratio: float, epsilon: float
) -> tuple[NDArray[np.bool_], bool]:
    """Find the sequence with the largest ``sum (v - r u) a``.

    It is returned where that sequence rises, and whether the sum is positive. The sequence rises to
    a term if the recursion's sum before it is not positive. The sum is kept as a number times
    ``e^(base + steps epsilon)`` with a whole number of steps, so that no error grows with the
    steps.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = joined - (left + log_ratio)
        terms = np.maximum(joined, left + log_ratio) + np.log(-np.expm1(-np.abs(difference)))
    terms[np.isnan(terms)] = -np.inf
    signs = np.where(difference > 0, 1.0, -1.0)

    rises = []
    total = 0.0
    base = 0.0
    steps = 0
    for sign, term in zip(signs.tolist(), terms.tolist(), strict=True):
        rises.append(total <= 0)
        steps += 1 if total > 0 else -1
        if term == -math.inf:
            continue

        height = term - (base + steps * epsilon)
        if total == 0 or height > _FAR:
            total = (total * math.exp(-height) if total else 0.0) + sign
            base = term
            steps = 0
        else:
            total += sign * math.exp(height)
    return np.array(rises[1:], dtype=bool), total > 0
