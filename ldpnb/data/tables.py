"""From a file to a table: delimited text, packed by gzip or not, a workbook, or Parquet.

The kind of a file is known by its first bytes, whatever its name says. A file is bounded in bytes
(also unpacked), rows and cells. A row that does not fit the header is refused, never cut or filled.
"""

import csv
import gzip
import io
import re
import unicodedata
import warnings
import zipfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from ldpnb import checks
from ldpnb.data.reading import Reading

MOST_BYTES = 200_000_000
"""Of a file, packed or not."""
MOST_BYTES_OF_A_WORKBOOK = 50_000_000
"""Of a workbook when unpacked; a file of comma-separated values holds much more in as many."""
MOST_ROWS = 5_000_000
MOST_CELLS = 20_000_000
MOST_EMPTY_ROWS = 1_000_000
"""One below the other."""
FEW_COLUMNS = 8
"""Columns up to which a table of text is kept whole."""

_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_PARQUET = b"PAR1"
_NOT_READ = {
    b"\xd0\xcf\x11\xe0": "an old workbook, or one with a password",
    b"SQLite format 3": "a database",
    b"$FL2": "a file of SPSS",
    b"$FL3": "a file of SPSS",
    b"<stata_dta>": "a file of Stata",
    b"BZh": "packed by bzip2",
    b"\xfd7zXZ": "packed by xz",
    b'{"': "JSON",
    b"[{": "JSON",
}
"""What is recognised only to say so."""
_MARKS = ",;\t|"
_NO_MARK = "\x1f"

_LAST_ROWS = 10
_BELOW = re.compile(
    r"(?i)(grand )?(total|sum|mean|average|summe|insgesamt|gesamt\w*):?|(source|quelle|note):.*"
)
"""What often stands in a row below the data."""

_MERGED = re.compile(rb"<mergeCell\b[^>]*\bref=[\"']([A-Z]+(\d+):[A-Z]+(\d+))[\"']")
_FORMULA_WITHOUT_VALUE = re.compile(rb"(</f>|<f\b[^<>]*/>)\s*(<v\s*/>|<v></v>)?\s*</c>")

Row = tuple[int, list[Any]]
"""The number of a row in its file, and its fields."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The rows of a file below its header.

    Attributes
    ----------
    names : tuple of str
        The names of all columns.
    cells : DataFrame
        Columns, called by their place in `names`: all of them, or those that were asked for.
        Entries are texts or numbers. The index has the number of each row in the file.
    empty_rows : int
        Rows without any entry between others of a table of several columns, which are left out.
    """

    names: tuple[str, ...]
    cells: pd.DataFrame
    empty_rows: int = 0

    def column(self, name: str) -> "pd.Series[Any]":
        """Return the entries of a column, whose name may be in any case."""
        return self.cells[place_of(name, self.names)]


def read_table(path: str | Path, reading: Reading, columns: Sequence[str] | None = None) -> Table:
    """Read a table from a file.

    Parameters
    ----------
    path : str or Path
        A regular file: text in UTF-8 or a stated encoding, such as .csv, .tsv and .csv.gz, a
        workbook (.xlsx), or .parquet.
    reading : Reading
        What is stated of the file.
    columns : sequence of str, optional
        Columns that are needed. The others of a wide table are not kept.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        Names the file, and the row, the entry and the option that helps where there is one. This
        is so for every damaged, hostile or too large file.
    """
    file = Path(path).expanduser()
    if not file.is_file():  # a pipe or a device may never end
        raise ValueError(f"data must be a file, got data={checks.shortened(str(path))}")

    try:
        return _read(file, reading, columns)
    except ImportError:
        raise
    except Exception as error:  # each library has errors of its own for what is damaged
        reason = str(error).partition("\n")[0] or type(error).__name__
        name = checks.shown(str(file))
        raise ValueError(f"{name}: {printable(reason)}") from None


def _read(file: Path, reading: Reading, columns: Sequence[str] | None) -> Table:
    content = _content(file)

    if content.startswith(_PARQUET):
        _refuse_idle(reading, "Parquet", "sheet", "skip", "footer", "separator", "encoding")
        return _parquet(content, columns)

    if content.startswith(_ZIP):
        _refuse_idle(reading, "a workbook", "separator", "encoding")
        return _table(_rows_of_sheet(content, reading), reading, columns, is_sheet=True)

    for start, kind in _NOT_READ.items():
        if content.startswith(start):
            raise ValueError(f"it is {kind}, which is not read here: save it as .csv or .xlsx")

    _refuse_idle(reading, "text", "sheet")
    return _table(_rows_of_text(content, reading), reading, columns, is_sheet=False)


def _refuse_idle(reading: Reading, kind: str, *options: str) -> None:
    """Refuse options that say nothing about a kind of file."""
    for name in options:
        if name in reading.stated():
            raise ValueError(f"{name} must not be stated, since it says nothing about {kind}")


def _content(file: Path) -> bytes:
    """Return what a file holds, unpacked."""
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"it must have at most {MOST_BYTES:,} bytes")

    content = file.read_bytes()
    if content.startswith(_GZIP):
        with gzip.open(io.BytesIO(content)) as packed:
            content = packed.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"it must have at most {MOST_BYTES:,} bytes when unpacked")

    if not content.strip():
        raise ValueError("it is empty")
    return content


# Text


def _rows_of_text(content: bytes, reading: Reading) -> Iterator[Row]:
    """Yield the rows of delimited text from its header on, each with the number of its last line."""
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
        raise ValueError(f"it has no header below {reading.skip} lines that are skipped")

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
            what = "quotes around a field must be closed, and doubled inside"
            raise ValueError(f"row {place}: {error}; {what}") from None
        if row is None:
            return
        yield above + rows.line_num, [field.strip() for field in row]


def _lines(content: bytes, encoding: str) -> Iterator[str]:
    """Yield the lines of a text with their ends."""
    try:
        for line in io.TextIOWrapper(io.BytesIO(content), encoding=encoding, newline=""):
            if "\0" in line:
                what = "state encoding= if it is text, such as utf-16, or save it as .csv or .xlsx"
                raise ValueError(f"it has a zero byte: {what}")
            yield line
    except UnicodeError as error:
        where = f"byte {error.start:,} is" if isinstance(error, UnicodeDecodeError) else "it is"
        what = "state encoding=, such as cp1252 or utf-16, if it is text, or save it as .csv"
        raise ValueError(f"{where} no {encoding.removesuffix('-sig')}: {what}") from None


def _mark(header: str, line: int) -> str:
    """Return the mark between fields that a header has."""
    found = [mark for mark in _MARKS if mark in header]
    if len(found) > 1:
        what = "state separator=, or skip= if the header stands below"
        raise ValueError(f"row {line} has {' and '.join(map(repr, found))}: {what}")
    return found[0] if found else _NO_MARK


# Workbooks


def _rows_of_sheet(content: bytes, reading: Reading) -> Iterator[Row]:
    """Yield the rows of a sheet below those that are skipped, as they come.

    A cell far from the table makes rows and fields in between; they are counted as they come, so
    that it takes no memory.
    """
    from openpyxl import load_workbook

    _look_at_parts(content, reading)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of formats and forms that hold no data
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheet = _sheet(book.worksheets, reading.sheet)
        sheet.reset_dimensions()  # what a file says of them may be absent or false

        cells = 0
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells += len(row) + 1
            if cells > MOST_CELLS:
                reach = f"at least row {number:,}"
                what = "delete what stands far from the table, or save it as .csv"
                raise ValueError(f"the sheet reaches to {reach} with too many cells: {what}")
            if number > reading.skip:
                yield number, [_cell(value) for value in row]


def _look_at_parts(content: bytes, reading: Reading) -> None:
    """Refuse a workbook that is too large, or has cells that would be read as empty."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except zipfile.BadZipFile:
        raise ValueError("it is a damaged workbook or archive") from None

    with archive:
        parts = archive.infolist()
        if "xl/workbook.xml" not in archive.namelist():
            raise ValueError("it is an archive, not a workbook: unpack it, or save it as .csv")
        if sum(part.file_size for part in parts) > MOST_BYTES_OF_A_WORKBOOK:
            size = f"{MOST_BYTES_OF_A_WORKBOOK:,} bytes"
            raise ValueError(f"it must have at most {size} when unpacked: save it as .csv")
        for part in parts:
            if part.filename.startswith("xl/worksheets/"):
                _refuse_cells_read_as_empty(archive.read(part), reading)


def _refuse_cells_read_as_empty(part: bytes, reading: Reading) -> None:
    for place, top, bottom in _MERGED.findall(part):
        is_below_header = int(bottom) > reading.skip + 1
        if is_below_header and int(bottom) > int(top):
            what = "split it, and write its value in each row, or state skip= if it stands above"
            raise ValueError(f"the cell {place.decode()} spans several rows: {what}")
    if _FORMULA_WITHOUT_VALUE.search(part):
        what = "open and save the workbook, or save it as .csv"
        raise ValueError(f"a formula has no stored value: {what}")


def _sheet(sheets: Sequence[Any], stated: str) -> Any:
    """Return the sheet that is stated, or the only one."""
    titles = [sheet.title for sheet in sheets]
    if stated in titles:
        return sheets[titles.index(stated)]
    if len(sheets) == 1 and not stated:
        return sheets[0]
    raise ValueError(f"it has {len(sheets)} sheets: state sheet= one of {listed(titles)}")


def _cell(value: Any) -> Any:
    """Return a cell as a number or as text, a date as 2024-12-31."""
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return _text(value)


def _text(value: Any) -> str:
    text = str(value).strip()
    return text.removesuffix(" 00:00:00") if hasattr(value, "year") else text


# Parquet


def _parquet(content: bytes, columns: Sequence[str] | None) -> Table:
    """Return the columns of a Parquet file, nested ones left out unless they are asked for."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(io.BytesIO(content))
    names = tuple(file.schema_arrow.names)
    if not 0 < file.metadata.num_rows <= MOST_ROWS:
        rows = f"1 to {MOST_ROWS:,} rows"
        raise ValueError(f"it must have {rows}, got {file.metadata.num_rows:,}")

    groups = [file.metadata.row_group(place) for place in range(file.num_row_groups)]
    if sum(group.total_byte_size for group in groups) > 5 * MOST_BYTES:
        raise ValueError(f"it must have at most {5 * MOST_BYTES:,} bytes when unpacked")

    places = _places(columns, names, keep_few=False)
    if len(places) * file.metadata.num_rows > MOST_CELLS:
        raise ValueError(f"it must have at most {MOST_CELLS:,} entries: name the columns to read")

    # texts stay in a dictionary of those that occur, of which each row has a place
    texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
    file = ParquetFile(io.BytesIO(content), read_dictionary=texts)
    made = {}
    for place in places:
        kind = file.schema_arrow.field(place).type
        if pa.types.is_nested(kind):
            if columns is not None:
                raise ValueError(f"column {quoted(names[place])} holds lists or records")
            made[place] = pd.Series(["(a list or record)"] * file.metadata.num_rows, dtype=object)
        else:
            made[place] = _entries(file.read(columns=[names[place]]).column(0))
    cells = pd.DataFrame(made)
    return Table(names, cells.set_axis(range(1, len(cells) + 1)))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _entries(column: Any) -> "pd.Series[Any]":
    """Return a column of Parquet as numbers, or as texts and None."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.to_pandas()
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64()).to_pandas()

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_binary(inner) or pa.types.is_large_binary(inner):
        raise ValueError("it holds bytes, not text")
    distinct = column.dictionary_encode().combine_chunks()
    texts = [_text(value) for value in distinct.dictionary.to_pylist()]
    if any(len(text) > csv.field_size_limit() for text in texts):
        raise ValueError(f"an entry must have at most {csv.field_size_limit():,} characters")
    places = distinct.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return pd.Series(np.array([*texts, None], dtype=object)[places])


# Any table


def _table(
    rows: Iterator[Row], reading: Reading, columns: Sequence[str] | None, *, is_sheet: bool
) -> Table:
    """Return the rows below the header, as far as they are needed."""
    _, header = next((row for row in rows if _has_entry(row[1])), (0, []))
    if is_sheet:
        header = _without_empty_end(header)
    width = len(header)
    names = tuple(str(name) for name in header)
    if not names:
        raise ValueError("it has no header")

    places = _places(columns, names, keep_few=True)
    kept: list[list[Any]] = [[] for _ in places]
    numbers: list[int] = []
    last: deque[Row] = deque(maxlen=_LAST_ROWS)
    marked: list[int] = []
    empty_rows = 0
    for number, row in _data(rows, reading.footer or 0):
        if width > 1 and not _has_entry(row):
            empty_rows += 1
            continue
        if len(numbers) == MOST_ROWS or (len(numbers) + 1) * len(places) > MOST_CELLS:
            most = f"{MOST_ROWS:,} rows and {MOST_CELLS:,} entries"
            raise ValueError(f"it must have at most {most}: name the columns to read")

        fields = _without_empty_end(row) if is_sheet else row or [""]
        if is_sheet:
            fields += [""] * (width - len(fields))
        if len(fields) != width:
            _refuse_width(number, fields, width)

        if width == 1 and not is_sheet and any(mark in fields[0] for mark in _MARKS):
            marked.append(number)
        numbers.append(number)
        last.append((number, fields))
        for place, entries in zip(places, kept, strict=True):
            entries.append(fields[place])

    if not numbers:
        raise ValueError("it has no rows below its header")
    if 2 * len(marked) > len(numbers) and not reading.separator:
        first = kept[0][numbers.index(marked[0])]
        what = "state skip= if the header stands below, or separator="
        refuse(marked[0], first, f"has a mark between fields that the header lacks: {what}")
    if reading.footer is None:
        _ask_about_footer(last)

    series = [pd.Series(entries, index=numbers, dtype=object) for entries in kept]
    cells = pd.DataFrame(dict(zip(places, series, strict=True)), index=numbers)
    return Table(names, cells, empty_rows)


def _data(rows: Iterable[Row], footer: int) -> Iterator[Row]:
    """Yield the rows above the footer; empty rows at the end count for nothing."""
    held: deque[Row] = deque()
    empty: list[int] = []
    filled = 0
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
        filled += 1
        while filled > footer:
            first = held.popleft()
            filled -= bool(first[1])
            yield first


def _has_entry(fields: list[Any]) -> bool:
    return fields.count("") < len(fields)


def _without_empty_end(fields: list[Any]) -> list[Any]:
    end = len(fields)
    while end and fields[end - 1] == "":
        end -= 1
    return fields[:end]


def _refuse_width(number: int, fields: list[Any], width: int) -> NoReturn:
    what = "mend that row, or state skip=, separator= or footer="
    if len(fields) == width + 1:
        what += "; if every row has one field more, give the first column a name too"
    shown = ", ".join(map(str, fields))
    refuse(
        number,
        shown,
        f"has a number of fields ({len(fields)}) other than the header's ({width}): {what}",
    )


def _ask_about_footer(last: Sequence[Row]) -> None:
    """Ask whether the last rows are totals or remarks, if one of them looks so."""
    for below, (number, fields) in enumerate(reversed(last), 1):
        for field in fields:
            if _BELOW.fullmatch(str(field)):
                what = f"state footer={below} if it stands below the data, or footer=0"
                refuse(number, field, f"may be no entry: {what}")


def _places(columns: Sequence[str] | None, names: tuple[str, ...], *, keep_few: bool) -> list[int]:
    """Return the places of the columns to keep."""
    if columns is None:
        return list(range(len(names)))
    wanted = [place_of(name, names) for name in columns]
    if keep_few and len(names) <= FEW_COLUMNS:
        return list(range(len(names)))
    return list(dict.fromkeys(wanted))


def place_of(name: str, names: Sequence[str]) -> int:
    """Return the place of a column, whose name may be in any case."""
    wanted = _folded(name)
    found = [place for place, own in enumerate(names) if _folded(own) == wanted]
    if len(found) == 1:
        return found[0]
    if len(names) == 1 and not wanted:
        return 0

    what = "state skip= if the header stands below"
    number = "no column is" if not found else f"{len(found)} columns are"
    raise ValueError(f"{number} called {quoted(name)}, of {listed(names)}: {what}")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip().casefold()


# Messages


def quoted(entry: object) -> str:
    """Return text of a file for a message: short, and escaped so that a terminal cannot obey it."""
    return repr(str(entry)[:60])


def listed(names: Sequence[str]) -> str:
    """Return names of a file for a message."""
    some = ", ".join(quoted(name) for name in names[:20])
    return some if len(names) <= 20 else f"{some}, and {len(names) - 20} more"


def printable(text: str) -> str:
    """Return a message of a library, escaped if a terminal could obey it."""
    return text if text.isprintable() else ascii(text)


def refuse(row: object, entry: object, why: str) -> NoReturn:
    """Refuse an entry, which is named with its row."""
    raise ValueError(f"row {row}: {quoted(entry)} {why}")
