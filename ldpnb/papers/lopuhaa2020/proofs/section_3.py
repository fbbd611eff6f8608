"""Section 3 and the appendices: posterior means, mixtures of Dirichlet laws, the estimate of highest likelihood.

``c = e^epsilon - 1`` and ``t = e^epsilon``; a tally is written u or v, the sum of the K largest S.
"""

import sympy

from ldpnb.accuracy.information import SymmetricDirichlet
from ldpnb.arithmetic import Real
from ldpnb.deciders import budget, derivative, identity, oo, positive, sign_changes, symbols
from ldpnb.estimators import bayes, frequency
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding


def mean_is_best() -> bool:
    """Decide that the ratio of two integrals (21) is the estimate of least squared error.

    With moments ``m_0, m_1, m_2`` of a coordinate under prior times likelihood, an estimate d costs the least cost
    and ``m_0`` times its squared distance from ``m_1 / m_0``.
    """
    zeroth, first, second, d = symbols("m0 m1 m2 d")
    mean = first / zeroth
    least = second - first * mean
    return identity(second - 2 * d * first + d * d * zeroth, least + zeroth * (mean - d) * (mean - d))


def dirichlet_moments(a: Real, alpha: Real) -> bool:
    """Decide the covariances of a Dirichlet law, and the shipped mean of ``1 - |P|^2``.

    From ``E P_x^j P_y^k = (alpha_x)_j (alpha_y)_k / (alpha_0)_{j+k}``, rising factorials.
    """
    x, y, total = symbols("x y total")
    covariance = identity(
        x * y / (total * (total + 1)) - x * y / (total * total), -x * y / (total * total * (total + 1))
    )
    variance = identity(
        x * (x + 1) / (total * (total + 1)) - x * x / (total * total), x * (total - x) / (total * total * (total + 1))
    )
    square = a * alpha * (alpha + 1) / (a * alpha * (a * alpha + 1))
    return covariance and variance and identity(1 - square, SymmetricDirichlet(a, alpha).diversity())


def mixture_moments() -> bool:
    """Decide mean and covariance of a mixture of two laws; a mixture of more is one of mixtures.

    The covariance is the mixed one plus ``w (1-w)`` times the square of the means' distance.
    """
    w, v1, v2, m1, m2 = symbols("w v1 v2 m1 m2")
    mean = w * m1 + (1 - w) * m2
    variance = w * (v1 + m1 * m1) + (1 - w) * (v2 + m2 * m2) - mean * mean
    between = w * (m1 - mean) * (m1 - mean) + (1 - w) * (m2 - mean) * (m2 - mean)
    return identity(variance, w * v1 + (1 - w) * v2 + between) and identity(
        between, w * (1 - w) * (m1 - m2) * (m1 - m2)
    )


def dirichlet_step() -> bool:
    """Decide that ``p_x`` times the density of Dirichlet(alpha) is ``alpha_x / alpha_0`` times that of alpha + e_x."""
    x, rest = sympy.symbols("x rest", positive=True)
    ratio = sympy.beta(x + 1, rest).rewrite(sympy.gamma) / sympy.beta(x, rest).rewrite(sympy.gamma)
    return identity(sympy.gammasimp(ratio), x / (x + rest))


def counted_terms() -> bool:
    """Decide Pascal's rule for ``C(n+m, m)``, which adds an output, and ``C(n+m, m) <= (n+1)^m``."""
    n, m, i = symbols("n m i")
    pascal = identity((n + m + 1) / (m + 1) - n / (m + 1), 1)  # in units of C(n+m, m)
    factor = positive((n + 1) - (n + i) / i, {n: (0, oo), i: (1, oo)})
    return pascal and factor is True


def frequencies_are_affine() -> bool:
    """Decide that the shipped map takes ``(alpha + E[T | Y]) / (alpha_0 + n)`` to ``E[T | Y] / n``."""
    n, *alpha = symbols("n a1 a2 a3")
    held = symbols("h1 h2")
    held = (*held, n - held[0] - held[1])
    total = alpha[0] + alpha[1] + alpha[2]
    found = bayes.frequency_mean([(x + h) / (total + n) for x, h in zip(alpha, held, strict=True)], alpha, n)
    return all(identity(one, h / n) for one, h in zip(found, held, strict=True))


def consistency() -> bool:
    """Decide ``KL <= chi^2`` and that ``chi^2`` of n reports has mean ``(b - 1) / n``.

    The first by ``ln u <= u - 1`` at ``u = e^x`` and ``e^-x``; the second output by output, as the chances sum to
    1.
    """
    x = sympy.Symbol("x")
    above, below = sympy.exp(x) - 1 - x, 1 - sympy.exp(x) + x * sympy.exp(x)
    logarithm = sign_changes(above, x) == sign_changes(below, x) == 0 and bool(above.subs(x, 1) > 0 < below.subs(x, 1))
    n, chance = symbols("n chance")
    return logarithm and identity(chance * (1 - chance) / n / chance, (1 - chance) / n)


def krr_maximum() -> bool:
    """Decide that ``s / lambda - 1/c`` on the K largest is the maximum iff K is the last rank with ``u_K (c+K) > S_K``.

    It meets the conditions of optimality, and the ranks that pass are the first ones.
    """
    c, total, kept, u, v = symbols("c S K u v")
    level = c * total / (c + kept)
    estimate = u / level - 1 / c
    multiplier = identity(c * u / (1 + c * estimate), level)
    sums_to_one = identity(total / level - kept / c, 1)
    sign = identity(estimate, (u * (c + kept) - total) / (c * total))  # and elsewhere c u <= level
    next_rank = identity(v * (c + kept + 1) - (total + v), v * (c + kept) - total)
    run = identity((u * (c + kept) - total) - (v * (c + kept) - total), (u - v) * (c + kept))
    return multiplier and sums_to_one and sign and next_rank and run


def scaling_about_an_offset() -> bool:
    """Decide where the MLE of [25] scales about, ``-(1/c) (1 + e^epsilon / (a-2))``, and the exact one, ``-1/c``.

    Errors of variance proportional to ``u = f' + k`` have their least weighted square at ``u = gamma (f + k)``.
    """
    t, a, f, gamma, share = symbols("t a f gamma share")
    krr = KaryRandomisedResponse(budget(t), a)
    variance = share * krr.p * (1 - krr.p) + (1 - share) * krr.q * (1 - krr.q)
    normal = frequency.normal_offset(krr)
    proportional = identity(variance / (share + normal), krr.p * (1 - krr.p) - krr.q * (1 - krr.q))
    u, g = sympy.symbols("u g", positive=True)
    slope = sympy.diff((g - u) ** 2 / u, u)
    stationary = identity(slope.subs(u, gamma.expression * g), 1 - 1 / gamma.expression**2)  # the same for all kept
    # f + 1/c is proportional to the share of the reports
    exact = identity((f + 1 / (t - 1)) * krr.truthful_rate, f * krr.truthful_rate + krr.q)
    return proportional and stationary and exact and identity(normal * (t - 1), 1 + t / (a - 2))


def contrasts_grow_with_the_offset() -> bool:
    """Decide that a larger offset leaves larger contrasts among the values kept.

    ``gamma (f + k) - k`` is ``1/K + gamma (f - mean)`` on K kept values, and gamma grows with k where they sum to
    more than 1.
    """
    f, mean, kept, k, more = symbols("f mean K k more")
    gamma = (1 + kept * k) / (kept * (mean + k))
    same = identity(gamma * (f + k) - k, 1 / kept + gamma * (f - mean))
    mean = (1 + more) / kept
    slope = derivative((1 + kept * k) / (kept * (mean + k)), k)
    return same and positive(slope, {kept: (1, oo), k: (0, oo), more: (0, oo)}) is True


def projection_comes_nearer() -> bool:
    """Decide ``(f - u) (u - p)`` coordinate by coordinate, u being f after Norm-Sub and p a point of the simplex.

    It is ``delta (u - p)`` where ``u = f - delta``, and ``(delta - f) p`` more, not negative, where ``u = 0``: in all
    at least 0, as u and p have the same sum.
    """
    f, p, delta = symbols("f p delta")
    kept, clipped = f - delta, 0 * f
    more = [(f - u) * (u - p) - delta * (u - p) for u in (kept, clipped)]
    u = symbols("u")[0]
    square = (f - p) * (f - p) - (u - p) * (u - p)
    nearer = identity(square, (f - u) * (f - u) + 2 * (f - u) * (u - p))
    return identity(more[0]) and identity(more[1], (delta - f) * p) and nearer


def unary_rows() -> bool:
    """Decide that a set bit makes its value ``e^epsilon`` times likelier, under both unary encodings.

    So an output counts with its tally and bits alone: none but those seen.
    """
    r, a = symbols("r a")
    encodings = [UnaryEncoding.optimised(budget(r), a), UnaryEncoding.symmetric(2 * budget(r), a)]
    odds = [m.p / m.q / (m.miss_rate / (1 - m.q)) for m in encodings]
    return identity(odds[0], r) and identity(odds[1], r * r)


def worse_at_one_value(t: Real, threshold: tuple[str, str]) -> bool:
    """Decide from where on the MLE's error exceeds Norm-Sub's: three users of one value, k-RR on three.

    Only the tallies (2, 1, 0), in any order, are estimated differently, the smaller share being ``m = 1/3 -
    1/(3c)`` by the MLE and ``v = 1/3 - 1/(2c)``, or 0 up to ``t = 5/2``, by Norm-Sub. The threshold is given by two
    numbers around it.
    """
    c = t - 1
    m, v = (1 - 1 / c) / 3, (2 - 3 / c) / 6
    low, half, high = (sympy.Rational(end) for end in (threshold[0], "2.5", threshold[1]))
    later = _vertex_error(t, m) - _vertex_error(t, v)
    earlier = _vertex_error(t, v) - _vertex_error(t, m), _vertex_error(t, t - t) - _vertex_error(t, m)
    answers = [positive(later, {t: (high, oo)}), positive(earlier[0], {t: (half, low)})]
    return all(answer is True for answer in (*answers, positive(earlier[1], {t: (2, half)})))


def _vertex_error(t: Real, share: Real) -> Real:
    """Return the part of the error that the tallies (2, 1, 0) make up, with this share at the rarer value."""
    krr = KaryRandomisedResponse(budget(t), 3)
    p, q, other = krr.p, krr.q, 1 - share
    wrong = 1 + share * share + other * other
    return 12 * p * p * q * share * share + 12 * p * q * q * other * other + 6 * q * q * q * wrong


def prior_against_none(alpha: Real) -> Real:
    """Return the MLE's error over the least: two values, Beta(alpha, alpha), an odd number of users, epsilon to 0.

    Reports say nothing: the posterior mean is 1/2, and the MLE all or nothing, whatever the distribution.
    """
    variance = (1 - SymmetricDirichlet(2, alpha).diversity() - 0.5) / 2
    return (variance + 0.25) / variance
