from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.designs import laws, samples, strata

SIZES = np.array([6, 7, 10])
SPREAD = np.array([2.0, 9.0, 100.0])


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.lists(st.floats(0.01, 100), min_size=8, max_size=8),
    st.floats(0.01, 1),
)
def test_whole_capped_allocations_keep_their_total(sizes: list[int], variances: list[float], share: float) -> None:
    total = max(1, round(share * sum(sizes)))
    asked = strata.neyman_shares(sizes, variances[: len(sizes)], total)
    capped = strata.capped_shares(sizes, asked)
    whole = strata.largest_remainder(capped.shares)
    assert capped.shares.sum() == pytest.approx(total)
    assert whole.sum() == total
    assert (whole <= sizes).all()
    assert (np.abs(whole - capped.shares) < 1 + 1e-9).all()
    assert (capped.shares[capped.capped] == np.array(sizes)[capped.capped]).all()
    assert (capped.shares[~capped.capped] >= asked[~capped.capped] * (1 - 1e-9)).all()


def test_capped_neyman_is_the_best_real_allocation() -> None:
    capped = strata.capped_shares(SIZES, strata.neyman_shares(SIZES, SPREAD, 14))
    assert capped.shares[2] == 10
    assert capped.report() == "stratum 2 taken completely: asked 10.812, holds 10"
    best = strata.weighted_mean_variance(SIZES, SPREAD, capped.shares)
    for first in np.linspace(0.5, 3.9, 35):
        other = np.array([first, 4 - first, 10.0])
        assert strata.weighted_mean_variance(SIZES, SPREAD, other) >= best - 1e-12
    assert strata.capped_shares(SIZES, [1.0, 2.0, 3.0]).report() == "nothing capped"


def test_constant_strata_get_nothing_from_neyman() -> None:
    assert strata.neyman_shares([5, 5], [0.0, 4.0], 3).tolist() == [0.0, 3.0]
    assert strata.best_whole_allocation([5, 5], [0.0, 4.0], 7).tolist() == [0, 5]


def test_variance_is_infinite_only_where_an_unsampled_stratum_varies() -> None:
    assert strata.weighted_mean_variance([5, 5], [0.0, 4.0], [0, 5]) == 0
    assert strata.weighted_mean_variance([5, 5], [1.0, 4.0], [0, 5]) == np.inf


def test_tallies_and_lists_give_the_same_strata() -> None:
    listed = strata.strata_of([[1, 1, 4], [7, 9, 9, 9]])
    tallied = strata.strata_of_tallies([1, 4, 7, 9], [0, 0, 1, 1], [2, 1, 1, 3])
    for name in ("sizes", "means", "variances"):
        assert getattr(listed, name) == pytest.approx(getattr(tallied, name))
    assert listed.mean == pytest.approx(40 / 7)


def test_drawn_samples_are_as_large_as_asked() -> None:
    rng = np.random.default_rng(2)
    assert samples.stratified_tallies([[3, 4], [5, 0]], [7, 2], rng=rng).tolist() == [[3, 4], [2, 0]]
    assert samples.simple_random_positions(10, 4, rng=rng).size == 4
    assert samples.cluster_tallies([[1, 0], [0, 2], [3, 3]], 3, rng=rng).tolist() == [4, 5]
    for _ in range(20):
        assert samples.systematic_positions(samples.pps_rates([1, 2, 3, 4], 2), rng=rng).size == 2
    assert samples.poisson_positions([0.0, 1.0, 1.0], rng=rng).tolist() == [1, 2]


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: strata.strata_of_tallies([1.0, 2.0], [0, 2]),
            "stratum must leave none empty, got no record in stratum 1",
        ),
        (lambda: strata.neyman_shares([3, 0], [1, 1], 2), r"sizes must be integers >= 1, got sizes\[1\]=0"),
        (lambda: strata.neyman_shares([3, 3], [0, 0], 2), "variances must have a positive one, got all zeros"),
        (lambda: strata.neyman_shares([3, 3], [1, -1], 2), "variances must be finite numbers >= 0"),
        (lambda: strata.capped_shares([3, 3], [4.0, 3.0]), "asked must sum to at most what its strata hold, 6, got 7"),
        (lambda: strata.capped_shares([3, 3], [4.0, 0.0]), "asked must sum to at most what its strata hold, 3, got 4"),
        (lambda: strata.weighted_mean_variance([3, 3], [1, 1], [1, 4]), r"got drawn\[1\]=4 of 3"),
        (lambda: strata.proportional_shares([3], 0), r"sampling_rate must lie in \(0, 1\]"),
        (
            lambda: strata.best_whole_allocation([3, 3], [1, 1], 1),
            "total must be at least 1 per stratum .* 2, got total=1",
        ),
        (
            lambda: samples.simple_random_tallies([3, 2], 6, rng=RNG),
            "size must be at most the population's 5, got size=6",
        ),
        (
            lambda: samples.stratified_tallies([[3, 2]], [6], rng=RNG),
            "size must be at most the population's 5, got size=6",
        ),
        (lambda: samples.stratified_tallies([[3, 2]], [1, 1], rng=RNG), "drawn must have one size per stratum"),
        (lambda: samples.cluster_tallies([[1], [0]], 1, rng=RNG), "none of them empty"),
        (lambda: samples.pps_rates([1, 0], 1), "weights must be finite numbers > 0"),
        (lambda: samples.poisson_positions([0.5, 1.5], rng=RNG), r"rates must lie in \[0, 1\], got rates\[1\]=1.5"),
        (lambda: samples.systematic_positions([-0.5], rng=RNG), r"rates must lie in \[0, 1\], got rates\[0\]=-0.5"),
        (lambda: laws.subsets([1, 2], 3), "size must be at most the population's 2, got size=3"),
        (lambda: laws.whole_clusters([[1]], 2), "chosen must be at most the population's 1, got chosen=2"),
    ],
)
def test_bad_designs_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
