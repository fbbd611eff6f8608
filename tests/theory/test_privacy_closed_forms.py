"""The closed forms of sampling's privacy run on floats, balls and symbols alike."""

from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import pytest
import sympy

from ldpnb.arithmetic import Symbol
from ldpnb.privacy import clusters, data_dependent, lemmas, rounding, subsampling, unequal

FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "srs_loss": subsampling.srs_loss,
    "srs_budget": subsampling.srs_budget,
    "proportion_noise_scale": lambda e, p: subsampling.proportion_noise_scale(e, 3, 7),
    "cluster_loss_at": lambda e, p: clusters.cluster_loss_at(2, epsilon=e, changed_size=3, sampling_rate=p),
    "identified": lambda e, p: clusters.identified_cluster_loss_lower_bound(e, confusion=p, sampling_rate=p),
    "weakly identified": lambda e, p: clusters.identified_cluster_loss_weak_bound(
        e, confusion=p, sampling_rate=p, epsilon=e
    ),
    "critical_cluster_size": lambda e, p: clusters.critical_cluster_size(p, epsilon=e, sampling_rate=p),
    "mixture_loss": lambda e, p: lemmas.mixture_loss(p, common=e / 2, other=e),
    "mixture_loss_product_form": lambda e, p: lemmas.mixture_loss_product_form(p, common=e / 2, other=e),
    "inserted_record_loss": lambda e, p: lemmas.inserted_record_loss(2, 4, e),
    "supremum": lambda e, p: rounding.random_rounding_loss_supremum(p, e),
    "bound": lambda e, p: rounding.random_rounding_bound(p, e),
    "chain bound": lambda e, p: rounding.random_rounding_chain_bound(p, e),
    "budget": rounding.random_rounding_budget,
    "chain budget": rounding.random_rounding_chain_budget,
    "equation (4)": lambda e, p: unequal.Inclusion(p, p / 2, p, p / 3, p, p / 2).loss_lower_bound(),
    "equation (5)": lambda e, p: unequal.Inclusion(p, p / 2, p, p / 3, p, p / 2).event_loss(),
    "odd gap": lambda e, p: data_dependent.size_test_advantage(5, e),
    "advantage_bound": lambda e, p: data_dependent.advantage_bound(e),
    "squared error": lambda e, p: data_dependent.size_squared_error_lower_bound(9.0, e),
    "two_point_error": lambda e, p: data_dependent.two_point_error(10, e),
}


@pytest.mark.parametrize("name", FORMS)
def test_one_formula_gives_the_same_on_floats_balls_and_symbols(name: str) -> None:
    form, (e, p) = FORMS[name], sympy.symbols("e p", positive=True)
    ball = form(flint.arb("0.75"), flint.arb("0.375"))
    symbol = form(Symbol(e), Symbol(p)).expression.subs({e: sympy.Rational(3, 4), p: sympy.Rational(3, 8)})
    for number in (0.75, np.float64(0.75)):
        assert abs(ball - form(number, 0.375)) < 1e-14
    assert float(symbol) == pytest.approx(float(ball.mid()), rel=1e-14)
