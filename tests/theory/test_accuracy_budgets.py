"""Facts about budgets, bounds and tails: Table 1 and Table 2 of juarez2022, corrected, and two routes to each."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ldpnb.accuracy import budgets, gaps, tails
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.rng import stream

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
SEARCHES = {
    "table1_R_paper": (DiscretisedMeans.published, "chebyshev"),
    "table1_L_paper": (LaplaceMeans.published, "chebyshev"),
    "table1_R_corrected": (DiscretisedMeans.calibrated, "chebyshev"),
    "table1_L_k2": (LaplaceMeans.calibrated, "chebyshev"),
    "table1_R_hoeffding": (DiscretisedMeans.calibrated, "hoeffding"),
    "table1_R_normal": (DiscretisedMeans.calibrated, "normal"),
    "table1_L_k2_normal": (LaplaceMeans.calibrated, "normal"),
    "table1_L_k2_chernoff": (LaplaceMeans.calibrated, "chernoff"),
}


@pytest.mark.parametrize("case", [c for c in REFERENCE if c["fn"] in SEARCHES], ids=str)
def test_budgets_are_those_of_the_reference(case: dict) -> None:
    family, tail = SEARCHES[case["fn"]]
    found = budgets.smallest_epsilon(family, int(case["inputs"]["K"]), case["inputs"]["alpha"], tail=tail)
    assert found == pytest.approx(float(case["value"]), rel=1e-9 if case.get("digits", 10) == 10 else 5e-9)


def test_the_budgets_of_the_bit_and_the_loss_of_the_published_one_are_those_of_the_reference() -> None:
    seen = 0
    for case in REFERENCE:
        if case["fn"] not in ("onebit_signed_RR_eps", "table1_R_own_config_true_eps"):
            continue
        clients, alpha = int(case["inputs"]["K"]), case["inputs"]["alpha"]
        if case["fn"] == "onebit_signed_RR_eps":
            family: Callable = partial(SignedBit, sizes=(clients // 2, clients // 2))
            value = budgets.smallest_epsilon(family, clients, alpha)
        else:
            value = DiscretisedMeans.published(
                budgets.smallest_epsilon(DiscretisedMeans.published, clients, alpha)
            ).epsilon
        assert value == pytest.approx(float(case["value"]), rel=1e-9)
        seen += 1
    assert seen == 2


@pytest.mark.parametrize("case", [c for c in REFERENCE if c["fn"].startswith("table2_alpha")], ids=str)
def test_bounds_of_table_2_are_those_of_the_reference(case: dict) -> None:
    family = DiscretisedMeans.published if case["fn"].endswith("R") else LaplaceMeans.published
    bound = budgets.alpha_bound(family(case["inputs"]["eps"]), int(case["inputs"]["K"])) / 2
    assert bound == pytest.approx(float(case["value"]), rel=1e-9)


def test_closed_forms_agree_with_the_search() -> None:
    forms = {
        DiscretisedMeans.published: budgets.published_epsilon_for_gain,
        DiscretisedMeans.calibrated: budgets.calibrated_epsilon_for_gain,
        partial(SignedBit, sizes=(10**6, 10**6)): budgets.bit_epsilon_for_gain,
    }
    for family, form in forms.items():
        for tail in ("chebyshev", "hoeffding", "normal"):
            gain = budgets.required_gain(2 * 10**6, 0.05, tail=tail)
            found = budgets.smallest_epsilon(family, 2 * 10**6, 0.05, tail=tail)
            assert form(gain) == pytest.approx(found, rel=1e-9)
            assert form(1.0) == np.inf


def test_gains_are_inverted_at_both_ends() -> None:
    for epsilon in (1e-6, 1.0, 20.0):
        for family, form in (
            (DiscretisedMeans.published, budgets.published_epsilon_for_gain),
            (DiscretisedMeans.calibrated, budgets.calibrated_epsilon_for_gain),
        ):
            assert form(family(epsilon).gain) == pytest.approx(epsilon, rel=1e-6)


def test_a_chebyshev_budget_depends_on_clients_times_squared_error_alone() -> None:
    values = [budgets.smallest_epsilon(LaplaceMeans.calibrated, k, a) for k, a in ((10**5, 0.1), (10**9, 0.001))]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_sharper_tails_need_less_and_the_exact_law_least() -> None:
    found = [
        budgets.smallest_epsilon(DiscretisedMeans.calibrated, 10**6, 0.1, tail=tail)
        for tail in ("chebyshev", "bernstein", "hoeffding", "exact")
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] / found[-1] > 3


def test_the_exact_budget_is_the_first_at_which_the_binomial_tail_is_small_enough() -> None:
    clients, alpha = 10**4, 0.1
    epsilon = budgets.smallest_epsilon(DiscretisedMeans.calibrated, clients, alpha, tail="exact")
    for factor, enough in ((1 + 1e-9, True), (1 - 1e-9, False)):
        deviation = alpha * clients / 2 * DiscretisedMeans.calibrated(epsilon * factor).gain
        law = stats.binom(clients, 0.5)
        tail = 2 * law.sf(np.ceil((clients + deviation) / 2) - 1)
        assert (tail <= 0.01) == enough


def test_no_tail_is_below_the_exact_law() -> None:
    for terms, deviation in ((100, 20.5), (1000, 90.0), (10_000, 350.0)):
        exact = tails.symmetric_binomial(terms, deviation)
        assert exact == pytest.approx(2 * stats.binom.sf(np.ceil((terms + deviation) / 2) - 1, terms, 0.5), rel=1e-9)
        assert exact <= tails.hoeffding(terms, deviation)
        assert exact <= tails.bernstein(terms, 1.0, deviation)
        assert exact <= tails.chebyshev(terms, deviation)
        assert tails.normal(np.sqrt(terms), deviation) == pytest.approx(exact, rel=0.3)
    assert tails.symmetric_binomial(10, 11.0) == 0


def test_chernoffs_bound_holds_for_kept_laplace_reports() -> None:
    terms, keep, scale = 400, 0.7, 1.5
    rng = stream("chernoff", seed=1)
    kept = rng.random((5_000, terms)) < keep
    sums = (kept - keep).sum(axis=1) + scale * rng.laplace(size=(5_000, terms)).sum(axis=1)
    for deviation in (80.0, 120.0):
        bound = tails.kept_laplace_chernoff(terms, keep, scale, deviation)
        assert float(np.mean(np.abs(sums) >= deviation)) <= bound < 1
    assert tails.kept_laplace_chernoff(terms, 1.0, scale, 1e-6) == pytest.approx(1.0)


def test_small_minorities_want_less_protection_of_the_value_at_large_budgets() -> None:
    for epsilon in (0.5, 2.0, 8.0):
        assert budgets.best_laplace(epsilon, (500, 500)).value_epsilon == epsilon
    best = budgets.best_laplace(6.0, (100, 9900))
    assert best.epsilon == pytest.approx(6.0)
    assert best.value_epsilon == pytest.approx(5.0, abs=0.01)
    assert gaps.worst_gap_variance(best, (100, 9900)) < 0.95 * gaps.worst_gap_variance(
        LaplaceMeans.calibrated(6.0), (100, 9900)
    )


def test_bad_input_is_refused_by_name_rule_and_value() -> None:
    mechanism = DiscretisedMeans.calibrated(1.0)
    with pytest.raises(ValueError, match="clients must be even for two equal groups, got clients=5"):
        budgets.failure_probability(mechanism, 5, 0.1)
    with pytest.raises(ValueError, match="tail must be one of chebyshev"):
        budgets.failure_probability(mechanism, 4, 0.1, "markov")
    with pytest.raises(ValueError, match="tail must fit the mechanism, got tail='chernoff' for DiscretisedMeans"):
        budgets.failure_probability(mechanism, 4, 0.1, "chernoff")
    with pytest.raises(ValueError, match="tail must fit the mechanism, got tail='exact' for SignedLaplace"):
        budgets.failure_probability(SignedLaplace(1.0, (2, 2)), 4, 0.1, "exact")
    with pytest.raises(ValueError, match="needs equal noise scales"):
        budgets.failure_probability(LaplaceMeans.published(1.0), 4, 0.1, "chernoff")
    with pytest.raises(ValueError, match=r"failure must lie in \(0, 1\), got failure=1.0"):
        budgets.smallest_epsilon(DiscretisedMeans.calibrated, 4, 0.1, failure=1.0)
    with pytest.raises(ValueError, match="alpha must be > 0"):
        budgets.failure_probability(mechanism, 4, 0.0, "hoeffding")
    with pytest.raises(ValueError, match="deviation must be > 0"):
        tails.chebyshev(1.0, -1.0)
