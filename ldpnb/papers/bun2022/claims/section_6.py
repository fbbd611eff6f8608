"""Section 6 of bun2022: general designs, unequal probabilities, systematic sampling."""

from functools import partial
from itertools import permutations, product

import numpy as np

from ldpnb.claims import Evidence, agree, claim
from ldpnb.designs import laws, samples
from ldpnb.papers.bun2022 import routes
from ldpnb.papers.bun2022.proofs import sections_2_to_4
from ldpnb.papers.bun2022.proofs import sections_5_to_7 as proofs
from ldpnb.privacy import optimiser, subsampling, unequal
from ldpnb.privacy.clusters import ClusterSample
from ldpnb.rng import stream

section_6 = partial(claim, kind="certified", reach="all parameters")
chances = "every two populations, design, mechanism and event; chances strictly between 0 and 1"
proposition_6_1 = partial(claim, kind="enumeration", reach="all parameters", reading="reconstructed", over=chances)
bullet_6 = partial(
    section_6,
    reading="reconstructed",
    assumption="the ratios, whose symbols are lost, are those of (4): (1-p')/p', p/p' and mu_1'/mu_0'",
)
SIZES = "the symbol of what varies or is equal is lost; read as the size of the records"


def _random_inclusions() -> tuple[list[unequal.Inclusion], np.ndarray]:
    """Return events of random mechanisms on random designs over three records, and their losses by enumeration."""
    rng = stream("events of random designs", seed=6)
    subsets = np.array(list(product((0, 1), repeat=3)))
    drawn = subsets[:, 0] == 1
    cases, losses = [], []
    for _ in range(50):
        both = [rng.dirichlet(np.ones(len(subsets))) for _ in range(2)]
        accept = np.array([rng.uniform(0.05, 0.95) for _ in subsets])
        rates = [law[drawn].sum() for law in both]
        inside = [law[drawn] @ accept[drawn] / rate for law, rate in zip(both, rates, strict=True)]
        outside = [law[~drawn] @ accept[~drawn] / (1 - rate) for law, rate in zip(both, rates, strict=True)]
        cases.append(unequal.Inclusion(*map(float, (*rates, *inside, *outside))))
        losses.append(np.log(both[0] @ accept / (both[1] @ accept)))
    return cases, np.array(losses)


@proposition_6_1(
    "Proposition 6.1 equation (4)",
    unequal.Inclusion.loss_lower_bound,
    unequal.Inclusion.event_loss,
    assumption=routes.NOT_PRINTED,
)
def equation_4(e: Evidence) -> str:
    """an event's loss is at least ln(mu_1/mu_1') + ln(p/p') - ln(1 + (1-p')/p' mu_0'/mu_1'), for any design and
    mechanism
    """
    e.proven(proofs.event_chances())
    e.decides(proofs.any_design())
    cases, losses = _random_inclusions()
    bounds = np.array([case.loss_lower_bound() for case in cases])
    neighbour = [c.neighbour_rate * c.neighbour_inside + (1 - c.neighbour_rate) * c.neighbour_outside for c in cases]
    e.same(bounds, np.log([c.rate * c.inside / there for c, there in zip(cases, neighbour, strict=True)]))
    slack = losses - bounds
    e.needs((slack >= -1e-12).all())
    return (
        "equal to the logarithm of p mu_1 over the event's chance in the neighbour, hence never above the event's loss "
        f"(slack {slack.min():.3f} to {slack.max():.3f} in {len(cases)} random designs and mechanisms)"
    )


@proposition_6_1(
    "Proposition 6.1 equation (5)",
    unequal.Inclusion.event_loss,
    unequal.Inclusion.loss_lower_bound,
    assumption=routes.NOT_PRINTED + "; (5) is taken to be the line of the proof before that step",
)
def equation_5(e: Evidence) -> str:
    """before a term is dropped, the bound is the event's own loss"""
    e.proven(proofs.event_chances() and proofs.any_design())
    cases, losses = _random_inclusions()
    closed = np.array([case.event_loss() for case in cases])
    dropped = [np.log1p((1 - c.rate) * c.outside / (c.rate * c.inside)) for c in cases]
    e.needs(agree(closed, losses))
    return (
        f"equal to the enumerated loss in {len(cases)} random designs and mechanisms; it exceeds equation (4) by "
        f"ln(1 + (1-p) mu_0/(p mu_1)), up to {max(dropped):.3f} there"
    )


@bullet_6(
    "Section 6 inclusion near 1",
    unequal.Inclusion.loss_lower_bound,
    over="every chance p = p' in (0, 1], loss given inclusion and mechanism, every event with mu_0' > 0",
)
def inclusion_near_one(e: Evidence) -> str:
    """the more rarely the record is left out, the larger the bound; at p = p' = 1 there is no amplification"""
    e.proven(proofs.certain_inclusion())
    rates = (0.5, 0.9, 0.99, 1.0)
    bounds = [unequal.Inclusion(p, p, 0.8, 0.8 * np.exp(-0.5), 0.3, 0.3).loss_lower_bound() for p in rates]
    missed = [(1 - p) / p * 0.3 / (0.8 * np.exp(-0.5)) for p in rates]
    e.same(bounds, 0.5 - np.log1p(missed))
    e.needs((np.diff(bounds) > 0).all() and agree(bounds[-1], 0.5))
    shown = ", ".join(f"{bound:.4f} at {p:g}" for p, bound in zip(rates, bounds, strict=True))
    return (
        f"at p = p' = 1 the bound is the loss given inclusion; for a loss of 0.5 and mu_0' = 0.3, mu_1 = 0.8: {shown}"
    )


@bullet_6(
    "Section 6 data-dependent inclusion",
    unequal.Inclusion.event_loss,
    subsampling.srs_loss,
    unequal.pps_cluster_loss,
    unequal.one_draw_loss,
    samples.pps_rate,
    optimiser.largest_loss,
    subsampling.srs_delta,
    over="degradation: one of two or more clusters drawn in proportion to size, as in Section 6.2; amplification: one "
    "record drawn, every epsilon > 0 and every two chances p, p' < 1, the others in the same proportions",
    argument="one draw loses ln(1 + max(p, p')(e^(2 epsilon) - 1)), as any two samples are two steps apart and the "
    "best event has one chance for all other records",
)
def data_dependent_inclusion(e: Evidence) -> str:
    """if p/p' is large privacy can degrade, but the ratio alone does not decide this: amplification remains possible"""
    e.proven(proofs.clusters_by_size() and sections_2_to_4.simple_random_sampling())
    epsilon, rare, often = 0.5, 0.001, 0.1
    degraded = unequal.pps_cluster_loss([2, 2], epsilon)
    e.same(degraded, _pps_optimum((2, 2), epsilon))
    amplified = unequal.one_draw_loss(often, rare, epsilon)
    weights = [np.array([p, *np.full(4, (1 - p) / 4)]) for p in (often, rare)]
    pair = (laws.one_draw([[first], *([i] for i in range(1, 5))], w) for first, w in zip((0, 9), weights, strict=True))
    e.same(amplified, optimiser.largest_loss(*pair, epsilon=epsilon).loss)
    e.needs(degraded > epsilon and amplified < 2 * epsilon)
    return (
        f"one of two clusters of two records in proportion to size, p/p' = 1.5, epsilon 0.5: {degraded:.4f}; one "
        f"record drawn, p/p' = {often / rare:g}: {amplified:.4f} of the mechanism's own {2 * epsilon:g} (linear "
        "programs)"
    )


@bullet_6(
    "Section 6 detectable inclusion",
    unequal.Inclusion.loss_lower_bound,
    subsampling.srs_loss,
    ClusterSample.identifying_confusion,
    over=chances + "; the ratio of clusters at every epsilon > 0 and size",
    argument="an independently drawn record changes a sample by one step; a cluster in place of another by n_1 + n_i",
)
def detectable_inclusion(e: Evidence) -> str:
    """if the event is much likelier with the record drawn, this can prevent amplification; correlated draws can make it
    likelier than e^epsilon times
    """
    e.proven(proofs.detected_inclusion() and proofs.kept_at_a_rate())
    sizes, epsilon = (1, 2, 5, 10), 0.3
    told = np.array([1 / ClusterSample([size] * 4, 1).identifying_confusion(epsilon) for size in sizes])
    e.same(np.log(told), [2 * epsilon * size for size in sizes])
    events = [routes.noisy_count_events([size] * 4, 1, epsilon, size) for size in sizes]
    e.same(told, [inside / outside for inside, _, outside in events])
    e.needs((told > np.exp(epsilon)).all())
    return (
        "as mu_0' goes to 0 the bound becomes ln(mu_1/mu_1') + ln(p/p'), the loss given inclusion if p = p' (at p/p' = "
        "mu_1'/mu_1 it is 0); one of four clusters at epsilon 0.3: "
        f"mu_1/mu_0 = {', '.join(f'{x:.3g}' for x in told)} for {', '.join(map(str, sizes))} records each, "
        f"e^(epsilon (n_1 + n_i)), above e^epsilon = {np.exp(epsilon):.3g}"
    )


@section_6(
    "Section 6.1 PPS of elements",
    unequal.element_loss_floor,
    unequal.element_loss_weak_floor,
    unequal.Inclusion.event_loss,
    subsampling.srs_loss,
    samples.pps_rates,
    optimiser.largest_loss,
    unequal.Inclusion.loss_lower_bound,
    unequal.one_draw_loss,
    reading="reconstructed",
    assumption=routes.NOT_PRINTED,
    over="epsilon > 0, every design with a largest inclusion probability 0 < p_max < 1; " + routes.BOTH,
)
def pps_of_elements(e: Evidence) -> str:
    """whatever the method, sampling in proportion to size loses at least ln(1 + p_max (e^epsilon - 1)), and at least
    epsilon + ln p_max
    """
    e.proven(proofs.element_floor())
    weights, epsilon = np.array([1.0, 2.0, 3.0, 4.0]), 1.0
    rates = np.array([0.2, 0.4, 0.6, 0.8])
    e.same(samples.pps_rates(weights, 2), rates)
    accept = np.exp(epsilon) / (1 + np.exp(epsilon))  # randomised response on "the likeliest record was drawn"
    drawn = rates[3] * accept + (1 - rates[3]) * (1 - accept)
    floor, weak = unequal.element_loss_floor(rates, epsilon), unequal.element_loss_weak_floor(rates, epsilon)
    e.same(floor, np.log(drawn / (1 - accept)))
    e.same(np.exp(weak - epsilon), rates[3])
    pair = laws.one_draw([[0], [1], [2], [3]], weights), laws.one_draw([[0], [1], [2], [9]], [1, 2, 3, 9])
    one_draw, one_floor = optimiser.largest_loss(*pair, epsilon=1.0).loss, unequal.element_loss_floor([0.4, 0.6], 1.0)
    e.same(one_draw, unequal.one_draw_loss(0.4, 0.6, 1.0))
    e.needs(weak <= floor and one_floor <= one_draw)
    return (
        f"sizes 1 to 4, two expected, epsilon 1: floor {floor:.4f} (and {weak:.4f} from (4)), reached by randomised "
        f"response on the likeliest record; the truth can be far above: one draw loses {one_draw:.4f} where the 4 "
        f"gives way to a 9, its floor is {one_floor:.4f}"
    )


@section_6(
    "Section 6.1 limited variation",
    subsampling.srs_loss,
    unequal.poisson_loss,
    unequal.systematic_loss,
    unequal.systematic_rank_shift_loss,
    samples.pps_rates,
    optimiser.largest_loss,
    reading="reconstructed",
    assumption=SIZES,
    otherwise="corrected",
    corrected="for independent draws of m out of n records whose sizes differ by at most the factor v, the loss "
    "exceeds that of the replaced record alone by at most (m/n)(v - 1)(e^epsilon - 1), whatever n; a systematic sample "
    "in known order is not controlled even at equal sizes, where it loses m epsilon (m even)",
    over="independent draws: epsilon > 0, all sizes and chances below 1",
    argument="a replacement changes the total by the factor 1 + d, d <= (v-1)/n; ln(1 + x) <= x, and the chances sum "
    "to m",
)
def limited_variation(e: Evidence) -> str:
    """limiting the variation of the sizes controls the loss of sampling in proportion to size"""
    epsilon, told = 0.5, []
    moved = unequal.systematic_loss(range(8), 0, 3.5, step=2, epsilon=epsilon)
    e.same(moved, unequal.systematic_rank_shift_loss(4, epsilon))
    e.needs(moved <= 2 * epsilon)
    for count in (6, 60, 600):
        sizes = np.linspace(1, 2, count)
        pair = sizes, np.array([2.0, *sizes[1:]])
        here, there = (samples.pps_rates(z, count / 4) for z in pair)
        losses = [
            unequal.poisson_loss([*pi, 0], [0, *then[1:], then[0]], epsilon)
            for pi, then in ((here, there), (here[:1], there[:1]))
        ]
        if count == 6:
            both = (laws.poisson([one, *range(1, 6)], 1.5 * z / z.sum()) for one, z in zip((0, 9), pair, strict=True))
            e.same(losses[0], optimiser.largest_loss(*both, epsilon=epsilon).loss)
        told.append((*losses, losses[1] + np.expm1(epsilon) / 4))
    exact, alone, bound = np.array(told).T
    e.sure((exact <= bound).all())
    e.proven(proofs.limited_variation())
    return (
        f"sizes 1 to 2, a quarter expected, epsilon 0.5, the smallest grows to 2: {exact[0]:.4f}, {exact[1]:.4f}, "
        f"{exact[2]:.4f} for 6, 60, 600 records, the replaced one alone {alone[0]:.4f}, {alone[1]:.4f}, "
        f"{alone[2]:.4f}, bound {bound[0]:.4f}, {bound[1]:.4f}, {bound[2]:.4f}; 4 of 8 equal records systematically: "
        f"{moved:.4f}"
    )


@section_6(
    "Section 6.1 equal sizes",
    subsampling.srs_loss,
    unequal.poisson_loss,
    optimiser.largest_loss,
    reading="reconstructed",
    assumption=SIZES,
    otherwise="corrected",
    corrected="equal sizes make the chances equal, not the design: simple random sampling results if the size is fixed "
    "and all samples of that size are equally likely, as in conditional Poisson sampling; independent draws have a "
    "random size and lose less",
    over="independent draws against a simple random sample: epsilon > 0, 0 < p < 1, a replaced record",
)
def equal_sizes(e: Evidence) -> str:
    """if all sizes are equal, sampling in proportion to size is simple random sampling without replacement"""
    e.proven(proofs.independent_draws_at_equal_sizes())
    records, epsilon = list(range(6)), 0.5
    designs = partial(laws.poisson, rates=0.5), partial(laws.subsets, size=3), partial(laws.every_kth, step=2)
    independent, fixed, ordered = (design(records) for design in designs)
    poisson = unequal.poisson_loss([0.5, 0], [0, 0.5], epsilon)
    simple = subsampling.srs_loss(2 * epsilon, 0.5)
    e.same([poisson, simple], [routes.optimum(design, 6, epsilon) for design in designs[:2]])
    conditional = {sample: chance for sample, chance in independent.items() if len(sample) == 3}
    e.same([chance / sum(conditional.values()) for chance in conditional.values()], list(fixed.values()))
    e.needs(agree(poisson, simple))
    return (
        f"3 of 6 equal records expected, epsilon 0.5: independent draws have {len(independent)} samples and lose "
        f"{poisson:.4f}, a simple random sample has {len(fixed)} and loses {simple:.4f}, a systematic one has "
        f"{len(ordered)}; conditioned on 3 records independent draws are simple random"
    )


@section_6(
    "Section 6.2 PPS of clusters",
    unequal.pps_cluster_loss,
    unequal.Inclusion.event_loss,
    samples.pps_rate,
    optimiser.largest_loss,
    over=f"epsilon > 0, two or more clusters of which one is drawn, all their sizes >= 2; {routes.DELETION}",
    argument="the loss is that of the tail of the signed count, as in Section 5 with one draw; mu_0 averages "
    "e^(-epsilon (n_1 + n_i)) over the others in proportion to size, and for two clusters Bernoulli's inequality gives "
    "t^n > 1 + n(t - 1), t = e^epsilon; seen from the neighbour no event loses more than epsilon, since by the "
    "inequality of arithmetic and geometric means t^(n-1) (n - (n-1) t) <= 1",
)
def pps_of_clusters(e: Evidence) -> str:
    """drawing a cluster in proportion to its size gives no amplification when clusters are large"""
    e.proven(proofs.clusters_by_size())
    cases = (((3, 1, 2), 0.5), ((2, 2, 2), 0.5), ((1, 4), 0.3), ((4, 2, 1), 1.0))
    closed = [unequal.pps_cluster_loss(*case) for case in cases]
    e.same(closed, [_pps_optimum(*case) for case in cases])
    events = [_pps_event(*case).event_loss() for case in cases]
    e.same(closed, events)
    epsilon, told = 0.5, []
    for size, count in ((2, 3), (10, 3), (2, 100), (10, 100), (10, 100_000)):
        loss, total = unequal.pps_cluster_loss([size] * count, epsilon), size * count
        e.sure((loss > epsilon) == (np.exp(2 * size * epsilon) > 1 + total * np.expm1(epsilon)))
        e.needs(size < 10 or count > 100 or loss > epsilon)
        told.append(f"{loss:.4f} for {count:,} clusters of {size}")
    return (
        "above epsilon exactly where mu_0, the tail's chance without the cluster, is below 1/(1 + n(e^epsilon - 1)): "
        "for clusters of one size s where e^(2 s epsilon) > 1 + n(e^epsilon - 1), for two clusters always; by "
        f"ln(n_1/(n_1 - 1)) at most, since a removed record makes its cluster rarer; at epsilon 0.5 {', '.join(told)}"
    )


@section_6(
    "Section 6.2 limited cluster sizes",
    unequal.pps_cluster_loss,
    unequal.Inclusion.event_loss,
    samples.pps_rate,
    optimiser.largest_loss,
    over=f"epsilon > 0, two or more clusters of which one is drawn, all their sizes >= 2; {routes.DELETION}",
    argument="the loss is that of Section 6.2's tail; at sizes of at most s its mu_0 is at least e^(-2 s epsilon)",
)
def limited_cluster_sizes(e: Evidence) -> str:
    """limiting the size of the clusters controls the loss; a single large one pushes it towards no amplification"""
    e.proven(proofs.many_small_clusters() and proofs.one_large_cluster())
    epsilon = 0.5
    many = {k: unequal.pps_cluster_loss([3] * k, epsilon) for k in (2, 10, 100, 1000)}
    e.same(many[2], _pps_optimum((3, 3), epsilon))
    bounds = [np.log1p(np.exp(6 * epsilon) / (k - 1)) for k in many]
    single = unequal.pps_cluster_loss([60, *[3] * 1000], epsilon)
    e.same(single, _pps_event((60, *[3] * 1000), epsilon).event_loss())
    e.needs((np.array(list(many.values())) <= bounds).all() and single > many[1000])
    return (
        "at most ln(1 + n_1/((n - n_1) mu_0)), which many clusters of limited size make small and few do not; clusters "
        f"of 3 at epsilon {epsilon}: {', '.join(f'{loss:.4f} for {k:,}' for k, loss in many.items())}; a cluster of 60 "
        f"among 1,000 of 3 loses {single:.4f}"
    )


@section_6(
    "Section 6.2 equal inclusion",
    samples.pps_rate,
    samples.pps_rates,
    over="all cluster sizes >= the number of records drawn from a cluster",
    assumption="one cluster is drawn, and the appropriate rate is a fixed number of its records",
)
def equal_inclusion(e: Evidence) -> str:
    """a cluster in proportion to size, then simple random sampling within it at the appropriate rate, includes every
    record equally often
    """
    e.proven(proofs.equal_inclusion_in_two_stages())
    sizes, fixed = (2, 3, 5), 2
    rates = samples.pps_rates(sizes, 1)
    parts = ((p, laws.subsets(held, fixed)) for p, held in zip(rates, routes.clusters_of(sizes), strict=True))
    drawn = laws.mixture(parts)
    included = [sum(p for s, p in drawn.items() if r in s) for held in routes.clusters_of(sizes) for r in held]
    e.needs(agree(included, np.full(10, fixed / 10)))
    e.same(rates, [0.2, 0.3, 0.5])
    return (
        f"(n_i/n)(f/n_i) = f/n; clusters of 2, 3 and 5 records, two drawn from one: every record with chance "
        f"{included[0]:.1f}; in a single stage a record's chance is its cluster's, {rates.min():.1f} to "
        f"{rates.max():.1f}"
    )


@section_6(
    "Section 6.3 systematic sampling",
    unequal.systematic_rank_preserving_loss,
    unequal.systematic_rank_shift_loss,
    unequal.systematic_loss,
    subsampling.srs_loss,
    subsampling.weighted_loss,
    optimiser.largest_loss,
    otherwise="corrected",
    corrected="the known order is worse than cluster sampling, which costs less than 2 epsilon: a replacement that "
    "shifts half the ranks costs m epsilon for samples of an even number m of records",
    over="epsilon > 0, every even sample size m and every step k >= 2",
    argument="the smallest record moves to the middle: a sample before and one after differ in the half below the "
    "middle unless they start one rank apart, in the half above unless they start at the same rank, hence by m steps, "
    "and by exactly m if they start at the same rank; the event that falls by e^epsilon a step away from the samples "
    "before loses m epsilon. A secret random order makes all samples of m records equally likely",
)
def systematic_sampling(e: Evidence) -> str:
    """a systematic sample in secret random order is a simple random one; in a known order it is nearly a cluster
    sample, without amplification
    """
    e.proven(proofs.systematic_at_the_same_rank())
    for m, k in ((2, 3), (4, 2), (6, 2)):
        e.proven(proofs.systematic_at_shifted_ranks(m, k))
    orders = [laws.every_kth(order, 2) for order in permutations(range(4))]
    mixed, simple = laws.mixture((1 / len(orders), law) for law in orders), laws.subsets(range(4), 2)
    e.sure(set(mixed) == set(simple))
    e.same([mixed[sample] for sample in simple], list(simple.values()))
    step, epsilon = 2, 0.5
    random_order = subsampling.srs_loss(2 * epsilon, 0.5)
    e.same(random_order, routes.optimum(partial(laws.subsets, size=2), 4, epsilon))
    by_hand = routes.enumerated_cluster_loss((4, 4), 1, epsilon, "replacement")
    preserved = unequal.systematic_rank_preserving_loss(4, step, epsilon)
    kept = unequal.systematic_loss(range(8), 3, 3.5, step=step, epsilon=epsilon)
    e.same([preserved, kept], [by_hand] * 2)
    shifted = unequal.systematic_rank_shift_loss(4, epsilon)
    e.same(max(unequal.systematic_loss(range(8), 0, i - 0.5, step=step, epsilon=epsilon) for i in range(2, 9)), shifted)
    steps = {(m, k): _steps_apart(m, k) for m, k in product((2, 4, 6, 8), (2, 3, 4))}
    e.sure(all(found == (m, m) for (m, _), found in steps.items()))
    e.needs(shifted <= 2 * epsilon)
    return (
        f"8 records, every second, epsilon 0.5: {random_order:.4f} in secret order, {preserved:.4f} in known order if "
        f"the new one keeps the rank (2 epsilon in the limit of large samples), and {shifted:.4f} = 4 epsilon if the "
        f"smallest moves to the middle (linear programs over all replacements of it); m steps apart in {len(steps)} "
        "designs; e^(m epsilon) exactly at e^epsilon = 2 for m = 2, 4, 6 (programs in fractions)"
    )


def _pps_optimum(sizes: tuple[int, ...], epsilon: float) -> float:
    """Return the largest loss over all mechanisms that see one cluster, drawn in proportion to size."""
    whole, less = routes.neighbouring_clusters(sizes, "deletion")
    both = (laws.one_draw(held, list(map(len, held))) for held in (whole, [cluster for cluster in less if cluster]))
    return optimiser.largest_loss(*both, epsilon=epsilon).loss


def _pps_event(sizes: tuple[int, ...], epsilon: float) -> unequal.Inclusion:
    """Return the tail of the signed count, at most 1 by a common factor."""
    own, others, total = sizes[0], np.array(sizes[1:]), sum(sizes)
    outside = float(others @ np.exp(-epsilon * (own + others)) / others.sum())
    there = max((own - 1) / (total - 1), 1e-300)
    return unequal.Inclusion(own / total, there, 1.0, float(np.exp(-epsilon)), outside, outside)


def _steps_apart(size: int, step: int) -> tuple[int, int]:
    """Return the least steps between a sample before and one after, and the most between those of one start."""
    before = list(range(size * step))
    after = [*before[1 : size * step // 2], -1, *before[size * step // 2 :]]
    apart = [[len(set(before[i::step]) ^ set(after[j::step])) for j in range(step)] for i in range(step)]
    return int(np.min(apart)), int(np.max(np.diag(apart)))
