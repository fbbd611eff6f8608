"""Public tallies, columns of files, and the TLC layout; a stand-in says that it is one."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ldpnb.data import public

TRIPS = pd.DataFrame(
    {
        "VendorID": [1, 2, 1, 2, 1, 2, 1],
        "trip_distance": [0.0, 0.01, 0.02, 0.021, 20.0, 20.1, None],
        "payment_type": [1, 2, 2, 6, 0, 5, None],
    }
)


def test_adult_has_the_users_and_values_of_the_source() -> None:
    age, workclass = public.adult("age"), public.adult("workclass")
    assert (age.users, age.counts.size, workclass.users, workclass.counts.size) == (32_561, 74, 32_561, 9)
    assert age.counts[age.labels.index("89")] == 0
    assert workclass.labels[0] == "Private"
    assert workclass.counts[0] == 22_696


@pytest.mark.parametrize("name", ["trips.csv", "trips.csv.gz", "trips.parquet"])
def test_a_trip_file_is_read_in_every_form(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name.endswith("parquet"):
        TRIPS.to_parquet(path)
    elif name.endswith("gz"):
        path.write_bytes(gzip.compress(TRIPS.to_csv(index=False).encode()))
    else:
        TRIPS.to_csv(path, index=False)
    distance = public.taxi("trip_distance", path)
    assert distance.counts[[0, 1, 2, 999]].tolist() == [2, 1, 0, 1]
    assert distance.users == 4
    assert distance.labels[1] == "0.02-0.04 miles"
    assert public.taxi("payment_type", path).counts.tolist() == [1, 2, 0, 0, 1]


def test_bins_end_where_they_say(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    pd.DataFrame({"Trip_Distance": np.arange(1, 1001) * 0.02}).to_csv(path, index=False)
    assert (public.trip_distance_counts(path).counts == 1).all()


def test_the_stand_in_has_the_sources_size_and_says_what_it_is() -> None:
    distance, payment = public.taxi("trip_distance"), public.taxi("payment_type")
    assert (distance.users, distance.counts.size) == (434_195, 1000)
    assert (payment.users, payment.counts.size) == (359_902, 5)
    assert "synthetic stand-in" in distance.name
    assert "synthetic stand-in" in payment.name
    assert distance.counts.min() >= 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("fare\n1\n", "no column 'payment_type', its columns are fare"),
        ("payment_type\ncash\n", "column payment_type must hold numbers"),
        ("payment_type\n9\n", "no valid trips"),
        ("", "cannot be read as csv"),
    ],
)
def test_a_malformed_trip_file_is_one_clear_error(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message) as caught:
        public.payment_type_counts(path)
    assert str(path) in str(caught.value)


def test_what_is_not_parquet_is_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "trips.parquet"
    path.write_text("payment_type\n1\n")
    with pytest.raises(ValueError, match="parquet"):
        public.payment_type_counts(path)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ValueError, match=r"data must be a file, got data='nowhere.csv'"):
        public.payment_type_counts("nowhere.csv")


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="column must be one of age, workclass"):
        public.adult("income")
    with pytest.raises(ValueError, match="column must be one of trip_distance, payment_type"):
        public.taxi("fare")
