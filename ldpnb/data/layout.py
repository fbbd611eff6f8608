"""Where the header and the data of a table are: found, or asked where that has two answers."""

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ldpnb.data.reading import AmbiguousError, Reading

_TOTAL = re.compile(r"(?i)(grand )?(total|sum|summe|gesamt|insgesamt|totale|somme|source|quelle|note)\b.*", re.S)
_PLAIN = re.compile(r"[-+]?[\d.,' \u00a0\u202f\u2019]*\d[\deE+-]*|\d{1,4}([-./])\d{1,2}\1\d{1,4}(\D.*)?")
"""A number or a date."""

Rows = list[list[str]]


def split(lines: Iterable[str], separator: str) -> Rows:
    """Return the fields of every row of delimited text."""
    try:
        return list(csv.reader(lines, delimiter=separator))
    except csv.Error as error:
        raise ValueError(f"a quote is not closed, or a line is too long ({error})") from None


def find_separator(lines: Sequence[str], reading: Reading) -> str:
    """Return the mark by which most rows have the same number of fields, or one that does not occur."""
    best = (0.0, 1, "")
    for mark in (",", ";", "\t", "|"):
        widths = Counter(len(row) for row in split(lines, mark) if row)
        width, rows = widths.most_common(1)[0] if widths else (1, 0)
        if width > 1:
            best = max(best, (round(rows / sum(widths.values()), 1) + (mark in lines[0]) / 100, width, mark))
    share, _, mark = best
    other = next(m for m in ";|\x1f" if not any(m in line for line in lines))
    if not mark:
        return other
    alone = mark not in lines[0] and mark in lines[1]
    if reading.skip is None and alone and share > 0.9 and not lines[0].startswith("#"):
        ways: dict[str, dict[str, Any]] = {"one column": {"separator": other}}
        ways["line 1 is a title"] = {"separator": mark, "skip": 1}
        raise AmbiguousError(f"{mark!r} is in the rows but not in line 1, {lines[0][:40]!r}", ways)
    return mark


def find_header(rows: Rows, widths: Sequence[int], reading: Reading) -> tuple[int, int]:
    """Return how many lines lie above the header and how many it has; ask where it is not the first line alone.

    `widths` are the fields of each row that are not empty, of delimited text all of them.
    """
    filled = sorted(width for width in widths if width)
    if not filled:
        raise ValueError("it has no rows")
    usual, skip = filled[len(filled) // 2], reading.skip
    if skip is None:
        skip = next(i for i, width in enumerate(widths) if width >= usual)
        ways: dict[str, dict[str, Any]] = {"columns 1, 2, ...": {"skip": 1, "header": 0}}
        if skip == 1 and 1 < widths[0] == usual - 1:
            question = f"the header has {widths[0]} fields and the rows have {usual}; mend it in the file"
            raise AmbiguousError(question, ways)
        if skip:
            ways = {"lines above it are titles": {"skip": skip}, "line 1 is the header": {"skip": 0}}
            raise AmbiguousError(f"the header seems to be line {skip + 1}, {_cut(rows[skip])}", ways)
    elif skip >= len(rows):
        raise ValueError(f"skip must leave a header and rows, got skip={skip}")
    if reading.header is not None:
        return skip, reading.header
    texts = [[cell.strip() for cell in row] for row in rows[skip:]]
    columns = [cells for cells in itertools.zip_longest(*texts, fillvalue="") if any(cells)]
    if len(texts) > 1 and any(texts[0]) and all(_headed_by_data(cells) for cells in columns if cells[0]):
        ways = {"no header; columns 1, 2, ...": {"header": 0}, "it is the header": {"header": 1}}
        raise AmbiguousError(f"line {skip + 1}, {_cut(texts[0])}, looks like data", ways)
    for more in (2, 1):
        bodies = [[cell for cell in cells[more + 1 :] if cell] for cells in columns]
        numbers = any(body and all(map(_PLAIN.fullmatch, body)) for body in bodies)
        if numbers and all(_headed_by_more(cells, more) for cells in columns):
            ways = {"names are in the first": {"header": more + 1}, "one": {"header": 1}}
            raise AmbiguousError(f"the header seems to have {more + 1} rows", ways)
    return skip, 1


def _headed_by_data(cells: Sequence[str]) -> bool:
    """Return whether the first cell of a column is like those below it: a number or a date too, or one of them."""
    below = [bool(_PLAIN.fullmatch(cell)) for cell in cells[1:]]
    return cells[0] in cells[1:] or (bool(_PLAIN.fullmatch(cells[0])) and sum(below) > len(below) / 2)


def _headed_by_more(cells: Sequence[str], more: int) -> bool:
    """Return whether the cells after the first are words too, and occur nowhere below them."""
    upper, lower = cells[1 : more + 1], cells[more + 1 :]
    return len(lower) >= 10 and all(upper) and not any(map(_PLAIN.fullmatch, upper)) and not {*upper} & {*lower}


def find_footer(rows: Rows, reading: Reading, width: int = 0) -> int:
    """Return how many rows lie below the data; ask if some of the last ones seem to."""
    if reading.footer is not None:
        return reading.footer
    cells = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    odd = [_is_note(row, width or len(row)) for row in cells]
    if not any(odd):
        return 0
    below = len(odd) - odd.index(True)
    ways = {"leave them out": {"footer": below}, "they are data": {"footer": 0}}
    raise AmbiguousError(f"the last {below} rows, {_cut(cells[-below])}, do not look like data", ways)


def _is_note(row: Sequence[str], width: int) -> bool:
    """Return whether a row is a total, or a text in the first cell alone."""
    first, alone = next(filter(None, row)), width > 2 and not any(row[1:])
    return bool(_TOTAL.fullmatch(first)) or (alone and not _PLAIN.fullmatch(first))


def names_in(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns from the cells of a header: 1, 2, ... without one."""
    names = [re.sub(r"\s+", " ", cell).strip() for cell in cells]
    numbered = not any(names)
    return tuple(name or (str(i) if numbered else f"column {i}") for i, name in enumerate(names, 1))


def _cut(row: Sequence[str]) -> str:
    return f"{', '.join(row)[:60]!r}"
