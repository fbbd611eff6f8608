"""Every bound is on its side of the exact loss."""

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
any_sizes = st.lists(
    st.sampled_from([1, 10**6, 10**9]) | logarithmic(1, 1e4).map(int), min_size=1, max_size=8
)


@examples(12)
@given(any_sizes, st.integers(0, 7), epsilons)
def test_clusters_of_a_billion_records_keep_bounds_and_optimum_in_order(
    sizes: list[int], chosen: int, epsilon: float
) -> None:
    design = ClusterSample(sizes, 1 + chosen % len(sizes))
    lower, upper = design.lower_bound(epsilon), design.upper_bound(epsilon)
    exact, both = (design.loss(epsilon, neighbours=n) for n in ("deletion", "replacement"))
    assert 0 <= lower <= exact * SLACK + 1e-300
    assert exact <= upper * SLACK <= epsilon * SLACK**2
    assert exact <= both * SLACK <= 2 * exact * (1 + 1e-9) + 1e-300
    first, *_, last = (*sizes, sizes[-1])
    at = clusters.cluster_loss_at(
        last, epsilon=epsilon, changed_size=first, sampling_rate=design.sampling_rate
    )
    assert lower <= at * SLACK <= upper * SLACK**2


def exact_shuffled_delta(epsilon: float, channel: np.ndarray, others: tuple[int, ...]) -> float:
    """The hockey stick between the tallies of two data sets that differ in one user's value,
    cell by cell.
    """

    def law(values: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        table: dict[tuple[int, ...], float] = {}
        for reports in product(range(len(channel)), repeat=len(values)):
            cell = tuple(sorted(reports))
            table[cell] = table.get(cell, 0.0) + float(
                np.prod(channel[list(reports), list(values)])
            )
        return table

    here, there = law((0, *others)), law((1, *others))
    return sum(max(here[cell] - np.exp(epsilon) * there[cell], 0.0) for cell in here)


@examples(10)
@given(moderate, st.floats(0, 1), st.sampled_from([2, 3]), st.floats(0.05, 1.0))
def test_shuffling_is_bracketed_around_every_data_set(
    local: float, part: float, number: int, rate: float
) -> None:
    mechanism, epsilon = KaryRandomisedResponse(local, 3), part * local
    reports = ShuffledReports(number, rate, mechanism)
    upper, lower = reports.delta_upper(epsilon), reports.delta_lower(epsilon)
    channel = np.vstack([rate * mechanism.channel(), np.full(3, 1 - rate)])
    exact = [
        exact_shuffled_delta(epsilon, channel, others)
        for others in product(range(3), repeat=number - 1)
    ]
    assert exact[-1] * (1 - 1e-9) - 1e-14 <= lower <= exact[-1] + 1e-14
    assert max(exact) <= upper + 1e-14
