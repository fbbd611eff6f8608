"""A chart's rows are what its picture shows, and its description makes the same chart again."""

import json
from typing import Any

import pandas as pd
import pytest

from ldpnb.notebook import curves
from ldpnb.notebook.charts import Chart, Layer, Mark, finding

ROWS = [
    (1.0, 0.5, "MLE", None, "a"),
    (2.0, 0.25, "MLE", None, "a"),
    (1.0, 0.52, "Norm-Sub", 0.01, "b"),
]
TABLE = pd.DataFrame(ROWS, columns=["epsilon", "mse", "by", "error", "panel"])


def test_rows_are_the_series_of_the_picture_with_their_numbers() -> None:
    chart = curves(TABLE, "epsilon", "mse", by="by", panel="panel", error="error")
    rows = chart.rows().astype(object)
    without_gaps = rows.where(rows.notna(), None)

    assert without_gaps.to_numpy().tolist() == [
        ["a", "MLE", "line", 1, 0.5, None, None],
        ["a", "MLE", "line", 2, 0.25, None, None],
        ["b", "Norm-Sub", "points", 1, 0.52, 0.5, 0.54],
    ]


def test_a_chart_is_read_again_from_its_table_and_its_description() -> None:
    mark = Mark(x=1.5, label="here")
    chart = curves(
        TABLE, "epsilon", "mse", by="by", panel="panel", error="error", marks=[mark], title="T"
    )
    record = {"encoding": json.loads(json.dumps(chart.encoding())), "title": "T"}

    again = Chart.read(TABLE, record)
    assert again.rows().equals(chart.rows())
    assert again.marks == [mark]
    assert again.title == "T"


def test_columns_can_be_layers_and_panels_are_of_several_columns() -> None:
    layers = (Layer(name="mean", y="mse", error="error"), Layer(name="truth", y="mse"))
    made = Chart(TABLE, "epsilon", "mse", panel=("panel", "by"), layers=layers).rows()

    assert made["panel"].tolist() == ["a, MLE", "a, MLE", "b, Norm-Sub"] * 2
    assert made["series"].tolist() == ["mean"] * 3 + ["truth"] * 3


def test_a_chart_of_many_names_shows_the_first_and_says_so() -> None:
    table = pd.DataFrame({"town": [f"town {i}" for i in range(400)], "share": 0.0025})
    chart = Chart(table, "town", "share", xscale="category", setting="one survey", mark="bars")

    shown = chart.readable()
    assert shown.setting == "one survey; the first 60 of 400 names"
    assert list(shown.rows()["x"]) == [f"town {i}" for i in range(60)]


LOSSES = pd.DataFrame(
    {
        "epsilon": [0.1, 0.3, 0.5] * 2,
        "loss": [4.0, 5.0, 6.0, 8.0, 2.0, 3.0],
        "by": ["low"] * 3 + ["high"] * 3,
    }
)


def least_of_high(wide: pd.DataFrame) -> Any:
    return wide["high"].idxmin()


@pytest.mark.parametrize(
    ("at", "title"),
    [
        ("first", "at 0.1: 4 and 8, ratio 0.5, difference -4"),
        ("middle", "at 0.3: 5 and 2, ratio 2.5, difference 3"),
        ("last", "at 0.5: 6 and 3, ratio 2, difference 3"),
        (0.5, "at 0.5: 6 and 3, ratio 2, difference 3"),
        (0.1 + 0.2, "at 0.3: 5 and 2, ratio 2.5, difference 3"),
        (least_of_high, "at 0.3: 5 and 2, ratio 2.5, difference 3"),
    ],
    ids=["first", "middle", "last", "number", "number up to rounding", "function"],
)
def test_a_title_has_the_values_at_the_place_that_it_names(at: Any, title: str) -> None:
    fields = "at {x}: {low} and {high}, ratio {low/high}, difference {low-high}"
    assert finding(LOSSES, "epsilon", "loss", "by", fields, at=at)["title"] == title


def test_a_title_about_a_place_that_is_not_drawn_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"must be a place .*, got at=0\.28; .*epsilon is 0\.3"):
        finding(LOSSES, "epsilon", "loss", "by", "{x}", at=0.28)


def test_a_title_about_a_curve_that_is_not_drawn_is_refused() -> None:
    with pytest.raises(KeyError, match="middling"):
        finding(LOSSES, "epsilon", "loss", "by", "{middling}")


def test_marks_stand_on_their_curves_with_the_highest_label_above_and_others_below() -> None:
    texts = {"low": "low: {low}", "high": "high: {high}"}
    found = finding(LOSSES, "epsilon", "loss", "by", "", at="first", marks=texts, panel="a")
    assert found["marks"] == [
        Mark(0.1, 4.0, "low: 4", "a", side="below"),
        Mark(0.1, 8.0, "high: 8", "a", side="above"),
    ]

    found = finding(LOSSES, "epsilon", "loss", "by", "", at="first", marks=texts, side="left")
    assert [mark.side for mark in found["marks"]] == ["left", "left"]


def test_a_panel_is_named_by_its_words_and_by_the_numbers_that_differ() -> None:
    table = pd.DataFrame({"epsilon (nats)": [1.0, 2.5], "users": [10, 10], "law": ["a", "b"]})
    chart = Chart(table.assign(x=0, y=0), "x", "y", panel=("law", "epsilon (nats)", "users"))
    assert chart.rows()["panel"].tolist() == ["a, ε = 1", "b, ε = 2.5"]


def test_a_bar_that_leaves_a_logarithmic_scale_reaches_down_to_its_lowest_point() -> None:
    table = pd.DataFrame({"x": [1, 2, 3], "y": [4.0, 2.0, 5.0], "sd": [1.0, 1.0, 3.0]})
    rows = Chart(table, "x", "y", error="sd", yscale="log").rows()
    assert rows["low"].tolist() == [2.0, 2.0, 2.0]
    assert rows["high"].tolist() == [6.0, 4.0, 11.0]


def test_a_band_is_drawn_between_its_columns_and_bars_take_the_place_of_it() -> None:
    table = pd.DataFrame({"x": [1, 2], "y": [4.0, 2.0], "sd": [1.0, None]})
    table = table.assign(bottom=[0.0, 1.0], top=[9.0, 3.0])
    rows = Chart(table, "x", "y", error="sd", band=("bottom", "top")).rows()
    assert rows["mark"].tolist() == ["points", "line"]
    assert rows["low"].tolist() == [2.0, 1.0]
    assert rows["high"].tolist() == [6.0, 3.0]


def test_twenty_names_are_drawn_in_each_of_many_panels() -> None:
    rows = [(f"panel {i}", f"town {j}", 0.1) for i in range(4) for j in range(30)]
    table = pd.DataFrame(rows, columns=["panel", "town", "share"])
    chart = Chart(table, "town", "share", panel="panel", xscale="category", setting="s")
    shown = chart.readable()
    assert shown.rows().groupby("panel").size().tolist() == [20] * 4
    assert shown.setting == "s; the first 20 of 30 names"

    few = Chart(table[table["town"] < "town 2"], "town", "share", xscale="category", setting="s")
    assert few.readable() is few
