"""What an allocation costs under privacy: the weighted mean of a small stratified population.

A population has strata of known sizes whose records hold 0 or the stratum's height. The number of
records at the height is private. An allocation rule looks at the population and draws a sample. The
weighted mean of the sample is published with Laplace noise of the smallest scale for which
replacing one record's value anywhere loses at most epsilon. This is equation (7) of Bun et al.
(2022) for this mechanism. Everything is exact: all populations, all neighbours, all samples.
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
"""A probability, and the numbers of records drawn from each stratum."""

Rule = Callable[[tuple[int, ...]], list[Draw]]
"""An allocation.

It takes the number of records at the height, by stratum, and returns the random sizes of samples.
"""


@dataclass(frozen=True, slots=True)
class Family:
    """All populations with strata of given sizes and heights.

    Parameters
    ----------
    sizes : tuple of int
        Number of records of each stratum, at least 2.
    heights : tuple of float
        The value, ``> 0``, that records of each stratum may hold instead of 0.
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
        """Every number of records at the height, by stratum."""
        return list(product(*(range(size + 1) for size in self.sizes)))

    @property
    def neighbours(self) -> list[tuple[int, int]]:
        """Pairs of positions in `populations` that differ in one record's value."""
        place = {population: i for i, population in enumerate(self.populations)}
        pairs = []
        for population in place:
            for stratum in range(len(self.sizes)):
                raised = list(population)
                raised[stratum] += 1
                if tuple(raised) in place:
                    pairs.append((place[population], place[tuple(raised)]))
        return pairs

    def variances(self, population: Sequence[int]) -> Floats:
        """Return the variances within the strata of one population, with divisor ``n_i - 1``.

        >>> Family(sizes=(3, 2), heights=(3.0, 1.0)).variances((1, 2))
        array([3., 0.])
        """
        n = np.asarray(self.sizes, dtype=float)
        c = np.asarray(population, dtype=float)
        v = np.asarray(self.heights, dtype=float)
        return np.asarray(v**2 * c * (n - c) / (n * (n - 1)))

    def estimate_law(self, population: Sequence[int], rule: Rule) -> dict[float, float]:
        """Return the probabilities of all values of the weighted mean, rounded to 12 digits."""
        chances: defaultdict[float, float] = defaultdict(float)
        total = sum(self.sizes)
        for chance, drawn in rule(tuple(population)):
            weights = []
            counts = []
            for n, v, c, m in zip(self.sizes, self.heights, population, drawn, strict=True):
                weights.append(n * v / (total * m))
                counts.append(_hypergeometric(n, c, m))

            for outcome in product(*counts):
                mean = sum(weight * k for weight, (k, _) in zip(weights, outcome, strict=True))
                chances[round(mean, 12)] += chance * prod(p for _, p in outcome)
        return dict(chances)


def _hypergeometric(size: int, marked: int, drawn: int) -> list[tuple[int, float]]:
    """Return the possible numbers of marked records among those drawn, with their probabilities."""
    fewest = max(0, drawn - size + marked)
    most = min(drawn, marked)
    ways = comb(size, drawn)
    return [
        (k, comb(marked, k) * comb(size - marked, drawn - k) / ways)
        for k in range(fewest, most + 1)
    ]


# Rules


def fixed(drawn: Sequence[int]) -> Rule:
    """Return the rule that draws the same numbers from every population."""
    return lambda _: [(1.0, tuple(drawn))]


def proportional(sizes: Sequence[int], sampling_rate: float) -> Rule:
    """Return proportional allocation with randomised rounding, stratum by stratum.

    It is the allocation of Theorem 7.2 of Bun et al. (2022).
    """
    shares = strata.Strata(sizes).proportional(sampling_rate)
    if (shares < 1).any():
        raise ValueError(
            f"sampling_rate must give every stratum at least one record, got shares {shares}"
        )

    sides = []
    for share in shares:
        whole, part = divmod(float(share), 1)
        if part > 1e-12:
            sides.append([(1 - part, int(whole)), (part, int(whole) + 1)])
        else:
            sides.append([(1.0, int(whole))])

    draws = []
    for outcome in product(*sides):
        chance = prod(p for p, _ in outcome)
        draws.append((chance, tuple(m for _, m in outcome)))
    return lambda _: draws


def neyman(family: Family, total: int) -> Rule:
    """Return Neyman's allocation in whole numbers, with at least one record of each stratum.

    It is the allocation of equation (6) of Bun et al. (2022).
    """
    floor = 1e-9 * max(family.heights) ** 2

    def rule(population: tuple[int, ...]) -> list[Draw]:
        variances = np.maximum(family.variances(population), floor)
        drawn = strata.Strata(family.sizes, variances).best_whole(total)
        return [(1.0, tuple(int(m) for m in drawn))]

    return rule


# What a rule leads to


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The weighted mean in every population of a family.

    Parameters
    ----------
    values : ndarray, shape (k,)
        All values that it may take in any of them.
    chances : ndarray, shape (populations, k)
        Their probabilities.
    pairs : ndarray of int, shape (pairs, 2)
        Neighbouring populations.
    """

    values: Floats
    chances: Floats
    pairs: Ints

    def variances(self) -> Floats:
        """Return the sampling variance of the weighted mean in every population."""
        means = self.chances @ self.values
        return np.asarray(self.chances @ self.values**2 - means**2)

    def loss(self, scale: float) -> float:
        """Return the largest loss over all neighbours, in nats, if Laplace noise is added.

        Between neighbouring values of the mean, the ratio of two mixtures' densities is a ratio of
        two terms ``a e^(y/b) + c e^(-y/b)``, and so it is monotone. Beyond the outermost values it
        is constant. So it is largest at a value. The scale must be at least a 700th of the range of
        the values.
        """
        width = checks.positive(scale, "scale")
        if np.ptp(self.values) > 700 * width:
            raise ValueError(
                f"scale must be at least a 700th of the mean's range, got scale={scale!r}"
            )
        noise = np.exp(-np.abs(self.values[:, None] - self.values) / width)
        densities = np.log(self.chances @ noise)
        return float(np.abs(densities[self.pairs[:, 0]] - densities[self.pairs[:, 1]]).max())

    def noise_scale(self, epsilon: float) -> float:
        """Return the smallest scale at which the loss is at most epsilon.

        This is equation (7) of Bun et al. (2022). The loss falls as the scale grows, because
        Laplace noise of a larger scale is that of a smaller one plus independent noise.
        """
        from scipy.optimize import brentq

        target = checks.positive(epsilon, "epsilon")
        value_range = float(np.ptp(self.values))
        least = np.log(value_range / 690)
        most = np.log(value_range / target)

        def excess(log_scale: float) -> float:
            return self.loss(float(np.exp(log_scale))) - target

        if excess(least) <= 0:
            raise ValueError(
                f"epsilon must be small enough to call for noise, got epsilon={epsilon!r}"
            )
        return float(np.exp(brentq(excess, least, most, xtol=1e-14)))

    def private_variances(self, scale: Real) -> Floats:
        """Return the variance in every population with Laplace noise.

        It is the variance of sampling, and ``2 scale^2``.
        """
        return self.variances() + 2 * scale * scale

    def total_variances(self, epsilon: float) -> Floats:
        """Return the variance in every population with the least noise.

        Equation (8) of Bun et al. (2022) minimises the largest of them.
        """
        return self.private_variances(self.noise_scale(epsilon))


def outcomes(family: Family, rule: Rule) -> Outcomes:
    """Enumerate all populations of a family and all samples of a rule."""
    by_population = [family.estimate_law(population, rule) for population in family.populations]
    values = sorted(set().union(*by_population))

    rows = []
    for chances in by_population:
        rows.append([chances.get(value, 0.0) for value in values])
    return Outcomes(np.array(values), np.array(rows), np.array(family.neighbours))
