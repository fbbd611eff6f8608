"""Information, lower bounds and exact risks: reference numbers, identities, and where a bound holds."""

import json
from collections.abc import Callable
from pathlib import Path

import flint
import numpy as np
import pytest
import sympy
from scipy.integrate import quad

from ldpnb.accuracy import exact_risk, information, lower_bounds
from ldpnb.accuracy.exact_risk import TwoValues
from ldpnb.accuracy.information import SymmetricDirichlet
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.arithmetic import Symbol
from ldpnb.estimators.frequency import project_simplex, unbiased
from ldpnb.estimators.likelihood import krr_mle
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.subsets import SubsetSelection

CASES = json.loads((Path(__file__).parents[1] / "reference/002.json").read_text())["cases"]


def cases(name: str) -> list[dict]:
    return [case for case in CASES if case["fn"] == name]


@pytest.mark.parametrize("case", cases("matrices"), ids=lambda c: c["protocol"])
def test_information_matrices_meet_the_reference(case: dict) -> None:
    make = KaryRandomisedResponse if case["protocol"] == "RR" else UnaryEncoding.optimised
    channel = make(case["eps"], case["a"]).channel()
    told = information.fisher_information(channel, case["p"])
    assert told.ravel() == pytest.approx(case["J"], rel=1e-9)
    assert np.linalg.slogdet(told)[1] == pytest.approx(case["logdetJ"], rel=1e-9)
    covariance = information.conditional_covariance(channel, case["p"])
    assert np.linalg.slogdet(covariance)[1] == pytest.approx(case["logdetC"], rel=1e-9)
    assert information.distribution_error(channel, case["p"]) == pytest.approx(case["nMSE_P_eff"], rel=1e-9)
    assert information.frequency_error(channel, case["p"]) == pytest.approx(case["nMSE_F_eff"], rel=1e-9)


@pytest.mark.parametrize("case", cases("bounds"), ids=lambda c: str(c["a"]))
def test_bounds_meet_the_reference(case: dict) -> None:
    size, epsilon = case["a"], case["eps"]
    bounds, prior = LowerBounds(size, epsilon), SymmetricDirichlet(size)
    found = {
        "paper_P": bounds.distribution(),
        "improved_any_prior_P": bounds.any_channel(),
        "tstar": max(bounds.uniform_information(k) for k in range(1, size)),
        "rec_F_exp_a": bounds.frequency(),
        "rec_F_exp_1": bounds.frequency("sharp"),
        "kappa": EntropyBounds(size).factor(),
        "uniform_opt_P": bounds.uniform_optimum(),
        "uniform_opt_k": SubsetSelection.optimal(epsilon, size).subset_size,
        "FO_RR_nMSE_F": information.unbiased_frequency_error(KaryRandomisedResponse(epsilon, size)),
        "FO_OUE_nMSE_F": information.unbiased_frequency_error(UnaryEncoding.optimised(epsilon, size)),
        "FO_SUE_nMSE_F": information.unbiased_frequency_error(UnaryEncoding.symmetric(epsilon, size)),
        "jeffreys_entropy": prior.entropy(),
        "jeffreys_1_minus_EP2": prior.diversity(),
        "jeffreys_E_sumlogP": prior.log_sum(),
    }
    assert found == pytest.approx({key: case[key] for key in found}, rel=1e-9)


@pytest.mark.parametrize("case", cases("anyQ_lower_bound_at_p"))
def test_the_bound_for_any_channel_meets_the_reference(case: dict) -> None:
    found = lower_bounds.any_channel_bound_at(case["p"], case["eps"])
    assert found == pytest.approx((case["nMSE_P"], case["nMSE_F"]), rel=1e-9)


@pytest.mark.parametrize("case", cases("prop46"))
def test_warners_errors_meet_the_reference(case: dict) -> None:
    error = information.unbiased_frequency_error(KaryRandomisedResponse(case["eps"], 2))
    assert error == pytest.approx(case["nMSE_F"], rel=1e-9)
    assert error + SymmetricDirichlet(2).diversity() == pytest.approx(case["nMSE_P"], rel=1e-9)


@pytest.mark.parametrize("case", cases("exact_risk_rr_dirichlet"), ids=lambda c: str(c["a"]))
def test_exact_risks_meet_the_reference(case: dict) -> None:
    mechanism, users = KaryRandomisedResponse(case["eps"], case["a"]), case["n"]
    estimators = {
        "mle": lambda s: krr_mle(s, epsilon=case["eps"]),
        "normsub": lambda s: project_simplex(unbiased(s, users, mechanism)),
        "fo": lambda s: unbiased(s, users, mechanism),
    }
    found = exact_risk.exact_risks(mechanism.channel(), users, np.full(case["a"], case["alpha"]), estimators)
    for name, risk in found.items():
        key = "opt" if name == "Bayes" else name
        assert risk.distribution == pytest.approx(case["MSE_P"][key], rel=1e-9)
        assert risk.frequency == pytest.approx(case["MSE_F"][key], rel=1e-9)


@pytest.mark.parametrize("case", cases("a2_rr_jeffreys_exact"), ids=lambda c: str(c["n"]))
def test_exact_binary_risks_and_entropies_meet_the_reference(case: dict) -> None:
    risk = TwoValues(case["n"], case["eps"]).risk()
    assert risk.distribution == pytest.approx(case["MSE_P"], rel=1e-9)
    assert risk.frequency == pytest.approx(case["MSE_F"], rel=1e-9)
    entropy, tallies = TwoValues(case["n"], case["eps"]).entropies()
    assert tallies == pytest.approx(case["H_T_given_Y"], rel=1e-9)
    midpoint_error = np.log(2) / 20_001
    assert entropy == pytest.approx(case["h_P_given_Y"] - midpoint_error, rel=1e-9)


def test_the_entropy_of_one_users_posterior_is_its_integral() -> None:
    chance = KaryRandomisedResponse(1.0, 2).p

    def minus_plogp(u: float) -> float:
        p = np.sin(u) ** 2
        likelihood = 2 * ((2 * chance - 1) * p + 1 - chance)
        return -likelihood * 2 / np.pi * np.log(likelihood / (np.pi * np.sqrt(p * (1 - p))))

    by_quadrature = quad(minus_plogp, 0, np.pi / 2, epsabs=1e-12, limit=400)[0]
    assert TwoValues(1, 1.0).entropies()[0] == pytest.approx(by_quadrature, abs=1e-9)


def test_determinants_of_information_and_covariance_are_tied() -> None:
    point, channel = np.array([0.5, 0.3, 0.2]), UnaryEncoding.optimised(1.0, 3).channel()
    own = np.diag(point[:2]) - np.outer(point[:2], point[:2])
    told, left = information.fisher_information(channel, point), information.conditional_covariance(channel, point)
    assert left == pytest.approx(own - own @ told @ own, rel=1e-12)
    assert np.linalg.det(left) / np.linalg.det(own) / np.linalg.det(told) == pytest.approx(
        np.linalg.det(np.linalg.inv(told) - own), rel=1e-9
    )


@pytest.mark.parametrize("size", [2, 3, 4, 10, 11, 1024])
def test_the_optimum_at_strong_privacy_is_four_times_the_published_bound(size: int) -> None:
    limit = 4 * (size - 1) ** 2 / size if size % 2 == 0 else 4 * size * (size - 1) / (size + 1)
    assert 1e-8 * LowerBounds(size, 1e-4).uniform_optimum() == pytest.approx(limit, rel=1e-3)
    assert 1e-8 * LowerBounds(size, 1e-4).any_channel() == pytest.approx(limit, rel=1e-3)


def test_the_bound_of_theorem_4_5_is_no_bound_for_few_users() -> None:
    bound = LowerBounds(2, 0.5).distribution()
    scaled = {n: n * TwoValues(n, 0.5).risk().distribution for n in (10, 50, 60, 400)}
    assert scaled[10] < scaled[50] < bound < scaled[60] < scaled[400]


@pytest.mark.parametrize("users", [1, 5, 10, 20])
def test_the_bound_for_any_number_of_users_holds_where_the_others_fail(users: int) -> None:
    assert LowerBounds(2, 0.5).finite_users(users) < TwoValues(users, 0.5).risk().distribution


def test_the_frequency_bound_breaks_at_ten_users_and_its_repair_does_not() -> None:
    entropy, error = TwoValues(10, 12.0).entropies()[1], TwoValues(10, 12.0).risk().frequency
    assert error == pytest.approx(1.2288e-6, rel=1e-4)
    assert EntropyBounds(2).frequency(entropy, 10, jitter=False) > 900 * error
    assert EntropyBounds(2).frequency(entropy, 10, jitter=True) < 0


def test_thousands_of_users_do_not_underflow() -> None:
    found = TwoValues(3000, 3.0).posteriors()
    assert found.chances.sum() == pytest.approx(1, abs=1e-9)
    assert (np.diff(found.means) > 0).all()


def test_compositions_are_all_there_is() -> None:
    rows = exact_risk.compositions(5, 4)
    assert len(np.unique(rows, axis=0)) == 56
    assert (rows.sum(axis=1) == 5).all()


def test_the_closed_forms_of_krr_are_those_of_its_channel() -> None:
    point = np.random.default_rng(30).dirichlet(np.ones(30))
    channel = KaryRandomisedResponse(1.3, 30).channel()
    determinant = np.linalg.slogdet(information.fisher_information(channel, point))[1]
    assert information.krr_log_det_information(point, epsilon=1.3) == pytest.approx(determinant, rel=1e-9)
    plain = information.unbiased_frequency_error(KaryRandomisedResponse(1.3, 30))
    assert information.frequency_error(channel, point) == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("size", [2, 3, 10, 57, 1001])
@pytest.mark.parametrize("epsilon", [1e-8, 1e-6, 0.1, 1.0, 3.7, 8.0, 60.0])
def test_no_other_subset_size_does_better_at_the_uniform_distribution(size: int, epsilon: float) -> None:
    bounds = LowerBounds(size, epsilon)
    told = [bounds.uniform_information(count) for count in range(1, size)]
    assert told[SubsetSelection.optimal(epsilon, size).subset_size - 1] == max(told)
    assert bounds.uniform_optimum() == (size - 1) ** 2 / max(told)
    assert np.isfinite([bounds.distribution(), bounds.uniform_optimum(), bounds.finite_users(1)]).all()


CLOSED = {
    "ceiling": lambda epsilon: LowerBounds(7, epsilon).log_information_ceiling(),
    "floor": lambda epsilon: LowerBounds(7, epsilon).log_covariance_floor("sharp"),
    "distribution": lambda epsilon: LowerBounds(7, epsilon).distribution(),
    "frequency": lambda epsilon: LowerBounds(7, epsilon).frequency(),
    "any channel": lambda epsilon: LowerBounds(7, epsilon).any_channel(),
    "uniform": lambda epsilon: LowerBounds(7, epsilon).uniform_information(2),
    "k-RR": lambda epsilon: information.unbiased_frequency_error(KaryRandomisedResponse(epsilon, 7)),
    "OUE": lambda epsilon: information.unbiased_frequency_error(UnaryEncoding.optimised(epsilon, 7)),
    "SUE": lambda epsilon: information.unbiased_frequency_error(UnaryEncoding.symmetric(epsilon, 7)),
    "subsets": lambda epsilon: information.unbiased_frequency_error(SubsetSelection(epsilon, 7, 3)),
    "loss": lambda epsilon: UnaryEncoding.symmetric(epsilon, 7).epsilon,
    "entropy": lambda entropy: EntropyBounds(7).distribution(entropy),
    "tallies": lambda entropy: EntropyBounds(7).frequency(entropy, 12, jitter=True),
    "limits": lambda constant: EntropyBounds(7).limits(constant, 1.0)[0],
    "asymptotic": lambda constant: EntropyBounds(7).asymptotic(constant, 1.0)[0],
    "diversity": lambda alpha: SymmetricDirichlet(7, alpha).diversity(),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms_give_the_same_on_floats_balls_and_symbols(name: str) -> None:
    number, x = CLOSED[name](1.5), sympy.symbols("x", positive=True)
    assert abs(CLOSED[name](flint.arb("1.5")) / number - 1) < 1e-12
    assert float(CLOSED[name](Symbol(x)).expression.subs(x, 1.5)) == pytest.approx(float(number), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LowerBounds(1, 1.0), "domain_size must be an integer >= 2, got domain_size=1"),
        (lambda: LowerBounds(3, 0.0), "epsilon must be > 0"),
        (lambda: LowerBounds(3, 1.0).frequency("sharpest"), "form must be one of published, sharp"),  # type: ignore[arg-type]
        (lambda: LowerBounds(3, 1.0).finite_users(0), "users must be an integer >= 1, got users=0"),
        (lambda: EntropyBounds(1), "domain_size must be an integer >= 2"),
        (lambda: SymmetricDirichlet(3, 0.0), "concentration must be > 0"),
        (lambda: TwoValues(0, 1.0), "users must be an integer >= 1, got users=0"),
        (lambda: TwoValues(3, -1.0), "epsilon must be > 0"),
        (lambda: information.fisher_information(np.eye(2), [0.5, 0.6]), "distribution must sum to 1"),
        (lambda: lower_bounds.any_channel_bound_at([0.5, 0.6], 1.0), "distribution must sum to 1"),
        (lambda: exact_risk.exact_risks(np.full((8, 3), 1 / 8), 40, np.ones(3), {}), "users must be few for 8 outputs"),
        (lambda: exact_risk.exact_risks(np.eye(2), 0, [0.5, 0.5], {}), "users must be an integer >= 1, got users=0"),
        (lambda: exact_risk.exact_risks(np.eye(2), 200_000, [0.5, 0.5], {}), "users must be few for 2 outputs"),
    ],
)
def test_arguments_out_of_range_are_refused_by_name(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
