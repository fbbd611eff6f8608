"""Errors, bounds and budgets are the values of a reference computed elsewhere."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb.accuracy import (
    budgets,
    distances,
    exact_risk,
    gaps,
    histograms,
    information,
    lower_bounds,
    means,
    personalised,
)
from ldpnb.accuracy.exact_risk import TwoValues
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.accuracy.information import SymmetricDirichlet
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.data import synthetic
from ldpnb.estimators.frequency import project_simplex, unbiased
from ldpnb.estimators.likelihood import krr_mle
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.biswas2022 import displayed

FOLDER = Path(__file__).parents[1] / "reference"
CASES = json.loads((FOLDER / "000_003_004.json").read_text())["cases"]
FREQUENCIES = json.loads((FOLDER / "002.json").read_text())["cases"]

Inputs = dict[str, Any]


def survey(i: Inputs, data: str = "fixed") -> SampledCounts:
    mechanism = KaryRandomisedResponse(float(i["eps"]), i["d"] if "d" in i else i["N"] + 1)
    return SampledCounts(i["n"], i["pi"], mechanism, data)


def held(i: Inputs) -> float:
    return i["n_i"] if "n_i" in i else i["n"] * i["f"]


def distance(i: Inputs) -> float:
    variances = survey(i).variance_realised_size(i["n"] * synthetic.binomial(i["N"], 0.5))
    return distances.expected_total_variation(np.sqrt(variances), users=i["n"])


def two_levels(i: Inputs) -> tuple[PersonalRates, list[int]]:
    sizes, rates = [i["n_i_lo"] + i["n_o_lo"], i["n_i_hi"] + i["n_o_hi"]], [i["pi_lo"], i["pi_hi"]]
    return PersonalRates(sizes, rates, KaryRandomisedResponse(float(i["eps"]), i["d"])), [i["n_i_lo"], i["n_i_hi"]]


def two_groups_mean(i: Inputs) -> float:
    others = i["n"] - i["n_i"]
    rate = (i["pibar"] * i["n"] - i["pibar_i"] * i["n_i"]) / others
    rates = PersonalRates([i["n_i"], others], [i["pibar_i"], rate], KaryRandomisedResponse(1.0, 4))
    return rates.mean([i["n_i"], 0])


def best_rates(i: Inputs) -> float:
    noises = [personalised.report_noise(KaryRandomisedResponse(float(i[e]), i["d"])) for e in ("eps1", "eps2")]
    sizes = [i["n1"], i["n2"]]
    rates = personalised.optimal_rates(noises=noises, costs=[1, 1], sizes=sizes, budget=i["B"])
    return personalised.rare_variance_horvitz_thompson(noises=noises, sizes=sizes, rates=rates)


def gap_variance(i: Inputs) -> float:
    chosen = (i["eps1"], i["eps2"])
    mechanism = LaplaceMeans(*chosen, i["k"]) if "k" in i else DiscretisedMeans(*chosen)
    first = round(i["K"] * i["share"])
    return GroupGap(mechanism, (first, i["K"] - first)).variance((i["nu2"], i["nu2"]))


def budget(family: Callable[[float], Any], tail: str, i: Inputs) -> float:
    return budgets.smallest_epsilon(family, int(i["K"]), i["alpha"], tail=tail)


def halved_bound(family: Callable[[float], Any], i: Inputs) -> float:
    return GroupGap.of_halves(family(i["eps"]), int(i["K"])).error_bound() / 2


def bit_budget(i: Inputs) -> float:
    return budget(partial(SignedBit, sizes=(i["K"] // 2, i["K"] // 2)), "chebyshev", i)


VALUES: dict[str, Callable[[Inputs], Any]] = {
    "cDE_bias_fixed": lambda i: survey(i).bias_unadjusted(held(i)),
    "var_g_fixed": lambda i: survey(i).variance_rescaled(held(i)),
    "var_chat_fixed": lambda i: survey(i).variance_realised_size(held(i)),
    "var_hajek_fixed_approx": lambda i: survey(i).variance_ratio(held(i)),
    "var_g_iid": lambda i: survey(i, "iid").variance_rescaled(held(i)),
    "var_chat_iid": lambda i: survey(i, "iid").variance_realised_size(held(i)),
    "var_g_minus_var_chat": lambda i: survey(i).variance_gain(held(i)),
    "paper_thm35_var_chat": lambda i: displayed.variance_realised_size(survey(i), held(i)),
    "varstar_g": lambda i: survey(i).rare_variance_rescaled,
    "varstar_chat": lambda i: survey(i).rare_variance_realised_size,
    "expected_raw_TV_binomial": distance,
    "HT_var_two_levels": lambda i: two_levels(i)[0].variance_horvitz_thompson(two_levels(i)[1]),
    "T_var_two_levels": lambda i: two_levels(i)[0].variance(two_levels(i)[1]),
    "T_mean_two_groups": two_groups_mean,
    "opt_pi_two_eps_varstar": best_rates,
    "RR_mean_var": lambda i: means.warner_variance(i["eps"], i["n"]),
    "onebit_var_worst": lambda i: means.worst_variance(OneBit(i["eps"], i["m"]), i["n"]),
    "local_laplace_var": lambda i: means.worst_variance(LocalLaplace(i["eps"], i["m"]), i["n"]),
    "central_laplace_err_quantile": lambda i: means.certain_error(CentralLaplace(i["eps"], i["m"]), i["n"], i["beta"]),
    "local_laplace_n_normal": lambda i: means.users_needed(LocalLaplace(i["eps"], i["m"]), i["alpha"], 0.01),
    "onebit_n_normal": lambda i: means.users_needed(OneBit(i["eps"], i["m"]), i["alpha"], 0.01),
    "freq_randomiser_var": lambda i: histograms.sign_variance(i["f"], users=i["n"], bias=i["c"]),
    "var_gap_R": gap_variance,
    "var_gap_L": gap_variance,
    "abs_gap_bias": lambda i: float(gaps.absolute_gap_bias(i["sd"], i["gap"])),
    "misestimated_n_bias": lambda i: gaps.misestimated_gap_bias((1 + i["delta"], 1 - i["delta"]), (i["mG"], i["mH"])),
    "table1_R_paper": partial(budget, DiscretisedMeans.published, "chebyshev"),
    "table1_L_paper": partial(budget, LaplaceMeans.published, "chebyshev"),
    "table1_R_corrected": partial(budget, DiscretisedMeans.calibrated, "chebyshev"),
    "table1_L_k2": partial(budget, LaplaceMeans.calibrated, "chebyshev"),
    "table1_R_hoeffding": partial(budget, DiscretisedMeans.calibrated, "hoeffding"),
    "table1_R_normal": partial(budget, DiscretisedMeans.calibrated, "normal"),
    "table1_L_k2_normal": partial(budget, LaplaceMeans.calibrated, "normal"),
    "table1_L_k2_chernoff": partial(budget, LaplaceMeans.calibrated, "chernoff"),
    "onebit_signed_RR_eps": bit_budget,
    "table1_R_own_config_true_eps": lambda i: (
        DiscretisedMeans.published(budget(DiscretisedMeans.published, "chebyshev", i)).epsilon
    ),
    "table2_alpha_R": partial(halved_bound, DiscretisedMeans.published),
    "table2_alpha_L": partial(halved_bound, LaplaceMeans.published),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_the_reference(name: str) -> None:
    cases = [case for case in CASES if case["fn"] == name]
    assert cases
    for case in cases:
        precision = 1e-9 if case.get("digits", 10) == 10 else 5e-9
        assert VALUES[name](case["inputs"]) == pytest.approx(float(case["value"]), rel=precision)


def matrices(case: Inputs) -> dict[str, Any]:
    make = KaryRandomisedResponse if case["protocol"] == "RR" else UnaryEncoding.optimised
    channel, point = make(case["eps"], case["a"]).channel(), case["p"]
    told = information.fisher_information(channel, point)
    return {
        "J": told.ravel().tolist(),
        "logdetJ": np.linalg.slogdet(told)[1],
        "logdetC": np.linalg.slogdet(information.conditional_covariance(channel, point))[1],
        "nMSE_P_eff": information.distribution_error(channel, point),
        "nMSE_F_eff": information.frequency_error(channel, point),
    }


def bounds(case: Inputs) -> dict[str, Any]:
    size, epsilon = case["a"], case["eps"]
    all_channels, prior = LowerBounds(size, epsilon), SymmetricDirichlet(size)
    return {
        "paper_P": all_channels.distribution(),
        "improved_any_prior_P": all_channels.any_channel(),
        "tstar": max(all_channels.uniform_information(k) for k in range(1, size)),
        "rec_F_exp_a": all_channels.frequency(),
        "rec_F_exp_1": all_channels.frequency("sharp"),
        "kappa": EntropyBounds(size).factor(),
        "uniform_opt_P": all_channels.uniform_optimum(),
        "uniform_opt_k": SubsetSelection.optimal(epsilon, size).subset_size,
        "FO_RR_nMSE_F": information.unbiased_frequency_error(KaryRandomisedResponse(epsilon, size)),
        "FO_OUE_nMSE_F": information.unbiased_frequency_error(UnaryEncoding.optimised(epsilon, size)),
        "FO_SUE_nMSE_F": information.unbiased_frequency_error(UnaryEncoding.symmetric(epsilon, size)),
        "jeffreys_entropy": prior.entropy(),
        "jeffreys_1_minus_EP2": prior.diversity(),
        "jeffreys_E_sumlogP": prior.log_sum(),
    }


def any_channel(case: Inputs) -> dict[str, Any]:
    return dict(zip(("nMSE_P", "nMSE_F"), lower_bounds.any_channel_bound_at(case["p"], case["eps"]), strict=True))


def warner(case: Inputs) -> dict[str, Any]:
    error = information.unbiased_frequency_error(KaryRandomisedResponse(case["eps"], 2))
    return {"nMSE_F": error, "nMSE_P": error + SymmetricDirichlet(2).diversity()}


def enumerated(case: Inputs) -> dict[str, Any]:
    mechanism, users = KaryRandomisedResponse(case["eps"], case["a"]), case["n"]
    estimators = {
        "mle": lambda s: krr_mle(s, epsilon=case["eps"]),
        "normsub": lambda s: project_simplex(unbiased(s, users, mechanism)),
        "fo": lambda s: unbiased(s, users, mechanism),
    }
    risks = exact_risk.exact_risks(mechanism.channel(), users, np.full(case["a"], case["alpha"]), estimators)
    risks["opt"] = risks.pop("Bayes")
    by_target = {"MSE_P": "distribution", "MSE_F": "frequency"}
    return {key: {name: getattr(risks[name], target) for name in case[key]} for key, target in by_target.items()}


def binary(case: Inputs) -> dict[str, Any]:
    two = TwoValues(case["n"], case["eps"])
    entropy, tallies = two.entropies()
    midpoint_error = np.log(2) / 20_001  # of the reference's own integral
    risk = {"MSE_P": two.risk().distribution, "MSE_F": two.risk().frequency}
    return risk | {"H_T_given_Y": tallies, "h_P_given_Y": entropy + midpoint_error}


SETS: dict[str, Callable[[Inputs], dict[str, Any]]] = {
    "matrices": matrices,
    "bounds": bounds,
    "anyQ_lower_bound_at_p": any_channel,
    "prop46": warner,
    "exact_risk_rr_dirichlet": enumerated,
    "a2_rr_jeffreys_exact": binary,
}


@pytest.mark.parametrize("name", SETS)
def test_bounds_and_risks_of_frequencies_are_those_of_the_reference(name: str) -> None:
    cases = [case for case in FREQUENCIES if case["fn"] == name]
    assert cases
    for case in cases:
        for key, value in SETS[name](case).items():
            assert value == pytest.approx(case[key], rel=1e-9), key
