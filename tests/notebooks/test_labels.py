"""Labels from data in figures: shown as they are, never as mathematics."""

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from ldpnb.notebook import curves
from ldpnb.notebook.figures import draw
from ldpnb.notebook.labels import unset

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


def drawn(label: str) -> tuple[float, float]:
    """Return the width in pixels of a label as matplotlib draws it, and of the same signs
    without any mathematics.
    """
    figure = Figure()
    canvas = FigureCanvasAgg(figure)
    texts = [figure.text(0, 0, unset(label)), figure.text(0, 0, label, parse_math=False)]
    widths = [text.get_window_extent(canvas.get_renderer()).width for text in texts]

    return widths[0], widths[1]


@pytest.mark.parametrize("label", LABELS)
def test_a_figure_shows_every_sign_of_a_label(label: str) -> None:
    escaped, plain = drawn(label)
    assert escaped == pytest.approx(plain, abs=0.2 + 0.05 * plain)  # hinting differs a little


def test_names_on_axes_of_curves_and_panels_and_the_words_above_them_are_no_mathematics() -> None:
    table = pd.DataFrame({"name": LABELS, "users": range(len(LABELS))})
    rows = [
        (e, e * i, LABELS[i], p) for i in range(len(LABELS)) for e in (1, 2) for p in LABELS[:2]
    ]
    long = pd.DataFrame(rows, columns=["$e^", "l_$", "by", "panel"])

    for chart in (
        curves(
            table, "name", "users", xscale="category", title="From $0-$9,999", setting="of $x^$"
        ),
        curves(
            long, "$e^", "l_$", by="by", panel="panel", title="From $0-$9,999", setting="of $x^$"
        ),
    ):
        figure = draw(chart)
        figure.canvas.draw()
        shown = {text.get_text() for text in figure.findobj(Text)}

        assert {unset(label) for label in [*LABELS, *chart.labels]} <= shown
        assert (figure.get_suptitle(), figure.subfigs[0].get_suptitle()) == (
            r"From \$0-\$9,999",
            r"of \$x^\$",
        )
