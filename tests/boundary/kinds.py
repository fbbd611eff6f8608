"""Kinds of arguments and the hostile values of each: the one table from which all boundary tests are made."""

import random
from typing import Any

import numpy as np

NUMBERS = [np.nan, np.inf, -np.inf, -0.0, 0, -1, 1e-320, 1e-300, 1e-9, 0.5, 1, 2.5, 74.0, 300.0, 800.0]
NUMBERS += [1e9, 1e15, 2**53 + 1, 2**63, 1e308, 10**30, 10**400, np.float32(0.5), np.int64(3)]
WRONG_TYPES = [None, True, "1", "", b"1", 1j, [1], {}, object, lambda: 1]
NAMES = ["", "x", "a\nb", "\u0455", "\udcff", "=1+1", "\0", "../../x", "x" * 100_000, "$(touch pwned)", "\u202ex"]
LISTS = [[], [0.5], [1.0], [0.5, 0.5], [0.2] * 5, [1, 1, 1, 1], [np.nan] * 4, [np.inf] * 4, [-1] * 4, [0] * 4]
LISTS += [[1e-320] * 4, [1e308] * 4, [10**30] * 4, [[1], [1, 2]], [[0.5, 0.5]] * 2, [[]], ["a"] * 4, [None] * 4]
LISTS += [[-1, 2], [0, 10**30], [10**400, 0]]
LISTS += [np.zeros((0, 2)), np.ones((2, 2, 2)), np.array("text"), np.array([1, "b"], dtype=object)]

HOSTILE = {
    "number": NUMBERS + WRONG_TYPES + [[], [1, 2]],
    "list": [*LISTS, -1, np.nan, 1e308, 10**30, *WRONG_TYPES],
    "name": [*NAMES, None, 1, 1.5, [], b"x", True],
}
"""By kind, for arguments in Python; a mechanism, a law or a generator is whatever behaves like one."""

TEXTS = {
    "number": ["nan", "inf", "-inf", "-0", "0", "-1", "1e-320", "1e-9", "1", "2.5", "74", "300", "1e15", "1e30"],
    "list": ["[]", "[1]", "[0.5]", "[1, 1]", "[0, 0]", "[1, 2, 3, 4, 5, 6, 7]", "[1e-9]", "[1e30, 1]", "[-1, 2]"],
    "name": ["", "x", "a b", "\u0455", "=1+1", "../../x", "x" * 5000, "$(touch pwned)", "two\nlines"],
    "grid": ["", ":", "1:2", "2:1:3", "1:2:1", "nan:1:3", "0:1:3:log", "1:2:100000000", "1,1,1", ",", "a", "1e308:inf:3"],
}  # fmt: skip
TEXTS["number"] += ["1e308", "1" + "0" * 400, "", "x", "0x10", "1,5", "1_0", "\u0661", "True", "nan,1"]
TEXTS["list"] += ["[1000]", "[1e308, 1e308]", "[nan]", "1", "", "(1, 2)", "['a']", "[[1]]", "[1, 1, 1", "[1e-320]"]
"""By kind, for words on the command line."""


def new(chance: random.Random) -> dict[str, list[Any]]:
    """Return values of each kind that no run had before."""

    def number() -> float:
        return chance.choice((-1, 1)) * 10 ** chance.uniform(-320, 308)

    letters = [chr(chance.choice((chance.randrange(32, 127), chance.randrange(0xD800)))) for _ in range(8)]
    lists = [[chance.choice((number(), *NUMBERS)) for _ in range(chance.randrange(6))] for _ in range(3)]
    return {"number": [number(), number()], "list": lists, "name": ["".join(letters)]}


def words(chance: random.Random) -> dict[str, list[str]]:
    """Return hostile words of each kind, some of them new."""
    drawn = new(chance)
    written = {"number": drawn["number"], "list": drawn["list"][:1], "grid": [f"{n}:{n}:3" for n in drawn["number"]]}
    return {kind: texts + [str(value) for value in written.get(kind, ())] for kind, texts in TEXTS.items()}


def shown(value: object) -> str:
    """Return a value for a message of a test."""
    return repr(value).replace("\n", " ")[:60]
