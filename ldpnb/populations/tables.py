"""Columns of a table in a file, piece by piece, in memory that does not grow with its rows.

CSV, TSV (compressed or not), Parquet, JSON lines and Excel. `parts` yields what was asked for as pandas Series, text or numbers; a bar shows the
progress in a terminal. What a column means, and how it is tallied, is the business of `ldpnb.populations.files`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

ROWS = 2**18
"""Rows in a piece."""

_TEXT = {".csv": ",", ".tsv": "\t", ".txt": ","}
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip", ".zst": "zstd"}

Pieces = Iterator[tuple[Any, int]]


def locate(data: str | Path) -> Path:
    """Return an existing file; the shell's directory is tried as well, for a notebook runs in its own."""
    given = Path(data).expanduser()
    for path in (given, Path(os.environ.get("PWD", "")) / given):
        if path.is_file():
            return path
    raise ValueError(f"data must be a file, got data={str(data)!r}")


def parts(path: Path, *, numbers: tuple[str, ...] = (), texts: tuple[str, ...] = ()) -> Iterator[list[Any]]:
    """Yield columns of a file as pandas Series, piece by piece: first the numbers, then the texts, missing entries included.

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
    import pandas as pd
    import pyarrow as pa

    try:
        yield from _format(path)(path, wanted)
    except (UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError, pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path}: cannot be read as {_suffix(path)[1:]}: {error}") from error
    except ValueError as error:
        if str(path) in str(error):
            raise
        numbers = ", ".join(column for column, text in wanted.items() if not text)
        raise ValueError(f"{path}: column {numbers} must hold numbers: {error}") from error


def _text(path: Path, wanted: dict[str, bool]) -> Pieces:
    """Read delimited text, columns by name; True stands for text."""
    import pandas as pd

    separator = _TEXT[_suffix(path)]
    names = _matches(list(pd.read_csv(path, sep=separator, nrows=0).columns), list(wanted), path)
    types: Any = {names[column]: str if text else float for column, text in wanted.items()}
    packed: Any = _PACKED.get(path.suffix.lower())
    with path.open("rb") as source:
        options: Any = {"sep": separator, "compression": packed, "skipinitialspace": True, "chunksize": ROWS}
        with pd.read_csv(source, usecols=list(types), dtype=types, **options) as pieces:
            for frame in pieces:
                yield frame.rename(columns={names[c]: c for c in wanted}), source.tell()


def _parquet(path: Path, wanted: dict[str, bool]) -> Pieces:
    import pyarrow.parquet as pq

    source, done = pq.ParquetFile(path), 0
    names = _matches(source.schema_arrow.names, list(wanted), path)
    for batch in source.iter_batches(batch_size=ROWS, columns=list(names.values())):
        done += batch.num_rows
        frame = batch.to_pandas()
        yield _typed(frame.rename(columns={names[c]: c for c in wanted}), wanted), done


def _json_lines(path: Path, wanted: dict[str, bool]) -> Pieces:
    import json

    import pandas as pd

    names: dict[str, Any] = {}
    with path.open("rb") as source:
        while lines := list(islice(source, ROWS // 4)):
            try:
                records = [json.loads(line) for line in lines if line.strip()]
            except json.JSONDecodeError as error:
                raise ValueError(f"{path}: cannot be read as jsonl: {error}") from None
            names = names or _matches(list(dict.fromkeys(key for r in records for key in r)), list(wanted), path)
            frame = pd.DataFrame({column: [record.get(names[column]) for record in records] for column in wanted})
            yield _typed(frame, wanted), source.tell()


def _excel(path: Path, wanted: dict[str, bool]) -> Pieces:
    import pandas as pd

    try:
        import openpyxl
    except ImportError:
        raise ValueError(f"{path}: Excel files need openpyxl; `pip install 'ldpnb[files]'` brings it") from None
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        rows = book.worksheets[0].iter_rows(values_only=True)
        header = list(next(rows, ()))
        names, done = _matches([cell for cell in header if cell is not None], list(wanted), path), 0
        places = {column: header.index(names[column]) for column in wanted}
        while block := list(islice(rows, ROWS // 4)):
            done += len(block)
            frame = pd.DataFrame(
                {column: [row[place] for row in block] for column, place in places.items()}, dtype=object
            )
            yield _typed(frame, wanted), done
    finally:
        book.close()


def _typed(frame: Any, wanted: dict[str, bool]) -> Any:
    """Return a frame with texts as text and the rest as numbers."""
    import pandas as pd

    for column, text in wanted.items():
        if text:
            frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
        else:
            frame[column] = pd.to_numeric(frame[column].infer_objects()).astype("Float64").astype(float)
    return frame


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
            raise ValueError(f"{path}: no column {column!r}, its columns are {', '.join(map(str, names))}")
    return {column: known[column.strip().lower()] for column in columns}


@contextmanager
def _progress(path: Path) -> Iterator[Callable[[int], None]]:
    """Show a bar in a terminal, and nothing elsewhere."""
    from tqdm import tqdm

    about: dict[str, Any] = {"total": path.stat().st_size, "unit": "B", "unit_divisor": 1024}
    if _format(path) is _parquet:
        import pyarrow.parquet as pq

        about = {"total": pq.ParquetFile(path).metadata.num_rows, "unit": "row"}
    elif _format(path) is _excel:
        about = {"unit": "row"}
    with tqdm(desc=path.name, unit_scale=True, disable=None, **about) as bar:

        def advance(done: int) -> None:
            bar.update(done - bar.n)

        yield advance
