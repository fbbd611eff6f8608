"""The loss of a survey's release, and the noise with which a curator may release the mean of a sample.

**Local**: every report loses its own epsilon, to whoever receives it. The release may lose less to readers who see
neither who was asked nor in what order, under replacement, with public population, cluster and sample sizes.
**Central**: a curator draws the sample and adds Laplace noise to the weighted mean of the values. None of this holds
where participation is visible, samples are systematic in a known order, sizes or takes reveal which clusters were
drawn, or response depends on the value.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.privacy.subsampling import srs_budget, srs_loss


def clusters_loss(epsilon: float, *, size: int, chosen: int, clusters: int) -> float:
    """Return the exact loss of the reports of whole clusters of one size: almost `epsilon` from ``ln(1/p)/epsilon`` on.

    ``ln {[p + (1-p) e^(-B eps)] / [p e^(-eps) + (1-p) e^(-B eps)]}``, attained by one-bit randomised response.
    """
    rate = checks.rate(sampling_rate=chosen / clusters)
    other = (math.log1p(-rate) if rate < 1 else -math.inf) - size * checks.positive(epsilon=epsilon)
    return float(np.logaddexp(math.log(rate), other) - np.logaddexp(math.log(rate) - epsilon, other))


def two_stage_bound(epsilon: float, *, size: int, take: int, chosen: int, clusters: int) -> float:
    """Return a bound on the loss of a few reports of each of some clusters, for every mechanism."""
    rate, inner = chosen / clusters, float(srs_loss(epsilon, take / size))
    rest = (1 - rate) * math.exp(-take * epsilon)
    return math.log((rate + rest) / (rate * math.exp(-inner) + rest))


def strata_loss(epsilon: float, sizes: ArrayLike, drawn: ArrayLike) -> float:
    """Return the exact loss of simple random samples of fixed size in public strata: that of the largest rate."""
    return float(srs_loss(epsilon, float(np.max(np.asarray(drawn) / np.asarray(sizes)))))


def srs_scale(epsilon: float, *, population: int, sample: int, span: float = 1.0, secret: bool = True) -> float:
    """Return the scale of Laplace noise on the mean of a simple random sample, for a loss `epsilon` of the release."""
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
    """Return the scale of Laplace noise on the Horvitz-Thompson mean, centred at the middle of the range."""
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
    people, weights = np.asarray(sizes, dtype=float), np.asarray(chances, dtype=float)
    share = people / people.sum()
    growth = np.zeros(people.size)
    for allocation, chance in zip(allocations, weights, strict=True):
        drawn = np.asarray(allocation, dtype=float)
        growth += chance * drawn / people * np.expm1(share * np.asarray(spans) / (drawn * scale))
    return float(np.log1p(np.max(growth)))


def lottery_scale(
    epsilon: float, sizes: ArrayLike, spans: ArrayLike, allocations: Sequence[ArrayLike], chances: ArrayLike
) -> float:
    """Return the scale at which `lottery_loss` is `epsilon`."""
    people, drawn = np.asarray(sizes, dtype=float), np.array(allocations, dtype=float)
    reach = people / people.sum() * np.asarray(spans) / drawn
    inner = srs_budget(epsilon, float(np.min(np.asarray(chances)[:, None] * drawn / people)))
    found = brentq(
        lambda log: lottery_loss(math.exp(log), sizes, spans, allocations, chances) - epsilon,
        math.log(float(np.min(reach)) / inner),
        math.log(float(np.max(reach)) / epsilon),
        xtol=1e-14,
    )
    return math.exp(float(found))
