from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.designs import laws
from ldpnb.privacy import noisy_statistics, optimiser


def test_distance_is_the_size_of_the_symmetric_difference() -> None:
    assert optimiser.lcs_distance((1, 1, 2), (1, 2, 2)) == 2
    assert optimiser.lcs_distance((), (1, 2)) == 2
    assert optimiser.lcs_distance((3, 1), (1, 3)) == 0


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.5, 2.0, 3.5])
def test_simple_random_sampling_loses_exactly_theorem_2_2(epsilon: float) -> None:
    first, second = laws.subsets(range(5), 2), laws.subsets([9, 1, 2, 3, 4], 2)
    loss = optimiser.largest_loss(first, second, epsilon=epsilon, mechanism="replacement").loss
    assert loss == pytest.approx(np.log1p(0.4 * np.expm1(epsilon)), rel=1e-12)
    deletion = optimiser.largest_loss(first, second, epsilon=epsilon).loss
    assert deletion == pytest.approx(np.log1p(0.4 * np.expm1(2 * epsilon)), rel=1e-12)


@pytest.mark.parametrize("mechanism", ["deletion", "replacement"])
def test_worst_mechanism_is_private_on_all_data_sets_and_attains_the_loss(mechanism: str) -> None:
    first, second = laws.subsets([0, 1, 2], 2), laws.subsets([3, 1, 2], 2)
    worst = optimiser.largest_loss(first, second, epsilon=0.7, mechanism=mechanism)
    accept = [sum(p * worst.acceptance(s) for s, p in law.items()) for law in (first, second)]
    assert abs(np.log(accept[0] / accept[1])) == pytest.approx(worst.loss, rel=1e-12)
    assert worst.swapped == (accept[1] > accept[0])
    for sample in combinations_with_replacement(range(5), 2):
        near = [(*sample, 4)] if mechanism == "deletion" else [(sample[0], x) for x in range(5)]
        for other in near:
            here, there = worst.acceptance(sample), worst.acceptance(other)
            assert 0 < here < 1
            assert abs(np.log(here / there)) <= 0.7 + 1e-12
            assert abs(np.log((1 - here) / (1 - there))) <= 0.7 + 1e-12


def test_replacement_mechanism_may_tell_the_size() -> None:
    worst = optimiser.largest_loss({(1,): 1.0}, {(1, 2): 1.0}, epsilon=0.1, mechanism="replacement")
    assert worst.loss == np.inf
    assert optimiser.largest_loss({(1,): 1.0}, {(1, 2): 1.0}, epsilon=0.1).loss == pytest.approx(0.1)


def test_a_sum_of_sizes_is_decided_by_the_best_size() -> None:
    first, second = {(1,): 0.5, (1, 2): 0.5}, {(3,): 0.4, (1, 2): 0.6}
    worst = optimiser.largest_loss(first, second, epsilon=0.1, mechanism="replacement")
    assert worst.loss == pytest.approx(np.log(0.5 / 0.4) + 0.1)


def test_budgets_per_record_add_up() -> None:
    budget = {"a": 0.2, "b": 1.0}
    assert optimiser.largest_loss({("a",): 1.0}, {("b",): 1.0}, epsilon=budget).loss == pytest.approx(1.2)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=8, max_size=8), st.sampled_from([1e-4, 0.3, 1.5]))
def test_no_random_mechanism_beats_the_optimum(weights: list[float], epsilon: float) -> None:
    samples = [(0,), (1,), (0, 1), (0, 1, 2)]
    p, q = np.array(weights[:4]) / sum(weights[:4]), np.array(weights[4:]) / sum(weights[4:])
    worst = optimiser.largest_loss(
        dict(zip(samples, p, strict=True)), dict(zip(samples, q, strict=True)), epsilon=epsilon
    )
    counts = np.array([[x in s for x in range(3)] for s in samples])
    for signs in np.ndindex(3, 3, 3):
        g = np.exp(epsilon * counts @ (np.array(signs) - 1))
        assert abs(np.log((p @ g) / (q @ g))) <= worst.loss + 1e-9


def test_a_wide_reach_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at most 30.0 nats, got 50.0"):
        optimiser.largest_loss({(1,): 1.0}, {(2,): 1.0}, epsilon=25.0)


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf])
def test_epsilon_must_be_positive(bad: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be > 0 and finite"):
        optimiser.largest_loss({(1,): 1.0}, {(2,): 1.0}, epsilon=bad)


def test_laws_must_sum_to_one_and_relations_be_known() -> None:
    with pytest.raises(ValueError, match="law must sum to 1"):
        optimiser.largest_loss({(1,): 0.5}, {(2,): 1.0}, epsilon=1.0)
    with pytest.raises(ValueError, match="mechanism must be one of deletion, replacement, got mechanism='swap'"):
        optimiser.largest_loss({(1,): 1.0}, {(2,): 1.0}, epsilon=1.0, mechanism="swap")


def test_largest_delta_is_the_rate_times_delta() -> None:
    first, second = laws.subsets(range(5), 2), laws.subsets([9, 1, 2, 3, 4], 2)
    found = optimiser.largest_delta(first, second, epsilon=1.0, delta=0.01, epsilon_after=np.log1p(0.4 * np.expm1(1.0)))
    assert found == pytest.approx(0.004, rel=1e-8)


def test_best_test_on_equal_size_laws_has_no_advantage() -> None:
    assert optimiser.largest_size_test_advantage([0.5, 0.5], [0.5, 0.5], epsilon=1.0) == pytest.approx(0, abs=1e-12)


def test_noisy_statistic_loss_is_the_largest_density_ratio() -> None:
    values, laws_of = np.array([0.0, 0.3, 1.0]), np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
    exact = noisy_statistics.noisy_statistic_losses(values, laws_of, [[0, 1]], 0.4)[0]
    outputs = np.linspace(-3, 4, 7001)
    densities = laws_of @ np.exp(-np.abs(values[:, None] - outputs) / 0.4)
    assert np.abs(np.log(densities[0] / densities[1])).max() == pytest.approx(exact, rel=1e-12)


def test_noise_below_the_range_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"scale must be at least a 700th of the statistic's range 1000, got scale=1.0"
    ):
        noisy_statistics.noisy_statistic_losses([0, 1000], [[1, 0], [0, 1]], [[0, 1]], 1.0)
