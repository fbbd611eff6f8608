"""``ldpnb export``: a figure or a table for a paper, with its caption and references."""

import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import click

from ldpnb import __version__, claims, writing
from ldpnb.checks import UsageError
from ldpnb.notebook.labels import GREEK, greek
from ldpnb.run.catalogue import home, require_uncommitted, unique

_PACKAGES = {"pdf": "graphicx}", "pgf": r"pgf} \providecommand{\mathdefault}[1]{#1}"}
_FONTS = {
    path.stem: path for path in sorted(Path(__file__).with_name("fonts").iterdir(), reverse=True)
}
"""matplotlib's settings for a typeface of words and mathematics.

DejaVu has the letters that the first typeface lacks.
"""

_SIGNS = {
    "≤": r"\le",
    "≥": r"\ge",
    "\u2212": "-",
    "±": r"\pm",
    "\u00d7": r"\times",
    "·": r"\cdot",
    "√": r"\surd",
}
_SIGNS |= {c: c for c in "<>|"} | {"∞": r"\infty"}
_RAISED = "([₀-₉]+)|[⁰¹²³⁴-⁹⁻]+"
_LEVEL = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "01234567890123456789-")


def inches(width: str) -> float:
    """Return a width such as ``3.4in`` or ``86mm`` in inches.

    A width that no figure can have is a `UsageError`.
    """
    length = re.fullmatch(r"(\d*\.?\d+)(in|mm)", width)
    value = float(length[1]) / {"in": 1.0, "mm": 25.4}[length[2]] if length else 0.0
    if not 1.5 <= value <= 30:
        raise UsageError(
            f"width must be a length of 1.5 to 30 in, such as 3.4in or 86mm, got width={width!r}"
        )
    return value


def chart(path: Path) -> Any:
    """Return the `Chart` of a published figure, to be drawn anew; `path` is one of its files."""
    import pandas as pd

    from ldpnb.notebook.charts import Chart

    made = json.loads(path.with_suffix(".json").read_bytes())
    rows = pd.read_csv(path.with_suffix(".csv"), keep_default_na=False, na_values=[""])
    return Chart.read(rows, made)


def contents(what: str, width: str, font: str, kind: str) -> dict[str, bytes]:
    """Return the files of an export by name; `what` may be shortened (`unique`)."""
    wide, folder = inches(width), home() / "figures"
    if kind == "pgf" and not shutil.which("pdflatex"):  # with which matplotlib measures text
        raise UsageError("format pgf takes pdflatex, which is not installed; pdf takes none")
    published = [
        p.relative_to(folder).with_suffix("").as_posix() for p in sorted(folder.rglob("*.csv"))
    ]
    name = unique(what, published, "figure or table")
    path, stem = folder / f"{name}.csv", re.sub(r"\W+", "-", name.split("/")[-1])
    made = json.loads(path.with_suffix(".json").read_bytes())
    source = re.sub(r"^\d+_", "", name.split("/")[0])
    caption = (
        escaped(made["caption"])
        + rf"~\cite{{{','.join([*claims.sources().keys() & {source}, 'ldpnb'])}}}"
    )
    files = {"ldpnb.bib": (home() / "paper.bib").read_bytes()}
    if "encoding" in made:
        files[f"{stem}.{kind}"] = _drawn(chart(path), wide, font, kind)
        picture = (
            rf"\input{{{stem}.pgf}}"
            if kind == "pgf"
            else rf"\includegraphics[width={wide:.4g}in]{{{stem}}}"
        )
        lines = [rf"% \usepackage{{{_PACKAGES[kind]}", r"\begin{figure}", r"\centering", picture]
        text = "\n".join(
            [*lines, rf"\caption{{{caption}}}", rf"\label{{fig:{stem}}}", r"\end{figure}", ""]
        )
    else:
        text = f"% \\usepackage{{booktabs}}\n{table(path, caption, stem)}"
    return files | {f"{stem}.tex": f"% {name} of ldpnb {__version__}\n{text}".encode()}


def _drawn(drawing: Any, width: float, font: str, kind: str) -> bytes:
    """Return a figure in that width and font."""
    import matplotlib.style as mpl_style
    from matplotlib.text import Text

    from ldpnb.notebook.figures import draw

    with mpl_style.context(_FONTS[font]):
        figure, content = draw(drawing, width), io.BytesIO()
        for text in (
            figure.findobj(Text) if kind == "pgf" else ()
        ):  # which becomes TeX; its mathematics is
            signs = [escaped(line.replace(r"\$", "\0")) for line in text.get_text().split("\n")]
            text.set_text("\n".join(signs).replace("\0", r"\textdollar{}"))
        figure.savefig(content, format=kind)
    return content.getvalue()


def escaped(text: object) -> str:
    r"""Return text for LaTeX, with symbols as mathematics; TeX between dollars stays.

    >>> escaped("50 % of ε_0"), escaped("π <= 10⁻⁶"), escaped("5 % of $x_0$")
    ('50 \\% of $\\varepsilon$\\_0', '$\\pi$ $\\le$ 10$^{-6}$', '5 \\% of $x_0$')
    """
    from nbconvert.filters import escape_latex

    parts = re.split(r"(\$[^$]+\$)", " ".join(str(text).split()))
    for i, plain in enumerate(parts[::2]):
        plain = escape_latex(plain.replace(">=", "≥").replace("<=", "≤"))
        plain = re.sub(f"[{''.join(_SIGNS)}]", lambda sign: f"${_SIGNS[sign[0]]}$", plain)
        plain = re.sub(GREEK, lambda letter: greek(letter[0]), plain)
        parts[2 * i] = re.sub(
            _RAISED, lambda run: f"${'_' if run[1] else '^'}{{{run[0].translate(_LEVEL)}}}$", plain
        )
    return "".join(parts)


def table(path: Path, caption: str, label: str) -> str:
    """Return a published table as `pandas.DataFrame.to_latex` writes it; the caption is TeX."""
    import pandas as pd

    rows = pd.read_csv(path, keep_default_na=False).rename(columns=escaped)
    formatters = [lambda v: f"{v:.6g}" if isinstance(v, float) else escaped(v)] * rows.shape[1]
    return rows.to_latex(index=False, formatters=formatters, caption=caption, label=f"tab:{label}")


@click.command(short_help="Write a figure or a table for a paper.")
@click.argument("what")
@click.option(
    "--width", default="3.4in", show_default=True, help="Width of a figure, such as 7in or 86mm."
)
@click.option(
    "--font",
    type=click.Choice(list(_FONTS)),
    default="times",
    show_default=True,
    help="Typeface of a figure.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(list(_PACKAGES)),
    default="pdf",
    show_default=True,
    help="Format of a figure.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the files.  [default: build/export]",
)
def export(what: str, width: str, font: str, kind: str, output: Path | None) -> None:
    """Write a figure or a table for a paper, with its LaTeX, its caption and its reference.

    WHAT is the name of a figure or a table, or a unique beginning of it. The part before a slash
    may be left out: 03_cluster_lower_bounds/losses, or central_budget. A figure is drawn again from
    its numbers, with the width and the typeface that you choose.
    """
    folder = output or home() / "build/export"
    require_uncommitted(folder)
    for name, content in contents(what, width, font, kind).items():
        writing.write(folder / name, content)
        click.echo(folder / name)
