"""Section 7: stratified sampling."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np

from ldpnb.accuracy import allocation
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.designs import laws, strata
from ldpnb.papers.bun2022 import establishments, tabulations
from ldpnb.papers.bun2022 import routes as routes
from ldpnb.privacy import data_dependent, lemmas, optimiser, rounding, subsampling

GROUPS = ((1.0, 2.0, 4.0), (10.0, 14.0, 15.0, 21.0), (40.0, 60.0, 80.0, 100.0, 170.0))
LARGER_GROUPS = (
    (1.0, 2.0, 4.0, 3.0, 2.0, 9.0),
    (10.0, 14.0, 15.0, 21.0, 9.0, 30.0, 12.0),
    (40.0, 60.0, 80.0, 66.0, 70.0, 55.0, 90.0, 64.0, 58.0, 71.0),
)
FAMILY, TOTAL = allocation.Family((20, 10), (1.0, 3.0)), 8
CLASSES = (1, 5, 10, 20, 50, 100, 250, 500, 1000)


@claim(
    "bun2022",
    "Definition 7.1",
    says="stratified deletion privacy with a budget per stratum protects a record's value and stratum: moving it costs both strata's budgets",
    rests_on=("privacy.lemmas.chained_loss", "privacy.optimiser.largest_loss"),
)
def definition_7_1() -> Verdict:
    """Optimise over all stratified-DP mechanisms for a record that changes stratum, and check the worst one on every
    small data set.
    """
    budgets = {("a", 0): 0.3, ("a", 1): 0.3, ("b", 0): 0.8, ("b", 1): 0.8}
    pairs = ((("a", 0), ("a", 1)), (("a", 0), ("b", 1)), (("b", 0), ("b", 1)))
    closed = [lemmas.chained_loss(budgets[x], budgets[y]) for x, y in pairs]
    worst = [optimiser.largest_loss({(x, ("a", 0)): 1.0}, {(y, ("a", 0)): 1.0}, epsilon=budgets) for x, y in pairs]
    excess = -np.inf
    for size in range(3):
        for sample in combinations_with_replacement(budgets, size):
            accept = worst[1].acceptance(tuple(sample))
            for record, budget in budgets.items():
                more = worst[1].acceptance((*sample, record))
                ratios = np.abs(np.log([accept / more, (1 - accept) / (1 - more)]))
                excess = max(excess, float(ratios.max()) - budget)
    return Verdict(
        judge(agree([w.loss for w in worst], closed), sound=excess <= 1e-12),
        f"largest loss for a replaced record: within the strata of budgets 0.3 and 0.8 {worst[0].loss:g} and {worst[2].loss:g}, across them "
        f"{worst[1].loss:g}; the mechanism that attains it is stratified-DP on all data sets of up to three records",
        "certified",
        assumption="the right-hand side of the replacement form is not recoverable; the deletion form implies and attains epsilon_s + epsilon_s'",
    )


@claim(
    "bun2022",
    "Section 7.2 weighted mean",
    says="the weighted mean is an unbiased estimate of the population mean for any stratified design",
    rests_on=("designs.strata.weighted_mean", "designs.strata.weighted_mean_variance"),
)
def weighted_mean() -> Verdict:
    """Enumerate every stratified sample of twelve records."""
    sizes, drawn = [len(g) for g in GROUPS], (1, 2, 3)
    population = strata.strata_of(GROUPS)
    estimates = np.array(
        [
            strata.weighted_mean(sizes, [np.mean(part) for part in sample])
            for sample in product(*(combinations(group, m) for group, m in zip(GROUPS, drawn, strict=True)))
        ]
    )
    mean = sum(map(sum, GROUPS)) / sum(sizes)
    closed = strata.weighted_mean_variance(sizes, population.variances, drawn)
    return Verdict(
        judge(agree(estimates.mean(), mean), sound=agree(closed, estimates.var())),
        f"mean over all {estimates.size} samples {estimates.mean():.6f} = population mean; their variance {estimates.var():.6f} = closed form",
        "enumeration",
        assumption="every stratum is sampled",
    )


@claim(
    "bun2022",
    "Equation (6)",
    says="the optimal allocation minimises the variance of the statistic at a given total; for the weighted mean that is Neyman's",
    rests_on=(
        "designs.strata.neyman_shares",
        "designs.strata.best_whole_allocation",
        "designs.strata.weighted_mean_variance",
    ),
)
def equation_6() -> Verdict:
    """Compare with every whole allocation, and with the bound that Cauchy and Schwarz set to every real one."""
    population, total = strata.strata_of(LARGER_GROUPS), 9
    sizes, variances = population.sizes, population.variances
    real = strata.neyman_shares(sizes, variances, total)
    least = strata.weighted_mean_variance(sizes, variances, real)
    deviations = sizes * np.sqrt(variances)
    cauchy = (deviations.sum() ** 2 / total - sizes @ variances) / sizes.sum() ** 2
    all_whole = [m for m in product(*(range(1, n + 1) for n in sizes)) if sum(m) == total]
    losses = {
        m: float(np.sum((sizes / sizes.sum()) ** 2 * variances * (1 / np.array(m) - 1 / sizes))) for m in all_whole
    }
    best = strata.best_whole_allocation(sizes, variances, total)
    sound = agree(least, cauchy) and agree(strata.weighted_mean_variance(sizes, variances, best), min(losses.values()))
    holds = agree(real.sum(), total) and all(least <= loss + 1e-12 for loss in losses.values())
    return Verdict(
        judge(holds and bool((real <= sizes).all()), sound=sound),
        f"Neyman's real shares {np.array2string(real, precision=3)} reach the Cauchy-Schwarz bound {cauchy:.4f}; of {len(losses)} whole "
        f"allocations of {total} the best, {tuple(map(int, best))}, has {min(losses.values()):.4f}",
        "enumeration",
        assumption="no share exceeds its stratum, as the source requires",
    )


def _closed_scale(drawn: tuple[int, ...], epsilon: float) -> float:
    """Return the noise for a fixed allocation: one record of a stratum moves the mean by its share, hidden by the
    stratum's sampling.
    """
    count = sum(FAMILY.sizes)
    steps = zip(FAMILY.sizes, FAMILY.heights, drawn, strict=True)
    return max(n * v / (count * m) / subsampling.srs_budget(epsilon, m / n) for n, v, m in steps)


@claim(
    "bun2022",
    "Equation (7)",
    says="the budget of the statistic under an allocation minimises the largest ratio of private to non-private variance, keeping the privacy",
    rests_on=("accuracy.allocation.Outcomes.noise_scale", "privacy.noisy_statistics.noisy_statistic_losses"),
)
def equation_7() -> Verdict:
    """Find the least noise exactly, in closed form for fixed allocations and on a grid of outputs for Neyman's."""
    epsilon = 1.0
    fixed = {m: allocation.outcomes(FAMILY, allocation.fixed(m)) for m in ((2, 6), (3, 5), (5, 3))}
    scales = [table.noise_scale(epsilon) for table in fixed.values()]
    neyman = allocation.outcomes(FAMILY, allocation.neyman(FAMILY, TOTAL))
    needed = neyman.noise_scale(epsilon)
    outputs = np.linspace(-2, 4, 601)
    densities = neyman.chances @ np.exp(-np.abs(neyman.values[:, None] - outputs) / abs(needed))
    ratios = np.abs(np.log(densities[neyman.pairs[:, 0]] / densities[neyman.pairs[:, 1]]))
    sound = agree(scales, [_closed_scale(m, epsilon) for m in fixed], rel=1e-8) and bool(
        0.98 < ratios.max() <= 1 + 1e-9
    )
    ratio = np.divide(
        neyman.total_variances(epsilon),
        neyman.variances(),
        out=np.full(len(neyman.chances), np.inf),
        where=neyman.variances() > 1e-12,
    )
    return Verdict(
        judge(bool(np.isfinite(ratio).all()), sound=sound and needed > scales[1], otherwise="corrected"),
        f"20 and 10 records of heights 1 and 3, 8 drawn, epsilon 1: noise of scale {needed:.4f} under Neyman's allocation against {scales[1]:.4f} "
        f"under the fixed (3, 5); the ratio of variances is infinite in {int(np.isinf(ratio).sum())} of {ratio.size} populations at any budget",
        "certified",
        corrected="the largest budget that keeps the privacy; the ratio itself is infinite on populations whose strata are constant, where the "
        "statistic has no variance without noise, and cannot tell budgets apart",
    )


@claim(
    "bun2022",
    "Equation (8)",
    says="the best private allocation minimises the largest private variance over populations and may differ from the non-private optimum",
    rests_on=("accuracy.allocation.Outcomes.noise_scale", "accuracy.allocation.Outcomes.variances"),
)
def equation_8() -> Verdict:
    """Solve it over all fixed allocations of a small family, and compare with Neyman's and with proportional
    allocation.
    """
    rows = {}
    fixed = {(m, TOTAL - m): allocation.outcomes(FAMILY, allocation.fixed((m, TOTAL - m))) for m in range(1, TOTAL)}
    neyman = allocation.outcomes(FAMILY, allocation.neyman(FAMILY, TOTAL))
    spread = FAMILY.variances([n // 2 for n in FAMILY.sizes])
    closed = [strata.weighted_mean_variance(FAMILY.sizes, spread, m) for m in fixed]
    sound = agree([table.variances().max() for table in fixed.values()], closed)
    for epsilon in (0.1, 1.0, 3.0):
        scales = {m: table.noise_scale(epsilon) for m, table in fixed.items()}
        exact = {m: table.variances().max() + 2 * scales[m] ** 2 for m, table in fixed.items()}
        sound = sound and agree(list(scales.values()), [_closed_scale(m, epsilon) for m in fixed], rel=1e-8)
        best = min(exact, key=lambda m: exact[m])
        rows[epsilon] = best, exact[best], neyman.variances().max() + 2 * neyman.noise_scale(epsilon) ** 2
    holds = all(least < other for _, least, other in rows.values())
    return Verdict(
        judge(holds, sound=sound and agree(neyman.variances().max(), min(closed))),
        "largest variance under the best fixed allocation and under Neyman's: "
        + "; ".join(f"epsilon {e:g}: {least:.4f} at {m}, {other:.4f}" for e, (m, least, other) in rows.items())
        + "; without privacy both have the same largest variance",
        "certified",
        assumption="two strata of two-valued records, replacement within a stratum, the weighted mean with Laplace noise",
    )


@claim(
    "bun2022",
    "Section 7.2 Neyman example",
    says="one establishment that grows to 10,000 employees moves Neyman's top stratum by 19, which a noisy count of that stratum reveals",
    rests_on=(
        "designs.strata.neyman_shares",
        "privacy.data_dependent.size_count_loss",
        "privacy.data_dependent.size_test_advantage",
    ),
)
def neyman_example() -> Verdict:
    """Grow one establishment of the simulated population; recompute the shares from exact integer moments."""
    change, top_code = (int(routes.published()[key]) for key in ("top_stratum_change", "top_code"))
    tally = establishments.top_coded(establishments.simulate(tabulations.stand_in()), top_code)
    grown = establishments.with_smallest_grown(tally, top_code)
    shares, exact = {}, {}
    for top in (1000, top_code):
        for name, table in (("before", tally), ("after", grown)):
            rows = (
                np.searchsorted([*CLASSES, top] if top > CLASSES[-1] else CLASSES, table["employees"], side="right") - 1
            )
            values, counts = table["employees"].to_numpy(), table["establishments"].to_numpy()
            population = strata.strata_of_tallies(values, rows, counts)
            shares[top, name] = strata.neyman_shares(population.sizes, population.variances, 1.0)
            exact[top, name] = _shares_from_integers(values, rows, counts)
    sound = all(agree(shares[key], exact[key], abs=1e-9) for key in shares)
    held = int(tally.loc[tally["employees"] >= CLASSES[-1], "establishments"].sum())
    move = shares[1000, "after"][-1] - shares[1000, "before"][-1]
    advantage = data_dependent.size_test_advantage(change, 0.1)
    point = np.zeros(change + 1)
    point[0] = 1
    program = optimiser.largest_size_test_advantage(point, point[::-1], epsilon=0.1)
    count_ratio = np.log(routes.laplace_tail(np.array(0.1)) / routes.laplace_tail(np.array(0.1 * (1 + change))))
    sound = sound and agree(advantage, program) and agree(data_dependent.size_count_loss(change, 0.1), count_ratio)
    impossible = bool(shares[top_code, "before"][-1] == 0 == shares[top_code, "after"][-1])
    return Verdict(
        judge(not impossible and move > 0, sound=sound and move > 0, otherwise="corrected"),
        f"simulated stand-in, 9 strata, top one 1000+: share {shares[1000, 'before'][-1]:.4f}, up by {move:.3g} per record drawn, 19 at "
        f"{change / move:.0f} records (it is exhausted at {held / shares[1000, 'before'][-1]:.0f}); with a top stratum of 10,000 and above "
        f"both shares are 0; a noisy count at epsilon 0.1 loses {data_dependent.size_count_loss(change, 0.1):.2f} nats, best test {advantage:.3f}",
        "certified",
        corrected="the top stratum moves by m (s' - s), s its Neyman share; the printed last stratum, '10,000 or above' with sizes top-coded at "
        "10,000, has variance 0 and share 0 before and after, so it must start lower; a move of D costs a noisy count D epsilon",
        assumption="strata, sample size and both allocations are not recoverable from the text; the population is a labelled stand-in",
    )


@claim(
    "bun2022",
    "Theorem 7.2",
    says="proportional allocation with randomised rounding amplifies each stratum as Theorem 4.3 does a single one",
    rests_on=("privacy.rounding.random_rounding_loss", "privacy.rounding.random_rounding_bound"),
)
def theorem_7_2() -> Verdict:
    """Optimise over all stratified-DP mechanisms on two strata, one of which loses a record."""
    exact, program, bounds = [], [], []
    cases = ((3, 2, 0.4, (0.5, 1.0)), (2, 3, 0.5, (0.8, 0.2)), (4, 1, 0.3, (0.3, 0.3)))
    for changed, other, rate, (own, others) in cases:
        budgets = {("a", i): own for i in range(changed + 1)} | {("b", i): others for i in range(other)}
        samples = [laws.independent(_rounded("a", n, rate), _rounded("b", other, rate)) for n in (changed, changed + 1)]
        program.append(optimiser.largest_loss(*samples, epsilon=budgets).loss)
        exact.append(rounding.random_rounding_loss(changed, rate, own))
        bounds.append(rounding.random_rounding_bound(rate, own))
    whole = np.log1p(0.8 * np.expm1(1.0)) + np.log1p(0.4 * np.expm1(1.0))
    sound = agree(exact, program) and agree(bounds[0], whole)
    return Verdict(
        judge(bool((np.array(exact) <= bounds).all()), sound=sound),
        f"largest loss over all stratified-DP mechanisms on two strata = the single stratum's in {len(cases)} cases ({exact[0]:.6f} at r = 0.4, "
        f"epsilon_1 = 0.5), below the bound {bounds[0]:.6f}",
        "certified",
        assumption="the mechanism is stratified deletion-DP, as the proof uses it; the printed constant is not recoverable",
    )


def _rounded(stratum: str, population: int, rate: float) -> laws.Law:
    """Return the law of a sample of one stratum whose size is rounded at random."""
    whole = int(np.floor(rate * population))
    records, part = [(stratum, i) for i in range(population)], rate * population - whole
    parts = [(1 - part, laws.subsets(records, whole))]
    return laws.mixture(parts if part < 1e-12 else [*parts, (part, laws.subsets(records, whole + 1))])


def _shares_from_integers(values: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> list[float]:
    """Return Neyman's shares of one record from exact sums of whole numbers."""
    weights = []
    for stratum in range(int(rows.max()) + 1):
        x = [int(v) for v in values[rows == stratum]]
        c = [int(v) for v in counts[rows == stratum]]
        n, total = sum(c), sum(a * b for a, b in zip(x, c, strict=True))
        squares = sum(a * a * b for a, b in zip(x, c, strict=True))
        variance = Fraction(n * squares - total * total, n * max(n - 1, 1))
        weights.append(n * float(variance) ** 0.5)
    return [w / sum(weights) for w in weights]
