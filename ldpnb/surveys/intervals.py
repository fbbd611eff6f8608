"""Intervals from randomised reports: exact through the device where the design allows, else Student's t.

Which one a survey uses must not depend on its reports: `of_sample` and `of_release` choose by design and numbers alone.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special
from scipy.optimize import brentq

from ldpnb.accuracy import tails
from ldpnb.surveys.binomials import hypergeometric, sampled_tail
from ldpnb.surveys.reports import Reports
from ldpnb.surveys.samples import Point, Sample


class Interval(NamedTuple):
    """Ends, how they were made, and a remark; the ends are not clipped to the range of the estimate."""

    low: float
    high: float
    how: str
    remark: str = ""


def of_sample(
    reports: Reports, sample: Sample, point: Point, ones: int, alpha: float, *, known: bool = True
) -> Interval:
    """Return the interval for an estimate from a sample, of whose reports so many are `ones`.

    *Exact* in the finite population where answers to yes/no questions or labels are from a simple random sample of a
    `known` number of people. *Guaranteed* where every report stands for as many people, and they are more than ``1/q``
    and ``1/(1 - p)``: Clopper and Pearson's rates of ones then stand for estimates that cover the mean of any values at
    least as often as they say, by the reason of `binomials.one_rate_exact`. Else by Student's t with the design's
    degrees of freedom.
    """
    number, population = sample.part.size, sample.population
    exact = known and sample.is_simple and reports.bits and reports.ends
    if not exact and not (
        sample.even and reports.bits and number > max(1 / reports.q, 1 / reports.miss)
    ):
        return student(point, alpha)
    low, high = clopper_pearson(ones, number, alpha)
    misfit = high < reports.q or low > reports.p
    remark = (
        "the reports do not fit the device: its probabilities, or the answers, were not kept to"
        if misfit
        else ""
    )
    if not exact:
        return Interval(reports.value(low), reports.value(high), "guaranteed", remark)
    least, most = finite_share(ones, number, population, reports, alpha)
    return Interval(least / population, most / population, "exact", remark)


def of_release(reports: Reports, sample: Sample, point: Point, alpha: float) -> Interval:
    """Return the interval for the mean of a simple random sample that a curator released with Laplace noise.

    *Exact* in the finite population for a share, else by a normal law with that noise.

    >>> point, sample = Point(0.3, 0.007, 0.005, math.inf), Sample.simple(100, 1000)
    >>> of_release(Reports(scale=0.05, ends=True), sample, point, 0.05)
    Interval(low=0.14, high=0.472, how='exact', remark='')
    """
    number, people, scale = sample.part.size, sample.population, reports.scale
    if not reports.ends:
        sd = math.sqrt(max(point.variance - point.randomisation, 1e-300))
        far = scale * math.log(2 / alpha) - sd * float(
            special.ndtri(alpha / 4)
        )  # each error stays within its part
        half = brentq(
            lambda some: tails.normal_laplace(sd, scale, some) - alpha,
            1e-9 * far,
            far,
            xtol=1e-12 * far,
        )
        return Interval(point.estimate - half, point.estimate + half, "normal with Laplace noise")

    def above(holders: int) -> float:
        drawn, masses = hypergeometric(people, np.array([float(holders)]), number)
        away = (point.estimate - drawn / number) / scale
        tail = np.exp(-np.abs(away)) / 2
        return float((masses * np.where(away > 0, tail, 1 - tail)).sum())

    least, most = _allowed(above, lambda others: 1 - above(people - others), people, alpha)
    misfit = above(people) <= alpha / 2 or above(0) >= 1 - alpha / 2
    remark = "the release is far outside what shares and the plan's noise give" if misfit else ""
    return Interval(least / people, most / people, "exact", remark)


def student(point: Point, alpha: float) -> Interval:
    """Return the interval by Student's t, or the normal law's; a variance that is not positive is refused."""
    if not point.variance > 0:
        raise ValueError(
            f"the variance estimate must be > 0, got {point.variance:.3g}: too few parts were drawn"
        )
    half = -float(special.stdtrit(point.freedom, alpha / 2)) * math.sqrt(point.variance)
    how = "normal" if math.isinf(point.freedom) else f"t, {point.freedom:.4g} df"
    return Interval(point.estimate - half, point.estimate + half, how)


def clopper_pearson(ones: int, reports: int, alpha: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for the rate of ones.

    >>> [round(end, 6) for end in clopper_pearson(10, 100, 0.05)]
    [0.049005, 0.176223]
    """
    low = float(special.betaincinv(ones, reports - ones + 1, alpha / 2)) if ones else 0.0
    high = (
        float(special.betainccinv(ones + 1, reports - ones, alpha / 2)) if ones < reports else 1.0
    )
    return low, high


def finite_share(
    ones: int, number: int, population: int, reports: Reports, alpha: float
) -> tuple[int, int]:
    """Return the least and the largest number of holders in a population that `ones` of `number` reports allow.

    The law is that of two binomials over a hypergeometric number of holders in the sample.

    >>> p, q = 0.880797077978, 0.119202922022
    >>> finite_share(96, 160, 200, Reports(p, q, p - q, 1 - p, ends=True), 0.05)
    (111, 141)
    """
    return _allowed(
        lambda holders: sampled_tail(ones, number, population, holders, reports.p, reports.q),
        lambda others: sampled_tail(
            number - ones, number, population, others, 1 - reports.q, reports.miss
        ),
        population,
        alpha,
    )


def _allowed(
    above: Callable[[int], float], below: Callable[[int], float], population: int, alpha: float
) -> tuple[int, int]:
    """Return the least and the largest number of holders at which neither tail is ``alpha / 2`` or less.

    The tails are `above` what was seen, by the number of holders, and `below`, by that of the others. Where no number
    is left the nearer end is returned.
    """
    low = bisect_left(range(population), True, key=lambda holders: above(holders) > alpha / 2)
    return low, population - bisect_left(
        range(population), True, key=lambda others: below(others) > alpha / 2
    )
