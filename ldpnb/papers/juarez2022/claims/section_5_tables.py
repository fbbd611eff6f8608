"""Section 5 of juarez2022: Table 1, its dashes, and the bounds of Table 2."""

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
from scipy.special import ndtri

from ldpnb.accuracy import budgets, gaps, tails
from ldpnb.claims import Evidence, claim
from ldpnb.deciders import ball, digits
from ldpnb.mechanisms import groups
from ldpnb.papers.juarez2022 import printed, routes
from ldpnb.papers.juarez2022.proofs import errors

FAMILIES: dict[str, Callable[[float], groups.GroupMeans]] = {
    "M_R": lambda epsilon: groups.DiscretisedMeans.published(epsilon),
    "M_L": lambda epsilon: groups.LaplaceMeans.published(epsilon),
}

BUDGETS = (0.01, 0.1, 1.0, 10.0)
"""Of Table 2."""

section_5 = partial(claim, kind="identity", reach="all parameters")


@section_5(
    "Table 1",
    budgets.smallest_epsilon,
    budgets.required_gain,
    budgets.published_epsilon_for_gain,
    gaps.variance_discretised_mean,
    gaps.variance_laplace_mean,
    tails.chebyshev,
    gaps.GroupGap.worst_variance,
    groups.DiscretisedMeans.published,
    groups.LaplaceMeans.allowed,
    groups.LaplaceMeans.published,
    otherwise="corrected",
    assumption="equal groups, Chebyshev's inequality, values at which the variance is largest, and an error on the "
    "scale of values in [-1, 1], twice that of rates; as privacy budgets the cells are wrong (Theorem 4.1 and "
    "Appendix B)",
    over="the 30 cells: each is the only budget from 0.004 to 400 that just meets its target, and for a dash there is "
    "none",
    example=True,
)
def table_1(e: Evidence) -> str:
    """the budgets that keep the error of the gap below alpha with probability 0.99, in 30 cells"""
    failure, table = 1 - printed.value("Table 1", "probability"), printed.table_1()
    found, met = [], 0
    for name, clients, alpha, stated, decimals in table.itertuples(index=False):
        epsilon = budgets.smallest_epsilon(FAMILIES[name], clients, alpha, failure=failure)
        if name == "M_R":
            gain = budgets.required_gain(clients, alpha, failure=failure)
            e.same(budgets.published_epsilon_for_gain(gain), epsilon)
        if np.isfinite(epsilon):
            e.same(routes.printed_bound(name, epsilon, clients), failure * alpha**2)
        found.append(epsilon)
        met += epsilon == stated if np.isinf(stated) else round(epsilon, decimals) == stated
        balls = errors.smallest_budgets(name, clients, f"{alpha:g}", f"{failure:g}")
        e.decides(len(balls) == 1 and digits(balls[0], f"{stated:.{decimals}f}") if np.isfinite(stated) else not balls)
    e.needs(met == len(table))
    e.corrected = "" if met == len(table) else "see the recomputed cells in the notebook"
    return (
        f"{met} of {len(table)} cells to every printed digit, {int(np.isinf(table['printed']).sum())} dashes included; "
        f"first row unrounded: M_R {found[0]:.5f}, M_L {found[15]:.5f}"
    )


@section_5(
    "Table 1, dashes",
    budgets.required_gain,
    budgets.smallest_epsilon,
    budgets.calibrated_epsilon_for_gain,
    tails.hoeffding,
    tails.symmetric_binomial,
    gaps.variance_discretised_mean,
    groups.DiscretisedMeans.calibrated,
    groups.DiscretisedMeans.gain,
    groups.DiscretisedMeans.published,
    kind="certified",
    otherwise="corrected",
    over="epsilon > 0, two equal groups, every K and alpha",
    argument="Hoeffding's inequality bounds the tail of a sum of independent signs",
)
def table_1_dashes(e: Evidence) -> str:
    """no privacy budget reaches the targets of the cells marked with a dash"""
    failure, table = 1 - printed.value("Table 1", "probability"), printed.table_1()
    dashes, family = table[np.isinf(table["printed"])], groups.DiscretisedMeans.calibrated
    for budget in BUDGETS:
        limits = [1 / family(budget).gain ** 2 for family in (groups.DiscretisedMeans.published, family)]
        e.same(limits, [routes.printed_bound(name, budget, 4.0) for name in ("M_R", "M_R kept")])
    gains, feasible = [], []
    for clients, alpha in zip(dashes["clients"].tolist(), dashes["alpha"].tolist(), strict=True):
        gains.append(budgets.required_gain(clients, alpha, failure=failure))
        gain = budgets.required_gain(clients, alpha, failure=failure, tail="hoeffding")
        epsilon = budgets.smallest_epsilon(family, clients, alpha, failure=failure, tail="hoeffding")
        e.same(
            [4 / clients / (alpha * gains[-1]) ** 2, tails.hoeffding(clients, alpha * clients / 2 * gain)],
            [failure] * 2,
        )
        e.same(budgets.calibrated_epsilon_for_gain(gain), epsilon)
        if not np.isfinite(epsilon):
            continue
        half = alpha * clients / 2
        exact = budgets.smallest_epsilon(family, clients, alpha, failure=failure, tail="exact")
        tail = tails.symmetric_binomial(clients, half * family(exact).gain)
        e.same(tails.hoeffding(clients, half * family(epsilon).gain), failure)
        e.same(tail, _binomial_tail(clients, half * family(exact).gain), rel=1e-6)
        e.sure(tail <= failure)
        feasible.append(f"K={clients}, alpha={alpha:g} takes {epsilon:.4f} nats (exactly {exact:.4f})")
    e.sure(min(gains) >= 1)
    e.proven(errors.signs_have_a_limit())
    e.needs(not feasible)
    e.corrected = (
        "under M_R Chebyshev's inequality reaches no target with K alpha^2 <= 400, whatever the budget; the mechanism "
        f"does for K alpha^2 > 8 ln 200 = 42.4 (Hoeffding), so {len(feasible)} of the {len(dashes)} cells have a "
        "finite budget"
    )
    return (
        f"all {len(dashes)} dashes need a gain above 1 by Chebyshev (smallest {min(gains):.4g}); by Hoeffding "
        + ", ".join(feasible)
    )


@section_5(
    "Table 2, bounds",
    gaps.GroupGap.error_bound,
    gaps.variance_discretised_mean,
    gaps.variance_laplace_mean,
    gaps.GroupGap.failure,
    groups.DiscretisedMeans.published,
    groups.LaplaceMeans.allowed,
    groups.LaplaceMeans.published,
    otherwise="corrected",
    assumption="a rate is (v + 1) / 2, which halves every error: Table 1 is on the other scale, where its alpha = "
    "0.1 is 0.05 of a rate",
    over="the 8 cells of the table",
    example=True,
)
def table_2_bounds(e: Evidence) -> str:
    """the errors alpha of the gap between rates that K = 10^7 clients exceed with probability 0.01 at most"""
    failure, clients = 1 - printed.value("Table 1", "probability"), int(printed.value("Table 2", "clients"))
    table, found = printed.table_2(), []
    for name, epsilon in zip(table["mechanism"], table["epsilon"], strict=True):
        gap = gaps.GroupGap.of_halves(FAMILIES[name](epsilon), clients)
        alpha, by_normal = (gap.error_bound(failure, tail) for tail in ("chebyshev", "normal"))
        sd = np.sqrt(routes.printed_bound(name, epsilon, clients))
        e.same([alpha, by_normal], [sd / np.sqrt(failure), -sd * ndtri(failure / 2)])
        e.same(gap.failure(alpha), failure)
        found.append(alpha / 2)
        exact = errors.error_bound(name, f"{epsilon:g}", clients, f"{failure:g}")
        e.decides(digits(exact, printed.text("Table 2", f"{name} alpha eps={epsilon:g}")))
    met = sum(round(alpha, 4) == stated for alpha, stated in zip(found, table["alpha"], strict=True))
    e.needs(met == len(table))
    e.corrected = "" if met == len(table) else "see the recomputed cells in the notebook"
    return f"{met} of {len(table)} cells to 4 decimals; M_R at 0.01: {found[0]:.6f}, M_L at 0.01: {found[4]:.6f}"


@section_5(
    "Section 5, percentage points",
    gaps.GroupGap.worst_variance,
    gaps.variance_discretised_mean,
    gaps.variance_laplace_mean,
    budgets.smallest_epsilon,
    groups.DiscretisedMeans.calibrated,
    groups.DiscretisedMeans.gain,
    groups.DiscretisedMeans.keep,
    groups.DiscretisedMeans.move,
    groups.LaplaceMeans.calibrated,
    groups.LaplaceMeans.keep,
    groups.LaplaceMeans.kept_scale,
    groups.LaplaceMeans.move,
    groups.LaplaceMeans.moved_scale,
    kind="certified",
    assumption="percentage points as in Table 1, on the scale of values; reasonable is what its cells print, at most "
    "2.56; which of them the source highlights is lost in the text at hand",
    reading="reconstructed",
    over="K >= 10^7 for 0.01 and K >= 10^9 for 0.001, two equal groups, all values",
    argument="the variance is a function of epsilon divided by K, so that a sufficient budget remains sufficient as K "
    "grows",
)
def percentage_points(e: Evidence) -> str:
    """with 10^7 clients or more a reasonable budget keeps the error of the gap below one percentage point, and with
    10^9 or more below a tenth of a point
    """
    failure, limit = 1 - printed.value("Table 1", "probability"), printed.text("Table 1", "M_L K=1e7 alpha=0.01")
    kept: dict[str, Callable[[float], groups.GroupMeans]] = {
        "M_R kept": groups.DiscretisedMeans.calibrated,
        "M_L kept": groups.LaplaceMeans.calibrated,
    }
    found = {}
    for (name, family), (clients, alpha) in product(kept.items(), ((10**7, "0.01"), (10**9, "0.001"), (10**7, "0.02"))):
        (exact,) = errors.smallest_budgets(name, clients, alpha, f"{failure:g}")
        found[name, clients, alpha] = float(exact.mid())
        e.same(budgets.smallest_epsilon(family, clients, float(alpha), failure=failure), float(exact.mid()), rel=1e-6)
        e.decides(bool(exact < ball(limit)))
    bounds = [
        routes.printed_bound(by_print, found[name, 10**7, "0.01"], 10**7)
        for name, by_print in (("M_R kept", "M_R kept"), ("M_L kept", "k = 2"))
    ]
    e.same(bounds, [failure * 0.01**2] * 2, rel=1e-6)
    e.proven(errors.variance_of_signs() and errors.variance_of_noise())
    return (
        f"with budgets that are kept M_R takes {found['M_R kept', 10**7, '0.01']:.4f} and M_L (k = 2) "
        f"{found['M_L kept', 10**7, '0.01']:.4f} nats for either; a point of a rate is twice as much, and takes "
        f"{found['M_R kept', 10**7, '0.02']:.4f} and {found['M_L kept', 10**7, '0.02']:.4f}"
    )


def _binomial_tail(terms: int, deviation: float) -> float:
    """Return ``P(|S| >= deviation)`` for a sum of fair signs, adding up the binomial law around its mode."""
    least = int(np.ceil((terms + deviation) / 2 - 1e-9))
    heads = np.arange(least, min(least + int(40 * np.sqrt(terms)), terms + 1))
    return float(2 * np.exp(routes.log_binomials(terms, heads) - terms * np.log(2)).sum())
