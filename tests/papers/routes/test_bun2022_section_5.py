"""Second routes to formulas under the claims of bun2022, Section 5."""

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
    single = (((1,) * n, m, epsilon) for n, m, epsilon in SAMPLES)
    for (sizes, drawn, epsilon), relation in product((*DESIGNS, *single), RELATIONS):
        yield (
            ClusterSample(sizes, drawn).loss(epsilon, neighbours=relation),
            largest(sizes, drawn, epsilon, relation),
        )


@compared
def test_the_bounds_on_a_cluster_sample_are_those_written_out() -> Pairs:
    for s, m, epsilon in (*DESIGNS, ((80,) * 10, 1, 0.1)):
        design, rate = ClusterSample(s, m), m / len(s)
        yield design.lower_bound(epsilon), bound_by_odds(s[0], min(s[1:]), rate, epsilon)
        yield design.upper_bound(epsilon), bound_by_odds(s[0], max(s[1:]), rate, epsilon)


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
        means = [np.mean(values[list(some)]) for some in laws.subsets(range(5), drawn)]
        yield strata.mean_variance(5, values.var(ddof=1), drawn), np.var(means)
