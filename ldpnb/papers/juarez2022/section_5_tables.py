"""What decides Section 5 of juarez2022 on its tables: Table 1, its dashes, and the bounds of Table 2."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln
from scipy.stats import norm

from ldpnb.accuracy import budgets, gaps, tails
from ldpnb.claims import Evidence
from ldpnb.deciders import ball, budget, digits, identity, zeros
from ldpnb.mechanisms import groups
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import printed, routes
from ldpnb.papers.juarez2022.section_4 import e2, k, n, t1, t2, y
from ldpnb.papers.juarez2022.section_5 import signs_have_a_limit
from ldpnb.sections import Numbers, Pairs, second_route

Family = Callable[[Any], groups.GroupMeans]

FAMILIES: dict[str, Family] = {
    "M_R": lambda epsilon: DiscretisedMeans.published(epsilon),
    "M_L": lambda epsilon: LaplaceMeans.published(epsilon),
    "M_R kept": lambda epsilon: DiscretisedMeans.calibrated(epsilon),
    "M_L kept": lambda epsilon: LaplaceMeans.calibrated(epsilon),
}
"""Mechanisms by budget, as published and as their budgets are kept."""
THIRD = Fraction(1, 3)
PIECES: dict[str, list[tuple[Family, Any, Any]]] = {
    name: [(FAMILIES[name], "0.002", 200)] for name in ("M_R", "M_R kept", "M_L kept")
} | {
    "M_L": [
        (lambda epsilon: LaplaceMeans.allowed(epsilon, ball("2/3")), "0.002", THIRD),
        (lambda epsilon: LaplaceMeans.allowed(epsilon, epsilon), THIRD, 200),
    ]
}
"""The same for balls, and the halves of budgets where each applies."""
FAILURE = 1 - printed.value("Table 1", "probability")


@second_route(gaps.GroupGap.error_bound, gaps.GroupGap.failure)
def _bounds() -> Pairs:
    for m in routes.MECHANISMS:
        gap, sd = gaps.GroupGap(m, routes.sizes(m)), np.sqrt(routes.worst_moment(m))
        for tail, far, chance in (("chebyshev", 1 / np.sqrt(0.02), 1 / 9), ("normal", norm.isf(0.01), 2 * norm.sf(3))):
            yield (gap.error_bound(0.02, tail), gap.failure(3 * sd, tail)), (sd * far, chance)


@second_route(tails.chebyshev)
def _chebyshev() -> Pairs:
    for chance, far in ((0.01, 3.0), (0.3, 0.2)):  # of -far, 0 and far, where the bound is attained
        yield tails.chebyshev(chance * far * far, far), chance
    yield tails.chebyshev(1.5, 1.0), 1.0


def _binomial_tail(terms: int, deviation: float) -> float:
    """Return ``P(|S| >= deviation)`` for a sum of fair signs, adding up the binomial law around its mode."""
    least = int(np.ceil((terms + deviation) / 2 - 1e-9))
    heads = np.arange(least, min(least + int(40 * np.sqrt(terms)), terms + 1))
    logs = gammaln(terms + 1) - gammaln(heads + 1) - gammaln(terms - heads + 1)
    return float(2 * np.exp(logs - terms * np.log(2)).sum())


@second_route(tails.hoeffding, tails.symmetric_binomial)
def _tails() -> Pairs:
    for terms, far in ((100, 30.0), (10**6, 2600.0)):
        yield tails.symmetric_binomial(terms, far), _binomial_tail(terms, far), 1e-6
        exponent = minimize_scalar(lambda s, n=terms, x=far: n * s * s / 2 - s * x, tol=1e-12).fun
        yield tails.hoeffding(terms, far), 2 * np.exp(exponent)


@second_route(budgets.required_gain, budgets.published_epsilon_for_gain, budgets.calibrated_epsilon_for_gain)
def _gains() -> Pairs:
    for clients, alpha in ((10**6, 0.1), (10**5, 0.1)):
        half = alpha * clients / 2
        chances = {
            "chebyshev": lambda gain, n=clients, h=half: n / (h * gain) ** 2,
            "hoeffding": lambda gain, n=clients, h=half: 2 * np.exp(-((h * gain) ** 2) / (2 * n)),
        }
        for tail, chance in chances.items():
            gain = budgets.required_gain(clients, alpha, failure=0.01, tail=tail)
            yield gain, brentq(lambda g, chance=chance: chance(g) - 0.01, 1e-3, 10, xtol=1e-15, rtol=1e-14)
    for gain in (0.01, 0.5, 0.9):
        claimed, kept = (
            formula(gain) for formula in (budgets.published_epsilon_for_gain, budgets.calibrated_epsilon_for_gain)
        )
        allocated = DiscretisedMeans(claimed, claimed), DiscretisedMeans(routes.kept_group_epsilon(kept), kept)
        yield [routes.printed_gain(m) for m in allocated], [gain, gain]


@second_route(budgets.smallest_epsilon)
def _smallest_epsilon() -> Pairs:
    for name, family in (
        ("M_R", lambda epsilon: DiscretisedMeans(epsilon, epsilon)),
        ("M_R kept", lambda epsilon: DiscretisedMeans(routes.kept_group_epsilon(epsilon), epsilon)),
        ("k = 2", lambda epsilon: LaplaceMeans(epsilon / 2, epsilon)),
    ):
        enough = budgets.smallest_epsilon(family, 10**6, 0.1, failure=0.01, largest=100.0)
        yield routes.printed_bound(name, enough, 10**6), 0.01 * 0.1**2
        bound = budgets.smallest_epsilon(family, 10**6, 0.1, failure=0.01, largest=100.0, tail="normal")
        yield np.sqrt(routes.printed_bound(name, bound, 10**6)) * norm.isf(0.005), 0.1
        if name != "k = 2":  # the binomial law has steps
            exactly = budgets.smallest_epsilon(family, 10**6, 0.1, failure=0.01, largest=100.0, tail="exact")
            gain = routes.printed_gain(family(exactly))
            yield [_binomial_tail(10**6, 5e4 * gain * f) <= 0.01 for f in (1, 1 - 1e-3)], [True, False]


def smallest_budgets(name: str, clients: int, alpha: str) -> list[Any]:
    """Return all budgets from 0.004 to 400 at which Chebyshev's inequality allows an error `alpha` just so often."""
    allowed = ball(f"{FAILURE:g}") * ball(alpha) * ball(alpha)

    def excess(family: Family) -> Callable[[Any], Any]:
        return lambda half: gaps.GroupGap.of_halves(family(2 * half), clients).worst_variance() - allowed

    return [2 * half for family, low, high in PIECES[name] for half in zeros(excess(family), low, high)]


def table_1(e: Evidence) -> Numbers:
    table, recomputed = printed.table_1(), []
    for name, clients, alpha, stated, decimals in table.itertuples(index=False):
        recomputed.append(budgets.smallest_epsilon(FAMILIES[name], clients, alpha, failure=FAILURE))
        e.needs(round(recomputed[-1], decimals) == stated)
        balls = smallest_budgets(name, clients, f"{alpha:g}")
        if np.isinf(stated):
            e.decides(not balls)
        else:
            e.decides(len(balls) == 1 and digits(balls[0], f"{stated:.{decimals}f}"))
    met = sum(round(b, d) == s for b, s, d in zip(recomputed, table["printed"], table["decimals"], strict=True))
    numbers = {"met": met, "cells": len(table), "dashes": int(np.isinf(table["printed"]).sum())}
    return numbers | {"signs": recomputed[0], "noise": recomputed[15]}


def table_1_dashes(e: Evidence) -> Numbers:
    table = printed.table_1()
    dashes = table[np.isinf(table["printed"])][["clients", "alpha"]].itertuples(index=False, name=None)
    least, feasible = [], {}
    for clients, alpha in dashes:
        gains = [
            budgets.required_gain(clients, alpha, failure=FAILURE, tail=tail) for tail in ("chebyshev", "hoeffding")
        ]
        least.append(gains[0])
        if gains[1] < 1:
            feasible[clients, alpha] = gains[1]
    e.sure(min(least) >= 1 and list(feasible) == [(10**6, 0.01), (10**8, 0.001)])
    e.needs(not feasible)
    signs_have_a_limit(e, DiscretisedMeans.published(budget(y)))
    signs_have_a_limit(e, DiscretisedMeans.calibrated(budget(y)))
    numbers = {"least": min(least), "limit": 8 * np.log(2 / FAILURE), "feasible": len(feasible), "dashes": len(least)}
    gain, exactly = feasible[10**6, 0.01], {}
    for name in ("M_R", "M_R kept"):
        exactly[name] = [
            budgets.smallest_epsilon(FAMILIES[name], *cell, failure=FAILURE, tail="exact") for cell in feasible
        ]
    deviation = 0.01 * 10**6 / 2 * gain
    e.same(tails.hoeffding(10**6, deviation), FAILURE)
    e.sure(tails.symmetric_binomial(10**6, deviation) <= FAILURE)
    numbers |= {"claimed": budgets.published_epsilon_for_gain(gain), "kept": budgets.calibrated_epsilon_for_gain(gain)}
    (claimed, _), (kept, other) = exactly["M_R"], exactly["M_R kept"]
    return numbers | {"claimed_exactly": claimed, "kept_exactly": kept, "other_exactly": other}


def table_2_bounds(e: Evidence) -> Numbers:
    clients, table, recomputed = int(printed.value("Table 2", "clients")), printed.table_2(), []
    for name, epsilon in zip(table["mechanism"], table["epsilon"], strict=True):
        recomputed.append(gaps.GroupGap.of_halves(FAMILIES[name](epsilon), clients).error_bound(FAILURE) / 2)
        (family,) = [f for f, low, high in PIECES[name] if 2 * Fraction(low) <= Fraction(epsilon) < 2 * Fraction(high)]
        exactly = gaps.GroupGap.of_halves(family(ball(f"{epsilon:g}")), clients).error_bound(ball(f"{FAILURE:g}")) / 2
        e.decides(digits(exactly, printed.text("Table 2", f"{name} alpha eps={epsilon:g}")))
    met = sum(round(alpha, 4) == stated for alpha, stated in zip(recomputed, table["alpha"], strict=True))
    e.needs(met == len(table))
    return {"met": met, "cells": len(table), "signs": recomputed[0], "noise": recomputed[4]}


def section_5_percentage_points(e: Evidence) -> Numbers:
    numbers: dict[str, float] = {}
    limit = ball(printed.text("Table 1", "M_L K=1e7 alpha=0.01"))
    for key, name in (("signs", "M_R kept"), ("noise", "M_L kept")):
        enough = {}
        for clients, alpha in ((10**7, "0.01"), (10**9, "0.001"), (10**7, "0.02")):
            (exactly,) = smallest_budgets(name, clients, alpha)
            e.decides(bool(exactly < limit))
            enough[clients, alpha] = float(exactly.mid())
            by_floats = budgets.smallest_epsilon(FAMILIES[name], clients, float(alpha), failure=FAILURE)
            e.same(by_floats, enough[clients, alpha], rel=1e-6)
        numbers |= {key: enough[10**7, "0.01"], f"{key}_rate": enough[10**7, "0.02"]}
    signs, noise = DiscretisedMeans(budget(t1), budget(t2)), LaplaceMeans(budget(t1), e2, k)
    one, many = (gaps.variance_discretised_mean(signs, size, 2 * size, 0) for size in (1, n))
    e.proven(identity(one, many * n))
    one, many = (gaps.variance_laplace_mean(noise, size, 2 * size, 1) for size in (1, n))
    e.proven(identity(one, many * n))
    return numbers
