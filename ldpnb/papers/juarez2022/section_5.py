"""Decide Section 5 of Juarez and Korolova with Appendices A.3 to A.5 and B: errors, and budgets.

Symbols are those of `section_4`; `nu2` is the mean square of a group's values. For two equal groups
`worst` is the variance of a mean with one member per group, so ``K / 4`` times the largest variance
of the gap between groups of ``K / 2``; ``x`` is half of epsilon.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from scipy.optimize import minimize_scalar

from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, Numbers, agree, joined, within
from ldpnb.deciders import (
    ball,
    budget,
    digits,
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
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import printed, written_out
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.papers.juarez2022.section_4 import BOX, NOISE, SIGNS, c, d, e2, k, n, nu2, t1, t2, v, y
from ldpnb.papers.juarez2022.tables.gaps import MEASURED
from ldpnb.papers.juarez2022.written_out import HOLDERS, MECHANISMS, exact

THIRD = Fraction(1, 3)
SHARES = np.array([0.5, 0.25, 0.1, 0.05, 0.01, 0.005, 0.001])
FAILURE = 1 - printed.value("Table 1", "probability")
TWO_SIGNS = DiscretisedMeans(budget(t1), budget(t2))
TWO_NOISE = LaplaceMeans(budget(t1), e2)

x, share, wrong, mean = symbols("x share wrong mean")


def falls_with_the_clients(e: Evidence) -> None:
    """Decide that the variance of a group's mean is inversely proportional to all clients."""
    for every in (SIGNS, NOISE):
        one = gaps.mean_variance(every, 1, 1 + c, nu2)
        many = gaps.mean_variance(every, n, n * (1 + c), nu2)
        e.proven(identity(one, many * n))


def abstract_error(e: Evidence) -> Numbers:
    falls_with_the_clients(e)

    deviations = []
    for clients in (10**5, 10**6, 10**7, 10**8, 10**9):
        gap = gaps.GroupGap.of_halves(DiscretisedMeans.calibrated(1.0), clients)
        deviations.append(float(np.sqrt(gap.worst_variance())))
    e.same(np.square(deviations[:-1]) / np.square(deviations[1:]), [10.0] * 4)
    return {"deviations": joined(deviations, ".2g")}


def means_are_unbiased(e: Evidence) -> None:
    """Decide by client that the mean added is ``gain v`` to its own group, 0 to others."""
    down, up = moves.sign_probabilities(v, SIGNS.value_epsilon)
    zero_down, zero_up = moves.sign_probabilities(0 * v, SIGNS.value_epsilon)
    e.proven(identity(SIGNS.keep * (up - down), SIGNS.gain * v))
    e.proven(identity(NOISE.keep * v, NOISE.gain * v))
    e.proven(identity(SIGNS.move * (zero_up - zero_down), 0))


def proposition_5_2(e: Evidence) -> Numbers:
    means_are_unbiased(e)

    for mechanism in MECHANISMS:
        variances = []
        for _, group_mean, (estimate, variance) in written_out.group_examples(mechanism):
            e.needs(abs(estimate - group_mean) < 1e-12)
            variances.append(variance)

        holders = HOLDERS[: mechanism.groups]
        _, of_gap = written_out.gap_moments(mechanism, holders, written_out.VALUES)
        e.needs(abs(sum(variances[:2]) - of_gap) / of_gap < 1e-12)
    return {"mechanisms": len(MECHANISMS)}


def ratios_to_printed(mechanism: GroupMeans) -> list[float]:
    """Return the printed variance of every group's mean, as a multiple of the exact one."""
    ratios = []
    for group, _, (_, variance) in written_out.group_examples(mechanism):
        ratios.append(written_out.printed_variance(mechanism, *group) / variance)
    return ratios


def equations_19_and_20(e: Evidence) -> Numbers:
    group = (n, n + c * n, nu2)
    kept = 2 * NOISE.kept_scale * NOISE.kept_scale
    moved = 2 * NOISE.moved_scale * NOISE.moved_scale

    # what a member and another client add to the variance of a group's sum
    member_signs = SIGNS.keep - SIGNS.gain * SIGNS.gain * nu2
    member_noise = NOISE.keep * (nu2 + kept) - NOISE.keep * NOISE.keep * nu2
    added = ((SIGNS, member_signs, SIGNS.move), (NOISE, member_noise, NOISE.move * moved))

    for every, member, other in added:
        unit = every.gain * n
        total = n * (member + c * other) / (unit * unit)
        e.proven(identity(gaps.mean_variance(every, *group), total))

        two = replace(every, groups=2)
        as_printed = written_out.printed_variance(two, *group)
        e.decides(identity(gaps.mean_variance(two, *group), as_printed))

    for mechanism in (written_out.SIGNS[0], written_out.NOISE[0]):
        e.needs(agree(ratios_to_printed(mechanism), np.ones(2)))

    signs = ratios_to_printed(written_out.SIGNS[1])
    noise = ratios_to_printed(written_out.NOISE[1])
    e.sure(not agree(signs, np.ones(3)))
    e.sure(not agree(noise, np.ones(3)))
    return {"least": min(noise), "most": max(noise), "low": min(signs), "high": max(signs)}


def signs_have_a_limit(e: Evidence, mechanism: DiscretisedMeans) -> None:
    """Decide that a mean of n, half of all, has the largest variance ``1 / (gain^2 n)``.

    The gain tends to 1.
    """
    equal = gaps.variance_discretised_mean(mechanism, n, 2 * n, 0)
    e.proven(identity(equal, 1 / (mechanism.gain * mechanism.gain * n)))
    e.proven(positive(1 - mechanism.gain, {y: (1, oo)}))
    e.proven(limit(mechanism.gain, y.expression, oo) == 1)


def section_5_largest_variance(e: Evidence) -> Numbers:
    largest = {}
    for name, epsilon in (("one", 1.0), ("four", 4.0), ("ten", 10.0)):
        largest[name] = worst(DiscretisedMeans.published(epsilon))
    e.needs(within("about", largest["ten"], 1))

    at_zero = gaps.variance_discretised_mean(SIGNS, n, n + c * n, 0)
    at_values = gaps.variance_discretised_mean(SIGNS, n, n + c * n, nu2)
    e.proven(identity(at_zero - at_values, nu2 / n))
    signs_have_a_limit(e, DiscretisedMeans.published(budget(y)))
    return largest


def theorem_5_4_unbiased(e: Evidence) -> Numbers:
    distances = np.array([0.0, 0.5, 1.0, 2.0])
    bias = gaps.absolute_gap_bias(1.0, distances)
    square = gaps.absolute_gap_mse(1.0, distances)
    e.needs(bias.max() < 1e-9)

    means_are_unbiased(e)

    # All reports can pull the signed gap below 0: members of the first group by a minus, others by
    # moving there.
    box = {t1: (1, oo), t2: (1, oo), d: (1, oo)}
    for end in (-1, 1):
        minus, _ = moves.sign_probabilities(exact(end), SIGNS.value_epsilon)
        e.proven(positive(SIGNS.keep * minus, box))
    e.proven(positive(SIGNS.move, box))

    halves = gaps.GroupGap.of_halves(DiscretisedMeans.published(0.1), 10**7)
    large = float(gaps.absolute_gap_bias(np.sqrt(halves.worst_variance()), 0.0))
    return written_out.numbered(bias=bias, square=square) | {"large": large}


def worst(mechanism: GroupMeans) -> Real:
    """Return the largest variance of a mean of one client in a group, of two groups alike."""
    second_moment = 1 if isinstance(mechanism, LaplaceMeans) else 0
    return gaps.mean_variance(mechanism, 1, 2, second_moment)


def _two_thirds(half: Any) -> Any:
    """Return 2/3 as a symbol or as a ball, as the budget is."""
    return exact("2/3") if half is x else ball("2/3")


CURVES: dict[str, Callable[[Any], Real]] = {
    "M_R": lambda half: worst(DiscretisedMeans.published(2 * half)),
    "M_R kept": lambda half: worst(DiscretisedMeans.calibrated(2 * half)),
    "M_L small": lambda half: worst(LaplaceMeans.allowed(2 * half, _two_thirds(half))),
    "M_L": lambda half: worst(LaplaceMeans.allowed(2 * half, 2 * half)),
    "k = 2": lambda half: worst(LaplaceMeans.calibrated(2 * half)),
}
"""Largest variances by half the budget, a symbol or a ball; *M_L small* applies up to 2/3."""


def most_crossings(one: str, other: str, factor: Fraction | int = 1) -> int:
    """Return a bound on how often ``factor`` times one of `CURVES` meets another."""
    difference = exact(factor) * CURVES[one](x) - CURVES[other](x)
    return sign_changes(difference, expression(x))


def crossings(one: str, other: str, low: Any, high: Any) -> list[Any]:
    """Return the budgets between two halves where two of `CURVES` cross, as balls."""

    def difference(half: Any) -> Any:
        return CURVES[one](half) - CURVES[other](half)

    return [2 * half for half in zeros(difference, low, high)]


def all_crossings(
    e: Evidence, one: str, other: str, low: Any, high: Any, elsewhere: int = 0
) -> list[Any]:
    """Return all budgets where two of `CURVES` cross, and decide that there are no others.

    There are as many between the two halves as the bound on the half line allows; `elsewhere` are
    known to lie outside of the range in which a curve applies.
    """
    crossed = crossings(one, other, low, high)
    e.proven(len(crossed) + elsewhere == most_crossings(one, other))
    return crossed


def figure_1_crossings(e: Evidence) -> tuple[list[float], float]:
    """Return all budgets where ``M_R`` and the optimal ``M_L`` cross, as published and as kept.

    The curve of ``k = epsilon`` applies from 2/3 on; continued below, it crosses once more.
    """
    below = len(crossings("M_R", "M_L", "0.01", THIRD))
    claimed = all_crossings(e, "M_R", "M_L small", "0.01", THIRD)
    claimed += all_crossings(e, "M_R", "M_L", THIRD, 20, below)
    (kept,) = all_crossings(e, "M_R kept", "k = 2", "0.01", 20)
    return [float(crossed.mid()) for crossed in claimed], float(kept.mid())


def ratio_rises(e: Evidence) -> None:
    """Decide that the largest variance of ``M_R`` over that of ``M_L`` rises beyond 2.6.

    Both are as published. The logarithm of the one falls by at most ``8 e^-epsilon``, that of the
    other by at least ``1 - 1/epsilon`` up to 3 and ``2/epsilon`` beyond. The ratio comes to
    ``epsilon^2 / 8``. The difference stays below 1, to which ``M_R`` tends: ``M_R`` is below
    ``1 + 8 e^-epsilon`` and ``M_L`` above ``8 / epsilon^2``.
    """
    signs = worst(DiscretisedMeans.published(budget(y)))
    noise = worst(LaplaceMeans(budget(t1), e2, e2))

    beyond = {y: (13, oo)}  # e^2.6 is more
    e.proven(bool(ball("2.6").exp() > 13))
    e.proven(bool(ball(3).exp() > 20))
    e.proven(positive(y * derivative(signs, y) + 8 / y * signs, beyond))

    of_group = derivative(groups.largest_group_epsilon(e2, e2), e2)
    along = derivative(noise, e2) + derivative(noise, t1) * t1 * of_group
    below_3 = {e2: (Fraction(5, 2), 3), t1: (1, oo)}
    e.proven(positive(-along - (1 - 1 / e2) * noise, below_3))
    e.proven(positive(-along - 2 / e2 * noise, {e2: (3, oo), t1: (1, oo)}))
    e.proven(holds_on(lambda epsilon: 1 - 1 / epsilon - 8 * (-epsilon).exp(), ("2.6", 3)))

    u = sympy.Symbol("u", positive=True)  # epsilon beyond 3, and beyond 2.6
    beyond_3 = 20 * sympy.exp(u) - 4 * (3 + u)
    beyond_26 = 13 * sympy.exp(u) - (sympy.Rational(13, 5) + u) ** 2
    for larger in (beyond_3, beyond_26):
        e.proven(bool(larger.subs(u, 0) > 0))
        e.proven(sign_changes(larger, u) == 0)

    e.proven(positive(1 + 8 / y - signs, beyond))
    e.proven(positive(noise - 8 / (e2 * e2), {e2: (2, oo), t1: (1, oo)}))
    e.proven(limit(CURVES["M_R"](x), expression(x), oo) == 1)
    e.proven(limit(CURVES["M_L"](x) * x * x, expression(x), oo) == 2)


def figure_1(e: Evidence) -> Numbers:
    crossed, private = figure_1_crossings(e)
    stated = [printed.value("Figure 1", f"{end}_crossing") for end in ("low", "high")]
    e.needs(within("about", crossed, stated))

    ratio_rises(e)
    budgets_shown = (2.6, 5.0, 10.0, 20.0)
    signs = np.array([worst(DiscretisedMeans.published(epsilon)) for epsilon in budgets_shown])
    noise = np.array([worst(LaplaceMeans.published(epsilon)) for epsilon in budgets_shown])
    ratio = signs / noise
    apart = signs - noise
    e.sure((np.diff(ratio) > 0).all())
    e.sure(ratio[0] < 1 < ratio[1])
    e.sure(apart.max() < 1)

    first, last = crossed
    numbers = {"first": first, "last": last, "private": private, "ratio_0": ratio[0]}
    return numbers | written_out.numbered(ratio=ratio[1:], apart=apart[1:])


def signs_to_noise(signs: Any, noise: Any, epsilon: float) -> float:
    """Return the largest variance of one mechanism as a multiple of another's."""
    return float(worst(signs(epsilon)) / worst(noise(epsilon)))


def section_5_no_best_mechanism(e: Evidence) -> Numbers:
    kept = (DiscretisedMeans.calibrated, LaplaceMeans.calibrated)
    claimed = (DiscretisedMeans.published, LaplaceMeans.published)
    numbers = {
        "low": signs_to_noise(*kept, 1.0),
        "high": signs_to_noise(*kept, 5.0),
        "low_claimed": signs_to_noise(*claimed, 1.0),
        "high_claimed": signs_to_noise(*claimed, 5.0),
    }
    e.needs(max(numbers["low"], numbers["low_claimed"]) < 1)
    e.needs(min(numbers["high"], numbers["high_claimed"]) > 1)

    crossed, once = figure_1_crossings(e)
    e.decides(len(crossed) == 2 and 1 < once < 5)
    return numbers


def small_budgets(ratio: str) -> bool:
    """Decide that up to 2/3 the variance with ``k = 2/3`` is below `ratio` times that with 2.

    The difference changes sign once at most, and later: it is negative at 2/3 and positive at 4.
    """
    factor = Fraction(ratio)

    def difference(half: Any) -> Any:
        return CURVES["M_L small"](half) - ball(factor) * CURVES["k = 2"](half)

    signs = difference(ball(THIRD)) < 0 < difference(ball(2))
    return bool(signs) and most_crossings("M_L small", "k = 2", 1 / factor) == 1


def section_5_k_2(e: Evidence) -> Numbers:
    shown = (0.1, 1.0, 2.56, 3.0, 4.0, 6.32)
    stated = [worst(LaplaceMeans.published(epsilon)) for epsilon in shown]
    with_two = [worst(LaplaceMeans.calibrated(epsilon)) for epsilon in shown]
    ratio = np.divide(stated, with_two)
    e.needs(max(ratio) <= 1 + 1e-9)

    two, last = all_crossings(e, "M_L", "k = 2", THIRD, 4)
    e.proven(digits(two, "2.000"))
    e.proven(small_budgets("1"))

    as_printed = budgets.smallest_epsilon(LaplaceMeans.published, 10**5, 0.1)
    capped = budgets.smallest_epsilon(LaplaceMeans.calibrated, 10**5, 0.1)
    e.sure(f"{as_printed:.2f}" == printed.text("Table 1", "M_L K=1e5 alpha=0.1"))
    return {"cross": float(last.mid()), "capped": capped} | written_out.numbered(ratio=ratio)


def variance_by_k(noise: float, epsilon: float) -> float:
    """Return ``K`` times the largest variance of the gap, under equation (1) with a given k."""
    return float(4 * worst(LaplaceMeans.allowed(epsilon, noise)))


def appendix_b_error(e: Evidence) -> Numbers:
    stated = []
    least = []
    best = []
    for epsilon in (1.0, 1.9):
        stated.append(variance_by_k(LaplaceMeans.published(epsilon).k, epsilon))
        found = minimize_scalar(
            variance_by_k,
            args=(epsilon,),
            bounds=(2 / 3, 2),
            method="bounded",
            options={"xatol": 1e-9},
        )
        least.append(found.fun)
        best.append(found.x)
    e.needs(max(np.divide(stated, least)) - 1 < 1e-9)

    # Along equation (1) the variance still grows in k at k = epsilon, and beyond. So less than
    # epsilon is best, if equation (1) allows it, and else 2/3, the least that it allows.
    variance = worst(LaplaceMeans(budget(t1), e2, k))
    of_group = derivative(groups.largest_group_epsilon(e2, k), k)
    along = derivative(variance, k) + derivative(variance, t1) * t1 * of_group
    box = {e2: (0, oo), t1: (1, oo)}
    e.proven(positive(replaced(along, k, e2 + y), box | {y: (0, oo)}))
    e.proven(positive(replaced(along, k, e2), box))
    return written_out.numbered(stated=stated, least=least, k=best)


def figure_3(e: Evidence) -> Numbers:
    ratios = []
    for epsilon in (0.02, 0.2, 2 / 3):
        small = worst(LaplaceMeans.allowed(epsilon, 2 / 3))
        ratios.append(small / worst(LaplaceMeans.calibrated(epsilon)))
    e.needs(max(ratios) < 1)

    e.proven(small_budgets("0.5247"))
    at_zero = limit(CURVES["M_L small"](x) / CURVES["k = 2"](x), expression(x), 0)
    return {"most": 0.5247, "high": ratios[2], "low": ratios[1], "limit": str(at_zero)}


def variances_by_share(mechanism: GroupMeans) -> Any:
    """Return the largest variance at each of `SHARES`, as a multiple of that of equal groups."""
    clients = int(printed.value("Figure 2", "clients"))
    variances = []
    for part in SHARES:
        smaller = round(clients * part)
        gap = gaps.GroupGap(mechanism, (smaller, clients - smaller))
        variances.append(gap.worst_variance())
    return np.array(variances) / variances[0]


def figure_2_small_groups(e: Evidence) -> Numbers:
    signs = variances_by_share(DiscretisedMeans(1.0, 1.0))
    noise = variances_by_share(LaplaceMeans(0.5, 1.0))
    powers = -np.diff(np.log(signs)) / np.diff(np.log(SHARES))
    e.needs(powers[4:].min() > 7 / 8)

    # at every budget the variance grows with a power of 1/share between 7/8 and 2
    below = {share: (0, Fraction(1, 10))}
    for mechanism, moment, box in ((TWO_SIGNS, 0, BOX), (TWO_NOISE, 1, {t1: (1, oo), e2: (0, oo)})):
        of_minority = gaps.mean_variance(mechanism, share, exact(1), moment)
        of_majority = gaps.mean_variance(mechanism, 1 - share, exact(1), moment)
        variance = of_minority + of_majority
        slope = -share * derivative(variance, share)
        e.proven(positive(2 * variance - slope, below | box))
        e.proven(positive(slope - Fraction(7, 8) * variance, below | box))

    shown = [1, 2, 3, 4, 6]
    return written_out.numbered(signs=signs[shown], noise=noise[shown], power=powers[[2, 4]])


def growth_of_squared_error(factors: Sequence[float], value: float, clients: int) -> float:
    """Return by how much wrong sizes multiply the mean squared error if all values are equal."""
    gap = gaps.GroupGap.of_halves(DiscretisedMeans(1.0, 1.0), clients)
    moments = (value**2, value**2)
    bias = gaps.misestimated_gap_bias(factors, (value, value))
    square = gap.misestimated_variance(factors, moments) + bias**2
    return float(square / gap.variance(moments))


def figure_2_misestimated_sizes(e: Evidence) -> Numbers:
    error = printed.value("Figure 2", "relative_error")
    factors = (1 + error, 1 - error)
    shown = gaps.misestimated_gap_bias(factors, (0.8, 0.8))
    tenth = gaps.misestimated_gap_bias((1.1, 0.9), (0.8, 0.8))
    e.needs(abs(shown) < 1e-9)

    clients = int(printed.value("Figure 2", "clients"))
    squared = growth_of_squared_error(factors, 0.8, clients)
    large = growth_of_squared_error(factors, 0.8, 10**7)

    # at all budgets, for values and noise alike
    left = 1 - wrong * wrong
    symbolic = (1 + wrong, 1 - wrong)
    bias = gaps.misestimated_gap_bias(symbolic, (mean, mean))
    e.proven(identity(bias, -2 * wrong * mean / left))
    for every in (TWO_SIGNS, LaplaceMeans(budget(t1), e2, k)):
        gap = gaps.GroupGap(every, (1, 1))
        ratio = gap.misestimated_variance(symbolic, (nu2, nu2)) / gap.variance((nu2, nu2))
        e.proven(identity(ratio, (1 + wrong * wrong) / (left * left)))

    return {
        "factor": growth_of_squared_error(factors, 0.0, clients),
        "shown": shown,
        "squared": squared,
        "large": large,
        "tenth": tenth,
    }


def table_1(e: Evidence) -> Numbers:
    table = printed.table_1()
    recomputed = []
    for name, clients, alpha, stated, decimals in table.itertuples(index=False):
        family = MEASURED[f"{name} as published"]
        enough = budgets.smallest_epsilon(family, clients, alpha, failure=FAILURE)
        e.needs(round(enough, decimals) == stated)
        recomputed.append(enough)

    return {
        "cells": len(table),
        "dashes": int(np.isinf(table["printed"]).sum()),
        "signs": recomputed[0],
        "noise": recomputed[15],
    }


def table_1_dashes(e: Evidence) -> Numbers:
    table = printed.table_1()
    dashes = table[np.isinf(table["printed"])][["clients", "alpha"]]
    by_chebyshev = []
    by_hoeffding = {}
    for clients, alpha in dashes.itertuples(index=False, name=None):
        target = (clients, alpha)
        by_chebyshev.append(budgets.required_gain(*target, failure=FAILURE, tail="chebyshev"))
        by_hoeffding[target] = budgets.required_gain(*target, failure=FAILURE, tail="hoeffding")
    e.needs(min(by_chebyshev) >= 1)
    signs_have_a_limit(e, DiscretisedMeans.published(budget(y)))
    signs_have_a_limit(e, DiscretisedMeans.calibrated(budget(y)))

    feasible = [target for target, gain in by_hoeffding.items() if gain < 1]
    e.sure(feasible == [(10**6, 0.01), (10**8, 0.001)])
    first, second = feasible
    gain = by_hoeffding[first]

    def exactly(name: str, target: tuple[int, float]) -> float:
        return budgets.smallest_epsilon(MEASURED[name], *target, failure=FAILURE, tail="exact")

    return {
        "claimed_exactly": exactly("M_R as published", first),
        "kept_exactly": exactly("M_R", first),
        "other_exactly": exactly("M_R", second),
        "claimed": budgets.published_epsilon_for_gain(gain),
        "kept": budgets.calibrated_epsilon_for_gain(gain),
        "least": min(by_chebyshev),
        "limit": 8 * np.log(2 / FAILURE),
        "feasible": len(feasible),
        "dashes": len(dashes),
    }


def table_2_bounds(e: Evidence) -> Numbers:
    clients = int(printed.value("Table 2", "clients"))
    table = printed.table_2()
    bounds = []
    for name, epsilon in zip(table["mechanism"], table["epsilon"], strict=True):
        mechanism = MEASURED[f"{name} as published"](epsilon)
        gap = gaps.GroupGap.of_halves(mechanism, clients)
        bounds.append(gap.error_bound(FAILURE) / 2)
    e.needs([round(bound, 4) for bound in bounds] == table["alpha"].tolist())
    return {"cells": len(table), "signs": bounds[0], "noise": bounds[4]}


def section_5_percentage_points(e: Evidence) -> Numbers:
    reasonable = printed.value("Table 1", "M_L K=1e7 alpha=0.01")
    numbers: dict[str, float] = {}
    for key, name in (("signs", "M_R"), ("noise", "M_L, k = 2")):
        point, tenth, rate = (
            budgets.smallest_epsilon(MEASURED[name], *target, failure=FAILURE)
            for target in ((10**7, 0.01), (10**9, 0.001), (10**7, 0.02))
        )
        e.needs(max(point, tenth, rate) < reasonable)
        numbers |= {key: point, f"{key}_rate": rate}

    falls_with_the_clients(e)
    return numbers
