"""Bounds on the loss of sampled clusters and shuffled reports are on their side of the exact loss.

The exact delta of shuffled reports is computed a second time from all reports that users can send.
"""

from collections import defaultdict
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.bun2022.formulas import clusters
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.privacy.shuffling import ShuffledReports
from properties.strategies import epsilons, examples, logarithmic, moderate

SLACK = 1 + 1e-12

cluster_sizes = st.lists(
    st.sampled_from([1, 10**6, 10**9]) | logarithmic(1, 1e4).map(int), min_size=1, max_size=8
)


@examples(12)
@given(cluster_sizes, st.integers(0, 7), epsilons)
def test_clusters_of_a_billion_records_keep_bounds_and_optimum_in_order(
    sizes: list[int], chosen: int, epsilon: float
) -> None:
    design = ClusterSample(sizes, 1 + chosen % len(sizes))

    lower = design.lower_bound(epsilon)
    upper = design.upper_bound(epsilon)
    deletion = design.loss(epsilon, neighbours="deletion")
    replacement = design.loss(epsilon, neighbours="replacement")
    assert 0 <= lower <= deletion * SLACK + 1e-300
    assert deletion <= upper * SLACK <= epsilon * SLACK**2
    assert deletion <= replacement * SLACK <= 2 * deletion * (1 + 1e-9) + 1e-300

    last = clusters.cluster_loss_at(
        sizes[-1], epsilon=epsilon, changed_size=sizes[0], sampling_rate=design.sampling_rate
    )
    assert lower <= last * SLACK <= upper * SLACK**2


def law_of_tallies(channel: np.ndarray, values: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The chance of each multiset of reports, when the users have these values."""
    law: dict[tuple[int, ...], float] = defaultdict(float)
    for reports in product(range(len(channel)), repeat=len(values)):
        law[tuple(sorted(reports))] += float(np.prod(channel[list(reports), list(values)]))
    return law


def exact_shuffled_delta(epsilon: float, channel: np.ndarray, others: tuple[int, ...]) -> float:
    """The hockey-stick divergence between two data sets that differ in one user's value."""
    here = law_of_tallies(channel, (0, *others))
    there = law_of_tallies(channel, (1, *others))
    return sum(max(chance - np.exp(epsilon) * there[cell], 0.0) for cell, chance in here.items())


@examples(10)
@given(moderate, st.floats(0, 1), st.sampled_from([2, 3]), st.floats(0.05, 1.0))
def test_shuffling_is_bracketed_around_every_data_set(
    local: float, part: float, number: int, rate: float
) -> None:
    mechanism = KaryRandomisedResponse(local, 3)
    epsilon = part * local
    reports = ShuffledReports(number, rate, mechanism)

    silence = np.full(3, 1 - rate)
    channel = np.vstack([rate * mechanism.channel(), silence])
    data_sets = product(range(3), repeat=number - 1)
    exact = [exact_shuffled_delta(epsilon, channel, others) for others in data_sets]

    # in the last data set all other users have a value that the changed user never has
    lower = reports.delta_lower(epsilon)
    assert exact[-1] * (1 - 1e-9) - 1e-14 <= lower <= exact[-1] + 1e-14
    assert max(exact) <= reports.delta_upper(epsilon) + 1e-14
