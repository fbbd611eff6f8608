"""Errors of counts when everybody reports, and the bits a report costs."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ldpnb.accuracy import histograms, sampling
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.signs import SignRandomiser

CASES = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]


@pytest.mark.parametrize("case", [c for c in CASES if c["fn"] == "freq_randomiser_var"], ids=lambda c: c["fn"])
def test_reference_values(case: dict) -> None:
    value = histograms.sign_variance(case["inputs"]["f"], users=case["inputs"]["n"], bias=case["inputs"]["c"])
    assert value == pytest.approx(float(case["value"]), rel=1e-9)


def test_pure_variance_is_that_of_sampling_everybody() -> None:
    mechanism, counts = KaryRandomisedResponse(0.7, 5), np.array([0, 10, 60, 20, 10])
    everybody = sampling.SampledCounts(100, 1.0, mechanism).variance_realised_size(counts)
    assert histograms.pure_variance(counts, users=100, mechanism=mechanism) == pytest.approx(everybody, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_signs_and_optimised_unary_encoding_swap_holders_and_others(epsilon: float) -> None:
    signs = histograms.pure_variance([0, 1], users=1, mechanism=SignRandomiser(epsilon, 9))
    optimised = histograms.pure_variance([1, 0], users=1, mechanism=UnaryEncoding.optimised(epsilon, 9))
    assert signs == pytest.approx(optimised, rel=1e-9)


def test_largest_of_many_noises_is_exact_and_below_the_union_bound() -> None:
    error = histograms.central_laplace_largest_error(1.0, 1000, 0.01)
    assert (1 - 2 * stats.laplace(0, 2.0).sf(error)) ** 1000 == pytest.approx(0.99, rel=1e-9)
    assert error < 2 * np.log(1000 / 0.01)
    assert error == pytest.approx(23.016, abs=5e-4)


def test_largest_error_survives_huge_domains_and_tiny_failures() -> None:
    assert histograms.central_laplace_largest_error(1.0, 10**12, 1e-12) == pytest.approx(2 * np.log(1e24), rel=1e-9)


def test_certain_bits_cost_nothing() -> None:
    assert histograms.unary_report_bits(1.0, 0.0, 8) == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: histograms.pure_variance([5, 11], users=10, mechanism=SignRandomiser(1.0, 2)),
            r"holders must lie in \[0, 10\], got holders\[1\]=11",
        ),
        (lambda: histograms.sign_variance(0, users=10, bias=0.0), r"bias must lie in \(0, 1\], got bias=0\.0"),
        (lambda: histograms.central_laplace_count_variance(0.0), r"epsilon must be > 0 and finite, got epsilon=0\.0"),
        (lambda: histograms.unary_report_bits(1.2, 0.5, 3), r"p must lie in \[0, 1\], got p=1\.2"),
        (lambda: histograms.unary_report_bits(0.5, 0.5, 0), "domain_size must be an integer >= 1, got domain_size=0"),
    ],
)
def test_bad_input_is_refused_by_name_rule_and_value(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
