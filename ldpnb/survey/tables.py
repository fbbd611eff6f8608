"""Tables of reports: columns of words, read and looked at once for each different word."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from ldpnb.arithmetic import Floats, Ints
from ldpnb.checks import UsageError, shortened, shown
from ldpnb.words import exact

MOST_BYTES = 200_000_000
"""Of a file of reports."""

_SEPARATORS = (",", ";", "\t", "|")

_QUOTED = re.compile('"[^"]*("|$)')

_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+")
"""A number whose points may stand between thousands, as in 1.234."""

_BITS = "; the bits of a unary encoding must be joined to a word such as 0110"


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
        return tuple(word_of(number) for number in self.numeric.tolist())

    def is_present(self, missing: Sequence[str] = ()) -> Any:
        """Return which rows have an entry; the words in `missing` are none."""
        if self.numeric is not None and not missing:
            return (self.numeric == self.numeric)[self.codes]
        absent = {"", *missing}
        return np.array([word not in absent for word in self.words], dtype=bool)[self.codes]

    def numbers(
        self, name: str, *, least: float = -np.inf, is_positive: bool = False, where: Any = None
    ) -> Floats:
        """Return the entries as numbers; those of rows outside `where` are not checked.

        Raises
        ------
        ValueError
            If one is no number, is not finite, is less than `least`, or is not positive where that
            is needed; or if they can be read in two ways, as 1.234 can.
        """
        if self.numeric is not None:
            found = self.numeric.astype(float)
        else:
            found = np.array([_number(word) for word in self.words], dtype=float)
            self._refuse_grouped(name, where)

        rule = "a number"
        is_right = np.isfinite(found) & (found >= least)
        if is_positive:
            rule = "a number > 0"
            is_right &= found > 0
        elif least > -np.inf:
            rule = f"a number >= {exact(least)}"

        wrong = ~is_right[self.codes]
        if where is not None:
            wrong &= where
        if wrong.any():
            row = int(np.argmax(wrong))
            word = self.words[self.codes[row]]
            hint = ""
            if "," in word:
                hint = "; write a decimal point, and no mark between thousands"
            raise ValueError(f"{name} must be {rule}, got {shortened(word)} in row {row + 1}{hint}")
        return np.asarray(found[self.codes])

    def _refuse_grouped(self, name: str, where: Any) -> None:
        """Refuse numbers whose points may all stand between thousands: 1.234 is 1234 to many."""
        used = np.unique(self.codes if where is None else self.codes[where])
        pointed = [code for code in used.tolist() if "." in self.words[code]]
        if not pointed or not all(_GROUPED.fullmatch(self.words[code]) for code in pointed):
            return

        is_first = self.codes == pointed[0]
        if where is not None:
            is_first &= where
        row = int(np.argmax(is_first)) + 1
        word = self.words[pointed[0]]
        ways = f"write {word.replace('.', '')} if the point is between thousands"
        if word.count(".") == 1:
            ways += f", or {word}0 if it is a decimal point"
        raise ValueError(
            f"{name} must be numbers that can be read in one way only, got {word!r} in row {row}: "
            f"{ways}"
        )


Table = dict[str, Column]


def table(given: Any) -> Table:
    """Return the columns of a path to a CSV file, a mapping, a DataFrame, or just reports.

    Names of columns are in lower case.
    """
    if isinstance(given, str | Path):
        return read_csv(given)
    if hasattr(given, "to_pydict"):  # a table of pyarrow, whose columns have no names
        given = given.to_pydict()
    if not isinstance(given, Mapping) and not hasattr(given, "columns"):
        if not isinstance(given, Iterable):
            raise TypeError(
                "table must be reports, columns, a DataFrame or the path of a CSV file, "
                f"got {shortened(given)}"
            )
        given = {"report": given}

    found: Table = {}
    for name in given if isinstance(given, Mapping) else given.columns:
        lower = str(name).strip().lower()
        if lower in found:
            raise ValueError(f"columns must have different names, got {shown(lower)} twice")
        found[lower] = _coded(given[name])
    lengths = {column.codes.size for column in found.values()}
    if len(lengths) != 1:
        raise ValueError(f"columns must have the same length, got lengths {sorted(lengths)}")
    return found


def read_csv(path: str | Path) -> Table:
    """Return the columns of a CSV file: UTF-8, with commas, semicolons, tabs or bars.

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
            rows = csv.reader(file, delimiter=_separator(file))
            names = next((row for row in rows if row), [])
            entries = _entries(rows, len(names), name)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise UsageError(
            f"{name} must be text in UTF-8, but it has a byte 0x{byte:02x} that is not: save it as "
            "CSV in UTF-8"
        ) from None
    except csv.Error as error:
        raise UsageError(f"{name} must be a CSV file: {error}") from None
    if not names or not entries:
        raise UsageError(f"{name} must have column names and rows, but it is empty")

    if len(set(names)) < len(names):
        twice = next(column for column in names if names.count(column) > 1)
        raise UsageError(f"{name}: columns must have different names, got {shown(twice)} twice")
    try:
        return table({column: entries[place :: len(names)] for place, column in enumerate(names)})
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def _separator(file: TextIO) -> str:
    """Return the separator that the header has most often outside of quotes; begin anew."""
    header = next((line for line in file if line.strip()), "")
    file.seek(0)
    return max(_SEPARATORS, key=_QUOTED.sub("", header).count)


def _entries(rows: Any, width: int, name: str) -> list[str]:
    """Return all entries one after another: a million short lists would take a second.

    Empty rows are skipped, also where rows are numbered.
    """
    entries: list[str] = []
    for row in rows:
        if len(row) == width:
            entries += row
        elif row:
            number = len(entries) // width + 1
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
        raise ValueError(f"a column must be one-dimensional, got shape {given.shape}{_BITS}")

    array = given
    if isinstance(given, list) and set(map(type, given)) in ({int}, {float}):
        array = np.asarray(given)
    kind = getattr(getattr(array, "dtype", None), "kind", "O")
    if kind in "iuf":
        different, codes = np.unique(np.asarray(array), return_inverse=True)
        return Column(codes, numeric=different)

    entries = list(given)
    try:
        places = {entry: place for place, entry in enumerate(dict.fromkeys(entries))}
    except TypeError:  # lists and arrays cannot be keys
        kinds = sorted({type(entry).__name__ for entry in entries})
        raise ValueError(
            f"a column must have numbers or words as entries, got {', '.join(kinds)}{_BITS}"
        ) from None
    codes = np.fromiter(map(places.__getitem__, entries), np.int64, len(entries))
    words: dict[str, int] = {}
    merged = [words.setdefault(word_of(entry), len(words)) for entry in places]
    return Column(np.array(merged, dtype=np.int64)[codes], texts=tuple(words))


def word_of(entry: Any) -> str:
    """Return an entry as a word: '' for a missing one, and no needless digits of a number.

    >>> word_of(3.0), word_of(" yes "), word_of(None)
    ('3', 'yes', '')
    """
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
