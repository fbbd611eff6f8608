r"""Privacy of sampling a fixed fraction, rounded to whole records (Section 4.3 of bun2022).

A population of ``n`` records is sampled at rate ``r``: ``f`` records without replacement, with ``f`` near ``r n``.
Everything here is deletion privacy, for the mechanism on the sample and for the whole; budgets are in nats, and ``r``
lies in ``(0, 1)``. Rounding to the nearest integer gains nothing. Rounding up at random, with the fractional part as
probability, loses about ``3 r epsilon``, which may be more than ``epsilon``: see `rounding_threshold`.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Real
from ldpnb.privacy.lemmas import inserted_record_loss, log_mixed

_PLAIN, _LARGEST = 700.0, 1e9
"""Nats whose exponential is a float, and beside which a single nat keeps its digits."""


def nearest_rounding_loss(population: int, sampling_rate: float, epsilon: float) -> float:
    """Return the exact loss between `population` records and one more if the size is rounded to the nearest integer.

    It is ``epsilon`` where the two sizes differ, and otherwise that of a fixed size (Lemma B.1 of bun2022), which may
    exceed ``epsilon``. Halves are rounded up; a rate is the decimal that it is written as. A fifth of 7 rounds to 1, of
    8 to 2; nine twentieths of 4 and of 5 round to 2:

    >>> nearest_rounding_loss(7, 0.2, 0.5), round(nearest_rounding_loss(4, 0.45, 0.5), 6)
    (0.5, 0.523137)
    """
    n, rate = checks.whole(population, "population", at_least=1), _exactly(sampling_rate)
    here, there = (math.floor(rate * records + Fraction(1, 2)) for records in (n, n + 1))
    return (
        checks.positive(epsilon, "epsilon")
        if here < there
        else float(inserted_record_loss(here, n, epsilon))
    )


def random_rounding_loss(population: int, sampling_rate: float, epsilon: float) -> float:
    r"""Return the exact loss between ``n = population`` records and one more if the size is rounded at random.

    With ``y = e^epsilon``, ``m = floor(r n)``, ``p = r n - m``, ``mu = m/(n+1)``, ``nu = (m+1)/(n+1)`` and ``z`` one of
    ``y, 1/y``, the chances of the best event are proportional to ``D = 1 - p + p z`` and, while ``floor(r(n+1)) = m``,
    ``N = (1-p-r)(1 + mu(y^2 - 1)) + (p+r)((1-nu) z + nu y)``, otherwise ``N = (1-p')((1-nu) z + nu y) + p' y z`` with
    ``p' = p + r - 1``. The loss is the largest ``ln(N/D)``, or ``ln(D/N)`` with ``1/y`` for ``y`` in ``N``.

    Rates are read as by `nearest_rounding_loss`; `epsilon` is at most 1e9. With a rate of .1 the sizes for 20 and 21
    records have means of 2 and 2.1:

    >>> round(random_rounding_loss(20, 0.1, 0.5), 10)
    0.1923984693
    """
    n, rate = checks.whole(population, "population", at_least=1), _exactly(sampling_rate)
    budget = checks.numbers(
        checks.positive(epsilon, "epsilon"), "epsilon", low=0, high=_LARGEST
    ).item()
    gained = [_log_ratio(n, rate, budget, end) for end in (1, -1)]
    lost = [-_log_ratio(n, rate, -budget, end) for end in (1, -1)]
    return max(gained + lost)


def _exactly(sampling_rate: float) -> Fraction:
    return Fraction(repr(float(checks.open_probability(sampling_rate, "sampling_rate"))))


def _log_ratio(population: int, rate: Fraction, step: float, end: int) -> float:
    """Return ``ln(N/D)``, ``ln y = step``, ``ln z = end |step|``: from ``N - D`` where the two are near each other."""
    m, p = divmod(rate * population, 1)
    mu, nu, log_z = Fraction(m, population + 1), Fraction(m + 1, population + 1), end * abs(step)
    weights, logs, surplus, grown = event_terms(p, rate, mu, nu, step, log_z, moves=p + rate >= 1)
    plain = _log_sum(weights, logs) - _log_sum([1 - p, p], [0.0, log_z])
    if abs(plain) > 0.5:
        return plain
    terms = [(weight, growth) for weight, growth in zip(surplus, grown, strict=True) if weight]
    shift = max(log_z, *(growth for _, growth in terms))
    shift = shift if shift > _PLAIN else 0.0
    unit = math.exp(-shift)
    gained = sum(
        w * (math.expm1(x) * unit if x < _PLAIN else math.exp(x - shift)) for w, x in terms
    )
    return math.log1p(gained / ((1 - p) * unit + p * math.exp(log_z - shift)))


def _log_sum(weights: Sequence[float | Fraction], logs: Sequence[float]) -> float:
    """Return ``ln sum w e^x``; scipy's takes arrays, and a hundred times as long for so few terms."""
    terms = [(weight, log) for weight, log in zip(weights, logs, strict=True) if weight]
    highest = max(log for _, log in terms)
    return highest + math.log(sum(weight * math.exp(log - highest) for weight, log in terms))


def event_terms(
    part: Real, rate: Real, mu: Real, nu: Real, step: Real, log_z: Real, *, moves: bool
) -> tuple[list[Real], list[Real], list[Real], list[Real]]:
    """Return weights and exponents of ``N = sum w e^x``, then those of ``N - D = sum w (e^x - 1)``.

    Notation as in `random_rounding_loss`, with ``part = p``, ``step = ln y`` and whether the size's floor `moves`.
    """
    if moves:
        further = part + rate - 1
        logs = [log_z, step, step + log_z]
        weights = [(1 - further) * (1 - nu), (1 - further) * nu, further]
        return weights, logs, [rate - nu - further * (2 - nu), *weights[1:]], logs
    same, more = 1 - part - rate, part + rate
    weights, logs = (
        [same * (1 - mu), same * mu, more * (1 - nu), more * nu],
        [0.0, 2 * step, log_z, step],
    )
    return (
        weights,
        logs,
        [same * mu, same * mu, more * nu],
        [2 * step, log_z, step],
    )  # more (1 - nu) - p = same mu


def random_rounding_loss_supremum(sampling_rate: Real, epsilon: Real) -> Real:
    """Return ``ln(1 + r(1-r)(e^(2 epsilon) - 1) + r(e^epsilon - 1))``, the supremum of `random_rounding_loss`.

    It is approached where ``r n`` is whole and ``n`` grows. About ``(3r - 2r^2) epsilon`` for small epsilon.

    >>> round(float(random_rounding_loss_supremum(0.3, 0.5)), 10)
    0.4417684707
    """
    rate, budget = (
        checks.open_probability(sampling_rate, "sampling_rate"),
        checks.positive(epsilon, "epsilon"),
    )
    # e^epsilon - 1 is (e^(2 epsilon) - 1) / (e^epsilon + 1)
    return log_mixed(rate * (1 - rate + 1 / (np.exp(budget) + 1)), 2 * budget)


def rounding_threshold(epsilon: Real) -> Real:
    """Return ``1/(1 + e^epsilon)``, the largest rate at which a proportional sample never loses more than `epsilon`.

    That is so rounded at random, which amplifies, or down, which loses `epsilon` at each jump of the size. Beyond it
    these and rounding to the nearest integer lose more at some population sizes; the latter may at a few small ones
    even below it.

    >>> round(float(rounding_threshold(0.5)), 6), round(float(random_rounding_loss_supremum(0.3775406688, 0.5)), 6)
    (0.377541, 0.5)
    """
    growth = np.exp(-checks.positive(epsilon, "epsilon"))
    return growth / (1 + growth)


def random_rounding_bound(sampling_rate: Real, epsilon: Real) -> Real:
    """Return ``ln(1 + 2r(e^(2 epsilon) - 1)) + ln(1 + r(e^(2 epsilon) - 1))`` (Theorem 4.3, as its proof gives it).

    The constant for small epsilon is 6; the printed one is not recoverable.
    """
    rate, budget = (
        checks.open_probability(sampling_rate, "sampling_rate"),
        checks.positive(epsilon, "epsilon"),
    )
    return log_mixed(2 * rate, 2 * budget) + log_mixed(rate, 2 * budget)


def random_rounding_chain_bound(sampling_rate: Real, epsilon: Real) -> Real:
    """Return ``ln(1 + (3r - 2r^2)(e^(2 epsilon) - 1))``, Theorem 4.3's proof with the tight form of its Lemma A.4."""
    rate, budget = (
        checks.open_probability(sampling_rate, "sampling_rate"),
        checks.positive(epsilon, "epsilon"),
    )
    return log_mixed(rate * (3 - 2 * rate), 2 * budget)


def random_rounding_budget(epsilon_after: Real, sampling_rate: Real) -> Real:
    """Return the budget that loses `epsilon_after` at most at any population size (`random_rounding_loss_supremum`).

    ``e^epsilon`` is the positive root ``u`` of ``r(1-r) u^2 + r u + (1-r)^2 - e^(epsilon')``, which is about ``epsilon'
    / (3r)`` for small budgets.
    """
    rate, target = (
        checks.open_probability(sampling_rate, "sampling_rate"),
        checks.positive(epsilon_after, "epsilon_after"),
    )
    # with u = 1 + v: r(1-r) v^2 + (3r - 2r^2) v = e^epsilon' - 1
    square, slope, level = rate * (1 - rate), rate * (3 - 2 * rate), np.expm1(target)
    return np.log1p(2 * level / (slope + np.sqrt(slope * slope + 4 * square * level)))


def random_rounding_chain_budget(epsilon_after: Real, sampling_rate: Real) -> Real:
    """Return the mechanism budget that `random_rounding_chain_bound` allows."""
    rate, target = (
        checks.open_probability(sampling_rate, "sampling_rate"),
        checks.positive(epsilon_after, "epsilon_after"),
    )
    return log_mixed(1 / (rate * (3 - 2 * rate)), target) / 2
