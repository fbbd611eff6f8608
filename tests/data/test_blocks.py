"""Tallies of files in blocks: the same as in memory, whatever the format and the block, in bounded memory."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ldpnb.data.blocks import tally
from ldpnb.estimators.frequency import unbiased
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding

USERS, VALUES = 5000, 7
REPORTS = KaryRandomisedResponse(1.0, VALUES).randomize(
    np.repeat(np.arange(VALUES), USERS // VALUES + 1)[:USERS], rng=np.random.default_rng(1)
)
TALLIES = np.bincount(REPORTS, minlength=VALUES)


@pytest.fixture(params=["reports.parquet", "reports.csv", "reports.csv.gz", "reports.npy", "folder"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file: Path = tmp_path / request.param
    frame = pd.DataFrame({"report": REPORTS, "other": np.arange(USERS) / 3})
    if file.name == "folder":
        file.mkdir()
        frame[:3000].to_parquet(file / "a.parquet", row_group_size=500)
        frame[3000:].to_csv(file / "b.csv", index=False)
    elif file.suffix == ".parquet":
        frame.to_parquet(file, row_group_size=1000)
    elif file.suffix == ".npy":
        np.save(file, REPORTS.astype(np.int16))
    else:
        text = frame.to_csv(index=False).encode()
        file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)
    return file


@pytest.mark.parametrize("rows", [13, 999, 5000, 10**6])
def test_tallies_do_not_depend_on_format_and_block(path: Path, rows: int) -> None:
    assert tally(path, VALUES, column="report", rows=rows).tolist() == TALLIES.tolist()


@pytest.mark.parametrize("rows", [3, 64, 10**6])
@pytest.mark.parametrize("packed", [False, True])
def test_bits_of_unary_encodings_are_summed(tmp_path: Path, rows: int, packed: bool) -> None:
    bits = UnaryEncoding.optimised(1.0, 11).randomize(np.arange(200) % 11, rng=np.random.default_rng(2))
    np.save(tmp_path / "bits.npy", np.packbits(bits, axis=1) if packed else bits)
    tallies = tally(tmp_path / "bits.npy", 11, packed=packed, rows=rows)
    assert tallies.tolist() == bits.sum(axis=0).tolist()


def test_an_estimate_from_a_file_is_that_from_memory(tmp_path: Path) -> None:
    np.save(tmp_path / "reports.npy", REPORTS)
    mechanism = KaryRandomisedResponse(1.0, VALUES)
    estimate = unbiased(tally(tmp_path / "reports.npy", VALUES, rows=100), USERS, mechanism)
    assert estimate.tolist() == unbiased(TALLIES, USERS, mechanism).tolist()


def test_memory_depends_on_the_block_and_not_on_the_users(tmp_path: Path) -> None:
    """The peak above a small file's is a few blocks, though the large one is 40 MB in memory."""
    script = (
        "import resource, sys\n"
        "from ldpnb.data.blocks import tally\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "tally(sys.argv[1], 7, rows=2**14); before = peak()\n"
        "print(tally(sys.argv[2], 7, rows=2**14).sum(), peak() - before)\n"
    )
    many = np.resize(REPORTS, 5_000_000)
    for suffix in (".npy", ".parquet"):
        small, large = tmp_path / f"small{suffix}", tmp_path / f"large{suffix}"
        if suffix == ".npy":
            np.save(small, REPORTS)
            np.save(large, many)
        else:
            pd.DataFrame({"report": REPORTS}).to_parquet(small)
            pd.DataFrame({"report": many}).to_parquet(large)
        command = [sys.executable, "-c", script, str(small), str(large)]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        users, grown = map(int, result.stdout.split())
        assert users == many.size
        assert grown < 12, f"{suffix}: {grown} MB"


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (np.array([0, 1, 9, 1]), {}, r"reports must lie in 0 \.\. 2, got 9 in row 2 of"),
        (np.array([0, -1]), {}, "got -1 in row 1 of"),
        (np.array([0.5]), {}, "integers in rows, got float64"),
        (np.zeros((2, 4), dtype=np.uint8), {}, "bits must have 3 columns"),
        (np.array([[0, 1, 1], [0, 2, 0]]), {}, r"bits must be 0 or 1, got \[0, 2, 0\] in row 1"),
        (np.zeros((2, 3), dtype=np.uint8, order="F"), {}, "columns first"),
        (np.array([0]), {"rows": 0}, "rows must be an integer >= 1"),
    ],
)
def test_wrong_arrays_are_refused_with_their_row(tmp_path: Path, content, arguments, message: str) -> None:
    np.save(tmp_path / "reports.npy", content)
    with pytest.raises(ValueError, match=message):
        tally(tmp_path / "reports.npy", 3, **{"rows": 1, **arguments})


def test_wrong_tables_and_paths_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"report": [0, 1], "gap": [0, None], "text": ["a", "b"]})
    frame.astype({"gap": "Int64"}).to_parquet(tmp_path / "reports.parquet")
    for column, message in {"gap": "1 gaps", "text": "must be integers", "missing": "must be one of"}.items():
        with pytest.raises(ValueError, match=message):
            tally(tmp_path / "reports.parquet", 2, column=column)
    with pytest.raises(ValueError, match=r"column must be one of report, gap, text .*, got column=None"):
        tally(tmp_path / "reports.parquet", 2)
    for path in (tmp_path / "nothing.npy", tmp_path / "reports.txt", Path(__file__).parents[1] / "reference" / "none"):
        with pytest.raises(ValueError, match="path must be or hold"):
            tally(path, 2)
