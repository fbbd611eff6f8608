"""Every sample of tiny populations and every randomisation of its answers: no estimate is biased."""

import json
import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb.surveys import binomials, fieldwork, intervals, samples
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.reports import Reports


def test_the_release_of_a_curator_tells_its_variance_without_bias() -> None:
    """Noise of two points of the same variance as Laplace's, since only two moments enter."""
    population, n, holders, scale = 7, 3, 3, 0.2
    all_of_them, rows = list(combinations(range(population), n)), []
    for some, shift in product(all_of_them, (-scale * 2**0.5, scale * 2**0.5)):
        share = sum(i < holders for i in some) / n + shift
        variance = intervals.released_variance(share, population, n, scale)
        rows.append((0.5 / len(all_of_them), share, variance))
    _, true, estimated = moments(rows)
    assert estimated == pytest.approx(true, abs=1e-12)


@pytest.mark.parametrize(("population", "number"), [(30, 12), (25, 25), (40, 8)])
def test_the_exact_interval_covers_every_number_of_holders(population: int, number: int) -> None:
    device = Reports("binary", 0.8, 0.3)
    ends = [intervals.finite_share(ones, number, population, device, 0.1) for ones in range(number + 1)]
    for holders in range(population + 1):
        tails = [binomials.sampled_tail(t, number, population, holders, 0.8, 0.3) for t in range(number + 2)]
        chances = -np.diff(tails)
        covered = sum(c for c, (low, high) in zip(chances, ends, strict=True) if low <= holders <= high)
        assert covered >= 0.9
        assert chances.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("number", [6, 12])
def test_the_guaranteed_interval_covers_any_values(number: int) -> None:
    """Numbers of any spread: the law of the bits of a sample, by enumeration of who is drawn."""
    device = Reports("number", 0.75, 0.25)
    values = np.array([0.0, 0.1, 0.5, 0.5, 0.9, 1, 1, 1, 0.3, 0.2, 0.7, 0, 1, 0.4])
    law, times = np.zeros(number + 1), 0
    for some in combinations(values, number):
        rates = device.q + device.truth * np.array(some)
        one = np.ones(1)
        for rate in rates:
            one = np.convolve(one, [1 - rate, rate])
        law, times = law + one, times + 1
    assert number > device.guaranteed_from
    covered = 0.0
    for ones, chance in enumerate(law / times):
        low, high = intervals.through_channel(device, intervals.clopper_pearson(ones, number, 0.1))
        covered += chance * (low <= values.mean() <= high)
    assert covered >= 0.9


def laws(plan: FieldPlan, values: Sequence[float]) -> list[dict[Any, float]]:
    """What each of these people can report, with its chance; noise of two points for Laplace's."""
    if plan.kind == "Laplace":
        shift = 2**0.5 * plan.reports.span / plan.epsilon
        return [{value + shift: 0.5, value - shift: 0.5} for value in values]
    p, q = (float(chance) for chance in plan.chances)
    if plan.kind == "labels":
        return [{label: p if i == value else q for i, label in enumerate(plan.labels)} for value in values]
    if plan.kind == "bits":
        rates = [[p if i == value else q for i in range(len(plan.labels))] for value in values]
        words = list(product((0, 1), repeat=len(plan.labels)))
        return [
            {"".join(map(str, word)): math.prod(r if bit else 1 - r for bit, r in zip(word, rate, strict=True)) for word in words}
            for rate in rates
        ]  # fmt: skip
    ones = [q + (p - q) * (value - plan.low) / plan.reports.span for value in values]
    return [{1: rate, 0: 1 - rate} for rate in ones]


def surveys(plan: FieldPlan, parts: Sequence[Sequence[float]]) -> Iterator[tuple[float, dict[str, Any]]]:
    """Every sample of a population that is given by parts, and every outcome of the device, with its chance."""
    chosen = plan.chosen or len(parts)
    takes = [asked for _, asked in plan.strata.values()] if plan.strata else [plan.take or plan.asked] * len(parts)
    takes = [min(take, len(part)) for take, part in zip(takes, parts, strict=True)]
    for some in combinations(range(len(parts)), chosen):
        ways = math.comb(len(parts), chosen) * math.prod(math.comb(len(parts[g]), takes[g]) for g in some)
        names = [str(g) for g in some for _ in range(takes[g])]
        columns = {"stratum": names, "cluster": names, "cluster_size": [len(parts[int(g)]) for g in names]}
        for people in product(*(combinations(parts[g], takes[g]) for g in some)):
            for chance, reports in outcomes(plan, [value for part in people for value in part]):
                yield chance / ways, {"report": reports} | columns


def moments(rows: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """The mean of estimates, their variance, and the mean of estimated variances, from chances and these."""
    chances, estimates, variances = np.array(rows, dtype=float).T
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    mean = chances @ estimates
    return mean, chances @ (estimates - mean) ** 2, chances @ variances


def of_surveys(plan: FieldPlan, parts: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """The moments over all surveys, even of estimated variances below 0."""
    rows = []
    for chance, table in surveys(plan, parts):
        answers, sample = fieldwork.read(plan, {name: np.asarray(column) for name, column in table.items()})
        point = samples.estimated_mean(sample, plan.reports.value(answers[:, 0]), plan.reports)
        rows.append((chance, point.estimate, point.variance))
    return moments(rows)


def outcomes(plan: FieldPlan, values: Sequence[float]) -> Iterator[tuple[float, list[Any]]]:
    """All reports of these people, with their chance."""
    each = laws(plan, values)
    for reports in product(*each):
        yield math.prod(law[report] for law, report in zip(each, reports, strict=True)), list(reports)


Q: dict[str, Any] = {"p": "3/4", "q": "1/4"}
K: dict[str, Any] = {"p": "1/2", "q": "1/4", "labels": ("a", "b", "c")}
DESIGNS: dict[str, tuple[dict[str, Any], list[int]]] = {
    "everyone": ({"asked": 4}, [4]),
    "simple": ({"population": 5, "asked": 3}, [5]),
    "strata": ({"strata": {"0": (2, 2), "1": (3, 2)}, "asked": 4}, [2, 3]),
    "clusters": ({"population": 6, "clusters": 3, "chosen": 2, "asked": 6}, [1, 2, 3]),
    "two stages": ({"population": 9, "clusters": 3, "chosen": 2, "take": 2, "asked": 4}, [3, 3, 3]),
}
"""Designs, and how many people are in each part of the population."""

KINDS: dict[str, tuple[dict[str, Any], list[float]]] = {
    "binary": (Q, [1, 0, 0, 1, 1, 0, 1, 0, 0]),
    "number": (Q | {"low": -1.0, "high": 3.0}, [0.5, -1, 3, 2, 0, 1, 1.5, 2.5, -1]),
    "labels": (K, [0, 1, 0, 2, 2, 1, 0, 0, 1]),
    "bits": (K | {"labels": ("a", "b")}, [0, 1, 0, 1, 1, 0, 0, 1, 0]),
    "Laplace": ({"epsilon": 1.0, "high": 2.0}, [0.5, 0, 2, 1, 1.5, 2, 0, 1, 2]),
}
"""Kinds of reports, and what people hold."""

WAYS = [(design, kind) for design in DESIGNS for kind in KINDS if kind != "bits" or design == "simple"]


@pytest.mark.parametrize(("design", "kind"), WAYS)
def test_estimates_and_their_variances_are_unbiased(design: Any, kind: Any) -> None:
    """That of one bit of a number is too large by S^2 / N, exactly."""
    (sizes, each), (device, held) = DESIGNS[design], KINDS[kind]
    plan = FieldPlan(design=design, kind=kind, **sizes, **device)
    ends = np.cumsum([0, *each]).tolist()
    mean, true, estimated = of_surveys(plan, [held[a:b] for a, b in pairwise(ends)])
    shown = np.array([value == 0 for value in held[: ends[-1]]] if plan.labels else held[: ends[-1]], dtype=float)
    assert mean == pytest.approx(shown.mean(), abs=1e-12)
    assert estimated - true == pytest.approx(shown.var(ddof=1) / ends[-1] if kind == "number" else 0, abs=1e-11)


ENUMERATED: dict[str, tuple[dict[str, Any], list[list[float]]]] = {
    "SRS": (DESIGNS["simple"][0] | {"design": "simple"}, [[1, 0, 0, 1, 1]]),
    "strata": ({"design": "strata", "strata": {"0": (3, 2), "1": (4, 2)}, "asked": 4}, [[1, 0, 1], [0, 0, 1, 0]]),
    "clusters": (
        {"design": "clusters", "population": 7, "clusters": 4, "chosen": 2, "asked": 7},
        [[1, 0], [1], [0, 1, 1], [0]],
    ),
    "two-stage": (
        {"design": "two stages", "population": 8, "clusters": 3, "chosen": 2, "take": 2, "asked": 4},
        [[1, 0, 1], [0, 0], [1, 1, 0]],
    ),
}
CASES = json.loads((Path(__file__).parents[1] / "reference/survey_estimation.json").read_text())["cases"]


@pytest.mark.parametrize("design", ENUMERATED)
def test_the_true_variance_is_the_independent_one(design: str) -> None:
    (value,) = (c["value"] for c in CASES if c["inputs"].get("case", "").startswith(f"{design} "))
    options, parts = ENUMERATED[design]
    _, true, estimated = of_surveys(FieldPlan(kind="binary", **Q, **options), parts)
    assert (true, estimated) == (pytest.approx(value, rel=1e-9), pytest.approx(value, rel=1e-9))


def test_a_group_of_a_simple_sample_is_estimated_without_bias() -> None:
    """Three of six are members, two of the four drawn: as many as of all, so that their number is right."""
    plan = FieldPlan(design="simple", kind="binary", population=6, asked=4, **Q)
    held = [1, 0, 1, 1, 0, 0]
    drawn = [[*one, *two] for one in combinations((0, 1, 2), 2) for two in combinations((3, 4, 5), 2)]
    rows = []
    for some in drawn:
        for chance, reports in outcomes(plan, [held[i] for i in some]):
            row = estimate(plan, {"report": reports, "group": ["in", "in", "out", "out"]}, by="group").rows[1]
            rows.append((chance / len(drawn), row.estimate, row.standard_error**2))
    mean, true, estimated = moments(rows)
    assert (mean, estimated) == (pytest.approx(2 / 3, abs=1e-12), pytest.approx(true, abs=1e-12))


def test_class_weights_are_unbiased_and_their_variance_nearly() -> None:
    """Five of six invited, of whom two answer in each of two classes, whoever it is."""
    held, kind = [1, 0, 1, 0, 0, 1], "xxxyyy"
    plan = FieldPlan(design="simple", kind="binary", population=6, asked=5, **Q)
    rows = []
    for some in combinations(range(6), 5):
        classes = [[i for i in some if kind[i] == name] for name in "xy"]
        invited = dict(zip("xy", map(len, classes), strict=True))
        ways = [[*one, *two] for one, two in product(*(combinations(own, 2) for own in classes))]
        for answered in ways:
            for chance, reports in outcomes(plan, [held[i] for i in answered]):
                table = {"report": reports, "class": [kind[i] for i in answered]}
                row = estimate(plan, table, classes=invited).rows[0]
                rows.append((chance / len(ways) / 6, row.estimate, row.standard_error**2))
    mean, true, estimated = moments(rows)
    assert mean == pytest.approx(1 / 2, abs=1e-12)
    assert 1 < estimated / true < 26 / 25
