"""Rows of delimited text: comma-separated values and the like."""

import csv
import io
from collections.abc import Iterator
from itertools import chain

from ldpnb.data.reading import Reading

MARKS = ",;\t|"
"""Marks between fields that are recognised in a header."""
_NO_MARK = "\x1f"


def rows_of_text(content: bytes, reading: Reading) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of delimited text from its header on, with the number of their last line."""
    encoding = reading.encoding or "utf-8"
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        encoding = "utf-8-sig"
    lines = _lines(content, encoding)

    above = 0
    header = ""
    for above, header in enumerate(lines):
        if above >= reading.skip and header.strip():
            break
    else:
        raise ValueError(f"it has no header below the {reading.skip} lines that are skipped")

    parts = [header]
    quotes = header.count('"')
    while quotes % 2 and (part := next(lines, "")):  # a name over several lines
        parts.append(part)
        quotes += part.count('"')

    mark = reading.separator or _mark("".join(parts), above + 1)
    rows = csv.reader(chain(parts, lines), delimiter=mark, strict=True)
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            place = above + rows.line_num
            if mark == _NO_MARK:
                what = "close the quotation, or set separator if a field ends at another character"
                raise ValueError(f"row {place} has text after a closing quote: {what}") from None
            what = "close every quotation, and double the quotation marks inside it"
            raise ValueError(f"row {place}: {error}; {what}") from None
        if row is None:
            return
        yield above + rows.line_num, [field.strip() for field in row]


def _lines(content: bytes, encoding: str) -> Iterator[str]:
    """Yield the lines of a text with their ends."""
    try:
        for line in io.TextIOWrapper(io.BytesIO(content), encoding=encoding, newline=""):
            if "\0" in line:
                what = "set encoding if it is text, such as encoding=utf-16, or save it as .csv"
                raise ValueError(f"it has a zero byte: {what}")
            yield line
    except UnicodeError as error:
        where = f"byte {error.start:,} is" if isinstance(error, UnicodeDecodeError) else "it is"
        what = "set encoding if it is text, such as encoding=cp1252, or save it as .csv"
        raise ValueError(f"{where} not valid {encoding.removesuffix('-sig')}: {what}") from None


def _mark(header: str, line: int) -> str:
    """Return the mark between fields that a header has."""
    found = [mark for mark in MARKS if mark in header]
    if len(found) > 1:
        what = "set separator, or set skip if the header is further down"
        raise ValueError(f"row {line} has {' and '.join(map(repr, found))}: {what}")
    return found[0] if found else _NO_MARK
