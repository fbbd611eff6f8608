"""Intervals from randomised reports and from a curator's release, exact where the design allows.

Which one a survey uses must not depend on its reports: `of_sample` chooses by design and numbers alone. Exact in the
finite population where answers to yes/no questions or labels are from a simple random sample; guaranteed through the
device where every report stands for as many people; else Student's t with the degrees of freedom of the design.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

from ldpnb.accuracy import tails
from ldpnb.surveys.binomials import hypergeometric, sampled_tail
from ldpnb.surveys.reports import Reports
from ldpnb.surveys.samples import Point, Sample

_MISFIT = "the reports do not fit the device: its probabilities, or the answers, were not kept to"


class Interval(NamedTuple):
    """Ends, how they were made, and a remark; the ends are not clipped to the range of the estimate."""

    low: float
    high: float
    how: str
    remark: str = ""


def of_sample(
    device: Reports, sample: Sample, point: Point, bits: NDArray[np.float64], alpha: float, *, known: bool = True
) -> Interval:
    """Return the interval for an estimate from `bits`, ``(n,)``, of a sample.

    Where the size of the population is not `known`, that of its law is not exact.
    """
    exact = known and sample.is_simple and device.kind not in ("number", "Laplace")
    if not exact and not (sample.even and bits.size > device.guaranteed_from):
        return student(point, alpha)
    ones, number = int(bits.sum()), bits.size
    rates = clopper_pearson(ones, number, alpha)
    remark = _MISFIT if rates[1] < device.q or rates[0] > device.p else ""
    if not exact:
        return Interval(*through_channel(device, rates), "guaranteed", remark)
    holders = finite_share(ones, number, sample.population, device, alpha)
    low, high = (float(device.low + device.span * h / sample.population) for h in holders)
    return Interval(low, high, "exact", remark)


def student(point: Point, alpha: float) -> Interval:
    """Return the interval by Student's t, or the normal law's; a variance that is not positive is refused."""
    if not point.variance > 0:
        raise ValueError(f"the variance estimate must be > 0, got {point.variance:.3g}: too few parts were drawn")
    half = float(stats.t.isf(alpha / 2, point.freedom)) * math.sqrt(point.variance)
    how = "normal" if math.isinf(point.freedom) else f"t, {point.freedom:.4g} df"
    return Interval(point.estimate - half, point.estimate + half, how)


def clopper_pearson(ones: int, reports: int, alpha: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for the rate of ones.

    >>> [round(end, 6) for end in clopper_pearson(10, 100, 0.05)]
    [0.049005, 0.176223]
    """
    low = float(stats.beta.ppf(alpha / 2, ones, reports - ones + 1)) if ones else 0.0
    high = float(stats.beta.isf(alpha / 2, ones + 1, reports - ones)) if ones < reports else 1.0
    return low, high


def through_channel(device: Reports, rates: tuple[float, float]) -> tuple[float, float]:
    """Return the estimates that rates of ones stand for.

    With `clopper_pearson` the interval covers the mean of a population, whatever its values, at least as often as it
    says, for reports of a simple random sample, or of strata sampled at one rate, once there are more than
    `Reports.guaranteed_from` of them: the number of ones is distributed as a sum of independent bits (Borcea, Brändén
    and Liggett 2009), whose tails beyond a whole report are below the binomial's (Hoeffding 1956, Theorem 5).
    """
    low, high = (float(device.value(rate)) for rate in rates)
    return low, high


def finite_share(ones: int, number: int, population: int, device: Reports, alpha: float) -> tuple[int, int]:
    """Return the least and the largest number of holders in a population that `ones` of `number` reports allow.

    Those at which neither tail of the exact law is ``alpha / 2`` or less; the law is that of two binomials over a
    hypergeometric number of holders in the sample. Where none is left the nearer end is returned.

    >>> finite_share(96, 160, 200, Reports("binary", 0.880797077978, 0.119202922022), 0.05)
    (111, 141)
    """
    p, q = float(device.p), float(device.q)

    def above(holders: int) -> float:
        return sampled_tail(ones, number, population, holders, p, q)

    def below(holders: int) -> float:
        return sampled_tail(number - ones, number, population, holders, 1 - p, 1 - q)

    return _allowed(above, below, population, alpha)


def released_share(release: float, population: int, sample: int, scale: float, alpha: float) -> tuple[int, int]:
    """Return the numbers of holders in a population that a curator's noisy share allows, by the exact law."""

    def above(holders: int) -> float:
        drawn, masses = hypergeometric(float(population), np.array([float(holders)]), float(sample))
        return float((masses @ stats.laplace.sf(release - drawn[0] / sample, scale=scale))[0])

    return _allowed(above, lambda holders: 1 - above(holders), population, alpha)


def _allowed(above: Callable[[int], float], below: Callable[[int], float], most: int, alpha: float) -> tuple[int, int]:
    """Return the least and the largest of ``0 .. most`` holders at which neither tail is ``alpha / 2`` or less.

    The tail `above` what was seen grows with the holders, that `below` falls.
    """
    low = bisect_left(range(most), True, key=lambda holders: above(holders) > alpha / 2)
    others = bisect_left(range(most), True, key=lambda others: below(most - others) > alpha / 2)
    return low, most - others


def released_variance(share: float, population: int, sample: int, scale: float) -> float:
    """Return the variance of a share that a curator releases with Laplace noise, from the release alone.

    Unbiased: the mean of ``x (1 - x)`` is ``s (1 - s)`` less the variance.
    """
    spread = (1 - sample / population) * population / (population - 1) / sample
    return (spread * (share * (1 - share) + 2 * scale**2)) / (1 - spread) + 2 * scale**2


def released_half_width(variance: float, scale: float, alpha: float) -> float:
    """Return the half-width of the interval for a normal error with a curator's Laplace noise of that scale."""
    sd = math.sqrt(max(variance - 2 * scale**2, 1e-300))
    far = 60 * (sd + scale / min(1.0, alpha)) + 60 * scale * abs(math.log(alpha))

    def excess(half: float) -> float:
        return tails.normal_laplace(sd, scale, half) - alpha

    return float(brentq(excess, 1e-12 * (sd + scale), far, xtol=1e-15, rtol=1e-13))
