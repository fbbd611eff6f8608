"""Values that others computed, and how this package computes each of them.

`reference_values.json` lists cases: `what` is computed, its `inputs`, and the `value` that others
found. For each kind of case there is a function here; it returns pairs of a value that was
computed by others and ours.
"""

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from enumerate_surveys import moments

from ldpnb.survey.designs import ClusteredSample, SimpleSample, StratifiedSample
from ldpnb.survey.device import Device, device
from ldpnb.survey.estimation import Estimate, estimate
from ldpnb.survey.laws import normal_chance
from ldpnb.survey.planning import plan

CASES: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "reference_values.json").read_text()
)
NAMES = {"one-bit": "1-bit", "local Laplace": "Laplace"}


def tallies(case: dict[str, Any]) -> dict[str, list[Any]]:
    return {"report": ["yes", "no"], "count": [case["ones"], case["reports"] - case["ones"]]}


def clipped(ends: Any) -> list[float]:
    return np.clip(np.ravel(ends), 0, 1).tolist()


def device_of(case: dict[str, Any]) -> Device:
    mechanism = NAMES.get(case["mechanism"], case["mechanism"])
    if case.get("binary") or case.get("domain_size") == 2:
        return device(mechanism="Warner", epsilon=case["epsilon"])

    stated: dict[str, Any] = {"mechanism": mechanism, "epsilon": case["epsilon"]}
    if mechanism in ("1-bit", "Laplace"):
        stated |= {"low": case.get("low", 0.0), "high": case.get("high", 1.0)}
    else:
        stated["values"] = case.get("domain_size", 4)

    return device(**stated)


def grouped(reports: dict[str, list[Any]] | list[list[Any]], name: str) -> dict[str, list[Any]]:
    """A table of reports in strata or clusters."""
    table: dict[str, list[Any]] = {name: [], "report": []}
    for group, listed in reports.items() if isinstance(reports, dict) else enumerate(reports):
        table[name] += [str(group)] * len(listed)
        table["report"] += listed

    return table


def estimate_and_variance(value: dict[str, float], row: Estimate) -> list[tuple[float, float]]:
    return [(value["estimate"], row.estimate), (value["variance"], row.standard_error**2)]


def channel(case, value):
    made = device_of(case)
    return [
        (value["p"], made.p),
        (value["q"], made.q),
        (value["value_of_1"], made.value(1)),
        (value["value_of_0"], made.value(0)),
        (value["variance_holder"], made.variance(1)),
        (value["variance_other"], made.variance(0)),
    ]


def binary(case, value):
    row = estimate(
        tallies(case), mechanism="Warner", epsilon=case["epsilon"], population=case["population"]
    ).rows[0]
    return estimate_and_variance(value, row)


def binary_intervals(case, value):
    row = estimate(tallies(case), mechanism="Warner", epsilon=case["epsilon"]).rows[0]
    low, high = clipped(value["clopper_pearson_through_channel"])
    return [(low, row.low), (high, row.high)]


def finite_interval(case, value):
    row = estimate(
        tallies(case),
        mechanism="Warner",
        epsilon=case["epsilon"],
        population=case["population"],
        level=1 - case["alpha"],
    ).rows[0]
    return [(value[0], row.low), (value[1], row.high)]


def misfit(case, value):
    row = estimate(
        tallies(case), mechanism="Warner", epsilon=case["epsilon"], population=case["population"]
    ).rows[0]
    is_remarked = math.isnan(row.low) and "no true" in row.remark
    return [(float(value["incompatible"]), float(is_remarked))]


def least_reports(case, value):
    pairs = []
    for epsilon, least in zip(case["epsilon"], value, strict=True):
        found = []
        for number in (least - 1, least):
            table = {"report": ["1", "0"], "count": [number - 1, 1]}
            row = estimate(table, epsilon=epsilon, low=0, high=1, population=1000).rows[0]
            found.append(row.interval == "exact" or "say yes" in row.remark)
        pairs.append((1.0, float(found == [False, True])))

    return pairs


def one_table(case, value):
    stated = {"mechanism": "Warner", "epsilon": case["epsilon"], "level": 1 - case["alpha"]}
    row = estimate(case["reports"], **stated, population=case["population"]).rows[0]
    infinite = estimate(case["reports"], **stated).rows[0]
    low, high = clipped(value["clopper_pearson_through_channel"])
    return [
        (value["estimate"], row.estimate),
        (value["variance"], row.standard_error**2),
        (low, infinite.low),
        (high, infinite.high),
    ]


def one_bit_mean(case, value):
    stated = {name: case[name] for name in ("epsilon", "low", "high", "population")}
    row = estimate(case["reports"], mechanism="1-bit", **stated).rows[0]
    return estimate_and_variance(value, row)


def noisy_mean(case, value):
    stated = {name: case[name] for name in ("epsilon", "low", "high", "population")}
    row = estimate(case["reports"], mechanism="Laplace", **stated).rows[0]
    return estimate_and_variance(value, row)


def categorical(case, value):
    answers = list("ABCDE"[: len(case["counts"])])
    stated = {
        "mechanism": case["mechanism"],
        "epsilon": case["epsilon"],
        "values": answers,
        "level": 1 - case["alpha"],
        "simultaneous": True,
    }
    if case["mechanism"] == "SUE":
        stated["reports"] = case["respondents"]

    table = {"report": answers, "count": case["counts"]}
    rows = estimate(table, **stated, population=case["population"]).rows
    pairs = list(zip(value["shares"], [row.estimate for row in rows], strict=True))
    pairs += zip(value["standard_errors"], [row.standard_error for row in rows], strict=True)

    if "clopper_pearson_bonferroni" in value:
        rows = estimate(table, **stated).rows
        ends = itertools.chain.from_iterable((row.low, row.high) for row in rows)
        pairs += zip(clipped(value["clopper_pearson_bonferroni"]), ends, strict=True)

    return pairs


def strata(case, value):
    table = grouped(case["reports"], "stratum")
    row = estimate(table, mechanism="Warner", epsilon=1, population=case["sizes"]).rows[0]
    return estimate_and_variance(value, row)


def strata_of_numbers(case, value):
    table = grouped(case["reports"], "stratum")
    weights = [
        size / len(reports) for size, reports in zip(case["sizes"], case["reports"], strict=True)
    ]
    table["weight"] = [weights[int(stratum)] for stratum in table["stratum"]]

    stated = {name: case[name] for name in ("epsilon", "low", "high")}
    row = estimate(table, mechanism="1-bit", **stated).rows[0]
    return estimate_and_variance(value, row)


def clusters(case, value):
    table = grouped(case["reports"], "cluster")
    with_sizes = table | {"cluster_size": [case["cluster_size"]] * len(table["report"])}
    stated = {"mechanism": "Warner", "epsilon": case["epsilon"]}
    row = estimate(with_sizes, **stated, clusters=case["clusters"]).rows[0]
    ultimate = estimate(table, **stated).rows[0]

    low, high = clipped(value["interval_t"])
    return [
        *estimate_and_variance(value, row),
        (value["df"], int(row.interval.split()[1])),
        (low, row.low),
        (high, row.high),
        (value["ultimate_cluster"], ultimate.standard_error**2),
    ]


def ratio(case, value):
    table = grouped(case["reports"], "cluster")
    table["cluster_size"] = [len(case["reports"][name]) for name in table["cluster"]]
    row = estimate(
        table, mechanism="Warner", epsilon=case["epsilon"], clusters=case["clusters"]
    ).rows[0]
    return estimate_and_variance(value, row)


def two_stages(case, value):
    table = grouped(case["reports"], "cluster")
    table["cluster_size"] = [case["cluster_size"]] * len(table["report"])
    stated = {name: case[name] for name in ("epsilon", "low", "high", "clusters")}
    row = estimate(table, mechanism="1-bit", **stated).rows[0]
    return estimate_and_variance(value, row)


def poststrata(case, value):
    table = {"stratum": [str(group) for group in case["member"]], "report": case["reports"]}
    row = estimate(table, mechanism="Warner", epsilon=1, population=case["totals"]).rows[0]
    return estimate_and_variance(value, row)


def forced(case, value):
    faces = case["outcomes"]
    made = device(p=f"{faces - case['no']}/{faces}", q=f"{case['yes']}/{faces}")
    return [(value["p"], made.p), (value["q"], made.q), (value["epsilon"], made.epsilon)]


def dice(case, value):
    true = value["truthful_outcomes"]
    faces = case["outcomes"]
    made = device(p=f"{true}/{faces}", q=f"{faces - true}/{faces}")
    ideal = device(mechanism="Warner", epsilon=case["epsilon"])
    return [
        (value["p"], made.p),
        (value["epsilon"], made.epsilon),
        (value["noise_variance_ratio"], made.base / ideal.base),
    ]


def report_variance(case, value):
    made = device_of(case)
    truth = float(case.get("holds", 0))
    if "value" in case:
        truth = (case["value"] - made.low) / made.length
    return [(value, made.length**2 * made.variance(truth))]


def srs_variance(case, value):
    made = device_of(case)
    if "holds" in case:
        truths = [float(holds) for holds in case["holds"]]
    else:
        truths = [(number - made.low) / made.length for number in case["values"]]

    _, variance, _ = moments(made, truths, case["sample"])
    return [(value, made.length**2 * variance)]


def srs_worst_variance(case, value):
    made = device_of(case)
    found = SimpleSample(case["population"]).variance(case["sample"], made)
    return [(value, made.length**2 * found.total)]


def cluster_worst_variance(case, value):
    size = case["cluster_size"]
    made = device(epsilon=case["epsilon"], low=0, high=1)
    design = ClusteredSample(case["clusters"], size, size)
    return [(value, design.variance(case["chosen"], made).total)]


def sampling_design_effect(case, value):
    design = ClusteredSample(case["clusters"], case["cluster_size"], 25, case["icc"], 0.5)
    simple = (1 - 40 / 400) * 0.25 / (40 * 25)
    return [(value, design.variance(40, device(p=1, q=0)).sampling / simple)]


def total_design_effect(case, value):
    design = ClusteredSample(case["clusters"], case["cluster_size"], 25, case["icc"], 0.5)
    made = device(mechanism="Warner", epsilon=1)
    simple = ((1 - 40 / 400) * case["S2"] + case["randomisation"]) / (40 * 25)
    return [(value, design.variance(case["chosen"], made).total / simple)]


def two_stage_variance(case, value):
    design = ClusteredSample(
        case["clusters"], case["cluster_size"], case["take"], case["icc"], case["S2"] ** 0.5
    )
    made = device(mechanism="Warner", epsilon=1)
    return [(value, design.variance(case["chosen"], made).total)]


def stratified_variance(case, value):
    truths = []
    strata = []
    for place, stratum in enumerate(case["strata"]):
        truths += stratum
        strata += [place] * len(stratum)

    _, variance, _ = moments(device_of(case), truths, case["drawn"], strata=strata)
    return [(value, variance)]


def private_neyman(case, value):
    names = "abc"
    epsilon = math.sqrt(2 / case["randomisation"][0])
    made = device(epsilon=epsilon, mechanism="Laplace", low=0, high=1)

    sizes = dict(zip(names, case["sizes"], strict=True))
    sds = {name: variance**0.5 for name, variance in zip(names, case["S2"], strict=True)}
    design = StratifiedSample(sizes, dict.fromkeys(names, 1.0), sds, neyman=True)

    # Theirs are real numbers, ours whole ones.
    whole = design.allocated(case["total"], made).values()
    farthest = max(abs(theirs - ours) for theirs, ours in zip(value, whole, strict=True))
    return [(1.0, float(farthest < 1))]


def kish(case, value):
    table = {"report": [1, 0, 0, 1], "weight": case["weights"]}
    row = estimate(table, mechanism="Warner", epsilon=1).rows[0]
    noise = device(mechanism="Warner", epsilon=1).base
    return [(value, row.randomisation**2 * 4 / noise)]


def sample_size(case, value):
    made = device(mechanism="Warner", epsilon=1)
    design = SimpleSample(case["population"])
    wanted = -1 if value is None else value

    for count in range(2, case["population"] + 1):
        if normal_chance(design, made, count, case["error"], 1) <= case["failure"]:
            return [(wanted, count)]

    return [(wanted, -1)]


def clusters_needed(case, value):
    found = plan(
        epsilon=1, error=0.05, failure=0.05, clusters=400, cluster_size=25, icc=0.05, sd=0.5
    )
    return [(value, found.best.count)]


def epsilon_for_randomisation(case, value):
    made = device(mechanism=NAMES[case["mechanism"]], epsilon=value, low=0, high=1)
    return [(case["variance"], made.base)]


COMPUTED: dict[str, Callable[[Any, Any], list[tuple[float, float]]]] = {
    "channel": channel,
    "srs binary estimate": binary,
    "srs binary intervals 95%": binary_intervals,
    "srs binary exact finite-population interval": finite_interval,
    "srs binary interval, reports outside the channel": misfit,
    "least reports for guaranteed Clopper-Pearson (n > 1/q)": least_reports,
    "srs binary interval 99% one table": one_table,
    "srs one-bit mean, any values": one_bit_mean,
    "srs local Laplace mean": noisy_mean,
    "srs categorical shares": categorical,
    "strata binary": strata,
    "strata one-bit mean, any values (no fpc)": strata_of_numbers,
    "clusters of equal size binary": clusters,
    "clusters of unequal size: ratio, N estimated": ratio,
    "two-stage one-bit mean, equal sizes: conservative variance": two_stages,
    "poststratified by known totals": poststrata,
    "forced response: forced yes / forced no / truth of m": forced,
    "nearest realisable truthful probability not above the plan's": dice,
    "report_variance": report_variance,
    "srs_variance": srs_variance,
    "srs_worst_variance": srs_worst_variance,
    "cluster_worst_variance_one_bit": cluster_worst_variance,
    "cluster_sampling_design_effect": sampling_design_effect,
    "cluster_total_design_effect": total_design_effect,
    "two_stage_variance_icc": two_stage_variance,
    "stratified_variance": stratified_variance,
    "private_neyman": private_neyman,
    "kish_design_effect": kish,
    "srs_sample_size": sample_size,
    "clusters_needed": clusters_needed,
    "epsilon_for_randomisation": epsilon_for_randomisation,
}
