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

_PREAMBLES = {
    "pdf": r"\usepackage{graphicx}",
    "pgf": r"\usepackage{pgf} \providecommand{\mathdefault}[1]{#1}",
}
"""What the document that shows a figure of a format needs in its preamble."""

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
    "<": "<",
    ">": ">",
    "|": "|",
    "∞": r"\infty",
}
"""Signs that stand in mathematics, and their TeX."""

_SUBSCRIPT_OR_POWER = re.compile("([₀-₉]+)|[⁰¹²³⁴-⁹⁻]+")
_ON_THE_LINE = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "01234567890123456789-")


def inches(width: str) -> float:
    """Return a width such as ``3.4in`` or ``86mm`` in inches.

    Raises
    ------
    UsageError
        If it is not such a length, or no figure can be as narrow or wide.
    """
    length = re.fullmatch(r"(\d*\.?\d+)(in|mm)", width)
    value = 0.0
    if length:
        value = float(length[1])
        if length[2] == "mm":
            value /= 25.4

    if not 1.5 <= value <= 30:
        raise UsageError(
            f"width must be a length of 1.5 to 30 in, such as 3.4in or 86mm, got width={width!r}"
        )
    return value


def chart(path: Path) -> Any:
    """Return the `Chart` of a published figure, to be drawn anew; `path` is one of its files."""
    import pandas as pd

    from ldpnb.notebook.charts import Chart

    provenance = json.loads(path.with_suffix(".json").read_bytes())
    rows = pd.read_csv(path.with_suffix(".csv"), keep_default_na=False, na_values=[""])
    return Chart.read(rows, provenance)


def contents(what: str, width: str, font: str, kind: str) -> dict[str, bytes]:
    """Return the files of an export, by name.

    Parameters
    ----------
    what : str
        The name of a figure or table, or a beginning of it that no other has.
    width : str
        The width of a figure, such as ``3.4in`` or ``86mm``.
    font : str
        The typeface of a figure, such as ``times``.
    kind : {"pdf", "pgf"}
        The format of a figure.

    Raises
    ------
    UsageError
        If no figure or table has that name or several have, if the width is none, or if the format
        needs LaTeX and it is not installed.
    """
    width_in_inches = inches(width)
    if kind == "pgf" and not shutil.which("pdflatex"):  # with which matplotlib measures text
        raise UsageError("format pgf needs pdflatex, which is not installed; pdf does not need it")

    folder = home() / "figures"
    tables = sorted(folder.rglob("*.csv"))
    published = [path.relative_to(folder).with_suffix("").as_posix() for path in tables]
    name = unique(what, published, "figure or table", "the folder figures has all")
    path = folder / f"{name}.csv"
    label = re.sub(r"\W+", "-", path.stem)

    provenance = json.loads(path.with_suffix(".json").read_bytes())
    caption = escaped(provenance["caption"]) + rf"~\cite{{{_cited(name)}}}"
    files = {"ldpnb.bib": (home() / "paper.bib").read_bytes()}
    if "encoding" in provenance:
        files[f"{label}.{kind}"] = _drawn(chart(path), width_in_inches, font, kind)
        text = _figure(label, kind, width_in_inches, caption)
    else:
        text = f"% \\usepackage{{booktabs}}\n{table(path, caption, label)}"

    files[f"{label}.tex"] = f"% {name} of ldpnb {__version__}\n{text}".encode()
    return files


def _cited(name: str) -> str:
    """Return the keys of what a figure or table rests on: its source, if it has one, and ldpnb."""
    folder = name.split("/")[0]
    source = re.sub(r"^\d+_", "", folder)
    return f"{source},ldpnb" if source in claims.sources() else "ldpnb"


def _figure(label: str, kind: str, width: float, caption: str) -> str:
    """Return the LaTeX that shows a figure with its caption."""
    picture = rf"\input{{{label}.pgf}}"
    if kind == "pdf":
        picture = rf"\includegraphics[width={width:.4g}in]{{{label}}}"

    lines = [
        f"% {_PREAMBLES[kind]}",
        r"\begin{figure}",
        r"\centering",
        picture,
        rf"\caption{{{caption}}}",
        rf"\label{{fig:{label}}}",
        r"\end{figure}",
        "",
    ]
    return "\n".join(lines)


def _drawn(drawing: Any, width: float, font: str, kind: str) -> bytes:
    """Return the file of a figure, with a width in inches."""
    import matplotlib.style as mpl_style
    from matplotlib.text import Text

    from ldpnb.notebook.figures import draw

    content = io.BytesIO()
    with mpl_style.context(_FONTS[font]):
        figure = draw(drawing, width)
        if kind == "pgf":  # whose words are TeX; mathematics is TeX in any format
            for text in figure.findobj(Text):
                text.set_text(_as_tex(text.get_text()))
        figure.savefig(content, format=kind)
    return content.getvalue()


def _as_tex(label: str) -> str:
    r"""Return a label for LaTeX; a dollar that matplotlib was to print is written ``\$`` in it."""
    dollar = "\0"  # a character that no label has, and that `escaped` leaves as it is
    lines = [escaped(line.replace(r"\$", dollar)) for line in label.split("\n")]
    return "\n".join(lines).replace(dollar, r"\textdollar{}")


def escaped(text: object) -> str:
    r"""Return text for LaTeX, with symbols as mathematics; TeX between dollars stays.

    Examples
    --------
    >>> escaped("50 % of ε_0"), escaped("π <= 10⁻⁶"), escaped("5 % of $x_0$")
    ('50 \\% of $\\varepsilon$\\_0', '$\\pi$ $\\le$ 10$^{-6}$', '5 \\% of $x_0$')
    """
    # Every second part is mathematics.
    parts = re.split(r"(\$[^$]+\$)", " ".join(str(text).split()))
    parts[::2] = [_escaped_words(words) for words in parts[::2]]
    return "".join(parts)


def _escaped_words(words: str) -> str:
    """Return text without TeX for LaTeX."""
    from nbconvert.filters import escape_latex

    words = escape_latex(words.replace(">=", "≥").replace("<=", "≤"))
    words = re.sub(f"[{''.join(_SIGNS)}]", lambda sign: f"${_SIGNS[sign[0]]}$", words)
    words = re.sub(GREEK, lambda letter: greek(letter[0]), words)
    return _SUBSCRIPT_OR_POWER.sub(_subscript_or_power, words)


def _subscript_or_power(digits: re.Match[str]) -> str:
    """Return the TeX of digits such as ₁₂ or ⁻⁶."""
    mark = "_" if digits[1] else "^"
    return f"${mark}{{{digits[0].translate(_ON_THE_LINE)}}}$"


def table(path: Path, caption: str, label: str) -> str:
    """Return a published table as `pandas.DataFrame.to_latex` writes it; the caption is TeX."""
    import pandas as pd

    rows = pd.read_csv(path, keep_default_na=False).rename(columns=escaped)
    formatters = [_formatted] * rows.shape[1]
    return rows.to_latex(index=False, formatters=formatters, caption=caption, label=f"tab:{label}")


def _formatted(value: object) -> str:
    """Return a cell of a table for LaTeX."""
    return f"{value:.6g}" if isinstance(value, float) else escaped(value)


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
    type=click.Choice(list(_PREAMBLES)),
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
