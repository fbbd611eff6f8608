"""How few steps the solvers take: a guard of their speed, which another processor may miss by one."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ldpnb.estimators import likelihood, saddle, solvers
from ldpnb.estimators.bayes import krr_posterior
from ldpnb.estimators.likelihood import mle
from ldpnb.estimators.saddle import saddle_point
from ldpnb.estimators.solvers import Rows, interior_point, proximal_newton
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding


def reports(mechanism: Any, users: int, draws: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return a channel and shares of its outputs among users with a random distribution, one row per draw."""
    rng, channel = np.random.default_rng(users), mechanism.channel()
    shares = rng.dirichlet(np.full(mechanism.domain_size, 0.5))
    tallies = rng.multinomial(users, channel @ shares, size=draws)
    seen = tallies.any(axis=0)
    return channel[seen], tallies[:, seen] / users


SHORT = [
    make(epsilon, size)
    for make, sizes in ((KaryRandomisedResponse, (2, 4, 8, 16, 20)), (UnaryEncoding.optimised, (2, 4, 6)))
    for size in sizes
    for epsilon in (1e-5, 1e-3, 0.5, 3.0, 12.0, 40.0)
]
STEPS = {
    (100, 1): "10 10 9 8 8 8  10 10 10 9 8 8  10 10 12 10 8 8  11 11 13 15 8 8  "
    "11 11 11 10 8 8  10 10 16 8 8 8  10 10 13 9 9 9  10 10 11 10 9 9",
    (10**6, 1): "11 12 11 10 10 10  12 12 12 11 10 10  14 13 14 12 11 11  14 13 16 16 12 12  "
    "13 14 17 15 12 12  11 12 11 10 10 10  12 13 12 11 11 11  12 13 14 12 11 11",
    (1000, 6): "10 10 10 9 9 9  11 11 12 9 9 9  11 11 15 13 9 9  11 11 15 14 10 10  "
    "11 12 17 15 10 10  10 10 10 9 9 9  11 11 12 10 9 9  11 11 15 14 10 10",
}
"""Newton steps for the mechanisms of `SHORT`, by users and data sets."""


@pytest.mark.parametrize(("users", "draws"), [(100, 1), (10**6, 1), (1000, 6)])
def test_short_parameters_are_solved_to_machine_precision_in_few_newton_steps(
    counted: Callable[[Any, str], list[int]], users: int, draws: int
) -> None:
    solved, taken = counted(solvers, "_solve"), []
    for mechanism in SHORT:
        solved.clear()
        estimates, gaps = interior_point(*reports(mechanism, users, draws), tolerance=1e-9 / users)
        assert estimates.sum(axis=1) == pytest.approx(np.ones(draws), rel=1e-14)
        assert gaps.max() < 1e-11
        assert estimates.min() >= 0
        taken.append(len(solved) - 4)
    assert (np.array(taken) <= np.array(STEPS[users, draws].split(), dtype=int)).all()


PASSES = "5 5 5 6 6 7 8 11 8 16 8 34  5 4 6 6 6 7 8 9 9 14 8 31  5 5 5 5 6 7 8 9 8 13 8 30"
INNER = (
    "15 16 20 23 20 23 28 39 26 62 27 221  16 14 30 30 27 30 41 43 49 63 36 212  18 21 19 20 27 30 48 47 38 57 36 195"
)
"""Passes over the rows, and steps of the quadratic models, for each number of values, budget and start."""


def long(epsilon: float, size: int, users: int = 3000) -> Rows:
    """Return the rows of optimised unary encoding reports."""
    mechanism, rng = UnaryEncoding.optimised(epsilon, size), np.random.default_rng(size)
    outputs, tallies = mechanism.sample_outputs(rng.multinomial(users, rng.dirichlet(np.full(size, 0.5))), rng=rng)
    return Rows(outputs, tallies / users, float(np.exp(-epsilon)), float(-np.expm1(-epsilon)))


def far(size: int) -> np.ndarray:
    """Return a distribution that has nearly all users hold the first value."""
    return np.append(1 - 1e-9 * (size - 1), np.full(size - 1, 1e-9))


def test_long_parameters_are_certified_in_few_passes_from_near_and_far(
    counted: Callable[[Any, str], list[int]],
) -> None:
    inner, taken = counted(solvers, "_stay_positive"), []
    for size in (8, 36, 64):
        for epsilon in (0.05, 0.5, 2.0, 4.0, 8.0, 20.0):
            for start in (np.full(size, 1 / size), far(size)):
                inner.clear()
                estimate, gap, passes = proximal_newton(long(epsilon, size), start, tolerance=1e-9)
                assert estimate.sum() == pytest.approx(1, rel=1e-13)
                assert gap <= 1e-9
                taken.append((passes, len(inner)))
    assert (np.array(taken) <= np.array([PASSES.split(), INNER.split()], dtype=int).T).all()


@pytest.mark.parametrize(("work", "passes", "inner"), [(4e10, 235, 1160), (1.0, 250, 1290)])
def test_single_precision_and_a_model_from_a_sample_cost_some_passes_more(
    monkeypatch: pytest.MonkeyPatch, counted: Callable[[Any, str], list[int]], work: float, passes: int, inner: int
) -> None:
    monkeypatch.setattr(solvers, "_LARGE", 1)
    monkeypatch.setattr(solvers, "_MODEL_WORK", work)
    steps, used = counted(solvers, "_stay_positive"), 0
    for size in (8, 16, 36, 64):
        for epsilon in (0.5, 4.0, 8.0, 20.0):
            _, gap, passed = proximal_newton(long(epsilon, size), np.full(size, 1 / size), tolerance=1e-7)
            used += passed
            assert gap <= 1e-7
    assert used <= passes
    assert len(steps) <= inner


@pytest.mark.parametrize(
    ("values", "draws", "shared"), [(16, 5, True), (17, 5, False), (16, 4, False), (17, 1, False), (2, 5, True)]
)
def test_five_data_sets_of_sixteen_values_share_a_table_and_others_need_none(
    counted: Callable[[Any, str], list[int]], values: int, draws: int, shared: bool
) -> None:
    channel, rng = np.random.default_rng(1).random((2000, values)), np.random.default_rng(2)
    weights = rng.dirichlet(np.ones(2000), size=draws)
    stacked = counted(np, "stack")
    tracemalloc.start()
    _, gaps = interior_point(channel, weights, tolerance=1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert gaps.max() < 1e-6
    assert (len(stacked) == 0) == shared
    assert shared or peak < 2000 * values**2 * 8


@pytest.mark.parametrize(("values", "together", "apart"), [(2, 1, 0), (32, 1, 0), (33, 0, 3)])
def test_up_to_thirty_two_values_all_data_sets_are_solved_together_and_beyond_one_by_one(
    counted: Callable[[Any, str], list[int]], values: int, together: int, apart: int
) -> None:
    short, long_ones = counted(likelihood, "interior_point"), counted(likelihood, "proximal_newton")
    mechanism, rng = KaryRandomisedResponse(3.0, values), np.random.default_rng(5)
    tallies = rng.multinomial(900, mechanism.channel() @ rng.dirichlet(np.ones(values)), size=3)
    estimates = mle(mechanism.channel(), tallies, tolerance=1e-6).estimate
    assert estimates == pytest.approx(likelihood.krr_mle(tallies, epsilon=3.0), abs=1e-4)
    assert (len(short), len(long_ones)) == (together, apart)


@pytest.mark.parametrize(
    ("epsilon", "steps", "most"), [(1e-6, 46, 57_711), (0.3, 85, 93_647), (3.0, 65, 64_882), (12.0, 44, 42_786)]
)
def test_the_multiplier_is_found_in_few_newton_steps_on_short_grids(
    counted: Callable[[Any, str], list[int]], monkeypatch: pytest.MonkeyPatch, epsilon: float, steps: int, most: int
) -> None:
    taken, nodes, linspace = counted(saddle, "_coordinate_moments"), [], np.linspace
    monkeypatch.setattr(np, "linspace", lambda a, b, number: [nodes.append(number), linspace(a, b, number)][1])
    for counts in ([5, 3], [0, 1000], [0, 3, 60, 900], [10**6, 10**6, 10], range(40)):
        for alpha in (0.1, 0.5, 20.0):
            kinds = np.column_stack([counts, np.full(len(counts), alpha)]).astype(float)
            saddle_point(kinds, np.ones(len(counts), dtype=int), float(np.expm1(epsilon)))
    assert len(taken) <= steps
    assert sum(nodes) <= most


def test_negligible_ends_of_the_series_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    work, plain = [], np.convolve
    monkeypatch.setattr(np, "convolve", lambda a, b: [work.append(a.size * b.size), plain(a, b)][1])
    rng = np.random.default_rng(2)
    krr_posterior(rng.multinomial(2000, rng.dirichlet(np.full(50, 0.5))), 0.5, epsilon=1.0)
    assert sum(work) <= 2_800_000
