"""A column of the user's own table, tallied: categories, whole numbers, or real numbers in stated bins.

Use `load_counts` for one column and `load_groups` for a number together with a group. Both read every format of
`ldpnb.data.tables` in pieces, in memory that does not grow with the number of rows. An empty path means the source's
own population and gives None.

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
from ldpnb.data.column import Column
from ldpnb.data.tables import Table, locate

Kind = Literal["auto", "category", "integer", "real"]

KINDS = ("auto", "category", "integer", "real")
MOST_CATEGORIES = 10**6
"""An entry that differs in more rows than this is no category."""
MOST_VALUES, MOST_GROUPS = 10**7, 100

_OTHER = "other"
_OCCURRING = "What occurs was taken for what may occur, which gives it away; state it to avoid that."


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
        ``.csv``, ``.tsv`` (packed or not), ``.parquet``, ``.jsonl`` or ``.ndjson``, ``.xlsx``, ``.npy``; ``""`` gives
        None.
    column : str
        Its name, empty without a file and where a table has one column only; case and surrounding blanks do not matter.
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
    tally = _tally(Table(locate(data)), column, kind, low, high, bins, categories)
    for (part,) in tally.table.parts(**{"numbers" if isinstance(tally, _Numbers) else "texts": (column,)}):
        tally.add(part)
    return _told(tally.column(), report)


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
) -> Column | None:
    """Tally a number together with a group.

    Parameters
    ----------
    data, column, low, high, bins, report
        As for `load_counts`; the column must hold numbers.
    group : str
        The column with the group; without it `column` names both, separated by a comma, such as "pay,sex".
    groups : sequence of str
        The groups, in the order in which they are wanted; without them those that occur, largest first.
    """
    if not str(data):
        _require_no_column(column or group)
        return None
    column, group = _pair(column, group)
    table = Table(locate(data))
    whole = _numbers(table, column, "real" if bins else "integer", low, high, bins)
    members = {name: whole.empty() for name in groups}
    for numbers, names in table.parts(numbers=(column,), texts=(group,)):
        known = numbers.notna() & names.notna()
        whole.missing += int((~known).sum())
        for name, entries in numbers[known].groupby(names[known].astype(str).str.strip()):
            key = str(name) if str(name) in members or not groups else _OTHER
            if groups and key not in members:
                raise ValueError(f"groups must name every group or hold 'other', got {name!r} in {table.path}")
            members.setdefault(key, whole.empty()).add(entries)
        if len(members) > MOST_GROUPS:
            raise ValueError(f"{table.path}: column {group} has more than {MOST_GROUPS:,} groups")
    order = list(groups) or sorted(members, key=lambda name: (-int(members[name].counts.sum()), name))
    if len(order) < 2 or not all(members[name].counts.any() for name in order):
        raise ValueError(f"{table.path}: column {group} must have users in two groups or more, got {order}")
    counts = np.array([members[name].counts for name in order])
    whole.counts, whole.sums = counts.sum(axis=0), sum(member.sums for member in members.values())
    whole.outside = sum(member.outside for member in members.values())
    notes = () if groups else (_OCCURRING,)
    return _told(whole.column(f"{column} by {group}", counts=counts, groups=tuple(order), notes=notes), report)


@dataclass(slots=True)
class _Numbers:
    """Tallies numbers in a stated range: whole ones each, real ones in bins."""

    table: Table
    name: str
    low: float
    high: float
    bins: int
    counts: NDArray[np.int64] = field(init=False)
    sums: Any = field(init=False)
    missing: int = 0
    outside: int = 0

    def __post_init__(self) -> None:
        size = self.bins or round(self.high - self.low) + 1
        if size > MOST_VALUES:
            span = f"from low={self.low:g} to high={self.high:g}"
            raise ValueError(f"values must be at most {MOST_VALUES:,}, got {size:,} {span}")
        self.counts, self.sums = np.zeros(size, dtype=np.int64), np.zeros(size)

    def empty(self) -> "_Numbers":
        """Return another of the same range with nothing in it."""
        return _Numbers(self.table, self.name, self.low, self.high, self.bins)

    def add(self, part: Any) -> None:
        known = part.dropna().to_numpy(dtype=float)
        self.missing += len(part) - known.size
        inside = np.clip(known, self.low, self.high)
        self.outside += int((inside != known).sum())
        if self.bins:
            width = (self.high - self.low) / self.bins
            index = np.minimum(((inside - self.low) / width).astype(np.int64), self.bins - 1)
        else:
            broken = inside[inside != np.floor(inside)]
            if broken.size:
                rule = f"must hold whole numbers, got {broken[0]:g}; state bins for real numbers"
                raise ValueError(f"{self.table.path}: column {self.name} {rule}")
            index = (inside - self.low).astype(np.int64)
        self.counts += np.bincount(index, minlength=self.counts.size)
        self.sums += np.bincount(index, inside, minlength=self.sums.size)

    def column(self, name: str = "", counts: NDArray[np.int64] | None = None, **more: Any) -> Column:
        """Return the tally so far, by group where there are counts by group."""
        if self.bins:
            edges = np.linspace(self.low, self.high, self.bins + 1)
            labels = tuple(f"{left:.6g} to {right:.6g}" for left, right in pairwise(edges))
            means = np.where(self.counts > 0, self.sums / np.maximum(self.counts, 1), (edges[:-1] + edges[1:]) / 2)
            numbers = np.clip(means, self.low, self.high)
        else:
            numbers = self.low + np.arange(self.counts.size, dtype=float)
            labels = tuple(f"{number:.0f}" for number in numbers)
        about = more | {"missing": self.missing, "outside": self.outside, "low": self.low, "high": self.high}
        return _column(self.table, name or self.name, labels, self.counts if counts is None else counts, numbers, about)


@dataclass(slots=True)
class _Categories:
    """Tallies categories, stated or as they occur."""

    table: Table
    name: str
    stated: tuple[str, ...]
    counts: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    outside: int = 0

    def add(self, part: Any) -> None:
        where = f"{self.table.path}: column {self.name}"
        known = part.dropna()
        self.missing += len(part) - len(known)
        try:
            entries = known.value_counts(sort=False)
        except TypeError:
            raise ValueError(f"{where} must hold plain values, got lists or objects") from None
        for entry, count in entries.items():
            label = str(entry).strip()
            if self.stated and label not in self.stated:
                if _OTHER not in self.stated:
                    rule = "is not among the stated categories; add it, or 'other'"
                    raise ValueError(f"{self.table.path}: {label!r} of column {self.name} {rule}")
                label, self.outside = _OTHER, self.outside + int(count)
            self.counts[label] += int(count)
        if len(self.counts) > MOST_CATEGORIES:
            raise ValueError(f"{where} has more than {MOST_CATEGORIES:,} different entries; is it an identifier?")

    def column(self) -> Column:
        labels = self.stated or tuple(sorted(self.counts))
        if len(labels) == 1:
            rule = f"must have two values or more, got {labels[0]!r} only"
            raise ValueError(f"{self.table.path}: column {self.name} {rule}")
        counts = np.array([self.counts[label] for label in labels], dtype=np.int64)
        about = {"missing": self.missing, "outside": self.outside, "notes": () if self.stated else (_OCCURRING,)}
        return _column(self.table, self.name, labels, counts, np.arange(counts.size, dtype=float), about)


def _tally(
    table: Table,
    column: str,
    kind: str,
    low: float | None,
    high: float | None,
    bins: int,
    categories: Sequence[str],
) -> _Numbers | _Categories:
    """Return what tallies the column."""
    checks.choice(kind=kind, among=KINDS)
    if kind == "auto":
        kind = ("real" if bins else "integer") if not categories and table.holds_numbers(column) else "category"
    if kind == "category":
        return _Categories(table, column, tuple(str(c).strip() for c in categories))
    return _numbers(table, column, kind, low, high, bins)


def _numbers(table: Table, column: str, kind: str, low: float | None, high: float | None, bins: int) -> _Numbers:
    """Return what tallies numbers, after checking that what must be known beforehand was stated."""
    checks.whole(bins=bins)
    if low is None or high is None or low == high:
        if not table.holds_numbers(column):
            raise ValueError(f"{table.path}: column {column} must hold numbers, got text")
        raise ValueError(
            f"low and high must be stated for numbers, such as low=0 and high=120, got none for column {column}: taken "
            "from the data they would reveal its smallest and largest entry (in Python, kind='category' takes numbers "
            "as mere names)"
        )
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"low must be < high, both finite, got low={low!r}, high={high!r}")
    if kind == "real" and not bins:
        raise ValueError(f"bins must be stated for real numbers, such as bins=100, got bins={bins!r}")
    if kind == "integer" and bins:
        raise ValueError(f"bins are for real numbers, got kind=integer and bins={bins!r}")
    if kind == "integer" and (low != int(low) or high != int(high)):
        raise ValueError(f"low and high must be whole for whole numbers, got low={low!r}, high={high!r}")
    return _Numbers(table, column, float(low), float(high), bins)


def _column(table: Table, name: str, labels: Any, counts: NDArray[np.int64], numbers: Any, about: Any) -> Column:
    if not counts.any():
        raise ValueError(f"{table.path}: column {name} has no entries")
    file = table.path.name
    return Column(f"{name} of {file}" if name else file, labels, counts, numbers, source=str(table.path), **about)


def _pair(column: str, group: str) -> tuple[str, str]:
    """Return the names of the number and of its group."""
    if not group:
        column, comma, group = column.partition(",")
        if not comma:
            raise ValueError(f"column must name a number and a group, such as 'pay,sex', got column={column!r}")
    if column.strip().lower() == group.strip().lower():
        raise ValueError(f"column and group must be two columns, got column={column!r} for both")
    return column, group


def _require_no_column(column: str) -> None:
    """Refuse a column without a file: whoever names one means a file of their own."""
    if column:
        raise ValueError(f"data must name the file that column {column!r} is in, got data=''")


def _told(found: Column, report: bool) -> Column:
    if report:
        print(found.report())
    return found
