"""What the entries of a column mean: numbers, dates or categories, and which are missing.

The different entries are compared in all their readings. If one fits best it is taken; if two fit and give different
numbers, `AmbiguousError` says so, and no reading is chosen silently.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_NAMES: dict[str, dict[str, Any]] = {"names": {"kind": "category"}}

Ways = dict[str, dict[str, Any]]


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

    if isinstance(series.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(series.dtype):
        series = series.astype(object)
    first = next((entry for entry in series if entry is not None), None) if series.dtype == object else None
    if re.search(r"struct|list|map", str(series.dtype)) or isinstance(first, list | dict | np.ndarray):
        raise ValueError(f"column {name!r} holds lists or records, where it must hold one value a row")
    if series.dtype == object:
        series = series.map(lambda entry: str(entry) if isinstance(entry, bool | np.bool_) else entry)
    codes, distinct = pd.factorize(series)
    try:
        entries = list(distinct)
    except OverflowError as error:
        raise ValueError(f"column {name!r} holds what Python cannot: {error}") from None
    times = np.bincount(codes[codes >= 0], minlength=len(distinct))
    kind = reading.kind or ("date" if reading.dates else "number" if ranged else "")
    kind, meant = _Column(name, reading, kind).meant(entries, times)
    known = np.array([value is not None for value in meant], dtype=bool)
    if not known.any():
        raise ValueError(f"column {name!r} has no entries")
    dtype: Any = {"number": float, "date": "datetime64[D]"}.get(kind, object)
    values, places = np.unique(
        np.array([value for value in meant if value is not None], dtype=dtype), return_inverse=True
    )
    of_distinct = np.full(len(meant) + 1, -1)
    of_distinct[:-1][known] = places
    return Entries(kind, values, of_distinct[codes])


@dataclass(frozen=True, slots=True)
class _Column:
    """A column's different entries in their readings: None for a missing one."""

    name: str
    reading: Reading
    kind: str

    def ask(self, question: str, ways: Ways) -> AmbiguousError:
        return AmbiguousError(question, ways, self.name)

    def meant(self, distinct: list[Any], times: NDArray[np.int64]) -> tuple[str, list[Any]]:
        """Return the kind of different entries, and what each means."""
        words, codes = {*self.reading.missing, *ABSENT} - {*self.reading.present}, _numbers_in(self.reading.missing)
        entries: list[Any] = [entry.strip() if isinstance(entry, str) else entry for entry in distinct]
        gone = [e in words if isinstance(e, str) else isinstance(e, Number) and float(e) in codes for e in entries]  # type: ignore[arg-type]
        known = [None if missing else entry for entry, missing in zip(entries, gone, strict=True)]
        texts = [entry for entry in known if isinstance(entry, str)]
        if self.kind == "category":
            return self.kind, self._folded([None if e is None else label(e) for e in known])
        dates = [entry for entry in known if hasattr(entry, "year")]
        if dates and self.kind != "number":
            if len(dates) < sum(entry is not None for entry in known):
                other = next(str(entry) for entry in known if entry is not None and not hasattr(entry, "year"))
                raise self.ask(
                    f"holds dates and others, such as {other!r}",
                    {"it is missing": {"missing": other}} | _NAMES,
                )
            return "date", [None if entry is None else np.datetime64(str(entry)[:10]) for entry in known]
        dated = self.kind == "date" or bool(_forms(texts))
        if not dated:
            read = dict(zip(texts, self._numbers(texts), strict=True))
            numbers = [read[e] if isinstance(e, str) else float(e) if isinstance(e, Number) else None for e in known]  # type: ignore[arg-type]
            odd = [
                i for i, (e, number) in enumerate(zip(known, numbers, strict=True)) if e is not None and number is None
            ]
            if not odd:
                self._ask_codes(texts)
                return "number", self._without_codes(numbers, times)
            if self.kind == "number" and len(odd) == sum(entry is not None for entry in known):
                few = ", ".join(repr(str(known[i])[:40]) for i in odd[:3])
                raise ValueError(f"column {self.name} must hold numbers, got {few}")
            here = times[[entry is not None for entry in known]].sum()
            if self.kind == "number" or times[odd].sum() <= here / 2:
                raise self._mixed([str(known[i]) for i in odd], times[odd])
        if dated:
            days = dict(zip(texts, self._dates(texts), strict=True))
            return "date", [None if entry is None else days[entry] for entry in known]
        absent = {e for e, missing in zip(entries, gone, strict=True) if missing and isinstance(e, str)}
        return "category", self._named([None if e is None else label(e) for e in known], absent)

    def _mixed(self, others: list[str], times: NDArray[np.int64]) -> AmbiguousError:
        """Return the question about numbers among words."""
        common = [others[i] for i in np.argsort(-times, kind="stable")]
        shown = ", ".join(repr(word[:40]) for word in common[:4])
        ways: Ways = {"these are missing": {"missing": common}} if len(common) <= _FEW else {}
        return self.ask(f"holds numbers and {len(common):,} other entries, such as {shown}", ways | _NAMES)

    def _ask_codes(self, texts: list[str]) -> None:
        """Ask whether texts that are numbers are rather dates or codes, where no kind is stated."""
        if self.kind or not texts:
            return
        if all(map(_DIGITS.fullmatch, texts)):
            raise self.ask(f"{texts[0]} may be a date", {"dates": {"dates": "%Y%m%d"}, "numbers": {"kind": "number"}})
        if zeros := next(filter(_ZEROS.fullmatch, texts), ""):
            raise self.ask(
                f"has leading zeros, such as {zeros}", {"codes": {"kind": "category"}, "numbers": {"kind": "number"}}
            )

    def _numbers(self, texts: list[str]) -> Sequence[float | None]:
        """Return texts as numbers, None for those that are none, by the one reading that fits most of them."""
        stated = self.reading.decimal, self.reading.thousands
        if stated in (("", ""), (".", "")) and all(map(_PLAIN.fullmatch, texts)):
            return [float(text) for text in texts]  # nearly always
        plain = [re.sub("[\u2212\u2013]", "-", text) for text in texts]
        for affix in self.reading.strip:
            plain = [text.removeprefix(affix).removesuffix(affix).strip() for text in plain]
        plain = [_NEGATIVE.sub(r"-\1\2", text) if _NEGATIVE.fullmatch(text) else text for text in plain]
        like = [text for text in plain if _LIKE.fullmatch(text)]
        if len(like) < 0.9 * len(plain) and not self.reading.strip:
            self._ask_signs(plain)
        readings = {marks: values for marks in _marks(like, *stated) if any(values := _read_as(like, *marks))}
        fitting = {marks: sum(value is not None for value in values) for marks, values in readings.items()}
        best = {marks: readings[marks] for marks, count in fitting.items() if count == max(fitting.values())}
        if not best or not any(fitting.values()):
            return [None] * len(texts)
        (first, values), *others = best.items()
        for marks, differing in others if len(like) > 0.5 * len(plain) else ():
            for text, one, two in zip(like, values, differing, strict=True):
                if one != two:
                    raise self._two_readings(text, {first: one, marks: two})
        read = dict(zip(like, values, strict=True))
        return [read.get(text) for text in plain]

    def _two_readings(self, text: str, readings: Mapping[tuple[str, str], float | None]) -> AmbiguousError:
        ways: Ways = {}
        for (decimal, group), number in readings.items():
            grouped = any(mark in text for mark in _GROUPS.get(group, group))
            meaning = "no number" if number is None else f"it is {number:.12g}"
            ways[meaning] = {"thousands": group} if grouped else {"decimal": decimal}
        return self.ask(f"{text!r} has two readings", ways)

    def _ask_signs(self, texts: list[str]) -> None:
        """Ask about signs around numbers, such as those of currencies, if nearly all entries have them."""
        matches = [match for text in texts if (match := _SIGNED.fullmatch(text))]
        signs = dict.fromkeys(sign for match in matches for sign in match.groups() if sign)
        if len(matches) > 0.9 * len(texts) and 0 < len(signs) <= _FEW and not {"-", "("} & set(signs):
            ways: Ways = {"take them off": {"strip": list(signs)}} | _NAMES
            raise self.ask(f"holds numbers with signs, such as {matches[0][0]!r}", ways)

    def _without_codes(self, numbers: list[float | None], times: NDArray[np.int64]) -> list[float | None]:
        """Return numbers, after asking about those that look like codes of missing entries."""
        candidates = _CODES - _numbers_in(self.reading.present) if not self.reading.missing else set()
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
            ways: Ways = {"missing": {"missing": listed}, "numbers like others": {"present": listed}}
            raise self.ask(f"{shown} may stand for a missing entry", ways)
        return numbers

    def _named(self, labels: list[str | None], absent: Iterable[str]) -> list[str | None]:
        """Return names, after asking about words that may mean a missing entry, and about those that differ in case."""
        words = sorted(set(absent) - {""} - set(self.reading.missing))
        if words and not self.reading.present:
            raise self.ask(
                f"holds {', '.join(words)}", {"missing": {"missing": words}, "an answer": {"present": words}}
            )
        spellings: dict[str, set[str]] = {}
        for label in labels:
            if label is not None:
                spellings.setdefault(label.lower(), set()).add(label)
        twice = next((sorted(words) for words in spellings.values() if len(words) > 1), [])
        if twice and not self.reading.fold:
            ways: Ways = {"they are the same": {"fold": True}, "they are not": {"kind": "category"}}
            raise self.ask(f"{', '.join(map(repr, twice))} differ only in case", ways)
        return self._folded(labels)

    def _folded(self, labels: list[str | None]) -> list[str | None]:
        return [label.lower() if label and self.reading.fold else label for label in labels]

    def _dates(self, texts: list[str]) -> Any:
        """Return texts as days; each must be a date in just one of the forms."""
        import pandas as pd

        forms = {form: _days(texts, form) for form in self.reading.dates or _forms(texts)}
        forms = {form: days for form, days in forms.items() if days.notna().all()} or forms
        table = pd.DataFrame(
            {form: days for form, days in forms.items() if days.notna().any()}, index=range(len(texts))
        )
        none = table.isna().all(axis=1)
        if none.any():
            text = texts[int(none.argmax())]
            ways: Ways = {
                "another form": {"dates": "%d.%m.%Y"},
                "it is missing": {"missing": text},
                "names": {"kind": "category"},
            }
            raise self.ask(f"{text!r} is no date in a known form", ways)
        if not self.reading.dates:
            self._ask_form(texts, table)
        elif (unlike := table.min(axis=1) != table.max(axis=1)).any():
            raise ValueError(
                f"column {self.name!r}: {texts[int(unlike.argmax())]!r} is another day by each of the forms stated"
            )
        return [np.datetime64(day, "D") for day in table.bfill(axis=1).iloc[:, 0].to_numpy()]

    def _ask_form(self, texts: list[str], table: Any) -> None:
        """Ask which of several forms dates have, or in which century they lie."""
        unlike = table.min(axis=1) != table.max(axis=1)
        if unlike.any():
            row = int(unlike.argmax())
            ways: Ways = {f"it is {table[f][row]:%Y-%m-%d}": {"dates": f} for f in table if table[f].notna()[row]}
            raise self.ask(f"{texts[row]!r} has more than one reading", ways)
        if table.isna().any().any():
            raise self.ask(
                "dates are written in several forms",
                {"all of these": {"dates": list(table)}} | _NAMES,
            )
        short = [form for form in table if "%y" in form]
        if short:
            raise self.ask(
                f"the century of {texts[0]!r} is not stated",
                {"1969 to 2068": {"dates": short[0]}} | _NAMES,
            )


def label(entry: Any) -> str:
    """Return an entry as a name: a whole number without its point."""
    return f"{entry:.15g}" if isinstance(entry, float) else str(entry)


def _numbers_in(codes: Iterable[str]) -> set[float]:
    return {float(code) for code in codes if re.fullmatch(r"[+-]?\d+(\.\d+)?", code)}


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
    marks = "".join(map(re.escape, _GROUPS.get(group, group)))
    whole = rf"[1-9]\d{{0,2}}(?:[{marks}]\d{{3}})+|\d+" if group else r"\d+"
    point = re.escape(decimal)
    shape = re.compile(rf"[+-]?(?:(?:{whole})(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?", re.ASCII)
    drop = str.maketrans(decimal, ".", _GROUPS.get(group, group))
    return [float(text.translate(drop)) if shape.fullmatch(text) else None for text in texts]


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
