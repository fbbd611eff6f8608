"""Every sample of tiny populations and every randomisation of its answers: no estimate is biased."""

import json
import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fielded import BIT, LABEL

from ldpnb.surveys import binomials, fieldwork, intervals
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.reports import Reports
from ldpnb.surveys.samples import Sample, estimated_mean, released_mean


@pytest.mark.parametrize(("population", "number"), [(30, 12), (25, 25), (40, 8)])
def test_the_exact_interval_covers_every_number_of_holders(population: int, number: int) -> None:
    reports = Reports(0.8, 0.3, 0.5, 0.2, ends=True)
    ends = [
        intervals.finite_share(ones, number, population, reports, 0.1) for ones in range(number + 1)
    ]
    for holders in range(population + 1):
        tails = [
            binomials.sampled_tail(t, number, population, holders, 0.8, 0.3)
            for t in range(number + 2)
        ]
        chances = -np.diff(tails)
        covered = sum(
            c for c, (low, high) in zip(chances, ends, strict=True) if low <= holders <= high
        )
        assert covered >= 0.9
        assert chances.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("number", [6, 12])
def test_the_guaranteed_interval_covers_any_values(number: int) -> None:
    """Numbers of any spread: the law of the bits of a sample, by enumeration of who is drawn."""
    values = np.array([0.0, 0.1, 0.5, 0.5, 0.9, 1, 1, 1, 0.3, 0.2, 0.7, 0, 1, 0.4])
    law, times = np.zeros(number + 1), 0
    for some in combinations(0.25 + 0.5 * values, number):
        one = np.ones(1)
        for rate in some:
            one = np.convolve(one, [1 - rate, rate])
        law, times = law + one, times + 1
    plan, covered = (
        FieldPlan(design="simple", kind="number", population=14, asked=number, **BIT),
        0.0,
    )
    for ones, chance in enumerate(law / times):
        row = estimate(plan, {"report": [1] * ones + [0] * (number - ones)}, alpha=0.1).rows[0]
        covered += chance * (row.low <= values.mean() <= row.high)
        assert row.interval == "guaranteed"
    assert covered >= 0.9


@pytest.mark.parametrize("kind", ["binary", "number"])
def test_the_release_of_a_curator_tells_the_variance_of_a_share_without_bias(kind: str) -> None:
    """By noise of two points with the variance of Laplace's; of other values the variance is never too small."""
    plan = FieldPlan(
        design="simple", kind=kind, device="curator", epsilon=5.0, population=7, asked=3, answers=3
    )
    noise, samples = 2**0.5 * plan.reports.scale, list(combinations([1, 1, 1, 0, 0, 0, 0], 3))
    rows = []
    for some, shift in product(samples, (-noise, noise)):
        point = released_mean(Sample.simple(3, 7), sum(some) / 3 + shift, plan.reports)
        rows.append((0.5 / len(samples), point.estimate, point.variance))
    mean, true, estimated = moments(rows)
    assert mean == pytest.approx(3 / 7, abs=1e-12)
    assert estimated >= true - 1e-12
    assert kind == "number" or estimated == pytest.approx(true, abs=1e-12)


def laws(plan: FieldPlan, values: Sequence[float]) -> list[dict[Any, float]]:
    """What each of these people can report, with its chance; noise of two points for Laplace's."""
    if plan.kind == "Laplace":
        shift = 2**0.5 * plan.span / plan.epsilon
        return [{value + shift: 0.5, value - shift: 0.5} for value in values]
    p, q = (float(chance) for chance in plan.chances)
    if plan.kind == "labels":
        return [
            {label: p if i == value else q for i, label in enumerate(plan.labels)}
            for value in values
        ]
    if plan.kind == "bits":
        rates = [[p if i == value else q for i in range(len(plan.labels))] for value in values]
        words = list(product((0, 1), repeat=len(plan.labels)))
        return [
            {"".join(map(str, word)): math.prod(r if bit else 1 - r for bit, r in zip(word, rate, strict=True)) for word in words}
            for rate in rates
        ]  # fmt: skip
    ones = [q + (p - q) * (value - plan.low) / plan.span for value in values]
    return [{1: rate, 0: 1 - rate} for rate in ones]


def outcomes(plan: FieldPlan, values: Sequence[float]) -> Iterator[tuple[float, list[Any]]]:
    """All reports of these people, with their chance."""
    each = laws(plan, values)
    for reports in product(*each):
        yield (
            math.prod(law[report] for law, report in zip(each, reports, strict=True)),
            list(reports),
        )


def surveys(
    plan: FieldPlan, parts: Sequence[Sequence[float]]
) -> Iterator[tuple[float, dict[str, Any]]]:
    """Every sample of a population that is given by parts, and every outcome of the device, with its chance."""
    chosen = plan.chosen or len(parts)
    takes = (
        [asked for _, asked in plan.strata.values()]
        if plan.strata
        else [plan.take or plan.asked] * len(parts)
    )
    takes = [min(take, len(part)) for take, part in zip(takes, parts, strict=True)]
    for some in combinations(range(len(parts)), chosen):
        ways = math.comb(len(parts), chosen) * math.prod(
            math.comb(len(parts[g]), takes[g]) for g in some
        )
        names = [str(g) for g in some for _ in range(takes[g])]
        columns = {
            "stratum": names,
            "cluster": names,
            "cluster_size": [len(parts[int(g)]) for g in names],
        }
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
        answers, sample = fieldwork.read(plan, table)
        point = estimated_mean(sample, plan.reports.value(answers[:, 0]), plan.reports)
        rows.append((chance, plan.low + plan.span * point.estimate, plan.span**2 * point.variance))
    return moments(rows)


DESIGNS: dict[str, tuple[dict[str, Any], list[list[float]]]] = {
    "everyone": ({"asked": 4}, [[1, 0, 0, 1]]),
    "simple": ({"population": 5, "asked": 3}, [[1, 0, 0, 1, 1]]),
    "strata": ({"strata": {"0": (3, 2), "1": (4, 2)}, "asked": 4}, [[1, 0, 1], [0, 0, 1, 0]]),
    "clusters": ({"population": 7, "clusters": 4, "chosen": 2, "asked": 7}, [[1, 0], [1], [0, 1, 1], [0]]),
    "two stages": (
        {"population": 8, "clusters": 3, "chosen": 2, "take": 2, "asked": 4}, [[1, 0, 1], [0, 0], [1, 1, 0]],
    ),
}  # fmt: skip
"""Designs, and who says yes in each part of the population."""

KINDS: dict[str, tuple[dict[str, Any], list[float]]] = {
    "binary": (BIT, []),
    "number": (BIT | {"low": -1.0, "high": 3.0}, [0.5, -1, 3, 2, 0, 1, 1.5, 2.5]),
    "labels": (LABEL, [0, 1, 0, 2, 2, 1, 0, 0]),
    "bits": (LABEL | {"labels": ("a", "b")}, [0, 1, 0, 1, 1]),
    "Laplace": ({"epsilon": 1.0, "high": 2.0}, [0.5, 0, 2, 1, 1.5, 2, 0, 1]),
}
"""Kinds of reports, and what people hold."""

WAYS = [
    (design, kind) for design in DESIGNS for kind in KINDS if kind != "bits" or design == "simple"
]
CASES = json.loads((Path(__file__).parents[1] / "reference/survey_estimation.json").read_text())[
    "cases"
]
ENUMERATED = {case["inputs"].get("case", "").partition(" ")[0]: case["value"] for case in CASES}
"""True variances by an independent program, of the same people who answer yes or no."""


@pytest.mark.parametrize(("design", "kind"), WAYS)
def test_estimates_and_their_variances_are_unbiased(design: str, kind: str) -> None:
    """That of one bit of a number is too large by S^2 / N, exactly."""
    (sizes, parts), (device, holdings) = DESIGNS[design], KINDS[kind]
    plan = FieldPlan(design=design, kind=kind, **sizes, **device)
    ends = np.cumsum([0, *map(len, parts)]).tolist()
    holdings = holdings[: ends[-1]] or [value for part in parts for value in part]
    mean, true, estimated = of_surveys(plan, [holdings[a:b] for a, b in pairwise(ends)])
    shown = np.array([value == 0 for value in holdings] if plan.labels else holdings, dtype=float)
    assert mean == pytest.approx(shown.mean(), abs=1e-12)
    assert estimated - true == pytest.approx(
        shown.var(ddof=1) / ends[-1] if kind == "number" else 0, abs=1e-11
    )
    if kind == "binary" and design != "everyone":
        name = {"simple": "SRS", "two stages": "two-stage"}.get(design, design)
        assert true == pytest.approx(ENUMERATED[name], rel=1e-9)


def answered(asked: int, groups: str, **options: Any) -> tuple[float, float, float]:
    """The moments if two of each group among those asked of six answer, whoever it is; of the last row."""
    plan, holdings = (
        FieldPlan(design="simple", kind="binary", population=6, asked=asked, **BIT),
        [1, 0, 1, 0, 0, 1],
    )
    rows = []
    for some in combinations(range(6), asked):
        own = {name: [i for i in some if groups[i] == name] for name in sorted(set(groups))}
        ways = [
            [*one, *two]
            for one, two in product(*(combinations(people, 2) for people in own.values()))
        ]
        invited = (
            {name: len(people) for name, people in own.items()} if "classes" in options else None
        )
        for people in ways:
            for chance, reports in outcomes(plan, [holdings[i] for i in people]):
                table = {"report": reports, "class": [groups[i] for i in people]}
                row = estimate(plan, table, **options | {"classes": invited}).rows[-1]
                rows.append(
                    (chance / len(ways) / math.comb(6, asked), row.estimate, row.standard_error**2)
                )
    return moments(rows)


def test_a_group_of_a_simple_sample_is_estimated_without_bias() -> None:
    """Three of six are members, two of the four who answer: as many as of all, so that their number is right."""
    mean, true, estimated = answered(6, "yyyxxx", by="class")
    assert (mean, estimated) == (pytest.approx(2 / 3, abs=1e-12), pytest.approx(true, abs=1e-12))


def test_class_weights_are_unbiased_and_their_variance_nearly() -> None:
    """Five of six invited, of whom two answer in each of two classes, whoever it is."""
    mean, true, estimated = answered(5, "xxxyyy", classes=True)
    assert mean == pytest.approx(1 / 2, abs=1e-12)
    assert 1 < estimated / true < 26 / 25
