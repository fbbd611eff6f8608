"""How many steps the searches for a worst case or a best channel take."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from ldpnb.designs import laws
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.privacy import best_channel, hockey_stick, optimiser

LAWS = [
    (laws.subsets(range(5), 2), laws.subsets([9, 1, 2, 3, 4], 2)),
    (laws.subsets(range(4), 3), laws.subsets([9, 1, 2, 3], 3)),
    ({(0,): 0.2, (1,): 0.3, (0, 1): 0.5}, {(0,): 0.4, (2,): 0.1, (0, 2): 0.5}),
    ({(): 0.5, (1,): 0.25, (1, 1): 0.25}, {(): 0.1, (1,): 0.2, (1, 1): 0.7}),
]


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


def test_the_worst_mechanism_is_found_in_two_linear_programs_a_direction(
    counted: Callable[[Any, str], list[int]],
) -> None:
    solved = counted(optimiser, "_solve")
    for (first, second), epsilon in product(LAWS, (1e-6, 1.0, 4.0)):
        optimiser.largest_loss(first, second, epsilon=epsilon)
    assert len(solved) <= 4 * 12


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
