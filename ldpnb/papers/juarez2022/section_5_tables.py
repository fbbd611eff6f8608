"""What decides Section 5 of juarez2022 on its tables: Table 1, its dashes, and the bounds of Table 2."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from scipy.stats import norm

from ldpnb.accuracy import budgets, gaps, tails
from ldpnb.claims import Evidence
from ldpnb.deciders import budget, identity
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
    "code": lambda epsilon: LaplaceMeans.executed(epsilon),
}
"""Mechanisms by budget: as published, as their budgets are kept, and ``M_L`` as in the code published with Table 2."""
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


def _kept(epsilon: float) -> DiscretisedMeans:
    """Return ``M_R`` with the ``eps1 = ln((1 + e^epsilon) / 2)`` that makes it lose exactly ``epsilon = eps2``."""
    return DiscretisedMeans(float(np.logaddexp(0.0, epsilon) - np.log(2)), epsilon)


@second_route(budgets.required_gain, budgets.published_epsilon_for_gain, budgets.calibrated_epsilon_for_gain)
def _gains() -> Pairs:
    for clients, half in ((10**6, 5e4), (10**5, 5e3)):
        gain, sharper = (
            budgets.required_gain(clients, 0.1, failure=0.01, tail=tail) for tail in ("chebyshev", "hoeffding")
        )
        yield clients / (half * gain) ** 2, 0.01
        yield 2 * np.exp(-((half * sharper) ** 2) / (2 * clients)), 0.01
    for gain in (0.01, 0.5, 0.9):
        claimed, kept = (
            formula(gain) for formula in (budgets.published_epsilon_for_gain, budgets.calibrated_epsilon_for_gain)
        )
        yield [routes.printed_gain(m) for m in (DiscretisedMeans(claimed, claimed), _kept(kept))], [gain, gain]


@second_route(budgets.smallest_epsilon)
def _smallest_epsilon() -> Pairs:
    for family, second_moment in (
        (lambda epsilon: DiscretisedMeans(epsilon, epsilon), 0),
        (_kept, 0),
        (lambda epsilon: LaplaceMeans(epsilon / 2, epsilon), 1),
    ):
        for tail, deviations in (("chebyshev", 10.0), ("normal", norm.isf(0.005))):
            enough = family(budgets.smallest_epsilon(family, 10**6, 0.1, tail=tail))
            variance = 2 * routes.printed_variance(enough, 5 * 10**5, 10**6, second_moment)
            yield np.sqrt(variance) * deviations, 0.1
        if second_moment == 0:  # signs, of which the binomial law has steps
            gain = routes.printed_gain(family(budgets.smallest_epsilon(family, 10**6, 0.1, tail="exact")))
            yield [_binomial_tail(10**6, 5e4 * gain * f) <= 0.01 for f in (1, 1 - 1e-3)], [True, False]


def table_1(e: Evidence) -> Numbers:
    table, recomputed = printed.table_1(), []
    for name, clients, alpha, stated, decimals in table.itertuples(index=False):
        recomputed.append(budgets.smallest_epsilon(FAMILIES[name], clients, alpha, failure=FAILURE))
        e.needs(round(recomputed[-1], decimals) == stated)
    numbers = {"cells": len(table), "dashes": int(np.isinf(table["printed"]).sum())}
    return numbers | {"signs": recomputed[0], "noise": recomputed[15]}


def table_1_dashes(e: Evidence) -> Numbers:
    table = printed.table_1()
    dashes = table[np.isinf(table["printed"])][["clients", "alpha"]].itertuples(index=False, name=None)
    gains = {
        cell: [budgets.required_gain(*cell, failure=FAILURE, tail=tail) for tail in ("chebyshev", "hoeffding")]
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
        budgets.smallest_epsilon(FAMILIES[name], *feasible[which], failure=FAILURE, tail="exact")
        for name, which in (("M_R", 0), ("M_R kept", 0), ("M_R kept", 1))
    )
    return {
        "least": least,
        "limit": 8 * np.log(2 / FAILURE),
        "feasible": len(feasible),
        "dashes": len(gains),
        "claimed": budgets.published_epsilon_for_gain(gain),
        "kept": budgets.calibrated_epsilon_for_gain(gain),
        "claimed_exactly": claimed,
        "kept_exactly": kept,
        "other_exactly": other,
    }


def table_2_bounds(e: Evidence) -> Numbers:
    clients, table = int(printed.value("Table 2", "clients")), printed.table_2()
    gap = [
        gaps.GroupGap.of_halves(FAMILIES[m](b), clients)
        for m, b in zip(table["mechanism"], table["epsilon"], strict=True)
    ]
    bounds = [one.error_bound(FAILURE) / 2 for one in gap]
    e.needs([round(bound, 4) for bound in bounds] == table["alpha"].tolist())
    return {"cells": len(table), "signs": bounds[0], "noise": bounds[4]}


def section_5_percentage_points(e: Evidence) -> Numbers:
    numbers: dict[str, float] = {}
    for key, name in (("signs", "M_R kept"), ("noise", "M_L kept")):
        point, tenth, rate = (
            budgets.smallest_epsilon(FAMILIES[name], *target, failure=FAILURE)
            for target in ((10**7, 0.01), (10**9, 0.001), (10**7, 0.02))
        )
        e.needs(max(point, tenth, rate) < printed.value("Table 1", "M_L K=1e7 alpha=0.01"))
        numbers |= {key: point, f"{key}_rate": rate}
    signs, noise = DiscretisedMeans(budget(t1), budget(t2)), LaplaceMeans(budget(t1), e2, k)
    one, many = (gaps.variance_discretised_mean(signs, size, 2 * size, 0) for size in (1, n))
    e.proven(identity(one, many * n))
    one, many = (gaps.variance_laplace_mean(noise, size, 2 * size, 1) for size in (1, n))
    e.proven(identity(one, many * n))
    return numbers
