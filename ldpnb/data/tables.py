"""From a file to a table: delimited text (perhaps compressed), a workbook, or Parquet.

The kind of a file is known by its first bytes, whatever its name says. A file is bounded in bytes
(also unpacked), rows and cells. A row that does not fit the header is refused, never cut or filled.
"""

import gzip
import io
from collections.abc import Sequence
from pathlib import Path

from ldpnb import checks
from ldpnb.data.messages import printable
from ldpnb.data.parquet import table_of_parquet
from ldpnb.data.reading import Reading
from ldpnb.data.rows import table_of
from ldpnb.data.table import MOST_BYTES, Table
from ldpnb.data.text import rows_of_text
from ldpnb.data.workbook import rows_of_sheet

_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_PARQUET = b"PAR1"
_NOT_READ = {
    b"\xd0\xcf\x11\xe0": "an old workbook, or one with a password",
    b"SQLite format 3": "a database",
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b'{"': "JSON",
    b"[{": "JSON",
}
"""What is recognised only to say so."""


def read_table(path: str | Path, reading: Reading, columns: Sequence[str] | None = None) -> Table:
    """Read a table from a file.

    Parameters
    ----------
    path : str or Path
        A regular file: text in UTF-8 or a stated encoding, such as .csv, .tsv and .csv.gz, a
        workbook (.xlsx), or .parquet.
    reading : Reading
        How the file is to be read.
    columns : sequence of str, optional
        Columns that are needed. The others of a wide table are not kept.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        Names the file, and the row, the entry and the option that helps where there is one. This
        is so for every damaged, hostile or too large file.
    """
    file = Path(path).expanduser()
    if not file.is_file():  # a pipe or a device may never end
        raise ValueError(f"data must be a file, got data={checks.shortened(str(path))}")

    try:
        return _read(file, reading, columns)
    except ImportError:
        raise
    except Exception as error:  # each library has errors of its own for what is damaged
        reason = str(error).partition("\n")[0] or type(error).__name__
        name = checks.shown(str(file))
        raise ValueError(f"{name}: {printable(reason)}") from None


def _read(file: Path, reading: Reading, columns: Sequence[str] | None) -> Table:
    content = _content(file)

    if content.startswith(_PARQUET):
        _refuse_idle(reading, "Parquet", "sheet", "skip", "footer", "separator", "encoding")
        return table_of_parquet(content, columns)

    if content.startswith(_ZIP):
        _refuse_idle(reading, "a workbook", "separator", "encoding")
        return table_of(rows_of_sheet(content, reading), reading, columns, is_sheet=True)

    for start, kind in _NOT_READ.items():
        if content.startswith(start):
            raise ValueError(f"it is {kind}, which cannot be read: save it as .csv or .xlsx")

    _refuse_idle(reading, "text", "sheet")
    return table_of(rows_of_text(content, reading), reading, columns, is_sheet=False)


def _refuse_idle(reading: Reading, kind: str, *options: str) -> None:
    """Refuse options that say nothing about a kind of file."""
    for name in options:
        if name in reading.stated():
            raise ValueError(f"{name} must not be set, because it has no effect on {kind}")


def _content(file: Path) -> bytes:
    """Return what a file holds, unpacked."""
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"it must have at most {MOST_BYTES:,} bytes")

    content = file.read_bytes()
    if content.startswith(_GZIP):
        with gzip.open(io.BytesIO(content)) as packed:
            content = packed.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"it must have at most {MOST_BYTES:,} bytes when unpacked")

    if not content.strip():
        raise ValueError("it is empty")
    return content
