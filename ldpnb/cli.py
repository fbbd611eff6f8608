"""The command line: arguments in, calls out.

Exit code 0 for success, 1 for a failed run, 2 for wrong usage or a table that has two readings, 130 when interrupted.
"""

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ldpnb import __version__
from ldpnb.checks import UsageError, as_usage
from ldpnb.data.command import download, inspect_file
from ldpnb.planning.command import plan
from ldpnb.planning.estimate_command import estimate
from ldpnb.planning.kit.command import kit
from ldpnb.run.catalogue import NoNotebookError, Notebook, catalogue, find, home, require_uncommitted
from ldpnb.run.export import export
from ldpnb.run.options import pairs
from ldpnb.run.unpacking import get
from ldpnb.sweeps.command import sweep

_STATUSES = ("reproduced", "supported", "corrected", "refuted", "open")
_REACHES = ("all parameters", "a box", "instances")
_PARTS = {
    "over": "decided for",
    "evidence": "evidence",
    "corrected": "corrected",
    "assumption": "assumption",
    "argument": "argued in words",
    "reading": "reading",
}
_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


def main() -> None:
    """Run the command line with the companion's exit codes."""
    try:
        code = cli.main(prog_name="ldpnb", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        _end("interrupted; what has finished is kept, everything else is as it was", 130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except UsageError as error:
        _end(str(error), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more can be said to it
        sys.exit(1)
    except (OSError, MemoryError) as error:
        _end(str(error) or type(error).__name__, 1)
    sys.exit(code or 0)


def _end(message: str, code: int) -> None:
    click.echo(f"ldpnb: {message}", err=True)
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="ldpnb %(version)s")
def cli() -> None:
    """Run, check and read the audited companion to five sources on local differential privacy and sampling."""


for _command in (plan, kit, estimate, get, export, sweep, inspect_file, download):
    cli.add_command(_command)


def _notebooks(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the name of a notebook."""
    names = [name for n in catalogue() for name in (n.id.split("/")[-1], n.id)]
    return [CompletionItem(name) for name in names if name.startswith(begun)]


def _notebooks_and_claims(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the name of a notebook or a claim."""
    with (home() / "figures/verdicts.csv").open(encoding="utf-8", newline="") as file:
        ids = [row["claim"] for row in csv.DictReader(file)]
    names = [name for i in ids for name in (i.split("/")[-1], i)]
    return _notebooks(context, parameter, begun) + [CompletionItem(name) for name in names if name.startswith(begun)]


def _chosen(identifiers: tuple[str, ...]) -> list[Notebook]:
    return list({n.id: n for n in map(find, identifiers)}.values()) if identifiers else list(catalogue())


_jobs = click.option(
    "-j", "--jobs", type=click.IntRange(1, 1024), default=os.cpu_count() or 1, help="Processes.  [default: all cores]"
)
_parameters = click.option(
    "-p", "parameters", multiple=True, callback=pairs, metavar="NAME=VALUE", help="Set a parameter (repeatable)."
)


@cli.command("list", short_help="List all notebooks.")
def list_notebooks() -> None:
    """List all notebooks: id, number of claims, title."""
    width = max(len(n.id) for n in catalogue())
    for n in catalogue():
        click.echo(f"{n.id:<{width}}  {len(n.claims) or '':>3}  {n.title}")


@cli.command(short_help="Show a notebook's parameters and claims, or one claim.")
@click.argument("id", shell_complete=_notebooks_and_claims)
def show(id: str) -> None:
    """Show a notebook's parameters (default, type, meaning) and claims, or a claim with its verdict and code.

    A notebook's ID, as `ldpnb list` prints it, may be shortened to any unique beginning of its name, such as
    03_cluster, and a claim's name to any unique part, such as theorem-5.2.
    """
    try:
        notebook = find(id)
    except NoNotebookError:
        from ldpnb.run import card

        click.echo(card.card(card.find_claim(id)))
        return
    click.echo(f"{notebook.id}: {notebook.title}\n")
    for p in notebook.parameters:
        click.echo(f"  -p {p.name}={p.default!r}  ({p.type}) {p.meaning}")
    if not notebook.parameters:
        click.echo("  no parameters")
    if notebook.claims:
        click.echo("\nclaims, which `ldpnb verdicts` decides:\n")
        click.echo("\n".join(f"  {c}" for c in notebook.claims))


@cli.command(short_help="Run notebooks, with parameters of your own if you like.")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=_notebooks)
@_parameters
@click.option("-o", "--output", type=_FOLDER, help="Folder for the results.")
@_jobs
def run(ids: tuple[str, ...], parameters: dict[str, Any], output: Path | None, jobs: int) -> None:
    """Run notebooks, all by default, and renew what has changed of their outputs and figures.

    An ID may be shortened to any unique beginning of a notebook's name, such as 03_cluster; `ldpnb show ID` names its
    parameters. With -p or --output the results go to a separate folder, and the committed ones stay unchanged.
    """
    from tqdm import tqdm

    from ldpnb.run import runner

    tasks = runner.tasks(_chosen(ids), parameters, output)
    failed = asked = 0
    with tqdm(total=len(tasks), unit="notebook", disable=not sys.stderr.isatty()) as bar:
        for outcome in runner.run(tasks, jobs):
            failed, asked = failed + bool(outcome.error), asked + outcome.asks
            line = (
                f"failed: {outcome.error}" if outcome.error else f"{outcome.task.notebook.id}  {outcome.seconds:.1f} s"
            )
            bar.clear()
            click.echo(line, err=bool(outcome.error))
            bar.update()
    for folder in dict.fromkeys(task.figures.parent for task in tasks if task.target != task.notebook.path):
        click.echo(f"results in {folder}")
    if failed:
        click.echo(f"{failed} of {len(tasks)} notebooks failed; what was there before is untouched", err=True)
        raise SystemExit(2 if asked == failed else 1)


@cli.command(short_help="Re-execute notebooks and compare with what is committed.")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=_notebooks)
def check(ids: tuple[str, ...]) -> None:
    """Re-execute notebooks against their stored outputs, by nbval, and the numbers of their figures."""
    sanitised = Path(__file__).parent / "run/nbval_sanitize.cfg"
    options = [
        "-q",
        "-rs",
        "-c",
        os.devnull,
        f"--rootdir={home()}",
        "-p",
        "no:cacheprovider",
        "-p",
        "ldpnb.run.checking",
    ]
    options += ["--nbval", "--nbval-current-env", f"--nbval-sanitize-with={sanitised}", "--nbval-cell-timeout=600"]
    command = [sys.executable, "-m", "pytest", *options, *(str(n.path) for n in _chosen(ids))]
    raise SystemExit(min(subprocess.run(command, cwd=home(), check=False).returncode, 1))


@cli.command(short_help="Decide every claim anew; print the ledger.")
@click.option("--source", help="Only this source's claims.")
@click.option("--status", type=click.Choice(_STATUSES), help="Only verdicts of this status.")
@click.option("--reach", type=click.Choice(_REACHES), help="Only verdicts decided for these.")
@click.option("-v", "--verbose", is_flag=True, help="With evidence, domain and corrected statements.")
def verdicts(source: str | None, status: str | None, reach: str | None, verbose: bool) -> None:
    """Decide every claim anew and print the ledger; exit 1 if a verdict differs from the committed one."""
    from ldpnb.run import ledger

    with as_usage():
        table = ledger.ledger(source, status, reach)
    for row in table.itertuples():
        click.echo(f"{row.status:<10}  {row.reach:<14}  {row.claim:<44}  {row.says}")
        if verbose:
            parts = {part: getattr(row, part) for part in _PARTS}
            click.echo("".join(f"{'':28}{_PARTS[part]}: {text}\n" for part, text in parts.items() if text))
    counts = (
        ", ".join(f"{n} {word}" for word, n in table[column].value_counts().items()) for column in ("status", "reach")
    )
    click.echo(f"{len(table)} claims: {'; decided for '.join(counts)}")
    differing = ledger.changes(source)
    for line in differing:
        click.echo(f"differs from the committed ledger: {line}", err=True)
    if differing:
        raise SystemExit(1)


@cli.command("report", short_help="Write the ledger, or a source's erratum sheet, as Markdown.")
@click.option("-o", "--output", type=_FILE, help="File to write.  [default: the terminal]")
@click.option("--readme", is_flag=True, help="Renew the README's table and the erratum sheets instead.")
@click.option("--errata", metavar="SOURCE", help="Write the source's erratum sheet instead; as PDF by the file's name.")
def write_report(output: Path | None, readme: bool, errata: str | None) -> None:
    """Write the committed ledger, or the erratum sheet of a source, as Markdown."""
    from ldpnb import writing
    from ldpnb.run import errata as sheets
    from ldpnb.run import ledger

    if readme:
        changed = ledger.write_readme_table(home() / "README.md")
        click.echo("README.md renewed" if changed else "README.md is current")
        sheets.write()
        return
    if output is not None:
        require_uncommitted(output)
    with as_usage():
        text = sheets.sheet(errata) if errata else ledger.document(ledger.committed_ledger())
    if output is None:
        click.echo(text, nl=False)
    elif errata and output.suffix == ".pdf":
        sheets.pdf(text, output)
    else:
        writing.write(output, text.encode())
