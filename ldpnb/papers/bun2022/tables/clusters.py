"""Cluster samples at growing cluster size: bounds, optimum and what a test can tell."""

from itertools import product

import numpy as np

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
    """Yield bounds and optimum for changed clusters of ``1 .. largest`` records, `chosen` of `count` clusters drawn.

    The others have its size, or sizes spread evenly from ``1 - spread`` to ``1 + spread`` times it, rounded. The
    theorems speak of deletion. For replacement the upper bound counts twice, the lower bound once (its proof
    changes a record), and simple random sampling gets the mechanism's replacement budget, ``2 epsilon``.
    """
    designs = (("equal sizes", 0.0), ("unequal sizes", spread))
    relations = (("deletion", 1), ("replacement", 2))
    for (sizes_are, width), (neighbours, steps), size in product(
        designs, relations, range(1, largest + 1)
    ):
        others = np.rint(size * np.linspace(1 - width, 1 + width, count - 1)).astype(np.int64)
        design = ClusterSample([size, *np.maximum(others, 1)], chosen)
        values = {
            "exact": design.loss(epsilon, neighbours=neighbours),
            "upper bound": steps * design.upper_bound(epsilon),
            "lower bound": design.lower_bound(epsilon),
            "simple random sampling": subsampling.srs_loss(steps * epsilon, design.sampling_rate),
            "no amplification": steps * epsilon,
        }
        for quantity, loss in values.items():
            yield {
                "design": f"{sizes_are}, {neighbours}",
                SIZE: size,
                "quantity": quantity,
                "loss (nats)": loss,
            }


@table
def identification_by_cluster_size(
    largest: int, *, count: int, chosen: int, epsilon: float
) -> Rows:
    """Yield what the best private test learns about which clusters were drawn, and the losses of Theorem 5.3."""
    for size in range(1, largest + 1):
        design = ClusterSample(np.full(count, size), chosen)
        test = {
            "confusion": design.identifying_confusion(epsilon),
            "sampling_rate": design.sampling_rate,
        }
        strong = clusters.identified_cluster_loss_lower_bound(epsilon, **test)
        weak = clusters.identified_cluster_loss_weak_bound(epsilon, **test, epsilon=epsilon)
        advantage = size_test_advantage(2 * size, epsilon)
        yield {
            SIZE: size,
            "panel": "advantage of the best test",
            "quantity": "exact",
            "value": advantage,
        }
        losses = {"exact": strong, "lower bound": max(weak, 0.0), "no amplification": epsilon}
        for quantity, loss in losses.items():
            yield {SIZE: size, "panel": "privacy loss (nats)", "quantity": quantity, "value": loss}


@table
def critical_sizes(share: float, *, epsilons: list[float], rates: list[float]) -> Rows:
    """Yield the cluster size from which on a fraction `share` of epsilon is lost, by epsilon and share drawn."""
    for rate, epsilon in product(rates, epsilons):
        size = clusters.critical_cluster_size(share, epsilon=epsilon, sampling_rate=rate)
        yield {
            "epsilon (nats)": epsilon,
            "clusters": f"{100 * rate:g}% drawn",
            "critical size (records)": size,
        }


@table
def misread_bounds(instances: int, *, seed: int) -> Rows:
    """Yield how often Theorem 5.1's formula exceeds the optimum, by how its size is read."""
    rng = stream("misread cluster bounds", seed=seed)
    excess = np.empty((instances, 2))
    for i in range(instances):
        sizes = rng.integers(1, 7, size=rng.integers(2, 9))
        chosen, epsilon = int(rng.integers(1, sizes.size)), float(rng.choice([0.1, 0.5, 1.0, 2.0]))
        design = ClusterSample(sizes, chosen)
        given = {"epsilon": epsilon, "sampling_rate": design.sampling_rate}
        for shift in (0, 1):
            claimed = clusters.cluster_loss_at(
                sizes[1:].min(), changed_size=sizes[0] + shift, **given
            )
            excess[i, shift] = claimed - design.loss(epsilon)
    for reading, own in zip(("n₁ in the larger population", "off by one"), excess.T, strict=True):
        most = max(round(float(own.max()), 9), 0.0)
        row = {
            "reading": reading,
            "above the optimum": int((own > 1e-9).sum()),
            "designs": instances,
        }
        yield row | {"by at most (nats)": most}
