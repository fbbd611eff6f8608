"""What the solvers promise beside their certificates: few steps, small blocks, and derivatives that are those of the likelihood."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from ldpnb.estimators import saddle, solvers
from ldpnb.estimators.saddle import saddle_point
from ldpnb.estimators.solvers import Rows, interior_point, proximal_newton
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], list[int]]:
    """Return a function that makes a list grow by one entry whenever a function is called."""

    def count(module: Any, name: str) -> list[int]:
        calls, plain = [], getattr(module, name)

        def noted(*given: Any, **named: Any) -> Any:
            calls.append(1)
            return plain(*given, **named)

        monkeypatch.setattr(module, name, noted)
        return calls

    return count


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
    for epsilon in (1e-3, 0.5, 3.0, 12.0)
]


@pytest.mark.parametrize(("users", "draws", "steps"), [(100, 1, 323), (10**6, 1, 394), (1000, 6, 362)])
def test_short_parameters_are_solved_to_machine_precision_in_few_newton_steps(
    counted: Callable[[Any, str], list[int]], users: int, draws: int, steps: int
) -> None:
    solved = counted(solvers, "_solve")
    for mechanism in SHORT:
        estimates, gaps = interior_point(*reports(mechanism, users, draws), tolerance=1e-9 / users)
        assert estimates.sum(axis=1) == pytest.approx(np.ones(draws), rel=1e-14)
        assert gaps.max() < 1e-14
    assert len(solved) - 4 * len(SHORT) <= steps


def long(epsilon: float, size: int, users: int = 3000) -> Rows:
    """Return the rows of optimised unary encoding reports."""
    mechanism, rng = UnaryEncoding.optimised(epsilon, size), np.random.default_rng(size)
    outputs, tallies = mechanism.sample_outputs(rng.multinomial(users, rng.dirichlet(np.full(size, 0.5))), rng=rng)
    return Rows(outputs, tallies / users, float(np.exp(-epsilon)), float(-np.expm1(-epsilon)))


@pytest.mark.parametrize(
    ("large", "work", "passes", "inner"), [(2**26, 4e10, 52, 230), (1, 4e10, 130, 770), (1, 1e5, 135, 820)]
)
def test_long_parameters_are_certified_in_few_passes_whatever_the_precision_and_the_model(
    monkeypatch: pytest.MonkeyPatch,
    counted: Callable[[Any, str], list[int]],
    large: int,
    work: float,
    passes: int,
    inner: int,
) -> None:
    monkeypatch.setattr(solvers, "_LARGE", large)
    monkeypatch.setattr(solvers, "_MODEL_WORK", work)
    steps, used = counted(solvers, "_stay_positive"), 0
    for size in (36, 64):
        for epsilon in (0.5, 4.0, 8.0, 20.0):
            _, gap, passed = proximal_newton(long(epsilon, size), np.full(size, 1 / size), tolerance=1e-7)
            used += passed
            assert gap <= 1e-7
    assert used <= passes
    assert len(steps) <= inner


@pytest.mark.parametrize("chunk", [2**21, 300])
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
    assert not np.allclose(sampled, exact, rtol=1e-3)
    assert sampled == pytest.approx(exact, rel=0.3)


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
