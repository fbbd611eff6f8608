"""Titles of figures follow their numbers, also where nothing is left of what the source's setting shows."""

import numpy as np
import pandas as pd
import pytest

from ldpnb.accuracy import shrinkage
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.guides import plan_charts, tour
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import charts
from ldpnb.papers.biswas2022.tables import sampling
from ldpnb.papers.juarez2022 import findings as juarez
from ldpnb.papers.juarez2022.tables import gap_errors, gaps
from ldpnb.papers.lopuhaa2020 import findings as lopuhaa
from ldpnb.papers.lopuhaa2020.tables import optimality

PAIRS = {"budgets as claimed": ("M_R as published", "M_L as published"), "budgets kept": ("M_R", "M_L, k = 2")}


def test_crossings_are_those_of_the_budgets_drawn() -> None:
    all_of_them, large = (
        gap_errors.variance_ratios(np.geomspace(*ends, 121), 1000, PAIRS) for ends in ((0.1, 10), (5, 9))
    )
    found = juarez.crossing_budgets(all_of_them)
    assert found["title"] == (
        "M_R beats M_L between ε = 0.364 and 3.53 with budgets as claimed and below ε = 3.14 with budgets kept"
    )
    assert {mark.label for mark in found["marks"]} >= {"printed 0.31", "printed 2.6", "0.364", "3.53", "3.14"}
    none = juarez.crossing_budgets(large)
    assert none["title"].count("at no ε drawn") == 2
    assert not [mark for mark in none["marks"] if mark.label and not mark.printed]


def test_a_limit_bound_is_told_to_fail_only_where_it_does() -> None:
    table = optimality.binary_errors_and_bounds([1, 10, 100], [0.5, 2.0])
    found = lopuhaa.bounds_for_two_values(table.assign(budget=table["epsilon (nats)"].map("ε = {:g}".format)))
    assert "below n = " in found["title"]
    assert "at no n drawn if ε = 2" in found["title"]
    assert len(found["marks"]) == 1


def test_titles_leave_out_what_there_is_none_of() -> None:
    one = optimality.distance_to_bayes([16], 1.0, {"prior": 0.5})
    assert lopuhaa.rates(one) == {}
    cells = pd.DataFrame({"printed": [1.0, np.inf], "agrees": [True, True]})
    lines = pd.DataFrame([{"mechanism": "M_R", "way": "kept", "target K α²": 1.0, gaps.BUDGET: 1.0}])
    assert juarez.printed_budgets(cells, lines, pd.Series(dtype=float))["title"] == (
        "1 of 1 printed budgets are those claimed"
    )
    needs = {"epsilon (nats)": [1.0], "mechanism": ["central Laplace"], "people needed": [9]}
    assert plan_charts.fewest(pd.DataFrame(needs), "people needed")["title"].startswith("No mechanism")
    without_noise = tour.histogram_estimates(np.array([5, 15]), 700.0, seed=1)
    assert tour.repaired(without_noise)["title"].endswith("takes 0% off the squared error")


def test_zero_relative_error_names_every_mean_once() -> None:
    wrong = gap_errors.misestimated_curves([0.0, 0.0], [0.0, 0.4], epsilon=1.0, users=1000)
    assert juarez.wrong_sizes(wrong)["title"].endswith("by 1 (means of 0) and 1 (means of 0.4)")


@pytest.mark.parametrize(
    ("users", "rate", "words"),
    [
        (100, 1.0, "c_DE and g_DE err alike; "),
        (100, 0.1, "From 69 users on g_DE errs less than c_DE; "),
        (60, 0.1, "c_DE errs less than g_DE throughout; "),
        (100_000, 0.1, "From 69 users on g_DE errs less than c_DE; "),
    ],
)
def test_a_title_names_the_first_number_of_users_from_which_an_estimate_is_better(
    monkeypatch: pytest.MonkeyPatch, users: int, rate: float, words: str
) -> None:
    below = shrinkage.unscaled_below(SampledCounts(users, rate, KaryRandomisedResponse(1.0, 4)))
    monkeypatch.setattr(charts, "curves", lambda *table, **axes: axes)
    table = pd.DataFrame(sampling.rare_errors([10, users], rate, KaryRandomisedResponse(1.0, 4)))
    found = charts.bias_or_variance(table, below=below, setting="")
    assert found["title"] == f"{words}the best point of their line errs less than either"
    both = [SampledCounts(n, rate, KaryRandomisedResponse(1.0, 4)) for n in (68, 69)]
    unscaled = [shrinkage.rare_risk(one, 1 - rate) < shrinkage.rare_risk(one, 0.0) for one in both]
    assert unscaled == [below > 68, below > 69]
