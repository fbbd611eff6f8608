"""Files that hold tables: CSV and the like, workbooks, Parquet, JSON, Stata, SPSS, SQLite, packed or not.

A format is known by a file's content, whatever its name says, and read by pandas, pyarrow, calamine or pyreadstat.
Rows of text that do not fit the header are never cut unasked.
"""

import csv
import io
import json
import os
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ldpnb import checks
from ldpnb.data.reading import AmbiguousError, Reading, naming
from ldpnb.data.table import Rows, Table, find_footer, find_header, wanted

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ": "lzma"}
"""Modules that unpack, by how a file begins; not every Python has all of them."""
_SAMPLE, _TAIL = 2**18, 2**16
"""Bytes at the beginning and at the end of a text that are looked at."""
_MOST_CELLS = 10**8
_ENCODINGS = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "mac_roman", "cp850", "iso8859_2"]
_ENCODINGS += ["shift_jis", "euc_kr", "big5", "gb18030"]


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
        return _read(
            path,
            reading,
            None if columns is None else {column.strip().lower() for column in columns},
        )
    except AmbiguousError:
        raise
    except Exception as error:  # every format's library has errors of its own
        reason = (
            str(error).strip().partition("\n")[0].removeprefix(f"{path}: ") or type(error).__name__
        )
        if isinstance(error, UnicodeError):
            reason = "it is not in one encoding throughout; state another encoding, such as utf-8 or cp1252"
        if re.search("straddling|out of sync|field larger", reason):
            reason = "a quote is not closed, or a line is too long"
        raise ValueError(f"cannot be read: {checks.shown(reason)}") from None


def _read(path: Path, reading: Reading, columns: set[str] | None) -> Table:
    data, suffix = path.read_bytes(), path.suffix.lower()
    for magic, module in _PACKED.items():
        if data.startswith(magic):
            return _unpacked(import_module(module).decompress(data), path.stem, reading, columns)
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [item.filename for item in archive.infolist() if not item.is_dir()]
            if not {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}.isdisjoint(files):
                _refuse_far_cells(
                    archive, [file for file in files if file.startswith("xl/worksheets/")]
                )
                return _workbook(data, reading)
            name = _one(
                [file for file in files if not re.search(r"(^|/)(\.|__MACOSX)", file)],
                reading.sheet,
                "files",
            )
            own = replace(reading, sheet="") if reading.sheet == name else reading
            return _unpacked(archive.read(name), name, own, columns)
    if not data.strip():
        raise ValueError("it is empty")
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return _workbook(data, reading)
    if data.startswith(b"PAR1"):
        return _parquet(data, columns)
    if data.startswith(b"SQLite format 3"):
        frame = _database(path, reading)
    elif data.startswith(b"$FL") or suffix == ".dta":
        frame = _labelled(path, suffix, codes=reading.kind == "number")
    elif suffix in (".json", ".jsonl", ".ndjson"):
        frame = _records([line for line in data.splitlines() if line.strip()])
    elif re.match(rb"\s*<(!doctype|html|table|\?xml)|%PDF-|\{\\rtf|.{257}ustar", data, re.I | re.S):
        what = "a web page, XML, PDF, rich text or a tar archive, whatever its name says"
        raise ValueError(f"it is {what}; save it from a spreadsheet as .csv or .xlsx")
    else:
        return _text(data, reading, columns)
    return Table(tuple(map(str, frame)), frame.set_axis(range(frame.shape[1]), axis=1))


def _unpacked(data: bytes, name: str, reading: Reading, columns: set[str] | None) -> Table:
    """Read what was packed: libraries for some kinds of files take no bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, Path(name).name)
        path.write_bytes(data)
        return _read(path, reading, columns)


def _one(names: Sequence[str], stated: str, what: str) -> str:
    """Return the part of a file that is stated, or its only one."""
    if stated in names or (len(names) == 1 and not stated):
        return stated or names[0]
    if stated or not names:
        raise ValueError(f"no sheet {stated!r}, its {what} are {', '.join(names[:20]) or 'none'}")
    ways = {f"{what[:-1]} {number}": {"sheet": name} for number, name in enumerate(names[:8], 1)}
    raise AmbiguousError(f"it holds {len(names)} {what}", ways)


def _refuse_far_cells(archive: zipfile.ZipFile, sheets: list[str]) -> None:
    """Refuse a workbook with a stray cell far from its table: all cells between would be made, and memory lack."""
    for sheet in sheets:
        with archive.open(sheet) as file:
            corner = re.search(rb'<dimension ref="(?:\w+:)?([A-Z]+)(\d+)"', file.read(4096))
        if (
            corner
            and sum(26**i * (c - 64) for i, c in enumerate(corner[1][::-1])) * int(corner[2])
            > _MOST_CELLS
        ):
            last = (corner[1] + corner[2]).decode()
            raise ValueError(
                f"a sheet reaches to {last}, over {_MOST_CELLS:,} cells; delete those far from the table"
            )


def _workbook(data: bytes, reading: Reading) -> Table:
    """Read a sheet: cells keep their types, only an empty one is missing, and one over rows is in all of them."""
    file = pd.ExcelFile(io.BytesIO(data), engine="calamine")
    sheets = pd.read_excel(file, sheet_name=None, header=None, dtype=object, na_filter=False)
    name = _one(
        [str(name) for name, cells in sheets.items() if cells.size], reading.sheet, "sheets"
    )
    cells = sheets[name]
    for (top, left), (bottom, _) in file.book.get_sheet_by_name(name).merged_cell_ranges or ():
        cells.iloc[top : bottom + 1, left] = cells.iloc[top, left]
    skip, header, names = find_header(_texts(cells.head(1000)), reading)
    body = cells.iloc[skip + header :].set_axis(range(len(names)), axis=1)
    filled = np.flatnonzero((body != "").any(axis=1))  # rows below are the sheet's, not the table's
    footer = find_footer(_texts(body.iloc[filled[-10:]]), reading, len(names))
    last = filled[len(filled) - footer - 1] if len(filled) > footer else -1
    return Table(names, body.iloc[: last + 1].where(body != "", None), skip + header)


def _texts(cells: pd.DataFrame) -> Rows:
    return [[str(cell).strip() for cell in row] for row in cells.to_numpy()]


def _labelled(path: Path, suffix: str, *, codes: bool) -> pd.DataFrame:
    """Read a file of Stata or SPSS, with words in place of codes where every code of a column has one, or its codes."""
    import pyreadstat

    read_file = pyreadstat.read_dta if suffix == ".dta" else pyreadstat.read_sav
    if (read_file(path, metadataonly=True)[1].number_rows or 0) > 1000 * path.stat().st_size:
        raise ValueError(
            "it has fewer bytes than its rows need"
        )  # which would be made all the same, in gigabytes
    frame, meta = read_file(path)
    for name, words in meta.variable_value_labels.items():
        if (
            not codes and frame[name].dropna().isin(list(words)).all()
        ):  # else a scale whose ends alone have words
            frame[name] = frame[name].map(words)
    return frame


def _parquet(data: bytes, columns: set[str] | None) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(data))
    names = tuple(file.schema_arrow.names)
    keep = wanted(names, columns)
    table = file.read(columns=[names[place] for place in keep])
    table.validate(full=True)
    return Table(
        names,
        table.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True).set_axis(keep, axis=1),
    )


def _database(path: Path, reading: Reading) -> pd.DataFrame:
    import sqlite3  # not in every Python

    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute("select name from sqlite_master where type in ('table', 'view')")
        name = _one([n for (n,) in rows if not n.startswith("sqlite_")], reading.sheet, "tables")
        quoted = name.replace('"', '""')
        return pd.read_sql(f'select * from "{quoted}"', database, coerce_float=False, dtype=object)


def _records(lines: list[bytes]) -> pd.DataFrame:
    records = (
        json.loads(b"\n".join(lines))
        if lines[0].lstrip().startswith(b"[")
        else list(map(json.loads, lines))
    )
    if not all(isinstance(record, dict) for record in records):
        raise ValueError("JSON must be one record a line, or a list of records")
    return pd.DataFrame(records, dtype=object)


def _text(data: bytes, reading: Reading, columns: set[str] | None) -> Table:
    """Return some columns of delimited text, as texts; ask if it has two layouts, or rows that do not fit."""
    encoding, unsure = (reading.encoding, None) if reading.encoding else _find_encoding(data)
    data = data.decode(encoding).encode().removeprefix(b"\xef\xbb\xbf")
    start = data[:_SAMPLE].decode(errors="ignore")
    stated = re.match(r"sep=(.)\r?\n", start)
    above = 1 if stated else 0
    separator = reading.separator or (
        stated[1] if stated else _find_separator(start, reading.skip or 0)
    )
    rows = _split(start, separator)[above : None if len(data) <= _SAMPLE else -1]
    if len(rows) > 1 and all(
        len(row) == len(rows[0]) + 1 and not row[-1] for row in rows[1:] if row
    ):
        rows[0].append("")  # a separator ends every line but the first
    skip, header, names = find_header(rows, reading)
    if len(rows) <= skip + header:
        raise ValueError("it has a header but no rows")
    if len(names) == 1 and not reading.separator:
        _ask_separator(["".join(row) for row in rows[skip:] if row], separator)
    last = _split(data[-_TAIL:].decode(errors="ignore"), separator)
    last = last[1 if len(data) > _TAIL else above + skip + header :]
    for _ in range(find_footer(last, reading, len(names))):
        data = data.rstrip(b"\r\n\t " + separator.encode())  # rows of separators alone are empty
        data = data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]
    keep, lines = (
        wanted(names, columns),
        {"skip_rows": above + skip, "skip_rows_after_names": header},
    )
    table, odd = _delimited(data, separator, lines, len(names), keep)
    if odd and reading.bad_rows != "skip":
        _ask_odd(odd, len(names), reading)
        filled = pd.DataFrame([_split(row.text, separator)[0] for row in odd]).reindex(columns=keep)
        table = pd.concat([table, filled.astype(table.dtypes)])
    return Table(names, table, skip + header, len(odd), unsure)


def _split(text: str, separator: str) -> Rows:
    """Return the fields of every row of delimited text, without the blanks around them."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return [[field.strip() for field in row] for row in rows]


def _find_separator(text: str, skip: int) -> str:
    """Return the mark by which most rows have the same number of fields, or one that does not occur."""
    lines = text[:_TAIL].splitlines()[skip:][:300]
    best = (0.0, 1, next(mark for mark in ";|\x1f" if mark not in text))
    for mark in (",", ";", "\t", "|"):
        widths = Counter(len(row) for row in _split("\n".join(lines), mark) if row)
        width, rows = widths.most_common(1)[0] if widths else (1, 0)
        if width > 1:
            best = max(
                best,
                (round(rows / sum(widths.values()), 1) + (mark in lines[0]) / 100, width, mark),
            )
    return best[2]


def _ask_separator(rows: list[str], separator: str) -> None:
    """Ask about a table of one column if a mark may stand between fields: one in the header and most rows."""
    mark = next(
        (m for m in ",;\t| :^~" if m in rows[0] and 2 * sum(m in row for row in rows) > len(rows)),
        "",
    )
    one = {"it is one column": {"separator": separator}}
    if mark and mark in ",;\t|":
        question = f"its rows are one field in quotes with {mark!r} in it; if it is several, take these quotes off"
        raise AmbiguousError(question, one)
    if mark:
        raise AmbiguousError(
            f"its rows have {mark!r}", {"it stands between fields": {"separator": mark}} | one
        )


def _find_encoding(data: bytes) -> tuple[str, AmbiguousError | None]:
    """Return the encoding of text, and a question if other encodings read it otherwise."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", None
    if b"\0" in data[:4]:
        return "utf-16-le" if data[1:2] == b"\0" else "utf-16-be", None
    try:
        data.decode()
        return "utf-8", None
    except UnicodeError:
        from charset_normalizer import from_bytes
    likely = [
        match.encoding for match in from_bytes(data[:_SAMPLE], cp_isolation=_ENCODINGS)
    ] or _ENCODINGS[:5]
    words = sorted(
        {w for w in re.findall(rb"[^\s,;|\"\x00-\x1f]+", data[: 2**22]) if max(w) > 127}
    )[:500]
    readings: dict[tuple[str, ...], str] = {}
    for name in ("cp1252", *likely):
        texts = tuple(word.decode(name, "replace") for word in words)
        if not any("\ufffd" in text for text in texts):
            readings.setdefault(texts, name)
    if not readings:
        raise UnicodeError("no encoding fits")
    unlike = [
        place for place, texts in enumerate(zip(*readings, strict=True)) if len(set(texts)) > 1
    ]
    ways = {
        ", ".join(texts[place] for place in unlike)[:30]: {"encoding": name}
        for texts, name in readings.items()
    }
    question = "it is not UTF-8 throughout, and its encoding is not certain"
    return next(iter(readings.values())), AmbiguousError(question, ways) if unlike else None


def _delimited(
    data: bytes, separator: str, lines: dict[str, int], width: int, keep: list[int]
) -> tuple[pd.DataFrame, list[Any]]:
    """Return some columns below a header as texts, and the rows of another width."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    odd: list[Any] = []

    def note(row: Any) -> str:
        odd.append(row)
        return "skip"

    places = [str(place) for place in range(width)]
    reading = arrow.ReadOptions(use_threads=False, column_names=places, block_size=2**23, **lines)
    rows = {
        "ignore_empty_lines": width > 1,
        "newlines_in_values": True,
        "invalid_row_handler": note,
    }
    parsing = arrow.ParseOptions(delimiter=separator, **rows)
    chosen = [places[place] for place in keep]
    texts = arrow.ConvertOptions(
        column_types=dict.fromkeys(places, pa.string()), include_columns=chosen
    )
    table = arrow.read_csv(pa.BufferReader(data), reading, parsing, texts).select(chosen)
    if len(table) + len(odd) < data.count(b"\n") // 2 and data.count(b'"') % 2:
        raise ValueError("a quote is not closed")
    return table.to_pandas(types_mapper=pd.ArrowDtype).set_axis(keep, axis=1), odd


def _ask_odd(odd: list[Any], width: int, reading: Reading) -> None:
    """Ask about rows of another width, unless they are short and to be filled up."""
    long = any(row.actual_columns > width for row in odd)
    if reading.bad_rows == "fill" and not long:
        return
    numbers = ", ".join(f"{row.number:,}" for row in odd[:5]) + (", ..." if len(odd) > 5 else "")
    example = f"{odd[0].text[:60]!r} has {odd[0].actual_columns} fields and the header {width}"
    ways = {"leave them out": {"bad_rows": "skip"}}
    ways |= {} if long else {"they end early: what lacks is missing": {"bad_rows": "fill"}}
    question = f"{len(odd):,} rows do not fit the header, lines {numbers}: {example}"
    raise AmbiguousError(question, ways | {"if that is wrong": {"separator": "..."}})
