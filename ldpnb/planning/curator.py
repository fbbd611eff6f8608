"""How often a curator's release is off: a sample's mean with Laplace noise, at the worst data of a population.

Yes/no data have an exact law. Means of numbers have Chernoff's bound with Serfling's (1974) moment generating function
of a sample without replacement; that yes/no data are the worst of all holds for it, but not for the exact tail.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from ldpnb.planning import binomials

_NEAR, _GRID = 1_000, 256


def binary_failure(population: int, sample: int, error: float, scale: float) -> tuple[float, int]:
    """Return the largest chance that a share is off by `error` or more, and the number of holders at which it is.

    Parameters
    ----------
    population, sample : int
    error : float
    scale : float
        Of the noise on the share.

    Notes
    -----
    Half the population is not always the worst: lattices may favour a neighbour, by a tenth in small populations.
    Up to 4,000 people all numbers of holders are tried; beyond, those next to a half, over several steps of the
    sample's lattice, and a grid of the others.

    Examples
    --------
    >>> chance, holders = binary_failure(50, 20, 0.2, 1 / 20)
    >>> round(chance, 9), holders
    (0.074984267, 25)
    """
    half = population // 2
    if half <= 2_000:
        holders = np.arange(half + 1)
    else:
        near = max(_NEAR, 4 * population // sample)
        grid = np.linspace(0, half, _GRID).astype(np.int64)
        holders = np.union1d(grid, np.arange(max(0, half - near), half + 1))
    chances = failures(population, sample, error, scale, holders)
    worst = int(chances.argmax())
    return float(chances[worst]), int(holders[worst])


def failures(population: int, sample: int, error: float, scale: float, holders: ArrayLike) -> binomials.Floats:
    """Return the chance of the error at each number of holders, ``(m,)``."""
    numbers = np.asarray(holders, dtype=float)
    return binomials.sampled_noisy_exact(population, numbers, sample, error, scale * sample)


def chernoff(proxy: float, error: float, scale: float) -> float:
    """Return ``2 inf over l of exp(-l error + l^2 proxy / 8) / (1 - (l scale)^2)``.

    `proxy` is that of a mean of values in ``[0, 1]``: ``(1 - (n - 1) / N) / n`` of a simple random sample (Serfling
    1974), sums of such over strata, and over stages.

    >>> round(chernoff((1 - 8684 / 1e5) / 8685, 0.02, 1 / 8685), 6)
    0.001
    """

    def bound(tilt: float) -> float:
        return -tilt * error + tilt * tilt * proxy / 8 - math.log1p(-min((tilt * scale) ** 2, 1 - 1e-12))

    top = min(8 * error / max(proxy, 1e-300), (1 - 1e-9) / max(scale, 1e-300))
    best = minimize_scalar(bound, bounds=(0.0, top), method="bounded", options={"xatol": 1e-10 * top})
    return min(1.0, 2 * math.exp(min(float(best.fun), 0.0)))


def least_binary_sample(population: int, error: float, failure: float, epsilon: float) -> int:
    """Return a sample from which on the error is as improbable as it shall be, for yes/no data.

    Found at half the population by bisection, and then raised until it holds at the worst number of holders.

    >>> least_binary_sample(1000, 0.05, 0.05, 1.0)
    286
    """

    def enough(sample: int) -> bool:
        return float(failures(population, sample, error, 1 / (sample * epsilon), np.array([half]))[0]) <= failure

    half = population // 2
    low, high = 0, population
    if binary_failure(population, population, error, 1 / (population * epsilon))[0] > failure:
        raise ValueError(f"asking all {population:,} is not enough: raise epsilon, got epsilon={epsilon:g}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    while binary_failure(population, high, error, 1 / (high * epsilon))[0] > failure:
        high += 1
    return high
