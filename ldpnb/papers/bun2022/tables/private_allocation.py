"""Equation (8) of bun2022 on a small family: variance of the private weighted mean by allocation rule."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from ldpnb.accuracy import allocation
from ldpnb.accuracy.allocation import Family, Outcomes
from ldpnb.accuracy.best_allocation import best_fixed_variance, best_rule
from ldpnb.notebook import Rows, table
from ldpnb.rng import stream

Candidates = dict[str, dict[str, Outcomes]]
"""Outcomes of rules by kind and name."""


def candidates(family: Family, total: int) -> Candidates:
    """Return the outcomes of Neyman's, of proportional and of all fixed allocations, and of lotteries.

    A fixed one draws the same from every population; a lottery has equal chances of two neighbouring fixed ones.
    """
    pairs = [(m, total - m) for m in range(1, total) if m <= family.sizes[0] and total - m <= family.sizes[1]]
    rules = {
        "Neyman": {"": allocation.neyman(family, total)},
        "proportional, rounded at random": {"": allocation.proportional(family.sizes, total / sum(family.sizes))},
        "fixed": {str(pair): allocation.fixed(pair) for pair in pairs},
        "lottery": {f"{one} or {other}": allocation.lottery(one, other, 0.5) for one, other in pairwise(pairs)},
    }
    return {
        kind: {name: allocation.outcomes(family, rule) for name, rule in some.items()} for kind, some in rules.items()
    }


@table
def variances(tables: Candidates, epsilons: Sequence[float]) -> Rows:
    """Yield the variance of the private weighted mean at equal privacy, for the best rule of each kind.

    The best is the one with the least largest variance over populations.
    """
    kinds = {kind: some for kind, some in tables.items() if kind not in ("fixed", "lottery")}
    kinds["best found"] = tables["fixed"] | tables["lottery"]
    for epsilon in epsilons:
        for kind, some in kinds.items():
            (worst, mean, scale), name = min((_private(outcomes, epsilon), name) for name, outcomes in some.items())
            yield {
                "epsilon (nats)": epsilon,
                "rule": kind,
                "choice": name,
                "noise scale": scale,
                "worst population": worst,
                "mean over populations": mean,
            }


def _private(outcomes: Outcomes, epsilon: float) -> tuple[float, float, float]:
    scale, sampling = outcomes.noise_scale(epsilon), outcomes.variances()
    return float(sampling.max() + 2 * scale**2), float(sampling.mean() + 2 * scale**2), scale


@table
def best_rules(family: Family, total: int, epsilons: Sequence[float]) -> Rows:
    """Yield the largest private variance of the best fixed allocation, lottery and rule of all, over the first."""
    for epsilon in epsilons:
        variances = {"best fixed": best_fixed_variance(family, total, epsilon)}
        for name, looks in (("best lottery", False), ("best rule", True)):
            variances[name] = best_rule(family, total, epsilon, looks=looks).variance
        for name, variance in variances.items():
            row = {"epsilon (nats)": epsilon, "rule": name, "variance": variance}
            yield row | {"over fixed": variance / variances["best fixed"]}


@table
def lottery_gains(size: int, totals: Sequence[int], epsilons: Sequence[float]) -> Rows:
    """Yield what a fair lottery of the two middle allocations saves over either: two equal strata, odd totals."""
    family = Family((size, size), (1.0, 1.0))
    for total in totals:
        middle = (total // 2, total - total // 2)
        rules = (allocation.fixed(middle), allocation.lottery(middle, middle[::-1], 0.5))
        fixed, drawn = (allocation.outcomes(family, rule) for rule in rules)
        for epsilon in epsilons:
            one, other = _private(fixed, epsilon)[0], _private(drawn, epsilon)[0]
            row = {"records drawn": total, "epsilon (nats)": epsilon, "fixed": one, "lottery": other}
            yield row | {"saved (%)": 100 * (1 - other / one)}


def by_population(variances: pd.DataFrame) -> pd.DataFrame:
    """Return the same in long form, the two kinds of variance one below the other."""
    panels = ["worst population", "mean over populations"]
    return variances.melt(["epsilon (nats)", "rule"], panels, var_name="panel", value_name="variance")


@table
def simulated_variances(tables: Candidates, solved: pd.DataFrame, epsilon: float, *, draws: int, seed: int) -> Rows:
    """Yield the variance of drawn private weighted means in the worst population, beside the exact one.

    `tables` and `solved` are what `candidates` and `variances` return; epsilon is one of the budgets of `solved`.
    """
    best = tables["fixed"] | tables["lottery"]
    lines = solved[solved["epsilon (nats)"] == epsilon]
    for rule, choice in zip(lines["rule"], lines["choice"], strict=True):
        outcomes = (best | tables.get(rule, {}))[choice]
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
