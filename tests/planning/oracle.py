"""Plain formulas and enumerations that plans are held against: exact errors where all values are known, and losses."""

import math
from itertools import combinations
from typing import Any

import numpy as np
from scipy import special, stats

Floats = np.ndarray[Any, np.dtype[np.float64]]


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


def ratio_errors(values: Any, noises: Any, chosen: int) -> tuple[float, float]:
    """Bias and mean squared error of reports of whole clusters over the people in them, by all samples."""
    sizes, totals = np.array([len(v) for v in values]), np.array([np.sum(v) for v in values])
    noise, truth = np.array([np.sum(v) for v in noises]), totals.sum() / sizes.sum()
    drawn = [list(some) for some in combinations(range(len(values)), chosen)]
    people = np.array([sizes[some].sum() for some in drawn])
    errors = np.array([totals[some].sum() for some in drawn]) / people - truth
    spread = np.array([noise[some].sum() for some in drawn]) / people**2
    return float(errors.mean()), float(np.mean(errors**2 + spread))


def intracluster_correlation(values: Any) -> float:
    part = np.array(values)
    size, away = part.shape[1], part - part.mean()
    pairs = np.sum(away.sum(axis=1) ** 2) - np.sum(away**2)
    return float(pairs / ((size - 1) * np.sum(away**2)))


def worst_clusters(sizes: Any, chosen: int, span: float, centred: bool) -> float:
    """The largest sampling variance of whole clusters of any sizes, by all signs or all subsets."""
    held, clusters = np.array(sizes, dtype=float), len(sizes)
    kinds = np.array(np.meshgrid(*[[-0.5, 0.5] if centred else [0.0, 1.0]] * clusters)).reshape(clusters, -1)
    spread = np.var(held[:, None] * kinds, axis=0, ddof=1).max() * span**2
    return float((1 - chosen / clusters) * clusters**2 * spread / (chosen * held.sum() ** 2))


def unequal_variance(values: Any, noises: Any, rates: Any, joint: Any = None, centre: float = 0.0) -> float:
    """Of the Horvitz-Thompson mean: with own coins, or of a fixed size with joint chances (Yates and Grundy)."""
    held, chance = np.array(values) - centre, np.array(rates)
    noise = np.sum(np.array(noises) / chance)
    if joint is None:
        return float((np.sum((1 - chance) * held**2 / chance) + noise) / held.size**2)
    ratios = held / chance
    pairs = (np.outer(chance, chance) - joint) * np.subtract.outer(ratios, ratios) ** 2
    return float((pairs.sum() / 2 + noise) / held.size**2)


def answers_variance(values: Any, noises: Any, invited: int, response: float) -> float:
    """Of the mean of the answers at random of a simple random sample, given one."""
    number = np.arange(1, invited + 1)
    inverse = float(special.softmax(stats.binom.logpmf(number, invited, response)) @ (1 / number))
    return float(np.var(values, ddof=1) * (inverse - 1 / len(values)) + np.mean(noises) * inverse)


def known_rate_variance(values: Any, noises: Any, invited: int, response: float, centre: float) -> float:
    more = np.mean((np.array(values) - centre) ** 2 + np.array(noises))
    return simple_variance(values, noises, invited) + (1 - response) / (response * invited) * float(more)


def kish(weights: Any) -> float:
    w = np.array(weights, dtype=float)
    return float(w.size * np.sum(w**2) / np.sum(w) ** 2)


def nonresponse_bias(lowest: float, highest: float, span: float) -> float:
    low, high = math.sqrt(lowest), math.sqrt(highest)
    return span * (high - low) / (high + low)


def poisson_loss(scale: float, rates: Any, low: float, high: float, centre: float) -> float:
    """Of the Horvitz-Thompson mean with Laplace noise, everybody at a rate of their own."""
    chance = np.array(rates)
    step = 1 / (chance.size * scale * chance)

    def logarithm(reach: float) -> Floats:
        return np.logaddexp(np.log1p(-chance), np.log(chance) + step * reach)

    up, down = logarithm(high - centre) - logarithm(low - centre), logarithm(centre - low) - logarithm(centre - high)
    return float(max(up.max(), down.max()))


def lottery_loss(sizes: Any, spans: Any, drawn: Any, chances: Any, scale: float) -> float:
    """Of a stratified sample whose allocation is drawn by lot: the sum over lots of those of simple samples."""
    people, numbers = np.array(sizes), np.array(drawn)
    reach = people / people.sum() * np.array(spans) / scale / numbers
    return float(np.log1p(np.array(chances) @ (numbers / people * np.expm1(reach))).max())


def two_stage_loss(clusters: int, size: int, chosen: int, take: int, epsilon: float) -> float:
    """Of randomised response on bits in two stages, at the worst number of ones in the rest of a cluster."""

    def growth(asked: int) -> Floats:
        if asked > size - 1:
            return np.ones(size)
        drawn = np.arange(asked + 1)
        return np.array([stats.hypergeom.pmf(drawn, size - 1, k, asked) @ np.exp(epsilon * drawn) for k in range(size)])

    p, f = chosen / clusters, take / size
    own, other = f * growth(take - 1), (1 - f) * growth(take)
    return float(np.log((p * (own * math.exp(epsilon) + other) + 1 - p) / (p * (own + other) + 1 - p)).max())
