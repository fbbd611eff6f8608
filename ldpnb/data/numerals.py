"""Texts as numbers: which marks they are written with, and whether they are numbers at all or rather codes."""

import re
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.data.reading import THOUSANDS, AmbiguousError, Reading

_CODES = (-1, -7, -8, -9, -77, -88, -98, -99, -999, -9999, 88, 97, 98, 99, 888, 997, 998, 999, 9998, 9999, 99999)
"""Numbers that stand for missing answers in many surveys."""
_PLAIN, _GROUPED = r"[+-]?(0|[1-9]\d*)(\.\d+)?", r"[+-]?[1-9]\d{0,2}\.\d{3}"
"""A number, and one that may have a point between groups of digits, if no other's point is one of decimals."""
_DAY = r"(19|20)\d\d(0[1-9]|1[0-2])[0-3]\d"
_DIGIT = rf"[\d{''.join(THOUSANDS.values())}]"
_LIKE = rf"[+-]?{_DIGIT}*\d{_DIGIT}*([eE][+-]?\d+)?"
_BRACKETS = "()"
"""Stated to be taken off, it makes numbers in brackets negative, as accountants write them."""
_SIGNED = re.compile(r"([^\w\s(-]{0,2}|[A-Z]{3}) ?[+-]?\d[\d.,' \u00a0]*? ?([^\d.,\s]{0,4})")
_FEW, _SAMPLE = 8, 1000


def plain_numbers(series: Any, reading: Reading) -> NDArray[np.float64] | None:
    """Return a column of numbers, or of texts that are blank or numbers with one reading, as floats; of others None.

    So it is with most columns, and takes a quarter of the memory that comparing their different entries takes.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
        return np.asarray(series.to_numpy(float, na_value=np.nan))
    if series.dtype != "string[pyarrow]" or reading.decimal == "," or reading.thousands not in ("", ","):
        return None
    texts = pc.utf8_trim_whitespace(pa.array(series))
    if not _matches(texts, f"({_PLAIN})?").all() or _matches(texts, _DAY).all():
        return None
    if _matches(texts, _GROUPED).any() and not _matches(texts, r".*\.(\d{1,2}|\d{4,})").any():
        return None
    return np.asarray(pc.if_else(pc.equal(texts, ""), None, texts).cast(pa.float64()).fill_null(np.nan))


def as_numbers(texts: Any, reading: Reading) -> NDArray[np.float64]:
    """Return an Arrow array of texts as numbers, nan for those that are none, by the one reading that fits most.

    Raises
    ------
    AmbiguousError
        If two readings fit and differ, or if numbers have signs or brackets around them that nobody stated.
    """
    import pyarrow.compute as pc

    plain = pc.replace_substring_regex(texts, "[\u2212\u2013]", "-")
    for affix in map(re.escape, reading.strip):
        plain = pc.utf8_trim_whitespace(pc.replace_substring_regex(plain, f"^{affix}|{affix}$", ""))
    plain = pc.replace_substring_regex(plain, r"^(\d.*)-$", r"-\1")
    if _BRACKETS in reading.strip:
        plain = pc.replace_substring_regex(plain, r"^\((\d[^()]*)\)$", r"-\1")
    bracketed = _matches(plain, rf"\({_LIKE}\)")
    share = (_matches(plain, _LIKE) | bracketed).mean()
    if bracketed.any() and share > 0.5:
        text = plain[int(bracketed.argmax())].as_py()
        ways = {f"it is -{text[1:-1]}": {"strip": _BRACKETS}, "names": {"kind": "category"}}
        raise AmbiguousError(f"{text!r} may be a negative number", ways)
    if share < 0.9 and not reading.strip:
        _ask_signs(plain[:_SAMPLE].to_pylist())
    readings = [
        ((decimal, group), _read_as(plain, decimal, group))
        for decimal, group in product(".,", THOUSANDS)
        if decimal != group and reading.decimal in ("", decimal) and reading.thousands in ("", group)
        if group in ("", reading.thousands) or pc.any(pc.match_substring_regex(plain, f"[{THOUSANDS[group]}]")).as_py()
    ]
    most = max(np.isfinite(numbers).sum() for _, numbers in readings)
    best, *others = ((marks, numbers) for marks, numbers in readings if np.isfinite(numbers).sum() == most)
    for other in others if share > 0.5 else ():
        unlike = ~np.isclose(best[1], other[1], rtol=0, atol=0, equal_nan=True)
        if unlike.any():
            place = int(unlike.argmax())
            text = plain[place].as_py()
            ways = dict(_way(text, marks, numbers[place]) for marks, numbers in (best, other))
            raise AmbiguousError(f"{text!r} has two readings", ways)
    return best[1]


def _matches(texts: Any, pattern: str) -> NDArray[np.bool_]:
    """Return which texts match a pattern as a whole."""
    import pyarrow.compute as pc

    return np.asarray(pc.match_substring_regex(texts, f"^(?:{pattern})$"))


def _way(text: str, marks: tuple[str, str], number: float) -> tuple[str, dict[str, str]]:
    """Return what a text is by some marks, and the option that says so."""
    decimal, group = marks
    grouped = any(mark in text for mark in THOUSANDS[group])
    meaning = "no number" if np.isnan(number) else f"it is {number:.12g}"
    return meaning, {"thousands": group} if grouped else {"decimal": decimal}


def _read_as(texts: Any, decimal: str, group: str) -> NDArray[np.float64]:
    """Return texts as numbers with one mark for decimals and one for groups, nan for those that are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    marks, point = THOUSANDS[group], re.escape(decimal)
    shape = rf"(?:\d+(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?"
    if group:  # of two digits in India
        shape += rf"|[1-9]\d{{0,2}}(?:[{marks}]\d{{2,3}})*[{marks}]\d{{3}}(?:{point}\d*)?"
    plain = pc.if_else(_matches(texts, f"[+-]?(?:{shape})"), texts, None)
    plain = pc.replace_substring_regex(plain, f"[{marks}]", "") if group else plain
    return np.asarray(pc.replace_substring(plain, decimal, ".").cast(pa.float64()).fill_null(np.nan))


def _ask_signs(texts: list[str]) -> None:
    """Ask about signs around numbers, such as those of currencies, if nearly all entries have them."""
    matches = [match for text in texts if (match := _SIGNED.fullmatch(text))]
    signs = dict.fromkeys(sign for match in matches for sign in match.groups() if sign)
    if len(matches) > 0.9 * len(texts) and 0 < len(signs) <= _FEW and not {"-", "("} & set(signs):
        ways: dict[str, dict[str, Any]] = {"take them off": {"strip": list(signs)}, "names": {"kind": "category"}}
        raise AmbiguousError(f"holds numbers with signs, such as {matches[0][0]!r}", ways)


def ask_codes(texts: Any) -> None:
    """Ask whether texts that are numbers are rather dates or codes."""
    number = {"numbers": {"kind": "number"}}
    if len(texts) and _matches(texts, _DAY).all():
        raise AmbiguousError(f"{texts[0]} may be a date", {"dates": {"dates": "%Y%m%d"}, **number})
    if (zeros := _matches(texts, r"0\d+([.,:]\d+)?")).any():
        question = f"has leading zeros, such as {texts[int(zeros.argmax())]}"
        raise AmbiguousError(question, {"codes": {"kind": "category"}, **number})


def ask_missing(numbers: NDArray[np.float64], times: NDArray[np.int64], reading: Reading) -> None:
    """Ask about numbers that look like codes of missing entries, unless codes are stated; `times` are their rows."""
    coded = np.isin(numbers, _CODES)
    usual = ~np.isnan(numbers) & ~coded
    if reading.missing or not coded.any() or not usual.any():
        return
    present, values = numbers_in(reading.present), numbers[usual]
    low, high, typical = values.min(), values.max(), np.median(times[usual])
    whole = len(values) > 20 and bool((values % 1 == 0).all())
    heap, span = typical + 5 * np.sqrt(typical) if whole else np.inf, max(high - low, 1)
    occurring = {code: int(times[numbers == code].sum()) for code in sorted(_CODES) if code not in present}
    far = {c: n for c, n in occurring.items() if n and (c > high + span / 2 or c < 0 <= low or n > heap)}
    if far:
        listed = [str(code) for code in far]
        shown = ", ".join(f"{code} ({count:,} times)" for code, count in far.items())
        ways = {"missing": {"missing": listed}, "numbers like others": {"present": listed}}
        raise AmbiguousError(f"{shown} may stand for a missing entry", ways)


def numbers_in(codes: Iterable[str]) -> list[float]:
    """Return those of some codes that are numbers."""
    return [float(code) for code in codes if re.fullmatch(r"[+-]?\d+(\.\d+)?", code)]
