"""Check the claims of Section 6 of Bun and others (2022), on unequal probabilities."""

from itertools import permutations

import numpy as np

from ldpnb.arithmetic import Real, Symbol
from ldpnb.claims import Evidence, Numbers, agree, joined
from ldpnb.deciders import budget, identity, limit, oo, positive, symbols
from ldpnb.designs import laws, strata
from ldpnb.papers.bun2022.formulas import clusters, samples, unequal
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.papers.bun2022.formulas.unequal import Inclusion
from ldpnb.papers.bun2022.section_2 import simple_random_sampling
from ldpnb.papers.bun2022.section_5 import kept_at_a_rate
from ldpnb.papers.bun2022.shared import BUDGET, EVERY, SHARE, eps, p, ratio, t
from ldpnb.privacy import subsampling

WEIGHTS = (1.0, 2.0, 3.0, 4.0)
"""The weights of four records, drawn with probabilities proportional to them."""

LARGE = (60, *[3] * 1000)
"""The sizes of clusters of which one is large."""

ONE: Real = Symbol(1)


def event_ratio(event: Inclusion) -> Real:
    """Return ``e^loss`` of an event."""
    return ratio(event.event_loss())


def bound_ratio(event: Inclusion) -> Real:
    """Return ``e^bound``, of the lower bound (4) on the loss of an event."""
    return ratio(event.loss_lower_bound())


def by_size(size: Real, rest: Real, chance: Real) -> Real:
    """Return the ratio of the tail if one cluster is drawn with probability proportional to size.

    Parameters
    ----------
    size, rest : float or Symbol
        The size of the cluster that loses a record, and the sum of the other sizes.
    chance : float or Symbol
        How likely the tail is if another cluster is drawn, relative to this one.
    """
    here = samples.pps_rate(size, size + rest, 1)
    there = samples.pps_rate(size - 1, size + rest - 1, 1)
    return event_ratio(Inclusion(here, there, ONE, 1 / t, chance, chance))


def clusters_by_size() -> bool | None:
    """Show that the loss exceeds eps exactly if the probability of the others is below a threshold.

    That probability of the optimal tail, ``mu_0``, is a mean of ``t^-(n_1 + n_i)``, and the
    threshold is ``1/(1 + n(t-1))``. The ratio is never above ``t n_1/(n_1 - 1)``.
    """
    size, rest, chance = symbols("size rest chance")
    total = size + rest
    excess = by_size(size, rest, chance) / t

    # The numerator decides the sign.
    numerator = rest * (1 - chance * (1 + total * (t - 1)))
    denominator = total * (size - 1) + total * t * rest * chance
    if not identity(excess - 1, numerator / denominator):
        return False

    box = BUDGET | {size: (1, oo), rest: EVERY, chance: EVERY}
    return positive(size / (size - 1) - excess, box)


def proposition_6_1(e: Evidence) -> Numbers:
    chances = symbols("r r1 inside inside1 outside outside1")
    r, r1, inside, inside1, outside, outside1 = chances
    event = Inclusion(*chances)
    loss = event_ratio(event)
    bound = bound_ratio(event)
    there = r1 * inside1 + (1 - r1) * outside1
    e.proven(identity(loss, (r * inside + (1 - r) * outside) / there))
    e.proven(identity(bound, r * inside / there))

    dropped = 1 + (1 - r) * outside / (r * inside)
    e.proven(identity(loss, bound * dropped))
    e.decides(positive(dropped - 1, dict.fromkeys(chances, SHARE)))

    # The bound grows with the rate, and is ln s at the rate 1, where mu_1 = s mu_1'. The odds
    # against a draw are smaller if it is more likely.
    s, odds, more = symbols("s odds more")

    def bound_at(rate: Real) -> Real:
        return bound_ratio(Inclusion(rate, rate, ONE, ONE / s, outside, outside))

    rise = bound_at(1 / (1 + odds)) - bound_at(1 / (1 + odds + more))
    e.proven(positive(rise, {odds: EVERY, more: EVERY, s: (1, oo), outside: SHARE}))
    e.decides(identity(bound_at(ONE), s))

    rates = (0.5, 0.9, 0.99, 1.0)
    bounds = [
        Inclusion(rate, rate, 0.8, 0.8 * np.exp(-0.5), 0.3, 0.3).loss_lower_bound()
        for rate in rates
    ]
    e.needs((np.diff(bounds) > 0).all())
    e.needs(agree(bounds[-1], 0.5))
    return {"bounds": joined(bounds), "rates": ",".join(f"{rate:g}" for rate in rates)}


def section_6_baseline(e: Evidence) -> Numbers:
    # With p = p' = r, and probabilities 1 and 1/s of the event with the record, beta without it.
    r, s, beta = symbols("r s beta")
    loss = event_ratio(Inclusion(r, r, ONE, ONE / s, beta, beta))
    e.proven(identity(loss, (r + (1 - r) * beta) / (r / s + (1 - r) * beta)))
    e.decides(positive(s - loss, {r: SHARE, s: (1, oo), beta: EVERY}))

    tried = Inclusion(1 / 3, 1 / 3, 1.0, np.exp(-0.5), 0.1, 0.1)
    e.same(tried.event_loss(), np.log((1 + 2 * 0.1) / (np.exp(-0.5) + 2 * 0.1)))
    e.needs(tried.event_loss() < 0.5)
    degraded = unequal.pps_cluster_loss([2, 2], 0.5)
    e.sure(degraded > 0.5)
    return {"event": tried.event_loss(), "degraded": degraded}


def section_6_data_dependent_inclusion(e: Evidence) -> Numbers:
    e.proven(clusters_by_size())
    e.proven(simple_random_sampling())

    rare = 0.001
    often = 0.1
    degraded = unequal.pps_cluster_loss([2, 2], 0.5)
    amplified = unequal.one_draw_loss(often, rare, 0.5)
    e.needs(degraded > 0.5)
    e.needs(amplified < 1)
    return {"degraded": degraded, "amplified": amplified, "apart": often / rare}


def section_6_detectable_inclusion(e: Evidence) -> Numbers:
    r, r1, s, outside, more = symbols("r r1 s outside more")

    def bound(chance: Real) -> Real:
        return bound_ratio(Inclusion(r, r1, ONE, ONE / s, chance, chance))

    # The easier it is to tell whether the record is drawn, the larger the bound.
    box = {r: SHARE, r1: SHARE, s: (1, oo), outside: EVERY, more: EVERY}
    e.proven(identity(bound(outside), r / (r1 / s + (1 - r1) * outside)))
    e.proven(identity(bound(0 * outside), s * r / r1))
    e.proven(positive(bound(outside) - bound(outside + more), box))
    e.proven(kept_at_a_rate())

    # By how much the optimal event is likelier if the cluster is drawn than if it is not.
    sizes = (1, 2, 5, 10)
    confusions = [ClusterSample([size] * 4, 1).identifying_confusion(0.3) for size in sizes]
    likelier = 1 / np.array(confusions)
    e.same(np.log(likelier), [2 * 0.3 * size for size in sizes])
    e.needs((likelier > np.exp(0.3)).all())
    return {
        "ratios_of_chances": joined(likelier, ".3g"),
        "sizes": joined(sizes, ""),
        "growth": np.exp(0.3),
    }


def section_6_stronger_for_clusters(e: Evidence) -> Numbers:
    # Any event of a design with p = p' = r whose outputs without the cluster are the same.
    r, s, beta = symbols("r s beta")
    box = {r: SHARE, s: (1, oo), beta: EVERY}
    event = Inclusion(r, r, ONE, ONE / s, beta, beta)
    e.decides(positive(event_ratio(event) - bound_ratio(event), box))

    # The simple form of Theorem 5.3 is below (4).
    simple = clusters.identified_cluster_loss_weak_bound(
        budget(s), confusion=beta, sampling_rate=r, epsilon=budget(s * t)
    )
    e.proven(positive(bound_ratio(event) - ratio(simple), BUDGET | box))

    def compared(design: ClusterSample, rate: float) -> tuple[float, float]:
        """Return the bound of Theorem 5.1, and (4) for the event of the optimum."""
        confusion = design.identifying_confusion(0.5)
        event = Inclusion(rate, rate, 1.0, np.exp(-0.5), confusion, confusion)
        e.same(event.event_loss(), design.loss(0.5))
        return design.lower_bound(0.5), event.loss_lower_bound()

    structure, general = compared(ClusterSample([2, 2, 2, 2], 1), 1 / 4)
    e.needs(structure > general)

    sizes = [6, 1, 20, 20]
    below, above = compared(ClusterSample(sizes, 1), 1 / 4)
    e.sure(above > below)
    return {
        "structure": structure,
        "general": general,
        "sizes": ", ".join(map(str, sizes)),
        "unequal": below,
        "above": above,
    }


def section_6_1_pps_of_elements(e: Evidence) -> Numbers:
    # Randomised response on "the record is drawn".
    answer = t / (1 + t)
    other = 1 / (1 + t)
    event = Inclusion(p, ONE, answer, other, other, other)
    floor = ratio(subsampling.srs_loss(eps, p))
    e.proven(identity(bound_ratio(event), p * t))
    e.proven(identity(event_ratio(event), floor))
    e.proven(positive(floor - p * t, BUDGET | {p: SHARE}))

    rates = samples.pps_rates(WEIGHTS, 2)
    least = unequal.element_loss_floor(rates, 1.0)
    weak = unequal.element_loss_weak_floor(rates, 1.0)
    told = np.e / (1 + np.e)
    chance = max(rates)  # of the likeliest record
    e.same(least, np.log((chance * told + (1 - chance) * (1 - told)) / (1 - told)))
    e.same(weak, np.log(chance * told / (1 - told)))
    e.needs(weak <= least)

    one_draw = unequal.one_draw_loss(0.4, 0.6, 1.0)
    one_floor = unequal.element_loss_floor([0.4, 0.6], 1.0)
    e.needs(one_floor <= one_draw)
    return {"floor": least, "weak": weak, "one_draw": one_draw, "one_floor": one_floor}


def section_6_1_limited_variation(e: Evidence) -> Numbers:
    # The ratio of draws at probabilities r and r/(1 + d), for an event that favours inclusion, and
    # one that favours exclusion.
    r, d = symbols("r d")
    most = 1 + d * r * (t - 1)
    lower = r / (1 + d)
    for signed_budget, rate, neighbour_rate in ((eps, r, lower), (-eps, lower, r)):
        here = ratio(subsampling.srs_loss(signed_budget, rate))
        there = ratio(subsampling.srs_loss(signed_budget, neighbour_rate))
        e.decides(positive(most - here / there, BUDGET | {r: SHARE, d: EVERY}))

    before = np.linspace(1, 2, 600)
    after = np.array([2.0, *before[1:]])
    here = samples.pps_rates(before, 150)
    there = samples.pps_rates(after, 150)
    exact = unequal.poisson_loss([*here, 0], [0, *there[1:], there[0]], 0.5)
    bound = unequal.poisson_loss([here[0], 0], [0, there[0]], 0.5) + np.expm1(0.5) / 4
    e.needs(exact <= bound)

    # Equal records: those independent draws that have three records are a simple random sample.
    drawn = laws.poisson(range(6), 0.5)
    fixed = laws.subsets(range(6), 3)
    three = {sample: chance for sample, chance in drawn.items() if len(sample) == 3}
    chances = [three[sample] / sum(three.values()) for sample in fixed]
    e.needs(agree(chances, list(fixed.values())))

    # Independent draws of equal records lose less than a simple random sample.
    independent = ratio(subsampling.srs_loss(eps, p)) / ratio(subsampling.srs_loss(-eps, p))
    simple = ratio(subsampling.srs_loss(2 * eps, p))
    e.proven(positive(simple - independent, BUDGET | {p: SHARE}))

    moved = unequal.systematic_loss(range(8), 0, 3.5, step=2, epsilon=0.5)
    e.same(moved, unequal.systematic_rank_shift_loss(4, 0.5))
    return {
        "exact": exact,
        "bound": bound,
        "moved": moved,
        "poisson": unequal.poisson_loss([0.5, 0], [0, 0.5], 0.5),
        "simple": subsampling.srs_loss(1.0, 0.5),
    }


def section_6_2_pps_of_clusters(e: Evidence) -> Numbers:
    size, rest, chance = symbols("size rest chance")
    e.proven(clusters_by_size())
    room = 1 + size / (rest * chance) - by_size(size, rest, chance)
    e.proven(positive(room, BUDGET | {size: (1, oo), rest: EVERY, chance: EVERY}))

    # As one cluster grows alone, its probability goes to 1 and the ratio to t.
    e.proven(limit(samples.pps_rate(size, size + rest, 1), size.expression, oo) == 1)
    e.proven(identity(limit(by_size(size, rest, chance), size.expression, oo), t))

    # Clusters of 2, of 10 and of 3 records; and one large cluster among many small ones.
    small = unequal.pps_cluster_loss([2] * 100, 0.5)
    large = unequal.pps_cluster_loss([10] * 100, 0.5)
    many = unequal.pps_cluster_loss([3] * 1000, 0.5)
    single = unequal.pps_cluster_loss(LARGE, 0.5)
    e.needs(large > 0.5)
    e.needs(many <= np.log1p(np.exp(3) / 999))
    e.needs(single > many)
    return {"small": small, "large": large, "single": single}


def worst_systematic_loss(size: int, step: int) -> float:
    """Return the largest loss over all places that the replacement of the smallest record takes."""
    records = range(size * step)
    places = np.arange(size * step + 1) - 0.5  # before, between and after the records
    return max(
        unequal.systematic_loss(records, 0, place, step=step, epsilon=0.5)
        for place in places.tolist()
    )


def section_6_3_systematic_sampling(e: Evidence) -> Numbers:
    # A kept rank: one of k known clusters, at twice the budget, with grown = t^(2m).
    k, grown = symbols("k grown")
    odds = grown / (k - 1)
    loss = ratio(subsampling.weighted_loss(2 * eps, np.log(odds) - 2 * eps))
    e.decides(identity(loss, 1 + (t * t - 1) / (1 + (k - 1) * t * t / grown)))
    e.decides(positive(t * t - loss, BUDGET | {k: (1, oo), grown: EVERY}))
    e.decides(identity(limit(loss, grown.expression, oo), t * t))

    # A secret random order: all orders of four records, of which every second is drawn.
    orders = [laws.every_kth(order, 2) for order in permutations(range(4))]
    mixed = laws.mixture((1 / len(orders), law) for law in orders)
    simple = laws.subsets(range(4), 2)
    e.needs(mixed.keys() == simple.keys())
    e.needs(agree([mixed[sample] for sample in simple], list(simple.values())))

    # Ranks that shift.
    shifted = unequal.systematic_rank_shift_loss(4, 0.5)
    odd = [worst_systematic_loss(3, 2), worst_systematic_loss(5, 3)]
    e.same(worst_systematic_loss(4, 2), shifted)
    e.sure(shifted > 1)
    e.sure(odd[0] > 3 * 0.5)
    e.sure(odd[1] > 5 * 0.5)

    kept = unequal.systematic_rank_preserving_loss(4, 2, 0.5)
    e.needs(kept <= 1)
    return {
        "random": subsampling.srs_loss(1.0, 0.5),
        "kept": kept,
        "shifted": shifted,
        "odd": joined(odd),
    }


def section_6_3_duplicates_and_strata(e: Evidence) -> Numbers:
    # Every k-th place: a record with c copies is drawn with the probability c/k.
    c, k, m = symbols("c k m")
    e.proven(identity(samples.pps_rate(c, k * m, m), c / k))

    # Of a k + b places in a row, with k = b + rest, either a or a + 1 are drawn.
    a, b, rest = symbols("a b rest")
    share = a + b / (b + rest)
    box = {a: EVERY, b: EVERY, rest: EVERY}
    e.proven(positive(1 - (share - a), box))
    e.proven(positive(1 - (a + 1 - share), box))

    # Four records with copies.
    copies = np.array([1, 2, 3, 2])
    step = 4
    with_copies = np.repeat(np.arange(4), copies).tolist()
    law = laws.every_kth(with_copies, step)
    chances = [
        sum(chance for sample, chance in law.items() if record in sample) for record in range(4)
    ]
    e.needs(agree(chances, samples.pps_rates(copies, copies.sum() / step)))

    # Three strata in a row, and how many of each are drawn from every start.
    sizes = np.array([5, 11, 8])
    stratum = np.repeat(np.arange(3), sizes)
    counts = np.array([np.bincount(stratum[start::step], minlength=3) for start in range(step)])
    shares = strata.Strata(sizes).proportional(1 / step)
    e.needs(agree(counts.mean(axis=0), shares))
    e.needs((np.abs(counts - shares) < 1).all())
    return {"chances": joined(chances, "g"), "furthest": np.abs(counts - shares).max()}
