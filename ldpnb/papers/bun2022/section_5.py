"""What decides Section 5 of bun2022, cluster sampling: a check for each claim.

Given the changed cluster an event has chance `a`.
"""

from typing import Any

import numpy as np
import sympy

from ldpnb.arithmetic import Floats, Real, Symbol
from ldpnb.claims import WORDS, Evidence, Numbers, agree, joined, within
from ldpnb.deciders import budget, identity, limit, oo, positive, sign_changes, symbols
from ldpnb.designs import laws, strata
from ldpnb.papers.bun2022.formulas import clusters
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.papers.bun2022.section_2 import SAMPLES, simple_random_sampling, small_budgets
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
    """Return the largest loss over all mechanisms on the drawn clusters' records, each kept at a rate, by program."""

    def sample(population: list[list[Any]]) -> laws.Law:
        chosen = laws.whole_clusters(population, drawn)
        return laws.mixture((chance, laws.poisson(some, rate)) for some, chance in chosen.items())

    whole = [[(i, record) for record in range(size)] for i, size in enumerate(sizes)]
    other = [whole[0][1:] + [(0, -1)] * (neighbours == "replacement"), *whole[1:]]
    return optimiser.largest_loss(sample(whole), sample(other), epsilon=epsilon).loss


def bound_by_odds(own: int, other: int, rate: float, epsilon: float) -> float:
    """Return ``B(other)`` from the chances, given the best mechanism's tail, that the cluster was drawn and was not."""
    drawn, missed = rate * np.exp(epsilon * own), (1 - rate) * np.exp(-epsilon * other)
    return float(np.log((drawn + missed) / (drawn * np.exp(-epsilon) + missed)))


def by_odds(chances: Real) -> Real:
    """Return ``e^loss`` if the odds that the changed cluster was drawn are `chances`, given the best tail."""
    return ratio(subsampling.weighted_loss(eps, np.log(chances) - eps))


def cluster_bound(growth: Real) -> Real:
    """Return ``e^B(x)`` where ``t^(n_1 - 1 + x) = growth``."""
    records = Symbol(sympy.log(growth.expression) / sympy.log(t.expression))
    return ratio(clusters.cluster_loss_at(records, epsilon=eps, changed_size=1, sampling_rate=p))


def grows_with_odds() -> bool | None:
    """Show that the loss grows with the odds, so with the smallest and against the largest weight, and is below eps."""
    exact = identity(by_odds(odds), (1 + odds) / (1 + odds / t))
    rises = positive(by_odds(odds + more) - by_odds(odds), BUDGET | {odds: EVERY, more: EVERY})
    return exact and rises and positive(t - by_odds(odds), BUDGET | {odds: EVERY})


def kept_at_a_rate() -> bool | None:
    """With ``g/t <= g' <= t g``, ``(1-q) g + q g'`` is within the factor ``1 + q(t - 1)`` of ``g``."""
    after = ratio(subsampling.srs_loss(eps, q))
    return identity((1 - q) + q * t, after) and positive(
        (1 - q) + q / t - 1 / after, BUDGET | {q: SHARE}
    )


def everywhere(method: str, designs: Any = DESIGNS) -> Floats:
    return np.array(
        [getattr(ClusterSample(sizes, drawn), method)(epsilon) for sizes, drawn, epsilon in designs]
    )


def theorem_5_1(e: Evidence) -> Numbers:
    at = p / (1 - p) * t * grown
    e.proven(identity(cluster_bound(grown), by_odds(at)) and grows_with_odds())
    lower, upper, exact = everywhere("lower_bound"), everywhere("upper_bound"), everywhere("loss")
    e.needs(
        ((lower > 0) & (lower <= exact + 1e-12)).all()
        and (lower <= upper).all()
        and agree(lower[:3], exact[:3])
    )
    misread = clusters.cluster_loss_at(
        1, epsilon=1.0, changed_size=2, sampling_rate=1 / 4
    )  # the other reading of n_1
    e.sure(misread > exact[0])
    return {"slack": (exact - lower)[3:].min(), "misread": misread, "optimum": exact[0]}


def theorem_5_2(e: Evidence) -> Numbers:
    g, a, one, two = symbols(
        "g a one two"
    )  # a <= g b, and the neighbour's a' >= a/t; its own side has smaller odds
    other, missed = a / t + one, a / g + two
    surplus = cluster_bound(g / t) * (p * other + (1 - p) * missed) - (p * a + (1 - p) * missed)
    e.proven(positive(surplus, BUDGET | {p: SHARE, g: (1, oo), a: EVERY, one: EVERY, two: EVERY}))
    e.proven(grows_with_odds() and small_budgets())
    # as ln(1 + w(t - 1)) >= w eps, eps - B is less than (1/p - 1) t^-(n_1 - 1 + n) eps
    short, box = (1 / p - 1) / grown, {p: SHARE, grown: EVERY}
    e.proven(identity(cluster_bound(grown), 1 + (t - 1) / (1 + short)))
    e.proven(
        positive(t - cluster_bound(grown), BUDGET | box)
        and positive(1 / (1 + short) - (1 - short), box)
    )
    lower, exact, upper = map(everywhere, ("lower_bound", "loss", "upper_bound"))
    e.needs(
        ((lower <= exact + 1e-12) & (exact <= upper + 1e-12)).all() and agree(lower[:3], upper[:3])
    )
    for steps, relation in enumerate(RELATIONS, 1):
        losses = [
            ClusterSample(s, m).loss(epsilon, neighbours=relation) / epsilon
            for s, m, epsilon in DESIGNS
        ]
        e.needs(max(losses) <= steps)
    sizes = (1, 10, 20, 40, 80)
    lost = everywhere("lower_bound", [((n,) * 10, 1, 0.1) for n in sizes]) / 0.1
    shown = {"lost": joined(100 * lost, ".2f"), "sizes": ",".join(map(str, sizes))}
    return shown | {"lower": lower[3], "exact": exact[3], "upper": upper[3]}


def section_5_1_shares_of_clusters_and_records(e: Evidence) -> Numbers:
    first, second, m, n = symbols("first second m n")  # sums of the values and of their squares
    one, two = m / n, m * (m - 1) / (n * (n - 1))  # chances of a record and of a pair to be drawn
    e.proven(identity(one * first / m, first / n))
    square = (one * second + two * (first * first - second)) / (m * m)
    variance = (second - first * first / n) / (n - 1)
    e.proven(identity(square - (first / n) * (first / n), strata.mean_variance(n, variance, m)))
    shares = np.array([1, 2, 1, 2, 1, 2]) / 9
    e.needs(within("about", shares, np.full(6, 1 / 6)))
    return {"least": shares.min(), "most": shares.max()}


def equation_3(e: Evidence) -> Numbers:
    at, whole = p / (1 - p) * t * t, ratio(subsampling.srs_loss(2 * eps, p))
    e.proven(simple_random_sampling() and identity(cluster_bound(t), by_odds(at)))
    e.proven(identity(ratio(subsampling.weighted_loss(2 * eps, np.log(at) - 2 * eps)), whole))
    e.proven(positive(whole - cluster_bound(t), BUDGET | {p: SHARE}))
    closed = [subsampling.srs_loss(epsilon, m / n) for n, m, epsilon in SAMPLES]
    e.needs(
        agree(
            closed,
            [
                ClusterSample([1] * n, m).loss(s / 2, neighbours="replacement")
                for n, m, s in SAMPLES
            ],
        )
    )
    return {"closed": closed[0], "single": ClusterSample([1] * 5, 2).loss(0.5)}


def theorem_5_3(e: Evidence) -> Numbers:
    s, beta, a = symbols("s beta a")  # chances a, a/s in the neighbour, beta a without the cluster
    test = {"confusion": beta, "sampling_rate": p}
    strong = ratio(clusters.identified_cluster_loss_lower_bound(budget(s), **test))
    weak = ratio(
        clusters.identified_cluster_loss_weak_bound(budget(s), **test, epsilon=budget(s * t))
    )
    revealed = ratio(
        clusters.identified_cluster_loss_lower_bound(budget(s), confusion=0 * beta, sampling_rate=p)
    )
    e.proven(identity(strong, (p * a + (1 - p) * beta * a) / (p * a / s + (1 - p) * beta * a)))
    e.proven(identity(revealed, s))
    e.proven(positive(strong - weak, BUDGET | {s: (1, oo), p: SHARE, beta: EVERY}))
    e.proven(identity(weak, p / (p / s + (1 - p) * beta * t)))
    known = [
        {
            "confusion": ClusterSample(sizes, drawn).identifying_confusion(epsilon),
            "sampling_rate": drawn / len(sizes),
        }
        for sizes, drawn, epsilon in UNEQUAL
    ]
    spent = [epsilon for *_, epsilon in UNEQUAL]
    optimal = [
        clusters.identified_cluster_loss_lower_bound(b, **test)
        for b, test in zip(spent, known, strict=True)
    ]
    weakened = clusters.identified_cluster_loss_weak_bound(spent[0], **known[0], epsilon=spent[0])
    e.needs(agree(optimal, everywhere("loss", UNEQUAL)))
    return {"optimal": optimal[0], "weakened": weakened}


def section_5_2_two_stage_sampling(e: Evidence) -> Numbers:
    (n,) = symbols("n")
    e.proven(kept_at_a_rate())
    first = clusters.cluster_loss_at(n, epsilon=small, changed_size=1, sampling_rate=p)
    for loss, share in ((subsampling.srs_loss(small, q), q), (first, p)):
        e.proven(identity(limit(loss / small, small.expression, 0), share))
    x = sympy.Symbol(
        "x", positive=True
    )  # q (e^x - 1) is at most the word's ratio times q x, up to 0.18
    surplus = sympy.nsimplify(WORDS["about"], rational=True) * x - sympy.exp(x) + 1
    e.proven(
        identity(ratio(subsampling.srs_loss(eps, q)) - 1, q * (t - 1))
        and sign_changes(surplus, x) == 1
    )
    e.proven(bool(surplus.subs(x, sympy.Rational("0.18")) > 0))
    # attained where every cluster is drawn
    e.same(
        ClusterSample((2, 1), 2).two_stage_upper_bound(0.5, 0.4), largest((2, 1), 2, 0.5, rate=0.4)
    )
    gaps = []
    for sizes, drawn, epsilon, rate in TWO_STAGES:
        bounded = ClusterSample(sizes, drawn).two_stage_upper_bound(epsilon, rate)
        spent = largest((1,), 1, epsilon, rate=rate)  # by one record alone
        e.same(bounded, bound_by_odds(sizes[0], max(sizes[1:]), drawn / len(sizes), spent))
        gaps.append(100 * (bounded / largest(sizes, drawn, epsilon, rate=rate) - 1))
    e.needs(min(gaps) >= -1e-10)
    records = (1, 5, 10, 26, 50)
    designs = [ClusterSample([size] * 10, 1) for size in records]
    shares = [
        design.two_stage_upper_bound(0.1, 0.1) / design.upper_bound(0.1) / 0.1 for design in designs
    ]
    numbers = {"shares": joined(shares, ".2f"), "sizes": ",".join(map(str, records))}
    return numbers | {"least": min(gaps), "most": max(gaps), "cases": len(TWO_STAGES)}
