"""What decides allocations under privacy: second routes, and a check for each claim of ``allocations.toml``."""

import numpy as np
import sympy

from ldpnb.accuracy import allocation, best_allocation
from ldpnb.arithmetic import Symbol
from ldpnb.claims import Evidence
from ldpnb.deciders import budget, identity, oo, positive, symbols
from ldpnb.privacy import subsampling
from ldpnb.sections import Numbers, Pairs, second_route

TINY, PARTS, BUDGETS = allocation.Family((3, 3), (1.0, 1.0)), ((1, 2), (2, 1)), (0.1, 0.3, 1.0, 1.5, 3.0)


def drawn() -> allocation.Outcomes:
    return allocation.outcomes(TINY, allocation.lottery(*PARTS, 0.5))


def alone() -> list[allocation.Outcomes]:
    return [allocation.outcomes(TINY, allocation.fixed(part)) for part in PARTS]


@second_route(allocation.Outcomes.variances)
def _variances() -> Pairs:
    large = allocation.outcomes(allocation.Family((4, 4), (1.0, 2.0)), allocation.fixed((2, 2)))
    for outcomes in (drawn(), *alone(), large):
        off = (outcomes.values - (outcomes.chances @ outcomes.values)[:, None]) ** 2
        yield outcomes.variances(), (outcomes.chances * off).sum(axis=1)


@second_route(allocation.Outcomes.noise_scale)
def _noise() -> Pairs:
    for epsilon in BUDGETS:
        for outcomes in alone():
            yield outcomes.noise_scale(epsilon), 0.5 / np.log1p(3 * np.expm1(epsilon))
        yield drawn().noise_scale(epsilon), tail_scale(epsilon)


@second_route(best_allocation.best_rule)
def _best_rules() -> Pairs:
    for looks in (False, True):
        best = best_allocation.best_rule(TINY, 3, 1.5, looks=looks)
        outcomes = allocation.outcomes(TINY, best.rule(TINY))
        yield outcomes.variances().max() + 2 * outcomes.noise_scale(1.5) ** 2, best.variance, 1e-7


def families() -> list[tuple[allocation.Family, int]]:
    sizes = (((2, 2), 3), ((3, 2), 3), ((3, 3), 3), ((3, 3), 4), ((4, 3), 3), ((4, 3), 4))
    return [(allocation.Family(each, heights), total) for each, total in sizes for heights in ((1.0, 1.0), (1.0, 2.0))]


def tail_scale(epsilon: float) -> float:
    """Return the scale at which the mean of both parts' tails loses `epsilon`: a square in ``x = e^(1/(4 b))``."""
    x = np.sqrt(6 * np.expm1(epsilon) + 4) - 1
    return float(1 / (4 * np.log(x)))


def lottery_needs_less_noise() -> bool | None:
    """Decide that in the tail one record of three, one or two of them drawn by lot, loses less than if one is drawn.

    With ``x = e^(1/(4 b))`` the factors are ``1 + (x^2 - 1)/3`` and ``1 + 2 (x - 1)/3``; the former is ``t`` for the
    fixed allocations' least noise, and their mean is below it.
    """
    x, third, both = 1 + symbols("x")[0], Symbol(sympy.Rational(1, 3)), Symbol(sympy.Rational(2, 3))
    one = np.exp(subsampling.srs_loss(budget(x * x), third))
    two = np.exp(subsampling.srs_loss(budget(x), both))
    exact = identity(np.exp(subsampling.srs_budget(budget(one), third)), x * x)
    mixed = identity((one + two) / 2, (x * x + 2 * x + 3) / 6)
    return exact and mixed and positive(one - (one + two) / 2, {symbols("x")[0]: (0, oo)})


def a_secret_lottery_over_allocations(e: Evidence) -> Numbers:
    e.proven(lottery_needs_less_noise())
    known, secret = alone()[0], drawn()
    fixed, lottery = (
        {b: float(o.variances().max() + 2 * o.noise_scale(b) ** 2) for b in BUDGETS} for o in (known, secret)
    )
    e.needs(all(lottery[b] < fixed[b] for b in BUDGETS))
    shown = {"lottery": lottery[0.3], "fixed": fixed[0.3]}
    return shown | {"lottery_at_3": lottery[3.0], "fixed_at_3": fixed[3.0]}


def the_best_rule_looks_at_the_data_at_random(e: Evidence) -> Numbers:
    strata, best = ((2, 2), (3, 2), (3, 3)), {}
    for sizes in strata:
        family = allocation.Family(sizes, (1.0, 1.0))
        for epsilon in (0.1, 1.5):
            for looks in (False, True):
                rule = best_allocation.best_rule(family, 3, epsilon, looks=looks)
                e.sure(rule.variance * 0.998 < rule.lower_bound <= rule.variance)
                best[sizes, epsilon, looks] = rule
    most = [best[s, 1.5, True].variance / best[s, 1.5, False].lower_bound for s in strata]
    least = [best[s, 0.1, True].lower_bound / best[s, 0.1, False].variance for s in strata]
    e.needs(max(most) < 0.99 < min(least))
    searched = 0.0
    for family, total in families():
        for epsilon in (0.1, 0.3, 1.5, 5.0):
            fixed = best_allocation.best_fixed_variance(family, total, epsilon)
            e.sure(best_allocation.deterministic_rule_below(family, total, epsilon, fixed * (1 + 1e-6)))
            e.needs(not best_allocation.deterministic_rule_below(family, total, epsilon, fixed * (1 - 1e-6)))
        searched += float(min(total - 1, *family.sizes)) ** len(family.populations)
    shown = {"looks": best[(3, 3), 1.5, True].variance, "blind": best[(3, 3), 1.5, False].variance}
    ratios = ", ".join(f"{value:.4f} {sizes}" for value, sizes in zip(most, strata, strict=True))
    return shown | {"ratios": ratios, "searched": searched / 1e9}
