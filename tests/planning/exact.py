"""Exact variances of estimates of known values, against which the designs' are held; enumeration confirms them."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from ldpnb.surveys.variances import Variance


def spread(values: ArrayLike) -> float:
    held = np.asarray(values, dtype=float)
    return float(held.var(ddof=1)) if held.size > 1 else 0.0


def simple_variance(values: ArrayLike, noises: ArrayLike, drawn: int) -> Variance:
    """Of the mean of a simple random sample; `noises` are the variances of everybody's report."""
    rate = drawn / np.size(values)
    return Variance((1 - rate) * spread(values) / drawn, float(np.mean(noises)) / drawn)


def cluster_variance(
    values: Sequence[ArrayLike],
    noises: Sequence[ArrayLike],
    chosen: int,
    takes: Sequence[int] | None = None,
    centre: float = 0.0,
) -> Variance:
    """Of ``c + M / (m N) sum over drawn clusters of N_g (mean of the reports - c)``; all of a cluster without takes."""
    held = [np.asarray(v, dtype=float) - centre for v in values]
    clusters, sizes = len(held), np.array([v.size for v in held])
    asked = sizes if takes is None else np.array(takes)
    totals, s2 = np.array([v.sum() for v in held]), np.array([spread(v) for v in held])
    noise, factor = np.array([np.mean(v) for v in noises]), clusters / (chosen * sizes.sum() ** 2)
    between = (clusters - chosen) * spread(totals)
    within = float(np.sum(sizes**2 * (1 - asked / sizes) * s2 / asked))
    return Variance(factor * (between + within), factor * float(np.sum(sizes**2 * noise / asked)))


def ratio_errors(values: Sequence[ArrayLike], noises: Sequence[ArrayLike], chosen: int) -> tuple[float, float]:
    """Bias and mean squared error of the sum of reports over the number of people in whole clusters, by all samples."""
    samples = np.array(list(combinations(range(len(values)), chosen)))
    totals, noise = (np.array([np.sum(part) for part in parts])[samples].sum(1) for parts in (values, noises))
    people = np.array([np.size(v) for v in values])[samples].sum(axis=1)
    errors = totals / people - np.concatenate(values).mean()
    return float(errors.mean()), float(np.mean(errors**2 + noise / people**2))


def poisson_variance(values: ArrayLike, noises: ArrayLike, rates: ArrayLike, centre: float = 0.0) -> Variance:
    """Of the Horvitz-Thompson mean where everybody takes part independently, at a rate of their own."""
    held, chance = np.asarray(values, dtype=float) - centre, np.asarray(rates, dtype=float)
    sampling, noise = float(np.sum((1 - chance) * held**2 / chance)), float(np.sum(np.asarray(noises) / chance))
    return Variance(sampling / held.size**2, noise / held.size**2)
