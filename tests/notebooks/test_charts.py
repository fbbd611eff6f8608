"""A chart's rows are what its picture shows, and its description makes the same chart again."""

import json

import pandas as pd

from ldpnb.notebook import curves
from ldpnb.notebook.charts import Chart, Layer, Mark

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
