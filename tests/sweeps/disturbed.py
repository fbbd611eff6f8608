"""Experiments for the tests of sweeps: they wait, fail or kill their worker where they are told to."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np


def gated(
    *, point: int = 0, first_waiting: int = 10**9, gate: str = "", repetitions: int, rng: np.random.Generator
) -> Iterator[tuple[dict[str, str], dict[str, np.ndarray]]]:
    """Draw numbers, from some point on only after a file has appeared.

    Parameters
    ----------
    point : int
        Where we are.
    first_waiting : int
        The first point that waits.
    gate : str
        The file; who waits leaves his process number beside it.
    """
    while point >= first_waiting and not Path(gate).exists():
        Path(f"{gate}.{os.getpid()}").touch()
        time.sleep(0.01)
    yield {"law": "uniform"}, {"value": rng.random(repetitions), "point_too": np.full(repetitions, float(point))}
    yield {"law": "normal"}, {"value": rng.normal(size=repetitions), "point_too": np.full(repetitions, float(point))}


def lethal(*, point: int = 0, killed: str = "", repetitions: int, rng: np.random.Generator) -> object:
    """Draw numbers, and kill the worker once, at the tenth point.

    Parameters
    ----------
    point : int
        Where we are.
    killed : str
        A file that says that it has happened.
    """
    if point == 10 and not Path(killed).exists():
        Path(killed).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [({}, {"value": rng.random(repetitions)})]


def faulty(*, point: int = 0, mended: str = "", repetitions: int, rng: np.random.Generator) -> object:
    """Fail at some points until a file appears.

    Parameters
    ----------
    point : int
        Where we are.
    mended : str
        The file.
    """
    values = rng.random(repetitions)
    if not Path(mended).exists():
        if point == 1:
            raise ZeroDivisionError("nothing to divide by")
        if point == 2:
            values[0] = np.nan
        if point == 3:
            return []
        if point == 4:
            return [({"point": 5}, {"value": values})]
    return [({}, {"value": values})]


def undocumented(*, point: int = 0, repetitions: int, rng: np.random.Generator) -> object:
    """Have a parameter of unknown meaning."""
    return [({}, {"value": rng.random(repetitions) + point})]
