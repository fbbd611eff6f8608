"""Tail bounds are on their side of the exact tail, and budgets are spent where they help most."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpnb.accuracy import tails
from ldpnb.papers.biswas2022.formulas import personalised
from properties.strategies import examples, logarithmic

SLACK = 1 + 1e-9

groups_of_users = st.lists(
    st.tuples(logarithmic(1e-6, 1e6), logarithmic(1e-3, 1e3), st.integers(1, 10**6)),
    min_size=1,
    max_size=5,
)
"""The noise, the cost of a report and the number of users of each group."""


@examples(12)
@given(groups_of_users, st.floats(0.001, 2))
def test_no_shift_between_two_groups_improves_the_optimal_rates(groups: list, part: float) -> None:
    noises, costs, sizes = np.array(groups, dtype=float).T
    everybody = float(sizes @ costs)
    budget = part * everybody

    best = personalised.optimal_rates(noises=noises, costs=costs, sizes=sizes, budget=budget)
    assert ((best > 0) & (best <= 1)).all()
    assert sizes @ (costs * best) == pytest.approx(min(budget, everybody), rel=1e-9)

    # what a little more budget would gain is the same in all groups that are sampled
    gain = noises / (costs * best**2)
    sampled = best < 1
    if sampled.any():
        assert np.ptp(gain[sampled]) <= 1e-7 * gain[sampled].max()
        assert (gain[~sampled] >= gain[sampled].max() * (1 - 1e-7)).all()


@examples(15)
@given(st.integers(1, 10**6), logarithmic(1e-3, 1e6))
def test_tail_bounds_lie_above_the_exact_tail(terms: int, deviation: float) -> None:
    exact = tails.symmetric_binomial(terms, deviation)
    hoeffding = tails.hoeffding(terms, deviation)

    assert 0 <= exact <= hoeffding * SLACK
    assert hoeffding == pytest.approx(min(1.0, 2 * np.exp(-(deviation**2) / 2 / terms)))
    assert exact <= tails.bernstein(float(terms), 1.0, deviation) * SLACK
    assert exact <= tails.chebyshev(float(terms), deviation) * SLACK
