"""Proofs of Sections 5 to 7 of bun2022: clusters, unequal probabilities, strata.

Throughout ``t = e^epsilon``; a ratio is ``e^loss``. Chances that privacy bounds by others are written as the bound plus
a slack, so that an inequality is one between polynomials with positive symbols.
"""

from fractions import Fraction
from itertools import permutations

import numpy as np
import sympy

from ldpnb.accuracy.allocation import Outcomes
from ldpnb.arithmetic import Real, Symbol
from ldpnb.deciders import budget, identity, limit, oo, optimum, positive, replaced, sign_changes, symbols
from ldpnb.designs import samples, strata
from ldpnb.papers.bun2022.proofs.sections_2_to_4 import ratio
from ldpnb.privacy import clusters, rounding, subsampling
from ldpnb.privacy.unequal import Inclusion, systematic_rank_shift_loss

EVERY, SHARE = (0, oo), (0, 1)
t, p, q, k, m, n = symbols("t p q k m n")
eps = budget(t)
ONE: Real = Symbol(1)
BUDGET = {t: (1, oo)}


def records(growth: Real) -> Real:
    """Return the number of records ``N`` with ``t^N = growth``."""
    return Symbol(sympy.log(growth.expression) / sympy.log(t.expression))


# --- Section 5: a = chance of the event given that the changed cluster is drawn, b = given that it is not ---


def cluster_bound_from_odds() -> bool:
    """``B(x)`` is ``(1 + o)/(1 + o/t)``, ``o = p/(1-p) t^(n_1 + x)`` the odds that the cluster was drawn."""
    own, other, odds = symbols("own other odds")  # t^(n_1 - 1), t^x
    bound = ratio(clusters.cluster_loss_at(records(other), epsilon=eps, changed_size=1 + records(own), sampling_rate=p))
    found = ratio(subsampling.weighted_loss(eps, np.log(odds) - eps))
    at = p / (1 - p) * t * own * other
    return identity(found, (1 + odds) / (1 + odds / t)) and identity(bound, (1 + at) / (1 + at / t))


def cluster_loss_grows_with_odds() -> bool | None:
    """``(1 + o)/(1 + o/t)`` grows in ``o``, so the loss grows with the smallest and falls with the largest weight."""
    odds, more = symbols("odds more")
    low, high = (ratio(subsampling.weighted_loss(eps, np.log(o) - eps)) for o in (odds, odds + more))
    return positive(high - low, BUDGET | {odds: EVERY, more: EVERY})


def no_event_exceeds_the_cluster_bound() -> bool | None:
    """With ``a' >= a/t`` and ``a <= g b``, ``g = t^(n_1 + x)``, no event's ratio is above that of ``B(x)``.

    From the neighbour's side ``a >= a'/t`` and ``a' <= (g/t) b``: the same at smaller odds, hence a smaller bound.
    """
    g, a, one, two = symbols("g a one two")
    bound = ratio(clusters.cluster_loss_at(records(g / t), epsilon=eps, changed_size=1, sampling_rate=p))
    other, missed = a / t + one, a / g + two
    gap = bound * (p * other + (1 - p) * missed) - (p * a + (1 - p) * missed)
    return positive(gap, BUDGET | {p: SHARE, g: (1, oo), a: EVERY, one: EVERY, two: EVERY})


def privacy_is_conserved() -> bool | None:
    """Whatever the odds that the cluster was drawn, the loss is below ``epsilon``."""
    (odds,) = symbols("odds")
    return positive(t - ratio(subsampling.weighted_loss(eps, np.log(odds) - eps)), BUDGET | {odds: EVERY})


def growing_clusters() -> bool:
    """``B < epsilon``, and ``epsilon - B < c epsilon`` with ``c = (1/p - 1) t^-(n_1 - 1 + n)``.

    For ``B = ln(1 + w(t - 1))`` with ``w = 1/(1 + c)``, which is at least ``w epsilon`` (`small_budgets`).
    """
    grown = symbols("grown")[0]  # t^(n_1 - 1 + n)
    bound = ratio(clusters.cluster_loss_at(records(grown), epsilon=eps, changed_size=1, sampling_rate=p))
    c = (1 / p - 1) / grown
    below = positive(t - bound, BUDGET | {p: SHARE, grown: EVERY})
    short = positive(1 / (1 + c) - (1 - c), {p: SHARE, grown: EVERY})
    return identity(bound, 1 + (t - 1) / (1 + c)) and below is True and short is True


def clusters_of_one_record() -> bool:
    """At sizes 1 deletion loses ``B(1)`` and replacement ``ln(1 + p (t^2 - 1))``, Theorem 2.2 at the doubled budget."""
    odds = p / (1 - p) * t * t
    deletion = ratio(clusters.cluster_loss_at(1, epsilon=eps, changed_size=1, sampling_rate=p))
    replacement = ratio(subsampling.weighted_loss(2 * eps, np.log(odds) - 2 * eps))
    smaller = positive(ratio(subsampling.srs_loss(2 * eps, p)) - deletion, BUDGET | {p: SHARE})
    return (
        identity(deletion, (1 + odds) / (1 + odds / t))
        and identity(replacement, ratio(subsampling.srs_loss(2 * eps, p)))
        and smaller is True
    )


def identified_clusters() -> bool:
    """Theorem 5.3: chances ``a``, ``a/s`` in the neighbour and ``beta a`` without the cluster; then ``s <= t`` weakens.

    At ``beta = 0`` the bound is ``s``: nothing is gained.
    """
    s, beta, a = symbols("s beta a")
    test = {"sampling_rate": p}
    strong = ratio(clusters.identified_cluster_loss_lower_bound(budget(s), confusion=beta, **test))
    weak = ratio(clusters.identified_cluster_loss_weak_bound(budget(s), confusion=beta, **test, epsilon=budget(s * t)))
    event = (p * a + (1 - p) * beta * a) / (p * a / s + (1 - p) * beta * a)
    box = {s: (1, oo), t: (1, oo), p: SHARE, beta: EVERY}
    none = ratio(clusters.identified_cluster_loss_lower_bound(budget(s), confusion=0 * beta, **test))
    return identity(strong, event) and positive(strong - weak, box) is True and identity(none, s)


def kept_at_a_rate() -> bool:
    """With ``g/t <= g' <= t g``, ``(1-q) g + q g'`` is within the factor ``1 + q(t - 1)`` of ``g``."""
    after = ratio(subsampling.srs_loss(eps, q))
    least = positive((1 - q) + q / t - 1 / after, BUDGET | {q: SHARE})
    return identity((1 - q) + q * t, after) and least is True


def second_stage_for_small_budgets() -> bool:
    """As epsilon goes to 0 the budget behind both stages is ``q epsilon``, the bound of Theorem 5.2 ``p epsilon``."""
    e, size = symbols("e size")
    spent = limit(subsampling.srs_loss(e, q) / e, e.expression, 0)
    bound = clusters.cluster_loss_at(size, epsilon=e, changed_size=1, sampling_rate=p)
    return identity(spent, q) and identity(limit(bound / e, e.expression, 0), p)


def second_stage_is_about(largest: str, most: float) -> bool:
    """Up to the budget `largest` the budget behind both stages is less than `most` times ``q epsilon``.

    It is at most ``q (e^epsilon - 1)``; the difference to ``most q epsilon`` changes sign once, beyond `largest`.
    """
    x = sympy.Symbol("x", positive=True)
    surplus = sympy.nsimplify(most, rational=True) * x - sympy.exp(x) + 1
    spent = identity(ratio(subsampling.srs_loss(eps, q)) - 1, q * (t - 1))
    return spent and sign_changes(surplus, x) == 1 and bool(surplus.subs(x, sympy.Rational(largest)) > 0)


def variance_of_a_mean(size: Real = n) -> bool:
    """Show that a simple random sample's mean is unbiased with variance ``s^2 (1/m - 1/n)``, for any values.

    With power sums ``S1``, ``S2``: each record enters with chance ``m/n``, each pair with ``m(m-1)/(n(n-1))``.
    """
    S1, S2 = symbols("S1 S2")
    one, two = m / size, m * (m - 1) / (size * (size - 1))
    square = (one * S2 + two * (S1 * S1 - S2)) / (m * m)
    unbiased = identity(one * S1 / m, S1 / size)
    variance = (S2 - S1 * S1 / size) / (size - 1)
    return unbiased and identity(square - (S1 / size) * (S1 / size), strata.mean_variance(size, variance, m))


# --- Section 6 ---


def any_design() -> bool:
    """Show that the event's ratio is that of (4) times ``1 + (1-p) mu_0 / (p mu_1)``, hence never below it."""
    names = symbols("r r1 inside inside1 outside outside1")
    r, _, inside, _, outside, _ = names
    event = Inclusion(*names)
    own, bound = ratio(event.event_loss()), ratio(event.loss_lower_bound())
    dropped = 1 + (1 - r) * outside / (r * inside)
    return identity(own, bound * dropped) and positive(dropped - 1, dict.fromkeys(names, SHARE)) is True


def event_chances() -> bool:
    """(5) is the quotient of the event's chances, and (4) that of ``p mu_1`` to its chance in the neighbour."""
    names = symbols("r r1 inside inside1 outside outside1")
    r, r1, inside, inside1, outside, outside1 = names
    event = Inclusion(*names)
    there = r1 * inside1 + (1 - r1) * outside1
    here = r * inside + (1 - r) * outside
    return identity(ratio(event.event_loss()), here / there) and identity(
        ratio(event.loss_lower_bound()), r * inside / there
    )


def certain_inclusion() -> bool:
    """At ``p = p' = 1`` the bound is the loss given inclusion; at equal chances it falls as ``(1-p')/p'`` grows."""
    r, s, outside, more = symbols("r s outside more")  # mu_1 = s mu_1'
    inside1 = ONE / s
    sure = Inclusion(ONE, ONE, ONE, inside1, outside, outside)
    rare, often = (
        ratio(Inclusion(1 / (1 + odds), 1 / (1 + odds), ONE, inside1, outside, outside).loss_lower_bound())
        for odds in (r + more, r)
    )
    box = {r: EVERY, more: EVERY, s: (1, oo), outside: SHARE}
    return identity(ratio(sure.loss_lower_bound()), s) and positive(often - rare, box) is True


def detected_inclusion() -> bool:
    """As ``mu_0'`` goes to 0, (4) becomes ``(mu_1/mu_1')(p/p')``; for a larger one it is smaller."""
    r, r1, s, outside, more = symbols("r r1 s outside more")
    inside1 = ONE / s

    def bound(chance: Real) -> Real:
        return ratio(Inclusion(r, r1, ONE, inside1, chance, chance).loss_lower_bound())

    box = {r: SHARE, r1: SHARE, s: (1, oo), outside: EVERY, more: EVERY}
    falls = positive(bound(outside) - bound(outside + more), box)
    return identity(bound(0 * outside), s * r / r1) and falls is True


def element_floor() -> bool:
    """Randomised response on "the record is drawn" has the ratio ``1 + p(t - 1)``, at least the ``p t`` of (4)."""
    answer, other = t / (1 + t), 1 / (1 + t)
    event = Inclusion(p, ONE, answer, other, other, other)
    floor = ratio(subsampling.srs_loss(eps, p))
    weak = identity(ratio(event.loss_lower_bound()), p * t)
    above = positive(floor - p * t, BUDGET | {p: SHARE})
    return weak and identity(ratio(event.event_loss()), floor) and above is True


def independent_draws_at_equal_sizes() -> bool:
    """Drawn independently at one rate a replaced record loses less than in a simple random sample of that rate."""
    independent = ratio(subsampling.srs_loss(eps, p)) / ratio(subsampling.srs_loss(-eps, p))
    fixed = ratio(subsampling.srs_loss(2 * eps, p))
    return positive(fixed - independent, BUDGET | {p: SHARE}) is True


def limited_variation() -> bool:
    """If the total changes by the factor ``1 + d``, an independently drawn record adds at most ``d r (t - 1)``.

    ``1 + d r (t - 1)`` bounds the ratio of what a draw at chance ``r`` and one at ``r/(1 + d)`` make of an event, in
    both directions: the event favours inclusion by ``t`` or exclusion by ``1/t``.
    """
    r, d = symbols("r d")
    most = 1 + d * r * (t - 1)
    box = BUDGET | {r: SHARE, d: EVERY}
    up = ratio(subsampling.srs_loss(eps, r)) / ratio(subsampling.srs_loss(eps, r / (1 + d)))
    down = ratio(subsampling.srs_loss(-eps, r / (1 + d))) / ratio(subsampling.srs_loss(-eps, r))
    return positive(most - up, box) is True and positive(most - down, box) is True


def _by_size(own: Real, rest: Real, chance: Real) -> Real:
    """Return the ratio of the tail if one cluster is drawn by size; `chance` is that without the changed cluster."""
    here, there = samples.pps_rate(own, own + rest, 1), samples.pps_rate(own - 1, own + rest - 1, 1)
    return ratio(Inclusion(here, there, ONE, 1 / t, chance, chance).event_loss())


def clusters_by_size() -> bool:
    """One cluster in proportion to size: above ``t`` exactly where the others' mean chance is below ``1/(1 + n(t-1))``.

    That chance of the optimal tail, ``mu_0``, is a mean of ``t^-(n_1 + n_i)``; never above ``t n_1/(n_1 - 1)``.
    """
    own, rest, chance = symbols("own rest chance")
    total, found = own + rest, _by_size(own, rest, chance) / t
    below = total * (own - 1) + total * t * rest * chance
    sign = identity(found - 1, rest * (1 - chance * (1 + total * (t - 1))) / below)
    most = positive(own / (own - 1) - found, BUDGET | {own: (1, oo), rest: EVERY, chance: EVERY})
    return sign and most is True


def many_small_clusters() -> bool | None:
    """Keep the ratio below ``1 + n_1/((n - n_1) mu_0)``: it goes to 1 in many clusters of limited size."""
    own, rest, chance = symbols("own rest chance")
    room = 1 + own / (rest * chance) - _by_size(own, rest, chance)
    return positive(room, BUDGET | {own: (1, oo), rest: EVERY, chance: EVERY})


def one_large_cluster() -> bool:
    """As the changed cluster grows alone, both its chances go to 1 and the ratio to ``t``, whatever the tail."""
    own, rest, chance = symbols("own rest chance")
    rate = limit(samples.pps_rate(own, own + rest, 1), own.expression, oo)
    return rate == 1 and identity(limit(_by_size(own, rest, chance), own.expression, oo), t)


def equal_inclusion_in_two_stages() -> bool:
    """Draw a cluster in proportion to size, then a fixed number of its records: ``(s/n)(f/s) = f/n`` for each."""
    size, total, fixed = symbols("size total fixed")
    return identity(samples.pps_rate(size, total, 1) * fixed / size, fixed / total)


def systematic_at_the_same_rank() -> bool:
    """One of ``k`` clusters of ``m`` records: below ``2 epsilon``, and all of it in the limit of large samples."""
    grown = symbols("grown")[0]  # t^(2m)
    odds = grown / (k - 1)
    loss = ratio(subsampling.weighted_loss(2 * eps, np.log(odds) - 2 * eps))
    closed = 1 + (t * t - 1) / (1 + (k - 1) * t * t / grown)
    below = positive(t * t - loss, BUDGET | {k: (1, oo), grown: EVERY})
    return identity(loss, closed) and below is True and identity(limit(loss, grown.expression, oo), t * t)


def systematic_at_shifted_ranks(size: int, step: int) -> bool:
    """Move the smallest record to the middle: the largest ratio is exactly ``t^size``, at ``t = 2``.

    A linear program in fractions over the event's chance given each sample, certified by its dual.
    """
    before = list(range(size * step))
    after = [*before[1 : size * step // 2], -1, *before[size * step // 2 :]]
    samples_of = [[frozenset(order[start::step]) for start in range(step)] for order in (before, after)]
    drawn = list(dict.fromkeys(samples_of[0] + samples_of[1]))
    here, there = ([Fraction(law.count(one), step) for one in drawn] for law in samples_of)
    private = [
        [int(g == one) - 2 ** len(one ^ other) * int(g == other) for g in drawn]
        for one, other in permutations(drawn, 2)
    ]
    most = optimum(here, [*private, there], [0] * len(private) + [1])
    return identity(np.exp(systematic_rank_shift_loss(size, budget(Symbol(2)))), Symbol(most))


# --- Section 7 ---


def neyman_is_optimal() -> bool:
    """Cauchy and Schwarz pair by pair, and Neyman's shares reach it: ``s^2/m`` of the stratum at ``m = M w s/W``."""
    first, second, drawn, other, weight, deviation, total = symbols("first second drawn other weight deviation total")
    pair = first * first * other / drawn + second * second * drawn / other - 2 * first * second
    squares = (first * other - second * drawn) * (first * other - second * drawn) / (drawn * other)
    share = m * weight * deviation / total
    term = weight * weight * strata.mean_variance(weight, deviation * deviation, share)
    reached = weight * deviation * total / m - weight * deviation * deviation
    return identity(pair, squares) and identity(term, reached)


def whole_allocations_are_greedy() -> bool:
    """One record more lowers the variance by ``s^2/(m(m+1))``, less and less: adding the best one each time is best."""
    variance = symbols("variance")[0]
    gains = [strata.mean_variance(n, variance, m + i) - strata.mean_variance(n, variance, m + i + 1) for i in range(2)]
    falls = positive(gains[0] - gains[1], {m: EVERY, variance: EVERY, n: EVERY})
    return identity(gains[0], variance / (m * (m + 1))) and falls is True


def least_noise_is_best() -> bool:
    """Private over plain variance grows with the noise at every plain one ``V > 0``, unbounded as ``V`` nears 0.

    So where ``V`` has a positive lower bound the largest ratio grows with the noise, and elsewhere it is infinite. The
    statistic is 0 or, with chance ``p``, some height.
    """
    scale, more, height = symbols("scale more height")
    table = Outcomes(np.array([0 * height, height]), np.array([[1 - p, p]]), np.empty((0, 2), dtype=int))
    low, high = (table.private_variances(b)[0] / table.variances()[0] for b in (scale, scale + more))
    grows = positive(high - low, {scale: EVERY, more: EVERY, height: EVERY, p: SHARE})
    return grows is True and limit(low, p.expression, 0) == oo


def rounding_bound_by_rate() -> bool:
    """``e^bound`` is ``(1 + 2 r g)(1 + r g)``, ``g = t^2 - 1``: at most ``3 r g`` nats, so any budget has its rate."""
    bound, gain = ratio(rounding.random_rounding_bound(q, eps)), t * t - 1
    return identity(bound, (1 + 2 * q * gain) * (1 + q * gain))


def proportional_against_the_best() -> bool:
    """If the stratum of share ``w`` has all the spread, proportional allocation has ``(n-m)/(n w-m)`` times the best.

    That is more than ``1/w``, and without bound as all of the stratum is asked for. In large strata it is no more than
    ``1/w`` for the smallest share: ``sum x_i^2/w_i <= (sum x_i)^2 / min w``, term by term.
    """
    w, variance, x, y, least, more = symbols("w variance x y least more")
    proportional, best = (strata.mean_variance(n * w, variance, drawn) for drawn in (m * w, m))
    apart = (n - m) / (n * w - m)
    above = positive(replaced(apart - 1 / w, n, m / w + n), {m: EVERY, n: EVERY, w: SHARE})
    bound = (x + y) * (x + y) / least - x * x / least - y * y / (least + more)
    kept = positive(bound, dict.fromkeys((x, y, least, more), EVERY))
    return identity(proportional / best, apart) and above is True and kept is True
