"""A column of the user's own table, tallied: categories, dates, whole numbers, or real numbers in stated bins.

Use `load_counts` for one column and `load_groups` for a number together with a group. Both read every format of
`ldpnb.data.tables` in pieces, in memory that does not grow with the number of rows. An empty path stands for the
source's own population and gives None.

The range of a number is never taken from the data: it would reveal the smallest and the largest value, and users have
to know it before they can answer. The same is true of categories, but if none are stated those that occur are taken,
with a warning.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from ldpnb import checks
from ldpnb.data.column import Column
from ldpnb.data.reading import Reading
from ldpnb.data.tables import Table, locate
from ldpnb.data.tallying import OCCURRING, OTHER, Categories, Dates, Numbers, Outside, date_formats

Kind = Literal["auto", "category", "integer", "real", "date"]

KINDS = ("auto", "category", "integer", "real", "date")
MOST_VALUES, MOST_GROUPS = 4096, 100
"""Most values of a column that local mechanisms can handle well, and most groups."""

_PLAIN = Reading()


def load_counts(
    data: str | Path,
    column: str,
    *,
    kind: Kind = "auto",
    low: float | None = None,
    high: float | None = None,
    bins: int = 0,
    categories: Sequence[str] = (),
    dates: str = "",
    outside: Outside = "error",
    reading: Reading = _PLAIN,
    most: int = MOST_VALUES,
    report: bool = False,
) -> Column | None:
    """Tally a column of a table.

    Parameters
    ----------
    data : str or Path
        ``.csv``, ``.tsv`` (packed or not), ``.parquet``, ``.jsonl`` or ``.ndjson``, ``.xlsx``, ``.npy``; ``""`` gives
        None.
    column : str
        Its name, empty without a file or for the only column of a table; case and surrounding blanks do not matter.
    kind : {"auto", "category", "integer", "real", "date"}
        *auto* follows from what is stated: a range means numbers (whole ones unless there are `bins`), `dates` dates.
        If nothing is stated, it is found from the entries.
    low, high : float, optional
        Range of a number, required for numbers; both None (or equal) if not stated.
    bins : int
        Number of bins of equal width between `low` and `high`, for real numbers.
    categories : sequence of str
        The categories; with ``"other"`` among them, all other entries count as that.
    dates : str
        Unit by which dates are tallied, "day", "month", "year" or "weekday", followed, where the entries are ambiguous,
        by a blank and their form: ``"month %d/%m/%Y"``.
    outside : {"error", "missing", "clamp"}
        Whether numbers outside `low` and `high` are an error, a missing entry, or moved to the nearer end.
    reading : Reading
        How to parse the text in the file, as far as it must be stated.
    most : int
        Largest number of values; a column with more is refused.
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
    _require_texts(column=column, dates=dates)
    if not str(data):
        _require_no_column(column)
        return None
    table = Table(locate(data), reading)
    checks.choice(kind=kind, among=KINDS)
    if kind == "auto":
        kind = _kind(table, column, stated=_stated(low, high), bins=bins, categories=categories, dates=dates)
    tally: Numbers | Categories | Dates
    if kind == "category":
        tally = Categories(table, column, tuple(str(c).strip() for c in categories), most)
    elif kind == "date":
        tally = Dates(table, column, dates, most)
    else:
        tally = _numbers(table, column, kind, low, high, bins, outside, most)
    for (part,) in tally.table.parts(**{"numbers" if isinstance(tally, Numbers) else "texts": (column,)}):
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
    outside: Outside = "error",
    reading: Reading = _PLAIN,
    most: int = MOST_VALUES,
    report: bool = False,
) -> Column | None:
    """Tally a number together with a group.

    Parameters
    ----------
    data, column, low, high, bins, outside, reading, most, report
        As for `load_counts`; the column must hold numbers.
    group : str
        The column with the group; without it `column` names both, separated by a comma, such as "pay,sex".
    groups : sequence of str
        The groups, in the order wanted; if left out, those that occur, largest first.
    """
    if not str(data):
        _require_no_column(column, group)
        return None
    _require_texts(column=column, group=group)
    column, group = _pair(column, group)
    table = Table(locate(data), reading)
    whole = _numbers(table, column, "real" if bins else "integer", low, high, bins, outside, most)
    members = {name: whole.empty() for name in groups}
    for numbers, names in table.parts(numbers=(column,), texts=(group,)):
        known = numbers.notna() & names.notna()
        whole.missing += int((~known).sum())
        for name, entries in numbers[known].groupby(names[known].astype(str).str.strip()):
            key = str(name) if str(name) in members or not groups else OTHER
            if groups and key not in members:
                raise ValueError(f"groups must name every group or hold 'other', got {name!r} in {table.path}")
            members.setdefault(key, whole.empty()).add(entries)
        if len(members) > MOST_GROUPS:
            raise ValueError(f"{table.path}: column {group} has more than {MOST_GROUPS:,} groups")
    order = list(groups) or sorted(members, key=lambda name: (-int(members[name].counts.sum()), name))
    if len(order) < 2 or not all(members[name].counts.any() for name in order):
        raise ValueError(f"{table.path}: column {group} must have users in two groups or more, got {order}")
    counts = np.array([members[name].counts for name in order])
    whole.gather(members.values())
    notes = () if groups else (OCCURRING,)
    return _told(whole.column(f"{column} by {group}", counts=counts, groups=tuple(order), notes=notes), report)


def require_columns(
    data: str | Path, column: str, group: str = "", *, paired: bool = False, reading: Reading = _PLAIN
) -> None:
    """Refuse columns that a table does not have, by its header alone; `paired` if `column` names a group as well."""
    _require_texts(column=column, group=group)
    if not str(data):
        return _require_no_column(column, group)
    table = Table(locate(data), reading)
    names = _pair(column, group) if group or paired else (column,)
    table.matches(table.columns(), dict.fromkeys(names, True))


def _stated(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low != high


def _kind(
    table: Table, column: str, *, stated: bool, bins: int, categories: Sequence[str], dates: str
) -> Literal["category", "integer", "real", "date"]:
    """Return the kind of a column from what is stated of it, or else from its entries."""
    if dates or categories:
        return "date" if dates else "category"
    share = 1.0 if stated or bins else table.share_of_numbers(column)
    if share == 1:
        return "real" if bins else "integer"
    if share >= 0.5:
        rule = f"holds numbers ({share:.1%} of its first entries) and text"
        ways = "state low, high and in missing= the codes of missing entries, or in Python kind='category'"
        raise ValueError(f"{table.path}: column {column} {rule}; {ways}")
    for (part,) in table.parts(texts=(column,)):
        known = part.dropna()
        plain = known.empty or not all(isinstance(entry, str) for entry in known.unique())
        dated = "datetime" in str(known.infer_objects().dtype) if plain else bool(date_formats(known.head(1000)))
        return "date" if dated else "category"
    return "category"


def _numbers(
    table: Table,
    column: str,
    kind: str,
    low: float | None,
    high: float | None,
    bins: int,
    outside: Outside,
    most: int,
) -> Numbers:
    """Return a tally of numbers, after checking that everything that must be known beforehand was stated."""
    checks.whole(bins=bins)
    if low is None or high is None or low == high:
        if table.share_of_numbers(column) < 1:
            raise ValueError(f"{table.path}: column {column} must hold numbers, got text")
        raise ValueError(
            f"low and high must be stated for numbers, such as low=0 and high=120, got none for column {column}: taken "
            "from the data they would reveal its smallest and largest entry (in Python, kind='category' takes numbers "
            "as mere names)"
        )
    if not (np.isfinite(low) and np.isfinite(high) and low < high and np.isfinite(float(high) - float(low))):
        raise ValueError(f"low must be < high, both finite, got low={low!r}, high={high!r}")
    if bins and checks.whole(bins=bins) < 2:
        raise ValueError(f"bins must be >= 2, got bins={bins!r}")
    if kind == "real" and not bins:
        raise ValueError(f"bins must be stated for real numbers, such as bins=100, got bins={bins!r}")
    if kind == "integer" and bins:
        raise ValueError(f"bins are for real numbers, got kind=integer and bins={bins!r}")
    if kind == "integer" and (low != int(low) or high != int(high)):
        raise ValueError(f"low and high must be whole for whole numbers, got low={low!r}, high={high!r}")
    return Numbers(table, column, float(low), float(high), bins, outside, most)


def _pair(column: str, group: str) -> tuple[str, str]:
    """Return the names of the number and of its group."""
    if not group:
        column, comma, group = column.partition(",")
        if not comma:
            raise ValueError(f"column must name a number and a group, such as 'pay,sex', got column={column!r}")
    if column.strip().lower() == group.strip().lower():
        raise ValueError(f"column and group must be two columns, got column={column!r} for both")
    return column, group


def _require_texts(**named: str) -> None:
    for name, value in named.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} must be text, got {name}={checks.shortened(value)}")


def _require_no_column(column: str, group: str = "") -> None:
    """Refuse a column or a group without a file: whoever names one means a file of their own."""
    for name, value in (("column", column), ("group", group)):
        if value:
            raise ValueError(f"data must name the file that the {name} {value!r} is in, got data=''")


def _told(found: Column, report: bool) -> Column:
    if report:
        print(found.report())
    return found
