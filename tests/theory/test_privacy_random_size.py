import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.designs import laws, sizes
from ldpnb.privacy import optimiser, subsampling
from ldpnb.privacy import random_size as rs

BOUNDS = (rs.random_size_lower_bound, rs.random_size_lower_bound_pm1, rs.random_size_loss, rs.random_size_upper_bound)


def optimum(law: sizes.SizeLaw, epsilon: float) -> float:
    records = list(range(law.population))
    samples = (laws.subsets_of_random_size(p, law.probabilities) for p in (records, [-1, *records[1:]]))
    return optimiser.largest_loss(*samples, epsilon=epsilon).loss


@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.lists(st.floats(0.001, 1), min_size=3, max_size=5), st.sampled_from([1e-5, 0.2, 1.0, 3.0]))
def test_recursion_is_the_linear_program_over_all_mechanisms(weights: list[float], epsilon: float) -> None:
    law = sizes.size_law(np.array(weights) / sum(weights))
    assert rs.random_size_loss(law, epsilon) == pytest.approx(optimum(law, epsilon), rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 50.0])
def test_fixed_size_is_simple_random_sampling(epsilon: float) -> None:
    law = sizes.fixed_size(5, 20)
    for bound in (rs.random_size_loss, rs.random_size_upper_bound):
        assert bound(law, epsilon) == pytest.approx(subsampling.srs_loss(2 * epsilon, 0.25), rel=1e-12)
    assert rs.effective_rate(law, epsilon) == pytest.approx(0.25, rel=1e-12)


def test_spread_sizes_reach_the_improved_lower_bound() -> None:
    for law in (sizes.binomial_size(50, 0.2), sizes.truncated_gaussian_size(100, 20.0, 20.0)):
        exact, improved = rs.random_size_loss(law, 1.0), rs.random_size_lower_bound_pm1(law, 1.0)
        assert exact == pytest.approx(improved, rel=1e-12)


def test_a_little_randomness_lowers_the_loss() -> None:
    narrow, wider, wide = (sizes.truncated_gaussian_size(100, 20.0, d) for d in (0.5, 4.0, 8.0))
    losses = [rs.random_size_loss(law, 1.0) for law in (narrow, wider, wide)]
    assert losses[1] < losses[0] < losses[2]


def test_everybody_or_nobody() -> None:
    for bound in BOUNDS[1:]:
        assert bound(sizes.fixed_size(4, 4), 0.7) == pytest.approx(1.4)
    for bound in BOUNDS:
        assert bound(sizes.fixed_size(0, 4), 0.7) == 0


def test_sizes_far_apart_do_not_hide_each_other() -> None:
    law = sizes.SizeLaw(np.array([np.log1p(-1e-300), *[-np.inf] * 1998, np.log(1e-300)]))
    assert rs.random_size_loss(law, 1.0) == pytest.approx(2.0)


def test_a_thousand_records_take_half_a_second_and_a_hundred_thousand_are_practical() -> None:
    for population, limit in ((1000, 0.5), (100_000, 2.0)):
        law = sizes.truncated_gaussian_size(population, population / 10, population**0.5)
        start = time.perf_counter()
        exact = rs.random_size_loss(law, 0.1)
        assert time.perf_counter() - start < limit
        assert rs.random_size_lower_bound_pm1(law, 0.1) * (1 - 1e-9) <= exact <= rs.random_size_upper_bound(law, 0.1)


def test_size_laws() -> None:
    assert sizes.binomial_size(2, 0.5).probabilities == pytest.approx([0.25, 0.5, 0.25])
    assert sizes.binomial_size(3, 1.0).probabilities == pytest.approx([0, 0, 0, 1])
    assert sizes.size_law({2: 1.0}).population == 2
    gauss, shift = sizes.truncated_gaussian_size(50, 10.0, 3.0), sizes.truncated_gaussian_size(50, 10.0 + 0.4 * 9, 3.0)
    tilted = gauss.probabilities * np.exp(0.4 * np.arange(51))
    assert tilted / tilted.sum() == pytest.approx(shift.probabilities, rel=1e-9)


def test_bad_size_laws_are_refused() -> None:
    with pytest.raises(ValueError, match="must be the logarithms of a probability law"):
        sizes.SizeLaw(np.zeros(3))
    with pytest.raises(ValueError, match="probabilities must sum to 1"):
        sizes.size_law([0.5, 0.4])
    with pytest.raises(ValueError, match="deviation must be > 0 and finite, got deviation=0"):
        sizes.truncated_gaussian_size(10, 5.0, 0)
