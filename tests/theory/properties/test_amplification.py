"""Every bound is on its side of the exact loss, every loss grows with the budget and the sampling rate, every inverse
inverts.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpnb.designs import sizes
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import clusters, random_size, rounding, subsampling
from ldpnb.privacy.clusters import ClusterSample
from ldpnb.privacy.shuffling import ShuffledReports
from properties.strategies import epsilons, examples, inner_rates, logarithmic, moderate, rates

SLACK = 1 + 1e-12


@st.composite
def cluster_samples(draw: st.DrawFn, size: st.SearchStrategy[int], least: int = 1, spare: int = 0) -> ClusterSample:
    """Up to eight clusters, of which at least so many are left out."""
    sizes = draw(st.lists(size, min_size=least, max_size=8))
    return ClusterSample(sizes, draw(st.integers(1, len(sizes) - spare)))


any_sizes = st.sampled_from([1, 10**6, 10**9]) | logarithmic(1, 1e4).map(int)


@examples(12)
@given(epsilons, rates)
def test_simple_random_sampling_lies_between_its_two_limits(epsilon: float, rate: float) -> None:
    loss = subsampling.srs_loss(epsilon, rate)
    assert max(rate * epsilon, epsilon + np.log(rate)) / SLACK - 1e-14 <= loss <= epsilon * SLACK
    assert subsampling.srs_budget(loss, rate) == pytest.approx(epsilon, rel=1e-9)


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
    chained = rounding.random_rounding_chain_bound(rate, epsilon)
    assert worst <= chained * SLACK
    if population >= 1 / rate:
        assert loss <= rounding.random_rounding_bound(rate, epsilon) * SLACK
    assert rounding.random_rounding_budget(worst, rate) == pytest.approx(epsilon, rel=1e-7)
    assert rounding.random_rounding_chain_budget(chained, rate) == pytest.approx(epsilon, rel=1e-7)


def exact_shuffled_delta(epsilon: float, channel: np.ndarray, others: tuple[int, ...]) -> float:
    """The hockey stick between the tallies of two data sets that differ in one user's value, cell by cell."""

    def law(values: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        table: dict[tuple[int, ...], float] = {}
        for reports in product(range(len(channel)), repeat=len(values)):
            cell = tuple(sorted(reports))
            table[cell] = table.get(cell, 0.0) + float(np.prod(channel[list(reports), list(values)]))
        return table

    here, there = law((0, *others)), law((1, *others))
    return sum(max(here[cell] - np.exp(epsilon) * there[cell], 0.0) for cell in here)


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
