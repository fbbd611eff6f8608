"""What an allocation costs under privacy: the weighted mean of a small stratified population with Laplace noise.

A population has strata of known sizes whose records hold 0 or the stratum's height; the number of records at the height
is private. An allocation rule looks at the population and draws a sample; the weighted mean of the sample is published
with Laplace noise of the least scale for which replacing one record's value anywhere loses at most epsilon (equation
(7) of bun2022 for this mechanism). Everything is exact: all populations, all neighbours, all sample outcomes.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, prod

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real
from ldpnb.designs import strata

Draw = tuple[float, tuple[int, ...]]
"""A chance and the records drawn from each stratum."""

Rule = Callable[[tuple[int, ...]], list[Draw]]
"""An allocation: from the number of records at the height, per stratum, to the random sizes of the samples."""


@dataclass(frozen=True, slots=True)
class Family:
    """All populations with strata of given sizes and heights.

    - `sizes`, tuple of int: records per stratum, ``>= 2``.
    - `heights`, tuple of float: the value that records of each stratum may hold instead of 0.
    """

    sizes: tuple[int, ...]
    heights: tuple[float, ...]

    def __post_init__(self) -> None:
        checks.plain(self)
        for size, height in zip(self.sizes, self.heights, strict=True):
            checks.whole(size, "size", at_least=2)
            checks.positive(height, "height")

    @property
    def populations(self) -> list[tuple[int, ...]]:
        """Every number of records at the height, per stratum."""
        return list(product(*(range(n + 1) for n in self.sizes)))

    @property
    def neighbours(self) -> list[tuple[int, int]]:
        """Pairs of positions in `populations` that differ in one record's value."""
        place = {population: i for i, population in enumerate(self.populations)}
        ups = (
            (p, tuple(c + (i == j) for j, c in enumerate(p)))
            for p in place
            for i in range(len(self.sizes))
        )
        return [(place[p], place[up]) for p, up in ups if up in place]

    def variances(self, population: Sequence[int]) -> Floats:
        """Return the variances within the strata of one population, divisor ``n_i - 1``.

        >>> Family(sizes=(3, 2), heights=(3.0, 1.0)).variances((1, 2))
        array([3., 0.])
        """
        n, c, v = (np.asarray(x, dtype=float) for x in (self.sizes, population, self.heights))
        return np.asarray(v**2 * c * (n - c) / (n * (n - 1)))

    def estimate_law(self, population: Sequence[int], rule: Rule) -> dict[float, float]:
        """Return the exact law of the weighted mean: its values, rounded to 12 digits, with their chances."""
        law: defaultdict[float, float] = defaultdict(float)
        for chance, drawn in rule(tuple(population)):
            shares = [
                n * v / (sum(self.sizes) * m)
                for n, v, m in zip(self.sizes, self.heights, drawn, strict=True)
            ]
            counts = [
                [
                    (k, comb(c, k) * comb(n - c, m - k) / comb(n, m))
                    for k in range(max(0, m - n + c), min(m, c) + 1)
                ]
                for n, c, m in zip(self.sizes, population, drawn, strict=True)
            ]
            for outcome in product(*counts):
                value = round(
                    sum(share * k for share, (k, _) in zip(shares, outcome, strict=True)), 12
                )
                law[value] += chance * prod(p for _, p in outcome)
        return dict(law)


def fixed(drawn: Sequence[int]) -> Rule:
    """Return the rule that draws the same numbers from every population."""
    return lambda _: [(1.0, tuple(drawn))]


def proportional(sizes: Sequence[int], sampling_rate: float) -> Rule:
    """Return proportional allocation with randomised rounding, stratum by stratum (Theorem 7.2 of bun2022)."""
    shares = strata.Strata(sizes).proportional(sampling_rate)
    if (shares < 1).any():
        raise ValueError(
            f"sampling_rate must give every stratum at least one record, got shares {shares}"
        )
    sides = []
    for share in shares:
        whole, part = divmod(float(share), 1)
        sides.append(
            [(1 - part, int(whole)), (part, int(whole) + 1)]
            if part > 1e-12
            else [(1.0, int(whole))]
        )
    draws = [(prod(p for p, _ in one), tuple(m for _, m in one)) for one in product(*sides)]
    return lambda _: draws


def neyman(family: Family, total: int) -> Rule:
    """Return Neyman's allocation in whole numbers, at least one record per stratum (equation (6) of bun2022)."""
    floor = 1e-9 * max(family.heights) ** 2

    def rule(population: tuple[int, ...]) -> list[Draw]:
        spread = np.maximum(family.variances(population), floor)
        return [(1.0, tuple(int(m) for m in strata.Strata(family.sizes, spread).best_whole(total)))]

    return rule


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The law of the weighted mean in every population of a family, on common values.

    - `values`, (k,) float.
    - `chances`, (populations, k) float.
    - `pairs`, (pairs, 2) int: neighbours.
    """

    values: Floats
    chances: Floats
    pairs: Ints

    def variances(self) -> Floats:
        """Return the sampling variance of the weighted mean in every population, ``(populations,)``."""
        means = self.chances @ self.values
        return np.asarray(self.chances @ self.values**2 - means**2)

    def loss(self, scale: float) -> float:
        """Return the largest loss over all neighbours if Laplace noise of that scale is added, nats.

        Between neighbouring values of the mean the ratio of two mixtures' densities is a ratio of two terms ``a e^(y/b)
        + c e^(-y/b)``, hence monotone, and beyond the outermost values it is constant: it is largest at a value. The
        scale is at least a 700th of the range of the values.
        """
        width = checks.positive(scale, "scale")
        if np.ptp(self.values) > 700 * width:
            raise ValueError(
                f"scale must be at least a 700th of the mean's range, got scale={scale!r}"
            )
        densities = np.log(
            self.chances @ np.exp(-np.abs(self.values[:, None] - self.values) / width)
        )
        return float(np.abs(densities[self.pairs[:, 0]] - densities[self.pairs[:, 1]]).max())

    def noise_scale(self, epsilon: float) -> float:
        """Return the least scale at which the loss is at most epsilon (equation (7) of bun2022).

        The loss falls as the scale grows, because Laplace noise of a larger scale is that of a smaller one plus
        independent noise.
        """
        from scipy.optimize import brentq

        target = checks.positive(epsilon, "epsilon")
        spread = float(np.ptp(self.values))
        least, most = np.log(spread / 690), np.log(spread / target)
        if self.loss(float(np.exp(least))) <= target:
            raise ValueError(
                f"epsilon must be small enough to call for noise, got epsilon={epsilon!r}"
            )
        return float(
            np.exp(brentq(lambda s: self.loss(float(np.exp(s))) - target, least, most, xtol=1e-14))
        )

    def private_variances(self, scale: Real) -> Floats:
        """Return the variance in every population with Laplace noise: that of sampling, and ``2 scale^2``."""
        return self.variances() + 2 * scale * scale

    def total_variances(self, epsilon: float) -> Floats:
        """Return the variance in every population with the least noise: equation (8) minimises the largest."""
        return self.private_variances(self.noise_scale(epsilon))


def outcomes(family: Family, rule: Rule) -> Outcomes:
    """Enumerate all populations of a family and all samples of a rule."""
    laws = [family.estimate_law(population, rule) for population in family.populations]
    values = sorted(set().union(*laws))
    chances = np.array([[law.get(value, 0.0) for value in values] for law in laws])
    return Outcomes(np.array(values), chances, np.array(family.neighbours))
