"""Verdicts name the domain and the exceptions that they need: at these edges more would be
false.
"""

from collections.abc import Callable

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


def mixtures_of_apart_components() -> bool:
    rare = 0.05 * np.exp([EPSILON, 0.0])
    mixed = np.vstack([[0.5, 0.5], rare, 0.5 - rare])
    return channel.privacy_loss(mixed).epsilon > lemmas.mixture_loss(0.5, common=0.0, other=EPSILON)


def an_emptied_cluster_that_goes() -> bool:
    lost = optimiser.largest_loss({(0,): 0.5, (1,): 0.5}, {(1,): 1.0}, epsilon=EPSILON).loss
    return lost > ClusterSample([1, 1], 1).upper_bound(EPSILON)


def others_that_change_places() -> bool:
    first, second = {("x",): 0.1, ("a",): 0.8, ("b",): 0.1}, {("y",): 0.1, ("a",): 0.1, ("b",): 0.8}
    return optimiser.largest_loss(first, second, epsilon=EPSILON).loss > unequal.one_draw_loss(
        0.1, 0.1, EPSILON
    )


def numbers_as_they_are() -> bool:
    """Laplace noise at epsilon 6 leaves less than a third of the least variance that any channel
    of signs has.
    """
    noise = gaps.GroupGap.of_halves(LaplaceMeans.calibrated(6.0), 100)
    return bool(3 * 100 * noise.worst_variance() < BestGapChannel(6.0, 0.5).variance)


EDGES: dict[str, tuple[str, Callable[[], object]]] = {
    "bun2022/lemmas-a.2-to-a.4": (
        r"all other pairs of parts within $\varepsilon_1$",
        mixtures_of_apart_components,
    ),
    "bun2022/theorem-5.2": (
        "a cluster that becomes empty can still be drawn",
        an_emptied_cluster_that_goes,
    ),
    "bun2022/section-6-data-dependent-inclusion": (
        "in the same proportions",
        others_that_change_places,
    ),
    "bun2022/theorem-7.2": (
        "has the bound of Theorem 4.3",
        lambda: rounding.random_rounding_loss(4, 0.75, 0.5) > 0.5,
    ),
    "companion/the-best-channel-for-a-gap": (
        "A channel that takes numbers without rounding them",
        numbers_as_they_are,
    ),
}
"""Words that a verdict needs, and what happens where they do not hold."""


@pytest.mark.parametrize("claim", EDGES)
def test_a_verdict_names_the_edge_beyond_which_it_fails(claim: str) -> None:
    words, happens = EDGES[claim]
    assert words in " ".join(
        LEDGER.loc[claim, ["says", "over", "evidence", "change", "instead", "more"]]
    )
    assert happens()
