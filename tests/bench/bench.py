"""Time each task as ldpnb, the machine's floor and the peers do it, in turn within one run, and
print the ratios.

python tests/bench/bench.py build/peers/bin/python [--rounds 5] [--only TEXT]

A row is one task. Every implementation runs in a process of its own, one BLAS thread, and the
rounds interleave them, so that a machine whose speed drifts shifts all alike; a ratio is taken
round by round, and its median, smallest and largest are printed. Peers that would take minutes
do a share of the users, which their linear cost allows; the share is printed.
"""

import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

import click

HERE = Path(__file__).resolve().parent

# of each task: "peer" (at least that many times faster than the best peer), "floor" (at most that
# many times the
# floor), "seconds" (at most that long)
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
    "import ldpnb": {"seconds": 0.3},
    "ldpnb list": {"seconds": 0.6},
}
COLUMNS = (
    *("task", "ldpnb, s", "times the floor", "times faster than the best peer", "best peer"),
    *("peak MB", "notes", "target", "met"),
)


def line(cells: dict[str, str]) -> str:
    """Return a row of the table."""
    return "| " + " | ".join(cells[name] for name in COLUMNS) + " |"


HEAD = (line(dict(zip(COLUMNS, COLUMNS, strict=True))), "|" + "---|" * len(COLUMNS))


class Worker:
    """A process that prepares and times one task."""

    def __init__(self, python: str, module: str, task: str) -> None:
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        command = [python, str(HERE / "worker.py"), str(HERE / module), task]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        environment = os.environ | dict.fromkeys(names, "1")
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
        code = f"import sys; sys.path.insert(0, {str(HERE)!r}); from {module} import TASKS; print(*TASKS, sep='\\n')"
        names = subprocess.run(
            [python, "-c", code], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        made |= dict.fromkeys(names, (python, f"{module}.py"))

    return made


def shown(values: list[float]) -> str:
    return (
        f"{statistics.median(values):,.3g} ({values[0]:,.3g} to {values[-1]:,.3g})"
        if values
        else ""
    )


def ratios(one: list[dict], other: list[dict]) -> list[float]:
    return sorted(a["seconds"] / b["seconds"] for a, b in zip(one, other, strict=True))


def row(task: str, known: dict[str, tuple[str, str]], rounds: int) -> dict[str, str]:
    """Return the row of a task."""
    names = [name for name in known if name.split(" | ")[0] == task]
    with contextlib.ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(*known[name], name)) for name in names}
        turns = [{name: worker.time() for name, worker in workers.items()} for _ in range(rounds)]

    taken = {name: [turn[name] for turn in turns] for name in names}
    middle = {name: statistics.median(t["seconds"] for t in times) for name, times in taken.items()}
    own, floor = taken[task], f"{task} | floor"
    best = min(taken.keys() - {task, floor}, key=middle.__getitem__, default="")
    to_floor = ratios(own, taken[floor]) if floor in taken else []
    to_peer = ratios(taken[best], own) if best else []
    share = taken[best][0]["share"] if best else 1
    info = own[-1]["info"] | (
        {f"peer's {k}": v for k, v in taken[best][-1]["info"].items()} if best else {}
    )
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
        "best peer": best.partition(" | ")[2]
        + (f" on {share:.2g} of the users" if share < 1 else ""),
        "peak MB": f"{max(t['peak MB'] for t in own):.0f}",
        "notes": "; ".join(f"{k} {v:.2g}" for k, v in info.items()),
        "target": ", ".join(worded[k].format(v) for k, v in TARGETS[task].items()),
        "met": "yes" if all(met[k](v) for k, v in TARGETS[task].items()) else "no",
    }


def machine() -> str:
    about = Path("/proc/cpuinfo").read_text().splitlines()
    model = next(
        (text.split(":")[1].strip() for text in about if text.startswith("model name")),
        platform.machine(),
    )

    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"


@click.command()
@click.argument("peer_python")
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(1))
@click.option("--only", default="", help="Only tasks that contain this text.")
def main(peer_python: str, rounds: int, only: str) -> None:
    """Run the benchmark and print its table."""
    known = implementations({"tasks_ours": sys.executable, "tasks_peers": peer_python})
    click.echo(
        f"{machine()}; median of {rounds} rounds (smallest to largest)\n\n" + "\n".join(HEAD)
    )

    for task in (task for task in TARGETS if only in task):
        try:
            click.echo(line(row(task, known, rounds)))
        except RuntimeError as error:  # of a peer: the other rows go on
            click.echo(f"{task} failed: {error}")


if __name__ == "__main__":
    main()
