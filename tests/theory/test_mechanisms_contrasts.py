"""Facts about the single signed number: exactly private in group and value, and unbiased for the gap."""

import numpy as np
import pytest

from ldpnb.accuracy import gaps
from ldpnb.estimators.gaps import contrast_gap
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.rng import stream

COUNTS = np.array([[300, 100], [500, 700], [40, 60]])
VALUES = np.array([0.8, -0.5])


@pytest.mark.parametrize("family", [SignedBit, SignedLaplace])
def test_the_gap_is_estimated_without_bias_and_with_the_stated_variance(family: type) -> None:
    sizes, runs = tuple(COUNTS.sum(axis=1).tolist()), 60_000
    mechanism = family(1.2, sizes)
    found = contrast_gap(mechanism, mechanism.sample_sums(COUNTS, VALUES, repetitions=runs, rng=stream("gap", seed=1)))
    means = COUNTS @ VALUES / COUNTS.sum(axis=1)
    moments = COUNTS @ VALUES**2 / COUNTS.sum(axis=1)
    variance = gaps.GroupGap(mechanism, sizes).variance(moments[:2])
    assert abs(found.mean() - (means[0] - means[1])) < 5 * np.sqrt(variance / runs)
    assert found.var() / variance == pytest.approx(1, abs=5 * np.sqrt(3 / runs))


def test_the_bit_beats_both_mechanisms_for_equal_groups_up_to_the_crossing_with_laplace_noise() -> None:
    def worst(mechanism) -> float:
        return gaps.GroupGap(mechanism, (1000, 1000)).worst_variance()

    for epsilon in np.geomspace(0.01, 20, 25).tolist():
        bit, noisy = worst(SignedBit(epsilon, (1000, 1000))), worst(SignedLaplace(epsilon, (1000, 1000)))
        assert bit < worst(DiscretisedMeans.calibrated(epsilon))
        assert noisy < worst(LaplaceMeans.calibrated(epsilon))
        assert (bit < noisy) == (epsilon < 2.3242)


def test_the_bit_is_better_for_any_sizes_up_to_half_the_logarithm_of_five() -> None:
    def ratio(epsilon: float, share: float) -> float:
        sizes = (round(10**8 * share), 10**8 - round(10**8 * share))
        two, one = DiscretisedMeans.calibrated(epsilon), SignedBit(epsilon, sizes)
        return gaps.GroupGap(two, sizes).worst_variance() / gaps.GroupGap(one, sizes).worst_variance()

    limit = np.log(5) / 2
    assert min(ratio(0.999 * limit, share) for share in np.geomspace(1e-6, 0.5, 40)) > 1
    assert ratio(1.01 * limit, 1e-6) < 1
