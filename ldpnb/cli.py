"""The command line: arguments in, calls out.

Exit code 0 for success, 1 for a failed run, 2 for wrong usage, 130 when interrupted.
"""

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
"""What committed JSON and tables end in once they were cut off; those of users are refused where they are read."""


def main() -> None:
    """Run the command line with the companion's exit codes."""
    try:
        code = cli.main(prog_name="ldpnb", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        _end("interrupted; what has finished is kept, everything else is as it was", 130)
    except click.ClickException as error:
        message = error.format_message()
        if message.startswith("Usage:"):  # a group without a command shows its help
            error.show()
            sys.exit(error.exit_code)
        context = getattr(error, "ctx", None)
        hint = f" (`{context.command_path} --help`)" if context else ""
        _end(" ".join(message.split()) + hint, error.exit_code)
    except UsageError as error:
        _end(str(error), 2)
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # nothing more can be said to it
        sys.exit(1)
    except ModuleNotFoundError as error:
        _end(extras.missing(error.name), 2)
    except (OSError, MemoryError) as error:
        _end(str(error) or type(error).__name__, 1)
    except ValueError as error:
        if type(error).__name__ not in _DAMAGED:
            raise
        _end(f"a file of the checkout is damaged, `git status` names it: {error}", 1)
    sys.exit(code or 0)


def _end(message: str, code: int) -> None:
    click.echo(f"ldpnb: {message}", err=True)
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="ldpnb %(version)s")
def cli() -> None:
    """Run, check and read the audited companion to five sources on local differential privacy and sampling."""


def _chosen(identifiers: tuple[str, ...]) -> list[Notebook]:
    return list(dict.fromkeys(map(find, identifiers))) or list(catalogue())


@cli.command("list", short_help="List all notebooks.")
def list_notebooks() -> None:
    """List all notebooks: id, number of claims, title."""
    width = max(len(n.id) for n in catalogue())
    for n in catalogue():
        click.echo(f"{n.id:<{width}}  {len(n.claims) or '':>3}  {n.title}")


@cli.command(short_help="Show a notebook's parameters and claims, or one claim.")
@click.argument("id")
def show(id: str) -> None:
    """Show a notebook's parameters (default, type, meaning) and claims, or a claim with its verdict and code.

    The ID of either may be shortened to a unique beginning of its name, such as 03_cluster or theorem-5.2.
    """
    notebooks = {n.id: n for n in catalogue()}
    names = [claim for n in notebooks.values() for claim in n.claims]
    if (name := unique(id, [*notebooks, *names], "notebook or claim")) in names:
        from ldpnb.run import ledger

        click.echo(ledger.card(name))
        return
    click.echo(f"{name}: {notebooks[name].title}")
    for p in notebooks[name].parameters:
        click.echo(f"  -p {p.name}={p.default!r}  ({p.type}) {p.meaning}")
    for claim in notebooks[name].claims:
        click.echo(f"  claim {claim}")


@cli.command(short_help="Run notebooks, with parameters of your own if you like.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "-p",
    "parameters",
    multiple=True,
    callback=pairs,
    metavar="NAME=VALUE",
    help="Set one (repeatable).",
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
    help="Processes.  [default: all cores]",
)
def run(ids: tuple[str, ...], parameters: dict[str, Any], output: Path | None, jobs: int) -> None:
    """Run notebooks, all by default, and renew what has changed of their outputs and figures.

    An ID may be shortened to a unique beginning of a notebook's name, such as 03_cluster; `ldpnb show ID` names its
    parameters. With -p or --output the results go to a separate folder, and the committed ones stay unchanged.
    """
    from tqdm import tqdm

    from ldpnb.run import runner

    tasks = runner.tasks(_chosen(ids), parameters, output)
    failed = 0
    with tqdm(total=len(tasks), unit="notebook", disable=not sys.stderr.isatty()) as bar:
        for outcome in runner.run(tasks, jobs):
            failed += bool(outcome.error)
            passed = f"{outcome.task.notebook.id}  {outcome.seconds:.1f} s"
            bar.clear()
            click.echo(
                f"failed: {outcome.error}" if outcome.error else passed, err=bool(outcome.error)
            )
            bar.update()
    if parameters or output:
        click.echo(f"results in {tasks[0].figures.parent}")
    elif any(task.notebook.id == "99_verdicts" for task in tasks) and not failed:
        from ldpnb.run import derived

        derived.renew()
    if failed:
        click.echo(
            f"{failed} of {len(tasks)} notebooks failed; what was there before is untouched",
            err=True,
        )
        raise SystemExit(1)


@cli.command(short_help="Re-execute notebooks and compare with what is committed.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
def check(ids: tuple[str, ...]) -> None:
    """Re-execute notebooks against their stored outputs, by nbval, and the numbers of their figures."""
    import pytest

    options = ["-q", "-rs", "-c", os.devnull, f"--rootdir={home()}", "-p", "no:cacheprovider"]
    options += [
        "-p",
        "ldpnb.run.checking",
        "--nbval",
        "--nbval-current-env",
        "--nbval-cell-timeout=600",
    ]
    options += ["--nbval-sanitize-with", str(Path(__file__).parent / "run/nbval_sanitize.cfg")]
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):  # of the caller's, for tests of their own
        os.environ.pop(name, None)
    code = pytest.main([*options, *(str(n.path) for n in _chosen(ids))])
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    raise SystemExit(min(code, 1))


@cli.command(short_help="Decide every claim anew; print the ledger.")
@click.option("--source", type=click.Choice(tuple(sources())), help="Only its claims.")
@click.option("--status", type=click.Choice(get_args(Status)), help="Only verdicts of this status.")
@click.option("-v", "--verbose", is_flag=True, help="With evidence, domain and what holds instead.")
def verdicts(source: str | None, status: str | None, verbose: bool) -> None:
    """Decide every claim anew and print the ledger; exit 1 if a verdict differs from the committed one."""
    from ldpnb.run import ledger

    decided = ledger.ledger(source)
    table = decided[decided["status"] == status] if status else decided
    for row in table.to_dict("records"):
        short = f"{row['status']:<17}  {row['how']:<27}  {row['claim']:<44}  {row['says']}"
        click.echo(f"{ledger.described(row)}\n" if verbose else short)

    counted = ", ".join(f"{n} {word}" for word, n in table["status"].value_counts().items())
    click.echo(f"{len(table)} claims: {counted}")
    if differing := ledger.changes(decided):
        for line in differing:
            click.echo(f"differs from the committed ledger: {line}", err=True)
        raise SystemExit(1)


@cli.command(short_help="Renew the erratum sheets and the README's table, or print a sheet.")
@click.option(
    "--errata",
    type=click.Choice([key for key, source in sources().items() if source.number]),
    help="Print this source's erratum sheet.",
)
def report(errata: str | None) -> None:
    """Renew what follows from the committed ledger, or print the erratum sheet of a source.

    The erratum sheets and the table of the README follow from it. A sheet is Markdown. In a clone,
    where there are pandoc and a TeX, this makes a PDF of it:
    `ldpnb report --errata bun2022 | pandoc -d ldpnb/run/errata -o bun2022.pdf`
    """
    from ldpnb.run import derived
    from ldpnb.run import errata as sheets

    if errata:
        click.echo(sheets.sheet(errata), nl=False)
    else:
        derived.renew()


for _command in (audit, download, estimate, export, inspect_file, plan, sweep):
    cli.add_command(_command)
