"""Whatever ends a run or a sweep, nothing of it goes on or writes: its kernels and workers start, or compute in C.

Every run draws a kind, a way and a moment; LDPNB_THOROUGH=1 ends every kind five times in every way, under load.
"""

import fcntl
import os
import pty
import random
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from uuid import uuid4

import pytest
from demonstration import notebook
from test_faults import snapshot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes look after their parents")

THOROUGH = bool(os.environ.get("LDPNB_THOROUGH"))
MARK = "LDPNB_OF_THIS_TEST"
BUSY = "import pathlib\npathlib.Path({!r} + str(__import__('os').getpid())).touch()\nsum(range(10**12))"
HERE = Path(__file__).parents[1]
BENCH = f"import sys; sys.path.insert(0, '{HERE}/bench'); import bench; bench.Worker(sys.executable, '{HERE}/disturbed.py', 'busy').prepare()"
KINDS = {
    "a benchmark": ("-c", BENCH),
    "a run": ("run", "01_line"),
    "runs": ("run", "-j", "2"),
    "runs on Dask": ("run", "-j", "2", "--backend", "dask"),
    "a sweep": ("sweep", "disturbed:busy", "-g", "point=1,2,3", "-r", "2", "-j", "2", "-o", "build/out"),
    "a sweep on Dask": (
        "sweep", "disturbed:busy", "-g", "point=1,2,3", "-r", "2", "-j", "2", "--backend", "dask", "-o", "build/out",
    ),
}  # fmt: skip
ENDS = {"killed": signal.SIGKILL, "terminated": signal.SIGTERM, "hung up": signal.SIGHUP, "its terminal closed": None}
MOMENTS = ["when it computes", "when it has started a process"]
EVERY = list(product(KINDS, ENDS, MOMENTS))


def of_this(mark: str) -> set[int]:
    """The processes with the mark in their environment that are not over."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            over = (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            if not over and mark.encode() in (process / "environ").read_bytes():
                found.add(int(process.name))
        except OSError:
            continue
    return found


@pytest.fixture
def load() -> Iterator[None]:
    """Keep every core busy beside a thorough test."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * THOROUGH)]
    yield
    for process in busy:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", range(5 * len(EVERY) if THOROUGH else 1))
def test_nothing_goes_on_or_writes_when_a_command_has_ended(checkout: Path, load: None, number: int) -> None:
    kind, end, moment = EVERY[number % len(EVERY)] if THOROUGH else random.SystemRandom().choice(EVERY)
    print(kind, end, moment)
    computing = moment == MOMENTS[0]
    begun, mark = checkout / "begun.", uuid4().hex
    for name in ("01_line", "02_broken"):
        text = notebook("seed: int = 1  # seed", BUSY.format(str(begun)))
        (checkout / f"notebooks/1_demo/{name}.ipynb").write_text(text)
    before, terminal = snapshot(checkout), pty.openpty()
    environment = os.environ | {MARK: mark, "PYTHONPATH": str(HERE), "LDPNB_BEGUN": str(begun)}

    def at_a_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may have been started by nohup

    process = subprocess.Popen(
        [sys.executable, *(("-m", "ldpnb") if kind != "a benchmark" else ()), *KINDS[kind]],
        stdin=terminal[1], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=checkout,
        start_new_session=True, preexec_fn=at_a_terminal,
    )  # fmt: skip
    os.close(terminal[1])
    try:
        deadline = time.monotonic() + 120
        wanted = 1 if kind in ("a run", "a benchmark") or not computing else 2
        while len(list(checkout.glob("begun.*")) if computing else of_this(mark) - {process.pid}) < wanted:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.close(terminal[0]) if ENDS[end] is None else process.send_signal(ENDS[end])
        process.wait(timeout=60)
        deadline = time.monotonic() + 20
        while of_this(mark) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert of_this(mark) == set()
    finally:
        for left in of_this(mark):
            os.kill(left, signal.SIGKILL)
    after = {n: c for n, c in snapshot(checkout).items() if "build/work" not in n}
    assert after == before


def test_an_interrupt_within_a_destructor_is_heard() -> None:
    destroy = """
import signal, time
from ldpnb.run import endings
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background has no interrupts
endings.hear()
class Late:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
try:
    Late()
    time.sleep(600)
except KeyboardInterrupt:
    print("heard")
"""
    command = [sys.executable, "-c", destroy]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "heard\n", "")


def test_a_command_whose_interrupt_is_swallowed_ends_all_the_same() -> None:
    swallow = """
import os, signal, time
from ldpnb.run import endings
endings._PATIENCE = 1
endings.hear()
try:
    os.kill(os.getpid(), signal.SIGTERM)
except KeyboardInterrupt:
    time.sleep(600)
"""
    assert subprocess.run([sys.executable, "-c", swallow], timeout=300, check=False).returncode == -signal.SIGALRM
