"""The command line: arguments in, calls out.

Exit code 0 for success, 1 for a failed run, 2 for wrong usage, 130 when interrupted.
"""

import io
import os
import sys
from pathlib import Path
from typing import Any, get_args

import click

from ldpnb import __version__, extras
from ldpnb.audit.command import audit
from ldpnb.checks import UsageError
from ldpnb.claims import Status, sources
from ldpnb.data.command import download, inspect_file
from ldpnb.run.catalogue import Notebook, catalogue, find, home, unique
from ldpnb.run.export import export
from ldpnb.survey.command import estimate, plan
from ldpnb.sweep_command import pairs, sweep

_DAMAGED = ("JSONDecodeError", "ParserError", "EmptyDataError", "UnicodeDecodeError")
"""Errors of reading a committed file that was cut off.

A user's own file is refused where it is read, so it does not come this far.
"""


def main() -> None:
    """Run the command line with the companion's exit codes."""
    _print_any_character()
    try:
        code = cli.main(prog_name="ldpnb", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        _end("interrupted; what has finished is kept, everything else is as it was", 130)
    except click.ClickException as error:
        message = error.format_message()
        if message.startswith("Usage:"):
            # `ldpnb` without a command shows its help.
            error.show()
            sys.exit(error.exit_code)
        context = getattr(error, "ctx", None)
        hint = f" (`{context.command_path} --help`)" if context else ""
        _end(" ".join(message.split()) + hint, error.exit_code)
    except UsageError as error:
        _end(str(error), 2)
    except BrokenPipeError:
        # The reader of the output has gone. Python's own flush at its end must not fail again.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        sys.exit(1)
    except ModuleNotFoundError as error:
        _end(extras.missing(error.name), 2)
    except (OSError, MemoryError) as error:
        _end(str(error) or type(error).__name__, 1)
    except ValueError as error:
        if type(error).__name__ not in _DAMAGED:
            raise
        _end(f"a file of the clone is damaged, `git status` shows which: {error}", 1)
    sys.exit(code or 0)


def _print_any_character() -> None:
    r"""Escape what the output cannot encode, such as a root in a pipe on Windows (``\u221a``)."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _end(message: str, code: int) -> None:
    """Print a message in one line and leave."""
    click.echo(f"ldpnb: {message}", err=True)
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="ldpnb %(version)s")
def cli() -> None:
    """Run, check and read the companion to five sources on local privacy and sampling."""


def _chosen(identifiers: tuple[str, ...]) -> list[Notebook]:
    """Return the notebooks that are named, each once, or all if none is named."""
    found = [find(identifier) for identifier in identifiers]
    return list(dict.fromkeys(found)) or list(catalogue())


@cli.command("list", short_help="List all notebooks.")
def list_notebooks() -> None:
    """List all notebooks with their id, their number of claims and their title."""
    width = max(len(notebook.id) for notebook in catalogue())
    for notebook in catalogue():
        claims = len(notebook.claims) or ""
        click.echo(f"{notebook.id:<{width}}  {claims:>3}  {notebook.title}")


@cli.command(short_help="Show a notebook's parameters and claims, or one claim.")
@click.argument("id")
def show(id: str) -> None:
    """Show the parameters and claims of a notebook, or a claim with its verdict and its code.

    ID is the name of a notebook or a claim, or a unique beginning of it, such as 03_cluster or
    theorem-5.2.
    """
    notebooks = {notebook.id: notebook for notebook in catalogue()}
    claims = [claim for notebook in catalogue() for claim in notebook.claims]
    name = unique(id, [*notebooks, *claims], "notebook or claim")

    if name in claims:
        from ldpnb.run import ledger

        click.echo(ledger.card(name))
        return

    notebook = notebooks[name]
    click.echo(f"{name}: {notebook.title}")
    for parameter in notebook.parameters:
        setting = f"{parameter.name}={parameter.default!r}"
        click.echo(f"  -p {setting}  ({parameter.type}) {parameter.meaning}")
    for claim in notebook.claims:
        click.echo(f"  claim {claim}")


@cli.command(short_help="Run notebooks, with parameters of your own if you like.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "-p",
    "parameters",
    multiple=True,
    callback=pairs,
    metavar="NAME=VALUE",
    help="Set a parameter (repeatable).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count(),
    help="Number of notebooks that run at once.  [default: all cores]",
)
def run(ids: tuple[str, ...], parameters: dict[str, Any], output: Path | None, jobs: int) -> None:
    """Run notebooks, all by default, and renew the outputs and figures that have changed.

    ID is the name of a notebook, or a unique beginning of it, such as 03_cluster. `ldpnb show ID`
    lists its parameters. With -p or --output the results are written to a separate folder, and the
    committed ones stay as they are.
    """
    from tqdm import tqdm

    from ldpnb.run import runner

    tasks = runner.tasks(_chosen(ids), parameters, output)
    failed = 0
    with tqdm(total=len(tasks), unit="notebook", disable=not sys.stderr.isatty()) as bar:
        for outcome in runner.run(tasks, jobs):
            bar.clear()
            if outcome.error:
                failed += 1
                click.echo(f"failed: {outcome.error}", err=True)
            else:
                click.echo(f"{outcome.task.notebook.id}  {outcome.seconds:.1f} s")
            bar.update()

    has_ledger = any(task.notebook.id == "99_verdicts" for task in tasks)
    if parameters or output:
        if failed < len(tasks):
            click.echo(f"results in {tasks[0].figures.parent}")
    elif has_ledger and not failed:
        from ldpnb.run import derived

        derived.renew()

    if failed:
        summary = f"{failed} of {len(tasks)} notebooks failed; what was there before is untouched"
        click.echo(summary, err=True)
        raise SystemExit(1)


@cli.command(short_help="Execute notebooks again and compare with what is committed.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
def check(ids: tuple[str, ...]) -> None:
    """Execute notebooks again, and compare their outputs and figures with the stored ones.

    ID is the name of a notebook, or a unique beginning of it; all are checked by default. The
    outputs are compared by nbval, the figures by their numbers. The exit code is 1 if any differ.
    """
    import pytest

    # No settings of the caller's own tests are used: neither a file nor these variables.
    options = ["-q", "-rs", "-c", os.devnull, f"--rootdir={home()}", "-p", "no:cacheprovider"]
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)

    options += ["-p", "ldpnb.run.checking"]
    options += ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=600"]
    options += ["--nbval-sanitize-with", str(Path(__file__).parent / "run/nbval_sanitize.cfg")]
    paths = [str(notebook.path) for notebook in _chosen(ids)]

    code = pytest.main([*options, *paths])
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    raise SystemExit(min(code, 1))


@cli.command(short_help="Decide every claim again, and print the ledger.")
@click.option(
    "--source", type=click.Choice(tuple(sources())), help="Show only the claims of this source."
)
@click.option(
    "--status", type=click.Choice(get_args(Status)), help="Show only verdicts of this status."
)
@click.option(
    "-v", "--verbose", is_flag=True, help="Add the evidence, the domain, and what holds instead."
)
def verdicts(source: str | None, status: str | None, verbose: bool) -> None:
    """Decide every claim again and print the ledger.

    The exit code is 1 if a verdict differs from the committed one.
    """
    from ldpnb.run import ledger

    decided = ledger.ledger(source)
    table = decided[decided["status"] == status] if status else decided
    for row in table.to_dict("records"):
        if verbose:
            click.echo(f"{ledger.described(row)}\n")
        else:
            click.echo(f"{row['status']:<17}  {row['how']:<27}  {row['claim']:<44}  {row['says']}")

    counted = ledger.counted(table["status"])
    click.echo(f"{len(table)} claims: {counted}" if counted else "no claims")

    differing = ledger.changes(decided)
    for line in differing:
        click.echo(f"differs from the committed ledger: {line}", err=True)
    if differing:
        click.echo("ldpnb run 99_verdicts renews the ledger", err=True)
        raise SystemExit(1)


@cli.command(short_help="Renew the erratum sheets and the README's table, or print a sheet.")
@click.option(
    "--errata",
    type=click.Choice([key for key, source in sources().items() if source.number]),
    help="Print the erratum sheet of this source.",
)
def report(errata: str | None) -> None:
    """Write the erratum sheets and the README's table anew from the committed ledger.

    With --errata, print the erratum sheet of a source instead, as Markdown. In a clone with pandoc
    and TeX, this command makes a PDF of it:

    \b
    ldpnb report --errata bun2022 | pandoc -d ldpnb/run/errata -o bun2022.pdf
    """  # noqa: D301  # Click wants the character itself
    from ldpnb.run import derived
    from ldpnb.run import errata as sheets

    if errata:
        click.echo(sheets.sheet(errata), nl=False)
    else:
        derived.renew()


for _command in (audit, download, estimate, export, inspect_file, plan, sweep):
    cli.add_command(_command)
