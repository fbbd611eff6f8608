"""Files that are written completely or not at all, and tables that a spreadsheet does not execute."""

import contextlib
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def write(path: Path, content: bytes) -> None:
    """Write a file in one step: whatever ends the writer, it is the old one or the new one, and whole.

    Folders are created. Where the path is a symbolic link, the file that it names is replaced.

    Raises
    ------
    OSError
        If the disk is full, the folder cannot be written, or the path is of something other than a file, such as a
        device; then nothing has changed.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise OSError(f"not a regular file: {path}")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        with partial.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def no_formula(value: Any) -> Any:
    """Return a value for a CSV file; a text that a spreadsheet would take for a formula is prefixed by an apostrophe.

    >>> [no_formula(v) for v in ("=HYPERLINK(1)", "-0.5", "k-RR", -1.0)]
    ["'=HYPERLINK(1)", '-0.5', 'k-RR', -1.0]
    """
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")) or len(value) == 1:
        return value
    with contextlib.suppress(ValueError):
        float(value)
        return value
    return f"'{value}"


def without_formulas(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table with `no_formula` applied to its texts and headings."""
    safe = table.copy()
    for i, kind in enumerate(table.dtypes):
        if kind.kind == "O":
            safe.isetitem(i, list(table.iloc[:, i].map(no_formula, na_action="ignore")))
    return safe.rename(columns=no_formula)
