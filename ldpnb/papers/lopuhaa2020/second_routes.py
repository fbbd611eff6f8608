"""Second routes to the formulas that the claims of lopuhaa2020 rest on."""

from functools import partial
from math import e, pi

import numpy as np
from scipy.stats import multivariate_normal

from ldpnb.accuracy import exact_risk, information, lower_bounds
from ldpnb.accuracy.exact_risk import TwoValues
from ldpnb.accuracy.information import SymmetricDirichlet
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.estimators import bayes, frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.lopuhaa2020 import routes
from ldpnb.papers.lopuhaa2020.routes import Array, Counts, patterns, uniform
from ldpnb.privacy import best_channel
from ldpnb.sections import Pairs, second_route

CASES = ((0.3, 2), (1.0, 3), (4.0, 6))
"""Budgets and numbers of values."""
JEFFREYS, UNEVEN = np.full(3, 0.5), np.array([0.5, 1.0, 2.0])
POINT = np.array([0.5, 0.3, 0.2])
FORMS: tuple[lower_bounds.Form, ...] = ("published", "sharp")
CHANNELS = (routes.krr_channel(1.0, 3), routes.oue_channel(2.0, 3), routes.subset_channel(0.3, 3, 2))


def drawn_tallies(domain_size: int) -> Counts:
    """Return forty tallies of 60 reports each, of values held unevenly."""
    rng = np.random.default_rng(2022)
    tallies: Counts = rng.multinomial(60, rng.dirichlet(np.full(domain_size, 0.7), size=40))
    return tallies


@second_route(KaryRandomisedResponse.p, KaryRandomisedResponse.q, KaryRandomisedResponse.truthful_rate)
def _krr_chances() -> Pairs:
    for case in CASES:
        made, (true, false) = KaryRandomisedResponse(*case), routes.krr_channel(*case)[0, :2]
        yield [made.p, made.q, made.truthful_rate], [true, false, true - false]


@second_route(UnaryEncoding.channel)
def _unary_channels() -> Pairs:
    for p, q, size in ((0.5, 0.2, 2), (0.7, 0.1, 4)):
        yield UnaryEncoding(p, q, size).channel(), routes.unary_channel(p, q, size)


@second_route(UnaryEncoding.epsilon)
def _unary_loss() -> Pairs:
    yield from (
        (UnaryEncoding(p, q, 3).epsilon, routes.loss(routes.unary_channel(p, q, 3)))
        for p, q in ((0.5, 0.2), (0.7, 0.1))
    )


@second_route(UnaryEncoding.optimised)
def _optimised() -> Pairs:
    for epsilon, size in CASES[:2]:
        made, errors = UnaryEncoding.optimised(epsilon, size), []
        yield [routes.loss(routes.unary_channel(made.p, made.q, size)), made.domain_size], [epsilon, size]
        for p in (made.p - 1e-4, made.p + 1e-4):  # where nobody holds the value p is at a minimum of the variance
            q = p / (p + (1 - p) * np.exp(epsilon))
            errors.append(q * (1 - q) / (p - q) ** 2)
        yield *errors, 1e-10


@second_route(UnaryEncoding.symmetric)
def _symmetric() -> Pairs:
    for epsilon, size in CASES[:2]:
        made = UnaryEncoding.symmetric(epsilon, size)
        lost = routes.loss(routes.unary_channel(made.p, made.q, size))
        yield [lost, made.p, made.domain_size], [epsilon, 1 - made.q, size]


@second_route(SubsetSelection.channel)
def _subset_channels() -> Pairs:
    for epsilon, size, chosen in ((0.5, 4, 2), (2.0, 5, 1), (1.0, 5, 3)):
        yield SubsetSelection(epsilon, size, chosen).channel(), routes.subset_channel(epsilon, size, chosen)


@second_route(SubsetSelection.optimal)
def _best_sizes() -> Pairs:
    for epsilon, size in ((0.1, 5), (0.5, 4), (0.6, 4), (1.0, 6), (3.0, 5)):
        made = SubsetSelection.optimal(epsilon, size)
        yield [made.epsilon, made.domain_size, made.subset_size], [epsilon, size, 1 + np.argmin(_errors(epsilon, size))]


def _errors(epsilon: float, size: int) -> list[float]:
    """Return the limiting errors of subset selection with 1, 2, .. values at the uniform distribution."""
    channels = (routes.subset_channel(epsilon, size, chosen) for chosen in range(1, size))
    return [routes.limiting_error(channel, uniform(size)) for channel in channels]


@second_route(frequency.unbiased)
def _unbiased() -> Pairs:
    for epsilon, size in CASES:
        tallies, krr = drawn_tallies(size), KaryRandomisedResponse(epsilon, size)
        yield frequency.unbiased(tallies, 60, krr), routes.inverted(routes.krr_channel(epsilon, size), tallies)
    bits = (np.arange(8)[:, None] >> np.arange(3)) & 1
    for p, q in ((0.5, 0.2), (0.7, 0.1)):  # the mean over the outputs of one user is what the user holds
        yield routes.unary_channel(p, q, 3).T @ frequency.unbiased(bits, 1, UnaryEncoding(p, q, 3)), np.eye(3)


@second_route(frequency.project_simplex)
def _projections() -> Pairs:
    for spread, size in ((0.2, 3), (1.0, 5), (0.1, 400)):
        vectors = np.random.default_rng(2022).normal(1 / size, spread, (50, size))
        yield frequency.project_simplex(vectors), routes.projected(vectors)


@second_route(frequency.scale_simplex)
def _scalings() -> Pairs:
    for epsilon, size in CASES:
        plain, offset = routes.inverted(routes.krr_channel(epsilon, size), drawn_tallies(size)), 1.1 / np.expm1(epsilon)
        yield frequency.scale_simplex(plain, offset), routes.levelled(plain + offset, offset)


@second_route(frequency.normal_offset)
def _offsets() -> Pairs:
    for epsilon, size in CASES[1:]:
        p, q = routes.krr_channel(epsilon, size)[0, :2]
        none, every = q * (1 - q), p * (1 - p)  # the variance of a report where nobody, or everybody, holds the value
        yield frequency.normal_offset(KaryRandomisedResponse(epsilon, size)), none / (every - none)


@second_route(likelihood.krr_mle)
def _krr_maxima() -> Pairs:
    for epsilon, size in (*CASES, (1e-6, 2), (0.5, 300)):
        for tallies in (drawn_tallies(size), 10**6 * drawn_tallies(size)):
            yield likelihood.krr_mle(tallies, epsilon=epsilon), routes.levelled(tallies, 1 / np.expm1(epsilon))


@second_route(likelihood.mle)
def _maxima() -> Pairs:
    tallies = drawn_tallies(5)
    yield (
        likelihood.mle(routes.krr_channel(1.0, 5), tallies, tolerance=1e-9).estimate,
        routes.levelled(tallies, 1 / np.expm1(1.0)),
        1e-5,
    )
    tally = np.array([53, 52, 22, 14, 25, 19, 7, 8])
    fit = likelihood.mle(routes.oue_channel(1.0, 3), tally)
    yield [fit.estimate.sum(), routes.steepest(routes.oue_channel(1.0, 3), tally, fit.estimate)], [1, tally.sum()], 1e-6


@second_route(likelihood.support_mle)
def _support_maxima() -> Pairs:
    rng = np.random.default_rng(2022)
    for size in (6, 40):
        bits = (rng.random((400, size)) < np.linspace(0.2, 0.6, size)).astype(int)
        fit = likelihood.support_mle(bits, np.ones(400, dtype=int), UnaryEncoding(0.5, 1 / (np.exp(2) + 1), size))
        found = [fit.estimate.sum(), routes.steepest(1 + np.expm1(2.0) * bits, np.ones(400, dtype=int), fit.estimate)]
        yield found, [1, 400], 1e-5


@second_route(likelihood.certificate_gap)
def _gaps() -> Pairs:
    channel, flat, step = routes.krr_channel(1.0, 5), np.full(5, 0.2), 1e-4
    for tally in drawn_tallies(5)[:3]:  # the slope of the log-likelihood towards the best vertex
        ends = [np.log(channel @ (flat + h * (np.eye(5) - flat)).T).T @ tally for h in (-step, step)]
        yield likelihood.certificate_gap(channel, tally, flat), np.max(ends[1] - ends[0]) / (2 * step), 1e-7


@second_route(bayes.posterior)
def _posteriors() -> Pairs:
    for channel, tally, prior in (
        (routes.krr_channel(1.0, 3), np.array([2, 1, 1]), UNEVEN),
        (routes.oue_channel(1.5, 2), np.array([0, 2, 0, 1]), np.array([0.5, 1.5])),
    ):
        found, every = bayes.posterior(channel, tally, prior), routes.all_sequences(channel, int(tally.sum()), prior)
        first = int(np.flatnonzero((every.tallies == tally).all(axis=1))[0])
        means = [every.means[target][first] for target in every.means]
        spreads = [every.squares[target][first] - (every.means[target][first] ** 2).sum() for target in every.means]
        yield [found.distribution, found.frequencies], means
        yield [found.distribution_variance, found.frequency_variance], spreads
        yield found.log_marginal, np.log(every.chances[first])
        yield found.distribution, routes.integral_mean(channel, tally, prior)


@second_route(bayes.krr_posterior)
def _krr_posteriors() -> Pairs:
    for tally, prior in ((np.array([4, 1, 2]), JEFFREYS), (np.array([2, 1, 1]), UNEVEN)):
        found = bayes.krr_posterior(tally, prior, epsilon=1.0)
        yield [found.distribution, found.frequencies], routes.mixture(routes.krr_channel(1.0, 3), tally, prior)[:2]
        yield found.distribution, routes.integral_mean(routes.krr_channel(1.0, 3), tally, prior)


@second_route(bayes.frequency_mean)
def _frequency_means() -> Pairs:
    for prior in (JEFFREYS, UNEVEN):
        means = routes.all_sequences(routes.krr_channel(1.0, 3), 4, prior).means
        yield bayes.frequency_mean(means["distribution"], prior, 4), means["frequency"]


def _linear(rule: Array, tallies: Counts) -> Array:
    return tallies @ rule / tallies.sum(axis=1, keepdims=True)


@second_route(exact_risk.exact_risks)
def _risks() -> Pairs:
    for channel, users, prior in (
        (routes.krr_channel(1.0, 3), 4, UNEVEN),
        (routes.oue_channel(1.5, 2), 3, np.array([0.5, 1.5])),
    ):
        outputs, every = len(channel), routes.all_sequences(channel, users, prior)
        rule = np.random.default_rng(1).random((outputs, channel.shape[1]))
        found = exact_risk.exact_risks(channel, users, prior, {"any": partial(_linear, rule)})
        for name, estimates in (("Bayes", None), ("any", _linear(rule, every.tallies))):
            yield [found[name].distribution, found[name].frequency], every.risks(estimates)


@second_route(TwoValues.posteriors)
def _binary_posteriors() -> Pairs:
    for users, epsilon, concentration in ((5, 1.0, 0.5), (6, 0.5, 1.5)):
        prior, channel = np.full(2, concentration), routes.krr_channel(epsilon, 2)
        found, every = (
            TwoValues(users, epsilon, concentration).posteriors(),
            routes.all_sequences(channel, users, prior),
        )
        for seen in range(users + 1):
            rows = every.tallies[:, 0] == seen
            mean, share = (every.means[target][rows][0, 0] for target in every.means)
            yield found.chances[seen], every.chances[rows].sum()
            yield [found.means[seen], found.frequency_means[seen]], [mean, share]
        yield 2 * found.chances @ np.column_stack([found.variances, found.frequency_variances]), every.risks()
    tally = np.array([300, 600])
    yield (
        TwoValues(900, 1.0).posteriors().means[300],
        routes.integral_mean(routes.krr_channel(1.0, 2), tally, np.full(2, 0.5))[0],
    )


@second_route(TwoValues.risk)
def _binary_risks() -> Pairs:
    for users, epsilon, concentration in ((5, 1.0, 0.5), (6, 0.5, 1.5)):
        every = routes.all_sequences(routes.krr_channel(epsilon, 2), users, np.full(2, concentration))
        least, share = TwoValues(users, epsilon, concentration).risk(), every.tallies / users
        own = TwoValues(users, epsilon, concentration).risk(np.arange(users + 1) / users)
        yield [least.distribution, least.frequency], every.risks()
        yield [own.distribution, own.frequency], every.risks(share)


@second_route(TwoValues.entropies)
def _binary_entropies() -> Pairs:
    yield from ((TwoValues(*case).entropies(), routes.binary_entropies(*case)) for case in ((20, 1.0), (7, 2.5)))


@second_route(information.fisher_information, information.conditional_covariance)
def _matrices() -> Pairs:
    for channel in CHANNELS:
        found = information.fisher_information(channel, POINT), information.conditional_covariance(channel, POINT)
        yield found, routes.information_sum(channel, POINT)


@second_route(information.entropy_constants)
def _constants() -> Pairs:
    points = np.random.default_rng(2022).dirichlet(np.full(3, 0.5), size=5)
    for channel in CHANNELS:
        logs = [[np.linalg.slogdet(m)[1] for m in routes.information_sum(channel, p)] for p in points]
        first, second = np.mean(logs, axis=0)
        yield information.entropy_constants(channel, points), (first, second - np.log(points).sum() / 5 - first)


@second_route(information.distribution_error)
def _distribution_errors() -> Pairs:
    yield from ((information.distribution_error(c, POINT), routes.limiting_error(c, POINT)) for c in CHANNELS)
    mechanism = KaryRandomisedResponse(1.0, 3)
    yield information.distribution_error(mechanism, POINT), routes.limiting_error(CHANNELS[0], POINT)


@second_route(information.frequency_error)
def _frequency_errors() -> Pairs:
    excess = 1 - POINT @ POINT
    yield from ((information.frequency_error(c, POINT), routes.limiting_error(c, POINT) - excess) for c in CHANNELS)
    mechanism = KaryRandomisedResponse(1.0, 3)
    yield information.frequency_error(mechanism, POINT), routes.limiting_error(CHANNELS[0], POINT) - excess


@second_route(information.unbiased_frequency_error)
def _unbiased_errors() -> Pairs:
    for epsilon, size in CASES:  # one user, who holds the first value
        channel = routes.krr_channel(epsilon, size)
        error = channel[:, 0] @ ((np.linalg.inv(channel).T - np.eye(size)[0]) ** 2).sum(axis=1)
        yield information.unbiased_frequency_error(KaryRandomisedResponse(epsilon, size)), error
    for p, q, size in ((0.5, 0.2, 2), (0.7, 0.1, 5)):
        bits = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
        errors = (((bits - q) / (p - q) - np.eye(size)[0]) ** 2).sum(axis=1)
        yield (
            information.unbiased_frequency_error(UnaryEncoding(p, q, size)),
            routes.unary_channel(p, q, size)[:, 0] @ errors,
        )


@second_route(SymmetricDirichlet.diversity)
def _diversity() -> Pairs:
    for size, concentration in ((2, 0.5), (5, 2.0)):  # two draws from Pólya's urn that differ
        same = size * routes.urn(np.array([0, 0]), np.full(size, concentration))
        yield SymmetricDirichlet(size, concentration).diversity(), 1 - same


@second_route(EntropyBounds.factor)
def _factor() -> Pairs:
    for size in (2, 3, 10):  # errors alike in all directions of the plane: their variances, and the determinant's mean
        plane = np.eye(size) - 1 / size
        mean = np.linalg.det(plane[:-1, :-1]) ** (1 / (size - 1))
        yield EntropyBounds(size).factor(), np.trace(plane) / (size * mean)


@second_route(EntropyBounds.distribution)
def _entropy_bound() -> Pairs:
    for size, variance in ((2, 0.3), (5, 2.0)):
        entropy = multivariate_normal(cov=variance * np.eye(size - 1)).entropy()
        yield EntropyBounds(size).distribution(entropy), size * variance


@second_route(EntropyBounds.frequency)
def _tallies_bound() -> Pairs:
    for size, variance in ((2, 0.3), (5, 2.0)):
        entropy = multivariate_normal(cov=variance * np.eye(size - 1)).entropy()
        for jitter in (False, True):  # of variance 1/12
            found = EntropyBounds(size).frequency(entropy, 7, jitter=jitter)
            yield found, size * (variance - jitter / 12) / 49


@second_route(EntropyBounds.limits)
def _entropy_limits() -> Pairs:
    for channel in CHANNELS:
        precision, covariance = routes.information_sum(channel, POINT)
        inverse, own = np.linalg.inv(precision), np.diag(POINT[:2]) - np.outer(POINT[:2], POINT[:2])
        # H(T|Y) = H(T|Y,P) + h(P|Y) - h(P|T)
        known, told, true = (multivariate_normal(cov=cov).entropy() for cov in (covariance, inverse, own))
        logs = [float(np.linalg.slogdet(matrix)[1]) for matrix in (precision, covariance, own)]
        yield EntropyBounds(3).limits(logs[0], logs[1] - logs[2] - logs[0]), (told, known + told - true)


@second_route(EntropyBounds.asymptotic)
def _determinant_bounds() -> Pairs:
    for size, first, second in ((2, 3.0, 0.2), (5, 0.7, 2.5)):
        logs = (size - 1) * np.log(first), (size - 1) * np.log(second)
        yield EntropyBounds(size).asymptotic(*logs), (size / first, size * second)


def _steepest_row(epsilon: float, size: int) -> float:
    """Return how much the entries of a row of a channel can differ, over the least of them."""
    return float((np.ptp(patterns(epsilon, size), axis=1) / patterns(epsilon, size).min(axis=1)).max())


def _lowest_row(epsilon: float, size: int) -> float:
    """Return the least sum of ``ln(Q / (Qp))`` over the values, at distributions of almost all users on one value."""
    corners = np.eye(size) * (1 - 1e-13 * size) + 1e-13
    return min(float(np.log(row / (row @ corner)).sum()) for row in patterns(epsilon, size) for corner in corners)


@second_route(LowerBounds.log_information_ceiling, LowerBounds.log_covariance_floor)
def _constants_of_the_budget() -> Pairs:
    for epsilon, size in CASES:  # the published floor counts a value that the sharp one does not
        bounds, slope, sharp = LowerBounds(size, epsilon), _steepest_row(epsilon, size), _lowest_row(epsilon, size)
        yield bounds.log_information_ceiling(), 2 * (size - 1) * np.log(slope)
        yield [bounds.log_covariance_floor(form) for form in FORMS], [sharp + sharp / (size - 1), sharp]


@second_route(LowerBounds.distribution)
def _budget_bounds() -> Pairs:
    yield from ((LowerBounds(a, eps).distribution(), a / _steepest_row(eps, a) ** 2) for eps, a in CASES)


@second_route(LowerBounds.frequency)
def _budget_bounds_on_frequencies() -> Pairs:
    for epsilon, size in CASES:
        sharp = _lowest_row(epsilon, size) / (size - 1)  # of the logarithms, the mean of the directions
        scale, found = (
            size / _steepest_row(epsilon, size) ** 2,
            [LowerBounds(size, epsilon).frequency(f) for f in FORMS],
        )
        yield found, [scale * np.exp(mean) for mean in (sharp * size / (size - 1), sharp)]


@second_route(LowerBounds.any_channel)
def _any_channel() -> Pairs:
    for epsilon, size in CASES:
        scatter = patterns(epsilon, size).var(axis=1).max() * size
        yield LowerBounds(size, epsilon).any_channel(), (size - 1) ** 2 / scatter


@second_route(lower_bounds.any_channel_bound_at)
def _any_channel_at() -> Pairs:
    for epsilon, point in ((1.0, POINT), (0.2, np.array([0.97, 0.01, 0.01, 0.01]))):
        rows, size = patterns(epsilon, point.size), point.size
        bound = (size - 1) ** 2 / (rows.var(axis=1) * size / (rows @ point) ** 2).max()
        yield lower_bounds.any_channel_bound_at(point, epsilon), (bound, bound - (1 - point @ point))


@second_route(LowerBounds.uniform_information)
def _uniform_information() -> Pairs:
    for epsilon, size, chosen in ((0.1, 2, 1), (1.0, 5, 1), (1.0, 5, 2), (3.0, 6, 3)):
        error = routes.limiting_error(routes.subset_channel(epsilon, size, chosen), uniform(size))
        yield LowerBounds(size, epsilon).uniform_information(chosen), (size - 1) ** 2 / error


@second_route(LowerBounds.uniform_optimum)
def _uniform_optimum() -> Pairs:
    for epsilon, size in (*CASES, (0.5, 4), (0.6, 4)):
        yield LowerBounds(size, epsilon).uniform_optimum(), min(_errors(epsilon, size))


@second_route(best_channel.best_channel)
def _best_channels() -> Pairs:
    for size, epsilon in ((2, 0.1), (3, 1.0), (4, 0.5), (5, 3.0)):
        found = best_channel.best_channel(uniform(size), epsilon)
        least = min(_errors(epsilon, size))
        yield found.channel.sum(axis=0), np.ones(size)
        yield [found.error, found.lower_bound], [least, least], 1e-6
    points = np.array([[0.7, 0.1, 0.1, 0.1], [0.4, 0.3, 0.2, 0.1]])
    found = best_channel.best_channel(points, 0.5)
    error = np.mean([routes.limiting_error(found.channel, point) for point in points])
    yield [found.error, found.lower_bound], [error, error], 1e-6


@second_route(LowerBounds.finite_users)
def _finite_users() -> Pairs:
    held = (1 + np.cos((np.arange(40) + 0.5) * pi / 40)) / 2  # Jeffreys' prior on two values
    for epsilon, users in ((0.5, 1), (0.5, 20), (2.0, 3)):
        share = routes.krr_channel(epsilon, 2)[0] @ [1, -1]
        told = users * float(np.mean(4 * share**2 * (held - 0.5) ** 2))
        yield LowerBounds(2, epsilon).finite_users(users), np.exp(2 * (np.log(pi / 4) - told)) / (pi * e)
