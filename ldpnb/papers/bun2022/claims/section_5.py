"""Section 5 of bun2022: cluster sampling."""

from functools import partial

import numpy as np

from ldpnb.claims import Evidence, agree, claim
from ldpnb.designs import laws
from ldpnb.papers.bun2022 import routes
from ldpnb.privacy import clusters, optimiser, subsampling
from ldpnb.privacy.clusters import ClusterSample

EQUAL = (((1, 1, 1, 1), 1, 1.0), ((3, 3, 3), 1, 0.4), ((2, 2, 2, 2), 2, 0.7))
UNEQUAL = (((3, 1, 2, 4), 2, 0.5), ((2, 4, 1), 1, 0.3), ((1, 3, 2, 2), 3, 1.0))
DESIGNS = EQUAL + UNEQUAL
N_1 = "n_1 is the changed cluster's size in the larger population; " + routes.NOT_PRINTED

section_5 = partial(claim, kind="enumeration")


@section_5("Theorem 5.1", ClusterSample.lower_bound, clusters.cluster_loss_at, assumption=N_1)
def theorem_5_1(e: Evidence) -> str:
    """whatever the cluster sizes, some mechanism loses at least B(smallest other cluster) on simple random samples of
    clusters
    """
    bound = np.array([ClusterSample(s, m).lower_bound(eps) for s, m, eps in DESIGNS])
    exact = np.array([routes.enumerated_cluster_loss(*design) for design in DESIGNS])
    e.same(bound[:3], exact[:3])
    e.needs(((bound > 0) & (bound <= exact + 1e-12))[3:].all())
    misread = clusters.cluster_loss_at(1, epsilon=1.0, changed_size=2, sampling_rate=1 / 4)  # the other reading of n_1
    e.needs(misread > exact[0])
    return (
        f"bound equals the optimum over all mechanisms for {len(EQUAL)} designs of equal sizes and lies at least "
        f"{(exact - bound)[3:].min():.3g} below it for {len(UNEQUAL)} of unequal sizes; with n_1 misread by one the "
        f"formula gives {misread:.4f} for four clusters of one record, above the optimum {exact[0]:.4f}"
    )


@section_5(
    "Theorem 5.2",
    ClusterSample.upper_bound,
    ClusterSample.lower_bound,
    ClusterSample.loss,
    assumption=N_1,
)
def theorem_5_2(e: Evidence) -> str:
    """no mechanism loses more than B(largest other cluster), which meets the lower bound when all clusters have one
    size
    """
    upper = np.array([ClusterSample(s, m).upper_bound(eps) for s, m, eps in DESIGNS])
    lower = np.array([ClusterSample(s, m).lower_bound(eps) for s, m, eps in DESIGNS])
    relations = ("deletion", "replacement")
    exact = np.array([[ClusterSample(s, m).loss(eps, neighbours=r) for s, m, eps in DESIGNS] for r in relations])
    e.same(exact, [[routes.enumerated_cluster_loss(s, m, eps, r) for s, m, eps in DESIGNS] for r in relations])
    for bound, other in ((lower, min), (upper, max)):
        e.same(bound, [_bound_by_hand(s[0], other(s[1:]), m / len(s), eps) for s, m, eps in DESIGNS])
    e.needs(((lower <= exact[0] + 1e-12) & (exact[0] <= upper + 1e-12)).all() and agree(lower[:3], upper[:3]))
    e.needs(agree([ClusterSample([500] * 20, 2).loss(0.1, neighbours=r) for r in relations], [0.1, 0.2]))
    return (
        f"lower bound <= optimum <= upper bound in {len(DESIGNS)} designs, all three equal in the {len(EQUAL)} of "
        f"equal sizes; closed form of the optimum = linear program in {exact.size} cases; sizes 3,1,2,4, two drawn, "
        f"epsilon 0.5: {lower[3]:.4f} <= {exact[0, 3]:.4f} <= {upper[3]:.4f}; clusters of 500 keep epsilon (deletion), "
        "2 epsilon (replacement)"
    )


@section_5("Equation (3)", subsampling.srs_loss, ClusterSample.loss)
def equation_3(e: Evidence) -> str:
    """simple random sampling at rate m/n leaves at most ln(1 + (m/n)(e^epsilon - 1)); clusters of one record differ
    only by the relation
    """
    cases = ((5, 2, 0.5), (4, 3, 1.5), (6, 2, 0.1))
    closed = [subsampling.srs_loss(epsilon, m / n) for n, m, epsilon in cases]
    e.same(closed, [_replaced_record_optimum(*case) for case in cases])
    single = [ClusterSample([1] * n, m).loss(epsilon) for n, m, epsilon in cases]
    e.same(single, [routes.enumerated_cluster_loss([1] * n, m, epsilon) for n, m, epsilon in cases])
    replaced = [ClusterSample([1] * n, m).loss(eps / 2, neighbours="replacement") for n, m, eps in cases]
    e.needs(agree(closed, replaced))
    return (
        f"bound = largest loss over all replacement-DP mechanisms in {len(cases)} designs ({closed[0]:.6f} for 2 of 5, "
        "epsilon 0.5); clusters of one record reach the same for replacement (an epsilon/2-deletion-DP mechanism is "
        f"epsilon-replacement-DP) and {single[0]:.6f} for deletion"
    )


@section_5(
    "Theorem 5.3",
    clusters.identified_cluster_loss_lower_bound,
    clusters.identified_cluster_loss_weak_bound,
    ClusterSample.identifying_confusion,
    ClusterSample.loss,
    assumption="the test's quality enters as beta, the ratio of its error to its success; " + routes.NOT_PRINTED,
)
def theorem_5_3(e: Evidence) -> str:
    """if the output tells whether the changed cluster was drawn, nothing is gained from the secrecy of the sample"""
    strong, weak = [], []
    for sizes, chosen, epsilon in DESIGNS:
        rate = chosen / len(sizes)
        for threshold in (-1.3, 0.4, 2.0):
            inside, neighbour, outside = routes.noisy_count_events(sizes, chosen, epsilon, threshold)
            known, test = float(np.log(inside / neighbour)), {"confusion": outside / inside, "sampling_rate": rate}
            strong.append(clusters.identified_cluster_loss_lower_bound(known, **test))
            weak.append(clusters.identified_cluster_loss_weak_bound(known, **test, epsilon=epsilon))
            missed = (1 - rate) * outside
            e.same(strong[-1], np.log((rate * inside + missed) / (rate * neighbour + missed)))
            worse = rate * neighbour + missed * np.exp(epsilon) * neighbour / inside
            e.same(weak[-1], np.log(rate * inside / worse))
    optimal = []
    for sizes, chosen, epsilon in UNEQUAL:
        confusion = ClusterSample(sizes, chosen).identifying_confusion(epsilon)
        inside, _, outside = routes.noisy_count_events(sizes, chosen, epsilon, sizes[0])  # the optimal mechanism's tail
        e.same(confusion, outside / inside)
        rate = chosen / len(sizes)
        optimal.append(clusters.identified_cluster_loss_lower_bound(epsilon, confusion=confusion, sampling_rate=rate))
    exact = [ClusterSample(sizes, chosen).loss(epsilon) for sizes, chosen, epsilon in UNEQUAL]
    e.same(exact, [routes.enumerated_cluster_loss(*design) for design in UNEQUAL])
    e.needs(agree(optimal, exact) and (np.array(weak) <= np.array(strong) + 1e-12).all())
    return (
        f"the bound before its last step equals the loss of {len(strong)} threshold events computed from their "
        f"probabilities, and for the optimal test the exact optimum (sizes 3,1,2,4: {optimal[0]:.6f}); the last step "
        f"loses up to {np.max(np.array(strong) - weak):.3f}"
    )


@section_5("Section 5.2 two-stage sampling", ClusterSample.two_stage_upper_bound)
def two_stage_sampling(e: Evidence) -> str:
    """keeping each record of the drawn clusters with chance q lowers the upper bound to about q times itself"""

    def bound(sizes: tuple[int, ...], chosen: int, epsilon: float, rate: float) -> float:
        return ClusterSample(sizes, chosen).two_stage_upper_bound(epsilon, rate)

    cases = (((2, 2, 2), 1, 0.5, 0.5), ((2, 1, 1), 2, 0.8, 0.3), ((1, 2), 1, 1.0, 0.7))
    gaps = np.array([bound(*case) / _two_stage_optimum(*case) - 1 for case in cases])
    e.needs((gaps >= -1e-12).all())
    drawn = ((2, 1), 2, 0.5, 0.4)  # every cluster: the bound is attained
    e.same(bound(*drawn), _two_stage_optimum(*drawn))
    slope = bound((4, 4, 4), 1, 1e-6, 0.2) / 1e-6
    e.same(slope, 0.2 / 3, rel=1e-5)
    return (
        f"bound >= the optimum over both stages in {len(cases)} enumerated designs, {100 * gaps.min():.1f} to "
        f"{100 * gaps.max():.1f} % above it, equal when every cluster is drawn; as epsilon -> 0 it falls to q m/k "
        f"epsilon (ratio {slope / (0.2 / 3):.6f})"
    )


def _bound_by_hand(changed: int, other: int, rate: float, epsilon: float) -> float:
    """Return ``B(other)`` from the odds, given the optimal mechanism's tail, that the changed cluster was drawn."""
    drawn, missed = rate * np.exp(epsilon * changed), (1 - rate) * np.exp(-epsilon * other)
    return float(np.log((drawn + missed) / (drawn * np.exp(-epsilon) + missed)))


def _replaced_record_optimum(n: int, m: int, epsilon: float) -> float:
    population = list(range(n))
    first, second = laws.subsets(population, m), laws.subsets([-1, *population[1:]], m)
    return optimiser.largest_loss(first, second, epsilon=epsilon, mechanism="replacement").loss


def _two_stage_optimum(sizes: tuple[int, ...], chosen: int, epsilon: float, rate: float) -> float:
    def law(population: list[list[object]]) -> laws.Law:
        drawn = laws.whole_clusters(population, chosen)
        return laws.mixture((p, laws.poisson(sample, rate)) for sample, p in drawn.items())

    first, second = (law(p) for p in routes.neighbouring_clusters(sizes, "deletion"))
    return optimiser.largest_loss(first, second, epsilon=epsilon).loss
