"""Time each task as ldpnb, the machine's floor and the peers do it, and print the ratios.

python tests/bench/bench.py build/peers/bin/python [--rounds 5] [--only TEXT]

A row is one task. Every implementation runs in a process of its own, with one BLAS thread. In each
round all of them take a turn, so that a machine whose speed drifts shifts all alike. A ratio is
taken round by round, and its median, smallest and largest are printed. Peers that would take
minutes do a share of the users, which their linear cost allows; the share is printed.
"""

import contextlib
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import click

HERE = Path(__file__).resolve().parent

ONE_THREAD = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
LIST_TASKS = """
import importlib, sys
folder, module = sys.argv[1:]
sys.path.insert(0, folder)
print(*importlib.import_module(module).TASKS, sep="\\n")
"""

# What each task shall reach. "peer": it is at least that many times faster than the best peer;
# "floor": it takes at most that many times as long as the floor; "seconds": at most that long.
TARGETS: dict[str, dict[str, float]] = {
    "k-RR, n = 1e6, k = 1024": {"peer": 3000, "floor": 2},
    "OUE, n = 1e6, k = 1024": {"peer": 50_000},
    "k-RR, n = 1e9, k = 1e6": {"seconds": 0.2},
    "Norm-Sub, k = 1024": {"floor": 1.5, "peer": 1},
    "Norm-Sub, k = 1e6": {"floor": 1.5, "peer": 1},
    "k-RR MLE, k = 1024": {"floor": 1.5},
    "k-RR MLE, k = 1e6": {"floor": 1.5},
    "unary MLE, a = 10, n = 1e6": {"peer": 10},
    "unary MLE, a = 74, n = 32561": {"seconds": 0.5},
    "unary MLE, a = 1024, n = 1e6": {"seconds": 30},
    "group gap, K = 1e9, 1000 runs": {"seconds": 1},
    "shuffled k-RR, n = 1e6": {"seconds": 0.2},
    "random size, n = 1000": {"seconds": 0.5},
    "random size, n = 1e5": {},
    "clusters, 1e5 unequal": {"seconds": 1},
    "audit, 15 bits": {"seconds": 5},
    "audit, k-RR of 4 values": {"peer": 5},
    "estimate, 1e6 reports": {"peer": 0.5},
    "plan, 16 strata of 83 million": {"seconds": 0.3},
    "import ldpnb": {"seconds": 0.3},
    "ldpnb list": {"seconds": 0.6},
}
COLUMNS = (
    "task",
    "ldpnb, s",
    "times the floor",
    "times faster than the best peer",
    "best peer",
    "peak MB",
    "notes",
    "target",
    "met",
)


def table_line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


class Worker:
    """A process that prepares and times one task."""

    def __init__(self, python: str, module: str, task: str) -> None:
        command = [python, str(HERE / "worker.py"), str(HERE / module), task]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
        self.process = subprocess.Popen(command, text=True, env=environment, **pipes)

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def time(self) -> dict:
        """Return seconds, peak memory and what else the task says."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "the process ended"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


def implementations(pythons: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return the Python and the module of every implementation, by its name."""
    made = {}
    for module, python in pythons.items():
        command = [python, "-c", LIST_TASKS, str(HERE), module]
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
        made |= dict.fromkeys(listed.stdout.splitlines(), (python, f"{module}.py"))

    return made


def shown(values: list[float]) -> str:
    """Return the median of sorted ratios, with the smallest and the largest."""
    if not values:
        return ""
    return f"{statistics.median(values):,.3g} ({values[0]:,.3g} to {values[-1]:,.3g})"


def ratios(one: list[dict], other: list[dict]) -> list[float]:
    """Return how many times as long one took as the other, round by round."""
    return sorted(a["seconds"] / b["seconds"] for a, b in zip(one, other, strict=True))


def median_seconds(answers: list[dict]) -> float:
    return statistics.median(answer["seconds"] for answer in answers)


def measured(
    names: list[str], known: dict[str, tuple[str, str]], rounds: int
) -> dict[str, list[dict]]:
    """Return what each implementation of a task says in each round."""
    taken: dict[str, list[dict]] = {name: [] for name in names}
    with contextlib.ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(*known[name], name)) for name in names}
        for _ in range(rounds):
            for name, worker in workers.items():
                taken[name].append(worker.time())

    return taken


def row(task: str, known: dict[str, tuple[str, str]], rounds: int) -> dict[str, str]:
    """Return the row of a task."""
    names = [name for name in known if name.split(" | ")[0] == task]
    taken = measured(names, known, rounds)
    seconds = {name: median_seconds(answers) for name, answers in taken.items()}

    own = taken[task]
    notes = own[-1]["info"].copy()

    floor = f"{task} | floor"
    to_floor = ratios(own, taken[floor]) if floor in taken else []

    best = min(taken.keys() - {task, floor}, key=lambda name: seconds[name], default="")
    to_peer = []
    best_peer = ""
    if best:
        to_peer = ratios(taken[best], own)
        best_peer = best.partition(" | ")[2]
        share = taken[best][0]["share"]
        if share < 1:
            best_peer += f" on {share:.2g} of the users"
        for name, number in taken[best][-1]["info"].items():
            notes[f"peer's {name}"] = number

    target, is_met = against_target(task, seconds[task], to_floor, to_peer)
    return {
        "task": task,
        "ldpnb, s": f"{seconds[task]:.3g}",
        "times the floor": shown(to_floor),
        "times faster than the best peer": shown(to_peer),
        "best peer": best_peer,
        "peak MB": f"{max(answer['peak MB'] for answer in own):.0f}",
        "notes": "; ".join(f"{name} {number:.2g}" for name, number in notes.items()),
        "target": target,
        "met": "yes" if is_met else "no",
    }


def against_target(
    task: str, seconds: float, to_floor: list[float], to_peer: list[float]
) -> tuple[str, bool]:
    """Return a task's target in words, and whether it is met."""
    target = TARGETS[task]
    words = []
    is_met = True

    if "peer" in target:
        words.append(f">= {target['peer']:,}x")
        is_met = is_met and statistics.median(to_peer) >= target["peer"]
    if "floor" in target:
        words.append(f"<= {target['floor']}x floor")
        is_met = is_met and statistics.median(to_floor) <= target["floor"]
    if "seconds" in target:
        words.append(f"<= {target['seconds']} s")
        is_met = is_met and seconds <= target["seconds"]

    return ", ".join(words), is_met


def machine() -> str:
    """Return what the numbers were measured on."""
    about = Path("/proc/cpuinfo").read_text()
    found = re.search(r"^model name\s*: (.*)$", about, re.MULTILINE)
    model = found[1].strip() if found else platform.machine()
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"


@click.command()
@click.argument("peer_python")
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(1))
@click.option("--only", default="", help="Only tasks that contain this text.")
def main(peer_python: str, rounds: int, only: str) -> None:
    """Run the benchmark and print its table."""
    known = implementations({"tasks_ours": sys.executable, "tasks_peers": peer_python})
    click.echo(f"{machine()}; median of {rounds} rounds (smallest to largest)\n")
    click.echo(table_line(COLUMNS))
    click.echo("|" + "---|" * len(COLUMNS))

    for task in [task for task in TARGETS if only in task]:
        try:
            cells = row(task, known, rounds)
            click.echo(table_line(cells[column] for column in COLUMNS))
        except RuntimeError as error:  # of a peer: the other rows go on
            click.echo(f"{task} failed: {error}")


if __name__ == "__main__":
    main()
