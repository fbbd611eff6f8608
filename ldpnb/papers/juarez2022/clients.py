"""Clients of a federated model: how many of each group hold which performance value.

A rate ``r`` in ``[0, 1]`` becomes the value ``v = 2 r - 1``.
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
    """How many clients of each group hold each value.

    The mechanisms for group means need nothing else.

    Parameters
    ----------
    counts : ndarray of int, shape (d, m)
        Number of clients of each group who hold each of its values.
    values : ndarray, shape (d, m)
        Values in ``[-1, 1]``. Where a count is 0, the value does not matter.
    """

    counts: Ints
    values: Floats

    @property
    def sizes(self) -> Ints:
        """Number of clients of each group, of shape (d,)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def means(self) -> Floats:
        """Mean value of each group, of shape (d,)."""
        return np.asarray((self.counts * self.values).sum(axis=1) / self.sizes)

    @property
    def second_moments(self) -> Floats:
        """Mean squared value ``nu^2`` of each group, of shape (d,)."""
        return np.asarray((self.counts * self.values**2).sum(axis=1) / self.sizes)

    @property
    def true_gap(self) -> float:
        """The first group's mean minus the second's."""
        return float(self.means[0] - self.means[1])

    def gap(self, mechanism: GroupMeans) -> GroupGap:
        """Return the gap between the first two groups, as estimated under a mechanism."""
        return GroupGap(mechanism, tuple(self.sizes.tolist()))


def two_valued(sizes: ArrayLike, means: ArrayLike, second_moments: ArrayLike) -> Clients:
    """Return groups whose clients hold either 1 or one other value.

    Variances depend on sizes, means and second moments only, so such groups stand for any others.
    The other value is ``1 - y`` with ``y = 2 - (1 - nu^2) / (1 - mean)``; the share
    ``(1 - mean) / y`` holds it.

    Parameters
    ----------
    sizes, means, second_moments : array_like, shape (d,)
        Number of clients, mean ``< 1`` and mean square ``nu^2`` of each group's values.

    Examples
    --------
    >>> group = two_valued([8], [0.5], [0.5])
    >>> group.counts.tolist(), group.values.tolist()
    ([[4, 4]], [[1.0, 0.0]])
    >>> group.means.tolist(), group.second_moments.tolist()
    ([0.5], [0.5])
    """
    size = np.asarray(sizes)
    mean = np.asarray(means)
    nu2 = np.asarray(second_moments)

    below = 2 - (1 - nu2) / (1 - mean)
    other = np.rint(size * (1 - mean) / below).astype(np.int64)

    return Clients(
        counts=np.stack([size - other, other], axis=1),
        values=np.stack([np.ones(size.size), 1 - below], axis=1),
    )


def resampled(
    rates: Sequence[Floats], sizes: Sequence[int], *, rng: np.random.Generator
) -> Clients:
    """Draw clients of each group, with replacement, from its observed rates in ``[0, 1]``."""
    shape = len(rates), max(group.size for group in rates)
    counts = np.zeros(shape, dtype=np.int64)
    values = np.zeros(shape)
    for row, (group, size) in enumerate(zip(rates, sizes, strict=True)):
        counts[row, : group.size] = rng.multinomial(size, np.full(group.size, 1 / group.size))
        values[row, : group.size] = 2 * group - 1
    return Clients(counts, values)


def published_rates(column: str) -> tuple[float, float]:
    """Return a number that Appendix D prints for male and for female clients.

    >>> published_rates("true_positive_rate")
    (0.8901, 0.7177)
    """
    male = printed.value("Appendix D", f"{column}_male")
    female = printed.value("Appendix D", f"{column}_female")
    return male, female


def published() -> Clients:
    """Return clients with the sizes, means and second moments of the source's published data."""
    sizes = []
    means = []
    moments = []
    for group in GROUPS:
        sizes.append(int(printed.value("Repository", f"rows_{group}")))
        means.append(2 * printed.value("Repository", f"mean_fnr_{group}") - 1)
        moments.append(printed.value("Repository", f"second_moment_{group}"))
    return two_valued(sizes, means, moments)
