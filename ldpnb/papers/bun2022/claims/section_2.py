"""Section 2 of bun2022 and the lemmas of its Appendices A and B."""

from functools import partial

import numpy as np

from ldpnb.claims import WORDS, Evidence, agree, claim, within
from ldpnb.deciders import ball, zeros
from ldpnb.designs import laws
from ldpnb.papers.bun2022 import routes
from ldpnb.papers.bun2022.proofs import sections_2_to_4 as proofs
from ldpnb.privacy import channel, lemmas, optimiser, subsampling

DESIGNS = ((5, 2, 0.5), (4, 3, 1.5))
BOTH_WAYS = "the two laws can be interchanged, and privacy is judged event by event"
LEAST = "the budget that follows is lost in the text; this is the least that is true"

section_2 = partial(claim, kind="proof", reach="all parameters", reading="reconstructed", assumption=routes.NOT_PRINTED)


@section_2(
    "Section 2.2",
    lemmas.coupled_loss,
    optimiser.largest_loss,
    over="epsilon > 0, every mechanism and every two replacement neighbours",
    assumption=LEAST,
    argument="replacing a record is removing it and adding another",
)
def section_2_2(e: Evidence) -> str:
    """any epsilon-deletion-DP mechanism is 2 epsilon-replacement-DP"""
    e.proven(proofs.coupling())
    two = optimiser.largest_loss({("x",): 1.0}, {("y",): 1.0}, epsilon=0.7).loss
    e.same(lemmas.coupled_loss(optimiser.lcs_distance(("x",), ("y",)), 0.7), two)
    e.needs(agree(two, 2 * 0.7))
    return f"two steps cost the factor e^(2 epsilon); the linear program attains it ({two:g} at epsilon 0.7)"


@section_2(
    "Theorem 2.2",
    subsampling.srs_loss,
    subsampling.srs_delta,
    optimiser.largest_delta,
    optimiser.largest_loss,
    over="epsilon > 0, 0 <= delta < 1, every m <= n, every mechanism and every two replacement neighbours",
    assumption="both formulas are lost in the text; these are the known ones (Balle, Barthe and Gaboardi 2018)",
    argument="replacing the changed record by one that is not drawn couples samples with and without it; " + BOTH_WAYS,
)
def theorem_2_2(e: Evidence) -> str:
    """a simple random sample of m out of n turns (epsilon, delta) into (ln(1 + (m/n)(e^epsilon - 1)), (m/n) delta),
    replacement privacy, strictly more private for m < n
    """
    e.proven(proofs.simple_random_sampling() and proofs.simple_random_sampling_attained())
    losses, deltas = [], []
    for n, m, epsilon in DESIGNS:
        pair = laws.subsets(range(n), m), laws.subsets([-1, *range(1, n)], m)
        losses.append(subsampling.srs_loss(epsilon, m / n))
        deltas.append(subsampling.srs_delta(0.01, m / n))
        e.same(losses[-1], optimiser.largest_loss(*pair, epsilon=epsilon, mechanism="replacement").loss)
        most = optimiser.largest_delta(*pair, epsilon=epsilon, delta=0.01, epsilon_after=abs(losses[-1]))
        e.same(deltas[-1], most, rel=1e-7)
        e.needs(losses[-1] < epsilon and most < 0.01)
    return (
        "multipliers prove the bound; an event of chance e^epsilon a + delta with the record, a without it, attains "
        f"it; linear programs find the same largest loss and delta in {len(DESIGNS)} designs: 2 of 5 at epsilon 0.5 "
        f"{losses[0]:.6f} and {deltas[0]:g} of delta 0.01"
    )


@section_2(
    "Equations 1 and 2",
    subsampling.srs_loss,
    over="epsilon > 0 and 0 < m/n <= 1; about the same for every m/n exactly up to the epsilon named",
    assumption="both equations are lost in the text; what is used of them is that e^x - 1 and ln(1 + x) are about x",
    argument="(e^x - 1)/x grows, so it is about 1 up to a single value of x",
)
def equations_1_and_2(e: Evidence) -> str:
    """for small epsilon, e^epsilon - 1 is about epsilon and ln(1 + x) about x, so epsilon' is about (m/n) epsilon"""
    e.proven(proofs.small_budgets())
    ratio = WORDS["about"]
    ends = zeros(lambda x: x * ball(str(ratio)) - np.expm1(x), "0.01", 5)
    e.sure(len(ends) == 1)
    end = float(ends[0].mid())
    rate = 1e-9
    e.same(subsampling.srs_loss(end, rate) / (rate * end), ratio, rel=1e-6)
    e.needs(all(within("about", subsampling.srs_loss(0.99 * end, p) / (0.99 * end * p), 1.0) for p in (rate, 0.5, 1.0)))
    return (
        "p epsilon <= ln(1 + p(e^epsilon - 1)) <= p(e^epsilon - 1) for every rate p and epsilon, so epsilon'/(p "
        f"epsilon) is between 1 and {ratio:g} up to epsilon {end:.4f}, and reaches that there as p -> 0"
    )


@section_2(
    "Section 2.4",
    subsampling.srs_budget,
    subsampling.proportion_noise_scale,
    over="epsilon > 0, every number of records m < n, every population n; replacement privacy, to readers of the "
    "proportion who cannot know which records were drawn",
    assumption="the printed scale is not recoverable; this is the one at which the loss is epsilon exactly",
    argument="the worst populations hold ones only, or ones and a single zero: the sample's proportions are at "
    "most 1/m apart",
)
def section_2_4(e: Evidence) -> str:
    """if the sample is kept secret, less noise gives the same loss: the mechanism may spend the inverse of Theorem
    2.2
    """
    e.proven(proofs.secret_sample())
    epsilon, records, population = 1.0, 100, 1000
    scale, rate = subsampling.proportion_noise_scale(epsilon, records, population), records / population
    outputs = 1 + scale * np.linspace(-30, 30, 61)
    all_ones = np.exp(-np.abs(outputs - 1) / scale)
    one_zero = (1 - rate) * all_ones + rate * np.exp(-np.abs(outputs - 1 + 1 / records) / scale)
    e.same(np.abs(np.log(one_zero / all_ones)).max(), epsilon)
    budget, known = subsampling.srs_budget(epsilon, rate), subsampling.proportion_noise_scale(epsilon, records)
    e.same([budget, known], [1 / (records * scale), 0.01])
    e.needs(scale < known)
    return (
        f"100 records out of 1,000 at epsilon 1: noise of scale {scale:.6f} instead of {known:g}, mechanism budget "
        f"{budget:.4f}; the densities' largest ratio there is the target, and always; the small-epsilon form 1/(n "
        f"epsilon) would be {scale * population * epsilon:.1f} times too small"
    )


@section_2(
    "Lemma A.2",
    channel.privacy_loss,
    over="every two budgets and every three laws",
    assumption=LEAST,
    argument=BOTH_WAYS,
)
def lemma_a_2(e: Evidence) -> str:
    """X, Y epsilon_1-indistinguishable and Y, Z epsilon_2-indistinguishable make X, Z (epsilon_1 +
    epsilon_2)-indistinguishable
    """
    e.proven(proofs.chain())
    first, second = 0.4, 0.9
    rare = 0.01 * np.exp([first + second, second, 0.0])  # a rare event attains the sum
    laws_of_three = np.vstack([rare, 1 - rare])
    *steps, ends = (channel.privacy_loss(laws_of_three[:, pair]).epsilon for pair in ([0, 1], [1, 2], [0, 2]))
    e.same([*steps, ends], [first, second, np.log(rare[0] / rare[2])])
    e.needs(agree(ends, sum(steps)))
    return f"P(E) <= e^e1 Q(E) <= e^(e1 + e2) R(E); attained by a rare event: steps {first} and {second}, ends {ends:g}"


@section_2(
    "Lemma A.3",
    lemmas.coupled_loss,
    optimiser.largest_loss,
    over="epsilon > 0, every k, every coupling and every mechanism",
    assumption=LEAST,
    argument="the event's chance given one sample is at most e^(k epsilon) times that given the other, step by step, "
    "and so are the means over a coupling",
)
def lemma_a_3(e: Evidence) -> str:
    """samples coupled within distance k make the outputs of an epsilon-deletion-DP mechanism k
    epsilon-indistinguishable
    """
    e.proven(proofs.coupling())
    for first, second in (((1, 2), (3, 4, 5)), ((1, 1, 2), (2, 2))):
        closed = lemmas.coupled_loss(optimiser.lcs_distance(first, second), 0.3)
        e.same(closed, optimiser.largest_loss({first: 1.0}, {second: 1.0}, epsilon=0.3).loss)
    mixed = optimiser.largest_loss({(1, 2): 0.3, (3, 4): 0.7}, {(1, 2, 5): 0.3, (3,): 0.7}, epsilon=0.3).loss
    e.needs(mixed <= lemmas.coupled_loss(1, 0.3) + 1e-12)
    return (
        "one step more costs one factor e^epsilon more; attained over all mechanisms at distances 5 and 3; "
        f"{mixed:.6f} <= 0.3 for a coupling within distance 1"
    )


@section_2(
    "Lemma A.4",
    lemmas.mixture_loss,
    lemmas.mixture_loss_product_form,
    channel.privacy_loss,
    optimiser.largest_log_ratio,
    over="0 < p < 1, every epsilon_1 >= epsilon_0 >= 0 and every four laws whose pairs are as close as stated",
    assumption="which of the two forms is printed is not recoverable; both hold",
    argument=BOTH_WAYS,
)
def lemma_a_4(e: Evidence) -> str:
    """mixtures with weights 1-p and p of X_0 and X_1, and of Y_0 and Y_1, are ln((1-p) e^epsilon_0 + p
    e^epsilon_1)-indistinguishable if X_0, Y_0 are within epsilon_0 and every other X, Y within epsilon_1
    """
    e.proven(proofs.mixtures() and proofs.mixtures_by_product())
    p, least, most = case = (0.3, 0.2, 1.0)
    tight = lemmas.mixture_loss(p, common=least, other=most)
    product = lemmas.mixture_loss_product_form(p, common=least, other=most)
    most_lost = _mixture_program(*case)
    e.same(tight, most_lost)
    e.needs(agree(most_lost, np.log((1 - p) * np.exp(least) + p * np.exp(most))) and most_lost <= product)
    rare = p * 0.01 * np.exp([most, 0.0])  # X_0 = Y_0 never have the last two outputs, which X_1 and Y_1 have alone
    e.same(channel.privacy_loss(np.vstack([[1 - p] * 2, rare, p - rare])).epsilon, most)
    return (
        f"multipliers prove the tight form, which some laws attain (linear program {tight:.6f} at p {p}, {least}, "
        f"{most}; without the pairs X_0, Y_1 and X_1, Y_0 {most} itself); the product form epsilon_0 + ln(1 + "
        f"p(e^epsilon_1 - 1)) is weaker ({product:.6f}) unless epsilon_0 = 0"
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
    optimiser.largest_loss,
    otherwise="corrected",
    corrected="the mechanism has to be epsilon-DP for deletion neighbours, as the proof uses it, not for replacement "
    "neighbours",
    over="epsilon > 0, every m <= n; as worded the second loss is unbounded for all of them",
    argument="a mechanism that prints its sample's size is epsilon-DP for replacement neighbours at every epsilon; "
    "with deletion neighbours the new record takes another's place, a distance of 2",
)
def lemma_b_1(e: Evidence) -> str:
    """samples of one size from P and from P with one more record lose ln(1 + (m/(n+1))(e^(2 epsilon) - 1)); a size
    that grows by one as well loses epsilon
    """
    e.proven(proofs.inserted_record())
    n, m, epsilon = 4, 2, 0.5
    first, same = laws.subsets(range(n), m), lemmas.inserted_record_loss(m, n, epsilon)
    e.same(same, optimiser.largest_loss(first, laws.subsets(range(n + 1), m), epsilon=epsilon).loss)
    grown = laws.subsets(range(n + 1), m + 1)
    e.same(lemmas.coupled_loss(1, epsilon), optimiser.largest_loss(first, grown, epsilon=epsilon).loss)
    worded = optimiser.largest_loss(first, grown, epsilon=epsilon, mechanism="replacement").loss
    e.needs(np.isfinite(worded))
    return (
        f"both losses are attained, by linear programs too (2 of 4 and of 5 at epsilon 0.5: {same:.6f}, 2 and 3: 0.5); "
        f"for a replacement-DP mechanism, as worded, the second loss is {worded}: it may tell the size"
    )


@section_2(
    "Lemma B.3",
    lemmas.largest_tilted_mean,
    optimiser.largest_log_ratio,
    over="epsilon > 0, every nondecreasing function, every weights on any number of sizes",
    argument="the gain over other weights is a sum over pairs of sizes, the same for any number of them; the identity "
    "is decided for four",
)
def lemma_b_3(e: Evidence) -> str:
    """among epsilon-log-Lipschitz weights on the sizes, e^(epsilon m) gives the largest mean of a nondecreasing
    function
    """
    e.proven(proofs.tilting())
    law, values, epsilon = ([0.6, 0.1, 0.0, 0.2, 0.1], [1.0, 1.0, 2.0, 2.0, 5.0], 0.3)
    closed = lemmas.largest_tilted_mean(law, values, epsilon)
    t, f, sizes = np.array(law), np.array(values), np.arange(len(law))
    mean = t @ f
    apart = epsilon * np.abs(sizes[:, None] - sizes[None, :])
    most, tilted = mean * np.exp(optimiser.largest_log_ratio(t * f / mean, t, apart)[0]), t * np.exp(epsilon * sizes)
    e.same(closed, most)
    e.needs(agree(tilted @ f / tilted.sum(), most))
    return (
        "what e^(epsilon m) gains is a sum over pairs of sizes i < j of l_i l_j (f_j - f_i)(e^(j epsilon) a_i - e^(i "
        f"epsilon) a_j) >= 0; it is the linear program's maximum ({closed:.6f} for five sizes)"
    )
