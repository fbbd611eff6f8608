"""A simple random sample from each stratum, with the number of people still to be found."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.designs import strata as allocations
from ldpnb.surveys import releases
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.open_designs import invitations_of, largest_noise, largest_spread, worst_variance
from ldpnb.surveys.variances import Variance

Allocation = Literal["proportional", "neyman", "equal"]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StratifiedDesign:
    """A simple random sample from each stratum.

    Parameters
    ----------
    sizes : tuple of int
    s2 : tuple of float, optional
        Variance of the values in each; the worst if left out.
    allocation : {"proportional", "neyman", "equal"}
        By size; or for the least variance at the cost, the reports' noise included; or for the same variance of every
        stratum's own mean.
    noise : float
        Variance of a report, for Neyman's and the equal allocation.
    names : tuple of str
    spans : tuple of float, optional
        Length of the range in which each stratum's reports are made; that of the survey if left out.
    costs : tuple of float, optional
        Of an answer, for Neyman's allocation; equal if left out.
    responses : tuple of float, optional
        Probability that somebody who is asked answers; that of the survey if left out.
    """

    sizes: tuple[int, ...]
    s2: tuple[float, ...] | None = None
    allocation: Allocation = "proportional"
    noise: float = 0.0
    names: tuple[str, ...] = ()
    spans: tuple[float, ...] | None = None
    costs: tuple[float, ...] | None = None
    responses: tuple[float, ...] | None = None
    unit: ClassVar[str] = "people"

    def __post_init__(self) -> None:
        if checks.counts(sizes=self.sizes).min() < 1:
            raise ValueError(f"sizes must be >= 1, got sizes={self.sizes!r}")
        checks.choice(allocation=self.allocation, among=("proportional", "neyman", "equal"))
        for name in ("s2", "spans", "costs", "responses"):
            held = getattr(self, name)
            if held is not None and len(held) != len(self.sizes):
                raise ValueError(f"{name} must be one per stratum, {len(self.sizes)}, got {len(held)}")
        for name in ("spans", "costs"):
            for number in getattr(self, name) or ():
                checks.positive(**{name: number})
        for rate in self.responses or ():
            checks.rate(responses=rate)
        if self.allocation != "proportional" and self.s2 is None and (self.spans is None or self.allocation == "equal"):
            raise ValueError(f"allocation {self.allocation} needs the standard deviation in each stratum, got none")

    @property
    def population(self) -> int:
        """People there are."""
        return sum(self.sizes)

    @property
    def most(self) -> int:
        """Units there are."""
        return self.population

    @property
    def labels(self) -> tuple[str, ...]:
        """The strata's names, or numbers where they have none."""
        return self.names or tuple(str(i + 1) for i in range(len(self.sizes)))

    def people(self, count: int) -> int:
        """Return how many people that many units are: at least one of each stratum."""
        return max(count, len(self.sizes))

    def drawn(self, count: int) -> tuple[int, ...]:
        """Return how many are drawn from each stratum."""
        total = self.people(count)
        if self.allocation == "neyman" and self.costs is None:
            shares = allocations.Strata(self.sizes, self._spreads()).best_whole(total)
        else:
            asked = allocations.Strata(self.sizes).capped(self._asked(total)).shares
            shares = np.minimum(np.maximum(allocations.largest_remainder(asked), 1), self.sizes)
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

    def _asked(self, total: int) -> Floats:
        """Return the real-valued shares of the strata."""
        sizes = np.array(self.sizes, dtype=float)
        if self.allocation == "neyman":
            return allocations.Strata(self.sizes, self._spreads() / np.array(self.costs)).neyman(total)
        if self.allocation == "proportional" or total >= self.population:
            return np.asarray(total * sizes / self.population)
        spreads, within = self._spreads(), np.array(self.s2) / sizes

        def needed(log: float) -> Floats:
            return np.minimum(spreads / (np.exp(log) + within), sizes)

        ends = np.log(spreads.max()) + np.array([-60.0, 60.0])
        return needed(float(brentq(lambda log: float(needed(log).sum()) - total, *ends)))

    def variances(self, count: int, reports: NumberReports | None, span: float) -> list[Variance]:
        """Return the largest variance of each stratum's own mean consistent with what is known."""
        found, known = [], self.s2 or [None] * len(self.sizes)
        for n, size, s2, own in zip(self.drawn(count), self.sizes, known, self._spans(span).tolist(), strict=True):
            told = None if reports is None else reports.within(own)

            def parts(s2: float, n: int = n, size: int = size, told: NumberReports | None = told) -> Variance:
                return Variance((1 - n / size) * s2 / n, largest_noise(told, s2, size) / n)

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

    def reach(self, count: int, reports: NumberReports) -> float | None:
        """Return None: terms are dependent."""
        return None

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked in each stratum, so that all get enough except with a probability."""
        chances, each = self.responses or (response,) * len(self.sizes), failure / len(self.sizes)
        parts = zip(self.drawn(count), self.sizes, chances, self.labels, strict=True)
        return tuple(invitations_of(n, size, rate, each, f"people in stratum {name}") for n, size, rate, name in parts)

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the exact joint loss of the reports of a secret sample, strata being public."""
        return releases.strata_loss(epsilon, self.sizes, invited)

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise."""
        return releases.strata_scale(epsilon, self.sizes, self.drawn(count), self._spans(span), secret=secret)

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        parts = ", ".join(f"{name} {n:,}" for name, n in zip(self.labels, self.drawn(count), strict=True))
        return f"ask {sum(self.drawn(count)):,} of {self.population:,} people ({parts})"

    def notes(self, count: int, reports: NumberReports | None, span: float) -> list[str]:
        """Return remarks on single strata."""
        said: list[Any] = []
        if self.allocation == "equal":
            worst = max(float(v.total) for v in self.variances(count, reports, span))
            said.append(f"Every stratum's own mean has a standard deviation of {worst**0.5:.3g} at most.")
        if self.costs is not None:
            said.append(f"The answers cost {np.dot(self.costs, self.drawn(count)):,.10g}.")
        return said
