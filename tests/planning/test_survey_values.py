"""Survey formulas meet the values that a complete enumeration, a closed form or a solver of another hand gave."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import exact
import numpy as np
import pytest

from ldpnb.accuracy import tails
from ldpnb.designs.strata import Strata
from ldpnb.surveys import budgets, releases, response, variances
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.open_designs import ClusterDesign, Design, SimpleDesign
from ldpnb.surveys.strata_designs import StratifiedDesign
from ldpnb.surveys.unequal_designs import UnequalClusterDesign

CASES = json.loads((Path(__file__).parent / "survey_values.json").read_text())
Inputs = dict[str, Any]


def number_reports(i: Inputs) -> NumberReports:
    name = {"local Laplace": "Laplace"}.get(i["mechanism"], i["mechanism"])
    return NumberReports(name, i["epsilon"], i.get("low", 0.0), i.get("high", 1.0), i.get("binary", False))


def report_variance(i: Inputs) -> float:
    return number_reports(i).variance(i.get("value", 0.0))


def held_and_noises(i: Inputs, key: str) -> tuple[Any, Any]:
    """The values of `key` and the variance of each one's report, nested as they are."""
    reports = number_reports(i)

    def noise(part: Any) -> Any:
        return [noise(p) for p in part] if isinstance(part, list) else reports.variance(part)

    return i[key], noise(i[key])


def srs_variance(i: Inputs) -> float:
    return exact.simple_variance(*held_and_noises(i, "values"), i["sample"]).total


def clusters(i: Inputs) -> float:
    return exact.cluster_variance(*held_and_noises(i, "clusters"), i["chosen"], i.get("take"), i["centre"]).total


def worst_clusters(i: Inputs) -> float:
    design = ClusterDesign(i["clusters"], i["cluster_size"])
    return design.variance(i["chosen"], NumberReports("one-bit", i["epsilon"]), i["high"] - i["low"]).total


def equal_clusters(i: Inputs) -> variances.EqualClusters:
    return variances.EqualClusters(i["clusters"], i["cluster_size"], i.get("chosen", 1), i.get("take"))


def strata(i: Inputs) -> float:
    sizes, drawn = np.array(i["sizes"]), np.array(i["drawn"])
    return Strata(sizes, i["S2"]).variance(drawn) + ((sizes / sizes.sum()) ** 2 / drawn) @ i["randomisation"]


def poisson(i: Inputs) -> float:
    return exact.poisson_variance(*held_and_noises(i, "values"), i["rates"], i["centre"]).total


def release_loss(i: Inputs) -> float:
    epsilon, design = i["epsilon"], i["design"]
    if design == "strata":
        return releases.strata_loss(epsilon, i["sizes"], i["drawn"])
    if design == "srs with nonresponse":
        return releases.strata_loss(epsilon, [i["population"]], [i["invited"]])
    if "sizes" in i:
        return UnequalClusterDesign(tuple(i["sizes"])).loss(i["chosen"], epsilon, ())
    about = {"size": i["cluster_size"], "chosen": i["chosen"], "clusters": i["clusters"]}
    return releases.clusters_loss(epsilon, **about)


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
    found = [Strata(i["sizes"], S2).variance(allocation) for allocation in i["allocations"]]
    return float(np.dot(i["chances"], found)) + 2 * scale**2


def hoeffding(i: Inputs, design: Design) -> int:
    """How many units suffice for certain by the proxy of a design, which falls as one over their number."""
    proxy = design.proxy(1, number_reports(i | {"mechanism": "one-bit", "high": i["range_"]}))
    return math.ceil(proxy * math.log(2 / i["failure"]) / (2 * i["error"] ** 2))


def hoeffding_strata(i: Inputs) -> float:
    design = StratifiedDesign(tuple(i["sizes"]), allocation="proportional", spans=tuple(i["ranges"]))
    assert design.drawn(sum(i["drawn"])) == tuple(i["drawn"])
    proxy = design.proxy(sum(i["drawn"]), NumberReports("one-bit", i["epsilon"]))
    return 2 * math.exp(-2 * i["error"] ** 2 / proxy)


FORMULAS: dict[str, Callable[[Inputs], Any]] = {
    "report_variance": report_variance,
    "srs_variance": srs_variance,
    "cluster_variance": clusters,
    "two_stage_variance": clusters,
    "cluster_worst_sampling_variance": lambda i: variances.worst_sampling_variance(
        i["sizes"], i["chosen"], i["high"] - i["low"]
    ),
    "cluster_worst_variance_one_bit": worst_clusters,
    "two_stage_variance_icc": lambda i: equal_clusters(i).variance(i["S2"], i["icc"], i["randomisation"]).total,
    "optimal_take": take,
    "private_neyman": lambda i: Strata(i["sizes"], i["S2"]).neyman(i["total"], noises=i["randomisation"]),
    "private_neyman_cost": lambda i: Strata(i["sizes"], i["S2"]).neyman_at_cost(
        i["budget"], i["costs"], noises=i["randomisation"]
    ),
    "equal_precision": lambda i: Strata(i["sizes"], i["S2"]).equal_precision(i["variance"], noises=i["randomisation"]),
    "stratified_variance_moments": strata,
    "poisson_variance": poisson,
    "invitations": lambda i: response.invitations(i["needed"], i["response"], i["failure"]),
    "nonresponse_bias_bound": lambda i: response.bias_bound(i["lowest_rate"], i["highest_rate"], i["range_"]),
    "local_release_loss": release_loss,
    "two_stage_release_bound": lambda i: releases.two_stage_bound(
        i["epsilon"], size=i["cluster_size"], take=i["take"], chosen=i["chosen"], clusters=i["clusters"]
    ),
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
    "hoeffding_reports_one_bit": lambda i: hoeffding(i, SimpleDesign(10**6)),
    "hoeffding_clusters_one_bit": lambda i: hoeffding(i, ClusterDesign(10**6, i["cluster_size"])),
    "hoeffding_strata_one_bit": hoeffding_strata,
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
