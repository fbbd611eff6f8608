"""What decides Section 5 of juarez2022 with Appendices A.3 to A.5 and B: unbiased means, variances, Figures 1 to 3.

Symbols as in `section_4`; `v` is a value, `nu2` the mean square of a group's values. For two equal groups `worst` is
the variance of a mean with one member per group, so ``K / 4`` times the largest variance of the gap between groups of
``K / 2``; ``x`` is half of epsilon.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from scipy.optimize import minimize_scalar

from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, Numbers, agree, within
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
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import printed, written_out
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.papers.juarez2022.section_4 import BOX, NOISE, SIGNS, c, d, e2, k, n, nu2, t1, t2, y
from ldpnb.papers.juarez2022.tables.gaps import MEASURED
from ldpnb.papers.juarez2022.written_out import HOLDERS, MECHANISMS, exact

THIRD = Fraction(1, 3)
SHARES = np.array([0.5, 0.25, 0.1, 0.05, 0.01, 0.005, 0.001])
FAILURE = 1 - printed.value("Table 1", "probability")
TWO_SIGNS, TWO_NOISE = DiscretisedMeans(budget(t1), budget(t2)), LaplaceMeans(budget(t1), e2)

x, v, share, wrong, mean = symbols("x v share wrong mean")


def means_are_unbiased(e: Evidence) -> None:
    """Decide client by client that the mean added is ``gain v`` to the own group, 0 to another."""
    (down, up), (zero_down, zero_up) = (
        moves.sign_probabilities(value, SIGNS.value_epsilon) for value in (v, 0 * v)
    )
    e.proven(
        identity(SIGNS.keep * (up - down), SIGNS.gain * v)
        and identity(NOISE.keep * v, NOISE.gain * v)
    )
    e.proven(identity(SIGNS.move * (zero_up - zero_down), 0))


def proposition_5_2(e: Evidence) -> Numbers:
    means_are_unbiased(e)
    for m in MECHANISMS:
        (_, first, (one, var_one)), (_, second, (other, var_other)), *_ = (
            written_out.group_examples(m)
        )
        both = written_out.gap_moments(m, HOLDERS[: m.groups], written_out.VALUES)[1]
        e.needs(max(abs(one - first), abs(other - second)) < 1e-12)
        e.needs(abs(var_one + var_other - both) / both < 1e-12)
    return {"mechanisms": len(MECHANISMS)}


def equations_19_and_20(e: Evidence) -> Numbers:
    group = n, n + c * n, nu2
    kept, moved = (2 * scale * scale for scale in (NOISE.kept_scale, NOISE.moved_scale))
    for (
        every,
        own,
        other,
    ) in (  # what a member and another client add to the variance of a group's sum
        (SIGNS, SIGNS.keep - SIGNS.gain * SIGNS.gain * nu2, SIGNS.move),
        (NOISE, NOISE.keep * (nu2 + kept) - NOISE.keep * NOISE.keep * nu2, NOISE.move * moved),
    ):
        unit, two = every.gain * n, replace(every, groups=2)
        e.proven(identity(gaps.mean_variance(every, *group), n * (own + c * other) / (unit * unit)))
        e.proven(
            identity(gaps.mean_variance(two, *group), written_out.printed_variance(two, *group))
        )
    signs, noise = (
        [
            written_out.printed_variance(m, *three) / variance
            for three, _, (_, variance) in written_out.group_examples(m)
        ]
        for m in (written_out.SIGNS[1], written_out.NOISE[1])
    )
    e.needs(agree(noise, np.ones(3)) and agree(signs, np.ones(3)))
    return {"least": min(noise), "most": max(noise), "low": min(signs), "high": max(signs)}


def signs_have_a_limit(e: Evidence, mechanism: DiscretisedMeans) -> None:
    """Decide that a mean of n, half of all, has variance ``1 / (gain^2 n)`` at most, and that the gain tends to 1."""
    equal = gaps.variance_discretised_mean(mechanism, n, 2 * n, 0)
    e.proven(identity(equal, 1 / (mechanism.gain * mechanism.gain * n)))
    e.proven(
        positive(1 - mechanism.gain, {y: (1, oo)}) and limit(mechanism.gain, y.expression, oo) == 1
    )


def section_5_largest_variance(e: Evidence) -> Numbers:
    largest = {
        name: worst(DiscretisedMeans.published(b))
        for name, b in (("one", 1.0), ("four", 4.0), ("ten", 10.0))
    }
    e.needs(within("about", largest["ten"], 1))
    every = gaps.variance_discretised_mean(SIGNS, n, n + c * n, 0)
    e.proven(identity(every - gaps.variance_discretised_mean(SIGNS, n, n + c * n, nu2), nu2 / n))
    signs_have_a_limit(e, DiscretisedMeans.published(budget(y)))
    return largest


def theorem_5_4_unbiased(e: Evidence) -> Numbers:
    distances = np.array([0.0, 0.5, 1.0, 2.0])
    bias, square = (
        formula(1.0, distances) for formula in (gaps.absolute_gap_bias, gaps.absolute_gap_mse)
    )
    e.needs(bias.max() < 1e-9)
    means_are_unbiased(e)
    # all reports can pull the signed gap below 0: members of the first group with a minus, others by moving there
    down = [
        SIGNS.keep * moves.sign_probabilities(exact(end), SIGNS.value_epsilon)[0] for end in (-1, 1)
    ]
    box = {t1: (1, oo), t2: (1, oo), d: (1, oo)}
    e.proven(all(positive(chance, box) for chance in (*down, SIGNS.move)))
    halves = gaps.GroupGap.of_halves(DiscretisedMeans.published(0.1), 10**7)
    large = float(gaps.absolute_gap_bias(np.sqrt(halves.worst_variance()), 0.0))
    return written_out.numbered(bias=bias, square=square) | {"large": large}


def worst(mechanism: groups.GroupMeans) -> Real:
    """Return the largest variance of a mean of one client in a group, of two groups alike."""
    return gaps.mean_variance(mechanism, 1, 2, 1 if isinstance(mechanism, LaplaceMeans) else 0)


CURVES: dict[str, Callable[[Any], Real]] = {
    "M_R": lambda half: worst(DiscretisedMeans.published(2 * half)),
    "M_R kept": lambda half: worst(DiscretisedMeans.calibrated(2 * half)),
    "M_L small": lambda half: worst(
        LaplaceMeans.allowed(2 * half, exact("2/3") if half is x else ball("2/3"))
    ),
    "M_L": lambda half: worst(LaplaceMeans.allowed(2 * half, 2 * half)),
    "k = 2": lambda half: worst(LaplaceMeans.calibrated(2 * half)),
}
"""Largest variances by half the budget, a symbol or a ball; *M_L small* is the source's choice up to 2/3."""


def most_crossings(one: str, other: str, factor: Fraction | int = 1) -> int:
    """Return a bound on how often ``factor`` times one of `CURVES` meets another on the whole half line."""
    difference = exact(factor) * CURVES[one](x) - CURVES[other](x)
    return sign_changes(difference, expression(x))


def crossings(one: str, other: str, low: Any, high: Any) -> list[Any]:
    """Return the budgets between two halves where two of `CURVES` cross, as balls."""
    return [2 * half for half in zeros(lambda h: CURVES[one](h) - CURVES[other](h), low, high)]


def all_crossings(
    e: Evidence, one: str, other: str, low: Any, high: Any, elsewhere: int = 0
) -> list[Any]:
    """Return all budgets where two of `CURVES` cross: as many between two halves as the bound on the half line allows.

    `elsewhere` are known to lie outside of the range in which a curve applies.
    """
    crossed = crossings(one, other, low, high)
    e.proven(len(crossed) + elsewhere == most_crossings(one, other))
    return crossed


def figure_1_crossings(e: Evidence) -> tuple[list[float], float]:
    """Return all budgets where ``M_R`` and the optimal ``M_L`` cross, as published and with budgets that are kept.

    The curve of ``k = epsilon`` applies from 2/3 on; continued below, it crosses once more.
    """
    below = len(crossings("M_R", "M_L", "0.01", THIRD))
    claimed = all_crossings(e, "M_R", "M_L small", "0.01", THIRD) + all_crossings(
        e, "M_R", "M_L", THIRD, 20, below
    )
    (kept,) = all_crossings(e, "M_R kept", "k = 2", "0.01", 20)
    return [float(budget.mid()) for budget in claimed], float(kept.mid())


def ratio_rises(e: Evidence) -> None:
    """Decide that the largest variance of ``M_R`` over that of ``M_L`` rises, as published, at every epsilon >= 2.6.

    The logarithm of the one falls by at most ``8 e^-epsilon``, that of the other by at least ``1 - 1/epsilon`` up to
    3 and ``2/epsilon`` beyond. The ratio comes to ``epsilon^2 / 8``; the difference stays below 1, what ``M_R`` tends
    to: ``M_R`` is below ``1 + 8 e^-epsilon`` and ``M_L`` above ``8 / epsilon^2``.
    """
    signs, noise = (
        worst(DiscretisedMeans.published(budget(y))),
        worst(LaplaceMeans(budget(t1), e2, e2)),
    )
    beyond = {y: (13, oo)}  # e^2.6 is more
    e.proven(bool(ball("2.6").exp() > 13 and ball(3).exp() > 20))
    e.proven(positive(y * derivative(signs, y) + 8 / y * signs, beyond))
    along = derivative(noise, e2) + derivative(noise, t1) * t1 * derivative(
        groups.largest_group_epsilon(e2, e2), e2
    )
    e.proven(positive(-along - (1 - 1 / e2) * noise, {e2: (Fraction(5, 2), 3), t1: (1, oo)}))
    e.proven(positive(-along - 2 / e2 * noise, {e2: (3, oo), t1: (1, oo)}))
    e.proven(holds_on(lambda epsilon: 1 - 1 / epsilon - 8 * (-epsilon).exp(), ("2.6", 3)))
    u = sympy.Symbol("u", positive=True)  # epsilon beyond 3, and beyond 2.6
    for larger in (
        20 * sympy.exp(u) - 4 * (3 + u),
        13 * sympy.exp(u) - (sympy.Rational(13, 5) + u) ** 2,
    ):
        e.proven(bool(larger.subs(u, 0) > 0 and sign_changes(larger, u) == 0))
    e.proven(
        positive(1 + 8 / y - signs, beyond)
        and positive(noise - 8 / (e2 * e2), {e2: (2, oo), t1: (1, oo)})
    )
    ratio = CURVES["M_R"](x) / CURVES["M_L"](x)
    e.proven(bool(limit(ratio / (x * x), expression(x), oo) == Fraction(1, 2)))


def figure_1(e: Evidence) -> Numbers:
    (first, last), private = figure_1_crossings(e)
    e.needs(
        within(
            "about",
            [first, last],
            [printed.value("Figure 1", f"{end}_crossing") for end in ("low", "high")],
        )
    )
    ratio_rises(e)
    families = DiscretisedMeans.published, LaplaceMeans.published
    signs, noise = np.array(
        [[worst(family(epsilon)) for epsilon in (2.6, 5.0, 10.0, 20.0)] for family in families]
    )
    ratio, apart = signs / noise, signs - noise
    e.sure((np.diff(ratio) > 0).all() and ratio[0] < 1 < ratio[1] and apart.max() < 1)
    numbers = {"first": first, "last": last, "private": private, "ratio_0": ratio[0]}
    return numbers | written_out.numbered(ratio=ratio[1:], apart=apart[1:])


def section_5_no_best_mechanism(e: Evidence) -> Numbers:
    low, high = (
        worst(DiscretisedMeans.calibrated(b)) / worst(LaplaceMeans.calibrated(b))
        for b in (1.0, 5.0)
    )
    first, last = (
        worst(DiscretisedMeans.published(b)) / worst(LaplaceMeans.published(b)) for b in (1.0, 5.0)
    )
    e.needs(max(low, first) < 1 < min(high, last))
    claimed, once = figure_1_crossings(e)
    e.decides(len(claimed) == 2 and 1 < once < 5)
    return {"low": low, "high": high, "low_claimed": first, "high_claimed": last}


def small_budgets(ratio: str) -> bool:
    """Decide that with ``k = 2/3`` the variance is below `ratio` times that with ``k = 2`` for all epsilon up to 2/3.

    The difference changes sign once at most, and later: it is negative at 2/3 and positive at 4.
    """
    factor = Fraction(ratio)

    def difference(half: Any) -> Any:
        return CURVES["M_L small"](half) - ball(factor) * CURVES["k = 2"](half)

    signs = difference(ball(THIRD)) < 0 < difference(ball(2))
    return bool(signs) and most_crossings("M_L small", "k = 2", 1 / factor) == 1


def section_5_k_2(e: Evidence) -> Numbers:
    shown = (0.1, 1.0, 2.56, 3.0, 4.0, 6.32)
    ratio = [
        worst(LaplaceMeans.published(epsilon)) / worst(LaplaceMeans.calibrated(epsilon))
        for epsilon in shown
    ]
    e.needs(max(ratio) <= 1 + 1e-9)
    two, last = all_crossings(e, "M_L", "k = 2", THIRD, 4)
    e.proven(digits(two, "2.000") and small_budgets("1"))
    families = LaplaceMeans.published, LaplaceMeans.calibrated
    as_printed, capped = (budgets.smallest_epsilon(family, 10**5, 0.1) for family in families)
    e.sure(f"{as_printed:.2f}" == printed.text("Table 1", "M_L K=1e5 alpha=0.1"))
    return {"cross": float(last.mid()), "capped": capped} | written_out.numbered(ratio=ratio)


def appendix_b_error(e: Evidence) -> Numbers:
    def by_k(noise: float, epsilon: float) -> float:
        return float(4 * worst(LaplaceMeans.allowed(epsilon, noise)))

    known: dict[str, Any] = {"bounds": (2 / 3, 2), "method": "bounded", "options": {"xatol": 1e-9}}
    searched = [minimize_scalar(by_k, args=(epsilon,), **known) for epsilon in (1.0, 1.9)]
    stated = [by_k(LaplaceMeans.published(epsilon).k, epsilon) for epsilon in (1.0, 1.9)]
    least, best = [one.fun for one in searched], [one.x for one in searched]
    e.needs(max(np.divide(stated, least)) - 1 < 1e-9)
    # along equation (1) the variance still grows in k at k = epsilon, and beyond, so that less than epsilon is best
    variance = worst(LaplaceMeans(budget(t1), e2, k))
    along = derivative(variance, k) + derivative(variance, t1) * t1 * derivative(
        groups.largest_group_epsilon(e2, k), k
    )
    box = {e2: (0, oo), t1: (1, oo)}
    e.proven(
        positive(replaced(along, k, e2 + y), box | {y: (0, oo)})
        and positive(replaced(along, k, e2), box)
    )
    return written_out.numbered(stated=stated, least=least, k=best)


def figure_3(e: Evidence) -> Numbers:
    pairs = [
        (LaplaceMeans.allowed(eps, 2 / 3), LaplaceMeans.calibrated(eps))
        for eps in (0.02, 0.2, 2 / 3)
    ]
    ratios = [worst(one) / worst(other) for one, other in pairs]
    e.needs(max(ratios) < 1)
    e.proven(small_budgets("0.5247"))
    at_zero = limit(CURVES["M_L small"](x) / CURVES["k = 2"](x), expression(x), 0)
    return {"most": 0.5247, "high": ratios[2], "low": ratios[1], "limit": str(at_zero)}


def figure_2_small_groups(e: Evidence) -> Numbers:
    clients = int(printed.value("Figure 2", "clients"))
    sizes = [(round(clients * part), clients - round(clients * part)) for part in SHARES]
    mechanisms = DiscretisedMeans(1.0, 1.0), LaplaceMeans(0.5, 1.0)
    curves = np.array(
        [[gaps.GroupGap(m, pair).worst_variance() for pair in sizes] for m in mechanisms]
    )
    signs, noise = curves / curves[:, :1]
    powers = -np.diff(np.log(signs)) / np.diff(np.log(SHARES))
    e.needs(powers[2] < powers[4] / 2)
    below = {
        share: (0, Fraction(1, 10))
    }  # there the variance grows with a power of 1/share between 7/8 and 2
    for mechanism, moment, box in ((TWO_SIGNS, 0, BOX), (TWO_NOISE, 1, {t1: (1, oo), e2: (0, oo)})):
        variance = sum(
            gaps.mean_variance(mechanism, part, exact(1), moment) for part in (share, 1 - share)
        )
        slope = -share * derivative(variance, share)
        e.proven(positive(2 * variance - slope, below | box))
        e.proven(positive(slope - Fraction(7, 8) * variance, below | box))
    shown = [1, 2, 3, 4, 6]
    return written_out.numbered(signs=signs[shown], noise=noise[shown], power=powers[[2, 4]])


def figure_2_misestimated_sizes(e: Evidence) -> Numbers:
    error, m = printed.value("Figure 2", "relative_error"), DiscretisedMeans(1.0, 1.0)
    factors, squared = (1 + error, 1 - error), []
    shown, tenth = (gaps.misestimated_gap_bias((1 + d, 1 - d), (0.8, 0.8)) for d in (error, 0.1))
    for clients in (int(printed.value("Figure 2", "clients")), 10**7):
        gap = gaps.GroupGap.of_halves(m, clients)
        known, variance = (
            gap.variance((0.64, 0.64)),
            gap.misestimated_variance(factors, (0.64, 0.64)),
        )
        squared.append((variance + shown**2) / known)
    factor = variance / known
    e.needs(within("similar", [factor, squared[0]], 1))

    # at all budgets, for values and noise alike
    left = 1 - wrong * wrong
    symbolic = 1 + wrong, 1 - wrong
    e.proven(identity(gaps.misestimated_gap_bias(symbolic, (mean, mean)), -2 * wrong * mean / left))
    for every in (TWO_SIGNS, LaplaceMeans(budget(t1), e2, k)):
        gap = gaps.GroupGap(every, (1, 1))
        ratio = gap.misestimated_variance(symbolic, (nu2, nu2)) / gap.variance((nu2, nu2))
        e.proven(identity(ratio, (1 + wrong * wrong) / (left * left)))
    return {
        "factor": factor,
        "shown": shown,
        "squared": squared[0],
        "large": squared[1],
        "tenth": tenth,
    }


def table_1(e: Evidence) -> Numbers:
    table, recomputed = printed.table_1(), []
    for name, clients, alpha, stated, decimals in table.itertuples(index=False):
        recomputed.append(
            budgets.smallest_epsilon(
                MEASURED[f"{name} as published"], clients, alpha, failure=FAILURE
            )
        )
        e.needs(round(recomputed[-1], decimals) == stated)
    numbers = {"cells": len(table), "dashes": int(np.isinf(table["printed"]).sum())}
    return numbers | {"signs": recomputed[0], "noise": recomputed[15]}


def table_1_dashes(e: Evidence) -> Numbers:
    table = printed.table_1()
    dashes = table[np.isinf(table["printed"])][["clients", "alpha"]].itertuples(
        index=False, name=None
    )
    gains = {
        cell: [
            budgets.required_gain(*cell, failure=FAILURE, tail=tail)
            for tail in ("chebyshev", "hoeffding")
        ]
        for cell in dashes
    }
    least = min(chebyshev for chebyshev, _ in gains.values())
    feasible = [cell for cell, (_, hoeffding) in gains.items() if hoeffding < 1]
    e.sure(least >= 1 and feasible == [(10**6, 0.01), (10**8, 0.001)])
    e.needs(not feasible)
    signs_have_a_limit(e, DiscretisedMeans.published(budget(y)))
    signs_have_a_limit(e, DiscretisedMeans.calibrated(budget(y)))
    gain = gains[10**6, 0.01][1]
    claimed, kept, other = (
        budgets.smallest_epsilon(MEASURED[name], *feasible[which], failure=FAILURE, tail="exact")
        for name, which in (("M_R as published", 0), ("M_R", 0), ("M_R", 1))
    )
    numbers = {"claimed_exactly": claimed, "kept_exactly": kept, "other_exactly": other}
    numbers |= {
        "claimed": budgets.published_epsilon_for_gain(gain),
        "kept": budgets.calibrated_epsilon_for_gain(gain),
    }
    numbers |= {"least": least, "limit": 8 * np.log(2 / FAILURE)}
    return numbers | {"feasible": len(feasible), "dashes": len(gains)}


def table_2_bounds(e: Evidence) -> Numbers:
    clients, table = int(printed.value("Table 2", "clients")), printed.table_2()
    cells = zip(table["mechanism"], table["epsilon"], strict=True)
    gap = [gaps.GroupGap.of_halves(MEASURED[f"{m} as published"](b), clients) for m, b in cells]
    bounds = [one.error_bound(FAILURE) / 2 for one in gap]
    e.needs([round(bound, 4) for bound in bounds] == table["alpha"].tolist())
    return {"cells": len(table), "signs": bounds[0], "noise": bounds[4]}


def section_5_percentage_points(e: Evidence) -> Numbers:
    numbers: dict[str, float] = {}
    for key, name in (("signs", "M_R"), ("noise", "M_L, k = 2")):
        point, tenth, rate = (
            budgets.smallest_epsilon(MEASURED[name], *target, failure=FAILURE)
            for target in ((10**7, 0.01), (10**9, 0.001), (10**7, 0.02))
        )
        e.needs(max(point, tenth, rate) < printed.value("Table 1", "M_L K=1e7 alpha=0.01"))
        numbers |= {key: point, f"{key}_rate": rate}
    for every, moment in ((SIGNS, 0), (NOISE, 1)):
        one, many = (gaps.mean_variance(every, size, 2 * size, moment) for size in (1, n))
        e.proven(identity(one, many * n))
    return numbers
