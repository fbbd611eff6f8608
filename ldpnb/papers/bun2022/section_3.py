"""What decides Section 3 of bun2022, random sample sizes: a check for each claim."""

import numpy as np
import sympy

from ldpnb.arithmetic import Real, Symbol
from ldpnb.claims import Evidence, Numbers, joined, within
from ldpnb.deciders import identity, limit, oo, positive, replaced, symbols
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


def random_laws() -> list[tuple[SizeLaw, float]]:
    """Return laws on the sizes of a sample from three or four records, nearly fixed to spread, each with a budget."""
    rng = stream("laws of sample sizes", seed=3)
    drawn = [rng.dirichlet(np.full(n + 1, spread)) for n in (3, 4) for spread in (0.2, 1.0, 5.0)]
    return [
        (sizes.size_law(law), epsilon)
        for law, epsilon in zip(drawn, (0.1, 0.5, 1.5) * 2, strict=True)
    ]


WEIGHTS = symbols("l0 l1 l2 l3")
LAW = SizeLaw(np.array([np.log(w) for w in WEIGHTS]))
TILTED = [w * t**m for m, w in enumerate(WEIGHTS)]
"""A law of the size of a sample from three records, and its reweighting by the budget."""


def one_record_law(rate: Real, growth: Real = t) -> SizeLaw:
    """Return weights on the sizes 0 and 1 with ``E~ = rate``, for the bounds depend on a law by ``E~`` alone."""
    return SizeLaw(np.array([np.log((1 - rate) * growth), np.log(rate)]))


def bounds_of_a_rate() -> bool | None:
    """Place every bound between two multiples of ``E~``, by its slope in epsilon.

    ``2 eps E < upper < (t^2 - 1) E``, ``(1 - 1/t) E < lower < eps E`` and ``(1 - 1/t^2) E < improved < 2 eps E``.
    """
    growth = np.exp(small)
    law = one_record_law(p, growth)
    upper = random_size.random_size_upper_bound(law, small)
    lower = random_size.random_size_lower_bound(law, small)
    improved = random_size.random_size_lower_bound_pm1(law, small)
    gaps = (
        *(upper - 2 * small * p, (growth**2 - 1) * p - upper),
        *(lower - (1 - 1 / growth) * p, small * p - lower),
        *(improved - (1 - 1 / growth**2) * p, 2 * small * p - improved),
    )
    return all(grows(gap, {p: SHARE}) for gap in gaps)


def from_above() -> bool | None:
    """Show that an event loses ``(1 + t R)/(1 + R/t)``, which grows with ``R`` and is the bound at ``t E~/(1-E~)``.

    ``R = sum v a / sum u a`` with ``u = l(m) (1 - m/n)`` and ``v = l(m+1) (m+1)/n``: as ``a(m-1) <= t a(m)``, ``R <= t
    E/(1 - E)`` with ``E`` the mean of ``m/n`` under ``l(m) a(m)``, at most ``E~`` by Lemma B.3.
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
    """Show that the noisy sum's tail, of chance ``t^sum``, loses the bounds when a one falls by 1 or by 2."""
    for step, form in (
        (1, random_size.random_size_lower_bound),
        (2, random_size.random_size_lower_bound_pm1),
    ):
        fallen = [w * (1 - sympy.Rational(m, 3) * (1 - 1 / t**step)) for m, w in enumerate(TILTED)]
        bound = identity(np.exp(form(one_record_law(x), eps)), 1 / (1 - (1 - 1 / t**step) * x))
        if not (bound and identity(np.exp(form(LAW, eps)), sum(TILTED) / sum(fallen))):
            return False
    return True


def largest_size_decides() -> bool | None:
    """Show that sizes of at most ``M`` lose less than the fixed size ``M``, for ``E~ <= M/n`` and the bound grows.

    The fixed size attains its bound (Theorem 2.2 at ``2 eps``).
    """
    at_most_two = SizeLaw(np.array([*LAW.log_probabilities[:3], Symbol(-oo)]))
    fixed = SizeLaw(np.array([Symbol(-oo), Symbol(-oo), Symbol(0), Symbol(-oo)]))
    at_most, at_two = (
        np.exp(random_size.random_size_upper_bound(one, eps)) for one in (at_most_two, fixed)
    )
    same = identity(at_two, np.exp(subsampling.srs_loss(2 * eps, Symbol("2/3"))))
    return same and positive(at_two - at_most, BUDGET | dict.fromkeys(WEIGHTS[:3], EVERY))


def short_of_the_whole() -> bool:
    """Show that the improved bound is ``2 eps - ln(1 + (t^2 - 1)(1 - E~))``, short of the whole by ``1 - E~`` alone."""
    bound = np.exp(random_size.random_size_lower_bound_pm1(one_record_law(x), eps))
    return identity(bound * (1 + (t**2 - 1) * (1 - x)), t**2)


def section_1_1_characterisation(e: Evidence) -> Numbers:
    e.proven(bounds_of_a_rate())
    law = one_record_law(p)
    bounds = random_size.random_size_upper_bound, random_size.random_size_lower_bound
    upper, lower = (np.exp(bound(law, eps)) - 1 for bound in bounds)
    widest = limit(upper / lower, p.expression, 0)  # ln(1 + x) is x to first order
    e.proven(identity(widest, t * (t + 1)))
    logs = (-oo, 0, -oo), (2 * eps.expression, -oo, sympy.Integer(0))
    one, other = (SizeLaw(np.array([Symbol(weight) for weight in some])) for some in logs)
    e.proven(
        all(
            identity(random_size.tilted_rate(both, eps), sympy.Rational(1, 2))
            for both in (one, other)
        )
    )
    fixed = np.exp(random_size.random_size_upper_bound(one, eps))
    spread = np.exp(
        random_size.random_size_lower_bound_pm1(other, eps)
    )  # exact: the event's odds are at most 1/t
    e.proven(identity(fixed, (1 + t**2) / 2) and identity(spread, 2 / (1 + 1 / t**2)))
    e.proven(positive(fixed - spread, BUDGET))
    losses = [random_size.random_size_loss(law, 2.0) for law in EVEN_ODDS]
    e.needs(within("near", *losses))
    return {"one": losses[0], "other": losses[1]}


def theorem_3_1(e: Evidence) -> Numbers:
    e.proven(
        tilting()
        and from_above()
        and from_below()
        and largest_size_decides()
        and bounds_of_a_rate()
    )
    names = ("loss", "upper_bound", "lower_bound", "lower_bound_pm1")
    forms = [getattr(random_size, f"random_size_{name}") for name in names]
    exact, upper, lower, improved = (
        np.array([form(*case) for case in random_laws()]) for form in forms
    )
    e.needs(
        (lower < improved).all()
        and (improved <= exact + 1e-12).all()
        and (exact <= upper + 1e-12).all()
    )
    tiny = sizes.truncated_gaussian_size(100, 20.0, 4.0), 1e-7
    unit = 1e-7 * random_size.tilted_rate(*tiny)
    above, below, closed = (form(*tiny) / unit for form in forms[1:])
    shown = {"above": above, "below": below, "closed": closed}
    return shown | {"least": (upper - exact).min(), "most": (upper - exact).max()}


def section_3_tails(e: Evidence) -> Numbers:
    g, share, c, mu, v = symbols(
        "g share c mu v"
    )  # g = t^(n - share n), which grows without bound in n
    rate = (p * g + (1 - p) * share) / (p * g + 1 - p)
    heavy = SizeLaw(
        np.array([Symbol(-oo), np.log(1 - p), Symbol(-oo), np.log(p)])
    )  # one record of three, or all
    third = replaced(replaced(rate, share, Symbol("1/3")), g, t * t)
    e.proven(identity(random_size.tilted_rate(heavy, eps), third) and short_of_the_whole())
    e.proven(positive((1 - p) / (p * g) - (1 - rate), {p: SHARE, g: (1, oo), share: SHARE}))
    beyond = small * (
        1 + c
    )  # the slope at epsilon of a convex function is below that of any chord beyond
    chord = (beyond * mu + beyond**2 * v / 2 - small * mu) / (c * small)
    e.proven(identity(chord, mu + 2 * small * v + small * v * (1 - c) ** 2 / (2 * c)))
    bound = np.exp(random_size.random_size_upper_bound(one_record_law(x), eps))
    e.proven(identity(t**2 - bound, (t**2 - 1) * (1 - x)))
    epsilon, chance, n, m = 1.5, 1e-3, 12, 2
    law = sizes.size_law({m: 1 - chance, n: chance})
    missing = float(
        np.log1p(np.expm1(2 * epsilon) * (1 - chance) / chance * np.exp((m - n) * epsilon))
    )
    loss = random_size.random_size_loss(law, epsilon)
    e.needs(
        2 * epsilon - missing
        <= random_size.random_size_lower_bound_pm1(law, epsilon)
        <= loss + 1e-12
    )
    return {"loss": loss}


def figure_2(e: Evidence) -> Numbers:
    m, n, mu, deviation, root = symbols("m n mu deviation root")

    def log_weight(size: Real) -> Real:
        return small * size - (size - mu) ** 2 / (2 * deviation**2)

    steepness, rest = (
        small - (n - mu) / deviation**2,
        (n - m) / deviation**2 + 1 / (2 * deviation**2),
    )
    e.proven(identity(log_weight(m) - log_weight(m - 1), steepness + rest) and short_of_the_whole())
    law = one_record_law(
        1 - (root**2 - 1) / (root**22 - 1), root**11
    )  # root = t^(1/11): 10/11 of 2 epsilon
    e.proven(
        identity(np.exp(random_size.random_size_lower_bound_pm1(law, np.log(root**11))), root**20)
    )
    records, mean, epsilon = 40, 8.0, 0.5
    deviations = np.array([0.1, 1.0, 2.0, 10.0, 15.0, 20.0])
    sized = [sizes.truncated_gaussian_size(records, mean, one) for one in deviations]
    exact = np.array([random_size.random_size_loss(one, epsilon) for one in sized])
    e.same(exact[0], subsampling.srs_loss(2 * epsilon, mean / records))
    steep = epsilon - (records - mean) / deviations[3:] ** 2
    falls = [
        np.diff(one.log_probabilities).min() + epsilon for one in sized[3:]
    ]  # per record less, reweighted
    e.sure((np.array(falls) >= steep).all())
    floors = 2 * epsilon - np.log1p(np.expm1(2 * epsilon) / (records * np.expm1(steep)))
    rates = [one.probabilities @ np.arange(records + 1) / records for one in sized[3:]]
    e.needs(
        (exact[3:] >= floors).all() and within("about", exact[4:], 2 * epsilon) and max(rates) < 0.5
    )
    e.sure(records * np.expm1(steep[2]) >= np.expm1(2 * epsilon) / np.expm1(2 * epsilon / 11))
    e.sure(exact[2] < exact[1] < exact[0])  # a little randomness in the size lowers the loss first
    return {"losses": joined(exact), "rate": rates[-1], "deviations": joined(deviations, "g")}
