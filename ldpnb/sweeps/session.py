"""One `ldpnb sweep` command: plan, run with progress, report, collect. Returns the exit code."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from ldpnb.run.execution import build
from ldpnb.run.parallel import PoolError, pool
from ldpnb.sweeps import folder as folders
from ldpnb.sweeps import runner
from ldpnb.sweeps.grid import Sweep, plan
from ldpnb.sweeps.registry import EXPERIMENTS, find

_SHOWN = 20


def listed(identifier: str | None = None) -> Iterator[str]:
    """Yield what can be swept, or one experiment of it, with types, defaults and meanings, line by line."""
    for name in [identifier] if identifier else EXPERIMENTS:
        experiment = find(name)
        yield f"{experiment.id}: {experiment.title}"
        for option in experiment.options:
            p = option.parameter
            among = f" One of {' | '.join(option.choices)}." if option.choices else ""
            yield f"  -p {p.name}={p.default!r}  ({p.type}) {p.meaning}{among}"


def run(
    identifier: str,
    *,
    grid: Mapping[str, str],
    fixed: Mapping[str, str],
    repetitions: int,
    block: int | None,
    seed: int,
    output: Path | None,
    jobs: int,
    backend: str,
    scheduler: str | None,
) -> int:
    """Run a sweep, or what is left of it, and collect its table.

    Returns
    -------
    int
        0, or 1 if tasks failed or the workers were lost, or 130 if interrupted; whatever was finished is kept.

    Raises
    ------
    UsageError
        For anything that can be refused before any work.
    """
    sweep = plan(identifier, grid, fixed, repetitions=repetitions, block=block, seed=seed)
    folder = output or build() / "sweeps" / folders.default_name(sweep)
    folders.prepare(folder, sweep)
    done, kept, failures = folders.finished(folder), 0, list[runner.Outcome]()
    stopped = {}
    try:
        if len(done) < len(sweep):
            with pool(backend, jobs, scheduler) as workers, _progress(len(done), len(sweep)) as bar:
                for outcome in runner.run(sweep, folder, workers, done=done):
                    kept += not outcome.error
                    failures += [outcome] if outcome.error else []
                    bar.update()
    except KeyboardInterrupt:
        stopped = {130: "interrupted"}
    except (PoolError, OSError) as error:
        stopped = {1: str(error)}
    for code, reason in stopped.items():
        there = f"{len(done) + kept} of {len(sweep)} tasks are kept in {folder}"
        click.echo(f"ldpnb: {reason}; {there}, and the same command goes on from there", err=True)
        return code
    click.echo(f"{len(sweep)} tasks: {len(done) + kept} kept ({len(done)} from before), {len(failures)} failed")
    _report(sweep, folder, failures)
    if len(done) + kept:
        from ldpnb.sweeps import table as tables

        table = tables.collect(folder)
        digest = tables.write_table(folder, table)
        click.echo(f"{folder / tables.TABLE}: {len(table)} rows, sha256 {digest}")
    return 1 if failures else 0


def _progress(done: int, total: int) -> Any:
    return tqdm(total=total, initial=done, unit="task", smoothing=0.05, disable=not sys.stderr.isatty())


def _report(sweep: Sweep, folder: Path, failures: list[runner.Outcome]) -> None:
    folders.write_failures(folder, (({**dict(f.task.parameters), "block": f.task.block}, f.error) for f in failures))
    for failure in failures[:_SHOWN]:
        click.echo(f"failed: {sweep.label(failure.task)}: {failure.error}", err=True)
    if len(failures) > _SHOWN:
        click.echo(f"and {len(failures) - _SHOWN} more, all in {folder / folders.FAILURES}", err=True)
