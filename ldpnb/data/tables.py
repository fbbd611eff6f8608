"""Tables in files, read piece by piece in memory that does not grow with the number of rows.

CSV, TSV (packed or not), Parquet, JSON lines, Excel and NumPy arrays. `Table.parts` yields columns as pandas Series.
`ldpnb.data.reading` parses text, `ldpnb.data.files` decides what a column means. Whatever a file claims to contain,
however small it is when packed, reading it takes a bounded amount of memory or is refused.
"""

import csv
import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from ldpnb import checks
from ldpnb.data.opening import PACKED, Bounded, lent, opened
from ldpnb.data.reading import ABSENT, SAMPLE, Reading

ROWS, LONGEST_TEXT = 2**18, 1000
"""Rows in a piece, characters in a text."""

_BLOCK = 2**21
"""Bytes of delimited text in a piece."""
_EXCEL_ROWS, _MEMBER_BYTES = 2**20, 2**27
_SHOWN, _WIDTH = 20, 60

Wanted = dict[str, bool]
"""Columns by the caller's names: True for text, False for numbers."""
Pieces = Iterator[tuple[Any, int]]
"""Frames with the wanted columns, and how many bytes of the file were read so far."""


def locate(data: str | Path, name: str = "data") -> Path:
    """Return an existing file; `name` is what the caller calls it."""
    path = Path(os.path.expanduser(data))
    if not path.is_file():
        raise ValueError(f"{name} must be a file, got {name}={str(data)!r}")
    return path


def readable(path: Path) -> bool:
    """Return whether a path is a file in one of the formats read here."""
    return path.is_file() and Table(path).suffix in _FORMATS


def mapped(path: Path) -> "np.memmap[Any, Any]":
    """Return a memory map of a ``.npy`` file of numbers; pickled objects are refused."""
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, SyntaxError, OverflowError, EOFError) as error:
        raise ValueError(f"{path}: cannot be read as an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{path}: cannot be read as an array of numbers: it holds {array.dtype}")
    return array


def rows(path: Path) -> "Iterator[np.memmap[Any, Any]]":
    """Yield blocks of the rows of a ``.npy`` file."""
    whole = mapped(path)
    if whole.ndim not in (1, 2) or np.isfortran(whole):
        first = "columns" if np.isfortran(whole) else "rows"
        raise ValueError(f"{path} must hold (n,) or (n, k) numbers in rows, got shape {whole.shape}, {first} first")
    for start in range(0, len(whole), ROWS):
        # a new mapping for every block releases the pages of the last one
        shape = (min(ROWS, len(whole) - start), *whole.shape[1:])
        yield np.memmap(path, dtype=whole.dtype, mode="r", offset=whole.offset + start * whole.strides[0], shape=shape)


@dataclass(frozen=True)
class Table:
    """A table in a file; only here is it decided how the file is parsed.

    Parameters
    ----------
    path : Path
        Its name indicates the format.
    stated : Reading
        What is known of its text; the rest is detected.
    """

    path: Path
    stated: Reading = field(default_factory=Reading)

    @property
    def suffix(self) -> str:
        """The suffix that indicates the format, without that of a compression."""
        kinds = [suffix.lower() for suffix in self.path.suffixes]
        if kinds and kinds[-1] in PACKED:
            kinds.pop()
            return kinds[-1] if kinds and kinds[-1] in _SEPARATORS else ".csv"
        return kinds[-1] if kinds else ""

    @cached_property
    def reading(self) -> Reading:
        """How its text is parsed, as stated or as detected."""
        if self.suffix not in _SEPARATORS:
            return replace(self.stated, decimal=self.stated.decimal or ".")
        with opened(self.path) as source:
            sample = source.read(SAMPLE)
        try:
            return self.stated.completed(sample, _SEPARATORS[self.suffix])
        except ValueError as error:
            raise self.unreadable(error) from None

    def columns(self) -> list[str]:
        """Return the names of the columns, without surrounding blanks."""
        with self._named({}):
            return [str(name).strip() for name in self._format.names(self)]

    @property
    def _format(self) -> "Format":
        if self.suffix not in _FORMATS:
            raise ValueError(f"{self.path}: its name must end in {', '.join(_FORMATS)}")
        return _FORMATS[self.suffix]

    def parts(self, *, numbers: tuple[str, ...] = (), texts: tuple[str, ...] = ()) -> Iterator[list[Any]]:
        """Yield columns as pandas Series, piece by piece: first the numbers, then the texts, missing entries included.

        Parameters
        ----------
        numbers, texts : tuple of str
            Names; case and surrounding blanks do not matter. ``""`` is the only column of a table with one column.

        Raises
        ------
        ValueError
            If the file cannot be read, lacks a column, or holds no numbers where it should.
        """
        from tqdm import tqdm

        wanted = dict.fromkeys(numbers, False) | dict.fromkeys(texts, True)
        about: dict[str, Any] = {"total": self.path.stat().st_size, "unit": "B", "unit_divisor": 1024}
        with tqdm(desc=self.path.name, unit_scale=True, disable=None, **about) as bar:
            for frame, done in self._pieces(wanted):
                yield [frame[column] for column in wanted]
                bar.update(done - bar.n)

    def share_of_numbers(self, column: str) -> float:
        """Return the share of numbers among the entries of a column's first piece; booleans are not numbers."""
        import pandas as pd

        for frame, _ in self._pieces({column: True}):
            known = frame[column].dropna()
            known = known[~known.isin(self.reading.missing)].infer_objects()
            kind = known.dtype
            if pd.api.types.is_numeric_dtype(kind) or not len(known):
                return float(bool(len(known)) and not pd.api.types.is_bool_dtype(kind))
            return float(self.numbers(known).notna().mean())
        return 0.0

    def numbers(self, entries: Any) -> Any:
        """Return texts as numbers by the marks of the reading, missing where a text is not a number."""
        import pandas as pd

        kinds = entries.drop_duplicates()
        texts = kinds.astype(str).str.strip().where(~kinds.isin([True, False]), "")
        if self.reading.thousands:
            grouped = texts.str.fullmatch(rf"[+-]?\d{{1,3}}(?:{re.escape(self.reading.thousands)}\d{{3}})*(?:[.,]\d*)?")
            texts = texts.where(~grouped.astype(bool), texts.str.replace(self.reading.thousands, "", regex=False))
        if self.reading.decimal == ",":
            texts = texts.str.replace(".", "x", regex=False).str.replace(",", ".", regex=False)
        values = pd.to_numeric(texts, errors="coerce").astype(float)
        return entries.map(dict(zip(kinds, values, strict=True))).astype(float)

    def _pieces(self, wanted: Wanted) -> Pieces:
        """Yield pieces of the wanted columns; errors name the file."""
        read = self._format.read
        with self._named(wanted):
            for frame, done in read(self, wanted):
                yield self._typed(frame, wanted), done

    @contextmanager
    def _named(self, wanted: Wanted) -> Iterator[None]:
        """Turn any failure while a file is read into an error that names the file."""
        import pandas as pd
        import pyarrow as pa

        unreadable = (UnicodeError, pd.errors.ParserError, pd.errors.EmptyDataError, pa.ArrowException, OSError)
        broken = (zipfile.BadZipFile, csv.Error, LookupError, SyntaxError, RecursionError)
        try:
            yield
        except (*unreadable, *broken) as error:
            raise self.unreadable(self._explained(error)) from error
        except (ValueError, TypeError) as error:
            if str(self.path) in str(error):
                raise
            numbers = ", ".join(column for column, text in wanted.items() if not text)
            raise ValueError(f"{self.path}: column {numbers} must hold numbers: {checks.shown(str(error))}") from error

    def _explained(self, error: Exception) -> object:
        """Return what is wrong in terms of the file."""
        said = str(error)
        if isinstance(error, UnicodeError) or "invalid UTF8" in said:
            return f"it is not {self.reading.encoding or 'UTF-8'}; state encoding=, such as 'cp1252'"
        if broken := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", said):
            row, expected, got, text = broken.groups()
            fields = f"row {row}, counting the header, has {got} fields where the header has {expected}"
            return f"{fields}, {text[:_WIDTH]!r}; mend it, or state separator= (now {self.reading.separator!r})"
        if isinstance(error, KeyError):  # pyarrow's, for what is no column of its own
            column = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else said
            return f"column {column} holds lists or records, where it must hold one value a row"
        if "straddling object" in said:
            return "its lines are too long, or a quote is not closed"
        return error

    def unreadable(self, reason: object) -> ValueError:
        """Return the error for a file whose content does not match its name."""
        return ValueError(f"{self.path}: cannot be read as {self.suffix[1:]}: {checks.shown(str(reason))}")

    def _typed(self, frame: Any, wanted: Wanted) -> Any:
        """Return a frame with texts as text and the rest as numbers."""
        import pandas as pd

        for column, text in wanted.items():
            if text or not pd.api.types.is_numeric_dtype(frame[column].dtype):
                frame[column] = self._texts(frame[column], column)
            if not text and not pd.api.types.is_numeric_dtype(frame[column].dtype):
                entries = frame[column].astype(object).where(~self._missing(frame[column]), None)
                frame[column] = self.numbers(entries)
                wrong = entries[frame[column].isna() & entries.notna()].drop_duplicates()
                if len(wrong):
                    shown = ", ".join(repr(entry)[:_WIDTH] for entry in wrong[:3])
                    ways = "list codes of missing entries in missing=, or state decimal= or thousands="
                    raise ValueError(f"{self.path}: column {column} must hold numbers, got {shown}; {ways}")
            if not text:
                frame[column] = frame[column].astype("Float64").astype(float)
            if self.reading.missing:
                frame[column] = frame[column].where(~self._missing(frame[column]), None if text else np.nan)
        return frame

    def _missing(self, entries: Any) -> Any:
        """Return which entries are codes of missing ones, as text or as numbers."""
        kinds = entries.drop_duplicates()
        codes = {*self.reading.missing, *self.reading.missing_numbers}
        gone = {kind for kind in kinds if (kind.strip() if isinstance(kind, str) else kind) in codes}
        return entries.isin(gone)

    def _texts(self, entries: Any, column: str) -> Any:
        """Return entries after refusing texts that are too long; a text shared by many rows stays shared."""
        import pandas as pd

        if isinstance(entries.dtype, pd.StringDtype):
            lengths = entries.str.len().fillna(0)
        else:
            entries = entries.astype(object).where(entries.notna(), None)
            lengths = pd.Series([len(entry) if isinstance(entry, str) else 0 for entry in entries])
        if (lengths > LONGEST_TEXT).any():
            rule = f"must have texts of at most {LONGEST_TEXT:,} characters, got {int(lengths.max()):,}"
            raise ValueError(f"{self.path}: column {column} {rule}")
        return entries

    def matches(self, names: list[Any], columns: Wanted) -> dict[str, Any]:
        """Return the file's own names of some columns."""
        plain = [str(name).strip().lower() for name in names]
        known = dict(zip(plain, names, strict=True))
        if len(names) == 1:
            known[""] = names[0]
        for column in columns:
            if not isinstance(column, str):
                raise TypeError(f"a column's name must be text, got {checks.shortened(column)}")
            if plain.count(column.strip().lower()) > 1:
                raise ValueError(f"{self.path}: {plain.count(column.strip().lower())} columns are called {column!r}")
            if column.strip().lower() not in known:
                there = [str(name)[:_WIDTH] for name in names[:_SHOWN]]
                more = [f"and {len(names) - _SHOWN:,} more"] if len(names) > _SHOWN else []
                wrong = f"no column {column[:_WIDTH]!r}" if column.strip() else "its column must be named"
                split = f" (separator {self.reading.separator!r})" if len(names) == 1 and self.reading.separator else ""
                raise ValueError(f"{self.path}: {wrong}, its columns are {', '.join([*there, *more])}{split}")
        return {column: known[column.strip().lower()] for column in columns}


def _text(table: Table, wanted: Wanted) -> Pieces:
    """Read delimited text; rows that are longer or shorter than the header are refused."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import csv as reader

    blank, header = _header(table)
    marks, order = table.reading, [str(place) for place in range(len(header))]  # names may occur twice
    names = table.matches(header, wanted)
    places = {column: str(header.index(name)) for column, name in names.items()}
    plain = not marks.thousands
    text, number = pa.dictionary(pa.int32(), pa.string()), pa.float64()
    types = {places[column]: number if plain and not is_text else text for column, is_text in wanted.items()}
    about: Any = {"skip_rows": blank, "column_names": order, "skip_rows_after_names": 1}
    options = {
        "read_options": reader.ReadOptions(use_threads=False, block_size=_BLOCK, **about),
        "parse_options": reader.ParseOptions(delimiter=marks.separator, newlines_in_values=True),
    }
    codes = {"null_values": [*ABSENT, *marks.missing], "strings_can_be_null": True, "decimal_point": marks.decimal}

    def pieces(types: dict[str, Any]) -> Pieces:
        convert = reader.ConvertOptions(column_types=types, include_columns=list(types), **codes)
        with opened(table.path) as source, lent(source, marks.encoding) as streams:
            batches = None
            try:
                batches = reader.open_csv(pa.PythonFile(streams.pop(), mode="r"), convert_options=convert, **options)
                for batch in batches:
                    frame = pd.DataFrame({c: batch.column(place).to_pandas() for c, place in places.items()})
                    yield frame, cast(Bounded, source.raw).next_piece()
            finally:
                batches = None

    try:
        yield from pieces(types)
    except pa.ArrowInvalid as error:
        if "conversion error to double" not in str(error):
            raise
        yield from pieces(dict.fromkeys(types, text))  # to name what is no number
        raise


def _header(table: Table) -> tuple[int, list[str]]:
    """Return the number of blank lines before the header, and the column names in it."""
    with opened(table.path) as source:
        text = io.TextIOWrapper(source, table.reading.encoding)
        for blank, names in enumerate(csv.reader(text, delimiter=table.reading.separator, skipinitialspace=True)):
            if names:
                return blank, names
    raise table.unreadable("it is empty")


def _parquet_names(table: Table) -> list[str]:
    import pyarrow.parquet as pq

    return list(pq.read_schema(table.path).names)


def _parquet(table: Table, wanted: Wanted) -> Pieces:
    import pyarrow.parquet as pq

    names, size = table.matches(_parquet_names(table), wanted), table.path.stat().st_size
    # frequent texts stay shared; without a buffer size a whole row group is read at once
    options: Any = {"read_dictionary": list(names.values()), "pre_buffer": False, "buffer_size": 2**20}
    with pq.ParquetFile(table.path, **options) as source:
        done, total = 0, max(source.metadata.num_rows, 1)
        for batch in source.iter_batches(batch_size=ROWS, columns=list(names.values())):
            done += batch.num_rows
            yield batch.to_pandas().rename(columns={names[c]: c for c in wanted}), size * done // total


def _json_lines(table: Table, wanted: Wanted) -> Pieces:
    import pandas as pd

    names: dict[str, Any] = {}
    for records, done in _records(table):
        names = names or table.matches(_keys(records), wanted)
        yield pd.DataFrame({c: [record.get(names[c]) for record in records] for c in wanted}), done


def _records(table: Table) -> Iterator[tuple[list[dict[str, Any]], int]]:
    with opened(table.path) as source:
        while lines := list(islice(source, ROWS // 4)):
            try:
                records = [json.loads(line) for line in lines if line.strip()]
            except ValueError as error:
                raise table.unreadable("it is not UTF-8" if isinstance(error, UnicodeError) else error) from None
            if not all(isinstance(record, dict) for record in records):
                raise table.unreadable("a line must be an object")
            yield records, cast(Bounded, source.raw).next_piece()


def _keys(records: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for record in records for key in record))


def _excel(table: Table, wanted: Wanted) -> Pieces:
    import pandas as pd

    with _sheet(table) as (header, lines, place):
        names, done = table.matches([cell for cell in header if cell is not None], wanted), 0
        places = {column: header.index(names[column]) for column in wanted}
        while block := list(islice(lines, ROWS // 4)):
            done += len(block)
            if done > _EXCEL_ROWS:
                raise table.unreadable(f"it has more than {_EXCEL_ROWS:,} rows")
            columns = {c: [row[i] if i < len(row) else None for row in block] for c, i in places.items()}
            yield pd.DataFrame(columns, dtype=object), place()


@contextmanager
def _sheet(table: Table) -> Iterator[tuple[list[Any], Iterator[Any], Callable[[], int]]]:
    """Open a workbook's first sheet: its header, its further rows, and how many bytes of the file were read."""
    with checks.needed_for(f"{table.path}: an Excel file"):
        import openpyxl
    _require_moderate(table)
    with table.path.open("rb") as file:
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        except ValueError as error:
            raise table.unreadable(str(error.__context__ or error).splitlines()[0]) from None
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # the stated size of a sheet would be filled up with blanks
        lines = sheet.iter_rows(values_only=True)
        yield list(next(lines, ())), lines, file.tell
        book.close()


def _sheet_names(table: Table) -> list[Any]:
    with _sheet(table) as (header, *_):
        return [cell for cell in header if cell is not None]


def _require_moderate(table: Table) -> None:
    """Refuse a workbook whose parts other than its sheets, which are read in pieces, would not fit in memory."""
    with zipfile.ZipFile(table.path) as archive:
        sizes = [m.file_size for m in archive.infolist() if not m.filename.startswith("xl/worksheets/")]
    if sum(sizes) > _MEMBER_BYTES:
        raise ValueError(f"{table.path}: unpacks to {sum(sizes):,} bytes of text, more than {_MEMBER_BYTES:,}")


def _array(table: Table, wanted: Wanted) -> Pieces:
    import pandas as pd

    done = 0
    for block in rows(table.path):
        if block.ndim == 2:
            raise table.unreadable(f"a column must have one dimension, got rows of {block.shape[1]}")
        table.matches(["value"], wanted)
        done += block.nbytes
        yield pd.DataFrame(dict.fromkeys(wanted, block)), done


class Format(NamedTuple):
    """How files of one format are read."""

    read: Callable[[Table, Wanted], Pieces]
    names: Callable[[Table], list[Any]]


_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": ","}
_FORMATS: dict[str, Format] = {
    **dict.fromkeys(_SEPARATORS, Format(_text, lambda table: _header(table)[1])),
    ".parquet": Format(_parquet, _parquet_names),
    **dict.fromkeys((".jsonl", ".ndjson"), Format(_json_lines, lambda t: _keys(next(_records(t), ([], 0))[0]))),
    ".xlsx": Format(_excel, _sheet_names),
    ".npy": Format(_array, lambda _: ["value"]),
}
