"""What is stated of a file and of a column in it; and the question that is asked where two readings differ."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from ldpnb import checks

Ways = dict[str, dict[str, Any]]
"""Options, by what they mean."""

THOUSANDS = {"": "", ".": ".", ",": ",", " ": " \u00a0\u202f\u2009", "'": "'\u2019"}
"""Marks between groups of three digits, each with those that stand for the same."""

_SAME = {"tab": "\t", "\\t": "\t", "space": " ", "\u00a0": " ", "\u202f": " ", "\u2019": "'"}
_NAMES = {"\t": "tab", " ": "space"}
_WHOLE = r"\d{0,6}", "a whole number >= 0"


def _option(default: Any, meaning: str, pattern: str = "(?s:.*)", rule: str = "") -> Any:
    return field(default=default, metadata={"meaning": meaning, "pattern": pattern, "rule": rule})


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is to be read; what is empty was not stated, and is found where there is one reading.

    Lists take one entry too: ``Reading(missing="k.A.")``. The meaning of each field stands beside it, and with it the
    rule by which a ValueError refuses others.
    """

    sheet: str = _option("", "Sheet of a workbook, table of a database, or file of an archive.")
    skip: int | None = _option(None, "Lines above the header.", *_WHOLE)
    header: int | None = _option(
        None, "Rows of the header, the first with names; 0 for columns 1, 2, ...", *_WHOLE
    )
    footer: int | None = _option(None, "Rows below the data.", *_WHOLE)
    separator: str = _option(
        "", "Mark between fields.", r'[^"\r\n]?', "one character, tab or space"
    )
    encoding: str = _option("", "Such as utf-8 or cp1252.")
    decimal: str = _option("", "Decimal mark.", "[.,]?", "a point or a comma")
    thousands: str = _option(
        "", "Mark between groups of three digits.", "[., ']?", "a point, comma, blank or apostrophe"
    )
    missing: tuple[str, ...] = _option((), "Entry that is missing, such as k.A. or -9.")
    present: tuple[str, ...] = _option(
        (), "Entry that is not missing though it looks so, such as NA or 99."
    )
    strip: tuple[str, ...] = _option(
        (), "Text to take off numbers, such as %; () and - for negative ones such as (5) and 5-."
    )
    kind: str = _option("", "Of a column.", "(number|category|date)?", "number, category or date")
    dates: tuple[str, ...] = _option((), "Form of dates, such as %d.%m.%Y.")
    counts: str = _option("", "Column that says how many users a row stands for, or none.")
    fold: bool = _option(
        False, "Categories that differ only in case are the same.", "True|False", "True or False"
    )
    bad_rows: str = _option(
        "",
        "Rows with too few or, not to be filled, too many fields.",
        "(skip|fill)?",
        "skip or fill",
    )
    outside: str = _option(
        "error", "Numbers outside their range.", "error|missing|clip", "error, missing or clip"
    )

    def __post_init__(self) -> None:
        for option in fields(self):
            value = _as_type(option.default, getattr(self, option.name))
            value = _SAME.get(value, value) if option.name in ("separator", "thousands") else value
            if not re.fullmatch(option.metadata["pattern"], str(value)):
                rule = option.metadata["rule"]
                raise ValueError(
                    f"{option.name} must be {rule}, got {option.name}={checks.shortened(value)}"
                )
            object.__setattr__(
                self,
                option.name,
                (int(value) if value else None) if option.default is None else value,
            )
        if self.thousands == (self.decimal or None):
            raise ValueError(
                f"thousands must not be the decimal mark, got thousands={self.thousands!r}"
            )

    @classmethod
    def of(cls, words: Sequence[str]) -> "Reading":
        """Return what words like ``thousands=.`` state; an option that takes several entries may occur several times.

        >>> Reading.of(["missing=k.A.", "missing=-9"]).missing
        ('k.A.', '-9')
        """
        given: dict[str, Any] = {}
        known = {option.name: option.default for option in fields(cls)}
        for word in words:
            name, _, value = word.partition("=")
            if name not in known:
                raise ValueError(
                    f"reading must state {', '.join(known)}, got {checks.shortened(word)}"
                )
            given[name] = (*given.get(name, ()), value) if isinstance(known[name], tuple) else value
        return cls(**given)

    def stated(self) -> dict[str, Any]:
        """Return the options in force."""
        return {
            o.name: getattr(self, o.name)
            for o in fields(self)
            if getattr(self, o.name) != o.default
        }


def _as_type(default: Any, value: Any) -> Any:
    """Return what is stated of an option as a tuple of texts, whether it is true, or a text."""
    if isinstance(default, tuple):
        entries = [value] if isinstance(value, str | int | float) else value
        return tuple(
            f"{entry:g}" if isinstance(entry, float) else str(entry).strip() for entry in entries
        )
    text = "" if value is None else str(value)
    return {"True": True, "False": False}.get(text, text) if default is False else text


class AmbiguousError(ValueError):
    """A file that can be read in two ways which differ: the question, with an example, and the options that decide."""

    def __init__(self, question: str, ways: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(question)
        self.question, self.ways, self.subject = question, ways, ""

    def __str__(self) -> str:
        """Return the question with what it is of, and its ways."""
        ways = [f"{' and '.join(spelled(way))} ({meaning})" for meaning, way in self.ways.items()]
        return f"{self.subject}{self.question}; state {' or '.join(ways)}"


@contextmanager
def naming(subject: str) -> Iterator[None]:
    """Name a file or a column in errors of what it holds."""
    try:
        yield
    except AmbiguousError as ask:
        ask.subject = f"{subject}: {ask.subject}"
        raise
    except (ValueError, OverflowError) as error:  # the latter of a date beyond the year 9999
        raise ValueError(f"{subject}: {error}") from None


def spelled(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield options as ``name=value``, in the words that notebooks and `Reading` take."""
    for name, value in options.items():
        if isinstance(value, tuple | list):
            one = len(value) == 1 and not value[0].startswith("[")
            value = value[0] if one else json.dumps(value, ensure_ascii=False)
        yield f"{name}={_NAMES.get(value, value)}"
