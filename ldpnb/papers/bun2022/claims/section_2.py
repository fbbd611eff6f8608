"""Section 2 and the lemmas of Appendices A and B."""

from itertools import pairwise

import numpy as np

from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.designs import laws
from ldpnb.papers.bun2022 import routes as routes
from ldpnb.privacy import channel, lemmas, optimiser, subsampling
from ldpnb.rng import stream

DESIGNS = ((5, 2, 0.5), (4, 3, 1.5), (6, 2, 0.1))


def _neighbours(population: int, size: int) -> tuple[laws.Law, laws.Law]:
    """Return the laws of simple random samples from two populations of distinct records, one of them replaced."""
    records = list(range(population))
    return laws.subsets(records, size), laws.subsets([-1, *records[1:]], size)


@claim(
    "bun2022",
    "Theorem 2.2",
    says="a simple random sample of m out of n turns (epsilon, delta) into (ln(1 + (m/n)(e^epsilon - 1)), (m/n) delta), replacement privacy",
    rests_on=("privacy.subsampling.srs_loss", "privacy.subsampling.srs_delta"),
)
def theorem_2_2() -> Verdict:
    """Optimise over all mechanisms, pure and approximate."""
    closed, program, deltas, delta_program = [], [], [], []
    for n, m, epsilon in DESIGNS:
        after = subsampling.srs_loss(epsilon, m / n)
        closed.append(after)
        program.append(optimiser.largest_loss(*_neighbours(n, m), epsilon=epsilon, mechanism="replacement").loss)
        deltas.append(subsampling.srs_delta(0.01, m / n))
        delta_program.append(
            optimiser.largest_delta(*_neighbours(n, m), epsilon=epsilon, delta=0.01, epsilon_after=abs(after))
        )
    tiny = subsampling.srs_loss(1e-6, 0.3) / 1e-6
    return Verdict(
        judge(agree(tiny, 0.3, rel=1e-5), sound=agree(closed, program) and agree(deltas, delta_program, rel=1e-7)),
        f"largest loss and delta over all mechanisms (linear programs) equal the formulas in {len(DESIGNS)} designs: 2 of 5 at epsilon 0.5 "
        f"{closed[0]:.6f} and {deltas[0]:g} of delta 0.01, so the theorem is tight; at epsilon 1e-6 the loss is {tiny:.6f} epsilon for m/n = 0.3",
        "certified",
    )


@claim(
    "bun2022",
    "Section 2.4",
    says="knowing that the data are a secret sample, less noise reaches the same loss: the mechanism may spend the inverse of Theorem 2.2",
    rests_on=("privacy.subsampling.srs_budget", "privacy.subsampling.proportion_noise_scale"),
)
def section_2_4() -> Verdict:
    """Recompute the loss of the noisy proportion from its densities, at the scale the inverse allows."""
    targets, ratios, budgets = [], [], []
    for epsilon, records, population in ((1.0, 100, 1000), (0.1, 50, 5000), (3.0, 10, 20)):
        scale = subsampling.proportion_noise_scale(epsilon, records, population)
        rate = records / population
        outputs = 1 + scale * np.linspace(-30, 30, 61)
        all_ones = np.exp(-np.abs(outputs - 1) / scale)
        one_zero = (1 - rate) * all_ones + rate * np.exp(-np.abs(outputs - 1 + 1 / records) / scale)
        ratios.append(np.abs(np.log(one_zero / all_ones)).max())
        targets.append(epsilon)
        budgets.append(subsampling.srs_budget(epsilon, rate) / np.log(1 + np.expm1(epsilon) / rate))
    secret = subsampling.proportion_noise_scale(1.0, 100, 1000)
    known = subsampling.proportion_noise_scale(1.0, 100)
    return Verdict(
        judge(secret < known, sound=agree(ratios, targets) and agree(budgets, [1.0] * 3) and agree(known, 0.01)),
        f"100 records out of 1,000 at epsilon 1: noise of scale {secret:.6f} instead of {known:g}, mechanism budget "
        f"{subsampling.srs_budget(1.0, 0.1):.4f}; the densities' largest ratio is the target in {len(targets)} cases",
        "certified",
        assumption="the printed scale is not recoverable; its small-epsilon form 1/(n epsilon) would be 3.4 times too small here",
    )


@claim(
    "bun2022",
    "Lemma A.2",
    says="X, Y epsilon_1-indistinguishable and Y, Z epsilon_2-indistinguishable make X, Z (epsilon_1 + epsilon_2)-indistinguishable",
    rests_on=("privacy.lemmas.chained_loss",),
)
def lemma_a_2() -> Verdict:
    """Attain the sum with a rare event, and try chains of random laws."""
    first, second = 0.4, 0.9
    rare = 0.01 * np.exp([first + second, second, 0.0])
    columns = np.vstack([rare, 1 - rare])
    steps = [channel.privacy_loss(columns[:, pair]).epsilon for pair in ([0, 1], [1, 2])]
    ends = channel.privacy_loss(columns[:, [0, 2]]).epsilon
    rng = stream("chains of indistinguishable laws", seed=0)
    excess = -np.inf
    for _ in range(100):
        chain = rng.dirichlet(np.ones(3), size=3).T
        parts = [channel.privacy_loss(chain[:, list(pair)]).epsilon for pair in pairwise(range(3))]
        excess = max(excess, channel.privacy_loss(chain[:, [0, 2]]).epsilon - lemmas.chained_loss(*parts))
    return Verdict(
        judge(excess <= 1e-12, sound=agree(steps, [first, second]) and agree(lemmas.chained_loss(first, second), ends)),
        f"attained: steps {first} and {second}, ends {ends:.6f}; never exceeded in 100 random chains",
        "certified",
    )


@claim(
    "bun2022",
    "Lemma A.3",
    says="samples coupled within distance k make the outputs of an epsilon-deletion-DP mechanism k epsilon-indistinguishable",
    rests_on=("privacy.lemmas.coupled_loss",),
)
def lemma_a_3() -> Verdict:
    """Optimise over all mechanisms for samples at distance k, and for mixtures of such pairs."""
    pairs = (((1, 2), (1, 2, 3)), ((1, 2), (3, 4, 5)), ((1, 1, 2), (2, 2)))
    closed, program = [], []
    for first, second in pairs:
        closed.append(lemmas.coupled_loss(optimiser.lcs_distance(first, second), 0.3))
        program.append(optimiser.largest_loss({first: 1.0}, {second: 1.0}, epsilon=0.3).loss)
    mixed = optimiser.largest_loss({(1, 2): 0.3, (3, 4): 0.7}, {(1, 2, 5): 0.3, (3,): 0.7}, epsilon=0.3).loss
    return Verdict(
        judge(mixed <= lemmas.coupled_loss(1, 0.3) + 1e-12, sound=agree(closed, program)),
        f"largest loss over all mechanisms = k epsilon for samples at distances 1, 5 and 3; {mixed:.6f} <= 0.3 for a coupling within distance 1",
        "certified",
    )


@claim(
    "bun2022",
    "Lemma A.4",
    says="mixtures with weights 1-p and p of pairs within epsilon_0 and epsilon_1 are ln((1-p) e^epsilon_0 + p e^epsilon_1)-indistinguishable",
    rests_on=("privacy.lemmas.mixture_loss", "privacy.lemmas.mixture_loss_product_form"),
)
def lemma_a_4() -> Verdict:
    """Maximise the ratio over all log-Lipschitz functions on the four components."""
    cases = ((0.3, 0.2, 1.0), (0.5, 0.0, 0.7), (0.1, 1.0, 1.5))
    tight = [lemmas.mixture_loss(p, common=least, other=most) for p, least, most in cases]
    product = [lemmas.mixture_loss_product_form(p, common=least, other=most) for p, least, most in cases]
    program = [_mixture_program(*case) for case in cases]
    by_hand = [least + np.log(1 + p * (np.exp(most) - 1)) for p, least, most in cases]
    below = bool((np.array(tight) <= np.array(product) + 1e-12).all())
    return Verdict(
        judge(below, sound=agree(tight, program) and agree(product, by_hand)),
        f"supremum over all laws = tight form in {len(cases)} cases ({tight[0]:.6f} for p 0.3, 0.2, 1.0); the product form "
        f"epsilon_0 + ln(1 + p(e^epsilon_1 - 1)) is weaker ({product[0]:.6f}) unless epsilon_0 = 0",
        "certified",
        assumption="which of the two forms is printed is not recoverable; both hold",
    )


def _mixture_program(weight: float, common: float, other: float) -> float:
    free = np.inf
    distances = np.array(
        [
            [0.0, free, common, other],
            [free, 0.0, other, other],
            [common, other, 0.0, free],
            [other, other, free, 0.0],
        ]
    )
    first, second = np.array([1 - weight, weight, 0, 0]), np.array([0, 0, 1 - weight, weight])
    return optimiser.largest_log_ratio(first, second, distances)[0]


@claim(
    "bun2022",
    "Lemma B.1",
    says="samples of one size from P and from P and a record more lose ln(1 + (m/(n+1))(e^(2 epsilon) - 1)); a size that grows along loses epsilon",
    rests_on=("privacy.lemmas.inserted_record_loss", "privacy.lemmas.coupled_loss"),
)
def lemma_b_1() -> Verdict:
    """Optimise over all deletion-DP mechanisms, and over all replacement-DP mechanisms, as the lemma is worded."""
    same, same_program, next_size, next_program = [], [], [], []
    for n, m, epsilon in ((4, 2, 0.5), (3, 1, 1.0), (5, 3, 0.2)):
        smaller, larger = list(range(n)), list(range(n + 1))
        same.append(lemmas.inserted_record_loss(m, n, epsilon))
        laws_of_m = laws.subsets(smaller, m), laws.subsets(larger, m)
        same_program.append(optimiser.largest_loss(*laws_of_m, epsilon=epsilon).loss)
        next_size.append(lemmas.coupled_loss(1, epsilon))
        next_program.append(optimiser.largest_loss(laws_of_m[0], laws.subsets(larger, m + 1), epsilon=epsilon).loss)
    worded = optimiser.largest_loss(
        laws.subsets([0, 1, 2], 1), laws.subsets([0, 1, 2, 3], 2), epsilon=0.5, mechanism="replacement"
    )
    return Verdict(
        judge(
            bool(np.isfinite(worded.loss)),
            sound=agree(same, same_program) and agree(next_size, next_program),
            otherwise="corrected",
        ),
        f"both losses equal the optimum over all deletion-DP mechanisms in {len(same)} cases (2 of 4 and of 5 at epsilon 0.5: {same[0]:.6f}); for a "
        f"replacement-DP mechanism, as worded, the second loss is {worded.loss}: it may tell the size",
        "certified",
        corrected="the mechanism has to be epsilon-DP for deletion neighbours, as the proof uses it, not for replacement neighbours",
        assumption=routes.NOT_PRINTED,
    )


@claim(
    "bun2022",
    "Lemma B.3",
    says="among epsilon-log-Lipschitz weights on the sizes, e^(epsilon m) gives the largest mean of a nondecreasing function",
    rests_on=("privacy.lemmas.largest_tilted_mean",),
)
def lemma_b_3() -> Verdict:
    """Maximise over all log-Lipschitz weights by linear programming."""
    cases = (
        ([0.1, 0.2, 0.3, 0.4], [0.0, 0.5, 1.0, 3.0], 0.7),
        ([0.6, 0.1, 0.0, 0.2, 0.1], [1.0, 1.0, 2.0, 2.0, 5.0], 0.3),
        ([0.25, 0.25, 0.5], [0.0, 1.0, 1.0], 2.0),
    )
    closed, program = [], []
    for law, values, epsilon in cases:
        t, f = np.array(law), np.array(values)
        sizes = np.arange(t.size)
        first, scale = t * f / (t @ f), t @ f
        distances = epsilon * np.abs(sizes[:, None] - sizes[None, :])
        program.append(scale * np.exp(optimiser.largest_log_ratio(first, t, distances)[0]))
        closed.append(lemmas.largest_tilted_mean(law, values, epsilon))
    return Verdict(
        judge(True, sound=agree(closed, program)),
        f"closed form = maximum over all log-Lipschitz weights in {len(cases)} cases ({closed[0]:.6f} in the first)",
        "certified",
    )
