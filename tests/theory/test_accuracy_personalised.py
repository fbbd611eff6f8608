"""Personal rates: reference values, the common rate as a special case, and the rates that are best."""

import json
from pathlib import Path

import flint
import numpy as np
import pytest

from ldpnb.accuracy import personalised
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import displayed

CASES = {
    c["fn"]: c for c in json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
}
MECHANISM = KaryRandomisedResponse(1.0, 4)


def reference(name: str) -> tuple[dict, float]:
    return CASES[name]["inputs"], float(CASES[name]["value"])


@pytest.mark.parametrize(
    ("name", "variance"), [("HT_var_two_levels", "variance_horvitz_thompson"), ("T_var_two_levels", "variance")]
)
def test_two_level_reference(name: str, variance: str) -> None:
    i, value = reference(name)
    sizes, rates = [i["n_i_lo"] + i["n_o_lo"], i["n_i_hi"] + i["n_o_hi"]], [i["pi_lo"], i["pi_hi"]]
    survey = PersonalRates(sizes, rates, KaryRandomisedResponse(float(i["eps"]), i["d"]))
    assert getattr(survey, variance)([i["n_i_lo"], i["n_i_hi"]]) == pytest.approx(value, rel=1e-9)


def test_mean_reference() -> None:
    i, value = reference("T_mean_two_groups")
    others = i["n"] - i["n_i"]
    rate = (i["pibar"] * i["n"] - i["pibar_i"] * i["n_i"]) / others
    survey = PersonalRates([i["n_i"], others], [i["pibar_i"], rate], MECHANISM)
    assert survey.mean([i["n_i"], 0]) == pytest.approx(value, rel=1e-9)


def test_optimal_rates_reference() -> None:
    i, value = reference("opt_pi_two_eps_varstar")
    noises = [personalised.report_noise(KaryRandomisedResponse(float(i[e]), i["d"])) for e in ("eps1", "eps2")]
    sizes = [i["n1"], i["n2"]]
    rates = personalised.optimal_rates(noises=noises, costs=[1, 1], sizes=sizes, budget=i["B"])
    best = personalised.rare_variance_horvitz_thompson(noises=noises, sizes=sizes, rates=rates)
    assert best == pytest.approx(value, rel=1e-9)
    assert rates == pytest.approx([0.189, 0.0110], abs=5e-5)


def test_equal_rates_reduce_to_a_common_rate() -> None:
    common, survey = SampledCounts(300, 0.2, MECHANISM), PersonalRates([100, 200], [0.2, 0.2], MECHANISM)
    pairs = [
        (survey.variance([10, 50]), common.variance_rescaled(60)),
        (survey.variance_horvitz_thompson([10, 50]), common.variance_realised_size(60)),
        (displayed.variance_personalised(survey, [10, 50]), displayed.variance_unadjusted(common, 60) / 0.04),
        (survey.rare_variance, common.rare_variance_rescaled),
    ]
    weak, alike = KaryRandomisedResponse(50.0, 3), [40.0]  # no cancellation where hardly anybody lies
    pairs.append(
        (PersonalRates([100], [1.0], weak).variance(alike), SampledCounts(100, 1.0, weak).variance_rescaled(40))
    )
    for personal, usual in pairs:
        assert personal == pytest.approx(float(usual), rel=1e-12)


def test_closed_forms_run_on_balls_too() -> None:
    ball, number = (
        PersonalRates([100, 200], [0.2, 0.7], KaryRandomisedResponse(*given))
        for given in ((flint.arb("1.5"), flint.arb(7)), (1.5, 7))
    )
    for name in ("variance", "variance_horvitz_thompson"):
        assert abs(getattr(ball, name)([10, 50]) - float(getattr(number, name)([10, 50]))) < 1e-10
    assert abs(ball.rare_variance - float(number.rare_variance)) < 1e-10
    assert (
        abs(displayed.variance_personalised(ball, [10, 50]) - displayed.variance_personalised(number, [10, 50])) < 1e-10
    )


def test_the_pooled_variance_at_rare_values_is_largest_at_equal_rates() -> None:
    even, uneven = (PersonalRates([50, 50], rates, MECHANISM).rare_variance for rates in ([0.3, 0.3], [0.5, 0.1]))
    assert uneven < even


def test_sampling_by_the_report_moves_variance_from_the_rare_to_the_common() -> None:
    counts, equal = np.array([900, 90, 10, 0]), np.full(4, 0.25)
    reports = MECHANISM.channel() @ counts / 1000
    inverse = 0.25 / 4 / reports
    flat, moved = (
        personalised.variance_reweighted_reports(counts, users=1000, report_rates=r, mechanism=MECHANISM)
        for r in (equal, inverse)
    )
    assert reports @ inverse == pytest.approx(reports @ equal)
    assert moved[0] > flat[0]
    assert (moved[1:] < flat[1:]).all()


BEST = {"noises": [1], "costs": [1], "sizes": [1], "budget": 1}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PersonalRates([2], [0.0], MECHANISM), r"rates must lie in \(0, 1\], got rates=\[0.0\]"),
        (lambda: PersonalRates([2, 2], [0.5], MECHANISM), "rates must have one entry per group"),
        (lambda: PersonalRates([0], [0.5], MECHANISM), "sizes must be > 0"),
        (lambda: PersonalRates([2], [0.5], MECHANISM).mean([3]), "holders must lie between 0"),
        (lambda: PersonalRates([2], [0.5], MECHANISM).mean(3), "holders must have one row per group"),
        (lambda: personalised.optimal_rates(**BEST | {"noises": [0]}), "noises must be > 0"),
        (lambda: personalised.optimal_rates(**BEST | {"costs": [1, 1]}), "one entry per group"),
        (lambda: personalised.optimal_rates(**BEST | {"budget": 0}), "budget must be > 0"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
