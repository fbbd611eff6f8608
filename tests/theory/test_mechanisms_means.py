"""Mechanisms for means: their laws, losses, unbiased estimates and exact simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit, histogram_sensitivity
from ldpnb.rng import stream

BUDGETS = (1e-6, 0.1, 1.0, 5.0, 50.0)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.floats(0.01, 20), st.floats(1e-3, 1e6), st.floats(0, 1))
def test_one_bit_is_unbiased_at_every_value(epsilon: float, upper: float, share: float) -> None:
    bit = OneBit(epsilon, upper)
    expected_bit = bit.one_rate(share * upper)
    assert bit.estimate(expected_bit, 1) == pytest.approx(share * upper, rel=1e-9, abs=1e-9 * upper)


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
