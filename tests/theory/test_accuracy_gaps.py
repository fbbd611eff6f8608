"""Facts about the error of a gap: reference values, enumeration of every report, and what minorities and wrong sizes
do.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.accuracy import gaps
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import routes

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
COUNTS = np.array([[2, 1, 3, 4], [5, 0, 2, 1], [1, 1, 1, 3]])
VALUES = np.array([-1.0, -0.2, 0.4, 1.0])


@pytest.mark.parametrize("case", [c for c in REFERENCE if c["fn"] in ("var_gap_R", "var_gap_L")], ids=str)
def test_variances_are_those_of_the_reference(case: dict) -> None:
    inputs = case["inputs"]
    first = round(inputs["K"] * inputs["share"])
    mechanism = (
        DiscretisedMeans(inputs["eps1"], inputs["eps2"])
        if case["fn"] == "var_gap_R"
        else LaplaceMeans(inputs["eps1"], inputs["eps2"], inputs["k"])
    )
    variance = gaps.gap_variance(mechanism, (first, inputs["K"] - first), (inputs["nu2"], inputs["nu2"]))
    assert variance == pytest.approx(float(case["value"]), rel=1e-9)


@pytest.mark.parametrize("case", [c for c in REFERENCE if c["fn"] in ("abs_gap_bias", "misestimated_n_bias")], ids=str)
def test_biases_are_those_of_the_reference(case: dict) -> None:
    inputs = case["inputs"]
    if case["fn"] == "abs_gap_bias":
        bias = float(gaps.absolute_gap_bias(inputs["sd"], inputs["gap"]))
    else:
        factors = (1 + inputs["delta"], 1 - inputs["delta"])
        bias = gaps.misestimated_gap_bias(factors, (inputs["mG"], inputs["mH"]))
    assert bias == pytest.approx(float(case["value"]), rel=1e-9)


@settings(derandomize=True, max_examples=25, deadline=None)
@given(st.floats(0.05, 5), st.floats(0.05, 5), st.floats(0.3, 4), st.sampled_from([2, 3]), st.booleans())
def test_the_variance_of_the_gap_is_the_sum_over_every_clients_report(
    first: float, second: float, k: float, groups: int, swapped: bool
) -> None:
    counts = COUNTS[:groups]
    sizes = counts.sum(axis=1)
    moments = counts @ VALUES**2 / sizes
    for mechanism in (DiscretisedMeans(first, second, groups), LaplaceMeans(first, second, k, groups, swapped)):
        for pair in ((0, 1), (1, groups - 1)) if groups > 2 else ((0, 1),):
            stated = gaps.gap_variance(mechanism, sizes, (moments[pair[0]], moments[pair[1]]), pair=pair)
            mean, variance = routes.gap_moments(mechanism, counts, VALUES, pair=pair)
            means = counts @ VALUES / sizes
            assert stated == pytest.approx(variance, rel=1e-9)
            assert mean == pytest.approx(means[pair[0]] - means[pair[1]], rel=1e-9, abs=1e-12)


def test_variances_are_finite_at_both_ends_of_the_budget() -> None:
    for epsilon in (1e-6, 50.0):
        for family in (DiscretisedMeans.calibrated, LaplaceMeans.calibrated):
            variance = gaps.worst_gap_variance(family(epsilon), (1000, 1000))
            assert np.isfinite(variance)
            assert variance > 0
    assert gaps.worst_gap_variance(DiscretisedMeans.calibrated(1e-6), (500, 500)) == pytest.approx(
        4 / 1000 * (4 / 1e-6) ** 2, rel=1e-5
    )


def test_values_at_the_ends_help_signs_and_hurt_noisy_numbers() -> None:
    for mechanism, sign in ((DiscretisedMeans(1.0, 1.0), 1), (LaplaceMeans(1.0, 1.0), -1)):
        zero, one = (gaps.gap_variance(mechanism, (50, 70), (nu2, nu2)) for nu2 in (0.0, 1.0))
        assert np.sign(zero - one) == sign
        assert gaps.worst_gap_variance(mechanism, (50, 70)) == max(zero, one)


def test_the_absolute_gap_is_off_by_four_fifths_of_a_deviation_without_a_gap_and_hardly_with_a_large_one() -> None:
    bias = gaps.absolute_gap_bias(1.0, [0.0, 0.5, 1.0, 2.0, 8.0])
    assert bias.round(4).tolist() == [0.7979, 0.3956, 0.1666, 0.017, 0.0]
    assert gaps.absolute_gap_mse(1.0, [0.0, 0.5, 1.0, 2.0]).round(3).tolist() == [1.0, 0.604, 0.667, 0.932]


@settings(derandomize=True, max_examples=20, deadline=None)
@given(st.floats(0.01, 3), st.floats(0, 5))
def test_bias_error_and_squared_error_of_the_absolute_gap_agree_with_integration(sd: float, gap: float) -> None:
    x = np.linspace(-10, 10, 200_001)
    weight = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    error = np.abs(gap + sd * x) - gap
    assert float(gaps.absolute_gap_bias(sd, gap)) == pytest.approx(weight @ error, abs=1e-6 * sd)
    assert float(gaps.absolute_gap_mse(sd, gap)) == pytest.approx(weight @ error**2, abs=1e-6 * sd**2)
    assert float(gaps.absolute_gap_error(sd, gap)) == pytest.approx(weight @ np.abs(error), abs=1e-6 * sd)


def test_the_error_of_a_minority_grows_with_the_inverse_square_of_its_share() -> None:
    def factor(share: float) -> float:
        sizes = (round(20_000 * share), 20_000 - round(20_000 * share))
        mechanism = DiscretisedMeans(1.0, 1.0)
        return gaps.worst_gap_variance(mechanism, sizes) / gaps.worst_gap_variance(mechanism, (10_000, 10_000))

    assert [round(factor(s), 2) for s in (0.25, 0.1, 0.05)] == [1.81, 8.09, 29.4]
    assert factor(0.001) / factor(0.01) == pytest.approx(100, rel=0.02)


def test_wrong_sizes_bias_the_gap_of_equal_groups_unless_their_mean_is_zero() -> None:
    assert gaps.misestimated_gap_bias((1.5, 0.5), (0.0, 0.0)) == 0
    assert gaps.misestimated_gap_bias((1.1, 0.9), (0.8, 0.8)) == pytest.approx(-0.1616, abs=1e-4)
    known = gaps.gap_variance(DiscretisedMeans(1.0, 1.0), (50, 50), (0.3, 0.3))
    wrong = gaps.misestimated_gap_variance(DiscretisedMeans(1.0, 1.0), (50, 50), (1.5, 0.5), (0.3, 0.3))
    assert wrong / known == pytest.approx((1 / 2.25 + 4) / 2)


def test_bad_input_is_refused_by_name_rule_and_value() -> None:
    mechanism = DiscretisedMeans(1.0, 1.0)
    with pytest.raises(ValueError, match="sizes must be >= 1, one per group, 2"):
        gaps.gap_variance(mechanism, (5, 5, 5), (0.0, 0.0))
    with pytest.raises(ValueError, match="sizes must be >= 1, one per group"):
        gaps.gap_variance(mechanism, (5, 0), (0.0, 0.0))
    with pytest.raises(ValueError, match=r"second_moment must lie in \[0, 1\], got second_moment=1.2"):
        gaps.gap_variance(mechanism, (5, 5), (0.0, 1.2))
    with pytest.raises(ValueError, match="size_factors must be > 0"):
        gaps.misestimated_gap_bias((1.5, 0.0), (0.1, 0.1))
    with pytest.raises(ValueError, match="sizes and pair must be the mechanism's"):
        gaps.worst_gap_variance(SignedBit(1.0, (5, 5)), (5, 6))
