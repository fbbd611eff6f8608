"""A table of strata: their names, their sizes, and how much the values in them vary, if that is known."""

from pathlib import Path
from typing import Literal

from ldpnb.data.files import column_names, load_rows
from ldpnb.data.reading import Reading
from ldpnb.planning.designs import StratifiedDesign

_PLAIN = Reading()


def load_strata(
    path: str | Path, *, allocation: Literal["proportional", "neyman"] = "proportional", reading: Reading = _PLAIN
) -> StratifiedDesign:
    """Return the strata of a table with the columns ``stratum``, ``size`` and, if known, ``sd``.

    Parameters
    ----------
    path : path
        A row per stratum; ``sd`` is the standard deviation of the values in it.
    allocation : {"proportional", "neyman"}
    reading : Reading
        How the table is to be understood, as far as that must be stated.

    Raises
    ------
    ValueError
        For a missing column or entry, a stratum named twice, or a size that is no whole number.
    """
    columns = [name.lower() for name in column_names(path, reading, name="strata")]
    for name in ("stratum", "size"):
        if name not in columns:
            raise ValueError(f"{path}: column {name} must be among the columns, got {', '.join(columns)}")
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
    if (sizes != sizes.round()).any() or (sizes < 1).any():
        wrong = sizes[(sizes != sizes.round()) | (sizes < 1)].iloc[0]
        raise ValueError(f"{path}: size must hold whole numbers >= 1, got {wrong:g}")
    sds = tuple(frame["sd"].tolist()) if "sd" in frame else None
    return StratifiedDesign(tuple(int(size) for size in sizes), sds, allocation, names)
