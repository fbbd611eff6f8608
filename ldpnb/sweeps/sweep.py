"""Run an experiment over a grid, in blocks of repetitions, on all cores or a Dask cluster.

Blocks are computed by joblib's workers and written by the process that runs the sweep, so that workers need no shared
disk. A block's file is named after all that decides its numbers, its code too, and carries a checksum. So finished
blocks are not run again, and a damaged one, or one of other code, is.

An experiment is one of `ldpnb.sweeps.experiments`, or any importable function of the same form as ``module:function``.
Its module is then run, so such a name must be trusted like code.
"""

import contextlib
import functools
import hashlib
import inspect
import itertools
import json
import pkgutil
import platform
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import joblib
import numpy as np
import pandas as pd
from tqdm import tqdm

from ldpnb import writing
from ldpnb.checks import UsageError, nearest, needed_for, shown
from ldpnb.notebook.parameters import Parameter
from ldpnb.notebook.tables import without_formulas
from ldpnb.rng import stream
from ldpnb.sweeps.experiments import EXPERIMENTS

Value = str | int | float | bool

BLOCK = 1000
"""Most repetitions in a block."""

_CONNECTING, _IDLE = 10, 10
"""Seconds until no cluster answers, and until a worker without work ends."""

Row = dict[str, Any]
"""A series' labels and measure at a point, with the count, sum and squared distances from the block's mean."""


def find(name: str) -> Callable[..., Any]:
    """Return an experiment of the companion by its name, or any other as ``module:function``."""
    if ":" not in name:
        if name not in EXPERIMENTS:
            raise UsageError(f"no experiment {shown(name)}{nearest(name, list(EXPERIMENTS))}; `ldpnb sweep` shows all")
        return EXPERIMENTS[name]
    try:
        return pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"no experiment {shown(name)}: {shown(str(error))}") from None


def parameters(name: str) -> dict[str, Parameter]:
    """Return the parameters of an experiment: type, default and, by `typing.Annotated`, meaning.

    >>> list(parameters("frequencies"))
    ['mechanism', 'epsilon', 'domain_size', 'n', 'concentration']
    """
    function, known = find(name), {}
    hints = get_type_hints(function, include_extras=True)
    for key, parameter in inspect.signature(function).parameters.items():
        if key in ("repetitions", "rng"):
            continue
        hint = hints.get(key)
        kind, meaning = get_args(hint) if get_origin(hint) is Annotated else (hint, "")
        if kind not in (int, float, str, bool) or parameter.default is parameter.empty:
            raise UsageError(f"{name}: {key} needs a default and a type among int, float, str and bool")
        known[key] = Parameter(key, kind.__name__, parameter.default, meaning)
    return known


def values(parameter: Parameter, text: str) -> tuple[Value, ...]:
    """Return the values that a text describes: a list with commas, ``low:high:count`` or ``low:high:count:log``.

    Numbers of a range are rounded to 12 digits, or to whole ones.

    >>> known = parameters("frequencies")
    >>> values(known["epsilon"], "0.1:0.5:3"), values(known["n"], "1e2:1e4:2:log")
    ((0.1, 0.3, 0.5), (100, 10000))
    """
    items = text.split(",")
    if parameter.type in ("int", "float") and ":" in text:
        try:
            low, high, count, *scale = text.split(":")
            rising = float(low) < float(high) < np.inf
            if not (rising and re.fullmatch(r"[1-9]\d{0,5}", count) and scale in ([], ["log"])):
                raise ValueError
            spaced = (np.geomspace if scale else np.linspace)(float(low), float(high), int(count))
        except ValueError:
            rule = "low:high:count with low < high, low:high:count:log with low > 0 too, or a list with commas"
            raise UsageError(f"{parameter.name} must be {rule}, got {parameter.name}={shown(text)}") from None
        items = [str(round(v)) if parameter.type == "int" else f"{v:.12g}" for v in spaced]
    return tuple(dict.fromkeys(map(parameter.convert, items)))


class StoppedError(RuntimeError):
    """A sweep could not go on: its experiment failed, or its workers, its cluster or the disk are gone."""


@dataclass(frozen=True, slots=True)
class Block:
    """Repetitions at one point of a grid, given by all parameters, which have a random stream of their own."""

    experiment: str
    point: tuple[tuple[str, Value], ...]
    number: int
    repetitions: int
    seed: int
    code: str

    def path(self, folder: Path) -> Path:
        """Return the block's file in the folder of a sweep."""
        key = hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:32]
        return folder / "blocks" / f"{key}.json"


def sweep(
    experiment: str,
    grid: Mapping[str, str],
    folder: Path,
    *,
    repetitions: int = 1000,
    seed: int = 2022,
    jobs: int = 1,
    scheduler: str | None = None,
) -> tuple[pd.DataFrame, int]:
    """Run a sweep, or what is missing of it, on this machine or a cluster's scheduler, and write its ``table.csv``.

    The folder must be new, empty or of earlier sweeps, whose blocks are used. Returned are the table and the number of
    new blocks. A row is a point and a series: the experiment's parameters, the series' labels, ``repetitions``, and
    each measure's mean and ``<measure>_standard_error``. `UsageError` refuses before any work; after a `StoppedError`
    the same call goes on.
    """
    if repetitions < 2 or seed < 0:
        raise UsageError(f"need repetitions >= 2 and seed >= 0, got repetitions={repetitions}, seed={seed}")
    blocks = _blocks(experiment, grid, repetitions, seed)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "blocks").is_dir():
        raise UsageError(f"the folder must be new, empty or of another sweep, got {folder}")
    rows = {block: _stored(block.path(folder)) for block in blocks}
    missing = [block for block in blocks if rows[block] is None]
    try:
        with _workers(scheduler):
            work = joblib.Parallel(min(jobs, len(missing) or 1), return_as="generator_unordered")
            results = work(map(joblib.delayed(compute), missing))
            done = len(blocks) - len(missing)
            for block, sums in tqdm(results, total=len(blocks), initial=done, disable=None):
                rows[block], text = sums, json.dumps(sums)
                writing.write(block.path(folder), f"{_checksum(text)}\n{text}\n".encode())
        table = _table([row for sums in rows.values() for row in sums or ()])
        writing.write(folder / "table.csv", without_formulas(table).to_csv(index=False, lineterminator="\n").encode())
    except UsageError:
        raise
    except Exception as error:  # of the experiment, joblib, Dask or the disk
        reason = shown(f"{type(error).__name__}: {' '.join(str(error).split())}")
        raise StoppedError(f"{reason}; finished blocks are kept, and the same command goes on") from error
    return table, len(missing)


def _blocks(experiment: str, grid: Mapping[str, str], repetitions: int, seed: int) -> list[Block]:
    """Return the blocks of a sweep, in the order of its grid."""
    known = parameters(experiment)
    for name in grid.keys() - known.keys():
        has = f"it has {', '.join(known)}"
        raise UsageError(f"{experiment} has no parameter {shown(name)}{nearest(name, list(known))}; {has}")
    axes = {name: values(known[name], text) for name, text in grid.items()}
    start = {name: p.default for name, p in known.items()}
    points = (start | dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values()))
    sizes = [min(BLOCK, repetitions - done) for done in range(0, repetitions, BLOCK)]
    described = (tuple(sorted(point.items())) for point in points)
    code = code_of(experiment)
    return [Block(experiment, p, i, size, seed, code) for p in described for i, size in enumerate(sizes)]


@functools.cache
def code_of(experiment: str) -> str:
    """Return a hash of what decides an experiment's numbers: versions, this package, and all in its module's folder."""
    package, own = Path(__file__).parents[1], Path(inspect.getfile(find(experiment))).parent
    folders = [package] if own.is_relative_to(package) else [package, own]
    hidden = re.compile(r"(^|/)(\.|site-packages/)")
    paths = [(folder, path) for folder in folders for path in sorted(folder.rglob("*.py"))]
    files = [path for folder, path in paths if not hidden.search(path.relative_to(folder).as_posix())]
    versions = [platform.python_version(), version("numpy"), version("scipy")]
    return joblib.hash([versions, [path.read_bytes() for path in files]])


@contextlib.contextmanager
def _workers(scheduler: str | None) -> Iterator[None]:
    """Let joblib use the processes of this machine, with one thread of BLAS each, or a cluster."""
    if scheduler is None:
        with joblib.parallel_config("loky", inner_max_num_threads=1, idle_worker_timeout=_IDLE):
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


def compute(block: Block) -> tuple[Block, list[Row]]:
    """Run a block's repetitions, in a worker; return the block and its sums."""
    try:
        if code_of(block.experiment) != block.code:
            raise ValueError("its worker has other code, or other versions, than is here")
        key = itertools.chain.from_iterable(block.point)
        rng = stream("sweep", block.experiment, *key, "block", block.number, seed=block.seed)
        series = find(block.experiment)(**dict(block.point), repetitions=block.repetitions, rng=rng)
        rows = [row for number, each in enumerate(series) for row in _sums(block, number, *each)]
        if not rows:
            raise ValueError("the experiment must yield a series, got none")
        return block, rows
    except Exception as error:
        where = ", ".join(f"{name}={value}" for name, value in block.point)
        raise RuntimeError(f"{where}: {type(error).__name__}: {error}") from error


def _sums(block: Block, number: int, labels: Mapping[str, Any], measures: Mapping[str, Any]) -> Iterator[Row]:
    if taken := labels.keys() & dict(block.point).keys():
        raise ValueError(f"labels must not be named as parameters, got {', '.join(taken)}")
    plain = {name: label.item() if isinstance(label, np.generic) else label for name, label in labels.items()}
    for measure, numbers in measures.items():
        array = np.asarray(numbers, dtype=float)
        if array.shape != (block.repetitions,) or not np.isfinite(array).all():
            raise ValueError(f"{measure} must be {block.repetitions} finite numbers, got {array!r}")
        total = float(array.sum())
        spread = float(np.square(array - total / array.size).sum())
        sums = {"measure": measure, "count": array.size, "sum": total, "squares": spread}
        yield {**dict(block.point), "series": number, **plain, **sums}


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _stored(path: Path) -> list[Row] | None:
    """Return a block's rows if its file is there and whole."""
    if not path.exists():
        return None
    checksum, _, text = path.read_text(encoding="utf-8", errors="replace").partition("\n")
    rows: list[Row] | None = json.loads(text) if _checksum(text.removesuffix("\n")) == checksum else None
    return rows


def _table(rows: list[Row]) -> pd.DataFrame:
    """Return means and standard errors, with the measures side by side.

    Squares are about each block's own mean, so the differences between the blocks' means are added.
    """
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
