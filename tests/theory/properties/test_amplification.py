"""Every bound is on its side of the exact loss, every loss grows with the budget and the sampling rate, every inverse
inverts.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ldpnb.designs import sizes
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import clusters, data_dependent, lemmas, participation, random_size, rounding, subsampling, unequal
from ldpnb.privacy.channel import privacy_loss
from ldpnb.privacy.clusters import ClusterSample
from ldpnb.privacy.hockey_stick import discrete_delta
from ldpnb.privacy.shuffling import ShuffledReports, gaussian_delta
from properties.strategies import epsilons, examples, inner_rates, logarithmic, moderate, rates

SLACK = 1 + 1e-12


@st.composite
def cluster_samples(draw: st.DrawFn, size: st.SearchStrategy[int], least: int = 1, spare: int = 0) -> ClusterSample:
    """Up to eight clusters, of which at least so many are left out."""
    held = draw(st.lists(size, min_size=least, max_size=8))
    return ClusterSample(held, draw(st.integers(1, len(held) - spare)))


any_sizes = st.sampled_from([1, 10**6, 10**9]) | logarithmic(1, 1e4).map(int)


@examples(12)
@given(epsilons, rates)
def test_simple_random_sampling_lies_between_its_two_limits(epsilon: float, rate: float) -> None:
    loss = subsampling.srs_loss(epsilon, rate)
    assert max(rate * epsilon, epsilon + np.log(rate)) / SLACK - 1e-14 <= loss <= epsilon * SLACK
    assert subsampling.srs_budget(loss, rate) == pytest.approx(epsilon, rel=1e-9)


@examples(10)
@given(epsilons, epsilons, rates, rates)
def test_simple_random_sampling_loses_more_with_budget_and_rate(e: float, f: float, r: float, s: float) -> None:
    low, high = (subsampling.srs_loss(g(e, f), g(r, s)) for g in (min, max))
    assert low <= high * SLACK
    assert subsampling.srs_budget(min(e, f), max(r, s)) <= subsampling.srs_budget(max(e, f), min(r, s)) * SLACK


@examples(10)
@given(st.integers(1, 10**12), epsilons, st.floats(0, 1))
def test_a_secret_sample_needs_less_noise(population: int, epsilon: float, share: float) -> None:
    records = max(1, int(share * population))
    open_, secret = (subsampling.proportion_noise_scale(epsilon, records, p) for p in (None, population))
    assert 0 < secret <= open_ * SLACK
    assert open_ == pytest.approx(1 / (records * epsilon), rel=1e-12)


@examples(12)
@given(cluster_samples(any_sizes), epsilons)
def test_clusters_of_a_billion_records_keep_bounds_and_optimum_in_order(design: ClusterSample, epsilon: float) -> None:
    lower, upper = design.lower_bound(epsilon), design.upper_bound(epsilon)
    exact, both = (design.loss(epsilon, neighbours=n) for n in ("deletion", "replacement"))
    assert 0 <= lower <= exact * SLACK + 1e-300
    assert exact <= upper * SLACK <= epsilon * SLACK**2
    assert exact <= both * SLACK <= 2 * exact * (1 + 1e-9) + 1e-300
    first, *_, last = (*design.sizes, design.sizes[-1])
    at = clusters.cluster_loss_at(last, epsilon=epsilon, changed_size=first, sampling_rate=design.sampling_rate)
    assert lower <= at * SLACK <= upper * SLACK**2


@examples(10)
@given(cluster_samples(any_sizes, least=2, spare=1), epsilons, epsilons)
def test_clusters_lose_more_with_budget_and_number_drawn(design: ClusterSample, one: float, other: float) -> None:
    low, high = sorted((one, other))
    more = ClusterSample(design.sizes, design.chosen + 1)
    losses = np.array([design.loss(low), design.loss(high), more.loss(high)])
    assert (losses[:-1] <= losses[1:] * (1 + 1e-9) + 1e-300).all()


@examples(10)
@given(st.integers(1, 1000), st.integers(2, 50), st.data(), epsilons)
def test_clusters_of_one_size_meet_both_bounds(size: int, number: int, data, epsilon: float) -> None:
    design = ClusterSample([size] * number, data.draw(st.integers(1, number)))
    assert design.loss(epsilon) == pytest.approx(design.lower_bound(epsilon), rel=1e-9, abs=1e-300)
    assert design.lower_bound(epsilon) == design.upper_bound(epsilon)


@examples(10)
@given(epsilons, logarithmic(1e-12, 1e12) | st.just(0.0), rates, epsilons)
def test_an_identified_cluster_keeps_at_most_what_is_known(
    known: float, confusion: float, rate: float, epsilon: float
) -> None:
    given_ = {"confusion": confusion, "sampling_rate": rate}
    loss = clusters.identified_cluster_loss_lower_bound(known, **given_)
    assert 0 <= loss <= known * SLACK
    blurred = clusters.identified_cluster_loss_lower_bound(known, confusion=2 * confusion, sampling_rate=rate)
    assert blurred <= loss * SLACK
    if known <= epsilon:
        weak = clusters.identified_cluster_loss_weak_bound(known, **given_, epsilon=epsilon)
        assert weak <= loss + 1e-12 * known


@examples(10)
@given(cluster_samples(st.integers(1, 30), least=2, spare=1), logarithmic(1e-6, 3.0))
def test_identifying_the_cluster_is_the_optimum(design: ClusterSample, epsilon: float) -> None:
    known = {"confusion": design.identifying_confusion(epsilon), "sampling_rate": design.sampling_rate}
    found = clusters.identified_cluster_loss_lower_bound(epsilon, **known)
    assert found == pytest.approx(design.loss(epsilon), rel=1e-9)


@examples(10)
@given(inner_rates, logarithmic(1e-4, 5.0), st.floats(0.01, 0.99))
def test_the_critical_size_is_where_the_share_is_lost(share: float, epsilon: float, rate: float) -> None:
    assume(0.001 < share < 0.999)
    size = clusters.critical_cluster_size(share, epsilon=epsilon, sampling_rate=rate)
    loss = subsampling.weighted_loss(epsilon, np.log(rate / (1 - rate)) + epsilon * (2 * size - 1))
    assert loss == pytest.approx(share * epsilon, rel=1e-7)


@examples(10)
@given(cluster_samples(st.integers(1, 20)), epsilons, rates)
def test_a_second_stage_loses_less(design: ClusterSample, epsilon: float, rate: float) -> None:
    assert 0 < design.two_stage_upper_bound(epsilon, rate) <= design.upper_bound(epsilon) * SLACK


@examples(10)
@given(st.integers(1, 40), st.floats(0, 1), logarithmic(1e-3, 1e3), epsilons, epsilons)
def test_random_sizes_keep_bounds_in_order_and_lose_more_with_budget(
    population: int, share: float, deviation: float, one: float, other: float
) -> None:
    law = sizes.truncated_gaussian_size(population, share * population, deviation)
    low, high = sorted((one, other))
    for epsilon in (low, high):
        bounds = [random_size.random_size_lower_bound(law, epsilon)]
        bounds += [random_size.random_size_lower_bound_pm1(law, epsilon), random_size.random_size_loss(law, epsilon)]
        bounds += [random_size.random_size_upper_bound(law, epsilon), 2 * epsilon * SLACK]
        assert (np.diff([0.0, *bounds]) >= -1e-11 * epsilon - 1e-300).all()
    assert random_size.random_size_loss(law, low) <= random_size.random_size_loss(law, high) * (1 + 1e-9) + 1e-300
    assert 0 <= random_size.tilted_rate(law, low) <= 1
    assert 0 <= random_size.effective_rate(law, low) <= 1


@examples(10)
@given(st.sampled_from([1, 10**12]) | st.integers(1, 10**4), inner_rates, epsilons)
def test_random_rounding_stays_below_its_supremum_and_its_bounds(population: int, rate: float, epsilon: float) -> None:
    loss = rounding.random_rounding_loss(population, rate, epsilon)
    worst = rounding.random_rounding_loss_supremum(rate, epsilon)
    assert 0 < loss <= worst * (1 + 1e-9)
    assert worst <= rounding.random_rounding_chain_bound(rate, epsilon) * SLACK
    if population >= 1 / rate:
        assert loss <= rounding.random_rounding_bound(rate, epsilon) * SLACK
    assert rounding.random_rounding_budget(worst, rate) == pytest.approx(epsilon, rel=1e-7)


@examples(12)
@given(epsilons, inner_rates)
def test_chain_budgets_invert_the_chain_bound_and_are_smaller(epsilon: float, rate: float) -> None:
    budget = rounding.random_rounding_chain_budget(epsilon, rate)
    assert rounding.random_rounding_chain_bound(rate, budget) == pytest.approx(epsilon, rel=1e-7)
    assert budget <= rounding.random_rounding_budget(epsilon, rate) * (1 + 1e-9)


def exact_shuffled_delta(epsilon: float, channel: np.ndarray, others: tuple[int, ...]) -> float:
    """The hockey stick between the tallies of two data sets that differ in one user's value, cell by cell."""

    def law(values: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        table: dict[tuple[int, ...], float] = {}
        for reports in product(range(len(channel)), repeat=len(values)):
            cell = tuple(sorted(reports))
            table[cell] = table.get(cell, 0.0) + float(np.prod(channel[list(reports), list(values)]))
        return table

    here, there = law((0, *others)), law((1, *others))
    return discrete_delta([here[c] for c in here], [there[c] for c in here], epsilon)


@examples(10)
@given(moderate, st.floats(0, 1), st.sampled_from([2, 3]), st.floats(0.05, 1.0))
def test_shuffling_is_bracketed_around_every_data_set(local: float, part: float, number: int, rate: float) -> None:
    mechanism, epsilon = KaryRandomisedResponse(local, 3), part * local
    reports = ShuffledReports(number, rate, mechanism)
    upper, lower = reports.delta_upper(epsilon), reports.delta_lower(epsilon)
    channel = np.vstack([rate * mechanism.channel(), np.full(3, 1 - rate)])
    exact = [exact_shuffled_delta(epsilon, channel, others) for others in product(range(3), repeat=number - 1)]
    assert exact[-1] * (1 - 1e-9) - 1e-14 <= lower <= exact[-1] + 1e-14
    assert max(exact) <= upper + 1e-14


@examples(6)
@given(logarithmic(0.1, 6.0), st.integers(3, 100), st.floats(0.05, 1), st.floats(0.05, 1))
def test_shuffling_protects_more_with_less_sampling(local: float, size: int, one: float, other: float) -> None:
    mechanism = KaryRandomisedResponse(local, size)
    budgets = [ShuffledReports(2000, rate, mechanism).epsilon_upper(1e-6) for rate in sorted((one, other))]
    assert budgets[0] <= budgets[1] * (1 + 1e-4) + 1e-9


@examples(10)
@given(epsilons, logarithmic(1e-3, 1e3))
def test_the_gaussian_delta_falls_with_budget_and_noise(epsilon: float, deviation: float) -> None:
    delta = gaussian_delta(epsilon, deviation=deviation)
    assert 0 <= delta <= 1
    assert gaussian_delta(1.1 * epsilon, deviation=deviation) <= delta * SLACK
    assert gaussian_delta(epsilon, deviation=1.1 * deviation) <= delta * (1 + 1e-9) + 1e-300


@examples(12)
@given(st.builds(unequal.Inclusion, rates, rates, inner_rates, inner_rates, st.floats(0, 1), st.floats(0, 1)))
def test_an_events_loss_is_at_least_the_three_terms(event: unequal.Inclusion) -> None:
    assert event.loss_lower_bound() <= event.event_loss() + 1e-9


@examples(10)
@given(st.lists(rates, min_size=1, max_size=5), epsilons)
def test_no_design_with_unequal_rates_beats_its_floor(chances: list[float], epsilon: float) -> None:
    floor = unequal.element_loss_floor(chances, epsilon)
    assert unequal.element_loss_weak_floor(chances, epsilon) <= floor * SLACK + 1e-15
    absent = [*chances[:-1], 0.0]
    removed = unequal.poisson_loss(chances, absent, epsilon)
    assert removed == pytest.approx(subsampling.srs_loss(epsilon, chances[-1]), rel=1e-6, abs=1e-15)
    assert removed <= unequal.one_draw_loss(max(chances), chances[-1], epsilon) * (1 + 1e-9)


@examples(10)
@given(st.lists(rates, min_size=3, max_size=3), st.lists(rates, min_size=3, max_size=3), epsilons)
def test_the_loss_of_changed_rates_is_symmetric_and_grows_with_budget(here: list, there: list, epsilon: float) -> None:
    loss = unequal.poisson_loss(here, there, epsilon)
    assert loss == unequal.poisson_loss(there, here, epsilon)
    assert 0 <= loss <= 3 * epsilon * SLACK
    assert loss <= unequal.poisson_loss(here, there, min(60.0, 2 * epsilon)) * SLACK or epsilon > 30


@examples(10)
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=6).filter(lambda s: sum(s) > 1), epsilons)
def test_drawing_a_cluster_by_size_loses_something(held: list[int], epsilon: float) -> None:
    total = sum(held)
    loss = unequal.pps_cluster_loss(held, epsilon)
    assert np.log1p(-1 / total) <= loss <= epsilon + np.log(held[0] / max(held[0] - 1, 0.5)) + 1e-9 or held[0] == 1


@examples(10)
@given(st.integers(1, 50), st.integers(1, 20), epsilons)
def test_systematic_samples_that_keep_the_ranks_lose_at_most_twice_the_budget(
    size: int, step: int, epsilon: float
) -> None:
    kept = unequal.systematic_rank_preserving_loss(size, step, epsilon)
    assert subsampling.srs_loss(2 * epsilon, 1 / step) <= kept * (1 + 1e-9)
    assert kept <= 2 * epsilon * SLACK


@examples(10)
@given(st.lists(st.floats(0.01, 0.99), min_size=2, max_size=5), epsilons)
def test_participation_by_value_has_the_loss_of_its_channel(chances: list[float], epsilon: float) -> None:
    mechanism = KaryRandomisedResponse(epsilon, len(chances))
    channel = participation.value_dependent_channel(chances, mechanism)
    closed = participation.participation_loss(epsilon, lowest_rate=min(chances), highest_rate=max(chances))
    assert channel.sum(axis=0) == pytest.approx(np.ones(len(chances)), rel=1e-12)
    assert closed == pytest.approx(privacy_loss(channel).epsilon, rel=1e-9, abs=1e-13)
    sent = participation.report_dependent_channel(chances, mechanism)
    assert privacy_loss(sent).epsilon <= epsilon * (1 + 1e-9) + 1e-13


@examples(10)
@given(st.floats(0, 1), epsilons, epsilons)
def test_mixtures_lose_no_more_than_their_worse_part(weight: float, one: float, other: float) -> None:
    common, worse = sorted((one, other))
    loss = lemmas.mixture_loss(weight, common=common, other=worse)
    assert common / SLACK <= loss <= worse * SLACK
    product_form = lemmas.mixture_loss_product_form(weight, common=common, other=worse)
    assert loss <= product_form * SLACK
    assert product_form <= (common + worse) * SLACK


@examples(10)
@given(st.integers(1, 60), epsilons)
def test_a_test_of_the_size_gains_at_most_what_coupling_allows(gap: int, epsilon: float) -> None:
    gain = data_dependent.size_test_advantage(gap, epsilon)
    assert 0 <= gain <= 1
    assert gain <= data_dependent.size_test_advantage(gap + 1, epsilon) * SLACK
    assert gain <= data_dependent.advantage_bound(lemmas.coupled_loss(gap, epsilon)) * SLACK
    assert data_dependent.advantage_bound(epsilon) <= data_dependent.weak_advantage_bound(epsilon)
    assert data_dependent.two_point_error(float(gap), epsilon) <= gap / 2
