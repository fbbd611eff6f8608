"""Samples have the law of their design, allocations are optimal and use what they are given."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from ldpnb.designs import laws, strata
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.formulas import reporters
from ldpnb.papers.bun2022.formulas import samples, sizes
from ldpnb.rng import stream
from properties.strategies import DRAWS, examples, fits, logarithmic, rates, sum_law, users

stratum_sizes = st.lists(
    st.sampled_from([1, 10**12]) | st.integers(1, 1000), min_size=1, max_size=6
)


@examples(10)
@given(st.integers(1, 300), logarithmic(1e-3, 1e3), st.floats(-100, 400))
def test_laws_of_sizes_are_laws_with_the_right_mode(
    population: int, deviation: float, mean: float
) -> None:
    gauss = sizes.truncated_gaussian_size(population, mean, deviation)
    assert gauss.population == population
    assert gauss.probabilities.sum() == pytest.approx(1, rel=1e-9)
    assert np.argmax(gauss.log_probabilities) == pytest.approx(
        min(max(mean, 0), population), abs=0.5 + 1e-9
    )


@examples(10)
@given(st.lists(users, min_size=1, max_size=6), rates)
def test_a_trillion_users_report_or_not(counts: list[int], rate: float) -> None:
    reporting = reporters.poisson(counts, rate, rng=stream("reporters", rate, seed=1))
    assert ((reporting >= 0) & (reporting <= counts)).all()
    expected = reporters.expected_reports(counts, rate)
    deviation = np.sqrt(sum(counts) * rate * (1 - rate))
    # a Poisson tail keeps the false alarm below 1e-9 where few are expected
    assert abs(reporting.sum() - expected) <= 8 * deviation + 30
    if rate == 1:
        assert reporting.tolist() == counts


def test_tallies_of_those_who_report_have_their_exact_law() -> None:
    mechanism, counts, chances = KaryRandomisedResponse(1.0, 3), [2, 0, 1], [0.4, 1.0, 0.7]
    channel = mechanism.channel()
    users = []
    for value in np.repeat(range(3), counts):
        law = {
            tuple(np.eye(3, dtype=int)[y].tolist()): chances[value] * channel[y, value]
            for y in range(3)
        }
        users.append(law | {(0, 0, 0): 1 - chances[value]})
    rng = stream("sampled tallies", seed=1)
    draws = (
        tuple(reporters.sampled_tallies(counts, chances, mechanism, rng=rng).tolist())
        for _ in range(DRAWS)
    )
    assert fits(draws, sum_law(*users))


def test_simple_random_tallies_are_multivariate_hypergeometric() -> None:
    counts, rng = [3, 2, 2], stream("hypergeometric", seed=1)
    law = {
        cell: float(stats.multivariate_hypergeom.pmf(cell, counts, 4))
        for cell in product(range(4), range(3), range(3))
        if sum(cell) == 4
    }
    assert fits(
        (tuple(samples.simple_random_tallies(counts, 4, rng=rng).tolist()) for _ in range(DRAWS)),
        law,
    )


def test_poisson_samples_have_the_law_of_their_design() -> None:
    rng, chances = stream("positions", seed=1), [0.2, 0.5, 0.9]
    drawn = (tuple(samples.poisson_positions(chances, rng=rng).tolist()) for _ in range(DRAWS))
    assert fits(drawn, laws.poisson(range(3), chances))


@pytest.mark.parametrize("weights", [[1, 2, 3, 4], [5, 1, 1, 1]])
def test_systematic_samples_include_every_record_at_its_rate(weights: list[int]) -> None:
    chances, rng = samples.pps_rates(weights, 2.0), stream("systematic", *weights, seed=1)
    seen = np.zeros(len(weights), dtype=int)
    for _ in range(DRAWS):
        positions = samples.systematic_positions(chances, rng=rng)
        assert abs(len(positions) - chances.sum()) < 1
        seen[positions] += 1
    for count, chance in zip(seen.tolist(), chances.tolist(), strict=True):
        assert stats.binomtest(count, DRAWS, chance).pvalue > 1e-9


@examples(15)
@given(
    stratum_sizes,
    st.lists(st.just(0.0) | logarithmic(1e-6, 1e6), min_size=6, max_size=6),
    st.floats(0.001, 1),
)
def test_capped_neyman_shares_meet_their_optimality_conditions(
    population: list[int], spread: list, share: float
) -> None:
    variances = np.array(spread[: len(population)])
    assume(variances.any())
    total = share * sum(n for n, v in zip(population, variances, strict=True) if v > 0)
    shares = strata.Strata(population).capped(strata.Strata(population, variances).neyman(total))
    assert shares.sum() == pytest.approx(total, rel=1e-9)
    assert (shares <= np.array(population) * (1 + 1e-9)).all()
    if max(population) <= 1000:
        assert (strata.largest_remainder(shares) <= population).all()
    weights = np.array(population) * np.sqrt(variances)
    full = (shares == population) & (weights > 0)
    free = ~full & (weights > 0)
    if free.any():
        # one price per record for all strata that are not taken completely, and none lower for the
        # others
        price = (shares / np.where(weights > 0, weights, 1))[free]
        assert np.ptp(price) <= 1e-7 * price.max()
        assert (np.array(population)[full] / weights[full] <= price.max() * (1 + 1e-7)).all()


@examples(15)
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=8))
def test_rounding_keeps_sums_or_is_to_the_nearest(shares: list[float]) -> None:
    whole = strata.largest_remainder(shares)
    assert whole.sum() == round(sum(shares)) or abs(whole.sum() - sum(shares)) <= 0.5 + 1e-6
    assert (np.abs(whole - shares) < 1 + 1e-6).all()
    assert (np.abs(strata.rounded_shares(shares) - shares) <= 0.5 + 1e-9).all()


def test_variance_is_infinite_only_where_an_unsampled_stratum_varies() -> None:
    assert strata.Strata([5, 5], [0.0, 4.0]).variance([0, 5]) == 0
    assert strata.Strata([5, 5], [1.0, 4.0]).variance([0, 5]) == np.inf


def test_tallies_and_lists_give_the_same_strata() -> None:
    listed = strata.strata_of([[1, 1, 4], [7, 9, 9, 9]])
    tallied = strata.strata_of_tallies([1, 4, 7, 9], [0, 0, 1, 1], [2, 1, 1, 3])
    for name in ("sizes", "means", "variances"):
        assert getattr(listed, name) == pytest.approx(getattr(tallied, name))
    assert listed.mean == pytest.approx(40 / 7)
