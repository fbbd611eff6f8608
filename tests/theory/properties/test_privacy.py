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
    design = best_channel(point, epsilon)
    assert design.channel.min() >= 0
    assert design.channel.sum(axis=0) == pytest.approx(np.ones(size), rel=1e-7)
    seen = design.channel[design.channel.max(axis=1) > 1e-9]
    assert np.log(seen.max(axis=1) / seen.min(axis=1)).max() <= epsilon * (1 + 1e-9)
    assert design.lower_bound <= design.error * SLACK
    assert information.distribution_error(design.channel, point) == pytest.approx(
        design.error, rel=1e-6
    )
    for rival in (KaryRandomisedResponse(epsilon, size), UnaryEncoding.optimised(epsilon, size)):
        assert design.lower_bound <= information.distribution_error(rival.channel(), point) * (
            1 + 1e-9
        )
    assert lower_bounds.any_channel_bound_at(point, epsilon)[0] <= design.error * (1 + 1e-7)


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
