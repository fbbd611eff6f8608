"""A tallied column: how many users hold each value."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb.checks import shown

Scale = Literal["number", "category"]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """How many users hold each value of an attribute.

    Parameters
    ----------
    name : str
        The attribute and its origin.
    labels : tuple of str
        The values, k of them.
    counts : ndarray of int, shape (k,)
        Number of users who hold each value.
    numbers : ndarray, shape (k,)
        The values as numbers: of a bin, the mean of its entries, or its middle if there are none
        or they are not known; of categories, 0, 1, ...
    missing : int
        Users without an entry, who are left out.
    outside : int
        Entries outside what was stated: numbers moved to the nearer end of their range, categories
        counted as "other", invalid trips left out. `notes` says which.
    low, high : float
        The stated range of numbers, nan for categories.
    notes : tuple of str
        Remarks that readers of results must know.
    scale : {"number", "category"}
        Whether the values are numbers or names without an order.

    Examples
    --------
    Three of four users smoke, and one left the question out.

    >>> smokes = Column("smokes", ("no", "yes"), np.array([1, 3]), np.array([0.0, 1.0]), missing=1)
    >>> smokes.users, smokes.mean
    (4, 0.75)
    """

    name: str
    labels: tuple[str, ...]
    counts: NDArray[np.int64]
    numbers: NDArray[np.float64]
    missing: int = 0
    outside: int = 0
    low: float = float("nan")
    high: float = float("nan")
    notes: tuple[str, ...] = ()
    scale: Scale = "number"

    @property
    def users(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Mean of the numbers."""
        return float(self.counts @ self.numbers / self.counts.sum())

    def report(self) -> str:
        """Return in a few sentences what was read, left out and moved, and what that revealed.

        Names from a file are escaped where they could act on a terminal.
        """
        sentences = [
            f"{shown(self.name)}: {self.users:,} users, {len(self.labels):,} values.",
            f"Users without an entry, who are left out: {self.missing:,}.",
            *self.notes,
        ]
        return " ".join(sentences)
