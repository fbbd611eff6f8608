"""A look at a file before anything is run on it: how it is read, and what each column seems to hold.

The result is only for whoever holds the file: ranges and frequent entries reveal individuals, and do not belong in a
release.
"""

import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ldpnb.data.entries import parsed
from ldpnb.data.files import ask_counts, opened
from ldpnb.data.reading import AmbiguousError, Reading, spelled
from ldpnb.data.tables import read

UNANSWERED = "next: answer a question above"
"""Last line of a report without a column that could be collected as it is."""

_SHOWN, _WIDTH, _WHOLE = 4, 60, 1000
_KEY = 0.98
"""A column of texts or whole numbers, nearly all different, names rows and is not one to collect."""


@dataclass(frozen=True, slots=True)
class Field:
    """What a column seems to hold.

    Parameters
    ----------
    name, kind : str
        The kind is "number", "category" or "date".
    rows, distinct, missing : int
        Rows with an entry, different entries, rows without.
    low, high : float, optional
        Smallest and largest number.
    whole : bool
        Whether all numbers are.
    shown : tuple of str
        The most frequent entries.
    """

    name: str
    kind: str
    rows: int
    distinct: int
    missing: int
    low: float | None = None
    high: float | None = None
    whole: bool = False
    shown: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return a line on the column."""
        span = f", {self.low:g} to {self.high:g}" if self.low is not None else ""
        examples = ", ".join(self.shown)[:_WIDTH]
        return f"{self.kind}{span}, {self.distinct:,} different, {self.missing:,} missing; {examples}"

    @property
    def collectable(self) -> bool:
        """Whether it has several values, and does not name rows."""
        real = self.low is not None and not self.whole
        return self.distinct > 1 and (real or self.distinct <= max(_KEY * self.rows, 2))


def inspect(data: str | Path, reading: Reading | None = None) -> str:
    """Return a report of a file: a line a column, what is ambiguous, and last the command to run next.

    Raises
    ------
    AmbiguousError
        If the file as a whole has two readings.
    ValueError
        If it cannot be read.
    """
    reading = reading or Reading()
    with opened(data) as path:
        table = read(path, reading)
    fields: list[Field] = []
    asked: dict[str, list[AmbiguousError | ValueError]] = {}
    width = min(max(map(len, table.names), default=0), _WIDTH)
    lines = [f"{data}: {len(table.columns):,} rows, {len(table.names):,} columns{_how(table.reading, reading)}"]
    for name in table.names:
        try:
            ask_counts(table, name)
            fields.append(_field(table.entries(name), name, reading))
            lines.append(f"  {name[:_WIDTH]:{width}}  {fields[-1]}")
        except ValueError as error:
            key = (
                " or ".join(" ".join(spelled(way)) for way in error.ways.values())
                if isinstance(error, AmbiguousError)
                else str(error)
            )
            asked.setdefault(key, []).append(error)
            question = f"? {error.question}" if isinstance(error, AmbiguousError) else f"- {error}"
            lines.append(f"  {name[:_WIDTH]:{width}}  {question}")
    for errors in asked.values():
        if isinstance(errors[0], AmbiguousError):
            lines += ["", *_question(errors)]
    chosen = next((field for field in fields if field.collectable), None)
    if chosen is None:
        return "\n".join([*lines, "", UNANSWERED if asked else "next: no column is one to collect"])
    own = "low and high should say what may occur, not what occurs; next, with your own:"
    lines += ["", own if chosen.kind == "number" else "next:"]
    return "\n".join([*lines, f"  {_command(data, chosen, reading)}"])


def _question(errors: list[Any]) -> Iterator[str]:
    """Yield the lines of a question, asked once for all columns that it concerns."""
    columns = list(dict.fromkeys(error.column for error in errors if error.column))
    where = f"{', '.join(columns[:_SHOWN])}{' and others' if len(columns) > _SHOWN else ''}: " if columns else ""
    yield f"? {where}{errors[0].question}"
    for meaning, way in errors[0].ways.items():
        yield f"    {' '.join(flags(way))}  {meaning}"


def flags(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield options as the command line takes them."""
    for name, value in options.items():
        for entry in value if isinstance(value, tuple | list) else [value]:
            option = f"--{name.replace('_', '-')}"
            yield option if entry is True else f"{option}={shlex.quote('tab' if entry == chr(9) else str(entry))}"


def _how(read_as: Reading, stated: Reading) -> str:
    """Return what was found of how a file is to be read, where it is not the usual."""
    marks = {"separator": ",", "encoding": "utf-8"}
    found = {n: v for n in marks if (v := getattr(read_as, n)) and v != marks[n] and not getattr(stated, n)}
    return f"; found {', '.join(spelled(found))}" if found else ""


def _field(series: Any, name: str, reading: Reading) -> Field:
    """Return what a column's entries are."""
    entries = parsed(series, name, reading)
    times = np.bincount(entries.places[entries.places >= 0], minlength=len(entries.values))
    common = entries.values[np.argsort(-times, kind="stable")[:_SHOWN]]
    rows, known = (
        int(times.sum()),
        (entries.kind, int(times.sum()), len(entries.values), len(series) - int(times.sum())),
    )
    if entries.kind != "number":
        shown = common.astype("datetime64[D]") if entries.kind == "date" else common
        return Field(name, known[0], rows, *known[2:], shown=tuple(map(str, shown)))
    low, high = float(entries.values[0]), float(entries.values[-1])
    whole = bool((entries.values % 1 == 0).all())
    return Field(name, known[0], rows, *known[2:], low, high, whole, tuple(f"{number:g}" for number in common))


def _command(data: str | Path, field: Field, reading: Reading) -> str:
    """Return the command that collects a column under local privacy, with every option in force."""
    given: dict[str, Any] = {"data": str(data), "column": field.name}
    if field.low is not None and field.high is not None:
        low, high = _round(field.low, up=False), _round(field.high, up=True)
        high = high if high > low else low + 1
        given |= {"low": f"{low:.12g}", "high": f"{high:.12g}"}
        if not field.whole or high - low > _WHOLE:
            given["bins"] = "20"
    given |= reading.stated()
    return " ".join(["ldpnb run own_data", *(f"-p {shlex.quote(word)}" for word in spelled(given))])


def _round(number: float, *, up: bool) -> float:
    """Return the next number of at most two digits."""
    if number == 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(abs(number))) - 1)
    if number % 1 == 0:
        step = max(step, 1.0)
    return float(f"{(math.ceil if up else math.floor)(number / step) * step:.12g}")
