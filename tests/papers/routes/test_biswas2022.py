"""Second routes to formulas under the claims of Biswas, Cormode and Maple.

Estimates and their moments are compared with sums over everything that a few users can report.
Losses of noise and of shuffled reports are compared with their definitions: an integral over two
densities, or a sum over all tallies.
"""

import math
from itertools import product

import numpy as np
from compared import Pairs, compared
from scipy import optimize, stats

from ldpnb.accuracy import histograms
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.formulas import personalised
from ldpnb.papers.biswas2022.written_out import CASES, PERSONAL, direct_encoding
from ldpnb.privacy import shuffling, tallies

# A curator's noise


def normal_delta(epsilon: float, deviation: float) -> float:
    """Integrate the hockey stick of two normal densities at a histogram's distance, ``sqrt(2)``."""
    points, weights = np.polynomial.legendre.leggauss(80)
    distance = math.sqrt(2)
    crossing = epsilon * deviation**2 / distance - distance / 2
    x = crossing + 6 * deviation * (points + 1)

    first = stats.norm.pdf(x, loc=0, scale=deviation)
    second = stats.norm.pdf(x, loc=-distance, scale=deviation)
    return float(6 * deviation * weights @ (first - math.exp(epsilon) * second))


@compared
def test_gaussian_noise_loses_what_two_normal_densities_do() -> Pairs:
    for central, deviation in ((0.3, 1.7), (1.0, 0.6), (1.0, 2.5)):
        delta = shuffling.gaussian_delta(central, deviation=deviation)
        yield delta, normal_delta(central, deviation)


@compared
def test_the_deviation_of_gaussian_noise_leads_to_its_delta() -> Pairs:
    for central, delta in ((0.1, 1e-6), (0.1, 0.01), (2.0, 1e-6)):
        deviation = shuffling.gaussian_deviation(central, delta)
        yield normal_delta(central, deviation) / delta, 1.0, 1e-7


@compared
def test_a_replaced_value_moves_two_counts_under_laplace_noise() -> Pairs:
    for central in (0.1, 1.0, 4.0):
        noise = stats.laplace(scale=2 / central)
        yield histograms.central_laplace_count_variance(central), noise.var()


# Shuffled reports


@compared
def test_the_bound_on_shuffled_reports_is_that_of_feldman_mcmillan_and_talwar() -> Pairs:
    """It is their Theorem 3.1, a bound for all randomisers."""
    for local, users, delta in ((5.0, 50_000, 1e-6), (1.0, 10_000, 0.01), (2.0, 100_000, 1e-6)):
        growth = math.exp(local)
        spread = math.sqrt(growth * math.log(4 / delta) / users) + growth / users
        written = math.log1p(8 * (growth - 1) / (growth + 1) * spread)
        yield shuffling.closed_form(delta, users=users, epsilon=local), written


def chernoff_bound(law: tallies.Tallies, epsilon: float) -> float:
    """Return the logarithm of the Chernoff bound, from the best tilt that a search finds."""
    contrast = np.expm1(law.local)
    shares = np.array([1, 1, law.share, 1])
    needed = np.expm1(epsilon) * shares
    gains = np.array([contrast, -contrast * np.exp(epsilon), 0, 0]) - needed
    chances = np.array([law.chance, law.chance, law.hidden, law.rest])

    def log_bound(log_tilt: float) -> float:
        moment = chances @ np.exp(np.exp(log_tilt) * gains / contrast)
        return float(law.users * np.log(moment) - 1 - log_tilt)

    least = optimize.minimize_scalar(log_bound, bounds=(-5.0, 6.0), method="bounded").fun
    return float(np.log(contrast / law.users) + least)


@compared
def test_the_chernoff_bound_on_delta_is_the_least_over_all_tilts() -> Pairs:
    for users, epsilon, local in ((20, 0.2, 1.0), (500, 0.5, 2.0), (10_000, 0.3, 3.0)):
        law = tallies.Tallies(users, chance=0.05, hidden=0.6, rest=0.3, share=0.5, local=local)
        yield tallies.log_chernoff(epsilon, law), chernoff_bound(law, epsilon), 2e-3


def delta_over_all_tallies(law: tallies.Tallies, epsilon: float) -> float:
    """Return ``delta`` of shuffled reports by its definition, over all tallies."""
    users = law.users
    contrast = np.expm1(law.local)
    chances = (law.chance, law.chance, law.hidden, law.rest)
    total = 0.0
    for own, other, hidden in product(range(users + 1), repeat=3):
        rest = users - own - other - hidden
        if rest < 0:
            continue

        gain = contrast * (own - np.exp(epsilon) * other)
        gain -= np.expm1(epsilon) * (users - (1 - law.share) * hidden)
        if gain > 0:
            probability = stats.multinomial.pmf((own, other, hidden, rest), users, chances)
            total += probability * gain
    return total / users


@compared
def test_delta_of_shuffled_reports_is_that_over_all_tallies() -> Pairs:
    for users, epsilon, rate in ((4, 0.2, 0.5), (9, 0.4, 1.0), (16, 0.9, 0.7)):
        reports = shuffling.ShuffledReports(users, rate, KaryRandomisedResponse(2.0, 5))
        chance = rate * reports.mechanism.q
        law = tallies.Tallies(users, chance, 0.3, 0.7 - 2 * chance, 0.5, 2.0)
        delta = delta_over_all_tallies(law, epsilon)
        for above in (True, False):
            yield tallies.delta(epsilon, law, above=above), delta, 1e-6


# Estimates of counts


@compared
def test_the_randomiser_is_that_of_definition_2_4() -> Pairs:
    for epsilon, size in ((1e-6, 2), (1.0, 4), (3.0, 101), (50.0, 101)):
        mechanism = KaryRandomisedResponse(epsilon, size)
        keep, switch = direct_encoding(epsilon, size)[0, :2]
        yield mechanism.p, keep
        yield mechanism.q, switch
        yield mechanism.truthful_rate, np.expm1(epsilon) * switch


@compared
def test_the_estimate_without_adjustment_is_equation_3() -> Pairs:
    for case in CASES:
        estimate = estimators.unadjusted(case.tallies, users=case.users, mechanism=case.mechanism)
        yield estimate, case.unadjusted


@compared
def test_the_rescaled_estimate_is_equation_5() -> Pairs:
    for case in CASES:
        estimate = estimators.rescaled(
            case.tallies,
            users=case.users,
            sampling_rate=case.rates[0],
            mechanism=case.mechanism,
        )
        yield estimate, case.pooled


@compared
def test_the_estimate_from_the_realised_size_is_that_of_theorem_3_4() -> Pairs:
    for case in CASES:
        estimate = estimators.realised_size(
            case.tallies, sampling_rate=case.rates[0], mechanism=case.mechanism
        )
        yield estimate, case.realised


@compared
def test_the_mean_without_adjustment_is_that_over_all_outcomes() -> Pairs:
    for case in CASES:
        mean = case.mean(case.unadjusted)
        yield case.survey.mean_unadjusted(case.holders), mean
        yield case.survey.bias_unadjusted(case.holders), mean - case.holders


@compared
def test_the_variances_are_those_over_all_outcomes() -> Pairs:
    for case in CASES:
        rescaled = case.variance(case.pooled)
        realised = case.variance(case.realised)
        yield case.survey.variance_unadjusted(case.holders), case.variance(case.unadjusted)
        yield case.survey.variance_rescaled(case.holders), rescaled
        yield case.survey.variance_realised_size(case.holders), realised
        yield case.survey.variance_gain(case.holders), rescaled - realised


@compared
def test_variances_at_a_rare_value_are_those_over_all_outcomes() -> Pairs:
    for case in CASES:
        if case.holders[-1] == 0:
            yield case.survey.rare_variance_rescaled, case.variance(case.pooled)[-1]
            yield case.survey.rare_variance_realised_size, case.variance(case.realised)[-1]


# Personal sampling rates


@compared
def test_the_mean_at_personal_rates_is_that_over_all_outcomes() -> Pairs:
    for case in PERSONAL:
        yield case.personal.mean(case.one_hot), case.mean(case.pooled)


@compared
def test_the_noise_of_a_report_is_the_variance_at_a_value_that_nobody_holds() -> Pairs:
    for epsilon, size in ((0.1, 2), (1.0, 4), (3.0, 101)):
        keep, switch = direct_encoding(epsilon, size)[0, :2]
        estimates = (np.array([0, 1]) - switch) / (keep - switch)
        variance = np.array([1 - switch, switch]) @ estimates**2
        yield personalised.report_noise(KaryRandomisedResponse(epsilon, size)), variance


def variance_of_one_user(chance: float, rate: float, keep: float, switch: float) -> float:
    """Return the variance of ``(1{report names the value} - q)/(rate (p - q))``.

    Without a report this is 0.
    """
    values = np.array([1 - switch, -switch, 0.0]) / (rate * (keep - switch))
    law = np.array([rate * chance, rate * (1 - chance), 1 - rate])
    mean = law @ values
    return float(law @ values**2 - mean**2)


@compared
def test_variances_at_personal_rates_are_those_over_all_outcomes() -> Pairs:
    for case in PERSONAL:
        variances = case.variance(case.pooled)
        yield case.personal.variance(case.one_hot), variances
        yield case.personal.rare_variance, variances[-1]


@compared
def test_variances_of_horvitz_thompson_add_up_over_users() -> Pairs:
    for case in PERSONAL:
        keep, switch = case.encoding[0, :2]
        total = np.zeros(case.mechanism.domain_size)
        for held, rate in zip(case.values, case.rates, strict=True):
            for value in range(total.size):
                chance = keep if held == value else switch
                total[value] += variance_of_one_user(chance, rate, keep, switch)
        yield case.personal.variance_horvitz_thompson(case.one_hot), total


@compared
def test_the_variance_of_horvitz_thompson_at_a_rare_value_adds_up_over_groups() -> Pairs:
    for noises, sizes, rates in (
        ((0.5, 2.0), (3.0, 4.0), (0.2, 0.5)),
        ((1.0, 3.0, 0.1), (10.0, 200.0, 30.0), (0.1, 0.9, 1.0)),
    ):
        total = 0.0
        for noise, size, rate in zip(noises, sizes, rates, strict=True):
            total += noise * size / rate
        found = personalised.rare_variance_horvitz_thompson(noises=noises, sizes=sizes, rates=rates)
        yield found, total
