"""Mechanisms for groups: losses of the reference, what is published and executed, speed, and one number for a gap."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldpnb.accuracy import gaps
from ldpnb.estimators.gaps import contrast_gap
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.registry import GAP
from ldpnb.mechanisms.signs import calibrated_bias, exact_epsilon
from ldpnb.rng import stream

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]


@pytest.mark.parametrize(
    ("function", "stated"),
    [
        ("MR_exact_eps", lambda i: DiscretisedMeans(i["eps1"], i["eps2"]).epsilon),
        ("MR_opt_eps1_for_eps", lambda i: DiscretisedMeans.calibrated(i["eps"]).group_epsilon),
        ("ML_k2_exact_eps", lambda i: LaplaceMeans(i["eps1"], i["eps2"]).epsilon),
        ("freq_randomiser_exact_eps", lambda i: exact_epsilon(i["c"])),
        ("freq_randomiser_param_for_eps", lambda i: calibrated_bias(i["eps"])),
    ],
)
def test_losses_are_those_of_the_reference(function: str, stated) -> None:
    found = [case for case in REFERENCE if case["fn"] == function]
    assert found
    for case in found:
        assert stated(case["inputs"]) == pytest.approx(float(case["value"]), rel=1e-9)


def test_the_executed_mechanism_swaps_the_two_scales() -> None:
    stated, executed = LaplaceMeans.published(1.0), LaplaceMeans.executed(1.0)
    assert (stated.kept_scale, stated.moved_scale) == (2.0, 1.0)
    assert (executed.kept_scale, executed.moved_scale) == (1.0, 2.0)
    assert GAP["M_L as published"](1.0, (3, 4, 5)) == LaplaceMeans.published(1.0, 3)
    for epsilon, k in ((0.1, 2 / 3), (0.9, 0.9), (1.9, 1.9), (2.5, 2.0)):
        assert LaplaceMeans.executed(epsilon).k == k
        assert LaplaceMeans.published(epsilon).k == max(2 / 3, epsilon)


def test_equation_1_is_led_by_a_changed_group_where_its_noise_is_the_smaller() -> None:
    assert LaplaceMeans(0.01, 0.1, 0.5).claimed_epsilon == pytest.approx(np.log(4) + 0.04, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2 / 3, 0.8, 1.0, 2.0, 20.0])
def test_the_published_group_budget_is_the_largest_that_equation_1_allows(epsilon: float) -> None:
    published = LaplaceMeans.published(epsilon)
    assert published.claimed_epsilon == pytest.approx(epsilon, rel=1e-12)
    assert replace(published, group_epsilon=1.001 * published.group_epsilon).claimed_epsilon > epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("epsilon", "k"), [(0.3, 2 / 3), (0.3, 1.5), (1.7, 0.8), (6.0, 2.0), (6.0, 9.0)])
def test_every_allowed_k_meets_equation_1_with_equality(epsilon: float, k: float) -> None:
    assert LaplaceMeans.allowed(epsilon, k).claimed_epsilon == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("k", [0.3, 0.7, 1.0, 2.0, 3.5, 8.0])
@pytest.mark.parametrize("epsilons", [(0.2, 1.0), (1.5, 0.3), (0.05, 6.0), (0.01, 0.1)])
def test_the_loss_of_clipped_reports_is_that_of_their_atoms_and_densities(
    k: float, epsilons: tuple[float, float]
) -> None:
    mechanism = LaplaceMeans(*epsilons, k)
    inside = np.linspace(-1, 1, 2001)

    def law(group: int, value: float) -> np.ndarray:
        rows = []
        for chance, location, scale in mechanism.law(group, value):
            density = chance / (2 * scale) * np.exp(-np.abs(inside - location) / scale)
            ends = chance / 2 * np.exp(-(1 + np.array([1, -1]) * location) / scale)
            rows.append(np.concatenate([ends, density]))
        return np.log(np.concatenate(rows))

    laws = [law(group, value) for group in (0, 1) for value in (-1.0, 0.0, 1.0)]
    largest = max(float((p - q).max()) for p in laws for q in laws)
    assert mechanism.clipped_epsilon == pytest.approx(largest, abs=2e-3 * epsilons[1] / min(k, 2))


@pytest.mark.parametrize("mechanism", [DiscretisedMeans.calibrated(1.0), LaplaceMeans.calibrated(1.0)])
def test_a_thousand_measurements_of_a_billion_users_are_right(
    mechanism: DiscretisedMeans | LaplaceMeans,
) -> None:
    counts = np.full((2, 4), 125_000_000)
    sums = mechanism.sample_sums(counts, [1, 0.5, -0.5, 0.1], repetitions=1000, rng=stream("billion", seed=4))
    assert sums.shape == (1000, 2)
    expected = mechanism.gain * counts[0].sum() * 0.275
    assert np.abs(sums.mean(axis=0) / expected - 1).max() < 1e-3


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
