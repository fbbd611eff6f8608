"""A channel saved as a matrix: read, and audited for its exact privacy loss."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb.data.formats import locate
from ldpnb.privacy.channel import as_channel


def load_channel(path: str | Path) -> NDArray[np.float64]:
    """Return a channel ``(outputs, inputs)`` from a ``.npy`` file or a ``.csv`` file of numbers without column names.

    Raises
    ------
    ValueError
        If the file cannot be read, or its columns do not sum to 1; if its rows do, the message suggests transposing it.
    """
    file = locate(path, "channel_path")
    try:
        if file.suffix == ".npy":
            matrix: NDArray[Any] = np.load(file, allow_pickle=False)
        else:
            matrix = np.loadtxt(file, delimiter=",", ndmin=2, encoding="utf-8-sig")
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{file}: cannot be read as a matrix of numbers: {error}") from None
    try:
        return as_channel(matrix)
    except ValueError as error:
        turned = matrix.ndim == 2 and matrix.size and np.abs(matrix.sum(axis=1) - 1).max() < 1e-9
        hint = "; its rows do: a column per input is wanted, transpose it" if turned else ""
        raise ValueError(f"{file}: {error}{hint}") from None
