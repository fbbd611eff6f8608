"""Everything in a chart's table can be seen in its picture, and read without guessing.

Points lie in their panels and beside each other, numbers stand beside their bars, ticks are written
as in a sentence, and no word leaves the picture.
"""

from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from ldpnb.notebook.charts import Chart, Kind, Layer, Mark
from ldpnb.notebook.figures import curves, draw


def panels_of(figure: Figure) -> list[Axes]:
    FigureCanvasAgg(figure).draw()
    return figure.subfigs[0].axes


def pixels(line: Any) -> np.ndarray:
    """Where the points of a line are in the picture: to the right and up."""
    return line.get_transform().transform(line.get_xydata())


# Points


SAME = pd.DataFrame(
    {
        "x": np.tile([0.0, 1.0, 2.0], 3),
        "y": np.tile([1.0, 3.0, 2.0], 3),
        "rule": np.repeat(["MLE", "Norm-Sub", "Bayes"], 3),
        "sd": 0.5,
    }
)
"""Three series of equal points."""


def test_equal_points_of_several_series_stand_side_by_side_around_their_place() -> None:
    (axis,) = panels_of(draw(curves(SAME, "x", "y", by="rule", error="sd", dodge=True)))
    places = [pixels(line) for line in axis.lines]
    width = axis.lines[0].get_markersize() * mpl.rcParams["figure.dpi"] / 72

    for left, right in pairwise(places):
        assert (right[:, 0] - left[:, 0] >= width).all()
        assert right[:, 1] == pytest.approx(left[:, 1])

    true = axis.transData.transform(SAME[["x", "y"]].to_numpy()[:3])
    assert np.mean(places, axis=0) == pytest.approx(true)


def test_without_dodge_points_stand_at_their_place() -> None:
    (axis,) = panels_of(draw(curves(SAME, "x", "y", by="rule", error="sd")))
    true = axis.transData.transform(SAME[["x", "y"]].to_numpy()[:3])
    for line in axis.lines:
        assert pixels(line) == pytest.approx(true)


@pytest.mark.parametrize("panel", [None, "rule"], ids=["one panel", "three panels"])
@pytest.mark.parametrize("dodge", [True, False], ids=["side by side", "on each other"])
def test_a_panel_contains_every_point_and_both_ends_of_its_bar(
    dodge: bool, panel: str | None
) -> None:
    chart = curves(SAME, "x", "y", by="rule", error="sd", dodge=dodge, panel=panel)
    for axis in panels_of(draw(chart)):
        box = axis.bbox
        for line in axis.lines:
            radius = line.get_markersize() / 2 * mpl.rcParams["figure.dpi"] / 72
            x, y = pixels(line).T
            assert (box.x0 < x - radius).all()
            assert (x + radius < box.x1).all()
            assert (box.y0 < y).all()
            assert (y < box.y1).all()

        for bars in axis.collections:
            assert isinstance(bars, LineCollection)
            for segment in bars.get_segments():
                _, up = bars.get_transform().transform(segment).T
                assert box.y0 <= up.min()
                assert up.max() <= box.y1


def test_a_bar_of_a_point_stands_with_its_point() -> None:
    (axis,) = panels_of(draw(curves(SAME, "x", "y", by="rule", error="sd", dodge=True)))
    for line, bars in zip(axis.lines, axis.collections, strict=True):
        for (x, y), segment in zip(pixels(line), bars.get_segments(), strict=True):
            ends = bars.get_transform().transform(segment)
            assert ends[:, 0] == pytest.approx(x)
            assert ends[:, 1].mean() == pytest.approx(y)


def test_a_curve_of_one_point_can_be_seen() -> None:
    (axis,) = panels_of(draw(curves(pd.DataFrame({"x": [1.0], "y": [2.0]}), "x", "y")))
    (line,) = axis.lines
    assert line.get_marker() != "None"


def test_a_line_that_only_guides_the_eye_is_thin_and_has_its_points() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0], "y": [2.0, 3.0]})
    (axis,) = panels_of(draw(curves(table, "x", "y", discrete=True)))
    (other,) = panels_of(draw(curves(table, "x", "y")))
    assert axis.lines[0].get_marker() != "None"
    assert axis.lines[0].get_linewidth() < other.lines[0].get_linewidth()
    assert other.lines[0].get_marker() == "None"


def test_points_lie_above_the_curve_that_they_confirm() -> None:
    table = pd.DataFrame({"x": [1, 2] * 2, "y": 1.0, "by": ["exact"] * 2 + ["simulated"] * 2})
    table["sd"] = [None, None, 0.1, 0.1]
    (axis,) = panels_of(draw(curves(table, "x", "y", by="by", error="sd")))
    curve, points = axis.lines
    assert points.get_zorder() > curve.get_zorder()


def test_what_a_source_prints_is_a_grey_ring_and_what_is_computed_is_a_black_point() -> None:
    table = pd.DataFrame({"x": [0.0, 2.0], "y": [0.0, 1.0]})
    marks = [Mark(1.0, 0.5, "computed"), Mark(1.5, 0.1, "printed", printed=True)]
    (axis,) = panels_of(draw(curves(table, "x", "y", marks=marks)))

    _, computed, printed = axis.lines
    assert mpl.colors.to_rgb(computed.get_markerfacecolor()) == (0, 0, 0)
    assert mpl.colors.to_rgb(printed.get_markerfacecolor()) == (1, 1, 1)

    red, green, blue = mpl.colors.to_rgb(printed.get_markeredgecolor())
    assert red == green == blue > 0
    words = {text.get_text(): text for text in axis.texts}
    assert words["computed"].get_weight() == "bold"
    assert words["printed"].get_weight() == "normal"


# Names along the vertical axis


def named(**options: Any) -> Chart:
    table = pd.DataFrame(
        {
            "who": ["a", "b", "c"] * 3,
            "y": np.arange(9.0),
            "rule": np.repeat(["MLE", "Norm-Sub", "Bayes"], 3),
        }
    )
    return curves(table, "who", "y", xscale="category", **options)


def test_names_are_read_from_the_top_down() -> None:
    (axis,) = panels_of(draw(named(by="rule")))
    heights = [text.get_window_extent().y0 for text in axis.get_yticklabels()]
    assert [text.get_text() for text in axis.get_yticklabels()] == ["a", "b", "c"]
    assert heights == sorted(heights, reverse=True)


def test_series_of_a_name_stand_below_each_other_around_it() -> None:
    (axis,) = panels_of(draw(named(by="rule")))
    heights = np.array([line.get_ydata() for line in axis.lines])
    assert heights.mean(axis=0) == pytest.approx([0, 1, 2])
    assert (np.diff(heights, axis=0) > 0.1).all()
    assert (np.ptp(heights, axis=0) < 0.8).all()


@pytest.mark.parametrize("by", [None, "who"], ids=["one series", "a series for each name"])
def test_points_of_one_series_stand_at_their_name(by: str | None) -> None:
    table = pd.DataFrame({"who": ["a", "b"], "y": [3.0, 4.0]})
    (axis,) = panels_of(draw(curves(table, "who", "y", by=by, xscale="category", mark="points")))
    heights = np.concatenate([line.get_ydata() for line in axis.lines])
    assert heights.tolist() == [0, 1]


def test_bars_of_one_layer_stand_at_their_name_behind_the_points_of_the_other() -> None:
    table = pd.DataFrame({"who": ["a", "b"], "truth": [3.0, 4.0], "estimate": [3.5, 3.5]})
    layers = [Layer(name="truth", y="truth", mark="bars"), Layer(name="MLE", y="estimate")]
    (axis,) = panels_of(draw(Chart(table, "who", "share", xscale="category", layers=layers)))

    middles = [bar.get_y() + bar.get_height() / 2 for bar in axis.patches]
    assert middles == pytest.approx([0, 1])
    assert [bar.get_width() for bar in axis.patches] == [3.0, 4.0]

    points = [line for line in axis.lines if line.get_marker() != "None"]
    assert [line.get_ydata().tolist() for line in points] == [[0, 1]]
    assert all(bar.get_alpha() < 0.5 for bar in axis.patches)


@pytest.mark.parametrize("mark", ["bars", "points"])
def test_a_number_stands_beyond_the_end_of_its_bar_and_within_the_panel(mark: Kind) -> None:
    table = pd.DataFrame({"who": ["a", "b", "c"], "change": [-1234.0, 5000.0, 0.0]})
    (axis,) = panels_of(draw(curves(table, "who", "change", xscale="category", mark=mark)))

    for place, (number, text) in enumerate(zip(table["change"], axis.texts, strict=True)):
        box = text.get_window_extent()
        end, height = axis.transData.transform((number, place))
        distance = end - box.x1 if number < 0 else box.x0 - end
        assert 3 < distance < 15
        assert (box.y0 + box.y1) / 2 == pytest.approx(height, abs=3)
        assert axis.bbox.x0 <= box.x0
        assert box.x1 <= axis.bbox.x1


def test_numbers_stand_beside_bars_only_if_there_is_one_series() -> None:
    (axis,) = panels_of(draw(named(by="rule", mark="points")))
    assert not axis.texts


# Ticks


def tick_words(low: float, high: float, scale: str) -> list[str]:
    table = pd.DataFrame({"x": [low, high], "y": [low, high]})
    (axis,) = panels_of(draw(curves(table, "x", "y", xscale=scale, yscale=scale)))
    found = []
    for side in (axis.xaxis, axis.yaxis):
        ticks = [*side.get_major_ticks(), *side.get_minor_ticks()]
        found.append([tick.label1.get_text() for tick in ticks])

    assert set(found[0]) == set(found[1])
    return [words for words in found[0] if words]


def test_ticks_are_written_as_a_sentence_would_write_them() -> None:
    assert {"1", "10", "100", "1,000", "10,000"} <= set(tick_words(1.0, 20_000.0, "log"))
    assert {"0.001", "0.01", "0.1"} <= set(tick_words(0.001, 0.5, "log"))
    assert {"2", "3", "4", "6"} <= set(tick_words(1.5, 7.0, "log"))
    assert "1,000" in tick_words(0.0, 2000.0, "linear")
    assert "0.5" in tick_words(0.25, 1.0, "linear")


@pytest.mark.parametrize(("low", "high"), [(1e-9, 1.0), (1.0, 1e9)])
def test_ticks_of_many_decades_are_powers_of_ten(low: float, high: float) -> None:
    assert all("10^{" in words for words in tick_words(low, high, "log"))


def test_counts_have_whole_ticks_and_other_numbers_need_not() -> None:
    table = pd.DataFrame({"users": [1, 2], "share": [0.5, 1.0]})
    (axis,) = panels_of(draw(curves(table, "users", "share")))
    assert all(tick == round(tick) for tick in axis.get_xticks())
    assert any(tick != round(tick) for tick in axis.get_yticks())


# Words


LONG = "mean squared error of all counts (users)"


def words_of(figure: Figure) -> list[Text]:
    """The titles, the names of axes and curves, and the settings of a picture."""
    (inner,) = figure.subfigs
    found = [part for part in (*figure.texts, *inner.texts) if part.get_text()]
    for axis in inner.axes:
        found += [axis.xaxis.label, axis.yaxis.label, *axis.texts, *axis.findobj(is_title)]
    for legend in inner.legends:
        found += legend.texts
    return [text for text in found if text.get_text()]


def is_title(part: Any) -> bool:
    return isinstance(part, Text) and part.get_text().startswith("panel")


@pytest.mark.parametrize("width", [3.5, 7.0], ids=["half a page", "a page"])
@pytest.mark.parametrize("panels", [1, 3, 4])
def test_no_word_leaves_the_picture_and_axes_are_named_at_the_left_and_below(
    panels: int, width: float
) -> None:
    rows = []
    for panel in range(panels):
        for curve in range(5):
            for x in (1.0, 2.0):
                rows.append((f"estimator {curve} of many", x, x, f"panel {panel}, ε = 1"))

    table = pd.DataFrame(rows, columns=["by", "x", "y", "panel"])
    words = {"xlabel": LONG, "ylabel": LONG, "title": f"{LONG} {LONG}", "setting": LONG}
    figure = draw(curves(table, "x", "y", by="by", panel="panel", **words), width)
    shown = [axis for axis in panels_of(figure) if axis.axison]
    assert len(shown) == panels

    for text in words_of(figure):
        box = text.get_window_extent()
        assert box.x0 >= 0, text
        assert box.x1 <= figure.bbox.x1, text
        assert box.y0 >= 0, text
        assert box.y1 <= figure.bbox.y1, text

    lowest = {round(axis.bbox.x0): axis for axis in shown}
    leftmost = min(lowest)
    for column, axis in lowest.items():
        assert axis.get_xlabel().replace("\n", " ") == LONG
        assert any(tick.label1.get_visible() for tick in axis.xaxis.get_major_ticks())
        for other in shown:
            if round(other.bbox.x0) == column:
                assert other.bbox.y0 >= axis.bbox.y0

    for axis in shown:
        has_label = round(axis.bbox.x0) == leftmost
        assert axis.get_ylabel().replace("\n", " ") == (LONG if has_label else "")


def test_a_legend_names_each_series_once_with_all_that_is_drawn_of_it() -> None:
    rows = SAME.assign(panel=np.tile(["a", "b", "b"], 3), sd=np.tile([None, 0.1, None], 3))
    figure = draw(curves(rows, "x", "y", by="rule", error="sd", panel="panel"))
    (legend,) = figure.subfigs[0].legends
    assert [text.get_text() for text in legend.texts] == ["MLE", "Norm-Sub", "Bayes"]


@pytest.mark.parametrize("letters", [8, 40])
def test_a_legend_is_no_wider_than_the_picture_nor_longer_than_it_must_be(letters: int) -> None:
    names = [f"{place} {'x' * letters}" for place in "abcdef"]
    table = pd.DataFrame({"x": [0.0, 1.0] * 6, "y": 1.0, "by": np.repeat(names, 2)})
    figure = draw(curves(table, "x", "y", by="by"))
    FigureCanvasAgg(figure).draw()

    (legend,) = figure.subfigs[0].legends
    boxes = [text.get_window_extent() for text in legend.texts]
    assert max(box.x1 for box in boxes) <= figure.bbox.x1
    heights = {round(box.y0) for box in boxes}
    assert len(heights) == (1 if letters == 8 else 3)


def test_an_equals_sign_of_a_title_stays_on_the_line_of_its_number() -> None:
    table = pd.DataFrame({"x": [0.0, 1.0], "y": [0.0, 1.0]})
    figure = draw(curves(table, "x", "y", title="The loss is least at n = 10"))
    assert figure.get_suptitle() == "The loss is least at n\u00a0=\u00a010"


def two_curves(name: str, end: float = 1.0) -> Figure:
    """Two curves that are far apart, of which the first ends at some place of ten."""
    rows = [(0.0, 1.0, name), (end, 1.0, name), (0.0, 5.0, "other"), (1.0, 5.0, "other")]
    return draw(curves(pd.DataFrame(rows, columns=["x", "y", "by"]), "x", "y", by="by"))


def test_a_name_stands_beside_its_curve_outside_the_panel() -> None:
    figure = two_curves("one of 24 letters, short")
    (axis,) = panels_of(figure)
    assert not figure.subfigs[0].legends

    for text, height in zip(axis.texts, (1.0, 5.0), strict=True):
        box = text.get_window_extent()
        _, up = axis.transData.transform((0.0, height))
        assert 0 < box.x0 - axis.bbox.x1 < 10
        assert (box.y0 + box.y1) / 2 == pytest.approx(up, abs=3)


@pytest.mark.parametrize(
    ("name", "end"),
    [("one of 25 letters, longer", 1.0), ("early", 0.5)],
    ids=["a long name", "a curve that ends early"],
)
def test_a_long_name_and_that_of_a_curve_which_ends_early_stand_in_a_legend(
    name: str, end: float
) -> None:
    figure = two_curves(name, end)
    (axis,) = panels_of(figure)
    assert not axis.texts
    (legend,) = figure.subfigs[0].legends
    assert [text.get_text() for text in legend.texts] == [name, "other"]


@pytest.mark.parametrize(
    ("scale", "ends", "is_shared"),
    [
        ("linear", (100.0, 90.0), True),
        ("linear", (100.0, 50.0), False),
        ("log", (1000.0, 300.0), True),
        ("log", (1000.0, 50.0), False),
    ],
)
def test_panels_share_a_range_that_each_of_them_fills_on_the_scale_that_is_seen(
    scale: str, ends: tuple[float, float], is_shared: bool
) -> None:
    first = 1.0 if scale == "log" else 0.0
    rows = []
    for panel, end in zip(("a", "b"), ends, strict=True):
        rows += [(panel, first, 1.0), (panel, end, 2.0)]

    table = pd.DataFrame(rows, columns=["panel", "x", "y"])
    left, right = panels_of(draw(curves(table, "x", "y", panel="panel", xscale=scale)))
    assert (left.get_xlim() == right.get_xlim()) == is_shared


def test_a_band_reaches_from_its_lower_to_its_upper_column_behind_its_curve() -> None:
    table = pd.DataFrame({"x": [0.0, 1.0], "y": [2.0, 3.0], "low": [1.0, 2.5], "high": [4.0, 3.5]})
    (axis,) = panels_of(draw(curves(table, "x", "y", band=("low", "high"))))
    (band,) = axis.collections
    corners = {tuple(corner) for path in band.get_paths() for corner in path.vertices.tolist()}
    assert {(0.0, 1.0), (1.0, 2.5), (0.0, 4.0), (1.0, 3.5)} <= corners
    assert band.get_alpha() < 0.5
    assert band.get_zorder() < axis.lines[0].get_zorder()


def test_bars_start_at_a_line_at_zero_and_touch_none_of_their_neighbours() -> None:
    table = pd.DataFrame({"who": ["a", "b"], "change": [-1.0, 2.0]})
    (axis,) = panels_of(draw(curves(table, "who", "change", xscale="category", mark="bars")))
    below, above = axis.patches
    assert below.get_x() + below.get_width() == pytest.approx(-1.0)
    assert above.get_x() == 0
    assert above.get_width() == 2
    assert 0.3 < above.get_height() < 1
    (zero,) = axis.lines
    assert list(zero.get_xdata()) == [0, 0]
