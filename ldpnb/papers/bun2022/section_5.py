"""Check the claims of Section 5 of Bun and others (2022), on cluster sampling.

Given the changed cluster, an event has probability `a`.
"""

import math
from typing import Any

import numpy as np
import sympy

from ldpnb.arithmetic import Real, Symbol
from ldpnb.claims import WORDS, Evidence, Numbers, agree, joined
from ldpnb.deciders import budget, identity, limit, oo, positive, sign_changes, symbols
from ldpnb.designs import laws, strata
from ldpnb.papers.bun2022.formulas import clusters
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.papers.bun2022.section_2 import SAMPLES, small_budgets
from ldpnb.papers.bun2022.shared import BUDGET, EVERY, RELATIONS, SHARE, eps, p, ratio, small, t
from ldpnb.privacy import optimiser, subsampling

EQUAL = (((1, 1, 1, 1), 1, 1.0), ((3, 3, 3), 1, 0.4), ((2, 2, 2, 2), 2, 0.7))
UNEQUAL = (((3, 1, 2, 4), 2, 0.5), ((2, 4, 1), 1, 0.3), ((1, 3, 2, 2), 3, 1.0))
DESIGNS = EQUAL + UNEQUAL
"""Cluster sizes, of which the first one changes; clusters drawn; epsilon."""

TWO_STAGES = (((2, 2, 2), 1, 0.5, 0.5), ((2, 1, 1), 2, 0.8, 0.3), ((1, 2), 1, 1.0, 0.7))
"""The same, and the rate at which records are kept."""

q, odds, more, grown = symbols("q odds more grown")


def largest(
    sizes: Any, drawn: int, epsilon: float, neighbours: str = "deletion", rate: float = 1
) -> float:
    """Return the largest loss over all mechanisms on the records of the drawn clusters.

    Each record is kept at a rate. The loss is found by a linear program.
    """

    def sample(population: list[list[Any]]) -> laws.Law:
        chosen = laws.whole_clusters(population, drawn)
        return laws.mixture((chance, laws.poisson(some, rate)) for some, chance in chosen.items())

    whole = [[(i, record) for record in range(size)] for i, size in enumerate(sizes)]
    other = [whole[0][1:] + [(0, -1)] * (neighbours == "replacement"), *whole[1:]]
    return optimiser.largest_loss(sample(whole), sample(other), epsilon=epsilon).loss


def bound_by_odds(own: int, other: int, rate: float, epsilon: float) -> float:
    """Return ``B(other)`` from the probability, given the best tail, that the cluster was drawn."""
    drawn = rate * np.exp(epsilon * own)
    missed = (1 - rate) * np.exp(-epsilon * other)
    return float(np.log((drawn + missed) / (drawn * np.exp(-epsilon) + missed)))


def by_odds(chances: Real) -> Real:
    """Return ``e^loss`` if `chances` are the odds, given the best tail, of the changed cluster."""
    return ratio(subsampling.weighted_loss(eps, np.log(chances) - eps))


def cluster_bound(growth: Real) -> Real:
    """Return ``e^B(x)`` where ``t^(n_1 - 1 + x) = growth``."""
    records = Symbol(sympy.log(growth.expression) / sympy.log(t.expression))
    return ratio(clusters.cluster_loss_at(records, epsilon=eps, changed_size=1, sampling_rate=p))


def grows_with_odds() -> bool | None:
    """Show that the loss grows with the odds and stays below eps."""
    exact = identity(by_odds(odds), (1 + odds) / (1 + odds / t))
    rises = positive(by_odds(odds + more) - by_odds(odds), BUDGET | {odds: EVERY, more: EVERY})
    return exact and rises and positive(t - by_odds(odds), BUDGET | {odds: EVERY})


def kept_at_a_rate() -> bool | None:
    """Show that ``(1-q) g + q g'`` is within the factor ``1 + q(t - 1)`` of ``g``.

    It is assumed that ``g/t <= g' <= t g``.
    """
    after = ratio(subsampling.srs_loss(eps, q))
    above = identity((1 - q) + q * t, after)
    return above and positive((1 - q) + q / t - 1 / after, BUDGET | {q: SHARE})


def losses(designs: Any = DESIGNS) -> list[float]:
    """Return the exact losses of designs under deletion."""
    return [ClusterSample(sizes, drawn).loss(epsilon) for sizes, drawn, epsilon in designs]


def lower_bounds(designs: Any = DESIGNS) -> list[float]:
    """Return the bounds of Theorem 5.1 of designs."""
    return [ClusterSample(sizes, drawn).lower_bound(epsilon) for sizes, drawn, epsilon in designs]


def upper_bounds(designs: Any = DESIGNS) -> list[float]:
    """Return the bounds of Theorem 5.2 of designs."""
    return [ClusterSample(sizes, drawn).upper_bound(epsilon) for sizes, drawn, epsilon in designs]


def theorem_5_1(e: Evidence) -> Numbers:
    at = p / (1 - p) * t * grown
    e.decides(identity(cluster_bound(grown), by_odds(at)))
    e.decides(grows_with_odds())

    lower = np.array(lower_bounds())
    exact = np.array(losses())
    e.needs((lower > 0).all())
    e.needs((lower <= exact + 1e-12).all())
    e.needs(agree(lower[:3], exact[:3]))

    # The other reading of n_1, for one of four clusters of one record.
    misread = clusters.cluster_loss_at(1, epsilon=1.0, changed_size=2, sampling_rate=1 / 4)
    e.sure(misread > exact[0])
    return {"slack": (exact - lower)[3:].min(), "misread": misread, "optimum": exact[0]}


def theorem_5_2(e: Evidence) -> Numbers:
    # a <= g b, and the neighbour's a' >= a/t; its own side has smaller odds.
    g, a, one, two = symbols("g a one two")
    other = a / t + one
    missed = a / g + two
    surplus = cluster_bound(g / t) * (p * other + (1 - p) * missed) - (p * a + (1 - p) * missed)
    box = BUDGET | {p: SHARE, g: (1, oo), a: EVERY, one: EVERY, two: EVERY}
    e.decides(positive(surplus, box))
    e.decides(grows_with_odds())
    e.proven(small_budgets())

    # As ln(1 + w(t - 1)) >= w eps, eps - B is less than (1/p - 1) t^-(n_1 - 1 + n) eps.
    short = (1 / p - 1) / grown
    e.proven(identity(cluster_bound(grown), 1 + (t - 1) / (1 + short)))
    e.proven(positive(t - cluster_bound(grown), BUDGET | {p: SHARE, grown: EVERY}))
    e.proven(positive(1 / (1 + short) - (1 - short), {p: SHARE, grown: EVERY}))

    lower = np.array(lower_bounds())
    exact = np.array(losses())
    upper = np.array(upper_bounds())
    e.needs((exact <= upper + 1e-12).all())
    e.needs(agree(lower[:3], upper[:3]))
    for steps, relation in enumerate(RELATIONS, 1):
        for sizes, drawn, epsilon in DESIGNS:
            loss = ClusterSample(sizes, drawn).loss(epsilon, neighbours=relation)
            e.needs(loss <= steps * epsilon)

    # Clusters of one record against equation (3), a replacement being two deletions.
    single_records = p / (1 - p) * t * t
    whole = ratio(subsampling.srs_loss(2 * eps, p))
    e.proven(identity(cluster_bound(t), by_odds(single_records)))
    replaced = ratio(subsampling.weighted_loss(2 * eps, np.log(single_records) - 2 * eps))
    e.proven(identity(replaced, whole))
    e.proven(positive(whole - cluster_bound(t), BUDGET | {p: SHARE}))
    closed = [subsampling.srs_loss(epsilon, m / n) for n, m, epsilon in SAMPLES]
    by_clusters = [
        ClusterSample([1] * n, m).loss(epsilon / 2, neighbours="replacement")
        for n, m, epsilon in SAMPLES
    ]
    e.same(closed, by_clusters)

    records = (1, 10, 20, 40, 80)
    lost = [100 * bound / 0.1 for bound in lower_bounds([((n,) * 10, 1, 0.1) for n in records])]
    return {
        "lost": joined(lost, ".2f"),
        "sizes": ",".join(map(str, records)),
        "lower": lower[3],
        "exact": exact[3],
        "upper": upper[3],
        "single": ClusterSample([1] * 5, 2).loss(0.5),
        "closed": subsampling.srs_loss(1.0, 2 / 5),
    }


def section_5_1_shares_of_clusters_and_records(e: Evidence) -> Numbers:
    # The mean and the variance of the mean size of the clusters that are drawn: m of k clusters,
    # with the sums of their sizes and of their squares.
    m, k, first, second = symbols("m k first second")
    one = m / k  # the probability of a cluster to be drawn
    two = m * (m - 1) / (k * (k - 1))  # and of a pair
    e.proven(identity(one * first / m, first / k))
    square = (one * second + two * (first * first - second)) / (m * m)
    variance = (second - first * first / k) / (k - 1)
    drawn = strata.mean_variance(k, variance, m)
    e.proven(identity(square - (first / k) * (first / k), drawn))

    # Relative to the mean size, at the rate p and with N records in clusters of that mean size.
    spread, rate, records, mean, growth = symbols("spread rate records mean growth")
    count = records / mean
    relative = strata.mean_variance(count, spread * spread, rate * count)
    e.proven(identity(relative, spread * spread * (1 - rate) * mean / (rate * records)))

    fewer = records / (mean + growth)
    larger = strata.mean_variance(fewer, spread * spread, rate * fewer)
    every = dict.fromkeys((spread, mean, growth, records), EVERY)
    e.decides(positive(larger - relative, every | {rate: SHARE}))
    e.decides(limit(relative, mean.expression, 0) == 0)

    # Sizes s and 2s in equal numbers, for many clusters: the spread is 1/3 of the mean.
    numbers = {}
    for name, size in {"one": 1, "ten": 10, "hundred": 100, "thousand": 1000}.items():
        count = 120_000 / (1.5 * size)
        numbers[name] = math.sqrt(strata.mean_variance(count, 1 / 9, 0.1 * count))
    return numbers


def theorem_5_3(e: Evidence) -> Numbers:
    # Probabilities a, a/s in the neighbour, and beta a without the cluster.
    s, beta, a = symbols("s beta a")
    test = {"confusion": beta, "sampling_rate": p}
    strong = ratio(clusters.identified_cluster_loss_lower_bound(budget(s), **test))
    weak = ratio(
        clusters.identified_cluster_loss_weak_bound(budget(s), **test, epsilon=budget(s * t))
    )
    revealed = ratio(
        clusters.identified_cluster_loss_lower_bound(budget(s), confusion=0 * beta, sampling_rate=p)
    )
    here = p * a + (1 - p) * beta * a
    there = p * a / s + (1 - p) * beta * a
    e.decides(identity(strong, here / there))
    e.decides(identity(revealed, s))
    e.proven(positive(strong - weak, BUDGET | {s: (1, oo), p: SHARE, beta: EVERY}))
    e.proven(identity(weak, p / (p / s + (1 - p) * beta * t)))

    optimal = []
    weakened = []
    for sizes, drawn, epsilon in UNEQUAL:
        confusion = ClusterSample(sizes, drawn).identifying_confusion(epsilon)
        known = {"confusion": confusion, "sampling_rate": drawn / len(sizes)}
        optimal.append(clusters.identified_cluster_loss_lower_bound(epsilon, **known))
        weakened.append(
            clusters.identified_cluster_loss_weak_bound(epsilon, **known, epsilon=epsilon)
        )
    e.needs(agree(optimal, losses(UNEQUAL)))
    return {"optimal": optimal[0], "weakened": weakened[0]}


def section_5_2_two_stage_sampling(e: Evidence) -> Numbers:
    e.decides(kept_at_a_rate())
    (n,) = symbols("n")
    first = clusters.cluster_loss_at(n, epsilon=small, changed_size=1, sampling_rate=p)
    kept = subsampling.srs_loss(small, q)
    e.decides(identity(limit(kept / small, small.expression, 0), q))
    e.proven(identity(limit(first / small, small.expression, 0), p))

    # q (e^x - 1) is at most q x times the ratio that counts as "about", up to x = 0.18.
    x = sympy.Symbol("x", positive=True)
    surplus = sympy.nsimplify(WORDS["about"], rational=True) * x - sympy.exp(x) + 1
    e.proven(identity(ratio(subsampling.srs_loss(eps, q)) - 1, q * (t - 1)))
    e.proven(sign_changes(surplus, x) == 1)
    e.proven(bool(surplus.subs(x, sympy.Rational("0.18")) > 0))

    # The bound is attained where every cluster is drawn.
    attained = ClusterSample((2, 1), 2).two_stage_upper_bound(0.5, 0.4)
    e.same(attained, largest((2, 1), 2, 0.5, rate=0.4))

    gaps = []
    for sizes, drawn, epsilon, rate in TWO_STAGES:
        bounded = ClusterSample(sizes, drawn).two_stage_upper_bound(epsilon, rate)
        spent = largest((1,), 1, epsilon, rate=rate)  # by one record alone
        e.same(bounded, bound_by_odds(sizes[0], max(sizes[1:]), drawn / len(sizes), spent))
        gaps.append(100 * (bounded / largest(sizes, drawn, epsilon, rate=rate) - 1))
    e.needs(min(gaps) >= -1e-10)

    records = (1, 5, 10, 26, 50)
    shares = []
    for size in records:
        design = ClusterSample([size] * 10, 1)
        shares.append(design.two_stage_upper_bound(0.1, 0.1) / design.upper_bound(0.1) / 0.1)
    return {
        "shares": joined(shares, ".2f"),
        "sizes": ",".join(map(str, records)),
        "least": min(gaps),
        "most": max(gaps),
        "cases": len(TWO_STAGES),
    }
