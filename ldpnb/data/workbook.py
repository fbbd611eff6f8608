"""Rows of a sheet of a workbook (.xlsx)."""

import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from ldpnb.data.messages import listed
from ldpnb.data.reading import Reading

MOST_BYTES = 50_000_000
"""Of a workbook when unpacked; a file of comma-separated values holds much more in as many."""
MOST_CELLS = 20_000_000
"""Of a sheet, with the empty ones in between."""

_MERGED = re.compile(rb"<mergeCell\b[^>]*\bref=[\"']([A-Z]+(\d+):[A-Z]+(\d+))[\"']")
_FORMULA_WITHOUT_VALUE = re.compile(rb"(</f>|<f\b[^<>]*/>)\s*(<v\s*/>|<v></v>)?\s*</c>")


def rows_of_sheet(content: bytes, reading: Reading) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows of a sheet below those that are skipped, as they come.

    A cell far from the table makes rows and fields in between; they are counted as they come, so
    that it takes no memory.
    """
    from openpyxl import load_workbook

    _look_at_parts(content, reading)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of formats and forms that hold no data
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheet = _sheet(book.worksheets, reading.sheet)
        sheet.reset_dimensions()  # what a file says of them may be absent or false

        cells = 0
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells += len(row) + 1
            if cells > MOST_CELLS:
                reach = f"at least row {number:,}"
                what = "delete the cells that are far from the table, or save it as .csv"
                raise ValueError(f"the sheet extends to {reach} and has too many cells: {what}")
            if number > reading.skip:
                yield number, [_cell(value) for value in row]


def _look_at_parts(content: bytes, reading: Reading) -> None:
    """Refuse a workbook that is too large, or has cells that would be read as empty."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except zipfile.BadZipFile:
        raise ValueError("it is a damaged workbook or archive") from None

    with archive:
        parts = archive.infolist()
        if "xl/workbook.xml" not in archive.namelist():
            raise ValueError("it is an archive, not a workbook: unpack it, or save it as .csv")
        if sum(part.file_size for part in parts) > MOST_BYTES:
            size = f"{MOST_BYTES:,} bytes"
            raise ValueError(f"it must have at most {size} when unpacked: save it as .csv")
        for part in parts:
            if part.filename.startswith("xl/worksheets/"):
                _refuse_cells_read_as_empty(archive.read(part), reading)


def _refuse_cells_read_as_empty(part: bytes, reading: Reading) -> None:
    for place, top, bottom in _MERGED.findall(part):
        is_below_header = int(bottom) > reading.skip + 1
        if is_below_header and int(bottom) > int(top):
            what = "split it and write its value in each row, or set skip if it is above the header"
            raise ValueError(f"the cell {place.decode()} spans several rows: {what}")
    if _FORMULA_WITHOUT_VALUE.search(part):
        what = "open and save the workbook, or save it as .csv"
        raise ValueError(f"a formula has no stored value: {what}")


def _sheet(sheets: Sequence[Any], stated: str) -> Any:
    """Return the sheet that is stated, or the only one."""
    titles = [sheet.title for sheet in sheets]
    if stated in titles:
        return sheets[titles.index(stated)]
    if len(sheets) == 1 and not stated:
        return sheets[0]
    number = "1 sheet" if len(sheets) == 1 else f"{len(sheets)} sheets"
    raise ValueError(f"it has {number}: set sheet to one of {listed(titles)}")


def _cell(value: Any) -> Any:
    """Return a cell as a number or as text."""
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return as_text(value)


def as_text(value: Any) -> str:
    """Return a typed entry as text, a date as 2024-12-31."""
    text = str(value).strip()
    return text.removesuffix(" 00:00:00") if hasattr(value, "year") else text
