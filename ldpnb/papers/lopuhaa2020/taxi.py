"""The taxi columns of Section 5, from a trip file or made up.

The trip files are those of the New York City Taxi and Limousine Commission (TLC). They are not part
of this companion. The stand-in is a synthetic population of the same size, which says nothing about
New York.
"""

from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from ldpnb import checks
from ldpnb.arithmetic import Ints
from ldpnb.claims import published
from ldpnb.data.column import Column
from ldpnb.data.entries import as_numbers, with_missing
from ldpnb.data.reading import Reading
from ldpnb.data.tables import read_table
from ldpnb.designs.strata import largest_remainder

_BINS = 1000
_WIDTH = 0.02
"""Width of a bin, in miles."""

PAYMENT_TYPES = ("credit card", "cash", "no charge", "dispute", "unknown")
"""Meaning of the codes 1 to 5 of ``payment_type``, from the TLC data dictionary."""


def taxi(column: Literal["trip_distance", "payment_type"], path: str | Path = "") -> Column:
    """Return a column of a TLC trip file, or its synthetic stand-in if no path is given.

    Distances fall into 1000 bins of equal width, as in Section 5 of Lopuhaä-Zwakenberg et al.
    (2020). They do not give the width; 0.02 miles cover trips of up to 20 miles. Trips of no
    length, trips beyond the last bin, and trips with payment codes other than 1 to 5 are left out.

    Parameters
    ----------
    column : {"trip_distance", "payment_type"}
        Which column.
    path : str or Path, optional
        A file of yellow or green trips, as `ldpnb.data.tables.read_table` reads it. No other
        columns are kept.

    Examples
    --------
    >>> taxi("payment_type").users, taxi("trip_distance").counts.size
    (359902, 1000)
    """
    checks.choice(column, "column", among=("trip_distance", "payment_type"))
    are_distances = column == "trip_distance"

    details: dict[str, Any]
    if str(path):
        counts, origin, details = _from_file(column, path)
    else:
        counts = _made_up(are_distances)
        origin = "(synthetic stand-in)"
        details = {"notes": ("Made up, in the shape of such data.",)}
    name = f"{column.replace('_', ' ')} {origin}"

    if not are_distances:
        return Column(name, PAYMENT_TYPES, counts, np.arange(counts.size, dtype=float), **details)

    labels = []
    middles = []
    for i in range(_BINS):
        labels.append(f"{_WIDTH * i:.3g}-{_WIDTH * (i + 1):.3g} miles")
        middles.append(_WIDTH * (i + 0.5))

    return Column(
        name,
        tuple(labels),
        counts,
        np.array(middles),
        low=0.0,
        high=_WIDTH * _BINS,
        **details,
    )


def _from_file(column: str, path: str | Path) -> tuple[Ints, str, dict[str, Any]]:
    """Count trips per value in a file; return the file's name and what was left out as well."""
    reading = Reading()
    entries = read_table(path, reading, [column]).column(column)
    values = as_numbers(with_missing(entries, reading), reading).dropna().to_numpy()

    if column == "trip_distance":
        size = _BINS
        places = np.ceil(values / _WIDTH - 1e-9)
        is_valid = (values > 0) & (places <= size)
    else:
        size = len(PAYMENT_TYPES)
        places = values
        is_valid = np.isin(values, np.arange(1, size + 1))
    if not is_valid.any():
        raise ValueError(f"{checks.shown(str(path))}: no valid trips")

    cells = places[is_valid].astype(np.int64) - 1
    counts = np.bincount(cells, minlength=size).astype(np.int64)
    invalid = int((~is_valid).sum())
    left_out = {
        "missing": len(entries) - values.size,
        "outside": invalid,
        "notes": (f"{invalid:,} trips that are not valid were left out.",),
    }
    return counts, f"of {Path(path).name}", left_out


def _made_up(are_distances: bool) -> Ints:
    """Return made-up numbers of trips per value, as many in all as in the source.

    They have the shape of such data, not its numbers. Distances follow a log-normal distribution
    with a median of 1.7 miles and a deviation of 0.8 on the log scale. Of the payment types, two
    are common, and the others fall off geometrically. Nothing is random: counts are rounded by
    largest remainders.
    """
    if not are_distances:
        shares = np.array([0.68, 0.3, 0.012, 0.006, 0.002])
        return largest_remainder(shares * published("lopuhaa2020")["taxi_payment_users"])

    below = ndtr(np.log(_WIDTH * np.arange(1, _BINS + 1) / 1.7) / 0.8)
    shares = np.diff(below, prepend=0.0) / below[-1]
    return largest_remainder(shares * published("lopuhaa2020")["taxi_distance_users"])
