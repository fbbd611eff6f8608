"""Experiments on personal sampling rates: estimates when rates follow the values, and how to spend a budget of reports."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import hajek
from ldpnb.accuracy import personalised as accuracy
from ldpnb.accuracy.sampling import rare_variance_realised_size
from ldpnb.designs.reporters import sampled_tallies
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.rng import stream

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

UNRELATED, FOLLOWING = "rates at random", "rates follow values"
ESTIMATORS = ("T", "Horvitz-Thompson", "Hájek")


def split_by_rate(counts: Counts, *, seed: int) -> dict[str, Counts]:
    """Put the nodes into two groups of different rate: by a coin, or by whether their value lies above the median.

    Parameters
    ----------
    counts : (k,) int
        Nodes that hold each value.
    seed : int

    Returns
    -------
    dict of str to (2, k) int
    """
    coin = stream("split by rate", seed=seed).binomial(counts, 0.5)
    above = np.cumsum(counts) > counts.sum() / 2
    return {UNRELATED: np.array([counts - coin, coin]), FOLLOWING: np.array([counts * ~above, counts * above])}


def estimates(
    groups: Mapping[str, Counts], rates: Sequence[float], mechanism: KaryRandomisedResponse, *, seed: int
) -> pd.DataFrame:
    """Estimate a histogram once per way to hand out the rates, beside the exact mean and standard deviation.

    Parameters
    ----------
    groups : mapping of str to (g, k) int
        Nodes by rate and value.
    rates : (g,) float
    mechanism : KaryRandomisedResponse
    seed : int

    Returns
    -------
    DataFrame
        Columns ``design, estimator, value, truth, expected, standard_deviation, estimate``.
    """
    parts = []
    for design, held in groups.items():
        tallies = sampled_tallies(held, np.array(rates)[:, None], mechanism, rng=stream("one", design, seed=seed))
        found = _estimates(tallies, held, rates, mechanism)
        for name, (mean, deviation) in _moments(held, rates, mechanism).items():
            rows = {"expected": mean, "standard_deviation": deviation, "estimate": found[name]}
            shared = {"design": design, "estimator": name, "value": np.arange(held.shape[1]), "truth": held.sum(axis=0)}
            parts.append(pd.DataFrame(shared | rows))
    return pd.concat(parts, ignore_index=True)


def errors(
    groups: Mapping[str, Counts],
    rates: Sequence[float],
    mechanism: KaryRandomisedResponse,
    values: Sequence[int],
    runs: int,
    *,
    seed: int,
) -> pd.DataFrame:
    """Compare exact and simulated bias and standard deviation at some values.

    Parameters
    ----------
    groups, rates, mechanism, seed
        As in `estimates`.
    values : sequence of int
        Values shown.
    runs : int
        Simulated collections.

    Returns
    -------
    DataFrame
        Columns ``design, estimator, value, bias, simulated bias, standard error, sd, simulated sd``, in nodes.
    """
    rows = []
    for design, held in groups.items():
        rng = stream("errors", design, seed=seed)
        draws = [sampled_tallies(held, np.array(rates)[:, None], mechanism, rng=rng) for _ in range(runs)]
        found, truth = _estimates(np.array(draws), held, rates, mechanism), held.sum(axis=0)
        for name, (mean, deviation) in _moments(held, rates, mechanism).items():
            for v in values:
                spread = found[name][:, v].std(ddof=1)
                bias = found[name][:, v].mean() - truth[v]
                row = (mean[v] - truth[v], bias, spread / np.sqrt(runs), deviation[v], spread)
                rows.append((design, name, v, *row))
    columns = ["bias", "simulated bias", "standard error", "sd", "simulated sd"]
    return pd.DataFrame(rows, columns=["design", "estimator", "value", *columns])


def _estimates(
    tallies: Counts, held: Counts, rates: Sequence[float], mechanism: KaryRandomisedResponse
) -> dict[str, Floats]:
    nodes, expected = int(held.sum()), float(held.sum(axis=1) @ np.asarray(rates))
    pooled = tallies.sum(axis=-2)
    return {
        "T": estimators.personalised(pooled, nodes=nodes, expected_reports=expected, mechanism=mechanism),
        "Horvitz-Thompson": estimators.horvitz_thompson(tallies, rates=rates, mechanism=mechanism),
        "Hájek": estimators.hajek(tallies, nodes=nodes, rates=rates, mechanism=mechanism),
    }


def _moments(
    held: Counts, rates: Sequence[float], mechanism: KaryRandomisedResponse
) -> dict[str, tuple[Floats, Floats]]:
    """Return exact mean and standard deviation at every value, by estimator."""
    sizes, truth, values = held.sum(axis=1), held.sum(axis=0).astype(float), range(held.shape[1])
    variances = {
        "T": accuracy.variance_personalised,
        "Horvitz-Thompson": accuracy.variance_horvitz_thompson,
        "Hájek": hajek.variance_hajek,
    }
    pooled = np.array([accuracy.mean_personalised(held[:, v], sizes=sizes, rates=rates) for v in values])
    ratios = np.array([hajek.mean_hajek(held[:, v], sizes=sizes, rates=rates, mechanism=mechanism) for v in values])
    means = {"T": pooled, "Horvitz-Thompson": truth, "Hájek": ratios}
    deviations = {
        name: np.sqrt([variance(held[:, v], sizes=sizes, rates=rates, mechanism=mechanism) for v in values])
        for name, variance in variances.items()
    }
    return {name: (means[name], deviations[name]) for name in ESTIMATORS}


def towards_a_vertex(nodes: int, budget: int, mechanism: KaryRandomisedResponse, *, points: int = 46) -> pd.DataFrame:
    """Compute the variance at rare values while `budget` chosen nodes are sampled ever more, and all others less, for
    the same expected reports.

    Parameters
    ----------
    nodes : int
        Number of nodes.
    budget : int
        Expected reports, and number of chosen nodes.
    mechanism : KaryRandomisedResponse
    points : int
        Per curve.

    Returns
    -------
    DataFrame
        Columns ``panel``, ``estimator``, ``rate of the chosen nodes`` (from equal rates, the Lagrange point, towards 1,
        a vertex) and ``variance, nodes²``; c-hat, at equal rates, for comparison.
    """
    sizes, equal = [budget, nodes - budget], budget / nodes
    noise, rows = accuracy.report_noise(mechanism), []
    realised = rare_variance_realised_size(nodes=nodes, sampling_rate=equal, mechanism=mechanism)
    for high in np.linspace(equal, 0.95, points):
        rates = [high, budget * (1 - high) / (nodes - budget)]
        pooled = accuracy.rare_variance_personalised(sizes=sizes, rates=rates, mechanism=mechanism)
        weighted = accuracy.rare_variance_horvitz_thompson(noises=[noise, noise], sizes=sizes, rates=rates)
        for panel, name, variance in (("T", "T", pooled), ("Horvitz-Thompson", "Horvitz-Thompson", weighted)):
            rows += [(panel, name, high, variance), (panel, "c-hat", high, realised)]
    return pd.DataFrame(rows, columns=["panel", "estimator", "rate of the chosen nodes", "variance, nodes²"])


def best_rates(
    epsilons: Sequence[float], costs: Sequence[float], nodes: int, domain_size: int, budget_shares: Sequence[float]
) -> pd.DataFrame:
    """Compute the optimal rates of groups of nodes that differ in privacy budget and cost, against the budget of
    reports.

    Parameters
    ----------
    epsilons, costs : (g,) float
        Of each group; groups are of equal size.
    nodes : int
        Number of nodes in all.
    domain_size : int
    budget_shares : sequence of float
        Budgets as shares of the cost of asking everybody, in ``(0, 1]``.

    Returns
    -------
    DataFrame
        Columns ``group``, ``budget, share of full cost`` and ``optimal sampling rate``.
    """
    names = [f"ε = {epsilon:g}, cost {cost:g}" for epsilon, cost in zip(epsilons, costs, strict=True)]
    rows = []
    for share in budget_shares:
        rates, _, _ = _allocation(epsilons, costs, nodes, domain_size, share)
        rows += [(name, share, rate) for name, rate in zip(names, rates, strict=True)]
    return pd.DataFrame(rows, columns=["group", "budget, share of full cost", "optimal sampling rate"])


def savings(
    epsilons: Sequence[float], costs: Sequence[float], nodes: int, domain_size: int, budget_shares: Sequence[float]
) -> pd.DataFrame:
    """Compare the variance at a rare value under optimal and under equal rates.

    Parameters
    ----------
    epsilons, costs, nodes, domain_size, budget_shares
        As in `best_rates`.

    Returns
    -------
    DataFrame
        Columns ``budget share, variance, variance at equal rates, saved``.
    """
    rows = []
    for share in budget_shares:
        _, best, flat = _allocation(epsilons, costs, nodes, domain_size, share)
        rows.append((share, best, flat, 1 - best / flat))
    return pd.DataFrame(rows, columns=["budget share", "variance", "variance at equal rates", "saved"])


def _allocation(
    epsilons: Sequence[float], costs: Sequence[float], nodes: int, domain_size: int, share: float
) -> tuple[Floats, float, float]:
    """Return the optimal rates, their variance, and the variance at equal rates."""
    noises = [accuracy.report_noise(KaryRandomisedResponse(epsilon, domain_size)) for epsilon in epsilons]
    sizes = np.full(len(epsilons), nodes / len(epsilons))
    budget = share * float(sizes @ np.asarray(costs))
    rates = accuracy.optimal_rates(noises=noises, costs=costs, sizes=sizes, budget=budget)
    best, flat = (
        accuracy.rare_variance_horvitz_thompson(noises=noises, sizes=sizes, rates=chosen)
        for chosen in (rates, np.full(sizes.size, share))
    )
    return rates, best, flat
