"""What the solvers promise beside their certificates: few steps, small blocks, and derivatives that are those of the
likelihood.
"""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from ldpnb.estimators import likelihood, saddle, solvers
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


def test_a_step_that_loses_is_halved_and_the_next_one_may_be_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, start, vertex = Rows(np.eye(3), np.array([0.8, 0.1, 0.1]), 1e-3, 1.0), np.full(3, 1 / 3), np.eye(3)[0]
    monkeypatch.setattr(solvers, "_simplex_quadratic", lambda *_: vertex)
    estimates = [proximal_newton(rows, start, tolerance=1e-9, passes=passes)[0] for passes in range(1, 6)]
    shares = [1.5 * float(estimate[0]) - 0.5 for estimate in estimates]
    assert shares == pytest.approx([0, 0, 0.5, 0.5, 0.75], abs=1e-12)


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


def test_rows_may_be_scaled_at_will() -> None:
    channel, tallies = UnaryEncoding.optimised(1.0, 3).channel(), np.array([90, 40, 30, 20, 25, 10, 15, 5])
    scales = 10.0 ** np.array([-300, 200, 0, 50, -200, 300, 1, -1])
    fit = mle(channel * scales[:, None], tallies, tolerance=1e-9)
    assert fit.estimate == pytest.approx(mle(channel, tallies, tolerance=1e-9).estimate, rel=1e-12)
    long_channel = np.tile(channel, (1, 12))
    far_apart = mle(long_channel * scales[:, None], tallies, tolerance=1e-6).estimate
    assert far_apart.reshape(12, 3).sum(axis=0) == pytest.approx(fit.estimate, abs=1e-5)


def test_perfect_reports_of_many_data_sets_are_their_shares() -> None:
    tallies = np.array([[5, 5, 0, 0], [0, 0, 7, 3], [1, 2, 3, 4], [0, 0, 0, 9], [9, 0, 0, 1], [2, 2, 2, 2]])
    fit = mle(np.eye(4), tallies, tolerance=1e-9)
    assert fit.estimate == pytest.approx(tallies / tallies.sum(axis=1, keepdims=True), abs=1e-12)


@pytest.mark.parametrize("chunk", [2**21, 300, 5])
def test_rows_give_the_likelihood_and_its_derivatives_whatever_the_blocks(
    monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    rows, rng = long(1.0, 12, 400), np.random.default_rng(1)
    point = rng.dirichlet(np.ones(12))
    channel = rows.offset + rows.contrast * rows.bits
    fitted = channel @ point
    bent = (channel - fitted[:, None]) / fitted[:, None]
    monkeypatch.setattr(solvers, "_CHUNK", chunk)
    value, slope = rows.evaluate(point, np.float64)
    assert value == pytest.approx(rows.weights @ np.log(fitted), rel=1e-13)
    assert slope == pytest.approx(rows.weights @ bent, rel=1e-11, abs=1e-14)
    assert rows.evaluate(point, np.float32)[1] == pytest.approx(slope, rel=1e-4, abs=1e-5)
    along = rng.standard_normal((12, 3))
    along -= along.mean(axis=0)
    exact = (rows.weights[:, None] * (channel / fitted[:, None] @ along)).T @ (channel / fitted[:, None] @ along)
    assert along.T @ rows.curvature(point) @ along == pytest.approx(exact, rel=1e-4, abs=1e-6)
    assert rows.support() == pytest.approx(rows.weights @ rows.bits, rel=1e-13)


def test_a_model_from_a_sample_of_the_rows_never_lets_a_value_look_free(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, point = long(1.0, 12, 400), np.full(12, 1 / 12)
    exact = rows.curvature(point)
    monkeypatch.setattr(solvers, "_MODEL_WORK", 1.0)
    sampled = rows.curvature(point)
    assert (np.diag(sampled) > 0.999999 * np.diag(exact)).all()
    chosen = np.linspace(0, len(rows.weights) - 1, 240).astype(int)
    weights = rows.weights[chosen] / rows.weights[chosen].sum()
    alone = Rows(rows.bits[chosen], weights, rows.offset, rows.contrast).curvature(point)
    assert sampled - np.diag(np.diag(sampled)) == pytest.approx(alone - np.diag(np.diag(alone)), rel=1e-5)
    assert np.diag(sampled) == pytest.approx(np.maximum(np.diag(alone), np.diag(exact)), rel=1e-5)


def test_a_pass_over_many_rows_needs_a_few_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "_MODEL_WORK", 1.0)
    rows = Rows(np.broadcast_to(np.eye(8, dtype=np.uint8)[0], (2**20, 8)), np.full(2**20, 2.0**-20), 1.0, 1.0)
    point = np.full(8, 1 / 8)
    for work, megabytes in (
        (lambda: rows.evaluate(point, np.float64), 5),
        (lambda: rows.evaluate(point, np.float32), 5),
        (lambda: rows.curvature(point), 18),
        (rows.support, 17),
    ):
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < megabytes * 2**20


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


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_the_saddle_points_means_and_evidence_are_those_of_finite_sums(epsilon: float) -> None:
    counts, alpha, contrast = np.array([0, 1, 3, 60, 200]), np.array([0.2, 0.5, 1.0, 3.0, 0.5]), np.expm1(epsilon)
    repeats = np.array([30, 20, 10, 2, 1])
    found = saddle_point(np.column_stack([counts, alpha]), repeats, contrast)
    logs, means, variances = [], [], []
    for count, own in zip(counts, alpha, strict=True):
        j = np.arange(count + 1)
        terms = gammaln(count + 1) - gammaln(j + 1) - gammaln(count - j + 1) + j * np.log(contrast)
        terms += gammaln(own + j) - (own + j) * np.log(found.multiplier)
        weights, u = np.exp(terms - logsumexp(terms)), (own + j) / found.multiplier
        logs.append(logsumexp(terms))
        means.append(weights @ u)
        variances.append(weights @ (u * (1 / found.multiplier + u)) - means[-1] ** 2)
    assert repeats @ means == pytest.approx(1, rel=1e-11)
    assert found.means == pytest.approx(means, rel=1e-10)
    total = repeats @ alpha
    evidence = gammaln(total) - repeats @ gammaln(alpha) + found.multiplier + repeats @ logs
    evidence -= np.log(2 * np.pi * repeats @ variances) / 2
    assert found.log_evidence == pytest.approx(evidence, rel=1e-10)
