"""Section 7 of bun2022: stratified sampling."""

from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement, product

import numpy as np

from ldpnb import claims
from ldpnb.accuracy import allocation
from ldpnb.claims import Evidence, agree, claim
from ldpnb.designs import laws, strata
from ldpnb.papers.bun2022 import establishments, routes, tabulations
from ldpnb.papers.bun2022.proofs import sections_2_to_4
from ldpnb.papers.bun2022.proofs import sections_5_to_7 as proofs
from ldpnb.privacy import data_dependent, noisy_statistics, optimiser, rounding, subsampling

GROUPS = ((1.0, 2.0, 4.0), (10.0, 14.0, 15.0, 21.0), (40.0, 60.0, 80.0, 100.0, 170.0))
LARGER_GROUPS = (
    (1.0, 2.0, 4.0, 3.0, 2.0, 9.0),
    (10.0, 14.0, 15.0, 21.0, 9.0, 30.0, 12.0),
    (40.0, 60.0, 80.0, 66.0, 70.0, 55.0, 90.0, 64.0, 58.0, 71.0),
)
FAMILY, TOTAL = allocation.Family((20, 10), (1.0, 3.0)), 8
CLASSES = (1, 5, 10, 20, 50, 100, 250, 500, 1000)

EQUAL_STRATA = allocation.Family((3, 3), (1.0, 1.0))

section_7 = partial(claim, kind="certified", reach="all parameters")
formula_7 = partial(section_7, reading="reconstructed")


@formula_7(
    "Definition 7.1",
    optimiser.largest_loss,
    optimiser.WorstMechanism.acceptance,
    assumption="the right-hand side of the replacement form is not recoverable; the deletion form implies and attains "
    "epsilon_s + epsilon_s'",
    over="every two strata, every epsilon_s, epsilon_s' > 0",
    argument="the event that falls by e^epsilon_s and e^epsilon_s' a record away from one sample extends to all data "
    "sets, as the least log-Lipschitz extension",
)
def definition_7_1(e: Evidence) -> str:
    """stratified deletion privacy with a budget per stratum protects a record's value and stratum: moving it costs both
    strata's budgets
    """
    e.proven(sections_2_to_4.chain())
    budgets = {("a", 0): 0.3, ("a", 1): 0.3, ("b", 0): 0.8, ("b", 1): 0.8}
    pairs = ((("a", 0), ("a", 1)), (("a", 0), ("b", 1)), (("b", 0), ("b", 1)))
    kept = ("a", 0)  # a record that both samples hold
    worst = [optimiser.largest_loss({(x, kept): 1.0}, {(y, kept): 1.0}, epsilon=budgets) for x, y in pairs]
    for (x, y), found in zip(pairs, worst, strict=True):
        e.same(found.loss, np.log(found.acceptance((x, kept)) / found.acceptance((y, kept))) * (1 - 2 * found.swapped))
        e.needs(agree(found.loss, budgets[x] + budgets[y]))
    for sample in (s for size in range(3) for s in combinations_with_replacement(budgets, size)):
        accept = worst[1].acceptance(sample)
        for record, budget in budgets.items():
            more = worst[1].acceptance((*sample, record))
            e.sure(np.abs(np.log([accept / more, (1 - accept) / (1 - more)])).max() <= budget + 1e-12)
    return (
        f"largest loss for a replaced record: within the strata of budgets 0.3 and 0.8 {worst[0].loss:g} and "
        f"{worst[2].loss:g}, across them {worst[1].loss:g}; the mechanism that attains it is stratified-DP on all data "
        "sets of up to three records"
    )


@formula_7(
    "Section 7.2 weighted mean",
    strata.Strata.weighted_mean,
    strata.Strata.variance,
    strata.mean_variance,
    kind="enumeration",
    assumption="every stratum is sampled; the estimator, whose formula is lost, weights the strata's sample means by "
    "size",
    over="every number of strata, their sizes and values, and of records drawn from each",
    argument="strata are sampled independently, so means and variances add up over them",
)
def weighted_mean(e: Evidence) -> str:
    """the weighted mean is an unbiased estimate of the population mean for any stratified design"""
    e.proven(proofs.variance_of_a_mean())
    sizes, drawn = [len(g) for g in GROUPS], (1, 2, 3)
    all_samples = product(*(combinations(group, m) for group, m in zip(GROUPS, drawn, strict=True)))
    known = strata.strata_of(GROUPS)
    estimates = np.array([known.weighted_mean(list(map(np.mean, sample))) for sample in all_samples])
    e.same(known.variance(drawn), estimates.var())
    e.needs(agree(estimates.mean(), sum(map(sum, GROUPS)) / sum(sizes)))
    return (
        f"mean over all {estimates.size} samples {estimates.mean():.6f} = population mean; their variance "
        f"{estimates.var():.6f} = closed form"
    )


@formula_7(
    "Equation (6)",
    strata.Strata.neyman,
    strata.Strata.best_whole,
    strata.Strata.variance,
    strata.mean_variance,
    kind="enumeration",
    assumption="no share exceeds its stratum, as the source requires; " + routes.NOT_PRINTED,
    over="every number of strata, their sizes and positive variances, and every total; real and whole allocations",
    argument="(sum m_i)(sum w_i^2 s_i^2/m_i) - (sum w_i s_i)^2 sums the squares over pairs of strata; a sum of convex "
    "functions of whole numbers is least where each next record lowers it most",
)
def equation_6(e: Evidence) -> str:
    """the optimal allocation minimises the variance of the statistic at a given total; for the weighted mean that is
    Neyman's
    """
    e.proven(proofs.neyman_is_optimal() and proofs.whole_allocations_are_greedy())
    population, total = strata.strata_of(LARGER_GROUPS), 9
    sizes, variances = population.sizes, population.variances
    real = population.neyman(total)
    cauchy = ((sizes @ np.sqrt(variances)) ** 2 / total - sizes @ variances) / sizes.sum() ** 2
    e.same(population.variance(real), cauchy)
    whole = np.array([m for m in product(*(range(1, n + 1) for n in sizes)) if sum(m) == total])
    losses = ((sizes / sizes.sum()) ** 2 * variances * (1 / whole - 1 / sizes)).sum(axis=1)
    best = population.best_whole(total)
    e.same(population.variance(best), losses.min())
    e.needs(agree(real.sum(), total) and (real <= sizes).all() and (cauchy <= losses + 1e-12).all())
    return (
        f"Neyman's real shares {np.array2string(real, precision=3)} reach the Cauchy-Schwarz bound {cauchy:.4f}; of "
        f"{len(losses)} whole allocations of {total} the best, {tuple(map(int, best))}, has {losses.min():.4f}"
    )


def _closed_scale(drawn: tuple[int, ...], epsilon: float, family: allocation.Family = FAMILY) -> float:
    """Return the noise for a fixed allocation: it hides a record's share, and the stratum's sampling helps."""
    steps = zip(family.sizes, family.heights, drawn, strict=True)
    return max(n * v / (sum(family.sizes) * m) / subsampling.srs_budget(epsilon, m / n) for n, v, m in steps)


@formula_7(
    "Equation (7)",
    allocation.Outcomes.noise_scale,
    allocation.Outcomes.variances,
    allocation.Outcomes.private_variances,
    allocation.Outcomes.total_variances,
    noisy_statistics.noisy_statistic_losses,
    allocation.Family.variances,
    strata.Strata.variance,
    subsampling.srs_budget,
    otherwise="corrected",
    corrected="the supremum has to be over populations on which the variance without noise has a positive lower bound: "
    "where it is 0, as in constant strata, the ratio is infinite, and where it comes near 0 unbounded, at every "
    "budget; over the others (7) is the largest budget that keeps the privacy",
    assumption=routes.NOT_PRINTED.replace("proof establishes", "words describe") + "; Laplace noise",
    over="every statistic, allocation and set of populations on which its variance has a positive lower bound",
    argument="the ratio is 1 + 2 b^2/V, and the loss falls as the scale b grows",
)
def equation_7(e: Evidence) -> str:
    """the budget of the statistic under an allocation minimises the largest ratio of private to non-private variance
    among those that keep the privacy
    """
    e.proven(proofs.least_noise_is_best())
    epsilon = 1.0
    fixed = {m: allocation.outcomes(FAMILY, allocation.fixed(m)).noise_scale(epsilon) for m in ((2, 6), (3, 5), (5, 3))}
    e.same(list(fixed.values()), [_closed_scale(m, epsilon) for m in fixed], rel=1e-8)
    rule = allocation.neyman(FAMILY, TOTAL)
    neyman = allocation.outcomes(FAMILY, rule)
    needed = neyman.noise_scale(epsilon)
    e.sure(needed > fixed[3, 5])
    spreads = [(FAMILY.variances(population), rule(population)[0][1]) for population in FAMILY.populations]
    plain = np.array([strata.Strata(FAMILY.sizes, spread).variance(drawn) for spread, drawn in spreads])
    nodes, weights = np.polynomial.laguerre.laggauss(4)  # of the size of a Laplace variable
    e.same(neyman.variances(), plain)
    e.same(neyman.total_variances(epsilon), plain + weights @ (needed * nodes) ** 2)
    outputs = np.linspace(-2, 4, 601)
    densities = neyman.chances @ np.exp(-np.abs(neyman.values[:, None] - outputs) / abs(needed))
    ratios = np.abs(np.log(densities[neyman.pairs[:, 0]] / densities[neyman.pairs[:, 1]]))
    e.sure(0.98 < ratios.max() <= 1 + 1e-9)
    constant = int((plain == 0).sum())  # populations without sampling variance: the ratio is infinite
    e.needs(constant == 0)
    return (
        f"20 and 10 records of heights 1 and 3, 8 drawn, epsilon 1: noise of scale {needed:.4f} under Neyman's "
        f"allocation against {fixed[3, 5]:.4f} under the fixed (3, 5); the ratio of variances is infinite in "
        f"{constant} of {len(neyman.chances)} populations at any budget"
    )


@formula_7(
    "Equation (8)",
    allocation.Outcomes.noise_scale,
    allocation.Outcomes.variances,
    allocation.Outcomes.total_variances,
    allocation.Family.variances,
    strata.Strata.variance,
    subsampling.srs_budget,
    reach="instances",
    example=True,
    assumption="two strata of two-valued records, replacement within a stratum, the weighted mean with Laplace noise; "
    + routes.NOT_PRINTED.replace("proof establishes", "words describe"),
    over="two families of populations at a few budgets: the claim is only that optima can differ",
)
def equation_8(e: Evidence) -> str:
    """the best private allocation minimises the largest private variance over populations and may differ from the
    non-private optimum
    """
    allocations = [(m, TOTAL - m) for m in range(1, TOTAL)]
    fixed = [allocation.outcomes(FAMILY, allocation.fixed(m)) for m in allocations]
    neyman = allocation.outcomes(FAMILY, allocation.neyman(FAMILY, TOTAL))
    largest, spread = neyman.variances().max(), FAMILY.variances([n // 2 for n in FAMILY.sizes])
    sampling = np.array([table.variances().max() for table in fixed])
    e.same(sampling, [strata.Strata(FAMILY.sizes, spread).variance(m) for m in allocations])
    e.same(largest, sampling.min())
    told = []
    for epsilon in (0.1, 1.0, 3.0):
        scales = np.array([table.noise_scale(epsilon) for table in fixed])
        e.same(scales, [_closed_scale(m, epsilon) for m in allocations], rel=1e-8)
        total, other = sampling + 2 * scales**2, largest + 2 * neyman.noise_scale(epsilon) ** 2
        e.needs(total.min() < other)
        told.append(f"epsilon {epsilon:g}: {total.min():.4f} at {allocations[total.argmin()]}, {other:.4f}")
    splits = ((1, 2), (2, 1))
    rules = [*map(allocation.fixed, splits), allocation.lottery(*splits, 0.5)]
    tables = [allocation.outcomes(EQUAL_STRATA, rule) for rule in rules]
    *alone, drawn = (table.total_variances(0.3).max() for table in tables)
    e.same(alone, [_closed_variance(EQUAL_STRATA, m, 0.3) for m in splits], rel=1e-8)
    e.same(drawn, _variance_by_rows(tables[-1], 0.3), rel=1e-8)
    e.needs(drawn < min(alone))
    return (
        f"largest variance under the best fixed allocation and under Neyman's: {'; '.join(told)}; without privacy both "
        f"have the same largest variance; 3 records from two strata of 3 at epsilon 0.3: {min(alone):.4f} at best with "
        f"a fixed allocation, {drawn:.4f} if a secret fair lottery draws (1, 2) or (2, 1)"
    )


def _closed_variance(family: allocation.Family, drawn: tuple[int, ...], epsilon: float) -> float:
    """Return the largest private variance of a fixed allocation from the closed forms of sampling and noise."""
    spread = family.variances([size // 2 for size in family.sizes])
    return strata.Strata(family.sizes, spread).variance(drawn) + 2 * _closed_scale(drawn, epsilon, family) ** 2


def _variance_by_rows(table: allocation.Outcomes, epsilon: float) -> float:
    """Return the largest private variance with the noise found by bisection over densities on a fine grid."""
    grid = np.union1d(np.linspace(table.values.min(), table.values.max(), 501), table.values)
    apart = np.abs(grid - table.values[:, None])
    low, high = 1e-3, np.ptp(table.values) / epsilon
    while high - low > 1e-10 * high:
        scale = (low + high) / 2
        logs = np.log(table.chances @ np.exp(-apart / scale))
        kept = np.abs(logs[table.pairs[:, 0]] - logs[table.pairs[:, 1]]).max() <= epsilon
        low, high = (low, scale) if kept else (scale, high)
    squares = table.chances @ table.values**2 - (table.chances @ table.values) ** 2
    return float(squares.max() + 2 * high * high)


@formula_7(
    "Section 7.2 Neyman example",
    strata.Strata.neyman,
    data_dependent.size_count_loss,
    data_dependent.size_test_advantage,
    optimiser.largest_size_test_advantage,
    otherwise="corrected",
    corrected="the top stratum moves by m (s' - s), s its Neyman share; the printed last stratum, '10,000 or above' "
    "with sizes top-coded at 10,000, has variance 0 and share 0 before and after, so it must start lower; a move of D "
    "costs a noisy count D epsilon",
    assumption="strata, sample size and both allocations are not recoverable from the text; the population is a "
    "labelled stand-in",
    over="the printed strata: every population top-coded at 10,000 and every sample size; the count: every epsilon > 0",
    argument="a last stratum that starts at the top code holds one value only",
)
def neyman_example(e: Evidence) -> str:
    """one establishment that grows to 10,000 employees moves Neyman's top stratum by 19, which a noisy count of that
    stratum reveals
    """
    e.proven(sections_2_to_4.told_by_size())
    change, top_code = (int(routes.published()[key]) for key in ("top_stratum_change", "top_code"))
    tally = establishments.top_coded(establishments.simulate(tabulations.stand_in()), top_code)
    tops: dict[int, list[float]] = {}
    for top in (CLASSES[-1], top_code):
        boundaries = np.unique([*CLASSES, top])
        for table in (tally, establishments.with_smallest_grown(tally, top_code)):
            values, counts = table["employees"].to_numpy(), table["establishments"].to_numpy()
            rows = np.searchsorted(boundaries, values, side="right") - 1
            population = strata.strata_of_tallies(values, rows, counts)
            shares = population.neyman(1.0)
            e.same(shares, _shares_from_integers(values, rows, counts), abs=1e-9)
            tops.setdefault(top, []).append(shares[-1])
    share, move = tops[CLASSES[-1]][0], np.diff(tops[CLASSES[-1]])[0]
    e.sure(move > 0)
    e.needs(any(tops[top_code]))
    held = int(tally.loc[tally["employees"] >= CLASSES[-1], "establishments"].sum())
    loss, advantage = data_dependent.size_count_loss(change, 0.1), data_dependent.size_test_advantage(change, 0.1)
    e.same(loss, np.log(routes.laplace_tail(np.array(0.1)) / routes.laplace_tail(np.array(0.1 * (1 + change)))))
    point = np.eye(change + 1)[0]
    e.same(advantage, optimiser.largest_size_test_advantage(point, point[::-1], epsilon=0.1))
    return (
        f"simulated stand-in, 9 strata, top one 1000+: share {share:.4f}, up by {move:.3g} per record drawn, 19 at "
        f"{change / move:.0f} records (it is exhausted at {held / share:.0f}); with a top stratum of 10,000 and above "
        f"both shares are 0; a noisy count at epsilon 0.1 loses {loss:.2f} nats, best test {advantage:.3f}"
    )


@formula_7(
    "Theorem 7.2",
    rounding.random_rounding_loss,
    rounding.random_rounding_bound,
    rounding.random_rounding_loss_supremum,
    optimiser.largest_loss,
    rounding.event_terms,
    rounding.random_rounding_chain_bound,
    assumption="the mechanism is stratified deletion-DP, as the proof uses it; the printed constant is not recoverable",
    over="every number of strata, every epsilon_s > 0, 0 < r < 1, every population",
    argument="given the draw from the other strata the mechanism is epsilon_s-deletion-DP on the changed one, whose "
    "loss is at most the supremum there (Theorem 4.3)",
)
def theorem_7_2(e: Evidence) -> str:
    """under proportional allocation with randomised rounding each stratum has Theorem 4.3's bound at its own budget"""
    e.proven(sections_2_to_4.random_rounding() and sections_2_to_4.rounding_bounds())
    cases = ((3, 2, 0.4, (0.5, 1.0)), (2, 3, 0.5, (0.8, 0.2)), (4, 1, 0.3, (0.3, 0.3)))
    exact = np.array([rounding.random_rounding_loss(changed, rate, own) for changed, _, rate, (own, _) in cases])
    bounds = np.array([rounding.random_rounding_bound(rate, own) for _, _, rate, (own, _) in cases])
    for found, (changed, other, rate, (own, others)) in zip(exact, cases, strict=True):
        budgets = {("a", i): own for i in range(changed + 1)} | {("b", i): others for i in range(other)}
        rest = routes.rounded_sample([("b", i) for i in range(other)], rate)
        first, second = (routes.rounded_sample([("a", i) for i in range(n)], rate) for n in (changed, changed + 1))
        both = (laws.independent(sample, rest) for sample in (first, second))
        e.same(found, optimiser.largest_loss(*both, epsilon=budgets).loss)
    supremum = rounding.random_rounding_loss_supremum(0.4, 0.5)
    e.same(supremum, rounding.random_rounding_loss(10**6, 0.4, 0.5), rel=1e-5)
    e.needs((exact <= bounds).all() and exact[0] <= supremum)
    return (
        f"largest loss over all stratified-DP mechanisms on two strata = the single stratum's in {len(cases)} cases "
        f"({exact[0]:.6f} at r = 0.4, epsilon_1 = 0.5), below its supremum {supremum:.6f} over all sizes and the bound "
        f"{bounds[0]:.6f}"
    )


@formula_7(
    "Section 7.3 larger budgets",
    rounding.random_rounding_bound,
    rounding.random_rounding_budget,
    rounding.random_rounding_loss_supremum,
    rounding.random_rounding_chain_bound,
    assumption="the symbols of what is compared are lost; read as the mechanism's budget and the loss; the constant is "
    "that of Theorem 4.3",
    over="every loss, every factor F and every rate up to a positive one: r <= loss/(3 (e^(2 F loss) - 1))",
    argument="ln(1 + x) <= x for both logarithms",
)
def larger_budgets(e: Evidence) -> str:
    """at small sampling rates a private statistic may spend considerably more than the whole may lose"""
    e.proven(proofs.rounding_bound_by_rate() and sections_2_to_4.rounding_bounds())
    loss, told = 0.5, []
    for rate in (0.01, 0.05, 0.1, 0.3):
        gain = np.roots([2 * rate**2, 3 * rate, -np.expm1(loss)]).max()  # e^(2 epsilon) - 1
        budget, exact = np.log1p(gain) / 2, rounding.random_rounding_budget(loss, rate)
        e.same(rounding.random_rounding_bound(rate, budget), loss)
        e.same(rounding.random_rounding_loss_supremum(rate, exact), loss)
        told.append(f"{budget:.4f} (exact {exact:.4f}) at {rate:g}")
    few = loss / (3 * np.expm1(4 * loss))
    e.needs(rounding.random_rounding_bound(few, 2 * loss) <= loss)
    return f"for a loss of {loss:g} the bound allows {', '.join(told)}; twice the loss at every rate up to {few:.4f}"


@section_7(
    "Section 7.3 proportional for all statistics",
    strata.mean_variance,
    strata.Strata.variance,
    allocation.Outcomes.noise_scale,
    allocation.Outcomes.total_variances,
    subsampling.srs_budget,
    otherwise="corrected",
    corrected="for large strata and shares that need no rounding its sampling variance is never more than 1/w times "
    "the best, w the smallest stratum's share of the population, and comes up to that where only this stratum varies; "
    "when a stratum can be taken completely there is no bound",
    assumption="reasonably well is read as within a factor of 4 of the best allocation's variance",
    over="the weighted mean of any variable: every two strata, their shares and variances; every total, unrounded",
    argument="with more strata sum x_i^2/w_i <= (sum x_i)^2/min w term by term",
)
def proportional_for_all(e: Evidence) -> str:
    """proportional allocation performs reasonably well for all statistics"""
    sizes, varying = np.array([1000, 99_000]), (1.0, 0.0)
    apart = [strata.Strata(sizes, varying).variance(m) for m in ((1, 99), (99, 1))]  # both strata have to be sampled
    e.same(apart, [1e-4 * (1 - 1 / 1000), 1e-4 * (1 / 99 - 1 / 1000)])
    e.needs(claims.within("near", apart[0], apart[1]))
    epsilon, best = 0.41, []
    rules = [allocation.proportional(FAMILY.sizes, TOTAL / sum(FAMILY.sizes)), allocation.neyman(FAMILY, TOTAL)]
    tables = [allocation.outcomes(FAMILY, rule) for rule in rules]
    proportional, neyman = (table.total_variances(epsilon).max() for table in tables)
    e.same([proportional, neyman], [_variance_by_rows(table, epsilon) for table in tables], rel=1e-8)
    for m in range(1, TOTAL):
        table = allocation.outcomes(FAMILY, allocation.fixed((m, TOTAL - m)))
        e.same(table.noise_scale(epsilon), _closed_scale((m, TOTAL - m), epsilon), rel=1e-8)
        best.append(table.total_variances(epsilon).max())
    e.proven(proofs.proportional_against_the_best())
    return (
        f"20 and 10 records of heights 1 and 3, epsilon {epsilon}: largest private variance {proportional:.4f}, "
        f"Neyman's {neyman:.4f}, the best fixed allocation's {min(best):.4f}; 100 of 100,000 records of which the "
        f"1,000 of one stratum vary: {apart[0] / apart[1]:.0f} times the best sampling variance"
    )


def _shares_from_integers(values: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> list[float]:
    """Return Neyman's shares of one record from exact sums of whole numbers."""
    weights = []
    for stratum in range(int(rows.max()) + 1):
        held = [(int(v), int(c)) for v, c, row in zip(values, counts, rows, strict=True) if row == stratum]
        n, total, squares = (sum(c * v**power for v, c in held) for power in range(3))
        variance = Fraction(n * squares - total * total, n * max(n - 1, 1))
        weights.append(n * float(variance) ** 0.5)
    return [w / sum(weights) for w in weights]
