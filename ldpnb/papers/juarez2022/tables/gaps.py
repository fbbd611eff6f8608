"""Tables about the gap between two group means: budgets that a target costs, errors that a budget buys, and exact
simulations of both.

Families of mechanisms carry the names they have in every figure: ``M_R`` and ``M_L, k = 2`` keep the budget they are
given; ``M_R as published`` and ``M_L as published`` are the allocations of juarez2022, whose loss is larger than the
budget they claim.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from ldpnb.accuracy import budgets
from ldpnb.mechanisms.contrasts import Contrast, SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.privacy import hockey_stick
from ldpnb.rng import stream

Family = Callable[[float], GroupMeans | Contrast]


def families(clients: int) -> dict[str, Family]:
    """Return the mechanisms for two equal groups by name, each from a budget in nats."""
    halves = (clients // 2, clients // 2)
    return {
        "M_R as published": DiscretisedMeans.published,
        "M_R": DiscretisedMeans.calibrated,
        "M_L as published": LaplaceMeans.published,
        "M_L, k = 2": LaplaceMeans.calibrated,
        "signed bit": partial(SignedBit, sizes=halves),
        "signed Laplace": partial(SignedLaplace, sizes=halves),
    }


def epsilon_table(
    clients: Sequence[int],
    alphas: Sequence[float],
    methods: Sequence[tuple[str, str]],
    *,
    failure: float,
) -> pd.DataFrame:
    """Return the smallest budget that meets each target, for two groups of equal size.

    Parameters
    ----------
    clients : sequence of int
        Numbers of clients ``K``, even.
    alphas : sequence of float
        Largest acceptable errors of the gap, on the scale of values in ``[-1, 1]``.
    methods : sequence of (str, str)
        Name of a family and of a tail of `budgets.TAILS`.
    failure : float
        Allowed probability of a larger error.

    Returns
    -------
    DataFrame
        Columns ``mechanism, tail, clients, alpha, epsilon, exact_epsilon``: the budget in nats (infinite if none
        suffices), and the exact privacy loss of the mechanism at that budget.
    """
    rows = []
    for name, tail in methods:
        for total in clients:
            family = families(total)[name]
            for alpha in alphas:
                budget = budgets.smallest_epsilon(family, total, alpha, failure=failure, tail=tail)
                loss = family(budget).epsilon if np.isfinite(budget) else np.inf
                rows.append(
                    {"mechanism": name, "tail": tail, "clients": total, "alpha": alpha}
                    | {"epsilon": budget, "exact_epsilon": loss}
                )
    return pd.DataFrame(rows)


def prints_as(value: float, printed: float, decimals: int) -> bool:
    """Return whether a value rounds to a printed one; a dash is infinite.

    Examples
    --------
    >>> prints_as(1.86096, 1.86, 2), prints_as(np.inf, np.inf, 0), prints_as(1.866, 1.86, 2)
    (True, True, False)
    """
    return value == printed if np.isinf(printed) else round(value, decimals) == printed


def corrected_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return Table 1 with corrections from an `epsilon_table` of the published and the calibrated mechanisms by
    Chebyshev's inequality.

    Returns
    -------
    DataFrame
        A row per number of clients and alpha; columns ``clients, alpha`` and, for either mechanism, ``claimed`` (as
        published), ``exact`` (the loss of that very mechanism) and ``kept`` (budget of the mechanism that keeps it).
    """
    by_name = {name: rows.set_index(["clients", "alpha"]) for name, rows in table.groupby("mechanism")}
    columns = {}
    for short, kept in (("M_R", "M_R"), ("M_L", "M_L, k = 2")):
        columns[f"{short} claimed"] = by_name[f"{short} as published"]["epsilon"]
        columns[f"{short} exact"] = by_name[f"{short} as published"]["exact_epsilon"]
        columns[f"{short} kept"] = by_name[kept]["epsilon"]
    return pd.DataFrame(columns).reset_index()


def target_curves(targets: Sequence[float], *, clients: int, failure: float) -> pd.DataFrame:
    """Return the smallest budgets against the one number they depend on by Chebyshev's inequality, ``K alpha^2``
    (nearly so by other tails).

    Parameters
    ----------
    targets : sequence of float
        Values of ``K alpha^2``.
    clients : int
        ``K``, which only the exact binomial tail notices.
    failure : float
        Allowed probability of a larger error.

    Returns
    -------
    DataFrame
        Columns ``mechanism`` (``M_R`` or ``M_L``), ``way, target, epsilon``; finite budgets only.
    """
    alphas = np.sqrt(np.asarray(targets, dtype=float) / clients).tolist()
    ways = {
        ("M_R", "claimed, as published"): ("M_R as published", "chebyshev", "epsilon"),
        ("M_R", "lost, as published"): ("M_R as published", "chebyshev", "exact_epsilon"),
        ("M_R", "kept, allocated anew"): ("M_R", "chebyshev", "epsilon"),
        ("M_R", "kept, exact tail"): ("M_R", "exact", "epsilon"),
        ("M_L", "claimed, as published"): ("M_L as published", "chebyshev", "epsilon"),
        ("M_L", "kept, k = 2"): ("M_L, k = 2", "chebyshev", "epsilon"),
        ("M_L", "kept, Chernoff tail"): ("M_L, k = 2", "chernoff", "epsilon"),
    }
    parts = []
    for (mechanism, way), (family, tail, column) in ways.items():
        part = epsilon_table([clients], alphas, [(family, tail)], failure=failure)
        columns = {"mechanism": mechanism, "way": way, "target": list(targets), "epsilon": part[column]}
        parts.append(pd.DataFrame(columns))
    table = pd.concat(parts, ignore_index=True)
    finite: pd.DataFrame = table.loc[np.isfinite(table["epsilon"])]
    return finite.reset_index(drop=True)


def alpha_table(epsilons: Sequence[float], clients: int, *, failure: float) -> pd.DataFrame:
    """Return the error of a gap between *rates* that each mechanism exceeds with probability `failure` at most, equal
    groups.

    Returns
    -------
    DataFrame
        Columns ``mechanism, tail, epsilon, alpha``; a rate is ``(v + 1) / 2``, so alpha is half of that for values.
    """
    rows = []
    for name in ("M_R as published", "M_R", "M_L as published", "M_L, k = 2", "signed bit"):
        for tail in ("chebyshev", "normal"):
            for epsilon in epsilons:
                alpha = budgets.alpha_bound(families(clients)[name](epsilon), clients, failure=failure, tail=tail) / 2
                rows.append({"mechanism": name, "tail": tail, "epsilon": epsilon, "alpha": alpha})
    return pd.DataFrame(rows)


def published_laplace_delta(epsilons: Sequence[float]) -> pd.DataFrame:
    """Return what the source's "optimal" ``M_L`` really offers at the budgets it claims.

    Returns
    -------
    DataFrame
        Columns ``epsilon, delta, total_variation``: the claimed budget, the exact delta at it, and the total variation
        distance between the reports of the two clients that are easiest to tell apart.
    """
    mechanisms = [LaplaceMeans.published(epsilon) for epsilon in epsilons]
    return pd.DataFrame(
        {
            "epsilon": list(epsilons),
            "delta": [hockey_stick.laplace_means_delta(m, e) for m, e in zip(mechanisms, epsilons, strict=True)],
            "total_variation": [hockey_stick.total_variation(m) for m in mechanisms],
        }
    )


def simulated_failures(table: pd.DataFrame, *, repetitions: int, seed: int) -> pd.DataFrame:
    """Simulate the mechanisms of an `epsilon_table` at its budgets and count how often the gap is off by alpha or more.

    All values are 0 for mechanisms that send signs and 1 for those that add noise, where the variance is largest; the
    gap is 0 either way.

    Returns
    -------
    DataFrame
        Its finite rows with columns ``failures`` (share of the repetitions) and ``standard_error`` (binomial, at least
        that of one failure).
    """
    rows: pd.DataFrame = table.loc[np.isfinite(table["epsilon"])].copy()
    keys = ("mechanism", "tail", "clients", "alpha", "epsilon")
    shares = []
    for name, tail, clients, alpha, epsilon in zip(*(rows[key].tolist() for key in keys), strict=True):
        half = clients // 2
        mechanism = families(clients)[name](epsilon)
        value = 1.0 if isinstance(mechanism, LaplaceMeans | SignedLaplace) else 0.0
        rng = stream("failures", name, tail, clients, alpha, seed=seed)
        sums = mechanism.sample_sums([[half], [half]], [value], repetitions=repetitions, rng=rng)
        difference = sums if sums.ndim == 1 else sums[:, 0] - sums[:, 1]
        shares.append(float(np.mean(np.abs(difference) >= alpha * half * mechanism.gain)))
    rows["failures"] = shares
    rows["standard_error"] = np.sqrt(np.maximum(rows["failures"], 1 / repetitions) / repetitions)
    return rows
