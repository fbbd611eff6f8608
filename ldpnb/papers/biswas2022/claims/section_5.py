"""Section 5 of biswas2022: a sampling rate per user."""

from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import Evidence, agree, claim
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import displayed
from ldpnb.papers.biswas2022.routes import (
    FIXED,
    NOISE,
    RANDOMISER,
    Array,
    Reports,
    all_reports,
    direct_encoding,
    keep_and_switch,
)

section_5 = partial(claim, kind="enumeration")


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
    def counts(self) -> Array:
        """Users who hold each value."""
        return self.held.sum(axis=0)

    @property
    def survey(self) -> PersonalRates:
        """The closed forms."""
        return PersonalRates(self.held.sum(axis=1), np.array(sorted(set(self.rates))), self.mechanism)

    def reports(self, *, iid: bool = False) -> Reports:
        """Enumerate all outcomes."""
        return all_reports(self.values, self.rates, self.epsilon, self.domain_size, iid)

    def pooled(self, tallies: Array) -> Array:
        """Return T for tallies over all users."""
        known: dict[str, Any] = {"expected_reports": sum(self.rates), "mechanism": self.mechanism}
        return estimators.personalised(tallies, users=len(self.values), **known)

    def mean_over_exchanged_rates(self) -> Array:
        """Average the mean of T over all ways to hand out the rates, from the users' chances alone."""
        chances = direct_encoding(self.epsilon, self.domain_size)[:, list(self.values)].T
        tallies = np.array(list(permutations(self.rates))) @ chances
        return np.asarray(self.pooled(tallies).mean(axis=0))


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
    corrected="E T(i) = n sum_{j holds i} pi_j / sum_j pi_j, for every epsilon: the bias is n f_i (mean rate of the "
    "holders / mean rate - 1). T is unbiased when rates and values are unrelated; sum_j B_j (1{X_j = i} - q) / (pi_j "
    "(p-q)) (Horvitz-Thompson) is so always.",
)
def theorem_5_1_mean(e: Evidence) -> str:
    """The estimator T is unbiased for any personal sampling rates."""
    for population in POPULATIONS:
        reports, drawn, counts = population.reports(), population.reports(iid=True), population.counts
        mean = reports.mean(population.pooled(reports.totals))
        e.same(population.survey.mean(population.held), mean)
        known: dict[str, Any] = {"rates": population.survey.rates, "mechanism": population.mechanism}
        e.same(reports.mean(estimators.horvitz_thompson(reports.by_group(population.groups), **known)), counts)
        e.same(drawn.mean(population.pooled(drawn.totals)), counts)
        e.same(population.mean_over_exchanged_rates(), counts)
        e.needs(agree(mean, counts))
    first = POPULATIONS[0].survey.mean(POPULATIONS[0].held)[0]
    rates = np.array([0.75, (0.5634 * 2000 - 0.75 * 1251) / 749])
    larger = PersonalRates(np.array([1251, 749]), rates, KaryRandomisedResponse(1.0, 2)).mean([1251, 0])
    return (
        f"five nodes, two hold the value and report with .8, the others with .2 or .5: E T = {first:.2f} instead of 2 "
        f"(enumerated); n = 2000, 1251 holders with mean rate .75 beside .5634 overall: E T = {larger:.2f}; unbiased "
        "for iid values and on average over exchanged rates"
    )


@section_5("Theorem 5.1, Var*", PersonalRates.rare_variance, PersonalRates.mean, estimators.personalised, *NOISE)
def theorem_5_1_rare_variance(e: Evidence) -> str:
    """At a value nobody holds the variance of T is n^2 sum_j q pi_j (1 - q pi_j) / ((sum_j pi_j)^2 (p - q)^2)."""
    stated = []
    for population in POPULATIONS:
        absent = Population(population.epsilon, population.domain_size + 1, population.values, population.rates)
        reports, rates = absent.reports(), np.array(absent.rates)
        estimates = absent.pooled(reports.totals)
        e.same(reports.mean(estimates), absent.survey.mean(absent.held))
        p, q = keep_and_switch(absent.epsilon, absent.domain_size)
        stated.append(absent.survey.rare_variance)
        e.same(stated[-1], (q * rates * (1 - q * rates)).sum() * (rates.size / (rates.sum() * (p - q))) ** 2)
        e.needs(agree(stated[-1], reports.variance(estimates)[-1]))
    return (
        f"equal to the enumerated variance in {len(stated)} populations of up to 6 nodes with two or three rates; the "
        f"first: {stated[0]:.6f}"
    )


@section_5(
    "Theorem 5.1, proof",
    displayed.variance_personalised,
    PersonalRates.variance,
    PersonalRates.mean,
    estimators.personalised,
    *RANDOMISER,
    otherwise="corrected",
    corrected="Var T = n^2 sum_j pi_j s_j (1 - pi_j s_j) / ((sum_j pi_j)^2 (p-q)^2) with s_j = p for holders and q for "
    "others; the displayed lines also lose an n in a constant and the index of pi_j.",
)
def theorem_5_1_proof(e: Evidence) -> str:
    """The actual variance of T is n^2 sum_j [pi_j (1-pi_j) (v + r^2) + pi_j^2 v] / ((sum_j pi_j)^2 (p - q)^2), with
    v = f p(1-p) + (1-f) q(1-q) and r = f p + (1-f) q.
    """
    for population in POPULATIONS:
        reports, survey, held = population.reports(), population.survey, population.held
        estimates, shown = population.pooled(reports.totals), displayed.variance_personalised(survey, held)
        e.same(survey.variance(held), reports.variance(estimates))
        e.same(shown, _displayed(population))
        e.same(reports.mean(estimates), survey.mean(held))
        e.needs(agree(shown, survey.variance(held)))
    survey = PersonalRates(np.array([1300, 700]), np.array([0.8, 0.1]), KaryRandomisedResponse(2.0, 4))
    return (
        "1200 of 1300 nodes of rate .8 and 100 of 700 of rate .1 hold the value, epsilon = 2, k = 4: displayed "
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
)
def remark_2(e: Evidence) -> str:
    """With equal rates T is g_DE and has its variance at rare values; with all rates 1 it is c_DE."""
    for case in FIXED:
        n, rate, absent = len(case.values), case.sampling_rate, case.without_first_value()
        known: dict[str, Any] = {"users": n, "expected_reports": n * rate, "mechanism": case.mechanism}
        pooled = estimators.personalised(case.reports.totals, **known)
        e.same(case.reports.mean(pooled), case.holders)
        e.same(case.reports.mean(case.rescaled), case.holders)
        e.needs(agree(pooled, case.rescaled))
        if rate == 1:
            e.same(case.reports.mean(case.unadjusted), case.holders)
            e.needs(agree(pooled, case.unadjusted))
        rare = PersonalRates(np.array([n]), np.array([rate]), case.mechanism).rare_variance
        enumerated = absent.reports.variance(absent.rescaled)[0]
        e.same([rare, case.survey.rare_variance_rescaled], [enumerated, enumerated])
        e.needs(agree(rare, case.survey.rare_variance_rescaled))
    return (
        f"equal in every outcome of {len(FIXED)} enumerated populations, one of them with pi = 1, and so are the "
        "variances"
    )
