"""How often an estimate is off by its target error or more, over all that the data may be.

A law answers ``failure(sample, error, tail)`` with a chance and the bound or law that it is: *exact* where the law is
known at the worst data; else the smaller of *Chernoff*'s bound (*Hoeffding*'s, of bits) and *Chebyshev*'s; or the
*normal* approximation at the largest variance, which promises nothing. Errors are those of values in ``[0, 1]``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from ldpnb.accuracy import means, tails
from ldpnb.arithmetic import Floats
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.reports import Reports
from ldpnb.planning.samples import StratifiedDesign
from ldpnb.surveys import binomials

Design = StratifiedDesign | ClusterDesign
Tail = Literal["guaranteed", "normal", "near"]
"""What holds for all data, the normal law, or for searches the exact law at the largest variance, nearly the worst."""

_SHARES = np.array([0, 2**-10, 2**-7, 2**-5, *np.arange(1, 17) / 16])
_FEW = np.array([0, 2**-8, 1 / 16, 1 / 4, 1 / 2, 1])
_FINE = np.linspace(0, 1, 129)
_FINE_SAMPLE = 10_000
"""Largest sample whose lattice shows in the chance of an error."""


@dataclass(frozen=True, slots=True)
class Linear:
    """The mean of unbiased reports of values in ``[0, 1]``, or a curator's with noise; or several shares by such means.

    - `reports`, Reports
    - `noise`, float: scale of the noise that a curator adds to the mean.
    - `events`, int: shares that must all be met; they add up to 1.
    - `unit`, float: the mean report of an error of 1.
    """

    reports: Reports
    noise: float = 0.0
    events: int = 1
    unit: float = 1.0

    def failure(self, sample: Design, error: float, tail: Tail) -> tuple[float, str]:
        """Return the chance at the worst data, or a bound on it; over several shares by the union bound."""
        error, simple = (
            error * self.unit,
            isinstance(sample, StratifiedDesign) and len(sample.parts) == 1,
        )
        if tail == "normal":
            return self._normal(sample, error, simple=simple), "normal"
        exact = self._exact(sample, error, near=tail == "near") if simple else None
        if exact is not None:
            return min(exact, 1.0), "exact"

        def lacking(tilts: Floats) -> Floats:
            with np.errstate(divide="ignore"):
                own = -np.log1p(-np.minimum((tilts * self.noise) ** 2, 1.0))
            return sample.exponent(tilts, self.reports) + own - tilts * error

        chernoff = least_exponential(lacking, 8 * sample.people / error)
        chebyshev = (sample.variance(self.reports).total + 2 * self.noise**2) / error**2
        name = "Chernoff" if self.noise or self.reports.scale else "Hoeffding"
        chance, bound = min((chebyshev, "Chebyshev"), (chernoff, name))
        return min(1.0, self.events * chance), bound

    def _exact(self, sample: Any, error: float, *, near: bool) -> float | None:
        """Return the chance by the law of the reports, sampling included; None if it is not known."""
        (people,), (number,), reports = sample.parts, sample.answers, self.reports
        if number == people and self.noise:
            single = means.laplace_sum_tail(1, error / self.noise)
            return float(-np.expm1(self.events * np.log1p(-single))) if single < 1 else 1.0
        if number == people and reports.scale:
            return means.laplace_sum_tail(number, number * error / reports.scale)
        if not (reports.ends or reports.bits) or reports.scale:
            return None
        deviation = error * reports.truth

        def chance(shares: Floats) -> Floats:
            holders = np.round(shares * people)
            if self.noise:
                return binomials.sampled_noisy_exact(
                    people, holders, number, error, number * self.noise
                )
            if not reports.ends:
                return binomials.one_rate_exact(
                    number, reports.q + shares * reports.truth, deviation
                )
            return binomials.two_rates_exact(
                people, holders, number, reports.p, reports.q, deviation
            )

        if near and self.events == 1:
            return float(chance(self._widest(sample)[1:2])[0])
        if self.noise and self.events == 1:
            return curator_failure(people, number, error, self.noise)[0]
        if (
            reports.ends and not self.noise and number < people
        ):  # this joint law is costly: few shares are tried
            return self._worst(chance, np.union1d(_FEW, self._widest(sample)), refine=False)
        return self._worst(chance, refine=not near)

    def _widest(self, sample: Any) -> Floats:
        """Return the share of ones, or the value of all, at which the variance is largest, between its neighbours."""
        best = _FINE[self._variances(_FINE, sample).argmax()] if self.reports.ends else 0.5
        return np.clip([best - 1 / 32, best, best + 1 / 32], 0, 1)

    def _variances(self, shares: Floats, sample: Any) -> Floats:
        """Return the variance of one simple sample by the share of values at 1, all others being 0."""
        (people,), (number,), reports = sample.parts, sample.answers, self.reports
        spread = (1 / number - 1 / people) * people / max(people - 1, 1)
        noise = (reports.low + shares * (reports.high - reports.low)) / number
        return spread * shares * (1 - shares) + noise + 2 * self.noise**2

    def _normal(self, sample: Design, error: float, *, simple: bool) -> float:
        if self.events > 1 and not self.noise and simple:
            return self._worst(
                lambda f: (
                    2
                    * special.ndtr(-error / np.sqrt(np.maximum(self._variances(f, sample), 1e-300)))
                )
            )
        sd = math.sqrt(max(sample.variance(self.reports).total, 1e-300))
        single = (
            tails.normal_laplace(sd, self.noise, error)
            if self.noise
            else float(2 * special.ndtr(-error / sd))
        )
        return min(1.0, self.events * single)

    def _worst(
        self, chance: Callable[[Floats], Floats], shares: Floats = _SHARES, *, refine: bool = True
    ) -> float:
        """Return the worst chance over shares, or of one event at least among several whose shares add up to 1.

        One estimate with a share ``f`` of ones fails with a chance ``F(f)``; over shares that add up to 1, ``sum F`` is
        at most ``events F(0) + max (F(f) - F(0)) / f``.
        """
        if self.events == 1:
            return _largest(chance, shares, 2 * refine, 7)
        (rare,) = chance(np.zeros(1))
        steepest = _largest(
            lambda some: (chance(some) - rare) / some, shares[shares > 0], 2 * refine, 7
        )
        return float(self.events * rare + steepest)


def curator_failure(people: int, number: int, error: float, noise: float) -> tuple[float, int]:
    """Return the largest chance that a curator's share is off by `error` or more, and the holders at which it is.

    The lattice of the sample may favour a neighbour of a half, and a large error shares down to a half less half of it.
    Of up to 600 people all numbers of holders are tried; beyond, a grid of them, dense enough there for every place
    between two points of the lattice: more of them where the noise is too small to smooth it.

    >>> chance, holders = curator_failure(50, 20, 0.2, 1 / 20)
    >>> round(chance, 9), holders
    (0.074984267, 25)
    """
    half, near = people // 2, min(max(32.0, 4 * people / number, error * people / 2), people / 2)
    if half <= 300:
        holders = np.arange(half + 1)
    else:
        dense = np.arange(1024 if noise * number < 0.5 else 0)
        grid = np.linspace(
            0,
            near,
            min(129 + 8 * int(near * number / people), 513) if number <= _FINE_SAMPLE else 129,
        )
        away = np.concatenate([dense, grid, np.linspace(near, half, 17)]).astype(np.int64)
        holders = np.unique(np.maximum(half - away, 0))
    for _ in range(
        4 if half > 300 and number <= _FINE_SAMPLE else 1
    ):  # finer and finer around the worst so far
        chances = binomials.sampled_noisy_exact(
            people, holders.astype(float), number, error, number * noise
        )
        worst = int(chances.argmax())
        chance, place = float(chances[worst]), int(holders[worst])
        ends = holders[max(worst - 1, 0)], holders[min(worst + 1, holders.size - 1)]
        holders = np.unique(np.append(np.linspace(*ends, 65).astype(np.int64), place))
    return chance, place


def least_exponential(lacking: Callable[[Floats], Floats], steepest: float) -> float:
    """Return ``2 exp`` of the least value, at most 0, of a convex function of tilts that are below `steepest`.

    It may be infinite from some tilt on.
    """
    logs = math.log(steepest) + np.linspace(-40.0, 0.0, 41)
    least = -_largest(lambda some: -lacking(np.exp(some)), logs, 5, 13)
    return min(1.0, 2 * math.exp(min(least, 0.0)))


def _largest(
    function: Callable[[Floats], Floats], points: Floats, times: int, number: int
) -> float:
    """Return the maximum of a smooth function: on a grid, refined so many times around its best point."""
    values = function(points)
    for _ in range(times):
        best = int(values.argmax())
        points = np.linspace(
            points[max(best - 1, 0)], points[min(best + 1, points.size - 1)], number
        )
        values = function(points)
    return float(values.max())
