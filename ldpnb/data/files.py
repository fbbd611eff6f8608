"""A column of your own file, tallied: names, whole numbers, or numbers in bins.

The range of numbers is never taken from the file: it would reveal the smallest and the largest
value, and users have to know it before they can answer. The same is true of categories. If none
are stated, those that occur are taken, with a remark.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.arithmetic import Floats
from ldpnb.data.column import Column
from ldpnb.data.entries import (
    as_names,
    as_numbers,
    ask_about_codes,
    ask_about_names,
    bins_of,
    first_row,
    label,
    with_missing,
)
from ldpnb.data.messages import quoted, refuse
from ldpnb.data.reading import Reading
from ldpnb.data.table import Table, place_of
from ldpnb.data.tables import read_table
from ldpnb.words import exact

MOST_VALUES = 4096
"""Largest number of different values that a column may have, for local mechanisms to be useful."""

OTHER = "other"
"""The category for all names that are not among the stated ones."""

OCCURRING = (
    "The categories were taken from the data, which reveals them: set categories to avoid that."
)
COUNTS = re.compile(
    r"(?i)n|counts?|freq(uency)?|number|persons|people|cases|obs|anzahl|häufigkeit|fälle"
)
"""Names of columns that may say how many users a row stands for."""

_MOST_COLUMNS_OF_COUNTS = 5
"""A table with more columns is not taken for one that has a row for each value with its count."""


def load_column(
    data: str | Path,
    column: str,
    *,
    low: float | None = None,
    high: float | None = None,
    bins: int = 0,
    categories: Sequence[str] = (),
    outside: Literal["error", "clip"] = "error",
    reading: Reading = Reading(),  # noqa: B008
) -> Column:
    r"""Tally a column of a file.

    Parameters
    ----------
    data : str or Path
        The file, of at most 200 MB: delimited text (perhaps compressed as .gz), .xlsx or .parquet.
    column : str
        The column to tally, by its name in any case; empty for the only column of a file.
    low, high : float, optional
        The range of a column of numbers, both ends included. Without it a column holds names.
    bins : int
        Number of bins of equal width; 0 for whole numbers, each a value of its own.
    categories : sequence of str
        The names that may occur. With ``other`` among them, each other name counts as that.
    outside : {"error", "clip"}
        Whether a number outside the range is refused, or moved to the nearer end.
    reading : Reading
        How the file is to be read: its separator, its missing answers, and so on.

    Returns
    -------
    Column
        How many users hold each value, and what was left out or moved. In a bin the mean of the
        entries stands for them, so that binning does not move the mean of the column.

    Raises
    ------
    ValueError
        If the file cannot be read so, or an entry does not fit. The message names the file, the
        first row and entry that do not fit, and the option that helps.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "people.csv")
    >>> _ = file.write_text("age,answer\n35,yes\n57,no\nk.A.,no\n")
    >>> load_column(file, "age", low=0, high=120, reading=Reading(missing="k.A.")).users
    2
    >>> load_column(file, "answer").labels
    ('no', 'yes')
    """
    _check_options(low, high, bins, categories, outside)
    wanted = [column]
    if reading.counts not in ("", "none"):
        wanted.append(reading.counts)
    table = read_table(data, reading, wanted)

    name = checks.shown(str(data))
    try:
        tally = tallied(
            table,
            column,
            low=low,
            high=high,
            bins=bins,
            categories=categories,
            outside=outside,
            reading=reading,
        )
    except ValueError as error:
        raise ValueError(f"{name}: column {quoted(column)}: {error}") from None

    file = Path(data).name
    notes = tally.notes
    if table.empty_rows:
        notes = (f"Empty rows, which are left out: {table.empty_rows:,}.", *notes)
    return replace(tally, name=f"{column} of {file}" if column else file, notes=notes)


def _check_options(
    low: float | None,
    high: float | None,
    bins: int,
    categories: Sequence[str],
    outside: str,
) -> None:
    """Refuse options that contradict each other or cannot act."""
    checks.choice(outside, "outside", among=("error", "clip"))
    checks.whole(bins, "bins", at_most=MOST_VALUES)
    if (low is None) != (high is None):
        raise ValueError(f"low and high must be set together, got low={low}, high={high}")

    if low is None or high is None:
        if bins > 0:
            raise ValueError("bins needs a column of numbers: set low and high too")
        if outside != "error":
            raise ValueError("outside needs a column of numbers: set low and high too")
        return

    if isinstance(categories, str) or categories:
        raise ValueError("categories must not be set together with low and high")
    checks.numbers([low, high], "low and high")
    if not low < high:
        raise ValueError(f"low must be < high, got low={exact(low)}, high={exact(high)}")
    if bins:
        return

    for option, end in (("low", low), ("high", high)):
        if end % 1:
            rule = "a whole number if bins is not set"
            raise ValueError(f"{option} must be {rule}, got {option}={exact(end)}")
    if high - low >= MOST_VALUES:
        rule = f"at most {MOST_VALUES:,} values unless bins is set"
        raise ValueError(f"low to high must be {rule}, got {high - low + 1:,.0f}")


def tallied(
    table: Table,
    column: str,
    *,
    low: float | None = None,
    high: float | None = None,
    bins: int = 0,
    categories: Sequence[str] = (),
    outside: str = "error",
    reading: Reading,
) -> Column:
    """Tally a column of a table that was read; arguments and errors are those of `load_column`."""
    entries = with_missing(table.column(column), reading)
    weights = _weights(table, column, reading)

    if low is None or high is None:
        parts = _categories(entries, weights, categories, reading)
        parts["numbers"] = np.arange(len(parts["labels"]), dtype=float)
        parts["scale"] = "category"
    else:
        values = as_numbers(entries, reading)
        parts = _binned(values, entries, weights, low, high, bins, outside, reading)

    places = parts.pop("places")
    return Column(
        name="",
        counts=_counts(places, weights, len(parts["labels"])),
        missing=int(weights[places < 0].sum()),
        **parts,
    )


Places = NDArray[np.int64]
"""The place of each row's value among the labels, or -1; also weights and counts."""


def _counts(places: Places, weights: Places, size: int) -> Places:
    """Return how many users are at each place; -1 is none."""
    here = places >= 0
    return np.bincount(places[here], weights[here], size).astype(np.int64)


def _weights(table: Table, column: str, reading: Reading) -> Places:
    """Return how many users each row stands for, and ask where another column may say that."""
    if reading.counts in ("", "none"):
        if not reading.counts:
            _ask_about_counts(table, column)
        return np.ones(len(table.cells), dtype=np.int64)

    if place_of(reading.counts, table.names) == place_of(column, table.names):
        raise ValueError(f"counts must be another column, got counts={quoted(reading.counts)}")
    weights = as_numbers(with_missing(table.column(reading.counts), Reading()), reading)
    is_bad = ~(weights >= 0) | (weights % 1 != 0) | (weights > 2**53)
    if is_bad.any():
        row = first_row(is_bad, weights)
        rule = f"must be a whole number >= 0, because it is in the counts {quoted(reading.counts)}"
        refuse(row, weights[row], rule)
    if weights.sum() > 2**53:
        raise ValueError(f"counts must have a sum <= 2**53, got {weights.sum():,}")
    return weights.to_numpy().astype(np.int64)


def _ask_about_counts(table: Table, column: str) -> None:
    """Ask whether a table has a row for each value, with the number of its users."""
    if len(table.names) > _MOST_COLUMNS_OF_COUNTS:
        return

    place_of_column = place_of(column, table.names)
    for place, name in enumerate(table.names):
        may_be_counts = COUNTS.fullmatch(name.strip()) is not None
        if place == place_of_column or not may_be_counts or place not in table.cells:
            continue
        others = table.cells.drop(columns=place)
        if not others.astype(str).duplicated().any():
            what = f"set counts={name} if it does, or counts=none if each row is one user"
            raise ValueError(f"{quoted(name)} may say how many users a row stands for: {what}")


def _categories(
    entries: "pd.Series[Any]", weights: Places, categories: Sequence[str], reading: Reading
) -> dict[str, Any]:
    """Return the labels of names and the place of each row among them."""
    names = as_names(entries)
    if not names.notna().any():
        raise ValueError("it has no entries")

    notes: list[str] = []
    outside = 0
    if categories:
        labels = [str(category).strip() for category in categories]
        if len(set(labels)) < len(labels):
            raise ValueError(f"categories must be different, got {labels}")
        is_unknown = names.notna() & ~names.isin(labels)
        if is_unknown.any() and OTHER not in labels:
            row = first_row(is_unknown, names)
            what = "add it or 'other' to the categories, or set missing"
            refuse(row, names[row], f"is not among the categories: {what}")
        names = names.mask(is_unknown, OTHER)
        outside = int(weights[is_unknown.to_numpy()].sum())
        if outside:
            notes.append(
                f"Entries that are not among the categories count as 'other': {outside:,}."
            )
    else:
        ask_about_names(names, reading)
        labels = sorted(set(names.dropna()))
        notes.append(OCCURRING)

    if not 2 <= len(labels) <= MOST_VALUES:
        rule = f"2 to {MOST_VALUES:,} different names"
        raise ValueError(f"it must have {rule}, got {len(labels):,}")
    places = names.map({label: place for place, label in enumerate(labels)}).fillna(-1)
    return {
        "labels": tuple(labels),
        "places": places.to_numpy().astype(np.int64),
        "outside": outside,
        "notes": tuple(notes),
    }


def _binned(
    values: "pd.Series[float]",
    entries: "pd.Series[Any]",
    weights: Places,
    low: float,
    high: float,
    bins: int,
    outside: str,
    reading: Reading,
) -> dict[str, Any]:
    """Return the labels of bins or whole numbers, and the place of each row among them."""
    if not values.notna().any():
        raise ValueError("it has no entries")

    is_beyond = (values < low) | (values > high)
    if is_beyond.any() and outside == "error":
        row = first_row(is_beyond, values)
        entry = label(entries[row])
        ways = [
            f"set missing={entry} if it means that there is no answer",
            "a wider range if it is an answer",
            "outside=clip to move it to the nearer end",
        ]
        refuse(row, entry, f"lies outside [{exact(low)}, {exact(high)}]: {', or '.join(ways)}")
    ask_about_codes(values.mask(is_beyond), entries, reading)

    beyond = int(weights[is_beyond.to_numpy()].sum())
    clipped = values.clip(low, high)
    notes = []
    if beyond:
        before = _mean(values, weights)
        after = _mean(clipped, weights)
        notes.append(
            f"Numbers outside [{exact(low)}, {exact(high)}], which are moved to the nearer end: "
            f"{beyond:,}. This changes the mean from {before:.6g} to {after:.6g}."
        )

    is_fraction = clipped % 1 > 0
    if not bins and is_fraction.any():
        row = first_row(is_fraction, values)
        refuse(row, f"{clipped[row]:.15g}", "is not a whole number: set the number of bins")

    # A missing entry is put at the lower end for now, and gets the place -1 below.
    in_range: Floats = np.asarray(clipped.fillna(low), dtype=np.float64)
    if bins:
        edges, inside = bins_of(in_range, low, high, bins)
        words = _edges_in_words(edges)
        labels = [f"{words[i]} to {words[i + 1]}" for i in range(bins)]
        numbers = (edges[:-1] + edges[1:]) / 2
    else:
        numbers = np.arange(low, high + 1)
        inside = np.rint(in_range - low)
        labels = [f"{number:.0f}" for number in numbers]
    places = np.where(values.notna(), inside, -1).astype(np.int64)

    if bins:
        numbers = _means_by_place(in_range, places, weights, numbers)
    return {
        "labels": tuple(labels),
        "numbers": numbers,
        "places": places,
        "outside": beyond,
        "low": float(low),
        "high": float(high),
        "notes": tuple(notes),
    }


def _edges_in_words(edges: Floats) -> list[str]:
    """Return edges of bins with six digits, or as many more as tell them apart."""
    for digits in range(6, 18):
        words = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(words)) == len(words) and not any("e+" in word for word in words):
            break
    return words


def _mean(values: "pd.Series[float]", weights: Places) -> float:
    """Return the mean over all users who have a number."""
    here = values.notna().to_numpy()
    return float(np.average(values.to_numpy()[here], weights=weights[here]))


def _means_by_place(values: Floats, places: Places, weights: Places, middles: Floats) -> Floats:
    """Return the mean of the entries of each bin, or its middle if it has none."""
    here = places >= 0
    users = np.bincount(places[here], weights[here], middles.size)
    sums = np.bincount(places[here], (values * weights)[here], middles.size)
    return np.divide(sums, users, out=middles.copy(), where=users > 0)
