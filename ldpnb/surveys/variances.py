"""The variance of an estimate, sampling and randomisation apart, and the largest consistent with what is known.

The variance ``s2`` of a population has the divisor ``N - 1``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Real
from ldpnb.surveys.noise import NumberReports

MOST = 10**15
"""People of a population: beyond, floats no longer count them."""

EXACT_PEOPLE = 10**6
"""People up to whom the worst clusters of different sizes are found exactly."""


@dataclass(frozen=True, slots=True)
class Variance:
    """The two parts of an estimate's variance."""

    sampling: Real
    randomisation: Real

    @property
    def total(self) -> Real:
        """Their sum."""
        return self.sampling + self.randomisation


def squared(sd: float | None) -> float | None:
    """Return the variance of values of that standard deviation, if it is known."""
    return None if sd is None else float(checks.positive(sd=sd) * sd)


def largest_spread(people: int, span: float) -> float:
    """Return the largest variance (divisor ``N - 1``) of so many values in a range of that length."""
    half = people // 2
    return span * span * half * (people - half) / (people * (people - 1)) if people > 1 else 0.0


def largest_noise(reports: NumberReports | None, s2: float, people: int) -> float:
    """Return the largest mean variance of reports in a population of that variance."""
    if reports is None:
        return 0.0
    ends = float(reports.range * reports.range * reports.floor)
    if reports.binary or reports.mechanism == "Laplace":
        return ends
    return ends + float(reports.range) ** 2 / 4 - (people - 1) / people * s2


def worst_variance(parts: Callable[[float], Variance], known: float | None, limit: float) -> Variance:
    """Return the variance at the known spread, or else at the worse end of its range, in which it is linear."""
    if known is not None:
        if known > limit * (1 + 1e-9):
            raise ValueError(f"sd must be at most {limit**0.5:g} in that range, got sd={known**0.5:g}")
        return parts(known)
    return max(parts(0.0), parts(limit), key=lambda v: float(v.total))


def worst_clusters_variance(sizes: Sequence[int], chosen: int, span: float = 1.0, *, centred: bool = True) -> float:
    """Return the largest sampling variance of the mean of whole clusters, over all values in a range of that length.

    Of `sizes`, people per cluster, 1,000,000 in all at most, `chosen` are drawn simply at random. If values are centred
    at the middle of the range, the worst totals are ``+-N_g / 2`` with the signs that balance best; if they count from
    an end, the largest clusters all lie at the other: the difference is what centring saves where sizes differ.

    >>> [round(worst_clusters_variance([2, 1, 3, 1], 2, centred=centred), 4) for centred in (True, False)]
    [0.1003, 0.1837]
    """
    held = checks.counts(sizes=sizes, minimum_size=2)
    clusters, people = held.size, sum(held.tolist())
    if held.min() < 1 or people > EXACT_PEOPLE:
        raise ValueError(f"sizes must be >= 1 and sum to at most {EXACT_PEOPLE:,}, got {held.min()} and {people:,}")
    chosen = checks.whole(chosen=chosen, at_least=1)
    checks.numbers(chosen=chosen, low=1, high=clusters)
    if centred:
        spread = (np.sum(held.astype(float) ** 2) - _least_imbalance(held.tolist()) ** 2 / clusters) / 4
    else:
        falling = np.sort(held.astype(float))[::-1]
        spread = np.max(np.cumsum(falling**2) - np.cumsum(falling) ** 2 / clusters)
    factor = (1 - chosen / clusters) * clusters**2 / ((clusters - 1) * chosen * people**2)
    return float(factor * spread * checks.numbers(span=checks.positive(span=span), low=0, high=1e150) ** 2)


def _least_imbalance(sizes: Sequence[int]) -> int:
    """Return the least ``|sum of +-N_g|``, from all subset sums, held as the bits of one number."""
    reached, people = 1, sum(sizes)
    for size in sizes:
        reached |= reached << size
    return people - 2 * ((reached & ((1 << people // 2 + 1) - 1)).bit_length() - 1)


def kish_design_effect(weights: ArrayLike, counts: ArrayLike | None = None) -> float:
    """Return Kish's design effect ``n sum w^2 / (sum w)^2``: the factor on randomisation, and roughly on sampling.

    Of `weights`, ``(k,)`` numbers > 0 in any unit, each of one report, or of as many as `counts`, ``(k,)``, says.

    >>> kish_design_effect([1, 1, 2, 4]), kish_design_effect([1, 2, 4], [2, 1, 1])
    (1.375, 1.375)
    """
    held = np.asarray(checks.numbers(weights=weights))
    if held.ndim != 1 or not held.size or held.min() <= 0:
        raise ValueError(f"weights must be one number > 0 per report, got weights={checks.shortened(weights)}")
    number = np.ones(held.size) if counts is None else np.ravel(checks.numbers(counts=counts, low=0, high=MOST))
    if not checks.entries(held.size, counts=number).sum() >= 1e-9:
        raise ValueError(f"counts must have a positive sum, got counts={checks.shortened(counts)}")
    relative = held / held.max()
    return float(number.sum() * (number @ relative**2) / (number @ relative) ** 2)
