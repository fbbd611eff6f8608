"""Shuffled and sampled k-ary randomised response against central mechanisms at equal privacy."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from ldpnb.accuracy.histograms import central_laplace_count_variance
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.notebook import Rows, table
from ldpnb.privacy import shuffling

LOCAL, CENTRAL = "local epsilon (nats)", "central epsilon (nats)"


@table
def accounting(
    epsilons: Sequence[float],
    sampling_rates: Sequence[float],
    *,
    users: int,
    domain_size: int,
    delta: float,
    share: float,
) -> Rows:
    """Yield the central budget of shuffled reports, and standard deviations in users at that budget.

    ``upper`` and ``lower`` bound the central epsilon; the published ``closed form`` takes all users reporting and is
    missing outside its range; ``n π q`` are the random reports per value. c-hat is taken at a ``rare`` value, held by
    nobody, and at a ``common`` one, held by a share of users; Gaussian and Laplace noise are for the upper bound.
    """
    for rate, epsilon in product(sampling_rates, epsilons):
        known = (users, rate, KaryRandomisedResponse(epsilon, domain_size))
        reports = shuffling.ShuffledReports(*known)
        upper, lower = reports.epsilon_upper(delta), reports.epsilon_lower(delta)
        rare, common = np.sqrt(SampledCounts(*known).variance_realised_size([0, share * users]))
        yield {
            "sampling": f"π = {rate:g}",
            "local": epsilon,
            "upper": upper,
            "lower": lower,
            "closed form": shuffling.closed_form(delta, users=users, epsilon=epsilon)
            if rate == 1
            else np.nan,
            "n π q": users * rate * reports.mechanism.q,
            "c-hat, rare": rare,
            "c-hat, common": common,
            "Gaussian": shuffling.gaussian_deviation(upper, delta),
            "Laplace": np.sqrt(central_laplace_count_variance(upper)),
        }


def budgets(table: pd.DataFrame) -> pd.DataFrame:
    """Return the central budgets of `accounting`, by sampling rate, local budget and bound, and the curves' names."""
    names = {
        "upper": "upper bound",
        "lower": "lower bound",
        "closed form": "published",
        "local": LOCAL,
    }
    long = table.rename(columns=names).melt(
        id_vars=["sampling", LOCAL],
        value_vars=list(names.values())[:3],
        var_name="bound",
        value_name=CENTRAL,
    )
    before = long["bound"].map(
        {"upper bound": "", "lower bound": "lower bound, ", "published": "published, "}
    )
    return long.assign(curve=before + long["sampling"]).dropna().reset_index(drop=True)


@table
def variance_ratios(accounts: pd.DataFrame) -> Rows:
    """Yield the variance of c-hat over that of the central Gaussian mechanism at equal privacy, from `accounting`."""
    for value, (_, row) in product(("rare", "common"), accounts.iterrows()):
        ratio = np.square(row[f"c-hat, {value}"] / row["Gaussian"])
        at = {"value": f"{value} value", "sampling": row["sampling"], CENTRAL: row["upper"]}
        yield at | {"relative variance": ratio}
