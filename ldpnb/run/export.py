"""``ldpnb export``: a figure, a table or a verdict for a paper, with its caption and references."""

import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import click

from ldpnb import __version__, claims, writing
from ldpnb.checks import UsageError
from ldpnb.notebook.verdicts import READINGS
from ldpnb.run.catalogue import catalogue, home, require_uncommitted, unique

_NEEDS = {"pdf": "graphicx}", "pgf": r"pgf} \providecommand{\mathdefault}[1]{#1}"}
_INCHES = {"in": 1.0, "mm": 1 / 25.4, "cm": 1 / 2.54, "pt": 1 / 72.27}
_FONTS = {path.stem: path for path in sorted(Path(__file__).with_name("fonts").iterdir(), reverse=True)}
"""matplotlib's settings for a typeface of words and mathematics; DejaVu has what the first lacks."""


def named(what: str) -> str:
    """Return the name of the published figure or table, or the claim, that a user means."""
    folder = home() / "figures"
    published = [p.relative_to(folder).with_suffix("").as_posix() for p in sorted(folder.rglob("*.csv"))]
    return unique(what, [*published, *(c for n in catalogue() for c in n.claims)], "figure, table or claim")


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
    """Return the files of an export by name."""
    import pandas as pd

    from ldpnb.run import latex

    wide = inches(width)
    if kind == "pgf" and not shutil.which("pdflatex"):  # with which matplotlib measures text
        raise UsageError("format pgf takes pdflatex, which is not installed; pdf takes none")
    name = named(what)
    stem = re.sub(r"\W+", "-", name.split("/")[-1])
    source = re.sub(r"^\d+_", "", name.split("/")[0])
    cited = rf"~\cite{{{','.join([*claims.SOURCES.keys() & {source}, 'ldpnb'])}}}"
    lines, files = [f"% {name} of ldpnb {__version__}"], {"ldpnb.bib": _bibliography()}
    path = home() / f"figures/{name}.json"
    made = json.loads(writing.read(path)) if path.exists() else {}
    if "encoding" in made:
        picture = rf"\input{{{stem}.pgf}}" if kind == "pgf" else rf"\includegraphics[width={wide:.4g}in]{{{stem}}}"
        lines += [rf"% \usepackage{{{_NEEDS[kind]}", r"\begin{figure}", r"\centering", picture]
        lines += [
            rf"\caption{{{latex.escaped(made['caption'])}{cited}}}",
            rf"\label{{fig:{stem}}}",
            r"\end{figure}",
            "",
        ]
        files[f"{stem}.{kind}"] = _drawn(path, made, wide, font, kind)
    else:
        rows = pd.read_csv(path.with_suffix(".csv"), keep_default_na=False) if made else _verdict(name)
        caption = latex.escaped(made["caption"] if made else f"{claims.find(name).place}: {claims.decide(name).status}")
        lines += [r"% \usepackage{booktabs,array,longtable}", latex.table(rows, caption + cited, stem)]
    return files | {f"{stem}.tex": "\n".join(lines).encode()}


def _drawn(path: Path, made: dict[str, Any], width: float, font: str, kind: str) -> bytes:
    """Return a figure in that width and font, drawn anew from its numbers."""
    import matplotlib.style as mpl_style
    import pandas as pd
    from matplotlib.text import Text

    from ldpnb.notebook.encoding import Encoding
    from ldpnb.notebook.figures import Chart
    from ldpnb.run import latex

    rows = pd.read_csv(path.with_suffix(".csv"), keep_default_na=False, na_values=[""])
    words, content = (made.get("title", ""), made.get("setting", "")), io.BytesIO()
    chart = Chart(rows, Encoding.read(made["encoding"]), *words)
    with mpl_style.context(_FONTS[font]):
        if kind == "pdf":
            return chart.pdf(width)
        figure = chart.figure(width)
        for text in figure.findobj(Text):  # which becomes TeX; its mathematics is
            signs = [latex.escaped(line.replace(r"\$", "\0")) for line in text.get_text().split("\n")]
            text.set_text("\n".join(signs).replace("\0", r"\textdollar{}"))
        figure.savefig(content, format="pgf")
    return content.getvalue()


def _verdict(identifier: str) -> Any:
    """Return the rows of a claim's table."""
    import pandas as pd

    claim, verdict = claims.find(identifier), claims.decide(identifier)
    decided = f"{verdict.status}{READINGS[verdict.reading]}; decided for {verdict.decided_for}"
    rows = {"claim": claim.says, "verdict": decided, "evidence": verdict.evidence, "what holds": verdict.corrected}
    rows |= {"assumption": verdict.assumption, "argued in words": verdict.argument}
    return pd.DataFrame([row for row in rows.items() if row[1]], columns=["", "verdict"])


def _bibliography() -> bytes:
    """Return BibTeX entries of all sources and of the companion; the full ones where the checkout has them."""
    path = home() / "paper.bib"
    titles = claims.SOURCES | {"ldpnb": f"ldpnb {__version__}: an executable, audited companion to five sources"}
    entries = (f"@misc{{{key},\n  title = {{{title}}}\n}}\n" for key, title in titles.items())
    return path.read_bytes() if path.is_file() else "\n".join(entries).encode()


@click.command(short_help="Write a figure, a table or a verdict for a paper.")
@click.argument("what")
@click.option("--width", default="column", show_default=True, help="column, page, or a length such as 3.4in or 86mm.")
@click.option("--font", type=click.Choice(list(_FONTS)), default="times", show_default=True, help="Of a figure.")
@click.option(
    "--format", "kind", type=click.Choice(list(_NEEDS)), default="pdf", show_default=True, help="Of a figure."
)
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="[default: build/export]")
def export(what: str, width: str, font: str, kind: str, output: Path | None) -> None:
    """Write WHAT, a figure, a table or a claim, for a paper: the drawing, its LaTeX with caption, and what to cite.

    A name may be shortened to a unique beginning of it or of its part after a slash: 03_cluster_lower_bounds/losses,
    central_budget, theorem-5.2. A figure is drawn anew from its numbers, at that width and in that font.
    """
    folder = output or home() / "build/export"
    require_uncommitted(folder)
    for name, content in contents(what, width, font, kind).items():
        writing.write(folder / name, content)
        click.echo(folder / name)
