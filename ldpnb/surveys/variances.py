"""The variance of an estimate, sampling and randomisation apart, and the largest consistent with what is known.

The variance ``s2`` of a population has the divisor ``N - 1``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ldpnb import checks
from ldpnb.arithmetic import Real
from ldpnb.surveys.noise import NumberReports

MOST = 10**15
"""People of a population: beyond, floats no longer count them."""


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


def worst_totals_spread(sizes: Sequence[int]) -> float:
    """Return the largest variance of the clusters' totals, of values within 1/2 of the middle of their range.

    The worst totals are ``+-N_g / 2`` with the signs that balance best. All subset sums are held as the bits of one
    number.
    """
    reached, people, clusters = 1, sum(sizes), len(sizes)
    for size in sizes:
        reached |= reached << size
    imbalance = people - 2 * ((reached & ((1 << people // 2 + 1) - 1)).bit_length() - 1)
    return (sum(size**2 for size in sizes) - imbalance**2 / clusters) / (4 * (clusters - 1))
