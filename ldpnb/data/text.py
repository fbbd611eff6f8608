"""Delimited text: its encoding, and its rows, of which those that do not fit the header are never cut unasked."""

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ldpnb.data.layout import find_footer, find_header, find_separator, names_in, split
from ldpnb.data.reading import AmbiguousError, Reading
from ldpnb.data.table import Table, Wanted

_SAMPLE, _TAIL, _ROWS, _LINES = 2**18, 2**16, 1000, 300
"""Bytes at the beginning and at the end of a text, and rows and lines there, that are looked at."""
_ENCODINGS = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "mac_roman", "cp850", "iso8859_2"]
_ENCODINGS += ["shift_jis", "euc_kr", "big5", "gb18030"]


def read_text(data: bytes, reading: Reading, wanted: Wanted) -> Table:
    """Return the wanted columns of delimited text, as texts.

    Raises
    ------
    AmbiguousError
        If its layout has two readings, or rows have more or fewer fields than the header.
    """
    encoding, unsure = (reading.encoding, None) if reading.encoding else _find_encoding(data)
    if encoding != "utf-8":
        data = data.decode(encoding).encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    stated = re.match(rb"sep=(.)\r?\n", data)
    data = data[stated.end() :] if stated else data
    start = data[:_SAMPLE].decode(errors="ignore")
    separator = reading.separator or (stated[1].decode() if stated else "")
    if not separator:
        separator = find_separator(start[:_TAIL].splitlines()[reading.skip or 0 :][:_LINES], reading)
    rows = split(io.StringIO(start, newline=""), separator)[: None if len(data) <= _SAMPLE else -1]
    if len(rows) > 1 and all(len(row) == len(rows[0]) + 1 and not row[-1] for row in rows[1:] if row):
        rows[0].append("")  # a separator ends every line but the first
    skip, header = find_header(rows[:_ROWS], [len(row) for row in rows[:_ROWS]], reading)
    if len(rows) <= skip + header:
        raise ValueError("it has a header but no rows")
    names = names_in(rows[skip] if header else [""] * len(rows[skip]))
    last = split(io.StringIO(data[-_TAIL:].decode(errors="ignore"), newline=""), separator)
    last = [row for row in last[1 if len(data) > _TAIL else skip + header :] if row]
    footer = find_footer(last[-4:], reading, len(names))
    known = replace(reading, separator=separator, encoding=encoding, skip=skip, header=header, footer=footer)
    if not (keep := wanted(names)):
        return Table(names, pd.DataFrame(), known, 0, unsure)
    table, odd = _delimited(data, known, len(names), keep)
    in_footer = sum(len(row) != len(names) for row in last[max(len(last) - footer, 0) :])
    table, odd = table[: len(table) - footer + in_footer], odd[: len(odd) - in_footer]
    if odd:
        table = _mended(table, odd, known, len(names), 1 if stated else 0)
    return Table(names, table, known, len(odd), unsure)


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
        pass
    from charset_normalizer import from_bytes

    names = [match.encoding for match in from_bytes(data[:_SAMPLE], cp_isolation=_ENCODINGS)]
    words = sorted({w for w in re.findall(rb"[^\s,;|\"\x00-\x1f]+", data[: 2**22]) if max(w) > 127})[:500]
    readings: dict[tuple[str, ...], str] = {}
    for name in ("cp1252", *(names or _ENCODINGS[:5])):
        readings.setdefault(tuple(word.decode(name, "replace") for word in words), name)
    likeliest = next(iter(readings.values()))
    if len(readings) == 1:
        return likeliest, None
    question = "its encoding is not certain"
    if any("\ufffd" not in word.decode(errors="replace") for word in words):
        question = "some of it is UTF-8 and some is not, as if two files were joined"
    unlike = [place for place, texts in enumerate(zip(*readings, strict=True)) if len(set(texts)) > 1]
    ways: dict[str, dict[str, str]] = {}
    for texts, name in list(readings.items())[:6]:
        ways.setdefault(", ".join(texts[place] for place in unlike)[:30], {"encoding": name})
    return likeliest, AmbiguousError(question, ways)


def _delimited(data: bytes, known: Reading, width: int, keep: Sequence[int]) -> tuple[pd.DataFrame, list[Any]]:
    """Return some columns as texts, and the rows of another width."""
    import pyarrow as pa
    from pyarrow import csv

    odd: list[Any] = []

    def note(row: Any) -> str:
        odd.append(row)
        return "skip"

    places = [str(place) for place in range(width)]
    chosen = [places[place] for place in keep]
    lines = {"skip_rows": known.skip, "skip_rows_after_names": known.header}
    reading = csv.ReadOptions(use_threads=False, column_names=places, block_size=2**23, **lines)
    rows = {"ignore_empty_lines": width > 1, "newlines_in_values": True, "invalid_row_handler": note}
    parsing = csv.ParseOptions(delimiter=known.separator, **rows)
    texts = csv.ConvertOptions(column_types=dict.fromkeys(chosen, pa.string()), include_columns=chosen)
    table = csv.read_csv(pa.BufferReader(data), reading, parsing, texts)
    if len(table) + len(odd) < data.count(b"\n") // 2 and data.count(b'"') % 2:
        raise ValueError("a quote is not closed")
    return table.to_pandas(types_mapper=pd.ArrowDtype).set_axis(list(keep), axis=1), odd


def _mended(table: pd.DataFrame, odd: Sequence[Any], known: Reading, width: int, above: int) -> pd.DataFrame:
    """Return a table after its odd rows were left out or filled up as stated, or ask; `above` are lines cut off."""
    long = any(row.actual_columns > width for row in odd)
    if known.bad_rows == "skip":
        return table
    if known.bad_rows == "fill" and not long:
        fields = [split([row.text], known.separator)[0] for row in odd]
        filled = pd.DataFrame([row + [""] * (width - len(row)) for row in fields])[list(table)]
        return pd.concat([table, filled.astype(table.dtypes)])
    first, more = odd[0], ", ..." if len(odd) > 5 else ""
    numbers = ", ".join(f"{row.number + above:,}" for row in odd[:5]) + more
    example = f"{first.text[:60]!r} has {first.actual_columns} fields and the header {width}"
    ways = {"leave them out": {"bad_rows": "skip"}}
    ways |= {} if long else {"they end early: what lacks is missing": {"bad_rows": "fill"}}
    question = f"{len(odd):,} rows do not fit the header, lines {numbers}: {example}"
    raise AmbiguousError(question, ways | {"if that is wrong": {"separator": "..."}})
