"""Estimates, variances, intervals and devices meet the values of an independent program."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from ldpnb.accuracy import tails
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.planning.designs import SimpleDesign
from ldpnb.planning.laws import Linear, curator_failure
from ldpnb.planning.mechanisms import CURATOR
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Mean
from ldpnb.planning.reports import Reports as Made
from ldpnb.planning.samples import Parts
from ldpnb.surveys import intervals, samples
from ldpnb.surveys.binomials import sampled_noisy_exact
from ldpnb.surveys.reports import DEVICES, Reports, realised
from ldpnb.surveys.samples import Point, Sample

CASES = json.loads((Path(__file__).parents[1] / "reference/survey_estimation.json").read_text())["cases"]
Inputs = dict[str, Any]
Result = dict[str, Any]

VAST = 10**13
"""So many times larger a population leaves a correction for its size, and what a census errs by, without effect."""


def mechanism(i: Inputs) -> Any:
    kinds = {"k-RR": KaryRandomisedResponse, "SUE": UnaryEncoding.symmetric, "OUE": UnaryEncoding.optimised}
    size = i.get("domain_size", 2) if i["mechanism"] in kinds else 2
    return kinds.get(i["mechanism"], KaryRandomisedResponse)(i["epsilon"], size)


def reports(i: Inputs) -> Reports:
    if i["mechanism"] == "Laplace":
        return Reports("Laplace", low=i["low"], high=i["high"], budget=i["epsilon"])
    m, kind = mechanism(i), "number" if i["mechanism"] == "one-bit" else "binary"
    return Reports(kind, m.p, m.q, i.get("low", 0), i.get("high", 1))


def bits(ones: int, number: int) -> Any:
    return np.repeat([1, 0], [ones, number - ones])


def of(point: Point) -> Result:
    variance = float(point.variance)
    return {"estimate": float(point.estimate), "variance": variance, "standard_error": math.sqrt(variance)}


def simple(device: Reports, answers: Any, population: int) -> Point:
    return samples.expansion(
        Sample.simple(len(answers), population),
        device.value(np.asarray(answers)),
        (device.low + device.high) / 2,
        device.noise,
        number=device.kind == "number",
    )


def channel(i: Inputs) -> Result:
    m = mechanism(i)
    device = Reports("binary", m.p, m.q)
    return {
        "p": m.p, "q": m.q, "value_of_1": device.value(1), "value_of_0": device.value(0),
        "variance_holder": device.noise(1), "variance_other": device.noise(0),
    }  # fmt: skip


def srs(i: Inputs) -> Result:
    device, n = reports(i), i["reports"]
    values = device.value(bits(i["ones"], n))
    plain = Sample.simple(n, i["population"]).variance(values)[0] / i["population"] ** 2
    without = samples.spread(values, "all") / n
    return of(simple(device, bits(i["ones"], n), i["population"])) | {
        "plain_with_fpc": plain,
        "plain_without_fpc": without,
    }


def score(device: Reports, estimate: float, alpha: float, number: int, correction: float) -> list[float]:
    """The roots of (est - x)^2 = z^2/n (C x (1 - x) + v(x)), where v is the library's."""
    k, v0 = stats.norm.isf(alpha / 2) ** 2 / number, device.noise(0)
    slope = device.noise(1) - v0
    middle, leading = 2 * estimate + k * (correction + slope), 1 + k * correction
    root = math.sqrt(middle**2 - 4 * leading * (estimate**2 - k * v0))
    return [(middle - root) / 2 / leading, (middle + root) / 2 / leading]


def srs_intervals(i: Inputs) -> Result:
    device, n, people = reports(i), i["reports"], i["population"]
    point = simple(device, bits(i["ones"], n), people)
    rates = intervals.clopper_pearson(i["ones"], n, i["alpha"])
    return {
        "wald": intervals.student(float(point.estimate), float(point.variance), math.inf, i["alpha"]),
        "wilson_through_channel": score(device, point.estimate, i["alpha"], n, 1.0),
        "score_fpc": score(device, point.estimate, i["alpha"], n, (1 - n / people) * people / (people - 1)),
        "clopper_pearson_through_channel": intervals.through_channel(device, rates),
    }


def finite(i: Inputs) -> list[float]:
    found = intervals.finite_share(i["ones"], i["reports"], i["population"], reports(i), i["alpha"])
    return [holders / i["population"] for holders in found]


def misfit(i: Inputs) -> Result:
    device, n, people = reports(i), i["reports"], i["population"]
    rates = intervals.clopper_pearson(i["ones"], n, i["alpha"])
    ends = intervals.through_channel(device, rates)
    estimate = simple(device, bits(i["ones"], n), people).estimate
    return {
        "clopper_pearson_rate": rates,
        "lowest_possible_rate": device.q,
        "incompatible": rates[1] < device.q,
        "interval": np.clip(ends, 0, 1),
        "score_fpc": score(device, estimate, i["alpha"], n, (1 - n / people) * people / (people - 1)),
    }


def least_guaranteed(i: Inputs) -> list[int]:
    return [math.floor(reports(i | {"epsilon": e}).guaranteed_from) + 1 for e in i["epsilon"]]


def one_table(i: Inputs) -> Result:
    device = reports(i)
    rates = intervals.clopper_pearson(sum(i["reports"]), len(i["reports"]), i["alpha"])
    ends = intervals.through_channel(device, rates)
    return of(simple(device, i["reports"], i["population"])) | {"clopper_pearson_through_channel": ends}


def one_bit(i: Inputs) -> Result:
    device, people = reports(i), i["population"]
    values = device.value(np.array(i["reports"]))
    half = people // 2
    largest = (i["high"] - i["low"]) ** 2 * half * (people - half) / (people * people * (people - 1))
    return of(simple(device, i["reports"], people)) | {
        "values": values,
        "largest_bias_of_variance": largest,
        "wrong_with_fpc": Sample.simple(len(values), people).variance(values)[0] / people**2,
    }


def laplace(i: Inputs) -> Result:
    return of(simple(reports(i), i["reports"], i["population"]))


def categorical(i: Inputs) -> Result:
    k, n, people, alpha = len(i["counts"]), i["respondents"], i["population"], i["alpha"]
    m = mechanism(i | {"domain_size": k})
    device = Reports("binary", m.p, m.q)
    points = [simple(device, bits(count, n), people) for count in i["counts"]]

    def wald(level: float) -> list[tuple[float, float]]:
        return [intervals.student(float(x.estimate), float(x.variance), math.inf, level) for x in points]

    shares = [float(x.estimate) for x in points]
    p, q = m.p, m.q
    # of two categories: the design's covariance of the values, by polarisation, and the reports' over N
    first, second = (
        device.value(np.repeat([a, b, 0], [*i["counts"][:2], n - sum(i["counts"][:2])])) for a, b in ((1, 0), (0, 1))
    )
    sample = Sample.simple(n, people)
    sums = [sample.variance(x)[0] / people**2 for x in (first + second, first, second)]
    among = (-p * q * sum(shares[:2]) - q * q * (1 - sum(shares[:2]))) / (p - q) ** 2
    clopper = [intervals.through_channel(device, intervals.clopper_pearson(c, n, alpha / k)) for c in i["counts"]]
    return {
        "shares": shares, "sum": sum(shares), "standard_errors": [math.sqrt(x.variance) for x in points],
        "wald_bonferroni": wald(alpha / k), "wald_sidak": wald(1 - (1 - alpha) ** (1 / k)),
        "clopper_pearson_bonferroni": clopper,
        "covariance_of_first_two": (sums[0] - sums[1] - sums[2]) / 2 + among / people,
    }  # fmt: skip


def fit(i: Inputs) -> Result:
    m = mechanism(i | {"domain_size": len(i["counts"])})
    expected = sum(i["counts"]) * (m.q + (m.p - m.q) * np.array(i["shares0"]))
    x2, p_value = stats.chisquare(i["counts"], expected)
    return {"x2": x2, "df": len(i["counts"]) - 1, "p_value": p_value}


def stratified(i: Inputs, device: Reports, *, number: bool = False, scale: int = 1) -> Point:
    answers = i["reports"] if isinstance(i["reports"], dict) else dict(enumerate(i["reports"]))
    sizes = i["sizes"] if isinstance(i["sizes"], dict) else dict(enumerate(i["sizes"]))
    names = [str(name) for name, bits_of in answers.items() for _ in bits_of]
    sample = Sample.stratified(names, {str(name): size * scale for name, size in sizes.items()})
    values = device.value(np.array([b for bits_of in answers.values() for b in bits_of]))
    return samples.expansion(sample, values, device.low, device.noise, number=number)


def strata(i: Inputs) -> Result:
    device = reports(i)
    point = stratified(i, device)
    sampled = sum(float(part) for part, _ in point.parts)
    loose = sum(float(part) ** 2 / df for part, df in point.parts)
    by = [of(simple(device, answers, i["sizes"][name])) for name, answers in i["reports"].items()]
    return of(point) | {
        "by_stratum": by,
        "satterthwaite_df": point.satterthwaite,
        "satterthwaite_df_of_estimated_part": sampled**2 / loose,
    }


def vast_strata(i: Inputs) -> Result:
    return of(stratified(i, reports(i), scale=VAST))


def pooled(i: Inputs) -> Result:
    device, number = reports(i), sum(i["takes"])
    names = np.repeat(np.arange(3).astype(str), i["takes"])
    sample = Sample.stratified(names, {str(h): size for h, size in enumerate(i["sizes"])})
    assert sample.even
    rates = intervals.clopper_pearson(sum(i["ones"]), number, i["alpha"])
    return {"estimate": device.value(sum(i["ones"]) / number), "interval": intervals.through_channel(device, rates)}


def drawn(i: Inputs, *, scale: int = 1, sizes: Any = None) -> tuple[Sample, Any]:
    answers = i.get("reports", i.get("holds"))
    answers = answers if isinstance(answers, dict) else {str(g): x for g, x in enumerate(answers)}
    names = [name for name, bits_of in answers.items() for _ in bits_of]
    people = i.get("population", i["clusters"] * i.get("cluster_size", 0))
    sample = Sample.clustered(names, i["clusters"] * scale, people * scale, sizes)
    return sample, np.array([b for bits_of in answers.values() for b in bits_of])


def equal_clusters(i: Inputs) -> Result:
    device = reports(i)
    sample, answers = drawn(i)
    point = samples.expansion(sample, device.value(answers), 0.5, device.noise)
    estimate, variance, people, n = float(point.estimate), float(point.variance), sample.population, answers.size
    s2 = people / (people - 1) * (estimate * (1 - estimate) + variance)
    alone = (1 - n / people) * s2 / n
    rate = float(answers.mean())
    effective = rate * (1 - rate) / float(device.truth) ** 2 / variance
    effective *= (stats.t.isf(0.025, n - 1) / stats.t.isf(0.025, sample.freedom)) ** 2
    ones = effective * rate
    korn = stats.beta.ppf(0.025, ones, effective - ones + 1), stats.beta.isf(0.025, ones + 1, effective - ones)
    vast, _ = drawn(i, scale=VAST)
    ultimate = samples.expansion(vast, device.value(answers), 0.5, device.noise)
    return of(point) | {
        "df": sample.freedom,
        "interval_t": intervals.student(estimate, variance, sample.freedom, i["alpha"]),
        "korn_graubard_through_channel": intervals.through_channel(device, korn),
        "plain_with_fpc": sample.variance(device.value(answers))[0] / people**2,
        "ultimate_cluster": ultimate.variance,
        "randomisation_part": point.randomisation,
        "sampling_part": point.variance - point.randomisation,
        "s2_of_values": s2,
        "design_effect_sampling": float(point.variance - point.randomisation) / alone,
        "design_effect_total": variance / (alone + device.noise(estimate) / n),
    }


def expansion(centre: float) -> Callable[[Inputs], Result]:
    def found(i: Inputs) -> Result:
        sample, answers = drawn(i, sizes=i.get("cluster_sizes"))
        return of(samples.expansion(sample, reports(i).value(answers), centre, reports(i).noise))

    return found


def quotient(*, known: bool) -> Callable[[Inputs], Result]:
    def found(i: Inputs) -> Result:
        sample, answers = drawn(i)
        device, all_of_them = reports(i), np.ones_like(answers)
        people = i["population"] if known else None
        return of(samples.ratio(sample, device.value(answers), all_of_them, device.noise, people=people))

    return found


def category(i: Inputs) -> Result:
    sample, answers = drawn(i)
    device = reports(i)
    return of(samples.expansion(sample, device.value(answers), i["centre"], device.noise))


def ultimate(i: Inputs) -> Result:
    sample, answers = drawn(i, scale=VAST, sizes=i["cluster_sizes"])
    plain = samples.expansion(sample, reports(i).value(answers), i["centre"], reports(i).noise).variance
    return {"ultimate": plain, "wrong": plain * (1 - 3 / i["clusters"])}


def two_stage_numbers(i: Inputs) -> Result:
    device = reports(i)
    sample, answers = drawn(i, sizes={str(g): i["cluster_size"] for g in range(3)})
    people, half = sample.population, sample.population // 2
    largest = 24**2 * half * (people - half) / (people * people * (people - 1))
    point = samples.expansion(sample, device.value(answers), 12, device.noise, number=True)
    return of(point) | {"largest_bias_of_variance": largest}


def poisson(centre: float) -> Callable[[Inputs], Result]:
    """Went with its design; the oracle keeps the reports' values and noise."""

    def found(i: Inputs) -> Result:
        device, rates, people = reports(i), np.array(i["rates"]), i["population"]
        away = device.value(np.array(i["reports"])) - centre
        variance = ((1 - rates) * away**2 / rates**2 + device.noise(0) / rates).sum() / people**2
        estimate = centre + (away / rates).sum() / people
        return {"estimate": estimate, "variance": variance, "standard_error": math.sqrt(variance)}

    return found


def domain(i: Inputs) -> Result:
    inside = [b for b, member in zip(i["reports"], i["member"], strict=True) if member]
    return of(simple(reports(i), inside, i["domain_size"]))


def poststrata(i: Inputs) -> Result:
    device = reports(i)
    sample = Sample.stratified([str(m) for m in i["member"]], i["totals"])
    return of(samples.expansion(sample, device.value(np.array(i["reports"])), 0, device.noise))


def classes(i: Inputs) -> Result:
    device = reports(i)
    names = [name for name, answers in i["reports"].items() for _ in answers]
    values = device.value(np.array([b for answers in i["reports"].values() for b in answers]))
    sample = Sample.simple(len(names), i["population"])
    return of(samples.class_weighted(sample, names, i["invited"], values, device.noise))


def withdrawn(i: Inputs) -> Result:
    device = reports({"mechanism": "Warner"} | i)
    rate = device.q + device.truth * i["share"]
    ones, others = rate * i["kept_if_1"], (1 - rate) * i["kept_if_0"]
    return {"expected_estimate": device.value(ones / (ones + others))}


def refused(i: Inputs) -> Result:
    device = reports({"mechanism": "Warner"} | i)
    return {"expected_estimate": device.value((1 - i["part"]) * (device.q + device.truth * i["share"]))}


def nearest(i: Inputs) -> Result:
    assert i["outcomes"] in DEVICES.values()
    p, q = realised(i["epsilon"], i["outcomes"])
    device, wished = Reports("binary", p, q), KaryRandomisedResponse(i["epsilon"], 2)
    return {
        "truthful_outcomes": p * i["outcomes"], "p": p, "epsilon": device.epsilon,
        "noise_variance_ratio": float(device.noise(0)) / Reports("binary", wished.p, wished.q).noise(0),
    }  # fmt: skip


def forcing(i: Inputs) -> Result:
    p, q = Fraction(i["outcomes"] - i["no"], i["outcomes"]), Fraction(i["yes"], i["outcomes"])
    return {"p": p, "q": q, "epsilon": Reports("binary", p, q).epsilon}


def released(i: Inputs) -> Result:
    scale = 1 / (i["sample"] * i["epsilon"])
    variance = intervals.released_variance(i["released"], i["population"], i["sample"], scale)
    half = intervals.released_half_width(variance, scale, i["alpha"])
    return {
        "scale": scale, "estimate": i["released"], "variance": variance,
        "standard_error": math.sqrt(variance), "half_width": half,
    }  # fmt: skip


def released_exactly(i: Inputs) -> list[float]:
    scale = 1 / (i["sample"] * i["epsilon"])
    found = intervals.released_share(i["released"], i["population"], i["sample"], scale, i["alpha"])
    return [holders / i["population"] for holders in found]


def worst_failure(i: Inputs) -> tuple[float, int]:
    return curator_failure(i["population"], i["sample"], i["error"], 1 / i["sample"] / i["epsilon"])


def small_failure(i: Inputs) -> Result:
    failure, holders = worst_failure(i)
    return {"failure": failure, "holders": holders}


def failure_at(i: Inputs) -> float:
    holders = np.array([float(i["holders"])])
    return float(sampled_noisy_exact(i["population"], holders, i["sample"], i["error"], 1 / i["epsilon"])[0])


def least_binary(i: Inputs) -> int:
    design, target = SimpleDesign(i["population"]), {name: i[name] for name in ("error", "failure", "epsilon")}
    return int(plan(Mean(design=design, mechanism=CURATOR, binary=True, **target)).answers[0].value)


def split(error: float, exponent: float, noise: float) -> float:
    """The best share of the error for a sub-Gaussian part, the rest for the noise."""
    ts = np.linspace(1e-4, 1, 4001)
    return float((2 * np.exp(-exponent * (ts * error) ** 2) + np.exp(-(1 - ts) * error / noise)).min())


def convolved(error: float, exponent: float, noise: float) -> float:
    def inside(share: float) -> float:
        size = -noise * math.log(share)  # of the noise, exceeded with that chance
        return min(1.0, 2 * math.exp(-exponent * max(error - size, 0) ** 2)) if size < error else 1.0

    near = math.exp(-error / noise)
    return near + float(integrate.quad(inside, near, 1, limit=400, epsabs=1e-10)[0])


def bounded(chance: Callable[[int, int, float, float], float]) -> Callable[[Inputs], int]:
    def least(i: Inputs) -> int:
        low, high, people = 0, i["population"], i["population"]
        while high - low > 1:
            n = (low + high) // 2
            low, high = (low, n) if chance(n, people, i["error"], 1 / (n * i["epsilon"])) <= i["failure"] else (n, high)
        return high

    return least


def serfling(n: int, people: int) -> float:
    return 2 * n / (1 - (n - 1) / people)


def worst_variance(n: int, people: int) -> float:
    return (1 - n / people) * people / (4 * (people - 1)) / n


BOUNDS: dict[str, Callable[[int, int, float, float], float]] = {
    "Chebyshev": lambda n, people, h, b: (worst_variance(n, people) + 2 * b * b) / h**2,
    "Hoeffding, optimal split": lambda n, people, h, b: split(h, 2 * n, b),
    "Serfling, optimal split": lambda n, people, h, b: split(h, serfling(n, people), b),
    "Serfling + exact convolution": lambda n, people, h, b: convolved(h, serfling(n, people), b),
    "Serfling Chernoff with Laplace mgf": lambda n, people, h, b: Linear(Made(), noise=b).failure(
        Parts((people,), (n,)), h, "guaranteed"
    )[0],
    "normal": lambda n, people, h, b: tails.normal_laplace(math.sqrt(worst_variance(n, people)), b, h),
}


def enumerated(i: Inputs) -> float:
    """In closed form: the design's variance of the values, and the reports' noise over the squared weights."""
    q, case = Fraction(1, 4), i["case"]
    noise = (1 - q) * q / (1 - 2 * q) ** 2
    if case.startswith("SRS"):
        values = np.array([Fraction(v) for v in (1, 0, 0, 1, 1)])
        return float(Fraction(2, 5) * samples.spread(values, "all") / 3 + noise / 3)
    if case.startswith("strata"):
        parts = ([1, 0, 1], [0, 0, 1, 0])
        spreads = [samples.spread(np.array([Fraction(v) for v in part]), "all") for part in parts]
        terms = [
            Fraction(len(x), 7) ** 2 * ((1 - Fraction(2, len(x))) * s + noise) / 2
            for x, s in zip(parts, spreads, strict=True)
        ]
        return float(sum(terms))
    if case.startswith("Poisson"):
        rates = [Fraction(1, 2), Fraction(1, 4), Fraction(3, 4), Fraction(9, 10)]
        return float(sum(((1 - r) * Fraction(1, 4) + noise) / r for r in rates) / 16)
    groups = [[int(v) for v in part.split(",")] for part in case.split()[1].split("|")]
    m, people = 2, sum(map(len, groups))
    totals = np.array([sum(Fraction(v) - Fraction(1, 2) for v in g) for g in groups])
    take = 2 if case.startswith("two-stage") else 10**6
    total = Fraction(len(groups) * (len(groups) - m), m) * samples.spread(totals, "all")
    for g in groups:
        b = min(take, len(g))
        within = samples.spread(np.array([Fraction(v) for v in g]), "all") if b < len(g) else 0
        total += Fraction(len(groups), m) * Fraction(len(g) ** 2, b) * ((1 - Fraction(b, len(g))) * within + noise)
    return float(total / people**2)


ROUTES: dict[str, Callable[[Inputs], Any]] = {
    "channel": channel,
    "srs binary estimate": srs,
    "srs binary intervals 95%": srs_intervals,
    "srs binary exact finite-population interval": finite,
    "srs binary interval, reports outside the channel": misfit,
    "least reports for guaranteed Clopper-Pearson (n > 1/q)": least_guaranteed,
    "srs binary interval 99% one table": one_table,
    "srs one-bit mean, any values": one_bit,
    "srs local Laplace mean": laplace,
    "srs categorical shares": categorical,
    "chi-square of fit on the report scale": fit,
    "strata binary": strata,
    "strata one-bit mean, any values (no fpc)": vast_strata,
    "strata, proportional allocation: Clopper-Pearson of the pooled count": pooled,
    "clusters of equal size binary": equal_clusters,
    "clusters of unequal size: expansion around 0": expansion(0.0),
    "clusters of unequal size: ratio, N known": quotient(known=True),
    "clusters of unequal size: ratio, N estimated": quotient(known=False),
    "clusters, share of one category by k-RR": category,
    "two-stage: expansion around .5": expansion(0.5),
    "two-stage: ultimate cluster variance (conservative), and wrongly times 1-m/M": ultimate,
    "two-stage one-bit mean, equal sizes: conservative variance": two_stage_numbers,
    "poisson: Horvitz-Thompson around .5 (the plan's)": poisson(0.5),
    "poisson: Horvitz-Thompson around 0": poisson(0.0),
    "domain, size known": domain,
    "poststratified by known totals": poststrata,
    "nonresponse, weighting classes": classes,
    "expectation if respondents withdraw after seeing their report": withdrawn,
    "expectation if a part answers 'no' whatever the card says": refused,
    "nearest realisable truthful probability not above the plan's": nearest,
    "forced response: forced yes / forced no / truth of m": forcing,
    "curator share: estimate, variance, normal+Laplace interval": released,
    "curator share: exact finite-population interval": released_exactly,
    "curator binary: failure, worst number of holders": worst_failure,
    "curator binary: failure at H": failure_at,
    "curator binary: least sample": least_binary,
    "curator binary: failure, small": small_failure,
    "true variance of the estimate by enumeration (E of the corrected variance estimate is the same)": enumerated,
} | {f"curator bounded: least sample by {name}": bounded(chance) for name, chance in BOUNDS.items()}


def compare(found: Any, expected: Any, digits: int) -> None:
    if isinstance(expected, dict):
        for key, value in expected.items():
            if key not in ("note", "clipped", "incompatible"):
                compare(found[key], value, digits)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other, digits)
    else:
        assert float(found) == pytest.approx(expected, rel=10.0 ** -(digits - 1), abs=1e-11)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"][:40])
def test_the_value_is_the_independent_one(case: dict[str, Any]) -> None:
    compare(ROUTES[case["what"]](case["inputs"]), case["value"], case["digits"])


def test_every_case_has_a_route_and_every_route_a_case() -> None:
    assert {case["what"] for case in CASES} == set(ROUTES)
    assert len(CASES) == 74
