r"""Privacy of sampling a fixed fraction, rounded to whole records.

This is Section 4.3 of Bun et al. (2022). A population of ``n`` records is sampled at rate ``r``:
``f`` records are drawn without replacement, with ``f`` near ``r n``. Everything here is deletion
privacy, for the mechanism on the sample and for the whole release. Budgets are in nats, and ``r``
lies in ``(0, 1)``.

Rounding to the nearest integer gains nothing. To round up at random, with the fractional part as
probability, loses about ``3 r epsilon``, which may be more than ``epsilon``: see
`rounding_threshold`.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Real
from ldpnb.privacy.lemmas import inserted_record_loss, log_mixed

_PLAIN = 700.0
"""Nats whose exponential is a float."""

_LARGEST = 1e9
"""Nats beside which a single nat keeps its digits."""


# Exact losses


def nearest_rounding_loss(population: int, sampling_rate: float, epsilon: float) -> float:
    """Return the exact loss if the sample's size is rounded to the nearest integer.

    The neighbours have `population` records and one more. The loss is ``epsilon`` where the two
    sizes differ. Otherwise it is that of a fixed size (Lemma B.1 of Bun et al., 2022), which may
    exceed ``epsilon``. Halves are rounded up. A rate is taken as the decimal that is written.

    A fifth of 7 rounds to 1, and of 8 to 2. Nine twentieths of 4 and of 5 round to 2.

    >>> nearest_rounding_loss(7, 0.2, 0.5), round(nearest_rounding_loss(4, 0.45, 0.5), 6)
    (0.5, 0.523137)
    """
    n = checks.whole(population, "population", at_least=1)
    rate = _exactly(sampling_rate)
    size = math.floor(rate * n + Fraction(1, 2))
    next_size = math.floor(rate * (n + 1) + Fraction(1, 2))
    if size < next_size:
        return checks.positive(epsilon, "epsilon")
    return float(inserted_record_loss(size, n, epsilon))


def random_rounding_loss(population: int, sampling_rate: float, epsilon: float) -> float:
    r"""Return the exact privacy loss of sampling a fraction, if the size is rounded at random.

    The size is rounded up with the fractional part of ``r n`` as probability. The neighbours have
    ``n`` records and one more.

    Parameters
    ----------
    population : int
        Number ``n`` of records, at least 1.
    sampling_rate : float
        The fraction ``r``, in ``(0, 1)``. It is taken as the decimal that is written.
    epsilon : float
        Budget of the mechanism under the deletion of a record, in nats, from above 0 to 1e9.

    Returns
    -------
    float
        Loss of the whole release under deletion, in nats: the largest over all mechanisms. It may
        exceed `epsilon`.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    See Also
    --------
    rounding_threshold : The largest rate at which the loss never exceeds epsilon.

    Notes
    -----
    With ``y = e^epsilon``, ``m = floor(r n)``, ``p = r n - m``, ``mu = m/(n+1)``,
    ``nu = (m+1)/(n+1)`` and ``z`` one of ``y`` and ``1/y``, the probabilities of the best event are
    proportional to ``D = 1 - p + p z`` and to ``N``. While ``floor(r(n+1)) = m``,
    ``N = (1-p-r)(1 + mu(y^2 - 1)) + (p+r)((1-nu) z + nu y)``. Otherwise
    ``N = (1-p')((1-nu) z + nu y) + p' y z`` with ``p' = p + r - 1``. The loss is the largest
    ``ln(N/D)``, or ``ln(D/N)`` with ``1/y`` for ``y`` in ``N``.

    References
    ----------
    Theorem 4.3 of Bun et al. (2022) bounds this loss.

    Examples
    --------
    Half of one record is none or one of it, half of two records is one of them. With y = 3, m = 0
    and p = nu = 1/2, N = (1/3 + 3)/2 and D = (1 + 1/3)/2 attain the loss ln 2.5.

    >>> round(float(np.exp(random_rounding_loss(1, 0.5, np.log(3)))), 12)
    2.5

    A tenth of 20 and of 21 records are 2 and 2.1 records on average.

    >>> round(random_rounding_loss(20, 0.1, 0.5), 10)
    0.1923984693
    """
    n = checks.whole(population, "population", at_least=1)
    rate = _exactly(sampling_rate)
    positive = checks.positive(epsilon, "epsilon")
    budget = checks.numbers(positive, "epsilon", low=0, high=_LARGEST).item()
    gained = [_log_ratio(n, rate, budget, end) for end in (1, -1)]
    lost = [-_log_ratio(n, rate, -budget, end) for end in (1, -1)]
    return max(gained + lost)


def _exactly(sampling_rate: float) -> Fraction:
    return Fraction(repr(float(checks.open_probability(sampling_rate, "sampling_rate"))))


def _log_ratio(population: int, rate: Fraction, step: float, end: int) -> float:
    """Return ``ln(N/D)`` with ``ln y = step`` and ``ln z = end |step|``.

    Where the two are near each other, it comes from ``N - D``.
    """
    m, p = divmod(rate * population, 1)
    mu = Fraction(m, population + 1)
    nu = Fraction(m + 1, population + 1)
    log_z = end * abs(step)
    weights, logs, surplus, grown = event_terms(p, rate, mu, nu, step, log_z, moves=p + rate >= 1)

    plain = _log_sum(weights, logs) - _log_sum([1 - p, p], [0.0, log_z])
    if abs(plain) > 0.5:
        return plain

    terms = [(weight, growth) for weight, growth in zip(surplus, grown, strict=True) if weight]
    shift = max(log_z, *(growth for _, growth in terms))
    shift = shift if shift > _PLAIN else 0.0
    unit = math.exp(-shift)

    def less_one(growth: float) -> float:
        """Return ``e^growth - 1`` times the unit."""
        if growth < _PLAIN:
            return math.expm1(growth) * unit
        return math.exp(growth - shift)

    gained = sum(weight * less_one(growth) for weight, growth in terms)
    return math.log1p(gained / ((1 - p) * unit + p * math.exp(log_z - shift)))


def _log_sum(weights: Sequence[float | Fraction], logs: Sequence[float]) -> float:
    """Return ``ln sum w e^x``.

    That of scipy takes arrays, and a hundred times as long for so few terms.
    """
    terms = [(weight, log) for weight, log in zip(weights, logs, strict=True) if weight]
    highest = max(log for _, log in terms)
    return highest + math.log(sum(weight * math.exp(log - highest) for weight, log in terms))


def event_terms(
    part: Real, rate: Real, mu: Real, nu: Real, step: Real, log_z: Real, *, moves: bool
) -> tuple[list[Real], list[Real], list[Real], list[Real]]:
    """Return weights and exponents of ``N = sum w e^x``, and of ``N - D = sum w (e^x - 1)``.

    The notation is that of `random_rounding_loss`, with ``part = p`` and ``step = ln y``; `moves`
    says whether the floor of the size is another one for the larger population.
    """
    if moves:
        further = part + rate - 1
        logs = [log_z, step, step + log_z]
        weights = [(1 - further) * (1 - nu), (1 - further) * nu, further]
        surplus = [rate - nu - further * (2 - nu), *weights[1:]]
        return weights, logs, surplus, logs

    same = 1 - part - rate
    more = part + rate
    weights = [same * (1 - mu), same * mu, more * (1 - nu), more * nu]
    logs = [0.0, 2 * step, log_z, step]

    # The weight of z in N - D is more (1 - nu) - p, which equals same mu.
    surplus = [same * mu, same * mu, more * nu]
    return weights, logs, surplus, [2 * step, log_z, step]


# The worst population size


def random_rounding_loss_supremum(sampling_rate: Real, epsilon: Real) -> Real:
    """Return the supremum of `random_rounding_loss` over all population sizes.

    It is ``ln(1 + r(1-r)(e^(2 epsilon) - 1) + r(e^epsilon - 1))``, about ``(3r - 2r^2) epsilon``
    for small epsilon. It is approached where ``r n`` is whole and ``n`` grows.

    >>> round(float(random_rounding_loss_supremum(0.3, 0.5)), 10)
    0.4417684707
    """
    rate = checks.open_probability(sampling_rate, "sampling_rate")
    budget = checks.positive(epsilon, "epsilon")

    # e^epsilon - 1 is (e^(2 epsilon) - 1) / (e^epsilon + 1)
    return log_mixed(rate * (1 - rate + 1 / (np.exp(budget) + 1)), 2 * budget)


def rounding_threshold(epsilon: Real) -> Real:
    """Return the largest rate at which a proportional sample never loses more than its mechanism.

    It is ``1/(1 + e^epsilon)``. Up to this rate a sample whose size is rounded at random amplifies
    privacy, and one whose size is rounded down loses `epsilon` at each jump of the size. At larger
    rates both lose more than `epsilon` at some population sizes, and so does rounding to the
    nearest integer; the latter may at a few small population sizes even below this rate.

    Parameters
    ----------
    epsilon : float
        Budget of the mechanism under the deletion of a record, in nats, ``> 0``.

    Returns
    -------
    float
        The rate, between 0 and 1/2.

    Raises
    ------
    ValueError
        If `epsilon` is outside its range.

    See Also
    --------
    random_rounding_loss : The exact loss for a given population size.

    References
    ----------
    It follows from the exact loss; Theorem 4.3 of Bun et al. (2022) bounds that loss.

    Examples
    --------
    At the threshold, the largest loss over all population sizes is epsilon.

    >>> round(float(rounding_threshold(0.5)), 6)
    0.377541
    >>> round(float(random_rounding_loss_supremum(0.3775406688, 0.5)), 6)
    0.5
    """
    growth = np.exp(-checks.positive(epsilon, "epsilon"))
    return growth / (1 + growth)


# Bounds by the source, and budgets


def random_rounding_bound(sampling_rate: Real, epsilon: Real) -> Real:
    """Return ``ln(1 + 2r(e^(2 epsilon) - 1)) + ln(1 + r(e^(2 epsilon) - 1))``.

    This is Theorem 4.3 as its proof gives it. The constant for small epsilon is 6; the printed one
    is missing from the text that we read.
    """
    rate = checks.open_probability(sampling_rate, "sampling_rate")
    budget = checks.positive(epsilon, "epsilon")
    return log_mixed(2 * rate, 2 * budget) + log_mixed(rate, 2 * budget)


def random_rounding_chain_bound(sampling_rate: Real, epsilon: Real) -> Real:
    """Return ``ln(1 + (3r - 2r^2)(e^(2 epsilon) - 1))``.

    This is what the proof of Theorem 4.3 gives with the tight form of its Lemma A.4.
    """
    rate = checks.open_probability(sampling_rate, "sampling_rate")
    budget = checks.positive(epsilon, "epsilon")
    return log_mixed(rate * (3 - 2 * rate), 2 * budget)


def random_rounding_budget(epsilon_after: Real, sampling_rate: Real) -> Real:
    """Return the budget that loses at most `epsilon_after` at any population size.

    It inverts `random_rounding_loss_supremum`: ``e^epsilon`` is the positive root ``u`` of
    ``r(1-r) u^2 + r u + (1-r)^2 - e^(epsilon')``. For small budgets it is about
    ``epsilon' / (3r)``.
    """
    rate = checks.open_probability(sampling_rate, "sampling_rate")
    target = checks.positive(epsilon_after, "epsilon_after")

    # with u = 1 + v: r(1-r) v^2 + (3r - 2r^2) v = e^epsilon' - 1
    square = rate * (1 - rate)
    slope = rate * (3 - 2 * rate)
    level = np.expm1(target)
    return np.log1p(2 * level / (slope + np.sqrt(slope * slope + 4 * square * level)))


def random_rounding_chain_budget(epsilon_after: Real, sampling_rate: Real) -> Real:
    """Return the mechanism's budget that `random_rounding_chain_bound` allows."""
    rate = checks.open_probability(sampling_rate, "sampling_rate")
    target = checks.positive(epsilon_after, "epsilon_after")
    return log_mixed(1 / (rate * (3 - 2 * rate)), target) / 2
