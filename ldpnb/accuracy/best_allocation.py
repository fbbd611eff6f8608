"""The best randomised rule for allocating a stratified sample under privacy (equation (8) of bun2022), small families.

A rule gives every population chances for the possible allocations. At a noise scale the loss bounds are linear in these
chances, for the ratio of two mixtures of Laplace laws is largest at their values, and so is the sampling variance, for
all estimates are unbiased: the best rule is a linear program. Its value falls as the scale grows, and so brackets the
optimum over all scales.
"""

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from ldpnb import checks
from ldpnb.accuracy import allocation
from ldpnb.accuracy.allocation import Family

Floats = NDArray[np.float64]

MOST_POPULATIONS = 64


@dataclass(frozen=True, slots=True)
class BestRule:
    """A rule of least largest variance.

    Parameters
    ----------
    allocations : list of tuple of int
        What may be drawn.
    chances : (populations, allocations) float
        Of every allocation in every population of the family, in the order of ``family.populations``.
    scale : float
        Of the Laplace noise.
    variance : float
        The largest over populations, noise included.
    lower_bound : float
        No rule has a smaller one.
    """

    allocations: list[tuple[int, ...]]
    chances: Floats
    scale: float
    variance: float
    lower_bound: float

    def rule(self, family: Family) -> allocation.Rule:
        """Return the rule for `allocation.outcomes`."""
        place = {population: row for row, population in enumerate(family.populations)}
        return lambda population: [
            (float(chance), drawn)
            for chance, drawn in zip(self.chances[place[population]], self.allocations, strict=True)
            if chance > 0
        ]


def best_rule(family: Family, total: int, epsilon: float, *, looks: bool = True, precision: float = 1e-3) -> BestRule:
    """Return the best rule for drawing `total` records, at least one from every stratum.

    Parameters
    ----------
    family : Family
        At most 64 populations.
    total : int
    epsilon : float
        Loss of the release, under replacement within a stratum, nats.
    looks : bool
        Whether the chances may depend on the population; otherwise the rule is a lottery over fixed allocations.
    precision : float
        Relative distance of variance and lower bound at which to stop, in [1e-4, 1].

    Examples
    --------
    >>> best = best_rule(Family((2, 2), (1.0, 1.0)), 3, 1.5)
    >>> round(best.variance, 3), best.lower_bound > 0.999 * best.variance
    (0.149, True)
    """
    budget, precise = checks.positive(epsilon=epsilon), float(checks.numbers(precision=precision, low=1e-4, high=1))
    if len(family.populations) > MOST_POPULATIONS:
        raise ValueError(f"family must have at most {MOST_POPULATIONS} populations, got {len(family.populations)}")
    allocations = [m for m in product(*(range(1, n + 1) for n in family.sizes)) if sum(m) == total]
    if not allocations:
        raise ValueError(f"total must allow a record from every stratum, got total={total!r}")
    outcomes = [allocation.outcomes(family, allocation.fixed(m)) for m in allocations]
    program = _Program(family, outcomes, budget, looks)
    highest = min(found.noise_scale(budget) for found in outcomes)
    return _searched(program, allocations, highest, precise)


def _searched(program: "_Program", allocations: list[tuple[int, ...]], highest: float, precision: float) -> BestRule:
    """Halve the interval of scales with the least bound until that is near the best variance found."""
    ends = {scale: program.solve(scale) for scale in (highest / 8, highest, 2 * highest)}
    while True:
        scales = sorted(ends)
        best = min(scales, key=lambda scale: ends[scale][0] + 2 * scale**2)
        variance = ends[best][0] + 2 * best**2
        # on an interval the sampling variance is at least that at its upper end, the noise that at its lower
        bounds = [(ends[up][0] + 2 * low**2, low, up) for low, up in pairwise(scales)]
        bound, low, up = min(bounds)
        if bound >= variance * (1 - precision):
            return BestRule(allocations, ends[best][1], best, float(variance), float(min(bound, variance)))
        ends[(low + up) / 2] = program.solve((low + up) / 2)


class _Program:
    """The linear program: chances, and the largest sampling variance as last variable."""

    def __init__(self, family: Family, outcomes: list[allocation.Outcomes], budget: float, looks: bool) -> None:
        self.values = np.unique(np.concatenate([found.values for found in outcomes]))
        self.laws = np.zeros((len(outcomes), len(family.populations), self.values.size))
        for law, found in zip(self.laws, outcomes, strict=True):
            law[:, np.searchsorted(self.values, found.values)] = found.chances
        self.variances = np.array([found.variances() for found in outcomes]).T
        self.pairs = np.array(family.neighbours)
        self.growth, self.looks = float(np.exp(budget)), looks

    def solve(self, scale: float) -> tuple[float, Floats]:
        """Return the least largest sampling variance at a scale, infinite if nothing is private, and the chances."""
        kernel = np.exp(-np.abs(self.values[:, None] - self.values) / scale)
        density = (self.laws @ kernel).transpose(1, 2, 0)  # population, output, allocation
        populations, _, allocations = density.shape
        rows = [self._private(density, *pair) for one, other in self.pairs for pair in ((one, other), (other, one))]
        rows.append(self._placed(self.variances[:, None, :], -1.0))
        limits = np.vstack(rows)
        ones = np.ones((populations if self.looks else 1, 1, allocations))
        found = linprog(
            np.append(np.zeros(limits.shape[1] - 1), 1.0),
            A_ub=limits,
            b_ub=np.zeros(limits.shape[0]),
            A_eq=self._placed(ones, 0.0),
            b_eq=np.ones(len(ones)),
            method="highs",
        )
        if found.status != 0 or found.x is None or found.fun is None:
            return np.inf, np.empty(0)
        chances = np.maximum(found.x[:-1].reshape(-1, allocations), 0)
        chances /= chances.sum(axis=1, keepdims=True)
        return float(found.fun), chances if self.looks else np.repeat(chances, populations, axis=0)

    def _private(self, density: Floats, one: int, other: int) -> Floats:
        unit = density[one].max(axis=1, keepdims=True)
        if not self.looks:
            return self._row({0: (density[one] - self.growth * density[other]) / unit}, 0.0)
        return self._row({one: density[one] / unit, other: -self.growth * density[other] / unit}, 0.0)

    def _placed(self, blocks: Floats, last: float) -> Floats:
        """Return a row for every block, in the place of its population."""
        return np.vstack([self._row({place * self.looks: block}, last) for place, block in enumerate(blocks)])

    def _row(self, blocks: dict[int, Floats], last: float) -> Floats:
        populations, allocations = self.variances.shape
        height = len(next(iter(blocks.values())))
        row = np.zeros((height, (populations if self.looks else 1) * allocations + 1))
        for place, block in blocks.items():
            row[:, place * allocations : (place + 1) * allocations] += block
        row[:, -1] = last
        return row
