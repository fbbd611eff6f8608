"""Survey formulas meet the values that a complete enumeration, a closed form or a solver of another hand gave."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb.accuracy import tails
from ldpnb.designs.strata import Strata
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.surveys import budgets, needed, releases, response, variances
from ldpnb.surveys.noise import NumberReports, ShareReports

CASES = json.loads((Path(__file__).parent / "survey_values.json").read_text())
Inputs = dict[str, Any]


def number_reports(i: Inputs) -> NumberReports:
    name = {"local Laplace": "Laplace"}.get(i["mechanism"], i["mechanism"])
    return NumberReports(name, i["epsilon"], i.get("low", 0.0), i.get("high", 1.0), i.get("binary", False))


def share_reports(i: Inputs) -> ShareReports:
    size = i.get("domain_size", 2)
    make = KaryRandomisedResponse if i["mechanism"] == "k-RR" else UnaryEncoding.optimised
    return ShareReports(make(i["epsilon"], size))


def is_share(i: Inputs) -> bool:
    return i["mechanism"] in ("k-RR", "OUE")


def report_variance(i: Inputs) -> float:
    return share_reports(i).variance(i["holds"]) if is_share(i) else number_reports(i).variance(i.get("value", 0.0))


def held_and_noises(i: Inputs, key: str) -> tuple[Any, Any]:
    """The values of `key` and the variance of each one's report, nested as they are."""
    reports = number_reports(i)

    def noise(part: Any) -> Any:
        return [noise(p) for p in part] if isinstance(part, list) else reports.variance(part)

    return i[key], noise(i[key])


def srs_variance(i: Inputs) -> float:
    if is_share(i):
        held = np.array(i["holds"], dtype=float)
        noises = [share_reports(i).variance(bool(h)) for h in held]
    else:
        held, noises = held_and_noises(i, "values")
    design = variances.SimpleRandomSample(len(held), i["sample"])
    return design.variance(np.var(held, ddof=1), np.mean(noises)).total


def worst_srs(i: Inputs) -> float:
    reports: Any = share_reports(i) if is_share(i) else number_reports(i)
    return reports.worst_srs_variance(i["population"], i["sample"])


def clusters(i: Inputs) -> float:
    held, noises = held_and_noises(i, "clusters")
    takes = tuple(i["take"]) if "take" in i else None
    design = variances.ClusterDraw(tuple(map(len, held)), i["chosen"], takes)
    return design.variance(held, noises, centre=i["centre"]).total


def ratio(i: Inputs) -> tuple[float, float]:
    held, noises = held_and_noises(i, "clusters")
    return variances.ClusterDraw(tuple(map(len, held)), i["chosen"]).ratio_errors(held, noises)


def equal_clusters(i: Inputs) -> variances.EqualClusters:
    return variances.EqualClusters(i["clusters"], i["cluster_size"], i.get("chosen", 1), i.get("take"))


def strata(i: Inputs) -> float:
    held, noises = held_and_noises(i, "strata")
    design = variances.StratifiedSample(tuple(map(len, held)), tuple(i["drawn"]))
    return design.variance([np.var(h, ddof=1) for h in held], [np.mean(n) for n in noises]).total


def poisson(i: Inputs) -> float:
    held, noises = held_and_noises(i, "values")
    return variances.poisson_variance(held, noises, i["rates"], centre=i["centre"]).total


def fixed_size(i: Inputs) -> float:
    held, noises = held_and_noises(i, "values")
    joint = np.zeros((len(held), len(held)))
    for pair, chance in i["joint"].items():
        one, other = map(int, pair.split(","))
        joint[one, other] = joint[other, one] = chance
    np.fill_diagonal(joint, joint.sum(axis=1))  # of two that are drawn
    return variances.fixed_size_variance(held, noises, joint, centre=i["centre"]).total


def nonresponse(i: Inputs) -> float:
    held, noises = (np.array(part) for part in held_and_noises(i, "values"))
    about = {"population": held.size, "invited": i["invited"], "response": i["response"]}
    S2, noise = float(held.var(ddof=1)), float(noises.mean())
    if i["estimator"] == "known rate":
        return response.known_rate_variance(S2, noise, float(np.mean((held - i["centre"]) ** 2)), **about)
    return response.answers_variance(S2, noise, **about)


def release_loss(i: Inputs) -> float:
    epsilon, design = i["epsilon"], i["design"]
    if design == "strata":
        return releases.strata_loss(epsilon, i["sizes"], i["drawn"])
    if design == "srs with nonresponse":
        return releases.strata_loss(epsilon, [i["population"]], [i["invited"]])
    if "sizes" in i:
        return releases.unequal_clusters_loss(epsilon, i["sizes"], i["chosen"])
    about = {"size": i["cluster_size"], "chosen": i["chosen"], "clusters": i["clusters"]}
    if design == "cluster":
        return releases.clusters_loss(epsilon, **about)
    return releases.two_stage_loss(epsilon, take=i["take"], **about)


def take(i: Inputs) -> float:
    design = variances.EqualClusters(400, i["cluster_size"], 1)
    assert design.split(0.25, 0.05) == pytest.approx((i["between"], i["within"]))
    prices = {"per_cluster": i["cost_cluster"], "per_person": i["cost_person"]}
    found = design.best_take(0.25, 0.05, i["randomisation"], **prices)
    assert found <= design.size
    return found


def lottery_variance(i: Inputs) -> float:
    scale = releases.lottery_scale(i["epsilon"], i["sizes"], i["heights"], i["allocations"], i["chances"])
    S2 = [h * h * (n // 2) * (n - n // 2) / (n * (n - 1)) for n, h in zip(i["sizes"], i["heights"], strict=True)]
    parts = [
        chance * variances.StratifiedSample(tuple(i["sizes"]), tuple(a)).variance(S2, [0, 0]).total
        for a, chance in zip(i["allocations"], i["chances"], strict=True)
    ]
    return sum(parts) + 2 * scale**2


def target(i: Inputs) -> float:
    return needed.allowed_variance(i["error"], i["failure"], i["tail"])


def impossible(compute: Callable[[], int]) -> int | None:
    try:
        return compute()
    except ValueError:
        return None


FORMULAS: dict[str, Callable[[Inputs], Any]] = {
    "report_variance": report_variance,
    "srs_variance": srs_variance,
    "srs_worst_variance": worst_srs,
    "cluster_variance": clusters,
    "two_stage_variance": clusters,
    "cluster_ratio_bias": lambda i: ratio(i)[0],
    "cluster_ratio_mse": lambda i: ratio(i)[1],
    "cluster_worst_sampling_variance": lambda i: variances.ClusterDraw(
        tuple(i["sizes"]), i["chosen"]
    ).worst_sampling_variance(i["high"] - i["low"], centred=i["centred"]),
    "cluster_worst_variance_one_bit": lambda i: equal_clusters(i).worst_one_bit_variance(
        NumberReports("one-bit", i["epsilon"]).floor, i["high"] - i["low"]
    ),
    "intracluster_correlation": lambda i: variances.intracluster_correlation(i["clusters"]),
    "cluster_sampling_design_effect": lambda i: equal_clusters(i).sampling_design_effect(i["icc"]),
    "cluster_total_design_effect": lambda i: equal_clusters(i).total_design_effect(
        i["S2"], i["icc"], i["randomisation"]
    ),
    "two_stage_variance_icc": lambda i: equal_clusters(i).variance(i["S2"], i["icc"], i["randomisation"]).total,
    "optimal_take": take,
    "stratified_variance": strata,
    "private_neyman": lambda i: Strata(i["sizes"], i["S2"]).neyman(i["total"], noises=i["randomisation"]),
    "private_neyman_cost": lambda i: Strata(i["sizes"], i["S2"]).neyman_at_cost(
        i["budget"], i["costs"], noises=i["randomisation"]
    ),
    "equal_precision": lambda i: Strata(i["sizes"], i["S2"]).equal_precision(i["variance"], noises=i["randomisation"]),
    "stratified_variance_moments": lambda i: (
        variances.StratifiedSample(tuple(i["sizes"]), tuple(i["drawn"])).variance(i["S2"], i["randomisation"]).total
    ),
    "poisson_variance": poisson,
    "fixed_size_unequal_variance": fixed_size,
    "kish_design_effect": lambda i: variances.kish_design_effect(i["weights"]),
    "nonresponse_variance": nonresponse,
    "invitations": lambda i: response.invitations(i["needed"], i["response"], i["failure"]),
    "nonresponse_bias_bound": lambda i: response.bias_bound(i["lowest_rate"], i["highest_rate"], i["range_"]),
    "local_release_loss": release_loss,
    "two_stage_release_bound": lambda i: releases.two_stage_bound(
        i["epsilon"], size=i["cluster_size"], take=i["take"], chosen=i["chosen"], clusters=i["clusters"]
    ),
    "two_releases_one_sample": lambda i: releases.releases_loss(i["epsilons"], i["sampling_rate"]),
    "central_scale_srs": lambda i: releases.srs_scale(
        i["epsilon"], population=i["population"], sample=i["sample"], span=i["range_"], secret=i["secret"]
    ),
    "central_scale_cluster": lambda i: releases.clusters_scale(
        i["epsilon"],
        size=i["cluster_size"],
        chosen=i["chosen"],
        clusters=i["clusters"],
        span=i["range_"],
        secret=i["secret"],
    ),
    "central_scale_strata": lambda i: releases.strata_scale(
        i["epsilon"], i["sizes"], i["drawn"], i["ranges"], secret=i["secret"]
    ),
    "central_loss_poisson": lambda i: releases.poisson_release_loss(
        i["scale"], i["rates"], low=i["low"], high=i["high"], centre=i["centre"]
    ),
    "lottery_total_variance": lottery_variance,
    "lottery_tail_loss": lambda i: releases.lottery_loss(
        i["scale"], i["sizes"], i["ranges"], i["allocations"], i["chances"]
    ),
    "normal_laplace_tail": lambda i: tails.normal_laplace(i["sd"], i["scale"], i["error"]),
    "srs_sample_size": lambda i: impossible(
        lambda: needed.people(i["S2"], i["randomisation"], i["population"], variance=target(i))
    ),
    "clusters_needed": lambda i: needed.clusters(
        i["between"], i["within_and_noise_per_cluster"], i["clusters"], variance=target(i)
    ),
    "hoeffding_reports_one_bit": lambda i: needed.one_bit_people(
        i["epsilon"], span=i["range_"], error=i["error"], failure=i["failure"]
    ),
    "hoeffding_clusters_one_bit": lambda i: needed.one_bit_clusters(
        i["epsilon"], i["cluster_size"], span=i["range_"], error=i["error"], failure=i["failure"]
    ),
    "hoeffding_strata_one_bit": lambda i: needed.one_bit_strata_failure(
        i["epsilon"],
        np.array(i["sizes"]) / sum(i["sizes"]),
        np.array(i["drawn"]),
        np.array(i["ranges"]),
        error=i["error"],
    ),
    "epsilon_for_randomisation": lambda i: budgets.smallest_budget(
        "Laplace" if "Laplace" in i["mechanism"] else "one-bit", i["variance"], i["range_"]
    ),
    "budget_split": lambda i: budgets.split(i["epsilon"], i["weights"], i["mechanism"]),
    "one_question_threshold": lambda i: budgets.one_question_threshold(i["questions"]),
}


@pytest.mark.parametrize(("name", "inputs", "value"), CASES, ids=lambda c: c if isinstance(c, str) else "")
def test_a_formula_meets_its_value(name: str, inputs: Inputs, value: Any) -> None:
    found = FORMULAS[name](inputs)
    if name == "optimal_take":
        value = min(value, inputs["cluster_size"])  # more than everybody cannot be asked
    assert found == value if value is None or isinstance(value, int) else found == pytest.approx(value, rel=1e-8)


def test_every_value_has_its_formula() -> None:
    assert {name for name, *_ in CASES} == FORMULAS.keys()
