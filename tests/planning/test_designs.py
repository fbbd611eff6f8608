"""What a sample of known size errs by and loses, against complete enumerations: every sample, every report."""

import math
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
import oracle
import pytest
from ask import sampled
from scipy import stats

from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.questions import Mean
from ldpnb.planning.reports import Reports
from ldpnb.planning.samples import Everyone, StratifiedDesign, invitations

BIT = Reports.of(KaryRandomisedResponse(math.log(3), 2), ends=False)
COIN = Reports.of(KaryRandomisedResponse(math.log(3), 2), ends=True)
NOISE, VALUES = Reports(scale=1.0), Reports()
HOLDER = Reports.of(UnaryEncoding.optimised(0.5, 4), ends=True)


def populations(sizes: tuple[int, ...], reports: Reports) -> Iterator[tuple[Any, Any]]:
    """All values in groups, up to their order in a group, and the variances of their reports."""
    levels = (0.0, 1.0) if reports.ends else (0.0, 0.5, 1.0)
    for held in product(*(combinations_with_replacement(levels, size) for size in sizes)):
        yield held, [[reports.variance(value) for value in part] for part in held]


KINDS = pytest.mark.parametrize(
    "reports", [BIT, COIN, NOISE, VALUES, HOLDER], ids=["bit", "coin", "noise", "values", "OUE"]
)


@KINDS
@pytest.mark.parametrize(
    ("sizes", "drawn"), [((5,), (1,)), ((5,), (3,)), ((5,), (5,)), ((3, 4), (2, 1))]
)
def test_no_values_vary_more_in_strata_than_planned(
    reports: Reports, sizes: Any, drawn: Any
) -> None:
    found = [
        oracle.strata_variance(
            sizes, [np.var(p, ddof=1) for p in held], [np.mean(p) for p in noises], drawn
        )
        for held, noises in populations(sizes, reports)
    ]
    assert max(found) == pytest.approx(sampled(sizes, drawn).variance(reports).total)


@KINDS
@pytest.mark.parametrize("take", [1, 2, 3])
@pytest.mark.parametrize("chosen", [1, 2, 3])
def test_no_values_vary_more_in_clusters_than_planned(
    reports: Reports, take: int, chosen: int
) -> None:
    # with few asked in each, clusters alike within are not the worst: the first draft of the formulas said so
    worst = max(
        oracle.clusters_variance(held, noises, chosen, (take,) * 3, 0.5)
        for held, noises in populations((3, 3, 3), reports)
    )
    planned = ClusterDesign(3, 3, take).at(chosen, reports).variance(reports).total
    assert worst <= planned * (1 + 1e-12)
    assert planned <= 1.4 * worst or planned < 1e-15 or chosen == take == 3
    if take == 3 and reports is not HOLDER:
        assert planned == pytest.approx(worst, abs=1e-15)


def test_a_correlation_means_what_it_says_for_clusters_of_any_size() -> None:
    """Pairs of clusters of one size, whose means differ as the correlation says: the variance is that of the draw."""
    sizes, icc, within = np.array([2, 2, 4, 4, 10, 10]), 0.3, 0.02
    people, number = int(sizes.sum()), len(sizes)
    s2 = within * people / ((people - 1) * (1 - icc))
    alike = ((people - 1) * s2 - people * within) / people
    mean = 0.5 - math.sqrt(
        0.25 - s2 * (people - 1) / people
    )  # as far from the middle as the variance leaves
    values = []
    for size, sign in zip(sizes, [1, -1] * 3, strict=True):
        middle = mean + sign * math.sqrt(alike + within / size)
        values.append(middle + math.sqrt(within * (size - 1) / size) * np.resize([1.0, -1.0], size))
    flat = np.concatenate(values)
    assert (flat.mean(), flat.var(ddof=1)) == pytest.approx((mean, s2))
    for take in (None, 2):
        takes = [int(min(n, take or n)) for n in sizes]
        for chosen in (1, 4, 6):
            noises = [np.full(n, NOISE.worst) for n in sizes]
            exact = oracle.clusters_variance(values, noises, chosen, takes, 0.5)
            design = ClusterDesign(
                number, people / number, take, icc, math.sqrt(s2), float(sizes.std(ddof=1))
            )
            assert design.at(chosen, NOISE).variance(NOISE).total == pytest.approx(exact)


@pytest.mark.parametrize("response", [0.3, 0.8])
def test_answers_at_random_in_clusters_vary_as_planned(response: float) -> None:
    """Enumerated over how many answer: given that, people asked are a simple sample of so many."""
    held, noises = [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]], [[COIN.low] * 3] * 2
    flat = np.array(held).ravel()
    design = ClusterDesign(2, 3, 2, oracle.intracluster_correlation(held), float(flat.std(ddof=1)))
    drawn = design.at(2, COIN, response=response)
    chances = np.array([2 * response * (1 - response), response**2]) / (1 - (1 - response) ** 2)
    total = sum(
        chances[a] * chances[b] * oracle.clusters_variance(held, noises, 2, (a + 1, b + 1), 0.5)
        for a, b in product((0, 1), repeat=2)
    )
    assert drawn.variance(COIN).total == pytest.approx(total)
    assert drawn.empty == pytest.approx(2 * (1 - response) ** 2)


def test_one_more_person_is_never_worse_in_strata() -> None:
    for design in (
        StratifiedDesign((7, 23, 70)),
        StratifiedDesign((7, 23, 70), (0.1, 0.5, 0.2), "neyman"),
    ):
        drawn = [design.at(count, BIT) for count in range(3, 101)]
        assert [sample.people for sample in drawn] == list(range(3, 101))
        for fewer, more in pairwise(drawn):
            assert (np.array(fewer.answers) <= more.answers).all()
        assert drawn[-1].answers == design.sizes


def test_enough_are_invited_in_every_stratum() -> None:
    invited = sampled((6000, 4000), (600, 400)).invited(0.5, 0.05)
    for answers, number in zip((600, 400), invited, strict=True):
        assert (
            stats.binom.cdf(answers - 1, number, 0.5)
            <= 0.025
            < stats.binom.cdf(answers - 1, number - 1, 0.5)
        )
    assert invitations(5, 1.0, 0.1) == 5
    with pytest.raises(
        ValueError, match="of 2,000 people would have to be invited for 1,842 answers"
    ):
        sampled((2000,), (1842,)).invited(0.6, 0.05)
    assert Everyone().at(10, BIT).invited(0.5, 0.05)[0] > 20


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: ClusterDesign(40, 25.5), "size must be an integer"),
        (lambda: ClusterDesign(40, 25, take=26), "take must be 1 to size=25, got take=26"),
        (lambda: ClusterDesign(40, 25, icc=-0.5), r"icc must lie in \[-0.04"),
        (lambda: ClusterDesign(40, 25, size_sd=3.0), "icc must be given where sizes differ"),
        (lambda: StratifiedDesign((3, 0)), "sizes must be >= 1"),
        (lambda: StratifiedDesign((30, 40), (0.1,)), "sds must have 2 entries"),
        (
            lambda: StratifiedDesign((30, 40), allocation="neyman"),
            "allocation neyman needs the standard deviation",
        ),
        (
            lambda: ClusterDesign(40, 25, 5, 0.1, size_sd=2.0).at(3, BIT).scale(1.0),
            "depend on the largest cluster",
        ),
        (
            lambda: sampled((100,), (10,), (0.4**0.5,)).variance(BIT),
            "sd must be at most 0.502519 of the range, got 0.63",
        ),
        (
            lambda: Mean(design=ClusterDesign(9, 5), count=10),
            "count must be at most 9 clusters, got 10",
        ),
    ],
)
def test_what_has_no_answer_is_refused_with_rule_and_value(
    make: Callable[[], Any], rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        make()
