"""What `ldpnb export` writes for a paper: drawings of its width and type, LaTeX, and what to cite."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from ldpnb import claims
from ldpnb.checks import UsageError
from ldpnb.notebook import environment, figures, latex
from ldpnb.run import export

TABLE = pd.DataFrame({"epsilon": [0.5, 1.0, 2.0], "loss": [0.1, 0.2, 0.4]})


def page(content: bytes) -> tuple[float, ...]:
    """Width and height of a PDF, inches."""
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", content)
    return tuple(float(points) / 72 for points in box.groups())


def published(folder: Path, monkeypatch: pytest.MonkeyPatch, width: str = "", font: str = "") -> Path:
    monkeypatch.setenv(environment.FIGURES_FOLDER, str(folder))
    monkeypatch.setenv(environment.WIDTH, width)
    monkeypatch.setenv(environment.FONT, font)
    figure = figures.curves(TABLE, "epsilon", "loss", title="A finding with many words " * 3, setting="n = 3")
    figures.publish(figure, TABLE, "line", caption="A line.")
    return folder / "line.pdf"


def test_a_figure_has_the_width_and_the_type_of_the_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdf = published(tmp_path, monkeypatch, "86mm", "times").read_bytes()
    assert page(pdf)[0] == pytest.approx(86 / 25.4, abs=0.01)
    assert b"STIXGeneral" in pdf
    assert b"DejaVu" not in pdf
    about = json.loads((tmp_path / "line.json").read_text())
    assert (about["title"], about["setting"]) == (("A finding with many words " * 3).strip(), "n = 3")
    pdf = published(tmp_path, monkeypatch, "column", "computer-modern").read_bytes()
    assert page(pdf)[0] == pytest.approx(3.4, abs=0.01)
    assert b"Cmr10" in pdf


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex: apt-get install texlive-pictures")
def test_text_of_a_figure_is_tex_in_pgf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(environment.FORMAT, "pgf")
    monkeypatch.setenv(environment.FIGURES_FOLDER, str(tmp_path))
    names = TABLE.assign(by=["50 % & $9"] * 3)
    figure = figures.curves(names, "epsilon", "loss", by="by", ylabel="loss_1 / √n, c-hat", title="ε = 1\n& more")
    figures.publish(figure, names, "line", caption="A line.")
    head = r"\documentclass{article}\usepackage{pgf}\providecommand{\mathdefault}[1]{#1}"
    (tmp_path / "paper.tex").write_text(head + r"\begin{document}\input{line.pgf}\end{document}")
    command = ["pdflatex", "-draftmode", "-interaction=batchmode", "-halt-on-error", "paper"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_without_tex_pgf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(UsageError, match="format pgf takes pdflatex, which is not installed"):
        export.contents("central_budget", "column", "times", "pgf")


def test_a_width_or_font_that_cannot_be_is_refused() -> None:
    for width, font, message in (
        ("9 miles", "times", "width must be column, page, or a length .*, got width='9 miles'"),
        ("1mm", "times", "width must be .* of 1.5 to 30 in"),
        ("page", "Nosuch", "font must be sans, times, computer-modern or the name of an installed one, got font='No"),
    ):
        with pytest.raises(UsageError, match=message):
            export.contents("central_budget", width, font, "pdf")


def test_a_table_is_wrapped_and_a_long_one_breaks_across_pages() -> None:
    wide = pd.DataFrame({"claim": ["a long sentence about ε ≥ 1 that must be wrapped & escaped"], "value": [0.125]})
    text = latex.table(wide, "A table of 50 %.", "wide", r"~\cite{ldpnb}")
    assert "\\caption{A table of 50 \\%.~\\cite{ldpnb}}\n\\label{tab:wide}" in text
    assert r"p{0.45\linewidth}r@{}}" in text
    assert r"about $\varepsilon$ $\ge$ 1 that must be wrapped \& escaped & 0.125 \\" in text
    assert r"\begin{longtable}" in latex.table(pd.concat([wide] * 41), "Long.", "long")


def test_a_verdict_is_exported_with_its_evidence_and_what_to_cite() -> None:
    files = export.contents("bun2022/equation-3", "column", "times", "pdf")
    text, cited = files["equation-3.tex"].decode(), files["ldpnb.bib"].decode()
    assert r"\caption{Equation (3): reproduced~\cite{bun2022,ldpnb}}" in text
    assert "evidence & " in text
    assert re.findall(r"@\w+\{(\w+),", cited) == [*claims.SOURCES, "ldpnb"]
    assert "  version = {0.1.0}" in cited
    assert text.startswith("% bun2022/equation-3 of ldpnb 0.1.0\n")


def test_what_is_not_there_or_ambiguous_is_named() -> None:
    for what, message in (
        ("lossez", r"no figure, table or claim lossez \(did you mean losses"),
        ("moves", "moves is ambiguous: 2_bun2022/04_unequal_probabilities/moves, "),
    ):
        with pytest.raises(UsageError, match=message):
            export.contents(what, "column", "times", "pdf")
    assert export.named("central_budget") == "1_biswas2022/04_open_questions/central_budget"
    assert export.named("theorem-5.2") == "bun2022/theorem-5.2"


@pytest.mark.skipif(not os.environ.get("LDPNB_THOROUGH"), reason="starts the command line and a kernel")
def test_a_figure_is_drawn_anew_by_its_notebook(ldpnb, checkout: Path) -> None:
    own = checkout / "figures/1_demo/01_line"
    own.mkdir(parents=True)
    for suffix, content in {".csv": "x,y\n0,0\n", ".png": "", ".json": '{"caption": "A line."}\n'}.items():
        (own / f"figure_1{suffix}").write_text(content)
    done = ldpnb("export", "figure_1", "--width", "page", "-o", str(checkout / "build/paper"))
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (checkout / "build/paper").iterdir()) == ["figure_1.pdf", "figure_1.tex", "ldpnb.bib"]
    assert r"\includegraphics[width=7in]{figure_1}" in (checkout / "build/paper/figure_1.tex").read_text()
    assert b"STIXGeneral" in (checkout / "build/paper/figure_1.pdf").read_bytes()
