"""A tallied column: how many users hold each value."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb.checks import shown

if TYPE_CHECKING:
    import pandas as pd

Scale = Literal["number", "category"]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """How many users hold each value of an attribute, in each of some groups where there are any.

    Parameters
    ----------
    name : str
        The attribute and its origin.
    labels : tuple of str
        The values, k of them.
    counts : (k,) or (groups, k) array of int
        Users per value.
    numbers : (k,) array of float
        The values as numbers: of a bin, the mean of its entries, or its middle if there are none
        or they are not known; of categories, 0, 1, ...
    groups : tuple of str
        The groups, largest first; empty for a column without.
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
    attribute : str
        The attribute alone, as its file calls it.
    """

    name: str
    labels: tuple[str, ...]
    counts: NDArray[np.int64]
    numbers: NDArray[np.float64]
    groups: tuple[str, ...] = ()
    missing: int = 0
    outside: int = 0
    low: float = float("nan")
    high: float = float("nan")
    notes: tuple[str, ...] = ()
    scale: Scale = "number"
    attribute: str = "value"

    @property
    def users(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    @property
    def sizes(self) -> tuple[int, ...]:
        """Users of each group."""
        return tuple(int(size) for size in np.atleast_2d(self.counts).sum(axis=1))

    @property
    def mean(self) -> Any:
        """Mean of the numbers: a float, or ``(groups,)`` means."""
        return self.counts @ self.numbers / self.counts.sum(axis=-1)

    @property
    def unit_values(self) -> NDArray[np.float64]:
        """The numbers on the scale of the group mechanisms: from ``[low, high]`` to ``[-1, 1]``."""
        return 2 * (self.numbers - self.low) / (self.high - self.low) - 1

    def named(self, table: "pd.DataFrame") -> "pd.DataFrame":
        """Return a table whose column ``value`` has the values instead of their places.

        Names are ordered by their users, the commonest first.
        """
        places = table["value"].to_numpy()
        if self.scale == "number":
            return table.assign(value=self.numbers[places])

        made = table.assign(value=np.array(self.labels, dtype=object)[places])
        rank = np.argsort(np.argsort(-self.counts, kind="stable"), kind="stable")
        return made.iloc[np.argsort(rank[places], kind="stable")].reset_index(drop=True)

    def report(self) -> str:
        """Return in a few sentences what was read, left out and moved, and what that revealed.

        Names from a file are escaped where they could act on a terminal.
        """
        sizes = [
            f"{shown(group)} {size:,}" for group, size in zip(self.groups, self.sizes, strict=False)
        ]
        by_group = f" ({', '.join(sizes)})" if sizes else ""
        sentences = [
            f"{shown(self.name)}: {self.users:,} users{by_group}, {len(self.labels):,} values.",
            f"{self.missing:,} without an entry were left out.",
            *self.notes,
        ]
        return " ".join(sentences)
