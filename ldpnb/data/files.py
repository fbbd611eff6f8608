"""A column of the user's own table, tallied: categories, whole numbers, or real numbers in stated bins.

Use `load_counts` for one column and `load_groups` for a number together with a group. Both read CSV, TSV, Parquet, JSON
lines and Excel, in pieces, in memory that does not grow with the number of rows. An empty path means the source's own
population and gives None.

The range of a number is never taken from the data: it would reveal the smallest and the largest value, and a client has
to know it before it can answer. The same holds for categories, which may be stated too; those that merely occur are
taken with a word of warning.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.data import tables

Kind = Literal["auto", "category", "integer", "real"]

KINDS = ("auto", "category", "integer", "real")
MOST_CATEGORIES = 10**6
"""An entry that differs in more rows than this is no category."""
MOST_VALUES, MOST_GROUPS = 10**7, 100

_OTHER = "other"


@dataclass(frozen=True, slots=True)
class Column:
    """How many users hold each value of a column.

    Parameters
    ----------
    name : str
        The column and its file.
    labels : tuple of str
        The values.
    counts : (k,) int
        Users per value.
    numbers : (k,) float
        The values as numbers: of a bin, the mean of its entries (its middle if there are none); of categories, 0, 1,
        ...
    missing : int
        Rows without an entry, left out.
    clipped : int
        Numbers outside the stated range, moved to its nearer end; categories not stated, counted as "other".
    occurring : bool
        Whether the categories are those that occur.
    low, high : float
        The stated range of numbers, nan for categories.
    """

    name: str
    labels: tuple[str, ...]
    counts: NDArray[np.int64]
    numbers: NDArray[np.float64]
    missing: int = 0
    clipped: int = 0
    occurring: bool = False
    low: float = float("nan")
    high: float = float("nan")

    @property
    def users(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Mean of the numbers, after clipping."""
        return float(self.counts @ self.numbers / self.users)

    def report(self) -> str:
        """Return in a sentence or two what was read, what was left out, and what reading it gave away."""
        return _report(self.name, f"{self.users:,} users, {self.counts.size:,} values", self)


@dataclass(frozen=True, slots=True)
class GroupedColumn:
    """How many users of each group hold each value of a column.

    Parameters
    ----------
    name : str
    groups : tuple of str
        The groups, largest first unless they were stated.
    labels : tuple of str
    counts : (d, m) int
        Users per group and value.
    numbers : (m,) float
        The values as numbers.
    missing : int
        Rows without a value or a group, left out.
    clipped : int
        Numbers outside the stated range, moved to its nearer end.
    occurring : bool
        Whether the groups are those that occur.
    low, high : float
        The stated range.
    """

    name: str
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    counts: NDArray[np.int64]
    numbers: NDArray[np.float64]
    missing: int = 0
    clipped: int = 0
    occurring: bool = False
    low: float = float("nan")
    high: float = float("nan")

    @property
    def users(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    @property
    def sizes(self) -> tuple[int, ...]:
        """Users of each group."""
        return tuple(int(size) for size in self.counts.sum(axis=1))

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean of the numbers in each group, after clipping."""
        means: NDArray[np.float64] = self.counts @ self.numbers / self.counts.sum(axis=1)
        return means

    @property
    def unit_values(self) -> NDArray[np.float64]:
        """The numbers on the scale of the group mechanisms: from ``[low, high]`` to ``[-1, 1]``."""
        return 2 * (self.numbers - self.low) / (self.high - self.low) - 1

    def report(self) -> str:
        """Return in a sentence or two what was read, what was left out, and what reading it gave away."""
        groups = ", ".join(f"{group} {size:,}" for group, size in zip(self.groups, self.sizes, strict=True))
        return _report(self.name, f"{self.users:,} users ({groups}), {self.numbers.size:,} values", self)


def load_counts(
    data: str | Path,
    column: str,
    *,
    kind: Kind = "auto",
    low: float | None = None,
    high: float | None = None,
    bins: int = 0,
    categories: Sequence[str] = (),
    report: bool = False,
) -> Column | None:
    """Tally a column of a table.

    Parameters
    ----------
    data : str or Path
        ``.csv``, ``.tsv`` (compressed or not), ``.parquet``, ``.jsonl`` or ``.ndjson``, ``.xlsx``; ``""`` gives None.
    column : str
        Its name, also empty without a file; case and surrounding blanks do not matter.
    kind : {"auto", "category", "integer", "real"}
        *auto* takes text for categories and numbers for whole ones unless `bins` are stated.
    low, high : float, optional
        Range of a number, needed for all numbers. What lies outside is clipped. Both None (or equal) is not stated.
    bins : int
        Number of bins of equal width between `low` and `high`, for real numbers.
    categories : sequence of str
        The categories; with ``"other"`` among them, entries that are not count as that.
    report : bool
        Whether to print `Column.report`.

    Returns
    -------
    Column or None

    Raises
    ------
    ValueError
        For an unstated range, a column that is not there or not of that kind, or a file that cannot be read.

    Examples
    --------
    >>> load_counts("", "") is None
    True
    """
    if not str(data):
        _require_no_column(column)
        return None
    reader = _reader(data, column, kind, low, high, bins, categories)
    wanted: Any = {"numbers" if isinstance(reader, _Numbers) else "texts": (column,)}
    for (part,) in tables.parts(reader.path, **wanted):
        reader.add(part)
    found = reader.column(f"{column} of {reader.path.name}")
    if report:
        print(found.report())
    return found


def load_groups(
    data: str | Path,
    column: str,
    group: str = "",
    *,
    low: float | None = None,
    high: float | None = None,
    bins: int = 0,
    groups: Sequence[str] = (),
    report: bool = False,
) -> GroupedColumn | None:
    """Tally a number together with a group.

    Parameters
    ----------
    data, column, low, high, bins
        As for `load_counts`; the column must hold numbers.
    group : str
        The column with the group; without it `column` names both, separated by a comma, such as "pay,sex".
    groups : sequence of str
        The groups, in the order in which they are wanted; without them those that occur, largest first.
    report : bool
        Whether to print `GroupedColumn.report`.

    Returns
    -------
    GroupedColumn or None
        None for an empty path.
    """
    if not str(data):
        _require_no_column(column or group)
        return None
    if not group:
        column, comma, group = column.partition(",")
        if not comma:
            raise ValueError(f"column must name a number and a group, such as 'pay,sex', got column={column!r}")
    reader = _reader(data, column, "real" if bins else "integer", low, high, bins, ())
    assert isinstance(reader, _Numbers)
    members: dict[str, _Numbers] = {name: _blank(reader) for name in groups}
    missing, stated = 0, bool(groups)
    for numbers, names in tables.parts(reader.path, numbers=(column,), texts=(group,)):
        known = numbers.notna() & names.notna()
        missing += int((~known).sum())
        for name, rows in numbers[known].groupby(names[known].astype(str), sort=True):
            key = str(name).strip()
            if stated and key not in members and _OTHER not in members:
                raise ValueError(f"groups must name every group or hold 'other', got {key!r} in {reader.path}")
            member = members.setdefault(key if key in members or not stated else _OTHER, _blank(reader))
            member.add(rows)
        if len(members) > MOST_GROUPS:
            raise ValueError(f"{reader.path}: column {group} has more than {MOST_GROUPS:,} groups")
    order = list(groups) or sorted(members, key=lambda name: (-int(members[name].counts.sum()), name))
    empty = [name for name in order if not members[name].counts.any()]
    if len(order) < 2 or empty:
        raise ValueError(f"{reader.path}: column {group} must have users in two groups or more, got {order}")
    counts, sums = (np.array([getattr(members[name], part) for name in order]) for part in ("counts", "sums"))
    total = _blank(reader)
    total.counts, total.sums = counts.sum(axis=0), sums.sum(axis=0)
    clipped = sum(member.clipped for member in members.values())
    labels, means = total.labels(), total.numbers()
    name = f"{column} by {group} of {reader.path.name}"
    found = GroupedColumn(
        name, tuple(order), labels, counts, means, missing, clipped, not stated, reader.low, reader.high
    )
    if report:
        print(found.report())
    return found


@dataclass(slots=True)
class _Numbers:
    """Tallies numbers in a stated range: whole ones each, real ones in bins."""

    path: Path
    name: str
    low: float
    high: float
    bins: int
    counts: NDArray[np.int64] = field(init=False)
    sums: NDArray[np.float64] = field(init=False)
    missing: int = 0
    clipped: int = 0

    def __post_init__(self) -> None:
        size = self.bins or round(self.high - self.low) + 1
        if size > MOST_VALUES:
            raise ValueError(
                f"values must be at most {MOST_VALUES:,}, got {size:,} from low={self.low:g} to high={self.high:g}"
            )
        self.counts, self.sums = np.zeros(size, dtype=np.int64), np.zeros(size)

    def add(self, part: Any) -> None:
        entries = part.to_numpy(dtype=float, na_value=np.nan)
        known = entries[~np.isnan(entries)]
        self.missing += entries.size - known.size
        inside = np.clip(known, self.low, self.high)
        self.clipped += int((inside != known).sum())
        if self.bins:
            width = (self.high - self.low) / self.bins
            index = np.minimum(((inside - self.low) / width).astype(np.int64), self.bins - 1)
        else:
            index = np.round(inside - self.low).astype(np.int64)
            broken = np.flatnonzero(known[known == inside] != np.floor(known[known == inside]))
            if broken.size:
                entry = known[known == inside][broken[0]]
                raise ValueError(
                    f"{self.path}: column {self.name} must hold whole numbers, got {entry:g}; state bins for real numbers"
                )
        self.counts += np.bincount(index, minlength=self.counts.size)
        self.sums += np.bincount(index, inside, minlength=self.sums.size)

    def numbers(self) -> NDArray[np.float64]:
        if not self.bins:
            return self.low + np.arange(self.counts.size, dtype=float)
        edges = np.linspace(self.low, self.high, self.bins + 1)
        means = np.where(self.counts > 0, self.sums / np.maximum(self.counts, 1), (edges[:-1] + edges[1:]) / 2)
        return np.clip(means, self.low, self.high)

    def labels(self) -> tuple[str, ...]:
        if not self.bins:
            return tuple(f"{self.low + i:.0f}" for i in range(self.counts.size))
        edges = np.linspace(self.low, self.high, self.bins + 1)
        return tuple(f"{left:.6g} to {right:.6g}" for left, right in pairwise(edges))

    def column(self, name: str) -> Column:
        _some(self.counts, self.path, self.name)
        return Column(
            name, self.labels(), self.counts, self.numbers(), self.missing, self.clipped, False, self.low, self.high
        )


@dataclass(slots=True)
class _Categories:
    """Tallies categories, stated or as they occur."""

    path: Path
    name: str
    stated: tuple[str, ...]
    tally: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    clipped: int = 0

    def add(self, part: Any) -> None:
        known = part.dropna()
        self.missing += len(part) - len(known)
        try:
            entries = known.value_counts(sort=False)
        except TypeError:
            raise ValueError(f"{self.path}: column {self.name} must hold plain values, got lists or objects") from None
        for entry, count in entries.items():
            label = str(entry).strip()
            if len(label) > tables.LONGEST_TEXT:
                raise tables.too_long(self.path, self.name, len(label))
            if self.stated and label not in self.stated:
                if _OTHER not in self.stated:
                    raise ValueError(
                        f"{self.path}: {label!r} of column {self.name} is not among the stated categories; add it, or 'other'"
                    )
                label, self.clipped = _OTHER, self.clipped + int(count)
            self.tally[label] += int(count)
        if len(self.tally) > MOST_CATEGORIES:
            raise ValueError(
                f"{self.path}: column {self.name} has more than {MOST_CATEGORIES:,} different entries; is it an identifier?"
            )

    def column(self, name: str) -> Column:
        labels = self.stated or tuple(sorted(self.tally))
        counts = np.array([self.tally[label] for label in labels], dtype=np.int64)
        _some(counts, self.path, self.name)
        if len(labels) < 2:
            raise ValueError(f"{self.path}: column {self.name} must have two values or more, got {labels[0]!r} only")
        places = np.arange(len(labels), dtype=float)
        return Column(name, labels, counts, places, self.missing, self.clipped, not self.stated)


def _reader(
    data: str | Path,
    column: str,
    kind: str,
    low: float | None,
    high: float | None,
    bins: int,
    categories: Sequence[str],
) -> _Numbers | _Categories:
    """Return what tallies the column, after checking that what must be known beforehand was stated."""
    path = tables.locate(data)
    checks.choice(kind=kind, among=KINDS)
    checks.whole(bins=bins)
    if kind == "auto":
        kind = ("real" if bins else "integer") if not categories and tables.holds_numbers(path, column) else "category"
    if kind == "category":
        return _Categories(path, column, tuple(str(c).strip() for c in categories))
    if low is None or high is None or low == high:
        if not tables.holds_numbers(path, column):
            raise ValueError(f"{path}: column {column} must hold numbers, got text")
        raise ValueError(
            f"low and high must be stated for numbers, such as low=0 and high=120, got none for column {column}: taken from the data they would "
            "reveal its smallest and largest entry (in Python, kind='category' takes numbers as mere names)"
        )
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"low must be < high, both finite, got low={low!r}, high={high!r}")
    if kind == "real" and not bins:
        raise ValueError(f"bins must be stated for real numbers, such as bins=100, got bins={bins!r}")
    if kind == "integer" and bins:
        raise ValueError(f"bins are for real numbers, got kind=integer and bins={bins!r}")
    if kind == "integer" and (low != int(low) or high != int(high)):
        raise ValueError(f"low and high must be whole for whole numbers, got low={low!r}, high={high!r}")
    return _Numbers(path, column, float(low), float(high), bins)


def _require_no_column(column: str) -> None:
    """Refuse a column without a file: whoever names one means a file of their own."""
    if column:
        raise ValueError(f"data must name the file that column {column!r} is in, got data=''")


def _blank(reader: _Numbers) -> _Numbers:
    return _Numbers(reader.path, reader.name, reader.low, reader.high, reader.bins)


def _some(counts: NDArray[np.int64], path: Path, column: str) -> None:
    if not counts.any():
        raise ValueError(f"{path}: column {column} has no entries")


def _report(name: str, what: str, column: Column | GroupedColumn) -> str:
    left = f"{column.missing:,} without an entry were left out, {column.clipped:,} lay outside what was stated"
    domain = (
        " What occurs was taken for what may occur, which gives it away; state it to avoid that."
        if column.occurring
        else ""
    )
    return f"{name}: {what}; {left}.{domain}"
