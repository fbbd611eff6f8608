"""The variance of one unbiased report: the randomisation part of every survey's error."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Real
from ldpnb.mechanisms.frequency import FrequencyMechanism

MeanMechanism = Literal["one-bit", "Laplace"]


@dataclass(frozen=True, slots=True)
class NumberReports:
    """Reports of a number: its value plus a noise of mean 0.

    Parameters
    ----------
    mechanism : {"one-bit", "Laplace"}
        For values at the ends of the range only, one bit is Warner's randomised response.
    epsilon : float
        Privacy loss of a report, nats.
    low, high : float
        The range, known beforehand.
    binary : bool
        Whether values are only its two ends.

    Examples
    --------
    >>> round(float(NumberReports("one-bit", 1.0).variance(0.3)), 6)
    1.130674
    """

    mechanism: MeanMechanism
    epsilon: Real
    low: Real = 0.0
    high: Real = 1.0
    binary: bool = False

    def __post_init__(self) -> None:
        checks.choice(mechanism=self.mechanism, among=("one-bit", "Laplace"))
        checks.positive(epsilon=self.epsilon)
        checks.positive(range=self.high - self.low)

    @property
    def range(self) -> Real:
        """Length of the range."""
        return self.high - self.low

    def within(self, span: Real) -> "NumberReports":
        """Return the reports of a number in a range of that length."""
        return replace(self, low=0.0, high=span)

    @property
    def floor(self) -> Real:
        """Variance of a report in units of the squared range, at the ends: ``1 / (4 sinh^2(epsilon/2))`` for a bit."""
        if self.mechanism == "Laplace":
            return 2 / (self.epsilon * self.epsilon)
        other = np.exp(-self.epsilon)  # without overflow
        return other / np.square(np.expm1(-self.epsilon))

    def variance(self, value: Real) -> Real:
        """Return the variance of the report of a value."""
        share = (value - self.low) / self.range
        within = share * (1 - share) if self.mechanism == "one-bit" else 0 * share
        return self.range * self.range * (self.floor + within)

    @property
    def worst(self) -> Real:
        """The largest mean of the reports' variances over any population."""
        middle = (self.low + self.high) / 2
        return self.variance(self.low if self.binary else middle)

    def worst_srs_variance(self, population: int, sample: int) -> Real:
        """Return the largest variance of the mean of a simple random sample over all populations.

        For one bit and any values it is that of a population at the middle of the range, which a finite population does
        not lower: where values spread, the reports vary less.
        """
        rest = 1 - sample / population
        half = population // 2
        spread = self.range * self.range * half * (population - half) / (population * (population - 1))
        if self.mechanism == "one-bit" and not self.binary:
            return self.worst / sample
        return (rest * spread + self.variance(self.low)) / sample


@dataclass(frozen=True, slots=True)
class ShareReports:
    """Reports of which of some values somebody holds, for the share of one value.

    Parameters
    ----------
    mechanism : FrequencyMechanism
        Its reports support a value with chance ``p`` if it is held and ``q`` if not.
    """

    mechanism: FrequencyMechanism

    def variance(self, holds: bool) -> Real:
        """Return the variance of a user's unbiased report, for a holder of the value or another."""
        m = self.mechanism
        chance = m.p * m.miss_rate if holds else m.q * (1 - m.q)
        return chance / (m.truthful_rate * m.truthful_rate)

    def worst_srs_variance(self, population: int, sample: int) -> float:
        """Return the largest variance of the share in a simple random sample, over all numbers of holders."""
        ratio = (1 - sample / population) * population / (population - 1)
        more = float(self.variance(True) - self.variance(False))
        top = population * float(np.clip((ratio + more) / (2 * ratio), 0, 1)) if ratio > 0 else population * (more > 0)
        share = np.array([np.floor(top), np.ceil(top)]) / population
        return float(np.max(ratio * share * (1 - share) + share * more + float(self.variance(False))) / sample)
