"""Posterior means: every route to them agrees, and the scalable one stays close."""

import json
from pathlib import Path

import numpy as np
import pytest

from ldpnb.estimators.bayes import (
    fitted_concentration,
    krr_posterior,
    krr_posterior_saddle,
    posterior,
    support_posterior,
)
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding

CASES = json.loads((Path(__file__).parents[1] / "reference/002.json").read_text())["cases"]


def channel(protocol: str) -> np.ndarray:
    kind, size, epsilon = protocol.split()
    make = KaryRandomisedResponse if kind == "RR" else UnaryEncoding.optimised
    return make(float(epsilon[4:]), int(size[2:])).channel()


@pytest.mark.parametrize("case", [c for c in CASES if c["fn"] == "rr_posterior_mean"])
def test_the_krr_posterior_meets_the_reference(case: dict) -> None:
    found = krr_posterior(case["s"], case["alpha"], epsilon=case["eps"])
    assert found.distribution == pytest.approx(case["P_opt"], rel=1e-9)
    assert found.frequencies == pytest.approx(case["F_opt"], rel=1e-9)


@pytest.mark.parametrize("case", [c for c in CASES if c["fn"] == "posterior_general"])
def test_the_general_posterior_meets_the_reference(case: dict) -> None:
    found = posterior(channel(case["protocol"]), case["s"], case["alpha"])
    assert found.distribution == pytest.approx(case["P_opt"], rel=1e-9)
    assert found.frequencies == pytest.approx(case["F_opt"], rel=1e-9)
    assert found.distribution_variance == pytest.approx(case["trCovP"], rel=1e-9)
    assert found.frequency_variance == pytest.approx(case["trCovF"], rel=1e-9)
    assert found.log_marginal == pytest.approx(case["log_marginal_sequence"], rel=1e-9)


def test_perfect_reports_leave_the_usual_dirichlet_posterior() -> None:
    tallies = np.array([5, 1, 0, 4])
    assert krr_posterior(tallies, 0.5, epsilon=50.0).distribution == pytest.approx((tallies + 0.5) / 12, rel=1e-9)


def test_worthless_reports_leave_the_prior() -> None:
    assert krr_posterior([50, 30, 20], [1.0, 2.0, 3.0], epsilon=1e-9).distribution == pytest.approx(
        [1 / 6, 1 / 3, 1 / 2], rel=1e-6
    )


def test_a_thousand_values_and_ten_thousand_users_are_exact_and_the_saddle_point_close() -> None:
    rng, mechanism = np.random.default_rng(2), KaryRandomisedResponse(3.0, 1024)
    tallies = mechanism.sample_tallies(rng.multinomial(10_000, rng.dirichlet(np.full(1024, 0.5))), rng=rng)
    exact = krr_posterior(tallies, 0.5, epsilon=3.0).distribution
    near = krr_posterior_saddle(tallies, 0.5, epsilon=3.0).distribution
    assert exact.sum() == pytest.approx(1, abs=1e-11)
    assert np.abs(exact - near).max() < 4e-6


def test_the_saddle_point_is_only_roughly_right_for_three_values() -> None:
    near = krr_posterior_saddle([4, 1, 2], 0.5, epsilon=1.0).distribution
    assert 0.005 < abs(near[0] - 0.547189840722) < 0.01


def test_gibbs_sampling_handles_unary_encoding() -> None:
    mechanism, tallies = UnaryEncoding.optimised(1.5, 2), [2, 4, 1, 2]
    exact = posterior(mechanism.channel(), tallies, [0.5, 1.5]).distribution
    found, error = support_posterior(
        mechanism.outputs(), tallies, mechanism, [0.5, 1.5], sweeps=4000, rng=np.random.default_rng(12)
    )
    assert (np.abs(found.distribution - exact) < 6 * error).all()


@pytest.mark.parametrize("truth", [0.1, 5.0])
def test_the_fitted_concentration_is_near_the_truths(truth: float) -> None:
    rng = np.random.default_rng(13)
    held = rng.multinomial(100_000, rng.dirichlet(np.full(128, truth)))
    tallies = KaryRandomisedResponse(4.0, 128).sample_tallies(held, rng=rng)
    assert fitted_concentration(tallies, epsilon=4.0) == pytest.approx(truth, rel=0.5)
