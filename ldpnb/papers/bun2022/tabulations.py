"""Published counts of establishments: the Census layout of County Business Patterns, and a national stand-in.

The tables tell, for every county and industry, how many establishments fall into each class of size and how many people
they employ in all. Use `read_tabulation` for a Census file and `stand_in` without one;
`ldpnb.papers.bun2022.establishments` makes establishments from either.
"""

import gzip
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb import checks, writing

LARGEST = 50_000
"""Employees of the largest establishment in the open class "5000 or more": a choice, the tables do not tell."""


@dataclass(frozen=True, slots=True)
class SizeClass:
    """A class of establishments by number of employees, and its column in the Census layout."""

    column: str
    low: int
    high: int

    @property
    def label(self) -> str:
        """Return the class as the Census writes it, such as ``1-4``."""
        return f"{self.low}+" if self.high == LARGEST else f"{self.low}-{self.high}"


CLASSES = (
    SizeClass("n1_4", 1, 4),
    SizeClass("n5_9", 5, 9),
    SizeClass("n10_19", 10, 19),
    SizeClass("n20_49", 20, 49),
    SizeClass("n50_99", 50, 99),
    SizeClass("n100_249", 100, 249),
    SizeClass("n250_499", 250, 499),
    SizeClass("n500_999", 500, 999),
    SizeClass("n1000_1", 1000, 1499),
    SizeClass("n1000_2", 1500, 2499),
    SizeClass("n1000_3", 2500, 4999),
    SizeClass("n1000_4", 5000, LARGEST),
)

# employment is withheld from some cells of the Census file; a letter then gives its range
_RANGES = {
    "A": (0, 19),
    "B": (20, 99),
    "C": (100, 249),
    "E": (250, 499),
    "F": (500, 999),
    "G": (1000, 2499),
    "H": (2500, 4999),
    "I": (5000, 9999),
    "J": (10000, 24999),
    "K": (25000, 49999),
    "L": (50000, 99999),
    "M": (100000, 10**9),
}


@dataclass(frozen=True, slots=True)
class Tabulation:
    """Published counts to agree with.

    Parameters
    ----------
    cells : DataFrame
        A row per county and industry: ``county, industry, employment_low, employment_high`` (equal where employment is
        published) and the number of establishments in each of `CLASSES`, by column name.
    county_employment : dict
        Total employment by county, where it is published apart from the cells.
    industry_employment : dict
        Total employment by industry, likewise.
    """

    cells: pd.DataFrame
    county_employment: Mapping[str, int]
    industry_employment: Mapping[str, int]


def stand_in() -> Tabulation:
    """Return the national stand-in for 2015: published totals, class counts approximated from long-stable shares.

    >>> int(stand_in().cells["employment_low"].iloc[0])
    124085947
    """
    with writing.whole(files("ldpnb").joinpath("papers/bun2022/establishments.csv")) as text:
        return read_tabulation(StringIO(text), industry_digits=0)


def read_tabulation(path: Any, *, industry_digits: int = 2) -> Tabulation:
    """Read a Census file of County Business Patterns in the county layout.

    Parameters
    ----------
    path : path or file
        Comma-separated, with the columns ``fipstate, fipscty, naics, emp, est, n1_4 .. n1000`` and ``n1000_1 ..
        n1000_4`` (the layout up to 2016); ``empflag`` is used where employment is withheld; other columns are ignored.
    industry_digits : int
        Digits of the industry code that tell the cells apart, 2 to 6; 0 for the county totals alone.

    Notes
    -----
    County totals bind the cells of counties where some employment is withheld. Every count must be whole, and the
    classes must sum to the number of establishments.
    """
    options: Any = {"dtype": str, "keep_default_na": False, "skipinitialspace": True}
    try:
        table = pd.read_csv(path, **options)
    except (ValueError, EOFError, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise ValueError(f"{_name(path)} cannot be read: {error}") from None
    table.columns = table.columns.str.lower()
    counts = ["emp", "est", "n1000", *(c.column for c in CLASSES)]
    missing = [c for c in ("fipstate", "fipscty", "naics", *counts) if c not in table]
    if missing:
        raise ValueError(
            f"{_name(path)} must have the columns of the county layout, got none named {', '.join(missing)}"
        )
    for column in counts:
        table[column] = _whole_column(table[column], _name(path))
    _check_sums(table, _name(path))
    table["county"] = table["fipstate"].str.zfill(2) + table["fipscty"].str.zfill(3)
    digits = table["naics"].str.extract(r"^(\d*)[-/]*$", expand=False)
    cells = table[digits.str.len() == checks.whole(industry_digits=industry_digits)]
    if not len(cells):
        raise ValueError(f"{_name(path)} must have industries of {industry_digits} digits, got none")
    low, high = _employment_ranges(cells)
    made = pd.DataFrame(
        {"county": cells["county"], "industry": cells["naics"], "employment_low": low, "employment_high": high}
    )
    made = pd.concat([made, cells[[c.column for c in CLASSES]]], axis=1).reset_index(drop=True)
    withheld = set(made.loc[made["employment_low"] < made["employment_high"], "county"])
    totals = table[(digits == "") & table["county"].isin(withheld) & (table["emp"] > 0)]
    return Tabulation(made, dict(zip(totals["county"], totals["emp"].astype(int), strict=True)), {})


def _name(path: Any) -> str:
    return Path(path).name if isinstance(path, str | Path) else "the file"


def _whole_column(text: "pd.Series[str]", name: str) -> "pd.Series[int]":
    numbers = pd.to_numeric(text, errors="coerce")
    bad = ~((numbers >= 0) & (numbers == np.floor(numbers)))
    if bad.any():
        row = int(bad.to_numpy().argmax())
        raise ValueError(
            f"{name} must have whole numbers in column {text.name}, got {text.iloc[row]!r} in line {row + 2}"
        )
    return numbers.astype(np.int64)


def _check_sums(table: pd.DataFrame, name: str) -> None:
    small = table[[c.column for c in CLASSES if c.low < 1000]].sum(axis=1)
    large = table[[c.column for c in CLASSES if c.low >= 1000]].sum(axis=1)
    for whole, parts, text in ((table["est"], small + table["n1000"], "est"), (table["n1000"], large, "n1000")):
        if (whole != parts).any():
            row = int((whole != parts).to_numpy().argmax())
            got = f"{parts.iloc[row]} for {whole.iloc[row]} in line {row + 2}"
            raise ValueError(f"{name} must have classes that sum to {text}, got {got}")


def _employment_ranges(cells: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    low, high = cells["emp"].to_numpy(), cells["emp"].to_numpy()
    if "empflag" not in cells:
        return low, high
    flags = cells["empflag"].str.strip().str.upper()
    ranges = [_RANGES.get(flag, (int(emp), int(emp))) for flag, emp in zip(flags, low, strict=True)]
    return np.array([r[0] for r in ranges]), np.array([r[1] for r in ranges])


def attainable(tabulation: Tabulation) -> tuple[Tabulation, int]:
    """Move every cell's employment into what its class counts allow, and say how many cells had to move.

    Published employment carries noise and counts establishments without employees, so a few cells of a real file
    contradict their own classes. County and industry totals are dropped when a cell moves.
    """
    cells = tabulation.cells.copy()
    held = cells[[c.column for c in CLASSES]].to_numpy()
    least, most = held @ np.array([c.low for c in CLASSES]), held @ np.array([c.high for c in CLASSES])
    moved = (cells["employment_low"] > most) | (cells["employment_high"] < least)
    cells["employment_low"] = np.clip(cells["employment_low"], least, most)
    cells["employment_high"] = np.clip(cells["employment_high"], least, most)
    if not moved.any():
        return Tabulation(cells, tabulation.county_employment, tabulation.industry_employment), 0
    return Tabulation(cells, {}, {}), int(moved.sum())
