"""Second routes to formulas under the claims of Bun et al. (2022), Section 3.

Losses of samples of random size are compared with those of the worst mechanism on the samples of a
few records. For many records, a smaller linear program stands for it. Bounds are written out.
"""

from functools import partial

import numpy as np
from compared import Pairs, compared

from ldpnb.designs import laws
from ldpnb.papers.bun2022.formulas import random_size, sizes
from ldpnb.papers.bun2022.formulas.sizes import SizeLaw
from ldpnb.papers.bun2022.section_3 import EVEN_ODDS, random_laws
from ldpnb.papers.bun2022.shared import optimum
from ldpnb.privacy import optimiser


def loss_by_linear_program(law: SizeLaw, epsilon: float) -> float:
    """Return the largest loss over the chances of an event, given the unchanged records in the
    sample.
    """
    records = law.population
    unchanged = np.arange(records)
    without = law.probabilities[:-1] * (1 - unchanged / records)
    with_changed = law.probabilities[1:] * (unchanged + 1) / records
    first = without + np.exp(epsilon) * with_changed
    second = without + np.exp(-epsilon) * with_changed

    # The chances of samples that differ in one record may differ by epsilon.
    steps = np.abs(unchanged[:, None] - unchanged)
    budgets = np.where(steps <= 1, epsilon * steps, np.inf)
    loss, _ = optimiser.largest_log_ratio(first / first.sum(), second / second.sum(), budgets)
    return float(loss + np.log(first.sum() / second.sum()))


@compared
def test_a_sample_of_random_size_loses_what_the_worst_mechanism_loses() -> Pairs:
    even_odds = [(law, 2.0) for law in EVEN_ODDS]
    for law, epsilon in (*random_laws(), *even_odds):
        design = partial(laws.subsets_of_random_size, size_law=law.probabilities)
        most = optimum(design, law.population, epsilon)
        yield random_size.random_size_loss(law, epsilon), most


@compared
def test_a_sample_of_random_size_loses_what_a_linear_program_allows() -> Pairs:
    for law, epsilon in (
        (sizes.truncated_gaussian_size(40, 8.0, 10.0), 0.5),
        (sizes.size_law({2: 0.999, 12: 0.001}), 1.5),
    ):
        most = loss_by_linear_program(law, epsilon)
        yield random_size.random_size_loss(law, epsilon), most


@compared
def test_bounds_depend_on_the_rate_reweighted_size_by_size() -> Pairs:
    for population, mean, deviation, epsilon in (
        (3, 1.0, 1.0, 0.1),
        (12, 4.0, 3.0, 0.5),
        (40, 8.0, 10.0, 0.5),
        (200, 60.0, 20.0, 1.5),
    ):
        size = np.arange(population + 1)
        chances = np.exp(-(((size - mean) / deviation) ** 2) / 2)
        chances /= chances.sum()
        law = sizes.truncated_gaussian_size(population, mean, deviation)
        yield law.probabilities, chances

        weights = chances * np.exp(epsilon * size)
        rate = weights @ size / (population * weights.sum())
        yield random_size.tilted_rate(law, epsilon), rate
        yield random_size.tilted_log_odds(law, epsilon), np.log(rate / (1 - rate))

        above = np.log1p(np.expm1(2 * epsilon) * rate)
        yield random_size.random_size_upper_bound(law, epsilon), above
        below = -np.log1p(np.expm1(-epsilon) * rate)
        yield random_size.random_size_lower_bound(law, epsilon), below
        signs = -np.log1p(np.expm1(-2 * epsilon) * rate)
        yield random_size.random_size_lower_bound_pm1(law, epsilon), signs
