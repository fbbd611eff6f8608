"""Section 5: cluster sampling."""

import numpy as np

from ldpnb.claims import Verdict, agree, claim, judge
from ldpnb.designs import laws
from ldpnb.papers.bun2022 import routes as routes
from ldpnb.privacy import clusters, optimiser, subsampling

EQUAL = (((1, 1, 1, 1), 1, 1.0), ((3, 3, 3), 1, 0.4), ((2, 2, 2, 2), 2, 0.7))
UNEQUAL = (((3, 1, 2, 4), 2, 0.5), ((2, 4, 1), 1, 0.3), ((1, 3, 2, 2), 3, 1.0))


@claim(
    "bun2022",
    "Theorem 5.1",
    says="whatever the cluster sizes, some mechanism loses at least B(smallest other cluster) on simple random samples of clusters",
    rests_on=("privacy.clusters.cluster_loss_lower_bound", "privacy.clusters.cluster_loss_at"),
)
def theorem_5_1() -> Verdict:
    """Compare with the exact optimum by linear programming, equal for equal sizes, and show what the other reading of
    n_1 would claim.
    """
    bounds = {case: clusters.cluster_loss_lower_bound(case[0], case[1], epsilon=case[2]) for case in EQUAL + UNEQUAL}
    exact = {case: routes.enumerated_cluster_loss(*case) for case in EQUAL + UNEQUAL}
    sound = agree([bounds[c] for c in EQUAL], [exact[c] for c in EQUAL])
    holds = all(0 < bounds[c] <= exact[c] + 1e-12 for c in UNEQUAL)
    sizes, chosen, epsilon = EQUAL[0]
    misread = clusters.cluster_loss_at(1, epsilon=epsilon, changed_size=sizes[0] + 1, sampling_rate=chosen / len(sizes))
    tightest = min(exact[c] - bounds[c] for c in UNEQUAL)
    return Verdict(
        judge(holds and misread > exact[EQUAL[0]], sound=sound),
        f"bound equals the optimum over all mechanisms for {len(EQUAL)} designs of equal sizes and lies at least {tightest:.3g} below it for "
        f"{len(UNEQUAL)} of unequal sizes; with n_1 misread by one the formula gives {misread:.4f} for four clusters of one record, above "
        f"the optimum {exact[EQUAL[0]]:.4f}",
        "enumeration",
        assumption="n_1 is the changed cluster's size in the larger population; " + routes.NOT_PRINTED,
    )


@claim(
    "bun2022",
    "Theorem 5.2",
    says="no mechanism loses more than B(largest other cluster), which meets the lower bound when all clusters have one size",
    rests_on=(
        "privacy.clusters.cluster_loss_upper_bound",
        "privacy.clusters.cluster_loss_lower_bound",
        "privacy.clusters.cluster_loss",
    ),
)
def theorem_5_2() -> Verdict:
    """Compare with the optimum, found in closed form and by linear programming."""
    cases = EQUAL + UNEQUAL
    upper = {c: clusters.cluster_loss_upper_bound(c[0], c[1], epsilon=c[2]) for c in cases}
    lower = {c: clusters.cluster_loss_lower_bound(c[0], c[1], epsilon=c[2]) for c in cases}
    exact, program = {}, {}
    for sizes, chosen, epsilon in cases:
        for kind in ("deletion", "replacement"):
            exact[sizes, chosen, epsilon, kind] = clusters.cluster_loss(sizes, chosen, epsilon=epsilon, neighbours=kind)
            program[sizes, chosen, epsilon, kind] = routes.enumerated_cluster_loss(sizes, chosen, epsilon, kind)
    sound = agree(list(exact.values()), list(program.values()))
    holds = all(lower[c] - 1e-12 <= exact[*c, "deletion"] <= upper[c] + 1e-12 for c in cases)
    match = agree([lower[c] for c in EQUAL], [upper[c] for c in EQUAL])
    big = [clusters.cluster_loss([500] * 20, 2, epsilon=0.1, neighbours=kind) for kind in ("deletion", "replacement")]
    return Verdict(
        judge(holds and match and agree(big, [0.1, 0.2]), sound=sound),
        f"lower bound <= optimum <= upper bound in {len(cases)} designs, all three equal in the {len(EQUAL)} of equal sizes; closed form of the "
        f"optimum = linear program in {len(exact)} cases; sizes 3,1,2,4, two drawn, epsilon 0.5: {lower[UNEQUAL[0]]:.4f} <= "
        f"{exact[*UNEQUAL[0], 'deletion']:.4f} <= {upper[UNEQUAL[0]]:.4f}; clusters of 500 keep epsilon (deletion), 2 epsilon (replacement)",
        "enumeration",
        assumption="n_1 is the changed cluster's size in the larger population; " + routes.NOT_PRINTED,
    )


@claim(
    "bun2022",
    "Equation (3)",
    says="simple random sampling at rate m/n leaves at most ln(1 + (m/n)(e^epsilon - 1)); clusters of one record differ only by the relation",
    rests_on=("privacy.subsampling.srs_loss", "privacy.clusters.cluster_loss"),
)
def equation_3() -> Verdict:
    """Optimise over all replacement-DP mechanisms, and set clusters of one record beside them."""
    cases = ((5, 2, 0.5), (4, 3, 1.5), (6, 2, 0.1))
    closed, program, singletons = [], [], []
    for n, m, epsilon in cases:
        population = list(range(n))
        first, second = laws.subsets(population, m), laws.subsets([-1, *population[1:]], m)
        closed.append(subsampling.srs_loss(epsilon, m / n))
        program.append(optimiser.largest_loss(first, second, epsilon=epsilon, mechanism="replacement").loss)
        singletons.append(clusters.cluster_loss([1] * n, m, epsilon=epsilon / 2, neighbours="replacement"))
    deletion = [clusters.cluster_loss([1] * n, m, epsilon=epsilon) for n, m, epsilon in cases]
    hand = [routes.enumerated_cluster_loss([1] * n, m, epsilon) for n, m, epsilon in cases]
    return Verdict(
        judge(agree(closed, singletons), sound=agree(closed, program) and agree(deletion, hand)),
        f"bound = largest loss over all replacement-DP mechanisms in {len(cases)} designs ({closed[0]:.6f} for 2 of 5, epsilon 0.5); clusters of "
        "one record reach the same for replacement (an epsilon/2-deletion-DP mechanism is epsilon-replacement-DP) and "
        f"{deletion[0]:.6f} for deletion",
        "enumeration",
    )


@claim(
    "bun2022",
    "Theorem 5.3",
    says="if the output tells whether the changed cluster was drawn, nothing is gained from the secrecy of the sample",
    rests_on=(
        "privacy.clusters.identified_cluster_loss_lower_bound",
        "privacy.clusters.identified_cluster_loss_weak_bound",
        "privacy.clusters.identifying_confusion",
        "privacy.clusters.cluster_loss",
    ),
)
def theorem_5_3() -> Verdict:
    """Read the loss of noisy counts off their event probabilities, and of the optimal mechanism off its confusion."""
    strong, weak, event_loss, event_weak = [], [], [], []
    for sizes, chosen, epsilon in EQUAL + UNEQUAL:
        rate = chosen / len(sizes)
        for threshold in (-1.3, 0.4, 2.0):
            inside, neighbour, outside = routes.noisy_count_events(sizes, chosen, epsilon, threshold)
            known, confusion = float(np.log(inside / neighbour)), outside / inside
            strong.append(clusters.identified_cluster_loss_lower_bound(known, confusion=confusion, sampling_rate=rate))
            weak.append(
                clusters.identified_cluster_loss_weak_bound(
                    known, confusion=confusion, sampling_rate=rate, epsilon=epsilon
                )
            )
            mixed = rate * neighbour + (1 - rate) * outside
            event_loss.append(np.log((rate * inside + (1 - rate) * outside) / mixed))
            worse = rate * neighbour + (1 - rate) * outside * np.exp(epsilon) * neighbour / inside
            event_weak.append(np.log(rate * inside / worse))
    optimal = [
        clusters.identified_cluster_loss_lower_bound(
            epsilon,
            confusion=clusters.identifying_confusion(sizes, chosen, epsilon=epsilon),
            sampling_rate=chosen / len(sizes),
        )
        for sizes, chosen, epsilon in UNEQUAL
    ]
    exact = [clusters.cluster_loss(sizes, chosen, epsilon=epsilon) for sizes, chosen, epsilon in UNEQUAL]
    program = [routes.enumerated_cluster_loss(*case) for case in UNEQUAL]
    sound = agree(strong, event_loss) and agree(weak, event_weak) and agree(exact, program)
    holds = agree(optimal, exact) and bool(np.all(np.array(weak) <= np.array(strong) + 1e-12))
    return Verdict(
        judge(holds, sound=sound),
        f"the bound before its last step equals the loss of {len(strong)} threshold events computed from their probabilities, and for the optimal "
        f"test the exact optimum (sizes 3,1,2,4: {optimal[0]:.6f}); the last step loses up to {np.max(np.array(strong) - weak):.3f}",
        "enumeration",
        assumption="the test's quality enters as beta, the ratio of its error to its success; " + routes.NOT_PRINTED,
    )


@claim(
    "bun2022",
    "Section 5.2 two-stage sampling",
    says="keeping each record of the drawn clusters with chance q lowers the upper bound to about q times itself",
    rests_on=("privacy.clusters.two_stage_loss_upper_bound",),
)
def two_stage_sampling() -> Verdict:
    """Enumerate both stages and optimise over all mechanisms; the bound is attained when every cluster is drawn."""
    cases = (((2, 2, 2), 1, 0.5, 0.5), ((2, 1, 1), 2, 0.8, 0.3), ((1, 2), 1, 1.0, 0.7))
    bound, exact = [], []
    for sizes, chosen, epsilon, rate in cases:
        bound.append(clusters.two_stage_loss_upper_bound(sizes, chosen, epsilon=epsilon, sampling_rate=rate))
        exact.append(_two_stage_optimum(sizes, chosen, epsilon, rate))
    attained = clusters.two_stage_loss_upper_bound((2, 1), 2, epsilon=0.5, sampling_rate=0.4)
    tiny = 1e-6
    slope = clusters.two_stage_loss_upper_bound((4, 4, 4), 1, epsilon=tiny, sampling_rate=0.2) / tiny
    sound = agree(attained, _two_stage_optimum((2, 1), 2, 0.5, 0.4)) and agree(slope, 0.2 / 3, rel=1e-5)
    gaps = np.array(bound) / exact - 1
    return Verdict(
        judge(bool((gaps >= -1e-12).all()), sound=sound),
        f"bound >= the optimum over both stages in {len(cases)} enumerated designs, {100 * gaps.min():.1f} to {100 * gaps.max():.1f} % above "
        f"it, equal when every cluster is drawn; as epsilon -> 0 it falls to q m/k epsilon (ratio {slope / (0.2 / 3):.6f})",
        "enumeration",
    )


def _two_stage_optimum(sizes: tuple[int, ...], chosen: int, epsilon: float, rate: float) -> float:
    def law(population: list[list[object]]) -> laws.Law:
        drawn = laws.whole_clusters(population, chosen)
        return laws.mixture((p, laws.poisson(sample, rate)) for sample, p in drawn.items())

    first, second = (law(p) for p in routes.neighbouring_clusters(sizes, "deletion"))
    return optimiser.largest_loss(first, second, epsilon=epsilon).loss
