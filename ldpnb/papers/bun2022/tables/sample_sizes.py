"""Samples of fixed, random and data-dependent size: bounds and exact losses as tables."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import brentq

from ldpnb.notebook import Rows, table
from ldpnb.papers.bun2022.formulas import random_size, releases, rounding
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.papers.bun2022.formulas.sizes import SizeLaw, truncated_gaussian_size
from ldpnb.privacy import subsampling
from ldpnb.rng import stream

DEVIATION = "deviation of the size (records)"


# Random sizes


def transition_deviation(population: int, mean: float, epsilon: float) -> float:
    """Return ``sqrt((n - mean)/epsilon)``.

    At this deviation the reweighted mean of a Gaussian size reaches the population.
    """
    return float(np.sqrt((population - mean) / epsilon))


@table
def gaussian_size_losses(
    population: int, mean: float, relative: Sequence[float], epsilon: float
) -> Rows:
    """Tabulate bounds and exact loss for truncated Gaussian sample sizes (Figure 2).

    Parameters
    ----------
    population : int
        Number of records.
    mean : float
        Mean of the size before truncation.
    relative : sequence of float
        Deviations of the size, in units of `transition_deviation`.
    epsilon : float
        Budget of the mechanism, in nats.
    """
    unit = transition_deviation(population, mean, epsilon)
    panel = f"n = {population:,}, mean {mean:g}, transition at {unit:.3g}"

    for share in relative:
        law = truncated_gaussian_size(population, mean, share * unit)

        for quantity, loss in size_losses(law, epsilon).items():
            yield {
                "panel": panel,
                "relative deviation": share,
                DEVIATION: share * unit,
                "quantity": quantity,
                "loss (nats)": loss,
            }


def size_losses(law: SizeLaw, epsilon: float) -> dict[str, float]:
    """Return the losses for one distribution of the size.

    They are the exact loss, the bounds of Theorem 3.1, and the loss without sampling.
    """
    return {
        "exact": random_size.random_size_loss(law, epsilon),
        "upper bound": random_size.random_size_upper_bound(law, epsilon),
        "lower bound": random_size.random_size_lower_bound_pm1(law, epsilon),
        "no amplification": 2 * epsilon,
    }


@table
def gaussian_rates(
    population: int, mean: float, deviations: Sequence[float], epsilon: float
) -> Rows:
    """Tabulate the mean sampling rate, the reweighted one, and the effective one.

    The effective rate is the fixed one that would lose as much.
    """
    for deviation in deviations:
        law = truncated_gaussian_size(population, mean, deviation)
        rates = {
            "mean": float(law.probabilities @ np.arange(population + 1)) / population,
            "reweighted": random_size.tilted_rate(law, epsilon),
            "effective": random_size.effective_rate(law, epsilon),
        }
        for name, rate in rates.items():
            yield {DEVIATION: deviation, "rate": name, "sampling rate": rate}


@table
def simulated_tilted_rates(
    population: int, mean: float, relative: list[float], epsilon: float, *, draws: int, seed: int
) -> Rows:
    """Tabulate the reweighted sampling rate estimated from drawn sizes, and the exact one.

    The effective draws, ``(sum w)^2 / sum w^2``, are those that carry the weight.
    """
    sizes = np.arange(population + 1)
    unit = transition_deviation(population, mean, epsilon)

    for share in relative:
        law = truncated_gaussian_size(population, mean, share * unit)
        rng = stream("reweighted rate", population, mean, share, epsilon, seed=seed)
        counts = rng.multinomial(draws, law.probabilities)

        weights = np.exp(epsilon * (sizes - sizes[counts > 0].max()))
        total = counts @ weights
        estimate = counts @ (weights * sizes) / total / population
        squares = counts @ (weights * (sizes / population - estimate)) ** 2

        yield {
            DEVIATION: share * unit,
            "exact": random_size.tilted_rate(law, epsilon),
            "estimate": estimate,
            "standard error": np.sqrt(squares) / total,
            "effective draws": total**2 / (counts @ weights**2),
        }


# Sizes that are rounded


@table
def rounding_losses(populations: Sequence[int], sampling_rate: float, epsilon: float) -> Rows:
    """Tabulate the deletion loss of sampling a fraction, rounded, by the population's size."""
    for n in populations:
        losses = {
            "rounded at random": rounding.random_rounding_loss(n, sampling_rate, epsilon),
            "rounded to nearest": rounding.nearest_rounding_loss(n, sampling_rate, epsilon),
            "supremum, at random": rounding.random_rounding_loss_supremum(sampling_rate, epsilon),
            "Theorem 4.3": rounding.random_rounding_bound(sampling_rate, epsilon),
        }
        for quantity, loss in losses.items():
            yield {"population (records)": n, "quantity": quantity, "loss (nats)": loss}


@table
def rounding_budgets(sampling_rates: list[float], epsilon_after: float) -> Rows:
    """Tabulate what a mechanism may spend, in nats, if the release may lose `epsilon_after`.

    Rounding to the nearest integer allows no more than that itself, and less at some sizes if the
    rate is large.
    """
    for rate in sampling_rates:
        excess = partial(_excess_of_theorem_4_3, rate, epsilon_after)
        yield {
            "rate": rate,
            "rounded to nearest": epsilon_after,
            "Theorem 4.3": brentq(excess, 1e-9, 50.0),
            "tight lemma": rounding.random_rounding_chain_budget(epsilon_after, rate),
            "exact supremum": rounding.random_rounding_budget(epsilon_after, rate),
        }


def _excess_of_theorem_4_3(rate: float, epsilon_after: float, epsilon: float) -> float:
    return rounding.random_rounding_bound(rate, epsilon) - epsilon_after


# Several releases


@table
def release_losses(epsilon: float, numbers: Sequence[int]) -> Rows:
    """Tabulate the exact loss of several releases, from one sample of a tenth and from fresh ones.

    There are rows for each sampling design.
    """
    pairs = ClusterSample([2] * 10, 1)
    designs: dict[str, Callable[[Any], Any]] = {
        "simple random, or strata": partial(subsampling.srs_loss, sampling_rate=0.1),
        "10 of 100 with replacement": partial(
            subsampling.with_replacement_loss, draws=10, population=100
        ),
        "independent, deletion": partial(
            subsampling.poisson_loss, sampling_rate=0.1, neighbours="deletion"
        ),
        "independent, replacement": partial(subsampling.poisson_loss, sampling_rate=0.1),
        "clusters of 2, deletion": pairs.loss,
        "clusters of 2, replacement": partial(pairs.loss, neighbours="replacement"),
    }

    for (name, design), number, fresh in product(designs.items(), numbers, (False, True)):
        loss = releases.releases_loss([epsilon] * number, design, fresh=fresh)

        yield {
            "design": name,
            "releases": number,
            "drawn": "fresh samples" if fresh else "one sample",
            "loss (nats)": float(loss),
        }
