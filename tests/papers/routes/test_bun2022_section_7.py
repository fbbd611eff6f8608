"""Second routes to formulas under the claims of bun2022, Section 7."""

import numpy as np
from compared import Pairs, compared
from scipy import optimize, stats

from ldpnb.designs import strata
from ldpnb.papers.bun2022.formulas import allocation
from ldpnb.papers.bun2022.section_7 import FAMILY, GROUPS, TOTAL


def searched_scale(table: allocation.Outcomes, epsilon: float) -> float:
    """Return the least noise: where the largest ratio of two densities, on a fine grid of
    outputs, is ``e^epsilon``.
    """
    grid = np.union1d(np.linspace(table.values.min(), table.values.max(), 201), table.values)
    apart = np.abs(grid - table.values[:, None])

    def excess(scale: float) -> float:
        logs = np.log(table.chances @ np.exp(-apart / scale))
        return float(np.abs(logs[table.pairs[:, 0]] - logs[table.pairs[:, 1]]).max() - epsilon)

    return float(
        optimize.brentq(
            excess, np.ptp(table.values) / 600, np.ptp(table.values) / epsilon, rtol=1e-10
        )
    )


@compared
def test_private_variances_are_those_of_the_least_noise_by_search() -> Pairs:
    neyman, proportional = (
        allocation.neyman(FAMILY, TOTAL),
        allocation.proportional(FAMILY.sizes, 8 / 30),
    )
    for rule, epsilon in (
        (neyman, 1.0),
        (neyman, 3.0),
        (allocation.fixed((3, 5)), 1.0),
        (proportional, 0.41),
    ):
        table = allocation.outcomes(FAMILY, rule)
        scale, squares = searched_scale(table, epsilon), table.chances @ table.values**2
        variances = squares - (table.chances @ table.values) ** 2
        yield table.total_variances(epsilon), variances + 2 * scale**2, 1e-8


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
            records = [
                [height] * held + [0.0] * (size - held)
                for size, height, held in zip(sizes, heights, population, strict=True)
            ]
            yield family.variances(population), [np.var(stratum, ddof=1) for stratum in records]


@compared
def test_the_law_of_the_weighted_mean_is_that_over_all_samples() -> Pairs:
    for sizes, heights, drawn in (
        ((6, 5), (3.0, 1.0), (1, 1)),
        ((7, 8), (2.0, 7.0), (2, 3)),
        ((20, 10), (1.0, 3.0), (5, 3)),
    ):
        family = allocation.Family(sizes, heights)
        for population in ((1, 2), (3, 1)):
            law = family.estimate_law(population, allocation.fixed(drawn))
            chances, values = np.array(list(law.values())), np.array(list(law))
            counts = [
                stats.hypergeom(size, held, m)
                for size, held, m in zip(sizes, population, drawn, strict=True)
            ]
            scales = np.multiply(sizes, heights) / np.multiply(drawn, sum(sizes))
            means = scales @ [count.mean() for count in counts]
            spread = scales**2 @ [count.var() for count in counts]
            yield [chances.sum(), chances @ values], [1.0, means]
            yield chances @ values**2 - means**2, spread, 1e-8


@compared
def test_noise_adds_its_variance_in_every_population() -> Pairs:
    table = allocation.outcomes(FAMILY, allocation.fixed((3, 5)))
    sampling = table.chances @ table.values**2 - (table.chances @ table.values) ** 2
    for scale in (0.1, 1.0, 5.0):
        yield table.private_variances(scale), sampling + stats.laplace(scale=scale).var()
