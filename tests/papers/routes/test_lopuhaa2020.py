"""Second routes to formulas under the claims of lopuhaa2020."""

from functools import partial
from itertools import product
from math import e, pi
from typing import Any

import numpy as np
from compared import Pairs, compared
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import gammaln
from scipy.stats import betabinom, binom, multivariate_normal

from ldpnb.arithmetic import Floats, Ints
from ldpnb.estimators import frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.lopuhaa2020.formulas import (
    bayes,
    best_channel,
    exact_risk,
    information,
    lower_bounds,
    saddle,
)
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues
from ldpnb.papers.lopuhaa2020.formulas.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.papers.lopuhaa2020.written_out import (
    CHANNELS,
    JEFFREYS,
    UNEVEN,
    all_sequences,
    bits,
    drawn_tallies,
    holders_laws,
    information_sum,
    krr_channel,
    limiting_error,
    loss,
    oue_channel,
    steepest,
    subset_channel,
    unary_channel,
)


def levelled(heights: NDArray[Any], offset: float) -> Floats:
    """Return ``max(heights / level - offset, 0)`` of sum 1, the level found by bisection.

    From tallies, with offset ``1/c``, it is the maximum-likelihood estimate under k-RR, by the
    KKT conditions.
    """
    high = heights.sum(axis=1, keepdims=True) / offset
    low = np.zeros_like(high)
    for _ in range(200):
        middle = (low + high) / 2
        above = np.maximum(heights / middle - offset, 0).sum(axis=1, keepdims=True) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.maximum(heights / high - offset, 0)


def binary_entropies(users: int, epsilon: float) -> tuple[float, float]:
    """Return ``h(P|Y)`` and ``H(T|Y)`` for randomised response on two values under Jeffreys'
    prior.

    The first is ``h(P)`` less what the reports tell, a mean over the angle with ``p = sin^2``,
    which the prior spreads evenly: midpoints of the angle give it to rounding.
    """
    shares, seen = np.sin((np.arange(400) + 0.5) * np.pi / 800) ** 2, np.arange(users + 1)
    law = binom.pmf(seen[:, None], users, krr_channel(epsilon, 2)[0] @ [shares, 1 - shares])
    information = (law * np.log(law / law.mean(axis=1, keepdims=True))).sum() / shares.size
    joint = holders_laws(users, epsilon) * betabinom.pmf(seen, users, 0.5, 0.5)[:, None]
    return float(np.log(np.pi / 4) - information), -float(
        (joint * np.log(joint / joint.sum(axis=0))).sum()
    )


def patterns(epsilon: float, domain_size: int) -> Floats:
    """Return every row of 1 and ``e^epsilon`` that has both."""
    return np.array(list(product((1.0, np.exp(epsilon)), repeat=domain_size))[1:-1])


CASES = ((0.3, 2), (1.0, 3), (4.0, 6))
"""Budgets and numbers of values."""
UNARY = ((0.5, 0.2, 2), (0.7, 0.1, 4))
"""Chances of a set bit, at one's own value and elsewhere, and numbers of values."""
BEST = ((0.1, 2), (0.5, 4), (0.6, 4), (0.1, 5), (3.0, 5))
"""Budgets and numbers of values at which different sizes of sets are best."""
POINT = np.array([0.5, 0.3, 0.2])
FORMS = "published", "sharp"


@compared
def test_randomised_response_and_its_estimates_are_as_defined() -> Pairs:
    for epsilon, size in CASES:
        krr, rows = KaryRandomisedResponse(epsilon, size), krr_channel(epsilon, size)
        tallies = drawn_tallies(size)
        yield [krr.p, krr.q, krr.truthful_rate], [rows[0, 0], rows[0, 1], rows[0, 0] - rows[0, 1]]
        yield frequency.unbiased(tallies, 60, krr), np.linalg.solve(rows, tallies.T / 60).T
    for p, q, size in UNARY:  # the mean over the outputs of one user is what the user holds
        estimates = frequency.unbiased(bits(size), 1, UnaryEncoding(p, q, size))
        yield unary_channel(p, q, size).T @ estimates, np.eye(size)
    for spread, size in ((0.2, 3), (1.0, 5), (0.1, 400)):
        vectors = np.random.default_rng(2022).normal(1 / size, spread, (50, size))
        nearest = frequency.project_simplex(vectors)
        away = vectors - nearest  # at no obtuse angle to the way to any vertex
        yield nearest.sum(axis=1), np.ones(50)
        yield (
            np.minimum((away * nearest).sum(axis=1) - away.max(axis=1), nearest.min(axis=1)),
            np.zeros(50),
        )
    for epsilon, size in (*CASES, (1e-6, 2), (0.5, 300)):
        for tallies in (drawn_tallies(size), 10**6 * drawn_tallies(size)):
            yield (
                likelihood.krr_mle(tallies, epsilon=epsilon),
                levelled(tallies, 1 / np.expm1(epsilon)),
            )


@compared
def test_unary_encoding_is_bit_by_bit() -> Pairs:
    for case in UNARY:
        made, rows = UnaryEncoding(*case), unary_channel(*case)
        yield made.channel(), rows
        yield made.epsilon, loss(rows)
    for epsilon, size in CASES[:2]:
        made = UnaryEncoding.optimised(epsilon, size)
        lost = loss(unary_channel(made.p, made.q, size))
        yield [lost, made.p, made.domain_size], [epsilon, 0.5, size]
        estimates = frequency.unbiased(bits(size), 1, made)
        yield unary_channel(made.p, made.q, size).T @ estimates, np.eye(size)


@compared
def test_no_direction_raises_the_likelihood_at_its_maximum() -> Pairs:
    tally, rows = np.array([53, 52, 22, 14, 25, 19, 7, 8]), oue_channel(1.0, 3)
    estimate = likelihood.mle(rows, tally).estimate
    yield [estimate.sum(), steepest(rows, tally, estimate)], [1, tally.sum()], 1e-6
    rng, once = np.random.default_rng(2022), np.ones(400, dtype=int)
    for size in (6, 40):
        sent = (rng.random((400, size)) < np.linspace(0.2, 0.6, size)).astype(int)
        fit = likelihood.support_mle(sent, once, UnaryEncoding(0.5, 1 / (np.exp(2) + 1), size))
        slope = steepest(1 + np.expm1(2.0) * sent, once, fit.estimate)
        yield [fit.estimate.sum(), slope], [1, 400], 1e-5
    rows, flat, step = krr_channel(1.0, 5), np.full(5, 0.2), 1e-4
    for tally in drawn_tallies(5)[:3]:  # the slope of the log-likelihood towards the best vertex
        ends = [np.log(rows @ (flat + h * (np.eye(5) - flat)).T).T @ tally for h in (-step, step)]
        yield (
            likelihood.certificate_gap(rows, tally, flat),
            np.max(ends[1] - ends[0]) / (2 * step),
            1e-7,
        )


def _linear(rule: Floats, tallies: Ints) -> Floats:
    return tallies @ rule / tallies.sum(axis=1, keepdims=True)


@compared
def test_posterior_means_and_risks_are_those_over_all_sequences() -> Pairs:
    krr, oue = krr_channel(1.0, 3), oue_channel(1.5, 2)
    for rows, users, prior in (
        (krr, 4, JEFFREYS),
        (krr, 4, UNEVEN),
        (oue, 3, np.array([0.5, 1.5])),
    ):
        every = all_sequences(rows, users, prior)
        for seen in (0, 5, 39):
            own, means = bayes.posterior(rows, every.tallies[seen], prior), every.means[:, seen]
            spreads = every.squares[:, seen] - (means**2).sum(axis=1)
            yield [own.distribution, own.frequencies], means
            yield [own.distribution_variance, own.frequency_variance], spreads
            yield own.log_marginal, np.log(every.chances[seen])
            if rows is krr:
                fast = bayes.krr_posterior(every.tallies[seen], prior, epsilon=1.0)
                yield [fast.distribution, fast.frequencies], means
        yield bayes.frequency_mean(every.means[0], prior, users), every.means[1]
        rule = np.random.default_rng(1).random(rows.shape)
        risks = exact_risk.exact_risks(rows, users, prior, {"any": partial(_linear, rule)})
        for name, estimates in (("Bayes", None), ("any", _linear(rule, every.tallies))):
            yield [risks[name].distribution, risks[name].frequency], every.risks(estimates)


@compared
def test_risks_and_entropies_of_two_values_are_those_over_all_sequences() -> Pairs:
    for users, epsilon, concentration in ((5, 1.0, 0.5), (6, 0.5, 1.5)):
        case = TwoValues(users, epsilon, concentration)
        every = all_sequences(krr_channel(epsilon, 2), users, np.full(2, concentration))
        naive = case.risk(np.arange(users + 1) / users)
        for risk, estimates in ((case.risk(), None), (naive, every.tallies / users)):
            yield [risk.distribution, risk.frequency], every.risks(estimates)
    yield from (
        (TwoValues(*setting).entropies(), binary_entropies(*setting))
        for setting in ((7, 2.5), (20, 1.0))
    )


@compared
def test_information_adds_up_output_by_output() -> Pairs:
    points, within = (
        np.random.default_rng(2022).dirichlet(np.full(3, 0.5), size=5),
        1 - POINT @ POINT,
    )
    own = np.diag(POINT[:2]) - np.outer(POINT[:2], POINT[:2])
    for rows in CHANNELS:
        precision, covariance = information_sum(rows, POINT)
        yield information.fisher_information(rows, POINT), precision
        yield information.conditional_covariance(rows, POINT), covariance
        first, second = np.mean(
            [[np.linalg.slogdet(m)[1] for m in information_sum(rows, p)] for p in points], axis=0
        )
        yield (
            information.entropy_constants(rows, points),
            (first, second - np.log(points).sum() / 5 - first),
        )
        # H(T|Y) = H(T|Y,P) + h(P|Y) - h(P|T)
        known, left, true = (
            multivariate_normal(cov=cov).entropy()
            for cov in (covariance, np.linalg.inv(precision), own)
        )
        logs = [float(np.linalg.slogdet(matrix)[1]) for matrix in (precision, covariance, own)]
        yield (
            EntropyBounds(3).limits(logs[0], logs[1] - logs[2] - logs[0]),
            (left, known + left - true),
        )
    mechanisms: tuple[Any, ...] = *CHANNELS, KaryRandomisedResponse(1.0, 3)
    for given, rows in zip(mechanisms, (*CHANNELS, CHANNELS[0]), strict=True):
        limit = limiting_error(rows, POINT)
        yield information.distribution_error(given, POINT), limit
        yield information.frequency_error(given, POINT), limit - within


def _errors(epsilon: float, size: int) -> list[float]:
    """Return the limiting errors of subset selection with 1, 2, .. values at the uniform
    distribution.
    """
    channels = (subset_channel(epsilon, size, chosen) for chosen in range(1, size))
    return [limiting_error(rows, np.full(size, 1 / size)) for rows in channels]


@compared
def test_the_best_channel_is_subset_selection_at_the_uniform_distribution() -> Pairs:
    for case in BEST:
        (epsilon, size), errors, made = case, _errors(*case), SubsetSelection.optimal(*case)
        bounds, best = (
            LowerBounds(size, epsilon),
            best_channel.best_channel(np.full(size, 1 / size), epsilon),
        )
        yield [made.epsilon, made.domain_size, made.subset_size], [*case, 1 + np.argmin(errors)]
        yield [(size - 1) ** 2 / bounds.uniform_information(k) for k in range(1, size)], errors
        yield bounds.uniform_optimum(), min(errors)
        yield best.channel.sum(axis=0), np.ones(size)
        yield [best.error, best.lower_bound], [min(errors)] * 2, 1e-6
    points = np.array([[0.7, 0.1, 0.1, 0.1], [0.4, 0.3, 0.2, 0.1]])
    best = best_channel.best_channel(points, 0.5)
    error = np.mean([limiting_error(best.channel, point) for point in points])
    yield [best.error, best.lower_bound], [error, error], 1e-6


def _floors(epsilon: float, size: int) -> Floats:
    """Return the least sum of ``ln(Q / (Qp))`` over the values, with one value more as
    published, and as it is.
    """
    corners = np.eye(size) * (1 - 1e-13 * size) + 1e-13  # almost all users hold one value
    sharp = min(
        float(np.log(row / (row @ corner)).sum())
        for row in patterns(epsilon, size)
        for corner in corners
    )
    return np.array([sharp * size / (size - 1), sharp])


@compared
def test_bounds_are_those_over_all_rows_of_a_channel() -> Pairs:
    for epsilon, size in CASES:
        rows, bounds, floors = (
            patterns(epsilon, size),
            LowerBounds(size, epsilon),
            _floors(epsilon, size),
        )
        most = float((np.ptp(rows, axis=1) / rows.min(axis=1)).max())  # of any row of a channel
        yield bounds.log_information_ceiling(), 2 * (size - 1) * np.log(most)
        yield [bounds.log_covariance_floor(form) for form in FORMS], floors
        yield bounds.distribution(), size / most**2
        yield (
            [bounds.frequency(form) for form in FORMS],
            size / most**2 * np.exp(floors / (size - 1)),
        )
        yield bounds.any_channel(), (size - 1) ** 2 / (rows.var(axis=1).max() * size)
    for epsilon, point in ((1.0, POINT), (0.2, np.array([0.97, 0.01, 0.01, 0.01]))):
        rows, size = patterns(epsilon, point.size), point.size
        bound = (size - 1) ** 2 / (rows.var(axis=1) * size / (rows @ point) ** 2).max()
        yield (
            lower_bounds.any_channel_bound_at(point, epsilon),
            (bound, bound - (1 - point @ point)),
        )
    shares = (1 + np.cos((np.arange(40) + 0.5) * pi / 40)) / 2  # Jeffreys' prior on two values
    for epsilon, users in ((0.5, 1), (0.5, 20), (2.0, 3)):
        share = krr_channel(epsilon, 2)[0] @ [1, -1]
        spread = users * float(np.mean(4 * share**2 * (shares - 0.5) ** 2))
        yield (
            LowerBounds(2, epsilon).finite_users(users),
            np.exp(2 * (np.log(pi / 4) - spread)) / (pi * e),
        )


@compared
def test_information_and_covariance_add_up_for_any_number_of_values() -> Pairs:
    for size in (2, 3, 4, 6):
        point = np.arange(1.0, size + 1) / np.arange(1, size + 1).sum()
        for rows in (krr_channel(0.5, size), oue_channel(1.5, size)):
            precision, covariance = information_sum(rows, point)
            yield information.fisher_information(rows, point), precision
            yield information.conditional_covariance(rows, point), covariance


@compared
def test_the_error_of_an_unbiased_estimate_is_that_of_one_user_by_enumeration() -> Pairs:
    for epsilon, size in ((0.5, 2), (1.0, 3), (3.0, 6)):
        rows = krr_channel(epsilon, size)
        estimates = np.linalg.inv(rows).T  # a row for each report
        errors = ((estimates[:, None] - np.eye(size)) ** 2).sum(axis=2)
        mechanism = KaryRandomisedResponse(epsilon, size)
        yield information.unbiased_frequency_error(mechanism), (rows * errors)[:, 0].sum()
    for p, q, size in (*UNARY, (0.9, 0.3, 7)):
        rows = unary_channel(p, q, size)
        estimates = (bits(size) - q) / (p - q)
        errors = ((estimates - np.eye(size)[0]) ** 2).sum(axis=1)
        mechanism = UnaryEncoding(p, q, size)
        yield information.unbiased_frequency_error(mechanism), rows[:, 0] @ errors


@compared
def test_posteriors_of_two_values_are_those_over_all_sequences() -> Pairs:
    for users, epsilon, concentration in ((2, 0.5, 0.5), (4, 1.0, 0.5), (6, 2.0, 1.5)):
        found = TwoValues(users, epsilon, concentration).posteriors()
        every = all_sequences(krr_channel(epsilon, 2), users, np.full(2, concentration))
        for tally in range(users + 1):
            seen = np.flatnonzero(every.tallies[:, 0] == tally)
            one = seen[0]
            means = every.means[:, one]
            spreads = every.squares[:, one] - (means**2).sum(axis=1)
            yield found.chances[tally], every.chances[seen].sum()
            yield found.means[tally], means[0, 0]
            yield found.frequency_means[tally], means[1, 0]
            yield 2 * found.variances[tally], spreads[0]
            yield 2 * found.frequency_variances[tally], spreads[1]


@compared
def test_bounds_from_entropies_are_those_written_out() -> Pairs:
    for size, entropy, users in ((2, -0.5, 5), (3, 1.0, 40), (10, 20.0, 1000)):
        bounds = EntropyBounds(size)
        variance = np.exp(2 * entropy / (size - 1)) / (2 * pi * e)
        yield bounds.factor(), (size - 1) * size ** (1 / (size - 1)) / size
        yield bounds.distribution(entropy), size * variance
        yield bounds.frequency(entropy, users, jitter=False), size * variance / users**2
        least = size * (variance - 1 / 12) / users**2
        yield bounds.frequency(entropy, users, jitter=True), least
        limits = size * np.exp(-entropy / (size - 1)), size * np.exp(entropy / (size - 1))
        yield bounds.asymptotic(entropy, entropy), limits


@compared
def test_the_offset_of_an_estimate_fits_the_noise_of_its_reports() -> Pairs:
    for epsilon, size in ((0.5, 3), (1.0, 5), (3.0, 40)):
        p, q = krr_channel(epsilon, size)[0, :2]
        offset = q * (1 - q) / ((p - q) * (1 - p - q))
        yield frequency.normal_offset(KaryRandomisedResponse(epsilon, size)), offset


@compared
def test_estimates_are_scaled_about_their_offset() -> Pairs:
    for epsilon, size, offset in ((3.0, 40, 0.1), (1.0, 5, 0.6), (0.5, 3, 2.0)):
        vectors = np.linalg.solve(krr_channel(epsilon, size), drawn_tallies(size).T / 60).T
        offset = max(offset, 0.01 - vectors.min())
        yield frequency.scale_simplex(vectors, offset), levelled(vectors + offset, offset)


def _integral(power: int, count: float, alpha: float, contrast: float, theta: float) -> float:
    """Return a moment of ``u^(alpha-1) (1 + c u)^s e^(-theta u)``, by quadrature in ``ln u``."""

    def density(y: float) -> float:
        u = np.exp(y)
        return float(np.exp((alpha + power) * y + count * np.log1p(contrast * u) - theta * u))

    low, high = -80.0, np.log(60 / theta) + 3
    peak = np.log((alpha + power + count) / theta)
    return quad(density, low, high, points=[peak - 3, peak], epsabs=0, epsrel=1e-11, limit=400)[0]


@compared
def test_the_saddle_point_makes_the_mean_of_the_sum_right() -> Pairs:
    for contrast, kinds, repeats in (
        (0.5, [[0.0, 0.5], [2.0, 0.5]], [3, 2]),
        (2.0, [[1.0, 0.5], [5.0, 1.5], [9.0, 0.5]], [4, 1, 2]),
        (6.0, [[3.0, 1.0], [20.0, 1.0]], [10, 4]),
    ):
        found = saddle.saddle_point(np.array(kinds), np.array(repeats), contrast)
        moments = np.array(
            [[_integral(j, *kind, contrast, found.multiplier) for j in range(3)] for kind in kinds]
        )
        means = moments[:, 1] / moments[:, 0]
        variance = repeats @ (moments[:, 2] / moments[:, 0] - means**2)
        alphas = np.array(kinds)[:, 1]
        evidence = gammaln(repeats @ alphas) - repeats @ gammaln(alphas) + found.multiplier
        evidence += repeats @ np.log(moments[:, 0]) - np.log(2 * pi * variance) / 2
        yield repeats @ means, 1.0, 1e-8
        yield found.means, means, 1e-8
        yield found.log_evidence, evidence, 1e-8


@compared
def test_unbiased_estimates_invert_the_channel_for_any_number_of_reports() -> Pairs:
    for size, reports in ((3, 60), (4, 10**4), (6, 10**6)):
        krr = KaryRandomisedResponse(1.0, size)
        tallies = drawn_tallies(size) * (reports // 60)
        total = tallies.sum(axis=1)[0]
        inverted = np.linalg.solve(krr_channel(1.0, size), tallies.T / total).T
        yield frequency.unbiased(tallies, int(total), krr), inverted


@compared
def test_symmetric_unary_encoding_keeps_and_switches_alike() -> Pairs:
    for epsilon, size in ((0.3, 2), (1.0, 3), (4.0, 10)):
        made = UnaryEncoding.symmetric(epsilon, size)
        kept = np.exp(epsilon / 2) / (1 + np.exp(epsilon / 2))
        yield [made.p, made.q, made.miss_rate], [kept, 1 - kept, 1 - kept]


@compared
def test_the_diversity_of_a_dirichlet_prior_is_that_of_its_moments() -> Pairs:
    for size, concentration in ((2, 0.5), (3, 1.0), (10, 0.5), (1000, 2.0)):
        total = size * concentration
        square = concentration * (concentration + 1) / (total * (total + 1))
        prior = information.SymmetricDirichlet(size, concentration)
        yield prior.diversity(), 1 - size * square


@compared
def test_posteriors_of_many_reports_are_means_over_an_evenly_spread_angle() -> Pairs:
    """Jeffreys' prior spreads the angle evenly; midpoints of the angle are exact here."""
    for users, epsilon in ((10, 1.0), (41, 0.5)):
        shares = np.sin((np.arange(400) + 0.5) * np.pi / 800) ** 2
        law = binom.pmf(
            np.arange(users + 1)[:, None],
            users,
            krr_channel(epsilon, 2)[0] @ [shares, 1 - shares],
        )
        found = TwoValues(users, epsilon).posteriors()
        chances = law.mean(axis=1)
        means = law @ shares / shares.size / chances
        squares = law @ shares**2 / shares.size / chances
        yield found.chances, chances
        yield found.means, means
        yield found.variances, squares - means**2
