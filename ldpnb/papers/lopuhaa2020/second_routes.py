"""Second routes to the formulas that the claims of lopuhaa2020 rest on, one for each group of ``formulas.toml``.

Those that a check derives on symbols, for every parameter, need none.
"""

from functools import partial
from math import e, pi

import numpy as np
from scipy.stats import multivariate_normal

from ldpnb.accuracy import exact_risk, information, lower_bounds
from ldpnb.accuracy.exact_risk import TwoValues
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
UNARY = ((0.5, 0.2, 2), (0.7, 0.1, 4))
"""Chances of a set bit, at one's own value and elsewhere, and numbers of values."""
BEST = ((0.1, 2), (0.5, 4), (0.6, 4), (0.1, 5), (3.0, 5))
"""Budgets and numbers of values at which different sizes of sets are best."""
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
@second_route(frequency.unbiased, frequency.project_simplex, likelihood.krr_mle)
def _randomised_response() -> Pairs:
    for epsilon, size in CASES:
        tallies, krr, rows = (
            drawn_tallies(size),
            KaryRandomisedResponse(epsilon, size),
            routes.krr_channel(epsilon, size),
        )
        yield [krr.p, krr.q, krr.truthful_rate], [rows[0, 0], rows[0, 1], rows[0, 0] - rows[0, 1]]
        yield frequency.unbiased(tallies, 60, krr), np.linalg.solve(rows, tallies.T / 60).T
    for p, q, size in UNARY:  # the mean over the outputs of one user is what the user holds
        estimates = frequency.unbiased(routes.bits(size), 1, UnaryEncoding(p, q, size))
        yield routes.unary_channel(p, q, size).T @ estimates, np.eye(size)
    for spread, size in ((0.2, 3), (1.0, 5), (0.1, 400)):
        vectors = np.random.default_rng(2022).normal(1 / size, spread, (50, size))
        nearest = frequency.project_simplex(vectors)
        away = vectors - nearest  # at no obtuse angle to the way to any vertex
        yield nearest.sum(axis=1), np.ones(50)
        yield np.minimum((away * nearest).sum(axis=1) - away.max(axis=1), nearest.min(axis=1)), np.zeros(50)
    for epsilon, size in (*CASES, (1e-6, 2), (0.5, 300)):
        for tallies in (drawn_tallies(size), 10**6 * drawn_tallies(size)):
            yield likelihood.krr_mle(tallies, epsilon=epsilon), routes.levelled(tallies, 1 / np.expm1(epsilon))


@second_route(channel.privacy_loss)
def _losses() -> Pairs:
    yield from ((channel.privacy_loss(rows).epsilon, routes.loss(rows)) for rows in CHANNELS)


@second_route(UnaryEncoding.channel, UnaryEncoding.epsilon, UnaryEncoding.optimised)
def _unary_encoding() -> Pairs:
    for case in UNARY:
        made, rows = UnaryEncoding(*case), routes.unary_channel(*case)
        yield made.channel(), rows
        yield made.epsilon, routes.loss(rows)
    for epsilon, size in CASES[:2]:
        made = UnaryEncoding.optimised(epsilon, size)
        lost = routes.loss(routes.unary_channel(made.p, made.q, size))
        yield [lost, made.p, made.domain_size], [epsilon, 0.5, size]


@second_route(likelihood.mle, likelihood.support_mle, likelihood.certificate_gap)
def _maxima() -> Pairs:
    tally, rows = np.array([53, 52, 22, 14, 25, 19, 7, 8]), routes.oue_channel(1.0, 3)
    estimate = likelihood.mle(rows, tally).estimate
    yield [estimate.sum(), routes.steepest(rows, tally, estimate)], [1, tally.sum()], 1e-6
    rng, once = np.random.default_rng(2022), np.ones(400, dtype=int)
    for size in (6, 40):
        bits = (rng.random((400, size)) < np.linspace(0.2, 0.6, size)).astype(int)
        fit = likelihood.support_mle(bits, once, UnaryEncoding(0.5, 1 / (np.exp(2) + 1), size))
        steepest = routes.steepest(1 + np.expm1(2.0) * bits, once, fit.estimate)
        yield [fit.estimate.sum(), steepest], [1, 400], 1e-5
    rows, flat, step = routes.krr_channel(1.0, 5), np.full(5, 0.2), 1e-4
    for tally in drawn_tallies(5)[:3]:  # the slope of the log-likelihood towards the best vertex
        ends = [np.log(rows @ (flat + h * (np.eye(5) - flat)).T).T @ tally for h in (-step, step)]
        yield likelihood.certificate_gap(rows, tally, flat), np.max(ends[1] - ends[0]) / (2 * step), 1e-7


def _linear(rule: Array, tallies: Counts) -> Array:
    return tallies @ rule / tallies.sum(axis=1, keepdims=True)


@second_route(bayes.posterior, bayes.krr_posterior, bayes.frequency_mean, exact_risk.exact_risks)
def _posteriors() -> Pairs:
    krr, oue = routes.krr_channel(1.0, 3), routes.oue_channel(1.5, 2)
    for rows, users, prior in ((krr, 4, JEFFREYS), (krr, 4, UNEVEN), (oue, 3, np.array([0.5, 1.5]))):
        every = routes.all_sequences(rows, users, prior)
        for seen in (0, 5, 39):
            own, means = bayes.posterior(rows, every.tallies[seen], prior), [m[seen] for m in every.means.values()]
            spreads = [every.squares[target][seen] - (m[seen] ** 2).sum() for target, m in every.means.items()]
            yield [own.distribution, own.frequencies], means
            yield [own.distribution_variance, own.frequency_variance], spreads
            yield own.log_marginal, np.log(every.chances[seen])
            if rows is krr:
                own = bayes.krr_posterior(every.tallies[seen], prior, epsilon=1.0)
                yield [own.distribution, own.frequencies], means
        yield bayes.frequency_mean(every.means["distribution"], prior, users), every.means["frequency"]
        rule = np.random.default_rng(1).random(rows.shape)
        risks = exact_risk.exact_risks(rows, users, prior, {"any": partial(_linear, rule)})
        for name, estimates in (("Bayes", None), ("any", _linear(rule, every.tallies))):
            yield [risks[name].distribution, risks[name].frequency], every.risks(estimates)


@second_route(TwoValues.risk, TwoValues.entropies)
def _two_values() -> Pairs:
    for users, epsilon, concentration in ((5, 1.0, 0.5), (6, 0.5, 1.5)):
        case = TwoValues(users, epsilon, concentration)
        every = routes.all_sequences(routes.krr_channel(epsilon, 2), users, np.full(2, concentration))
        for risk, estimates in (
            (case.risk(), None),
            (case.risk(np.arange(users + 1) / users), every.tallies / users),
        ):
            yield [risk.distribution, risk.frequency], every.risks(estimates)
    yield from (
        (TwoValues(*setting).entropies(), routes.binary_entropies(*setting)) for setting in ((7, 2.5), (20, 1.0))
    )


@second_route(information.fisher_information, information.conditional_covariance, information.entropy_constants)
@second_route(information.distribution_error, information.frequency_error, EntropyBounds.limits)
def _information() -> Pairs:
    points, within = np.random.default_rng(2022).dirichlet(np.full(3, 0.5), size=5), 1 - POINT @ POINT
    own = np.diag(POINT[:2]) - np.outer(POINT[:2], POINT[:2])
    for rows in CHANNELS:
        precision, covariance = routes.information_sum(rows, POINT)
        yield information.fisher_information(rows, POINT), precision
        yield information.conditional_covariance(rows, POINT), covariance
        limit = routes.limiting_error(rows, POINT)
        yield (
            [f(rows, POINT) for f in (information.distribution_error, information.frequency_error)],
            (limit, limit - within),
        )
        first, second = np.mean(
            [[np.linalg.slogdet(m)[1] for m in routes.information_sum(rows, p)] for p in points], axis=0
        )
        yield information.entropy_constants(rows, points), (first, second - np.log(points).sum() / 5 - first)
        # H(T|Y) = H(T|Y,P) + h(P|Y) - h(P|T)
        known, left, true = (
            multivariate_normal(cov=cov).entropy() for cov in (covariance, np.linalg.inv(precision), own)
        )
        logs = [float(np.linalg.slogdet(matrix)[1]) for matrix in (precision, covariance, own)]
        yield EntropyBounds(3).limits(logs[0], logs[1] - logs[2] - logs[0]), (left, known + left - true)
    krr, limit = KaryRandomisedResponse(1.0, 3), routes.limiting_error(CHANNELS[0], POINT)
    yield (
        [f(krr, POINT) for f in (information.distribution_error, information.frequency_error)],
        (limit, limit - within),
    )


def _errors(epsilon: float, size: int) -> list[float]:
    """Return the limiting errors of subset selection with 1, 2, .. values at the uniform distribution."""
    channels = (routes.subset_channel(epsilon, size, chosen) for chosen in range(1, size))
    return [routes.limiting_error(rows, uniform(size)) for rows in channels]


@second_route(SubsetSelection.optimal, LowerBounds.uniform_information, LowerBounds.uniform_optimum)
@second_route(best_channel.best_channel)
def _best_channels() -> Pairs:
    for case in BEST:
        (epsilon, size), errors, made = case, _errors(*case), SubsetSelection.optimal(*case)
        bounds, best = LowerBounds(size, epsilon), best_channel.best_channel(uniform(size), epsilon)
        yield [made.epsilon, made.domain_size, made.subset_size], [*case, 1 + np.argmin(errors)]
        yield [(size - 1) ** 2 / bounds.uniform_information(k) for k in range(1, size)], errors
        yield bounds.uniform_optimum(), min(errors)
        yield best.channel.sum(axis=0), np.ones(size)
        yield [best.error, best.lower_bound], [min(errors)] * 2, 1e-6
    points = np.array([[0.7, 0.1, 0.1, 0.1], [0.4, 0.3, 0.2, 0.1]])
    best = best_channel.best_channel(points, 0.5)
    error = np.mean([routes.limiting_error(best.channel, point) for point in points])
    yield [best.error, best.lower_bound], [error, error], 1e-6


def _floors(epsilon: float, size: int) -> Array:
    """Return the least sum of ``ln(Q / (Qp))`` over the values, with one value more as published, and as it is."""
    corners = np.eye(size) * (1 - 1e-13 * size) + 1e-13  # almost all users hold one value
    sharp = min(float(np.log(row / (row @ corner)).sum()) for row in patterns(epsilon, size) for corner in corners)
    return np.array([sharp * size / (size - 1), sharp])


@second_route(LowerBounds.log_information_ceiling, LowerBounds.log_covariance_floor, LowerBounds.distribution)
@second_route(LowerBounds.frequency, LowerBounds.any_channel, lower_bounds.any_channel_bound_at)
@second_route(LowerBounds.finite_users)
def _bounds() -> Pairs:
    for epsilon, size in CASES:
        rows, bounds, floors = patterns(epsilon, size), LowerBounds(size, epsilon), _floors(epsilon, size)
        steepest = float((np.ptp(rows, axis=1) / rows.min(axis=1)).max())  # of any row of a channel
        yield bounds.log_information_ceiling(), 2 * (size - 1) * np.log(steepest)
        yield [bounds.log_covariance_floor(form) for form in FORMS], floors
        yield bounds.distribution(), size / steepest**2
        yield [bounds.frequency(form) for form in FORMS], size / steepest**2 * np.exp(floors / (size - 1))
        yield bounds.any_channel(), (size - 1) ** 2 / (rows.var(axis=1).max() * size)
    for epsilon, point in ((1.0, POINT), (0.2, np.array([0.97, 0.01, 0.01, 0.01]))):
        rows, size = patterns(epsilon, point.size), point.size
        bound = (size - 1) ** 2 / (rows.var(axis=1) * size / (rows @ point) ** 2).max()
        yield lower_bounds.any_channel_bound_at(point, epsilon), (bound, bound - (1 - point @ point))
    shares = (1 + np.cos((np.arange(40) + 0.5) * pi / 40)) / 2  # Jeffreys' prior on two values
    for epsilon, users in ((0.5, 1), (0.5, 20), (2.0, 3)):
        share = routes.krr_channel(epsilon, 2)[0] @ [1, -1]
        spread = users * float(np.mean(4 * share**2 * (shares - 0.5) ** 2))
        yield LowerBounds(2, epsilon).finite_users(users), np.exp(2 * (np.log(pi / 4) - spread)) / (pi * e)
