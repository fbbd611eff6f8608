"""Prepare a task in this environment, and time it once for each line of standard input.

python worker.py tasks_ours.py TASK

Each answer is a line of JSON: {"seconds": s, "share": x, "peak MB": m, "info": {...}}. A module of
tasks defines TASKS = {name: prepare}, where prepare() returns a callable, or (callable, share) if
the callable does only that share of the task (a peer that would take hours), or (callable, share,
info).

The quickest of several tries counts, so that other work on the machine disturbs little: of nine
tries if the task takes less than a tenth of a second, and of sixty if it takes less than two
milliseconds; then it is repeated until a try takes that long.
"""

import importlib
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any


def timed(work: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def completed(made: Any) -> tuple[Callable[[], object], float, dict[str, Any]]:
    """Return what is timed, the share of the task that it does, and what else it says."""
    if not isinstance(made, tuple):
        return made, 1.0, {}
    if len(made) == 2:
        return *made, {}
    return made


def peak_memory() -> float:
    """Return the largest memory of this process or of one that it started, in MB."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    of_children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(own, of_children) / 1024


def main(module: str, task: str) -> None:
    warnings.filterwarnings("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # peers print; answers must not mix with that
    sys.path.insert(0, str(Path(module).parent))

    try:
        made = importlib.import_module(Path(module).stem).TASKS[task]()
        work, share, info = completed(made)

        took = timed(work, 1)
        tries = 1
        if took < 0.1:
            tries = 9
        if took < 0.002:
            tries = 60

        repeats = 1
        while took * repeats < 0.002:
            repeats *= 2

        for _ in sys.stdin:
            seconds = min(timed(work, repeats) for _ in range(tries)) / share
            answer = {"seconds": seconds, "share": share, "peak MB": peak_memory(), "info": info}
            print(json.dumps(answer), file=answers, flush=True)
    except Exception as error:
        answer = {"error": f"{task}: {type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
