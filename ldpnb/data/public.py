"""UCI Adult: two columns, which are built in, and the whole table, fetched from its archive.

For a column of any other file see `ldpnb.data.files`.
"""

import os
from pathlib import Path
from typing import Literal

import numpy as np

from ldpnb import checks, writing
from ldpnb.data.column import Column

CACHE_VARIABLE = "LDPNB_CACHE"
"""Environment variable naming the folder for downloads."""

_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data"
_SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
_HEADER = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,"
    "race,sex,capital-gain,capital-loss,hours-per-week,native-country,income"
)


def adult(column: Literal["age", "workclass"]) -> Column:
    """Return a column of the training split of UCI Adult, 32,561 people.

    Parameters
    ----------
    column : {"age", "workclass"}
        Age in years, 17 to 90, or one of nine classes of work.

    Returns
    -------
    Column

    References
    ----------
    B. Becker and R. Kohavi, *Adult*, UCI Machine Learning Repository, 1996.

    Examples
    --------
    >>> age = adult("age")
    >>> age.users, age.counts.size, age.labels[0]
    (32561, 74, '17')
    """
    checks.choice(column, "column", among=("age", "workclass"))
    rows = writing.rows(f"data/adult_{column}.csv")
    labels = tuple(row[column] for row in rows)
    counts = np.array([int(row["count"]) for row in rows])
    if column == "workclass":
        places = np.arange(len(labels), dtype=float)
        return Column("Adult workclass", labels, counts, places, scale="category")
    ages = np.array(labels, dtype=float)
    return Column("Adult age", labels, counts, ages, low=ages[0], high=ages[-1])


def fetch(cache: str | Path | None = None) -> Path:
    """Return the file of the whole table with a header, from a folder or else from the network.

    Parameters
    ----------
    cache : str or Path, optional
        The folder; by default that of ``LDPNB_CACHE``, or the user's cache folder.

    Returns
    -------
    Path

    Raises
    ------
    OSError
        If the file is not there and cannot be fetched, or does not match its checksum. The message
        says how to get it.
    """
    import pooch

    folder = Path(cache or os.environ.get(CACHE_VARIABLE) or pooch.os_cache("ldpnb"))
    pooch.get_logger().setLevel("ERROR")
    try:
        raw = Path(pooch.retrieve(_URL, f"sha256:{_SHA256}", "adult.data", folder))
    except (OSError, ValueError) as error:  # as are those of requests
        place = f"download {_URL} on another machine and copy it to {folder}"
        raise OSError(
            f"adult.data cannot be downloaded ({checks.shown(str(error))}); without a network, "
            f"{place}"
        ) from None
    table = raw.with_suffix(".csv")
    writing.write(
        table, f"{_HEADER}\n{raw.read_text(encoding='utf-8').replace(', ', ',')}".encode()
    )
    return table
