"""The exact loss of a random size holds for any law: gaps, atoms of 1e-300, budgets up to 700.

The second way is the sign of a recursion over the sizes, bisected in 120 digits.
"""

import math

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.papers.bun2022.formulas import random_size as rs
from ldpnb.papers.bun2022.formulas import sizes


@st.composite
def rough_laws(draw: st.DrawFn, most: int) -> sizes.SizeLaw:
    """Draw a law with gaps: chances of many orders of magnitude, or on some sizes only."""
    population = draw(st.integers(1, most))
    exponents = st.one_of(st.floats(-300, 0), st.sampled_from([-math.inf, -300.0, -9.0, 0.0]))
    powers = draw(st.lists(exponents, min_size=population, max_size=population))
    chances = 10.0 ** np.array([*powers, 0.0])
    rotated = np.roll(chances, draw(st.integers(0, population)))
    return sizes.size_law(rotated / rotated.sum())


budgets = st.floats(-6, math.log10(700)).map(lambda exponent: float(10**exponent))


def ends_positive(
    without: list[flint.arb], joined: list[flint.arb], ratio: flint.arb, growth: flint.arb
) -> bool:
    """Tell whether the recursion over the sizes ends above zero at a ratio of two chances."""
    total = flint.arb(0)
    for chance_without, chance_joined in zip(without, joined, strict=True):
        grown = total * growth if total > 0 else total / growth
        total = chance_joined - ratio * chance_without + grown
    return bool(total > 0)


def loss_by_recursion(law: sizes.SizeLaw, epsilon: float) -> float:
    """Return the loss from the sign of the recursion, bisected in 120 digits."""
    with flint.ctx.workprec(400):
        n = law.population
        chances = [flint.arb(float(x)).exp() for x in law.log_probabilities]
        without = [chances[size] * (n - size) / n for size in range(n)]
        joined = [chances[size + 1] * (size + 1) / n for size in range(n)]
        if not any(chance > 0 for chance in without):
            return 2 * epsilon

        budget = flint.arb(epsilon)
        growth = budget.exp()
        low = flint.arb(-1500)
        high = flint.arb(2500)
        for _ in range(70):
            middle = (low + high) / 2
            if ends_positive(without, joined, middle.exp(), growth):
                low = middle
            else:
                high = middle
        loss = ((2 * budget).expm1() / (1 + (epsilon - low).exp())).log1p()
        return float(loss.mid())


@settings(max_examples=25, derandomize=True, deadline=None)
@given(rough_laws(40), budgets)
def test_rough_laws_lose_what_the_recursion_in_many_digits_says(
    law: sizes.SizeLaw, epsilon: float
) -> None:
    expected = loss_by_recursion(law, epsilon)
    assert rs.random_size_loss(law, epsilon) == pytest.approx(expected, rel=1e-12)


def assert_between_its_bounds(law: sizes.SizeLaw, epsilon: float, slack: float) -> None:
    lower = rs.random_size_lower_bound_pm1(law, epsilon)
    upper = rs.random_size_upper_bound(law, epsilon)
    assert lower * (1 - 1e-12) <= rs.random_size_loss(law, epsilon) <= upper * (1 + slack)


def test_the_loss_of_a_rough_law_of_many_sizes_lies_between_its_bounds() -> None:
    # the search for this one has short steps from below
    rough = 10 ** np.random.default_rng(0).uniform(-300, 0, 1500)
    law = sizes.size_law(rough / rough.sum())
    assert_between_its_bounds(law, 100.0, slack=1e-12)


def test_the_loss_of_a_hundred_thousand_sizes_lies_between_its_bounds() -> None:
    law = sizes.truncated_gaussian_size(100_000, 10_000, 100_000**0.5)
    assert_between_its_bounds(law, 0.1, slack=0.0)


@pytest.mark.parametrize("epsilon", [1.0, 50.0])
def test_budgets_that_add_up_to_thousands_of_nats_leave_the_rate_its_digits(epsilon: float) -> None:
    fixed = sizes.fixed_size(5000, 20_000)
    assert rs.effective_rate(fixed, epsilon) == pytest.approx(0.25, abs=3e-15)

    chances = np.zeros(20_001)
    chances[[1000, 5000]] = 0.5
    either = sizes.size_law(chances)
    assert rs.effective_rate(either, epsilon) == pytest.approx(0.25, abs=3e-15)
