"""The exact optimiser: what it certifies, where it fails, and mechanisms it must find."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.designs import laws
from ldpnb.privacy import noisy_statistics, optimiser

LAWS = [
    (laws.subsets(range(5), 2), laws.subsets([9, 1, 2, 3, 4], 2)),
    (laws.subsets(range(4), 3), laws.subsets([9, 1, 2, 3], 3)),
    ({(0,): 0.2, (1,): 0.3, (0, 1): 0.5}, {(0,): 0.4, (2,): 0.1, (0, 2): 0.5}),
    ({(): 0.5, (1,): 0.25, (1, 1): 0.25}, {(): 0.1, (1,): 0.2, (1, 1): 0.7}),
]


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


@settings(max_examples=10, derandomize=True, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=8, max_size=8), st.sampled_from([1e-4, 0.3, 1.5]))
def test_no_random_mechanism_beats_the_optimum(weights: list[float], epsilon: float) -> None:
    samples = [(0,), (1,), (0, 1), (0, 1, 2)]
    p, q = np.array(weights[:4]) / sum(weights[:4]), np.array(weights[4:]) / sum(weights[4:])
    pair = (dict(zip(samples, law, strict=True)) for law in (p, q))
    worst = optimiser.largest_loss(*pair, epsilon=epsilon)
    counts = np.array([[x in s for x in range(3)] for s in samples])
    for signs in np.ndindex(3, 3, 3):
        g = np.exp(epsilon * counts @ (np.array(signs) - 1))
        assert abs(np.log((p @ g) / (q @ g))) <= worst.loss + 1e-9


def test_noisy_statistic_loss_is_the_largest_density_ratio() -> None:
    values, laws_of = np.array([0.0, 0.3, 1.0]), np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
    exact = noisy_statistics.noisy_statistic_losses(values, laws_of, [[0, 1]], 0.4)[0]
    outputs = np.linspace(-3, 4, 7001)
    densities = laws_of @ np.exp(-np.abs(values[:, None] - outputs) / 0.4)
    assert np.abs(np.log(densities[0] / densities[1])).max() == pytest.approx(exact, rel=1e-12)


def test_a_linear_program_promises_what_its_vertex_reaches() -> None:
    for first, second in LAWS:
        samples = tuple(sorted({*first, *second}, key=repr))
        p, q = (np.array([law.get(s, 0.0) for s in samples]) for law in (first, second))
        distances, start = optimiser._distances(samples, 0.5, "deletion"), np.zeros(len(samples))
        promised, better = optimiser._improved(p, q, distances, start)
        assert better is not None
        assert promised == pytest.approx(optimiser._log_ratio(p, q, better), rel=1e-9)
        loss, logs = optimiser.largest_log_ratio(p, q, distances)
        assert optimiser._log_ratio(p, q, logs) == pytest.approx(loss, rel=1e-13)
        assert optimiser._improved(p, q, distances, logs)[0] == pytest.approx(0, abs=1e-9)


def test_an_optimum_that_does_not_settle_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimiser, "_ROUNDS", 1)
    with pytest.raises(RuntimeError, match="the optimum did not settle in 1 linear programs"):
        optimiser.largest_loss(*LAWS[0], epsilon=1.0)


def test_a_promise_that_no_vertex_keeps_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimiser, "_improved", lambda *_: (3e-9, None))
    optimiser.largest_loss(*LAWS[0], epsilon=0.02)
    with pytest.raises(RuntimeError, match=r"the linear program promises 3e-09 nats beyond .* that no vertex reach"):
        optimiser.largest_loss(*LAWS[0], epsilon=0.01)


def test_the_largest_delta_of_one_record_is_that_of_approximate_randomised_response() -> None:
    first, second = {(0,): 1.0}, {(1,): 1.0}
    found = optimiser.largest_delta(first, second, epsilon=1.0, delta=0.01, epsilon_after=0.0)
    assert found == pytest.approx((np.e - 1 + 0.02) / (np.e + 1), rel=1e-9)
    assert optimiser.largest_delta(first, second, epsilon=1.0, delta=0.01, epsilon_after=1.0) == pytest.approx(0.01)


def test_laws_of_the_size_may_have_different_lengths() -> None:
    for laws_of_size in (([1.0], [0.0, 1.0]), ([0.0, 1.0], [1.0])):
        found = optimiser.largest_size_test_advantage(*laws_of_size, epsilon=1.0)
        assert found == pytest.approx(np.tanh(0.5), rel=1e-9)
    for sizes in ((0, 2), (2, 0)):  # the test may go all the way in two steps
        found = optimiser.largest_size_test_advantage(*np.eye(3)[list(sizes)], epsilon=1.0)
        assert found == pytest.approx(1 - np.exp(-1), rel=1e-9)


def test_a_chance_that_rounding_makes_negative_is_the_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimiser, "_solve", lambda *_, **__: (0.0, np.array([0.0, -1.0 - 1e-9]) / np.expm1(1.0)))
    distances = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert optimiser._improved(np.array([1.0, 0.0]), np.array([0.5, 0.5]), distances, np.zeros(2)) == (0.0, None)


@pytest.mark.parametrize(("apart", "distance"), [(1.0 + 5e-6, 1.0), (-1.0 - 5e-6, 1.0), (1e-6 + 5e-10, 1e-6)])
def test_logarithms_are_recomputed_along_steps_that_are_tight_up_to_the_solvers_error(
    apart: float, distance: float
) -> None:
    found = optimiser._along_tight(np.array([0.0, apart]), distance * (1 - np.eye(2)))
    assert found.tolist() == [0.0, np.sign(apart) * distance]


@pytest.mark.parametrize(("apart", "distance"), [(1.0 + 1.5e-5, 1.0), (1e-6 + 1.5e-9, 1e-6), (0.5, 1.0)])
def test_steps_that_are_not_tight_make_no_vertex(apart: float, distance: float) -> None:
    assert optimiser._along_tight(np.array([0.0, apart]), distance * (1 - np.eye(2))) is None


def test_logarithms_that_break_another_constraint_are_not_a_vertex() -> None:
    distances = np.array([[0.0, 1.0, 1.5], [1.0, 0.0, 1.0], [1.5, 1.0, 0.0]])
    assert optimiser._along_tight(np.array([0.0, 1.0, 2.0]), distances) is None
    assert optimiser._along_tight(np.array([0.0, 1.0, 0.0]), distances) is not None


def test_samples_of_three_sizes_are_three_separate_cases() -> None:
    first, second = {(1,): 0.5, (1, 2): 0.2, (1, 2, 3): 0.3}, {(4,): 0.4, (1, 2): 0.2, (1, 2, 3): 0.4}
    worst = optimiser.largest_loss(first, second, epsilon=0.1, mechanism="replacement")
    assert worst.loss == pytest.approx(np.log(0.5 / 0.4) + 0.1, rel=1e-12)
    assert np.isfinite(worst.log_acceptance).sum() == 2


def test_a_single_sample_of_its_size_is_told_by_its_chances() -> None:
    first, second = {(1,): 0.6, (1, 2): 0.4}, {(1,): 0.3, (1, 2): 0.7}
    worst = optimiser.largest_loss(first, second, epsilon=0.1, mechanism="replacement")
    assert worst.loss == pytest.approx(np.log(2), rel=1e-12)
    assert dict(zip(worst.samples, worst.log_acceptance.tolist(), strict=True)) == {(1,): 0, (1, 2): -np.inf}


def test_the_worst_mechanism_accepts_as_often_as_its_least_budget_allows() -> None:
    for budget, least in ((0.7, 0.7), ({"a": 0.2, "b": 1.0}, 0.2)):
        worst = optimiser.largest_loss({("a",): 1.0}, {("b",): 1.0}, epsilon=budget)
        accepted = max(worst.acceptance(sample) for sample in worst.samples)
        assert accepted == pytest.approx(1 / (1 + np.exp(-least)), rel=1e-12)


def test_a_linear_program_without_a_bound_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="the linear program failed"):
        optimiser._solve(np.array([1.0, 0.0]), np.array([[0.0, 1.0]]), np.array([1.0]))


def test_the_population_that_alone_gives_a_size_makes_it_likelier() -> None:
    with_two, without = {(1,): 0.5, (1, 2): 0.2, (1, 3): 0.3}, {(1,): 1.0}
    assert not optimiser.largest_loss(with_two, without, epsilon=0.1, mechanism="replacement").swapped
    assert optimiser.largest_loss(without, with_two, epsilon=0.1, mechanism="replacement").swapped
    never = {(1,): 0.5, (1, 2): 0.5, (1, 3): 0.0}
    worst = optimiser.largest_loss(without, never, epsilon=0.1, mechanism="replacement")
    assert worst.swapped
    assert worst.loss == np.inf
