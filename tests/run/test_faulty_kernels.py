"""Faults of kernels and of runs beside each other: they end, and every result is the old or the new good one."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from demonstration import notebook
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from patience import PATIENCE
from test_faults import LINE, snapshot, up_to_date

from ldpnb.cli import cli
from ldpnb.run import catalogue, execution

FAULTY_CELLS = {
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", "DeadKernelError: Kernel died"),
    "out of memory": (
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))\nbytearray(2**40)",
        "cell 2 raised MemoryError",
    ),
    "too slow": ("import time; time.sleep(60)", "CellTimeoutError: A cell timed out"),
}


@pytest.mark.parametrize("fault", FAULTY_CELLS)
def test_a_kernel_that_comes_to_grief_ends(checkout: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    cell, reason = FAULTY_CELLS[fault]
    mark, path = checkout / "kernel", checkout / f"notebooks/{LINE}.ipynb"
    begin = f"import os, pathlib, signal\npathlib.Path({str(mark)!r}).write_text(str(os.getpid()))\n"
    path.write_text(notebook("seed: int = 1  # seed", begin + cell))
    before = snapshot(checkout)
    monkeypatch.setattr(execution, "_CELL_TIMEOUT", 1 if fault == "too slow" else 60)
    catalogue.catalogue.cache_clear()
    (task,) = execution.plan([catalogue.find("01_line")], {}, None)
    outcome = execution.execute(task)
    assert outcome.error.startswith(f"{LINE}: {reason}")
    assert outcome.error.endswith(f"(see {path.with_suffix('.failed.ipynb')})")
    after = snapshot(checkout)
    assert after.pop(f"notebooks/{LINE}.failed.ipynb")
    assert after == before
    wait_for_end(int(mark.read_text()))


def wait_for_end(process: int) -> None:
    for _ in range(1200):
        state = Path(f"/proc/{process}/stat")
        if not state.exists() or state.read_text().split(") ")[1].startswith("Z"):
            return
        time.sleep(0.05)
    pytest.fail(f"process {process} goes on")


def test_of_two_commands_at_once_one_is_killed_and_the_other_does_the_work(checkout: Path) -> None:
    gate, path = checkout / "gate", checkout / f"notebooks/{LINE}.ipynb"
    cell = f"import os, pathlib, time\ngate = pathlib.Path({str(gate)!r})\n"
    cell += "gate.with_suffix(f'.{os.getpid()}').touch()\nwhile not gate.exists(): time.sleep(0.02)\n1 + seed"
    path.write_text(notebook("seed: int = 1  # seed", cell))
    before, command = snapshot(checkout), [sys.executable, "-m", "ldpnb", "run", "01_line"]
    processes: list[subprocess.Popen[str]] = []
    kernels: list[Path] = []
    for _ in range(2):
        processes.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        while len(kernels) < len(processes):
            assert processes[-1].poll() is None
            kernels = list(checkout.glob("gate.*"))
            time.sleep(0.02)
    processes[0].kill()
    processes[0].communicate()
    assert {n: c for n, c in snapshot(checkout).items() if "build/work" not in n} == before
    assert len(list((checkout / "build/work").iterdir())) == 2
    gate.touch()
    assert (processes[1].communicate(timeout=PATIENCE)[1], processes[1].returncode) == ("", 0)
    assert json.loads(path.read_text())["cells"][2]["outputs"][0]["data"]["text/plain"] == ["2"]
    assert up_to_date()
    for kernel in kernels:
        wait_for_end(int(kernel.suffix[1:]))
    execution.plan([catalogue.find("01_line")], {}, None)
    assert list((checkout / "build/work").iterdir()) == []


@pytest.mark.parametrize("silent", [1, 2])
def test_a_kernel_that_does_not_answer_is_tried_once_more_and_named(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, silent: int
) -> None:
    import papermill

    execute, left = papermill.execute_notebook, [silent]

    def loaded(*given: object, **named: object) -> object:
        left[0] -= 1
        if left[0] >= 0:
            raise RuntimeError("Kernel didn't respond in 120 seconds")
        return execute(*given, **named)

    monkeypatch.setattr(papermill, "execute_notebook", loaded)
    (task,) = execution.plan([catalogue.find("01_line")], {}, None)
    outcome = execution.execute(task)
    named = f"{LINE}: its kernel did not answer, twice: Kernel didn't respond in 120 seconds"
    assert (outcome.error, outcome.retried) == (("", True) if silent == 1 else (named, False))


@pytest.fixture
def dead(monkeypatch: pytest.MonkeyPatch) -> list[KernelManager]:
    """Let the first kernel die before it answers; return its manager once it was started."""
    command, managers = KernelManager.format_kernel_cmd, list[KernelManager]()

    def dies(manager: KernelManager, **named: Any) -> list[str]:
        if managers:
            return command(manager, **named)
        managers.append(manager)
        return [sys.executable, "-c", "", "ipykernel_launcher"]

    monkeypatch.setattr(KernelManager, "format_kernel_cmd", dies)
    monkeypatch.setattr(KernelProvisionerFactory.instance(), "default_provisioner_name", "local-provisioner")
    return managers


def test_a_kernel_that_dies_before_it_answers_is_told_with_the_next_ones_success(
    checkout: Path, dead: list[KernelManager], capfd: pytest.CaptureFixture[str]
) -> None:
    result = CliRunner().invoke(cli, ["run", "01_line"])
    assert dead
    assert result.stdout.splitlines()[0].endswith(" s, by a second kernel: the first did not answer")
    assert (result.stderr, capfd.readouterr().err) == ("", "")


def test_a_kernel_of_nbval_that_dies_before_it_answers_is_followed_by_another(dead: list[KernelManager]) -> None:
    from nbval import kernel

    manager, client = kernel.start_new_kernel(kernel_name="python3")
    try:
        assert dead
        assert manager not in dead
        assert client.execute_interactive("1", timeout=PATIENCE)["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
