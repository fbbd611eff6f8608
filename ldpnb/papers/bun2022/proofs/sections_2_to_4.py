"""Sections 2 to 4 of bun2022 and its Appendices A, B and F: the algebra of their proofs, on the formulas as shipped.

``t = e^epsilon`` throughout. Every function returns a decider's answer; what is argued in words stands in its
docstring. By the definition of privacy one event decides, so names such as ``inside`` are mean chances of one event.
"""

from itertools import product

import numpy as np
import sympy

from ldpnb.arithmetic import Real, Symbol
from ldpnb.claims import UnsoundError
from ldpnb.deciders import budget, derivative, expression, identity, limit, oo, positive, replaced, symbols
from ldpnb.designs.sizes import SizeLaw
from ldpnb.privacy import data_dependent, lemmas, random_size, rounding, subsampling

t, p, x, e = symbols("t p x e")
BUDGET, CHANCE, POSITIVE = {t: (1, oo)}, {p: (0, 1)}, {x: (0, oo)}
eps = budget(t)


def grows(value: Real, box: dict[Real, tuple[Real, Real]]) -> bool | None:
    """Return whether an expression in ``e = epsilon`` is 0 at 0 and grows: then it is positive for every budget."""
    return identity(replaced(value, e, 0)) and positive(replaced(derivative(value, e), e, eps), BUDGET | box)


def ratio(loss: Real) -> Real:
    """Return ``e^loss`` as a rational function, sums in exponents multiplied out.

    Raises
    ------
    UnsoundError
        If it is none.
    """
    found = expression(np.exp(loss)).replace(sympy.exp, lambda power: sympy.exp(sympy.expand(power)))
    if not found.is_rational_function():
        raise UnsoundError(f"not a rational function of e^epsilon: {found}"[:120])
    return Symbol(found)


# --- Section 2 and Appendix A ---


def simple_random_sampling() -> bool | None:
    """Theorem 2.2: multipliers of ``mu_1 <= t mu_1' + delta`` and ``mu_1 <= t mu_0 + delta`` prove the bound.

    ``mu_1`` is the mean chance given that the record is drawn, ``mu_1'`` that with its replacement, ``mu_0`` that given
    that it is not drawn: replacing the record by one that is not drawn couples the first and the last.
    """
    inside, new, outside, delta = symbols("inside new outside delta")
    factor, least = np.exp(subsampling.srs_loss(eps, p)), subsampling.srs_delta(delta, p)
    first, second = p * factor / t, (1 - p) * (factor - 1) / t
    room = factor * (p * new + (1 - p) * outside) + least - (p * inside + (1 - p) * outside)
    proof = identity(room, first * (t * new + delta - inside) + second * (t * outside + delta - inside))
    return proof and all(positive(value, BUDGET | CHANCE) for value in (first, second, t - factor))


def simple_random_sampling_attained() -> bool:
    """Theorem 2.2 is tight: an event of chance ``t a + delta`` with the record drawn and ``a`` without it."""
    a, delta = symbols("a delta")
    factor, least = np.exp(subsampling.srs_loss(eps, p)), subsampling.srs_delta(delta, p)
    return identity(p * (t * a + delta) + (1 - p) * a, factor * a + least)


def small_budgets() -> bool | None:
    """Equations (1) and (2): ``p epsilon <= ln(1 + p (e^epsilon - 1)) <= p (e^epsilon - 1)``, both from slopes."""
    loss = subsampling.srs_loss(e, p)
    return grows(loss - p * e, CHANCE) and grows(p * np.expm1(e) - loss, CHANCE)


def secret_sample() -> bool | None:
    """Section 2.4: the scale loses ``epsilon`` exactly, by ones against a zero, and is below that without secrecy."""
    m = symbols("m")[0]
    n = m + x
    secret = subsampling.proportion_noise_scale(eps, m, n)
    known = subsampling.proportion_noise_scale(eps, m)
    spent = np.exp(1 / (m * secret))
    exact = identity(1 - m / n + m / n * spent, t) and identity(np.exp(1 / (m * known)), t)
    inverse = identity(np.exp(subsampling.srs_budget(eps, m / n)), spent)
    return exact and inverse and positive(spent - t, BUDGET | POSITIVE | {m: (0, oo)})


def chain() -> bool:
    """Lemma A.2, on any three laws: slacks of ``f <= t g`` and ``g <= u h`` add up to that of ``f <= t u h``."""
    f, g, h, u = symbols("f g h u")
    return identity(np.exp(eps + budget(u)) * h - f, (t * g - f) + t * (u * h - g))


def coupling() -> bool:
    """Lemma A.3: one step costs the factor ``t``, and one step more another."""
    k = symbols("k")[0]
    factor, more = (np.exp(lemmas.coupled_loss(steps, eps)) for steps in (k, k + 1))
    return identity(np.exp(lemmas.coupled_loss(1, eps)), t) and identity(more, t * factor)


def mixtures() -> bool | None:
    """Lemma A.4, tight form: ``x_0 <= t y_0``, ``x_1 <= u y_1`` and ``x_1 <= u y_0`` with ``u >= t`` suffice."""
    x0, x1, y0, y1 = symbols("x0 x1 y0 y1")
    u = t + x
    factor = np.exp(lemmas.mixture_loss(p, common=eps, other=budget(u)))
    same, crossed = p * factor / u, p * (1 - factor / u)
    room = factor * ((1 - p) * y0 + p * y1) - (1 - p) * x0 - p * x1
    proof = identity(room, (1 - p) * (t * y0 - x0) + same * (u * y1 - x1) + crossed * (u * y0 - x1))
    attained = identity((1 - p) * t + p * u, factor)
    return proof and attained and positive(crossed, BUDGET | CHANCE | POSITIVE)


def mixtures_by_product() -> bool | None:
    """Lemma A.4, product form: ``t (1 + p (u - 1))``, above the tight form by ``p u (t - 1)``."""
    u = t + x
    product, tight = (
        np.exp(form(p, common=eps, other=budget(u))) for form in (lemmas.mixture_loss_product_form, lemmas.mixture_loss)
    )
    return identity(product - tight, p * u * (t - 1)) and positive(product - tight, BUDGET | CHANCE | POSITIVE)


# --- Section 3 and Appendix B ---


def inserted_record() -> bool | None:
    """Lemma B.1: with the new record's share ``s`` the factor is ``1 + s (t^2 - 1)``, in both directions.

    ``a`` is the mean chance over samples of the ``n`` records, ``b`` that over samples with the new one: within
    ``t^2``, as the new record takes another's place. ``b = t^2 a`` attains it.
    """
    a, b, m = symbols("a b m")
    n = m + x
    share, factor = m / (n + 1), np.exp(lemmas.inserted_record_loss(m, n, eps))
    larger = (1 - share) * a + share * b
    proof = identity(factor * a - larger, share * (t * t * a - b)) and identity(np.exp(lemmas.coupled_loss(1, eps)), t)
    return proof and positive(factor * (1 - share + share / t / t) - 1, BUDGET | POSITIVE | {m: (0, oo)})


def tilting() -> bool:
    """Lemma B.3: what ``e^(epsilon m)`` gains over other weights ``a`` is a sum over pairs, none of them negative.

    A pair of sizes ``i < j`` contributes ``l_i l_j (f_j - f_i) (t^j a_i - t^i a_j)``, and ``a_j <= t^(j-i) a_i``.
    """
    law, f, a = (symbols(" ".join(f"{name}{i}" for i in range(4))) for name in "lfa")
    best = lemmas.largest_tilted_mean(law, f, eps)
    tilted = [w * t**m for m, w in enumerate(law)]
    other = [w * chance for w, chance in zip(law, a, strict=True)]
    gained = best - sum(w * v for w, v in zip(other, f, strict=True)) / sum(other)
    pairs = [
        law[i] * law[j] * (f[j] - f[i]) * (t**j * a[i] - t**i * a[j])
        for i, j in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    ]
    return identity(gained * sum(tilted) * sum(other), sum(pairs))


def one_record_law(rate: Real, growth: Real) -> SizeLaw:
    """Return weights on the sizes 0 and 1 with ``E~ = rate``, for the bounds depend on a law by ``E~`` alone."""
    return SizeLaw(np.array([np.log((1 - rate) * growth), np.log(rate)]))


def small_law() -> tuple[list[Real], SizeLaw]:
    """Return free weights of the sizes 0 to 3, and their law."""
    weights = list(symbols("l0 l1 l2 l3"))
    return weights, SizeLaw(np.array([np.log(w) for w in weights]))


def reweighted_rate() -> bool:
    """Theorem 3.1: ``E~`` is the mean of ``m/n`` under the weights ``l(m) t^m``."""
    weights, law = small_law()
    tilted = [w * t**m for m, w in enumerate(weights)]
    mean = sum(w * m for m, w in enumerate(tilted)) / sum(tilted) / 3
    return identity(random_size.tilted_rate(law, eps), mean)


def random_size_from_above() -> bool | None:
    """Theorem 3.1: an event loses ``(1 + t R)/(1 + R/t)``, which grows with ``R`` and is the bound at ``t E~/(1-E~)``.

    ``R = sum v a / sum u a`` with ``u = l(m) (1 - m/n)`` and ``v = l(m+1) (m+1)/n``: as ``a(m-1) <= t a(m)``, ``R <= t
    E/(1 - E)`` with ``E`` the mean of ``m/n`` under ``l(m) a(m)``, at most ``E~`` by Lemma B.3.
    """
    rate = symbols("rate")[0]

    def lost(odds: Real) -> Real:
        return (1 + t * odds) / (1 + odds / t)

    bound = np.exp(random_size.random_size_upper_bound(one_record_law(rate, t), eps))
    rises = positive(lost(p + x) - lost(p), BUDGET | POSITIVE | {p: (0, oo)})
    return identity(bound, lost(t * rate / (1 - rate))) and rises


def random_size_from_below() -> bool | None:
    """Theorem 3.1: the noisy sum's tail, of chance ``t^sum``, loses just the bounds when a one falls by 1 or by 2."""
    weights, law = small_law()
    rate, share, whole = symbols("rate share whole")
    tilted = [w * t**m for m, w in enumerate(weights)]
    for step, form in ((1, random_size.random_size_lower_bound), (2, random_size.random_size_lower_bound_pm1)):
        fallen = [w * (1 - sympy.Rational(m, 3) * (1 - 1 / t**step)) for m, w in enumerate(tilted)]
        term = identity((1 - share) * whole + share * whole / t**step, whole * (1 - share * (1 - 1 / t**step)))
        bound = identity(np.exp(form(one_record_law(rate, t), eps)), 1 / (1 - (1 - 1 / t**step) * rate))
        if not (term and bound and identity(np.exp(form(law, eps)), sum(tilted) / sum(fallen))):
            return False
    return positive((1 - 1 / t**2) - (1 - 1 / t), BUDGET)


def bounds_of_a_rate() -> bool | None:
    """Every bound of Theorem 3.1 lies between two multiples of ``E~``, by its slope in epsilon.

    ``2 eps E < upper < (t^2 - 1) E``, ``(1 - 1/t) E < lower < eps E`` and ``(1 - 1/t^2) E < improved < 2 eps E``.
    """
    law, growth = one_record_law(p, np.exp(e)), np.exp(e)
    upper = random_size.random_size_upper_bound(law, e)
    lower = random_size.random_size_lower_bound(law, e)
    improved = random_size.random_size_lower_bound_pm1(law, e)
    gaps = (
        *(upper - 2 * e * p, (growth**2 - 1) * p - upper),
        *(lower - (1 - 1 / growth) * p, e * p - lower),
        *(improved - (1 - 1 / growth**2) * p, 2 * e * p - improved),
    )
    return all(grows(gap, CHANCE) for gap in gaps)


def short_of_the_whole() -> bool:
    """Figure 2: the improved bound is ``2 eps - ln(1 + (t^2 - 1)(1 - E~))``, short of the whole by ``1 - E~`` alone."""
    rate = symbols("rate")[0]
    bound = np.exp(random_size.random_size_lower_bound_pm1(one_record_law(rate, t), eps))
    return identity(bound * (1 + (t**2 - 1) * (1 - rate)), t**2)


def about_the_whole() -> bool:
    """Figure 2: that bound is ``10/11`` of ``2 eps``, as ``about`` asks, at ``1 - E~ = (t^(2/11) - 1)/(t^2 - 1)``."""
    root = symbols("root")[0]  # t^(1/11)
    law = one_record_law(1 - (root**2 - 1) / (root**22 - 1), root**11)
    return identity(np.exp(random_size.random_size_lower_bound_pm1(law, budget(root**11))), root**20)


def shrinking_weights() -> bool:
    """Figure 2: Gaussian weights times ``t^m`` fall, per record less, at least by ``s = eps - (n - mu)/sigma^2``.

    For what ``ln`` falls by is ``s`` and ``(n - m)/sigma^2 + 1/(2 sigma^2)``. So the mean of ``n - m`` is at most that
    of a geometric law, ``1/(e^s - 1)``, by Lemma B.3's exchange of pairs.
    """
    m, n, mu, deviation = symbols("m n mu deviation")

    def log_weight(size: Real) -> Real:
        return e * size - (size - mu) ** 2 / (2 * deviation**2)

    steepness = e - (n - mu) / deviation**2
    rest = (n - m) / deviation**2 + 1 / (2 * deviation**2)
    return identity(log_weight(m) - log_weight(m - 1), steepness + rest)


def largest_size_decides() -> bool | None:
    """Section 3: sizes of at most ``M`` lose less than the fixed size ``M``, for ``E~ <= M/n`` and the bound grows.

    Term by term ``M/n - E~`` is the mean of ``(M - m)/n``; the fixed size attains its bound (Theorem 2.2 at ``2 eps``).
    """
    weights, share = list(symbols("l0 l1 l2")), symbols("share")[0]
    law = SizeLaw(np.array([*(np.log(w) for w in weights), Symbol(-oo)]))
    fixed = SizeLaw(np.array([Symbol(-oo), Symbol(-oo), Symbol(0), Symbol(-oo)]))
    at_most, at_two = (np.exp(random_size.random_size_upper_bound(one, eps)) for one in (law, fixed))
    bound = np.exp(random_size.random_size_upper_bound(one_record_law(share, t), eps))
    fixed_size = np.exp(subsampling.srs_loss(2 * eps, p))
    same = identity(at_two, replaced(fixed_size, p, sympy.Rational(2, 3)))
    grown = identity(fixed_size - bound, (t**2 - 1) * (p - share))
    return same and grown and positive(at_two - at_most, BUDGET | dict.fromkeys(weights, (0, oo)))


def heavy_tail() -> bool | None:
    """Section 3: the whole data set with chance ``p``, else ``share n`` records: ``1 - E~ < (1 - p)/(p g)``.

    ``g = t^(n - share n)`` grows without bound in ``n``, so that ``E~`` tends to 1 for every ``p > 0``.
    """
    g, share = symbols("g share")
    rate = (p * g + (1 - p) * share) / (p * g + 1 - p)
    box = CHANCE | {g: (1, oo), share: (0, 1)}
    law = SizeLaw(np.array([Symbol(-oo), np.log(1 - p), Symbol(-oo), np.log(p)]))  # one record of three, or all
    as_shipped = identity(random_size.tilted_rate(law, eps), replaced(replaced(rate, share, Symbol("1/3")), g, t * t))
    return as_shipped and positive((1 - p) / (p * g) - (1 - rate), box) and positive(1 - rate, box)


def light_tail() -> bool | None:
    """Section 3: if ``ln E e^(s (m - mu)) <= s^2 v/2`` for all ``s``, then ``n E~ <= mu + 2 eps v``; losing less pays.

    ``n E~`` is the slope of the convex ``psi(s) = ln E e^(s m)`` at ``eps``, at most ``(psi(eps + c eps) -
    psi(eps))/(c eps)``, and ``psi(eps) >= eps mu`` by Jensen's inequality; ``c = 1`` is best.
    """
    c, mu, v, rate = symbols("c mu v rate")
    beyond = e * (1 + c)
    slope = (beyond * mu + beyond**2 * v / 2 - e * mu) / (c * e)
    best = identity(slope, mu + 2 * e * v + e * v * (1 - c) ** 2 / (2 * c))
    bound = np.exp(random_size.random_size_upper_bound(one_record_law(rate, t), eps))
    return best and identity(t**2 - bound, (t**2 - 1) * (1 - rate)) and positive(t**2 - bound, BUDGET | {rate: (0, 1)})


def one_rate_two_losses() -> bool | None:
    """Section 1.1: one of two records, and none or both with weights ``t^2`` to 1, have ``E~ = 1/2`` and lose unlike.

    ``ln((1 + t^2)/2)`` and ``ln(2 t^2/(1 + t^2))``, upper and improved lower bound. With none or both the event's odds
    ``R = v_1 a_1/(u_0 a_0)`` are at most ``1/t``, so that the latter is exact.
    """
    one, other = (
        SizeLaw(np.array([Symbol(w) for w in logs]))
        for logs in ((-oo, 0, -oo), (2 * eps.expression, -oo, sympy.Integer(0)))
    )
    fixed = np.exp(random_size.random_size_upper_bound(one, eps))
    spread = np.exp(random_size.random_size_lower_bound_pm1(other, eps))
    rates = [identity(random_size.tilted_rate(law, eps), sympy.Rational(1, 2)) for law in (one, other)]
    losses = identity(fixed, (1 + t**2) / 2) and identity(spread, 2 / (1 + 1 / t**2))
    return all(rates) and losses and positive(fixed - spread, BUDGET)


def widest_gap() -> bool:
    """Section 1.1: the upper over the lower bound tends to ``t (t + 1)`` as ``E~ -> 0``, from below."""
    law = one_record_law(p, t)
    upper, lower = (
        np.exp(f(law, eps)) - 1 for f in (random_size.random_size_upper_bound, random_size.random_size_lower_bound)
    )
    ratio = limit(upper / lower, p.expression, 0)  # ln(1 + x) is x to first order
    return identity(ratio, t * (t + 1)) and identity((t**2 - 1) / (1 - 1 / t), t * (t + 1))


# --- Section 4 and Appendix F ---


def told_by_size() -> bool:
    """Section 4.1: a noisy count's tail loses one more ``eps`` for every record by which the sizes differ."""
    gap = symbols("gap")[0]
    factor, more = (np.exp(data_dependent.size_count_loss(records, eps)) for records in (gap, gap + 1))
    return identity(np.exp(data_dependent.size_count_loss(1, eps)), t) and identity(more, t * factor)


def best_size_test() -> bool:
    """Section 4.2: no private test tells sizes apart better than the formula, which two records more shrink by ``t``.

    With chances ``g_0``, ``h`` and ``h'`` in the middle, and ``g_D``: ``g_0 >= h/t^k`` and ``1 - g_D >= (1 - h')/t^k``,
    where ``h' = h`` for an even gap ``D = 2 k`` and ``h' - h <= (t - 1)/(t + 1)`` for an odd one.
    """
    first, last, low, high, power = symbols("first last low high power")
    advantage = {gap: data_dependent.size_test_advantage(gap, eps) for gap in range(8)}
    slack = (first - low / power) + ((1 - last) - (1 - high) / power)
    odd = 1 - 2 / (power * (t + 1))
    bound = identity(slack + ((t - 1) / (t + 1) - (high - low)) / power, odd - (last - first))
    even = identity(slack + (low - high) / power, 1 - 1 / power - (last - first))
    start = identity(advantage[0], 0) and identity(advantage[1], (t - 1) / (t + 1))
    return bound and even and start and all(identity(1 - advantage[d + 2], (1 - advantage[d]) / t) for d in range(6))


def two_point_test() -> bool | None:
    """Proposition 4.1: ``g <= t h`` and ``1 - h <= t (1 - g)`` make ``g - h <= (t - 1)/(t + 1)``, the weak form more.

    Randomised response, ``g = t/(t + 1)`` and ``h = 1/(t + 1)``, attains it.
    """
    g, h = symbols("g h")
    bound, weak = data_dependent.advantage_bound(eps), data_dependent.weak_advantage_bound(eps)
    slack = (t * h - g) + (t * (1 - g) - (1 - h))
    proof = identity(bound - (g - h), slack / (t + 1)) and identity(bound, t / (t + 1) - 1 / (t + 1))
    return proof and identity(weak, t - 1) and positive(weak - bound, BUDGET)


def noise_of_the_count() -> bool:
    """Proposition 4.2: the count's noise has mean ``1/eps`` and mean square ``2/eps^2``, integrated for every epsilon.

    The intended size is missed by no more than the noisy count of the sample misses it and the noise, on average; for
    squares the two add up, as the noise is independent and centred.
    """
    alpha, y = symbols("alpha y")
    at, density = y.expression, (e * np.exp(-e * y)).expression
    mean, square = (Symbol(sympy.integrate(at**k * density, (at, 0, oo))) for k in (1, 2))
    plain = identity(data_dependent.size_error_lower_bound(alpha, e), alpha - mean)
    return plain and identity(data_dependent.size_squared_error_lower_bound(alpha, e), alpha - square)


def two_point_estimate() -> bool | None:
    """Appendix F: mean errors ``here`` and ``there`` weigh to at least ``gap/(t + 1)``, which is the bound.

    ``across`` is the mean distance from the first value of the estimate at the second: at most ``t`` times ``here``,
    and ``across + there >= gap``. Randomised response between the two values errs by the bound on both; it grows with
    the gap.
    """
    gap, here, there, across = symbols("gap here there across")
    bound = data_dependent.two_point_error(gap, eps)
    slack = ((t * here - across) + (across + there - gap)) / (t + 1)
    proof = identity((t * here + there) / (t + 1) - bound, slack)
    wider = data_dependent.two_point_error(gap + x, eps)
    return proof and identity(bound, gap / (t + 1)) and positive(wider - bound, BUDGET | POSITIVE | {gap: (0, oo)})


def nearest_rounding() -> bool:
    """Section 4.3: where the size stays ``m``, the loss exceeds eps exactly if ``s = m/(n+1) > 1/(1 + t)``.

    Where it jumps, ``m`` of ``n`` and ``m + 1`` of ``n + 1`` records couple within one step, and a count attains eps.
    """
    m, n = symbols("m n")
    share, factor = m / (n + 1), np.exp(lemmas.inserted_record_loss(m, n, eps))
    jump = identity(np.exp(lemmas.coupled_loss(1, eps)), t)
    return jump and identity(factor - t, (t - 1) * (share * (t + 1) - 1))


def random_rounding() -> bool | None:
    """Theorem 4.3: no size loses more than the supremum, in either direction, with or without a move of the floor.

    `event_terms` are the shipped chances of the best event: with ``a_k`` and ``c_k`` its mean chances over samples of
    ``k`` records without and with the new one, couplings give ``c_k <= t a_(k-1)``, ``c_k <= t^2 a_k`` and ``a_(k+1) <=
    t a_k`` and their mirror images, and the ratio is linear-fractional in ``a_(m+1)``, so extreme at its ends. What has
    to be positive is linear in ``1/(n+1)``: its ends are ``n = infinity`` and the least ``n``, where ``m = 0``.
    """
    most = np.exp(rounding.random_rounding_loss_supremum(p, eps))
    if not identity(most, 1 + p * (1 - p) * (t**2 - 1) + p * (t - 1)):
        return False
    for moves, part in ((False, (1 - p) * x), (True, 1 - p * x)):
        for share in (Symbol(0), p / (part + p)):
            for up, end in product((1, -1), repeat=2):
                here, there = _event(part, share, up * eps, end * eps, moves)
                room = most * here - there if up > 0 else most * there - here
                if not positive(room, BUDGET | CHANCE | {x: (0, 1)}):
                    return False
    return True


def _event(part: Real, share: Real, step: Real, log_z: Real, moves: bool) -> tuple[Real, Real]:
    """Return what the event's chances are proportional to, without and with the new record; ``share = 1/(n+1)``."""
    mu, nu = p - (part + p) * share, p + (1 - part - p) * share  # n = (m + part)/p
    weights, logs, *_ = rounding.event_terms(part, p, mu, nu, step, log_z, moves=moves)
    return 1 - part + part * np.exp(log_z), sum(w * ratio(log) for w, log in zip(weights, logs, strict=True))


def supremum_approached() -> bool:
    """Theorem 4.3: with ``r n`` whole and ``n`` growing, ``part = 0`` and both shares tend to ``r``: the supremum."""
    weights, logs, *_ = rounding.event_terms(0, p, p, p, eps, eps, moves=False)
    most = np.exp(rounding.random_rounding_loss_supremum(p, eps))
    return identity(sum(w * ratio(log) for w, log in zip(weights, logs, strict=True)), most)


def rounding_bounds() -> bool | None:
    """Theorem 4.3: supremum < tight lemma < theorem, ``3 - 2r``, ``6 - 4r`` and 6 times ``r eps`` for small epsilon."""
    forms = (
        rounding.random_rounding_loss_supremum,
        rounding.random_rounding_chain_bound,
        rounding.random_rounding_bound,
    )
    least, chained, printed = (np.exp(form(p, eps)) for form in forms)
    slopes = [replaced(derivative(form(p, e), e), e, 0) for form in forms]
    exact = [identity(s, p * c) for s, c in zip(slopes, (3 - 2 * p, 6 - 4 * p, 6), strict=True)]
    tight = identity(chained, 1 + p * (3 - 2 * p) * (t**2 - 1))
    return all(exact) and tight and all(positive(gap, BUDGET | CHANCE) for gap in (chained - least, printed - chained))


def rounding_amplifies() -> bool:
    """Section 4.3: the supremum exceeds ``eps`` exactly where ``r (1 + t) > 1``, and so does a fixed size's loss."""
    most, fixed = np.exp(rounding.random_rounding_loss_supremum(p, eps)), np.exp(subsampling.srs_loss(2 * eps, p))
    sign = (t - 1) * (p * (t + 1) - 1)
    return identity(most - t, (1 - p) * sign) and identity(fixed - t, sign)


def rounding_against_fixed_size() -> bool | None:
    """Section 4.3: the supremum lies between half of a fixed size's loss, ``ln(1 + r (t^2 - 1))``, and 3/2 of it.

    The former is the limit for ``r -> 1``, the latter for small rates and budgets.
    """
    most, fixed = np.exp(rounding.random_rounding_loss_supremum(p, eps)), np.exp(subsampling.srs_loss(2 * eps, p))
    ratio = 1 - p + 1 / (t + 1)
    return (
        identity(most - 1, ratio * (fixed - 1))
        and positive(most**2 - fixed, BUDGET | CHANCE)
        and positive(fixed**3 - most**2, BUDGET | CHANCE)
    )
