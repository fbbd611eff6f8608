"""What reports say: from the words of a table to unbiased values, cell by cell.

A cell is made of all reports that have the same stratum, cluster, weight and group.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints
from ldpnb.checks import shortened
from ldpnb.survey.device import Device
from ldpnb.survey.sample import Values
from ldpnb.survey.tables import Column, Table, word_of
from ldpnb.words import exact, short

YES = ("yes", "y", "true", "1", "1.0")
NO = ("no", "n", "false", "0", "0.0")

_IMPOSSIBLE = 1e-9
"""Noisy numbers are refused if one of all would go so far with this probability at most."""

_SIGMAS = 5.0
"""Reports are remarked on if they are off by so many standard deviations of the device."""

_DENSE = 10**7


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows of a table that are alike but for the report.

    Parameters
    ----------
    kept : (rows,) int
        The rows of the table that have a report.
    count : (rows,) float
        How many reports each stands for.
    cell : (rows,) int
        The cell of each.
    first : (cells,) int
        A row of the table for each cell.
    """

    kept: Ints
    count: Floats
    cell: Ints
    first: Ints

    @property
    def number(self) -> Floats:
        """The number of reports in each cell."""
        return self.summed(self.count)

    def summed(self, numbers: Floats) -> Floats:
        sums = np.bincount(self.cell, numbers, minlength=self.first.size)
        return np.asarray(sums, dtype=float)

    def words(self, column: Column) -> list[str]:
        """Return the entry of a column in each cell."""
        return [column.words[code] for code in column.codes[self.first]]


def cells_of(columns: Sequence[Column], kept: Ints, count: Floats) -> Cells:
    """Return the cells of the rows that are kept, which have the same entries in some columns."""
    cell = np.zeros(kept.size, dtype=np.int64)
    for column in columns:
        cell = _compact(cell * column.different + column.codes[kept])

    first = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.int64)
    first[cell[::-1]] = kept[::-1]
    return Cells(kept, count, cell, first)


def _compact(keys: Ints) -> Ints:
    """Return keys numbered from 0 without gaps."""
    most = int(keys.max(initial=0)) + 1
    if most > _DENSE:
        return np.asarray(np.unique(keys, return_inverse=True)[1])
    is_used = np.bincount(keys, minlength=most) > 0
    return np.asarray((np.cumsum(is_used) - 1)[keys])


@dataclass(frozen=True, eq=False)
class Said:
    """What the reports of each cell say.

    Parameters
    ----------
    number : (cells,) float
        The number of reports in each cell.
    values : callable
        From the place of an answer to the unbiased values.
    ones : callable, optional
        From the place of an answer to the number of reports that say yes to it, ``(cells,)``; of
        noisy numbers there is none.
    words : callable, optional
        From members, a choice of cells, to the different reports of unary encoding, ``(m, k)``
        bits, and how often each was sent.
    remark : str
        What is odd about all reports together.
    """

    number: Floats
    values: Callable[[int], Values]
    ones: Callable[[int], Floats] | None = None
    words: Callable[[Any], tuple[Any, Ints]] | None = None
    remark: str = ""


def said(device: Device, column: Column, cells: Cells) -> Said:
    """Return what reports say.

    Raises
    ------
    ValueError
        If the device cannot have sent a report: the first such row is named.
    """
    if device.is_noisy:
        return _said_by_numbers(device, column, cells)
    if device.is_unary:
        return _said_by_bits(device, column, cells)
    return _said_by_words(device, column, cells)


def said_by_tallies(device: Device, table: Table, reports: int) -> Said:
    """Return what unary encoding says of each answer, from how many reports have a one for it."""
    if not device.is_unary:
        raise ValueError(
            "reports (their number) is only for unary encoding, with a count of ones for each "
            "answer"
        )
    if "count" not in table:
        raise ValueError(
            "reports (their number) needs a column called count with the ones of each answer"
        )

    column = table["report"]
    places = _places(column, _codes(device), f"one of {_listed(device.answers)}", slice(None))
    counts = whole_counts(table["count"])
    if sorted(places[column.codes].tolist()) != list(range(len(device.answers))):
        raise ValueError("each answer must have exactly one row with its count of ones")
    if counts.max() > reports:
        raise ValueError(f"count must be at most reports={reports:,}, got {counts.max():,.0f}")

    ones = np.zeros(len(device.answers))
    ones[places[column.codes]] = counts
    number = np.array([float(reports)])
    remark = _remark_on_ones(device, float(ones.sum()), float(reports))
    return _of_ones(device, number, lambda place: ones[place : place + 1], remark=remark)


def whole_counts(column: Column) -> Floats:
    """Return the column that says how many reports a row stands for."""
    counts = column.numbers("count", least=0)
    if (counts % 1).any():
        row = int(np.argmax(counts % 1 > 0)) + 1
        raise ValueError(f"count must be whole numbers, got {counts[row - 1]:g} in row {row}")
    if not 0 < counts.sum() < 2**53:
        raise ValueError(f"count must have a positive sum below 2^53, got {counts.sum():g}")
    return counts


def _of_ones(
    device: Device,
    number: Floats,
    ones: Callable[[int], Floats],
    *,
    words: Any = None,
    remark: str = "",
) -> Said:
    def values(place: int) -> Values:
        rate = ones(place) / number
        squares = number * rate * (1 - rate) / device.gap**2
        return Values((rate - device.q) / device.gap, squares)

    return Said(number, values, ones, words, remark)


# One of several answers, or a yes or no


def _said_by_words(device: Device, column: Column, cells: Cells) -> Said:
    codes = _codes(device)
    rule = f"one of {_listed(device.answers or ('1', '0'))}"
    if _is_yes_or_no(device):
        rule += " (or yes, no, 1, 0)"
    places = _places(column, codes, rule, cells.kept)[column.codes[cells.kept]]

    order = np.argsort(places, kind="stable")
    ends = np.searchsorted(places[order], np.arange(max(len(device.answers), 2) + 1))

    def ones(place: int) -> Floats:
        rows = order[ends[place] : ends[place + 1]]
        sums = np.bincount(cells.cell[rows], cells.count[rows], minlength=cells.first.size)
        return np.asarray(sums, dtype=float)

    return _of_ones(device, cells.number, ones)


def _codes(device: Device) -> dict[str, int]:
    """Return the place of each word that a report may be, also in small letters."""
    codes = {answer: place for place, answer in enumerate(device.answers)}
    if _is_yes_or_no(device):
        codes |= dict.fromkeys(YES, 0) | dict.fromkeys(NO, 1)

    small = {word.casefold(): place for word, place in codes.items()}
    if len({word.casefold() for word in device.answers}) == len(device.answers):
        codes = small | codes
    return codes


def _is_yes_or_no(device: Device) -> bool:
    """Whether a report may also be one of the words `YES` and `NO`."""
    return device.answers in ((), ("yes", "no"))


def _places(column: Column, codes: dict[str, int], rule: str, kept: Any) -> Ints:
    """Return the place of the answer that each word of a column is; -1 where none of the rows is.

    Raises
    ------
    ValueError
        If a word in the rows that are kept is no answer.
    """
    places = np.empty(len(column.words), dtype=np.int64)
    for code, word in enumerate(column.words):
        places[code] = codes.get(word, codes.get(word.casefold(), -1))
    wrong = places[column.codes[kept]] < 0
    _refuse(column, wrong, kept, rule)
    return places


def _listed(answers: Sequence[str]) -> str:
    few = ", ".join(answers[:20])
    return f"{few}, ... ({len(answers):,} answers)" if len(answers) > 20 else few


def _refuse(column: Column, wrong: Any, kept: Any, rule: str) -> None:
    """Raise an error that names the first row of those that are kept that is wrong."""
    if not wrong.any():
        return
    rows = np.arange(column.codes.size)[kept]
    row = int(rows[int(np.argmax(wrong))])
    word = column.words[column.codes[row]]
    hint = ""
    if word.upper() in ("NA", "N/A", "NAN", "NONE", "NULL", "."):
        hint = f"; if this means that the answer is missing, say so with --missing {word}"
    raise ValueError(f"report must be {rule}, got {shortened(word)} in row {row + 1}{hint}")


# A bit for each answer


def _said_by_bits(device: Device, column: Column, cells: Cells) -> Said:
    length = len(device.answers)
    rows = column.codes[cells.kept]
    is_word = np.array([len(w) == length and not w.strip("01") for w in column.words])
    example = "1".ljust(length, "0") if length <= 20 else "1000..."
    _refuse(column, ~is_word[rows], cells.kept, f"a word of {length} bits such as {example}")

    different = np.flatnonzero(is_word)
    joined = "".join(column.words[code] for code in different).encode("ascii")
    bits = np.frombuffer(joined, dtype=np.uint8).reshape(-1, length) == ord("1")
    word = np.full(len(column.words), -1)
    word[different] = np.arange(different.size)
    word = word[rows]

    def ones(place: int) -> Floats:
        return cells.summed(cells.count * bits[word, place])

    def words(members: Any) -> tuple[Any, Ints]:
        inside = np.ones(cells.first.size, dtype=bool) if members is None else members
        chosen = inside[cells.cell]
        sent = np.bincount(word[chosen], cells.count[chosen], minlength=different.size)
        return bits[sent > 0], sent[sent > 0].astype(np.int64)

    total = float(cells.count @ bits.sum(axis=1)[word])
    remark = _remark_on_ones(device, total, float(cells.count.sum()))
    return _of_ones(device, cells.number, ones, words=words, remark=remark)


def _remark_on_ones(device: Device, ones: float, reports: float) -> str:
    """Return a remark if there are more or fewer ones than the device sends for one true answer."""
    others = len(device.answers) - 1
    expected = device.p + others * device.q
    variance = device.p * (1 - device.p) + others * device.q * (1 - device.q)
    away = ones - reports * expected
    if abs(away) <= _SIGMAS * math.sqrt(reports * variance) + 1e-6 * reports:
        return ""
    total = 1 + away / reports / device.gap
    return (
        f"the shares add up to {total:.3g}. They would add up to about 1 if everybody held one "
        "answer and followed a device with these p and q."
    )


# Numbers with noise


def _said_by_numbers(device: Device, column: Column, cells: Cells) -> Said:
    where = np.zeros(column.codes.size, dtype=bool)
    where[cells.kept] = True
    sent = column.numbers("report", where=where)[cells.kept]
    with np.errstate(over="ignore"):  # what is as far away as that is refused
        scaled = (sent - device.low) / device.length

    reports = float(cells.count.sum())
    furthest = device.scale * math.log(max(reports / _IMPOSSIBLE / 2, 1.0))
    wrong = (scaled < -furthest) | (scaled > 1 + furthest)
    least = device.low - device.length * furthest
    most = device.high + device.length * furthest
    rule = (
        f"from {exact(least)} to {exact(most)}, because this device hardly ever sends any other "
        "number"
    )
    _refuse(column, wrong, cells.kept, rule)

    number = cells.number
    mean = cells.summed(cells.count * scaled) / number
    squares = cells.summed(cells.count * (scaled - mean[cells.cell]) ** 2)
    remark = _remark_on_spread(device, scaled, cells.count)
    return Said(number, lambda _: Values(mean, squares), remark=remark)


def _remark_on_spread(device: Device, scaled: Floats, count: Floats) -> str:
    """Return a remark if the variance of the reports cannot be that of the device.

    The values add between 0 and 1/4 to the ``2 b^2`` of the noise, whose fourth moment is
    ``24 b^4``.
    """
    reports = float(count.sum())
    if reports < 2:
        return ""
    mean = float(count @ scaled) / reports
    variance = float(count @ (scaled - mean) ** 2) / (reports - 1)

    noise = 2 * device.scale**2
    least = noise - _SIGMAS * math.sqrt(5 / reports) * noise
    fourth = 24 * device.scale**4 + 6 * noise / 4 + 1 / 16
    most = noise + 1 / 4 + _SIGMAS * math.sqrt(fourth / reports)
    if least <= variance <= most:
        return ""
    than = "less" if variance < least else "more"
    return (
        f"the reports vary {than} than reports of this device do: their standard deviation is "
        f"{short(device.length * math.sqrt(variance), 4)}, but it should be between "
        f"{short(device.length * math.sqrt(noise), 4)} and "
        f"{short(device.length * math.sqrt(noise + 0.25), 4)}. Were epsilon and the range as you "
        "gave them?"
    )


def checked_missing(words: str | Sequence[str], device: Device) -> tuple[str, ...]:
    """Return the words that stand for a missing report."""
    given = (words,) if isinstance(words, str | int | float) else words
    absent = tuple(word_of(word) for word in given)
    for word in absent:
        if _may_be_report(device, word):
            raise ValueError(f"missing must not be a possible answer, got {checks.shown(word)}")
    return absent


def _may_be_report(device: Device, word: str) -> bool:
    """Whether a word is one of the reports that a device sends; noisy numbers can be codes."""
    if device.is_noisy:
        return False
    if device.is_unary:
        return word in device.answers or (len(word) == len(device.answers) and not word.strip("01"))
    codes = _codes(device)
    return word in codes or word.casefold() in codes
