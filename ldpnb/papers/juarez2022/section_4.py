"""What decides Sections 2 and 4 of juarez2022 with Appendices A and B: the privacy of both mechanisms, their budgets.

In proofs ``t1 = e^eps1``, ``t2 = e^eps2``, ``y = e^epsilon`` and `e2` is ``eps2``; `d` is the number of groups, `n` the
members of one and `c` how many others there are for each.
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
from ldpnb.mechanisms import frequency, groups, moves
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import printed, written_out
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.papers.juarez2022.written_out import exact
from ldpnb.privacy import channel, hockey_stick

OTHERS = (2 / 3, 1.0, 3.0)
"""Noise parameters other than 2."""
ALWAYS, SMALL = "0.0442", "1.74"
"""Share of the smaller group from which on, and half the budget up to which, ``eps2 = epsilon`` is best for ``M_L``."""
WINDOWS = ("0.0441", "0.01", "0.001")
"""Shares of a smaller group next to which there are budgets at which it is not; the first is just below `ALWAYS`."""

t1, t2, y, d, e2, k, n, c, nu2, z, growth = symbols("t1 t2 y d e2 k n c nu2 z growth")
BOX = {t1: (1, oo), t2: (1, oo)}
SIGNS, NOISE = DiscretisedMeans(budget(t1), budget(t2), d), LaplaceMeans(budget(t1), e2, k, d)
EQUAL_NOISE = LaplaceMeans(budget(t1), e2, 2, d)


def definition_2_2(e: Evidence) -> Numbers:
    example, kary = (
        frequency.KaryRandomisedResponse(0.1, 5),
        frequency.KaryRandomisedResponse(budget(t1), d),
    )
    total = example.p + 5 * (1 - example.p) / 4
    e.needs(np.isclose(total, 1) and example.p >= 0.5)
    box = {t1: (1, oo), d: (1, oo)}
    e.proven(identity(kary.p + (d - 1) * kary.q, 1) and identity(kary.p / kary.q, t1))
    e.proven(
        positive(kary.p - 1 / d, box) and identity(2 * kary.p - 1, (t1 - d + 1) / (t1 + d - 1))
    )
    e.proven(positive(kary.p + d * (1 - kary.p) / (d - 1) - 1, box))  # one value too many
    return {"total": total, "truth": example.p}


def theorem_4_1(e: Evidence) -> Numbers:
    example = DiscretisedMeans(1.0, 1.0)
    e.needs(example.epsilon <= example.claimed_epsilon + 1e-12)
    # the ratios of chances that can be largest: one group; kept over moved at value 1; moved over kept at value -1
    up, down = (
        SIGNS.keep * moves.sign_probabilities(v, SIGNS.value_epsilon)[1]
        for v in (exact(1), exact(-1))
    )
    e.proven(identity(up / down, t2) and identity(up / (SIGNS.move / 2), np.exp(SIGNS.group_loss)))
    e.proven(positive(t2 - SIGNS.move / 2 / down, BOX))
    loss = np.exp(SIGNS.group_loss)  # above eps1 always, above eps2 if and only if 2 t1 > 1 + t2
    e.proven(positive(loss - t1, BOX) and identity(loss - t2, t2 * (2 * t1 - 1 - t2) / (1 + t2)))
    e.proven(positive(2 * t1 - loss, BOX))
    delta, at_exact = (
        hockey_stick.channel_delta(example.channel(), at) for at in (1.0, example.epsilon)
    )
    e.sure(
        at_exact < 1e-12
        and abs(channel.privacy_loss(example.channel()).epsilon - example.epsilon) < 1e-12
    )
    return {"exact": example.epsilon, "delta": delta}


def theorem_4_1_allocation(e: Evidence) -> Numbers:
    equal = float(np.log((np.e + np.sqrt(np.e * np.e + 8 * np.e)) / 4))
    mechanisms = DiscretisedMeans(equal, equal), DiscretisedMeans.calibrated(1.0)
    e.same([m.epsilon for m in mechanisms], [1.0, 1.0])
    same, least = (gaps.GroupGap.of_halves(m, 10_000).variance((0.0, 0.0)) for m in mechanisms)
    e.needs(same <= least)
    # the variance falls in eps1, so that t1 = y (1 + t2) / (2 t2); along that line it falls in t2, up to y = t2 + w
    (w,) = symbols("w")
    one = gaps.variance_discretised_mean(SIGNS, 1, 1 + c, 0)
    e.proven(identity(gaps.variance_discretised_mean(SIGNS, n, n + c * n, nu2), (one - nu2) / n))
    falls = replaced(-derivative(replaced(one, t1, y * (1 + t2) / (2 * t2)), t2), y, t2 + w)
    best = DiscretisedMeans.calibrated(budget(y))
    e.proven(
        identity(np.exp(best.group_epsilon), (1 + y) / 2) and identity(np.exp(best.group_loss), y)
    )
    e.proven(positive(-derivative(one, t1), BOX | {d: (1, oo), c: (0, oo)}))
    e.proven(positive(falls, {t2: (1, oo), w: (0, oo), c: (0, oo), d: (1, oo)}))
    return {"ratio": same / least}


def theorem_4_3_k_2(e: Evidence) -> Numbers:
    # one group: |v - v'| / scale, at most eps2; kept over moved: eps1 + 1 / scale, more than moved over kept
    scale = EQUAL_NOISE.kept_scale
    e.proven(identity(scale, EQUAL_NOISE.moved_scale) and identity(2 / scale, e2))
    e.proven(identity(EQUAL_NOISE.keep / EQUAL_NOISE.move, t1))
    e.proven(identity(EQUAL_NOISE.group_loss, budget(t1) + 1 / scale))
    below, at = (
        hockey_stick.laplace_means_delta(LaplaceMeans(0.5, 1.0), epsilon) for epsilon in (0.98, 1.0)
    )
    e.sure(below > 0)
    e.needs(at == 0)
    return {"below": below}


def strangers(share: Any) -> Any:
    """Return the mean of others per member of two groups, weighted by 1/size: 1 if equal, growing as one shrinks."""
    return (1 - share) * (1 - share) / share + share * share / (1 - share)


def fall(z: Any, growth: Any, mean: Any) -> Any:
    """Return, up to a positive factor, how fast the worst variance for ``k = 2`` falls in ``eps2 = 2 z``.

    Here ``eps1 = epsilon - z`` and ``growth = e^-eps1``, at most ``e^-z``; `mean` as `strangers` returns it.
    """
    linear = (1 + mean) * (16 - 8 * z) - 4 * z * z * z
    return 16 + growth * (linear + 16 * growth * mean * (1 - z))


def at_the_end(mean: Any) -> Any:
    """Return `fall` at ``eps2 = epsilon``, where ``growth = e^-z``, as a function of z."""
    return lambda z: fall(z, np.exp(-z), mean)


def most_zeros(mean: Any) -> int:
    """Return a bound on how many budgets have a `fall` of 0 at the end, by Descartes' rule for it times ``e^(3z)``."""
    return sign_changes(at_the_end(mean)(z) * np.exp(3 * z), expression(z))


def theorem_4_3_allocation(e: Evidence) -> Numbers:
    savings = {}
    for epsilon, share in product((1.0, 6.0), (0.5, 0.1, 0.01, 0.001)):
        sizes = (round(10**6 * share), 10**6 - round(10**6 * share))
        mechanisms = LaplaceMeans.calibrated(epsilon), budgets.best_laplace(epsilon, sizes)
        e.same([m.epsilon for m in mechanisms], [epsilon, epsilon])
        stated, best = (gaps.GroupGap(m, sizes).worst_variance() for m in mechanisms)
        tried = np.linspace(0.1, 1, 20_001) * epsilon
        lost = (
            written_out.printed_variance_laplace(epsilon - tried / 2, tried, 2.0, n, 10**6, 1)
            for n in sizes
        )
        e.same(best, sum(lost).min(), rel=1e-7)
        savings[epsilon, share] = 1 - best / stated
    e.needs(max(savings.values()) < 1e-9)
    # `fall` is minus the slope of the variance of the gap, times eps2^3 / (1/n1 + 1/n2)
    part, total, second = symbols("share total second")
    mechanism = LaplaceMeans(total - second / 2, second)
    first, other = (
        gaps.variance_laplace_mean(mechanism, size, exact(1), 1) for size in (part, 1 - part)
    )
    slope = replaced(derivative(first + other, second), total, second / 2 - np.log(growth))
    scaled = -slope * second * second * second * part * (1 - part)
    e.proven(identity(scaled, fall(second / 2, growth, strangers(part))))
    # per growth `fall` decreases in z at every budget, so that its sign at the end decides
    per = fall(z, growth, c) / growth
    whole = {z: (0, oo), growth: (0, oo), c: (0, oo)}
    e.proven(positive(-derivative(per, z) - growth * derivative(per, growth), whole))
    # it is linear in the mean: positive at every budget for equal groups, and up to a budget for every share
    even, most = at_the_end(1), at_the_end(strangers(ball(ALWAYS)))
    e.proven(most_zeros(1) == 0 and bool(even(ball(1)) > 0))
    e.proven(holds_on(lambda half: at_the_end(2)(half) - even(half), (0, SMALL)))
    windows = []
    for rare in (
        WINDOWS
    ):  # all budgets at which the slope changes its sign; none beyond 6 for a share above the first
        low, high = (
            2 * float(half.mid()) for half in zeros(at_the_end(strangers(ball(rare))), "0.01", 10)
        )
        e.proven(most_zeros(strangers(exact(rare))) == 2 and (rare != WINDOWS[0] or high < 6))
        windows.append(f"{low:.2f} and {high:.2f} next to {100 * float(rare):g}%")
    e.proven(holds_on(most, (0, 3)))
    saved = {"one": savings[6.0, 0.01], "tenth": savings[6.0, 0.001]}
    return saved | {
        "always": float(ALWAYS),
        "small": 2 * float(SMALL),
        "windows": ", ".join(windows),
    }


def theorem_4_3_other_k(e: Evidence) -> Numbers:
    mechanisms, equal = [LaplaceMeans(0.5, 1.0, other) for other in OTHERS], LaplaceMeans(0.5, 1.0)
    far = [written_out.density_loss(m, [-2e3, 2e3]) for m in mechanisms]
    nearer = [written_out.density_loss(m, [-1e3, 1e3]) for m in mechanisms]
    e.same(np.subtract(far, nearer) / 1e3, [abs(1 / other - 1 / 2) for other in OTHERS])
    e.needs(np.isfinite([m.epsilon for m in mechanisms]).all())
    # far out the log-ratio of kept to moved grows by this a unit; clipped at 1, the atoms have eps1 + eps2 / k
    e.proven(identity(1 / NOISE.moved_scale - 1 / NOISE.kept_scale, e2 * (2 - k) / (2 * k)))
    e.proven(identity(1 / NOISE.moved_scale, e2 / k))
    e.sure(all(m.clipped_epsilon >= 0.5 + 1 / m.k - 1e-12 for m in mechanisms if m.k < 2))
    deltas = [hockey_stick.laplace_means_delta(m, m.claimed_epsilon) for m in mechanisms]
    e.sure(min(deltas) > 0 and hockey_stick.laplace_means_delta(equal, equal.epsilon) == 0)
    numbers = {"claimed": mechanisms[1].claimed_epsilon, "equal": equal.epsilon}
    return numbers | written_out.numbered(far=far, delta=deltas)


def appendix_b_privacy(e: Evidence) -> Numbers:
    mechanisms = [LaplaceMeans.published(epsilon) for epsilon in (0.02, 0.21, 0.71, 1.0, 2.56)]
    deltas = [hockey_stick.laplace_means_delta(m, m.claimed_epsilon) for m in mechanisms]
    e.needs(max(deltas) < 1e-12)
    large, m = (LaplaceMeans.allowed(e2, noise) for noise in (e2, exact("2/3")))
    e.proven(identity(1 / large.moved_scale - 1 / large.kept_scale, 1 - e2 / 2))
    e.proven(identity(1 / m.moved_scale - 1 / m.kept_scale, e2))
    # delta tends to the integral of 3/4 (e^-u - e^-3u) with u = epsilon |v'| / 2: the densities' limits
    keep = limit(m.keep, e2.expression, 0)
    at_zero = limit(m.move * m.kept_scale / (m.keep * m.moved_scale), e2.expression, 0)
    faster = (m.kept_scale / m.moved_scale).expression
    e.proven(
        bool(at_zero == 1 and sympy.simplify(keep * (1 - at_zero / faster)) == sympy.Rational(1, 2))
    )
    others = {"distance": hockey_stick.total_variation(mechanisms[0]), "kept": np.tanh(0.01)}
    return written_out.numbered(delta=deltas) | others


def claimed_terms(mechanism: LaplaceMeans) -> tuple[Real, Real]:
    """Return the second and the third term of equation (1)."""
    spread = np.log(exact(2) / mechanism.k)
    first, second = mechanism.group_epsilon, mechanism.value_epsilon
    return spread + second / 2 - first, second / mechanism.k + first - spread


def equation_21(e: Evidence) -> Numbers:
    table = printed.table_1()
    claimed = table.loc[table["mechanism"] == "M_L", "printed"].tolist()
    mechanisms = [LaplaceMeans.published(epsilon) for epsilon in claimed]
    e.same([m.claimed_epsilon for m in mechanisms], claimed)
    outside = sum(m.k > printed.value("Section 4", "largest_k") for m in mechanisms)
    e.needs(outside == 0)
    upper = LaplaceMeans.allowed(e2, k)
    flipped, kept = claimed_terms(upper)
    lower = np.log(exact(2) / k) - e2 / 2
    e.proven(
        sympy.simplify(sympy.expand_log((kept - e2).expression)) == 0
    )  # met with equality at the upper bound
    e.proven(identity(upper.group_epsilon - lower, e2 * (3 * k - 2) / (2 * k)))
    e.proven(identity(flipped - e2, lower - upper.group_epsilon))
    e.proven(identity(derivative(upper.group_epsilon, k), (e2 - k) / (k * k)))
    # capped at 2 the last term exceeds epsilon by x - 1 - ln x with x = epsilon / 2: 0 at 1, and it grows
    excess = claimed_terms(LaplaceMeans(groups.largest_group_epsilon(e2, e2), e2, exact(2)))[1] - e2
    e.proven(bool(sympy.simplify(replaced(excess, e2, exact(2)).expression) == 0))
    e.proven(positive(derivative(excess, e2), {e2: (2, oo)}))
    capped = LaplaceMeans(groups.largest_group_epsilon(10.0, 10.0), 10.0, 2.0).claimed_epsilon
    negative = float(groups.largest_group_epsilon(10.0, 0.7))
    numbers = {"outside": outside, "cells": len(claimed), "largest": max(claimed)}
    return numbers | {"capped": capped, "negative": negative}


def section_4_sequential_composition(e: Evidence) -> Numbers:
    signs, noise, other = (
        DiscretisedMeans(1.0, 1.0),
        LaplaceMeans(1.0, 1.0),
        LaplaceMeans(1.0, 3.0, 2 / 3),
    )
    e.needs(max(signs.epsilon, noise.epsilon) < 2)
    e.needs(other.claimed_epsilon < 4 and np.isfinite(other.epsilon))
    e.proven(positive(t1 * t2 - np.exp(SIGNS.group_loss), BOX))
    e.proven(identity(budget(t1) + e2 - EQUAL_NOISE.group_loss, e2 / 2))
    return {"signs": signs.epsilon, "noise": noise.epsilon, "other": other.claimed_epsilon}
