"""Sweeps and notebooks on worker processes that die, a scheduler that is lost, a client that is stopped: every point
once, and the same numbers.

All clusters are on the loopback interface. Tests wait for what must have happened, never for a time.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from demonstration import notebook

from ldpnb.checks import UsageError
from ldpnb.run import execution, parallel
from ldpnb.run.catalogue import HOME_VARIABLE, catalogue, find
from ldpnb.run.parallel import pool
from ldpnb.sweeps import folder as folders
from ldpnb.sweeps import grid, session

HERE = str(Path(__file__).parents[1])
PATIENCE = 100
CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    kept = {"dashboard_address": "127.0.0.1:0", "allowed_failures": 0}
    local = {"host": "127.0.0.1", "dashboard_address": None, "scheduler_kwargs": kept}
    with LocalCluster(n_workers=2, threads_per_worker=1, silence_logs=50, **local) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def wait(until: Callable[[], object], process: subprocess.Popen | None = None) -> None:
    """Wait until something is true, as long as a process lives."""
    start = time.monotonic()
    while not until():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() - start < PATIENCE
        time.sleep(0.02)


class Gated:
    """A sweep whose points from the sixth on wait at a gate, as a process of its own.

    There are more points than can be in hand, in the batches that short tasks are joined to, when all workers wait."""

    POINTS, FREE, TASKS = "0:59:60", 12, 120

    def __init__(self, folder: Path) -> None:
        self.gate, self.out = folder / "gate", folder / "out"
        fixed = {"gate": str(self.gate), "first_waiting": "6"}
        self.sweep = grid.plan("disturbed:gated", {"point": self.POINTS}, fixed, repetitions=6, block=3)
        self.started = list[subprocess.Popen]()

    def start(self, *where: str) -> subprocess.Popen:
        what = f"--grid point={self.POINTS} -p gate={self.gate} -p first_waiting=6 --repetitions 6 --block 3".split()
        command = [sys.executable, "-W", "error", "-m", "ldpnb", "sweep", "disturbed:gated", *what]
        environment = os.environ | {"PYTHONPATH": HERE, "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [*command, "--output", str(self.out), *where],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
            # whoever was started in the background of a shell has no interrupts, nor have its children
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        self.started.append(process)
        wait(lambda: self.waiting() and self.kept(), process)
        return process

    def end(self) -> None:
        """Let nothing of it survive."""
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def waiting(self) -> set[int]:
        """The workers that have come to the gate."""
        return {int(path.suffix[1:]) for path in self.gate.parent.glob("gate.*")}

    def kept(self) -> int:
        return len(list(self.out.glob("tasks/*/*.parquet")))

    def run_here(self, folder: Path) -> tuple[int, str]:
        """Open the gate and do here what is left; return how much that was, and the hash."""
        self.gate.touch()
        folders.prepare(folder, self.sweep)
        done = folders.finished(folder)
        with pool(jobs=1) as workers:
            left = list(session.outcomes(self.sweep, folder, workers, done=done))
        assert not any(outcome.error for outcome in left)
        return len(left), folders.write_table(folder, folders.collect(folder))

    def end_as_undisturbed(self, kept: int) -> None:
        """Resume the sweep, and see that nothing kept is done again and the table is as if nothing had happened."""
        left, digest = self.run_here(self.out)
        assert left == self.TASKS - kept < self.TASKS
        assert self.kept() == len(self.sweep) == self.TASKS
        assert (self.TASKS, digest) == self.run_here(self.gate.parent / "undisturbed")


@pytest.fixture
def gated(tmp_path: Path) -> Iterator[Gated]:
    sweep = Gated(tmp_path)
    yield sweep
    sweep.end()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, subprocess.Popen, Path]]:
    """A Dask cluster's address, its process, which the last test kills, and the checkout of its two workers."""
    home = tmp_path_factory.mktemp("cluster")
    (home / "notebooks/1_demo").mkdir(parents=True)
    (home / "notebooks/1_demo/01_line.ipynb").write_text(notebook("seed: int = 1  # seed", "seed + 1"))
    environment = os.environ | {"PYTHONPATH": HERE, HOME_VARIABLE: str(home)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [sys.executable, "-c", CLUSTER]
    process = subprocess.Popen(command, text=True, env=environment, start_new_session=True, **pipes)
    yield process.stdout.readline().strip(), process, home
    process.kill()
    process.communicate()


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_a_worker_is_killed_then_the_client_interrupted_then_the_sweep_resumed(backend: str, gated: Gated) -> None:
    process = gated.start("--backend", backend, "--jobs", "2")
    killed = gated.waiting()
    os.kill(min(killed), signal.SIGKILL)
    wait(lambda: gated.waiting() - killed, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: everyone hears it
    _, stderr = process.communicate(timeout=PATIENCE)
    kept = gated.kept()
    assert process.returncode == 130
    there = f"{kept} of {gated.TASKS} tasks are kept in {gated.out}, and the same command goes on from there"
    said, _, more = stderr.partition("\n")
    assert said == f"ldpnb: interrupted; {there}"
    assert not more or "resource_tracker" in more  # loky's own, of what the killed worker could not sign off
    assert 0 < kept <= gated.FREE
    gated.end_as_undisturbed(kept)


def test_a_killed_client_loses_nothing_that_was_kept(gated: Gated) -> None:
    process = gated.start("--jobs", "2")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    gated.end_as_undisturbed(gated.kept())


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_a_task_that_kills_its_workers_is_reported_and_all_others_are_done(
    backend: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue("cluster")[0] if backend == "dask" else None

    def run(name: str, points: str, *where: object) -> tuple[list[session.Outcome], pd.DataFrame]:
        sweep = grid.plan("disturbed:lethal", {"point": points}, {"deadly": "5"}, repetitions=4)
        folders.prepare(tmp_path / name, sweep)
        with pool(*where) as workers:
            outcomes = list(session.outcomes(sweep, tmp_path / name, workers))
        return outcomes, folders.collect(tmp_path / name)

    outcomes, table = run("workers", "0:19:20", backend, 2, address)
    failed = {dict(o.task.parameters)["point"]: o.error for o in outcomes if o.error}
    assert failed == {5: "its worker process died every time (killed, or out of memory)"}
    assert len(outcomes) == len({o.task for o in outcomes}) == 20
    _, undisturbed = run("here", ",".join(str(point) for point in range(20) if point != 5))
    pd.testing.assert_frame_equal(table, undisturbed, check_exact=True)


def test_notebooks_run_on_a_cluster(
    cluster: tuple[str, subprocess.Popen, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _, home = cluster
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    catalogue.cache_clear()
    (outcome,) = execution.run(execution.plan([find("01_line")], {}, None), 1, "dask", address)
    catalogue.cache_clear()
    assert outcome.error == ""
    assert '"2"' in outcome.task.target.read_text()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense"])
def test_a_scheduler_that_does_not_answer_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_CONNECTING", 0.2)
    with pytest.raises(UsageError, match=f"no Dask scheduler answers at {address} "), pool("dask", 2, address):
        pass


def test_the_scheduler_is_lost_and_the_sweep_resumed(gated: Gated, cluster: tuple[str, subprocess.Popen, Path]) -> None:
    address, scheduler, _ = cluster
    process = gated.start("--backend", "dask", "--scheduler", address)
    scheduler.kill()
    _, stderr = process.communicate(timeout=PATIENCE)
    kept = gated.kept()
    assert process.returncode == 1
    there = f"{kept} of {gated.TASKS} tasks are kept in {gated.out}, and the same command goes on from there"
    assert stderr == f"ldpnb: the connection to the Dask scheduler was lost; {there}\n"
    gated.end_as_undisturbed(kept)
