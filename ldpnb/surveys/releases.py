"""The loss of a curator's release of a sample's mean with Laplace noise, and the noise that a loss takes.

A curator draws the sample and adds noise to the weighted mean of the values. Losses are under replacement of one value,
with public population and sizes. None of this holds where participation is visible, samples are systematic in a known
order, sizes reveal who was drawn, or response depends on the value.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.arithmetic import log_mixed
from ldpnb.privacy.subsampling import srs_budget

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


@dataclass(frozen=True)
class Lottery:
    """A stratified sample whose allocation is drawn by a secret lot, and the noise on its weighted mean.

    Parameters
    ----------
    sizes : (strata,) int
        People in each.
    spans : (strata,) float
        Length of the range of the values in each.
    allocations : sequence of (strata,) int
        How many each lot draws from each.
    chances : (lots,) float
    """

    sizes: ArrayLike
    spans: ArrayLike
    allocations: Sequence[ArrayLike]
    chances: ArrayLike

    @property
    def _rates(self) -> Floats:
        return np.array(self.allocations, dtype=float) / np.asarray(self.sizes, dtype=float)

    @property
    def _reach(self) -> Floats:
        """How far a value of each stratum moves the mean if the whole stratum is asked, times its size."""
        people = np.asarray(self.sizes, dtype=float)
        return people / people.sum() * np.asarray(self.spans)

    def _losses(self, scale: float) -> Floats:
        """Return the loss by allocation and stratum."""
        reach = self._reach / scale / np.array(self.allocations, dtype=float)
        return np.asarray(log_mixed(self._rates, reach))

    def loss(self, scale: float) -> float:
        """Return the loss: exact where one stratum's allocations decide, as for two strata of three, else at least."""
        return float(np.max(special.logsumexp(self._losses(scale), b=np.asarray(self.chances)[:, None], axis=0)))

    def loss_bound(self, scale: float) -> float:
        """Return a bound on the loss for all values and outputs, below that of the allocation that loses most.

        Samples of two allocations can be drawn one within the other in every stratum. Then their means differ by at
        most ``sum W_h R_h (1 - min/max)`` of the numbers drawn, and the chances of an output by ``e`` to that over the
        scale: what was drawn is never known for certain, and the loss is a mean over what it may have been.
        """
        losses, drawn = self._losses(scale), np.array(self.allocations, dtype=float)
        largest = losses.max(axis=0)
        fewer, more = (f(drawn[:, None], drawn[None]) for f in (np.minimum, np.maximum))
        rest = math.exp(-float(np.max((1 - fewer / more) @ (self._reach / scale))))
        order = np.argsort(-losses, axis=0)
        likely, gained = np.asarray(self.chances, dtype=float)[order], np.exp(losses - largest)
        weight, mass = np.cumsum(likely, axis=0), np.cumsum(likely * np.take_along_axis(gained, order, axis=0), axis=0)
        means = (mass + rest * (mass[-1] - mass)) / (weight + rest * (weight[-1] - weight))
        return float(np.max(largest + np.log(means)))

    def scale(self, epsilon: float, loss: Callable[[float], float]) -> float:
        """Return the scale at which `loss`, one of the two above, is `epsilon`."""
        reach = self._reach / np.array(self.allocations, dtype=float)
        inner = srs_budget(epsilon, float(np.min(np.asarray(self.chances)[:, None] * self._rates)))
        found = brentq(
            lambda log: loss(math.exp(log)) - epsilon,
            math.log(float(np.min(reach)) / inner) - 1e-9,
            math.log(float(np.max(reach)) / epsilon) + 1e-9,
            xtol=1e-14,
        )
        return math.exp(float(found))
