"""Estimates from a sample: what they reduce to, their axes, and who reports."""

import numpy as np
import pytest

from ldpnb.designs.reporters import expected_reports, poisson, sampled_tallies
from ldpnb.estimators import sampling
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

MECHANISM = KaryRandomisedResponse(1.0, 4)
TALLIES = np.array([[30, 20, 10, 5], [8, 9, 10, 11]])


def test_equal_rates_reduce_the_personal_estimates_to_the_common_ones() -> None:
    pooled = TALLIES.sum(axis=0)
    t = sampling.personalised(pooled, users=200, expected_reports=80, mechanism=MECHANISM)
    ht = sampling.horvitz_thompson(TALLIES, rates=[0.4, 0.4], mechanism=MECHANISM)
    ratio = sampling.hajek(TALLIES, users=200, rates=[0.4, 0.4], mechanism=MECHANISM)
    np.testing.assert_allclose(t, sampling.rescaled(pooled, users=200, sampling_rate=0.4, mechanism=MECHANISM))
    np.testing.assert_allclose(ht, sampling.realised_size(pooled, sampling_rate=0.4, mechanism=MECHANISM))
    assert ratio.sum() == pytest.approx(200)
    np.testing.assert_allclose(ratio, sampling.ratio(pooled, users=200, mechanism=MECHANISM))


def test_leading_axes_are_repetitions() -> None:
    together = sampling.rescaled(TALLIES, users=100, sampling_rate=0.5, mechanism=MECHANISM)
    for one, row in zip(together, TALLIES, strict=True):
        np.testing.assert_array_equal(one, sampling.rescaled(row, users=100, sampling_rate=0.5, mechanism=MECHANISM))


def test_sampled_tallies_count_the_users_who_report() -> None:
    rng = np.random.default_rng(1)
    assert sampled_tallies([5, 0, 3, 2], 1.0, MECHANISM, rng=rng).sum() == 10
    assert (sampled_tallies([[5, 0, 3, 2], [0, 0, 0, 0]], 0.5, MECHANISM, rng=rng)[1] == 0).all()
    assert poisson([[10, 20], [30, 40]], [[0.1], [1.0]], rng=rng)[1].tolist() == [30, 40]
    assert expected_reports([[10, 20], [30, 40]], [[0.1], [1.0]]) == 73
