"""Bounds on errors are on their side of the exact error, and budgets buy what they promise."""

from functools import partial

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ldpnb.accuracy import (
    allocation,
    budgets,
    distances,
    exact_risk,
    gaps,
    histograms,
    information,
    lower_bounds,
    means,
    personalised,
    sampling,
    tails,
)
from ldpnb.accuracy.information import SymmetricDirichlet
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.estimators.frequency import unbiased
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.papers.biswas2022 import displayed
from properties.strategies import (
    distributions,
    domain_sizes,
    epsilons,
    examples,
    failures,
    logarithmic,
    moderate,
    rates,
    small_mechanisms,
    users,
)

SLACK = 1 + 1e-9

shares = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)


@examples(12)
@given(epsilons, domain_sizes, users, rates, shares)
def test_variances_under_sampling_keep_their_order_at_the_ends_of_every_range(
    epsilon: float, size: int, number: int, rate: float, share: float
) -> None:
    survey, iid = (
        sampling.SampledCounts(number, rate, KaryRandomisedResponse(epsilon, size), d) for d in ("fixed", "iid")
    )
    held = share * number
    realised = survey.variance_realised_size(held)
    assert 0 <= survey.variance_ratio(held) <= realised * SLACK + 1e-9
    assert realised <= survey.variance_rescaled(held) * SLACK
    assert realised <= iid.variance_realised_size(held) * SLACK + 1e-9
    assert survey.variance_gain(held) >= 0
    assert displayed.variance_unadjusted(survey, held) <= survey.variance_unadjusted(held) * SLACK + 1e-9
    assert displayed.variance_realised_size(survey, held) >= 0
    assert survey.rare_variance_realised_size == pytest.approx(survey.variance_realised_size(0), rel=1e-9)
    assert survey.rare_variance_realised_size <= survey.rare_variance_rescaled * SLACK


@examples(10)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=5).filter(any), moderate, st.floats(0.1, 1))
def test_the_smallest_rate_reaches_its_distance(counts: list[int], epsilon: float, rate: float) -> None:
    mechanism, number = KaryRandomisedResponse(epsilon, len(counts)), sum(counts)

    def distance(r: float) -> float:
        variances = sampling.SampledCounts(number, r, mechanism).variance_realised_size(counts)
        return distances.expected_total_variation(np.sqrt(variances), users=number)

    found = distances.smallest_rate(distance(rate), counts, users=number, mechanism=mechanism)
    assert found == pytest.approx(rate, rel=1e-7)
    assert distances.smallest_rate(0.9 * distance(1.0), counts, users=number, mechanism=mechanism) is None


@examples(12)
@given(
    st.lists(st.tuples(logarithmic(1e-6, 1e6), logarithmic(1e-3, 1e3), st.integers(1, 10**6)), min_size=1, max_size=5),
    st.floats(0.001, 2),
)
def test_no_shift_between_two_groups_improves_the_optimal_rates(groups: list, part: float) -> None:
    noises, costs, sizes = (np.array(column, dtype=float) for column in zip(*groups, strict=True))
    budget = part * float(sizes @ costs)
    best = personalised.optimal_rates(noises=noises, costs=costs, sizes=sizes, budget=budget)
    assert ((best > 0) & (best <= 1)).all()
    assert sizes @ (costs * best) == pytest.approx(min(budget, float(sizes @ costs)), rel=1e-9)
    price = noises / (costs * best**2)
    free = best < 1
    if free.any():
        assert np.ptp(price[free]) <= 1e-7 * price[free].max()
        assert (price[~free] >= price[free].max() * (1 - 1e-7)).all()


@examples(12)
@given(small_mechanisms(moderate, largest=5), st.data())
def test_the_error_of_the_unbiased_estimate_is_above_every_bound(mechanism, data) -> None:
    size = mechanism.domain_size
    point, channel = data.draw(distributions(size, least=0.01)), mechanism.channel()
    epsilon = mechanism.epsilon
    plain = information.unbiased_frequency_error(mechanism)
    best = information.frequency_error(channel, point)
    assert best <= plain * SLACK + 1e-9
    assert information.distribution_error(channel, point) == pytest.approx(best + 1 - point @ point, rel=1e-7)
    bound, fewer = lower_bounds.any_channel_bound_at(point, epsilon)
    assert fewer <= best * (1 + 1e-7) + 1e-7
    limits = LowerBounds(size, epsilon)
    assert limits.any_channel() <= bound * SLACK
    assert limits.distribution() <= limits.any_channel() * SLACK
    forms = [limits.frequency(f) for f in ("published", "sharp")]
    assert forms[0] <= forms[1] * SLACK <= limits.distribution() * SLACK**2


@examples(12)
@given(small_mechanisms(moderate, largest=4), st.data())
def test_information_stays_between_its_floor_and_its_ceiling(mechanism, data) -> None:
    size, channel, epsilon = mechanism.domain_size, mechanism.channel(), mechanism.epsilon
    point = data.draw(distributions(size, least=0.01))
    known, _ = information.entropy_constants(channel, [point])
    assert known <= LowerBounds(size, epsilon).log_information_ceiling() + 1e-6
    covariance = information.conditional_covariance(channel, point)
    spread = float(np.linalg.slogdet(covariance)[1] - np.log(point).sum())
    floors = [LowerBounds(size, epsilon).log_covariance_floor(f) for f in ("published", "sharp")]
    assert floors[0] <= floors[1] <= spread + 1e-6
    if isinstance(mechanism, KaryRandomisedResponse):
        closed = information.krr_log_det_information(point, epsilon=epsilon)
        assert known == pytest.approx(closed, rel=1e-6, abs=1e-6)


@examples(12)
@given(st.integers(1, 4), st.integers(2, 3), moderate, logarithmic(0.2, 5))
def test_the_bayes_risk_is_least_and_above_the_bound_for_few_users(
    number: int, size: int, epsilon: float, alpha: float
) -> None:
    mechanism = KaryRandomisedResponse(epsilon, size)
    estimators = {
        "unbiased": lambda t: unbiased(t, number, mechanism),
        "uniform": lambda t: np.full(t.shape, 1 / size),
    }
    risks = exact_risk.exact_risks(mechanism.channel(), number, np.full(size, alpha), estimators)
    bayes = risks["Bayes"]
    assert bayes.distribution <= min(r.distribution for r in risks.values()) * SLACK
    assert bayes.frequency <= min(r.frequency for r in risks.values()) * SLACK
    plain = information.unbiased_frequency_error(mechanism) / number
    assert risks["unbiased"].frequency == pytest.approx(plain, rel=1e-6)
    assert LowerBounds(size, epsilon).finite_users(number, alpha) <= bayes.distribution * SLACK
    if size == 2:
        found = exact_risk.TwoValues(number, epsilon, alpha).risk()
        assert (found.distribution, found.frequency) == pytest.approx((bayes.distribution, bayes.frequency), rel=1e-7)


@examples(10)
@given(st.integers(1, 60), moderate, logarithmic(0.3, 4))
def test_entropies_keep_the_bounds(number: int, epsilon: float, alpha: float) -> None:
    entropy, tallies = exact_risk.TwoValues(number, epsilon, alpha).entropies()
    assert -1e-9 <= tallies <= np.log(number + 1) + 1e-9
    assert entropy <= SymmetricDirichlet(2, alpha).entropy() + 1e-9
    risk = exact_risk.TwoValues(number, epsilon, alpha).risk()
    assert EntropyBounds(2).distribution(entropy) <= risk.distribution * SLACK
    assert EntropyBounds(2).frequency(tallies, number, jitter=True) <= risk.frequency * SLACK


@examples(12)
@given(st.integers(2, 30), logarithmic(0.05, 20), epsilons)
def test_bounds_for_any_channel_are_attained_by_the_best_subsets(size: int, alpha: float, epsilon: float) -> None:
    bounds, entropies, prior = LowerBounds(size, epsilon), EntropyBounds(size), SymmetricDirichlet(size, alpha)
    assert bounds.any_channel() <= bounds.uniform_optimum() * SLACK
    assert entropies.factor() >= 1
    assert 0 < prior.diversity() < 1 - 1 / size + 1e-12
    asymptotic, limits = entropies.asymptotic(2.0, -1.0), entropies.limits(2.0, -1.0)
    smooth = entropies.distribution(limits[0]), entropies.frequency(limits[1], 1, jitter=False)
    assert asymptotic == pytest.approx(smooth, rel=1e-9)


@examples(15)
@given(st.integers(1, 10**6), logarithmic(1e-3, 1e6))
def test_tail_bounds_lie_above_the_exact_tail(terms: int, deviation: float) -> None:
    exact = tails.symmetric_binomial(terms, deviation)
    assert 0 <= exact <= tails.hoeffding(terms, deviation) * SLACK
    assert exact <= tails.bernstein(float(terms), 1.0, deviation) * SLACK
    assert exact <= tails.chebyshev(float(terms), deviation) * SLACK


@examples(12)
@given(st.integers(1, 50), logarithmic(0.01, 100), st.floats(0.1, 1.0), logarithmic(0.1, 10))
def test_the_chernoff_bound_lies_above_the_laplace_tail(
    terms: int, deviation: float, keep: float, scale: float
) -> None:
    noise = means.laplace_sum_tail(terms, deviation / scale)
    assert 0 <= noise <= 1
    bound = tails.kept_laplace_chernoff(terms, 1.0, scale, deviation)
    assert noise <= bound * (1 + 1e-6)
    assert bound <= tails.kept_laplace_chernoff(terms, keep, scale, deviation) * (1 + 1e-6)


@examples(12)
@given(epsilons, logarithmic(1e-3, 1e6), users, failures)
def test_errors_of_means_are_ordered_from_a_trillion_users_to_one(
    epsilon: float, upper: float, number: int, failure: float
) -> None:
    bit, noise, curator = (kind(epsilon, upper) for kind in (OneBit, LocalLaplace, CentralLaplace))
    worst, local, central = (means.worst_variance(mechanism, number) for mechanism in (bit, noise, curator))
    assert means.one_bit_floor(upper, number) ** 2 <= worst * SLACK
    ends = means.variance(bit, [0.0, upper], [number, number])
    assert ends == pytest.approx(upper**2 * means.warner_variance(epsilon, 2 * number), rel=1e-6)
    assert ends <= means.worst_variance(bit, 2 * number) * SLACK
    assert central <= local
    assert (worst < local) == (epsilon < means.one_bit_crossing()) or epsilon == pytest.approx(means.one_bit_crossing())
    certain = means.certain_error(bit, number, failure)
    assert means.normal_error(worst, failure) <= certain * SLACK
    assert means.users_needed(bit, certain, failure) <= number * SLACK
    assert means.users_for_certain(bit, certain, failure) == pytest.approx(number, rel=1e-9)
    released = means.certain_error(curator, number, failure)
    assert means.users_needed(curator, released, failure) == pytest.approx(number, rel=1e-9)


@examples(10)
@given(logarithmic(0.05, 5), st.integers(1, 2000), logarithmic(0.01, 3), st.floats(0.001, 0.5))
def test_exact_chances_of_success_keep_what_bounds_promise(
    epsilon: float, number: int, error: float, failure: float
) -> None:
    promised = means.certain_error(OneBit(epsilon), number, failure)
    assert means.success(OneBit(epsilon), number, promised) >= 1 - failure - 1e-12
    for mechanism in (OneBit(epsilon), LocalLaplace(epsilon)):
        chance = means.success(mechanism, number, error)
        assert 0 <= chance <= 1
        assert chance <= means.success(mechanism, number, 1.5 * error) + 1e-12


@examples(5)
@given(logarithmic(0.3, 3), logarithmic(0.05, 0.5) | logarithmic(0.5, 8), st.floats(0.005, 0.2))
def test_the_exact_number_of_users_is_the_smallest(epsilon: float, error: float, failure: float) -> None:
    mechanism = LocalLaplace(epsilon)
    found = means.users_for_certain(mechanism, error, failure)
    assert means.success(mechanism, found, error) >= 1 - failure
    assert found == 1 or means.success(mechanism, found - 1, error) < 1 - failure


@examples(12)
@given(epsilons, st.integers(1, 10**6), st.floats(1e-9, 0.999), st.integers(1, 20))
def test_histogram_errors_of_a_curator(epsilon: float, size: int, failure: float, bits: int) -> None:
    largest = histograms.central_laplace_largest_error(epsilon, size, failure)
    each = -np.expm1(np.log1p(-failure) / size)
    assert np.exp(-largest * epsilon / 2) == pytest.approx(each, rel=1e-6)
    assert histograms.central_laplace_largest_error(epsilon, size + 1, failure) >= largest
    assert histograms.central_laplace_count_variance(epsilon) == pytest.approx(8 / epsilon**2, rel=1e-12)
    assert histograms.unary_report_bits(0.5, 0.5, bits) == pytest.approx(bits, rel=1e-12)


@examples(12)
@example(1e-8, (10**12, 3_584_912_846), (0.0, 0.0), 0.0)  # whose squares leave 64 bits
@given(epsilons, st.tuples(users, users), st.tuples(shares, shares), shares)
def test_the_worst_gap_variance_is_the_worst(
    epsilon: float, sizes: tuple[int, int], moments: tuple[float, float], factor: float
) -> None:
    for mechanism in (DiscretisedMeans.calibrated(epsilon), LaplaceMeans.calibrated(epsilon)):
        gap = gaps.GroupGap(mechanism, sizes)
        found = gap.variance(moments)
        assert 0 < found <= gap.worst_variance() * SLACK
        wrong = gap.misestimated_variance((1 + factor, 1.0), moments)
        assert wrong <= found * SLACK
    for one in (SignedBit(epsilon, sizes), SignedLaplace(epsilon, sizes)):
        gap = gaps.GroupGap(one, sizes)
        assert -1e-9 <= gap.variance(moments) <= gap.worst_variance() * SLACK


ONE_BIT = partial(SignedBit, sizes=(500, 500))
FAMILIES = (DiscretisedMeans.published, DiscretisedMeans.calibrated, LaplaceMeans.calibrated, ONE_BIT)


@examples(5)
@given(st.sampled_from(FAMILIES), st.floats(0.2, 1.0), st.floats(0.01, 0.2), st.sampled_from(["chebyshev", "normal"]))
def test_the_smallest_budget_just_meets_its_target(family, alpha: float, failure: float, tail: str) -> None:
    found = budgets.smallest_epsilon(family, 1000, alpha, failure=failure, tail=tail)
    assume(np.isfinite(found))
    gap = gaps.GroupGap.of_halves(family(found), 1000)
    assert gap.failure(alpha, tail) == pytest.approx(failure, rel=1e-6)
    assert gap.error_bound(failure, tail) == pytest.approx(alpha, rel=1e-6)


@examples(10)
@given(logarithmic(0.1, 10), st.integers(1, 1000), st.integers(1, 1000))
def test_the_best_split_of_a_laplace_budget_beats_the_even_one(epsilon: float, one: int, other: int) -> None:
    best = budgets.best_laplace(epsilon, (one, other))
    assert best.epsilon == pytest.approx(epsilon, rel=1e-9)
    chosen, even = (gaps.GroupGap(m, (one, other)).worst_variance() for m in (best, LaplaceMeans.calibrated(epsilon)))
    assert chosen <= even * SLACK


@examples(6)
@given(st.integers(2, 3), st.integers(2, 3), st.floats(0.5, 2), logarithmic(0.2, 3.0))
def test_the_noise_of_an_allocation_spends_the_budget(first: int, second: int, height: float, epsilon: float) -> None:
    family = allocation.Family((first, second), (1.0, height))
    found = allocation.outcomes(family, allocation.lottery((1, 1), (2, 2), 0.3))
    assert found.chances.sum(axis=1) == pytest.approx(np.ones(len(family.populations)), rel=1e-9)
    truth = np.array([np.dot(p, family.heights) / sum(family.sizes) for p in family.populations])
    assert found.chances @ found.values == pytest.approx(truth, abs=1e-9)
    scale = found.noise_scale(epsilon)
    assert found.loss(scale) == pytest.approx(epsilon, rel=1e-6)
    assert found.loss(1.5 * scale) <= epsilon
    assert found.total_variances(epsilon) == pytest.approx(found.variances() + 2 * scale**2, rel=1e-12)
