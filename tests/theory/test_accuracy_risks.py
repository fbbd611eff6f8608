"""Risks of few users against enumeration, and lower bounds at their limits."""

import numpy as np
import pytest

from ldpnb.accuracy import exact_risk
from ldpnb.accuracy.exact_risk import TwoValues
from ldpnb.accuracy.information import SymmetricDirichlet
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds, any_channel_bound_at
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.subsets import SubsetSelection


def test_the_risk_of_any_estimate_of_two_values_is_the_enumerated_one() -> None:
    channel, users = KaryRandomisedResponse(1.5, 2).channel(), 6
    enumerated = exact_risk.exact_risks(channel, users, [0.5, 0.5], {"share": lambda tallies: tallies / users})["share"]
    found = TwoValues(users, 1.5).risk(np.arange(users + 1) / users)
    assert found.distribution == pytest.approx(enumerated.distribution, rel=1e-12)
    assert found.frequency == pytest.approx(enumerated.frequency, rel=1e-12)


def test_as_many_tallies_as_allowed_are_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_risk, "_MOST_TALLIES", 11)
    channel = KaryRandomisedResponse(1.0, 2).channel()
    found = exact_risk.exact_risks(channel, 10, [0.5, 0.5], {})["Bayes"].distribution
    assert found == pytest.approx(TwoValues(10, 1.0).risk().distribution, rel=1e-12)
    with pytest.raises(ValueError, match="users must be few for 2 outputs, got users=11"):
        exact_risk.exact_risks(channel, 11, [0.5, 0.5], {})


def test_many_users_do_not_underflow() -> None:
    found = TwoValues(1500, 3.0).posteriors()
    assert found.chances.sum() == pytest.approx(1, abs=1e-9)
    assert (np.diff(found.means) > 0).all()


@pytest.mark.parametrize("size", [2, 3, 4, 10, 11, 1024])
def test_the_optimum_at_strong_privacy_is_four_times_the_published_bound(size: int) -> None:
    limit = 4 * (size - 1) ** 2 / size if size % 2 == 0 else 4 * size * (size - 1) / (size + 1)
    assert 1e-8 * LowerBounds(size, 1e-4).uniform_optimum() == pytest.approx(limit, rel=1e-3)
    assert 1e-8 * LowerBounds(size, 1e-4).any_channel() == pytest.approx(limit, rel=1e-3)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-6, 0.1, 1.0, 3.7, 8.0, 60.0])
def test_no_other_subset_size_does_better_at_the_uniform_distribution(epsilon: float) -> None:
    for size in (2, 3, 10, 57, 1001):
        bounds = LowerBounds(size, epsilon)
        told = [bounds.uniform_information(count) for count in range(1, size)]
        assert told[SubsetSelection.optimal(epsilon, size).subset_size - 1] == max(told)
        assert bounds.uniform_optimum() == (size - 1) ** 2 / max(told)


@pytest.mark.parametrize("size", [2, 5, 9])
def test_the_bound_for_any_channel_is_the_least_error_where_values_are_equally_frequent(size: int) -> None:
    bound, _ = any_channel_bound_at(np.full(size, 1 / size), 1.2)
    assert bound == pytest.approx(LowerBounds(size, 1.2).uniform_optimum(), rel=1e-12)


def test_the_bound_for_every_number_of_users_lets_a_report_tell_its_chi_square() -> None:
    size, concentration, channel = 4, 1.5, SubsetSelection.optimal(0.8, 4).channel()
    covariance = (size * np.eye(size) - 1) / size**2 / (size * concentration + 1)
    told = float((np.einsum("yi,ij,yj->y", channel, covariance, channel) / channel.mean(axis=1)).sum())
    entropy = SymmetricDirichlet(size, concentration).entropy() - 7 * told
    bound = EntropyBounds(size).factor() * EntropyBounds(size).distribution(entropy)
    assert LowerBounds(size, 0.8).finite_users(7, concentration) == pytest.approx(bound, rel=1e-10)
    assert LowerBounds(size, 0.8).finite_users(7) == LowerBounds(size, 0.8).finite_users(7, 0.5)  # Jeffreys' prior
