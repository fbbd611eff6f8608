"""Unbiased reports of values in ``[0, 1]``, and the largest variance of their mean over all that the values may be.

Every estimate here is a weighted mean of reports whose weights depend on the sample alone. Its variance is the sum of
two parts that never mix: *sampling*, on which finite populations and likeness within clusters act, and *randomisation*,
the reports' own variance.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ldpnb.mechanisms.frequency import FrequencyMechanism

MANY = 10**12
"""People of a population that is not limited; up to there the laws are right to eight digits."""


class UnableError(ValueError):
    """Why a mechanism cannot answer a question that others can."""


class Variance(NamedTuple):
    """The two parts of an estimate's variance."""

    sampling: float
    randomisation: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.sampling + self.randomisation


@dataclass(frozen=True, slots=True)
class Reports:
    """Bits that support a value with chances `p` and `q`, or values with Laplace noise, or the values themselves.

    - `p`, `q`, float: chance of a one from the values 1 and 0; 1 and 0 where reports are no bits.
    - `truth`, `miss`, float: ``p - q`` and ``1 - p``, which do not cancel.
    - `scale`, float: of Laplace noise; 0 for bits and for values that a curator has.
    - `ends`, bool: whether values are 0 and 1 only.

    >>> Reports(0.75, 0.25, 0.5, 0.25).variance(0.5)
    1.0
    """

    p: float = 1.0
    q: float = 0.0
    truth: float = 1.0
    miss: float = 0.0
    scale: float = 0.0
    ends: bool = False

    @classmethod
    def of(cls, mechanism: FrequencyMechanism, *, ends: bool) -> "Reports":
        """Return the bits of a mechanism: whether its report supports the value."""
        p, q, truth, miss = mechanism.p, mechanism.q, mechanism.truthful_rate, mechanism.miss_rate
        return cls(p, max(q, 1e-300), truth, max(miss, 1e-300), ends=ends)

    @property
    def bits(self) -> bool:
        """Whether reports are bits."""
        return self.q > 0

    @property
    def low(self) -> float:
        """Variance of the report of 0."""
        return self.q * (self.miss + self.truth) / self.truth**2 + 2 * self.scale**2

    @property
    def high(self) -> float:
        """Variance of the report of 1."""
        return self.p * self.miss / self.truth**2 + 2 * self.scale**2

    def variance(self, value: float) -> float:
        """Return the variance of the report of a value; rounding one between the ends to a bit adds to it."""
        return self.low + (self.high - self.low) * value + self.bits * value * (1 - value)

    @property
    def worst(self) -> float:
        """The largest mean variance of the reports of any population."""
        return max(self.low, self.high) if self.ends or not self.bits else self.variance(0.5)


def largest_spread(people: int) -> float:
    """Return the largest variance, with divisor ``N - 1``, of so many values in ``[0, 1]``."""
    half = people // 2
    return half * (people - half) / (people * (people - 1)) if people > 1 else 0.0


def largest(
    reports: Reports, own: float, share: float, people: int, s2: float | None = None, parts: int = 0
) -> Variance:
    """Return the largest ``own S2 + share v`` over populations, ``S2`` being their variance and ``v`` that of a report.

    It is linear in ``S2``, so the worst is an end: all values in the middle of the range, where a bit varies most, or
    all at its ends. There a share ``t`` at 1 gives ``own N/(N-1) t (1 - t) + share (low + t (high - low))``.

    - `own`, `share`, float: how much the design makes of the variance of the values and of a report's.
    - `people`, int: in the population.
    - `s2`, float, optional: its variance, if known.
    - `parts`, int, optional: groups of people whose values are all alike, if these are the worst; everybody is one if
      left out.
    """
    if s2 is not None:
        if s2 > largest_spread(people) * (1 + 1e-9):
            most = math.sqrt(largest_spread(people))
            raise ValueError(f"sd must be at most {most:g} of the range, got {math.sqrt(s2):g} of it")
        between = 0.0 if reports.ends or not reports.bits else 1 / 4 - (people - 1) / people * s2
        return Variance(own * s2, share * (reports.low + between))
    groups, spread, slope = parts or people, own * people / max(people - 1, 1), reports.high - reports.low
    best = float(np.clip(0.5 + share * slope / (2 * spread), 0, 1)) if spread > 0 else float(slope > 0)
    shares = [math.floor(groups * best) / groups, math.ceil(groups * best) / groups]
    worst = [Variance(spread * t * (1 - t), share * (reports.low + slope * t)) for t in shares]
    if reports.bits and not reports.ends:
        worst.append(Variance(0.0, share * reports.variance(0.5)))
    return max(worst, key=lambda variance: variance.total)
