"""What other libraries' tests and documentation expect and their code returns, as calls of this
package.

The values are theirs: dp-accounting 0.6.0, OpenDP 0.16.0, autodp 0.2.3.1, multi-freq-ldpy 0.2.5,
pure-ldp 1.2.0 and diffprivlib 0.6.6. Where they differ, the column `differs` says why.
"""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import ldpnb as ldp
from ldpnb.privacy.hockey_stick import law_delta

ROWS = list(
    csv.DictReader(Path(__file__).with_name("peers.csv").read_text(encoding="utf-8").splitlines())
)
NAMES = {name: getattr(ldp, name) for name in ldp.__all__} | {"exp": math.exp}


def laplace_delta(first: tuple[float, ...], second: tuple[float, ...], epsilon: float) -> float:
    """Delta between two Laplace densities, given by weight, location and scale."""
    return law_delta([first], [second], epsilon)


def krr_of_noise(noise: float, values: int) -> np.ndarray:
    """The channel that keeps a value with the chance ``1 - noise`` and else draws one of all at
    random.
    """
    return np.full((values, values), noise / values) + (1 - noise) * np.eye(values)


def variance(mechanism, users: int, holders: int) -> float:
    """Variance of a value's unbiased frequency when everybody reports."""
    return float(ldp.SampledCounts(users, 1.0, mechanism).variance_rescaled(holders)) / users**2


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['peer']}: {row['call']}" for row in ROWS])
def test_a_peers_expectation_holds_or_differs_for_a_reason(row: dict[str, str]) -> None:
    own = {"laplace_delta": laplace_delta, "variance": variance, "krr_of_noise": krr_of_noise}
    computed = float(eval(row["call"], NAMES | own))
    near = pytest.approx(
        float(row["expected"]), rel=10.0 ** -int(row["digits"]), abs=10.0 ** -int(row["digits"])
    )

    assert (computed == near) == (not row["differs"]), row["differs"]


def test_every_peer_that_was_named_is_asked() -> None:
    named = {"dp-accounting", "autodp", "multi-freq-ldpy", "pure-ldp", "OpenDP", "diffprivlib"}
    assert {row["peer"] for row in ROWS} == named
    assert {row["peer"] for row in ROWS if row["differs"]} == {
        "autodp",
        "multi-freq-ldpy",
        "diffprivlib",
    }
