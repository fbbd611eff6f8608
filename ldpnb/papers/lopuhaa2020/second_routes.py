"""Second routes to the formulas that the claims of lopuhaa2020 rest on.

Those that a check derives on symbols, for every parameter, need none.
"""

from functools import cache, partial
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
from ldpnb.privacy import best_channel, channel
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


@second_route(channel.privacy_loss)
def _losses() -> Pairs:
    yield from ((channel.privacy_loss(rows).epsilon, routes.loss(rows)) for rows in CHANNELS)


UNARY = ((0.5, 0.2, 2), (0.7, 0.1, 4))
"""Chances of a set bit, at one's own value and elsewhere, and numbers of values."""


@second_route(UnaryEncoding.channel)
def _unary_channels() -> Pairs:
    yield from ((UnaryEncoding(*case).channel(), routes.unary_channel(*case)) for case in UNARY)


@second_route(UnaryEncoding.epsilon)
def _unary_losses() -> Pairs:
    yield from ((UnaryEncoding(*case).epsilon, routes.loss(routes.unary_channel(*case))) for case in UNARY)
    yield UnaryEncoding(0.5, 0.2, 10**4).epsilon, routes.loss(routes.unary_channel(0.5, 0.2, 2))


@second_route(UnaryEncoding.optimised)
def _optimised() -> Pairs:
    for epsilon, size in CASES[:2]:
        made = UnaryEncoding.optimised(epsilon, size)
        lost = routes.loss(routes.unary_channel(made.p, made.q, size))
        yield [lost, made.p, made.domain_size], [epsilon, 0.5, size]


def _errors(epsilon: float, size: int) -> list[float]:
    """Return the limiting errors of subset selection with 1, 2, .. values at the uniform distribution."""
    channels = (routes.subset_channel(epsilon, size, chosen) for chosen in range(1, size))
    return [routes.limiting_error(rows, uniform(size)) for rows in channels]


BEST = ((0.1, 2), (0.5, 4), (0.6, 4), (0.1, 5), (3.0, 5))
"""Budgets and numbers of values at which different sizes of sets are best."""


@second_route(SubsetSelection.optimal)
def _best_sizes() -> Pairs:
    for case in BEST:
        made = SubsetSelection.optimal(*case)
        yield [made.epsilon, made.domain_size, made.subset_size], [*case, 1 + np.argmin(_errors(*case))]


@second_route(LowerBounds.uniform_optimum)
def _uniform_optimum() -> Pairs:
    yield from ((LowerBounds(size, epsilon).uniform_optimum(), min(_errors(epsilon, size))) for epsilon, size in BEST)


@second_route(best_channel.best_channel)
def _best_channels() -> Pairs:
    for epsilon, size in BEST:
        best, least = best_channel.best_channel(uniform(size), epsilon), min(_errors(epsilon, size))
        yield best.channel.sum(axis=0), np.ones(size)
        yield [best.error, best.lower_bound], [least, least], 1e-6
    points = np.array([[0.7, 0.1, 0.1, 0.1], [0.4, 0.3, 0.2, 0.1]])
    best = best_channel.best_channel(points, 0.5)
    error = np.mean([routes.limiting_error(best.channel, point) for point in points])
    yield [best.error, best.lower_bound], [error, error], 1e-6


@second_route(frequency.unbiased)
def _unbiased() -> Pairs:
    for epsilon, size in CASES:
        tallies, krr = drawn_tallies(size), KaryRandomisedResponse(epsilon, size)
        yield frequency.unbiased(tallies, 60, krr), routes.inverted(routes.krr_channel(epsilon, size), tallies)
    for p, q, size in UNARY:  # the mean over the outputs of one user is what the user holds
        estimates = frequency.unbiased(routes.bits(size), 1, UnaryEncoding(p, q, size))
        yield routes.unary_channel(p, q, size).T @ estimates, np.eye(size)


@second_route(frequency.project_simplex)
def _projections() -> Pairs:
    for spread, size in ((0.2, 3), (1.0, 5), (0.1, 400)):
        vectors = np.random.default_rng(2022).normal(1 / size, spread, (50, size))
        nearest = frequency.project_simplex(vectors)
        away = vectors - nearest  # at no obtuse angle to the way to any vertex
        yield nearest.sum(axis=1), np.ones(50)
        yield np.minimum((away * nearest).sum(axis=1) - away.max(axis=1), nearest.min(axis=1)), np.zeros(50)


@second_route(likelihood.krr_mle)
def _krr_maxima() -> Pairs:
    for epsilon, size in (*CASES, (1e-6, 2), (0.5, 300)):
        for tallies in (drawn_tallies(size), 10**6 * drawn_tallies(size)):
            yield likelihood.krr_mle(tallies, epsilon=epsilon), routes.levelled(tallies, 1 / np.expm1(epsilon))


@second_route(likelihood.mle)
def _maxima() -> Pairs:
    tally = np.array([53, 52, 22, 14, 25, 19, 7, 8])
    fit = likelihood.mle(routes.oue_channel(1.0, 3), tally)
    yield [fit.estimate.sum(), routes.steepest(routes.oue_channel(1.0, 3), tally, fit.estimate)], [1, tally.sum()], 1e-6


@second_route(likelihood.support_mle)
def _support_maxima() -> Pairs:
    rng, once = np.random.default_rng(2022), np.ones(400, dtype=int)
    for size in (6, 40):
        bits = (rng.random((400, size)) < np.linspace(0.2, 0.6, size)).astype(int)
        fit = likelihood.support_mle(bits, once, UnaryEncoding(0.5, 1 / (np.exp(2) + 1), size))
        steepest = routes.steepest(1 + np.expm1(2.0) * bits, once, fit.estimate)
        yield [fit.estimate.sum(), steepest], [1, 400], 1e-5


@second_route(likelihood.certificate_gap)
def _gaps() -> Pairs:
    rows, flat, step = routes.krr_channel(1.0, 5), np.full(5, 0.2), 1e-4
    for tally in drawn_tallies(5)[:3]:  # the slope of the log-likelihood towards the best vertex
        ends = [np.log(rows @ (flat + h * (np.eye(5) - flat)).T).T @ tally for h in (-step, step)]
        yield likelihood.certificate_gap(rows, tally, flat), np.max(ends[1] - ends[0]) / (2 * step), 1e-7


@cache
def _few_users() -> list[tuple[Array, int, Array, routes.Sequences]]:
    """Return channels, users and priors, and all sequences of reports; the first two by k-RR at epsilon 1."""
    krr, oue = routes.krr_channel(1.0, 3), routes.oue_channel(1.5, 2)
    cases = ((krr, 4, JEFFREYS), (krr, 4, UNEVEN), (oue, 3, np.array([0.5, 1.5])))
    return [(*case, routes.all_sequences(*case)) for case in cases]


SEEN = (0, 5, 39)
"""Sequences of reports of which the posteriors are compared."""


@second_route(bayes.posterior)
def _posteriors() -> Pairs:
    for rows, _, prior, every in _few_users():
        for seen in SEEN:
            own, means = bayes.posterior(rows, every.tallies[seen], prior), [m[seen] for m in every.means.values()]
            spreads = [every.squares[target][seen] - (m[seen] ** 2).sum() for target, m in every.means.items()]
            yield [own.distribution, own.frequencies], means
            yield [own.distribution_variance, own.frequency_variance], spreads
            yield own.log_marginal, np.log(every.chances[seen])


@second_route(bayes.krr_posterior)
def _krr_posteriors() -> Pairs:
    for _, _, prior, every in _few_users()[:2]:
        for seen in SEEN:
            own = bayes.krr_posterior(every.tallies[seen], prior, epsilon=1.0)
            yield [own.distribution, own.frequencies], [mean[seen] for mean in every.means.values()]


@second_route(bayes.frequency_mean)
def _frequency_means() -> Pairs:
    for _, users, prior, every in _few_users():
        yield bayes.frequency_mean(every.means["distribution"], prior, users), every.means["frequency"]


def _linear(rule: Array, tallies: Counts) -> Array:
    return tallies @ rule / tallies.sum(axis=1, keepdims=True)


@second_route(exact_risk.exact_risks)
def _risks() -> Pairs:
    for rows, users, prior, every in _few_users():
        rule = np.random.default_rng(1).random(rows.shape)
        risks = exact_risk.exact_risks(rows, users, prior, {"any": partial(_linear, rule)})
        for name, estimates in (("Bayes", None), ("any", _linear(rule, every.tallies))):
            yield [risks[name].distribution, risks[name].frequency], every.risks(estimates)


@cache
def _two_values() -> list[tuple[TwoValues, routes.Sequences]]:
    """Return users with two values, and all sequences of their reports."""
    cases = ((5, 1.0, 0.5), (6, 0.5, 1.5))
    return [(TwoValues(n, b, x), routes.all_sequences(routes.krr_channel(b, 2), n, np.full(2, x))) for n, b, x in cases]


@second_route(TwoValues.risk)
def _binary_risks() -> Pairs:
    for case, every in _two_values():
        for risk, estimates in (
            (case.risk(), None),
            (case.risk(np.arange(case.users + 1) / case.users), every.tallies / case.users),
        ):
            yield [risk.distribution, risk.frequency], every.risks(estimates)


@second_route(TwoValues.entropies)
def _binary_entropies() -> Pairs:
    yield from ((TwoValues(*case).entropies(), routes.binary_entropies(*case)) for case in ((7, 2.5), (20, 1.0)))


@second_route(information.fisher_information, information.conditional_covariance)
def _matrices() -> Pairs:
    for rows in CHANNELS:
        matrices = information.fisher_information(rows, POINT), information.conditional_covariance(rows, POINT)
        yield matrices, routes.information_sum(rows, POINT)


@second_route(information.distribution_error)
def _distribution_errors() -> Pairs:
    limits = [routes.limiting_error(rows, POINT) for rows in CHANNELS]
    yield from ((information.distribution_error(c, POINT), limit) for c, limit in zip(CHANNELS, limits, strict=True))
    yield information.distribution_error(KaryRandomisedResponse(1.0, 3), POINT), limits[0]


@second_route(information.frequency_error)
def _frequency_errors() -> Pairs:
    limits = [routes.limiting_error(rows, POINT) - (1 - POINT @ POINT) for rows in CHANNELS]
    yield from ((information.frequency_error(c, POINT), limit) for c, limit in zip(CHANNELS, limits, strict=True))
    yield information.frequency_error(KaryRandomisedResponse(1.0, 3), POINT), limits[0]


@second_route(information.entropy_constants)
def _constants() -> Pairs:
    points = np.random.default_rng(2022).dirichlet(np.full(3, 0.5), size=5)
    for rows in CHANNELS:
        logs = [[np.linalg.slogdet(m)[1] for m in routes.information_sum(rows, p)] for p in points]
        first, second = np.mean(logs, axis=0)
        yield information.entropy_constants(rows, points), (first, second - np.log(points).sum() / 5 - first)


@second_route(SymmetricDirichlet.diversity)
def _diversity() -> Pairs:
    for size, concentration in ((2, 0.5), (5, 2.0)):  # two draws from Pólya's urn that differ
        same = size * routes.urn(np.array([0, 0]), np.full(size, concentration))
        yield SymmetricDirichlet(size, concentration).diversity(), 1 - same


@second_route(EntropyBounds.limits)
def _entropy_limits() -> Pairs:
    for rows in CHANNELS:
        precision, covariance = routes.information_sum(rows, POINT)
        inverse, own = np.linalg.inv(precision), np.diag(POINT[:2]) - np.outer(POINT[:2], POINT[:2])
        # H(T|Y) = H(T|Y,P) + h(P|Y) - h(P|T)
        known, left, true = (multivariate_normal(cov=cov).entropy() for cov in (covariance, inverse, own))
        logs = [float(np.linalg.slogdet(matrix)[1]) for matrix in (precision, covariance, own)]
        yield EntropyBounds(3).limits(logs[0], logs[1] - logs[2] - logs[0]), (left, known + left - true)


def _steepest_row(epsilon: float, size: int) -> float:
    """Return how much the entries of a row of a channel can differ, over the least of them."""
    return float((np.ptp(patterns(epsilon, size), axis=1) / patterns(epsilon, size).min(axis=1)).max())


def _floors(epsilon: float, size: int) -> Array:
    """Return the least sum of ``ln(Q / (Qp))`` over the values, with one value more as published, and as it is."""
    corners = np.eye(size) * (1 - 1e-13 * size) + 1e-13  # almost all users hold one value
    sharp = min(float(np.log(row / (row @ corner)).sum()) for row in patterns(epsilon, size) for corner in corners)
    return np.array([sharp * size / (size - 1), sharp])


@second_route(LowerBounds.log_information_ceiling, LowerBounds.log_covariance_floor)
def _constants_of_the_budget() -> Pairs:
    for epsilon, size in CASES:
        bounds = LowerBounds(size, epsilon)
        yield bounds.log_information_ceiling(), 2 * (size - 1) * np.log(_steepest_row(epsilon, size))
        yield [bounds.log_covariance_floor(form) for form in FORMS], _floors(epsilon, size)


@second_route(LowerBounds.frequency)
def _budget_bounds_on_frequencies() -> Pairs:
    for epsilon, size in CASES:
        least = size / _steepest_row(epsilon, size) ** 2 * np.exp(_floors(epsilon, size) / (size - 1))
        yield [LowerBounds(size, epsilon).frequency(form) for form in FORMS], least


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


@second_route(LowerBounds.finite_users)
def _finite_users() -> Pairs:
    shares = (1 + np.cos((np.arange(40) + 0.5) * pi / 40)) / 2  # Jeffreys' prior on two values
    for epsilon, users in ((0.5, 1), (0.5, 20), (2.0, 3)):
        share = routes.krr_channel(epsilon, 2)[0] @ [1, -1]
        spread = users * float(np.mean(4 * share**2 * (shares - 0.5) ** 2))
        yield LowerBounds(2, epsilon).finite_users(users), np.exp(2 * (np.log(pi / 4) - spread)) / (pi * e)
