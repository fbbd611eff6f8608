"""One `ldpnb sweep` command: plan, run with progress, report, collect.

Results are sent to the process that runs the sweep and written there, so workers need only the package, not even a
shared disk.
"""

import sys
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from ldpnb.run.catalogue import require_uncommitted
from ldpnb.run.execution import build
from ldpnb.run.parallel import Lost, Pool, PoolError, pool, require_backend, unordered
from ldpnb.sweeps import folder as folders
from ldpnb.sweeps.grid import Sweep, Task, execute, plan
from ldpnb.sweeps.registry import EXPERIMENTS, find, provenance

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended."""

    task: Task
    error: str = ""


def listed(identifier: str | None = None) -> Iterator[str]:
    """Yield all experiments, or one, with types, defaults and meanings of parameters, line by line."""
    for name in [identifier] if identifier else EXPERIMENTS:
        experiment = find(name)
        yield f"{experiment.id}: {experiment.title}"
        for p in experiment.parameters:
            among = f" One of {' | '.join(p.choices)}." if p.choices else ""
            yield f"  -p {p.name}={p.default!r}  ({p.type}) {p.meaning}{among}"


def outcomes(sweep: Sweep, folder: Path, pool: Pool, *, done: Container[str] = ()) -> Iterator[Outcome]:
    """Execute a sweep's tasks and yield each when its result is stored or it has failed.

    Parameters
    ----------
    sweep : Sweep
    folder : Path
        Prepared by `folder.prepare`.
    pool : Pool
        From `parallel.pool`.
    done : container of str
        Tasks to skip: those in `folder.finished`.

    Raises
    ------
    PoolError
        If all workers are gone; what was yielded is stored.
    """
    code = provenance(sweep.experiment.id)
    missing = ((task, code) for task in sweep.tasks() if task.id not in done)
    for (task, _), result in unordered(execute, missing, pool):
        if isinstance(result, list):
            folders.store(folder, task, result)
            yield Outcome(task)
        else:
            yield Outcome(task, result.reason if isinstance(result, Lost) else result)


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
    """Run a sweep, or the rest of it, and collect its table.

    Returns
    -------
    int
        0, or 1 if tasks failed or the workers were lost, or 130 if interrupted; finished tasks are stored.

    Raises
    ------
    UsageError
        For errors that can be found before any work.
    """
    sweep = plan(identifier, grid, fixed, repetitions=repetitions, block=block, seed=seed)
    folder = output or build() / "sweeps" / folders.default_name(sweep)
    require_uncommitted(folder)
    require_backend(backend, scheduler, _of_use(jobs, len(sweep)))
    folders.prepare(folder, sweep)
    done, kept, failures = folders.finished(folder), 0, list[Outcome]()
    try:
        if len(done) < len(sweep):
            wanted = _of_use(jobs, len(sweep) - len(done))
            with pool(backend, wanted, scheduler) as workers, _progress(len(done), len(sweep)) as bar:
                for outcome in outcomes(sweep, folder, workers, done=done):
                    kept += not outcome.error
                    failures += [outcome] if outcome.error else []
                    bar.update()
    except (KeyboardInterrupt, PoolError, OSError) as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        there = (
            f"{len(done) + kept} of {len(sweep)} tasks are kept in {folder}, and the same command goes on from there"
        )
        click.echo(f"ldpnb: {'interrupted' if interrupted else error}; {there}", err=True)
        return 130 if interrupted else 1
    click.echo(f"{len(sweep)} tasks: {len(done) + kept} kept ({len(done)} from before), {len(failures)} failed")
    _report(sweep, folder, failures)
    if len(done) + kept:
        table = folders.collect(folder)
        digest = folders.write_table(folder, table)
        click.echo(f"{folder / folders.TABLE}: {len(table)} rows, sha256 {digest}")
    return 1 if failures else 0


def _of_use(jobs: int, tasks: int) -> int:
    """Return how many of the processes asked for have work; of two or more, one may die with its task."""
    return min(jobs, max(2, tasks))


def _progress(done: int, total: int) -> Any:
    return tqdm(total=total, initial=done, unit="task", smoothing=0.05, disable=not sys.stderr.isatty())


def _report(sweep: Sweep, folder: Path, failures: list[Outcome]) -> None:
    folders.write_failures(folder, (({**dict(f.task.parameters), "block": f.task.block}, f.error) for f in failures))
    for failure in failures[:_SHOWN]:
        click.echo(f"failed: {sweep.label(failure.task)}: {failure.error}", err=True)
    if len(failures) > _SHOWN:
        click.echo(f"and {len(failures) - _SHOWN} more, all in {folder / folders.FAILURES}", err=True)
