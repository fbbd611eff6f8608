"""Tallies of reports in files larger than memory, one or a folder of them, in any format of `ldpnb.data.tables`.

Memory depends on the piece that is read and on the number of values, never on the number of users. What `tally` returns
is what every estimator takes. For the true values in a column of your own, with categories and bins, see
`ldpnb.data.files`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.data import tables

_BITS_AT_A_TIME = 2**22


def tally(path: Path | str, domain_size: int, *, column: str = "", packed: bool = False) -> NDArray[np.int64]:
    """Count the reports of each value in a file.

    Parameters
    ----------
    path : path
        A table or a ``.npy`` array, or a folder of such, which are read in the order of their names. Arrays are
        memory-mapped: ``(n,)`` integers ``0 .. domain_size - 1``, or ``(n, domain_size)`` bits of unary encodings.
    domain_size : int
        Number ``k`` of values.
    column : str
        Column of integers ``0 .. domain_size - 1`` in a table; may be left out where there is one only.
    packed : bool
        Whether an array holds bits eight to the byte, as `numpy.packbits` leaves them, ``(n, ceil(domain_size / 8))``.

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
    ...     tally(f"{folder}/reports.npy", 3).tolist()
    [1, 1, 2]
    """
    size = checks.whole(domain_size=domain_size, at_least=2)
    tallies = np.zeros(size, dtype=np.int64)
    for file in _files(Path(path)):
        first = 0
        for block in _blocks(file, column):
            tallies += _bits(block, size, packed, first, file) if block.ndim == 2 else _values(block, size, first, file)
            first += len(block)
    return tallies


def _files(path: Path) -> list[Path]:
    files = sorted(p for p in path.iterdir() if tables.readable(p)) if path.is_dir() else [path]
    if not files or not tables.readable(files[0]):
        raise ValueError(f"path must be or hold tables or .npy files, got path={str(path)!r}")
    return files


def _blocks(file: Path, column: str) -> Iterator[NDArray[Any]]:
    if file.suffix == ".npy":
        return tables.rows(file)
    return (part.to_numpy() for (part,) in tables.Table(file).parts(numbers=(column,)))


def _values(block: NDArray[Any], size: int, first: int, path: Path) -> NDArray[np.int64]:
    wrong = ~((block >= 0) & (block < size) & (block == np.floor(block)))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"reports must be integers 0 .. {size - 1}, got {block[row]:g} in row {first + row} of {path}")
    return np.bincount(block.astype(np.int64), minlength=size)


def _bits(block: NDArray[Any], size: int, packed: bool, first: int, path: Path) -> NDArray[np.int64]:
    width = -(-size // 8) if packed else size
    if block.shape[1] != width or block.dtype.kind not in "iub" or (packed and block.dtype != np.uint8):
        raise ValueError(f"bits must have {width} columns in {path}, got {block.dtype} of shape {block.shape}")
    tallies = np.zeros(size, dtype=np.int64)
    step = max(1, _BITS_AT_A_TIME // size)
    for start in range(0, len(block), step):
        part = block[start : start + step]
        bits = np.unpackbits(part, axis=1, count=size) if packed else part
        wrong = ((bits < 0) | (bits > 1)).any(axis=1)
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(f"bits must be 0 or 1, got {bits[row].tolist()} in row {first + start + row} of {path}")
        tallies += bits.sum(axis=0, dtype=np.int64)
    return tallies
