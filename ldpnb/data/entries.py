"""What the entries of a column mean: numbers, dates or categories, and which are missing.

The different entries are read in every way that they may be: as numbers with all marks, as dates in all forms. Of the
ways that fit most of them, all must give the same values; where two differ, `AmbiguousError` asks, and none is chosen.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.data.reading import THOUSANDS, AmbiguousError, Reading, Ways

ABSENT = frozenset({"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"})
"""Entries that are missing among numbers and dates; among categories it is asked, but for the empty one."""

_CODES = [-1, -7, -8, -9, -66, -77, -88, -97, -98, -99, -999, -9999]
_CODES += [88, 97, 98, 99, 777, 888, 997, 998, 999, 9998, 9999, 99999]
_SMALL_CODES, _PAIRED_CODES, _SCALE_CODES = [-2, -3, -4, -5, -6], [66, 77], [7, 8, 9]
_DAYS = [
    "1111-11-11",
    "1753-01-01",
    "1800-01-01",
    "1899-12-30",
    "1899-12-31",
    "1900-01-01",
    "1901-01-01",
]
_DAYS += ["1970-01-01", "2099-12-31", "2199-12-31", "2999-12-31", "9999-12-31"]
"""Numbers that stand for missing answers in many surveys; whole ones of which few are negative, those beside 88 or 99,
those of scales that end at 5 or before; and dates."""

_SPACE = "[ \u00a0\u200b\ufeff]{2,}|[\u00a0\u200b\ufeff]"
"""Blanks, with those that do not show, which stand for one."""
_GROUPS, _BLANKS = "".join(THOUSANDS.values()), THOUSANDS[" "]
_DIGITS = rf"[+-]?\d[\d{_GROUPS}]*"
_SIGNED = rf"[+-]?(?:([^\w\s-]{{1,2}}|[A-Z]{{3}})[{_BLANKS}]?)?{_DIGITS}(?:[{_BLANKS}]?([^\d.,\s-]{{1,4}}|-))?"
"""A number, and one with a sign before or behind it, such as that of a currency, or in brackets."""
_NEGATIVE = {"()": r"^\(([^()]*\d[^()]*)\)$", "-": r"^([^-]*\d)-$"}
"""Negative numbers in brackets, and with the sign behind."""

_DAY = r"(19|20)\d\d(0[1-9]|1[0-2])[0-3]\d"
_TIME = r"([T :]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?( ?(Z|[A-Z]{3,4})?([+-]\d{1,2}(:?\d{2})?)?)?)?$"
_DATE = r"\d{1,4}[-./ ](\d{1,2}|[A-Za-z]{3,9})[-./ ]\d{1,4}T?|[A-Za-z]{3,9} \d{1,2}, \d{4}|\d{1,2}[A-Za-z]{3}\d{4}"
_DATE = f"({_DATE}){_TIME}"
_TYPED = "%Y-%m-%dT"
"""How the dates of cells that have a type are written here."""
_FORMS = [
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
]
_FORMS += [
    "%m/%d/%y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d-%b-%Y",
    "%Y%m%d",
    "%Y.%m.%d",
]
_FORMS += ["%d%b%Y", _TYPED]

_FEW, _FEW_NEGATIVE, _SAMPLE, _MANY = 8, 3, 1000, 100_000
_NAMES: Ways = {"names": {"kind": "category"}}
_NUMBERS: Ways = {"numbers": {"kind": "number"}}
_ROUNDED: Ways = {"numbers, of which 15 digits count": {"kind": "number"}}
_EXACT = 2.0**53
"""Up to it whole numbers have floats of their own."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a column by their different values."""

    kind: str  # number, category or date
    values: NDArray[
        Any
    ]  # (d,) float, datetime64 or object, different ones in their order; categories are texts
    places: NDArray[np.int64]  # (rows,) the place of each row's value, -1 for a missing one

    @property
    def times(self) -> NDArray[np.int64]:
        """How often each value occurs."""
        return np.bincount(self.places[self.places >= 0], minlength=len(self.values))


def parsed(series: "pd.Series[Any]", reading: Reading) -> Entries:
    """Return what a column's entries mean.

    A column of lists or records, without entries, or with others than its kind says is a ValueError.
    """
    rows = np.arange(len(series))
    if (
        pd.api.types.is_any_real_numeric_dtype(series.dtype)
        and reading.kind in ("", "number")
        and not reading.dates
    ):
        kind, meant = "number", np.array(series.to_numpy(float, na_value=np.nan))
    else:
        if series.dtype == object:  # in which True and 1 are the same
            series = series.map(
                lambda entry: str(entry) if isinstance(entry, bool | np.bool_) else entry
            )
        different = series.array
        few = len(series) <= _MANY or series[:_MANY].nunique() < _MANY / 2
        if few or series.dtype != "string[pyarrow]":  # others are too many to list
            try:
                rows, different = pd.factorize(series)
            except (TypeError, NotImplementedError, OverflowError):
                raise ValueError(
                    "holds lists or records, where it must hold one value a row"
                ) from None
        kind, meant = _meant(
            different, np.bincount(rows[rows >= 0], minlength=len(different)), reading
        )
    if kind == "number":
        codes = [
            float(code) for code in reading.missing if re.fullmatch(r"[+-]?(\d+(\.\d+)?|inf)", code)
        ]
        meant[np.isin(meant, codes)] = np.nan
        if len(endless := meant[np.isinf(meant)]):
            ways: Ways = {"missing": {"missing": [f"{number:g}" for number in np.unique(endless)]}}
            raise AmbiguousError("holds numbers that are too large", ways | _NAMES)
    elif kind == "date":
        meant[np.isin(meant, _days(pd.Series(reading.missing, dtype=object), _FORMS[0]))] = (
            np.datetime64("NaT")
        )
    places, values = pd.factorize(meant, sort=True)
    if not len(values):
        raise ValueError("has no entries")
    entries = Entries(kind, np.asarray(values), np.append(places, -1)[rows])
    if kind == "number" and not reading.kind and np.abs(entries.values).max() > _EXACT:
        text = label(
            series.iloc[int(np.abs(np.append(entries.values, 0.0)[entries.places]).argmax())]
        )
        if re.fullmatch(r"[+-]?\d{16,}", text):
            raise AmbiguousError(
                f"has numbers of more than 15 digits, such as {text}", _NAMES | _ROUNDED
            )
    if kind != "category" and "" not in reading.missing:
        _ask_missing(entries, reading.present)
    return entries


def label(entry: Any) -> str:
    """Return an entry as a name: a whole number without its point, accents and blanks in one form."""
    return (
        f"{entry:.15g}"
        if isinstance(entry, float)
        else normalize("NFC", re.sub(_SPACE, " ", str(entry)).strip())
    )


def _meant(different: Any, times: NDArray[np.int64], reading: Reading) -> tuple[str, Any]:
    """Return the kind of different entries, and what each means, empty for a missing one."""
    kind = reading.kind
    texts, numbers = _apart(different, days=kind != "category")
    absent = {*reading.missing, *ABSENT} - {*reading.present}
    here = ~_matches(texts, "|".join(map(re.escape, absent)))
    if kind == "category":
        return kind, _named(texts, here, reading)
    forms = _forms(texts.filter(here)[:50].to_pylist(), reading) if kind != "number" else []
    if forms or kind == "date":
        days = np.full(len(texts), "NaT", dtype="datetime64[D]")
        days[here] = _dates(texts.filter(here), forms or [_TYPED], reading)
        return "date", days
    is_word = here & np.isnan(numbers)
    words = texts if is_word.all() else texts.filter(is_word)
    numbers[is_word], question = _numbers(words, reading)
    numbers[~here] = np.nan
    odd = here & np.isnan(numbers)
    others = odd & ~(_matches(texts, _SIGNED) & ~_matches(texts, _DIGITS)) if odd.any() else odd
    if kind == "number" and here.any() and (here == others).all():
        raise ValueError(f"must hold numbers, got {_few(words[:4].to_pylist())}")
    if kind != "number" and times[others].sum() > times[here].sum() / 2:
        return "category", _named(texts, here, reading)
    if question:
        raise question
    if odd.any():
        frequent = np.flatnonzero(odd)[np.argsort(-times[odd], kind="stable")[:_SAMPLE]]
        _ask_others(texts.take(frequent), int(odd.sum()))
    if not kind and (zeros := _matches(words, r"0\d+([.,:]\d+)?")).any():
        raise AmbiguousError(
            f"has leading zeros, such as {words.filter(zeros)[0]}", _NAMES | _NUMBERS
        )
    if not kind and len(words) and _matches(words, _DAY).all():
        raise AmbiguousError(f"{words[0]} may be a date", {"dates": {"dates": "%Y%m%d"}} | _NUMBERS)
    return "number", numbers


def _apart(different: Any, *, days: bool) -> tuple[Any, NDArray[np.float64]]:
    """Return different entries as an Arrow array of texts, and as numbers, nan for those that are none.

    With `days` the time of a date is left out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = np.full(len(different), np.nan)
    if different.dtype == "string[pyarrow]":
        texts = pc.utf8_trim_whitespace(
            _replaced(pc.utf8_normalize(pa.array(different), "NFC"), _SPACE, " ")
        )
        return texts.fill_null(""), numbers
    texts = []
    for place, entry in enumerate(different):
        texts.append(f"{label(entry)[:10]}T" if days and hasattr(entry, "year") else label(entry))
        if isinstance(entry, Number) and not isinstance(entry, bool | np.bool_):
            numbers[place] = float(entry)  # type: ignore[arg-type]
    return pa.array(texts, pa.string()), numbers


def _matches(texts: Any, pattern: str) -> NDArray[np.bool_]:
    """Return which texts match a pattern as a whole."""
    import pyarrow.compute as pc

    return np.asarray(pc.match_substring_regex(texts, f"^(?:{pattern})$"))


def _replaced(texts: Any, pattern: str, by: str) -> Any:
    """Return texts with all that matches a pattern replaced."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, pattern, by)


def _named(texts: Any, here: NDArray[np.bool_], reading: Reading) -> "pd.Series[Any]":
    """Return texts as names, empty for those not here; ask about words, and where no kind is stated about cases."""
    names = pd.Series(texts, dtype="string[pyarrow]").where(here)
    lower = names.str.lower()
    doubtful = sorted({*texts.filter(~here).to_pylist()} - {"", *reading.missing})
    if doubtful:
        ways: Ways = {"missing": {"missing": doubtful}, "an answer": {"present": doubtful}}
        raise AmbiguousError(f"holds {', '.join(doubtful)}", ways)
    twice = lower[lower.duplicated() & ~names.duplicated()]
    if len(twice) and not reading.kind and not reading.fold:
        alike = sorted(names[lower == twice.iloc[0]].unique())
        raise AmbiguousError(
            f"{_few(alike)} differ only in case", {"they are the same": {"fold": True}} | _NAMES
        )
    return lower if reading.fold else names


def _forms(texts: list[str], reading: Reading) -> list[str]:
    """Return the forms of dates that are stated, if any of some texts has one, or else known ones if most have one."""
    cut = [re.sub(_TIME, "", text) for text in texts]
    if any(
        _days(pd.Series(texts + cut, dtype=object), form).notna().any() for form in reading.dates
    ):
        return [*reading.dates, _TYPED]
    alike = [re.sub(_TIME, "", text) for text in texts if re.fullmatch(_DATE, text)]
    marks = {re.sub(r"\w", "", text) for text in alike}
    known = (
        [form for form in _FORMS if re.sub(r"%?\w", "", form) in marks]
        if len(alike) > len(texts) / 2
        else []
    )
    return [form for form in known if _days(pd.Series(alike, dtype=object), form).notna().any()]


def _days(texts: "pd.Series[str]", form: str) -> "pd.Series[Any]":
    """Return texts as days by a form, empty where they have another."""
    return pd.to_datetime(texts, format=form, errors="coerce").dt.normalize()


def _dates(entries: Any, forms: list[str], reading: Reading) -> NDArray[np.datetime64]:
    """Return entries as days; each must be a date in just one of some forms, behind which a time may stand."""
    if not any("%M" in form for form in forms):
        entries = _replaced(entries, _TIME, "")
    places, different = pd.factorize(pd.Series(entries, dtype="string[pyarrow]"))
    texts = pd.Series(different, dtype=object)
    table, stated = (
        pd.DataFrame({form: _days(texts, form) for form in forms}),
        forms[0] in reading.dates,
    )
    if not stated and (whole := table.notna().all()).any():
        table = table.loc[:, whole]
    lacking = table.isna().all(axis=1)
    if lacking.any():
        others = texts[lacking].unique().tolist()
        ways: Ways = {"another form": {"dates": "%d.%m.%Y"}}
        ways |= {"missing": {"missing": others}} if len(others) <= _FEW else {}
        raise AmbiguousError(f"{_few(others)} is no date in a known form", ways | _NAMES)
    unlike = table.min(axis=1) != table.max(axis=1)
    if unlike.any():
        row = int(unlike.argmax())
        ways = {
            f"it is {day:%Y-%m-%d}": {"dates": form}
            for form, day in table.loc[row].dropna().items()
        }
        raise AmbiguousError(f"{texts[row]!r} has more than one reading", ways)
    if not stated and (
        table.isna().any(axis=None) or any("%y" in form for form in map(str, table))
    ):
        ways = {"so": {"dates": [form for form in table if form != _TYPED]}} | _NAMES
        raise AmbiguousError(
            f"{texts[0]!r} and others are in several forms, or without their century", ways
        )
    return table.bfill(axis=1).iloc[:, 0].to_numpy("datetime64[D]")[places]


def _numbers(texts: Any, reading: Reading) -> tuple[NDArray[np.float64], AmbiguousError | None]:
    """Return texts as numbers, nan for those that are none, and a question if a point may be either mark."""
    plain = _bare(texts, reading.strip)
    marks = [mark for mark in ".," if reading.decimal in ("", mark) and reading.thousands != mark]
    readings = [(mark, _read_as(plain, mark, reading.thousands)) for mark in marks]
    readings.sort(key=lambda one: np.isnan(one[1]).sum())
    (_, numbers), (_, other) = readings[0], readings[-1]
    unlike = ~np.isclose(numbers, other, rtol=0, atol=0, equal_nan=True)
    if np.isnan(numbers).sum() < np.isnan(other).sum() or not unlike.any():
        return numbers, None
    place = int(unlike.argmax())
    text, ways = texts[place].as_py(), Ways()
    for mark, one in readings:
        group = "." if mark == "," else ","
        meaning = "no number" if np.isnan(one[place]) else f"it is {one[place]:.12g}"
        ways[meaning] = {"thousands": group} if group in text else {"decimal": mark}
    return numbers, AmbiguousError(f"{text!r} has two readings", ways)


def _bare(texts: Any, strip: Collection[str]) -> Any:
    """Return texts without some signs at their ends (an e inside is of a power of ten), a plain minus in front."""
    texts = _replaced(texts, "[\u2212\u2013\u2011\uff0d]", "-")
    for sign in _NEGATIVE.keys() & {*strip}:
        texts = _replaced(texts, _NEGATIVE[sign], r"-\1")
    for affix in map(
        re.escape, sorted({*strip} - {*_NEGATIVE}, key=len, reverse=True)
    ):  # kg before g
        texts = _replaced(texts, rf"^([+-]?){affix}[{_BLANKS}]?|[{_BLANKS}]?{affix}$", r"\1")
    return texts


def _read_as(texts: Any, decimal: str, thousands: str) -> NDArray[np.float64]:
    """Return texts as numbers with a mark of decimals, nan for those that are none; any other mark may make groups."""
    marks, point = THOUSANDS[thousands] or _GROUPS.replace(decimal, ""), re.escape(decimal)
    groups = rf"[1-9]\d{{0,2}}(?:[{marks}]\d{{3}})+" + r"|[1-9]\d?(?:,\d\d)+,\d{3}" * (
        "," in marks
    )  # in India
    shape = rf"(?:\d+(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?|(?:{groups})(?:{point}\d*)?"
    fits, numbers = _matches(texts, f"[+-]?(?:{shape})"), np.full(len(texts), np.nan)
    if fits.any():
        plain = _replaced(texts if fits.all() else texts.filter(fits), f"[{marks}]", "")
        numbers[fits] = (_replaced(plain, ",", ".") if decimal == "," else plain).cast("double")
    return numbers


def _ask_others(texts: Any, count: int) -> None:
    """Ask about entries of a column of numbers that are none; the most frequent of them are listed."""
    entries = list(dict.fromkeys(texts.to_pylist()))
    pairs = [match.groups("") for entry in entries if (match := re.fullmatch(_SIGNED, entry))]
    signs = dict.fromkeys(sign.strip("()") for pair in pairs for sign in pair if sign.strip("()"))
    signs |= dict.fromkeys("()" for entry in entries if re.search(_NEGATIVE["()"], entry))
    bare = _bare(texts, signs)
    fits = _matches(bare, _DIGITS) & ~_matches(texts, _DIGITS)
    strangers, ways = list(dict.fromkeys(texts.filter(~fits).to_pylist())), Ways()
    if fits.any() and len(signs) <= _FEW:
        meaning = f"take them off, {texts[fits.argmax()].as_py()!r} is {bare[fits.argmax()]}"
        ways[meaning] = {"strip": list(signs)} | (
            {"missing": strangers} if 0 < len(strangers) <= _FEW else {}
        )
    if len(entries) <= _FEW:
        ways["these are missing"] = {"missing": entries}
    raise AmbiguousError(
        f"holds numbers and {count:,} other entries, such as {_few(entries)}", ways | _NAMES
    )


def _ask_missing(entries: Entries, present: Sequence[str]) -> None:
    """Ask about numbers or dates that look like codes of missing entries.

    These are far from all others, or negative where no other is, or far more frequent than others.
    """
    numbers, times = entries.values, entries.times
    if entries.kind == "number":
        scale = not ((numbers > 5) & (numbers < 7)).any()
        small = bool((numbers % 1 == 0).all() and (numbers < 0).sum() <= _FEW_NEGATIVE)
        known = _CODES + _SCALE_CODES * scale + _SMALL_CODES * small
        codes = {
            str(code): code
            for code in known + _PAIRED_CODES * bool(np.isin([88, 99], numbers).any())
        }
    else:
        codes = dict(
            zip(_DAYS, np.array(_DAYS, dtype="datetime64[D]").astype(int).tolist(), strict=True)
        )
        numbers = numbers.astype("datetime64[D]").astype(int)
    usual = ~np.isin(numbers, [*codes.values()])
    if usual.all() or not usual.any():
        return
    values, typical = numbers[usual], np.median(times[usual])
    low, high = values.min(), values.max()
    whole = len(values) > 20 and bool((values % 1 == 0).all())
    heap = typical + 5 * np.sqrt(typical) if whole else np.inf
    far = max(high - low, 1) / 2
    odd = {}
    for label, code in codes.items():
        rows = int(times[numbers == code].sum())
        away = code > high + far or code < low - far or code < 0 <= low
        if rows and label not in present and (away or (rows > heap and not 0 < code < 10)):
            odd[label] = rows
    if odd:
        shown = ", ".join(f"{label} ({rows:,} times)" for label, rows in odd.items())
        ways: Ways = {
            "missing": {"missing": [*odd]},
            f"{entries.kind}s like others": {"present": [*odd]},
        }
        raise AmbiguousError(f"{shown} may stand for a missing entry", ways)


def _few(entries: Sequence[str]) -> str:
    return ", ".join(repr(entry[:40]) for entry in entries[:4])
