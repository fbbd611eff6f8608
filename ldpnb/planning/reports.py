"""The largest variance of a mean of unbiased reports, over all that the values in ``[0, 1]`` may be.

Every estimate here is a weighted mean of reports whose weights depend on the sample alone. Its variance is the sum of
two parts that never mix: *sampling*, on which finite populations and likeness within clusters act, and *randomisation*,
the reports' own variance.
"""

import math
from typing import NamedTuple

import numpy as np

from ldpnb.surveys.reports import Reports as Reports

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
            raise ValueError(
                f"sd must be at most {most:g} of the range, got {math.sqrt(s2):g} of it"
            )
        between = 0.0 if reports.ends or not reports.bits else 1 / 4 - (people - 1) / people * s2
        return Variance(own * s2, share * (reports.low + between))
    groups, spread, slope = (
        parts or people,
        own * people / max(people - 1, 1),
        reports.high - reports.low,
    )
    best = (
        float(np.clip(0.5 + share * slope / (2 * spread), 0, 1)) if spread > 0 else float(slope > 0)
    )
    shares = [math.floor(groups * best) / groups, math.ceil(groups * best) / groups]
    worst = [Variance(spread * t * (1 - t), share * (reports.low + slope * t)) for t in shares]
    if reports.bits and not reports.ends:
        worst.append(Variance(0.0, share * reports.variance(0.5)))
    return max(worst, key=lambda variance: variance.total)
