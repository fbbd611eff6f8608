"""What is said to be optimal is attained and not passed."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.bun2022.formulas.allocation import Outcomes
from ldpnb.papers.lopuhaa2020.formulas import information, lower_bounds
from ldpnb.papers.lopuhaa2020.formulas.best_channel import best_channel
from properties.strategies import distributions, examples, logarithmic

SLACK = 1 + 1e-12


@examples(12)
@given(st.integers(2, 4), logarithmic(0.2, 4.0), st.data())
def test_the_best_channel_is_private_and_meets_its_bound(size: int, epsilon: float, data) -> None:
    point = data.draw(distributions(size, least=0.01))
    assume(point.min() > 0.02)

    best = best_channel(point, epsilon)
    assert best.channel.min() >= 0
    assert best.channel.sum(axis=0) == pytest.approx(np.ones(size), rel=1e-7)

    used = best.channel[best.channel.max(axis=1) > 1e-9]
    losses = np.log(used.max(axis=1) / used.min(axis=1))
    assert losses.max() <= epsilon * (1 + 1e-9)

    error = information.distribution_error(best.channel, point)
    assert error == pytest.approx(best.error, rel=1e-6)
    assert best.lower_bound <= best.error * SLACK
    for rival in (KaryRandomisedResponse(epsilon, size), UnaryEncoding.optimised(epsilon, size)):
        rival_error = information.distribution_error(rival.channel(), point)
        assert best.lower_bound <= rival_error * (1 + 1e-9)
    bound = lower_bounds.any_channel_bound_at(point, epsilon)[0]
    assert bound <= best.error * (1 + 1e-7)


three_values = st.lists(st.floats(0, 10), min_size=3, max_size=3, unique=True)


@examples(15)
@given(three_values, distributions(3), distributions(3), logarithmic(0.05, 100), st.floats(-5, 15))
def test_no_output_of_a_noisy_statistic_passes_its_loss(
    values: list[float], one: np.ndarray, other: np.ndarray, scale: float, output: float
) -> None:
    outcomes = Outcomes(np.array(values), np.array([one, other]), np.array([[0, 1]]))
    loss = outcomes.loss(scale)

    density = np.exp(-np.abs(output - np.array(values)) / scale)
    loss_of_output = abs(np.log(one @ density) - np.log(other @ density))
    assert loss_of_output <= loss * (1 + 1e-9) + 1e-9
    assert loss <= np.ptp(values) / scale * (1 + 1e-9) + 1e-12
    assert outcomes.loss(2 * scale) <= loss * (1 + 1e-9) + 1e-12
