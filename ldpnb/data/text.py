"""Delimited text: its encoding, and its rows, of which those that do not fit the header are never cut unasked."""

import csv
import io
import re
from collections import Counter
from typing import Any

import pandas as pd

from ldpnb.data.reading import AmbiguousError, Reading
from ldpnb.data.table import Rows, Table, find_footer, find_header, wanted

_SAMPLE, _TAIL = 2**18, 2**16
"""Bytes at the beginning and at the end of a text that are looked at."""
_ENCODINGS = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "mac_roman", "cp850", "iso8859_2"]
_ENCODINGS += ["shift_jis", "euc_kr", "big5", "gb18030"]


def read_text(data: bytes, reading: Reading, columns: set[str] | None) -> Table:
    """Return some columns of delimited text, as texts; ask if it has two layouts, or rows that do not fit."""
    encoding, unsure = (reading.encoding, None) if reading.encoding else _find_encoding(data)
    if encoding != "utf-8":
        data = data.decode(encoding).encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    start = data[:_SAMPLE].decode(errors="ignore")
    stated = re.match(r"sep=(.)\r?\n", start)
    above = 1 if stated else 0
    separator = reading.separator or (stated[1] if stated else _find_separator(start, reading.skip or 0))
    rows = _split(start, separator)[above : None if len(data) <= _SAMPLE else -1]
    if len(rows) > 1 and all(len(row) == len(rows[0]) + 1 and not row[-1] for row in rows[1:] if row):
        rows[0].append("")  # a separator ends every line but the first
    skip, header, names = find_header(rows, reading)
    if len(rows) <= skip + header:
        raise ValueError("it has a header but no rows")
    last = _split(data[-_TAIL:].decode(errors="ignore"), separator)
    last = last[1 if len(data) > _TAIL else above + skip + header :]
    for _ in range(find_footer(last, reading, len(names))):
        data = data.rstrip()
        data = data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]
    keep, lines = wanted(names, columns), {"skip_rows": above + skip, "skip_rows_after_names": header}
    table, odd = _delimited(data, separator, lines, len(names), keep)
    if odd and reading.bad_rows != "skip":
        _ask_odd(odd, len(names), reading)
        short = [_split(row.text, separator)[0] for row in odd]
        filled = pd.DataFrame([row + [""] * (len(names) - len(row)) for row in short])[keep]
        table = pd.concat([table, filled.astype(table.dtypes)])
    return Table(names, table, skip + header, len(odd), unsure)


def _split(text: str, separator: str) -> Rows:
    """Return the fields of every row of delimited text."""
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def _find_separator(text: str, skip: int) -> str:
    """Return the mark by which most rows have the same number of fields, or one that does not occur."""
    lines = text[:_TAIL].splitlines()[skip:][:300]
    best = (0.0, 1, next(mark for mark in ";|\x1f" if mark not in text))
    for mark in (",", ";", "\t", "|"):
        widths = Counter(len(row) for row in _split("\n".join(lines), mark) if row)
        width, rows = widths.most_common(1)[0] if widths else (1, 0)
        if width > 1:
            best = max(best, (round(rows / sum(widths.values()), 1) + (mark in lines[0]) / 100, width, mark))
    return best[2]


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
    likely = [match.encoding for match in from_bytes(data[:_SAMPLE], cp_isolation=_ENCODINGS)] or _ENCODINGS[:5]
    words = sorted({w for w in re.findall(rb"[^\s,;|\"\x00-\x1f]+", data[: 2**22]) if max(w) > 127})[:500]
    readings: dict[tuple[str, ...], str] = {}
    for name in ("cp1252", *likely):
        readings.setdefault(tuple(word.decode(name, "replace") for word in words), name)
    unlike = [place for place, texts in enumerate(zip(*readings, strict=True)) if len(set(texts)) > 1]
    if not unlike:
        return "cp1252", None
    ways = {", ".join(texts[place] for place in unlike)[:30]: {"encoding": name} for texts, name in readings.items()}
    return "cp1252", AmbiguousError("it is not UTF-8 throughout, and its encoding is not certain", ways)


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
    rows = {"ignore_empty_lines": width > 1, "newlines_in_values": True, "invalid_row_handler": note}
    parsing = arrow.ParseOptions(delimiter=separator, **rows)
    chosen = [places[place] for place in keep]
    texts = arrow.ConvertOptions(column_types=dict.fromkeys(places, pa.string()), include_columns=chosen)
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
