"""Numbers in the words of claims, and words of degree with the measure of each."""

import math
from collections.abc import Iterable
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

WORDS = MappingProxyType({"equal": 1.05, "about": 1.1, "similar": 1.25, "near": 4.0})
"""Words of degree, and the largest ratio of two quantities for which they hold.

The quantities are errors, costs or losses.
"""


def within(word: str, one: ArrayLike, other: ArrayLike) -> bool:
    """Return whether a word of degree holds for two positive quantities, at every entry.

    Parameters
    ----------
    word : {"equal", "about", "similar", "near"}
        The word; see `WORDS`.
    one, other : array_like
        The quantities.

    Examples
    --------
    >>> within("equal", 1.0, 1.04), within("equal", 1.0, 1.06)
    (True, False)
    >>> within("near", [1.0, 2.0], [3.0, 2.0])
    True
    """
    ratio = np.asarray(one, dtype=float) / np.asarray(other, dtype=float)
    return bool(np.all((ratio <= WORDS[word]) & (1 / ratio <= WORDS[word])))


def better(one: ArrayLike, other: ArrayLike) -> bool:
    """Return whether one error is smaller than another at every entry, by more than "equal" allows.

    Examples
    --------
    >>> better(1.0, 1.06), better(1.0, 1.04)
    (True, False)
    """
    smaller = np.asarray(one, dtype=float)
    larger = np.asarray(other, dtype=float)
    return bool(np.all(smaller * WORDS["equal"] < larger))


def rounded_up(value: float, digits: int = 4) -> str:
    """Return a positive number with a few significant digits, rounded up.

    If a quantity is at most the number, it is then also at most what is printed.

    Examples
    --------
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
