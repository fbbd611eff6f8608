"""Second routes to formulas under the claims of juarez2022."""

from itertools import chain, combinations, product
from typing import Any

import numpy as np
from compared import Pairs, compared
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.stats import binom, foldnorm, norm

from ldpnb.accuracy import gaps, tails
from ldpnb.arithmetic import Floats
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms import groups, moves
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.papers.juarez2022.written_out import (
    HOLDERS,
    MECHANISMS,
    NOISE,
    SIGNS,
    VALUES,
    density_loss,
    gap_moments,
    group_examples,
    log_densities,
    printed_channel,
    printed_gain,
    printed_keep,
    printed_law,
    printed_variance,
    printed_variance_signs,
    report_moments,
    sizes,
)
from ldpnb.privacy import channel, hockey_stick

BUDGETS, GROUPS = (0.1, 0.5, 1.0, 2.0, 4.0), (2, 3, 5)
INSIDE, FAR = np.linspace(-1, 1, 9), np.array([-9.0, -1.0, 0.0, 1.0, 9.0])
"""Reports that equation (1) looks at, and others: between them the log-ratios of `LaplaceMeans`
are linear.
"""


def published_laplace_budgets(epsilon: float) -> tuple[float, float]:
    """Return ``eps1`` and ``k`` of the "optimal" ``M_L`` as Appendix B prints them."""
    if epsilon >= 2 / 3:
        return float(np.log(2 / epsilon) + epsilon - 1), epsilon
    return float(np.log(3) - epsilon / 2), 2 / 3


def kept_over_moved(mechanism: LaplaceMeans, reports: ArrayLike) -> float:
    """Return the largest log-ratio of a report of one's own group to the same report by a member
    of another.
    """
    logs = log_densities(mechanism, reports)
    return float((logs[0, :, 0] - logs[1, 0, 0]).max())


def worst_delta(mechanism: LaplaceMeans, epsilon: float) -> float:
    """Return the delta of ``M_L`` over the two pairs of clients easiest to tell apart, by
    quadrature.
    """

    def advantage(x: float, one: Floats, other: Floats) -> float:
        densities = (
            law[:, 0] / (2 * law[:, 2]) * np.exp(-np.abs(x - law[:, 1]) / law[:, 2])
            for law in (one, other)
        )
        return float(np.maximum(next(densities) - np.exp(epsilon) * next(densities), 0).sum())

    laws = [
        (printed_law(mechanism, 0, 1.0), printed_law(mechanism, *other))
        for other in ((0, -1.0), (1, 1.0))
    ]
    reach, inside = 1 + 45 * np.max(laws[1]), [-20.0, -3.0, -1.0, 0.0, 1.0, 3.0, 20.0]
    return max(
        quad(advantage, -reach, reach, pair, points=inside, limit=400, epsabs=1e-14, epsrel=1e-10)[
            0
        ]
        for pair in laws
    )


def worst_moment(mechanism: GroupMeans) -> float:
    """Return the largest variance of the gap over clients who all hold one value."""
    clients, ones = np.diag(sizes(mechanism)), np.ones(mechanism.groups)
    return max(gap_moments(mechanism, clients, value * ones)[1] for value in (-1.0, -0.5, 0.0, 1.0))


@compared
def test_clients_are_kept_and_moved_as_printed() -> Pairs:
    for m in (*MECHANISMS, DiscretisedMeans(6.0, 9.0), LaplaceMeans(6.0, 9.0)):
        yield (m.keep + (m.groups - 1) * m.move, np.log(m.keep / m.move)), (1.0, m.group_epsilon)
        yield m.gain, report_moments(m, 1, 0.4)[0][1] / 0.4
    for epsilon in (1.0, 2.0):
        coins, truth = np.stack([1 - VALUES, 1 + VALUES]) / 2, printed_keep(epsilon)
        yield moves.sign_probabilities(VALUES, epsilon), truth * coins + (1 - truth) * coins[::-1]


@compared
def test_reports_have_the_printed_law() -> Pairs:
    yield from ((m.channel(VALUES), printed_channel(m, VALUES)) for m in SIGNS)
    for m in NOISE:
        yield m.law(1, -0.3), printed_law(m, 1, -0.3)
        yield (2 / m.kept_scale, 2 * m.moved_scale / m.kept_scale), (m.value_epsilon, m.k)


@compared
def test_variances_add_up_over_clients() -> Pairs:
    for m in MECHANISMS:
        formula: Any = gaps.variance_discretised_mean if m in SIGNS else gaps.variance_laplace_mean
        for group, _, (_, variance) in group_examples(m):
            yield (formula(m, *group), gaps.mean_variance(m, *group)), (variance, variance)
        holders, gap = HOLDERS[: m.groups], gaps.GroupGap(m, sizes(m))
        moments = (holders @ VALUES**2 / holders.sum(axis=1))[:2]
        yield gap.variance(tuple(moments)), gap_moments(m, holders, VALUES)[1]
        yield gap.worst_variance(), worst_moment(m)


@compared
def test_estimates_and_their_variance_add_up_over_clients() -> Pairs:
    for m in MECHANISMS:  # sums as large as expected, of clients who all hold one value
        means, counts = np.linspace(1, 0.25, m.groups), np.array(sizes(m))
        yield estimators.group_means(m, means * counts * printed_gain(m), counts), means
        yield estimators.signed_gap(means), -np.diff(means[:2])[0]
        (one, _, (_, own)), (two, _, (_, other)), *_ = group_examples(m)
        gap = gaps.GroupGap(m, sizes(m))
        variance = gap.misestimated_variance((1.5, 0.7), (one[2], two[2]))
        yield variance, own / 1.5**2 + other / 0.7**2
    yield gaps.misestimated_gap_bias((1.25, 0.8), (0.8, 0.8)), 0.8 / 1.25 - 0.8 / 0.8


@compared
def test_the_errors_of_the_absolute_gap_are_those_of_a_folded_normal() -> Pairs:
    for sd, gap in product((1.0, 0.3), (0.0, 0.5, 1.0, 2.0)):
        law = foldnorm(gap, scale=sd)
        first, second = law.mean(), law.var() + law.mean() ** 2
        below = sd * gap * law.cdf(sd * gap) - law.expect(
            ub=sd * gap
        )  # mean of the error's negative part
        yield gaps.absolute_gap_bias(sd, sd * gap), first - sd * gap
        yield gaps.absolute_gap_mse(sd, sd * gap), second - 2 * sd * gap * first + (sd * gap) ** 2
        yield gaps.absolute_gap_error(sd, sd * gap), first - sd * gap + 2 * below


@compared
def test_signs_lose_the_largest_ratio_of_the_printed_chances() -> Pairs:
    for first, second, number in product(BUDGETS, BUDGETS, GROUPS):
        m = DiscretisedMeans(first, second, number)
        logs = np.log(printed_channel(m, (-1.0, 0.5, 1.0)).reshape(number, 2, number, 3))
        yield m.epsilon, np.ptp(logs, axis=(2, 3)).max()
        yield m.group_loss, (logs[0, :, 0] - logs[0, :, 1]).max()
        odds = [keep / (1 - keep) for keep in (printed_keep(first), printed_keep(second))]
        yield m.claimed_epsilon, np.log(max(odds))
    matrix = printed_channel(SIGNS[0], (-1.0, 1.0))
    yield (
        channel.privacy_loss(matrix).epsilon,
        max(np.log(p / q) for row in matrix for p, q in product(row, row)),
    )
    events = [list(event) for event in chain(*(combinations(range(4), size) for size in (1, 2, 3)))]
    chances = np.array([matrix[event].sum(axis=0) for event in events])
    for epsilon in (0.3, 1.0):
        gains = chances.max(axis=1) - np.exp(epsilon) * chances.min(axis=1)
        yield hockey_stick.channel_delta(matrix, epsilon), gains.max()


@compared
def test_noise_loses_the_largest_ratio_of_the_printed_densities() -> Pairs:
    for first, second, number in product((0.05, 0.5, 1.5), (0.1, 1.0, 4.0), GROUPS):
        m = LaplaceMeans(first, second, 2.0, number)
        yield (m.epsilon, m.group_loss), (density_loss(m, FAR), kept_over_moved(m, FAR))
    for first, second, other in (
        (0.5, 1.0, 2 / 3),
        (0.5, 1.0, 3.0),
        (1.0, 3.0, 2 / 3),
        (0.1, 6.0, 1.0),
    ):
        m = LaplaceMeans(first, second, other)
        laws = np.array([printed_law(m, g, v) for g, v in product((0, 1), (-1.0, 0.0, 1.0))])
        atoms = np.log(laws[..., 0] / 2) - (1 - laws[..., 1]) / laws[..., 2]
        inside = density_loss(m, INSIDE)
        yield (
            (m.claimed_epsilon, m.clipped_epsilon),
            (inside, max(inside, np.ptp(atoms, axis=0).max())),
        )
    for other, epsilon in ((2 / 3, 0.98), (1.0, 1.3), (2.0, 0.98), (3.0, 0.2)):
        m = LaplaceMeans(0.5, 1.0, other)
        stated = hockey_stick.laplace_means_delta(m, epsilon), hockey_stick.total_variation(m)
        yield stated, (worst_delta(m, epsilon), worst_delta(m, 0.0)), 1e-8


@compared
def test_budgets_are_split_as_printed_or_best() -> Pairs:
    for epsilon, other in ((0.3, 2 / 3), (0.9, 0.9), (0.9, 1.2), (1.7, 1.1), (5.0, 5.0)):
        most = 1 + epsilon - kept_over_moved(LaplaceMeans(1.0, epsilon, other), INSIDE)
        m = LaplaceMeans.allowed(epsilon, other)
        yield (groups.largest_group_epsilon(epsilon, other), m.group_epsilon), (most, most)
        yield (m.value_epsilon, m.k, m.groups), (epsilon, other, 2)
    for epsilon in (0.1, 0.9, 2.0, 6.3):
        m, (first, other) = LaplaceMeans.published(epsilon), published_laplace_budgets(epsilon)
        yield (m.group_epsilon, m.k, m.value_epsilon, m.groups), (first, other, epsilon, 2)
    group = 1, 3, 0.5
    for epsilon in BUDGETS:
        m, grid = LaplaceMeans.calibrated(epsilon), np.linspace(0.05, 1, 39) * epsilon
        own = np.ptp(log_densities(m, FAR)[0, :, 0], axis=0).max()
        yield (own, kept_over_moved(m, FAR), m.k, m.groups), (epsilon, epsilon, 2, 2)
        claimed, kept = DiscretisedMeans.published(epsilon), DiscretisedMeans.calibrated(epsilon)
        least = printed_variance_signs(
            grid[:, None], grid, 2, *group
        ).min()  # of all budgets up to epsilon
        yield (printed_variance(claimed, *group), claimed.groups), (least, 2)
        line = epsilon - np.log(2 / (1 + np.exp(-grid))), grid  # of one loss
        lost = np.ptp(np.log(printed_channel(kept, (-1.0, 1.0))), axis=1).max()
        least = printed_variance_signs(*line, 2, *group).min()
        yield (lost, printed_variance(kept, *group), kept.groups), (epsilon, least, 2)


@compared
def test_the_published_code_exchanges_the_scales() -> Pairs:
    for epsilon in (0.01, 0.1, 1.0, 10.0):
        first, k = published_laplace_budgets(epsilon)
        keep = printed_keep(first)
        rows = [[keep, 0.5, min(k, 2.0) / epsilon], [1 - keep, 0.0, 2 / epsilon]]
        yield LaplaceMeans.executed(epsilon).law(0, 0.5), np.array(rows)


def _binomial_tail(terms: int, deviation: float) -> float:
    """Return ``P(|S| >= deviation)`` for a sum of fair signs, adding up the binomial law around
    its mode.
    """
    least = int(np.ceil((terms + deviation) / 2 - 1e-9))
    heads = np.arange(least, min(least + int(40 * np.sqrt(terms)), terms + 1))
    return float(2 * binom(terms, 0.5).pmf(heads).sum())


def _kept(epsilon: float) -> DiscretisedMeans:
    """Return ``M_R`` with the ``eps1 = ln((1 + e^epsilon) / 2)`` that makes it lose exactly
    ``epsilon = eps2``.
    """
    return DiscretisedMeans(float(np.logaddexp(0.0, epsilon) - np.log(2)), epsilon)


@compared
def test_bounds_on_the_error_are_those_of_the_worst_values() -> Pairs:
    for m in MECHANISMS:
        gap, sd = gaps.GroupGap(m, sizes(m)), np.sqrt(worst_moment(m))
        for tail, far, chance in (
            ("chebyshev", 1 / np.sqrt(0.02), 1 / 9),
            ("normal", norm.isf(0.01), 2 * norm.sf(3)),
        ):
            yield (gap.error_bound(0.02, tail), gap.failure(3 * sd, tail)), (sd * far, chance)


@compared
def test_the_smallest_budget_just_meets_the_target() -> Pairs:
    for clients, alpha in ((10**4, 0.1), (10**6, 0.01), (10**8, 0.001), (10**10, 0.1)):
        gain, sharper, normal = (
            budgets.required_gain(clients, alpha, failure=0.01, tail=tail)
            for tail in ("chebyshev", "hoeffding", "normal")
        )
        half = clients * alpha / 2
        yield clients / (half * gain) ** 2, 0.01
        yield 2 * np.exp(-((half * sharper) ** 2) / (2 * clients)), 0.01
        yield 2 * norm.sf(half * normal / np.sqrt(clients)), 0.01
    for gain in (0.01, 0.5, 0.9):
        claimed, kept = (
            budgets.published_epsilon_for_gain(gain),
            budgets.calibrated_epsilon_for_gain(gain),
        )
        yield (
            [printed_gain(m) for m in (DiscretisedMeans(claimed, claimed), _kept(kept))],
            [gain, gain],
        )
    for family, second_moment in (
        (lambda epsilon: DiscretisedMeans(epsilon, epsilon), 0),
        (_kept, 0),
        (lambda epsilon: LaplaceMeans(epsilon / 2, epsilon), 1),
    ):
        for tail, deviations in (("chebyshev", 10.0), ("normal", norm.isf(0.005))):
            enough = family(budgets.smallest_epsilon(family, 10**6, 0.1, tail=tail))
            variance = 2 * printed_variance(enough, 5 * 10**5, 10**6, second_moment)
            yield np.sqrt(variance) * deviations, 0.1
        if second_moment == 0:  # signs, of which the binomial law has steps
            gain = printed_gain(family(budgets.smallest_epsilon(family, 10**6, 0.1, tail="exact")))
            yield (
                [_binomial_tail(10**6, 5e4 * gain * f) <= 0.01 for f in (1, 1 - 1e-3)],
                [True, False],
            )


@compared
def test_values_pass_the_check_of_their_range_unchanged() -> Pairs:
    for values in (VALUES, np.linspace(0, 1, 11), np.ones(50)):
        yield moves.unit_values(values), values


@compared
def test_the_tail_of_a_sum_of_signs_is_that_of_the_binomial_law() -> Pairs:
    for terms, deviation in ((4, 4.0), (11, 3.0), (1000, 100.0), (10**6, 3000.0), (10**9, 2e5)):
        yield tails.symmetric_binomial(terms, deviation), _binomial_tail(terms, deviation), 1e-8


@compared
def test_the_smallest_budget_meets_the_target_for_any_number_of_clients() -> Pairs:
    for clients, alpha in ((10**5, 0.1), (10**7, 0.01), (10**9, 0.001), (10**11, 0.01)):
        enough = _kept(budgets.smallest_epsilon(_kept, clients, alpha))
        variance = 2 * printed_variance(enough, clients // 2, clients, 0)
        yield np.sqrt(variance) * 10.0, alpha
