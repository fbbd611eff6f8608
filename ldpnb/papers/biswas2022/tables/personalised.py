"""Personal sampling rates: estimates when they follow the values, the repair, and how to spend a budget of reports."""

from collections.abc import Mapping, Sequence
from itertools import product
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

UNRELATED, FOLLOWING = "rates at random", "rates follow values"
BUDGET = "budget (share of full cost)"


def split_by_rate(counts: Ints, *, seed: int) -> dict[str, Ints]:
    """Put the users into two groups of different rate: by a coin, or by whether their value lies above the median.

    From ``(k,)`` users per value to ``(2, k)`` users by rate and value, per way to split.
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
    """Estimate a histogram once per way to hand out the rates, beside the exact mean and standard deviation.

    `groups` as `split_by_rate` returns them; a row per way, estimator and value.
    """
    parts = []
    checks.entries(rates, "rates", 2)
    for design, holders in groups.items():
        tallies = sampled_tallies(
            holders, np.array(rates)[:, None], mechanism, rng=stream("one", design, seed=seed)
        )
        for name, (estimate, mean, deviation) in _estimates(
            tallies, holders, rates, mechanism
        ).items():
            rows = {
                "value": np.arange(holders.shape[1]),
                "truth": holders.sum(axis=0),
                "expected": mean,
            }
            rows |= {"standard_deviation": deviation, "estimate": estimate}
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
    checks.numbers(values, "values", low=0, high=size - 1)
    for design, holders in groups.items():
        rng, truth = stream("errors", design, seed=seed), holders.sum(axis=0)
        draws = [
            sampled_tallies(holders, np.array(rates)[:, None], mechanism, rng=rng)
            for _ in range(runs)
        ]
        estimated = _estimates(np.array(draws), holders, rates, mechanism)
        for (name, (counts, mean, deviation)), v in product(estimated.items(), values):
            spread, bias = counts[:, v].std(ddof=1), counts[:, v].mean() - truth[v]
            row = {
                "design": design,
                "estimator": name,
                "value": v,
                "bias": mean[v] - truth[v],
                "simulated bias": bias,
            }
            yield row | {
                "standard error": spread / np.sqrt(runs),
                "sd": deviation[v],
                "simulated sd": spread,
            }


def _estimates(
    tallies: Ints, holders: Ints, rates: Sequence[float], mechanism: KaryRandomisedResponse
) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Return estimates from tallies, ``(..., 2, k)``, their exact means and standard deviations, by estimator."""
    survey, truth = (
        PersonalRates(holders.sum(axis=1), rates, mechanism),
        holders.sum(axis=0).astype(float),
    )
    known: dict[str, Any] = {"users": int(truth.sum()), "mechanism": mechanism}
    pooled = estimators.personalised(tallies.sum(axis=-2), expected_reports=survey.reports, **known)
    weighted = estimators.horvitz_thompson(tallies, rates=rates, mechanism=mechanism)
    ratio = estimators.hajek(tallies, rates=rates, **known)
    of_ratio = np.array(
        [(hajek.mean_hajek(survey, h), hajek.variance_hajek(survey, h)) for h in holders.T]
    )
    return {
        "T": (pooled, survey.mean(holders), np.sqrt(survey.variance(holders))),
        "Horvitz-Thompson": (weighted, truth, np.sqrt(survey.variance_horvitz_thompson(holders))),
        "Hájek": (ratio, of_ratio[:, 0], np.sqrt(of_ratio[:, 1])),
    }


def zipf_shares(domain_size: int) -> Floats:
    """Return shares proportional to ``1 / (i + 1)``."""
    weights = 1 / np.arange(1, domain_size + 1)
    return np.asarray(weights / weights.sum())


def inverse_rates(shares: Floats, highest: float) -> Floats:
    """Return rates inversely proportional to shares, the rarest value at `highest`."""
    return np.asarray(highest * shares.min() / shares)


def inverse_frequency(
    shares: Floats, users: int, highest: float, mechanism: KaryRandomisedResponse, *, seed: int
) -> pd.DataFrame:
    """Estimate a histogram when rates are inverse to the frequencies of values (by T), and of noisy reports (repaired).

    The data have ``users * shares`` holders, rounded; `highest` is the rate of the rarest value and of the rarest
    report. A row per estimator and value.
    """
    counts = np.round(users * shares).astype(np.int64)
    total, rates = int(counts.sum()), inverse_rates(shares, highest)
    tallies = sampled_tallies(counts, rates, mechanism, rng=stream("by value", seed=seed))
    pooled = estimators.personalised(
        tallies, users=total, expected_reports=float(counts @ rates), mechanism=mechanism
    )
    survey, holders = PersonalRates(counts.astype(float), rates, mechanism), np.diag(counts)
    reports = mechanism.channel() @ shares
    by_report, rng = inverse_rates(reports, highest), stream("by report", seed=seed)
    sent = poisson(mechanism.sample_tallies(counts, rng=rng), by_report, rng=rng)
    known: dict[str, Any] = {"users": total, "report_rates": by_report, "mechanism": mechanism}
    repaired = estimators.reweighted_reports(sent, **known)
    spread = personalised.variance_reweighted_reports(counts, **known)
    parts = []
    for estimator, cost, mean, estimate, variance in (
        (
            "T, sampled by value",
            counts @ rates,
            survey.mean(holders),
            pooled,
            survey.variance(holders),
        ),
        ("sampled by report", total * (reports @ by_report), counts, repaired, spread),
    ):
        shared = {
            "budget": f"ε = {mechanism.epsilon:g}",
            "value": np.arange(shares.size),
            "truth": counts,
        }
        moments = {
            "estimator": estimator,
            "expected reports": cost,
            "expected": mean,
            "estimate": estimate,
        }
        parts.append(pd.DataFrame(shared | moments | {"standard_deviation": np.sqrt(variance)}))
    return pd.concat(parts, ignore_index=True)


@table
def best_rates(
    epsilons: Sequence[float],
    costs: Sequence[float],
    users: int,
    domain_size: int,
    budget_shares: Sequence[float],
) -> Rows:
    """Yield the optimal rates of equal groups of users who differ in privacy budget and cost of a report.

    `epsilons` and `costs` have an entry per group; the budget of reports is a share of the cost of asking everybody.
    """
    checks.entries(costs, "costs", len(epsilons))
    names = [
        f"ε = {epsilon:g}, cost {cost:g}" for epsilon, cost in zip(epsilons, costs, strict=True)
    ]
    groups = _groups(epsilons, users, domain_size)
    for share in budget_shares:
        rates = personalised.optimal_rates(
            costs=costs, budget=share * (groups["sizes"] @ costs), **groups
        )
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
    """Yield the variance at a rare value under optimal and under equal rates; arguments as for `best_rates`."""
    groups = _groups(epsilons, users, domain_size)
    for share in budget_shares:
        rates = personalised.optimal_rates(
            costs=costs, budget=share * (groups["sizes"] @ costs), **groups
        )
        best = personalised.rare_variance_horvitz_thompson(rates=rates, **groups)
        flat = personalised.rare_variance_horvitz_thompson(
            rates=np.full(rates.size, share), **groups
        )
        yield {
            "budget share": share,
            "variance": best,
            "variance at equal rates": flat,
            "saved": 1 - best / flat,
        }


def _groups(epsilons: Sequence[float], users: int, domain_size: int) -> dict[str, Any]:
    noises = [
        personalised.report_noise(KaryRandomisedResponse(epsilon, domain_size))
        for epsilon in epsilons
    ]
    return {"noises": noises, "sizes": np.full(len(epsilons), users / len(epsilons))}
