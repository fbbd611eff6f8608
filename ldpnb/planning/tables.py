"""Tables of strata, frames, reports and nonresponse classes: the one place that meets `ldpnb.data`."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.data.entries import ABSENT, label
from ldpnb.data.formats import opened, read
from ldpnb.data.reading import Reading
from ldpnb.planning.samples import StratifiedDesign

_PLAIN = Reading()
_WORDS = tuple(ABSENT - {""})
"""Names of strata, such as NA, that are missing entries elsewhere."""


def load_strata(
    path: str | Path, *, allocation: Literal["proportional", "neyman"] = "proportional"
) -> StratifiedDesign:
    """Return the design of a table of strata, a row each: ``stratum``, ``size`` and, if known, ``sd``.

    A missing column or entry, a stratum named twice, or a size that is no whole number is a ValueError.
    """
    columns: dict[str, list[Any]] = {}
    with opened(path, "strata") as file:
        table = read(file, _PLAIN)
        names = [name.lower() for name in table.names]
        for column, kind in (("stratum", "category"), ("size", "number"), ("sd", "number")):
            if column in names:
                entries = table.entries(column, Reading(kind=kind, missing=("",), present=_WORDS))
                if (missing := entries.places < 0).any():
                    row = missing.argmax() + 1
                    raise ValueError(
                        f"{column} must have an entry in every row, got none in row {row}"
                    )
                columns[column] = entries.values[entries.places].tolist()
            elif column != "sd":
                raise ValueError(
                    f"column {column} must be among the columns, got {', '.join(names)}"
                )
        strata, sds = tuple(columns["stratum"]), tuple(columns.get("sd", ()))
        if len(set(strata)) < len(strata):
            raise ValueError(
                f"strata must be named once each, got {max(strata, key=strata.count)!r} twice"
            )
        sizes = tuple(checks.whole(size, "size", at_least=1) for size in columns["size"])
    return StratifiedDesign(sizes, sds or None, allocation, strata)


def read_columns(path: str | Path, name: str, reading: Reading = _PLAIN) -> dict[str, NDArray[Any]]:
    """Return all columns of a table in a file as text without surrounding blanks, a missing entry as ''.

    `name` is what the caller calls the file.
    """
    with opened(path, name) as file:
        table = read(file, reading)
        texts = {
            column: [_text(entry) for entry in table.column(column)]
            for column in dict.fromkeys(table.names)
        }
    return {column: np.array(entries, dtype=str) for column, entries in texts.items()}


def _text(entry: Any) -> str:
    text = "" if entry is None or entry != entry else label(entry)
    return "" if text in ABSENT else text
