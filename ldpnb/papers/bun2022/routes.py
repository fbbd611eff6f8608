"""The second route behind the claims of bun2022: explicit sample laws, the worst mechanism by linear programming.

Nothing here uses a closed form of the package.
"""

from collections.abc import Callable, Sequence
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
DELETION = "deletion privacy of mechanism and whole"
BOTH = "deletion privacy of the mechanism, replacement privacy of the whole"


published = partial(claims.published, "bun2022")
"""Numbers printed in bun2022, by key."""


def optimum(
    design: Callable[[list[Any]], laws.Law], records: int, epsilon: float, *, neighbours: str = "replacement", **of: str
) -> float:
    """Return the largest loss over all mechanisms on samples of distinct records, one of them replaced, or one more.

    The mechanisms are epsilon-DP for deletion, or as ``mechanism=`` says.
    """
    whole = list(range(records))
    other = [-1, *whole[1:]] if neighbours == "replacement" else [*whole, -1]
    return optimiser.largest_loss(design(whole), design(other), epsilon=epsilon, **of).loss


def rounded_sizes(population: int, rate: float) -> Array:
    """Return the law of the sample's size ``rate x population``, rounded at random."""
    law = np.zeros(population + 1)
    whole = int(np.floor(rate * population))
    part = rate * population - whole
    law[whole] = 1 - part
    law[whole + (part > 0)] += part
    return law / law.sum()


def rounded_sample(records: list[Any], rate: float) -> laws.Law:
    """Return the law of a simple random sample of that share, its size rounded at random."""
    return laws.subsets_of_random_size(records, rounded_sizes(len(records), rate))


def nearest_optimum(population: int, rate: float, epsilon: float) -> float:
    """Return the largest deletion loss if the sample's size is rounded to the nearest whole number."""

    def sample(records: list[Any]) -> laws.Law:
        return laws.subsets(records, int(np.floor(rate * len(records) + 0.5)))

    return optimum(sample, population, epsilon, neighbours="deletion")


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


def noisy_count_events(sizes: Sequence[int], chosen: int, epsilon: float, threshold: float) -> Array:
    """Return chances of the event that a noisy count exceeds a threshold, given what was drawn.

    The first cluster is the changed one: its records count +1, all others -1, and in the neighbouring population one
    of its records counts 0; the noise is Laplace of scale ``1/epsilon``.

    Returns
    -------
    (3,) float
        Given that the changed cluster is drawn; the same in the neighbouring population; given that it is not drawn.
    """
    own, *others = sizes
    drawn, missing = (-np.array([sum(some) for some in combinations(others, m)]) for m in (chosen - 1, chosen))
    counts = (drawn + own, drawn + own - 1, missing)
    return np.array([laplace_tail(epsilon * (threshold - count)).mean() for count in counts])


def laplace_tail(value: Array) -> Array:
    """Return ``Pr(Lap(1) > value)``."""
    return np.asarray(np.where(value > 0, np.exp(-np.abs(value)) / 2, 1 - np.exp(-np.abs(value)) / 2))
