"""Run an experiment over a grid, in blocks of repetitions, on all cores or a Dask cluster.

Blocks are computed by joblib's workers and written by the process that runs the sweep, so that workers need no shared
disk. A block's file is named after all that decides its numbers, its code too, and carries a checksum. So finished
blocks are not run again, and a damaged one, or one of other code, is.
"""

import contextlib
import functools
import hashlib
import importlib
import itertools
import json
import math
import os
import platform
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from tqdm import tqdm

from ldpnb import writing
from ldpnb.checks import UsageError, needed_for, shown
from ldpnb.notebook.tables import without_formulas
from ldpnb.rng import stream
from ldpnb.sweeps.registry import Value, find, values

BACKENDS = ("loky", "dask")
BLOCK = 1000
"""Most repetitions in a block."""

_MOST_BLOCKS, _CONNECTING = 1_000_000, 10
_COLUMNS = ("series", "measure", "count", "sum", "squares", "repetitions")

Row = dict[str, Any]
"""A series' labels, number and measure at a point, with the count, sum and squared distances from the block's mean."""


class StoppedError(RuntimeError):
    """A sweep could not go on: its workers, its cluster or the disk are gone."""


@dataclass(frozen=True, slots=True)
class Block:
    """Repetitions at one point of a grid, given by all parameters, which have a random stream of their own."""

    experiment: str
    point: Mapping[str, Value]
    number: int
    repetitions: int
    seed: int
    code: str

    @property
    def name(self) -> str:
        """Name of the block's file."""
        return f"{hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:32]}.json"

    def rng(self) -> np.random.Generator:
        """Return the block's random stream, which does not depend on the code."""
        key = itertools.chain.from_iterable(self.point.items())
        return stream("sweep", self.experiment, *key, "block", self.number, seed=self.seed)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a sweep has come to.

    Parameters
    ----------
    table : DataFrame
        A row per point and series: the experiment's parameters, the series' labels, ``repetitions``, and of each
        measure its mean and ``<measure>_standard_error``. It is ``table.csv`` in the sweep's folder.
    blocks, before : int
        How many blocks there are, and how many of them were there before.
    failures : tuple of str
        Failed blocks with their parameters and reason; they are not in the table.
    """

    table: pd.DataFrame
    blocks: int
    before: int
    failures: tuple[str, ...]


def run(
    experiment: str,
    grid: Mapping[str, str],
    folder: Path,
    *,
    fixed: Mapping[str, str],
    repetitions: int = 1000,
    seed: int = 2022,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: bool = False,
) -> Outcome:
    """Run a sweep, or what is missing of it, and write its table.

    Parameters
    ----------
    experiment : str
        One of `registry.EXPERIMENTS`, or ``module:function``.
    grid, fixed : mapping of str to str
        Values of parameters (`registry.values`), and the value of others.
    folder : Path
        New, empty, or of this sweep.
    repetitions : int
        At every point, ``>= 2``.
    seed : int
        Of every random stream, ``>= 0``.
    jobs : int
        Processes on this machine, ``>= 1``.
    backend : str
        ``loky``, or ``dask`` for the cluster of a scheduler.
    scheduler : str, optional
        Address of the Dask scheduler.
    progress : bool
        Whether to show a bar.

    Raises
    ------
    UsageError
        For what can be refused before any work.
    StoppedError
        If it cannot go on. What is finished is kept, and the same call continues.
    """
    chosen = find(experiment)
    for name in grid.keys() & fixed.keys():
        raise UsageError(f"{name} is both in the grid and fixed")
    axes = {name: values(chosen.parameter(name), text) for name, text in grid.items()}
    start = {p.name: p.default for p in chosen.parameters}
    start |= {name: chosen.parameter(name).convert(text) for name, text in fixed.items()}
    if repetitions < 2 or seed < 0 or jobs < 1:
        raise UsageError(f"need repetitions >= 2, seed >= 0, jobs >= 1, got {repetitions}, {seed}, {jobs}")
    total = math.prod(map(len, axes.values())) * -(-repetitions // BLOCK)
    if total > _MOST_BLOCKS:
        raise UsageError(f"a sweep has at most {_MOST_BLOCKS:,} blocks of {BLOCK} repetitions, this one has {total:,}")
    points = [
        dict(sorted((start | dict(zip(axes, p, strict=True))).items())) for p in itertools.product(*axes.values())
    ]
    sizes = [min(BLOCK, repetitions - done) for done in range(0, repetitions, BLOCK)]
    code = _code(experiment)
    blocks = [Block(experiment, p, i, size, seed, code) for p in points for i, size in enumerate(sizes)]
    with _workers(backend, scheduler):
        _prepare(
            folder, {"experiment": experiment, "grid": axes, "at": start, "repetitions": repetitions, "seed": seed}
        )
        missing = [block for block in blocks if _read(folder, block) is None]
        failures = list[str]()
        try:
            work = joblib.Parallel(min(jobs, len(missing) or 1), return_as="generator_unordered")
            results = work(map(joblib.delayed(execute), missing))
            for block, rows in tqdm(results, total=total, initial=total - len(missing), disable=not progress):
                if isinstance(rows, str):
                    where = [f"{name}={block.point[name]}" for name in axes]
                    failures.append(f"{', '.join([*where, f'block {block.number}'])}: {rows}")
                else:
                    _write(folder, block, rows)
            table = _table([row for block in blocks for row in _read(folder, block) or ()])
            content = without_formulas(table).to_csv(index=False, lineterminator="\n")
            writing.write(folder / "table.csv", content.encode())
        except Exception as error:  # of joblib, loky, Dask or the disk
            reason = shown(f"{type(error).__name__}: {' '.join(str(error).split())}")
            raise StoppedError(f"{reason}; finished blocks are kept, and the same command goes on") from error
    return Outcome(table, total, total - len(missing), tuple(failures))


@functools.cache
def _code(experiment: str) -> str:
    """Return a hash of what decides an experiment's numbers: versions, this package, and all beside its own module."""
    own = Path(importlib.import_module(find(experiment).function.__module__).__file__ or "").parent
    digest = hashlib.sha256(" ".join([platform.python_version(), *map(version, ("numpy", "scipy"))]).encode())
    package = Path(__file__).parents[1]
    for path in [*sorted(package.rglob("*.py")), *(sorted(own.glob("*.py")) if package not in own.parents else ())]:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@contextlib.contextmanager
def _workers(backend: str, scheduler: str | None) -> Iterator[None]:
    """Let joblib use the processes of this machine, or a cluster; numerical libraries have one thread each."""
    if backend not in BACKENDS:
        raise UsageError(f"backend must be one of {', '.join(BACKENDS)}, got backend={shown(backend)}")
    if (backend == "dask") != (scheduler is not None):
        raise UsageError(f"backend dask needs a scheduler's address, and only it, got {backend}, {scheduler}")
    if scheduler is None:
        with joblib.parallel_config("loky", inner_max_num_threads=1, initializer=_end_with, initargs=(os.getpid(),)):
            yield
        return
    with needed_for("backend dask"):
        from distributed import Client
    try:
        client = Client(scheduler, timeout=_CONNECTING, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"no Dask scheduler answers at {shown(scheduler)} ({shown(str(error))})") from None
    with client, joblib.parallel_config("dask", client=client):
        yield


def _end_with(parent: int) -> None:
    """End a worker when the process that started it has ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _prepare(folder: Path, described: Mapping[str, Any]) -> None:
    """Set up the folder of a sweep; refuse one of another sweep or of something else."""
    path, content = folder / "sweep.json", (json.dumps(described, indent=1) + "\n").encode()
    try:
        (folder / "blocks").mkdir(parents=True, exist_ok=True)
        if not path.exists():
            if any(there.name != "blocks" and not there.name.startswith(".") for there in folder.iterdir()):
                raise UsageError(f"{folder} holds something else than a sweep; name another folder")
            writing.write(path, content)
        if path.read_bytes() != content:
            raise UsageError(f"{folder} holds another sweep, see {path.name} there; name another folder")
    except OSError as error:
        raise UsageError(f"output folder cannot be written: {shown(str(folder))} ({error.strerror})") from None


def execute(block: Block) -> tuple[Block, list[Row] | str]:
    """Return a block and its rows, or why there are none; for workers."""
    try:
        if _code(block.experiment) != block.code:
            raise RuntimeError("its worker has other code, or other versions, than is here")
        return block, list(_rows(block))
    except Exception as error:
        return block, f"{type(error).__name__}: {' '.join(str(error).split())}"


def _rows(block: Block) -> Iterator[Row]:
    results = find(block.experiment).function(**block.point, repetitions=block.repetitions, rng=block.rng())
    number = -1
    for number, (labels, measures) in enumerate(results):
        if taken := labels.keys() & {*block.point, *_COLUMNS}:
            raise ValueError(f"labels must not be named as other columns, got {', '.join(sorted(taken))}")
        plain = {name: v.item() if isinstance(v, np.generic) else v for name, v in labels.items()}
        for measure, numbers in measures.items():
            array = np.asarray(numbers, dtype=float)
            if array.shape != (block.repetitions,) or not np.isfinite(array).all():
                raise ValueError(f"{measure} must be {block.repetitions} finite numbers, got {array!r}")
            total = float(array.sum())
            squares = float(np.square(array - total / array.size).sum())
            sums = {"measure": measure, "count": block.repetitions, "sum": total, "squares": squares}
            yield {**block.point, "series": number, **plain, **sums}
    if number < 0:
        raise ValueError("the experiment must yield a series, got none")


def _write(folder: Path, block: Block, rows: list[Row]) -> None:
    text = json.dumps(rows).encode()
    writing.write(folder / "blocks" / block.name, hashlib.sha256(text).hexdigest().encode() + b"\n" + text)


def _read(folder: Path, block: Block) -> list[Row] | None:
    """Return a block's rows if its file is there and whole."""
    try:
        checksum, _, text = (folder / "blocks" / block.name).read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    rows: list[Row] | None = json.loads(text) if hashlib.sha256(text).hexdigest().encode() == checksum else None
    return rows


def _table(rows: list[Row]) -> pd.DataFrame:
    """Return means and standard errors, with the measures side by side.

    Squares are about each block's own mean, so the differences between the blocks' means are added.
    """
    if not rows:
        return pd.DataFrame()
    parts = pd.DataFrame(rows)
    keys = [name for name in parts.columns if name not in ("count", "sum", "squares")]
    sums = parts.groupby(keys, sort=False, dropna=False)[["count", "sum"]].transform("sum")
    apart = parts["count"] * np.square(parts["sum"] / parts["count"] - sums["sum"] / sums["count"])
    table = parts.assign(squares=parts["squares"] + apart).groupby(keys, sort=False, dropna=False).sum()
    count = table["count"]
    error = np.sqrt(table["squares"] / np.maximum(count - 1, 1) / count)
    tidy = pd.DataFrame({"": table["sum"] / count, "_standard_error": error, "repetitions": count})
    measures = dict.fromkeys(parts["measure"])
    wide = [tidy.xs(measure, level="measure")[["", "_standard_error"]].add_prefix(measure) for measure in measures]
    repetitions = tidy.xs(next(iter(measures)), level="measure")["repetitions"]
    return pd.concat([repetitions, *wide], axis=1).reset_index().drop(columns="series")
