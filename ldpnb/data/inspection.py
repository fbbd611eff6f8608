"""A look at a file before anything is run on it: how it is read, and what each column seems to hold.

The result is only for whoever holds the file: ranges and frequent entries reveal individuals, and do not belong in a
release.
"""

import math
import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ldpnb.data.reading import Reading
from ldpnb.data.tables import Table, locate
from ldpnb.data.tallying import date_formats

Seems = Literal["empty", "whole", "number", "date", "boolean", "category", "free text", "identifier"]

ROWS = 2**18
"""Rows that are inspected, if there are as many."""

_ANSWERS = {"yes", "no", "true", "false", "ja", "nein", "oui", "non", "y", "n", "t", "f", "0", "1", "m", "w"}
_NO_ANSWER = {
    *(
        "k.a.",
        "k. a.",
        "keine angabe",
        "weiß nicht",
        "weiss nicht",
        "unbekannt",
        "n.a.",
        "no answer",
        "unknown",
        "missing",
    ),
    *("refused", "don't know", "dk", "not stated", ".", "-", "--", "?", "-9", "-99", "-999", "99", "999", "9999"),
}
"""Entries among names that stand for a missing one, in lower case; those in `ABSENT` are missing anyway."""
_SENTINELS = {-1, -2, -7, -8, -9, -88, -98, -99, -999, -9999, 88, 98, 99, 888, 998, 999, 8888, 9998, 9999, 99999}
_MOST_CODES, _SHOWN = 12, 6


@dataclass(frozen=True, slots=True)
class Field:
    """What a column of a file seems to hold.

    Parameters
    ----------
    name : str
    seems : {"empty", "whole", "number", "date", "boolean", "category", "free text", "identifier"}
    entries, distinct, missing : int
        Rows with an entry, different entries, rows without.
    codes : tuple of str
        Entries that look like codes of missing ones.
    implausible : int
        Numbers far outside the bulk (three interquartile ranges beyond the quartiles), without codes.
    low, high : float, optional
        Round ends of a range that holds the plausible numbers.
    shown : tuple of str
        The most frequent entries, or the form of dates.
    """

    name: str
    seems: Seems
    entries: int = 0
    distinct: int = 0
    missing: int = 0
    codes: tuple[str, ...] = ()
    implausible: int = 0
    low: float | None = None
    high: float | None = None
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a file is.

    Parameters
    ----------
    path : str
    format : str
        The suffix that indicates it.
    reading : Reading
        How its text is parsed; empty for formats that define it themselves.
    rows : int
        Rows inspected.
    whole : bool
        Whether the file has no more.
    columns : tuple of Field
    twice : tuple of str
        Names shared by several columns, which are not described.
    """

    path: str
    format: str
    reading: Reading
    rows: int
    whole: bool
    columns: tuple[Field, ...]
    twice: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, the next command among them."""
        return asdict(self) | {"next": self.command}

    @property
    def command(self) -> str:
        """The command that collects the first suitable column under local privacy."""
        for wanted in ("whole", "number", "category", "boolean", "date"):
            for column in self.columns:
                if column.seems == wanted:
                    return " ".join(self._command(column))
        return f"no column of {self.path} is one to collect"

    def _command(self, column: Field) -> Iterator[str]:
        yield "ldpnb run own_data"
        told = {"data": self.path, "column": column.name}
        reading = self.reading
        if reading.encoding in ("utf-16", "cp1252"):
            told["encoding"] = reading.encoding
        if column.seems in ("whole", "number") and column.low is not None and column.high is not None:
            told |= {"low": f"{column.low:g}", "high": f"{column.high:g}"}
            if column.seems == "number" or column.high - column.low >= 1000:
                told["bins"] = "20"
        if column.codes:
            told["missing"] = str(list(column.codes)).replace("'", '"')
        if column.implausible:
            told["outside"] = "missing"
        for name, value in told.items():
            yield f"-p {shlex.quote(f'{name}={value}')}"

    def report(self) -> str:
        """Return a readable report, a line per column, and the command to run next."""
        looked = f"{self.rows:,} rows" if self.whole else f"the first {self.rows:,} of more rows"
        told = self.reading.told(self.format)
        head = f"{self.path}: {self.format[1:]}, {looked}, {len(self.columns) + len(self.twice)} columns"
        lines = [head + (f"; read with {told}" if told else "")]
        width = max((len(column.name) for column in self.columns), default=0)
        lines += [f"  {column.name:{width}}  {_told(column)}" for column in self.columns]
        lines += [f"  several columns are called {name!r}: rename them, or they cannot be read" for name in self.twice]
        if " -p low=" in self.command:
            lines += ["", "low and high should say what may occur, not what occurs; next, with your own:"]
        else:
            lines += ["", "next:"]
        return "\n".join([*lines, f"  {self.command}"])


def inspect(data: str | Path, reading: Reading | None = None) -> Inspection:
    """Look at a file: its format, its marks, and what every column seems to hold.

    Parameters
    ----------
    data : str or Path
    reading : Reading, optional
        What is known of its text; the rest is found.

    Raises
    ------
    ValueError
        If it cannot be read.
    """
    import pandas as pd

    table = Table(locate(data), reading or Reading())
    names = table.columns()
    plain = [name.lower() for name in names]
    once = tuple(name for name in names if name and plain.count(name.lower()) == 1)
    twice = tuple(dict.fromkeys(name for name in names if plain.count(name.lower()) > 1))
    parts: list[list[Any]] = []
    rows, whole = 0, True
    for part in table.parts(texts=once) if once else ():
        if rows >= ROWS:
            whole = False
            break
        parts.append(part)
        rows += len(part[0])
    described = []
    for place, name in enumerate(once):
        pieces = [part[place].astype(object) for part in parts]
        entries = pd.concat(pieces, ignore_index=True) if pieces else pd.Series(dtype=object)
        described.append(_field(table, name, entries))
    found = table.reading if table.reading.separator else Reading()
    return Inspection(str(data), table.suffix, found, rows, whole, tuple(described), twice)


def _field(table: Table, name: str, entries: Any) -> Field:
    """Return what a column seems to hold."""
    import pandas as pd

    known = entries.dropna()
    known = known.map(lambda entry: entry.strip() if isinstance(entry, str) else entry)
    counts = known.astype(str).value_counts()
    about: dict[str, Any] = {"entries": len(known), "distinct": len(counts), "missing": len(entries) - len(known)}
    if known.empty:
        return Field(name, "empty", **about)
    texts = known.map(lambda entry: isinstance(entry, str))
    if not texts.any() and pd.api.types.is_datetime64_any_dtype(pd.Series(known.tolist())):
        return Field(name, "date", **about)
    if len(counts) <= 2 and {entry.lower() for entry in counts.index} <= _ANSWERS:
        return Field(name, "boolean", **about, shown=tuple(counts.index))
    numbers = table.numbers(known) if texts.any() else pd.to_numeric(known, errors="coerce").astype(float)
    words = known[numbers.isna()].astype(str).value_counts()
    if numbers.notna().mean() >= 0.8 and len(words) <= _MOST_CODES:
        return _number(name, numbers.dropna(), tuple(words.index), about)
    codes = tuple(entry for entry in counts.index if entry.lower() in _NO_ANSWER)
    said = known[~known.isin(codes)]
    forms = date_formats(said.head(2000)) if texts.all() and len(said) else []
    if forms:
        return Field(name, "date", **about, codes=codes, shown=tuple(forms))
    lengths = counts.index.str.len()
    frequent = tuple(entry for entry in counts.index[: _SHOWN + len(codes)] if entry not in codes)[:_SHOWN]
    if len(counts) > 0.9 * len(known) and len(known) > 20:
        return Field(name, "free text" if float(np.mean(lengths)) > 30 else "identifier", **about)
    if float(np.average(lengths, weights=counts)) > 60:
        return Field(name, "free text", **about)
    return Field(name, "category", **about, codes=codes, shown=frequent)


def _number(name: str, numbers: Any, words: tuple[str, ...], about: dict[str, Any]) -> Field:
    """Return what a column of numbers and a few codes seems to hold."""
    whole = bool((numbers == np.floor(numbers)).all())
    if whole and about["distinct"] > 0.98 * about["entries"] > 50 and not words:
        return Field(name, "identifier", **about)
    usual = numbers[~numbers.isin(_SENTINELS)]
    bulk = usual if len(usual) else numbers
    first, third = np.quantile(bulk, [0.25, 0.75])
    width = max(third - first, 1e-9 + abs(third) * 1e-3)
    near = numbers.between(first - 3 * width, third + 3 * width)
    # a sentinel inside the bulk is a number like any other
    odd = numbers[~near & numbers.isin(_SENTINELS)]
    codes = (*words, *(f"{code:g}" for code in np.unique(odd)))
    plausible = numbers[near]
    low, high = _round(float(plausible.min()), up=False), _round(float(plausible.max()), up=True)
    if low == high:
        high = low + 1
    far = int((~near).sum()) - len(odd)
    return Field(name, "whole" if whole else "number", **about, codes=codes, implausible=far, low=low, high=high)


def _round(number: float, *, up: bool) -> float:
    """Return the next number of at most two digits."""
    if number == 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(abs(number))) - 1)
    return float(f"{(math.ceil if up else math.floor)(number / step) * step:.12g}")


def _told(column: Field) -> str:
    parts = [column.seems, f"{column.distinct:,} different"]
    parts += [f"{column.missing:,} missing"] * bool(column.missing)
    if column.low is not None:
        parts.append(f"about {column.low:g} to {column.high:g}")
    if column.codes:
        parts.append(f"missing codes? {', '.join(column.codes[:_SHOWN])}")
    parts += [f"{column.implausible:,} far outside"] * bool(column.implausible)
    if column.shown:
        parts.append(("written " if column.seems == "date" else "") + ", ".join(column.shown[:_SHOWN])[:70])
    return ", ".join(parts)
