"""Run an experiment over a grid of settings on any executor, and continue where it stopped.

An executor is whatever has the interface of `concurrent.futures.Executor`: a pool of processes, a
Dask client's ``get_executor()``, or one for MPI or Slurm. A block of repetitions at one point of
the grid is computed by a worker and written by the process that runs the sweep, so that workers
need no shared disk. A block's file is named after everything that decides its numbers. So a
finished block is not computed again, and one whose code or data have changed is.
"""

import hashlib
import inspect
import itertools
import json
import math
import os
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
from threadpoolctl import threadpool_limits

from ldpnb import checks, writing
from ldpnb.checks import UsageError
from ldpnb.rng import stream

if TYPE_CHECKING:
    import pandas as pd

MOST_BLOCKS = 100_000
"""Most blocks in a sweep: each is a file."""

COLUMNS = ("measure", "repetitions", "mean", "standard_error", "squares")
"""Names that neither parameters nor labels may have, since columns of the table have them."""

Experiment = Callable[..., Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]]
"""A function as `sweep` takes it: it yields the labels of a series and its measures."""

Point = dict[str, Any]
"""The values of all parameters of an experiment, by name."""

Row = dict[str, Any]
"""A row of a block or of the table, by column."""


@dataclass(frozen=True, slots=True)
class Block:
    """Repetitions at one point, which has all parameters by name, with a stream of their own."""

    experiment: str
    point: Point
    number: int
    repetitions: int
    seed: int

    @property
    def name(self) -> str:
        """The same for the same work, whatever the code."""
        point = sorted(self.point.items())
        return digest([self.experiment, point, self.number, self.repetitions, self.seed])


@dataclass(frozen=True, slots=True)
class Sent:
    """What a worker gets with the block: the experiment, and the versions that it must have."""

    experiment: bytes
    versions: Mapping[str, str]
    folder: Path
    depends: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class State:
    """How many blocks of a sweep are finished, and how many there are to compute, and why."""

    finished: int
    new: int
    changed: int
    damaged: int

    def __str__(self) -> str:
        total = self.finished + self.new + self.changed + self.damaged
        parts = [f"{total} blocks: {self.finished} finished before, {self.new} new"]
        if self.changed:
            parts.append(f"{self.changed} to run again because code, data or versions have changed")
        if self.damaged:
            parts.append(f"{self.damaged} to run again because their files are damaged")
        return ", ".join(parts)


def sweep(
    experiment: Experiment,
    grid: Mapping[str, Sequence[Any]],
    folder: str | Path,
    executor: Executor,
    *,
    repetitions: int = 1000,
    block: int = 1000,
    seed: int = 2022,
    depends: Iterable[str | Path] = (),
    tell: Callable[[State], object] | None = None,
) -> "pd.DataFrame":
    """Run an experiment at every point of a grid, or at the points that are still missing.

    Parameters
    ----------
    experiment : callable
        A function that takes the grid's names, `repetitions` and `rng` as keywords. It yields
        pairs: the labels of a series, and by measure an array of one number for each repetition.
        Each measure is averaged over the repetitions.
    grid : mapping of str to sequence
        The values of parameters, which are numbers or words. A parameter that is left out keeps
        its default.
    folder : str or Path
        Where ``blocks/`` and ``table.csv`` are kept. It must be new, empty or of earlier sweeps.
    executor : concurrent.futures.Executor
        Where the blocks are computed. Its workers need the same ldpnb, numpy and scipy as this
        process, but no file of the experiment, which is sent to them with the modules that it
        imports from its own folder.
    repetitions : int
        Repetitions at every point, at least 2.
    block : int
        Most repetitions in a block, at least 1. It is part of what decides the numbers, since a
        block has a random stream of its own.
    seed : int
        Seed of all random streams, at least 0.
    depends : iterable of str or Path
        Files that the experiment reads, and modules of your own that are not in its folder. A
        block of another content is not taken for this one. An experiment fails if it reads a file
        in its own folder that is not named here.
    tell : callable, optional
        It is called with the `State` of the sweep before any work.

    Returns
    -------
    DataFrame
        A row for each point, series and measure, in the order of the grid: the parameters, the
        labels, ``measure``, ``repetitions``, ``mean`` and ``standard_error``.

    Raises
    ------
    UsageError
        Before any work, if the grid does not fit the experiment, if there are more than 100,000
        blocks, if a file of `depends` is missing, or if the folder has something else.
    RuntimeError
        If the experiment fails at a point, which the message names.

    Notes
    -----
    The numbers depend on the experiment, the point, `repetitions`, `block` and `seed` alone: not
    on the workers, their number, or the grid around a point. After any error or interruption the
    finished blocks are kept, and the same call continues from there.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> def shares(*, epsilon, repetitions, rng):
    ...     noise = rng.laplace(scale=1 / epsilon, size=repetitions)
    ...     yield {"mechanism": "Laplace"}, {"mse": noise**2}
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
    ...     table = sweep(shares, {"epsilon": [1.0, 2.0]}, folder, executor)
    >>> table[["epsilon", "mechanism", "measure", "repetitions"]].to_dict("records")[1]
    {'epsilon': 2.0, 'mechanism': 'Laplace', 'measure': 'mse', 'repetitions': 1000}
    """
    import pandas as pd  # which no worker needs
    from tqdm import tqdm

    folder = Path(folder)
    blocks = list(blocks_of(experiment, grid, repetitions, block, seed))
    require_sweep(folder)
    sent = packed_up(experiment, depends)
    code = code_of(experiment, sent)

    paths = {work.name: folder / "blocks" / f"{work.name}-{code}.json" for work in blocks}
    results, state = stored(paths)
    if tell is not None:
        tell(state)

    missing = [work for work in blocks if work.name not in results]
    futures = {executor.submit(compute, sent, work): work.name for work in missing}

    def keep(future: Future[Any]) -> None:
        name = futures[future]
        results[name] = future.result()
        writing.write(paths[name], packed(results[name]))

    try:
        with tqdm(total=len(blocks), initial=len(results), unit="block", disable=None) as bar:
            for future in as_completed(futures):
                keep(future)
                bar.update()
    finally:
        for future, name in futures.items():
            future.cancel()
            if name not in results and has_result(future):  # it ended beside one that failed
                keep(future)

    table = pd.DataFrame(merged(results[work.name] for work in blocks))
    writing.write(folder / "table.csv", table.to_csv(index=False, lineterminator="\n").encode())
    return table


def has_result(future: Future[Any]) -> bool:
    """Return whether a call has ended, and has not failed."""
    return future.done() and not future.cancelled() and future.exception() is None


# Before any work


def blocks_of(
    experiment: Experiment,
    grid: Mapping[str, Sequence[Any]],
    repetitions: int,
    block: int,
    seed: int,
) -> Iterator[Block]:
    """Yield the blocks of a sweep, point by point, once everything is checked."""
    if not inspect.isfunction(experiment) or experiment.__closure__:
        raise UsageError(
            "an experiment must be a function at the top level of a module, which takes all that"
            f" it needs as parameters, got {experiment!r}"
        )
    with checks.as_usage():
        checks.whole(repetitions, "repetitions", at_least=2)
        checks.whole(block, "block", at_least=1)
        checks.whole(seed, "seed")

    for name, values in grid.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise UsageError(f"{name} must be a sequence of values, got {name}={values!r}")

    starts = range(0, repetitions, block)
    count = math.prod(len(values) for values in grid.values()) * len(starts)
    if not 1 <= count <= MOST_BLOCKS:
        raise UsageError(f"a sweep must have 1 to {MOST_BLOCKS:,} blocks, got {count:,}")

    # The blocks of a point: all are full but perhaps the last.
    sizes = [min(block, repetitions - start) for start in starts]

    # A value that is given twice counts once.
    for values in itertools.product(*(dict.fromkeys(values) for values in grid.values())):
        point = point_of(experiment, dict(zip(grid, values, strict=True)))
        for number, size in enumerate(sizes):
            yield Block(experiment.__qualname__, point, number, size, seed)


def point_of(experiment: Experiment, given: Point) -> Point:
    """Return all parameters of an experiment, those that are not given with their defaults."""
    try:
        bound = inspect.signature(experiment).bind(**given, repetitions=None, rng=None)
    except TypeError as error:
        raise UsageError(f"{experiment.__qualname__}: {error}") from None
    bound.apply_defaults()

    point = {}
    for name, value in bound.arguments.items():
        if name in ("repetitions", "rng"):
            continue
        plain = value.item() if isinstance(value, np.generic) else value
        is_finite = not isinstance(plain, float) or math.isfinite(plain)
        if not isinstance(plain, str | int | float) or not is_finite:
            raise UsageError(f"{name} must be a word or a finite number, got {name}={value!r}")
        if name in COLUMNS:
            raise UsageError(
                f"a parameter must not be called {name}, which is a column of the table"
            )
        point[name] = plain
    return point


def require_sweep(folder: Path) -> None:
    """Refuse a folder that has something else than sweeps."""
    is_there = folder.exists() or folder.is_symlink()
    if is_there and not folder.is_dir():
        raise UsageError(f"the output of a sweep must be a folder, got {folder}")
    if is_there and any(folder.iterdir()) and not (folder / "blocks").is_dir():
        raise UsageError(
            f"the folder must be new, empty, or the folder of another sweep, got {folder}"
        )


def digest(content: Any) -> str:
    """Return 24 digits that are the same for the same content, as JSON has it."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:24]


# The code: what is sent to the workers, and what else decides the numbers


def is_of_ldpnb(experiment: Experiment) -> bool:
    """Return whether every worker has the experiment, since it is one of ldpnb's own."""
    module = sys.modules[experiment.__module__]
    of_that_name = getattr(module, experiment.__qualname__, None)
    return module.__name__.split(".")[0] == "ldpnb" and of_that_name is experiment


def own_modules(experiment: Experiment) -> list[ModuleType]:
    """Return an experiment's module, and those that it imports from the same folder or below.

    There are none if it is one of ldpnb's own or of a notebook.
    """
    first = sys.modules[experiment.__module__]
    file = getattr(first, "__file__", None)
    if file is None or first.__name__.split(".")[0] == "ldpnb":
        return []

    folder = Path(file).resolve().parent
    found = {first.__name__: first}
    waiting = [first]
    while waiting:
        for value in list(vars(waiting.pop()).values()):
            name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
            module = sys.modules.get(name) if isinstance(name, str) else None
            if module is None or module.__name__ in found:
                continue
            path = Path(getattr(module, "__file__", None) or os.devnull).resolve()
            if is_own(path, folder):
                found[module.__name__] = module
                waiting.append(module)
    return sorted(found.values(), key=lambda module: module.__name__)


def is_own(path: Path, folder: Path) -> bool:
    """Return whether a file lies in a folder or below, but is not of a library installed there."""
    return path.is_relative_to(folder) and "site-packages" not in path.parts


def packed_up(experiment: Experiment, depends: Iterable[str | Path]) -> Sent:
    """Return an experiment with its modules, so that it needs no file of its own elsewhere."""
    files = tuple(Path(path).resolve() for path in depends)
    for path in files:
        if not path.is_file():
            raise UsageError(f"a file that the experiment depends on is missing: {path}")

    modules = own_modules(experiment)
    with ExitStack() as by_value:
        for module in modules:
            if module.__name__ != "__main__":
                cloudpickle.register_pickle_by_value(module)
                by_value.callback(cloudpickle.unregister_pickle_by_value, module)
        try:
            pickled = cloudpickle.dumps(experiment)
        except Exception as error:
            raise UsageError(f"the experiment cannot be sent to workers: {error}") from error

    file = getattr(sys.modules[experiment.__module__], "__file__", None)
    folder = Path(file).resolve().parent if file else Path.cwd()
    return Sent(pickled, versions(), folder, files)


def code_of(experiment: Experiment, sent: Sent) -> str:
    """Return a digest of what decides the numbers besides the point: code, files and versions."""
    modules = own_modules(experiment)
    files = [Path(str(module.__file__)) for module in modules] + list(sent.depends)
    contents = [path.read_bytes() for path in files]
    if not modules and not is_of_ldpnb(experiment):
        contents.append(sent.experiment)
    return digest([*(hashlib.sha256(content).hexdigest() for content in contents), sent.versions])


@cache
def versions() -> dict[str, str]:
    """Return the versions that decide numbers, which a worker must have too."""
    package = Path(__file__).parent
    code = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        code.update(path.relative_to(package).as_posix().encode() + b"\0")
        code.update(path.read_bytes() + b"\0")
    return {
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "ldpnb": f"{version('ldpnb')} ({code.hexdigest()[:12]})",
    }


# In a worker


def compute(sent: Sent, work: Block) -> list[Row]:
    """Return a block's mean and sum of squares about it, of each series and measure.

    `RuntimeError` names the point if the experiment fails there, or if this worker has other code.
    """
    try:
        for name, here in versions().items():
            if here != sent.versions[name]:
                raise ValueError(
                    f"the worker has {name} {here}, but the sweep has {sent.versions[name]}"
                )

        # In one thread, since sums of several threads may differ in their last digit.
        with files_read(sent.folder) as read, threadpool_limits(1):
            rows = list(rows_of(cloudpickle.loads(sent.experiment), work))
        require_named(read, sent.depends)
        return rows
    except Exception as error:
        where = ", ".join(f"{name}={value}" for name, value in work.point.items())
        raise RuntimeError(f"{where}: {type(error).__name__}: {error}") from error


@contextmanager
def files_read(folder: Path) -> Iterator[set[Path]]:
    """Collect the files in a folder or below that Python opens for reading, but for code."""
    watch()
    read: set[Path] = set()
    opened: list[str] = []
    _WATCHING.append(opened)
    try:
        yield read
    finally:
        _WATCHING.remove(opened)
        for name in set(opened):
            path = Path(name).resolve()
            is_code = path.suffix in (".py", ".pyc")
            if is_own(path, folder) and path.is_file() and not is_code:
                read.add(path)


_WATCHING: list[list[str]] = []
"""A list for each `files_read` that is under way: the names of files opened since it began."""


@cache
def watch() -> None:
    """Let this process note which files it opens for reading.

    It is done once, because Python cannot remove an audit hook.
    """

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or not _WATCHING:
            return
        name, _mode, flags = arguments
        if isinstance(name, str) and not flags & (os.O_WRONLY | os.O_RDWR):
            for opened in _WATCHING:
                opened.append(name)

    sys.addaudithook(note)


def require_named(read: Iterable[Path], depends: Iterable[Path]) -> None:
    """Refuse an experiment whose numbers depend on a file that nobody has named."""
    unnamed = sorted(set(read) - set(depends))
    if unnamed:
        raise UsageError(
            f"the experiment reads {unnamed[0]}: name this file (in Python with depends, on the"
            " command line with --depends), so that the results of two files do not mix"
        )


def rows_of(experiment: Experiment, work: Block) -> Iterator[Row]:
    """Yield a row for each series and measure of a block, in a form that JSON can hold."""
    key = itertools.chain.from_iterable(sorted(work.point.items()))
    rng = stream("sweep", work.experiment, *key, "block", work.number, seed=work.seed)
    seen = set()
    for given, measures in experiment(**work.point, repetitions=work.repetitions, rng=rng):
        labels = {
            name: label.item() if isinstance(label, np.generic) else label
            for name, label in given.items()
        }
        taken = sorted(labels.keys() & {*work.point, *COLUMNS})
        if taken:
            raise ValueError(
                f"a label must not be called {', '.join(taken)}, which is another column"
            )

        for measure, numbers in measures.items():
            values = np.asarray(numbers, dtype=float)
            if values.shape != (work.repetitions,) or not np.isfinite(values).all():
                raise ValueError(
                    f"{measure} must be {work.repetitions} finite numbers, got {values!r}"
                )
            series = digest([labels, measure])
            if series in seen:
                raise ValueError(f"{measure} of the series {labels} must be yielded only once")
            seen.add(series)
            mean = float(values.mean())
            yield {
                **work.point,
                **labels,
                "measure": measure,
                "repetitions": work.repetitions,
                "mean": mean,
                "squares": float(np.square(values - mean).sum()),
            }
    if not seen:
        raise ValueError("the experiment must yield a series with a measure, got none")


# Blocks and the table


def packed(rows: list[Row]) -> bytes:
    """Return a block's file: its rows, and a digest by which a damaged file is recognised."""
    return json.dumps({"digest": digest(rows), "rows": rows}, indent=1).encode()


def unpacked(content: bytes) -> list[Row] | None:
    """Return the rows of a block's file, or nothing if it is not whole."""
    try:
        file = json.loads(content)
        rows: list[Row] = file["rows"]
        return rows if file["digest"] == digest(rows) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def stored(paths: Mapping[str, Path]) -> tuple[dict[str, list[Row]], State]:
    """Return the rows of the finished blocks by name, and how many there are of each kind."""
    folders = {path.parent for path in paths.values()}
    files = [path for folder in folders if folder.is_dir() for path in folder.glob("*-*.json")]
    of_any_code = {path.name.partition("-")[0] for path in files}

    results = {}
    kinds: Counter[str] = Counter()
    for name, path in paths.items():
        if not os.path.lexists(path):
            kinds["changed" if name in of_any_code else "new"] += 1
            continue
        rows = unpacked(path.read_bytes()) if path.is_file() else None
        if rows is None:
            kinds["damaged"] += 1
        else:
            kinds["finished"] += 1
            results[name] = rows
    return results, State(kinds["finished"], kinds["new"], kinds["changed"], kinds["damaged"])


def merged(blocks: Iterable[list[Row]]) -> Iterator[Row]:
    """Yield a row for all blocks of a point, series and measure, with its standard error.

    Squares are about each block's own mean, so those between the blocks' means are added.
    """
    moments = ("repetitions", "mean", "squares")
    groups: dict[str, list[Row]] = {}
    for rows in blocks:
        for row in rows:
            key = digest([item for item in row.items() if item[0] not in moments])
            groups.setdefault(key, []).append(row)

    for rows in groups.values():
        counts = np.array([row["repetitions"] for row in rows])
        means = np.array([row["mean"] for row in rows])
        within = sum(row["squares"] for row in rows)
        total = int(counts.sum())
        mean = float(counts @ means / total)
        squares = within + float(counts @ (means - mean) ** 2)
        columns_of_key = {name: value for name, value in rows[0].items() if name not in moments}
        yield {
            **columns_of_key,
            "repetitions": total,
            "mean": mean,
            "standard_error": math.sqrt(squares / (total - 1) / total),
        }
