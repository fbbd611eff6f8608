"""What `ldpnb export` writes for a paper: drawings of its width and type, LaTeX, and what to
cite.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from ldpnb import claims
from ldpnb.checks import UsageError
from ldpnb.notebook.figures import png
from ldpnb.run import export
from ldpnb.run.catalogue import home
from ldpnb.run.sameness import same


def page(content: bytes) -> tuple[float, ...]:
    """Width and height of a PDF, inches."""
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", content)
    return tuple(float(points) / 72 for points in box.groups())


def test_a_figure_has_the_width_and_the_type_of_the_paper() -> None:
    files = export.contents("central_budget", "86mm", "times", "pdf")
    assert page(files["central_budget.pdf"])[0] == pytest.approx(86 / 25.4, abs=0.01)
    assert b"STIXGeneral" in files["central_budget.pdf"]
    assert b"DejaVu" not in files["central_budget.pdf"]

    text = files["central_budget.tex"].decode()
    assert r"\includegraphics[width=3.386in]{central_budget}" in text
    assert text.startswith(
        "% 1_biswas2022/05_shuffling_or_gaussian/central_budget of ldpnb 0.1.0\n"
    )
    assert r"~\cite{biswas2022,ldpnb}}" in text

    cited = files["ldpnb.bib"].decode()
    assert re.findall(r"@\w+\{(\w+),", cited) == [*list(claims.sources())[:5], "ldpnb"]
    assert "  version = {0.1.0}" in cited

    pdf = export.contents("central_budget", "3.4in", "computer-modern", "pdf")["central_budget.pdf"]
    assert page(pdf)[0] == pytest.approx(3.4, abs=0.01)
    assert b"Cmr10" in pdf


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

    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(
    not (shutil.which("pandoc") and shutil.which("pdflatex")), reason="no pandoc, or no pdflatex"
)
@pytest.mark.parametrize(
    "sheet", sorted(home().glob("figures/*/errata.md")), ids=lambda sheet: sheet.parent.name
)
def test_an_erratum_sheet_is_set_within_its_columns(sheet: Path, tmp_path: Path) -> None:
    paper = ["pandoc", "-s", "-d", home() / "ldpnb/run/errata", "-o", tmp_path / "sheet.tex", sheet]
    assert subprocess.run(paper, check=False).returncode == 0

    command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "sheet"]
    log = subprocess.run(
        command, cwd=tmp_path, capture_output=True, encoding="latin-1", check=False
    ).stdout

    assert "[1" in log
    assert "Overfull" not in log


def test_without_tex_pgf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(UsageError, match="format pgf takes pdflatex, which is not installed"):
        export.contents("central_budget", "3.4in", "times", "pgf")


@pytest.mark.parametrize("width", ["9 miles", "1mm", "99in"])
def test_a_width_that_cannot_be_is_refused(width: str) -> None:
    with pytest.raises(
        UsageError, match=f"width must be a length of 1.5 to 30 in, .*, got width='{width}'"
    ):
        export.contents("central_budget", width, "times", "pdf")


def test_a_table_is_escaped_and_has_its_caption_and_label(tmp_path: Path) -> None:
    pd.DataFrame({"claim": ["about ε ≥ 1 & x², of $n_0$"], "value": [0.125]}).to_csv(
        tmp_path / "made.csv", index=False
    )
    text = export.table(tmp_path / "made.csv", r"A table.~\cite{ldpnb}", "made")

    assert "\\caption{A table.~\\cite{ldpnb}}\n\\label{tab:made}" in text
    assert r"about $\varepsilon$ $\ge$ 1 \& x$^{2}$, of $n_0$ & 0.125 \\" in text
