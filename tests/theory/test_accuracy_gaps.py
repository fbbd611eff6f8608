"""Facts about the error of a gap: reference values, every report enumerated, minorities and wrong sizes."""

import json
from pathlib import Path

import flint
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.accuracy import budgets, gaps
from ldpnb.arithmetic import Symbol
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import routes

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
COUNTS = np.array([[2, 1, 3, 4], [5, 0, 2, 1], [1, 1, 1, 3]])
VALUES = np.array([-1.0, -0.2, 0.4, 1.0])
SIGNS = DiscretisedMeans(1.0, 1.0)


def stated(case: dict) -> float:
    inputs = case["inputs"]
    match case["fn"]:
        case "abs_gap_bias":
            return float(gaps.absolute_gap_bias(inputs["sd"], inputs["gap"]))
        case "misestimated_n_bias":
            factors = (1 + inputs["delta"], 1 - inputs["delta"])
            return gaps.misestimated_gap_bias(factors, (inputs["mG"], inputs["mH"]))
        case "var_gap_R":
            mechanism = DiscretisedMeans(inputs["eps1"], inputs["eps2"])
        case _:
            mechanism = LaplaceMeans(inputs["eps1"], inputs["eps2"], inputs["k"])
    first = round(inputs["K"] * inputs["share"])
    return gaps.GroupGap(mechanism, (first, inputs["K"] - first)).variance((inputs["nu2"], inputs["nu2"]))


NAMES = ("var_gap_R", "var_gap_L", "abs_gap_bias", "misestimated_n_bias")


@pytest.mark.parametrize("case", [c for c in REFERENCE if c["fn"] in NAMES], ids=str)
def test_variances_and_biases_are_those_of_the_reference(case: dict) -> None:
    assert stated(case) == pytest.approx(float(case["value"]), rel=1e-9)


@settings(derandomize=True, max_examples=25, deadline=None)
@given(st.floats(0.05, 5), st.floats(0.05, 5), st.floats(0.3, 4), st.sampled_from([2, 3]), st.booleans())
def test_the_variance_of_the_gap_is_the_sum_over_every_users_report(
    first: float, second: float, k: float, groups: int, swapped: bool
) -> None:
    counts = COUNTS[:groups]
    sizes = counts.sum(axis=1)
    moments, means = counts @ VALUES**2 / sizes, counts @ VALUES / sizes
    for mechanism in (DiscretisedMeans(first, second, groups), LaplaceMeans(first, second, k, groups, swapped)):
        for pair in {(0, 1), (1, groups - 1)} - {(1, 1)}:
            found = gaps.GroupGap(mechanism, tuple(sizes.tolist()), pair).variance(moments[list(pair)])
            mean, variance = routes.gap_moments(mechanism, counts, VALUES, pair=pair)
            assert found == pytest.approx(variance, rel=1e-9)
            assert mean == pytest.approx(means[pair[0]] - means[pair[1]], rel=1e-9, abs=1e-12)


def test_a_small_budget_is_paid_for_with_its_inverse_square() -> None:
    least = gaps.GroupGap.of_halves(DiscretisedMeans.calibrated(1e-6), 1000).worst_variance()
    assert least == pytest.approx(4 / 1000 * (4 / 1e-6) ** 2, rel=1e-5)


def test_values_at_the_ends_help_signs_and_hurt_noisy_numbers() -> None:
    for mechanism, sign in ((SIGNS, 1), (LaplaceMeans(1.0, 1.0), -1)):
        gap = gaps.GroupGap(mechanism, (50, 70))
        zero, one = (gap.variance((nu2, nu2)) for nu2 in (0.0, 1.0))
        assert np.sign(zero - one) == sign
        assert gap.worst_variance() == max(zero, one)


@settings(derandomize=True, max_examples=20, deadline=None)
@given(st.floats(0.01, 3), st.floats(0, 5))
def test_bias_error_and_squared_error_of_the_absolute_gap_agree_with_integration(sd: float, gap: float) -> None:
    x = np.linspace(-10, 10, 200_001)
    weight = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    error = np.abs(gap + sd * x) - gap
    assert float(gaps.absolute_gap_bias(sd, gap)) == pytest.approx(weight @ error, abs=1e-6 * sd)
    assert float(gaps.absolute_gap_mse(sd, gap)) == pytest.approx(weight @ error**2, abs=1e-6 * sd**2)
    assert float(gaps.absolute_gap_error(sd, gap)) == pytest.approx(weight @ np.abs(error), abs=1e-6 * sd)


def test_a_wrong_size_divides_the_deviation_of_its_mean() -> None:
    gap = gaps.GroupGap(SIGNS, (50, 50))
    ratio = gap.misestimated_variance((1.5, 0.5), (0.3, 0.3)) / gap.variance((0.3, 0.3))
    assert ratio == pytest.approx((1 / 2.25 + 4) / 2)


CLOSED = {
    "equation (19)": lambda e, d, n, m: gaps.variance_laplace_mean(LaplaceMeans(e, e / 2, 2 * e, d), n, 3 * n, m),
    "equation (20)": lambda e, d, n, m: gaps.variance_discretised_mean(DiscretisedMeans(e, e / 2, d), n, 3 * n, m),
    "bit": lambda e, d, n, m: SignedBit(e, (3, 3)).gain,
    "allocation": lambda e, d, n, m: DiscretisedMeans.calibrated(e, d).gain,
    "split": lambda e, d, n, m: LaplaceMeans.calibrated(e, d).gain,
    "gain": lambda e, d, n, m: budgets.published_epsilon_for_gain(m / 2) + budgets.calibrated_epsilon_for_gain(m),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms_run_on_floats_balls_and_symbols(name: str) -> None:
    number = CLOSED[name](1.5, 4, 7, 0.25)
    ball = CLOSED[name](flint.arb("1.5"), flint.arb(4), flint.arb(7), flint.arb("0.25"))
    assert abs(ball - float(number)) < 1e-12 * abs(float(number))
    if name != "gain":  # which knows that a gain of 1 is out of reach, and must compare
        t, d, n, m = sympy.symbols("t d n m", positive=True)
        symbol = CLOSED[name](*(Symbol(x) for x in (sympy.log(t), d, n, m))).expression
        at = {t: sympy.exp(sympy.Rational(3, 2)), d: 4, n: 7, m: sympy.Rational(1, 4)}
        assert float(symbol.subs(at)) == pytest.approx(float(number), rel=1e-12)


LAPLACE = gaps.GroupGap.of_halves(LaplaceMeans.published(1.0), 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaps.GroupGap(SIGNS, (5, 5, 5)), "sizes must be >= 1, one per group, 2"),
        (lambda: gaps.GroupGap(SIGNS, (5, 0)), "sizes must be >= 1, one per group"),
        (lambda: gaps.GroupGap(SignedBit(1.0, (5, 5)), (5, 6)), "sizes and pair must be the mechanism's"),
        (lambda: gaps.GroupGap.of_halves(SIGNS, 5), "users must be even for two equal groups, got users=5"),
        (
            lambda: gaps.GroupGap(SIGNS, (5, 5)).variance((0.0, 1.2)),
            r"second_moment must lie in \[0, 1\], got second_moment=1.2",
        ),
        (lambda: gaps.misestimated_gap_bias((1.5, 0.0), (0.1, 0.1)), "size_factors must be > 0"),
        (lambda: LAPLACE.failure(0.1, "markov"), "tail must be one of chebyshev"),
        (lambda: LAPLACE.failure(0.1, "chernoff"), "needs equal noise scales"),
        (lambda: LAPLACE.failure(0.0, "hoeffding"), "alpha must be > 0"),
        (lambda: LAPLACE.error_bound(0.1, "hoeffding"), "tail must be one of chebyshev, normal"),
        (
            lambda: gaps.GroupGap.of_halves(SIGNS, 4).failure(0.1, "chernoff"),
            "tail must fit the mechanism, got tail='chernoff' for DiscretisedMeans",
        ),
        (
            lambda: gaps.GroupGap.of_halves(SignedLaplace(1.0, (2, 2)), 4).failure(0.1, "exact"),
            "tail must fit the mechanism, got tail='exact' for SignedLaplace",
        ),
        (lambda: gaps.GroupGap(SIGNS, (2, 3)).failure(0.1, "exact"), "sizes must be those of two equal groups"),
    ],
)
def test_bad_input_is_refused_by_name_rule_and_value(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
