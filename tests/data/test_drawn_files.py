"""A drawn table is tallied as it was drawn, and one with a drawn flaw is refused in one line: nothing is misread."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ldpnb.data.files import load_counts

SEED = int(os.environ.get("LDPNB_SEED") or random.SystemRandom().randrange(2**32))
Rows = list[list[str]]


def word(chance: random.Random) -> str:
    """A text that is no number, no date and no usual code of a missing entry."""
    shapes = ("ghjk", "12kg", "0x1f", "7;;", "#DIV/0!", "1 of 3", "12.34.56", "tr\u00fce", "--5", "1e", "x" * 300)
    return chance.choice((*shapes, "".join(chance.choices("ghjkqwz", k=3))))


def replaced(text: str) -> Callable[[random.Random, Rows], None]:
    def flaw(chance: random.Random, rows: Rows) -> None:
        rows[chance.randrange(1, len(rows))][0] = text or word(chance)

    return flaw


FLAWS: dict[str, Callable[[random.Random, Rows], None]] = {
    "a field too many": lambda chance, rows: rows[chance.randrange(1, len(rows))].append(chance.choice(["", "5"])),
    "separators at the ends": lambda _, rows: [row.append("") for row in rows[1:]] and None,
    "a field too few": lambda chance, rows: rows[chance.randrange(1, len(rows))].pop() and None,
    "a text among numbers": replaced(""),
    "a number beyond the range": replaced("101"),
    "a name twice": lambda chance, rows: rows[0].__setitem__(1, chance.choice(["age", "Age", " AGE"])),
}


@pytest.mark.parametrize("flaw", ["", *FLAWS])
def test_a_drawn_table_is_tallied_as_drawn_or_refused_in_one_line(tmp_path: Path, flaw: str) -> None:
    chance, path = random.Random(SEED), tmp_path / "people.csv"
    print(f"seed {SEED}")
    for _ in range(10):
        ages = [chance.randrange(100) for _ in range(chance.randrange(2, 40))]
        rows = [["age", "pay", "sex"], *([str(age), str(chance.randrange(10**5)), chance.choice("fm")] for age in ages)]
        if flaw:
            FLAWS[flaw](chance, rows)
        separator = chance.choice(",;\t")
        path.write_text("".join(separator.join(f'"{x}"' if separator in x else x for x in row) + "\n" for row in rows))
        if not flaw:
            held = load_counts(path, "age", low=0, high=100)
            assert held.counts.tolist() == np.bincount(ages, minlength=101).tolist()
            continue
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            load_counts(path, "age", low=0, high=100)
