"""The second route behind the claims of bun2022: explicit sample laws, the worst mechanism by linear programming.

Nothing here uses a closed form of the package.
"""

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpnb import claims
from ldpnb.designs import laws
from ldpnb.privacy import optimiser

Array = NDArray[np.float64]

NOT_PRINTED = "the printed form is not recoverable from the text; this is the statement its proof establishes"


published = partial(claims.published, "bun2022")
"""Numbers printed in bun2022, by key."""


def clusters_of(sizes: Sequence[int]) -> list[list[Any]]:
    """Return clusters of distinct records with these sizes."""
    return [[(index, record) for record in range(size)] for index, size in enumerate(sizes)]


def neighbouring_clusters(
    sizes: Sequence[int], neighbours: str, changed: int = 0
) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return clusters of these sizes, and the same with one record of a cluster removed or altered."""
    whole = clusters_of(sizes)
    altered = [list(cluster) for cluster in whole]
    altered[changed] = whole[changed][1:] + ([(changed, -1)] if neighbours == "replacement" else [])
    return whole, altered


def enumerated_cluster_loss(
    sizes: Sequence[int], chosen: int, epsilon: float, neighbours: str = "deletion", changed: int = 0
) -> float:
    """Return the largest loss over all epsilon-deletion-DP mechanisms on simple random samples of clusters."""
    first, second = (laws.whole_clusters(c, chosen) for c in neighbouring_clusters(sizes, neighbours, changed))
    return optimiser.largest_loss(first, second, epsilon=epsilon).loss


def noisy_count_events(sizes: Sequence[int], chosen: int, epsilon: float, threshold: float, changed: int = 0) -> Array:
    """Return chances of the event that a noisy count exceeds a threshold, given what was drawn.

    The changed cluster's records count +1, all others -1; the noise is Laplace of scale ``1/epsilon``; in the
    neighbouring population one record of the changed cluster counts 0.

    Returns
    -------
    (3,) float
        Given that the changed cluster is drawn; the same in the neighbouring population; given that it is not drawn.
    """
    drawn: list[int] = []
    missing: list[int] = []
    for chosen_clusters in combinations(range(len(sizes)), chosen):
        others = sum(sizes[i] for i in chosen_clusters if i != changed)
        (drawn if changed in chosen_clusters else missing).append(-others)
    counts = (np.array(drawn) + sizes[changed], np.array(drawn) + sizes[changed] - 1, np.array(missing))
    return np.array([laplace_tail(epsilon * (threshold - count)).mean() for count in counts])


def laplace_tail(value: Array) -> Array:
    """Return ``Pr(Lap(1) > value)``."""
    return np.asarray(np.where(value > 0, np.exp(-np.abs(value)) / 2, 1 - np.exp(-np.abs(value)) / 2))
