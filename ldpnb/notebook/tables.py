"""Tidy tables: collected row by row, rounded for reading."""

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
import pandas as pd

from ldpnb.words import short

Rows = Iterator[Mapping[str, Any]]
"""What the generator behind a table yields."""

# A price such as $9 in a table is not mathematics.
pd.set_option("display.html.use_mathjax", False)

_Given = ParamSpec("_Given")


def table(rows: Callable[_Given, Rows]) -> Callable[_Given, pd.DataFrame]:
    """Make a function that returns a table from one that yields its rows.

    Parameters
    ----------
    rows : callable
        It yields a mapping for each row. The keys are the names of the columns, with their units:
        ``"loss (nats)"``.

    Returns
    -------
    callable
        It takes the same arguments and returns a DataFrame.

    Examples
    --------
    >>> @table
    ... def squares(largest):
    ...     for side in range(1, largest + 1):
    ...         yield {"side (m)": side, "area (m^2)": side * side}
    >>> squares(3)["area (m^2)"].tolist()
    [1, 4, 9]
    """

    @wraps(rows)
    def collected(*args: _Given.args, **named: _Given.kwargs) -> pd.DataFrame:
        return pd.DataFrame(list(rows(*args, **named)))

    return collected


def rounded(table: pd.DataFrame, digits: int = 4) -> pd.DataFrame:
    """Return a table for reading, with text in place of its numbers.

    Parameters
    ----------
    table : DataFrame
        It stays as it is.
    digits : int
        Significant digits of a float; integers are written in full, and nan as nothing.

    Examples
    --------
    >>> rounded(pd.DataFrame({"a": [1 / 3, 12345.678], "b": [5, 12345]})).to_numpy().tolist()
    [['0.3333', '5'], ['12,346', '12,345']]
    """
    shown = table.copy()
    for column in shown.columns:
        kind = shown[column].dtype.kind
        if kind in "iu":
            shown[column] = [f"{count:,}" for count in shown[column]]
        elif kind == "f":
            shown[column] = [
                "" if np.isnan(number) else short(number, digits) for number in shown[column]
            ]
    return shown
