"""What the entries of a column mean: numbers, dates or categories, and which are missing.

The different entries are compared in all their readings. If one fits best it is taken; if two fit and give different
numbers, `AmbiguousError` says so, and no reading is chosen silently.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb.data.reading import AmbiguousError, Reading

ABSENT = frozenset({"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"})
"""Entries that are missing among numbers and dates; among categories it is asked, but for the empty one."""

_CODES = {-1, -7, -8, -9, -77, -88, -98, -99, -999, -9999, 88, 97, 98, 99, 888, 997, 998, 999, 9998, 9999, 99999}
"""Numbers that stand for missing answers in many surveys."""
_GROUPS = {"": "", ".": ".", ",": ",", " ": " \u00a0\u202f\u2009", "'": "'\u2019"}
_PLAIN = re.compile(r"[+-]?\d+(\.(\d{1,2}|\d{4,}))?", re.ASCII)
"""A number that has one reading."""
_LIKE = re.compile(
    r"[+-]?[\d., '\u00a0\u202f\u2009\u2019]*\d[\d., '\u00a0\u202f\u2009\u2019]*([eE][+-]?\d+)?", re.ASCII
)
_NEGATIVE = re.compile(r"\((\d[^()]*)\)|(\d.*)-")
"""As accountants write a negative number: (12.50) or 12.50-."""
_SIGNED = re.compile(r"([^\w\s(-]{0,2}|[A-Z]{3}) ?[+-]?\d[\d.,' \u00a0]*? ?([^\d.,\s]{0,4})")
_ZEROS, _DIGITS = re.compile(r"0\d+([.,:]\d+)?"), re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])[0-3]\d")
_DATE = re.compile(r"\d{1,4}([-./ ])(\d{1,2}|[A-Za-z]{3})[-./ ]\d{1,4}(\D.*)?|[A-Za-z]{3} \d{1,2}, \d{4}")
_DAYS: tuple[str, ...] = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d")
_DAYS += ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%b %d, %Y", "%d-%b-%Y")
_FORMS = [day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")] + ["ISO8601"]
_FEW = 8
_NAMES: dict[str, Any] = {"kind": "category"}


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


def parsed(series: Any, name: str, reading: Reading, *, ranged: bool = False) -> Entries:
    """Return what a column's entries mean; `ranged` if a range of numbers is stated for it.

    Raises
    ------
    AmbiguousError
        If there are two readings.
    ValueError
        If it holds lists or records, no entries, or others than its kind says.
    """
    import pandas as pd

    if series.dtype == object:  # which takes True and 1 for the same
        series = series.map(lambda entry: str(entry) if isinstance(entry, bool | np.bool_) else entry)
    try:
        codes, distinct = pd.factorize(series)
        entries = [str(entry) if isinstance(entry, bool | np.bool_) else entry for entry in distinct]
    except (TypeError, NotImplementedError, OverflowError):
        raise ValueError(f"column {name!r} holds lists or records, where it must hold one value a row") from None
    times = np.bincount(codes[codes >= 0], minlength=len(entries))
    kind = reading.kind or ("date" if reading.dates else "number" if ranged else "")
    try:
        kind, meant = _meant(entries, times, reading, kind)
    except AmbiguousError as ask:
        ask.column = name
        raise
    except ValueError as error:
        raise ValueError(f"column {name} {error}") from None
    known = np.array([value is not None for value in meant], dtype=bool)
    if not known.any():
        raise ValueError(f"column {name!r} has no entries")
    dtype: Any = {"number": float, "date": "datetime64[D]"}.get(kind, object)
    different = np.array([value for value in meant if value is not None], dtype=dtype)
    values, places = np.unique(different, return_inverse=True)
    place = np.full(len(meant) + 1, -1)
    place[:-1][known] = places
    return Entries(kind, values, place[codes])


def label(entry: Any) -> str:
    """Return an entry as a name: a whole number without its point."""
    return f"{entry:.15g}" if isinstance(entry, float) else str(entry)


def _meant(distinct: list[Any], times: NDArray[np.int64], reading: Reading, kind: str) -> tuple[str, list[Any]]:
    """Return the kind of different entries, and what each means, None for a missing one."""
    absent = {*reading.missing, *ABSENT, *_numbers_in(reading.missing)} - {*reading.present}
    entries = [entry.strip() if isinstance(entry, str) else entry for entry in distinct]
    known = [None if entry in absent else entry for entry in entries]
    here = [entry for entry in known if entry is not None]
    labels = [None if entry is None else label(entry) for entry in known]
    if kind == "category":
        return kind, _folded(labels, reading)
    texts = [entry for entry in here if isinstance(entry, str)]
    days = {entry: np.datetime64(str(entry)[:10]) for entry in here if hasattr(entry, "year")}
    if kind != "number" and (days or kind == "date" or _forms(texts)):
        others = [entry for entry in here if entry not in days]
        if days and others:
            odd = label(others[0])
            ways = {"it is missing": {"missing": odd}, "names": _NAMES}
            raise AmbiguousError(f"holds dates and others, such as {odd!r}", ways)
        days |= dict(zip(others, _dates([label(entry) for entry in others], reading), strict=True)) if others else {}
        return "date", [None if entry is None else days[entry] for entry in known]
    read: dict[Any, float | None] = {entry: float(entry) for entry in here if isinstance(entry, Number)}  # type: ignore[arg-type]
    read |= zip(texts, _numbers(texts, reading), strict=True)
    numbers = [read.get(entry) for entry in known]
    odd_places = [i for i, entry in enumerate(known) if entry is not None and numbers[i] is None]
    if not odd_places:
        if not kind:
            _ask_codes(texts)
        return "number", _without_codes(numbers, times, reading)
    others = [label(known[i]) for i in odd_places]
    if kind == "number" and len(others) == len(here):
        raise ValueError(f"must hold numbers, got {', '.join(repr(entry[:40]) for entry in others[:3])}")
    if kind == "number" or times[odd_places].sum() <= times[[entry is not None for entry in known]].sum() / 2:
        common = [others[i] for i in np.argsort(-times[odd_places], kind="stable")]
        shown = ", ".join(repr(word[:40]) for word in common[:4])
        ways = {"these are missing": {"missing": common}} if len(common) <= _FEW else {}
        question = f"holds numbers and {len(common):,} other entries, such as {shown}"
        raise AmbiguousError(question, ways | {"names": _NAMES})
    words = {entry for entry in entries if isinstance(entry, str) and entry in ABSENT}
    return "category", _named(labels, words - {""} - {*reading.missing}, reading)


def _ask_codes(texts: list[str]) -> None:
    """Ask whether texts that are numbers are rather dates or codes."""
    if texts and all(map(_DIGITS.fullmatch, texts)):
        ways = {"dates": {"dates": "%Y%m%d"}, "numbers": {"kind": "number"}}
        raise AmbiguousError(f"{texts[0]} may be a date", ways)
    if zeros := next(filter(_ZEROS.fullmatch, texts), ""):
        raise AmbiguousError(f"has leading zeros, such as {zeros}", {"codes": _NAMES, "numbers": {"kind": "number"}})


def _numbers(texts: list[str], reading: Reading) -> Sequence[float | None]:
    """Return texts as numbers, None for those that are none, by the one reading that fits most of them."""
    if (reading.decimal, reading.thousands) in (("", ""), (".", "")) and all(map(_PLAIN.fullmatch, texts)):
        return [float(text) for text in texts]  # nearly always
    plain = [re.sub("[\u2212\u2013]", "-", text) for text in texts]
    for affix in reading.strip:
        plain = [text.removeprefix(affix).removesuffix(affix).strip() for text in plain]
    plain = [_NEGATIVE.sub(r"-\1\2", text) if _NEGATIVE.fullmatch(text) else text for text in plain]
    like = [text for text in plain if _LIKE.fullmatch(text)]
    if len(like) < 0.9 * len(plain) and not reading.strip:
        _ask_signs(plain)
    readings = {marks: _read_as(like, *marks) for marks in _marks(like, reading.decimal, reading.thousands)}
    fitting = {marks: sum(value is not None for value in values) for marks, values in readings.items()}
    most = max(fitting.values(), default=0)
    if not most:
        return [None] * len(texts)
    (first, values), *others = ((marks, readings[marks]) for marks in readings if fitting[marks] == most)
    for marks, differing in others if len(like) > 0.5 * len(plain) else ():
        for text, one, two in zip(like, values, differing, strict=True):
            if one != two:
                ways = dict(_way(text, *pair) for pair in ((first, one), (marks, two)))
                raise AmbiguousError(f"{text!r} has two readings", ways)
    read = dict(zip(like, values, strict=True))
    return [read.get(text) for text in plain]


def _way(text: str, marks: tuple[str, str], number: float | None) -> tuple[str, dict[str, str]]:
    """Return what a text is by some marks, and the option that says so."""
    decimal, group = marks
    grouped = any(mark in text for mark in _GROUPS.get(group, group))
    meaning = "no number" if number is None else f"it is {number:.12g}"
    return meaning, {"thousands": group} if grouped else {"decimal": decimal}


def _marks(texts: list[str], decimal: str, thousands: str) -> Iterator[tuple[str, str]]:
    """Yield the decimal marks and marks between groups that the texts may have."""
    occurring = set("".join(texts))
    if thousands and not any(thousands in marks for marks in _GROUPS.values()):
        yield decimal or ".", thousands
        return
    for point, (group, marks) in product(".,", _GROUPS.items()):
        possible = point in occurring or point == "." or group == "."
        grouped = not group or occurring & set(marks)
        stated = decimal in ("", point) and (thousands in marks if thousands else True)
        if point != group and possible and stated and (grouped or thousands):
            yield point, group


def _read_as(texts: list[str], decimal: str, group: str) -> list[float | None]:
    """Return texts as numbers with one mark for decimals and one for groups, None for those that are none."""
    marks, point = "".join(map(re.escape, _GROUPS.get(group, group))), re.escape(decimal)
    whole = rf"[1-9]\d{{0,2}}(?:[{marks}]\d{{3}})+|\d+" if group else r"\d+"
    shape = re.compile(rf"[+-]?(?:(?:{whole})(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?", re.ASCII)
    drop = str.maketrans(decimal, ".", _GROUPS.get(group, group))
    return [float(text.translate(drop)) if shape.fullmatch(text) else None for text in texts]


def _ask_signs(texts: list[str]) -> None:
    """Ask about signs around numbers, such as those of currencies, if nearly all entries have them."""
    matches = [match for text in texts if (match := _SIGNED.fullmatch(text))]
    signs = dict.fromkeys(sign for match in matches for sign in match.groups() if sign)
    if len(matches) > 0.9 * len(texts) and 0 < len(signs) <= _FEW and not {"-", "("} & set(signs):
        ways = {"take them off": {"strip": list(signs)}, "names": _NAMES}
        raise AmbiguousError(f"holds numbers with signs, such as {matches[0][0]!r}", ways)


def _without_codes(numbers: list[float | None], times: NDArray[np.int64], reading: Reading) -> list[float | None]:
    """Return numbers, after asking about those that look like codes of missing entries."""
    candidates = _CODES - _numbers_in(reading.present) if not reading.missing else set()
    at = {number: i for i, number in enumerate(numbers) if number in candidates}
    usual = [i for i, number in enumerate(numbers) if number is not None and number not in _CODES]
    if not at or not usual:
        return numbers
    values = np.array([numbers[i] for i in usual], dtype=float)
    low, high, typical = values.min(), values.max(), np.median(times[usual])
    whole = len(usual) > 20 and bool((values % 1 == 0).all())
    heap, span = typical + 5 * np.sqrt(typical) if whole else np.inf, max(high - low, 1)
    codes = [c for c in sorted(at) if c > high + span / 2 or c < 0 <= low or times[at[c]] > heap]
    if codes:
        listed = [f"{code:g}" for code in codes]
        shown = ", ".join(f"{code:g} ({times[at[code]]:,} times)" for code in codes)
        ways = {"missing": {"missing": listed}, "numbers like others": {"present": listed}}
        raise AmbiguousError(f"{shown} may stand for a missing entry", ways)
    return numbers


def _numbers_in(codes: Iterable[str]) -> set[float]:
    return {float(code) for code in codes if re.fullmatch(r"[+-]?\d+(\.\d+)?", code)}


def _named(labels: list[str | None], absent: set[str], reading: Reading) -> list[str | None]:
    """Return names, after asking about words that may mean a missing entry, and about those that differ in case."""
    if absent and not reading.present:
        words = sorted(absent)
        ways: dict[str, dict[str, Any]] = {"missing": {"missing": words}, "an answer": {"present": words}}
        raise AmbiguousError(f"holds {', '.join(words)}", ways)
    spellings: dict[str, set[str]] = {}
    for name in filter(None, labels):
        spellings.setdefault(name.lower(), set()).add(name)
    twice = next((sorted(words) for words in spellings.values() if len(words) > 1), [])
    if twice and not reading.fold:
        ways = {"they are the same": {"fold": True}, "they are not": _NAMES}
        raise AmbiguousError(f"{', '.join(map(repr, twice))} differ only in case", ways)
    return _folded(labels, reading)


def _folded(labels: list[str | None], reading: Reading) -> list[str | None]:
    return [name.lower() if name and reading.fold else name for name in labels]


def _forms(texts: list[str]) -> list[str]:
    """Return the forms in which any of the first texts are dates."""
    first = texts[:50]
    if not first or not all(map(_DATE.fullmatch, first)):
        return []
    return [form for form in _FORMS if _days(first, form).notna().any()]


def _days(texts: list[str], form: str) -> Any:
    import pandas as pd

    days = pd.Series(pd.to_datetime(texts, format=form, errors="coerce", utc=form == "ISO8601"))
    return (days.dt.tz_localize(None) if days.dt.tz is not None else days).dt.normalize()


def _dates(texts: list[str], reading: Reading) -> list[Any]:
    """Return texts as days; each must be a date in just one of the forms."""
    import pandas as pd

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
        ways = {f"it is {table[f][row]:%Y-%m-%d}": {"dates": f} for f in table if table[f].notna()[row]}
        raise AmbiguousError(f"{texts[row]!r} has more than one reading", ways)
    short = [form for form in forms if "%y" in form]
    if not reading.dates and table.isna().any().any():
        ways = {"all of these": {"dates": list(forms)}, "names": _NAMES}
        raise AmbiguousError("dates are written in several forms", ways)
    if not reading.dates and short:
        ways = {"1969 to 2068": {"dates": short[0]}, "names": _NAMES}
        raise AmbiguousError(f"the century of {texts[0]!r} is not stated", ways)
    return [np.datetime64(day, "D") for day in table.bfill(axis=1).iloc[:, 0].to_numpy()]
