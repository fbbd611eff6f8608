"""Amplification at the limits of its arguments and of its sums."""

from collections.abc import Callable

import numpy as np
import pytest

from ldpnb.designs import sizes
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import (
    clusters,
    lemmas,
    participation,
    random_size,
    rounding,
    shuffling,
    subsampling,
    unequal,
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unequal.element_loss_floor([-0.1, 0.5], 1.0), r"rates must lie in \[0, 1\] and have a positive one"),
        (lambda: unequal.element_loss_floor([0.5, 1.2], 1.0), r"rates must lie in \[0, 1\] and have a positive one"),
        (lambda: unequal.element_loss_floor([], 1.0), r"rates must lie in \[0, 1\] and have a positive one"),
        (lambda: unequal.element_loss_floor([0.0, 0.0], 1.0), r"rates must lie in \[0, 1\] and have a positive one"),
        (lambda: unequal.poisson_loss([0.5, -0.1], [0.5, 0.5], 1.0), "rates must be one chance in"),
        (lambda: unequal.poisson_loss([0.5, 0.5], [1.1, 0.5], 1.0), "neighbour_rates must be one chance in"),
        (lambda: subsampling.srs_loss(0.0, 0.5), "epsilon must be > 0 and finite, got epsilon=0.0"),
        (lambda: subsampling.srs_loss(1.0, 1.5), r"sampling_rate must lie in \(0, 1\], got sampling_rate=1.5"),
        (
            lambda: subsampling.proportion_noise_scale(1.0, 10, 5),
            "population must be an integer >= 10, got population=5",
        ),
        (lambda: rounding.random_rounding_loss(0, 0.5, 1.0), "population must be an integer >= 1, got population=0"),
        (lambda: rounding.random_rounding_loss(5, 1.0, 1.0), r"sampling_rate must lie in \(0, 1\), got"),
        (
            lambda: lemmas.mixture_loss(0.5, common=1.0, other=0.5),
            "other must be >= common, got other=0.5 and common=1.0",
        ),
        (lambda: lemmas.inserted_record_loss(5, 4, 1.0), "size must be at most the population's 4, got size=5"),
        (lambda: unequal.Inclusion(0, 0.5, 0.5, 0.5, 0.5, 0.5), r"rate must lie in \(0, 1\], got rate=0"),
        (lambda: unequal.poisson_loss([0.5], [0.5, 0.5], 1.0), "neighbour_rates must be one chance"),
        (lambda: unequal.pps_cluster_loss([1], 1.0), "sizes must be integers >= 1 with a sum of at least 2"),
        (
            lambda: unequal.systematic_loss(range(5), 0, 9, step=2, epsilon=1.0),
            "step must divide the number of records",
        ),
        (lambda: lemmas.inserted_record_loss(0, 0, 1.0), "population must be an integer >= 1, got population=0"),
        (lambda: clusters.log_symmetric_ratio([0.0, 0.0], 0), "order must be an integer >= 1, got order=0"),
        (lambda: clusters.log_symmetric_ratio([0.0, 0.0], 4), "order must be at most 3, got order=4"),
        (lambda: shuffling.closed_form(0.1, users=0, epsilon=1.0), "users must be an integer >= 1, got users=0"),
        (
            lambda: clusters.ClusterSample([1, 2], 2).identifying_confusion(1.0),
            "chosen must leave a cluster out, got chosen=2 of 2",
        ),
        (lambda: rates_of([-0.1, 0.5]), r"rates must be 2 numbers in \[0, 1\]"),
        (lambda: rates_of([0.1, 1.5]), r"rates must be 2 numbers in \[0, 1\]"),
    ],
)
def test_arguments_out_of_range_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def rates_of(rates: list[float]) -> np.ndarray:
    return participation.value_dependent_channel(rates, KaryRandomisedResponse(1.0, 2))


def test_chances_of_zero_and_one_are_chances() -> None:
    assert unequal.element_loss_floor([0.0, 1.0], 0.7) == pytest.approx(0.7, rel=1e-12)
    assert unequal.poisson_loss([1.0, 0.0], [1.0, 1.0], 0.7) == pytest.approx(0.7, rel=1e-12)
    assert rates_of([0.0, 1.0]).sum(axis=0) == pytest.approx(np.ones(2), rel=1e-12)
    assert clusters.log_symmetric_ratio([0.0, 0.0], 3) == np.inf
    assert clusters.log_symmetric_ratio([0.0, 0.0], 1) == pytest.approx(-np.log(2), rel=1e-12)


@pytest.mark.parametrize(("users", "delta"), [(50_000, 1e-6), (1000, 1e-3)])
def test_the_published_closed_form_reaches_to_the_end_of_its_range_and_no_further(users: int, delta: float) -> None:
    last = np.log(users / (16 * np.log(2 / delta)))
    assert shuffling.closed_form(delta, users=users, epsilon=last * (1 - 1e-9)) > 0
    assert np.isnan(shuffling.closed_form(delta, users=users, epsilon=last * (1 + 1e-9)))


@pytest.mark.parametrize("rate", [1e-9, 0.2, 0.5, 1 - 1e-9])
def test_the_loss_of_a_sample_has_no_step_where_its_formula_changes(rate: float) -> None:
    for epsilon in (0.3, 1.0, 2.0):
        direct = np.log1p(rate * np.expm1(epsilon))
        assert subsampling.srs_loss(epsilon, rate) == pytest.approx(direct, rel=1e-12)
        assert subsampling.srs_budget(float(direct), rate) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("bound", ["_upper", "_lower"])
@pytest.mark.parametrize(
    "known", [(8.0, 101, 1000, 1.0), (3.0, 3, 3000, 1.0), (6.0, 3, 800, 0.5), (2.0, 1000, 500, 0.05)]
)
def test_sums_over_few_reports_agree_with_full_ones(bound: str, known: tuple[float, int, int, float]) -> None:
    epsilon_0, size, users, rate = known
    described = getattr(shuffling.ShuffledReports(users, rate, KaryRandomisedResponse(epsilon_0, size)), bound)
    for epsilon in (0.0, 0.05, 0.3):
        full = shuffling._delta(epsilon, described, resolution=1e9)
        assert shuffling._delta(epsilon, described) == pytest.approx(full, rel=2e-5, abs=1e-14)


@pytest.mark.parametrize(("count", "terms"), [(100, 33), (5000, 17), (100_000, 16)])
def test_a_ratio_of_symmetric_polynomials_is_a_short_fourier_sum(
    monkeypatch: pytest.MonkeyPatch, count: int, terms: int
) -> None:
    calls, plain = [], np.log1p
    weights = np.repeat(np.linspace(-1, 1, 10), count // 10)
    monkeypatch.setattr(np, "log1p", lambda x: [calls.append(1), plain(x)][1])
    assert clusters.log_symmetric_ratio(weights, count // 3) < 0
    assert len(calls) <= terms


def test_a_budget_beyond_all_floats_needs_no_delta() -> None:
    assert shuffling.gaussian_delta(1e300, deviation=1.0) == 0
    assert shuffling.gaussian_delta(40.0, deviation=1.0) < 1e-100


def test_the_first_cluster_is_the_changed_one_unless_told() -> None:
    for bound in ("loss", "upper_bound", "lower_bound"):
        unless_told, first, last = (
            getattr(clusters.ClusterSample([1, 5, 9], 2, **told), bound)(0.1)
            for told in ({}, {"changed": 0}, {"changed": 2})
        )
        assert unless_told == first != last


def test_all_records_may_be_drawn_before_one_is_inserted() -> None:
    assert lemmas.inserted_record_loss(3, 3, 0.5) == pytest.approx(np.log1p(0.75 * np.expm1(1.0)), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1.0, 50.0])
def test_budgets_that_add_up_to_thousands_of_nats_leave_the_rate_its_digits(epsilon: float) -> None:
    assert random_size.effective_rate(sizes.fixed_size(5000, 20_000), epsilon) == pytest.approx(0.25, abs=3e-15)
