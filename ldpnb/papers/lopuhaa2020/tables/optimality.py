"""Errors of estimators beside lower bounds, exact risks of small cases, and the best channel at each budget.

A bound that holds in the limit of many users only is *valid* unless the least error, exact or simulated and by four
standard errors, is smaller. Priors are symmetric Dirichlet, given by name and concentration.
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
LIMITING, ANY_N, VALID = "(59), many users", "any channel, any n", "sharpest valid bound"
RELATIVE = "limiting error / least of any channel"


def binary_mle(users: int, epsilon: float) -> Floats:
    """Return the maximum-likelihood estimate of the first of two values for each number of its reports."""
    seen = np.arange(users + 1)
    return likelihood.krr_mle(np.column_stack([seen, users - seen]), epsilon=epsilon)[:, 0]


@table
def binary_errors_and_bounds(users: Sequence[int], epsilons: Sequence[float]) -> Rows:
    """Yield exact errors of the distribution and bounds on them, randomised response on two values, Jeffreys' prior.

    The unbiased estimate's error is the limit of all (Proposition 4.6): the last column is relative to it.
    """
    for epsilon, count in product(epsilons, users):
        case, bounds = TwoValues(count, epsilon), LowerBounds(2, epsilon)
        unbiased = information.unbiased_frequency_error(KaryRandomisedResponse(epsilon, 2)) + 0.25
        errors = {
            "Bayes": count * case.risk().distribution,
            "MLE": count * case.risk(binary_mle(count, epsilon)).distribution,
            "unbiased": unbiased,
            LIMITING: bounds.distribution(),
            "Theorem 4.1, any n": count * EntropyBounds(2).distribution(case.entropies()[0]),
            ANY_N: count * bounds.finite_users(count),
        }
        for name, error in errors.items():
            row = {EPSILON: epsilon, "users": count, "quantity": name}
            yield row | {SCALED: error, TO_LIMIT: error / unbiased}


@table
def errors_and_bounds(
    domain_size: int, users: int, epsilons: Sequence[float], *, draws: int, seed: int
) -> Rows:
    """Simulate errors of the distribution by k-ary randomised response under Jeffreys' prior, with the bounds on them.

    Bounds are exact. The sharpest valid bound is that of those for any channel.
    """
    estimators = {
        name: frequencies.ESTIMATORS[name] for name in (*frequencies.SOURCE_ESTIMATORS, "Bayes")
    }
    truth, setting = Truth.from_prior(domain_size, users), {"mechanism": "k-RR", "users": users}
    errors = frequencies.compare(
        "k-RR", truth, epsilons, draws=draws, seed=seed, estimators=estimators
    )
    errors = errors[errors["target"] == "distribution"]
    least = dict.fromkeys(epsilons, np.inf)
    columns = (EPSILON, "estimator", "mean squared error", "standard error")
    for epsilon, name, error, deviation in errors[list(columns)].itertuples(index=False):
        least[epsilon] = min(least[epsilon], users * (error + 4 * deviation))
        row = setting | {EPSILON: epsilon, "quantity": name, SCALED: users * error}
        yield row | {"standard error": users * deviation}
    prior = information.SymmetricDirichlet(domain_size)
    for epsilon in epsilons:
        krr = KaryRandomisedResponse(epsilon, domain_size)
        limit = information.unbiased_frequency_error(krr) + prior.diversity()
        any_n = users * LowerBounds(domain_size, epsilon).finite_users(users)
        bounds = _bounds(domain_size, epsilon, limit, prior.krr_log_det_information(epsilon)) | {
            ANY_N: any_n
        }
        valid = [
            bounds[name] for name in (LIMITING, "any channel") if bounds[name] <= least[epsilon]
        ]
        for name, bound in (bounds | {VALID: max([any_n, *valid])}).items():
            yield setting | {
                EPSILON: epsilon,
                "quantity": name,
                SCALED: bound,
                "standard error": np.nan,
            }


def _bounds(size: int, epsilon: float, limit: float, constant: float) -> dict[str, float]:
    """Return bounds on the limit of ``n`` times the error, by name, given that and the mean log-determinant."""
    bounds, entropies = LowerBounds(size, epsilon), EntropyBounds(size)
    return {
        LIMITING: bounds.distribution(),
        "any channel": bounds.any_channel(),
        "(51), raised": entropies.factor() * entropies.asymptotic(constant, 0.0)[0],
        "limit of this channel": limit,
    }


@table
def errors_over_limit(
    domain_size: int, users: int, epsilons: Sequence[float], *, draws: int, seed: int
) -> Rows:
    """Simulate errors of the distribution under OUE and Jeffreys' prior, over the limit for many users.

    There are 2 to 12 values and at least 10 draws of a distribution. Standard errors are those of the ratios. Each draw
    has an estimate whose mean error is known, given the true distribution, and that misses where the simulated one
    does: for the MLE the linear one that reaches the limit at any number of users, for Norm-Sub the unbiased one.
    Errors are corrected by their regression on how far that one is from its mean. The unbiased estimate's own error and
    the bounds are exact given the drawn distributions.
    """
    truth = Truth.from_prior(domain_size, users)
    points, holders = truth.draws(checks.whole(draws, "draws", at_least=10), seed=seed)
    for epsilon in epsilons:
        reports = frequencies.streamed_reports("OUE", truth.key, epsilon, holders, seed)
        channel = UnaryEncoding.optimised(epsilon, domain_size).channel()
        limits, excess = _efficient(channel, points, reports.tallies)
        plain = (
            information.unbiased_frequency_error(reports.mechanism) + 1 - (points**2).sum(axis=1)
        )
        errors = {
            name: users * ((np.asarray(estimate(reports)) - points) ** 2).sum(axis=1)
            for name, estimate in frequencies.SOURCE_ESTIMATORS.items()
        }
        row = {EPSILON: epsilon, "limit of this channel": limits.mean()}
        for name, control in {"MLE": excess, "Norm-Sub": errors["unbiased"] - plain}.items():
            row[name], row[f"s.e. of {name}"] = _ratio(errors[name], control, limits)
        constant = float(
            np.mean(
                [np.linalg.slogdet(information.fisher_information(channel, p))[1] for p in points]
            )
        )
        bounds = _bounds(domain_size, epsilon, float(limits.mean()), constant)
        shown = {"unbiased": plain.mean()} | {
            name: bounds[name] for name in ("(51), raised", "any channel", LIMITING)
        }
        yield row | {name: value / limits.mean() for name, value in shown.items()}


def _efficient(channel: Floats, points: Floats, tallies: Ints) -> tuple[Floats, Floats]:
    """Return the mean of ``n`` times the error of the efficient linear estimate for each draw, and how far it is off.

    It is ``p + I_p^-1 (g - 1)`` with ``g = Q^T (s / n / Qp)``, of mean ``1 = I_p p``, and covariance ``(I_p^-1 - p p^T)
    / n``.
    """
    users, chances = tallies[0].sum(), points @ channel.T
    inverse = np.linalg.inv(
        np.einsum("dy,yi,yj->dij", 1 / chances, channel, channel, optimize=True)
    )
    gradient = (tallies / users / chances) @ channel
    errors = np.einsum("dij,dj->di", inverse, gradient) - points
    limits = np.trace(inverse, axis1=1, axis2=2) - (points**2).sum(axis=1)
    return limits, users * (errors**2).sum(axis=1) - limits


def _ratio(errors: Floats, control: Floats, limits: Floats) -> tuple[float, float]:
    """Return the mean error over the mean limit, by a control of mean 0, and its standard error."""
    apart = control - control.mean()
    freed = errors - (apart @ errors) / (apart @ apart) * control
    ratio = freed.mean() / limits.mean()
    spread = (freed - ratio * limits).std(ddof=2) / np.sqrt(errors.size)
    return float(ratio), float(spread / limits.mean())


@table
def exact_small_risks(
    users: Sequence[int], epsilon: float, concentrations: Mapping[str, float]
) -> Rows:
    """Yield exact errors of the distribution under k-ary randomised response on three values, relative to the least."""
    names = ("MLE", "Norm-Sub", "uniform guess")
    estimators = {name: partial(frequencies.krr_estimate, name, epsilon=epsilon) for name in names}
    channel = KaryRandomisedResponse(epsilon, 3).channel()
    for (prior, concentration), count in product(concentrations.items(), users):
        risks = exact_risk.exact_risks(channel, count, np.full(3, concentration), estimators)
        for name, risk in risks.items():
            row = {"prior": prior, "users n": count, "estimator": name, "error": risk.distribution}
            yield row | {"error / least error": risk.distribution / risks["Bayes"].distribution}


@table
def channel_errors(domain_size: int, epsilons: Sequence[float], distributions: Floats) -> Rows:
    """Yield the limiting error of the distribution for several channels and the best one, at most 8 values.

    Averaged over points of equal weight, ``(draws, a)``: ``n`` times the error, and that over the certified lower bound
    of the best channel. "best" is the optimum by convex optimisation, "OUE, unbiased estimate" what the usual estimate
    makes of OUE.
    """
    for epsilon in epsilons:
        unary = UnaryEncoding.optimised(epsilon, domain_size)
        channels = {
            "k-RR": KaryRandomisedResponse(epsilon, domain_size).channel(),
            "subset selection": SubsetSelection.optimal(epsilon, domain_size).channel(),
            "OUE": unary.channel(),
            "SUE": UnaryEncoding.symmetric(epsilon, domain_size).channel(),
        }
        best = best_channel(distributions, epsilon)
        errors = {
            name: float(
                np.mean([information.distribution_error(channel, point) for point in distributions])
            )
            for name, channel in channels.items()
        }
        diversity = float(1 - (distributions**2).sum(axis=1).mean())
        errors["OUE, unbiased estimate"] = information.unbiased_frequency_error(unary) + diversity
        errors["best"] = best.error
        for name, error in errors.items():
            yield {
                EPSILON: epsilon,
                "channel": name,
                "error": error,
                RELATIVE: error / best.lower_bound,
            }
