"""Labels from data in figures and in LaTeX: shown as they are, never as mathematics or commands."""

import shutil
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from ldpnb.notebook import figures, latex, ticks
from ldpnb.notebook.annotations import heading
from ldpnb.notebook.labels import unset

LABELS = ["$0-$9,999", "$x^$", "$$y$$", "$", "a_b_c", "50%", r"\input{x}", "a & b", "#1 ~ {^}", "[1pt]", "*", "|", "`"]
DOCUMENT = r"\documentclass{article}\usepackage{booktabs,array,longtable,graphicx}"


def typeset(folder: Path, body: str) -> bytes:
    """Return the PDF that pdflatex makes of a document's body, or fail as it does."""
    (folder / "paper.tex").write_text(rf"{DOCUMENT}\usepackage[T1]{{fontenc}}\begin{{document}}{body}\end{{document}}")
    command = ["pdflatex", "-interaction=batchmode", "-halt-on-error", "paper"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return (folder / "paper.pdf").read_bytes()


def drawn(label: str) -> tuple[float, float]:
    """Return the width in pixels of a label as matplotlib draws it, and of the same signs without any mathematics."""
    figure = plt.figure()
    canvas = FigureCanvasAgg(figure)
    texts = [figure.text(0, 0, unset(label)), figure.text(0, 0, label, parse_math=False)]
    widths = [text.get_window_extent(canvas.get_renderer()).width for text in texts]
    plt.close(figure)
    return widths[0], widths[1]


@pytest.mark.parametrize("label", LABELS)
def test_a_figure_shows_every_sign_of_a_label(label: str) -> None:
    escaped, plain = drawn(label)
    assert escaped == pytest.approx(plain, abs=0.2 + 0.05 * plain)  # hinting differs a little


def test_categories_on_an_axis_and_the_words_above_it_are_no_mathematics() -> None:
    figure, axis = plt.subplots()
    axis.plot(LABELS, range(len(LABELS)))
    ticks.numbers(figure)
    figures.head(figure, "From $0-$9,999", "of $x^$")
    figure.canvas.draw()
    assert [text.get_text() for text in axis.get_xticklabels()] == [unset(label) for label in LABELS]
    assert heading(figure) == ("From $0-$9,999", "of $x^$")
    plt.close(figure)


def test_the_names_of_curves_and_panels_are_the_table_s_own() -> None:
    rows = [(e, e * i, LABELS[i], p) for i in range(len(LABELS)) for e in (1, 2) for p in LABELS[:2]]
    table = pd.DataFrame(rows, columns=["$e^", "l_$", "by", "panel"])
    figure = figures.curves(table, "$e^", "l_$", by="by", panel="panel", title="t")
    texts = {text.get_text() for text in figure.findobj(Text)}
    assert {unset(label) for label in [*LABELS, "$e^", "l_$"]} <= texts
    figure.canvas.draw()
    plt.close(figure)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex: apt-get install texlive-latex-recommended")
def test_latex_takes_tables_with_any_label(tmp_path: Path) -> None:
    tables = [pd.DataFrame([dict(zip(LABELS, LABELS, strict=True))]), pd.DataFrame({"label": 10 * LABELS})]
    for table in tables:  # the second breaks across pages
        assert typeset(tmp_path, latex.table(table, "Of $x^$.", "t")).startswith(b"%PDF-")
