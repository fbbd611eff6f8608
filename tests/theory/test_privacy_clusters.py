import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.papers.bun2022.routes import enumerated_cluster_loss
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
@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 1.0])
@pytest.mark.parametrize(("sizes", "chosen", "changed"), [((3, 1, 2), 1, 0), ((1, 3, 2), 2, 1), ((2, 2, 1, 3), 3, 3)])
def test_closed_form_is_the_linear_program(sizes, chosen, changed, epsilon, neighbours) -> None:
    exact = clusters.cluster_loss(sizes, chosen, epsilon=epsilon, neighbours=neighbours, changed=changed)
    assert exact == pytest.approx(enumerated_cluster_loss(sizes, chosen, epsilon, neighbours, changed), rel=1e-9)


@settings(max_examples=50, derandomize=True, deadline=None)
@given(
    st.lists(st.integers(1, 30), min_size=2, max_size=12),
    st.floats(0, 1),
    st.sampled_from([1e-6, 0.05, 0.5, 3.0, 50.0]),
)
def test_optimum_lies_between_the_bounds(sizes: list[int], share: float, epsilon: float) -> None:
    chosen = 1 + round(share * (len(sizes) - 1))
    lower, upper = (
        f(sizes, chosen, epsilon=epsilon)
        for f in (clusters.cluster_loss_lower_bound, clusters.cluster_loss_upper_bound)
    )
    exact = clusters.cluster_loss(sizes, chosen, epsilon=epsilon)
    both = clusters.cluster_loss(sizes, chosen, epsilon=epsilon, neighbours="replacement")
    assert lower * (1 - 1e-12) <= exact <= upper * (1 + 1e-12) <= epsilon * (1 + 2e-12)
    assert exact <= both * (1 + 1e-12) <= 2 * exact * (1 + 1e-9)


def test_off_by_one_reading_is_not_a_lower_bound() -> None:
    exact = clusters.cluster_loss([1] * 4, 1, epsilon=1.0)
    misread = clusters.cluster_loss_at(1, epsilon=1.0, changed_size=2, sampling_rate=0.25)
    assert misread > exact
    assert clusters.cluster_loss_lower_bound([1] * 4, 1, epsilon=1.0) == pytest.approx(exact, rel=1e-12)


def test_big_clusters_keep_the_whole_budget() -> None:
    for neighbours, loss in (("deletion", 0.1), ("replacement", 0.2)):
        assert clusters.cluster_loss([1000] * 50, 5, epsilon=0.1, neighbours=neighbours) == pytest.approx(loss)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1.0, 50.0])
def test_clusters_of_one_record_are_simple_random_sampling(epsilon: float) -> None:
    exact = clusters.cluster_loss([1] * 1000, 100, epsilon=epsilon, neighbours="replacement")
    assert exact == pytest.approx(subsampling.srs_loss(2 * epsilon, 0.1), rel=1e-12)


def test_all_clusters_drawn_amplify_nothing() -> None:
    assert clusters.cluster_loss([3, 1, 2], 3, epsilon=0.4) == 0.4


def test_exact_optimum_is_stable_where_epsilon_times_size_is_ten_thousand() -> None:
    sizes = [10_000, 10_003, 9_990, 10_001, 9_999]
    for changed in range(5):
        logs = -1.0 * (np.delete(sizes, changed) + sizes[changed])
        expected = log_polynomials(logs, 2)
        rho = expected[1] - expected[2]
        loss = clusters.cluster_loss(sizes, 2, epsilon=1.0, changed=changed)
        assert loss == pytest.approx(np.logaddexp(0, rho) - np.logaddexp(0, rho - 1), rel=1e-12)
    spread = clusters.cluster_loss([1, *range(1, 200, 3)], 60, epsilon=50.0)
    assert 0 < spread <= 50


def test_a_hundred_thousand_unequal_clusters_take_less_than_a_second() -> None:
    sizes = 1 + np.arange(100_000) * 7919 % 2000
    start = time.perf_counter()
    loss = clusters.cluster_loss(sizes, 10_000, epsilon=0.002, changed=5)
    assert time.perf_counter() - start < 1
    assert clusters.cluster_loss_lower_bound(sizes, 10_000, epsilon=0.002, changed=5) < loss < 0.002


def test_optimal_mechanism_turns_theorem_5_3_into_the_optimum() -> None:
    sizes = [4, 2, 5, 3]
    confusion = clusters.identifying_confusion(sizes, 2, epsilon=0.3)
    bound = clusters.identified_cluster_loss_lower_bound(0.3, confusion=confusion, sampling_rate=0.5)
    assert bound == pytest.approx(clusters.cluster_loss(sizes, 2, epsilon=0.3), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_critical_size_loses_its_share(epsilon: float) -> None:
    size = clusters.critical_cluster_size(0.9, epsilon=epsilon, sampling_rate=0.1)
    weight = 1 / (1 + 9 * np.exp(-epsilon * (2 * size - 1)))
    assert np.log1p(np.expm1(epsilon) * weight) == pytest.approx(0.9 * epsilon, rel=1e-9)


@pytest.mark.parametrize(
    ("sizes", "chosen", "message"),
    [
        ([2, 0, 3], 1, r"sizes must be integers >= 1, got sizes\[1\]=0"),
        ([2, 1.5], 1, r"sizes must be whole numbers >= 0, got sizes\[1\]=1.5"),
        ([2, 3], 3, "chosen must be at most the number of clusters, 2, got chosen=3"),
        ([2, 3], 0, "chosen must be an integer >= 1, got chosen=0"),
    ],
)
def test_bad_clusters_are_refused(sizes, chosen, message) -> None:
    with pytest.raises(ValueError, match=message):
        clusters.cluster_loss(sizes, chosen, epsilon=1.0)


def test_bad_index_and_relation_are_refused() -> None:
    with pytest.raises(ValueError, match="changed must be an index below 2, got changed=2"):
        clusters.cluster_loss([1, 1], 1, epsilon=1.0, changed=2)
    with pytest.raises(ValueError, match="neighbours must be one of deletion, replacement"):
        clusters.cluster_loss([1, 1], 1, epsilon=1.0, neighbours="swap")
