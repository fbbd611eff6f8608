"""Errors of estimators beside lower bounds, exact risks of small cases, and best channels.

Some bounds hold only in the limit of many users. Such a bound is called *valid* here unless it
exceeds the smallest error, exact or simulated, by more than four standard errors. Priors are
symmetric Dirichlet, given by name and concentration.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints
from ldpnb.estimators import likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.notebook import Rows, table
from ldpnb.papers.lopuhaa2020.formulas import exact_risk, information
from ldpnb.papers.lopuhaa2020.formulas.best_channel import best_channel
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues
from ldpnb.papers.lopuhaa2020.formulas.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.papers.lopuhaa2020.tables import frequencies
from ldpnb.papers.lopuhaa2020.tables.frequencies import EPSILON, Truth

SCALED = "n times the mean squared error"
TO_LIMIT = "error / its limit"
LIMITING = "(59), many users"
ANY_N = "any channel, any n"
VALID = "sharpest valid bound"
RELATIVE = "limiting error / least of any channel"


def binary_mle(users: int, epsilon: float) -> Floats:
    """Estimate the share of the first of two values by maximum likelihood.

    There is an estimate for each number of its reports, from 0 to `users`.
    """
    seen = np.arange(users + 1)
    return likelihood.krr_mle(np.column_stack([seen, users - seen]), epsilon=epsilon)[:, 0]


@table
def binary_errors_and_bounds(users: Sequence[int], epsilons: Sequence[float]) -> Rows:
    """Tabulate exact errors of the distribution and bounds on them, for two values.

    Reports are by randomised response, under Jeffreys' prior. All errors have the same limit, the
    error of the unbiased estimate (Proposition 4.6); the last column is relative to it.
    """
    for epsilon, count in product(epsilons, users):
        case = TwoValues(count, epsilon)
        bounds = LowerBounds(2, epsilon)
        distribution_entropy, _ = case.entropies()
        mechanism = KaryRandomisedResponse(epsilon, 2)
        unbiased = information.unbiased_frequency_error(mechanism) + 0.25

        errors = {
            "Bayes": count * case.risk().distribution,
            "MLE": count * case.risk(binary_mle(count, epsilon)).distribution,
            "unbiased": unbiased,
            LIMITING: bounds.distribution(),
            "Theorem 4.1, any n": count * EntropyBounds(2).distribution(distribution_entropy),
            ANY_N: count * bounds.finite_users(count),
        }

        for name, error in errors.items():
            yield {
                EPSILON: epsilon,
                "users": count,
                "quantity": name,
                SCALED: error,
                TO_LIMIT: error / unbiased,
            }


@table
def errors_and_bounds(
    domain_size: int, users: int, epsilons: Sequence[float], *, draws: int, seed: int
) -> Rows:
    """Tabulate simulated errors of the distribution, and exact bounds on them.

    Reports are by k-ary randomised response, under Jeffreys' prior. The sharpest valid bound is one
    of those that hold for any channel.
    """
    names = (*frequencies.SOURCE_ESTIMATORS, "Bayes")
    errors = frequencies.compare(
        "k-RR",
        Truth.from_prior(domain_size, users),
        epsilons,
        draws=draws,
        seed=seed,
        estimators={name: frequencies.ESTIMATORS[name] for name in names},
    )
    errors = errors[errors["target"] == "distribution"]

    setting = {"mechanism": "k-RR", "users": users}
    least = dict.fromkeys(epsilons, np.inf)
    columns = [EPSILON, "estimator", "mean squared error", "standard error"]

    for epsilon, name, error, deviation in errors[columns].itertuples(index=False):
        least[epsilon] = min(least[epsilon], users * (error + 4 * deviation))

        yield setting | {
            EPSILON: epsilon,
            "quantity": name,
            SCALED: users * error,
            "standard error": users * deviation,
        }

    prior = information.SymmetricDirichlet(domain_size)

    for epsilon in epsilons:
        mechanism = KaryRandomisedResponse(epsilon, domain_size)
        limit = information.unbiased_frequency_error(mechanism) + prior.diversity()
        bounds = _bounds(domain_size, epsilon, limit, prior.krr_log_det_information(epsilon))
        bounds[ANY_N] = users * LowerBounds(domain_size, epsilon).finite_users(users)

        for_any_channel = (bounds[LIMITING], bounds["any channel"])
        valid = [bound for bound in for_any_channel if bound <= least[epsilon]]
        bounds[VALID] = max([bounds[ANY_N], *valid])

        for name, bound in bounds.items():
            yield setting | {
                EPSILON: epsilon,
                "quantity": name,
                SCALED: bound,
                "standard error": np.nan,
            }


def _bounds(size: int, epsilon: float, limit: float, log_information: float) -> dict[str, float]:
    """Return bounds on the limit of ``n`` times the error, by name.

    That limit and the mean of ``ln det J_P`` are those of the channel at hand.
    """
    bounds = LowerBounds(size, epsilon)
    entropies = EntropyBounds(size)
    distribution, _ = entropies.asymptotic(log_information, 0.0)
    return {
        LIMITING: bounds.distribution(),
        "any channel": bounds.any_channel(),
        "(51), raised": entropies.factor() * distribution,
        "limit of this channel": limit,
    }


@table
def errors_over_limit(
    domain_size: int, users: int, epsilons: Sequence[float], *, draws: int, seed: int
) -> Rows:
    """Tabulate simulated errors of the distribution, divided by their limit for many users.

    Reports are by optimised unary encoding on 2 to 12 values, under Jeffreys' prior, from at least
    10 draws of a distribution. Standard errors are those of the ratios. The error of the unbiased
    estimate and the bounds are exact, given the drawn distributions.

    To lower the noise, each estimate is paired with another one that errs in the same direction and
    whose mean error is known, given the true distribution: the MLE with the linear estimate that
    attains the limit at any number of users, and Norm-Sub with the unbiased estimate. Errors are
    corrected by their regression on the difference between that estimate's error and its mean.
    """
    truth = Truth.from_prior(domain_size, users)
    points, holders = truth.draws(checks.whole(draws, "draws", at_least=10), seed=seed)

    for epsilon in epsilons:
        reports = frequencies.streamed_reports("OUE", truth.key, epsilon, holders, seed)
        errors = {}
        for name, estimator in frequencies.SOURCE_ESTIMATORS.items():
            estimates = np.asarray(estimator(reports))
            errors[name] = users * ((estimates - points) ** 2).sum(axis=1)

        channel = UnaryEncoding.optimised(epsilon, domain_size).channel()
        limits, efficient_excess = _efficient(channel, points, reports.tallies)
        unbiased = (
            information.unbiased_frequency_error(reports.mechanism) + 1 - (points**2).sum(axis=1)
        )
        mle, mle_error = _ratio(errors["MLE"], efficient_excess, limits)
        norm_sub, norm_sub_error = _ratio(errors["Norm-Sub"], errors["unbiased"] - unbiased, limits)

        limit = limits.mean()
        log_information = _mean_log_information(channel, points)
        bounds = _bounds(domain_size, epsilon, float(limit), log_information)

        yield {
            EPSILON: epsilon,
            "limit of this channel": limit,
            "MLE": mle,
            "s.e. of MLE": mle_error,
            "Norm-Sub": norm_sub,
            "s.e. of Norm-Sub": norm_sub_error,
            "unbiased": unbiased.mean() / limit,
            "(51), raised": bounds["(51), raised"] / limit,
            "any channel": bounds["any channel"] / limit,
            LIMITING: bounds[LIMITING] / limit,
        }


def _mean_log_information(channel: Floats, points: Floats) -> float:
    """Return the mean of ``ln det J_p`` over distributions."""
    logs = []
    for point in points:
        _, log_information = np.linalg.slogdet(information.fisher_information(channel, point))
        logs.append(log_information)
    return float(np.mean(logs))


def _efficient(channel: Floats, points: Floats, tallies: Ints) -> tuple[Floats, Floats]:
    """Return the limiting error for each draw, and by how much the efficient estimate exceeds it.

    The efficient linear estimate is ``p + I_p^-1 (g - 1)`` with ``g = Q^T (s / n / Qp)``. The mean
    of ``g`` is ``1 = I_p p``, and the estimate's covariance is ``(I_p^-1 - p p^T) / n``.
    """
    users = tallies[0].sum()
    chances = points @ channel.T
    inverse = np.linalg.inv(
        np.einsum("dy,yi,yj->dij", 1 / chances, channel, channel, optimize=True)
    )
    gradient = (tallies / users / chances) @ channel
    errors = np.einsum("dij,dj->di", inverse, gradient) - points
    limits = np.trace(inverse, axis1=1, axis2=2) - (points**2).sum(axis=1)
    return limits, users * (errors**2).sum(axis=1) - limits


def _ratio(errors: Floats, control: Floats, limits: Floats) -> tuple[float, float]:
    """Return the mean error over the mean limit, and its standard error.

    The control has mean 0; its regression is subtracted from the errors.
    """
    centred = control - control.mean()
    corrected = errors - (centred @ errors) / (centred @ centred) * control
    ratio = corrected.mean() / limits.mean()
    deviation = (corrected - ratio * limits).std(ddof=2) / np.sqrt(errors.size)
    return float(ratio), float(deviation / limits.mean())


@table
def exact_small_risks(
    users: Sequence[int], epsilon: float, concentrations: Mapping[str, float]
) -> Rows:
    """Tabulate exact errors of the distribution for three values, relative to the smallest.

    Reports are by k-ary randomised response.
    """
    estimators = {}
    for name in ("MLE", "Norm-Sub", "uniform guess"):
        estimators[name] = partial(frequencies.krr_estimate, name, epsilon=epsilon)

    channel = KaryRandomisedResponse(epsilon, 3).channel()

    for (prior, concentration), count in product(concentrations.items(), users):
        risks = exact_risk.exact_risks(channel, count, np.full(3, concentration), estimators)

        for name, risk in risks.items():
            yield {
                "prior": prior,
                "users n": count,
                "estimator": name,
                "error": risk.distribution,
                "error / least error": risk.distribution / risks["Bayes"].distribution,
            }


@table
def channel_errors(domain_size: int, epsilons: Sequence[float], distributions: Floats) -> Rows:
    """Tabulate the limiting error of the distribution for several channels and the best one.

    The error is ``n`` times the mean squared error, for many users. It is also divided by the
    certified lower bound for the best channel. "best" is the optimum by convex optimisation; "OUE,
    unbiased estimate" is what the usual estimate makes of optimised unary encoding.

    Parameters
    ----------
    domain_size : int
        Number of values, from 2 to 8.
    epsilons : sequence of float
        Privacy budgets in nats.
    distributions : ndarray, shape (draws, a)
        Distributions of equal weight, over which errors are averaged.
    """
    diversity = float(1 - (distributions**2).sum(axis=1).mean())

    for epsilon in epsilons:
        unary = UnaryEncoding.optimised(epsilon, domain_size)
        channels = {
            "k-RR": KaryRandomisedResponse(epsilon, domain_size).channel(),
            "subset selection": SubsetSelection.optimal(epsilon, domain_size).channel(),
            "OUE": unary.channel(),
            "SUE": UnaryEncoding.symmetric(epsilon, domain_size).channel(),
        }

        errors = {}
        for name, channel in channels.items():
            each = [information.distribution_error(channel, point) for point in distributions]
            errors[name] = float(np.mean(each))
        errors["OUE, unbiased estimate"] = information.unbiased_frequency_error(unary) + diversity

        best = best_channel(distributions, epsilon)
        errors["best"] = best.error

        for name, error in errors.items():
            yield {
                EPSILON: epsilon,
                "channel": name,
                "error": error,
                RELATIVE: error / best.lower_bound,
            }
