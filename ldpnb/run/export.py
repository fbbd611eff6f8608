"""``ldpnb export``: a figure or a table for a paper, with its caption and references."""

import io
import json
import re
import shutil
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ldpnb import __version__, claims, writing
from ldpnb.checks import UsageError
from ldpnb.notebook.labels import GREEK, greek
from ldpnb.run.catalogue import home, require_uncommitted, unique

if TYPE_CHECKING:
    import pandas as pd

_PACKAGES = {"pdf": "graphicx}", "pgf": r"pgf} \providecommand{\mathdefault}[1]{#1}"}
_INCHES = {"in": 1.0, "mm": 1 / 25.4, "cm": 1 / 2.54, "pt": 1 / 72.27}
_FONTS = {path.stem: path for path in sorted(Path(__file__).with_name("fonts").iterdir(), reverse=True)}
"""matplotlib's settings for a typeface of words and mathematics; DejaVu has what the first lacks."""

_TEX = {c: "\\" + c for c in "&%$#_{}"} | {c: f"${c}$" for c in "<>|"}
_TEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
_TEX |= {"≤": r"$\le$", "≥": r"$\ge$", "\u2212": "$-$", "±": r"$\pm$", "\u00d7": r"$\times$", "·": r"$\cdot$"}
_TEX |= {"√": r"$\surd$", "∞": r"$\infty$"}
_RAISED = "([₀-₉]+)|[⁰¹²³⁴-⁹⁻]+"
_LONG = 24
"""Length in characters beyond which a column of texts is wrapped."""
_ROWS = 40
"""Rows that fit a page; a longer table breaks across pages."""


def inches(width: str) -> float:
    """Return a width in inches; `UsageError` if it is none that a figure can have.

    >>> inches("column"), inches("8.6cm") == inches("86 mm"), inches("3.4")
    (3.4, True, 3.4)
    """
    length = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(in|mm|cm|pt)?", {"column": "3.4", "page": "7"}.get(width, width))
    value = float(length[1]) * _INCHES[length[2] or "in"] if length else 0.0
    if not 1.5 <= value <= 30:
        rule = "column, page, or a length of 1.5 to 30 in (3.4in, 86mm, 245pt)"
        raise UsageError(f"width must be {rule}, got width={width!r}")
    return value


def contents(what: str, width: str, font: str, kind: str) -> dict[str, bytes]:
    """Return the files of an export by name; `what` may be shortened (`unique`)."""
    import pandas as pd

    wide, folder = inches(width), home() / "figures"
    if kind == "pgf" and not shutil.which("pdflatex"):  # with which matplotlib measures text
        raise UsageError("format pgf takes pdflatex, which is not installed; pdf takes none")
    published = [p.relative_to(folder).with_suffix("").as_posix() for p in sorted(folder.rglob("*.csv"))]
    name = unique(what, published, "figure or table")
    path, stem = folder / f"{name}.csv", re.sub(r"\W+", "-", name.split("/")[-1])
    made = json.loads(path.with_suffix(".json").read_bytes())
    source = re.sub(r"^\d+_", "", name.split("/")[0])
    caption = escaped(made["caption"]) + rf"~\cite{{{','.join([*claims.SOURCES.keys() & {source}, 'ldpnb'])}}}"
    files = {"ldpnb.bib": (home() / "paper.bib").read_bytes()}
    if "encoding" in made:
        rows = pd.read_csv(path, keep_default_na=False, na_values=[""])
        files[f"{stem}.{kind}"] = _drawn(rows, made, wide, font, kind)
        picture = rf"\input{{{stem}.pgf}}" if kind == "pgf" else rf"\includegraphics[width={wide:.4g}in]{{{stem}}}"
        lines = [rf"% \usepackage{{{_PACKAGES[kind]}", r"\begin{figure}", r"\centering", picture]
        lines += [rf"\caption{{{caption}}}", rf"\label{{fig:{stem}}}", r"\end{figure}", ""]
    else:
        rows = pd.read_csv(path, keep_default_na=False)
        lines = [r"% \usepackage{booktabs,array,longtable}", table(rows, caption, stem)]
    return files | {f"{stem}.tex": "\n".join([f"% {name} of ldpnb {__version__}", *lines]).encode()}


def _drawn(rows: "pd.DataFrame", made: dict[str, Any], width: float, font: str, kind: str) -> bytes:
    """Return a figure in that width and font, drawn anew from its numbers."""
    import matplotlib.style as mpl_style
    from matplotlib.text import Text

    from ldpnb.notebook.charts import Chart
    from ldpnb.notebook.figures import draw, pdf

    chart = Chart.read(rows, made)
    with mpl_style.context(_FONTS[font]):
        if kind == "pdf":
            return pdf(chart, width)
        figure, content = draw(chart, width), io.BytesIO()
        for text in figure.findobj(Text):  # which becomes TeX; its mathematics is
            signs = [escaped(line.replace(r"\$", "\0")) for line in text.get_text().split("\n")]
            text.set_text("\n".join(signs).replace("\0", r"\textdollar{}"))
        figure.savefig(content, format="pgf")
    return content.getvalue()


def escaped(text: object) -> str:
    r"""Return text for LaTeX, with symbols as mathematics; TeX between dollars stays.

    >>> escaped("50 % of ε_0"), escaped("π <= 10⁻⁶"), escaped("5 % of $x_0$")
    ('50 \\% of $\\varepsilon$\\_0', '$\\pi$ $\\le$ 10$^{-6}$', '5 \\% of $x_0$')
    """
    parts = re.split(r"(\$[^$]+\$)", " ".join(str(text).split()))
    for i, plain in enumerate(parts[::2]):
        plain = "".join(_TEX.get(c, c) for c in plain.replace(">=", "≥").replace("<=", "≤"))
        plain = re.sub(GREEK, lambda letter: greek(letter[0]), plain)
        parts[2 * i] = re.sub(_RAISED, lambda run: f"${'_' if run[1] else '^'}{{{_flat(run[0])}}}$", plain)
    return "".join(parts)


def _flat(digits: str) -> str:
    return unicodedata.normalize("NFKC", digits).replace("\u2212", "-")


def table(content: "pd.DataFrame", caption: str, label: str) -> str:
    """Return a floating table by `pandas.DataFrame.to_latex`, or one that breaks if it is longer than a page.

    It needs the packages booktabs, array and longtable; the caption is TeX.
    """
    wrapped = rf">{{\raggedright\arraybackslash}}p{{{0.9 / content.shape[1]:.3g}\linewidth}}"
    kinds = [
        "r" if column.dtype.kind in "biuf" else wrapped if max(map(len, map(str, column))) > _LONG else "l"
        for _, column in content.items()
    ]
    return content.rename(columns=escaped).to_latex(
        index=False,
        formatters=[lambda v: f"{v:.6g}" if isinstance(v, float) else escaped(v)] * len(kinds),
        na_rep="",
        column_format=f"@{{}}{''.join(kinds)}@{{}}",
        longtable=len(content) > _ROWS,
        caption=caption,
        label=f"tab:{label}",
    )


@click.command(short_help="Write a figure or a table for a paper.")
@click.argument("what")
@click.option("--width", default="column", show_default=True, help="column, page, or a length such as 3.4in or 86mm.")
@click.option("--font", type=click.Choice(list(_FONTS)), default="times", show_default=True, help="Of a figure.")
@click.option(
    "--format", "kind", type=click.Choice(list(_PACKAGES)), default="pdf", help="Of a figure.  [default: pdf]"
)
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="[default: build/export]")
def export(what: str, width: str, font: str, kind: str, output: Path | None) -> None:
    """Write WHAT, a figure or a table, for a paper: the drawing, its LaTeX with caption, and what to cite.

    A name may be shortened to a unique beginning of it or of its part after a slash: 03_cluster_lower_bounds/losses,
    central_budget. A figure is drawn anew from its numbers, at that width and in that font.
    """
    folder = output or home() / "build/export"
    require_uncommitted(folder)
    for name, content in contents(what, width, font, kind).items():
        writing.write(folder / name, content)
        click.echo(folder / name)
