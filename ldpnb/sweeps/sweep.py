"""Run an experiment over a grid, in blocks of repetitions, on all cores or a Dask cluster.

Blocks are computed by joblib's workers and written by the process that runs the sweep, so that workers need no shared
disk. A block's file is named after all that decides its numbers, its code too, and carries a checksum. So finished
blocks are not run again, and a damaged one, or one of other code, is.
"""

import contextlib
import functools
import inspect
import itertools
import json
import pkgutil
import platform
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, get_args

import joblib
import numpy as np
import pandas as pd
from tqdm import tqdm

from ldpnb import writing
from ldpnb.checks import UsageError, shown
from ldpnb.notebook.parameters import Parameter, checked
from ldpnb.rng import stream

BLOCK = 1000
"""Most repetitions in a block."""

Series = list[tuple[dict[str, Any], dict[str, tuple[float, float]]]]
"""The labels of each series, and by measure the mean and the sum of squared distances from it."""


def find(name: str) -> Callable[..., Any]:
    """Return an experiment of `ldpnb.sweeps.experiments` by its name, or any function of the same form.

    Such a ``module:function`` must be trusted like code: its module is run.
    """
    try:
        return pkgutil.resolve_name(name if ":" in name else f"ldpnb.sweeps.experiments:{name}")
    except (ModuleNotFoundError, AttributeError, ValueError) as error:
        raise UsageError(f"no experiment {shown(name)}: {shown(str(error))}") from None


def parameters(name: str) -> dict[str, Parameter]:
    """Return the parameters of an experiment: type, default and, by `typing.Annotated`, meaning."""
    known = {}
    for key, parameter in inspect.signature(find(name), eval_str=True).parameters.items():
        kind, *meaning = get_args(parameter.annotation) or (parameter.annotation,)
        if key in ("repetitions", "rng"):
            continue
        if kind not in (int, float, str, bool) or parameter.default is parameter.empty:
            raise UsageError(
                f"{name}: {key} needs a default and a type among int, float, str and bool"
            )
        known[key] = Parameter(key, kind.__name__, parameter.default, "".join(meaning))
    return known


def values(parameter: Parameter, text: str) -> tuple[Any, ...]:
    """Return the values that a text describes: a list with commas, ``low:high:count`` or ``low:high:count:log``.

    Numbers of a range are rounded to 12 digits, or to whole ones.

    >>> known = parameters("frequencies")
    >>> values(known["epsilon"], "0.1:0.5:3"), values(known["epsilon"], "1,1.0, 2"), values(known["n"], "2:4:9")
    ((0.1, 0.3, 0.5), (1.0, 2.0), (2, 3, 4))
    >>> values(known["epsilon"], "1e-3:10:5:log"), values(known["mechanism"], "OUE,k-RR")
    ((0.001, 0.01, 0.1, 1.0, 10.0), ('OUE', 'k-RR'))
    """
    items = text.split(",")
    if ":" in text and parameter.type in ("int", "float"):
        try:
            low, high, count, *scale = text.split(":")
            spaced = {"": np.linspace, "log": np.geomspace}["".join(scale)]
            numbers = spaced(parameter.convert(low), parameter.convert(high), int(count))  # type: ignore[operator]
            items = [
                str(round(v)) if parameter.type == "int" else f"{v:.12g}" for v in numbers
            ] or [""]
        except (ValueError, KeyError):
            rule = "low:high:count, low:high:count:log with low > 0, or a list with commas"
            raise UsageError(
                f"{parameter.name} must be {rule}, got {parameter.name}={shown(text)}"
            ) from None
    return tuple(dict.fromkeys(map(parameter.convert, items)))


class Block(NamedTuple):
    """Repetitions at one point of a grid, given by all parameters, which have a random stream of their own."""

    experiment: str
    point: tuple[tuple[str, Any], ...]
    number: int
    repetitions: int
    seed: int
    code: str


def sweep(
    experiment: str,
    grid: Mapping[str, str],
    folder: Path,
    repetitions: int = 1000,
    seed: int = 2022,
    jobs: int = 1,
    scheduler: str | None = None,
) -> tuple[pd.DataFrame, int]:
    """Run a sweep, or what is missing of it, on this machine or a cluster's scheduler, and write its ``table.csv``.

    The folder must be new, empty or of earlier sweeps, whose blocks are used. Returned are the table and the number of
    new blocks. A row is a point and a series: the experiment's parameters, the series' labels, ``repetitions``, and
    each measure's mean and ``<measure>_standard_error``. `UsageError` refuses before any work; after any other error,
    of the experiment, the workers or the disk, the same call goes on.
    """
    blocks = _blocks(experiment, grid, repetitions, seed)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "blocks").is_dir():
        raise UsageError(f"the folder must be new, empty or of another sweep, got {folder}")
    paths = {block: folder / f"blocks/{joblib.hash(repr(block))}.json" for block in blocks}
    results = {block: series for block, path in paths.items() if (series := _stored(path))}
    missing = [block for block in blocks if block not in results]
    with _workers(scheduler):
        work = joblib.Parallel(min(jobs, len(missing) or 1), return_as="generator_unordered")
        computed = work(map(joblib.delayed(compute), missing))
        for block, text in tqdm(computed, total=len(blocks), initial=len(results), disable=None):
            writing.write(paths[block], f"{joblib.hash(text)}\n{text}".encode())
            results[block] = json.loads(text)
    table = _table(blocks, results)
    writing.write(folder / "table.csv", table.to_csv(index=False, lineterminator="\n").encode())
    return table, len(missing)


@contextlib.contextmanager
def _workers(scheduler: str | None) -> Iterator[None]:
    """Let joblib use this machine or a cluster, to which it would stay connected if it made the client itself."""
    if scheduler is None:
        # one thread of BLAS each, and workers that end 10 seconds after the sweep was killed
        with joblib.parallel_config("loky", inner_max_num_threads=1, idle_worker_timeout=10):
            yield
        return
    from distributed import Client

    with (
        Client(scheduler, set_as_default=False) as client,
        joblib.parallel_config("dask", client=client),
    ):
        yield


def _blocks(experiment: str, grid: Mapping[str, str], repetitions: int, seed: int) -> list[Block]:
    """Return the blocks of a sweep, by the experiment's parameters in the order of their names."""
    known = parameters(experiment)
    checked(
        known.values(), dict.fromkeys(grid.keys() - known.keys()), experiment
    )  # which refuses them
    axes = [
        values(p, grid[name]) if name in grid else (p.default,) for name, p in sorted(known.items())
    ]
    points = [tuple(zip(sorted(known), place, strict=True)) for place in itertools.product(*axes)]
    sizes = [min(BLOCK, repetitions - done) for done in range(0, repetitions, BLOCK)]
    code = code_of(experiment)
    return [
        Block(experiment, point, i, size, seed, code)
        for point in points
        for i, size in enumerate(sizes)
    ]


@functools.cache
def code_of(experiment: str) -> str:
    """Return a hash of what decides an experiment's numbers: versions, this package, and all in its module's folder."""
    package, own = Path(__file__).parents[1], Path(inspect.getfile(find(experiment))).parent
    paths = [(folder, path) for folder in (package, own) for path in sorted(folder.rglob("*.py"))]
    files = [
        path.read_bytes()
        for folder, path in paths
        if "site-packages" not in path.relative_to(folder).parts
    ]
    return joblib.hash([platform.python_version(), version("numpy"), version("scipy"), files])


def compute(block: Block) -> tuple[Block, str]:
    """Run a block's repetitions, in a worker; return the block and its series as JSON."""
    try:
        if code_of(block.experiment) != block.code:
            raise ValueError("its worker has other code, or other versions, than is here")
        key = itertools.chain.from_iterable(block.point)
        rng = stream("sweep", block.experiment, *key, "block", block.number, seed=block.seed)
        series: Series = []
        for labels, measures in find(block.experiment)(
            **dict(block.point), repetitions=block.repetitions, rng=rng
        ):
            if taken := labels.keys() & dict(block.point).keys():
                raise ValueError(f"labels must not be named as parameters, got {', '.join(taken)}")
            series.append(
                (
                    labels,
                    {name: _moments(block, name, numbers) for name, numbers in measures.items()},
                )
            )
        if not series:
            raise ValueError("the experiment must yield a series, got none")
        return block, json.dumps(series, default=np.generic.item)
    except Exception as error:
        where = ", ".join(f"{name}={value}" for name, value in block.point)
        raise RuntimeError(f"{where}: {type(error).__name__}: {error}") from error


def _moments(block: Block, measure: str, numbers: Any) -> tuple[float, float]:
    array = np.asarray(numbers, dtype=float)
    if array.shape != (block.repetitions,) or not np.isfinite(array).all():
        raise ValueError(f"{measure} must be {block.repetitions} finite numbers, got {array!r}")
    return float(array.mean()), float(np.square(array - array.mean()).sum())


def _stored(path: Path) -> Series | None:
    """Return a block's series if its file is there and whole."""
    if not path.exists():
        return None
    checksum, _, text = path.read_text(encoding="utf-8", errors="replace").partition("\n")
    return json.loads(text) if joblib.hash(text) == checksum else None


def _table(blocks: list[Block], results: Mapping[Block, Series]) -> pd.DataFrame:
    """Return a row for each point and series, with each measure's mean and standard error over all blocks of the point.

    Squares are about each block's own mean, so the differences between the blocks' means are added.
    """
    rows = []
    for point, blocks_there in itertools.groupby(blocks, key=lambda block: block.point):
        own = list(blocks_there)
        counts = np.array([block.repetitions for block in own])
        total = int(counts.sum())
        for same_series in zip(*(results[block] for block in own), strict=True):
            labels, measures = same_series[0]
            row = dict(point) | labels | {"repetitions": total}
            for name in measures:
                means, squares = np.array([moments[name] for _, moments in same_series]).T
                mean = counts @ means / total
                spread = squares.sum() + counts @ (means - mean) ** 2
                row |= {name: mean, f"{name}_standard_error": np.sqrt(spread / (total - 1) / total)}
            rows.append(row)
    return pd.DataFrame(rows)
