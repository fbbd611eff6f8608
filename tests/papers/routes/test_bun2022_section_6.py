"""Second routes to formulas under the claims of bun2022, Section 6."""

from functools import partial

import numpy as np
from compared import Pairs, compared

from ldpnb.designs import laws
from ldpnb.papers.bun2022.formulas import samples, unequal
from ldpnb.papers.bun2022.section_5 import largest
from ldpnb.papers.bun2022.section_6 import LARGE, WEIGHTS
from ldpnb.papers.bun2022.shared import optimum
from ldpnb.privacy import optimiser


@compared
def test_inclusion_in_proportion_to_size_is_capped_at_one() -> Pairs:
    drawn = laws.one_draw([[i] for i in range(4)], WEIGHTS)
    yield samples.pps_rates(WEIGHTS, 2), [2 * drawn[i,] for i in range(4)]
    yield samples.pps_rate(3, 10, 2), 2 * drawn[2,]


@compared
def test_one_draw_loses_what_the_worst_mechanism_loses() -> Pairs:
    for first, second, epsilon in (
        (4, 9, 1.0),
        (4, 0.1, 0.5),
    ):  # a record of another size, the others as they are
        sizes = (first, *WEIGHTS[:3]), (second, *WEIGHTS[:3])
        both = (
            laws.one_draw([[own], [1], [2], [3]], law)
            for own, law in zip((0, 9), sizes, strict=True)
        )
        rate, other = (law[0] / sum(law) for law in sizes)
        yield (
            unequal.one_draw_loss(rate, other, epsilon),
            optimiser.largest_loss(*both, epsilon=epsilon).loss,
        )


@compared
def test_independent_draws_lose_what_the_worst_mechanism_loses() -> Pairs:
    yield (
        unequal.poisson_loss([0.5, 0], [0, 0.5], 0.5),
        optimum(partial(laws.poisson, rates=0.5), 4, 0.5),
    )
    sizes = np.linspace(1, 2, 6)
    pair = sizes, np.array([2.0, *sizes[1:]])
    both = (
        laws.poisson([one, *range(1, 6)], 1.5 * z / z.sum())
        for one, z in zip((0, 9), pair, strict=True)
    )
    here, there = (1.5 * z / z.sum() for z in pair)
    loss = unequal.poisson_loss([*here, 0], [0, *there[1:], there[0]], 0.5)
    yield loss, optimiser.largest_loss(*both, epsilon=0.5).loss


@compared
def test_a_cluster_drawn_by_size_loses_what_the_worst_mechanism_loses() -> Pairs:
    for sizes, epsilon in (
        ((3, 1, 2), 0.5),
        ((2, 2, 2), 0.5),
        ((1, 4), 0.3),
        ((4, 2, 1), 1.0),
        ((2, 2), 0.5),
    ):
        whole = [[(i, record) for record in range(size)] for i, size in enumerate(sizes)]
        less = [cluster for cluster in (whole[0][1:], *whole[1:]) if cluster]
        both = (laws.one_draw(some, list(map(len, some))) for some in (whole, less))
        yield (
            unequal.pps_cluster_loss(sizes, epsilon),
            optimiser.largest_loss(*both, epsilon=epsilon).loss,
        )
    own, *others = np.array(LARGE)  # the tail of a signed count, from the law of the cluster drawn
    outside = np.sum(others * np.exp(-0.5 * (own + np.array(others))))
    here, there = own + outside, (own - 1) * np.exp(-0.5) + outside
    yield (
        unequal.pps_cluster_loss(LARGE, 0.5),
        np.log(here / sum(LARGE)) - np.log(there / (sum(LARGE) - 1)),
    )


@compared
def test_a_systematic_sample_loses_what_the_worst_mechanism_loses() -> Pairs:
    for m, k, epsilon in ((4, 2, 0.5), (2, 3, 1.1), (5, 3, 0.5)):
        clusters = largest((m,) * k, 1, epsilon, "replacement")
        yield unequal.systematic_rank_preserving_loss(m, k, epsilon), clusters
        yield unequal.systematic_loss(range(m * k), 3, 3.5, step=k, epsilon=epsilon), clusters
