"""Plans meet the values that a complete enumeration, a closed form or a solver of another hand gave.

A formula that no plan uses is an oracle's.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
from ask import Parts
from scipy.optimize import brentq

from ldpnb.accuracy import tails
from ldpnb.arithmetic import log_mixed
from ldpnb.designs.strata import Strata, strata_of
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Mean
from ldpnb.planning.reports import Reports, largest
from ldpnb.planning.samples import SimpleDesign, StratifiedDesign, invitations
from ldpnb.planning.several import one_question_threshold
from ldpnb.privacy.releases import releases_loss
from ldpnb.privacy.subsampling import srs_loss

CASES = json.loads((Path(__file__).parent / "survey_values.json").read_text())
COIN = Reports.of(KaryRandomisedResponse(1.0, 2), ends=True)
Inputs = dict[str, Any]


def reports(i: Inputs) -> Reports:
    kinds = {"k-RR": KaryRandomisedResponse, "OUE": UnaryEncoding.optimised}
    if "Laplace" in i["mechanism"]:
        return Reports(scale=1 / i["epsilon"])
    shares = i["mechanism"] in kinds
    made = (
        kinds[i["mechanism"]](i["epsilon"], i.get("domain_size", 2))
        if shares
        else KaryRandomisedResponse(i["epsilon"], 2)
    )
    return Reports.of(made, ends=shares or i.get("binary", False))


def span(i: Inputs) -> float:
    return i.get("high", 1.0) - i.get("low", 0.0)


def noise_of(i: Inputs, value: float) -> float:
    """The variance of the report of a value, in its own unit."""
    return span(i) ** 2 * reports(i).variance((value - i.get("low", 0.0)) / span(i))


def held_and_noises(i: Inputs, key: str) -> tuple[Any, Any]:
    """The values of `key` and the variance of each one's report, nested as they are."""

    def noise(part: Any) -> Any:
        return [noise(p) for p in part] if isinstance(part, list) else noise_of(i, part)

    return i[key], noise(i[key])


def drawn_clusters(i: Inputs) -> float:
    return oracle.clusters_variance(*held_and_noises(i, "clusters"), i["chosen"], i.get("take"), i["centre"])


def worst_simple(i: Inputs) -> float:
    return span(i) ** 2 * Parts((i["population"],), (i["sample"],)).variance(reports(i)).total


def strata(i: Inputs) -> float:
    held, noises = held_and_noises(i, "strata")
    known = strata_of(held)
    return oracle.strata_variance(known.sizes, known.variances, [np.mean(n) for n in noises], i["drawn"])


def fixed_size(i: Inputs) -> float:
    held, noises = held_and_noises(i, "values")
    joint = np.zeros((len(held), len(held)))
    for pair, chance in i["joint"].items():
        joint[tuple(map(int, pair.split(",")))] = chance
    joint += joint.T
    np.fill_diagonal(joint, joint.sum(axis=1))  # of two that are drawn
    return oracle.unequal_variance(held, noises, np.diag(joint), joint, i["centre"])


def nonresponse(i: Inputs) -> float:
    about = *held_and_noises(i, "values"), i["invited"], i["response"]
    if i["estimator"] == "known rate":
        return oracle.known_rate_variance(*about, i["centre"])
    return oracle.answers_variance(*about)


def clusters(i: Inputs) -> ClusterDesign:
    take = i.get("take") or (1 if i.get("design") == "one per cluster" else None)
    sd = math.sqrt(i["S2"]) if "S2" in i else None
    return ClusterDesign(i["clusters"], i["cluster_size"], take, i.get("icc"), sd).at(i.get("chosen", 1), COIN)


def effects(i: Inputs) -> tuple[float, float]:
    drawn = clusters(i | {"S2": 0.25, "chosen": i.get("chosen", 40)})
    plain, own = Parts((drawn.population,), (drawn.people,), (0.5,)).variance(COIN), drawn.variance(COIN)
    return own.sampling / plain.sampling, own.total / plain.total


def take(i: Inputs) -> float:
    """The take with the least variance at a cost, ``sqrt(C1 (S2_w + v) / (C2 (S2_b - S2_w / B)))``."""
    between, within, size = i["between"], i["within"], i["cluster_size"]
    drawn = ClusterDesign(400, size, None, 0.05, 0.5).at(40, COIN).variance(Reports())
    assert drawn.sampling == pytest.approx((1 - 40 / 400) * between / 40)
    return math.sqrt(i["cost_cluster"] * (within + i["randomisation"]) / (i["cost_person"] * (between - within / size)))


def needed(i: Inputs, most: int, variance: Callable[[int, Reports], float], noise: float) -> int | None:
    """The fewest with which a variance is small enough for Chebyshev's bound, or the normal law."""
    allowed, made = i["failure"] * i["error"] ** 2, Reports(scale=math.sqrt(noise / 2))
    if i["tail"] == "normal":
        allowed = (i["error"] / brentq(lambda z: tails.normal(1.0, z) - i["failure"], 0.1, 9, xtol=1e-14)) ** 2
    return next((n for n in range(1, most + 1) if variance(n, made) <= allowed), None)


def hoeffding(i: Inputs, sample: Any) -> int:
    """By the bound of ``ln E e^(l error)``, quadratic in ``l`` for bits."""
    return math.ceil(4 * sample.exponent(np.ones(1), COIN)[0] * math.log(2 / i["failure"]) / i["error"] ** 2 - 1e-9)


def release_loss(i: Inputs) -> float:
    if "sizes" in i and "drawn" in i:
        return Parts(tuple(i["sizes"]), tuple(i["drawn"])).loss(i["epsilon"], tuple(i["drawn"]))
    if "invited" in i:
        return Parts((i["population"],), (1,)).loss(i["epsilon"], (i["invited"],))
    if i.get("design") == "two-stage":
        return oracle.two_stage_loss(i["clusters"], i["cluster_size"], i["chosen"], i["take"], i["epsilon"])
    if "sizes" in i:
        uneven = ClusterDesign(len(i["sizes"]), float(np.mean(i["sizes"])), size_sd=1.0, icc=0.0)
        return uneven.at(i["chosen"], COIN).loss(i["epsilon"], ())
    return clusters(i).loss(i["epsilon"], ())


def neyman_at_cost(i: Inputs) -> Any:
    spread, costs = np.array(i["sizes"]) * np.sqrt(np.add(i["S2"], i["randomisation"])), np.sqrt(i["costs"])
    return i["budget"] * spread / costs / (spread @ costs)


def curator_scale(i: Inputs, sizes: Any, drawn: Any) -> float:
    """Of a plan; and less, as no plan uses it, if who was asked is secret: then the sample hides people."""
    planned = Parts(tuple(sizes), tuple(drawn)).scale(i["epsilon"])
    people, number = np.array(sizes), np.array(drawn)
    inner = log_mixed(people / number, np.full(people.size, i["epsilon"]))
    return float(np.max(people / people.sum() / number / inner)) if i["secret"] else planned


def cluster_scale(i: Inputs) -> float:
    """Of whole clusters; if they are secret, with the budget whose loss they hide."""
    drawn, epsilon = clusters(i), i["epsilon"]
    if i["secret"]:
        epsilon = brentq(lambda inner: drawn.loss(inner, ()) - i["epsilon"], epsilon, 40 * epsilon, xtol=1e-14)
    return float(i["range_"] * drawn.scale(epsilon))


def lottery_variance(i: Inputs) -> float:
    about = i["sizes"], i["heights"], i["allocations"], i["chances"]
    scale = math.exp(brentq(lambda log: oracle.lottery_loss(*about, math.exp(log)) - i["epsilon"], -4, 4, xtol=1e-14))
    S2 = [h * h * (n // 2) * (n - n // 2) / (n * (n - 1)) for n, h in zip(i["sizes"], i["heights"], strict=True)]
    lots = zip(i["allocations"], i["chances"], strict=True)
    return sum(chance * float(Strata(i["sizes"], S2).variance(drawn)) for drawn, chance in lots) + 2 * scale**2


def hoeffding_strata(i: Inputs) -> float:
    drawn = Parts(tuple(i["sizes"]), tuple(i["drawn"]))
    return 2 * math.exp(-(i["error"] ** 2) / (4 * drawn.exponent(np.ones(1), COIN)[0]))


def smallest_budget(i: Inputs) -> float:
    def excess(epsilon: float) -> float:
        return i["range_"] ** 2 * reports(i | {"epsilon": epsilon, "binary": True}).low - i["variance"]

    return brentq(excess, 1e-3, 100, xtol=1e-14)


FORMULAS: dict[str, Callable[[Inputs], Any]] = {
    "report_variance": lambda i: noise_of(i, i.get("value", float(i.get("holds", False)))),
    "srs_variance": lambda i: oracle.simple_variance(
        *held_and_noises(i, "values" if "values" in i else "holds"), i["sample"]
    ),
    "srs_worst_variance": worst_simple,
    "cluster_variance": drawn_clusters,
    "two_stage_variance": drawn_clusters,
    "cluster_ratio_bias": lambda i: oracle.ratio_errors(*held_and_noises(i, "clusters"), i["chosen"])[0],
    "cluster_ratio_mse": lambda i: oracle.ratio_errors(*held_and_noises(i, "clusters"), i["chosen"])[1],
    "cluster_worst_sampling_variance": lambda i: oracle.worst_clusters(i["sizes"], i["chosen"], span(i), i["centred"]),
    "intracluster_correlation": lambda i: oracle.intracluster_correlation(i["clusters"]),
    "cluster_worst_variance_one_bit": lambda i: (
        span(i) ** 2 * clusters(i).variance(reports(i | {"mechanism": "one-bit"})).total
    ),
    "cluster_sampling_design_effect": lambda i: effects(i)[0],
    "cluster_total_design_effect": lambda i: effects(i)[1],
    "two_stage_variance_icc": lambda i: clusters(i).variance(COIN).total,
    "optimal_take": take,
    "private_neyman": lambda i: Strata(i["sizes"], np.add(i["S2"], i["randomisation"])).neyman(i["total"]),
    "private_neyman_cost": neyman_at_cost,
    "equal_precision": lambda i: (
        np.add(i["S2"], i["randomisation"]) / (i["variance"] + np.array(i["S2"]) / np.array(i["sizes"]))
    ),
    "stratified_variance": strata,
    "stratified_variance_moments": lambda i: oracle.strata_variance(
        i["sizes"], i["S2"], i["randomisation"], i["drawn"]
    ),
    "poisson_variance": lambda i: oracle.unequal_variance(
        *held_and_noises(i, "values"), i["rates"], centre=i["centre"]
    ),
    "fixed_size_unequal_variance": fixed_size,
    "kish_design_effect": lambda i: oracle.kish(i["weights"]),
    "nonresponse_variance": nonresponse,
    "invitations": lambda i: invitations(i["needed"], i["response"], i["failure"]),
    "nonresponse_bias_bound": lambda i: oracle.nonresponse_bias(i["lowest_rate"], i["highest_rate"], i["range_"]),
    "local_release_loss": release_loss,
    "two_stage_release_bound": lambda i: clusters(i).loss(i["epsilon"], ()),
    "two_releases_one_sample": lambda i: releases_loss(i["epsilons"], lambda e: srs_loss(e, i["sampling_rate"])),
    "central_scale_srs": lambda i: i["range_"] * curator_scale(i, [i["population"]], [i["sample"]]),
    "central_scale_cluster": cluster_scale,
    "central_scale_strata": lambda i: curator_scale(i, i["sizes"], i["drawn"]),
    "central_loss_poisson": lambda i: oracle.poisson_loss(i["scale"], i["rates"], i["low"], i["high"], i["centre"]),
    "lottery_total_variance": lottery_variance,
    "lottery_tail_loss": lambda i: oracle.lottery_loss(
        i["sizes"], i["ranges"], i["allocations"], i["chances"], i["scale"]
    ),
    "normal_laplace_tail": lambda i: tails.normal_laplace(i["sd"], i["scale"], i["error"]),
    "srs_sample_size": lambda i: needed(
        i,
        i["population"],
        lambda n, made: Parts((i["population"],), (n,), (math.sqrt(i["S2"]),)).variance(made).total,
        i["randomisation"],
    ),
    "clusters_needed": lambda i: needed(
        i,
        i["clusters"],
        lambda m, made: ClusterDesign(i["clusters"], 25, None, 0.05, 0.5).at(m, made).variance(made).total,
        25 * i["within_and_noise_per_cluster"],
    ),
    "hoeffding_reports_one_bit": lambda i: hoeffding(i, Parts((10**6,), (1,))),
    "hoeffding_clusters_one_bit": lambda i: hoeffding_clusters(i),
    "hoeffding_strata_one_bit": hoeffding_strata,
    "epsilon_for_randomisation": smallest_budget,
    "budget_split": lambda i: oracle.split(i["epsilon"], i["weights"], bits=i["mechanism"] != "Laplace"),
    "one_question_threshold": lambda i: one_question_threshold(i["questions"]),
}


def hoeffding_clusters(i: Inputs) -> int:
    """Without Serfling's factor: of one cluster of very many."""
    return hoeffding(i, ClusterDesign(10**10, i["cluster_size"]).at(1, COIN))


@pytest.mark.parametrize(("name", "inputs", "value"), CASES, ids=lambda c: c if isinstance(c, str) else "")
def test_a_design_meets_its_value(name: str, inputs: Inputs, value: Any) -> None:
    found = FORMULAS[name](inputs)
    assert found == value if value is None or isinstance(value, int) else found == pytest.approx(value, rel=1e-8)


def test_every_value_has_its_formula() -> None:
    assert len(CASES) == 82
    assert {name for name, *_ in CASES} == FORMULAS.keys()


def test_plans_are_those_of_the_values() -> None:
    """The sample sizes of the reference, asked of the planner itself."""
    asked: dict[str, Any] = {"epsilon": 1.0, "error": 0.05, "failure": 0.05, "binary": True, "tail": "normal"}
    sizes = [plan(Mean(design=SimpleDesign(n, 0.5 * math.sqrt(n / (n - 1))), **asked)).best.value for n in (5000, 1500)]
    assert sizes == [1671, 1433]
    design = StratifiedDesign((6000, 3000, 1000), (0.1, 0.3, 0.5), "neyman")
    wide = asked | {"error": 0.1, "binary": False}
    found = plan(Mean(design=design, mechanism="local Laplace", **wide)).best
    assert (found.value, found.sample.answers) == (789, (468, 239, 82))
    assert largest(COIN, 1.0, 1.0, 10).total == pytest.approx(0.25 * 10 / 9 + COIN.low)
