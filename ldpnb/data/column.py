"""A tallied column: how many users hold each value."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Scale = Literal["number", "date", "category"]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """How many users hold each value of an attribute, in each of some groups where there are any.

    - `name`, str: the attribute and its origin.
    - `labels`, tuple of str: the values.
    - `counts`, (k,) int, or (groups, k) int: users per value.
    - `numbers`, (k,) float: the values as numbers: for a bin, the mean of its entries (its middle if there are none or
      they are not known); for dates and categories, 0, 1, ...
    - `groups`, tuple of str: the groups, largest first; empty for a column without.
    - `missing`, `outside`, int: rows without an entry, left out; and entries outside what was stated: numbers moved to
      the nearer end of their range or left out, categories counted as "other", invalid trips left out.
    - `low`, `high`, float: the stated range of numbers, nan for others.
    - `notes`, tuple of str: remarks that readers of results must know.
    - `scale`, {"number", "date", "category"}: whether values are numbers, dates in their order, or names without one.
    - `attribute`, str: the attribute alone, as its file calls it.
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
        """Mean of the numbers, after clamping: a float, or ``(groups,)`` means."""
        return self.counts @ self.numbers / self.counts.sum(axis=-1)

    @property
    def unit_values(self) -> NDArray[np.float64]:
        """The numbers on the scale of the group mechanisms: from ``[low, high]`` to ``[-1, 1]``."""
        return 2 * (self.numbers - self.low) / (self.high - self.low) - 1

    def named(self, table: "pd.DataFrame") -> "pd.DataFrame":
        """Return a table with the values instead of their places in its column ``value``, the commonest names first."""
        places = table["value"].to_numpy()
        if self.scale != "category":
            return table.assign(value=self.numbers[places])
        named = table.assign(value=np.array(self.labels, dtype=object)[places])
        rank = np.argsort(np.argsort(-self.counts, kind="stable"), kind="stable")
        return named.iloc[np.argsort(rank[places], kind="stable")].reset_index(drop=True)

    def report(self) -> str:
        """Return in a few sentences what was read, what was left out, and what reading it revealed."""
        sizes = ", ".join(
            f"{group} {size:,}" for group, size in zip(self.groups, self.sizes, strict=False)
        )
        users = f"{self.users:,} users" + (f" ({sizes})" if sizes else "")
        left = f"{self.missing:,} without an entry were left out, {self.outside:,} lay outside what was stated."
        return " ".join((f"{self.name}: {users}, {len(self.labels):,} values; {left}", *self.notes))
