"""A look at a file before anything is run on it.

The result is only for whoever holds the file: ranges and frequent entries reveal individuals, and
do not belong in a release.
"""

import json
import math
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.checks import shown
from ldpnb.data.entries import Marks, label, with_missing
from ldpnb.data.files import COUNTS, tallied
from ldpnb.data.messages import quoted
from ldpnb.data.reading import Reading
from ldpnb.data.table import Table, place_of
from ldpnb.data.tables import read_table
from ldpnb.words import exact

MOST_COLUMNS = 100
"""Columns of a file that are described."""

_COMMON = 3
_WIDTH = 40
_MOST_WHOLE = 1000
_BINS = 20
_NAMES_ROWS = 0.98
"""A column whose entries differ in more than this share of the rows names them."""

_CHOOSE = (
    "next (change low and high to the smallest and the largest value that are possible, not those "
    "that occur here):"
)
_OPTION = re.compile(rf"\b({'|'.join(option.name for option in fields(Reading))})(?==)")
"""An option as a message names it, such as ``missing`` in ``missing='k.A.'``."""


def inspect(
    data: str | Path,
    reading: Reading = Reading(),  # noqa: B008
    columns: Sequence[str] = (),
) -> str:
    r"""Describe the columns of a file, and say which command to run next.

    Parameters
    ----------
    data : str or Path
        A file that `load_column` reads.
    reading : Reading
        How the file is to be read.
    columns : sequence of str
        The columns to describe. If none is named, all are described, up to `MOST_COLUMNS`.

    Returns
    -------
    str
        A line for each column: how many entries it has and how many are missing, its numbers or
        its most common names, and what must be stated before it can be read. The last line is
        the command for the first column that can be read. Text of the file is escaped.

    Raises
    ------
    ValueError
        If the file cannot be read as a table.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.csv")
    ...     _ = path.write_text("smokes\nyes\nno\nyes\n")
    ...     report = inspect(path)
    >>> print(report.splitlines()[1])
      smokes  3 entries, 0 missing; 2 different, such as 'yes' 2, 'no' 1
    """
    table = read_table(data, reading, columns or None)
    places = list(range(min(len(table.names), MOST_COLUMNS)))
    if columns:
        places = [place_of(name, table.names) for name in columns]
    names = [table.names[place] for place in places]
    titles = [shown(name[:_WIDTH]) for name in names]
    width = max(len(title) for title in titles)

    size = f"{_number_of('row', len(table.cells))}, {_number_of('column', len(table.names))}"
    lines = [f"{shown(str(data))}: {size}"]
    command = ""
    hints: list[str] = []
    for place, name, title in zip(places, names, titles, strict=True):
        entries = with_missing(table.cells[place], reading)
        lines.append(f"  {title:{width}}  {_described(entries, reading)}")
        try:
            ways = _ways(table, name, entries, reading)
        except ValueError as error:
            hint = as_options(str(error))
            if hint not in hints:
                hints.append(hint)
                lines.append(f"  {'':{width}}    {hint}")
            continue
        if ways is not None and not command:
            command = _command(data, name, ways, reading)
    if len(names) < len(table.names) and not columns:
        lines.append(f"  and {len(table.names) - len(names):,} more columns")

    if command:
        title = _CHOOSE if " -p low=" in command else "next:"
        return "\n".join([*lines, "", title, f"  {command}"])
    what = "each has one value, a name for each row, or counts"
    if hints:
        what = "follow the hints above and inspect the file again"
    return "\n".join([*lines, "", f"No column can be used as it is: {what}."])


def as_options(message: str) -> str:
    """Return a message of the reader with its options as the command line has them.

    >>> as_options("set missing='k.A.' if it means that there is no answer")
    "set --missing='k.A.' if it means that there is no answer"
    """
    return _OPTION.sub(r"--\1", message)


def _number_of(thing: str, number: int) -> str:
    return f"1 {thing}" if number == 1 else f"{number:,} {thing}s"


def _described(entries: "pd.Series[Any]", reading: Reading) -> str:
    """Return how many entries a column has, and what they are."""
    here = entries.dropna()
    counted = f"{len(here):,} entries, {len(entries) - len(here):,} missing"
    if here.empty:
        return counted

    times = here.value_counts()
    numbers = _numbers(times, reading)
    if len(numbers) == len(times):
        return f"{counted}; numbers from {exact(min(numbers))} to {exact(max(numbers))}"

    common = ", ".join(f"{quoted(label(entry)[:_WIDTH])} {n:,}" for entry, n in _first(times))
    return f"{counted}; {len(times):,} different, such as {common}"


def _first(times: "pd.Series[int]") -> Iterator[tuple[Any, int]]:
    return zip(times.index[:_COMMON], times[:_COMMON], strict=True)


def _numbers(times: "pd.Series[int]", reading: Reading) -> list[float]:
    """Return the numbers among the entries that occur."""
    marks = Marks.of(reading)
    values = [
        marks.number(entry) if isinstance(entry, str) else float(entry) for entry in times.index
    ]
    return [value for value in values if value is not None]


def _ways(
    table: Table, name: str, entries: "pd.Series[Any]", reading: Reading
) -> dict[str, Any] | None:
    """Return the range with which a column can be read, none for names.

    None is for a column that cannot be used, because its entries name rows or are all the same.
    A ValueError says what must be stated first.
    """
    times = entries.dropna().value_counts()
    if len(times) < 2 or _is_of_counts(table, name, reading):
        return None
    values = _numbers(times, reading)
    numbers_users = sum(
        n for entry, n in times.items() if _numbers(pd.Series([n], index=[entry]), reading)
    )
    is_number = 2 * numbers_users > times.sum()
    is_whole = all(value % 1 == 0 for value in values)
    names_rows = len(times) > _NAMES_ROWS * times.sum() and len(times) > 20
    if names_rows and not reading.counts and (not is_number or is_whole):
        return None

    ways = _range(np.array(values), is_whole=is_whole) if is_number else {}
    tallied(table, name, reading=reading, **ways)
    return ways


def _is_of_counts(table: Table, name: str, reading: Reading) -> bool:
    if reading.counts in ("", "none"):
        return bool(COUNTS.fullmatch(name.strip()))
    return place_of(reading.counts, table.names) == place_of(name, table.names)


def _range(values: Any, *, is_whole: bool) -> dict[str, Any]:
    """Return a range of two digits around numbers, and bins if there are many or fractions."""
    least = float(values.min())
    largest = float(values.max())
    size = max(abs(least), abs(largest), 1e-300)
    step = 10.0 ** (math.floor(math.log10(size)) - 1)
    if is_whole:
        step = max(step, 1.0)

    low = math.floor(least / step) * step
    high = max(math.ceil(largest / step) * step, low + step)
    ways: dict[str, Any] = {"low": float(f"{low:.12g}"), "high": float(f"{high:.12g}")}
    if not is_whole or high - low > _MOST_WHOLE:
        ways["bins"] = _BINS
    return ways


def _command(data: str | Path, name: str, ways: dict[str, Any], reading: Reading) -> str:
    """Return the command that collects a column under local privacy, as a shell takes it."""
    words = [f"data={data}", f"column={name}"]
    words += [f"{option}={value:.12g}" for option, value in ways.items()]
    if stated := reading.words():
        words.append(f"reading={json.dumps(stated, ensure_ascii=False)}")
    if not all(word.isprintable() for word in words):
        return ""
    return " ".join(["ldpnb run own_survey", *(f"-p {shlex.quote(word)}" for word in words)])
