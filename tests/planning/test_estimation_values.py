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
from ldpnb.planning.samples import SimpleDesign, StratifiedDesign
from ldpnb.surveys import fieldwork, intervals
from ldpnb.surveys.binomials import sampled_noisy_exact
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.reports import DEVICES, Reports, odds, realised
from ldpnb.surveys.samples import Point, estimated_mean

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
    "curator share: estimate, variance, normal+Laplace interval",
    "curator share: exact finite-population interval",
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


def point_of(plan: FieldPlan, table: dict[str, Any], *, shift: float = 0.0, ratio: bool = False) -> Point:
    """The estimate of the first label with its variance, of reports whose values are moved."""
    answers, sample = fieldwork.read(plan, table)
    values, reports = plan.reports.value(answers[:, 0]) + shift, plan.reports
    return estimated_mean(sample, values, reports, np.ones(len(values)) if ratio else None)


def found(plan: FieldPlan, table: dict[str, Any], **options: Any) -> Result:
    """What `estimate` says, with other intervals of the same reports."""
    rows, k = estimate(plan, table, **options).rows, max(len(plan.labels), 1)
    row, each, df = rows[0], options.get("alpha", 0.05) / k, point_of(plan, table).freedom

    def students(freedom: float) -> list[Any]:
        return [intervals.student(Point(r.estimate, r.standard_error**2, 0, freedom), each)[:2] for r in rows]

    result = {
        "estimate": row.estimate, "variance": row.standard_error**2, "standard_error": row.standard_error, "df": df,
        "satterthwaite_df": df, "wald": students(math.inf)[0], "interval_t": students(df)[0],
        "interval": [row.low, row.high], "incompatible": "do not fit" in row.remark, "lowest_possible_rate": plan.reports.q,
        "randomisation_part": row.randomisation_error**2, "sampling_part": row.sampling_error**2,
        "design_effect_sampling": row.design_effect, "design_effect_total": row.design_effect_total,
        "shares": [r.estimate for r in rows], "standard_errors": [r.standard_error for r in rows],
        "wald_bonferroni": students(math.inf),
    }  # fmt: skip
    if plan.kind != "Laplace":
        ones = fieldwork.read(plan, table)[0].sum(axis=0).astype(int).tolist()
        rates = [intervals.clopper_pearson(count, row.reports, each) for count in ones]
        channel = [[plan.reports.value(end) for end in rate] for rate in rates]
        result |= {"clopper_pearson_rate": rates[0], "clopper_pearson_through_channel": channel[0]}
        result["clopper_pearson_bonferroni"] = channel
    return result


def bits(i: Inputs) -> list[int]:
    return i["reports"] if isinstance(i["reports"], list) else [1] * i["ones"] + [0] * (i["reports"] - i["ones"])


def channel(i: Inputs) -> Result:
    reports = survey(i, design="everyone", asked=1).reports
    return {
        "p": reports.p, "q": reports.q, "value_of_1": reports.value(1), "value_of_0": reports.value(0),
        "variance_holder": reports.variance(1), "variance_other": reports.variance(0),
    }  # fmt: skip


def srs(i: Inputs) -> Result:
    plan, (low, high) = simple(i, len(bits(i))), (i.get("low", 0.0), i.get("high", 1.0))
    values = low + (high - low) * plan.reports.value(np.array(bits(i)))
    return found(plan, {"report": bits(i)}, alpha=i.get("alpha", 0.05)) | {"values": values}


def least_guaranteed(i: Inputs) -> list[int]:
    """Fewest reports of numbers whose interval is not Student's."""
    least = []
    for epsilon in i["epsilon"]:
        plans = (
            survey(i | {"epsilon": epsilon, "mechanism": "one-bit"}, design="everyone", asked=n) for n in range(2, 999)
        )
        rows = (estimate(plan, {"report": np.arange(plan.asked) % 2}).rows[0] for plan in plans)
        least.append(next(row.reports for row in rows if row.interval == "guaranteed"))
    return least


def categorical(i: Inputs) -> Result:
    number = i["respondents"]
    plan = simple(i | {"domain_size": len(i["counts"])}, number)
    words = ["".join(str(int(row < count)) for count in i["counts"]) for row in range(number)]
    return found(
        plan, {"report": np.repeat(plan.labels, i["counts"]) if plan.kind == "labels" else words}, alpha=i["alpha"]
    )


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
    point = point_of(*clustered(i), shift=1 / 2)
    return {"estimate": point.estimate - 1 / 2, "variance": point.variance, "standard_error": math.sqrt(point.variance)}


def ratio(i: Inputs) -> Result:
    point = point_of(*clustered(i), ratio=True)
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
    p, q = realised("Warner", i["epsilon"], i["outcomes"])
    plan = FieldPlan(design="everyone", kind="binary", p=str(p), q=str(q), asked=1)
    wished = survey(i | {"mechanism": "Warner"}, design="everyone", asked=1).reports
    return {
        "truthful_outcomes": p * i["outcomes"], "p": p, "epsilon": plan.epsilon,
        "noise_variance_ratio": plan.reports.variance(0) / wished.variance(0),
    }  # fmt: skip


def forcing(i: Inputs) -> Result:
    p, q = Fraction(i["outcomes"] - i["no"], i["outcomes"]), Fraction(i["yes"], i["outcomes"])
    return {"p": p, "q": q, "epsilon": math.log(odds("binary", p, q))}


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
        law = Linear(Reports(), noise=1 / (n * i["epsilon"]))
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
    assert (len(CASES), len(COMPUTED)) == (74, 50)
