"""Check the claims of Section 3 of Biswas, Cormode and Maple: one function for each."""

from itertools import product

import numpy as np

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import identity, limit, oo
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import proofs
from ldpnb.papers.biswas2022.proofs import (
    DATA,
    KARY,
    KEEP,
    SWITCH,
    everywhere,
    f,
    k,
    moments,
    n,
    pi,
    survey,
    t,
)

RARELY = SampledCounts(50_000, 0.1, KaryRandomisedResponse(1.0, 101))
"""A survey at a low rate."""


def theorem_3_1(e: Evidence) -> None:
    for law, estimate in product(DATA.values(), (proofs.rescaled, proofs.realised)):
        mean, _ = moments(estimate, law)
        e.decides(identity(mean, n * f))


def section_3_meaning_of_f(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("mean_unadjusted"))

    mean = survey().mean_unadjusted(n * f)
    reported = f * KEEP + (1 - f) * SWITCH
    with_reports = survey().mean_unadjusted(n * reported)
    e.proven(identity(with_reports, mean + n * pi * SWITCH * (1 - k * f)))
    e.decides(identity(with_reports, mean))

    small = SampledCounts(4, 0.5, KaryRandomisedResponse(1.0, 4))
    share = (small.mechanism.p + small.mechanism.q) / 2
    return {
        "half": small.mean_unadjusted(small.users * 0.5),
        "reported": small.mean_unadjusted(small.users * share),
        "share": share,
    }


def theorem_3_2(e: Evidence) -> Numbers:
    gap = KEEP - SWITCH
    printed = n * (SWITCH - SWITCH * SWITCH * pi) / (gap * gap * pi)
    _, variance = moments(proofs.rescaled, proofs.RARE)

    e.proven(proofs.sums_over_users("variance_rescaled"))
    e.proven(proofs.sums_over_users("variance_unadjusted"))
    e.proven(identity(survey().rare_variance_rescaled, printed))
    e.decides(identity(variance, printed))
    e.decides(identity(survey().variance_unadjusted(0) / (pi * pi), printed))
    return {"example": RARELY.rare_variance_rescaled}


def displayed_variance(survey: SampledCounts, holders: Real) -> Real:
    """Return the variance of ``c_DE`` that the proof of Theorem 3.2 displays.

    It is ``(n pi f p (1-p) + n pi (1-f) q (1-q) + r^2 n pi (1-pi)) / (p - q)^2``.
    """
    noise, mean_report = proofs.average_user(survey.mechanism, holders / survey.users)
    per_user = survey.rate * (noise + (1 - survey.rate) * mean_report * mean_report)
    gap = survey.mechanism.truthful_rate
    return survey.users * per_user / (gap * gap)


def theorem_3_2_proof(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("mean_unadjusted", "variance_unadjusted"))

    displayed = displayed_variance(survey(), n * f)
    lost = n * pi * f * (1 - f)
    for data, missing in {"fixed": lost * (1 - pi), "iid": lost}.items():
        variance = survey(data).variance_unadjusted(n * f)
        e.proven(identity(variance - displayed, missing))
        e.decides(identity(displayed, variance))

    numbers = {}
    for data in DATA:
        example = SampledCounts(1000, 0.2, KaryRandomisedResponse(2.0, 4), data)
        numbers[data] = example.variance_unadjusted(300) / 0.2**2
    numbers["shown"] = displayed_variance(example, 300) / 0.2**2
    return numbers


def section_3_order_of_the_variances(e: Evidence) -> Numbers:
    rare = survey().rare_variance_rescaled
    sampled = survey().variance_unadjusted(0)
    all_users = survey(rate=1)
    of_all = all_users.variance_unadjusted(0)
    gap = KEEP - SWITCH
    _, variance = moments(proofs.rescaled, proofs.RARE)

    e.proven(identity(rare, variance))
    e.proven(identity(rare - of_all, n * SWITCH * (1 - pi) / (pi * gap * gap)))
    e.decides(everywhere(rare - sampled))
    e.decides(everywhere(rare - of_all))
    e.decides(identity(all_users.rare_variance_rescaled, of_all))

    # how many users it takes until the squared bias outweighs the additional variance
    bias = survey().bias_unadjusted(0)
    threshold = survey().unscaled_below
    factor = n * (1 - pi) * (1 - pi) / ((t - 1) * (t - 1))
    e.proven(identity(sampled + bias * bias - rare, factor * (n - threshold)))
    for counts, share in product(map(survey, DATA), (f, 1)):
        bias = counts.bias_unadjusted(n * share)
        variance = counts.variance_rescaled(n * share)
        e.decides(everywhere(threshold - (1 - pi * pi) * variance * n / (bias * bias)))

    of_g = RARELY.rare_variance_rescaled
    bias = RARELY.bias_unadjusted(0)
    e.same(RARELY.unscaled_below, (1 - RARELY.rate**2) * of_g * RARELY.users / bias**2)
    return {
        "bound": RARELY.unscaled_below,
        "rescaled": of_g,
        "sampled": RARELY.variance_unadjusted(0),
        "all": SampledCounts(50_000, 1.0, RARELY.mechanism).variance_unadjusted(0),
    }


def definition_3_1_theorem_3_3(e: Evidence) -> Numbers:
    gap = KEEP - SWITCH
    e.proven(proofs.sums_over_users("variance_rescaled"))

    def by_definition(counts: SampledCounts, share: Real) -> Real:
        return counts.variance_rescaled(counts.users * share) / (counts.users * share)

    normalised = by_definition(survey(), f)
    ten_times = by_definition(SampledCounts(10 * n, pi, KARY), f)
    scale = gap * gap * pi * f
    e.proven(identity(normalised, ten_times))
    e.proven(everywhere(normalised - SWITCH * (1 - SWITCH) / scale, k=(2, oo)))
    e.proven(everywhere(KEEP / scale - normalised))

    # what the proof computes: the variance of g over the expected number of reports
    rare = survey().rare_variance_rescaled
    proved = rare / (n * pi * n * pi)
    cubed = gap * gap * pi * pi * pi * n
    _, variance = moments(proofs.rescaled, proofs.RARE)
    e.proven(identity(rare, variance))
    e.proven(identity(proved, (SWITCH - SWITCH * SWITCH * pi) / cubed))
    e.proven(everywhere(SWITCH / cubed - proved))

    e.decides(identity(10 * ten_times, normalised))

    small = SampledCounts(50_000, 0.1, KaryRandomisedResponse(1.0, 100))
    large = SampledCounts(500_000, 0.1, KaryRandomisedResponse(1.0, 100))
    return {
        "small": by_definition(small, 0.05),
        "large": by_definition(large, 0.05),
        "rare": by_definition(small, 1e-4),
    }


def section_3_limit(e: Evidence) -> Numbers:
    printed = n * SWITCH / (KEEP - SWITCH)
    towards = limit(survey().mean_unadjusted(n * f), pi.expression, 0)
    without_reports = proofs.unadjusted([0, 0])
    e.proven(identity(towards, without_reports))
    e.proven(identity(towards, -printed))
    e.proven(identity(printed, n / (t - 1)))
    e.proven(everywhere(printed))
    e.decides(identity(towards, printed))

    # above 0 where the mean is negative even if all users hold the value
    excess = survey().negative_mean_threshold - 1
    e.proven(identity(excess, (1 - pi * t) / (pi * (t - 1))))
    e.proven(everywhere(proofs.unadjusted([n, 0])))

    def without_scaling(reports: int) -> float:
        tallies = reports * np.eye(101)[0]
        users = RARELY.users
        return float(estimators.unadjusted(tallies, users=users, mechanism=RARELY.mechanism)[0])

    rare = SampledCounts(50_000, 1e-12, RARELY.mechanism)
    return {
        "printed": -without_scaling(0),
        "rarely": rare.mean_unadjusted(2500),
        "most": without_scaling(RARELY.users),
    }


def theorem_3_5(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("variance_rescaled", "variance_realised_size"))

    for counts in map(survey, DATA):
        gain = counts.variance_rescaled(n * f) - counts.variance_realised_size(n * f)
        e.proven(identity(counts.variance_gain(n * f), gain))
        e.decides(everywhere(-gain))
    for share in (f, 0, 1):
        e.proven(everywhere(survey().variance_gain(n * share)))

    example = SampledCounts(1000, 0.5, KaryRandomisedResponse(1.0, 4))
    return {
        "of_g": example.variance_rescaled(300),
        "of_c": example.variance_realised_size(300),
    }


def theorem_3_5_proof(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("variance_rescaled", "variance_realised_size"))

    gap = KEEP - SWITCH
    of_size = n * pi * (1 - pi)
    displayed = of_size * SWITCH * SWITCH / (pi * pi * gap * gap)
    together = of_size * (f * KEEP + (1 - f) * SWITCH)
    true = displayed - 2 * SWITCH * together / (pi * pi * gap * gap)
    for counts in map(survey, DATA):
        added = counts.variance_realised_size(n * f) - counts.variance_rescaled(n * f)
        e.proven(identity(added, true))
        e.decides(identity(added, displayed))
    e.proven(everywhere(-true))

    example = SampledCounts(1000, 0.5, KaryRandomisedResponse(1.0, 4))
    size = 1000 * 0.5 * 0.5
    krr = example.mechanism
    return {
        "printed": size * krr.q**2 / (0.5 * krr.truthful_rate) ** 2,
        "true": example.variance_realised_size(300) - example.variance_rescaled(300),
    }


def theorem_3_6(e: Evidence) -> Numbers:
    for law in DATA.values():
        mean, _ = moments(proofs.rescaled, law)
        e.decides(identity(mean, n * f))
    e.decides(identity(survey(rate=1).mean_unadjusted(n * f), n * f))

    # the remark: with the users who are sampled
    e.proven(proofs.sums_over_users("mean_unadjusted"))
    mean = survey().mean_unadjusted(n * f)
    threshold = survey().negative_mean_threshold
    e.proven(identity(mean, n * pi * (f - threshold)))
    e.proven(everywhere(n - mean))
    return {"threshold": RARELY.negative_mean_threshold}
