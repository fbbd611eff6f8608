"""Second routes to formulas under the claims of Bun et al. (2022), Section 6.

Losses of samples with unequal chances are compared with those of the worst mechanism, found by
optimisation over all mechanisms on a few records or clusters.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from compared import Pairs, compared

from ldpnb.arithmetic import Floats
from ldpnb.designs import laws
from ldpnb.papers.bun2022.formulas import samples, unequal
from ldpnb.papers.bun2022.section_5 import largest
from ldpnb.papers.bun2022.section_6 import LARGE, WEIGHTS
from ldpnb.papers.bun2022.shared import optimum
from ldpnb.privacy import optimiser


@compared
def test_inclusion_in_proportion_to_size_is_capped_at_one() -> Pairs:
    law = laws.one_draw([[record] for record in range(4)], WEIGHTS)
    twice = [2 * law[record,] for record in range(4)]
    yield samples.pps_rates(WEIGHTS, 2), twice
    yield samples.pps_rate(3, 10, 2), twice[2]


@compared
def test_one_draw_loses_what_the_worst_mechanism_loses() -> Pairs:
    others = WEIGHTS[:3]
    for size, new_size, epsilon in ((4, 9, 1.0), (4, 0.1, 0.5)):
        first = laws.one_draw([[0], [1], [2], [3]], (size, *others))
        second = laws.one_draw([[9], [1], [2], [3]], (new_size, *others))
        worst = optimiser.largest_loss(first, second, epsilon=epsilon)

        rate = size / (size + sum(others))
        new_rate = new_size / (new_size + sum(others))
        yield unequal.one_draw_loss(rate, new_rate, epsilon), worst.loss


@compared
def test_independent_draws_lose_what_the_worst_mechanism_loses() -> Pairs:
    most = optimum(partial(laws.poisson, rates=0.5), 4, 0.5)
    yield unequal.poisson_loss([0.5, 0], [0, 0.5], 0.5), most


def rates_by_size(sizes: Floats) -> Floats:
    """Return rates in proportion to sizes, with 1.5 records drawn on average."""
    return np.asarray(1.5 * sizes / sizes.sum())


@compared
def test_independent_draws_by_size_lose_what_the_worst_mechanism_loses() -> Pairs:
    sizes = np.linspace(1, 2, 6)
    rates = rates_by_size(sizes)
    new_rates = rates_by_size(np.array([2.0, *sizes[1:]]))

    first = laws.poisson([0, 1, 2, 3, 4, 5], rates)
    second = laws.poisson([9, 1, 2, 3, 4, 5], new_rates)
    worst = optimiser.largest_loss(first, second, epsilon=0.5)

    # The replaced record and the new one are two records, each with rate 0 where it is not.
    before = [*rates, 0]
    after = [0, *new_rates[1:], new_rates[0]]
    yield unequal.poisson_loss(before, after, 0.5), worst.loss


def drawn_by_size(clusters: Sequence[Sequence[object]]) -> laws.Law:
    """Return the law of one cluster, drawn in proportion to its size."""
    filled = [cluster for cluster in clusters if cluster]
    return laws.one_draw(filled, [len(cluster) for cluster in filled])


@compared
def test_a_cluster_drawn_by_size_loses_what_the_worst_mechanism_loses() -> Pairs:
    for sizes, epsilon in (
        ((3, 1, 2), 0.5),
        ((2, 2, 2), 0.5),
        ((1, 4), 0.3),
        ((4, 2, 1), 1.0),
        ((2, 2), 0.5),
    ):
        clusters = []
        for number, size in enumerate(sizes):
            clusters.append([(number, record) for record in range(size)])

        changed, *others = clusters
        first = drawn_by_size(clusters)
        second = drawn_by_size([changed[1:], *others])
        worst = optimiser.largest_loss(first, second, epsilon=epsilon)
        yield unequal.pps_cluster_loss(sizes, epsilon), worst.loss


@compared
def test_a_large_cluster_drawn_by_size_loses_what_a_signed_count_loses() -> Pairs:
    """The tail of the count follows from the law of the cluster that is drawn."""
    epsilon = 0.5
    own, *rest = LARGE
    others = np.array(rest)
    outside = np.sum(others * np.exp(-epsilon * (own + others)))

    tail = (own + outside) / sum(LARGE)
    tail_with_one_less = ((own - 1) * np.exp(-epsilon) + outside) / (sum(LARGE) - 1)
    yield unequal.pps_cluster_loss(LARGE, epsilon), np.log(tail / tail_with_one_less)


@compared
def test_a_systematic_sample_loses_what_the_worst_mechanism_loses() -> Pairs:
    for size, step, epsilon in ((4, 2, 0.5), (2, 3, 1.1), (5, 3, 0.5)):
        as_clusters = largest((size,) * step, 1, epsilon, "replacement")
        yield unequal.systematic_rank_preserving_loss(size, step, epsilon), as_clusters

        records = range(size * step)
        found = unequal.systematic_loss(records, 3, 3.5, step=step, epsilon=epsilon)
        yield found, as_clusters
