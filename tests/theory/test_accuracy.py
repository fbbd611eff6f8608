"""Errors of estimates: enumeration, exact laws, and their digits where next to nothing, or
everything, is known.
"""

import math
from math import comb

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ldpnb.accuracy import histograms, tails
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.lopuhaa2020.formulas import information
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues


@settings(derandomize=True, max_examples=10, deadline=None)
@given(st.integers(1, 10**10), st.floats(-5, 0), st.floats(-3, 2), st.floats(-1, 1))
@example(6_882_806_733, np.log10(0.11224374591178085), np.log10(0.001849091153542243), 0.0)
def test_chernoffs_bound_keeps_its_digits(
    terms: int, keep: float, scale: float, apart: float
) -> None:
    kept, width = 10**keep, 10**scale
    deviation = 10**apart * float(np.sqrt(terms * (2 * width**2 + kept * (1 - kept))))
    with mpmath.workdps(50):
        rare, noise, share = (
            mpmath.mpf(min(kept, 1 - kept)),
            mpmath.mpf(width),
            mpmath.mpf(deviation) / terms,
        )

        def exponent(rate: mpmath.mpf) -> mpmath.mpf:
            moment = mpmath.log1p(rare * mpmath.expm1(rate)) - rare * rate
            return moment - mpmath.log1p(-((noise * rate) ** 2)) - rate * share

        low, high = mpmath.mpf(0), 1 / noise
        for _ in range(150):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (left, high) if exponent(left) > exponent(right) else (low, right)
        least = min(1, 2 * mpmath.exp(terms * exponent(low)))
    assert tails.kept_laplace_chernoff(terms, kept, width, deviation) == pytest.approx(
        float(least), rel=1e-9, abs=1e-290
    )


@pytest.mark.parametrize(
    "terms", [10**3, 10**6 + 1, 10**8, 10**9, 5 * 10**9, 10**10, tails.MOST_SIGNS]
)
def test_the_tail_of_fair_signs_is_that_of_many_digits(terms: int) -> None:
    with flint.ctx.workprec(160):
        for deviations in (0.01, 1.0, 6.0, 20.0, 30.0):
            positive = math.ceil((terms + deviations * terms**0.5) / 2)
            half = flint.arb("0.5").beta_lower(
                flint.arb(positive), flint.arb(terms - positive + 1), True
            )
            tail = tails.symmetric_binomial(terms, 2 * positive - terms - 0.5)
            assert tail == pytest.approx(float(2 * half), rel=1e-9)
    assert tails.symmetric_binomial(10, 1e300) == 0


def test_a_curators_error_is_that_of_replacing_a_user() -> None:
    assert histograms.central_laplace_largest_error(1.0, 1, math.exp(-3)) == pytest.approx(
        2 * 3, rel=1e-12
    )


def by_enumeration(users: int, epsilon: float, alpha: float) -> tuple[float, float]:
    """H(T|Y) and the error of the frequencies from the joint law of tallies and reports, in
    balls.
    """
    mechanism, joint = KaryRandomisedResponse(flint.arb(epsilon), flint.arb(2)), {}
    own, total = flint.arb(alpha), 2 * flint.arb(alpha)
    for holders in range(users + 1):
        rising = (
            (own + holders).gamma() * (own + users - holders).gamma() / (own.gamma() * own.gamma())
        )
        chance = comb(users, holders) * rising * total.gamma() / (total + users).gamma()
        for kept in range(holders + 1):
            for turned in range(users - holders + 1):
                true = kept + users - holders - turned
                ways = comb(holders, kept) * comb(users - holders, turned)
                key = (holders, kept + turned)
                joint[key] = joint.get(
                    key, 0
                ) + chance * ways * mechanism.p**true * mechanism.q ** (users - true)
    entropy, error = flint.arb(0), flint.arb(0)
    for seen in range(users + 1):
        column = [joint[holders, seen] for holders in range(users + 1)]
        whole = sum(column)
        mean = sum(holders * chance for holders, chance in enumerate(column)) / whole
        entropy -= sum(chance * (chance / whole).log() for chance in column)
        error += (
            2
            * sum(
                chance * (holders - mean) * (holders - mean)
                for holders, chance in enumerate(column)
            )
            / users**2
        )
    return float(entropy), float(error)


@pytest.mark.parametrize("epsilon", [1e-8, 0.01, 1.0, 20.0, 40.0, 50.0, 699.0])
@pytest.mark.parametrize(("users", "alpha"), [(1, 0.5), (7, 0.5), (7, 3.0)])
def test_what_is_left_to_know_about_the_tallies_keeps_its_digits(
    users: int, alpha: float, epsilon: float
) -> None:
    case, before = TwoValues(users, epsilon, alpha), flint.ctx.prec
    flint.ctx.prec = 2500
    try:
        entropy, error = by_enumeration(users, epsilon, alpha)
    finally:
        flint.ctx.prec = before
    assert case.entropies()[1] == pytest.approx(entropy, rel=1e-12)
    assert case.risk().frequency == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize("concentration", [1e-3, 7.0, 292.6, 1e5])
@pytest.mark.parametrize("epsilon", [3.26e-7, 2.0, 300.0])
def test_posteriors_are_finite_under_any_prior(concentration: float, epsilon: float) -> None:
    posteriors = TwoValues(500, epsilon, concentration).posteriors()
    assert posteriors.chances.sum() == pytest.approx(1, rel=1e-9)
    assert (posteriors.frequency_variances >= 0).all()
    assert (posteriors.variances > 0).all()
    assert (posteriors.means > 0).all()
    assert (posteriors.means < 1).all()
    # the prior's law of the frequency is kept on average, in mean and in variance
    spread = posteriors.frequency_variances + (posteriors.frequency_means - 0.5) ** 2
    total = 2 * concentration
    assert posteriors.chances @ spread == pytest.approx(
        (total + 500) / (4 * 500 * (total + 1)), rel=1e-8
    )


POINT = np.array([0.5, 0.3, 0.2])


def test_errors_at_small_and_large_budgets_are_those_of_the_closed_form() -> None:
    for error in (information.distribution_error, information.frequency_error):
        for epsilon in (1e-3, 1.0, 20.0, 50.0, 300.0):
            mechanism = KaryRandomisedResponse(epsilon, 3)
            assert error(mechanism.channel(), POINT) == pytest.approx(
                error(mechanism, POINT), rel=1e-10
            )
    for epsilon in (1e-8, 1e-5, 1.0):
        lead = 6 / np.expm1(epsilon) ** 2 + 4 / np.expm1(epsilon)
        assert information.frequency_error(
            KaryRandomisedResponse(epsilon, 3), POINT
        ) == pytest.approx(lead, rel=1e-12)
    tail = 2 * 2 * np.exp(-50.0)
    assert information.frequency_error(KaryRandomisedResponse(50.0, 3), POINT) == pytest.approx(
        tail, rel=1e-12
    )


def test_a_channel_too_near_one_that_tells_nothing_is_refused() -> None:
    for channel in (
        KaryRandomisedResponse(1e-8, 3).channel(),
        np.full((3, 3), 1 / 3),
        np.ones((1, 3)),
    ):
        with pytest.raises(ValueError, match="channel must tell its inputs apart"):
            information.distribution_error(channel, [0.5, 0.25, 0.25])
    with pytest.raises(ValueError, match="distribution must have 3 entries"):
        information.frequency_error(KaryRandomisedResponse(1.0, 3), [0.5, 0.5])


def test_the_covariance_given_the_report_keeps_its_digits_at_large_budgets() -> None:
    # to first order in q the report is wrong with chance (k - 1) q, and any pair of values is
    # confused both ways
    q = KaryRandomisedResponse(50.0, 3).q
    pairs = -q * (POINT[:, None] + POINT)
    np.fill_diagonal(pairs, 0)
    full = pairs - np.diag(pairs.sum(axis=1))
    actual = information.conditional_covariance(KaryRandomisedResponse(50.0, 3).channel(), POINT)
    assert actual == pytest.approx(full[:2, :2], rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 30.0, 300.0])
def test_entropy_constants_agree_with_closed_forms(epsilon: float) -> None:
    c, draws = np.expm1(epsilon), np.random.default_rng(1).dirichlet(np.full(5, 0.5), size=20)
    for points in ([POINT], [[1e-200, 0.5, 0.5]], [[0.999, 5e-4, 5e-4]], draws):
        size = len(points[0])
        known, rest = information.entropy_constants(
            KaryRandomisedResponse(epsilon, size).channel(), points
        )
        logs = (
            2 * (size - 1) * np.log(c)
            - (size - 2) * np.log(c + size)
            - np.log1p(c * np.array(points)).sum(axis=1)
        )
        assert known == pytest.approx(logs.mean(), rel=1e-9)
        assert np.isfinite(rest)


@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 30.0, 300.0])
def test_the_mean_information_of_five_values_is_an_arc_tangent(epsilon: float) -> None:
    with mpmath.workdps(60):
        c = mpmath.expm1(epsilon)
        arc = mpmath.atan(mpmath.sqrt(c)) / mpmath.sqrt(c)
        mean_log = (
            mpmath.log1p(c) - 3 + 3 * arc + (1 - 3 / c + 3 * arc / c) / 3
        )  # of 1 + c P, P being Beta(1/2, 2)
        exact = 8 * mpmath.log(c) - 3 * mpmath.log(c + 5) - 5 * mean_log
    assert information.SymmetricDirichlet(5).krr_log_det_information(epsilon) == pytest.approx(
        float(exact), rel=1e-9
    )
