"""The variance of one unbiased report: the randomisation part of every survey's error."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Real

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
        checks.plain(self)
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
