"""What the entries of a column mean: numbers, dates or categories, and which are missing.

The different entries are compared in all their readings. If one fits best it is taken; if two fit and give different
numbers, `AmbiguousError` says so, and no reading is chosen silently. What texts are as numbers: `ldpnb.data.numerals`.
"""

import re
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.data.numerals import as_numbers, ask_codes, ask_missing, numbers_in, plain_numbers
from ldpnb.data.reading import AmbiguousError, Reading

ABSENT = frozenset({"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"})
"""Entries that are missing among numbers and dates; among categories it is asked, but for the empty one."""

_DATE = re.compile(r"\d{1,4}([-./ ])(\d{1,2}|[A-Za-z]{3})[-./ ]\d{1,4}(\D.*)?|[A-Za-z]{3} \d{1,2}, \d{4}")
_DAYS: tuple[str, ...] = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y")
_DAYS += ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%b %d, %Y", "%d-%b-%Y")
_FORMS = [day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")] + ["ISO8601"]
_TYPED, _FEW = "T00", 8
"""Put behind a typed date without its time; and most entries that are listed."""
_NAMES = {"kind": "category"}


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a column by their different values.

    Parameters
    ----------
    kind : {"number", "category", "date"}
    values : (d,) float, datetime64 or object
        Different values in their order; categories are texts.
    places : (rows,) int
        The place of each row's value, -1 for a missing one.
    """

    kind: str
    values: NDArray[Any]
    places: NDArray[np.int64]

    @property
    def times(self) -> NDArray[np.int64]:
        """How often each value occurs."""
        return np.bincount(self.places[self.places >= 0], minlength=len(self.values))


def parsed(series: "pd.Series[Any]", name: str, reading: Reading, *, ranged: bool = False) -> Entries:
    """Return what a column's entries mean; `ranged` if a range of numbers is stated for it.

    Raises
    ------
    AmbiguousError
        If there are two readings.
    ValueError
        If it holds lists or records, no entries, or others than its kind says.
    """
    kind = reading.kind or ("date" if reading.dates else "number" if ranged else "")
    try:
        entries = (_plain(series, reading) if kind in ("", "number") else None) or _compared(series, kind, reading)
    except AmbiguousError as ask:
        ask.column = name
        raise
    except (ValueError, OverflowError) as error:
        raise ValueError(f"column {name} {error}") from None
    if not len(entries.values):
        raise ValueError(f"column {name!r} has no entries")
    return entries


def label(entry: Any) -> str:
    """Return an entry as a name: a whole number without its point."""
    return f"{entry:.15g}" if isinstance(entry, float) else str(entry).strip()


def _plain(series: "pd.Series[Any]", reading: Reading) -> Entries | None:
    """Return the entries of most columns of numbers: those that need no comparing."""
    numbers = plain_numbers(series, reading)
    if numbers is None:
        return None
    if codes := numbers_in(reading.missing):
        numbers = np.where(np.isin(numbers, codes), np.nan, numbers)
    places, values = pd.factorize(numbers, sort=True)
    entries = Entries("number", values, places)
    ask_missing(values, entries.times, reading)
    return entries


def _compared(series: "pd.Series[Any]", kind: str, reading: Reading) -> Entries:
    """Return entries by what the different ones among them mean."""
    if series.dtype == object:  # which takes True and 1 for the same
        series = series.map(lambda entry: str(entry) if isinstance(entry, bool | np.bool_) else entry)
    try:
        codes, different = pd.factorize(series)
    except (TypeError, NotImplementedError, OverflowError):
        raise ValueError("holds lists or records, where it must hold one value a row") from None
    times = np.bincount(codes + 1, minlength=len(different) + 1)[1:]
    kind, meant = _meant(pd.Series(different), times, reading, kind)
    if kind == "category" and reading.fold:
        meant = meant.str.lower()
    places, values = pd.factorize(meant, sort=True)
    return Entries(kind, np.asarray(values), np.append(places, -1)[codes])


def _meant(distinct: Any, times: NDArray[np.int64], reading: Reading, kind: str) -> tuple[str, Any]:
    """Return the kind of different entries, and what each means, empty for a missing one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, numbers = _apart(distinct, days=kind in ("", "date"))
    here = ~np.asarray(pc.is_in(texts, pa.array({*reading.missing, *ABSENT} - {*reading.present})))
    names = pd.Series(texts, dtype=pd.ArrowDtype(pa.string())).where(here)
    if kind == "category":
        return kind, names
    is_word = here & np.isnan(numbers)
    words = texts.filter(pa.array(is_word))
    if kind == "date" or (not kind and _hold_dates(words[:50].to_pylist())):
        days = np.full(len(texts), "NaT", dtype="datetime64[D]")
        days[here] = _dates(names[here].tolist(), reading)
        return "date", days
    if len(words):
        numbers[is_word] = as_numbers(words, reading)
    numbers[~here] = np.nan
    odd = here & np.isnan(numbers)
    if not odd.any():
        if not kind:
            ask_codes(words)
        ask_missing(numbers, times, reading)
        return "number", numbers
    if kind != "number" and times[odd].sum() > times[here].sum() / 2:
        _ask_names(names.dropna(), set(texts.filter(pa.array(~here)).to_pylist()), reading)
        return "category", names
    common = names[odd].iloc[np.argsort(-times[odd], kind="stable")[: _FEW + 1]].tolist()
    shown = ", ".join(repr(entry[:40]) for entry in common[:4])
    if odd.sum() == here.sum():
        raise ValueError(f"must hold numbers, got {shown}")
    ways = {"these are missing": {"missing": common}} if len(common) <= _FEW else {}
    raise AmbiguousError(f"holds numbers and {odd.sum():,} other entries, such as {shown}", ways | {"names": _NAMES})


def _apart(distinct: Any, *, days: bool) -> tuple[Any, NDArray[np.float64]]:
    """Return different entries as an Arrow array of texts, and as numbers, nan for those that are none.

    With `days` the time of a date is left out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = np.full(len(distinct), np.nan)
    if distinct.dtype == "string[pyarrow]":
        return pc.utf8_trim_whitespace(pa.array(distinct)), numbers
    texts = []
    for place, entry in enumerate(distinct):
        texts.append(label(entry)[:10] + _TYPED if days and hasattr(entry, "year") else label(entry))
        if isinstance(entry, Number) and not isinstance(entry, bool | np.bool_):
            numbers[place] = float(entry)  # type: ignore[arg-type]
    return pa.array(texts, pa.string()), numbers


def _ask_names(names: "pd.Series[str]", left_out: set[str], reading: Reading) -> None:
    """Ask about words that may mean a missing entry, and about names that differ only in case."""
    doubtful = sorted(left_out & ABSENT - {"", *reading.missing})
    ways: dict[str, dict[str, Any]]
    if doubtful and not reading.present:
        ways = {"missing": {"missing": doubtful}, "an answer": {"present": doubtful}}
        raise AmbiguousError(f"holds {', '.join(doubtful)}", ways)
    spellings = names.drop_duplicates()
    lower = spellings.str.lower()
    twice = lower[lower.duplicated()]
    if len(twice) and not reading.fold:
        ways = {"they are the same": {"fold": True}, "they are not": _NAMES}
        alike = ", ".join(map(repr, sorted(spellings[lower == twice.iloc[0]])))
        raise AmbiguousError(f"{alike} differ only in case", ways)


def _hold_dates(texts: list[str]) -> bool:
    """Return whether most of some texts look like dates, and any of these is one in a known form."""
    dates = [text for text in texts if _DATE.fullmatch(text)]
    return len(dates) > len(texts) / 2 and bool(_forms(dates))


def _forms(texts: list[str]) -> list[str]:
    """Return the forms in which any of the first texts are dates."""
    return [form for form in _FORMS if _days(texts[:50], form).notna().any()]


def _days(texts: list[str], form: str) -> "pd.Series[Any]":
    iso = form == "ISO8601"  # by which -9 is a date too
    like = [text if not iso or _DATE.fullmatch(text) else None for text in texts]
    days = pd.to_datetime(pd.Series(like, dtype=object), format=form, errors="coerce", utc=iso)
    return days.dt.tz_localize(None).dt.normalize()


def _dates(texts: list[str], reading: Reading) -> NDArray[np.datetime64]:
    """Return texts as days; each must be a date in just one of the forms, or else as typed cells are written."""
    forms = {form: _days(texts, form) for form in reading.dates or _forms(texts) or ["ISO8601"]}
    forms = {form: days for form, days in forms.items() if days.notna().all()} or forms
    table = pd.DataFrame(forms)
    days, unlike = table.bfill(axis=1).iloc[:, 0], table.min(axis=1) != table.max(axis=1)
    if reading.dates:
        days = days.fillna(_days(texts, "%Y-%m-%d" + _TYPED))
    ways: dict[str, dict[str, Any]]
    if days.isna().any():
        text = texts[int(days.isna().argmax())]
        ways = {"another form": {"dates": "%d.%m.%Y"}, "it is missing": {"missing": text}, "names": _NAMES}
        raise AmbiguousError(f"{text!r} is no date in a known form", ways)
    unlike &= table.notna().any(axis=1)
    if unlike.any():
        row = int(unlike.argmax())
        ways = {f"it is {day:%Y-%m-%d}": {"dates": form} for form, day in table.loc[row].dropna().items()}
        raise AmbiguousError(f"{texts[row]!r} has more than one reading", ways)
    if not reading.dates and (table.isna().any().any() or any("%y" in form for form in forms)):
        ways = {"so": {"dates": list(forms)}, "names": _NAMES}
        raise AmbiguousError(f"{texts[0]!r} and others are in several forms, or without their century", ways)
    return days.to_numpy("datetime64[D]")
