"""Second routes to formulas under the claims of bun2022, Section 7."""

import numpy as np
from compared import Pairs, compared
from scipy import optimize

from ldpnb.designs import strata
from ldpnb.papers.bun2022.formulas import allocation
from ldpnb.papers.bun2022.section_7 import FAMILY, GROUPS, TOTAL


def searched_scale(table: allocation.Outcomes, epsilon: float) -> float:
    """Return the least noise: where the largest ratio of two densities, on a fine grid of outputs, is ``e^epsilon``."""
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
    yield strata.strata_of(GROUPS).neyman(9), 9 * weights / weights.sum()
