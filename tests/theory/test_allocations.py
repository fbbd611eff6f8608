"""Whole allocations to strata: exact, and as quick for a billion people as for a thousand.

The second way takes one record at a time, each from the stratum where it helps most.
"""

import time

import numpy as np
import pytest

from ldpnb.designs.strata import Strata, best_allocation
from ldpnb.rng import stream


def gain_of_one_more(weight: float, drawn: int) -> float:
    return weight**2 / (drawn * (drawn + 1))


def one_record_at_a_time(
    weights: np.ndarray, total: int, least: np.ndarray, most: np.ndarray
) -> np.ndarray:
    """Apply the greedy rule, which is exact because each stratum's gains fall."""
    drawn = least.copy()
    for _ in range(total - int(least.sum())):
        open_strata = np.flatnonzero((weights > 0) & (drawn < most)).tolist()
        if not open_strata:
            break
        best = max(open_strata, key=lambda i: gain_of_one_more(weights[i], drawn[i]))
        drawn[best] += 1
    return drawn


def test_allocations_equal_those_of_one_record_at_a_time() -> None:
    rng = stream("allocations", seed=1)
    for _ in range(400):
        strata = int(rng.integers(1, 7))
        kinds = [0, 1, 2, 3, 10 * rng.random(), rng.random() / 1000, 1e6]
        weights = rng.choice(kinds, strata)
        least = np.where(weights > 0, rng.integers(1, 3, strata), 0)
        most = least + rng.integers(0, 12, strata) * (weights > 0)
        total = int(rng.integers(least.sum(), most.sum() + 3))

        found = best_allocation(weights, total, least=least, most=most)
        assert found.tolist() == one_record_at_a_time(weights, total, least, most).tolist()


def test_from_one_record_of_each_stratum_that_varies_to_all_of_them_may_be_drawn() -> None:
    strata = Strata([10, 20, 4], variances=[1.0, 9.0, 0.0])
    assert strata.best_whole(2).tolist() == [1, 1, 0]
    assert strata.best_whole(30).tolist() == [10, 20, 0]
    assert strata.best_whole(34).tolist() == [10, 20, 0]
    with pytest.raises(ValueError, match=r"total must be at least 1 per stratum .*got total=1"):
        strata.best_whole(1)

    assert strata.capped(strata.sizes).tolist() == [10, 20, 4]
    assert strata.proportional(1.0).tolist() == [10, 20, 4]
    assert strata.variance(strata.sizes) == 0

    # a record more of a stratum without weight helps nobody
    assert best_allocation([0, 3], 100, least=[0, 1], most=[50, 10]).tolist() == [0, 10]

    all_alike = Strata([10, 20], variances=[0.0, 0.0])
    assert all_alike.best_whole(0).tolist() == [0, 0]
    assert all_alike.best_whole(30).tolist() == [0, 0]
    assert all_alike.variance([0, 0]) == 0


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_an_allocation_to_83_million_people_takes_no_time_by_the_person(unit: float) -> None:
    sizes = np.linspace(1e6, 9.375e6, 16).astype(int)
    variances = np.linspace(0.01, 0.25, 16) * unit**2

    began = time.process_time()
    drawn = Strata(sizes, variances).best_whole(40_000_000)
    assert drawn.sum() == 40_000_000
    assert time.process_time() - began < 0.5
