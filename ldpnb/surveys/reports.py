"""What comes back from the field: reports of a device with known probabilities, and the numbers that they stand for.

A report is a bit (the answer to a yes/no question, or one bit of a number), a label, a bit per label, or a number with
Laplace noise. Its *unbiased value* has the sender's own value as its mean over the device, whatever the sender holds.
The probabilities are those of the device that was used, as fractions, never those of the epsilon that was wished for.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.arithmetic import Real
from ldpnb.surveys.columns import Words, refuse

Kind = Literal["binary", "labels", "bits", "number", "Laplace"]

DEVICES: Mapping[str, int] = MappingProxyType(
    {"die": 6, "ten-sided die": 10, "two dice": 36, "cards": 52, "spinner": 100, "form": 2**32}
)
"""Devices for the field and how many equally likely outcomes each has; `form` is a page on one's own computer."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Reports:
    """Reports of one mechanism.

    Parameters
    ----------
    kind : {"binary", "labels", "bits", "number", "Laplace"}
        A yes/no answer; one label by k-ary randomised response; a bit per label by unary encoding; one bit of a number
        in ``[low, high]``; such a number with Laplace noise.
    p, q : Fraction or float
        Chances that a report supports what its sender holds, and that it supports another given value. Not of Laplace.
    low, high : float
        Range of a number, or the values of no and yes.
    labels : tuple of str
        What people choose from, for ``labels`` and ``bits``.
    budget : float
        Epsilon of Laplace noise.

    >>> die = Reports("binary", Fraction(2, 3), Fraction(1, 3))
    >>> [str(die.value(bit)) for bit in (0, 1)], round(die.epsilon, 4)
    (['-1', '2'], 0.6931)
    """

    kind: Kind
    p: Any = 1
    q: Any = 0
    low: Any = 0
    high: Any = 1
    labels: tuple[str, ...] = ()
    budget: float = math.nan

    def __post_init__(self) -> None:
        checks.choice(kind=self.kind, among=get_args(Kind))
        checks.positive(range=float(self.high - self.low))
        if self.kind == "Laplace":
            checks.positive(epsilon=self.budget)
        elif not 0 < self.q < self.p < 1:
            raise ValueError(f"p and q must satisfy 0 < q < p < 1, got p={self.p}, q={self.q}")
        if (self.kind in ("labels", "bits")) != bool(self.labels) or len(set(self.labels)) != len(self.labels):
            raise ValueError(f"labels must be given for kinds labels and bits, each once, got labels={self.labels!r}")
        if self.kind == "labels" and abs(self.p + (len(self.labels) - 1) * self.q - 1) > _ROUNDING:
            raise ValueError(f"p + (k - 1) q must be 1 for {len(self.labels)} labels, got p={self.p}, q={self.q}")

    @property
    def truth(self) -> Any:
        """Difference ``p - q``."""
        return self.p - self.q

    @property
    def span(self) -> Any:
        """Length of the range."""
        return self.high - self.low

    @property
    def odds(self) -> Any:
        """Largest ratio ``e^epsilon`` of the chances of a report from two people; not of Laplace."""
        one, none = self.p / self.q, (1 - self.q) / (1 - self.p)
        return {"labels": one, "bits": one * none}.get(self.kind, max(one, none))

    @property
    def epsilon(self) -> float:
        """Exact privacy loss of a report, nats."""
        return float(self.budget) if self.kind == "Laplace" else math.log(self.odds)

    def value(self, report: Real) -> Real:
        """Return the unbiased value of a report: of a bit, 0 or 1, or of a noisy number."""
        return report if self.kind == "Laplace" else self.low + self.span * (report - self.q) / self.truth

    def noise(self, mean: Real) -> Real:
        """Return the mean variance of the unbiased values of a report, unbiased if `mean` is an unbiased estimate.

        Of one bit of any number it is an upper bound, that of people who all hold `mean`; with the actual, unknown
        spread it is smaller by the mean squared distance from it.
        """
        if self.kind == "Laplace":
            return 2 * self.span**2 / self.budget**2
        share, own, other = (mean - self.low) / self.span, self.p * (1 - self.p), self.q * (1 - self.q)
        rate = self.q + self.truth * share
        mixed = rate * (1 - rate) if self.kind == "number" else other + (own - other) * share
        return self.span**2 * mixed / self.truth**2

    def read(self, words: Words) -> NDArray[Any]:
        """Return what each report says of every label, or its one bit or number: ``(n, k)``; refuse what none says."""
        k = len(self.labels)
        if self.kind == "labels":
            readings, rule = words[:, None] == np.array(self.labels), f"one of {', '.join(self.labels)}"
            possible = readings.any(axis=1)
        elif self.kind == "bits":
            rule = f"a word of {k} bits, one per label"
            possible = np.array([len(word) == k and set(word) <= {"0", "1"} for word in words])
            readings = np.array([[bit == "1" for bit in word] for word in words[possible]])
        elif self.kind == "Laplace":
            readings, rule = np.array([[_number(word)] for word in words]), "a finite number"
            possible = np.isfinite(readings[:, 0])
        else:
            readings, rule = np.isin(words, ("1", "1.0"))[:, None], "0 or 1"
            possible = readings[:, 0] | np.isin(words, ("0", "0.0"))
        refuse(~possible, words, f"report must be {rule}")
        return readings.astype(float)

    @property
    def guaranteed_from(self) -> float:
        """Reports from which on `intervals.through_channel` is certain: more than ``1 / q`` and ``1 / (1 - p)``."""
        return math.inf if self.kind == "Laplace" else float(max(1 / self.q, 1 / (1 - self.p)))


def realised(epsilon: float, outcomes: int, labels: int = 2) -> tuple[Fraction, Fraction]:
    """Return ``p`` and ``q`` of the nearest protocol of a device that loses `epsilon` at most.

    Two answers: the truth on `j` of the outcomes, else the opposite. More: the truth on `j`, else one of equal cards,
    all labels among them. A device that is too coarse for that is refused.

    >>> [str(chance) for chance in realised(1.0, 6)]
    ['2/3', '1/3']
    """
    decay = math.exp(-checks.positive(epsilon=epsilon))
    chance = (1 if labels == 2 else -math.expm1(-epsilon)) / (1 + (labels - 1) * decay)
    kept = min(math.floor(outcomes * chance + _ROUNDING), outcomes - 1)
    if kept < 1 or (labels == 2 and 2 * kept <= outcomes):
        wished = f"{labels} answers at epsilon <= {epsilon:g}"
        raise ValueError(f"a device of {outcomes} outcomes has no protocol for {wished}: take a finer one")
    if labels == 2:
        return Fraction(kept, outcomes), Fraction(outcomes - kept, outcomes)
    other = Fraction(outcomes - kept, outcomes * labels)
    return Fraction(kept, outcomes) + other, other


def realised_bits(epsilon: float, outcomes: int, *, optimised: bool) -> tuple[Fraction, Fraction]:
    """Return ``p`` and ``q`` of unary encoding, optimised or symmetric, that loses `epsilon` at most."""
    if optimised:
        return Fraction(1, 2), Fraction(math.ceil(outcomes / (1 + math.exp(epsilon)) - _ROUNDING), outcomes)
    return realised(epsilon / 2, outcomes)


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan
