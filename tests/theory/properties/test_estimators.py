"""Every estimator: unbiased by enumeration where it says so, else nearest or likeliest by optimality conditions."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ldpnb.estimators import bayes, likelihood, linear, sampling
from ldpnb.estimators.frequency import project_simplex, unbiased
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from properties.strategies import (
    distributions,
    epsilons,
    examples,
    law_of,
    law_of_reports,
    logarithmic,
    moderate,
    small_mechanisms,
    sum_law,
    supports,
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
    actual = bayes.krr_posterior(tallies, alpha, epsilon=epsilon)
    assert actual.distribution == pytest.approx(exact.distribution, rel=1e-8)
    assert actual.frequencies == pytest.approx(exact.frequencies, rel=1e-6, abs=1e-6)
    assert exact.distribution.sum() == pytest.approx(1, rel=1e-12)
    assert exact.frequency_variance >= -1e-15
    assert exact.distribution_variance > 0


@examples(15)
@given(channels(), st.data())
def test_linear_estimates_invert_the_channel_and_state_their_deviation(channel: np.ndarray, data) -> None:
    size = channel.shape[1]
    assume(channel.shape[0] >= size and np.linalg.cond(channel) < 1e4)
    counts = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size).filter(lambda c: 0 < sum(c) < 4))
    plain, best = linear.least_squares_weights(channel), linear.best_weights(channel)
    for weights in (plain, best):
        assert weights @ channel == pytest.approx(np.eye(size), abs=1e-8)
        reports = law_of_reports(np.eye(len(channel), dtype=int), channel, counts)
        _, variance = moments(reports, lambda t, w=weights: w @ t / sum(counts))
        deviations = linear.deviations(weights, channel, counts)
        assert deviations**2 == pytest.approx(variance, rel=1e-6, abs=1e-9)
        assert linear.deviations(3 * weights, channel, counts) == pytest.approx(3 * deviations, rel=1e-6, abs=1e-8)
    spread = [np.diag(w * channel.mean(axis=1) @ w.T) for w in (plain, best)]
    assert (spread[1] <= spread[0] * (1 + 1e-9) + 1e-12).all()


@examples(10)
@given(moderate, few_users, st.floats(0.05, 1.0))
def test_the_ratio_estimate_is_unbiased_given_that_anybody_reports(
    epsilon: float, counts: list[int], rate: float
) -> None:
    mechanism, number = KaryRandomisedResponse(epsilon, len(counts)), sum(counts)
    law = tally_law(mechanism, counts, [rate] * len(counts))
    silent = law.pop(tuple([0] * len(counts)), 0.0)
    given_some = {t: p / (1 - silent) for t, p in law.items()}
    estimates = [sampling.hajek([t], users=number, rates=[rate], mechanism=mechanism) for t in given_some]
    assert np.sum(estimates, axis=1) == pytest.approx(np.full(len(estimates), number), rel=1e-9)
    mean = np.array(list(given_some.values())) @ np.array(estimates)
    assert mean == pytest.approx(np.array(counts), rel=1e-7, abs=1e-6 / mechanism.truthful_rate)
