"""Confidence intervals: exact through the device where the design allows it, else Student's t.

Which one is used depends on the design and never on the reports. If no true value fits the reports,
there is no interval.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass

from scipy import special

from ldpnb.survey.binomials import sampled_tail
from ldpnb.survey.device import Device

_MISFIT = (
    "no true value fits these reports: for this device, too {} of them say yes. Did everybody "
    "follow it, and are p and q the probabilities that were used?"
)
_OUTSIDE = (
    "no true value fits these reports: the interval lies outside the possible values. Did "
    "everybody follow the device, and were its probabilities and its range as you gave them?"
)
NOTHING = 1e-24
"""A variance up to this, in squares of the range, is rounding."""

CONSTANT = "the reports do not vary, so the standard error is unknown."


@dataclass(frozen=True)
class Interval:
    """The ends, nan if there are none; how they were found; a warning, if there is one."""

    low: float
    high: float
    how: str
    warning: str = ""


def exact_share(
    ones: int, number: int, population: float, device: Device, alpha: float
) -> Interval:
    """Return the interval for a share in a simple random sample, from the number of yes reports.

    It holds the shares of the population under which neither so few nor so many reports of yes are
    less likely than ``alpha / 2``. For a very large population it is Clopper and Pearson's, through
    the device.

    >>> from ldpnb.survey.device import device
    >>> found = exact_share(96, 160, 200, device(mechanism="Warner", epsilon=2), 0.05)
    >>> found.low, found.high
    (0.555, 0.705)
    """
    if math.isinf(population):
        return through_device(ones, number, device, alpha)

    rates = device.upright()
    yes = ones if device.gap > 0 else number - ones
    no = number - yes
    everybody = int(population)

    def so_many_yes(holders: int) -> float:
        return sampled_tail(yes, number, everybody, holders, rates.p, rates.q)

    def so_many_no(others: int) -> float:
        return sampled_tail(no, number, everybody, others, 1 - rates.q, 1 - rates.p)

    if so_many_no(everybody) <= alpha / 2:
        return _misfit(few=device.gap > 0)
    if so_many_yes(everybody) <= alpha / 2:
        return _misfit(few=device.gap < 0)

    counts = range(everybody)
    holders = bisect_left(counts, True, key=lambda count: so_many_yes(count) > alpha / 2)
    others = bisect_left(counts, True, key=lambda count: so_many_no(count) > alpha / 2)
    return Interval(holders / everybody, (everybody - others) / everybody, "exact")


def through_device(ones: int, number: int, device: Device, alpha: float) -> Interval:
    """Return Clopper and Pearson's interval for the rate of yes, in terms of true values.

    If there are more than ``1/q`` and ``1/(1 - p)`` reports, it covers in a simple random sample
    from a population of any size, and also for bits that stand for numbers: see
    `binomials.one_rate_exact`.
    """
    rates = device.upright()
    yes = ones if device.gap > 0 else number - ones
    no = number - yes
    low = float(special.betaincinv(yes, no + 1, alpha / 2)) if yes else 0.0
    high = float(special.betainccinv(yes + 1, no, alpha / 2)) if no else 1.0
    if high < rates.q:
        return _misfit(few=device.gap > 0)
    if low > rates.p:
        return _misfit(few=device.gap < 0)

    def share(rate: float) -> float:
        return min(max((rate - rates.q) / rates.gap, 0.0), 1.0)

    return Interval(share(low), share(high), "exact")


def student(
    estimate: float, variance: float, freedom: int, alpha: float, *, is_difference: bool = False
) -> Interval:
    """Return the interval by Student's t, cut to ``[0, 1]``, or to ``[-1, 1]`` for a difference."""
    if not variance > NOTHING:
        return Interval(math.nan, math.nan, "none", CONSTANT)

    half = -float(special.stdtrit(freedom, alpha / 2)) * math.sqrt(variance)
    least = -1.0 if is_difference else 0.0
    if estimate + half < least or estimate - half > 1:
        return Interval(math.nan, math.nan, "none", _OUTSIDE)
    low = max(estimate - half, least)
    high = min(estimate + half, 1.0)
    return Interval(low, high, f"t, {freedom:,} df")


def _misfit(*, few: bool) -> Interval:
    return Interval(math.nan, math.nan, "none", _MISFIT.format("few" if few else "many"))
