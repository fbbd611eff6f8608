"""Titles of figures follow their numbers, also where nothing is left of what the source's setting shows."""

import numpy as np
import pandas as pd

from ldpnb.guides import plan_charts
from ldpnb.papers.juarez2022.charts import crossing_budgets
from ldpnb.papers.juarez2022.tables import gap_errors
from ldpnb.papers.lopuhaa2020 import findings as lopuhaa
from ldpnb.papers.lopuhaa2020.tables import optimality

PAIRS = {"budgets as claimed": ("M_R as published", "M_L as published"), "budgets kept": ("M_R", "M_L, k = 2")}


def test_crossings_are_those_of_the_budgets_drawn() -> None:
    all_of_them, large = (
        gap_errors.variance_ratios(np.geomspace(*ends, 121), 1000, PAIRS) for ends in ((0.1, 10), (5, 9))
    )
    found = crossing_budgets(all_of_them)
    assert found["title"] == (
        "M_R beats M_L between ε = 0.364 and 3.53 with budgets as claimed and below ε = 3.14 with budgets kept"
    )
    assert {mark.label for mark in found["marks"]} >= {"printed 0.31", "printed 2.6"}
    assert [round(mark.x, 2) for mark in found["marks"] if mark.y and mark.x] == [0.36, 3.53, 3.14]
    none = crossing_budgets(large)
    assert none["title"].count("at no ε drawn") == 2
    assert not [mark for mark in none["marks"] if mark.x and not mark.printed]


def test_titles_leave_out_what_there_is_none_of() -> None:
    needs = {"epsilon (nats)": [1.0], "mechanism": ["central Laplace"], "people needed": [9]}
    assert plan_charts.fewest(pd.DataFrame(needs), "people needed")["title"].startswith("No mechanism")
