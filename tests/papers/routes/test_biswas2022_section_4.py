"""Second routes to formulas under the claims of biswas2022, Section 4."""

import math

import numpy as np
from compared import Pairs, compared
from scipy import optimize, special

from ldpnb.estimators import frequency
from ldpnb.papers.biswas2022.formulas import distances


@compared
def test_the_expected_total_variation_is_that_over_all_outcomes() -> Pairs:
    points, weights = np.polynomial.legendre.leggauss(40)
    mean_deviation = (
        5 * weights @ special.erfc(5 * (points + 1) / math.sqrt(2))
    )  # of a standard normal variable
    for users, deviations in ((5, [0.3, 0.5]), (20, [3.0, 0.5, 7.0]), (10**6, [900.0, 40.0])):
        total = np.sum(deviations) * mean_deviation / (2 * users)
        yield distances.expected_total_variation(deviations, users=users), total


@compared
def test_the_projection_is_the_nearest_distribution() -> Pairs:
    """Bisect the level above which entries add up to 1."""
    vector = np.random.default_rng(2022).normal(0.01, 0.1, 101)
    level = optimize.brentq(
        lambda x: np.maximum(vector - x, 0).sum() - 1, -2, vector.max(), xtol=1e-15
    )
    yield frequency.project_simplex(vector), np.maximum(vector - level, 0)
