"""Plain formulas that plans are held against: variances where all values are known, losses, and a threshold."""

import math
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq


def simple_variance(values: Any, noises: Any, sample: int) -> float:
    """Of the mean of the reports of a simple random sample."""
    people = len(values)
    return float((1 - sample / people) * np.var(values, ddof=1) / sample + np.mean(noises) / sample)


def strata_variance(sizes: Any, s2: Any, noises: Any, drawn: Any) -> float:
    n, size = np.array(drawn, dtype=float), np.array(sizes, dtype=float)
    return float(np.sum((size / size.sum()) ** 2 * ((1 - n / size) * np.array(s2) + np.array(noises)) / n))


def clusters_variance(values: Any, noises: Any, chosen: int, takes: Any = None, centre: float = 0.0) -> float:
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


def two_stage_loss(clusters: int, size: int, chosen: int, take: int, epsilon: float) -> float:
    """Of randomised response on bits in two stages, at the worst number of ones in the rest of a cluster."""

    def growth(asked: int) -> Any:
        if asked > size - 1:
            return np.ones(size)
        drawn = np.arange(asked + 1)
        return np.array([stats.hypergeom.pmf(drawn, size - 1, k, asked) @ np.exp(epsilon * drawn) for k in range(size)])

    p, f = chosen / clusters, take / size
    own, other = f * growth(take - 1), (1 - f) * growth(take)
    return float(np.log((p * (own * math.exp(epsilon) + other) + 1 - p) / (p * (own + other) + 1 - p)).max())


def one_question_threshold(questions: int) -> float:
    """Budget below which one random question each beats answers to all, ``coth^2(e / (2 q)) = q coth^2(e / 2)``."""

    def gain(epsilon: float) -> float:
        return float(np.tanh(epsilon / 2) ** 2 - questions * np.tanh(epsilon / (2 * questions)) ** 2)

    return float(brentq(gain, 1.0, 100.0 * questions, xtol=1e-13))
