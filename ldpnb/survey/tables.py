"""Tables of reports: columns of words, read and looked at once for each different word."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb.arithmetic import Floats, Ints
from ldpnb.checks import UsageError, shortened, shown
from ldpnb.words import exact

MOST_BYTES = 200_000_000
"""Of a file of reports."""

_SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its different entries, and which of them stands in each row.

    Parameters
    ----------
    codes : (rows,) int
        The place of the row's entry among the different ones.
    texts : tuple of str, optional
        The different entries as words, without blanks around them; '' for a missing one.
    numeric : (different,) float or int, optional
        The different entries of a column that has numbers only, nan for a missing one.
    """

    codes: Ints
    texts: tuple[str, ...] | None = None
    numeric: NDArray[Any] | None = None

    @property
    def different(self) -> int:
        """How many different entries there are."""
        if self.numeric is not None:
            return self.numeric.size
        return len(self.words)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The different entries as words; '' stands for a missing one."""
        if self.texts is not None:
            return self.texts
        assert self.numeric is not None
        return tuple(_word(number) for number in self.numeric.tolist())

    def is_present(self, missing: Sequence[str] = ()) -> Any:
        """Return which rows have an entry; the words in `missing` are none."""
        if self.numeric is not None and not missing:
            return (self.numeric == self.numeric)[self.codes]
        absent = {"", *missing}
        return np.array([word not in absent for word in self.words], dtype=bool)[self.codes]

    def numbers(self, name: str, *, least: float = -np.inf, where: Any = None) -> Floats:
        """Return the entries as numbers; those of rows outside `where` are not checked."""
        if self.numeric is not None:
            found = self.numeric.astype(float)
        else:
            found = np.array([_number(word) for word in self.words], dtype=float)

        wrong = ~((found >= least) & (found < np.inf))[self.codes]
        if least == -np.inf:
            wrong |= (found == -np.inf)[self.codes]
        if where is not None:
            wrong &= where
        if wrong.any():
            row = int(np.argmax(wrong))
            rule = "a number" if least == -np.inf else f"a number >= {exact(least)}"
            word = self.words[self.codes[row]]
            raise ValueError(f"{name} must be {rule}, got {shortened(word)} in row {row + 1}")
        return np.asarray(found[self.codes])


Table = dict[str, Column]


def table(given: Any) -> Table:
    """Return the columns of a path to a CSV file, a mapping, a DataFrame, or just reports.

    Names of columns are in lower case.
    """
    if isinstance(given, str | Path):
        return read_csv(given)
    if not isinstance(given, Mapping) and not hasattr(given, "columns"):
        given = {"report": given}

    found: Table = {}
    for name in given:
        lower = str(name).strip().lower()
        if lower in found:
            raise ValueError(f"columns must have different names, got {shown(lower)} twice")
        found[lower] = _coded(given[name])
    lengths = {column.codes.size for column in found.values()}
    if len(lengths) != 1:
        raise ValueError(f"columns must have the same length, got lengths {sorted(lengths)}")
    return found


def read_csv(path: str | Path) -> Table:
    """Return the columns of a CSV file: UTF-8, with commas, semicolons or tabs.

    Every word is kept: ``NA`` and ``None`` are words, and only an empty entry is a missing one.

    Raises
    ------
    UsageError
        If the file is no such table, is no regular file, or has more than 200 MB.
    """
    path = Path(path)
    name = shown(path.name)
    if not path.is_file():  # a pipe or a device may never end
        raise UsageError(f"reports must be read from a regular file, got {shown(str(path))}")
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{name} must have at most {MOST_BYTES:,} bytes")
    if path.suffix.lower() not in ("", ".csv", ".tsv", ".txt"):
        raise UsageError(
            f"{name} must be a CSV file: save it as one, or read it with pandas and give "
            "ldpnb.estimate the table"
        )
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = file.readline()
            separator = max(_SEPARATORS, key=header.count)
            names = next(csv.reader([header], delimiter=separator), [])
            entries = _entries(csv.reader(file, delimiter=separator), len(names), name)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{name} must be UTF-8, but byte {error.start} of a block is not: save it as UTF-8"
        ) from None
    except csv.Error as error:
        raise UsageError(f"{name} must be a CSV file: {error}") from None
    if not names or not entries:
        raise UsageError(f"{name} must have column names and rows, but it is empty")

    try:
        return table({column: entries[place :: len(names)] for place, column in enumerate(names)})
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def _entries(rows: Any, width: int, name: str) -> list[str]:
    """Return all entries one after another: a million short lists would take a second."""
    entries: list[str] = []
    for number, row in enumerate(rows, start=1):
        if len(row) == width:
            entries += row
        elif row:
            hint = " (in R: row.names = FALSE)" if len(row) == width + 1 else ""
            raise UsageError(
                f"{name}: row {number} must have an entry for each of {width} columns, "
                f"got {len(row)}{hint}"
            )
    return entries


def _coded(given: Any) -> Column:
    """Return a column of any sequence: each different entry is looked at once."""
    if isinstance(given, np.ma.MaskedArray):
        given = given.tolist()  # with None where an entry is masked
    if isinstance(given, np.ndarray) and given.ndim != 1:
        raise ValueError(f"a column must be one-dimensional, got shape {given.shape}")

    array = given
    if isinstance(given, list) and set(map(type, given)) in ({int}, {float}):
        array = np.asarray(given)
    kind = getattr(getattr(array, "dtype", None), "kind", "O")
    if kind in "iuf":
        different, codes = np.unique(np.asarray(array), return_inverse=True)
        return Column(codes, numeric=different)

    entries = list(given)
    places = {entry: place for place, entry in enumerate(dict.fromkeys(entries))}
    codes = np.fromiter(map(places.__getitem__, entries), np.int64, len(entries))
    words: dict[str, int] = {}
    merged = [words.setdefault(_word(entry), len(words)) for entry in places]
    return Column(np.array(merged, dtype=np.int64)[codes], texts=tuple(words))


def _word(entry: Any) -> str:
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(entry, float):
        if entry != entry:
            return ""
        if entry.is_integer() and abs(entry) < 1e15:
            return str(int(entry))
    return str(entry).strip()


def _number(word: str) -> float:
    try:
        return float(word) if "_" not in word else np.nan
    except ValueError:
        return np.nan
