"""Channels and the best of them: certificates, derivatives, and how far a column's sum may be off."""

import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from ldpnb.accuracy.lower_bounds import LowerBounds
from ldpnb.data import channels as saved
from ldpnb.privacy import best_channel, channel, hockey_stick, purify
from ldpnb.rng import stream


@pytest.mark.parametrize(("size", "epsilon"), [*product([2, 3, 5], [0.01, 1.0, 10.0])])
def test_the_optimum_at_the_uniform_distribution_is_the_closed_form(size: int, epsilon: float) -> None:
    design = best_channel.best_channel(np.full(size, 1 / size), epsilon)
    closed = LowerBounds(size, epsilon).uniform_optimum()
    assert design.lower_bound <= closed * (1 + 1e-12)
    assert design.error == pytest.approx(closed, rel=5e-9)


@pytest.mark.parametrize(
    ("point", "epsilon", "scaled"),
    [([0.7, 0.1, 0.1, 0.1], 0.5, 9.174496), ([0.97, 0.01, 0.01, 0.01], 2.0, 4.855566), ([0.25] * 4, 1.0, 8.306223)],
)
def test_known_optima_are_found(point: list[float], epsilon: float, scaled: float) -> None:
    assert epsilon**2 * best_channel.best_channel(point, epsilon).error == pytest.approx(scaled, rel=1e-6)


def test_a_channel_without_its_certificate_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_channel, "_ITERATIONS", 3)
    with pytest.raises(RuntimeError, match=r"the best channel is known to .* only, tolerance=1e-09"):
        best_channel.best_channel([0.6, 0.4], 1.0)


def test_derivatives_are_those_of_the_mean_error() -> None:
    patterns, points = best_channel.staircase_patterns(3, 1.0), np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    weights, along = np.linspace(0.1, 0.3, 6), np.cos(np.arange(6.0))

    def error(step: float) -> float:
        moved = weights + step * along
        inverses = [np.linalg.inv((patterns.T * (moved / (patterns @ point))) @ patterns) for point in points]
        return float(np.mean([np.trace(inverse) for inverse in inverses]))

    value, slope, bend = best_channel._derivatives((patterns == 1).astype(float), 1 - np.exp(-1), points, weights)
    h = 1e-3
    assert value == pytest.approx(error(0), rel=1e-13)
    assert slope @ along == pytest.approx((error(h) - error(-h)) / (2 * h), rel=1e-3)
    assert along @ bend @ along == pytest.approx((error(h) - 2 * error(0) + error(-h)) / h**2, rel=1e-3)


@pytest.mark.parametrize("call", [channel.as_channel, lambda c: best_channel.best_channel(np.transpose(c), 1.0)])
def test_columns_may_miss_one_by_a_billionth(call) -> None:
    call([[0.5, 0.5], [0.5, 0.5 + 5e-10]])
    with pytest.raises(ValueError, match="sum to 1"):
        call([[0.5, 0.5], [0.5, 0.5 + 1.5e-9]])


def test_a_table_of_more_than_256_megabytes_is_not_read(tmp_path: Path) -> None:
    table = tmp_path / "large.csv"
    table.touch()
    os.truncate(table, 2**28 + 1)
    with pytest.raises(ValueError, match="with at most 268,435,456 bytes"):
        saved.load_channel(table)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("reference", [0, 2])
def test_a_purified_channel_is_pure_and_near(epsilon: float, reference: int) -> None:
    laws = stream("purified", seed=1).dirichlet(np.full(6, 0.3), 4).T
    pure = purify.purified(laws, epsilon, reference=reference)
    band = np.log(pure / laws[:, [reference]])
    assert np.abs(band).max() <= epsilon * (1 + 1e-12)
    assert channel.privacy_loss(pure).epsilon <= 2 * epsilon * (1 + 1e-12)
    assert np.abs(pure - laws).sum(axis=0).max() / 2 <= hockey_stick.channel_delta(laws, epsilon) + 1e-12
    np.testing.assert_allclose(pure[:, reference], laws[:, reference], rtol=1e-12)
    np.testing.assert_allclose(purify.purified(pure, 2 * epsilon, reference=reference), pure, atol=1e-15)


def test_purifying_needs_a_positive_budget() -> None:
    with pytest.raises(ValueError, match="epsilon must be > 0 and finite, got epsilon=0"):
        purify.purified(np.eye(2), 0)
