"""The exact optimiser: what it certifies, where it fails, and mechanisms it must find.

The mechanism that it returns is tried on all small data sets, and compared with every mechanism
whose acceptance falls or rises by the whole budget with each record.
"""

from itertools import combinations_with_replacement
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from ldpnb.designs import laws
from ldpnb.privacy import optimiser

TWO_OF_FIVE = (laws.subsets(range(5), 2), laws.subsets([9, 1, 2, 3, 4], 2))
"""The laws of a simple random sample from two data sets that differ in one record."""


def chance_of_acceptance(worst: optimiser.WorstMechanism, law: dict) -> float:
    return sum(chance * worst.acceptance(sample) for sample, chance in law.items())


def neighbours_of(sample: tuple[int, int], mechanism: str) -> list[tuple[int, ...]]:
    """Return samples with one record more, or with the second record replaced."""
    if mechanism == "deletion":
        return [(*sample, 4)]
    return [(sample[0], record) for record in range(5)]


@pytest.mark.parametrize("mechanism", ["deletion", "replacement"])
def test_worst_mechanism_is_private_on_all_data_sets_and_attains_the_loss(mechanism: str) -> None:
    first = laws.subsets([0, 1, 2], 2)
    second = laws.subsets([3, 1, 2], 2)
    worst = optimiser.largest_loss(first, second, epsilon=0.7, mechanism=mechanism)

    accept_first = chance_of_acceptance(worst, first)
    accept_second = chance_of_acceptance(worst, second)
    assert abs(np.log(accept_first / accept_second)) == pytest.approx(worst.loss, rel=1e-12)
    assert worst.swapped == (accept_second > accept_first)

    for sample in combinations_with_replacement(range(5), 2):
        here = worst.acceptance(sample)
        assert 0 < here < 1
        for other in neighbours_of(sample, mechanism):
            there = worst.acceptance(other)
            assert abs(np.log(here / there)) <= 0.7 + 1e-12
            assert abs(np.log((1 - here) / (1 - there))) <= 0.7 + 1e-12


@settings(max_examples=10, derandomize=True, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=8, max_size=8), st.sampled_from([1e-4, 0.3, 1.5]))
def test_no_random_mechanism_beats_the_optimum(weights: list[float], epsilon: float) -> None:
    samples = [(0,), (1,), (0, 1), (0, 1, 2)]
    first = np.array(weights[:4]) / sum(weights[:4])
    second = np.array(weights[4:]) / sum(weights[4:])
    first_law = dict(zip(samples, first, strict=True))
    second_law = dict(zip(samples, second, strict=True))
    worst = optimiser.largest_loss(first_law, second_law, epsilon=epsilon)

    counts = np.array([np.bincount(sample, minlength=3) for sample in samples])
    for steps in np.ndindex(3, 3, 3):
        acceptance = np.exp(epsilon * counts @ (np.array(steps) - 1))
        loss = abs(np.log((first @ acceptance) / (second @ acceptance)))
        assert loss <= worst.loss + 1e-9


def test_a_promise_that_no_vertex_keeps_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def halfway(minus_objective: np.ndarray, **_: object) -> SimpleNamespace:
        return SimpleNamespace(status=0, x=-0.01 * minus_objective)

    monkeypatch.setattr(optimize, "linprog", halfway)
    message = r"the linear program promises .* nats beyond .* that no vertex reaches"
    with pytest.raises(RuntimeError, match=message):
        optimiser.largest_loss(*TWO_OF_FIVE, epsilon=0.01)


def test_samples_of_three_sizes_are_three_separate_cases() -> None:
    first = {(1,): 0.5, (1, 2): 0.2, (1, 2, 3): 0.3}
    second = {(4,): 0.4, (1, 2): 0.2, (1, 2, 3): 0.4}
    worst = optimiser.largest_loss(first, second, epsilon=0.1, mechanism="replacement")
    assert worst.loss == pytest.approx(np.log(0.5 / 0.4) + 0.1, rel=1e-12)
    assert np.isfinite(worst.log_acceptance).sum() == 2

    apart = optimiser.largest_loss({(1,): 1.0}, {(1, 2): 1.0}, epsilon=0.1, mechanism="replacement")
    assert apart.loss == np.inf


def test_an_optimum_that_does_not_settle_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimiser, "ROUNDS", 1)
    with pytest.raises(RuntimeError, match="the optimum did not settle in 1 linear programs"):
        optimiser.largest_loss(*TWO_OF_FIVE, epsilon=1.0)


@pytest.mark.parametrize("epsilon", [1e-9, 15.0])
def test_the_extreme_budgets_of_a_linear_program_are_budgets(epsilon: float) -> None:
    worst = optimiser.largest_loss({(1,): 1.0}, {(2,): 1.0}, epsilon=epsilon)
    assert worst.loss == pytest.approx(2 * epsilon, rel=1e-12)
