"""Tallies of reports in files larger than memory: Parquet, CSV and memory-mapped NumPy arrays, one or a folder of them.

`tally` reads block after block, so memory depends on the block and on the number of values, never on the number of
users. What it returns is what every estimator takes. For the true values in a column of your own, with categories and
bins, see `ldpnb.data.files`.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.data import tables

Block = NDArray[Any]

_BYTES_PER_LINE, _MOST_BYTES = 16, 2**20
_BITS_AT_A_TIME = 2**22


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
        A ``.parquet``, ``.csv`` (also compressed, ``.csv.gz``) or ``.npy`` file, or a folder of such, which are read in
        the order of their names. Arrays are memory-mapped: ``(n,)`` integers ``0 .. domain_size - 1``, or ``(n,
        domain_size)`` bits of unary encodings.
    domain_size : int
        Number ``k`` of values.
    column : str, optional
        Column of integers ``0 .. domain_size - 1`` in a Parquet or CSV file; may be left out where there is one only.
    packed : bool
        Whether an array holds bits eight to the byte, as `numpy.packbits` leaves them, ``(n, ceil(domain_size / 8))``.
    rows : int
        Most users per block; those of a CSV file are of a megabyte at most, whatever its lines hold.
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
    tallies = np.zeros(size, dtype=np.int64)
    with _bar(files, progress) as bar:
        for file in files:
            first = 0
            for part in _blocks(file, column, block):
                count = _bits if part.ndim == 2 else _values
                tallies += count(part, size, packed, first, file)
                first += len(part)
                bar.update(len(part))
    return tallies


def _blocks(file: Path, column: str | None, rows: int) -> Iterator[Block]:
    """Yield a file's blocks; whatever is wrong with it, the error names it."""
    try:
        yield from _READERS[_format(file)](file, column, rows)
    except (ValueError, OSError) as error:
        if str(file) in str(error):
            raise
        raise ValueError(f"{file}: cannot be read: {error}") from error


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

    with csv.open_csv(path) as file:
        name = _only(column, file.schema.names, path)
    # pyarrow reads many blocks ahead, so they are small
    size = min(max(rows * _BYTES_PER_LINE, 2**12), _MOST_BYTES)
    reading = csv.ReadOptions(block_size=size, use_threads=False)
    with csv.open_csv(path, reading, convert_options=csv.ConvertOptions(include_columns=[name])) as file:
        for batch in file:
            yield _integers(batch.column(0), path)


def _npy(path: Path, _column: str | None, rows: int) -> Iterator[Block]:
    whole = tables.mapped(path)
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


def _values(block: Block, size: int, _packed: bool, first: int, path: Path) -> NDArray[np.int64]:
    outside = (block < 0) | (block >= size)
    if outside.any():
        row = int(outside.argmax())
        raise ValueError(f"reports must lie in 0 .. {size - 1}, got {block[row]} in row {first + row} of {path}")
    return np.bincount(block, minlength=size)


def _bits(block: Block, size: int, packed: bool, first: int, path: Path) -> NDArray[np.int64]:
    width = -(-size // 8) if packed else size
    if block.shape[1] != width or (packed and block.dtype != np.uint8):
        raise ValueError(f"bits must have {width} columns in {path}, got {block.dtype} of shape {block.shape}")
    tallies = np.zeros(size, dtype=np.int64)
    step = max(1, _BITS_AT_A_TIME // size)
    for start in range(0, len(block), step):
        part = block[start : start + step]
        bits = np.unpackbits(part, axis=1, count=size) if packed else part
        outside = (bits < 0) | (bits > 1)
        if outside.any():
            row = int(outside.any(axis=1).argmax())
            raise ValueError(f"bits must be 0 or 1, got {bits[row].tolist()} in row {first + start + row} of {path}")
        tallies += bits.sum(axis=0, dtype=np.int64)
    return tallies


def _bar(files: list[Path], progress: bool) -> Any:
    from tqdm import tqdm

    shown = progress and sys.stderr.isatty()
    rows = [_rows(file) for file in files] if shown else []
    total = None if None in rows else sum(row or 0 for row in rows)
    return tqdm(total=total, unit="user", unit_scale=True, disable=not shown)


def _rows(path: Path) -> int | None:
    """Return how many users a file holds, where that can be known without reading it."""
    if _format(path) == ".parquet":
        import pyarrow.parquet as pq

        return int(pq.read_metadata(path).num_rows)
    return len(tables.mapped(path)) if _format(path) == ".npy" else None
