"""Exact losses are the largest ratios written out; deltas fall with the budget; what is said to be optimal is attained
and not passed.
"""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ldpnb.accuracy import information, lower_bounds
from ldpnb.accuracy.allocation import Outcomes
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.privacy import channel as finite
from ldpnb.privacy import hockey_stick, optimiser
from ldpnb.privacy.best_channel import best_channel
from properties.strategies import distributions, examples, logarithmic

SLACK = 1 + 1e-12


@st.composite
def any_channels(draw: st.DrawFn, least: float = 0.0) -> np.ndarray:
    """A channel of up to five outputs and four inputs, with zeros unless they are excluded."""
    outputs, inputs = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    return np.array([draw(distributions(outputs, least=least)) for _ in range(inputs)]).T


def log_ratios(channel: np.ndarray, a: int, b: int) -> np.ndarray:
    some = channel[:, a] > 0
    with np.errstate(divide="ignore"):
        return np.log(channel[some, a] / channel[some, b])


@examples(15)
@given(any_channels())
def test_the_loss_is_the_largest_ratio_of_any_two_inputs(channel: np.ndarray) -> None:
    loss = finite.privacy_loss(channel)
    largest = max((log_ratios(channel, a, b).max() for a, b in permutations(range(channel.shape[1]), 2)), default=0.0)
    assert loss.epsilon == pytest.approx(largest, rel=1e-12, abs=1e-15)
    likely, unlikely = channel[loss.output, list(loss.inputs)]
    with np.errstate(divide="ignore"):
        assert np.log(likely / unlikely) == pytest.approx(loss.epsilon, rel=1e-12, abs=1e-15)


@examples(15)
@given(any_channels(least=0.01), st.floats(0, 1), st.floats(0, 1))
def test_delta_falls_from_total_variation_to_nothing_at_the_loss(channel: np.ndarray, one: float, other: float) -> None:
    loss = finite.privacy_loss(channel).epsilon
    low, high = sorted((one * loss, other * loss))
    deltas = [hockey_stick.channel_delta(channel, e) for e in (0.0, low, high, loss)]
    assert (np.diff(deltas) <= 1e-15).all()
    assert deltas[-1] <= 1e-14
    pairs = list(product(channel.T, repeat=2))
    assert deltas[1] == pytest.approx(max(np.maximum(p - np.exp(low) * q, 0).sum() for p, q in pairs), abs=1e-15)
    assert deltas[0] == pytest.approx(max(np.abs(p - q).sum() / 2 for p, q in pairs), abs=1e-14)


@examples(12)
@given(st.integers(2, 4), logarithmic(0.2, 4.0), st.data())
def test_the_best_channel_is_private_and_meets_its_bound(size: int, epsilon: float, data) -> None:
    point = data.draw(distributions(size, least=0.01))
    assume(point.min() > 0.02)
    design = best_channel(point, epsilon)
    assert design.channel.min() >= 0
    assert design.channel.sum(axis=0) == pytest.approx(np.ones(size), rel=1e-7)
    seen = design.channel[design.channel.max(axis=1) > 1e-9]
    assert np.log(seen.max(axis=1) / seen.min(axis=1)).max() <= epsilon * (1 + 1e-9)
    assert design.lower_bound <= design.error * SLACK
    assert information.distribution_error(design.channel, point) == pytest.approx(design.error, rel=1e-6)
    for rival in (KaryRandomisedResponse(epsilon, size), UnaryEncoding.optimised(epsilon, size)):
        assert design.lower_bound <= information.distribution_error(rival.channel(), point) * (1 + 1e-9)
    assert lower_bounds.any_channel_bound_at(point, epsilon)[0] <= design.error * (1 + 1e-7)


samples = [(0,), (1,), (0, 1), (1, 2)]


@examples(12)
@given(
    distributions(4), distributions(4), st.sampled_from([1e-4, 0.3, 2.0]), st.sampled_from(["deletion", "replacement"])
)
def test_the_worst_mechanism_is_private_and_attains_the_loss(
    first: np.ndarray, second: np.ndarray, epsilon: float, mechanism: str
) -> None:
    here, there = (dict(zip(samples, law.tolist(), strict=True)) for law in (first, second))
    worst = optimiser.largest_loss(here, there, epsilon=epsilon, mechanism=mechanism)
    if np.isinf(worst.loss):
        sizes = [[sum(p for s, p in law.items() if len(s) == n) for n in (1, 2)] for law in (here, there)]
        assert mechanism == "replacement"
        assert any((a > 0) != (b > 0) for a, b in zip(*sizes, strict=True))
        return
    assert worst.loss >= -1e-12
    if mechanism == "deletion":
        accepted = np.array([worst.acceptance(s) for s in samples])
        assert abs(np.log(accepted @ first / (accepted @ second))) == pytest.approx(worst.loss, rel=1e-7, abs=1e-10)
        for i, j in permutations(range(4), 2):
            apart = optimiser.lcs_distance(samples[i], samples[j]) * epsilon
            assert np.log(accepted[i] / accepted[j]) <= apart + 1e-9
            assert np.log((1 - accepted[i]) / (1 - accepted[j])) <= apart + 1e-9


@examples(15)
@given(
    st.lists(st.floats(0, 10), min_size=3, max_size=3, unique=True),
    distributions(3),
    distributions(3),
    logarithmic(0.05, 100),
    st.floats(-5, 15),
)
def test_no_output_of_a_noisy_statistic_passes_its_loss(
    values: list[float], one: np.ndarray, other: np.ndarray, scale: float, output: float
) -> None:
    outcomes = Outcomes(np.array(values), np.array([one, other]), np.array([[0, 1]]))
    loss = outcomes.loss(scale)
    density = np.exp(-np.abs(output - np.array(values)) / scale)
    assert abs(np.log(one @ density) - np.log(other @ density)) <= loss * (1 + 1e-9) + 1e-9
    assert loss <= np.ptp(values) / scale * (1 + 1e-9) + 1e-12
    assert outcomes.loss(2 * scale) <= loss * (1 + 1e-9) + 1e-12
