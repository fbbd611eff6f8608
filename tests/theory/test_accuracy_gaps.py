"""Errors of gaps, their tails and the budgets they need: every report enumerated, and exact laws."""

from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from ldpnb.accuracy import budgets, gaps, tails
from ldpnb.accuracy.dropouts import estimated_sizes_variance
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import routes
from ldpnb.rng import stream

COUNTS = np.array([[2, 1, 3, 4], [5, 0, 2, 1], [1, 1, 1, 3]])
VALUES = np.array([-1.0, -0.2, 0.4, 1.0])


@settings(derandomize=True, max_examples=25, deadline=None)
@given(st.floats(0.05, 5), st.floats(0.05, 5), st.floats(0.3, 4), st.sampled_from([2, 3]), st.booleans())
def test_the_variance_of_the_gap_is_the_sum_over_every_users_report(
    first: float, second: float, k: float, groups: int, swapped: bool
) -> None:
    counts = COUNTS[:groups]
    sizes = counts.sum(axis=1)
    moments, means = counts @ VALUES**2 / sizes, counts @ VALUES / sizes
    for mechanism in (DiscretisedMeans(first, second, groups), LaplaceMeans(first, second, k, groups, swapped)):
        for pair in {(0, 1), (1, groups - 1)} - {(1, 1)}:
            found = GroupGap(mechanism, tuple(sizes.tolist()), pair).variance(moments[list(pair)])
            mean, variance = routes.gap_moments(mechanism, counts, VALUES, pair=pair)
            assert found == pytest.approx(variance, rel=1e-9)
            assert mean == pytest.approx(means[pair[0]] - means[pair[1]], rel=1e-9, abs=1e-12)


def test_the_bit_has_the_variance_of_a_sign_less_its_signal_weighted_by_group() -> None:
    bit = SignedBit(1.3, (3, 5, 4), (1, 2))
    expected = (12 / np.tanh(0.65) ** 2 - (0.64 * 5 * 0.5 + 4 * 0.25)) / 16
    assert GroupGap(bit, (3, 5, 4), (1, 2)).variance((0.5, 0.25)) == pytest.approx(expected, rel=1e-12)


def test_the_noisy_number_has_the_variance_of_its_noise() -> None:
    two = GroupGap(SignedLaplace(4.0, (3, 5)), np.array([3, 5]))
    assert two.sizes == (3, 5)
    assert two.variance((1.0, 0.0)) == pytest.approx(2 * 0.25 * 8 / 9, rel=1e-12)
    three = GroupGap(SignedLaplace(0.5, (3, 2, 4), (1, 2)), (3, 2, 4), (1, 2))
    assert three.variance((0.0, 0.0)) == pytest.approx(2 * 16 * 9 / 4, rel=1e-12)


def test_a_gap_with_estimated_sizes_varies_the_same_in_either_order() -> None:
    mechanism, sizes = DiscretisedMeans(1.0, 2.0, 3), (70, 900, 400)
    one = estimated_sizes_variance(mechanism, sizes, (0.8, -0.3), (0.7, 0.2), pair=(0, 2))
    assert estimated_sizes_variance(mechanism, sizes, (-0.3, 0.8), (0.2, 0.7), pair=(2, 0)) == pytest.approx(one)
    with pytest.raises(ValueError, match=r"pair must be two different groups in 0 \.\. 2"):
        estimated_sizes_variance(mechanism, sizes, (0.8, -0.3), (0.7, 0.2), pair=(0, 3))


@settings(derandomize=True, max_examples=10, deadline=None)
@given(st.floats(0.01, 3), st.floats(0, 5))
def test_bias_error_and_squared_error_of_the_absolute_gap_agree_with_integration(sd: float, gap: float) -> None:
    x = np.linspace(-9, 9, 40_001)
    weight = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    error = np.abs(gap + sd * x) - gap
    assert float(gaps.absolute_gap_bias(sd, gap)) == pytest.approx(weight @ error, abs=1e-6 * sd)
    assert float(gaps.absolute_gap_mse(sd, gap)) == pytest.approx(weight @ error**2, abs=1e-6 * sd**2)
    assert float(gaps.absolute_gap_error(sd, gap)) == pytest.approx(weight @ np.abs(error), abs=1e-6 * sd)


@pytest.mark.parametrize("mechanism", [DiscretisedMeans(1.0, 2.0), SignedBit(1.3, (50, 50))])
def test_failures_of_sums_of_signs_are_those_of_their_tails(mechanism: DiscretisedMeans | SignedBit) -> None:
    gain, alpha = mechanism.gain, 0.6
    gap = GroupGap.of_halves(mechanism, 100)
    found = {t: gap.failure(alpha, t) for t in ("hoeffding", "bernstein", "exact")}
    assert found["hoeffding"] == pytest.approx(tails.hoeffding(100, alpha * 50 * gain), rel=1e-12)
    assert found["bernstein"] == pytest.approx(tails.bernstein(100, 1 + gain, alpha * 50 * gain), rel=1e-12)
    assert found["exact"] == pytest.approx(tails.symmetric_binomial(100, alpha * 50 * gain), rel=1e-12)
    assert max(found.values()) < 1


def test_the_exact_tail_is_the_binomial_one_and_near_the_normal() -> None:
    for terms, deviation in ((100, 20.5), (1000, 90.0), (10_000, 350.0)):
        exact = tails.symmetric_binomial(terms, deviation)
        assert exact == pytest.approx(2 * stats.binom.sf(np.ceil((terms + deviation) / 2) - 1, terms, 0.5), rel=1e-9)
        assert tails.normal(np.sqrt(terms), deviation) == pytest.approx(exact, rel=0.3)
    assert tails.symmetric_binomial(10, 11.0) == 0


def test_bernsteins_bound_is_its_formula() -> None:
    assert tails.bernstein(3.0, 0.5, 6.0) == pytest.approx(2 * np.exp(-36 / 2 / (3 + 0.5 * 6 / 3)), rel=1e-12)


def test_chernoffs_bound_holds_for_kept_laplace_reports() -> None:
    terms, keep, scale = 400, 0.7, 1.5
    rng = stream("chernoff", seed=1)
    kept = rng.random((1_000, terms)) < keep
    sums = (kept - keep).sum(axis=1) + scale * rng.laplace(size=(1_000, terms)).sum(axis=1)
    for deviation in (80.0, 120.0):
        bound = tails.kept_laplace_chernoff(terms, keep, scale, deviation)
        assert float(np.mean(np.abs(sums) >= deviation)) <= bound < 1
    assert tails.kept_laplace_chernoff(terms, 1.0, scale, 1e-6) == pytest.approx(1.0)


@settings(derandomize=True, max_examples=20, deadline=None)
@given(st.integers(1, 10**10), st.floats(-5, 0), st.floats(-3, 2), st.floats(-1, 1))
@example(6_882_806_733, np.log10(0.11224374591178085), np.log10(0.001849091153542243), 0.0)
def test_chernoffs_bound_keeps_its_digits(terms: int, keep: float, scale: float, apart: float) -> None:
    kept, width = 10**keep, 10**scale
    deviation = 10**apart * float(np.sqrt(terms * (2 * width**2 + kept * (1 - kept))))
    with mpmath.workdps(50):
        rare, noise, share = mpmath.mpf(min(kept, 1 - kept)), mpmath.mpf(width), mpmath.mpf(deviation) / terms

        def exponent(rate: mpmath.mpf) -> mpmath.mpf:
            moment = mpmath.log1p(rare * mpmath.expm1(rate)) - rare * rate
            return moment - mpmath.log1p(-((noise * rate) ** 2)) - rate * share

        low, high = mpmath.mpf(0), 1 / noise
        for _ in range(250):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (left, high) if exponent(left) > exponent(right) else (low, right)
        least = min(1, 2 * mpmath.exp(terms * exponent(low)))
    assert tails.kept_laplace_chernoff(terms, kept, width, deviation) == pytest.approx(
        float(least), rel=1e-9, abs=1e-290
    )


@pytest.mark.parametrize("tail", ["chebyshev", "hoeffding", "normal"])
def test_closed_forms_of_budgets_agree_with_the_search(tail: str) -> None:
    forms = {
        DiscretisedMeans.published: budgets.published_epsilon_for_gain,
        DiscretisedMeans.calibrated: budgets.calibrated_epsilon_for_gain,
        partial(SignedBit, sizes=(10**6, 10**6)): lambda gain: 2 * np.arctanh(gain) if gain < 1 else np.inf,
    }
    for family, form in forms.items():
        found = budgets.smallest_epsilon(family, 2 * 10**6, 0.05, tail=tail)
        assert form(budgets.required_gain(2 * 10**6, 0.05, tail=tail)) == pytest.approx(found, rel=1e-9)
        assert form(1.0) == np.inf


def test_the_exact_budget_is_the_first_at_which_the_binomial_tail_is_small_enough() -> None:
    users, alpha = 10**4, 0.1
    epsilon = budgets.smallest_epsilon(DiscretisedMeans.calibrated, users, alpha, tail="exact")
    for factor, enough in ((1 + 1e-9, True), (1 - 1e-9, False)):
        deviation = alpha * users / 2 * DiscretisedMeans.calibrated(epsilon * factor).gain
        tail = 2 * stats.binom(users, 0.5).sf(np.ceil((users + deviation) / 2) - 1)
        assert (tail <= 0.01) == enough


def test_two_users_are_enough_to_ask_what_gain_they_need() -> None:
    assert budgets.required_gain(2, 0.5, failure=0.25) == pytest.approx(2 / 0.5 / np.sqrt(2) / 0.5, rel=1e-12)


def test_no_budget_beyond_ten_thousand_is_searched_unless_asked_for() -> None:
    needed = budgets.smallest_epsilon(DiscretisedMeans.published, 10**5, 0.1)

    def thrifty(epsilon: float) -> DiscretisedMeans:
        return DiscretisedMeans.published(epsilon * needed / 10_000.5)

    assert budgets.smallest_epsilon(thrifty, 10**5, 0.1) == np.inf
    assert budgets.smallest_epsilon(thrifty, 10**5, 0.1, largest=2e4) == pytest.approx(10_000.5, rel=1e-9)


def test_a_small_minority_wants_less_protection_of_the_value_at_a_large_budget() -> None:
    assert budgets.best_laplace(8.0, (500, 500)).value_epsilon == 8.0
    assert budgets.best_laplace(6.0, (100, 9900)).value_epsilon == pytest.approx(5.0, abs=0.01)
