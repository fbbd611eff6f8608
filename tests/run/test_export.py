"""`ldpnb export` writes a figure or a table for a paper.

A figure has the paper's width and typeface, and comes with LaTeX and with what to cite.
"""

import re
import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from packaging.version import Version

import ldpnb
from ldpnb import claims
from ldpnb.checks import UsageError
from ldpnb.notebook.figures import png
from ldpnb.run import export
from ldpnb.run.catalogue import home
from ldpnb.run.sameness import same


def width(pdf: bytes) -> float:
    """The width of a PDF, in inches."""
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf)
    return float(box[1]) / 72


def test_a_figure_has_the_width_and_the_type_of_the_paper() -> None:
    pdf = export.contents("central_budget", "86mm", "times", "pdf")["central_budget.pdf"]
    assert width(pdf) == pytest.approx(86 / 25.4, abs=0.01)
    assert b"STIXGeneral" in pdf
    assert b"DejaVu" not in pdf

    pdf = export.contents("central_budget", "3.4in", "computer-modern", "pdf")["central_budget.pdf"]
    assert width(pdf) == pytest.approx(3.4, abs=0.01)
    assert b"Cmr10" in pdf


def test_a_figure_comes_with_latex_and_with_what_to_cite() -> None:
    files = export.contents("central_budget", "86mm", "times", "pdf")

    latex = files["central_budget.tex"].decode()
    name = "1_biswas2022/05_shuffling_or_gaussian/central_budget"
    assert latex.startswith(f"% {name} of ldpnb {ldpnb.__version__}\n")
    assert r"\includegraphics[width=3.386in]{central_budget}" in latex
    assert r"~\cite{biswas2022,ldpnb}}" in latex

    cited = files["ldpnb.bib"].decode()
    sources = claims.sources().keys() - {"companion"}
    assert set(re.findall(r"@\w+\{(\w+),", cited)) == sources | {"ldpnb"}
    assert f"  version = {{{ldpnb.__version__}}}" in cited


@pytest.mark.skipif(
    Version(mpl.__version__) < Version("3.11"), reason="before 3.11 matplotlib drew other letters"
)
@pytest.mark.parametrize(
    "name", ["1_biswas2022/01_sampling_bias/figure_1", "2_bun2022/05_neyman_sensitivity/allocation"]
)
def test_a_figure_is_drawn_from_its_numbers_alone(name: str) -> None:
    picture = home() / "figures" / f"{name}.png"
    assert same(png(export.chart(picture)), picture.read_bytes())


@pytest.mark.skipif(
    not shutil.which("pdflatex"), reason="no pdflatex: apt-get install texlive-pictures"
)
def test_text_of_a_figure_is_tex_in_pgf(tmp_path: Path) -> None:
    for name, content in export.contents("discretised", "7in", "times", "pgf").items():
        (tmp_path / name).write_bytes(content)

    head = r"\documentclass{article}\usepackage{pgf}\providecommand{\mathdefault}[1]{#1}"
    (tmp_path / "paper.tex").write_text(
        head + r"\begin{document}\input{discretised.tex}\end{document}"
    )
    command = ["pdflatex", "-draftmode", "-interaction=batchmode", "-halt-on-error", "paper"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0


@pytest.mark.skipif(
    not (shutil.which("pandoc") and shutil.which("pdflatex")), reason="no pandoc, or no pdflatex"
)
@pytest.mark.parametrize(
    "sheet", sorted(home().glob("figures/*/errata.md")), ids=lambda sheet: sheet.parent.name
)
def test_an_erratum_sheet_is_set_within_its_columns(sheet: Path, tmp_path: Path) -> None:
    command = ["pandoc", "-s", "-d", home() / "ldpnb/run/errata"]
    command += ["-o", tmp_path / "sheet.tex", sheet]
    assert subprocess.run(command, check=False).returncode == 0

    command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "sheet"]
    ended = subprocess.run(
        command, cwd=tmp_path, capture_output=True, encoding="latin-1", check=False
    )
    has_a_first_page = "[1" in ended.stdout
    assert has_a_first_page
    assert "Overfull" not in ended.stdout


def test_without_tex_pgf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(UsageError, match="format pgf needs pdflatex, which is not installed"):
        export.contents("central_budget", "3.4in", "times", "pgf")


@pytest.mark.parametrize("width", ["9 miles", "1mm", "99in"])
def test_a_width_that_cannot_be_is_refused(width: str) -> None:
    rule = f"width must be a length of 1.5 to 30 in, .*, got width='{width}'"
    with pytest.raises(UsageError, match=rule):
        export.contents("central_budget", width, "times", "pdf")


def test_a_table_is_escaped_and_has_its_caption_and_label(tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    table = pd.DataFrame({"claim": ["about ε ≥ 1 & x², of $n_0$"], "value": [0.125]})
    table.to_csv(path, index=False)

    text = export.table(path, r"A table.~\cite{ldpnb}", "made")
    assert "\\caption{A table.~\\cite{ldpnb}}\n\\label{tab:made}" in text
    assert r"about $\varepsilon$ $\ge$ 1 \& x$^{2}$, of $n_0$ & 0.125 \\" in text


def test_a_figure_that_is_not_there_is_sought_where_figures_are() -> None:
    with pytest.raises(UsageError, match="no figure or table nosuch; the folder figures has all"):
        export.contents("nosuch", "3.4in", "times", "pdf")
