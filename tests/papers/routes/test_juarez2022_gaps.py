"""Second routes to the errors of gaps and the budgets they need, under the claims of Juarez and
Korolova.

Variances of estimated means and gaps are compared with sums over the clients, each with the law of
their report. Errors of an absolute gap are compared with those of a folded normal variable. A
smallest budget must just meet its target, when the error is computed from the printed formulas.
"""

from collections.abc import Callable
from itertools import product

import numpy as np
from compared import Pairs, compared
from scipy.stats import binom, foldnorm, norm

from ldpnb.accuracy import gaps, tails
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.papers.juarez2022.written_out import (
    HOLDERS,
    MECHANISMS,
    NOISE,
    SIGNS,
    VALUES,
    gap_moments,
    group_examples,
    printed_gain,
    printed_variance,
    sizes,
)

Family = Callable[[float], GroupMeans]
"""A mechanism for each epsilon."""


def worst_gap_variance(mechanism: GroupMeans) -> float:
    """Return the largest variance of the gap over clients who all hold one value."""
    clients = np.diag(sizes(mechanism))
    variances = []
    for value in (-1.0, -0.5, 0.0, 1.0):
        _, variance = gap_moments(mechanism, clients, np.full(mechanism.groups, value))
        variances.append(variance)
    return max(variances)


# Estimates and their variances


@compared
def test_variances_of_means_add_up_over_clients() -> Pairs:
    for m in MECHANISMS:
        for group, _, (_, variance) in group_examples(m):
            yield gaps.mean_variance(m, *group), variance

    for signs in SIGNS:
        for group, _, (_, variance) in group_examples(signs):
            yield gaps.variance_discretised_mean(signs, *group), variance

    for noise in NOISE:
        for group, _, (_, variance) in group_examples(noise):
            yield gaps.variance_laplace_mean(noise, *group), variance


@compared
def test_variances_of_gaps_add_up_over_clients() -> Pairs:
    for m in MECHANISMS:
        gap = gaps.GroupGap(m, sizes(m))
        holders = HOLDERS[: m.groups]
        second_moments = holders @ VALUES**2 / holders.sum(axis=1)
        _, variance = gap_moments(m, holders, VALUES)
        yield gap.variance((second_moments[0], second_moments[1])), variance
        yield gap.worst_variance(), worst_gap_variance(m)


@compared
def test_means_are_estimated_from_sums_as_large_as_expected() -> Pairs:
    for m in MECHANISMS:
        means = np.linspace(1, 0.25, m.groups)
        counts = np.array(sizes(m))
        sums = means * counts * printed_gain(m)
        yield estimators.group_means(m, sums, counts), means
        yield estimators.signed_gap(means), means[0] - means[1]


@compared
def test_a_gap_of_misestimated_sizes_has_the_variances_of_both_means() -> Pairs:
    factors = (1.5, 0.7)
    for m in MECHANISMS:
        examples = list(group_examples(m))
        (_, _, first_moment), _, (_, first_variance) = examples[0]
        (_, _, second_moment), _, (_, second_variance) = examples[1]

        gap = gaps.GroupGap(m, sizes(m))
        variance = first_variance / factors[0] ** 2 + second_variance / factors[1] ** 2
        yield gap.misestimated_variance(factors, (first_moment, second_moment)), variance


@compared
def test_a_gap_of_misestimated_sizes_is_biased_as_its_means_are() -> Pairs:
    yield gaps.misestimated_gap_bias((1.25, 0.8), (0.8, 0.8)), 0.8 / 1.25 - 0.8 / 0.8


@compared
def test_the_errors_of_the_absolute_gap_are_those_of_a_folded_normal() -> Pairs:
    for sd, relative_gap in product((1.0, 0.3), (0.0, 0.5, 1.0, 2.0)):
        gap = sd * relative_gap
        law = foldnorm(relative_gap, scale=sd)
        mean = law.mean()
        yield gaps.absolute_gap_bias(sd, gap), mean - gap

        mean_square = law.var() + mean**2
        yield gaps.absolute_gap_mse(sd, gap), mean_square - 2 * gap * mean + gap**2

        below = gap * law.cdf(gap) - law.expect(ub=gap)  # the mean of the error's negative part
        yield gaps.absolute_gap_error(sd, gap), mean - gap + 2 * below


# Tails


def binomial_tail(terms: int, deviation: float) -> float:
    """Return ``P(|S| >= deviation)`` for a sum of fair signs, adding up the binomial law.

    Beyond 40 standard deviations from the deviation on, nothing is left to add.
    """
    least = int(np.ceil((terms + deviation) / 2 - 1e-9))
    most = min(least + int(40 * np.sqrt(terms)), terms + 1)
    heads = np.arange(least, most)
    return float(2 * binom(terms, 0.5).pmf(heads).sum())


@compared
def test_the_tail_of_a_sum_of_signs_is_that_of_the_binomial_law() -> Pairs:
    for terms, deviation in ((4, 4.0), (11, 3.0), (1000, 100.0), (10**6, 3000.0), (10**9, 2e5)):
        yield tails.symmetric_binomial(terms, deviation), binomial_tail(terms, deviation), 1e-8


@compared
def test_bounds_on_the_error_are_those_of_the_worst_values() -> Pairs:
    for m in MECHANISMS:
        gap = gaps.GroupGap(m, sizes(m))
        sd = np.sqrt(worst_gap_variance(m))
        yield gap.error_bound(0.02, "chebyshev"), sd / np.sqrt(0.02)
        yield gap.failure(3 * sd, "chebyshev"), 1 / 9
        yield gap.error_bound(0.02, "normal"), sd * norm.isf(0.01)
        yield gap.failure(3 * sd, "normal"), 2 * norm.sf(3)


# Budgets that meet a target


def signs_at_equal_budgets(epsilon: float) -> DiscretisedMeans:
    return DiscretisedMeans(epsilon, epsilon)


def signs_that_lose(epsilon: float) -> DiscretisedMeans:
    """Return ``M_R`` with ``eps2 = epsilon`` and the ``eps1`` that makes it lose just that."""
    group_epsilon = np.logaddexp(0.0, epsilon) - np.log(2)  # ln((1 + e^epsilon)/2)
    return DiscretisedMeans(float(group_epsilon), epsilon)


def noise_at_half_the_budget(epsilon: float) -> LaplaceMeans:
    return LaplaceMeans(epsilon / 2, epsilon)


@compared
def test_the_required_gain_just_meets_the_target() -> Pairs:
    for clients, alpha in ((10**4, 0.1), (10**6, 0.01), (10**8, 0.001), (10**10, 0.1)):
        half = clients * alpha / 2

        gain = budgets.required_gain(clients, alpha, failure=0.01, tail="chebyshev")
        yield clients / (half * gain) ** 2, 0.01

        gain = budgets.required_gain(clients, alpha, failure=0.01, tail="hoeffding")
        yield 2 * np.exp(-((half * gain) ** 2) / (2 * clients)), 0.01

        gain = budgets.required_gain(clients, alpha, failure=0.01, tail="normal")
        yield 2 * norm.sf(half * gain / np.sqrt(clients)), 0.01


@compared
def test_the_budget_for_a_gain_has_this_gain() -> Pairs:
    for gain in (0.01, 0.5, 0.9):
        published = signs_at_equal_budgets(budgets.published_epsilon_for_gain(gain))
        yield printed_gain(published), gain
        calibrated = signs_that_lose(budgets.calibrated_epsilon_for_gain(gain))
        yield printed_gain(calibrated), gain


@compared
def test_the_smallest_budget_just_meets_the_target() -> Pairs:
    families: tuple[tuple[Family, int], ...] = (
        (signs_at_equal_budgets, 0),
        (signs_that_lose, 0),
        (noise_at_half_the_budget, 1),
    )
    for family, worst_second_moment in families:
        for tail, deviations in (("chebyshev", 10.0), ("normal", norm.isf(0.005))):
            enough = family(budgets.smallest_epsilon(family, 10**6, 0.1, tail=tail))
            variance = 2 * printed_variance(enough, 5 * 10**5, 10**6, worst_second_moment)
            yield np.sqrt(variance) * deviations, 0.1


@compared
def test_the_smallest_budget_meets_the_target_for_any_number_of_clients() -> Pairs:
    for clients, alpha in ((10**5, 0.1), (10**7, 0.01), (10**9, 0.001), (10**11, 0.01)):
        enough = signs_that_lose(budgets.smallest_epsilon(signs_that_lose, clients, alpha))
        variance = 2 * printed_variance(enough, clients // 2, clients, 0)
        yield np.sqrt(variance) * 10.0, alpha


@compared
def test_the_smallest_budget_by_the_exact_tail_leaves_no_room() -> Pairs:
    clients = 10**6
    for family in (signs_at_equal_budgets, signs_that_lose):
        enough = family(budgets.smallest_epsilon(family, clients, 0.1, tail="exact"))
        deviation = clients * 0.1 / 2 * printed_gain(enough)
        yield binomial_tail(clients, deviation) <= 0.01, True
        yield binomial_tail(clients, deviation * (1 - 1e-3)) <= 0.01, False
