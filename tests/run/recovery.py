"""Random commands that random faults hit, and then the same commands again; run as a script by `test_recovery`.

After a fault each committed file is the old or the new one, and no process goes on; after the next run all results are
the new ones and nothing else is left. A command is a process forked from this one, which has its imports already, or
now and then a new one; whatever it starts becomes a child of this process when its own parent ends.
"""

import atexit
import ctypes
import gc
import os
import random
import re
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import IPython  # noqa: F401
import loky  # noqa: F401
import papermill  # noqa: F401
import pyarrow.parquet  # noqa: F401
from demonstration import notebook
from patience import PATIENCE

import ldpnb.sweeps.experiments
import ldpnb.sweeps.plot
import ldpnb.sweeps.session  # noqa: F401
from ldpnb import cli
from ldpnb.run import execution, kernels  # noqa: F401
from ldpnb.run.catalogue import HOME_VARIABLE
from ldpnb.sweeps import registry

SECONDS, LEAST = 3600 if os.environ.get("LDPNB_THOROUGH") else 60, 3
SEED = int(os.environ.get("LDPNB_SEED") or random.SystemRandom().randrange(2**32))
CHANCE = random.Random(SEED)
AFTER_ITS_END = 30
"""Seconds after a command's end within which all that it has started is over."""
HERE = Path(sys.argv[1])
CELL = """
version = "v0v"
import os, pathlib
folder = pathlib.Path(os.environ["LDPNB_FIGURES"])
folder.mkdir(parents=True, exist_ok=True)
(folder / "figure_1.csv").write_text(5000 * f"{version} {seed}\\n")
version"""

SWEEP = ("sweep", "gaps", "-g", "epsilon=0.5,1,2", "-r", "4", "--block", "2", "-o", "build/swept", "-j")
PLOT = ("plot", "build/swept", "--x", "epsilon", "--y", "mse", "-o", "build/drawn/picture.png")
OWN = ("run", "01_line", "-p", "seed=3", "-o", "build/own")
RUN = ("run", "-j")
RARE = [(*RUN, "2"), (*SWEEP, "2"), PLOT]
COMMANDS = [*RARE, *2 * [(*SWEEP, "1"), OWN], *3 * [(*RUN, "1")]]
SIGNALS = {"kill": signal.SIGKILL, "terminate": signal.SIGTERM, "hang up": signal.SIGHUP, "interrupt": signal.SIGINT}
FAULTS = [*SIGNALS, "kill one of its own", "space", "files", "damage"]
USUAL: dict[tuple[str, ...], float] = {}
"""How long a command takes on one process, in seconds, so that faults come while it works."""


def start(words: tuple[str, ...], limits: dict[int, int], anew: bool) -> tuple[int, int]:
    """Start a command in a session of its own; return its process, and a pipe with what it says of errors."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.setsid()
    with suppress(OSError):  # where sessions share the processor evenly, however nice their processes are
        Path("/proc/self/autogroup").write_text("10")
    # a shell's background has no interrupts, and what `nohup` starts no hang-ups
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream, there in enumerate((nowhere, nowhere, writing)):
        os.dup2(there, stream)
    for kind, amount in limits.items():
        resource.setrlimit(kind, (amount, amount))
    if anew:
        os.execv(sys.executable, [sys.executable, "-m", "ldpnb", *words])
    sys.argv, code = ["ldpnb", *words], 70
    try:
        cli.main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    atexit._run_exitfuncs()
    os._exit(code)  # to take all imports down would cost more than the command


def below(process: int) -> Iterator[int]:
    """Yield the processes that a process has started, and theirs."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            yield child
            yield from below(child)


def ended(process: int, reading: int) -> tuple[int, str]:
    """Wait until a command and all that it has started are over; return its exit code and what it said."""
    code, deadline = 0, time.monotonic() + PATIENCE
    while True:
        try:
            found, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            with os.fdopen(reading, errors="replace") as said:
                return code, said.read()
        if found == process:
            code, deadline = os.waitstatus_to_exitcode(status), time.monotonic() + AFTER_ITS_END
        elif not found:
            if time.monotonic() > deadline:
                left = {p: Path(f"/proc/{p}/cmdline").read_bytes().replace(b"\0", b" ") for p in below(os.getpid())}
                raise AssertionError(f"these go on after exit {code}: {left}")
            time.sleep(0.01)


def hit(words: tuple[str, ...], fault: str) -> tuple[int, str]:
    """Run a command, and a fault with it; return its exit code, below zero for a signal, and what it said."""
    # an interrupt while Python itself starts is Python's to tell of
    limits, anew = dict[int, int](), CHANCE.random() < 0.15 and fault != "interrupt"
    if fault == "space":
        limits[resource.RLIMIT_FSIZE] = CHANCE.choice([0, 1000, 30_000])
    elif fault == "files":
        limits[resource.RLIMIT_NOFILE] = CHANCE.randint(10, 60)
    elif fault == "damage":
        found = sorted(path for path in (HERE / "build").rglob("*") if path.is_file())
        for path in CHANCE.sample(found, 2):
            path.write_bytes(path.read_bytes()[: CHANCE.randint(0, 100)])
    process, reading = start(words, limits, anew)
    if fault in SIGNALS or "own" in fault:
        time.sleep(CHANCE.uniform(0, USUAL[words[:2]] * (1 + 2 * anew + 2 * (words[-1] == "2"))))
        aims = [process] if fault in SIGNALS else list(below(process))
        for aim in CHANCE.sample(aims, min(1, len(aims))):
            os.kill(aim, SIGNALS.get(fault, signal.SIGKILL))
    return ended(process, reading)


def again(words: tuple[str, ...]) -> str:
    """Run a command and nothing else; return how it failed, or nothing."""
    begun = time.monotonic()
    code, told = ended(*start(words, {}, anew=False))
    USUAL.setdefault(words[:2], time.monotonic() - begun)
    return f"exit {code}: {told}" if code else ""


def committed() -> dict[str, bytes]:
    """All notebooks and figures, and whatever lies among them but the report of a failed run."""
    found = [path for room in ("notebooks", "figures") for path in (HERE / room).rglob("*") if path.is_file()]
    return {str(path.relative_to(HERE)): path.read_bytes() for path in found if ".failed" not in path.suffixes}


def results(words: tuple[str, ...]) -> dict[str, bytes]:
    """What a command makes, the same every time but for the version of the notebooks."""
    if words[:2] == RUN:
        return committed()
    place = "build/own/**/*.*" if words == OWN else f"build/{'drawn/*' if words == PLOT else 'swept/table.csv'}"
    return {str(path.relative_to(HERE)): path.read_bytes() for path in HERE.glob(place)}


def edit(version: bytes) -> None:
    """Change the notebooks as a user would, so that their results are outdated."""
    for path in (HERE / "notebooks/1_demo").glob("0?_*.ipynb"):
        path.write_bytes(re.sub(rb'version = \\"v\d+v', rb'version = \\"' + version, path.read_bytes()))


def case(number: int, good: dict[tuple[str, ...], dict[str, bytes]]) -> None:
    """Outdate the notebooks, hit a command with a fault, look, run it again, look."""
    words, fault, version = CHANCE.choice(COMMANDS), FAULTS[number % len(FAULTS)], f"v{number + 1}v".encode()
    print(f"{' '.join(words)} | {fault}", flush=True)
    if words[0] == "sweep" and CHANCE.random() < 0.5:
        shutil.rmtree(HERE / "build/swept")
    edit(version)
    old, new = committed(), {name: content.replace(b"v0v", version) for name, content in good[words[:2]].items()}
    (code, told), left = hit(words, fault), committed()
    assert code < 0 or code in (0, 1, 2, 130), (code, told)
    assert code < 0 or "own" in fault or "Traceback" not in told, (
        told
    )  # multiprocessing tells of a lost helper of its own
    assert code <= 0 or told, code
    assert {name for name in left if ".partial" not in name} == old.keys()
    assert all(left[name] in (old[name], new.get(name)) for name in old), [n for n in old if left[n] != old[n]]
    if fault == "damage" and again((*SWEEP, "1")):
        shutil.rmtree(HERE / "build/swept")
        assert again((*SWEEP, "1")) == ""
    assert again(words) == ""
    assert results(words) == new
    assert words[:2] == RUN or committed() == old
    assert [path for kind in ("partial", "failed.ipynb") for path in HERE.rglob(f"*.{kind}")] == []


def main() -> None:
    """Take faults until the time is over, and at least so many."""
    begun, number = time.monotonic(), 0
    ctypes.CDLL(None).prctl(36, 1)  # be the parent of the orphans below
    os.nice(19)  # takes what the machine's other tests leave
    (HERE / "notebooks/1_demo").mkdir(parents=True)
    for name in ("01_line", "02_other"):
        (HERE / f"notebooks/1_demo/{name}.ipynb").write_text(notebook("seed: int = 1  # seed", CELL))
    os.environ |= {HOME_VARIABLE: str(HERE), "OPENBLAS_NUM_THREADS": "1"}
    os.chdir(HERE)
    print(f"seed {SEED}", flush=True)
    registry.provenance("gaps"), execution.code_hash(HERE)  # every command would find them anew
    gc.freeze()
    FAULTS.sort(key=lambda _: CHANCE.random())
    good = {}
    for words in ((*RUN, "1"), (*SWEEP, "1"), OWN, PLOT):
        assert again(words) == ""
        good[words[:2]] = results(words)
    while number < LEAST or time.monotonic() - begun < SECONDS:
        since = time.monotonic()
        case(number, good)
        number += 1
        if SECONDS == 60:  # two threads of one core share it, however nice one of them is
            time.sleep(min(time.monotonic() - since, 2))
    print(f"{number} faults, seed {SEED}")


if __name__ == "__main__":
    main()
