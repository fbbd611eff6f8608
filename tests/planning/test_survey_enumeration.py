"""Variances and losses of survey designs against complete enumerations: every sample, every report."""

from collections.abc import Iterator
from itertools import combinations, product
from math import comb, log, prod

import numpy as np
import pytest
from exact import clusters_variance, poisson_variance, simple_variance
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.open_designs import ClusterDesign, SimpleDesign

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
