"""Files that hold tables: CSV and the like, workbooks, Parquet, JSON, Stata, SPSS, SQLite, packed or not.

A format is known by a file's content, whatever its name says, and read by pandas, pyarrow, calamine or pyreadstat.
"""

import io
import json
import os
import re
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ldpnb import checks
from ldpnb.data.reading import AmbiguousError, Reading, naming
from ldpnb.data.table import Table, find_footer, find_header, wanted
from ldpnb.data.text import read_text

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ": "lzma"}
"""Modules that unpack, by how a file begins; not every Python has all of them."""


@contextmanager
def opened(data: str | Path, name: str = "data") -> Iterator[Path]:
    """Yield an existing file, which errors of what it holds name; `name` is what the caller calls it."""
    path = Path(os.path.expanduser(data))
    if not path.is_file():
        raise ValueError(f"{name} must be a file, got {name}={str(data)!r}")
    with naming(str(path)):
        yield path


def read(path: Path, reading: Reading, columns: Collection[str] | None = None) -> Table:
    """Return some columns of a table, whatever their case, or all; what cannot be read is a ValueError.

    It is an `AmbiguousError` if there are several sheets, headers, footers or encodings, or rows that do not fit.
    """
    try:
        return _read(path, reading, None if columns is None else {column.strip().lower() for column in columns})
    except (AmbiguousError, checks.UsageError):
        raise
    except Exception as error:  # every format's library has errors of its own
        reason = str(error).strip().partition("\n")[0].removeprefix(f"{path}: ") or type(error).__name__
        if isinstance(error, UnicodeError):
            reason = "it is not in one encoding throughout; state another encoding, such as utf-8 or cp1252"
        if re.search("straddling|out of sync|field larger", reason):
            reason = "a quote is not closed, or a line is too long"
        raise ValueError(f"cannot be read: {checks.shown(reason)}") from None


def _read(path: Path, reading: Reading, columns: set[str] | None) -> Table:
    data, suffix = path.read_bytes(), path.suffix.lower()
    for magic, module in _PACKED.items():
        if data.startswith(magic):
            data, suffix = import_module(module).decompress(data), Path(path.stem).suffix.lower()
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [item.filename for item in archive.infolist() if not item.is_dir()]
            if not {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}.isdisjoint(files):
                return _workbook(data, reading)
            name = _one([file for file in files if not re.search(r"(^|/)(\.|__MACOSX)", file)], reading.sheet, "files")
            data, suffix = archive.read(name), Path(name).suffix.lower()
    if not data.strip():
        raise ValueError("it is empty")
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return _workbook(data, reading)
    if data.startswith(b"PAR1"):
        return _parquet(data, columns)
    if data.startswith(b"SQLite format 3"):
        frame = _database(path, reading)
    elif data.startswith(b"$FL") or suffix == ".dta":
        frame = _labelled(path, suffix)
    elif suffix in (".json", ".jsonl", ".ndjson"):
        frame = _records([line for line in data.splitlines() if line.strip()])
    elif re.match(rb"\s*<(!doctype|html|table|\?xml)", data, re.I):
        raise ValueError("it is a web page or XML, whatever its name says; save it from a spreadsheet as .csv or .xlsx")
    else:
        return read_text(data, reading, columns)
    return Table(tuple(map(str, frame)), frame.set_axis(range(frame.shape[1]), axis=1))


def _one(names: Sequence[str], stated: str, what: str) -> str:
    """Return the part of a file that is stated, or its only one."""
    if stated in names or (len(names) == 1 and not stated):
        return stated or names[0]
    if stated or not names:
        raise ValueError(f"no sheet {stated!r}, its {what} are {', '.join(names[:20]) or 'none'}")
    ways = {f"{what[:-1]} {number}": {"sheet": name} for number, name in enumerate(names[:8], 1)}
    raise AmbiguousError(f"it holds {len(names)} {what}", ways)


def _workbook(data: bytes, reading: Reading) -> Table:
    """Read a sheet; cells keep their types, and only an empty one is missing."""
    with checks.needed_for("a workbook"):
        import python_calamine  # noqa: F401
    cells: dict[str, Any] = {"header": None, "dtype": object, "na_filter": False}
    sheets = pd.read_excel(io.BytesIO(data), sheet_name=None, engine="calamine", **cells)
    sheet = sheets[_one([name for name, sheet in sheets.items() if sheet.size], reading.sheet, "sheets")]
    skip, header, names = find_header(_texts(sheet.head(1000)), reading, sheet.shape[1])
    body = sheet.iloc[skip + header :].set_axis(range(len(names)), axis=1)
    filled = np.flatnonzero((body != "").any(axis=1))  # rows below are the sheet's, not the table's
    footer = find_footer(_texts(body.iloc[filled[-4:]]), reading, len(names))
    last = filled[len(filled) - footer - 1] if len(filled) > footer else -1
    return Table(names, body.iloc[: last + 1].where(body != "", None), skip + header)


def _texts(cells: pd.DataFrame) -> list[list[str]]:
    """Return the cells of rows as texts, without the empty ones at their ends."""
    rows = [["" if cell == "" else str(cell) for cell in row] for row in cells.to_numpy()]
    return [row[: max((place + 1 for place, cell in enumerate(row) if cell), default=0)] for row in rows]


def _labelled(path: Path, suffix: str) -> pd.DataFrame:
    """Read a file of Stata or SPSS, with words in place of codes where every code of a column has one."""
    with checks.needed_for("a file of Stata or SPSS"):
        import pyreadstat
    frame, meta = (pyreadstat.read_dta if suffix == ".dta" else pyreadstat.read_sav)(path)
    for name, words in meta.variable_value_labels.items():
        if frame[name].dropna().isin(list(words)).all():  # else a scale whose ends alone have words
            frame[name] = frame[name].map(words)
    return frame


def _parquet(data: bytes, columns: set[str] | None) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(data))
    names = tuple(file.schema_arrow.names)
    keep = wanted(names, columns)
    table = file.read(columns=[names[place] for place in keep])
    return Table(names, table.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True).set_axis(keep, axis=1))


def _database(path: Path, reading: Reading) -> pd.DataFrame:
    import sqlite3  # not in every Python

    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute("select name from sqlite_master where type in ('table', 'view')")
        name = _one([n for (n,) in rows if not n.startswith("sqlite_")], reading.sheet, "tables")
        quoted = name.replace('"', '""')
        return pd.read_sql(f'select * from "{quoted}"', database, coerce_float=False, dtype=object)


def _records(lines: list[bytes]) -> pd.DataFrame:
    records = json.loads(b"\n".join(lines)) if lines[0].lstrip().startswith(b"[") else list(map(json.loads, lines))
    if not all(isinstance(record, dict) for record in records):
        raise ValueError("JSON must be one record a line, or a list of records")
    return pd.DataFrame(records, dtype=object)
