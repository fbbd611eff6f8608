"""Variances and losses of survey designs against complete enumerations: every sample, every report."""

from collections.abc import Callable, Iterator
from itertools import combinations, product
from math import comb, log, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ldpnb.designs.strata import strata_of
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.surveys import populations
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.open_designs import ClusterDesign, SimpleDesign
from ldpnb.surveys.populations import clusters_variance, poisson_variance, simple_variance
from ldpnb.surveys.variances import kish_design_effect, worst_clusters_variance

REPORTS = NumberReports("one-bit", log(3))
# how long an example takes is the machine's business
SOME = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Sample = dict[int, float]
"""Who is asked, with the weight of each report."""

share = st.integers(0, 8).map(lambda i: i / 8)


def enumerated(
    samples: Iterator[tuple[float, Sample]], values: list[float], centre: float = 0.0
) -> tuple[float, float]:
    """Mean and variance of ``centre + sum of weight (report - centre)`` over all samples and all one-bit reports."""
    chance, estimates = [], []
    ends = REPORTS.low + REPORTS.range * (np.array([0, 1]) - 0.25) / 0.5  # the unbiased values of a bit at ln 3
    for likely, weights in samples:
        for bits in product((0, 1), repeat=len(weights)):
            rates = [0.25 + 0.5 * values[i] for i in weights]
            chance.append(likely * prod(r if b else 1 - r for r, b in zip(rates, bits, strict=True)))
            reports = (ends[b] - centre for b in bits)
            estimates.append(centre + sum(w * r for w, r in zip(weights.values(), reports, strict=True)))
    law, found = np.array(chance), np.array(estimates)
    assert law.sum() == pytest.approx(1)
    mean = float(law @ found)
    return mean, float(law @ (found - mean) ** 2)


def srs(people: range, size: int) -> Iterator[tuple[float, tuple[int, ...]]]:
    for drawn in combinations(people, size):
        yield 1 / comb(len(people), size), drawn


@SOME
@given(st.lists(share, min_size=2, max_size=4), st.data())
def test_simple_random_samples(values: list[float], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(values)))
    samples = ((p, dict.fromkeys(drawn, 1 / n)) for p, drawn in srs(range(len(values)), n))
    mean, variance = enumerated(samples, values)
    found = simple_variance(values, [REPORTS.variance(v) for v in values], n).total
    assert (mean, variance) == pytest.approx((np.mean(values), found), rel=1e-9, abs=1e-12)
    for known in (None, float(np.var(values, ddof=1))):
        assert found <= SimpleDesign(len(values), known).variance(n, REPORTS, 1.0).total * (1 + 1e-12)


@SOME
@given(st.lists(st.lists(share, min_size=1, max_size=2), min_size=2, max_size=3), st.data())
def test_clusters_in_one_or_two_stages(clusters: list[list[float]], data: st.DataObject) -> None:
    chosen = data.draw(st.integers(1, len(clusters)))
    takes = tuple(data.draw(st.integers(1, len(c))) for c in clusters)
    centre = data.draw(st.sampled_from([0.0, 0.5]))
    values, firsts = [v for c in clusters for v in c], np.cumsum([0, *map(len, clusters)])
    people = len(values)

    def samples() -> Iterator[tuple[float, Sample]]:
        for p, drawn in srs(range(len(clusters)), chosen):
            for parts in product(*(list(srs(range(firsts[g], firsts[g + 1]), takes[g])) for g in drawn)):
                weights = {}
                for g, (_, asked) in zip(drawn, parts, strict=True):
                    weights |= dict.fromkeys(asked, len(clusters) / chosen * len(clusters[g]) / takes[g] / people)
                yield p * prod(q for q, _ in parts), weights

    mean, variance = enumerated(samples(), values, centre)
    noises = [[REPORTS.variance(v) for v in c] for c in clusters]
    found = clusters_variance(clusters, noises, chosen, takes, centre=centre).total
    # not centred at the estimate's own weights, the public centre may shift the mean; it must not
    assert variance == pytest.approx(found, rel=1e-9, abs=1e-12)
    assert mean == pytest.approx(np.mean(values), rel=1e-9, abs=1e-12)


@SOME
@given(st.lists(share, min_size=2, max_size=4), st.data())
def test_independent_participation(values: list[float], data: st.DataObject) -> None:
    rates = [data.draw(st.sampled_from([0.25, 0.5, 1.0])) for _ in values]
    centre = data.draw(st.sampled_from([0.0, 0.5]))

    def samples() -> Iterator[tuple[float, Sample]]:
        for takes in product((False, True), repeat=len(values)):
            weights = {i: 1 / (rates[i] * len(values)) for i, part in enumerate(takes) if part}
            yield prod(r if part else 1 - r for r, part in zip(rates, takes, strict=True)), weights

    mean, variance = enumerated(samples(), values, centre)
    noises = [REPORTS.variance(v) for v in values]
    found = poisson_variance(values, noises, rates, centre=centre).total
    assert (mean, variance) == pytest.approx((np.mean(values), found), rel=1e-9, abs=1e-12)


VALUES = [0.0, 0.5, 1.0, 0.25]
NOISES = [REPORTS.variance(v) for v in VALUES]


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_answers_at_random(rate: float) -> None:
    def samples(known: bool) -> Iterator[tuple[float, Sample]]:
        for p, drawn in srs(range(4), 3):
            for answers in product((False, True), repeat=3):
                there = [i for i, answered in zip(drawn, answers, strict=True) if answered]
                likely = p * prod(rate if a else 1 - rate for a in answers)
                if known:
                    yield likely, dict.fromkeys(there, 1 / (3 * rate))
                elif there:
                    yield likely / (1 - (1 - rate) ** 3), dict.fromkeys(there, 1 / len(there))

    found = populations.answers_variance(VALUES, NOISES, 3, rate).total
    assert enumerated(samples(False), VALUES) == pytest.approx((np.mean(VALUES), found))
    found = populations.known_rate_variance(VALUES, NOISES, 3, rate, centre=0.6).total
    assert enumerated(samples(True), VALUES, 0.6) == pytest.approx((np.mean(VALUES), found))


def test_strata_and_samples_of_fixed_size() -> None:
    pairs = dict(zip(combinations(range(4), 2), [0.1, 0.2, 0.3, 0.05, 0.05, 0.3], strict=True))
    joint = np.zeros((4, 4))
    for (one, other), chance in pairs.items():
        joint[[one, other, one, other], [other, one, one, other]] += chance
    samples = ((p, {i: 1 / (4 * joint[i, i]) for i in pair}) for pair, p in pairs.items())
    found = populations.fixed_size_variance(VALUES, NOISES, joint, centre=0.6).total
    assert enumerated(samples, VALUES, 0.6) == pytest.approx((np.mean(VALUES), found))
    parts = ((p, (0, *rest)) for p, rest in srs(range(1, 4), 2))  # all of one stratum, two of three of the other
    strata = ((p, {i: 0.375 if i else 0.25 for i in drawn}) for p, drawn in parts)
    noises = [NOISES[0], np.mean(NOISES[1:])]
    found = populations.strata_variance(strata_of([VALUES[:1], VALUES[1:]]), noises, [1, 2]).total
    assert enumerated(strata, VALUES) == pytest.approx((np.mean(VALUES), found))


@pytest.mark.parametrize("mechanism", [KaryRandomisedResponse(1.0, 2), UnaryEncoding.optimised(0.5, 4)])
@pytest.mark.parametrize("sample", [1, 3, 5])
def test_the_worst_share(mechanism: Any, sample: int) -> None:
    held, other = populations.share_noises(mechanism)
    found = [simple_variance([1] * k + [0] * (5 - k), [held] * k + [other] * (5 - k), sample).total for k in range(6)]
    assert populations.worst_share_variance(mechanism, 5, sample).total == pytest.approx(max(found))


@pytest.mark.parametrize("chosen", [1, 2, 3])
def test_the_worst_values_of_whole_clusters(chosen: int) -> None:
    worst = 0.0
    for held in product(product((0.0, 0.5, 1.0), repeat=2), repeat=3):
        noises = [[REPORTS.variance(v) for v in c] for c in held]
        worst = max(worst, clusters_variance(held, noises, chosen).total)
    assert ClusterDesign(3, 2).variance(chosen, REPORTS, 1.0).total == pytest.approx(worst)
    for centred, centre in ((True, 0.5), (False, 0.0)):
        kinds = product(*(product((0.0, 1.0), repeat=size) for size in (1, 3, 2)))
        found = [
            clusters_variance(held, [np.zeros(len(c)) for c in held], chosen, centre=centre).total for held in kinds
        ]
        assert worst_clusters_variance([1, 3, 2], chosen, centred=centred) == pytest.approx(max(found))


TWO, THREE = [[0, 1], [0.5, 0.2, 1.0]], [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simple_variance([1.0], [0.0], 1), r"values must be one number per person.* got shape \(1,\)"),
        (lambda: simple_variance(THREE, [1, 1], 1), r"noises must be one number per person, 3, got shape \(2,\)"),
        (lambda: simple_variance(THREE, THREE, 4), r"sample must lie in \[1, 3\], got sample=4"),
        (lambda: clusters_variance(TWO, TWO, 3), r"chosen must lie in \[1, 2\], got chosen=3"),
        (lambda: clusters_variance(TWO, TWO, 1, [2, 4]), r"takes must lie between 1 and the size .* got .*\[2, 4\]"),
        (lambda: clusters_variance(TWO, [[1, 1]], 1), "values must be two clusters .* got 2 and 1"),
        (
            lambda: populations.intracluster_correlation(TWO),
            r"values must be clusters of one size >= 2, got .*\[2, 3\]",
        ),
        (lambda: poisson_variance(THREE, THREE, [0, 1, 1]), r"rates must lie in .* got rates\[0\]=0"),
        (lambda: populations.fixed_size_variance(THREE, THREE, np.full((3, 3), 0.5)), "joint must be .* fixed size"),
        (lambda: kish_design_effect([1.0, -1.0]), r"weights must be one number > 0 .* got weights=\[1.0, -1.0\]"),
        (lambda: worst_clusters_variance([10**6, 1], 1), "sizes must be >= 1 and sum to at most 1,000,000, got 1 and"),
        (lambda: ClusterDesign(4, 10**4, take=200).two_stage_loss(1, 1.0), "size times take must be at most 1,000,000"),
    ],
)
def test_what_does_not_fit_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def tallies(groups: list[list[int]], chosen: int, take: int) -> np.ndarray:
    """The law of how many reports are ones, over all samples of clusters and of `take` in each; bits at ln 3."""
    law = np.zeros(chosen * take + 1)
    for p, drawn in srs(range(len(groups)), chosen):
        for parts in product(*(list(srs(range(len(groups[g])), take)) for g in drawn)):
            rates = [0.75 if groups[g][i] else 0.25 for g, (_, asked) in zip(drawn, parts, strict=True) for i in asked]
            ones = np.array([1.0])
            for rate in rates:
                ones = np.convolve(ones, [1 - rate, rate])
            law += p * prod(q for q, _ in parts) * ones
    return law


@pytest.mark.parametrize(
    ("clusters", "size", "chosen", "take"), [(3, 2, 1, 2), (3, 2, 2, 2), (2, 3, 1, 2), (3, 3, 1, 1)]
)
def test_the_loss_of_clusters_is_that_of_the_worst_neighbours(clusters: int, size: int, chosen: int, take: int) -> None:
    largest = 0.0
    for bits in product((0, 1), repeat=clusters * size - 1):
        laws = []
        for changed in (0, 1):
            held = [changed, *bits]
            laws.append(tallies([held[g * size : (g + 1) * size] for g in range(clusters)], chosen, take))
        largest = max(largest, float(np.abs(np.log(laws[0] / laws[1])).max()))
    design = ClusterDesign(clusters, size, take=take)
    loss = design.loss(chosen, log(3), (design.people(chosen),))
    if take == size:
        assert loss == pytest.approx(largest, rel=1e-9)
    else:
        assert loss >= largest - 1e-12
    assert design.two_stage_loss(chosen, log(3)) == pytest.approx(largest, rel=1e-9)
