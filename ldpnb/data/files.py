"""A column of the user's own table, tallied: categories, months, whole numbers, or real numbers in stated bins.

The range of a number is never taken from the data: it would reveal the smallest and the largest value, and users have
to know it before they can answer. The same is true of categories, but if none are stated those that occur are taken,
with a remark.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.data.column import Column
from ldpnb.data.entries import label
from ldpnb.data.formats import opened, read
from ldpnb.data.reading import AmbiguousError, Reading, naming
from ldpnb.data.table import Table

MOST_VALUES, MOST_GROUPS = 4096, 100
"""Most values of a column that local mechanisms can handle well, and most groups."""
OTHER = "other"
OCCURRING = "What occurs was taken for what may occur, which gives it away; state it to avoid that."

COUNTS = re.compile(
    r"(?i)n|counts?|freq(uency)?|anzahl|häufigkeit|fälle|cases|number|persons|people|obs"
)
"""Names of columns that may say how many users a row stands for."""
_PLAIN = Reading()

Places = NDArray[np.int64]


def load_counts(
    data: str | Path,
    column: str,
    group: str = "",
    *,
    low: float | None = None,
    high: float | None = None,
    bins: int = 0,
    categories: Sequence[str] = (),
    reading: Reading = _PLAIN,
    report: bool = False,
) -> Column | None:
    """Tally a column of a table.

    A ValueError names an unstated range, a column that is not there or not of that kind, and a file that cannot be
    read; it is an `AmbiguousError` if the file or the column has two readings.

    - `data`, str or Path: a table in a file, see `ldpnb.data.formats.read`; ``""`` gives None.
    - `column`, str: its name, empty without a file or for the only column of a table; case and surrounding blanks do
      not matter.
    - `group`, str: a column with groups, by which one of numbers is tallied; the groups are those that occur, the
      largest first.
    - `low`, `high`, float, optional: range of a number, required for numbers; both None (or equal) if not stated.
    - `bins`, int: number of bins of equal width between `low` and `high`, for real numbers.
    - `categories`, sequence of str: the categories; with ``"other"`` among them, all other entries count as that.
    - `reading`, Reading: how to read the file, as far as it must be stated.
    - `report`, bool: whether it is to be collected: then `Column.report` is printed, and a column of one value refused.

    >>> load_counts("", "") is None
    True
    """
    if not str(data):
        if column:
            raise ValueError(
                f"data must name the file that the column {column!r} is in, got data=''"
            )
        return None
    ranged = bins > 0 or (low is not None and high is not None and low != high)
    kind = (
        "number"
        if group
        else "category"
        if categories
        else reading.kind or ("number" if ranged else "")
    )
    with opened(data) as path:
        table, weights = _loaded(path, reading, [column, group] if group else [column])
        entries = table.entries(column, replace(reading, kind=kind))
        groups, members = _grouped(table, group, reading, weights)
        places = np.where(members < 0, -1, entries.places)
        users = _tallied(places, len(entries.values), weights)
        with naming(f"column {column!r}"):
            if entries.kind == "number":
                cells, made = _numbers(entries.values, users, low, high, bins, reading.outside)
            elif entries.kind == "date":
                cells, made = _months(entries.values)
            else:
                cells, made = _categories(
                    entries.values, users, [str(category).strip() for category in categories]
                )
            labels, cells = made["labels"], np.append(cells, -1)[places]
            pairs = np.where(cells < 0, -1, members * len(labels) + cells)
            counts = _tallied(pairs, max(len(groups), 1) * len(labels), weights).reshape(
                -1, len(labels)
            )
            if not counts.any(axis=1).all():
                raise ValueError(
                    "has no entries" + (f" in one of the groups {groups}" if groups else "")
                )
            if len(labels) < 2 and (report or entries.kind == "category"):
                raise ValueError(f"must have two values or more, got {labels[0]!r} only")
    notes = ["Dates are tallied by month."] if entries.kind == "date" else []
    if table.skipped:
        done = "filled up" if reading.bad_rows == "fill" else "left out"
        notes.append(f"{table.skipped:,} rows that do not fit the header were {done}.")
    notes += [OCCURRING] if groups or (entries.kind != "number" and not categories) else []
    rows = len(places) if weights is None else weights.sum()
    name = " by ".join(filter(None, (column, group)))
    made = {
        "numbers": np.arange(len(labels), dtype=float),
        "counts": counts if groups else counts[0],
    } | made
    made |= {
        "groups": groups,
        "missing": int(rows - counts.sum()),
        "notes": tuple(notes),
        "scale": entries.kind,
    }
    tally = Column(
        f"{name} of {path.name}" if name else path.name, attribute=column or "value", **made
    )
    if report:
        print(tally.report())
    return tally


def _loaded(path: Path, reading: Reading, columns: list[str]) -> tuple[Table, Places | None]:
    """Return a table and how many users each row stands for, None for one each."""
    table = read(path, reading, [*columns, *filter(None, [reading.counts])])
    if not reading.counts and len(columns) == 1 and _counting(table, columns[0]):
        ask_counts(read(path, reading), columns[0])
    if reading.counts in ("", "none"):
        return table, None
    # an empty code is stated, so that 99 users are no code of a missing entry
    number = Reading(
        kind="number", missing=("",), decimal=reading.decimal, thousands=reading.thousands
    )
    users = table.entries(reading.counts, number)
    if (users.places < 0).any() or (users.values < 0).any() or (users.values % 1 != 0).any():
        raise ValueError(f"counts must name a column of whole numbers >= 0, got {reading.counts!r}")
    return table, users.values.astype(np.int64)[users.places]


def ask_counts(table: Table, column: str) -> None:
    """Ask whether a table of few columns has a row per user or per value, if it may have either."""
    if not (other := _counting(table, column)):
        return
    keys = table.columns.drop(columns=table.names.index(other)).astype(str)
    if not keys.duplicated().any():
        ways = {"users per row": {"counts": other}, "every row is one user": {"counts": "none"}}
        raise AmbiguousError(f"column {other!r} may say how many users each row stands for", ways)


def _counting(table: Table, column: str) -> str:
    """Return the name of another column that may say how many users a row stands for, in a table of few."""
    few = table.names if len(table.names) <= 5 else ()
    return next(
        (name for name in few if COUNTS.fullmatch(name) and name.lower() != column.strip().lower()),
        "",
    )


def _tallied(places: Places, size: int, weights: Any) -> Places:
    """Return how many users are at each of so many places; -1 is none."""
    known = places >= 0
    return np.bincount(places[known], None if weights is None else weights[known], size).astype(
        np.int64
    )


def _grouped(
    table: Table, group: str, reading: Reading, weights: Places | None
) -> tuple[tuple[str, ...], Places]:
    """Return the groups, the largest first, and the place of each row's; without a group all rows are in one."""
    if not group:
        return (), np.zeros(len(table.columns), dtype=np.int64)
    entries = table.entries(group, replace(reading, kind=reading.kind and "category"))
    sizes = _tallied(entries.places, len(entries.values), weights)
    if not 2 <= len(sizes) <= MOST_GROUPS:
        raise ValueError(f"column {group!r} must have 2 to {MOST_GROUPS} groups, got {len(sizes)}")
    order = np.argsort(-sizes, kind="stable")
    return tuple(map(label, entries.values[order])), np.append(np.argsort(order), -1)[
        entries.places
    ]


def _require_moderate(size: int) -> None:
    """Refuse a domain too large for local mechanisms, before anything of its size is allocated."""
    if size > MOST_VALUES:
        ways = "state bins of numbers (bins=100), or the largest categories and 'other' (categories=[...])"
        raise ValueError(f"must have at most {MOST_VALUES:,} values, got {size:,}; {ways}")


def _numbers(
    values: NDArray[np.float64],
    users: Places,
    low: float | None,
    high: float | None,
    bins: int,
    outside: str,
) -> tuple[Places, dict[str, Any]]:
    """Return the places of numbers in their range, whole ones each or real ones in bins, and what a column says."""
    if low is None or high is None or low == high:
        raise ValueError(
            "low and high must be stated for numbers, such as low=0 and high=120: taken from the data they would "
            "reveal its smallest and largest entry (kind=category takes numbers as names)"
        )
    if not (np.isfinite(float(high) - float(low)) and low < high):
        raise ValueError(f"low must be < high, both finite, got low={low!r}, high={high!r}")
    if not checks.whole(bins, "bins") and (low % 1 or high % 1):
        raise ValueError(
            f"low and high must be whole for whole numbers, got low={low!r}, high={high!r}"
        )
    size = bins or round(high - low) + 1
    _require_moderate(size)
    inside = np.clip(values, low, high)
    beyond = inside != values
    if not bins and (broken := inside[inside % 1 != 0]).size:
        raise ValueError(f"must hold whole numbers, got {broken[0]:g}; state bins for real numbers")
    if beyond.any() and outside == "error":
        got = f"got {users[beyond].sum():,} outside, such as {', '.join(f'{n:g}' for n in values[beyond][:3])}"
        ways = (
            "state a wider range, codes of missing entries in missing=, or outside=clip or missing"
        )
        raise ValueError(f"must lie in [{low:g}, {high:g}], {got}; {ways}")
    made = {"low": float(low), "high": float(high), "outside": int(users[beyond].sum())}
    cells = np.minimum(
        ((inside - low) / ((high - low) / bins if bins else 1)).astype(np.int64), size - 1
    )
    cells = np.where(beyond, -1, cells) if outside == "missing" else cells
    if not bins:
        numbers = low + np.arange(size, dtype=float)
        return cells, made | {
            "labels": tuple(f"{number:.0f}" for number in numbers),
            "numbers": numbers,
        }
    edges, sizes = np.linspace(low, high, bins + 1), _tallied(cells, size, users)
    sums = np.bincount(cells[cells >= 0], (inside * users)[cells >= 0], size)
    means = np.where(sizes > 0, sums / np.maximum(sizes, 1), (edges[:-1] + edges[1:]) / 2)
    labels = tuple(f"{left:.6g} to {right:.6g}" for left, right in pairwise(edges))
    return cells, made | {"labels": labels, "numbers": np.clip(means, low, high)}


def _categories(
    values: NDArray[Any], users: Places, stated: Sequence[str]
) -> tuple[Places, dict[str, Any]]:
    """Return the places of categories, stated or as they occur, and what a column says."""
    labels = tuple(stated or values)
    _require_moderate(len(labels))
    strangers = ~np.isin(values, labels)
    if strangers.any() and OTHER not in labels:
        raise ValueError(
            f"{values[strangers][0]!r} is not among the stated categories; add it, or 'other'"
        )
    places = np.array([labels.index(value) for value in np.where(strangers, OTHER, values)])
    return places, {"labels": labels, "outside": int(users[strangers].sum())}


def _months(values: NDArray[Any]) -> tuple[Places, dict[str, Any]]:
    """Return the places of dates by their months, from the first that occurs to the last, and what a column says."""
    months = pd.DatetimeIndex(values).to_period("M")
    places = months.astype("int64").to_numpy() - months[0].ordinal
    _require_moderate(int(places[-1]) + 1)
    return places, {"labels": tuple(map(str, pd.period_range(months[0], months[-1])))}
