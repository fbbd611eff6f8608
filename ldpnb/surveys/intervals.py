"""Intervals from randomised reports and from a curator's release, exact where the design allows.

Which one a survey uses must not depend on its reports: `ldpnb.surveys.estimation` chooses by design and numbers alone.
Intervals are not clipped to the range of the estimate here.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.accuracy import tails
from ldpnb.surveys.reports import Reports

MOST_EXACT = 20_000
"""Most reports of which the law in a finite population is listed."""

_REACH = 9.0


def clopper_pearson(ones: int, reports: int, alpha: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for the rate of ones.

    >>> [round(end, 6) for end in clopper_pearson(10, 100, 0.05)]
    [0.049005, 0.176223]
    """
    low = float(stats.beta.ppf(alpha / 2, ones, reports - ones + 1)) if ones else 0.0
    high = float(stats.beta.isf(alpha / 2, ones + 1, reports - ones)) if ones < reports else 1.0
    return low, high


def through_channel(reports: Reports, rates: tuple[float, float]) -> tuple[float, float]:
    """Return the estimates that rates of ones stand for.

    With `clopper_pearson` the interval covers the mean of a population, whatever its values, at least as often as it
    says, for reports of a simple random sample, or of strata sampled at one rate, once there are more than
    `Reports.guaranteed_from` of them: the number of ones is distributed as a sum of independent bits (Borcea, Brändén
    and Liggett 2009), whose tails beyond a whole report are below the binomial's (Hoeffding 1956, Theorem 5).
    """
    low, high = (float(reports.value(rate)) for rate in rates)
    return low, high


def finite_share(ones: int, number: int, population: int, reports: Reports, alpha: float) -> tuple[int, int]:
    """Return the least and the largest number of holders in a population that `ones` of `number` reports allow.

    Those at which neither tail of the exact law is ``alpha / 2`` or less; the law is that of two binomials over a
    hypergeometric number of holders in the sample. Where none is left the nearer end is returned.

    Examples
    --------
    >>> finite_share(96, 160, 200, Reports("binary", 0.880797077978, 0.119202922022), 0.05)
    (111, 141)
    """

    def above(holders: int) -> float:
        return sampled_tail(ones, number, population, holders, float(reports.p), float(reports.q))

    def below(holders: int) -> float:
        p, q = float(reports.p), float(reports.q)
        return sampled_tail(number - ones, number, population, holders, 1 - p, 1 - q)

    return _first(lambda h: above(h) > alpha / 2, population), population - _first(
        lambda h: below(population - h) > alpha / 2, population
    )


def sampled_tail(least: int, number: int, population: int, holders: int, p: float, q: float) -> float:
    """Return the chance of `least` ones or more among the reports of a simple random sample.

    Each of the holders in the sample sends a one with chance `p`, everybody else with chance `q`. The law is recovered
    from its generating function on roots of unity, over a window that carries all but 1e-15 of it.
    """
    rate = q + (p - q) * holders / population
    reach = _REACH * math.sqrt(number * rate * (1 - rate)) + 12
    first, last = max(0, math.floor(number * rate - reach)), min(number, math.ceil(number * rate + reach))
    if least <= first:
        return 1.0
    length = last - first + 1
    roots = np.exp(2j * np.pi * np.arange(length) / length)
    own, other = 1 - p + p * roots, 1 - q + q * roots
    drawn, masses = _drawn(population, holders, number)
    transform, powers = np.zeros(length, dtype=complex), np.ones(length, dtype=complex)
    for mass in masses[::-1]:  # Horner's rule for the sum of mass own^drawn other^(number - drawn)
        transform, powers = transform * own + mass * powers, powers * other
    transform *= own ** int(drawn[0]) * other ** int(number - drawn[-1])
    law = np.fft.fft(transform).real / length  # the chance of each number of ones, modulo the length
    ones = np.arange(max(least, first), last + 1)
    return float(law[ones % length].sum())


def student(estimate: float, variance: float, freedom: float, alpha: float) -> tuple[float, float]:
    """Return the interval by Student's t, or the normal law's if `freedom` is infinite."""
    half = float(stats.t.isf(alpha / 2, freedom)) * math.sqrt(variance)
    return estimate - half, estimate + half


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


def released_share(release: float, population: int, sample: int, scale: float, alpha: float) -> tuple[int, int]:
    """Return the numbers of holders in a population that a curator's noisy share allows, by the exact law."""

    def above(holders: int) -> float:
        drawn, masses = _drawn(population, holders, sample)
        return float(masses @ stats.laplace.sf(release - drawn / sample, scale=scale))

    low = _first(lambda h: above(h) > alpha / 2, population)
    high = population - _first(lambda h: 1 - above(population - h) > alpha / 2, population)
    return low, high


def _drawn(population: int, holders: int, number: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of holders in a simple random sample that have all but 1e-15 of the chance, with these."""
    share = holders / population
    left = (population - number) / max(population - 1, 1)
    reach = _REACH * math.sqrt(number * share * (1 - share) * left) + 12
    least, most = max(0, number + holders - population), min(number, holders)
    middle = number * share
    points = np.arange(max(least, math.floor(middle - reach)), min(most, math.ceil(middle + reach)) + 1)
    masses = stats.hypergeom.pmf(points, population, holders, number)
    return points, masses / masses.sum()


def _first(holds: Callable[[int], bool], most: int) -> int:
    """Return the least number in ``0 .. most`` from which on a condition holds; `most` if it never does."""
    low, high = -1, checks.whole(most=most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return int(high)
