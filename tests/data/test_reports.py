"""Tallies of files in pieces: the same as in memory, whatever the format and the piece, in bounded memory."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ldpnb.data import tables
from ldpnb.data.reports import tally
from ldpnb.mechanisms.frequency import UnaryEncoding

USERS, VALUES = 1000, 7
REPORTS = np.random.default_rng(1).integers(0, VALUES, USERS)
TALLIES = np.bincount(REPORTS, minlength=VALUES)
FRAME = pd.DataFrame({"report": REPORTS, "other": np.arange(USERS) / 3})


def written(file: Path) -> Path:
    if file.name == "folder":
        file.mkdir()
        FRAME[:600].to_parquet(file / "a.parquet", row_group_size=100)
        FRAME[600:].to_csv(file / "b.csv", index=False)
        (file / "README.md").touch()
    elif file.suffix == ".parquet":
        FRAME.to_parquet(file, row_group_size=200)
    elif file.suffix == ".npy":
        np.save(file, REPORTS.astype(np.int16))
    else:
        text = FRAME.to_csv(index=False).encode()
        file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)
    return file


@pytest.mark.parametrize("rows", [13, 199, 10**6])
@pytest.mark.parametrize("name", ["reports.parquet", "reports.csv", "reports.csv.gz", "reports.npy", "folder"])
def test_tallies_do_not_depend_on_format_and_piece(tmp_path: Path, name: str, rows: int, monkeypatch) -> None:
    monkeypatch.setattr(tables, "ROWS", rows)
    assert tally(written(tmp_path / name), VALUES, column="report").tolist() == TALLIES.tolist()


@pytest.mark.parametrize("rows", [3, 64, 10**6])
@pytest.mark.parametrize("packed", [False, True])
def test_bits_of_unary_encodings_are_summed(tmp_path: Path, rows: int, packed: bool, monkeypatch) -> None:
    monkeypatch.setattr(tables, "ROWS", rows)
    bits = UnaryEncoding.optimised(1.0, 11).randomize(np.arange(200) % 11, rng=np.random.default_rng(2))
    np.save(tmp_path / "bits.npy", np.packbits(bits, axis=1) if packed else bits)
    assert tally(tmp_path / "bits.npy", 11, packed=packed).tolist() == bits.sum(axis=0).tolist()


SCRIPT = """
import resource, sys
from ldpnb.data import tables
from ldpnb.data.reports import tally
tables.ROWS = 2**14
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
for small in sys.argv[1:3]: tally(small, 7)
before = peak()
print(*(tally(large, 7).sum() for large in sys.argv[3:]), peak() - before)
"""


def test_memory_depends_on_the_piece_and_not_on_the_users(tmp_path: Path) -> None:
    """The peak above a small file's is a few pieces, though the large one is 24 MB in memory."""
    many, paths = np.resize(REPORTS, 3_000_000), []
    for name, reports in (("small", REPORTS), ("large", many)):
        paths += [tmp_path / f"{name}.npy", tmp_path / f"{name}.parquet"]
        np.save(paths[-2], reports)
        pd.DataFrame({"report": reports}).to_parquet(paths[-1])
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, paths)], capture_output=True, text=True, check=True
    )
    *users, grown = map(int, result.stdout.split())
    assert users == [many.size] * 2
    assert grown < 12, f"{grown} MB"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.array([0, 1, 9, 1]), r"reports must be integers 0 \.\. 2, got 9 in row 2 of"),
        (np.array([0, -1]), "got -1 in row 1 of"),
        (np.array([0.0, 0.5]), "got 0.5 in row 1 of"),
        (np.array([0.0, np.nan]), "got nan in row 1 of"),
        (np.zeros((2, 4), dtype=np.uint8), "bits must have 3 columns"),
        (np.zeros((2, 3)), "bits must have 3 columns in .*, got float64"),
        (np.array([[0, 1, 1], [0, 2, 0]]), r"bits must be 0 or 1, got \[0, 2, 0\] in row 1"),
        (np.zeros((2, 3), dtype=np.uint8, order="F"), "columns first"),
    ],
)
def test_wrong_arrays_are_refused_with_their_row(tmp_path: Path, content, message: str, monkeypatch) -> None:
    monkeypatch.setattr(tables, "ROWS", 1)
    np.save(tmp_path / "reports.npy", content)
    with pytest.raises(ValueError, match=message):
        tally(tmp_path / "reports.npy", 3)


def test_wrong_tables_and_paths_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"report": [0, 1], "gap": [0, None], "text": ["a", "b"]})
    frame.astype({"gap": "Int64"}).to_parquet(tmp_path / "reports.parquet")
    columns = {"gap": "got nan in row 1", "text": "must hold numbers", "missing": "no column 'missing'", "": "named"}
    for column, message in columns.items():
        with pytest.raises(ValueError, match=message):
            tally(tmp_path / "reports.parquet", 2, column=column)
    for path in (tmp_path / "nothing.npy", tmp_path / "reports.txt", tmp_path):
        (tmp_path / "reports.parquet").unlink(missing_ok=True)
        with pytest.raises(ValueError, match="path must be or hold"):
            tally(path, 2)
