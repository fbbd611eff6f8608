"""Experiments for the tests of sweeps: some wait for a file, fail, or kill their worker.

A sweep calls each with the values of a point, and gets series: a label and the numbers measured.
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
    """Draw numbers near zero, and the same ones far away beside the point itself."""
    numbers = rng.random(repetitions)
    yield {"law": "near"}, {"value": numbers}
    yield {"law": "far"}, {"value": FAR + numbers, "place": np.full(repetitions, float(point))}


def process(*, point: int = 0, repetitions: int, rng: np.random.Generator) -> Series:
    """Return the number of the process that computes."""
    yield {}, {"process": np.full(repetitions, float(os.getpid()))}


def gated(
    *,
    point: int = 0,
    first_waiting: int = 10**9,
    gate: str = "",
    repetitions: int,
    rng: np.random.Generator,
) -> Series:
    """Draw numbers, but from the point `first_waiting` on only once the file `gate` is there.

    A process that waits leaves a file whose suffix is its number.
    """
    while point >= first_waiting and not Path(gate).exists():
        Path(f"{gate}.{os.getpid()}").touch()
        time.sleep(0.01)
    yield {}, {"value": rng.random(repetitions)}


def lethal(
    *, point: int = 0, killed: str = "", repetitions: int, rng: np.random.Generator
) -> Series:
    """Draw numbers, and kill the worker at point 5 if the file `killed` does not exist yet."""
    if point == 5 and not Path(killed).exists():
        Path(killed).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield {}, {"value": rng.random(repetitions)}


def faulty(
    *, fault: str = "", mended: str = "", repetitions: int, rng: np.random.Generator
) -> Series:
    """Draw numbers, with a fault of choice until the file `mended` is there."""
    values = rng.random(repetitions)
    if Path(mended).exists():
        yield {}, {"value": values}
        return

    if fault == "error":
        raise ZeroDivisionError("nothing to divide by")
    if fault == "number":
        values[0] = np.nan
    if fault == "label":
        yield {"fault": "x"}, {"value": values}
    if fault == "twice":
        yield {}, {"value": values}
    if fault != "none":
        yield {}, {"value": values}


def untyped(*, point=0, repetitions: int, rng: np.random.Generator) -> Series:
    """Have a parameter without a type, which a command cannot read."""
    yield {}, {"value": rng.random(repetitions) + point}
