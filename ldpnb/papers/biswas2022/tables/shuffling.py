"""Shuffled and sampled k-ary randomised response against the central Gaussian and Laplace mechanisms at equal privacy."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ldpnb.accuracy import sampling as accuracy
from ldpnb.accuracy.histograms import central_laplace_count_variance
from ldpnb.accuracy.sampling import Setting
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import shuffling


def accounting(
    epsilons: Sequence[float],
    sampling_rates: Sequence[float],
    *,
    nodes: int,
    domain_size: int,
    delta: float,
    share: float,
) -> pd.DataFrame:
    """Account for shuffled reports and compare the standard deviation of c-hat with central mechanisms at the same
    budget.

    Parameters
    ----------
    epsilons : sequence of float
        Local budgets, nats.
    sampling_rates : sequence of float
    nodes, domain_size : int
    delta : float
        Of the central guarantee.
    share : float
        Share of nodes that hold a second, common value.

    Returns
    -------
    DataFrame
        A row per setting: ``sampling``, ``local``, the bounds ``upper`` and ``lower`` on the central epsilon, the
        published ``closed form`` (all nodes reporting; missing outside its range), the random reports per value ``n pi
        q``, and standard deviations in nodes: ``c-hat, rare`` at a value nobody holds, ``c-hat, common`` at the other,
        ``Gaussian`` and ``Laplace`` at the upper bound.
    """
    rows = []
    for rate in sampling_rates:
        for epsilon in epsilons:
            mechanism = KaryRandomisedResponse(epsilon, domain_size)
            upper = shuffling.epsilon_upper(delta, nodes=nodes, sampling_rate=rate, mechanism=mechanism)
            lower = shuffling.epsilon_lower(delta, nodes=nodes, sampling_rate=rate, mechanism=mechanism)
            generic = shuffling.closed_form(delta, nodes=nodes, epsilon=epsilon) if rate == 1 else np.nan
            setting: Setting = {"nodes": nodes, "sampling_rate": rate, "mechanism": mechanism}
            variances = accuracy.variance_realised_size([0, share * nodes], **setting)
            gaussian = shuffling.gaussian_deviation(upper, delta)
            laplace = np.sqrt(central_laplace_count_variance(upper))
            deviations = (*np.sqrt(variances), gaussian, laplace)
            rows.append((f"π = {rate:g}", epsilon, upper, lower, generic, nodes * rate * mechanism.q, *deviations))
    columns = ["upper", "lower", "closed form", "n π q", "c-hat, rare", "c-hat, common", "Gaussian", "Laplace"]
    return pd.DataFrame(rows, columns=["sampling", "local", *columns])


def budgets(table: pd.DataFrame) -> pd.DataFrame:
    """Return the central budgets of `accounting` in long form.

    Returns
    -------
    DataFrame
        Columns ``sampling, bound, local epsilon, central epsilon``.
    """
    names = {"upper": "upper bound", "lower": "lower bound", "closed form": "published"}
    long = table.rename(columns=names).melt(
        id_vars=["sampling", "local"], value_vars=list(names.values()), var_name="bound", value_name="central epsilon"
    )
    return long.rename(columns={"local": "local epsilon"}).dropna().reset_index(drop=True)


def variance_ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Return the variance of c-hat over that of the central Gaussian mechanism at equal privacy, from `accounting`.

    Returns
    -------
    DataFrame
        Columns ``value`` (rare or common), ``sampling, central epsilon, relative variance``.
    """
    parts = []
    for value in ("rare", "common"):
        ratio = (table[f"c-hat, {value}"] / table["Gaussian"]) ** 2
        rows = {"value": f"{value} value", "sampling": table["sampling"], "central epsilon": table["upper"]}
        parts.append(pd.DataFrame(rows | {"relative variance": ratio}))
    return pd.concat(parts, ignore_index=True)
