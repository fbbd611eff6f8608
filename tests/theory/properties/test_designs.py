"""Samples have the law of their design; allocations are optimal and use what they are given."""

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
from properties.strategies import DRAWS, examples, fits, law_of_sum, logarithmic, rates, users

stratum_sizes = st.lists(
    st.sampled_from([1, 10**12]) | st.integers(1, 1000), min_size=1, max_size=6
)
stratum_variances = st.lists(st.just(0.0) | logarithmic(1e-6, 1e6), min_size=6, max_size=6)


@examples(10)
@given(st.integers(1, 300), logarithmic(1e-3, 1e3), st.floats(-100, 400))
def test_laws_of_sizes_are_laws_with_the_right_mode(
    population: int, deviation: float, mean: float
) -> None:
    gauss = sizes.truncated_gaussian_size(population, mean, deviation)

    assert gauss.population == population
    assert gauss.probabilities.sum() == pytest.approx(1, rel=1e-9)
    nearest = min(max(mean, 0), population)
    assert np.argmax(gauss.log_probabilities) == pytest.approx(nearest, abs=0.5 + 1e-9)


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
    mechanism = KaryRandomisedResponse(1.0, 3)
    counts = [2, 0, 1]
    chances = [0.4, 1.0, 0.7]

    channel = mechanism.channel()
    reports = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    silence = (0, 0, 0)
    laws_of_users = []
    for value in np.repeat(range(3), counts):
        law = {silence: 1 - chances[value]}
        for output, report in enumerate(reports):
            law[report] = chances[value] * channel[output, value]
        laws_of_users.append(law)

    rng = stream("sampled tallies", seed=1)
    draws = []
    for _ in range(DRAWS):
        tallies = reporters.sampled_tallies(counts, chances, mechanism, rng=rng)
        draws.append(tuple(tallies.tolist()))
    assert fits(draws, law_of_sum(laws_of_users))


def test_simple_random_tallies_are_multivariate_hypergeometric() -> None:
    counts = [3, 2, 2]
    cells = product(range(4), range(3), range(3))
    law = {
        cell: float(stats.multivariate_hypergeom.pmf(cell, counts, 4))
        for cell in cells
        if sum(cell) == 4
    }

    rng = stream("hypergeometric", seed=1)
    draws = [samples.simple_random_tallies(counts, 4, rng=rng) for _ in range(DRAWS)]
    assert fits([tuple(tallies.tolist()) for tallies in draws], law)


def test_poisson_samples_have_the_law_of_their_design() -> None:
    chances = [0.2, 0.5, 0.9]
    rng = stream("positions", seed=1)
    draws = [samples.poisson_positions(chances, rng=rng) for _ in range(DRAWS)]
    law = laws.poisson(range(3), chances)
    assert fits([tuple(positions.tolist()) for positions in draws], law)


def test_a_size_that_is_never_drawn_may_exceed_the_records() -> None:
    law = laws.subsets_of_random_size([7], [0.25, 0.75, 0.0])
    assert law == {(): 0.25, (7,): 0.75}


@pytest.mark.parametrize("weights", [[1, 2, 3, 4], [5, 1, 1, 1]])
def test_systematic_samples_include_every_record_at_its_rate(weights: list[int]) -> None:
    chances = samples.pps_rates(weights, 2.0)
    rng = stream("systematic", *weights, seed=1)

    times_drawn = np.zeros(len(weights), dtype=int)
    for _ in range(DRAWS):
        positions = samples.systematic_positions(chances, rng=rng)
        assert abs(len(positions) - chances.sum()) < 1
        times_drawn[positions] += 1

    for times, chance in zip(times_drawn.tolist(), chances.tolist(), strict=True):
        assert stats.binomtest(times, DRAWS, chance).pvalue > 1e-9


@examples(15)
@given(stratum_sizes, stratum_variances, st.floats(0.001, 1))
def test_capped_neyman_shares_meet_their_optimality_conditions(
    population: list[int], spread: list[float], share: float
) -> None:
    people = np.array(population)
    variances = np.array(spread[: len(population)])
    assume(variances.any())
    varying = variances > 0
    total = share * sum(people[varying].tolist())

    neyman = strata.Strata(population, variances).neyman(total)
    shares = strata.Strata(population).capped(neyman)
    assert shares.sum() == pytest.approx(total, rel=1e-9)
    assert (shares <= people * (1 + 1e-9)).all()
    if max(population) <= 1000:
        assert (strata.largest_remainder(shares) <= people).all()

    # one price per record for all strata that are not taken completely, and none lower for the
    # others
    weights = people * np.sqrt(variances)
    full = (shares == people) & varying
    free = ~full & varying
    if free.any():
        price = shares[free] / weights[free]
        assert np.ptp(price) <= 1e-7 * price.max()
        assert (people[full] / weights[full] <= price.max() * (1 + 1e-7)).all()


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

    assert listed.sizes == pytest.approx(tallied.sizes)
    assert listed.means == pytest.approx(tallied.means)
    assert listed.variances == pytest.approx(tallied.variances)
    assert listed.mean == pytest.approx(40 / 7)
