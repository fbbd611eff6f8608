"""Section 5 of bun2022: cluster sampling."""

from functools import partial

import numpy as np

from ldpnb import claims
from ldpnb.claims import Evidence, agree, claim
from ldpnb.designs import laws, strata
from ldpnb.papers.bun2022 import routes
from ldpnb.papers.bun2022.proofs import sections_2_to_4
from ldpnb.papers.bun2022.proofs import sections_5_to_7 as proofs
from ldpnb.privacy import clusters, optimiser, subsampling
from ldpnb.privacy.clusters import ClusterSample

EQUAL = (((1, 1, 1, 1), 1, 1.0), ((3, 3, 3), 1, 0.4), ((2, 2, 2, 2), 2, 0.7))
UNEQUAL = (((3, 1, 2, 4), 2, 0.5), ((2, 4, 1), 1, 0.3), ((1, 3, 2, 2), 3, 1.0))
DESIGNS = EQUAL + UNEQUAL
N_1 = "n_1 is the changed cluster's size in the larger population; " + routes.NOT_PRINTED
SWAP = (
    "each draw with the changed cluster becomes one without it by swapping in a cluster not drawn, {} away; "
    "averaged over draws and swaps both kinds are uniform"
)

ALL_SIZES = "all cluster sizes (an emptied cluster stays)"

section_5 = partial(claim, kind="enumeration", reach="all parameters")
formula_5 = partial(section_5, reading="reconstructed")


@formula_5(
    "Theorem 5.1",
    ClusterSample.lower_bound,
    clusters.cluster_loss_at,
    subsampling.weighted_loss,
    optimiser.largest_loss,
    assumption=N_1,
    over=f"epsilon > 0, {ALL_SIZES}, every number of clusters and of clusters drawn; {routes.DELETION}",
    argument="a signed count's tail has the odds rho t^n_1, rho = e_(m-1)(w)/e_m(w) at weights w_i = t^-n_i; m e_m "
    "sums w_i over the k - m clusters outside each draw of m - 1, so rho >= m/((k-m) max w), with equality at equal "
    "sizes",
)
def theorem_5_1(e: Evidence) -> str:
    """whatever the cluster sizes, some mechanism loses at least B(smallest other cluster) on simple random samples of
    clusters
    """
    e.proven(proofs.cluster_bound_from_odds() and proofs.cluster_loss_grows_with_odds())
    bound = np.array([ClusterSample(s, m).lower_bound(eps) for s, m, eps in DESIGNS])
    exact = np.array([routes.enumerated_cluster_loss(*design) for design in DESIGNS])
    e.same(bound[:3], exact[:3])
    e.needs(((bound > 0) & (bound <= exact + 1e-12)).all())
    misread = clusters.cluster_loss_at(1, epsilon=1.0, changed_size=2, sampling_rate=1 / 4)  # the other reading of n_1
    e.sure(misread > exact[0])
    return (
        f"the loss grows with the odds that the cluster was drawn, and theirs are least at the smallest sizes; bound = "
        f"optimum over all mechanisms for {len(EQUAL)} designs of equal sizes, at least "
        f"{(exact - bound)[3:].min():.3g} below it for {len(UNEQUAL)} of unequal sizes; with n_1 misread by one the "
        f"formula gives {misread:.4f} for four clusters of one record, above the optimum {exact[0]:.4f}"
    )


@formula_5(
    "Theorem 5.2",
    ClusterSample.upper_bound,
    ClusterSample.lower_bound,
    ClusterSample.loss,
    clusters.cluster_loss_at,
    optimiser.largest_loss,
    subsampling.weighted_loss,
    assumption=N_1,
    over=f"epsilon > 0, {ALL_SIZES}, every number of clusters and of clusters drawn, every mechanism; "
    f"{routes.DELETION}",
    argument=SWAP.format("n_1 + n_i records"),
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
    e.proven(proofs.no_event_exceeds_the_cluster_bound() and proofs.cluster_loss_grows_with_odds())
    return (
        f"no event exceeds the bound; lower bound <= optimum <= upper bound in {len(DESIGNS)} designs, all three equal "
        f"in the {len(EQUAL)} of equal sizes; closed form of the optimum = linear program in {exact.size} cases; sizes "
        f"3,1,2,4, two drawn, epsilon 0.5: {lower[3]:.4f} <= {exact[0, 3]:.4f} <= {upper[3]:.4f}"
    )


@formula_5(
    "Section 5.1 growing clusters",
    clusters.cluster_loss_at,
    ClusterSample.lower_bound,
    subsampling.srs_loss,
    assumption=N_1,
    over=f"epsilon > 0, every share of clusters drawn below 1, all sizes; {routes.DELETION}",
)
def growing_clusters(e: Evidence) -> str:
    """small clusters leave some amplification; as clusters grow the bounds converge to epsilon very quickly"""
    e.proven(proofs.growing_clusters() and sections_2_to_4.small_budgets())
    sizes, epsilon = np.array([1, 10, 20, 40, 80]), 0.1
    lost = np.array([ClusterSample([n] * 10, 1).lower_bound(epsilon) for n in sizes]) / epsilon
    e.same(lost, [_bound_by_hand(n, n, 0.1, epsilon) / epsilon for n in sizes])
    e.needs((1 - lost <= 9 * np.exp(-epsilon * (2 * sizes - 1))).all())
    return (
        "always below epsilon, by less than (1/p - 1) e^(-epsilon (n_1 + n - 1)) epsilon; one of ten clusters at "
        f"epsilon 0.1: {', '.join(f'{100 * part:.2f}' for part in lost)}% of epsilon at sizes "
        f"{', '.join(map(str, sizes))}"
    )


@section_5(
    "Section 5.1 shares of clusters and records",
    strata.mean_variance,
    strata.Strata.variance,
    otherwise="corrected",
    corrected="they are equal on average for any sizes, and always if all clusters have one size, large or small; "
    "otherwise the share of records has the relative standard deviation c sqrt(1/m - 1/k), c that of the sizes "
    "(divisor k - 1), which many drawn clusters make small and small clusters do not",
    reading="reconstructed",
    assumption="the share of data points, whose formula is lost, is that of the records in the sample; approximately "
    "is read as within a tenth",
    over="all cluster sizes, every number of clusters and of clusters drawn",
)
def shares_of_records(e: Evidence) -> str:
    """the share of the clusters that is drawn is approximately the share of the records when clusters are small"""
    e.proven(proofs.variance_of_a_mean(proofs.k))
    sizes, drawn = np.array([1, 2, 1, 2, 1, 2]), (1, 3, 5)
    for m in drawn:
        shares = (
            np.array([len(sample) for sample in laws.whole_clusters(routes.clusters_of(sizes.tolist()), m)])
            / sizes.sum()
        )
        spread = strata.Strata([6], [sizes.var(ddof=1)]).variance([m]) * (m / sizes.sum()) ** 2
        e.same([shares.mean(), shares.var()], [m / 6, spread])
    small = sizes / sizes.sum()
    e.needs(claims.within("about", small, np.full(6, 1 / 6)))
    relative = [np.sqrt(strata.mean_variance(k, 0.25 * k / (k - 1), k / 10)) / 1.5 for k in (10, 1000, 100_000)]
    e.same(relative[0], np.std([1, 2]) / 1.5)  # one of ten clusters: one or two records, each as likely
    return (
        f"one of six clusters of one or two records: a sixth of the clusters, {small.min():.3f} or {small.max():.3f} "
        "of the records; a tenth of 10, 1,000 and 100,000 such clusters, half of each size: relative standard "
        f"deviation {', '.join(f'{value:.2g}' for value in relative)} of the share of records"
    )


@formula_5(
    "Equation (3)",
    subsampling.srs_loss,
    subsampling.weighted_loss,
    clusters.cluster_loss_at,
    ClusterSample.loss,
    optimiser.largest_loss,
    subsampling.srs_delta,
    assumption=routes.NOT_PRINTED,
    over="epsilon > 0, every number of records and of records drawn, every mechanism",
    argument=SWAP.format("one replacement")
    + "; randomised response on whether the record was drawn is a mechanism that attains the bound",
)
def equation_3(e: Evidence) -> str:
    """simple random sampling at rate m/n leaves at most ln(1 + (m/n)(e^epsilon - 1)); clusters of one record differ
    only by the relation
    """
    e.proven(sections_2_to_4.simple_random_sampling() and proofs.clusters_of_one_record())
    cases = ((5, 2, 0.5), (4, 3, 1.5), (6, 2, 0.1))
    closed = [subsampling.srs_loss(epsilon, m / n) for n, m, epsilon in cases]
    e.same(
        closed, [routes.optimum(partial(laws.subsets, size=m), n, eps, mechanism="replacement") for n, m, eps in cases]
    )
    single = [ClusterSample([1] * n, m).loss(epsilon) for n, m, epsilon in cases]
    e.same(single, [routes.enumerated_cluster_loss([1] * n, m, epsilon) for n, m, epsilon in cases])
    e.needs(agree(closed, [ClusterSample([1] * n, m).loss(eps / 2, neighbours="replacement") for n, m, eps in cases]))
    return (
        f"bound = largest loss over all replacement-DP mechanisms in {len(cases)} designs ({closed[0]:.6f} for 2 of 5, "
        "epsilon 0.5); clusters of one record reach the same for replacement (an epsilon/2-deletion-DP mechanism is "
        f"epsilon-replacement-DP) and {single[0]:.6f} for deletion"
    )


@formula_5(
    "Section 5.2 privacy is conserved",
    ClusterSample.loss,
    subsampling.weighted_loss,
    optimiser.largest_loss,
    assumption="the symbols of what is compared are lost; read as: the mechanism on the sample is at least as private "
    "as the mechanism itself",
    over=f"epsilon > 0, {ALL_SIZES}, every mechanism; deletion against deletion, replacement against replacement",
    argument="draws without the changed cluster give the same sample in both populations; a replacement is a deletion "
    "at twice the budget",
)
def privacy_is_conserved(e: Evidence) -> str:
    """simple random samples of clusters are at least as private as the mechanism on them"""
    e.proven(proofs.privacy_is_conserved() and proofs.cluster_loss_grows_with_odds())
    for relation, steps in (("deletion", 1), ("replacement", 2)):
        found = np.array([ClusterSample(s, m).loss(eps, neighbours=relation) for s, m, eps in DESIGNS])
        e.same(found, [routes.enumerated_cluster_loss(s, m, eps, relation) for s, m, eps in DESIGNS])
        e.needs((found <= [steps * eps + 1e-12 for _, _, eps in DESIGNS]).all())
    large = [ClusterSample([500] * 20, 2).loss(0.1, neighbours=relation) for relation in ("deletion", "replacement")]
    e.same(large, [0.1, 0.2])
    return (
        f"no event exceeds epsilon; two of 20 clusters of 500 records at epsilon 0.1 lose {large[0]:.6f} (deletion) "
        f"and {large[1]:.6f} (replacement, which costs the mechanism itself twice as much)"
    )


@formula_5(
    "Theorem 5.3",
    clusters.identified_cluster_loss_lower_bound,
    clusters.identified_cluster_loss_weak_bound,
    ClusterSample.identifying_confusion,
    ClusterSample.loss,
    optimiser.largest_loss,
    assumption="the test's quality enters as beta, the ratio of its error to its success; " + routes.NOT_PRINTED,
    over="epsilon > 0, 0 < loss given the cluster < epsilon, beta > 0, 0 < p < 1, every population and mechanism",
    argument="where the neighbour makes the event likelier the same holds at beta e^-loss, with a larger bound",
)
def theorem_5_3(e: Evidence) -> str:
    """if the output reveals whether the changed cluster was drawn, nothing is gained from the secrecy of the sample"""
    e.proven(proofs.identified_clusters())
    strong, weak = [], []
    for sizes, chosen, epsilon in DESIGNS:
        rate = chosen / len(sizes)
        inside, neighbour, outside = routes.noisy_count_events(sizes, chosen, epsilon, 0.4)
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
    e.needs(agree(optimal, exact))
    return (
        f"the bound before its last step is the event's own loss, as in {len(strong)} threshold events computed from "
        f"their probabilities, and for the optimal test the exact optimum (sizes 3,1,2,4: {optimal[0]:.6f}); the last "
        f"step loses up to {np.max(np.array(strong) - weak):.3f} there; at beta = 0 the loss is that of a cluster "
        "known to be drawn"
    )


@formula_5(
    "Section 5.2 two-stage sampling",
    ClusterSample.two_stage_upper_bound,
    subsampling.srs_loss,
    clusters.cluster_loss_at,
    ClusterSample.upper_bound,
    optimiser.largest_loss,
    reach="a box",
    assumption="the bound, whose formula is lost, is Theorem 5.2 at the budget q epsilon; approximately is read as "
    "within a tenth",
    over=f"epsilon <= 0.18 (the budget; the bound itself in the limit of small epsilon), 0 < q < 1, {ALL_SIZES}; "
    f"{routes.DELETION}",
    argument="a mechanism on an independent sample is a mechanism on the clusters; ln(1 + x) <= x",
)
def two_stage_sampling(e: Evidence) -> str:
    """keeping each record of the drawn clusters with chance q gives the upper bound at a budget of about q epsilon"""
    e.proven(proofs.kept_at_a_rate() and proofs.second_stage_for_small_budgets())
    e.proven(proofs.second_stage_is_about("0.18", claims.WORDS["about"]))
    cases = (((2, 2, 2), 1, 0.5, 0.5), ((2, 1, 1), 2, 0.8, 0.3), ((1, 2), 1, 1.0, 0.7))
    spent = [_two_stage_optimum((1,), 1, epsilon, rate) for _, _, epsilon, rate in cases]  # by one record alone
    bounds = [_two_stage_bound(*case) for case in cases]
    by_hand = [_bound_by_hand(s[0], max(s[1:]), m / len(s), eps) for (s, m, *_), eps in zip(cases, spent, strict=True)]
    e.same(bounds, by_hand)
    gaps = np.array(bounds) / [_two_stage_optimum(*case) for case in cases] - 1
    e.needs((gaps >= -1e-12).all())
    drawn = ((2, 1), 2, 0.5, 0.4)  # every cluster: the bound is attained
    e.same(_two_stage_bound(*drawn), _two_stage_optimum(*drawn))
    sizes = (1, 5, 10, 26, 50)
    shares = [_two_stage_bound((s,) * 10, 1, 0.1, 0.1) / ClusterSample((s,) * 10, 1).upper_bound(0.1) for s in sizes]
    return (
        f"bound {100 * gaps.min():.1f} to {100 * gaps.max():.1f}% above the optimum over both stages in {len(cases)} "
        "enumerated designs, equal when every cluster is drawn; not about q times the bound without a second stage, "
        f"but less where that one has risen: at epsilon = q = m/k = 0.1 {', '.join(f'{s / 0.1:.2f}' for s in shares)} "
        f"of that for clusters of {', '.join(map(str, sizes))} records"
    )


def _two_stage_bound(sizes: tuple[int, ...], chosen: int, epsilon: float, rate: float) -> float:
    return ClusterSample(sizes, chosen).two_stage_upper_bound(epsilon, rate)


def _bound_by_hand(changed: int, other: int, rate: float, epsilon: float) -> float:
    """Return ``B(other)`` from the odds, given the optimal mechanism's tail, that the changed cluster was drawn."""
    drawn, missed = rate * np.exp(epsilon * changed), (1 - rate) * np.exp(-epsilon * other)
    return float(np.log((drawn + missed) / (drawn * np.exp(-epsilon) + missed)))


def _two_stage_optimum(sizes: tuple[int, ...], chosen: int, epsilon: float, rate: float) -> float:
    def law(population: list[list[object]]) -> laws.Law:
        drawn = laws.whole_clusters(population, chosen)
        return laws.mixture((p, laws.poisson(sample, rate)) for sample, p in drawn.items())

    first, second = (law(p) for p in routes.neighbouring_clusters(sizes, "deletion"))
    return optimiser.largest_loss(first, second, epsilon=epsilon).loss
