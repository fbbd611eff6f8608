"""What the entries of a column mean: numbers, dates or categories, and which are missing.

The different entries are compared in all their readings. If one fits best it is taken; if two fit and give different
numbers, `AmbiguousError` says so, and no reading is chosen silently. What texts are as numbers: `ldpnb.data.numerals`.
"""

import re
from collections.abc import Sequence
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
_FEW = 8
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
    if kind in ("", "number"):
        series = plain_numbers(series, reading)
    if series.dtype == object:  # which takes True and 1 for the same
        series = series.map(lambda entry: str(entry) if isinstance(entry, bool | np.bool_) else entry)
    try:
        codes, different = pd.factorize(series)
    except (TypeError, NotImplementedError, OverflowError):
        raise ValueError(f"column {name!r} holds lists or records, where it must hold one value a row") from None
    times = np.bincount(codes + 1, minlength=len(different) + 1)[1:]
    try:
        kind, meant = _meant(pd.Series(different), times, reading, kind)
    except AmbiguousError as ask:
        ask.column = name
        raise
    except (ValueError, OverflowError) as error:
        raise ValueError(f"column {name} {error}") from None
    if kind == "category" and reading.fold:
        meant = meant.str.lower()
    places, values = pd.factorize(meant, sort=True)
    if not len(values):
        raise ValueError(f"column {name!r} has no entries")
    return Entries(kind, np.asarray(values), np.append(places, -1)[codes])


def label(entry: Any) -> str:
    """Return an entry as a name: a whole number without its point."""
    return f"{entry:.15g}" if isinstance(entry, float) else str(entry).strip()


def _meant(distinct: Any, times: NDArray[np.int64], reading: Reading, kind: str) -> tuple[str, Any]:
    """Return the kind of different entries, and what each means, empty for a missing one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, numbers, days = _apart(distinct)
    missing = np.asarray(pc.is_in(texts, pa.array({*reading.missing, *ABSENT} - {*reading.present})))
    if codes := numbers_in(reading.missing):
        missing = missing | np.isin(numbers, codes)
    here, is_day = ~missing, ~np.isnat(days)
    is_word = here & np.asarray(texts.is_valid())
    words = texts.filter(pa.array(is_word))
    if kind == "category":
        return kind, _labels(distinct, texts, here)
    if kind != "number" and (is_day.any() or kind == "date" or _forms(words[:50].to_pylist())):
        others = here & ~is_day
        names = _labels(distinct, texts, others)[others].tolist()
        if names and is_day.any():
            ways: dict[str, Any] = {"it is missing": {"missing": names[0]}, "names": _NAMES}
            raise AmbiguousError(f"holds dates and others, such as {names[0]!r}", ways)
        days[others] = _dates(names, reading) if names else days[others]
        return "date", days
    if is_word.any():
        numbers[is_word] = as_numbers(words, reading)
    numbers[missing] = np.nan
    odd = here & np.isnan(numbers)
    if not odd.any():
        if not kind:
            ask_codes(words)
        ask_missing(numbers, times, reading)
        return "number", numbers
    if kind != "number" and times[odd].sum() > times[here].sum() / 2:
        doubtful = pc.is_in(texts, pa.array(ABSENT - {""} - {*reading.missing}, pa.string()))
        labels = _labels(distinct, texts, here)
        _ask_names(labels, texts.filter(doubtful).to_pylist(), reading)
        return "category", labels
    places = np.argsort(-times * odd, kind="stable")[: odd.sum()]
    common = [label(distinct[place]) for place in places[: _FEW + 1]]
    shown = ", ".join(repr(entry[:40]) for entry in common[:4])
    if odd.sum() == here.sum():
        raise ValueError(f"must hold numbers, got {shown}")
    ways = {"these are missing": {"missing": common}} if len(common) <= _FEW else {}
    raise AmbiguousError(f"holds numbers and {odd.sum():,} other entries, such as {shown}", ways | {"names": _NAMES})


def _apart(distinct: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.datetime64]]:
    """Return different entries as texts, numbers and days, each empty where an entry is something else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers, days = np.full(len(distinct), np.nan), np.full(len(distinct), "NaT", dtype="datetime64[D]")
    if distinct.dtype == "string[pyarrow]":
        return pc.utf8_trim_whitespace(pa.array(distinct)), numbers, days
    if pd.api.types.is_numeric_dtype(distinct) and not pd.api.types.is_bool_dtype(distinct):
        return pa.nulls(len(distinct), pa.string()), distinct.to_numpy(float, copy=True), days
    texts: list[str | None] = [None] * len(distinct)
    for place, entry in enumerate(distinct):
        if isinstance(entry, Number) and not isinstance(entry, bool | np.bool_):
            numbers[place] = float(entry)  # type: ignore[arg-type]
        elif hasattr(entry, "year"):
            days[place] = np.datetime64(str(entry)[:10])
        else:
            texts[place] = label(entry)
    return pa.array(texts, pa.string()), numbers, days


def _labels(distinct: Any, texts: Any, here: NDArray[np.bool_]) -> "pd.Series[str]":
    """Return different entries as names, empty where they are not `here`."""
    import pyarrow as pa

    names = texts if not texts.null_count else pa.array([label(entry) for entry in distinct])
    return pd.Series(names, dtype=pd.ArrowDtype(pa.string())).where(here)


def _ask_names(labels: "pd.Series[str]", doubtful: Sequence[str], reading: Reading) -> None:
    """Ask about words that may mean a missing entry, and about names that differ only in case."""
    if doubtful and not reading.present:
        words = sorted(doubtful)
        ways: dict[str, dict[str, Any]] = {"missing": {"missing": words}, "an answer": {"present": words}}
        raise AmbiguousError(f"holds {', '.join(words)}", ways)
    spellings = labels.dropna().drop_duplicates()
    lower = spellings.str.lower()
    twice = lower[lower.duplicated()]
    if len(twice) and not reading.fold:
        ways = {"they are the same": {"fold": True}, "they are not": _NAMES}
        alike = ", ".join(map(repr, sorted(spellings[lower == twice.iloc[0]])))
        raise AmbiguousError(f"{alike} differ only in case", ways)


def _forms(texts: list[str]) -> list[str]:
    """Return the forms in which any of the first texts are dates."""
    first = texts[:50]
    if not first or not all(map(_DATE.fullmatch, first)):
        return []
    return [form for form in _FORMS if _days(first, form).notna().any()]


def _days(texts: list[str], form: str) -> "pd.Series[Any]":
    days = pd.Series(pd.to_datetime(texts, format=form, errors="coerce", utc=form == "ISO8601"))
    return days.dt.tz_localize(None).dt.normalize()


def _dates(texts: list[str], reading: Reading) -> NDArray[np.datetime64]:
    """Return texts as days; each must be a date in just one of the forms."""
    forms = {form: _days(texts, form) for form in reading.dates or _forms(texts)}
    forms = {form: days for form, days in forms.items() if days.notna().all()} or forms
    forms = {form: days for form, days in forms.items() if days.notna().any()}
    table = pd.DataFrame(forms, index=range(len(texts)))
    none, unlike = table.isna().all(axis=1), table.min(axis=1) != table.max(axis=1)
    ways: dict[str, dict[str, Any]]
    if none.any():
        text = texts[int(none.argmax())]
        ways = {"another form": {"dates": "%d.%m.%Y"}, "it is missing": {"missing": text}, "names": _NAMES}
        raise AmbiguousError(f"{text!r} is no date in a known form", ways)
    if unlike.any():
        row = int(unlike.argmax())
        ways = {f"it is {day:%Y-%m-%d}": {"dates": form} for form, day in table.loc[row].dropna().items()}
        raise AmbiguousError(f"{texts[row]!r} has more than one reading", ways)
    if not reading.dates and table.isna().any().any():
        ways = {"all of these": {"dates": list(forms)}, "names": _NAMES}
        raise AmbiguousError("dates are written in several forms", ways)
    if not reading.dates and (short := [form for form in forms if "%y" in form]):
        ways = {"1969 to 2068": {"dates": short[0]}, "names": _NAMES}
        raise AmbiguousError(f"the century of {texts[0]!r} is not stated", ways)
    return table.bfill(axis=1).iloc[:, 0].to_numpy("datetime64[D]")
