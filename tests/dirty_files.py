"""Files of the kinds that hold tables: workbooks, databases, archives, Stata, SPSS, Parquet."""

import datetime as dt
import io
import sqlite3
import zipfile
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat

ROWS = 60
AGES = [18 + (7 * i) % 30 for i in range(ROWS)]
SEXES = ["mfd"[i % 3] for i in range(ROWS)]
PAYS = [1000 + 37 * i + i / 8 for i in range(ROWS)]
DAYS = [dt.date(2024, 1 + i % 12, 1 + (5 * i) % 28) for i in range(ROWS)]


def text(
    header: str, *columns: Sequence[Any], sep: str = ",", encoding: str = "utf-8", end: str = "\n"
) -> bytes:
    """Return delimited text; the header is written as it is."""
    rows = [sep.join(map(str, row)) for row in zip(*columns, strict=True)]
    return "".join(line + end for line in ([header] if header else []) + rows).encode(encoding)


def book(path: Path, **sheets: list[list[Any]]) -> None:
    """Write a workbook."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)


def far_cell(path: Path) -> None:
    """Write a workbook with a word in the last cell that a sheet has."""
    book(path, a=[["age"], *[[a] for a in AGES]])
    made = openpyxl.load_workbook(path)
    made["a"]["XFD1048576"] = "x"
    made.save(path)


def merged_cells(path: Path) -> None:
    """Write a workbook with a cell for every four rows."""
    book(
        path,
        a=[["age", "sex"], *[[a, None if i % 4 else SEXES[i // 4]] for i, a in enumerate(AGES)]],
    )
    made = openpyxl.load_workbook(path)
    for row in range(2, ROWS + 2, 4):
        made["a"].merge_cells(f"B{row}:B{row + 3}")
    made.save(path)


def database(path: Path, **tables: dict[str, list[Any]]) -> None:
    """Write a database."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as made:
        for name, columns in tables.items():
            pd.DataFrame(columns, dtype=object).to_sql(name, made, index=False)
    made.close()


def archive(**files: bytes) -> bytes:
    """Return a zip file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, content in files.items():
            packed.writestr(name.replace("_csv", ".csv"), content)
    return made.getvalue()


def stata(path: Path) -> None:
    """Write a Stata file with a labelled column."""
    pd.DataFrame({"age": AGES, "sex": pd.Categorical(SEXES)}).to_stata(path, write_index=False)


def rows_that_are_not_there(path: Path) -> bytes:
    """Return a Stata file that says it has a billion rows."""
    stata(path)
    made = bytearray(path.read_bytes())
    made[6:10] = (2**30).to_bytes(4, "little")
    return bytes(made)


def zipped_spss(path: Path) -> bytes:
    """Return an archive with an SPSS file in which every code of a column has a word."""
    words = {"sex": dict(enumerate(SEXES[:3], 1))}
    inner = path.with_name("inner.sav")
    pyreadstat.write_sav(
        pd.DataFrame({"sex": [1.0 + i % 3 for i in range(ROWS)]}),
        inner,
        variable_value_labels=words,
    )
    return archive(**{"inner.sav": inner.read_bytes()})


def spss(path: Path) -> None:
    """Write an SPSS file with labels and a range of declared missing entries."""
    frame = pd.DataFrame({"age": [98.0 if i % 10 == 0 else float(a) for i, a in enumerate(AGES)]})
    pyreadstat.write_sav(frame, str(path), missing_ranges={"age": [{"lo": 97, "hi": 99}]})


def parquet(path: Path) -> None:
    """Write a Parquet file with typed columns."""
    columns = {
        "age": pd.array([None if i % 6 == 0 else a for i, a in enumerate(AGES)], dtype="Int64")
    }
    columns |= {
        "pay": [Decimal(str(p)) for p in PAYS],
        "sex": pd.Categorical(SEXES),
        "list": [[a] for a in AGES],
    }
    columns |= {
        "own": [a > 40 for a in AGES],
        "day": DAYS,
        "digits": [int(f"{d:%Y%m%d}") for d in DAYS],
    }
    columns["end"] = pd.array([10**7] * ROWS, pd.ArrowDtype(pa.int32())).astype(
        pd.ArrowDtype(pa.date32())
    )
    pd.DataFrame(columns).to_parquet(path, index=False)
