from itertools import product

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


@pytest.mark.parametrize("total", [3, 5, 9, 20, 23])
def test_greedy_allocation_is_the_best_of_all_whole_ones(total: int) -> None:
    best = strata.best_whole_allocation(SIZES, SPREAD, total)
    everything = [m for m in product(*(range(1, n + 1) for n in SIZES)) if sum(m) == total]
    least = min(strata.weighted_mean_variance(SIZES, SPREAD, m) for m in everything)
    assert strata.weighted_mean_variance(SIZES, SPREAD, best) == pytest.approx(least, abs=1e-15)
    assert best.sum() == total


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
    with pytest.raises(ValueError, match="stratum must leave none empty, got no record in stratum 1"):
        strata.strata_of_tallies([1.0, 2.0], [0, 2])


def test_random_rounding_keeps_the_mean() -> None:
    rng = np.random.default_rng(5)
    drawn = np.array([strata.randomly_rounded_shares([1.25, 2.0, 0.9], rng=rng) for _ in range(4000)])
    assert set(drawn[:, 0]) == {1, 2}
    assert set(drawn[:, 1]) == {2}
    assert drawn.mean(axis=0) == pytest.approx([1.25, 2.0, 0.9], abs=0.04)


@pytest.mark.parametrize(
    ("call", "message"),
    [
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
    ],
)
def test_bad_allocations_are_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_simple_random_tallies_have_the_hypergeometric_mean() -> None:
    rng = np.random.default_rng(1)
    counts = np.array([500_000, 300_000, 200_000])
    drawn = np.array([samples.simple_random_tallies(counts, 1000, rng=rng) for _ in range(400)])
    assert (drawn.sum(axis=1) == 1000).all()
    expected = 1000 * counts / counts.sum()
    error = np.sqrt(expected * (1 - expected / 1000) / 400)
    assert (np.abs(drawn.mean(axis=0) - expected) < 5.5 * error).all()


def test_drawn_samples_are_as_large_as_asked() -> None:
    rng = np.random.default_rng(2)
    assert samples.stratified_tallies([[3, 4], [5, 0]], [7, 2], rng=rng).tolist() == [[3, 4], [2, 0]]
    assert samples.simple_random_positions(10, 4, rng=rng).size == 4
    assert samples.cluster_tallies([[1, 0], [0, 2], [3, 3]], 3, rng=rng).tolist() == [4, 5]
    for _ in range(20):
        assert samples.systematic_positions(samples.pps_rates([1, 2, 3, 4], 2), rng=rng).size == 2
    assert samples.poisson_positions([0.0, 1.0, 1.0], rng=rng).tolist() == [1, 2]


def test_systematic_sample_includes_records_at_their_rates() -> None:
    rng = np.random.default_rng(3)
    rates = samples.pps_rates([1, 2, 3, 4], 2)
    found = np.zeros(4)
    for _ in range(4000):
        found[samples.systematic_positions(rates, rng=rng)] += 1
    assert found / 4000 == pytest.approx(rates, abs=0.045)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda rng: samples.simple_random_tallies([3, 2], 6, rng=rng),
            "size must be at most the population's 5, got size=6",
        ),
        (
            lambda rng: samples.stratified_tallies([[3, 2]], [6], rng=rng),
            "size must be at most the population's 5, got size=6",
        ),
        (lambda rng: samples.stratified_tallies([[3, 2]], [1, 1], rng=rng), "drawn must have one size per stratum"),
        (lambda rng: samples.cluster_tallies([[1], [0]], 1, rng=rng), "none of them empty"),
        (lambda rng: samples.pps_rates([1, 0], 1), "weights must be finite numbers > 0"),
        (lambda rng: samples.poisson_positions([0.5, 1.5], rng=rng), "rates must lie in"),
    ],
)
def test_bad_samples_are_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))


def test_laws_are_probability_laws_of_the_right_samples() -> None:
    for law in (
        laws.subsets(range(5), 3),
        laws.subsets_of_random_size([1, 2, 3], [0.1, 0.2, 0.3, 0.4]),
        laws.whole_clusters([[1, 2], [3], [4, 5, 6]], 2),
        laws.poisson([1, 2, 3], [0.2, 0.0, 1.0]),
        laws.one_draw([[1], [2, 3]], [3, 1]),
        laws.every_kth(range(6), 3),
        laws.independent(laws.subsets([1, 2], 1), laws.poisson([3], 0.5)),
    ):
        assert sum(law.values()) == pytest.approx(1)
        assert all(sample == tuple(sorted(sample)) and chance > 0 for sample, chance in law.items())


def test_bad_laws_are_refused() -> None:
    with pytest.raises(ValueError, match="size must be at most the population's 2, got size=3"):
        laws.subsets([1, 2], 3)
    with pytest.raises(ValueError, match="chosen must be at most the population's 1, got chosen=2"):
        laws.whole_clusters([[1]], 2)
