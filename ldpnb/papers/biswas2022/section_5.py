"""Check the claims of Section 5 of Biswas, Cormode and Maple: one function for each."""

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
    mean, _ = moments(proofs.pooled, proofs.TWO_RATES)
    e.proven(identity(RATES.mean([x, y]), mean))
    e.proven(identity(mean, (a + b) * (x * u + y * v) / (a * u + b * v)))

    in_the_model_of_the_proof, _ = moments(proofs.pooled, proofs.TWO_RATES_IID)
    e.proven(identity(in_the_model_of_the_proof, (a + b) * f))

    weighted = estimators.horvitz_thompson([[x, y], [0, 0]], rates=[u, v], mechanism=KARY)
    of_horvitz_thompson, _ = moments(proofs.realised, proofs.FIXED)
    e.proven(identity(weighted[0], proofs.realised([x, y], u)))
    e.proven(identity(of_horvitz_thompson, n * f))

    e.decides(identity(mean, x + y))

    few = PERSONAL[0]
    rate_of_others = (0.5634 * 2000 - 0.75 * 1251) / 749
    many = PersonalRates([1251, 749], [0.75, rate_of_others], KaryRandomisedResponse(1.0, 2))
    return {"few": few.personal.mean(np.equal(few.values, 0)), "many": many.mean([1251, 0])}


def theorem_5_1_var(e: Evidence) -> Numbers:
    nobody_holds_it = ((a, SWITCH, u), (b, SWITCH, v))
    mean, variance = moments(proofs.pooled, nobody_holds_it)
    e.proven(identity(mean, RATES.mean([0, 0])))

    of_first = a * SWITCH * u * (1 - SWITCH * u)
    of_second = b * SWITCH * v * (1 - SWITCH * v)
    scale = (a + b) / ((a * u + b * v) * (KEEP - SWITCH))
    e.proven(identity(RATES.rare_variance, (of_first + of_second) * scale * scale))
    e.decides(identity(RATES.rare_variance, variance))

    # With equal rates T is g_DE, and with all rates 1 it is c_DE.
    equal_rates = PersonalRates([n], [pi], KARY)
    of_rescaled = proofs.survey().rare_variance_rescaled
    _, variance = moments(proofs.rescaled, proofs.RARE)
    e.proven(identity(variance, of_rescaled))
    e.decides(identity(equal_rates.rare_variance, of_rescaled))
    e.decides(identity(proofs.pooled([x, y], n, n * pi), proofs.rescaled([x, y])))
    e.decides(identity(proofs.pooled([x, y], n, n), proofs.unadjusted([x, y])))
    return {"populations": len(PERSONAL), "example": PERSONAL[0].personal.rare_variance}


def displayed_variance(survey: PersonalRates, holders: ArrayLike) -> Real:
    """Return the variance of ``T`` that the proof displays, with its missing indices put in.

    It is ``n^2 sum_j [pi_j (1-pi_j) (v + r^2) + pi_j^2 v] / ((sum_j pi_j)^2 (p-q)^2)`` with ``v = f
    p(1-p) + (1-f) q(1-q)`` and ``r = f p + (1-f) q``. Every user is taken for an average one, and
    the spread between users is lost.
    """
    sizes = survey.sizes
    rates = survey.rates
    share = survey.split(holders)[0].sum(axis=0) / survey.users
    noise, mean_report = proofs.average_user(survey.mechanism, share)

    by_sampling = sizes @ (rates * (1 - rates)) * (noise + mean_report * mean_report)
    by_randomising = sizes @ (rates * rates) * noise
    scale = survey.users / (survey.reports * survey.mechanism.truthful_rate)
    return (by_sampling + by_randomising) * scale * scale


def theorem_5_1_proof(e: Evidence) -> Numbers:
    mean, variance = moments(proofs.pooled, proofs.TWO_RATES)
    e.proven(identity(RATES.mean([x, y]), mean))
    e.proven(identity(RATES.variance([x, y]), variance))

    unrelated = [a * f, b * f]
    displayed = displayed_variance(RATES, unrelated)
    scale = RATES.users / RATES.reports

    lost = f * (1 - f) * (a * u * (1 - u) + b * v * (1 - v)) * scale * scale
    e.proven(identity(RATES.variance(unrelated) - displayed, lost))

    _, if_drawn = moments(proofs.pooled, proofs.TWO_RATES_IID)
    lost = f * (1 - f) * (a * u + b * v) * scale * scale
    e.proven(identity(if_drawn - displayed, lost))
    e.decides(identity(displayed, RATES.variance(unrelated)))

    survey = PersonalRates([1300, 700], [0.8, 0.1], KaryRandomisedResponse(2.0, 4))
    holders = [1200, 100]
    return {"shown": displayed_variance(survey, holders), "exact": survey.variance(holders)}


def section_5_1_expected_reports(e: Evidence) -> None:
    e.proven(identity(RATES.reports, a * u + b * v))
    e.decides(identity(u, RATES.reports))
