"""A survey from plan to estimate: a made population, fieldwork by the plan, and the estimates of many repetitions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.notebook import table
from ldpnb.rng import stream
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan

Floats = NDArray[np.float64]


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

    `values`, ``(clusters, size)``, are in the plan's range.
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
