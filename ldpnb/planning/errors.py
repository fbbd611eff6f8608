"""How often an estimate is off by its target error or more, over all data, in one of three forms for every mechanism.

`Bits` are reports that support something or not; `Sums` are reports with a known moment generating function; `Noise` is
a curator's. Each answers ``failure(draw, tail)`` with one of the `TAILS`, or raises `TailError`. All but *normal* hold
for certain, whatever the data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ldpnb.accuracy import means, tails
from ldpnb.planning import binomials, cumulants
from ldpnb.planning.design import Draw

Floats = NDArray[np.float64]

TAILS = ("exact", "chernoff", "bernstein", "hoeffding", "normal")
"""From the tightest that holds for certain to the approximation."""

_SHARES = np.array([0, 2**-10, 2**-7, 2**-5, *np.arange(1, 17) / 16])


class TailError(ValueError):
    """A tail bound does not exist for a mechanism under a design."""


class Errors(Protocol):
    """What a plan needs to know of a mechanism's estimate."""

    def failure(self, draw: Draw, tail: str) -> float:
        """Return the chance that the estimate is off by the target error or more, or a bound on it."""


@dataclass(frozen=True, slots=True)
class Bits:
    """Reports that are bits: the estimate is linear in the number of ones.

    Parameters
    ----------
    p, q : float
        Chance of a one at either end of the data, ``p > q``.
    deviation : float
        Target error on the scale of the mean bit.
    ends : bool
        Whether data are at the two ends only, as "holds the value or does not"; otherwise they are anywhere between.
    events : int
        Estimates that must all be met. Their shares of data at the upper end add up to at most 1.
    """

    p: float
    q: float
    deviation: float
    ends: bool
    events: int = 1

    def failure(self, draw: Draw, tail: str) -> float:
        """Return the worst chance over all data; over several estimates by the union bound.

        One estimate with a share ``f`` at the upper end fails with a chance ``F(f)``; over shares that add up to 1,
        ``sum F`` is at most ``events F(0) + max (F(f) - F(0)) / f``.
        """
        chance = partial(self.chances, draw=draw, tail=tail)
        # the joint law of sampling and randomisation is costly: few shares are tried, near that of the largest variance
        refine = not (tail == "exact" and self.ends and not draw.complete)
        shares = _SHARES if refine else self._widest(draw)
        return _worst(chance, shares, self.events, refine=refine)

    def _widest(self, draw: Draw) -> Floats:
        """Return some shares, 0 first, in rising order and densest around that of the largest variance."""
        fine = np.linspace(0, 1, 129)
        widest = fine[self.variances(fine, draw).argmax()]
        return np.unique(np.clip([0, 2**-8, 1 / 16, 1 / 4, 1 / 2, 1, widest - 1 / 32, widest, widest + 1 / 32], 0, 1))

    def chances(self, shares: Floats, *, draw: Draw, tail: str) -> Floats:
        """Return the chance of failure, or a bound on it, by the share of data at the upper end (or by their mean)."""
        rates = self.q + shares * (self.p - self.q)
        if tail == "exact":
            return self._exact(shares, rates, draw)
        if tail == "chernoff":
            exponents = (
                binomials.two_rates_exponents(shares, self.p, self.q, self.deviation)
                if self.ends and draw.complete
                else binomials.one_rate_exponents(rates, self.deviation)
            )
            both: Floats = draw.average(exponents).sum(axis=0)
            return np.minimum(both, 1.0)
        spread = self.variances(shares, draw)
        if tail == "normal":
            return _normal(np.sqrt(spread / (draw.population * draw.rate)), self.deviation)
        _need(draw.fixed, f"{tail} needs a fixed number of reports")
        reach = draw.reports * self.deviation
        if tail == "hoeffding":
            return np.full(shares.shape, tails.hoeffding(draw.reports, 2 * reach))
        variances = spread if self.ends and draw.complete else rates * (1 - rates)
        furthest = max(self.p, 1 - self.q)
        return np.array([tails.bernstein(draw.reports * float(v), furthest, reach) for v in variances])

    def variances(self, shares: Floats, draw: Draw) -> Floats:
        """Return the variance of the mean bit, of randomisation and sampling, times the number of reports."""
        rates = self.q + shares * (self.p - self.q)
        if not self.ends:
            return rates * (1 - rates)
        within = shares * self.p * (1 - self.p) + (1 - shares) * self.q * (1 - self.q)
        return within + draw.correction * shares * (1 - shares) * (self.p - self.q) ** 2

    def _exact(self, shares: Floats, rates: Floats, draw: Draw) -> Floats:
        if not self.ends:
            if draw.fixed:
                return binomials.one_rate_exact(draw.reports, rates, self.deviation)
            return binomials.averaged_one_rate_exact(draw.population, draw.rate, rates, self.deviation)
        holders = np.round(shares * draw.population)
        if draw.complete:
            return binomials.two_rates_exact(draw.population, holders, self.p, self.q, self.deviation)
        if draw.fixed:
            return self._sampled(holders, draw.population, draw.reports)
        likely = float(self.chances(shares, draw=draw, tail="chernoff").max())
        fewest, missed = _few_reports(draw, likely / 500)
        if not fewest:
            return np.ones_like(shares)
        return np.minimum(missed + self._sampled(holders, draw.population, fewest), 1.0)

    def _sampled(self, holders: Floats, population: int, reports: int) -> Floats:
        return binomials.sampled_two_rates_exact(population, holders, reports, self.p, self.q, self.deviation)


@dataclass(frozen=True, slots=True)
class Sums:
    """Reports that are summed, with known moment generating functions and a law that a change of sign leaves alone.

    Parameters
    ----------
    deviation : float
        Target error on the scale of the mean report.
    cumulant : callable
        From ``l > 0`` and whether everybody reports to the largest ``ln E exp(l (Z - E Z))`` per report, over all data.
    steepest : float
        Where `cumulant` ceases to exist.
    variance : callable
        From `Draw.correction` to the variance of the mean report times the number of reports, at worst.
    exact : callable, optional
        From the number of reports to the chance of failure, when everybody reports.
    largest : float, optional
        Reports lie in ``[-largest, largest]``.
    """

    deviation: float
    cumulant: Callable[[float, bool], float]
    steepest: float
    variance: Callable[[float], float]
    exact: Callable[[int], float] | None = None
    largest: float | None = None

    def failure(self, draw: Draw, tail: str) -> float:
        """Return the worst chance over all data."""
        if tail == "exact":
            if self.exact is None or not draw.complete:
                raise TailError("its exact law is known only for noise that the data do not enter")
            return self.exact(draw.population)
        if tail == "chernoff":
            return min(1.0, 2 * float(draw.average(self.exponent(draw))))
        if tail == "normal":
            variance = self.variance(draw.correction) / (draw.population * draw.rate)
            return float(_normal(np.sqrt(variance), self.deviation))
        _need(self.largest is not None, f"{tail} needs bounded reports")
        _need(draw.fixed, f"{tail} needs a fixed number of reports")
        bound, reports = float(self.largest or 0.0), draw.reports
        if tail == "hoeffding":
            return tails.hoeffding(reports, reports * self.deviation / bound)
        return tails.bernstein(reports * self.variance(1.0), 2 * bound, reports * self.deviation)

    def exponent(self, draw: Draw) -> float:
        """Return Chernoff's exponent per report, the largest ``l a - cumulant(l)``."""
        from scipy.optimize import minimize_scalar

        def lacking(log_tilt: float) -> float:
            tilt = float(np.exp(log_tilt))
            return self.cumulant(tilt, draw.complete) - tilt * self.deviation

        top = float(np.log(self.steepest)) - 1e-9
        best = minimize_scalar(lacking, bounds=(top - 35.0, top), method="bounded", options={"xatol": 1e-5})
        return max(0.0, -float(best.fun))


@dataclass(frozen=True, slots=True)
class Noise:
    """A trusted curator's Laplace noise on each of some sums over those who report, divided by their number.

    Parameters
    ----------
    deviation : float
        Target error of a mean of values in ``[0, 1]``.
    scale : float
        Of the noise on a sum.
    events : int
        Means that must all be met; their shares of values at the upper end add up to at most 1.
    ends : bool
        Whether values are at the two ends only, as "holds the value or does not".
    """

    deviation: float
    scale: float
    events: int = 1
    ends: bool = True

    def failure(self, draw: Draw, tail: str) -> float:
        """Return the chance at the worst data: of the noise alone where all report, else of the sample as well."""
        if draw.complete:
            single = self.alone(draw.population)
            return float(-np.expm1(self.events * np.log1p(-single))) if single < 1 else 1.0
        if tail != "exact":
            return self._chernoff(draw)
        if not (self.ends and draw.fixed):
            raise TailError("of a sample the exact law is known for a fixed number of values at the two ends only")

        def chance(shares: Floats) -> Floats:
            holders = np.round(shares * draw.population)
            return binomials.sampled_noisy_exact(draw.population, holders, draw.reports, self.deviation, self.scale)

        return _worst(chance, _SHARES, self.events)

    def alone(self, reports: int) -> float:
        """Return the chance that the noise itself is as large as the target."""
        return means.laplace_sum_tail(1, reports * self.deviation / self.scale)

    def _chernoff(self, draw: Draw) -> float:
        """Return Chernoff's bound: the noise has ``E exp(l L) = 1 / (1 - (l scale)^2)``, a report `cumulants.bits`."""
        from scipy.optimize import minimize_scalar

        def bound(log_tilt: float) -> float:
            tilt = float(np.exp(log_tilt))
            exponent = max(0.0, tilt * self.deviation - cumulants.bits(tilt))
            return float(2 * draw.average(exponent) / -np.expm1(2 * (log_tilt + np.log(self.scale))))

        top = -float(np.log(self.scale)) - 1e-9
        tilts = np.linspace(top - 35.0, top, 141)
        near = int(np.argmin([bound(tilt) for tilt in tilts]))
        ends = (tilts[max(near - 1, 0)], tilts[min(near + 1, tilts.size - 1)])
        best = minimize_scalar(bound, bounds=ends, method="bounded", options={"xatol": 1e-6})
        return float(min(1.0, self.events * best.fun))


def _few_reports(draw: Draw, share: float) -> tuple[int, float]:
    """Return a number that independent participation falls below with a chance of about `share`, and that chance."""
    from scipy import special

    aim = float(np.clip(share, 1e-15, 0.1))
    mean, deviation = draw.population * draw.rate, np.sqrt(draw.population * draw.rate * (1 - draw.rate))
    fewest = max(0, int(mean + special.ndtri(aim) * deviation))
    # of at most `fewest` - 1 participants
    fewer = special.betainc(draw.population - fewest + 1, fewest, 1 - draw.rate) if fewest else 0.0
    return fewest, float(fewer)


def _normal(sds: Floats, deviation: float) -> Floats:
    """Return `tails.normal` of many standard deviations, and 0 without any."""
    from scipy import special

    with np.errstate(divide="ignore"):
        chances: Floats = 2 * special.ndtr(-deviation / np.asarray(sds, dtype=float))
    return chances


def _largest(function: Callable[[Floats], Floats], shares: Floats, *, refine: bool = True) -> float:
    """Return the maximum of a smooth function of a share: on a grid, refined twice around its best point."""
    points, values = shares, function(shares)
    for _ in range(2 * refine):
        best = int(values.argmax())
        low, high = points[max(best - 1, 0)], points[min(best + 1, points.size - 1)]
        points = np.linspace(low, high, 7)
        values = function(points)
    return float(values.max())


def _worst(chance: Callable[[Floats], Floats], shares: Floats, events: int, *, refine: bool = True) -> float:
    """Return the worst chance over shares, or of one event at least among several whose shares add up to 1."""
    if events == 1:
        return min(1.0, _largest(chance, shares, refine=refine))
    (rare,) = chance(np.zeros(1))
    steepest = _largest(lambda some: (chance(some) - rare) / some, shares[1:], refine=refine)
    return float(min(1.0, events * rare + steepest))


def _need(holds: bool, reason: str) -> None:
    if not holds:
        raise TailError(reason)
