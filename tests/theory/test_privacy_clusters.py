"""Whole clusters: the ratio of symmetric polynomials, and the exact loss it gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.papers.bun2022.section_5 import largest
from ldpnb.privacy import clusters, subsampling


def log_polynomials(log_weights: np.ndarray, order: int) -> np.ndarray:
    """ln e_0 .. ln e_order by the recursion over weights."""
    logs = np.full(order + 1, -np.inf)
    logs[0] = 0
    for weight in log_weights:
        logs[1:] = np.logaddexp(logs[1:], logs[:-1] + weight)
    return logs


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    st.lists(st.integers(-40, 40), min_size=1, max_size=30),
    st.sampled_from([0.01, 1.0, 30.0, 250.0]),
    st.floats(0, 1),
)
def test_ratio_of_symmetric_polynomials_is_the_recursions(steps: list[int], scale: float, where: float) -> None:
    logs = np.array(steps) * scale
    order = 1 + round(where * (len(steps) - 1))
    expected = log_polynomials(logs, order)
    assert clusters.log_symmetric_ratio(logs, order) == pytest.approx(expected[-2] - expected[-1], rel=1e-11, abs=1e-11)


def test_ratio_of_equal_weights_is_a_ratio_of_binomials() -> None:
    found = clusters.log_symmetric_ratio(np.zeros(99_999), 10_000)
    assert found == pytest.approx(np.log(10_000 / 90_000), rel=1e-12)


@pytest.mark.parametrize("neighbours", ["deletion", "replacement"])
@pytest.mark.parametrize("epsilon", [1e-4, 1.0])
@pytest.mark.parametrize(("sizes", "chosen", "changed"), [((1, 3, 2), 2, 1), ((2, 2, 1, 3), 3, 3)])
def test_the_loss_in_any_cluster_is_the_linear_program(sizes, chosen, changed, epsilon, neighbours) -> None:
    exact = clusters.ClusterSample(sizes, chosen, changed).loss(epsilon, neighbours=neighbours)
    reordered = (sizes[changed], *sizes[:changed], *sizes[changed + 1 :])
    assert exact == pytest.approx(largest(reordered, chosen, epsilon, neighbours), rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 50.0])
def test_clusters_of_one_record_are_simple_random_sampling(epsilon: float) -> None:
    exact = clusters.ClusterSample([1] * 1000, 100).loss(epsilon, neighbours="replacement")
    assert exact == pytest.approx(subsampling.srs_loss(2 * epsilon, 0.1), rel=1e-12)


def test_all_clusters_drawn_amplify_nothing() -> None:
    assert clusters.ClusterSample([3, 1, 2], 3).loss(0.4) == 0.4


def test_exact_optimum_is_stable_where_epsilon_times_size_is_ten_thousand() -> None:
    sizes = [10_000, 10_003, 9_990, 10_001, 9_999]
    for changed in range(5):
        logs = -1.0 * (np.delete(sizes, changed) + sizes[changed])
        expected = log_polynomials(logs, 2)
        rho = expected[1] - expected[2]
        loss = clusters.ClusterSample(sizes, 2, changed).loss(1.0)
        assert loss == pytest.approx(np.logaddexp(0, rho) - np.logaddexp(0, rho - 1), rel=1e-12)


def test_a_hundred_thousand_unequal_clusters_keep_bounds_and_optimum_in_order() -> None:
    design = clusters.ClusterSample(1 + np.arange(100_000) * 7919 % 2000, 10_000, 5)
    assert design.lower_bound(0.002) < design.loss(0.002) < 0.002


@pytest.mark.parametrize("bound", ["loss", "upper_bound", "lower_bound"])
def test_the_first_cluster_is_the_changed_one_unless_told(bound: str) -> None:
    designs = [clusters.ClusterSample([1, 5, 9], 2, *changed) for changed in ((), (0,), (2,))]
    unless_told, first, last = (getattr(design, bound)(0.1) for design in designs)
    assert unless_told == first != last
