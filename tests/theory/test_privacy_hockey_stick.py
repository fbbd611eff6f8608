"""Facts about exact hockey-stick divergences: their integral, their worst values, both ends of
the budget.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.privacy import hockey_stick
from ldpnb.rng import stream


def mass(law: tuple[float, ...], low: arb, high: arb) -> arb:
    """Return the mass of a weighted Laplace law in an interval."""
    weight, location, scale = law

    def beyond(x: arb) -> arb:
        away = -abs((x - location) / scale)
        return away.exp() / 2 if x >= location else 1 - away.exp() / 2

    return weight * (beyond(low) - beyond(high))


def better(
    first: tuple[float, ...], second: tuple[float, ...], epsilon: float
) -> Iterator[tuple[arb, arb]]:
    """Yield where the first density exceeds ``e^epsilon`` times the second, between -1e6 and
    1e6.
    """

    def gain(x: arb) -> arb:
        one, other = (
            (arb(weight) / scale).log() - abs((x - place) / scale)
            for weight, place, scale in (first, second)
        )
        return one - other - epsilon

    for low, high in pairwise(map(arb, (-1e6, *sorted((first[1], second[1])), 1e6))):
        start, end = gain(low), gain(high)
        zero = low + (high - low) * start / (start - end) if start * end < 0 else low
        if start > 0:
            yield low, zero if end < 0 else high
        elif end > 0:
            yield zero, high


scales = st.floats(-1, 1).map(lambda x: float(10**x))
locations = st.floats(-4, 4) | st.floats(-6, 0).map(lambda x: float(10**x))
budgets = st.floats(0, 1) | st.floats(0, 30)
nearly = st.floats(-8, -1).map(lambda x: float(10**x))
ratios = st.just(1.0) | st.floats(-6, -1).map(lambda x: 1 + float(10**x)) | scales


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    st.floats(0.05, 1), locations, scales, st.floats(0.05, 1), ratios, budgets, st.none() | nearly
)
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
    first, second = (weight, location, scale), (other_weight, 0.0, ratio * scale)
    if near is not None and ratio >= 1:  # just below the largest loss
        epsilon = max(
            0.0,
            float(np.log(weight * ratio / other_weight) + abs(location) / (ratio * scale)) - near,
        )
    with ctx.workprec(3000):
        pieces = better(first, second, epsilon)
        exact = sum(
            (mass(first, *piece) - arb(epsilon).exp() * mass(second, *piece) for piece in pieces),
            arb(0),
        )
    delta = hockey_stick.law_delta([first], [second], epsilon)
    assert delta == pytest.approx(float(exact.mid()), rel=1e-12, abs=1e-290)


def test_densities_that_only_touch_add_nothing() -> None:
    # beyond epsilon = 2 the kept reports of the published mechanism meet e^epsilon times the moved
    # ones in one point
    for epsilon in np.linspace(2.1, 200, 400):
        kept, moved = LaplaceMeans.published(epsilon).law(0, 1.0)
        assert hockey_stick.law_delta([kept], [moved], epsilon) == 0
        assert hockey_stick.law_delta([moved], [kept], epsilon) > 0


@pytest.mark.parametrize("least", [1e-12, 699.5])
def test_budgets_near_the_ends_of_the_range_are_found(least: float) -> None:
    for delta_at in (
        lambda budget: 0.5 * (budget < least),
        lambda budget: 0.1 * np.exp(1 - budget / least),
    ):
        assert hockey_stick.epsilon_at_delta(delta_at, 0.1) == pytest.approx(least, rel=1e-11)
    assert hockey_stick.epsilon_at_delta(lambda budget: 0.5 * (budget < 700.5), 0.1) == np.inf


def test_no_delta_exceeds_one() -> None:
    laws = stream("apart", seed=1).dirichlet(np.ones(9), 40)
    for law in laws:
        apart = [*law, *np.zeros(9)], [*np.zeros(9), *law]
        assert 1 - 1e-15 < hockey_stick.channel_delta(np.transpose(apart), 0.0) <= 1
        pieces = [[[chance, place, 1e-9] for chance in law] for place in (0.0, 1.0)]
        assert 1 - 1e-14 < hockey_stick.law_delta(*pieces, 0.0) <= 1


def test_many_inputs_of_few_outputs_are_compared() -> None:
    yes = np.linspace(0.1, 0.9, 500)
    assert hockey_stick.channel_delta([yes, 1 - yes], 0.2) == pytest.approx(
        0.9 - np.exp(0.2) * 0.1, rel=1e-12
    )


def test_a_channel_that_rules_an_input_out_keeps_its_delta_at_any_budget() -> None:
    assert hockey_stick.channel_delta([[0.5, 0.0], [0.5, 1.0]], 800.0) == 0.5
    assert hockey_stick.channel_delta([[0.0, 0.0], [1.0, 1.0]], 800.0) == 0.0
