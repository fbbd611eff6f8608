"""Information, lower bounds and exact risks: reference numbers, identities, and where a bound holds."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from ldpnb.accuracy import exact_risk, information, lower_bounds
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
    optimum, subset = lower_bounds.uniform_optimum(size, epsilon)
    found = {
        "paper_P": lower_bounds.distribution_bound(size, epsilon),
        "improved_any_prior_P": lower_bounds.any_channel_bound(size, epsilon),
        "tstar": max(lower_bounds.uniform_information(size, epsilon, k) for k in range(1, size)),
        "rec_F_exp_a": lower_bounds.frequency_bound(size, epsilon),
        "rec_F_exp_1": lower_bounds.frequency_bound(size, epsilon, form="sharp"),
        "kappa": lower_bounds.hyperplane_factor(size),
        "uniform_opt_P": optimum,
        "uniform_opt_k": subset,
        "FO_RR_nMSE_F": information.unbiased_frequency_error(KaryRandomisedResponse(epsilon, size)),
        "FO_OUE_nMSE_F": information.unbiased_frequency_error(UnaryEncoding.optimised(epsilon, size)),
        "FO_SUE_nMSE_F": information.unbiased_frequency_error(UnaryEncoding.symmetric(epsilon, size)),
        "jeffreys_entropy": information.dirichlet_entropy(size),
        "jeffreys_1_minus_EP2": information.dirichlet_diversity(size),
        "jeffreys_E_sumlogP": information.dirichlet_log_sum(size),
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
    assert error + information.dirichlet_diversity(2) == pytest.approx(case["nMSE_P"], rel=1e-9)


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
    risk = exact_risk.binary_risk(case["n"], case["eps"])
    assert risk.distribution == pytest.approx(case["MSE_P"], rel=1e-9)
    assert risk.frequency == pytest.approx(case["MSE_F"], rel=1e-9)
    entropy, tallies = exact_risk.binary_entropies(case["n"], case["eps"])
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
    assert exact_risk.binary_entropies(1, 1.0)[0] == pytest.approx(by_quadrature, abs=1e-9)


@pytest.mark.parametrize("size", [2, 5, 30])
def test_the_closed_determinant_of_krr_is_the_determinant(size: int) -> None:
    point = np.random.default_rng(size).dirichlet(np.ones(size))
    told = information.fisher_information(KaryRandomisedResponse(1.3, size).channel(), point)
    assert information.krr_log_det_information(point, epsilon=1.3) == pytest.approx(
        np.linalg.slogdet(told)[1], rel=1e-9
    )


def test_determinants_of_information_and_covariance_are_tied() -> None:
    point, channel = np.array([0.5, 0.3, 0.2]), UnaryEncoding.optimised(1.0, 3).channel()
    own = np.diag(point[:2]) - np.outer(point[:2], point[:2])
    told, left = information.fisher_information(channel, point), information.conditional_covariance(channel, point)
    assert left == pytest.approx(own - own @ told @ own, rel=1e-12)
    assert np.linalg.det(left) / np.linalg.det(own) / np.linalg.det(told) == pytest.approx(
        np.linalg.det(np.linalg.inv(told) - own), rel=1e-9
    )


def test_the_unbiased_krr_estimate_is_efficient() -> None:
    mechanism, point = KaryRandomisedResponse(2.0, 4), np.array([0.4, 0.3, 0.2, 0.1])
    plain = information.unbiased_frequency_error(mechanism)
    assert information.frequency_error(mechanism.channel(), point) == pytest.approx(plain, rel=1e-9)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.integers(2, 5), st.floats(0.05, 5), st.integers(0, 10**6))
def test_no_subset_selection_beats_the_bound_for_any_channel(size: int, epsilon: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    point = np.maximum(rng.dirichlet(np.full(size, 0.5)), 1e-6)
    point /= point.sum()
    channel = SubsetSelection(epsilon, size, int(rng.integers(1, size))).channel()
    bound, fewer = lower_bounds.any_channel_bound_at(point, epsilon)
    assert information.distribution_error(channel, point) >= bound * (1 - 1e-9)
    assert information.frequency_error(channel, point) >= fewer - 1e-9 * bound
    assert bound >= lower_bounds.any_channel_bound(size, epsilon) * (1 - 1e-9)
    assert lower_bounds.any_channel_bound(size, epsilon) >= lower_bounds.distribution_bound(size, epsilon) * (1 - 1e-12)


@pytest.mark.parametrize("size", [2, 3, 4, 10, 11, 1024])
def test_the_optimum_at_strong_privacy_is_four_times_the_published_bound(size: int) -> None:
    limit = 4 * (size - 1) ** 2 / size if size % 2 == 0 else 4 * size * (size - 1) / (size + 1)
    assert 1e-8 * lower_bounds.uniform_optimum(size, 1e-4)[0] == pytest.approx(limit, rel=1e-3)
    assert 1e-8 * lower_bounds.any_channel_bound(size, 1e-4) == pytest.approx(limit, rel=1e-3)


def test_the_bound_of_theorem_4_5_is_no_bound_for_few_users() -> None:
    bound = lower_bounds.distribution_bound(2, 0.5)
    scaled = {n: n * exact_risk.binary_risk(n, 0.5).distribution for n in (10, 50, 60, 400)}
    assert scaled[10] < scaled[50] < bound < scaled[60] < scaled[400]


@pytest.mark.parametrize("users", [1, 5, 10, 20])
def test_the_bound_for_any_number_of_users_holds_where_the_others_fail(users: int) -> None:
    assert lower_bounds.finite_users_bound(2, users, 0.5) < exact_risk.binary_risk(users, 0.5).distribution


def test_the_frequency_bound_breaks_at_ten_users_and_its_repair_does_not() -> None:
    entropy, error = exact_risk.binary_entropies(10, 12.0)[1], exact_risk.binary_risk(10, 12.0).frequency
    assert error == pytest.approx(1.2288e-6, rel=1e-4)
    assert lower_bounds.frequency_bound_from_entropy(entropy, 2, 10, jitter=False) > 900 * error
    assert lower_bounds.frequency_bound_from_entropy(entropy, 2, 10, jitter=True) < 0


@pytest.mark.parametrize("concentration", [0.5, 1.0, 3.0])
def test_two_routes_to_the_binary_risk_agree(concentration: float) -> None:
    channel = KaryRandomisedResponse(1.0, 2).channel()
    long = exact_risk.exact_risks(channel, 12, [concentration] * 2, {})["Bayes"]
    short = exact_risk.binary_risk(12, 1.0, concentration)
    assert (short.distribution, short.frequency) == pytest.approx((long.distribution, long.frequency), rel=1e-9)


def test_thousands_of_users_do_not_underflow() -> None:
    found = exact_risk.binary_posteriors(3000, 3.0)
    assert found.chances.sum() == pytest.approx(1, abs=1e-9)
    assert (np.diff(found.means) > 0).all()


def test_compositions_are_all_there_is() -> None:
    rows = exact_risk.compositions(5, 4)
    assert len(np.unique(rows, axis=0)) == 56
    assert (rows.sum(axis=1) == 5).all()


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_bounds_are_finite_at_both_ends_of_epsilon(epsilon: float) -> None:
    values = [lower_bounds.distribution_bound(10, epsilon), lower_bounds.uniform_optimum(10, epsilon)[0]]
    values += [information.unbiased_frequency_error(UnaryEncoding.optimised(epsilon, 10))]
    assert np.isfinite(values).all()
    assert min(values) > 0


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="domain_size must be an integer >= 2, got domain_size=1"):
        lower_bounds.distribution_bound(1, 1.0)
    with pytest.raises(ValueError, match="epsilon must be > 0"):
        lower_bounds.any_channel_bound(3, 0.0)
    with pytest.raises(ValueError, match="form must be one of published, sharp"):
        lower_bounds.frequency_bound(3, 1.0, form="sharpest")
    with pytest.raises(ValueError, match="distribution must sum to 1"):
        information.fisher_information(np.eye(2), [0.5, 0.6])
    with pytest.raises(ValueError, match="users must be few for 8 outputs, got users=40"):
        exact_risk.exact_risks(np.full((8, 3), 1 / 8), 40, np.ones(3), {})


@pytest.mark.parametrize("size", [2, 3, 10, 57, 1001])
@pytest.mark.parametrize("epsilon", [1e-8, 0.1, 1.0, 3.7, 8.0, 60.0])
def test_no_other_subset_size_does_better_at_the_uniform_distribution(size: int, epsilon: float) -> None:
    told = [lower_bounds.uniform_information(size, epsilon, count) for count in range(1, size)]
    error, subset = lower_bounds.uniform_optimum(size, epsilon)
    assert told[subset - 1] == max(told)
    assert error == (size - 1) ** 2 / max(told)
