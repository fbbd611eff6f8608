"""Damaged, hostile and large tables are read or refused, in little memory."""

import contextlib
import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldpnb.data.files import load_column
from ldpnb.data.inspection import inspect

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from untidy import UNTIDY

pytestmark = pytest.mark.nightly

ROUNDS = int(os.environ.get("LDPNB_ROUNDS", "20"))
SEED = int(os.environ.get("LDPNB_SEED") or random.SystemRandom().randrange(2**32))


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Cut a file off, change some of its bytes, or put a part of it in another place."""
    way = chance.choice(["cut", "change", "repeat", "insert"])
    place = chance.randrange(len(content))

    if way == "cut":
        return content[:place]

    if way == "change":
        made = bytearray(content)
        for _ in range(chance.choice([1, 5, 50])):
            made[chance.randrange(len(made))] = chance.randrange(256)
        return bytes(made)

    if way == "repeat":
        piece = content[place : place + 200]
    else:
        piece = chance.choice([b'"', b"\0", b"\xff\xfe", b"\n", b",,,,", b"\r"])
    return content[:place] + piece * chance.choice([1, 30]) + content[place:]


@pytest.mark.parametrize("kind", UNTIDY)
def test_a_damaged_table_is_read_or_refused_in_little_memory(kind: str, tmp_path: Path) -> None:
    print("LDPNB_SEED =", SEED)
    chance = random.Random(f"{SEED} {kind}")
    untidy = UNTIDY[kind]
    path = tmp_path / untidy.file

    for _ in range(ROUNDS if untidy.content else 0):
        path.write_bytes(damaged(untidy.content, chance))
        with contextlib.suppress(ValueError):
            inspect(path)
        with contextlib.suppress(ValueError):
            load_column(path, untidy.column, low=0.0, high=100.0, bins=10)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 * 2**20, "two gigabytes"


MEASURE = """
import re, sys
from ldpnb.data import files

for path in sys.argv[1:]:
    print(files.load_column(path, "x", low=0, high=100, bins=100).users)

status = open("/proc/self/status").read()
print(int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) // 1024)
"""
"""Print the users in each file, and the largest memory that this took, in MB."""


def test_five_million_rows_take_a_gigabyte_at_most(tmp_path: Path) -> None:
    rows = 5_000_000

    all_different = tmp_path / "many.csv"
    all_different.write_text("x\n" + "".join(f"{row / 5e4:.5f}\n" for row in range(rows)))

    a_hundred_values = tmp_path / "many.parquet"
    column = pa.array(np.arange(rows) % 100, pa.int16())
    pq.write_table(pa.table({"x": column}), a_hundred_values)

    command = [sys.executable, "-c", MEASURE, str(all_different), str(a_hundred_values)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    first, second, peak = map(int, result.stdout.split())

    assert first == rows
    assert second == rows
    assert peak < 1200, f"{peak} MB"
