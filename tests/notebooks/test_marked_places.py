"""The label of a marked place is read at a glance: beside its place, and over nothing else.

What a label covers is seen in the picture itself, which is drawn once more without the label.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ldpnb.notebook.charts import Chart, Kind, Mark, Side
from ldpnb.notebook.figures import curves, draw

GRID = 228
"""The lightness of the lines of a panel's grid, which may lie behind words."""

SIDES = ("above", "below", "left", "right")


def panel_of(figure: Figure) -> Axes:
    (axis,) = figure.subfigs[0].axes
    return axis


def covered_by(label: Any, figure: Figure) -> np.ndarray:
    """The pixels of a picture below a label, as lightness from 0 to 255."""
    box = label.get_window_extent()
    label.set_visible(False)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    label.set_visible(True)

    picture = np.asarray(canvas.buffer_rgba())[..., :3].min(axis=2)
    upwards = picture[::-1]
    rows = slice(int(box.y0), int(box.y1) + 1)
    columns = slice(int(box.x0), int(box.x1) + 1)
    return upwards[rows, columns]


def assert_readable(chart: Chart) -> None:
    """Assert that each label of a chart covers nothing and lies in the panel, and is near it."""
    figure = draw(chart)
    axis = panel_of(figure)
    assert axis.texts
    for label in axis.texts:
        assert covered_by(label, figure).min() >= GRID, label.get_text()

        box = label.get_window_extent()
        assert axis.bbox.x0 <= box.x0
        assert box.x1 <= axis.bbox.x1
        assert axis.bbox.y0 <= box.y0


EMPTY = pd.DataFrame({"x": [0.0, 2.0], "y": [0.0, 0.0]})
"""A curve along the lower edge of its panel."""


def middle(box: Any) -> tuple[float, float]:
    return (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2


@pytest.mark.parametrize("side", SIDES)
def test_a_label_stands_at_the_side_of_its_point_that_is_asked_for(side: Side) -> None:
    marks = [Mark(1.0, 5.0, "here", side=side), Mark(0.0, 10.0)]
    figure = draw(curves(EMPTY, "x", "y", marks=marks))
    axis = panel_of(figure)
    (label,) = axis.texts
    box = label.get_window_extent()
    x, y = axis.transData.transform((1.0, 5.0))

    distance = {"above": box.y0 - y, "below": y - box.y1, "left": x - box.x1, "right": box.x0 - x}
    assert 4 < distance[side] < 15

    across, up = middle(box)
    if side in ("above", "below"):
        assert across == pytest.approx(x, abs=1)
    else:
        assert up == pytest.approx(y, abs=3)


@pytest.mark.parametrize("side", ["above", "below"])
@pytest.mark.parametrize("end", ["left", "right"])
def test_a_horizontal_line_is_named_above_or_below_it_at_an_end_that_is_free(
    side: Side, end: str
) -> None:
    x = [1.8, 1.9, 2.0] if end == "left" else [0.0, 0.1, 0.2]
    table = pd.DataFrame({"x": [*x, 0.0, 2.0], "y": [4.5, 5.0, 5.5, 0.0, 10.0]})
    mark = Mark(y=5.0, label="a long label", side=side)
    axis = panel_of(draw(curves(table, "x", "y", mark="points", marks=[mark])))
    (label,) = axis.texts
    box = label.get_window_extent()
    _, height = axis.transData.transform((0.0, 5.0))

    distance = box.y0 - height if side == "above" else height - box.y1
    assert 0 < distance < 8

    from_end = box.x0 - axis.bbox.x0 if end == "left" else axis.bbox.x1 - box.x1
    assert 0 < from_end < 0.05 * axis.bbox.width


def test_a_horizontal_line_is_named_at_the_left_if_asked_for() -> None:
    marks = [Mark(y=5.0, label="limit", side="left"), Mark(0.0, 10.0)]
    axis = panel_of(draw(curves(EMPTY, "x", "y", marks=marks)))
    (label,) = axis.texts
    assert label.get_window_extent().x1 < middle(axis.bbox)[0]


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_vertical_line_is_named_at_its_top_on_the_side_that_is_asked_for(side: Side) -> None:
    mark = Mark(x=1.0, label="limit", side=side)
    axis = panel_of(draw(curves(EMPTY, "x", "y", marks=[mark])))
    (label,) = axis.texts
    box = label.get_window_extent()
    across, _ = axis.transData.transform((1.0, 0.0))

    distance = box.x0 - across if side == "right" else across - box.x1
    assert 2 < distance < 10
    assert 0 < axis.bbox.y1 - box.y1 < 0.1 * axis.bbox.height


@pytest.mark.parametrize("level", ["x", "y"])
def test_names_of_neighbouring_lines_do_not_lie_on_each_other(level: str) -> None:
    marks = []
    for place in (1.0, 1.05):
        marks.append(Mark(**{level: place}, label="a long label of a line"))

    table = pd.DataFrame({"x": [0.0, 0.0, 2.0], "y": [0.0, 2.0, 0.0]})
    assert_readable(curves(table, "x", "y", mark="points", marks=marks))


@pytest.mark.parametrize("side", ["above", "right"])
@pytest.mark.parametrize("drawn", ["curve", "curve with a gap", "points", "error bars"])
def test_a_label_moves_off_what_is_drawn_whatever_side_is_asked_for(side: Side, drawn: str) -> None:
    steep = pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [0.0, 10.0, 0.0], "sd": np.nan})
    if drawn == "curve with a gap":
        gap = pd.DataFrame({"x": [1.0], "y": [np.nan]})
        steep = pd.concat([steep.iloc[:2], gap, steep.iloc[1:]])
    if drawn == "points":
        up = np.linspace(0.0, 10.0, 60)
        steep = pd.DataFrame({"x": up / 10, "y": up, "sd": np.nan})
    if drawn == "error bars":
        steep = pd.DataFrame({"x": [0.0, 0.5, 2.0], "y": [0.0, 5.0, 10.0], "sd": 0.6})

    kind: Kind = "line" if drawn.startswith("curve") else "points"
    error = "sd" if drawn == "error bars" else None
    mark = Mark(0.5, 5.0, "a long label here", side=side)
    assert_readable(curves(steep, "x", "y", mark=kind, error=error, marks=[mark]))


@pytest.mark.parametrize(
    ("place", "side"),
    [
        ((0.0, 10.0), "left"),
        ((2.0, 10.0), "right"),
        ((2.0, 10.0), "above"),
        ((0.0, 0.0), "left"),
        ((2.0, 0.0), "below"),
        ((2.0, 5.0), "right"),
    ],
)
def test_a_label_stays_in_its_panel(place: tuple[float, float], side: Side) -> None:
    falling = pd.DataFrame({"x": [0.0, 2.0], "y": [5.0, 5.0]})
    x, y = place
    marks = [Mark(x, y, "a long label here", side=side), Mark(0.0, 10.0), Mark(2.0, 0.0)]
    assert_readable(curves(falling, "x", "y", marks=marks))


@pytest.mark.parametrize(("place", "side"), [(-0.25, "above"), (2.25, "below")])
def test_a_label_stays_in_its_panel_of_bars(place: float, side: Side) -> None:
    table = pd.DataFrame({"who": ["a", "b", "c"], "share": [0.1, 0.1, 0.1]})
    marks = [Mark(0.5, place, "a long label here", side=side), Mark(1.0, 1.0)]
    chart = curves(table, "who", "share", xscale="category", mark="bars", marks=marks)
    axis = panel_of(draw(chart))
    (label,) = [text for text in axis.texts if text.get_text() == "a long label here"]
    box = label.get_window_extent()
    assert axis.bbox.y0 <= box.y0
    assert box.y1 <= axis.bbox.y1


@pytest.mark.parametrize("side", ["above", "right"])
def test_labels_of_neighbouring_points_do_not_lie_on_each_other(side: Side) -> None:
    marks = [
        Mark(1.0, 5.0, "a long label here", side=side),
        Mark(1.15, 5.0, "another label", side=side),
        Mark(0.0, 10.0),
    ]
    assert_readable(curves(EMPTY, "x", "y", marks=marks))


@pytest.mark.parametrize(
    ("mark", "level"), [(Mark(y=1.0, label="limit"), "y"), (Mark(x=1.0, label="limit"), "x")]
)
def test_a_label_of_a_line_moves_to_its_other_end_if_points_are_there(
    mark: Mark, level: str
) -> None:
    crowded = pd.DataFrame({"x": [0.0, 1.8, 1.9, 2.0], "y": [0.0, 0.95, 1.0, 1.05]})
    if level == "x":
        crowded = crowded.rename(columns={"x": "y", "y": "x"})
    assert_readable(curves(crowded, "x", "y", mark="points", marks=[mark]))


def test_where_every_side_is_taken_a_label_covers_as_little_as_it_can() -> None:
    table = pd.DataFrame({"x": np.tile([0.0, 2.0], 20), "y": np.repeat(np.arange(20.0), 2)})
    table["by"] = np.repeat([f"curve {place:02}" for place in range(20)], 2)
    figure = draw(curves(table, "x", "y", by="by", marks=[Mark(1.0, 19.0, "here", side="below")]))
    axis = panel_of(figure)
    (label,) = [text for text in axis.texts if text.get_text() == "here"]
    assert label.get_window_extent().y0 > axis.transData.transform((1.0, 19.0))[1]
