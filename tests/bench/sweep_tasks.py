"""What a task of a sweep costs besides its own work, and how long it must be for the workers to be busy.

    python tests/bench/sweep_tasks.py

Each line is one backend on this machine's cores and one length of task; a task sleeps, so that workers do not compete
with who hands out. "of each worker's time" is the share that goes into tasks; the length at which it reaches nine
tenths is the smallest sensible one."""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SECONDS = (0.0, 0.001, 0.01, 0.1)


def asleep(
    *, point: int = 0, seconds: float = 0.0, repetitions: int, rng: np.random.Generator
) -> Iterator[tuple[dict[str, str], dict[str, np.ndarray]]]:
    """Sleep, then draw.

    Parameters
    ----------
    point : int
        Tells grid points apart.
    seconds : float
        How long.
    """
    time.sleep(seconds)
    yield {}, {"value": rng.random(repetitions) + point}


def cost(backend: str, workers: int, seconds: float) -> tuple[int, float]:
    """Return the number of tasks and the wall time of a sweep with warm workers."""
    from ldpnb.run.parallel import pool
    from ldpnb.sweeps import folder, session
    from ldpnb.sweeps.grid import plan

    def sweep(points: int) -> float:
        with tempfile.TemporaryDirectory() as name:
            fixed = {"seconds": str(seconds)}
            planned = plan("sweep_tasks:asleep", {"point": f"1:{points}:{points}"}, fixed, repetitions=2)
            folder.prepare(Path(name) / "sweep", planned)
            start = time.perf_counter()
            kept = sum(not outcome.error for outcome in session.outcomes(planned, Path(name) / "sweep", running))
            assert kept == points, f"{points - kept} tasks failed"
            return time.perf_counter() - start

    points = int(min(2000, 200 + 4 / max(seconds, 1e-3)))
    with pool(backend, workers) as running:
        sweep(20)
        return points, sweep(points)


def main() -> None:
    workers = max(2, os.cpu_count() or 1)
    print(
        "| backend | a task sleeps, s | tasks | tasks a second | cost of a task beside its own work, ms "
        "| of each worker's time |"
    )
    print("|---|---|---|---|---|---|")
    for backend in ("loky", "dask"):
        for seconds in SECONDS:
            points, wall = cost(backend, workers, seconds)
            extra = wall * workers / points - seconds
            share = seconds * points / (wall * workers)
            print(f"| {backend} | {seconds:g} | {points} | {points / wall:.0f} | {1000 * extra:.2f} | {share:.0%} |")


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.path.dirname(__file__), os.environ.get("PYTHONPATH")]))
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
