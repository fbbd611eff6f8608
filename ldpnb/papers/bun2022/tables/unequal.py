"""Unequal probabilities and systematic samples: what they lose, as tables."""

from itertools import product

import numpy as np
import pandas as pd

from ldpnb.notebook import Rows, table
from ldpnb.papers.bun2022.formulas import unequal
from ldpnb.papers.bun2022.formulas.samples import poisson_positions, pps_rates, systematic_positions
from ldpnb.rng import stream

GROWN, RANK = "size of the new record", "rank of the new record"


@table
def poisson_growth(
    records: int, expected_size: float, factors: list[float], epsilon: float
) -> Rows:
    """Yield the loss of independent sampling in proportion to size if one of equal records gives way to a larger one.

    Exact, the part of the replaced record alone, the floor of Section 6.1 and the mechanism's own ``2 epsilon``.
    """
    even = pps_rates(np.ones(records), expected_size)
    for factor in factors:
        grown = pps_rates([factor, *np.ones(records - 1)], expected_size)
        values = {
            "exact": unequal.poisson_loss([*even, 0.0], [0.0, *grown[1:], grown[0]], epsilon),
            "replaced record alone": unequal.poisson_loss([even[0], 0.0], [0.0, grown[0]], epsilon),
            "lower bound": unequal.element_loss_floor([*even, *grown], epsilon),
            "no amplification": 2 * epsilon,
        }
        for quantity, loss in values.items():
            yield {GROWN: factor, "quantity": quantity, "loss (nats)": loss}


@table
def systematic_moves(records: int, step: int, epsilon: float, replaced: list[int]) -> Rows:
    """Yield the exact loss for every rank to which one of some records can move, by linear programming.

    The `replaced` records are counted from 0, ranks in the table from 1.
    """
    for old, place in product(replaced, range(records)):
        value = place + 0.5 if place >= old else place - 0.5
        loss = unequal.systematic_loss(range(records), old, value, step=step, epsilon=epsilon)
        moved = f"record {old + 1} of {records}"
        yield {RANK: place + 1, "rank before": old + 1, "record": moved, "loss (nats)": loss}


def inclusion_shares(
    weights: list[float], expected_size: float, *, draws: int, seed: int
) -> pd.DataFrame:
    """Return how often each record is drawn by two methods with the same inclusion probabilities.

    The standard error is the largest possible for that many draws.
    """
    rates = pps_rates(weights, expected_size)
    rng = stream("inclusion in proportion to size", expected_size, seed=seed)
    drawn = np.zeros((2, rates.size))
    for _ in range(draws):
        drawn[0, poisson_positions(rates, rng=rng)] += 1 / draws
        drawn[1, systematic_positions(rates, rng=rng)] += 1 / draws
    shares = {"probability": rates, "independent": drawn[0], "systematic": drawn[1]}
    errors = np.sqrt(rates * (1 - rates) / draws)
    return pd.DataFrame(
        {"record": np.arange(1, rates.size + 1)} | shares | {"standard error": errors}
    )
