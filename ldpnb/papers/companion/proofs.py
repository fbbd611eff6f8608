"""The algebra behind the companion's results, on the formulas as shipped.

``t = e^epsilon`` throughout, ``q`` a sampling rate. Every function returns a decider's answer; what is argued in words
stands in its docstring.
"""

from collections.abc import Callable

import numpy as np
import sympy

from ldpnb.accuracy import shrinkage
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Real, Symbol
from ldpnb.deciders import budget, identity, oo, positive, symbols
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import clusters, rounding, subsampling

t, q, e = symbols("t q e")
BUDGET, RATE = {t: (1, oo)}, {q: (0, 1)}
eps = budget(t)


# --- samples ---


def threshold_of_rounding() -> bool:
    """Rates beyond the threshold, and no others, lose more than ``eps``, rounded at random or a fixed share."""
    past = (q - rounding.rounding_threshold(eps)) * (t - 1) * (t + 1)
    most, fixed = np.exp(rounding.random_rounding_loss_supremum(q, eps)), np.exp(subsampling.srs_loss(2 * eps, q))
    return identity(most - t, (1 - q) * past) and identity(fixed - t, past)


def threshold_of_the_nearest() -> bool:
    """Nearest rounding: a share ``m/(n+1) <= (q n + 1/2)/(n + 1)``, for large ``n`` below any threshold above ``q``.

    With ``h`` the threshold ``h - (q n + 1/2)/(n + 1)`` has the sign of ``(h - q)(n + 1) - (1/2 - q)``; rounding down
    draws at most ``q n/(n + 1) < q``.
    """
    n = symbols("n")[0]
    edge = rounding.rounding_threshold(eps)
    room = (edge - q) * (n + 1) - (sympy.Rational(1, 2) - q)
    return identity((edge - (q * n + sympy.Rational(1, 2)) / (n + 1)) * (n + 1), room) and identity(edge * (t + 1), 1)


def poisson_from_above() -> bool | None:
    """No mechanism exceeds `poisson_loss`, whatever the others' values and rates.

    Given who else is drawn, an event has the chance ``absent`` without the record, ``present <= t absent`` with it and
    ``new >= absent/t`` with its replacement: multipliers prove the bound, and means over the others keep it.
    """
    present, new, absent = symbols("present new absent")
    replaced, deleted = (
        np.exp(subsampling.poisson_loss(eps, q, neighbours=relation)) for relation in ("replacement", "deletion")
    )
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
    replaced, deleted = (
        np.exp(subsampling.poisson_loss(eps, q, neighbours=relation)) for relation in ("replacement", "deletion")
    )
    return identity(here / there, replaced) and identity(here / absent, deleted)


def poisson_below_fixed_size() -> bool | None:
    """At one rate a fixed size loses more under replacement, for every budget; both are ``2 q eps`` to first order."""
    fixed, free = np.exp(subsampling.srs_loss(2 * eps, q)), np.exp(subsampling.poisson_loss(eps, q))
    slopes = [
        Symbol(sympy.diff(loss.expression, e.expression).subs(e.expression, 0))
        for loss in (subsampling.srs_loss(2 * e, q), subsampling.poisson_loss(e, q))
    ]
    exact = identity(fixed, 1 + q * (t * t - 1)) and all(identity(slope, 2 * q) for slope in slopes)
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


# --- counts ---

n, k, share = symbols("n k share")
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
