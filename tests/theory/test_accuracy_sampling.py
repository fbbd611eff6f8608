"""Counts from a sample: reference values, identities that the closed forms hide, and the three kinds of numbers."""

import json
from itertools import pairwise
from pathlib import Path

import flint
import numpy as np
import pytest
import sympy

from ldpnb.accuracy import distances
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Symbol
from ldpnb.data import synthetic
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import displayed

CASES = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
MECHANISM = KaryRandomisedResponse(2.0, 4)


def held(inputs: dict) -> float:
    return inputs["n_i"] if "n_i" in inputs else inputs["n"] * inputs["f"]


FORMULAS = {
    "cDE_bias_fixed": lambda survey, i: survey.bias_unadjusted(held(i)),
    "var_g_fixed": lambda survey, i: survey.variance_rescaled(held(i)),
    "var_chat_fixed": lambda survey, i: survey.variance_realised_size(held(i)),
    "var_hajek_fixed_approx": lambda survey, i: survey.variance_ratio(held(i)),
    "var_g_iid": lambda survey, i: survey.variance_rescaled(held(i)),
    "var_chat_iid": lambda survey, i: survey.variance_realised_size(held(i)),
    "var_g_minus_var_chat": lambda survey, i: survey.variance_gain(held(i)),
    "paper_thm35_var_chat": lambda survey, i: displayed.variance_realised_size(survey, held(i)),
    "varstar_g": lambda survey, i: survey.rare_variance_rescaled,
    "varstar_chat": lambda survey, i: survey.rare_variance_realised_size,
    "expected_raw_TV_binomial": lambda survey, i: distances.expected_total_variation(
        np.sqrt(survey.variance_realised_size(i["n"] * synthetic.binomial(i["N"], 0.5))), users=i["n"]
    ),
}


@pytest.mark.parametrize("case", [c for c in CASES if c["fn"] in FORMULAS], ids=lambda c: f"{c['fn']}-{c['inputs']}")
def test_reference_values(case: dict) -> None:
    name, i = case["fn"], case["inputs"]
    mechanism = KaryRandomisedResponse(float(i["eps"]), i["d"] if "d" in i else i["N"] + 1)
    survey = SampledCounts(i["n"], i["pi"], mechanism, "iid" if name.endswith("_iid") else "fixed")
    assert FORMULAS[name](survey, i) == pytest.approx(float(case["value"]), rel=1e-9)


@pytest.mark.parametrize("data", ["fixed", "iid"])
def test_closed_forms_run_on_floats_balls_and_symbols(data: str) -> None:
    t, k, n, rate, f = sympy.symbols("t k n pi f", positive=True)
    values = {t: sympy.exp(sympy.Rational(3, 2)), k: 7, n: 40, rate: sympy.Rational(1, 4), f: 10}
    number = SampledCounts(40, 0.25, KaryRandomisedResponse(1.5, 7), data)
    ball = SampledCounts(flint.arb(40), flint.arb("0.25"), KaryRandomisedResponse(flint.arb("1.5"), flint.arb(7)), data)
    mechanism = KaryRandomisedResponse(Symbol(sympy.log(t)), Symbol(k))
    symbol = SampledCounts(Symbol(n), Symbol(rate), mechanism, data)
    for name in dir(SampledCounts):
        if name.startswith(("mean", "bias", "variance")):
            found = [getattr(s, name)(x) for s, x in ((number, 10), (ball, flint.arb(10)), (symbol, Symbol(f)))]
        elif name.startswith(("rare", "negative")):
            found = [getattr(s, name) for s in (number, ball, symbol)]
        else:
            continue
        assert abs(found[1] - float(found[0])) < 1e-11, name
        assert float(found[2].expression.subs(values)) == pytest.approx(float(found[0]), rel=1e-12), name


def test_identities_hold_for_all_parameters() -> None:
    t, k, n, rate, f = sympy.symbols("t k n pi f", positive=True)
    mechanism, holders = KaryRandomisedResponse(Symbol(sympy.log(t)), Symbol(k)), Symbol(f * n)
    fixed, iid = (SampledCounts(Symbol(n), Symbol(rate), mechanism, data) for data in ("fixed", "iid"))
    zeros = [fixed.mean_unadjusted(holders) - holders - fixed.bias_unadjusted(holders)]
    for survey in (fixed, iid):
        gain = survey.variance_rescaled(holders) - survey.variance_realised_size(holders)
        zeros.append(gain - survey.variance_gain(holders))
    for name in ("variance_rescaled", "variance_realised_size"):  # iid data add their own variance
        zeros.append(getattr(iid, name)(holders) - getattr(fixed, name)(holders) - Symbol(n * f * (1 - f)))
    for survey, rest in ((fixed, 1 - rate), (iid, 1)):  # what the variance displayed in Theorem 3.2's proof lacks
        shown, lacking = displayed.variance_unadjusted(survey, holders), Symbol(n * rate * rest * f * (1 - f))
        zeros.append(shown + lacking - survey.variance_unadjusted(holders))
    assert [sympy.simplify(zero.expression) for zero in zeros] == [0] * 7


def test_mean_of_unadjusted_changes_sign_at_the_threshold() -> None:
    survey = SampledCounts(1000, 0.5, KaryRandomisedResponse(2.0, 10))
    assert survey.mean_unadjusted(1000 * survey.negative_mean_threshold) == pytest.approx(0, abs=1e-9)
    assert survey.mean_unadjusted(1000 * (survey.negative_mean_threshold - 0.01)) < 0


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_variances_keep_their_digits_at_the_ends_of_epsilon(epsilon: float) -> None:
    survey = SampledCounts(100, 0.5, KaryRandomisedResponse(epsilon, 3))
    per_user = np.exp(-epsilon) * (1 + np.exp(-epsilon)) / np.expm1(-epsilon) ** 2
    assert survey.rare_variance_realised_size == pytest.approx(200 * per_user, rel=1e-9)
    for name in ("variance_rescaled", "variance_realised_size", "variance_ratio"):
        balls = KaryRandomisedResponse(flint.arb(epsilon), flint.arb(3))
        exact = getattr(SampledCounts(flint.arb(100), flint.arb("0.5"), balls), name)(flint.arb(40))
        assert getattr(survey, name)(40) == pytest.approx(float(exact), rel=1e-12)
    all_report = SampledCounts(100, 1.0, KaryRandomisedResponse(epsilon, 3)).variance_rescaled(100)
    assert all_report == pytest.approx(200 * np.exp(-epsilon) / np.expm1(-epsilon) ** 2, rel=1e-9)


def test_the_smallest_rate_reaches_its_target_and_falls_with_it() -> None:
    holders, mechanism = 50_000 * synthetic.binomial(100, 0.5), KaryRandomisedResponse(3.0, 101)
    rates = [distances.smallest_rate(t, holders, users=50_000, mechanism=mechanism) for t in (0.12, 0.2, 0.35)]
    assert all(more > fewer for more, fewer in pairwise(rates))
    assert distances.smallest_rate(0.1, holders, users=50_000, mechanism=mechanism) is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rate": 0.0}, r"rate must lie in \(0, 1\], got rate=0.0"),
        ({"rate": 1.5}, "got rate=1.5"),
        ({"users": 0}, "users must be an integer >= 1, got users=0"),
        ({"users": 2.5}, "users must be an integer >= 1, got users=2.5"),
        ({"data": "random"}, "data must be one of fixed, iid"),
        ({"users": 1}, r"holders must lie in \[0, 1\], got holders=2"),
    ],
)
def test_bad_input_is_named(changed: dict, message: str) -> None:
    given = {"users": 10, "rate": 0.5, "mechanism": MECHANISM} | changed
    with pytest.raises(ValueError, match=message):
        SampledCounts(**given).variance_rescaled(2)
