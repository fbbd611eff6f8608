"""Tables in files, piece by piece, in memory that does not grow with their rows.

CSV, TSV (packed or not), Parquet, JSON lines, Excel and NumPy arrays. `Table.parts` yields the columns asked for as
pandas Series, text or numbers; a bar shows the progress in a terminal. What a column means, and how it is tallied, is
the business of `ldpnb.data.files`. Whatever a file holds or claims to hold, however little room it takes when packed,
reading it needs a bounded amount of memory or is refused.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from ldpnb import checks

ROWS, LONGEST_TEXT = 2**18, 1000
"""Rows in a piece, characters in a text."""

_CELLS = 2**24
"""Most fields of delimited text in a piece."""
_EXCEL_ROWS = 2**20
_LINE_BYTES, _PIECE_BYTES, _MEMBER_BYTES = 2**24, 2**29, 2**27
_SHOWN, _WIDTH = 20, 60

Wanted = dict[str, bool]
"""Columns by the caller's names; True for text, False for numbers."""
Pieces = Iterator[tuple[Any, int]]
"""Frames with the wanted columns, and how many bytes of the file were read so far."""


def locate(data: str | Path, name: str = "data") -> Path:
    """Return an existing file; `name` is what the caller calls it."""
    path = Path(os.path.expanduser(data))
    if not path.is_file():
        raise ValueError(f"{name} must be a file, got {name}={str(data)!r}")
    return path


def readable(path: Path) -> bool:
    """Return whether a path is a file of a format that is read here."""
    return path.is_file() and Table(path).suffix in _FORMATS


def mapped(path: Path) -> "np.memmap[Any, Any]":
    """Return an array of numbers from a ``.npy`` file without reading it; what needs unpickling is refused."""
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
        # a mapping of its own for every block lets go of the pages of the last one
        shape = (min(ROWS, len(whole) - start), *whole.shape[1:])
        yield np.memmap(path, dtype=whole.dtype, mode="r", offset=whole.offset + start * whole.strides[0], shape=shape)


class Bounded(io.RawIOBase):
    """The bytes of a file, unpacked; lines and pieces that may not fit in memory are refused."""

    def __init__(self, source: Any, path: Path, read: Callable[[], int]) -> None:
        self._source, self._path, self._line, self._piece, self._read = source, path, 0, 0, read

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return how many bytes."""
        try:
            data = self._source.read(len(buffer))
        except Exception as error:  # every kind of packing has its own
            raise ValueError(f"{self._path}: cannot be unpacked: {error}") from None
        buffer[: len(data)] = data
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._line = self._line + len(data) if end < 0 else len(data) - end - 1
        self._piece += len(data)
        if self._line > _LINE_BYTES or self._piece > _PIECE_BYTES:
            raise ValueError(f"{self._path}: its lines are too long, more than {_LINE_BYTES:,} bytes")
        return len(data)

    def next_piece(self) -> int:
        """Begin another piece; return how many bytes of the file, packed as it is, were read so far."""
        self._piece = 0
        return self._read()


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file that may be packed; its ``raw`` is a `Bounded`."""
    if path.exists() and not path.is_file():  # a pipe or a device may have no end
        raise ValueError(f"{path} must be a file")
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        try:
            source = stack.enter_context(_PACKED.get(path.suffix.lower(), nullcontext)(file))
        except Exception as error:
            raise ValueError(f"{path}: cannot be unpacked: {error}") from None
        yield stack.enter_context(io.BufferedReader(Bounded(source, path, file.tell), 2**18))


def _only_member(file: Any) -> Any:
    archive = zipfile.ZipFile(file)
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        raise ValueError(f"it must hold one file, got {len(members)}")
    return archive.open(members[0])


def _zstandard(file: Any) -> Any:
    import pyarrow as pa

    return pa.input_stream(file, compression="zstd")


_PACKED: dict[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _only_member,
    ".zst": _zstandard,
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a file; how the file is to be understood is decided here and nowhere else.

    Parameters
    ----------
    path : Path
        Its name tells the format.
    """

    path: Path

    @property
    def suffix(self) -> str:
        """The suffix that tells the format, without that of a packing."""
        kinds = [suffix.lower() for suffix in self.path.suffixes]
        if kinds and kinds[-1] in _PACKED:
            kinds.pop()
            return kinds[-1] if kinds and kinds[-1] in _SEPARATORS else ".csv"
        return kinds[-1] if kinds else ""

    @property
    def options(self) -> dict[str, Any]:
        """How delimited text is to be read, in the words of `pandas.read_csv`."""
        return {"sep": _SEPARATORS[self.suffix], "skipinitialspace": True}

    def parts(self, *, numbers: tuple[str, ...] = (), texts: tuple[str, ...] = ()) -> Iterator[list[Any]]:
        """Yield columns as pandas Series, piece by piece: first the numbers, then the texts, missing entries included.

        Parameters
        ----------
        numbers, texts : tuple of str
            Names; case and surrounding blanks do not matter. ``""`` is the only column of a table that has no other.

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

    def holds_numbers(self, column: str) -> bool:
        """Return whether the first piece of a column is numbers; truth values are not."""
        import pandas as pd

        for frame, _ in self._pieces({column: True}):
            known = frame[column].dropna()
            if self.suffix in _SEPARATORS:
                return bool(len(known) and pd.to_numeric(known, errors="coerce").notna().all())
            kind = known.infer_objects().dtype
            return bool(pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind))
        return False

    def _pieces(self, wanted: Wanted) -> Pieces:
        """Yield pieces of the wanted columns; errors name the file."""
        read = _FORMATS.get(self.suffix)
        if read is None:
            raise ValueError(f"{self.path}: its name must end in {', '.join(_FORMATS)}")
        with self._named(wanted):
            for frame, done in read(self, wanted):
                yield self._typed(frame, wanted), done

    @contextmanager
    def _named(self, wanted: Wanted) -> Iterator[None]:
        """Turn whatever goes wrong while a file is read into an error that names it."""
        import pandas as pd
        import pyarrow as pa

        unreadable = (UnicodeError, pd.errors.ParserError, pd.errors.EmptyDataError, pa.ArrowException, OSError)
        broken = (zipfile.BadZipFile, csv.Error, LookupError, SyntaxError, RecursionError)
        try:
            yield
        except (*unreadable, *broken) as error:
            raise self.unreadable("it is not UTF-8" if isinstance(error, UnicodeError) else error) from error
        except (ValueError, TypeError) as error:
            if str(self.path) in str(error):
                raise
            numbers = ", ".join(column for column, text in wanted.items() if not text)
            raise ValueError(f"{self.path}: column {numbers} must hold numbers: {checks.shown(str(error))}") from error

    def unreadable(self, reason: object) -> ValueError:
        """Return the error for a file that is not what its name says."""
        return ValueError(f"{self.path}: cannot be read as {self.suffix[1:]}: {checks.shown(str(reason))}")

    def _typed(self, frame: Any, wanted: Wanted) -> Any:
        """Return a frame with texts as text and the rest as numbers."""
        import pandas as pd

        for column, text in wanted.items():
            if text or not pd.api.types.is_numeric_dtype(frame[column].dtype):
                frame[column] = self._texts(frame[column], column)
            if not text:
                frame[column] = pd.to_numeric(frame[column].infer_objects()).astype("Float64").astype(float)
        return frame

    def _texts(self, entries: Any, column: str) -> Any:
        """Return entries none of which is too long; a text that many rows share stays one."""
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
        known = {str(name).strip().lower(): name for name in names}
        if len(names) == 1:
            known[""] = names[0]
        for column in columns:
            if column.strip().lower() not in known:
                there = [str(name)[:_WIDTH] for name in names[:_SHOWN]]
                more = [f"and {len(names) - _SHOWN:,} more"] if len(names) > _SHOWN else []
                wrong = f"no column {column[:_WIDTH]!r}" if column.strip() else "its column must be named"
                raise ValueError(f"{self.path}: {wrong}, its columns are {', '.join([*there, *more])}")
        return {column: known[column.strip().lower()] for column in columns}


def _text(table: Table, wanted: Wanted) -> Pieces:
    """Read delimited text through pandas; pyarrow's reader takes no line that is shorter than its header."""
    import pandas as pd

    header = _header(table)
    names = table.matches(header, wanted)
    types: Any = {names[column]: str if text else float for column, text in wanted.items()}
    lines = max(1, min(ROWS, _CELLS // len(header)))
    with opened(table.path) as source:
        for frame in pd.read_csv(source, usecols=list(types), dtype=types, chunksize=lines, **table.options):
            yield frame.rename(columns={names[c]: c for c in wanted}), cast(Bounded, source.raw).next_piece()


def _header(table: Table) -> list[str]:
    """Return the names of columns in delimited text; pandas takes seconds for many."""
    with opened(table.path) as source:
        text = io.TextIOWrapper(source, "utf-8-sig")
        for names in csv.reader(text, delimiter=table.options["sep"], skipinitialspace=True):
            if names:
                return names
    raise table.unreadable("it is empty")


def _parquet(table: Table, wanted: Wanted) -> Pieces:
    import pyarrow.parquet as pq

    names, size = table.matches(pq.read_schema(table.path).names, wanted), table.path.stat().st_size
    # a text that occurs often stays one text; without a buffer of a given size a whole row group is read at once
    options: Any = {"read_dictionary": list(names.values()), "pre_buffer": False, "buffer_size": 2**20}
    with pq.ParquetFile(table.path, **options) as source:
        done, total = 0, max(source.metadata.num_rows, 1)
        for batch in source.iter_batches(batch_size=ROWS, columns=list(names.values())):
            done += batch.num_rows
            yield batch.to_pandas().rename(columns={names[c]: c for c in wanted}), size * done // total


def _json_lines(table: Table, wanted: Wanted) -> Pieces:
    import pandas as pd

    names: dict[str, Any] = {}
    with opened(table.path) as source:
        while lines := list(islice(source, ROWS // 4)):
            try:
                records = [json.loads(line) for line in lines if line.strip()]
                keys = list(dict.fromkeys(key for record in records for key in dict.keys(record)))
            except TypeError:
                raise table.unreadable("a line must be an object") from None
            except ValueError as error:
                raise table.unreadable("it is not UTF-8" if isinstance(error, UnicodeError) else error) from None
            names = names or table.matches(keys, wanted)
            columns = {column: [record.get(names[column]) for record in records] for column in wanted}
            yield pd.DataFrame(columns), cast(Bounded, source.raw).next_piece()


def _excel(table: Table, wanted: Wanted) -> Pieces:
    import pandas as pd

    try:
        import openpyxl
    except ImportError:
        rule = "Excel files need openpyxl; `pip install 'ldpnb[files]'` brings it"
        raise ValueError(f"{table.path}: {rule}") from None
    _require_moderate(table)
    with table.path.open("rb") as file:
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        except ValueError as error:
            raise table.unreadable(str(error.__context__ or error).splitlines()[0]) from None
        sheet = book.worksheets[0]
        # what a sheet says of its size would be filled up with blanks
        sheet.reset_dimensions()
        lines = sheet.iter_rows(values_only=True)
        header = list(next(lines, ()))
        names, done = table.matches([cell for cell in header if cell is not None], wanted), 0
        places = {column: header.index(names[column]) for column in wanted}
        while block := list(islice(lines, ROWS // 4)):
            done += len(block)
            if done > _EXCEL_ROWS:
                raise table.unreadable(f"it has more than {_EXCEL_ROWS:,} rows")
            columns = {c: [row[i] if i < len(row) else None for row in block] for c, i in places.items()}
            yield pd.DataFrame(columns, dtype=object), file.tell()
        book.close()


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


_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": ","}
_FORMATS: dict[str, Callable[[Table, Wanted], Pieces]] = {
    **dict.fromkeys(_SEPARATORS, _text),
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".xlsx": _excel,
    ".npy": _array,
}
