"""What decides Section 3 of biswas2022: a check for each claim of ``section_3.toml``."""

from itertools import product
from typing import Any

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
from ldpnb.papers.biswas2022.written_out import CASES, FIXED

RARELY = SampledCounts(50_000, 0.1, KaryRandomisedResponse(1.0, 101))


def theorem_3_1(e: Evidence) -> Numbers:
    for law, estimate in product(DATA.values(), (proofs.rescaled, proofs.realised)):
        e.decides(identity(moments(estimate, law)[0], n * f))
    return {"populations": len(CASES), "outcomes": sum(len(case.tallies) for case in CASES)}


def section_3_meaning_of_f(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("mean_unadjusted"))
    mean, reported = survey().mean_unadjusted(n * f), f * KEEP + (1 - f) * SWITCH
    e.proven(identity(survey().mean_unadjusted(n * reported), mean + n * pi * SWITCH * (1 - k * f)))
    e.decides(identity(survey().mean_unadjusted(n * reported), mean))
    few = FIXED[0].survey
    share = (few.mechanism.p + few.mechanism.q) / 2
    half, reported = (few.mean_unadjusted(few.users * one) for one in (0.5, share))
    return {"half": half, "reported": reported, "share": share}


def theorem_3_2(e: Evidence) -> Numbers:
    gap = KEEP - SWITCH
    printed = n * (SWITCH - SWITCH * SWITCH * pi) / (gap * gap * pi)
    e.proven(
        identity(survey().rare_variance_rescaled, printed)
        and proofs.sums_over_users("variance_rescaled")
    )
    e.decides(identity(moments(proofs.rescaled, proofs.RARE)[1], printed))
    return {"example": RARELY.rare_variance_rescaled}


def shown_variance(survey: SampledCounts, holders: Real) -> Real:
    """Return ``(n pi f p (1-p) + n pi (1-f) q (1-q) + r^2 n pi (1-pi)) / (p - q)^2``, which the proof displays.

    It mixes the two models of the data and is exact in neither.
    """
    noise, mean_report = proofs.average_user(survey.mechanism, holders / survey.users)
    per_user = survey.rate * (noise + (1 - survey.rate) * mean_report * mean_report)
    return (
        survey.users * per_user / (survey.mechanism.truthful_rate * survey.mechanism.truthful_rate)
    )


def theorem_3_2_proof(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("mean_unadjusted", "variance_unadjusted"))
    shown, lost = shown_variance(survey(), n * f), n * pi * f * (1 - f)
    for data, missing in (("fixed", lost * (1 - pi)), ("iid", lost)):
        variance = survey(data).variance_unadjusted(n * f)
        e.proven(identity(variance - shown, missing))
        e.decides(identity(shown, variance))
    surveys = {
        data: SampledCounts(1000, 0.2, KaryRandomisedResponse(2.0, 4), data) for data in DATA
    }
    shown = shown_variance(surveys["fixed"], 300)
    return {data: one.variance_unadjusted(300) / 0.04 for data, one in surveys.items()} | {
        "shown": shown / 0.04
    }


def section_3_order_of_the_variances(e: Evidence) -> Numbers:
    gap, unsampled = KEEP - SWITCH, survey(rate=1)
    rare, sampled = survey().rare_variance_rescaled, survey().variance_unadjusted(0)
    everybody = unsampled.variance_unadjusted(0)
    e.proven(identity(rare, moments(proofs.rescaled, proofs.RARE)[1]))
    e.proven(identity(rare - everybody, n * SWITCH * (1 - pi) / (pi * gap * gap)))
    e.decides(everywhere(rare - sampled) and everywhere(rare - everybody))
    e.decides(identity(unsampled.rare_variance_rescaled, everybody))
    threshold, bias = survey().unscaled_below, survey().bias_unadjusted(0)
    factor = n * (1 - pi) * (1 - pi) / ((t - 1) * (t - 1))
    e.proven(identity(sampled + bias * bias - rare, factor * (n - threshold)))
    for counts, share in product(map(survey, DATA), (f, 1)):
        bias, variance = counts.bias_unadjusted(n * share), counts.variance_rescaled(n * share)
        e.decides(everywhere(threshold - (1 - pi * pi) * variance * n / (bias * bias)))
    of_g = RARELY.rare_variance_rescaled
    e.same(
        RARELY.unscaled_below,
        (1 - RARELY.rate**2) * of_g * RARELY.users / RARELY.bias_unadjusted(0) ** 2,
    )
    return {
        "bound": RARELY.unscaled_below,
        "rescaled": of_g,
        "sampled": RARELY.variance_unadjusted(0),
        "all": SampledCounts(50_000, 1.0, RARELY.mechanism).variance_unadjusted(0),
    }


def definition_3_1_theorem_3_3(e: Evidence) -> Numbers:
    gap, rare = KEEP - SWITCH, survey().rare_variance_rescaled
    e.proven(proofs.sums_over_users("variance_rescaled"))

    def by_definition(counts: SampledCounts, share: Real) -> Real:
        return counts.variance_rescaled(counts.users * share) / (counts.users * share)

    normalised, many = by_definition(survey(), f), by_definition(SampledCounts(10 * n, pi, KARY), f)
    e.proven(identity(normalised, many))
    e.proven(everywhere(normalised - SWITCH * (1 - SWITCH) / (gap * gap * pi * f), k=(2, oo)))
    e.proven(everywhere(KEEP / (gap * gap * pi * f) - normalised))
    proved = rare / (n * pi * n * pi)  # of g over the expected number of reports
    e.proven(identity(rare, moments(proofs.rescaled, proofs.RARE)[1]))
    e.proven(identity(proved, (SWITCH - SWITCH * SWITCH * pi) / (gap * gap * pi * pi * pi * n)))
    e.proven(everywhere(SWITCH / (gap * gap * pi * pi * pi * n) - proved))
    e.decides(identity(10 * many, normalised))
    small, large = (
        SampledCounts(users, 0.1, KaryRandomisedResponse(1.0, 100)) for users in (50_000, 500_000)
    )
    return {
        "small": by_definition(small, 0.05),
        "large": by_definition(large, 0.05),
        "rare": by_definition(small, 1e-4),
    }


def section_3_limit(e: Evidence) -> Numbers:
    printed, silent = n * SWITCH / (KEEP - SWITCH), proofs.unadjusted([0, 0])
    towards = limit(survey().mean_unadjusted(n * f), pi.expression, 0)
    e.proven(identity(towards, silent) and identity(towards, -printed))
    e.proven(identity(printed, n / (t - 1)) and everywhere(printed))
    e.decides(identity(towards, printed))
    high = (
        survey().negative_mean_threshold - 1
    )  # above 0 where the mean is negative even if all users hold the value
    e.proven(identity(high, (1 - pi * t) / (pi * (t - 1))))
    e.decides(everywhere(-proofs.unadjusted([n, 0])))
    rare, users = SampledCounts(50_000, 1e-12, RARELY.mechanism), RARELY.users
    given: dict[str, Any] = {"users": users, "mechanism": RARELY.mechanism}
    return {
        "printed": -estimators.unadjusted(np.zeros(101), **given)[0],
        "rarely": rare.mean_unadjusted(2500),
        "most": estimators.unadjusted(users * np.eye(101)[0], **given)[0],
    }


def theorem_3_5(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("variance_rescaled", "variance_realised_size"))
    for counts in map(survey, DATA):
        gain = counts.variance_rescaled(n * f) - counts.variance_realised_size(n * f)
        e.proven(identity(counts.variance_gain(n * f), gain))
        e.decides(everywhere(-gain))
    e.proven(all(everywhere(survey().variance_gain(n * share)) for share in (f, 0, 1)))
    example, holders = SampledCounts(1000, 0.5, KaryRandomisedResponse(1.0, 4)), 300
    return {
        "of_g": example.variance_rescaled(holders),
        "of_c": example.variance_realised_size(holders),
    }


def theorem_3_6(e: Evidence) -> Numbers:
    mean = survey().mean_unadjusted(n * f)
    e.proven(proofs.sums_over_users("mean_unadjusted"))
    e.proven(all(identity(moments(proofs.rescaled, law)[0], n * f) for law in DATA.values()))
    e.proven(
        identity(mean, n * pi * (f - survey().negative_mean_threshold)) and everywhere(n - mean)
    )
    e.proven(identity(survey(rate=1).mean_unadjusted(n * f), n * f))
    e.decides(everywhere(mean))
    return {"threshold": RARELY.negative_mean_threshold}
