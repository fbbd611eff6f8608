"""Check the claims of Section 3 of Bun and others (2022), on random sample sizes."""

import numpy as np
import sympy

from ldpnb.arithmetic import Real, Symbol
from ldpnb.claims import Evidence, Numbers, joined, within
from ldpnb.deciders import identity, oo, positive, replaced, symbols
from ldpnb.papers.bun2022.formulas import random_size, sizes
from ldpnb.papers.bun2022.formulas.sizes import SizeLaw
from ldpnb.papers.bun2022.section_2 import tilting
from ldpnb.papers.bun2022.shared import BUDGET, EVERY, SHARE, eps, grows, p, small, t, x
from ldpnb.privacy import subsampling
from ldpnb.rng import stream

EVEN_ODDS = (
    sizes.fixed_size(1, 2),
    sizes.size_law([np.e**4 / (1 + np.e**4), 0.0, 1 / (1 + np.e**4)]),
)
"""One of two records; none or both, with the same reweighted rate of 1/2 at epsilon 2."""

WEIGHTS = symbols("l0 l1 l2 l3")
LAW = SizeLaw(np.array([np.log(w) for w in WEIGHTS]))
TILTED = [w * t**m for m, w in enumerate(WEIGHTS)]
"""A distribution of the size of a sample from three records, and its weights by the budget."""


def random_laws() -> list[tuple[SizeLaw, float]]:
    """Return distributions of the size of a sample from three or four records, with budgets.

    They range from nearly fixed sizes to widely spread ones.
    """
    rng = stream("laws of sample sizes", seed=3)
    cases = []
    for records in (3, 4):
        for spread, epsilon in ((0.2, 0.1), (1.0, 0.5), (5.0, 1.5)):
            law = rng.dirichlet(np.full(records + 1, spread))
            cases.append((sizes.size_law(law), epsilon))
    return cases


def one_record_law(rate: Real, growth: Real = t) -> SizeLaw:
    """Return weights on the sizes 0 and 1 with ``E~ = rate``; the bounds depend on ``E~`` alone."""
    return SizeLaw(np.array([np.log((1 - rate) * growth), np.log(rate)]))


def bounds_of_a_rate() -> bool | None:
    """Place every bound between two multiples of ``E~``, by its slope in epsilon.

    The upper bound lies between ``2 eps E`` and ``(t^2 - 1) E``, the lower one between ``(1 -
    1/t^2) E`` and ``2 eps E``, and that of a record that falls to 0 between ``(1 - 1/t) E`` and
    ``eps E``.
    """
    growth = np.exp(small)
    law = one_record_law(p, growth)
    upper = random_size.random_size_upper_bound(law, small)
    lower = random_size.random_size_lower_bound_pm1(law, small)
    to_zero = random_size.random_size_lower_bound(law, small)

    gaps = (
        upper - 2 * small * p,
        (growth**2 - 1) * p - upper,
        lower - (1 - 1 / growth**2) * p,
        2 * small * p - lower,
        to_zero - (1 - 1 / growth) * p,
        small * p - to_zero,
    )
    return all(grows(gap, {p: SHARE}) for gap in gaps)


def from_above() -> bool | None:
    """Show that an event loses ``(1 + t R)/(1 + R/t)``, which grows with ``R``, and bound ``R``.

    ``R = sum v a / sum u a`` with ``u = l(m) (1 - m/n)`` and ``v = l(m+1) (m+1)/n``. Because
    ``a(m-1) <= t a(m)``, ``R <= t E/(1 - E)`` with ``E`` the mean of ``m/n`` under ``l(m) a(m)``,
    which is at most ``E~`` by Lemma B.3. At ``R = t E~/(1 - E~)`` the loss is the upper bound.
    """

    def lost(odds: Real) -> Real:
        return (1 + t * odds) / (1 + odds / t)

    mean = sum(w * m for m, w in enumerate(TILTED)) / sum(TILTED) / 3
    bound = np.exp(random_size.random_size_upper_bound(one_record_law(x), eps))
    rises = positive(lost(p + x) - lost(p), BUDGET | {x: EVERY, p: EVERY})
    return (
        identity(random_size.tilted_rate(LAW, eps), mean)
        and identity(bound, lost(t * x / (1 - x)))
        and rises
    )


def from_below() -> bool | None:
    """Show that the tail of the noisy sum, of probability ``t^sum``, loses the bounds.

    One of the records, all of which are 1, falls by 1 or by 2.
    """
    lower_bounds = {
        1: random_size.random_size_lower_bound,
        2: random_size.random_size_lower_bound_pm1,
    }
    for step, lower_bound in lower_bounds.items():
        lost = 1 - 1 / t**step
        after = [w * (1 - sympy.Rational(m, 3) * lost) for m, w in enumerate(TILTED)]
        by_rate = np.exp(lower_bound(one_record_law(x), eps))
        by_law = np.exp(lower_bound(LAW, eps))
        if not identity(by_rate, 1 / (1 - lost * x)):
            return False
        if not identity(by_law, sum(TILTED) / sum(after)):
            return False
    return True


def largest_size_decides() -> bool | None:
    """Show that sizes of at most ``M`` lose less than the fixed size ``M``.

    For ``E~ <= M/n``, the bound grows with ``E~``, and the fixed size attains its bound (Theorem
    2.2 at ``2 eps``).
    """
    at_most_two = SizeLaw(np.array([*LAW.log_probabilities[:3], Symbol(-oo)]))
    fixed = SizeLaw(np.array([Symbol(-oo), Symbol(-oo), Symbol(0), Symbol(-oo)]))
    at_most = np.exp(random_size.random_size_upper_bound(at_most_two, eps))
    at_two = np.exp(random_size.random_size_upper_bound(fixed, eps))

    same = identity(at_two, np.exp(subsampling.srs_loss(2 * eps, Symbol("2/3"))))
    return same and positive(at_two - at_most, BUDGET | dict.fromkeys(WEIGHTS[:3], EVERY))


def short_of_the_whole() -> bool:
    """Show that the lower bound is ``2 eps - ln(1 + (t^2 - 1)(1 - E~))``: 2 eps in the limit."""
    bound = np.exp(random_size.random_size_lower_bound_pm1(one_record_law(x), eps))
    return identity(bound * (1 + (t**2 - 1) * (1 - x)), t**2)


def section_1_1_characterisation(e: Evidence) -> Numbers:
    e.decides(bounds_of_a_rate())
    e.proven(from_above())
    e.proven(from_below())

    # Two distributions with the same rate of 1/2, whose losses differ.
    always_one = SizeLaw(np.array([Symbol(-oo), Symbol(0), Symbol(-oo)]))
    none_or_both = SizeLaw(np.array([Symbol(2 * eps.expression), Symbol(-oo), Symbol(0)]))
    for law in (always_one, none_or_both):
        e.proven(identity(random_size.tilted_rate(law, eps), sympy.Rational(1, 2)))

    fixed = np.exp(random_size.random_size_upper_bound(always_one, eps))
    spread = np.exp(random_size.random_size_lower_bound_pm1(none_or_both, eps))
    e.proven(identity(fixed, (1 + t**2) / 2))
    e.proven(identity(spread, 2 / (1 + 1 / t**2)))
    e.proven(positive(fixed - spread, BUDGET))

    losses = [random_size.random_size_loss(law, 2.0) for law in EVEN_ODDS]
    return {"factor": np.exp(0.02), "one": losses[0], "other": losses[1]}


def theorem_3_1(e: Evidence) -> Numbers:
    e.decides(tilting())
    e.decides(from_above())
    e.decides(from_below())
    e.decides(largest_size_decides())
    e.decides(bounds_of_a_rate())

    cases = random_laws()
    exact = np.array([random_size.random_size_loss(*case) for case in cases])
    upper = np.array([random_size.random_size_upper_bound(*case) for case in cases])
    lower = np.array([random_size.random_size_lower_bound_pm1(*case) for case in cases])
    to_zero = np.array([random_size.random_size_lower_bound(*case) for case in cases])
    e.needs((lower <= exact + 1e-12).all())
    e.needs((exact <= upper + 1e-12).all())
    e.sure((to_zero < lower).all())

    law = sizes.truncated_gaussian_size(100, 20.0, 4.0)
    epsilon = 1e-7
    unit = epsilon * random_size.tilted_rate(law, epsilon)
    return {
        "above": random_size.random_size_upper_bound(law, epsilon) / unit,
        "closed": random_size.random_size_lower_bound_pm1(law, epsilon) / unit,
        "below": random_size.random_size_lower_bound(law, epsilon) / unit,
        "least": (upper - exact).min(),
        "most": (upper - exact).max(),
    }


def section_3_tails(e: Evidence) -> Numbers:
    # The whole with probability p, else a share: g = t^(n - share n) grows without bound in n.
    g, share = symbols("g share")
    rate = (p * g + (1 - p) * share) / (p * g + 1 - p)
    heavy = SizeLaw(np.array([Symbol(-oo), np.log(1 - p), Symbol(-oo), np.log(p)]))
    third = replaced(replaced(rate, share, Symbol("1/3")), g, t * t)
    e.proven(identity(random_size.tilted_rate(heavy, eps), third))
    e.proven(short_of_the_whole())
    e.proven(positive((1 - p) / (p * g) - (1 - rate), {p: SHARE, g: (1, oo), share: SHARE}))

    # Light tails: the slope at epsilon of a convex function is below that of a chord beyond.
    c, mu, v = symbols("c mu v")
    beyond = small * (1 + c)
    chord = (beyond * mu + beyond**2 * v / 2 - small * mu) / (c * small)
    e.proven(identity(chord, mu + 2 * small * v + small * v * (1 - c) ** 2 / (2 * c)))
    bound = np.exp(random_size.random_size_upper_bound(one_record_law(x), eps))
    e.proven(identity(t**2 - bound, (t**2 - 1) * (1 - x)))

    # All 12 records with probability 1/1000, else 2.
    epsilon = 1.5
    chance = 1e-3
    law = sizes.size_law({2: 1 - chance, 12: chance})
    odds = (1 - chance) / chance * np.exp((2 - 12) * epsilon)
    missing = float(np.log1p(np.expm1(2 * epsilon) * odds))
    lower = random_size.random_size_lower_bound_pm1(law, epsilon)
    loss = random_size.random_size_loss(law, epsilon)
    e.needs(2 * epsilon - missing <= lower <= loss + 1e-12)
    return {"loss": loss}


def figure_2(e: Evidence) -> Numbers:
    m, n, mu, deviation, root = symbols("m n mu deviation root")

    def log_weight(size: Real) -> Real:
        return small * size - (size - mu) ** 2 / (2 * deviation**2)

    steepness = small - (n - mu) / deviation**2
    rest = (n - m) / deviation**2 + 1 / (2 * deviation**2)
    e.proven(identity(log_weight(m) - log_weight(m - 1), steepness + rest))
    e.proven(short_of_the_whole())

    # With root = t^(1/11), the lower bound is 10/11 of 2 epsilon.
    law = one_record_law(1 - (root**2 - 1) / (root**22 - 1), root**11)
    lower = np.exp(random_size.random_size_lower_bound_pm1(law, np.log(root**11)))
    e.proven(identity(lower, root**20))

    records = 40
    mean = 8.0
    epsilon = 0.5
    deviations = np.array([0.1, 1.0, 2.0, 10.0, 15.0, 20.0])
    size_laws = [sizes.truncated_gaussian_size(records, mean, one) for one in deviations]
    exact = np.array([random_size.random_size_loss(law, epsilon) for law in size_laws])
    e.same(exact[0], subsampling.srs_loss(2 * epsilon, mean / records))
    e.sure(exact[2] < exact[1] < exact[0])  # a little randomness in the size lowers the loss first

    # The three wide distributions: log weights rise by at least `steepness` a record.
    wide = size_laws[3:]
    steepness = epsilon - (records - mean) / deviations[3:] ** 2
    rises = np.array([np.diff(law.log_probabilities).min() + epsilon for law in wide])
    e.sure((rises >= steepness).all())
    e.sure(records * np.expm1(steepness[2]) >= np.expm1(2 * epsilon) / np.expm1(2 * epsilon / 11))

    floors = 2 * epsilon - np.log1p(np.expm1(2 * epsilon) / (records * np.expm1(steepness)))
    rates = [law.probabilities @ np.arange(records + 1) / records for law in wide]
    e.needs((exact[3:] >= floors).all())
    e.needs(within("about", exact[4:], 2 * epsilon))
    e.needs(max(rates) < 0.5)
    return {"losses": joined(exact), "rate": rates[-1], "deviations": joined(deviations, "g")}
