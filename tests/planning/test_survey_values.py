"""Plans meet the values that a complete enumeration, a closed form or a solver of another hand gave."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
from ask import sampled

from ldpnb.accuracy import tails
from ldpnb.designs.strata import strata_of
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Mean
from ldpnb.planning.reports import Reports, largest
from ldpnb.planning.samples import SimpleDesign, StratifiedDesign, invitations

CASES = json.loads((Path(__file__).parent / "survey_values.json").read_text())
COIN = Reports.of(KaryRandomisedResponse(1.0, 2), ends=True)
Inputs = dict[str, Any]


def reports(i: Inputs) -> Reports:
    if "Laplace" in i["mechanism"]:
        return Reports(scale=1 / i["epsilon"])
    make = UnaryEncoding.optimised if i["mechanism"] == "OUE" else KaryRandomisedResponse
    shares = i["mechanism"] in ("OUE", "k-RR")
    return Reports.of(
        make(i["epsilon"], i.get("domain_size", 2)), ends=shares or i.get("binary", False)
    )


def span(i: Inputs) -> float:
    return i.get("high", 1.0) - i.get("low", 0.0)


def noise(i: Inputs, value: Any) -> Any:
    """The variance of the report of each value, in its own unit, nested as they are."""
    if isinstance(value, list):
        return [noise(i, one) for one in value]
    return span(i) ** 2 * reports(i).variance((value - i.get("low", 0.0)) / span(i))


def simple(i: Inputs) -> float:
    values = i["values"] if "values" in i else i["holds"]
    return oracle.strata_variance(
        [len(values)], [np.var(values, ddof=1)], [np.mean(noise(i, values))], [i["sample"]]
    )


def drawn_clusters(i: Inputs) -> float:
    return oracle.clusters_variance(
        i["clusters"], noise(i, i["clusters"]), i["chosen"], i.get("take"), i["centre"]
    )


def strata(i: Inputs) -> float:
    known, noises = strata_of(i["strata"]), [np.mean(part) for part in noise(i, i["strata"])]
    return oracle.strata_variance(known.sizes, known.variances, noises, i["drawn"])


def clusters(i: Inputs) -> ClusterDesign:
    take = i.get("take") or (1 if i.get("design") == "one per cluster" else None)
    sd = math.sqrt(i["S2"]) if "S2" in i else None
    return ClusterDesign(i["clusters"], i["cluster_size"], take, i.get("icc"), sd).at(
        i.get("chosen", 1), COIN
    )


def effects(i: Inputs) -> tuple[float, float]:
    """Variance, sampling's and all, over that of a simple random sample of as many people."""
    design, n = (
        ClusterDesign(i["clusters"], i["cluster_size"], None, i["icc"], 0.5),
        i.get("chosen", 40),
    )
    made = design.at(n, COIN).variance(COIN)
    simple = sampled([design.population], [n * i["cluster_size"]], [0.5]).variance(COIN)
    return made.sampling / simple.sampling, made.total / simple.total


def hoeffding(i: Inputs, sample: Any) -> int:
    """By the bound of ``ln E e^(l error)``, quadratic in ``l`` for bits."""
    return math.ceil(
        4 * sample.exponent(np.ones(1), COIN)[0] * math.log(2 / i["failure"]) / i["error"] ** 2
        - 1e-9
    )


def hoeffding_strata(i: Inputs) -> float:
    return 2 * math.exp(
        -(i["error"] ** 2) / (4 * sampled(i["sizes"], i["drawn"]).exponent(np.ones(1), COIN)[0])
    )


def release_loss(i: Inputs) -> float:
    sizes, drawn = (i["sizes"], i["drawn"]) if "sizes" in i else ([i["population"]], [i["invited"]])
    return sampled(sizes, drawn).loss(i["epsilon"], tuple(drawn))


FORMULAS: dict[str, Callable[[Inputs], Any]] = {
    "report_variance": lambda i: noise(i, i.get("value", float(i.get("holds", False)))),
    "srs_variance": simple,
    "srs_worst_variance": lambda i: (
        span(i) ** 2 * sampled([i["population"]], [i["sample"]]).variance(reports(i)).total
    ),
    "cluster_variance": drawn_clusters,
    "two_stage_variance": drawn_clusters,
    "intracluster_correlation": lambda i: oracle.intracluster_correlation(i["clusters"]),
    "cluster_worst_variance_one_bit": lambda i: (
        span(i) ** 2 * clusters(i).variance(reports(i | {"mechanism": "one-bit"})).total
    ),
    "cluster_sampling_design_effect": lambda i: effects(i)[0],
    "cluster_total_design_effect": lambda i: effects(i)[1],
    "two_stage_variance_icc": lambda i: clusters(i).variance(COIN).total,
    "stratified_variance": strata,
    "invitations": lambda i: invitations(i["needed"], i["response"], i["failure"]),
    "local_release_loss": release_loss,
    "two_releases_one_sample": lambda i: sampled([10], [1]).loss(
        sum(i["epsilons"]), (round(10 * i["sampling_rate"]),)
    ),
    "central_scale_srs": lambda i: (
        i["range_"] * sampled([i["population"]], [i["sample"]]).scale(i["epsilon"])
    ),
    "normal_laplace_tail": lambda i: tails.normal_laplace(i["sd"], i["scale"], i["error"]),
    "hoeffding_reports_one_bit": lambda i: hoeffding(i, sampled([10**6], [1])),
    # without Serfling's factor: of one cluster of very many
    "hoeffding_clusters_one_bit": lambda i: hoeffding(
        i, ClusterDesign(10**10, i["cluster_size"]).at(1, COIN)
    ),
    "hoeffding_strata_one_bit": hoeffding_strata,
}


@pytest.mark.parametrize(
    ("name", "inputs", "value"), CASES, ids=lambda c: c if isinstance(c, str) else ""
)
def test_a_design_meets_its_value(name: str, inputs: Inputs, value: Any) -> None:
    found = FORMULAS[name](inputs)
    assert (
        found == value
        if value is None or isinstance(value, int)
        else found == pytest.approx(value, rel=1e-8)
    )


def test_plans_are_those_of_the_values() -> None:
    """The sample sizes of the reference, asked of the planner itself."""
    asked: dict[str, Any] = {
        "epsilon": 1.0,
        "error": 0.05,
        "failure": 0.05,
        "binary": True,
        "tail": "normal",
    }
    drawn = [SimpleDesign(n, 0.5) for n in (5000, 1300)] + [ClusterDesign(400, 25, None, 0.05, 0.5)]
    bests = [plan(Mean(design=design, mechanism="Warner", **asked)).best for design in drawn]
    assert [best and best.value for best in bests] == [1671, None, 84]
    design = StratifiedDesign((6000, 3000, 1000), (0.1, 0.3, 0.5), "neyman")
    wide = asked | {"error": 0.1, "binary": False}
    found = plan(Mean(design=design, mechanism="local Laplace", **wide)).best
    assert (found.value, found.sample.answers) == (789, (468, 239, 82))
    assert largest(COIN, 1.0, 1.0, 10).total == pytest.approx(0.25 * 10 / 9 + COIN.low)
