"""The loss of a survey's release, and the noise with which a curator may release the mean of a sample.

**Local**: every report loses its own epsilon, to whoever receives it. The release may lose less to readers who see
neither who was asked nor in what order, under replacement, with public population, cluster and sample sizes.
**Central**: a curator draws the sample and adds Laplace noise to the weighted mean of the values. None of this holds
where participation is visible, samples are systematic in a known order, sizes or takes reveal which clusters were
drawn, or response depends on the value.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.privacy.subsampling import srs_budget, srs_loss


def clusters_loss(epsilon: float, *, size: int, chosen: int, clusters: int) -> float:
    """Return the exact loss of the reports of whole clusters of one size: almost `epsilon` from ``ln(1/p)/epsilon`` on.

    ``ln {[p + (1-p) e^(-B eps)] / [p e^(-eps) + (1-p) e^(-B eps)]}``, attained by one-bit randomised response.

    >>> round(clusters_loss(1.0, size=5, chosen=40, clusters=400), 6)
    0.90629
    """
    rate = checks.rate(sampling_rate=chosen / clusters)
    other = (math.log1p(-rate) if rate < 1 else -math.inf) - size * checks.positive(epsilon=epsilon)
    return float(np.logaddexp(math.log(rate), other) - np.logaddexp(math.log(rate) - epsilon, other))


def two_stage_bound(epsilon: float, *, size: int, take: int, chosen: int, clusters: int) -> float:
    """Return a bound on the loss of a few reports of each of some clusters, for every mechanism.

    >>> round(two_stage_bound(1.0, size=25, take=5, chosen=40, clusters=400), 6)
    0.275937
    """
    rate, inner = chosen / clusters, float(srs_loss(epsilon, take / size))
    rest = (1 - rate) * math.exp(-take * epsilon)
    return math.log((rate + rest) / (rate * math.exp(-inner) + rest))


def strata_loss(epsilon: float, sizes: ArrayLike, drawn: ArrayLike) -> float:
    """Return the exact loss of simple random samples of fixed size in public strata: that of the largest rate."""
    return float(srs_loss(epsilon, float(np.max(np.asarray(drawn) / np.asarray(sizes)))))


def srs_scale(epsilon: float, *, population: int, sample: int, span: float = 1.0, secret: bool = True) -> float:
    """Return the scale of Laplace noise on the mean of a simple random sample, for a loss `epsilon` of the release.

    >>> round(srs_scale(1.0, population=1000, sample=100), 8)
    0.00344771
    """
    inner = srs_budget(epsilon, sample / population) if secret else epsilon
    return float(span / (sample * inner))


def clusters_scale(
    epsilon: float, *, size: int, chosen: int, clusters: int, span: float = 1.0, secret: bool = True
) -> float:
    """Return the scale of Laplace noise on the mean of whole clusters of one size, for a loss `epsilon`."""
    inner = epsilon
    if secret and chosen < clusters:

        def excess(budget: float) -> float:
            return clusters_loss(budget, size=size, chosen=chosen, clusters=clusters) - epsilon

        inner = float(brentq(excess, epsilon, float(srs_budget(epsilon, chosen / clusters)), xtol=1e-15, rtol=1e-14))
    return span / (chosen * size * inner)


def strata_scale(epsilon: float, sizes: ArrayLike, drawn: ArrayLike, spans: ArrayLike, *, secret: bool = True) -> float:
    """Return the scale of Laplace noise on the weighted mean of a stratified sample, for a loss `epsilon`."""
    people, asked = np.asarray(sizes, dtype=float), np.asarray(drawn, dtype=float)
    inner = np.log1p(np.expm1(epsilon) * people / asked) if secret else epsilon
    return float(np.max(people / people.sum() * np.asarray(spans) / (asked * inner)))


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

    def logarithm(reach: float) -> np.ndarray:
        return np.logaddexp(special.log1p(-chance), np.log(chance) + step * reach)

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


def lottery_loss(
    scale: float, sizes: ArrayLike, spans: ArrayLike, allocations: Sequence[ArrayLike], chances: ArrayLike
) -> float:
    """Return the loss of the weighted mean with Laplace noise under a secret lottery over allocations.

    Exact where one stratum's allocations decide, as for two strata of three records; in general a lower bound.
    """
    gained, _ = _gained(scale, sizes, spans, allocations)
    return float(np.log(np.max(np.asarray(chances) @ gained)))


def lottery_loss_bound(
    scale: float, sizes: ArrayLike, spans: ArrayLike, allocations: Sequence[ArrayLike], chances: ArrayLike
) -> float:
    """Return a bound on that loss for all values and outputs, below the loss of the allocation that loses most.

    Samples of two allocations can be drawn one within the other in every stratum. Then their means differ by at most
    ``sum W_h R_h (1 - min/max)`` of the numbers drawn, and the chances of an output by ``e`` to that over the scale:
    what was drawn is never known for certain, and the loss is a mean over what it may have been.
    """
    gained, apart = _gained(scale, sizes, spans, allocations)
    order = np.argsort(-gained, axis=0)
    likely = np.asarray(chances, dtype=float)[order]
    weight, mass = np.cumsum(likely, axis=0), np.cumsum(likely * np.take_along_axis(gained, order, axis=0), axis=0)
    rest = math.exp(-apart)
    return float(np.log(np.max((mass + rest * (mass[-1] - mass)) / (weight + rest * (weight[-1] - weight)))))


def _gained(
    scale: float, sizes: ArrayLike, spans: ArrayLike, allocations: Sequence[ArrayLike]
) -> tuple[np.ndarray, float]:
    """Return ``e`` to the loss by allocation and stratum, and how far apart means of two allocations are, in scales."""
    people, drawn = np.asarray(sizes, dtype=float), np.array(allocations, dtype=float)
    reach = people / people.sum() * np.asarray(spans) / scale
    fewer, more = (f(drawn[:, None], drawn[None]) for f in (np.minimum, np.maximum))
    return 1 + drawn / people * np.expm1(reach / drawn), float(np.max((1 - fewer / more) @ reach))


def lottery_scale(
    epsilon: float,
    sizes: ArrayLike,
    spans: ArrayLike,
    allocations: Sequence[ArrayLike],
    chances: ArrayLike,
    *,
    loss: Callable[..., float] = lottery_loss,
) -> float:
    """Return the scale at which `lottery_loss`, or its bound, is `epsilon`."""
    people, drawn = np.asarray(sizes, dtype=float), np.array(allocations, dtype=float)
    reach = people / people.sum() * np.asarray(spans) / drawn
    inner = srs_budget(epsilon, float(np.min(np.asarray(chances)[:, None] * drawn / people)))
    found = brentq(
        lambda log: loss(math.exp(log), sizes, spans, allocations, chances) - epsilon,
        math.log(float(np.min(reach)) / inner) - 1e-9,
        math.log(float(np.max(reach)) / epsilon) + 1e-9,
        xtol=1e-14,
    )
    return math.exp(float(found))
