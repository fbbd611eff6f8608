"""A look at a file before anything is run on it: how it is read, and what each column seems to hold.

The result is only for whoever holds the file: ranges and frequent entries reveal individuals, and do not belong in a
release.
"""

import math
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ldpnb.data.entries import Entries, parsed
from ldpnb.data.files import ask_counts, may_count, opened
from ldpnb.data.formats import read
from ldpnb.data.reading import AmbiguousError, Reading, spelled
from ldpnb.data.table import Table

UNANSWERED = "next: answer a question above"
"""Last line of a report without a column that could be collected as it is."""

_SHOWN, _WIDTH, _WHOLE = 4, 60, 1000
_KEY = 0.98
"""A column of texts or whole numbers, nearly all different, names rows and is not one to collect."""


def inspect(data: str | Path, reading: Reading | None = None) -> str:
    """Return a report of a file: a line a column, what is ambiguous, and last the command to run next.

    Raises
    ------
    ValueError
        If it cannot be read.
    """
    reading = reading or Reading()
    try:
        with opened(data) as path:
            table = read(path, reading)
    except AmbiguousError as error:
        return "\n".join([f"{data}:", *_question([error]), "", UNANSWERED])
    names = table.names
    lines = [f"{data}: {len(table.columns):,} rows, {len(names):,} columns"]
    width = min(max(map(len, names), default=0), _WIDTH)
    command, asked = "", dict[str, list[AmbiguousError]]()
    for name in names:
        if reading.counts and name.lower() == reading.counts.lower():
            lines.append(f"  {name[:_WIDTH]:{width}}  how many users a row stands for")
            continue
        try:
            if not reading.counts:
                ask_counts(table, name)
            entries, way = _read(table, name, reading)
            line = _described(entries)
            counted = reading.counts not in ("", "none") and len(entries.values) > 1
            if not command and way == reading and not may_count(name) and (counted or _collectable(entries)):
                command = _command(data, name, entries, reading)
        except AmbiguousError as error:
            asked.setdefault(str(list(error.ways.values())), []).append(error)
            line = f"? {error.question}"
        except ValueError as error:
            line = f"- {error}"
        lines.append(f"  {name[:_WIDTH]:{width}}  {line}")
    for errors in asked.values():
        lines += ["", *_question(errors)]
    if not command:
        return "\n".join([*lines, "", UNANSWERED if asked else "next: no column is one to collect"])
    own = "low and high should say what may occur, not what occurs; next, with your own:"
    return "\n".join([*lines, "", own if " -p low=" in command else "next:", f"  {command}"])


def _read(table: Table, name: str, reading: Reading) -> tuple[Entries, Reading]:
    """Return a column's entries and how they are read; a form of dates need not be that of every column."""
    try:
        return parsed(table.entries(name), name, reading), reading
    except ValueError:
        if not reading.dates:
            raise
        plain = replace(reading, dates=())
        return parsed(table.entries(name), name, plain), plain


def _question(errors: list[AmbiguousError]) -> Iterator[str]:
    """Yield the lines of a question, asked once for all columns that it concerns."""
    columns = list(dict.fromkeys(error.column for error in errors if error.column))
    where = f"{', '.join(columns[:_SHOWN])}{' and others' if len(columns) > _SHOWN else ''}: " if columns else ""
    yield f"? {where}{errors[0].question}"
    for meaning, way in errors[0].ways.items():
        yield f"    {' '.join(_flags(way))}  {meaning}"


def _flags(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield options as the command line takes them."""
    for name, value in options.items():
        for entry in value if isinstance(value, tuple | list) else [value]:
            option = f"--{name.replace('_', '-')}"
            yield option if entry is True else f"{option}={shlex.quote('tab' if entry == chr(9) else str(entry))}"


def _described(entries: Entries) -> str:
    """Return a line on a column: kind, range, how many are different and missing, and the most frequent entries."""
    values, times = entries.values, entries.times
    span = f", {values[0]:g} to {values[-1]:g}" if entries.kind == "number" else ""
    common = values[np.argsort(-times, kind="stable")[:_SHOWN]]
    examples = ", ".join(f"{value:g}" if entries.kind == "number" else str(value) for value in common)[:_WIDTH]
    missing = len(entries.places) - times.sum()
    return f"{entries.kind}{span}, {len(values):,} different, {missing:,} missing; {examples}"


def _real(entries: Entries) -> bool:
    return entries.kind == "number" and bool((entries.values % 1 != 0).any())


def _collectable(entries: Entries) -> bool:
    """Return whether a column has several values, and does not name rows."""
    distinct = len(entries.values)
    return distinct > 1 and (_real(entries) or distinct <= max(_KEY * entries.times.sum(), 2))


def _command(data: str | Path, name: str, entries: Entries, reading: Reading) -> str:
    """Return the command that collects a column under local privacy, with every option in force."""
    given: dict[str, Any] = {"data": str(data), "column": name}
    if entries.kind == "number":
        low, high = _rounded(float(entries.values[0]), float(entries.values[-1]), whole=not _real(entries))
        given |= {"low": f"{low:.12g}", "high": f"{high:.12g}"}
        given |= {"bins": "20"} if _real(entries) or high - low > _WHOLE else {}
    given |= reading.stated()
    program = sys.argv[0] if Path(sys.argv[0]).name == "ldpnb" and not shutil.which("ldpnb") else "ldpnb"
    return " ".join([shlex.quote(program), "run own_data", *(f"-p {shlex.quote(word)}" for word in spelled(given))])


def _rounded(low: float, high: float, *, whole: bool) -> tuple[float, float]:
    """Return the next numbers of about two digits, below and above; `whole` ones for whole numbers."""
    step = 10.0 ** (math.floor(math.log10(max(abs(low), abs(high), 1e-300))) - 1)
    step = max(step, 1.0) if whole else step
    return math.floor(low / step) * step, max(math.ceil(high / step), math.floor(low / step) + 1) * step
