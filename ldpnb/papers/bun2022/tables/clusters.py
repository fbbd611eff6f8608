"""Cluster samples at growing cluster size: bounds, optimum and what a test can tell, as tables."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.privacy import clusters, subsampling
from ldpnb.privacy.data_dependent import size_test_advantage
from ldpnb.rng import stream


def spread_sizes(size: int, count: int, spread: float) -> NDArray[np.int64]:
    """Return `count` cluster sizes: the first is `size`, the others run evenly from ``(1 - spread) size`` to ``(1 +
    spread) size``.

    >>> spread_sizes(4, 4, 0.5).tolist()
    [4, 2, 4, 6]
    """
    others = np.rint(size * np.linspace(1 - spread, 1 + spread, count - 1)).astype(np.int64)
    return np.concatenate([[size], np.maximum(others, 1)])


def losses_by_cluster_size(largest: int, *, count: int, chosen: int, epsilon: float, spread: float) -> pd.DataFrame:
    """Return bounds, optimum and the curve of simple random sampling for cluster sizes ``1 .. largest``.

    Parameters
    ----------
    largest : int
        Largest size of the changed cluster.
    count, chosen : int
        Clusters, and how many are drawn.
    epsilon : float
        Budget of the deletion-DP mechanism, nats.
    spread : float
        Relative spread of the other clusters' sizes in the designs of unequal sizes.

    Returns
    -------
    DataFrame
        ``design, size, quantity, loss``. The theorems speak of deletion. For replacement the upper bound counts twice,
        the lower bound once (its proof changes a record), and simple random sampling gets the mechanism's replacement
        budget, ``2 epsilon``.
    """
    rows = []
    for sizes_are, width in (("equal sizes", 0.0), ("unequal sizes", spread)):
        for neighbours, steps in (("deletion", 1), ("replacement", 2)):
            for size in range(1, largest + 1):
                sizes = spread_sizes(size, count, width)
                values = {
                    "exact": clusters.cluster_loss(sizes, chosen, epsilon=epsilon, neighbours=neighbours),
                    "upper bound": steps * clusters.cluster_loss_upper_bound(sizes, chosen, epsilon=epsilon),
                    "lower bound": clusters.cluster_loss_lower_bound(sizes, chosen, epsilon=epsilon),
                    "simple random sampling": subsampling.srs_loss(steps * epsilon, chosen / count),
                    "no amplification": steps * epsilon,
                }
                rows += [(f"{sizes_are}, {neighbours}", size, name, loss) for name, loss in values.items()]
    return pd.DataFrame(rows, columns=["design", "size", "quantity", "loss"])


def identification_by_cluster_size(largest: int, *, count: int, chosen: int, epsilon: float) -> pd.DataFrame:
    """Return what a test learns about which clusters were drawn, and the loss that follows, for clusters of one size.

    Returns
    -------
    DataFrame
        ``size, panel, quantity, value``: the advantage of the best private test, and the losses of Theorem 5.3 of
        bun2022 for the optimal mechanism.
    """
    rate, rows = chosen / count, []
    for size in range(1, largest + 1):
        sizes = np.full(count, size)
        confusion = clusters.identifying_confusion(sizes, chosen, epsilon=epsilon)
        weak = clusters.identified_cluster_loss_weak_bound(
            epsilon, confusion=confusion, sampling_rate=rate, epsilon=epsilon
        )
        losses = {
            "exact": clusters.identified_cluster_loss_lower_bound(epsilon, confusion=confusion, sampling_rate=rate),
            "lower bound": max(weak, 0.0),
            "no amplification": epsilon,
        }
        rows.append((size, "advantage of the best test", "exact", size_test_advantage(2 * size, epsilon)))
        rows += [(size, "privacy loss (nats)", name, value) for name, value in losses.items()]
    return pd.DataFrame(rows, columns=["size", "panel", "quantity", "value"])


def critical_sizes(share: float, *, epsilons: list[float], rates: list[float]) -> pd.DataFrame:
    """Return the cluster size from which on a fraction `share` of epsilon is lost, by epsilon and share of clusters
    drawn.
    """
    rows = [
        (epsilon, f"{100 * rate:g} % drawn", clusters.critical_cluster_size(share, epsilon=epsilon, sampling_rate=rate))
        for rate in rates
        for epsilon in epsilons
    ]
    return pd.DataFrame(rows, columns=["epsilon", "clusters", "critical size"])


def misread_bounds(instances: int, *, seed: int) -> pd.DataFrame:
    """Return how often Theorem 5.1's formula exceeds the optimum on random designs, with the size read rightly and off
    by one.

    Returns
    -------
    DataFrame
        ``reading, exceeds, instances, worst``: the largest excess in nats.
    """
    rng = stream("misread cluster bounds", seed=seed)
    excess: dict[str, list[float]] = {"n_1 in the larger population": [], "off by one": []}
    for _ in range(instances):
        sizes = rng.integers(1, 7, size=rng.integers(2, 9))
        chosen, epsilon = int(rng.integers(1, sizes.size)), float(rng.choice([0.1, 0.5, 1.0, 2.0]))
        exact = clusters.cluster_loss(sizes, chosen, epsilon=epsilon)
        for shift, reading in enumerate(excess):
            claimed = clusters.cluster_loss_at(
                int(sizes[1:].min()),
                epsilon=epsilon,
                changed_size=int(sizes[0]) + shift,
                sampling_rate=chosen / sizes.size,
            )
            excess[reading].append(claimed - exact)
    rows = [
        (name, int((np.array(e) > 1e-9).sum()), instances, max(round(max(e), 9), 0.0)) for name, e in excess.items()
    ]
    return pd.DataFrame(rows, columns=["reading", "exceeds", "instances", "worst"])
