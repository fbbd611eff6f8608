"""Second routes to the Bayesian formulas under the claims of Lopuhaä-Zwakenberg et al.

Posterior means, risks and chances of a few users are compared with sums over everything that the
users can hold and report, one sequence after the other. Of many users with two values, they are
compared with means over the angle that Jeffreys' prior spreads evenly. The saddle point is compared
with integrals by quadrature.
"""

from collections.abc import Callable

import numpy as np
from compared import Pairs, compared
from scipy.integrate import quad
from scipy.special import gammaln
from scipy.stats import betabinom, binom

from ldpnb.arithmetic import Floats, Ints
from ldpnb.papers.lopuhaa2020.formulas import bayes, exact_risk, saddle
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues
from ldpnb.papers.lopuhaa2020.written_out import (
    JEFFREYS,
    UNEVEN,
    all_sequences,
    holders_laws,
    krr_channel,
    oue_channel,
)

KRR = krr_channel(1.0, 3)
CASES = (
    (KRR, 4, JEFFREYS),
    (KRR, 4, UNEVEN),
    (oue_channel(1.5, 2), 3, np.array([0.5, 1.5])),
)
"""Channels, numbers of users, and parameters of Dirichlet priors."""

SEEN = (0, 5, 39)
"""Places of some sequences of reports among all."""


def spread_shares() -> Floats:
    """Return shares ``sin^2`` of evenly spread angles, as Jeffreys' prior on two values has them.

    A mean over them is exact up to rounding, for a polynomial in the share of moderate degree.
    """
    angles = (np.arange(400) + 0.5) * np.pi / 800
    return np.asarray(np.sin(angles) ** 2)


def law_of_tallies(users: int, epsilon: float, shares: Floats) -> Floats:
    """Return the law of the first of two tallies: a row for each tally, a column for each share."""
    reported = krr_channel(epsilon, 2)[0] @ [shares, 1 - shares]
    tallies = np.arange(users + 1)
    return np.asarray(binom.pmf(tallies[:, None], users, reported))


# Posteriors


@compared
def test_posterior_means_and_variances_are_those_over_all_sequences() -> Pairs:
    for rows, users, prior in CASES:
        every = all_sequences(rows, users, prior)
        for seen in SEEN:
            posterior = bayes.posterior(rows, every.tallies[seen], prior)
            means = every.means[:, seen]
            variances = every.squares[:, seen] - (means**2).sum(axis=1)
            yield [posterior.distribution, posterior.frequencies], means
            yield [posterior.distribution_variance, posterior.frequency_variance], variances
            yield posterior.log_marginal, np.log(every.chances[seen])


@compared
def test_the_fast_posterior_of_randomised_response_is_that_over_all_sequences() -> Pairs:
    for prior in (JEFFREYS, UNEVEN):
        every = all_sequences(KRR, 4, prior)
        for seen in SEEN:
            posterior = bayes.krr_posterior(every.tallies[seen], prior, epsilon=1.0)
            yield [posterior.distribution, posterior.frequencies], every.means[:, seen]


@compared
def test_the_mean_frequencies_follow_from_the_mean_distribution() -> Pairs:
    for rows, users, prior in CASES:
        of_distribution, of_frequencies = all_sequences(rows, users, prior).means
        yield bayes.frequency_mean(of_distribution, prior, users), of_frequencies


@compared
def test_posteriors_of_two_values_are_those_over_all_sequences() -> Pairs:
    for users, epsilon, concentration in ((2, 0.5, 0.5), (4, 1.0, 0.5), (6, 2.0, 1.5)):
        posteriors = TwoValues(users, epsilon, concentration).posteriors()
        every = all_sequences(krr_channel(epsilon, 2), users, np.full(2, concentration))
        for tally in range(users + 1):
            seen = np.flatnonzero(every.tallies[:, 0] == tally)
            yield posteriors.chances[tally], every.chances[seen].sum()

            means = every.means[:, seen[0]]
            yield posteriors.means[tally], means[0, 0]
            yield posteriors.frequency_means[tally], means[1, 0]

            # The squared length adds up over both values, whose variances are the same.
            variances = every.squares[:, seen[0]] - (means**2).sum(axis=1)
            yield 2 * posteriors.variances[tally], variances[0]
            yield 2 * posteriors.frequency_variances[tally], variances[1]


@compared
def test_posteriors_of_many_reports_are_means_over_an_evenly_spread_angle() -> Pairs:
    shares = spread_shares()
    for users, epsilon in ((10, 1.0), (41, 0.5)):
        law = law_of_tallies(users, epsilon, shares)
        chances = law.mean(axis=1)
        means = law @ shares / shares.size / chances
        squares = law @ shares**2 / shares.size / chances

        posteriors = TwoValues(users, epsilon).posteriors()
        yield posteriors.chances, chances
        yield posteriors.means, means
        yield posteriors.variances, squares - means**2


# Risks and entropies


def linear_estimator(weights: Floats) -> Callable[[Ints], Floats]:
    """Return an estimator that is linear in the shares of the reports."""

    def estimator(tallies: Ints) -> Floats:
        return np.asarray(tallies @ weights / tallies.sum(axis=1, keepdims=True))

    return estimator


@compared
def test_risks_are_those_over_all_sequences() -> Pairs:
    for rows, users, prior in CASES:
        every = all_sequences(rows, users, prior)
        linear = linear_estimator(np.random.default_rng(1).random(rows.shape))
        risks = exact_risk.exact_risks(rows, users, prior, {"linear": linear})

        of_bayes = risks["Bayes"]
        yield [of_bayes.distribution, of_bayes.frequency], every.risks()
        of_linear = risks["linear"]
        yield [of_linear.distribution, of_linear.frequency], every.risks(linear(every.tallies))


@compared
def test_risks_of_two_values_are_those_over_all_sequences() -> Pairs:
    for users, epsilon, concentration in ((5, 1.0, 0.5), (6, 0.5, 1.5)):
        case = TwoValues(users, epsilon, concentration)
        every = all_sequences(krr_channel(epsilon, 2), users, np.full(2, concentration))

        of_bayes = case.risk()
        yield [of_bayes.distribution, of_bayes.frequency], every.risks()
        of_shares = case.risk(np.arange(users + 1) / users)
        yield [of_shares.distribution, of_shares.frequency], every.risks(every.tallies / users)


@compared
def test_the_entropy_of_the_distribution_is_what_the_reports_leave_of_it() -> Pairs:
    shares = spread_shares()
    for users, epsilon in ((7, 2.5), (20, 1.0)):
        law = law_of_tallies(users, epsilon, shares)
        marginal = law.mean(axis=1, keepdims=True)
        told = (law * np.log(law / marginal)).sum() / shares.size
        of_prior = np.log(np.pi / 4)
        yield TwoValues(users, epsilon).entropies()[0], of_prior - told


@compared
def test_the_entropy_of_the_frequencies_is_that_of_their_joint_law_with_the_reports() -> Pairs:
    for users, epsilon in ((7, 2.5), (20, 1.0)):
        holders = betabinom.pmf(np.arange(users + 1), users, 0.5, 0.5)
        joint = holders_laws(users, epsilon) * holders[:, None]
        given_reports = joint / joint.sum(axis=0)
        entropy = -(joint * np.log(given_reports)).sum()
        yield TwoValues(users, epsilon).entropies()[1], entropy


# The saddle point


def moment(power: int, count: float, alpha: float, contrast: float, theta: float) -> float:
    """Return a moment of ``u^(alpha-1) (1 + c u)^s e^(-theta u)``, by quadrature in ``ln u``."""

    def density(y: float) -> float:
        u = np.exp(y)
        return float(np.exp((alpha + power) * y + count * np.log1p(contrast * u) - theta * u))

    low = -80.0
    high = np.log(60 / theta) + 3
    peak = np.log((alpha + power + count) / theta)
    return quad(density, low, high, points=[peak - 3, peak], epsabs=0, epsrel=1e-11, limit=400)[0]


def moments(kinds: Floats, contrast: float, theta: float) -> Floats:
    """Return the moments of power 0, 1 and 2: a row for each kind of count and parameter."""
    rows = []
    for count, alpha in kinds:
        rows.append([moment(power, count, alpha, contrast, theta) for power in range(3)])
    return np.array(rows)


@compared
def test_the_saddle_point_makes_the_mean_of_the_sum_right() -> Pairs:
    for contrast, counts, alphas, repeats in (
        (0.5, [0.0, 2.0], [0.5, 0.5], [3, 2]),
        (2.0, [1.0, 5.0, 9.0], [0.5, 1.5, 0.5], [4, 1, 2]),
        (6.0, [3.0, 20.0], [1.0, 1.0], [10, 4]),
    ):
        kinds = np.column_stack([counts, alphas])
        found = saddle.saddle_point(kinds, np.array(repeats), contrast)

        masses, firsts, seconds = moments(kinds, contrast, found.multiplier).T
        means = firsts / masses
        yield repeats @ means, 1.0, 1e-8
        yield found.means, means, 1e-8

        variance = repeats @ (seconds / masses - means**2)
        log_evidence = gammaln(np.dot(repeats, alphas)) - repeats @ gammaln(alphas)
        log_evidence += found.multiplier + repeats @ np.log(masses)
        log_evidence -= np.log(2 * np.pi * variance) / 2
        yield found.log_evidence, log_evidence, 1e-8
