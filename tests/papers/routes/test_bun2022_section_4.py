"""Second routes to formulas under the claims of bun2022, Section 4."""

from functools import partial

import numpy as np
from compared import Pairs, compared

from ldpnb.papers.bun2022.formulas import data_dependent, rounding
from ldpnb.papers.bun2022.section_4 import ROUNDED, rounded_sample
from ldpnb.papers.bun2022.shared import optimum
from ldpnb.privacy import optimiser


@compared
def test_a_noisy_count_loses_what_the_worst_mechanism_loses() -> Pairs:
    for first, second, epsilon in ((3, 2, 0.1), (5, 9, 0.5), (2, 14, 1.2)):
        most = optimiser.largest_loss(
            {(0,) * first: 1.0}, {(0,) * second: 1.0}, epsilon=epsilon
        ).loss
        yield data_dependent.size_count_loss(abs(second - first), epsilon), most


@compared
def test_the_best_test_of_the_size_is_that_of_a_linear_program() -> Pairs:
    for gap in (1, 2, 4, 7):
        most = optimiser.largest_size_test_advantage(*np.eye(gap + 1)[[gap, 0]], epsilon=0.5)
        yield data_dependent.size_test_advantage(gap, 0.5), most, 1e-8
    for epsilon in (0.1, 0.7, 2.0):
        most = optimiser.largest_size_test_advantage([0, 1], [1, 0], epsilon=epsilon)
        yield data_dependent.advantage_bound(epsilon), most, 1e-8


@compared
def test_a_size_rounded_at_random_loses_what_the_worst_mechanism_loses() -> Pairs:
    for n, rate, epsilon in ROUNDED:
        most = optimum(partial(rounded_sample, rate=rate), n, epsilon, neighbours="deletion")
        yield rounding.random_rounding_loss(n, rate, epsilon), most


@compared
def test_the_bounds_on_a_size_rounded_at_random_are_those_of_the_proof() -> Pairs:
    for rate, epsilon in ((0.1, 0.2), (0.4, 0.5), (0.7, 1.0), (0.3, 3.0)):
        mixed = np.expm1(2 * epsilon)
        product_form = np.log1p(2 * rate * mixed) + np.log1p(rate * mixed)
        yield rounding.random_rounding_bound(rate, epsilon), product_form
        chain = np.log1p((3 * rate - 2 * rate**2) * mixed)
        yield rounding.random_rounding_chain_bound(rate, epsilon), chain
