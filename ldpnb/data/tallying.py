"""Tallies of a column, piece by piece: numbers in a stated range, dates by unit, categories."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.data.column import Column
from ldpnb.data.tables import Table

Outside = Literal["error", "missing", "clamp"]
OUTSIDE = ("error", "missing", "clamp")
UNITS = {"day": "D", "month": "M", "year": "Y", "weekday": ""}
"""Units by which dates are tallied, and pandas' codes for such periods."""
MOST_CATEGORIES = 10**6
"""A column with more different entries does not hold categories."""
OTHER = "other"
OCCURRING = "What occurs was taken for what may occur, which gives it away; state it to avoid that."

_FORMATS: tuple[str, ...] = (
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d-%m-%Y",
    "%Y-%m-%d %H:%M:%S",
)
_FORMATS += ("%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def require_moderate(where: str, size: int, most: int) -> None:
    """Refuse a domain too large for local mechanisms, before anything of its size is allocated."""
    if size > most:
        memory = f"a channel between them takes {float(size) * size * 8 / 2**30:,.3g} GiB"
        ways = "bins of numbers (bins=100), the largest categories and 'other' (categories=[...]), or a larger most="
        raise ValueError(f"{where} has {size:,} values, more than most={most:,}: {memory}; ways out are {ways}")


@dataclass(slots=True)
class Numbers:
    """Tallies numbers in a stated range: whole ones each, real ones in bins."""

    table: Table
    name: str
    low: float
    high: float
    bins: int
    policy: Outside
    most: int
    counts: NDArray[np.int64] = field(init=False)
    sums: NDArray[np.float64] = field(init=False)
    missing: int = 0
    outside: int = 0
    total: float = 0.0
    strangers: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        checks.choice(outside=self.policy, among=OUTSIDE)
        size = self.bins or round(self.high - self.low) + 1
        require_moderate(self.where, size, self.most)
        self.counts, self.sums = np.zeros(size, dtype=np.int64), np.zeros(size)

    @property
    def where(self) -> str:
        """The file and the column, for an error."""
        return f"{self.table.path}: column {self.name}"

    def empty(self) -> "Numbers":
        """Return an empty tally of the same range."""
        return Numbers(self.table, self.name, self.low, self.high, self.bins, self.policy, self.most)

    def add(self, part: Any) -> None:
        """Count a piece."""
        known = part.dropna().to_numpy(dtype=float)
        self.missing += len(part) - known.size
        inside = np.clip(known, self.low, self.high)
        strange = inside != known
        self.outside += int(strange.sum())
        if len(self.strangers) < 3:
            self.strangers += np.unique(known[strange]).tolist()
        if self.policy == "missing":
            inside = inside[~strange]
        self.total += float(known[np.isfinite(known)].sum())
        if self.bins:
            width = (self.high - self.low) / self.bins
            index = np.minimum(((inside - self.low) / width).astype(np.int64), self.bins - 1)
        else:
            broken = inside[inside != np.floor(inside)]
            if broken.size:
                rule = f"must hold whole numbers, got {broken[0]:g}; state bins for real numbers"
                raise ValueError(f"{self.where} {rule}")
            index = (inside - self.low).astype(np.int64)
        self.counts += np.bincount(index, minlength=self.counts.size)
        self.sums += np.bincount(index, inside, minlength=self.sums.size)

    def gather(self, members: Iterable["Numbers"]) -> None:
        """Add the counts of members of the same range."""
        for member in members:
            self.counts, self.sums = self.counts + member.counts, self.sums + member.sums
            self.outside, self.total = self.outside + member.outside, self.total + member.total
            self.strangers += member.strangers

    def column(self, name: str = "", counts: NDArray[np.int64] | None = None, **more: Any) -> Column:
        """Return the tally so far, by group if counts by group are given."""
        if self.outside and self.policy == "error":
            shown = ", ".join(f"{number:g}" for number in self.strangers[:3])
            ways = "state a wider range, codes of missing entries in missing=, or outside='clamp' or 'missing'"
            rule = f"must lie in [{self.low:g}, {self.high:g}], got {self.outside:,} outside, such as {shown}"
            raise ValueError(f"{self.where} {rule}; {ways}")
        if self.bins:
            edges = np.linspace(self.low, self.high, self.bins + 1)
            labels = tuple(f"{left:.6g} to {right:.6g}" for left, right in pairwise(edges))
            means = np.where(self.counts > 0, self.sums / np.maximum(self.counts, 1), (edges[:-1] + edges[1:]) / 2)
            numbers = np.clip(means, self.low, self.high)
        else:
            numbers = self.low + np.arange(self.counts.size, dtype=float)
            labels = tuple(f"{number:.0f}" for number in numbers)
        clamped = self.policy == "clamp"
        about: dict[str, Any] = {
            "missing": self.missing + (0 if clamped else self.outside),
            "outside": clamped * self.outside,
        }
        about |= {"low": self.low, "high": self.high}
        if clamped and self.outside:
            about["unclamped"] = self.total / int(self.counts.sum())
        held = self.counts if counts is None else counts
        return _column(self.table, name or self.name, self.name, labels, held, numbers, about | more)


@dataclass(slots=True)
class Categories:
    """Tallies categories, stated or as they occur."""

    table: Table
    name: str
    stated: tuple[str, ...]
    most: int
    counts: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    outside: int = 0

    def add(self, part: Any) -> None:
        """Count a piece."""
        where = f"{self.table.path}: column {self.name}"
        known = part.dropna()
        self.missing += len(part) - len(known)
        try:
            entries = known.value_counts(sort=False)
        except TypeError:
            raise ValueError(f"{where} must hold plain values, got lists or objects") from None
        for entry, count in entries[entries > 0].items():
            label = str(entry).strip()
            if self.stated and label not in self.stated:
                if OTHER not in self.stated:
                    rule = "is not among the stated categories; add it, or 'other'"
                    raise ValueError(f"{self.table.path}: {label!r} of column {self.name} {rule}")
                label, self.outside = OTHER, self.outside + int(count)
            self.counts[label] += int(count)
        if len(self.counts) > MOST_CATEGORIES:
            raise ValueError(f"{where} has more than {MOST_CATEGORIES:,} different entries; is it an identifier?")

    def column(self) -> Column:
        """Return the tally so far."""
        labels = self.stated or tuple(sorted(self.counts))
        if len(labels) == 1:
            rule = f"must have two values or more, got {labels[0]!r} only"
            raise ValueError(f"{self.table.path}: column {self.name} {rule}")
        require_moderate(f"{self.table.path}: column {self.name}", len(labels), self.most)
        counts = np.array([self.counts[label] for label in labels], dtype=np.int64)
        about = {"missing": self.missing, "outside": self.outside, "notes": () if self.stated else (OCCURRING,)}
        numbers = np.arange(counts.size, dtype=float)
        return _column(self.table, self.name, self.name, labels, counts, numbers, about | {"scale": "category"})


@dataclass(slots=True)
class Dates:
    """Tallies dates by day, month, year or day of the week; periods run from the first that occurs to the last."""

    table: Table
    name: str
    stated: str
    most: int
    counts: Counter[Any] = field(default_factory=Counter)
    missing: int = 0
    unit: str = field(init=False)
    form: str = field(init=False)

    def __post_init__(self) -> None:
        unit, _, self.form = self.stated.strip().partition(" ")
        self.unit = checks.choice(dates=unit or "month", among=tuple(UNITS))

    def add(self, part: Any) -> None:
        """Count a piece."""
        import pandas as pd

        known = part.dropna()
        self.missing += len(part) - len(known)
        for entry, count in known.value_counts(sort=False).items():
            if not count:
                continue
            if isinstance(entry, str):
                self.form = self.form or self._found(known)
                day = pd.to_datetime(entry.strip(), format=self.form, errors="coerce")
            else:
                day = pd.to_datetime(entry, errors="coerce")
            if pd.isna(day):
                rule = f"must hold dates like {self.form!r}, got {str(entry)[:40]!r}"
                raise ValueError(f"{self.table.path}: column {self.name} {rule}; list codes in missing=")
            self.counts[day.day_of_week if self.unit == "weekday" else day.to_period(UNITS[self.unit])] += int(count)

    def _found(self, entries: Any) -> str:
        found = date_formats(entries)
        if len(found) != 1:
            seen = f"got {str(entries.iloc[0])!r}" + (f", which may be {' or '.join(found)}" if found else "")
            rule = "must be stated as a unit and a form, such as dates='month %d.%m.%Y'"
            raise ValueError(f"{self.table.path}: dates of column {self.name} {rule}, {seen}")
        return found[0]

    def column(self) -> Column:
        """Return the tally so far."""
        import pandas as pd

        periods: Any = range(7)
        labels: tuple[str, ...] = _WEEKDAYS
        if self.unit != "weekday" and self.counts:
            first, last = min(self.counts), max(self.counts)
            require_moderate(f"{self.table.path}: column {self.name}", (last - first).n + 1, self.most)
            periods = pd.period_range(first, last)
            labels = tuple(map(str, periods))
        counts = np.array([self.counts[p] for p in periods], dtype=np.int64)
        told = f"Dates{f' written {self.form!r}' if self.form else ''} are tallied by {self.unit}."
        notes = (told,) if self.unit == "weekday" else (told, OCCURRING)
        numbers = np.arange(counts.size, dtype=float)
        about = {"missing": self.missing, "notes": notes, "scale": "date"}
        return _column(self.table, self.name, self.name, labels, counts, numbers, about)


def date_formats(entries: Any) -> list[str]:
    """Return the forms in which all of some texts are dates."""
    import pandas as pd

    kinds = entries.drop_duplicates().astype(str).str.strip()
    return [form for form in _FORMATS if pd.to_datetime(kinds, format=form, errors="coerce").notna().all()]


def _column(
    table: Table, name: str, attribute: str, labels: Any, counts: NDArray[np.int64], numbers: Any, about: Any
) -> Column:
    if not counts.any():
        raise ValueError(f"{table.path}: column {name} has no entries")
    file, told = table.path.name, table.reading.told(table.suffix)
    notes = (*((f"Read with {told}.",) if told else ()), *about.pop("notes", ()))
    shown = f"{name} of {file}" if name else file
    return Column(
        shown, labels, counts, numbers, source=str(table.path), attribute=attribute or "value", notes=notes, **about
    )
