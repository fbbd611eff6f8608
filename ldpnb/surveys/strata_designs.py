"""A simple random sample from each stratum, with the number of people still to be found."""

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.arithmetic import log_mixed
from ldpnb.designs import strata as allocations
from ldpnb.privacy.subsampling import srs_loss
from ldpnb.surveys.noise import NumberReports
from ldpnb.surveys.open_designs import Divided
from ldpnb.surveys.releases import Lottery
from ldpnb.surveys.response import invitations_of
from ldpnb.surveys.variances import Variance, largest_noise, largest_spread, worst_variance

Allocation = Literal["proportional", "neyman", "equal", "lottery"]
Draws = tuple[tuple[float, tuple[int, ...]], ...]
"""Chances, and how many are drawn from each stratum."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StratifiedDesign(Divided):
    """A simple random sample from each stratum.

    Parameters
    ----------
    sizes : tuple of int
    s2 : tuple of float, optional
        Variance of the values in each; the worst if left out.
    allocation : {"proportional", "neyman", "equal", "lottery"}
        By size; with the least variance at the cost, the reports' noise included; with the same variance of every
        stratum's mean; or by size on average, fractions being rounded by a secret lot.
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

    def __post_init__(self) -> None:
        checks.plain(self)
        self._require_parts("stratum", "s2", "spans", "costs", "responses")
        checks.choice(allocation=self.allocation, among=get_args(Allocation))
        for name in ("spans", "costs"):
            for number in getattr(self, name) or ():
                checks.positive(**{name: number})
        for rate in self.responses or ():
            checks.rate(responses=rate)
        if self.allocation == "lottery" and len(self.sizes) < 2:
            raise ValueError(f"allocation lottery needs two strata or more, got {len(self.sizes)}")
        bare = self.spans is None or self.allocation == "equal"
        if self.allocation in ("neyman", "equal") and self.s2 is None and bare:
            raise ValueError(f"allocation {self.allocation} needs the standard deviation in each stratum, got none")

    def people(self, count: int) -> int:
        """Return how many people that many units are: at least one of each stratum."""
        return max(count, len(self.sizes))

    def draws(self, count: int) -> Draws:
        """Return what may be drawn: the lots of a lottery, or one for certain."""
        total = self.people(count)
        if self.allocation == "lottery":
            return allocations.lots(self._at_least_one(total))
        if self.allocation == "neyman" and self.costs is None:
            shares = allocations.Strata(self.sizes, self._spreads()).best_whole(total)
        else:
            asked = allocations.Strata(self.sizes).capped(self._asked(total)).shares
            shares = np.minimum(np.maximum(allocations.largest_remainder(asked), 1), self.sizes)
        return ((1.0, tuple(int(n) for n in shares)),)

    def drawn(self, count: int) -> tuple[int, ...]:
        """Return how many are drawn from each stratum, in a lottery by its first lot."""
        return self.draws(count)[0][1]

    def _lots(self, count: int) -> list[tuple[int, ...]]:
        return [drawn for _, drawn in self.draws(count)]

    def _at_least_one(self, total: int) -> Floats:
        """Return proportional shares, none below 1: what small strata get beyond theirs the others lack."""
        sizes, small = np.array(self.sizes, dtype=float), np.zeros(len(self.sizes), dtype=bool)
        while True:
            shares = np.where(small, 1.0, sizes * (total - small.sum()) / max(sizes[~small].sum(), 1))
            if (shares >= 1 - 1e-9).all():
                return shares
            small |= shares < 1

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
        """Return the largest variance of each stratum's mean consistent with what is known, on average over lots."""
        inverses = sum(chance / np.array(drawn, dtype=float) for chance, drawn in self.draws(count))
        return self._variances(np.asarray(inverses), reports, span)

    def _variances(self, inverses: Floats, reports: NumberReports | None, span: float) -> list[Variance]:
        found, known = [], self.s2 or [None] * len(self.sizes)
        rows = zip(inverses.tolist(), self.sizes, known, self._spans(span).tolist(), strict=True)
        for inverse, size, s2, own in rows:
            told = None if reports is None else reports.within(own)

            def parts(s2: float, n: float = inverse, size: int = size, told: NumberReports | None = told) -> Variance:
                return Variance((n - 1 / size) * s2, largest_noise(told, s2, size) * n)

            found.append(worst_variance(parts, s2, largest_spread(size, own)))
        return found

    def variance(self, count: int, reports: NumberReports | None, span: float) -> Variance:
        """Return the largest variance consistent with what is known, on average over lots."""
        return self._weighted(self.variances(count, reports, span))

    def _weighted(self, worst: list[Variance]) -> Variance:
        weights = np.array(self.sizes) / self.population
        sampling, noise = (
            float(np.sum(weights**2 * [getattr(v, part) for v in worst])) for part in ("sampling", "randomisation")
        )
        return Variance(sampling, noise)

    def given_lots(self, count: int, reports: NumberReports | None, span: float) -> list[Variance]:
        """Return the largest variance given each lot."""
        return [self._weighted(self._variances(1 / np.array(n, dtype=float), reports, span)) for n in self._lots(count)]

    def proxy(self, count: int, reports: NumberReports) -> float | None:
        """Return Hoeffding's proxy for independent strata, at the worst lot."""
        spans = self._spans(float(reports.range))
        reach = np.array(self.sizes) / self.population * spans / np.tanh(float(reports.epsilon) / 2)
        return max(float(np.sum(reach**2 / np.array(drawn))) for drawn in self._lots(count))

    def invited(self, count: int, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people must be asked in each stratum, so that all get enough except with a probability."""
        chances, each = self.responses or (response,) * len(self.sizes), failure / len(self.sizes)
        if self.allocation == "lottery" and min(chances) < 1:
            got = f"got a response of {min(chances):g}"
            raise ValueError(f"allocation lottery needs everybody's answer: how many there are tells the lot, {got}")
        parts = zip(self.drawn(count), self.sizes, chances, self.labels, strict=True)
        return tuple(invitations_of(n, size, rate, each, f"people in stratum {name}") for n, size, rate, name in parts)

    def loss(self, count: int, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the exact joint loss of the reports of a secret sample in public strata; numbers tell the lot."""
        drawn = self._lots(count) if self.allocation == "lottery" else [invited]
        return float(srs_loss(epsilon, float(np.max(np.max(drawn, axis=0) / np.array(self.sizes)))))

    def scale(self, count: int, epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise; for a secret lot, one that is certified to suffice."""
        if secret and len(self.draws(count)) > 1:
            lottery = self.lottery(count, span)
            return lottery.scale(epsilon, lottery.loss_bound)
        return max(self.known_scale(drawn, epsilon, span, secret=secret) for drawn in self._lots(count))

    def known_scale(self, drawn: tuple[int, ...], epsilon: float, span: float, *, secret: bool) -> float:
        """Return the scale of a curator's noise where it is known how many are drawn from each stratum."""
        people, asked = np.array(self.sizes, dtype=float), np.array(drawn, dtype=float)
        inner = log_mixed(people / asked, np.full(people.size, epsilon)) if secret else epsilon
        return float(np.max(people / people.sum() * self._spans(span) / (asked * inner)))

    def lottery(self, count: int, span: float) -> Lottery:
        """Return the lottery over what may be drawn."""
        chances, lots = zip(*self.draws(count), strict=True)
        return Lottery(self.sizes, self._spans(span), lots, chances)

    def least_scale(self, count: int, epsilon: float, span: float) -> float:
        """Return a scale below which a curator's noise does not suffice for a secret lot."""
        lottery = self.lottery(count, span)
        return lottery.scale(epsilon, lottery.loss)

    def loss_without(self, count: int, loss: float, reach: float) -> float:
        """Return the loss if a record may be absent: somebody else of its stratum is drawn in its place."""
        return loss if np.less(self._lots(count), self.sizes).all() else math.inf

    def describe(self, count: int) -> str:
        """Return what is drawn, in words."""
        ways = [
            ", ".join(f"{name} {n:,}" for name, n in zip(self.labels, drawn, strict=True))
            for drawn in self._lots(count)
        ]
        told = f"{ways[0]}"
        if len(ways) > 1:
            chances = ", ".join(f"{chance:.3g}" for chance, _ in self.draws(count))
            told = f"by lot with chances {chances}: {'; '.join(ways)}"
        return f"ask {sum(self.drawn(count)):,} of {self.population:,} people ({told})"

    def answering(self, invited: tuple[int, ...], response: float) -> str:
        """Return which share of those who are invited answers, in words; by stratum where rates are their own."""
        if self.responses is None:
            return Divided.answering(self, invited, response)
        rows = zip(self.labels, invited, self.responses, strict=True)
        return ": " + ", ".join(f"{name} {number:,}, of whom {rate:.0%} answer" for name, number, rate in rows)

    def notes(self, count: int, reports: NumberReports | None, span: float) -> list[str]:
        """Return remarks on single strata and on lots."""
        said: list[str] = []
        if self.allocation == "equal":
            worst = max(float(v.total) for v in self.variances(count, reports, span))
            said.append(f"Every stratum's own mean has a standard deviation of {worst**0.5:.3g} at most.")
        if self.costs is not None:
            paid = sum(chance * np.dot(self.costs, drawn) for chance, drawn in self.draws(count))
            said.append(f"The answers cost {paid:,.10g}.")
        if self.allocation == "lottery":
            said.append(self._told_of_lots(count, reports, span))
        return said

    def _told_of_lots(self, count: int, reports: NumberReports | None, span: float) -> str:
        found = [float(v.total) ** 0.5 for v in self.given_lots(count, reports, span)]
        if len(found) == 1:
            return "Shares of strata are whole numbers: there is nothing to draw by lot."
        told = (
            f"Given the lot the standard deviation, noise of a curator apart, is {min(found):.4g} to {max(found):.4g}"
        )
        if reports is None:
            return f"{told}; the lot may never be told."
        return f"{told}; where people randomise a lottery gains no privacy, for the number of reports tells the lot."

    def notes_on_scale(self, count: int, epsilon: float, span: float, releases: int) -> list[str]:
        """Return how near the certified noise of a secret lot is to the least, and what the lot saves."""
        if len(self.draws(count)) < 2:
            return []
        least = releases * self.least_scale(count, epsilon, span)
        told = releases * replace(self, allocation="proportional").scale(count, epsilon, span, secret=True)
        return [
            f"The lot is secret too: its noise is certified, no scale below {least:.4g} would do, and numbers that are "
            f"known take {told:.4g}."
        ]
