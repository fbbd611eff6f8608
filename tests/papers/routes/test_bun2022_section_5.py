"""Second routes to formulas under the claims of bun2022, Section 5."""

from itertools import product

from compared import Pairs, compared

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
