"""What other libraries' own tests and documentation expect, as calls of this package; the expectations are theirs."""

import csv
from pathlib import Path

import pytest

import ldpnb as ldp
from ldpnb.privacy.hockey_stick import laplace_delta

ROWS = list(csv.DictReader(Path(__file__).with_name("peers.csv").read_text(encoding="utf-8").splitlines()))
NAMES = {name: getattr(ldp, name) for name in ldp.__all__} | {"laplace_delta": laplace_delta}


def variance(mechanism, users: int, holders: int) -> float:
    """Variance of a value's unbiased frequency when everybody reports."""
    return float(ldp.SampledCounts(users, 1.0, mechanism).variance_rescaled(holders)) / users**2


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['peer']}: {row['call']}" for row in ROWS])
def test_a_peers_expectation_holds(row: dict[str, str]) -> None:
    assert float(eval(row["call"], NAMES | {"variance": variance})) == pytest.approx(
        float(row["expected"]), rel=10.0 ** -int(row["digits"]), abs=10.0 ** -int(row["digits"])
    )
