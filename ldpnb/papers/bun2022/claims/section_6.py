"""Section 6: general designs, unequal probabilities, systematic sampling."""

from itertools import permutations, product

import numpy as np

from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.designs import laws, samples
from ldpnb.papers.bun2022 import routes as routes
from ldpnb.privacy import clusters, optimiser, subsampling, unequal
from ldpnb.rng import stream

_ROOM = "privacy.unequal"


def _random_inclusions() -> list[tuple[unequal.Inclusion, float]]:
    """Return events of random mechanisms on random designs over three records, and the loss of each event by
    enumeration.
    """
    rng = stream("events of random designs", seed=6)
    found = []
    for _ in range(50):
        subsets = [tuple(i for i, kept in enumerate(kept) if kept) for kept in product((0, 1), repeat=3)]
        first, second = (dict(zip(subsets, rng.dirichlet(np.ones(len(subsets))), strict=True)) for _ in range(2))
        accept = {sample: float(rng.uniform(0.05, 0.95)) for sample in subsets}
        sides = []
        for law in (first, second):
            rate = sum(p for s, p in law.items() if 0 in s)
            inside = sum(p * accept[s] for s, p in law.items() if 0 in s) / rate
            outside = sum(p * accept[s] for s, p in law.items() if 0 not in s) / (1 - rate)
            sides.append((float(rate), float(inside), float(outside)))
        (p, mu_1, mu_0), (p_, mu_1_, mu_0_) = sides
        loss = np.log(sum(first[s] * accept[s] for s in subsets) / sum(second[s] * accept[s] for s in subsets))
        found.append((unequal.Inclusion(p, p_, mu_1, mu_1_, mu_0, mu_0_), float(loss)))
    return found


@claim(
    "bun2022",
    "Proposition 6.1 equation (4)",
    says="an event's loss is at least ln(mu_1/mu_1') + ln(p/p') - ln(1 + (1-p')/p' mu_0'/mu_1'), for any design and mechanism",
    rests_on=(f"{_ROOM}.Inclusion.loss_lower_bound",),
)
def equation_4() -> Verdict:
    """Compare with the enumerated loss of random events; without the dropped term it is an identity."""
    cases = _random_inclusions()
    bounds = np.array([case.loss_lower_bound() for case, _ in cases])
    losses = np.array([loss for _, loss in cases])
    joint = [
        np.log(
            c.rate * c.inside / (c.neighbour_rate * c.neighbour_inside + (1 - c.neighbour_rate) * c.neighbour_outside)
        )
        for c, _ in cases
    ]
    return Verdict(
        judge(bool((bounds <= losses + 1e-12).all()), sound=agree(bounds, joint)),
        f"never above the event's loss in {len(cases)} random designs and mechanisms (slack {np.min(losses - bounds):.3f} to "
        f"{np.max(losses - bounds):.3f}); it equals ln of p mu_1 over the event's chance in the neighbour",
        "enumeration",
        assumption=routes.NOT_PRINTED,
    )


@claim(
    "bun2022",
    "Proposition 6.1 equation (5)",
    says="before a term is dropped, the bound is the event's own loss",
    rests_on=(f"{_ROOM}.Inclusion.event_loss", f"{_ROOM}.Inclusion.loss_lower_bound"),
)
def equation_5() -> Verdict:
    """Compare with the event's chances summed over all samples."""
    cases = _random_inclusions()
    closed = np.array([case.event_loss() for case, _ in cases])
    weaker = np.array([case.loss_lower_bound() for case, _ in cases])
    dropped = [np.log1p((1 - c.rate) * c.outside / (c.rate * c.inside)) for c, _ in cases]
    return Verdict(
        judge(agree(closed, [loss for _, loss in cases]), sound=agree(closed - weaker, dropped)),
        f"equal to the enumerated loss in {len(cases)} random designs and mechanisms; it exceeds equation (4) by "
        f"ln(1 + (1-p) mu_0/(p mu_1)), up to {max(dropped):.3f}",
        "enumeration",
        assumption=routes.NOT_PRINTED + "; (5) is taken to be the line of the proof before that step",
    )


@claim(
    "bun2022",
    "Section 6.1 PPS of elements",
    says="whatever the method, sampling in proportion to size loses at least ln(1 + p_max (e^epsilon - 1)), and at least epsilon + ln p_max",
    rests_on=(
        f"{_ROOM}.element_loss_floor",
        f"{_ROOM}.element_loss_weak_floor",
        f"{_ROOM}.one_draw_loss",
        f"{_ROOM}.poisson_loss",
        "designs.samples.pps_rates",
    ),
)
def pps_of_elements() -> Verdict:
    """Enumerate the mechanism that tells whether the likeliest record was drawn, and optimise over all for two ways to
    draw.
    """
    weights, epsilon = np.array([1.0, 2.0, 3.0, 4.0]), 1.0
    rates = samples.pps_rates(weights, 2)
    accept = np.exp(epsilon) / (1 + np.exp(epsilon))
    drawn = rates[3] * accept + (1 - rates[3]) * (1 - accept)
    floor, weak = unequal.element_loss_floor(rates, epsilon), unequal.element_loss_weak_floor(rates, epsilon)
    sound = (
        agree(floor, np.log(drawn / (1 - accept))) and agree(np.exp(weak - epsilon), rates[3]) and agree(rates.sum(), 2)
    )
    one = [[record] for record in range(4)]
    one_draw, single = [], []
    for size, rate in ((4, 0.4), (9, 0.6)):
        pair = laws.one_draw(one, weights), laws.one_draw([*one[:3], [9]], [1, 2, 3, size])
        one_draw.append(unequal.one_draw_loss(0.4, rate, epsilon))
        single.append(optimiser.largest_loss(*pair, epsilon=epsilon).loss)
    one_floor = unequal.element_loss_floor(weights / 10, epsilon)
    grown = samples.pps_rates([100.0, 1.0, 1.0], 1.5)
    even = samples.pps_rates([1.0, 1.0, 1.0], 1.5)
    poisson = unequal.poisson_loss([*even, 0], [0, *grown[1:], grown[0]], 0.5)
    program = optimiser.largest_loss(laws.poisson([0, 1, 2], even), laws.poisson([9, 1, 2], grown), epsilon=0.5).loss
    degraded = unequal.poisson_loss([*[0.5] * 6, 0], [0, *samples.pps_rates([1.0] * 5 + [100.0], 3)], 0.5) / 0.5
    return Verdict(
        judge(
            weak <= floor and one_floor <= one_draw[0],
            sound=sound and agree(one_draw, single) and agree(poisson, program),
        ),
        f"sizes 1 to 4, two expected, epsilon 1: floor {floor:.4f} (and {weak:.4f} from (4)), reached by randomised response on the likeliest "
        f"record; the truth can be far above: one draw loses {one_draw[0]:.4f}, its floor is {one_floor:.4f}; independent draws from six equal "
        f"records of which one grows a hundredfold lose {degraded:.2f} epsilon",
        "certified",
    )


@claim(
    "bun2022",
    "Section 6.2 PPS of clusters",
    says="drawing a cluster in proportion to its size gives no amplification when clusters are large",
    rests_on=(f"{_ROOM}.pps_cluster_loss",),
)
def pps_of_clusters() -> Verdict:
    """Optimise over all mechanisms on small designs, and take the closed form to large clusters."""
    cases = (((3, 1, 2), 0.5), ((2, 2, 2), 0.5), ((1, 4), 0.3), ((4, 2, 1), 1.0))
    closed = [unequal.pps_cluster_loss(sizes, epsilon) for sizes, epsilon in cases]
    program = []
    for sizes, epsilon in cases:
        whole, less = routes.neighbouring_clusters(sizes, "deletion")
        kept = [cluster for cluster in less if cluster]
        both = laws.one_draw(whole, [len(c) for c in whole]), laws.one_draw(kept, [len(c) for c in kept])
        program.append(optimiser.largest_loss(*both, epsilon=epsilon).loss)
    large = unequal.pps_cluster_loss([10, 10, 10], 0.5)
    return Verdict(
        judge(large >= 0.5, sound=agree(closed, program)),
        f"closed form = largest loss over all mechanisms in {len(cases)} designs; sizes 10, 10, 10 at epsilon 0.5 lose {large:.4f} and 2, 2, 2 lose "
        f"{closed[1]:.4f}, more than epsilon: a removed record makes its cluster rarer, the term ln(p/p')",
        "certified",
    )


@claim(
    "bun2022",
    "Section 6.3 systematic sampling",
    says="a systematic sample in secret random order is a simple random one; in a known order it is nearly a cluster sample, without amplification",
    rests_on=(
        f"{_ROOM}.systematic_rank_preserving_loss",
        f"{_ROOM}.systematic_rank_shift_loss",
        f"{_ROOM}.systematic_loss",
        "privacy.subsampling.srs_loss",
    ),
)
def systematic_sampling() -> Verdict:
    """Enumerate all orders of four records; in the known order, optimise over all mechanisms for every move of one of
    eight.
    """
    orders = [laws.every_kth(order, 2) for order in permutations(range(4))]
    mixed, simple = laws.mixture((1 / len(orders), law) for law in orders), laws.subsets(range(4), 2)
    secret = set(mixed) == set(simple) and agree([mixed[s] for s in simple], list(simple.values()))
    records, step, epsilon = list(range(8)), 2, 0.5
    preserved = unequal.systematic_rank_preserving_loss(4, step, epsilon)
    kept = unequal.systematic_loss(records, 3, 3.5, step=step, epsilon=epsilon)
    as_cluster = clusters.cluster_loss([4, 4], 1, epsilon=epsilon, neighbours="replacement")
    by_hand = routes.enumerated_cluster_loss((4, 4), 1, epsilon, "replacement")
    moves = [unequal.systematic_loss(records, 0, place - 0.5, step=step, epsilon=epsilon) for place in range(2, 9)]
    shifted = unequal.systematic_rank_shift_loss(4, epsilon)
    sound = agree([preserved, kept, as_cluster], [by_hand] * 3) and agree(max(moves), shifted) and secret
    random_order = subsampling.srs_loss(2 * epsilon, 0.5)
    pair = laws.subsets(range(4), 2), laws.subsets([9, 1, 2, 3], 2)
    sound = sound and agree(random_order, optimiser.largest_loss(*pair, epsilon=epsilon).loss)
    return Verdict(
        judge(shifted <= 2 * epsilon, sound=sound, otherwise="corrected"),
        f"8 records, every second, epsilon 0.5: {random_order:.4f} in secret order, {preserved:.4f} in known order if the new one keeps the "
        f"rank, and {max(moves):.4f} = 4 epsilon if the smallest moves to the middle (linear programs over all replacements of it)",
        "certified",
        corrected="the known order is worse than cluster sampling: a replacement that shifts half the ranks costs m epsilon for samples of an even "
        "number m of records, not at most 2 epsilon",
    )
