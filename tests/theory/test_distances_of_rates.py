"""``1 - p`` and ``p - q`` of every mechanism, and what rests on them, where subtraction would lose them."""

import flint
import numpy as np
import pytest

from ldpnb.accuracy.histograms import pure_variance, sign_variance
from ldpnb.accuracy.information import unbiased_frequency_error
from ldpnb.accuracy.personalised import variance_reweighted_reports
from ldpnb.estimators.frequency import unbiased
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection

MAKERS = {
    "k-RR": KaryRandomisedResponse,
    "SUE": UnaryEncoding.symmetric,
    "OUE": UnaryEncoding.optimised,
    "signs": SignRandomiser,
    "subsets of 3": lambda epsilon, size: SubsetSelection(
        epsilon, size, flint.arb(3) if type(size) is flint.arb else 3
    ),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0, 40.0, 699.0])
def test_distances_of_rates_keep_their_digits(make, epsilon: float) -> None:
    flint.ctx.prec, before = 2500, flint.ctx.prec
    try:
        exact, found = make(flint.arb(epsilon), flint.arb(7)), make(epsilon, 7)
        p, q = exact.p, exact.q
        pairs = {
            found.p: p,
            found.q: q,
            found.miss_rate: 1 - p,
            found.truthful_rate: p - q,
            unbiased_frequency_error(found): (6 * q * (1 - q) + p * (1 - p)) / (p - q) / (p - q),
            float(pure_variance(5, users=5, mechanism=found)): 5 * p * (1 - p) / (p - q) / (p - q),
            unbiased([3, 0, 0, 0, 0, 0, 0], 3, found)[0]: (1 - q) / (p - q),
        }
        for number, ball in pairs.items():
            assert number == pytest.approx(float(ball), rel=1e-12)
        assert found.epsilon == pytest.approx(epsilon, rel=1e-12)
    finally:
        flint.ctx.prec = before


def test_rates_given_as_numbers_are_taken_at_their_word() -> None:
    given = UnaryEncoding(0.75, 0.25, 4)
    assert (given.miss_rate, given.truthful_rate) == (0.25, 0.5)
    assert repr(given) == "UnaryEncoding(p=0.75, q=0.25, domain_size=4)"
    with pytest.raises(ValueError, match="q must be < p"):
        UnaryEncoding(0.25, 0.75, 4)


def test_holders_variances_do_not_vanish_at_large_budgets() -> None:
    bias = 1 - 2.0**-50
    assert sign_variance(10, users=10, bias=bias) == pytest.approx(10 * 2.0**-49, rel=1e-12)
    mechanism = KaryRandomisedResponse(50.0, 2)
    found = variance_reweighted_reports([4, 0], users=4, report_rates=[1.0, 1.0], mechanism=mechanism)
    assert found == pytest.approx(4 * np.exp(-50), rel=1e-12)
