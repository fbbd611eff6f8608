"""Files that hold tables: CSV and the like, workbooks, Parquet, JSON, Stata, SPSS, SQLite, packed or not.

A format is known by a file's content, whatever its name says, and read by pandas, pyarrow, calamine or pyreadstat.
"""

import io
import json
import os
import re
import zipfile
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ldpnb import checks
from ldpnb.data.layout import find_footer, find_header, names_in
from ldpnb.data.reading import AmbiguousError, Reading
from ldpnb.data.table import Table, Wanted
from ldpnb.data.text import read_text

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ": "lzma"}
"""Modules that unpack, by how a file begins; not every Python has all of them."""
_ROWS = 1000


def locate(data: str | Path, name: str = "data") -> Path:
    """Return an existing file; `name` is what the caller calls it."""
    path = Path(os.path.expanduser(data))
    if not path.is_file():
        raise ValueError(f"{name} must be a file, got {name}={str(data)!r}")
    return path


def read(path: Path, reading: Reading, columns: Collection[str] | None = None) -> Table:
    """Return some columns of a table, whatever their case, or all.

    Raises
    ------
    AmbiguousError
        If there are several sheets, headers, footers or encodings to choose from, or rows that do not fit.
    ValueError
        If it cannot be read.
    """
    lower = None if columns is None else {column.strip().lower() for column in columns}

    def wanted(names: Sequence[str]) -> list[int]:
        return [i for i, name in enumerate(names) if lower is None or name.lower() in lower or len(names) == 1]

    try:
        return _read(path, reading, wanted)
    except (AmbiguousError, checks.UsageError):
        raise
    except Exception as error:  # every format's library has errors of its own
        reason = str(error).strip().partition("\n")[0].removeprefix(f"{path}: ") or type(error).__name__
        if isinstance(error, UnicodeError):
            reason = "it is not in one encoding throughout; state another encoding, such as utf-8 or cp1252"
        if re.search("straddling|out of sync", reason):
            reason = "a quote is not closed, or a line is too long"
        raise ValueError(f"cannot be read: {checks.shown(reason)}") from None


def _read(path: Path, reading: Reading, wanted: Wanted) -> Table:
    data, suffix = _content(path, reading)
    head = data[:512]
    if not head.strip():
        raise ValueError("it is empty")
    if head.startswith(b"\xd0\xcf\x11\xe0") or _is_workbook(data):
        return _workbook(data, reading)
    if head.startswith(b"PAR1"):
        return _parquet(data, reading, wanted)
    if head.startswith(b"SQLite format 3"):
        frame = _database(path, reading)
    elif head.startswith(b"$FL"):
        with checks.needed_for("an SPSS file"):
            import pyreadstat
        frame, about = pyreadstat.read_sav(path)
        frame = _labelled(frame, about.variable_value_labels)
    elif suffix == ".dta":
        frame = pd.read_stata(io.BytesIO(data))
        codes = pd.read_stata(io.BytesIO(data), convert_categoricals=False)
        frame = pd.DataFrame({name: (codes if _is_scale(frame[name]) else frame)[name] for name in frame})
    elif suffix in (".json", ".jsonl", ".ndjson"):
        frame = _records(data)
    elif re.match(rb"\s*<(!doctype|html|table|\?xml)", head, re.I):
        raise ValueError("it is a web page or XML, whatever its name says; save it from a spreadsheet as .csv or .xlsx")
    else:
        return read_text(data, reading, wanted)
    names = tuple(map(str, frame.columns))
    return Table(names, frame.set_axis(range(len(names)), axis=1), reading)


def _content(path: Path, reading: Reading) -> tuple[bytes, str]:
    """Return the bytes of a file, unpacked, and the suffix that its content goes by."""
    data, suffix = path.read_bytes(), path.suffix.lower()
    for magic, module in _PACKED.items():
        if data.startswith(magic):
            data, suffix = import_module(module).decompress(data), Path(path.stem).suffix.lower()
    if data.startswith(b"PK\x03\x04") and not _is_workbook(data):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [item.filename for item in archive.infolist() if not item.is_dir()]
            name = _one([file for file in files if not re.search(r"(^|/)(\.|__MACOSX)", file)], reading.sheet, "files")
            data, suffix = archive.read(name), Path(name).suffix.lower()
    return data, suffix


def _is_workbook(data: bytes) -> bool:
    if not data.startswith(b"PK\x03\x04"):
        return False
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return not {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}.isdisjoint(archive.namelist())


def _one(names: Sequence[str], stated: str, what: str) -> str:
    """Return the part of a file that is stated, or its only one."""
    if stated in names or (len(names) == 1 and not stated):
        return stated or names[0]
    if not names:
        raise ValueError(f"it has no {what}")
    if stated:
        raise ValueError(f"no sheet {stated!r}, its {what} are {', '.join(names[:20])}")
    ways = {f"{what[:-1]} {number}": {"sheet": name} for number, name in enumerate(names[:8], 1)}
    raise AmbiguousError(f"it holds {len(names)} {what}", ways)


def _workbook(data: bytes, reading: Reading) -> Table:
    """Read a sheet; cells keep their types, and only an empty one is missing."""
    with checks.needed_for("a workbook"):
        import python_calamine  # noqa: F401
    cells: dict[str, Any] = {"header": None, "dtype": object, "na_filter": False}
    sheets = pd.read_excel(io.BytesIO(data), sheet_name=None, engine="calamine", **cells)
    sheet = sheets[_one([name for name, sheet in sheets.items() if sheet.size], reading.sheet, "sheets")]
    texts = sheet.head(_ROWS).astype(str).to_numpy().tolist()
    skip, header = find_header(texts, [sum(map(bool, row)) for row in texts], reading)
    names = names_in(texts[skip] if header else [""] * sheet.shape[1])
    body = sheet.iloc[skip + header :].where(sheet != "", None)
    footer = find_footer(body.tail(4).fillna("").astype(str).to_numpy().tolist(), reading)
    body = body.iloc[: len(body) - footer].set_axis(range(len(names)), axis=1)
    if len(names) > 1:  # empty rows at the end are the sheet's; one between others is somebody who said nothing
        body = body.iloc[: int(np.flatnonzero(body.notna().any(axis=1)).max(initial=-1)) + 1]
    return Table(names, body, replace(reading, skip=skip, header=header, footer=footer))


def _labelled(frame: pd.DataFrame, labels: Any) -> pd.DataFrame:
    """Put words in place of codes where every code has one; a scale whose ends alone have words stays numbers."""
    for name, words in labels.items():
        codes = frame[name].dropna()
        if codes.isin(list(words)).all():
            frame[name] = frame[name].map(words)
    return frame


def _is_scale(column: Any) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype) and not all(isinstance(c, str) for c in column.cat.categories)


def _parquet(data: bytes, reading: Reading, wanted: Wanted) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(data))
    names = tuple(file.schema_arrow.names)
    keep = wanted(names)
    table = file.read(columns=[names[place] for place in keep])
    frame = table.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
    return Table(names, frame.set_axis(keep, axis=1), reading)


def _database(path: Path, reading: Reading) -> pd.DataFrame:
    import sqlite3  # not in every Python

    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute("select name from sqlite_master where type in ('table', 'view')")
        name = _one([n for (n,) in rows if not n.startswith("sqlite_")], reading.sheet, "tables")
        quoted = name.replace('"', '""')
        return pd.read_sql(f'select * from "{quoted}"', database, coerce_float=False, dtype=object)


def _records(data: bytes) -> pd.DataFrame:
    whole = data.lstrip().startswith(b"[")
    records = json.loads(data) if whole else [json.loads(line) for line in data.splitlines() if line.strip()]
    if not all(isinstance(record, dict) for record in records):
        raise ValueError("JSON must be one record a line, or a list of records")
    return pd.DataFrame(records, dtype=object)
