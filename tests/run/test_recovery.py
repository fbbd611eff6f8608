"""Random commands that random faults hit: afterwards every output is an old or a new good one, and the next run mends.

Every run draws three others; LDPNB_THOROUGH=1 goes on for an hour. LDPNB_SEED repeats what a failure tells.
"""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from demonstration import COMPUTE, PARAMETERS, notebook
from test_processes import MARK, of_this

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")

SECONDS = 3600 if os.environ.get("LDPNB_THOROUGH") else 0
SEED = int(os.environ.get("LDPNB_SEED") or random.SystemRandom().randrange(2**32))
FAULTS = ["kill", "terminate", "hang up", "space", "files", "damage"]
SWEEP = ["sweep", "gaps", "-g", "epsilon=0.5,1,2", "-r", "4", "--block", "2", "-o", "build/swept"]
COMMANDS = [
    ["run", "-j", "1", "-f"],
    ["run", "-j", "2", "-f"],
    ["run", "01_line", "-p", "users=3", "-o", "build/own"],
    [*SWEEP, "-j", "1"],
    [*SWEEP, "-j", "2"],
    ["plot", "build/swept", "--x", "epsilon", "--y", "mse"],
]


def limited(kind: int, amount: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (amount, amount))


def commit(folder: Path) -> dict[str, bytes]:
    """What is committed in a checkout."""
    rooms = (folder / "notebooks", folder / "figures")
    files = (p for r in rooms for p in r.rglob("*") if p.is_file() and not p.name.endswith(".failed.ipynb"))
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files if ".partial" not in p.as_posix()}


def ldpnb(checkout: Path, words: list[str], mark: str, start: Callable[[], None] | None = None) -> subprocess.Popen:
    environment = os.environ | {MARK: mark, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "ldpnb", *words], cwd=checkout, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=start,
    )  # fmt: skip


def hit(checkout: Path, chance: random.Random, fault: str, mark: str) -> str:
    """Run a command, and a fault with it; return both."""
    words = chance.choice(COMMANDS)
    limits = {
        "space": limited(resource.RLIMIT_FSIZE, chance.choice([0, 1000, 30_000])),
        "files": limited(resource.RLIMIT_NOFILE, chance.randint(12, 60)),
    }
    if fault == "damage":
        found = [p for p in (checkout / "build").rglob("*") if p.is_file()]
        for path in chance.sample(found, min(2, len(found))):
            path.write_bytes(path.read_bytes()[: chance.randint(0, 100)])
    process = ldpnb(checkout, words, mark, limits.get(fault))
    if fault in ("kill", "terminate", "hang up"):
        time.sleep(chance.uniform(0.2, 4))
        number = {"kill": signal.SIGKILL, "terminate": signal.SIGTERM, "hang up": signal.SIGHUP}[fault]
        process.send_signal(number)
    said = process.communicate(timeout=120)[1]
    if process.returncode in (0, 1, 2):
        assert "Traceback" not in said, said
    return f"{' '.join(words)} | {fault}"


def test_after_any_fault_outputs_are_good_and_the_next_run_mends(checkout: Path) -> None:
    print(f"seed {SEED}")
    (checkout / "notebooks/1_demo/02_broken.ipynb").write_text(notebook(PARAMETERS, COMPUTE))
    first = ldpnb(checkout, ["run", "-j", "1"], "first")
    first.communicate(timeout=120)
    assert first.returncode == 0
    good, chance, start, history = commit(checkout), random.Random(SEED), time.monotonic(), list[str]()
    faults = chance.sample(FAULTS, len(FAULTS) if SECONDS else 3)
    while len(history) < len(faults) or time.monotonic() - start < SECONDS:
        mark = f"{os.getpid()}-{len(history)}"
        history.append(hit(checkout, chance, faults[len(history) % len(faults)], mark))
        told = f"seed {SEED}, after {len(history)}: {history[-3:]}"
        deadline = time.monotonic() + 20
        while of_this(mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert of_this(mark) == set(), told
        assert commit(checkout) == good, told
    shutil.rmtree(checkout / "build/swept", ignore_errors=True)
    for words in (["run", "-j", "1", "-f"], [*SWEEP, "-j", "1"]):
        process = ldpnb(checkout, words, "last")
        assert process.communicate(timeout=120)[0] is None
        assert process.returncode == 0, history
    assert commit(checkout) == good
    left = [p for room in ("notebooks", "figures", "build/work") for p in (checkout / room).rglob("*.partial*")]
    assert left == [], history
