"""Tables of reports, frames and nonresponse classes, read as text: the one place that meets `ldpnb.data`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb.data.entries import ABSENT, label
from ldpnb.data.files import opened
from ldpnb.data.reading import Reading
from ldpnb.data.tables import locate, read

_PLAIN = Reading()


def read_columns(
    path: str | Path, needed: Sequence[str] = (), name: str = "data", reading: Reading = _PLAIN
) -> dict[str, NDArray[Any]]:
    """Return all columns of a table in a file as text without surrounding blanks, a missing entry as ''.

    Parameters
    ----------
    path : str or Path
        A table in a file, see `ldpnb.data.tables.read`.
    needed : sequence of str
        Columns that must be there.
    name : str
        What the caller calls the file.
    reading : Reading
        How to read it, as far as that must be stated.

    Raises
    ------
    ValueError
        If the file cannot be read or lacks a column.
    """
    with opened(locate(path, name)) as file:
        table = read(file, reading)
    lacking = [column for column in needed if column not in table.names]
    if lacking:
        raise ValueError(f"{path}: column {lacking[0]} must be among the columns, got {', '.join(table.names)}")
    texts = {column: [_text(entry) for entry in table.entries(column)] for column in dict.fromkeys(table.names)}
    return {column: np.array(entries, dtype=str) for column, entries in texts.items()}


def _text(entry: Any) -> str:
    text = "" if entry is None or entry != entry else label(entry).strip()
    return "" if text in ABSENT else text
