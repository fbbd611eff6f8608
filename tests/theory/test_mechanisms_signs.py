"""The lecture's sign vectors: exact loss, channel, estimate, and the same law from one bit and public coins."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from ldpnb.estimators.frequency import unbiased
from ldpnb.mechanisms.frequency import UnaryEncoding
from ldpnb.mechanisms.signs import SignRandomiser, calibrated_bias, exact_epsilon
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream

CASES = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
NAMED = {"freq_randomiser_exact_eps": ("c", exact_epsilon), "freq_randomiser_param_for_eps": ("eps", calibrated_bias)}


@pytest.mark.parametrize("case", [c for c in CASES if c["fn"] in NAMED], ids=lambda c: f"{c['fn']} {c['inputs']}")
def test_reference_values(case: dict) -> None:
    argument, function = NAMED[case["fn"]]
    assert function(case["inputs"][argument]) == pytest.approx(float(case["value"]), rel=1e-9)


def test_as_printed_the_loss_is_more_than_twice_the_parameter() -> None:
    for parameter in (0.01, 0.25, 0.99):
        assert SignRandomiser.as_printed(parameter, 3).bias == pytest.approx(parameter, rel=1e-12)
        assert privacy_loss(SignRandomiser.as_printed(parameter, 3).channel()).epsilon > 2 * parameter


def test_signs_are_unary_encoding_with_fair_other_bits() -> None:
    signs = SignRandomiser(0.8, 4)
    unary = UnaryEncoding(signs.p, 0.5, 4)
    assert (signs.outputs() == 2 * unary.outputs().astype(int) - 1).all()
    assert signs.channel() == pytest.approx(unary.channel())


def test_the_estimate_is_the_sum_of_signs_over_the_bias() -> None:
    signs = SignRandomiser(0.6, 4)
    reports = signs.randomize(np.arange(4).repeat(25), rng=stream("reports", seed=2))
    estimate = 100 * unbiased((reports == 1).sum(axis=0), 100, signs)
    assert estimate == pytest.approx(reports.sum(axis=0) / signs.bias)


def test_one_bit_times_public_signs_has_the_law_of_the_report() -> None:
    signs, users, rng = SignRandomiser(1.5, 3), 40_000, stream("public", seed=4)
    public = 2 * rng.integers(0, 2, (users, 3)) - 1
    bits = signs.randomize_with_public_signs(np.full(users, 2), public, rng=rng)
    assert bits.shape == (users,)
    assert set(np.unique(bits)) == {-1, 1}
    assert _within_noise(bits[:, None] * public, signs, value=2)


def _within_noise(reports: np.ndarray, signs: SignRandomiser, value: int) -> bool:
    law = {tuple(row): chance for row, chance in zip(signs.outputs().tolist(), signs.channel()[:, value], strict=True)}
    for output in product((-1, 1), repeat=3):
        seen, expected = (reports == output).all(axis=1).mean(), law[output]
        if abs(seen - expected) > 5.5 * np.sqrt(expected * (1 - expected) / len(reports)):
            return False
    return True


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: exact_epsilon(1.0), r"bias must lie in \(0, 1\), got bias=1\.0"),
        (lambda: SignRandomiser.as_printed(0.0, 3), r"bias must lie in \(0, 1\), got bias=0\.0"),
        (lambda: SignRandomiser(-1.0, 3), r"epsilon must be > 0 and finite, got epsilon=-1\.0"),
        (lambda: SignRandomiser(1.0, 1), "domain_size must be an integer >= 2, got domain_size=1"),
        (
            lambda: SignRandomiser(1.0, 13).channel(),
            "domain_size must be <= 12 to list every output, got domain_size=13",
        ),
        (
            lambda: SignRandomiser(1.0, 2).sample_tallies([1, 2, 3], rng=stream(seed=0)),
            "counts must have one entry per value, 2, got 3",
        ),
        (
            lambda: SignRandomiser(1.0, 2).randomize([2], rng=stream(seed=0)),
            r"values must lie in 0 \.\. 1, got 2 \.\. 2",
        ),
        (
            lambda: SignRandomiser(1.0, 2).randomize_with_public_signs([0], [[0, 1]], rng=stream(seed=0)),
            r"public must be signs -1 and \+1",
        ),
    ],
)
def test_bad_input_is_refused_by_name_rule_and_value(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
