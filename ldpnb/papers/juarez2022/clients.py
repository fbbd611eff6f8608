"""Clients of a federated model: how many of each group hold which performance value.

A rate ``r`` in ``[0, 1]`` is the value ``v = 2 r - 1``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ldpnb.accuracy.gaps import GroupGap
from ldpnb.arithmetic import Floats, Ints
from ldpnb.mechanisms.groups import GroupMeans
from ldpnb.papers.juarez2022 import printed

GROUPS = ("male", "female")


@dataclass(frozen=True, slots=True)
class Clients:
    """How many clients of each group hold each value: all that the mechanisms for group means need.

    - `counts`, (d, m) int: clients of each group holding each of its values.
    - `values`, (d, m) float: in ``[-1, 1]``; where a count is 0 the value does not matter.
    """

    counts: Ints
    values: Floats

    @property
    def sizes(self) -> Ints:
        """Clients of each group, ``(d,)``."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def means(self) -> Floats:
        """Mean value of each group, ``(d,)``."""
        return np.asarray((self.counts * self.values).sum(axis=1) / self.sizes)

    @property
    def second_moments(self) -> Floats:
        """Mean squared value ``nu^2`` of each group, ``(d,)``."""
        return np.asarray((self.counts * self.values**2).sum(axis=1) / self.sizes)

    @property
    def true_gap(self) -> float:
        """The first group's mean minus the second's."""
        return float(self.means[0] - self.means[1])

    def gap(self, mechanism: GroupMeans) -> GroupGap:
        """Return the gap between the first two groups, as estimated under a mechanism."""
        return GroupGap(mechanism, tuple(self.sizes.tolist()))


def two_valued(sizes: ArrayLike, means: ArrayLike, second_moments: ArrayLike) -> Clients:
    """Return groups of given sizes, means and second moments whose clients hold 1 or one other value.

    No variance depends on more. The other value ``1 - y`` has ``y = 2 - (1 - nu^2) / (1 - mean)`` and is held by the
    share ``(1 - mean) / y``.

    >>> group = two_valued([8], [0.5], [0.5])
    >>> group.counts.tolist(), group.values.tolist(), group.means.tolist(), group.second_moments.tolist()
    ([[4, 4]], [[1.0, 0.0]], [0.5], [0.5])
    """
    n, m, nu2 = np.asarray(sizes), np.asarray(means), np.asarray(second_moments)
    below = 2 - (1 - nu2) / (1 - m)
    other = np.rint(n * (1 - m) / below).astype(np.int64)
    return Clients(
        np.stack([n - other, other], axis=1), np.stack([np.ones(n.size), 1 - below], axis=1)
    )


def resampled(
    rates: Sequence[Floats], sizes: Sequence[int], *, rng: np.random.Generator
) -> Clients:
    """Draw each group's clients, `sizes` of them, with replacement from its observed rates in ``[0, 1]``."""
    shape = len(rates), max(group.size for group in rates)
    counts, values = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    for row, (group, size) in enumerate(zip(rates, sizes, strict=True)):
        counts[row, : group.size] = rng.multinomial(size, np.full(group.size, 1 / group.size))
        values[row, : group.size] = 2 * group - 1
    return Clients(counts, values)


def published_rates(column: str) -> tuple[float, float]:
    """Return a number that Appendix D prints for male and for female clients.

    >>> published_rates("true_positive_rate")
    (0.8901, 0.7177)
    """
    male, female = (printed.value("Appendix D", f"{column}_{sex}") for sex in GROUPS)
    return male, female


def published() -> Clients:
    """Return clients with the sizes, means and second moments of the data published with the source."""
    sizes = [int(printed.value("Repository", f"rows_{name}")) for name in GROUPS]
    means = [2 * printed.value("Repository", f"mean_fnr_{name}") - 1 for name in GROUPS]
    moments = [printed.value("Repository", f"second_moment_{name}") for name in GROUPS]
    return two_valued(sizes, means, moments)
