"""Tables of Parquet files, whose entries have types."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.data.messages import listed, quoted
from ldpnb.data.table import (
    MOST_BYTES,
    MOST_CELLS,
    MOST_LETTERS,
    MOST_ROWS,
    Table,
    place_of,
    places_of,
)
from ldpnb.data.workbook import as_text

_UNREAD = "(an entry that cannot be read)"
_UNPACKED = 5
"""How much larger than a file its pages may be."""


def table_of_parquet(content: bytes, columns: Sequence[str] | None) -> Table:
    """Return the columns of a Parquet file that are needed, see `places_of`.

    A column that holds lists, bytes or dates that do not exist is refused if it is named.
    """
    from pyarrow.parquet import ParquetFile

    source = io.BytesIO(content)
    schema = ParquetFile(source).schema_arrow
    # texts stay in a dictionary of those that occur, of which each row has a place
    texts = [field.name for field in schema if _is_text(field.type)]
    file = ParquetFile(source, read_dictionary=texts)

    names = tuple(schema.names)
    if len(set(names)) < len(names):
        raise ValueError(f"its columns must have different names, got {listed(names)}")
    places = places_of(columns, names)
    named = {place_of(name, names) for name in columns or ()}
    rows = file.metadata.num_rows
    _check_size(file, rows * len(places))

    by_place = {}
    for place in places:
        try:
            by_place[place] = _entries(file.read(columns=[names[place]]).column(0))
        except (OverflowError, ValueError) as error:  # such as a date beyond the year 9999
            if place in named:
                raise ValueError(f"column {quoted(names[place])}: {error}") from None
            by_place[place] = pd.Series([_UNREAD] * rows, dtype=object)
    cells = pd.DataFrame(by_place)
    return Table(names, cells.set_axis(range(1, rows + 1)))


def _check_size(file: Any, entries: int) -> None:
    """Refuse a file that would fill the memory when it is unpacked."""
    rows = file.metadata.num_rows
    if not 0 < rows <= MOST_ROWS:
        raise ValueError(f"it must have 1 to {MOST_ROWS:,} rows, got {rows:,}")
    if entries > MOST_CELLS:
        raise ValueError(
            f"it must have at most {MOST_CELLS:,} entries: name the columns that you need"
        )

    groups = [file.metadata.row_group(place) for place in range(file.num_row_groups)]
    if sum(group.total_byte_size for group in groups) > _UNPACKED * MOST_BYTES:
        raise ValueError(f"it must have at most {_UNPACKED * MOST_BYTES:,} bytes when unpacked")


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _entries(column: Any) -> "pd.Series[Any]":
    """Return a column of Parquet as numbers, or as texts and None."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_nested(kind):
        raise ValueError("it holds lists or records")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.to_pandas()
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64()).to_pandas()

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_binary(inner) or pa.types.is_large_binary(inner):
        raise ValueError("it holds bytes, not text")
    distinct = column.dictionary_encode().combine_chunks()
    texts = [as_text(value) for value in distinct.dictionary.to_pylist()]
    if any(len(text) > MOST_LETTERS for text in texts):
        raise ValueError(f"an entry must have at most {MOST_LETTERS:,} characters")
    places = distinct.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return pd.Series(np.array([*texts, None], dtype=object)[places])
