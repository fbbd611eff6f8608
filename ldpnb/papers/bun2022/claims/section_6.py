"""Section 6 of bun2022: general designs, unequal probabilities, systematic sampling."""

from functools import partial
from itertools import permutations, product

import numpy as np

from ldpnb.claims import Evidence, agree, claim
from ldpnb.designs import laws, samples
from ldpnb.papers.bun2022 import routes
from ldpnb.privacy import optimiser, subsampling, unequal
from ldpnb.privacy.clusters import ClusterSample
from ldpnb.rng import stream

section_6 = partial(claim, kind="certified")
proposition_6_1 = partial(claim, kind="enumeration")


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


@proposition_6_1("Proposition 6.1 equation (4)", unequal.Inclusion.loss_lower_bound, assumption=routes.NOT_PRINTED)
def equation_4(e: Evidence) -> str:
    """an event's loss is at least ln(mu_1/mu_1') + ln(p/p') - ln(1 + (1-p')/p' mu_0'/mu_1'), for any design and
    mechanism
    """
    cases, losses = _random_inclusions()
    bounds = np.array([case.loss_lower_bound() for case in cases])
    neighbour = [c.neighbour_rate * c.neighbour_inside + (1 - c.neighbour_rate) * c.neighbour_outside for c in cases]
    e.same(bounds, np.log([c.rate * c.inside / there for c, there in zip(cases, neighbour, strict=True)]))
    slack = losses - bounds
    e.needs((slack >= -1e-12).all())
    return (
        f"never above the event's loss in {len(cases)} random designs and mechanisms (slack {slack.min():.3f} to "
        f"{slack.max():.3f}); it equals ln of p mu_1 over the event's chance in the neighbour"
    )


@proposition_6_1(
    "Proposition 6.1 equation (5)",
    unequal.Inclusion.event_loss,
    unequal.Inclusion.loss_lower_bound,
    assumption=routes.NOT_PRINTED + "; (5) is taken to be the line of the proof before that step",
)
def equation_5(e: Evidence) -> str:
    """before a term is dropped, the bound is the event's own loss"""
    cases, losses = _random_inclusions()
    closed = np.array([case.event_loss() for case in cases])
    dropped = [np.log1p((1 - c.rate) * c.outside / (c.rate * c.inside)) for c in cases]
    e.same(closed - [case.loss_lower_bound() for case in cases], dropped)
    e.needs(agree(closed, losses))
    return (
        f"equal to the enumerated loss in {len(cases)} random designs and mechanisms; it exceeds equation (4) by "
        f"ln(1 + (1-p) mu_0/(p mu_1)), up to {max(dropped):.3f}"
    )


@section_6(
    "Section 6.1 PPS of elements",
    unequal.element_loss_floor,
    unequal.element_loss_weak_floor,
    unequal.one_draw_loss,
    unequal.poisson_loss,
    samples.pps_rates,
)
def pps_of_elements(e: Evidence) -> str:
    """whatever the method, sampling in proportion to size loses at least ln(1 + p_max (e^epsilon - 1)), and at least
    epsilon + ln p_max
    """
    weights, epsilon = np.array([1.0, 2.0, 3.0, 4.0]), 1.0
    rates = np.array([0.2, 0.4, 0.6, 0.8])
    e.same(samples.pps_rates(weights, 2), rates)
    accept = np.exp(epsilon) / (1 + np.exp(epsilon))  # randomised response on "the likeliest record was drawn"
    drawn = rates[3] * accept + (1 - rates[3]) * (1 - accept)
    floor, weak = unequal.element_loss_floor(rates, epsilon), unequal.element_loss_weak_floor(rates, epsilon)
    e.same(floor, np.log(drawn / (1 - accept)))
    e.same(np.exp(weak - epsilon), rates[3])
    one_floor = unequal.element_loss_floor(weights / 10, epsilon)
    one, one_draw = [[record] for record in range(4)], []
    for size, rate in ((4, 0.4), (9, 0.6)):
        pair = laws.one_draw(one, weights), laws.one_draw([*one[:3], [9]], [1, 2, 3, size])
        one_draw.append(unequal.one_draw_loss(0.4, rate, epsilon))
        e.same(one_draw[-1], optimiser.largest_loss(*pair, epsilon=epsilon).loss)
    even, grown = np.full(3, 0.5), np.array([1.0, 1.5 / 102, 1.5 / 102])
    e.same(samples.pps_rates([1.0, 1.0, 1.0], 1.5), even)
    e.same(samples.pps_rates([100.0, 1.0, 1.0], 1.5), grown)
    pair = laws.poisson([0, 1, 2], even), laws.poisson([9, 1, 2], grown)
    poisson = unequal.poisson_loss([*even, 0], [0, *grown[1:], grown[0]], 0.5)
    e.same(poisson, optimiser.largest_loss(*pair, epsilon=0.5).loss)
    one_large = [3 / 105] * 5 + [1.0]
    e.same(samples.pps_rates([1.0] * 5 + [100.0], 3), one_large)
    degraded = unequal.poisson_loss([*[0.5] * 6, 0], [0, *one_large], 0.5) / 0.5
    e.needs(weak <= floor and one_floor <= one_draw[0])
    return (
        f"sizes 1 to 4, two expected, epsilon 1: floor {floor:.4f} (and {weak:.4f} from (4)), reached by randomised "
        f"response on the likeliest record; the truth can be far above: one draw loses {one_draw[0]:.4f}, its floor is "
        f"{one_floor:.4f}; independent draws from six equal records of which one grows a hundredfold lose "
        f"{degraded:.2f} epsilon"
    )


@section_6("Section 6.2 PPS of clusters", unequal.pps_cluster_loss)
def pps_of_clusters(e: Evidence) -> str:
    """drawing a cluster in proportion to its size gives no amplification when clusters are large"""
    cases = (((3, 1, 2), 0.5), ((2, 2, 2), 0.5), ((1, 4), 0.3), ((4, 2, 1), 1.0))
    closed = [unequal.pps_cluster_loss(*case) for case in cases]
    for found, (sizes, epsilon) in zip(closed, cases, strict=True):
        whole, less = routes.neighbouring_clusters(sizes, "deletion")
        both = (laws.one_draw(held, list(map(len, held))) for held in (whole, [cluster for cluster in less if cluster]))
        e.same(found, optimiser.largest_loss(*both, epsilon=epsilon).loss)
    large = unequal.pps_cluster_loss([10, 10, 10], 0.5)
    e.needs(large >= 0.5)
    return (
        f"closed form = largest loss over all mechanisms in {len(cases)} designs; sizes 10, 10, 10 at epsilon 0.5 lose "
        f"{large:.4f} and 2, 2, 2 lose {closed[1]:.4f}, more than epsilon: a removed record makes its cluster rarer, "
        "the term ln(p/p')"
    )


@section_6(
    "Section 6.3 systematic sampling",
    unequal.systematic_rank_preserving_loss,
    unequal.systematic_rank_shift_loss,
    unequal.systematic_loss,
    subsampling.srs_loss,
    otherwise="corrected",
    corrected="the known order is worse than cluster sampling: a replacement that shifts half the ranks costs m "
    "epsilon for samples of an even number m of records, not at most 2 epsilon",
)
def systematic_sampling(e: Evidence) -> str:
    """a systematic sample in secret random order is a simple random one; in a known order it is nearly a cluster
    sample, without amplification
    """
    orders = [laws.every_kth(order, 2) for order in permutations(range(4))]
    mixed, simple = laws.mixture((1 / len(orders), law) for law in orders), laws.subsets(range(4), 2)
    e.sure(set(mixed) == set(simple))
    e.same([mixed[sample] for sample in simple], list(simple.values()))
    step, epsilon = 2, 0.5
    pair = simple, laws.subsets([9, 1, 2, 3], 2)
    random_order = subsampling.srs_loss(2 * epsilon, 0.5)
    e.same(random_order, optimiser.largest_loss(*pair, epsilon=epsilon).loss)
    by_hand = routes.enumerated_cluster_loss((4, 4), 1, epsilon, "replacement")
    preserved = unequal.systematic_rank_preserving_loss(4, step, epsilon)
    kept = unequal.systematic_loss(range(8), 3, 3.5, step=step, epsilon=epsilon)
    e.same([preserved, kept], [by_hand] * 2)
    e.same(ClusterSample([4, 4], 1).loss(epsilon, neighbours="replacement"), by_hand)
    moves = [unequal.systematic_loss(range(8), 0, place - 0.5, step=step, epsilon=epsilon) for place in range(2, 9)]
    shifted = unequal.systematic_rank_shift_loss(4, epsilon)
    e.same(max(moves), shifted)
    e.needs(shifted <= 2 * epsilon)
    return (
        f"8 records, every second, epsilon 0.5: {random_order:.4f} in secret order, {preserved:.4f} in known order if "
        f"the new one keeps the rank, and {max(moves):.4f} = 4 epsilon if the smallest moves to the middle (linear "
        "programs over all replacements of it)"
    )
