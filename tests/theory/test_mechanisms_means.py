"""Mechanisms for means: their laws, losses, unbiased estimates and exact simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit, histogram_sensitivity
from ldpnb.rng import stream

BUDGETS = (1e-6, 0.1, 1.0, 5.0, 50.0)
VALUES, COUNTS = np.array([0.0, 1.5, 4.0]), np.array([300, 500, 200])


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_one_bit_at_the_ends_is_two_valued_randomised_response(epsilon: float) -> None:
    assert OneBit(epsilon).channel() == pytest.approx(KaryRandomisedResponse(epsilon, 2).channel(), rel=1e-14)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.floats(0.01, 20), st.floats(1e-3, 1e6), st.floats(0, 1))
def test_one_bit_is_unbiased_at_every_value(epsilon: float, upper: float, share: float) -> None:
    bit = OneBit(epsilon, upper)
    expected_bit = bit.one_rate(share * upper)
    assert bit.estimate(expected_bit, 1) == pytest.approx(share * upper, rel=1e-9, abs=1e-9 * upper)


@pytest.mark.parametrize("mechanism", [OneBit(1.3, 4.0), LocalLaplace(1.3, 4.0)], ids=repr)
def test_reports_user_by_user_have_the_law_of_the_tallies(mechanism: OneBit | LocalLaplace) -> None:
    rng, counts = stream("users", repr(mechanism), seed=2), COUNTS // 20
    users = np.repeat(VALUES, counts)
    one_by_one = np.array([mechanism.randomize(users, rng=rng).sum(dtype=float) for _ in range(4000)])
    at_once = mechanism.sample_sums(VALUES, counts, rng=rng, repetitions=4000)
    assert stats.ks_2samp(one_by_one, at_once).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_laplace_density_is_scipys_and_loses_its_budget(epsilon: float) -> None:
    mechanism, reports = LocalLaplace(epsilon, 3.0), np.linspace(-4, 7, 23)
    expected = stats.laplace(1.0, 3.0 / epsilon).logpdf(reports)
    assert mechanism.log_density(reports, 1.0) == pytest.approx(expected, rel=1e-9)
    ratio = mechanism.log_density(reports, 0.0) - mechanism.log_density(reports, 3.0)
    assert np.abs(ratio).max() == pytest.approx(epsilon, rel=1e-8)


def test_central_density_of_a_histogram_multiplies_over_the_counts() -> None:
    mechanism, exact = CentralLaplace(0.5, histogram_sensitivity("replacement")), np.array([3, 0, 4])
    released = exact + np.array([0.5, -1.0, 2.0])
    assert mechanism.log_density(released, exact) == pytest.approx(stats.laplace(exact, 4.0).logpdf(released).sum())


def test_released_histograms_are_noisy_copies() -> None:
    copies = CentralLaplace(1.0, 2.0).release([10, 0], rng=stream("release", seed=5), repetitions=20_000)
    assert copies.shape == (20_000, 2)
    assert stats.kstest(copies[:, 1], stats.laplace(0, 2.0).cdf).pvalue > 1e-6
    assert abs(np.corrcoef(copies.T)[0, 1]) < 5.5 / np.sqrt(20_000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OneBit(0.0), r"epsilon must be > 0 and finite, got epsilon=0\.0"),
        (lambda: OneBit(float("nan")), "epsilon must be > 0 and finite, got epsilon=nan"),
        (lambda: LocalLaplace(1.0, -2.0), r"upper must be > 0 and finite, got upper=-2\.0"),
        (lambda: CentralLaplace(1.0, float("inf")), "sensitivity must be > 0 and finite, got sensitivity=inf"),
        (lambda: OneBit(1.0, 2.0).one_rate([2.5]), r"values must lie in \[0, 2\.0\], got values\[0\]=2\.5"),
        (
            lambda: LocalLaplace(1.0).randomize([-1], rng=stream(seed=0)),
            r"values must lie in \[0, 1\.0\], got values\[0\]=-1",
        ),
        (lambda: OneBit(1.0).one_rate([0.5, np.nan]), "values must lie in"),
        (lambda: OneBit(1.0).sample_sums([0, 1], [3], rng=stream(seed=0)), r"counts must have one entry per value"),
        (lambda: OneBit(1.0).sample_sums([0, 1], [3, -1], rng=stream(seed=0)), r"got counts\[1\]=-1"),
        (
            lambda: OneBit(1.0).sample_sums([1], [3], rng=stream(seed=0), repetitions=0),
            "repetitions must be an integer >= 1, got repetitions=0",
        ),
        (lambda: histogram_sensitivity("swap"), "neighbours must be one of replacement, deletion"),
    ],
)
def test_bad_input_is_refused_by_name_rule_and_value(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
