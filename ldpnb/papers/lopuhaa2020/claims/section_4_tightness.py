"""Sections 4.3, 4.4 and 6 and Table I of lopuhaa2020: how near the bounds are to what can be had."""

import numpy as np
from numpy.typing import NDArray

from ldpnb.accuracy import information, lower_bounds
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.estimators import frequency
from ldpnb.mechanisms import subsets
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020 import routes
from ldpnb.privacy import design

Array = NDArray[np.float64]

SIZES = (2, 3, 4, 5)
SMALL = 1e-3


def _uniform(size: int) -> Array:
    return np.full(size, 1 / size)


def _trace(channel: Array, point: Array) -> float:
    return routes.completed_trace(routes.information_sum(channel, point)[0])


def _optimum_sound() -> bool:
    """Return whether the closed forms at the uniform distribution agree with subset selection and with the certified
    best channel.
    """
    sound = True
    for size in SIZES:
        for epsilon in (0.1, 1.0, 3.0):
            error, subset = lower_bounds.uniform_optimum(size, epsilon)
            best = design.best_channel(_uniform(size), epsilon)
            channel = subsets.SubsetSelection(epsilon, size, subset).channel()
            traced = _trace(channel, _uniform(size))
            sound &= agree(error, traced) and agree(error, _trace(best.channel, _uniform(size)), rel=1e-6)
            sound &= agree(best.error, error, rel=1e-6) and agree(best.lower_bound, error, rel=1e-6)
            own = lower_bounds.uniform_information(size, epsilon, subset)
            sound &= agree(own, (size - 1) ** 2 / traced)
            sound &= subset == subsets.SubsetSelection.optimal(epsilon, size).subset_size
            kept = size * (size - 1) ** 2 / (size**2 // 4 * (np.exp(epsilon) - 1) ** 2)
            sound &= agree(lower_bounds.any_channel_bound(size, epsilon), kept)
    return bool(sound)


@claim(
    "lopuhaa2020",
    "Section 4.3, nearness",
    says="the bound a/(n epsilon^2) is quite near to what is possible in practice, 4a/(n epsilon^2) by OUE",
    rests_on=(
        "accuracy.lower_bounds.distribution_bound",
        "accuracy.lower_bounds.any_channel_bound",
        "accuracy.lower_bounds.uniform_optimum",
        "accuracy.lower_bounds.uniform_information",
        "accuracy.information.unbiased_frequency_error",
        "privacy.design.best_channel",
        "mechanisms.subsets.SubsetSelection.channel",
    ),
)
def nearness() -> Verdict:
    """Decide by what the best channel attains as epsilon falls."""
    sound, factors = _optimum_sound(), {}
    for size in (2, 10, 1024):
        bound = lower_bounds.distribution_bound(size, SMALL)
        sound &= agree(bound, size / np.expm1(SMALL) ** 2)
        unary = information.unbiased_frequency_error(UnaryEncoding.optimised(SMALL, size))
        sound &= agree(unary, 4 * size * np.exp(SMALL) / np.expm1(SMALL) ** 2 + 1)
        factors[size] = (lower_bounds.uniform_optimum(size, SMALL)[0] / bound, unary / bound)
    texts = [f"a = {size}: {best:.2f} and {unary:.2f}" for size, (best, unary) in factors.items()]
    evidence = f"best channel and OUE over the bound, epsilon .001, uniform distribution: {'; '.join(texts)}"
    corrected = (
        "The bound is a factor (a-1)^2 / floor(a^2/4), nearly 4, too low for every channel: n MSE_P >= a (a-1)^2 / (floor(a^2/4) (e^epsilon - 1)^2). "
        "So OUE is within a factor (a/(a-1))^2 of the best as epsilon falls."
    )
    near = factors[1024][0] < 1.5
    return Verdict(judge(near, sound=sound, otherwise="corrected"), evidence, "certified", corrected=corrected)


@claim(
    "lopuhaa2020",
    "Section 4.3, number of outputs",
    says="the bounds seem to say that a protocol should have as many outputs as possible",
    rests_on=("accuracy.lower_bounds.uniform_optimum", "mechanisms.subsets.SubsetSelection.channel"),
)
def number_of_outputs() -> Verdict:
    """Decide by a channel with as few outputs as values that is the best there is: the lines of the Fano plane."""
    epsilon, size = 0.5, 7
    lines = [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]]
    rows = np.array([np.where(np.isin(np.arange(size), line), np.exp(epsilon), 1.0) for line in lines])
    fano = rows / rows.sum(axis=0)
    error, subset = lower_bounds.uniform_optimum(size, epsilon)
    every = subsets.SubsetSelection(epsilon, size, subset).channel()
    sound = agree(_trace(every, _uniform(size)), error) and bool(np.ptp(fano.sum(axis=0)) < 1e-12) and subset == 3
    few = _trace(fano, _uniform(size))
    evidence = (
        f"7 values, epsilon .5: limiting error {few:.6f} with the 7 outputs of the Fano plane, {error:.6f} with all 35 subsets of 3, "
        "which no channel beats"
    )
    corrected = (
        "No correct bound depends on the number b of outputs, and more than a of them need not help: "
        "where a symmetric block design exists, a suffice."
    )
    assumption = (
        "The dependence of (60) on b is not in the text that is left; the source's remark is taken as the claim."
    )
    return Verdict(
        judge(not agree(few, error), sound=sound), evidence, "certified", corrected=corrected, assumption=assumption
    )


@claim(
    "lopuhaa2020",
    "Section 6, more than two values",
    says="whether bounds like these are attained for more than two values is open",
    rests_on=(
        "accuracy.lower_bounds.any_channel_bound",
        "accuracy.lower_bounds.any_channel_bound_at",
        "accuracy.lower_bounds.distribution_bound",
        "mechanisms.subsets.SubsetSelection.channel",
        "accuracy.information.distribution_error",
    ),
)
def more_than_two_values() -> Verdict:
    """Answer it: the sharper bound is attained, as epsilon falls, by subset selection with half of the values, whatever
    the prior.
    """
    sound, ratios, published = _optimum_sound(), [], []
    points = {2: [0.9, 0.1], 3: [0.7, 0.2, 0.1], 4: [0.97, 0.01, 0.01, 0.01], 6: [0.5, 0.3, 0.1, 0.05, 0.03, 0.02]}
    for size, weights in points.items():
        point, epsilon = np.array(weights), SMALL
        channel = subsets.SubsetSelection(epsilon, size, size // 2).channel()
        error = information.distribution_error(channel, point)
        sound &= agree(error, _trace(channel, point), rel=1e-6)
        bound, fewer = lower_bounds.any_channel_bound_at(point, epsilon)
        sound &= agree([bound, fewer], _plane_bound(point, epsilon) - np.array([0, 1 - point @ point]))
        ratios += [error / lower_bounds.any_channel_bound(size, epsilon), error / bound]
        published.append(error / lower_bounds.distribution_bound(size, epsilon))
    evidence = (
        "limiting error of subset selection with floor(a/2) values over the sharper bound, skewed distributions, a = 2, 3, 4, 6, epsilon .001: "
        f"{min(ratios):.4f} to {max(ratios):.4f}; over the published bound {', '.join(f'{r:.2f}' for r in published)}"
    )
    corrected = (
        "For any channel and prior n MSE_P >= E[(a-1)^2 / tau(P)] >= a (a-1)^2 / (floor(a^2/4) (e^epsilon - 1)^2), attained as epsilon falls by "
        "subset selection with floor(a/2) values; the published bound is attained for a = 2 only."
    )
    attained = min(ratios) + 1e-9 >= 1 and max(ratios) < 1.003 and min(published[1:]) > 1.9
    return Verdict("corrected" if sound and attained else "open", evidence, "proof", corrected=corrected)


def _plane_bound(point: Array, epsilon: float) -> float:
    """Return ``(a-1)^2`` over the largest trace of the information of one output, all patterns tried, on the
    hyperplane.
    """
    patterns = np.exp(epsilon) * design.staircase_patterns(point.size, epsilon)
    away = patterns - patterns.mean(axis=1, keepdims=True)
    return float((point.size - 1) ** 2 / ((away**2).sum(axis=1) / (patterns @ point) ** 2).max())


@claim(
    "lopuhaa2020",
    "Section 6, optimal protocols",
    says="which protocols are optimal for more than two values, and what happens at low privacy, is open",
    rests_on=(
        "privacy.design.best_channel",
        "accuracy.lower_bounds.uniform_optimum",
        "accuracy.lower_bounds.uniform_information",
        "mechanisms.subsets.SubsetSelection.channel",
    ),
)
def optimal_protocols() -> Verdict:
    """Answer it at the uniform distribution for few values, by convex optimisation with a certificate."""
    sound, worst, switches = _optimum_sound(), 1.0, []
    for size in (3, 4, 5, 6):
        for epsilon in (0.1, 0.5, 2.0, 5.0):
            best = design.best_channel(_uniform(size), epsilon)
            selection = subsets.SubsetSelection.optimal(epsilon, size).channel()
            worst = max(worst, _trace(selection, _uniform(size)) / best.lower_bound)
        switch = 0.5 * np.log((size - 1) * (size - 2) / 2)
        sizes = (
            [lower_bounds.uniform_optimum(size, switch * factor)[1] for factor in (0.99, 1.01)] if size > 3 else [2, 1]
        )
        switches.append(sizes == [2, 1])
    holds = worst < 1 + 1e-8 and all(switches)
    evidence = (
        f"3 to 6 values, epsilon .1, .5, 2, 5: subset selection is within {1e-8:.0e} of the certified least error of any channel; k-RR takes over "
        f"from sets of two at epsilon {0.5 * np.log(3):.3f}, {0.5 * np.log(6):.3f}, {0.5 * np.log(10):.3f} for 4, 5, 6 values"
    )
    corrected = (
        "At the uniform distribution subset selection with k near a / (e^epsilon + 1) values has the least limiting error of all channels; that is "
        "k-RR once e^epsilon >= sqrt((a-1)(a-2)/2)."
    )
    assumption = "Certified for at most 6 values, at the uniform distribution."
    return Verdict(
        "corrected" if sound and holds else "open", evidence, "certified", corrected=corrected, assumption=assumption
    )


@claim(
    "lopuhaa2020",
    "Proposition 4.6",
    says="for a = 2 and Warner's estimate, n MSE_F = 2 e^epsilon / (e^epsilon - 1)^2 and n MSE_P is that plus 2 E[P_1 P_2], for any n and prior",
    rests_on=(
        "accuracy.information.unbiased_frequency_error",
        "accuracy.information.dirichlet_diversity",
        "estimators.frequency.unbiased",
    ),
)
def proposition_4_6() -> Verdict:
    """Decide by complete enumeration of four users under three priors."""
    epsilon, users, holds = 1.0, 4, True
    mechanism = KaryRandomisedResponse(epsilon, 2)
    error, written = information.unbiased_frequency_error(mechanism), 2 * np.e / (np.e - 1) ** 2
    sound = agree(information.dirichlet_diversity(2), 0.25)
    for prior in ([0.5, 0.5], [1.0, 1.0], [0.5, 1.5]):
        alpha = np.array(prior)
        every = routes.all_sequences(routes.krr_channel(epsilon, 2), users, alpha)
        plain = frequency.unbiased(every.tallies, users, mechanism)
        sound &= agree(plain[:, 0], (every.tallies[:, 0] / users * (np.e + 1) - 1) / (np.e - 1))
        mixed = 2 * alpha[0] * alpha[1] / (alpha.sum() * (alpha.sum() + 1))
        holds &= agree(users * every.risk("frequency", plain), written)
        holds &= agree(users * every.risk("distribution", plain), written + mixed)
    sound &= agree(error, written)
    jeffreys = error + information.dirichlet_diversity(2)
    evidence = (
        f"epsilon 1, four users, three Beta priors: n MSE_F = {error:.9f}, n MSE_P = {jeffreys:.9f} "
        "under Jeffreys' prior, enumerated and in closed form"
    )
    return Verdict(judge(holds, sound=sound, otherwise="open"), evidence, "enumeration")


@claim(
    "lopuhaa2020",
    "Corollary 4.7",
    says="for a = 2 Warner's estimate attains the bounds of Theorem 4.5 as epsilon falls to 0",
    rests_on=(
        "accuracy.information.unbiased_frequency_error",
        "accuracy.information.dirichlet_diversity",
        "accuracy.lower_bounds.distribution_bound",
        "accuracy.lower_bounds.frequency_bound",
    ),
)
def corollary_4_7() -> Verdict:
    """Decide by the ratios of error and bound on a falling sequence of budgets."""
    sound, ratios = True, []
    for epsilon in (1.0, 0.1, 0.01, 0.001):
        error = information.unbiased_frequency_error(KaryRandomisedResponse(epsilon, 2))
        bounds = lower_bounds.distribution_bound(2, epsilon), lower_bounds.frequency_bound(2, epsilon)
        contrast = np.expm1(epsilon)
        sound &= agree(error, 2 * np.exp(epsilon) / contrast**2)
        sound &= agree(bounds, (2 / contrast**2, 2 * np.exp(-2 * epsilon) / contrast**2))
        diversity = information.dirichlet_diversity(2)
        sound &= agree(diversity, 0.25)
        ratios.append((bounds[0] / (error + diversity), bounds[1] / error))
    first, last = ratios[0], ratios[-1]
    evidence = (
        f"bound over error of distribution and frequencies: {first[0]:.3f} and {first[1]:.3f} at epsilon 1, "
        f"{last[0]:.4f} and {last[1]:.4f} at .001"
    )
    holds = min(last) > 0.99 and max(map(max, ratios)) < 1
    assumption = "First n grows, then epsilon falls."
    return Verdict(judge(holds, sound=sound, otherwise="open"), evidence, "identity", assumption=assumption)


@claim(
    "lopuhaa2020",
    "Table I",
    says="the new lower bounds a/(n epsilon^2) hold in any case for many users, within a constant of the attainable 4a/(n epsilon^2)",
    rests_on=(
        "accuracy.information.unbiased_frequency_error",
        "accuracy.lower_bounds.distribution_bound",
        "accuracy.lower_bounds.frequency_bound",
    ),
)
def table_1() -> Verdict:
    """Decide the rows that can be rebuilt: the new bounds and what the unary encodings attain."""
    sound, ratios, size = True, {}, 1024
    bounds = lower_bounds.distribution_bound(size, SMALL), lower_bounds.frequency_bound(size, SMALL)
    contrast = np.expm1(SMALL)
    sound &= agree(bounds, (size / contrast**2, size * np.exp(-size / (size - 1) * SMALL) / contrast**2))
    for name, make in (("OUE", UnaryEncoding.optimised), ("SUE", UnaryEncoding.symmetric)):
        mechanism = make(SMALL, size)
        error = information.unbiased_frequency_error(mechanism)
        one, other = mechanism.p * (1 - mechanism.p), mechanism.q * (1 - mechanism.q)
        sound &= agree(error, (one + (size - 1) * other) / (mechanism.p - mechanism.q) ** 2)
        ratios[name] = error * SMALL**2 / size
    scaled = [bound * SMALL**2 / size for bound in bounds]
    evidence = (
        f"n epsilon^2 / a times error or bound at a = 1024, epsilon .001: new bounds {scaled[0]:.3f} (distribution), {scaled[1]:.3f} (frequencies); "
        f"attained by {', '.join(f'{name} {ratio:.3f}' for name, ratio in ratios.items())}"
    )
    assumption = "The known lower bounds of [13] and [4] cannot be read from the text; for many users only."
    holds = all(abs(r - 4) < 0.02 for r in ratios.values()) and all(abs(s - 1) < 0.005 for s in scaled)
    return Verdict(judge(holds, sound=sound, otherwise="open"), evidence, "identity", assumption=assumption)
