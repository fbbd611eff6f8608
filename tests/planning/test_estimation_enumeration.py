"""Every sample of tiny populations and every randomisation of its answers: no estimate is biased."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from ldpnb.surveys import binomials, estimation, intervals, samples
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.reports import Reports
from ldpnb.surveys.samples import Sample

WARNER = Reports("binary", Fraction(3, 4), Fraction(1, 4))


def randomised(device: Reports, values: list[Fraction]) -> Iterator[tuple[Fraction, np.ndarray]]:
    """Every outcome of a device, with its chance: bits of people who hold these values."""
    rates = [device.q + device.truth * (v - device.low) / device.span for v in values]
    for bits in product((0, 1), repeat=len(values)):
        chance = Fraction(1)
        for bit, rate in zip(bits, rates, strict=True):
            chance *= rate if bit else 1 - rate
        yield chance, np.array([Fraction(bit) for bit in bits], dtype=object)


def test_the_release_of_a_curator_tells_its_variance_without_bias() -> None:
    """Noise of two points of the same variance as Laplace's, since only two moments enter."""
    population, n, holders, scale = 7, 3, 3, 0.2
    noise = scale * 2**0.5
    mean = square = estimated = 0.0
    all_of_them = list(combinations(range(population), n))
    for some in all_of_them:
        for shift in (-noise, noise):
            share = sum(i < holders for i in some) / n + shift
            chance = 0.5 / len(all_of_them)
            mean += chance * share
            square += chance * share**2
            estimated += chance * intervals.released_variance(share, population, n, scale)
    assert estimated == pytest.approx(square - mean**2, abs=1e-12)


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


def outcomes(plan: FieldPlan, values: list[float]) -> Iterator[tuple[float, list[Any]]]:
    """Everything that people with these values can report, with its chance; noise of two points for Laplace's."""
    p, q = (float(Fraction(chance or 0)) for chance in (plan.p, plan.q))
    laws: list[dict[Any, float]] = []
    for value in values:
        if plan.kind == "Laplace":
            shift = 2**0.5 * (plan.high - plan.low) / plan.epsilon
            laws.append({value + shift: 0.5, value - shift: 0.5})
        elif plan.kind == "labels":
            laws.append({label: p if i == value else q for i, label in enumerate(plan.labels)})
        elif plan.kind == "bits":
            rates = [p if i == value else q for i in range(len(plan.labels))]
            words = product((0, 1), repeat=len(plan.labels))
            chance = [np.prod([r if bit else 1 - r for bit, r in zip(word, rates, strict=True)]) for word in words]
            words = product((0, 1), repeat=len(plan.labels))
            laws.append(dict(zip(["".join(map(str, word)) for word in words], chance, strict=True)))
        else:
            rate = q + (p - q) * (value - plan.low) / (plan.high - plan.low)
            laws.append({1: rate, 0: 1 - rate})
    for reports in product(*laws):
        yield float(np.prod([law[report] for law, report in zip(laws, reports, strict=True)])), list(reports)


Q = {"p": "3/4", "q": "1/4"}
K = {"p": "1/2", "q": "1/4", "labels": ("a", "b", "c")}
Way = tuple[list[int], dict[str, list[Any]]]


def whole(*groups: list[int]) -> Way:
    return [i for g in groups for i in g], {
        "cluster": [str(g) for g in groups for _ in g],
        "cluster_size": [len(g) for g in groups for _ in g],
    }


def two(*groups: list[int]) -> list[Way]:
    """Two people of each."""
    _, columns = whole(*(g[:2] for g in groups))
    columns["cluster_size"] = [len(g) for g in groups for _ in range(2)]
    return [([*a, *b], columns) for a in combinations(groups[0], 2) for b in combinations(groups[1], 2)]


SAMPLES: dict[str, tuple[dict[str, Any], list[list[Way]]]] = {
    "everyone": ({"asked": 4}, [[([0, 1, 2, 3], {})]]),
    "simple": ({"population": 5, "asked": 3}, [[(list(s), {}) for s in combinations(range(5), 3)]]),
    "strata": (
        {"strata": {"x": (2, 2), "y": (3, 2)}, "asked": 4},
        [[([0, 1, *s], {"stratum": ["x", "x", "y", "y"]}) for s in combinations((2, 3, 4), 2)]],
    ),
    "clusters": (
        {"population": 6, "clusters": 3, "chosen": 2, "asked": 4},
        [[whole(*some) for some in combinations(([0], [1, 2], [3, 4, 5]), 2)]],
    ),
    "two stages": (
        {"population": 9, "clusters": 3, "chosen": 2, "take": 2, "asked": 4},
        [two(*some) for some in combinations(([0, 1, 2], [3, 4, 5], [6, 7, 8]), 2)],
    ),
}
"""Designs, and sets of samples: each set is as likely as every other, and each sample in a set."""

KINDS: dict[str, dict[str, Any]] = {
    "binary": Q, "number": Q | {"low": -1.0, "high": 3.0}, "labels": K, "bits": K | {"labels": ("a", "b")}, "Laplace": {"epsilon": 1.0, "high": 2.0},
}  # fmt: skip
HELD: dict[str, list[float]] = {
    "binary": [1, 0, 0, 1, 1, 0, 1, 0, 0],
    "number": [0.5, -1, 3, 2, 0, 1, 1.5, 2.5, -1],
    "labels": [0, 1, 0, 2, 2, 1, 0, 0, 1],
    "bits": [0, 1, 0, 1, 1, 0, 0, 1, 0],
    "Laplace": [0.5, 0, 2, 1, 1.5, 2, 0, 1, 2],
}


WAYS = [(design, kind) for design in SAMPLES for kind in KINDS if kind != "bits" or design == "simple"]


@pytest.mark.parametrize(("design", "kind"), WAYS)
def test_what_the_command_computes_is_unbiased(design: Any, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way from a plan and a table, every sample and every outcome of the device."""
    points: list[Any] = []  # before a variance below 0, which is no standard error, is clipped
    row = estimation._row
    monkeypatch.setattr(
        estimation, "_row", lambda reports, point, *more: points.append(point) or row(reports, point, *more)
    )
    monkeypatch.setattr(estimation, "_interval", lambda *_: (0.0, 0.0, "", ""))  # of which others tell
    sizes, sets = SAMPLES[design]
    plan = FieldPlan(design=design, kind=kind, **sizes, **KINDS[kind])
    people = plan.population or {"everyone": 4, "strata": 5}[design]
    held = HELD[kind][:people]
    mean = square = variance = 0.0
    for some, columns, share in [(*way, 1 / len(ways) / len(sets)) for ways in sets for way in ways]:
        for chance, reports in outcomes(plan, [held[i] for i in some]):
            points.clear()
            estimate(plan, {"report": reports, **columns})
            mean += chance * share * points[0].estimate
            square += chance * share * points[0].estimate ** 2
            variance += chance * share * points[0].variance
    shown = np.array([value == 0 for value in held] if plan.labels else held, dtype=float)
    assert mean == pytest.approx(shown.mean(), abs=1e-12)
    too_large = shown.var(ddof=1) / people if kind == "number" else 0.0
    assert variance - (square - mean**2) == pytest.approx(too_large, abs=1e-11)


def test_a_group_of_a_simple_sample_is_estimated_without_bias() -> None:
    """Three of six are members, two of the four drawn: as many as of all, so that their number is right."""
    plan = FieldPlan(design="simple", kind="binary", population=6, asked=4, **Q)
    held = [1, 0, 1, 1, 0, 0]
    drawn = [[*one, *two] for one in combinations((0, 1, 2), 2) for two in combinations((3, 4, 5), 2)]
    mean = square = variance = 0.0
    for some in drawn:
        for chance, reports in outcomes(plan, [held[i] for i in some]):
            row = estimate(plan, {"report": reports, "group": ["in", "in", "out", "out"]}, by="group").rows[1]
            mean += chance / len(drawn) * row.estimate
            square += chance / len(drawn) * row.estimate**2
            variance += chance / len(drawn) * row.standard_error**2
    assert mean == pytest.approx(2 / 3, abs=1e-12)
    assert variance == pytest.approx(square - mean**2, abs=1e-12)


def test_class_weights_are_unbiased_and_their_variance_nearly() -> None:
    """Five of six invited, of whom two answer in each of two classes, whoever it is."""
    device, held, kind = WARNER, [1, 0, 1, 0, 0, 1], "xxxyyy"
    mean = square = variance = total = Fraction(0)
    for some in combinations(range(6), 5):
        invited = {name: sum(kind[i] == name for i in some) for name in "xy"}
        ways = [
            [*one, *two]
            for one in combinations([i for i in some if kind[i] == "x"], 2)
            for two in combinations([i for i in some if kind[i] == "y"], 2)
        ]
        for answered in ways:
            for chance, bits in randomised(device, [Fraction(held[i]) for i in answered]):
                point = samples.class_weighted(
                    Sample.simple(4, 6), [kind[i] for i in answered], invited, device.value(bits), device.noise
                )
                weight = chance / (6 * len(ways))
                total += weight
                mean += weight * point.estimate
                square += weight * point.estimate**2
                variance += weight * point.variance
    assert (total, mean) == (1, Fraction(1, 2))
    assert 1 < variance / (square - mean**2) < Fraction(26, 25)
