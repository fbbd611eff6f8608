"""Columns of a table in a file, piece by piece, in memory that does not grow with its rows.

CSV, TSV (compressed or not), Parquet, JSON lines and Excel. `parts` yields what was asked for as pandas Series, text or
numbers; a bar shows the progress in a terminal. What a column means, and how it is tallied, is the business of
`ldpnb.data.files`. Whatever a file holds or claims to hold, however little room it takes when packed, reading it needs
a bounded amount of memory or is refused.
"""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

ROWS, LONGEST_TEXT = 2**18, 1000
"""Rows in a piece, characters in a text."""

_TEXT = {".csv": ",", ".tsv": "\t", ".txt": ","}
_PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")
_CELLS = 2**24
"""Most fields of delimited text in a piece."""
_EXCEL_ROWS = 2**20
_LINE_BYTES, _PIECE_BYTES, _MEMBER_BYTES = 2**24, 2**29, 2**27
_SHOWN, _WIDTH = 20, 60

Pieces = Iterator[tuple[Any, int]]


def locate(data: str | Path, name: str = "data") -> Path:
    """Return an existing file; `name` is what the caller calls it."""
    path = Path(os.path.expanduser(data))
    if not path.is_file():
        raise ValueError(f"{name} must be a file, got {name}={str(data)!r}")
    return path


def mapped(path: Path) -> "np.memmap[Any, Any]":
    """Return an array of numbers from a ``.npy`` file without reading it; what needs unpickling or is not there is
    refused.
    """
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, SyntaxError, OverflowError, EOFError) as error:
        raise ValueError(f"{path}: cannot be read as an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{path}: cannot be read as an array of numbers: it holds {array.dtype}")
    return array


class Bounded(io.RawIOBase):
    """The bytes of a file, unpacked; lines and pieces that may not fit in memory are refused."""

    def __init__(self, source: Any, path: Path) -> None:
        self._source, self._path, self._line, self._piece = source, path, 0, 0

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

    def next_piece(self) -> None:
        """Begin another piece."""
        self._piece = 0


@contextmanager
def opened(path: Path) -> Iterator[tuple[io.BufferedReader, Bounded, Callable[[], int]]]:
    """Open a file that may be packed; give its reader, the bounds under it, and how many bytes of the file were read so
    far.
    """
    if path.exists() and not path.is_file():  # a pipe or a device may have no end
        raise ValueError(f"{path} must be a file")
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        try:
            source = stack.enter_context(_unpacked(file, path.suffix.lower()))
        except Exception as error:
            raise ValueError(f"{path}: cannot be unpacked: {error}") from None
        bounded = Bounded(source, path)
        yield stack.enter_context(io.BufferedReader(bounded, 2**18)), bounded, file.tell


def _unpacked(file: Any, suffix: str) -> Any:
    if suffix == ".gz":
        import gzip

        return gzip.open(file)
    if suffix == ".bz2":
        import bz2

        return bz2.open(file)
    if suffix == ".xz":
        import lzma

        return lzma.open(file)
    if suffix == ".zip":
        import zipfile

        archive = zipfile.ZipFile(file)
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) != 1:
            raise ValueError(f"it must hold one file, got {len(members)}")
        return archive.open(members[0])
    if suffix == ".zst":
        import pyarrow as pa

        return pa.input_stream(file, compression="zstd")
    return file


def parts(path: Path, *, numbers: tuple[str, ...] = (), texts: tuple[str, ...] = ()) -> Iterator[list[Any]]:
    """Yield columns of a file as pandas Series, piece by piece: first the numbers, then the texts, missing entries
    included.

    Parameters
    ----------
    path : Path
    numbers, texts : tuple of str
        Names; case and surrounding blanks do not matter.

    Raises
    ------
    ValueError
        If the file cannot be read, lacks a column, or holds no numbers where it should.
    """
    wanted = dict.fromkeys(numbers, False) | dict.fromkeys(texts, True)
    with _progress(path) as advance:
        for frame, done in _pieces(path, wanted):
            yield [frame[column] for column in wanted]
            advance(done)


def holds_numbers(path: Path, column: str) -> bool:
    """Return whether the first piece of a column is numbers; truth values are not."""
    import pandas as pd

    frame, _ = next(_pieces(path, {column: True}))
    known = frame[column].dropna()
    if _format(path) is _text:
        return bool(len(known) and pd.to_numeric(known, errors="coerce").notna().all())
    kind = known.infer_objects().dtype
    return bool(pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind))


def _pieces(path: Path, wanted: dict[str, bool]) -> Pieces:
    """Yield frames with the wanted columns, True for text, and the bytes or rows read so far; errors name the file."""
    with _named(path, wanted):
        yield from _format(path)(path, wanted)


@contextmanager
def _named(path: Path, wanted: dict[str, bool]) -> Iterator[None]:
    """Turn whatever goes wrong while a file is read into an error that names it."""
    import zipfile

    import pandas as pd
    import pyarrow as pa

    unreadable = (UnicodeError, pd.errors.ParserError, pd.errors.EmptyDataError, pa.ArrowException, OSError)
    broken = (zipfile.BadZipFile, LookupError, SyntaxError, RecursionError)
    try:
        yield
    except (*unreadable, *broken) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeError) else error
        raise ValueError(f"{path}: cannot be read as {_suffix(path)[1:]}: {reason}") from error
    except (ValueError, TypeError) as error:
        if str(path) in str(error):
            raise
        numbers = ", ".join(column for column, text in wanted.items() if not text)
        raise ValueError(f"{path}: column {numbers} must hold numbers: {error}") from error


def _text(path: Path, wanted: dict[str, bool]) -> Pieces:
    """Read delimited text, columns by name; True stands for text."""
    import pandas as pd

    options: Any = {"sep": _TEXT[_suffix(path)], "skipinitialspace": True}
    header = _header(path)
    names = _matches(header, list(wanted), path)
    types: Any = {names[column]: str if text else float for column, text in wanted.items()}
    rows = max(1, min(ROWS, _CELLS // len(header)))
    with opened(path) as (source, bounded, done):
        for frame in pd.read_csv(source, usecols=list(types), dtype=types, chunksize=rows, **options):
            yield frame.rename(columns={names[c]: c for c in wanted}), done()
            bounded.next_piece()


def _header(path: Path) -> list[str]:
    """Return the names of columns in delimited text; pandas takes seconds for many."""
    import csv

    with opened(path) as (source, _, _):
        lines = csv.reader(io.TextIOWrapper(source, "utf-8-sig"), delimiter=_TEXT[_suffix(path)], skipinitialspace=True)
        try:
            return next(filter(None, lines))
        except (StopIteration, csv.Error) as error:
            raise ValueError(f"{path}: cannot be read as {_suffix(path)[1:]}: {str(error) or 'it is empty'}") from None


def _parquet(path: Path, wanted: dict[str, bool]) -> Pieces:
    import pyarrow.parquet as pq

    names = _matches(pq.read_schema(path).names, list(wanted), path)
    # a text that occurs often stays one text; without a buffer of a given size a whole row group is read at once
    texts = [names[column] for column, text in wanted.items() if text]
    with pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False, buffer_size=2**20) as source:
        done = 0
        for batch in source.iter_batches(batch_size=ROWS, columns=list(names.values())):
            done += batch.num_rows
            frame = batch.to_pandas()
            yield _typed(frame.rename(columns={names[c]: c for c in wanted}), wanted, path), done


def _json_lines(path: Path, wanted: dict[str, bool]) -> Pieces:
    import json

    import pandas as pd

    names: dict[str, Any] = {}
    with opened(path) as (source, bounded, done):
        while lines := list(islice(source, ROWS // 4)):
            try:
                records = [json.loads(line) for line in lines if line.strip()]
                keys = list(dict.fromkeys(key for record in records for key in dict.keys(record)))
            except TypeError:
                raise ValueError(f"{path}: cannot be read as jsonl: a line must be an object") from None
            except ValueError as error:
                reason = "it is not UTF-8" if isinstance(error, UnicodeError) else error
                raise ValueError(f"{path}: cannot be read as jsonl: {reason}") from None
            names = names or _matches(keys, list(wanted), path)
            columns = {column: [record.get(names[column]) for record in records] for column in wanted}
            yield _typed(pd.DataFrame(columns), wanted, path), done()
            bounded.next_piece()


def _excel(path: Path, wanted: dict[str, bool]) -> Pieces:
    import pandas as pd

    try:
        import openpyxl
    except ImportError:
        raise ValueError(f"{path}: Excel files need openpyxl; `pip install 'ldpnb[files]'` brings it") from None
    _require_moderate(path)
    with path.open("rb") as file:
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        except ValueError as error:
            first = str(error.__context__ or error).splitlines()[0]
            raise ValueError(f"{path}: cannot be read as xlsx: {first}") from None
        sheet = book.worksheets[0]
        # what a sheet says of its size would be filled up with blanks
        sheet.reset_dimensions()
        rows = sheet.iter_rows(values_only=True)
        header = list(next(rows, ()))
        names, done = _matches([cell for cell in header if cell is not None], list(wanted), path), 0
        places = {column: header.index(names[column]) for column in wanted}
        while block := list(islice(rows, ROWS // 4)):
            done += len(block)
            if done > _EXCEL_ROWS:
                raise ValueError(f"{path}: cannot be read as xlsx: it has more than {_EXCEL_ROWS:,} rows")
            columns = {c: [row[i] if i < len(row) else None for row in block] for c, i in places.items()}
            yield _typed(pd.DataFrame(columns, dtype=object), wanted, path), done
        book.close()


def _require_moderate(path: Path) -> None:
    """Refuse a workbook whose parts other than its sheets, which are read in pieces, would not fit in memory."""
    import zipfile

    with zipfile.ZipFile(path) as archive:
        sizes = [m.file_size for m in archive.infolist() if not m.filename.startswith("xl/worksheets/")]
    if sum(sizes) > _MEMBER_BYTES:
        raise ValueError(f"{path}: unpacks to {sum(sizes):,} bytes of text, more than {_MEMBER_BYTES:,}")


def _typed(frame: Any, wanted: dict[str, bool], path: Path) -> Any:
    """Return a frame with texts as text and the rest as numbers; a long text that many rows share must not become many."""
    import pandas as pd

    for column, text in wanted.items():
        if text:
            frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
            longest = max((len(entry) for entry in frame[column] if isinstance(entry, str)), default=0)
            if longest > LONGEST_TEXT:
                raise too_long(path, column, longest)
        else:
            frame[column] = pd.to_numeric(frame[column].infer_objects()).astype("Float64").astype(float)
    return frame


def too_long(path: Path, column: str, length: int) -> ValueError:
    """Return the error for a text of more than `LONGEST_TEXT` characters."""
    return ValueError(f"{path}: column {column} must have texts of at most {LONGEST_TEXT:,} characters, got {length:,}")


_FORMATS: dict[str, Callable[[Path, dict[str, bool]], Pieces]] = {
    **dict.fromkeys(_TEXT, _text),
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".xlsx": _excel,
}


def _suffix(path: Path) -> str:
    """Return the suffix that tells the format, without that of a compression."""
    kinds = [suffix.lower() for suffix in path.suffixes]
    if kinds and kinds[-1] in _PACKED:
        kinds.pop()
        return kinds[-1] if kinds and kinds[-1] in _TEXT else ".csv"
    return kinds[-1] if kinds else ""


def _format(path: Path) -> Callable[[Path, dict[str, bool]], Pieces]:
    reader = _FORMATS.get(_suffix(path))
    if reader is None:
        raise ValueError(f"{path}: its name must end in {', '.join(_FORMATS)}")
    return reader


def _matches(names: list[Any], columns: list[str], path: Path) -> dict[str, Any]:
    """Return the file's own names of some columns."""
    known = {str(name).strip().lower(): name for name in names}
    for column in columns:
        if column.strip().lower() not in known:
            there = [str(name)[:_WIDTH] for name in names[:_SHOWN]]
            more = [f"and {len(names) - _SHOWN:,} more"] if len(names) > _SHOWN else []
            wrong = f"no column {column[:_WIDTH]!r}" if column.strip() else "its column must be named"
            raise ValueError(f"{path}: {wrong}, its columns are {', '.join([*there, *more])}")
    return {column: known[column.strip().lower()] for column in columns}


@contextmanager
def _progress(path: Path) -> Iterator[Callable[[int], None]]:
    """Show a bar in a terminal, and nothing elsewhere."""
    from tqdm import tqdm

    about: dict[str, Any] = {"total": path.stat().st_size, "unit": "B", "unit_divisor": 1024}
    if _format(path) is _parquet:
        import pyarrow.parquet as pq

        with _named(path, {}):
            about = {"total": pq.read_metadata(path).num_rows, "unit": "row"}
    elif _format(path) is _excel:
        about = {"unit": "row"}
    with tqdm(desc=path.name, unit_scale=True, disable=None, **about) as bar:

        def advance(done: int) -> None:
            bar.update(done - bar.n)

        yield advance
