"""Charts for Biswas, Cormode and Maple: histograms with their estimates, distances, budgets."""

import math

import pandas as pd

from ldpnb.notebook import curves
from ldpnb.notebook.charts import Chart, Layer, Mark
from ldpnb.papers.biswas2022.tables.sampling import (
    DISTANCE,
    PROJECTED,
    RATE,
    RAW,
    lowest_against_highest,
)
from ldpnb.papers.biswas2022.tables.shuffling import CENTRAL, LOCAL
from ldpnb.words import short


def estimated_histograms(table: pd.DataFrame, *, row: str = "", title: str, setting: str) -> Chart:
    """Draw a table of `tables.sampling.estimates`, a panel for each `row` and estimator."""
    has_names = isinstance(table["value"].iloc[0], str)

    return Chart(
        table,
        "value",
        "users holding the value",
        layers=(
            Layer(name="mean ± 2 sd (exact)", y="expected", error="standard_deviation"),
            Layer(name="estimate", y="estimate", mark="points"),
            Layer(name="truth", y="truth"),
        ),
        panel=(row, "estimator") if row else "estimator",
        xscale="category" if has_names else "linear",
        title=title,
        setting=setting,
    )


def sampled_histograms(table: pd.DataFrame, *, setting: str) -> Chart:
    """Draw a table of `tables.sampling.estimates`, and say by how much c_DE falls short."""
    lowest = table["sampling_rate"].min()
    biased = table[(table["estimator"] == "c_DE") & (table["sampling_rate"] == lowest)]
    missing = math.floor((biased["truth"] - biased["expected"]).min())

    if lowest == 1:
        title = "Where everybody reports, all three estimates are unbiased"
    elif missing < 1:
        title = f"At π = {lowest:g}, the mean of c_DE is too low at every value"
    else:
        title = f"At π = {lowest:g}, the mean of c_DE is at least {missing:,} users too low"
    return estimated_histograms(table, row="sampling", title=title, setting=setting)


def distance_and_cost(table: pd.DataFrame, *, setting: str = "") -> Chart:
    """Draw a table of `tables.sampling.distances`."""
    least = lowest_against_highest(table)["raw ratio"].min()
    rounded_down = math.floor(100 * least) / 100
    title = (
        f"At π = {table[RATE].min():g}, the raw estimate is at least {rounded_down:.2f} times "
        f"as far off as at π = {table[RATE].max():g}"
    )
    limits = [
        Mark(y=1.0, label="", printed=True, panel=RAW),
        Mark(
            y=1.0,
            label="no two distributions are farther apart",
            printed=True,
            panel=PROJECTED,
        ),
    ]

    return curves(
        table,
        RATE,
        DISTANCE,
        by="budget",
        panel="estimate",
        error="standard_error",
        xlabel="sampling rate π = expected reports / users",
        yscale="log",
        title=title,
        setting=setting,
        marks=limits,
    )


def central_budget(table: pd.DataFrame, *, setting: str) -> Chart:
    """Draw a table of `tables.shuffling.budgets`.

    Both bounds agree so well that one curve shows both.
    """
    wide = table.pivot_table(index=["sampling", LOCAL], columns="bound", values=CENTRAL, sort=False)
    largest_ratio = (wide["upper bound"] / wide["lower bound"]).max()
    agree = f"{100 * (largest_ratio - 1):.1g}%"

    if "published" in wide:
        over = short((wide["published"] / wide["upper bound"]).max())
        title = f"A general bound overstates the central budget by a factor of up to {over}"
    else:
        title = f"Both bounds on the central budget agree within {agree}"

    return curves(
        table[table["bound"] != "lower bound"],
        LOCAL,
        CENTRAL,
        by="curve",
        xlabel="local ε (nats)",
        ylabel="central ε (nats)",
        yscale="log",
        discrete=True,
        title=title,
        setting=f"{setting}; the upper bound is drawn, the lower one is within {agree} of it",
    )


def deviations(account: pd.DataFrame) -> Chart:
    """Draw the standard deviations of one row of `tables.shuffling.accounting`."""
    names = ["c-hat, rare", "c-hat, common", "Gaussian", "Laplace"]
    value = "standard deviation of an estimated count (users)"
    row = account[names].iloc[0].astype(float)
    return Chart(
        row.rename(value).rename_axis("mechanism").reset_index(),
        "mechanism",
        value,
        by="mechanism",
        xlabel="",
        xscale="category",
        yscale="log",
        mark="points",
    )
