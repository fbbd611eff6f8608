"""Decide Sections 2 and 4 of Juarez and Korolova with Appendices A and B: privacy and its budgets.

In proofs ``t1 = e^eps1``, ``t2 = e^eps2``, ``y = e^epsilon`` and `e2` is ``eps2``; `d` is the
number of groups, `n` the members of one, and `c` how many others there are for each. `v` is a
client's value, `nu2` the second moment of a group, and `k` the noise parameter of ``M_L``.
"""

from itertools import product
from typing import Any

import numpy as np
import sympy

from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import (
    ball,
    budget,
    holds_on,
    identity,
    limit,
    oo,
    positive,
    sign_changes,
    symbols,
    zeros,
)
from ldpnb.deciders.algebra import derivative, expression, replaced
from ldpnb.mechanisms import groups, moves
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import printed, written_out
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.papers.juarez2022.written_out import exact
from ldpnb.privacy import channel, hockey_stick

OTHERS = (2 / 3, 1.0, 3.0)
"""Noise parameters other than 2."""

ALWAYS = "0.0442"
"""Share of the smaller group above which ``eps2 = epsilon`` is best for ``M_L``."""

SMALL = "1.74"
"""Half the budget up to which ``eps2 = epsilon`` is best for ``M_L`` next to any share."""

WINDOWS = ("0.0441", "0.01", "0.001")
"""Shares next to which it is not best at some budgets; the first is just below `ALWAYS`."""

t1, t2, y, d, e2, k, n, c, nu2, z, growth, v = symbols("t1 t2 y d e2 k n c nu2 z growth v")

BOX = {t1: (1, oo), t2: (1, oo)}

SIGNS = DiscretisedMeans(budget(t1), budget(t2), d)
"""``M_R`` with symbols for its budgets and the number of groups."""

NOISE = LaplaceMeans(budget(t1), e2, k, d)
"""``M_L`` with symbols for its budgets, the noise parameter and the number of groups."""

EQUAL_NOISE = LaplaceMeans(budget(t1), e2, 2, d)
"""The same with the noise parameter 2, for which all clients have noise of one scale."""


def definition_2_2(e: Evidence) -> Numbers:
    example = KaryRandomisedResponse(0.1, 5)
    total = example.p + 5 * (1 - example.p) / 4
    e.needs(np.isclose(total, 1))
    e.needs(example.p >= 0.5)

    kary = KaryRandomisedResponse(budget(t1), d)
    box = {t1: (1, oo), d: (1, oo)}
    e.proven(identity(kary.p + (d - 1) * kary.q, 1))
    e.proven(identity(kary.p / kary.q, t1))
    e.proven(positive(kary.p - 1 / d, box))
    e.proven(identity(2 * kary.p - 1, (t1 - d + 1) / (t1 + d - 1)))
    e.proven(positive(kary.p + d * (1 - kary.p) / (d - 1) - 1, box))  # one value too many
    return {"total": total, "truth": example.p}


def reports_can_be_undone() -> bool:
    """Return whether a group and a sign that are randomised independently show a group's sum.

    The report is weighted by ``(1{g' = G} - (1 - a)) / (2a - 1)``, and the sign divided by its mean
    at the value 1. Each client then adds its value to the sum of its own group, and 0 to the other.
    """
    group = KaryRandomisedResponse(budget(t1), 2)
    sharpness = group.p - group.q
    if_named = (1 - group.q) / sharpness
    if_not = -group.q / sharpness

    down, up = moves.sign_probabilities(v, budget(t2))
    _, up_at_one = moves.sign_probabilities(exact(1), budget(t2))
    value = (up - down) / (2 * up_at_one - 1)

    to_own_group = (group.p * if_named + group.q * if_not) * value
    to_other_group = group.q * if_named + group.p * if_not
    return bool(identity(to_own_group, v) and identity(to_other_group, 0))


def naive_variance(epsilon: float) -> float:
    """Return ``K`` times the largest variance of the gap between two equal groups.

    Group and sign are randomised with half of the budget each. The mean and the variance are those
    of the four possible reports, enumerated, of a client with the value 0.
    """
    truth = np.exp(epsilon / 2) / (1 + np.exp(epsilon / 2))
    variance = 0.0
    for is_own_group, sign in product((True, False), (-1, 1)):
        chance = (truth if is_own_group else 1 - truth) / 2
        side = 1 if is_own_group else -1
        variance += chance * (side * sign / (2 * truth - 1) ** 2) ** 2
    return 4 * variance


def section_4_naive_approach(e: Evidence) -> Numbers:
    e.decides(not reports_can_be_undone())

    # The losses of both add up to the budget.
    group = KaryRandomisedResponse(budget(t1), 2)
    _, up_at_one = moves.sign_probabilities(exact(1), budget(t2))
    _, up_at_minus_one = moves.sign_probabilities(exact(-1), budget(t2))
    e.proven(identity(group.p / group.q * up_at_one / up_at_minus_one, t1 * t2))

    # With t1 = s u and t2 = s / u the product of both gains falls in u + 1/u = 2 + r.
    s, u, r = symbols("s u r")
    gains = (s * u - 1) / (s * u + 1) * (s / u - 1) / (s / u + 1)
    even = (s - 1) * (s - 1) / ((s + 1) * (s + 1))
    uneven = (s * s + 1 - s * (2 + r)) / (s * s + 1 + s * (2 + r))
    e.proven(identity(gains, replaced(uneven, r, u + 1 / u - 2)))
    e.proven(positive(even - uneven, {s: (1, oo), r: (0, oo)}))

    naive = naive_variance(1.0)
    e.same(naive, 4 / np.tanh(1 / 4) ** 4)
    halves = (1, 1)
    signs = 2 * gaps.GroupGap(DiscretisedMeans.calibrated(1.0), halves).worst_variance()
    best = 2 * gaps.GroupGap(SignedBit(1.0, halves), halves).worst_variance()
    return {"naive": naive, "signs": signs, "best": best, "times": naive / signs}


def theorem_4_1(e: Evidence) -> Numbers:
    example = DiscretisedMeans(1.0, 1.0)
    e.needs(example.epsilon <= example.claimed_epsilon + 1e-12)

    # The ratios that can be largest: within one group; kept over moved at the value 1; moved over
    # kept at the value -1.
    _, up_at_one = moves.sign_probabilities(exact(1), SIGNS.value_epsilon)
    _, up_at_minus_one = moves.sign_probabilities(exact(-1), SIGNS.value_epsilon)
    most = SIGNS.keep * up_at_one
    least = SIGNS.keep * up_at_minus_one
    moved = SIGNS.move / 2
    loss = np.exp(SIGNS.group_loss)
    e.proven(identity(most / least, t2))
    e.proven(identity(most / moved, loss))
    e.proven(positive(t2 - moved / least, BOX))

    # The loss is above eps1 always, and above eps2 if and only if 2 t1 > 1 + t2.
    e.proven(positive(loss - t1, BOX))
    e.proven(identity(loss - t2, t2 * (2 * t1 - 1 - t2) / (1 + t2)))
    e.proven(positive(2 * t1 - loss, BOX))

    reports = example.channel()
    delta = hockey_stick.channel_delta(reports, 1.0)
    e.sure(hockey_stick.channel_delta(reports, example.epsilon) < 1e-12)
    e.sure(abs(channel.privacy_loss(reports).epsilon - example.epsilon) < 1e-12)
    return {"exact": example.epsilon, "delta": delta}


def theorem_4_1_allocation(e: Evidence) -> Numbers:
    # eps1 = eps2, as the paper allocates, and the best allocation; both lose epsilon 1.
    half = float(np.log((np.e + np.sqrt(np.e * np.e + 8 * np.e)) / 4))
    equal = DiscretisedMeans(half, half)
    best = DiscretisedMeans.calibrated(1.0)
    e.same([equal.epsilon, best.epsilon], [1.0, 1.0])

    of_equal = gaps.GroupGap.of_halves(equal, 10_000).variance((0.0, 0.0))
    of_best = gaps.GroupGap.of_halves(best, 10_000).variance((0.0, 0.0))
    e.needs(of_equal <= of_best)

    # The values add the same to every variance.
    one = gaps.variance_discretised_mean(SIGNS, 1, 1 + c, 0)
    every = gaps.variance_discretised_mean(SIGNS, n, n + c * n, nu2)
    e.proven(identity(every, (one - nu2) / n))

    # The variance falls in eps1, so that t1 = y (1 + t2) / (2 t2). Along that line it falls in t2,
    # up to y = t2 + w.
    (w,) = symbols("w")
    along = replaced(one, t1, y * (1 + t2) / (2 * t2))
    falls = replaced(-derivative(along, t2), y, t2 + w)
    e.proven(positive(-derivative(one, t1), BOX | {d: (1, oo), c: (0, oo)}))
    e.proven(positive(falls, {t2: (1, oo), w: (0, oo), c: (0, oo), d: (1, oo)}))

    at_the_end = DiscretisedMeans.calibrated(budget(y))
    e.proven(identity(np.exp(at_the_end.group_epsilon), (1 + y) / 2))
    e.proven(identity(np.exp(at_the_end.group_loss), y))
    return {"ratio": of_equal / of_best}


def theorem_4_3_k_2(e: Evidence) -> Numbers:
    # Within one group the loss is |v - v'| / scale, at most eps2. Kept over moved it is
    # eps1 + 1 / scale, which is more than moved over kept.
    scale = EQUAL_NOISE.kept_scale
    e.proven(identity(scale, EQUAL_NOISE.moved_scale))
    e.proven(identity(2 / scale, e2))
    e.proven(identity(EQUAL_NOISE.keep / EQUAL_NOISE.move, t1))
    e.proven(identity(EQUAL_NOISE.group_loss, budget(t1) + 1 / scale))

    example = LaplaceMeans(0.5, 1.0)
    below = hockey_stick.laplace_means_delta(example, 0.98)
    e.sure(below > 0)
    e.needs(hockey_stick.laplace_means_delta(example, 1.0) == 0)
    return {"below": below}


def others_per_member(share: Any) -> Any:
    """Return the mean number of others per member of two groups, weighted by 1/size.

    It is 1 for equal groups, and grows as one of them shrinks.

    Parameters
    ----------
    share : float, Symbol or ball
        The share of either group.
    """
    return (1 - share) * (1 - share) / share + share * share / (1 - share)


def fall(z: Any, growth: Any, others: Any) -> Any:
    """Return, up to a positive factor, how fast the worst variance for ``k = 2`` falls in ``eps2``.

    Here ``eps2 = 2 z``, ``eps1 = epsilon - z``, and ``growth = e^-eps1`` is at most ``e^-z``.
    """
    linear = (1 + others) * (16 - 8 * z) - 4 * z * z * z
    return 16 + growth * (linear + 16 * growth * others * (1 - z))


def fall_at_the_end(others: Any) -> Any:
    """Return `fall` at ``eps2 = epsilon``, where ``growth = e^-z``, as a function of z."""
    return lambda z: fall(z, np.exp(-z), others)


def most_zeros(others: Any) -> int:
    """Return a bound on how many budgets have a `fall` of 0 at the end.

    It is Descartes' rule for that function times ``e^(3z)``.
    """
    return sign_changes(fall_at_the_end(others)(z) * np.exp(3 * z), expression(z))


def saved_by_the_best_split(e: Evidence, epsilon: float, share: float) -> float:
    """Return the share of the worst variance that the best split of `epsilon` saves.

    The best split is also searched on a grid, by equation (19) as printed.
    """
    users = 10**6
    smaller = round(users * share)
    sizes = (smaller, users - smaller)

    stated = LaplaceMeans.calibrated(epsilon)
    best = budgets.best_laplace(epsilon, sizes)
    e.same([stated.epsilon, best.epsilon], [epsilon, epsilon])

    value_epsilons = np.linspace(0.1, 1, 20_001) * epsilon
    group_epsilons = epsilon - value_epsilons / 2
    variances = sum(
        written_out.printed_variance_laplace(group_epsilons, value_epsilons, 2.0, size, users, 1)
        for size in sizes
    )
    least = gaps.GroupGap(best, sizes).worst_variance()
    e.same(least, variances.min(), rel=1e-7)
    return float(1 - least / gaps.GroupGap(stated, sizes).worst_variance())


def theorem_4_3_allocation(e: Evidence) -> Numbers:
    savings = {}
    for epsilon, share in product((1.0, 6.0), (0.5, 0.1, 0.01, 0.001)):
        savings[epsilon, share] = saved_by_the_best_split(e, epsilon, share)
    e.needs(max(savings.values()) < 1e-9)

    # `fall` is minus the slope of the variance of the gap, times eps2^3 / (1/n1 + 1/n2).
    part, total, second = symbols("share total second")
    mechanism = LaplaceMeans(total - second / 2, second)
    of_gap = gaps.variance_laplace_mean(mechanism, part, exact(1), 1)
    of_gap += gaps.variance_laplace_mean(mechanism, 1 - part, exact(1), 1)
    slope = replaced(derivative(of_gap, second), total, second / 2 - np.log(growth))
    scaled = -slope * second * second * second * part * (1 - part)
    e.proven(identity(scaled, fall(second / 2, growth, others_per_member(part))))

    # Divided by growth, `fall` decreases in z at every budget, so that its sign at the end decides.
    per_growth = fall(z, growth, c) / growth
    everywhere = {z: (0, oo), growth: (0, oo), c: (0, oo)}
    change = derivative(per_growth, z) + growth * derivative(per_growth, growth)
    e.proven(positive(-change, everywhere))

    # `fall` is linear in `others`. It is positive at every budget for equal groups, and up to
    # some budget for every share.
    for_equal_groups = fall_at_the_end(1)
    e.proven(most_zeros(1) == 0)
    e.proven(bool(for_equal_groups(ball(1)) > 0))
    e.proven(holds_on(lambda half: fall_at_the_end(2)(half) - for_equal_groups(half), (0, SMALL)))
    e.proven(holds_on(fall_at_the_end(others_per_member(ball(ALWAYS))), (0, 3)))
    return {
        "one": savings[6.0, 0.01],
        "tenth": savings[6.0, 0.001],
        "always": float(ALWAYS),
        "small": 2 * float(SMALL),
        "windows": ", ".join(windows_of_budgets(e)),
    }


def windows_of_budgets(e: Evidence) -> list[str]:
    """Return in words the budgets between which a smaller ``eps2`` is better, by share.

    They are all at which the slope changes its sign. None is beyond 6 for the first share.
    """
    windows = []
    for share in WINDOWS:
        changes_sign_at = zeros(fall_at_the_end(others_per_member(ball(share))), "0.01", 10)
        low, high = [2 * float(half.mid()) for half in changes_sign_at]
        e.proven(most_zeros(others_per_member(exact(share))) == 2)
        e.proven(share != WINDOWS[0] or high < 6)
        windows.append(f"{low:.2f} and {high:.2f} next to {100 * float(share):g}%")
    return windows


def theorem_4_3_other_k(e: Evidence) -> Numbers:
    mechanisms = [LaplaceMeans(0.5, 1.0, other) for other in OTHERS]
    far = [written_out.density_loss(m, [-2e3, 2e3]) for m in mechanisms]
    nearer = [written_out.density_loss(m, [-1e3, 1e3]) for m in mechanisms]
    e.same(np.subtract(far, nearer) / 1e3, [abs(1 / other - 1 / 2) for other in OTHERS])
    e.needs(np.isfinite([m.epsilon for m in mechanisms]).all())

    # Far out, the log-ratio of kept to moved grows by this for every unit. If reports are clipped
    # at 1, the log-ratio of the masses at the ends is eps1 + eps2 / k.
    e.proven(identity(1 / NOISE.moved_scale - 1 / NOISE.kept_scale, e2 * (2 - k) / (2 * k)))
    e.proven(identity(1 / NOISE.moved_scale, e2 / k))
    e.sure(all(m.clipped_epsilon >= 0.5 + 1 / m.k - 1e-12 for m in mechanisms if m.k < 2))

    deltas = [hockey_stick.laplace_means_delta(m, m.claimed_epsilon) for m in mechanisms]
    equal = LaplaceMeans(0.5, 1.0)
    e.sure(min(deltas) > 0)
    e.sure(hockey_stick.laplace_means_delta(equal, equal.epsilon) == 0)
    numbers = {"claimed": mechanisms[1].claimed_epsilon, "equal": equal.epsilon}
    return numbers | written_out.numbered(far=far, delta=deltas)


def appendix_b_privacy(e: Evidence) -> Numbers:
    mechanisms = [LaplaceMeans.published(epsilon) for epsilon in (0.02, 0.21, 0.71, 1.0, 2.56)]
    deltas = [hockey_stick.laplace_means_delta(m, m.claimed_epsilon) for m in mechanisms]
    e.needs(max(deltas) < 1e-12)

    large = LaplaceMeans.allowed(e2, e2)
    small = LaplaceMeans.allowed(e2, exact("2/3"))
    e.proven(identity(1 / large.moved_scale - 1 / large.kept_scale, 1 - e2 / 2))
    e.proven(identity(1 / small.moved_scale - 1 / small.kept_scale, e2))

    # As epsilon falls to 0, delta tends to the integral of 3/4 (e^-u - e^-3u) over u = epsilon
    # |v'| / 2, which are the limits of the densities.
    keep = limit(small.keep, e2.expression, 0)
    of_densities = small.move * small.kept_scale / (small.keep * small.moved_scale)
    at_zero = limit(of_densities, e2.expression, 0)
    faster = (small.kept_scale / small.moved_scale).expression
    delta_at_zero = sympy.simplify(keep * (1 - at_zero / faster))
    e.proven(bool(at_zero == 1 and delta_at_zero == sympy.Rational(1, 2)))

    numbers = {
        "distance": hockey_stick.total_variation(mechanisms[0]),
        "kept": np.tanh(0.01),
    }
    return numbers | written_out.numbered(delta=deltas)


def claimed_terms(mechanism: LaplaceMeans) -> tuple[Real, Real]:
    """Return the second and the third term of equation (1)."""
    spread = np.log(exact(2) / mechanism.k)
    flipped = spread + mechanism.value_epsilon / 2 - mechanism.group_epsilon
    kept = mechanism.value_epsilon / mechanism.k + mechanism.group_epsilon - spread
    return flipped, kept


def equation_21(e: Evidence) -> Numbers:
    table = printed.table_1()
    claimed = table.loc[table["mechanism"] == "M_L", "printed"].tolist()
    mechanisms = [LaplaceMeans.published(epsilon) for epsilon in claimed]
    e.same([m.claimed_epsilon for m in mechanisms], claimed)

    outside = sum(m.k > printed.value("Section 4", "largest_k") for m in mechanisms)
    e.needs(outside == 0)

    # The third term is met with equality at the upper bound.
    upper = LaplaceMeans.allowed(e2, k)
    flipped, kept = claimed_terms(upper)
    lower = np.log(exact(2) / k) - e2 / 2
    e.proven(sympy.simplify(sympy.expand_log((kept - e2).expression)) == 0)
    e.proven(identity(upper.group_epsilon - lower, e2 * (3 * k - 2) / (2 * k)))
    e.proven(identity(flipped - e2, lower - upper.group_epsilon))
    e.proven(identity(derivative(upper.group_epsilon, k), (e2 - k) / (k * k)))

    # With k capped at 2, the last term exceeds epsilon by x - 1 - ln x with x = epsilon / 2, which
    # is 0 at 1 and grows.
    at_two = LaplaceMeans(groups.largest_group_epsilon(e2, e2), e2, exact(2))
    _, kept_at_two = claimed_terms(at_two)
    excess = kept_at_two - e2
    e.proven(bool(sympy.simplify(replaced(excess, e2, exact(2)).expression) == 0))
    e.proven(positive(derivative(excess, e2), {e2: (2, oo)}))

    capped = LaplaceMeans(groups.largest_group_epsilon(10.0, 10.0), 10.0, 2.0)
    return {
        "outside": outside,
        "cells": len(claimed),
        "largest": max(claimed),
        "capped": capped.claimed_epsilon,
        "negative": float(groups.largest_group_epsilon(10.0, 0.7)),
    }


def section_4_sequential_composition(e: Evidence) -> Numbers:
    signs = DiscretisedMeans(1.0, 1.0)
    noise = LaplaceMeans(1.0, 1.0)
    other = LaplaceMeans(1.0, 3.0, 2 / 3)
    e.needs(max(signs.epsilon, noise.epsilon) < 2)
    e.needs(other.claimed_epsilon < 4)
    e.needs(np.isfinite(other.epsilon))

    e.proven(positive(t1 * t2 - np.exp(SIGNS.group_loss), BOX))
    e.proven(identity(budget(t1) + e2 - EQUAL_NOISE.group_loss, e2 / 2))
    return {"signs": signs.epsilon, "noise": noise.epsilon, "other": other.claimed_epsilon}
