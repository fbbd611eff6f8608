"""Check the claims of Section 4 of Biswas, Cormode and Maple, and Section 6 on its figures.

The figures show the total variation distance between the data and the estimates. Here it is the
expected distance in the limit of many users, from exact variances; simulated runs confirm it.
"""

import math
from fractions import Fraction

import numpy as np
from scipy import optimize

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Floats
from ldpnb.claims import Evidence, Numbers, better, joined
from ldpnb.data import synthetic
from ldpnb.deciders import identity, oo, symbols
from ldpnb.estimators import frequency
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import proofs
from ldpnb.papers.biswas2022.formulas import distances, reporters
from ldpnb.papers.biswas2022.proofs import f, n, pi, t
from ldpnb.papers.biswas2022.tables.sampling import distributions
from ldpnb.papers.biswas2022.written_out import ALL, HIGH, LOW, USERS
from ldpnb.rng import stream

EPSILON = 3.0
"""The budget of the figures, in nats."""

RUNS = 30
"""Simulated surveys for each point."""

FIRST, SECOND = distributions().values()
"""The distributions of Figures 1 and 2."""

RESCALED = "g_DE"
"""The estimator that divides the tallies by the sampling rate."""

REALISED = "c-hat"
"""The estimator that divides the tallies by the number of reports."""


def _variances(estimator: str, counts: SampledCounts, holders: Floats) -> Floats:
    """Return the exact variance of an estimate at each value."""
    if estimator == RESCALED:
        return np.asarray(counts.variance_rescaled(holders))
    return np.asarray(counts.variance_realised_size(holders))


def _estimates(
    estimator: str, tallies: Floats, rate: float, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return the estimated counts from tallies of reports."""
    if estimator == RESCALED:
        return estimators.rescaled(tallies, users=USERS, sampling_rate=rate, mechanism=mechanism)
    return estimators.realised_size(tallies, sampling_rate=rate, mechanism=mechanism)


def _distance(estimator: str, distribution: Floats, rate: float, epsilon: float) -> float:
    """Return the expected total variation from the data, in the normal limit."""
    mechanism = KaryRandomisedResponse(epsilon, distribution.size)
    counts = SampledCounts(USERS, rate, mechanism)
    deviations = np.sqrt(_variances(estimator, counts, USERS * distribution))
    return float(distances.expected_total_variation(deviations, users=USERS))


def _simulated(
    estimator: str, distribution: Floats, rate: float, epsilon: float, *, projected: bool = False
) -> tuple[float, float]:
    """Return the mean distance of an estimate from a drawn data set, and its standard error.

    An estimate has negative entries unless it is projected onto the simplex.
    """
    rng = stream("distance", rate, epsilon, seed=2022)
    mechanism = KaryRandomisedResponse(epsilon, distribution.size)
    counts = synthetic.sample_counts(distribution, USERS, rng=rng)
    tallies = np.array(
        [reporters.sampled_tallies(counts, rate, mechanism, rng=rng) for _ in range(RUNS)]
    )

    shares = _estimates(estimator, tallies, rate, mechanism) / USERS
    if projected:
        shares = frequency.project_simplex(shares)
    totals = np.abs(shares - counts / USERS).sum(axis=1) / 2
    return float(totals.mean()), float(totals.std(ddof=1) / np.sqrt(RUNS))


def figure_1_and_2(e: Evidence) -> Numbers:
    for law in proofs.DATA.values():
        mean, _ = proofs.moments(proofs.rescaled, law)
        e.proven(identity(mean, n * f))
    e.proven(proofs.sums_over_users("variance_rescaled"))
    e.proven(proofs.thinned(proofs.rescaled))
    e.proven(proofs.improves("variance_rescaled"))

    numbers: dict[str, object] = {}
    errors = []
    for name, distribution in (("first", FIRST), ("second", SECOND)):
        expected = [_distance(RESCALED, distribution, rate, EPSILON) for rate in (LOW, HIGH)]
        at_low_rate, at_high_rate = expected
        e.needs(better(at_high_rate, at_low_rate))

        means = []
        for rate, distance in zip((LOW, HIGH), expected, strict=True):
            mean, error = _simulated(RESCALED, distribution, rate, EPSILON)
            e.sure(abs(mean - distance) < 6 * error + 0.01 * distance)
            means.append(mean)
            errors.append(error)
        numbers[name] = joined(expected, ".3f")
        numbers[f"{name}_drawn"] = joined(means, ".3f")
    numbers["error"] = max(errors)

    sum_of_both = np.convolve(synthetic.binomial(50, 0.6), synthetic.binomial(50, 0.4))
    numbers["sum"] = np.abs(sum_of_both - FIRST).sum() / 2
    numbers["mixture"] = np.abs(SECOND - FIRST).sum() / 2
    return numbers


def figure_3_trade_off(e: Evidence) -> Numbers:
    e.decides(identity(reporters.expected_reports([n * f, n - n * f], pi), n * pi))
    e.proven(proofs.sums_over_users("variance_realised_size"))
    e.proven(proofs.thinned(proofs.realised))
    e.decides(proofs.improves("variance_realised_size"))

    few = reporters.expected_reports(USERS, LOW)
    many = reporters.expected_reports(USERS, HIGH)
    e.same([few, many], [LOW * USERS, HIGH * USERS])

    far = _distance(REALISED, FIRST, LOW, EPSILON)
    near = _distance(REALISED, FIRST, HIGH, EPSILON)
    e.needs(better(near, far))
    return {"few": few, "far": far, "many": many, "near": near}


def figure_3_diminishing_returns(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("variance_realised_size"))
    e.proven(proofs.thinned(proofs.realised))
    e.proven(proofs.fewer_gains(pi=(0, Fraction(3, 4))))
    (more,) = symbols("more")
    least = 1 + (t - 1) * (t - 1) / (3 * t)
    e.proven(proofs.fewer_gains(least + more, more=(0, oo)))

    # From a tenth of the users to a fifth, and from nine tenths to all.
    distance = {rate: _distance(REALISED, FIRST, rate, EPSILON) for rate in (0.1, 0.2, 0.9, 1.0)}
    e.needs(distance[0.1] - distance[0.2] > distance[0.9] - distance[1.0] > 0)
    return {
        "largest": math.acosh(1 + 3 * (FIRST.size - 1) / 2),
        "early": 1 - distance[0.2] / distance[0.1],
        "late": 1 - distance[1.0] / distance[0.9],
    }


def section_6_rate__1_against_1(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("variance_realised_size"))
    e.proven(proofs.improves("variance_realised_size"))

    def difference(epsilon: float) -> float:
        of_tenth = _distance(REALISED, FIRST, LOW, epsilon)
        return of_tenth - _distance(REALISED, FIRST, ALL, epsilon)

    # The plot's epsilon is not stated, so that the sentence can only be tried.
    e.tried(difference(8.0) < 0.1)

    # The ratio of both distances by simulation, with and without a projection onto the simplex.
    raw = [_tenth_against_all(epsilon) for epsilon in (1.0, 3.0, 8.0)]
    projected = [_tenth_against_all(epsilon, projected=True) for epsilon in (0.25, 0.5, 1.0, 3.0)]
    e.sure(min(ratio for ratio, _ in raw) > 2)
    return {
        "tenth": optimize.brentq(lambda epsilon: difference(epsilon) - 0.1, 1.0, 12.0),
        "twentieth": optimize.brentq(lambda epsilon: difference(epsilon) - 0.05, 1.0, 12.0),
        "difference": difference(8.0),
        "raw": joined((ratio for ratio, _ in raw), ".2f"),
        "projected": joined((ratio for ratio, _ in projected), ".2f"),
        "error": max(error for _, error in raw + projected),
    }


def _tenth_against_all(epsilon: float, *, projected: bool = False) -> tuple[float, float]:
    """Return the ratio of the distances of c-hat at a tenth of the reports and at all of them.

    The second number is its standard error.
    """
    few, few_error = _simulated(REALISED, FIRST, LOW, epsilon, projected=projected)
    many, many_error = _simulated(REALISED, FIRST, ALL, epsilon, projected=projected)
    ratio = few / many
    return ratio, ratio * math.hypot(few_error / few, many_error / many)
