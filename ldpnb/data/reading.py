"""What is stated of a file, so that nothing about it has to be guessed."""

import codecs
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ldpnb import checks

_NAMES_OF_MARKS = {"tab": "\t", "\\t": "\t", "space": " "}
_ALIKE = {"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file is to be read.

    Nothing is guessed. What is left out has its default, and a file that does not fit it is
    refused. Unless `missing` says more, only an empty entry stands for a missing answer.

    Parameters
    ----------
    sheet : str
        Sheet of a workbook; must be stated if there are several.
    skip : int
        Lines (of a workbook: rows) above the header.
    footer : int, optional
        Rows below the data, such as totals. 0 says that there are none.
    separator : str
        Mark between fields: one character, ``tab`` or ``space``. By default it is the one of
        comma, semicolon, tab and bar that the header has.
    encoding : str
        Encoding of text, such as ``cp1252`` or ``utf-16``. The default is UTF-8.
    decimal : str
        Decimal mark, a point or a comma. The default is a point.
    thousands : str
        Mark between groups of three digits: a point, a comma, a blank or an apostrophe.
    missing : sequence of str
        Entries that mean that there is no answer, such as ``k.A.`` or ``-9``. The empty text among
        them says that all of them are named: other codes such as 99 are then taken as answers.
    counts : str
        Column that says how many users a row stands for. ``none`` says that each row is one user.

    Raises
    ------
    ValueError
        If an option is outside its range, or two options contradict each other.

    Examples
    --------
    >>> Reading(missing="k.A.").missing
    ('k.A.',)
    >>> Reading(decimal=";")
    Traceback (most recent call last):
    ValueError: decimal must be a point or a comma, got decimal=';'
    """

    sheet: str = ""
    skip: int = 0
    footer: int | None = None
    separator: str = ""
    encoding: str = ""
    decimal: str = ""
    thousands: str = ""
    missing: Sequence[str] = ()
    counts: str = ""

    def __post_init__(self) -> None:
        is_one = isinstance(self.missing, str | int | float)
        several = [self.missing] if is_one else self.missing
        missing = tuple(str(entry).strip() for entry in several)
        separator = _NAMES_OF_MARKS.get(self.separator, self.separator)
        thousands = _NAMES_OF_MARKS.get(self.thousands, self.thousands)
        thousands = _ALIKE.get(thousands, thousands)

        object.__setattr__(self, "missing", missing)
        object.__setattr__(self, "separator", separator)
        object.__setattr__(self, "thousands", thousands)
        object.__setattr__(self, "skip", checks.whole(self.skip, "skip"))
        if self.footer is not None:
            object.__setattr__(self, "footer", checks.whole(self.footer, "footer"))

        if len(separator) > 1 or separator in ('"', "\n", "\r", "\0"):
            _refuse("separator", "one character, tab or space", separator)
        if self.decimal not in ("", ".", ","):
            _refuse("decimal", "a point or a comma", self.decimal)
        if thousands not in ("", ".", ",", " ", "'"):
            _refuse("thousands", "a point, a comma, a space or an apostrophe", thousands)
        if thousands and thousands == self.decimal:
            _refuse("thousands", "different from decimal", thousands)
        if self.encoding and not _is_known(self.encoding):
            _refuse("encoding", "a known encoding such as utf-8 or cp1252", self.encoding)

    @classmethod
    def of(cls, words: Iterable[str]) -> "Reading":
        """Return what words such as ``missing=k.A.`` state; ``missing`` may occur several times.

        >>> Reading.of(["skip=2", "missing=k.A.", "missing=-9"]).missing
        ('k.A.', '-9')
        """
        names = [option.name for option in fields(cls)]
        given: dict[str, Any] = {}
        for word in words:
            name, _, value = str(word).partition("=")
            if name not in names:
                options = ", ".join(names)
                raise ValueError(f"reading must set one of {options}, got {checks.shortened(word)}")

            if name == "missing":
                given[name] = (*given.get(name, ()), value)
            elif name in given:
                raise ValueError(f"{name} must be set only once, got {checks.shortened(word)}")
            elif name in ("skip", "footer"):
                given[name] = _whole(name, value)
            else:
                given[name] = value
        return cls(**given)

    def stated(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        found = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if value != option.default:
                found[option.name] = value
        return found

    def words(self) -> list[str]:
        """Return the words that `of` takes.

        >>> Reading(separator="tab", missing=["-9", ""]).words()
        ['separator=tab', 'missing=-9', 'missing=']
        """
        found = []
        for name, value in self.stated().items():
            entries = value if name == "missing" else [value]
            names_of_marks = {"\t": "tab", " ": "space"} if name != "missing" else {}
            found += [f"{name}={names_of_marks.get(entry, entry)}" for entry in entries]
        return found


def _whole(name: str, value: str) -> int:
    if not value.isdecimal() or len(value) > 9:
        _refuse(name, "an integer >= 0", value)
    return int(value)


def _is_known(encoding: str) -> bool:
    try:
        "".encode(encoding)
        return bool(codecs.lookup(encoding).name)
    except (LookupError, ValueError):
        return False


def _refuse(name: str, rule: str, value: str) -> None:
    raise ValueError(f"{name} must be {rule}, got {name}={checks.shortened(value)}")
