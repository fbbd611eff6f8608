"""What the entries of a column say: numbers in stated marks, or names; nothing is guessed.

The first entry that does not fit is refused, and the message names the option that helps.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.arithmetic import Floats
from ldpnb.data.messages import quoted, refuse
from ldpnb.data.reading import Reading
from ldpnb.words import exact

_TWO_DIGITS = [66, 77, 88, 97, 98, 99]
_MORE_DIGITS = [777, 888, 997, 998, 999, 9998, 9999, 99999]
_NEGATIVE = [-66, -77, -88, -97, -98, -99, -999, -9999]
CODES = np.array([*range(-9, 0), 7, 8, 9, *_TWO_DIGITS, *_MORE_DIGITS, *_NEGATIVE])
"""Numbers that often mean that there is no answer."""

_MANY_NUMBERS = 10

WORDS = frozenset(["na", "n/a", "#n/a", "<na>", "nan", "null", "none", "k.a.", "-", ".", "..", "?"])
"""Words that often mean so, in lower case."""

_DATE = re.compile(
    r"\d{1,4}[-./ ](\d{1,2}|[A-Za-z]{3,9})[-./ ]\d{1,4}.*|\d\d?[A-Za-z]{3}\d{4}.*", re.ASCII
)
_WITH_UNIT = re.compile(
    r"[+-]?[0-9][0-9.,]*\s?(%|[^\W\d_]{1,3})|([$€£]|[A-Z]{3})\s?[+-]?[0-9][0-9.,]*"
)
_GROUPED_BY_POINTS = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+")
_OTHER_MARKS = ((",", ""), (".", ","), (",", "."), (".", " "), (".", "'"))
"""Decimal marks and marks between thousands that need an option."""

_BLANKS = "[ \u00a0\u202f\u2009]"
_APOSTROPHES = "['\u2019]"
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks with which numbers are written."""

    decimal: str = "."
    thousands: str = ""

    @classmethod
    def of(cls, reading: Reading) -> "Marks":
        """Return the marks that are stated; a point between groups leaves a decimal comma."""
        usual = "," if reading.thousands == "." else "."
        return cls(reading.decimal or usual, reading.thousands)

    def number(self, text: str) -> float | None:
        """Return the number that a text is, or None.

        >>> Marks(",", ".").number("1.234,5"), Marks().number("1.234,5")
        (1234.5, None)
        """
        digits = text.replace(_MINUS, "-")
        if _pattern(self.decimal, self.thousands).fullmatch(digits) is None:
            return None
        if self.thousands:
            digits = re.sub(_group(self.thousands), "", digits)
        value = float(digits.replace(self.decimal, "."))
        return value if math.isfinite(value) else None


def _group(thousands: str) -> str:
    """Return the pattern of a mark between groups of three digits, with those that look so."""
    return {" ": _BLANKS, "'": _APOSTROPHES}.get(thousands, re.escape(thousands))


@cache
def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    """Return the pattern of numbers: sign, digits, digits behind the mark, power of ten."""
    digits = "[0-9]+"
    if thousands:
        digits = rf"(?:[1-9][0-9]{{0,2}}(?:{_group(thousands)}[0-9]{{3}})+|[0-9]+)"
    point = re.escape(decimal)
    return re.compile(
        rf"[+-]?(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]{{1,4}})?"
    )


def with_missing(entries: "pd.Series[Any]", reading: Reading) -> "pd.Series[Any]":
    """Return entries with None for those that are empty or stated to be missing."""
    missing = {"", *reading.missing}
    if pd.api.types.is_numeric_dtype(entries):
        numbers = [Marks().number(text) for text in missing]
        return entries.mask(entries.isin([value for value in numbers if value is not None]))

    is_missing = entries.isna()
    for entry in entries.dropna().unique():
        if label(entry) in missing:
            is_missing |= entries == entry
    return entries.mask(is_missing, None)


def label(entry: Any) -> str:
    """Return an entry as a name: itself, or a number without needless digits.

    >>> label("k.A."), label(35.0), label(0.1)
    ('k.A.', '35', '0.1')
    """
    if isinstance(entry, str):
        return entry
    if float(entry).is_integer() and abs(entry) < 1e15:
        return str(int(entry))
    return str(entry)


def first_row(where: Any, entries: "pd.Series[Any]") -> int:
    """Return the number of the first row where something is true."""
    return int(entries.index[int(np.argmax(np.asarray(where, dtype=bool)))])


# Numbers


def as_numbers(entries: "pd.Series[Any]", reading: Reading) -> "pd.Series[float]":
    """Return entries as numbers, nan for missing ones; the first that is none is refused."""
    if pd.api.types.is_numeric_dtype(entries) and not pd.api.types.is_bool_dtype(entries):
        return entries.astype(float)

    marks = Marks.of(reading)
    places, distinct = pd.factorize(entries)
    values = np.empty(len(distinct) + 1)
    values[-1] = np.nan  # at the place of missing entries, which is -1
    for place, entry in enumerate(distinct):
        value = marks.number(entry) if isinstance(entry, str) else float(entry)
        if value is None:
            row = first_row(places == place, entries)
            is_below_header = row == entries.index[0] > 1
            what = ", or delete the row if it is part of the header" if is_below_header else ""
            refuse(row, entry, f"is not a number: {_help_with(entry)}{what}")
        values[place] = value

    if not reading.decimal and not reading.thousands:
        _ask_about_points(entries, list(distinct))
    return pd.Series(values[places], index=entries.index)


def _help_with(text: str) -> str:
    """Return the options with which an entry is a number, or that leave it out."""
    ways = _ways_to_read(text)
    missing = f"missing={quoted(text)} if it means that there is no answer"
    if not ways and re.search("[0-9]", text):
        return f"write only the numbers, all in one unit, or set {missing}"
    return f"set {', or '.join([*ways, missing])}"


def _ways_to_read(text: str) -> list[str]:
    """Return the options with which a text is a number, each with the number that it is."""
    ways: dict[float, str] = {}
    for decimal, thousands in _OTHER_MARKS:
        value = Marks(decimal, thousands).number(text)
        if value is not None and value not in ways:
            option = f"thousands={quoted(thousands)}" if thousands else "decimal=,"
            ways[value] = f"{option} if it is {value:.15g}"
    return list(ways.values())


def _ask_about_points(entries: "pd.Series[Any]", distinct: Sequence[Any]) -> None:
    """Ask what the points in 1.234 are, if all points stand so."""
    pointed = [entry for entry in distinct if isinstance(entry, str) and "." in entry]
    if pointed and all(_GROUPED_BY_POINTS.fullmatch(entry) for entry in pointed):
        row = first_row(entries == pointed[0], entries)
        grouped = pointed[0].replace(".", "")
        what = (
            f"set decimal=. if it is {exact(float(pointed[0]))}, or thousands=. if it is {grouped}"
        )
        refuse(row, pointed[0], f"can be read in two ways: {what}")


def ask_about_codes(
    values: "pd.Series[float]", entries: "pd.Series[Any]", reading: Reading
) -> None:
    """Ask about a code for no answer among numbers in their range.

    It is one of `CODES` that lies far from the other numbers, or is alone negative, or is far too
    frequent, or any number far from all others that occurs again. `entries` has the numbers as the
    file writes them.
    """
    if "" in reading.missing:
        return

    numbers, times = np.unique(values.dropna(), return_counts=True)
    is_code = np.isin(numbers, CODES)
    if ((numbers > 5) & (numbers < 7)).any():  # on such a scale 7, 8 and 9 are answers
        is_code &= ~np.isin(numbers, [7, 8, 9])

    is_usual = ~is_code
    if numbers.size > _MANY_NUMBERS:
        is_usual[[0, -1]] &= times[[0, -1]] == 1
    if not is_usual.any():
        return

    low = numbers[is_usual].min()
    high = numbers[is_usual].max()
    far = max(high - low, 1) / 2
    typical = np.median(times[is_usual])
    most = typical + 5 * np.sqrt(typical)
    are_many = is_usual.sum() > 2 * _MANY_NUMBERS

    for number, rows, is_known in zip(numbers, times, is_code, strict=True):
        is_alone = number < 0 <= low
        is_apart = number > high + far or number < low - far or (is_known and is_alone)
        is_frequent = is_known and rows > most and are_many and not 0 < number < 10
        if is_apart or is_frequent:
            row = first_row(values == number, values)
            entry = label(entries[row])
            often = "once" if rows == 1 else f"{rows:,} times"
            what = f"set missing={entry} if it does, or missing= if every code is an answer"
            refuse(row, entry, f"occurs {often} and may mean that there is no answer: {what}")


# Names


def as_names(entries: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return entries as names, exactly as they are, None for missing ones."""
    labels = {entry: label(entry) for entry in entries.dropna().unique()}
    return entries.map(labels).astype(object)


def ask_about_names(names: "pd.Series[Any]", reading: Reading) -> None:
    """Ask about names that may be numbers, dates, no answers, one name twice, or no entries.

    Categories that are stated need no such question.
    """
    here = names.dropna()
    times = here.value_counts()
    distinct = [str(name) for name in here.unique()]
    _ask_about_kind(here, times)
    if "" not in reading.missing:
        _ask_about_words(here, distinct)
    _ask_about_spelling(here, distinct)
    _ask_about_ends(here, times, reading)


def _ask_about_kind(here: "pd.Series[Any]", times: "pd.Series[int]") -> None:
    kinds: dict[str, Callable[[str], Any]] = {
        "may be a number: set low and high, or categories": _is_number,
        "may be a date: write months or years instead, or set categories": _DATE.fullmatch,
        "may be a number with a unit: write only the numbers, all in one unit, "
        "or set categories": _WITH_UNIT.fullmatch,
    }
    for question, is_of_kind in kinds.items():
        names = [name for name in times.index if is_of_kind(name)]
        if 2 * times[names].sum() > len(here):
            first = here[here.isin(names)].iloc[0]
            refuse(_row(here, first), first, question)

    commas = [name for name in times.index if _is_number_with_comma(name)]
    if 2 * times[commas].sum() > len(here):
        first = here[here.isin(commas)].iloc[0]
        ways = ", or ".join(_ways_to_read(first))
        question = f"may be a number: set {ways}, or set categories"
        refuse(_row(here, first), first, question)


def _is_number(name: str) -> bool:
    return Marks().number(name) is not None


def _is_number_with_comma(name: str) -> bool:
    return "," in name and bool(_ways_to_read(name))


def _ask_about_words(here: "pd.Series[Any]", distinct: list[str]) -> None:
    for name in distinct:
        if name.casefold() in WORDS:
            what = f"set missing={quoted(name)} if it does, or missing= if every word is an answer"
            refuse(_row(here, name), name, f"may mean that there is no answer: {what}")


def _ask_about_spelling(here: "pd.Series[Any]", distinct: list[str]) -> None:
    alike: dict[str, str] = {}
    for name in distinct:
        first = alike.setdefault(_plain(name), name)
        if first != name:
            what = "write both in the same way, or set categories"
            refuse(_row(here, name), name, f"looks like {first!a}: {what}")


def _ask_about_ends(here: "pd.Series[Any]", times: "pd.Series[int]", reading: Reading) -> None:
    """Ask about a first or last entry that occurs once where all others occur often."""
    if len(here) <= 5 * len(times):
        return
    for name, option in _ends(here, reading):
        if times[name] == 1:
            what = f"set {option} if it is not an entry, or set categories if it is one"
            refuse(_row(here, name), name, f"does not occur in any other row: {what}")


def _ends(here: "pd.Series[Any]", reading: Reading) -> Iterator[tuple[str, str]]:
    yield here.iloc[0], f"skip={reading.skip + 1}"
    if reading.footer is None:
        yield here.iloc[-1], "footer=1"


def _plain(name: str) -> str:
    """Return a name in lower case and without blanks and marks that do not show."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(sign for sign in folded if unicodedata.category(sign) not in ("Cf", "Zs"))


def _row(here: "pd.Series[Any]", name: str) -> int:
    return first_row(here == name, here)


def bins_of(values: Floats, low: float, high: float, bins: int) -> tuple[Floats, Any]:
    """Return the edges of bins of equal width, and the bin of each value; the last has its end."""
    edges = np.linspace(low, high, bins + 1)
    places = np.searchsorted(edges, values, side="right") - 1
    return edges, np.clip(places, 0, bins - 1)
