"""From a sweep's description to its tasks: one per grid point and block of repetitions, each with a random stream of
its own.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ldpnb.checks import UsageError
from ldpnb.rng import stream
from ldpnb.sweeps.registry import Experiment, Option, find, provenance

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Task:
    """One block of repetitions at one point of the grid.

    Parameters
    ----------
    experiment : str
    parameters : tuple of (str, value)
        All of the experiment's parameters by name.
    block : int
        Number of the block, from 0.
    repetitions : int
    seed : int
    """

    experiment: str
    parameters: tuple[tuple[str, Value], ...]
    block: int
    repetitions: int
    seed: int

    @property
    def id(self) -> str:
        """Return the name of the task, which is a hash of all that its numbers follow from within one version of the
        code.
        """
        content = [self.experiment, self.parameters, self.block, self.repetitions, self.seed]
        return hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()

    def rng(self) -> np.random.Generator:
        """Return the task's own random stream, which does not depend on any other task."""
        key = itertools.chain.from_iterable(self.parameters)
        return stream("sweep", self.experiment, *key, "block", self.block, seed=self.seed)


@dataclass(frozen=True)
class Sweep:
    """An experiment, a grid over some of its parameters, fixed values of others, and how often to repeat.

    Parameters
    ----------
    experiment : Experiment
    grid : mapping of str to tuple
        Values by parameter, in the order of the grid.
    fixed : mapping of str to value
        Values of parameters that are neither in the grid nor at their default.
    repetitions : int
        Per point.
    block : int
        Most repetitions in one task.
    seed : int
    """

    experiment: Experiment
    grid: Mapping[str, tuple[Value, ...]]
    fixed: Mapping[str, Value]
    repetitions: int
    block: int
    seed: int

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """Return the repetitions in each block of a point."""
        full, rest = divmod(self.repetitions, self.block)
        return (self.block,) * full + ((rest,) if rest else ())

    def __len__(self) -> int:
        points = 1
        for values in self.grid.values():
            points *= len(values)
        return points * len(self.blocks)

    def tasks(self) -> Iterator[Task]:
        """Yield all tasks, point by point."""
        names = sorted(option.name for option in self.experiment.options)
        start = {option.name: option.parameter.default for option in self.experiment.options} | dict(self.fixed)
        for point in itertools.product(*self.grid.values()):
            values = start | dict(zip(self.grid, point, strict=True))
            parameters = tuple((name, values[name]) for name in names)
            for block, repetitions in enumerate(self.blocks):
                yield Task(self.experiment.id, parameters, block, repetitions, self.seed)

    def label(self, task: Task) -> str:
        """Return a task's point and block for a message."""
        values = dict(task.parameters)
        return ", ".join([*(f"{name}={values[name]}" for name in self.grid), f"block {task.block}"])

    def manifest(self) -> dict[str, Any]:
        """Return all that distinguishes this sweep from others, as JSON has it."""
        grid = {name: list(axis) for name, axis in self.grid.items()}
        about = {"experiment": self.experiment.id, "grid": grid, "fixed": dict(self.fixed)}
        often = {"repetitions": self.repetitions, "block": self.block, "seed": self.seed}
        return about | often | {"provenance": provenance(self.experiment.id)}


def plan(
    experiment: str,
    grid: Mapping[str, str],
    fixed: Mapping[str, Any],
    *,
    repetitions: int,
    block: int | None = None,
    seed: int = 2022,
) -> Sweep:
    """Return a sweep, after checking everything that can be checked before any work.

    Parameters
    ----------
    experiment : str
        A name in `registry.EXPERIMENTS`, or ``module:function``.
    grid : mapping of str to str
        Values by parameter, see `values`.
    fixed : mapping of str to value
        Single values of other parameters.
    repetitions : int
        Per grid point, ``>= 2``.
    block : int, optional
        Most repetitions in one task; at most 1000 by default.
    seed : int

    Raises
    ------
    UsageError
        For an unknown experiment or parameter (the nearest is named), a value of the wrong type, or a parameter given
        twice.
    """
    found = find(experiment)
    for name in grid.keys() & fixed.keys():
        raise UsageError(f"{name} is both in the grid and fixed")
    if repetitions < 2 or (block is not None and block < 1) or seed < 0:
        raise UsageError(f"need repetitions >= 2, block >= 1, seed >= 0, got {repetitions}, {block}, {seed}")
    axes = {name: values(found.option(name), text) for name, text in grid.items()}
    single = {name: found.option(name).convert(value) for name, value in fixed.items()}
    return Sweep(found, axes, single, repetitions, min(repetitions, block or 1000), seed)


def values(option: Option, text: str) -> tuple[Value, ...]:
    """Return the values that a text describes: ``low:high:count``, ``low:high:count:log`` or a list with commas.

    Numbers of a range are rounded to 12 digits, so that they are what one would write, and to whole numbers where the
    parameter is one. A value counts once.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> epsilon, n = find("frequencies").option("epsilon"), find("frequencies").option("n")
    >>> values(epsilon, "0.1:0.5:5")
    (0.1, 0.2, 0.3, 0.4, 0.5)
    >>> values(n, "1e2:1e6:3:log"), values(n, "1e4,1e6")
    ((100, 10000, 1000000), (10000, 1000000))
    """
    if ":" in text and option.parameter.type in ("int", "float"):
        items: list[Any] = _range(option.name, text)
        if option.parameter.type == "int":
            items = [round(item) for item in items]
    else:
        items = _words(text, option.choices)
    if not items:
        raise UsageError(f"{option.name} must have a value, got {option.name}={text}")
    return tuple(dict.fromkeys(option.convert(item) for item in items))


def _range(name: str, text: str) -> list[float]:
    parts = text.split(":")
    try:
        low, high, count = float(parts[0]), float(parts[1]), int(parts[2])
        logarithmic = parts[3:] == ["log"]
        sound = (logarithmic or len(parts) == 3) and -np.inf < low < high < np.inf and count >= 2
    except (ValueError, IndexError):
        sound = False
    if not sound or (logarithmic and low <= 0):
        raise UsageError(
            f"{name} must be low:high:count[:log] with low < high, count >= 2, and low > 0 for log; got {name}={text}"
        )
    spaced = np.geomspace(low, high, count) if logarithmic else np.linspace(low, high, count)
    return [float(f"{value:.12g}") for value in spaced]


def _words(text: str, choices: tuple[str, ...]) -> list[str]:
    """Split at commas, except at those within a choice."""
    known = "|".join(re.escape(choice) + r"(?=,|\Z)" for choice in sorted(choices, key=len, reverse=True))
    return [word.strip() for word in re.findall(rf"(?:{known}|[^,]+)" if known else r"[^,]+", text)]
