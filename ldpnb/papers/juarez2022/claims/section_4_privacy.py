"""Sections 2 and 4 of juarez2022 with Appendices A and B: the privacy of both mechanisms, and how budgets are split."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ldpnb.accuracy import budgets, gaps
from ldpnb.claims import Evidence, agree, claim
from ldpnb.mechanisms import frequency, groups, moves
from ldpnb.papers.juarez2022 import printed, routes
from ldpnb.papers.juarez2022.proofs import privacy
from ldpnb.privacy import channel, hockey_stick

BUDGETS = (0.1, 0.5, 1.0, 2.0, 4.0)
GROUPS = (2, 3, 5)
VALUES = (-1.0, -0.5, 0.0, 0.5, 1.0)
INSIDE = np.array([-1.0, 0.0, 1.0])
"""Reports at which the log-ratios of `LaplaceMeans` are largest in [-1, 1], all that equation (1) looks at."""
ALWAYS, SMALL = "0.0442", "1.74"
"""Share of the smaller group from which on, and half the budget up to which, ``eps2 = epsilon`` is best for ``M_L``."""
WINDOWS = ("0.0441", "0.01", "0.001")
"""Shares of a smaller group next to which there are budgets at which it is not; the first is just below `ALWAYS`."""

section_4 = partial(claim, kind="certified", reach="all parameters")


@section_4(
    "Definition 2.2",
    frequency.KaryRandomisedResponse.p,
    frequency.KaryRandomisedResponse.q,
    kind="identity",
    otherwise="corrected",
    corrected="there are d >= 2 values {0, ..., d - 1}, and a = e^eps1 / (e^eps1 + d - 1) > 1/d, below 1/2 where "
    "e^eps1 < d - 1",
    over="epsilon > 0, d >= 2",
)
def definition_2_2(e: Evidence) -> str:
    """generalised randomised response over {0, ..., d} keeps x with probability a in [1/2, 1] and sends each other
    value with probability (1 - a)/(d - 1)
    """
    settings = list(product(BUDGETS, (2, 3, 5)))
    epsilon, d = np.array(settings).T
    responses = [frequency.KaryRandomisedResponse(*setting) for setting in settings]
    keep, move = np.array([response.p for response in responses]), np.array([response.q for response in responses])
    one = np.ones(len(settings))
    e.same([keep, keep + (d - 1) * move, np.log(keep / move)], [routes.printed_keep(epsilon, d), one, epsilon])
    totals = keep + d * (1 - keep) / (d - 1)
    e.needs(agree(totals, one) and keep.min() >= 0.5)
    e.proven(privacy.response_is_private() and privacy.one_value_too_many())
    return (
        f"over d + 1 values the printed probabilities sum to {totals.min():.4f} up to {totals.max():.4f}, and d = 1 "
        "divides by 0; with d values they sum to 1, and at epsilon = 0.1, d = 5 the truth has probability "
        f"{keep.min():.4f} < 1/2"
    )


@section_4(
    "Theorem 4.1",
    groups.DiscretisedMeans.epsilon,
    groups.DiscretisedMeans.claimed_epsilon,
    groups.DiscretisedMeans.channel,
    channel.privacy_loss,
    hockey_stick.channel_delta,
    groups.DiscretisedMeans.group_loss,
    groups.DiscretisedMeans.keep,
    groups.DiscretisedMeans.move,
    moves.sign_probabilities,
    hockey_stick.discrete_delta,
    kind="enumeration",
    corrected="for two or more groups epsilon = max(eps2, eps1 + ln(2 / (1 + e^-eps2))), more than claimed where 2 "
    "e^eps1 > 1 + e^eps2, and so whenever eps1 >= eps2; step (6) of the proof takes 2 e^eps2 / (1 + e^eps2) to be at "
    "most 1, but it is larger for every eps2 > 0",
    over="eps1, eps2 > 0, two or more groups, all values",
    argument="chances are linear in the value, so that values 1 and -1 are extreme",
)
def theorem_4_1(e: Evidence) -> str:
    """M_R is epsilon-LDP with epsilon = max(eps1, eps2)"""
    excess = []
    for first, second, d in product(BUDGETS, BUDGETS, GROUPS):
        mechanism, claimed = groups.DiscretisedMeans(first, second, d), max(first, second)
        matrix = routes.printed_channel(mechanism, VALUES)
        e.same(mechanism.channel(VALUES), matrix)
        found = channel.privacy_loss(matrix).epsilon
        e.same([mechanism.epsilon, mechanism.claimed_epsilon], [found, claimed])
        excess.append(found - claimed)
    e.needs(max(excess) <= 1e-12)
    example = groups.DiscretisedMeans(1.0, 1.0)
    matrix = routes.printed_channel(example, (-1.0, 1.0))
    delta = hockey_stick.channel_delta(matrix, 1.0)
    e.same(delta, max(hockey_stick.discrete_delta(p, q, 1.0) for p, q in product(matrix.T, matrix.T)))
    e.same(hockey_stick.channel_delta(matrix, example.epsilon), 0.0)
    e.proven(privacy.losses_of_signs() and privacy.loss_exceeds_claim())
    return (
        f"at eps1 = eps2 = 1 the exact loss is {example.epsilon:.5f}, and delta = {delta:.5f} is left at 1; the excess "
        f"over the claim is up to {max(excess):.4f} here and tends to ln 2; formula and channel agree for "
        f"{len(BUDGETS) ** 2 * len(GROUPS)} settings with 2, 3 and 5 groups"
    )


@section_4(
    "Theorem 4.1, allocation",
    groups.DiscretisedMeans.calibrated,
    gaps.variance_discretised_mean,
    gaps.GroupGap.variance,
    groups.DiscretisedMeans.channel,
    groups.DiscretisedMeans.epsilon,
    groups.DiscretisedMeans.group_loss,
    otherwise="corrected",
    corrected="eps2 = epsilon and eps1 = ln((1 + e^epsilon) / 2), for any sizes of the groups",
    over="epsilon > 0, every number and all sizes of groups, all values",
    argument="the best split spends the whole budget, as the variance falls in eps1 and in eps2",
)
def theorem_4_1_allocation(e: Evidence) -> str:
    """of the allocations of a total budget epsilon, eps1 = eps2 = epsilon gives M_R the smallest error"""
    ratios = []
    for epsilon, sizes in product(BUDGETS, ((5000, 5000), (100, 9900))):

        def variance(first: float, second: float, sizes: tuple[int, int] = sizes) -> float:
            return float(gaps.GroupGap(groups.DiscretisedMeans(first, second), sizes).variance((0.0, 0.0)))

        best = groups.DiscretisedMeans.calibrated(epsilon)
        least = variance(best.group_epsilon, best.value_epsilon)
        e.same([best.epsilon, least], [epsilon, routes.gap_moments(best, np.diag(sizes), [0.0, 0.0])[1]])
        equal = float(np.log((np.exp(epsilon) + np.sqrt(np.exp(2 * epsilon) + 8 * np.exp(epsilon))) / 4))
        e.same(groups.DiscretisedMeans(equal, equal).epsilon, epsilon)
        ratios.append(variance(equal, equal) / least)
    e.needs(max(ratios) <= 1)
    e.proven(privacy.best_split_of_signs())
    return (
        f"equal budgets of the same exact loss have {min(ratios):.4f} to {max(ratios):.4f} times the variance of the "
        "optimum (epsilon 0.1 to 4, equal groups and a minority of 1%); along the line of one loss the variance falls "
        "up to eps2 = epsilon"
    )


@section_4(
    "Theorem 4.3, k = 2",
    groups.LaplaceMeans.epsilon,
    groups.LaplaceMeans.law,
    groups.LaplaceMeans.claimed_epsilon,
    hockey_stick.laplace_means_delta,
    groups.LaplaceMeans.group_loss,
    groups.LaplaceMeans.keep,
    groups.LaplaceMeans.kept_scale,
    groups.LaplaceMeans.move,
    groups.LaplaceMeans.moved_scale,
    assumption="k = 2, the only case that the proof treats",
    over="eps1, eps2 > 0, two or more groups, all values and reports",
    argument="by the triangle inequality the log-ratios are largest at values 1, -1 and 0, one of them the report",
)
def theorem_4_3_two(e: Evidence) -> str:
    """with k = 2, M_L is epsilon-LDP with epsilon = max(eps2, eps2/2 + eps1)"""
    corners = np.array([-9.0, -1.0, 0.0, 1.0, 9.0])  # between them the log-ratio is linear in the report
    for first, second, d in product((0.05, 0.5, 1.5), (0.1, 1.0, 4.0), GROUPS):
        mechanism, stated = groups.LaplaceMeans(first, second, 2.0, d), max(second, second / 2 + first)
        found = _density_loss(mechanism, corners)
        e.same([mechanism.epsilon, mechanism.claimed_epsilon, found], [stated] * 3)
        e.needs(found <= stated + 1e-12)
    e.proven(privacy.losses_of_noise())
    example = groups.LaplaceMeans(0.5, 1.0)
    below = [hockey_stick.laplace_means_delta(example, epsilon) for epsilon in (0.9, 0.98, 1.0)]
    e.same(below, [*(routes.worst_delta(example, epsilon) for epsilon in (0.9, 0.98)), 0.0])
    e.sure(below[1] > 0)
    return (
        "the largest log-ratio equals the stated budget in 27 settings with 2, 3 and 5 groups; at eps1 = 0.5, eps2 = 1 "
        f"delta is 0 at 1 and {below[1]:.3g} at 0.98, so it is tight"
    )


@section_4(
    "Theorem 4.3, allocation",
    budgets.best_laplace,
    gaps.variance_laplace_mean,
    gaps.GroupGap.worst_variance,
    groups.LaplaceMeans.calibrated,
    groups.LaplaceMeans.epsilon,
    groups.LaplaceMeans.law,
    otherwise="corrected",
    over="epsilon > 0, two groups of any sizes, values of 1 and -1, where the variance is largest; the shares named "
    "here for where that is",
)
def theorem_4_3_allocation(e: Evidence) -> str:
    """for M_L with k = 2 the smallest error at a total budget epsilon is at eps2 = epsilon, eps1 = epsilon/2"""
    savings = {}
    for epsilon, share in product((1.0, 6.0), (0.5, 0.1, 0.01, 0.001)):
        sizes = (round(10**6 * share), 10**6 - round(10**6 * share))
        stated, best = groups.LaplaceMeans.calibrated(epsilon), budgets.best_laplace(epsilon, sizes)
        grid = [groups.LaplaceMeans(epsilon - s / 2, s) for s in np.linspace(0.1, 1, 73) * epsilon]
        at_stated, found, *tried = (gaps.GroupGap(m, sizes).worst_variance() for m in (stated, best, *grid))
        e.same(at_stated, routes.gap_moments(stated, np.diag(sizes), [1.0, 1.0])[1])
        e.same([_density_loss(mechanism, INSIDE) for mechanism in (stated, best)], [epsilon, epsilon])
        e.same([stated.epsilon, best.epsilon, stated.value_epsilon], [epsilon] * 3)
        e.sure(found <= min(tried) * (1 + 1e-9) <= found * (1 + 5e-3))
        savings[epsilon, share] = 1 - found / at_stated
    e.needs(max(savings.values()) < 1e-9)
    e.proven(privacy.fall_is_that_of_the_variance() and privacy.the_end_decides())
    e.proven(privacy.best_at_every_budget(ALWAYS) and privacy.best_at_small_budgets(SMALL))
    windows = []
    for part in WINDOWS:
        low, high = (float(end.mid()) for end in privacy.window(part))
        windows.append(f"{low:.2f} and {high:.2f} next to {100 * float(part):g}%")
    e.corrected = (
        "eps2 = epsilon, eps1 = epsilon/2 is optimal at the worst values if and only if 16 + B ((1 + c)(16 - 8z) - "
        "4z^3) + 16 c B^2 (1 - z) >= 0, where z = epsilon/2, B = e^-z and c = (1 - s)^2/s + s^2/(1 - s) next to a "
        "smaller group of share s: "
        f"at every budget for s >= {float(ALWAYS):.2%}, up to epsilon = {2 * float(SMALL):g} for any; next to smaller "
        f"groups eps1 = epsilon - eps2/2 with a smaller eps2 is better for epsilon between {', '.join(windows)}"
    )
    return (
        f"at epsilon = 6 the best split saves {savings[6.0, 0.01]:.1%} of the variance next to a minority of 1%, "
        f"{savings[6.0, 0.001]:.1%} next to 0.1%, nothing next to 10%"
    )


@section_4(
    "Theorem 4.3, other k",
    groups.LaplaceMeans.claimed_epsilon,
    groups.LaplaceMeans.clipped_epsilon,
    groups.LaplaceMeans.law,
    hockey_stick.laplace_means_delta,
    groups.LaplaceMeans.kept_scale,
    groups.LaplaceMeans.moved_scale,
    corrected="for k != 2 there is no finite epsilon: the log-ratio grows like eps2 |v'| |1/k - 1/2|. Equation (1) "
    "looks at reports in [-1, 1] only; clipping them there biases those of values other than 0, and for k < 2 still "
    "loses at least eps1 + eps2/k",
    over="eps1, eps2 > 0, every k > 0 other than 2, two or more groups",
)
def theorem_4_3_other(e: Evidence) -> str:
    """M_L with noise of scale k/eps2 on changed clients is epsilon-LDP with the epsilon of equation (1)"""
    ratios, deltas = [], []
    for k in (2 / 3, 1.0, 3.0):
        mechanism = groups.LaplaceMeans(0.5, 1.0, k)
        stated = _density_loss(mechanism, INSIDE)
        far, farther = (_density_loss(mechanism, np.array([-x, x])) for x in (1e3, 2e3))
        e.same([mechanism.claimed_epsilon, (farther - far) / 1e3], [stated, abs(1 / k - 1 / 2)])
        ratios.append(farther)
        deltas.append(hockey_stick.laplace_means_delta(mechanism, stated))
        e.same(deltas[-1], routes.worst_delta(mechanism, stated))
        e.same(mechanism.clipped_epsilon, _clipped_loss(mechanism))
    e.proven(privacy.loss_without_end())
    e.needs(max(ratios) <= 10)
    return (
        f"at eps1 = 0.5, eps2 = 1 the log-ratio of a report of 2000 is {ratios[0]:.0f}, {ratios[1]:.0f} and "
        f"{ratios[2]:.0f} for k = 2/3, 1 and 3; at the stated budgets delta = {deltas[0]:.4f}, {deltas[1]:.4f} and "
        f"{deltas[2]:.2g}"
    )


@section_4(
    "Appendix B, privacy",
    groups.LaplaceMeans.published,
    hockey_stick.laplace_means_delta,
    hockey_stick.total_variation,
    groups.LaplaceMeans.allowed,
    groups.LaplaceMeans.claimed_epsilon,
    groups.LaplaceMeans.keep,
    groups.LaplaceMeans.kept_scale,
    groups.LaplaceMeans.law,
    groups.LaplaceMeans.move,
    groups.LaplaceMeans.moved_scale,
    corrected="only epsilon = 2, where k = 2, is private; with two groups delta tends to 1/2 as epsilon tends to 0, "
    "because the scale of the noise reveals whether the group was changed. Use k = 2, eps2 = epsilon, eps1 = epsilon/2",
    over="every epsilon > 0 other than 2; two groups in the limit",
    argument="a log-ratio that grows without end leaves some delta at every budget; the limit can be taken under the "
    "integral",
)
def appendix_b_privacy(e: Evidence) -> str:
    """the optimal M_L, with k = max(2/3, epsilon), is epsilon-LDP"""
    deltas, distances = {}, {}
    for epsilon in (0.02, 0.07, 0.1, 0.21, 0.71, 1.0, 2.56):
        mechanism = groups.LaplaceMeans.published(epsilon)
        e.same([mechanism.claimed_epsilon, _density_loss(mechanism, INSIDE)], [epsilon, epsilon])
        others = [_density_loss(replace(mechanism, k=factor * mechanism.k), INSIDE) for factor in (0.99, 1.01)]
        e.sure(min(others) > epsilon)  # no other k allows this eps1
        deltas[epsilon] = hockey_stick.laplace_means_delta(mechanism, epsilon)
        distances[epsilon] = hockey_stick.total_variation(mechanism)
        by_quadrature = [routes.worst_delta(mechanism, at) for at in (epsilon, 0.0)]
        e.same([deltas[epsilon], distances[epsilon]], by_quadrature)
    e.needs(max(deltas.values()) < 1e-12)
    e.proven(privacy.published_is_not_private() and privacy.delta_of_small_budgets())
    small = {epsilon for epsilon in _printed_budgets() if epsilon < 1}
    return (
        f"delta at the claimed budget is {deltas[0.02]:.4f} at 0.02, {deltas[0.21]:.4f} at 0.21, {deltas[0.71]:.4f} at "
        f"0.71, {deltas[1.0]:.4f} at 1, {deltas[2.56]:.1e} at 2.56; the {len(small)} printed budgets below 1 carry "
        f"{deltas[0.71]:.2f} to {deltas[0.02]:.2f}; at 0.02 two clients' reports have total variation distance "
        f"{distances[0.02]:.4f}, where 0.0100 would be private"
    )


@section_4(
    "Section 4, range of k",
    groups.LaplaceMeans.published,
    groups.LaplaceMeans.claimed_epsilon,
    groups.largest_group_epsilon,
    groups.LaplaceMeans.law,
    kind="identity",
    otherwise="corrected",
    corrected="Appendix B and Table 1 use k = epsilon without an upper limit; with k capped at 2 and the same eps1 "
    "equation (1) exceeds every epsilon > 2; only k = 2 is private",
    over="every epsilon > 2, where Appendix B takes k = epsilon",
)
def range_of_k(e: Evidence) -> str:
    """the noise parameter of M_L has 0 < k <= 2"""
    budgets_of_table, limit = _printed_budgets(), printed.value("Section 4", "largest_k")
    mechanisms = [groups.LaplaceMeans.published(epsilon) for epsilon in budgets_of_table]
    e.same([m.claimed_epsilon for m in mechanisms], budgets_of_table)
    e.same([_density_loss(m, INSIDE) for m in mechanisms], budgets_of_table)
    outside = sum(m.k > limit for m in mechanisms)
    e.needs(outside == 0)
    first = groups.largest_group_epsilon(10.0, 10.0)
    capped = groups.LaplaceMeans(first, 10.0, limit)
    e.same(_density_loss(groups.LaplaceMeans(first, 10.0, 10.0), INSIDE), 10.0)
    e.same(capped.claimed_epsilon, _density_loss(capped, INSIDE))
    e.proven(privacy.capped_noise())
    return (
        f"{outside} of the {len(budgets_of_table)} printed budgets of M_L exceed 2 and have k = epsilon, up to "
        f"{max(budgets_of_table)}; with k capped at 2 and the same eps1, as in the published code of Table 2, equation "
        f"(1) gives {capped.claimed_epsilon:.2f} for 10"
    )


@section_4(
    "Equation (21)",
    groups.LaplaceMeans.claimed_epsilon,
    groups.largest_group_epsilon,
    groups.LaplaceMeans.allowed,
    groups.LaplaceMeans.law,
    kind="identity",
    assumption="equation (1), which is not the privacy loss; bounds may be negative, and then leave no budget eps1 > 0",
    over="epsilon > 0, k > 0",
)
def equation_21(e: Evidence) -> str:
    """for eps2 = epsilon, equation (1) allows eps1 between two bounds if and only if k >= 2/3, and eps1 is largest at
    k = epsilon (at 2/3 if epsilon is less)
    """
    settings = [(0.3, 2 / 3), (0.9, 0.9), (0.9, 1.2), (1.7, 1.1), (5.0, 5.0)]
    allowed = [groups.LaplaceMeans.allowed(*setting) for setting in settings]
    e.same([m.claimed_epsilon for m in allowed], [epsilon for epsilon, _ in settings])
    e.same([_density_loss(m, INSIDE) for m in allowed], [epsilon for epsilon, _ in settings])
    e.proven(privacy.equation_21())
    tried = [_density_loss(groups.LaplaceMeans(first, 0.9, 0.6), INSIDE) for first in np.linspace(0.01, 3, 300)]
    e.needs(min(tried) > 0.9 and allowed[1].group_epsilon > allowed[2].group_epsilon)
    negative = float(groups.largest_group_epsilon(10.0, 0.7))
    e.sure(negative < 0)
    return (
        "the bounds differ by epsilon (3k - 2)/(2k); at the upper one equation (1) is met with equality, and its slope "
        f"in k is (epsilon - k)/k^2; at epsilon = 10 and k = 0.7 that bound is {negative:.3f}"
    )


@section_4(
    "Section 4, sequential composition",
    groups.DiscretisedMeans.epsilon,
    groups.LaplaceMeans.epsilon,
    groups.LaplaceMeans.claimed_epsilon,
    groups.DiscretisedMeans.group_loss,
    groups.LaplaceMeans.group_loss,
    groups.LaplaceMeans.law,
    channel.privacy_loss,
    kind="identity",
    otherwise="corrected",
    corrected="the exact losses of M_R and of M_L with k = 2 are below eps1 + eps2 at all budgets; for other k "
    "equation (1) bounds nothing, and it may exceed eps1 + eps2",
    over="eps1, eps2 > 0, every number of groups",
)
def sequential_composition(e: Evidence) -> str:
    """the bounds of Theorems 4.1 and 4.3 are tighter than sequential composition"""
    signs, noise = groups.DiscretisedMeans(1.0, 1.0), groups.LaplaceMeans(1.0, 1.0)
    losses = [
        channel.privacy_loss(routes.printed_channel(signs, VALUES)).epsilon,
        _density_loss(noise, INSIDE),
    ]
    e.same([signs.epsilon, noise.epsilon], losses)
    other = groups.LaplaceMeans(1.0, 3.0, 2 / 3)
    e.same(other.claimed_epsilon, _density_loss(other, INSIDE))
    e.proven(privacy.below_sequential_composition())
    e.needs(other.claimed_epsilon < 4.0 and np.isfinite(other.epsilon))
    return (
        f"at eps1 = eps2 = 1 M_R loses {signs.epsilon:.5f} and M_L with k = 2 {noise.epsilon:.1f}, where composition "
        f"gives 2; for k = 2/3, eps1 = 1 and eps2 = 3 equation (1) gives {other.claimed_epsilon:.4f}, composition 4"
    )


def _printed_budgets() -> list[float]:
    table = printed.table_1()
    return [float(budget) for budget in table.loc[table["mechanism"] == "M_L", "printed"]]


def _extreme_laws(mechanism: groups.LaplaceMeans) -> tuple[NDArray[np.float64], ...]:
    """Return chances, locations and scales of the reports of clients of value -1, 0 or 1, each ``(3 d, d)``."""
    laws = np.array([mechanism.law(g, v) for g, v in product(range(mechanism.groups), (-1.0, 0.0, 1.0))])
    return laws[..., 0], laws[..., 1], laws[..., 2]


def _density_loss(mechanism: groups.LaplaceMeans, reports: NDArray[np.float64]) -> float:
    """Return the largest log-ratio of the densities of given reported values, over all groups and values -1, 0, 1."""
    chance, location, scale = (part[..., None] for part in _extreme_laws(mechanism))
    if not agree(chance.sum(axis=1), np.ones((len(chance), 1))):
        return float("nan")
    logs = np.log(chance / (2 * scale)) - np.abs(reports - location) / scale
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def _clipped_loss(mechanism: groups.LaplaceMeans) -> float:
    """Return the loss of reports clipped to [-1, 1]: the largest log-ratio of densities inside and of the two atoms."""
    chance, location, scale = _extreme_laws(mechanism)
    atoms = np.log(chance / 2) - (1 - location) / scale
    inside = _density_loss(mechanism, np.array([-1.0, 0.0, 1.0]))
    return max(inside, float((atoms.max(axis=0) - atoms.min(axis=0)).max()))
