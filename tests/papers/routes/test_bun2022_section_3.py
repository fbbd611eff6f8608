"""Second routes to formulas under the claims of bun2022, Section 3."""

from functools import partial

import numpy as np
from compared import Pairs, compared

from ldpnb.designs import laws
from ldpnb.papers.bun2022.formulas import random_size, sizes
from ldpnb.papers.bun2022.formulas.sizes import SizeLaw
from ldpnb.papers.bun2022.section_3 import EVEN_ODDS, random_laws
from ldpnb.papers.bun2022.shared import optimum
from ldpnb.privacy import optimiser


def reduced_program(law: SizeLaw, epsilon: float) -> float:
    """Return the largest loss by a linear program over an event's chances given the unchanged
    records in the sample.
    """
    n, chances = law.population, law.probabilities
    m = np.arange(n)
    alone, joined = chances[:-1] * (1 - m / n), chances[1:] * (m + 1) / n
    first, second = alone + np.exp(epsilon) * joined, alone + np.exp(-epsilon) * joined
    apart = np.abs(m[:, None] - m)
    near = np.where(apart <= 1, epsilon * apart, np.inf)
    loss, _ = optimiser.largest_log_ratio(first / first.sum(), second / second.sum(), near)
    return float(loss + np.log(first.sum() / second.sum()))


@compared
def test_a_sample_of_random_size_loses_what_the_worst_mechanism_loses() -> Pairs:
    for law, epsilon in (*random_laws(), *((law, 2.0) for law in EVEN_ODDS)):
        drawn = partial(laws.subsets_of_random_size, size_law=law.probabilities)
        yield random_size.random_size_loss(law, epsilon), optimum(drawn, law.population, epsilon)
    for case in (
        (sizes.truncated_gaussian_size(40, 8.0, 10.0), 0.5),
        (sizes.size_law({2: 0.999, 12: 0.001}), 1.5),
    ):
        yield random_size.random_size_loss(*case), reduced_program(*case)


@compared
def test_bounds_depend_on_the_rate_reweighted_size_by_size() -> Pairs:
    for population, mean, deviation, epsilon in (
        (3, 1.0, 1.0, 0.1),
        (12, 4.0, 3.0, 0.5),
        (40, 8.0, 10.0, 0.5),
        (200, 60.0, 20.0, 1.5),
    ):
        m = np.arange(population + 1)
        chances = np.exp(-(((m - mean) / deviation) ** 2) / 2)
        chances /= chances.sum()
        law = sizes.truncated_gaussian_size(population, mean, deviation)
        yield law.probabilities, chances

        weights = chances * np.exp(epsilon * m)
        rate = weights @ m / (population * weights.sum())
        yield random_size.tilted_rate(law, epsilon), rate
        yield random_size.tilted_log_odds(law, epsilon), np.log(rate / (1 - rate))
        above = np.log1p(np.expm1(2 * epsilon) * rate)
        yield random_size.random_size_upper_bound(law, epsilon), above
        below = -np.log1p(np.expm1(-epsilon) * rate)
        yield random_size.random_size_lower_bound(law, epsilon), below
        signs = -np.log1p(np.expm1(-2 * epsilon) * rate)
        yield random_size.random_size_lower_bound_pm1(law, epsilon), signs
