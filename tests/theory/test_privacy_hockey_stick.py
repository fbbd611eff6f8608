"""Exact hockey-stick divergences: their integral, their worst values, both ends of the budget.

The divergence of two Laplace laws is computed a second time in balls: the intervals where one
density exceeds the other are found by hand, and the masses of both laws there are subtracted.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.privacy import hockey_stick
from ldpnb.rng import stream

Piece = tuple[float, float, float]
"""Weight, location and scale of a Laplace law."""


def mass(law: Piece, low: arb, high: arb) -> arb:
    """Return the mass of a weighted Laplace law in an interval."""
    weight, location, scale = law

    def beyond(x: arb) -> arb:
        tail = (-abs((x - location) / scale)).exp() / 2
        return tail if x >= location else 1 - tail

    return weight * (beyond(low) - beyond(high))


def log_density(law: Piece, x: arb) -> arb:
    """Return the logarithm of twice the density."""
    weight, location, scale = law
    return (arb(weight) / scale).log() - abs((x - location) / scale)


def better(first: Piece, second: Piece, epsilon: float) -> Iterator[tuple[arb, arb]]:
    """Yield where the first density exceeds ``e^epsilon`` times the second, in [-1e6, 1e6].

    Between the locations and beyond them, the logarithm of their ratio is a straight line.
    """

    def gain(x: arb) -> arb:
        return log_density(first, x) - log_density(second, x) - epsilon

    locations = sorted((first[1], second[1]))
    for low, high in pairwise(map(arb, (-1e6, *locations, 1e6))):
        start = gain(low)
        end = gain(high)
        zero = low
        if start * end < 0:
            zero = low + (high - low) * start / (start - end)

        if start > 0:
            yield low, zero if end < 0 else high
        elif end > 0:
            yield zero, high


def exact_delta(first: Piece, second: Piece, epsilon: float) -> float:
    with ctx.workprec(3000):
        growth = arb(epsilon).exp()
        delta = arb(0)
        for low, high in better(first, second, epsilon):
            delta += mass(first, low, high) - growth * mass(second, low, high)
        return float(delta.mid())


def power_of_ten(exponent: float) -> float:
    return float(10**exponent)


weights = st.floats(0.05, 1)
scales = st.floats(-1, 1).map(power_of_ten)
locations = st.floats(-4, 4) | st.floats(-6, 0).map(power_of_ten)
budgets = st.floats(0, 1) | st.floats(0, 30)
just_below = st.floats(-8, -1).map(power_of_ten)
just_above_one = st.floats(-6, -1).map(lambda exponent: 1 + power_of_ten(exponent))
ratios = st.just(1.0) | just_above_one | scales


@settings(derandomize=True, max_examples=60, deadline=None)
@given(weights, locations, scales, weights, ratios, budgets, st.none() | just_below)
@example(0.6, 0.0, 1.0, 0.5, 1.001, 0.0, None)
@example(1.0, 0.0, 1.0, 1.0, 1.000001, 0.0, None)
@example(1.0, 1.0, 1.0, 1.0, 1.001, 1.0, None)
@example(1.0, 0.001, 2.0, 1.0, 1.0, 1.0, 1e-8)
def test_delta_is_the_mass_by_which_one_law_exceeds_the_other(
    weight: float,
    location: float,
    scale: float,
    other_weight: float,
    ratio: float,
    epsilon: float,
    near: float | None,
) -> None:
    other_scale = ratio * scale
    first = (weight, location, scale)
    second = (other_weight, 0.0, other_scale)
    loss_at_first = float(np.log(weight * ratio / other_weight) + abs(location) / other_scale)
    if near is not None and ratio >= 1:
        epsilon = max(0.0, loss_at_first - near)

    # Laws that differ by less than the rounding of their parameters count as the same.
    assume(ratio == 1 or abs(ratio - 1) > 1e-12)
    assume(not 0 < loss_at_first - epsilon < 1e-12)

    delta = hockey_stick.law_delta([first], [second], epsilon)
    assert delta == pytest.approx(exact_delta(first, second, epsilon), rel=1e-12, abs=1e-290)


def test_densities_that_only_touch_add_nothing() -> None:
    # beyond epsilon = 2 the kept reports of the published mechanism meet e^epsilon times the moved
    # ones in one point
    for epsilon in np.linspace(2.1, 200, 400):
        kept, moved = LaplaceMeans.published(epsilon).law(0, 1.0)
        assert hockey_stick.law_delta([kept], [moved], epsilon) == 0
        assert hockey_stick.law_delta([moved], [kept], epsilon) > 0


@pytest.mark.parametrize("least", [1e-12, 699.5])
def test_budgets_near_the_ends_of_the_range_are_found(least: float) -> None:
    def with_a_jump(budget: float) -> float:
        return 0.5 * (budget < least)

    def falling(budget: float) -> float:
        return 0.1 * np.exp(1 - budget / least)

    for delta_at in (with_a_jump, falling):
        assert hockey_stick.epsilon_at_delta(delta_at, 0.1) == pytest.approx(least, rel=1e-11)
    assert hockey_stick.epsilon_at_delta(lambda budget: 0.5 * (budget < 700.5), 0.1) == np.inf


def test_no_delta_exceeds_one() -> None:
    laws = stream("apart", seed=1).dirichlet(np.ones(9), 40)
    nothing = np.zeros(9)
    for law in laws:
        disjoint = np.transpose([[*law, *nothing], [*nothing, *law]])
        assert 1 - 1e-15 < hockey_stick.channel_delta(disjoint, 0.0) <= 1

        here = [[chance, 0.0, 1e-9] for chance in law]
        there = [[chance, 1.0, 1e-9] for chance in law]
        assert 1 - 1e-14 < hockey_stick.law_delta(here, there, 0.0) <= 1


def test_many_inputs_of_few_outputs_are_compared() -> None:
    yes = np.linspace(0.1, 0.9, 500)
    delta = hockey_stick.channel_delta([yes, 1 - yes], 0.2)
    assert delta == pytest.approx(0.9 - np.exp(0.2) * 0.1, rel=1e-12)


def test_a_channel_that_rules_an_input_out_keeps_its_delta_at_any_budget() -> None:
    assert hockey_stick.channel_delta([[0.5, 0.0], [0.5, 1.0]], 800.0) == 0.5
    assert hockey_stick.channel_delta([[0.0, 0.0], [1.0, 1.0]], 800.0) == 0.0
