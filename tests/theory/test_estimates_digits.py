"""Estimates keep their digits where nearly everything cancels.

Few reports stand against many, and budgets are near 0 and far from it. The second way is each
estimator's formula in fractions or in many digits.
"""

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from ldpnb.estimators import frequency, sampling
from ldpnb.estimators.likelihood import krr_mle
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.lopuhaa2020.formulas.bayes import krr_posterior

EPSILONS = [1e-8, 1e-6, 1.0, 30.0, 60.0, 700.0]
TALLIES = [
    [2, 10**12],
    [5, 3, 10**12],
    [7, 11],
    [10**6, 10**6 + 1],
    [114, 114, 114],
    [314554305, 314554302, 314554302],
]


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(60):
        yield


def assert_close(estimates: np.ndarray, exact: list[mp.mpf], reported: list[float]) -> None:
    """Check that estimates are off only by roundings of themselves and of what was reported."""
    for estimate, value, size in zip(np.ravel(estimates), exact, reported, strict=True):
        assert abs(mp.mpf(float(estimate)) - value) <= 1e-14 * (abs(value) + size)


def krr_mle_in_fractions(tallies: list[int], epsilon: float) -> list[Fraction]:
    """Keep the largest tallies whose estimates are positive, and share out what they lack."""
    c = Fraction(float(np.expm1(epsilon)))
    total = Fraction(0)
    kept = 0
    kept_total = Fraction(1)
    for rank, tally in enumerate(sorted(tallies, reverse=True), start=1):
        total += tally
        if (rank + c) * tally > total:
            kept = rank
            kept_total = total
    return [max((c + kept) * tally / (c * kept_total) - 1 / c, Fraction(0)) for tally in tallies]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("tallies", TALLIES)
def test_the_krr_mle(tallies: list[int], epsilon: float) -> None:
    exact = [float(share) for share in krr_mle_in_fractions(tallies, epsilon)]
    estimate = krr_mle(tallies, epsilon=epsilon)
    assert estimate == pytest.approx(exact, rel=1e-9, abs=0)

    two_data_sets = krr_mle([tallies, tallies], epsilon=epsilon)
    assert two_data_sets[1] == pytest.approx(estimate, rel=1e-15, abs=0)


Rates = tuple[mp.mpf, mp.mpf]
"""The exact ``q`` and ``p - q`` of a mechanism."""


def krr_rates(epsilon: float, size: int) -> Rates:
    growth = mp.exp(mp.mpf(epsilon))
    return 1 / (growth + size - 1), (growth - 1) / (growth + size - 1)


def subset_rates(epsilon: float, size: int, chosen: int) -> Rates:
    growth = mp.exp(mp.mpf(epsilon))
    p = chosen * growth / (chosen * growth + size - chosen)
    q = (chosen - p) / (size - 1)
    return q, p - q


def mechanisms_with_rates(epsilon: float, size: int) -> list[tuple[Any, Rates]]:
    growth = mp.exp(mp.mpf(epsilon))
    root = mp.exp(mp.mpf(epsilon) / 2)
    half_gap = (growth - 1) / (growth + 1) / 2
    seventh = mp.mpf(1) / 7
    return [
        (KaryRandomisedResponse(epsilon, size), krr_rates(epsilon, size)),
        (UnaryEncoding.symmetric(epsilon, size), (1 / (root + 1), (root - 1) / (root + 1))),
        (UnaryEncoding.optimised(epsilon, size), (1 / (growth + 1), half_gap)),
        (SignRandomiser(epsilon, size), (mp.mpf(1) / 2, half_gap)),
        (SubsetSelection(epsilon, size, size - 1), subset_rates(epsilon, size, size - 1)),
        (LocalHashing(epsilon, size, 7), (seventh, growth / (growth + 6) - seventh)),
    ]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("tallies", TALLIES)
def test_unbiased_estimates_of_every_mechanism(tallies: list[int], epsilon: float) -> None:
    users = sum(tallies)
    # subsets of all values but one: a tally says how often each value is in the subset
    in_subset = [users - tally for tally in tallies]

    with mp.workdps(700):
        for mechanism, (q, gap) in mechanisms_with_rates(epsilon, len(tallies)):
            supports = in_subset if isinstance(mechanism, SubsetSelection) else tallies
            exact = [(mp.mpf(tally) / users - q) / gap for tally in supports]
            shares = [tally / users for tally in supports]
            assert_close(frequency.unbiased(supports, users, mechanism), exact, shares)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("tallies", TALLIES)
def test_estimates_of_counts_from_a_sample(tallies: list[int], epsilon: float) -> None:
    reports = sum(tallies)
    users = 8 * reports - 8
    rate = 0.125
    krr = KaryRandomisedResponse(epsilon, len(tallies))
    reported = [9 * tally for tally in tallies]
    with mp.workdps(700):
        q, gap = krr_rates(epsilon, len(tallies))
        holders = [(tally - reports * q) / gap for tally in tallies]
        raised = [(8 * tally - users * q) / gap for tally in tallies]

    unadjusted = sampling.unadjusted(tallies, users=reports, mechanism=krr)
    assert_close(unadjusted, holders, reported)
    realised = sampling.realised_size(tallies, sampling_rate=rate, mechanism=krr)
    assert_close(realised, [8 * count for count in holders], reported)

    rescaled = sampling.rescaled(tallies, users=users, sampling_rate=rate, mechanism=krr)
    assert_close(rescaled, raised, reported)
    personalised = sampling.personalised(
        tallies, users=users, expected_reports=users / 8, mechanism=krr
    )
    assert_close(personalised, raised, reported)
    reweighted = sampling.reweighted_reports(
        tallies, users=users, report_rates=[rate] * len(tallies), mechanism=krr
    )
    assert_close(reweighted, raised, reported)

    groups = [tallies, tallies]
    rates = [rate, 1.0]
    horvitz_thompson = sampling.horvitz_thompson(groups, rates=rates, mechanism=krr)
    assert_close(horvitz_thompson, [9 * count for count in holders], reported)
    hajek = sampling.hajek(groups, users=2 * reports, rates=rates, mechanism=krr)
    assert_close(hajek, [2 * count for count in holders], reported)


def test_norm_sub_keeps_small_shares_beside_a_large_one() -> None:
    for size in (100, 3000):
        small = 1e-6 / size * np.random.default_rng(size).random(size)
        column = np.append(1 - 1e-6, small)
        level = (sum(map(Fraction, column)) - 1) / (size + 1)
        exact = [float(Fraction(share) - level) for share in column]

        projected = frequency.project_simplex(column)
        assert np.abs(projected - exact)[1:].max() <= np.finfo(float).eps / size
        assert (frequency.project_simplex([column, column])[1] == projected).all()


@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 20.0, 60.0])
def test_posterior_frequencies_of_what_nobody_reported(epsilon: float) -> None:
    # of three values with prior 1/2 each, only the first was reported; the chance that m of the
    # reports are informative is proportional to `term`
    reports = 9
    alpha = mp.mpf("0.5")
    c = mp.expm1(mp.mpf(epsilon))
    weight = mp.mpf(0)
    weighted = mp.mpf(0)
    for m in range(reports + 1):
        term = mp.binomial(reports, m) * c**m * mp.rf(alpha, m) / mp.rf(3 * alpha, m)
        weight += term
        weighted += term * (reports - m) * alpha / (3 * alpha + m)
    other = weighted / weight / reports

    actual = krr_posterior([reports, 0, 0], 0.5, epsilon=epsilon)
    exact = [float(1 - 2 * other), float(other), float(other)]
    assert actual.frequencies == pytest.approx(exact, rel=1e-11, abs=0)


@pytest.mark.parametrize("spread", [1e-7, 1e-3, 10.0])
@pytest.mark.parametrize("size", [9_999, 10_001, 15_000, 40_000])
def test_the_projection_of_many_values_is_the_nearest_distribution(
    size: int, spread: float
) -> None:
    point = spread * np.random.default_rng(size).standard_normal(size)
    nearest = frequency.project_simplex(point)

    # the same is subtracted from every share that stays positive, and more from none
    assert nearest.sum() == pytest.approx(1, rel=1e-12)
    subtracted = point - nearest
    kept = nearest > 0
    assert np.ptp(subtracted[kept]) <= 1e-14 * max(1, spread)
    assert (point[~kept] <= subtracted[kept].max() + 1e-14).all()
