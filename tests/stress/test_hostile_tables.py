"""Damaged, hostile and large tables: each is read or refused, and nothing else happens."""

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
    made = bytearray(content)
    way = chance.choice(["cut", "change", "repeat", "insert"])
    place = chance.randrange(max(len(made), 1))

    if way == "cut":
        return bytes(made[:place])

    if way == "change":
        for _ in range(chance.choice([1, 5, 50])):
            made[chance.randrange(max(len(made), 1))] = chance.randrange(256)
        return bytes(made)

    piece = (
        made[place : place + 200]
        if way == "repeat"
        else chance.choice([b'"', b"\0", b"\xff\xfe", b"\n", b",,,,", b"\r"])
    )

    return bytes(made[:place] + piece * chance.choice([1, 30]) + made[place:])


@pytest.mark.parametrize("kind", UNTIDY)
def test_a_damaged_table_is_read_or_refused_in_little_memory(kind: str, tmp_path: Path) -> None:
    print("LDPNB_SEED =", SEED)
    chance = random.Random(f"{SEED} {kind}")
    untidy = UNTIDY[kind]
    path = tmp_path / untidy.file
    content = untidy.content

    for _ in range(ROUNDS if content else 0):
        path.write_bytes(damaged(content, chance))
        for look in (
            lambda: inspect(path),
            lambda: load_column(path, untidy.column, low=0.0, high=100.0, bins=10),
        ):
            with contextlib.suppress(ValueError):
                look()

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 * 2**20, "two gigabytes"


MEASURE = """
import re, sys
from ldpnb.data import files

users = [files.load_column(path, "x", low=0, high=100, bins=100).users for path in sys.argv[1:]]
print(*users, int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


def test_five_million_rows_take_a_gigabyte_at_most(tmp_path: Path) -> None:
    block = np.arange(500_000) % 100
    text, parquet = tmp_path / "many.csv", tmp_path / "many.parquet"
    text.write_text("x\n" + "".join(f"{i / 5e4:.5f}\n" for i in range(5_000_000)))  # all different
    pq.write_table(pa.table({"x": pa.array(np.tile(block, 10), pa.int16())}), parquet)
    command = [sys.executable, "-c", MEASURE, str(text), str(parquet)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    *users, peak = map(int, result.stdout.split())

    assert users == [5 * 10**6] * 2
    assert peak < 1200, f"{peak} MB"
