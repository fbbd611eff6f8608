"""Facts about the single signed number: exactly private in group and value, and unbiased for the gap."""

import numpy as np
import pytest

from ldpnb.accuracy import gaps
from ldpnb.estimators.gaps import contrast_gap
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace, contrast_weights
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.rng import stream

COUNTS = np.array([[300, 100], [500, 700], [40, 60]])
VALUES = np.array([0.8, -0.5])


def test_users_of_other_groups_toss_a_fair_coin() -> None:
    channel = SignedBit(1.0, (4, 8, 3), pair=(2, 1)).channel([-1, 1])
    assert channel[:, :2] == pytest.approx(np.full((2, 2), 0.5))
    assert contrast_weights((4, 8, 3), (2, 1)).tolist() == [0.0, -0.375, 1.0]


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


@pytest.mark.parametrize("family", [SignedBit, SignedLaplace])
def test_single_reports_add_up_to_the_same_law(family: type) -> None:
    mechanism, rng = family(0.9, (1, 2)), stream("single", seed=2)
    groups, values = np.repeat([0, 1], 40_000), np.repeat([0.5, -1.0], 40_000)
    reports = mechanism.randomize(groups, values, rng=rng)
    for group, x in ((0, 0.5), (1, 0.5)):
        mean = mechanism.gain * x
        own = reports[groups == group]
        assert abs(own.mean() - mean) < 5 * own.std() / np.sqrt(own.size)


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: SignedBit(1.0, (1, 1), pair=(0, 0)),
            r"pair must be two different groups in 0 .. 1, got pair=\(0, 0\)",
        ),
        (lambda: SignedLaplace(1.0, (0, 3)), "sizes must be >= 1"),
        (
            lambda: SignedBit(1.0, (1, 1)).randomize([0], [2.0], rng=stream("bad", seed=3)),
            r"values must lie in \[-1, 1\]",
        ),
    ],
)
def test_bad_input_is_refused_by_name_rule_and_value(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
