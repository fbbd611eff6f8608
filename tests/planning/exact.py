"""Exact errors of surveys of people whose values are all known: the second route to what a plan says at the worst."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ldpnb.surveys.variances import Variance


def spread(values: Any) -> float:
    return float(np.var(values, ddof=1)) if len(values) > 1 else 0.0


def simple_variance(values: ArrayLike, noises: ArrayLike, sample: int) -> Variance:
    """Of the mean of the reports of a simple random sample."""
    held = np.asarray(values, dtype=float)
    return Variance((1 - sample / held.size) * spread(held) / sample, float(np.mean(noises)) / sample)


def clusters_variance(
    values: Sequence[ArrayLike],
    noises: Sequence[ArrayLike],
    chosen: int,
    takes: Sequence[int] | None = None,
    *,
    centre: float = 0.0,
) -> Variance:
    """Of ``c + M / (m N) sum over drawn clusters of N_g (mean of the reports - c)``; `takes` are asked in each."""
    held, noise = [np.asarray(v, dtype=float) - centre for v in values], np.array([np.mean(v) for v in noises])
    sizes = np.array([v.size for v in held])
    asked, clusters, people = sizes if takes is None else np.array(takes), sizes.size, sizes.sum()
    factor = clusters / (chosen * people**2)
    between = (clusters - chosen) * spread([v.sum() for v in held])
    within = np.sum(sizes**2 * (1 - asked / sizes) * [spread(v) for v in held] / asked)
    return Variance(factor * (between + within), factor * np.sum(sizes**2 * noise / asked))


def ratio_errors(values: Sequence[ArrayLike], noises: Sequence[ArrayLike], chosen: int) -> tuple[float, float]:
    """Bias and mean squared error of the sum of reports over the number of people in whole clusters, by all samples."""
    assert math.comb(len(values), chosen) <= 10**5
    samples = np.array(list(combinations(range(len(values)), chosen)))
    totals, noise, people = (
        np.array([f(part) for part in parts])[samples].sum(axis=1)
        for f, parts in ((np.sum, values), (np.sum, noises), (np.size, values))
    )
    errors = totals / people - np.mean(np.concatenate([np.asarray(v) for v in values]))
    return float(errors.mean()), float(np.mean(errors**2 + noise / people**2))


def poisson_variance(values: ArrayLike, noises: ArrayLike, rates: ArrayLike, *, centre: float = 0.0) -> Variance:
    """Of the Horvitz-Thompson mean where all take part independently, at a rate of their own."""
    held, chance = np.asarray(values, dtype=float) - centre, np.asarray(rates, dtype=float)
    parts = np.sum((1 - chance) * held**2 / chance), np.sum(np.asarray(noises) / chance)
    return Variance(*(float(part) / held.size**2 for part in parts))
