import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.accuracy import distances, sampling
from ldpnb.data import synthetic
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import displayed as sampling_published

CASES = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]


def cases(*names: str):
    chosen = [c for c in CASES if c["fn"] in names]
    return pytest.mark.parametrize("case", chosen, ids=lambda c: f"{c['fn']}-{c['inputs']}")


def setting(inputs: dict) -> dict:
    mechanism = KaryRandomisedResponse(float(inputs["eps"]), inputs["d"])
    return {"nodes": inputs["n"], "sampling_rate": inputs["pi"], "mechanism": mechanism}


FIXED = {
    "cDE_bias_fixed": sampling.bias_unadjusted,
    "var_g_fixed": sampling.variance_rescaled,
    "var_chat_fixed": sampling.variance_realised_size,
    "var_hajek_fixed_approx": sampling.variance_ratio,
}
BY_SHARE = {
    "var_g_iid": (sampling.variance_rescaled, {"data": "iid"}),
    "var_chat_iid": (sampling.variance_realised_size, {"data": "iid"}),
    "var_g_minus_var_chat": (sampling.variance_gain, {}),
    "paper_thm35_var_chat": (sampling_published.published_variance_realised_size, {}),
}
RARE = {"varstar_g": sampling.rare_variance_rescaled, "varstar_chat": sampling.rare_variance_realised_size}


@cases(*FIXED)
def test_fixed_data_reference(case) -> None:
    value = FIXED[case["fn"]](case["inputs"]["n_i"], **setting(case["inputs"]))
    assert value == pytest.approx(float(case["value"]), rel=1e-9)


@cases(*BY_SHARE)
def test_share_reference(case) -> None:
    formula, extra = BY_SHARE[case["fn"]]
    inputs = case["inputs"]
    assert formula(inputs["n"] * inputs["f"], **setting(inputs), **extra) == pytest.approx(
        float(case["value"]), rel=1e-9
    )


@cases(*RARE)
def test_rare_reference(case) -> None:
    assert RARE[case["fn"]](**setting(case["inputs"])) == pytest.approx(float(case["value"]), rel=1e-9)


@cases("expected_raw_TV_binomial")
def test_expected_distance_reference(case) -> None:
    inputs = case["inputs"]
    holders = inputs["n"] * synthetic.binomial(inputs["N"], 0.5)
    variance = sampling.variance_realised_size(holders, **setting(inputs | {"d": inputs["N"] + 1}))
    value = distances.expected_total_variation(np.sqrt(variance), nodes=inputs["n"])
    assert value == pytest.approx(float(case["value"]), rel=1e-9)


populations = {
    "nodes": st.integers(1, 10**6),
    "share": st.floats(0, 1),
    "rate": st.floats(1e-3, 1),
    "epsilon": st.floats(1e-3, 30),
    "size": st.integers(2, 1000),
}


@settings(max_examples=80, derandomize=True)
@given(**populations)
def test_realised_size_never_has_the_larger_variance(nodes, share, rate, epsilon, size) -> None:
    known = {"nodes": nodes, "sampling_rate": rate, "mechanism": KaryRandomisedResponse(epsilon, size)}
    for data in ("fixed", "iid"):
        g = sampling.variance_rescaled(nodes * share, data=data, **known)
        c = sampling.variance_realised_size(nodes * share, data=data, **known)
        assert g - c == pytest.approx(sampling.variance_gain(nodes * share, **known), rel=1e-6, abs=1e-9 * float(g))
    assert sampling.variance_gain(nodes * share, **known) >= 0


@settings(max_examples=80, derandomize=True)
@given(**populations)
def test_mean_is_truth_plus_bias(nodes, share, rate, epsilon, size) -> None:
    known = {"nodes": nodes, "sampling_rate": rate, "mechanism": KaryRandomisedResponse(epsilon, size)}
    mean, bias = (f(nodes * share, **known) for f in (sampling.mean_unadjusted, sampling.bias_unadjusted))
    assert mean == pytest.approx(nodes * share + bias, rel=1e-9, abs=1e-9 * nodes)


def test_iid_data_adds_the_variance_of_the_data() -> None:
    known = {"nodes": 1000, "sampling_rate": 0.2, "mechanism": KaryRandomisedResponse(2.0, 4)}
    for variance in (sampling.variance_rescaled, sampling.variance_realised_size):
        extra = variance(300, data="iid", **known) - variance(300, **known)
        assert extra == pytest.approx(1000 * 0.3 * 0.7)


def test_the_ratio_estimate_is_at_least_as_good_as_any_with_known_size() -> None:
    for holders in (0, 50, 500, 1000):
        known = {"nodes": 1000, "sampling_rate": 0.3, "mechanism": KaryRandomisedResponse(1.0, 5)}
        ratio, known_size = sampling.variance_ratio(holders, **known), sampling.variance_realised_size(holders, **known)
        assert ratio <= known_size + 1e-9


def test_mean_of_unadjusted_changes_sign_at_the_threshold() -> None:
    mechanism = KaryRandomisedResponse(2.0, 10)
    threshold = sampling.negative_mean_threshold(sampling_rate=0.5, mechanism=mechanism)
    known = {"nodes": 1000, "sampling_rate": 0.5, "mechanism": mechanism}
    assert sampling.mean_unadjusted(1000 * threshold, **known) == pytest.approx(0, abs=1e-9)
    assert sampling.mean_unadjusted(1000 * (threshold - 0.01), **known) < 0


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_variances_survive_the_ends_of_epsilon(epsilon: float) -> None:
    known = {"nodes": 100, "sampling_rate": 0.5, "mechanism": KaryRandomisedResponse(epsilon, 3)}
    rare = sampling.rare_variance_realised_size(**known)
    per_node = np.exp(-epsilon) * (1 + np.exp(-epsilon)) / np.expm1(-epsilon) ** 2
    assert rare == pytest.approx(200 * per_node, rel=1e-9)


def test_the_smallest_rate_reaches_its_target_and_falls_with_it() -> None:
    holders, mechanism = 50_000 * synthetic.binomial(100, 0.5), KaryRandomisedResponse(3.0, 101)
    rates = [distances.smallest_rate(t, holders, nodes=50_000, mechanism=mechanism) for t in (0.12, 0.2, 0.35)]
    assert all(more > fewer for more, fewer in pairwise(rates))
    variance = sampling.variance_realised_size(holders, nodes=50_000, sampling_rate=rates[1], mechanism=mechanism)
    assert distances.expected_total_variation(np.sqrt(variance), nodes=50_000) == pytest.approx(0.2, rel=1e-9)
    assert distances.smallest_rate(0.1, holders, nodes=50_000, mechanism=mechanism) is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sampling_rate": 0.0}, r"sampling_rate must lie in \(0, 1\], got sampling_rate=0.0"),
        ({"sampling_rate": 1.5}, "got sampling_rate=1.5"),
        ({"nodes": 0}, "nodes must be an integer >= 1, got nodes=0"),
        ({"nodes": 2.5}, "nodes must be an integer >= 1, got nodes=2.5"),
        ({"data": "random"}, "data must be one of fixed, iid"),
    ],
)
def test_bad_input_is_named(changed: dict, message: str) -> None:
    known = {"nodes": 10, "sampling_rate": 0.5, "mechanism": KaryRandomisedResponse(1.0, 2)} | changed
    with pytest.raises(ValueError, match=message):
        sampling.variance_rescaled(1, **known)
    with pytest.raises(ValueError, match="holders must lie in"):
        sampling.variance_rescaled(11, nodes=10, sampling_rate=0.5, mechanism=KaryRandomisedResponse(1.0, 2))
