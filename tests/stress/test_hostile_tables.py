"""Damaged and hostile tables: each is read or refused, and nothing else happens."""

import contextlib
import os
import random
from pathlib import Path

import pytest
from dirty import KINDS

from ldpnb.data.files import load_counts
from ldpnb.data.inspection import inspect

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


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_table_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED} {kind}")
    dirty = KINDS[kind]
    path = dirty.write(tmp_path)
    content = path.read_bytes()
    for _ in range(ROUNDS if content else 0):
        path.write_bytes(damaged(content, chance))
        for look in (lambda: inspect(path), lambda: load_counts(path, dirty.column, low=0.0, high=100.0, bins=10)):
            with contextlib.suppress(ValueError):
                look()


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match="data must be a file"):
        load_counts(tmp_path / "pipe.csv", "a")
