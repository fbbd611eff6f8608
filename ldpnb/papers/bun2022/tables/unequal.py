"""Unequal probabilities and systematic samples: what they lose, as tables."""

from itertools import product

import numpy as np
import pandas as pd

from ldpnb.notebook import Rows, table
from ldpnb.papers.bun2022.formulas import unequal
from ldpnb.papers.bun2022.formulas.samples import poisson_positions, pps_rates, systematic_positions
from ldpnb.rng import stream

GROWN = "size of the new record"
RANK = "rank of the new record"


@table
def poisson_growth(
    records: int, expected_size: float, factors: list[float], epsilon: float
) -> Rows:
    """Tabulate the loss of independent sampling in proportion to size, if a record grows.

    One of equal records gives way to a larger one. The losses are the exact one, the part of the
    replaced record alone, the lower bound of Section 6.1, and the mechanism's own ``2 epsilon``.
    """
    even = pps_rates(np.ones(records), expected_size)

    for factor in factors:
        grown = pps_rates([factor, *np.ones(records - 1)], expected_size)
        losses = {
            "exact": unequal.poisson_loss([*even, 0.0], [0.0, *grown[1:], grown[0]], epsilon),
            "replaced record alone": unequal.poisson_loss([even[0], 0.0], [0.0, grown[0]], epsilon),
            "lower bound": unequal.element_loss_floor([*even, *grown], epsilon),
            "no amplification": 2 * epsilon,
        }
        for quantity, loss in losses.items():
            yield {GROWN: factor, "quantity": quantity, "loss (nats)": loss}


@table
def systematic_moves(records: int, step: int, epsilon: float, replaced: list[int]) -> Rows:
    """Tabulate the exact loss for every rank to which one of some records can move.

    It is computed by linear programming. The `replaced` records are counted from 0, ranks in the
    table from 1.
    """
    for old, place in product(replaced, range(records)):
        value = place + 0.5 if place >= old else place - 0.5
        loss = unequal.systematic_loss(range(records), old, value, step=step, epsilon=epsilon)
        yield {
            RANK: place + 1,
            "rank before": old + 1,
            "record": f"record {old + 1} of {records}",
            "loss (nats)": loss,
        }


def inclusion_shares(
    weights: list[float], expected_size: float, *, draws: int, seed: int
) -> pd.DataFrame:
    """Return how often each record is drawn by two methods with the same inclusion probabilities.

    The standard error is the largest possible for that many draws.
    """
    rates = pps_rates(weights, expected_size)
    rng = stream("inclusion in proportion to size", expected_size, seed=seed)
    independent = np.zeros(rates.size)
    systematic = np.zeros(rates.size)

    for _ in range(draws):
        independent[poisson_positions(rates, rng=rng)] += 1 / draws
        systematic[systematic_positions(rates, rng=rng)] += 1 / draws

    return pd.DataFrame(
        {
            "record": np.arange(1, rates.size + 1),
            "probability": rates,
            "independent": independent,
            "systematic": systematic,
            "standard error": np.sqrt(rates * (1 - rates) / draws),
        }
    )
