"""Run a sweep's tasks wherever there are workers, and keep each result as it comes.

Results travel to the process that runs the sweep and are written there, so workers need the package and nothing else,
not even a common disk.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from ldpnb.run.parallel import Lost, Pool, unordered
from ldpnb.sweeps.folder import store
from ldpnb.sweeps.grid import Sweep, Task
from ldpnb.sweeps.registry import provenance
from ldpnb.sweeps.work import execute


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended."""

    task: Task
    error: str = ""


def run(sweep: Sweep, folder: Path, pool: Pool, *, done: Container[str] = ()) -> Iterator[Outcome]:
    """Execute a sweep's tasks and yield each when its result is kept or it has failed.

    Parameters
    ----------
    sweep : Sweep
    folder : Path
        Prepared by `folder.prepare`.
    pool : Pool
        From `parallel.pool`.
    done : container of str
        Tasks to leave out: those that are `folder.finished`.

    Raises
    ------
    PoolError
        If the workers as a whole are gone; what was yielded is kept.
    """
    code = provenance(sweep.experiment.id)
    missing = ((task, code) for task in sweep.tasks() if task.id not in done)
    for (task, _), result in unordered(execute, missing, pool):
        if isinstance(result, Lost):
            yield Outcome(task, result.reason)
        elif isinstance(result, str):
            yield Outcome(task, result)
        else:
            store(folder, task, result)
            yield Outcome(task)
