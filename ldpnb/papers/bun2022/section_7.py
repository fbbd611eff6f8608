"""What decides Section 7 of bun2022, stratified sampling: a check for each claim."""

from itertools import combinations_with_replacement, product

import numpy as np

from ldpnb import claims
from ldpnb.claims import Evidence, Numbers, agree, joined
from ldpnb.deciders import budget, identity, limit, oo, positive, symbols
from ldpnb.designs import laws, strata
from ldpnb.papers.bun2022 import establishments
from ldpnb.papers.bun2022.formulas import allocation, data_dependent, rounding
from ldpnb.papers.bun2022.section_4 import (
    random_rounding,
    rounded_sample,
    rounding_bounds,
    told_by_size,
)
from ldpnb.papers.bun2022.shared import EVERY, SHARE, eps, p, ratio, t
from ldpnb.papers.bun2022.tables.allocation import by_size
from ldpnb.privacy import optimiser

GROUPS = (
    (1.0, 2.0, 4.0, 3.0, 2.0, 9.0),
    (10.0, 14.0, 15.0, 21.0, 9.0, 30.0, 12.0),
    (40.0, 60.0, 80.0, 66.0, 70.0, 55.0, 90.0, 64.0, 58.0, 71.0),
)
FAMILY, TOTAL = allocation.Family((20, 10), (1.0, 3.0)), 8
FIXED = [(m, TOTAL - m) for m in range(1, TOTAL)]
CLASSES = (1, 5, 10, 20, 50, 100, 250, 500, 1000)

m, n = symbols("m n")


def definition_7_1(e: Evidence) -> Numbers:
    f, g, h, u = symbols("f g h u")
    e.proven(identity(np.exp(eps + budget(u)) * h - f, (t * g - f) + t * (u * h - g)))
    budgets = {("a", 0): 0.3, ("a", 1): 0.3, ("b", 0): 0.8, ("b", 1): 0.8}
    pairs = ((("a", 0), ("a", 1)), (("a", 0), ("b", 1)), (("b", 0), ("b", 1)))
    kept = ("a", 0)  # a record that both samples hold
    worst = [
        optimiser.largest_loss({(x, kept): 1.0}, {(y, kept): 1.0}, epsilon=budgets)
        for x, y in pairs
    ]
    for (x, y), one in zip(pairs, worst, strict=True):
        e.same(
            one.loss,
            np.log(one.acceptance((x, kept)) / one.acceptance((y, kept))) * (1 - 2 * one.swapped),
        )
        e.needs(agree(one.loss, budgets[x] + budgets[y]))
    for sample in (s for size in range(3) for s in combinations_with_replacement(budgets, size)):
        accept = worst[1].acceptance(sample)
        for record, spent in budgets.items():
            more = worst[1].acceptance((*sample, record))
            e.sure(
                np.abs(np.log([accept / more, (1 - accept) / (1 - more)])).max() <= spent + 1e-12
            )
    return dict(zip(("first", "across", "second"), (one.loss for one in worst), strict=True))


def equation_6(e: Evidence) -> Numbers:
    first, second, drawn, other, weight, deviation, total = symbols(
        "first second drawn other weight deviation total"
    )
    pair = first * first * other / drawn + second * second * drawn / other - 2 * first * second
    e.proven(identity(pair, (first * other - second * drawn) ** 2 / (drawn * other)))
    term = (
        weight
        * weight
        * strata.mean_variance(weight, deviation * deviation, m * weight * deviation / total)
    )
    # Neyman's shares reach the bound
    e.proven(identity(term, weight * deviation * total / m - weight * deviation * deviation))
    one, two, three = (strata.mean_variance(n, deviation, m + i) for i in range(3))
    e.proven(identity(one - two, deviation / (m * (m + 1))))
    e.proven(positive((one - two) - (two - three), {m: EVERY, deviation: EVERY, n: EVERY}))
    population, records = strata.strata_of(GROUPS), 9
    sizes, variances = population.sizes, population.variances
    shares = population.neyman(records)
    bound = ((sizes @ np.sqrt(variances)) ** 2 / records - sizes @ variances) / sizes.sum() ** 2
    e.same(population.variance(shares), bound)
    whole = np.array(
        [one for one in product(*(range(1, size + 1) for size in sizes)) if sum(one) == records]
    )
    losses = ((sizes / sizes.sum()) ** 2 * variances * (1 / whole - 1 / sizes)).sum(axis=1)
    best = population.best_whole(records)
    e.same(population.variance(best), losses.min())
    e.needs(
        agree(shares.sum(), records) and (shares <= sizes).all() and (bound <= losses + 1e-12).all()
    )
    shown = {"shares": joined(shares, ".3f"), "best": tuple(map(int, best))}
    return shown | {
        "bound": bound,
        "allocations": len(losses),
        "total": records,
        "least": losses.min(),
    }


def equation_7(e: Evidence) -> Numbers:
    scale, more, height = symbols(
        "scale more height"
    )  # of a statistic that is 0 or, with chance p, some height
    table = allocation.Outcomes(
        np.array([0 * height, height]), np.array([[1 - p, p]]), np.empty((0, 2), dtype=int)
    )
    low, high = (
        table.private_variances(noise)[0] / table.variances()[0] for noise in (scale, scale + more)
    )
    e.proven(positive(high - low, {scale: EVERY, more: EVERY, height: EVERY, p: SHARE}))
    e.proven(limit(low, p.expression, 0) == oo)
    neyman = allocation.outcomes(FAMILY, allocation.neyman(FAMILY, TOTAL))
    fixed = allocation.outcomes(FAMILY, allocation.fixed((3, 5)))
    needed, least = neyman.noise_scale(1.0), fixed.noise_scale(1.0)
    e.sure(needed > least)
    e.same(neyman.private_variances(needed), neyman.total_variances(1.0))
    constant = int(
        (neyman.variances() <= 1e-12).sum()
    )  # without sampling variance: the ratio is infinite
    e.needs(constant == 0)
    return {
        "neyman": needed,
        "fixed": least,
        "constant": constant,
        "populations": len(neyman.chances),
    }


def section_7_1_data_independence(e: Evidence) -> Numbers:
    family = allocation.Family((6, 6), (1.0, 1.0))
    rule = allocation.neyman(family, 3)
    used = sorted({rule(population)[0][1] for population in family.populations})
    noise = max(
        allocation.outcomes(family, allocation.fixed(drawn)).noise_scale(0.1) for drawn in used
    )
    chosen = allocation.outcomes(family, rule)
    loss = chosen.loss(noise)
    densities = chosen.chances @ np.exp(
        -np.abs(chosen.values[:, None] - chosen.values) / abs(noise)
    )
    e.same(
        loss, np.abs(np.log(densities[chosen.pairs[:, 0]] / densities[chosen.pairs[:, 1]])).max()
    )
    e.needs(loss > 0.1)
    return {"loss": loss}


def equation_8(e: Evidence) -> Numbers:
    fixed = [allocation.outcomes(FAMILY, allocation.fixed(drawn)) for drawn in FIXED]
    neyman = allocation.outcomes(FAMILY, allocation.neyman(FAMILY, TOTAL))
    e.same(neyman.variances().max(), min(table.variances().max() for table in fixed))
    budgets = (0.1, 1.0, 3.0)
    best = np.array(
        [min(table.total_variances(epsilon).max() for table in fixed) for epsilon in budgets]
    )
    other = np.array([neyman.total_variances(epsilon).max() for epsilon in budgets])
    e.needs((best < other).all())
    return {
        "fixed": joined(best),
        "neyman": joined(other),
        "budgets": ",".join(map("{:g}".format, budgets)),
    }


def section_7_2_neyman_example(e: Evidence) -> Numbers:
    e.proven(told_by_size())
    change, top_code = (
        int(claims.published("bun2022")[key]) for key in ("top_stratum_change", "top_code")
    )
    tally = establishments.simulate(top_code=top_code)
    pair = tally, establishments.with_smallest_grown(tally, top_code)
    share, later = (by_size(table, CLASSES).neyman(1.0)[-1] for table in pair)
    move = later - share
    e.sure(move > 0)
    e.needs(any(by_size(table, [*CLASSES, top_code]).neyman(1.0)[-1] for table in pair))
    top = int(tally.loc[tally["employees"] >= CLASSES[-1], "establishments"].sum())
    numbers = {"move": move, "needed": change / move, "exhausted": top / share}
    loss, advantage = (
        data_dependent.size_count_loss(change, 0.1),
        data_dependent.size_test_advantage(change, 0.1),
    )
    return numbers | {"loss": loss, "advantage": advantage}


def theorem_7_2(e: Evidence) -> Numbers:
    e.proven(random_rounding() and rounding_bounds())
    cases = ((3, 2, 0.4, (0.5, 1.0)), (2, 3, 0.5, (0.8, 0.2)), (4, 1, 0.3, (0.3, 0.3)))
    exact = [
        rounding.random_rounding_loss(changed, rate, own) for changed, _, rate, (own, _) in cases
    ]
    bounds = [rounding.random_rounding_bound(rate, own) for _, _, rate, (own, _) in cases]
    for loss, (changed, other, rate, (own, others)) in zip(exact, cases, strict=True):
        budgets = {("a", i): own for i in range(changed + 1)} | {
            ("b", i): others for i in range(other)
        }
        rest = rounded_sample([("b", i) for i in range(other)], rate)
        both = (
            laws.independent(rounded_sample([("a", i) for i in range(k)], rate), rest)
            for k in (changed, changed + 1)
        )
        e.same(loss, optimiser.largest_loss(*both, epsilon=budgets).loss)
    e.needs(all(loss <= bound for loss, bound in zip(exact, bounds, strict=True)))
    gain = t * t - 1  # e^bound is at most e^(3 r gain): any budget has its rate
    e.proven(
        identity(ratio(rounding.random_rounding_bound(p, eps)), (1 + 2 * p * gain) * (1 + p * gain))
    )
    loss, rates = 0.5, (0.01, 0.05, 0.1, 0.3)
    roots = [
        np.roots([2 * rate**2, 3 * rate, -np.expm1(loss)]).max() for rate in rates
    ]  # e^(2 epsilon) - 1
    allowed = [float(np.log1p(root)) / 2 for root in roots]
    e.same(
        [rounding.random_rounding_bound(*case) for case in zip(rates, allowed, strict=True)],
        [loss] * 4,
    )
    few = loss / (3 * np.expm1(4 * loss))
    e.needs(rounding.random_rounding_bound(few, 2 * loss) <= loss and allowed[0] > 2 * loss)
    shown = {"budgets": joined(allowed), "rates": ",".join(map(str, rates))}
    return shown | {"exact": exact[0], "bound": bounds[0], "few": few}


def section_7_3_proportional_for_all_statistics(e: Evidence) -> Numbers:
    # One stratum of n of n + other records, whose own variance is spread; its terms in the variance
    # of a proportional sample of m, and of a simple random sample. The means only add to the latter.
    n, other, m, spread = symbols("n other m spread")
    total = n + other
    share = n / total
    proportional = share * share * strata.mean_variance(n, spread, m * share)
    simple = strata.mean_variance(total, (n - 1) * spread / (total - 1), m)
    ratio_of_terms = proportional / simple
    closed = n * (total - 1) / (total * (n - 1))
    e.proven(identity(ratio_of_terms, closed))
    e.decides(positive(n / (n - 1) - closed, {n: (1, oo), other: EVERY}))

    # Against the best allocation, if one stratum of share w has all the spread: with f = m/N.
    w, f, records = symbols("w f records")
    drawn = f * records
    by_share = strata.mean_variance(records * w, spread, drawn * w)
    best = strata.mean_variance(records * w, spread, drawn)
    e.proven(identity(by_share / best, (1 - f) / (w - f)))

    sizes = np.array([1000, 99_000])
    variances = np.array([1.0, 0.0])
    population = strata.Strata(sizes, variances)
    shared = population.variance((1, 99))
    everyone = (sizes - 1) @ variances / (sizes.sum() - 1)
    drawn_simply = strata.mean_variance(100_000, everyone, 100)
    e.needs(shared <= drawn_simply * 1000 / 999)
    return {
        "simple": shared / drawn_simply,
        "apart": shared / population.variance((99, 1)),
    }
