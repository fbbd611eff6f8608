"""Section 5 of biswas2022: a sampling rate per node."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ldpnb.accuracy import personalised as accuracy
from ldpnb.accuracy import sampling as common
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.routes import FIXED, GAP, KEEP, SWITCH, Array, Reports, all_reports


@dataclass(frozen=True, slots=True)
class Population:
    """A few nodes with personal rates; `groups` are the nodes of equal rate, in order of the rate."""

    epsilon: float
    domain_size: int
    values: tuple[int, ...]
    rates: tuple[float, ...]

    @property
    def mechanism(self) -> KaryRandomisedResponse:
        """The randomiser."""
        return KaryRandomisedResponse(self.epsilon, self.domain_size)

    @property
    def levels(self) -> list[float]:
        """The distinct rates."""
        return sorted(set(self.rates))

    @property
    def groups(self) -> tuple[int, ...]:
        """Each node's group."""
        return tuple(self.levels.index(rate) for rate in self.rates)

    @property
    def sizes(self) -> list[int]:
        """Nodes of each group."""
        return [self.groups.count(group) for group in range(len(self.levels))]

    def holders(self, value: int) -> list[int]:
        """Nodes of each group that hold a value."""
        return [
            sum(g == group and v == value for g, v in zip(self.groups, self.values, strict=True))
            for group in range(len(self.levels))
        ]

    @property
    def counts(self) -> Array:
        """Nodes that hold each value."""
        return np.bincount(self.values, minlength=self.domain_size).astype(float)

    def reports(self, *, iid: bool = False) -> Reports:
        """Enumerate all outcomes."""
        return all_reports(self.values, self.rates, self.epsilon, self.domain_size, iid)

    def pooled(self, reports: Reports) -> Array:
        """Return T for every outcome."""
        return estimators.personalised(
            reports.totals, nodes=len(self.values), expected_reports=sum(self.rates), mechanism=self.mechanism
        )


POPULATIONS = (
    Population(1.0, 3, (0, 0, 1, 2, 1), (0.8, 0.8, 0.2, 0.2, 0.5)),
    Population(0.3, 2, (0, 0, 0, 1, 1, 1), (0.1, 0.1, 0.9, 0.9, 0.9, 0.1)),
    Population(3.0, 3, (1, 1, 2, 2), (0.3, 1.0, 0.3, 1.0)),
)


@claim(
    "biswas2022",
    "Theorem 5.1, unbiasedness",
    says="The estimator T is unbiased for any personal sampling rates.",
    rests_on=(
        "accuracy.personalised.mean_personalised",
        "estimators.sampling.personalised",
        "estimators.sampling.horvitz_thompson",
        SWITCH,
        GAP,
    ),
)
def theorem_5_1_mean() -> Verdict:
    """Average T over every outcome, for rates that follow the values, for exchanged rates, and for iid values."""
    exact, enumerated, weighted, iid, exchanged = [], [], [], [], []
    for population in POPULATIONS:
        reports, values = population.reports(), range(population.domain_size)
        enumerated.append(reports.mean(population.pooled(reports)))
        exact.append(
            [
                accuracy.mean_personalised(population.holders(v), sizes=population.sizes, rates=population.levels)
                for v in values
            ]
        )
        by_rate = reports.by_group(population.groups)
        estimates = estimators.horvitz_thompson(by_rate, rates=population.levels, mechanism=population.mechanism)
        weighted.append(reports.mean(estimates))
        drawn = population.reports(iid=True)
        iid.append(drawn.mean(population.pooled(drawn)))
        exchanged.append(_mean_over_exchanged_rates(population))
    counts = [population.counts for population in POPULATIONS]
    sound = all(agree(*pair) for pair in zip(exact, enumerated, strict=True))
    sound &= all(agree(*pair) for means in (weighted, iid, exchanged) for pair in zip(means, counts, strict=True))
    mean = accuracy.mean_personalised([1251, 0], sizes=[1251, 749], rates=[0.75, (0.5634 * 2000 - 0.75 * 1251) / 749])
    return Verdict(
        judge(all(agree(*pair) for pair in zip(enumerated, counts, strict=True)), sound=sound),
        f"five nodes, two hold the value and report with .8, the others with .2 or .5: E T = {enumerated[0][0]:.2f} instead of 2 (enumerated); "
        f"n = 2000, 1251 holders with mean rate .75 beside .5634 overall: E T = {mean:.2f}; unbiased for iid values and on average over "
        "exchanged rates",
        "enumeration",
        corrected="E T(i) = n sum_{j holds i} pi_j / sum_j pi_j, for every epsilon: the bias is n f_i (mean rate of the holders / mean rate - 1). "
        "T is unbiased when rates and values are unrelated; sum_j B_j (1{X_j = i} - q) / (pi_j (p-q)) (Horvitz-Thompson) is so always.",
    )


def _mean_over_exchanged_rates(population: Population) -> Array:
    """Average the mean of T over all ways to hand out the rates, from the nodes' chances alone."""
    epsilon, size = population.epsilon, population.domain_size
    weights = np.exp(epsilon * np.eye(size))
    chances = (weights / weights.sum(axis=0))[:, list(population.values)].T
    rates = np.array(list(permutations(population.rates)))
    tallies = rates @ chances
    estimates = estimators.personalised(
        tallies, nodes=len(population.values), expected_reports=sum(population.rates), mechanism=population.mechanism
    )
    return np.asarray(estimates.mean(axis=0))


@claim(
    "biswas2022",
    "Theorem 5.1, Var*",
    says="At a value nobody holds the variance of T is n^2 sum_j q pi_j (1 - q pi_j) / ((sum_j pi_j)^2 (p - q)^2).",
    rests_on=(
        "accuracy.personalised.rare_variance_personalised",
        "accuracy.personalised.mean_personalised",
        "estimators.sampling.personalised",
        SWITCH,
        GAP,
    ),
)
def theorem_5_1_rare_variance() -> Verdict:
    """Enumerate the variance at a value that no node holds."""
    stated, enumerated, centred = [], [], True
    for population in POPULATIONS:
        absent = Population(population.epsilon, population.domain_size + 1, population.values, population.rates)
        reports = absent.reports()
        estimates = absent.pooled(reports)
        stated.append(
            accuracy.rare_variance_personalised(sizes=absent.sizes, rates=absent.levels, mechanism=absent.mechanism)
        )
        enumerated.append(reports.variance(estimates)[-1])
        exact = [
            accuracy.mean_personalised(absent.holders(v), sizes=absent.sizes, rates=absent.levels)
            for v in range(absent.domain_size)
        ]
        centred &= agree(reports.mean(estimates), exact)
    return Verdict(
        judge(agree(stated, enumerated), sound=centred),
        f"equal to the enumerated variance in {len(stated)} populations of up to 6 nodes with two or three rates; the first: {stated[0]:.6f}",
        "enumeration",
    )


@claim(
    "biswas2022",
    "Theorem 5.1, proof",
    says="The actual variance of T is n^2 sum_j [pi_j (1-pi_j) (v + r^2) + pi_j^2 v] / ((sum_j pi_j)^2 (p - q)^2), with v = f p(1-p) + (1-f) q(1-q) "
    "and r = f p + (1-f) q.",
    rests_on=(
        "accuracy.personalised.published_variance_personalised",
        "accuracy.personalised.variance_personalised",
        "accuracy.personalised.mean_personalised",
        "estimators.sampling.personalised",
        KEEP,
        SWITCH,
        GAP,
    ),
)
def theorem_5_1_proof() -> Verdict:
    """Enumerate the variance of T, and of nodes that are all average ones, which is what the displayed lines add up."""
    sound, holds = True, True
    for population in POPULATIONS:
        reports = population.reports()
        estimates = population.pooled(reports)
        for v in range(population.domain_size):
            exact, displayed = _both_variances(
                population.holders(v), population.sizes, population.levels, population.mechanism
            )
            mean = accuracy.mean_personalised(population.holders(v), sizes=population.sizes, rates=population.levels)
            sound &= agree(exact, reports.variance(estimates)[v]) and agree(displayed, _displayed(population, v))
            sound &= agree(reports.mean(estimates)[v], mean)
            holds &= agree(displayed, exact)
    exact, displayed = _both_variances([1200, 100], [1300, 700], [0.8, 0.1], KaryRandomisedResponse(2.0, 4))
    return Verdict(
        judge(holds, sound=sound, otherwise="corrected"),
        f"1200 of 1300 nodes of rate .8 and 100 of 700 of rate .1 hold the value, epsilon = 2, k = 4: displayed {displayed:.1f}, exact "
        f"{exact:.1f} (equal to enumeration in {len(POPULATIONS)} populations)",
        "enumeration",
        corrected="Var T = n^2 sum_j pi_j s_j (1 - pi_j s_j) / ((sum_j pi_j)^2 (p-q)^2) with s_j = p for holders and q for others; the displayed "
        "lines also lose an n in a constant and the index of pi_j.",
    )


def _both_variances(
    holders: list[int], sizes: list[int], rates: list[float], mechanism: KaryRandomisedResponse
) -> tuple[float, float]:
    """Return the exact and the displayed variance of T."""
    exact = accuracy.variance_personalised(holders, sizes=sizes, rates=rates, mechanism=mechanism)
    displayed = accuracy.published_variance_personalised(holders, sizes=sizes, rates=rates, mechanism=mechanism)
    return exact, displayed


def _displayed(population: Population, value: int) -> float:
    """Write the displayed variance out node by node."""
    weights = np.exp(population.epsilon * np.eye(population.domain_size))
    chance = (weights / weights.sum(axis=0))[value, list(population.values)]
    noise, mean = np.mean(chance * (1 - chance)), np.mean(chance)
    total = sum(rate * (1 - rate) * (noise + mean**2) + rate**2 * noise for rate in population.rates)
    gap = np.expm1(population.epsilon) / weights[:, 0].sum()
    return float(total * (len(population.values) / (sum(population.rates) * gap)) ** 2)


@claim(
    "biswas2022",
    "Remark 2",
    says="With equal rates T is g_DE and has its variance at rare values; with all rates 1 it is c_DE.",
    rests_on=(
        "accuracy.personalised.rare_variance_personalised",
        "accuracy.sampling.rare_variance_rescaled",
        "estimators.sampling.personalised",
        "estimators.sampling.rescaled",
        "estimators.sampling.unadjusted",
        SWITCH,
        GAP,
    ),
)
def remark_2() -> Verdict:
    """Compare estimates outcome by outcome, and variances with enumeration."""
    same, sound = True, True
    for case in FIXED:
        n, totals = len(case.values), case.reports.totals
        pooled = estimators.personalised(
            totals, nodes=n, expected_reports=n * case.sampling_rate, mechanism=case.mechanism
        )
        same &= agree(pooled, estimators.rescaled(totals, **case.setting))
        if case.sampling_rate == 1:
            same &= agree(pooled, estimators.unadjusted(totals, nodes=n, mechanism=case.mechanism))
        sound &= agree(case.reports.mean(pooled), case.holders)
        rare = accuracy.rare_variance_personalised(sizes=[n], rates=[case.sampling_rate], mechanism=case.mechanism)
        same &= agree(rare, common.rare_variance_rescaled(**case.setting))
        absent = all_reports((1,) * n, (case.sampling_rate,) * n, case.epsilon, case.domain_size)
        sound &= agree(rare, absent.variance(estimators.rescaled(absent.totals, **case.setting))[0])
    return Verdict(
        judge(same, sound=sound),
        f"equal in every outcome of {len(FIXED)} enumerated populations, one of them with pi = 1, and so are the variances",
        "enumeration",
    )
