"""Plain formulas that plans are held against: variances where all values are known."""

from typing import Any

import numpy as np


def strata_variance(sizes: Any, s2: Any, noises: Any, drawn: Any) -> float:
    n, size = np.array(drawn, dtype=float), np.array(sizes, dtype=float)
    return float(
        np.sum((size / size.sum()) ** 2 * ((1 - n / size) * np.array(s2) + np.array(noises)) / n)
    )


def clusters_variance(
    values: Any, noises: Any, chosen: int, takes: Any = None, centre: float = 0.0
) -> float:
    """Of ``c + M/(m N)`` times the sum over drawn clusters of ``N_g`` (mean of the reports - c)."""
    sizes = np.array([len(part) for part in values])
    asked = sizes if takes is None else np.array(takes)
    totals = np.array([np.sum(np.array(part) - centre) for part in values])
    within = np.array([np.var(part, ddof=1) if len(part) > 1 else 0.0 for part in values])
    noise = np.array([np.mean(part) for part in noises])
    clusters = len(values)
    second = np.sum(sizes**2 * ((1 - asked / sizes) * within + noise) / asked)
    first = (clusters - chosen) * np.var(totals, ddof=1)
    return float(clusters / (chosen * sizes.sum() ** 2) * (first + second))


def intracluster_correlation(values: Any) -> float:
    part = np.array(values)
    size, away = part.shape[1], part - part.mean()
    pairs = np.sum(away.sum(axis=1) ** 2) - np.sum(away**2)
    return float(pairs / ((size - 1) * np.sum(away**2)))
