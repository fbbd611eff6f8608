"""What a worker does with a task: call the experiment and sum up its repetitions. Imports little, because every worker
does.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ldpnb.sweeps.grid import Task
from ldpnb.sweeps.registry import find, provenance

Row = Mapping[str, str | int | float | bool]

_COLUMNS = ("measure", "count", "sum", "squares")


def execute(given: tuple[Task, dict[str, str]]) -> list[Row] | str:
    """Return a task's rows, or why there are none.

    Parameters
    ----------
    given : (Task, dict)
        The task, and the code and versions it is to be computed with.
    """
    task, code = given
    try:
        here = provenance(task.experiment)
        if here != code:
            differing = [
                f"{name} {here[name]} instead of {version}" for name, version in code.items() if here[name] != version
            ]
            return f"its worker has {', '.join(differing)}"
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
        if taken := labels.keys() & {*where, *_COLUMNS}:
            raise ValueError(f"labels must not be named as other columns, got {', '.join(sorted(taken))}")
        for measure, numbers in measures.items():
            array = np.asarray(numbers, dtype=float)
            if array.shape != (task.repetitions,) or not np.isfinite(array).all():
                raise ValueError(f"{measure} must be {task.repetitions} finite numbers, got {array!r}")
            total = float(array.sum())
            squares = float(np.square(array - total / array.size).sum())
            summed: dict[str, Any] = dict(zip(_COLUMNS, (measure, array.size, total, squares), strict=True))
            rows.append({**where, **labels, **summed})
    if not rows:
        raise ValueError("the experiment must yield a series, got none")
    return rows
