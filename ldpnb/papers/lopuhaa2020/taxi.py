"""The taxi columns of Section 5: of a trip file of the New York City Taxi and Limousine Commission (TLC), or made up.

That file is not part of the companion: the stand-in is a synthetic population of the same size, which says nothing
about New York.
"""

from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from ldpnb import checks
from ldpnb.arithmetic import Ints
from ldpnb.claims import published
from ldpnb.data.column import Column
from ldpnb.data.formats import opened, read
from ldpnb.data.reading import Reading
from ldpnb.designs.strata import largest_remainder

_BINS, _WIDTH = 1000, 0.02

PAYMENT_TYPES = ("credit card", "cash", "no charge", "dispute", "unknown")
"""Meaning of the codes 1 to 5 of ``payment_type``, from the TLC data dictionary."""


def taxi(column: Literal["trip_distance", "payment_type"], path: str | Path = "") -> Column:
    """Return a column of a TLC trip file, or its synthetic stand-in if no path is given.

    Distances (miles) fall into bins of equal width, 1000 as in Section 5 of lopuhaa2020; the source does not give their
    width, and that of 0.02 covers trips up to 20 miles. Trips of no length, beyond the last bin, or paid for by other
    codes than 1 to 5 are not valid and left out.

    - `column`, {"trip_distance", "payment_type"}
    - `path`, str or Path: file of yellow or green trips in any format of `ldpnb.data.formats.read`; other columns are
      not read.

    >>> taxi("payment_type").users, taxi("trip_distance").counts.size
    (359902, 1000)
    """
    checks.choice(column, "column", among=("trip_distance", "payment_type"))
    distances = column == "trip_distance"
    if str(path):
        with opened(path) as file:
            entries = read(file, Reading(), [column]).entries(column, Reading(kind="number"))
            values, size = entries.values, _BINS if distances else len(PAYMENT_TYPES)
            index = np.ceil((values / _WIDTH if distances else values) - 1e-9)
            valid = (values > 0) & (index <= size) & (distances | (values == index))
            if not valid.any():
                raise ValueError("no valid trips")
        counts = np.bincount(index[valid].astype(np.int64) - 1, entries.times[valid], size).astype(
            np.int64
        )
        more: dict[str, Any] = {
            "missing": int((entries.places < 0).sum()),
            "outside": int(entries.times[~valid].sum()),
        }
        origin = f"of {file.name}"
    else:
        counts, origin = _made_up(distances), "(synthetic stand-in)"
        more = {"notes": ("Made up, in the shape of such data.",)}
    name = f"{column.replace('_', ' ')} {origin}"
    if not distances:
        return Column(name, PAYMENT_TYPES, counts, np.arange(counts.size, dtype=float), **more)
    labels = tuple(f"{_WIDTH * i:.3g}-{_WIDTH * (i + 1):.3g} miles" for i in range(_BINS))
    middles = np.array([_WIDTH * (i + 0.5) for i in range(_BINS)])
    return Column(name, labels, counts, middles, low=0.0, high=_WIDTH * _BINS, **more)


def _made_up(distances: bool) -> Ints:
    """Return made-up trips per value, as many as lopuhaa2020 uses, in the shape of such data, not with its numbers.

    Distances follow a log-normal law (median 1.7 miles, log-scale deviation 0.8), payment types a geometric fall with
    two common values. Nothing is random: counts are rounded by largest remainders.
    """
    if not distances:
        shares = np.array([0.68, 0.3, 0.012, 0.006, 0.002])
        return largest_remainder(shares * published("lopuhaa2020")["taxi_payment_users"])
    below = ndtr(np.log(_WIDTH * np.arange(1, _BINS + 1) / 1.7) / 0.8)
    shares = np.diff(below, prepend=0.0) / below[-1]
    return largest_remainder(shares * published("lopuhaa2020")["taxi_distance_users"])
