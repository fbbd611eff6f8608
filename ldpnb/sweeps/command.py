"""The command line of sweeps."""

import os
from pathlib import Path

import click

from ldpnb.checks import UsageError, shown
from ldpnb.run.catalogue import require_uncommitted

_VALUES = (
    "A parameter's value, list with commas, low:high:count or low:high:count:log (repeatable)."
)


def pairs(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return the values of an option ``NAME=VALUE`` that can be repeated, by their names."""
    given: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"expected name=value, got {text!r}")
        if name in given:
            raise click.BadParameter(f"{name} is given twice")
        given[name] = value
    return given


@click.command(short_help="Run an experiment over a grid of settings.")
@click.argument("id", default="frequencies")
@click.option("-g", "--grid", multiple=True, callback=pairs, metavar="NAME=VALUES", help=_VALUES)
@click.option(
    "-r",
    "--repetitions",
    type=click.IntRange(2),
    default=1000,
    show_default=True,
    help="At every point.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=2022,
    show_default=True,
    help="Of every random stream.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder; required to run.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count(),
    help="Processes.  [default: all cores]",
)
@click.option(
    "--backend",
    type=click.Choice(("loky", "dask")),
    default="loky",
    help="This machine, or a Dask cluster.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Of the Dask cluster.")
def sweep(
    id: str,
    grid: dict[str, str],
    repetitions: int,
    seed: int,
    output: Path | None,
    jobs: int,
    backend: str,
    scheduler: str | None,
) -> None:
    """Run an experiment over a grid; without --output, show its parameters.

    Finished blocks are kept, and the same command continues where it was stopped. The numbers do not depend on where or
    in what order it runs. ID is frequencies, or MODULE:FUNCTION for an experiment of your own, whose code is then run.
    """
    from ldpnb.sweeps import sweep as sweeps

    if output is None and not grid:
        click.echo(f"{id}: {(sweeps.find(id).__doc__ or '').partition(chr(10))[0]}")
        for p in sweeps.parameters(id).values():
            click.echo(f"  -g {p.name}={p.default!r}  ({p.type}) {p.meaning}")
        return
    if output is None:
        raise UsageError("a sweep needs a folder for its results: --output FOLDER")
    if (backend == "dask") != (scheduler is not None):
        raise UsageError(
            f"--backend dask and --scheduler need each other, got {backend}, {scheduler}"
        )
    require_uncommitted(output)
    try:
        table, computed = sweeps.sweep(id, grid, output, repetitions, seed, jobs, scheduler)
    except UsageError:
        raise
    except Exception as error:  # of the experiment, joblib, Dask or the disk
        reason = shown(f"{type(error).__name__}: {' '.join(str(error).split())}")
        raise click.ClickException(
            f"{reason}; finished blocks are kept, and the same command goes on"
        ) from error
    click.echo(f"{output / 'table.csv'}: {len(table)} rows, {computed} new blocks")
