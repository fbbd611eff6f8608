"""A table: its columns as they stand, and where its header and its data are; asked where that has two answers.

Text and workbooks are treated alike: as rows of texts, of which the first thousand and the last few are looked at.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from unicodedata import normalize

import pandas as pd

from ldpnb.data.entries import Entries, parsed
from ldpnb.data.reading import AmbiguousError, Reading, Ways, naming

Rows = list[list[str]]

_ROWS, _BELOW = 1000, 8
"""How many first and last rows are looked at."""
_TOTAL = re.compile(
    r"(?i)((grand |ins)?(total|gesamt|summe?|suma)\w*|mean|average|somme|overall|zusammen|razem|итого|\w*totaal|"
    r"source|quelle|note)\b.*|alle?|合計|総計",
    re.S,
)
_PLAIN = re.compile(
    r"[-+]?[\d.,' \u00a0\u202f\u2019]*\d[\deE+-]*|\d{1,4}([-./])\d{1,2}\1\d{1,4}(\D.*)?"
)
"""A number or a date."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was read."""

    names: tuple[str, ...]  # of all columns
    columns: pd.DataFrame  # the entries of those that were wanted, by their places in `names`
    above: int = 0  # lines above the data
    skipped: int = 0  # rows left out, or filled up, for their number of fields
    unsure: AmbiguousError | None = None  # raised for a column that is not plain ASCII

    def column(self, name: str) -> "pd.Series":
        """Return the entries of a column; case and blanks around a name do not matter, the only one needs none.

        A ValueError says if there is none of that name, several, or if it reads otherwise in another encoding.
        """
        once = self.names.count(name) == 1
        places = [self.names.index(name)] if once else wanted(self.names, {name.strip().lower()})
        if len(places) > 1:
            ways = {"columns 1, 2, ...": {"skip": self.above, "header": 0}}
            raise AmbiguousError(
                f"{len(places)} columns are called {name!r}; rename them in the file", ways
            )
        if not places:
            listed = ", ".join(other[:60] for other in self.names[:20]) + ", ..." * (
                len(self.names) > 20
            )
            wrong = f"no column {name[:60]!r}" if name.strip() else "its column must be named"
            raise ValueError(f"{wrong}, its columns are {listed}")
        series = self.columns[places[0]]
        if self.unsure and not (
            name.isascii() and all(str(entry).isascii() for entry in series.unique())
        ):
            raise self.unsure
        return series

    def entries(self, name: str, reading: Reading) -> Entries:
        """Return what the entries of a column mean, see `ldpnb.data.entries.parsed`."""
        series = self.column(name)
        with naming(f"column {name!r}"):
            return parsed(series, reading)


def wanted(names: Sequence[str], columns: set[str] | None) -> list[int]:
    """Return the places of some columns, in lower case, among the names of all; None wants all, "" the only one."""
    if columns is None or (len(names) == 1 and "" in columns):
        return list(range(len(names)))
    return [place for place, name in enumerate(names) if name.lower() in columns]


def find_header(rows: Rows, reading: Reading) -> tuple[int, int, tuple[str, ...]]:
    """Return the lines above the header, its rows, and the names of the columns: 1, 2, ... without one.

    Where it is not the first line alone, ask.
    """
    skip, header = reading.skip, reading.header
    lengths = [max((i for i, cell in enumerate(row, 1) if cell), default=0) for row in rows]
    filled = sorted(filter(None, lengths))
    if not filled:
        raise ValueError("it has no rows")
    if skip is None:
        skip = next(
            place for place, length in enumerate(lengths) if length >= filled[len(filled) // 2]
        )
    if skip and reading.skip is None:
        ways: Ways = {
            "lines above it are titles": {"skip": skip},
            "line 1 is the header": {"skip": 0},
        }
        ways["columns 1, 2, ..."] = {"skip": skip, "header": 0}
        if max(lengths[:skip]) == 1:
            ways["there is one column"] = {"separator": ";"}
        raise AmbiguousError(f"the header seems to be line {skip + 1}, {_cut(rows[skip])}", ways)
    if skip >= len(rows):
        raise ValueError(f"skip must leave a header and rows, got skip={skip}")
    if header is None:
        _ask_header(rows[skip : skip + _ROWS], skip + 1)
    names = [
        re.sub(r"\s+", " ", normalize("NFC", cell)) if header != 0 else "" for cell in rows[skip]
    ]
    numbered = not any(names)
    names = [name or (str(i) if numbered else f"column {i}") for i, name in enumerate(names, 1)]
    return skip, 1 if header is None else header, tuple(names)


def _ask_header(rows: Rows, line: int) -> None:
    """Ask if the first row looks like data, or if rows below it do not, or are a total."""
    columns = [cells for cells in zip_longest(*rows, fillvalue="") if any(cells)]
    plain = [[bool(_PLAIN.fullmatch(cell)) for cell in cells] for cells in columns]
    both = zip(columns, plain, strict=True)
    likes = [
        cells[0] in cells[1:] or (p[0] and 2 * sum(p) > len(p)) for cells, p in both if cells[0]
    ]
    if len(rows) > 1 and likes and all(likes):
        ways: Ways = {
            "no header; columns 1, 2, ...": {"header": 0},
            "it is the header": {"header": 1},
        }
        raise AmbiguousError(f"line {line}, {_cut(rows[0])}, looks like data", ways)
    first = next(
        (place for place, row in enumerate(zip(*plain, strict=True)) if place and any(row)), 1
    )
    upper = {cell for cells in columns for cell in cells[1:first]}
    lower = {cell for cells in columns for cell in cells[first:]}
    unnamed = not any(columns[0][1:first]) and all(columns[0][first:])  # no answer has its id there
    if (
        1 < first <= 4
        and len(rows) > first + 10
        and (unnamed or ("" not in upper and not upper & lower))
    ):
        ways = {"names are in the first": {"header": first}, "one": {"header": 1}}
        ways["names are in the last"] = {"skip": line + first - 2}
        raise AmbiguousError(f"the header seems to have {first} rows", ways)
    if len(rows) > 2 and _TOTAL.fullmatch(columns[0][1]) and any(numbers[1] for numbers in plain):
        ways = {"leave it out": {"header": 2}, "it is data": {"header": 1}}
        raise AmbiguousError(
            f"the first row below the header, {_cut(rows[1])}, looks like a total", ways
        )


def find_footer(rows: Rows, reading: Reading, width: int) -> int:
    """Return how many rows lie below the data; ask if some of the last ones are a total, or a text in one cell."""
    if reading.footer is not None:
        return reading.footer
    below = 0
    last = [row for row in rows if any(row)][-_BELOW:]
    for place, row in enumerate(reversed(last), 1):
        first, alone = next(filter(None, row)), width > 2 and not any(row[1:])
        if _TOTAL.fullmatch(first) or (alone and not _PLAIN.fullmatch(first)):
            below = place
    if not below:
        return 0
    ways = {"leave them out": {"footer": below}, "they are data": {"footer": 0}}
    raise AmbiguousError(
        f"the last {below} rows, {_cut(last[-below])}, do not look like data", ways
    )


def _cut(row: Sequence[str]) -> str:
    return f"{', '.join(row).rstrip(', ')[:60]!r}"
