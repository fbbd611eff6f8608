"""Estimates, variances, intervals and devices meet the values of an independent program."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.planning.laws import Linear, curator_failure
from ldpnb.planning.mechanisms import CURATOR
from ldpnb.planning.plans import plan as planned
from ldpnb.planning.questions import Mean
from ldpnb.planning.reports import Reports as Made
from ldpnb.planning.samples import SimpleDesign, StratifiedDesign
from ldpnb.surveys import fieldwork, intervals, samples
from ldpnb.surveys.binomials import sampled_noisy_exact
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.reports import DEVICES, Reports, realised
from ldpnb.surveys.samples import Point

CASES = json.loads((Path(__file__).parents[1] / "reference/survey_estimation.json").read_text())["cases"]
Inputs = dict[str, Any]
Result = dict[str, Any]

OTHER_CASES = {
    "chi-square of fit on the report scale",
    "clusters of unequal size: ratio, N known",
    "poisson: Horvitz-Thompson around .5 (the plan's)",
    "poisson: Horvitz-Thompson around 0",
    "expectation if respondents withdraw after seeing their report",
    "expectation if a part answers 'no' whatever the card says",
    *(f"curator bounded: least sample by {name}" for name in ("Chebyshev", "Hoeffding, optimal split", "normal")),
    *(f"curator bounded: least sample by Serfling{name}" for name in (", optimal split", " + exact convolution")),
}
"""Values of the independent program for what the package does not compute."""

ENUMERATED = "true variance of the estimate by enumeration (E of the corrected variance estimate is the same)"
"""What `test_estimation_enumeration` compares."""

OTHER_VALUES = {
    "note", "clipped", "plain_with_fpc", "plain_without_fpc", "wilson_through_channel", "score_fpc", "wald_sidak", "wrong",
    "satterthwaite_df_of_estimated_part", "korn_graubard_through_channel", "ultimate_cluster", "s2_of_values",
    "largest_bias_of_variance", "wrong_with_fpc", "covariance_of_first_two", "sum",
}  # fmt: skip
"""The same, in a case of which the package computes other values."""

VAST = 10**13
"""So many times larger a population leaves a correction for its size, and what a census errs by, without effect."""


def survey(i: Inputs, **design: Any) -> FieldPlan:
    """The plan of a case."""
    low, high = i.get("low", 0.0), i.get("high", 1.0)
    if i["mechanism"] == "Laplace":
        return FieldPlan(kind="Laplace", epsilon=i["epsilon"], low=low, high=high, **design)
    kinds = {"k-RR": KaryRandomisedResponse, "SUE": UnaryEncoding.symmetric, "OUE": UnaryEncoding.optimised}
    labels = tuple("abcde"[: i.get("domain_size", 2)]) if i["mechanism"] in kinds else ()
    device = kinds.get(i["mechanism"], KaryRandomisedResponse)(i["epsilon"], len(labels) or 2)
    kind = {"k-RR": "labels", "SUE": "bits", "OUE": "bits", "one-bit": "number"}.get(i["mechanism"], "binary")
    chances = {"p": repr(float(device.p)), "q": repr(float(device.q))}
    return FieldPlan(kind=kind, low=low, high=high, labels=labels, **chances, **design)


def simple(i: Inputs, reports: int) -> FieldPlan:
    return survey(i, design="simple", population=i["population"], asked=reports)


def found(plan: FieldPlan, table: dict[str, Any], **options: Any) -> Result:
    """What `estimate` says, with other intervals of the same reports."""
    device, (row, *_) = plan.reports, estimate(plan, table, **options).rows
    each = options.get("alpha", 0.05) / max(len(plan.labels), 1)
    answers, sample = fieldwork.read(plan, {name: np.asarray(column) for name, column in table.items()})
    df = samples.estimated_mean(sample, device.value(answers[:, 0]), device).freedom
    normal, student = (Point(row.estimate, row.standard_error**2, 0, freedom) for freedom in (math.inf, df))
    result = {
        "estimate": row.estimate, "variance": row.standard_error**2, "standard_error": row.standard_error, "df": df,
        "satterthwaite_df": df, "wald": intervals.student(normal, each)[:2], "interval_t": intervals.student(student, each)[:2],
        "interval": [row.low, row.high], "incompatible": "do not fit" in row.remark, "lowest_possible_rate": device.q,
        "randomisation_part": row.randomisation_error**2, "sampling_part": row.sampling_error**2,
        "design_effect_sampling": row.design_effect, "design_effect_total": row.design_effect_total,
    }  # fmt: skip
    if plan.kind != "Laplace":
        rates = intervals.clopper_pearson(int(answers[:, 0].sum()), len(answers), each)
        channel = intervals.through_channel(device, rates)
        result |= {"clopper_pearson_rate": rates, "clopper_pearson_through_channel": channel}
    return result


def bits(i: Inputs) -> list[int]:
    return i["reports"] if isinstance(i["reports"], list) else [1] * i["ones"] + [0] * (i["reports"] - i["ones"])


def channel(i: Inputs) -> Result:
    device = survey(i, design="everyone", asked=1).reports
    return {
        "p": device.p, "q": device.q, "value_of_1": device.value(1), "value_of_0": device.value(0),
        "variance_holder": device.noise(1), "variance_other": device.noise(0),
    }  # fmt: skip


def srs(i: Inputs) -> Result:
    plan = simple(i, len(bits(i)))
    values = plan.reports.value(np.array(bits(i)))
    return found(plan, {"report": bits(i)}, alpha=i.get("alpha", 0.05)) | {"values": values}


def least_guaranteed(i: Inputs) -> list[int]:
    plans = [survey(i | {"epsilon": epsilon}, design="everyone", asked=1) for epsilon in i["epsilon"]]
    return [math.floor(plan.reports.guaranteed_from) + 1 for plan in plans]


def categorical(i: Inputs) -> Result:
    k, number = len(i["counts"]), i["respondents"]
    plan = simple(i | {"domain_size": k}, number)
    if plan.kind == "labels":
        table = {"report": np.repeat(plan.labels, i["counts"])}
    else:
        table = {"report": ["".join(str(int(row < count)) for count in i["counts"]) for row in range(number)]}
    rows, alpha = estimate(plan, table, alpha=i["alpha"]).rows, i["alpha"] / k
    points = [Point(row.estimate, row.standard_error**2, 0, math.inf) for row in rows]
    rates = [intervals.clopper_pearson(count, number, alpha) for count in i["counts"]]
    return {
        "shares": [row.estimate for row in rows], "standard_errors": [row.standard_error for row in rows],
        "wald_bonferroni": [intervals.student(point, alpha)[:2] for point in points],
        "clopper_pearson_bonferroni": [intervals.through_channel(plan.reports, rate) for rate in rates],
    }  # fmt: skip


def stratified(i: Inputs, reports: Any, sizes: Any, *, scale: int = 1) -> Result:
    answers, people = (x if isinstance(x, dict) else dict(enumerate(x)) for x in (reports, sizes))
    strata = {str(name): (size * scale, len(answers[name])) for name, size in people.items()}
    plan = survey(i, design="strata", strata=strata, asked=sum(map(len, answers.values())))
    names = [name for name, own in answers.items() for _ in own]
    return found(plan, {"report": [b for own in answers.values() for b in own], "stratum": names})


def strata(i: Inputs) -> Result:
    by = [
        found(simple(i | {"population": i["sizes"][name]}, len(own)), {"report": own})
        for name, own in i["reports"].items()
    ]
    return stratified(i, i["reports"], i["sizes"]) | {"by_stratum": by}


def pooled(i: Inputs) -> Result:
    reports = [[1] * ones + [0] * (take - ones) for ones, take in zip(i["ones"], i["takes"], strict=True)]
    return stratified(i, reports, i["sizes"])


def clustered(i: Inputs, *, scale: int = 1) -> tuple[FieldPlan, dict[str, Any]]:
    """The plan and the table of clusters, and of two stages where their sizes are given."""
    answers = i.get("reports", i.get("holds"))
    answers = answers if isinstance(answers, dict) else {str(g): own for g, own in enumerate(answers)}
    size, most = i.get("cluster_size", 0), max(map(len, answers.values()))
    sizes = i.get("cluster_sizes", {}) | (dict.fromkeys(answers, size) if size > most else {})
    plan = survey(
        i, design="two stages" if sizes else "clusters", population=i.get("population", i["clusters"] * size) * scale,
        clusters=i["clusters"] * scale, chosen=len(answers), take=most if sizes else 0, cluster_size=size,
        asked=len(answers) * most,
    )  # fmt: skip
    reports = [b for own in answers.values() for b in own]
    names = [name for name, own in answers.items() for _ in own]
    people = [sizes.get(name, len(own)) for name, own in answers.items() for _ in own]
    return plan, {"report": reports, "cluster": names, "cluster_size": people}


def clusters(i: Inputs) -> Result:
    return found(*clustered(i))


def around_nothing(i: Inputs) -> Result:
    plan, table = clustered(i)
    answers, sample = fieldwork.read(plan, {name: np.asarray(column) for name, column in table.items()})
    values, people = plan.reports.value(answers[:, 0]), plan.population
    variance = float(sample.variance(values) / people**2 + plan.reports.noise(0) / people)
    return {"estimate": sample.weights @ values / people, "variance": variance, "standard_error": math.sqrt(variance)}


def ratio(i: Inputs) -> Result:
    plan, table = clustered(i)
    answers, sample = fieldwork.read(plan, {name: np.asarray(column) for name, column in table.items()})
    point = samples.estimated_mean(sample, plan.reports.value(answers[:, 0]), plan.reports, np.ones(len(answers)))
    return {"estimate": point.estimate, "variance": point.variance, "standard_error": math.sqrt(point.variance)}


def category(i: Inputs) -> Result:
    plan, table = clustered(i)
    return found(plan, table | {"report": ["ba"[holds] for holds in table["report"]]})


def ultimate(i: Inputs) -> Result:
    return {"ultimate": found(*clustered(i, scale=VAST))["variance"]}


def domain(i: Inputs) -> Result:
    inside = [b for b, member in zip(i["reports"], i["member"], strict=True) if member]
    return srs(i | {"population": i["domain_size"], "reports": inside})


def poststrata(i: Inputs) -> Result:
    pairs = list(zip(i["reports"], i["member"], strict=True))
    return stratified(i, {name: [b for b, m in pairs if str(m) == name] for name in i["totals"]}, i["totals"])


def classes(i: Inputs) -> Result:
    names = [name for name, own in i["reports"].items() for _ in own]
    table = {"report": [b for own in i["reports"].values() for b in own], "class": names}
    return found(simple(i, sum(i["invited"].values())), table, classes=i["invited"])


def nearest(i: Inputs) -> Result:
    assert i["outcomes"] in DEVICES.values()
    p, q = realised(i["epsilon"], i["outcomes"])
    device, wished = Reports("binary", p, q), survey(i | {"mechanism": "Warner"}, design="everyone", asked=1).reports
    return {
        "truthful_outcomes": p * i["outcomes"], "p": p, "epsilon": device.epsilon,
        "noise_variance_ratio": float(device.noise(0)) / wished.noise(0),
    }  # fmt: skip


def forcing(i: Inputs) -> Result:
    p, q = Fraction(i["outcomes"] - i["no"], i["outcomes"]), Fraction(i["yes"], i["outcomes"])
    return {"p": p, "q": q, "epsilon": Reports("binary", p, q).epsilon}


def released(i: Inputs) -> Result:
    scale = 1 / (i["sample"] * i["epsilon"])
    plan = FieldPlan(
        design="simple", kind="binary", collection="curator", epsilon=i["epsilon"], scale=scale,
        population=i["population"], asked=i["sample"], answers=i["sample"],
    )  # fmt: skip
    row = estimate(plan, {"report": [i["released"]]}).rows[0]
    half = intervals.released_half_width(row.standard_error**2, scale, i["alpha"])
    return {
        "scale": scale, "estimate": row.estimate, "variance": row.standard_error**2,
        "standard_error": row.standard_error, "half_width": half, "interval": [row.low, row.high],
    }  # fmt: skip


def failure(i: Inputs) -> tuple[float, int]:
    return curator_failure(i["population"], i["sample"], i["error"], 1 / i["sample"] / i["epsilon"])


def failure_at(i: Inputs) -> float:
    holders = np.array([float(i["holders"])])
    return float(sampled_noisy_exact(i["population"], holders, i["sample"], i["error"], 1 / i["epsilon"])[0])


def least_binary(i: Inputs) -> int:
    design, target = SimpleDesign(i["population"]), {name: i[name] for name in ("error", "failure", "epsilon")}
    return int(planned(Mean(design=design, mechanism=CURATOR, binary=True, **target)).answers[0].value)


def least_bounded(i: Inputs) -> int:
    """The least sample of numbers, by the bound that a plan uses."""
    low, high, people = 0, i["population"], i["population"]
    while high - low > 1:
        n = (low + high) // 2
        law = Linear(Made(), noise=1 / (n * i["epsilon"]))
        enough = law.failure(StratifiedDesign((people,), answers=(n,)), i["error"], "guaranteed")[0] <= i["failure"]
        low, high = (low, n) if enough else (n, high)
    return high


ROUTES: dict[str, Callable[[Inputs], Any]] = {
    "channel": channel,
    "srs binary estimate": srs,
    "srs binary intervals 95%": srs,
    "srs binary exact finite-population interval": lambda i: srs(i)["interval"],
    "srs binary interval, reports outside the channel": srs,
    "least reports for guaranteed Clopper-Pearson (n > 1/q)": least_guaranteed,
    "srs binary interval 99% one table": srs,
    "srs one-bit mean, any values": srs,
    "srs local Laplace mean": srs,
    "srs categorical shares": categorical,
    "strata binary": strata,
    "strata one-bit mean, any values (no fpc)": lambda i: stratified(i, i["reports"], i["sizes"], scale=VAST),
    "strata, proportional allocation: Clopper-Pearson of the pooled count": pooled,
    "clusters of equal size binary": clusters,
    "clusters of unequal size: expansion around 0": around_nothing,
    "clusters of unequal size: ratio, N estimated": ratio,
    "clusters, share of one category by k-RR": category,
    "two-stage: expansion around .5": clusters,
    "two-stage: ultimate cluster variance (conservative), and wrongly times 1-m/M": ultimate,
    "two-stage one-bit mean, equal sizes: conservative variance": clusters,
    "domain, size known": domain,
    "poststratified by known totals": poststrata,
    "nonresponse, weighting classes": classes,
    "nearest realisable truthful probability not above the plan's": nearest,
    "forced response: forced yes / forced no / truth of m": forcing,
    "curator share: estimate, variance, normal+Laplace interval": released,
    "curator share: exact finite-population interval": lambda i: released(i)["interval"],
    "curator binary: failure, worst number of holders": failure,
    "curator binary: failure at H": failure_at,
    "curator binary: least sample": least_binary,
    "curator binary: failure, small": lambda i: dict(zip(("failure", "holders"), failure(i), strict=True)),
    "curator bounded: least sample by Serfling Chernoff with Laplace mgf": least_bounded,
}
COMPUTED = [case for case in CASES if case["what"] in ROUTES]


def compare(result: Any, expected: Any, digits: int) -> None:
    if isinstance(expected, dict):
        for key in expected.keys() - OTHER_VALUES:
            compare(result[key], expected[key], digits)
    elif isinstance(expected, list):
        for one, other in zip(result, expected, strict=True):
            compare(one, other, digits)
    else:
        assert result == pytest.approx(expected, rel=10.0 ** -(digits - 1), abs=1e-11)


@pytest.mark.parametrize("case", COMPUTED, ids=lambda case: case["what"][:40])
def test_the_value_is_the_independent_one(case: dict[str, Any]) -> None:
    compare(ROUTES[case["what"]](case["inputs"]), case["value"], case["digits"])


def test_every_case_has_a_route_or_is_named_as_another() -> None:
    assert {case["what"] for case in CASES} == set(ROUTES) | OTHER_CASES | {ENUMERATED}
    assert (len(CASES), len(COMPUTED)) == (74, 53)
