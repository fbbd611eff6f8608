"""What is stated of a file and of a column in it; and the question that is asked where two readings differ."""

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ldpnb import checks

THOUSANDS = {"": "", ".": ".", ",": ",", " ": " \u00a0\u202f\u2009", "'": "'\u2019"}
"""Marks between groups of three digits, each with those that stand for the same."""

_WORDS = {
    "decimal": ("", ".", ","),
    "kind": ("", "number", "category", "date"),
    "bad_rows": ("", "skip", "fill"),
    "outside": ("error", "missing", "clip"),
}


def _option(default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is to be read; what is empty was not stated, and is found where there is one reading.

    Lists take one entry too: ``Reading(missing="k.A.")``. The meaning of each field stands beside it.

    Raises
    ------
    ValueError
        For a word that a field does not know, a mark longer than one character, or an unknown encoding.
    """

    sheet: str = _option("", "Sheet of a workbook, table of a database, or file of an archive.")
    skip: int | None = _option(None, "Lines above the header.")
    header: int | None = _option(None, "Rows of the header, whose first has the names; 0 for columns 1, 2, ...")
    footer: int | None = _option(None, "Rows below the data.")
    separator: str = _option("", "Character between fields, or tab.")
    encoding: str = _option("", "Such as utf-8 or cp1252.")
    decimal: str = _option("", "Decimal mark, a point or a comma.")
    thousands: str = _option("", "Mark between groups of three digits.")
    missing: tuple[str, ...] = _option((), "Entry that is missing, such as k.A. or -9.")
    present: tuple[str, ...] = _option((), "Entry that is not missing though it looks so, such as NA or 99.")
    strip: tuple[str, ...] = _option((), "Text to take off numbers, such as %.")
    kind: str = _option("", "Of a column: number, category or date.")
    dates: tuple[str, ...] = _option((), "Form of dates, such as %d.%m.%Y.")
    counts: str = _option("", "Column that says how many users a row stands for, or none.")
    fold: bool = _option(False, "Categories that differ only in case are the same.")
    bad_rows: str = _option("", "Rows with too few or too many fields: skip, or fill up those with too few.")
    outside: str = _option("error", "Numbers outside their range: error, missing or clip.")

    def __post_init__(self) -> None:
        for option in fields(self):
            object.__setattr__(self, option.name, _converted(option.name, option.default, getattr(self, option.name)))
        group = next((group for group, marks in THOUSANDS.items() if self.thousands in tuple(marks)), self.thousands)
        object.__setattr__(self, "thousands", group)
        object.__setattr__(self, "separator", {"tab": "\t", "\\t": "\t"}.get(self.separator, self.separator))
        for name, words in _WORDS.items():
            checks.choice(among=words, **{name: getattr(self, name)})
        if len(self.separator) > 1 or self.separator in ('"', "\n", "\r"):
            raise ValueError(f"separator must be one character or tab, got separator={self.separator!r}")
        if self.thousands not in THOUSANDS or self.thousands == (self.decimal or None):
            rule = "a point, a comma, a blank or an apostrophe, and not the decimal mark"
            raise ValueError(f"thousands must be {rule}, got thousands={self.thousands!r}, decimal={self.decimal!r}")
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            got = f"got encoding={self.encoding!r}"
            raise ValueError(f"encoding must be one that Python knows, {got}") from None

    @classmethod
    def of(cls, words: Sequence[str]) -> "Reading":
        """Return what words like ``thousands=.`` state; an option may occur several times if it takes several entries.

        Examples
        --------
        >>> Reading.of(["missing=k.A.", "missing=-9"]).missing
        ('k.A.', '-9')
        """
        given: dict[str, Any] = {}
        known = {option.name: option.default for option in fields(cls)}
        for word in words:
            name, _, value = word.partition("=")
            if name not in known:
                raise ValueError(f"reading must state {', '.join(known)}, got {checks.shortened(word)}")
            several = isinstance(known[name], tuple)
            given[name] = [*given.get(name, ()), value] if several else value == "True" if name == "fold" else value
        return cls(**given)

    def stated(self) -> dict[str, Any]:
        """Return the options in force."""
        return {o.name: getattr(self, o.name) for o in fields(self) if getattr(self, o.name) != o.default}


def _converted(name: str, default: Any, value: Any) -> Any:
    """Return the value of an option as its type."""
    if isinstance(default, tuple):
        entries = [value] if isinstance(value, str | int | float) else value
        return tuple(f"{e:g}" if isinstance(e, float) else str(e).strip() for e in entries)
    if default is None:
        text = "" if value is None else str(value).strip()
        if text and not re.fullmatch(r"\d{1,6}", text):
            raise ValueError(f"{name} must be a whole number >= 0, got {name}={checks.shortened(text)}")
        return int(text) if text else None
    if not isinstance(value, type(default)):
        raise TypeError(f"{name} must be {'text' if default == '' else 'true or false'}, got {name}={value!r}")
    return value


class AmbiguousError(ValueError):
    """A file that can be read in two ways which differ: what is not known, and the options that decide it.

    Parameters
    ----------
    question : str
        What was met, with an example.
    ways : mapping
        Options by what they mean.
    """

    def __init__(self, question: str, ways: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(question)
        self.question, self.ways, self.column, self.file = question, ways, "", ""

    def __str__(self) -> str:
        """Return the question with its file, its column and its ways."""
        subject = (f"{self.file}: " if self.file else "") + (f"column {self.column!r}: " if self.column else "")
        ways = [f"{' and '.join(spelled(way))} ({meaning})" for meaning, way in self.ways.items()]
        return f"{subject}{self.question}; state {' or '.join(ways)}"


def spelled(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield options as ``name=value``, in the words that notebooks and `Reading` take."""
    for name, value in options.items():
        if isinstance(value, tuple | list):
            one = len(value) == 1 and not value[0].startswith("[")
            value = value[0] if one else json.dumps(value, ensure_ascii=False)
        yield f"{name}={'tab' if value == chr(9) else value}"
