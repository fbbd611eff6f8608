"""What decides how far estimated counts are off: second routes, and a check for each claim of ``counts.toml``.

``t = e^epsilon``, ``q`` a sampling rate, ``n`` users, ``k`` values.
"""

import math
from itertools import product

import numpy as np
from scipy import stats

from ldpnb.accuracy import distances, exact_distances, sampling, shrinkage
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Symbol
from ldpnb.claims import Evidence, within
from ldpnb.data import synthetic
from ldpnb.deciders import budget, identity, oo, positive, symbols
from ldpnb.designs.strata import largest_remainder
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.sections import Numbers, Pairs, second_route

t, q, n, k, share = symbols("t q n k share")
eps = budget(t)
COUNTS = {t: (1, oo), q: (0, 1), n: (0, oo), k: (1, oo)}
SMALL = SampledCounts(60, 0.5, KaryRandomisedResponse(1.0, 4))


# --- Second routes ---


@second_route(shrinkage.rare_risk, shrinkage.shrunk_count)
def _risks() -> Pairs:
    tally, mechanism = np.arange(SMALL.users + 1), SMALL.mechanism
    law = stats.binom.pmf(tally, SMALL.users, SMALL.rate / (math.e + 3))
    rescaled = (tally / SMALL.rate - SMALL.users * mechanism.q) / mechanism.truthful_rate
    for weight in (0.0, 0.2, 1 - SMALL.rate):
        errors = shrinkage.shrunk_count(rescaled, SMALL, weight)
        yield shrinkage.rare_risk(SMALL, weight), law @ np.square(errors)


@second_route(shrinkage.best_share)
def _best_share() -> Pairs:
    yield shrinkage.best_share(SampledCounts(5, 0.5, KaryRandomisedResponse(math.log(2), 2))), 0.5


def mean_distance(values: np.ndarray, survey: sampling.SampledCounts) -> float:
    """Return the mean distance over all collections: every user is silent (-1) or reports some value."""
    mechanism, total = survey.mechanism, 0.0
    truth = np.bincount(values, minlength=mechanism.domain_size)
    for reports in product(range(-1, mechanism.domain_size), repeat=values.size):
        sent = np.array(reports)
        channel = np.where(sent == values, mechanism.p, mechanism.q) * survey.rate
        chance = np.where(sent < 0, 1 - survey.rate, channel).prod()
        tallies = np.bincount(sent[sent >= 0], minlength=truth.size)
        counts = estimators.realised_size(tallies, sampling_rate=survey.rate, mechanism=mechanism)
        total += chance * np.abs(counts - truth).sum() / (2 * values.size)
    return float(total)


@second_route(exact_distances.exact_total_variation, exact_distances.mean_absolute_error)
def _distances() -> Pairs:
    tiny = SampledCounts(3, 0.6, KaryRandomisedResponse(1.0, 3))
    yield exact_distances.exact_total_variation([2, 0, 1], tiny), mean_distance(np.array([0, 0, 2]), tiny)


@second_route(estimators.realised_size)
def _realised() -> Pairs:
    counts, mechanism = np.array([5.0, 3.0, 2.0]), KaryRandomisedResponse(1.0, 3)
    tallies = (
        0.6 * (counts * math.e + (10 - counts)) / (math.e + 2)
    )  # expected where each of ten reports with chance .6
    yield estimators.realised_size(tallies, sampling_rate=0.6, mechanism=mechanism), counts


def second_moment(holders: int, survey: sampling.SampledCounts) -> float:
    """Return the variance of ``c-hat`` under the law that gives its mean absolute error."""
    law = exact_distances.report_law(holders, survey)
    own, other = np.ogrid[: law.shape[0], : law.shape[1]]
    scale = survey.rate * survey.mechanism.truthful_rate
    errors = (own * (1 - survey.mechanism.q) - other * survey.mechanism.q) / scale - holders
    return float(np.sum(law * errors**2))


# --- Steps of proofs ---


def sampled() -> SampledCounts:
    return SampledCounts(n, q, KaryRandomisedResponse(eps, k))


def unscaled_threshold() -> bool | None:
    """Decide that mean squared errors at a value nobody holds part by the sign of ``n`` minus the threshold."""
    survey, none = sampled(), Symbol(0)
    biased = survey.bias_unadjusted(none) * survey.bias_unadjusted(none) + survey.variance_unadjusted(none)
    rescaled = survey.rare_variance_rescaled
    factor = n * (1 - q) * (1 - q) / ((t - 1) * (t - 1))
    both = identity(biased - rescaled, factor * (n - shrinkage.unscaled_below(survey)))
    ends = identity(shrinkage.rare_risk(survey, 1 - q), biased) and identity(
        shrinkage.rare_risk(survey, Symbol(0)), rescaled
    )
    return both and ends and positive(factor, COUNTS)


def best_point() -> bool | None:
    """Completing the square: the risk at any share is the least one and ``(V + B^2)(share - best)^2``."""
    survey = sampled()
    best, variance, bias = shrinkage.best_share(survey), survey.rare_variance_rescaled, n / (t - 1)
    total = variance + bias * bias
    risk = shrinkage.rare_risk(survey, share)
    square = identity(risk, variance * bias * bias / total + total * (share - best) * (share - best))
    beyond = (n - (t + k - 1 - q) / (1 - q)) * (1 - q) * n / ((t - 1) * (t - 1)) / total
    return square and identity(1 - q - best, beyond) and positive(total, COUNTS)


# --- Checks ---


def bias_or_variance(e: Evidence) -> Numbers:
    e.proven(unscaled_threshold() and best_point())
    fewer, best = SampledCounts(31, 0.5, SMALL.mechanism), shrinkage.best_share(SMALL)
    e.needs(shrinkage.rare_risk(fewer, 0.5) < fewer.rare_variance_rescaled)
    unscaled, rescaled, least = (shrinkage.rare_risk(SMALL, weight) for weight in (1 - SMALL.rate, 0.0, best))
    e.needs(least < rescaled < unscaled)
    roots = {"unscaled": math.sqrt(unscaled), "rescaled": math.sqrt(rescaled), "least": math.sqrt(least)}
    return roots | {"below": shrinkage.unscaled_below(SMALL), "share": best}


def errors_that_are_not_normal(e: Evidence) -> Numbers:
    holders = largest_remainder(50_000 * synthetic.binomial(100, 0.5))
    users, mechanism = int(holders.sum()), KaryRandomisedResponse(8.0, holders.size)
    normal = users * (distances.smallest_rate(0.3, holders, users=users, mechanism=mechanism) or np.nan)
    surveys = [SampledCounts(users, reports / users, mechanism) for reports in (51, 52, normal)]
    more, fewer, there = (exact_distances.exact_total_variation(holders, survey) for survey in surveys)
    deviations = np.sqrt(surveys[2].variance_realised_size(holders))
    expected = distances.expected_total_variation(deviations, users=users)
    e.same([expected, deviations.sum() * stats.halfnorm.mean() / (2 * users)], [0.3, 0.3])
    e.same(surveys[2].variance_realised_size(holders[50]), second_moment(int(holders[50]), surveys[2]))
    e.needs(more > 0.3 > fewer and within("about", 51 / normal, 0.75))
    return {"more": more, "fewer": fewer, "normal": normal, "there": there}
