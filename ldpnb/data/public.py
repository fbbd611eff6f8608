"""Public tallies that come with the companion, and those of a public file given by path.

Use `adult` for the two columns of the UCI Adult data, and `taxi` for a trip file of the New York City Taxi and
Limousine Commission (TLC). That file is not part of the companion: `taxi_stand_in` makes a synthetic population of the
same size, which says nothing about New York. For a column of any other file see `ldpnb.data.files`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.data import tables

_DATA = Path(__file__).parent

TRIP_DISTANCE_USERS, PAYMENT_TYPE_USERS = 434_195, 359_902
"""Valid trips in the two columns that Section 5 of lopuhaa2020 uses."""

PAYMENT_TYPES = ("credit card", "cash", "no charge", "dispute", "unknown")
"""Meaning of the codes 1 to 5 of ``payment_type``, from the TLC data dictionary."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many users hold each value of an attribute.

    Parameters
    ----------
    name : str
        The attribute, and where it is from.
    labels : tuple of str
        The values.
    counts : (k,) int
        Users per value.
    """

    name: str
    labels: tuple[str, ...]
    counts: NDArray[np.int64]

    @property
    def users(self) -> int:
        """Number of users."""
        return int(self.counts.sum())


def adult(column: Literal["age", "workclass"]) -> Tally:
    """Return a column of the training split of UCI Adult: 32,561 people, by age 17 to 90 (74 values) or work class (9
    values).

    Examples
    --------
    >>> age = adult("age")
    >>> age.users, age.counts.size, age.labels[0]
    (32561, 74, '17')
    """
    checks.choice(column=column, among=("age", "workclass"))
    rows = [line.split(",") for line in (_DATA / f"adult_{column}.csv").read_text().splitlines()[1:]]
    return Tally(f"Adult {column}", tuple(row[0] for row in rows), np.array([int(row[1]) for row in rows]))


def trip_distance_counts(path: str | Path, *, bins: int = 1000, width: float = 0.02) -> Tally:
    """Tally the distances of a TLC trip file in bins of equal width; trips of no length or beyond the last bin are not
    valid.

    Parameters
    ----------
    path : str or Path
        CSV or Parquet file of yellow or green trips, with the column ``trip_distance`` in miles; other columns are not
        read.
    bins : int
        Number of values, 1000 in Section 5 of lopuhaa2020.
    width : float
        Miles per bin. The source does not give its discretisation; the default covers trips up to 20 miles.
    """
    checks.whole(bins=bins, at_least=2)
    checks.positive(width=width)
    counts = np.zeros(bins, dtype=np.int64)
    for (part,) in tables.parts(tables.locate(path), numbers=("trip_distance",)):
        miles = part.to_numpy()
        index = np.ceil(miles[(miles > 0) & (miles <= bins * width * (1 + 1e-12))] / width - 1e-9).astype(np.int64) - 1
        counts += np.bincount(np.clip(index, 0, bins - 1), minlength=bins)
    return Tally(f"trip distance of {Path(path).name}", _distance_labels(bins, width), _some(counts, path))


def payment_type_counts(path: str | Path) -> Tally:
    """Tally the payment types 1 to 5 of a TLC trip file; other codes are not valid.

    Parameters
    ----------
    path : str or Path
        CSV or Parquet file of yellow or green trips, with the whole-number column ``payment_type``.
    """
    counts = np.zeros(len(PAYMENT_TYPES), dtype=np.int64)
    for (part,) in tables.parts(tables.locate(path), numbers=("payment_type",)):
        codes = part.to_numpy()
        valid = codes[(codes >= 1) & (codes <= len(PAYMENT_TYPES)) & (codes == np.floor(codes))]
        counts += np.bincount(valid.astype(np.int64) - 1, minlength=len(PAYMENT_TYPES))
    return Tally(f"payment type of {Path(path).name}", PAYMENT_TYPES, _some(counts, path))


def taxi(column: Literal["trip_distance", "payment_type"], path: str | Path = "") -> Tally:
    """Return a column of a TLC trip file, or its synthetic stand-in if no path is given.

    Parameters
    ----------
    column : {"trip_distance", "payment_type"}
    path : str or Path
        CSV or Parquet file, see `trip_distance_counts` and `payment_type_counts`; empty for the stand-in.
    """
    checks.choice(column=column, among=("trip_distance", "payment_type"))
    if not str(path):
        return taxi_stand_in(column)
    return trip_distance_counts(path) if column == "trip_distance" else payment_type_counts(path)


def taxi_stand_in(column: Literal["trip_distance", "payment_type"], *, bins: int = 1000, width: float = 0.02) -> Tally:
    """Return a synthetic stand-in for a column of the TLC trip file, with the number of users and values of
    lopuhaa2020.

    Distances follow a log-normal law (median 1.7 miles, log-scale deviation 0.8), payment types a geometric fall with
    two common values. Both are made up: they have the shape of such data, not its numbers. Whole counts by largest
    remainder, nothing is drawn.

    Examples
    --------
    >>> taxi_stand_in("payment_type").users, taxi_stand_in("trip_distance").counts.size
    (359902, 1000)
    """
    checks.choice(column=column, among=("trip_distance", "payment_type"))
    if column == "payment_type":
        shares = np.array([0.68, 0.3, 0.012, 0.006, 0.002])
        return Tally("payment type (synthetic stand-in)", PAYMENT_TYPES, _apportion(shares, PAYMENT_TYPE_USERS))
    from scipy.special import ndtr

    below = ndtr(np.log(width * np.arange(1, bins + 1) / 1.7) / 0.8)
    shares = np.diff(below, prepend=0.0) / below[-1]
    labels = _distance_labels(bins, width)
    return Tally("trip distance (synthetic stand-in)", labels, _apportion(shares, TRIP_DISTANCE_USERS))


def _apportion(shares: NDArray[np.float64], users: int) -> NDArray[np.int64]:
    """Return whole counts nearest to the shares that sum to the users."""
    wanted = shares * users
    counts = np.floor(wanted).astype(np.int64)
    largest = np.argsort(counts - wanted, kind="stable")[: users - int(counts.sum())]
    counts[largest] += 1
    return counts


def _distance_labels(bins: int, width: float) -> tuple[str, ...]:
    return tuple(f"{width * i:.3g}-{width * (i + 1):.3g} miles" for i in range(bins))


def _some(counts: NDArray[np.int64], path: str | Path) -> NDArray[np.int64]:
    if not counts.any():
        raise ValueError(f"{path}: no valid trips")
    return counts
