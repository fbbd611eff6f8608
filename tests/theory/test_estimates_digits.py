"""Estimates keep their digits where nearly everything cancels: few against many reports, budgets
near 0 and far from it.
"""

from fractions import Fraction

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


def close(estimates: np.ndarray, exact: list, reported: list) -> bool:
    """Return whether estimates are off by roundings of themselves and of what was reported only."""
    triples = zip(np.ravel(estimates), exact, reported, strict=True)
    return all(abs(mp.mpf(float(x)) - y) <= 1e-14 * (abs(y) + s) for x, y, s in triples)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("tallies", TALLIES)
def test_the_krr_mle(tallies: list[int], epsilon: float) -> None:
    c, total, kept = Fraction(float(np.expm1(epsilon))), Fraction(0), (0, Fraction(1))
    for rank, tally in enumerate(sorted(tallies, reverse=True), start=1):
        total += tally
        kept = (rank, total) if (rank + c) * tally > total else kept
    exact = [max((c + kept[0]) * tally / (c * kept[1]) - 1 / c, Fraction(0)) for tally in tallies]
    estimate = krr_mle(tallies, epsilon=epsilon)
    assert estimate == pytest.approx([float(x) for x in exact], rel=1e-9, abs=0)
    assert krr_mle([tallies, tallies], epsilon=epsilon)[1] == pytest.approx(
        estimate, rel=1e-15, abs=0
    )


def krr_rates(epsilon: float, size: int) -> tuple[mp.mpf, mp.mpf]:
    """Return the exact ``q`` and ``p - q`` of k-ary randomised response."""
    e = mp.exp(mp.mpf(epsilon))
    return 1 / (e + size - 1), (e - 1) / (e + size - 1)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("tallies", TALLIES)
def test_unbiased_estimates_of_every_mechanism(tallies: list[int], epsilon: float) -> None:
    users, size = sum(tallies), len(tallies)
    # subsets of all values but one: a tally says how often each value is in the subset
    in_subset = [users - tally for tally in tallies]
    with mp.workdps(700):
        e, root = mp.exp(mp.mpf(epsilon)), mp.exp(mp.mpf(epsilon) / 2)
        chosen = size - 1
        p = chosen * e / (chosen * e + 1)
        subset_q = (chosen - p) / (size - 1)
        for mechanism, q, gap in (
            (KaryRandomisedResponse(epsilon, size), *krr_rates(epsilon, size)),
            (UnaryEncoding.symmetric(epsilon, size), 1 / (root + 1), (root - 1) / (root + 1)),
            (UnaryEncoding.optimised(epsilon, size), 1 / (e + 1), (e - 1) / (e + 1) / 2),
            (SignRandomiser(epsilon, size), mp.mpf(1) / 2, (e - 1) / (e + 1) / 2),
            (SubsetSelection(epsilon, size, chosen), subset_q, p - subset_q),
            (LocalHashing(epsilon, size, 7), mp.mpf(1) / 7, e / (e + 6) - mp.mpf(1) / 7),
        ):
            supports = in_subset if isinstance(mechanism, SubsetSelection) else tallies
            exact = [(mp.mpf(tally) / users - q) / gap for tally in supports]
            shares = [tally / users for tally in supports]
            assert close(frequency.unbiased(supports, users, mechanism), exact, shares), mechanism


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("tallies", TALLIES)
def test_estimates_of_counts_from_a_sample(tallies: list[int], epsilon: float) -> None:
    reports, rate, mechanism = sum(tallies), 0.125, KaryRandomisedResponse(epsilon, len(tallies))
    users, twice = 8 * reports - 8, [tallies, tallies]
    with mp.workdps(700):
        q, gap = krr_rates(epsilon, len(tallies))
        holders = [(tally - reports * q) / gap for tally in tallies]
        raised = [(8 * tally - users * q) / gap for tally in tallies]
    for estimate, exact in (
        (sampling.unadjusted(tallies, users=reports, mechanism=mechanism), holders),
        (
            sampling.realised_size(tallies, sampling_rate=rate, mechanism=mechanism),
            [8 * h for h in holders],
        ),
        (sampling.rescaled(tallies, users=users, sampling_rate=rate, mechanism=mechanism), raised),
        (
            sampling.personalised(
                tallies, users=users, expected_reports=users / 8, mechanism=mechanism
            ),
            raised,
        ),
        (
            sampling.horvitz_thompson(twice, rates=[rate, 1.0], mechanism=mechanism),
            [9 * h for h in holders],
        ),
        (
            sampling.hajek(twice, users=2 * reports, rates=[rate, 1.0], mechanism=mechanism),
            [2 * h for h in holders],
        ),
        (
            sampling.reweighted_reports(
                tallies, users=users, report_rates=[rate] * len(tallies), mechanism=mechanism
            ),
            raised,
        ),
    ):
        assert close(estimate, exact, [9 * tally for tally in tallies])


def test_norm_sub_keeps_small_shares_beside_a_large_one() -> None:
    for size in (100, 3000):
        column = np.r_[1 - 1e-6, 1e-6 / size * np.random.default_rng(size).random(size)]
        level = (sum(map(Fraction, column)) - 1) / (size + 1)
        exact = [float(Fraction(x) - level) for x in column]
        assert (
            np.abs(frequency.project_simplex(column) - exact)[1:].max()
            <= np.finfo(float).eps / size
        )
        assert (
            frequency.project_simplex([column, column])[1] == frequency.project_simplex(column)
        ).all()


@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 20.0, 60.0])
def test_posterior_frequencies_of_what_nobody_reported(epsilon: float) -> None:
    reports, alpha, c = 9, mp.mpf("0.5"), mp.expm1(mp.mpf(epsilon))
    # of three values with prior 1/2 each only the first was reported: M of its reports are
    # informative
    terms = [
        mp.binomial(reports, m) * c**m * mp.rf(alpha, m) / mp.rf(3 * alpha, m)
        for m in range(reports + 1)
    ]
    rest = (
        mp.fsum(t * (reports - m) * alpha / (3 * alpha + m) for m, t in enumerate(terms))
        / mp.fsum(terms)
        / reports
    )
    actual = krr_posterior([reports, 0, 0], 0.5, epsilon=epsilon)
    exact = [float(x) for x in (1 - 2 * rest, rest, rest)]
    assert actual.frequencies == pytest.approx(exact, rel=1e-11, abs=0)
