"""A survey from plan to estimate: a made population, fieldwork by the plan, and what many repetitions of it show."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from ldpnb import checks
from ldpnb.notebook import Mark, curves, short, table
from ldpnb.rng import stream
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan

Floats = NDArray[np.float64]

FALSE_ALARM = 1e-6
"""Probability with which a kept promise is reported as broken."""


def population(clusters: int, size: int, *, mean: float, sd: float, icc: float, seed: int) -> Floats:
    """Return made values in ``[0, 1]``, ``(clusters, size)``: beta laws of cluster means, and around these.

    Parameters
    ----------
    clusters, size : int
    mean, sd : float
        Of the law of all values; the standard deviation is less than ``sqrt(mean (1 - mean))``.
    icc : float
        In ``(0, 1)``: the share of the variance that is between clusters.
    seed : int
    """
    rng, whole = stream("survey population", seed=seed), mean * (1 - mean)
    checks.open_probability(mean=mean)
    spread = min(checks.positive(sd=sd) ** 2, 0.999 * whole)
    share = float(np.clip(icc, 1e-6, 0.999))
    among, inside = whole / (share * spread) - 1, (whole - spread) / ((1 - share) * spread)
    centres = np.clip(rng.beta(among * mean, among * (1 - mean), (clusters, 1)), 1e-9, 1 - 1e-9)
    return rng.beta(inside * centres, inside * (1 - centres), (clusters, size))


def fieldwork(values: Floats, plan: FieldPlan, *, seed: int, repetition: int = 0) -> pd.DataFrame:
    """Return the reports of one collection by a plan of clusters: one bit of a number from everybody who is asked.

    Parameters
    ----------
    values : (clusters, size) float
        In the plan's range.
    plan : FieldPlan
        Of clusters, with reports of the kind ``number``.
    seed, repetition : int
    """
    rng = stream("survey fieldwork", repetition, seed=seed)
    drawn = rng.choice(len(values), plan.chosen, replace=False)
    take = plan.take or values.shape[1]
    asked = np.array([rng.choice(values[cluster], take, replace=False) for cluster in drawn])
    device, share = plan.reports, (asked - plan.low) / (plan.high - plan.low)
    bits = rng.random(asked.shape) < device.q + device.truth * share
    return pd.DataFrame({"cluster": np.repeat(drawn, take), "report": bits.ravel().astype(int)})


@table
def repeated(values: Floats, plan: FieldPlan, *, repetitions: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the estimate and its interval from each of many collections, with the error against the true mean."""
    truth = float(values.mean())
    for repetition in range(repetitions):
        row = estimate(plan, fieldwork(values, plan, seed=seed, repetition=repetition), alpha=plan.failure).rows[0]
        yield {"estimate": row.estimate, "error": row.estimate - truth, "covered": row.low <= truth <= row.high}


def verdict(found: pd.DataFrame, plan: FieldPlan) -> str:
    """Return how often collections missed the promised error, and how often their intervals cover the truth."""
    number, missed = len(found), int((found["error"].abs() >= plan.error).sum())
    kept = "is kept" if missed <= stats.binom.isf(FALSE_ALARM, number, plan.failure) else "is broken"
    noise = np.sqrt(plan.failure * (1 - plan.failure) / number)
    return (
        f"The promise {kept}: of {number:,} collections {missed / number:.1%} are off by {plan.error:g} or more, and "
        f"{plan.failure:.1%} were allowed. Intervals cover the truth in {found['covered'].mean():.1%} "
        f"(wanted: {1 - plan.failure:.1%}, give or take {2 * noise:.1%})."
    )


@table
def errors(found: pd.DataFrame, plan: FieldPlan) -> Iterator[dict[str, Any]]:
    """Yield the share of collections by their error, in bins of a quarter of the promised one, the last ones open."""
    edges = plan.error / 4 * np.arange(-8, 9)
    shares = np.histogram(found["error"].clip(edges[0], edges[-1]), edges)[0] / len(found)
    for left, right, share in zip(edges[:-1], edges[1:], shares, strict=True):
        yield {"error of the estimate": (left + right) / 2, "share of collections": float(share)}


def drawn_errors(rows: pd.DataFrame, plan: FieldPlan, *, setting: str = "") -> Figure:
    """Draw how the errors of many collections spread around the promised one."""
    outside = rows[rows["error of the estimate"].abs() > plan.error]["share of collections"].sum()
    marks = (Mark(x=-plan.error), Mark(x=plan.error, label=f"promised: {short(plan.error)}"))
    title = f"{outside:.1%} of the collections miss the promised error; {plan.failure:.1%} may"
    axes: dict[str, Any] = {"x": "error of the estimate", "y": "share of collections"}
    return curves(rows, **axes, title=title, setting=setting, marks=marks, discrete=True)
