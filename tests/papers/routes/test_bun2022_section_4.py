"""Second routes to formulas under the claims of Bun et al. (2022), Section 4.

Losses are compared with those of the worst mechanism, found by optimisation over all mechanisms on
the samples of a few records. Bounds are written out.
"""

from functools import partial

import numpy as np
from compared import Pairs, compared
from scipy.optimize import linprog
from scipy.stats import laplace

from ldpnb.papers.bun2022.formulas import data_dependent, rounding
from ldpnb.papers.bun2022.section_4 import ROUNDED, rounded_sample
from ldpnb.papers.bun2022.shared import optimum
from ldpnb.privacy import optimiser


@compared
def test_a_noisy_count_loses_what_the_worst_mechanism_loses() -> Pairs:
    for first, second, epsilon in ((3, 2, 0.1), (5, 9, 0.5), (2, 14, 1.2)):
        samples = [{(0,) * size: 1.0} for size in (first, second)]
        worst = optimiser.largest_loss(*samples, epsilon=epsilon)
        yield data_dependent.size_count_loss(abs(second - first), epsilon), worst.loss


@compared
def test_the_best_test_of_the_size_is_that_of_a_linear_program() -> Pairs:
    for gap in (1, 2, 4, 7):
        always = np.eye(gap + 1)  # a row for each size that is certain
        most = optimiser.largest_size_test_advantage(always[gap], always[0], epsilon=0.5)
        yield data_dependent.size_test_advantage(gap, 0.5), most, 1e-8


@compared
def test_the_bound_on_the_advantage_is_that_of_a_linear_program() -> Pairs:
    for epsilon in (0.1, 0.7, 2.0):
        most = optimiser.largest_size_test_advantage([0, 1], [1, 0], epsilon=epsilon)
        yield data_dependent.advantage_bound(epsilon), most, 1e-8


@compared
def test_a_size_rounded_at_random_loses_what_the_worst_mechanism_loses() -> Pairs:
    for records, rate, epsilon in ROUNDED:
        design = partial(rounded_sample, rate=rate)
        most = optimum(design, records, epsilon, neighbours="deletion")
        yield rounding.random_rounding_loss(records, rate, epsilon), most


@compared
def test_the_bounds_on_a_size_rounded_at_random_are_those_of_the_proof() -> Pairs:
    for rate, epsilon in ((0.1, 0.2), (0.4, 0.5), (0.7, 1.0), (0.3, 3.0)):
        mixed = np.expm1(2 * epsilon)
        product_form = np.log1p(2 * rate * mixed) + np.log1p(rate * mixed)
        yield rounding.random_rounding_bound(rate, epsilon), product_form

        chain = np.log1p((3 * rate - 2 * rate**2) * mixed)
        yield rounding.random_rounding_chain_bound(rate, epsilon), chain


def least_error(gap: float, epsilon: float) -> float:
    """Return the least error of a private estimate of a size on the worse of two neighbours.

    The size is 0 on one and ``gap`` on the other, and a linear program chooses the chances of five
    answers.
    """
    answers = np.linspace(0, gap, 5)
    none = np.zeros(5)
    factor = np.exp(epsilon)

    errors = [[*answers, *none, -1], [*none, *(gap - answers), -1]]
    first = np.column_stack([np.eye(5), -factor * np.eye(5), none])
    second = np.column_stack([-factor * np.eye(5), np.eye(5), none])
    sums = [[*np.ones(5), *none, 0], [*none, *np.ones(5), 0]]
    best = linprog(
        [*none, *none, 1],
        A_ub=np.vstack([errors, first, second]),
        b_ub=np.zeros(12),
        A_eq=sums,
        b_eq=[1, 1],
    )
    return float(best.fun)


@compared
def test_the_error_on_two_neighbours_is_that_of_a_linear_program() -> Pairs:
    for gap, epsilon in ((10, 0.5), (10, 1.0), (100, 1.0)):
        yield data_dependent.two_point_error(gap, epsilon), least_error(gap, epsilon), 1e-8


@compared
def test_what_a_private_size_must_err_is_what_laplace_noise_leaves_of_the_error() -> Pairs:
    for error, epsilon in ((3.0, 2.0), (5.0, 0.5), (40.0, 0.1)):
        noise = laplace(scale=1 / epsilon)
        mean_size = 2 * noise.expect(lambda size: size, lb=0)
        yield data_dependent.size_error_lower_bound(error, epsilon), error - mean_size

        square = error**2
        bound = data_dependent.size_squared_error_lower_bound(square, epsilon)
        yield bound, square - noise.var()
