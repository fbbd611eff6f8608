"""From rows to a table: the header, the rows below it that fit it, and the rows below the data."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

import pandas as pd

from ldpnb.data.messages import refuse
from ldpnb.data.reading import Reading
from ldpnb.data.table import MOST_CELLS, MOST_ROWS, Table, places_of
from ldpnb.data.text import MARKS

Row = tuple[int, list[Any]]
"""The number of a row in its file, and its fields."""

MOST_EMPTY_ROWS = 1_000_000
"""One below the other."""

_LAST_ROWS = 10
_BELOW = re.compile(
    r"(?i)(grand )?(total|sum|mean|average|summe|insgesamt|gesamt\w*):?|(source|quelle|note):.*"
)
"""What often stands in a row below the data."""


def table_of(
    rows: Iterator[Row], reading: Reading, columns: Sequence[str] | None, *, is_sheet: bool
) -> Table:
    """Return the rows below the header as a table.

    Parameters
    ----------
    rows : iterator of (int, list)
        The number of each row in its file, and its fields, from the header on.
    reading : Reading
        How the file is to be read.
    columns : sequence of str, optional
        Columns that are needed, see `places_of`.
    is_sheet : bool
        Whether rows of a sheet are meant, which may be shorter than the header.
    """
    names = _header(rows, is_sheet=is_sheet)
    width = len(names)
    places = places_of(columns, names)

    kept: list[list[Any]] = [[] for _ in places]
    numbers: list[int] = []
    last: deque[Row] = deque(maxlen=_LAST_ROWS)
    marked: list[Row] = []
    empty_rows = 0
    for number, row in _data(rows, reading.footer or 0):
        if width > 1 and not _has_entry(row):
            empty_rows += 1
            continue
        if len(numbers) == MOST_ROWS or (len(numbers) + 1) * len(places) > MOST_CELLS:
            most = f"{MOST_ROWS:,} rows and {MOST_CELLS:,} entries"
            raise ValueError(f"it must have at most {most}: name the columns that you need")

        fields = _padded(row, width) if is_sheet else row or [""]
        if len(fields) != width:
            _refuse_width(number, fields, width)
        if width == 1 and not is_sheet and any(mark in fields[0] for mark in MARKS):
            marked.append((number, fields))

        numbers.append(number)
        last.append((number, fields))
        for place, entries in zip(places, kept, strict=True):
            entries.append(fields[place])

    if not numbers:
        raise ValueError("it has no rows below its header")
    if 2 * len(marked) > len(numbers) and not reading.separator:
        what = "set skip if the header is further down, or set separator"
        number, fields = marked[0]
        refuse(number, fields[0], f"has a separator that the header does not have: {what}")
    if reading.footer is None:
        _ask_about_footer(last)

    series = [pd.Series(entries, index=numbers, dtype=object) for entries in kept]
    cells = pd.DataFrame(dict(zip(places, series, strict=True)), index=numbers)
    return Table(names, cells, empty_rows)


def _header(rows: Iterator[Row], *, is_sheet: bool) -> tuple[str, ...]:
    """Return the names of the columns, which stand in the first row with an entry."""
    for _, fields in rows:
        if _has_entry(fields):
            names = _without_empty_end(fields) if is_sheet else fields
            return tuple(str(name) for name in names)
    raise ValueError("it has no header")


def _data(rows: Iterable[Row], footer: int) -> Iterator[Row]:
    """Yield the rows above the footer; empty rows at the end count for nothing."""
    held: deque[Row] = deque()
    empty: list[int] = []
    held_with_entries = 0
    for row in rows:
        if not _has_entry(row[1]):
            empty.append(row[0])
            if len(empty) > MOST_EMPTY_ROWS:
                raise ValueError(
                    f"it has more than {MOST_EMPTY_ROWS:,} empty rows above row {row[0]:,}"
                )
            continue

        held += [(number, []) for number in empty]
        empty.clear()
        held.append(row)
        held_with_entries += 1
        while held_with_entries > footer:
            number, fields = held.popleft()
            if fields:
                held_with_entries -= 1
            yield number, fields


def _has_entry(fields: list[Any]) -> bool:
    """Return whether a row is not empty."""
    return fields.count("") < len(fields)


def _without_empty_end(fields: list[Any]) -> list[Any]:
    """Return the fields of a row up to the last one that is not empty."""
    end = len(fields)
    while end and fields[end - 1] == "":
        end -= 1
    return fields[:end]


def _padded(fields: list[Any], width: int) -> list[Any]:
    """Return the fields of a row of a sheet, whose last cells may be absent."""
    present = _without_empty_end(fields)
    return present + [""] * (width - len(present))


def _refuse_width(number: int, fields: list[Any], width: int) -> NoReturn:
    what = "correct that row, or set skip, separator or footer"
    if len(fields) == width + 1:
        what += "; if every row has one field more than the header, name the first column too"
    shown = ", ".join(map(str, fields))
    refuse(
        number,
        shown,
        f"has {len(fields)} fields, but the header has {width}: {what}",
    )


def _ask_about_footer(last: Sequence[Row]) -> None:
    """Ask whether the last rows are totals or remarks, if one of them looks so."""
    for below, (number, fields) in enumerate(reversed(last), 1):
        for field in fields:
            if _BELOW.fullmatch(str(field)):
                what = f"set footer={below} if it stands below the data, or footer=0 if not"
                refuse(number, field, f"may not be an entry: {what}")
