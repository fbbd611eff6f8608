"""Channels and the best of them: derivatives, and the limits of what is taken."""

import os
from pathlib import Path

import numpy as np
import pytest

from ldpnb.accuracy.lower_bounds import LowerBounds
from ldpnb.data import channels as saved
from ldpnb.privacy import best_channel, channel


def test_derivatives_are_those_of_the_mean_error() -> None:
    patterns, points = best_channel.staircase_patterns(3, 1.0), np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    weights, along = np.linspace(0.1, 0.3, 6), np.cos(np.arange(6.0))

    def error(step: float) -> float:
        inverses = [
            np.linalg.inv((patterns.T * ((weights + step * along) / (patterns @ point))) @ patterns) for point in points
        ]
        return float(np.mean([np.trace(inverse) for inverse in inverses]))

    value, slope, bend = best_channel._derivatives(patterns, points, weights)
    h = 1e-3
    assert value == pytest.approx(error(0), rel=1e-13)
    assert slope @ along == pytest.approx((error(h) - error(-h)) / (2 * h), rel=1e-3)
    assert along @ bend @ along == pytest.approx((error(h) - 2 * error(0) + error(-h)) / h**2, rel=1e-3)


def test_every_distribution_of_a_prior_must_sum_to_one() -> None:
    with pytest.raises(ValueError, match="distributions must be positive and sum to 1"):
        best_channel.best_channel([[0.5, 0.5], [0.6, 0.6]], 1.0)


def test_eight_values_are_not_too_many() -> None:
    assert best_channel.best_channel(np.full(8, 0.125), 1.0).error == pytest.approx(
        LowerBounds(8, 1.0).uniform_optimum(), rel=5e-9
    )


@pytest.mark.parametrize("extra", [5e-10, 1.5e-9])
def test_columns_may_miss_one_by_a_billionth(extra: float) -> None:
    for call in (channel.as_channel, lambda points: best_channel.best_channel(np.transpose(points), 1.0)):
        if extra < 1e-9:
            call([[0.5, 0.5], [0.5, 0.5 + extra]])
        else:
            with pytest.raises(ValueError, match="sum to 1"):
                call([[0.5, 0.5], [0.5, 0.5 + extra]])


def test_a_table_of_more_than_256_megabytes_is_not_read(tmp_path: Path) -> None:
    table = tmp_path / "large.csv"
    table.touch()
    os.truncate(table, 2**28 + 1)
    with pytest.raises(ValueError, match="with at most 268,435,456 bytes"):
        saved.load_channel(table)


def test_one_value_has_no_patterns() -> None:
    with pytest.raises(ValueError, match="domain_size must be an integer >= 2, got domain_size=1"):
        best_channel.staircase_patterns(1, 1.0)


@pytest.mark.parametrize(("rows", "hint"), [("0.5,0.5\n0.4,0.6\n", True), ("0.5,0.5\n0.4,0.7\n", False)])
def test_a_transposed_channel_is_told_from_one_that_is_neither(tmp_path: Path, rows: str, hint: bool) -> None:
    (tmp_path / "table.csv").write_text(rows)
    with pytest.raises(ValueError, match="columns that sum to 1") as error:
        saved.load_channel(tmp_path / "table.csv")
    assert ("transpose it" in str(error.value)) == hint
