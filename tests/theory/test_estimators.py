"""Posterior means, intervals for a gap, and solvers: every route to them agrees.

The second ways: exact posteriors for the saddle point and for Gibbs sampling, likelihoods by
search for acceptance regions, unpacked matrices for packed reports, finite sums for the evidence.
"""

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


def drawn_holders(
    users: int, size: int, rng: np.random.Generator, concentration: float = 0.5
) -> np.ndarray:
    """Draw how many users hold each value, from a distribution that is itself drawn."""
    return rng.multinomial(users, rng.dirichlet(np.full(size, concentration)))


def test_a_thousand_values_and_ten_thousand_users_are_exact_and_the_saddle_point_close() -> None:
    rng = np.random.default_rng(2)
    holders = drawn_holders(10_000, 1024, rng)
    tallies = KaryRandomisedResponse(3.0, 1024).sample_tallies(holders, rng=rng)

    exact = krr_posterior(tallies, 0.5, epsilon=3.0).distribution
    near = krr_posterior_saddle(tallies, 0.5, epsilon=3.0).distribution
    assert exact.sum() == pytest.approx(1, abs=1e-11)
    assert np.abs(exact - near).max() < 4e-6


def test_gibbs_sampling_handles_unary_encoding() -> None:
    mechanism = UnaryEncoding.optimised(1.5, 2)
    tallies = [2, 4, 1, 2]
    prior = [0.5, 1.5]

    exact = posterior(mechanism.channel(), tallies, prior).distribution
    rng = np.random.default_rng(12)
    mean, error = support_posterior(
        mechanism.outputs(), tallies, mechanism, prior, sweeps=4000, rng=rng
    )
    assert (np.abs(mean.distribution - exact) < 6 * error).all()


def test_the_fitted_concentration_is_likelier_than_its_neighbours() -> None:
    rng = np.random.default_rng(13)
    holders = drawn_holders(20_000, 64, rng, concentration=0.7)
    tallies = KaryRandomisedResponse(3.0, 64).sample_tallies(holders, rng=rng)
    fitted = fitted_concentration(tallies, epsilon=3.0)

    def log_evidence(concentration: float) -> float:
        columns = np.column_stack([tallies, np.full(64, concentration)])
        return saddle_point(columns, np.ones(64, dtype=int), np.expm1(3.0)).log_evidence

    assert log_evidence(fitted) > log_evidence(0.97 * fitted)
    assert log_evidence(fitted) > log_evidence(1.03 * fitted)


def test_the_fitted_concentration_lies_between_its_limits() -> None:
    equal = np.full(64, 100)
    assert 950 < fitted_concentration(equal, epsilon=2.0) < 1000
    one_value = [1000, *[0] * 9]
    assert 1e-3 < fitted_concentration(one_value, epsilon=9.0) < 1.02e-3


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

    below_high = ndtr(high - mean) - ndtr(-high - mean)
    below_low = ndtr(low - mean) - ndtr(-low - mean)
    assert below_high - below_low == pytest.approx(level, rel=1e-12)


def test_intervals_are_the_means_whose_regions_hold_the_estimate() -> None:
    observed = np.array([0.3, 1.5, 2.7, 4.0, 6.0, 7.5, 40.0])
    lower, upper = gaps.absolute_interval(-3 * observed, 3.0, level=0.99).T / 3

    def region_holds_estimate(means: np.ndarray) -> np.ndarray:
        regions = gaps.acceptance_region(np.maximum(means, 0), 0.99)
        covered = (regions[:, 0] <= observed) & (observed <= regions[:, 1])
        return covered[means > 0]

    step = 1e-3
    assert region_holds_estimate(lower + step).all()
    assert region_holds_estimate(upper - step).all()
    assert not region_holds_estimate(lower - step).any()
    assert not region_holds_estimate(upper + step).any()


def test_the_region_of_a_large_mean_is_that_of_a_normal_law() -> None:
    region = gaps.acceptance_region([1e8], 0.9)[0]
    assert region - 1e8 == pytest.approx([-1.6448536, 1.6448536], abs=1e-6)


def packed_reports(epsilon: float, size: int, users: int) -> Supports:
    """Draw reports of optimised unary encoding, each a column of packed bits."""
    mechanism = UnaryEncoding.optimised(epsilon, size)
    rng = np.random.default_rng(size)
    outputs, tallies = mechanism.sample_outputs(drawn_holders(users, size, rng), rng=rng)
    packed = np.packbits(outputs, axis=1).T
    offset = float(np.exp(-epsilon))
    contrast = float(-np.expm1(-epsilon))
    return Supports(packed, tallies / users, size, offset, contrast)


def test_rows_may_be_scaled_at_will() -> None:
    channel = UnaryEncoding.optimised(1.0, 3).channel()
    tallies = np.array([90, 40, 30, 20, 25, 10, 15, 5])
    scales = 10.0 ** np.array([-300, 200, 0, 50, -200, 300, 1, -1])

    scaled = mle(channel * scales[:, None], tallies, tolerance=1e-9)
    plain = mle(channel, tallies, tolerance=1e-9)
    assert scaled.estimate == pytest.approx(plain.estimate, rel=1e-12)


@pytest.mark.parametrize(
    ("size", "users"),
    [
        pytest.param(12, 400, id="one block of outputs"),
        pytest.param(20, 60_000, id="several blocks"),
    ],
)
def test_packed_outputs_give_the_likelihood_and_its_derivatives(size: int, users: int) -> None:
    rows = packed_reports(1.0, size, users)
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


def off_diagonal(matrix: np.ndarray) -> np.ndarray:
    return matrix - np.diag(np.diag(matrix))


@pytest.mark.parametrize(("work", "rows_used"), [(1.0, 240), (300 * 144.0, 300)])
def test_a_model_from_a_sample_of_the_rows_never_lets_a_value_look_free(
    monkeypatch: pytest.MonkeyPatch, work: float, rows_used: int
) -> None:
    rows = packed_reports(1.0, 12, 400)
    point = np.full(12, 1 / 12)
    exact = rows.curvature(point)
    monkeypatch.setattr(solvers, "MODEL_WORK", work)
    sampled = rows.curvature(point)
    assert (np.diag(sampled) > 0.999999 * np.diag(exact)).all()

    chosen = np.linspace(0, len(rows.weights) - 1, rows_used).astype(int)
    weights = rows.weights[chosen] / rows.weights[chosen].sum()
    alone = replace(rows, packed=rows.packed[:, chosen], weights=weights).curvature(point)
    diagonal = np.maximum(np.diag(alone), np.diag(exact))
    assert off_diagonal(sampled) == pytest.approx(off_diagonal(alone), rel=1e-5)
    assert np.diag(sampled) == pytest.approx(diagonal, rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_the_saddle_points_means_and_evidence_are_those_of_finite_sums(epsilon: float) -> None:
    counts = np.array([0, 1, 3, 60, 200])
    alpha = np.array([0.2, 0.5, 1.0, 3.0, 0.5])
    repeats = np.array([30, 20, 10, 2, 1])
    contrast = np.expm1(epsilon)
    saddle = saddle_point(np.column_stack([counts, alpha]), repeats, contrast)
    multiplier = saddle.multiplier

    logs = []
    means = []
    variances = []
    for count, own in zip(counts, alpha, strict=True):
        j = np.arange(count + 1)
        log_ways = gammaln(count + 1) - gammaln(j + 1) - gammaln(count - j + 1)
        log_gamma_law = gammaln(own + j) - (own + j) * np.log(multiplier)
        terms = log_ways + j * np.log(contrast) + log_gamma_law
        weights = np.exp(terms - logsumexp(terms))

        mean = (own + j) / multiplier
        square = mean * (1 / multiplier + mean)
        logs.append(logsumexp(terms))
        means.append(weights @ mean)
        variances.append(weights @ square - means[-1] ** 2)

    assert repeats @ means == pytest.approx(1, rel=1e-11)
    assert saddle.means == pytest.approx(means, rel=1e-10)

    evidence = gammaln(repeats @ alpha) - repeats @ gammaln(alpha) + multiplier + repeats @ logs
    evidence -= np.log(2 * np.pi * repeats @ variances) / 2
    assert saddle.log_evidence == pytest.approx(evidence, rel=1e-10)
