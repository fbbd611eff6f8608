"""Calls in processes of their own, which are ended when they take more than a call may: 2 s and 500 MB."""

import contextlib
import gc
import io
import json
import os
import random
import resource
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import psutil
from patience import PATIENCE

SECONDS, BYTES = 2.0, 500 * 2**20
THOROUGH = bool(os.environ.get("LDPNB_THOROUGH"))
SEED = int(os.environ.get("LDPNB_SEED") or random.SystemRandom().randrange(2**32))


def chance(area: str) -> random.Random:
    """Return what draws the cases of an area, whichever others are tried with it."""
    return random.Random(f"{area} {SEED}")


_WRITING: list[int] = []
"""In a process of calls: where it tells of them."""


def another_call() -> None:
    """Give the next call of a case 2 s of its own."""
    os.write(_WRITING[0], b"\n")


def happened(call: Callable[[Any], str], cases: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """Yield every case with what `call` says of it, or how it was ended."""
    gc.freeze()  # what is there stays in memory that processes share
    at = 0
    while at < len(cases):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            os.close(reading)
            _work(call, cases, at, writing)
        os.close(writing)
        with os.fdopen(reading, "rb", buffering=0) as lines:
            for said in _heard(child, lines):
                yield cases[at], said
                at += 1
        status = os.waitpid(child, 0)[1]
        if at < len(cases) and os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
            yield cases[at], f"died of signal {os.WTERMSIG(status)}"
            at += 1


def _work(call: Callable[[Any], str], cases: Sequence[Any], at: int, writing: int) -> None:
    """Say of each case what happened, in a process that ends here."""
    warnings.simplefilter("ignore")
    _WRITING.append(writing)
    with open("/proc/self/status") as status:
        used = 1024 * int(next(line for line in status if line.startswith("VmData")).split()[1])
    resource.setrlimit(resource.RLIMIT_DATA, (used + BYTES, used + BYTES))
    for case in cases[at:]:
        try:
            said = call(case)
        except MemoryError as error:
            said = f"over {BYTES >> 20} MB ({error})"
        except BaseException as error:
            said = f"the test itself failed: {type(error).__name__}: {error}"
        os.write(writing, (json.dumps(said) + "\n").encode())
    os._exit(0)


def _heard(child: int, lines: Any) -> Iterator[str]:
    """Yield what a process says, line by line; end it if a call takes too long."""
    rest, process = b"", psutil.Process(child)
    while True:
        start, before = time.monotonic(), _seconds(process)
        while b"\n" not in rest:
            if select.select([lines], [], [], 0.2)[0]:
                more = lines.read(65536)
                if not more:
                    return
                rest += more
                continue
            over = _seconds(process, *process.children(recursive=True)) - before > SECONDS
            if over or time.monotonic() - start > PATIENCE:
                os.killpg(child, signal.SIGKILL)
                yield f"over {SECONDS} s" if over else f"not done in {PATIENCE} s"
                return
        line, _, rest = rest.partition(b"\n")
        if line:
            yield json.loads(line)


def _seconds(*processes: psutil.Process) -> float:
    """Return the CPU time of processes and of their ended children, which a busy machine does not lengthen."""
    total = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total


@contextlib.contextmanager
def silent() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """Catch what is printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield out, err


def sample(cases: Sequence[Any], number: int, chance: random.Random) -> list[Any]:
    """Return every case of a thorough test, else so many, others in every run."""
    return list(cases) if THOROUGH else chance.sample(cases, min(number, len(cases)))


def report(call: Callable[[Any], str], cases: Sequence[Any], show: Callable[[Any], str]) -> None:
    """Print every case of which there is something to say, and how many there were; for a test that reads it."""
    bad = 0
    for case, said in happened(call, cases):
        if said:
            bad += 1
            sys.stdout.write(f"{show(case)}: {said}\n".replace("\udcff", "?"))
            sys.stdout.flush()
    print(f"{len(cases)} cases, {bad} faults, seed {SEED}")
