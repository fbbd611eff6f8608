"""Second routes to formulas under the claims of Bun et al. (2022), Section 7.

Allocations and variances are compared with those of the records themselves, laws of estimates with
hypergeometric laws, and the least noise with the one that a search on a fine grid finds.
"""

import numpy as np
from compared import Pairs, compared
from scipy import optimize, stats

from ldpnb.arithmetic import Floats
from ldpnb.designs import strata
from ldpnb.papers.bun2022.formulas import allocation
from ldpnb.papers.bun2022.section_7 import FAMILY, GROUPS, TOTAL


def searched_scale(table: allocation.Outcomes, epsilon: float) -> float:
    """Return the least noise: where the largest ratio of two densities, on a fine grid of
    outputs, is ``e^epsilon``.
    """
    span = np.ptp(table.values)
    grid = np.linspace(table.values.min(), table.values.max(), 201)
    outputs = np.union1d(grid, table.values)
    distances = np.abs(outputs - table.values[:, None])
    one, other = table.pairs.T

    def excess(scale: float) -> float:
        logs = np.log(table.chances @ np.exp(-distances / scale))
        return float(np.abs(logs[one] - logs[other]).max() - epsilon)

    return float(optimize.brentq(excess, span / 600, span / epsilon, rtol=1e-10))


def sampling_variances(table: allocation.Outcomes) -> Floats:
    """Return the variances of the estimate over all samples, one for each population."""
    means = table.chances @ table.values
    return np.asarray(table.chances @ table.values**2 - means**2)


@compared
def test_private_variances_are_those_of_the_least_noise_by_search() -> Pairs:
    neyman = allocation.neyman(FAMILY, TOTAL)
    proportional = allocation.proportional(FAMILY.sizes, 8 / 30)
    for rule, epsilon in (
        (neyman, 1.0),
        (neyman, 3.0),
        (allocation.fixed((3, 5)), 1.0),
        (proportional, 0.41),
    ):
        table = allocation.outcomes(FAMILY, rule)
        noise = 2 * searched_scale(table, epsilon) ** 2
        yield table.total_variances(epsilon), sampling_variances(table) + noise, 1e-8


@compared
def test_neyman_allocates_by_size_times_deviation() -> Pairs:
    weights = np.array([len(group) * np.std(group, ddof=1) for group in GROUPS])
    for total in (3, 9, 20, 1000):
        yield strata.strata_of(GROUPS).neyman(total), total * weights / weights.sum()


@compared
def test_variances_within_strata_are_those_of_their_records() -> Pairs:
    for sizes, heights in (((3, 2), (3.0, 1.0)), ((5, 4), (2.0, 7.0)), ((20, 10), (1.0, 3.0))):
        family = allocation.Family(sizes, heights)
        for population in ((1, 2), (3, 0), (2, 1)):
            variances = []
            for size, height, holders in zip(sizes, heights, population, strict=True):
                records = [height] * holders + [0.0] * (size - holders)
                variances.append(np.var(records, ddof=1))
            yield family.variances(population), variances


@compared
def test_the_law_of_the_weighted_mean_is_that_over_all_samples() -> Pairs:
    for sizes, heights, drawn in (
        ((6, 5), (3.0, 1.0), (1, 1)),
        ((7, 8), (2.0, 7.0), (2, 3)),
        ((20, 10), (1.0, 3.0), (5, 3)),
    ):
        family = allocation.Family(sizes, heights)
        factors = np.multiply(sizes, heights) / np.multiply(drawn, sum(sizes))
        for population in ((1, 2), (3, 1)):
            counts = stats.hypergeom(np.array(sizes), np.array(population), np.array(drawn))
            mean = factors @ counts.mean()
            variance = factors**2 @ counts.var()

            law = family.estimate_law(population, allocation.fixed(drawn))
            values = np.array(list(law.keys()))
            chances = np.array(list(law.values()))
            yield chances.sum(), 1.0
            yield chances @ values, mean
            yield chances @ values**2 - mean**2, variance, 1e-8


@compared
def test_noise_adds_its_variance_in_every_population() -> Pairs:
    table = allocation.outcomes(FAMILY, allocation.fixed((3, 5)))
    for scale in (0.1, 1.0, 5.0):
        noise = stats.laplace(scale=scale).var()
        yield table.private_variances(scale), sampling_variances(table) + noise
