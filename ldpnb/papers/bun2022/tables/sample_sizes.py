"""Samples of fixed, random and data-dependent size: bounds and exact losses as tables."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ldpnb.designs.sizes import SizeLaw, truncated_gaussian_size
from ldpnb.designs.strata import randomly_rounded_shares
from ldpnb.privacy import data_dependent, random_size, rounding, subsampling
from ldpnb.rng import stream


def proportion_scales(records: int, sampling_rates: Sequence[float], epsilons: Sequence[float]) -> pd.DataFrame:
    """Return the Laplace scale of a private proportion with and without the secrecy of the sample (Section 2.4 of
    bun2022).

    Returns
    -------
    DataFrame
        ``epsilon, rate, mechanism budget, noise scale, without secrecy, small-epsilon form``.
    """
    rows = [
        (
            epsilon,
            rate,
            subsampling.srs_budget(epsilon, rate),
            subsampling.proportion_noise_scale(epsilon, records, round(records / rate)),
            subsampling.proportion_noise_scale(epsilon, records),
            rate / (records * epsilon),
        )
        for rate in sampling_rates
        for epsilon in epsilons
    ]
    names = ["epsilon", "rate", "mechanism budget", "noise scale", "without secrecy", "small-epsilon form"]
    return pd.DataFrame(rows, columns=names)


def transition_deviation(population: int, mean: float, epsilon: float) -> float:
    """Return ``sqrt((n - mean)/epsilon)``, where the reweighted mean of a Gaussian size reaches the population."""
    return float(np.sqrt((population - mean) / epsilon))


def gaussian_size_losses(population: int, mean: float, relative: Sequence[float], epsilon: float) -> pd.DataFrame:
    """Return bounds and exact loss for truncated Gaussian sample sizes (Figure 2 of bun2022).

    Parameters
    ----------
    population, mean, epsilon
        Records, mean size before truncation, budget of the mechanism.
    relative : sequence of float
        Deviations in units of `transition_deviation`.

    Returns
    -------
    DataFrame
        ``panel, relative deviation, deviation, quantity, loss``.
    """
    rows, unit = [], transition_deviation(population, mean, epsilon)
    panel = f"n = {population}, mean {mean:g}, unit {unit:.3g} records"
    for share in relative:
        law = truncated_gaussian_size(population, mean, share * unit)
        rows += [(panel, share, share * unit, *pair) for pair in size_losses(law, epsilon).items()]
    return pd.DataFrame(rows, columns=["panel", "relative deviation", "deviation", "quantity", "loss"])


def size_losses(law: SizeLaw, epsilon: float) -> dict[str, float]:
    """Return Theorem 3.1's bounds, the improved lower bound, the exact loss and the limits without sampling, for one
    law of the size.
    """
    return {
        "exact": random_size.random_size_loss(law, epsilon),
        "upper bound": random_size.random_size_upper_bound(law, epsilon),
        "lower bound": random_size.random_size_lower_bound(law, epsilon),
        "improved lower bound": random_size.random_size_lower_bound_pm1(law, epsilon),
        "no amplification": 2 * epsilon,
    }


def gaussian_rates(population: int, mean: float, deviations: Sequence[float], epsilon: float) -> pd.DataFrame:
    """Return the mean sampling rate, the reweighted one and the fixed rate that would lose as much.

    Returns
    -------
    DataFrame
        ``deviation, rate, value``.
    """
    rows = []
    for deviation in deviations:
        law = truncated_gaussian_size(population, mean, deviation)
        mean_rate = float(law.probabilities @ np.arange(population + 1)) / population
        rows += [
            (deviation, "mean", mean_rate),
            (deviation, "reweighted", random_size.tilted_rate(law, epsilon)),
            (deviation, "effective", random_size.effective_rate(law, epsilon)),
        ]
    return pd.DataFrame(rows, columns=["deviation", "rate", "value"])


def simulated_tilted_rates(
    population: int, mean: float, relative: Sequence[float], epsilon: float, *, draws: int, seed: int
) -> pd.DataFrame:
    """Return the reweighted sampling rate estimated from drawn sizes, beside the exact one.

    Returns
    -------
    DataFrame
        ``deviation, exact, estimate, standard error, effective draws``: the number of draws that carry the weight,
        ``(sum w)^2 / sum w^2``.
    """
    rows, unit = [], transition_deviation(population, mean, epsilon)
    for share in relative:
        law = truncated_gaussian_size(population, mean, share * unit)
        rng = stream("reweighted rate", population, mean, share, epsilon, seed=seed)
        counts = rng.multinomial(draws, law.probabilities)
        sizes = np.arange(population + 1)
        weights = np.exp(epsilon * (sizes - sizes[counts > 0].max()))
        total = counts @ weights
        estimate = counts @ (weights * sizes) / total / population
        error = np.sqrt(counts @ (weights * (sizes / population - estimate)) ** 2) / total
        exact = random_size.tilted_rate(law, epsilon)
        rows.append((share * unit, exact, estimate, error, total**2 / (counts @ weights**2)))
    names = ["deviation", "exact", "estimate", "standard error", "effective draws"]
    return pd.DataFrame(rows, columns=names)


def simulated_rounding(populations: Sequence[int], sampling_rate: float, *, draws: int, seed: int) -> pd.DataFrame:
    """Return the mean sample size of randomised rounding, drawn, beside the intended one.

    Returns
    -------
    DataFrame
        ``population, intended, mean size, standard error``.
    """
    rng = stream("randomised rounding", sampling_rate, seed=seed)
    intended = sampling_rate * np.asarray(populations, dtype=float)
    sizes = randomly_rounded_shares(np.tile(intended, (draws, 1)), rng=rng)
    errors = sizes.std(axis=0, ddof=1) / np.sqrt(draws)
    names = ["population", "intended", "mean size", "standard error"]
    return pd.DataFrame(dict(zip(names, [populations, intended, sizes.mean(axis=0), errors], strict=True)))


def advantages_by_gap(largest: int, epsilon: float) -> pd.DataFrame:
    """Return how well a private test tells sizes apart: exactly, and by group privacy.

    Returns
    -------
    DataFrame
        ``gap, bound, advantage``.
    """
    rows = []
    for gap in range(1, largest + 1):
        loss = data_dependent.size_count_loss(gap, epsilon)
        rows.append((gap, "exact", data_dependent.size_test_advantage(gap, epsilon)))
        rows.append((gap, "upper bound", data_dependent.advantage_bound(loss)))
    return pd.DataFrame(rows, columns=["gap", "quantity", "advantage"])


def rounding_losses(populations: Sequence[int], sampling_rate: float, epsilon: float) -> pd.DataFrame:
    """Return the deletion loss of sampling a fraction, rounded, against the population's size.

    Returns
    -------
    DataFrame
        ``population, quantity, loss``.
    """
    rows = []
    for n in populations:
        values = {
            "rounded at random": rounding.random_rounding_loss(n, sampling_rate, epsilon),
            "rounded to nearest": rounding.nearest_rounding_loss(n, sampling_rate, epsilon),
            "supremum, at random": rounding.random_rounding_loss_supremum(sampling_rate, epsilon),
            "Theorem 4.3": rounding.random_rounding_bound(sampling_rate, epsilon),
        }
        rows += [(n, name, loss) for name, loss in values.items()]
    return pd.DataFrame(rows, columns=["population", "quantity", "loss"])


def rounding_constants(sampling_rate: float, epsilons: Sequence[float]) -> pd.DataFrame:
    """Return bounds and supremum of randomised rounding in units of ``r epsilon``.

    Returns
    -------
    DataFrame
        ``epsilon, quantity, loss / (r epsilon)``.
    """
    bounds = {
        "exact supremum": rounding.random_rounding_loss_supremum,
        "Theorem 4.3, tight lemma": rounding.random_rounding_chain_bound,
        "Theorem 4.3": rounding.random_rounding_bound,
    }
    rows = [
        (epsilon, name, bound(sampling_rate, epsilon) / (sampling_rate * epsilon))
        for name, bound in bounds.items()
        for epsilon in epsilons
    ]
    return pd.DataFrame(rows, columns=["epsilon", "quantity", "loss / (r epsilon)"])


def rounding_budgets(sampling_rates: Sequence[float], epsilon_after: float) -> pd.DataFrame:
    """Return what a mechanism may spend if the whole is to lose at most `epsilon_after`, by allocation rule.

    Returns
    -------
    DataFrame
        ``rate, rounded to nearest, Theorem 4.3, tight lemma, exact supremum``: budgets in nats.
    """
    from scipy.optimize import brentq

    rows = []
    for rate in sampling_rates:
        printed = brentq(
            lambda epsilon, rate=rate: rounding.random_rounding_bound(rate, epsilon) - epsilon_after, 1e-9, 50.0
        )
        chain = rounding.random_rounding_chain_budget(epsilon_after, rate)
        rows.append((rate, epsilon_after, printed, chain, rounding.random_rounding_budget(epsilon_after, rate)))
    names = ["rate", "rounded to nearest", "Theorem 4.3", "tight lemma", "exact supremum"]
    return pd.DataFrame(rows, columns=names)
