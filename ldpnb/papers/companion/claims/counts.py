"""How far estimated counts are off, exactly: bias against variance, and errors that are not normal."""

import math
from functools import partial
from itertools import product

import numpy as np
from scipy import stats

from ldpnb.accuracy import distances, exact_distances, sampling, shrinkage
from ldpnb.claims import Evidence, claim, within
from ldpnb.data import synthetic
from ldpnb.designs.strata import largest_remainder
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.companion import proofs

result = partial(claim, kind="proof", reach="all parameters")


@result(
    "Bias or variance",
    shrinkage.unscaled_below,
    shrinkage.rare_risk,
    shrinkage.best_share,
    sampling.SampledCounts.rare_variance_rescaled,
    sampling.SampledCounts.bias_unadjusted,
    sampling.SampledCounts.variance_unadjusted,
    shrinkage.shrunk_count,
    KaryRandomisedResponse.q,
    KaryRandomisedResponse.truthful_rate,
    over="epsilon > 0, k >= 2, 0 < pi < 1, every n; at a value that nobody holds",
    argument="both estimates and the points between them are linear in the tally",
)
def bias_or_variance(e: Evidence) -> str:
    """The estimate c_DE has a smaller mean squared error than g_DE at a value that nobody holds if and only if
    n < (e^epsilon + k - 1 - pi)(1 + pi)/(pi (1 - pi)); the point of least error on the line through both has the error
    V B^2/(V + B^2), V the variance of g_DE and B = n/(e^epsilon - 1), below both unless it is c_DE itself, and lies
    between them if and only if n > (e^epsilon + k - 1 - pi)/(1 - pi)
    """
    e.proven(proofs.unscaled_threshold() and proofs.best_point())
    itself = sampling.SampledCounts(5, 0.5, KaryRandomisedResponse(math.log(2), 2))
    e.same(shrinkage.best_share(itself), 1 - itself.rate)
    survey = sampling.SampledCounts(60, 0.5, KaryRandomisedResponse(1.0, 4))
    tally, mechanism = np.arange(survey.users + 1), survey.mechanism
    law = stats.binom.pmf(tally, survey.users, survey.rate * mechanism.q)
    rescaled = (tally / survey.rate - survey.users * mechanism.q) / mechanism.truthful_rate
    best = shrinkage.best_share(survey)
    shares = {"c_DE": 1 - survey.rate, "g_DE": 0.0, "best": best}
    risks = {name: shrinkage.rare_risk(survey, share) for name, share in shares.items()}
    routes = [law @ np.square(shrinkage.shrunk_count(rescaled, survey, share)) for share in shares.values()]
    e.same(list(risks.values()), routes)
    c = sampling.SampledCounts(31, 0.5, mechanism)
    e.needs(shrinkage.rare_risk(c, 0.5) < c.rare_variance_rescaled)
    e.needs(risks["best"] < risks["g_DE"] < risks["c_DE"])
    roots = {name: np.sqrt(risk) for name, risk in risks.items()}
    return (
        f"epsilon 1, k = 4, pi = 0.5: below {shrinkage.unscaled_below(survey):.2f} users; at {survey.users} users root "
        f"mean squared errors of {roots['c_DE']:.2f} (c_DE), {roots['g_DE']:.2f} (g_DE) and {roots['best']:.2f} at s = "
        f"{best:.4f} on the line (1 - s) g_DE - s B (enumerated tallies agree)"
    )


@claim(
    "Errors that are not normal",
    exact_distances.exact_total_variation,
    exact_distances.mean_absolute_error,
    distances.smallest_rate,
    distances.expected_total_variation,
    exact_distances.report_law,
    sampling.SampledCounts.variance_realised_size,
    estimators.realised_size,
    KaryRandomisedResponse.p,
    KaryRandomisedResponse.q,
    KaryRandomisedResponse.truthful_rate,
    kind="enumeration",
    example=True,
    over="biswas2022's 50,000 users, values by Bin(100, .5), k-ary randomised response at epsilon 8, c-hat as it is",
    assumption="the data are the expected counts of the source's Figure 3, whose budget, not given, is taken to be 8",
)
def few_reports(e: Evidence) -> str:
    """the total variation distance of c-hat falls below .3 with three quarters of the reports that the normal
    approximation asks for
    """
    tiny = sampling.SampledCounts(3, 0.6, KaryRandomisedResponse(1.0, 3))
    values = np.array([0, 0, 2])
    e.same(exact_distances.exact_total_variation([2, 0, 1], tiny), _enumerated(values, tiny))
    holders = largest_remainder(50_000 * synthetic.binomial(100, 0.5))
    users, mechanism = int(holders.sum()), KaryRandomisedResponse(8.0, holders.size)
    normal = users * (distances.smallest_rate(0.3, holders, users=users, mechanism=mechanism) or np.nan)
    surveys = [sampling.SampledCounts(users, reports / users, mechanism) for reports in (51, 52, normal)]
    more, fewer, there = (exact_distances.exact_total_variation(holders, survey) for survey in surveys)
    deviations = np.sqrt(surveys[2].variance_realised_size(holders))
    expected = distances.expected_total_variation(deviations, users=users)
    e.same([expected, deviations.sum() * stats.halfnorm.mean() / (2 * users)], [0.3, 0.3])
    e.same(surveys[2].variance_realised_size(holders[50]), _second_moment(int(holders[50]), surveys[2]))
    e.needs(more > 0.3 > fewer and within("about", 51 / normal, 0.75))
    return (
        f"exact distances of {more:.4f} at 51 and {fewer:.4f} at 52 expected reports; the normal approximation needs "
        f"{normal:.2f}, where the exact distance is {there:.4f} (all collections of 3 users agree, and the variances)"
    )


def _enumerated(values: np.ndarray, survey: sampling.SampledCounts) -> float:
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


def _second_moment(holders: int, survey: sampling.SampledCounts) -> float:
    """Return the variance of ``c-hat`` under the law that gives its mean absolute error."""
    law = exact_distances.report_law(holders, survey)
    own, other = np.ogrid[: law.shape[0], : law.shape[1]]
    scale = survey.rate * survey.mechanism.truthful_rate
    errors = (own * (1 - survey.mechanism.q) - other * survey.mechanism.q) / scale - holders
    return float(np.sum(law * errors**2))
