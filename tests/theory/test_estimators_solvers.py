"""What the solvers promise beside their certificates: small blocks, and the derivatives of the likelihood."""

import tracemalloc

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from ldpnb.estimators import solvers
from ldpnb.estimators.likelihood import mle
from ldpnb.estimators.saddle import saddle_point
from ldpnb.estimators.solvers import Rows, proximal_newton
from ldpnb.mechanisms.frequency import UnaryEncoding


def long(epsilon: float, size: int, users: int = 3000) -> Rows:
    """Return the rows of optimised unary encoding reports."""
    mechanism, rng = UnaryEncoding.optimised(epsilon, size), np.random.default_rng(size)
    outputs, tallies = mechanism.sample_outputs(rng.multinomial(users, rng.dirichlet(np.full(size, 0.5))), rng=rng)
    return Rows(outputs, tallies / users, float(np.exp(-epsilon)), float(-np.expm1(-epsilon)))


def test_a_step_that_loses_is_halved_and_the_next_one_may_be_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, start, vertex = Rows(np.eye(3), np.array([0.8, 0.1, 0.1]), 1e-3, 1.0), np.full(3, 1 / 3), np.eye(3)[0]
    monkeypatch.setattr(solvers, "_simplex_quadratic", lambda *_: vertex)
    estimates = [proximal_newton(rows, start, tolerance=1e-9, passes=passes)[0] for passes in range(1, 6)]
    shares = [1.5 * float(estimate[0]) - 0.5 for estimate in estimates]
    assert shares == pytest.approx([0, 0, 0.5, 0.5, 0.75], abs=1e-12)
    assert proximal_newton(rows, start, tolerance=-1.0)[2] == 60


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


@pytest.mark.parametrize(("work", "rows_used"), [(1.0, 240), (300 * 144.0, 300)])
def test_a_model_from_a_sample_of_the_rows_never_lets_a_value_look_free(
    monkeypatch: pytest.MonkeyPatch, work: float, rows_used: int
) -> None:
    rows, point = long(1.0, 12, 400), np.full(12, 1 / 12)
    exact = rows.curvature(point)
    monkeypatch.setattr(solvers, "_MODEL_WORK", work)
    sampled = rows.curvature(point)
    assert (np.diag(sampled) > 0.999999 * np.diag(exact)).all()
    chosen = np.linspace(0, len(rows.weights) - 1, rows_used).astype(int)
    weights = rows.weights[chosen] / rows.weights[chosen].sum()
    alone = Rows(rows.bits[chosen], weights, rows.offset, rows.contrast).curvature(point)
    assert sampled - np.diag(np.diag(sampled)) == pytest.approx(alone - np.diag(np.diag(alone)), rel=1e-5)
    assert np.diag(sampled) == pytest.approx(np.maximum(np.diag(alone), np.diag(exact)), rel=1e-5)


def test_a_pass_over_many_rows_needs_a_few_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "_MODEL_WORK", 1.0)
    rows = Rows(np.broadcast_to(np.eye(8, dtype=np.uint8)[0], (2**19, 8)), np.full(2**19, 2.0**-19), 1.0, 1.0)
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
