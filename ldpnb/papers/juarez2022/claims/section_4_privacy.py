"""Sections 2 and 4 of juarez2022 with Appendices A and B: the privacy of both mechanisms and how their budgets are
split.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from ldpnb.accuracy import budgets, gaps
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.mechanisms import groups, moves
from ldpnb.papers.juarez2022 import printed as published
from ldpnb.papers.juarez2022 import routes
from ldpnb.privacy import channel, hockey_stick

BUDGETS = (0.1, 0.5, 1.0, 2.0, 4.0)
GROUPS = (2, 3, 5)
VALUES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])


@claim(
    "juarez2022",
    "Definition 2.2",
    says="generalised randomised response over {0, ..., d} keeps x with probability a in [1/2, 1] and sends each other value with "
    "probability (1 - a)/(d - 1)",
    rests_on=("mechanisms.moves.keep_probability", "mechanisms.moves.move_probability"),
)
def definition_2_2() -> Verdict:
    """Add up the printed probabilities, and those over d values."""
    totals, least, sound = [], 1.0, True
    for epsilon, d in product(BUDGETS, (2, 3, 5)):
        keep, move = moves.keep_probability(epsilon, d), moves.move_probability(epsilon, d)
        sound &= agree(
            [keep, keep + (d - 1) * move, np.log(keep / move)], [routes.printed_keep(epsilon, d), 1, epsilon]
        )
        totals.append(keep + d * (1 - keep) / (d - 1))
        least = min(least, keep)
    return Verdict(
        judge(agree(totals, np.ones(len(totals))) and least >= 0.5, sound=sound, otherwise="corrected"),
        f"over d + 1 values the printed probabilities sum to {min(totals):.4f} up to {max(totals):.4f}, and d = 1 divides by 0; "
        f"with d values they sum to 1, and at epsilon = 0.1, d = 5 the truth has probability {least:.4f} < 1/2",
        "identity",
        corrected="there are d >= 2 values {0, ..., d - 1}, and a = e^eps1 / (e^eps1 + d - 1) > 1/d",
    )


@claim(
    "juarez2022",
    "Theorem 4.1",
    says="M_R is epsilon-LDP with epsilon = max(eps1, eps2)",
    rests_on=(
        "mechanisms.groups.DiscretisedMeans.epsilon",
        "mechanisms.groups.DiscretisedMeans.claimed_epsilon",
        "mechanisms.groups.DiscretisedMeans.channel",
        "privacy.channel.privacy_loss",
        "privacy.hockey_stick.channel_delta",
    ),
)
def theorem_4_1() -> Verdict:
    """Take the largest ratio over the whole channel, for 2, 3 and 5 groups, and the delta that is left at the claimed
    budget.
    """
    worst, sound, holds = 0.0, True, True
    for first, second, d in product(BUDGETS, BUDGETS, GROUPS):
        mechanism = groups.DiscretisedMeans(first, second, d)
        found = channel.privacy_loss(mechanism.channel(VALUES)).epsilon
        sound &= agree([mechanism.epsilon, mechanism.claimed_epsilon], [found, max(first, second)])
        holds &= found <= max(first, second) + 1e-12
        worst = max(worst, found - max(first, second))
    example = groups.DiscretisedMeans(1.0, 1.0)
    matrix = example.channel()
    delta = hockey_stick.channel_delta(matrix, 1.0)
    pairs = [hockey_stick.discrete_delta(p, q, 1.0) for p, q in product(matrix.T, matrix.T)]
    sound &= agree(delta, max(pairs)) and agree(hockey_stick.channel_delta(matrix, example.epsilon), 0.0)
    return Verdict(
        judge(holds, sound=sound),
        f"at eps1 = eps2 = 1 the exact loss is {example.epsilon:.5f}, and delta = {delta:.5f} is left at 1; the excess over the claim is up to "
        f"{worst:.4f} here and tends to ln 2; formula and channel agree for {len(BUDGETS) ** 2 * len(GROUPS)} settings with 2, 3 and 5 groups",
        "enumeration",
        corrected="for every number of groups epsilon = max(eps2, eps1 + ln(2 / (1 + e^-eps2))); step (6) of the proof takes "
        "2 e^eps2 / (1 + e^eps2) for at most 1, and it is more for every eps2 > 0",
    )


@claim(
    "juarez2022",
    "Theorem 4.1, allocation",
    says="eps1 = eps2 = epsilon is the allocation of M_R with the smallest error at a total budget epsilon",
    rests_on=("mechanisms.groups.DiscretisedMeans.calibrated", "accuracy.gaps.variance_discretised_mean"),
)
def theorem_4_1_allocation() -> Verdict:
    """Search all allocations of the same exact loss, for equal groups and a minority of 1 %, against the claimed and
    the corrected optimum.
    """
    ratios, sound = [], True
    for epsilon, sizes in product(BUDGETS, ((5000, 5000), (100, 9900))):
        best = groups.DiscretisedMeans.calibrated(epsilon)
        variance = gaps.gap_variance(best, sizes, (0.0, 0.0))
        sound &= agree(best.epsilon, epsilon)
        sound &= agree(variance, routes.gap_moments(best, np.diag(sizes), [0.0, 0.0])[1])
        seconds = epsilon * np.linspace(0.05, 1, 96)
        tried = [groups.DiscretisedMeans(epsilon - float(np.log1p(np.tanh(s / 2))), s) for s in seconds]
        sound &= bool(min(gaps.gap_variance(m, sizes, (0.0, 0.0)) for m in tried) >= variance * (1 - 1e-9))
        growth = (np.exp(epsilon) + np.sqrt(np.exp(2 * epsilon) + 8 * np.exp(epsilon))) / 4
        equal = groups.DiscretisedMeans(float(np.log(growth)), float(np.log(growth)))
        sound &= agree(equal.epsilon, epsilon)
        ratios.append(gaps.gap_variance(equal, sizes, (0.0, 0.0)) / variance)
    return Verdict(
        judge(max(ratios) <= 1, sound=sound, otherwise="corrected"),
        f"equal budgets of the same exact loss have {min(ratios):.4f} to {max(ratios):.4f} times the variance of the optimum "
        f"(epsilon 0.1 to 4, equal groups and a minority of 1 %); no other of 96 allocations beats it",
        "certified",
        corrected="eps2 = epsilon and eps1 = ln((1 + e^epsilon) / 2), for any sizes of the groups",
    )


def density_loss(mechanism: groups.LaplaceMeans, reports: NDArray[np.float64]) -> float:
    """Return the largest log-ratio of the densities of given reported values, over all groups and the values -1, 0 and
    1.
    """
    laws = np.array([mechanism.law(g, v) for g, v in product(range(mechanism.groups), (-1.0, 0.0, 1.0))])
    chance, location, scale = np.moveaxis(laws, 2, 0)[..., None]
    if not agree(laws[..., 0].sum(axis=1), np.ones(len(laws))):
        return float("nan")
    logs = np.log(chance / (2 * scale)) - np.abs(reports - location) / scale
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


@claim(
    "juarez2022",
    "Theorem 4.3, k = 2",
    says="with k = 2, M_L is epsilon-LDP with epsilon = max(eps2, eps2/2 + eps1)",
    rests_on=(
        "mechanisms.groups.LaplaceMeans.epsilon",
        "mechanisms.groups.LaplaceMeans.law",
        "mechanisms.groups.LaplaceMeans.claimed_epsilon",
        "privacy.hockey_stick.laplace_means_delta",
    ),
)
def theorem_4_3_two() -> Verdict:
    """Maximise the log-ratio, piecewise linear in the report, over its corners; and take delta just below and at the
    stated budget.
    """
    corners, sound, holds = np.array([-9.0, -1.0, 0.0, 1.0, 9.0]), True, True
    below = []
    for first, second, d in product((0.05, 0.5, 1.5), (0.1, 1.0, 4.0), GROUPS):
        mechanism = groups.LaplaceMeans(first, second, 2.0, d)
        stated = max(second, second / 2 + first)
        found = density_loss(mechanism, corners)
        holds &= found <= stated + 1e-12
        sound &= agree([mechanism.epsilon, mechanism.claimed_epsilon, found], [stated] * 3)
    example = groups.LaplaceMeans(0.5, 1.0)
    for epsilon in (0.9, 0.98):
        below.append(hockey_stick.laplace_means_delta(example, epsilon))
        pairs = [((0, 1.0), (0, -1.0)), ((0, 1.0), (1, 1.0))]
        sound &= agree(below[-1], max(routes.integrated_delta(example, pair, epsilon) for pair in pairs))
    sound &= agree(hockey_stick.laplace_means_delta(example, 1.0), 0.0) and below[-1] > 0
    return Verdict(
        judge(holds, sound=sound),
        f"the largest log-ratio equals the stated budget in 27 settings with 2, 3 and 5 groups; at eps1 = 0.5, eps2 = 1 delta is 0 at 1 and "
        f"{below[-1]:.3g} at 0.98, so it is tight",
        "certified",
        assumption="k = 2, all that the proof treats",
    )


@claim(
    "juarez2022",
    "Theorem 4.3, allocation",
    says="for M_L with k = 2 the smallest error at a total budget epsilon is at eps2 = epsilon, eps1 = epsilon/2",
    rests_on=("accuracy.budgets.best_laplace", "accuracy.gaps.variance_laplace_mean"),
)
def theorem_4_3_allocation() -> Verdict:
    """Search all splits of the same exact loss by a fine grid and by a minimiser, for equal groups and small
    minorities.
    """
    gains, sound = {}, True
    for epsilon, share in product((0.5, 1.0, 2.0, 4.0, 6.0, 8.0), (0.5, 0.1, 0.01, 0.001)):
        sizes = (round(10**6 * share), 10**6 - round(10**6 * share))
        stated, best = groups.LaplaceMeans.calibrated(epsilon), budgets.best_laplace(epsilon, sizes)
        split = np.linspace(0.1, 1, 73) * epsilon
        grid = [gaps.worst_gap_variance(groups.LaplaceMeans(epsilon - s / 2, s), sizes) for s in split]
        found, at_stated = (gaps.worst_gap_variance(m, sizes) for m in (best, stated))
        sound &= agree(at_stated, routes.gap_moments(stated, np.diag(sizes), [1.0, 1.0])[1])
        sound &= agree(best.epsilon, epsilon) and bool(found <= min(grid) * (1 + 1e-9) <= found * (1 + 5e-3))
        gains[epsilon, share] = at_stated / found - 1
    equal = max(g for (_, share), g in gains.items() if share >= 0.1)
    return Verdict(
        judge(max(gains.values()) < 1e-9, sound=sound, otherwise="corrected"),
        f"for groups of 10 % and more {'no' if equal == 0 else 'a'} split is better up to epsilon = 8; next to a minority of 1 % the best split at "
        f"epsilon = 6 saves {gains[6.0, 0.01]:.1%} of the variance, next to 0.1 % {gains[6.0, 0.001]:.1%}",
        "certified",
        corrected="eps2 = epsilon, eps1 = epsilon/2 is optimal for equal groups and for small budgets; next to a small minority and from about "
        "epsilon = 4 on, a smaller eps2 with eps1 = epsilon - eps2/2 is better",
    )


@claim(
    "juarez2022",
    "Theorem 4.3, other k",
    says="M_L with noise of scale k/eps2 on changed clients is epsilon-LDP with the epsilon of equation (1)",
    rests_on=(
        "mechanisms.groups.LaplaceMeans.claimed_epsilon",
        "mechanisms.groups.LaplaceMeans.clipped_epsilon",
        "mechanisms.groups.LaplaceMeans.law",
        "privacy.hockey_stick.laplace_means_delta",
    ),
)
def theorem_4_3_other() -> Verdict:
    """Follow the log-ratio into the tails, and take delta at the stated budget by closed form and by quadrature."""
    sound, slopes, deltas = True, [], []
    for k in (2 / 3, 1.0, 3.0):
        mechanism = groups.LaplaceMeans(0.5, 1.0, k)
        stated = max(1.0, np.log(2 / k), np.log(k / 2) + 1 / k + 0.5)
        sound &= agree(mechanism.claimed_epsilon, stated)
        far, farther = (density_loss(mechanism, np.array([-x, x])) for x in (1e3, 2e3))
        sound &= agree((farther - far) / 1e3, abs(1 / k - 1 / 2))
        slopes.append(farther)
        deltas.append(hockey_stick.laplace_means_delta(mechanism, stated))
        pairs = [((0, 1.0), (0, -1.0)), ((0, 1.0), (1, 1.0))]
        sound &= agree(deltas[-1], max(routes.integrated_delta(mechanism, pair, stated) for pair in pairs))
        sound &= agree(mechanism.clipped_epsilon, _clipped_loss(mechanism))
    return Verdict(
        judge(max(slopes) <= 10, sound=sound),
        f"at eps1 = 0.5, eps2 = 1 the log-ratio of a report of 2000 is {slopes[0]:.0f}, {slopes[1]:.0f} and {slopes[2]:.0f} for k = 2/3, 1 and 3; "
        f"at the stated budgets delta = {deltas[0]:.4f}, {deltas[1]:.4f} and {deltas[2]:.2g}",
        "certified",
        corrected="for k != 2 no epsilon is finite: the log-ratio grows like eps2 |v'| |1/k - 1/2|. Equation (1) looks at reports in [-1, 1] only; "
        "clipping them there biases the estimate, and for k < 2 still loses eps1 + eps2/k",
    )


def _clipped_loss(mechanism: groups.LaplaceMeans) -> float:
    """Return the loss of reports clipped to [-1, 1]: the largest log-ratio of densities inside and of the two atoms."""
    inside = density_loss(mechanism, np.array([-1.0, 0.0, 1.0]))
    laws = np.array([mechanism.law(g, v) for g, v in product(range(mechanism.groups), (-1.0, 0.0, 1.0))])
    chance, location, scale = np.moveaxis(laws, 2, 0)
    atoms = np.log(chance / 2) - (1 - location) / scale
    return max(inside, float((atoms.max(axis=0) - atoms.min(axis=0)).max()))


@claim(
    "juarez2022",
    "Appendix B, privacy",
    says="the optimal M_L, with k = max(2/3, epsilon), is epsilon-LDP",
    rests_on=(
        "mechanisms.groups.LaplaceMeans.published",
        "privacy.hockey_stick.laplace_means_delta",
        "privacy.hockey_stick.total_variation",
    ),
)
def appendix_b_privacy() -> Verdict:
    """Compute its delta at the budget it claims, for the budgets of Table 1, by closed form and by quadrature."""
    table = published.table_1()
    printed = sorted(set(table.loc[table["mechanism"] == "M_L", "printed"]))
    sound, deltas = True, {}
    for epsilon in (0.02, 0.07, 0.1, 0.21, 0.71, 1.0, 2.56):
        mechanism = groups.LaplaceMeans.published(epsilon)
        sound &= agree((mechanism.group_epsilon, mechanism.k), routes.published_laplace_budgets(epsilon))
        sound &= agree(mechanism.claimed_epsilon, epsilon)
        pairs = [((0, 1.0), (0, -1.0)), ((0, 1.0), (1, 1.0))]
        deltas[epsilon] = hockey_stick.laplace_means_delta(mechanism, epsilon)
        distance = hockey_stick.total_variation(mechanism)
        by_quadrature = [max(routes.integrated_delta(mechanism, pair, e) for pair in pairs) for e in (epsilon, 0.0)]
        sound &= agree([deltas[epsilon], distance], by_quadrature)
    small = [e for e in printed if e < 1]
    distance = hockey_stick.total_variation(groups.LaplaceMeans.published(0.02))
    return Verdict(
        judge(max(deltas.values()) < 1e-12, sound=sound),
        f"delta at the claimed budget is {deltas[0.02]:.4f} at 0.02, {deltas[0.21]:.4f} at 0.21, {deltas[0.71]:.4f} at 0.71, {deltas[1.0]:.4f} at 1, "
        f"{deltas[2.56]:.1e} at 2.56; the {len(small)} printed budgets below 1 carry {deltas[0.71]:.2f} to {deltas[0.02]:.2f}; at 0.02 two clients' "
        f"reports have total variation distance {distance:.4f}, where 0.0100 would be private",
        "certified",
        corrected="only epsilon = 2, where k = 2, is private; delta tends to 1/2 as epsilon tends to 0, for the noise's scale tells whether the "
        "group was changed. Use k = 2, eps2 = epsilon, eps1 = epsilon/2",
    )


@claim(
    "juarez2022",
    "Section 4, range of k",
    says="the noise parameter of M_L has 0 < k <= 2",
    rests_on=(
        "mechanisms.groups.LaplaceMeans.published",
        "mechanisms.groups.LaplaceMeans.claimed_epsilon",
        "mechanisms.groups.published_group_epsilon",
    ),
)
def range_of_k() -> Verdict:
    """Count the cells of Table 1 whose mechanism has k > 2, and see what equation (1) says when k is capped instead."""
    table = published.table_1()
    printed = table.loc[table["mechanism"] == "M_L", "printed"].tolist()
    limit = published.value("Section 4", "largest_k")
    mechanisms = [groups.LaplaceMeans.published(epsilon) for epsilon in printed]
    sound = agree([m.k for m in mechanisms], [routes.published_laplace_budgets(e)[1] for e in printed])
    sound &= agree([m.claimed_epsilon for m in mechanisms], printed)
    outside = sum(m.k > limit for m in mechanisms)
    first = groups.published_group_epsilon(10.0)
    capped = groups.LaplaceMeans(first, 10.0, limit)
    sound &= agree(first, routes.published_laplace_budgets(10.0)[0])
    sound &= agree(capped.claimed_epsilon, 10.0 / 2 + np.log(2 / 10) + 9)
    return Verdict(
        judge(outside == 0, sound=sound, otherwise="corrected"),
        f"{outside} of the {len(printed)} printed budgets of M_L exceed 2 and have k = epsilon, up to {max(printed)}; "
        f"with k capped at 2 and the same eps1, as in the published code of Table 2, equation (1) gives {capped.claimed_epsilon:.2f} for 10",
        "identity",
        corrected="Appendix B and Table 1 use k = epsilon without an upper limit; only k = 2 is private",
    )


@claim(
    "juarez2022",
    "Equation (21)",
    says="for eps2 = epsilon, equation (1) allows eps1 between two bounds if and only if k >= 2/3, and eps1 is largest at k = epsilon (at 2/3 below)",
    rests_on=("mechanisms.groups.LaplaceMeans.claimed_epsilon", "mechanisms.groups.published_group_epsilon"),
)
def equation_21() -> Verdict:
    """Put both bounds into equation (1), compare them on a grid of k, and maximise the upper one."""
    sound = holds = True
    ks = np.arange(16, 400) / 24
    for epsilon in (0.3, 0.9, 1.7, 5.0):
        upper = np.log(2 / ks) + epsilon * (1 - 1 / ks)
        lower = np.log(2 / ks) - epsilon / 2
        holds &= bool(np.all(upper >= lower - 1e-12)) and np.log(3) - epsilon / 2 >= upper[0] - 1e-12
        below = np.log(2 / 0.65) + epsilon * (1 - 1 / 0.65) < np.log(2 / 0.65) - epsilon / 2
        inside = [
            groups.LaplaceMeans(float(u), epsilon, float(k)).claimed_epsilon
            for u, k in zip(upper, ks, strict=True)
            if u > 0
        ]
        sound &= agree(inside, np.full(len(inside), epsilon))
        best = groups.published_group_epsilon(epsilon)
        at = max(2 / 3, epsilon)
        sound &= agree(best, np.log(2 / at) + epsilon * (1 - 1 / at))
        holds &= bool(below) and best >= upper.max() - 1e-12
    return Verdict(
        judge(holds, sound=sound),
        f"on {len(ks)} values of k from 2/3 on the bounds are ordered and the upper one meets equation (1) with equality; at k = 0.65 they cross; "
        "the upper one is largest at k = max(2/3, epsilon) for epsilon 0.3, 0.9, 1.7 and 5",
        "identity",
        assumption="equation (1), which is not the privacy loss",
    )
