"""Equation (8) of bun2022 on a small family: variance of the private weighted mean by allocation rule."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from ldpnb.notebook import Rows, table
from ldpnb.papers.bun2022.formulas import allocation
from ldpnb.papers.bun2022.formulas.allocation import Family, Outcomes
from ldpnb.rng import stream

Candidates = dict[str, dict[str, Outcomes]]
"""Outcomes of rules by kind and name."""


def candidates(family: Family, total: int) -> Candidates:
    """Return the outcomes of Neyman's, of proportional and of all fixed allocations, which look at no population."""
    pairs = [
        (m, total - m)
        for m in range(1, total)
        if m <= family.sizes[0] and total - m <= family.sizes[1]
    ]
    neyman, even = (
        allocation.neyman(family, total),
        allocation.proportional(family.sizes, total / sum(family.sizes)),
    )
    return {
        "Neyman": {"": allocation.outcomes(family, neyman)},
        "proportional, rounded at random": {"": allocation.outcomes(family, even)},
        "best found": {
            str(pair): allocation.outcomes(family, allocation.fixed(pair)) for pair in pairs
        },
    }


@table
def variances(tables: Candidates, epsilons: Sequence[float]) -> Rows:
    """Yield the variance of the private mean at equal privacy, for the rule of each kind whose largest one is least."""
    for epsilon, (kind, some) in product(epsilons, tables.items()):
        (worst, mean, scale), name = min(
            (_private(outcomes, epsilon), name) for name, outcomes in some.items()
        )
        row = {"epsilon (nats)": epsilon, "rule": kind, "choice": name, "noise scale": scale}
        yield row | {"worst population": worst, "mean over populations": mean}


def _private(outcomes: Outcomes, epsilon: float) -> tuple[float, float, float]:
    scale, sampling = outcomes.noise_scale(epsilon), outcomes.variances()
    return float(sampling.max() + 2 * scale**2), float(sampling.mean() + 2 * scale**2), scale


@table
def simulated_variances(
    tables: Candidates, solved: pd.DataFrame, epsilon: float, *, draws: int, seed: int
) -> Rows:
    """Yield the variance of drawn private weighted means in the worst population, beside the exact one.

    `tables` and `solved` are what `candidates` and `variances` return; epsilon is one of the budgets of `solved`.
    """
    lines = solved[solved["epsilon (nats)"] == epsilon]
    for rule, choice in zip(lines["rule"], lines["choice"], strict=True):
        outcomes = tables[rule][choice]
        worst = int(outcomes.variances().argmax())
        rng = stream("private weighted means", rule, epsilon, seed=seed)
        chances = outcomes.chances[worst]
        means = rng.choice(outcomes.values, size=draws, p=chances / chances.sum())
        noise = rng.laplace(scale=outcomes.noise_scale(epsilon), size=draws)
        squares = (means + noise - chances @ outcomes.values) ** 2
        yield {
            "rule": rule,
            "exact": outcomes.total_variances(epsilon)[worst],
            "simulated": squares.mean(),
            "standard error": squares.std() / np.sqrt(draws),
        }
