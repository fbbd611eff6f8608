"""The saddle-point approximation behind Bayes estimates under k-ary randomised response.

A Dirichlet vector is a vector of independent gammas given their sum. Replacing the condition by a tilt of their mean
leaves independent coordinates, one kind for every distinct tally: good when there are many of them.
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

    - `multiplier`, float: ``theta``.
    - `means`, (kinds,) float: mean of a coordinate of each kind, scaled to sum to exactly 1 over all.
    - `log_evidence`, float: approximate logarithm of the mean of ``prod_x (1 + c P_x)^{s_x}`` under the prior.
    """

    multiplier: float
    means: Floats
    log_evidence: float


def saddle_point(kinds: Floats, repeats: Ints, contrast: float) -> Saddle:
    """Solve for the multiplier by a safeguarded Newton iteration in its logarithm.

    - `kinds`, (kinds, 2) float: tally and prior parameter.
    - `repeats`, (kinds,) int: how many values are of each kind.
    - `contrast`, float: ``c = e^epsilon - 1``.
    - ValueError if the means do not sum to 1 where the iteration ends: so many reports hide the point in rounding.
    """
    counts, alpha = kinds[:, 0], kinds[:, 1]
    low, high = float(repeats @ alpha) * 0.5, float(repeats @ (alpha + counts)) * 2.0
    theta = float(repeats @ (alpha + counts * (contrast / (contrast + repeats.sum()))))
    for _ in range(100):
        logs, means, variances = _coordinate_moments(counts, alpha, contrast, theta)
        excess = float(repeats @ means) - 1
        low, high = (theta, high) if excess > 0 else (low, theta)
        if abs(excess) < 1e-12 or high - low < 1e-14 * high:
            break
        step = theta * np.exp(excess / (theta * float(repeats @ variances)))
        theta = step if low < step < high else (low + high) / 2
    if not abs(excess) <= _EXCESS:
        raise ValueError(
            f"tallies must be few enough for a saddle point within {_EXCESS}, got {counts @ repeats:.3g} reports and "
            f"means that sum to {1 + excess!r}"
        )
    total = float(repeats @ alpha)
    log_evidence = gammaln(total) - float(repeats @ gammaln(alpha)) + theta + float(repeats @ logs)
    log_evidence -= 0.5 * np.log(2 * np.pi * float(repeats @ variances))
    return Saddle(theta, means / float(repeats @ means), float(log_evidence))


def _coordinate_moments(
    counts: Floats, alpha: Floats, contrast: float, theta: float
) -> tuple[Floats, Floats, Floats]:
    """Return log-integral, mean and variance of each coordinate by the trapezoidal rule in ``log u``.

    It converges exponentially. Coordinates that need about as many nodes are integrated together.
    """
    linear = alpha + counts - theta / contrast
    larger = np.abs(linear) + np.hypot(linear, 2 * np.sqrt(theta * alpha / contrast))
    peak = np.where(linear < 0, 2 * alpha / contrast / larger, larger / (2 * theta))
    log_contrast = np.log(contrast)
    centre, share = np.log(peak), expit(log_contrast + np.log(peak))
    width = 1 / np.sqrt(theta * peak - counts * share * (1 - share))

    def log_density(log_u: Floats, some: Any = slice(None)) -> Floats:
        u = np.exp(log_u)
        # 1 + c u itself passes the largest float near 700 nats
        gain = (
            np.log1p(contrast * u) if contrast < _LARGE else np.logaddexp(0, log_contrast + log_u)
        )
        return alpha[some, None] * log_u + counts[some, None] * gain - theta * u

    top = log_density(centre[:, None]).ravel()
    ends = []
    for sign in (-1, 1):
        reach = 6 * width
        while (short := top - log_density((centre + sign * reach)[:, None]).ravel() < _DEPTH).any():
            reach = np.where(short, 1.4 * reach, reach)
        ends.append(centre + sign * reach)
    span = ends[1] - ends[0]
    needed = 3 * span / np.minimum(1, 2 * width)
    sizes = np.ceil(np.log2(needed)).astype(int)
    norm, mean, variance = np.empty((3, counts.size))
    for size in np.unique(sizes):
        some = np.flatnonzero(sizes == size)
        grid = ends[0][some, None] + span[some, None] * np.linspace(0, 1, 2**size + 1)
        weights, u = np.exp(log_density(grid, some) - top[some, None]), np.exp(grid)
        total = weights.sum(axis=1)
        norm[some] = total * span[some] / 2**size
        mean[some] = (weights * u).sum(axis=1) / total
        variance[some] = (weights * (u - mean[some, None]) ** 2).sum(axis=1) / total
    return np.log(norm) + top, mean, variance
