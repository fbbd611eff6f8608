"""Section 3 of biswas2022: estimates when every user reports with the same probability."""

from functools import partial

import numpy as np
from scipy import special

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, claim
from ldpnb.deciders import identity, limit, oo
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import displayed, proofs
from ldpnb.papers.biswas2022.proofs import DATA, KARY, KEEP, SWITCH, everywhere, f, k, moments, n, pi, survey, t
from ldpnb.papers.biswas2022.routes import CASES, FIXED, NOISE, RANDOMISER, Array, Case, keep_and_switch

OUTCOMES = sum((case.domain_size + 1) ** len(case.values) for case in CASES)
EVERYWHERE = f"< 1e-9 at every value of {len(CASES)} populations, fixed and iid, over all {OUTCOMES} outcomes"

section_3 = partial(claim, kind="proof", reach="all parameters", over=proofs.FIXED_OR_IID, argument=proofs.SUMS)
corrects = partial(section_3, otherwise="corrected")
ENDS = (f, 0, 1)
"""Every share of holders, and both ends."""


@section_3("Theorem 3.1", estimators.rescaled, *NOISE)
def theorem_3_1(e: Evidence) -> str:
    """The estimator g_DE is unbiased under sampling at a common rate."""
    for case in CASES:
        _unbiased(e, case, case.rescaled, len(case.values) * case.sampling_rate)
    for law in DATA.values():
        e.decides(identity(moments(proofs.rescaled, law)[0], n * f))
    return f"E g_DE = n f as formulas; |E g_DE - n f| {EVERYWHERE}"


def _unbiased(e: Evidence, case: Case, estimates: Array, users: Array | float) -> None:
    """Require the right mean of estimates, and the estimates that subtract the noise of so many users."""
    p, q = keep_and_switch(case.epsilon, case.domain_size)
    e.same(estimates, (case.reports.totals - users * q) / (case.sampling_rate * (p - q)), abs=1e-9)
    e.same(case.reports.mean(estimates), case.holders, abs=1e-9)


@corrects(
    "Section 3, meaning of f",
    SampledCounts.mean_unadjusted,
    estimators.unadjusted,
    *NOISE,
    corrected="f_i is the fraction of users that hold the value i, as equation (4) and every variance use it. With the "
    "share among reports, equation (4) is off by n pi q (1 - k f).",
)
def meaning_of_f(e: Evidence) -> str:
    """The symbol f_i stands for the random fraction of times that the value i is reported."""
    mean, reported = moments(proofs.unadjusted, DATA["fixed"])[0], f * KEEP + (1 - f) * SWITCH
    e.proven(identity(survey().mean_unadjusted(n * f), mean))
    e.proven(identity(survey().mean_unadjusted(n * reported), mean + n * pi * SWITCH * (1 - k * f)))
    e.decides(identity(survey().mean_unadjusted(n * reported), mean))
    case = FIXED[0]
    users, enumerated = len(case.values), case.reports.mean(case.unadjusted)
    held = case.survey.mean_unadjusted(case.holders)
    e.same(held, enumerated)
    share = case.reports.mean(case.reports.totals) / (users * case.sampling_rate)
    return (
        f"k = 4, epsilon = 1, half the users hold the value: its expected share among reports is {share[0]:.4f}; "
        f"equation (4) gives {case.survey.mean_unadjusted(users * share)[0]:.4f} with that, {held[0]:.4f} with the "
        f"share held; the mean is {enumerated[0]:.4f}; they agree only at f = 1/k"
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
    gap = KEEP - SWITCH
    printed = n * (SWITCH - SWITCH * SWITCH * pi) / (gap * gap * pi)
    e.proven(identity(survey().rare_variance_rescaled, printed))
    for data, law in DATA.items():
        e.proven(identity(survey(data).variance_rescaled(n * f), moments(proofs.rescaled, law)[1]))
    e.decides(identity(moments(proofs.rescaled, proofs.RARE)[1], printed))
    for case in CASES:
        absent = case.without_first_value()
        e.same(case.survey.rare_variance_rescaled, absent.reports.variance(absent.rescaled)[0])
    example = SampledCounts(50_000, 0.1, KaryRandomisedResponse(1.0, 101)).rare_variance_rescaled
    return (
        f"equal as a formula, and to the enumerated variance in {len(CASES)} populations, fixed and iid; n = 50000, "
        f"pi = .1, epsilon = 1, k = 101: {example:.10g}"
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
    shown, lost = displayed.variance_unadjusted(survey(), n * f), n * pi * f * (1 - f)
    for (data, law), missing in zip(DATA.items(), (lost * (1 - pi), lost), strict=True):
        mean, variance = moments(proofs.unadjusted, law)
        e.proven(identity(survey(data).mean_unadjusted(n * f), mean))
        e.proven(identity(survey(data).variance_unadjusted(n * f), variance))
        e.proven(identity(variance - shown, missing))
        e.decides(identity(shown, variance))
    for case in CASES:
        e.same(case.survey.variance_unadjusted(case.holders), case.reports.variance(case.unadjusted))
    fixed, iid = (SampledCounts(1000, 0.2, KaryRandomisedResponse(2.0, 4), data) for data in ("fixed", "iid"))
    return (
        "n = 1000, f = .3, pi = .2, epsilon = 2, k = 4, divided by pi^2: displayed "
        f"{displayed.variance_unadjusted(fixed, 300) / 0.04:.1f}, exact {fixed.variance_unadjusted(300) / 0.04:.1f} "
        f"for fixed data and {iid.variance_unadjusted(300) / 0.04:.1f} for iid data; the exact ones are equal to "
        f"enumeration in {len(CASES)} populations"
    )


@section_3(
    "Section 3, order of the variances",
    SampledCounts.rare_variance_rescaled,
    SampledCounts.variance_unadjusted,
    SampledCounts.variance_rescaled,
    estimators.rescaled,
    *RANDOMISER,
    assumption="c_DE under sampling, as in equation (4), or from all users, as Wang et al. have it: either way.",
)
def order_of_the_variances(e: Evidence) -> str:
    """Var*(g_DE) is at least Var*(c_DE), with equality if and only if pi = 1."""
    gap = KEEP - SWITCH
    rare, unsampled = survey().rare_variance_rescaled, survey(rate=1)
    for case in CASES:
        absent = case.without_first_value()
        enumerated = absent.reports.variance(absent.rescaled)[0]
        e.same([case.survey.rare_variance_rescaled, case.survey.variance_rescaled(0)], [enumerated, enumerated])
    e.proven(identity(rare, moments(proofs.rescaled, proofs.RARE)[1]))
    e.proven(identity(rare - unsampled.variance_unadjusted(0), n * SWITCH * (1 - pi) / (pi * gap * gap)))
    for other in (survey().variance_unadjusted(0), unsampled.variance_unadjusted(0)):
        e.decides(everywhere(rare - other))
    e.decides(identity(unsampled.rare_variance_rescaled, unsampled.variance_unadjusted(0)))
    for share in ENDS:
        e.proven(everywhere(survey().variance_rescaled(n * share) - unsampled.variance_unadjusted(n * share)))
    few = SampledCounts(50_000, 0.1, KaryRandomisedResponse(1.0, 101))
    return (
        "Var*(g) is 1/pi^2 times that of c_DE under sampling, and exceeds that of c_DE from all users by n q (1-pi) / "
        "(pi (p-q)^2); the order is the same at every share of holders; n = 50000, pi = .1, epsilon = 1, k = 101: "
        f"{few.rare_variance_rescaled:.0f} against {few.variance_unadjusted(0):.0f} and "
        f"{SampledCounts(50_000, 1.0, few.mechanism).variance_unadjusted(0):.0f}"
    )


@section_3(
    "Section 3, bias against variance",
    SampledCounts.rare_variance_rescaled,
    SampledCounts.variance_unadjusted,
    SampledCounts.variance_rescaled,
    SampledCounts.bias_unadjusted,
    estimators.unadjusted,
    estimators.rescaled,
    *RANDOMISER,
    over="epsilon > 0, k >= 2, 0 < pi < 1 (the two are one at pi = 1), every n and every data (fixed)",
)
def bias_against_variance(e: Evidence) -> str:
    """Bias trades off against variance: c_DE varies less than g_DE, but is far too low where many users are sampled
    rarely.
    """
    for case in CASES:
        error = (case.unadjusted - case.holders) ** 2
        e.same(
            case.survey.variance_unadjusted(case.holders) + case.survey.bias_unadjusted(case.holders) ** 2,
            case.reports.mean(error),
        )
    threshold = (t + k - 1 - pi) * (1 + pi) / (pi * (1 - pi))
    bias, (_, variance) = survey().bias_unadjusted(0), moments(proofs.rescaled, proofs.RARE)
    e.proven(identity(survey().rare_variance_rescaled, variance))
    worse = survey().variance_unadjusted(0) + bias * bias - variance
    e.proven(identity(worse, n * (1 - pi) * (1 - pi) / ((t - 1) * (t - 1)) * (n - threshold)))
    for share in (f, 1):
        bias, variance = survey().bias_unadjusted(n * share), survey().variance_rescaled(n * share)
        e.decides(everywhere(threshold - (1 - pi * pi) * variance * n / (bias * bias)))
    low = SampledCounts(50_000, 0.1, KaryRandomisedResponse(1.0, 101))
    bound = (1 - low.rate**2) * low.rare_variance_rescaled * low.users / low.bias_unadjusted(0) ** 2
    return (
        "at a value nobody holds the mean square error of c_DE is the smaller one iff n < (e^epsilon + k - 1 - pi) "
        f"(1 + pi) / (pi (1 - pi)), at every other value for fewer n still; epsilon = 1, k = 101, pi = .1: n < "
        f"{bound:.1f}; at n = 50000 the bias is {low.bias_unadjusted(0):.0f}, the standard deviations "
        f"{np.sqrt(low.variance_unadjusted(0)):.0f} (c_DE) and {np.sqrt(low.rare_variance_rescaled):.0f} (g_DE)"
    )


@corrects(
    "Definition 3.1, Theorem 3.3",
    displayed.normalised_variance,
    displayed.rare_normalised_variance,
    SampledCounts.rare_variance_rescaled,
    SampledCounts.variance_rescaled,
    estimators.rescaled,
    *RANDOMISER,
    over=f"{proofs.EVERY} and every data (fixed)",
    corrected="Under Definition 3.1, Var(g)/(n f) lies between q(1-q) and p over (p-q)^2 pi f: constant in n, "
    "unbounded as f -> 0. O(1/(pi^3 n)) is right for what the proof computes, Var*(g/E S) = (q - q^2 pi) / ((p-q)^2 "
    "pi^3 n), where g, already rescaled, is divided by n pi once more; Var*(g/n) is of order 1/(pi n).",
)
def theorem_3_3(e: Evidence) -> str:
    """The normalised variance Var(X) / E(X) of g_DE is of order 1 / (pi^3 n) for rare values."""
    case, gap = FIXED[0], KEEP - SWITCH
    mean, enumerated = case.reports.mean(case.rescaled)[:3], case.reports.variance(case.rescaled)
    exact = case.survey.variance_rescaled(case.holders)[:3]
    e.same(displayed.normalised_variance(exact, case.holders[:3]), enumerated[:3] / mean)
    e.same(
        displayed.rare_normalised_variance(case.survey), enumerated[3] / (len(case.values) * case.sampling_rate) ** 2
    )
    e.proven(identity(survey().variance_rescaled(n * f), moments(proofs.rescaled, DATA["fixed"])[1]))

    def by_definition(counts: SampledCounts, share: Real) -> Real:
        held = counts.users * share
        return displayed.normalised_variance(counts.variance_rescaled(held), held)

    normalised, many = by_definition(survey(), f), by_definition(SampledCounts(10 * n, pi, KARY), f)
    e.proven(identity(normalised, many))
    e.proven(everywhere(normalised - SWITCH * (1 - SWITCH) / (gap * gap * pi * f), k=(2, oo)))
    e.proven(everywhere(KEEP / (gap * gap * pi * f) - normalised))
    proved = displayed.rare_normalised_variance(survey())
    e.proven(identity(proved, (SWITCH - SWITCH * SWITCH * pi) / (gap * gap * pi * pi * pi * n)))
    e.proven(everywhere(SWITCH / (gap * gap * pi * pi * pi * n) - proved))
    e.decides(identity(10 * many, normalised))
    small, large = (SampledCounts(users, 0.1, KaryRandomisedResponse(1.0, 100)) for users in (50_000, 500_000))
    return (
        f"epsilon = 1, k = 100, pi = .1: Definition 3.1 gives {by_definition(small, 0.05):.5g} at f = .05 for n = "
        f"50000, {by_definition(large, 0.05):.5g} for ten times the users and {by_definition(small, 1e-4):.0f} at f = "
        f"1e-4; the proof's Var*(g/(n pi)) is {displayed.rare_normalised_variance(small):.4g}; Var*(g/n) is "
        f"{small.rare_variance_rescaled / 50_000**2:.4g}"
    )


@corrects(
    "Section 3, limit",
    SampledCounts.mean_unadjusted,
    estimators.unadjusted,
    *NOISE,
    corrected="lim c_DE = -n q / (p - q) = -n / (e^epsilon - 1).",
)
def limit_of_no_reports(e: Evidence) -> str:
    """As pi -> 0, c_DE tends to n q / (p - q), a constant and negative estimate."""
    printed, silent = n * SWITCH / (KEEP - SWITCH), proofs.unadjusted([0, 0])
    towards = limit(survey().mean_unadjusted(n * f), pi.expression, 0)
    e.proven(identity(towards, silent))
    e.proven(identity(towards, -printed))
    e.proven(identity(printed, n / (t - 1)))
    e.proven(everywhere(printed))
    e.decides(identity(towards, printed))
    users, mechanism, (p, q) = 50_000, KaryRandomisedResponse(1.0, 101), keep_and_switch(1.0, 101)
    rarely = SampledCounts(users, 1e-12, mechanism).mean_unadjusted(2500)
    e.same(rarely, estimators.unadjusted(np.zeros(101), users=users, mechanism=mechanism)[0])
    return f"n = 50000, epsilon = 1: printed {users * q / (p - q):.3f}; mean at pi = 1e-12 {rarely:.3f}"


@section_3("Theorem 3.4", estimators.realised_size, *NOISE)
def theorem_3_4(e: Evidence) -> str:
    """The estimator c-hat is unbiased under sampling at a common rate."""
    for case in CASES:
        _unbiased(e, case, case.realised, case.reports.totals.sum(axis=1, keepdims=True))
    for law in DATA.values():
        e.decides(identity(moments(proofs.realised, law)[0], n * f))
    return f"E c-hat = n f as formulas; |E c-hat - n f| {EVERYWHERE}"


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
)
def theorem_3_5(e: Evidence) -> str:
    """The variance of c-hat is at least that of g_DE, so g_DE is the better estimate."""
    for data, law in DATA.items():
        g, c = (moments(estimate, law)[1] for estimate in (proofs.rescaled, proofs.realised))
        e.proven(identity(survey(data).variance_rescaled(n * f), g))
        e.proven(identity(survey(data).variance_realised_size(n * f), c))
        e.proven(identity(survey(data).variance_gain(n * f), g - c))
        e.decides(everywhere(c - g))
    for share in ENDS:
        e.proven(everywhere(survey().variance_gain(n * share)))
    for case in CASES:
        rescaled, realised = case.reports.variance(case.rescaled), case.reports.variance(case.realised)
        e.same(case.survey.variance_gain(case.holders), rescaled - realised)
    for case in FIXED:
        e.same(_uncorrelated(case), displayed.variance_realised_size(case.survey, case.holders))
    example, holders = SampledCounts(1000, 0.5, KaryRandomisedResponse(1.0, 4)), 300
    return (
        "the opposite holds at every rate below 1, and at 1 the two are one; n = 1000, f = .3, pi = .5, epsilon = 1, k "
        f"= 4: Var(g) = {example.variance_rescaled(holders):.2f}, Var(c-hat) = "
        f"{example.variance_realised_size(holders):.2f} (the source's formula: "
        f"{displayed.variance_realised_size(example, holders):.2f}); equal to enumeration in {len(CASES)} populations"
    )


def _uncorrelated(case: Case) -> Array:
    """Add the displayed variance of g_DE and that of the realised size, as Theorem 3.5's proof does, by enumeration."""
    users, rate, share = len(case.values), case.sampling_rate, case.holders / len(case.values)
    shown = case.reports.variance(case.rescaled) - users * (1 - rate) * share * (1 - share) / rate
    size = case.reports.variance(case.reports.totals.sum(axis=1))
    return np.asarray(shown + size / (rate * np.expm1(case.epsilon)) ** 2)


@corrects(
    "Theorem 3.6",
    SampledCounts.negative_mean_threshold,
    SampledCounts.mean_unadjusted,
    estimators.unadjusted,
    estimators.rescaled,
    *NOISE,
    assumption="c_DE is that of equations (4) and (5), from the users who are sampled. In the proof it sums over all n "
    "users: then both means lie in [0, n] always, and the statement says nothing.",
    corrected="E g_DE = n f lies in [0, n] always; E c_DE under sampling is negative exactly when f < (1 - pi) / (pi "
    "(e^epsilon - 1)), and never above n. The sign of a mean says nothing about the sign of an estimate.",
)
def theorem_3_6(e: Evidence) -> str:
    """On average 0 <= g_DE <= n if and only if 0 <= c_DE <= n."""
    for law in DATA.values():
        e.proven(identity(moments(proofs.rescaled, law)[0], n * f))
        e.proven(identity(moments(proofs.unadjusted, law)[0], n * pi * (f - survey().negative_mean_threshold)))
    mean = survey().mean_unadjusted(n * f)
    e.proven(identity(mean, n * pi * (f - survey().negative_mean_threshold)))
    e.proven(everywhere(n - mean))
    e.proven(identity(survey(rate=1).mean_unadjusted(n * f), n * f))
    e.decides(everywhere(mean))
    for case in FIXED:
        e.same(case.reports.mean(case.unadjusted), case.survey.mean_unadjusted(case.holders))
        e.same(case.reports.mean(case.rescaled), case.holders, abs=1e-9)
    users, q = 50_000, keep_and_switch(1.0, 101)[1]
    c_below, g_below = (special.bdtr(np.ceil(bound) - 1, users, 0.1 * q) for bound in (users * q, 0.1 * users * q))
    threshold = SampledCounts(users, 0.1, KaryRandomisedResponse(1.0, 101)).negative_mean_threshold
    return (
        f"with sampling E c_DE < 0 for every f below {threshold:.3f} at pi = .1, epsilon = 1 (that is, always) while "
        f"E g_DE = n f; at n = {users}, k = 101 and a value nobody holds, c_DE < 0 with chance {c_below:.3f} and g_DE "
        f"< 0 with chance {g_below:.3f}"
    )
