"""What decides Section 5 of biswas2022: populations with personal rates, enumerated, and a check for each claim."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.claims import Evidence
from ldpnb.deciders import identity
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import displayed, proofs
from ldpnb.papers.biswas2022.proofs import KARY, KEEP, RATES, SWITCH, a, b, f, moments, n, pi, u, v, x, y
from ldpnb.papers.biswas2022.routes import FIXED, Array, Reports, all_reports, direct_encoding, keep_and_switch
from ldpnb.sections import Numbers, Pairs, second_route


@dataclass(frozen=True, slots=True)
class Population:
    """A few users with personal rates; those of equal rate form a group, in order of the rate."""

    epsilon: float
    domain_size: int
    values: tuple[int, ...]
    rates: tuple[float, ...]

    @property
    def groups(self) -> tuple[int, ...]:
        """Each user's group."""
        return tuple(sorted(set(self.rates)).index(rate) for rate in self.rates)

    @property
    def holders(self) -> Array:
        """Users of each group who hold each value, ``(g, k)``."""
        table = np.zeros((len(set(self.rates)), self.domain_size))
        np.add.at(table, (self.groups, self.values), 1)
        return table

    @property
    def survey(self) -> PersonalRates:
        """The closed forms."""
        mechanism = KaryRandomisedResponse(self.epsilon, self.domain_size)
        return PersonalRates(self.holders.sum(axis=1), np.array(sorted(set(self.rates))), mechanism)

    @property
    def reports(self) -> Reports:
        """The complete enumeration."""
        return all_reports(self.values, self.rates, self.epsilon, self.domain_size)

    @property
    def pooled(self) -> Array:
        """The estimate T in every outcome, from the h that the proof of Theorem 5.1 prints."""
        keep, switch = keep_and_switch(self.epsilon, self.domain_size)
        users, expected = len(self.values), sum(self.rates)
        h = (self.reports.totals - users * switch) / (keep - switch)
        return np.asarray(users * h / expected + users * switch * (users - expected) / (expected * (keep - switch)))


POPULATIONS = (
    Population(1.0, 3, (0, 0, 1, 2, 1), (0.8, 0.8, 0.2, 0.2, 0.5)),
    Population(0.3, 2, (0, 0, 0, 1, 1, 1), (0.1, 0.1, 0.9, 0.9, 0.9, 0.1)),
    Population(3.0, 3, (1, 1, 2, 2), (0.3, 1.0, 0.3, 1.0)),
)


@second_route(estimators.personalised)
def _personalised() -> Pairs:
    for population in POPULATIONS:
        users, mechanism = len(population.values), population.survey.mechanism
        known: dict[str, Any] = {"users": users, "expected_reports": sum(population.rates), "mechanism": mechanism}
        yield estimators.personalised(population.reports.totals, **known), population.pooled


@second_route(estimators.horvitz_thompson)
def _horvitz_thompson() -> Pairs:
    for population in POPULATIONS:
        known: dict[str, Any] = {"rates": population.survey.rates, "mechanism": population.survey.mechanism}
        estimates = estimators.horvitz_thompson(population.reports.by_group(population.groups), **known)
        yield population.reports.mean(estimates), population.holders.sum(axis=0)


@second_route(PersonalRates.mean)
def _mean() -> Pairs:
    for population in POPULATIONS:
        yield population.survey.mean(population.holders), population.reports.mean(population.pooled)


@second_route(PersonalRates.rare_variance)
def _rare_variance() -> Pairs:
    for absent in _with_a_rare_value():
        yield absent.survey.rare_variance, absent.reports.variance(absent.pooled)[-1]


def _with_a_rare_value() -> list[Population]:
    return [Population(p.epsilon, p.domain_size + 1, p.values, p.rates) for p in POPULATIONS]


@second_route(PersonalRates.variance)
def _variance() -> Pairs:
    for population in POPULATIONS:
        yield population.survey.variance(population.holders), population.reports.variance(population.pooled)


@second_route(PersonalRates.users, PersonalRates.reports, displayed.variance_personalised)
def _displayed() -> Pairs:
    for population in POPULATIONS:
        survey, reports, rates = population.survey, population.reports, np.array(population.rates)
        yield [survey.users, survey.reports], [rates.size, reports.mean(reports.totals.sum(axis=1))]
        channel = direct_encoding(population.epsilon, population.domain_size)  # the display, added up user by user
        chances, gap = channel[:, list(population.values)], np.expm1(population.epsilon) * channel[0, 1]
        noise, mean = (chances * (1 - chances)).mean(axis=1), chances.mean(axis=1)
        total = sum(rate * (1 - rate) * (noise + mean**2) + rate**2 * noise for rate in rates)
        yield (
            displayed.variance_personalised(survey, population.holders),
            total * (rates.size / (rates.sum() * gap)) ** 2,
        )


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
    return {"few": POPULATIONS[0].survey.mean(POPULATIONS[0].holders)[0], "many": many}


def theorem_5_1_var(e: Evidence) -> Numbers:
    mean, variance = moments(proofs.pooled, ((a, SWITCH, u), (b, SWITCH, v)))
    e.proven(identity(mean, RATES.mean([0, 0])))
    e.proven(identity(moments(proofs.pooled, proofs.TWO_RATES)[0], RATES.mean([x, y])))
    spread = sum(m * SWITCH * rate * (1 - SWITCH * rate) for m, rate in ((a, u), (b, v)))
    scale = (a + b) / ((a * u + b * v) * (KEEP - SWITCH))
    e.proven(identity(RATES.rare_variance, spread * scale * scale))
    e.decides(identity(RATES.rare_variance, variance))
    return {"populations": len(POPULATIONS), "example": _with_a_rare_value()[0].survey.rare_variance}


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


def remark_2(e: Evidence) -> Numbers:
    rare = proofs.survey().rare_variance_rescaled
    e.proven(identity(moments(proofs.rescaled, proofs.RARE)[1], rare))
    e.proven(identity(moments(proofs.rescaled, proofs.FIXED)[0], n * f))
    e.proven(identity(moments(proofs.pooled, proofs.TWO_RATES)[0], RATES.mean([x, y])))
    e.decides(identity(proofs.pooled([x, y], n, n * pi), proofs.rescaled([x, y])))
    e.decides(identity(proofs.pooled([x, y], n, n), proofs.unadjusted([x, y])))
    e.decides(identity(PersonalRates([n], [pi], KARY).rare_variance, rare))
    for case in FIXED:
        users, totals = len(case.values), case.reports.totals
        known: dict[str, Any] = {"users": users, "mechanism": case.mechanism}
        alike = estimators.personalised(totals, expected_reports=users * case.sampling_rate, **known)
        e.needs(np.allclose(alike, case.rescaled, rtol=1e-9))
    return {"populations": len(FIXED)}
