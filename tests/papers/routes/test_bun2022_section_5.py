"""Second routes to formulas under the claims of Bun et al. (2022), Section 5.

Losses of cluster samples are compared with those of the worst mechanism on a few clusters. Bounds
are written out, and the variance of a mean is that over all samples.
"""

from itertools import product

import numpy as np
from compared import Pairs, compared

from ldpnb.designs import laws, strata
from ldpnb.papers.bun2022.formulas import clusters
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.papers.bun2022.section_2 import SAMPLES
from ldpnb.papers.bun2022.section_5 import DESIGNS, bound_by_odds, largest
from ldpnb.papers.bun2022.shared import RELATIONS


@compared
def test_a_cluster_sample_loses_what_the_worst_mechanism_loses() -> Pairs:
    clusters_of_one = [((1,) * records, drawn, epsilon) for records, drawn, epsilon in SAMPLES]
    designs = (*DESIGNS, *clusters_of_one)
    for (sizes, drawn, epsilon), relation in product(designs, RELATIONS):
        most = largest(sizes, drawn, epsilon, relation)
        yield ClusterSample(sizes, drawn).loss(epsilon, neighbours=relation), most


@compared
def test_the_bounds_on_a_cluster_sample_are_those_written_out() -> Pairs:
    many = ((80,) * 10, 1, 0.1)
    for sizes, drawn, epsilon in (*DESIGNS, many):
        design = ClusterSample(sizes, drawn)
        rate = drawn / len(sizes)
        changed, *others = sizes
        yield design.lower_bound(epsilon), bound_by_odds(changed, min(others), rate, epsilon)
        yield design.upper_bound(epsilon), bound_by_odds(changed, max(others), rate, epsilon)


@compared
def test_the_weak_bound_on_an_identified_cluster_is_that_written_out() -> Pairs:
    for known, confusion, rate, epsilon in (
        (0.1, 0.2, 0.5, 0.3),
        (0.5, 1.0, 0.2, 1.0),
        (2.0, 3.0, 0.9, 4.0),
    ):
        written = known - np.log(1 + (1 - rate) / rate * confusion * np.exp(epsilon))
        found = clusters.identified_cluster_loss_weak_bound(
            known, confusion=confusion, sampling_rate=rate, epsilon=epsilon
        )
        yield found, written


@compared
def test_the_variance_of_a_mean_is_that_over_all_samples() -> Pairs:
    values = np.array([1.0, 1.0, 2.0, 5.0, 0.0])
    for drawn in (1, 2, 4):
        means = [np.mean(values[list(sample)]) for sample in laws.subsets(range(5), drawn)]
        yield strata.mean_variance(5, values.var(ddof=1), drawn), np.var(means)
