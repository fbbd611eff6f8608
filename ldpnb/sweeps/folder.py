"""A sweep's folder: a manifest that identifies the sweep, a Parquet file per finished task, and the combined table.

A file appears atomically under its final name, a hash of the task: a task is there once or not at all, whoever ran it
and however often. A file holds count, sum and squares (about the block's own mean) of every measure of every series, so
that blocks combine to exactly what one long block would have given.
"""

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ldpnb import writing
from ldpnb.checks import UsageError
from ldpnb.sweeps.grid import SUMMED, Row, Sweep, Task

TABLE, FAILURES = "table.csv", "failures.csv"
_MANIFEST, _TASKS = "manifest.json", "tasks"
_PARQUET, _PARQUET_LEAST = b"PAR1", 12


def prepare(folder: Path, sweep: Sweep) -> None:
    """Set up the folder for this sweep; refuse one with another sweep, or with this one by other code or versions."""
    manifest = folder / _MANIFEST
    try:
        (folder / _TASKS).mkdir(parents=True, exist_ok=True)
        for place in (folder, *(folder / _TASKS).iterdir()):
            writing.discard_leftovers(place)
        if not manifest.exists():
            writing.write({manifest: (json.dumps(sweep.manifest(), indent=1) + "\n").encode()})
    except OSError as error:
        raise UsageError(f"output folder cannot be written: {folder} ({error.strerror})") from None
    there = read_manifest(folder)
    differing = [name for name, value in sweep.manifest().items() if there.get(name) != value]
    if differing:
        raise UsageError(f"{folder} holds a sweep with another {' and '.join(differing)}; name another --output")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a sweep's folder."""
    try:
        manifest: dict[str, Any] = json.loads((folder / _MANIFEST).read_bytes())
        if not (isinstance(manifest["experiment"], str) and isinstance(manifest["grid"], dict)):
            raise TypeError
        for axis in manifest["grid"].values():
            dict.fromkeys([*axis])  # values that can be told apart
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{folder} is not the folder of a sweep ({type(error).__name__})") from None
    return manifest


def default_name(sweep: Sweep) -> str:
    """Return a folder name that no other sweep has."""
    digest = hashlib.blake2b(json.dumps(sweep.manifest()).encode(), digest_size=4).hexdigest()
    return f"{sweep.experiment.id.replace(':', '-')}-{digest}"


def finished(folder: Path) -> set[str]:
    """Return the ids of the tasks with complete results."""
    return {path.stem for path in whole_files(folder)}


def _whole(path: Path) -> bool:
    """Return whether a file begins and ends like Parquet, unlike one truncated by a failing machine."""
    size = path.stat().st_size
    if size < _PARQUET_LEAST:
        return False
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(-8, os.SEEK_END)
        end = file.read()
    return start == end[4:] == _PARQUET and int.from_bytes(end[:4], "little") < size


def store(folder: Path, task: Task, rows: list[Row]) -> None:
    """Write a task's rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path, sink = folder / _TASKS / task.id[:2] / f"{task.id}.parquet", pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), sink, compression="none", use_dictionary=False)
    # truncation is visible at the end of a file, and waiting for the disk would take longer than many tasks
    writing.write({path: sink.getvalue().to_pybytes()}, durable=False)


def whole_files(folder: Path) -> list[Path]:
    """Return the files of all tasks with complete results, ordered by name."""
    return sorted(path for path in (folder / _TASKS).glob("??/*.parquet") if _whole(path))


def write_failures(folder: Path, failures: Iterable[tuple[Mapping[str, Any], str]]) -> None:
    """Write failed tasks with their parameters to ``failures.csv``; without failures remove that of an earlier run."""
    rows = [dict(parameters) | {"error": error} for parameters, error in failures]
    rows = [{name: writing.no_formula(value) for name, value in row.items()} for row in rows]
    path, text = folder / FAILURES, io.StringIO(newline="")
    path.unlink(missing_ok=True)
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        writing.write({path: text.getvalue().encode()})


def collect(folder: Path) -> pd.DataFrame:
    """Return all results of a folder as one tidy table, in the order of the grid.

    Returns
    -------
    DataFrame
        A row per grid point and series: the experiment's parameters, the series' labels, ``repetitions``, and of each
        measure its mean and ``<measure>_standard_error``.

    Raises
    ------
    UsageError
        If the folder is not a sweep's or holds no results yet.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    manifest = read_manifest(folder)
    files = [str(path) for path in whole_files(folder)]
    if not files:
        raise UsageError(f"{folder} holds no results yet")
    try:
        blocks: pd.DataFrame = ds.dataset(files, format="parquet").to_table().to_pandas()
    except (pa.ArrowException, OSError):
        damaged = ", ".join([path for path in files if _damaged(path)][:3])
        raise UsageError(f"{folder} holds damaged results; delete {damaged} and sweep again") from None
    if missing := {"block", "series", *SUMMED, *manifest["grid"]} - set(blocks.columns):
        raise UsageError(f"{folder} holds results of something else: they lack {', '.join(sorted(missing))}")
    places = {name: {value: i for i, value in enumerate(axis)} for name, axis in manifest["grid"].items()}
    order = pd.DataFrame({name: blocks[name].map(place) for name, place in places.items()})
    order = order.assign(**{" series": blocks["series"], " block": blocks["block"]})
    return combined(blocks.loc[order.sort_values(list(order.columns), kind="stable").index])


def _damaged(path: str) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.read_table(path)
    except (pa.ArrowException, OSError):
        return True
    return False


def combined(blocks: pd.DataFrame) -> pd.DataFrame:
    """Combine the blocks of each point and series, with the measures side by side.

    Squares are about each block's own mean, so the differences between the blocks' means are added.
    """
    keys = [name for name in blocks.columns if name not in ("block", "count", "sum", "squares")]
    sums = blocks.groupby(keys, sort=False, dropna=False)[["count", "sum"]].transform("sum")
    apart = blocks["count"] * np.square(blocks["sum"] / blocks["count"] - sums["sum"] / sums["count"])
    totals = blocks.assign(squares=blocks["squares"] + apart).groupby(keys, sort=False, dropna=False)
    table = totals[["count", "sum", "squares"]].sum()
    count = table["count"]
    table = pd.DataFrame(
        {
            "repetitions": count,
            "": table["sum"] / count,
            "_standard_error": np.sqrt(table["squares"] / np.maximum(count - 1, 1) / count),
        }
    )
    measures = dict.fromkeys(blocks["measure"])
    wide = [table.xs(measure, level="measure")[["", "_standard_error"]].add_prefix(measure) for measure in measures]
    repetitions = table.xs(next(iter(measures)), level="measure")["repetitions"]
    together: pd.DataFrame = pd.concat([repetitions, *wide], axis=1).reset_index().drop(columns="series")
    return together


def write_table(folder: Path, table: pd.DataFrame) -> str:
    """Write the collected table to ``table.csv`` in full precision and return the hash of its content."""
    content = writing.without_formulas(table).to_csv(index=False, lineterminator="\n").encode()
    writing.write({folder / TABLE: content})
    return hashlib.sha256(content).hexdigest()
