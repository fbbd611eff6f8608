"""Estimates from any channel: certified, exact or linear."""

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
    size, outputs = draw(st.integers(2, 4)), draw(st.integers(2, 6))
    columns = [draw(distributions(outputs, least=0.01)) for _ in range(size)]
    return np.array(columns).T


@examples(10)
@given(channels(), st.data())
def test_certificates_are_the_gap_computed_by_hand(channel: np.ndarray, data) -> None:
    outputs, size = channel.shape
    tallies = np.array(
        data.draw(
            st.lists(st.just(0) | st.integers(0, 10**6), min_size=outputs, max_size=outputs).filter(
                any
            )
        )
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
@given(channels(), st.data())
def test_linear_estimates_invert_the_channel_and_state_their_deviation(
    channel: np.ndarray, data
) -> None:
    size = channel.shape[1]
    assume(channel.shape[0] >= size and np.linalg.cond(channel) < 1e4)
    counts = data.draw(
        st.lists(st.integers(0, 2), min_size=size, max_size=size).filter(lambda c: 0 < sum(c) < 4)
    )
    plain, best = linear.least_squares_weights(channel), linear.best_weights(channel)
    for weights in (plain, best):
        assert weights @ channel == pytest.approx(np.eye(size), abs=1e-8)
        reports = law_of_reports(np.eye(len(channel), dtype=int), channel, counts)
        chances, estimates = (
            np.array(list(reports.values())),
            np.array(list(reports)) @ weights.T / sum(counts),
        )
        variance = chances @ (estimates - chances @ estimates) ** 2
        deviations = linear.deviations(weights, channel, counts)
        assert deviations**2 == pytest.approx(variance, rel=1e-6, abs=1e-9)
        assert linear.deviations(3 * weights, channel, counts) == pytest.approx(
            3 * deviations, rel=1e-6, abs=1e-8
        )
    spread = [np.diag(w * channel.mean(axis=1) @ w.T) for w in (plain, best)]
    assert (spread[1] <= spread[0] * (1 + 1e-9) + 1e-12).all()


@examples(10)
@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=3).filter(any), epsilons, logarithmic(0.05, 20)
)
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
