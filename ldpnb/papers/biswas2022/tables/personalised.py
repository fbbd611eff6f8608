"""Personal sampling rates: estimates if they follow the values, the repair, and the best rates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.notebook import Rows, table
from ldpnb.papers.biswas2022.formulas import hajek, personalised
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates
from ldpnb.papers.biswas2022.formulas.reporters import poisson, sampled_tallies
from ldpnb.rng import stream

UNRELATED = "rates at random"
FOLLOWING = "rates follow values"
RATES = MappingProxyType({UNRELATED: "at random", FOLLOWING: "by value"})
"""How a panel names the ways to hand out the rates."""
BUDGET = "budget (share of full cost)"


# Two groups of different rate


def split_by_rate(counts: Ints, *, seed: int) -> dict[str, Ints]:
    """Put users into two groups of different rate, in two ways.

    A coin decides, or whether their value lies above the median. The counts are users per value, of
    shape (k,). For each way, users by rate and value are returned, of shape (2, k).
    """
    coin = stream("split by rate", seed=seed).binomial(counts, 0.5)
    above = np.cumsum(counts) > counts.sum() / 2
    return {
        UNRELATED: np.array([counts - coin, coin]),
        FOLLOWING: np.array([counts * ~above, counts * above]),
    }


def estimates(
    groups: Mapping[str, Ints],
    rates: Sequence[float],
    mechanism: KaryRandomisedResponse,
    *,
    seed: int,
) -> pd.DataFrame:
    """Estimate a histogram, with the exact mean and standard deviation of the estimates.

    There is a row for each way to split the users, which `split_by_rate` returns, each estimator
    and each value. The two rates are those of the two groups.
    """
    checks.entries(rates, "rates", 2)
    parts = []
    for design, holders in groups.items():
        rng = stream("one", design, seed=seed)
        tallies = sampled_tallies(holders, np.array(rates)[:, None], mechanism, rng=rng)

        for name, found in _estimates(tallies, holders, rates, mechanism).items():
            columns = {
                "design": design,
                "rates": RATES[design],
                "estimator": name,
                "value": np.arange(holders.shape[1]),
                "truth": holders.sum(axis=0),
                "expected": found.mean,
                "standard_deviation": found.deviation,
                "estimate": found.estimate,
            }
            parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


@table
def errors(
    groups: Mapping[str, Ints],
    rates: Sequence[float],
    mechanism: KaryRandomisedResponse,
    values: Sequence[int],
    runs: int,
    *,
    seed: int,
) -> Rows:
    """Tabulate exact and simulated bias and standard deviation at some values, in users."""
    size = next(iter(groups.values())).shape[1]
    checks.numbers(values, "values", low=0, high=size - 1)

    for design, holders in groups.items():
        rng = stream("errors", design, seed=seed)
        draws = []
        for _ in range(runs):
            draws.append(sampled_tallies(holders, np.array(rates)[:, None], mechanism, rng=rng))

        truth = holders.sum(axis=0)
        estimated = _estimates(np.array(draws), holders, rates, mechanism)

        for (name, found), value in product(estimated.items(), values):
            counts = found.estimate[:, value]
            deviation = counts.std(ddof=1)

            yield {
                "design": design,
                "estimator": name,
                "value": value,
                "bias": found.mean[value] - truth[value],
                "simulated bias": counts.mean() - truth[value],
                "standard error": deviation / np.sqrt(runs),
                "sd": found.deviation[value],
                "simulated sd": deviation,
            }


@dataclass(frozen=True, slots=True)
class _Estimate:
    """An estimate of shape (..., k), and its exact mean and standard deviation, (k,) each."""

    estimate: Floats
    mean: Floats
    deviation: Floats


def _estimates(
    tallies: Ints, holders: Ints, rates: Sequence[float], mechanism: KaryRandomisedResponse
) -> dict[str, _Estimate]:
    """Estimate from tallies of shape (..., 2, k), by estimator."""
    survey = PersonalRates(holders.sum(axis=1), rates, mechanism)
    truth = holders.sum(axis=0).astype(float)
    users = int(truth.sum())

    pooled = estimators.personalised(
        tallies.sum(axis=-2),
        users=users,
        expected_reports=survey.reports,
        mechanism=mechanism,
    )
    weighted = estimators.horvitz_thompson(tallies, rates=rates, mechanism=mechanism)
    ratio = estimators.hajek(tallies, users=users, rates=rates, mechanism=mechanism)

    ratio_mean = np.array([hajek.mean_hajek(survey, column) for column in holders.T])
    ratio_variance = np.array([hajek.variance_hajek(survey, column) for column in holders.T])
    weighted_variance = survey.variance_horvitz_thompson(holders)

    return {
        "T": _Estimate(pooled, survey.mean(holders), np.sqrt(survey.variance(holders))),
        "Horvitz-Thompson": _Estimate(weighted, truth, np.sqrt(weighted_variance)),
        "Hájek": _Estimate(ratio, ratio_mean, np.sqrt(ratio_variance)),
    }


# Rates that are inverse to frequencies


def zipf_shares(domain_size: int) -> Floats:
    """Return shares proportional to ``1 / (i + 1)``."""
    weights = 1 / np.arange(1, domain_size + 1)
    return np.asarray(weights / weights.sum())


def inverse_rates(shares: Floats, highest: float) -> Floats:
    """Return rates inversely proportional to shares, with the rarest value at `highest`."""
    return np.asarray(highest * shares.min() / shares)


def inverse_frequency(
    shares: Floats, users: int, highest: float, mechanism: KaryRandomisedResponse, *, seed: int
) -> pd.DataFrame:
    """Estimate a histogram if rates are inverse to frequencies.

    First, the rates are inverse to the frequencies of the users' values, and the estimator is
    ``T``. Then, which is the repair, they are inverse to the frequencies of the noisy reports.
    There is a row for each estimator and value.

    Parameters
    ----------
    shares : ndarray, shape (k,)
        Share of the users who hold each value; ``users * shares``, rounded, hold it.
    users : int
        Number of users, before rounding.
    highest : float
        Rate of the rarest value, and of the rarest report.
    mechanism : KaryRandomisedResponse
        The mechanism that makes the reports.
    seed : int
        Seed of the random streams.
    """
    counts = np.round(users * shares).astype(np.int64)
    total = int(counts.sum())

    rates = inverse_rates(shares, highest)
    tallies = sampled_tallies(counts, rates, mechanism, rng=stream("by value", seed=seed))
    cost = counts @ rates
    pooled = estimators.personalised(
        tallies, users=total, expected_reports=float(cost), mechanism=mechanism
    )
    survey = PersonalRates(counts.astype(float), rates, mechanism)
    holders = np.diag(counts)

    rng = stream("by report", seed=seed)
    reports = mechanism.channel() @ shares
    report_rates = inverse_rates(reports, highest)
    sent = poisson(mechanism.sample_tallies(counts, rng=rng), report_rates, rng=rng)
    repaired = estimators.reweighted_reports(
        sent, users=total, report_rates=report_rates, mechanism=mechanism
    )
    repaired_variance = personalised.variance_reweighted_reports(
        counts, users=total, report_rates=report_rates, mechanism=mechanism
    )

    shared = {
        "budget": f"ε = {mechanism.epsilon:g}",
        "value": np.arange(shares.size),
        "truth": counts,
    }
    by_value = shared | {
        "estimator": "T, rates follow the value",
        "expected reports": cost,
        "expected": survey.mean(holders),
        "estimate": pooled,
        "standard_deviation": np.sqrt(survey.variance(holders)),
    }
    by_report = shared | {
        "estimator": "repair, rates follow the report",
        "expected reports": total * (reports @ report_rates),
        "expected": counts,
        "estimate": repaired,
        "standard_deviation": np.sqrt(repaired_variance),
    }
    return pd.concat([pd.DataFrame(by_value), pd.DataFrame(by_report)], ignore_index=True)


# The best rates


@table
def best_rates(
    epsilons: Sequence[float],
    costs: Sequence[float],
    users: int,
    domain_size: int,
    budget_shares: Sequence[float],
) -> Rows:
    """Tabulate optimal sampling rates of groups that differ in privacy budget and cost.

    Parameters
    ----------
    epsilons, costs : sequence of float
        Privacy budget in nats, and cost of a report, by group.
    users : int
        Number of users, in groups of equal size.
    domain_size : int
        Number of values.
    budget_shares : sequence of float
        Budgets for reports, as shares of the cost of asking all users.
    """
    checks.entries(costs, "costs", len(epsilons))
    names = []
    for epsilon, cost in zip(epsilons, costs, strict=True):
        names.append(f"ε = {epsilon:g}, cost {cost:g}")

    groups = _groups(epsilons, users, domain_size)

    for share in budget_shares:
        budget = share * (groups["sizes"] @ costs)
        rates = personalised.optimal_rates(costs=costs, budget=budget, **groups)
        for name, rate in zip(names, rates, strict=True):
            yield {"group": name, BUDGET: share, "optimal sampling rate": rate}


@table
def savings(
    epsilons: Sequence[float],
    costs: Sequence[float],
    users: int,
    domain_size: int,
    budget_shares: Sequence[float],
) -> Rows:
    """Tabulate the variance at a rare value under optimal and under equal rates.

    The arguments are those of `best_rates`.
    """
    groups = _groups(epsilons, users, domain_size)

    for share in budget_shares:
        budget = share * (groups["sizes"] @ costs)
        best_rates = personalised.optimal_rates(costs=costs, budget=budget, **groups)
        equal_rates = np.full(best_rates.size, share)
        best = personalised.rare_variance_horvitz_thompson(rates=best_rates, **groups)
        equal = personalised.rare_variance_horvitz_thompson(rates=equal_rates, **groups)

        yield {
            "budget share": share,
            "variance": best,
            "variance at equal rates": equal,
            "saved": 1 - best / equal,
        }


def _groups(epsilons: Sequence[float], users: int, domain_size: int) -> dict[str, Any]:
    """Return noises and sizes of the groups, as arguments of `personalised.optimal_rates`."""
    noises = []
    for epsilon in epsilons:
        noises.append(personalised.report_noise(KaryRandomisedResponse(epsilon, domain_size)))
    return {"noises": noises, "sizes": np.full(len(epsilons), users / len(epsilons))}
