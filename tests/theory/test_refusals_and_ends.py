"""Probabilities end at 1, the saddle point at the largest float, and lists at what memory holds."""

import warnings

import numpy as np
import pytest

from ldpnb.accuracy.exact_risk import TwoValues
from ldpnb.designs.sizes import fixed_size, truncated_gaussian_size
from ldpnb.estimators.bayes import krr_posterior, krr_posterior_saddle
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.privacy.hockey_stick import channel_delta, discrete_delta, total_variation


@pytest.mark.parametrize("epsilon", [300.0, 690.0, 700.0, 709.0])
@pytest.mark.parametrize("tallies", [[5, 0, 2], [1_000_000, 3, 3]])
def test_the_saddle_point_stands_at_the_largest_budgets(tallies: list[int], epsilon: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = krr_posterior_saddle(tallies, 0.5, epsilon=epsilon).distribution
    share = (np.array(tallies) + 0.5) / (sum(tallies) + 1.5)  # nobody lies
    assert found == pytest.approx(share, rel=1e-9)
    if sum(tallies) < 100:
        assert krr_posterior(tallies, 0.5, epsilon=epsilon).distribution == pytest.approx(share, rel=1e-9)


def test_no_distance_of_laws_exceeds_1() -> None:
    channels = [UnaryEncoding.symmetric(epsilon, size).channel() for epsilon in (20.0, 60.0) for size in (3, 7)]
    channels += [UnaryEncoding(1 - 1e-12, 1e-12, 5).channel()]
    for channel in channels:
        assert channel_delta(channel, 0.0) <= 1
        assert discrete_delta(channel[:, 0], channel[:, 1], 0.0) <= 1
    for epsilon in (1.0, 36.7, 700.0):
        assert total_variation(LaplaceMeans(epsilon, epsilon, 2.0, 7)) <= 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (KaryRandomisedResponse(1.0, 10**6).channel, "domain_size must be <= 10000 for a channel"),
        (TwoValues(10**6, 1.0).posteriors, "users must be few to list every tally"),
        (TwoValues(10**4, 1.0).entropies, "users must be few to list every tally"),
        (lambda: truncated_gaussian_size(10**12, 5.0, 1.0), "population must be <= 10000000 to list every size"),
        (lambda: fixed_size(3, 10**12), "population must be <= 10000000 to list every size"),
    ],
)
def test_lists_that_memory_does_not_hold_are_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
