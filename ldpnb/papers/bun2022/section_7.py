"""Check the claims of Section 7 of Bun and others (2022), on stratified sampling."""

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
"""The values of the records in three strata."""

FAMILY = allocation.Family((20, 10), (1.0, 3.0))
"""The populations of two strata of 20 and 10 records, which are 0 or 1 and 0 or 3."""

TOTAL = 8
"""The size of their samples."""

FIXED = [(m, TOTAL - m) for m in range(1, TOTAL)]
"""Every allocation of that size with a record of each stratum."""

CLASSES = (1, 5, 10, 20, 50, 100, 250, 500, 1000)
"""The smallest numbers of employees in the classes of establishments."""

m, n = symbols("m n")


def definition_7_1(e: Evidence) -> Numbers:
    f, g, h, u = symbols("f g h u")
    e.proven(identity(np.exp(eps + budget(u)) * h - f, (t * g - f) + t * (u * h - g)))

    # Two records of stratum a and two of b, with their budgets.
    budgets = {("a", 0): 0.3, ("a", 1): 0.3, ("b", 0): 0.8, ("b", 1): 0.8}
    replacements = {
        "first": (("a", 0), ("a", 1)),
        "across": (("a", 0), ("b", 1)),
        "second": (("b", 0), ("b", 1)),
    }
    kept = ("a", 0)  # a record that both samples hold
    worst = {}
    for name, (old, new) in replacements.items():
        mechanism = optimiser.largest_loss({(old, kept): 1.0}, {(new, kept): 1.0}, epsilon=budgets)
        likelier = mechanism.acceptance((old, kept)) / mechanism.acceptance((new, kept))
        e.same(mechanism.loss, np.log(1 / likelier if mechanism.swapped else likelier))
        e.needs(agree(mechanism.loss, budgets[old] + budgets[new]))
        worst[name] = mechanism

    # No record in any sample of up to two costs the worst mechanism more than its budget.
    samples = [
        *combinations_with_replacement(budgets, 0),
        *combinations_with_replacement(budgets, 1),
        *combinations_with_replacement(budgets, 2),
    ]
    for sample, (record, spent) in product(samples, budgets.items()):
        without = worst["across"].acceptance(sample)
        with_it = worst["across"].acceptance((*sample, record))
        ratios = np.array([without / with_it, (1 - without) / (1 - with_it)])
        e.sure(np.abs(np.log(ratios)).max() <= spent + 1e-12)
    return {name: mechanism.loss for name, mechanism in worst.items()}


def equation_6(e: Evidence) -> Numbers:
    # Cauchy and Schwarz, for a pair of strata.
    first, second, drawn, other = symbols("first second drawn other")
    pair = first * first * other / drawn + second * second * drawn / other - 2 * first * second
    e.proven(identity(pair, (first * other - second * drawn) ** 2 / (drawn * other)))

    # Neyman's shares reach the bound.
    weight, deviation, total = symbols("weight deviation total")
    share = m * weight * deviation / total
    term = weight * weight * strata.mean_variance(weight, deviation * deviation, share)
    e.proven(identity(term, weight * deviation * total / m - weight * deviation * deviation))

    # Whole numbers: each further record lowers the variance by less.
    first_gain = strata.mean_variance(n, deviation, m) - strata.mean_variance(n, deviation, m + 1)
    next_gain = strata.mean_variance(n, deviation, m + 1) - strata.mean_variance(
        n, deviation, m + 2
    )
    e.proven(identity(first_gain, deviation / (m * (m + 1))))
    e.proven(positive(first_gain - next_gain, {m: EVERY, deviation: EVERY, n: EVERY}))

    population = strata.strata_of(GROUPS)
    records = 9
    sizes = population.sizes
    variances = population.variances
    shares = population.neyman(records)
    bound = ((sizes @ np.sqrt(variances)) ** 2 / records - sizes @ variances) / sizes.sum() ** 2
    e.same(population.variance(shares), bound)
    e.needs(agree(shares.sum(), records))
    e.needs((shares <= sizes).all())

    every = product(*(range(1, size + 1) for size in sizes))
    whole = np.array([allocated for allocated in every if sum(allocated) == records])
    losses = ((sizes / sizes.sum()) ** 2 * variances * (1 / whole - 1 / sizes)).sum(axis=1)
    best = population.best_whole(records)
    e.same(population.variance(best), losses.min())
    e.needs((bound <= losses + 1e-12).all())
    return {
        "shares": joined(shares, ".3f"),
        "best": tuple(map(int, best)),
        "bound": bound,
        "allocations": len(losses),
        "total": records,
        "least": losses.min(),
    }


def equation_7(e: Evidence) -> Numbers:
    # A statistic that is 0 or, with the probability p, some height.
    scale, more, height = symbols("scale more height")
    table = allocation.Outcomes(
        np.array([0 * height, height]), np.array([[1 - p, p]]), np.empty((0, 2), dtype=int)
    )
    low = table.private_variances(scale)[0] / table.variances()[0]
    high = table.private_variances(scale + more)[0] / table.variances()[0]
    e.proven(positive(high - low, {scale: EVERY, more: EVERY, height: EVERY, p: SHARE}))
    e.proven(limit(low, p.expression, 0) == oo)

    neyman = allocation.outcomes(FAMILY, allocation.neyman(FAMILY, TOTAL))
    fixed = allocation.outcomes(FAMILY, allocation.fixed((3, 5)))
    needed = neyman.noise_scale(1.0)
    least = fixed.noise_scale(1.0)
    e.sure(needed > least)
    e.same(neyman.private_variances(needed), neyman.total_variances(1.0))

    # Populations without sampling variance, for which the ratio is infinite.
    constant = int((neyman.variances() <= 1e-12).sum())
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

    # The noise that suffices at epsilon 0.1 for each allocation that the rule may choose.
    chosen = {rule(population)[0][1] for population in family.populations}
    fixed = [allocation.outcomes(family, allocation.fixed(drawn)) for drawn in chosen]
    noise = max(table.noise_scale(0.1) for table in fixed)

    # The loss of the rule with that noise, and the same from the densities at every value.
    table = allocation.outcomes(family, rule)
    loss = table.loss(noise)
    distances = np.abs(table.values[:, None] - table.values)
    densities = table.chances @ np.exp(-distances / noise)
    neighbours = np.log(densities[table.pairs])
    e.same(loss, np.abs(neighbours[:, 0] - neighbours[:, 1]).max())
    e.needs(loss > 0.1)
    return {"loss": loss}


def equation_8(e: Evidence) -> Numbers:
    fixed = [allocation.outcomes(FAMILY, allocation.fixed(drawn)) for drawn in FIXED]
    neyman = allocation.outcomes(FAMILY, allocation.neyman(FAMILY, TOTAL))
    e.same(neyman.variances().max(), min(table.variances().max() for table in fixed))

    # With the noise that each needs, the best fixed allocation beats Neyman's.
    budgets = (0.1, 1.0, 3.0)
    best_of_fixed = []
    of_neyman = []
    for epsilon in budgets:
        best_of_fixed.append(min(table.total_variances(epsilon).max() for table in fixed))
        of_neyman.append(neyman.total_variances(epsilon).max())
    e.needs((np.array(best_of_fixed) < np.array(of_neyman)).all())
    return {
        "fixed": joined(best_of_fixed),
        "neyman": joined(of_neyman),
        "budgets": ",".join(f"{epsilon:g}" for epsilon in budgets),
    }


def section_7_2_neyman_example(e: Evidence) -> Numbers:
    e.proven(told_by_size())

    printed = claims.published("bun2022")
    change = int(printed["top_stratum_change"])
    top_code = int(printed["top_code"])
    tally = establishments.simulate(top_code=top_code)
    grown = establishments.with_smallest_grown(tally, top_code)

    # Strata with an open class at the top.
    share = by_size(tally, CLASSES).neyman(1.0)[-1]
    move = by_size(grown, CLASSES).neyman(1.0)[-1] - share
    e.sure(move > 0)

    # The printed ones, whose last stratum starts at the top code.
    as_printed = [*CLASSES, top_code]
    e.needs(any(by_size(table, as_printed).neyman(1.0)[-1] for table in (tally, grown)))

    in_top = tally["employees"] >= CLASSES[-1]
    top = int(tally.loc[in_top, "establishments"].sum())
    return {
        "move": move,
        "needed": change / move,
        "exhausted": top / share,
        "loss": data_dependent.size_count_loss(change, 0.1),
        "advantage": data_dependent.size_test_advantage(change, 0.1),
    }


def theorem_7_2(e: Evidence) -> Numbers:
    e.proven(random_rounding())
    e.proven(rounding_bounds())

    # Records of the changed stratum and of the other one, the rate, and the budgets of both.
    cases = ((3, 2, 0.4, 0.5, 1.0), (2, 3, 0.5, 0.8, 0.2), (4, 1, 0.3, 0.3, 0.3))
    exact = []
    bounds = []
    for changed, unchanged, rate, epsilon, other_epsilon in cases:
        exact.append(rounding.random_rounding_loss(changed, rate, epsilon))
        bounds.append(rounding.random_rounding_bound(rate, epsilon))

        grown = [("a", i) for i in range(changed + 1)]
        others = [("b", i) for i in range(unchanged)]
        rest = rounded_sample(others, rate)
        worst = optimiser.largest_loss(
            laws.independent(rounded_sample(grown[:-1], rate), rest),
            laws.independent(rounded_sample(grown, rate), rest),
            epsilon=dict.fromkeys(grown, epsilon) | dict.fromkeys(others, other_epsilon),
        )
        e.same(exact[-1], worst.loss)
        e.needs(exact[-1] <= bounds[-1])

    # As e^bound is at most e^(3 r (t^2 - 1)), any budget has its rate.
    gain = t * t - 1
    printed = ratio(rounding.random_rounding_bound(p, eps))
    e.proven(identity(printed, (1 + 2 * p * gain) * (1 + p * gain)))

    # The budgets that a loss allows: the root is e^(2 epsilon) - 1.
    loss = 0.5
    rates = (0.01, 0.05, 0.1, 0.3)
    allowed = []
    for rate in rates:
        root = np.roots([2 * rate**2, 3 * rate, -np.expm1(loss)]).max()
        allowed.append(float(np.log1p(root)) / 2)
        e.same(rounding.random_rounding_bound(rate, allowed[-1]), loss)

    few = loss / (3 * np.expm1(4 * loss))
    e.needs(rounding.random_rounding_bound(few, 2 * loss) <= loss)
    e.needs(allowed[0] > 2 * loss)
    return {
        "budgets": joined(allowed),
        "rates": ",".join(map(str, rates)),
        "exact": exact[0],
        "bound": bounds[0],
        "few": few,
    }


def section_7_3_proportional_for_all_statistics(e: Evidence) -> Numbers:
    # One stratum of n of n + other records, whose own variance is spread; its terms in the variance
    # of a proportional sample of m, and of a simple random sample. The means only add to the
    # latter.
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
    drawn_share = 100 / sizes.sum()
    varying_share = sizes[0] / sizes.sum()
    shared = population.variance((1, 99))
    everyone = (sizes - 1) @ variances / (sizes.sum() - 1)
    drawn_simply = strata.mean_variance(100_000, everyone, 100)
    e.needs(shared <= drawn_simply * 1000 / 999)
    return {
        "simple": shared / drawn_simply,
        "apart": shared / population.variance((99, 1)),
        "limit": (1 - drawn_share) / (varying_share - drawn_share),
    }
