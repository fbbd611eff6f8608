"""A column of the user's own table, tallied: categories, dates, whole numbers, or real numbers in stated bins.

The range of a number is never taken from the data: it would reveal the smallest and the largest value, and users have
to know it before they can answer. The same is true of categories, but if none are stated those that occur are taken,
with a remark.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.data.column import Column
from ldpnb.data.entries import Entries, parsed
from ldpnb.data.formats import locate, read
from ldpnb.data.reading import AmbiguousError, Reading
from ldpnb.data.table import Table

MOST_VALUES, MOST_GROUPS = 4096, 100
"""Most values of a column that local mechanisms can handle well, and most groups."""
OTHER = "other"
OCCURRING = "What occurs was taken for what may occur, which gives it away; state it to avoid that."

_UNITS = {"day": "D", "month": "M", "year": "Y"}
"""Units by which dates are tallied, and pandas' codes for such periods."""
_COUNTS = re.compile(r"(?i)n|counts?|freq(uency)?|anzahl|häufigkeit|persons|people|obs")
_MOST_COUNTED = 5
_PLAIN = Reading()


def load_counts(
    data: str | Path,
    column: str,
    group: str = "",
    *,
    low: float | None = None,
    high: float | None = None,
    bins: int = 0,
    categories: Sequence[str] = (),
    unit: str = "month",
    reading: Reading = _PLAIN,
    report: bool = False,
) -> Column | None:
    """Tally a column of a table.

    Parameters
    ----------
    data : str or Path
        A table in a file, see `ldpnb.data.formats.read`; ``""`` gives None.
    column : str
        Its name, empty without a file or for the only column of a table; case and surrounding blanks do not matter.
    group : str
        A column with groups, by which one of numbers is tallied; the groups are those that occur, the largest first.
    low, high : float, optional
        Range of a number, required for numbers; both None (or equal) if not stated.
    bins : int
        Number of bins of equal width between `low` and `high`, for real numbers.
    categories : sequence of str
        The categories; with ``"other"`` among them, all other entries count as that.
    unit : {"day", "month", "year"}
        By which dates are tallied.
    reading : Reading
        How to read the file, as far as it must be stated.
    report : bool
        Whether to print `Column.report`.

    Raises
    ------
    AmbiguousError
        If the file or a column has two readings.
    ValueError
        For an unstated range, a column that is not there or not of that kind, or a file that cannot be read.

    Examples
    --------
    >>> load_counts("", "") is None
    True
    """
    checks.choice(unit=unit, among=tuple(_UNITS))
    if not str(data):
        if column:
            raise ValueError(f"data must name the file that the column {column!r} is in, got data=''")
        return None
    if group and column.strip().lower() == group.strip().lower():
        raise ValueError(f"column and group must be two columns, got column={column!r} for both")
    kind = "number" if group else "category" if categories else reading.kind
    ranged = bins > 0 or (low is not None and high is not None and low != high)
    with opened(data) as path:
        table, weights = _loaded(path, reading, [column, group] if group else [column])
        entries = parsed(table.entries(column), column, replace(reading, kind=kind), ranged=ranged)
        if group:
            groups, users = _grouped(table, group, reading, entries, weights)
        else:
            groups, users = (), _tallied(entries.places, len(entries.values), weights)
        if entries.kind == "number":
            made = _numbers(entries.values, users, column, low, high, bins, reading.outside)
        elif entries.kind == "date":
            made = _dates(entries.values, users, column, unit)
        else:
            made = _categories(entries.values, users, column, [str(category).strip() for category in categories])
        counts = made["counts"]
        if not np.atleast_2d(counts).any(axis=1).all():
            raise ValueError(f"column {column} has no entries" + (f" in one of the groups {groups}" if groups else ""))
    notes = (OCCURRING,) if groups or (entries.kind != "number" and not categories) else ()
    if entries.kind == "date":
        notes = (f"Dates are tallied by {unit}.", *notes)
    if table.skipped:
        done = "filled up" if reading.bad_rows == "fill" else "left out"
        notes = (f"{table.skipped:,} rows that do not fit the header were {done}.", *notes)
    name = " by ".join(filter(None, (column, group)))
    rows = len(table.columns) if weights is None else weights.sum()
    given: dict[str, Any] = {"numbers": np.arange(counts.shape[-1], dtype=float), "attribute": column or "value"} | made
    given |= {"source": str(path), "groups": groups, "missing": int(rows - counts.sum()), "notes": notes}
    tally = Column(f"{name} of {path.name}" if name else path.name, **given)
    if report:
        print(tally.report())
    return tally


@contextmanager
def opened(data: str | Path, name: str = "data") -> Iterator[Path]:
    """Name the file in errors of what it holds."""
    path = locate(data, name)
    try:
        yield path
    except AmbiguousError as ask:
        ask.file = str(path)
        raise
    except checks.UsageError:
        raise
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _loaded(path: Path, reading: Reading, columns: list[str]) -> tuple[Table, NDArray[np.int64] | None]:
    """Return a table and how many users each row stands for, None for one each."""
    if reading.counts in ("", "none"):
        table = read(path, reading, columns)
        if not reading.counts and len(columns) == 1:
            ask_counts(table, columns[0])
        return table, None
    table = read(path, reading, [*columns, reading.counts])
    # an empty code is stated, so that 99 users are no code of a missing entry
    number = replace(reading, kind="number", missing=("",), present=(), strip=(), dates=())
    users = parsed(table.entries(reading.counts), reading.counts, number)
    if (users.places < 0).any() or (users.values < 0).any() or (users.values % 1 != 0).any():
        raise ValueError(f"counts must name a column of whole numbers >= 0, got {reading.counts!r}")
    return table, users.values.astype(np.int64)[users.places]


def may_count(column: str) -> bool:
    """Return whether a column is called as one that says how many users a row stands for."""
    return _COUNTS.fullmatch(column) is not None


def ask_counts(table: Table, column: str) -> None:
    """Ask whether a table has a row per user or per value, if it may have either."""
    if len(table.names) > _MOST_COUNTED:
        return
    others = [name for name in table.names if may_count(name) and name.lower() != column.strip().lower()]
    if others and table.entries(column).is_unique:
        ways = {"users per row": {"counts": others[0]}, "every row is one user": {"counts": "none"}}
        raise AmbiguousError(f"column {others[0]!r} may say how many users each row stands for", ways)


def _require_moderate(column: str, size: int) -> None:
    """Refuse a domain too large for local mechanisms, before anything of its size is allocated."""
    if size > MOST_VALUES:
        ways = "state bins of numbers (bins=100), or the largest categories and 'other' (categories=[...])"
        raise ValueError(f"column {column} must have at most {MOST_VALUES:,} values, got {size:,}; {ways}")


def _tallied(places: NDArray[np.int64], size: int, weights: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return how many users are at each of so many places."""
    known = places >= 0
    return np.bincount(places[known], None if weights is None else weights[known], size).astype(np.int64)


def _grouped(
    table: Table, group: str, reading: Reading, entries: Entries, weights: NDArray[np.int64] | None
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the groups, the largest first, and how many users of each hold each value."""
    members = parsed(table.entries(group), group, replace(reading, kind="category"))
    names, values = members.values, len(entries.values)
    if not 2 <= len(names) <= MOST_GROUPS:
        raise ValueError(f"column {group} must have 2 to {MOST_GROUPS} groups, got {len(names)}")
    order = np.argsort(-_tallied(members.places, len(names), weights), kind="stable")
    known = (members.places >= 0) & (entries.places >= 0)
    pairs = np.where(known, members.places * values + entries.places, -1)
    users = _tallied(pairs, len(names) * values, weights).reshape(len(names), values)
    return tuple(names[order]), users[order]


def _numbers(
    values: NDArray[np.float64],
    users: NDArray[np.int64],
    column: str,
    low: float | None,
    high: float | None,
    bins: int,
    outside: str,
) -> dict[str, Any]:
    """Tally numbers in their range, whole ones each or real ones in bins; `users` hold each value, by group or not."""
    low, high = _range(column, low, high, bins)
    size = bins or round(high - low) + 1
    _require_moderate(column, size)
    inside = np.clip(values, low, high)
    beyond, together = inside != values, users.reshape(-1, len(values)).sum(axis=0)
    if not bins and (broken := inside[inside % 1 != 0]).size:
        raise ValueError(f"column {column} must hold whole numbers, got {broken[0]:g}; state bins for real numbers")
    if beyond.any() and outside == "error":
        few = ", ".join(f"{number:g}" for number in values[beyond][:3])
        got = f"got {together[beyond].sum():,} outside, such as {few}"
        ways = "state a wider range, codes of missing entries in missing=, or outside='clip' or 'missing'"
        raise ValueError(f"column {column} must lie in [{low:g}, {high:g}], {got}; {ways}")
    if outside != "clip":
        users, together = users * ~beyond, together * ~beyond
    cells = np.minimum(((inside - low) / ((high - low) / bins if bins else 1)).astype(np.int64), size - 1)
    counts = np.apply_along_axis(lambda row: np.bincount(cells, row, size), -1, users).astype(np.int64)
    made: dict[str, Any] = {"counts": counts, "low": low, "high": high, "outside": int(together[beyond].sum())}
    if not bins:
        numbers = low + np.arange(size, dtype=float)
        return made | {"labels": tuple(f"{number:.0f}" for number in numbers), "numbers": numbers}
    edges = np.linspace(low, high, bins + 1)
    sizes, sums = np.bincount(cells, together, size), np.bincount(cells, inside * together, size)
    means = np.where(sizes > 0, sums / np.maximum(sizes, 1), (edges[:-1] + edges[1:]) / 2)
    labels = tuple(f"{left:.6g} to {right:.6g}" for left, right in pairwise(edges))
    return made | {"labels": labels, "numbers": np.clip(means, low, high)}


def _range(column: str, low: float | None, high: float | None, bins: int) -> tuple[float, float]:
    """Return the range of a number, after checking that what must be known beforehand was stated."""
    checks.whole(bins=bins)
    if low is None or high is None or low == high:
        raise ValueError(
            f"low and high must be stated for numbers, such as low=0 and high=120, got none for column {column}: taken "
            "from the data they would reveal its smallest and largest entry (kind='category' takes numbers as names)"
        )
    if not (np.isfinite(low) and np.isfinite(high) and low < high and np.isfinite(float(high) - float(low))):
        raise ValueError(f"low must be < high, both finite, got low={low!r}, high={high!r}")
    if bins == 1:
        raise ValueError(f"bins must be >= 2, got bins={bins!r}")
    if not bins and (low % 1 or high % 1):
        raise ValueError(f"low and high must be whole for whole numbers, got low={low!r}, high={high!r}")
    return float(low), float(high)


def _categories(values: NDArray[Any], users: NDArray[np.int64], column: str, stated: Sequence[str]) -> dict[str, Any]:
    """Tally categories, stated or as they occur."""
    labels = tuple(stated or values)
    _require_moderate(column, len(labels))
    strangers = ~np.isin(values, labels)
    if strangers.any() and OTHER not in labels:
        rule = "is not among the stated categories; add it, or 'other'"
        raise ValueError(f"{values[strangers][0]!r} of column {column} {rule}")
    if len(labels) < 2:
        raise ValueError(f"column {column} must have two values or more, got {labels[0]!r} only")
    places = np.array([labels.index(value) for value in np.where(strangers, OTHER, values)])
    counts, outside = _tallied(places, len(labels), users), int(users[strangers].sum())
    return {"labels": labels, "counts": counts, "outside": outside, "scale": "category"}


def _dates(values: NDArray[Any], users: NDArray[np.int64], column: str, unit: str) -> dict[str, Any]:
    """Tally dates by day, month or year, from the first that occurs to the last."""
    periods = pd.DatetimeIndex(values).to_period(_UNITS[unit])
    places = periods.astype("int64").to_numpy()
    _require_moderate(column, int(places[-1] - places[0]) + 1)
    labels = tuple(map(str, pd.period_range(periods[0], periods[-1])))
    return {"labels": labels, "counts": _tallied(places - places[0], len(labels), users), "scale": "date"}
