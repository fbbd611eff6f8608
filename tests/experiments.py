"""Experiments for the tests of sweeps.

Some draw numbers; others wait for a file, fail in several ways, or kill the worker that runs them.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np

FAR = 2.0**20
Series = Iterator[tuple[dict[str, object], dict[str, np.ndarray]]]


def uniform(
    *,
    point: Annotated[int, "[0, 100]; where we are"] = 0,
    repetitions: int,
    rng: np.random.Generator,
) -> Series:
    """Draw numbers, near zero and far away."""
    numbers = rng.random(repetitions)
    yield {"law": "near"}, {"value": numbers}
    yield {"law": "far"}, {"value": FAR + numbers, "place": np.full(repetitions, float(point))}


def process(*, point: int = 0, repetitions: int, rng: np.random.Generator) -> Series:
    """Tell which process computes."""
    yield {}, {"process": np.full(repetitions, float(os.getpid()))}


def gated(
    *,
    point: int = 0,
    first_waiting: int = 10**9,
    gate: str = "",
    repetitions: int,
    rng: np.random.Generator,
) -> Series:
    """Draw numbers; from some point on, wait until a file is there.

    A process that waits leaves a file with its number.
    """
    while point >= first_waiting and not Path(gate).exists():
        Path(f"{gate}.{os.getpid()}").touch()
        time.sleep(0.01)
    yield {}, {"value": rng.random(repetitions)}


def lethal(
    *, point: int = 0, killed: str = "", repetitions: int, rng: np.random.Generator
) -> Series:
    """Draw numbers, and kill the worker once, at point 5; a file tells that it has happened."""
    if point == 5 and not Path(killed).exists():
        Path(killed).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield {}, {"value": rng.random(repetitions)}


def faulty(
    *, fault: str = "", mended: str = "", repetitions: int, rng: np.random.Generator
) -> Series:
    """Fail in a way of choice until a file appears."""
    values = rng.random(repetitions)
    if not Path(mended).exists():
        if fault == "error":
            raise ZeroDivisionError("nothing to divide by")
        if fault == "number":
            values[0] = np.nan
        if fault == "none":
            return
        if fault == "label":
            yield {"fault": "x"}, {"value": values}
        if fault == "twice":
            yield {}, {"value": values}

    yield {}, {"value": values}


def untyped(*, point=0, repetitions: int, rng: np.random.Generator) -> Series:
    """Have a parameter of no type."""
    yield {}, {"value": rng.random(repetitions) + point}
