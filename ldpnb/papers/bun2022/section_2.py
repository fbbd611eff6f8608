"""What decides Section 2 of bun2022 and Appendices A and B: a check for each claim."""

from itertools import combinations

import numpy as np

from ldpnb.arithmetic import Symbol
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import budget, identity, positive, symbols
from ldpnb.designs import laws
from ldpnb.papers.bun2022.shared import BUDGET, EVERY, SHARE, eps, grows, p, small, t, x
from ldpnb.privacy import lemmas, optimiser, subsampling

SAMPLES = ((5, 2, 0.5), (4, 3, 1.5), (6, 2, 0.1))
"""Records, records drawn, epsilon."""
FIVE = ([0.6, 0.1, 0.0, 0.2, 0.1], [1.0, 1.0, 2.0, 2.0, 5.0], 0.3)
"""A law of five sizes, a nondecreasing function of them, epsilon."""


def small_budgets() -> bool | None:
    """Equations (1) and (2): ``p epsilon <= ln(1 + p (e^epsilon - 1)) <= p (e^epsilon - 1)``, both from slopes."""
    loss = subsampling.srs_loss(small, p)
    return grows(loss - p * small, {p: SHARE}) and grows(p * np.expm1(small) - loss, {p: SHARE})


def simple_random_sampling() -> bool | None:
    """Theorem 2.2: multipliers of ``mu_1 <= t mu_1' + delta`` and ``mu_1 <= t mu_0 + delta`` prove the bound.

    ``mu_1`` is the mean chance given that the record is drawn, ``mu_1'`` that with its replacement, ``mu_0`` that given
    that it is not drawn: replacing the record by one that is not drawn couples the first and the last.
    """
    inside, new, outside, delta = symbols("inside new outside delta")
    factor, least = np.exp(subsampling.srs_loss(eps, p)), subsampling.srs_delta(delta, p)
    first, second = p * factor / t, (1 - p) * (factor - 1) / t
    room = factor * (p * new + (1 - p) * outside) + least - (p * inside + (1 - p) * outside)
    proof = identity(
        room, first * (t * new + delta - inside) + second * (t * outside + delta - inside)
    )
    return proof and all(
        positive(value, BUDGET | {p: SHARE}) for value in (first, second, t - factor)
    )


def tilting() -> bool:
    """Lemma B.3: the gain over other weights ``a`` is a sum over pairs, none below 0 as ``a_j <= t^(j-i) a_i``."""
    law, f, a = (symbols(" ".join(f"{name}{i}" for i in range(4))) for name in "lfa")
    tilted = [w * t**m for m, w in enumerate(law)]
    other = [w * chance for w, chance in zip(law, a, strict=True)]
    gained = lemmas.largest_tilted_mean(law, f, eps) - sum(
        w * v for w, v in zip(other, f, strict=True)
    ) / sum(other)
    pairs = (
        law[i] * law[j] * (f[j] - f[i]) * (t**j * a[i] - t**i * a[j])
        for i, j in combinations(range(4), 2)
    )
    return identity(gained * sum(tilted) * sum(other), sum(pairs))


def section_2_3(e: Evidence) -> Numbers:
    gain = (1 - p) * (t - 1)
    e.proven(identity(t - np.exp(subsampling.srs_loss(eps, p)), gain) and small_budgets())
    e.proven(identity(t - np.exp(subsampling.poisson_loss(eps, p, neighbours="deletion")), gain))
    with_replacement = np.exp(subsampling.with_replacement_loss(eps, 2, Symbol(2)))
    e.proven(
        identity(with_replacement, (1 + t) * (1 + t) / 4) and positive(with_replacement - t, BUDGET)
    )
    e.decides(positive(t - with_replacement, BUDGET))
    tenth, fifth = (subsampling.srs_loss(1.0, rate) for rate in (0.1, 0.2))
    e.needs(fifth < tenth)  # the rarer somebody is left out, the less would be gained
    twice = subsampling.with_replacement_loss(1.0, 2, 2)
    drawn = [laws.independent(*[laws.subsets(records, 1)] * 2) for records in ([0, 1], [-1, 1])]
    e.same(twice, optimiser.largest_loss(*drawn, epsilon=1.0, mechanism="replacement").loss)
    return {"twice": twice, "tenth": tenth, "fifth": fifth}


def theorem_2_2(e: Evidence) -> Numbers:
    a, delta, m = symbols("a delta m")
    factor, least = np.exp(subsampling.srs_loss(eps, p)), subsampling.srs_delta(delta, p)
    e.proven(simple_random_sampling() and small_budgets())
    e.proven(
        identity(p * (t * a + delta) + (1 - p) * a, factor * a + least)
    )  # attained by that event
    scale, known = (
        subsampling.proportion_noise_scale(eps, m, m + x),
        subsampling.proportion_noise_scale(eps, m),
    )
    spent, share = np.exp(1 / (m * scale)), m / (m + x)
    e.proven(identity(1 - share + share * spent, t) and identity(np.exp(1 / (m * known)), t))
    e.proven(identity(np.exp(subsampling.srs_budget(eps, share)), spent))
    e.proven(positive(spent - t, BUDGET | {x: EVERY, m: EVERY}))
    scale, known = (
        subsampling.proportion_noise_scale(1.0, 100, 1000),
        subsampling.proportion_noise_scale(1.0, 100),
    )
    e.needs(scale < known)
    return {
        "scale": scale,
        "known": known,
        "short": 1000 * scale,
        "budget": subsampling.srs_budget(1.0, 0.1),
    }


def lemmas_a_2_to_a_4(e: Evidence) -> Numbers:
    f, g, h, u, k, x0, x1, y0, y1 = symbols("f g h u k x0 x1 y0 y1")
    e.proven(
        identity(np.exp(eps + budget(u)) * h - f, (t * g - f) + t * (u * h - g))
    )  # A.2: two slacks add up
    one, many, more = (np.exp(lemmas.coupled_loss(steps, eps)) for steps in (1, k, k + 1))
    e.proven(identity(one, t) and identity(more, t * many))
    u = t + x
    tight = np.exp(lemmas.mixture_loss(p, common=eps, other=budget(u)))
    same, crossed = p * tight / u, p * (1 - tight / u)
    room = tight * ((1 - p) * y0 + p * y1) - (1 - p) * x0 - p * x1
    e.proven(
        identity(room, (1 - p) * (t * y0 - x0) + same * (u * y1 - x1) + crossed * (u * y0 - x1))
    )
    e.proven(
        identity((1 - p) * t + p * u, tight) and positive(crossed, BUDGET | {p: SHARE, x: EVERY})
    )
    weaker = np.exp(lemmas.mixture_loss_product_form(p, common=eps, other=budget(u))) - tight
    e.proven(identity(weaker, p * u * (t - 1)) and positive(weaker, BUDGET | {p: SHARE, x: EVERY}))
    forms = [
        form(0.3, common=0.2, other=1.0)
        for form in (lemmas.mixture_loss, lemmas.mixture_loss_product_form)
    ]
    e.needs(forms[0] < forms[1])
    return dict(zip(("tight", "product"), forms, strict=True))


def lemma_b_1(e: Evidence) -> Numbers:
    a, b, m = symbols(
        "a b m"
    )  # an event's mean chance without the new record and with it, within t^2
    share, factor = m / (m + x + 1), np.exp(lemmas.inserted_record_loss(m, m + x, eps))
    e.proven(identity(factor * a - (1 - share) * a - share * b, share * (t * t * a - b)))
    e.proven(positive(factor * (1 - share + share / t / t) - 1, BUDGET | {x: EVERY, m: EVERY}))
    pair = laws.subsets(range(4), 2), laws.subsets(range(5), 3)
    worded = optimiser.largest_loss(*pair, epsilon=0.5, mechanism="replacement").loss
    e.needs(np.isfinite(worded))
    same, grown = lemmas.inserted_record_loss(2, 4, 0.5), lemmas.coupled_loss(1, 0.5)
    return {"same": same, "grown": grown, "worded": worded}


def lemma_b_3(e: Evidence) -> Numbers:
    e.decides(tilting())
    return {"mean": lemmas.largest_tilted_mean(*FIVE)}
