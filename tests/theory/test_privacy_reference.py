"""Every reference value of amplification by sampling, shuffling and hockey-stick divergences, to nine digits."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb.designs import samples, sizes
from ldpnb.designs import strata as stratified
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.privacy import clusters, data_dependent, lemmas, participation, random_size, rounding, subsampling, unequal
from ldpnb.privacy.hockey_stick import laplace_means_delta
from ldpnb.privacy.shuffling import ShuffledReports, closed_form, gaussian_deviation

REFERENCE = Path(__file__).parents[1] / "reference"
CASES, OTHERS = (json.loads((REFERENCE / name).read_text())["cases"] for name in ("001.json", "000_003_004.json"))


def size_law(kind: str, n: int, **given: Any) -> sizes.SizeLaw:
    return {
        "point": lambda m: sizes.fixed_size(m, n),
        "pmf": lambda p: sizes.size_law({int(m): chance for m, chance in p.items()}, n),
        "uniform": lambda: sizes.size_law(np.full(n + 1, 1 / (n + 1))),
        "binomial": lambda q: sizes.binomial_size(n, q),
        "gauss": lambda mu, sd: sizes.truncated_gaussian_size(n, mu, sd),
    }[kind](**given)


def random_sizes(eps: float, n: int, t: dict[str, Any]) -> dict[str, float]:
    law = size_law(n=n, **t)
    return {
        "tilted_mean_over_n": random_size.tilted_rate(law, eps),
        "lower": random_size.random_size_lower_bound(law, eps),
        "lower_pm1": random_size.random_size_lower_bound_pm1(law, eps),
        "upper": random_size.random_size_upper_bound(law, eps),
        "exact": random_size.random_size_loss(law, eps),
    }


def randomised_rounding(eps: float, r: float) -> dict[str, float]:
    return {
        "product_form_6": rounding.random_rounding_bound(r, eps),
        "product_form_7": rounding.random_rounding_bound(r, eps, pairs_within=3),
        "tight_chain": rounding.random_rounding_chain_bound(r, eps),
        "sup_over_n_exact_conjectured": rounding.random_rounding_loss_supremum(r, eps),
        "small_eps_slope": rounding.random_rounding_loss_supremum(r, 1e-12) / 1e-12,
    }


def whole_clusters(sizes: list[int], m: int, eps: float) -> dict[str, float]:
    design = clusters.ClusterSample(sizes, m)
    return {
        "exact_deletion": design.loss(eps),
        "exact_replacement": design.loss(eps, neighbours="replacement"),
        "lower_nmin": design.lower_bound(eps),
        "upper_nmax": design.upper_bound(eps),
        "srs_eq3": subsampling.srs_loss(eps, m / len(sizes)),
    }


def identification(p: float, beta: float, ehat: float, eps: float) -> dict[str, float]:
    given = {"confusion": beta, "sampling_rate": p}
    return {
        "strong": clusters.identified_cluster_loss_lower_bound(ehat, **given),
        "weak": clusters.identified_cluster_loss_weak_bound(ehat, **given, epsilon=eps),
    }


def inclusion(p: float, pp: float, mu1: float, mu1p: float, mu0: float, mu0p: float) -> dict[str, float]:
    case = unequal.Inclusion(p, pp, mu1, mu1p, mu0, mu0p)
    return {"eq4": case.loss_lower_bound(), "eq5": case.event_loss()}


def elements(sizes: list[int], m: int, eps: float) -> dict[str, float]:
    rates = samples.pps_rates(sizes, m)
    return {
        "p_max": rates.max(),
        "eq4": unequal.element_loss_weak_floor(rates, eps),
        "eq5": unequal.element_loss_floor(rates, eps),
    }


def systematic(n: int, k: int, eps: float) -> dict[str, float]:
    moves = product((0, n - 1), range(n + 1))
    return {
        "worst_replacement_exact": max(
            unequal.systematic_loss(range(n), old, new - 0.5, step=k, epsilon=eps) for old, new in moves
        ),
        "rank_preserving_exact": unequal.systematic_rank_preserving_loss(n // k, k, eps),
        "srs_same_size": subsampling.srs_loss(2 * eps, 1 / k),
    }


def allocation(strata: list[list[float]], m: int) -> dict[str, list[float]]:
    population = stratified.strata_of(strata)
    shares = stratified.neyman_shares(population.sizes, population.variances, m)
    return {"allocation_real": shares, "allocation_largest_remainder": stratified.largest_remainder(shares)}


def stratified_mean(strata: list[list[float]], ms: list[int]) -> dict[str, float]:
    population = stratified.strata_of(strata)
    return {
        "weighted_mean_expectation": stratified.weighted_mean(population.sizes, population.means),
        "variance": stratified.weighted_mean_variance(population.sizes, population.variances, ms),
    }


FORMULAS: dict[str, Callable[..., dict[str, Any]]] = {
    "thm22": lambda eps, m, n, delta=0.0: {
        "eps": subsampling.srs_loss(eps, m / n),
        "delta": subsampling.srs_delta(delta, m / n),
    },
    "thm22_inverse": lambda eps, m, n: {
        "mech_eps": subsampling.srs_budget(eps, m / n),
        "laplace_scale_proportion": subsampling.proportion_noise_scale(eps, m, n),
        "scale_without_amplification": subsampling.proportion_noise_scale(eps, m),
    },
    "thm31": random_sizes,
    "sec41": lambda eps, m, m2: {
        "loss": data_dependent.size_count_loss(m2 - m, eps),
        "max_dp_test_advantage": data_dependent.size_test_advantage(m2 - m, eps),
    },
    "adv_dp": lambda eps: {
        "tight": data_dependent.advantage_bound(eps),
        "weak": data_dependent.weak_advantage_bound(eps),
    },
    "prop42": lambda eps, eps2, Delta: {
        "alpha_two_point_abs": (alpha := data_dependent.two_point_error(Delta, eps2)),
        "lower_on_E_abs": data_dependent.size_error_lower_bound(alpha, eps),
        "lower_on_E_sq_given_alpha_sq": data_dependent.size_squared_error_lower_bound(alpha**2, eps),
    },
    "thm43": randomised_rounding,
    "thm43_exact_n": lambda eps, r, n: {"exact": rounding.random_rounding_loss(n, r, eps)},
    "thm43_inverse": lambda eps_target, r: {
        "mech_eps_from_exact_sup": rounding.random_rounding_budget(eps_target, r),
        "mech_eps_from_tight_chain": rounding.random_rounding_chain_budget(eps_target, r),
    },
    "cluster": whole_clusters,
    "thm53": identification,
    "prop61": inclusion,
    "pps_element": elements,
    "pps_cluster": lambda sizes, eps: {"exact_deletion_cluster0": unequal.pps_cluster_loss(sizes, eps)},
    "systematic": systematic,
    "neyman": allocation,
    "weighted_mean": stratified_mean,
    "lemmaA4": lambda p, e0, e1: {
        "tight": lemmas.mixture_loss(p, common=e0, other=e1),
        "product_form": lemmas.mixture_loss_product_form(p, common=e0, other=e1),
    },
    "lemmaB1": lambda eps, n, m: {
        "same_m_insert_one": lemmas.inserted_record_loss(m, n, eps),
        "m_vs_m_plus_1": lemmas.coupled_loss(1, eps),
    },
    "lemmaB3": lambda t, f, eps: {"max_ratio": lemmas.largest_tilted_mean(t, f, eps)},
    "multistage": lambda sizes, m, eps, q: {
        "eps_after_poisson": subsampling.srs_loss(eps, q),
        "cluster_upper_exact_form": clusters.ClusterSample(sizes, m).two_stage_upper_bound(eps, q),
    },
}


def shuffled(i: dict[str, Any]) -> ShuffledReports:
    return ShuffledReports(i["n"], i["pi"], KaryRandomisedResponse(i["eps0"], i["d"]))


SINGLE: dict[str, tuple[Callable[[dict[str, Any]], float], float]] = {
    "ML_delta": (lambda i: laplace_means_delta(LaplaceMeans(i["eps1"], i["eps2"], i["k"]), i["eps"]), 1e-9),
    "ML_opt_delta_at_claimed_eps": (lambda i: laplace_means_delta(LaplaceMeans.published(i["eps"]), i["eps"]), 1e-9),
    "ML_opt_TV": (lambda i: laplace_means_delta(LaplaceMeans.published(i["eps"]), 0.0), 1e-9),
    "shuffle_kRR_eps_upper_blanket": (lambda i: shuffled(i).epsilon_upper(i["delta"]), 1e-6),
    "shuffle_kRR_eps_lower_pair": (lambda i: shuffled(i).epsilon_two_tallies(i["delta"]), 1e-6),
    "analytic_gaussian_sigma_hist": (lambda i: gaussian_deviation(float(i["eps"]), i["delta"]), 1e-9),
    "FMT_closed_form": (lambda i: closed_form(i["delta"], users=i["n"], epsilon=float(i["eps0"])), 1e-9),
    "value_dependent_sampling_eps": (
        lambda i: participation.participation_loss(i["eps"], lowest_rate=i["pi_min"], highest_rate=i["pi_max"]),
        1e-9,
    ),
}
"""Formulas of the reference that give one number, and how near they must be."""


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['formula']}-{c['inputs']}"[:80])
def test_reference_value(case: dict[str, Any]) -> None:
    computed = FORMULAS[case["formula"]](**case["inputs"])
    assert set(computed) == set(case["value"])
    for name, value in case["value"].items():
        assert computed[name] == pytest.approx(value, rel=1e-9), name


def test_every_reference_formula_is_used() -> None:
    assert {case["formula"] for case in CASES} == set(FORMULAS)
    assert set(SINGLE) <= {case["fn"] for case in OTHERS}


@pytest.mark.parametrize("case", [c for c in OTHERS if c["fn"] in SINGLE], ids=lambda c: f"{c['fn']}-{c['inputs']}")
def test_reference_number(case: dict[str, Any]) -> None:
    formula, near = SINGLE[case["fn"]]
    assert formula(case["inputs"]) == pytest.approx(float(case["value"]), rel=near)
