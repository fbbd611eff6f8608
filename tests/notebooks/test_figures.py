"""Figures are drawn from one table and published with its numbers."""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection

from ldpnb.notebook import encoding, figures
from ldpnb.notebook.annotations import heading
from ldpnb.notebook.controls import Choice, Slider
from ldpnb.notebook.encoding import Encoding, Layer
from ldpnb.notebook.environment import FIGURES_FOLDER, HEADLESS
from ldpnb.notebook.layers import layered
from ldpnb.notebook.live import live

ROWS = [(1.0, 0.5, "MLE", None), (2.0, 0.25, "MLE", None), (1.0, 0.52, "Norm-Sub", 0.01), (2.0, 0.24, "Norm-Sub", 0.01)]
TABLE = pd.DataFrame(ROWS, columns=["epsilon", "mse", "by", "error"])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_theory_is_a_line_and_simulation_has_bars() -> None:
    figure = figures.curves(TABLE, "epsilon", "mse", by="by", error="error")
    (axis,) = figure.axes
    assert [line.get_marker() for line in axis.lines if line.get_label() == "MLE"] == ["None"]
    (bars,) = axis.containers
    assert bars.get_label() == "Norm-Sub"
    assert bars.lines[0].get_linestyle() == "None"


def test_bands_and_panels_follow_the_table() -> None:
    table = TABLE.assign(low=TABLE["mse"] - 0.1, high=TABLE["mse"] + 0.1)
    figure = figures.curves(table, "epsilon", "mse", panel="by", band=("low", "high"))
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["MLE", "Norm-Sub"]
    assert all(any(isinstance(c, PolyCollection) for c in axis.collections) for axis in figure.axes)


def test_panels_fill_rows_of_three_or_two_and_without_a_label_have_their_own_axes() -> None:
    table = pd.concat([TABLE.assign(panel=i, mse=10**i * TABLE["mse"]) for i in range(6)])
    figure = figures.curves(table, "epsilon", "mse", panel="panel", ylabel="")
    assert figure.axes[0].get_gridspec().get_geometry() == (2, 3)
    assert len({axis.get_ylim() for axis in figure.axes}) == 6
    figure = figures.curves(table[table["panel"] < 4], "epsilon", "mse", panel="panel")
    assert figure.axes[0].get_gridspec().get_geometry() == (2, 2)
    assert len({axis.get_ylim() for axis in figure.axes}) == 1


def texts(figure: plt.Figure) -> list[str]:
    return [note.get_text() for axis in figure.axes for note in axis.texts]


def test_a_figure_says_its_finding_its_setting_and_its_marks_and_names_its_curves() -> None:
    marks = [figures.Mark(1.5, 0.4, "0.4"), figures.Mark(y=0.3, label="printed: 0.3", printed=True, panel="other")]
    far = TABLE.assign(mse=TABLE["mse"] * [1, 1, 2, 2])
    figure = figures.curves(far, "epsilon", "mse", by="by", title="Finding " * 20, setting="ε = 1", marks=marks)
    assert figure.get_suptitle().count("\n") == 2
    assert heading(figure) == (("Finding " * 20).strip(), "ε = 1")
    assert [artist.get_text() for artist in figure.artists] == [r"$\varepsilon$ = 1"]
    assert texts(figure) == ["0.4", "MLE", "Norm-Sub"]
    assert not figure.legends


def test_curves_are_named_at_their_ends_or_where_these_meet_in_a_legend() -> None:
    lines = pd.DataFrame([(x, s * x, f"ε = {s}") for s in (3, 1, 2) for x in (0.0, 0.5, 1.0)], columns=["x", "y", "by"])
    axis = figures.curves(lines, "x", "y", by="by").axes[0]
    assert [(note.get_text(), note.xy) for note in axis.texts] == [(rf"$\varepsilon$ = {s}", (1, s)) for s in (3, 1, 2)]
    figure = figures.curves(lines.assign(y=lines["y"] + 20 * lines["x"]), "x", "y", by="by")
    assert not texts(figure)
    assert [len(legend.texts) for legend in figure.legends] == [3]


@pytest.mark.parametrize("scale", ["linear", "category"])
def test_layers_lie_on_each_other_and_the_legend_colours_none_of_the_panels(scale: str) -> None:
    rows = [(e, "MLE", v if scale == "linear" else f"${v}", 0.1 * v, 0.01) for e in (1.0, 2.0) for v in range(30)]
    table = pd.DataFrame(rows, columns=["epsilon", "estimator", "value", "truth", "sd"])
    layers = (Layer(name="band", y="truth", mark="band", error="sd"), Layer(name="truth", y="truth"))
    drawn_as = Encoding(x="value", y="share", panel=("epsilon", "estimator"), layers=layers, xscale=scale)
    figure = layered(table, drawn_as, row="ε", title="t", setting="s")
    assert [axis.get_ylabel() for axis in figure.axes] == [r"$\varepsilon$ = 1", r"$\varepsilon$ = 2"]
    assert heading(figure)[1] == ("s" if scale == "linear" else "s; the 20 commonest values")
    assert all(len(axis.lines[-1].get_xdata()) == (30 if scale == "linear" else 20) for axis in figure.axes)
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.texts} == {"band", "truth"}


def test_whole_numbers_have_whole_ticks_and_a_family_shares_a_ramp() -> None:
    table = pd.DataFrame(
        {"records": [1, 2, 3] * 6, "y": range(18), "by": [f"{i} %" for i in range(6) for _ in range(3)]}
    )
    axis = figures.curves(table, "records", "y", by="by").axes[0]
    assert all(tick == round(tick) for tick in axis.get_xticks())
    lightness = [sum(figures.mpl.colors.to_rgb(line.get_color())) for line in axis.lines]
    assert lightness == sorted(lightness)
    assert len(set(lightness)) == 6


def test_published_files_repeat_to_the_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    for name in ("one", "two"):
        monkeypatch.setenv(FIGURES_FOLDER, str(tmp_path / name))
        figures.publish(figures.curves(TABLE, "epsilon", "mse", by="by"), TABLE, "nb/fig", caption="Errors.")
        written.append({p.name: p.read_bytes() for p in (tmp_path / name / "nb").iterdir()})
    assert set(written[0]) == {"fig.png", "fig.pdf", "fig.csv", "fig.json"}
    assert written[0] == written[1]
    record = json.loads(written[0]["fig.json"])
    assert record["columns"] == ["epsilon", "mse", "by", "error"]
    assert record["encoding"] == {"x": "epsilon", "y": "mse", "by": "by"}


def test_a_published_table_holds_what_was_drawn_and_perhaps_further_series(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(FIGURES_FOLDER, str(tmp_path))
    some = TABLE[TABLE["by"] == "MLE"]
    figures.publish(figures.curves(some, "epsilon", "mse", by="by"), TABLE, "fig", caption="Errors.")
    kept = encoding.Encoding.read(json.loads((tmp_path / "fig.json").read_text())["encoding"])
    assert kept.rows(TABLE).equals(some)
    for other in (TABLE.iloc[:3], TABLE.drop(columns="mse"), TABLE.assign(mse=1.0)):
        with pytest.raises(ValueError, match="fig: needs the table that its figure was drawn from"):
            figures.publish(figures.curves(TABLE, "epsilon", "mse", by="by"), other, "fig", caption="Errors.")


def test_a_figure_without_caption_or_numbers_is_refused() -> None:
    figure = figures.curves(TABLE, "epsilon", "mse")
    for table, caption in ((TABLE, " "), (TABLE.iloc[:0], "Errors.")):
        with pytest.raises(ValueError, match="nb/fig: needs a caption and a table with rows"):
            figures.publish(figure, table, "nb/fig", caption=caption)


def test_a_live_section_without_a_reader_draws_once_and_shows_its_number(monkeypatch) -> None:
    monkeypatch.setenv(HEADLESS, "1")
    seen, shown = [], []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))

    def redraw(epsilon, kind):
        seen.append((epsilon, kind))
        return plt.figure(), f"epsilon is {epsilon}"

    live(redraw, epsilon=Slider(1.0, 0.1, 5.0, "nats"), kind=Choice("a", ["a", "b"]))
    assert shown == [{"text/plain": "epsilon is 1.0"}]
    assert seen == [(1.0, "a")]
    assert not plt.get_fignums()


@pytest.mark.parametrize("control", [Slider(9.0, 0.1, 5.0), Choice("c", ["a", "b"])])
def test_a_control_must_start_inside_its_range(control) -> None:
    with pytest.raises(ValueError, match="epsilon must start inside its range"):
        live(lambda epsilon: None, epsilon=control)
