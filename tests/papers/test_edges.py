"""Check that the conditions which verdicts name are needed.

Some verdicts hold with an exception, or only on a part of the domain. For each, the words must name
that edge, and an example beyond the edge must break the claim.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from ldpnb.accuracy import gaps
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.papers.bun2022.formulas import rounding, unequal
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.privacy import channel, lemmas, optimiser
from ldpnb.run.ledger import committed_ledger

EPSILON = np.log(2)
LEDGER = pd.DataFrame(committed_ledger()).set_index("claim")


def mixtures_of_unlike_parts_lose_more() -> bool:
    rare = 0.05 * np.exp([EPSILON, 0.0])
    mixed = np.vstack([[0.5, 0.5], rare, 0.5 - rare])
    bound = lemmas.mixture_loss(0.5, common=0.0, other=EPSILON)
    return channel.privacy_loss(mixed).epsilon > bound


def a_cluster_that_vanishes_loses_more() -> bool:
    with_it = {(0,): 0.5, (1,): 0.5}
    without_it = {(1,): 1.0}
    worst = optimiser.largest_loss(with_it, without_it, epsilon=EPSILON)
    return worst.loss > ClusterSample([1, 1], 1).upper_bound(EPSILON)


def others_in_new_proportions_lose_more() -> bool:
    before = {("x",): 0.1, ("a",): 0.8, ("b",): 0.1}
    after = {("y",): 0.1, ("a",): 0.1, ("b",): 0.8}
    worst = optimiser.largest_loss(before, after, epsilon=EPSILON)
    return worst.loss > unequal.one_draw_loss(0.1, 0.1, EPSILON)


def a_size_rounded_at_random_loses_more() -> bool:
    return rounding.random_rounding_loss(4, 0.75, 0.5) > 0.5


def numbers_without_rounding_vary_less() -> bool:
    """Laplace noise has less than a third of the least variance that a channel of signs has."""
    users = 100
    noise = gaps.GroupGap.of_halves(LaplaceMeans.calibrated(6.0), users)
    best_signs = BestGapChannel(6.0, 0.5)
    return bool(3 * users * noise.worst_variance() < best_signs.variance)


class Edge(NamedTuple):
    """The words by which a verdict names its edge, and an example of what happens beyond it."""

    words: str
    fails_beyond: Callable[[], bool]


EDGES = {
    "bun2022/lemmas-a.2-to-a.4": Edge(
        r"all other pairs of parts within $\varepsilon_1$",
        mixtures_of_unlike_parts_lose_more,
    ),
    "bun2022/theorem-5.2": Edge(
        "a cluster that becomes empty can still be drawn",
        a_cluster_that_vanishes_loses_more,
    ),
    "bun2022/section-6-data-dependent-inclusion": Edge(
        "in the same proportions",
        others_in_new_proportions_lose_more,
    ),
    "bun2022/theorem-7.2": Edge(
        "has the bound of Theorem 4.3",
        a_size_rounded_at_random_loses_more,
    ),
    "companion/the-best-channel-for-a-gap": Edge(
        "A channel that takes numbers without rounding them",
        numbers_without_rounding_vary_less,
    ),
}


@pytest.mark.parametrize("claim", EDGES)
def test_a_verdict_names_the_edge_beyond_which_it_fails(claim: str) -> None:
    texts = LEDGER.loc[claim, ["says", "over", "evidence", "change", "instead", "more"]]
    assert EDGES[claim].words in " ".join(texts)
    assert EDGES[claim].fails_beyond()
