"""A look at a file before anything is run on it: how it is read, and what each column seems to hold.

The result is only for whoever holds the file: ranges and frequent entries reveal individuals, and do not belong in a
release.
"""

import math
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ldpnb.data.entries import Entries
from ldpnb.data.files import COUNTS, ask_counts
from ldpnb.data.formats import opened, read
from ldpnb.data.reading import AmbiguousError, Reading, spelled
from ldpnb.data.table import Table

UNANSWERED = "next: answer a question above"
"""Last line of a report without a column that could be collected as it is."""

_SHOWN, _WIDTH, _WHOLE = 4, 60, 1000
_KEY = 0.98
"""A column of texts or whole numbers, nearly all different, names rows and is not one to collect."""


def inspect(data: str | Path, reading: Reading | None = None) -> str:
    """Return a report of a file: a line a column, what is ambiguous, and last the command to run next.

    A file that cannot be read is a ValueError.
    """
    reading = reading or Reading()
    try:
        with opened(data) as path:
            table = read(path, reading)
    except AmbiguousError as error:
        return "\n".join([f"{data}:", *_question([""], error), "", UNANSWERED])
    names = table.names
    lines = [f"{data}: {len(table.columns):,} rows, {len(names):,} columns"]
    width = min(max(map(len, names), default=0), _WIDTH)
    command, asked = "", dict[str, tuple[list[str], AmbiguousError]]()
    for name in names:
        try:
            line, entries = _column(table, name, reading)
            command = command or (_command(data, name, entries, reading) if entries else "")
        except AmbiguousError as error:
            asked.setdefault(str([*error.ways.values()]), ([], error))[0].append(name)
            line = f"? {error.question}"
        except ValueError as error:
            line = f"- {error}"
        lines.append(f"  {name[:_WIDTH]:{width}}  {line}")
    for columns, question in asked.values():
        lines += ["", *_question(columns, question)]
    if not command:
        return "\n".join([*lines, "", UNANSWERED if asked else "next: no column is one to collect"])
    own = "low and high should say what may occur, not what occurs; next, with your own:"
    return "\n".join([*lines, "", own if " -p low=" in command else "next:", f"  {command}"])


def _column(table: Table, name: str, reading: Reading) -> tuple[str, Entries | None]:
    """Return a line on a column, and its entries if it has several values and does not name rows."""
    if name.lower() == reading.counts.lower():
        return "how many users a row stands for", None
    if not reading.counts:
        ask_counts(table, name)
    entries = table.entries(name, reading)
    values, times = entries.values, entries.times
    is_number = entries.kind == "number"
    span = f", {values[0]:g} to {values[-1]:g}" if is_number else ""
    common = values[np.argsort(-times, kind="stable")[:_SHOWN]]
    examples = ", ".join(f"{value:g}" if is_number else str(value) for value in common)[:_WIDTH]
    line = f"{entries.kind}{span}, {len(values):,} different, {len(entries.places) - times.sum():,} missing; {examples}"
    repeated = (
        _real(entries)
        or reading.counts not in ("", "none")
        or len(values) <= max(_KEY * times.sum(), 2)
    )
    return line, entries if len(values) > 1 and repeated and not COUNTS.fullmatch(name) else None


def _question(columns: list[str], error: AmbiguousError) -> Iterator[str]:
    """Yield the lines of a question, asked once for all columns that it concerns."""
    where = ", ".join(columns[:_SHOWN]) + (" and others" if len(columns) > _SHOWN else "")
    yield f"? {where}{': ' if where else ''}{error.question}"
    for meaning, way in error.ways.items():
        words = [
            (name, e)
            for name, value in way.items()
            for e in (value if isinstance(value, list) else [value])
        ]
        flags = [
            f"--{name.replace('_', '-')}" + ("" if e is True else f"={shlex.quote(str(e))}")
            for name, e in words
        ]
        yield f"    {' '.join(flags)}  {meaning}"


def _real(entries: Entries) -> bool:
    return entries.kind == "number" and bool((entries.values % 1 != 0).any())


def _command(data: str | Path, name: str, entries: Entries, reading: Reading) -> str:
    """Return the command that collects a column under local privacy, with every option in force."""
    given: dict[str, Any] = {"data": str(data), "column": name}
    if entries.kind == "number":
        low, high = float(entries.values[0]), float(entries.values[-1])
        step = 10.0 ** (
            math.floor(math.log10(max(abs(low), abs(high), 1e-300))) - 1
        )  # two digits are enough
        step = step if _real(entries) else max(step, 1.0)
        low = math.floor(low / step) * step
        high = max(math.ceil(high / step) * step, low + step)
        given |= {"low": f"{low:.12g}", "high": f"{high:.12g}"}
        given |= {"bins": "20"} if _real(entries) or high - low > _WHOLE else {}
    return " ".join(
        [
            "ldpnb run own_data",
            *(f"-p {shlex.quote(word)}" for word in spelled(given | reading.stated())),
        ]
    )
