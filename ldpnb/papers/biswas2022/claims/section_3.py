"""Section 3 of biswas2022: estimates when every user reports with the same probability."""

from functools import partial
from typing import Any

import numpy as np
from scipy import special

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import Evidence, agree, claim
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import displayed
from ldpnb.papers.biswas2022.routes import (
    CASES,
    FIXED,
    NOISE,
    RANDOMISER,
    Array,
    Case,
    keep_and_switch,
    simulate_one_value,
)
from ldpnb.rng import stream

OUTCOMES = sum((case.domain_size + 1) ** len(case.values) for case in CASES)
EVERYWHERE = f"< 1e-9 at every value of {len(CASES)} populations, fixed and iid, over all {OUTCOMES} outcomes"
FIVE_SIGMA = 5.0
RUNS = 20_000

section_3 = partial(claim, kind="enumeration")
corrects = partial(section_3, otherwise="corrected")


@section_3("Theorem 3.1", estimators.rescaled, *NOISE)
def theorem_3_1(e: Evidence) -> str:
    """The estimator g_DE is unbiased under sampling at a common rate."""
    for case in CASES:
        _unbiased(e, case, case.rescaled, len(case.values) * case.sampling_rate)
    return f"|E g_DE - n f| {EVERYWHERE}"


def _unbiased(e: Evidence, case: Case, estimates: Array, users: Array | float) -> None:
    """Require the right mean of estimates, and the estimates that subtract the noise of so many users."""
    p, q = keep_and_switch(case.epsilon, case.domain_size)
    e.same(estimates, (case.reports.totals - users * q) / (case.sampling_rate * (p - q)), abs=1e-9)
    e.same(case.reports.chances.sum(), 1.0)
    e.needs(np.abs(case.reports.mean(estimates) - case.holders).max() < 1e-9)


@corrects(
    "Section 3, meaning of f",
    SampledCounts.mean_unadjusted,
    estimators.unadjusted,
    *NOISE,
    corrected="f_i is the fraction of nodes that hold the value i, as equation (4) and every variance use it.",
)
def meaning_of_f(e: Evidence) -> str:
    """The symbol f_i stands for the random fraction of times that the value i is reported."""
    case = FIXED[0]
    n, enumerated = len(case.values), case.reports.mean(case.unadjusted)
    held = case.survey.mean_unadjusted(case.holders)
    e.same(held, enumerated)
    reported_share = case.reports.mean(case.reports.totals) / (n * case.sampling_rate)
    reported = case.survey.mean_unadjusted(n * reported_share)
    e.needs(agree(reported, enumerated))
    return (
        f"k = 4, epsilon = 1, half the nodes hold the value: its expected share among reports is "
        f"{reported_share[0]:.4f}; equation (4) gives {reported[0]:.4f} with that, {held[0]:.4f} with the share held; "
        f"the mean is {enumerated[0]:.4f}"
    )


@section_3(
    "Theorem 3.2",
    SampledCounts.rare_variance_rescaled,
    SampledCounts.variance_rescaled,
    estimators.rescaled,
    *NOISE,
    assumption="The sentence that introduces the formula names c_DE; the formula is for g_DE.",
)
def theorem_3_2(e: Evidence) -> str:
    """At a value nobody holds the variance of g_DE is n (q - q^2 pi) / ((p - q)^2 pi)."""
    for case in CASES:
        absent = case.without_first_value()
        p, q = keep_and_switch(case.epsilon, case.domain_size)
        rate, stated = case.sampling_rate, absent.survey.rare_variance_rescaled
        e.same(stated, len(case.values) * (q - q**2 * rate) / ((p - q) ** 2 * rate))
        e.same(absent.reports.mean(absent.rescaled), absent.holders)
        enumerated = absent.reports.variance(absent.rescaled)[0]
        e.same(absent.survey.variance_rescaled(0), enumerated)
        e.needs(agree(stated, enumerated))
    example = SampledCounts(50_000, 0.1, KaryRandomisedResponse(1.0, 101)).rare_variance_rescaled
    return (
        f"equal to the enumerated variance in {len(CASES)} populations, fixed and iid; n = 50000, pi = .1, epsilon = "
        f"1, k = 101: {example:.10g}"
    )


@corrects(
    "Theorem 3.2, proof",
    displayed.variance_unadjusted,
    SampledCounts.variance_unadjusted,
    SampledCounts.mean_unadjusted,
    estimators.unadjusted,
    *RANDOMISER,
    corrected="Fixed data: n pi [f p(1 - pi p) + (1-f) q(1 - pi q)] / (p-q)^2; iid data: n pi r (1 - pi r) / (p-q)^2. "
    "The displayed one is too small by n pi (1-pi) f(1-f) and by n pi f(1-f); in the limit f -> 0 all agree.",
)
def theorem_3_2_proof(e: Evidence) -> str:
    """The actual variance of c_DE is [n pi (f p(1-p) + (1-f) q(1-q)) + n pi (1-pi) r^2] / (p - q)^2 with r = f p +
    (1-f) q.
    """
    for case in CASES:
        enumerated, share = case.reports.variance(case.unadjusted), case.holders / len(case.values)
        missing = len(case.values) * case.sampling_rate * share * (1 - share)
        missing *= 1 if case.iid else 1 - case.sampling_rate
        shown = displayed.variance_unadjusted(case.survey, case.holders)
        e.same(case.survey.variance_unadjusted(case.holders), enumerated)
        e.same(shown + missing, enumerated)
        e.same(case.reports.mean(case.unadjusted), case.survey.mean_unadjusted(case.holders))
        e.needs(agree(shown, enumerated))
    fixed, iid = (SampledCounts(1000, 0.2, KaryRandomisedResponse(2.0, 4), data) for data in ("fixed", "iid"))
    return (
        "n = 1000, f = .3, pi = .2, epsilon = 2, k = 4, divided by pi^2: displayed "
        f"{displayed.variance_unadjusted(fixed, 300) / 0.04:.1f}, exact {fixed.variance_unadjusted(300) / 0.04:.1f} "
        f"for fixed data and {iid.variance_unadjusted(300) / 0.04:.1f} for iid data; the differences equal the missing "
        f"terms in {len(CASES)} enumerated populations"
    )


@corrects(
    "Definition 3.1, Theorem 3.3",
    displayed.normalised_variance,
    displayed.rare_normalised_variance,
    SampledCounts.rare_variance_rescaled,
    SampledCounts.variance_rescaled,
    estimators.rescaled,
    *RANDOMISER,
    corrected="Var*(g/n) = (q - q^2 pi) / ((p-q)^2 pi n), of order 1/(pi n). Under Definition 3.1 Var(g)/(n f) is of "
    "order 1/(pi f): constant in n, unbounded as f -> 0. The power pi^-3 comes from dividing g, which is already "
    "rescaled, by n pi once more.",
)
def theorem_3_3(e: Evidence) -> str:
    """The normalised variance Var(X) / E(X) of g_DE is of order 1 / (pi^3 n) for rare values."""
    case = FIXED[0]
    mean, variance = case.reports.mean(case.rescaled)[:3], case.reports.variance(case.rescaled)
    exact = case.survey.variance_rescaled(case.holders)[:3]
    e.same(displayed.normalised_variance(exact, case.holders[:3]), variance[:3] / mean)
    proved = displayed.rare_normalised_variance(case.survey)
    e.same(proved, variance[3] / (len(case.values) * case.sampling_rate) ** 2)
    e.same(case.survey.rare_variance_rescaled, variance[3])

    def by_definition(survey: SampledCounts, share: float) -> float:
        return float(
            displayed.normalised_variance(survey.variance_rescaled(survey.users * share), survey.users * share)
        )

    small, large = (SampledCounts(n, 0.1, KaryRandomisedResponse(1.0, 100)) for n in (50_000, 500_000))
    few, many = by_definition(small, 0.05), by_definition(large, 0.05)
    e.needs(many < 0.2 * few)
    return (
        f"epsilon = 1, k = 100, pi = .1: Definition 3.1 gives {few:.5g} at f = .05 for n = 50000, {many:.5g} for ten "
        f"times the nodes and {by_definition(small, 1e-4):.4g} at f = 1e-4; the proof's Var*(g/(n pi)) is "
        f"{displayed.rare_normalised_variance(small):.4g}; Var*(g/n) is {small.rare_variance_rescaled / 50_000**2:.4g}"
    )


@corrects(
    "Section 3, limit",
    SampledCounts.mean_unadjusted,
    estimators.unadjusted,
    *NOISE,
    kind="identity",
    corrected="lim c_DE = -n q / (p - q) = -n / (e^epsilon - 1).",
)
def limit_of_no_reports(e: Evidence) -> str:
    """As pi -> 0, c_DE tends to n q / (p - q), a constant and negative estimate."""
    users, mechanism, (p, q) = 50_000, KaryRandomisedResponse(1.0, 101), keep_and_switch(1.0, 101)
    printed = users * q / (p - q)
    silent = estimators.unadjusted(np.zeros(101), users=users, mechanism=mechanism)[0]
    limit = SampledCounts(users, 1e-12, mechanism).mean_unadjusted(2500)
    e.same(limit, silent)
    e.same(abs(silent), printed)
    e.needs(agree(limit, printed))
    return (
        f"n = 50000, epsilon = 1: printed {printed:.3f}; mean at pi = 1e-12 {limit:.3f}; estimate from no reports "
        f"{silent:.3f}"
    )


@section_3("Theorem 3.4", estimators.realised_size, *NOISE)
def theorem_3_4(e: Evidence) -> str:
    """The estimator c-hat is unbiased under sampling at a common rate."""
    for case in CASES:
        _unbiased(e, case, case.realised, case.reports.totals.sum(axis=1, keepdims=True))
    return f"|E c-hat - n f| {EVERYWHERE}"


@section_3(
    "Theorem 3.5",
    SampledCounts.variance_gain,
    SampledCounts.variance_rescaled,
    SampledCounts.variance_realised_size,
    displayed.variance_realised_size,
    estimators.rescaled,
    estimators.realised_size,
    *RANDOMISER,
    corrected="Var(g_DE) - Var(c-hat) = n (1-pi) q (2r - q) / (pi (p-q)^2) > 0 at every pi < 1 and finite epsilon, r = "
    "f p + (1-f) q: c-hat is the better estimate.",
    false_alarm=float(special.ndtr(-FIVE_SIGMA)),
)
def theorem_3_5(e: Evidence) -> str:
    """The variance of c-hat is at least that of g_DE, so g_DE is the better estimate."""
    for case in CASES:
        rescaled, realised = case.reports.variance(case.rescaled), case.reports.variance(case.realised)
        e.same(case.survey.variance_rescaled(case.holders), rescaled)
        e.same(case.survey.variance_realised_size(case.holders), realised)
        e.same(case.survey.variance_gain(case.holders), rescaled - realised)
        e.same(case.reports.mean(case.rescaled), case.holders)
        e.same(case.reports.mean(case.realised), case.holders)
        e.needs(case.sampling_rate == 1 or (rescaled <= realised).all())
    for case in FIXED:
        e.same(_uncorrelated(case), displayed.variance_realised_size(case.survey, case.holders))
    survey, holders = SampledCounts(1000, 0.5, KaryRandomisedResponse(1.0, 4)), 300
    g, c = survey.variance_rescaled(holders), survey.variance_realised_size(holders)
    z, e.power = _simulated_gain(survey, holders, g - c)
    e.sure(z > FIVE_SIGMA)
    return (
        f"n = 1000, f = .3, pi = .5, epsilon = 1, k = 4: Var(g) = {g:.2f}, Var(c-hat) = {c:.2f} (the source's formula: "
        f"{displayed.variance_realised_size(survey, holders):.2f}); equal to enumeration in {len(CASES)} populations; "
        f"simulated difference {z:.1f} standard errors above 0"
    )


def _uncorrelated(case: Case) -> Array:
    """Add the displayed variance of g_DE and that of the realised size, as Theorem 3.5's proof does, by enumeration."""
    n, rate, share = len(case.values), case.sampling_rate, case.holders / len(case.values)
    shown = case.reports.variance(case.rescaled) - n * (1 - rate) * share * (1 - share) / rate
    size = case.reports.variance(case.reports.totals.sum(axis=1))
    return np.asarray(shown + size / (rate * np.expm1(case.epsilon)) ** 2)


def _simulated_gain(survey: SampledCounts, holders: int, exact: float) -> tuple[float, float]:
    """Return the z-score of a simulated Var(g) - Var(c-hat) against 0, and the test's power if the exact one holds.

    Each run gives ``(g - n f)^2 - (c - n f)^2``, whose mean is the difference of the variances.
    """
    rng, rate, mechanism = stream("Theorem 3.5", seed=2022), survey.rate, survey.mechanism
    tallies = simulate_one_value(holders, survey.users, rate, mechanism.epsilon, 4, RUNS, rng)
    g = estimators.rescaled(tallies, users=survey.users, sampling_rate=rate, mechanism=mechanism)[:, 0]
    c = estimators.realised_size(tallies, sampling_rate=rate, mechanism=mechanism)[:, 0]
    differences = (g - holders) ** 2 - (c - holders) ** 2
    standard_error = differences.std(ddof=1) / np.sqrt(RUNS)
    power = special.ndtr(exact / standard_error - FIVE_SIGMA)
    return float(differences.mean() / standard_error), float(power)


@section_3(
    "Theorem 3.6",
    SampledCounts.negative_mean_threshold,
    SampledCounts.mean_unadjusted,
    estimators.unadjusted,
    estimators.rescaled,
    *NOISE,
    corrected="E g_DE = n f lies in [0, n] always; E c_DE under sampling is negative exactly when f < (1 - pi) / (pi "
    "(e^epsilon - 1)). A sign of a mean says nothing of the sign of an estimate.",
)
def theorem_3_6(e: Evidence) -> str:
    """On average 0 <= g_DE <= n if and only if 0 <= c_DE <= n."""

    def within(means: Array, n: int) -> Any:
        return (means > -1e-9) & (means < n + 1e-9)

    for case in FIXED:
        n, rate = len(case.values), case.sampling_rate
        g, c = case.reports.mean(case.rescaled), case.reports.mean(case.unadjusted)
        e.same(c, case.survey.mean_unadjusted(case.holders))
        e.same(c, rate * (case.holders - n * case.survey.negative_mean_threshold), abs=1e-9)
        e.same(g, case.holders, abs=1e-9)
        complete = Case(case.epsilon, case.domain_size, 1.0, case.values)
        e.sure(within(complete.reports.mean(complete.unadjusted), n).all())
        e.needs(np.array_equal(within(g, n), within(c, n)))
    users, q = 50_000, keep_and_switch(1.0, 101)[1]
    c_below, g_below = (special.bdtr(np.ceil(bound) - 1, users, 0.1 * q) for bound in (users * q, 0.1 * users * q))
    threshold = SampledCounts(users, 0.1, KaryRandomisedResponse(1.0, 101)).negative_mean_threshold
    return (
        "without sampling both means always lie in [0, n], so the statement says nothing; with it E c_DE < 0 for every "
        f"f below {threshold:.3f} at pi = .1, epsilon = 1 (that is, always) while E g_DE = n f; at n = {users}, k = "
        f"101 and a value nobody holds, c_DE < 0 with chance {c_below:.3f} and g_DE < 0 with chance {g_below:.3f}"
    )
