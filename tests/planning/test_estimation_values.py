"""Estimates, variances, intervals and devices meet the values of an independent program."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.planning.laws import curator_failure
from ldpnb.planning.mechanisms import CURATOR
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Mean
from ldpnb.planning.samples import SimpleDesign
from ldpnb.surveys import fieldwork, intervals
from ldpnb.surveys.binomials import sampled_noisy_exact
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.reports import DEVICES, odds, realised
from ldpnb.surveys.samples import Point, Sample, estimated_mean

CASES = json.loads((Path(__file__).parents[1] / "reference/survey_estimation.json").read_text())[
    "cases"
]
Inputs = dict[str, Any]
Result = dict[str, Any]

OTHER_CASES = {
    "true variance of the estimate by enumeration (E of the corrected variance estimate is the same)",
    "chi-square of fit on the report scale",
    "clusters of unequal size: ratio, N known",
    "poisson: Horvitz-Thompson around .5 (the plan's)",
    "poisson: Horvitz-Thompson around 0",
    "expectation if respondents withdraw after seeing their report",
    "expectation if a part answers 'no' whatever the card says",
    *(
        f"curator bounded: least sample by {name}"
        for name in ("Chebyshev", "Hoeffding, optimal split", "normal")
    ),
    *(
        f"curator bounded: least sample by Serfling{name}"
        for name in (", optimal split", " + exact convolution")
    ),
}
"""Values of the independent program for what `test_estimation_enumeration` compares or the package does not compute."""

OTHER_VALUES = {
    "note", "clipped", "plain_with_fpc", "plain_without_fpc", "wilson_through_channel", "score_fpc", "wald", "wald_bonferroni",
    "wald_sidak", "wrong",
    "satterthwaite_df_of_estimated_part", "korn_graubard_through_channel", "ultimate_cluster", "s2_of_values",
    "largest_bias_of_variance", "wrong_with_fpc", "covariance_of_first_two", "sum",
}  # fmt: skip
"""The same, in a case of which the package computes other values."""


def planned(i: Inputs, **design: Any) -> FieldPlan:
    """The plan of a case with this design."""
    kinds = {
        "k-RR": KaryRandomisedResponse,
        "SUE": UnaryEncoding.symmetric,
        "OUE": UnaryEncoding.optimised,
    }
    kept = {"low": i.get("low", 0.0), "high": i.get("high", 1.0)} | design
    if i["mechanism"] == "Laplace":
        return FieldPlan(kind="Laplace", epsilon=i["epsilon"], **kept)
    size = len(i.get("counts", ())) or i.get("domain_size", 2)
    labels = tuple("abcde"[:size]) if i["mechanism"] in kinds else ()
    device = kinds.get(i["mechanism"], KaryRandomisedResponse)(i["epsilon"], len(labels) or 2)
    kind = {"k-RR": "labels", "SUE": "bits", "OUE": "bits", "one-bit": "number"}.get(
        i["mechanism"], "binary"
    )
    return FieldPlan(
        kind=kind, labels=labels, p=repr(float(device.p)), q=repr(float(device.q)), **kept
    )


def answers(i: Inputs) -> dict[str, list[Any]]:
    """What came back from each part of a sample, or from all of it."""
    if "counts" in i:
        number, words = (
            i["respondents"],
            np.repeat([*"abcde"[: len(i["counts"])]], i["counts"]).tolist(),
        )
        bits = ["".join(str(int(row < count)) for count in i["counts"]) for row in range(number)]
        return {"all": words if i["mechanism"] == "k-RR" else bits}
    if "takes" in i:
        own = [
            [1] * ones + [0] * (take - ones)
            for ones, take in zip(i["ones"], i["takes"], strict=True)
        ]
    elif "holds" in i:
        return {name: ["ba"[holds] for holds in held] for name, held in i["holds"].items()}
    elif "totals" in i:
        return {
            name: [b for b, m in zip(i["reports"], i["member"], strict=True) if str(m) == name]
            for name in i["totals"]
        }
    else:
        own = (
            i["reports"] if "ones" not in i else [1] * i["ones"] + [0] * (i["reports"] - i["ones"])
        )
        own = own if isinstance(own, dict) or isinstance(own[0], list) else [own]
    return own if isinstance(own, dict) else {str(g): reports for g, reports in enumerate(own)}


def survey(i: Inputs, scale: int = 1) -> tuple[FieldPlan, dict[str, Any]]:
    """The plan and the table of a case, the population being so many times larger."""
    own = answers(i)
    names, most = (
        [name for name, reports in own.items() for _ in reports],
        max(map(len, own.values())),
    )
    table: dict[str, Any] = {"report": [b for reports in own.values() for b in reports]}
    if people := i.get("sizes", i.get("totals")):
        people = people if isinstance(people, dict) else dict(zip(own, people, strict=True))
        strata = {name: (size * scale, len(own[name])) for name, size in people.items()}
        return planned(i, design="strata", strata=strata, asked=len(names)), table | {
            "stratum": names
        }
    if "clusters" not in i:
        asked = sum(i.get("invited", {"all": len(names)}).values())
        return planned(i, design="simple", population=i["population"], asked=asked), table | {
            "class": names
        }
    size = i.get("cluster_size", 0)
    sizes = i.get("cluster_sizes", {}) | (dict.fromkeys(own, size) if size > most else {})
    plan = planned(
        i, design="two stages" if sizes else "clusters", population=i.get("population", i["clusters"] * size) * scale,
        clusters=i["clusters"] * scale, chosen=len(own), take=most if sizes else 0, cluster_size=size,
        asked=len(own) * most,
    )  # fmt: skip
    return plan, table | {
        "cluster": names,
        "cluster_size": [sizes.get(name, len(own[name])) for name in names],
    }


def point(i: Inputs, *, shift: float = 0.0, ratio: bool = False) -> Result:
    """The estimate of the first label with its variance, of reports whose values are moved, or as a ratio."""
    plan, table = survey(i)
    reports, sample = fieldwork.read(plan, table)
    values = plan.reports.value(reports[:, 0])
    own = estimated_mean(
        sample, values + shift, plan.reports, np.ones(len(values)) if ratio else None
    )
    error = math.sqrt(own.variance)
    return {
        "estimate": own.estimate - shift,
        "variance": own.variance,
        "standard_error": error,
        "df": own.freedom,
    }


def found(i: Inputs, scale: int = 1) -> Result:
    """What `estimate` says, with other intervals of the same reports."""
    (plan, table), alpha, df = survey(i, scale), i.get("alpha", 0.05), point(i)["df"]
    rows, reports = (
        estimate(plan, table, alpha=alpha, classes=i.get("invited")).rows,
        fieldwork.read(plan, table)[0],
    )
    row, each = rows[0], alpha / max(len(plan.labels), 1)
    result = {
        "estimate": row.estimate, "variance": row.standard_error**2, "standard_error": row.standard_error, "df": df,
        "satterthwaite_df": df, "ultimate": row.standard_error**2,
        "interval_t": intervals.student(Point(row.estimate, row.standard_error**2, 0, df), each)[:2],
        "interval": [row.low, row.high], "incompatible": "do not fit" in row.remark, "lowest_possible_rate": plan.reports.q,
        "randomisation_part": row.randomisation_error**2, "sampling_part": row.sampling_error**2,
        "design_effect_sampling": row.design_effect, "design_effect_total": row.design_effect_total,
        "shares": [r.estimate for r in rows], "standard_errors": [r.standard_error for r in rows],
        "values": plan.low + plan.span * plan.reports.value(reports[:, 0]),
    }  # fmt: skip
    if isinstance(i.get("sizes"), dict):
        own = answers(i)
        parts = [
            i | {"population": size, "reports": own[name], "sizes": None}
            for name, size in i["sizes"].items()
        ]
        result["by_stratum"] = [found(part) for part in parts]
    if plan.kind != "Laplace":
        rates = [
            intervals.clopper_pearson(int(ones), row.reports, each) for ones in reports.sum(axis=0)
        ]
        channel = [[plan.reports.value(end) for end in rate] for rate in rates]
        result |= {"clopper_pearson_rate": rates[0], "clopper_pearson_through_channel": channel[0]}
        result["clopper_pearson_bonferroni"] = channel
    return result


def channel(i: Inputs) -> Result:
    reports = planned(i, design="everyone", asked=1).reports
    return {
        "p": reports.p, "q": reports.q, "value_of_1": reports.value(1), "value_of_0": reports.value(0),
        "variance_holder": reports.variance(1), "variance_other": reports.variance(0),
    }  # fmt: skip


def least_guaranteed(i: Inputs) -> list[int]:
    """Fewest reports of numbers whose interval is not Student's."""

    def guaranteed(epsilon: float, number: int) -> bool:
        plan = planned(
            {"epsilon": epsilon, "mechanism": "one-bit"}, design="everyone", asked=number
        )
        return estimate(plan, {"report": np.arange(number) % 2}).rows[0].interval == "guaranteed"

    return [next(n for n in range(2, 999) if guaranteed(epsilon, n)) for epsilon in i["epsilon"]]


def domain(i: Inputs) -> Result:
    inside = [b for b, member in zip(i["reports"], i["member"], strict=True) if member]
    return found(i | {"population": i["domain_size"], "reports": inside})


def nearest(i: Inputs) -> Result:
    assert i["outcomes"] in DEVICES.values()
    p, q = realised("Warner", i["epsilon"], i["outcomes"])
    own = FieldPlan(design="everyone", kind="binary", p=str(p), q=str(q), asked=1)
    wished = planned(i | {"mechanism": "Warner"}, design="everyone", asked=1).reports
    return {
        "truthful_outcomes": p * i["outcomes"], "p": p, "epsilon": own.epsilon,
        "noise_variance_ratio": own.reports.variance(0) / wished.variance(0),
    }  # fmt: skip


def forcing(i: Inputs) -> Result:
    p, q = Fraction(i["outcomes"] - i["no"], i["outcomes"]), Fraction(i["yes"], i["outcomes"])
    return {"p": p, "q": q, "epsilon": math.log(odds("binary", p, q))}


def released(i: Inputs) -> Result:
    """A curator's share; and the interval that its variance would have, were it a mean of numbers."""
    number, alpha = i["sample"], i["alpha"]
    plan = FieldPlan(
        design="simple", kind="binary", device="curator", epsilon=i["epsilon"], population=i["population"],
        asked=number, answers=number,
    )  # fmt: skip
    (row,), law = estimate(plan, {"report": [i["released"]]}, alpha=alpha).rows, plan.reports
    point = Point(row.estimate, row.standard_error**2, row.randomisation_error**2, math.inf)
    ends = intervals.of_release(
        replace(law, ends=False), Sample.simple(number, i["population"]), point, alpha
    )
    return {
        "scale": law.scale, "estimate": row.estimate, "variance": point.variance, "interval": [row.low, row.high],
        "standard_error": row.standard_error, "half_width": (ends.high - ends.low) / 2,
    }  # fmt: skip


def failure(i: Inputs) -> tuple[float, int]:
    return curator_failure(i["population"], i["sample"], i["error"], 1 / i["sample"] / i["epsilon"])


def failure_at(i: Inputs) -> float:
    holders = np.array([float(i["holders"])])
    return float(
        sampled_noisy_exact(i["population"], holders, i["sample"], i["error"], 1 / i["epsilon"])[0]
    )


def least(i: Inputs, *, binary: bool) -> int:
    design, target = (
        SimpleDesign(i["population"]),
        {name: i[name] for name in ("error", "failure", "epsilon")},
    )
    return int(
        plan(Mean(design=design, mechanism=CURATOR, binary=binary, **target)).answers[0].value
    )


VAST = 10**13
"""So many times larger a population leaves a correction for its size, and what a census errs by, without effect."""

ROUTES: dict[str, Callable[[Inputs], Any]] = {  # the others are `found`
    "channel": channel,
    "srs binary exact finite-population interval": lambda i: found(i)["interval"],
    "least reports for guaranteed Clopper-Pearson (n > 1/q)": least_guaranteed,
    "clusters of unequal size: ratio, N estimated": lambda i: point(i, ratio=True),
    "strata one-bit mean, any values (no fpc)": lambda i: found(i, VAST),
    "clusters of unequal size: expansion around 0": lambda i: point(i, shift=1 / 2),
    "two-stage: ultimate cluster variance (conservative), and wrongly times 1-m/M": lambda i: found(
        i, VAST
    ),
    "domain, size known": domain,
    "nearest realisable truthful probability not above the plan's": nearest,
    "forced response: forced yes / forced no / truth of m": forcing,
    "curator share: estimate, variance, normal+Laplace interval": released,
    "curator share: exact finite-population interval": lambda i: released(i)["interval"],
    "curator binary: failure, worst number of holders": failure,
    "curator binary: failure at H": failure_at,
    "curator binary: least sample": lambda i: least(i, binary=True),
    "curator binary: failure, small": lambda i: dict(
        zip(("failure", "holders"), failure(i), strict=True)
    ),
    "curator bounded: least sample by Serfling Chernoff with Laplace mgf": lambda i: least(
        i, binary=False
    ),
}
COMPUTED = [case for case in CASES if case["what"] not in OTHER_CASES]


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
    compare(ROUTES.get(case["what"], found)(case["inputs"]), case["value"], case["digits"])


def test_every_case_is_computed_or_named_as_another() -> None:
    assert (len(CASES), len(COMPUTED)) == (74, 53)
