"""Survey designs meet the values that a complete enumeration, a closed form or a solver of another hand gave."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from ldpnb.accuracy import tails
from ldpnb.designs.strata import Strata, strata_of
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.planning.survey import Survey
from ldpnb.privacy.releases import releases_loss
from ldpnb.privacy.subsampling import srs_loss
from ldpnb.surveys import budgets, populations, releases, response, variances
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.open_designs import ClusterDesign, SimpleDesign, SurveyDesign
from ldpnb.surveys.strata_designs import StratifiedDesign
from ldpnb.surveys.unequal_designs import UnequalClusterDesign

CASES = json.loads((Path(__file__).parent / "survey_values.json").read_text())
COIN = NumberReports("one-bit", 1.0, binary=True)
Inputs = dict[str, Any]


def reports(i: Inputs) -> NumberReports:
    name = {"local Laplace": "Laplace"}.get(i["mechanism"], i["mechanism"])
    return NumberReports(name, i["epsilon"], i.get("low", 0.0), i.get("high", 1.0), i.get("binary", False))


def shares(i: Inputs) -> Any:
    """The mechanism of reports of one of several values; None of numbers."""
    kinds = {"k-RR": KaryRandomisedResponse, "OUE": UnaryEncoding.optimised}
    return kinds[i["mechanism"]](i["epsilon"], i.get("domain_size", 2)) if i["mechanism"] in kinds else None


def noise_of(i: Inputs, value: float) -> Any:
    """The variance of the report of a value, of a holder or another if it is a share's."""
    kind = shares(i)
    return populations.share_noises(kind)[0 if value else 1] if kind else reports(i).variance(value)


def held_and_noises(i: Inputs, key: str) -> tuple[Any, Any]:
    """The values of `key` and the variance of each one's report, nested as they are."""

    def noise(part: Any) -> Any:
        return [noise(p) for p in part] if isinstance(part, list) else noise_of(i, part)

    return i[key], noise(i[key])


def drawn_clusters(i: Inputs) -> float:
    about = *held_and_noises(i, "clusters"), i["chosen"], i.get("take")
    return populations.clusters_variance(*about, centre=i["centre"]).total


def worst_simple(i: Inputs) -> float:
    if kind := shares(i):
        return populations.worst_share_variance(kind, i["population"], i["sample"]).total
    return SimpleDesign(i["population"]).variance(i["sample"], reports(i), float(reports(i).range)).total


def strata(i: Inputs) -> float:
    held, noises = held_and_noises(i, "strata")
    return populations.strata_variance(strata_of(held), [np.mean(n) for n in noises], i["drawn"]).total


def fixed_size(i: Inputs) -> float:
    held, noises = held_and_noises(i, "values")
    joint = np.zeros((len(held), len(held)))
    for pair, chance in i["joint"].items():
        joint[tuple(map(int, pair.split(",")))] = chance
    joint += joint.T
    np.fill_diagonal(joint, joint.sum(axis=1))  # of two that are drawn
    return populations.fixed_size_variance(held, noises, joint, centre=i["centre"]).total


def nonresponse(i: Inputs) -> float:
    about = *held_and_noises(i, "values"), i["invited"], i["response"]
    if i["estimator"] == "known rate":
        return populations.known_rate_variance(*about, centre=i["centre"]).total
    return populations.answers_variance(*about).total


def clusters(i: Inputs) -> ClusterDesign:
    return ClusterDesign(i["clusters"], i["cluster_size"], i.get("icc"), i.get("take"), i.get("S2"))


def effects(i: Inputs) -> tuple[float, float]:
    asked: Any = {"epsilon": 1.0, "failure": 0.1, "binary": True}
    return Survey(design=clusters(i | {"S2": 0.25}), count=40, **asked).plan().design_effects


def take(i: Inputs) -> float:
    """The take with the least variance at a cost, ``sqrt(C1 (S2_w + v) / (C2 (S2_b - S2_w / B)))``."""
    between, within = ClusterDesign(400, i["cluster_size"], 0.05, s2=0.25).split(0.25, 0.05)
    assert (between, within) == pytest.approx((i["between"], i["within"]))
    more = i["cost_cluster"] * (within + i["randomisation"]) / i["cost_person"]
    return math.sqrt(more / (between - within / i["cluster_size"]))


def needed(i: Inputs, design: SurveyDesign, noise: float) -> int | None:
    """What a plan says with Laplace noise of that variance, for which only Chebyshev's inequality is guaranteed."""
    epsilon, tail = budgets.smallest_budget("Laplace", noise), "normal" if i["tail"] == "normal" else "guaranteed"
    asked: Any = {"error": i["error"], "failure": i["failure"], "tail": tail}
    try:
        return Survey(design=design, epsilon=epsilon, mechanism="Laplace", **asked).plan().count
    except ValueError:
        return None


def hoeffding(i: Inputs, design: SurveyDesign) -> int:
    proxy = design.proxy(1, COIN)
    assert proxy
    return math.ceil(proxy * math.log(2 / i["failure"]) / (2 * i["error"] ** 2))


def release_loss(i: Inputs) -> float:
    if "sizes" in i and "drawn" in i:
        design: SurveyDesign = StratifiedDesign(tuple(i["sizes"]))
        return design.loss(sum(i["drawn"]), i["epsilon"], tuple(i["drawn"]))
    if "invited" in i:
        return SimpleDesign(i["population"]).loss(1, i["epsilon"], (i["invited"],))
    if i.get("design") == "two-stage":
        return clusters(i).two_stage_loss(i["chosen"], i["epsilon"])
    design = UnequalClusterDesign(tuple(i["sizes"])) if "sizes" in i else clusters(i)
    return design.loss(i["chosen"], i["epsilon"], (design.people(i["chosen"]),))


def lottery_loss(sizes: Any, spans: Any, drawn: Any, chances: Any, scale: float) -> float:
    """Of a stratified sample whose allocation is drawn by lot: the sum over lots of those of simple samples."""
    people, numbers = np.array(sizes), np.array(drawn)
    reach = people / people.sum() * np.array(spans) / scale / numbers
    return float(np.log1p(np.array(chances) @ (numbers / people * np.expm1(reach))).max())


def lottery_variance(i: Inputs) -> float:
    about = i["sizes"], i["heights"], i["allocations"], i["chances"]
    scale = math.exp(brentq(lambda log: lottery_loss(*about, math.exp(log)) - i["epsilon"], -4, 4, xtol=1e-14))
    S2 = [h * h * (n // 2) * (n - n // 2) / (n * (n - 1)) for n, h in zip(i["sizes"], i["heights"], strict=True)]
    lots = zip(i["allocations"], i["chances"], strict=True)
    return sum(chance * float(Strata(i["sizes"], S2).variance(drawn)) for drawn, chance in lots) + 2 * scale**2


def hoeffding_strata(i: Inputs) -> float:
    proxy = StratifiedDesign(tuple(i["sizes"])).proxy(sum(i["drawn"]), COIN)
    assert proxy
    return 2 * math.exp(-2 * i["error"] ** 2 / proxy)


FORMULAS: dict[str, Callable[[Inputs], Any]] = {
    "report_variance": lambda i: noise_of(i, i.get("value", float(i.get("holds", False)))),
    "srs_variance": lambda i: (
        populations.simple_variance(*held_and_noises(i, "values" if "values" in i else "holds"), i["sample"]).total
    ),
    "srs_worst_variance": worst_simple,
    "cluster_variance": drawn_clusters,
    "two_stage_variance": drawn_clusters,
    "cluster_ratio_bias": lambda i: populations.ratio_errors(*held_and_noises(i, "clusters"), i["chosen"])[0],
    "cluster_ratio_mse": lambda i: populations.ratio_errors(*held_and_noises(i, "clusters"), i["chosen"])[1],
    "cluster_worst_sampling_variance": lambda i: variances.worst_clusters_variance(
        i["sizes"], i["chosen"], i["high"] - i["low"], centred=i["centred"]
    ),
    "intracluster_correlation": lambda i: populations.intracluster_correlation(i["clusters"]),
    "cluster_worst_variance_one_bit": lambda i: (
        clusters(i).variance(i["chosen"], NumberReports("one-bit", i["epsilon"]), i["high"] - i["low"]).total
    ),
    "cluster_sampling_design_effect": lambda i: effects(i)[0],
    "cluster_total_design_effect": lambda i: effects(i)[1],
    "two_stage_variance_icc": lambda i: clusters(i).variance(i["chosen"], COIN, 1.0).total,
    "optimal_take": take,
    "private_neyman": lambda i: Strata(i["sizes"], i["S2"]).neyman(i["total"], noises=i["randomisation"]),
    "private_neyman_cost": lambda i: Strata(i["sizes"], i["S2"]).neyman_at_cost(
        i["budget"], i["costs"], noises=i["randomisation"]
    ),
    "equal_precision": lambda i: Strata(i["sizes"], i["S2"]).equal_precision(i["variance"], noises=i["randomisation"]),
    "stratified_variance": strata,
    "stratified_variance_moments": lambda i: (
        populations.strata_variance(Strata(i["sizes"], i["S2"]), i["randomisation"], i["drawn"]).total
    ),
    "poisson_variance": lambda i: (
        populations.poisson_variance(*held_and_noises(i, "values"), i["rates"], centre=i["centre"]).total
    ),
    "fixed_size_unequal_variance": fixed_size,
    "kish_design_effect": lambda i: variances.kish_design_effect(i["weights"]),
    "nonresponse_variance": nonresponse,
    "invitations": lambda i: response.invitations(i["needed"], i["response"], i["failure"]),
    "nonresponse_bias_bound": lambda i: response.bias_bound(i["lowest_rate"], i["highest_rate"], i["range_"]),
    "local_release_loss": release_loss,
    "two_stage_release_bound": release_loss,
    "two_releases_one_sample": lambda i: releases_loss(i["epsilons"], lambda e: srs_loss(e, i["sampling_rate"])),
    "central_scale_srs": lambda i: SimpleDesign(i["population"]).scale(
        i["sample"], i["epsilon"], i["range_"], secret=i["secret"]
    ),
    "central_scale_cluster": lambda i: clusters(i).scale(i["chosen"], i["epsilon"], i["range_"], secret=i["secret"]),
    "central_scale_strata": lambda i: StratifiedDesign(tuple(i["sizes"])).known_scale(
        i["drawn"], i["epsilon"], 1.0, secret=i["secret"]
    ),
    "central_loss_poisson": lambda i: releases.poisson_release_loss(
        i["scale"], i["rates"], low=i["low"], high=i["high"], centre=i["centre"]
    ),
    "lottery_total_variance": lottery_variance,
    "lottery_tail_loss": lambda i: lottery_loss(i["sizes"], i["ranges"], i["allocations"], i["chances"], i["scale"]),
    "normal_laplace_tail": lambda i: tails.normal_laplace(i["sd"], i["scale"], i["error"]),
    "srs_sample_size": lambda i: needed(i, SimpleDesign(i["population"], i["S2"]), i["randomisation"]),
    "clusters_needed": lambda i: needed(
        i, ClusterDesign(i["clusters"], 25, 0.05, s2=0.25), 25 * i["within_and_noise_per_cluster"]
    ),
    "hoeffding_reports_one_bit": lambda i: hoeffding(i, SimpleDesign(10**6)),
    "hoeffding_clusters_one_bit": lambda i: hoeffding(i, ClusterDesign(10**4, i["cluster_size"])),
    "hoeffding_strata_one_bit": hoeffding_strata,
    "epsilon_for_randomisation": lambda i: budgets.smallest_budget(
        "Laplace" if "Laplace" in i["mechanism"] else "one-bit", i["variance"], i["range_"]
    ),
    "budget_split": lambda i: budgets.split(i["epsilon"], i["weights"], i["mechanism"]),
    "one_question_threshold": lambda i: budgets.one_question_threshold(i["questions"]),
}


@pytest.mark.parametrize(("name", "inputs", "value"), CASES, ids=lambda c: c if isinstance(c, str) else "")
def test_a_design_meets_its_value(name: str, inputs: Inputs, value: Any) -> None:
    found = FORMULAS[name](inputs)
    assert found == value if value is None or isinstance(value, int) else found == pytest.approx(value, rel=1e-8)


def test_every_value_has_its_formula() -> None:
    assert {name for name, *_ in CASES} == FORMULAS.keys()
