"""``ldpnb export``: a figure, a table or a verdict for a paper, with its caption and references."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from io import StringIO
from pathlib import Path
from unittest import mock

import click

from ldpnb import claims, writing
from ldpnb.checks import UsageError
from ldpnb.notebook import environment, latex, printing
from ldpnb.notebook.verdicts import READINGS
from ldpnb.run.catalogue import find, home, require_uncommitted, unique

_TITLE = "ldpnb: an executable, audited companion to five sources on local differential privacy and sampling"

_NEEDS = {"pdf": r"\usepackage{graphicx}", "pgf": r"\usepackage{pgf} \providecommand{\mathdefault}[1]{#1}"}


def exports() -> dict[str, str]:
    """Return the kind of everything that can be exported, by name: ``figure``, ``table`` or ``claim``."""
    folder = home() / "figures"
    numbers = {p.relative_to(folder).with_suffix("").as_posix(): p for p in sorted(folder.rglob("*.csv"))}
    figures = {name: "figure" if p.with_suffix(".png").exists() else "table" for name, p in numbers.items()}
    return figures | {claim.id: "claim" for claim in claims.claims()}


def contents(what: str, width: str, font: str, kind: str) -> dict[str, bytes]:
    """Return the files of an export by name."""
    inches = printing.inches(width)
    printing.fonts(font)
    if kind == "pgf" and not shutil.which("pdflatex"):  # with which matplotlib measures text
        raise UsageError("format pgf takes pdflatex, which is not installed; pdf takes none")
    known = exports()
    name = unique(what, list(known), "figure, table or claim")
    stem = re.sub(r"\W+", "-", name.split("/")[-1])
    source = re.sub(r"^\d+_", "", name.split("/")[0])
    cited = rf"~\cite{{{','.join([*claims.SOURCES.keys() & {source}, 'ldpnb'])}}}"
    head = f"% {name} of ldpnb, {_commit()}\n"
    files = {"ldpnb.bib": _bibliography()}
    if known[name] == "claim":
        return files | {f"{stem}.tex": (head + _verdict(name, cited)).encode()}
    path = home() / f"figures/{name}.json"
    with writing.whole(path) as text:
        caption = json.loads(text)["caption"]
    if known[name] == "table":
        import pandas as pd

        with writing.whole(path.with_suffix(".csv")) as text:
            rows = pd.read_csv(StringIO(text), keep_default_na=False)
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
    """Return BibTeX entries of all sources and of the companion at its commit."""
    path = home() / "paper.bib"  # which an installed package does not have
    plain = {key: f"@misc{{{key},\n  title = {{{latex.escaped(title)}}}\n}}" for key, title in claims.SOURCES.items()}
    plain["ldpnb"] = f"@software{{ldpnb,\n  author = {{{{The ldpnb authors}}}},\n  title = {{{_TITLE}}}\n}}"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    entries = plain | {match[1]: match[0] for match in re.finditer(r"^@\w+\{(\w+),.*?^\}", text, re.M | re.S)}
    entries["ldpnb"] = entries["ldpnb"].removesuffix("\n}") + f",\n  note = {{{_commit()}}}\n}}"
    return ("\n\n".join(entries[key] for key in plain) + "\n").encode()


def _commit() -> str:
    """Return the state of the companion: its commit, and whether files differ from it."""
    try:
        commit, changed = [
            subprocess.run(["git", *words], cwd=home(), capture_output=True, text=True, check=True, timeout=20).stdout
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "-uno"])
        ]
    except (OSError, subprocess.SubprocessError):
        return "as released"
    return f"commit {commit.strip()}{' with changes' if changed.strip() else ''}"


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

    Any unique part of a name will do: 03_cluster_lower_bounds/losses, central_budget, theorem-5.2. A figure is drawn
    anew by its notebook, at that width and in that font.
    """
    folder = output or home() / "build/export"
    require_uncommitted(folder)
    for name, content in contents(what, width, font, kind).items():
        writing.write(folder / name, content)
        click.echo(folder / name)
