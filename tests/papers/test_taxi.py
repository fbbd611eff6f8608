"""Check the taxi columns of Lopuhaä-Zwakenberg et al.: from a trip file, or made up.

The files of the Taxi and Limousine Commission are not part of this repository, so small ones of the
same form are written here. The stand-in for them must say that it is one.
"""

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest

from ldpnb.papers.lopuhaa2020.taxi import taxi

TRIPS = pd.DataFrame(
    {
        "VendorID": [1, 2, 1, 2, 1, 2, 1],
        "trip_distance": [0.0, 0.01, 0.02, 0.021, 20.0, 20.1, None],
        "payment_type": [1, 2, 2, 6, 0, 5, None],
    }
)


@pytest.fixture(params=["trips.csv", "trips.csv.gz", "trips.parquet"])
def trips(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The trips in a file of each form."""
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        TRIPS.to_parquet(path)
    else:
        TRIPS.to_csv(path, index=False)
    return path


def test_distances_are_read_from_a_file_of_every_form(trips: Path) -> None:
    distance = taxi("trip_distance", trips)
    assert distance.counts[[0, 1, 2, 999]].tolist() == [2, 1, 0, 1]
    assert distance.users == 4
    assert distance.missing == 1
    assert distance.outside == 2

    assert distance.labels[1] == "0.02-0.04 miles"
    assert distance.numbers[1] == pytest.approx(0.03)


def test_payments_are_read_from_a_file_of_every_form(trips: Path) -> None:
    payment = taxi("payment_type", trips)
    assert payment.counts.tolist() == [1, 2, 0, 0, 1]
    assert payment.missing == 1
    assert payment.outside == 2


def test_bins_end_where_they_say(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    edges = np.arange(1, 1001) * 0.02
    pd.DataFrame({"Trip_Distance": edges}).to_csv(path, index=False)
    assert (taxi("trip_distance", path).counts == 1).all()


@pytest.mark.parametrize(
    ("column", "users", "values"),
    [
        ("trip_distance", 434_195, 1000),
        ("payment_type", 359_902, 5),
    ],
)
def test_the_stand_in_has_the_sources_size_and_says_what_it_is(
    column: Literal["trip_distance", "payment_type"], users: int, values: int
) -> None:
    stand_in = taxi(column)
    assert stand_in.users == users
    assert stand_in.counts.size == values
    assert "synthetic stand-in" in stand_in.name
    assert "Made up" in stand_in.report()


def test_a_file_without_valid_trips_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("payment_type\n9\n\n")
    with pytest.raises(ValueError, match=r"trips.csv: no valid trips"):
        taxi("payment_type", path)


def test_an_unknown_column_is_refused() -> None:
    rule = "column must be one of trip_distance, payment_type, got column='fare'"
    with pytest.raises(ValueError, match=rule):
        taxi("fare")


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"data must be a file, got data='nowhere.csv'"):
        taxi("payment_type", "nowhere.csv")
