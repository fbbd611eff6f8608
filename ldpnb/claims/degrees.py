"""Numbers in the words of claims, and words of degree with the measure of each."""

import math
from collections.abc import Iterable
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

WORDS = MappingProxyType({"equal": 1.05, "about": 1.1, "similar": 1.25, "near": 4.0})
"""Words of degree, and the largest ratio of two quantities (errors, costs, losses) for which they hold."""


def within(word: str, one: ArrayLike, other: ArrayLike) -> bool:
    """Return whether positive quantities are everywhere ``equal``, ``about`` the same, ``similar`` or ``near``.

    >>> within("equal", 1.0, 1.04), within("equal", 1.0, 1.06), within("near", [1.0, 2.0], [3.0, 2.0])
    (True, False, True)
    """
    ratio = np.asarray(one, dtype=float) / np.asarray(other, dtype=float)
    return bool(np.all((ratio <= WORDS[word]) & (1 / ratio <= WORDS[word])))


def better(one: ArrayLike, other: ArrayLike) -> bool:
    """Return whether one error is everywhere smaller than another, and not `within` ``equal`` of it.

    >>> better(1.0, 1.06), better(1.0, 1.04)
    (True, False)
    """
    return bool(
        np.all(np.asarray(one, dtype=float) * WORDS["equal"] < np.asarray(other, dtype=float))
    )


def rounded_up(value: float, digits: int = 4) -> str:
    """Return a positive number with a few significant digits, rounded up, so that what is printed is promised as well.

    >>> rounded_up(0.557711), rounded_up(1.0), rounded_up(0.0)
    ('0.5578', '1', '0')
    """
    if not (math.isfinite(value) and value > 0):
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return f"{math.ceil(value / unit - 1e-6) * unit:.{digits}g}"


def joined(numbers: Iterable[object], form: str = ".4f") -> str:
    """Return numbers with commas between them, all in one format."""
    return ", ".join(format(number, form) for number in numbers)
