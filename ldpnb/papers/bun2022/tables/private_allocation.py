"""The variance of the private weighted mean on a small family, by allocation rule.

The rules are those that equation (8) of Bun et al. (2022) is about.
"""

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
    """Return the outcomes of Neyman's, of proportional, and of all fixed allocations.

    The family has two strata. Fixed allocations look at no population.
    """
    first_size, second_size = family.sizes
    fixed = {}
    for first in range(1, total):
        second = total - first
        if first <= first_size and second <= second_size:
            rule = allocation.fixed((first, second))
            fixed[str((first, second))] = allocation.outcomes(family, rule)

    neyman = allocation.neyman(family, total)
    proportional = allocation.proportional(family.sizes, total / sum(family.sizes))

    return {
        "Neyman": {"": allocation.outcomes(family, neyman)},
        "proportional, rounded at random": {"": allocation.outcomes(family, proportional)},
        "best found": fixed,
    }


@table
def variances(tables: Candidates, epsilons: Sequence[float]) -> Rows:
    """Tabulate the variance of the private mean at equal privacy.

    For each kind of rule, the one with the smallest largest variance is shown.
    """
    for epsilon, (kind, by_name) in product(epsilons, tables.items()):
        found = []
        for name, outcomes in by_name.items():
            found.append((*_private(outcomes, epsilon), name))
        worst, mean, scale, choice = min(found)

        yield {
            "epsilon (nats)": epsilon,
            "rule": kind,
            "choice": choice,
            "noise scale": scale,
            "worst population": worst,
            "mean over populations": mean,
        }


def _private(outcomes: Outcomes, epsilon: float) -> tuple[float, float, float]:
    """Return the variance in the worst population, its mean over all, and the noise's scale."""
    scale = outcomes.noise_scale(epsilon)
    sampling = outcomes.variances()
    worst = float(sampling.max() + 2 * scale**2)
    mean = float(sampling.mean() + 2 * scale**2)
    return worst, mean, scale


@table
def simulated_variances(
    tables: Candidates, solved: pd.DataFrame, epsilon: float, *, draws: int, seed: int
) -> Rows:
    """Tabulate the variance of drawn private weighted means in the worst population.

    The exact variance is in the next column. `tables` and `solved` are what `candidates` and
    `variances` return, and epsilon is one of the budgets of `solved`.
    """
    best = solved[solved["epsilon (nats)"] == epsilon]

    for rule, choice in zip(best["rule"], best["choice"], strict=True):
        outcomes = tables[rule][choice]
        worst = int(outcomes.variances().argmax())
        chances = outcomes.chances[worst]

        rng = stream("private weighted means", rule, epsilon, seed=seed)
        means = rng.choice(outcomes.values, size=draws, p=chances / chances.sum())
        noise = rng.laplace(scale=outcomes.noise_scale(epsilon), size=draws)
        squares = (means + noise - chances @ outcomes.values) ** 2

        yield {
            "rule": rule,
            "exact": outcomes.total_variances(epsilon)[worst],
            "simulated": squares.mean(),
            "standard error": squares.std() / np.sqrt(draws),
        }
