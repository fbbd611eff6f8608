"""Files made to do harm are refused in one clear line, or harmless: nothing fills the memory or climbs out."""

import bz2
import gzip
import io
import lzma
import os
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldpnb.data import download, files, opening, reports, tables
from ldpnb.data.channels import load_channel
from ldpnb.data.column import Column
from ldpnb.papers.bun2022 import tabulations
from ldpnb.papers.juarez2022 import sessions


def zipped(*members: tuple[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members:
            archive.writestr(name, member)
    return content.getvalue()


def workbook(sheet: bytes, strings: bytes = b"<sst/>") -> bytes:
    """A workbook of one sheet as its two files of text describe it."""
    made = io.BytesIO()
    pd.DataFrame({"age": ["a"]}).to_excel(made, index=False)
    parts = {name: zipfile.ZipFile(made).read(name) for name in zipfile.ZipFile(made).namelist()}
    spreadsheet = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    parts["xl/worksheets/sheet1.xml"] = sheet.replace(b"<worksheet", b"<worksheet " + spreadsheet)
    parts["xl/sharedStrings.xml"] = strings.replace(b"<sst", b"<sst " + spreadsheet)
    return zipped(*parts.items())


def parquet(**columns: object) -> bytes:
    made = io.BytesIO()
    pq.write_table(pa.table(columns), made, compression="zstd")
    return made.getvalue()


def npy(described: str, shape: str, content: bytes = b"") -> bytes:
    header = f"{{'descr': {described}, 'fortran_order': False, 'shape': {shape}}}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


HEAD = b'<row r="1"><c t="inlineStr"><is><t>age</t></is></c></row>'
FAR = HEAD + b'<row r="999999999"><c><v>1</v></c></row>'
LARGE = b'<worksheet><dimension ref="A1:ZZZ999999999"/><sheetData>' + HEAD
NUMBERED = {"low": 0, "high": 99}
ENTITIES = b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9))
BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + ENTITIES + b"]><worksheet>&j;</worksheet>"
LINE = b"age\n" + b"x" * 2**21
SHARED = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10**6, np.int32)), ["x" * 10**5])
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zip": lambda content: zipped(("a.csv", content)),
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
}
FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "rubbish.csv": (
        lambda: bytes(range(128, 256)),
        "cannot be read as csv: its encoding is not found; state encoding=",
    ),
    "blanks.csv": (lambda: b"age\n" + bytes(999), "cannot be read as csv: its encoding is not found"),
    "nothing.csv": (lambda: b"\n\n", "cannot be read as csv: it is empty"),
    "wide.csv": (lambda: ",".join(map(str, range(10**5))).encode(), "18, 19, and 99,980 more"),
    "name.csv": (lambda: b"x" * 10**5 + b",y", "its columns are xxxx"),
    "field.csv": (lambda: b"x" * 2**18, "field larger than field limit"),
    "long.csv": (lambda: b"age\n" + 2000 * b"x", "must have texts of at most 1,000 characters, got 2,000"),
    "quote.csv": (lambda: b'age\n"a\n' + 1000 * b"b\n", "must have texts of at most 1,000 characters"),
    "line.jsonl": (lambda: b'{"age": "' + bytes(2**21), "its lines are too long"),
    "two.csv.zip": (lambda: zipped(("a", LINE), ("b", LINE)), "cannot be unpacked: it must hold one file, got 2"),
    "sum.csv.zip": (
        lambda: zipped(("a", b"age\naaa")).replace(b"\xab\x15", b"\xac\x15"),
        "cannot be unpacked: Bad CRC-32",
    ),
    "deep.jsonl": (lambda: b'{"age": ' + b"[" * 10**5, "cannot be read as jsonl: maximum recursion depth"),
    "lists.jsonl": (lambda: b"[1]\n", "cannot be read as jsonl: a line must be an object"),
    "digits.jsonl": (lambda: b'{"age": ' + b"9" * 10**4 + b"}", "cannot be read as jsonl: Exceeds the limit"),
    "claims.parquet": (lambda: b"PAR1" + b"\xff" * 8 + b"PAR1", "cannot be read as parquet"),
    "cut.parquet": (lambda: parquet(age=[1, 2])[:-9], "cannot be read as parquet"),
    "nested.parquet": (lambda: parquet(age=[[1], [2]]), "column age holds lists or records, where it must hold one"),
    "shared.parquet": (lambda: parquet(age=SHARED), "must have texts of at most 1,000 characters, got 100,000"),
    "empty.xlsx": (lambda: zipped(("a", b"")), "cannot be read as xlsx"),
    "strings.xlsx": (lambda: workbook(b"<worksheet/>", b"<sst>" + LINE + b"</sst>"), "unpacks to 2,1"),
    "entities.xlsx": (lambda: workbook(BOMB), "cannot be read as xlsx: "),
    "far.xlsx": (
        lambda: workbook(b"<worksheet><sheetData>" + FAR + b"</sheetData></worksheet>"),
        "cannot be read as xlsx: it has more than 65,536 rows",
    ),
    **{f"line.csv{s}": (lambda pack=pack: pack(LINE), "its lines are too long") for s, pack in PACKINGS.items()},
    **{f"cut.csv{s}": (lambda pack=pack: pack(b"age\n1\n" * 99)[:-9], "unpacked|read") for s, pack in PACKINGS.items()},
    **{f"no.csv{s}": (lambda: b"age\n1\n", "cannot be unpacked: ") for s in PACKINGS},
    **{f"no{s}": (lambda: b"PAR1 no", f"cannot be read as {s[1:]}") for s in (".parquet", ".jsonl", ".xlsx")},
    **{
        f"{code}.jsonl": (
            lambda code=code: '{"age": "\xe4"}\n'.encode(code),
            "cannot be read as jsonl: it is not UTF-8",
        )
        for code in ("utf-16", "latin-1")
    },
}
SMALLER = ((opening, "_LINE_BYTES", 2**20), (tables, "_MEMBER_BYTES", 2**20), (tables, "_EXCEL_ROWS", 2**16))


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_table_is_refused_by_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in SMALLER:
        monkeypatch.setattr(*limit)
    content, rule = FILES[name]
    path = tmp_path / name
    path.write_bytes(content())
    start = time.process_time()
    with pytest.raises(ValueError, match=f"{name}: .*({rule})") as error:
        files.load_counts(path, "age", **(NUMBERED if name == "far.xlsx" else {}))
    assert len(str(error.value)) < 2000
    with pytest.raises(ValueError, match=name) as error:
        reports.tally(path, 3, column="age")
    assert len(str(error.value)) < 2000
    assert time.process_time() - start < 5


def test_odd_tables_are_harmless(tmp_path: Path) -> None:
    def read(name: str, content: bytes, column: str = "age", **stated: object) -> Column:
        (tmp_path / name).write_bytes(content)
        return files.load_counts(tmp_path / name, column, **stated)

    assert read("blanks.csv", b"name, age\na, 3\nb, 3\n", **NUMBERED).counts[3] == 2
    assert read("mark.csv", b"\xef\xbb\xbfage\n1\n1\n", **NUMBERED).counts[1] == 2
    far = read("far.csv", b"age\n1e999\n-1e999\nnan\n5\n", outside="clamp", **NUMBERED)
    assert (far.outside, far.missing, far.counts[[0, 5, 99]].tolist()) == (2, 1, [1, 1, 1])
    assert read("formula.csv", b'age\n=cmd|calc\n"=1+1"\n@x\n').labels == ("=1+1", "=cmd|calc", "@x")
    wide = ",".join(f"c{i}" for i in range(10**5)) + "\n" + ",".join("7" * 10**5) + "\n"
    assert read("wide.csv", wide.encode(), "c99999", **NUMBERED).counts[7] == 1
    size = workbook(LARGE + b'<row r="2"><c><v>7</v></c></row></sheetData></worksheet>')
    assert read("size.xlsx", size, **NUMBERED).counts[7] == 1
    climbing = zipped(("../../../climbed.csv", b"age\n7\n"))
    assert read("climbing.csv.zip", climbing, **NUMBERED).counts[7] == 1
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".csv"] * 5 + [".xlsx", ".zip"]


def test_many_rows_in_few_bytes_are_read_in_pieces(tmp_path: Path) -> None:
    rows = 5 * 10**6
    (tmp_path / "rows.parquet").write_bytes(parquet(age=pa.array(np.full(rows, 7, np.int8)).cast(pa.int64())))
    assert (tmp_path / "rows.parquet").stat().st_size < rows / 100
    before, _ = pa.total_allocated_bytes(), tracemalloc.start()
    column = files.load_counts(tmp_path / "rows.parquet", "age", **NUMBERED)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert column.counts[7] == rows
    assert peak < 40 * 2**20
    assert pa.total_allocated_bytes() - before < 40 * 2**20


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "missing"])
def test_what_is_no_file_is_refused_without_waiting_for_its_end(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "people.csv"
    {
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "missing": lambda: None,
    }[kind]()
    for read in (lambda: files.load_counts(path, "age"), lambda: load_channel(path)):
        with pytest.raises(ValueError, match=r"(data|channel_path) must be a file, got "):
            read()
    with pytest.raises((ValueError, FileNotFoundError), match=r"people\.csv"):
        tabulations.read_tabulation(path)


ARRAYS = {
    "objects.npy": (npy("'|O'", "(1,)", b"\x80\x04."), "Python objects in dtype"),
    "claims.npy": (npy("'<f8'", "(1000000000000,)"), "mmap length is greater"),
    "overflows.npy": (npy("'<f8'", "(10000000000000000000000,)"), "too large"),
    "negative.npy": (npy("'<f8'", "(-1,)"), "cannot be read"),
    "code.npy": (npy("__import__('os').getpid()", "(1,)"), "malformed node"),
    "archive.npy": (zipped(("a.npy", b"")), "magic string"),
    "pickle.npy": (b"\x80\x04cos\nmkdir\n(S'pwned'\ntR.", "magic string"),
    "text.npy": (npy("'<U1'", "(1, 1)", b"a\0\0\0"), "it holds <U1"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_hostile_array_is_refused(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content, rule = ARRAYS[name]
    (tmp_path / name).write_bytes(content)
    for read in (load_channel, lambda path: reports.tally(path, 3), lambda path: files.load_counts(path, "")):
        with pytest.raises(ValueError, match=f"{name}: .*{rule}"):
            read(tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_channel_has_a_name_and_a_size_that_can_be(tmp_path: Path) -> None:
    (tmp_path / "channel.csv.gz").write_bytes(gzip.compress(bytes(2**20)))
    with (tmp_path / "channel.csv").open("wb") as file:
        file.truncate(2**29)
    for name in ("channel.csv.gz", "channel.csv"):
        with pytest.raises(ValueError, match=r"its name must end in \.npy, or in \.csv with at most 268,435,456 bytes"):
            load_channel(tmp_path / name)


def test_hostile_files_of_the_sources_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_LINE_BYTES", 2**20)
    (tmp_path / "S1").mkdir()
    for content, rule in ((b"\xff\xfe1", "line 1: a reading must be"), (bytes(2**21), "its lines are too long")):
        (tmp_path / "S1/d1p01M").write_bytes(content)
        with pytest.raises(ValueError, match=f"d1p01M.*{rule}"):
            sessions.read_sessions(tmp_path)
    (tmp_path / "cbp.zip").write_bytes(zipped(("a", bytes(2**21))))
    with pytest.raises(ValueError, match="its lines are too long"):
        tabulations.read_tabulation(tmp_path / "cbp.zip")


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"no", "cannot be unpacked: File is not a zip file"),
        (zipped(("a", b"1"), ("b", b"2")), "must hold one file of at most 4,294,967,296 bytes"),
        (zipped(), "must hold one file"),
        (zipped(("a", b"aaaa")).replace(b"\x98\xad", b"\x99\xad"), "Bad CRC-32"),
    ],
)
def test_a_hostile_download_is_not_unpacked(tmp_path: Path, content: bytes, rule: str) -> None:
    (tmp_path / "cbp15co.zip").write_bytes(content)
    with pytest.raises(download.DownloadError, match=rule):
        download._readable(tmp_path / "cbp15co.zip", download.DATASETS["cbp"])
    assert [p.name for p in tmp_path.iterdir()] == ["cbp15co.zip"]


@pytest.mark.parametrize("url", ["http://h/..", "http://h/checksums.json", "http://h/", "file:///etc/passwd", "http:x"])
def test_a_download_takes_no_name_that_climbs_out_or_replaces_the_checksums(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match="url must be http or https and name a file"):
        download.fetch("adult", url=url, cache=tmp_path)


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\x00", b"[" * 10**5, b'{"adult.data": 1}'])
def test_damaged_records_of_checksums_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "checksums.json").write_bytes(content)
    with pytest.raises(download.DownloadError, match=r"checksums\.json is damaged"):
        download.fetch("adult", cache=tmp_path)
