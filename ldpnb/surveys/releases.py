"""The loss of a curator's release of a sample's mean with Laplace noise, and the noise that a loss takes.

A curator draws the sample and adds noise to the weighted mean of the values. Losses are under replacement of one value,
with public population and sizes. None of this holds where participation is visible, samples are systematic in a known
order, sizes reveal who was drawn, or response depends on the value.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.optimize import brentq

from ldpnb import checks

Floats = NDArray[np.float64]


def poisson_release_loss(
    scale: float,
    rates: ArrayLike,
    *,
    population: int | None = None,
    low: float = 0.0,
    high: float = 1.0,
    centre: float = 0.0,
) -> float:
    """Return the exact loss of the Horvitz-Thompson mean with Laplace noise where everybody takes part at a rate.

    Large weights undo the amplification: the loss grows without limit as a rate falls to 0, more slowly if values are
    centred. The rates are everybody's, or those that occur in a stated `population`.
    """
    chance = np.asarray(rates, dtype=float)
    step = 1 / ((population or chance.size) * checks.positive(scale=scale)) / chance

    def logarithm(reach: float) -> Floats:
        return np.asarray(np.logaddexp(special.log1p(-chance), np.log(chance) + step * reach))

    up = logarithm(high - centre) - logarithm(low - centre)
    down = logarithm(centre - low) - logarithm(centre - high)
    return float(max(np.max(up), np.max(down)))


def poisson_scale(
    epsilon: float, rates: ArrayLike, *, population: int, span: float = 1.0, secret: bool = True
) -> float:
    """Return the scale of Laplace noise on the Horvitz-Thompson mean, centred at the middle of the range.

    >>> round(poisson_scale(1.0, [0.1], population=1000), 8), poisson_scale(1.0, [0.1], population=1000, secret=False)
    (0.00181836, 0.01)
    """
    known = span / (population * float(np.min(rates)) * epsilon)
    if not secret or np.min(rates) == 1:
        return known

    def excess(log: float) -> float:
        found = poisson_release_loss(math.exp(log), rates, population=population, high=span, centre=span / 2)
        return found - epsilon

    # less noise than if everybody took part for certain
    least = math.log(known) - 1
    while excess(least) < 0:
        least -= 1
    return math.exp(float(brentq(excess, least, math.log(known), xtol=1e-14)))
