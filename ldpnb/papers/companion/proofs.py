"""The algebra behind the companion's results, on the formulas as shipped.

``t = e^epsilon`` throughout, ``q`` a sampling rate. Every function returns a decider's answer; what is argued in words
stands in its docstring.
"""

from collections.abc import Callable

import numpy as np
import sympy

from ldpnb.accuracy import dropouts, gaps, shrinkage
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Real, Symbol
from ldpnb.claims import UnsoundError
from ldpnb.deciders import budget, derivative, identity, oo, positive, replaced, symbols
from ldpnb.mechanisms import moves
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.privacy import clusters, rounding, subsampling

t, q, e = symbols("t q e")
n, k, share = symbols("n k share")
BUDGET, RATE = {t: (1, oo)}, {q: (0, 1)}
eps = budget(t)


# --- samples ---


def threshold_of_the_nearest() -> bool:
    """Nearest rounding: a share ``m/(n+1) <= (q n + 1/2)/(n + 1)``, for large ``n`` below any threshold above ``q``.

    With ``h`` the threshold ``h - (q n + 1/2)/(n + 1)`` has the sign of ``(h - q)(n + 1) - (1/2 - q)``; rounding down
    draws at most ``q n/(n + 1) < q``.
    """
    edge = rounding.rounding_threshold(eps)
    room = (edge - q) * (n + 1) - (sympy.Rational(1, 2) - q)
    return identity((edge - (q * n + sympy.Rational(1, 2)) / (n + 1)) * (n + 1), room) and identity(edge * (t + 1), 1)


def _poisson_growth() -> list[Real]:
    """Return ``e^loss`` of an independent sample, if the record is replaced and if it is deleted."""
    return [np.exp(subsampling.poisson_loss(eps, q, neighbours=name)) for name in ("replacement", "deletion")]


def poisson_from_above() -> bool | None:
    """No mechanism exceeds `poisson_loss`, whatever the others' values and rates.

    Given who else is drawn, an event has the chance ``absent`` without the record, ``present <= t absent`` with it and
    ``new >= absent/t`` with its replacement: multipliers prove the bound, and means over the others keep it.
    """
    present, new, absent = symbols("present new absent")
    replaced, deleted = _poisson_growth()
    here, there = q * present + (1 - q) * absent, q * new + (1 - q) * absent
    least = 1 - q + q / t
    gained = deleted * q * (new - absent / t) + least * q * (t * absent - present)
    both = identity((replaced * there - here) * least, gained)
    added = identity(deleted * absent - here, q * (t * absent - present))
    rest = deleted * q * (t * new - absent) + q * (1 - q) * (t - 1) ** 2 * absent
    removed = identity((deleted * there - absent) * t, rest)
    return both and added and removed


def poisson_attained() -> bool:
    """Attained by tails with ``present = t absent`` and ``new = absent/t``, as noise on a sum of +1 and -1 has."""
    absent = symbols("absent")[0]
    here, there = (q * growth * absent + (1 - q) * absent for growth in (t, 1 / t))
    replaced, deleted = _poisson_growth()
    return identity(here / there, replaced) and identity(here / absent, deleted)


def poisson_below_fixed_size() -> bool | None:
    """At one rate a fixed size loses more under replacement, for every budget; both are ``2 q eps`` to first order."""
    fixed, free = np.exp(subsampling.srs_loss(2 * eps, q)), np.exp(subsampling.poisson_loss(eps, q))
    losses = subsampling.srs_loss(2 * e, q), subsampling.poisson_loss(e, q)
    slopes = all(identity(replaced(derivative(loss, e), e, 0), 2 * q) for loss in losses)
    exact = identity(fixed, 1 + q * (t * t - 1)) and slopes
    return exact and positive(fixed - free, BUDGET | RATE)


def one_sample_or_fresh() -> bool | None:
    """Releases of growth ``u`` and ``v``: what one sample loses more than fresh ones, ``F(u v) - F(u) F(v)``.

    ``q (1 - q)(u - 1)(v - 1)`` for a simple random sample (and for a stratum, and independent samples under deletion).
    Independent samples under replacement: the sign of ``1 - 2 q``.
    """
    u, v = symbols("u v")
    box = RATE | {u: (1, oo), v: (1, oo)}

    def excess(loss: Callable[[Real], Real]) -> Real:
        one, other, both = (np.exp(loss(budget(growth))) for growth in (u, v, u * v))
        return both - one * other

    mixed = q * (1 - q) * (u - 1) * (v - 1)
    fixed = identity(excess(lambda b: subsampling.srs_loss(b, q)), mixed)
    added = identity(excess(lambda b: subsampling.poisson_loss(b, q, neighbours="deletion")), mixed)
    replaced = excess(lambda b: subsampling.poisson_loss(b, q))
    below = (1 - q + q / u) * (1 - q + q / v) * (1 - q + q / (u * v))
    sign = identity(replaced, mixed * (1 - 2 * q) * (u * v - 1) / (u * v) / below)
    return fixed and added and sign and positive(below, box)


def one_cluster_sample_or_fresh() -> bool | None:
    """Clusters of one size: one sample always loses more, in both relations.

    ``F(u) = (u + c a)/(1 + c a)`` with ``c = 1/q - 1`` and a power ``a = u^-m`` of the growth; decided for every ``a``
    and ``b`` in (0, 1), ``a b`` belonging to ``u v``. Under replacement put ``u^2`` for ``u``.
    """
    u, v, a, b, c = symbols("u v a b c")

    def growth(x: Real, power: Real) -> Real:
        return (x + c * power) / (1 + c * power)

    for records in (0, 1, 5):
        loss = clusters.cluster_loss_at(records, epsilon=budget(u), changed_size=1, sampling_rate=1 / (1 + c))
        if not identity(np.exp(loss), growth(u, 1 / u**records)):
            return False
    box = {u: (1, oo), v: (1, oo), a: (0, 1), b: (0, 1), c: (0, oo)}
    return positive(growth(u * v, a * b) - growth(u, a) * growth(v, b), box)


def with_replacement() -> bool | None:
    """Decide that no event beats ``E t^J`` if records are drawn with replacement, ``J`` times the one that changes.

    With the event's mean chance 1 where ``J = 0``, ``u_j`` and ``v_j`` with the record and its replacement ``j`` times,
    ``u_i <= t^max(i, j) v_j`` and ``u_i <= t^i``. Let ``w <= 1`` be the least ``v_j`` among 1 and the ``j`` with ``t^j
    < R = E t^J``. Then ``u_j - R v_j <= w (t^j - R)`` for all ``j >= 1``: with ``u_j = t^j min(w, v_j)`` and ``v_j`` on
    either side of ``w``. Their mean is ``w (R - 1) Pr(J = 0)``, at most what ``J = 0`` lacks.
    """
    w, v, power, most, none = symbols("w v power most none")
    above = identity(w * (power - most) - (w * power - most * (w + v)), most * v)
    least = w * (power - most) - (w - v) * (power - most)  # v_j = w - v below w, only where t^j >= R = most
    below = identity(least, v * (power - most))
    spare = identity(none * (most - 1) - w * (most - 1) * none, none * (most - 1) * (1 - w))
    growth = np.exp(subsampling.with_replacement_loss(eps, 2, n))
    mean = (1 - 1 / n) * (1 - 1 / n) + 2 / n * (1 - 1 / n) * t + t * t / (n * n)
    attained = identity(growth, mean)  # u_j = t^j, v_j = 1
    return above and below and spare and attained and positive((1 - w) * (most - 1), {w: (0, 1), most: (1, oo)})


# --- reports ---


def hashing_is_unary() -> bool:
    """Decide that ``p = t/(t + g - 1)`` and ``1/g`` are a unary encoding of loss ``ln t``, OUE at ``g = t + 1``."""
    g = symbols("g")[0]
    hashing, best = LocalHashing(eps, 3, g), LocalHashing(eps, 3, t + 1)
    loss = identity(np.exp(hashing.unary.epsilon), t) and identity(hashing.truthful_rate, hashing.p - hashing.q)
    return loss and identity(best.p, sympy.Rational(1, 2)) and identity(best.q, UnaryEncoding.optimised(eps, 3).q)


# --- counts ---

COUNTS = BUDGET | RATE | {n: (0, oo), k: (1, oo)}


def _survey() -> SampledCounts:
    return SampledCounts(n, q, KaryRandomisedResponse(eps, k))


def unscaled_threshold() -> bool | None:
    """Decide that mean squared errors at a value nobody holds part by the sign of ``n`` minus the threshold."""
    survey, none = _survey(), Symbol(0)
    biased = survey.bias_unadjusted(none) * survey.bias_unadjusted(none) + survey.variance_unadjusted(none)
    rescaled = survey.rare_variance_rescaled
    factor = n * (1 - q) * (1 - q) / ((t - 1) * (t - 1))
    both = identity(biased - rescaled, factor * (n - shrinkage.unscaled_below(survey)))
    ends = identity(shrinkage.rare_risk(survey, 1 - q), biased) and identity(
        shrinkage.rare_risk(survey, Symbol(0)), rescaled
    )
    return both and ends and positive(factor, COUNTS)


def best_point() -> bool | None:
    """Completing the square: the risk at any share is the least one and ``(V + B^2)(share - best)^2``."""
    survey = _survey()
    best, variance, bias = shrinkage.best_share(survey), survey.rare_variance_rescaled, n / (t - 1)
    total = variance + bias * bias
    risk = shrinkage.rare_risk(survey, share)
    square = identity(risk, variance * bias * bias / total + total * (share - best) * (share - best))
    beyond = (n - (t + k - 1 - q) / (1 - q)) * (1 - q) * n / ((t - 1) * (t - 1)) / total
    return square and identity(1 - q - best, beyond) and positive(total, COUNTS)


# --- groups ---

size, other, rest, mean, mean2, nu, nu2 = symbols("size other rest mean mean2 nu nu2")
d = symbols("d")[0]


def linearised_gap() -> bool:
    """Decide that the gap's linear part has the shipped variance, user by user, for any number of groups.

    A report of group ``g`` and sign ``s`` counts ``s - c_g``, ``c_g = gain m_g/(a - a')``, every user ``a' c_g``, over
    ``gain n_g``; the constants leave a variance alone.
    """
    signs = DiscretisedMeans(budget(t), budget(1 + share), d)
    centres = [signs.gain * m / (signs.keep - signs.move) for m in (mean, mean2)]
    units = [signs.gain * size, -signs.gain * other]

    def added(chances: list[list[Real]]) -> Real:
        """Return the variance that a user adds who reports (group, minus) and (group, plus) with these chances."""
        weights = [[(s - c) / unit for s in (-1, 1)] for c, unit in zip(centres, units, strict=True)]
        terms = [(p, w) for pair, both in zip(chances, weights, strict=True) for p, w in zip(pair, both, strict=True)]
        first = sum(p * w for p, w in terms)
        return sum(p * w * w for p, w in terms) - first * first

    def kept(value: Real) -> list[Real]:
        return [signs.keep * chance for chance in moves.sign_probabilities(value, signs.value_epsilon)]

    moved = [signs.move / 2, signs.move / 2]
    total = _over_group(lambda v: added([kept(v), moved]), size, mean, nu)
    total += _over_group(lambda v: added([moved, kept(v)]), other, mean2, nu2)
    sizes = (size, other, rest)
    shipped = dropouts.estimated_sizes_variance(signs, sizes, (mean, mean2), (nu, nu2))
    return identity(total + rest * added([moved, moved]), shipped)


def _over_group(one: Callable[[Real], Real], members: Real, average: Real, square: Real) -> Real:
    """Return the sum over a group of what is a square polynomial in the value.

    Raises
    ------
    UnsoundError
        If it is none.
    """
    low, level, high = map(one, (-1, 0, 1))
    line, curve, value = (high - low) / 2, (high + low) / 2 - level, symbols("value")[0]
    if not identity(one(value), level + line * value + curve * value * value):
        raise UnsoundError("what a user adds is no square polynomial in the value")
    return members * (level + line * average + curve * square)


def two_equal_groups() -> bool:
    """Decide the price for two equal groups, ``2 (1-a)^2 (m + m')^2 / ((2a-1)^2 n)``."""
    signs = DiscretisedMeans(budget(t), budget(1 + share), 2)
    a = signs.keep
    both = dropouts.estimated_sizes_variance(signs, (size, size), (mean, mean2), (nu, nu2))
    known = sum(gaps.variance_discretised_mean(signs, size, 2 * size, square) for square in (nu, nu2))
    price = 2 * (1 - a) * (1 - a) * (mean + mean2) * (mean + mean2)
    return identity(both - known, price / ((2 * a - 1) * (2 * a - 1) * size))


def one_sign_for_equal_groups() -> bool | None:
    """Decide that no channel beats the sign's ``4/tanh^2(eps/2)`` for equal groups: the dual bound at ``y = T``.

    With ``high`` and ``low`` the chances of an output summed over inputs that raise and lower the gap, prices of ``4
    ((t-1)/(t+1))^2`` per input cover ``(high - low)^2 / ((high + low)/4)``, since ``high/low`` lies in ``[1/t, t]``.
    """
    high, low = symbols("high low")
    price = 4 * ((t - 1) / (t + 1)) * ((t - 1) / (t + 1))
    slack = (price * (high + low) - 4 * (high - low) * (high - low) / (high + low)) * (high + low) * (t + 1) * (t + 1)
    covered = identity(slack, 16 * (t * low - high) * (t * high - low))
    sign = gaps.GroupGap(SignedBit(eps, (1, 1)), (1, 1)).worst_variance() * 2
    return covered and identity(sign, 64 / (4 * price))


# --- allocations ---


def lottery_needs_less_noise() -> bool | None:
    """Decide that in the tail one record of three, one or two of them drawn by lot, loses less than if one is drawn.

    With ``x = e^(1/(4 b))`` the factors are ``1 + (x^2 - 1)/3`` and ``1 + 2 (x - 1)/3``; the former is ``t`` for the
    fixed allocations' least noise, and their mean is below it.
    """
    x, third, both = 1 + symbols("x")[0], Symbol(sympy.Rational(1, 3)), Symbol(sympy.Rational(2, 3))
    one = np.exp(subsampling.srs_loss(budget(x * x), third))
    two = np.exp(subsampling.srs_loss(budget(x), both))
    exact = identity(np.exp(subsampling.srs_budget(budget(one), third)), x * x)
    mixed = identity((one + two) / 2, (x * x + 2 * x + 3) / 6)
    return exact and mixed and positive(one - (one + two) / 2, {symbols("x")[0]: (0, oo)})
