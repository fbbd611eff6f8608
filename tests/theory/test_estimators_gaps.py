"""Facts about estimated gaps and the intervals for their size."""

import numpy as np
import pytest

from ldpnb.estimators import gaps
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.rng import stream


@pytest.mark.parametrize("mechanism", [DiscretisedMeans(0.5, 1.0), LaplaceMeans.published(0.8)])
def test_group_means_are_unbiased(mechanism: DiscretisedMeans | LaplaceMeans) -> None:
    counts, values = np.array([[600, 400], [100, 900]]), np.array([1.0, -0.5])
    sums = mechanism.sample_sums(counts, values, repetitions=20_000, rng=stream("means", seed=1))
    found = gaps.group_means(mechanism, sums, counts.sum(axis=1))
    truth = counts @ values / counts.sum(axis=1)
    z = (found.mean(axis=0) - truth) / (found.std(axis=0) / np.sqrt(len(found)))
    assert np.abs(z).max() < 5
    assert gaps.signed_gap(found).shape == (20_000,)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_acceptance_regions_have_their_probability_and_the_largest_ratio_inside(level: float) -> None:
    means = np.array([0.0, 0.1, 0.7, 1.5, 3.0, 9.0])
    regions = gaps.acceptance_region(means, level)
    inside = gaps.folded_cdf(regions[:, 1], means) - gaps.folded_cdf(regions[:, 0], means)
    assert inside == pytest.approx(np.full(6, level), rel=1e-9)
    assert (np.diff(regions, axis=0) >= -1e-9).all()


@pytest.mark.parametrize("gap", [0.0, 0.05, 0.3, 1.0, 2.0, 3.0, 7.0, 40.0])
def test_intervals_cover_the_size_of_the_gap_at_their_level_near_zero_as_well(gap: float) -> None:
    runs = 50_000
    found = gap + stream("cover", gap, seed=2).standard_normal(runs)
    ends = gaps.absolute_interval(found, 1.0, level=0.95)
    share = np.mean((ends[:, 0] <= gap) & (gap <= ends[:, 1]))
    assert abs(share - 0.95) < 5 * np.sqrt(0.95 * 0.05 / runs) + 5e-4
    assert (ends[:, 0] < ends[:, 1]).all()


def test_an_interval_far_from_zero_is_the_usual_one_and_scales_with_the_deviation() -> None:
    assert gaps.absolute_interval([-20.0], 2.0, level=0.95)[0] == pytest.approx(
        [20 - 3.919928, 20 + 3.919928], rel=1e-6
    )
    near = gaps.absolute_interval([0.7], 1.0)
    assert gaps.absolute_interval([7.0], 10.0) == pytest.approx(10 * near)
    assert near[0, 0] == 0


def test_bad_input_is_refused_by_name_rule_and_value() -> None:
    with pytest.raises(ValueError, match="sd must be > 0"):
        gaps.absolute_interval([0.1], 0.0)
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\), got level=1"):
        gaps.acceptance_region([0.0], 1)
    with pytest.raises(ValueError, match="sizes must be >= 1"):
        gaps.group_means(DiscretisedMeans(1.0, 1.0), [[1.0, 2.0]], [3, 0])
