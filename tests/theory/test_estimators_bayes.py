"""Posterior means: every route to them agrees, and the scalable one stays close."""

import json
from pathlib import Path

import numpy as np
import pytest

from ldpnb.estimators.bayes import (
    fitted_concentration,
    frequency_mean,
    krr_posterior,
    krr_posterior_saddle,
    posterior,
    support_posterior,
)
from ldpnb.estimators.saddle import saddle_point
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding

CASES = json.loads((Path(__file__).parents[1] / "reference/002.json").read_text())["cases"]


def channel(protocol: str) -> np.ndarray:
    kind, size, epsilon = protocol.split()
    make = KaryRandomisedResponse if kind == "RR" else UnaryEncoding.optimised
    return make(float(epsilon[4:]), int(size[2:])).channel()


def test_posterior_means_meet_the_reference() -> None:
    for case in (c for c in CASES if c["fn"] in ("rr_posterior_mean", "posterior_general")):
        known = case["fn"] == "rr_posterior_mean"
        found = (
            krr_posterior(case["s"], case["alpha"], epsilon=case["eps"])
            if known
            else posterior(channel(case["protocol"]), case["s"], case["alpha"])
        )
        assert found.distribution == pytest.approx(case["P_opt"], rel=1e-9)
        assert found.frequencies == pytest.approx(case["F_opt"], rel=1e-9)
        if not known:
            assert found.distribution_variance == pytest.approx(case["trCovP"], rel=1e-9)
            assert found.frequency_variance == pytest.approx(case["trCovF"], rel=1e-9)
            assert found.log_marginal == pytest.approx(case["log_marginal_sequence"], rel=1e-9)


def test_a_thousand_values_and_ten_thousand_users_are_exact_and_the_saddle_point_close() -> None:
    rng, mechanism = np.random.default_rng(2), KaryRandomisedResponse(3.0, 1024)
    tallies = mechanism.sample_tallies(rng.multinomial(10_000, rng.dirichlet(np.full(1024, 0.5))), rng=rng)
    exact = krr_posterior(tallies, 0.5, epsilon=3.0).distribution
    near = krr_posterior_saddle(tallies, 0.5, epsilon=3.0).distribution
    assert exact.sum() == pytest.approx(1, abs=1e-11)
    assert np.abs(exact - near).max() < 4e-6


def test_gibbs_sampling_handles_unary_encoding() -> None:
    mechanism, tallies = UnaryEncoding.optimised(1.5, 2), [2, 4, 1, 2]
    exact = posterior(mechanism.channel(), tallies, [0.5, 1.5]).distribution
    found, error = support_posterior(
        mechanism.outputs(), tallies, mechanism, [0.5, 1.5], sweeps=4000, rng=np.random.default_rng(12)
    )
    assert (np.abs(found.distribution - exact) < 6 * error).all()


def test_gibbs_sampling_agrees_with_the_exact_mean_within_its_error() -> None:
    mechanism, tallies = KaryRandomisedResponse(1.0, 5), [50, 30, 15, 4, 1]
    exact = krr_posterior(tallies, 0.5, epsilon=1.0).distribution
    found, error = support_posterior(np.eye(5), tallies, mechanism, 0.5, sweeps=4000, rng=np.random.default_rng(11))
    assert found.frequencies == pytest.approx(frequency_mean(found.distribution, np.full(5, 0.5), 100), rel=1e-14)
    assert (np.abs(found.distribution - exact) < 6 * error).all()
    assert error.max() < 0.01


class Recorder(np.random.Generator):
    """A generator that keeps the parameters of the Dirichlet vectors it draws."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.shapes: list[np.ndarray] = []

    def dirichlet(self, alpha, size=None):
        self.shapes.append(np.asarray(alpha))
        return super().dirichlet(alpha, size)


@pytest.mark.parametrize(("sweeps", "warm", "kept"), [(40, 10, 40), (79, 19, 60), (80, 20, 80)])
def test_gibbs_sampling_averages_twenty_batches_after_a_quarter_of_the_sweeps(
    sweeps: int, warm: int, kept: int
) -> None:
    mechanism, tallies, rng = UnaryEncoding.optimised(1.5, 2), [2, 4, 1, 2], Recorder(1)
    found, error = support_posterior(mechanism.outputs(), tallies, mechanism, 0.5, sweeps=sweeps, rng=rng)
    assert len(rng.shapes) == warm + kept
    means = np.array([shape / shape.sum() for shape in rng.shapes[warm:]])
    assert found.distribution == pytest.approx(means.mean(axis=0), rel=1e-12)
    batches = means.reshape(20, kept // 20, 2).mean(axis=1)
    assert error == pytest.approx(np.sqrt(((batches - means.mean(axis=0)) ** 2).sum(axis=0) / 19 / 20), rel=1e-12)


def test_the_fitted_concentration_is_likelier_than_its_neighbours_and_between_its_limits() -> None:
    rng = np.random.default_rng(13)
    held = rng.multinomial(20_000, rng.dirichlet(np.full(64, 0.7)))
    tallies = KaryRandomisedResponse(3.0, 64).sample_tallies(held, rng=rng)
    found = fitted_concentration(tallies, epsilon=3.0)
    evidence = [
        saddle_point(np.column_stack([tallies, np.full(64, found * factor)]), np.ones(64, dtype=int), np.expm1(3.0))
        for factor in (0.97, 1.0, 1.03)
    ]
    assert evidence[1].log_evidence > max(evidence[0].log_evidence, evidence[2].log_evidence)
    assert 950 < fitted_concentration(np.full(64, 100), epsilon=2.0) < 1000
    assert 8 < fitted_concentration(np.full(64, 100), epsilon=2.0, largest=10.0) < 10
    assert 1e-3 < fitted_concentration([1000, *[0] * 9], epsilon=9.0) < 1.02e-3


def test_the_table_of_coefficients_may_be_as_large_as_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldpnb.estimators.bayes._LARGEST_TABLE", 16)
    assert posterior(np.eye(3), [1, 1, 1], 1.0).distribution == pytest.approx(np.full(3, 1 / 3), rel=1e-12)
    with pytest.raises(ValueError, match="users must be few for so many values, got 4 users and 3 values"):
        posterior(np.eye(3), [1, 1, 2], 1.0)


def test_two_values_are_enough() -> None:
    near, exact = (estimate([30, 10], 0.5, epsilon=1.0) for estimate in (krr_posterior_saddle, krr_posterior))
    assert near.distribution == pytest.approx(exact.distribution, abs=0.02)
    assert near.frequencies == pytest.approx(frequency_mean(near.distribution, [0.5, 0.5], 40), rel=1e-14)
    assert 1e-3 < fitted_concentration([30, 10], epsilon=1.0) < 1e3
