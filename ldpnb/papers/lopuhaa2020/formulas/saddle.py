"""The saddle-point approximation behind Bayes estimates under k-ary randomised response.

A Dirichlet vector is a vector of independent gamma variables, given their sum. This approximation
replaces the condition on the sum by a tilt that makes the mean of the sum right. What is left are
independent coordinates, of one kind for every distinct tally, so it is good if there are many.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, gammaln

from ldpnb.arithmetic import Floats, Ints

_DEPTH = 32.0
"""How far, in nats below the peak, a density is integrated."""

_LARGE = 1e200

_EXCESS = 1e-9
"""How far from 1 the coordinates' means may sum, before they are scaled to it."""


@dataclass(frozen=True, slots=True)
class Saddle:
    """Independent coordinates ``u^{alpha-1} (1 + c u)^s e^{-theta u}`` whose means sum to 1.

    Attributes
    ----------
    multiplier : float
        The tilt ``theta``.
    means : ndarray, shape (kinds,)
        Mean of a coordinate of each kind, scaled so that all coordinates' means sum to exactly 1.
    log_evidence : float
        Approximate logarithm of the mean of ``prod_x (1 + c P_x)^{s_x}`` under the prior.
    """

    multiplier: float
    means: Floats
    log_evidence: float


def saddle_point(kinds: Floats, repeats: Ints, contrast: float) -> Saddle:
    """Find the tilt by a safeguarded Newton iteration in its logarithm.

    Parameters
    ----------
    kinds : ndarray, shape (kinds, 2)
        Tally ``s`` and prior parameter ``alpha`` of each kind of value.
    repeats : ndarray of int, shape (kinds,)
        How many values are of each kind.
    contrast : float
        ``c = e^epsilon - 1``.

    Raises
    ------
    ValueError
        If the means do not sum to 1 where the iteration ends. With very many reports, rounding
        hides the point.
    """
    counts = kinds[:, 0]
    alpha = kinds[:, 1]

    low = float(repeats @ alpha) * 0.5
    high = float(repeats @ (alpha + counts)) * 2.0
    theta = float(repeats @ (alpha + counts * (contrast / (contrast + repeats.sum()))))
    for _ in range(100):
        logs, means, variances = _coordinate_moments(counts, alpha, contrast, theta)
        excess = float(repeats @ means) - 1
        if excess > 0:
            low = theta
        else:
            high = theta
        if abs(excess) < 1e-12 or high - low < 1e-14 * high:
            break

        step = theta * np.exp(excess / (theta * float(repeats @ variances)))
        theta = step if low < step < high else (low + high) / 2

    if not abs(excess) <= _EXCESS:
        raise ValueError(
            f"tallies must be few enough for a saddle point within {_EXCESS}, "
            f"got {counts @ repeats:.3g} reports and means that sum to {1 + excess!r}"
        )

    total = float(repeats @ alpha)
    log_evidence = gammaln(total) - float(repeats @ gammaln(alpha)) + theta + float(repeats @ logs)
    log_evidence -= 0.5 * np.log(2 * np.pi * float(repeats @ variances))
    return Saddle(theta, means / float(repeats @ means), float(log_evidence))


def _coordinate_moments(
    counts: Floats, alpha: Floats, contrast: float, theta: float
) -> tuple[Floats, Floats, Floats]:
    """Return the logarithm of the integral, the mean and the variance of each coordinate.

    They come from the trapezoidal rule in ``log u``, which converges exponentially. Coordinates
    that need about as many nodes are integrated together.
    """
    linear = alpha + counts - theta / contrast
    larger = np.abs(linear) + np.hypot(linear, 2 * np.sqrt(theta * alpha / contrast))
    peak = np.where(linear < 0, 2 * alpha / contrast / larger, larger / (2 * theta))

    log_contrast = np.log(contrast)
    centre = np.log(peak)
    share = expit(log_contrast + np.log(peak))
    width = 1 / np.sqrt(theta * peak - counts * share * (1 - share))

    def log_density(log_u: Floats, some: Any = slice(None)) -> Floats:
        u = np.exp(log_u)
        if contrast < _LARGE:
            gain = np.log1p(contrast * u)
        else:  # 1 + c u itself passes the largest float near 700 nats
            gain = np.logaddexp(0, log_contrast + log_u)
        return alpha[some, None] * log_u + counts[some, None] * gain - theta * u

    def end(sign: int) -> Floats:
        """Return where the densities have fallen by `_DEPTH`, on one side of their peaks."""
        reach = 6 * width
        while True:
            place = centre + sign * reach
            too_near = top - log_density(place[:, None]).ravel() < _DEPTH
            if not too_near.any():
                return place
            reach = np.where(too_near, 1.4 * reach, reach)

    top = log_density(centre[:, None]).ravel()
    start = end(-1)
    span = end(1) - start

    needed = 3 * span / np.minimum(1, 2 * width)
    sizes = np.ceil(np.log2(needed)).astype(int)
    norm, mean, variance = np.empty((3, counts.size))
    for size in np.unique(sizes):
        some = np.flatnonzero(sizes == size)
        grid = start[some, None] + span[some, None] * np.linspace(0, 1, 2**size + 1)
        weights = np.exp(log_density(grid, some) - top[some, None])
        u = np.exp(grid)

        total = weights.sum(axis=1)
        norm[some] = total * span[some] / 2**size
        mean[some] = (weights * u).sum(axis=1) / total
        variance[some] = (weights * (u - mean[some, None]) ** 2).sum(axis=1) / total
    return np.log(norm) + top, mean, variance
