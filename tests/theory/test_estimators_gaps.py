"""Facts about estimated gaps and the intervals for their size."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from ldpnb.estimators import gaps
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.rng import stream


@pytest.mark.parametrize("gap", [0.0, 0.3, 2.0, 40.0])
def test_intervals_cover_the_size_of_the_gap_at_their_level_near_zero_as_well(gap: float) -> None:
    runs = 20_000
    found = gap + stream("cover", gap, seed=2).standard_normal(runs)
    low, high = gaps.absolute_interval(found, 1.0, level=0.95).T
    assert abs(np.mean((low <= gap) & (gap <= high)) - 0.95) < 5 * np.sqrt(0.95 * 0.05 / runs) + 5e-4
    assert (low < high).all()


def log_ratio(x: float, mean: float) -> float:
    """Likelihood of a mean over the largest one at a folded normal value, by search."""

    def lack(m: float) -> float:
        return -float(np.logaddexp(-((x - m) ** 2) / 2, -((x + m) ** 2) / 2))

    best = minimize_scalar(lack, bounds=(0, x + 1), method="bounded", options={"xatol": 1e-10})
    return min(best.fun, lack(0.0)) - lack(mean)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("mean", [0.05, 0.9, 1.3, 3.1])
def test_both_ends_of_an_acceptance_region_are_equally_likely_or_it_starts_at_zero(level: float, mean: float) -> None:
    ((low, high),) = gaps.acceptance_region([mean], level)
    if low == 0:
        assert log_ratio(0.0, mean) >= log_ratio(high, mean) - 1e-9
    else:
        assert log_ratio(low, mean) == pytest.approx(log_ratio(high, mean), abs=1e-11)
    reached = ndtr(high - mean) - ndtr(-high - mean) - ndtr(low - mean) + ndtr(-low - mean)
    assert reached == pytest.approx(level, rel=1e-12)


def test_intervals_are_the_means_whose_regions_hold_the_estimate() -> None:
    observed = np.array([0.3, 1.5, 2.7, 4.0, 6.0, 7.5])
    lower, upper = gaps.absolute_interval(-observed, 1.0, level=0.99).T
    for means, inside in ((lower + 1e-3, True), (lower - 1e-3, False), (upper - 1e-3, True), (upper + 1e-3, False)):
        regions = gaps.acceptance_region(np.maximum(means, 0), 0.99)
        held = (regions[:, 0] <= observed) & (observed <= regions[:, 1])
        assert (held[means > 0] == inside).all()


@pytest.mark.parametrize(("mean", "level"), [(0.57, 0.95), (1.23, 0.99), (3.01, 0.95)])
def test_an_interval_begins_or_ends_at_the_very_mean_whose_region_ends_at_the_estimate(
    mean: float, level: float
) -> None:
    ((low, high),) = gaps.acceptance_region([mean], level)
    assert gaps.absolute_interval([high], 1.0, level=level)[0, 0] == pytest.approx(mean, abs=1e-12)
    assert low == 0 or gaps.absolute_interval([low], 1.0, level=level)[0, 1] == pytest.approx(mean, abs=1e-12)


def test_intervals_pass_into_the_usual_ones_without_a_step() -> None:
    observed = np.linspace(0, 15, 3001)
    ends = gaps.absolute_interval(observed, 1.0, level=0.99)
    steps = np.array([b - a for a, b in pairwise(ends)])
    assert steps.min() >= 0
    assert steps[observed[1:] > 10] == pytest.approx(0.005, abs=1e-6)
    assert (gaps.absolute_interval(observed, 1.0) == ends).all()
    assert ends[observed > 10] == pytest.approx(observed[observed > 10, None] + [[-2.575829, 2.575829]], abs=1e-5)


def test_self_sized_means_of_many_samples_are_those_of_each() -> None:
    mechanism, tallies = DiscretisedMeans(1.0, 1.0), np.arange(24).reshape(3, 2, 2, 2) ** 2
    found = gaps.self_sized_means(mechanism, tallies)
    for place in np.ndindex(3, 2):
        assert found[place] == pytest.approx(gaps.self_sized_means(mechanism, tallies[place]), rel=1e-14)
