"""Losses in closed form or by recursion are the optimum over all mechanisms, at both ends of epsilon too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.designs import laws, sizes
from ldpnb.privacy import optimiser, random_size, subsampling, unequal

CHANCES = st.lists(st.floats(0.01, 0.99), min_size=3, max_size=3)
BOUNDS = (
    random_size.random_size_lower_bound_pm1,
    random_size.random_size_loss,
    random_size.random_size_upper_bound,
)


@settings(max_examples=10, derandomize=True, deadline=None)
@given(CHANCES, CHANCES, st.sampled_from([1e-4, 0.3, 2.0]))
def test_poisson_loss_is_the_linear_program(first: list[float], second: list[float], epsilon: float) -> None:
    pair = laws.poisson([0, 1, 2], first), laws.poisson([9, 1, 2], second)
    closed = unequal.poisson_loss([*first, 0], [0, *second[1:], second[0]], epsilon)
    assert closed == pytest.approx(optimiser.largest_loss(*pair, epsilon=epsilon).loss, rel=1e-8)


@settings(max_examples=10, derandomize=True, deadline=None)
@given(st.lists(st.floats(0.05, 1), min_size=3, max_size=4), st.floats(0.05, 3), st.sampled_from([0.1, 1.0]))
def test_one_draw_is_the_linear_program(weights: list[float], new: float, epsilon: float) -> None:
    units = [[i] for i in range(len(weights))]
    pair = laws.one_draw(units, weights), laws.one_draw([[9], *units[1:]], [new, *weights[1:]])
    rates = weights[0] / sum(weights), new / (new + sum(weights[1:]))
    found = optimiser.largest_loss(*pair, epsilon=epsilon).loss
    assert unequal.one_draw_loss(*rates, epsilon) == pytest.approx(found, rel=1e-9)


def test_odd_sizes_cost_more_than_the_even_number_below() -> None:
    found = max(unequal.systematic_loss(range(6), 0, place + 0.5, step=2, epsilon=0.5) for place in range(6))
    assert found / 0.5 == pytest.approx(3.2402290, rel=1e-6)
    assert found > unequal.systematic_rank_shift_loss(3, 0.5) == 1.0


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 50.0])
def test_a_fixed_size_is_simple_random_sampling(epsilon: float) -> None:
    law = sizes.fixed_size(5, 20)
    for bound in (random_size.random_size_loss, random_size.random_size_upper_bound):
        assert bound(law, epsilon) == pytest.approx(subsampling.srs_loss(2 * epsilon, 0.25), rel=1e-12)
    assert random_size.effective_rate(law, epsilon) == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize("epsilon", [1.0, 50.0])
def test_budgets_that_add_up_to_thousands_of_nats_leave_the_rate_its_digits(epsilon: float) -> None:
    assert random_size.effective_rate(sizes.fixed_size(5000, 20_000), epsilon) == pytest.approx(0.25, abs=3e-15)
    either = np.where(np.isin(np.arange(20_001), [1000, 5000]), 0.5, 0.0)
    assert random_size.effective_rate(sizes.size_law(either), epsilon) == pytest.approx(0.25, abs=3e-15)


@pytest.mark.parametrize("law", [sizes.binomial_size(50, 0.2), sizes.truncated_gaussian_size(100, 20.0, 20.0)])
def test_spread_sizes_reach_the_improved_lower_bound(law: sizes.SizeLaw) -> None:
    improved = random_size.random_size_lower_bound_pm1(law, 1.0)
    assert random_size.random_size_loss(law, 1.0) == pytest.approx(improved, rel=1e-12)


@pytest.mark.parametrize("bound", BOUNDS)
def test_everybody_or_nobody(bound) -> None:
    assert bound(sizes.fixed_size(4, 4), 0.7) == pytest.approx(1.4)
    assert bound(sizes.fixed_size(0, 4), 0.7) == 0


def test_sizes_far_apart_do_not_hide_each_other() -> None:
    law = sizes.SizeLaw(np.array([np.log1p(-1e-300), *[-np.inf] * 1998, np.log(1e-300)]))
    assert random_size.random_size_loss(law, 1.0) == pytest.approx(2.0)


def test_a_hundred_thousand_records_keep_bounds_and_optimum_in_order() -> None:
    law = sizes.truncated_gaussian_size(100_000, 10_000, 100_000**0.5)
    lower, exact, upper = (bound(law, 0.1) for bound in BOUNDS)
    assert lower * (1 - 1e-9) <= exact <= upper


def test_tilting_a_truncated_gaussian_moves_its_mean() -> None:
    gauss, shift = sizes.truncated_gaussian_size(50, 10.0, 3.0), sizes.truncated_gaussian_size(50, 10.0 + 0.4 * 9, 3.0)
    tilted = gauss.probabilities * np.exp(0.4 * np.arange(51))
    assert tilted / tilted.sum() == pytest.approx(shift.probabilities, rel=1e-9)
