"""Tables in files: the names of the columns, and the entries of those that are wanted, as they stand.

A format is known by a file's content, whatever its name says. pyarrow and pandas do the reading; here it is found where
the header and the data are, and asked where that can be seen in two ways. What the entries mean: `ldpnb.data.entries`.
"""

import io
import json
import os
import re
import zipfile
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ldpnb import checks
from ldpnb.data.layout import (
    ROWS,
    SAMPLE,
    TAIL,
    decoded,
    find_encoding,
    find_footer,
    find_header,
    find_separator,
    names_in,
    split,
)
from ldpnb.data.reading import AmbiguousError, Reading

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ": "lzma"}
"""Modules that unpack, by how a file begins; not every Python has all of them."""


@dataclass(frozen=True, slots=True)
class Table:
    """Names of all columns, and the entries of those that were wanted, by their places.

    Parameters
    ----------
    path : Path
    names : tuple of str
    columns : DataFrame
        Its columns are places in `names`.
    reading : Reading
        As stated and found.
    skipped : int
        Rows left out, or filled up, for their number of fields.
    unsure : AmbiguousError, optional
        Raised for a column that is not plain ASCII.
    """

    path: Path
    names: tuple[str, ...]
    columns: Any
    reading: Reading
    skipped: int = 0
    unsure: AmbiguousError | None = None

    def entries(self, name: str) -> Any:
        """Return the entries of a column; case and blanks around a name do not matter, the only one needs none."""
        series = self.columns[self._place(name)]
        if self.unsure and not (name.isascii() and all(str(e).isascii() for e in series.unique())):
            raise self.unsure
        return series

    def _place(self, name: str) -> int:
        names, wanted = self.names, name.strip().lower()
        if not wanted and len(names) == 1:
            return 0
        for sought, known in ((name, list(names)), (wanted, [there.lower() for there in names])):
            if known.count(sought) > 1:
                raise ValueError(f"{self.path}: {known.count(sought)} columns are called {name!r}; rename them")
            if sought in known:
                return known.index(sought)
        more = f" and {len(names) - 20:,} more" if len(names) > 20 else ""
        wrong = f"no column {name[:60]!r}" if wanted else "its column must be named"
        raise ValueError(f"{self.path}: {wrong}, its columns are {', '.join(n[:60] for n in names[:20])}{more}")


def locate(data: str | Path, name: str = "data") -> Path:
    """Return an existing file; `name` is what the caller calls it."""
    path = Path(os.path.expanduser(data))
    if not path.is_file():
        raise ValueError(f"{name} must be a file, got {name}={str(data)!r}")
    return path


def read(path: Path, reading: Reading, wanted: Collection[str] | None = None) -> Table:
    """Return the wanted columns of a table, all if None.

    CSV and the like, packed by gzip, bzip2, xz or zip, workbooks, Parquet, JSON records, Stata, SPSS, SQLite.

    Raises
    ------
    AmbiguousError
        If there are several sheets, headers, footers or encodings to choose from, or rows that do not fit.
    ValueError
        If it cannot be read.
    """
    try:
        return _read(path, reading, wanted)
    except (AmbiguousError, checks.UsageError):
        raise
    except Exception as error:  # every format's library has errors of its own
        reason = str(error).strip().partition("\n")[0].removeprefix(f"{path}: ") or type(error).__name__
        if "invalid UTF8" in reason or isinstance(error, UnicodeError):
            reason = "it is not in one encoding throughout; state encoding, such as cp1252"
        if re.search("straddling|out of sync", reason):
            reason = "a quote is not closed, or a line is too long"
        raise ValueError(f"{path}: cannot be read: {checks.shown(reason)}") from None


def _read(path: Path, reading: Reading, wanted: Collection[str] | None) -> Table:
    import pandas as pd

    data, suffix = _content(path, reading)
    head = data[:512]
    if not head.strip():
        raise ValueError("it is empty")
    if head.startswith(b"\xd0\xcf\x11\xe0") or _is_workbook(data):
        return _workbook(path, data, reading)
    if head.startswith(b"PAR1"):
        return _parquet(path, data, reading, wanted)
    if head.startswith(b"SQLite format 3"):
        frame = _database(path, reading)
    elif head.startswith(b"$FL2") or suffix in (".sav", ".zsav"):
        with checks.needed_for(f"{path}: an SPSS file"):
            import pyreadstat  # noqa: F401
        frame = pd.read_spss(path)
    elif head.startswith(b"<stata_dta>") or suffix == ".dta":
        frame = pd.read_stata(io.BytesIO(data))
    elif suffix in (".json", ".jsonl", ".ndjson") and head.lstrip()[:1] in (b"{", b"["):
        frame = _records(data)
    elif re.match(rb"\s*<(!doctype|html|table|\?xml)", head, re.I):
        raise ValueError("it is a web page or XML, whatever its name says; save it from a spreadsheet as .csv or .xlsx")
    else:
        return _text(path, data, reading, wanted)
    names = tuple(map(str, frame.columns))
    return Table(path, names, frame.set_axis(range(len(names)), axis=1), reading)


def _content(path: Path, reading: Reading) -> tuple[bytes, str]:
    """Return the bytes of a file, unpacked, and the suffix that its content goes by."""
    data, suffix = path.read_bytes(), path.suffix.lower()
    for magic, module in _PACKED.items():
        if data.startswith(magic):
            data, suffix = import_module(module).decompress(data), Path(path.stem).suffix.lower()
    if data.startswith(b"PK\x03\x04") and not _is_workbook(data):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [i.filename for i in archive.infolist() if not i.is_dir()]
            name = _one([n for n in files if not re.search(r"(^|/)(\.|__MACOSX)", n)], reading.sheet, "files")
            data, suffix = archive.read(name), Path(name).suffix.lower()
    return data, suffix


def _is_workbook(data: bytes) -> bool:
    if not data.startswith(b"PK\x03\x04"):
        return False
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return not {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}.isdisjoint(archive.namelist())


def _places(names: Sequence[str], wanted: Collection[str] | None) -> list[int]:
    """Return the places of the columns that are wanted."""
    return [i for i, name in enumerate(names) if wanted is None or name.lower() in wanted or len(names) == 1]


def _one(names: Sequence[str], stated: str, what: str) -> str:
    """Return the part of a file that is stated, or its only one."""
    if stated in names or (len(names) == 1 and not stated):
        return stated or names[0]
    if not names or stated:
        raise ValueError(
            f"no sheet {stated!r}, its {what} are {', '.join(names[:20])}" if names else f"it has no {what}"
        )
    raise AmbiguousError(
        f"it holds {len(names)} {what}", {f"{what[:-1]} {i}": {"sheet": n} for i, n in enumerate(names[:8], 1)}
    )


def _workbook(path: Path, data: Any, reading: Reading) -> Table:
    """Read a sheet; cells keep their types, and only an empty one is missing."""
    import pandas as pd

    with checks.needed_for(f"{path}: a workbook"):
        import python_calamine  # noqa: F401
    cells: dict[str, Any] = {"header": None, "dtype": object, "na_filter": False}
    sheets = pd.read_excel(io.BytesIO(data), sheet_name=None, engine="calamine", **cells)
    sheet = sheets[_one([name for name, sheet in sheets.items() if sheet.size], reading.sheet, "sheets")]
    texts = sheet.head(ROWS).astype(str).to_numpy().tolist()
    skip, header = find_header(texts, [sum(map(bool, row)) for row in texts], reading)
    names = names_in(texts[skip] if header else [""] * sheet.shape[1])
    body = sheet.iloc[skip + header :].where(sheet != "", None)
    footer = find_footer(body.tail(4).fillna("").astype(str).to_numpy().tolist(), reading)
    body = body.iloc[: len(body) - footer].set_axis(range(len(names)), axis=1)
    body = body.dropna(how="all") if len(names) > 1 else body
    return Table(path, names, body, replace(reading, skip=skip, header=header, footer=footer))


def _parquet(path: Path, data: bytes, reading: Reading, wanted: Collection[str] | None) -> Table:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(data))
    names = tuple(file.schema_arrow.names)
    keep = _places(names, wanted)
    table = file.read(columns=[names[place] for place in keep])
    frame = table.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
    return Table(path, names, frame.set_axis(keep, axis=1), reading)


def _database(path: Path, reading: Reading) -> Any:
    import sqlite3  # not in every Python

    import pandas as pd

    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute("select name from sqlite_master where type in ('table', 'view')")
        name = _one([n for (n,) in rows if not n.startswith("sqlite_")], reading.sheet, "tables")
        quoted = name.replace('"', '""')
        return pd.read_sql(f'select * from "{quoted}"', database, coerce_float=False, dtype=object)


def _records(data: bytes) -> Any:
    import pandas as pd

    whole = data.lstrip().startswith(b"[")
    records = json.loads(data) if whole else [json.loads(line) for line in data.splitlines() if line.strip()]
    if not all(isinstance(record, dict) for record in records):
        raise ValueError("JSON must be one record a line, or a list of records")
    return pd.DataFrame(records, dtype=object)


def _text(path: Path, data: bytes, reading: Reading, wanted: Collection[str] | None) -> Table:
    """Read delimited text; a row that does not fit the header is never cut, filled or shifted unasked."""
    import pandas as pd

    encoding, unsure = (reading.encoding, None) if reading.encoding else find_encoding(data)
    start = decoded(data[:SAMPLE], encoding, whole=len(data) <= SAMPLE)
    lead = 1 if (first := re.match(r"\ufeff?sep=(.)\r?\n", start)) else 0
    separator = reading.separator or (first[1] if first else find_separator(start, reading))
    rows = split(io.StringIO(start, newline=""), separator)[lead : None if len(data) <= SAMPLE else -1]
    if len(rows) > 1 and all(len(r) == len(rows[0]) + 1 and not r[-1] for r in rows[1:] if r):
        rows[0].append("")  # a separator ends every line but the first
    skip, header = find_header(rows[:ROWS], [len(r) for r in rows[:ROWS]], reading)
    if len(rows) <= skip + header:
        raise ValueError("it has a header but no rows")
    names = names_in(rows[skip] if header else [""] * len(rows[skip]))
    last = split(io.StringIO(decoded(data[-TAIL:], encoding, whole=False), newline=""), separator)
    tail = [row for row in last[1 if len(data) > TAIL else lead + skip + header :] if row]
    footer = find_footer(tail[-4:], reading, len(names))
    known = replace(reading, separator=separator, encoding=encoding, skip=skip, header=header, footer=footer)
    keep = _places(names, wanted)
    if not keep:
        return Table(path, names, pd.DataFrame(), known, 0, unsure)
    texts, odd = _delimited(data, known, lead, len(names), keep)
    below = sum(len(row) != len(names) for row in tail[max(len(tail) - footer, 0) :])
    odd, footer = odd[: len(odd) - below], footer - below
    long = any(row.actual_columns > len(names) for row in odd)
    if odd and (not reading.bad_rows or (reading.bad_rows == "fill" and long)):
        raise _unfit(odd, len(names), long)
    frame = texts.slice(0, len(texts) - footer).to_pandas().set_axis(keep, axis=1)
    if odd and reading.bad_rows == "fill":
        filled = [split([row.text], separator)[0] for row in odd]
        more = pd.DataFrame([[row[i] if i < len(row) else "" for i in keep] for row in filled], columns=keep)
        frame = pd.concat([frame, more.astype(frame.dtypes)], ignore_index=True)
    return Table(path, names, frame, known, len(odd), unsure)


def _delimited(data: bytes, known: Reading, lead: int, width: int, keep: Sequence[int]) -> tuple[Any, list[Any]]:
    """Return some columns as texts, and the rows of another width."""
    import pyarrow as pa
    from pyarrow import csv as reader

    odd: list[Any] = []

    def note(row: Any) -> str:
        odd.append(row)
        return "skip"

    places = [str(place) for place in range(width)]
    chosen = [places[place] for place in keep]
    read = reader.ReadOptions(
        use_threads=False,
        column_names=places,
        encoding=known.encoding,
        block_size=2**23,
        skip_rows=lead + (known.skip or 0),
        skip_rows_after_names=known.header,
    )
    parse = reader.ParseOptions(
        delimiter=known.separator,
        ignore_empty_lines=width > 1,
        newlines_in_values=True,
        invalid_row_handler=note,
    )
    convert = reader.ConvertOptions(column_types=dict.fromkeys(chosen, pa.string()), include_columns=chosen)
    texts = reader.read_csv(pa.BufferReader(data), read, parse, convert)
    if len(texts) + len(odd) < data.count(b"\n") // 2 and data.count(b'"') % 2:
        raise ValueError("a quote is not closed")
    return texts, odd


def _unfit(odd: Sequence[Any], width: int, long: bool) -> AmbiguousError:
    """Return the question about rows that are too short or too long."""
    first, more = odd[0], ", ..." if len(odd) > 5 else ""
    numbers = ", ".join(f"{row.number:,}" for row in odd[:5]) + more
    shown = f"line {first.number:,}, {first.text[:60]!r}, has {first.actual_columns} fields and the header {width}"
    ways = {"leave them out": {"bad_rows": "skip"}}
    ways |= {} if long else {"they end early: what lacks is missing": {"bad_rows": "fill"}}
    question = f"{len(odd):,} rows do not fit the header, lines {numbers}: {shown}"
    return AmbiguousError(question, ways | {"if that is wrong": {"separator": "..."}})
