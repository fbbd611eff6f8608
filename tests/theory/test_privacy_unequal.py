import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.designs import laws
from ldpnb.privacy import optimiser, unequal

CHANCES = st.lists(st.floats(0.01, 0.99), min_size=3, max_size=3)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(CHANCES, CHANCES, st.sampled_from([1e-4, 0.3, 2.0]))
def test_poisson_loss_is_the_linear_program(first: list[float], second: list[float], epsilon: float) -> None:
    pair = laws.poisson([0, 1, 2], first), laws.poisson([9, 1, 2], second)
    closed = unequal.poisson_loss([*first, 0], [0, *second[1:], second[0]], epsilon)
    assert closed == pytest.approx(optimiser.largest_loss(*pair, epsilon=epsilon).loss, rel=1e-8)


@pytest.mark.parametrize("sizes", [(3, 1, 2), (1, 4), (2, 2, 2), (1, 1)])
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 2.0])
def test_cluster_in_proportion_to_size_is_the_linear_program(sizes: tuple[int, ...], epsilon: float) -> None:
    whole = [[(i, r) for r in range(n)] for i, n in enumerate(sizes)]
    less = [cluster for cluster in (whole[0][1:], *whole[1:]) if cluster]
    pair = laws.one_draw(whole, sizes), laws.one_draw(less, [len(c) for c in less])
    found = optimiser.largest_loss(*pair, epsilon=epsilon).loss
    assert unequal.pps_cluster_loss(sizes, epsilon) == pytest.approx(found, rel=1e-9)


def test_cluster_in_proportion_to_size_loses_more_than_epsilon() -> None:
    assert unequal.pps_cluster_loss([10, 10, 10], 0.5) > 0.5
    assert unequal.pps_cluster_loss([10_000] * 3, 50.0) == pytest.approx(50.0, rel=1e-4)


def test_one_growing_record_costs_every_other_one() -> None:
    losses = [unequal.poisson_loss([*[0.5] * n, 0], [0, *[0.5 / n] * (n - 1), 1.0], 0.5) for n in (4, 40, 400)]
    assert 8 < losses[1] / losses[0] < losses[2] / losses[1] < 10


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.lists(st.floats(0.05, 1), min_size=3, max_size=4), st.floats(0.05, 3), st.sampled_from([0.1, 1.0]))
def test_one_draw_is_the_linear_program(weights: list[float], new: float, epsilon: float) -> None:
    units = [[i] for i in range(len(weights))]
    pair = laws.one_draw(units, weights), laws.one_draw([[9], *units[1:]], [new, *weights[1:]])
    rates = weights[0] / sum(weights), new / (new + sum(weights[1:]))
    found = optimiser.largest_loss(*pair, epsilon=epsilon).loss
    assert unequal.one_draw_loss(*rates, epsilon) == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize(("size", "step"), [(2, 3), (4, 2), (4, 3), (6, 2)])
def test_shifted_ranks_cost_the_sample_size_times_epsilon(size: int, step: int) -> None:
    records = size * step
    found = max(
        unequal.systematic_loss(range(records), 0, place + 0.5, step=step, epsilon=0.3) for place in range(records)
    )
    assert found == pytest.approx(unequal.systematic_rank_shift_loss(size, 0.3), rel=1e-9)
    assert found == pytest.approx(size * 0.3)


def test_odd_sizes_cost_more_than_the_even_number_below() -> None:
    found = max(unequal.systematic_loss(range(6), 0, place + 0.5, step=2, epsilon=0.5) for place in range(6))
    assert found / 0.5 == pytest.approx(3.2402290, rel=1e-6)
    assert found > unequal.systematic_rank_shift_loss(3, 0.5) == 1.0
