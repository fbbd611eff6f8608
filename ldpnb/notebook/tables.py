"""Tidy tables: collected row by row, rounded for reading."""

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
import pandas as pd

from ldpnb.words import short

Rows = Iterator[Mapping[str, Any]]
"""What the generator behind a table yields."""

pd.set_option("display.html.use_mathjax", False)  # for prices, which are no mathematics

_Given = ParamSpec("_Given")


def table(rows: Callable[_Given, Rows]) -> Callable[_Given, pd.DataFrame]:
    """Collect what a generator of rows yields; its columns are the rows' keys, with units: ``"loss (nats)"``.

    >>> squares = table(lambda largest: ({"side (m)": i, "area (m^2)": i * i} for i in range(1, largest + 1)))
    >>> squares(3)["area (m^2)"].tolist()
    [1, 4, 9]
    """

    @wraps(rows)
    def collected(*args: _Given.args, **named: _Given.kwargs) -> pd.DataFrame:
        return pd.DataFrame(list(rows(*args, **named)))

    return collected


def rounded(table: pd.DataFrame, digits: int = 4) -> pd.DataFrame:
    """Return a table for reading: its numbers as text, as `short` writes them; whole ones in full, nan left out.

    >>> rounded(pd.DataFrame({"a": [1 / 3, 12345.678], "b": [5, 12345]})).to_numpy().tolist()
    [['0.3333', '5'], ['12,346', '12,345']]
    """
    shown = table.copy()
    for column in shown.columns:
        if (kind := shown[column].dtype.kind) in "iu":
            shown[column] = [f"{v:,}" for v in shown[column]]
        elif kind == "f":
            shown[column] = [("" if np.isnan(v) else short(v, digits)) for v in shown[column]]
    return shown
