"""Facts about estimated gaps and the intervals for their size."""

import numpy as np
import pytest

from ldpnb.estimators import gaps
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.rng import stream


@pytest.mark.parametrize("gap", [0.0, 0.3, 2.0, 40.0])
def test_intervals_cover_the_size_of_the_gap_at_their_level_near_zero_as_well(gap: float) -> None:
    runs = 50_000
    found = gap + stream("cover", gap, seed=2).standard_normal(runs)
    low, high = gaps.absolute_interval(found, 1.0, level=0.95).T
    assert abs(np.mean((low <= gap) & (gap <= high)) - 0.95) < 5 * np.sqrt(0.95 * 0.05 / runs) + 5e-4
    assert (low < high).all()


def test_an_interval_far_from_zero_is_the_usual_one_and_scales_with_the_deviation() -> None:
    far = gaps.absolute_interval([-20.0], 2.0, level=0.95)
    assert far == pytest.approx(np.array([[20 - 3.919928, 20 + 3.919928]]), rel=1e-6)
    near = gaps.absolute_interval([0.7], 1.0)
    assert gaps.absolute_interval([7.0], 10.0) == pytest.approx(10 * near)
    assert near[0, 0] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaps.absolute_interval([0.1], 0.0), "sd must be > 0"),
        (lambda: gaps.acceptance_region([0.0], 1), r"level must lie in \(0, 1\), got level=1"),
        (lambda: gaps.group_means(DiscretisedMeans(1.0, 1.0), [[1.0, 2.0]], [3, 0]), "sizes must be >= 1"),
    ],
)
def test_bad_input_is_refused_by_name_rule_and_value(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
