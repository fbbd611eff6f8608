"""This package computes what other libraries do, or `peers.csv` says why not.

Each row there is a call of this package, and the value that another library's tests or
documentation expect or its code returns: dp-accounting 0.6.0, OpenDP 0.16.0, autodp 0.2.3.1,
multi-freq-ldpy 0.2.5, pure-ldp 1.2.0 and diffprivlib 0.6.6. Where values differ, the column
`differs` says why.
"""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import ldpnb as ldp
from ldpnb.privacy.hockey_stick import law_delta

TABLE = Path(__file__).with_name("peers.csv").read_text(encoding="utf-8")
ROWS = list(csv.DictReader(TABLE.splitlines()))


def laplace_delta(first: tuple[float, ...], second: tuple[float, ...], epsilon: float) -> float:
    """Delta between two Laplace densities, given by weight, location and scale."""
    return law_delta([first], [second], epsilon)


def krr_of_noise(noise: float, values: int) -> np.ndarray:
    """The channel that keeps a value with chance ``1 - noise``, and else draws any value."""
    return np.full((values, values), noise / values) + (1 - noise) * np.eye(values)


def variance(mechanism, users: int, holders: int) -> float:
    """Variance of a value's unbiased frequency when everybody reports."""
    return float(ldp.SampledCounts(users, 1.0, mechanism).variance_rescaled(holders)) / users**2


NAMES = {
    **{name: getattr(ldp, name) for name in ldp.__all__},
    "exp": math.exp,
    "laplace_delta": laplace_delta,
    "variance": variance,
    "krr_of_noise": krr_of_noise,
}
"""The names that calls in the table use."""


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['peer']}: {row['call']}" for row in ROWS])
def test_a_peers_expectation_holds_or_differs_for_a_reason(row: dict[str, str]) -> None:
    computed = float(eval(row["call"], NAMES))
    tolerance = 10.0 ** -int(row["digits"])
    agrees = computed == pytest.approx(float(row["expected"]), rel=tolerance, abs=tolerance)

    if row["differs"]:
        assert not agrees, f"{row['peer']} no longer differs: {row['differs']}"
    else:
        assert agrees, computed


def test_every_peer_that_was_named_is_asked() -> None:
    asked = {row["peer"] for row in ROWS}
    assert asked == {
        "dp-accounting",
        "autodp",
        "multi-freq-ldpy",
        "pure-ldp",
        "OpenDP",
        "diffprivlib",
    }
