"""How many steps the searches for a worst case or a best channel take, and what happens at the ends of their ranges."""

import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb.accuracy.lower_bounds import LowerBounds
from ldpnb.data import channels as saved
from ldpnb.designs import laws
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.privacy import best_channel, channel, hockey_stick, optimiser


@pytest.mark.parametrize(("draws", "steps"), [(1, 311), (3, 333)])
def test_the_best_channel_takes_about_sixteen_newton_steps(
    counted: Callable[[Any, str], list[int]], draws: int, steps: int
) -> None:
    taken = counted(best_channel, "_derivatives")
    for size, epsilon in product((2, 3, 4, 5, 6), (0.01, 1.0, 4.0, 10.0)):
        points = np.random.default_rng(size).dirichlet(np.full(size, 2.0), size=draws)
        found = best_channel.best_channel(points if draws > 1 else np.full(size, 1 / size), epsilon)
        assert found.channel.sum(axis=0) == pytest.approx(np.ones(size), rel=1e-9)
    assert len(taken) <= steps


@pytest.mark.parametrize(("tolerance", "steps"), [(1e-3, 9), (1e-6, 12), (1e-9, 17), (1e-12, 21)])
def test_a_stricter_tolerance_costs_a_few_steps_more(
    counted: Callable[[Any, str], list[int]], tolerance: float, steps: int
) -> None:
    taken = counted(best_channel, "_derivatives")
    found = best_channel.best_channel([0.5, 0.3, 0.1, 0.1], 1.0, tolerance=tolerance)
    assert 0 <= found.error - found.lower_bound <= tolerance * (found.error + 1)
    assert len(taken) <= steps


def test_derivatives_are_those_of_the_mean_error() -> None:
    patterns, points = best_channel.staircase_patterns(3, 1.0), np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    weights, along = np.linspace(0.1, 0.3, 6), np.cos(np.arange(6.0))

    def error(step: float) -> float:
        inverses = [
            np.linalg.inv((patterns.T * ((weights + step * along) / (patterns @ point))) @ patterns) for point in points
        ]
        return float(np.mean([np.trace(inverse) for inverse in inverses]))

    value, slope, bend = best_channel._derivatives(patterns, points, weights)
    h = 1e-3
    assert value == pytest.approx(error(0), rel=1e-13)
    assert slope @ along == pytest.approx((error(h) - error(-h)) / (2 * h), rel=1e-3)
    assert along @ bend @ along == pytest.approx((error(h) - 2 * error(0) + error(-h)) / h**2, rel=1e-3)


LAWS = [
    (laws.subsets(range(5), 2), laws.subsets([9, 1, 2, 3, 4], 2)),
    (laws.subsets(range(4), 3), laws.subsets([9, 1, 2, 3], 3)),
    ({(0,): 0.2, (1,): 0.3, (0, 1): 0.5}, {(0,): 0.4, (2,): 0.1, (0, 2): 0.5}),
    ({(): 0.5, (1,): 0.25, (1, 1): 0.25}, {(): 0.1, (1,): 0.2, (1, 1): 0.7}),
]


def test_the_worst_mechanism_is_found_in_two_linear_programs_a_direction(
    counted: Callable[[Any, str], list[int]],
) -> None:
    solved = counted(optimiser, "_solve")
    for (first, second), epsilon in product(LAWS, (1e-6, 1.0, 4.0)):
        optimiser.largest_loss(first, second, epsilon=epsilon)
    assert len(solved) <= 4 * 12


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
    monkeypatch.setattr(optimiser, "_improved", lambda *_: (0.1, None))
    with pytest.raises(RuntimeError, match=r"the linear program promises 0\.1 nats beyond .* that no vertex reaches"):
        optimiser.largest_loss(*LAWS[0], epsilon=1.0)


@pytest.mark.parametrize(("epsilon", "most"), [(1e-3, 63), (0.1, 56), (1.0, 53), (10.0, 49)])
def test_a_budget_is_found_by_one_bisection_of_its_range(epsilon: float, most: int) -> None:
    mechanism = LaplaceMeans.calibrated(epsilon)
    delta = hockey_stick.laplace_means_delta(mechanism, epsilon / 2)
    asked: list[float] = []

    def delta_at(budget: float) -> float:
        asked.append(budget)
        return hockey_stick.laplace_means_delta(mechanism, budget)

    assert hockey_stick.epsilon_at_delta(delta_at, delta) == pytest.approx(epsilon / 2, rel=1e-11)
    assert min(asked) == 0
    assert len(asked) <= most


def test_a_delta_that_needs_no_budget_is_asked_for_once() -> None:
    asked: list[float] = []
    assert hockey_stick.epsilon_at_delta(lambda budget: [asked.append(budget), 0.25][1], 0.25) == 0
    assert asked == [0]


@pytest.mark.parametrize("least", [1e-12, 699.5])
def test_budgets_near_the_ends_of_the_range_are_found(least: float) -> None:
    assert hockey_stick.epsilon_at_delta(lambda budget: 0.5 * (budget < least), 0.1) == pytest.approx(least, rel=1e-11)
    assert hockey_stick.epsilon_at_delta(lambda budget: 0.5 * (budget < 700.5), 0.1) == np.inf
    assert hockey_stick.epsilon_at_delta(lambda budget: 0.5 * (budget < 1.5), 0.1, largest=1.0) == np.inf


def test_the_largest_delta_of_one_record_is_that_of_approximate_randomised_response() -> None:
    first, second = {(0,): 1.0}, {(1,): 1.0}
    found = optimiser.largest_delta(first, second, epsilon=1.0, delta=0.01, epsilon_after=0.0)
    assert found == pytest.approx((np.e - 1 + 0.02) / (np.e + 1), rel=1e-9)
    assert optimiser.largest_delta(first, second, epsilon=1.0, delta=0.01, epsilon_after=1.0) == pytest.approx(0.01)


def test_laws_of_the_size_may_have_different_lengths() -> None:
    for laws_of_size in (([1.0], [0.0, 1.0]), ([0.0, 1.0], [1.0])):
        found = optimiser.largest_size_test_advantage(*laws_of_size, epsilon=1.0)
        assert found == pytest.approx(np.tanh(0.5), rel=1e-9)


def test_a_mechanism_with_a_budget_per_record_hides_each_record_as_promised() -> None:
    budget = {"a": 0.2, "b": 1.0}
    worst = optimiser.largest_loss({("a",): 1.0}, {("b",): 1.0}, epsilon=budget)
    for data in ((), ("a",), ("b",), ("a", "b"), ("b", "b")):
        for record, least in budget.items():
            here, there = worst.acceptance(data), worst.acceptance((*data, record))
            assert abs(np.log(here / there)) <= least + 1e-12
            assert abs(np.log((1 - here) / (1 - there))) <= least + 1e-12


def test_a_law_without_mass_needs_no_delta() -> None:
    delta, region = hockey_stick.laplace_delta((0.0, 0.0, 1.0), (1.0, 0.0, 1.0), 0.0)
    assert delta == 0
    assert region.shape == (0, 2)


def test_every_distribution_of_a_prior_must_sum_to_one() -> None:
    with pytest.raises(ValueError, match="distributions must be positive and sum to 1"):
        best_channel.best_channel([[0.5, 0.5], [0.6, 0.6]], 1.0)


def test_a_chance_that_rounding_makes_negative_is_the_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimiser, "_solve", lambda *_, **__: (0.0, np.array([0.0, -1.0 - 1e-9]) / np.expm1(1.0)))
    distances = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert optimiser._improved(np.array([1.0, 0.0]), np.array([0.5, 0.5]), distances, np.zeros(2)) == (0.0, None)


@pytest.mark.parametrize(
    ("apart", "distance", "tight"),
    [
        (1.0 + 5e-6, 1.0, True),
        (1.0 + 1.5e-5, 1.0, False),
        (-1.0 - 5e-6, 1.0, True),
        (1e-6 + 5e-10, 1e-6, True),
        (1e-6 + 1.5e-9, 1e-6, False),
        (0.5, 1.0, False),
    ],
)
def test_logarithms_are_recomputed_along_steps_that_are_tight_up_to_the_solvers_error(
    apart: float, distance: float, tight: bool
) -> None:
    found = optimiser._along_tight(np.array([0.0, apart]), distance * (1 - np.eye(2)))
    assert (None if found is None else found.tolist()) == ([0.0, np.sign(apart) * distance] if tight else None)


def test_logarithms_that_break_another_constraint_are_not_a_vertex() -> None:
    distances = np.array([[0.0, 1.0, 1.5], [1.0, 0.0, 1.0], [1.5, 1.0, 0.0]])
    assert optimiser._along_tight(np.array([0.0, 1.0, 2.0]), distances) is None
    assert optimiser._along_tight(np.array([0.0, 1.0, 0.0]), distances) is not None


def test_eight_values_are_not_too_many() -> None:
    assert best_channel.best_channel(np.full(8, 0.125), 1.0).error == pytest.approx(
        LowerBounds(8, 1.0).uniform_optimum(), rel=5e-9
    )


@pytest.mark.parametrize("extra", [5e-10, 1.5e-9])
def test_columns_may_miss_one_by_a_billionth(extra: float) -> None:
    for call in (channel.as_channel, lambda points: best_channel.best_channel(np.transpose(points), 1.0)):
        if extra < 1e-9:
            call([[0.5, 0.5], [0.5, 0.5 + extra]])
        else:
            with pytest.raises(ValueError, match="sum to 1"):
                call([[0.5, 0.5], [0.5, 0.5 + extra]])


def test_a_table_of_more_than_256_megabytes_is_not_read(tmp_path: Path) -> None:
    table = tmp_path / "large.csv"
    table.touch()
    os.truncate(table, 2**28 + 1)
    with pytest.raises(ValueError, match="with at most 268,435,456 bytes"):
        saved.load_channel(table)


def test_the_smallest_of_equally_good_budgets_is_taken() -> None:
    assert hockey_stick.epsilon_at_delta(lambda budget: 0.25 if budget >= 1 else 0.5, 0.25) == pytest.approx(
        1, rel=1e-11
    )


def test_the_delta_of_two_laws_has_a_direction() -> None:
    wide, narrow = (1.0, 0.0, 2.0), (1.0, 0.0, 1.0)
    there, back = (hockey_stick.law_delta([p], [q], 0.1) for p, q in ((wide, narrow), (narrow, wide)))
    assert there == hockey_stick.laplace_delta(wide, narrow, 0.1)[0]
    assert back == hockey_stick.laplace_delta(narrow, wide, 0.1)[0]
    assert there > 1.1 * back


def test_samples_of_three_sizes_are_three_separate_cases() -> None:
    first, second = {(1,): 0.5, (1, 2): 0.2, (1, 2, 3): 0.3}, {(4,): 0.4, (1, 2): 0.2, (1, 2, 3): 0.4}
    worst = optimiser.largest_loss(first, second, epsilon=0.1, mechanism="replacement")
    assert worst.loss == pytest.approx(np.log(0.5 / 0.4) + 0.1, rel=1e-12)
    assert np.isfinite(worst.log_acceptance).sum() == 2


def test_one_value_has_no_patterns() -> None:
    with pytest.raises(ValueError, match="domain_size must be an integer >= 2, got domain_size=1"):
        best_channel.staircase_patterns(1, 1.0)


def test_a_single_sample_of_its_size_is_told_by_its_chances() -> None:
    worst = optimiser.largest_loss(
        {(1,): 0.6, (1, 2): 0.4}, {(1,): 0.3, (1, 2): 0.7}, epsilon=0.1, mechanism="replacement"
    )
    assert worst.loss == pytest.approx(np.log(2), rel=1e-12)
    assert dict(zip(worst.samples, worst.log_acceptance.tolist(), strict=True)) == {(1,): 0, (1, 2): -np.inf}


def test_the_worst_mechanism_accepts_as_often_as_its_least_budget_allows() -> None:
    for budget, least in ((0.7, 0.7), ({"a": 0.2, "b": 1.0}, 0.2)):
        worst = optimiser.largest_loss({("a",): 1.0}, {("b",): 1.0}, epsilon=budget)
        accepted = max(worst.acceptance(sample) for sample in worst.samples)
        assert accepted == pytest.approx(1 / (1 + np.exp(-least)), rel=1e-12)


def test_laws_of_different_numbers_of_groups_are_not_compared() -> None:
    with pytest.raises(ValueError, match="zip"):
        hockey_stick.law_delta([(1.0, 0.0, 2.0)], [(0.5, 0.0, 1.0), (0.5, 0.0, 1.0)], 0.1)


@pytest.mark.parametrize(("rows", "hint"), [("0.5,0.5\n0.4,0.6\n", True), ("0.5,0.5\n0.4,0.7\n", False)])
def test_a_transposed_channel_is_told_from_one_that_is_neither(tmp_path: Path, rows: str, hint: bool) -> None:
    (tmp_path / "table.csv").write_text(rows)
    with pytest.raises(ValueError, match="columns that sum to 1") as error:
        saved.load_channel(tmp_path / "table.csv")
    assert ("transpose it" in str(error.value)) == hint


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
