"""Equation (8) of bun2022 on a small family of populations: variance of the private weighted mean by allocation rule."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from ldpnb.accuracy import allocation
from ldpnb.accuracy.allocation import Family, Outcomes
from ldpnb.rng import stream


def candidates(family: Family, total: int) -> dict[str, dict[str, Outcomes]]:
    """Return the outcomes of Neyman's and of proportional allocation, and of all that draw the same from every
    population.

    Returns
    -------
    dict of dict
        Rules by kind and name: ``Neyman``, ``proportional, rounded at random``, ``fixed`` (whole numbers) and
        ``lottery`` (equal chances of two neighbouring fixed ones).
    """
    rate = total / sum(family.sizes)
    pairs = [(m, total - m) for m in range(1, total) if m <= family.sizes[0] and total - m <= family.sizes[1]]
    rules = {
        "Neyman": {"": allocation.neyman(family, total)},
        "proportional, rounded at random": {"": allocation.proportional(family.sizes, rate)},
        "fixed": {str(pair): allocation.fixed(pair) for pair in pairs},
        "lottery": {
            f"{first} or {second}": allocation.lottery(first, second, 0.5) for first, second in pairwise(pairs)
        },
    }
    return {
        kind: {name: allocation.outcomes(family, rule) for name, rule in some.items()} for kind, some in rules.items()
    }


def variances(tables: dict[str, dict[str, Outcomes]], epsilons: Sequence[float]) -> pd.DataFrame:
    """Return the variance of the private weighted mean at equal privacy, for the best rule of each kind.

    Returns
    -------
    DataFrame
        ``epsilon, rule, choice, noise scale, worst population, mean over populations``: variances; the best is the one
        with the least largest variance.
    """
    rows = []
    for epsilon in epsilons:
        kinds = {kind: some for kind, some in tables.items() if kind not in ("fixed", "lottery")}
        for kind, some in {**kinds, "best found": {**tables["fixed"], **tables["lottery"]}}.items():
            found = [(_private(table, epsilon), name) for name, table in some.items()]
            (worst, mean, scale), name = min(found)
            rows.append((epsilon, kind, name, scale, worst, mean))
    names = ["epsilon", "rule", "choice", "noise scale", "worst population", "mean over populations"]
    return pd.DataFrame(rows, columns=names)


def _private(table: Outcomes, epsilon: float) -> tuple[float, float, float]:
    scale = table.noise_scale(epsilon)
    sampling = table.variances()
    return float(sampling.max() + 2 * scale**2), float(sampling.mean() + 2 * scale**2), scale


def by_population(variances: pd.DataFrame) -> pd.DataFrame:
    """Return the same in long form: ``epsilon, rule, panel, variance``."""
    panels = ["worst population", "mean over populations"]
    return variances.melt(["epsilon", "rule"], panels, var_name="panel", value_name="variance")


def simulated_variances(
    tables: dict[str, dict[str, Outcomes]], solved: pd.DataFrame, epsilon: float, *, draws: int, seed: int
) -> pd.DataFrame:
    """Return the variance of drawn private weighted means in the worst population, beside the exact one.

    Parameters
    ----------
    tables, solved
        As returned by `candidates` and `variances`.
    epsilon : float
        One of the budgets of `solved`.

    Returns
    -------
    DataFrame
        ``rule, exact, simulated, standard error``.
    """
    rows = []
    for line in solved[solved["epsilon"] == epsilon].itertuples():
        found = {**tables["fixed"], **tables["lottery"], **tables.get(str(line.rule), {})}[str(line.choice)]
        worst = int(found.variances().argmax())
        rng = stream("private weighted means", str(line.rule), epsilon, seed=seed)
        chances = found.chances[worst]
        means = rng.choice(found.values, size=draws, p=chances / chances.sum())
        noise = rng.laplace(scale=found.noise_scale(epsilon), size=draws)
        squares = (means + noise - chances @ found.values) ** 2
        rows.append((line.rule, found.total_variances(epsilon)[worst], squares.mean(), squares.std() / np.sqrt(draws)))
    return pd.DataFrame(rows, columns=["rule", "exact", "simulated", "standard error"])
