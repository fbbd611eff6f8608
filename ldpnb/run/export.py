"""``ldpnb export``: a figure, a table or a verdict for a paper, with its caption and references."""

import json
import os
import re
import shutil
import tempfile
from io import StringIO
from pathlib import Path
from unittest import mock

import click

from ldpnb import __version__, claims, writing
from ldpnb.checks import UsageError
from ldpnb.notebook import environment, latex, printing
from ldpnb.notebook.verdicts import READINGS
from ldpnb.run.catalogue import catalogue, find, home, require_uncommitted, unique

_TITLE = "ldpnb: an executable, audited companion to five sources on local differential privacy and sampling"

_NEEDS = {"pdf": r"\usepackage{graphicx}", "pgf": r"\usepackage{pgf} \providecommand{\mathdefault}[1]{#1}"}


def named(what: str) -> str:
    """Return the name of the published figure or table, or the claim, that a user means."""
    folder = home() / "figures"
    published = [p.relative_to(folder).with_suffix("").as_posix() for p in sorted(folder.rglob("*.csv"))]
    return unique(what, [*published, *(c for n in catalogue() for c in n.claims)], "figure, table or claim")


def contents(what: str, width: str, font: str, kind: str) -> dict[str, bytes]:
    """Return the files of an export by name."""
    inches = printing.inches(width)
    printing.fonts(font)
    if kind == "pgf" and not shutil.which("pdflatex"):  # with which matplotlib measures text
        raise UsageError("format pgf takes pdflatex, which is not installed; pdf takes none")
    name = named(what)
    stem = re.sub(r"\W+", "-", name.split("/")[-1])
    source = re.sub(r"^\d+_", "", name.split("/")[0])
    cited = rf"~\cite{{{','.join([*claims.SOURCES.keys() & {source}, 'ldpnb'])}}}"
    head = f"% {name} of ldpnb {__version__}\n"
    files = {"ldpnb.bib": _bibliography()}
    path = home() / f"figures/{name}.json"
    if not path.exists():
        return files | {f"{stem}.tex": (head + _verdict(name, cited)).encode()}
    caption = json.loads(writing.read(path))["caption"]
    if not path.with_suffix(".png").exists():
        import pandas as pd

        rows = pd.read_csv(StringIO(writing.read(path.with_suffix(".csv"))), keep_default_na=False)
        return files | {f"{stem}.tex": (head + latex.table(rows, caption, stem, cited)).encode()}
    picture = rf"\input{{{stem}.pgf}}" if kind == "pgf" else rf"\includegraphics[width={inches:.4g}in]{{{stem}}}"
    lines = [f"% {_NEEDS[kind]}", r"\begin{figure}", r"\centering", picture]
    lines += [rf"\caption{{{latex.escaped(caption)}{cited}}}", rf"\label{{fig:{stem}}}", r"\end{figure}", ""]
    return files | {
        f"{stem}.tex": (head + "\n".join(lines)).encode(),
        f"{stem}.{kind}": _redrawn(name, width, font, kind),
    }


def _redrawn(name: str, width: str, font: str, kind: str) -> bytes:
    """Return a figure in that width and font, drawn by running its notebook."""
    from ldpnb.run import runner

    notebook = find(name.rpartition("/")[0])
    wanted = {environment.WIDTH: width, environment.FONT: font, environment.FORMAT: kind}
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, wanted):
        (task,) = runner.tasks([notebook], {}, Path(folder))
        outcome = runner.execute(task)
        if outcome.error:
            raise UsageError(f"{name} cannot be drawn as {kind}: {outcome.error}")
        return (task.figures / f"{name}.{kind}").read_bytes()


def _verdict(identifier: str, cited: str) -> str:
    import pandas as pd

    claim, verdict = claims.find(identifier), claims.decide(identifier)
    decided = f"{verdict.status}{READINGS[verdict.reading]}; decided for {verdict.decided_for}"
    rows = {"claim": claim.says, "verdict": decided, "evidence": verdict.evidence, "what holds": verdict.corrected}
    rows |= {"assumption": verdict.assumption, "argued in words": verdict.argument}
    table = pd.DataFrame([row for row in rows.items() if row[1]], columns=["", "verdict"])
    return latex.table(table, f"{claim.place}: {verdict.status}", claim.key, cited)


def _bibliography() -> bytes:
    """Return BibTeX entries of all sources and of the companion."""
    path = home() / "paper.bib"  # which an installed package does not have
    entries = {key: f"@misc{{{key},\n  title = {{{latex.escaped(title)}}}\n}}" for key, title in claims.SOURCES.items()}
    entries["ldpnb"] = f"@software{{ldpnb,\n  title = {{{_TITLE}}},\n  version = {{{__version__}}}\n}}"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    known = {match[1]: match[0] for match in re.finditer(r"^@\w+\{(\w+),.*?^\}", text, re.M | re.S)}
    return ("\n\n".join(known.get(key, entry) for key, entry in entries.items()) + "\n").encode()


@click.command(short_help="Write a figure, a table or a verdict for a paper.")
@click.argument("what")
@click.option("--width", default="column", show_default=True, help="column, page, or a length such as 3.4in or 86mm.")
@click.option("--font", default="times", show_default=True, help="times, computer-modern, sans, or an installed one.")
@click.option(
    "--format", "kind", type=click.Choice(printing.FORMATS), default="pdf", show_default=True, help="Of a figure."
)
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="[default: build/export]")
def export(what: str, width: str, font: str, kind: str, output: Path | None) -> None:
    """Write WHAT, a figure, a table or a claim, for a paper: the drawing, its LaTeX with caption, and what to cite.

    A name may be shortened to a unique beginning of it or of its part after a slash: 03_cluster_lower_bounds/losses,
    central_budget, theorem-5.2. A figure is drawn anew by its notebook, at that width and in that font.
    """
    folder = output or home() / "build/export"
    require_uncommitted(folder)
    for name, content in contents(what, width, font, kind).items():
        writing.write(folder / name, content)
        click.echo(folder / name)
