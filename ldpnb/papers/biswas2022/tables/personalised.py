"""Personal sampling rates: estimates when rates follow the values, and how to spend a budget of reports."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from ldpnb import checks
from ldpnb.accuracy import hajek, personalised
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.arithmetic import Floats, Ints
from ldpnb.designs.reporters import sampled_tallies
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.notebook import Rows, table
from ldpnb.rng import stream

UNRELATED, FOLLOWING = "rates at random", "rates follow values"
BUDGET = "budget (share of full cost)"


def split_by_rate(counts: Ints, *, seed: int) -> dict[str, Ints]:
    """Put the users into two groups of different rate: by a coin, or by whether their value lies above the median.

    From ``(k,)`` users per value to ``(2, k)`` users by rate and value, per way to split.
    """
    coin = stream("split by rate", seed=seed).binomial(counts, 0.5)
    above = np.cumsum(counts) > counts.sum() / 2
    return {UNRELATED: np.array([counts - coin, coin]), FOLLOWING: np.array([counts * ~above, counts * above])}


def estimates(
    groups: Mapping[str, Ints], rates: Sequence[float], mechanism: KaryRandomisedResponse, *, seed: int
) -> pd.DataFrame:
    """Estimate a histogram once per way to hand out the rates, beside the exact mean and standard deviation.

    `groups` as `split_by_rate` returns them; a row per way, estimator and value.
    """
    parts = []
    checks.entries(2, rates=rates)
    for design, holders in groups.items():
        tallies = sampled_tallies(holders, np.array(rates)[:, None], mechanism, rng=stream("one", design, seed=seed))
        counts = _estimates(tallies, holders, rates, mechanism)
        for name, (mean, deviation) in _moments(holders, rates, mechanism).items():
            rows = {"value": np.arange(holders.shape[1]), "truth": holders.sum(axis=0), "expected": mean}
            rows |= {"standard_deviation": deviation, "estimate": counts[name]}
            parts.append(pd.DataFrame({"design": design, "estimator": name} | rows))
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
    """Yield exact and simulated bias and standard deviation at some values, in users."""
    size = next(iter(groups.values())).shape[1]
    checks.numbers(values=values, low=0, high=size - 1)
    for design, holders in groups.items():
        rng, truth = stream("errors", design, seed=seed), holders.sum(axis=0)
        draws = [sampled_tallies(holders, np.array(rates)[:, None], mechanism, rng=rng) for _ in range(runs)]
        counts = _estimates(np.array(draws), holders, rates, mechanism)
        for (name, (mean, deviation)), v in product(_moments(holders, rates, mechanism).items(), values):
            spread, bias = counts[name][:, v].std(ddof=1), counts[name][:, v].mean() - truth[v]
            row = {"design": design, "estimator": name, "value": v, "bias": mean[v] - truth[v], "simulated bias": bias}
            yield row | {"standard error": spread / np.sqrt(runs), "sd": deviation[v], "simulated sd": spread}


def _estimates(
    tallies: Ints, holders: Ints, rates: Sequence[float], mechanism: KaryRandomisedResponse
) -> dict[str, Floats]:
    users, expected = int(holders.sum()), float(holders.sum(axis=1) @ np.asarray(rates))
    pooled = tallies.sum(axis=-2)
    return {
        "T": estimators.personalised(pooled, users=users, expected_reports=expected, mechanism=mechanism),
        "Horvitz-Thompson": estimators.horvitz_thompson(tallies, rates=rates, mechanism=mechanism),
        "Hájek": estimators.hajek(tallies, users=users, rates=rates, mechanism=mechanism),
    }


def _moments(
    holders: Ints, rates: Sequence[float], mechanism: KaryRandomisedResponse
) -> dict[str, tuple[Floats, Floats]]:
    """Return exact mean and standard deviation at every value, by estimator."""
    survey = PersonalRates(holders.sum(axis=1).astype(float), np.array(rates), mechanism)
    ratios = np.array([(hajek.mean_hajek(survey, h), hajek.variance_hajek(survey, h)) for h in holders.T])
    return {
        "T": (survey.mean(holders), np.sqrt(survey.variance(holders))),
        "Horvitz-Thompson": (holders.sum(axis=0).astype(float), np.sqrt(survey.variance_horvitz_thompson(holders))),
        "Hájek": (ratios[:, 0], np.sqrt(ratios[:, 1])),
    }


@table
def best_rates(
    epsilons: Sequence[float], costs: Sequence[float], users: int, domain_size: int, budget_shares: Sequence[float]
) -> Rows:
    """Yield the optimal rates of equal groups of users who differ in privacy budget and cost of a report.

    `epsilons` and `costs` have an entry per group; the budget of reports is a share of the cost of asking everybody.
    """
    checks.entries(len(epsilons), costs=costs)
    names = [f"ε = {epsilon:g}, cost {cost:g}" for epsilon, cost in zip(epsilons, costs, strict=True)]
    for share in budget_shares:
        rates, _, _ = _allocation(epsilons, costs, users, domain_size, share)
        for name, rate in zip(names, rates, strict=True):
            yield {"group": name, BUDGET: share, "optimal sampling rate": rate}


@table
def savings(
    epsilons: Sequence[float], costs: Sequence[float], users: int, domain_size: int, budget_shares: Sequence[float]
) -> Rows:
    """Yield the variance at a rare value under optimal and under equal rates; arguments as for `best_rates`."""
    for share in budget_shares:
        _, best, flat = _allocation(epsilons, costs, users, domain_size, share)
        yield {"budget share": share, "variance": best, "variance at equal rates": flat, "saved": 1 - best / flat}


def _allocation(
    epsilons: Sequence[float], costs: Sequence[float], users: int, domain_size: int, share: float
) -> tuple[Floats, float, float]:
    """Return the optimal rates, their variance, and the variance at equal rates."""
    noises = [personalised.report_noise(KaryRandomisedResponse(epsilon, domain_size)) for epsilon in epsilons]
    sizes = np.full(len(epsilons), users / len(epsilons))
    budget = share * float(sizes @ np.asarray(costs))
    rates = personalised.optimal_rates(noises=noises, costs=costs, sizes=sizes, budget=budget)
    best, flat = (
        personalised.rare_variance_horvitz_thompson(noises=noises, sizes=sizes, rates=chosen)
        for chosen in (rates, np.full(sizes.size, share))
    )
    return rates, best, flat
