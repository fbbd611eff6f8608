"""Section 2 of bun2022 and the lemmas of its Appendices A and B."""

from functools import partial

import numpy as np

from ldpnb.claims import Evidence, claim
from ldpnb.designs import laws
from ldpnb.papers.bun2022 import routes
from ldpnb.privacy import channel, lemmas, optimiser, subsampling
from ldpnb.rng import stream

DESIGNS = ((5, 2, 0.5), (4, 3, 1.5), (6, 2, 0.1))

section_2 = partial(claim, kind="certified")


@section_2("Theorem 2.2", subsampling.srs_loss, subsampling.srs_delta)
def theorem_2_2(e: Evidence) -> str:
    """a simple random sample of m out of n turns (epsilon, delta) into (ln(1 + (m/n)(e^epsilon - 1)), (m/n) delta),
    replacement privacy
    """
    losses, deltas = [], []
    for n, m, epsilon in DESIGNS:
        pair = laws.subsets(range(n), m), laws.subsets([-1, *range(1, n)], m)
        losses.append(subsampling.srs_loss(epsilon, m / n))
        deltas.append(subsampling.srs_delta(0.01, m / n))
        e.same(losses[-1], optimiser.largest_loss(*pair, epsilon=epsilon, mechanism="replacement").loss)
        most = optimiser.largest_delta(*pair, epsilon=epsilon, delta=0.01, epsilon_after=abs(losses[-1]))
        e.same(deltas[-1], most, rel=1e-7)
    tiny = subsampling.srs_loss(1e-6, 0.3) / 1e-6
    e.same(tiny, 0.3, rel=1e-5)
    return (
        f"largest loss and delta over all mechanisms (linear programs) equal the formulas in {len(DESIGNS)} designs: "
        f"2 of 5 at epsilon 0.5 {losses[0]:.6f} and {deltas[0]:g} of delta 0.01, so the theorem is tight; at epsilon "
        f"1e-6 the loss is {tiny:.6f} epsilon for m/n = 0.3"
    )


@section_2(
    "Section 2.4",
    subsampling.srs_budget,
    subsampling.proportion_noise_scale,
    assumption="the printed scale is not recoverable; its small-epsilon form 1/(n epsilon) would be 3.4 times too "
    "small here",
)
def section_2_4(e: Evidence) -> str:
    """knowing that the data are a secret sample, less noise reaches the same loss: the mechanism may spend the inverse
    of Theorem 2.2
    """
    cases = ((1.0, 100, 1000), (0.1, 50, 5000), (3.0, 10, 20))
    for epsilon, records, population in cases:
        scale, rate = subsampling.proportion_noise_scale(epsilon, records, population), records / population
        outputs = 1 + scale * np.linspace(-30, 30, 61)
        all_ones = np.exp(-np.abs(outputs - 1) / scale)
        one_zero = (1 - rate) * all_ones + rate * np.exp(-np.abs(outputs - 1 + 1 / records) / scale)
        e.same(np.abs(np.log(one_zero / all_ones)).max(), epsilon)
        e.same(subsampling.srs_budget(epsilon, rate), np.log(1 + np.expm1(epsilon) / rate))
    secret = subsampling.proportion_noise_scale(1.0, 100, 1000)
    known = subsampling.proportion_noise_scale(1.0, 100)
    e.same(known, 0.01)
    e.needs(secret < known)
    return (
        f"100 records out of 1,000 at epsilon 1: noise of scale {secret:.6f} instead of {known:g}, mechanism budget "
        f"{subsampling.srs_budget(1.0, 0.1):.4f}; the densities' largest ratio is the target in {len(cases)} cases"
    )


@section_2("Lemma A.2", lemmas.chained_loss)
def lemma_a_2(e: Evidence) -> str:
    """X, Y epsilon_1-indistinguishable and Y, Z epsilon_2-indistinguishable make X, Z (epsilon_1 +
    epsilon_2)-indistinguishable
    """

    def losses(chain: np.ndarray) -> list[float]:
        pairs = ([0, 1], [1, 2], [0, 2])
        return [channel.privacy_loss(chain[:, pair]).epsilon for pair in pairs]

    first, second = 0.4, 0.9
    rare = 0.01 * np.exp([first + second, second, 0.0])  # a rare event attains the sum
    *steps, ends = losses(np.vstack([rare, 1 - rare]))
    e.same(steps, [first, second])
    e.same(lemmas.chained_loss(first, second), ends)
    rng = stream("chains of indistinguishable laws", seed=0)
    for _ in range(100):
        *parts, whole = losses(rng.dirichlet(np.ones(3), size=3).T)
        e.needs(whole <= lemmas.chained_loss(*parts) + 1e-12)
    return f"attained: steps {first} and {second}, ends {ends:.6f}; never exceeded in 100 random chains"


@section_2("Lemma A.3", lemmas.coupled_loss)
def lemma_a_3(e: Evidence) -> str:
    """samples coupled within distance k make the outputs of an epsilon-deletion-DP mechanism k
    epsilon-indistinguishable
    """
    for first, second in (((1, 2), (1, 2, 3)), ((1, 2), (3, 4, 5)), ((1, 1, 2), (2, 2))):
        closed = lemmas.coupled_loss(optimiser.lcs_distance(first, second), 0.3)
        e.same(closed, optimiser.largest_loss({first: 1.0}, {second: 1.0}, epsilon=0.3).loss)
    mixed = optimiser.largest_loss({(1, 2): 0.3, (3, 4): 0.7}, {(1, 2, 5): 0.3, (3,): 0.7}, epsilon=0.3).loss
    e.needs(mixed <= lemmas.coupled_loss(1, 0.3) + 1e-12)
    return (
        f"largest loss over all mechanisms = k epsilon for samples at distances 1, 5 and 3; {mixed:.6f} <= 0.3 for a "
        "coupling within distance 1"
    )


@section_2(
    "Lemma A.4",
    lemmas.mixture_loss,
    lemmas.mixture_loss_product_form,
    assumption="which of the two forms is printed is not recoverable; both hold",
)
def lemma_a_4(e: Evidence) -> str:
    """mixtures with weights 1-p and p of pairs within epsilon_0 and epsilon_1 are ln((1-p) e^epsilon_0 + p
    e^epsilon_1)-indistinguishable
    """
    cases = ((0.3, 0.2, 1.0), (0.5, 0.0, 0.7), (0.1, 1.0, 1.5))
    tight = np.array([lemmas.mixture_loss(p, common=least, other=most) for p, least, most in cases])
    product = np.array([lemmas.mixture_loss_product_form(p, common=least, other=most) for p, least, most in cases])
    e.same(tight, [_mixture_program(*case) for case in cases])
    e.same(product, [least + np.log(1 + p * (np.exp(most) - 1)) for p, least, most in cases])
    e.needs((tight <= product + 1e-12).all())
    return (
        f"supremum over all laws = tight form in {len(cases)} cases ({tight[0]:.6f} for p 0.3, 0.2, 1.0); the product "
        f"form epsilon_0 + ln(1 + p(e^epsilon_1 - 1)) is weaker ({product[0]:.6f}) unless epsilon_0 = 0"
    )


def _mixture_program(weight: float, common: float, other: float) -> float:
    """Return the largest log-ratio of means of a log-Lipschitz function on the four components of two mixtures."""
    free = np.inf
    distances = [
        [0.0, free, common, other],
        [free, 0.0, other, other],
        [common, other, 0.0, free],
        [other, other, free, 0.0],
    ]
    first, second = np.array([1 - weight, weight, 0, 0]), np.array([0, 0, 1 - weight, weight])
    return optimiser.largest_log_ratio(first, second, np.array(distances))[0]


@section_2(
    "Lemma B.1",
    lemmas.inserted_record_loss,
    lemmas.coupled_loss,
    otherwise="corrected",
    corrected="the mechanism has to be epsilon-DP for deletion neighbours, as the proof uses it, not for replacement "
    "neighbours",
    assumption=routes.NOT_PRINTED,
)
def lemma_b_1(e: Evidence) -> str:
    """samples of one size from P and from P and a record more lose ln(1 + (m/(n+1))(e^(2 epsilon) - 1)); a size that
    grows along loses epsilon
    """
    same = []
    for n, m, epsilon in ((4, 2, 0.5), (3, 1, 1.0), (5, 3, 0.2)):
        first = laws.subsets(range(n), m)
        same.append(lemmas.inserted_record_loss(m, n, epsilon))
        e.same(same[-1], optimiser.largest_loss(first, laws.subsets(range(n + 1), m), epsilon=epsilon).loss)
        grown = optimiser.largest_loss(first, laws.subsets(range(n + 1), m + 1), epsilon=epsilon).loss
        e.same(lemmas.coupled_loss(1, epsilon), grown)
    pair = laws.subsets(range(3), 1), laws.subsets(range(4), 2)
    worded = optimiser.largest_loss(*pair, epsilon=0.5, mechanism="replacement").loss
    e.needs(np.isfinite(worded))
    return (
        f"both losses equal the optimum over all deletion-DP mechanisms in {len(same)} cases (2 of 4 and of 5 at "
        f"epsilon 0.5: {same[0]:.6f}); for a replacement-DP mechanism, as worded, the second loss is {worded}: it may "
        "tell the size"
    )


@section_2("Lemma B.3", lemmas.largest_tilted_mean)
def lemma_b_3(e: Evidence) -> str:
    """among epsilon-log-Lipschitz weights on the sizes, e^(epsilon m) gives the largest mean of a nondecreasing
    function
    """
    cases = (
        ([0.1, 0.2, 0.3, 0.4], [0.0, 0.5, 1.0, 3.0], 0.7),
        ([0.6, 0.1, 0.0, 0.2, 0.1], [1.0, 1.0, 2.0, 2.0, 5.0], 0.3),
        ([0.25, 0.25, 0.5], [0.0, 1.0, 1.0], 2.0),
    )
    closed = [lemmas.largest_tilted_mean(*case) for case in cases]
    for found, (law, values, epsilon) in zip(closed, cases, strict=True):
        t, f, sizes = np.array(law), np.array(values), np.arange(len(law))
        distances = epsilon * np.abs(sizes[:, None] - sizes[None, :])
        mean = t @ f
        e.same(found, mean * np.exp(optimiser.largest_log_ratio(t * f / mean, t, distances)[0]))
    return f"closed form = maximum over all log-Lipschitz weights in {len(cases)} cases ({closed[0]:.6f} in the first)"
