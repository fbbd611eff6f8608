"""Time each task as ldpnb, the machine's floor and the peers do it, in turn within one run, and print the ratios.

    python tests/bench/bench.py build/peers/bin/python [--rounds 5] [--only TEXT] [--readme]

A row is one task. Every implementation runs in a process of its own, one BLAS thread, and the rounds interleave them,
so that a machine whose speed drifts shifts all alike; a ratio is taken round by round, and its median, smallest and
largest are printed. Peers that would take minutes do a share of the users, which their linear cost allows; the share is
printed. One row is no race: the tests in ``steps`` count what searches cost, free of the clock. A row that fails shows
its message, and the others go on. Results go to ``build/bench``; with --readme also into README.md beside this file."""

import contextlib
import csv
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
START, END = "<!-- benchmark: written by `make bench-readme` -->", "<!-- end of benchmark -->"

# of each task: "peer" (at least that many times faster than the best peer), "floor" (at most that many times the
# floor), "seconds" (at most that long)
TARGETS = [
    ("k-RR, n = 1e6, k = 1024", {"peer": 3000, "floor": 2}),
    ("OUE, n = 1e6, k = 1024", {"peer": 50_000}),
    ("k-RR, n = 1e9, k = 1e6", {"seconds": 0.2}),
    ("Norm-Sub, k = 1024", {"floor": 1.5, "peer": 1}),
    ("Norm-Sub, k = 1e6", {"floor": 1.5, "peer": 1}),
    ("k-RR MLE, k = 1024", {"floor": 1.5}),
    ("k-RR MLE, k = 1e6", {"floor": 1.5}),
    ("unary MLE, a = 10, n = 1e6", {"peer": 10}),
    ("unary MLE, a = 74, n = 32561", {"seconds": 0.5}),
    ("unary MLE, a = 1024, n = 1e6", {"seconds": 30}),
    ("group gap, K = 1e9, 1000 runs", {"seconds": 1}),
    ("shuffled k-RR, n = 1e6", {"seconds": 0.2}),
    ("random size, n = 1000", {"seconds": 0.5}),
    ("random size, n = 1e5", {}),
    ("clusters, 1e5 unequal", {"seconds": 1}),
    ("import ldpnb", {"seconds": 0.3}),
    ("ldpnb list", {"seconds": 0.6}),
    ("all notebooks from scratch", {"seconds": 45}),
    ("make test", {"seconds": 180}),
]
STEPS = "solver steps within their bounds"
COLUMNS = (
    *("task", "ldpnb, s", "times the floor", "times faster than the best peer", "best peer"),
    *("times the floor, plain", "times faster, plain", "peak MB", "notes", "target", "met"),
)
ONCE = ("all notebooks from scratch", "make test")
SORTS = ("Norm-Sub", "k-RR MLE")  # as fast as the processor sorts: timed with numpy's plain code too
DISPATCHED = """
from numpy._core import _multiarray_umath as compiled
print(*[f for f in compiled.__cpu_dispatch__ if compiled.__cpu_features__.get(f)])
"""


def line(cells: dict) -> str:
    """Return a row of the table."""
    return "| " + " | ".join(cells.values()) + " |"


HEAD = (line(dict(zip(COLUMNS, COLUMNS, strict=True))), "|" + "---|" * len(COLUMNS))


class Worker:
    """A process that prepares and times one task."""

    def __init__(self, python: str, module: str, task: str, plain: bool = False) -> None:
        threads = dict.fromkeys(
            ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
        )
        if plain:
            vectorised = subprocess.run([python, "-c", DISPATCHED], capture_output=True, text=True, check=True).stdout
            threads["NPY_DISABLE_CPU_FEATURES"] = vectorised.strip()
        command = [python, str(HERE / "worker.py"), str(HERE / module)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, text=True, env=os.environ | threads, **pipes)
        self.task = task

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def prepare(self) -> None:
        self.share = self.ask(prepare=self.task)["share"]

    def ask(self, **request: str) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "the process ended"}')
        if "error" in answer:
            raise RuntimeError(f"{self.task}: {answer['error']}")
        return answer

    def time(self) -> dict:
        return self.ask(time=self.task)


def tasks_in(python: str, module: str) -> list[str]:
    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); from {module[:-3]} import TASKS; print(*TASKS, sep='\\n')"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()


def measure(implementations: dict[str, Worker], rounds: int) -> dict[str, list[dict]]:
    taken: dict[str, list[dict]] = {name: [] for name in implementations}
    for _ in range(rounds):
        for name, worker in implementations.items():
            taken[name].append(worker.time())
    return taken


def ratios(one: list[dict], other: list[dict]) -> list[float]:
    return sorted(a["seconds"] / b["seconds"] for a, b in zip(one, other, strict=True))


def shown(values: list[float]) -> str:
    return f"{statistics.median(values):,.3g} ({values[0]:,.3g} to {values[-1]:,.3g})" if values else ""


def row(task: str, target: dict, names: dict[str, list[str]], pythons: dict[str, str], rounds: int) -> dict:
    made = raced(task, target, names, pythons, rounds)
    if task.startswith(SORTS):
        plain = raced(task, target, names, pythons, rounds, plain=True)
        made["times the floor, plain"] = plain["times the floor"]
        made["times faster, plain"] = plain["times faster than the best peer"]
        made["met"] = min(made["met"], plain["met"])  # "no" comes before "yes"
    return made


def raced(
    task: str, target: dict, names: dict[str, list[str]], pythons: dict[str, str], rounds: int, plain: bool = False
) -> dict:
    workers: dict[str, Worker] = {}
    with contextlib.ExitStack() as stack:
        for side in ("ours", "peers"):
            for name in (name for name in names[side] if name.split(" | ")[0] == task):
                workers[name] = stack.enter_context(Worker(pythons[side], f"tasks_{side}.py", name, plain))
                workers[name].prepare()
        if task not in workers:
            raise RuntimeError(f"no task is called {task}")
        taken = measure(workers, rounds)
    middle = {name: statistics.median(t["seconds"] for t in times) for name, times in taken.items()}
    own, floor = taken[task], f"{task} | floor"
    best = min(taken.keys() - {task, floor}, key=middle.__getitem__, default="")
    to_floor = ratios(own, taken[floor]) if floor in taken else []
    to_peer = ratios(taken[best], own) if best else []
    share = workers[best].share if best else 1
    info = own[-1]["info"] | ({f"peer's {k}": v for k, v in taken[best][-1]["info"].items()} if best else {})
    met = {
        "peer": lambda at_least: statistics.median(to_peer) >= at_least,
        "floor": lambda at_most: statistics.median(to_floor) <= at_most,
        "seconds": lambda at_most: middle[task] <= at_most,
    }
    worded = {"peer": ">= {:,}x", "floor": "<= {}x floor", "seconds": "<= {} s"}
    return {
        "task": task,
        "ldpnb, s": f"{middle[task]:.3g}",
        "times the floor": shown(to_floor),
        "times faster than the best peer": shown(to_peer),
        "best peer": best.partition(" | ")[2] + (f" on {share:.2g} of the users" if share < 1 else ""),
        "peak MB": f"{max(t['peak MB'] for t in own):.0f}",
        "notes": "; ".join(f"{k} {v:.2g}" for k, v in info.items()),
        "target": ", ".join(worded[k].format(v) for k, v in target.items()),
        "met": "yes" if all(met[k](v) for k, v in target.items()) else "no",
    }


def steps(folder: Path = HERE / "steps") -> dict:
    """Return the row of the tests that count steps: how many there are, or why they fail."""
    command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider", str(folder)]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["pytest said nothing"]
    failed = [line.removeprefix("FAILED ") for line in lines if line.startswith(("FAILED ", "ERROR "))]
    made = {"ldpnb, s": f"{time.perf_counter() - start:.3g}", "notes": "; ".join(failed) or lines[-1].split(" in ")[0]}
    return made | {"target": "all hold", "met": "no" if done.returncode else "yes"}


def whatever_happens(task: str, measured: Callable[[], dict]) -> dict:
    """Return a task's row with every column; if it fails, with its message."""
    try:
        found = measured()
    except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
        found = {"notes": str(error), "met": "no"}
    cells = dict.fromkeys(COLUMNS, "") | {"task": task} | found
    return {name: " ".join(cell.split()).replace("|", "\\|") for name, cell in cells.items()}


def growth(names: dict[str, list[str]], pythons: dict[str, str]) -> list[dict]:
    points = []
    for side, module in (("ours", "tasks_ours.py"), ("peers", "tasks_peers.py")):
        for name in names[side]:
            if ": time against " in name:
                task, _, peer = name.partition(" | ")
                panel, _, size = task.rpartition(" ")
                with Worker(pythons[side], module, name) as worker:
                    worker.prepare()
                    seconds = min(worker.time()["seconds"] for _ in range(3))
                points.append({"panel": panel, "size": float(size), "by": peer or "ldpnb", "seconds": seconds})
    return points


def machine() -> str:
    about = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((text.split(":")[1].strip() for text in about if text.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"


@click.command()
@click.argument("peer_python")
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(1))
@click.option("--only", default="", help="Only tasks that contain this text; leaves the growth curves out.")
@click.option("--readme", is_flag=True, help="Put the table, or the rows measured, into tests/bench/README.md.")
def main(peer_python: str, rounds: int, only: str, readme: bool) -> None:
    """Run the benchmark and print its table."""
    pythons = {"ours": sys.executable, "peers": peer_python}
    names = {"ours": tasks_in(sys.executable, "tasks_ours.py"), "peers": tasks_in(peer_python, "tasks_peers.py")}
    folder = ROOT / "build/bench"
    folder.mkdir(parents=True, exist_ok=True)
    measured = {
        task: partial(row, task, target, names, pythons, 1 if task in ONCE else rounds) for task, target in TARGETS
    } | {STEPS: steps}
    click.echo(f"{machine()}; median of {rounds} rounds (smallest to largest)\n\n" + "\n".join(HEAD))
    rows = []
    for task, measure_it in measured.items():
        if only in task:
            rows.append(whatever_happens(task, measure_it))
            click.echo(line(rows[-1]))
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    if not only:
        draw(growth(names, pythons), folder)
    if readme:
        renew(rows, rounds)
    if readme and not only:
        for kind in ("csv", "png"):
            shutil.copyfile(folder / f"growth.{kind}", HERE / f"growth.{kind}")


def draw(points: list[dict], folder: Path) -> None:
    import pandas as pd

    from ldpnb.notebook.figures import curves

    table = pd.DataFrame(points)
    table["panel"] = table["panel"].str.replace(": time against", " by")
    table.to_csv(folder / "growth.csv", index=False, float_format="%.3g")
    shape = {"x": "size", "y": "seconds", "by": "by", "panel": "panel", "xscale": "log", "yscale": "log"}
    figure = curves(table, **shape, xlabel="size", ylabel="seconds", columns=3)
    for axis in figure.axes:
        for line in axis.lines:
            line.set_marker(".")
    figure.savefig(folder / "growth.png")
    click.echo(f"growth curves in {folder / 'growth.png'}")


def renew(rows: list[dict], rounds: int) -> None:
    """Put the rows measured, and those that the page has of other tasks, into the page."""
    path = HERE / "README.md"
    head, _, rest = path.read_text(encoding="utf-8").partition(START)
    before, _, tail = rest.partition(END)
    known = {text.strip("| ").split(" | ")[0]: text for text in before.splitlines()} | {
        r["task"]: line(r) for r in rows
    }
    lines = [*HEAD, *(known[task] for task in (*dict(TARGETS), STEPS) if task in known)]
    note = (
        f"\n{machine()}; medians of {rounds} interleaved rounds, smallest and largest in brackets. *Plain*: the same "
        "processor, numpy's vectorised code paths disabled.\n"
    )
    path.write_text(f"{head}{START}\n" + "\n".join(lines) + f"\n{note}{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
