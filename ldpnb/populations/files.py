"""Tallies of a column in a file, or a folder of files, larger than memory: values that users hold, or the reports they sent.

`tally` reads block after block, so memory depends on the block and on the number of values, never on the number of users. What it returns is what
every mechanism and estimator takes.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks

Block = NDArray[Any]

_BYTES_PER_LINE = 16


def tally(
    path: Path | str,
    domain_size: int,
    *,
    column: str | None = None,
    packed: bool = False,
    rows: int = 2**20,
    progress: bool = False,
) -> NDArray[np.int64]:
    """Count the reports of each value in a file.

    Parameters
    ----------
    path : path
        A ``.parquet``, ``.csv`` (also compressed, ``.csv.gz``) or ``.npy`` file, or a folder of such, which are read in the order of their names.
        Arrays are memory-mapped: ``(n,)`` integers ``0 .. domain_size - 1``, or ``(n, domain_size)`` bits of unary encodings.
    domain_size : int
        Number ``k`` of values.
    column : str, optional
        Column of integers ``0 .. domain_size - 1`` in a Parquet or CSV file; may be left out where there is one only.
    packed : bool
        Whether an array holds bits eight to the byte, as `numpy.packbits` leaves them, ``(n, ceil(domain_size / 8))``.
    rows : int
        Users per block. (Lines of a CSV file vary in length, so its blocks are of about that size.)
    progress : bool
        Whether to show a progress bar on a terminal.

    Returns
    -------
    (domain_size,) int
        How many reports support each value.

    Raises
    ------
    ValueError
        If a value is missing, no integer, or outside the domain (with its row), or an array has another shape.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/reports.npy", np.array([2, 0, 2, 1]))
    ...     tally(f"{folder}/reports.npy", 3, rows=3).tolist()
    [1, 1, 2]
    """
    size = checks.whole(domain_size=domain_size, at_least=2)
    block = checks.whole(rows=rows, at_least=1)
    files = _files(Path(path))
    tallies, done = np.zeros(size, dtype=np.int64), 0
    with _bar(progress) as bar:
        for file in files:
            for part in _READERS[_format(file)](file, column, block):
                tallies += _tallies(part, size, packed, f"{file}, from row {done}")
                done += len(part)
                bar.update(len(part))
            done = 0
    return tallies


def _files(path: Path) -> list[Path]:
    files = sorted(p for p in path.iterdir() if _format(p)) if path.is_dir() else [path]
    if not files or not _format(files[0]):
        raise ValueError(f"path must be or hold .parquet, .csv or .npy files, got path={str(path)!r}")
    return files


def _format(path: Path) -> str:
    return next((suffix for suffix in _READERS if suffix in path.suffixes and path.is_file()), "")


def _parquet(path: Path, column: str | None, rows: int) -> Iterator[Block]:
    import pyarrow.parquet as pq

    # without a buffer of a given size a whole row group is read at once
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as file:
        name = _only(column, file.schema_arrow.names, path)
        for batch in file.iter_batches(batch_size=rows, columns=[name], use_threads=False):
            yield _integers(batch.column(0), path)


def _csv(path: Path, column: str | None, rows: int) -> Iterator[Block]:
    import pyarrow.csv as csv

    reading = csv.ReadOptions(block_size=max(rows * _BYTES_PER_LINE, 2**12), use_threads=False)
    with csv.open_csv(path, read_options=reading) as file:
        name = _only(column, file.schema.names, path)
        for batch in file:
            yield _integers(batch.column(name), path)


def _npy(path: Path, _column: str | None, rows: int) -> Iterator[Block]:
    whole = np.load(path, mmap_mode="r")
    if whole.dtype.kind not in "iub" or whole.ndim not in (1, 2) or (whole.ndim == 2 and np.isfortran(whole)):
        raise ValueError(
            f"{path} must hold (n,) or (n, k) integers in rows, got {whole.dtype} of shape {whole.shape}, "
            f"{'columns' if np.isfortran(whole) else 'rows'} first"
        )
    for start in range(0, len(whole), rows):
        # a mapping of its own for every block lets go of the pages of the last one
        shape = (min(rows, len(whole) - start), *whole.shape[1:])
        offset = whole.offset + start * whole.strides[0]
        yield np.memmap(path, dtype=whole.dtype, mode="r", offset=offset, shape=shape)


_READERS: dict[str, Callable[[Path, str | None, int], Iterator[Block]]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".npy": _npy,
}


def _only(column: str | None, names: list[str], path: Path) -> str:
    if column is None and len(names) == 1:
        return names[0]
    if column not in names:
        raise ValueError(f"column must be one of {', '.join(names)} in {path}, got column={column!r}")
    return str(column)


def _integers(values: Any, path: Path) -> Block:
    import pyarrow as pa

    if not pa.types.is_integer(values.type) or values.null_count:
        raise ValueError(
            f"reports in {path} must be integers without gaps, got {values.type} with {values.null_count} gaps"
        )
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _tallies(block: Block, size: int, packed: bool, where: str) -> NDArray[np.int64]:
    if block.ndim == 2:
        return _bits(block, size, packed, where)
    outside = (block < 0) | (block >= size)
    if outside.any():
        row = int(outside.argmax())
        raise ValueError(f"reports must lie in 0 .. {size - 1}, got {block[row]} in row {row} of {where}")
    return np.bincount(block, minlength=size)


def _bits(block: Block, size: int, packed: bool, where: str) -> NDArray[np.int64]:
    width = -(-size // 8) if packed else size
    if block.shape[1] != width or (packed and block.dtype != np.uint8):
        raise ValueError(
            f"arrays of bits must have {width} columns, got {block.dtype} of shape {block.shape} in {where}"
        )
    tallies = np.zeros(size, dtype=np.int64)
    step = max(1, 2**22 // size)
    for start in range(0, len(block), step):
        part = block[start : start + step]
        bits = np.unpackbits(part, axis=1, count=size) if packed else part
        if not packed and bits.max(initial=0) > 1:
            raise ValueError(f"bits must be 0 or 1, got {bits.max()} in {where}")
        tallies += bits.sum(axis=0, dtype=np.int64)
    return tallies


def _bar(progress: bool) -> Any:
    from tqdm import tqdm

    return tqdm(unit="user", unit_scale=True, disable=not (progress and sys.stderr.isatty()))
