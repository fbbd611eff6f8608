"""A simple random sample from each stratum, with the number of people still to be found."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.arithmetic import log_mixed
from ldpnb.designs import strata as allocations
from ldpnb.privacy.subsampling import srs_loss
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.open_designs import Divided
from ldpnb.surveys.response import invitations_of
from ldpnb.surveys.variances import Variance, largest_noise, largest_spread, worst_variance

Allocation = Literal["proportional", "neyman"]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StratifiedDesign(Divided):
    """A simple random sample from each stratum.

    Parameters
    ----------
    sizes : tuple of int
    s2 : tuple of float, optional
        Variance of the values in each; the worst if left out.
    allocation : {"proportional", "neyman"}
        By size, or with the least variance, the reports' noise included.
    noise : float
        Variance of a report, for Neyman's allocation.
    names : tuple of str
    spans : tuple of float, optional
        Length of the range in which each stratum's reports are made; that of the survey if left out.
    responses : tuple of float, optional
        Probability that somebody who is asked answers; that of the survey if left out.
    """

    sizes: tuple[int, ...]
    s2: tuple[float, ...] | None = None
    allocation: Allocation = "proportional"
    noise: float = 0.0
    names: tuple[str, ...] = ()
    spans: tuple[float, ...] | None = None
    responses: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        checks.plain(self)
        self._require_parts("stratum", "s2", "spans", "responses")
        checks.choice(allocation=self.allocation, among=get_args(Allocation))
        for span in self.spans or ():
            checks.positive(spans=span)
        for rate in self.responses or ():
            checks.rate(responses=rate)
        if self.allocation == "neyman" and self.s2 is None and self.spans is None:
            raise ValueError("allocation neyman needs the standard deviation in each stratum, got none")

    def people(self, count: int) -> int:
        """Return how many people that many units are: at least one of each stratum."""
        return max(count, len(self.sizes))

    def drawn(self, count: int) -> tuple[int, ...]:
        """Return how many are drawn from each stratum."""
        total, sizes = self.people(count), np.array(self.sizes)
        if self.allocation == "neyman":
            shares = allocations.Strata(self.sizes, self._spreads()).best_whole(total)
        else:
            shares = np.minimum(np.maximum(allocations.largest_remainder(total * sizes / self.population), 1), sizes)
        return tuple(int(n) for n in shares)

    def _spans(self, span: float) -> Floats:
        return np.full(len(self.sizes), span) if self.spans is None else np.array(self.spans)

    def _spreads(self) -> Floats:
        """Return the variance of one report in each stratum, up to a factor if only ranges are known."""
        spans = self._spans(1.0)
        if self.s2 is None:
            return np.asarray(spans**2)
        # the noise is that of the longest range
        return np.asarray(np.array(self.s2) + self.noise * (spans / spans.max()) ** 2)

    def variances(self, count: int, reports: NumberReports | None, span: float) -> list[Variance]:
        """Return the largest variance of each stratum's mean consistent with what is known."""
        found, known = [], self.s2 or [None] * len(self.sizes)
        rows = zip(self.drawn(count), self.sizes, known, self._spans(span).tolist(), strict=True)
        for number, size, s2, own in rows:
            told = None if reports is None else reports.within(own)

            def parts(s2: float, n: int = number, size: int = size, told: NumberReports | None = told) -> Variance:
                return Variance((1 / n - 1 / size) * s2, largest_noise(told, s2, size) / n)

            found.append(worst_variance(parts, s2, largest_spread(size, own)))
        return found

    def variance(self, count: int, reports: NumberReports | None, span: float) -> Variance:
        """Return the largest variance consistent with what is known."""
        weights, worst = np.array(self.sizes) / self.population, self.variances(count, reports, span)
        sampling, noise = (
            float(np.sum(weights**2 * [getattr(v, part) for v in worst])) for part in ("sampling", "randomisation")
        )
        return Variance(sampling, noise)

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return Hoeffding's proxy for independent strata."""
        spans = self._spans(float(reports.range))
        reach = np.array(self.sizes) / self.population * spans / np.tanh(float(reports.epsilon) / 2)
        return float(np.sum(reach**2 / np.array(self.drawn(count))))

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked in each stratum, so that all get enough except with a probability."""
        chances, each = self.responses or (response,) * len(self.sizes), failure / len(self.sizes)
        parts = zip(self.drawn(count), self.sizes, chances, self.labels, strict=True)
        return tuple(invitations_of(n, size, rate, each, f"people in stratum {name}") for n, size, rate, name in parts)

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the exact joint loss of the reports of a secret sample in public strata."""
        return float(srs_loss(epsilon, float(np.max(np.array(invited) / np.array(self.sizes)))))

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise."""
        return self.known_scale(self.drawn(count), epsilon, span, secret=secret)

    def known_scale(self, drawn: tuple[int, ...], epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise where it is known how many are drawn from each stratum."""
        people, asked = np.array(self.sizes, dtype=float), np.array(drawn, dtype=float)
        inner = log_mixed(people / asked, np.full(people.size, epsilon)) if secret else epsilon
        return float(np.max(people / people.sum() * self._spans(span) / (asked * inner)))

    def loss_without(self, count: int, loss: float, reach: float) -> float:
        """Return the loss if a record may be absent: somebody else of its stratum is drawn in its place."""
        return loss if np.less(self.drawn(count), self.sizes).all() else math.inf

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        parts = ", ".join(f"{name} {n:,}" for name, n in zip(self.labels, self.drawn(count), strict=True))
        return f"ask {sum(self.drawn(count)):,} of {self.population:,} people ({parts})"

    def answering(self, invited: tuple[int, ...], response: float) -> str:
        """Return which share of those who are invited answers, in words; by stratum where rates are their own."""
        if self.responses is None:
            return Divided.answering(self, invited, response)
        rows = zip(self.labels, invited, self.responses, strict=True)
        return ": " + ", ".join(f"{name} {number:,}, of whom {rate:.0%} answer" for name, number, rate in rows)
