"""What the site draws of a table is what its encoding says: the numbers, the names, the panels."""

from typing import Any

import pandas as pd

from ldpnb.notebook import curves
from ldpnb.notebook.encoding import Encoding, Layer, drawn
from ldpnb.site import charts

ROWS = [(1.0, 0.5, "MLE", None, "a"), (2.0, 0.25, "MLE", None, "a"), (1.0, 0.52, "Norm-Sub", 0.01, "b")]
TABLE = pd.DataFrame(ROWS, columns=["epsilon", "mse", "by", "error", "panel"])


def test_the_chart_has_the_series_of_the_picture_with_their_numbers() -> None:
    kept = drawn(curves(TABLE, "epsilon", "mse", by="by", panel="panel", error="error", yscale="log"))
    chart = charts.chart(TABLE, Encoding.read(kept.encoding.to_dict()))
    (left,), (right,) = (panel["series"] for panel in chart["panels"])
    assert [panel["title"] for panel in chart["panels"]] == ["a", "b"]
    assert (left["name"], left["mark"], left["x"], left["y"]) == ("MLE", "line", [1, 2], [0.5, 0.25])
    assert (right["mark"], right["low"], right["high"]) == ("points", [0.5], [0.54])
    assert (chart["kind"], chart["x"], chart["y"]) == ("linear log", "epsilon", "mse")


def test_columns_can_be_layers_and_panels_a_grid() -> None:
    layers = (Layer(name="mean", y="mse", mark="band", error="error"), Layer(name="truth", y="mse"))
    encoding = Encoding(x="epsilon", y="mse", panel=("panel", "by"), layers=layers)
    assert Encoding.read(encoding.to_dict()) == encoding
    panels = charts.panels(TABLE, encoding)
    assert [panel["title"] for panel in panels] == ["a, MLE", "b, Norm-Sub"]
    assert [series["name"] for series in panels[1]["series"]] == ["mean", "truth"]
    assert panels[1]["series"][0]["low"] == [0.5]


def test_columns_of_different_kinds_have_panels_of_their_own() -> None:
    layers = (
        Layer(name="mse", y="mse", mark="bars", panel="error"),
        Layer(name="epsilon", y="epsilon", panel="budget"),
    )
    panels = charts.panels(TABLE, Encoding(x="by", y="mse", xscale="category", layers=layers))
    assert [(panel["title"], [series["y"] for series in panel["series"]]) for panel in panels] == [
        ("error", [[0.5, 0.25, 0.52]]),
        ("budget", [[1, 2, 1]]),
    ]


def test_points_of_a_category_stand_in_the_order_of_a_column() -> None:
    table = pd.DataFrame({"group": ["a", "a", "b"], "rate": [0.1, 0.2, 0.3], "offset": [0.5, -0.5, 0.0]})
    told: dict[str, Any] = {"by": "group", "mark": "points", "xscale": "category", "aside": "offset"}
    (panel,) = charts.panels(table, Encoding(x="group", y="rate", **told))
    assert [(series["x"], series["aside"]) for series in panel["series"]] == [(["a", "a"], [0.5, -0.5]), (["b"], [0])]


def test_numbers_that_are_not_finite_are_missing() -> None:
    table = pd.DataFrame({"x": [1, 2], "y": [float("inf"), 3.0]})
    (panel,) = charts.panels(table, Encoding(x="x", y="y"))
    assert panel["series"][0]["y"] == [None, 3]


def test_every_scale_has_a_specification_that_reads_only_what_the_page_gives() -> None:
    for kind in (("linear", "log", False), ("category", "linear", True)):
        told = charts.specification(*kind)
        assert {layer["data"]["name"] for layer in told["layer"]} == {"rows", "marks", "cursor"}
        assert "url" not in str(told)
