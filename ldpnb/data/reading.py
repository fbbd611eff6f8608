"""How to parse the text in a file: its encoding, separator, decimal mark and codes of missing entries.

What is stated is used; the rest is detected from the first quarter of a megabyte, where that is safe.
"""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from ldpnb import checks

SAMPLE = 2**18
"""Bytes that are inspected."""
ABSENT = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>")
"""Entries of text files that always count as missing."""

_MARKS = (",", ";", "\t", "|")
_ENCODINGS = ["utf_16_le", "utf_16_be", "cp1252", "cp1250", "cp1251", "cp1253", "cp1254"]
_SPACES = " '\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{RIGHT SINGLE QUOTATION MARK}"
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of a text file; `completed` detects the empty fields.

    Parameters
    ----------
    separator : str
        One character between fields; "tab" is one too.
    encoding : str
        Such as "utf-8" or "cp1252".
    decimal : {"", ".", ","}
    thousands : str
        The character between groups of three digits, such as "." or a blank.
    missing : tuple of str
        Codes of missing entries, such as "k.A." or "-9", in addition to `ABSENT`.
    """

    separator: str = ""
    encoding: str = ""
    decimal: str = ""
    thousands: str = ""
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("separator", "encoding", "decimal", "thousands"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be text, got {name}={checks.shortened(getattr(self, name))}")
        object.__setattr__(self, "separator", {"tab": "\t", "\\t": "\t"}.get(self.separator, self.separator))
        object.__setattr__(self, "missing", tuple(str(code).strip() for code in self.missing))
        if len(self.separator) > 1 or self.separator in ('"', "\n", "\r"):
            raise ValueError(
                f"separator must be one character or 'tab', got separator={checks.shortened(self.separator)}"
            )
        checks.choice(decimal=self.decimal, among=("", ".", ","))
        if len(self.thousands) > 1 or self.thousands.isalnum() or self.thousands == (self.decimal or None):
            got = f"got thousands={checks.shortened(self.thousands)}, decimal={self.decimal!r}"
            raise ValueError(f"thousands must be one character that is neither digit, letter nor decimal mark, {got}")
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            raise ValueError(
                f"encoding must be one that Python knows, got encoding={checks.shortened(self.encoding)}"
            ) from None

    @property
    def missing_numbers(self) -> tuple[float, ...]:
        """The codes of missing entries that are numbers."""
        found = []
        for code in self.missing:
            with suppress(ValueError):
                found.append(float(code.replace(",", ".")))
        return tuple(found)

    def completed(self, sample: bytes, usual: str = ",") -> "Reading":
        r"""Return a complete reading, from the beginning of a file and the usual separator for its name.

        Raises
        ------
        ValueError
            If it is not text in any encoding.

        Examples
        --------
        >>> Reading().completed("Alter;Lohn\n30;1.234,50\n".encode("cp1252"))
        Reading(separator=';', encoding='utf-8', decimal=',', thousands='.', missing=())
        """
        encoding = self.encoding or _encoding(sample)
        whole = len(sample) < SAMPLE
        try:
            text = sample.decode(encoding, errors="strict" if whole else "ignore")
        except UnicodeError:
            raise ValueError(f"it is not {encoding}; state encoding=, such as 'utf-8' or 'cp1252'") from None
        lines = (text.splitlines() if whole else text.splitlines()[:-1])[:1000]
        separator = self.separator or _separator(lines, usual)
        decimal, thousands = _marks({f.strip() for row in _rows(lines, separator) for f in row})
        if self.decimal and self.decimal != decimal:
            decimal, thousands = self.decimal, ""
        return replace(
            self, separator=separator, encoding=encoding, decimal=decimal, thousands=self.thousands or thousands
        )

    def told(self, suffix: str) -> str:
        """Return in a phrase how a file was parsed, empty if its suffix already says so."""
        usual = {".tsv": "\t"}.get(suffix, ",")
        if not self.separator:
            return ""
        parts = [f"separator {self.separator!r}"] * (self.separator != usual)
        parts += [f"encoding {self.encoding}"] * (self.encoding not in ("utf-8", "utf-8-sig", "ascii"))
        parts += [f"decimal mark {self.decimal!r}"] * (self.decimal == ",")
        parts += [f"thousands mark {self.thousands!r}"] * bool(self.thousands)
        return ", ".join(parts)


def _encoding(sample: bytes) -> str:
    for mark, name in _BYTE_ORDER_MARKS.items():
        if sample.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) < SAMPLE)
    except UnicodeError:
        pass
    else:
        if b"\0" not in sample:
            return "utf-8"
    from charset_normalizer import from_bytes

    best = from_bytes(sample[: SAMPLE // 8], cp_isolation=_ENCODINGS).best()
    if best is None:
        raise ValueError("its encoding is not found; state encoding=, such as 'cp1252'")
    with suppress(UnicodeError):  # equivalent here, and likelier
        if sample.decode("cp1252") == sample.decode(best.encoding):
            return "cp1252"
    return str(best.encoding)


def _rows(lines: Iterable[str], separator: str) -> Iterable[list[str]]:
    try:
        yield from (row for row in csv.reader(lines, delimiter=separator) if row)
    except csv.Error:
        return


def _separator(lines: list[str], usual: str) -> str:
    """Return the mark that gives the header as many fields as most rows, or else that gives it the most fields."""
    widths = {mark: [len(row) for row in _rows(lines, mark)] or [0] for mark in _MARKS}
    alike = {mark: Counter(w).most_common(1)[0][0] for mark, w in widths.items()}
    fitting = [mark for mark in _MARKS if alike[mark] == widths[mark][0] > 1]
    best = max(fitting or _MARKS, key=lambda mark: (widths[mark][0], mark == usual))
    return best if widths[best][0] > 1 else usual


def _marks(fields: set[str]) -> tuple[str, str]:
    """Return the decimal and the thousands mark: a decimal comma only where it cannot be anything else."""

    def any_like(pattern: str) -> bool:
        return any(re.fullmatch(pattern, field) for field in fields)

    decided = {m: any_like(rf"[+-]?\d+{m}(\d{{1,2}}|\d{{4,}})|[+-]?(0|\d{{4,}}){m}\d+") for m in (",", r"\.")}
    grouped = {
        mark: any_like(rf"[+-]?\d{{1,3}}({group}\d{{3}}){{2,}}|[+-]?\d{{1,3}}({group}\d{{3}})+{mark}\d+")
        for mark, group in ((",", r"\."), (r"\.", ","))
    }
    comma = (decided[","] or grouped[","]) and not (decided[r"\."] or grouped[r"\."])
    decimal = "," if comma else "."
    if grouped["," if comma else r"\."]:
        return decimal, "." if comma else ","
    blanks = [b for b in _SPACES if any_like(rf"[+-]?\d{{1,3}}({b}\d{{3}})+([.,]\d+)?")]
    return decimal, blanks[0] if blanks else ""
