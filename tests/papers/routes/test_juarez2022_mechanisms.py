"""Second routes to the mechanisms and their losses under the claims of Juarez and Korolova.

The mechanisms are ``M_R``, which reports signs, and ``M_L``, which adds Laplace noise. Their
chances and scales are compared with the printed ones. A loss is compared with the largest log-ratio
among all printed chances or densities, and a delta with the best of all events or an integral.
"""

from itertools import chain, combinations, product

import numpy as np
from compared import Pairs, compared
from numpy.typing import ArrayLike
from scipy.integrate import quad

from ldpnb.arithmetic import Floats
from ldpnb.mechanisms import groups, moves
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022.written_out import (
    MECHANISMS,
    NOISE,
    SIGNS,
    VALUES,
    density_loss,
    log_densities,
    printed_channel,
    printed_keep,
    printed_law,
    printed_variance,
    printed_variance_signs,
    report_moments,
)
from ldpnb.privacy import channel, hockey_stick

BUDGETS = (0.1, 0.5, 1.0, 2.0, 4.0)
GROUPS = (2, 3, 5)

INSIDE = np.linspace(-1, 1, 9)
"""Reports that equation (1) looks at."""

FAR = np.array([-9.0, -1.0, 0.0, 1.0, 9.0])
"""Reports at the ends and the kinks of the log-ratios of ``M_L``, which are linear in between."""


# Chances and scales


@compared
def test_clients_are_kept_and_moved_as_printed() -> Pairs:
    for m in (*MECHANISMS, DiscretisedMeans(6.0, 9.0), LaplaceMeans(6.0, 9.0)):
        yield m.keep + (m.groups - 1) * m.move, 1.0
        yield np.log(m.keep / m.move), m.group_epsilon

        value = 0.4
        means, _ = report_moments(m, 1, value)
        yield m.gain, means[1] / value


@compared
def test_a_sign_is_a_coin_that_is_kept_or_exchanged() -> Pairs:
    coins = np.stack([1 - VALUES, 1 + VALUES]) / 2
    for epsilon in (1.0, 2.0):
        keep = printed_keep(epsilon)
        law = keep * coins + (1 - keep) * coins[::-1]
        yield moves.sign_probabilities(VALUES, epsilon), law


@compared
def test_values_pass_the_check_of_their_range_unchanged() -> Pairs:
    for values in (VALUES, np.linspace(0, 1, 11), np.ones(50)):
        yield moves.unit_values(values), values


@compared
def test_reports_have_the_printed_law() -> Pairs:
    for m in SIGNS:
        yield m.channel(VALUES), printed_channel(m, VALUES)

    for noisy in NOISE:
        yield noisy.law(1, -0.3), printed_law(noisy, 1, -0.3)
        yield 2 / noisy.kept_scale, noisy.value_epsilon
        yield 2 * noisy.moved_scale / noisy.kept_scale, noisy.k


# Losses of signs


@compared
def test_signs_lose_the_largest_ratio_of_the_printed_chances() -> Pairs:
    values = (-1.0, 0.5, 1.0)
    for first, second, number in product(BUDGETS, BUDGETS, GROUPS):
        m = DiscretisedMeans(first, second, number)
        chances = printed_channel(m, values).reshape(number, 2, number, len(values))
        logs = np.log(chances)  # reported group, sign, own group, value
        yield m.epsilon, np.ptp(logs, axis=(2, 3)).max()
        yield m.group_loss, (logs[0, :, 0] - logs[0, :, 1]).max()


@compared
def test_the_claimed_loss_of_signs_is_that_of_the_larger_odds() -> Pairs:
    for first, second, number in product(BUDGETS, BUDGETS, GROUPS):
        odds = []
        for budget in (first, second):
            keep = printed_keep(budget)
            odds.append(keep / (1 - keep))
        yield DiscretisedMeans(first, second, number).claimed_epsilon, np.log(max(odds))


@compared
def test_the_loss_of_a_channel_is_the_largest_ratio_in_a_row() -> Pairs:
    matrix = printed_channel(SIGNS[0], (-1.0, 1.0))
    ratios = []
    for row in matrix:
        ratios += [p / q for p, q in product(row, row)]
    yield channel.privacy_loss(matrix).epsilon, np.log(max(ratios))


@compared
def test_the_delta_of_a_channel_is_that_of_the_best_of_all_events() -> Pairs:
    matrix = printed_channel(SIGNS[0], (-1.0, 1.0))
    events = chain.from_iterable(combinations(range(4), size) for size in (1, 2, 3))
    chances = np.array([matrix[list(event)].sum(axis=0) for event in events])
    for epsilon in (0.3, 1.0):
        gains = chances.max(axis=1) - np.exp(epsilon) * chances.min(axis=1)
        yield hockey_stick.channel_delta(matrix, epsilon), gains.max()


# Losses of noise


def loss_of_the_group(mechanism: LaplaceMeans, reports: ArrayLike) -> float:
    """Return the largest log-ratio of a client's report in their own group to the same report by a
    member of another group.
    """
    logs = log_densities(mechanism, reports)
    own = logs[0, :, 0]
    others = logs[1, 0, 0]
    return float((own - others).max())


def densities(law: Floats, report: float) -> Floats:
    """Return the density of a report in each group, from the printed law of a client."""
    chance, location, scale = law.T
    return np.asarray(chance / (2 * scale) * np.exp(-np.abs(report - location) / scale))


def delta_between(first: Floats, second: Floats, epsilon: float) -> float:
    """Return the delta of one client's reports against another's, by quadrature."""

    def advantage(report: float) -> float:
        gains = densities(first, report) - np.exp(epsilon) * densities(second, report)
        return float(np.maximum(gains, 0).sum())

    reach = 1 + 45 * first.max()
    kinks = [-20.0, -3.0, -1.0, 0.0, 1.0, 3.0, 20.0]
    return quad(advantage, -reach, reach, points=kinks, limit=400, epsabs=1e-14, epsrel=1e-10)[0]


def worst_delta(mechanism: LaplaceMeans, epsilon: float) -> float:
    """Return the delta of ``M_L`` over the two pairs of clients easiest to tell apart."""
    client = printed_law(mechanism, 0, 1.0)
    of_other_value = printed_law(mechanism, 0, -1.0)
    of_other_group = printed_law(mechanism, 1, 1.0)
    return max(
        delta_between(client, of_other_value, epsilon),
        delta_between(client, of_other_group, epsilon),
    )


@compared
def test_noise_loses_the_largest_ratio_of_the_printed_densities() -> Pairs:
    for first, second, number in product((0.05, 0.5, 1.5), (0.1, 1.0, 4.0), GROUPS):
        m = LaplaceMeans(first, second, 2.0, number)
        yield m.epsilon, density_loss(m, FAR)
        yield m.group_loss, loss_of_the_group(m, FAR)


@compared
def test_clipped_noise_loses_what_its_densities_and_atoms_do() -> Pairs:
    for first, second, k in ((0.5, 1.0, 2 / 3), (0.5, 1.0, 3.0), (1.0, 3.0, 2 / 3), (0.1, 6.0, 1)):
        m = LaplaceMeans(first, second, k)
        inside = density_loss(m, INSIDE)
        yield m.claimed_epsilon, inside

        # A report above 1 is cut to 1, which so has a chance of its own.
        clients = product((0, 1), (-1.0, 0.0, 1.0))
        laws = np.array([printed_law(m, group, value) for group, value in clients])
        log_atoms = np.log(laws[..., 0] / 2) - (1 - laws[..., 1]) / laws[..., 2]
        yield m.clipped_epsilon, max(inside, np.ptp(log_atoms, axis=0).max())


@compared
def test_the_delta_of_noise_is_that_by_quadrature() -> Pairs:
    for k, epsilon in ((2 / 3, 0.98), (1.0, 1.3), (2.0, 0.98), (3.0, 0.2)):
        m = LaplaceMeans(0.5, 1.0, k)
        yield hockey_stick.laplace_means_delta(m, epsilon), worst_delta(m, epsilon), 1e-8
        yield hockey_stick.total_variation(m), worst_delta(m, 0.0), 1e-8


# Splits of a budget


def published_laplace_budgets(epsilon: float) -> tuple[float, float]:
    """Return ``eps1`` and ``k`` of the "optimal" ``M_L`` as Appendix B prints them."""
    if epsilon >= 2 / 3:
        return float(np.log(2 / epsilon) + epsilon - 1), epsilon
    return float(np.log(3) - epsilon / 2), 2 / 3


@compared
def test_the_largest_budget_of_the_group_leaves_the_loss_at_epsilon() -> Pairs:
    for epsilon, k in ((0.3, 2 / 3), (0.9, 0.9), (0.9, 1.2), (1.7, 1.1), (5.0, 5.0)):
        unspent = epsilon - loss_of_the_group(LaplaceMeans(1.0, epsilon, k), INSIDE)
        largest = 1.0 + unspent
        yield groups.largest_group_epsilon(epsilon, k), largest

        m = LaplaceMeans.allowed(epsilon, k)
        yield m.group_epsilon, largest
        yield [m.value_epsilon, m.k, m.groups], [epsilon, k, 2]


@compared
def test_published_noise_has_the_budgets_of_appendix_b() -> Pairs:
    for epsilon in (0.1, 0.9, 2.0, 6.3):
        m = LaplaceMeans.published(epsilon)
        group_epsilon, k = published_laplace_budgets(epsilon)
        yield m.group_epsilon, group_epsilon
        yield [m.value_epsilon, m.k, m.groups], [epsilon, k, 2]


@compared
def test_calibrated_noise_loses_epsilon_for_the_group_and_for_the_value() -> Pairs:
    for epsilon in BUDGETS:
        m = LaplaceMeans.calibrated(epsilon)
        of_the_value = np.ptp(log_densities(m, FAR)[0, :, 0], axis=0).max()
        yield of_the_value, epsilon
        yield loss_of_the_group(m, FAR), epsilon
        yield [m.k, m.groups], [2, 2]


@compared
def test_published_signs_have_the_least_variance_of_all_budgets_up_to_epsilon() -> Pairs:
    group = (1, 3, 0.5)  # size, all clients, second moment
    for epsilon in BUDGETS:
        grid = np.linspace(0.05, 1, 39) * epsilon
        least = printed_variance_signs(grid[:, None], grid, 2, *group).min()

        m = DiscretisedMeans.published(epsilon)
        yield printed_variance(m, *group), least
        yield m.groups, 2


@compared
def test_calibrated_signs_have_the_least_variance_of_all_budgets_with_their_loss() -> Pairs:
    group = (1, 3, 0.5)
    for epsilon in BUDGETS:
        value_epsilons = np.linspace(0.05, 1, 39) * epsilon
        group_epsilons = epsilon - np.log(2 / (1 + np.exp(-value_epsilons)))
        least = printed_variance_signs(group_epsilons, value_epsilons, 2, *group).min()

        m = DiscretisedMeans.calibrated(epsilon)
        yield printed_variance(m, *group), least
        yield np.ptp(np.log(printed_channel(m, (-1.0, 1.0))), axis=1).max(), epsilon
        yield m.groups, 2


@compared
def test_the_published_code_exchanges_the_scales() -> Pairs:
    for epsilon in (0.01, 0.1, 1.0, 10.0):
        group_epsilon, k = published_laplace_budgets(epsilon)
        keep = printed_keep(group_epsilon)
        kept = [keep, 0.5, min(k, 2.0) / epsilon]
        moved = [1 - keep, 0.0, 2 / epsilon]
        yield LaplaceMeans.executed(epsilon).law(0, 0.5), np.array([kept, moved])
