"""Channels and the best of them, whole clusters, and digits of losses at all budgets.

The second ways: a recursion for symmetric polynomials, a linear program for the loss in a cluster,
and balls of many bits for losses.
"""

from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.papers.bun2022.formulas import clusters, rounding, unequal
from ldpnb.papers.bun2022.section_5 import largest
from ldpnb.papers.lopuhaa2020.formulas import best_channel
from ldpnb.privacy import channel, subsampling


def test_columns_may_miss_one_by_what_32_bit_floats_do() -> None:
    channel.as_channel([[0.5, 0.5], [0.5, 0.5 + 5e-7]])
    channel.as_channel(np.array([[1 / 3, 0.1], [2 / 3, 0.9]], dtype=np.float32))
    with pytest.raises(ValueError, match="sum to 1"):
        channel.as_channel([[0.5, 0.5], [0.5, 0.5 + 5e-6]])


def test_columns_of_a_best_channel_may_miss_one_by_a_billionth() -> None:
    best_channel.best_channel([[0.5, 0.5], [0.5, 0.5 + 5e-10]], 1.0)
    with pytest.raises(ValueError, match="sum to 1"):
        best_channel.best_channel([[0.5, 0.5], [0.5, 0.5 + 5e-9]], 1.0)


def test_a_channel_without_its_certificate_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_channel, "ITERATIONS", 3)
    message = r"the best channel is known to .* only, tolerance=1e-09"
    with pytest.raises(RuntimeError, match=message):
        best_channel.best_channel([0.6, 0.4], 1.0)


def log_polynomials(log_weights: np.ndarray, order: int) -> np.ndarray:
    """Return ``ln e_0, ..., ln e_order`` by the recursion over weights."""
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
def test_ratio_of_symmetric_polynomials_is_the_recursions(
    steps: list[int], scale: float, where: float
) -> None:
    log_weights = np.array(steps) * scale
    order = 1 + round(where * (len(steps) - 1))

    *_, below, last = log_polynomials(log_weights, order)
    actual = clusters.log_symmetric_ratio(log_weights, order)
    assert actual == pytest.approx(below - last, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("neighbours", ["deletion", "replacement"])
@pytest.mark.parametrize("epsilon", [1e-4, 1.0])
@pytest.mark.parametrize(("sizes", "chosen", "changed"), [((1, 3, 2), 2, 1), ((2, 2, 1, 3), 3, 3)])
def test_the_loss_in_any_cluster_is_the_linear_program(
    sizes: tuple[int, ...], chosen: int, changed: int, epsilon: float, neighbours: str
) -> None:
    exact = clusters.ClusterSample(sizes, chosen, changed).loss(epsilon, neighbours=neighbours)
    changed_first = (sizes[changed], *sizes[:changed], *sizes[changed + 1 :])
    by_program = largest(changed_first, chosen, epsilon, neighbours)
    assert exact == pytest.approx(by_program, rel=1e-9)


BUDGETS = (1e-9, 1e-4, 0.3, 1.0, 20.0, 149.9, 150.1, 299.0, 301.0, 349.9, 350.1, 640.0, 700.0)


def nearly(exact: flint.arb) -> Any:
    """Return the value of a ball, which must be sharp, to compare with."""
    assert exact.rel_accuracy_bits() > 50
    return pytest.approx(float(exact.mid()), rel=1e-10, abs=0)


def test_the_loss_at_given_odds_keeps_its_digits() -> None:
    for odds in (-28.0, -5.0, 0.0, 5.0, 40.0):
        for epsilon in (*BUDGETS, 1400.0):
            with flint.ctx.workprec(3000):
                exact = (flint.arb(epsilon).expm1() / (1 + (-flint.arb(odds)).exp())).log1p()
            assert subsampling.weighted_loss(epsilon, odds) == nearly(exact)


CLUSTERS = [[10**6, 10**6], [1, 1], [1, 10**6], [10**6, 1, 1], [5, 1, 30, 2], [7], [2, 100, 3]]


@pytest.mark.parametrize("sizes", CLUSTERS)
def test_a_cluster_drawn_by_its_size_keeps_the_digits_of_its_loss(sizes: list[int]) -> None:
    own, *others = sizes
    for epsilon in BUDGETS:
        with flint.ctx.workprec(400):
            budget = flint.arb(epsilon)
            rest = flint.arb(0)
            for size in others:
                rest += size * (-budget * (own + size)).exp()
            ratio = (own + rest) / ((own - 1) * (-budget).exp() + rest)
            exact = (ratio * (sum(sizes) - 1) / sum(sizes)).log()

        if exact.mid() != 0:
            assert unequal.pps_cluster_loss(sizes, epsilon) == nearly(exact), epsilon


def random_rounding_losses(population: int, rate: float, epsilon: float) -> list[flint.arb]:
    """Return ``ln(N/D)`` or ``ln(D/N)`` of the four best events.

    The letters are those of the notes on `rounding.random_rounding_loss`.
    """
    n = flint.arb(population)
    r = flint.arb(rate)
    budget = flint.arb(epsilon)

    whole = (r * n).floor()
    p = r * n - whole
    mu = whole / (n + 1)
    nu = (whole + 1) / (n + 1)
    further = p + r - 1

    losses = []
    for log_y in (budget, -budget):
        for log_z in (budget, -budget):
            y = log_y.exp()
            z = log_z.exp()
            one_more = (1 - nu) * z + nu * y
            if further < 0:
                event = (1 - p - r) * (1 + mu * (y * y - 1)) + (p + r) * one_more
            else:
                event = (1 - further) * one_more + further * y * z
            loss = (event / (1 - p + p * z)).log()
            losses.append(loss if log_y > 0 else -loss)
    return losses


@pytest.mark.parametrize("population", [1, 7, 20, 101, 4096])
@pytest.mark.parametrize("rate", [2.0**-40, 2.0**-10, 3 / 32, 0.25, 0.5, 11 / 16, 1 - 2.0**-12])
def test_rounding_at_random_keeps_the_digits_of_its_loss(population: int, rate: float) -> None:
    for epsilon in (*BUDGETS, 1e3, 1e9):
        with flint.ctx.workprec(6000):
            exact = max(random_rounding_losses(population, rate, epsilon))
        assert rounding.random_rounding_loss(population, rate, epsilon) == nearly(exact), epsilon
