"""From a sweep's description to its tasks, and how a worker runs one.

A task is a block of repetitions at one point of the grid and has a random stream of its own. This module imports
little, because every worker does.
"""

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ldpnb.checks import UsageError, shown
from ldpnb.notebook.parameters import Parameter
from ldpnb.rng import stream
from ldpnb.sweeps.registry import Experiment, find, provenance

Value = str | int | float | bool
Row = Mapping[str, Value]

MOST_TASKS = 10_000_000
"""Most tasks: as many files, 45 GB, and a plan that fits in memory."""

_MOST_REPETITIONS = 1_000_000
SUMMED = ("measure", "count", "sum", "squares")


@dataclass(frozen=True, slots=True)
class Task:
    """One block of repetitions at one point of the grid, which is given by all of the experiment's parameters."""

    experiment: str
    parameters: tuple[tuple[str, Value], ...]
    block: int
    repetitions: int
    seed: int

    @property
    def id(self) -> str:
        """Return the task's name, a hash of everything that determines its numbers for one version of the code."""
        content = [self.experiment, self.parameters, self.block, self.repetitions, self.seed]
        return hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()

    def rng(self) -> np.random.Generator:
        """Return the task's own random stream, independent of all other tasks."""
        key = itertools.chain.from_iterable(self.parameters)
        return stream("sweep", self.experiment, *key, "block", self.block, seed=self.seed)


@dataclass(frozen=True)
class Sweep:
    """An experiment over a grid.

    Parameters
    ----------
    experiment : Experiment
    grid : mapping of str to tuple
        Values by parameter, in the order of the grid.
    fixed : mapping of str to value
        Values of parameters outside the grid that are not at their default.
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
        return self.size

    @property
    def size(self) -> int:
        """Number of tasks, however large."""
        return math.prod(map(len, self.grid.values())) * -(-self.repetitions // self.block)

    def tasks(self) -> Iterator[Task]:
        """Yield all tasks, point by point."""
        start = {p.name: p.default for p in self.experiment.parameters} | dict(self.fixed)
        for point in itertools.product(*self.grid.values()):
            values = start | dict(zip(self.grid, point, strict=True))
            for block, repetitions in enumerate(self.blocks):
                yield Task(self.experiment.id, tuple(sorted(values.items())), block, repetitions, self.seed)

    def label(self, task: Task) -> str:
        """Return a task's point and block for a message."""
        values = dict(task.parameters)
        return ", ".join([*(f"{name}={values[name]}" for name in self.grid), f"block {task.block}"])

    def manifest(self) -> dict[str, Any]:
        """Return everything that distinguishes this sweep from others, for JSON."""
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
    """Return a sweep, after all checks that are possible before any work.

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
    if (block or 1) > _MOST_REPETITIONS:
        raise UsageError(f"block must be <= {_MOST_REPETITIONS:,}, what one task holds in memory, got block={block}")
    axes = {name: values(found.parameter(name), text) for name, text in grid.items()}
    single = {name: found.parameter(name).convert(value) for name, value in fixed.items()}
    sweep = Sweep(found, axes, single, repetitions, min(repetitions, block or 1000), seed)
    if (tasks := sweep.size) > MOST_TASKS:
        raise UsageError(
            f"a sweep has at most {MOST_TASKS:,} tasks, this one would have {tasks:,}: take fewer values, a larger "
            "--block, or several sweeps"
        )
    return sweep


def values(parameter: Parameter, text: str) -> tuple[Value, ...]:
    """Return the values that a text describes: ``low:high:count``, ``low:high:count:log`` or a list with commas.

    Numbers of a range are rounded to 12 digits, as one would write them, and to whole numbers for parameters of type
    int. Duplicates are dropped.

    Examples
    --------
    >>> epsilon, n = find("frequencies").parameter("epsilon"), find("frequencies").parameter("n")
    >>> values(epsilon, "0.1:0.5:5")
    (0.1, 0.2, 0.3, 0.4, 0.5)
    >>> values(n, "1e2:1e6:3:log"), values(n, "1e4,1e6")
    ((100, 10000, 1000000), (10000, 1000000))
    """
    items: list[Any]
    if ":" in text and parameter.type in ("int", "float"):
        numbers = _range(parameter.name, text)
        items = list(map(round, numbers)) if parameter.type == "int" else numbers
    else:
        items = _words(text, parameter.choices)
    if not items:
        raise UsageError(f"{parameter.name} must have a value, got {parameter.name}={text}")
    return tuple(dict.fromkeys(parameter.convert(item) for item in items))


def _range(name: str, text: str) -> list[float]:
    parts = text.split(":")
    try:
        low, high, count = float(parts[0]), float(parts[1]), int(parts[2])
        logarithmic = parts[3:] == ["log"]
        sound = (logarithmic or len(parts) == 3) and -np.inf < low < high < np.inf and count >= 2
        sound = sound and np.isfinite(high - low)
    except (ValueError, IndexError):
        sound = False
    if not sound or (logarithmic and low <= 0):
        rule = "low:high:count[:log] with low < high, count >= 2, and low > 0 for log"
        raise UsageError(f"{name} must be {rule}; got {name}={shown(text)}")
    if count > MOST_TASKS:
        raise UsageError(f"{name} must have at most {MOST_TASKS:,} values, got {name}={shown(text)}")
    spaced = np.geomspace(low, high, count) if logarithmic else np.linspace(low, high, count)
    return [float(f"{value:.12g}") for value in spaced]


def _words(text: str, choices: tuple[str, ...]) -> list[str]:
    """Split at commas, except within a choice."""
    known = "|".join(re.escape(choice) + r"(?=,|\Z)" for choice in sorted(choices, key=len, reverse=True))
    return [word.strip() for word in re.findall(rf"(?:{known}|[^,]+)" if known else r"[^,]+", text)]


def execute(given: tuple[Task, Mapping[str, str]]) -> list[Row] | str:
    """Return a task's rows, or why there are none, for a task and the expected code and versions.

    This runs in a worker.
    """
    task, code = given
    try:
        here = provenance(task.experiment)
        if here != code:
            other = [
                f"{name} {here[name]} instead of {version}" for name, version in code.items() if here[name] != version
            ]
            return f"its worker has {', '.join(other)}"
        series = find(task.experiment).function(**dict(task.parameters), repetitions=task.repetitions, rng=task.rng())
        return summarised(series, task)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def summarised(series: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]], task: Task) -> list[Row]:
    """Return a task's rows: parameters, block, number and labels of the series, measure, count, sum and squares.

    Raises
    ------
    ValueError
        If there is no series, a label has the name of another column, or a measure is not one finite number per
        repetition.
    """
    rows: list[Row] = []
    for number, (labels, measures) in enumerate(series):
        where = dict(task.parameters) | {"block": task.block, "series": number}
        if taken := labels.keys() & {*where, *SUMMED}:
            raise ValueError(f"labels must not be named as other columns, got {', '.join(sorted(taken))}")
        for measure, numbers in measures.items():
            array = np.asarray(numbers, dtype=float)
            if array.shape != (task.repetitions,) or not np.isfinite(array).all():
                raise ValueError(f"{measure} must be {task.repetitions} finite numbers, got {array!r}")
            total = float(array.sum())
            squares = float(np.square(array - total / array.size).sum())
            summed: dict[str, Any] = dict(zip(SUMMED, (measure, array.size, total, squares), strict=True))
            rows.append({**where, **labels, **summed})
    if not rows:
        raise ValueError("the experiment must yield a series, got none")
    return rows
