"""Labels that come from data are shown as they are, in figures and in sentences."""

import html
import re
from collections.abc import Callable
from itertools import product

import mistune
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from ldpnb.notebook import curves
from ldpnb.notebook.charts import Chart
from ldpnb.notebook.figures import draw
from ldpnb.notebook.labels import literal, unset

LABELS = [
    "$0-$9,999",
    "$x^$",
    "$$y$$",
    "$",
    "a_b_c",
    "50%",
    r"\input{x}",
    "a & b",
    "#1 ~ {^}",
    "[1pt]",
    "*",
    "|",
    "`",
]


@pytest.mark.parametrize("label", LABELS)
def test_a_figure_shows_every_sign_of_a_label(label: str) -> None:
    figure = Figure()
    renderer = FigureCanvasAgg(figure).get_renderer()

    shown = figure.text(0, 0, unset(label)).get_window_extent(renderer).width
    plain = figure.text(0, 0, label, parse_math=False).get_window_extent(renderer).width
    assert shown == pytest.approx(plain, abs=0.2 + 0.05 * plain)  # hinting differs a little


@pytest.mark.parametrize("label", [*LABELS, "2. b", "a`", "`a", "a`b``c", "_x_", "<b>", "a*b*"])
def test_a_sentence_shows_every_sign_of_a_label(label: str) -> None:
    shown = mistune.html(f"{literal(label)} costs **{literal(label)}**.")
    assert html.unescape(re.sub("<[^>]*>", "", shown)).strip() == f"{label} costs {label}."


WORDS = {"title": "From $0-$9,999", "setting": "of $x^$"}


def named_values() -> Chart:
    """A chart in which every label names a value on an axis."""
    table = pd.DataFrame({"name": LABELS, "users": range(len(LABELS))})
    return curves(table, "name", "users", xscale="category", **WORDS)


def named_curves_and_panels() -> Chart:
    """A chart in which labels name curves, panels and axes."""
    rows = []
    for place, label in enumerate(LABELS):
        for x, panel in product((1, 2), LABELS[:2]):
            rows.append((x, x * place, label, panel))

    table = pd.DataFrame(rows, columns=["$e^", "l_$", "by", "panel"])
    return curves(table, "$e^", "l_$", by="by", panel="panel", **WORDS)


@pytest.mark.parametrize("make", [named_values, named_curves_and_panels])
def test_names_on_axes_of_curves_and_panels_and_the_words_above_them_are_no_mathematics(
    make: Callable[[], Chart],
) -> None:
    chart = make()
    figure = draw(chart)
    figure.canvas.draw()

    shown = {text.get_text() for text in figure.findobj(Text)}
    assert {unset(label) for label in [*LABELS, *chart.labels]} <= shown
    assert figure.get_suptitle() == r"From \$0-\$9,999"
    assert figure.subfigs[0].get_suptitle() == r"of \$x^\$"
