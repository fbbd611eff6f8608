"""Simulated establishments agree exactly with what they are simulated from."""

import numpy as np
import pytest

from ldpnb.papers.bun2022 import establishments


def test_establishments_agree_exactly_with_their_classes_and_the_total() -> None:
    tally = establishments.simulate(top_code=50_000)
    assert (tally["employees"] * tally["establishments"]).sum() == establishments.EMPLOYED
    for low, high, count in establishments.CLASSES:
        assert tally.loc[tally["employees"].between(low, high), "establishments"].sum() == count
    assert not tally["employees"].duplicated().any()
    assert tally.equals(establishments.simulate(top_code=50_000))
    assert establishments.simulate(top_code=10_000)["employees"].max() == 10_000


@pytest.mark.parametrize(("count", "mean"), [(1, 1300.0), (2, 1000.0), (7, 1499.0), (500, 1001.3), (40_000, 1400.0)])
def test_sizes_within_a_class_sum_to_any_total(count: int, mean: float) -> None:
    total = round(count * mean)
    sizes, counts = establishments.sizes_within(1000, 1499, count, total)
    assert (counts.sum(), sizes @ counts) == (count, total)
    assert (np.diff(sizes) > 0).all()
