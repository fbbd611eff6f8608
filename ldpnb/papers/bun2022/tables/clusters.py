"""Cluster samples at growing cluster size: bounds, optimum, and what a test can tell."""

from itertools import product

import numpy as np

from ldpnb import checks
from ldpnb.notebook import Rows, table
from ldpnb.papers.bun2022.formulas import clusters
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.papers.bun2022.formulas.data_dependent import size_test_advantage
from ldpnb.privacy import subsampling
from ldpnb.rng import stream

SIZE = "cluster size (records)"


@table
def losses_by_cluster_size(
    largest: int, *, count: int, chosen: int, epsilon: float, spread: float
) -> Rows:
    """Tabulate the exact privacy loss of a cluster sample and its bounds.

    The changed cluster has 1 to `largest` records. The others have its size, or sizes spread evenly
    from ``1 - spread`` to ``1 + spread`` times it, rounded.

    The theorems are about deletion. For replacement the upper bound counts twice, and the lower
    bound once, because its proof changes a record. Simple random sampling gets the mechanism's
    replacement budget, ``2 epsilon``.

    Parameters
    ----------
    largest : int
        Largest size of the changed cluster.
    count, chosen : int
        Number of clusters, and how many of them are drawn, but not all.
    epsilon : float
        Budget of the mechanism under deletion, in nats.
    spread : float
        Relative spread of the other clusters' sizes, in ``[0, 1]``.
    """
    checks.whole(chosen, "chosen", at_least=1, at_most=count - 1)
    designs = (("equal sizes", 0.0), ("unequal sizes", spread))
    relations = (("deletion", 1), ("replacement", 2))
    sizes = range(1, largest + 1)

    for (label, width), (neighbours, steps), size in product(designs, relations, sizes):
        factors = np.linspace(1 - width, 1 + width, count - 1)
        others = np.rint(size * factors).astype(np.int64)
        design = ClusterSample([size, *np.maximum(others, 1)], chosen)

        losses = {
            "exact": design.loss(epsilon, neighbours=neighbours),
            "upper bound": steps * design.upper_bound(epsilon),
            "lower bound": design.lower_bound(epsilon),
            "simple random sampling": subsampling.srs_loss(steps * epsilon, design.sampling_rate),
            "no amplification": steps * epsilon,
        }

        for quantity, loss in losses.items():
            yield {
                "design": f"{label}, {neighbours}",
                SIZE: size,
                "quantity": quantity,
                "loss (nats)": loss,
            }


@table
def identification_by_cluster_size(
    largest: int, *, count: int, chosen: int, epsilon: float
) -> Rows:
    """Tabulate what the best private test learns about which clusters were drawn.

    The losses are those of Theorem 5.3.
    """
    for size in range(1, largest + 1):
        design = ClusterSample(np.full(count, size), chosen)
        confusion = design.identifying_confusion(epsilon)
        rate = design.sampling_rate
        exact = clusters.identified_cluster_loss_lower_bound(
            epsilon, confusion=confusion, sampling_rate=rate
        )
        weak = clusters.identified_cluster_loss_weak_bound(
            epsilon, confusion=confusion, sampling_rate=rate, epsilon=epsilon
        )

        yield {
            SIZE: size,
            "panel": "advantage of the best test",
            "quantity": "exact",
            "value": size_test_advantage(2 * size, epsilon),
        }
        losses = {"exact": exact, "lower bound": max(weak, 0.0), "no amplification": epsilon}
        for quantity, loss in losses.items():
            yield {SIZE: size, "panel": "privacy loss (nats)", "quantity": quantity, "value": loss}


@table
def critical_sizes(share: float, *, epsilons: list[float], rates: list[float]) -> Rows:
    """Tabulate the smallest cluster size at which a fraction `share` of epsilon is lost.

    The rates are shares of the clusters that are drawn.
    """
    for rate, epsilon in product(rates, epsilons):
        size = clusters.critical_cluster_size(share, epsilon=epsilon, sampling_rate=rate)
        yield {
            "epsilon (nats)": epsilon,
            "clusters": f"{100 * rate:g}% drawn",
            "critical size (records)": size,
        }


@table
def misread_bounds(instances: int, *, seed: int) -> Rows:
    """Tabulate how often the formula of Theorem 5.1 exceeds the optimum, by how its size is read.

    The designs are drawn at random.
    """
    rng = stream("misread cluster bounds", seed=seed)
    in_larger: list[float] = []
    off_by_one: list[float] = []

    for _ in range(instances):
        sizes = rng.integers(1, 7, size=rng.integers(2, 9))
        chosen = int(rng.integers(1, sizes.size))
        epsilon = float(rng.choice([0.1, 0.5, 1.0, 2.0]))
        design = ClusterSample(sizes, chosen)
        loss = design.loss(epsilon)

        for excesses, changed_size in ((in_larger, sizes[0]), (off_by_one, sizes[0] + 1)):
            claimed = clusters.cluster_loss_at(
                sizes[1:].min(),
                changed_size=changed_size,
                epsilon=epsilon,
                sampling_rate=design.sampling_rate,
            )
            excesses.append(claimed - loss)

    readings = {"n₁ in the larger population": in_larger, "off by one": off_by_one}

    for reading, excesses in readings.items():
        excess = np.array(excesses)

        yield {
            "reading": reading,
            "above the optimum": int((excess > 1e-9).sum()),
            "designs": instances,
            "by at most (nats)": max(round(float(excess.max()), 9), 0.0),
        }
