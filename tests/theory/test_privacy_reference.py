"""Every reference value for bun2022, to nine digits."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb.designs import samples, sizes, strata
from ldpnb.privacy import clusters, data_dependent, lemmas, random_size, rounding, subsampling, unequal

CASES = json.loads((Path(__file__).parents[1] / "reference/001.json").read_text())["cases"]


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
    return {
        "exact_deletion": clusters.ClusterSample(sizes, m).loss(eps),
        "exact_replacement": clusters.ClusterSample(sizes, m).loss(eps, neighbours="replacement"),
        "lower_nmin": clusters.ClusterSample(sizes, m).lower_bound(eps),
        "upper_nmax": clusters.ClusterSample(sizes, m).upper_bound(eps),
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
    worst = max(
        unequal.systematic_loss(range(n), old, new - 0.5, step=k, epsilon=eps)
        for old in (0, n - 1)
        for new in range(n + 1)
    )
    return {
        "worst_replacement_exact": worst,
        "rank_preserving_exact": unequal.systematic_rank_preserving_loss(n // k, k, eps),
        "srs_same_size": subsampling.srs_loss(2 * eps, 1 / k),
    }


def allocation(strata: list[list[float]], m: int) -> dict[str, list[float]]:
    population = STRATA.strata_of(strata)
    shares = STRATA.neyman_shares(population.sizes, population.variances, m)
    return {"allocation_real": shares, "allocation_largest_remainder": STRATA.largest_remainder(shares)}


def stratified_mean(strata: list[list[float]], ms: list[int]) -> dict[str, float]:
    population = STRATA.strata_of(strata)
    return {
        "weighted_mean_expectation": STRATA.weighted_mean(population.sizes, population.means),
        "variance": STRATA.weighted_mean_variance(population.sizes, population.variances, ms),
    }


STRATA = strata
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


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['formula']}-{c['inputs']}"[:80])
def test_reference_value(case: dict[str, Any]) -> None:
    computed = FORMULAS[case["formula"]](**case["inputs"])
    assert set(computed) == set(case["value"])
    for name, value in case["value"].items():
        assert computed[name] == pytest.approx(value, rel=1e-9), name


def test_every_reference_formula_is_used() -> None:
    assert {case["formula"] for case in CASES} == set(FORMULAS)
