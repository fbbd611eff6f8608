"""What comes back from the field: reports of a device with known chances, and the values that they stand for.

Values lie in ``[0, 1]``, as shares of a range. A report is a bit that supports the value 1, or the value with Laplace
noise. Its *unbiased value* has the sender's own as its mean over the device, whatever the sender holds. A curator
reports once, the mean of true values with such noise.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from ldpnb import checks
from ldpnb.mechanisms.registry import FrequencyMechanism

KINDS = ("binary", "labels", "bits", "number", "Laplace")
"""A yes/no answer; a label by k-ary randomised response; a bit per label by unary encoding; a bit of a number in a
range; such a number with Laplace noise."""

DEVICES: Mapping[str, int] = MappingProxyType(
    {"die": 6, "ten-sided die": 10, "two dice": 36, "cards": 52, "spinner": 100, "form": 2**32}
)
"""Devices for the field and how many equally likely outcomes each has; `form` is a page on one's own computer."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Reports:
    """Bits that support a value with chances `p` and `q`, or values with Laplace noise, or the values themselves.

    - `p`, `q`, float: chance of a one from the values 1 and 0; 1 and 0 where reports are no bits.
    - `truth`, `miss`, float: ``p - q`` and ``1 - p``, which do not cancel.
    - `scale`, float: of Laplace noise; 0 for bits and for values that a curator has.
    - `ends`, bool: whether values are 0 and 1 only.

    >>> die = Reports(2 / 3, 1 / 3, 1 / 3, 1 / 3, ends=True)
    >>> round(die.value(0)), round(die.value(1)), round(die.variance(0.5), 12)
    (-1, 2, 2.0)
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

    def value(self, report: Any) -> Any:
        """Return the unbiased value of a report, or that of a rate of ones."""
        return (report - self.q) / self.truth

    def variance(self, mean: float) -> float:
        """Return the mean variance of reports of values with this mean, unbiased if `mean` is an unbiased estimate.

        A value between the ends is rounded to a bit, which adds to it: of such values it is the largest, if all are
        alike. With the actual, unknown spread it is smaller by the mean squared distance from the mean.
        """
        rounding = self.bits and not self.ends
        return self.low + (self.high - self.low) * mean + rounding * mean * (1 - mean)

    @property
    def worst(self) -> float:
        """The largest mean variance of the reports of any population."""
        return max(self.low, self.high) if self.ends or not self.bits else self.variance(0.5)


def odds(kind: str, p: Any, q: Any) -> Any:
    """Return the largest ratio ``e^epsilon`` of the chances of a report from two people; not of Laplace noise."""
    one, none = p / q, (1 - q) / (1 - p)
    return one * none if kind == "bits" else max(one, none)


def realised(
    mechanism: str, epsilon: float, outcomes: int, labels: int = 2
) -> tuple[Fraction, Fraction]:
    """Return ``p`` and ``q`` of a device's nearest protocol for a mechanism that loses `epsilon` at most.

    Two answers, and each bit of SUE: the truth on `j` of the outcomes, else the opposite. More: the truth on `j`, else
    one of equal cards, all labels among them. A device that is too coarse for that is refused.

    >>> [str(chance) for chance in realised("Warner", 1.0, 6)]
    ['2/3', '1/3']
    """
    if mechanism == "OUE":
        return Fraction(1, 2), Fraction(
            math.ceil(outcomes / (1 + math.exp(epsilon)) - _ROUNDING), outcomes
        )
    if mechanism == "SUE":
        epsilon, labels = epsilon / 2, 2
    decay = math.exp(-checks.positive(epsilon, "epsilon"))
    chance = (1 if labels == 2 else -math.expm1(-epsilon)) / (1 + (labels - 1) * decay)
    kept = min(math.floor(outcomes * chance + _ROUNDING), outcomes - 1)
    if kept < 1 or (labels == 2 and 2 * kept <= outcomes):
        wished = f"{labels} answers at epsilon <= {epsilon:g}"
        raise ValueError(
            f"a device of {outcomes} outcomes has no protocol for {wished}: take a finer one"
        )
    other = Fraction(outcomes - kept, outcomes * (labels if labels > 2 else 1))
    return Fraction(kept, outcomes) + (other if labels > 2 else 0), other
