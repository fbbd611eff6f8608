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
from ldpnb.privacy.noisy_statistics import noisy_statistic_losses

Floats = NDArray[np.float64]

MOST_POPULATIONS = 64
_MOST_NATS = 700.0
"""Lost between all zeros and all ones at most, so that its exponential is a float."""


@dataclass(frozen=True, slots=True, eq=False)
class BestRule:
    """A rule of least largest variance.

    - `allocations`, list of tuple of int: what may be drawn.
    - `chances`, (populations, allocations) float: of every allocation in every population of the family, in the order
      of ``family.populations``.
    - `scale`, float: of the Laplace noise.
    - `variance`, float: the largest over populations, noise included.
    - `lower_bound`, float: no rule has a smaller one.
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

    - `family`, Family: at most 64 populations.
    - `epsilon`, float: loss of the release, under replacement within a stratum, nats.
    - `looks`, bool: whether the chances may depend on the population; otherwise the rule is a lottery over fixed
      allocations.
    - `precision`, float: relative distance of variance and lower bound at which to stop, in [1e-4, 1].

    >>> best = best_rule(Family((2, 2), (1.0, 1.0)), 3, 1.5)
    >>> round(best.variance, 3), best.lower_bound > 0.999 * best.variance
    (0.149, True)
    """
    budget, precise = checks.positive(epsilon=epsilon), float(checks.numbers(precision=precision, low=1e-4, high=1))
    parts = _fixed(family, total)
    program = _Program(family, list(parts.values()), budget, looks)
    highest = min(part.noise_scale(budget) for part in parts.values())
    return _searched(program, list(parts), highest, precise)


def _fixed(family: Family, total: int) -> dict[tuple[int, ...], allocation.Outcomes]:
    """Return the outcomes of all fixed allocations."""
    if len(family.populations) > MOST_POPULATIONS:
        raise ValueError(f"family must have at most {MOST_POPULATIONS} populations, got {len(family.populations)}")
    allocations = [m for m in product(*(range(1, n + 1) for n in family.sizes)) if sum(m) == total]
    if not allocations:
        raise ValueError(f"total must allow a record from every stratum, got total={total!r}")
    return {m: allocation.outcomes(family, allocation.fixed(m)) for m in allocations}


def best_fixed_variance(family: Family, total: int, epsilon: float) -> float:
    """Return the least largest variance, noise included, that the same allocation has in all populations."""
    return min(float(part.total_variances(epsilon).max()) for part in _fixed(family, total).values())


def deterministic_rule_below(family: Family, total: int, epsilon: float, variance: float) -> bool:
    """Return whether a rule that looks at the population, and draws nothing by lot, has a smaller largest variance.

    Decided exhaustively, for all rules at once: at every sampling variance that occurs, what is left for the noise
    tells which allocations of neighbouring populations go together; populations are then gone through in their order,
    with all choices that their neighbours still to come can tell apart.

    >>> family = Family((2, 2), (1.0, 1.0))
    >>> least = best_fixed_variance(family, 3, 1.5)
    >>> [deterministic_rule_below(family, 3, 1.5, least * factor) for factor in (1.001, 1.0)]
    [True, False]
    """
    parts, users = list(_fixed(family, total).values()), sum(family.sizes)
    budget = float(checks.numbers(epsilon=checks.positive(epsilon=epsilon), low=0, high=_MOST_NATS / users))
    sampling = np.array([part.variances() for part in parts]).T
    populations, number = sampling.shape
    values, laws = _on_common_values(parts)
    pairs = np.array(family.neighbours)
    rows = (np.arange(number)[:, None] * populations + np.arange(populations)).T  # of every population and allocation
    both = np.stack(np.broadcast_arrays(rows[pairs[:, 0]][:, :, None], rows[pairs[:, 1]][:, None]), axis=-1)
    for most in np.unique(sampling[sampling < variance]):
        scale = float(np.sqrt((variance - most) / 2)) * (1 - 1e-9)
        if np.ptp(values) > users * budget * scale:  # lost between all zeros and all ones, so many neighbours apart
            continue
        losses = noisy_statistic_losses(values, laws.reshape(-1, values.size), both.reshape(-1, 2), scale)
        private = losses.reshape(both.shape[:-1]) <= budget
        if _consistent(sampling <= most * (1 + 1e-12), pairs, private, int(np.prod(np.add(family.sizes[1:], 1)))):
            return True
    return False


def _consistent(allowed: NDArray[np.bool_], pairs: NDArray[np.int64], private: NDArray[np.bool_], back: int) -> bool:
    """Return whether populations can have an allowed allocation each so that all neighbours go together.

    Neighbours lie at most `back` places apart: only so many last choices matter.
    """
    chosen: set[tuple[int, ...]] = {()}
    for here, choices in enumerate(allowed):
        before = [(one, private[k]) for k, (one, other) in enumerate(pairs) if other == here]
        chosen = {
            (*last, choice)[-back:]
            for last in chosen
            for choice in np.flatnonzero(choices).tolist()
            if all(fits[last[one - here], choice] for one, fits in before)
        }
    return bool(chosen)


def _on_common_values(parts: list[allocation.Outcomes]) -> tuple[Floats, Floats]:
    """Return all values, and the laws on them by allocation and population."""
    values = np.unique(np.concatenate([part.values for part in parts]))
    laws = np.zeros((len(parts), len(parts[0].chances), values.size))
    for law, part in zip(laws, parts, strict=True):
        law[:, np.searchsorted(values, part.values)] = part.chances
    return values, laws


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
        self.values, self.laws = _on_common_values(outcomes)
        self.variances = np.array([part.variances() for part in outcomes]).T
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
        solution = linprog(
            np.append(np.zeros(limits.shape[1] - 1), 1.0),
            A_ub=limits,
            b_ub=np.zeros(limits.shape[0]),
            A_eq=self._placed(ones, 0.0),
            b_eq=np.ones(len(ones)),
            method="highs",
        )
        if solution.status != 0 or solution.x is None or solution.fun is None:
            return np.inf, np.empty(0)
        chances = np.maximum(solution.x[:-1].reshape(-1, allocations), 0)
        chances /= chances.sum(axis=1, keepdims=True)
        return float(solution.fun), chances if self.looks else np.repeat(chances, populations, axis=0)

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
