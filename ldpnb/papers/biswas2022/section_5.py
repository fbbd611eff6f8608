"""What decides Section 5 of biswas2022: a check for each claim of ``section_5.toml``."""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import identity
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import proofs
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates
from ldpnb.papers.biswas2022.proofs import (
    KARY,
    KEEP,
    RATES,
    SWITCH,
    a,
    b,
    f,
    moments,
    n,
    pi,
    u,
    v,
    x,
    y,
)
from ldpnb.papers.biswas2022.written_out import PERSONAL


def theorem_5_1_unbiasedness(e: Evidence) -> Numbers:
    mean = moments(proofs.pooled, proofs.TWO_RATES)[0]
    e.proven(identity(RATES.mean([x, y]), mean))
    e.proven(identity(mean, (a + b) * (x * u + y * v) / (a * u + b * v)))
    e.proven(identity(moments(proofs.pooled, proofs.TWO_RATES_IID)[0], (a + b) * f))
    weighted = estimators.horvitz_thompson([[x, y], [0, 0]], rates=[u, v], mechanism=KARY)
    e.proven(identity(weighted[0], proofs.realised([x, y], u)))
    e.proven(identity(moments(proofs.realised, proofs.FIXED)[0], n * f))
    e.decides(identity(mean, x + y))
    rates = [0.75, (0.5634 * 2000 - 0.75 * 1251) / 749]
    many = PersonalRates([1251, 749], rates, KaryRandomisedResponse(1.0, 2)).mean([1251, 0])
    return {"few": PERSONAL[0].personal.mean(np.equal(PERSONAL[0].values, 0)), "many": many}


def theorem_5_1_var(e: Evidence) -> Numbers:
    mean, variance = moments(proofs.pooled, ((a, SWITCH, u), (b, SWITCH, v)))
    e.proven(identity(mean, RATES.mean([0, 0])))
    spread = sum(m * SWITCH * rate * (1 - SWITCH * rate) for m, rate in ((a, u), (b, v)))
    scale = (a + b) / ((a * u + b * v) * (KEEP - SWITCH))
    e.proven(identity(RATES.rare_variance, spread * scale * scale))
    e.decides(identity(RATES.rare_variance, variance))
    alike, rescaled = PersonalRates([n], [pi], KARY), proofs.survey().rare_variance_rescaled
    e.proven(identity(moments(proofs.rescaled, proofs.RARE)[1], rescaled))
    e.decides(identity(alike.rare_variance, rescaled))
    e.decides(identity(proofs.pooled([x, y], n, n * pi), proofs.rescaled([x, y])))
    e.decides(identity(proofs.pooled([x, y], n, n), proofs.unadjusted([x, y])))
    return {"populations": len(PERSONAL), "example": PERSONAL[0].personal.rare_variance}


def shown_variance(survey: PersonalRates, holders: ArrayLike) -> Real:
    """Return the variance of ``T`` that the proof displays, its missing indices put in.

    ``n^2 sum_j [pi_j (1-pi_j) (v + r^2) + pi_j^2 v] / ((sum_j pi_j)^2 (p-q)^2)`` with ``v = f p(1-p) + (1-f) q(1-q)``,
    ``r = f p + (1-f) q``: every user is taken for an average one, and the spread of ``s_j`` between users is lost.
    """
    size, rate = survey.sizes, survey.rates
    noise, mean_report = proofs.average_user(
        survey.mechanism, survey.split(holders)[0].sum(axis=0) / survey.users
    )
    total = (
        size @ (rate * (1 - rate)) * (noise + mean_report * mean_report)
        + size @ (rate * rate) * noise
    )
    scale = survey.users / (survey.reports * survey.mechanism.truthful_rate)
    return total * scale * scale


def theorem_5_1_proof(e: Evidence) -> Numbers:
    mean, variance = moments(proofs.pooled, proofs.TWO_RATES)
    e.proven(identity(RATES.mean([x, y]), mean) and identity(RATES.variance([x, y]), variance))
    unrelated, scale = [a * f, b * f], RATES.users / RATES.reports
    shown = shown_variance(RATES, unrelated)
    lost = f * (1 - f) * (a * u * (1 - u) + b * v * (1 - v)) * scale * scale
    e.proven(identity(RATES.variance(unrelated) - shown, lost))
    iid = moments(proofs.pooled, proofs.TWO_RATES_IID)[1]
    e.proven(identity(iid - shown, f * (1 - f) * (a * u + b * v) * scale * scale))
    e.decides(identity(shown, RATES.variance(unrelated)))
    survey, holders = (
        PersonalRates([1300, 700], [0.8, 0.1], KaryRandomisedResponse(2.0, 4)),
        [1200, 100],
    )
    return {"shown": shown_variance(survey, holders), "exact": survey.variance(holders)}
