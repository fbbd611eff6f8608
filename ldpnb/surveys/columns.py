"""Columns of a table of people or of reports: words without gaps, each once, or out of a list."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks

Words = NDArray[np.str_]


def column(columns: Mapping[str, Any], name: str, *, gaps: bool = False) -> Words:
    """Return a column as words, ``(n,)``, which must be there; a missing entry is '' where there may be `gaps`."""
    if name not in columns:
        raise ValueError(f"column {name} must be among the columns, got {', '.join(map(str, columns))}")
    entries = np.asarray(columns[name])
    if entries.dtype.kind not in "iuU":
        entries = np.array(["" if entry is None or entry != entry else entry for entry in entries.tolist()], dtype=str)
    words = np.char.strip(entries.astype(str))
    if not gaps:
        refuse(words == "", words, f"{name} must be given in every row")
    return words


def distinct(name: str, words: Words) -> None:
    """Refuse words that are there more than once."""
    kinds, times = np.unique(words, return_counts=True)
    if (times > 1).any():
        raise ValueError(f"{name} must be there once each, got {kinds[times > 1][0]} {times.max()} times")


def among(name: str, words: Words, known: Collection[str]) -> None:
    """Refuse words that are not known."""
    refuse(~np.isin(words, list(known)), words, f"{name} must be one of {', '.join(known)}")


def refuse(wrong: NDArray[np.bool_], words: Words, rule: str) -> None:
    """Refuse a column of which some rows are wrong, naming the first."""
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{rule}, got {checks.shortened(str(words[row]))} in row {row + 1}")
