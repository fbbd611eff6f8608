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

LOCAL = "local epsilon (nats)"
CENTRAL = "central epsilon (nats)"


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
    """Tabulate the central budget of shuffled reports, and standard deviations at that budget.

    ``upper`` and ``lower`` bound the central epsilon. The published ``closed form`` is for all
    users reporting, and is missing outside its range. ``n π q`` are the random reports per value.
    Standard deviations are in users. That of c-hat is taken at a ``rare`` value, held by nobody,
    and at a ``common`` one, held by a share of users. Gaussian and Laplace noise are for the upper
    bound.
    """
    for rate, epsilon in product(sampling_rates, epsilons):
        mechanism = KaryRandomisedResponse(epsilon, domain_size)
        reports = shuffling.ShuffledReports(users, rate, mechanism)
        upper = reports.epsilon_upper(delta)
        lower = reports.epsilon_lower(delta)
        closed_form = np.nan
        if rate == 1:
            closed_form = shuffling.closed_form(delta, users=users, epsilon=epsilon)

        survey = SampledCounts(users, rate, mechanism)
        rare, common = np.sqrt(survey.variance_realised_size([0, share * users]))

        yield {
            "sampling": f"π = {rate:g}",
            "local": epsilon,
            "upper": upper,
            "lower": lower,
            "closed form": closed_form,
            "n π q": users * rate * mechanism.q,
            "c-hat, rare": rare,
            "c-hat, common": common,
            "Gaussian": shuffling.gaussian_deviation(upper, delta),
            "Laplace": np.sqrt(central_laplace_count_variance(upper)),
        }


def budgets(table: pd.DataFrame) -> pd.DataFrame:
    """Return the central budgets of `accounting`, with the names of the curves that show them.

    There is a row for each sampling rate, local budget and bound.
    """
    bounds = ["upper bound", "lower bound", "published"]
    renamed = table.rename(
        columns={
            "upper": "upper bound",
            "lower": "lower bound",
            "closed form": "published",
            "local": LOCAL,
        }
    )
    long = renamed.melt(
        id_vars=["sampling", LOCAL],
        value_vars=bounds,
        var_name="bound",
        value_name=CENTRAL,
    )

    prefixes = {
        "upper bound": "",
        "lower bound": "lower bound, ",
        "published": "general, ",
    }
    curve = long["bound"].map(prefixes) + long["sampling"]
    return long.assign(curve=curve).dropna().reset_index(drop=True)


@table
def variance_ratios(accounts: pd.DataFrame) -> Rows:
    """Tabulate how c-hat compares with the central Gaussian mechanism at equal privacy.

    It is the ratio of their variances, for rows of `accounting`.
    """
    for value, (_, row) in product(("rare", "common"), accounts.iterrows()):
        yield {
            "value": f"{value} value",
            "sampling": row["sampling"],
            CENTRAL: row["upper"],
            "relative variance": np.square(row[f"c-hat, {value}"] / row["Gaussian"]),
        }
