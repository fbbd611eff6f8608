import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import participation
from ldpnb.privacy.channel import privacy_loss

CASES = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
RATES = st.lists(st.floats(0.01, 0.99), min_size=2, max_size=6)


def test_reference_loss_of_value_dependent_sampling() -> None:
    (case,) = [c for c in CASES if c["fn"] == "value_dependent_sampling_eps"]
    i = case["inputs"]
    loss = participation.participation_loss(float(i["eps"]), lowest_rate=i["pi_min"], highest_rate=i["pi_max"])
    assert loss == pytest.approx(float(case["value"]), rel=1e-9)
    channel = participation.value_dependent_channel(
        [i["pi_min"], 0.3, 0.5, i["pi_max"]], KaryRandomisedResponse(float(i["eps"]), i["d"])
    )
    assert privacy_loss(channel).epsilon == pytest.approx(loss, rel=1e-12)


@settings(max_examples=60, derandomize=True)
@given(RATES, st.floats(0.01, 10))
def test_the_closed_loss_is_that_of_the_channel(rates: list[float], epsilon: float) -> None:
    mechanism = KaryRandomisedResponse(epsilon, len(rates))
    exact = privacy_loss(participation.value_dependent_channel(rates, mechanism)).epsilon
    closed = participation.participation_loss(epsilon, lowest_rate=min(rates), highest_rate=max(rates))
    assert closed == pytest.approx(exact, rel=1e-9)


@settings(max_examples=60, derandomize=True)
@given(RATES, st.floats(0.01, 10))
def test_sampling_by_the_report_costs_no_privacy(rates: list[float], epsilon: float) -> None:
    mechanism = KaryRandomisedResponse(epsilon, len(rates))
    loss = privacy_loss(participation.report_dependent_channel(rates, mechanism)).epsilon
    assert loss == pytest.approx(epsilon, rel=1e-9)


def test_a_sure_reporter_is_excluded_by_silence() -> None:
    channel = participation.value_dependent_channel([0.5, 1.0], KaryRandomisedResponse(1.0, 2))
    assert privacy_loss(channel).epsilon == np.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: participation.value_dependent_channel([0.5, 0.5], KaryRandomisedResponse(1.0, 3)),
            "rates must be 3 numbers",
        ),
        (lambda: participation.participation_loss(1.0, lowest_rate=0.3, highest_rate=0.2), "lowest_rate must be <= "),
        (lambda: participation.participation_loss(1.0, lowest_rate=0.0, highest_rate=0.2), "lowest_rate must lie in"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
