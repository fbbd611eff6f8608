"""Drawings for biswas2022 beyond `ldpnb.notebook.curves`: histograms with their estimates, bars."""

from typing import Any

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


def estimated_histograms(table: pd.DataFrame, *, row: str, title: str, setting: str) -> Chart:
    """Draw a table as `ldpnb.papers.biswas2022.tables.sampling.estimates` returns, a panel per `row` and estimator."""
    layers = (
        Layer(name="mean ± 2 sd (exact)", y="expected", error="standard_deviation"),
        Layer(name="estimate", y="estimate", mark="points"),
        Layer(name="truth", y="truth"),
    )
    scale = "category" if isinstance(table["value"].iloc[0], str) else "linear"
    drawn: dict[str, Any] = {"layers": layers, "panel": (row, "estimator"), "xscale": scale}
    return Chart(table, "value", "users holding the value", **drawn, title=title, setting=setting)


def sampled_histograms(table: pd.DataFrame, *, setting: str) -> Chart:
    """Draw `ldpnb.papers.biswas2022.tables.sampling.estimates`, and say by how much c_DE falls short."""
    lowest = table["sampling_rate"].min()
    biased = table[(table["estimator"] == "c_DE") & (table["sampling_rate"] == lowest)]
    short_by = short((biased["truth"] - biased["expected"]).min())
    title = f"At π = {lowest:g} c_DE falls short by {short_by} users or more at every value; g_DE and c-hat do not"
    if lowest == 1:
        title = "Where everybody reports all three estimates are unbiased"
    return estimated_histograms(table, row="sampling_rate", title=title, setting=setting)


def distance_and_cost(table: pd.DataFrame, *, setting: str = "") -> Chart:
    """Draw `ldpnb.papers.biswas2022.tables.sampling.distances`."""
    least = lowest_against_highest(table)["raw ratio"].min()
    title = f"With {table[RATE].min():.0%} of the reports the raw distance is at least {least:.2f} times as large"
    axes: dict[str, Any] = {
        "by": "budget",
        "panel": "estimate",
        "error": "standard_error",
        "yscale": "log",
    }
    axes["xlabel"] = "sampling rate π = expected reports / users"
    words = {RAW: "", PROJECTED: "no two distributions are farther apart"}
    limits = [Mark(y=1.0, label=text, printed=True, panel=panel) for panel, text in words.items()]
    return curves(table, RATE, DISTANCE, **axes, title=title, setting=setting, marks=limits)


def central_budget(table: pd.DataFrame, *, setting: str) -> Chart:
    """Draw `ldpnb.papers.biswas2022.tables.shuffling.budgets`: where both bounds agree, one curve is both."""
    wide = table.pivot_table(index=["sampling", LOCAL], columns="bound", values=CENTRAL, sort=False)
    agree = f"{100 * ((wide['upper bound'] / wide['lower bound']).max() - 1):.1g}%"
    title = f"Both bounds on the central budget agree within {agree}"
    if "published" in wide:
        over = short((wide["published"] / wide["upper bound"]).max())
        title = f"The published bound on the central budget is up to {over} times the one for this mechanism"
    setting += f"; the upper bound is drawn, the lower one is within {agree} of it"
    shown = table[table["bound"] != "lower bound"]
    return curves(
        shown, LOCAL, CENTRAL, by="curve", yscale="log", discrete=True, title=title, setting=setting
    )


def deviations(account: pd.DataFrame) -> Chart:
    """Draw the standard deviations of one row of `ldpnb.papers.biswas2022.tables.shuffling.accounting`."""
    names = ["c-hat, rare", "c-hat, common", "Gaussian", "Laplace"]
    value = "standard deviation of an estimated count (users)"
    rows = account[names].iloc[0].astype(float).rename(value).rename_axis("mechanism").reset_index()
    return Chart(
        rows,
        "mechanism",
        value,
        by="mechanism",
        xlabel="",
        xscale="category",
        yscale="log",
        mark="points",
    )
