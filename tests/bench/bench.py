"""Time each task as ldpnb, the machine's floor and the peers do it, in turn within one run, and print the ratios.

    python tests/bench/bench.py build/peers/bin/python [--rounds 5] [--only TEXT] [--readme]

A row is one task. Every implementation runs in a process of its own, one BLAS thread, and the rounds interleave them,
so that a machine whose speed drifts shifts all alike; a ratio is taken round by round, and its median, smallest and
largest are printed. Peers that would take minutes do a share of the users, which their linear cost allows; the share is
printed. Results go to ``build/bench``; with --readme also into the README."""

import csv
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import click

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
START, END = "<!-- benchmark: written by `make bench-readme` -->", "<!-- end of benchmark -->"

# task, kind of target, target: "peer" (at least that many times faster than the best peer), "floor" (at most that many times the floor),
# "seconds" (at most that long)
TARGETS = [
    ("k-RR, n = 1e6, k = 1024", {"peer": 3000, "floor": 2}),
    ("OUE, n = 1e6, k = 1024", {"peer": 50_000}),
    ("k-RR, n = 1e9, k = 1e6", {"seconds": 0.2}),
    ("Norm-Sub, k = 1024", {"floor": 1.5}),
    ("Norm-Sub, k = 1e6", {"floor": 1.5}),
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
ONCE = ("all notebooks from scratch", "make test")


class Worker:
    """A process that prepares and times one task."""

    def __init__(self, python: str, module: str, task: str) -> None:
        threads = dict.fromkeys(
            ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
        )
        command = [python, str(HERE / "worker.py"), str(HERE / module)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, text=True, env=os.environ | threads, **pipes)
        self.task = task
        self.share = self.ask(prepare=task)["share"]

    def ask(self, **request: str) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "the process ended"}')
        if "error" in answer:
            raise RuntimeError(f"{self.task}: {answer['error']}")
        return answer

    def time(self) -> dict:
        return self.ask(time=self.task)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def tasks_in(python: str, module: str) -> list[str]:
    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); from {module[:-3]} import TASKS; print(*TASKS, sep='\\n')"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()


def measure(implementations: dict[str, Worker], rounds: int) -> dict[str, list[dict]]:
    taken: dict[str, list[dict]] = {name: [] for name in implementations}
    for _ in range(rounds):
        for name, worker in implementations.items():
            taken[name].append(worker.time())
    return taken


def ratio(one: list[dict], other: list[dict]) -> str:
    pairs = sorted(a["seconds"] / b["seconds"] for a, b in zip(one, other, strict=True))
    return f"{statistics.median(pairs):,.3g} ({pairs[0]:,.3g} to {pairs[-1]:,.3g})"


def row(task: str, target: dict, names: dict[str, list[str]], pythons: dict[str, str], rounds: int) -> dict:
    own = {
        name: Worker(pythons["ours"], "tasks_ours.py", name) for name in names["ours"] if name.split(" | ")[0] == task
    }
    peers = {
        name: Worker(pythons["peers"], "tasks_peers.py", name)
        for name in names["peers"]
        if name.split(" | ")[0] == task
    }
    workers = own | peers
    try:
        taken = measure(workers, rounds)
        shares = {name: w.share for name, w in peers.items()}
    finally:
        for worker in workers.values():
            worker.close()
    middle = {name: statistics.median(t["seconds"] for t in times) for name, times in taken.items()}
    best = min(peers, key=middle.__getitem__, default="")
    floor = f"{task} | floor"
    info = taken[task][-1]["info"]
    made = {
        "task": task,
        "ldpnb, s": f"{middle[task]:.3g}",
        "times the floor": ratio(taken[task], taken[floor]) if floor in taken else "",
        "times faster than the best peer": ratio(taken[best], taken[task]) if best else "",
        "best peer": f"{best.split(' | ')[1]}" + (f" on {shares[best]:.2g} of the users" if shares[best] < 1 else "")
        if best
        else "",
        "peak MB": f"{max(t['peak MB'] for t in taken[task]):.0f}",
        "notes": "; ".join(
            f"{k} {v:.2g}"
            for k, v in (
                info | {f"peer's {k}": v for k, v in (taken[best][-1]["info"] if best else {}).items()}
            ).items()
        ),
        "target": ", ".join(
            {"peer": f">= {v:,}x", "floor": f"<= {v}x floor", "seconds": f"<= {v} s"}[k] for k, v in target.items()
        ),
    }
    met = {
        "peer": lambda v: (
            statistics.median(b["seconds"] / a["seconds"] for a, b in zip(taken[task], taken[best], strict=True)) >= v
        ),
        "floor": lambda v: (
            statistics.median(a["seconds"] / b["seconds"] for a, b in zip(taken[task], taken[floor], strict=True)) <= v
        ),
        "seconds": lambda v: middle[task] <= v,
    }
    return made | {"met": "yes" if all(met[k](v) for k, v in target.items()) else "no"}


def growth(names: dict[str, list[str]], pythons: dict[str, str]) -> list[dict]:
    points = []
    for side, module in (("ours", "tasks_ours.py"), ("peers", "tasks_peers.py")):
        for name in names[side]:
            if ": time against " in name:
                task, _, peer = name.partition(" | ")
                worker = Worker(pythons[side], module, name)
                panel, _, size = task.rpartition(" ")
                seconds = min(worker.time()["seconds"] for _ in range(3))
                points.append({"panel": panel, "size": float(size), "by": peer or "ldpnb", "seconds": seconds})
                worker.close()
    return points


def machine() -> str:
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"


@click.command()
@click.argument("peer_python")
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(1))
@click.option("--only", default="", help="Only tasks that contain this text; leaves the growth curves out.")
@click.option("--readme", is_flag=True, help="Put the table, or the rows measured, into the README.")
def main(peer_python: str, rounds: int, only: str, readme: bool) -> None:
    """Run the benchmark and print its table."""
    pythons = {"ours": sys.executable, "peers": peer_python}
    names = {"ours": tasks_in(sys.executable, "tasks_ours.py"), "peers": tasks_in(peer_python, "tasks_peers.py")}
    folder = ROOT / "build/bench"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for task, target in TARGETS:
        if only in task:
            rows.append(row(task, target, names, pythons, 1 if task in ONCE else rounds))
            if len(rows) == 1:
                click.echo(
                    f"{machine()}; median of {rounds} rounds (smallest to largest)\n\n| "
                    + " | ".join(rows[0])
                    + " |\n|"
                    + "---|" * len(rows[0])
                )
            click.echo("| " + " | ".join(rows[-1].values()) + " |")
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
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
    path = ROOT / "README.md"
    head, _, rest = path.read_text(encoding="utf-8").partition(START)
    before, _, tail = rest.partition(END)
    cells = [line.strip("| ").split(" | ")[0] for line in before.splitlines()]
    known = dict(zip(cells, before.splitlines(), strict=True))
    new = {r["task"]: "| " + " | ".join(r.values()) + " |" for r in rows}
    lines = [
        "| " + " | ".join(rows[0]) + " |",
        "|" + "---|" * len(rows[0]),
        *(line for task, _ in TARGETS if (line := new.get(task, known.get(task)))),
    ]
    note = f"\n{machine()}; medians of {rounds} interleaved rounds, smallest and largest in brackets.\n"
    path.write_text(f"{head}{START}\n" + "\n".join(lines) + f"\n{note}{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
