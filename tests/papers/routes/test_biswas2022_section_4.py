"""Second routes to formulas under the claims of Biswas, Cormode and Maple, Section 4.

A mean deviation is compared with an integral, and a projection with the level that a search finds.
"""

import math

import numpy as np
from compared import Pairs, compared
from scipy import optimize, special

from ldpnb.estimators import frequency
from ldpnb.papers.biswas2022.formulas import distances


@compared
def test_the_expected_total_variation_is_that_over_all_outcomes() -> Pairs:
    points, weights = np.polynomial.legendre.leggauss(40)
    beyond = special.erfc(5 * (points + 1) / math.sqrt(2))
    mean_deviation = 5 * weights @ beyond  # of a standard normal variable

    for users, deviations in ((5, [0.3, 0.5]), (20, [3.0, 0.5, 7.0]), (10**6, [900.0, 40.0])):
        total = np.sum(deviations) * mean_deviation / (2 * users)
        yield distances.expected_total_variation(deviations, users=users), total


@compared
def test_the_projection_is_the_nearest_distribution() -> Pairs:
    """The level above which its entries add up to 1 is found by a search."""
    vector = np.random.default_rng(2022).normal(0.01, 0.1, 101)

    def excess(level: float) -> float:
        return float(np.maximum(vector - level, 0).sum() - 1)

    level = optimize.brentq(excess, -2, vector.max(), xtol=1e-15)
    yield frequency.project_simplex(vector), np.maximum(vector - level, 0)
