"""Damaged, hostile and large files are refused in one line, in little time and memory."""

import gzip
import io
import os
import re
import zipfile
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from untidy import archive, workbook

from ldpnb.data import parquet, rows, tables
from ldpnb.data import workbook as workbooks
from ldpnb.data.files import load_column
from ldpnb.data.inspection import inspect
from ldpnb.data.reading import Reading

SMALL = workbook(a=[["age", "sex"], [30, "f"], [40, "m"]])
FAR = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'


def with_sheet(**replaced: bytes) -> bytes:
    """Return a small workbook in whose sheet some pieces are replaced."""
    with zipfile.ZipFile(io.BytesIO(SMALL)) as source:
        parts = {name: source.read(name) for name in source.namelist()}

    sheet = parts["xl/worksheets/sheet1.xml"]
    for old, new in replaced.values():
        assert old in sheet
        sheet = sheet.replace(old, new)

    parts["xl/worksheets/sheet1.xml"] = sheet
    return archive(**parts)


def assert_refused(path: Path, rule: str) -> None:
    """Both ways to read a file refuse it in one line."""
    with pytest.raises(ValueError, match=rule) as error:
        load_column(path, "age", low=0, high=99, bins=9)
    assert str(error.value).isprintable()

    with pytest.raises(ValueError, match=rule):
        inspect(path)


DIMENSION = b'<dimension ref="A1:B3" />'
FAR_CELLS = {
    "as its dimension says": {
        "cell": (b"</sheetData>", FAR),
        "dimension": (DIMENSION, b'<dimension ref="A1:XFD1048576"/>'),
    },
    "beyond its dimension": {"cell": (b"</sheetData>", FAR)},
    "without a dimension": {
        "cell": (b"</sheetData>", FAR),
        "dimension": (DIMENSION, b""),
    },
    "in a row that no sheet has": {
        "cell": (b"</sheetData>", b'<row r="99999999999"><c><v>1</v></c></row></sheetData>')
    },
}


@pytest.mark.parametrize("where", FAR_CELLS)
def test_a_cell_far_from_the_table_takes_no_memory(where: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(with_sheet(**FAR_CELLS[where]))
    assert_refused(path, "more than 1,000,000 empty rows")


def test_a_formula_without_a_value_is_not_read_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook(a=[["age"], ["=1+1"], [40]]))
    assert_refused(path, "a formula has no stored value: open and save the workbook")


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".xlsx", ".parquet"])
def test_what_a_file_unpacks_to_is_bounded(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"a{suffix}"
    frame = pd.DataFrame({"age": np.zeros(50_000, dtype=int)})
    if suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".xlsx":
        path.write_bytes(workbook(a=[["age"], *[[0]] * 5000]))
    else:
        content = frame.to_csv(index=False).encode()
        path.write_bytes(gzip.compress(content) if suffix == ".csv.gz" else content)

    monkeypatch.setattr(tables, "MOST_BYTES", 20_000)
    monkeypatch.setattr(workbooks, "MOST_BYTES", 20_000)
    monkeypatch.setattr(parquet, "MOST_ROWS", 20_000)
    monkeypatch.setattr(rows, "MOST_ROWS", 20_000)

    assert_refused(path, "it must have")


def test_an_entry_repeated_by_a_dictionary_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    places = pa.array(np.zeros(1_000_000, dtype=np.int32))
    column = pa.DictionaryArray.from_arrays(places, pa.array(["a" * 1_000_000]))
    pq.write_table(pa.table({"age": column}), path)

    with pytest.raises(ValueError, match="an entry must have at most 131,072 characters"):
        load_column(path, "age")

    assert "No column can be used as it is" in inspect(path)


ODD_COLUMNS = {
    "lists": ([[1], [2]], "holds lists or records"),
    "bytes": ([b"a", b"b"], "holds bytes"),
    "nothing": ([None, None], "no entries"),
    "truth values": ([True, False], "'True' is not a number"),
    "dates": ([date(2024, 1, 1), None], "'2024-01-01' is not a number"),
}


@pytest.mark.parametrize("name", ODD_COLUMNS)
def test_a_column_of_parquet_that_holds_no_numbers_is_refused(name: str, tmp_path: Path) -> None:
    entries, rule = ODD_COLUMNS[name]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": entries}), path)

    with pytest.raises(ValueError, match=rule):
        load_column(path, "x", low=0, high=9)


def test_a_column_that_cannot_be_read_leaves_its_neighbours_readable(tmp_path: Path) -> None:
    far = pa.array([10**7, 10**7], pa.int32()).cast(pa.date32())
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"age": [30, 40], "far": far, "list": [[1], [2]]}), path)

    assert load_column(path, "age", low=0, high=99).users == 2
    assert "column=age" in inspect(path)
    with pytest.raises(ValueError, match="column 'far': "):
        load_column(path, "far")


@pytest.mark.parametrize("name", ["pipe", "folder", "absent", "/dev/zero"])
def test_only_regular_files_are_opened(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    assert_refused(tmp_path / name, "data must be a file")


BROKEN = {
    "bytes that are no text": (b"age\n\xff\xfe\xfd\n", "byte 4 is not valid utf-8: set encoding"),
    "a zero byte": (b"age\n1\0\n", "it has a zero byte: set encoding"),
    "an open quote": (b'age,x\n1,"a\n2,b\n', "close every quotation"),
    "text behind a quote": (b'age,x\n1,"a"b\n', "close every quotation"),
    "a cut workbook": (SMALL[:900], "it is a damaged workbook or archive"),
    "a cut gzip": (gzip.compress(b"age\n1\n" * 99)[:30], "Compressed file ended"),
    "a cut Parquet": (b"PAR1" + b"\0" * 40, "Parquet"),
    "blanks": (b" \n \n", "it is empty"),
    "a locked workbook": (b"\xd0\xcf\x11\xe0" + bytes(99), "with a password"),
    "SPSS": (b"$FL2@(#) SPSS", "an SPSS file, which cannot be read: save it as .csv"),
    "a database": (b"SQLite format 3\0" + bytes(99), "a database, which cannot be read"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    content, rule = BROKEN[name]
    (tmp_path / "a").write_bytes(content)
    assert_refused(tmp_path / "a", f"^{re.escape(str(tmp_path / 'a'))}: .*{rule}")


def test_messages_escape_what_a_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    evil = "\x1b[2J"
    for content in (f"age\n{evil}\n1\n", f"{evil},b\n1,2\n", f"age,b\n1,{evil},3\n"):
        path.write_text(content)
        with pytest.raises(ValueError, match="x1b") as error:
            load_column(path, "age", low=0, high=9)
        assert str(error.value).isprintable()

    book = workbook(a=[["age"]], b=[["age"]])
    path.write_bytes(book)
    with pytest.raises(ValueError, match="set sheet to one of 'a', 'b'"):
        load_column(path, "age", reading=Reading(sheet="c"))
