"""The exact optimiser: what it certifies, where it fails, and mechanisms it must find."""

from itertools import combinations_with_replacement
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from ldpnb.designs import laws
from ldpnb.privacy import optimiser

LAWS = [
    (laws.subsets(range(5), 2), laws.subsets([9, 1, 2, 3, 4], 2)),
    (laws.subsets(range(4), 3), laws.subsets([9, 1, 2, 3], 3)),
    ({(0,): 0.2, (1,): 0.3, (0, 1): 0.5}, {(0,): 0.4, (2,): 0.1, (0, 2): 0.5}),
    ({(): 0.5, (1,): 0.25, (1, 1): 0.25}, {(): 0.1, (1,): 0.2, (1, 1): 0.7}),
]


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


def test_a_promise_that_no_vertex_keeps_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def halfway(minus_objective: np.ndarray, **_: object) -> SimpleNamespace:
        return SimpleNamespace(status=0, x=-0.01 * minus_objective)

    monkeypatch.setattr(optimize, "linprog", halfway)
    with pytest.raises(
        RuntimeError, match=r"the linear program promises .* nats beyond .* that no vertex reaches"
    ):
        optimiser.largest_loss(*LAWS[0], epsilon=0.01)


def test_samples_of_three_sizes_are_three_separate_cases() -> None:
    first, second = (
        {(1,): 0.5, (1, 2): 0.2, (1, 2, 3): 0.3},
        {(4,): 0.4, (1, 2): 0.2, (1, 2, 3): 0.4},
    )
    worst = optimiser.largest_loss(first, second, epsilon=0.1, mechanism="replacement")
    assert worst.loss == pytest.approx(np.log(0.5 / 0.4) + 0.1, rel=1e-12)
    assert np.isfinite(worst.log_acceptance).sum() == 2
    assert (
        optimiser.largest_loss(
            {(1,): 1.0}, {(1, 2): 1.0}, epsilon=0.1, mechanism="replacement"
        ).loss
        == np.inf
    )


def test_an_optimum_that_does_not_settle_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimiser, "ROUNDS", 1)
    with pytest.raises(RuntimeError, match="the optimum did not settle in 1 linear programs"):
        optimiser.largest_loss(*LAWS[0], epsilon=1.0)


@pytest.mark.parametrize("epsilon", [1e-9, 15.0])
def test_the_extreme_budgets_of_a_linear_program_are_budgets(epsilon: float) -> None:
    worst = optimiser.largest_loss({(1,): 1.0}, {(2,): 1.0}, epsilon=epsilon)
    assert worst.loss == pytest.approx(2 * epsilon, rel=1e-12)
