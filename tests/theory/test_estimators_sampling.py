"""Estimates from a sample: their axes, and who reports."""

import numpy as np

from ldpnb.designs.reporters import expected_reports, poisson, sampled_tallies
from ldpnb.estimators import sampling
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

MECHANISM = KaryRandomisedResponse(1.0, 4)
TALLIES = np.array([[30, 20, 10, 5], [8, 9, 10, 11]])


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
