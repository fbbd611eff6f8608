"""Tables of strata, frames, reports and nonresponse classes: the one place that meets `ldpnb.data`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb.data.entries import ABSENT, label
from ldpnb.data.files import column_names, load_rows, opened
from ldpnb.data.formats import read
from ldpnb.data.reading import Reading
from ldpnb.planning.samples import StratifiedDesign

_PLAIN = Reading()


def load_strata(
    path: str | Path, *, allocation: Literal["proportional", "neyman"] = "proportional", reading: Reading = _PLAIN
) -> StratifiedDesign:
    """Return the design of a table of strata, a row each: ``stratum``, ``size`` and, if known, ``sd``.

    A missing column or entry, a stratum named twice, or a size that is no whole number is a ValueError.
    """
    columns = [name.lower() for name in column_names(path, reading, name="strata")]
    _need(path, ("stratum", "size"), columns)
    known = ("size", "sd") if "sd" in columns else ("size",)
    frame = load_rows(path, numbers=known, texts=("stratum",), reading=reading)
    for column in frame:
        if frame[column].isna().any():
            row = int(frame[column].isna().argmax())
            raise ValueError(f"{path}: {column} must have an entry in every row, got none in row {row + 1}")
    names = tuple(str(name).strip() for name in frame["stratum"])
    if len(set(names)) < len(names):
        raise ValueError(f"{path}: strata must be named once each, got {max(names, key=names.count)!r} twice")
    sizes = frame["size"]
    if (wrong := (sizes != sizes.round()) | (sizes < 1)).any():
        raise ValueError(f"{path}: size must hold whole numbers >= 1, got {sizes[wrong].iloc[0]:g}")
    sds = tuple(frame["sd"].tolist()) if "sd" in frame else None
    return StratifiedDesign(tuple(int(size) for size in sizes), sds, allocation, names)


def read_columns(
    path: str | Path, needed: Sequence[str] = (), name: str = "data", reading: Reading = _PLAIN
) -> dict[str, NDArray[Any]]:
    """Return all columns of a table in a file as text without surrounding blanks, a missing entry as ''.

    The columns `needed` must be there; `name` is what the caller calls the file.
    """
    with opened(path, name) as file:
        table = read(file, reading)
    _need(path, needed, table.names)
    texts = {column: [_text(entry) for entry in table.entries(column)] for column in dict.fromkeys(table.names)}
    return {column: np.array(entries, dtype=str) for column, entries in texts.items()}


def _need(path: str | Path, needed: Sequence[str], columns: Sequence[str]) -> None:
    for name in needed:
        if name not in columns:
            raise ValueError(f"{path}: column {name} must be among the columns, got {', '.join(columns)}")


def _text(entry: Any) -> str:
    text = "" if entry is None or entry != entry else label(entry)
    return "" if text in ABSENT else text
