"""Section 5 of biswas2022: a sampling rate per user."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import Evidence, claim
from ldpnb.deciders import identity
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import displayed, proofs
from ldpnb.papers.biswas2022.proofs import KARY, KEEP, RATES, SWITCH, a, b, f, moments, n, pi, u, v, x, y
from ldpnb.papers.biswas2022.routes import FIXED, NOISE, RANDOMISER, Array, Reports, all_reports, direct_encoding

section_5 = partial(
    claim,
    kind="proof",
    reach="all parameters",
    over="every epsilon, k, n, every data and all rates in (0, 1]",
    argument=f"{proofs.SUMS} {proofs.MORE_RATES}",
)


@dataclass(frozen=True, slots=True)
class Population:
    """A few users with personal rates; those of equal rate form a group, in order of the rate."""

    epsilon: float
    domain_size: int
    values: tuple[int, ...]
    rates: tuple[float, ...]

    @property
    def mechanism(self) -> KaryRandomisedResponse:
        """The randomiser."""
        return KaryRandomisedResponse(self.epsilon, self.domain_size)

    @property
    def groups(self) -> tuple[int, ...]:
        """Each user's group."""
        return tuple(sorted(set(self.rates)).index(rate) for rate in self.rates)

    @property
    def held(self) -> Array:
        """Users of each group who hold each value, ``(g, k)``."""
        table = np.zeros((len(set(self.rates)), self.domain_size))
        np.add.at(table, (self.groups, self.values), 1)
        return table

    @property
    def survey(self) -> PersonalRates:
        """The closed forms."""
        return PersonalRates(self.held.sum(axis=1), np.array(sorted(set(self.rates))), self.mechanism)

    @property
    def reports(self) -> Reports:
        """The complete enumeration."""
        return all_reports(self.values, self.rates, self.epsilon, self.domain_size)

    @property
    def pooled(self) -> Array:
        """The estimate T in every outcome."""
        known: dict[str, Any] = {"expected_reports": sum(self.rates), "mechanism": self.mechanism}
        return estimators.personalised(self.reports.totals, users=len(self.values), **known)


POPULATIONS = (
    Population(1.0, 3, (0, 0, 1, 2, 1), (0.8, 0.8, 0.2, 0.2, 0.5)),
    Population(0.3, 2, (0, 0, 0, 1, 1, 1), (0.1, 0.1, 0.9, 0.9, 0.9, 0.1)),
    Population(3.0, 3, (1, 1, 2, 2), (0.3, 1.0, 0.3, 1.0)),
)


@section_5(
    "Theorem 5.1, unbiasedness",
    PersonalRates.mean,
    estimators.personalised,
    estimators.horvitz_thompson,
    *NOISE,
    estimators.realised_size,
    assumption="Values are fixed, and rates may depend on them, as Section 6 (i) intends. Where values are iid draws "
    "and the rates were fixed beforehand, as the proof assumes, T is unbiased.",
    corrected="E T(i) = n sum_(j holds i) pi_j / sum_j pi_j, for every epsilon: the bias is n f_i (mean rate of the "
    "holders / mean rate - 1), 0 where nobody holds i. T is unbiased when rates and values are unrelated; "
    "sum_j B_j (1{X_j = i} - q) / (pi_j (p-q)) (Horvitz-Thompson) always is.",
)
def theorem_5_1_mean(e: Evidence) -> str:
    """The estimator T is unbiased for any personal sampling rates."""
    mean = moments(proofs.pooled, proofs.TWO_RATES)[0]
    e.proven(identity(RATES.mean([x, y]), mean))
    e.proven(identity(mean, (a + b) * (x * u + y * v) / (a * u + b * v)))
    chance = f * KEEP + (1 - f) * SWITCH
    e.proven(identity(moments(proofs.pooled, ((a, chance, u), (b, chance, v)))[0], (a + b) * f))
    weighted: dict[str, Any] = {"rates": [u, v], "mechanism": KARY}
    e.proven(identity(estimators.horvitz_thompson([[x, y], [0, 0]], **weighted)[0], proofs.realised([x, y], u)))
    e.proven(identity(moments(proofs.realised, proofs.FIXED)[0], n * f))
    e.decides(identity(mean, x + y))
    for population in POPULATIONS:
        reports, counts = population.reports, population.held.sum(axis=0)
        e.same(population.survey.mean(population.held), reports.mean(population.pooled))
        known: dict[str, Any] = {"rates": population.survey.rates, "mechanism": population.mechanism}
        e.same(reports.mean(estimators.horvitz_thompson(reports.by_group(population.groups), **known)), counts)
    first = POPULATIONS[0].survey.mean(POPULATIONS[0].held)[0]
    rates = np.array([0.75, (0.5634 * 2000 - 0.75 * 1251) / 749])
    larger = PersonalRates(np.array([1251, 749]), rates, KaryRandomisedResponse(1.0, 2)).mean([1251, 0])
    return (
        f"five users, two hold the value and report with .8, the others with .2 or .5: E T = {first:.2f} instead of 2 "
        f"(enumerated); n = 2000, 1251 holders with mean rate .75 beside .5634 overall: E T = {larger:.2f}; unbiased "
        "exactly where the holders' mean rate is everybody's, or nobody holds the value"
    )


@section_5("Theorem 5.1, Var*", PersonalRates.rare_variance, PersonalRates.mean, estimators.personalised, *NOISE)
def theorem_5_1_rare_variance(e: Evidence) -> str:
    """At a value nobody holds the variance of T is n^2 sum_j q pi_j (1 - q pi_j) / ((sum_j pi_j)^2 (p - q)^2)."""
    mean, variance = moments(proofs.pooled, ((a, SWITCH, u), (b, SWITCH, v)))
    e.proven(identity(mean, RATES.mean([0, 0])))
    e.proven(identity(moments(proofs.pooled, proofs.TWO_RATES)[0], RATES.mean([x, y])))
    spread = sum(m * SWITCH * rate * (1 - SWITCH * rate) for m, rate in ((a, u), (b, v)))
    scale = (a + b) / ((a * u + b * v) * (KEEP - SWITCH))
    e.proven(identity(RATES.rare_variance, spread * scale * scale))
    e.decides(identity(RATES.rare_variance, variance))
    stated = []
    for population in POPULATIONS:
        absent = Population(population.epsilon, population.domain_size + 1, population.values, population.rates)
        stated.append(absent.survey.rare_variance)
        e.same(stated[-1], absent.reports.variance(absent.pooled)[-1])
    return (
        f"equal as a formula, and to the enumerated variance in {len(stated)} populations of up to 6 users with two or "
        f"three rates; the first: {stated[0]:.6f}"
    )


@section_5(
    "Theorem 5.1, proof",
    displayed.variance_personalised,
    PersonalRates.variance,
    PersonalRates.mean,
    estimators.personalised,
    *RANDOMISER,
    PersonalRates.reports,
    PersonalRates.split,
    PersonalRates.users,
    otherwise="corrected",
    reading="reconstructed",
    assumption="The displayed lines have pi without its index, brackets that do not close, and a factor n missing from "
    "a constant: all put in.",
    corrected="Var T = n^2 sum_j pi_j s_j (1 - pi_j s_j) / ((sum_j pi_j)^2 (p-q)^2) with s_j = p for holders and q for "
    "others. Where rates and values are unrelated the displayed one is too small by n^2 f(1-f) sum_j pi_j (1 - pi_j) / "
    "(sum_j pi_j)^2.",
)
def theorem_5_1_proof(e: Evidence) -> str:
    """The actual variance of T is n^2 sum_j [pi_j (1-pi_j) (v + r^2) + pi_j^2 v] / ((sum_j pi_j)^2 (p - q)^2), with
    v = f p(1-p) + (1-f) q(1-q) and r = f p + (1-f) q.
    """
    mean, variance = moments(proofs.pooled, proofs.TWO_RATES)
    e.proven(identity(RATES.mean([x, y]), mean))
    e.proven(identity(RATES.variance([x, y]), variance))
    unrelated, scale = [a * f, b * f], (a + b) / (a * u + b * v)
    lost = f * (1 - f) * (a * u * (1 - u) + b * v * (1 - v)) * scale * scale
    shown = displayed.variance_personalised(RATES, unrelated)
    e.proven(identity(RATES.variance(unrelated) - shown, lost))
    e.decides(identity(shown, RATES.variance(unrelated)))
    for population in POPULATIONS:
        held = population.held
        e.same(population.survey.variance(held), population.reports.variance(population.pooled))
        e.same(displayed.variance_personalised(population.survey, held), _displayed(population))
    survey = PersonalRates(np.array([1300, 700]), np.array([0.8, 0.1]), KaryRandomisedResponse(2.0, 4))
    return (
        "1200 of 1300 users of rate .8 and 100 of 700 of rate .1 hold the value, epsilon = 2, k = 4: displayed "
        f"{displayed.variance_personalised(survey, [1200, 100]):.1f}, exact {survey.variance([1200, 100]):.1f} (equal "
        f"to enumeration in {len(POPULATIONS)} populations)"
    )


def _displayed(population: Population) -> Array:
    """Write the displayed variance out user by user, for every value."""
    channel, rates = direct_encoding(population.epsilon, population.domain_size), np.array(population.rates)
    chances = channel[:, list(population.values)]
    noise, mean = (chances * (1 - chances)).mean(axis=1), chances.mean(axis=1)
    total = sum(rate * (1 - rate) * (noise + mean**2) + rate**2 * noise for rate in rates)
    gap = np.expm1(population.epsilon) * channel[0, 1]
    return np.asarray(total * (rates.size / (rates.sum() * gap)) ** 2)


@section_5(
    "Remark 2",
    PersonalRates.rare_variance,
    SampledCounts.rare_variance_rescaled,
    estimators.personalised,
    estimators.rescaled,
    estimators.unadjusted,
    *NOISE,
    over=proofs.FIXED_OR_IID,
    argument=proofs.SUMS,
)
def remark_2(e: Evidence) -> str:
    """With equal rates T is g_DE and has its variance at rare values; with all rates 1 it is c_DE."""
    e.proven(identity(moments(proofs.rescaled, proofs.RARE)[1], proofs.survey().rare_variance_rescaled))
    e.proven(identity(moments(proofs.rescaled, proofs.FIXED)[0], n * f))
    alike = PersonalRates([n], [pi], KARY)
    e.decides(identity(proofs.pooled([x, y], n, n * pi), proofs.rescaled([x, y])))
    e.decides(identity(proofs.pooled([x, y], n, n), proofs.unadjusted([x, y])))
    e.decides(identity(alike.rare_variance, proofs.survey().rare_variance_rescaled))
    for case in FIXED:
        users, absent = len(case.values), case.without_first_value()
        known: dict[str, Any] = {"users": users, "expected_reports": users * case.sampling_rate}
        pooled = estimators.personalised(case.reports.totals, mechanism=case.mechanism, **known)
        e.same(pooled, case.rescaled)
        switch, gap = case.mechanism.q, case.mechanism.truthful_rate
        e.same(case.unadjusted, (case.reports.totals - users * switch) / gap)
        rare = PersonalRates(np.array([users]), np.array([case.sampling_rate]), case.mechanism).rare_variance
        e.same(rare, absent.reports.variance(absent.rescaled)[0])
    return f"equal as formulas, and in every outcome of {len(FIXED)} enumerated populations, one of them with pi = 1"
