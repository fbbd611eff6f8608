"""A channel saved as a matrix: read, and audited for its exact privacy loss."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb.data import tables
from ldpnb.privacy.channel import as_channel

_MOST_BYTES = 2**28


def load_channel(path: str | Path) -> NDArray[np.float64]:
    """Return a channel ``(outputs, inputs)`` from a ``.npy`` file or a ``.csv`` file of numbers without column names.

    Parameters
    ----------
    path : str or Path
        A CSV file has at most 256 MB; an array is memory-mapped, and one of Python objects refused.

    Raises
    ------
    ValueError
        If the file cannot be read, or its columns do not sum to 1; if its rows do, the message suggests transposing it.
    """
    file = tables.locate(path, "channel_path")
    try:
        matrix = _matrix(file)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{file}: cannot be read as a matrix of numbers: {error}") from None
    try:
        return as_channel(matrix)
    except ValueError as error:
        turned = matrix.ndim == 2 and matrix.size and np.abs(matrix.sum(axis=1) - 1).max() < 1e-9
        hint = "; its rows do: a column per input is wanted, transpose it" if turned else ""
        raise ValueError(f"{file}: {error}{hint}") from None


def _matrix(file: Path) -> NDArray[Any]:
    if file.suffix == ".npy":
        array = np.load(file, mmap_mode="r", allow_pickle=False)
        if array.dtype.kind not in "fiub":
            raise ValueError(f"it holds {array.dtype}")
        return array
    if file.suffix != ".csv" or file.stat().st_size > _MOST_BYTES:
        raise ValueError(f"its name must end in .npy, or in .csv with at most {_MOST_BYTES:,} bytes")
    return np.loadtxt(file, delimiter=",", ndmin=2, encoding="utf-8-sig")
