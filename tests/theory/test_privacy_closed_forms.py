"""The closed forms of sampling's privacy run on floats, balls and symbols alike."""

from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import pytest
import sympy

from ldpnb.arithmetic import Symbol, log_mixed
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


BUDGETS = (1e-9, 1e-4, 0.3, 1.0, 20.0, 149.9, 150.1, 299.0, 301.0, 349.9, 350.1, 640.0, 700.0)
RATES = (1e-12, 3e-9, 1e-4, 0.1, 0.5, 0.9, 1 - 1e-9, 1.0)
OPEN = ("critical_cluster_size", "supremum", "bound", "chain bound", "budget", "chain budget")


def nearly(exact: flint.arb, scale: float = 0.0) -> Any:
    """Return the value of a ball, which must be sharp, to compare with."""
    assert exact.rel_accuracy_bits() > 50
    return pytest.approx(float(exact.mid()), rel=1e-10, abs=1e-12 * scale)


@pytest.mark.parametrize("name", FORMS)
def test_formulas_keep_their_digits_over_all_budgets_and_rates(name: str) -> None:
    rates = [rate for rate in RATES if rate < 1] if name in OPEN else RATES
    with flint.ctx.workprec(200), np.errstate(all="raise", under="ignore"):
        for epsilon in BUDGETS:
            for rate in rates:
                exact = FORMS[name](flint.arb(epsilon), flint.arb(rate))
                # a difference keeps the digits of what it is the difference of
                scale = {"weakly identified": epsilon, "critical_cluster_size": 1 / epsilon}.get(name, 0.0)
                assert FORMS[name](epsilon, rate) == nearly(exact, scale), (epsilon, rate)


@pytest.mark.parametrize(("share", "epsilon"), [(0.2, 2.0), (0.7, 2.0), (0.3, 0.5), (0.7, 0.5), (0.45, 1.0)])
def test_the_critical_size_keeps_its_digits_where_its_odds_are_nearly_even(share: float, epsilon: float) -> None:
    odds = -np.expm1(-share * epsilon) / np.expm1((1 - share) * epsilon)
    for factor in (1.0, 1.001, 1.3):
        rate = factor * odds / (1 + factor * odds)
        exact = clusters.critical_cluster_size(
            flint.arb(share), epsilon=flint.arb(epsilon), sampling_rate=flint.arb(rate)
        )
        found = clusters.critical_cluster_size(share, epsilon=epsilon, sampling_rate=rate)
        assert found == pytest.approx(float(exact.mid()), rel=1e-14)


def test_formulas_take_arrays_across_the_point_where_their_calculation_changes() -> None:
    budgets = np.array([0.5, 299.9, 300.1, 700.0])
    assert log_mixed(0.25, budgets).tolist() == [float(log_mixed(0.25, x)) for x in budgets]
    assert log_mixed(0.0, np.array([1.0, 700.0])).tolist() == [0, 0]


@pytest.mark.parametrize("rate", RATES)
def test_the_loss_at_given_odds_keeps_its_digits(rate: float) -> None:
    for odds in (-28.0, -5.0, 0.0, 5.0, 40.0):
        for epsilon in (*BUDGETS, 1400.0):
            with flint.ctx.workprec(3000):
                exact = (flint.arb(epsilon).expm1() / (1 + (-flint.arb(odds)).exp())).log1p()
            assert subsampling.weighted_loss(epsilon, odds) == nearly(exact)


@pytest.mark.parametrize("sizes", [[10**6, 10**6], [1, 1], [1, 10**6], [10**6, 1, 1], [5, 1, 30, 2], [7], [2, 100, 3]])
def test_a_cluster_drawn_by_its_size_keeps_the_digits_of_its_loss(sizes: list[int]) -> None:
    own, *others = sizes
    for epsilon in BUDGETS:
        with flint.ctx.workprec(400):
            rest = sum((n * (-flint.arb(epsilon) * (own + n)).exp() for n in others), flint.arb(0))
            odds = (own + rest) / ((own - 1) * (-flint.arb(epsilon)).exp() + rest)
            exact = (odds * (sum(sizes) - 1) / sum(sizes)).log()
        if max(float((-exact).mid()), float(exact.mid())) > 0:
            assert unequal.pps_cluster_loss(sizes, epsilon) == nearly(exact), epsilon


@pytest.mark.parametrize("population", [1, 7, 20, 101, 4096])
@pytest.mark.parametrize("rate", [2.0**-40, 2.0**-10, 3 / 32, 0.25, 0.5, 11 / 16, 1 - 2.0**-12])
def test_rounding_at_random_keeps_the_digits_of_its_loss(population: int, rate: float) -> None:
    n, r = flint.arb(population), flint.arb(rate)
    for epsilon in (*BUDGETS, 1e3, 1e9):
        with flint.ctx.workprec(6000):
            m = (r * n).floor()
            p = r * n - m
            mu, nu, losses = m / (n + 1), (m + 1) / (n + 1), []
            for log_y in (flint.arb(epsilon), -flint.arb(epsilon)):
                for log_z in (flint.arb(epsilon), -flint.arb(epsilon)):
                    y, z, further = log_y.exp(), log_z.exp(), p + r - 1
                    if further < 0:
                        event = (1 - p - r) * (1 + mu * (y * y - 1)) + (p + r) * ((1 - nu) * z + nu * y)
                    else:
                        event = (1 - further) * ((1 - nu) * z + nu * y) + further * y * z
                    loss = (event / (1 - p + p * z)).log()
                    losses.append(loss if log_y > 0 else -loss)
            exact = max(losses)
        assert rounding.random_rounding_loss(population, rate, epsilon) == nearly(exact), epsilon


def test_the_largest_tilted_mean_bears_chances_and_budgets_of_any_size() -> None:
    assert lemmas.largest_tilted_mean([1.0, 0.0, 0.0], [0.5, 1, 3], 700.0) == 0.5
    assert lemmas.largest_tilted_mean([1.0, 1e-300, 0.0], [0.0, 1, 3], 690.0) == pytest.approx(
        float(np.exp(690.0 - 300 * np.log(10)) / (1 + np.exp(690.0 - 300 * np.log(10)))), rel=1e-10
    )
