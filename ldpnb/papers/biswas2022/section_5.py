"""What decides Section 5 of biswas2022: second routes for personal rates, and a check for each claim."""

from typing import Any

import numpy as np

from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.claims import Evidence
from ldpnb.deciders import identity
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import displayed, proofs
from ldpnb.papers.biswas2022.proofs import KARY, KEEP, RATES, SWITCH, a, b, f, moments, n, pi, u, v, x, y
from ldpnb.papers.biswas2022.routes import PERSONAL, direct_encoding
from ldpnb.sections import Numbers, Pairs, second_route


@second_route(estimators.personalised)
def _personalised() -> Pairs:
    for case in PERSONAL:
        known: dict[str, Any] = {"users": len(case.values), "expected_reports": sum(case.rates)}
        yield estimators.personalised(case.reports.totals, mechanism=case.mechanism, **known), case.pooled


@second_route(estimators.horvitz_thompson)
def _horvitz_thompson() -> Pairs:
    for case in PERSONAL:
        estimates = estimators.horvitz_thompson(case.reports.tallies, rates=case.rates, mechanism=case.mechanism)
        yield case.reports.mean(estimates), case.holders


@second_route(PersonalRates.mean)
def _mean() -> Pairs:
    for case in PERSONAL:
        yield case.personal.mean(case.held), case.reports.mean(case.pooled)


@second_route(PersonalRates.variance)
def _variance() -> Pairs:
    for case in PERSONAL:
        yield case.personal.variance(case.held), case.reports.variance(case.pooled)


@second_route(PersonalRates.rare_variance)
def _rare_variance() -> Pairs:
    for case in PERSONAL:
        yield case.personal.rare_variance, case.reports.variance(case.pooled)[-1]


@second_route(PersonalRates.users, PersonalRates.reports, displayed.variance_personalised)
def _displayed() -> Pairs:
    """Add the display up user by user."""
    for case in PERSONAL:
        expected = case.reports.mean(case.reports.totals.sum(axis=1))
        yield [case.personal.users, case.personal.reports], [len(case.values), expected]
        rates, channel = np.array(case.rates), direct_encoding(case.epsilon, case.domain_size)
        chances, gap = channel[:, list(case.values)], np.expm1(case.epsilon) * channel[0, 1]
        noise, mean = (chances * (1 - chances)).mean(axis=1), chances.mean(axis=1)
        total = sum(rate * (1 - rate) * (noise + mean**2) + rate**2 * noise for rate in rates)
        written = total * (rates.size / (rates.sum() * gap)) ** 2
        yield displayed.variance_personalised(case.personal, case.held), written


def theorem_5_1_unbiasedness(e: Evidence) -> Numbers:
    mean = moments(proofs.pooled, proofs.TWO_RATES)[0]
    e.proven(identity(RATES.mean([x, y]), mean))
    e.proven(identity(mean, (a + b) * (x * u + y * v) / (a * u + b * v)))
    e.proven(identity(moments(proofs.pooled, proofs.TWO_RATES_IID)[0], (a + b) * f))
    weighted: dict[str, Any] = {"rates": [u, v], "mechanism": KARY}
    e.proven(identity(estimators.horvitz_thompson([[x, y], [0, 0]], **weighted)[0], proofs.realised([x, y], u)))
    e.proven(identity(moments(proofs.realised, proofs.FIXED)[0], n * f))
    e.decides(identity(mean, x + y))
    rates = np.array([0.75, (0.5634 * 2000 - 0.75 * 1251) / 749])
    many = PersonalRates(np.array([1251, 749]), rates, KaryRandomisedResponse(1.0, 2)).mean([1251, 0])
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


def theorem_5_1_proof(e: Evidence) -> Numbers:
    mean, variance = moments(proofs.pooled, proofs.TWO_RATES)
    e.proven(identity(RATES.mean([x, y]), mean) and identity(RATES.variance([x, y]), variance))
    unrelated, scale = [a * f, b * f], RATES.users / RATES.reports
    shown = displayed.variance_personalised(RATES, unrelated)
    lost = f * (1 - f) * (a * u * (1 - u) + b * v * (1 - v)) * scale * scale
    e.proven(identity(RATES.variance(unrelated) - shown, lost))
    iid = moments(proofs.pooled, proofs.TWO_RATES_IID)[1]
    e.proven(identity(iid - shown, f * (1 - f) * (a * u + b * v) * scale * scale))
    e.decides(identity(shown, RATES.variance(unrelated)))
    survey = PersonalRates(np.array([1300, 700]), np.array([0.8, 0.1]), KaryRandomisedResponse(2.0, 4))
    holders = [1200, 100]
    return {"shown": displayed.variance_personalised(survey, holders), "exact": survey.variance(holders)}
