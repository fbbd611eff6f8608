"""Second routes to the information and the bounds under the claims of Lopuhaä-Zwakenberg et al.

Information and errors are compared with sums over the outputs of a channel, and limits of entropies
with those of normal distributions. Bounds over all channels are compared with the best of every row
that a channel can have, and best channels with the best of all subset selections.
"""

from itertools import product

import numpy as np
from compared import Pairs, compared
from scipy.stats import multivariate_normal

from ldpnb.arithmetic import Floats
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.lopuhaa2020.formulas import best_channel, information, lower_bounds
from ldpnb.papers.lopuhaa2020.formulas.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.papers.lopuhaa2020.written_out import (
    CHANNELS,
    bits,
    information_sum,
    krr_channel,
    limiting_error,
    oue_channel,
    subset_channel,
    unary_channel,
)

POINT = np.array([0.5, 0.3, 0.2])
"""A distribution on the three values of `CHANNELS`."""

CASES = ((0.3, 2), (1.0, 3), (4.0, 6))
"""Budgets and numbers of values."""

BEST = ((0.1, 2), (0.5, 4), (0.6, 4), (0.1, 5), (3.0, 5))
"""Budgets and numbers of values at which different sizes of sets are best."""

FORMS = ("published", "sharp")


def log_determinant(matrix: Floats) -> float:
    return float(np.linalg.slogdet(matrix)[1])


# Information


@compared
def test_information_and_covariance_add_up_output_by_output() -> Pairs:
    cases = [(rows, POINT) for rows in CHANNELS]
    for size in (2, 3, 4, 6):
        point = np.arange(1.0, size + 1) / np.arange(1, size + 1).sum()
        cases += [(krr_channel(0.5, size), point), (oue_channel(1.5, size), point)]

    for rows, point in cases:
        precision, covariance = information_sum(rows, point)
        yield information.fisher_information(rows, point), precision
        yield information.conditional_covariance(rows, point), covariance


@compared
def test_the_constants_of_the_entropies_are_means_over_the_points() -> Pairs:
    points = np.random.default_rng(2022).dirichlet(np.full(3, 0.5), size=5)
    for rows in CHANNELS:
        of_information = []
        of_frequencies = []
        for point in points:
            precision, covariance = information_sum(rows, point)
            log_precision = log_determinant(precision)
            log_multinomial = np.log(point).sum()  # of the covariance of one user's value
            of_information.append(log_precision)
            of_frequencies.append(log_determinant(covariance) - log_multinomial - log_precision)

        constants = np.mean(of_information), np.mean(of_frequencies)
        yield information.entropy_constants(rows, points), constants


@compared
def test_the_limits_of_the_entropies_are_those_of_normal_distributions() -> Pairs:
    multinomial = np.diag(POINT[:2]) - np.outer(POINT[:2], POINT[:2])
    for rows in CHANNELS:
        precision, covariance = information_sum(rows, POINT)
        of_information = log_determinant(precision)
        of_frequencies = log_determinant(covariance) - log_determinant(multinomial) - of_information
        limits = EntropyBounds(3).limits(of_information, of_frequencies)

        # H(T|Y) = H(T|Y,P) + h(P|Y) - h(P|T)
        known = multivariate_normal(cov=covariance).entropy()
        left = multivariate_normal(cov=np.linalg.inv(precision)).entropy()
        true = multivariate_normal(cov=multinomial).entropy()
        yield limits, (left, known + left - true)


# Errors


@compared
def test_limits_of_errors_are_traces_of_the_inverse_information() -> Pairs:
    one_user = 1 - POINT @ POINT
    channels = [(rows, rows) for rows in CHANNELS]
    for given, rows in (*channels, (KaryRandomisedResponse(1.0, 3), krr_channel(1.0, 3))):
        limit = limiting_error(rows, POINT)
        yield information.distribution_error(given, POINT), limit
        yield information.frequency_error(given, POINT), limit - one_user


@compared
def test_the_error_of_an_unbiased_estimate_is_that_of_one_user_by_enumeration() -> Pairs:
    for epsilon, size in ((0.5, 2), (1.0, 3), (3.0, 6)):
        rows = krr_channel(epsilon, size)
        estimates = np.linalg.inv(rows).T  # a row for each report
        errors = ((estimates - np.eye(size)[0]) ** 2).sum(axis=1)
        mechanism = KaryRandomisedResponse(epsilon, size)
        yield information.unbiased_frequency_error(mechanism), rows[:, 0] @ errors

    for p, q, size in ((0.5, 0.2, 2), (0.7, 0.1, 4), (0.9, 0.3, 7)):
        rows = unary_channel(p, q, size)
        estimates = (bits(size) - q) / (p - q)
        errors = ((estimates - np.eye(size)[0]) ** 2).sum(axis=1)
        mechanism = UnaryEncoding(p, q, size)
        yield information.unbiased_frequency_error(mechanism), rows[:, 0] @ errors


@compared
def test_the_diversity_of_a_dirichlet_prior_is_that_of_its_moments() -> Pairs:
    for size, concentration in ((2, 0.5), (3, 1.0), (10, 0.5), (1000, 2.0)):
        total = size * concentration
        square = concentration * (concentration + 1) / (total * (total + 1))
        prior = information.SymmetricDirichlet(size, concentration)
        yield prior.diversity(), 1 - size * square


# Best channels


def subset_errors(epsilon: float, size: int) -> list[float]:
    """Return the limiting errors of subset selection with 1, 2, .. values, for a uniform
    distribution.
    """
    uniform = np.full(size, 1 / size)
    channels = [subset_channel(epsilon, size, chosen) for chosen in range(1, size)]
    return [limiting_error(rows, uniform) for rows in channels]


@compared
def test_the_best_size_of_a_subset_is_found_by_trying_all() -> Pairs:
    for epsilon, size in BEST:
        mechanism = SubsetSelection.optimal(epsilon, size)
        yield mechanism.epsilon, epsilon
        yield mechanism.domain_size, size
        yield mechanism.subset_size, 1 + np.argmin(subset_errors(epsilon, size))


@compared
def test_the_information_of_subsets_leads_to_their_limiting_errors() -> Pairs:
    for epsilon, size in BEST:
        bounds = LowerBounds(size, epsilon)
        errors = subset_errors(epsilon, size)
        for chosen, error in enumerate(errors, 1):
            yield (size - 1) ** 2 / bounds.uniform_information(chosen), error
        yield bounds.uniform_optimum(), min(errors)


@compared
def test_the_best_channel_for_a_uniform_distribution_is_subset_selection() -> Pairs:
    for epsilon, size in BEST:
        best = best_channel.best_channel(np.full(size, 1 / size), epsilon)
        least = min(subset_errors(epsilon, size))
        yield best.channel.sum(axis=0), np.ones(size)
        yield best.error, least, 1e-6
        yield best.lower_bound, least, 1e-6


@compared
def test_the_error_of_the_best_channel_is_its_mean_over_the_points() -> Pairs:
    points = np.array([[0.7, 0.1, 0.1, 0.1], [0.4, 0.3, 0.2, 0.1]])
    best = best_channel.best_channel(points, 0.5)
    error = np.mean([limiting_error(best.channel, point) for point in points])
    yield best.error, error, 1e-6
    yield best.lower_bound, error, 1e-6


# Bounds over all channels


def patterns(epsilon: float, size: int) -> Floats:
    """Return every row of 1 and ``e^epsilon`` that has both."""
    rows = np.array(list(product((1.0, np.exp(epsilon)), repeat=size)))
    return rows[1:-1]


def covariance_floors(epsilon: float, size: int) -> Floats:
    """Return the least sum of ``ln(Q / (Qp))`` over the values, in both `FORMS`.

    The published form counts one value more.
    """
    rows = patterns(epsilon, size)
    corners = np.eye(size) * (1 - 1e-13 * size) + 1e-13  # almost all users hold one value
    chances = rows @ corners.T
    sums = np.log(rows[:, None, :] / chances[:, :, None]).sum(axis=2)
    sharp = sums.min()
    return np.array([sharp * size / (size - 1), sharp])


@compared
def test_bounds_are_those_over_all_rows_of_a_channel() -> Pairs:
    for epsilon, size in CASES:
        bounds = LowerBounds(size, epsilon)
        rows = patterns(epsilon, size)
        most = (np.ptp(rows, axis=1) / rows.min(axis=1)).max()
        yield bounds.log_information_ceiling(), 2 * (size - 1) * np.log(most)
        yield bounds.distribution(), size / most**2
        yield bounds.any_channel(), (size - 1) ** 2 / (rows.var(axis=1).max() * size)

        floors = covariance_floors(epsilon, size)
        frequency = size / most**2 * np.exp(floors / (size - 1))
        yield [bounds.log_covariance_floor(form) for form in FORMS], floors
        yield [bounds.frequency(form) for form in FORMS], frequency


@compared
def test_the_bound_at_a_point_is_that_over_all_rows_of_a_channel() -> Pairs:
    for epsilon, point in ((1.0, POINT), (0.2, np.array([0.97, 0.01, 0.01, 0.01]))):
        size = point.size
        rows = patterns(epsilon, size)
        most = (rows.var(axis=1) * size / (rows @ point) ** 2).max()
        bound = (size - 1) ** 2 / most
        one_user = 1 - point @ point
        yield lower_bounds.any_channel_bound_at(point, epsilon), (bound, bound - one_user)


@compared
def test_the_bound_for_finitely_many_users_is_a_mean_over_the_prior() -> Pairs:
    angles = (np.arange(40) + 0.5) * np.pi / 40
    shares = (1 + np.cos(angles)) / 2  # Jeffreys' prior on two values
    for epsilon, users in ((0.5, 1), (0.5, 20), (2.0, 3)):
        truthful_rate = krr_channel(epsilon, 2)[0] @ [1, -1]
        told = users * np.mean(4 * truthful_rate**2 * (shares - 0.5) ** 2)
        entropy = np.log(np.pi / 4) - told
        yield LowerBounds(2, epsilon).finite_users(users), np.exp(2 * entropy) / (np.pi * np.e)


@compared
def test_bounds_from_entropies_are_those_written_out() -> Pairs:
    for size, entropy, users in ((2, -0.5, 5), (3, 1.0, 40), (10, 20.0, 1000)):
        bounds = EntropyBounds(size)
        yield bounds.factor(), (size - 1) * size ** (1 / (size - 1)) / size

        variance = np.exp(2 * entropy / (size - 1)) / (2 * np.pi * np.e)
        yield bounds.distribution(entropy), size * variance
        yield bounds.frequency(entropy, users, jitter=False), size * variance / users**2
        without_jitter = variance - 1 / 12
        yield bounds.frequency(entropy, users, jitter=True), size * without_jitter / users**2

        of_distribution = size * np.exp(-entropy / (size - 1))
        of_frequency = size * np.exp(entropy / (size - 1))
        yield bounds.asymptotic(entropy, entropy), (of_distribution, of_frequency)
