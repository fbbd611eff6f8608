"""Errors of estimates, with their digits where next to nothing, or everything, is known.

The second ways: tails minimised or integrated in many digits, the joint law of counts and tallies
in balls, and closed forms at both ends of the budget.
"""

import math
from collections.abc import Callable
from math import comb

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ldpnb.accuracy import histograms, tails
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.lopuhaa2020.formulas import information
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues


def smallest_value(
    function: Callable[[mpmath.mpf], mpmath.mpf], low: mpmath.mpf, high: mpmath.mpf
) -> mpmath.mpf:
    """Return the smallest value of a convex function, by search."""
    for _ in range(150):
        left = low + (high - low) / 3
        right = high - (high - low) / 3
        if function(left) > function(right):
            low = left
        else:
            high = right
    return function(low)


@settings(derandomize=True, max_examples=10, deadline=None)
@given(st.integers(1, 10**10), st.floats(-5, 0), st.floats(-3, 2), st.floats(-1, 1))
@example(6_882_806_733, np.log10(0.11224374591178085), np.log10(0.001849091153542243), 0.0)
# few terms, where a large rate is best: of a group that is kept rarely, often and always
@example(10, -0.5, -1.3, 0.5)
@example(10, -0.1, -1.3, 0.5)
@example(10, 0.0, -1.3, 0.5)
def test_chernoffs_bound_keeps_its_digits(
    terms: int, log_keep: float, log_scale: float, log_deviations: float
) -> None:
    keep = 10**log_keep
    scale = 10**log_scale
    variance = terms * (2 * scale**2 + keep * (1 - keep))
    deviation = 10**log_deviations * float(np.sqrt(variance))

    with mpmath.workdps(50):
        rare = mpmath.mpf(min(keep, 1 - keep))
        noise = mpmath.mpf(scale)
        share = mpmath.mpf(deviation) / terms

        def exponent(rate: mpmath.mpf) -> mpmath.mpf:
            moment = mpmath.log1p(rare * mpmath.expm1(rate)) - rare * rate
            return moment - mpmath.log1p(-((noise * rate) ** 2)) - rate * share

        smallest = smallest_value(exponent, mpmath.mpf(0), 1 / noise)
        bound = float(min(1, 2 * mpmath.exp(terms * smallest)))
    actual = tails.kept_laplace_chernoff(terms, keep, scale, deviation)
    assert actual == pytest.approx(bound, rel=1e-9, abs=1e-290)


def fair_tail(terms: int, positive: int) -> float:
    """Return the chance of at least so many heads, from the incomplete beta function in balls."""
    with flint.ctx.workprec(160):
        half = flint.arb("0.5")
        heads = flint.arb(positive)
        tail = half.beta_lower(heads, flint.arb(terms - positive + 1), True)
        return float(tail)


@pytest.mark.parametrize(
    "terms", [10**3, 10**6 + 1, 10**8, 10**9, 5 * 10**9, 10**10, tails.MOST_SIGNS]
)
def test_the_tail_of_fair_signs_is_that_of_many_digits(terms: int) -> None:
    for deviations in (0.01, 1.0, 6.0, 20.0, 30.0):
        positive = math.ceil((terms + deviations * terms**0.5) / 2)
        tail = tails.symmetric_binomial(terms, 2 * positive - terms - 0.5)
        assert tail == pytest.approx(2 * fair_tail(terms, positive), rel=1e-9)
    assert tails.symmetric_binomial(10, 1e300) == 0


def test_a_curators_error_is_that_of_replacing_a_user() -> None:
    error = histograms.central_laplace_largest_error(1.0, 1, math.exp(-3))
    assert error == pytest.approx(2 * 3, rel=1e-12)


def test_a_report_of_certain_bits_takes_none_and_one_of_fair_bits_takes_all() -> None:
    assert histograms.unary_report_bits(1.0, 0.0, 8) == 0
    assert histograms.unary_report_bits(0.0, 1.0, 8) == 0
    assert histograms.unary_report_bits(0.5, 0.5, 8) == pytest.approx(8, rel=1e-15)


@pytest.mark.parametrize("data", ["fixed", "iid"])
def test_nothing_is_lost_or_biased_where_everybody_reports(data: str) -> None:
    mechanism = KaryRandomisedResponse(1.0, 3)
    everybody = SampledCounts(users=100, rate=1.0, mechanism=mechanism, data=data)
    assert everybody.mean_unadjusted(30) == 30
    assert everybody.bias_unadjusted(30) == 0
    assert everybody.variance_gain(30) == 0
    assert everybody.negative_mean_threshold == 0
    assert everybody.unscaled_below == 0

    of_all_reports = histograms.pure_variance(0, users=100, mechanism=mechanism)
    for variance in (everybody.variance_rescaled, everybody.variance_realised_size):
        assert variance(30) == pytest.approx(everybody.variance_unadjusted(30), rel=1e-12)
        assert variance(0) == pytest.approx(of_all_reports, rel=1e-12)
    assert everybody.rare_variance_rescaled == pytest.approx(of_all_reports, rel=1e-12)
    assert everybody.rare_variance_realised_size == pytest.approx(of_all_reports, rel=1e-12)


Joint = dict[tuple[int, int], flint.arb]


def joint_law(users: int, epsilon: float, alpha: float) -> Joint:
    """Return the law of how many users hold the first value and how many report it.

    The values come from a Dirichlet prior with both parameters `alpha`, the reports from Warner's
    randomised response.
    """
    mechanism = KaryRandomisedResponse(flint.arb(epsilon), flint.arb(2))
    own = flint.arb(alpha)
    total = 2 * own

    joint: Joint = {}
    for holders in range(users + 1):
        others = users - holders
        rising = (own + holders).gamma() * (own + others).gamma() / own.gamma() ** 2
        prior = comb(users, holders) * rising * total.gamma() / (total + users).gamma()
        for kept in range(holders + 1):
            for turned in range(others + 1):
                truthful = kept + others - turned
                ways = comb(holders, kept) * comb(others, turned)
                chance = mechanism.p**truthful * mechanism.q ** (users - truthful)
                key = (holders, kept + turned)
                joint[key] = joint.get(key, flint.arb(0)) + prior * ways * chance
    return joint


def entropy_and_error(users: int, epsilon: float, alpha: float) -> tuple[float, float]:
    """Return ``H(T|Y)`` and the mean squared error of the frequencies, by enumeration in balls."""
    with flint.ctx.workprec(2500):
        joint = joint_law(users, epsilon, alpha)
        entropy = flint.arb(0)
        squares = flint.arb(0)
        for seen in range(users + 1):
            column = [joint[holders, seen] for holders in range(users + 1)]
            whole = sum(column)
            mean = sum(holders * chance for holders, chance in enumerate(column)) / whole
            entropy -= sum(chance * (chance / whole).log() for chance in column)
            squares += sum(
                chance * (holders - mean) * (holders - mean)
                for holders, chance in enumerate(column)
            )
        return float(entropy), float(2 * squares / users**2)


@pytest.mark.parametrize("epsilon", [1e-8, 0.01, 1.0, 20.0, 40.0, 50.0, 699.0])
@pytest.mark.parametrize(("users", "alpha"), [(1, 0.5), (7, 0.5), (7, 3.0)])
def test_what_is_left_to_know_about_the_tallies_keeps_its_digits(
    users: int, alpha: float, epsilon: float
) -> None:
    entropy, error = entropy_and_error(users, epsilon, alpha)
    case = TwoValues(users, epsilon, alpha)
    assert case.entropies()[1] == pytest.approx(entropy, rel=1e-12)
    assert case.risk().frequency == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize("concentration", [1e-3, 7.0, 292.6, 1e5])
@pytest.mark.parametrize("epsilon", [3.26e-7, 2.0, 300.0])
def test_posteriors_are_finite_under_any_prior(concentration: float, epsilon: float) -> None:
    users = 500
    posteriors = TwoValues(users, epsilon, concentration).posteriors()
    assert posteriors.chances.sum() == pytest.approx(1, rel=1e-9)
    assert (posteriors.frequency_variances >= 0).all()
    assert (posteriors.variances > 0).all()
    assert (posteriors.means > 0).all()
    assert (posteriors.means < 1).all()

    # the prior's law of the frequency is kept on average, in mean and in variance
    spread = posteriors.frequency_variances + (posteriors.frequency_means - 0.5) ** 2
    total = 2 * concentration
    prior_variance = (total + users) / (4 * users * (total + 1))
    assert posteriors.chances @ spread == pytest.approx(prior_variance, rel=1e-8)


POINT = np.array([0.5, 0.3, 0.2])


def test_errors_of_a_channel_are_those_of_its_mechanisms_closed_form() -> None:
    for error in (information.distribution_error, information.frequency_error):
        for epsilon in (1e-3, 1.0, 20.0, 50.0, 300.0):
            mechanism = KaryRandomisedResponse(epsilon, 3)
            closed_form = error(mechanism, POINT)
            assert error(mechanism.channel(), POINT) == pytest.approx(closed_form, rel=1e-10)


def test_the_frequency_error_has_its_leading_terms_at_both_ends_of_the_budget() -> None:
    for epsilon in (1e-8, 1e-5, 1.0):
        c = np.expm1(epsilon)
        error = information.frequency_error(KaryRandomisedResponse(epsilon, 3), POINT)
        assert error == pytest.approx(6 / c**2 + 4 / c, rel=1e-12)

    error = information.frequency_error(KaryRandomisedResponse(50.0, 3), POINT)
    assert error == pytest.approx(4 * np.exp(-50.0), rel=1e-12)


def test_a_channel_too_near_one_that_tells_nothing_is_refused() -> None:
    nearly_nothing = KaryRandomisedResponse(1e-8, 3).channel()
    for channel in (nearly_nothing, np.full((3, 3), 1 / 3), np.ones((1, 3))):
        with pytest.raises(ValueError, match="channel must tell its inputs apart"):
            information.distribution_error(channel, [0.5, 0.25, 0.25])
    with pytest.raises(ValueError, match="distribution must have 3 entries"):
        information.frequency_error(KaryRandomisedResponse(1.0, 3), [0.5, 0.5])


def test_the_covariance_given_the_report_keeps_its_digits_at_large_budgets() -> None:
    # to first order in q the report is wrong with chance (k - 1) q, and any pair of values is
    # confused both ways
    mechanism = KaryRandomisedResponse(50.0, 3)
    pairs = -mechanism.q * (POINT[:, None] + POINT)
    np.fill_diagonal(pairs, 0)
    full = pairs - np.diag(pairs.sum(axis=1))

    actual = information.conditional_covariance(mechanism.channel(), POINT)
    assert actual == pytest.approx(full[:2, :2], rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 30.0, 300.0])
def test_entropy_constants_agree_with_closed_forms(epsilon: float) -> None:
    c = np.expm1(epsilon)
    draws = np.random.default_rng(1).dirichlet(np.full(5, 0.5), size=20)
    for points in ([POINT], [[1e-200, 0.5, 0.5]], [[0.999, 5e-4, 5e-4]], draws):
        size = len(points[0])
        channel = KaryRandomisedResponse(epsilon, size).channel()
        log_information, rest = information.entropy_constants(channel, points)

        logs_of_rows = np.log1p(c * np.array(points)).sum(axis=1)
        closed_form = 2 * (size - 1) * np.log(c) - (size - 2) * np.log(c + size) - logs_of_rows
        assert log_information == pytest.approx(closed_form.mean(), rel=1e-9)
        assert np.isfinite(rest)


@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 30.0, 300.0])
def test_the_mean_information_of_five_values_is_an_arc_tangent(epsilon: float) -> None:
    with mpmath.workdps(60):
        c = mpmath.expm1(epsilon)
        arc = mpmath.atan(mpmath.sqrt(c)) / mpmath.sqrt(c)
        # the mean of ln(1 + c P), where P is Beta(1/2, 2)
        mean_log = mpmath.log1p(c) - 3 + 3 * arc + (1 - 3 / c + 3 * arc / c) / 3
        exact = float(8 * mpmath.log(c) - 3 * mpmath.log(c + 5) - 5 * mean_log)
    actual = information.SymmetricDirichlet(5).krr_log_det_information(epsilon)
    assert actual == pytest.approx(exact, rel=1e-9)
