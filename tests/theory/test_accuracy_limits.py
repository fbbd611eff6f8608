"""Errors and bounds at the limits of their arguments, and against other routes to the same numbers."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import roots_jacobi

from ldpnb.accuracy import (
    budgets,
    distances,
    exact_risk,
    gaps,
    information,
    personalised,
    tails,
)
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.estimators.bayes import posterior
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.mechanisms.subsets import SubsetSelection


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: gaps.GroupGap(DiscretisedMeans(1.0, 1.0), (5, 5)).variance((0.0, 0.0, 0.0)),  # type: ignore[arg-type]
            "zip",
        ),
        (
            lambda: personalised.variance_reweighted_reports(
                [0.0], users=0, report_rates=[0.5], mechanism=KaryRandomisedResponse(1.0, 2)
            ),
            "users must be an integer >= 1, got users=0",
        ),
        (lambda: tails.kept_laplace_chernoff(0, 0.5, 1.0, 1.0), "terms must be an integer >= 1, got terms=0"),
        (lambda: gaps.GroupGap(DiscretisedMeans(1.0, 1.0), (5, 0)), "sizes must be >= 1"),
    ],
)
def test_arguments_out_of_range_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_as_many_tallies_as_allowed_are_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_risk, "_MOST_TALLIES", 11)
    channel = KaryRandomisedResponse(1.0, 2).channel()
    assert exact_risk.exact_risks(channel, 10, [0.5, 0.5], {})["Bayes"].distribution == pytest.approx(
        exact_risk.TwoValues(10, 1.0).risk().distribution, rel=1e-12
    )
    with pytest.raises(ValueError, match="users must be few for 2 outputs, got users=11"):
        exact_risk.exact_risks(channel, 11, [0.5, 0.5], {})


@pytest.mark.parametrize("concentration", [0.5, 2.0])
def test_binary_posteriors_are_the_enumerated_ones(concentration: float) -> None:
    channel, users = KaryRandomisedResponse(1.0, 2).channel(), 7
    given = (users, 1.0) if concentration == 0.5 else (users, 1.0, concentration)
    found = exact_risk.TwoValues(*given).posteriors()
    for ones in range(users + 1):
        single = posterior(channel, [ones, users - ones], [concentration, concentration])
        assert found.means[ones] == pytest.approx(single.distribution[0], rel=1e-12)
        assert 2 * found.variances[ones] == pytest.approx(single.distribution_variance, rel=1e-11)
        assert found.frequency_means[ones] == pytest.approx(single.frequencies[0], rel=1e-12, abs=1e-15)
    assert found.chances.sum() == pytest.approx(1, rel=1e-12)


def test_the_risk_of_any_estimate_of_two_values_is_the_enumerated_one() -> None:
    channel, users = KaryRandomisedResponse(1.5, 2).channel(), 6
    enumerated = exact_risk.exact_risks(channel, users, [0.5, 0.5], {"share": lambda tallies: tallies / users})["share"]
    found = exact_risk.TwoValues(users, 1.5).risk(np.arange(users + 1) / users)
    assert found.distribution == pytest.approx(enumerated.distribution, rel=1e-12)
    assert found.frequency == pytest.approx(enumerated.frequency, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "lack"), [(1.0, 40.0), (3.0, 10.0)])
def test_entropies_of_two_values_tend_to_their_limits_like_one_over_the_users(epsilon: float, lack: float) -> None:
    nodes, weights = roots_jacobi(12, 7.0, 7.0)
    channel = KaryRandomisedResponse(epsilon, 2).channel()
    each = [information.entropy_constants(channel, [[(1 + node) / 2, (1 - node) / 2]]) for node in nodes]
    limits = EntropyBounds(2).limits(*(weights / weights.sum() @ np.array(each)))
    for users in (100, 400):
        differential, discrete = exact_risk.TwoValues(users, epsilon, 8.0).entropies()
        assert 0 < limits[0] - differential - np.log(users) / 2 < lack / users
        assert 0 < limits[1] - discrete + np.log(users) / 2 < lack / users


def test_a_jitter_takes_a_twelfth_off_the_factor_of_the_bound() -> None:
    smooth, whole = (EntropyBounds(3).frequency(2.0, 10, jitter=jitter) for jitter in (False, True))
    assert smooth == pytest.approx(3 / 100 * np.exp(2.0) / (2 * np.pi * np.e), rel=1e-12)
    assert smooth - whole == pytest.approx(3 / 1200, rel=1e-12)


@pytest.mark.parametrize("mechanism", [DiscretisedMeans(1.0, 2.0), SignedBit(1.3, (50, 50))])
def test_failures_of_sums_of_signs_are_those_of_their_tails(mechanism: DiscretisedMeans | SignedBit) -> None:
    gain, alpha = mechanism.gain, 0.6
    gap = gaps.GroupGap.of_halves(mechanism, 100)
    found = {t: gap.failure(alpha, t) for t in ("hoeffding", "bernstein", "exact")}
    assert found["hoeffding"] == pytest.approx(tails.hoeffding(100, alpha * 50 * gain), rel=1e-12)
    assert found["bernstein"] == pytest.approx(tails.bernstein(100, 1 + gain, alpha * 50 * gain), rel=1e-12)
    assert found["exact"] == pytest.approx(tails.symmetric_binomial(100, alpha * 50 * gain), rel=1e-12)
    assert max(found.values()) < 1


def test_the_bit_has_the_variance_of_a_sign_less_its_signal_weighted_by_group() -> None:
    bit = SignedBit(1.3, (3, 5, 4), (1, 2))
    expected = (12 / np.tanh(0.65) ** 2 - (0.64 * 5 * 0.5 + 4 * 0.25)) / 16
    assert gaps.GroupGap(bit, (3, 5, 4), (1, 2)).variance((0.5, 0.25)) == pytest.approx(expected, rel=1e-12)


def test_the_noisy_number_has_the_variance_of_its_noise() -> None:
    two = gaps.GroupGap(SignedLaplace(4.0, (3, 5)), (3, 5))
    assert two.variance((1.0, 0.0)) == pytest.approx(2 * 0.25 * 8 / 9, rel=1e-12)
    three = gaps.GroupGap(SignedLaplace(0.5, (3, 2, 4), (1, 2)), (3, 2, 4), (1, 2))
    assert three.variance((0.0, 0.0)) == pytest.approx(2 * 16 * 9 / 4, rel=1e-12)


def test_the_smallest_rate_for_an_easy_target_is_small_and_for_a_hard_one_nearly_one() -> None:
    mechanism, holders = KaryRandomisedResponse(2.0, 3), [5000, 3000, 2000]
    known = {"users": 10_000, "mechanism": mechanism}
    variances = distances.SampledCounts(10_000, 1.0, mechanism).variance_realised_size(holders)
    hardest = distances.expected_total_variation(np.sqrt(variances), users=10_000)
    assert distances.smallest_rate(hardest * (1 + 1e-9), holders, **known) == pytest.approx(1, abs=1e-6)
    assert distances.smallest_rate(hardest * (1 - 1e-9), holders, **known) is None
    assert distances.smallest_rate(50 * hardest, holders, **known) < 1e-2


def test_the_ceiling_of_the_information_is_its_formula() -> None:
    assert LowerBounds(3, np.log(3)).log_information_ceiling() == pytest.approx(4 * np.log(2), rel=1e-12)
    assert LowerBounds(2, np.log(2)).log_information_ceiling() == pytest.approx(0, abs=1e-15)


def test_two_clients_are_enough_to_ask_what_gain_they_need() -> None:
    assert budgets.required_gain(2, 0.5, failure=0.25) == pytest.approx(2 / 0.5 / np.sqrt(2) / 0.5, rel=1e-12)
    with pytest.raises(ValueError, match="users must be an integer >= 2, got users=1"):
        budgets.required_gain(1, 0.5)


@pytest.mark.parametrize(("size", "concentration"), [(2, 0.5), (4, 1.5)])
def test_the_bound_for_every_number_of_users_lets_a_report_tell_its_chi_square(size: int, concentration: float) -> None:
    channel = SubsetSelection(0.8, size, SubsetSelection.optimal(0.8, size).subset_size).channel()
    covariance = (size * np.eye(size) - 1) / size**2 / (size * concentration + 1)
    told = float((np.einsum("yi,ij,yj->y", channel, covariance, channel) / channel.mean(axis=1)).sum())
    entropy = information.SymmetricDirichlet(size, concentration).entropy() - 7 * told
    bound = EntropyBounds(size).factor() * EntropyBounds(size).distribution(entropy)
    assert LowerBounds(size, 0.8).finite_users(7, concentration) == pytest.approx(bound, rel=1e-10)


def test_every_group_needs_holders_between_none_and_all() -> None:
    for holders in ([-1.0, 5.0], [3.0, 11.0]):
        with pytest.raises(ValueError, match="holders must lie between 0 and the group's size"):
            personalised.PersonalRates([10, 10], [0.5, 0.5], KaryRandomisedResponse(1.0, 2)).split(holders)
