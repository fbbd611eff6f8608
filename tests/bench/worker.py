"""One environment's side of the benchmark: prepare tasks by name and time them on request.

    python worker.py tasks_ours.py

Reads a line of JSON per request from standard input and answers with one: {"prepare": name} -> {"share": x}, {"time":
name} -> {"seconds": s, "peak MB": m, "info": {...}}. A module of tasks defines TASKS = {name: prepare}, where prepare()
returns a callable, or (callable, share) if the callable does only that share of the task (a peer that would take
hours), or (callable, share, info). A callable with an attribute `once` is not tried before it is timed;
of one that takes less than a tenth of a second the quickest of nine tries counts, and of sixty of two milliseconds or
more if it takes less, whatever else the machine does."""

import importlib.util
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable


def load(path: str) -> dict:
    spec = importlib.util.spec_from_file_location("tasks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TASKS


def timed(work: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def main() -> None:
    warnings.filterwarnings("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # peers print; answers must not mix with that
    tasks, ready = load(sys.argv[1]), {}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "prepare" in request:
                made = tasks[request["prepare"]]()
                work, share, info = (*made, {})[:3] if isinstance(made, tuple) else (made, 1.0, {})
                repeats, tries = 1, 1
                if not getattr(work, "once", False):
                    start = time.perf_counter()
                    work()
                    took = time.perf_counter() - start
                    tries = 60 if took < 0.002 else 9 if took < 0.1 else 1
                    while took * repeats < 0.002:
                        repeats *= 2
                ready[request["prepare"]] = work, share, repeats, tries, info
                answer = {"share": share}
            else:
                work, share, repeats, tries, info = ready[request["time"]]
                took = min(timed(work, repeats) for _ in range(tries)) / share
                who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
                peak = max(resource.getrusage(w).ru_maxrss for w in who) / 1024
                answer = {"seconds": took, "peak MB": peak, "info": info}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
