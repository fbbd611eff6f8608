"""Facts about budgets and tails: Tables 1 and 2 of juarez2022, corrected, and two routes to each."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ldpnb.accuracy import budgets, gaps, tails
from ldpnb.mechanisms.contrasts import SignedBit
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


def test_the_budget_of_the_bit_and_the_loss_of_the_published_one_are_those_of_the_reference() -> None:
    cases = {c["fn"]: c for c in REFERENCE}
    found = {}
    for name in ("onebit_signed_RR_eps", "table1_R_own_config_true_eps"):
        users, alpha = int(cases[name]["inputs"]["K"]), cases[name]["inputs"]["alpha"]
        bit = partial(SignedBit, sizes=(users // 2, users // 2))
        family = bit if name.startswith("onebit") else DiscretisedMeans.published
        found[name] = family(budgets.smallest_epsilon(family, users, alpha)).epsilon
    assert found == pytest.approx({name: float(cases[name]["value"]) for name in found}, rel=1e-9)


@pytest.mark.parametrize("case", [c for c in REFERENCE if c["fn"].startswith("table2_alpha")], ids=str)
def test_bounds_of_table_2_are_those_of_the_reference(case: dict) -> None:
    family = DiscretisedMeans.published if case["fn"].endswith("R") else LaplaceMeans.published
    bound = gaps.GroupGap.of_halves(family(case["inputs"]["eps"]), int(case["inputs"]["K"])).error_bound() / 2
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


def test_a_chebyshev_budget_depends_on_users_times_squared_error_alone() -> None:
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
    users, alpha = 10**4, 0.1
    epsilon = budgets.smallest_epsilon(DiscretisedMeans.calibrated, users, alpha, tail="exact")
    for factor, enough in ((1 + 1e-9, True), (1 - 1e-9, False)):
        deviation = alpha * users / 2 * DiscretisedMeans.calibrated(epsilon * factor).gain
        tail = 2 * stats.binom(users, 0.5).sf(np.ceil((users + deviation) / 2) - 1)
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
    even = gaps.GroupGap(LaplaceMeans.calibrated(6.0), (100, 9900)).worst_variance()
    assert gaps.GroupGap(best, (100, 9900)).worst_variance() < 0.95 * even


def test_bad_input_is_refused_by_name_rule_and_value() -> None:
    with pytest.raises(ValueError, match=r"failure must lie in \(0, 1\), got failure=1.0"):
        budgets.smallest_epsilon(DiscretisedMeans.calibrated, 4, 0.1, failure=1.0)
    with pytest.raises(ValueError, match="deviation must be > 0"):
        tails.chebyshev(1.0, -1.0)
