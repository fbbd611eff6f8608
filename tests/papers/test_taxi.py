"""The taxi columns: of a trip file in the TLC's layout, or a stand-in, which says that it is
one.
"""

from pathlib import Path

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


@pytest.mark.parametrize("name", ["trips.csv", "trips.csv.gz", "trips.parquet"])
def test_a_trip_file_is_read_in_every_form(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    TRIPS.to_parquet(path) if name.endswith("parquet") else TRIPS.to_csv(path, index=False)
    distance, payment = taxi("trip_distance", path), taxi("payment_type", path)
    assert distance.counts[[0, 1, 2, 999]].tolist() == [2, 1, 0, 1]
    assert (distance.users, distance.missing, distance.outside) == (4, 1, 2)
    assert distance.labels[1] == "0.02-0.04 miles"
    assert distance.numbers[1] == pytest.approx(0.03)
    assert (payment.counts.tolist(), payment.missing, payment.outside) == ([1, 2, 0, 0, 1], 1, 2)


def test_bins_end_where_they_say(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    pd.DataFrame({"Trip_Distance": np.arange(1, 1001) * 0.02}).to_csv(path, index=False)
    assert (taxi("trip_distance", path).counts == 1).all()


@pytest.mark.parametrize(
    ("column", "size"), [("trip_distance", (434_195, 1000)), ("payment_type", (359_902, 5))]
)
def test_the_stand_in_has_the_sources_size_and_says_what_it_is(
    column, size: tuple[int, int]
) -> None:
    stand_in = taxi(column)
    assert (stand_in.users, stand_in.counts.size) == size
    assert "synthetic stand-in" in stand_in.name
    assert "Made up" in stand_in.report()


def test_unknown_columns_and_files_without_valid_trips_are_refused(tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text("payment_type\n9\n\n")
    with pytest.raises(ValueError, match=r"trips.csv: no valid trips"):
        taxi("payment_type", tmp_path / "trips.csv")
    with pytest.raises(
        ValueError, match="column must be one of trip_distance, payment_type, got column='fare'"
    ):
        taxi("fare")
    with pytest.raises(ValueError, match=r"data must be a file, got data='nowhere.csv'"):
        taxi("payment_type", "nowhere.csv")
