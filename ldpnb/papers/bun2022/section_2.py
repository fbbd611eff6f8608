"""Check the claims of Section 2 of Bun and others (2022), and of their Appendices A and B."""

from itertools import combinations

import numpy as np

from ldpnb.arithmetic import Symbol
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import budget, identity, positive, symbols
from ldpnb.designs import laws
from ldpnb.papers.bun2022.shared import BUDGET, EVERY, SHARE, eps, grows, p, small, t, x
from ldpnb.privacy import lemmas, optimiser, subsampling

SAMPLES = ((5, 2, 0.5), (4, 3, 1.5), (6, 2, 0.1))
"""Cases of a simple random sample: the number of records, how many are drawn, and epsilon."""

FIVE = ([0.6, 0.1, 0.0, 0.2, 0.1], [1.0, 1.0, 2.0, 2.0, 5.0], 0.3)
"""A distribution on five sizes, a nondecreasing function of them, and epsilon."""


def small_budgets() -> bool | None:
    """Show that the loss lies between ``p epsilon`` and ``p (e^epsilon - 1)``, by the slopes.

    References
    ----------
    Bun and others (2022), equations (1) and (2).
    """
    loss = subsampling.srs_loss(small, p)
    is_above = grows(loss - p * small, {p: SHARE})
    is_below = grows(p * np.expm1(small) - loss, {p: SHARE})
    return is_above and is_below


def simple_random_sampling() -> bool | None:
    """Prove Theorem 2.2 by multipliers of two inequalities between probabilities of an event.

    Let the event have the mean probability ``inside`` if the record is drawn, ``new`` if its
    replacement is, and ``outside`` if neither is. Privacy says ``inside <= t new + delta``;
    exchanging the record for one that is not drawn says ``inside <= t outside + delta``.
    """
    inside, new, outside, delta = symbols("inside new outside delta")
    factor = np.exp(subsampling.srs_loss(eps, p))
    least = subsampling.srs_delta(delta, p)

    here = p * inside + (1 - p) * outside
    there = p * new + (1 - p) * outside
    room = factor * there + least - here

    first = p * factor / t
    second = (1 - p) * (factor - 1) / t
    slack = first * (t * new + delta - inside) + second * (t * outside + delta - inside)

    box = BUDGET | {p: SHARE}
    return (
        identity(room, slack)
        and positive(first, box)
        and positive(second, box)
        and positive(t - factor, box)
    )


def tilting() -> bool:
    """Prove Lemma B.3 for four sizes: the gain is a sum over pairs, none of which is negative.

    The weights ``a`` are log-Lipschitz, so that ``a_j <= t^(j-i) a_i``.
    """
    law = symbols("l0 l1 l2 l3")
    f = symbols("f0 f1 f2 f3")
    a = symbols("a0 a1 a2 a3")
    tilted = [w * t**m for m, w in enumerate(law)]
    other = [w * chance for w, chance in zip(law, a, strict=True)]
    other_mean = sum(w * v for w, v in zip(other, f, strict=True)) / sum(other)
    gain = lemmas.largest_tilted_mean(law, f, eps) - other_mean

    pairs = [
        law[i] * law[j] * (f[j] - f[i]) * (t**j * a[i] - t**i * a[j])
        for i, j in combinations(range(4), 2)
    ]
    return identity(gain * sum(tilted) * sum(other), sum(pairs))


def section_2_3(e: Evidence) -> Numbers:
    gain = (1 - p) * (t - 1)
    without_replacement = np.exp(subsampling.srs_loss(eps, p))
    independent = np.exp(subsampling.poisson_loss(eps, p, neighbours="deletion"))
    e.decides(identity(t - without_replacement, gain))
    e.decides(identity(t - independent, gain))

    # With replacement, [5] has the same budget at the probability to be drawn at all.
    missed = x / (1 + x)
    with_replacement = np.exp(subsampling.srs_loss(eps, 1 - missed))
    e.decides(identity(t - with_replacement, missed * (t - 1)))

    # Two draws from two records, without a delta.
    pure = np.exp(subsampling.with_replacement_loss(eps, 2, Symbol(2)))
    e.proven(identity(pure, (1 + t) * (1 + t) / 4))
    e.proven(positive(pure - t, BUDGET))
    worst = optimiser.largest_loss(
        two_draws([0, 1]), two_draws([-1, 1]), epsilon=1.0, mechanism="replacement"
    )
    e.same(subsampling.with_replacement_loss(1.0, 2, 2), worst.loss)

    # At epsilon 1, e^epsilon less e^loss falls by the factor 1 - p.
    tenth = np.e - np.exp(subsampling.srs_loss(1.0, 0.1))
    fifth = np.e - np.exp(subsampling.srs_loss(1.0, 0.2))
    e.same(tenth / fifth, 0.9 / 0.8)
    return {"tenth": tenth, "fifth": fifth}


def two_draws(records: list[int]) -> laws.Law:
    """Return the law of a sample of two records, drawn with replacement."""
    one_draw = laws.subsets(records, 1)
    return laws.independent(one_draw, one_draw)


def theorem_2_2(e: Evidence) -> Numbers:
    e.proven(simple_random_sampling())
    e.proven(small_budgets())

    # An event that attains the bound.
    a, delta, m = symbols("a delta m")
    factor = np.exp(subsampling.srs_loss(eps, p))
    least = subsampling.srs_delta(delta, p)
    e.proven(identity(p * (t * a + delta) + (1 - p) * a, factor * a + least))

    # Section 2.4: the noise of a proportion, if the m of m + x records that are drawn stay secret,
    # and if everybody knows them.
    secret = subsampling.proportion_noise_scale(eps, m, m + x)
    public = subsampling.proportion_noise_scale(eps, m)
    spent = np.exp(1 / (m * secret))
    share = m / (m + x)
    e.proven(identity(1 - share + share * spent, t))
    e.proven(identity(np.exp(1 / (m * public)), t))
    e.proven(identity(np.exp(subsampling.srs_budget(eps, share)), spent))
    e.proven(positive(spent - t, BUDGET | {x: EVERY, m: EVERY}))

    secret = subsampling.proportion_noise_scale(1.0, 100, 1000)
    public = subsampling.proportion_noise_scale(1.0, 100)
    e.needs(secret < public)
    return {
        "scale": secret,
        "known": public,
        "short": 1000 * secret,
        "budget": subsampling.srs_budget(1.0, 0.1),
    }


def lemmas_a_2_to_a_4(e: Evidence) -> Numbers:
    # A.2: the slacks of two inequalities add up.
    f, g, h, u, k = symbols("f g h u k")
    e.proven(identity(np.exp(eps + budget(u)) * h - f, (t * g - f) + t * (u * h - g)))

    # A.3: one step costs the budget, and each further step costs it again.
    one_step = np.exp(lemmas.coupled_loss(1, eps))
    k_steps = np.exp(lemmas.coupled_loss(k, eps))
    another_step = np.exp(lemmas.coupled_loss(k + 1, eps))
    e.proven(identity(one_step, t))
    e.proven(identity(another_step, t * k_steps))

    # A.4, the tight form, by multipliers of the three inequalities; the product form is weaker.
    x0, x1, y0, y1 = symbols("x0 x1 y0 y1")
    u = t + x
    box = BUDGET | {p: SHARE, x: EVERY}
    tight = np.exp(lemmas.mixture_loss(p, common=eps, other=budget(u)))
    same = p * tight / u
    crossed = p * (1 - tight / u)
    room = tight * ((1 - p) * y0 + p * y1) - (1 - p) * x0 - p * x1
    slack = (1 - p) * (t * y0 - x0) + same * (u * y1 - x1) + crossed * (u * y0 - x1)
    e.proven(identity(room, slack))
    e.proven(identity((1 - p) * t + p * u, tight))
    e.proven(positive(crossed, box))

    product = np.exp(lemmas.mixture_loss_product_form(p, common=eps, other=budget(u)))
    e.proven(identity(product - tight, p * u * (t - 1)))
    e.proven(positive(product - tight, box))

    tight_form = lemmas.mixture_loss(0.3, common=0.2, other=1.0)
    product_form = lemmas.mixture_loss_product_form(0.3, common=0.2, other=1.0)
    e.needs(tight_form < product_form)
    return {"tight": tight_form, "product": product_form}


def lemma_b_1(e: Evidence) -> Numbers:
    # Mean probabilities of an event without the new record and with it, within t^2 of each other.
    a, b, m = symbols("a b m")
    share = m / (m + x + 1)
    factor = np.exp(lemmas.inserted_record_loss(m, m + x, eps))
    e.proven(identity(factor * a - (1 - share) * a - share * b, share * (t * t * a - b)))
    e.proven(positive(factor * (1 - share + share / t / t) - 1, BUDGET | {x: EVERY, m: EVERY}))

    two_of_four = laws.subsets(range(4), 2)
    three_of_five = laws.subsets(range(5), 3)
    worst = optimiser.largest_loss(two_of_four, three_of_five, epsilon=0.5, mechanism="replacement")
    e.needs(np.isfinite(worst.loss))
    return {
        "same": lemmas.inserted_record_loss(2, 4, 0.5),
        "grown": lemmas.coupled_loss(1, 0.5),
    }


def lemma_b_3(e: Evidence) -> Numbers:
    e.decides(tilting())
    return {"mean": lemmas.largest_tilted_mean(*FIVE)}
