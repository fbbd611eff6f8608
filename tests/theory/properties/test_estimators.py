"""Every estimator: unbiased by enumeration where it says so, else nearest or likeliest by optimality conditions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ldpnb.accuracy.personalised import PersonalRates, variance_reweighted_reports
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.estimators import bayes, gaps, likelihood, linear, sampling
from ldpnb.estimators.frequency import project_simplex, unbiased
from ldpnb.estimators.saddle import saddle_point
from ldpnb.mechanisms.contrasts import SignedBit, contrast_weights
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.rng import stream
from properties.strategies import (
    distributions,
    epsilons,
    examples,
    law_of,
    logarithmic,
    moderate,
    rates,
    small_mechanisms,
    sum_law,
    supports,
    tame_responses,
    users,
)

Law = dict[tuple[float, ...], float]

few_users = st.lists(st.integers(0, 2), min_size=2, max_size=3).filter(any)
vectors = st.lists(
    st.floats(-1e12, 1e12, allow_subnormal=False) | st.floats(-2, 2, allow_subnormal=False), min_size=1, max_size=8
)


def tally_law(mechanism, counts: list[int], report_rates: list[float] | None = None) -> Law:
    """The law of the tallies of users who each report with the probability of their value."""
    rows, channel = supports(mechanism), mechanism.channel()
    chances = report_rates or [1.0] * len(counts)
    silent = tuple([0] * len(counts))
    laws = []
    for value in np.repeat(range(len(counts)), counts):
        law = law_of(rows, chances[value] * channel[:, value])
        laws.append(law | {silent: law.get(silent, 0.0) + 1 - chances[value]})
    return sum_law(*laws)


def moments(law: Law, estimator) -> tuple[np.ndarray, np.ndarray]:
    chances, estimates = np.array(list(law.values())), np.array([estimator(np.array(t)) for t in law])
    mean = chances @ estimates
    return mean, chances @ (estimates - mean) ** 2


@st.composite
def channels(draw: st.DrawFn) -> np.ndarray:
    """Any small channel with positive entries."""
    size, outputs = draw(st.integers(2, 4)), draw(st.integers(2, 6))
    columns = [draw(distributions(outputs, least=0.01)) for _ in range(size)]
    return np.array(columns).T


@examples(10)
@given(small_mechanisms(moderate, largest=3), few_users)
def test_the_unbiased_estimate_is_unbiased(mechanism, counts: list[int]) -> None:
    counts = (counts * 2)[: mechanism.domain_size]
    assume(any(counts))
    number = sum(counts)
    mean, _ = moments(tally_law(mechanism, counts), lambda t: unbiased(t, number, mechanism))
    assert mean == pytest.approx(np.array(counts) / number, rel=1e-9, abs=1e-9 / (mechanism.p - mechanism.q))


@examples(12)
@given(vectors)
def test_the_projection_meets_its_optimality_conditions(vector: list[float]) -> None:
    point = np.array(vector)
    nearest = project_simplex(point)
    rounding = 1e-15 * max(1.0, np.abs(point).max()) * len(vector)
    assert nearest.min() >= 0
    assert nearest.sum() == pytest.approx(1, abs=4 * rounding)
    level = (point - nearest)[nearest > 0]
    assert np.ptp(level) <= 4 * rounding
    assert (point[nearest == 0] <= level.max() + 4 * rounding).all()
    assert (project_simplex(np.array([point[::-1], point]))[1] == nearest).all()


@examples(12)
@given(st.lists(st.just(0) | users, min_size=2, max_size=8).filter(any), epsilons)
def test_the_krr_mle_lacks_nothing_even_with_a_trillion_reports(tallies: list[int], epsilon: float) -> None:
    estimate, shares = likelihood.krr_mle(tallies, epsilon=epsilon), np.array(tallies) / sum(tallies)
    assert estimate.min() >= 0
    assert estimate.sum() == pytest.approx(1, abs=1e-12)
    contrast = np.expm1(epsilon)
    # G_x - 1 with G_x = sum_y s_y (1 + c [x = y]) / (1 + c P_y), its ones taken off before they cancel
    fitted = 1 + contrast * estimate
    pull = shares * contrast / fitted
    assert (pull - pull @ estimate).max() <= 1e-9 * contrast / (1 + contrast) + 1e-13


@examples(10)
@given(channels(), st.data())
def test_certificates_are_the_gap_computed_by_hand(channel: np.ndarray, data) -> None:
    outputs, size = channel.shape
    tallies = np.array(
        data.draw(st.lists(st.just(0) | st.integers(0, 10**6), min_size=outputs, max_size=outputs).filter(any))
    )
    fit = likelihood.mle(channel, tallies)
    assert fit.estimate.min() >= 0
    assert fit.estimate.sum() == pytest.approx(1, abs=1e-12)
    gradient = (tallies / (channel @ fit.estimate)) @ channel
    gap = float(gradient.max() - tallies.sum())
    assert likelihood.certificate_gap(channel, tallies, fit.estimate) == pytest.approx(
        gap, abs=1e-9 * tallies.sum() + 1e-9
    )
    assert gap <= 1e-3
    assert float(fit.gap) == pytest.approx(gap, abs=1e-9 * tallies.sum() + 1e-9)
    for other in (data.draw(distributions(size)), np.full(size, 1 / size)):
        seen = tallies > 0
        fitted = np.log(np.maximum(channel[seen] @ np.stack([other, fit.estimate], axis=1), 1e-300))
        rival, best = tallies[seen] @ fitted
        assert rival <= best + gap + 1e-9 * abs(best)


@examples(15)
@given(small_mechanisms(moderate, largest=5), st.data())
def test_the_support_mle_is_the_mle_of_the_channel(mechanism, data) -> None:
    rows, channel = supports(mechanism), mechanism.channel()
    tallies = np.array(data.draw(st.lists(st.integers(0, 100), min_size=len(rows), max_size=len(rows)).filter(any)))
    short, full = likelihood.support_mle(rows, tallies, mechanism), likelihood.mle(channel, tallies)
    value = [tallies @ np.log(channel @ np.maximum(f.estimate, 0)) for f in (short, full)]
    assert value[0] == pytest.approx(value[1], abs=2e-3)
    assert likelihood.certificate_gap(channel, tallies, short.estimate) <= 1e-3 + 1e-9 * tallies.sum()


@examples(10)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=3).filter(any), epsilons, logarithmic(0.05, 20))
def test_the_krr_posterior_is_the_exact_one_at_any_epsilon(tallies: list[int], epsilon: float, alpha: float) -> None:
    channel = KaryRandomisedResponse(epsilon, len(tallies)).channel()
    exact = bayes.posterior(channel, tallies, alpha)
    found = bayes.krr_posterior(tallies, alpha, epsilon=epsilon)
    assert found.distribution == pytest.approx(exact.distribution, rel=1e-8)
    assert found.frequencies == pytest.approx(exact.frequencies, rel=1e-6, abs=1e-6)
    assert exact.distribution.sum() == pytest.approx(1, rel=1e-12)
    assert exact.frequency_variance >= -1e-15
    assert exact.distribution_variance > 0


@examples(10)
@given(channels(), st.integers(1, 3), logarithmic(0.1, 10))
def test_the_chances_of_all_tallies_sum_to_one(channel: np.ndarray, number: int, alpha: float) -> None:
    reports = product(range(len(channel)), repeat=number)
    logs = [bayes.posterior(channel, np.bincount(r, minlength=len(channel)), alpha).log_marginal for r in reports]
    assert np.exp(logs).sum() == pytest.approx(1, rel=1e-9)


@examples(15)
@given(channels(), st.data())
def test_linear_estimates_invert_the_channel_and_state_their_deviation(channel: np.ndarray, data) -> None:
    size = channel.shape[1]
    assume(channel.shape[0] >= size and np.linalg.cond(channel) < 1e4)
    point = data.draw(distributions(size, least=0.01))
    counts = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size).filter(lambda c: 0 < sum(c) < 4))
    plain, best = linear.least_squares_weights(channel), linear.best_weights(channel, point)
    uniform = linear.best_weights(channel, np.full(size, 1 / size))
    assert linear.best_weights(channel) == pytest.approx(uniform, rel=1e-12, abs=1e-12)
    for weights in (plain, best):
        assert weights @ channel == pytest.approx(np.eye(size), abs=1e-8)
        reports = [law_of(np.eye(len(channel), dtype=int), channel[:, x]) for x in np.repeat(range(size), counts)]
        _, variance = moments(sum_law(*reports), lambda t, w=weights: w @ t / sum(counts))
        deviations = linear.deviations(weights, channel, counts)
        assert deviations**2 == pytest.approx(variance, rel=1e-6, abs=1e-9)
        assert linear.deviations(3 * weights, channel, counts) == pytest.approx(3 * deviations, rel=1e-6, abs=1e-8)
    spread = [np.diag(w * (channel @ point) @ w.T) for w in (plain, best)]
    assert (spread[1] <= spread[0] * (1 + 1e-9) + 1e-12).all()


def test_outputs_that_nobody_sends_have_no_weight() -> None:
    assert linear.best_weights([[1, 0], [0, 1], [0, 0]]).tolist() == [[1, 0, 0], [0, 1, 0]]


@examples(10)
@given(tame_responses, few_users, st.floats(0.05, 1.0))
def test_estimates_from_a_sample_have_their_stated_means_and_variances(
    mechanism, counts: list[int], rate: float
) -> None:
    mechanism = KaryRandomisedResponse(mechanism.epsilon, len(counts))
    number, law = sum(counts), tally_law(mechanism, counts, [rate] * len(counts))
    survey = SampledCounts(number, rate, mechanism)
    noise = {"rel": 1e-7, "abs": 1e-6 / mechanism.truthful_rate**2}
    known, sampled = {"users": number, "mechanism": mechanism}, {"sampling_rate": rate, "mechanism": mechanism}
    assert survey.mean_unadjusted(counts) - counts == pytest.approx(survey.bias_unadjusted(counts), **noise)
    for estimate, expected, spread in (
        (lambda t: sampling.unadjusted(t, **known), survey.mean_unadjusted(counts), survey.variance_unadjusted(counts)),
        (lambda t: sampling.rescaled(t, users=number, **sampled), np.array(counts), survey.variance_rescaled(counts)),
        (lambda t: sampling.realised_size(t, **sampled), np.array(counts), survey.variance_realised_size(counts)),
    ):
        mean, variance = moments(law, estimate)
        assert mean == pytest.approx(expected, **noise)
        assert variance == pytest.approx(spread, **noise)


@examples(10)
@given(moderate, few_users, st.floats(0.05, 1.0))
def test_the_ratio_estimate_is_unbiased_given_that_anybody_reports(
    epsilon: float, counts: list[int], rate: float
) -> None:
    mechanism, number = KaryRandomisedResponse(epsilon, len(counts)), sum(counts)
    law = tally_law(mechanism, counts, [rate] * len(counts))
    silent = law.pop(tuple([0] * len(counts)), 0.0)
    given_some = {t: p / (1 - silent) for t, p in law.items()}
    estimates = [sampling.ratio(t, users=number, mechanism=mechanism) for t in given_some]
    assert np.sum(estimates, axis=1) == pytest.approx(np.full(len(estimates), number), rel=1e-9)
    mean = np.array(list(given_some.values())) @ np.array(estimates)
    assert mean == pytest.approx(np.array(counts), rel=1e-7, abs=1e-6 / mechanism.truthful_rate)


@examples(10)
@given(
    moderate, st.lists(st.integers(0, 1), min_size=4, max_size=4).filter(any), st.floats(0.05, 1), st.floats(0.05, 1)
)
def test_estimates_with_personal_rates_have_their_stated_means_and_variances(
    epsilon: float, counts: list[int], one: float, other: float
) -> None:
    mechanism, table = KaryRandomisedResponse(epsilon, 2), np.array(counts).reshape(2, 2)
    sizes, both = table.sum(axis=1), np.array([one, other])
    assume((sizes > 0).all())
    parts = [tally_law(mechanism, row.tolist(), [rate] * 2) for row, rate in zip(table, both, strict=True)]
    law = {(*a, *b): p * q for a, p in parts[0].items() for b, q in parts[1].items()}
    noise = {"rel": 1e-7, "abs": 1e-6 / mechanism.truthful_rate**2}
    mean, variance = moments(law, lambda t: sampling.horvitz_thompson(t.reshape(2, 2), rates=both, mechanism=mechanism))
    assert mean == pytest.approx(table.sum(axis=0), **noise)
    survey = PersonalRates(sizes, both, mechanism)
    assert variance == pytest.approx(survey.variance_horvitz_thompson(table), **noise)
    total = {"users": int(sizes.sum()), "expected_reports": float(sizes @ both), "mechanism": mechanism}
    mean, variance = moments(law, lambda t: sampling.personalised(t.reshape(2, 2).sum(axis=0), **total))
    assert mean == pytest.approx(survey.mean(table), **noise)
    assert variance == pytest.approx(survey.variance(table), **noise)


@examples(10)
@given(moderate, few_users, st.data())
def test_reports_sent_by_their_own_rate_are_weighted_back(epsilon: float, counts: list[int], data) -> None:
    size, number = len(counts), sum(counts)
    mechanism = KaryRandomisedResponse(epsilon, size)
    sent = np.array(data.draw(st.lists(st.floats(0.05, 1), min_size=size, max_size=size)))
    channel = mechanism.channel()
    reports = []
    for value in np.repeat(range(size), counts):
        law = law_of(np.eye(size, dtype=int), sent * channel[:, value])
        reports.append(law | {tuple([0] * size): 1 - sum(law.values())})
    known = {"users": number, "report_rates": sent, "mechanism": mechanism}
    mean, variance = moments(sum_law(*reports), lambda t: sampling.reweighted_reports(t, **known))
    noise = {"rel": 1e-7, "abs": 1e-6 / mechanism.truthful_rate**2}
    assert mean == pytest.approx(np.array(counts), **noise)
    assert variance == pytest.approx(variance_reweighted_reports(counts, **known), **noise)


@examples(12)
@given(epsilons, rates, users, st.floats(0, 1))
def test_estimates_are_finite_at_the_ends_of_every_range(
    epsilon: float, rate: float, number: int, share: float
) -> None:
    mechanism = KaryRandomisedResponse(epsilon, 2)
    tallies = np.array([round(share * number), number - round(share * number)])
    for estimate in (
        unbiased(tallies, number, mechanism),
        sampling.rescaled(tallies, users=number, sampling_rate=rate, mechanism=mechanism),
        sampling.realised_size(tallies, sampling_rate=rate, mechanism=mechanism),
        sampling.ratio(tallies, users=number, mechanism=mechanism),
        sampling.hajek([tallies], users=number, rates=[rate], mechanism=mechanism),
    ):
        assert np.isfinite(estimate).all()


@examples(10)
@given(epsilons, epsilons, st.integers(2, 4), st.data())
def test_group_means_and_their_gap_are_unbiased(first: float, second: float, groups: int, data) -> None:
    sizes = np.array(data.draw(st.lists(st.integers(1, 1000), min_size=groups, max_size=groups)))
    truth = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=groups, max_size=groups)))
    for mechanism in (DiscretisedMeans(first, second, groups), LaplaceMeans(first, second, 2.0, groups)):
        expected = mechanism.gain * sizes * truth
        found = gaps.group_means(mechanism, expected, sizes)
        assert found == pytest.approx(truth, rel=1e-12, abs=1e-12)
        assert float(gaps.signed_gap(found)) == pytest.approx(truth[0] - truth[1], abs=1e-12)
    bit = SignedBit(first, tuple(sizes.tolist()))
    total = bit.gain * contrast_weights(bit.sizes, bit.pair) @ (sizes * truth)
    assert float(gaps.contrast_gap(bit, total)) == pytest.approx(truth[0] - truth[1], rel=1e-9, abs=1e-9)


@examples(15)
@given(logarithmic(1e-6, 1e6), st.lists(st.floats(0, 50), min_size=2, max_size=5), st.just(0.99))
def test_intervals_for_a_gap_move_with_its_estimate_and_ignore_its_sign(
    sd: float, estimates: list[float], level: float
) -> None:
    ends = gaps.absolute_interval(np.sort(estimates) * sd, sd, level=level) / sd
    assert (ends[:, 0] <= ends[:, 1]).all()
    assert (np.diff(ends, axis=0) >= -1e-9).all()
    assert (ends[:, 0] >= 0).all()
    assert gaps.absolute_interval(-np.sort(estimates), 1.0, level=level) == pytest.approx(ends, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("tallies", "alpha", "epsilon"),
    [([3, 1, 2, 0], 0.5, 1.0), ([4, 4, 1, 0], 1.0, 2.0), ([2, 2, 2, 2], 2.0, 0.5), ([5, 0, 0, 1], 0.5, 3.0)],
)
def test_the_saddle_points_evidence_is_near_the_exact_one(tallies: list[int], alpha: float, epsilon: float) -> None:
    contrast, size = np.expm1(epsilon), len(tallies)
    exact = bayes.posterior(KaryRandomisedResponse(epsilon, size).channel(), tallies, alpha).log_marginal
    kinds, _, repeats = bayes._kinds(np.array(tallies), np.full(size, alpha))
    found = saddle_point(kinds, repeats, contrast).log_evidence
    # without the constant factor of the probability of each report
    assert found == pytest.approx(exact + sum(tallies) * np.log(contrast + size), abs=0.06)


def test_a_long_channel_with_zeros_is_certified() -> None:
    size = 40
    channel = 0.6 * np.eye(size) + 0.4 * np.roll(np.eye(size), 1, axis=0)
    tallies = stream("long channel", seed=1).integers(0, 200, size)
    fit = likelihood.mle(channel, tallies)
    gap = float(((tallies / (channel @ fit.estimate)) @ channel).max() - tallies.sum())
    assert gap <= 1e-3
    assert float(fit.gap) == pytest.approx(gap, abs=1e-9 * tallies.sum())


@pytest.mark.parametrize(("alpha", "epsilon"), [(0.5, 1.0), (5.0, 0.1), (1.0, 4.0)])
def test_the_saddle_point_is_near_the_exact_posterior_of_many_values(alpha: float, epsilon: float) -> None:
    tallies = stream("saddle", alpha, seed=1).integers(0, 12, 150)
    near = bayes.krr_posterior_saddle(tallies, alpha, epsilon=epsilon)
    exact = bayes.krr_posterior(tallies, alpha, epsilon=epsilon)
    assert near.distribution == pytest.approx(exact.distribution, rel=2e-2)
    assert np.abs(near.distribution - exact.distribution).max() < 2e-4
