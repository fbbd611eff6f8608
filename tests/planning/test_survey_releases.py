"""Several releases and absent records: what a plan says they lose, against complete enumeration."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ldpnb.cli import cli
from ldpnb.mechanisms.means import OneBit
from ldpnb.planning.survey import Survey
from ldpnb.surveys.open_designs import ClusterDesign, SimpleDesign
from ldpnb.surveys.strata_designs import StratifiedDesign
from ldpnb.surveys.unequal_designs import PoissonDesign

Groups = list[list[float]]
Law = dict[float, float]
Some = tuple[float, list[list[float]]]


def simple(groups: Groups) -> Iterator[Some]:
    samples = list(combinations(groups[0], 2))
    yield from ((1 / len(samples), [list(drawn)]) for drawn in samples)


def strata(groups: Groups) -> Iterator[Some]:
    parts = [list(combinations(group, 1 + place)) for place, group in enumerate(groups)]
    yield from ((1 / math.prod(map(len, parts)), [list(p) for p in drawn]) for drawn in product(*parts))


def clusters(groups: Groups) -> Iterator[Some]:
    yield from ((1 / len(groups), [group]) for group in groups)


def coins(groups: Groups) -> Iterator[Some]:
    for heads in product((0, 1), repeat=len(groups[0])):
        yield 0.5 ** len(heads), [[v for v, head in zip(groups[0], heads, strict=True) if head]]


def mean(sample: list[list[float]], weights: list[float], centre: float) -> float:
    return round(sum(w * (v - centre) for w, part in zip(weights, sample, strict=True) for v in part), 12)


DESIGNS: dict[str, tuple[Any, int, Callable[[Groups], Iterator[Some]], list[int], list[float], float]] = {
    "simple": (SimpleDesign(4), 2, simple, [4], [1 / 2], 0.0),
    "strata": (StratifiedDesign((2, 3)), 3, strata, [2, 3], [2 / 5, 3 / 10], 0.0),
    "clusters": (ClusterDesign(3, 2), 1, clusters, [2, 2, 2], [1 / 2], 0.5),
    "coins": (PoissonDesign((4,)), 2, coins, [4], [1 / 2], 0.5),
}
"""Design, count, samples with their chances, people in each group, weights of drawn values and the public centre."""


def laplace_loss(one: Law, other: Law, scale: float, times: int) -> float:
    """The loss of so many releases: between values log-ratios move one way only, so that they are largest at some."""
    grid = np.array(sorted({*one, *other}))
    logs = []
    for law in (one, other):
        densities = np.array([np.exp(-np.abs(grid - value) / scale) for value in law])
        whole = densities if times == 1 else densities[:, :, None] * densities[:, None]
        logs.append(np.log(np.tensordot(list(law.values()), whole, 1)))
    return float(np.abs(logs[0] - logs[1]).max())


def law_of(samples: Iterator[Some], weights: list[float], centre: float) -> Law:
    law: defaultdict[float, float] = defaultdict(float)
    for chance, sample in samples:
        law[mean(sample, weights, centre)] += chance
    return dict(law)


def neighbours(sizes: list[int]) -> Iterator[tuple[int, Callable[[list[float]], Groups]]]:
    """Where a record changes, and all populations around it."""
    for place in range(len(sizes)):
        rest = [list(combinations_with_replacement((0.0, 1.0), n - (g == place))) for g, n in enumerate(sizes)]
        for others in product(*rest):
            yield place, lambda own, o=others, p=place: [[*own, *g] if i == p else list(g) for i, g in enumerate(o)]


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("kind", DESIGNS)
def test_releases_of_a_curator_lose_together_what_is_asked(kind: str, times: int) -> None:
    design, count, samples, sizes, weights, centre = DESIGNS[kind]
    asked: dict[str, Any] = {"count": count, "epsilon": 0.8, "failure": 0.05, "collection": "central", "secret": True}
    found = Survey(design=design, **asked, releases=times).plan()
    replaced = absent = 0.0
    for _, people in neighbours(sizes):
        one, other, none = (law_of(samples(people(own)), weights, centre) for own in ([0.0], [1.0], []))
        replaced = max(replaced, laplace_loss(one, other, found.survey.scale(), times))
        absent = max(absent, *(laplace_loss(law, none, found.survey.scale(), times) for law in (one, other)))
    assert replaced == pytest.approx(found.epsilon)
    assert absent == pytest.approx(found.released_without)
    assert found.survey.scale() == pytest.approx(times * Survey(design=design, **asked).plan().survey.scale())


def tallied(samples: Iterator[Some], times: int) -> dict[Any, float]:
    """The law of the reports, per stratum and in no order, `times` bits of everybody who is asked."""
    law: defaultdict[Any, float] = defaultdict(float)
    bit = OneBit(0.8)
    for chance, sample in samples:
        for sent in product(product((0, 1), repeat=times), repeat=sum(map(len, sample))):
            told, reports = chance, iter(sent)
            groups = [[(value, next(reports)) for value in part] for part in sample]
            for value, bits in (pair for group in groups for pair in group):
                told *= math.prod(abs(1 - b - bit.q - bit.slope * value) for b in bits)
            law[tuple(tuple(sorted(Counter(b for _, b in group).items())) for group in groups)] += told
    return law


@pytest.mark.parametrize(
    ("kind", "times"), [("simple", 1), ("simple", 2), ("strata", 1), ("clusters", 1), ("clusters", 2)]
)
def test_reports_of_one_sample_lose_what_their_summed_budget_does(kind: str, times: int) -> None:
    design, count, samples, sizes, _, _ = DESIGNS[kind]
    if kind == "clusters":
        design, sizes = ClusterDesign(2, 2), [2, 2]
    found = Survey(design=design, count=count, epsilon=0.8, failure=0.05, secret=True, releases=times).plan()
    replaced, absent = 0.0, 0.0
    for _, people in neighbours(sizes):
        laws = [tallied(samples(people(own)), times) for own in ([0.0], [1.0], [])]
        for here, there in ((0, 1), (0, 2), (1, 2)):
            if laws[here].keys() != laws[there].keys():
                absent = math.inf
                continue
            lost = max(abs(math.log(laws[here][sent] / laws[there][sent])) for sent in laws[here])
            replaced, absent = (replaced, max(absent, lost)) if there == 2 else (max(replaced, lost), absent)
    assert replaced == pytest.approx(found.released)
    assert absent == pytest.approx(found.released_without)
    assert found.to_dict()["loss_of_reports"] == 0.8 * times


def test_plans_say_what_several_releases_lose() -> None:
    words = "plan survey --population 10000 --count 1000 --epsilon 1 --failure 0.05 --releases 2 --secret-sample"
    said = CliRunner().invoke(cli, words.split()).stdout
    assert "A report loses 1 to whoever receives it, and the 2 of a person 2; what is released 0.4941" in said
    assert "Fresh samples would lose 0.3172." in said
    said = CliRunner().invoke(cli, [*words.split(), "--collection", "central"]).stdout
    assert "to each of the 2 releases; together they lose 1 under replacement (a secret sample; of" in said
    assert "releases must be an integer >= 1, got releases=0" in str(
        CliRunner().invoke(cli, [*words.split(), "--releases", "0"]).exception
    )
