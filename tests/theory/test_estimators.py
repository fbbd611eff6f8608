"""Posterior means, intervals for a gap, and solvers: every route to them agrees."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp, ndtr

from ldpnb.estimators import gaps, solvers
from ldpnb.estimators.likelihood import mle
from ldpnb.estimators.solvers import Supports
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020.formulas.bayes import (
    fitted_concentration,
    krr_posterior,
    krr_posterior_saddle,
    posterior,
    support_posterior,
)
from ldpnb.papers.lopuhaa2020.formulas.saddle import saddle_point


def test_a_thousand_values_and_ten_thousand_users_are_exact_and_the_saddle_point_close() -> None:
    rng, mechanism = np.random.default_rng(2), KaryRandomisedResponse(3.0, 1024)
    tallies = mechanism.sample_tallies(
        rng.multinomial(10_000, rng.dirichlet(np.full(1024, 0.5))), rng=rng
    )
    exact = krr_posterior(tallies, 0.5, epsilon=3.0).distribution
    near = krr_posterior_saddle(tallies, 0.5, epsilon=3.0).distribution
    assert exact.sum() == pytest.approx(1, abs=1e-11)
    assert np.abs(exact - near).max() < 4e-6


def test_gibbs_sampling_handles_unary_encoding() -> None:
    mechanism, tallies = UnaryEncoding.optimised(1.5, 2), [2, 4, 1, 2]
    exact = posterior(mechanism.channel(), tallies, [0.5, 1.5]).distribution
    mean, error = support_posterior(
        mechanism.outputs(),
        tallies,
        mechanism,
        [0.5, 1.5],
        sweeps=4000,
        rng=np.random.default_rng(12),
    )
    assert (np.abs(mean.distribution - exact) < 6 * error).all()


def test_the_fitted_concentration_is_likelier_than_its_neighbours_and_between_its_limits() -> None:
    rng = np.random.default_rng(13)
    holders = rng.multinomial(20_000, rng.dirichlet(np.full(64, 0.7)))
    tallies = KaryRandomisedResponse(3.0, 64).sample_tallies(holders, rng=rng)
    fitted = fitted_concentration(tallies, epsilon=3.0)
    evidence = [
        saddle_point(
            np.column_stack([tallies, np.full(64, fitted * factor)]),
            np.ones(64, dtype=int),
            np.expm1(3.0),
        )
        for factor in (0.97, 1.0, 1.03)
    ]
    assert evidence[1].log_evidence > max(evidence[0].log_evidence, evidence[2].log_evidence)
    assert 950 < fitted_concentration(np.full(64, 100), epsilon=2.0) < 1000
    assert 1e-3 < fitted_concentration([1000, *[0] * 9], epsilon=9.0) < 1.02e-3


def log_ratio(x: float, mean: float) -> float:
    """Likelihood of a mean over the largest one at a folded normal value, by search."""

    def lack(m: float) -> float:
        return -float(np.logaddexp(-((x - m) ** 2) / 2, -((x + m) ** 2) / 2))

    best = minimize_scalar(lack, bounds=(0, x + 1), method="bounded", options={"xatol": 1e-10})
    return min(best.fun, lack(0.0)) - lack(mean)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("mean", [0.05, 0.9, 1.3, 3.1])
def test_both_ends_of_an_acceptance_region_are_equally_likely_or_it_starts_at_zero(
    level: float, mean: float
) -> None:
    ((low, high),) = gaps.acceptance_region([mean], level)
    if low == 0:
        assert log_ratio(0.0, mean) >= log_ratio(high, mean) - 1e-9
    else:
        assert log_ratio(low, mean) == pytest.approx(log_ratio(high, mean), abs=1e-11)
    reached = ndtr(high - mean) - ndtr(-high - mean) - ndtr(low - mean) + ndtr(-low - mean)
    assert reached == pytest.approx(level, rel=1e-12)


def test_intervals_are_the_means_whose_regions_hold_the_estimate() -> None:
    observed = np.array([0.3, 1.5, 2.7, 4.0, 6.0, 7.5, 40.0])
    lower, upper = gaps.absolute_interval(-3 * observed, 3.0, level=0.99).T / 3
    for means, inside in (
        (lower + 1e-3, True),
        (lower - 1e-3, False),
        (upper - 1e-3, True),
        (upper + 1e-3, False),
    ):
        regions = gaps.acceptance_region(np.maximum(means, 0), 0.99)
        covered = (regions[:, 0] <= observed) & (observed <= regions[:, 1])
        assert (covered[means > 0] == inside).all()
    assert gaps.acceptance_region([1e8], 0.9)[0] - 1e8 == pytest.approx(
        [-1.6448536, 1.6448536], abs=1e-6
    )


def long(epsilon: float, size: int, users: int = 3000) -> Supports:
    """Return the rows of optimised unary encoding reports."""
    mechanism, rng = UnaryEncoding.optimised(epsilon, size), np.random.default_rng(size)
    outputs, tallies = mechanism.sample_outputs(
        rng.multinomial(users, rng.dirichlet(np.full(size, 0.5))), rng=rng
    )
    packed = np.packbits(outputs, axis=1).T
    return Supports(
        packed, tallies / users, size, float(np.exp(-epsilon)), float(-np.expm1(-epsilon))
    )


def test_rows_may_be_scaled_at_will() -> None:
    channel, tallies = (
        UnaryEncoding.optimised(1.0, 3).channel(),
        np.array([90, 40, 30, 20, 25, 10, 15, 5]),
    )
    scales = 10.0 ** np.array([-300, 200, 0, 50, -200, 300, 1, -1])
    fit = mle(channel * scales[:, None], tallies, tolerance=1e-9)
    assert fit.estimate == pytest.approx(mle(channel, tallies, tolerance=1e-9).estimate, rel=1e-12)


@pytest.mark.parametrize(
    ("size", "users"),
    [
        pytest.param(12, 400, id="one block of outputs"),
        pytest.param(20, 60_000, id="several blocks"),
    ],
)
def test_packed_outputs_give_the_likelihood_and_its_derivatives(size: int, users: int) -> None:
    rows = long(1.0, size, users)
    rng = np.random.default_rng(1)
    point = rng.dirichlet(np.ones(size))
    bits = np.unpackbits(rows.packed, axis=0, count=rows.size).T
    channel = rows.offset + rows.contrast * bits
    fitted = channel @ point
    scaled = channel / fitted[:, None]

    value, slope = rows.evaluate(point)
    assert value == pytest.approx(rows.weights @ np.log(fitted), rel=1e-13)
    assert slope == pytest.approx(rows.weights @ (scaled - 1), rel=1e-11, abs=1e-13)

    along = rng.standard_normal((size, 3))
    along -= along.mean(axis=0)
    exact = (rows.weights[:, None] * (scaled @ along)).T @ (scaled @ along)
    assert along.T @ rows.curvature(point) @ along == pytest.approx(exact, rel=1e-4, abs=1e-6)
    assert rows.support() == pytest.approx(rows.weights @ bits, rel=1e-12)


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
    alone = replace(rows, packed=rows.packed[:, chosen], weights=weights).curvature(point)
    assert sampled - np.diag(np.diag(sampled)) == pytest.approx(
        alone - np.diag(np.diag(alone)), rel=1e-5
    )
    assert np.diag(sampled) == pytest.approx(np.maximum(np.diag(alone), np.diag(exact)), rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_the_saddle_points_means_and_evidence_are_those_of_finite_sums(epsilon: float) -> None:
    counts, alpha, contrast = (
        np.array([0, 1, 3, 60, 200]),
        np.array([0.2, 0.5, 1.0, 3.0, 0.5]),
        np.expm1(epsilon),
    )
    repeats = np.array([30, 20, 10, 2, 1])
    saddle = saddle_point(np.column_stack([counts, alpha]), repeats, contrast)
    logs, means, variances = [], [], []
    for count, own in zip(counts, alpha, strict=True):
        j = np.arange(count + 1)
        terms = gammaln(count + 1) - gammaln(j + 1) - gammaln(count - j + 1) + j * np.log(contrast)
        terms += gammaln(own + j) - (own + j) * np.log(saddle.multiplier)
        weights, u = np.exp(terms - logsumexp(terms)), (own + j) / saddle.multiplier
        logs.append(logsumexp(terms))
        means.append(weights @ u)
        variances.append(weights @ (u * (1 / saddle.multiplier + u)) - means[-1] ** 2)
    assert repeats @ means == pytest.approx(1, rel=1e-11)
    assert saddle.means == pytest.approx(means, rel=1e-10)
    total = repeats @ alpha
    evidence = gammaln(total) - repeats @ gammaln(alpha) + saddle.multiplier + repeats @ logs
    evidence -= np.log(2 * np.pi * repeats @ variances) / 2
    assert saddle.log_evidence == pytest.approx(evidence, rel=1e-10)
