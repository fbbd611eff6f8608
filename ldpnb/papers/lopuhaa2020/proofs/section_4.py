"""Sections 4 and 6: entropies, determinants and traces of information, and the best channels.

``t = e^epsilon`` and ``c = t - 1``; there are ``a = m + 1`` values.
"""

from itertools import combinations
from typing import Any

import numpy as np
import sympy

from ldpnb.accuracy import information
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.arithmetic import Real
from ldpnb.deciders import budget, expression, identity, oo, positive, symbols
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding

BUDGET = (1, oo)


def same_logarithm(one: Any, other: Any) -> bool:
    """Return whether two products of positive factors and exponentials are the same."""
    logs = [sympy.expand_log(sympy.log(expression(side)), force=True) for side in (one, other)]
    return identity(sympy.expand(logs[0] - logs[1]))


def gaussian_errors() -> bool:
    """Decide that (23) is an equality for normal errors, and what the jitter takes off (24).

    Of variance v in every coordinate, ``h = (a-1)/2 ln(2 pi e v)``, the bound is ``a v``; a jitter has variance
    1/12.
    """
    m, v, n, h = symbols("m v n h")
    bounds = EntropyBounds(m + 1)
    standard = bounds.limits(0, 0)[0]
    equality = same_logarithm(bounds.distribution(standard + m / 2 * np.log(v)), (m + 1) * v)
    per_user = identity(bounds.frequency(h, n, jitter=False) * n * n, bounds.distribution(h))
    jitter = bounds.frequency(h, n, jitter=False) - bounds.frequency(h, n, jitter=True)
    return equality and per_user and identity(jitter, (m + 1) / (12 * n * n))


def entropy_limits() -> bool:
    """Decide (41) and (42) for a normal posterior of information ``n J`` and tallies of covariance ``n C`` given P."""
    m, n, log_j, log_c, log_p = symbols("m n J C p")
    bounds = EntropyBounds(m + 1)
    standard = bounds.limits(0, 0)[0]  # of m standard normal variables
    posterior = standard - (log_j + m * np.log(n)) / 2
    tallies = standard + (log_c + m * np.log(n)) / 2
    told = (log_j + log_p) / 2  # h(P|T) exceeds h(P|S) by this, as ln det J of the values themselves is -ln p
    limits = bounds.limits(log_j, log_c - log_p - log_j)
    shift = m / 2 * np.log(n)
    return identity(posterior + shift, limits[0]) and identity(tallies - told - shift, limits[1])


def corollary() -> bool:
    """Decide that Corollary 4.3 is Theorem 4.1 at the limits of Theorem 4.2."""
    m, n, j, f = symbols("m n J F")
    bounds = EntropyBounds(m + 1)
    limits, shift, asymptotic = bounds.limits(j, f), m / 2 * np.log(n), bounds.asymptotic(j, f)
    one = same_logarithm(n * bounds.distribution(limits[0] - shift), asymptotic[0])
    return one and same_logarithm(n * bounds.frequency(limits[1] + shift, n, jitter=False), asymptotic[1])


def information_of_values(values: int = 5) -> bool:
    """Decide that of a value itself the information is the inverse of ``diag(p) - p p^T``, one coordinate left out.

    Entry by entry it is the mean product of two scores, which differentiate ``ln p``; the last value has the rest.
    """
    p = sympy.symbols(f"p1:{values}", positive=True)
    chances = sympy.Matrix([*p, 1 - sum(p)])
    scores = chances.applyfunc(sympy.log).jacobian(p)
    covariance = sympy.diag(*p) - sympy.Matrix(p) * sympy.Matrix([p])
    product = scores.T * sympy.diag(*chances) * scores * covariance
    return bool(product.applyfunc(sympy.simplify) == sympy.eye(values - 1))


def determinants(values: int = 5) -> bool:
    """Decide ``det(diag(p) - p p^T) = p_1 .. p_j (1 - p_1 - .. - p_j)`` for the leading blocks."""
    p = sympy.symbols(f"p1:{values + 1}", positive=True)
    block = sympy.diag(*p) - sympy.Matrix(p) * sympy.Matrix([p])
    return all(
        identity(block[:j, :j].det(method="laplace"), sympy.prod(p[:j]) * (1 - sum(p[:j])))
        for j in range(1, values + 1)
    )


def rows_of_a_channel() -> bool:
    """Decide what (54) and (55) need of a row of an epsilon-LDP channel, and their constants as shipped.

    Entries differ by at most ``c (Qp)_y`` and are at least ``(Qp)_y / t``. Where j values are favoured, of chance
    f, the sum of ``ln(Q / (Qp)_y)`` is ``j epsilon - a ln(1 + c f)``, at least ``-(a - j) epsilon``.
    """
    t, u, v, w, m = symbols("t u v w m")
    low, high, mean = (1 + (t - 1) * x for x in (u, v, w))  # entries and mean between 1 and t times the least
    box = {t: BUDGET} | dict.fromkeys((u, v, w), (0, 1))
    apart = positive(((t - 1) * mean) * ((t - 1) * mean) - (high - low) * (high - low), box)
    least = positive(t * low - mean, box)
    corner = positive(t - mean, box)  # f is w; one logarithm of t / mean > 0 for each value
    bounds = LowerBounds(m + 1, budget(t))
    ceiling = identity(bounds.log_information_ceiling(), 2 * m * np.log(t - 1))
    floors = [identity(bounds.log_covariance_floor("published"), -(m + 1) * np.log(t))]
    floors.append(identity(bounds.log_covariance_floor("sharp"), -m * np.log(t)))
    return apart is True and least is True and corner is True and ceiling and all(floors)


def distribution_bound() -> bool:
    """Decide that (59) is Corollary 4.3 at the constant of (54)."""
    m, t = symbols("m t")
    bounds = LowerBounds(m + 1, budget(t))
    return same_logarithm(
        EntropyBounds(m + 1).asymptotic(bounds.log_information_ceiling(), 0)[0], bounds.distribution()
    )


def budget_bounds() -> bool:
    """Decide that Theorem 4.5 is Corollary 4.3 at the constants of Theorem 4.4."""
    m, t = symbols("m t")
    bounds, entropies = LowerBounds(m + 1, budget(t)), EntropyBounds(m + 1)
    ceiling, floor = bounds.log_information_ceiling(), bounds.log_covariance_floor()
    return distribution_bound() and same_logarithm(entropies.asymptotic(0, floor - ceiling)[1], bounds.frequency())


def row_trace() -> bool:
    """Decide what a row of k entries t and others 1 adds to the trace, and that mixed rows add no more.

    On vectors of sum 0 it is ``k (a-k) c^2 / (a (1 + c s)^2)`` times its chance, s being the chance of its values;
    ``|q|^2 / (q p)`` is convex in q.
    """
    t, k, a, s = symbols("t k a s")
    mean = (k * t + a - k) / a
    square = k * (t - mean) * (t - mean) + (a - k) * (1 - mean) * (1 - mean)
    row = 1 + (t - 1) * s
    adds = identity(square / row / row, k * (a - k) * (t - 1) * (t - 1) / (a * row * row))
    uniform = LowerBounds(a, budget(t)).uniform_information(k)
    at_uniform = identity(square / mean / mean, uniform)
    u, v, x, y = symbols("u v x y")
    mixed = (u + x) * (u + x) / (v + y)
    convex = identity(u * u / v + x * x / y - mixed, (u * y - x * v) * (u * y - x * v) / (v * y * (v + y)))
    half = identity(a * a / 4 - k * (a - k), (a / 2 - k) * (a / 2 - k))
    return adds and at_uniform and convex and half


def inverse_trace() -> bool:
    """Decide ``1/u + 1/v >= 4 / (u + v)``; over ``a - 1`` eigenvalues it is ``(a-1)^2`` over the trace."""
    u, v = symbols("u v")
    return identity(1 / u + 1 / v - 4 / (u + v), (u - v) * (u - v) / (u * v * (u + v)))


def halves_attain() -> bool:
    """Decide that subset selection is within t^3 of ``(a-1)^2 a / (k (a-k) c^2)`` at every distribution.

    A factor t for the distribution (the chances of all outputs change by as much at most), t^2 at the uniform one.
    """
    t, k, more = symbols("t k more")
    a = k + more
    best = (a - 1) * (a - 1) / LowerBounds(a, budget(t)).uniform_information(k)
    bound = a * (a - 1) * (a - 1) / (k * more * (t - 1) * (t - 1))
    share = (k * t + more) / a
    return identity(best / bound, share * share) and positive(t - share, {t: BUDGET, k: (0, oo), more: (0, oo)}) is True


def best_subset_size() -> bool:
    """Decide that sets of ``k + 1`` tell more than sets of k iff ``t^2 < (a-k)(a-k-1) / (k (k+1))``, which falls in k.

    At the uniform distribution: one size is best between two neighbouring thresholds.
    """
    t, k, rest = symbols("t k rest")
    a = k + 1 + rest
    told, more = (LowerBounds(a, budget(t)).uniform_information(size) for size in (k, k + 1))
    bottom = (k * t + a - k) * ((k + 1) * t + a - k - 1)
    step = a * a * (t - 1) * (t - 1) * (k * (k + 1) * t * t - (a - k) * (a - k - 1))
    threshold = (a - k) * (a - k - 1) / (k * (k + 1))
    following = (a - k - 1) * (a - k - 2) / ((k + 1) * (k + 2))
    falls = positive(threshold - following, {k: (0, oo), rest: (0, oo)})
    return identity(told - more, step / (bottom * bottom)) and falls is True


def any_design() -> bool:
    """Decide that b sets of k values, each pair of values in equally many, tell what subset selection tells.

    At the uniform distribution; b drops out.
    """
    t, a, b, k = symbols("t a b k")
    replication = b * k / a
    pairs = replication * (k - 1) / (a - 1)
    weight = a / (b * (k * t + a - k))  # of a set: the columns sum to 1
    chance = weight * (k * t + a - k) / a
    column = identity(weight * (replication * t + b - replication), 1)
    trace = (a - 1) * weight * weight * (t - 1) * (t - 1) * (replication - pairs) / chance
    return column and identity(trace, LowerBounds(a, budget(t)).uniform_information(k))


def pairs_of_four() -> bool:
    """Decide that rows that favour pairs of four values make a channel of full rank only if all six have weight.

    Equal sums of the columns are weights whose signed indicators cancel: then complements weigh alike. The three that
    are left are orthogonal, so without one of them the information has rank 2.
    """
    pairs = list(combinations(range(4), 2))  # complements stand at i and 5 - i
    signs = sympy.Matrix(4, 6, lambda value, i: 1 if value in pairs[i] else -1)
    balanced, half = signs.nullspace(), signs[:, :3]
    alike = all(weights[i] == weights[5 - i] for weights in balanced for i in range(3))
    return len(balanced) == 3 and alike and half.T * half == 4 * sympy.eye(3)


def warner() -> bool:
    """Decide Proposition 4.6: the variance of a report is the same for both values, and that of the values is added."""
    t, f, alpha = symbols("t f alpha")
    krr = KaryRandomisedResponse(budget(t), 2)
    error, gap = information.unbiased_frequency_error(krr), krr.truthful_rate
    written = 2 * t / ((t - 1) * (t - 1))
    fixed = [identity(2 * chance * (1 - chance) / gap / gap, written) for chance in (krr.p, krr.q)]
    chance = f * krr.p + (1 - f) * krr.q
    drawn = identity(2 * chance * (1 - chance) / gap / gap, written + 2 * f * (1 - f))
    symmetric = information.SymmetricDirichlet(2, alpha).diversity()
    prior = identity(symmetric, 2 * alpha * alpha / (2 * alpha * (2 * alpha + 1)))
    return identity(error, written) and all(fixed) and drawn and prior


def over_the_bound(make: Any, a: Real, t: Real) -> Real:
    """Return n times the error of unary encoding's unbiased estimate over (59), in ``t = e^(epsilon/2)``."""
    epsilon = 2 * budget(t)
    return information.unbiased_frequency_error(make(epsilon, a)) / LowerBounds(a, epsilon).distribution()


UNARY = (UnaryEncoding.optimised, UnaryEncoding.symmetric)
