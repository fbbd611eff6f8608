"""The best channel: its lower bound, its symmetry, and the closed form at the uniform distribution."""

import numpy as np
import pytest

from ldpnb.accuracy.information import distribution_error
from ldpnb.accuracy.lower_bounds import LowerBounds, any_channel_bound_at
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.privacy.best_channel import best_channel, staircase_patterns
from ldpnb.privacy.channel import privacy_loss


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 10.0])
def test_the_optimum_at_the_uniform_distribution_is_the_closed_form(size: int, epsilon: float) -> None:
    design = best_channel(np.full(size, 1 / size), epsilon)
    closed = LowerBounds(size, epsilon).uniform_optimum()
    assert design.lower_bound <= closed * (1 + 1e-12)
    assert design.error == pytest.approx(closed, rel=5e-9)


@pytest.mark.parametrize("point", [[0.7, 0.1, 0.1, 0.1], [0.97, 0.01, 0.01, 0.01], [0.4, 0.3, 0.2, 0.1]])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
def test_the_channel_is_one_and_attains_its_error(point: list[float], epsilon: float) -> None:
    design = best_channel(point, epsilon)
    assert design.channel.sum(axis=0) == pytest.approx(np.ones(4), rel=1e-9)
    assert privacy_loss(design.channel).epsilon == pytest.approx(epsilon, rel=1e-9)
    assert distribution_error(design.channel, point) == pytest.approx(design.error, rel=1e-7)
    assert any_channel_bound_at(point, epsilon)[0] <= design.lower_bound
    for other in (KaryRandomisedResponse(epsilon, 4), UnaryEncoding.optimised(epsilon, 4)):
        assert distribution_error(other.channel(), point) >= design.lower_bound


@pytest.mark.parametrize(
    ("point", "epsilon", "scaled"),
    [([0.7, 0.1, 0.1, 0.1], 0.5, 9.174496), ([0.97, 0.01, 0.01, 0.01], 2.0, 4.855566), ([0.25] * 4, 1.0, 8.306223)],
)
def test_known_optima_are_found(point: list[float], epsilon: float, scaled: float) -> None:
    assert epsilon**2 * best_channel(point, epsilon).error == pytest.approx(scaled, rel=1e-6)


def test_averages_over_a_prior_are_convex_problems_too() -> None:
    points = np.maximum(np.random.default_rng(1).dirichlet(np.full(3, 0.5), size=40), 1e-6)
    points /= points.sum(axis=1, keepdims=True)
    design = best_channel(points, 1.0)
    error = np.mean([distribution_error(design.channel, point) for point in points])
    assert error == pytest.approx(design.error, rel=1e-7)
    assert design.error - design.lower_bound < 1e-8 * design.error


def test_patterns_are_all_but_the_two_constant_ones() -> None:
    patterns = staircase_patterns(4, 1.0)
    assert patterns.shape == (14, 4)
    assert (np.ptp(patterns, axis=1) > 0).all()


@pytest.mark.parametrize("points", [[1.0], [0.5, 0.5, 0.0], [0.5, 0.6], np.full(9, 1 / 9)])
def test_distributions_outside_its_reach_are_refused(points: list[float]) -> None:
    with pytest.raises(ValueError, match="distributions must be positive and sum to 1, on 2 to 8 values"):
        best_channel(points, 1.0)


def test_a_channel_without_its_certificate_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldpnb.privacy.best_channel._ITERATIONS", 3)
    with pytest.raises(RuntimeError, match=r"the best channel is known to .* only, tolerance=1e-09"):
        best_channel([0.6, 0.4], 1.0)
