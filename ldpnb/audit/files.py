"""Read a channel that was saved as a table of comma-separated values."""

import csv
import io
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from ldpnb.audit.channel import ExactChannel
from ldpnb.checks import UsageError, shown
from ldpnb.privacy.channel import SUM_TOLERANCE

LARGEST = 10_000_000
"""Characters that are read of a file at most."""

_INTEGER = re.compile(r"[0-9]{1,18}")

Line = tuple[int, list[str]]
"""The number of a line in the file, and its cells."""


def read_channel(path: Path) -> ExactChannel:
    """Return the channel that a file holds.

    Parameters
    ----------
    path : pathlib.Path
        Rows are outputs and columns are inputs. Lines that begin with ``#`` are skipped. The first
        row may name the inputs; its first cell is then empty or ``output``, if the first column
        names the outputs. Each column sums to 1 up to 1e-6, so that probabilities may have been
        rounded to 32-bit floats.

    Returns
    -------
    ExactChannel
        Of the numbers as they are written; no path was followed.

    Raises
    ------
    UsageError
        If the file cannot be read, or does not hold a channel. The message is one line.
    """
    rows = list(_lines(path))
    if not rows:
        raise UsageError(f"{_name(path)} must hold a table of probabilities, but it is empty")

    header = None
    if not all(_is_number(cell) for cell in rows[0][1]):
        header = rows.pop(0)[1]
        if not rows:
            raise UsageError(
                f"{_name(path)} must hold a table of probabilities, but it has only names"
            )
    has_labels = header is not None and (
        header[0].strip() in ("", "output") or not all(_is_number(row[0]) for _, row in rows)
    )

    _refuse_other_separator(path, header or rows[0][1])
    width = len(header) if header else len(rows[0][1])
    for number, row in rows:
        if len(row) != width:
            raise _refused(path, number, f"have {width} cells, got {len(row)}")

    matrix = []
    for number, row in rows:
        cells = row[has_labels:]
        matrix.append([_probability(path, number, cell) for cell in cells])
    inputs = _labels(header[has_labels:]) if header else tuple(range(width))
    outputs = _labels([row[0] for _, row in rows]) if has_labels else tuple(range(len(rows)))

    _check(path, matrix, inputs)
    if len(set(outputs)) < len(outputs):
        raise UsageError(f"{_name(path)} must give every output a different name")
    if header and not has_labels and len(inputs) > 2 and _numbers_outputs(matrix):
        first = shown(header[0].strip())
        raise UsageError(
            f"{_name(path)}: the first column, {first}, may be an input or name the outputs: call "
            "it output if it names them, or put a column called output before it if not"
        )
    fractions = tuple(tuple(Fraction(mass) for mass in row) for row in matrix)
    return ExactChannel(inputs, outputs, fractions, (Fraction(0),) * len(inputs), 0)


def _refuse_other_separator(path: Path, cells: list[str]) -> None:
    """Refuse a table whose cells are separated by semicolons or tabs."""
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if any(separator in cell for cell in cells):
            raise UsageError(
                f"{_name(path)} must have commas between its cells and points in its numbers, but "
                f"it has {name}"
            )


def _numbers_outputs(matrix: list[list[float]]) -> bool:
    """Whether the first column has the numbers of two outputs, which sum to 1 as a channel does."""
    return sorted(row[0] for row in matrix) == [0.0, 1.0]


def _lines(path: Path) -> Iterator[Line]:
    """Yield the rows of a file that are neither empty nor comments."""
    if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe may never end
        raise UsageError(f"{_name(path)} must be a regular file")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{_name(path)} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{_name(path)} must be UTF-8 text: {error.reason}") from None
    if len(text) > LARGEST:
        raise UsageError(f"{_name(path)} must have at most {LARGEST:,} characters, but it has more")

    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        for row in rows:
            if row and not row[0].startswith("#"):
                yield rows.line_num, row
    except csv.Error as error:
        raise _refused(path, rows.line_num, f"be comma-separated values: {error}") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _probability(path: Path, number: int, cell: str) -> float:
    """Return a probability, which may exceed 1 by rounding."""
    value = float(cell) if _is_number(cell) else -1.0
    if not 0 <= value <= 1 + SUM_TOLERANCE:
        raise _refused(path, number, f"hold probabilities, got {shown(cell)!r}")
    digits = cell.lower().partition("e")[0]
    if value == 0 and any(digit in "123456789" for digit in digits):
        raise _refused(path, number, f"hold numbers that a float can hold, got {shown(cell)!r}")
    return value


def _check(path: Path, matrix: list[list[float]], inputs: tuple[Any, ...]) -> None:
    """Refuse what is no channel."""
    if len(inputs) < 2:
        raise UsageError(f"{_name(path)} must have two or more inputs, but it has {len(inputs)}")
    if len(set(inputs)) < len(inputs):
        raise UsageError(f"{_name(path)} must give every input a different name")
    for place, value in enumerate(inputs):
        total = sum(row[place] for row in matrix)
        if abs(total - 1) > SUM_TOLERANCE:
            raise UsageError(
                f"{_name(path)}: every column must sum to 1 up to {SUM_TOLERANCE:g}, "
                f"got {total:.10g} for input {shown(str(value))}"
            )


def _labels(cells: list[str]) -> tuple[Any, ...]:
    return tuple(_label(cell) for cell in cells)


def _label(cell: str) -> Any:
    """Return what a cell names: a number, a text, or a tuple of these if it has blanks."""
    if "(" in cell:
        return cell
    parts = [int(part) if _INTEGER.fullmatch(part) else part for part in cell.split()]
    if not parts:
        return cell
    return parts[0] if len(parts) == 1 else tuple(parts)


def _refused(path: Path, number: int, rule: str) -> UsageError:
    return UsageError(f"{_name(path)}, line {number}: every row must {rule}")


def _name(path: Path) -> str:
    return shown(str(path))
