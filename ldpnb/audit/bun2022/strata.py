"""Section 7: stratified sampling."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np

from ldpnb.amplification import data_dependent
from ldpnb.audit import Verdict, agree, claim, judge
from ldpnb.audit.bun2022 import enumeration as routes
from ldpnb.designs import strata
from ldpnb.populations import establishments, tabulations
from ldpnb.privacy import optimiser

GROUPS = ((1.0, 2.0, 4.0), (10.0, 14.0, 15.0, 21.0), (40.0, 60.0, 80.0, 100.0, 170.0))
LARGER_GROUPS = (
    (1.0, 2.0, 4.0, 3.0, 2.0, 9.0),
    (10.0, 14.0, 15.0, 21.0, 9.0, 30.0, 12.0),
    (40.0, 60.0, 80.0, 66.0, 70.0, 55.0, 90.0, 64.0, 58.0, 71.0),
)
CLASSES = (1, 5, 10, 20, 50, 100, 250, 500, 1000)


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


@claim(
    "bun2022",
    "Section 7.2 Neyman example",
    says="one establishment that grows to 10,000 employees moves Neyman's top stratum by 19, which a noisy count of that stratum reveals",
    rests_on=(
        "designs.strata.neyman_shares",
        "amplification.data_dependent.size_count_loss",
        "amplification.data_dependent.size_test_advantage",
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
