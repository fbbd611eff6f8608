"""The exact loss of a random size holds for any law: gaps, atoms of 1e-300, budgets up to 700."""

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
    """Draw a law with gaps: chances over three hundred orders of magnitude, or on some sizes
    only.
    """
    n = draw(st.integers(1, most))
    exponents = st.one_of(st.floats(-300, 0), st.sampled_from([-math.inf, -300.0, -9.0, 0.0]))
    powers = np.array([*draw(st.lists(exponents, min_size=n, max_size=n)), 0.0])
    chances = 10.0 ** np.roll(powers, draw(st.integers(0, n)))
    return sizes.size_law(chances / chances.sum())


BUDGETS = st.floats(-6, math.log10(700)).map(lambda x: float(10**x))


def by_recursion(law: sizes.SizeLaw, epsilon: float) -> float:
    """Return the loss from the sign of the recursion, bisected in 120 digits."""
    with flint.ctx.workprec(400):
        n, chances = law.population, [flint.arb(float(x)).exp() for x in law.log_probabilities]
        u, v = (
            [chances[m] * (n - m) / n for m in range(n)],
            [chances[m + 1] * (m + 1) / n for m in range(n)],
        )
        if not any(x > 0 for x in u):
            return 2 * epsilon
        grow, low, high = flint.arb(epsilon).exp(), flint.arb(-1500), flint.arb(2500)
        for _ in range(70):
            middle, total = (low + high) / 2, flint.arb(0)
            ratio = middle.exp()
            for without, joined in zip(u, v, strict=True):
                total = joined - ratio * without + (total * grow if total > 0 else total / grow)
            low, high = (middle, high) if total > 0 else (low, middle)
        return float(((2 * flint.arb(epsilon)).expm1() / (1 + (epsilon - low).exp())).log1p().mid())


@settings(max_examples=25, derandomize=True, deadline=None)
@given(rough_laws(40), BUDGETS)
def test_rough_laws_lose_what_the_recursion_in_many_digits_says(
    law: sizes.SizeLaw, epsilon: float
) -> None:
    assert rs.random_size_loss(law, epsilon) == pytest.approx(by_recursion(law, epsilon), rel=1e-12)


ROUGH = 10 ** np.random.default_rng(0).uniform(-300, 0, 1500)
"""Of a law whose search has short steps from below."""


@pytest.mark.parametrize(
    ("law", "epsilon", "slack"),
    [
        (sizes.size_law(ROUGH / ROUGH.sum()), 100.0, 1e-12),
        (sizes.truncated_gaussian_size(100_000, 10_000, 100_000**0.5), 0.1, 0.0),
    ],
    ids=["rough", "large"],
)
def test_the_loss_of_many_sizes_lies_between_its_bounds(
    law: sizes.SizeLaw, epsilon: float, slack: float
) -> None:
    lower, upper = (
        f(law, epsilon) for f in (rs.random_size_lower_bound_pm1, rs.random_size_upper_bound)
    )
    assert lower * (1 - 1e-12) <= rs.random_size_loss(law, epsilon) <= upper * (1 + slack)


@pytest.mark.parametrize("epsilon", [1.0, 50.0])
def test_budgets_that_add_up_to_thousands_of_nats_leave_the_rate_its_digits(epsilon: float) -> None:
    assert rs.effective_rate(sizes.fixed_size(5000, 20_000), epsilon) == pytest.approx(
        0.25, abs=3e-15
    )
    either = np.where(np.isin(np.arange(20_001), [1000, 5000]), 0.5, 0.0)
    assert rs.effective_rate(sizes.size_law(either), epsilon) == pytest.approx(0.25, abs=3e-15)
