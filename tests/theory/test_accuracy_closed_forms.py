"""Closed forms of errors and bounds run on floats, balls and symbols alike, and hold for all parameters."""

from functools import partial
from typing import Any

import flint
import numpy as np
import pytest
import sympy

from ldpnb.accuracy import budgets, gaps, histograms, information, means
from ldpnb.accuracy.information import SymmetricDirichlet
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Symbol
from ldpnb.mechanisms import signs
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection


def sampled(name: str, data: str, e: Any, n: Any) -> Any:
    formula = getattr(SampledCounts(6 * n, 1 / n, KaryRandomisedResponse(e, n), data), name)
    return formula(n) if callable(formula) else formula


SAMPLED = [name for name in vars(SampledCounts) if name.startswith(("mean", "bias", "variance", "rare", "negative"))]
CLOSED = {
    **{f"{name}, {data}": partial(sampled, name, data) for name in SAMPLED for data in ("fixed", "iid")},
    "worst variance of one bit": lambda e, n: means.worst_variance(OneBit(e, n), n),
    "of local noise": lambda e, n: means.worst_variance(LocalLaplace(e, n), n),
    "of a curator's": lambda e, n: means.worst_variance(CentralLaplace(e, n), n),
    "randomised response": means.warner_variance,
    "floor of one bit": means.one_bit_floor,
    "approximate bit": lambda e, n: means.approximate_bit_variance(e, 1 / n, n),
    "entropy of noise": lambda e, n: means.laplace_report_bits(LocalLaplace(e, n), 1 / n),
    "Hoeffding's error": lambda e, n: means.certain_error(OneBit(e, n), n, 1 / n),
    "curator's error": lambda e, n: means.certain_error(CentralLaplace(e, n), n, 1 / n),
    "one bit": lambda e, n: OneBit(e).p - OneBit(e).q * OneBit(e).slope + OneBit(e, n).one_rate(n / 2),
    "count of signs": lambda e, n: histograms.pure_variance(n / 3, users=n, mechanism=SignRandomiser(e, 5)),
    "as printed": lambda e, n: histograms.sign_variance(n / 3, users=n, bias=signs.calibrated_bias(e)),
    "loss of signs": lambda e, n: signs.exact_epsilon(1 / n) + signs.calibrated_bias(e),
    "curator's count": lambda e, n: histograms.central_laplace_count_variance(e, n),
    "worst count": lambda e, n: histograms.central_laplace_largest_error(e, n, 1 / n),
    "entropy of bits": lambda e, n: histograms.unary_report_bits(SignRandomiser(e, 5).p, 1 / n, n),
    "equation (19)": lambda e, n: gaps.variance_laplace_mean(LaplaceMeans(e, e / 2, 2 * e, 4), n, 3 * n, 1 / n),
    "equation (20)": lambda e, n: gaps.variance_discretised_mean(DiscretisedMeans(e, e / 2, 4), n, 3 * n, 1 / n),
    "signed bit": lambda e, n: SignedBit(e, (3, 3)).gain,
    "allocation": lambda e, n: DiscretisedMeans.calibrated(e, n).gain,
    "split": lambda e, n: LaplaceMeans.calibrated(e, n).gain,
    "information's ceiling": lambda e, n: LowerBounds(n, e).log_information_ceiling(),
    "covariance's floor": lambda e, n: LowerBounds(n, e).log_covariance_floor("sharp"),
    "bound on distributions": lambda e, n: LowerBounds(n, e).distribution(),
    "bound on frequencies": lambda e, n: LowerBounds(n, e).frequency(),
    "any channel": lambda e, n: LowerBounds(7, e).any_channel(),
    "uniform": lambda e, n: LowerBounds(n, e).uniform_information(2),
    "k-RR": lambda e, n: information.unbiased_frequency_error(KaryRandomisedResponse(e, n)),
    "OUE": lambda e, n: information.unbiased_frequency_error(UnaryEncoding.optimised(e, n)),
    "SUE": lambda e, n: information.unbiased_frequency_error(UnaryEncoding.symmetric(e, n)),
    "subsets": lambda e, n: information.unbiased_frequency_error(SubsetSelection(e, n, 3)),
    "loss of SUE": lambda e, n: UnaryEncoding.symmetric(e, n).epsilon,
    "entropy's bound": lambda e, n: EntropyBounds(n).distribution(e),
    "tallies' bound": lambda e, n: EntropyBounds(n).frequency(e, 12, jitter=True),
    "limits": lambda e, n: EntropyBounds(n).limits(e, 1.0)[0],
    "asymptotic": lambda e, n: EntropyBounds(n).asymptotic(e, 1.0)[0],
    "diversity": lambda e, n: SymmetricDirichlet(n, e).diversity(),
}


def personal(name: str, e: Any, n: Any) -> Any:
    formula = getattr(PersonalRates([100, 200], [0.2, 0.7], KaryRandomisedResponse(e, n)), name)
    return formula([10, 50]) if callable(formula) else formula


WITHOUT_SYMBOLS = {
    **{name: partial(personal, name) for name in ("variance", "variance_horvitz_thompson", "rare_variance")},
    "published gain": lambda e, n: budgets.published_epsilon_for_gain(1 / n),
    "calibrated gain": lambda e, n: budgets.calibrated_epsilon_for_gain(1 / n),
}
"""What sums over arrays, or compares."""


@pytest.mark.parametrize("name", CLOSED | WITHOUT_SYMBOLS)
def test_closed_forms_give_the_same_on_floats_balls_and_symbols(name: str) -> None:
    formula = (CLOSED | WITHOUT_SYMBOLS)[name]
    number = float(formula(1.5, 7))
    assert abs(formula(flint.arb("1.5"), flint.arb(7)) - number) < 1e-12 * abs(number)
    if name in CLOSED:
        e, n = sympy.symbols("e n", positive=True)
        symbol = formula(Symbol(e), Symbol(n)).expression
        assert float(symbol.subs({e: sympy.Rational(3, 2), n: 7})) == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize("size", [2, 3, 10])
def test_bounds_on_frequencies_are_as_written(size: int) -> None:
    bounds, lead = LowerBounds(size, 0.5), size / np.expm1(0.5) ** 2
    assert bounds.frequency() == pytest.approx(lead * np.exp(-0.5 * size / (size - 1)), rel=1e-12)
    assert bounds.frequency("sharp") == pytest.approx(lead * np.exp(-0.5), rel=1e-12)


def test_nothing_cancels_where_hardly_anybody_lies() -> None:
    mechanism = KaryRandomisedResponse(50.0, 3)
    everybody = SampledCounts(100, 1.0, mechanism).variance_rescaled(40)
    assert PersonalRates([100], [1.0], mechanism).variance([40.0]) == pytest.approx(float(everybody), rel=1e-12)
