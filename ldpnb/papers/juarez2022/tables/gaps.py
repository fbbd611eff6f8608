"""The gap between two group means: budgets that a target costs, errors that a budget buys, and simulations of both.

Families of mechanisms carry the names they have in every figure: ``M_R`` and ``M_L, k = 2`` keep the budget they are
given; ``M_R as published`` and ``M_L as published`` are the allocations of juarez2022, whose loss is larger than the
budget they claim.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from ldpnb.accuracy import budgets
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.contrasts import Contrast, SignedLaplace
from ldpnb.mechanisms.groups import GroupMeans, LaplaceMeans
from ldpnb.mechanisms.registry import GAP
from ldpnb.notebook import Rows, table
from ldpnb.rng import stream

Family = Callable[[float], GroupMeans | Contrast]
BUDGET = "budget ε (nats)"
LEAST = "variance / least of any channel of signs"


def families(users: int) -> dict[str, Family]:
    """Return the mechanisms for two equal groups by name, each from a budget in nats."""
    halves = (users // 2, users // 2)
    return {name: partial(make, sizes=halves) for name, make in GAP.items()}


@table
def epsilon_table(
    users: Sequence[int], alphas: Sequence[float], methods: Sequence[tuple[str, str]], *, failure: float
) -> Rows:
    """Yield the smallest budget that meets each target, and the exact loss of the mechanism there, for equal groups.

    `users` are numbers of users K, even; `alphas` the largest acceptable errors of the gap, on the scale of values in
    ``[-1, 1]``; `methods` pairs of a family and a tail of `ldpnb.accuracy.gaps.TAILS`; `failure` the allowed
    probability of a larger error.
    """
    for (name, tail), total, alpha in product(methods, users, alphas):
        family = families(total)[name]
        budget = budgets.smallest_epsilon(family, total, alpha, failure=failure, tail=tail)
        loss = float(family(budget).epsilon) if np.isfinite(budget) else np.inf
        row = {"mechanism": name, "tail": tail, "clients": total, "alpha": alpha}
        yield row | {"epsilon": budget, "exact_epsilon": loss}


@table
def target_curves(targets: Sequence[float], *, users: int, failure: float) -> Rows:
    """Yield the smallest finite budgets against what they depend on by Chebyshev's inequality, ``K alpha^2``.

    By other tails they nearly do; only the exact binomial one notices `users`.
    """
    alphas = np.sqrt(np.asarray(targets, dtype=float) / users).tolist()
    for mechanism, way, family, tail, column in (
        ("M_R", "claimed", "M_R as published", "chebyshev", "epsilon"),
        ("M_R", "lost", "M_R as published", "chebyshev", "exact_epsilon"),
        ("M_R", "kept", "M_R", "chebyshev", "epsilon"),
        ("M_R", "kept, sharper tail", "M_R", "exact", "epsilon"),
        ("M_L", "claimed", "M_L as published", "chebyshev", "epsilon"),
        ("M_L", "kept", "M_L, k = 2", "chebyshev", "epsilon"),
        ("M_L", "kept, sharper tail", "M_L, k = 2", "chernoff", "epsilon"),
    ):
        table_of = epsilon_table([users], alphas, [(family, tail)], failure=failure)
        for target, budget in zip(targets, table_of[column], strict=True):
            if np.isfinite(budget):
                yield {"mechanism": mechanism, "way": way, "target K α²": target, BUDGET: budget}


@table
def alpha_table(epsilons: Sequence[float], users: int, *, failure: float) -> Rows:
    """Yield the error of a gap between *rates* that is exceeded with probability `failure` at most, equal groups.

    A rate is ``(v + 1) / 2``, so alpha is half of that for values.
    """
    names = ("M_R as published", "M_R", "M_L as published", "M_L, k = 2", "signed bit")
    for name, tail, epsilon in product(names, ("chebyshev", "normal"), epsilons):
        alpha = GroupGap.of_halves(families(users)[name](epsilon), users).error_bound(failure, tail) / 2
        yield {"mechanism": name, "tail": tail, "epsilon": epsilon, "alpha": float(alpha)}


def simulated_failures(table: pd.DataFrame, *, repetitions: int, seed: int) -> pd.DataFrame:
    """Simulate the mechanisms of an `epsilon_table` at its budgets and count how often the gap is off by alpha or more.

    All values are 0 for mechanisms that send signs and 1 for those that add noise, where the variance is largest; the
    gap is 0 either way. Its finite rows get columns ``failures`` (share of the repetitions) and ``standard_error``
    (binomial, at least that of one failure).
    """
    rows: pd.DataFrame = table.loc[np.isfinite(table["epsilon"])].copy()
    columns = (rows[key].tolist() for key in ("mechanism", "tail", "clients", "alpha", "epsilon"))
    shares = []
    for name, tail, users, alpha, epsilon in zip(*columns, strict=True):
        half, mechanism = users // 2, families(users)[name](epsilon)
        value = 1.0 if isinstance(mechanism, LaplaceMeans | SignedLaplace) else 0.0
        rng = stream("failures", name, tail, users, alpha, seed=seed)
        sums = mechanism.sample_sums([[half], [half]], [value], repetitions=repetitions, rng=rng)
        difference = sums if sums.ndim == 1 else sums[:, 0] - sums[:, 1]
        shares.append(float(np.mean(np.abs(difference) >= alpha * half * mechanism.gain)))
    errors = np.sqrt(np.maximum(shares, 1 / repetitions) / repetitions)
    return rows.assign(failures=shares, standard_error=errors)


@table
def best_channels(shares: Sequence[float], epsilons: Sequence[float]) -> Rows:
    """Yield the largest variance of a gap over the least of any channel of signs, by share of the smaller group."""
    for share, epsilon in product(shares, epsilons):
        best = BestGapChannel(epsilon, share)
        sizes = best.sizes(10**6)
        for name in ("signed bit", "M_R"):
            ratio = sum(sizes) * GroupGap(GAP[name](epsilon, sizes=sizes), sizes).worst_variance() / best.variance
            yield {"panel": f"smaller group {share:.3g}", BUDGET: epsilon, "mechanism": name, LEAST: float(ratio)}
