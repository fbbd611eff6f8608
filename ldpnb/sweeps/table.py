"""The table that a sweep's blocks add up to: a row per grid point and series, with means and standard errors."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd

from ldpnb import writing
from ldpnb.checks import UsageError
from ldpnb.sweeps.folder import read_manifest, whole_files

TABLE = "table.csv"


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
    """Add up the blocks of each point and series, and put the measures side by side.

    Squares are about a block's own mean, so what the blocks' means are apart comes on top.
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
    """Write the collected table as ``table.csv`` and return the hash of its content, every digit of it."""
    content = writing.without_formulas(table).to_csv(index=False, lineterminator="\n").encode()
    writing.write({folder / TABLE: content})
    return hashlib.sha256(content).hexdigest()
