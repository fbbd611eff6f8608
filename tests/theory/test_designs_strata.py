"""Strata and samples: allocations that keep what they are given, and what is refused."""

from collections.abc import Callable

import numpy as np
import pytest

from ldpnb.designs import laws, samples, strata


def test_strata_that_are_taken_completely_are_reported() -> None:
    capped = strata.Strata([6, 7, 10]).capped(strata.Strata([6, 7, 10], [2.0, 9.0, 100.0]).neyman(14))
    assert capped.report() == "stratum 2 taken completely: asked 10.812, holds 10"
    assert strata.Strata([6, 7, 10]).capped([1.0, 2.0, 3.0]).report() == "nothing capped"


def test_constant_strata_get_nothing_from_neyman() -> None:
    assert strata.Strata([5, 5], [0.0, 4.0]).neyman(3).tolist() == [0.0, 3.0]
    assert strata.Strata([5, 5], [0.0, 4.0]).best_whole(7).tolist() == [0, 5]


def test_variance_is_infinite_only_where_an_unsampled_stratum_varies() -> None:
    assert strata.Strata([5, 5], [0.0, 4.0]).variance([0, 5]) == 0
    assert strata.Strata([5, 5], [1.0, 4.0]).variance([0, 5]) == np.inf


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


REFUSALS: list[tuple[Callable[[], object], str]] = [
    (lambda: strata.strata_of_tallies([1.0, 2.0], [0, 2]), "stratum must leave none empty, got no record in stratum 1"),
    (lambda: strata.Strata([3, 0], [1, 1]).neyman(2), r"sizes must be integers >= 1, got sizes\[1\]=0"),
    (lambda: strata.Strata([3, 3]).neyman(2), "variances must be given for this, got none"),
    (lambda: strata.Strata([3, 3]).weighted_mean([1.0]), "sample_means must be one finite number per stratum, 2"),
    (lambda: strata.Strata([3, 3], [1, 1]).neyman_at_cost(9, [0, 1]), r"costs must be > 0, got costs=.0, 1."),
    (lambda: strata.Strata([3, 3], [1]), "variances must have one entry per stratum, 2, got variances=.1."),
    (lambda: strata.Strata([3, 3], [0, 0]).neyman(2), "variances must have a positive one, got all zeros"),
    (lambda: strata.Strata([3, 3], [1, -1]).neyman(2), "variances must be finite numbers >= 0"),
    (lambda: strata.Strata([3, 3]).capped([4.0, 3.0]), "asked must sum to at most what its strata hold, 6, got 7"),
    (lambda: strata.Strata([3, 3]).capped([4.0, 0.0]), "asked must sum to at most what its strata hold, 3, got 4"),
    (lambda: strata.Strata([3, 3], [1, 1]).variance([1, 4]), r"got drawn\[1\]=4 of 3"),
    (lambda: strata.Strata([3]).proportional(0), r"sampling_rate must lie in \(0, 1\]"),
    (lambda: strata.Strata([3, 3], [1, 1]).best_whole(1), "total must be at least 1 per stratum .* 2, got total=1"),
    (lambda: samples.simple_random_tallies([3, 2], 6, rng=RNG), "size must be at most the population's 5, got size=6"),
    (lambda: samples.stratified_tallies([[3, 2]], [6], rng=RNG), "size must be at most the population's 5, got size=6"),
    (lambda: samples.stratified_tallies([[3, 2]], [1, 1], rng=RNG), "drawn must have one size per stratum"),
    (lambda: samples.cluster_tallies([[1], [0]], 1, rng=RNG), "none of them empty"),
    (lambda: samples.pps_rates([1, 0], 1), "weights must be finite numbers > 0"),
    (lambda: samples.poisson_positions([0.5, 1.5], rng=RNG), r"rates must lie in \[0, 1\], got rates\[1\]=1.5"),
    (lambda: samples.systematic_positions([-0.5], rng=RNG), r"rates must lie in \[0, 1\], got rates\[0\]=-0.5"),
    (lambda: laws.subsets([1, 2], 3), "size must be at most the population's 2, got size=3"),
    (lambda: laws.whole_clusters([[1]], 2), "chosen must be at most the population's 1, got chosen=2"),
]


@pytest.mark.parametrize(("call", "message"), REFUSALS)
def test_bad_designs_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
