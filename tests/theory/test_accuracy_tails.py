"""Tails of fair signs are right for as many terms as are accepted."""

import math

import flint
import pytest

from ldpnb.accuracy import tails


@pytest.mark.parametrize("terms", [10**3, 10**6 + 1, 10**8, 10**9, 5 * 10**9, 10**10, tails.MOST_SIGNS])
def test_the_tail_of_fair_signs_is_that_of_many_digits(terms: int) -> None:
    with flint.ctx.workprec(160):
        for deviations in (0.01, 1.0, 6.0, 20.0, 30.0):
            positive = math.ceil((terms + deviations * terms**0.5) / 2)
            half = flint.arb("0.5").beta_lower(flint.arb(positive), flint.arb(terms - positive + 1), True)
            found = tails.symmetric_binomial(terms, 2 * positive - terms - 0.5)
            assert found == pytest.approx(float(2 * half), rel=1e-9)
    assert tails.symmetric_binomial(10, 1e300) == 0


def test_more_signs_than_the_law_is_right_for_are_refused() -> None:
    assert tails.symmetric_binomial(tails.MOST_SIGNS, 6e6) == pytest.approx(tails.normal(1e6, 6e6), rel=1e-4)
    with pytest.raises(ValueError, match=r"terms must be at most 1e\+12, got terms=1000000000001"):
        tails.symmetric_binomial(tails.MOST_SIGNS + 1, 6e6)
