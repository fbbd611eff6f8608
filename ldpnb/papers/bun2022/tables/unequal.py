"""Unequal probabilities and systematic samples: what they lose, as tables."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ldpnb.designs.samples import poisson_positions, pps_rates, systematic_positions
from ldpnb.privacy import clusters, subsampling, unequal
from ldpnb.rng import stream


def poisson_growth(records: int, expected_size: float, factors: Sequence[float], epsilon: float) -> pd.DataFrame:
    """Return the loss of independent sampling in proportion to size when one of equal records is replaced by a larger
    one.

    Returns
    -------
    DataFrame
        ``factor, quantity, loss``: exact, the part of the replaced record alone, the floor of Section 6.1 and the
        mechanism's own ``2 epsilon``.
    """
    even = pps_rates(np.ones(records), expected_size)
    rows = []
    for factor in factors:
        grown = pps_rates([factor, *np.ones(records - 1)], expected_size)
        values = {
            "exact": unequal.poisson_loss([*even, 0.0], [0.0, *grown[1:], grown[0]], epsilon),
            "replaced record alone": unequal.poisson_loss([even[0], 0.0], [0.0, grown[0]], epsilon),
            "lower bound": unequal.element_loss_floor([*even, *grown], epsilon),
            "no amplification": 2 * epsilon,
        }
        rows += [(factor, name, loss) for name, loss in values.items()]
    return pd.DataFrame(rows, columns=["factor", "quantity", "loss"])


def cluster_draws(largest: int, count: int, epsilon: float) -> pd.DataFrame:
    """Return the deletion loss of drawing one of `count` equal clusters, in proportion to size and at random.

    Returns
    -------
    DataFrame
        ``size, quantity, loss``.
    """
    rows = []
    for size in range(2, largest + 1):
        sizes = [size] * count
        values = {
            "in proportion to size": unequal.pps_cluster_loss(sizes, epsilon),
            "at random": clusters.cluster_loss(sizes, 1, epsilon=epsilon),
            "no amplification": epsilon,
        }
        rows += [(size, name, loss) for name, loss in values.items()]
    return pd.DataFrame(rows, columns=["size", "quantity", "loss"])


def cluster_terms(sizes: Sequence[int], epsilon: float) -> pd.DataFrame:
    """Return the three terms of equation (4) of bun2022 for the noisy signed count on one cluster drawn in proportion
    to size.

    The first of the clusters loses a record; the event is the tail in which its records count most.

    Returns
    -------
    DataFrame
        A row per design: ``sizes, ln(mu_1/mu_1'), ln(p/p'), identification, equation (4), equation (5), exact``.
    """
    rows = []
    for size in sizes:
        total = 3 * size
        rate, later = size / total, (size - 1) / (total - 1)
        inside, outside = np.exp(-epsilon * 0.0), np.exp(-2 * epsilon * size)
        case = unequal.Inclusion(rate, later, inside, float(np.exp(-epsilon)), float(outside), float(outside))
        known, chance = epsilon, float(np.log(rate / later))
        lower = case.loss_lower_bound()
        exact = unequal.pps_cluster_loss([size] * 3, epsilon)
        rows.append((f"3 x {size}", known, chance, lower - known - chance, lower, case.event_loss(), exact))
    names = ["sizes", "ln(mu_1/mu_1')", "ln(p/p')", "identification", "equation (4)", "equation (5)", "exact"]
    return pd.DataFrame(rows, columns=names)


def systematic_by_size(sizes: Sequence[int], step: int, epsilon: float) -> pd.DataFrame:
    """Return the replacement loss of a systematic sample by what is known of the order.

    Returns
    -------
    DataFrame
        ``size, order, loss``.
    """
    rows = []
    for size in sizes:
        values = {
            "secret random order": subsampling.srs_loss(2 * epsilon, 1 / step),
            "known order, same rank": unequal.systematic_rank_preserving_loss(size, step, epsilon),
            "known order, ranks shift": unequal.systematic_rank_shift_loss(size, epsilon),
            "no amplification": 2 * epsilon,
        }
        rows += [(size, name, loss) for name, loss in values.items()]
    return pd.DataFrame(rows, columns=["size", "order", "loss"])


def systematic_moves(records: int, step: int, epsilon: float, replaced: Sequence[int]) -> pd.DataFrame:
    """Return the exact loss for every place to which one of some records can move, by linear programming.

    Returns
    -------
    DataFrame
        ``new rank, record, loss``: the rank that the new record takes.
    """
    ranks = list(range(records))
    rows = []
    for old in replaced:
        for place in range(records):
            value = place + 0.5 if place >= old else place - 0.5
            loss = unequal.systematic_loss(ranks, old, value, step=step, epsilon=epsilon)
            rows.append((place, f"record {old + 1} of {records}", loss))
    return pd.DataFrame(rows, columns=["new rank", "record", "loss"])


def inclusion_shares(weights: Sequence[float], expected_size: float, *, draws: int, seed: int) -> pd.DataFrame:
    """Return how often each record is drawn by two methods with the same inclusion probabilities.

    Returns
    -------
    DataFrame
        ``record, probability, independent, systematic, standard error``: the last is the largest possible for that many
        draws.
    """
    rates = pps_rates(weights, expected_size)
    rng = stream("inclusion in proportion to size", expected_size, seed=seed)
    found = np.zeros((2, rates.size))
    for _ in range(draws):
        found[0, poisson_positions(rates, rng=rng)] += 1 / draws
        found[1, systematic_positions(rates, rng=rng)] += 1 / draws
    errors = np.sqrt(rates * (1 - rates) / draws)
    names = ["record", "probability", "independent", "systematic", "standard error"]
    return pd.DataFrame(dict(zip(names, [np.arange(1, rates.size + 1), rates, *found, errors], strict=True)))
