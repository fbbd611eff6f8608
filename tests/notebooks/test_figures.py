"""A figure is drawn from one table, as its columns say, and is published with its numbers."""

import json
from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from ldpnb.notebook import publishing
from ldpnb.notebook.charts import Chart, Layer, Mark, finding
from ldpnb.notebook.controls import Choice, Slider
from ldpnb.notebook.environment import FIGURES_FOLDER, HEADLESS
from ldpnb.notebook.figures import curves, draw
from ldpnb.notebook.live import live

ROWS = [
    (1.0, 0.5, "MLE", None),
    (2.0, 0.25, "MLE", None),
    (1.0, 0.52, "Norm-Sub", 0.01),
    (2.0, 0.24, "Norm-Sub", 0.01),
]
TABLE = pd.DataFrame(ROWS, columns=["epsilon", "mse", "by", "error"])


def panels(chart: Chart) -> list[Axes]:
    """The axes of a chart as it is drawn."""
    (inner,) = draw(chart).subfigs
    return inner.axes


def left_title(axis: Axes) -> str:
    return axis.get_title(loc="left")


def test_theory_is_a_line_and_simulation_has_bars() -> None:
    (axis,) = panels(curves(TABLE, "epsilon", "mse", by="by", error="error"))

    lines = {line.get_label(): line for line in axis.lines}
    assert lines["MLE"].get_marker() == "None"
    assert lines["Norm-Sub"].get_linestyle() == "None"

    (bars,) = [drawn for drawn in axis.collections if isinstance(drawn, LineCollection)]
    heights = [path.vertices[:, 1].tolist() for path in bars.get_paths()]
    assert heights == [[0.5, 0.54], [0.22, 0.26]]


def test_bands_and_panels_follow_the_table() -> None:
    table = TABLE.assign(low=TABLE["mse"] - 0.1, high=TABLE["mse"] + 0.1)
    axes = panels(curves(table, "epsilon", "mse", panel="by", band=("low", "high")))

    assert [left_title(axis) for axis in axes] == ["MLE", "Norm-Sub"]
    for axis in axes:
        assert any(isinstance(drawn, PolyCollection) for drawn in axis.collections)


def test_panels_fill_rows_of_three_or_two_and_without_a_label_have_their_own_axes() -> None:
    table = pd.concat(
        [TABLE.assign(panel=f"panel {i}", mse=10**i * TABLE["mse"]) for i in range(6)]
    )

    axes = panels(curves(table, "epsilon", "mse", panel="panel", ylabel=""))
    assert axes[0].get_gridspec().get_geometry() == (2, 3)
    assert len({axis.get_ylim() for axis in axes}) == 6

    axes = panels(curves(table[table["panel"] < "panel 4"], "epsilon", "mse", panel="panel"))
    assert axes[0].get_gridspec().get_geometry() == (2, 2)
    assert len({axis.get_ylim() for axis in axes}) == 1


def test_a_panel_alone_keeps_its_title_and_its_marks() -> None:
    mark = Mark(1.5, 0.4, "0.4", panel="MLE")
    table = TABLE[TABLE["by"] == "MLE"]
    (axis,) = panels(curves(table, "epsilon", "mse", panel="by", marks=[mark]))

    assert left_title(axis) == "MLE"
    assert [note.get_text() for note in axis.texts] == ["0.4"]


def texts(chart: Chart) -> list[str]:
    found = []
    for axis in panels(chart):
        found += [note.get_text() for note in axis.texts]

    return found


def test_a_figure_says_its_finding_its_setting_and_its_marks_and_names_its_curves() -> None:
    marks = [Mark(1.5, 0.4, "0.4"), Mark(y=0.3, label="printed: 0.3", printed=True, panel="other")]
    far = TABLE.assign(mse=TABLE["mse"] * [1, 1, 2, 2])
    chart = curves(far, "epsilon", "mse", by="by", title="Finding", setting="ε = 1", marks=marks)
    figure = draw(chart)

    assert figure.get_suptitle() == "Finding"
    assert figure.subfigs[0].get_suptitle() == "$\\varepsilon$\u00a0=\u00a01"
    assert texts(chart) == ["0.4", "MLE", "Norm-Sub"]
    assert not figure.subfigs[0].legends


def test_curves_are_named_at_their_ends_or_where_these_meet_in_a_legend() -> None:
    lines = pd.DataFrame(
        [(x, slope * x, f"ε = {slope}") for slope, x in product((3, 1, 2), (0.0, 0.5, 1.0))],
        columns=["x", "y", "by"],
    )
    (axis,) = panels(curves(lines, "x", "y", by="by"))
    names = {note.get_text(): note.xy for note in axis.texts}
    assert names == {
        r"$\varepsilon$ = 3": (1, 3),
        r"$\varepsilon$ = 1": (1, 1),
        r"$\varepsilon$ = 2": (1, 2),
    }

    close_at_their_ends = lines.assign(y=lines["y"] + 20 * lines["x"])
    chart = curves(close_at_their_ends, "x", "y", by="by")
    (legend,) = draw(chart).subfigs[0].legends
    assert len(legend.texts) == 3
    assert not texts(chart)


def lines_of_two_panels(right_end: float) -> Chart:
    """Two curves in two panels. The curve "one" ends at 1 on the left and there on the right."""
    rows = [
        ("left", "one", 0.0, 0.0),
        ("left", "one", 1.0, 1.0),
        ("left", "other", 0.0, 2.0),
        ("left", "other", 1.0, 2.0),
        ("right", "one", 0.0, 0.0),
        ("right", "one", 1.0, right_end),
        ("right", "other", 0.0, 2.0),
        ("right", "other", 1.0, 2.0),
    ]
    table = pd.DataFrame(rows, columns=["panel", "by", "x", "y"])
    return curves(table, "x", "y", by="by", panel="panel")


def test_names_beside_the_last_panel_are_true_for_all_or_stand_in_a_legend() -> None:
    in_one_order = lines_of_two_panels(right_end=1.0)
    assert texts(in_one_order) == ["one", "other"]

    in_another_order = lines_of_two_panels(right_end=3.0)
    assert not texts(in_another_order)
    assert len(draw(in_another_order).subfigs[0].legends) == 1


def test_panels_that_are_series_need_no_legend() -> None:
    chart = curves(TABLE, "epsilon", "mse", by="by", panel="by")
    assert not texts(chart)
    assert not draw(chart).subfigs[0].legends


def test_panels_share_a_horizontal_axis_unless_that_leaves_one_half_empty() -> None:
    table = TABLE.assign(panel=TABLE["by"])
    left, right = panels(curves(table, "epsilon", "mse", panel="panel"))
    assert left.get_xlim() == right.get_xlim()

    shorter = table.assign(epsilon=table["epsilon"].where(table["by"] == "MLE", 1.0))
    left, right = panels(curves(shorter, "epsilon", "mse", panel="panel"))
    assert left.get_xlim() != right.get_xlim()


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("", "67,351"),
        (":.3g", "67,400"),
        (":.0f", "67351"),
    ],
)
def test_a_number_in_a_title_has_no_exponent(form: str, written: str) -> None:
    table = pd.DataFrame({"x": [1.0], "y": [67_351.2], "by": ["a"]})
    assert finding(table, "x", "y", "by", f"{{a{form}}} times")["title"] == f"{written} times"


@pytest.mark.parametrize("scale", ["linear", "category"])
def test_layers_lie_on_each_other_and_names_are_below_each_other(scale: str) -> None:
    values = list(range(40)) if scale == "linear" else [f"${value}" for value in range(40)]
    table = pd.DataFrame(
        {
            "epsilon": np.repeat([1.0, 2.0], 40),
            "estimator": "MLE",
            "value": values * 2,
            "truth": np.tile(0.1 * np.arange(40), 2),
            "sd": 0.01,
        }
    )
    layers = (Layer(name="band", y="truth", error="sd"), Layer(name="truth", y="truth"))
    drawn_as = {"panel": ("epsilon", "estimator"), "layers": layers, "xscale": scale}
    chart = Chart(table, "value", "share", **drawn_as, title="t", setting="s")

    (inner,) = draw(chart).subfigs
    titles = [left_title(axis) for axis in inner.axes]
    assert titles == [r"$\varepsilon$ = 1, MLE", r"$\varepsilon$ = 2, MLE"]
    assert {text.get_text() for text in inner.legends[0].texts} == {"band", "truth"}

    if scale == "linear":
        shown = 40
        setting = "s"
    else:
        shown = 30
        setting = "s; the first 30 of 40 names"

    assert inner.get_suptitle() == setting
    for axis in inner.axes:
        assert len(axis.lines[-1].get_xdata()) == shown


def test_bars_have_names_and_their_numbers_beside_them() -> None:
    table = pd.DataFrame({"who": ["a", "b"], "change (users)": [-1234.5, 0.25]})
    chart = Chart(table, "who", "change (users)", xlabel="", xscale="category", mark="bars")
    assert texts(chart) == ["\N{MINUS SIGN}1,234", "0.25"]

    (axis,) = panels(chart)
    assert [text.get_text() for text in axis.get_yticklabels()] == ["a", "b"]
    assert axis.get_xlabel() == "change (users)"


def test_whole_numbers_have_whole_ticks_and_a_family_shares_a_ramp() -> None:
    table = pd.DataFrame(
        {
            "records": [1, 2, 3] * 6,
            "y": range(18),
            "by": np.repeat([f"{percent} %" for percent in range(6)], 3),
        }
    )
    (axis,) = panels(curves(table, "records", "y", by="by"))
    assert all(tick == round(tick) for tick in axis.get_xticks())

    lightness = [sum(mpl.colors.to_rgb(line.get_color())) for line in axis.lines]
    assert lightness == sorted(lightness)
    assert len(set(lightness)) == 6


def test_published_files_repeat_to_the_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def published(name: str) -> dict[str, bytes]:
        monkeypatch.setenv(FIGURES_FOLDER, str(tmp_path / name))
        figure = curves(TABLE, "epsilon", "mse", by="by")
        publishing.publish(figure, TABLE, "nb/fig", caption="Errors.")
        return {path.name: path.read_bytes() for path in (tmp_path / name / "nb").iterdir()}

    files = published("one")
    assert set(files) == {"fig.png", "fig.csv", "fig.json"}
    assert published("two") == files

    record = json.loads(files["fig.json"])
    assert record["columns"] == ["epsilon", "mse", "by", "error"]
    assert record["encoding"] == {"x": "epsilon", "y": "mse", "by": "by"}


def test_a_published_table_holds_what_was_drawn_and_perhaps_further_series(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv(FIGURES_FOLDER, str(tmp_path))
    some = TABLE[TABLE["by"] == "MLE"]
    publishing.publish(curves(some, "epsilon", "mse", by="by"), TABLE, "fig", caption="Errors.")
    kept = Chart.read(TABLE, json.loads((tmp_path / "fig.json").read_text()))
    assert kept.rows().equals(Chart(some, "epsilon", "mse", by="by").rows())

    figure = curves(TABLE, "epsilon", "mse", by="by")
    for other in (TABLE.iloc[:3], TABLE.assign(mse=1.0)):
        with pytest.raises(ValueError, match="fig: needs the table that its figure was drawn from"):
            publishing.publish(figure, other, "fig", caption="Errors.")


def test_a_place_that_pandas_found_is_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FIGURES_FOLDER, str(tmp_path))
    place = Mark(np.int64(1), np.float64(0.25), "the largest")
    figure = curves(TABLE, "epsilon", "mse", by="by", marks=[place])
    publishing.publish(figure, TABLE, "fig", caption="Errors.")

    record = json.loads((tmp_path / "fig.json").read_bytes())
    (mark,) = record["encoding"]["marks"]
    assert (mark["x"], mark["y"]) == (1, 0.25)


def test_a_figure_without_caption_or_numbers_is_refused() -> None:
    figure = curves(TABLE, "epsilon", "mse")
    for table, caption in ((TABLE, " "), (TABLE.iloc[:0], "Errors.")):
        with pytest.raises(ValueError, match="nb/fig: needs a caption and a table with rows"):
            publishing.publish(figure, table, "nb/fig", caption=caption)


@pytest.mark.parametrize("headless", ["1", ""], ids=["headless", "outside a notebook"])
def test_a_live_section_without_a_reader_draws_once_and_says_its_number(
    headless: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(HEADLESS, headless)
    seen = []

    def redraw(epsilon, kind):
        seen.append((epsilon, kind))
        return curves(TABLE, "epsilon", "mse"), f"epsilon is {epsilon}"

    live(redraw, epsilon=Slider(1.0, 0.1, 5.0, "nats"), kind=Choice("a", ["a", "b"]))
    assert capsys.readouterr().out == "epsilon is 1.0\n"
    assert seen == [(1.0, "a")]


@pytest.mark.parametrize(
    "control",
    [Slider(9.0, 0.1, 5.0), Choice("c", ["a", "b"])],
    ids=["slider", "choice"],
)
def test_a_control_must_start_inside_its_range(control) -> None:
    with pytest.raises(ValueError, match="epsilon must start inside its range"):
        live(lambda epsilon: None, epsilon=control)
