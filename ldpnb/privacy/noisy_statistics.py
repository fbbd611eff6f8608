"""Exact privacy loss of a statistic that takes finitely many random values and is published with Laplace noise.

Use it when the statistic is itself random, as an estimate from a secret sample is: two populations then give two
mixtures of Laplace laws with one scale. Between neighbouring values of the statistic the ratio of the two densities is
a ratio of two terms ``a e^(y/b) + c e^(-y/b)``, hence monotone, and beyond the outermost values it is constant; so the
largest ratio is found at the values themselves.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks


def noisy_statistic_losses(values: ArrayLike, laws: ArrayLike, pairs: ArrayLike, scale: float) -> NDArray[np.float64]:
    """Return the exact losses between pairs of laws of a statistic published with Laplace noise.

    - `values`, (k,) float: values that the statistic can take, within 700 scales of each other.
    - `laws`, (n, k) float: their probabilities in ``n`` populations.
    - `pairs`, (pairs, 2) int: rows of `laws` to compare.
    - `scale`, float: scale of the noise, ``> 0``.
    - Returns (pairs,) float: ``max |ln p/q|`` over all outputs, nats.

    A certain value, and with equal chances that or one at a distance of 1, noise of scale 1: ``ln(1/2 + e/2)``.

    >>> loss = noisy_statistic_losses([0, 1], [[1, 0], [0.5, 0.5]], [[0, 1]], 1.0)
    >>> round(float(np.exp(loss[0])), 9), round((1 + np.e) / 2, 9)
    (1.859140914, 1.859140914)
    """
    places, chances = np.asarray(values, dtype=float), np.asarray(laws, dtype=float)
    width = checks.positive(scale=scale)
    if np.ptp(places) > 700 * width:
        raise ValueError(
            f"scale must be at least a 700th of the statistic's range {np.ptp(places):g}, got scale={scale!r}"
        )
    densities = np.log(chances @ np.exp(-np.abs(places[:, None] - places[None, :]) / width))
    rows = np.asarray(pairs)
    return np.asarray(np.abs(densities[rows[:, 0]] - densities[rows[:, 1]]).max(axis=1))
