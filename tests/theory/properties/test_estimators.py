"""Estimates from any channel: certified, exact or linear.

Certificates, variances and posteriors are computed a second time by hand: from the gradient of the
likelihood, from the law of all tallies, and from the posterior of any channel.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ldpnb.estimators import likelihood, linear
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.lopuhaa2020.formulas import bayes
from properties.strategies import distributions, epsilons, examples, law_of_reports, logarithmic


@st.composite
def channels(draw: st.DrawFn) -> np.ndarray:
    """Any small channel with positive entries."""
    size = draw(st.integers(2, 4))
    outputs = draw(st.integers(2, 6))
    columns = [draw(distributions(outputs, least=0.01)) for _ in range(size)]
    return np.array(columns).T


def any_tallies(outputs: int) -> st.SearchStrategy[list[int]]:
    tally = st.just(0) | st.integers(0, 10**6)
    return st.lists(tally, min_size=outputs, max_size=outputs).filter(any)


def counts_of_few_users(size: int) -> st.SearchStrategy[list[int]]:
    """How many of one to three users hold each value."""
    counts = st.lists(st.integers(0, 2), min_size=size, max_size=size)
    return counts.filter(lambda holders: 0 < sum(holders) < 4)


@examples(10)
@given(channels(), st.data())
def test_certificates_are_the_gap_computed_by_hand(channel: np.ndarray, data) -> None:
    outputs, size = channel.shape
    tallies = np.array(data.draw(any_tallies(outputs)))
    reports = tallies.sum()

    fit = likelihood.mle(channel, tallies)
    assert fit.estimate.min() >= 0
    assert fit.estimate.sum() == pytest.approx(1, abs=1e-12)

    gradient = (tallies / (channel @ fit.estimate)) @ channel
    gap = float(gradient.max() - reports)
    by_hand = pytest.approx(gap, abs=1e-9 * reports + 1e-9)
    assert gap <= 1e-3
    assert float(fit.gap) == by_hand
    assert likelihood.certificate_gap(channel, tallies, fit.estimate) == by_hand

    seen = tallies > 0
    log_fitted = np.log(np.maximum(channel[seen] @ fit.estimate, 1e-300))
    largest = tallies[seen] @ log_fitted
    for rival in (data.draw(distributions(size)), np.full(size, 1 / size)):
        log_rival = np.log(np.maximum(channel[seen] @ rival, 1e-300))
        assert tallies[seen] @ log_rival <= largest + gap + 1e-9 * abs(largest)


@examples(15)
@given(channels(), st.data())
def test_linear_estimates_invert_the_channel_and_state_their_deviation(
    channel: np.ndarray, data
) -> None:
    outputs, size = channel.shape
    assume(outputs >= size and np.linalg.cond(channel) < 1e4)
    counts = data.draw(counts_of_few_users(size))
    law = law_of_reports(np.eye(outputs, dtype=int), channel, counts)
    tallies = np.array(list(law))
    chances = np.array(list(law.values()))

    plain = linear.least_squares_weights(channel)
    best = linear.best_weights(channel)
    for weights in (plain, best):
        assert weights @ channel == pytest.approx(np.eye(size), abs=1e-8)

        estimates = tallies @ weights.T / sum(counts)
        variance = chances @ (estimates - chances @ estimates) ** 2
        deviations = linear.deviations(weights, channel, counts)
        assert deviations**2 == pytest.approx(variance, rel=1e-6, abs=1e-9)

        tripled = linear.deviations(3 * weights, channel, counts)
        assert tripled == pytest.approx(3 * deviations, rel=1e-6, abs=1e-8)

    chances_of_outputs = channel.mean(axis=1)
    plain_spread = np.diag(plain * chances_of_outputs @ plain.T)
    best_spread = np.diag(best * chances_of_outputs @ best.T)
    assert (best_spread <= plain_spread * (1 + 1e-9) + 1e-12).all()


few_tallies = st.lists(st.integers(0, 3), min_size=2, max_size=3).filter(any)


@examples(10)
@given(few_tallies, epsilons, logarithmic(0.05, 20))
def test_the_krr_posterior_is_the_exact_one_at_any_epsilon(
    tallies: list[int], epsilon: float, alpha: float
) -> None:
    channel = KaryRandomisedResponse(epsilon, len(tallies)).channel()
    exact = bayes.posterior(channel, tallies, alpha)
    actual = bayes.krr_posterior(tallies, alpha, epsilon=epsilon)

    assert actual.distribution == pytest.approx(exact.distribution, rel=1e-8)
    assert actual.frequencies == pytest.approx(exact.frequencies, rel=1e-6, abs=1e-6)
    assert exact.distribution.sum() == pytest.approx(1, rel=1e-12)
    assert exact.frequency_variance >= -1e-15
    assert exact.distribution_variance > 0
